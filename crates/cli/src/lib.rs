//! The `symbolon` command: reads files and flags, prints results, progress and costs.
//!
//! It is a library so that the reader of settings files can be fuzzed; `main.rs` calls [`main`].

mod args;
mod command_line;
mod commands;
mod common;
mod measure;
#[cfg(test)]
mod option_docs;
mod parties;
mod progress;
mod results;
mod settings;
mod source;

pub use parties::exhaustion::end_well_without_memory;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::command_line::{Cli, Command};
use crate::commands::{
    about, bench, cache, calibrate, circuit, cost, dealer, demo, identity, lang, local, offline,
    paper, parts, plan, run, store,
};
use crate::common::error::{CliError, CliResult};
use crate::common::output::{report, want_json};

/// Runs the command line, and returns the exit code.
pub fn main() -> ExitCode {
    if std::env::args_os().any(|word| word == "--json") {
        want_json();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return common::refusal::refuse(&error),
    };
    let silent = matches!(cli.command, Command::Party);
    // A defect of ours is an exit code and a document like every other failure.
    let done = catch_unwind(AssertUnwindSafe(|| dispatch(&cli.command)));
    let done = done.unwrap_or_else(|_| Err(CliError::internal("the command panicked, see above")));
    match &done {
        Ok(()) => progress::finish(0, None),
        Err(failure) => progress::finish(failure.exit_code(), Some(failure)),
    }
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if silent => ExitCode::from(failure.exit_code()),
        Err(failure) => report(&failure),
    }
}

fn dispatch(command: &Command) -> CliResult<()> {
    match command {
        Command::Demo(args) => demo::command(args),
        Command::Run(args) => run::command(args),
        Command::Preprocess(args) => offline::preprocess(args),
        Command::Prepare(args) => offline::prepare(args),
        Command::Parts(args) => parts::command(args),
        Command::Store(args) => store::command(&args.command),
        Command::Dealer(args) => dealer::command(args),
        #[cfg(feature = "service")]
        Command::Serve(args) => commands::serve::command(args),
        #[cfg(feature = "service")]
        Command::Call(args) => commands::call::command(args),
        #[cfg(feature = "service")]
        Command::Submit(args) => commands::submit::command(args),
        Command::Local(args) => local::command(args),
        Command::Bench(args) => bench::command(args),
        Command::Paper(args) => paper::command(args),
        Command::Cache(args) => cache::command(args),
        Command::Circuit(args) => circuit::command(&args.command),
        Command::Check(args) => lang::check(args),
        Command::Fmt(args) => lang::fmt(args),
        Command::Cost(args) => cost::command(args),
        Command::Plan(args) => plan::command(args),
        Command::Calibrate(args) => calibrate::command(args),
        Command::Test(args) => lang::test(args),
        Command::Eval(args) => circuit::eval(args),
        Command::Lsp(args) => lang::lsp(args),
        Command::Keygen(args) => identity::keygen(args),
        Command::Fingerprint(args) => identity::fingerprint(args),
        Command::Completions(args) => about::completions(args, &mut Cli::command()),
        Command::Man(args) => about::man(args, Cli::command()),
        Command::Party => parties::child::command(),
    }
}

/// Returns the HTTP status with which the server of `--live` answers these bytes.
pub fn check_live_request(bytes: &[u8]) -> std::io::Result<u16> {
    progress::live::check_request(bytes)
}

/// Reads a settings file as `symbolon run --config` does, and opens nothing that it names.
///
/// # Errors
/// The error that the user sees.
pub fn check_settings(text: &str) -> Result<(), String> {
    settings::check(text).map_err(|failure| failure.to_string())
}
