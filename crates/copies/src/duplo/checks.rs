//! The checks of this protocol, besides that of opened commitments.

symbolon_transport::checks! {
    pub OPENED_COMPONENT = "opened-component", "opened component":
        "an opened copy that does not match the digest sent before, or whose Δ does not end in 1";
    pub OPENED_AUTHENTICATOR = "opened-authenticator", "opened authenticator":
        "an opened authenticator that accepts keys other than its own, or whose Δ does not end in 1";
    pub TABLE_DIGEST = "component-table", "component table":
        "a table that does not match the digest sent before the coin";
    pub DIFFERENCE = "offset-difference", "offset difference":
        "two Δ with different last bits";
    pub TRANSFER = "oblivious-transfer-sum", "oblivious transfer sum":
        "an evaluator that lies about the results of its oblivious transfers";
    pub MASK = "indicator-mask", "indicator mask":
        "a mask of an indicator bit that does not end in 0";
    pub INPUT_KEY = "input-key", "input key":
        "an input key that its authenticators do not accept";
    pub WIRE_KEY = "wire-key", "wire key":
        "a wire with no accepted key, or with more than two";
    pub RETURNED_KEY = "returned-key", "returned key":
        "a key returned for an output that is neither of its two keys";
}
