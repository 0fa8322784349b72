//! The checks of this crate.

symbolon_transport::checks! {
    pub BASE_OT_POINT = "base-ot-point", "base OT point decoding":
        "a malformed point, or the identity, in a base OT";
    pub EXTENSION = "ot-extension-consistency", "OT extension consistency":
        "choice bits that differ between columns of the correlated OT extension";
    pub PUNCTURED_TREE = "punctured-tree-consistency", "punctured tree consistency":
        "a GGM tree whose leaves do not match its hash, to learn bits of Δ";
    pub SILENT = "silent-ot-consistency", "silent OT consistency":
        "trees of silent OT that fit only some places of the noise";
    pub CONSISTENCY = "commitment-consistency", "commitment consistency":
        "commitments whose rows are not codewords";
}
