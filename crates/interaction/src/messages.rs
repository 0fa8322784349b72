//! The messages of this crate.

symbolon_transport::messages! {
    pub ECHO = "broadcast echo" {
        phase: "any",
        route: "each party → each other, with three parties or more",
        length: "32",
        carries: "a digest of all broadcasts so far",
        step: "",
    }
    pub COIN_COMMITMENT = "coin toss: commitment" {
        phase: "any",
        route: "each party → each other",
        length: "32",
        carries: "a commitment to a seed",
        step: "YWZ20, Fig. 11",
    }
    pub COIN_SEED = "coin toss: seed" {
        phase: "any",
        route: "each party → each other",
        length: "32 + 32",
        carries: "the nonce of the commitment, the seed",
        step: "YWZ20, Fig. 11",
    }
}
