//! The messages of this protocol. All lengths are for N executions. B, N̂ and ℓ are as in `params`;
//! n and E are the sender's input bits and encoded bits, n' and E' the receiver's; m is the number
//! of output bits and g that of AND gates.

const BOTH: &str = "each party → the other";
const OFFLINE: &str = "function-dependent";

symbolon_transport::messages! {
    pub CIRCUITS = "dualex: circuits" {
        phase: OFFLINE,
        route: BOTH,
        length: "32·N̂",
        carries: "commitments to all circuits",
        step: "RR16, Fig. 15, Cut-and-Choose Commit",
    }
    pub OPENED = "dualex: opened circuits" {
        phase: OFFLINE,
        route: BOTH,
        length: "16·o + ⌈o·E/8⌉ + 32, with o = N̂ − N·B",
        carries: "seeds of the opened circuits, choices of their OTs, and a digest of the MACs on those",
        step: "RR16, Fig. 15, Cut-and-Choose",
    }
    pub TABLE = "dualex: garbled circuit" {
        phase: OFFLINE,
        route: BOTH,
        length: "32·k for k of a circuit's gates, at most 2^15",
        carries: "half-gates, masked",
        step: "RR16, Fig. 9; Fig. 15, Send Circuit",
    }
    pub ENDING = "dualex: circuit ending" {
        phase: OFFLINE,
        route: BOTH,
        length: "16·⌈m/128⌉ + 32·m + 32·(n + n' + E') + 160",
        carries: "masked decoding, translations δ, XORs and digests of hashes of all labels, the commitment's nonce",
        step: "RR16, Fig. 9; Fig. 15, Input Commit, Output Commit",
    }
    pub BUCKET_LABELS = "dualex: bucket labels" {
        phase: OFFLINE,
        route: BOTH,
        length: "32·m·B + 32",
        carries: "XORs and the digest of hashes of a bucket's output labels, and the translations of all circuits but the first",
        step: "RR16, Fig. 15, Bucket Labels",
    }
    pub DIFFERENCES = "dualex: OT aggregation" {
        phase: OFFLINE,
        route: BOTH,
        length: "⌈N·(B − 1)·E/8⌉",
        carries: "differences of OT choices within buckets",
        step: "RR16, Fig. 15, Offline Inputs",
    }
    pub ENCODED = "dualex: encoded labels" {
        phase: OFFLINE,
        route: BOTH,
        length: "32·B·E'",
        carries: "the labels of the receiver's encoding in a bucket, masked by OTs",
        step: "RR16, Fig. 15, Offline Inputs",
    }
    pub TERMS = "dualex: psi terms" {
        phase: OFFLINE,
        route: BOTH,
        length: "64·B²·ℓ",
        carries: "commitments to the terms of an asynchronous intersection",
        step: "RR16, Fig. 14, offline",
    }
    pub MASKED_INPUTS = "dualex: masked inputs" {
        phase: "online",
        route: BOTH,
        length: "⌈N·n/8⌉",
        carries: "x ⊕ M·c",
        step: "RR16, Fig. 15, Receiver's Inputs",
    }
    pub INPUT_LABELS = "dualex: input labels" {
        phase: "online",
        route: BOTH,
        length: "16·B·(n + n' + 1)",
        carries: "labels of the sender's inputs and of the receiver's masked ones, and R, of a bucket",
        step: "RR16, Fig. 15, Receiver's and Sender's Inputs",
    }
    pub PSI_ITEMS = "dualex: psi items" {
        phase: "online",
        route: BOTH,
        length: "⌈N·B·ℓ/8⌉, twice in the asynchronous form",
        carries: "the receiver's d; in the asynchronous form also the sender's",
        step: "RR16, Figs. 13, 14, input committing",
    }
    pub PSI_SUMS = "dualex: psi commitment" {
        phase: "online",
        route: BOTH,
        length: "32",
        carries: "a commitment to the sums of a synchronous intersection",
        step: "RR16, Fig. 13, input committing",
    }
    pub OUTPUT_SEEDS = "dualex: output labels" {
        phase: "online",
        route: BOTH,
        length: "16·N·B",
        carries: "the seeds of the output labels of the circuits",
        step: "RR16, Fig. 15, Output Decommit",
    }
    pub PSI_OPENING = "dualex: psi opening" {
        phase: "online",
        route: BOTH,
        length: "32 + 16·N·B²; in the asynchronous form 16·B²·ℓ",
        carries: "the nonce and the sums; or the terms of an intersection",
        step: "RR16, Figs. 13, 14, output",
    }
}
