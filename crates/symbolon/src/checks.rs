//! The checks of this crate.

symbolon_transport::checks! {
    pub GROUP_NONCE = "group-nonce", "group nonce":
        "our own nonce sent back when several parties name their session";
    pub RUN_NAME = "run-name", "run name":
        "a run for another purpose than the peer's";
    pub STORED_ITEMS = "stored-items", "stored items":
        "a malformed list of stored items";
    pub STORED_ANSWER = "stored-answer", "stored items: yes or no":
        "an answer about stored items that is neither yes nor no";
}
