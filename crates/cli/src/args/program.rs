//! What a `.sym` program is compiled with.

use clap::Args;
use symbolon_lang::Options;

use crate::common::error::{CliError, CliResult};
use crate::common::words::assignment;

/// What a `.sym` program is compiled with.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramArgs {
    /// The function of a `.sym` program to compute [default: main]
    #[arg(long, value_name = "FUNCTION")]
    pub entry: Option<String>,
    /// Set a `pub const` of a `.sym` program
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = assignment)]
    pub constants: Vec<(String, String)>,
    /// Whether clients give their values in the clear.
    #[arg(skip)]
    pub clear_clients: bool,
}

impl ProgramArgs {
    /// Refuses options for programs if the circuit is not one.
    ///
    /// # Errors
    /// A usage failure that names the option.
    pub fn refuse_for(&self, circuit: &str) -> CliResult<()> {
        let given = [(self.entry.is_some(), "--entry"), (!self.constants.is_empty(), "--const")];
        match given.iter().find(|(given, _)| *given) {
            Some((_, option)) => Err(CliError::usage(format!(
                "{option} is for `.sym` programs; {circuit} is not one"
            ))),
            None => Ok(()),
        }
    }

    /// Returns the compiler's options.
    pub fn options(&self, parties: Option<u16>) -> Options {
        let (entry, constants) = (self.entry.clone(), self.constants.clone());
        Options { entry, constants, parties, clear_clients: self.clear_clients }
    }
}
