//! The checks of this protocol.

symbolon_transport::checks! {
    pub ECHO = "circuit-commitment-echo", "circuit commitment":
        "commitments to circuits that echo the other party's";
    pub CIRCUIT = "opened-circuit", "opened circuit":
        "an opened circuit that was garbled wrongly, or whose label commitments are in the wrong order";
    pub CHOICES = "opened-ot-choices", "opened OT choices":
        "choice bits of an opened circuit's OTs that differ from those used";
    pub KEPT = "garbled-circuit-commitment", "garbled circuit commitment":
        "a circuit that does not match its commitment";
    pub ENCODED_LABEL = "encoded-input-label", "encoded input label":
        "wrong labels for a value of a bit of the other party's encoded input";
    pub INPUT_LABEL = "input-label", "input label":
        "a label that does not belong to the masked input, or is not a label at all";
    pub TRANSLATION = "output-translation", "output translation":
        "a wrong translation of an output label, or a wrong hash of one";
    pub PSI_OPENED = "intersection-opening", "intersection opening":
        "an opening of the intersection that does not match its commitment";
    pub RECONCILIATION = "reconciliation", "reconciliation":
        "outputs of the two parties' circuits that differ";
}
