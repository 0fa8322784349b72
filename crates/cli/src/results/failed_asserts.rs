//! Failed asserts of a program, in one evaluation and in a batch.

use serde::{Deserialize, Serialize};
use symbolon::Outputs;
use symbolon::circuit::{Circuit, Failure};

use crate::common::error::{CliError, CliResult};
use crate::common::packed::Packed;

/// How many evaluations of a batch had a failed assert.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FailedAsserts {
    count: u64,
    /// The first of them, counted from 1 like lines of a file, and the assert.
    first: Option<(u64, String)>,
}

impl FailedAsserts {
    /// Adds the outputs of evaluation `number`, counted from 1.
    pub fn add(&mut self, number: u64, outputs: &Outputs) {
        if let Some(failure) = outputs.failure() {
            self.count += 1;
            self.first.get_or_insert((number, failure.to_string()));
        }
    }

    /// Fails if an assert failed in any of the evaluations.
    ///
    /// # Errors
    /// A failure of the class `Assert`, which names the first.
    pub fn check(&self, executions: u64) -> CliResult<()> {
        let Some((first, text)) = &self.first else { return Ok(()) };
        let all = match self.count {
            1 => String::new(),
            n => format!("{n} evaluations failed, the first is "),
        };
        Err(CliError::assert(format!("{all}evaluation {first} of {executions}: {text}")))
    }
}

/// Fails with the assert that the outputs report as failed.
///
/// # Errors
/// That failure.
pub fn check_failure(circuit: &Circuit, outputs: &[Option<Packed>]) -> CliResult<()> {
    let report = circuit.outputs().iter().zip(outputs);
    let mut report = report.filter(|(output, _)| output.name == Circuit::FAILURE);
    let failure =
        report.find_map(|(output, bits)| circuit.failure(output, &bits.as_ref()?.0.to_bools()));
    failure.map_or(Ok(()), |failure| Err(CliError::assert(failure.to_string())))
}

/// Returns asserts of which one has failed in words, if there are any.
pub fn one_of(failures: &[&Failure]) -> Option<String> {
    const SHOWN: usize = 4;
    let texts = failures.iter().take(SHOWN).map(ToString::to_string);
    let texts = texts.collect::<Vec<_>>().join("; ");
    match failures.len() {
        0 => None,
        1 => Some(texts),
        n if n > SHOWN => Some(format!("one of {n} asserts: {texts}; …")),
        _ => Some(format!("one of these asserts: {texts}")),
    }
}
