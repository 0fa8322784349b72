//! What one party does for `symbolon bench tinytable`: a circuit once, many times, and many times on one's material.

use symbolon::Config;
use symbolon::circuit::builtin;
use symbolon::measure::{TableCourse, TableTimes, measure_tables};

use crate::error::CliResult;
use crate::party_result::PartyResult;
use crate::progress::Sink;
use crate::tinytable_times::{TableJson, TableTask};

/// Measures one variant, as one party.
///
/// # Errors
/// As the library has them.
pub fn play_tables(config: Config, task: &TableTask, sink: &Sink) -> CliResult<PartyResult> {
    let circuit = builtin::by_name(&task.circuit)?;
    let TableTask { batch, shared_by, repeat, .. } = *task;
    let times =
        measure_tables(sink.attach(config), &circuit, TableCourse { batch, shared_by, repeat })?;
    let TableTimes { sequential, fresh, shared, independent, dependent, .. } = times;
    let tables = TableJson {
        sequential,
        fresh,
        shared,
        independent,
        dependent,
        preprocessing_bytes: times.preprocessing_bytes,
        prepared_bytes: times.prepared_bytes,
        sequential_bytes: times.sequential_bytes,
        batch_bytes: times.batch_bytes,
    };
    Ok(PartyResult { tables: Some(tables), ..PartyResult::empty() })
}
