//! The messages of this protocol. All lengths are for e executions side by side.

const BOTH: &str = "each party → the other";

symbolon_transport::messages! {
    pub INPUTS = "tinytable: masked inputs" {
        phase: "online",
        route: BOTH,
        length: "⌈b·e/8⌉, for b input bits of the sender",
        carries: "the sender's inputs, masked",
        step: "DNNR17, Fig. 5, 3",
    }
    pub LAYER = "tinytable: table bits" {
        phase: "online",
        route: BOTH,
        length: "⌈a·e/8⌉ + Σ ⌈w/8⌉·e, for a AND gates and look-ups of w output bits in a layer",
        carries: "shares of the tables' entries",
        step: "DNNR17, Fig. 5, 4",
    }
    pub MAC = "tinytable: MAC" {
        phase: "online",
        route: BOTH,
        length: "16",
        carries: "a universal hash of the MACs on all own table bits",
        step: "DNNR17, Fig. 5, 5",
    }
    pub MASKS = "tinytable: output masks" {
        phase: "online",
        route: BOTH,
        length: "⌈o·e/8⌉ + 16, for o output bits of the receiver",
        carries: "shares of the masks of the receiver's outputs, and a hash of the MACs on them",
        step: "DNNR17, Fig. 5, 6–7",
    }
}
