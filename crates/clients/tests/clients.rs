//! Clients of programs: what the circuit makes of their shares.
#![allow(missing_docs, clippy::print_stdout)]

mod cheats;
mod common;
mod values;
