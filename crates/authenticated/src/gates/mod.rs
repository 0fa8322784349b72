//! The common basis of all protocols on AND gates: correlations, the masks of wires, and how both
//! reach the garblers and evaluators.
//!
//! Triples come in three kinds ([`triples`]), each with its own way to the masked gates:
//!
//! | triples | from | masked gates from |
//! | --- | --- | --- |
//! | random | the peers, a pool, a dealer | [`mask_pass`], which opens d and e |
//! | on λ_b | [`circuit_dependent`] | [`mask_pass`], which opens d |
//! | solved | [`circuit_dependent`], segment by segment | [`streaming`], which opens d |

pub(crate) mod circuit_dependent;
pub(crate) mod correlations;
pub(crate) mod dealer_engine;
pub(crate) mod engine;
pub(crate) mod garbled_table;
pub(crate) mod io_wires;
pub(crate) mod mask_pass;
pub(crate) mod masked_gates;
pub(crate) mod pipeline;
pub mod pool;
pub(crate) mod position;
#[cfg(feature = "measure")]
pub(crate) mod pseudorandom;
pub(crate) mod role;
pub(crate) mod script;
pub(crate) mod segment_source;
pub(crate) mod segment_triples;
pub(crate) mod source;
pub(crate) mod streaming;
pub(crate) mod triples;
pub(crate) mod wire_shares;
