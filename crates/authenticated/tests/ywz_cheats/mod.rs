//! The cheating peer in `ywz` (Yang–Wang–Zhang 2020, Figs. 6 and 7), among two, three and five
//! parties, and between two also as the half-gates form of `wrk`. Each test is one row, a cheat,
//! and the check that must catch it.
//!
//! Every honest party ends in an error and so without output. The party that sees the check fail
//! names it and, if it can tell, the cheater; the others see the connection end. If a cheat is
//! noticed only with some probability, the test reads from the messages whether it had an effect,
//! and asserts that it is caught exactly then. The preprocessing crate tests the cheats in
//! preprocessing.

pub mod tools;

mod another_circuit;
mod combined;
mod evaluator;
mod exchanged_roles;
mod garbler;
mod league;
mod outputs;
mod preparation;
