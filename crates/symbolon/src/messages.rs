//! The messages of this crate.

const ALL_TO_ALL: &str = "each party → each other";
const AMONG_SEVERAL: &str = "each party → each other, with three parties or more";

symbolon_transport::messages! {
    pub GROUP_NONCE = "group nonce" {
        phase: "handshake",
        route: AMONG_SEVERAL,
        length: "32",
        carries: "a nonce that is the same for all",
        step: "",
    }
    pub GROUP_ECHO = "group session echo" {
        phase: "handshake",
        route: AMONG_SEVERAL,
        length: "2 + 32",
        carries: "the sender, and a hash of the session and of this pair's handshake",
        step: "",
    }
    pub LINK_REPORT = "link report" {
        phase: "handshake",
        route: "each party → each other, if the link is measured",
        length: "16",
        carries: "round trip in nanoseconds, bytes a second, of the sender's slowest link",
        step: "",
    }
    pub LINK_CHOICE = "link choice" {
        phase: "handshake",
        route: "each party → each other, if the link is measured",
        length: "32 + 2",
        carries: "a hash of all reports, and the settled garbling scheme and OT extension",
        step: "",
    }
    pub NEXT_CIRCUIT = "next circuit" {
        phase: "set-up",
        route: ALL_TO_ALL,
        length: "8 + 32",
        carries: "how many circuits the session has had, and the digest of the next one",
        step: "",
    }
    pub RUN_NAME = "run name" {
        phase: "online",
        route: "each party → each other, where a run has a name",
        length: "32",
        carries: "a hash of what the run is for",
        step: "",
    }
    pub TOLD = "told" {
        phase: "exchange",
        route: ALL_TO_ALL,
        length: "at most 64 KiB; a shorter piece is the last",
        carries: "what came of measurements: public, and as good as the sender's word",
        step: "",
    }
    pub HOLDINGS = "stored items" {
        phase: "stored",
        route: ALL_TO_ALL,
        length: "at most (16 + 8·c)·1024, for items with c counts",
        carries: "this party's items' names and how much of each is used",
        step: "",
    }
    pub ANSWER = "stored items: yes or no" {
        phase: "stored, dependent",
        route: ALL_TO_ALL,
        length: "26",
        carries: "a question about an item, its round, and the answer",
        step: "",
    }
}
