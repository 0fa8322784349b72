//! How a party reaches a dealer of correlations.

use symbolon_transport::{Channel, Fingerprint, Result};

use crate::Network;

/// Opens another channel from this party to the [`DEALER`](symbolon_transport::DEALER).
pub type Connector = Box<dyn FnMut(&Network) -> Result<Channel> + Send>;

/// How a party reaches the dealer that all parties of its session have agreed on.
pub struct Dealer {
    /// The fingerprint of the key that each party proves to the others and to the dealer. Empty
    /// over links without keys, where anybody can take any slot.
    pub keys: Vec<Fingerprint>,
    /// Opens another channel to the dealer.
    pub dial: Connector,
}

impl std::fmt::Debug for Dealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dealer").field("keys", &self.keys).finish_non_exhaustive()
    }
}
