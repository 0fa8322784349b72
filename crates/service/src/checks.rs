//! The checks of this crate.

symbolon_transport::checks! {
    pub CONTROL = "service-control", "service: control":
        "bytes that are no control message, or one that this peer may not send at this time";
    pub RELATION = "service-relation", "service: relation":
        "a peer that claims a relation that is another's, or does not prove its own";
}
