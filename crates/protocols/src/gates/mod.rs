//! What all protocols on AND gates stand on: correlations, the masks of wires, and how both are handed on.

pub(crate) mod circuit_dependent;
pub(crate) mod correlations;
pub(crate) mod dealer_engine;
pub(crate) mod mask_pass;
pub(crate) mod pipeline;
pub(crate) mod streaming;
pub(crate) mod wire_shares;
