//! What the parties' stores hold in common, and locks that all parties take or none.

use std::collections::{HashMap, HashSet};

use symbolon_interaction::confirm_broadcasts;
use symbolon_protocols::Network;
use symbolon_store::{AvailableItem, Filter, GroupLock, ItemId, Store, StoreError};
use symbolon_transport::{Error, PartyId, Result};

use super::{Agreement, failed};
use crate::checks;
use crate::messages::{ANSWER, HOLDINGS};

/// The maximum number of items that a party lists at a time, a page.
const MOST: usize = if cfg!(test) { 4 } else { 1024 };

/// The maximum number of pages, which keeps a peer from telling items without end.
const MOST_PAGES: usize = 64;

const ROUND_DOMAIN: &str = "symbolon 2026 stored items v3";
const SESSION_DOMAIN: &str = "symbolon 2026 session id after stored items v1";

/// The holdings that a party announces: names of items, and for pools what is left.
pub(super) type Holdings = Vec<(ItemId, Vec<u64>)>;

/// The rounds in which the parties announce their holdings and answer yes or no.
///
/// These messages steer the session: which item is used, and whether the session continues. So they
/// are broadcast, and all messages of a round enter the session's id. If a party tells two parties
/// different things, both notice before either acts on it; otherwise each would use another item,
/// and they would accuse each other.
#[derive(Default)]
pub(super) struct Rounds {
    done: u64,
    /// A digest of all rounds.
    digest: [u8; 32],
}

impl Rounds {
    /// Ends a round in which the parties sent `told`, by party number: compares it, and all rounds
    /// before, pairwise.
    fn compare(&mut self, network: &mut Network, told: &[Vec<u8>]) -> Result<()> {
        let mut hasher = blake3::Hasher::new_derive_key(ROUND_DOMAIN);
        hasher.update(&network.session).update(&self.done.to_le_bytes()).update(&self.digest);
        for bytes in told {
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        }
        self.digest = *hasher.finalize().as_bytes();
        self.done += 1;
        confirm_broadcasts(network.peers(), &self.digest)
    }

    /// Binds all rounds into the session's id. While an engine prepares, the id must stay: it has
    /// committed to circuits that depend on it.
    pub(super) fn bind(&self, network: &mut Network) {
        let mut hasher = blake3::Hasher::new_derive_key(SESSION_DOMAIN);
        hasher.update(&network.session).update(&self.digest);
        network.session = *hasher.finalize().as_bytes();
    }
}

/// A yes-or-no question.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    /// Is this item unused here, and its group locked?
    Locked(ItemId),
    /// Is it marked as used here, and loaded?
    ConsumedItem(ItemId),
    /// Is there time for another attempt?
    GoOn,
    /// Is this new pool closed here?
    Closed(ItemId),
    /// Are this prepared circuit, and all that were prepared before it, written here?
    Written(ItemId),
}

impl Question {
    /// Encodes the question of a round as every answer contains it.
    fn encode(self, round: u64) -> Vec<u8> {
        let (kind, item) = match self {
            Question::Locked(item) => (0, item),
            Question::ConsumedItem(item) => (1, item),
            Question::GoOn => (2, ItemId([0; 16])),
            Question::Closed(item) => (3, item),
            Question::Written(item) => (4, item),
        };
        [&[kind][..], &item.0, &round.to_le_bytes()].concat()
    }
}

/// Sends this party's holdings to all peers and returns everybody's, the same at each party.
///
/// Check: what the stores hold | each list (`stored items`) names its round and is broadcast
/// (`broadcast echo`) | a party that sends others to different items | 2^-128
pub(super) fn tell(
    network: &mut Network,
    rounds: &mut Rounds,
    own: &Holdings,
    counts: usize,
) -> Result<Vec<Holdings>> {
    let mut bytes = Vec::new();
    for (id, next) in own.iter().take(MOST) {
        bytes.extend_from_slice(&id.0);
        next.iter().for_each(|n| bytes.extend_from_slice(&n.to_le_bytes()));
    }
    let me = network.me;
    let peers = network.peers();
    for peer in peers.iter_mut() {
        peer.send(HOLDINGS, &bytes)?;
        peer.flush()?;
    }
    let each = 16 + 8 * counts;
    let mut all = Vec::with_capacity(peers.len() + 1);
    for peer in peers.iter_mut() {
        all.push(peer.recv_bounded(HOLDINGS, each * MOST)?);
    }
    all.insert(usize::from(me), bytes);
    rounds.compare(network, &all)?;
    rounds.bind(network);
    if let Some(party) = all.iter().position(|bytes| bytes.len() % each != 0) {
        return Err(Error::misbehaved(party as u16, checks::STORED_ITEMS));
    }
    let decode = |bytes: Vec<u8>| {
        let item = |item: &[u8]| {
            let mut id = [0; 16];
            id.copy_from_slice(&item[..16]);
            let next = item[16..].chunks_exact(8).map(|n| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(n);
                u64::from_le_bytes(bytes)
            });
            (ItemId(id), next.collect())
        };
        bytes.chunks_exact(each).map(item).collect()
    };
    Ok(all.into_iter().map(decode).collect())
}

/// The common items, in the order of this party's items: the index of each, and the furthest use of
/// each count by any party.
pub(super) type Common = Vec<(usize, Vec<u64>)>;

/// Finds the items that all parties hold.
pub(super) fn common<'a>(
    available_items: &[AvailableItem],
    all: &'a [Holdings],
    me: PartyId,
) -> (Common, Agreement) {
    let mut agreement = Agreement::default();
    let mut both = Vec::new();
    // The first counts if a party lists an item twice.
    let told = |holdings: &'a Holdings| -> HashMap<ItemId, &'a [u64]> {
        holdings.iter().rev().map(|(id, next)| (*id, &next[..])).collect()
    };
    let told: Vec<_> = all.iter().map(told).collect();
    for (place, item) in available_items.iter().enumerate() {
        let of = |told: &HashMap<ItemId, &'a [u64]>| told.get(&item.id).copied();
        let Some(nexts) = told.iter().map(of).collect::<Option<Vec<_>>>() else {
            agreement.only_here += 1;
            continue;
        };
        agreement.uneven += usize::from(nexts.windows(2).any(|two| two[0] != two[1]));
        let furthest = |count: usize| nexts.iter().map(|next| next[count]).max().unwrap_or(0);
        both.push((place, (0..nexts[0].len()).map(furthest).collect()));
    }
    let known: HashSet<ItemId> = available_items.iter().map(|item| item.id).collect();
    let mut others: Vec<ItemId> = (0u16..)
        .zip(all)
        .filter(|(party, _)| *party != me)
        .flat_map(|(_, holdings)| holdings.iter().map(|(id, _)| *id))
        .filter(|id| !known.contains(id))
        .collect();
    others.sort();
    others.dedup();
    agreement.only_elsewhere = others.len();
    agreement.common = both.len();
    (both, agreement)
}

/// Returns whether every party answers yes to the same question; all parties learn the same. The
/// answers enter the session's id.
///
/// # Errors
/// As [`all_say_meanwhile`].
pub(super) fn all_say(
    network: &mut Network,
    rounds: &mut Rounds,
    question: Question,
    yes: bool,
) -> Result<bool> {
    let all = all_say_meanwhile(network, rounds, question, yes)?;
    rounds.bind(network);
    Ok(all)
}

/// As [`all_say`], while an engine works. The caller must [bind](Rounds::bind) the round later.
///
/// Check: what the stores hold | each answer (`stored items: yes or no`) names its item and round
/// and is broadcast (`broadcast echo`) | a party that answers others differently | 2^-128
///
/// # Errors
/// `PeerMisbehaved` if a party answers another question, or answers others differently;
/// `Transport`.
pub(super) fn all_say_meanwhile(
    network: &mut Network,
    rounds: &mut Rounds,
    question: Question,
    yes: bool,
) -> Result<bool> {
    let question = question.encode(rounds.done);
    let answer = |yes: bool| [&question[..], &[yes.into()]].concat();
    let (me, own) = (network.me, answer(yes));
    let peers = network.peers();
    for peer in peers.iter_mut() {
        peer.send(ANSWER, &own)?;
        peer.flush()?;
    }
    let mut all = Vec::with_capacity(peers.len() + 1);
    for peer in peers.iter_mut() {
        all.push(peer.recv(ANSWER, own.len())?);
    }
    all.insert(usize::from(me), own);
    // The answers are confirmed before any is evaluated, so both parties notice if a third one
    // answers them differently.
    rounds.compare(network, &all)?;
    let known = [answer(false), answer(true)];
    match all.iter().position(|answer| !known.contains(answer)) {
        Some(party) => Err(Error::misbehaved(party as u16, checks::STORED_ANSWER)),
        None => Ok(all.iter().all(|answer| *answer == known[1])),
    }
}

/// Locks the group of an offer at all parties or at none. Returns `None` if somebody else holds the
/// lock, or used the offer before the lock was free.
pub(super) fn lock(
    network: &mut Network,
    rounds: &mut Rounds,
    store: &Store,
    filter: &Filter,
    item: &AvailableItem,
) -> Result<Option<GroupLock>> {
    // A group that was revoked meanwhile is treated like one in use.
    let own = store.lock_group(&item.group).or_else(|error| match error {
        StoreError::RevokedGroup { .. } => Ok(None),
        error => Err(failed(error)),
    })?;
    let own = match own {
        Some(lock) => {
            let now = store.available_items(filter).map_err(failed)?;
            // What is made from a pool takes the next number of the group.
            let is_pool = !item.next.is_empty();
            let same = |other: &AvailableItem| {
                (other.id, &other.next) == (item.id, &item.next)
                    && (!is_pool || other.next_prepared == item.next_prepared)
            };
            now.iter().any(same).then_some(lock)
        }
        None => None,
    };
    let all = all_say(network, rounds, Question::Locked(item.id), own.is_some())?;
    Ok(if all { own } else { None })
}

/// Lists the available items by name, an order that all parties share: the first page of them.
pub(super) fn available_items(store: &Store, filter: &Filter) -> Result<Vec<AvailableItem>> {
    available_after(store, filter, None)
}

/// Lists the page of available items whose names follow `after`.
fn available_after(
    store: &Store,
    filter: &Filter,
    after: Option<ItemId>,
) -> Result<Vec<AvailableItem>> {
    let mut available_items = store.available_items(filter).map_err(failed)?;
    available_items.retain(|item| after.is_none_or(|after| item.id > after));
    available_items.sort_by_key(|item| item.id);
    available_items.truncate(MOST);
    Ok(available_items)
}

/// What the parties hold, page by page: a name is on the same page at all parties.
pub(super) struct Pages {
    after: Option<ItemId>,
    left: usize,
}

/// A page of what the parties hold.
pub(super) struct Page {
    /// This party's items.
    pub items: Vec<AvailableItem>,
    /// The places among them of those that all parties hold.
    pub both: Vec<usize>,
    /// What each party holds.
    pub all: Vec<Holdings>,
    /// How far the parties agree.
    pub agreement: Agreement,
}

impl Pages {
    /// Begins with the first page.
    pub fn new() -> Pages {
        Pages { after: None, left: MOST_PAGES }
    }

    /// Exchanges the next page; `None` after the last. All parties call this equally often.
    pub fn next(
        &mut self,
        network: &mut Network,
        rounds: &mut Rounds,
        store: &Store,
        filter: &Filter,
    ) -> Result<Option<Page>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut items = available_after(store, filter, self.after)?;
        let own: Holdings = items.iter().map(|item| (item.id, Vec::new())).collect();
        let mut all = tell(network, rounds, &own, 0)?;
        let end = page_end(&all, self.after);
        if let Some(end) = end {
            items.retain(|item| item.id <= end);
            all.iter_mut().for_each(|told| told.retain(|(id, _)| *id <= end));
        }
        (self.after, self.left) = (end, if end.is_some() { self.left - 1 } else { 0 });
        let (both, agreement) = common(&items, &all, network.me);
        let both = both.into_iter().map(|(place, _)| place).collect();
        Ok(Some(Page { items, both, all, agreement }))
    }
}

/// Returns the name up to which everybody has told all, if a party may hold more. The same at all
/// parties.
fn page_end(all: &[Holdings], after: Option<ItemId>) -> Option<ItemId> {
    let last = |told: &Holdings| told.iter().map(|(id, _)| *id).max();
    let end = all.iter().filter(|told| told.len() >= MOST).filter_map(last).min()?;
    // Beyond the last item of a party that has told all of its items, none is common.
    let over = |told: &Holdings| told.len() < MOST && last(told).is_none_or(|last| last <= end);
    // A party that does not tell its items in order could let the others go round in circles.
    (after.is_none_or(|after| end > after) && !all.iter().any(over)).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: u8) -> ItemId {
        ItemId([number; 16])
    }

    proptest! {
        /// All common items are on the pages, each once, whatever else the parties hold.
        #[test]
        fn pages_have_all_common_items(
            held in prop::collection::vec(prop::collection::btree_set(any::<u8>(), 0..40), 2..4),
        ) {
            let (mut after, mut found) = (None, Vec::new());
            loop {
                let page = |held: &std::collections::BTreeSet<u8>| -> Holdings {
                    let ids = held.iter().map(|&number| id(number));
                    let ids = ids.filter(|id| after.is_none_or(|after| *id > after));
                    ids.take(MOST).map(|id| (id, Vec::new())).collect()
                };
                let all: Vec<Holdings> = held.iter().map(page).collect();
                let end = page_end(&all, after);
                let on_page = |(id, _): &&(ItemId, Vec<u64>)| end.is_none_or(|end| *id <= end);
                let common = all[0].iter().filter(on_page).filter(|item| {
                    all.iter().all(|told| told.contains(item))
                });
                found.extend(common.map(|(id, _)| *id));
                match end {
                    Some(end) => after = Some(end),
                    None => break,
                }
            }
            let all = held[0].iter().filter(|number| held.iter().all(|held| held.contains(number)));
            prop_assert_eq!(found, all.map(|&number| id(number)).collect::<Vec<_>>());
        }
    }

    /// A peer that tells the same page again and again does not keep the others busy.
    #[test]
    fn pages_only_go_forward() {
        let own: Holdings = (0..MOST as u8).map(|n| (id(n + 9), Vec::new())).collect();
        let told: Holdings = (0..MOST as u8).map(|n| (id(n), Vec::new())).collect();
        let end = page_end(&[own.clone(), told.clone()], None);
        assert_eq!(end, Some(id(MOST as u8 - 1)));
        assert_eq!(page_end(&[own, told], end), None);
    }
}
