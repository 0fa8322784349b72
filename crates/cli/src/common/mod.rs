//! What all commands stand on: errors, output, words, files.

pub mod colours;
pub mod cost_table;
pub mod error;
pub mod interrupt;
pub mod output;
pub mod packed;
pub mod page;
pub mod peer;
pub mod reading;
pub mod refusal;
pub mod screen;
pub mod secret;
pub mod signal;
pub mod timeline;
pub mod words;
