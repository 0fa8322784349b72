//! The checks of this crate.

symbolon_transport::checks! {
    pub BROADCAST = "broadcast-echo", "broadcast echo":
        "different messages to different parties in a broadcast";
    pub COIN = "coin-toss-commitment", "coin toss commitment":
        "a coin toss opened to a seed that does not match its commitment";
}
