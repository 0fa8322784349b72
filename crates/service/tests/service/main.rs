//! Nodes in one process, over loopback with TLS.

mod calls;
mod common;
mod failures;
