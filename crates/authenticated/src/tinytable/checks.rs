//! The checks of this protocol.

symbolon_transport::checks! {
    pub TABLE = "table-mac", "table MAC":
        "a wrong bit from a table, or a wrong MAC on all of them";
}
