//! The phases apart, in processes of their own and on days of their own: [`fill`] a pool,
//! [`prepare`] circuits from it, [`run`] one in a moment, each with its own connection.
//!
//! ```text
//! fill ──▶ pool in every party's store ──prepare──▶ prepared circuits in every store ──run(inputs)──▶ outputs
//! ```
//!
//! # How parties agree on what they use
//! Each tells all others what it holds of what is wanted: material for these parties with these
//! keys, this protocol, this ρ, and made under the same global keys. What all hold is what may be
//! used; of a pool that some have used further than others, what nobody has used. Anything else is
//! left alone and counted in [`Agreement`]. Then each locks the group of the choice, so that checks
//! under one Δ come one after another, marks what it takes as used, on disk, and only then sends
//! anything that depends on it. All that is told here is broadcast, names the item and the round
//! that it is about, and enters the session's id.
//!
//! A peer can say what it likes here: that it holds what it does not (the run fails, and material
//! is wasted), or that it has not used what it has. Whether something was used is decided by the
//! own store alone.
//!
//! After a failed check the whole group is revoked, in the store as in a session.
//!
//! # From a dealer
//! [`Config::dealer`] has pools and fresh material dealt. All that is made of it bears the dealer's
//! name, and is used only by those who name that dealer again: others get nothing but
//! what the parties made among themselves. [`run`] does not ask the dealer for anything.

mod choose;
mod holdings;
mod in_flight;
mod maker;

use std::io::Read;
use std::ops::Range;

use symbolon_circuit::Circuit;
pub use symbolon_protocols::pool::GATES_PER_CHUNK;
use symbolon_protocols::pool::{GATES, HEAD};
use symbolon_protocols::{
    Compiled, Demand, Engine, Network, OtExtension, PoolLayout, PoolRange, PoolSink, PoolSource,
    Prepared, Protocol,
};
use symbolon_store::{
    AvailableItem, ConsumedItem, DEFAULT_FRAME, Filter, GroupId, GroupLock, ItemId, ItemKind,
    ItemWriter, Section, Store, StoreError,
};
use symbolon_transport::{Error, Result};

use crate::autotune::Preferences;
use crate::config::Config;
use crate::params::Job;
use crate::report::{DEPENDENT, INDEPENDENT, ONLINE, Report};
use crate::session::batch::{Joined, split};
use crate::session::{Begun, begin, counted, engine, give_up};
use crate::{Inputs, Outputs};

pub use in_flight::{RanInFlight, run_in_flight};

use choose::{Chosen, Opened, choose_prepared};
use holdings::{Common, Holdings, Question, Rounds, all_say, available_items, common, lock, tell};
use maker::{Maker, Origin};

/// How much is to be in all pools together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// AND gates; rounded up to whole chunks of 128.
    pub and_gates: u64,
    /// Input bits of each party.
    pub input_bits: u64,
}

/// What [`fill`] made.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The new pool's name, the same in every party's store; none if there was enough already.
    pub item: Option<ItemId>,
    /// What is in it.
    pub made: Amount,
    /// What was left before, in the pools that all parties hold.
    pub had: Amount,
    /// How far the stores agreed on their pools.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// How far the parties' stores agree on what could have been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Items that every party holds.
    pub common: usize,
    /// Items that this party holds and some other does not, or no longer: they were not used.
    pub only_here: usize,
    /// Items that another party holds and this one does not, or no longer.
    pub only_elsewhere: usize,
    /// Pools of which some parties have used more than others; what anybody has used is skipped.
    pub uneven: usize,
}

impl Agreement {
    /// Whether all stores hold the same.
    pub fn is_complete(&self) -> bool {
        self.only_here == 0 && self.only_elsewhere == 0 && self.uneven == 0
    }
}

/// Circuits that were prepared.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedItems {
    /// Their names, the same in every party's store.
    pub items: Vec<ItemId>,
    /// How many of them were made from pools; the others from material made on the spot.
    pub from_pools: usize,
    /// How many of them stand on material of the dealer that [`Config::dealer`] names.
    pub dealt: usize,
    /// How far the stores agreed on their pools.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// A prepared circuit that was run.
#[derive(Debug)]
pub struct RunPrepared<T = Outputs> {
    /// What this party learnt.
    pub outputs: T,
    /// The item that was used up.
    pub item: ItemId,
    /// The dealer on whose material it stands, and who could have seen the inputs; none if the
    /// parties made all among themselves.
    pub dealer: Option<String>,
    /// How far the stores agreed on what they hold for this circuit.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// Fills up the pools of function-independent material that all parties hold, in this party's
/// `store` and theirs, until `target` is there: makes one more pool with what is missing.
///
/// # Errors
/// `InvalidInput` when `config` cannot work or nothing is asked for; `Store` when the store cannot
/// be written; otherwise as [`Session::connect`](crate::Session::connect).
pub fn fill(config: Config, store: &Store, target: Amount) -> Result<Filled> {
    config.check_alone()?;
    if target.and_gates == 0 || target.and_gates > 1 << 40 || target.input_bits > 1 << 40 {
        return Err(Error::invalid_input(
            "a pool holds 1 to 2^40 AND gates, and as many input bits",
        ));
    }
    let protocol = config.terms().params.protocol;
    if !protocol.has_pools() {
        return Err(Error::invalid_input(format!(
            "{} has no pools: prepare the circuit itself",
            protocol.name()
        )));
    }
    let maker = Maker::of(&config);
    // A pool serves every form.
    let work = (target.and_gates, lowest_latency(protocol));
    let begun = begin(config, Job::Preprocess(target), work, |network, dealer| {
        let (had, agreement) = left_in_pools(network, store, &maker)?;
        let enough = had.and_gates >= target.and_gates && had.input_bits >= target.input_bits;
        let engine = if enough { None } else { Some(engine(protocol, network, dealer)?) };
        Ok((had, agreement, engine))
    })?;
    let Begun { mut network, made: (had, agreement, engine), .. } = begun;
    let mut made = Amount { and_gates: 0, input_bits: 0 };
    let mut item = None;
    if let Some(mut engine) = engine {
        let chunk = GATES_PER_CHUNK as u64;
        // A pool of input bits alone would be no use.
        made.and_gates = target.and_gates.saturating_sub(had.and_gates).max(1);
        made.and_gates = made.and_gates.next_multiple_of(chunk);
        made.input_bits = target.input_bits.saturating_sub(had.input_bits);
        let done = counted(&mut network, INDEPENDENT, |network| {
            make_pool(network, engine.as_mut(), (store, &maker), made)
        });
        item = Some(or_give_up(done, &mut network)?);
    }
    Ok(Filled { item, made, had, agreement, report: Report::of(&network.meter) })
}

fn make_pool(
    network: &mut Network,
    engine: &mut dyn Engine,
    (store, maker): (&Store, &Maker),
    amount: Amount,
) -> Result<ItemId> {
    let parties = network.parties();
    let Amount { and_gates, input_bits } = amount;
    let need = Demand { and_gates, input_bits: vec![input_bits; parties.into()] };
    let origin = Origin { group: engine.group(), dealer: maker.dealer.clone() };
    let meta = maker.meta(ItemKind::Pool, &origin, None, 0);
    let layout = PoolLayout { me: network.me, parties };
    let mut item_writer = store.begin(meta, &sections(layout), DEFAULT_FRAME).map_err(failed)?;
    engine.fill(network, &need, &mut ToItemWriter(&mut item_writer))?;
    let mut counts = vec![and_gates / GATES_PER_CHUNK as u64];
    counts.extend(&need.input_bits);
    item_writer.finish(counts).map_err(failed)
}

/// What is left in the pools that all parties hold, of what nobody has used.
fn left_in_pools(
    network: &mut Network,
    store: &Store,
    maker: &Maker,
) -> Result<(Amount, Agreement)> {
    let only = Some(vec![maker.dealer.clone()]);
    let filter = Filter { dealers: only, ..maker.filter(ItemKind::Pool, None) };
    let (available_items, both, agreement) =
        agree(network, &mut Rounds::default(), store, &filter)?;
    let mut left = Amount { and_gates: 0, input_bits: 0 };
    for (place, next) in both {
        let counts = &available_items[place].meta.counts;
        let rest = |count: usize| counts[count].saturating_sub(next[count]);
        left.and_gates += rest(0) * GATES_PER_CHUNK as u64;
        left.input_bits += (1..counts.len()).map(rest).min().unwrap_or(0);
    }
    Ok((left, agreement))
}

/// Pools that this party holds, and which of them all others hold, too: the first of each count
/// that nobody has used, and the first number that no circuit prepared from it has had anywhere.
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
    // Chunks of gates, each party's input bits, the number of the next prepared circuit.
    let counts = 2 + usize::from(network.parties());
    let me = network.me;
    let all = tell(network, rounds, &own, counts)?;
    let (both, agreement) = common(&available_items, &all, me);
    Ok((available_items, both, agreement))
}

/// Makes `count` prepared circuits with all peers, from pools that all hold where there is enough,
/// from material made on the spot otherwise.
///
/// # Errors
/// As [`fill`]; items that were finished before an error stay.
pub fn prepare(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    count: u32,
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
        Job::Prepare(circuit, count),
        (and_gates, lowest_latency(maker.protocol)),
        |network, dealer| {
            network.batch = batch;
            let pools = agree_on_pools(network, &work, count)?;
            let fresh = pools.ranges.len() < count as usize;
            let engine = if fresh { Some(engine(maker.protocol, network, dealer)?) } else { None };
            Ok((pools, engine))
        },
    )?;
    let Begun { mut network, made: (pools, mut engine), .. } = begun;
    let mut items = Vec::new();
    for range in &pools.ranges {
        let made = work.prepare_from(&mut network, range);
        if let Err(error @ Error::PeerMisbehaved { .. }) = &made {
            kill(store, &range.origin.group, error)?;
        }
        items.push(or_give_up(made, &mut network)?);
    }
    if let Some(engine) = engine.as_deref_mut() {
        let left = count as usize - pools.ranges.len();
        // Afterwards an engine that failed knows its group no more.
        let group = engine.group();
        let made = work.prepare_fresh(&mut network, engine, left);
        if let Err(error @ Error::PeerMisbehaved { .. }) = &made {
            kill(store, &group, error)?;
        }
        items.extend(or_give_up(made, &mut network)?);
    }
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
/// The item is used up, whatever comes of the run.
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

/// Runs a circuit that was prepared for several evaluations, on this party's `inputs` for each of
/// them, as many as [`Config::executions`] says; returns what it learnt of one after the other.
///
/// The item is used up, whatever comes of the run.
///
/// # Errors
/// `InvalidInput` when `config`, `circuit` and `inputs` do not go together, before anybody is
/// troubled; `Store` when there is no item that all parties hold, or this party's is damaged;
/// otherwise as [`Session::run`](crate::Session::run).
pub fn run_batch(
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
    let mut inputs = inputs.into_iter();
    let inputs = Joined::next(circuit, terms.party, &mut inputs, batch.executions)?;
    let compiled = Compiled::new(circuit);
    let maker = Maker::of(&config);
    let timeout = terms.timeout;
    // All is settled already: what was prepared says how.
    let settled =
        Preferences { ot: Some(OtExtension::default()), ..lowest_latency(maker.protocol) };
    let begun = begin(config, Job::RunPrepared(&compiled), (0, settled), |network, _| {
        network.batch = batch;
        let mut rounds = Rounds::default();
        let filter = maker.filter(ItemKind::Prepared, Some(&compiled));
        let (chosen, agreement) = choose_prepared(network, &mut rounds, (store, &filter), timeout)?;
        let chosen = chosen.take(store, network, &compiled, maker.protocol)?;
        // A party that must wait for another's disk waits here, and not online.
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
    taken.done().map_err(failed)?;
    let Chosen { id: item, origin: Origin { dealer, .. }, .. } = chosen;
    Ok(RunPrepared { outputs, item, dealer, agreement, report: Report::of(&network.meter) })
}

/// How many triples are made for one batch without a pool.
const MOST_FRESH: u64 = 1 << 23;

/// What one circuit after the other is prepared with.
struct Preparing<'a> {
    store: &'a Store,
    circuit: &'a Compiled,
    need: Demand,
    maker: &'a Maker,
}

/// A part of a pool that all parties will take, the same.
struct PoolPart {
    id: ItemId,
    origin: Origin,
    from: Vec<u64>,
    upto: Vec<u64>,
    /// The number, within the pool's group, of the circuit that is prepared from it.
    number: u64,
}

struct Pools {
    ranges: Vec<PoolPart>,
    agreement: Agreement,
    /// Held until the circuits are prepared.
    _locks: Vec<GroupLock>,
}

impl Preparing<'_> {
    /// What one circuit takes of each of a pool's counts.
    fn taken(&self) -> Vec<u64> {
        let mut taken = vec![self.need.and_gates.div_ceil(GATES_PER_CHUNK as u64)];
        taken.extend(&self.need.input_bits);
        taken
    }

    fn prepare_from(&self, network: &mut Network, part: &PoolPart) -> Result<ItemId> {
        counted(network, DEPENDENT, |network| {
            let taken = self.store.take_range(part.id, &part.from, &part.upto).map_err(failed)?;
            let first = part.from[0] * GATES_PER_CHUNK as u64;
            let inputs = part.from[1..].iter().zip(&part.upto[1..]);
            let range = PoolRange {
                gates: first..first + self.need.and_gates,
                inputs: inputs.map(|(from, upto)| *from..*upto).collect(),
            };
            let protocol = self.maker.protocol;
            let material = protocol.from_pool(network, &range, &mut FromConsumedItem(&taken))?;
            let prepared = material.prepare(network, self.circuit)?;
            self.keep(network, prepared, &part.origin, part.number)
        })
    }

    /// Prepares `count` circuits with material made on the spot.
    fn prepare_fresh(
        &self,
        network: &mut Network,
        engine: &mut dyn Engine,
        count: usize,
    ) -> Result<Vec<ItemId>> {
        if self.need.and_gates > MOST_FRESH && network.batch.executions > 1 {
            return Err(Error::invalid_input(format!(
                "{} triples are more than are held in memory for a batch that is prepared: fill a pool first, \
                 or prepare smaller batches",
                self.need.and_gates
            )));
        }
        let origin = Origin { group: engine.group(), dealer: self.maker.dealer.clone() };
        let mut items = Vec::with_capacity(count);
        counted(network, DEPENDENT, |network| {
            engine.prepare_each(network, self.circuit, count, &mut |network, prepared| {
                // The group is new: its numbers start at 0.
                items.push(self.keep(network, prepared, &origin, items.len() as u64)?);
                Ok(())
            })
        })?;
        Ok(items)
    }

    /// Puts a prepared circuit into the store.
    fn keep(
        &self,
        network: &Network,
        prepared: Box<dyn Prepared>,
        origin: &Origin,
        sequence: u64,
    ) -> Result<ItemId> {
        let meta = self.maker.meta(ItemKind::Prepared, origin, Some(self.circuit), sequence);
        let mut item_writer =
            self.store.begin(meta, &[Section::Whole], DEFAULT_FRAME).map_err(failed)?;
        let protocol = self.maker.protocol;
        protocol.save_prepared(network, self.circuit, prepared, item_writer.section(0))?;
        item_writer.finish(vec![1]).map_err(failed)
    }
}

/// Which bytes of a pool go with which of its counts: chunks of gates, then each party's input
/// bits.
fn sections(layout: PoolLayout) -> Vec<Section> {
    let mut sections = vec![Section::Whole; layout.sections()];
    sections[HEAD] = Section::Whole;
    sections[GATES] = Section::Records { counter: 0, bits: 8 * layout.chunk_bytes() };
    for party in 0..layout.parties {
        let bits = 8 * layout.input_bytes(party);
        let counter = 1 + usize::from(party);
        sections[PoolLayout::inputs(party)] = Section::Records { counter, bits };
    }
    sections
}

struct ToItemWriter<'a>(&'a mut ItemWriter);

impl PoolSink for ToItemWriter<'_> {
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()> {
        self.0.section(section).put(bytes).map_err(failed)
    }
}

struct FromConsumedItem<'a>(&'a ConsumedItem);

impl PoolSource for FromConsumedItem<'_> {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.0.read(section, bytes).map_err(failed)?))
    }
}

/// Finds parts of pools for as many of `count` circuits as there is enough for.
fn agree_on_pools(network: &mut Network, work: &Preparing<'_>, count: u32) -> Result<Pools> {
    let filter = work.maker.filter(ItemKind::Pool, None);
    let mut rounds = Rounds::default();
    let (available_items, both, agreement) = agree(network, &mut rounds, work.store, &filter)?;
    let taken = work.taken();
    let mut pools = Pools { ranges: Vec::new(), agreement, _locks: Vec::new() };
    // A circuit without gates and inputs takes nothing that could be marked as used.
    if taken.iter().all(|take| *take == 0) {
        return Ok(pools);
    }
    for (place, mut next) in both {
        let mut number = next.pop().ok_or_else(|| Error::internal("a pool without counts"))?;
        let item @ AvailableItem { id, meta, .. } = &available_items[place];
        let fits = |next: &[u64]| {
            let left = meta.counts.iter().zip(next).zip(&taken);
            left.fold(true, |fits, ((all, next), take)| {
                fits & next.checked_add(*take).is_some_and(|upto| upto <= *all)
            })
        };
        if pools.ranges.len() == count as usize || !fits(&next) {
            continue;
        }
        let Some(locked) = lock(network, &mut rounds, work.store, &filter, item)? else {
            continue;
        };
        pools._locks.push(locked);
        while pools.ranges.len() < count as usize && fits(&next) {
            let upto: Vec<u64> = next.iter().zip(&taken).map(|(next, take)| next + take).collect();
            let Some(following) = number.checked_add(1) else { break };
            let from = std::mem::replace(&mut next, upto.clone());
            pools.ranges.push(PoolPart { id: *id, origin: Origin::of(meta), from, upto, number });
            number = following;
        }
    }
    Ok(pools)
}

/// Circuits are prepared ahead so that little is left to wait for: where no form was asked for, it
/// is the one with the shortest online phase, whatever the link.
fn lowest_latency(protocol: Protocol) -> Preferences {
    Preferences { form: Some(protocol.forms()[0]), ot: None }
}

fn kill(store: &Store, group: &GroupId, error: &Error) -> Result<()> {
    store.revoke_group(group, &error.to_string()).map_err(|store| {
        Error::store(format!("{error}; and what was made with it could not be made void: {store}"))
    })
}

fn or_give_up<T>(done: Result<T>, network: &mut Network) -> Result<T> {
    done.inspect_err(|error| give_up(network, error))
}

fn failed(error: StoreError) -> Error {
    error.into()
}

#[cfg(test)]
mod tests {
    use symbolon_store::{ItemMeta, ItemPeer, Protection};

    use super::*;

    /// The protocols allow 256 parties; a pool has two sections and one for each of them.
    #[test]
    fn a_store_keeps_a_pool_for_256_parties() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Protection::None).unwrap();
        let layout = PoolLayout { me: 3, parties: 256 };
        let peers = (0..256).filter(|party| *party != layout.me);
        let meta = ItemMeta {
            kind: ItemKind::Pool,
            protocol: "ywz".to_string(),
            group: [1; 32],
            party: layout.me,
            peers: peers.map(|party| ItemPeer { party, fingerprint: None }).collect(),
            dealer: None,
            rho: 40,
            circuit: None,
            sequence: 0,
            counts: Vec::new(),
        };
        let mut item_writer = store.begin(meta, &sections(layout), 1 << 16).unwrap();
        let bytes = |bytes: u64| vec![7; usize::try_from(bytes).unwrap()];
        let mut sink = ToItemWriter(&mut item_writer);
        sink.write(HEAD, &[7; 18]).unwrap();
        sink.write(GATES, &bytes(layout.chunk_bytes())).unwrap();
        for party in 0..layout.parties {
            let input = bytes(8 * layout.input_bytes(party));
            sink.write(PoolLayout::inputs(party), &input).unwrap();
        }
        let mut counts = vec![8; 257];
        counts[0] = 1;
        let id = item_writer.finish(counts.clone()).unwrap();
        let taken = store.take_range(id, &[0; 257], &counts).unwrap();
        taken.check().unwrap();
        assert_eq!(taken.bytes(GATES), layout.gate_bytes(&(0..128)));
        assert_eq!(taken.bytes(PoolLayout::inputs(255)), 0..8 * layout.input_bytes(255));
    }
}
