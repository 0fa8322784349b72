//! How prepared circuits enter the stores: when every party has said that it has written its own.

use symbolon_protocols::Network;
use symbolon_store::{ClosedItem, ItemId};
use symbolon_transport::{Error, Result};

use super::failed;
use super::holdings::{Question, Rounds, all_say_meanwhile};

/// Prepared circuits on their way into the store. They wait on disk until every party has said that
/// it has them too. So if a party cannot keep its part, the others keep none that look usable.
///
/// What the parties say is broadcast: a party that says it to some and not to others is noticed
/// before any of them enters its items. Only a party that breaks off in the last message, the echo,
/// can make some enter them and others not. No protocol without an honest majority prevents that,
/// and it does no harm: items that not all parties hold are left alone.
pub(super) struct Entry {
    rounds: Rounds,
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
    /// Computes the limit for circuits of this size, which is the same for all parties. `rounds`
    /// are those before.
    pub(super) fn of(and_gates: u64, rounds: Rounds) -> Entry {
        let most = WORTH_A_ROUND / and_gates.max(1);
        let most = most.clamp(1, MOST_WAITING) as usize;
        Entry { rounds, waiting: Vec::new(), most, items: Vec::new() }
    }

    pub(super) fn add(&mut self, network: &mut Network, item: ClosedItem) -> Result<()> {
        self.waiting.push(item);
        if self.waiting.len() < self.most { Ok(()) } else { self.enter(network) }
    }

    /// Returns the rounds, after the last one.
    pub(super) fn into_rounds(self) -> Rounds {
        self.rounds
    }

    /// Enters all waiting items once all parties have them, and binds what the parties said into
    /// the session's id. No engine may be at work.
    pub(super) fn finish(&mut self, network: &mut Network) -> Result<()> {
        self.enter(network)?;
        self.rounds.bind(network);
        Ok(())
    }

    /// Enters all waiting items once all parties have them.
    fn enter(&mut self, network: &mut Network) -> Result<()> {
        let Some(last) = self.waiting.last() else { return Ok(()) };
        let question = Question::Written(last.id());
        if !all_say_meanwhile(network, &mut self.rounds, question, true)? {
            return Err(Error::store("another party could not write what was prepared"));
        }
        let items = std::mem::take(&mut self.waiting);
        self.items.extend(items.iter().map(ClosedItem::id));
        ClosedItem::publish_all(items).map_err(failed)
    }
}
