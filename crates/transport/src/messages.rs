//! The messages of this crate.

crate::messages! {
    pub NONCE = "handshake nonce" {
        phase: "handshake",
        route: "each party → each other, on the first lane",
        length: "32",
        carries: "a fresh nonce",
        step: "",
    }
    pub HELLO = "handshake hello" {
        phase: "handshake",
        route: "each party → each other, on the first lane",
        length: "at most 16384",
        carries: "version, sender, parties, and the session's parameters as names and values",
        step: "",
    }
    pub PING = "link ping" {
        phase: "handshake",
        route: "lower party number → higher",
        length: "1",
        carries: "0 for another ping, 1 or 2 for the size of the burst that follows",
        step: "",
    }
    pub PONG = "link pong" {
        phase: "handshake",
        route: "higher party number → lower",
        length: "1",
        carries: "zero",
        step: "",
    }
    pub BURST = "link burst" {
        phase: "handshake",
        route: "each party → each other, if the link is measured",
        length: "16376",
        carries: "fixed bytes that do not compress; the head of a burst or one of its pieces",
        step: "",
    }
    pub ABORT = "symbolon abort notice" {
        phase: "any",
        route: "a party that gives up → each other",
        length: "at most 200",
        carries: "why it gives up, in words that give nothing away",
        step: "",
    }
}
