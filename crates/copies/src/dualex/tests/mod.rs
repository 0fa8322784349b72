//! Runs both parties in one process, with parameters that the test chooses.

mod cheats;
mod cheats_in_flight;
mod garbling_cheat;
mod privacy;
mod random_functions;
mod runs;
mod times;
mod tools;
mod wire;
