//! The checks of this crate.

symbolon_transport::checks! {
    pub GLOBAL_KEY = "global-key-consistency", "global key consistency":
        "a Δ that differs from one party to another";
    pub GLOBAL_KEY_Z = "ashare-z-commitment", "aShare z commitment":
        "a z in the check of global keys that does not match its commitment";
    pub LEAKY_AND = "leaky-and", "leaky AND":
        "a wrong U, S or d, or a Δ with a wrong last bit, in leaky AND triples";
    pub LEAKY_AND_D = "leaky-and-d-commitment", "leaky AND d commitment":
        "a d of leaky AND triples that does not match its commitment";
    pub LEAKY_BLINDED_V = "leaky-and-blinded-v-commitment", "leaky AND blinded V commitment":
        "a share of ρ·V in the check of leaky AND triples that does not match its commitment";
    pub BUCKETING = "bucketing-mac", "bucketing MAC":
        "a wrong bit d, or a wrong MAC on it, when a bucket of leaky triples is combined";
    pub DEALT_BITS = "dealt-bits", "dealt bits":
        "a dealer's bits with nonzero padding";
    pub DEALER_REQUEST = "dealer-request", "dealer request":
        "a malformed request to the dealer, or one for another party's slot";
}
