//! The checks of this crate.

symbolon_transport::checks! {
    pub OPENING = "commitment-opening", "commitment opening":
        "a string, or an XOR of strings, that does not match its commitment";
}
