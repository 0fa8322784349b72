//! The parts of pools from which circuits are prepared: what all parties hold, nobody has used, and
//! all have locked.

use std::rc::Rc;

use symbolon_protocols::pool::GATES_PER_CHUNK;
use symbolon_protocols::{Compiled, ComponentPlan, Demand, Network};
use symbolon_store::{AvailableItem, Filter, GroupLock, ItemId, ItemKind, Store};
use symbolon_transport::{Error, Result};

use super::holdings::{Common, Holdings, Rounds, available_items, common, lock, tell};
use super::maker::{Maker, Origin};
use super::{Agreement, failed, out_of_material};

/// What is needed to prepare one circuit after another.
pub(super) struct Preparing<'a> {
    pub store: &'a Store,
    pub circuit: &'a Compiled,
    pub need: Demand,
    pub maker: &'a Maker,
}

impl Preparing<'_> {
    /// Returns what one circuit takes from each of a pool's counts.
    pub(super) fn taken(&self) -> Vec<u64> {
        let mut taken = vec![self.need.and_gates.div_ceil(GATES_PER_CHUNK as u64)];
        taken.extend(&self.need.input_bits);
        taken
    }
}

/// Returns this party's pools, and which of them all others hold too, with the first record of each
/// count that nobody has used and the first number that no circuit prepared from it has had
/// anywhere.
pub(super) fn agree(
    network: &mut Network,
    rounds: &mut Rounds,
    store: &Store,
    filter: &Filter,
) -> Result<(Vec<AvailableItem>, Common, Agreement)> {
    let available_items = available_items(store, filter)?;
    let told = |item: &AvailableItem| {
        let next = item.next.iter().chain([&item.next_prepared]).copied();
        (item.id, next.collect())
    };
    let own: Holdings = available_items.iter().map(told).collect();
    // Chunks of gates, each party's input bits, and the number of the next prepared circuit.
    let counts = 2 + usize::from(network.parties());
    let me = network.me;
    let all = tell(network, rounds, &own, counts)?;
    let (both, agreement) = common(&available_items, &all, me);
    Ok((available_items, both, agreement))
}

/// The part of a pool that all parties will take.
pub(super) struct PoolPart {
    pub id: ItemId,
    pub origin: Origin,
    pub from: Vec<u64>,
    pub upto: Vec<u64>,
    /// The number, within the pool's group, of the circuit that is prepared from it.
    pub number: u64,
    /// How the circuit is built from the pool's components, if it is a pool of components.
    pub plan: Option<Rc<dyn ComponentPlan>>,
}

/// The parts of pools for circuits that are prepared.
pub(super) struct Pools {
    pub ranges: Vec<PoolPart>,
    pub agreement: Agreement,
    /// Why a common pool is useless for the circuit, if all of them are.
    pub useless: Option<Error>,
    /// A clause to append to the error if there is too little.
    pub note: String,
    /// Held until the circuits are prepared.
    pub _locks: Vec<GroupLock>,
}

/// Finds parts of pools for up to `count` circuits.
pub(super) fn agree_on_pools(
    network: &mut Network,
    rounds: &mut Rounds,
    work: &Preparing<'_>,
    count: u32,
) -> Result<Pools> {
    let filter = work.maker.filter(ItemKind::Pool, None);
    let (available_items, both, agreement) = agree(network, rounds, work.store, &filter)?;
    let taken = work.taken();
    let note = pools_of_other_rhos(work.store, &filter)?;
    let mut pools = Pools { note, ..Pools::none(agreement) };
    // A circuit without gates and inputs takes nothing that could be marked as used.
    if taken.iter().all(|take| *take == 0) {
        return Ok(pools);
    }
    for (place, next) in both {
        let item = &available_items[place];
        if pools.ranges.len() == count as usize || !fits(item, &next, &taken) {
            continue;
        }
        if let Some(locked) = lock(network, rounds, work.store, &filter, item)? {
            pools._locks.push(locked);
            pools.take(item, next, &taken, (count, None))?;
        }
    }
    Ok(pools)
}

/// Returns a clause about pools of another ρ, which serve no circuit of this ρ; empty if there
/// are none.
pub(super) fn pools_of_other_rhos(store: &Store, filter: &Filter) -> Result<String> {
    let any = Filter { rho: None, ..filter.clone() };
    let items = store.available_items(&any).map_err(failed)?;
    let mut others: Vec<u32> = items.iter().map(|item| item.meta.rho).collect();
    others.retain(|rho| Some(*rho) != filter.rho);
    others.sort_unstable();
    others.dedup();
    let others: Vec<String> = others.iter().map(u32::to_string).collect();
    Ok(match others.is_empty() {
        true => String::new(),
        false => format!(" (there are pools for ρ = {}, which do not serve)", others.join(" and ")),
    })
}

/// Returns whether the rest of a pool, from `next` on, suffices for a circuit.
pub(super) fn fits(item: &AvailableItem, next: &[u64], taken: &[u64]) -> bool {
    let left = item.meta.counts.iter().zip(next).zip(taken);
    left.fold(true, |fits, ((all, next), take)| {
        fits & next.checked_add(*take).is_some_and(|upto| upto <= *all)
    })
}

impl Pools {
    pub(super) fn none(agreement: Agreement) -> Pools {
        let (ranges, note) = (Vec::new(), String::new());
        Pools { ranges, agreement, useless: None, note, _locks: Vec::new() }
    }

    /// Takes parts of a locked pool for as many circuits as it suffices for, up to `count` in all.
    /// `next` gives the first records that nobody has used, and the number of the next circuit.
    pub(super) fn take(
        &mut self,
        item: &AvailableItem,
        mut next: Vec<u64>,
        taken: &[u64],
        (count, plan): (u32, Option<Rc<dyn ComponentPlan>>),
    ) -> Result<()> {
        let mut number = next.pop().ok_or_else(|| Error::internal("a pool without counts"))?;
        while self.ranges.len() < count as usize && fits(item, &next, taken) {
            let upto: Vec<u64> = next.iter().zip(taken).map(|(next, take)| next + take).collect();
            let Some(following) = number.checked_add(1) else { break };
            let from = std::mem::replace(&mut next, upto.clone());
            let (id, origin, plan) = (item.id, Origin::of(&item.meta), plan.clone());
            self.ranges.push(PoolPart { id, origin, from, upto, number, plan });
            number = following;
        }
        Ok(())
    }

    /// Returns the error that the pools do not suffice for `count` circuits.
    pub(super) fn too_few(self, count: u32) -> Error {
        let (n, note) = (self.ranges.len(), self.note);
        match self.useless.filter(|_| n == 0) {
            Some(Error::InvalidInput(text)) => Error::InvalidInput(text + &note),
            Some(error) => error,
            None => out_of_material(format!(
                "the pools that all parties hold are enough for {n} of {count}{note}: fill them first"
            )),
        }
    }
}
