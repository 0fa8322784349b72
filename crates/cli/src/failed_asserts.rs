//! Failed asserts of a program in a batch of evaluations.

use serde::{Deserialize, Serialize};
use symbolon::Outputs;
use symbolon::circuit::Circuit;

use crate::error::{CliError, CliResult};
use crate::lang::failed_assert;

/// How many evaluations of a batch had a failed assert.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FailedAsserts {
    count: u64,
    /// The first of them, counted from 1 like lines of a file, and the assert.
    first: Option<(u64, String)>,
}

impl FailedAsserts {
    /// Adds the outputs of evaluation `number`, counted from 1.
    pub fn add(&mut self, circuit: &Circuit, number: u64, outputs: &Outputs) {
        let bits = outputs.into_iter().map(|output| output.bits.as_deref());
        if let Some(text) = failed_assert(circuit, bits) {
            self.count += 1;
            self.first.get_or_insert((number, text));
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
