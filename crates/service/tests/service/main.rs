//! Nodes in one process, over loopback with TLS.

mod calls;
mod clients;
mod common;
mod documents;
#[cfg(unix)]
mod door;
mod failures;
mod futures;
mod keys;
#[cfg(unix)]
mod killed;
mod lies;
mod metrics;
#[cfg(unix)]
mod soak;
mod stock;
#[cfg(unix)]
mod unusable;
mod vectors;
mod wire_docs;
