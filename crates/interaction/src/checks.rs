//! The checks of this crate.

symbolon_transport::checks! {
    pub BROADCAST = "broadcast-echo", "broadcast echo":
        "different messages to different parties where all must get the same";
    pub COIN = "coin-toss-commitment", "coin toss commitment":
        "a coin toss that is opened to another seed than committed to";
}
