//! Programs, what they compile to, and what is refused. One program, because each takes seconds to
//! link.
#![allow(missing_docs)]

mod asserts;
mod checked;
mod clients;
mod common;
mod copies;
mod costs;
mod counts;
mod edges;
mod editing;
mod errors;
mod examples;
mod fast;
mod fixed;
mod formatting;
mod habits;
mod hostile;
mod large;
mod library;
mod lints;
mod loops;
mod order;
mod programs;
mod psi;
mod random;
mod refusals;
mod selection;
mod shrinking;
mod sums;
mod texts;
mod tour;
mod variants;
mod vast;
