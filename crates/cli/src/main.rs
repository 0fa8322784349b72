//! The `symbolon` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    symbolon_cli::main()
}
