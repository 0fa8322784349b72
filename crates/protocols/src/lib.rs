//! The protocols: wrk.
