//! `.sym` programs: where they are, and what is wrong with them.

use std::path::{Path, PathBuf};

use symbolon::circuit::Circuit;
use symbolon::escape::one_line;
use symbolon_lang::CompileError;
use symbolon_lang::diag::Diagnostics;
use symbolon_lang::source::{Folder, Sources, read_source};

use super::cache::{Cache, Key, Recorder};
use crate::args::program::ProgramArgs;
use crate::common::error::{CliError, CliResult};
use crate::common::output::tell;
use crate::common::words::counted;
use crate::progress::live;

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
    CliError::usage(format!("{path} has {}", counted(list.own_errors() as u64, "error")))
}

/// Compiles a program, or takes its circuit from the user's cache, unless `anew`.
///
/// # Errors
/// A usage failure when it has errors, which are printed.
pub fn compile(
    path: &str,
    program: &ProgramArgs,
    parties: Option<u16>,
    anew: bool,
) -> CliResult<Circuit> {
    let text = read_source(Path::new(path)).map_err(CliError::usage)?;
    // The program determines the number of parties if nobody else does.
    let (options, folder) = (program.options(parties), folder(path));
    let cache = Cache::of_user().filter(|_| !anew);
    let cache = cache.zip(Key::of(path, &text, &options));
    if let Some(circuit) = cache.as_ref().and_then(|(cache, key)| cache.find(key, &folder)) {
        return Ok(circuit);
    }
    live::doing(&format!("Compiling {}", one_line(path)));
    let recorder = Recorder::new(&folder);
    let compiled = symbolon_lang::compile(path, &text, &recorder, &options);
    let circuit = compiled.map_err(|error| match error {
        CompileError::Program(errors) => wrong_program(path, &errors.list, &errors.sources),
        CompileError::Unread(text) => CliError::usage(text),
        CompileError::NoThread(error) => error.into(),
    })?;
    if let Some((cache, key)) = cache {
        // A folder that is full, or not to be written to, costs time only.
        let _ = cache.keep(&key, path, recorder, &circuit);
    }
    Ok(circuit)
}
