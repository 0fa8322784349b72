//! The messages of this protocol with four rows.

symbolon_transport::messages! {
    pub GARBLED_TABLE = "garbled table" {
        phase: "function-dependent",
        route: "garbler → evaluator",
        length: "(48 + 4·m)·g, for g gates and MACs of m bytes",
        carries: "for each gate the labels of rows 1 to 3, then for each gate the MACs of all rows",
        step: "WRK17, Fig. 2, 4(d)",
    }
    pub INPUTS_AND_LABELS = "masked inputs, labels, output masks" {
        phase: "online",
        route: "garbler → evaluator",
        length: "⌈b/8⌉ + 16·w + ⌈o/8⌉ + 32, for b own and w input bits, o evaluator's output bits",
        carries: "its masked inputs, labels of all inputs, shares of output masks, their MACs' digest",
        step: "WRK17, Fig. 2, 5–6",
    }
    pub INPUTS_AND_LABELS_FIRST = "masked inputs, labels" {
        phase: "streamed",
        route: "garbler → evaluator",
        length: "⌈b/8⌉ + 16·w, for b own and w input bits",
        carries: "its masked inputs, and the labels of all inputs",
        step: "WRK17, Fig. 2, 5–6",
    }
    pub GARBLER_OUTPUTS = "outputs for the garbler" {
        phase: "online",
        route: "evaluator → garbler that learns an output",
        length: "2·⌈o/8⌉ + 32, for o garbler's output bits",
        carries: "masked outputs, shares of their masks, and a digest of labels and MACs",
        step: "YWZ20, Fig. 7, 11",
    }
}
