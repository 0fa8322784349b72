//! A session whose executions wait in a store: what a service keeps ready.
//!
//! An execution enters the stores as with [`prepare`](super::prepare). When a session begins, it
//! first takes over what earlier sessions have left, as far as all parties hold it; an item that
//! not all hold is void. It locks the groups of all that it has, to its end. Executions are marked
//! as used and loaded ahead, some at a time, by a thread beside the calls, so that a call waits for
//! no disk. A crash wastes what is loaded, and nothing is used twice.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use symbolon_circuit::Circuit;
use symbolon_protocols::{Compiled, Dealer, Engine, Network, RunTerms};
use symbolon_store::{
    AvailableItem, DEFAULT_FRAME, Filter, GroupId, GroupLock, ItemId, ItemKind, Section, Store,
    StoreError,
};
use symbolon_transport::{Error, Result, SessionId};

use super::entry::Entry;
use super::holdings::{Pages, Rounds, lock};
use super::loader::{Loaded, Loader, Source};
use super::maker::{Maker, Origin};
use super::{failed, lowest_latency, void_cheated};
use crate::config::Config;
use crate::params::Job;
use crate::report::{DEPENDENT, ONLINE};
use crate::session::{Begun, begin, compare_names, counted, engine, give_up};
use crate::{Inputs, Outputs};

/// Why an item that not all parties hold is void.
const NOT_HELD: &str = "another party does not have it any more";

/// The number of used items whose records are removed together.
const COLLECTED: usize = 256;

const DOMAIN: &str = "symbolon 2026 stocked run v1";

/// A session that prepares executions of one circuit, keeps them in a store, and runs them one
/// after another. All parties must make the same calls in the same order.
///
/// After an error the session is dead; what is still in the store stays for later sessions.
pub struct StockedSession {
    id: SessionId,
    store: Store,
    circuit: Arc<Compiled>,
    maker: Maker,
    and_gates: u64,
    network: Network,
    rounds: Option<Rounds>,
    /// What deals the material, until the first is made.
    dealer: Option<Dealer>,
    maker_of_new: Option<New>,
    /// Whether earlier sessions may have left something that this one has not taken over.
    left_over: bool,
    shelf: VecDeque<(ItemId, GroupId)>,
    /// Dropped before the locks, as fields are in their order.
    loader: Option<Loader>,
    /// How many the loader has that are not in `loaded`.
    ordered: usize,
    loaded: VecDeque<Loaded>,
    groups: Vec<(GroupId, GroupLock)>,
    /// How many were loaded since their records were removed.
    uncollected: usize,
    dead: Option<Error>,
}

/// What makes new executions.
struct New {
    engine: Box<dyn Engine>,
    /// The id of the session during its set-up. Others are bound to the rounds since then.
    session: [u8; 32],
    group: GroupId,
    /// The number of the group's next item.
    next: u64,
}

/// How a session was filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilledStock {
    /// Executions that earlier sessions had prepared.
    pub kept: usize,
    /// Executions that are new.
    pub made: usize,
    /// Items of this store that became void, because not all parties hold them.
    pub voided: usize,
}

impl StockedSession {
    /// Connects to all peers, and agrees with them on everything public.
    ///
    /// # Errors
    /// As [`Session::connect`](crate::Session::connect).
    pub fn connect(config: Config, store: &Store, circuit: &Circuit) -> Result<StockedSession> {
        config.check(circuit)?;
        let circuit = Arc::new(Compiled::new(circuit));
        let params = &config.terms().params;
        params.protocol.check_options(circuit.circuit(), &params.options)?;
        let need =
            params.protocol.demand_of(&circuit, config.parties() as u16, params.run_terms(1))?;
        let maker = Maker::of(&config)?;
        let work = (need.and_gates, lowest_latency(maker.protocol));
        let Begun { network, made: dealer, .. } =
            begin(config, Job::Stock(&circuit), work, |_, dealer| Ok(dealer))?;
        Ok(StockedSession {
            id: SessionId(network.session),
            store: store.clone(),
            and_gates: need.and_gates,
            circuit,
            maker,
            network,
            rounds: Some(Rounds::default()),
            dealer,
            maker_of_new: None,
            groups: Vec::new(),
            left_over: true,
            shelf: VecDeque::new(),
            loader: None,
            ordered: 0,
            loaded: VecDeque::new(),
            uncollected: 0,
            dead: None,
        })
    }

    /// Returns the id that the handshake agreed on.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Returns the number of executions that are in memory, or are being loaded.
    pub fn loaded(&self) -> usize {
        self.loaded.len() + self.ordered
    }

    /// Returns the number of executions that there are, in memory and in the store.
    pub fn left(&self) -> usize {
        self.loaded() + self.shelf.len()
    }

    /// Adds `count` executions: first what earlier sessions have left, then new ones.
    ///
    /// # Errors
    /// As [`prepare`](super::prepare).
    pub fn fill(&mut self, count: usize) -> Result<FilledStock> {
        self.work(|own| {
            let mut filled = FilledStock::default();
            if own.uncollected >= COLLECTED {
                own.store.gc().map_err(failed)?;
                own.uncollected = 0;
            }
            if own.left_over {
                own.rounds(|own, rounds| own.take_over(rounds, count, &mut filled))?;
                own.left_over = filled.kept > 0;
            }
            filled.made = count - filled.kept;
            if filled.made > 0 {
                let made = own.rounds(|own, rounds| own.make(rounds, filled.made));
                let group = own.maker_of_new.as_ref().map(|new| new.group);
                void_cheated(&own.store, group, made)?;
            }
            Ok(filled)
        })
    }

    /// Begins to load executions, until `count` are loaded or none is left: a thread marks them as
    /// used, in one commit, and reads them while this session does something else.
    ///
    /// # Errors
    /// `System` if there is no thread for it. What the thread cannot do is an error of
    /// [`StockedSession::has_loaded`], [`wait_for_one`](StockedSession::wait_for_one) and
    /// [`run_named`](StockedSession::run_named).
    pub fn load(&mut self, count: usize) -> Result<()> {
        self.work(|own| {
            let count = count.saturating_sub(own.loaded()).min(own.shelf.len());
            if count > 0 {
                let next = own.shelf.drain(..count).collect();
                own.loader()?.order(next);
                own.ordered += count;
            }
            Ok(())
        })
    }

    /// Returns whether an execution is in memory.
    ///
    /// # Errors
    /// `Store` if an item is damaged, which is void afterwards, or nothing can be marked.
    pub fn has_loaded(&mut self) -> Result<bool> {
        self.work(|own| {
            own.collect(false)?;
            Ok(!own.loaded.is_empty())
        })
    }

    /// Waits until an execution is in memory, if one is being loaded.
    ///
    /// # Errors
    /// As [`StockedSession::has_loaded`].
    pub fn wait_for_one(&mut self) -> Result<()> {
        self.work(|own| own.collect(true))
    }

    /// Runs the next execution, after it compared `name`, and which execution it is, with every
    /// peer; otherwise as [`Session::run_named`](crate::Session::run_named).
    ///
    /// # Errors
    /// As [`Session::run_named`](crate::Session::run_named); `Store` as
    /// [`StockedSession::has_loaded`].
    pub fn run_named(&mut self, inputs: &Inputs, name: &[u8; 32]) -> Result<Outputs> {
        inputs.check(self.circuit.circuit(), self.network.me)?;
        self.load(1)?;
        self.work(|own| {
            own.collect(true)?;
            let loaded = own.loaded.pop_front();
            let Loaded { item, group, prepared } =
                loaded.ok_or_else(|| Error::internal("no prepared execution"))?;
            let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
            let name = *hasher.update(name).update(&item.0).finalize().as_bytes();
            let circuit = &own.circuit;
            let done = counted(&mut own.network, ONLINE, |network| {
                compare_names(network, &name)?;
                let bits = prepared.evaluate(network, circuit, inputs.bits())?;
                Outputs::new(circuit.circuit(), network.me, bits)
            });
            void_cheated(&own.store, [group], done)
        })
    }

    /// Does work. A failure ends the session.
    fn work<T>(&mut self, work: impl FnOnce(&mut StockedSession) -> Result<T>) -> Result<T> {
        self.dead.clone().map_or(Ok(()), Err)?;
        let done = work(self);
        if let Err(error) = &done {
            give_up(&mut self.network, error);
            self.dead = Some(error.clone());
            // Before the locks.
            (self.loader, self.ordered, self.loaded) = (None, 0, VecDeque::new());
            self.maker_of_new = None;
            self.groups.clear();
        }
        done
    }

    /// Lends the rounds to work that may take them.
    fn rounds(
        &mut self,
        work: impl FnOnce(&mut StockedSession, &mut Rounds) -> Result<()>,
    ) -> Result<()> {
        let rounds = self.rounds.take();
        let mut rounds = rounds.ok_or_else(|| Error::internal("a session without rounds"))?;
        work(self, &mut rounds)?;
        self.rounds = Some(rounds);
        Ok(())
    }

    /// Takes over up to `count` items that all parties hold, and makes void what not all hold.
    fn take_over(
        &mut self,
        rounds: &mut Rounds,
        count: usize,
        filled: &mut FilledStock,
    ) -> Result<()> {
        let filter = self.maker.filter(ItemKind::Prepared, Some(&self.circuit));
        let (mut pages, mut tried) = (Pages::new(), Vec::new());
        let mut only_here: Vec<(ItemId, GroupId)> = Vec::new();
        let mut known: HashSet<ItemId> = self.shelf.iter().map(|(id, _)| *id).collect();
        while filled.kept < count
            && let Some(page) = pages.next(&mut self.network, rounds, &self.store, &filter)?
        {
            only_here.extend(missing(&page.items, &page.both));
            let both = || page.both.iter().map(|place| &page.items[*place]);
            let mut sizes: HashMap<GroupId, usize> = HashMap::new();
            both().for_each(|item| *sizes.entry(item.group).or_default() += 1);
            for item in both() {
                if filled.kept == count || known.contains(&item.id) || tried.contains(&item.group) {
                    continue;
                }
                if self.holds(&item.group) {
                    self.shelf.push_back((item.id, item.group));
                    known.insert(item.id);
                    filled.kept += 1;
                    continue;
                }
                // A part of a group would keep other sessions from the rest.
                if filled.kept > 0 && filled.kept + sizes[&item.group] > count {
                    continue;
                }
                tried.push(item.group);
                let locked = lock(&mut self.network, rounds, &self.store, &filter, item)?;
                let Some(lock) = locked else { continue };
                self.groups.push((item.group, lock));
                // The lock keeps the group as it is now.
                let filter = Filter { group: Some(item.group), ..filter.clone() };
                let mut pages = Pages::new();
                while filled.kept < count
                    && let Some(page) =
                        pages.next(&mut self.network, rounds, &self.store, &filter)?
                {
                    let common = page.both.iter().map(|place| page.items[*place].id);
                    for id in common.take(count - filled.kept) {
                        self.shelf.push_back((id, item.group));
                        known.insert(id);
                        filled.kept += 1;
                    }
                }
            }
        }
        only_here.retain(|(id, _)| !known.contains(id));
        filled.voided = self.void(&only_here)?;
        Ok(())
    }

    fn holds(&self, group: &GroupId) -> bool {
        self.groups.iter().any(|(held, _)| held == group)
    }

    /// Makes items void that not all parties hold; returns how many. If their group is in use, a
    /// session may just be making them, and they stay.
    fn void(&self, only_here: &[(ItemId, GroupId)]) -> Result<usize> {
        let mut locks = Vec::new();
        let mut free = |group: &GroupId| {
            if self.holds(group) || locks.iter().any(|(held, _)| held == group) {
                return Ok(true);
            }
            match self.store.lock_group(group) {
                Ok(Some(lock)) => {
                    locks.push((*group, lock));
                    Ok(true)
                }
                Ok(None) | Err(StoreError::RevokedGroup { .. }) => Ok(false),
                Err(error) => Err(failed(error)),
            }
        };
        let mut ids = Vec::new();
        for (id, group) in only_here {
            if free(group)? {
                ids.push(*id);
            }
        }
        if !ids.is_empty() {
            self.store.void(&ids, NOT_HELD).map_err(failed)?;
        }
        Ok(ids.len())
    }

    /// Makes new executions, and puts them into the store when all parties have written them.
    fn make(&mut self, rounds: &mut Rounds, count: usize) -> Result<()> {
        if self.maker_of_new.is_none() {
            let (protocol, dealer) = (self.maker.protocol, self.dealer.take());
            let engine = counted(&mut self.network, crate::report::SETUP, |network| {
                engine(protocol, network, dealer)
            })?;
            let group = engine.group();
            let lock = self.store.lock_group(&group).map_err(failed)?;
            let lock = lock.ok_or_else(|| Error::store("somebody else has locked a new group"))?;
            self.groups.push((group, lock));
            let session = self.network.session;
            self.maker_of_new = Some(New { engine, session, group, next: 0 });
        }
        let StockedSession { network, maker_of_new, circuit, store, maker, .. } = self;
        let Some(New { engine, session, group, next }) = maker_of_new else { return Ok(()) };
        // The engine has committed to what depends on this id.
        network.session = *session;
        let origin = Origin { group: *group, dealer: maker.dealer.clone() };
        let mut entry = Entry::of(self.and_gates, std::mem::take(rounds));
        counted(network, DEPENDENT, |network| {
            engine.prepare_each(network, circuit, count, &mut |network, prepared| {
                let meta = maker.meta(ItemKind::Prepared, &origin, Some(circuit), *next);
                let mut writer =
                    store.begin(meta, &[Section::Whole], DEFAULT_FRAME).map_err(failed)?;
                let section = writer.section(0);
                maker.protocol.save_prepared(network, circuit, prepared, section)?;
                *next += 1;
                entry.add(network, writer.close(vec![1]).map_err(failed)?)
            })?;
            entry.finish(network)
        })?;
        self.shelf.extend(entry.items.iter().map(|id| (*id, *group)));
        *rounds = entry.into_rounds();
        Ok(())
    }

    /// Returns the thread that loads.
    fn loader(&mut self) -> Result<&Loader> {
        if self.loader.is_none() {
            let (terms, maker) = (self.network.load_terms(), &self.maker);
            let loader = Loader::start(Source {
                store: self.store.clone(),
                circuit: self.circuit.clone(),
                protocol: maker.protocol,
                me: terms.me,
                parties: terms.parties,
                run: RunTerms { rho: terms.run.rho, executions: 1, ..RunTerms::default() },
                options: terms.run.options.clone(),
            })?;
            self.loader = Some(loader);
        }
        self.loader.as_ref().ok_or_else(|| Error::internal("no thread that loads"))
    }

    /// Takes over what was loaded: all that is there, and at least one if `awaited`.
    fn collect(&mut self, awaited: bool) -> Result<()> {
        while self.ordered > 0 {
            let waits = awaited && self.loaded.is_empty();
            let loader = self.loader()?;
            let next = if waits { loader.next().map(Some) } else { loader.arrived() };
            let Some(loaded) = next? else { break };
            self.loaded.push_back(loaded);
            self.ordered -= 1;
            self.uncollected += 1;
        }
        Ok(())
    }
}

/// Returns the items that are not among those that all parties hold.
fn missing<'a>(
    items: &'a [AvailableItem],
    both: &'a [usize],
) -> impl Iterator<Item = (ItemId, GroupId)> + 'a {
    // Both ascend.
    let mut both = both.iter().copied().peekable();
    let alone = items.iter().enumerate().filter(move |(place, _)| both.next_if_eq(place).is_none());
    alone.map(|(_, item)| (item.id, item.group))
}

impl std::fmt::Debug for StockedSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StockedSession")
            .field("shelf", &self.shelf.len())
            .field("loaded", &self.loaded.len())
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use symbolon_store::{ItemKind, ItemMeta};

    use super::super::holdings::common;
    use super::*;

    fn item(number: u64) -> AvailableItem {
        let meta = ItemMeta {
            kind: ItemKind::Prepared,
            protocol: "wrk".to_string(),
            group: [1; 32],
            party: 0.into(),
            peers: Vec::new(),
            dealer: None,
            rho: 40,
            circuit: None,
            name: None,
            sequence: number,
            counts: vec![1],
            components: Vec::new(),
        };
        let group = meta.group;
        AvailableItem { id: meta.id(), group, meta, next: Vec::new(), next_prepared: 0 }
    }

    /// The time grows with the number of items, not with its square.
    #[test]
    fn large_stocks_are_compared_fast() {
        let mut items: Vec<_> = (0..100_000).map(item).collect();
        items.sort_by_key(|item| item.id);
        let held =
            |items: &[AvailableItem]| items.iter().map(|item| (item.id, Vec::new())).collect();
        let all = [held(&items), held(&items[50_000..])];
        let begun = Instant::now();
        let (both, agreement) = common(&items, &all, 0.into());
        let both: Vec<usize> = both.into_iter().map(|(place, _)| place).collect();
        assert_eq!((agreement.only_here, agreement.only_elsewhere), (50_000, 0));
        assert_eq!(both, (50_000..100_000).collect::<Vec<_>>());
        let alone: Vec<ItemId> = missing(&items, &both).map(|(id, _)| id).collect();
        assert_eq!(alone, items[..50_000].iter().map(|item| item.id).collect::<Vec<_>>());
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}
