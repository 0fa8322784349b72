//! The checks of this crate.

crate::checks! {
    pub FRAMING = "message-framing", "message framing":
        "a message of another kind or length than the protocol says";
    pub HANDSHAKE = "handshake", "handshake":
        "a malformed hello, one in another party's name, or our own nonce sent back";
    pub LINK_PING = "link-ping", "link ping":
        "pings without end, or one that announces nothing known";
}
