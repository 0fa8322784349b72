//! The command, as users run it. One program, because each takes seconds to link.

mod bench;
mod common;
mod dealer;
mod editor;
mod exhaustion;
mod exits;
mod formats;
mod json_docs;
mod keep;
mod kills;
mod live;
mod local;
mod options;
mod packaging;
mod pages;
mod parts;
mod programs;
mod progress;
mod reads;
mod remote;
mod samples;
mod secrets;
mod several;
mod strict;
mod tamper;
mod usage;
