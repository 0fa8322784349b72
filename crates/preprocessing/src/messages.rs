//! The messages of this crate.

const ALL_TO_ALL: &str = "each party → each other";
const FROM_DEALER: &str = "dealer → party";
const TO_DEALER: &str = "party → dealer";

symbolon_transport::messages! {
    pub ABIT_DIGESTS = "aBit: digests" {
        phase: "any",
        route: "each party → each other, with three parties or more",
        length: "32·(parties − 2)",
        carries: "digests of the corrections that went to the others",
        step: "YWZ20, Fig. 4, 5–7",
    }
    pub ABIT_CHECK = "aBit: check" {
        phase: "any",
        route: ALL_TO_ALL,
        length: "16·129",
        carries: "x̃ and the hash of each of the 128 columns of a draw",
        step: "YWZ20, Fig. 4, 5–7",
    }
    pub ZERO_SHARE = "aShare: zero share" {
        phase: "set-up",
        route: "each party → each other, with three parties or more",
        length: "16",
        carries: "a part of a sharing of zero, which masks y",
        step: "YWZ20, Fig. 5, 4–8",
    }
    pub ASHARE_Y = "aShare: y" {
        phase: "set-up",
        route: "each party → each other, with three parties or more",
        length: "16",
        carries: "the masked combination y of this party's bits",
        step: "YWZ20, Fig. 5, 4–8",
    }
    pub ASHARE_Z_COMMITMENT = "aShare: commitment to z" {
        phase: "set-up",
        route: "each party → each other, with three parties or more",
        length: "32",
        carries: "a commitment to z",
        step: "YWZ20, Fig. 5, 4–8",
    }
    pub ASHARE_Z = "aShare: z" {
        phase: "set-up",
        route: "each party → each other, with three parties or more",
        length: "32 + 16·parties",
        carries: "the nonce of the commitment, z for each party's Δ",
        step: "YWZ20, Fig. 5, 4–8",
    }
    pub LEAKY_U = "leaky AND: U" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "w/8·t for t triples, with w = 48, 72, 88 bits at ρ = 40, 64, 80",
        carries: "U for each triple of a chunk",
        step: "YWZ20, Fig. 14, 2–3",
    }
    pub LEAKY_D_COMMITMENT = "leaky AND: commitment to d" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "32",
        carries: "a commitment to the bits d of a batch and the seed of a coin",
        step: "YWZ20, Fig. 14, 4b–7",
    }
    pub LEAKY_D = "leaky AND: d" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "32 + ⌈t/8⌉ + 32, for t triples",
        carries: "the nonce of the commitment, the bits d, the seed",
        step: "YWZ20, Fig. 14, 4b–7",
    }
    pub LEAKY_BLIND = "leaky AND: blinding" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "6·v²/8, with v = 64 bits up to ρ = 62, otherwise 128",
        carries: "a mask R of V, for each bit b that ρ is made of, masked for b = 1",
        step: "YWZ20, Fig. 14, 4b–7",
    }
    pub LEAKY_MASKED_V = "leaky AND: masked V" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "v/8",
        carries: "the random sum V of all T, masked by R",
        step: "YWZ20, Fig. 14, 4b–7",
    }
    pub LEAKY_BLINDED_V_COMMITMENT = "leaky AND: commitment to blinded V" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "32",
        carries: "a commitment to a share of ρ·V",
        step: "YWZ20, Fig. 14, 4b–7",
    }
    pub LEAKY_BLINDED_V = "leaky AND: blinded V" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "32 + 16",
        carries: "the nonce of the commitment, the share of ρ·V",
        step: "YWZ20, Fig. 14, 4b–7",
    }
    pub BUCKETING_D = "bucketing: d" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "⌈t/8⌉, for t leaky triples but one of each bucket",
        carries: "shares of d, by which the triples of a bucket are combined",
        step: "YWZ20, Fig. 16, 2a",
    }
    pub BUCKETING_MACS = "bucketing: MACs" {
        phase: "triples",
        route: ALL_TO_ALL,
        length: "16",
        carries: "a random sum of the MACs on the bits d",
        step: "YWZ20, Fig. 16, 2a",
    }
    pub DEALER_REQUEST = "dealer request" {
        phase: "dealer",
        route: TO_DEALER,
        length: "64",
        carries: "version, slot, number of parties, evaluator, session, AND gates, keys or not",
        step: "",
    }
    pub DEALER_PARTIES = "dealer request: parties" {
        phase: "dealer",
        route: TO_DEALER,
        length: "8·parties, with keys 40·parties",
        carries: "every party's number of input bits, and every party's key",
        step: "",
    }
    pub DEALER_SEED = "dealer: seed" {
        phase: "dealer",
        route: FROM_DEALER,
        length: "16",
        carries: "the seed of the party's Δ, bits and keys",
        step: "WRK17, §4.3",
    }
    pub DEALER_INPUT_MACS = "dealer: input MACs" {
        phase: "dealer",
        route: FROM_DEALER,
        length: "16·b, for b bits, at most 512 KiB for all peers",
        carries: "MACs on the party's input masks under one peer's Δ, one chunk",
        step: "WRK17, §4.3",
    }
    pub DEALER_PRODUCT_BITS = "dealer: c bits" {
        phase: "dealer",
        route: "dealer → party 0",
        length: "⌈g/8⌉, for g gates",
        carries: "the bits that make the products right, one chunk",
        step: "WRK17, §4.3",
    }
    pub DEALER_GATE_MACS = "dealer: gate MACs" {
        phase: "dealer",
        route: FROM_DEALER,
        length: "16·g, for g gates",
        carries: "MACs on the party's masks, a, b or c under one peer's Δ, one chunk",
        step: "WRK17, §4.3",
    }
    pub DEALER_DONE = "dealer: done" {
        phase: "dealer",
        route: TO_DEALER,
        length: "0",
        carries: "nothing: the party has everything",
        step: "",
    }
}
