//! `.sym` programs: compiling, checking, formatting, costs, tests.

use std::path::{Path, PathBuf};

use clap::Args;
use symbolon::circuit::{Circuit, Failure};
use symbolon_lang::diag::{Code, Diagnostic, Diagnostics};
use symbolon_lang::source::{Folder, Sources, read_source};
use symbolon_lang::{CompileError, Options, fmt::format, lsp::ServeError, testing::run_tests};

use crate::error::{CliError, CliResult};
use crate::output::{print, print_json, tell};
use crate::results::OutputJson;
use crate::words::{assignment, counted};

/// What a `.sym` program is compiled with.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramArgs {
    /// The function of a `.sym` program to compute [default: main]
    #[arg(long, value_name = "FUNCTION")]
    pub entry: Option<String>,
    /// Set a `pub const` of a `.sym` program
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = assignment)]
    pub constants: Vec<(String, String)>,
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
        Options { entry: self.entry.clone(), constants: self.constants.clone(), parties }
    }
}

/// Returns whether a circuit is named by a `.sym` file.
pub fn is_program(circuit: &str) -> bool {
    Path::new(circuit).extension().is_some_and(|extension| extension == "sym")
}

/// Returns where the modules of a program are.
pub fn folder(path: &str) -> Folder {
    Folder(Path::new(path).parent().map_or_else(PathBuf::new, Path::to_path_buf))
}

/// Prints a program's errors, each with its lines, and returns a failure of one line.
pub fn wrong_program(path: &str, list: &Diagnostics, sources: &Sources) -> CliError {
    tell(&list.render(sources, false));
    CliError::usage(format!("{path} has {}", counted(list.errors() as u64, "error")))
}

/// Compiles a program.
///
/// # Errors
/// A usage failure when it has errors, which are printed.
pub fn compile(path: &str, program: &ProgramArgs, parties: Option<u16>) -> CliResult<Circuit> {
    let text = read_source(Path::new(path)).map_err(CliError::usage)?;
    // The program determines the number of parties if nobody else does.
    let options = program.options(parties);
    symbolon_lang::compile(path, &text, &folder(path), &options).map_err(|error| match error {
        CompileError::Program(errors) => wrong_program(path, &errors.list, &errors.sources),
        CompileError::NoThread(error) => error.into(),
    })
}

/// Fails with the assert that the outputs report as failed.
///
/// # Errors
/// That failure.
pub fn check_failure(circuit: &Circuit, outputs: &[OutputJson]) -> CliResult<()> {
    let bits = outputs.iter().map(|learnt| learnt.bits.as_ref());
    let bits = bits.map(|bits| Some(bits?.bytes().map(|byte| byte == b'1').collect::<Vec<_>>()));
    match failed_assert(circuit, bits) {
        Some(text) => Err(CliError::assert(text)),
        None => Ok(()),
    }
}

/// Returns the text and the place of the failed assert, from the bits of all outputs.
pub fn failed_assert<B: AsRef<[bool]>>(
    circuit: &Circuit,
    outputs: impl Iterator<Item = Option<B>>,
) -> Option<String> {
    let failures = circuit.outputs().iter().zip(outputs);
    let mut failures =
        failures.filter_map(|(output, bits)| circuit.failure(output, bits?.as_ref()));
    failures.next().map(ToString::to_string)
}

/// Returns asserts of which one has failed in words, if there are any.
pub fn one_of(failures: &[&Failure]) -> Option<String> {
    const SHOWN: usize = 4;
    let texts = failures.iter().take(SHOWN).map(ToString::to_string);
    let texts = texts.collect::<Vec<_>>().join("; ");
    match failures.len() {
        0 => None,
        1 => Some(texts),
        n if n > SHOWN => Some(format!("one of {n} asserts: {texts}; …")),
        _ => Some(format!("one of these asserts: {texts}")),
    }
}

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
    let (errors, sources) = symbolon_lang::with_stack(|| {
        let checked = symbolon_lang::check(&args.file, &text, &folder(&args.file), &options);
        let found = checked.errors.errors() > 0;
        if found || checked.entry.is_none() {
            return (checked.errors, checked.sources);
        }
        let compiled =
            symbolon_lang::compile_here(&args.file, &text, &folder(&args.file), &options, false);
        match compiled {
            Ok(_) => (checked.errors, checked.sources),
            Err(errors) => (errors.list, errors.sources),
        }
    })?;
    if args.json {
        let error = |d: &Diagnostic| {
            let (line, column) = sources.position(d.span.file, d.span.start);
            let (end_line, end_column) = sources.position(d.span.file, d.span.end);
            ErrorJson {
                level: if d.code == Code::Lint { "warning" } else { "error" },
                code: d.code.text(),
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
    match errors.errors() {
        0 => Ok(()),
        n => Err(CliError::usage(format!("{} has {}", args.file, counted(n as u64, "error")))),
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
        Ok(run_tests(&checked, args.seed))
    })??;
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
