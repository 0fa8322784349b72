//! What protocols based on cut-and-choose are made of.
//!
//! * [`games`]: how many objects (garbled circuits, components, authenticators) have to be made,
//!   and how many go into a bucket: exact formulas;
//! * [`draw`]: which objects are opened, and which bucket each of the others goes to, from a coin
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
