//! Compares all ways of running a circuit before it is run: what each sends, and how long it takes
//! over a given link.
//!
//! Bytes follow from the [forecasts](symbolon_protocols::forecast) of the protocols, and are those
//! of a run on one thread, without the handshake. Seconds come from playing the forecast's steps
//! over the link, with the times of work on a typical machine: use them to compare.

use symbolon_protocols::forecast::{SETUP, Way};
use symbolon_protocols::{Compiled, GateForm, OtExtension, Protocol, Rho, RunTerms, SEGMENT_GATES};
use symbolon_transport::script::{LinkModel, play};
use symbolon_transport::{Error, Result, SimulatedLink};

use crate::session::{BatchPlan, BatchWindows};

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
}

impl PlanRequest {
    /// Requests a plan for one evaluation between two parties at ρ = 40 over this link.
    pub fn over(link: SimulatedLink) -> PlanRequest {
        PlanRequest { parties: 2, evaluations: 1, link, rho: Rho::Bits40 }
    }
}

/// One way of running the circuit, for all evaluations together.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The protocol.
    pub protocol: Protocol,
    /// The form of garbling.
    pub form: GateForm,
    /// The OT extension.
    pub ot: OtExtension,
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

/// Returns every way of running `circuit` that a protocol has, the fastest first.
///
/// # Errors
/// `InvalidInput` if no protocol can run it.
pub fn alternatives(circuit: &Compiled, request: PlanRequest) -> Result<Vec<Alternative>> {
    let mut all = Vec::new();
    let mut refused = Error::invalid_input("no protocol runs among this many parties");
    let possible = Protocol::ALL.iter().filter(|one| one.parties().contains(&request.parties));
    for protocol in possible {
        for form in protocol.forms() {
            for ot in OtExtension::ALL {
                match alternative(circuit, (*protocol, *form, ot), request) {
                    Ok(one) => all.push(one),
                    Err(error @ Error::InvalidInput(_)) => refused = error,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    all.sort_by(|a: &Alternative, b| a.all_seconds().total_cmp(&b.all_seconds()));
    if all.is_empty() { Err(refused) } else { Ok(all) }
}

fn alternative(
    circuit: &Compiled,
    (protocol, form, ot): (Protocol, GateForm, OtExtension),
    request: PlanRequest,
) -> Result<Alternative> {
    let PlanRequest { parties, evaluations, link, rho } = request;
    let terms = RunTerms { rho, ..RunTerms::default() };
    let model = LinkModel {
        trip: link.round_trip.as_secs_f64() / 2.0,
        byte: 8.0 / link.bits_per_second.max(1) as f64,
    };
    let mut sum = Alternative {
        protocol,
        form,
        ot,
        setup_bytes: 0,
        bytes: 0,
        within_percent: 0,
        rounds: 0,
        setup_seconds: 0.0,
        seconds: 0.0,
        memory: 0,
    };
    let plan = BatchPlan::new(protocol, circuit, parties, terms, evaluations)?;
    for BatchWindows { windows, executions, times } in plan.windows() {
        let sized = |n: u64| usize::try_from(n).map_err(|_| Error::invalid_input("too many"));
        let terms = RunTerms { executions: sized(executions)?, ..terms };
        let together = sized(windows)?;
        let way = Way { parties, form, ot, terms, together, segment_gates: SEGMENT_GATES };
        // Windows that share nothing are made one after the other.
        let shares = protocol.batches_together(circuit, terms, together)?.is_some();
        let times = if shares { times } else { times.saturating_mul(windows) };
        let forecast = protocol.forecast(circuit, &Way { together: together.max(1), ..way })?;
        let unsent = || Error::internal("a forecast awaits what nobody sends");
        let played =
            play(&forecast.scripts, model, |unit| unit.nanos() * 1e-9).ok_or_else(unsent)?;
        let is_first = sum.memory == 0;
        for (phase, seconds) in played {
            match phase == SETUP {
                true if is_first => sum.setup_seconds = seconds,
                true => {}
                false => sum.seconds += seconds * times as f64,
            }
        }
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
                    false => sum.bytes = sum.bytes.saturating_add(bytes.saturating_mul(times)),
                }
            }
            most_rounds = [0, 1].map(|which| rounds[which].max(most_rounds[which]));
        }
        let setup_rounds = if is_first { most_rounds[1] } else { 0 };
        let rounds = most_rounds[0].saturating_mul(times).saturating_add(setup_rounds);
        sum.rounds = sum.rounds.saturating_add(rounds);
        sum.memory = sum.memory.max(forecast.memory);
        sum.within_percent = sum.within_percent.max(forecast.within_percent);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::{Circuit, builtin};

    use super::*;
    use crate::{Config, DEPENDENT, Inputs, ONLINE, Session, Transport};

    fn plan(name: &str, request: PlanRequest) -> Vec<Alternative> {
        let circuit = builtin::by_name(name).unwrap();
        alternatives(&Compiled::new(&circuit), request).unwrap()
    }

    /// Returns the bytes that a party sends after the set-up of a session like this.
    fn sent(party: u16, transport: Transport, circuit: &Circuit, way: &Alternative, n: u64) -> u64 {
        let config = Config::new(party, transport).protocol(way.protocol).executions(n);
        let mut session = Session::connect(config.form(way.form).ot(way.ot), circuit).unwrap();
        let inputs = (0..n).map(|i| {
            Inputs::builder(circuit, party).uint(usize::from(party), u128::from(i))?.finish()
        });
        session.evaluate_batch(inputs, |_| Ok(())).unwrap();
        let report = session.report();
        let phases = report.phases.iter();
        phases
            .filter(|one| [DEPENDENT, ONLINE].contains(&&*one.phase))
            .map(|one| one.bytes_sent)
            .sum()
    }

    /// Every way is run, between two parties in this process.
    #[test]
    fn bytes_are_those_of_runs() {
        let circuit = builtin::by_name("add:8").unwrap();
        for evaluations in [1, 3] {
            let request = PlanRequest { evaluations, ..PlanRequest::over(SimulatedLink::LAN) };
            let all = plan("add:8", request);
            let ways: usize = Protocol::ALL.iter().map(|one| 4 * one.forms().len()).sum();
            assert_eq!(all.len(), ways);
            assert!(all.is_sorted_by(|a, b| a.all_seconds() <= b.all_seconds()));
            for way in all {
                let (zero, one) = Transport::memory(1, None).unwrap();
                let bytes = std::thread::scope(|scope| {
                    let zero = scope.spawn(|| sent(0, zero, &circuit, &way, evaluations));
                    sent(1, one, &circuit, &way, evaluations) + zero.join().unwrap()
                });
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
            all.into_iter().find(|one| one.protocol == protocol).unwrap()
        };
        let far = first("add:8", "75ms,1gbit", Protocol::Wrk);
        assert_eq!(far.form, GateForm::FourRow, "one round less");
        let narrow = first("aes128", "1ms,10mbit", Protocol::Wrk);
        assert_eq!(narrow.form, GateForm::HalfGates, "half the bytes");
        assert_eq!(narrow.ot.name(), "softspoken8");
        // Sixty layers of one round each cost more than a few rounds of garbling.
        let aes = plan("aes128", PlanRequest::over(SimulatedLink::WAN));
        let seconds = |protocol| {
            aes.iter().find(|one| one.protocol == protocol).map_or(0.0, Alternative::all_seconds)
        };
        assert!(seconds(Protocol::TinyTable) > seconds(Protocol::Wrk) + 1.0);
    }

    #[test]
    fn only_some_protocols_run_among_three() {
        let request = PlanRequest { parties: 3, ..PlanRequest::over(SimulatedLink::LAN) };
        let all = plan("auction:3x8", request);
        assert!(all.iter().all(|one| one.protocol == Protocol::Ywz) && all.len() == 4);
        let circuit = Compiled::new(&builtin::by_name("auction:3x8").unwrap());
        let nobody = PlanRequest { parties: 300, ..request };
        assert!(matches!(alternatives(&circuit, nobody), Err(Error::InvalidInput(_))));
    }
}
