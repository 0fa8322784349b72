//! Both parties in one process, with parameters of the test's choice.

mod cheats;
mod cheats_in_flight;
mod runs;
mod times;
mod tools;
mod wire;
