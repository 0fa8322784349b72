//! The messages of this protocol, and of `wrk` with half-gates.

symbolon_transport::messages! {
    pub GARBLED_GATES = "garbled gates" {
        phase: "function-dependent",
        route: "each garbler → evaluator",
        length: "(32 + 64·(parties − 2))·g, from the first garbler ⌈g/8⌉ more, for g gates",
        carries: "two half-gates each, rows under the other garblers' Δ, and the first one's b_γ",
        step: "YWZ20, Fig. 6, 8",
    }
    pub LABELS = "input labels" {
        phase: "online",
        route: "each garbler → evaluator",
        length: "16·w, for w input bits of all parties",
        carries: "the garbler's label of each masked input bit",
        step: "YWZ20, Fig. 7, 9",
    }
    pub MASKED_VALUES = "masked values, label digest, chi" {
        phase: "online",
        route: "evaluator → each garbler",
        length: "⌈g/8⌉ + 32 + 16, for g AND gates",
        carries: "masked outputs of all AND gates, a digest of their labels, the challenge χ",
        step: "YWZ20, Fig. 7, 11; §2.6",
    }
    pub AUTHENTICATION = "circuit authentication" {
        phase: "online",
        route: "each garbler → evaluator",
        length: "16·r, for r runs of gates that were proven apart",
        carries: "z of each run",
        step: "YWZ20, Fig. 7, 12; §2.6",
    }
}
