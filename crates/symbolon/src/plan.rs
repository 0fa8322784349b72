//! Compares all ways of running a circuit before it is run: what each sends, and how long it takes
//! over a given link.
//!
//! Bytes follow from the [forecasts](symbolon_protocols::forecast) of the protocols, and are those
//! of a run on one thread, without the handshake. Seconds come from playing the forecast's steps
//! over the link, with the [times of work](Rates) that [`calibrate`] measured or a typical machine
//! has.

mod calibrate;
#[cfg(feature = "serde")]
mod file;
mod rates;
mod trial;

use symbolon_protocols::forecast::{Forecast, SETUP, Way};
use symbolon_protocols::options::Value;
use symbolon_protocols::{Compiled, GateForm, OtExtension, Protocol, Rho, RunTerms, SEGMENT_GATES};
use symbolon_transport::script::{LinkModel, play};
use symbolon_transport::{Error, Result, SimulatedLink};

use crate::session::{BatchPlan, BatchWindows};

pub use calibrate::calibrate;
#[cfg(feature = "serde")]
pub use file::{Kept, cache_folder, kept_rates, rates_file};
pub use rates::{Rates, units};
pub use symbolon_transport::script::Unit;
pub use trial::{Times, trial};

/// What is to be planned.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest {
    /// How many parties.
    pub parties: u16,
    /// How many evaluations, in one session.
    pub evaluations: u64,
    /// The link between any two parties.
    pub link: SimulatedLink,
    /// Statistical security.
    pub rho: Rho,
    /// The machine of each party.
    pub machine: Machine,
}

/// The machine on which a party runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// How many threads it runs at a time.
    pub cores: u16,
    /// How many of the parties share it.
    pub parties: u16,
}

impl Machine {
    /// Returns a machine like this one, for one party alone.
    pub fn here() -> Machine {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { cores: u16::try_from(cores).unwrap_or(u16::MAX), parties: 1 }
    }
}

impl PlanRequest {
    /// Requests a plan for one evaluation between two parties at ρ = 40 over this link, on machines
    /// like this one.
    pub fn over(link: SimulatedLink) -> PlanRequest {
        let machine = Machine::here();
        PlanRequest { parties: 2, evaluations: 1, link, rho: Rho::Bits40, machine }
    }
}

/// A way of running a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The protocol.
    pub protocol: Protocol,
    /// The form of garbling.
    pub form: GateForm,
    /// The OT extension.
    pub ot: OtExtension,
    /// An option of the protocol that is not at its default, and its value.
    pub option: Option<(&'static str, &'static str)>,
}

impl Combination {
    /// Returns all that run among this many parties.
    pub fn all(parties: u16) -> impl Iterator<Item = Combination> {
        let possible = Protocol::ALL.iter().filter(move |one| one.parties().contains(&parties));
        possible.flat_map(|&protocol| {
            protocol.forms().iter().flat_map(move |&form| {
                protocol.extensions().iter().flat_map(move |&ot| {
                    let of = move |option| Combination { protocol, form, ot, option };
                    proposed(protocol).map(of)
                })
            })
        })
    }

    /// Returns the options of the protocol.
    pub fn options(self) -> symbolon_protocols::Options {
        let mut options = symbolon_protocols::Options::default();
        if let Some((name, word)) = self.option {
            let all = self.protocol.options().iter();
            all.filter(|one| one.spec.name == name)
                .for_each(|one| options.set(one, Some(Value::Word(word))));
        }
        options
    }

    /// Returns the option as it is given to a command; empty if there is none.
    pub fn flag(self) -> String {
        self.option.map_or_else(String::new, |(name, word)| format!("--{name} {word}"))
    }
}

/// Returns what a plan compares of a protocol's options: the defaults, and what they propose, each
/// by itself.
fn proposed(protocol: Protocol) -> impl Iterator<Item = Option<(&'static str, &'static str)>> {
    let words = protocol
        .options()
        .iter()
        .flat_map(|option| option.proposed.iter().map(|word| Some((option.spec.name, *word))));
    std::iter::once(None).chain(words)
}

/// One way of running the circuit, for all evaluations together.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The protocol, the form and the OT extension.
    pub way: Combination,
    /// Bytes that all parties together send in the set-up, after the handshake.
    pub setup_bytes: u64,
    /// Bytes that all parties together send after the set-up.
    pub bytes: u64,
    /// By how many percent a run's bytes may differ; zero if they are exact.
    pub within_percent: u8,
    /// Rounds of the party that has most, with the set-up, as the reports count them. Those of
    /// `duplo` and `dualex` are approximate.
    pub rounds: u64,
    /// Seconds of the set-up.
    pub setup_seconds: f64,
    /// Seconds after the set-up.
    pub seconds: f64,
    /// About how many bytes of memory the party that needs most holds at its peak.
    pub memory: u64,
}

impl Alternative {
    /// Returns the seconds of all phases.
    pub fn all_seconds(&self) -> f64 {
        self.setup_seconds + self.seconds
    }
}

/// Returns every way of running `circuit` that a protocol has, the fastest first on machines that
/// work as fast as `rates` says.
///
/// # Errors
/// `InvalidInput` if no protocol can run it.
pub fn alternatives(
    circuit: &Compiled,
    request: PlanRequest,
    rates: &Rates,
) -> Result<Vec<Alternative>> {
    let mut all = Vec::new();
    let mut refused = Error::invalid_input("no protocol runs among this many parties");
    for way in Combination::all(request.parties) {
        match alternative(circuit, way, request, rates) {
            Ok(one) => all.push(one),
            Err(error @ Error::InvalidInput(_)) => refused = error,
            Err(error) => return Err(error),
        }
    }
    all.sort_by(|a: &Alternative, b| a.all_seconds().total_cmp(&b.all_seconds()));
    if all.is_empty() { Err(refused) } else { Ok(all) }
}

/// Windows that follow one another, each alike. The set-up of the first ones is that of the
/// session; the others have none.
struct Part {
    forecast: Forecast,
    times: u64,
}

/// Forecasts all evaluations.
fn parts(circuit: &Compiled, way: Combination, request: PlanRequest) -> Result<Vec<Part>> {
    let PlanRequest { parties, evaluations, rho, .. } = request;
    let Combination { protocol, form, ot, .. } = way;
    let options = way.options();
    let terms = RunTerms { rho, options: &options, ..RunTerms::default() };
    let sized = |n: u64| usize::try_from(n).map_err(|_| Error::invalid_input("too many"));
    let plan = BatchPlan::new(protocol, circuit, parties, terms, evaluations)?;
    let part = |BatchWindows { windows, executions, times }| {
        let terms = RunTerms { executions: sized(executions)?, ..terms };
        let together = sized(windows)?;
        // Windows that share nothing are made one after the other.
        let shares = protocol.batches_together(circuit, terms, together)?.is_some();
        let times = if shares { times } else { times.saturating_mul(windows) };
        let together = together.max(1);
        let way = Way { parties, form, ot, terms, together, segment_gates: SEGMENT_GATES };
        Ok(Part { forecast: protocol.forecast(circuit, &way)?, times })
    };
    let parts: Vec<Part> = plan.windows().into_iter().map(part).collect::<Result<_>>()?;
    if ot == OtExtension::Ferret && parts.iter().map(|part| part.times).sum::<u64>() > 1 {
        // Each takes what earlier ones left, so they are not alike.
        return Err(Error::invalid_input("silent OT is forecast for one evaluation at a time"));
    }
    Ok(parts)
}

fn alternative(
    circuit: &Compiled,
    way: Combination,
    request: PlanRequest,
    rates: &Rates,
) -> Result<Alternative> {
    let link = LinkModel {
        trip: request.link.round_trip.as_secs_f64() / 2.0,
        byte: 8.0 / request.link.bits_per_second.max(1) as f64,
    };
    let mut sum = Alternative {
        way,
        setup_bytes: 0,
        bytes: 0,
        within_percent: 0,
        rounds: 0,
        setup_seconds: 0.0,
        seconds: 0.0,
        memory: 0,
    };
    for (number, Part { forecast, times }) in parts(circuit, way, request)?.iter().enumerate() {
        let is_first = number == 0;
        let [setup, seconds] =
            seconds(forecast, link, |unit| rates.elapsed(unit, request.machine))?;
        if is_first {
            sum.setup_seconds = setup + rates.handshake(request.parties, link);
        }
        sum.seconds += seconds * *times as f64;
        let mut most_rounds = [0; 2];
        for script in &forecast.scripts {
            let mut rounds = [0; 2];
            for phase in script.phases() {
                let is_setup = phase.phase == SETUP;
                rounds[usize::from(is_setup)] += phase.rounds;
                let bytes = phase.sent.bytes;
                match is_setup {
                    true if is_first => sum.setup_bytes = sum.setup_bytes.saturating_add(bytes),
                    true => {}
                    false => sum.bytes = sum.bytes.saturating_add(bytes.saturating_mul(*times)),
                }
            }
            most_rounds = [0, 1].map(|which| rounds[which].max(most_rounds[which]));
        }
        let setup_rounds = if is_first { most_rounds[1] } else { 0 };
        let rounds = most_rounds[0].saturating_mul(*times).saturating_add(setup_rounds);
        sum.rounds = sum.rounds.saturating_add(rounds);
        sum.memory = sum.memory.max(forecast.memory);
        sum.within_percent = sum.within_percent.max(forecast.within_percent);
    }
    Ok(sum)
}

/// Returns the seconds until the last party ends the set-up, and those after it.
fn seconds(
    forecast: &Forecast,
    link: LinkModel,
    elapsed: impl Fn(Unit) -> f64,
) -> Result<[f64; 2]> {
    let played = play(&forecast.scripts, link, elapsed);
    let played = played.ok_or_else(|| Error::internal("a forecast awaits what nobody sends"))?;
    let [mut setup, mut all] = [0f64; 2];
    for phases in played {
        let of_setup: f64 = phases.iter().filter(|one| one.0 == SETUP).map(|one| one.1).sum();
        setup = setup.max(of_setup);
        all = all.max(phases.iter().map(|one| one.1).sum());
    }
    Ok([setup, all - setup])
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builtin;

    use super::*;
    use crate::{DEPENDENT, ONLINE};

    fn plan(name: &str, request: PlanRequest) -> Vec<Alternative> {
        let circuit = builtin::by_name(name).unwrap();
        alternatives(&Compiled::new(&circuit), request, &Rates::built_in()).unwrap()
    }

    /// Every way is run, between two parties in this process.
    #[test]
    fn bytes_are_those_of_runs() {
        let circuit = builtin::by_name("add:8").unwrap();
        for evaluations in [1, 3] {
            let request = PlanRequest { evaluations, ..PlanRequest::over(SimulatedLink::LAN) };
            let all = plan("add:8", request);
            let ways = |one: &Protocol| {
                let at_once = evaluations == 1 || one.runs_batches();
                let silent = one.extensions().contains(&OtExtension::Ferret);
                let extensions = one.extensions().len() - usize::from(silent && !at_once);
                extensions * one.forms().len() * proposed(*one).count()
            };
            let ways: usize = Protocol::ALL.iter().map(ways).sum();
            assert_eq!(all.len(), ways);
            assert!(all.is_sorted_by(|a, b| a.all_seconds() <= b.all_seconds()));
            for way in all {
                let reports = trial::reports(&circuit, way.way, request, None).unwrap();
                let phases = reports.iter().flat_map(|report| &report.phases);
                let ran = phases.filter(|one| [DEPENDENT, ONLINE].contains(&&*one.phase));
                let bytes: u64 = ran.map(|one| one.bytes_sent).sum();
                if way.within_percent == 0 {
                    assert_eq!(bytes, way.bytes, "{way:?}");
                } else {
                    let most = way.bytes * u64::from(way.within_percent) / 100 + 4_000;
                    assert!(bytes.abs_diff(way.bytes) <= most, "{bytes}, {way:?}");
                }
            }
        }
    }

    #[test]
    fn the_link_decides_between_rounds_and_bytes() {
        let first = |name: &str, link: &str, protocol: Protocol| {
            let all = plan(name, PlanRequest::over(link.parse().unwrap()));
            all.into_iter().find(|one| one.way.protocol == protocol).unwrap()
        };
        let far = first("add:8", "75ms,1gbit", Protocol::Wrk);
        assert_eq!(far.way.form, GateForm::FourRow, "one round less");
        let narrow = first("aes128", "1ms,10mbit", Protocol::Wrk);
        assert_eq!(narrow.way.form, GateForm::HalfGates, "half the bytes");
        assert_eq!(narrow.way.ot.name(), "softspoken8");
        // Sixty layers of one round each cost more than a few rounds of garbling.
        let aes = plan("aes128", PlanRequest::over(SimulatedLink::WAN));
        let seconds = |protocol| {
            aes.iter()
                .find(|one| one.way.protocol == protocol)
                .map_or(0.0, Alternative::all_seconds)
        };
        assert!(seconds(Protocol::TinyTable) > seconds(Protocol::Wrk) + 1.0);
    }

    #[test]
    fn only_some_protocols_run_among_three() {
        let request = PlanRequest { parties: 3, ..PlanRequest::over(SimulatedLink::LAN) };
        let all = plan("auction:3x8", request);
        assert!(all.iter().all(|one| one.way.protocol == Protocol::Ywz) && all.len() == 5);
        let circuit = Compiled::new(&builtin::by_name("auction:3x8").unwrap());
        let nobody = PlanRequest { parties: 300, ..request };
        assert!(matches!(
            alternatives(&circuit, nobody, &Rates::built_in()),
            Err(Error::InvalidInput(_))
        ));
    }
}
