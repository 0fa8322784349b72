//! OTs between two parties over real channels, and cheats. One program, because each takes seconds
//! to link.
#![allow(missing_docs)]

mod base;
mod cheats;
mod cheats_softspoken;
mod common;
mod iknp;
mod rates;
mod softspoken;
