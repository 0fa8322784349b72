//! What the parties of a session must share: the parameters, and the kind of session. A single list
//! of them makes the handshake of every session.
//!
//! A parameter of every session is a field of [`SessionParams`], declared in [`table`]; an option
//! of a protocol is declared there, and is one of [`SessionParams::options`]. [`hello`] puts all of
//! them into the handshake of every kind of session, even if that kind does not use one today.
//! Facts that only one party needs (time-outs, links, keys, paths) are not here.

mod table;

use symbolon_protocols::{
    Compiled, GateForm, OptionSpec, Options, OtExtension, Protocol, Rho, RunTerms, SEGMENT_GATES,
};
use symbolon_transport::{AUTO, Error, Hello, PartyId, Result, SESSION_KIND};

use crate::describe;
pub use table::{Parameter, parameters};

/// The parameters that a party may leave open, in the order of the handshake.
pub(crate) const OPEN: [&str; 2] = ["form", "ot"];

/// The value of an option that the protocol does not have.
const NONE: &str = "none";

/// The default number of AND gates in a pool: some seconds of work, and enough for a large circuit,
/// which is prepared from a single pool.
pub const POOL_GATES: u64 = 1 << 24;

/// A plan whose names and values are longer than this, in bytes, is compared by its digest: a hello
/// has room for no more than 16 KiB.
const MAX_PLAN: usize = 6000;

/// Everything on which all parties of a session must agree. The handshake of every session compares
/// all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionParams {
    /// The protocol.
    pub protocol: Protocol,
    /// The statistical security parameter.
    pub rho: Rho,
    /// The form of garbling, one of the [protocol's](Protocol#method.forms); `None` leaves it to
    /// the others or the link.
    pub form: Option<GateForm>,
    /// The OT extension; `None` leaves it to the others or the link.
    pub ot: Option<OtExtension>,
    /// The number of threads that make correlated OTs and triples, 1 to
    /// [`MAX_THREADS`](crate::MAX_THREADS). With `duplo` and `dualex`, the number of threads that
    /// garble; two where there are cores, even if this is 1.
    pub threads: usize,
    /// The number of evaluations in a batch, at least 1.
    pub executions: u64,
    /// The number of evaluations online at a time, each with its own messages, if the protocol
    /// [supports](Protocol#method.runs_in_flight) it; at least 1. With `None`, each message of a
    /// batch covers all of its evaluations.
    pub in_flight: Option<usize>,
    /// The options of the protocol, made from a type in the protocol's module, as
    /// [`DualExOptions`](crate::dualex::DualExOptions). Options of other protocols are rejected.
    pub options: Options,
    /// Circuits with more AND gates than this are garbled and evaluated about this many gates at a
    /// time; at least 1.
    pub segment_gates: u64,
    /// A pool is closed after this many AND gates, and another one begun; at least 1.
    pub pool_gates: u64,
    /// The [name](crate::Dealer::name) of the dealer that all parties trust, if any.
    pub dealer: Option<String>,
}

/// Returns the number of connections to each peer in a session with this many threads.
pub(crate) fn connections(threads: usize) -> usize {
    if threads > 1 { threads + 1 } else { threads }
}

/// Why parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamError {
    /// A parameter or option has a value that it cannot have; the reason goes after its name.
    Value(&'static OptionSpec, String),
    /// The protocol does not have this option.
    NotTaken(Protocol, &'static OptionSpec),
    /// Parameters contradict each other.
    Contradiction(String),
}

impl ParamError {
    /// Returns the sentence, in which options are called as `called` says.
    pub fn text(&self, called: impl Fn(&OptionSpec) -> String) -> String {
        match self {
            ParamError::Value(option, reason) => format!("{} {reason}", called(option)),
            ParamError::NotTaken(protocol, option) => {
                format!("{} takes no {}", protocol.name(), called(option))
            }
            ParamError::Contradiction(text) => text.clone(),
        }
    }
}

impl From<ParamError> for Error {
    fn from(refusal: ParamError) -> Error {
        Error::InvalidInput(refusal.text(OptionSpec::key))
    }
}

impl SessionParams {
    /// Returns the default parameters of this protocol: ρ = 40, one thread, one evaluation, no
    /// dealer, and the rest as it suits ρ and the link.
    pub fn new(protocol: Protocol) -> SessionParams {
        SessionParams {
            protocol,
            rho: Rho::Bits40,
            form: None,
            ot: None,
            threads: 1,
            executions: 1,
            in_flight: None,
            options: Options::default(),
            segment_gates: SEGMENT_GATES,
            pool_gates: POOL_GATES,
            dealer: None,
        }
    }

    /// Returns the number of connections to each peer in a session with these parameters.
    pub fn lanes(&self) -> usize {
        connections(self.threads)
    }

    /// Returns the terms of `executions` evaluations side by side.
    pub fn run_terms(&self, executions: usize) -> RunTerms<'_> {
        RunTerms { rho: self.rho, executions, options: &self.options }
    }

    /// Returns a warning for each value that is not secure.
    pub fn warnings(&self) -> Vec<String> {
        let options = self.protocol.options().iter();
        options.filter_map(|option| option.warning(&self.options, self.rho)).collect()
    }

    /// Returns every parameter by name, in the order in which they are compared; "auto" is the
    /// value of an open one. Parties fit together if their lists are equal. The names are those of
    /// the command's options, and so `batch` is [`executions`](SessionParams::executions).
    pub fn values(&self) -> Vec<(&'static str, String)> {
        parameters().iter().map(|one| (one.handshake(), one.text(self))).collect()
    }

    /// Sets the parameter or option with this name in the handshake, or with this
    /// [key](OptionSpec::key), to a value in the form that [`values`](SessionParams::values)
    /// returns. An option of another protocol is rejected when a session begins.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such parameter, or it has no such value; the text says which
    /// values it has.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let named = |one: &&Parameter| one.handshake() == key || one.spec().key() == key;
        match parameters().iter().find(named) {
            Some(parameter) => Ok(parameter.set(self, value)?),
            None => Err(Error::invalid_input(format!("there is no parameter `{key}`"))),
        }
    }

    /// Rejects parameters that are out of range or contradict each other.
    ///
    /// # Errors
    /// The first reason.
    pub fn check(&self) -> std::result::Result<(), ParamError> {
        let SessionParams { protocol, rho, form, in_flight, options, dealer, .. } = self;
        let refuse = |reason: String| Err(ParamError::Contradiction(reason));
        if let Some(form) = form.filter(|form| !protocol.forms().contains(form)) {
            return refuse(format!("{} has no form {form}", protocol.name()));
        }
        if let Some(ot) = self.ot.filter(|ot| !protocol.extensions().contains(ot)) {
            let others = Protocol::ALL.iter().filter(|one| one.extensions().contains(&ot));
            let others: Vec<&str> = others.map(|one| one.name()).collect();
            let (name, others) = (protocol.name(), others.join(", "));
            return refuse(format!("{name} has no OT {ot}; it is for {others}"));
        }
        if dealer.is_some() && !protocol.has_pools() {
            return refuse(format!("{} makes no use of a dealer", protocol.name()));
        }
        for parameter in parameters() {
            match parameter {
                Parameter::Option(of, option) if of == protocol => {
                    let checked = option.check_in(options, *rho);
                    checked.map_err(|reason| ParamError::Value(&option.spec, reason))?;
                }
                Parameter::Option(_, option) if option.chosen(options).is_some() => {
                    return Err(ParamError::NotTaken(*protocol, &option.spec));
                }
                _ => {}
            }
        }
        if in_flight.is_some() && !protocol.runs_in_flight() {
            return Err(ParamError::NotTaken(*protocol, &table::IN_FLIGHT));
        }
        // A program may have set the fields to what their texts cannot say.
        parameters().iter().try_for_each(|one| one.set(&mut self.clone(), &one.text(self)))
    }
}

/// The amount of material that all pools together should hold: up to 2^40 AND gates, at least one,
/// and up to 2^40 input bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The number of AND gates, rounded up to whole chunks of 128.
    pub and_gates: u64,
    /// The number of input bits of each party.
    pub input_bits: u64,
}

impl Amount {
    pub(crate) const NOTHING: Amount = Amount { and_gates: 0, input_bits: 0 };

    pub(crate) fn add(&mut self, more: Amount) {
        self.and_gates += more.and_gates;
        self.input_bits += more.input_bits;
    }
}

/// The purpose of a session, with everything on which the parties must agree besides the
/// parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job<'a> {
    /// Evaluates a circuit in one go.
    Run(&'a Compiled),
    /// Evaluates this circuit as the first part of a computation. The list says what is known about
    /// later parts.
    Parts(&'a Compiled, &'a [(String, String)]),
    /// Fills pools up to this amount.
    Preprocess(Amount),
    /// Fills pools of components until they suffice for this many runs of the circuit.
    PreprocessFor(&'a Compiled, u64),
    /// Prepares a circuit this many times from this material.
    Prepare(&'a Compiled, u32, Material),
    /// Runs a prepared circuit.
    RunPrepared(&'a Compiled),
    /// Prepares a circuit and runs it, again and again.
    Stock(&'a Compiled),
    /// Makes this many triples.
    Triples(u64),
    /// Exchanges data about other sessions, which these values describe.
    Exchange(&'a [(&'static str, String)]),
}

/// The material that circuits are prepared from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Material {
    /// Pools if they suffice, and otherwise material that is made on the spot.
    Any,
    /// Only pools.
    Pools,
}

impl Job<'_> {
    fn circuit(&self) -> Option<&Compiled> {
        match *self {
            Job::Run(circuit)
            | Job::Parts(circuit, _)
            | Job::PreprocessFor(circuit, _)
            | Job::Prepare(circuit, ..)
            | Job::RunPrepared(circuit)
            | Job::Stock(circuit) => Some(circuit),
            Job::Preprocess(_) | Job::Triples(_) | Job::Exchange(_) => None,
        }
    }

    /// Returns the kind of session, and what else is compared.
    fn values(&self) -> (&'static str, Vec<(&'static str, String)>) {
        // The words come first, because an error names the first difference in the list.
        let all = |circuit: &Compiled, more: Vec<(&'static str, String)>| {
            let digest = ("circuit", hex::encode(circuit.digest()));
            describe::parts(circuit.circuit()).into_iter().chain([digest]).chain(more).collect()
        };
        match *self {
            Job::Run(circuit) => ("run", all(circuit, Vec::new())),
            Job::Parts(circuit, _) => ("parts", all(circuit, Vec::new())),
            Job::Preprocess(Amount { and_gates, input_bits }) => (
                "preprocess",
                vec![("gates", and_gates.to_string()), ("input bits", input_bits.to_string())],
            ),
            Job::PreprocessFor(circuit, runs) => {
                ("preprocess for", all(circuit, vec![("runs", runs.to_string())]))
            }
            Job::Prepare(circuit, count, material) => {
                let material = match material {
                    Material::Any => "any",
                    Material::Pools => "pools",
                };
                let more = vec![("count", count.to_string()), ("material", material.to_string())];
                ("prepare", all(circuit, more))
            }
            Job::RunPrepared(circuit) => ("run prepared", all(circuit, Vec::new())),
            Job::Stock(circuit) => ("stock", all(circuit, Vec::new())),
            Job::Exchange(about) => ("exchange", about.to_vec()),
            Job::Triples(count) => ("triples", vec![("count", count.to_string())]),
        }
    }

    /// Returns what is known about later parts, under names that start with "plan".
    fn plan(&self) -> Vec<(String, String)> {
        let Job::Parts(_, plan) = *self else { return Vec::new() };
        let bytes: usize = plan.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes <= MAX_PLAN {
            let of_plan =
                |(name, value): &(String, String)| (format!("plan, {name}"), value.clone());
            return plan.iter().map(of_plan).collect();
        }
        let mut hasher = blake3::Hasher::new_derive_key("symbolon 2026 plan of parts v1");
        for text in plan.iter().flat_map(|(name, value)| [name, value]) {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        vec![("plan".to_string(), format!("digest {}", hasher.finalize().to_hex()))]
    }
}

/// Returns what a party sends in the handshake of any session: its kind, all parameters, and what
/// the session is about.
pub(crate) fn hello(params: &SessionParams, parties: usize, job: Job<'_>) -> Hello {
    let (kind, about) = job.values();
    let hello = Hello::new(PartyId::all(parties)).term(SESSION_KIND, kind);
    let hello = match job.circuit() {
        Some(circuit) => hello.note("circuit", circuit.circuit().name()),
        None => hello,
    };
    let add = |hello: Hello, (key, value): (&'static str, String)| match OPEN.contains(&key) {
        true => hello.negotiable(key, Some(value).filter(|value| value != AUTO)),
        false => hello.term(key, value),
    };
    let hello = params.values().into_iter().chain(about).fold(hello, add);
    job.plan().into_iter().fold(hello, |hello, (key, value)| hello.term(key, value))
}

#[cfg(test)]
mod tests;
