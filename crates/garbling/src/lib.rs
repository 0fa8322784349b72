//! Garbled circuits by half-gates (Zahur, Rosulek and Evans 2015), without channels.
//!
//! A garbler holds two labels for every wire, L and L ⊕ Δ, for the values 0 and 1. XOR, NOT and
//! constants are free; an AND gate costs two blocks in the *table*. The evaluator holds the table
//! and one label per wire, and computes the labels of the outputs. It learns neither their values
//! nor the other labels until the garbler sends the [`decoding`].
//!
//! - [`Instance`] is one garbling of a plan: it garbles to a sink and evaluates from a source, in
//!   memory proportional to the live wires. The caller chooses Δ and the labels of the inputs, or
//!   derives them from a seed.
//! - [`garble_side_by_side`] and [`evaluate_side_by_side`] do the same for several garblings of one
//!   plan in one walk; [`garble_pieces_side_by_side`] and [`evaluate_pieces_side_by_side`] take the
//!   tables in pieces.
//! - [`component`] is the digest of a garbled table, for cut-and-choose protocols.
//! - [`adaptive`] masks a garbled circuit so that it can be sent before the inputs are chosen.
//! - [`half_gates`] is the kernel: runs of at most 64 independent gates. [`half_gates::Offsets`] is
//!   what an application adds to the half-gates.
//! - [`four_row`] is the kernel of four rows, for authenticated garbling that checks each row.
//! - [`wires`] applies free gates to labels.
//!
//! Timing: labels, Δ, colours | a garbler's colours become masks; an evaluator's are uniform
//!
//! # What the labels rely on
//! The hash is [`TweakedHash`](symbolon_primitives::TweakedHash), a tweakable circular
//! correlation-robust hash on the ideal cipher, with its own start for every instance and two
//! tweaks for every gate. The lowest bit of Δ is set. The lowest bit of a label is its *colour*, by
//! which the evaluator chooses what to add; the two labels of a wire have different colours.

pub mod adaptive;
pub mod component;
pub mod four_row;
pub mod half_gates;
mod instance;
mod side_by_side;
pub mod wires;

pub use instance::{CHUNK, InputKeys, Instance, Labels, choose, decoding, value_of};
pub use side_by_side::{
    SIDE, evaluate_pieces_side_by_side, evaluate_side_by_side, garble_pieces_side_by_side,
    garble_side_by_side, side_by_side,
};
