//! The checks that all protocols share.

symbolon_transport::checks! {
    pub PADDING = "bit-padding", "padding of packed bits":
        "nonzero bits after the last one of packed bits";
}
