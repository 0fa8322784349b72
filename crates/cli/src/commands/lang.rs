//! `symbolon check`, `fmt`, `test` and `lsp`: work on `.sym` programs.

use std::path::{Path, PathBuf};

use clap::Args;
use symbolon_lang::diag::Diagnostic;
use symbolon_lang::source::read_source;
use symbolon_lang::{fmt::format, lsp::ServeError, testing::run_tests};

use crate::args::OwnerArgs;
use crate::args::program::ProgramArgs;
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell};
use crate::common::words::counted;
use crate::source::CircuitSpec;
use crate::source::program::{folder, wrong_program};

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// A `.sym` program
    pub file: String,
    /// How many parties
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub parties: Option<u16>,
    /// What it is compiled with.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Who gives its inputs.
    #[command(flatten)]
    pub owners: OwnerArgs,
    /// Print errors as JSON
    #[arg(long)]
    pub json: bool,
}

/// `check --json` prints a list of these. Lines and columns count characters from 1.
#[derive(serde::Serialize)]
struct ErrorJson {
    /// `error` or `warning`.
    level: &'static str,
    /// Such as `E03`.
    code: &'static str,
    /// What `#[allow(…)]` calls a warning; `null` for an error.
    lint: Option<&'static str>,
    /// The file as it was named.
    file: String,
    /// Of the first character.
    line: u32,
    /// Of the first character.
    column: u32,
    /// Of the one after the last.
    end_line: u32,
    /// Of the one after the last.
    end_column: u32,
    /// What is wrong.
    message: String,
    /// What to do about it.
    help: Option<String>,
}

/// Checks a program.
///
/// # Errors
/// A usage failure when it has errors, which are printed.
pub fn check(args: &CheckArgs) -> CliResult<()> {
    let text = read_source(Path::new(&args.file)).map_err(CliError::usage)?;
    let options = args.program.options(args.parties);
    let (errors, sources, circuit) = symbolon_lang::with_stack(|| {
        let checked = symbolon_lang::check(&args.file, &text, &folder(&args.file), &options);
        let found = checked.errors.errors() > 0;
        if found || checked.entry.is_none() {
            return (checked.errors, checked.sources, None);
        }
        let compiled =
            symbolon_lang::compile_here(&args.file, &text, &folder(&args.file), &options, false);
        match compiled {
            Ok((circuit, ..)) => (checked.errors, checked.sources, Some(circuit)),
            Err(errors) => (errors.list, errors.sources, None),
        }
    })?;
    if args.json {
        let error = |d: &Diagnostic| {
            let (line, column) = sources.position(d.span.file, d.span.start);
            let (end_line, end_column) = sources.position(d.span.file, d.span.end);
            ErrorJson {
                level: if d.code.lint().is_some() { "warning" } else { "error" },
                code: d.code.text(),
                lint: d.code.lint(),
                file: sources.name(d.span).to_string(),
                line,
                column,
                end_line,
                end_column,
                message: d.message.clone(),
                help: d.help.clone(),
            }
        };
        print_json(&errors.list().iter().map(error).collect::<Vec<_>>())?;
    } else {
        tell(&errors.render(&sources, false));
    }
    let owners = &args.owners.owners;
    match (errors.errors(), circuit) {
        (0, _) if owners.is_empty() => Ok(()),
        (0, Some(circuit)) => CircuitSpec::give(owners, circuit, args.parties).map(drop),
        (0, None) => Err(CliError::usage(format!("{} has no inputs for --owner", args.file))
            .with_hint("the parameters of the entry are the inputs: `fn main(x: u8 from 0)`")),
        (n, _) => Err(CliError::usage(format!("{} has {}", args.file, counted(n as u64, "error")))),
    }
}

/// Arguments of `fmt`.
#[derive(Args, Debug)]
pub struct FmtArgs {
    /// `.sym` programs
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing, and fail if anything would change
    #[arg(long)]
    pub check: bool,
}

/// Formats programs.
///
/// # Errors
/// A usage failure when a file cannot be read or is not made of tokens, or with `--check` when one
/// is not formatted.
pub fn fmt(args: &FmtArgs) -> CliResult<()> {
    let mut others = Vec::new();
    for path in &args.files {
        let text = read_source(path).map_err(CliError::usage)?;
        let shown = path.display().to_string();
        let formatted = format(&text).map_err(|_| {
            CliError::usage(format!("{shown} cannot be formatted"))
                .with_hint("`symbolon check` shows what is wrong")
        })?;
        if formatted == text {
            continue;
        }
        if args.check {
            others.push(shown);
        } else {
            std::fs::write(path, formatted)
                .map_err(|error| CliError::usage(format!("cannot write {shown}: {error}")))?;
        }
    }
    match &others[..] {
        [] => Ok(()),
        files => Err(CliError::usage(format!("not formatted: {}", files.join(", ")))),
    }
}

/// Arguments of `test`.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// A `.sym` program
    pub file: String,
    /// How many parties
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub parties: Option<u16>,
    /// What it is compiled with.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Fixes the random parameters of tests
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print the names of the tests, and run none
    #[arg(long, conflicts_with = "seed")]
    pub list: bool,
}

/// Runs the tests of a program.
///
/// # Errors
/// A usage failure when it has errors or a test fails.
pub fn test(args: &TestArgs) -> CliResult<()> {
    let text = read_source(Path::new(&args.file)).map_err(CliError::usage)?;
    let options = args.program.options(args.parties);
    let results = symbolon_lang::with_stack(|| {
        let checked = symbolon_lang::check(&args.file, &text, &folder(&args.file), &options);
        if checked.errors.errors() > 0 {
            return Err(wrong_program(&args.file, &checked.errors, &checked.sources));
        }
        let names = checked.tests.iter().map(|test| test.name.clone());
        Ok(if args.list {
            Err(names.collect::<Vec<_>>())
        } else {
            Ok(run_tests(&checked, args.seed))
        })
    })??;
    let results = match results {
        Ok(results) => results,
        Err(names) => return names.iter().try_for_each(|name| print(&format!("{name}\n"))),
    };
    let mut failed = 0;
    for result in &results {
        match &result.wrong {
            None => print(&format!("{}: passed\n", result.name))?,
            Some(wrong) => {
                failed += 1;
                print(&format!("{}: FAILED: {wrong}\n", result.name))?;
            }
        }
    }
    match failed {
        0 => print(&format!("{} passed\n", counted(results.len() as u64, "test"))),
        n => {
            Err(CliError::usage(format!("{n} of {} failed", counted(results.len() as u64, "test"))))
        }
    }
}

/// Arguments of `lsp`.
#[derive(Args, Debug)]
pub struct LspArgs {
    /// Talk over standard input and output; the only way there is, so it need not be given
    #[arg(long)]
    pub stdio: bool,
}

/// Serves an editor until it ends the session.
///
/// # Errors
/// A usage failure when it breaks the protocol.
pub fn lsp(_: &LspArgs) -> CliResult<()> {
    symbolon_lang::lsp::serve().map_err(|error| match error {
        ServeError::Editor(text) => CliError::usage(text),
        ServeError::NoThread(error) => error.into(),
    })
}
