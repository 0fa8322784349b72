//! Garbling alone, for measurements: all AND gates of a plan as the protocols garble and evaluate
//! them, on pseudorandom labels, shares and tables, without messages and checks. Only with the
//! feature `measure`.

use symbolon_circuit::Plan;

use crate::{half_gates, wrk};

/// Processes all AND gates of a plan each time it is called.
pub type Kernel<'a> = Box<dyn FnMut() + 'a>;

/// Makes a kernel for a plan.
pub type Maker = fn(&Plan) -> Kernel<'_>;

/// The four kernels by name: garbler and evaluator of `wrk` in the four-row form, with MACs of 40
/// bits, and of half-gates between two parties.
pub const KERNELS: [(&str, Maker); 4] = [
    ("half-gates, garble", |plan| Box::new(half_gates::garbling_kernel(plan))),
    ("half-gates, evaluate", |plan| Box::new(half_gates::evaluation_kernel(plan))),
    ("four-row, garble", |plan| Box::new(wrk::garbling_kernel(plan))),
    ("four-row, evaluate", |plan| Box::new(wrk::evaluation_kernel(plan))),
];
