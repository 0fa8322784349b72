//! What a party measures of `tinytable`, and what comes of it.

use serde::{Deserialize, Serialize};

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

/// What one party measured: as the library has it.
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
