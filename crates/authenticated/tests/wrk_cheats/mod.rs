//! The cheating peer in `wrk` (Wang–Ranellucci–Katz 2017, Fig. 2, with the changes that the
//! module's documentation lists). Each test is one row, a cheat, and the check that must catch it.
//!
//! The honest party ends in `PeerMisbehaved` with the check's name and the other party's number,
//! and so without output. If a cheat is noticed only with some probability, the test reads from the
//! messages whether it had an effect, and asserts that it is caught exactly then.

pub mod tools;

mod evaluator;
mod garbler;
mod openings;
mod selective;
mod setup;
