//! What one party does for `symbolon bench tinytable`: a circuit once, many times, and many times on one's material.

use serde::{Deserialize, Serialize};
use symbolon::Config;
use symbolon::circuit::builtin;
use symbolon::measure::{TableCourse, TableTimes, measure_tables};

use crate::error::CliResult;
use crate::execute::PartyResult;
use crate::progress::Sink;

/// What is measured, and how often.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableTask {
    /// The built-in circuit.
    pub circuit: String,
    /// How many executions are made on fresh material at a time.
    pub batch: usize,
    /// How many share the material of one.
    pub shared_by: usize,
    /// How often.
    pub repeat: usize,
}

/// What one party measured: as [`TableTimes`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableJson {
    /// Seconds online of one execution alone.
    pub sequential: Vec<f64>,
    /// Of one in a batch on fresh material.
    pub fresh: Vec<f64>,
    /// Of one of those that share material.
    pub shared: Vec<f64>,
    /// Seconds for the triples and masks of one in a batch.
    pub independent: Vec<f64>,
    /// Seconds for its tables from them.
    pub dependent: Vec<f64>,
    /// Bytes sent to prepare one in a batch.
    pub preprocessing_bytes: f64,
    /// Bytes of what is prepared for one.
    pub prepared_bytes: f64,
    /// Bytes sent online by one alone.
    pub sequential_bytes: f64,
    /// Bytes sent online by one in a batch.
    pub batch_bytes: f64,
}

impl TableJson {
    /// Adds what the same party measured in a later session, whose bytes are the same.
    pub fn append(&mut self, later: TableJson) {
        self.sequential.extend(later.sequential);
        self.fresh.extend(later.fresh);
        self.shared.extend(later.shared);
        self.independent.extend(later.independent);
        self.dependent.extend(later.dependent);
    }
}

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
