//! What the fuzz targets check: each module takes the bytes of one target.
//!
//! The tests of the command compile these modules, too, and give them the samples in `corpus` and
//! changed samples. So a change that breaks a target is noticed without a fuzzer.

pub mod bristol;
pub mod clients;
pub mod dealer;
pub mod handshake;
pub mod live_request;
pub mod lsp;
pub mod native;
pub mod netlist;
pub mod packed_bits;
pub mod peer;
pub mod prepared;
mod runs;
pub mod service;
pub mod settings;
pub mod store_file;
pub mod sym;
pub mod sym_words;
pub mod value;
pub mod value_file;

/// A check of a target's bytes.
pub type Check = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Check); 18] = [
    ("bristol", bristol::check),
    ("clients", clients::check),
    ("dealer", dealer::check),
    ("handshake", handshake::check),
    ("live_request", live_request::check),
    ("lsp", lsp::check),
    ("native", native::check),
    ("netlist", netlist::check),
    ("packed_bits", packed_bits::check),
    ("peer", peer::check),
    ("prepared", prepared::check),
    ("service", service::check),
    ("settings", settings::check),
    ("store_file", store_file::check),
    ("sym", sym::check),
    ("sym_words", sym_words::check),
    ("value", value::check),
    ("value_file", value_file::check),
];
