//! Base OT and correlated OT extension with malicious security.
