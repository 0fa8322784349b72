//! Protocols on authenticated shares: `wrk` and `ywz` garble AND gates together, `tinytable`
//! scrambles their truth tables.
//!
//! All three stand on the masks and triples of `gates`. The half-gates that `ywz` garbles, and
//! `wrk` in one of its forms, are a module of their own.

pub mod checks;
mod gates;
mod half_gates;
#[cfg(feature = "measure")]
#[doc(hidden)]
pub mod kernels;
pub mod messages;
#[cfg(test)]
mod reference;
pub mod tinytable;
pub mod wrk;
pub mod ywz;

pub use gates::pool;
