//! The checks of this protocol.

symbolon_transport::checks! {
    pub TABLE = "table-mac", "table MAC":
        "a wrong bit from a table, or a wrong MAC on all of them";
    pub CODE = "table-code", "table code":
        "a wrong bit from a table that is committed under a code, or a wrong proof of all of them";
    pub COMMITMENT = "code-commitment", "code commitment":
        "tables committed under a code that are not those of the authenticated bits";
}
