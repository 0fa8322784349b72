//! The cheating peer in `ywz` (Yang–Wang–Zhang 2020, Figs. 6 and 7), among two, three and five
//! parties: each test is one row, a cheat, and the check that must catch it. Between two also as
//! the half-gates form of `wrk`.
//!
//! Every honest party ends in an error and so without output; the one that sees the check fail
//! names it and, where it can tell, the cheater; the others saw the connection end. Where a cheat
//! is noticed with some probability only, the test reads from the messages whether it hit, and
//! asserts that it is caught exactly then. Cheats in preprocessing are tried where it lives.
#![allow(missing_docs)]

mod common;
mod ywz_cheats {
    pub mod tools;

    mod another_circuit;
    mod combined;
    mod evaluator;
    mod exchanged_roles;
    mod garbler;
    mod league;
    mod outputs;
    mod preparation;
}
