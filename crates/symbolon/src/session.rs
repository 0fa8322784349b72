//! Computations with one or more peers: connect, agree, then the three phases.

pub(crate) mod batch;
mod circuits;
mod named;
mod windows;

use symbolon_circuit::{Circuit, PartyId};
use symbolon_primitives::stack;
use symbolon_protocols::{
    Compiled, Dealer, Engine, GateForm, InputBits, Network, OtExtension, OutputBits, Prepared,
    Preprocessed, Protocol, RunTerms,
};
use symbolon_transport::{
    Channel, Culprit, Error, Observer, Progress, Result, SessionId, TransportReason,
};

use crate::autotune::{Choice, Preferences, Work, lowest_latency};
use crate::config::Config;
use crate::handshake_all::agree;
use crate::negotiate::negotiate;
use crate::params::{Job, SessionParams, hello};
use crate::report::{DEPENDENT, IDLE, INDEPENDENT, ONLINE, Report, SETUP, STREAMED};
use crate::terms::Terms;
use crate::{Inputs, Outputs};
pub(crate) use named::compare as compare_names;
pub use windows::{BatchPlan, BatchWindows};

/// A party's side of a computation.
///
/// [`Session::connect`] reaches all peers, agrees with them on everything public and runs the
/// protocol's set-up. Then [`Session::evaluate`] runs all three phases at once, or the caller runs
/// them one by one:
///
/// ```text
/// preprocess() ──▶ Correlations ──prepare──▶ PreparedCircuit ──run(inputs)──▶ Outputs
/// ```
///
/// [`Correlations`] and [`PreparedCircuit`] are consumed, so nothing can be used twice. All parties
/// must call the same phases in the same order. The phases may be repeated over one session, each
/// time with fresh material, and [`Session::next_circuit`] moves on to another circuit. Another
/// thread can cancel everything: see [`Config::cancelled_by`].
///
/// A computation in parts is another kind of session, which [`Session::connect_in_parts`] begins
/// and the handshake compares. Its calls are [`Session::evaluate_part`] and
/// [`Session::continue_with`]. Each kind rejects the other's calls without harm: the session
/// continues with the next valid call. If the session is dropped instead, the peers are told why.
///
/// After any other error the session is dead: its keys and everything made with them are wiped, the
/// peers are told that this side gave up, and every further call returns the same error.
pub struct Session {
    id: SessionId,
    kind: Kind,
    /// The session's present circuit, and the number of circuits up to and including it.
    circuit: Compiled,
    circuits: u64,
    protocol: Protocol,
    choice: Choice,
    dealer: Option<String>,
    /// The parameters of [`Session::evaluate_batch`].
    executions: u64,
    in_flight: Option<usize>,
    network: Network,
    engine: Option<Box<dyn Engine>>,
    dead: Option<Error>,
    /// What the peers are told if no valid call follows the last rejected one.
    refused: Option<String>,
}

/// The kind of a session. The messages of one kind are garbage to the other, so the handshake
/// compares the kind, and calls of the other kind are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Evaluating whole circuits.
    Run,
    /// A computation in parts.
    Parts,
}

/// Material for one circuit of one session, for one call of [`Session::prepare`].
#[must_use = "material that is not prepared is wasted, and the peer may be waiting"]
pub struct Correlations {
    job: [u8; 32],
    inner: Box<dyn Preprocessed>,
}

/// A circuit of a session, prepared for one call of [`Session::run`].
#[must_use = "a prepared circuit that is not run is wasted, and the peer may be waiting"]
pub struct PreparedCircuit {
    job: [u8; 32],
    inner: Box<dyn Prepared>,
}

impl Correlations {
    /// Binds the material to the circuit.
    fn prepare(self, parts: Parts<'_>) -> Result<PreparedCircuit> {
        let inner = self.inner.prepare(parts.network, parts.circuit)?;
        Ok(PreparedCircuit { job: self.job, inner })
    }
}

impl Session {
    /// Connects to all peers, agrees with them on the version, the protocol, the parties'
    /// identities, every parameter and the circuit, and runs the set-up.
    ///
    /// # Errors
    /// `InvalidInput` before anything is sent if `config` and `circuit` do not fit together (see
    /// [`Config::check`]); `Transport` if a peer does not appear, disconnects, or has another key;
    /// `PeerIncompatible` if a peer has other settings; `PeerMisbehaved` if a check of the set-up
    /// fails.
    pub fn connect(config: Config, circuit: &Circuit) -> Result<Session> {
        let plan = (Kind::Run, &[][..]);
        Session::connect_for(config, circuit, plan, Preferences::NOTHING)
    }

    /// As [`connect`](Session::connect), for executions that are prepared ahead
    /// ([`prepare_more`](Session::prepare_more)) and have to run fast when their inputs come: if
    /// nobody asks for a form of garbling, it is the one with the shortest online phase, whatever
    /// the link. All parties must do so.
    ///
    /// # Errors
    /// As [`connect`](Session::connect).
    pub fn connect_ahead(config: Config, circuit: &Circuit) -> Result<Session> {
        let preferences = lowest_latency(config.terms().params.protocol);
        Session::connect_for(config, circuit, (Kind::Run, &[]), preferences)
    }

    /// As [`connect`](Session::connect), for a computation in parts whose first part is this
    /// circuit. A peer that [`connect`](Session::connect)s to run it whole is rejected. Continue
    /// with [`evaluate_part`](Session::evaluate_part).
    ///
    /// `plan` lists what is known about the later parts, as names and values. The handshake
    /// compares it too: a party with another plan is rejected, and the error names the difference.
    /// Without a plan the parties compare each later part when they reach it, but not on what it
    /// depends.
    ///
    /// # Errors
    /// As [`connect`](Session::connect).
    pub fn connect_in_parts(
        config: Config,
        circuit: &Circuit,
        plan: &[(String, String)],
    ) -> Result<Session> {
        Session::connect_for(config, circuit, (Kind::Parts, plan), Preferences::NOTHING)
    }

    fn connect_for(
        config: Config,
        circuit: &Circuit,
        (kind, plan): (Kind, &[(String, String)]),
        unasked: Preferences,
    ) -> Result<Session> {
        config.check(circuit)?;
        let circuit = Compiled::new(circuit);
        let SessionParams { protocol, executions, in_flight, dealer, .. } =
            config.terms().params.clone();
        let gates = config.demand(&circuit)?.and_gates.saturating_mul(executions);
        protocol.check_options(circuit.circuit(), &config.terms().params.options)?;
        let job = match kind {
            Kind::Run => Job::Run(&circuit),
            Kind::Parts => Job::Parts(&circuit, plan),
        };
        let begun = begin(config, job, (gates, unasked), |network, dealer| {
            engine(protocol, network, dealer)
        })?;
        let Begun { network, choice, made } = begun;
        let engine = Some(made);
        let id = SessionId(network.session);
        Ok(Session {
            id,
            kind,
            circuit,
            circuits: 1,
            protocol,
            choice,
            dealer,
            executions,
            in_flight,
            network,
            engine,
            dead: None,
            refused: None,
        })
    }

    /// Returns this party.
    pub fn party(&self) -> PartyId {
        self.network.me
    }

    /// Returns the number of parties, including this one.
    pub fn parties(&self) -> u16 {
        self.network.parties()
    }

    /// Returns the circuit that all parties agreed on; the latest one if there were
    /// [several](Session::next_circuit).
    pub fn circuit(&self) -> &Circuit {
        self.circuit.circuit()
    }

    /// Returns the protocol that all parties agreed on.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Returns the number of evaluations that [`evaluate_batch`](Session::evaluate_batch) runs:
    /// [`Config::executions`].
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Returns the form of garbling and the OT extension, the same for all parties, and whether the
    /// link decided them.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Returns the [name](crate::Dealer::name) of the dealer that deals this session's material; no
    /// correlated OT is made then. `None` if the parties make the material themselves.
    pub fn dealer(&self) -> Option<&str> {
        self.dealer.as_deref()
    }

    /// Returns the id that the handshake agreed on: the same for all parties, and different in
    /// every session.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Returns what every phase has cost this party so far.
    pub fn report(&self) -> Report {
        Report::of(&self.network.meter)
    }

    /// Runs phase 1, function-independent: makes material for one evaluation of the circuit.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a check fails, `Transport` if the connection is lost.
    pub fn preprocess(&mut self) -> Result<Correlations> {
        if self.protocol.has_components() && self.circuit.plan().and_count() == 0 {
            // There are no components, and inputs and outputs belong to the circuit itself.
            return self.preprocess_circuit();
        }
        self.only(Kind::Run)?;
        let job = self.network.session;
        if self.protocol.has_components() {
            let terms = RunTerms::of(&self.network);
            let components = self.protocol.components(&self.circuit, terms, 1)?;
            return self.phase(INDEPENDENT, |parts| {
                let inner = parts.engine.preprocess_components(parts.network, &components)?;
                Ok(Correlations { job, inner })
            });
        }
        let need = self.protocol.demand(&self.network, &self.circuit)?;
        self.phase(INDEPENDENT, |parts| {
            let inner = parts.engine.preprocess(parts.network, &need)?;
            Ok(Correlations { job, inner })
        })
    }

    /// Runs phase 1 for this circuit alone: cheaper than [`preprocess`](Session::preprocess), but
    /// the material is useless for any other circuit. It counts as function-dependent
    /// ([`DEPENDENT`]). A dealer deals the same as for [`preprocess`](Session::preprocess), and it
    /// is counted like that.
    ///
    /// # Errors
    /// As [`preprocess`](Session::preprocess).
    pub fn preprocess_circuit(&mut self) -> Result<Correlations> {
        if self.dealer.is_some() {
            return self.preprocess();
        }
        self.only(Kind::Run)?;
        let job = self.network.session;
        self.phase(DEPENDENT, |parts| {
            let Parts { engine, network, circuit } = parts;
            let inner = engine.preprocess_for(network, circuit)?;
            Ok(Correlations { job, inner })
        })
    }

    /// Runs phase 2, function-dependent: binds the material to the circuit. After
    /// [`preprocess_circuit`](Session::preprocess_circuit) with
    /// [`DualEx`](crate::Protocol::DualEx) nothing is left of this phase, and it does not begin.
    ///
    /// # Errors
    /// `InvalidInput` if the material belongs to another session, which does no harm;
    /// `PeerMisbehaved` and `Transport` as for every phase.
    pub fn prepare(&mut self, material: Correlations) -> Result<PreparedCircuit> {
        self.own(material.job, "material")?;
        if material.inner.is_prepared() {
            return self.work(|parts| material.prepare(parts));
        }
        self.phase(DEPENDENT, |parts| material.prepare(parts))
    }

    /// Runs phases 1 and 2 for as many evaluations as [`Config::executions`] says; each of them is
    /// [run](Session::run) separately. They are prepared together if that makes them cheaper,
    /// otherwise one by one. All of them stay in memory until they are run or dropped.
    ///
    /// # Errors
    /// As [`preprocess_circuit`](Session::preprocess_circuit); `InvalidInput` if there are more
    /// evaluations than the protocol prepares at a time.
    pub fn prepare_each(&mut self) -> Result<Vec<PreparedCircuit>> {
        let count = usize::try_from(self.executions)
            .map_err(|_| Error::invalid_input("more evaluations than memory can hold"))?;
        self.prepare_apart(count)
    }

    /// Runs phases 1 and 2 for `count` evaluations.
    fn prepare_apart(&mut self, count: usize) -> Result<Vec<PreparedCircuit>> {
        self.only(Kind::Run)?;
        let job = self.network.session;
        self.phase(DEPENDENT, |parts| {
            let mut all = Vec::new();
            parts.engine.prepare_each(parts.network, parts.circuit, count, &mut |_, inner| {
                all.push(PreparedCircuit { job, inner });
                Ok(())
            })?;
            Ok(all)
        })
    }

    /// Runs phase 3, online: evaluates on this party's inputs. Returns what it learns after every
    /// check has passed.
    ///
    /// # Errors
    /// `InvalidInput` if the prepared circuit belongs to another session, which does no harm, or if
    /// the inputs belong to another party or circuit, which ends the session because the peer is
    /// already evaluating. `PeerMisbehaved` and `Transport` as for every phase.
    pub fn run(&mut self, ready: PreparedCircuit, inputs: &Inputs) -> Result<Outputs> {
        self.own(ready.job, "prepared circuit")?;
        self.phase(ONLINE, |parts| {
            let Parts { network, circuit, .. } = parts;
            // It is too late to continue after an error here: the peer is already evaluating.
            inputs.check(circuit.circuit(), network.me)?;
            let bits = ready.inner.evaluate(network, circuit, inputs.bits())?;
            Outputs::new(circuit.circuit(), network.me, bits)
        })
    }

    /// Runs all phases at once, with [`preprocess_circuit`](Session::preprocess_circuit) as the
    /// first step, because the circuit is known and nothing is kept. A large circuit is
    /// [streamed](Session::streams).
    ///
    /// # Errors
    /// As the three phases; inputs that do not fit are rejected before anything is sent, and do no
    /// harm.
    pub fn evaluate(&mut self, inputs: &Inputs) -> Result<Outputs> {
        let checked = inputs.check(self.circuit(), self.network.me);
        self.noted(checked)?;
        if self.streams() {
            let bits = self.stream(inputs.bits())?;
            return Outputs::new(self.circuit(), self.network.me, bits);
        }
        let material = self.preprocess_circuit()?;
        let ready = self.prepare(material)?;
        self.run(ready, inputs)
    }

    /// Returns whether [`evaluate`](Session::evaluate) runs all phases at once, counted as
    /// [`STREAMED`]: the circuit has more AND gates than [`Config::segment_gates`] says, the
    /// protocol garbles, and no dealer deals the material.
    pub fn streams(&self) -> bool {
        let keeps = self.dealer.is_some() || !self.protocol.streams();
        !keeps && self.circuit.plan().and_count() > self.network.segment_gates
    }

    fn stream(&mut self, inputs: &InputBits) -> Result<OutputBits> {
        self.only(Kind::Run)?;
        self.phase(STREAMED, |parts| {
            let Parts { engine, network, circuit } = parts;
            engine.stream(network, circuit, inputs)
        })
    }

    /// Rejects a call for another kind of session, before anything is sent.
    fn only(&mut self, kind: Kind) -> Result<()> {
        self.alive()?;
        let (ours, theirs) = match (self.kind, kind) {
            (Kind::Run, Kind::Parts) => (
                "this session runs whole circuits; a computation in parts begins with \
                 Session::connect_in_parts",
                "its caller took this session of whole circuits for a computation in parts",
            ),
            (Kind::Parts, Kind::Run) => (
                "this session is for a computation in parts: it takes Session::evaluate_part and \
                 Session::continue_with alone",
                "its caller took this computation in parts for a session of whole circuits",
            ),
            _ => return Ok(()),
        };
        self.refused = Some(theirs.to_string());
        Err(Error::invalid_input(ours))
    }

    /// Rejects what was made for another circuit or in another session.
    fn own(&mut self, job: [u8; 32], what: &str) -> Result<[u8; 32]> {
        if job == self.network.session {
            return Ok(job);
        }
        let text = format!("the {what} belongs to another session or circuit");
        self.noted(Err(Error::InvalidInput(text)))
    }

    /// Fails with the error that ended the session, if one did.
    fn alive(&self) -> Result<()> {
        self.dead.clone().map_or(Ok(()), Err)
    }

    /// Records that a call was rejected before anything was sent. The peers wait for a valid call,
    /// and must learn why none will come if the session is dropped. If the session is dead, every
    /// call returns the error that ended it.
    fn noted<T>(&mut self, done: Result<T>) -> Result<T> {
        self.alive()?;
        if let Err(error) = &done {
            self.refused = notice(error, self.network.parties() > 2);
        }
        done
    }

    /// Runs one phase, counts it under its name and flushes at its end. A failure ends the session.
    fn phase<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(Parts<'_>) -> Result<T>,
    ) -> Result<T> {
        self.work(|parts| {
            let Parts { engine, network, circuit } = parts;
            counted(network, name, |network| work(Parts { engine, network, circuit }))
        })
    }

    /// Does work that is not counted. A failure ends the session.
    fn work<T>(&mut self, work: impl FnOnce(Parts<'_>) -> Result<T>) -> Result<T> {
        self.alive()?;
        let Some(engine) = self.engine.as_deref_mut() else {
            return Err(Error::internal("a session without an engine is not marked dead"));
        };
        self.refused = None;
        let done = work(Parts { engine, network: &mut self.network, circuit: &self.circuit });
        if let Err(error) = &done {
            self.engine = None;
            self.dead = Some(error.clone());
            give_up(&mut self.network, error);
        }
        done
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(words) = &self.refused {
            abort(&mut self.network, words);
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("party", &self.network.me)
            .field("circuit", &self.circuit().name())
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}

/// The parts of a session that a phase works with.
struct Parts<'s> {
    engine: &'s mut dyn Engine,
    network: &'s mut Network,
    circuit: &'s Compiled,
}

/// Returns the engine that gets a session's material, from a dealer or made by the parties.
pub(crate) fn engine(
    protocol: Protocol,
    network: &mut Network,
    dealer: Option<Dealer>,
) -> Result<Box<dyn Engine>> {
    match dealer {
        Some(dealer) => protocol.set_up_dealt(network, dealer),
        None => protocol.set_up(network),
    }
}

/// A session that has begun.
pub(crate) struct Begun<T> {
    pub network: Network,
    pub choice: Choice,
    /// The result of the set-up.
    pub made: T,
}

/// Connects, agrees with all peers on every parameter and on the job, negotiates what is left open
/// for this many AND gates, and runs `set_up`. Where nobody asks for a form or an OT extension,
/// `unasked` applies, and the link decides the rest.
pub(crate) fn begin<T>(
    config: Config,
    job: Job<'_>,
    (and_gates, unasked): (u64, Preferences),
    set_up: impl FnOnce(&mut Network, Option<Dealer>) -> Result<T>,
) -> Result<Begun<T>> {
    let mut config = config;
    let hello = hello(&config.terms().params, config.parties(), job);
    let dealer = config.reach_dealer()?;
    // With a dealer nobody makes correlated OTs, so no link is measured for them.
    let no_ot = dealer.as_ref().map(|_| OtExtension::default());
    let unasked = unasked.or(Preferences { form: None, ot: no_ot });
    let (transport, terms) = config.into_parts();
    let (lanes, meter) = transport.open(&terms)?;
    if terms.observer.is_some() {
        meter.set_observer(terms.observer.clone());
    }
    meter.set_phase(SETUP);
    let Terms {
        party: me, params: SessionParams { rho, threads, segment_gates, options, .. }, ..
    } = terms;
    // These are placeholders until the session's id and the choices are settled.
    let (session, ot, form) = ([0; 32], OtExtension::default(), GateForm::default());
    let executions = 1;
    let mut network =
        Network { me, lanes, meter, session, rho, ot, form, executions, segment_gates, options };
    let done = counted(&mut network, SETUP, |network| {
        let first = network.lanes.first_mut().filter(|peers| !peers.is_empty());
        let peers =
            first.ok_or_else(|| Error::invalid_input("a session needs a peer and a lane"))?;
        let agreed = agree(peers, &hello)?;
        let work = Work { and_gates, rho, parties: peers.len() + 1, threads };
        let (session, choice) = negotiate(peers, &agreed, (work, unasked))?;
        (network.session, network.ot, network.form) = (session, choice.ot, choice.form);
        Ok((choice, set_up(network, dealer)?))
    });
    match done {
        Ok((choice, made)) => Ok(Begun { network, choice, made }),
        Err(error) => {
            give_up(&mut network, &error);
            Err(error)
        }
    }
}

/// Does work that is counted under its name and flushed at its end.
pub(crate) fn counted<T>(
    network: &mut Network,
    phase: &'static str,
    work: impl FnOnce(&mut Network) -> Result<T>,
) -> Result<T> {
    enter(network, phase);
    let done = stack::wiped(|| work(network)).and_then(|value| {
        flush(network)?;
        Ok(value)
    });
    if done.is_ok() {
        leave(network, phase);
    }
    network.meter.set_phase(IDLE);
    done
}

/// Ends a phase, does work that is not part of it, and enters the phase again.
pub(crate) fn interrupted<T>(
    network: &mut Network,
    phase: &'static str,
    work: impl FnOnce(&mut Network) -> Result<T>,
) -> Result<T> {
    flush(network)?;
    leave(network, phase);
    stack::wipe();
    let done = work(network)?;
    enter(network, phase);
    Ok(done)
}

fn enter(network: &mut Network, phase: &'static str) {
    network.meter.set_phase(phase);
    tell(network, &Progress::Phase { phase });
}

fn leave(network: &mut Network, phase: &'static str) {
    let [bytes_sent, bytes_received] = network.meter.bytes();
    network.meter.set_phase(IDLE);
    tell(network, &Progress::PhaseEnded { phase, bytes_sent, bytes_received });
}

/// Sends what is buffered: the peer may be waiting for it while our caller takes its time.
fn flush(network: &mut Network) -> Result<()> {
    network.lanes.iter_mut().flatten().try_for_each(Channel::flush)
}

/// Reports to the session's observer, if there is one, and to the log.
fn tell(network: &Network, progress: &Progress) {
    match network.meter.observer() {
        Some(observer) => observer.tell(progress),
        None => Observer::default().tell(progress),
    }
}

/// Tells all peers that this side ends, without revealing anything.
pub(crate) fn give_up(network: &mut Network, error: &Error) {
    if let Some(words) = notice(error, network.parties() > 2) {
        abort(network, &words);
    }
}

fn abort(network: &mut Network, words: &str) {
    for channel in network.lanes.iter_mut().flatten() {
        channel.abort(words);
    }
}

/// Returns what the peers are told about an error, unless they see it themselves; `several` means
/// that there is more than one peer.
fn notice(error: &Error, several: bool) -> Option<String> {
    let whom = match error.culprit() {
        Some(Culprit::Party(_)) if !several => None,
        Some(Culprit::Unknown) | None => None,
        Some(culprit) => Some(culprit.to_string()),
    };
    let with = whom.as_ref().map_or(String::new(), |whom| format!(" with {whom}"));
    Some(match error {
        Error::PeerMisbehaved { .. } => format!("a check failed here{with}"),
        Error::InvalidInput(_) => "its caller gave it unusable input".to_string(),
        Error::Transport { reason: TransportReason::TimedOut(_), .. } => match whom {
            Some(whom) => format!("it waited too long for {whom}"),
            None => "it waited too long".to_string(),
        },
        // Each party sees a difference by itself, and should say which it is.
        Error::PeerIncompatible { .. } => return None,
        Error::Transport { reason: TransportReason::Aborted(_), .. }
            if several || whom.is_some() =>
        {
            format!("{} gave up", whom.as_deref().unwrap_or("another party"))
        }
        Error::Transport { .. } => format!("it lost the connection{with}"),
        Error::Cancelled => "it was interrupted".to_string(),
        _ => "it failed for a reason of its own".to_string(),
    })
}
