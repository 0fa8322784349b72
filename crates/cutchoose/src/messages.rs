//! The messages of this crate. The messages that set up commitments and draw random ones are in
//! [`symbolon_ot::messages`].

symbolon_transport::messages! {
    pub CHOSEN = "commitments: chosen" {
        phase: "any",
        route: "committer → receiver",
        length: "16·m, m ≤ 2^15",
        carries: "for m chosen strings their differences to the random ones that were committed to",
        step: "",
    }
    pub OPENED = "commitments: opened" {
        phase: "any",
        route: "committer → receiver",
        length: "16·m, m ≤ 2^15",
        carries: "m opened strings",
        step: "KNRTT17 App. A",
    }
    pub PROOF = "commitments: proof" {
        phase: "any",
        route: "committer → receiver",
        length: "32",
        carries: "a hash of the rows of all commitments of an opening",
        step: "",
    }
}
