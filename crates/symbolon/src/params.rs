//! What the parties of a session must share: the parameters, and what kind of session it is. One
//! list of them makes the handshake of every session.
//!
//! A parameter is a field of [`SessionParams`]. [`SessionParams::values`] takes the struct apart
//! without `..`, so that a new field does not compile until it is in the list; [`hello`] puts the
//! whole list into the handshake of every kind of session, also where that kind does not use a
//! parameter today. What only one party needs to know (time-outs, links, keys, paths) is not here.

use std::str::FromStr;

use symbolon_protocols::{
    Compiled, GateForm, MacLength, OtExtension, Protocol, PsiForm, Rho, SEGMENT_GATES,
};
use symbolon_transport::{AUTO, Error, Hello, PartyId, Result, SESSION_KIND};

use crate::describe;

/// The parameters that a party may leave open, in the order in which the handshake has them.
pub(crate) const OPEN: [&str; 2] = ["form", "ot"];

/// The value of a parameter that the protocol does not have, or of a dealer where there is none.
const NONE: &str = "none";

/// The value where components are chosen by cost.
const BY_COST: &str = "by cost";

/// Between names of components.
const SEPARATOR: &str = "; ";

/// How many AND gates a pool holds unless another size is chosen: some seconds of work, and no less
/// than a large circuit, which is prepared from one pool, takes.
pub const POOL_GATES: u64 = 1 << 24;

/// Bytes of all names of components together.
const MAX_NAMES: usize = 1024;

/// Names and values of a plan of more bytes than this are compared by their digest: a hello has
/// room for no more than 16 KiB.
const MAX_PLAN: usize = 6000;

/// Follows the length of MACs that are too short for ρ, so that nobody has them by mistake.
const COMPARISON_ONLY: &str = " for comparisons only";

/// Everything that all parties of a session must name alike. The handshake of every session
/// compares it whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionParams {
    /// The protocol.
    pub protocol: Protocol,
    /// Statistical security.
    pub rho: Rho,
    /// How gates are garbled, one of [`Protocol::forms`]; `None` leaves it to the others or the
    /// link.
    pub form: Option<GateForm>,
    /// How correlated OTs are made; `None` leaves it to the others or the link.
    pub ot: Option<OtExtension>,
    /// How many threads make correlated OTs and triples, 1 to [`MAX_THREADS`](crate::MAX_THREADS).
    pub threads: usize,
    /// How many evaluations a batch has, at least 1.
    pub executions: u64,
    /// How many evaluations are online at a time, each by messages of its own, where the protocol
    /// [can](Protocol::runs_in_flight); at least 1. Without it, a batch is evaluated by messages
    /// for all of its evaluations.
    pub in_flight: Option<usize>,
    /// The length of the MACs on opened bits.
    pub mac: MacChoice,
    /// How [`DualEx`](Protocol::DualEx) intersects what the parties got; other protocols have no
    /// choice.
    pub psi: PsiForm,
    /// κ_b of [`DualEx`](Protocol::DualEx): a given evaluation leaks a bit of an input with
    /// probability at most 2^-κ_b. `None` is ρ, which bounds everything else. Other protocols leak
    /// no bit, and have no choice.
    pub kappa_b: Option<Rho>,
    /// A circuit of more AND gates than this is garbled and evaluated about this many gates at a
    /// time; at least 1.
    pub segment_gates: u64,
    /// A new pool is closed after this many AND gates, and another one begun; at least 1.
    pub pool_gates: u64,
    /// Names of the components of the circuit that [`Duplo`](Protocol::Duplo) garbles, in any
    /// order; if there are none, the cost decides. Other protocols have no choice.
    pub components: Vec<String>,
    /// The [name](crate::Dealer::name) of the dealer that all parties trust, if they trust one.
    pub dealer: Option<String>,
}

/// The length of the MACs on the bits that [`TinyTable`](Protocol::TinyTable) opens. Other
/// protocols have no choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MacChoice {
    /// The shortest that is long enough for ρ.
    #[default]
    ByRho,
    /// This one. Refused where it is too short for ρ.
    Length(MacLength),
    /// This one, also where it is too short for ρ, so that a wrong bit goes unnoticed more often
    /// than ρ promises. For comparisons with published figures, on inputs that are not secret.
    ComparisonOnly(MacLength),
}

impl From<MacLength> for MacChoice {
    fn from(length: MacLength) -> Self {
        MacChoice::Length(length)
    }
}

impl SessionParams {
    /// The default parameters of this protocol: ρ = 40, one thread, one evaluation, no dealer, and
    /// the rest as it suits ρ and the link.
    pub fn new(protocol: Protocol) -> SessionParams {
        SessionParams {
            protocol,
            rho: Rho::Bits40,
            form: None,
            ot: None,
            threads: 1,
            executions: 1,
            in_flight: None,
            mac: MacChoice::default(),
            psi: PsiForm::default(),
            kappa_b: None,
            segment_gates: SEGMENT_GATES,
            pool_gates: POOL_GATES,
            components: Vec::new(),
            dealer: None,
        }
    }

    /// The length of the MACs on opened bits, where the protocol leaves it open.
    pub fn mac_length(&self) -> Option<MacLength> {
        self.protocol.has_mac_length().then(|| match self.mac {
            MacChoice::ByRho => MacLength::for_rho(self.rho),
            MacChoice::Length(length) | MacChoice::ComparisonOnly(length) => length,
        })
    }

    /// Whether the MACs are shorter than ρ demands, as they are for comparisons only.
    pub fn has_weak_macs(&self) -> bool {
        self.mac_length().is_some_and(|length| !length.suffices(self.rho))
    }

    /// κ_b, the bound on leaked bits, where the protocol has one of its own.
    pub fn leak_bound(&self) -> Option<Rho> {
        self.protocol.has_kappa_b().then(|| self.kappa_b.unwrap_or(self.rho))
    }

    /// Every parameter by name, in the order in which they are compared; "auto" is what is left
    /// open. Equal lists mean that parties fit together.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        // Without `..`: what is added to the struct is missing here until it is compared, too.
        let SessionParams {
            protocol,
            rho,
            form,
            ot,
            threads,
            executions,
            in_flight,
            mac: _,
            psi,
            kappa_b: _,
            segment_gates,
            pool_gates,
            components: _,
            dealer,
        } = self;
        let only = match protocol.forms() {
            [only] => Some(*only),
            _ => None,
        };
        let weak = if self.has_weak_macs() { COMPARISON_ONLY } else { "" };
        let mac = self.mac_length().map(|length| format!("{length}{weak}"));
        let psi = protocol.has_psi_form().then(|| psi.name().to_string());
        let kappa_b = self.leak_bound().map(|bound| bound.bits().to_string());
        let auto = |name: Option<&str>| name.unwrap_or(AUTO).to_string();
        vec![
            ("protocol", protocol.name().to_string()),
            ("rho", rho.bits().to_string()),
            ("form", auto(form.or(only).map(GateForm::name))),
            ("ot", auto(ot.map(OtExtension::name))),
            ("threads", threads.to_string()),
            ("batch", executions.to_string()),
            ("in-flight", in_flight.map_or_else(|| NONE.to_string(), |limit| limit.to_string())),
            ("mac-bits", mac.unwrap_or_else(|| NONE.to_string())),
            ("psi", psi.unwrap_or_else(|| NONE.to_string())),
            ("kappa-b", kappa_b.unwrap_or_else(|| NONE.to_string())),
            ("segment_gates", segment_gates.to_string()),
            ("pool_gates", pool_gates.to_string()),
            ("components", self.component_names().unwrap_or_else(|| NONE.to_string())),
            ("dealer", dealer.clone().unwrap_or_else(|| NONE.to_string())),
        ]
    }

    /// The names of the components to garble in one line, in the same order for all parties, where
    /// the protocol has a choice of components.
    pub(crate) fn component_names(&self) -> Option<String> {
        let mut names: Vec<&str> = self.components.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let names = if names.is_empty() { BY_COST.to_string() } else { names.join(SEPARATOR) };
        self.protocol.has_components().then_some(names)
    }

    /// Sets the parameter `key` to a value that [`values`](SessionParams::values) gives.
    ///
    /// # Errors
    /// `InvalidInput` when there is no such parameter, or it has no such value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let known = match key {
            "protocol" => put(&mut self.protocol, Protocol::by_name(value)),
            "rho" => put(&mut self.rho, value.parse().ok().and_then(Rho::from_bits)),
            "form" => put(&mut self.form, unless(AUTO, value)),
            "ot" => put(&mut self.ot, unless(AUTO, value)),
            "threads" => put(&mut self.threads, value.parse().ok()),
            "batch" => put(&mut self.executions, value.parse().ok()),
            "in-flight" => put(&mut self.in_flight, unless(NONE, value)),
            "mac-bits" => put(&mut self.mac, mac_choice(value)),
            "psi" => put(&mut self.psi, psi_form(value)),
            "kappa-b" => put(&mut self.kappa_b, leak_bound(value)),
            "segment_gates" => put(&mut self.segment_gates, value.parse().ok()),
            "pool_gates" => put(&mut self.pool_gates, value.parse().ok()),
            "components" => put(&mut self.components, component_list(self.protocol, value)),
            "dealer" => put(&mut self.dealer, unless(NONE, value)),
            _ => return Err(Error::invalid_input(format!("there is no parameter `{key}`"))),
        };
        if known { Ok(()) } else { Err(Error::invalid_input(format!("{key} has no such value"))) }
    }

    /// Refuses parameters that are out of range or do not go together.
    pub(crate) fn check(&self) -> Result<()> {
        let SessionParams {
            protocol,
            rho,
            form,
            executions,
            in_flight,
            mac,
            psi,
            kappa_b,
            segment_gates,
            pool_gates,
            components,
            dealer,
            ..
        } = self;
        let refuse = |reason: String| Err(Error::invalid_input(reason));
        if let Some(form) = form.filter(|form| !protocol.forms().contains(form)) {
            return refuse(format!("{} has no form {form}", protocol.name()));
        }
        if dealer.is_some() && !protocol.has_pools() {
            return refuse(format!("{} makes no use of a dealer", protocol.name()));
        }
        if *psi != PsiForm::default() && !protocol.has_psi_form() {
            return refuse(format!("{} intersects nothing", protocol.name()));
        }
        if kappa_b.is_some() && !protocol.has_kappa_b() {
            return refuse(format!("{} has no kappa_b: rho bounds all of it", protocol.name()));
        }
        check_components(*protocol, components)?;
        if *executions == 0 {
            return refuse("there must be at least one evaluation".to_string());
        }
        if in_flight.is_some() && !protocol.runs_in_flight() {
            return refuse(format!("{} has one evaluation online at a time", protocol.name()));
        }
        if *in_flight == Some(0) {
            return refuse("at least one evaluation must be online at a time".to_string());
        }
        if *segment_gates == 0 {
            return refuse("segment_gates must be at least 1".to_string());
        }
        if *pool_gates == 0 {
            return refuse("pool_gates must be at least 1".to_string());
        }
        match mac {
            MacChoice::ByRho => Ok(()),
            _ if !protocol.has_mac_length() => {
                refuse(format!("{} has no MACs whose length can be chosen", protocol.name()))
            }
            MacChoice::Length(length) if !length.suffices(*rho) => refuse(format!(
                "MACs of {length} bits are too short for rho = {}: they need {}",
                rho.bits(),
                MacLength::for_rho(*rho)
            )),
            MacChoice::Length(_) | MacChoice::ComparisonOnly(_) => Ok(()),
        }
    }
}

/// Refuses names of components that cannot be compared in one line, or that nobody uses.
fn check_components(protocol: Protocol, components: &[String]) -> Result<()> {
    if !components.is_empty() && !protocol.has_components() {
        return Err(Error::invalid_input(format!("{} garbles no components", protocol.name())));
    }
    if components.iter().any(|name| name.is_empty() || name == BY_COST || name.contains(';')) {
        return Err(Error::invalid_input("no component can have this name"));
    }
    if components.iter().map(String::len).sum::<usize>() > MAX_NAMES {
        return Err(Error::invalid_input(format!(
            "the names of components have more than {MAX_NAMES} bytes"
        )));
    }
    Ok(())
}

fn component_list(protocol: Protocol, value: &str) -> Option<Vec<String>> {
    match value {
        NONE if !protocol.has_components() => Some(Vec::new()),
        BY_COST => Some(Vec::new()),
        _ if !protocol.has_components() => None,
        _ => Some(value.split(SEPARATOR).map(str::to_string).collect()),
    }
}

/// Sets `field`, if there is a value for it.
fn put<T>(field: &mut T, value: Option<T>) -> bool {
    value.map(|value| *field = value).is_some()
}

/// Nothing for the word that stands for it, otherwise what the text means, if it means anything.
fn unless<T: FromStr>(word: &str, value: &str) -> Option<Option<T>> {
    if value == word { Some(None) } else { value.parse().ok().map(Some) }
}

fn psi_form(value: &str) -> Option<PsiForm> {
    if value == NONE { Some(PsiForm::default()) } else { PsiForm::by_name(value) }
}

fn leak_bound(value: &str) -> Option<Option<Rho>> {
    if value == NONE {
        return Some(None);
    }
    value.parse().ok().and_then(Rho::from_bits).map(Some)
}

fn mac_choice(value: &str) -> Option<MacChoice> {
    match value.strip_suffix(COMPARISON_ONLY) {
        _ if value == NONE => Some(MacChoice::ByRho),
        Some(bits) => bits.parse().ok().map(MacChoice::ComparisonOnly),
        None => value.parse().ok().map(MacChoice::Length),
    }
}

/// How much is to be in all pools together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// AND gates; rounded up to whole chunks of 128.
    pub and_gates: u64,
    /// Input bits of each party.
    pub input_bits: u64,
}

impl Amount {
    pub(crate) const NOTHING: Amount = Amount { and_gates: 0, input_bits: 0 };

    pub(crate) fn add(&mut self, more: Amount) {
        self.and_gates += more.and_gates;
        self.input_bits += more.input_bits;
    }
}

/// What a session is for, with all that the parties must name alike for it besides the parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job<'a> {
    /// Evaluating a circuit in one go.
    Run(&'a Compiled),
    /// Evaluating this circuit as the first part of a computation, of whose other parts this is
    /// known.
    Parts(&'a Compiled, &'a [(String, String)]),
    /// Filling a pool up to this.
    Preprocess(Amount),
    /// Filling pools of components, until they are enough for so many runs of a circuit.
    PreprocessFor(&'a Compiled, u64),
    /// Preparing a circuit this many times, from this material.
    Prepare(&'a Compiled, u32, Material),
    /// Running a prepared circuit.
    RunPrepared(&'a Compiled),
    /// Making this many triples.
    Triples(u64),
    /// Telling each other about other sessions, which are these.
    Exchange(&'a [(&'static str, String)]),
}

/// What circuits are prepared from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Material {
    /// Pools where there is enough, and what is made on the spot otherwise.
    Any,
    /// Pools alone.
    Pools,
}

impl Job<'_> {
    fn circuit(&self) -> Option<&Compiled> {
        match *self {
            Job::Run(circuit)
            | Job::Parts(circuit, _)
            | Job::PreprocessFor(circuit, _)
            | Job::Prepare(circuit, ..)
            | Job::RunPrepared(circuit) => Some(circuit),
            Job::Preprocess(_) | Job::Triples(_) | Job::Exchange(_) => None,
        }
    }

    /// The kind of session, and what else is compared.
    fn values(&self) -> (&'static str, Vec<(&'static str, String)>) {
        // In words first: what comes first in the list is what a difference is told by.
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
            Job::Exchange(about) => ("exchange", about.to_vec()),
            Job::Triples(count) => ("triples", vec![("count", count.to_string())]),
        }
    }

    /// What is known of later parts, under names of its own.
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

/// What a party tells the others in the handshake of any session: its kind, all parameters, and
/// what it is about.
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
