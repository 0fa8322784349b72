//! Garbling alone, for measurements: all AND gates of a plan are garbled and evaluated as in the
//! protocols, but on made-up labels, shares and tables, without messages and checks. Only with the
//! feature `measure`.

use symbolon_circuit::Plan;

use crate::{wrk, ywz};

/// Garbles or evaluates all AND gates of a plan each time it is called.
pub type Kernel<'a> = Box<dyn FnMut() + 'a>;

/// Makes a kernel of a plan.
pub type Maker = fn(&Plan) -> Kernel<'_>;

/// The four kernels by name: garbling and evaluation, in the four-row form of `wrk` with MACs of 40
/// bits, and with half-gates between two parties.
pub const KERNELS: [(&str, Maker); 4] = [
    ("half-gates, garble", |plan| Box::new(ywz::garbling_kernel(plan))),
    ("half-gates, evaluate", |plan| Box::new(ywz::evaluation_kernel(plan))),
    ("four-row, garble", |plan| Box::new(wrk::garbling_kernel(plan))),
    ("four-row, evaluate", |plan| Box::new(wrk::evaluation_kernel(plan))),
];
