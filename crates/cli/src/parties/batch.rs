//! Many evaluations of one circuit: one line of values and one line of outputs for each.

use symbolon::circuit::{Circuit, PartyId};
use symbolon::{
    Config, Inputs, InputsBuilder, OutputValue, Outputs, Port, Session, store::Store, stored,
};

use crate::common::error::{CliError, CliResult};
use crate::common::packed::Packed;
use crate::common::timeline::Timeline;
use crate::parties::remote::tell_agreement;
use crate::progress::{Event, Sink};
use crate::results::ChoiceJson;
use crate::results::failed_asserts::FailedAsserts;
use crate::results::party::PartyResult;
use crate::source::values::Resolved;

/// This party's values for all evaluations: for each input, one value or one for each evaluation.
pub struct BatchInputs<'v> {
    circuit: &'v Circuit,
    party: PartyId,
    values: Vec<(usize, &'v [Packed])>,
}

impl<'v> BatchInputs<'v> {
    /// Takes a party's values, one or one for each of the `executions`.
    ///
    /// # Errors
    /// A usage failure when an input has neither one value nor one for each evaluation.
    pub fn new(
        circuit: &'v Circuit,
        party: PartyId,
        resolved: &'v Resolved,
        executions: u64,
    ) -> CliResult<Self> {
        let mut values = Vec::new();
        for (place, lines) in resolved {
            let input = &circuit.inputs()[*place];
            if input.owner != party {
                continue;
            }
            if lines.len() != 1 && lines.len() as u64 != executions {
                return Err(CliError::usage(format!(
                    "input `{}` has {} values for {executions} evaluations",
                    input.name,
                    lines.len()
                ))
                .with_hint("give one value for all of them, or a file with one a line"));
            }
            values.push((*place, &lines[..]));
        }
        let all = BatchInputs { circuit, party, values };
        // A user's mistakes are reported before the peers are contacted.
        all.fill(0)?.finish().map_err(|error| {
            CliError::from(error).with_hint("give it with --input NAME=@FILE, one value a line")
        })?;
        Ok(all)
    }

    /// Returns the circuit.
    pub fn circuit(&self) -> &'v Circuit {
        self.circuit
    }

    /// Returns the inputs of one evaluation.
    pub fn get(&self, number: u64) -> symbolon::Result<Inputs> {
        self.fill(number)?.finish()
    }

    fn fill(&self, number: u64) -> symbolon::Result<InputsBuilder<'_>> {
        let mut builder = Inputs::builder(self.circuit, self.party);
        for (place, lines) in &self.values {
            let Packed(line) = &lines[if lines.len() == 1 { 0 } else { number as usize }];
            builder = builder.bits(Port::Index(*place), line.clone())?;
        }
        Ok(builder)
    }
}

/// Returns what is shown of one evaluation.
pub fn shown(outputs: &Outputs) -> Vec<Option<String>> {
    outputs.iter().map(OutputValue::text).collect()
}

/// Returns the line for one evaluation.
pub fn line(outputs: &[Option<String>]) -> String {
    let texts: Vec<&str> = outputs.iter().flatten().map(String::as_str).collect();
    texts.join("\t") + "\n"
}

/// Connects and evaluates all of them; with `one_by_one` they are prepared together and then run
/// one after the other. `each` receives what this party learns, evaluation by evaluation.
///
/// # Errors
/// Those of the library and of `each`.
pub fn play_batch(
    config: Config,
    inputs: &BatchInputs<'_>,
    (executions, one_by_one): (u64, bool),
    sink: &Sink,
    each: &mut dyn FnMut(Vec<Option<String>>) -> CliResult<()>,
) -> CliResult<PartyResult> {
    let mut session = Session::connect(sink.attach(config), inputs.circuit)?;
    let mut failed = None;
    let mut asserts = FailedAsserts::default();
    let all = (0..executions).map(|number| inputs.get(number));
    let mut done = 0;
    let mut take = |outputs: Outputs| {
        done += 1;
        sink.tell(Event::Run { run: done, of: executions });
        asserts.add(done, &outputs);
        each(shown(&outputs)).map_err(|failure| {
            let told = symbolon::Error::Internal(failure.message.clone());
            failed = Some(failure);
            told
        })
    };
    let ended = if one_by_one {
        prepared_together(&mut session, all, &mut take)
    } else {
        session.evaluate_batch(all, take)
    };
    match failed {
        Some(failure) => return Err(failure),
        None => ended?,
    }
    let report = session.report();
    let phases = report.phases.clone();
    let (runs, spans) = (PartyResult::only_run(&phases), Timeline::of(&report));
    let choice = ChoiceJson::of_session(&session);
    Ok(PartyResult { failed: asserts, phases, runs, spans, choice, ..PartyResult::empty() })
}

/// Connects and runs all of them on an item that was prepared for them together.
///
/// # Errors
/// Those of the library.
pub fn play_prepared(
    config: Config,
    store: &Store,
    inputs: &BatchInputs<'_>,
    executions: u64,
) -> CliResult<PartyResult> {
    let (mut batch, mut failed) = (Vec::new(), FailedAsserts::default());
    let all = (0..executions).map(|number| inputs.get(number));
    let ran = stored::run_batch(config, store, inputs.circuit, all)?;
    tell_agreement(&ran.agreement);
    for (number, outputs) in (1..).zip(&ran.outputs) {
        batch.push(shown(outputs));
        failed.add(number, outputs);
    }
    let phases = ran.report.phases.clone();
    let choice = ChoiceJson::none(ran.dealer.as_deref());
    Ok(PartyResult { batch, failed, phases, choice, ..PartyResult::empty() })
}

/// Connects and runs all of them on stored items of their own, several online at a time.
///
/// # Errors
/// Those of the library.
pub fn play_in_flight(
    config: Config,
    store: &Store,
    inputs: &BatchInputs<'_>,
    executions: u64,
    sink: &Sink,
) -> CliResult<PartyResult> {
    let (mut batch, mut failed) = (Vec::new(), FailedAsserts::default());
    let all = (0..executions).map(|number| inputs.get(number));
    let ran = stored::run_in_flight(config, store, inputs.circuit, all, |outputs| {
        batch.push(shown(&outputs));
        failed.add(batch.len() as u64, &outputs);
        sink.tell(Event::Run { run: batch.len() as u64, of: executions });
        Ok(())
    })?;
    tell_agreement(&ran.agreement);
    let phases = ran.report.phases.clone();
    let choice = ChoiceJson::none(None);
    Ok(PartyResult { batch, failed, phases, choice, ..PartyResult::empty() })
}

/// Prepares all evaluations at once, and runs each by itself.
fn prepared_together(
    session: &mut Session,
    inputs: impl Iterator<Item = symbolon::Result<Inputs>>,
    each: &mut dyn FnMut(Outputs) -> symbolon::Result<()>,
) -> symbolon::Result<()> {
    let prepared = session.prepare_each()?;
    for (ready, inputs) in prepared.into_iter().zip(inputs) {
        each(session.run(ready, &inputs?)?)?;
    }
    Ok(())
}
