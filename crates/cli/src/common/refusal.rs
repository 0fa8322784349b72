//! Messages about a command line that cannot be understood.
//!
//! Any misplaced word may be an input that lacks `--input` or quotes. So a refusal quotes the
//! command's own words, and of the user's words only options made of letters; everything else is
//! identified by its place.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::common::error::CliError;
use crate::common::output::{lacks_json, print_json, report};
use crate::common::words::loose_elements;

/// Prints help, or the error in the command line.
pub fn refuse(error: &clap::Error) -> ExitCode {
    let failure = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        // These only name the command's own arguments.
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::ArgumentConflict => {
            let _ = error.print();
            let failure = CliError::usage("the arguments are incomplete or exclude each other");
            if lacks_json() {
                let _ = print_json(&failure.json());
            }
            return ExitCode::from(failure.exit_code());
        }
        ErrorKind::UnknownArgument => unknown(error),
        ErrorKind::InvalidSubcommand => {
            let place = place(error, ContextKind::InvalidSubcommand);
            let failure = CliError::usage(format!("unrecognized subcommand{place}"));
            match context(error, ContextKind::InvalidSubcommand).and_then(renamed) {
                Some(new) => failure.with_hint(format!("it is now called {new}")),
                None => suggest(error, failure),
            }
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => invalid(error),
        _ => CliError::usage("the command line cannot be understood")
            .with_hint("see `symbolon --help`, and the --help of each command"),
    };
    report(&failure)
}

/// Returns the present name of an option, subcommand or key of settings, from its name in an
/// earlier version.
pub fn renamed(old: &str) -> Option<&'static str> {
    Some(match old {
        "--stretch" => "--segment-gates",
        "--apart" => "--split-phases",
        "--anew" => "--fresh-session",
        "--patience" => "--join-timeout",
        "adopt" => "reset-ownership",
        "stretch" => "segment_gates",
        _ => return None,
    })
}

fn unknown(error: &clap::Error) -> CliError {
    let place = place(error, ContextKind::InvalidArg);
    let option = context(error, ContextKind::InvalidArg).and_then(option_name);
    match option {
        Some(option) => {
            let failure = CliError::usage(format!("unexpected option {option}{place}"));
            match renamed(option) {
                Some(new) => failure.with_hint(format!("{option} is now called {new}")),
                None => suggest(error, failure),
            }
        }
        None => {
            let failure = CliError::usage(format!("unexpected argument{place}"));
            failure.with_hint(loose_elements().unwrap_or_else(|| {
                "an input is given as --input NAME=VALUE, in one word: quote values with spaces"
                    .to_string()
            }))
        }
    }
}

fn invalid(error: &clap::Error) -> CliError {
    let argument = context(error, ContextKind::InvalidArg).unwrap_or("an argument");
    if context(error, ContextKind::InvalidValue) == Some("") {
        return CliError::usage(format!("{argument} needs a value"));
    }
    if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue)
        && !valid.is_empty()
    {
        return CliError::usage(format!("{argument} takes {}", valid.join(", ")));
    }
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    // The range of a number, without the number.
    match why.rsplit_once(" is not in ") {
        Some((_, range)) => CliError::usage(format!("{argument} takes a number in {range}")),
        None => CliError::usage(format!("{argument}: {why}")),
    }
}

/// Adds the argument or command that may have been meant.
fn suggest(error: &clap::Error, failure: CliError) -> CliError {
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    let first = |kind| match error.get(kind)? {
        ContextValue::String(own) => Some(own.as_str()),
        ContextValue::Strings(own) => own.first().map(String::as_str),
        _ => None,
    };
    match kinds.into_iter().find_map(first) {
        Some(own) => failure.with_hint(format!("did you mean {own}?")),
        None => failure.with_hint("see --help"),
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the place on the command line of the word that an error is about.
fn place(error: &clap::Error, kind: ContextKind) -> String {
    let Some(word) = context(error, kind) else { return String::new() };
    let found = std::env::args_os().position(|given| {
        let given = given.to_string_lossy();
        given.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    });
    found.map_or(String::new(), |place| format!(" (argument {place})"))
}

/// Returns the name of an option, if a word has the form of one and nothing in it can be a value.
fn option_name(word: &str) -> Option<&str> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (name.starts_with("--") && name.len() <= 24 && letters(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_of_letters_are_repeated() {
        assert_eq!(option_name("--inptu=5ec4e7"), Some("--inptu"));
        assert_eq!(option_name("--no-such"), Some("--no-such"));
        for word in ["--0x5ec4e7", "-5", "x=1", "--5ec4e7=1", "--abcdefabcdefabcdefabcdefabcdef"] {
            assert_eq!(option_name(word), None, "{word}");
        }
    }
}
