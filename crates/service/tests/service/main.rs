//! Nodes in one process, over loopback with TLS.

mod calls;
mod common;
#[cfg(unix)]
mod door;
mod failures;
mod lies;
