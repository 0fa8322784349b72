//! Boolean circuits: what is computed.
//!
//! The lowest layer: nothing here knows of parties' secrets, networks or cryptography.

pub mod bristol;
pub mod builder;
pub mod builtin;
mod certain;
mod circuit;
mod clients;
pub mod components;
mod digest;
mod error;
pub mod eval;
mod field;
mod file;
mod ir;
mod lower;
pub mod native;
mod netlist;
mod optimise;
pub mod plan;
mod ports;
pub mod reference;
mod repeat;
mod shared;
mod stats;
mod table;
#[cfg(test)]
mod testing;
mod types;
mod types_text;
mod validate;
pub mod value;

pub use certain::certain_failures;
pub use circuit::Circuit;
pub use clients::ClientPorts;
pub use error::CircuitError;
pub use eval::{Evaluator, Lanes, eval_bits, eval_lanes, eval_packed, eval_ports, eval_words};
pub use field::Field;
pub use file::{CircuitFile, FileFormat, read_circuit, read_circuit_file};
pub use ir::{
    Call, Component, Failure, Input, Lookup, Output, Program, Ranges, Receivers, Repeat, RepeatArg,
    Step, Wire, WireRange,
};
pub use lower::lower_lookups;
pub use optimise::optimise;
pub use plan::{And, Batch, Cursor, Layer, Layered, Linear, LookupGate, LookupGates, Plan};
pub use repeat::{Rounds, Source};
pub use stats::{LookupCount, Stats};
pub use symbolon_common::PartyId;
pub use table::Table;
pub use types::Type;
pub use types_text::ParseTypeError;
pub use value::{
    FileForm, Value, format_file, format_value, parse_file, parse_file_to, parse_value,
    to_bits_string, to_hex, write_file,
};
