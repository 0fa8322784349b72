//! The phases in separate processes, possibly on different days: [`fill`] a pool, [`prepare`]
//! circuits from it, [`run`] one with little latency, each over its own connection.
//!
//! ```text
//! fill ──▶ pool in every party's store ──prepare──▶ prepared circuits in every store
//! ──run(inputs)──▶ outputs
//! ```
//!
//! # What must be the same on both days
//! The parties and their keys, the protocol and ρ. What was prepared is also for one circuit, for a
//! number of executions ([`Config::executions`](crate::Config::executions)), and, where the
//! protocol has them, for components, a length of MACs, a form of the intersection and κ_b.
//!
//! # How parties agree on what they use
//! Each party tells all others which suitable items it holds: material for these parties with these
//! keys, this protocol and this ρ, made under the same global keys. Only items that all parties
//! hold may be used; of a pool that some parties have used further than others, only what nobody
//! has used. Anything else is left alone and counted in [`Agreement`]. Then each party locks the
//! group of the chosen item, so that checks under one Δ run one after another, marks what it takes
//! as used on disk, and only then sends anything that depends on it. All of these messages are
//! broadcast, name the item and the round they are about, and enter the session's id.
//!
//! A peer can lie here: it can claim to hold what it does not (the run fails, and material is
//! wasted), or not to have used what it has used; and it can hide items, and so choose which one is
//! used. Only this party's own store decides whether something was used.
//!
//! A prepared circuit enters a store only once all parties have said that they have written it. If
//! a party fails before it says so, no store contains the circuit. If it fails afterwards, other
//! stores may contain it; not all parties hold such an item, so it stays unused. A party that
//! prepares holds the lock on the group to the end, for a pool as well as for material that is made
//! on the spot.
//!
//! A failed check revokes the whole group, in the store as in a session. A damaged item becomes
//! void as soon as it is found.
//!
//! # Dealt material
//! With [`Config::dealer`](crate::Config::dealer), pools and fresh material are dealt. Everything
//! made from them carries the dealer's name, and only sessions that name the same dealer use it;
//! other sessions use only what the parties made themselves. [`run`] does not contact the dealer.
//!
//! Check: dealer | metadata of dealt material name the dealer | its use where that dealer is not
//! trusted | –

// `holdings` finds what all parties hold, and locks it; `maker` has the metadata of items. `pools`
// and `components` fill pools. `preparation` prepares circuits, from `pool_parts` or on the spot,
// and `entry` enters them. `choose` finds prepared circuits; `online` runs one of them, `in_flight`
// several. `stock` keeps a session open that does all of this, with peers
// that are known by a `relation`, and `unusable` finds what that has left behind.
mod choose;
mod components;
mod entry;
mod holdings;
mod in_flight;
mod loader;
mod maker;
mod online;
mod pool_parts;
mod pools;
mod preparation;
mod relation;
mod stock;
mod unusable;

use std::collections::BTreeSet;

use symbolon_protocols::Network;
pub use symbolon_protocols::pool::GATES_PER_CHUNK;
use symbolon_store::{ConsumedItem, GroupId, Store, StoreError};
use symbolon_transport::{Error, Fault, Result};

use crate::autotune::lowest_latency;
pub use crate::params::Amount;
use crate::session::give_up;

pub use components::{FilledComponents, NewComponents, fill_components};
pub use in_flight::{RanInFlight, run_in_flight};
pub use online::{RunPrepared, run, run_batch};
pub use pools::{Filled, NewPool, fill, fill_each};
pub use preparation::{PreparedItems, prepare, prepare_from_pools};
pub use relation::{MAX_RELATIONS, ProofContext, Relation};
pub use stock::{FilledStock, StockedSession};
pub use unusable::{DiscardedItems, StoredFunction, Unusable, discard_unusable, unusable};

/// How far the parties' stores agree on usable items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Items that every party holds.
    pub common: usize,
    /// Items that this party holds and another does not, or no longer; they were not used.
    pub only_here: usize,
    /// Items that another party holds and this one does not, or no longer.
    pub only_elsewhere: usize,
    /// Pools of which some parties have used more than others; what anybody has used is skipped.
    pub uneven: usize,
}

impl std::ops::AddAssign for Agreement {
    fn add_assign(&mut self, other: Agreement) {
        self.common += other.common;
        self.only_here += other.only_here;
        self.only_elsewhere += other.only_elsewhere;
        self.uneven += other.uneven;
    }
}

impl Agreement {
    /// Returns whether all stores hold the same items.
    pub fn is_complete(&self) -> bool {
        self.only_here == 0 && self.only_elsewhere == 0 && self.uneven == 0
    }
}

/// Why a damaged item is void.
pub const DAMAGED: &str = "a file of it is damaged";

/// The [code](Error::code) of the error that the parties hold too little in common, or that others
/// use it: nothing was used, and preparing more helps.
pub const OUT_OF_MATERIAL: &str = "out-of-material";

/// Removes the files of a used item if possible. An item that cannot be removed is marked as used
/// nevertheless, and [garbage collection](Store::gc) tries again: this does not affect the outputs.
fn remove(taken: ConsumedItem) {
    let _ = taken.done();
}

/// Revokes all of these groups if `done` is a failed check. A group that cannot be revoked keeps no
/// other from being revoked; then the error names what the store says about each.
fn void_cheated<T>(
    store: &Store,
    groups: impl IntoIterator<Item = GroupId>,
    done: Result<T>,
) -> Result<T> {
    let Err(error @ Error::PeerMisbehaved { .. }) = &done else { return done };
    let groups: BTreeSet<GroupId> = groups.into_iter().collect();
    let revoked = groups.iter().map(|group| store.revoke_group(group, &error.to_string()));
    let mut failures: Vec<String> =
        revoked.filter_map(|revoked| Some(revoked.err()?.to_string())).collect();
    failures.dedup();
    match failures.is_empty() {
        true => done,
        false => Err(Error::store(format!(
            "{error}; and what was made with it could not be made void: {}",
            failures.join("; ")
        ))),
    }
}

/// Voids the damaged item if `done` failed because of it, so that nobody tries it again.
fn void_damaged<T>(store: &Store, done: Result<T>) -> Result<T> {
    if let Err(error) = &done
        && let Some(item) = StoreError::damaged_item(error)
    {
        store.void(&[item], DAMAGED).map_err(|store| {
            Error::store(format!("{error}; and it could not be made void: {store}"))
        })?;
    }
    done
}

fn or_give_up<T>(done: Result<T>, network: &mut Network) -> Result<T> {
    done.inspect_err(|error| give_up(network, error))
}

fn out_of_material(text: impl Into<String>) -> Error {
    Error::Store(Fault::new(OUT_OF_MATERIAL, text))
}

fn failed(error: StoreError) -> Error {
    error.into()
}
