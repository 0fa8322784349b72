//! The library, as programs call it, and the pages that are written from it. One program, because
//! each takes seconds to link.
#![allow(missing_docs)]

mod batch;
mod boundaries;
mod cheats_stored;
mod cheats_table;
mod circuits;
mod components;
mod dealt;
mod links;
mod mesh;
mod session;
mod stored;
mod voided;
