//! One computation with one peer: connect, agree, then the three phases.

use std::sync::Arc;

use symbolon_circuit::{Circuit, PartyId, Plan};
use symbolon_protocols::{Engine, Need, Network, Prepared, Preprocessed, Protocol};
use symbolon_transport::{
    Channel, Error, Hello, Meter, Result, SessionId, TransportReason, handshake,
};

use crate::config::{Config, Terms};
use crate::report::{DEPENDENT, IDLE, INDEPENDENT, ONLINE, Report, SETUP};
use crate::{Inputs, Outputs};

/// A party's side of a computation of one circuit with one peer.
///
/// [`Session::connect`] reaches the peer, agrees with it on everything public and runs the protocol's
/// set-up. Then either [`Session::evaluate`] does all three phases at once, or they run apart:
///
/// ```text
/// preprocess() ──▶ Material ──prepare──▶ Ready ──run(inputs)──▶ Outputs
/// ```
///
/// [`Material`] and [`Ready`] are consumed, so nothing can be used twice. Both sides must call the same
/// phases in the same order. The phases may be repeated over one session, each time with fresh material.
///
/// After any error the session is dead: its keys and everything made with them are wiped, the peer is
/// told that this side gave up (not why), and every further call returns the same error.
pub struct Session {
    circuit: Circuit,
    plan: Plan,
    protocol: Protocol,
    network: Network,
    engine: Option<Box<dyn Engine>>,
    dead: Option<Error>,
}

/// Function-independent material of one session, good for one [`Session::prepare`].
#[must_use = "material that is not prepared is wasted, and the peer may be waiting"]
pub struct Material {
    session: SessionId,
    inner: Box<dyn Preprocessed>,
}

/// The circuit of a session made ready for one [`Session::run`].
#[must_use = "a prepared circuit that is not run is wasted, and the peer may be waiting"]
pub struct Ready {
    session: SessionId,
    inner: Box<dyn Prepared>,
}

impl Session {
    /// Connects to the peer, agrees with it on the version, the protocol, who is who, every parameter
    /// and the circuit, and runs the set-up.
    ///
    /// # Errors
    /// `InvalidInput` before anything is sent when `config` and `circuit` do not go together (see
    /// [`Config::check`]); `Transport` when the peer does not appear, goes, or has another key;
    /// `PeerIncompatible` when it was asked for something else; `PeerMisbehaved` when the set-up's
    /// checks fail.
    pub fn connect(config: Config, circuit: &Circuit) -> Result<Session> {
        config.check(circuit)?;
        let plan = Plan::new(circuit);
        let (transport, terms) = config.into_parts();
        let hello = hello(&terms, circuit);
        let (lanes, meter) = transport.open(&terms)?;
        let (network, engine) = begin(lanes, meter, &terms, &hello)?;
        let (circuit, protocol) = (circuit.clone(), terms.protocol);
        Ok(Session { circuit, plan, protocol, network, engine: Some(engine), dead: None })
    }

    /// This party.
    pub fn party(&self) -> PartyId {
        self.network.me
    }

    /// The circuit both sides agreed on.
    pub fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// The protocol both sides agreed on.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// What the handshake agreed on, the same on both sides and different in every session.
    pub fn id(&self) -> SessionId {
        SessionId(self.network.session)
    }

    /// What every phase cost this party until now.
    pub fn report(&self) -> Report {
        Report::of(&self.network.meter)
    }

    /// Phase 1, function-independent: makes material for one evaluation of the circuit.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails, `Transport` when the peer is gone.
    pub fn preprocess(&mut self) -> Result<Material> {
        let need = Need::of(&self.circuit, &self.plan, 2);
        let session = self.id();
        self.phase(INDEPENDENT, |parts| {
            let inner = parts.engine.preprocess(parts.network, &need)?;
            Ok(Material { session, inner })
        })
    }

    /// Phase 2, function-dependent: binds the material to the circuit.
    ///
    /// # Errors
    /// `InvalidInput` when the material is another session's, which does no harm; `PeerMisbehaved`, `Transport` as ever.
    pub fn prepare(&mut self, material: Material) -> Result<Ready> {
        let session = self.own(material.session, "material")?;
        self.phase(DEPENDENT, |parts| {
            let inner = material.inner.prepare(parts.network, parts.circuit, parts.plan)?;
            Ok(Ready { session, inner })
        })
    }

    /// Phase 3, online: evaluates on this party's inputs; returns what it learns, after every check
    /// has passed.
    ///
    /// # Errors
    /// `InvalidInput` when the prepared circuit is another session's, which does no harm, or the inputs
    /// are another party's or another circuit's, which ends the session: the peer is evaluating
    /// already. `PeerMisbehaved`, `Transport` as ever.
    pub fn run(&mut self, ready: Ready, inputs: &Inputs) -> Result<Outputs> {
        self.own(ready.session, "prepared circuit")?;
        self.phase(ONLINE, |parts| {
            let Parts { network, circuit, plan, .. } = parts;
            // Too late to go on as if nothing had happened: the peer is evaluating already.
            inputs.check(circuit, network.me)?;
            let bits = ready.inner.evaluate(network, circuit, plan, inputs.bits())?;
            Outputs::new(circuit, network.me, bits)
        })
    }

    /// All three phases, one after the other.
    ///
    /// # Errors
    /// As the three have them; inputs that do not fit are refused before anything is sent, and do no
    /// harm.
    pub fn evaluate(&mut self, inputs: &Inputs) -> Result<Outputs> {
        inputs.check(&self.circuit, self.network.me)?;
        let material = self.preprocess()?;
        let ready = self.prepare(material)?;
        self.run(ready, inputs)
    }

    fn own(&self, session: SessionId, what: &str) -> Result<SessionId> {
        if session == self.id() {
            return Ok(session);
        }
        Err(Error::invalid_input(format!("the {what} belongs to another session")))
    }

    /// Runs one phase: counted under its name, flushed at its end, and the end of the session when it
    /// fails.
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
        let (network, circuit, plan) = (&mut self.network, &self.circuit, &self.plan);
        let done = counted(network, name, |network| work(Parts { engine, network, circuit, plan }));
        if let Err(error) = &done {
            self.engine = None;
            self.dead = Some(error.clone());
            give_up(self.network.lanes.iter_mut().flatten(), error);
        }
        done
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("party", &self.network.me)
            .field("circuit", &self.circuit.name())
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}

/// What a phase works with.
struct Parts<'s> {
    engine: &'s mut dyn Engine,
    network: &'s mut Network,
    circuit: &'s Circuit,
    plan: &'s Plan,
}

/// Everything that both sides must have been told alike, in a fixed order.
fn hello(terms: &Terms, circuit: &Circuit) -> Hello {
    Hello::new([0, 1])
        .term("protocol", terms.protocol.name())
        .term("rho", terms.rho.bits())
        .term("threads", terms.threads)
        .term("circuit", hex::encode(circuit.digest()))
}

/// Handshake and set-up over fresh lanes.
fn begin(
    mut lanes: Vec<Channel>,
    meter: Arc<Meter>,
    terms: &Terms,
    hello: &Hello,
) -> Result<(Network, Box<dyn Engine>)> {
    meter.set_phase(SETUP);
    let agreed = match lanes.first_mut() {
        Some(lane) => handshake(lane, hello),
        None => Err(Error::invalid_input("a session needs at least one lane")),
    };
    let session = match agreed {
        Ok(session) => session,
        Err(error) => {
            give_up(lanes.iter_mut(), &error);
            return Err(error);
        }
    };
    let session = *session.as_bytes();
    let lanes = lanes.into_iter().map(|lane| vec![lane]).collect();
    let mut network = Network { me: terms.party, lanes, meter, session, rho: terms.rho };
    match counted(&mut network, SETUP, |network| terms.protocol.set_up(network)) {
        Ok(engine) => Ok((network, engine)),
        Err(error) => {
            give_up(network.lanes.iter_mut().flatten(), &error);
            Err(error)
        }
    }
}

fn counted<T>(
    network: &mut Network,
    phase: &'static str,
    work: impl FnOnce(&mut Network) -> Result<T>,
) -> Result<T> {
    network.meter.set_phase(phase);
    let done = work(network).and_then(|value| {
        // The peer may be waiting for what is still buffered while our caller takes its time.
        network.lanes.iter_mut().flatten().try_for_each(Channel::flush)?;
        Ok(value)
    });
    network.meter.set_phase(IDLE);
    done
}

/// Tells the peer that this side ends, in words that give nothing away.
fn give_up<'a>(lanes: impl Iterator<Item = &'a mut Channel>, error: &Error) {
    let words = match error {
        Error::PeerMisbehaved { .. } => "a check failed here",
        Error::InvalidInput(_) => "its caller gave it unusable input",
        Error::Transport { reason: TransportReason::TimedOut(_), .. } => "it waited too long",
        // Both sides see the difference by themselves, and should say which it is.
        Error::PeerIncompatible { .. } => return,
        Error::Transport { .. } => "it lost the connection",
        Error::Store(_) | Error::Internal(_) => "it failed for a reason of its own",
    };
    for lane in lanes {
        lane.abort(words);
    }
}
