//! What the parties of a session must share: the parameters, and the kind of session. A single list
//! of them makes the handshake of every session.
//!
//! A parameter is a field of [`SessionParams`]. [`SessionParams::values`] destructures the struct
//! without `..`, so a new field does not compile until it is in the list. [`hello`] puts the whole
//! list into the handshake of every kind of session, even if that kind does not use a parameter
//! today. Facts that only one party needs (time-outs, links, keys, paths) are not here.

use std::str::FromStr;

use symbolon_protocols::{
    Compiled, GateForm, KappaBPer, MacLength, OtExtension, Protocol, PsiForm, Rho, SEGMENT_GATES,
};
use symbolon_transport::{AUTO, Error, Hello, PartyId, Result, SESSION_KIND};

use crate::describe;

/// The parameters that a party may leave open, in the order of the handshake.
pub(crate) const OPEN: [&str; 2] = ["form", "ot"];

/// The value of a parameter that the protocol does not have, or of the dealer if there is none.
const NONE: &str = "none";

/// The value if the components are chosen by cost.
const BY_COST: &str = "by cost";

/// Separates names of components.
const SEPARATOR: &str = "; ";

/// The default number of AND gates in a pool: some seconds of work, and enough for a large circuit,
/// which is prepared from a single pool.
pub const POOL_GATES: u64 = 1 << 24;

/// The maximum total length of the names of components, in bytes.
const MAX_NAMES: usize = 1024;

/// A plan whose names and values are longer than this, in bytes, is compared by its digest: a hello
/// has room for no more than 16 KiB.
const MAX_PLAN: usize = 6000;

/// Follows the length of MACs that are too short for ρ, so that nobody uses them by mistake.
const COMPARISON_ONLY: &str = " for comparisons only";

/// Everything on which all parties of a session must agree. The handshake of every session compares
/// all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionParams {
    /// The protocol.
    pub protocol: Protocol,
    /// The statistical security parameter.
    pub rho: Rho,
    /// The form of garbling, one of [`Protocol::forms`]; `None` leaves it to the others or the
    /// link.
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
    /// [supports](Protocol::runs_in_flight) it; at least 1. With `None`, each message of a batch
    /// covers all of its evaluations.
    pub in_flight: Option<usize>,
    /// The length of the MACs on opened bits.
    pub mac: MacChoice,
    /// How [`DualEx`](Protocol::DualEx) intersects the parties' results. Other protocols have no
    /// choice.
    pub psi: PsiForm,
    /// κ_b of [`DualEx`](Protocol::DualEx): a bit of an input leaks with probability at most
    /// 2^-κ_b. `None` means ρ, which bounds all other failures. Other protocols leak no bit, and
    /// have no choice.
    pub kappa_b: Option<Rho>,
    /// Whether κ_b bounds leaks of any evaluation, or of a given one.
    pub kappa_b_per: KappaBPer,
    /// Circuits with more AND gates than this are garbled and evaluated about this many gates at a
    /// time; at least 1.
    pub segment_gates: u64,
    /// A pool is closed after this many AND gates, and another one begun; at least 1.
    pub pool_gates: u64,
    /// The names of the components of the circuit that [`Duplo`](Protocol::Duplo) garbles, in any
    /// order. If it is empty, the cost decides. Other protocols have no choice.
    pub components: Vec<String>,
    /// The [name](crate::Dealer::name) of the dealer that all parties trust, if any.
    pub dealer: Option<String>,
}

/// The length of the MACs on the bits that [`TinyTable`](Protocol::TinyTable) opens. Other
/// protocols have no choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MacChoice {
    /// The shortest length that suffices for ρ.
    #[default]
    ByRho,
    /// This length. It is rejected if it is too short for ρ.
    Length(MacLength),
    /// This length, even if it is too short for ρ, so that a wrong bit passes unnoticed more often
    /// than ρ promises. For comparisons with published figures, on inputs that are not secret.
    ComparisonOnly(MacLength),
}

impl From<MacLength> for MacChoice {
    fn from(length: MacLength) -> Self {
        MacChoice::Length(length)
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
            mac: MacChoice::default(),
            psi: PsiForm::default(),
            kappa_b: None,
            kappa_b_per: KappaBPer::default(),
            segment_gates: SEGMENT_GATES,
            pool_gates: POOL_GATES,
            components: Vec::new(),
            dealer: None,
        }
    }

    /// Returns the length of the MACs on opened bits, if the protocol has a choice.
    pub fn mac_length(&self) -> Option<MacLength> {
        self.protocol.has_mac_length().then(|| match self.mac {
            MacChoice::ByRho => MacLength::for_rho(self.rho),
            MacChoice::Length(length) | MacChoice::ComparisonOnly(length) => length,
        })
    }

    /// Returns whether the MACs are shorter than ρ demands, as they are only for comparisons.
    pub fn has_weak_macs(&self) -> bool {
        self.mac_length().is_some_and(|length| !length.suffices(self.rho))
    }

    /// Returns κ_b, the bound on leaked bits, if the protocol has one of its own.
    pub fn leak_bound(&self) -> Option<Rho> {
        self.protocol.has_kappa_b().then(|| self.kappa_b.unwrap_or(self.rho))
    }

    /// Returns which leaks κ_b bounds, if the protocol has one of its own.
    pub fn leak_bound_per(&self) -> Option<KappaBPer> {
        self.protocol.has_kappa_b().then_some(self.kappa_b_per)
    }

    /// Returns every parameter by name, in the order in which they are compared; "auto" is the
    /// value of an open one. Parties fit together if their lists are equal. The names are those of
    /// the command's options, and so `batch` is [`executions`](SessionParams::executions).
    pub fn values(&self) -> Vec<(&'static str, String)> {
        // There is no `..`, so that a new field does not compile until it is compared, too.
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
            kappa_b_per: _,
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
        let kappa_b_per = self.leak_bound_per().map(|per| per.name().to_string());
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
            ("kappa-b-per", kappa_b_per.unwrap_or_else(|| NONE.to_string())),
            ("segment_gates", segment_gates.to_string()),
            ("pool_gates", pool_gates.to_string()),
            ("components", self.component_names().unwrap_or_else(|| NONE.to_string())),
            ("dealer", dealer.clone().unwrap_or_else(|| NONE.to_string())),
        ]
    }

    /// Returns the names of the components to garble in one line, in the same order for all
    /// parties, if the protocol has a choice of components.
    pub(crate) fn component_names(&self) -> Option<String> {
        let mut names: Vec<&str> = self.components.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let names = if names.is_empty() { BY_COST.to_string() } else { names.join(SEPARATOR) };
        self.protocol.has_components().then_some(names)
    }

    /// Sets the parameter `key` to a value in the form that [`values`](SessionParams::values)
    /// returns.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such parameter, or it has no such value; the text says which
    /// values it has.
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
            "kappa-b-per" => put(&mut self.kappa_b_per, leak_bound_per(value)),
            "segment_gates" => put(&mut self.segment_gates, value.parse().ok()),
            "pool_gates" => put(&mut self.pool_gates, value.parse().ok()),
            "components" => put(&mut self.components, component_list(self.protocol, value)),
            "dealer" => put(&mut self.dealer, unless(NONE, value)),
            _ => return Err(Error::invalid_input(format!("there is no parameter `{key}`"))),
        };
        if known {
            return Ok(());
        }
        let text = format!("{key} has no such value; it takes {}", possible(key));
        Err(Error::invalid_input(text))
    }

    /// Rejects parameters that are out of range or contradict each other.
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
            kappa_b_per,
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
        let has_leak_bound = kappa_b.is_some() || *kappa_b_per != KappaBPer::default();
        if has_leak_bound && !protocol.has_kappa_b() {
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

/// Rejects names of components that cannot be compared in one line, or that the protocol does not
/// use.
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

/// Sets `field` if there is a value; returns whether there is one.
fn put<T>(field: &mut T, value: Option<T>) -> bool {
    value.map(|value| *field = value).is_some()
}

/// Returns the values that a parameter takes, for messages.
fn possible(key: &str) -> String {
    match key {
        "protocol" => {
            let names: Vec<&str> = Protocol::ALL.iter().map(|one| one.name()).collect();
            names.join(", ")
        }
        "rho" => "40, 64 or 80".to_string(),
        "kappa-b" => format!("{NONE}, 40, 64 or 80"),
        "kappa-b-per" => KappaBPer::ALL.map(KappaBPer::name).join(" or "),
        "form" => format!("{AUTO}, {}", GateForm::ALL.map(GateForm::name).join(", ")),
        "ot" => format!("{AUTO}, {}", OtExtension::ALL.map(OtExtension::name).join(", ")),
        "mac-bits" => "32, 64 or 128".to_string(),
        "psi" => PsiForm::ALL.map(PsiForm::name).join(" or "),
        "in-flight" => format!("{NONE} or a number"),
        "components" => "names only for a protocol with components".to_string(),
        _ => "a number".to_string(),
    }
}

/// Returns `Some(None)` for `word`, otherwise the parsed value; `None` if it does not parse.
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

fn leak_bound_per(value: &str) -> Option<KappaBPer> {
    if value == NONE { Some(KappaBPer::default()) } else { KappaBPer::by_name(value) }
}

fn mac_choice(value: &str) -> Option<MacChoice> {
    match value.strip_suffix(COMPARISON_ONLY) {
        _ if value == NONE => Some(MacChoice::ByRho),
        Some(bits) => bits.parse().ok().map(MacChoice::ComparisonOnly),
        None => value.parse().ok().map(MacChoice::Length),
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
            | Job::RunPrepared(circuit) => Some(circuit),
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
