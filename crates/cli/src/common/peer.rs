//! The address of a process that others connect to.

use serde::{Deserialize, Serialize};

/// The address and the identity of a party.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The address at which later parties dial it.
    pub address: Option<String>,
    /// The fingerprint of its key, for TLS.
    pub fingerprint: Option<String>,
}
