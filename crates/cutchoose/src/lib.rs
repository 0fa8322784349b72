//! Building blocks of protocols based on cut-and-choose.
//!
//! * [`games`]: exact formulas for how many objects (garbled circuits, components, authenticators)
//!   are made, and how many go into a bucket;
//! * [`draw`]: which objects are opened, and which bucket each of the others joins, from a coin
//!   toss;
//! * [`hcom`]: XOR-homomorphic commitments.

mod bounds;
mod chance;
pub mod checks;
pub mod draw;
pub mod games;
pub mod hcom;
pub mod messages;

pub use draw::{Buckets, CheckSet};
pub use games::{Costs, Game, Goal, Sizes};
