//! How prepared circuits enter the stores: when every party has said that it has written its own.

use symbolon_protocols::Network;
use symbolon_store::{ClosedItem, ItemId};
use symbolon_transport::Result;

use super::failed;
use crate::messages::WRITTEN;

/// Prepared circuits on their way into the store. They wait on disk until every party has said that
/// it has them too. So if a party cannot keep its part, the others keep none that look usable.
///
/// A false claim of a peer does no harm: items that not all parties hold are left alone.
pub(super) struct Entry {
    waiting: Vec<ClosedItem>,
    /// The maximum number of waiting items.
    most: usize,
    /// The items that were entered.
    pub items: Vec<ItemId>,
}

/// The number of AND gates that justify a round trip of their own.
const WORTH_A_ROUND: u64 = 1 << 20;

/// The maximum number of waiting items, each of which holds a file open.
const MOST_WAITING: u64 = 16;

impl Entry {
    /// Computes the limit for circuits of this size, which is the same for all parties.
    pub(super) fn of(and_gates: u64) -> Entry {
        let most = WORTH_A_ROUND / and_gates.max(1);
        let most = most.clamp(1, MOST_WAITING) as usize;
        Entry { waiting: Vec::new(), most, items: Vec::new() }
    }

    pub(super) fn add(&mut self, network: &mut Network, item: ClosedItem) -> Result<()> {
        self.waiting.push(item);
        if self.waiting.len() < self.most { Ok(()) } else { self.enter(network) }
    }

    /// Enters all waiting items once all parties have them.
    pub(super) fn enter(&mut self, network: &mut Network) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let peers = network.peers();
        for peer in peers.iter_mut() {
            peer.send(WRITTEN, &[])?;
            peer.flush()?;
        }
        peers.iter_mut().try_for_each(|peer| peer.recv(WRITTEN, 0).map(drop))?;
        for item in self.waiting.drain(..) {
            self.items.push(item.publish().map_err(failed)?);
        }
        Ok(())
    }
}
