//! What one party does for `symbolon bench tinytable`: it runs a circuit once, many times, and many
//! times on the material of one execution.

use serde::{Deserialize, Serialize};
use symbolon::Config;
use symbolon::circuit::builtin;
use symbolon::measure::{TableCourse, measure_tables};

use crate::error::CliResult;
use crate::party_result::PartyResult;
use crate::progress::Sink;

/// What is measured, and how often.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableTask {
    /// The built-in circuit.
    pub circuit: String,
    /// How many executions, and how often.
    pub course: TableCourse,
}

/// Measures one variant, as one party.
///
/// # Errors
/// As the library has them.
pub fn play_tables(config: Config, task: &TableTask, sink: &Sink) -> CliResult<PartyResult> {
    let circuit = builtin::by_name(&task.circuit)?;
    let tables = measure_tables(sink.attach(config), &circuit, task.course)?;
    Ok(PartyResult { tables: Some(tables), ..PartyResult::empty() })
}
