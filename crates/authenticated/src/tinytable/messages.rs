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
    pub CODE_TABLES = "tinytable: code of tables" {
        phase: "function-dependent",
        route: BOTH,
        length: "n/8·r, for r ≤ 512 rows of a code of length n",
        carries: "corrections of the commitments to the sender's tables, and of 128 or 256 rows that hide them",
        step: "DNNR17, Fig. 9",
    }
    pub CODE_MASKS = "tinytable: code of masks" {
        phase: "function-dependent",
        route: BOTH,
        length: "16·⌈(n − f)/128⌉·r, for r ≤ 512 masks with f free places",
        carries: "corrections of the masks of the online check, and of 128 or 256 rows that hide them",
        step: "DNNR17, Fig. 9",
    }
    pub CODE_CHALLENGE = "tinytable: code challenge" {
        phase: "any",
        route: BOTH,
        length: "32",
        carries: "the seed of the coefficients of the receiver's proof",
        step: "DNNR17, Fig. 9",
    }
    pub CODE_PROOF = "tinytable: code proof" {
        phase: "function-dependent",
        route: BOTH,
        length: "8·t·(⌈k/64⌉ + ⌈f/64⌉) + 32, t = 128 or 256, for a code with k places and f free places",
        carries: "t sums of the bits of the sender's tables, and of its masks; a digest of their MACs and rows",
        step: "DNNR17, Fig. 9",
    }
    pub CODE_ONLINE = "tinytable: opened sums" {
        phase: "online",
        route: BOTH,
        length: "8·(ρ + 8)·⌈f/64⌉ + 32",
        carries: "the free places of ρ + 8 masked sums of opened words; a digest of their rows",
        step: "DNNR17, Fig. 11, check",
    }
    pub MASKS = "tinytable: output masks" {
        phase: "online",
        route: BOTH,
        length: "⌈o·e/8⌉ + 16, for o output bits of the receiver",
        carries: "shares of the masks of the receiver's outputs, and a hash of the MACs on them",
        step: "DNNR17, Fig. 5, 6–7",
    }
}
