//! Pools of components. They are filled for runs of one circuit, but serve any circuit made of the
//! same components.
//!
//! A pool lists its kinds of components, and from that each party computes how a circuit is made of
//! them. So the parties first tell each other which pools they hold. Then, for each pool that
//! serves the circuit, they tell how much they have used.

use std::rc::Rc;

use symbolon_circuit::Circuit;
use symbolon_protocols::{
    Compiled, ComponentPlan, ComponentSection, Components, Engine, Network, RunTerms,
};
use symbolon_store::{
    AvailableItem, DEFAULT_FRAME, Filter, ItemComponent, ItemId, ItemKind, ItemMeta, Section, Store,
};
use symbolon_transport::{Error, Result};

use super::holdings::{Holdings, Rounds, available_items, common, lock, tell};
use super::maker::{Maker, Origin};
use super::pool_parts::{Pools, Preparing, fits, pools_of_other_rhos};
use super::pools::{Engines, MOST_POOLS, ToItemWriter};
use super::{Agreement, failed, lowest_latency};
use crate::config::Config;
use crate::params::Job;
use crate::report::Report;
use crate::session::{Begun, begin};

/// A pool of components that [`fill_components`] closed. It is on disk, and stays even if later
/// pools fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewComponents {
    /// Its name, the same in every party's store.
    pub item: ItemId,
    /// The number of runs of the circuit for which it suffices.
    pub runs: u64,
    /// Its number among the new pools, from 1.
    pub number: u64,
    /// The number of new pools planned.
    pub of: u64,
}

/// The result of [`fill_components`].
#[derive(Clone, Debug, PartialEq)]
pub struct FilledComponents {
    /// The new pools' names, the same in every party's store; empty if the old pools sufficed.
    pub items: Vec<ItemId>,
    /// The number of runs of the circuit for which they suffice.
    pub made: u64,
    /// The number of runs for which the common pools sufficed before.
    pub had: u64,
    /// How far the stores agreed on their pools.
    pub agreement: Agreement,
    /// What it cost.
    pub report: Report,
}

/// Fills the pools of components that all parties hold, in this party's `store` and theirs, until
/// they suffice for `runs` runs of `circuit`. Makes new pools with at most [`Config::pool_gates`]
/// AND gates each, but each for at least one run. Reports every pool when it is closed.
///
/// The larger a pool is, the fewer copies of each component it needs. Any circuit made of the same
/// components can be [prepared](super::prepare) from it.
///
/// Pools that were closed before an error stay, so repeating the call continues where this one
/// ended.
///
/// # Errors
/// `InvalidInput` if the protocol has no components, `config` and `circuit` do not fit together,
/// `runs` is zero, or more than 512 pools would be needed; `Store` if the store cannot be written;
/// otherwise as [`Session::connect`](crate::Session::connect).
pub fn fill_components(
    config: Config,
    store: &Store,
    circuit: &Circuit,
    runs: u64,
    mut closed: impl FnMut(&NewComponents),
) -> Result<FilledComponents> {
    config.check(circuit)?;
    let circuit = &Compiled::new(circuit);
    let terms = config.terms();
    let (executions, protocol) = (terms.side_by_side()?, terms.params.protocol);
    if !protocol.has_components() {
        let text = format!("{} has no components: fill pools of gates", protocol.name());
        return Err(Error::InvalidInput(text));
    }
    let gates = protocol.demand_of(circuit, 2, terms.params.run_terms(executions))?.and_gates;
    if gates == 0 {
        let text =
            "the circuit has no AND gates, so it takes no components: prepare it without a pool";
        return Err(Error::invalid_input(text));
    }
    let most = (terms.params.pool_gates / gates).max(1);
    if runs == 0 || runs.div_ceil(most) > MOST_POOLS {
        let text = format!("pools are filled for 1 to {} runs of this size", most * MOST_POOLS);
        return Err(Error::InvalidInput(text));
    }
    let maker = Maker::of(&config)?;
    let work = (gates.saturating_mul(runs), lowest_latency(protocol));
    let mut rounds = Rounds::default();
    let begun = begin(config, Job::PreprocessFor(circuit, runs), work, |network, dealer| {
        network.executions = executions;
        let candidates = Candidates::find(network, &mut rounds, store, (&maker, circuit))?;
        let had = candidates.runs();
        let parts = parts(runs.saturating_sub(had), most);
        let engines = Engines::begin(network, (protocol, dealer), parts.len())?;
        Ok((had, candidates.agreement, parts, engines))
    })?;
    let Begun { mut network, made: (had, agreement, parts, engines), .. } = begun;
    let of = parts.len() as u64;
    let items = engines.make_each(
        (&mut network, &mut rounds),
        &parts,
        |network, engine, runs| {
            let terms = RunTerms::of(network);
            let components = protocol.components(circuit, terms, runs)?;
            make_pool(network, engine, (store, &maker), &components)
        },
        |item, runs, number| closed(&NewComponents { item, runs, number, of }),
    )?;
    let made = parts.iter().sum();
    Ok(FilledComponents { items, made, had, agreement, report: Report::of(&network.meter) })
}

/// Returns the number of runs for each new pool. They are as equal as possible, because small pools
/// need more copies.
fn parts(missing: u64, most: u64) -> Vec<u64> {
    let pools = missing.div_ceil(most);
    (0..pools).map(|pool| missing / pools + u64::from(pool < missing % pools)).collect()
}

fn make_pool(
    network: &mut Network,
    engine: &mut dyn Engine,
    (store, maker): (&Store, &Maker),
    components: &Components,
) -> Result<ItemId> {
    let origin = Origin { group: engine.group(), dealer: None };
    let kinds = components
        .kinds()
        .map(|(digest, name)| ItemComponent { digest, name: ItemMeta::printable_name(name) });
    let meta = maker.meta(ItemKind::Pool, &origin, None, 0);
    let meta = ItemMeta { components: kinds.collect(), ..meta };
    let sections = maker.protocol.component_sections(components, network.me, network.rho)?;
    let section = |section: &ComponentSection| match section.counter {
        Some(counter) => Section::Records { counter, bits: 8 * section.bytes },
        None => Section::Whole,
    };
    let sections: Vec<Section> = sections.iter().map(section).collect();
    let mut item_writer = store.begin(meta, &sections, DEFAULT_FRAME).map_err(failed)?;
    let filled = engine.fill_components(network, components, &mut ToItemWriter(&mut item_writer));
    filled?;
    item_writer.finish(components.counts()).map_err(failed)
}

/// A pool that all parties hold and from which a circuit can be prepared.
struct Candidate {
    item: AvailableItem,
    plan: Rc<dyn ComponentPlan>,
    /// The first record of each count that nobody has used, and the number of the next circuit.
    next: Vec<u64>,
}

/// How a circuit is made from a pool of these kinds, if it can be.
type PlanOfKinds = (Vec<[u8; 32]>, Option<Rc<dyn ComponentPlan>>);

/// All candidates.
struct Candidates {
    all: Vec<Candidate>,
    agreement: Agreement,
    /// Why another common pool is not a candidate.
    useless: Option<Error>,
}

fn filter(maker: &Maker) -> Filter {
    // Components are never dealt.
    Filter { dealers: Some(vec![None]), ..maker.filter(ItemKind::Pool, None) }
}

impl Candidates {
    fn find(
        network: &mut Network,
        rounds: &mut Rounds,
        store: &Store,
        (maker, circuit): (&Maker, &Compiled),
    ) -> Result<Candidates> {
        let offered = available_items(store, &filter(maker))?;
        let own: Holdings = offered.iter().map(|item| (item.id, Vec::new())).collect();
        let me = network.me;
        let (both, mut agreement) = common(&offered, &tell(network, rounds, &own, 0)?, me);
        let mut plans: Vec<PlanOfKinds> = Vec::new();
        let (mut all, mut useless) = (Vec::new(), None);
        for (place, _) in both {
            let item = &offered[place];
            let kinds: Vec<[u8; 32]> =
                item.meta.components.iter().map(|kind| kind.digest).collect();
            let known = plans.iter().find(|(known, _)| *known == kinds);
            let plan = match known {
                Some((_, plan)) => plan.clone(),
                None => {
                    let terms = RunTerms::of(network);
                    let plan = maker.protocol.component_plan(circuit, terms, &kinds);
                    let plan = plan.map_err(|error| useless.get_or_insert(error).clone()).ok();
                    plans.push((kinds, plan.map(Rc::from)));
                    plans.last().and_then(|(_, plan)| plan.clone())
                }
            };
            let Some(plan) = plan else { continue };
            let used = item.next.iter().chain([&item.next_prepared]).copied().collect();
            let told = tell(network, rounds, &vec![(item.id, used)], item.next.len() + 1)?;
            let (next, of_item) = common(std::slice::from_ref(item), &told, me);
            agreement.uneven += of_item.uneven;
            // All parties have said that they hold it.
            let next = next.into_iter().next().map(|(_, next)| next);
            all.extend(next.map(|next| Candidate { item: item.clone(), plan, next }));
        }
        Ok(Candidates { all, agreement, useless })
    }

    /// Returns the number of runs of the circuit for which they suffice.
    fn runs(&self) -> u64 {
        let of = |candidate: &Candidate| {
            let Candidate { item, plan, next } = candidate;
            let left = item.meta.counts.iter().zip(next).zip(plan.takes());
            left.filter_map(|((all, next), take)| all.saturating_sub(*next).checked_div(*take))
                .min()
                .unwrap_or(0)
        };
        self.all.iter().map(of).sum()
    }
}

/// Finds parts of pools for up to `count` circuits.
pub(super) fn agree_on_pools(
    network: &mut Network,
    rounds: &mut Rounds,
    work: &Preparing<'_>,
    count: u32,
) -> Result<Pools> {
    let (store, what) = (work.store, (work.maker, work.circuit));
    let Candidates { all, agreement, useless } = Candidates::find(network, rounds, store, what)?;
    // A suitable pool with too little left explains more than an unsuitable one.
    let useless = useless.filter(|_| all.is_empty());
    let mut note = pools_of_other_rhos(store, &filter(work.maker))?;
    if work.need.and_gates == 0 && all.is_empty() {
        note.push_str(" (a circuit without AND gates is prepared without a pool, too)");
    }
    let mut pools = Pools { useless, note, ..Pools::none(agreement) };
    for Candidate { item, plan, next } in all {
        // A circuit without gates and inputs takes nothing that could be marked as used.
        let takes_nothing = plan.takes().iter().all(|take| *take == 0);
        let is_enough = pools.ranges.len() == count as usize;
        if is_enough || takes_nothing || !fits(&item, &next, plan.takes()) {
            continue;
        }
        if let Some(locked) = lock(network, rounds, store, &filter(work.maker), &item)? {
            pools._locks.push(locked);
            pools.take(&item, next, plan.takes(), (count, Some(plan.clone())))?;
        }
    }
    Ok(pools)
}
