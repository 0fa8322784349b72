//! Maliciously secure computation of Boolean circuits.
