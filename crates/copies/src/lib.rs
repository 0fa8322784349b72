//! Protocols on garbled copies: a party garbles many copies of a circuit or of its components, some
//! of them are opened and checked, and the others go to buckets that serve in their place.
//!
//! The games of cut-and-choose and the commitments are a crate of their own below this one
//! (`symbolon-cutchoose`): they know neither circuits nor protocols, and they are fast only when
//! they are optimised more than tests of protocols can wait for.

#[cfg(test)]
#[path = "../../authenticated/tests/privacy/compare.rs"]
mod compare;
pub mod dualex;
pub mod duplo;
#[cfg(test)]
#[path = "../../authenticated/tests/privacy/record.rs"]
mod record;
