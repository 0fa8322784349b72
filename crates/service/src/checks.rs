//! The checks of this crate.

symbolon_transport::checks! {
    pub CONTROL = "service-control", "service: control":
        "bytes that are no control message, or one that this peer may not send at this time";
}
