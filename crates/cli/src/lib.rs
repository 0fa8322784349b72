//! The `symbolon` command: reads files and flags, prints results, progress and costs.
//!
//! It is a library so that what reads settings files can be fuzzed; `main.rs` calls [`main`].

mod args;
mod batch;
mod bench;
mod circuits;
mod dealer;
mod demo;
mod failure;
mod identity;
mod keep;
mod local;
mod meet;
mod party;
mod play;
mod progress;
mod results;
mod run;
mod settings;
mod source;
mod stores;
mod table;
mod tables;
mod timeline;
mod troupe;
mod tuning;
mod values;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::args::{Cli, Command};
use crate::failure::{Class, Failure};
use crate::results::tell;

/// Does what the command line says; its exit code is the process's.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let silent = matches!(cli.command, Command::Party);
    let done = match &cli.command {
        Command::Demo(args) => demo::command(args),
        Command::Run(args) => run::command(args),
        Command::Preprocess(args) => keep::preprocess(args),
        Command::Prepare(args) => keep::prepare(args),
        Command::Store(args) => stores::command(&args.command),
        Command::Dealer(args) => dealer::command(args),
        Command::Local(args) => local::command(args),
        Command::Bench(args) => bench::command(args),
        Command::Circuit(args) => circuits::command(&args.command),
        Command::Keygen(args) => identity::keygen(args),
        Command::Fingerprint(args) => identity::fingerprint(args),
        Command::Party => party::command(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !silent {
                tell(&format!("{failure}\n"));
            }
            ExitCode::from(failure.class.code())
        }
    }
}

/// Reads a settings file as `symbolon run --config` does, and opens nothing that it names.
///
/// # Errors
/// What is wrong with it, as the user is told.
pub fn check_settings(text: &str) -> Result<(), String> {
    settings::check(text).map_err(|failure| failure.to_string())
}

/// Prints help, or what is wrong with the command line, without repeating values that may be secret.
fn refuse(error: &clap::Error) -> ExitCode {
    let helpful = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if helpful {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let quotes = matches!(
        error.kind(),
        ErrorKind::UnknownArgument
            | ErrorKind::InvalidValue
            | ErrorKind::ValueValidation
            | ErrorKind::InvalidSubcommand
            | ErrorKind::InvalidUtf8
            | ErrorKind::TooManyValues
            | ErrorKind::WrongNumberOfValues
    );
    let secretive = std::env::args_os().any(|word| word.to_string_lossy().starts_with("--input"));
    if quotes && secretive && quotes_a_value(&error.to_string()) {
        // A value that slipped into the wrong place would be quoted whole.
        let failure = Failure::usage("an input's value stands where another argument should")
            .with_hint(
                "inputs are given as --input NAME=VALUE, in one word; quote values with spaces",
            );
        tell(&format!("{failure}\n"));
    } else {
        let _ = error.print();
    }
    ExitCode::from(Class::Usage.code())
}

/// Whether a message repeats a word of the command line that may be an input's value: the word after
/// `--input`, what follows it up to the next option, or anything in a value's form.
fn quotes_a_value(message: &str) -> bool {
    let mut after_input = false;
    std::env::args_os().skip(1).any(|word| {
        let word = word.to_string_lossy();
        if word.starts_with("--") {
            after_input = word.starts_with("--input");
        }
        let form = ["hex:", "bits:"].iter().any(|form| word.contains(form));
        let suspect = form || (after_input && word != "--input");
        suspect && message.contains(&*word)
    })
}
