//! Oblivious transfer: a maliciously secure base OT, and correlated OT extended from it.
//!
//! Every protocol here is built on correlated OT: the *sender* holds one secret Δ, the *receiver*
//! holds bits x_k, and for each k the sender gets a key K_k and the receiver a MAC
//! M_k = K_k ⊕ x_k·Δ. This is exactly an authenticated bit.
//!
//! * [`base`]: 128 OTs from public-key operations, once per session;
//! * [`cot`]: what every OT extension does, and the check they share;
//! * [`iknp`]: the extension of Ishai, Kilian, Nissim and Petrank with a sound consistency check;
//! * [`softspoken`]: Roy's extension, which computes more and sends less, and [`pprf`], its trees;
//! * [`ferret`]: silent correlated OT, which sends least, and [`expansions`], which it draws from;
//! * [`extension`]: which OT extension a session uses;
//! * [`vole`]: subspace vector OLE over another code ([`codes`]), for XOR-homomorphic commitments;
//! * [`setup`]: both directions at once, the second bootstrapped from the first.

pub mod base;
pub mod checks;
pub mod codes;
mod columns;
pub mod cot;
pub mod expansions;
pub mod extension;
pub mod ferret;
pub mod iknp;
pub mod messages;
mod oracle;
pub mod pprf;
pub mod script;
pub mod setup;
pub mod silent;
pub mod softspoken;
pub mod vole;

pub use codes::Code;
pub use columns::{Columns, Correction, Workspace};
pub use cot::{CotReceiver, CotSender};
pub use expansions::supply;
pub use extension::{OtExtension, draw_bytes};
pub use pprf::TreeDepth;
