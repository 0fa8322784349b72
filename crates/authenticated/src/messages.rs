//! The messages that protocols on AND gates share. Each protocol's own are in its module.

symbolon_transport::messages! {
    pub BEAVER = "Beaver: d, e" {
        phase: "function-dependent",
        route: "each party → each other",
        length: "⌈b/8⌉ + 32, for b bits: two a gate, or one with triples on the masks λ_b",
        carries: "shares of d and e, and a digest of the MACs on them",
        step: "WRK17, Fig. 2, 4(a)",
    }
    pub MASKED_INPUTS = "masked inputs" {
        phase: "online",
        route: "each party → each other; in `wrk` with four rows evaluator → garbler",
        length: "⌈b/8⌉, for b input bits of the sender",
        carries: "the sender's inputs, masked",
        step: "WRK17, Fig. 2, 5–6; YWZ20, Fig. 7, 9",
    }
    pub OUTPUT_MASKS = "output masks" {
        phase: "online",
        route: "each party → each party that learns an output",
        length: "⌈b/8⌉ + 32, for b output bits of the receiver",
        carries: "shares of the masks of the receiver's outputs, and a digest of the MACs on them",
        step: "WRK17, Fig. 2, 8; YWZ20, Fig. 7, 13",
    }
}
