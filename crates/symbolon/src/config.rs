//! The configuration of a session, checked before anything is sent.

use std::time::Duration;

use symbolon_circuit::{Circuit, PartyId, Receivers};
use symbolon_protocols::{Compiled, Demand, GateForm, Options, OtExtension, Protocol, Rho};
use symbolon_transport::{
    CancelHandle, DEFAULT_TIMEOUT, Error, Observer, Progress, Result, SimulatedLink,
};

use crate::connect::{Transport, TransportKind};
use crate::dealer::Dealer;
use crate::params::SessionParams;
use crate::terms::{Terms, check_threads};

/// The configuration of a session: who this party is, how it reaches the others, and the parameters
/// on which all parties must agree.
///
/// The setters accept any value. What is out of range is rejected before anything is sent, by
/// [`Config::check`] and by every function that takes a configuration.
#[derive(Debug)]
pub struct Config {
    transport: Transport,
    terms: Terms,
    dealer: Option<Dealer>,
}

impl Config {
    /// Configures party `party`, numbered from 0, over `transport` with ρ = 40, one thread (for
    /// ready-made channels, as many as they have lanes for), the default time-out, no simulated
    /// link, and the protocol `wrk` between two parties or `ywz` among more. The form of garbling
    /// and the OT extension follow from the link.
    pub fn new(party: impl Into<PartyId>, transport: Transport) -> Config {
        let threads = match &transport.0 {
            TransportKind::Channels { lanes, .. } => lanes.len().saturating_sub(1).max(1),
            _ => 1,
        };
        let parties = transport.parties();
        let protocol = Protocol::for_parties(parties);
        let params = SessionParams { threads, ..SessionParams::new(protocol) };
        let cancel = CancelHandle::new();
        let (timeout, observer) = (DEFAULT_TIMEOUT, Observer::default());
        let party = party.into();
        let terms = Terms { party, params, timeout, link: None, cancel, observer };
        Config { transport, terms, dealer: None }
    }

    /// Sets everything that the parties must share, except the dealer, which
    /// [`dealer`](Config::dealer) sets.
    pub fn params(mut self, params: SessionParams) -> Self {
        let dealer = self.terms.params.dealer;
        self.terms.params = SessionParams { dealer, ..params };
        self
    }

    /// Chooses the protocol.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.terms.params.protocol = protocol;
        self
    }

    /// Chooses the statistical security parameter.
    pub fn rho(mut self, rho: Rho) -> Self {
        self.terms.params.rho = rho;
        self
    }

    /// Chooses the form of garbling, one of the [protocol's](Protocol#method.forms): fewer rounds,
    /// or fewer bytes. `None` leaves it to the others and, if they leave it open too, to the link
    /// and the size of the circuit.
    ///
    /// Choose a form if material is prepared ahead: the link decides by the total time of all
    /// phases, and that is not always the form with the shortest online phase.
    pub fn form(mut self, form: impl Into<Option<GateForm>>) -> Self {
        self.terms.params.form = form.into();
        self
    }

    /// Chooses the OT extension: fewer bytes for more computing. `None` leaves it to the others
    /// and, if they leave it open too, to the link.
    pub fn ot(mut self, ot_extension: impl Into<Option<OtExtension>>) -> Self {
        self.terms.params.ot = ot_extension.into();
        self
    }

    /// Makes correlated OTs and triples with this many threads, 1 to
    /// [`MAX_THREADS`](crate::MAX_THREADS), each with its own connection to each peer. With two or
    /// more, one additional thread with its own connections garbles or evaluates meanwhile. With
    /// [`Duplo`](Protocol::Duplo) and [`DualEx`](Protocol::DualEx), this many threads garble.
    /// Ready-made channels fix the number; [`Config::check`] rejects any other.
    pub fn threads(mut self, threads: usize) -> Self {
        self.terms.params.threads = threads;
        self
    }

    /// Sets how long to wait for the peers to appear, and how long each may be silent; more than
    /// zero. The default is [`DEFAULT_TIMEOUT`], 60 seconds. Each party may choose its own. Where a
    /// peer garbles all circuits of a cut-and-choose, a second is added for each 2^21 AND gates.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = timeout;
        self
    }

    /// Delays what this party sends as a slower link would. Only for TCP and TLS: channels in
    /// memory get their link when they are made.
    pub fn link(mut self, link: SimulatedLink) -> Self {
        self.terms.link = Some(link);
        self
    }

    /// Lets `handle` cancel the session from any thread and in any phase, including the wait for
    /// the peers. Cancelled calls fail with [`Error::Cancelled`] within a fraction of a second, the
    /// session's keys are wiped, and the peers are told that this side was interrupted.
    ///
    /// One handle may cancel several sessions.
    pub fn cancelled_by(mut self, handle: &CancelHandle) -> Self {
        self.terms.cancel = handle.clone();
        self
    }

    /// Calls `hear` with the session's progress: connections, phases, and the work done out of the
    /// total. Any of the session's threads may call it, at most a few times a second for each kind
    /// of work, and the session waits for it to return. Its argument is [public](Progress).
    ///
    /// ```
    /// use symbolon::{Config, Inputs, Progress, Session, Transport, circuit::builtin};
    ///
    /// # fn main() -> symbolon::Result<()> {
    /// let circuit = builtin::by_name("add:32").expect("a built-in circuit");
    /// let (for_zero, for_one) = Transport::memory(1, None)?;
    /// let party = |number: u16, transport| {
    ///     let place = usize::from(number);
    ///     let value = 20 + u128::from(number);
    ///     let inputs = Inputs::builder(&circuit, number).uint(place, value)?.finish()?;
    ///     let config = Config::new(number, transport).on_progress(move |progress| {
    ///         if let Progress::Work(work) = progress {
    ///             println!("{number}: {} of {} {}", work.done, work.total, work.step.name());
    ///         }
    ///     });
    ///     Session::connect(config, &circuit)?.evaluate(&inputs)
    /// };
    /// let (zero, one) = std::thread::scope(|scope| {
    ///     let zero = scope.spawn(|| party(0, for_zero));
    ///     let one = scope.spawn(|| party(1, for_one));
    ///     (zero.join().unwrap(), one.join().unwrap())
    /// });
    /// assert_eq!(zero?.uint("sum")?, 41);
    /// # one.map(drop)
    /// # }
    /// ```
    pub fn on_progress(mut self, hear: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.terms.observer = Observer::new(hear);
        self
    }

    /// Sets how many evaluations of the circuit
    /// [`Session::evaluate_batch`](crate::Session::evaluate_batch) runs, and for how many a circuit
    /// is [prepared](crate::stored::prepare); at least 1, the default. The command, C and the
    /// handshake call it `batch`.
    pub fn executions(mut self, executions: u64) -> Self {
        self.terms.params.executions = executions;
        self
    }

    /// Sets the options of the protocol, all of them: those of
    /// [`TinyTableOptions`](crate::tinytable::TinyTableOptions),
    /// [`DuploOptions`](crate::duplo::DuploOptions) or
    /// [`DualExOptions`](crate::dualex::DualExOptions). [`Config::check`] rejects options of
    /// another protocol, and values that are not safe at ρ.
    pub fn options(mut self, options: impl Into<Options>) -> Self {
        self.terms.params.options = options.into();
        self
    }

    /// Keeps this many evaluations online at a time over one connection, at least 1, if the
    /// protocol [supports](Protocol#method.runs_in_flight) it:
    /// [`Session::evaluate_batch`](crate::Session::evaluate_batch) and
    /// [`stored::run_in_flight`](crate::stored::run_in_flight) then start one as soon as another
    /// has ended. With `None`, the default, each message of a batch covers all of its evaluations.
    /// All parties must choose the same value.
    pub fn in_flight(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.terms.params.in_flight = limit.into();
        self
    }

    /// Makes [`Session::evaluate`](crate::Session::evaluate) run all phases at once for circuits
    /// with more AND gates than this, about this many gates at a time, at least 1: material and
    /// garbled gates are made, used and dropped, so memory grows with the number of live wires
    /// only. Smaller circuits are garbled before any input is used; with `u64::MAX`, so is every
    /// circuit. All parties must choose the same value. The default is 2^20; larger segments are no
    /// cheaper.
    pub fn segment_gates(mut self, gates: u64) -> Self {
        self.terms.params.segment_gates = gates;
        self
    }

    /// Makes [`stored::fill`](crate::stored::fill) close a pool after this many AND gates, at least
    /// 1, and begin another one. All parties must choose the same value; the default is 2^24. A
    /// circuit is prepared from a single pool, so no pool is large enough for a circuit with more
    /// gates.
    pub fn pool_gates(mut self, gates: u64) -> Self {
        self.terms.params.pool_gates = gates;
        self
    }

    /// Lets a dealer deal what the parties would otherwise make themselves. All parties must name
    /// the same dealer, and **all inputs are lost if it colludes with any party**; see [`Dealer`]
    /// for the trust it needs.
    pub fn dealer(mut self, dealer: impl Into<Option<Dealer>>) -> Self {
        self.dealer = dealer.into();
        self.terms.params.dealer = self.dealer.as_ref().map(Dealer::name);
        self
    }

    /// Takes the dealer out of the configuration, and returns how to reach it.
    pub(crate) fn reach_dealer(&mut self) -> Result<Option<symbolon_protocols::Dealer>> {
        let dealer = self.dealer.take();
        dealer.map(|dealer| dealer.reach(&self.transport, &self.terms)).transpose()
    }

    /// Returns what one evaluation needs.
    pub(crate) fn demand(&self, circuit: &Compiled) -> Result<Demand> {
        let parties = self.parties() as u16;
        self.terms.params.protocol.demand_of(circuit, parties, self.terms.params.run_terms(1))
    }

    /// Returns this party.
    pub fn party(&self) -> PartyId {
        self.terms.party
    }

    /// Returns the number of parties, including this one.
    pub fn parties(&self) -> usize {
        self.transport.parties()
    }

    /// Checks the configuration against the circuit; [`Session::connect`](crate::Session::connect)
    /// begins with this.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol does not run among this many parties or in this form, if this
    /// party, an input's owner or an output's receiver is not one of the parties, or if a parameter
    /// is out of range.
    pub fn check(&self, circuit: &Circuit) -> Result<()> {
        self.check_alone()?;
        check_parties(circuit, self.parties())
    }

    /// Checks everything that does not depend on a circuit.
    pub(crate) fn check_alone(&self) -> Result<()> {
        let Terms { party, params, timeout, link, .. } = &self.terms;
        let SessionParams { protocol, threads, ot, .. } = params;
        let refuse = |reason: String| Err(Error::invalid_input(reason));
        let (parties, possible) = (self.parties(), protocol.parties());
        let (least, most) = (usize::from(*possible.start()), usize::from(*possible.end()));
        if !(least..=most).contains(&parties) {
            let range =
                if least == most { format!("{least}") } else { format!("{least} to {most}") };
            return refuse(format!(
                "{} runs among {range} parties, not {parties}",
                protocol.name()
            ));
        }
        if usize::from(*party) >= parties {
            return refuse(format!(
                "there are {parties} parties, numbered from 0; there is no party {party}"
            ));
        }
        params.check()?;
        if timeout.is_zero() {
            return refuse("the time-out must be longer than nothing".to_string());
        }
        check_threads(*threads)?;
        if let Some(dealer) = &self.dealer {
            dealer.check(&self.transport, *party)?;
            if ot.is_some() {
                return refuse("with a dealer there is no OT to choose".to_string());
            }
        }
        self.transport.check(*party, *threads)?;
        if matches!(self.transport.0, TransportKind::Channels { .. }) && link.is_some() {
            return refuse("channels are made with their simulated link".to_string());
        }
        Ok(())
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns by what stored items name each party, by party number: the key that it must prove,
    /// or what the caller says of its channels; `None` over a connection without keys.
    pub(crate) fn peer_names(&self) -> Vec<Option<String>> {
        self.transport.peer_names(self.terms.party)
    }

    pub(crate) fn into_parts(self) -> (Transport, Terms) {
        (self.transport, self.terms)
    }
}

/// Rejects a circuit with an owner or a receiver that is not one of the parties.
pub(crate) fn check_parties(circuit: &Circuit, parties: usize) -> Result<()> {
    let stranger = |what: String, party: PartyId| {
        Err(Error::invalid_input(format!("{what} party {party}, but there are {parties} parties")))
    };
    for input in circuit.inputs() {
        if usize::from(input.owner) >= parties {
            return stranger(format!("input `{}` belongs to", input.name), input.owner);
        }
    }
    for output in circuit.outputs() {
        if let Receivers::Only(receivers) = &output.to
            && let Some(party) = receivers.iter().find(|party| usize::from(**party) >= parties)
        {
            return stranger(format!("output `{}` goes to", output.name), *party);
        }
    }
    Ok(())
}
