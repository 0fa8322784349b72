//! The language: compiles `.sym` programs to circuits.
//!
//! `docs/language.md` is the reference. The stages: [`lex`] makes tokens, [`parse`] the tree of
//! [`ast`], `check` finds types and makes instances of functions (`tir`), and `lower` writes them
//! with the builder of `symbolon_circuit`. [`interp`] computes the same from the instances without
//! gates: it evaluates constants, and tests compare the two.

pub mod ast;
mod bind;
mod builtin;
mod check;
mod compile;
pub mod cost;
mod def;
pub mod diag;
pub mod facts;
pub mod fmt;
mod ids;
pub mod interp;
mod lengths;
pub mod lex;
mod library;
mod lower;
#[cfg(feature = "lsp")]
pub mod lsp;
mod narrowing;
mod numbers;
pub mod parse;
mod program;
mod references;
mod shrink;
pub mod source;
pub mod testing;
pub mod tir;
pub mod ty;
mod uses;
pub mod value;
mod walk;

pub use compile::{
    Checked, CompileError, Errors, Options, Test, analyse, check, compile, compile_file,
    compile_here, compile_text, with_stack,
};
pub use cost::Costs;
pub use lengths::{length_constant, shared_inputs};
pub use library::modules as library_modules;
pub use lower::{
    Entry, EntryInput, EntryOutput, InputKind, OutputKind, assert_number, lower_entry,
    lower_entry_as_repeats, one_call,
};

/// A source file has at most this many bytes.
pub const MAX_SOURCE: usize = 16 << 20;
