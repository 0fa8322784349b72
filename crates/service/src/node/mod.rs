//! A node: one party's process of a service.
//!
//! Party 0 coordinates: it says when a session is opened and filled, and which call gets which
//! prepared execution, so all parties have one order. The others check what it says against what
//! they know, and before an execution runs, every two parties compare what it is for.

mod calls;
mod clients;
mod executions;
mod introduction;
mod peers;
mod port;
mod sessions;
mod state;
mod update;
mod worker;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use symbolon::circuit::{Circuit, PartyId};
use symbolon::store::Store;
use symbolon::stored::{DiscardedItems, StoredFunction, Unusable, discard_unusable, unusable};
use symbolon::{CancelHandle, Error, Inputs, NoThread, Result};

use crate::about::{FunctionReply, FunctionStock, PeerStock, PortReply, Stock};
use crate::budget::Ledger;
use crate::changes::{Changes, Told};
use crate::config::{Function, FunctionConfig, NodeConfig, Parties};
use crate::error::CallError;
use crate::metrics::{Metrics, OfFunction};
use crate::name::Name;
use crate::outcome::{Answer, Outcome};

use crate::wire::Message;
use state::{At, FunctionState, Own, Peer, Slot, State};

/// How often what is due by time is looked at.
const TICK: Duration = Duration::from_millis(25);

/// How long the end of running calls is awaited when a node stops.
const DRAIN: Duration = Duration::from_secs(60);

struct Shared {
    me: PartyId,
    /// How many parties there are.
    parties: usize,
    group: Mutex<Arc<Parties>>,
    state: Mutex<State>,
    /// Notified when a call has ended, or a peer came or went.
    changed: Condvar,
    /// What applications hear of changes.
    told: Told,
    stopped: CancelHandle,
    unclaimed: port::Unclaimed,
    digest_key: [u8; 32],
    /// Where prepared executions wait; they are in memory alone without it.
    store: Option<Store>,
    metrics: Metrics,
    /// How many sessions prepare executions at a time.
    fills: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
    own: Weak<Shared>,
}

/// A party's node. Dropping it ends it at once; [`Node::drain`] lets running calls end before.
pub struct Node {
    shared: Arc<Shared>,
}

/// A call of this node: where its answer arrives.
#[derive(Clone)]
pub struct Call {
    outcome: Arc<Outcome>,
}

impl Call {
    /// Returns the answer if there is one.
    pub fn answer(&self) -> Option<Answer> {
        self.outcome.get()
    }

    /// Waits for the answer for at most this long. The call goes on if there is none.
    pub fn wait(&self, time: Duration) -> Option<Answer> {
        self.outcome.wait(time)
    }

    /// Waits for the answer without a thread. A future that is dropped leaves the call as it is.
    pub async fn arrived(&self) -> Answer {
        self.outcome.arrived().await
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("over", &self.outcome.get().is_some()).finish()
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("party", &self.shared.me).finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parties(&self) -> usize {
        self.parties
    }

    /// Returns who the parties are, as the settings say now.
    fn group(&self) -> Arc<Parties> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the slots for the sessions of a function, which party 0 opens.
    fn slots(&self, side_by_side: usize) -> Vec<Slot> {
        slots(self.me, side_by_side)
    }

    fn keep_thread(&self, thread: JoinHandle<()>) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    /// Looks at what is due by time, until the node stops.
    fn tick(&self) {
        while !self.stopped.is_cancelled() {
            std::thread::sleep(TICK);
            let state = &mut *self.lock();
            let now = Instant::now();
            self.expire(state, now);
            self.call_for_clients(state, now);
            self.ping(state, now);
            self.end_unaccepted(state);
            for function in state.places() {
                self.pump(state, function);
                let one = &state.functions[function];
                let name = one.spec.config.name.to_string();
                let label = OfFunction { function: name };
                self.metrics.waiting.get_or_create(&label).set(one.waiting as i64);
                let (open, ready) = open_and_ready(state, function);
                self.metrics.sessions.get_or_create(&label).set(open as i64);
                self.metrics.prepared.get_or_create(&label).set(ready as i64);
            }
        }
    }
}

fn slots(me: PartyId, side_by_side: usize) -> Vec<Slot> {
    let now = Instant::now();
    (0..if me == 0 { side_by_side } else { 0 }).map(|_| Slot::new(now)).collect()
}

/// Returns the number of a function's sessions and of its prepared executions.
fn open_and_ready(state: &State, function: usize) -> (usize, usize) {
    let open = state.sessions.values().filter(|open| open.function == function);
    open.fold((0, 0), |(count, ready), open| (count + 1, ready + open.ready))
}

impl Node {
    /// Starts a node. It connects to its peers, as soon as they are there, and keeps executions
    /// prepared until it is stopped.
    ///
    /// # Errors
    /// `InvalidInput` for settings that cannot work; `Store` if the folder with the state cannot be
    /// used.
    pub fn start(mut config: NodeConfig) -> Result<Node> {
        config.check()?;
        let listener = config.listener.take();
        let store = config.store.take();
        let is_stored = store.is_some();
        let functions = config.functions.drain(..);
        let specs: Vec<_> = functions.map(|one| Arc::new(Function::new(one, is_stored))).collect();
        if let Some(store) = &store {
            clean(store, config.party, &specs)?;
        }
        let ledger = config.state.as_deref().map(Ledger::open).transpose()?;
        let parties = config.parties.len();
        let functions = specs.into_iter().map(|spec| {
            let slots = slots(config.party, spec.config.side_by_side);
            FunctionState::new(spec, parties, slots, ledger.as_ref())
        });
        let state = State {
            functions: functions.collect(),
            peers: (0..parties).map(|_| Peer::default()).collect(),
            sessions: Default::default(),
            ledger,
            filling: 0,
            draining: false,
            generation: 0,
        };
        let NodeConfig { party: me, identities, parties: all, timeout, .. } = config;
        let group = Arc::new(Parties { me, identities, all, timeout });
        // Keys that cannot be used are found now.
        port::options(me, &group)?;
        let mut digest_key = [0; 32];
        getrandom::fill(&mut digest_key)
            .map_err(|error| Error::internal(format!("the system gives no randomness: {error}")))?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new_cyclic(|own| Shared {
            me,
            parties,
            group: Mutex::new(group),
            state: Mutex::new(state),
            changed: Condvar::new(),
            told: Told::new(),
            stopped: CancelHandle::new(),
            unclaimed: port::Unclaimed::default(),
            digest_key,
            store,
            metrics: Metrics::new(),
            fills: (cores / 2).max(1),
            threads: Mutex::default(),
            own: own.clone(),
        });
        // From here on, dropping the node ends what was started.
        let node = Node { shared };
        node.shared.start_port(listener)?;
        let shared = node.shared.clone();
        let tick = std::thread::Builder::new().name("symbolon-tick".to_string());
        node.shared.keep_thread(tick.spawn(move || shared.tick()).map_err(NoThread)?);
        Ok(node)
    }

    /// Returns this party's number.
    pub fn party(&self) -> PartyId {
        self.shared.me
    }

    /// Returns the number of parties.
    pub fn parties(&self) -> usize {
        self.shared.parties()
    }

    /// Returns the circuit of a function, to build inputs for it.
    ///
    /// # Errors
    /// [`CallError::NoFunction`].
    pub fn circuit(&self, function: &str) -> std::result::Result<Arc<Circuit>, CallError> {
        let state = self.shared.lock();
        let place = place(&state, function)?;
        Ok(state.functions[place].spec.config.circuit.clone())
    }

    /// Returns what the functions take and give.
    pub fn functions(&self) -> Vec<FunctionReply> {
        let state = self.shared.lock();
        let parties = self.parties();
        let about = |one: &FunctionState| {
            let FunctionConfig { name, circuit, params, .. } = &one.spec.config;
            let inputs = circuit.inputs().iter().map(|input| PortReply {
                name: input.name.clone(),
                ty: input.ty.to_string(),
                parties: vec![input.owner.number()],
            });
            let outputs = circuit.outputs().iter().map(|output| PortReply {
                name: output.name.clone(),
                ty: output.ty.to_string(),
                parties: PartyId::all(parties)
                    .filter(|party| output.to.contains(*party))
                    .map(PartyId::number)
                    .collect(),
            });
            FunctionReply {
                name: name.clone(),
                protocol: params.protocol.name().to_string(),
                inputs: inputs.collect(),
                outputs: outputs.collect(),
            }
        };
        state.places().map(|place| about(&state.functions[place])).collect()
    }

    /// Gives this party's inputs for a call. The same inputs may be given again, for the same
    /// answer.
    ///
    /// # Errors
    /// Why the call cannot have an answer. Nothing was used up then.
    pub fn call(
        &self,
        function: &str,
        call: &Name,
        inputs: Inputs,
    ) -> std::result::Result<Call, CallError> {
        let (place, circuit) = {
            let state = self.shared.lock();
            let place = place(&state, function)?;
            (place, state.functions[place].spec.config.circuit.clone())
        };
        inputs.check_for(&circuit, self.shared.me).map_err(|error| match error {
            Error::InvalidInput(why) => CallError::Inputs(why),
            error => CallError::Run(error),
        })?;
        let outcome = self.shared.post(place, call, inputs)?;
        Ok(Call { outcome })
    }

    /// Returns a call for which this party has given inputs.
    ///
    /// # Errors
    /// [`CallError::NoFunction`] and [`CallError::NoCall`].
    pub fn find(&self, function: &str, call: &Name) -> std::result::Result<Call, CallError> {
        let outcome = self.shared.find(self.place(function)?, call)?;
        Ok(Call { outcome })
    }

    /// Returns the calls for which others have inputs and this party has none, in the order of
    /// their names.
    ///
    /// # Errors
    /// [`CallError::NoFunction`].
    pub fn announced(&self, function: &str) -> std::result::Result<Vec<Name>, CallError> {
        let place = self.place(function)?;
        let state = self.shared.lock();
        let calls = state.functions[place].calls.iter();
        let open = calls.filter(|(_, entry)| matches!(entry.own, Own::None));
        let mut names: Vec<Name> = open.map(|(name, _)| name.clone()).collect();
        names.sort();
        Ok(names)
    }

    fn place(&self, function: &str) -> std::result::Result<usize, CallError> {
        place(&self.shared.lock(), function)
    }

    /// Returns what is prepared, and who is there.
    pub fn stock(&self) -> Stock {
        let state = self.shared.lock();
        let function = |place: usize| {
            let one = &state.functions[place];
            let config = &one.spec.config;
            let (sessions, ready) = open_and_ready(&state, place);
            FunctionStock {
                name: config.name.clone(),
                disabled: one.disagreement().map(str::to_string),
                sessions,
                side_by_side: config.side_by_side,
                ready,
                wanted: config.ready,
                waiting: one.waiting,
                calls_left: one.budget.left(),
            }
        };
        let peers = PartyId::all(self.parties()).filter(|party| *party != self.shared.me);
        let peer = |party: PartyId| {
            let peer = &state.peers[usize::from(party)];
            let connected = peer.link.is_some();
            PeerStock { party, connected, draining: peer.draining, why: peer.why.clone() }
        };
        Stock {
            party: self.shared.me,
            draining: state.draining,
            peers: peers.map(peer).collect(),
            functions: state.places().map(function).collect(),
        }
    }

    /// Returns what tells when [`Node::stock`] or [`Node::announced`] may return something else
    /// than now.
    pub fn changes(&self) -> Changes {
        self.shared.told.changes()
    }

    /// Returns what the node counts, as OpenMetrics text.
    pub fn metrics(&self) -> String {
        self.shared.metrics.text()
    }

    /// Refuses new calls and those that wait, which all parties see, and waits until running ones
    /// have ended.
    pub fn drain(&self) {
        let mut state = self.shared.lock();
        if !state.draining {
            state.draining = true;
            state.broadcast(&Message::Draining {});
            self.shared.told.tell();
            self.shared.withdraw_all(&mut state, &CallError::Draining);
        }
        let until = Instant::now() + DRAIN;
        let busy = |state: &State| {
            let running = |own: &Own| matches!(own, Own::Running { .. } | Own::Withdrawing { .. });
            state.functions.iter().any(|one| one.calls.values().any(|entry| running(&entry.own)))
        };
        while busy(&state) && Instant::now() < until && !self.shared.stopped.is_cancelled() {
            let waited = self.shared.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let State { functions, ledger, .. } = &mut *state;
        if let Some(ledger) = ledger {
            for one in functions {
                if let Err(error) = one.budget.settle(ledger) {
                    tracing::warn!(target: crate::LOG, error, "the number of calls is not kept");
                }
            }
        }
    }

    /// Ends the node at once: calls that run have no answer.
    pub fn stop(&self) {
        self.shared.stopped.cancel();
        self.shared.told.end();
        let mut state = self.shared.lock();
        state.sessions.drain().for_each(|(_, open)| open.cancel.cancel());
        for one in &mut state.functions {
            one.slots.iter_mut().for_each(|slot| slot.at = At::Closed { retry: Instant::now() });
        }
        for peer in &mut state.peers {
            peer.link = None;
        }
        // Nothing runs any more, so that another node may have the folder.
        state.ledger = None;
        drop(state);
        let threads = std::mem::take(
            &mut *self.shared.threads.lock().unwrap_or_else(PoisonError::into_inner),
        );
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Removes what is of no use ever again, also what a crash has left of used items, and tells what
/// there is without a function: the settings may bring that back.
fn clean(store: &Store, me: PartyId, functions: &[Arc<Function>]) -> Result<()> {
    let forgotten = |why| why == Unusable::ForgottenRelation;
    let DiscardedItems { voided, busy } = discard_unusable(store, None, forgotten)?;
    store.gc()?;
    let of = |one: &Arc<Function>| {
        let FunctionConfig { circuit, params, .. } = &one.config;
        StoredFunction::new(me, circuit, params)
    };
    let functions = functions.iter().map(of).collect::<Result<Vec<_>>>()?;
    let unusable = unusable(store, Some(&functions))?.len() - busy;
    if voided + unusable > 0 {
        let what =
            "stored executions that cannot be used (`symbolon store gc --node` removes them)";
        tracing::info!(target: crate::LOG, removed = voided, left = unusable, what);
    }
    Ok(())
}

fn place(state: &State, function: &str) -> std::result::Result<usize, CallError> {
    let named = |place: &usize| state.functions[*place].spec.config.name.as_str() == function;
    state.places().find(named).ok_or(CallError::NoFunction)
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop();
    }
}
