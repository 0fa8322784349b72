//! Oblivious transfer: a maliciously secure base OT, and correlated OT extended from it.
//!
//! Correlated OT is the engine room of every protocol here: the *sender* holds one secret Δ, the
//! *receiver* holds bits x_k, and each k gives the sender a key K_k and the receiver a MAC
//! M_k = K_k ⊕ x_k·Δ. That is exactly an authenticated bit.
//!
//! * [`base`]: 128 OTs from public-key operations, once per session;
//! * [`cot`]: what a generator of correlated OTs does, whichever it is, and the check they share;
//! * [`iknp`]: the generator of Ishai, Kilian, Nissim and Petrank with a sound consistency check;
//! * [`setup`]: both directions at once, the second bootstrapped from the first.

pub mod base;
pub mod cot;
pub mod iknp;
pub mod setup;

pub use cot::{CotReceiver, CotSender};
