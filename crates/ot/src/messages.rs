//! The messages of this crate.

symbolon_transport::messages! {
    pub BASE_OT_A = "base OT: A" {
        phase: "set-up",
        route: "sender of the base OTs → receiver",
        length: "32",
        carries: "the point A",
        step: "MRR21",
    }
    pub BASE_OT_REPLIES = "base OT: s, t" {
        phase: "set-up",
        route: "receiver of the base OTs → sender",
        length: "80·128",
        carries: "for each OT the point s (32 bytes) and the shift t (48 bytes)",
        step: "MRR21",
    }
    pub TREES = "softspoken: pprf" {
        phase: "set-up",
        route: "receiver of the correlated OTs → sender",
        length: "(128/k)·(32·(k − 1) + 32) + 32",
        carries: "for each GGM tree two sums per level and the check's τ; a hash of all leaves",
        step: "Roy22, punctured PRF",
    }
    pub IKNP_U = "iknp: u" {
        phase: "any",
        route: "receiver of the correlated OTs → sender",
        length: "16·n', n' = 128·(⌈n/128⌉ + 1)",
        carries: "the correction of a draw of n bits, 128 columns",
        step: "IKNP03",
    }
    pub SOFTSPOKEN_U = "softspoken: u" {
        phase: "any",
        route: "receiver of the correlated OTs → sender",
        length: "16·n'/k, n' = 128·(⌈n/128⌉ + 1)",
        carries: "the correction of a draw of n bits, one column per tree",
        step: "Roy22, Fig. 7",
    }
    pub COT_CHECK = "correlated OT: check" {
        phase: "set-up",
        route: "receiver of the correlated OTs → sender",
        length: "16·129",
        carries: "x̃ and the hash of each of the 128 columns",
        step: "Roy22, consistency",
    }
    pub FERRET_SUMS = "ferret: sums" {
        phase: "any",
        route: "sender of the correlated OTs → receiver",
        length: "16·t·h",
        carries: "for each of t trees of 2^h leaves a hidden sum per level",
        step: "YWLZW20, Fig. 6",
    }
    pub FERRET_CHALLENGE = "ferret: challenge" {
        phase: "any",
        route: "receiver of the correlated OTs → sender",
        length: "48",
        carries: "a seed, and x'",
        step: "YWLZW20, Fig. 6",
    }
    pub FERRET_ANSWER = "ferret: answer" {
        phase: "any",
        route: "sender of the correlated OTs → receiver",
        length: "32",
        carries: "the hash of V",
        step: "YWLZW20, Fig. 6",
    }
    pub FERRET_BITS = "ferret: bits" {
        phase: "any",
        route: "receiver of the correlated OTs → sender",
        length: "n'/8, n' = 128·(⌈n/128⌉ + 1)",
        carries: "x ⊕ r, for the chosen bits x and the random bits r of a draw of n bits",
        step: "YWLZW20, Fig. 7",
    }
    pub COMMITMENT_TREES = "commitments: trees" {
        phase: "set-up",
        route: "committer → receiver",
        length: "n·(32·(k − 1) + 32) + 32, none for k = 1",
        carries: "for the GGM tree of each of n places of the code two sums per level and the check's τ; a hash of all leaves",
        step: "Roy22, punctured PRF",
    }
    pub CORRECTION = "commitments: correction" {
        phase: "function-independent",
        route: "committer → receiver",
        length: "16·(n − 128)·(⌈m/128⌉ + h), h = 2 or 3",
        carries: "for m strings, the corrections of the parity places of a code of length n",
        step: "Roy22, Fig. 8",
    }
    pub VOLE_CHECK = "commitments: check" {
        phase: "function-independent",
        route: "committer → receiver",
        length: "2048·h + 32",
        carries: "the hashes of the strings' 128 columns, and a digest of the hashes of all columns",
        step: "Roy22, Fig. 8",
    }
}
