//! The checks of this protocol, and of `wrk` with half-gates.

symbolon_transport::checks! {
    pub LABEL = "masked-value-label", "masked value label":
        "an evaluator's masked value without its label";
    pub AUTHENTICATION = "circuit-authentication", "circuit authentication":
        "a garbled gate whose masked output is wrong";
}
