//! A measurement between two machines: every session has a connection of its own, as with `run`.
//! Over one more connection the parties compare what they are going to measure, and exchange the
//! results, so that both have the same report.
//!
//! The peer's figures cannot be verified: they must have forms and bounds in which they do no harm,
//! and only means and plots are computed from them.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use symbolon::circuit::PartyId;
use symbolon::{Config, DEPENDENT, Exchange, INDEPENDENT, ONLINE, PhaseReport, SETUP, STREAMED};

use super::args::{BenchArgs, RemoteArgs};
use super::machine::Machine;
use super::plan::{Setting, Workload};
use super::session::{Session, options};
use crate::args::options::{LocalTransport, RemoteTransport};
use crate::args::{MeetArgs, RunArgs};
use crate::common::error::{CliError, CliResult, ErrorClass};
use crate::common::interrupt;
use crate::common::timeline::Span;
use crate::parties::connect;
use crate::parties::execute::{PartyRun, run_triples};
use crate::progress::Progress;
use crate::results::ChoiceJson;
use crate::results::party::{PartyResult, forget_peak_memory};
use crate::settings::Settings;

/// The most bytes of a party's results, besides those of each run.
const MOST: usize = 64 << 10;

/// The most bytes of a party's results for a run: a few phases and their times.
const MOST_OF_RUN: usize = 4 << 10;

/// The other machine.
pub struct Remote {
    settings: Settings,
    party: PartyId,
    exchange: Exchange,
    machines: [Machine; 2],
}

/// A party's results of a session.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerResults {
    phases: Vec<PhaseReport>,
    runs: Vec<Vec<PhaseReport>>,
    spans: Vec<Span>,
    choice: ChoiceJson,
    triples: u64,
    peak_memory: Option<u64>,
}

impl Remote {
    /// Connects to the other machine, if there is one, and compares what is to be measured.
    ///
    /// # Errors
    /// A usage failure before waiting for the peer; otherwise those of `run`.
    pub fn begin(args: &BenchArgs, settings: &[Setting]) -> CliResult<Option<Remote>> {
        let Some(party) = args.remote.party else { return Ok(None) };
        if args.dealer {
            return Err(CliError::usage("--dealer starts a dealer on this machine alone")
                .with_hint("between two machines, `run --dealer` names one that both reach"));
        }
        if settings.iter().any(|setting| setting.parties != 2) {
            return Err(CliError::usage("between two machines two parties are measured"));
        }
        let timeout = settings.iter().map(|setting| setting.tuning.timeout).max();
        let timeout = timeout.unwrap_or(symbolon::DEFAULT_TIMEOUT);
        let endpoint = (&args.remote, args.transport());
        Remote::meet(party, endpoint, timeout, &about(args, settings)).map(Some)
    }

    /// Connects to the other machine as this party, if both are to measure the same.
    ///
    /// # Errors
    /// Those of [`begin`](Remote::begin).
    pub fn meet(
        party: u16,
        (args, transport): (&RemoteArgs, LocalTransport),
        timeout: Duration,
        about: &[(&'static str, String)],
    ) -> CliResult<Remote> {
        let party = PartyId::new(party);
        let mut known = endpoint(args, transport, party)?;
        let transport = connect::transport(&known, party)?;
        if let Some(address) = transport.local_address() {
            // With port 0, all later sessions use the same port.
            known.listen = Some(address.to_string());
        }
        let config = Config::new(party, transport).cancelled_by(interrupt::handle()?);
        let config = config.timeout(timeout);
        let progress = Progress::begin()?;
        let config = progress.sink(party).attach(config);
        let mut exchange = Exchange::begin(config, about)?;
        drop(progress);
        let own = Machine::here();
        let theirs: Machine = read(&exchange.swap(&written(&own)?, MOST)?)?;
        let mut machines = [own, theirs.sanitised()];
        if party == 1 {
            machines.swap(0, 1);
        }
        Ok(Remote { settings: known, party, exchange, machines })
    }

    /// Returns both machines, by party.
    pub fn machines(&self) -> [Machine; 2] {
        self.machines.clone()
    }

    /// Runs this side of a session, and receives the costs of the other side.
    ///
    /// # Errors
    /// Those of `run`; a failure when the other side reports nonsense.
    pub fn session(&mut self, args: &BenchArgs, setting: &Setting) -> CliResult<Session> {
        let transport = connect::transport_again(&self.settings, self.party)?;
        let tuning = &setting.tuning;
        let config = tuning.apply_with_link(Config::new(self.party, transport))?;
        let known = forget_peak_memory();
        let progress = Progress::begin()?;
        let sink = progress.sink(self.party);
        let mut own = match &setting.workload {
            Workload::Triples(count) => run_triples(config, *count, &sink)?,
            Workload::Circuit(loaded) => {
                let executions = tuning.params.executions;
                let values = &loaded.inputs;
                let part = PartyRun::new(&loaded.circuit, self.party, values, executions)?;
                part.play(config, options(args, setting), &sink)?
            }
        };
        drop(progress);
        own.peak_memory = own.peak_memory.filter(|_| known);
        // There are two clocks, but both parties began together.
        let first = own.spans.iter().map(|span| span.begin).fold(f64::MAX, f64::min);
        own.spans.iter_mut().for_each(|span| span.begin -= first);
        let most = MOST + MOST_OF_RUN * own.runs.len();
        let text = written(&PeerResults::of(&own))?;
        // The same as the peer has, to the last digit.
        let own = read::<PeerResults>(&text)?.result();
        let theirs: PeerResults = read(&self.exchange.swap(&text, most)?)?;
        let theirs = theirs.checked(&own).ok_or_else(nonsense)?;
        Ok(if self.party == 0 { vec![own, theirs] } else { vec![theirs, own] })
    }
}

/// Returns how the other machine is reached.
fn endpoint(args: &RemoteArgs, transport: LocalTransport, party: PartyId) -> CliResult<Settings> {
    let remote = args.clone();
    let transport = match transport {
        LocalTransport::Tls => RemoteTransport::Tls,
        LocalTransport::Tcp => RemoteTransport::Tcp,
        LocalTransport::Memory => {
            return Err(CliError::usage(
                "two machines share no memory: --transport takes tls or tcp",
            ));
        }
    };
    let meet = MeetArgs {
        party: Some(party.number()),
        listen: remote.listen,
        connect: remote.connect,
        key: remote.key,
        peer_fingerprint: remote.peer_fingerprint,
        transport: Some(transport),
        ..MeetArgs::default()
    };
    Settings::of(&RunArgs { meet, ..RunArgs::default() })
}

/// Returns what both parties must agree to do. The sessions' own handshakes compare all parameters
/// and circuits.
fn about(args: &BenchArgs, settings: &[Setting]) -> Vec<(&'static str, String)> {
    let titles: Vec<String> = settings.iter().map(Setting::title).collect();
    let titles = titles.join("; ");
    // No more fits; the sessions report any other difference.
    let titles: String = titles.chars().take(1000).collect();
    let repeats = settings.iter().map(|setting| setting.repeat).max().unwrap_or(0);
    let fresh = settings.iter().filter(|setting| setting.fresh_session).count();
    vec![
        ("measurements", format!("{} of them: {titles}", settings.len())),
        ("repeat", repeats.to_string()),
        ("fresh sessions", fresh.to_string()),
        ("split-phases", args.split_phases.to_string()),
        ("one-by-one", args.one_by_one.to_string()),
    ]
}

fn written(own: &impl Serialize) -> CliResult<Vec<u8>> {
    serde_json::to_vec(own)
        .map_err(|error| CliError::internal(format!("cannot write JSON: {error}")))
}

fn read<T: DeserializeOwned>(text: &[u8]) -> CliResult<T> {
    serde_json::from_slice(text).map_err(|_| nonsense())
}

fn nonsense() -> CliError {
    CliError::new(
        ErrorClass::Incompatible,
        "the other party reported results of another measurement",
    )
}

impl PeerResults {
    fn of(own: &PartyResult) -> PeerResults {
        PeerResults {
            phases: own.phases.clone(),
            runs: own.runs.clone(),
            spans: own.spans.clone(),
            choice: own.choice.clone(),
            triples: own.triples,
            peak_memory: own.peak_memory,
        }
    }

    /// Returns the peer's result of a session in which this party's is `own`, if it is plausible.
    fn checked(self, own: &PartyResult) -> Option<PartyResult> {
        let PeerResults { phases, runs, spans, choice, triples, peak_memory } = &self;
        let few = |costs: &Vec<PhaseReport>| costs.len() <= KNOWN.len();
        let costs = || phases.iter().chain(runs.iter().flatten());
        let sane = *choice == own.choice
            && *triples == own.triples
            && runs.len() == own.runs.len()
            && few(phases)
            && runs.iter().all(few)
            && costs().all(is_sane)
            && spans.len() <= KNOWN.len() * (runs.len() + 1)
            && spans.iter().all(|span| {
                KNOWN.contains(&span.phase.as_str())
                    && is_time(span.begin)
                    && is_time(span.seconds)
                    && (span.run as usize) < runs.len().max(1)
            })
            && peak_memory.is_none_or(|peak| peak <= MOST_COUNTED);
        sane.then(|| self.result())
    }

    fn result(self) -> PartyResult {
        let PeerResults { phases, runs, spans, choice, triples, peak_memory } = self;
        let empty = PartyResult::empty();
        PartyResult { phases, runs, spans, choice, triples, peak_memory, ..empty }
    }
}

/// All phases.
const KNOWN: [&str; 5] = [SETUP, INDEPENDENT, DEPENDENT, ONLINE, STREAMED];

/// No party counts more bytes, messages or rounds.
const MOST_COUNTED: u64 = 1 << 56;

fn is_time(seconds: f64) -> bool {
    (0.0..=1e8).contains(&seconds)
}

fn is_sane(cost: &PhaseReport) -> bool {
    let PhaseReport {
        phase,
        bytes_sent,
        bytes_received,
        messages_sent,
        messages_received,
        rounds,
        seconds,
        cpu_seconds,
    } = cost;
    let counts = [bytes_sent, bytes_received, messages_sent, messages_received, rounds];
    KNOWN.contains(&phase.as_str())
        && counts.into_iter().all(|count| *count <= MOST_COUNTED)
        && is_time(*seconds)
        && cpu_seconds.is_none_or(is_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> PartyResult {
        let cost = |phase: &str| PhaseReport {
            phase: phase.to_string(),
            bytes_sent: 1,
            bytes_received: 2,
            messages_sent: 3,
            messages_received: 4,
            rounds: 5,
            seconds: 0.5,
            cpu_seconds: None,
        };
        PartyResult {
            phases: vec![cost(SETUP), cost(ONLINE)],
            runs: vec![vec![cost(ONLINE)], vec![cost(ONLINE)]],
            spans: vec![Span { run: 1, phase: ONLINE.into(), begin: 1.0, seconds: 0.5 }],
            peak_memory: Some(9),
            ..PartyResult::empty()
        }
    }

    /// A peer that reports impossible figures is not believed, and they reach no plot.
    #[test]
    fn what_cannot_be_is_refused() {
        let own = own();
        assert!(PeerResults::of(&own).checked(&own).is_some());
        let lies: [fn(&mut PeerResults); 14] = [
            |results| results.phases[0].phase = "\u{1b}[2J".to_string(),
            |results| results.phases[0].seconds = -1.0,
            |results| results.phases[0].seconds = f64::NAN,
            |results| results.runs[1][0].seconds = 1e300,
            |results| results.runs[0][0].cpu_seconds = Some(f64::INFINITY),
            |results| results.runs[0][0].bytes_sent = u64::MAX,
            |results| drop(results.runs.pop()),
            |results| results.runs[0] = vec![results.runs[0][0].clone(); 6],
            |results| results.spans[0].run = 2,
            |results| results.spans[0].begin = -1.0,
            |results| results.spans[0].phase = "idle".to_string(),
            |results| results.spans = vec![results.spans[0].clone(); 16],
            |results| results.choice.ot = "another".to_string(),
            |results| results.triples = 1,
        ];
        for (number, lie) in lies.into_iter().enumerate() {
            let mut results = PeerResults::of(&own);
            lie(&mut results);
            assert!(results.checked(&own).is_none(), "lie {number}");
        }
        for text in ["", "{}", "[]", "nonsense", "{\"phases\":1e999}"] {
            assert!(serde_json::from_str::<PeerResults>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn another_machine_s_texts_are_short_and_plain() {
        let wild = "\u{1b}[2J<script>\n".repeat(100);
        let machine = Machine {
            system: wild.clone(),
            processor: Some(wild.clone()),
            load: Some(f64::MAX),
            ..Machine::here()
        };
        let line = machine.sanitised().line();
        assert!(line.len() < 700 && !line.contains(['\u{1b}', '\n']), "{line}");
    }
}
