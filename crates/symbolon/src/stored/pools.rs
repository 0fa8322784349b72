//! Fills pools one after the other. Each is closed on disk before the next is begun.
//!
//! # Why a closed pool stays usable whatever happens later
//! Every pool has its own set-up: fresh global keys, base OTs, and a session id that hashes the
//! previous one. So each pool is its own group, its gates are numbered from 0 without using a tweak
//! twice under one Δ, and whatever a failed check in a later pool reveals concerns the Δ of that
//! later pool, of which nothing was kept. It is as if every pool came from its own session, as it
//! does when this is called again. The set-up takes milliseconds, while a pool of the usual size
//! takes seconds.

use std::sync::{Arc, Mutex, PoisonError};

use symbolon_protocols::pool::{GATES, GATES_PER_CHUNK, HEAD};
use symbolon_protocols::{Dealer, Demand, Engine, Network, PoolLayout, PoolSink, Protocol};
use symbolon_store::{DEFAULT_FRAME, Filter, ItemId, ItemKind, ItemWriter, Section, Store};
use symbolon_transport::{Error, PartyId, Result};

use super::holdings::{Question, Rounds, all_say};
use super::maker::{Maker, Origin};
use super::pool_parts::agree;
use super::{Agreement, failed, lowest_latency, or_give_up};
use crate::config::Config;
use crate::params::{Amount, Job};
use crate::report::{INDEPENDENT, Report, SETUP};
use crate::session::{Begun, begin, counted, engine};

/// The maximum number of pools that [`fill`] makes at a time, because parties tell each other all
/// pools that they hold.
pub(super) const MOST_POOLS: u64 = 512;

/// A pool that [`fill_each`] closed. It is on disk, and stays even if later pools fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPool {
    /// Its name, the same in every party's store.
    pub item: ItemId,
    /// Its content.
    pub holds: Amount,
    /// Its number among the new pools, from 1.
    pub number: u64,
    /// The number of new pools planned.
    pub of: u64,
}

/// The result of [`fill`].
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The new pools' names, the same in every party's store; empty if the old pools sufficed.
    pub items: Vec<ItemId>,
    /// The total content of the new pools.
    pub made: Amount,
    /// What was left before in the pools that all parties hold.
    pub had: Amount,
    /// How far the stores agreed on their pools.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// Fills the pools of function-independent material that all parties hold, in this party's `store`
/// and theirs, up to `target`. Makes new pools with at most [`Config::pool_gates`] AND gates each.
///
/// Pools that were closed before an error stay, so repeating the call continues where this one
/// ended.
///
/// # Errors
/// `InvalidInput` if `config` cannot work, `target` is zero, or more than 512 pools would be
/// needed; `Store` if the store cannot be written; otherwise as
/// [`Session::connect`](crate::Session::connect).
pub fn fill(config: Config, store: &Store, target: Amount) -> Result<Filled> {
    fill_each(config, store, target, |_| ())
}

/// As [`fill`], and reports every pool when it is closed.
///
/// # Errors
/// As [`fill`].
pub fn fill_each(
    config: Config,
    store: &Store,
    target: Amount,
    mut closed: impl FnMut(&NewPool),
) -> Result<Filled> {
    config.check_alone()?;
    let params = &config.terms().params;
    let (protocol, pool_gates) = (params.protocol, params.pool_gates);
    check_target(protocol, target, pool_gates)?;
    let maker = Maker::of(&config)?;
    // A pool serves every form of garbling.
    let work = (target.and_gates, lowest_latency(protocol));
    let mut rounds = Rounds::default();
    let begun = begin(config, Job::Preprocess(target), work, |network, dealer| {
        let (had, agreement) = left_in_pools(network, &mut rounds, store, &maker)?;
        let parts = parts(target, had, pool_gates);
        let engines = Engines::begin(network, (protocol, dealer), parts.len())?;
        Ok((had, agreement, parts, engines))
    })?;
    let Begun { mut network, made: (had, agreement, parts, engines), .. } = begun;
    let of = parts.len() as u64;
    let items = engines.make_each(
        (&mut network, &mut rounds),
        &parts,
        |network, engine, part| make_pool(network, engine, (store, &maker), part),
        |item, holds, number| closed(&NewPool { item, holds, number, of }),
    )?;
    let mut made = Amount::NOTHING;
    parts.iter().for_each(|part| made.add(*part));
    Ok(Filled { items, made, had, agreement, report: Report::of(&network.meter) })
}

fn check_target(protocol: Protocol, target: Amount, pool_gates: u64) -> Result<()> {
    if target.and_gates == 0 || target.and_gates > 1 << 40 || target.input_bits > 1 << 40 {
        return Err(Error::invalid_input("pools hold 1 to 2^40 AND gates, and as many input bits"));
    }
    if !protocol.has_pools() {
        return Err(Error::invalid_input(format!(
            "{} has no pools of gates: fill pools for a circuit, or prepare the circuit itself",
            protocol.name()
        )));
    }
    if target.and_gates.div_ceil(whole_chunks(pool_gates)) > MOST_POOLS {
        return Err(Error::invalid_input(format!(
            "{} AND gates are more than {MOST_POOLS} pools of {pool_gates}: ask for larger pools",
            target.and_gates
        )));
    }
    Ok(())
}

fn whole_chunks(gates: u64) -> u64 {
    let chunk = GATES_PER_CHUNK as u64;
    gates.max(1).div_ceil(chunk).saturating_mul(chunk)
}

/// Returns the planned content of each new pool. All parties compute the same.
fn parts(target: Amount, had: Amount, pool_gates: u64) -> Vec<Amount> {
    if had.and_gates >= target.and_gates && had.input_bits >= target.input_bits {
        return Vec::new();
    }
    let most = whole_chunks(pool_gates);
    // A pool with only input bits would be useless.
    let mut gates = whole_chunks(target.and_gates.saturating_sub(had.and_gates));
    let mut bits = target.input_bits.saturating_sub(had.input_bits);
    let mut parts = Vec::new();
    while gates > 0 {
        let now = gates.min(most);
        // Gates and bits are split in the same ratio, so that every pool serves as many circuits as
        // its gates do.
        let share = u128::from(bits) * u128::from(now);
        let input_bits = share.div_ceil(u128::from(gates)) as u64;
        parts.push(Amount { and_gates: now, input_bits });
        gates -= now;
        bits -= input_bits;
    }
    parts
}

/// Makes an engine for each pool.
pub(super) struct Engines {
    protocol: Protocol,
    dealer: Option<Shared>,
    /// The engine of the first pool, with which the session began.
    first: Option<Box<dyn Engine>>,
}

impl Engines {
    /// Runs the set-up for the first pool, if there are any.
    pub(super) fn begin(
        network: &mut Network,
        (protocol, dealer): (Protocol, Option<Dealer>),
        pools: usize,
    ) -> Result<Engines> {
        let mut engines = Engines { protocol, dealer: dealer.map(Shared::new), first: None };
        if pools > 0 {
            engines.first = Some(engines.next(network)?);
        }
        Ok(engines)
    }

    fn next(&mut self, network: &mut Network) -> Result<Box<dyn Engine>> {
        engine(self.protocol, network, self.dealer.as_ref().map(Shared::once))
    }

    /// Makes a pool for each part, one after the other, and reports each when it is closed; returns
    /// their names.
    pub(super) fn make_each<P: Copy>(
        mut self,
        (network, rounds): (&mut Network, &mut Rounds),
        parts: &[P],
        mut make: impl FnMut(&mut Network, &mut dyn Engine, P) -> Result<ItemId>,
        mut closed: impl FnMut(ItemId, P, u64),
    ) -> Result<Vec<ItemId>> {
        let mut items = Vec::with_capacity(parts.len());
        for (number, &part) in (1..).zip(parts) {
            let mut engine = match self.first.take() {
                Some(engine) => engine,
                None => {
                    let set_up = counted(network, SETUP, |network| {
                        self.after(network, rounds, items.last())
                    });
                    or_give_up(set_up, network)?
                }
            };
            // The flush at the end of a phase fails after a signal. A pool that is already in the
            // store is reported nevertheless.
            let made = counted(network, INDEPENDENT, |network| {
                let item = make(network, engine.as_mut(), part)?;
                closed(item, part, number);
                Ok(item)
            });
            items.push(or_give_up(made, network)?);
        }
        Ok(items)
    }

    /// All parties confirm that they closed the previous pool, which changes the session's id; then
    /// the set-up for the next pool runs.
    fn after(
        &mut self,
        network: &mut Network,
        rounds: &mut Rounds,
        before: Option<&ItemId>,
    ) -> Result<Box<dyn Engine>> {
        let before = before.ok_or_else(|| Error::internal("a next pool without one before"))?;
        if !all_say(network, rounds, Question::Closed(*before), true)? {
            return Err(Error::store("another party could not close its pool"));
        }
        self.next(network)
    }
}

/// A dealer that the engines use one after the other.
struct Shared(Arc<Mutex<Dealer>>);

impl Shared {
    fn new(dealer: Dealer) -> Shared {
        Shared(Arc::new(Mutex::new(dealer)))
    }

    fn once(&self) -> Dealer {
        let shared = self.0.clone();
        let keys = shared.lock().unwrap_or_else(PoisonError::into_inner).keys.clone();
        let dial = move |network: &Network| {
            let mut dealer = shared.lock().unwrap_or_else(PoisonError::into_inner);
            (dealer.dial)(network)
        };
        Dealer { keys, dial: Box::new(dial) }
    }
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

/// Returns what nobody has used yet in the pools that all parties hold.
fn left_in_pools(
    network: &mut Network,
    rounds: &mut Rounds,
    store: &Store,
    maker: &Maker,
) -> Result<(Amount, Agreement)> {
    let only = Some(vec![maker.dealer.clone()]);
    let filter = Filter { dealers: only, ..maker.filter(ItemKind::Pool, None) };
    let (available_items, both, agreement) = agree(network, rounds, store, &filter)?;
    let mut left = Amount::NOTHING;
    for (place, next) in both {
        let counts = &available_items[place].meta.counts;
        let rest = |count: usize| counts[count].saturating_sub(next[count]);
        left.and_gates += rest(0) * GATES_PER_CHUNK as u64;
        left.input_bits += (1..counts.len()).map(rest).min().unwrap_or(0);
    }
    Ok((left, agreement))
}

/// Returns the sections of a pool, which say which bytes belong to which of its counts: chunks of
/// gates, then each party's input bits.
fn sections(layout: PoolLayout) -> Vec<Section> {
    let mut sections = vec![Section::Whole; layout.sections()];
    sections[HEAD] = Section::Whole;
    sections[GATES] = Section::Records { counter: 0, bits: 8 * layout.chunk_bytes() };
    for party in PartyId::all(layout.parties) {
        let bits = 8 * layout.input_bytes(party);
        let counter = 1 + usize::from(party);
        sections[PoolLayout::inputs(party)] = Section::Records { counter, bits };
    }
    sections
}

pub(super) struct ToItemWriter<'a>(pub(super) &'a mut ItemWriter);

impl PoolSink for ToItemWriter<'_> {
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()> {
        self.0.section(section).put(bytes).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use symbolon_store::{ItemMeta, ItemPeer, Protection};

    use super::*;

    #[test]
    fn parts_are_of_the_size_asked_for_and_hold_all_that_is_missing() {
        let amount = |and_gates, input_bits| Amount { and_gates, input_bits };
        let target = amount(1000, 100);
        assert_eq!(parts(target, amount(1000, 100), 128), []);
        assert_eq!(parts(target, Amount::NOTHING, 1 << 24), [amount(1024, 100)]);
        // A size that is not a multiple of a chunk is rounded up.
        assert_eq!(parts(target, amount(512, 36), 200), [amount(256, 32), amount(256, 32)]);
        // Input bits alone come with a chunk of gates.
        assert_eq!(parts(target, amount(2000, 36), 128), [amount(128, 64)]);
        let largest = amount(1 << 40, 1 << 40);
        let all = parts(largest, Amount::NOTHING, 1 << 32);
        assert_eq!(all.len(), 256);
        assert_eq!(all.iter().map(|part| part.and_gates).sum::<u64>(), 1 << 40);
        assert_eq!(all.iter().map(|part| part.input_bits).sum::<u64>(), 1 << 40);
        assert_eq!(parts(largest, Amount::NOTHING, u64::MAX), [largest]);
    }

    /// The protocols allow 256 parties; a pool has two sections plus one for each party.
    #[test]
    fn a_store_keeps_a_pool_for_256_parties() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Protection::None).unwrap();
        let layout = PoolLayout { me: 3.into(), parties: 256 };
        let peers = PartyId::all(256usize).filter(|party| *party != layout.me);
        let meta = ItemMeta {
            kind: ItemKind::Pool,
            protocol: "ywz".to_string(),
            group: [1; 32],
            party: layout.me,
            peers: peers.map(|party| ItemPeer { party, fingerprint: None }).collect(),
            dealer: None,
            rho: 40,
            circuit: None,
            name: None,
            sequence: 0,
            counts: Vec::new(),
            components: Vec::new(),
        };
        let mut item_writer = store.begin(meta, &sections(layout), 1 << 16).unwrap();
        let bytes = |bytes: u64| vec![7; usize::try_from(bytes).unwrap()];
        let mut sink = ToItemWriter(&mut item_writer);
        sink.write(HEAD, &[7; 18]).unwrap();
        sink.write(GATES, &bytes(layout.chunk_bytes())).unwrap();
        for party in PartyId::all(layout.parties) {
            let input = bytes(8 * layout.input_bytes(party));
            sink.write(PoolLayout::inputs(party), &input).unwrap();
        }
        let mut counts = vec![8; 257];
        counts[0] = 1;
        let id = item_writer.finish(counts.clone()).unwrap();
        let taken = store.take_range(id, &[0; 257], &counts).unwrap();
        taken.check().unwrap();
        assert_eq!(taken.bytes(GATES), layout.gate_bytes(&(0..128)));
        assert_eq!(
            taken.bytes(PoolLayout::inputs(255.into())),
            0..8 * layout.input_bytes(255.into())
        );
    }
}
