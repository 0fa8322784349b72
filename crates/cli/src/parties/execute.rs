//! One party's part in a run, for every transport.

use serde::{Deserialize, Serialize};
use symbolon::circuit::{Circuit, PartyId};
use symbolon::{Compiled, Config, Inputs, Outputs, Report, Session};

use crate::common::error::{CliError, CliResult};
use crate::common::packed::Packed;
use crate::common::timeline::Timeline;
use crate::parties::batch::{BatchInputs, play_batch};
use crate::progress::{Event, Sink};
use crate::results::ChoiceJson;
use crate::results::failed_asserts::one_of;
use crate::results::party::{PartyResult, learnt as learnt_bits};
use crate::source::values::{Resolved, inputs_of};

/// How the phases of a circuit run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// How often, at least once.
    pub repeat: u32,
    /// Whether the function-independent phase runs separately, as if its material were for any
    /// circuit.
    pub split_phases: bool,
    /// Whether the evaluations of a batch are prepared together and then run one after the other.
    #[serde(default)]
    pub one_by_one: bool,
}

impl RunOptions {
    /// All phases at once, one run.
    pub const ONCE: RunOptions = RunOptions { repeat: 1, split_phases: false, one_by_one: false };
}

/// A party's part: a circuit and its inputs, once or many times.
pub enum PartyRun<'v> {
    /// One evaluation, possibly repeated.
    Once(&'v Circuit, Inputs),
    /// This number of evaluations, each on inputs of its own.
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

    /// Fails if an assert fails with this party's inputs, whatever the others give: before anything
    /// is sent, and before anything prepared is used up.
    ///
    /// # Errors
    /// A failure of the class `Assert`, which names the assert.
    pub fn check_asserts(&self) -> CliResult<()> {
        let fails = |inputs: &Inputs, circuit: &Compiled, what: &str| {
            let failures = inputs.certain_failures(circuit);
            match one_of(&failures) {
                Some(text) => Err(CliError::assert(format!("{what}{text}")).with_hint(
                    "it fails whatever the others give; nothing was sent, and nothing prepared \
                     was used up",
                )),
                None => Ok(()),
            }
        };
        match self {
            PartyRun::Once(circuit, _) if circuit.failures().is_empty() => Ok(()),
            PartyRun::Once(circuit, inputs) => fails(inputs, &Compiled::new(circuit), ""),
            PartyRun::Batch(inputs, _) if inputs.circuit().failures().is_empty() => Ok(()),
            PartyRun::Batch(inputs, executions) => {
                let circuit = Compiled::new(inputs.circuit());
                (0..*executions).try_for_each(|number| {
                    let what = format!("evaluation {} of {executions}: ", number + 1);
                    fails(&inputs.get(number)?, &circuit, &what)
                })
            }
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// Those of [`play`] and [`play_batch`].
    pub fn play(&self, config: Config, options: RunOptions, sink: &Sink) -> CliResult<PartyResult> {
        match self {
            PartyRun::Once(circuit, inputs) => play(config, circuit, inputs, options, sink),
            PartyRun::Batch(inputs, executions) => {
                let mut batch = Vec::new();
                let how = (*executions, options.one_by_one);
                let played = play_batch(config, inputs, how, sink, &mut |outputs| {
                    batch.push(outputs);
                    Ok(())
                })?;
                Ok(PartyResult { batch, ..played })
            }
        }
    }
}

/// Connects and runs the phases as `options` says, reporting progress to `sink`.
///
/// # Errors
/// Those of the library; an internal failure when two runs do not give the same outputs.
pub fn play(
    config: Config,
    circuit: &Circuit,
    inputs: &Inputs,
    RunOptions { repeat, split_phases, .. }: RunOptions,
    sink: &Sink,
) -> CliResult<PartyResult> {
    let mut session = Session::connect(sink.attach(config), circuit)?;
    let mut before = session.report();
    let mut timeline = Timeline::begin();
    timeline.mark(0, &before);
    let mut outputs: Option<Vec<Option<Packed>>> = None;
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
        let learnt = learnt_bits(&learnt);
        if outputs.as_ref().is_some_and(|first| *first != learnt) {
            return Err(CliError::internal("two runs on the same inputs gave different outputs"));
        }
        outputs = Some(learnt);
        let now = session.report();
        runs.push(now.since(&before).phases);
        before = now;
    }
    let outputs = outputs.unwrap_or_default();
    let phases = before.phases.clone();
    let choice = ChoiceJson::of_session(&session);
    let spans = timeline.spans();
    Ok(PartyResult { outputs, phases, runs, spans, choice, ..PartyResult::empty() })
}

/// Runs one phase after the other, and passes the report after each but the last to `mark`.
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
/// Those of the library.
pub fn run_triples(config: Config, count: u64, sink: &Sink) -> CliResult<PartyResult> {
    let run = symbolon::make_triples(sink.attach(config), count)?;
    let phases = run.report.phases.clone();
    Ok(PartyResult {
        runs: PartyResult::only_run(&phases),
        spans: Timeline::of(&run.report),
        phases,
        choice: ChoiceJson { form: None, ..ChoiceJson::of(run.choice) },
        triples: run.made,
        ..PartyResult::empty()
    })
}
