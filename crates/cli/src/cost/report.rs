//! What `cost` tells.

use serde::Serialize;
use symbolon_lang::cost::Report;

/// What `cost --json` prints.
#[derive(Serialize)]
pub struct CostJson {
    pub format: &'static str,
    pub program: String,
    pub parties: u16,
    pub and_without_lookups: u64,
    pub bytes: Vec<ProtocolBytes>,
    pub component_bytes: Vec<ComponentBytes>,
    #[serde(flatten)]
    pub report: Report,
}

/// What protocols send for the gates of a component, all its calls together.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentBytes {
    pub name: String,
    /// For each protocol, in the order of `bytes`. What the components leave of a circuit's bytes
    /// is for inputs and messages.
    pub bytes: Vec<u64>,
}

/// What a protocol sends for a circuit.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolBytes {
    pub protocol: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<&'static str>,
    /// All parties together, at ρ = 40, without making triples: they are the same for all.
    pub bytes: u64,
}
