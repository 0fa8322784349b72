//! Clients of programs: what the circuit makes of their shares.
#![allow(missing_docs)]

mod cheats;
mod common;
mod values;
