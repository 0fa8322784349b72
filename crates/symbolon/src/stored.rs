//! The phases in separate processes, possibly on different days: [`fill`] a pool, [`prepare`]
//! circuits from it, [`run`] one with little latency, each over its own connection.
//!
//! ```text
//! fill ──▶ pool in every party's store ──prepare──▶ prepared circuits in every store
//! ──run(inputs)──▶ outputs
//! ```
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
//! A prepared circuit enters a store only once all parties have written it: if a party fails, the
//! other stores contain no items of the circuit. A party that prepares holds the lock on the group
//! to the end, for a pool as well as for material that is made on the spot.
//!
//! A failed check revokes the whole group, in the store as in a session. A damaged item becomes
//! void as soon as it is found.
//!
//! # Dealt material
//! With [`Config::dealer`], pools and fresh material are dealt. Everything made from them carries
//! the dealer's name, and only sessions that name the same dealer use it; other sessions use only
//! what the parties made themselves. [`run`] does not contact the dealer.
//!
//! Check: dealer | metadata of dealt material name the dealer | its use where that dealer is not
//! trusted | –

mod choose;
mod components;
mod holdings;
mod in_flight;
mod maker;
mod pools;

use std::io::Read;
use std::ops::Range;
use std::rc::Rc;

use symbolon_circuit::Circuit;
pub use symbolon_protocols::pool::GATES_PER_CHUNK;
use symbolon_protocols::{
    Compiled, ComponentPlan, Demand, Engine, Network, OtExtension, PoolRange, PoolSource, Prepared,
    Protocol,
};
use symbolon_store::{
    AvailableItem, ClosedItem, ConsumedItem, DEFAULT_FRAME, Filter, GroupId, GroupLock, ItemId,
    ItemKind, Section, Store, StoreError,
};
use symbolon_transport::{Error, Result};

use crate::autotune::Preferences;
use crate::config::Config;
use crate::messages::WRITTEN;
pub use crate::params::Amount;
use crate::params::{Job, Material};
use crate::report::{DEPENDENT, ONLINE, Report};
use crate::session::batch::{Joined, split};
use crate::session::{Begun, begin, counted, engine, give_up};
use crate::{Inputs, Outputs};

pub use in_flight::{RanInFlight, run_in_flight};

use choose::{Chosen, Opened, choose_prepared};
pub use components::{FilledComponents, NewComponents, fill_components};
use holdings::{Common, Holdings, Question, Rounds, all_say, available_items, common, lock, tell};
use maker::{Maker, Origin};
pub use pools::{Filled, NewPool, fill, fill_each};

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

/// Circuits that were prepared.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedItems {
    /// Their names, the same in every party's store.
    pub items: Vec<ItemId>,
    /// How many of them were made from pools; the others were made from material made on the spot.
    pub from_pools: usize,
    /// How many of them depend on material of the dealer that [`Config::dealer`] names.
    pub dealt: usize,
    /// How far the stores agreed on their pools.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// A prepared circuit that was run.
#[derive(Debug)]
pub struct RunPrepared<T = Outputs> {
    /// The outputs of this party.
    pub outputs: T,
    /// The item that was used up.
    pub item: ItemId,
    /// The dealer whose material it depends on, which could have learnt the inputs; `None` if the
    /// parties made all material themselves.
    pub dealer: Option<String>,
    /// How far the stores agreed on what they hold for this circuit.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// Returns this party's pools, and which of them all others hold too, with the first record of each
/// count that nobody has used and the first number that no circuit prepared from it has had
/// anywhere.
fn agree(
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

/// Makes `count` prepared circuits with all peers, from pools that all hold if they suffice, and
/// otherwise from material made on the spot.
///
/// A prepared circuit enters the store once every party has said that its own copy is on disk:
/// large circuits one by one, small ones up to 16 at a time. [`run`] waits until this has ended,
/// because the checks of all of them concern one Δ.
///
/// # Errors
/// As [`fill`]. Items that were entered before an error stay. A damaged pool becomes void.
pub fn prepare(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    count: u32,
) -> Result<PreparedItems> {
    void_damaged(store, prepare_of(config, store, (circuit, count), Material::Any))
}

/// As [`prepare`], but only from pools.
///
/// # Errors
/// `Store` if the common pools do not suffice, before any of them is used; `InvalidInput` if they
/// have other components than the circuit needs, which it names; otherwise as [`prepare`].
pub fn prepare_from_pools(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    count: u32,
) -> Result<PreparedItems> {
    void_damaged(store, prepare_of(config, store, (circuit, count), Material::Pools))
}

fn prepare_of(
    config: Config,
    store: &Store,
    (circuit, count): (&Circuit, u32),
    material: Material,
) -> Result<PreparedItems> {
    config.check(circuit)?;
    let circuit = &Compiled::new(circuit);
    let terms = config.terms();
    let batch = terms.whole_batch()?;
    let need = terms.params.protocol.demand_of(circuit, config.parties() as u16, batch)?;
    let maker = Maker::of(&config);
    let and_gates = need.and_gates.saturating_mul(count.into());
    let work = Preparing { store, circuit, need, maker: &maker };
    let begun = begin(
        config,
        Job::Prepare(circuit, count, material),
        (and_gates, lowest_latency(maker.protocol)),
        |network, dealer| {
            network.batch = batch;
            let pools = match maker.protocol.has_components() {
                true => components::agree_on_pools(network, &work, count)?,
                false => agree_on_pools(network, &work, count)?,
            };
            let fresh = pools.ranges.len() < count as usize;
            if fresh && material == Material::Pools {
                return Err(pools.too_few(count));
            }
            let engine = if fresh { Some(engine(maker.protocol, network, dealer)?) } else { None };
            Ok((pools, engine))
        },
    )?;
    let Begun { mut network, made: (pools, mut engine), .. } = begun;
    let mut entry = Entry::of(&work);
    for range in &pools.ranges {
        let made = work.prepare_from(&mut network, range, &mut entry);
        if let Err(error @ Error::PeerMisbehaved { .. }) = &made {
            kill(store, &range.origin.group, error)?;
        }
        or_give_up(made, &mut network)?;
    }
    if !pools.ranges.is_empty() {
        let entered = counted(&mut network, DEPENDENT, |network| entry.enter(network));
        or_give_up(entered, &mut network)?;
    }
    if let Some(engine) = engine.as_deref_mut() {
        let left = count as usize - pools.ranges.len();
        // An engine that failed no longer knows its group.
        let group = engine.group();
        let locked = work.lock_new(&group);
        let _lock = or_give_up(locked, &mut network)?;
        let made = work.prepare_fresh(&mut network, engine, (left, &mut entry));
        if let Err(error @ Error::PeerMisbehaved { .. }) = &made {
            kill(store, &group, error)?;
        }
        or_give_up(made, &mut network)?;
    }
    let items = entry.items;
    let Pools { ranges, agreement, .. } = &pools;
    let from_pools = ranges.len();
    let mut dealt = ranges.iter().filter(|range| range.origin.dealer.is_some()).count();
    if maker.dealer.is_some() {
        dealt += items.len() - from_pools;
    }
    let (agreement, report) = (*agreement, Report::of(&network.meter));
    Ok(PreparedItems { items, from_pools, dealt, agreement, report })
}

/// Runs a prepared circuit that all parties hold, on this party's `inputs`.
///
/// The item is used up even if the run fails. If its files cannot be removed then, [`Store::gc`]
/// tries again.
///
/// # Errors
/// As [`run_batch`].
pub fn run(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: &Inputs,
) -> Result<RunPrepared> {
    inputs.check(circuit, config.terms().party)?;
    let ran = run_batch(config.executions(1), store, circuit, [Ok(inputs.duplicate())])?;
    let RunPrepared { outputs, item, dealer, agreement, report } = ran;
    let outputs = outputs.into_iter().next();
    let outputs = outputs.ok_or_else(|| Error::internal("a run without outputs"))?;
    Ok(RunPrepared { outputs, item, dealer, agreement, report })
}

/// Runs a circuit that was prepared for several evaluations on this party's `inputs` for each of
/// them, as many as [`Config::executions`] says. Returns the outputs of all evaluations in order.
///
/// The item is used up even if the run fails. If its files cannot be removed then, [`Store::gc`]
/// tries again.
///
/// # Errors
/// `InvalidInput` if `config`, `circuit` and `inputs` do not fit together, before any message is
/// sent; `Store` if there is no item that all parties hold, or this party's is damaged, which is
/// void afterwards; otherwise as [`Session::run`](crate::Session::run).
pub fn run_batch(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: impl IntoIterator<Item = Result<Inputs>>,
) -> Result<RunPrepared<Vec<Outputs>>> {
    void_damaged(store, run_one(config, store, circuit, inputs))
}

fn run_one(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    inputs: impl IntoIterator<Item = Result<Inputs>>,
) -> Result<RunPrepared<Vec<Outputs>>> {
    config.check(circuit)?;
    let terms = config.terms();
    if terms.params.in_flight.is_some() && terms.params.executions > 1 {
        return Err(Error::invalid_input("a batch is not in flight: each evaluation is an item"));
    }
    let batch = terms.whole_batch()?;
    let compiled = Compiled::new(circuit);
    // A protocol without batches has stored none, and a single evaluation would be wasted on one.
    terms.params.protocol.demand_of(&compiled, config.parties() as u16, batch)?;
    let mut inputs = inputs.into_iter();
    let inputs = Joined::next(circuit, terms.party, &mut inputs, batch.executions)?;
    let maker = Maker::of(&config);
    let timeout = terms.timeout;
    // Nothing is left to negotiate: the prepared circuit fixes the choices.
    let settled =
        Preferences { ot: Some(OtExtension::default()), ..lowest_latency(maker.protocol) };
    let begun = begin(config, Job::RunPrepared(&compiled), (0, settled), |network, _| {
        network.batch = batch;
        let mut rounds = Rounds::default();
        let filter = maker.filter(ItemKind::Prepared, Some(&compiled));
        let (chosen, agreement) = choose_prepared(network, &mut rounds, (store, &filter), timeout)?;
        let chosen = chosen.take(store, network, &compiled, maker.protocol)?;
        // A party that must wait for another's disk waits here rather than online.
        if !all_say(network, &mut rounds, Question::ConsumedItem(chosen.chosen.id), true)? {
            return Err(Error::store("another party cannot use what was prepared"));
        }
        Ok((chosen, agreement))
    })?;
    let Begun { mut network, made: (chosen, agreement), .. } = begun;
    let Opened { prepared, taken, chosen } = chosen;
    let done = counted(&mut network, ONLINE, |network| {
        let bits = prepared.evaluate(network, &compiled, &inputs.bits)?;
        split(circuit, network.me, bits, batch.executions)
    });
    if let Err(error @ Error::PeerMisbehaved { .. }) = &done {
        kill(store, &chosen.origin.group, error)?;
    }
    let outputs = or_give_up(done, &mut network)?;
    remove(taken);
    let Chosen { id: item, origin: Origin { dealer, .. }, .. } = chosen;
    Ok(RunPrepared { outputs, item, dealer, agreement, report: Report::of(&network.meter) })
}

/// Why a damaged item is void.
pub const DAMAGED: &str = "a file of it is damaged";

/// The maximum number of triples that are made for one batch without a pool.
const MOST_FRESH: u64 = 1 << 23;

/// What is needed to prepare one circuit after another.
struct Preparing<'a> {
    store: &'a Store,
    circuit: &'a Compiled,
    need: Demand,
    maker: &'a Maker,
}

/// The part of a pool that all parties will take.
struct PoolPart {
    id: ItemId,
    origin: Origin,
    from: Vec<u64>,
    upto: Vec<u64>,
    /// The number, within the pool's group, of the circuit that is prepared from it.
    number: u64,
    /// How the circuit is built from the pool's components, if it is a pool of components.
    plan: Option<Rc<ComponentPlan>>,
}

struct Pools {
    ranges: Vec<PoolPart>,
    agreement: Agreement,
    /// Why a common pool is useless for the circuit, if all of them are.
    useless: Option<Error>,
    /// A clause to append to the error if there is too little.
    note: String,
    /// Held until the circuits are prepared.
    _locks: Vec<GroupLock>,
}

impl Preparing<'_> {
    /// Returns what one circuit takes from each of a pool's counts.
    fn taken(&self) -> Vec<u64> {
        let mut taken = vec![self.need.and_gates.div_ceil(GATES_PER_CHUNK as u64)];
        taken.extend(&self.need.input_bits);
        taken
    }

    fn prepare_from(
        &self,
        network: &mut Network,
        part: &PoolPart,
        entry: &mut Entry,
    ) -> Result<()> {
        counted(network, DEPENDENT, |network| {
            let taken = self.store.take_range(part.id, &part.from, &part.upto).map_err(failed)?;
            let (protocol, source) = (self.maker.protocol, &mut FromConsumedItem(&taken));
            let counts = part.from.iter().zip(&part.upto).map(|(from, upto)| *from..*upto);
            let prepared = if let Some(plan) = &part.plan {
                let counts: Vec<Range<u64>> = counts.collect();
                protocol.prepare_components(network, plan, &counts, source)?
            } else {
                let first = part.from[0] * GATES_PER_CHUNK as u64;
                let range = PoolRange {
                    gates: first..first + self.need.and_gates,
                    inputs: counts.skip(1).collect(),
                };
                let material = protocol.from_pool(network, &range, source)?;
                material.prepare(network, self.circuit)?
            };
            entry.add(network, self.write(network, prepared, &part.origin, part.number)?)
        })
    }

    /// Locks the group of fresh material. So no circuit that is in the store already is run before
    /// the checks of the last one have passed, which is made under the same Δ.
    fn lock_new(&self, group: &GroupId) -> Result<GroupLock> {
        let lock = self.store.lock_group(group).map_err(failed)?;
        lock.ok_or_else(|| Error::store("somebody else has locked what is just being prepared"))
    }

    /// Prepares `count` circuits with fresh material, whose group is locked.
    fn prepare_fresh(
        &self,
        network: &mut Network,
        engine: &mut dyn Engine,
        (count, entry): (usize, &mut Entry),
    ) -> Result<()> {
        if self.need.and_gates > MOST_FRESH && network.batch.executions > 1 {
            return Err(Error::invalid_input(format!(
                "{} triples are more than are held in memory for a batch that is prepared: fill a pool first, \
                 or prepare smaller batches",
                self.need.and_gates
            )));
        }
        let origin = Origin { group: engine.group(), dealer: self.maker.dealer.clone() };
        // The group is new, so its numbers start at 0.
        let mut number = 0;
        counted(network, DEPENDENT, |network| {
            engine.prepare_each(network, self.circuit, count, &mut |network, prepared| {
                let item = self.write(network, prepared, &origin, number)?;
                number += 1;
                entry.add(network, item)
            })?;
            entry.enter(network)
        })
    }

    /// Writes a prepared circuit to disk.
    fn write(
        &self,
        network: &Network,
        prepared: Box<dyn Prepared>,
        origin: &Origin,
        sequence: u64,
    ) -> Result<ClosedItem> {
        let meta = self.maker.meta(ItemKind::Prepared, origin, Some(self.circuit), sequence);
        let mut item_writer =
            self.store.begin(meta, &[Section::Whole], DEFAULT_FRAME).map_err(failed)?;
        let protocol = self.maker.protocol;
        protocol.save_prepared(network, self.circuit, prepared, item_writer.section(0))?;
        item_writer.close(vec![1]).map_err(failed)
    }
}

/// Prepared circuits on their way into the store. They wait on disk until every party has said that
/// it has them too. So if a party cannot keep its part, the others keep none that look usable.
///
/// A false claim of a peer does no harm: items that not all parties hold are left alone.
struct Entry {
    waiting: Vec<ClosedItem>,
    /// The maximum number of waiting items.
    most: usize,
    /// The items that were entered.
    items: Vec<ItemId>,
}

/// The number of AND gates that justify a round trip of their own.
const WORTH_A_ROUND: u64 = 1 << 20;

/// The maximum number of waiting items, each of which holds a file open.
const MOST_WAITING: u64 = 16;

impl Entry {
    /// Computes the limit, which is the same for all parties.
    fn of(work: &Preparing<'_>) -> Entry {
        let most = WORTH_A_ROUND / work.need.and_gates.max(1);
        let most = most.clamp(1, MOST_WAITING) as usize;
        Entry { waiting: Vec::new(), most, items: Vec::new() }
    }

    fn add(&mut self, network: &mut Network, item: ClosedItem) -> Result<()> {
        self.waiting.push(item);
        if self.waiting.len() < self.most { Ok(()) } else { self.enter(network) }
    }

    /// Enters all waiting items once all parties have them.
    fn enter(&mut self, network: &mut Network) -> Result<()> {
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

struct FromConsumedItem<'a>(&'a ConsumedItem);

impl PoolSource for FromConsumedItem<'_> {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.0.read(section, bytes).map_err(failed)?))
    }
}

/// Finds parts of pools for up to `count` circuits.
fn agree_on_pools(network: &mut Network, work: &Preparing<'_>, count: u32) -> Result<Pools> {
    let filter = work.maker.filter(ItemKind::Pool, None);
    let mut rounds = Rounds::default();
    let (available_items, both, agreement) = agree(network, &mut rounds, work.store, &filter)?;
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
        if let Some(locked) = lock(network, &mut rounds, work.store, &filter, item)? {
            pools._locks.push(locked);
            pools.take(item, next, &taken, (count, None))?;
        }
    }
    Ok(pools)
}

/// Returns a clause about pools of another ρ, which serve no circuit of this ρ; empty if there are
/// none.
fn pools_of_other_rhos(store: &Store, filter: &Filter) -> Result<String> {
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
fn fits(item: &AvailableItem, next: &[u64], taken: &[u64]) -> bool {
    let left = item.meta.counts.iter().zip(next).zip(taken);
    left.fold(true, |fits, ((all, next), take)| {
        fits & next.checked_add(*take).is_some_and(|upto| upto <= *all)
    })
}

impl Pools {
    fn none(agreement: Agreement) -> Pools {
        let (ranges, note) = (Vec::new(), String::new());
        Pools { ranges, agreement, useless: None, note, _locks: Vec::new() }
    }

    /// Takes parts of a locked pool for as many circuits as it suffices for, up to `count` in all.
    /// `next` gives the first records that nobody has used, and the number of the next circuit.
    fn take(
        &mut self,
        item: &AvailableItem,
        mut next: Vec<u64>,
        taken: &[u64],
        (count, plan): (u32, Option<Rc<ComponentPlan>>),
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
    fn too_few(self, count: u32) -> Error {
        let (n, note) = (self.ranges.len(), self.note);
        match self.useless.filter(|_| n == 0) {
            Some(Error::InvalidInput(text)) => Error::InvalidInput(text + &note),
            Some(error) => error,
            None => Error::store(format!(
                "the pools that all parties hold are enough for {n} of {count}{note}: fill them first"
            )),
        }
    }
}

/// Returns the preferences for circuits prepared ahead: if nobody asks for a form, the one with the
/// shortest online phase, whatever the link.
fn lowest_latency(protocol: Protocol) -> Preferences {
    Preferences { form: Some(protocol.forms()[0]), ot: None }
}

/// Removes the files of a used item if possible. An item that cannot be removed is marked as used
/// nevertheless, and [garbage collection](Store::gc) tries again: this does not affect the outputs.
fn remove(taken: ConsumedItem) {
    let _ = taken.done();
}

fn kill(store: &Store, group: &GroupId, error: &Error) -> Result<()> {
    store.revoke_group(group, &error.to_string()).map_err(|store| {
        Error::store(format!("{error}; and what was made with it could not be made void: {store}"))
    })
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

fn failed(error: StoreError) -> Error {
    error.into()
}
