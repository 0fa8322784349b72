//! Prepares circuits, from pools or from material made on the spot.

use std::io::Read;
use std::ops::Range;

use symbolon_circuit::Circuit;
use symbolon_protocols::pool::GATES_PER_CHUNK;
use symbolon_protocols::{Compiled, Engine, Network, PoolRange, PoolSource, Prepared};
use symbolon_store::{
    ClosedItem, ConsumedItem, DEFAULT_FRAME, GroupId, GroupLock, ItemId, ItemKind, Section, Store,
};
use symbolon_transport::{Error, Result};

use super::entry::Entry;
use super::holdings::Rounds;
use super::maker::{Maker, Origin};
use super::pool_parts::{PoolPart, Pools, Preparing, agree_on_pools};
use super::{
    Agreement, components, failed, lowest_latency, or_give_up, void_cheated, void_damaged,
};
use crate::config::Config;
use crate::params::{Job, Material};
use crate::report::{DEPENDENT, Report};
use crate::session::{Begun, begin, counted, engine};

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

/// Makes `count` prepared circuits with all peers, from pools that all hold if they suffice, and
/// otherwise from material made on the spot.
///
/// A prepared circuit enters the store once every party has said that its own copy is on disk:
/// large circuits one by one, small ones up to 16 at a time. [`run`](super::run) waits until this
/// has ended, because the checks of all of them concern one Δ.
///
/// # Errors
/// As [`fill`](super::fill). Items that were entered before an error stay. A damaged pool becomes
/// void.
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
    let executions = terms.side_by_side()?;
    let run_terms = terms.params.run_terms(executions);
    let need = terms.params.protocol.demand_of(circuit, config.parties() as u16, run_terms)?;
    let maker = Maker::of(&config)?;
    let and_gates = need.and_gates.saturating_mul(count.into());
    let work = Preparing { store, circuit, need, maker: &maker };
    let mut rounds = Rounds::default();
    let begun = begin(
        config,
        Job::Prepare(circuit, count, material),
        (and_gates, lowest_latency(maker.protocol)),
        |network, dealer| {
            network.executions = executions;
            let pools = match maker.protocol.has_components() {
                true => components::agree_on_pools(network, &mut rounds, &work, count)?,
                false => agree_on_pools(network, &mut rounds, &work, count)?,
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
    let mut entry = Entry::of(work.need.and_gates, rounds);
    for range in &pools.ranges {
        let made = work.prepare_from(&mut network, range, &mut entry);
        or_give_up(void_cheated(store, [range.origin.group], made), &mut network)?;
    }
    if !pools.ranges.is_empty() {
        let entered = counted(&mut network, DEPENDENT, |network| entry.finish(network));
        or_give_up(entered, &mut network)?;
    }
    if let Some(engine) = engine.as_deref_mut() {
        let left = count as usize - pools.ranges.len();
        // An engine that failed no longer knows its group.
        let group = engine.group();
        let locked = work.lock_new(&group);
        let _lock = or_give_up(locked, &mut network)?;
        let made = work.prepare_fresh(&mut network, engine, (left, &mut entry));
        or_give_up(void_cheated(store, [group], made), &mut network)?;
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

/// The maximum number of triples that are made for one batch without a pool.
const MOST_FRESH: u64 = 1 << 23;

impl Preparing<'_> {
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
                protocol.prepare_components(network, &**plan, &counts, source)?
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
        if self.need.and_gates > MOST_FRESH && network.executions > 1 {
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
            entry.finish(network)
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

struct FromConsumedItem<'a>(&'a ConsumedItem);

impl PoolSource for FromConsumedItem<'_> {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.0.read(section, bytes).map_err(failed)?))
    }
}
