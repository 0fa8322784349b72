//! The checks of this crate.

crate::checks! {
    pub FRAMING = "message-framing", "message framing":
        "a message whose kind or length is not what the protocol prescribes";
    pub HANDSHAKE = "handshake", "handshake":
        "a malformed hello, one in another party's name, or our own nonce sent back";
    pub LINK_PING = "link-ping", "link ping":
        "endless pings, or a ping that announces something unknown";
}
