//! Computations with one or more peers: connect, agree, then the three phases.

pub(crate) mod batch;
mod circuits;

use symbolon_circuit::{Circuit, PartyId};
use symbolon_primitives::stack;
use symbolon_protocols::{
    Compiled, ComponentTerms, Dealer, Engine, GateForm, InputBits, Network, OtExtension,
    OutputBits, Prepared, Preprocessed, Protocol,
};
use symbolon_transport::{
    CancelHandle, Channel, Culprit, Error, Observer, Progress, Result, SessionId, TransportReason,
};

use crate::autotune::{Choice, Preferences, Work};
use crate::config::Config;
use crate::handshake_all::agree;
use crate::negotiate::negotiate;
use crate::params::{Job, SessionParams, hello};
use crate::report::{DEPENDENT, IDLE, INDEPENDENT, ONLINE, Report, SETUP, STREAMED};
use crate::terms::Terms;
use crate::{Inputs, Outputs};
pub use batch::executions_together;

/// A party's side of a computation.
///
/// [`Session::connect`] reaches all peers, agrees with them on everything public and runs the
/// protocol's set-up. Then either [`Session::evaluate`] does all three phases at once, or they run
/// apart:
///
/// ```text
/// preprocess() ──▶ Correlations ──prepare──▶ PreparedCircuit ──run(inputs)──▶ Outputs
/// ```
///
/// [`Correlations`] and [`PreparedCircuit`] are consumed, so nothing can be used twice. All parties
/// must call the same phases in the same order. The phases may be repeated over one session, each
/// time with fresh material, and [`Session::next_circuit`] goes on to another circuit. Another
/// thread can end all of it: [`Session::cancel_handle`].
///
/// A computation in parts is another kind of session, which [`Session::connect_in_parts`] begins
/// and the handshake compares: its calls are [`Session::evaluate_part`] and
/// [`Session::continue_with`]. Each kind refuses the other's calls, and such a refusal does no
/// harm: the session goes on with the next call that fits. A session that is dropped instead tells
/// the peers why.
///
/// After any error the session is dead: its keys and everything made with them are wiped, the peers
/// are told that this side gave up, and every further call returns the same error.
pub struct Session {
    id: SessionId,
    kind: Kind,
    /// The circuit that the phases are about, and how many there were with it.
    circuit: Compiled,
    circuits: u64,
    cancel: CancelHandle,
    protocol: Protocol,
    choice: Choice,
    dealer: Option<String>,
    /// What [`Session::evaluate_batch`] is to do.
    executions: u64,
    in_flight: Option<usize>,
    network: Network,
    engine: Option<Box<dyn Engine>>,
    dead: Option<Error>,
    /// What the peers are told if nothing follows the call that was refused last.
    refused: Option<String>,
}

/// What a session is for. Peers read the messages of one kind as garbage of the other, so the
/// handshake compares the kind, and no call of the other one is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Evaluating whole circuits.
    Run,
    /// A computation in parts.
    Parts,
}

/// Material for one circuit of one session, good for one [`Session::prepare`].
#[must_use = "material that is not prepared is wasted, and the peer may be waiting"]
pub struct Correlations {
    job: [u8; 32],
    inner: Box<dyn Preprocessed>,
}

/// The circuit of a session made ready for one [`Session::run`].
#[must_use = "a prepared circuit that is not run is wasted, and the peer may be waiting"]
pub struct PreparedCircuit {
    job: [u8; 32],
    inner: Box<dyn Prepared>,
}

impl Session {
    /// Connects to all peers, agrees with them on the version, the protocol, who is who, every
    /// parameter and the circuit, and runs the set-up.
    ///
    /// # Errors
    /// `InvalidInput` before anything is sent when `config` and `circuit` do not go together (see
    /// [`Config::check`]); `Transport` when a peer does not appear, goes, or has another key;
    /// `PeerIncompatible` when one was asked for something else; `PeerMisbehaved` when the set-up's
    /// checks fail.
    pub fn connect(config: Config, circuit: &Circuit) -> Result<Session> {
        Session::connect_for(config, circuit, None)
    }

    /// As [`connect`](Session::connect), for a computation in parts of which this circuit is the
    /// first. A peer that [`connect`](Session::connect)s to run it whole is refused. Go on with
    /// [`evaluate_part`](Session::evaluate_part).
    ///
    /// `plan` is what is known of the later parts, as names and values, which the handshake
    /// compares too: a party with another plan is refused, and the difference named. Without a plan
    /// the parties compare each later part when they come to it, but not on what it depends.
    ///
    /// # Errors
    /// As [`connect`](Session::connect).
    pub fn connect_in_parts(
        config: Config,
        circuit: &Circuit,
        plan: &[(String, String)],
    ) -> Result<Session> {
        Session::connect_for(config, circuit, Some(plan))
    }

    fn connect_for(
        config: Config,
        circuit: &Circuit,
        plan: Option<&[(String, String)]>,
    ) -> Result<Session> {
        config.check(circuit)?;
        let circuit = Compiled::new(circuit);
        let SessionParams { protocol, executions, in_flight, dealer, .. } =
            config.terms().params.clone();
        let gates = config.demand(&circuit)?.and_gates.saturating_mul(executions);
        let cancel = config.terms().cancel.clone();
        let work = (gates, Preferences::NOTHING);
        let kind = if plan.is_some() { Kind::Parts } else { Kind::Run };
        let job = plan.map_or(Job::Run(&circuit), |plan| Job::Parts(&circuit, plan));
        let begun = begin(config, job, work, |network, dealer| engine(protocol, network, dealer))?;
        let Begun { network, choice, made } = begun;
        let engine = Some(made);
        let id = SessionId(network.session);
        Ok(Session {
            id,
            kind,
            circuit,
            circuits: 1,
            cancel,
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

    /// This party.
    pub fn party(&self) -> PartyId {
        self.network.me
    }

    /// How many parties there are, this one included.
    pub fn parties(&self) -> u16 {
        self.network.parties()
    }

    /// The circuit that all parties agreed on, the last one if there were
    /// [several](Session::next_circuit).
    pub fn circuit(&self) -> &Circuit {
        self.circuit.circuit()
    }

    /// The protocol all parties agreed on.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// How many evaluations [`evaluate_batch`](Session::evaluate_batch) does:
    /// [`Config::executions`].
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// The form of garbling and the OT extension, the same for all parties, and
    /// whether the link decided.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// The dealer that deals this session's material, as [`Dealer::name`](crate::Dealer::name) has
    /// it; then no correlated OT is made. None when the parties make it among themselves.
    pub fn dealer(&self) -> Option<&str> {
        self.dealer.as_deref()
    }

    /// What the handshake agreed on, the same for all parties and different in every session.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// What cancels this session from another thread: see [`Config::cancelled_by`].
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// What every phase cost this party until now.
    pub fn report(&self) -> Report {
        Report::of(&self.network.meter)
    }

    /// Phase 1, function-independent: makes material for one evaluation of the circuit.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails, `Transport` when the peer is gone.
    pub fn preprocess(&mut self) -> Result<Correlations> {
        if self.protocol.has_components() && self.circuit.plan().and_count() == 0 {
            // There are no components, and inputs and outputs are the circuit's own.
            return self.preprocess_circuit();
        }
        self.only(Kind::Run)?;
        let job = self.network.session;
        if self.protocol.has_components() {
            let terms = ComponentTerms::of(&self.network);
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

    /// Phase 1 for this circuit alone: cheaper than [`preprocess`](Session::preprocess), but no
    /// material that another circuit could use. Counted as function-dependent ([`DEPENDENT`]),
    /// which it is. A dealer deals the same as for [`preprocess`](Session::preprocess), and it is
    /// counted as that.
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

    /// Phase 2, function-dependent: binds the material to the circuit.
    ///
    /// # Errors
    /// `InvalidInput` when the material is another session's, which does no harm; `PeerMisbehaved`,
    /// `Transport` as for every phase.
    pub fn prepare(&mut self, material: Correlations) -> Result<PreparedCircuit> {
        let job = self.own(material.job, "material")?;
        self.phase(DEPENDENT, |parts| {
            let inner = material.inner.prepare(parts.network, parts.circuit)?;
            Ok(PreparedCircuit { job, inner })
        })
    }

    /// Phases 1 and 2 for as many evaluations as [`Config::executions`] says, each of which is
    /// [run](Session::run) by itself: together where that makes them cheaper, otherwise one after
    /// the other. All of them are in memory until they are run or dropped.
    ///
    /// # Errors
    /// As [`preprocess_circuit`](Session::preprocess_circuit); `InvalidInput` when there are more
    /// than the protocol prepares at a time.
    pub fn prepare_each(&mut self) -> Result<Vec<PreparedCircuit>> {
        let count = usize::try_from(self.executions)
            .map_err(|_| Error::invalid_input("more evaluations than memory can hold"))?;
        self.prepare_apart(count)
    }

    /// The same for a number of evaluations.
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

    /// Phase 3, online: evaluates on this party's inputs; returns what it learns, after every check
    /// has passed.
    ///
    /// # Errors
    /// `InvalidInput` when the prepared circuit is another session's, which does no harm, or the
    /// inputs are another party's or another circuit's, which ends the session: the peer is
    /// evaluating already. `PeerMisbehaved`, `Transport` as for every phase.
    pub fn run(&mut self, ready: PreparedCircuit, inputs: &Inputs) -> Result<Outputs> {
        self.own(ready.job, "prepared circuit")?;
        self.phase(ONLINE, |parts| {
            let Parts { network, circuit, .. } = parts;
            // Too late to go on as if nothing had happened: the peer is evaluating already.
            inputs.check(circuit.circuit(), network.me)?;
            let bits = ready.inner.evaluate(network, circuit, inputs.bits())?;
            Outputs::new(circuit.circuit(), network.me, bits)
        })
    }

    /// Everything at once, with [`preprocess_circuit`](Session::preprocess_circuit) as the first
    /// step: the circuit is known, and nothing is kept. A large circuit is
    /// [streamed](Session::streams).
    ///
    /// # Errors
    /// As the three have them; inputs that do not fit are refused before anything is sent, and do
    /// no harm.
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

    /// Whether [`evaluate`](Session::evaluate) does all phases at once, counted as [`STREAMED`]:
    /// the circuit has more AND gates than [`Config::segment_gates`] says, the protocol garbles,
    /// and no dealer deals the material.
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

    /// Refuses a call for another kind of session, before anything is sent.
    fn only(&mut self, kind: Kind) -> Result<()> {
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

    /// Refuses what was made for another circuit or in another session.
    fn own(&mut self, job: [u8; 32], what: &str) -> Result<[u8; 32]> {
        if job == self.network.session {
            return Ok(job);
        }
        let text = format!("the {what} belongs to another session or circuit");
        self.noted(Err(Error::InvalidInput(text)))
    }

    /// Notes that a call was refused before anything was sent. The peers wait for the call that
    /// fits, and must learn why none will come if the session is dropped.
    fn noted<T>(&mut self, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            self.refused = notice(error, self.network.parties() > 2);
        }
        done
    }

    /// Runs one phase: counted under its name, flushed at its end, and the end of the session when
    /// it fails.
    fn phase<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(Parts<'_>) -> Result<T>,
    ) -> Result<T> {
        if let Some(error) = &self.dead {
            return Err(error.clone());
        }
        let Some(engine) = self.engine.as_deref_mut() else {
            return Err(Error::internal("a session without an engine is not marked dead"));
        };
        self.refused = None;
        let (network, circuit) = (&mut self.network, &self.circuit);
        let done = counted(network, name, |network| work(Parts { engine, network, circuit }));
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

/// What a phase works with.
struct Parts<'s> {
    engine: &'s mut dyn Engine,
    network: &'s mut Network,
    circuit: &'s Compiled,
}

/// What makes material in a session: a dealer, or the parties among themselves.
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
    /// What the set-up made.
    pub made: T,
}

/// Connects, agrees with all peers on every parameter and on the job, settles what is left open,
/// for this many AND gates, and runs `set_up`. Where nobody asks for a form or an OT extension,
/// `unasked` is taken, and the link decides about the rest.
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
    let batch = terms.batch(1);
    let Terms {
        party: me,
        params: SessionParams { rho, threads, segment_gates, components, .. },
        ..
    } = terms;
    // Until they are settled, the session's id and what it binds are nobody's.
    let (session, ot, form) = ([0; 32], OtExtension::default(), GateForm::default());
    let mut network =
        Network { me, lanes, meter, session, rho, ot, form, batch, segment_gates, components };
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

/// Does work that is counted under its name, and flushed at its end.
pub(crate) fn counted<T>(
    network: &mut Network,
    phase: &'static str,
    work: impl FnOnce(&mut Network) -> Result<T>,
) -> Result<T> {
    network.meter.set_phase(phase);
    tell(network, &Progress::Phase { phase });
    let done = stack::wiped(|| work(network)).and_then(|value| {
        // The peer may be waiting for what is still buffered while our caller takes its time.
        network.lanes.iter_mut().flatten().try_for_each(Channel::flush)?;
        Ok(value)
    });
    let [bytes_sent, bytes_received] = network.meter.bytes();
    network.meter.set_phase(IDLE);
    if done.is_ok() {
        tell(network, &Progress::PhaseEnded { phase, bytes_sent, bytes_received });
    }
    done
}

/// Reports to the session's observer, if it has one, and to the log.
fn tell(network: &Network, progress: &Progress) {
    match network.meter.observer() {
        Some(observer) => observer.tell(progress),
        None => Observer::default().tell(progress),
    }
}

/// Tells all peers that this side ends, in words that give nothing away.
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

/// What the peers are told of an error, if they do not see it by themselves; `several` if there is
/// more than one of them.
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
        // Everybody sees a difference by itself, and should say which it is.
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
