//! One party's part in a run, however it is connected.

use serde::{Deserialize, Serialize};
use symbolon::circuit::{Circuit, PartyId};
use symbolon::stored::RunPrepared;
use symbolon::{Config, Inputs, Outputs, Report, SETUP, Session};

use crate::batch::{BatchInputs, BatchOutputs, play_batch};
use crate::error::{CliError, CliResult};
use crate::progress::{Event, Sink};
use crate::results::{ChoiceJson, OutputJson, PhaseJson, phases};
use crate::timeline::{Span, Timeline};
use crate::tinytable_party::TableJson;
use crate::values::{Resolved, inputs_of};

/// How the phases of a circuit run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// How often, at least once.
    pub repeat: u32,
    /// Whether the function-independent phase runs apart, as if its material were to be kept for
    /// any circuit.
    pub split_phases: bool,
    /// Whether the evaluations of a batch are prepared together and then run one after the other.
    #[serde(default)]
    pub one_by_one: bool,
}

impl RunOptions {
    /// All at once, once.
    pub const ONCE: RunOptions = RunOptions { repeat: 1, split_phases: false, one_by_one: false };
}

/// What a party has at the end.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartyResult {
    /// The outputs as this party learnt them.
    pub outputs: Vec<OutputJson>,
    /// The same by evaluation, when there were many.
    #[serde(default)]
    pub batch: BatchOutputs,
    /// What the phases cost in all.
    pub phases: Vec<PhaseJson>,
    /// What they cost in each run; without the set-up.
    pub runs: Vec<Vec<PhaseJson>>,
    /// When they were.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// How it was garbled, what made the correlated OTs, and why.
    pub choice: ChoiceJson,
    /// AND triples that were made, when triples were all that was asked for.
    pub triples: u64,
    /// What was measured of tables, when that was asked for.
    #[serde(default)]
    pub tables: Option<TableJson>,
    /// The most memory that the party's process had at a time, in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}

impl PartyResult {
    /// Nothing but what the process needed.
    pub fn empty() -> PartyResult {
        PartyResult {
            outputs: Vec::new(),
            batch: Vec::new(),
            phases: Vec::new(),
            runs: Vec::new(),
            spans: Vec::new(),
            choice: ChoiceJson::default(),
            triples: 0,
            tables: None,
            peak_memory: peak_memory(),
        }
    }

    /// What one run cost that was all there was: everything but the set-up.
    pub fn only_run(phases: &[PhaseJson]) -> Vec<Vec<PhaseJson>> {
        vec![phases.iter().filter(|phase| phase.phase != SETUP).cloned().collect()]
    }

    /// Forgets processor time, which is a process's: of a party that is a thread among others it
    /// says nothing.
    pub fn forget_cpu(&mut self) {
        let all = self.phases.iter_mut().chain(self.runs.iter_mut().flatten());
        all.for_each(|phase| phase.cpu_seconds = None);
    }

    /// A prepared circuit that was run.
    pub fn prepared(circuit: &Circuit, ran: &RunPrepared, parties: u16) -> PartyResult {
        PartyResult {
            outputs: OutputJson::all(circuit.outputs(), &ran.outputs, parties),
            phases: phases(&ran.report),
            // What was prepared says how it is garbled, and no OT is made.
            choice: ChoiceJson::none(ran.dealer.as_deref()),
            ..PartyResult::empty()
        }
    }
}

/// A party's part: a circuit and its inputs, once or many times.
pub enum PartyRun<'v> {
    /// One evaluation, perhaps repeated.
    Once(&'v Circuit, Inputs),
    /// So many, each on inputs of its own.
    Batch(BatchInputs<'v>, u64),
}

impl<'v> PartyRun<'v> {
    /// Checks a party's values.
    ///
    /// # Errors
    /// A usage failure when a value does not fit or one is missing.
    pub fn new(
        circuit: &'v Circuit,
        party: PartyId,
        values: &'v Resolved,
        executions: u64,
    ) -> CliResult<PartyRun<'v>> {
        Ok(match executions {
            1 => PartyRun::Once(circuit, inputs_of(circuit, party, values)?),
            _ => PartyRun::Batch(BatchInputs::new(circuit, party, values, executions)?, executions),
        })
    }

    /// Plays it.
    ///
    /// # Errors
    /// As [`play`] and [`play_batch`].
    pub fn play(&self, config: Config, course: RunOptions, sink: &Sink) -> CliResult<PartyResult> {
        match self {
            PartyRun::Once(circuit, inputs) => play(config, circuit, inputs, course, sink),
            PartyRun::Batch(inputs, executions) => {
                let mut batch = Vec::new();
                let how = (*executions, course.one_by_one);
                let played = play_batch(config, inputs, how, sink, &mut |outputs| {
                    batch.push(outputs);
                    Ok(())
                })?;
                Ok(PartyResult { batch, ..played })
            }
        }
    }
}

/// Connects and runs the phases as `course` says, telling `sink` how far it is.
///
/// # Errors
/// As the library has them; an internal failure when two runs do not give the same outputs.
pub fn play(
    config: Config,
    circuit: &Circuit,
    inputs: &Inputs,
    RunOptions { repeat, split_phases, .. }: RunOptions,
    sink: &Sink,
) -> CliResult<PartyResult> {
    let mut session = Session::connect(sink.attach(config), circuit)?;
    let parties = session.parties();
    let mut before = session.report();
    let mut timeline = Timeline::begin();
    timeline.mark(0, &before);
    let mut outputs: Option<Vec<OutputJson>> = None;
    let mut runs = Vec::new();
    for run in 0..repeat.max(1) {
        if repeat > 1 {
            sink.tell(Event::Run { run: u64::from(run) + 1, of: repeat.into() });
        }
        let mut mark = |report: &Report| timeline.mark(run, report);
        let learnt = match split_phases || !session.streams() {
            true => one_by_one(&mut session, inputs, split_phases, &mut mark)?,
            false => session.evaluate(inputs)?,
        };
        mark(&session.report());
        let learnt = OutputJson::all(circuit.outputs(), &learnt, parties);
        if outputs.as_ref().is_some_and(|first| *first != learnt) {
            return Err(CliError::internal("two runs on the same inputs gave different outputs"));
        }
        outputs = Some(learnt);
        let now = session.report();
        runs.push(phases(&now.since(&before)));
        before = now;
    }
    let outputs = outputs.unwrap_or_default();
    let phases = phases(&before);
    let choice = ChoiceJson::of_session(&session);
    let spans = timeline.spans();
    Ok(PartyResult { outputs, phases, runs, spans, choice, ..PartyResult::empty() })
}

/// One phase after the other, and the report after each but the last.
fn one_by_one(
    session: &mut Session,
    inputs: &Inputs,
    split_phases: bool,
    mark: &mut dyn FnMut(&Report),
) -> CliResult<Outputs> {
    let material =
        if split_phases { session.preprocess()? } else { session.preprocess_circuit()? };
    mark(&session.report());
    let ready = session.prepare(material)?;
    mark(&session.report());
    Ok(session.run(ready, inputs)?)
}

/// Connects and makes `count` triples.
///
/// # Errors
/// As the library has them.
pub fn run_triples(config: Config, count: u64, sink: &Sink) -> CliResult<PartyResult> {
    let run = symbolon::make_triples(sink.attach(config), count)?;
    let phases = phases(&run.report);
    Ok(PartyResult {
        runs: PartyResult::only_run(&phases),
        spans: Timeline::of(&run.report),
        phases,
        choice: ChoiceJson { form: None, ..ChoiceJson::of(run.choice) },
        triples: run.made,
        ..PartyResult::empty()
    })
}

/// Begins anew to look for the most memory this process has at a time; whether the system can.
pub fn forget_peak_memory() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most memory this process had at a time, in bytes; Linux tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
