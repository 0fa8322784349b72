//! Where a process is that others meet.

use serde::{Deserialize, Serialize};

/// Where a party is and who it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The address at which later parties dial it.
    pub address: Option<String>,
    /// The fingerprint of its key, for TLS.
    pub fingerprint: Option<String>,
}
