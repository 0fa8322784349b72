//! Symbolon for C, and for every language that can call C: circuits, sessions over TLS, and a
//! store. `include/symbolon.h` is made of these sources, and a test compares it; `docs/c.md` has a
//! guide.
//!
//! The rules for callers are at the head of that file (`cbindgen.toml` has them).
//!
//! Unsafe: raw pointers from C | C promises what they point to; values are handed over, and nothing
//! is computed with them
//!
//! # Why there is unsafe code here
//! Elsewhere in this workspace only `primitives` has any. A border to C cannot be without: C hands
//! over raw pointers, and no type can vouch for them. So `pointers` has the few functions that read
//! strings and arrays and take and give handles, and all other unsafe code here are calls of these.
//! Each function that C calls does its work inside [`border::call`], which catches panics, so that
//! none crosses the border, or inside [`border::compute`], which also gives the work a stack of its
//! own. C has to promise those rules and nothing else: the memory behind each pointer is what its
//! type says, for as long as the call takes.

// One contract for all of them: the rules for callers.
#![allow(clippy::missing_safety_doc)]

mod abi;
pub mod border;
mod circuit;
mod config;
mod failure;
mod inputs;
mod node;
mod outputs;
mod pointers;
mod session;
mod store;
mod version;

pub use abi::*;
pub use circuit::*;
pub use config::*;
pub use failure::*;
pub use inputs::*;
pub use node::*;
pub use outputs::*;
pub use session::*;
pub use store::*;
pub use version::*;

// The header allows several threads to read these at a time, and to hand any handle over.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn sent<T: Send>() {}
    shared::<CircuitHandle>();
    shared::<ConfigHandle>();
    shared::<StoreHandle>();
    shared::<Cancel>();
    shared::<NodeHandle>();
    shared::<CallHandle>();
    sent::<NodeConfigHandle>();
    sent::<InputsHandle>();
    sent::<OutputsHandle>();
    sent::<SessionHandle>();
};
