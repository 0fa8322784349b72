//! The report of `cost`.

use serde::Serialize;
use symbolon::ProtocolBytes;
use symbolon_lang::cost::Report;

/// What `cost --json` prints.
#[derive(Serialize)]
pub struct CostJson {
    /// `symbolon-cost-2`.
    pub format: &'static str,
    /// The program as it was named.
    pub program: String,
    /// How many parties it was compiled for.
    pub parties: u16,
    /// AND gates once gates replace look-ups.
    pub and_without_lookups: u64,
    /// By protocol.
    pub bytes: Vec<ProtocolBytes>,
    /// By component.
    pub component_bytes: Vec<ComponentBytes>,
    /// By function, component and line.
    #[serde(flatten)]
    pub report: Report,
}

/// What protocols send for the gates of a component, all its calls together.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentBytes {
    /// Its name.
    pub name: String,
    /// For each protocol on triples, in the order of `bytes`, which has these first. What the
    /// components leave of a circuit's bytes is for inputs and messages.
    pub bytes: Vec<u64>,
}
