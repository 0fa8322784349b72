//! The checks of this protocol with four rows.

symbolon_transport::checks! {
    pub GARBLED_TABLE = "garbled-table-mac", "garbled table MAC":
        "a wrong row or MAC in a garbled table";
    pub RETURNED_OUTPUT = "returned-output", "returned output label and MAC":
        "an output that the evaluator returns to the garbler without its label and MAC";
}
