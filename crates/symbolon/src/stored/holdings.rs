//! What the parties' stores hold in common, and locks on it that all have or none.

use symbolon_preprocessing::bits::confirm_broadcasts;
use symbolon_protocols::Network;
use symbolon_store::{Filter, GroupLock, ItemId, Offer, Store, StoreError};
use symbolon_transport::{Error, Result};

use super::{Agreement, failed};

/// No party tells of more items; others wait for another time.
const MOST: usize = 1024;

const HOLDINGS: &str = "stored items";
const LOCKED: &str = "stored items: yes or no";

/// What a party holds, as it tells the others: names, and of pools what is left.
pub(super) type Holdings = Vec<(ItemId, Vec<u64>)>;

/// Tells all peers what this party holds and hears what they hold, all the same from each.
pub(super) fn tell(network: &mut Network, own: &Holdings, counts: usize) -> Result<Vec<Holdings>> {
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
        let theirs = peer.recv_bounded(HOLDINGS, each * MOST)?;
        if theirs.len() % each != 0 {
            return Err(Error::misbehaved(peer.peer(), HOLDINGS));
        }
        all.push(theirs);
    }
    all.insert(usize::from(me), bytes);
    let mut hasher = blake3::Hasher::new_derive_key("symbolon 2026 stored items v1");
    for bytes in &all {
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    confirm_broadcasts(peers, hasher.finalize().as_bytes())?;
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

/// What all hold, in the order of this party's offers: their place there, and the furthest that anybody has
/// used of each count.
pub(super) type Common = Vec<(usize, Vec<u64>)>;

/// Finds what all hold.
pub(super) fn common(offers: &[Offer], all: &[Holdings], me: u16) -> (Common, Agreement) {
    let mut agreement = Agreement::default();
    let mut both = Vec::new();
    for (place, offer) in offers.iter().enumerate() {
        let of = |holdings: &Holdings| -> Option<Vec<u64>> {
            holdings.iter().find(|(id, _)| *id == offer.id).map(|(_, next)| next.clone())
        };
        let Some(nexts) = all.iter().map(of).collect::<Option<Vec<_>>>() else {
            agreement.only_here += 1;
            continue;
        };
        agreement.uneven += usize::from(nexts.windows(2).any(|two| two[0] != two[1]));
        let furthest = |count: usize| nexts.iter().map(|next| next[count]).max().unwrap_or(0);
        both.push((place, (0..nexts[0].len()).map(furthest).collect()));
    }
    let known: Vec<ItemId> = offers.iter().map(|offer| offer.id).collect();
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

/// Whether every party says yes; all learn the same.
pub(super) fn all_say(network: &mut Network, yes: bool) -> Result<bool> {
    let peers = network.peers();
    for peer in peers.iter_mut() {
        peer.send(LOCKED, &[yes.into()])?;
        peer.flush()?;
    }
    let mut answers = vec![u8::from(yes); peers.len() + 1];
    for (peer, answer) in peers.iter_mut().zip(&mut answers) {
        [*answer] = peer.recv_array::<1>(LOCKED)?;
        if *answer > 1 {
            return Err(Error::misbehaved(peer.peer(), LOCKED));
        }
    }
    Ok(answers.iter().all(|answer| *answer == 1))
}

/// Locks the group of what is offered on all sides, or on none: where somebody else has it, or has used of the offer
/// before the lock was free.
pub(super) fn lock(
    network: &mut Network,
    store: &Store,
    filter: &Filter,
    offer: &Offer,
) -> Result<Option<GroupLock>> {
    // A group that was killed meanwhile is as good as one that is in use.
    let own = store.lock_group(&offer.group).or_else(|error| match error {
        StoreError::DeadGroup { .. } => Ok(None),
        error => Err(failed(error)),
    })?;
    let own = match own {
        Some(lock) => {
            let now = store.offers(filter).map_err(failed)?;
            let same = |other: &Offer| other.id == offer.id && other.next == offer.next;
            now.iter().any(same).then_some(lock)
        }
        None => None,
    };
    Ok(if all_say(network, own.is_some())? { own } else { None })
}

/// Offers in an order that all parties have, too: by name.
pub(super) fn offers(store: &Store, filter: &Filter) -> Result<Vec<Offer>> {
    let mut offers = store.offers(filter).map_err(failed)?;
    offers.sort_by_key(|offer| offer.id);
    offers.truncate(MOST);
    Ok(offers)
}
