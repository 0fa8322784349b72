//! The checks of this protocol.

symbolon_transport::checks! {
    pub ECHO = "circuit-commitment-echo", "circuit commitment":
        "commitments to circuits that echo the other party's";
    pub CIRCUIT = "opened-circuit", "opened circuit":
        "an opened circuit that is garbled wrongly, or whose labels are committed to in the wrong order";
    pub CHOICES = "opened-ot-choices", "opened OT choices":
        "other choices of an opened circuit's OTs than were used";
    pub KEPT = "garbled-circuit-commitment", "garbled circuit commitment":
        "another circuit than was committed to";
    pub ENCODED_LABEL = "encoded-input-label", "encoded input label":
        "wrong labels for a value of a bit of the other party's encoded input";
    pub INPUT_LABEL = "input-label", "input label":
        "a label of another input than the masked inputs say, or no label at all";
    pub TRANSLATION = "output-translation", "output translation":
        "a wrong translation of an output label, or a wrong hash of one";
    pub PSI_OPENED = "intersection-opening", "intersection opening":
        "another opening of the intersection than was committed to";
    pub RECONCILIATION = "reconciliation", "reconciliation":
        "outputs of the two parties' circuits that are not the same";
}
