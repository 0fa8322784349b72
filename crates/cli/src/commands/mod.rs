//! The commands. None uses another: what two of them need is in the folders beside this one.

pub mod about;
pub mod bench;
pub mod cache;
pub mod calibrate;
#[cfg(feature = "service")]
pub mod call;
pub mod circuit;
pub mod cost;
pub mod dealer;
pub mod demo;
pub mod identity;
pub mod lang;
pub mod local;
pub mod offline;
pub mod paper;
pub mod parts;
pub mod plan;
pub mod run;
#[cfg(feature = "service")]
pub mod serve;
pub mod store;
#[cfg(feature = "service")]
pub mod submit;
