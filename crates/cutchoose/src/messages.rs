//! The messages of this crate. The messages that set up commitments and draw random ones are in
//! [`symbolon_ot::messages`].

symbolon_transport::messages! {
    pub PROOF = "commitments: proof" {
        phase: "any",
        route: "committer → receiver",
        length: "32",
        carries: "a hash of the rows of all commitments of an opening",
        step: "",
    }
}
