//! What the program says about itself: its version, completions for shells, manual pages.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::Args;
use clap_complete::Shell;

use crate::common::error::{CliError, CliResult};
use crate::common::output::print;

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Write a page for every command into this directory, which must exist
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Returns everything that two sides may have to compare, one line each.
pub fn version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!(
            "{}\ncommit {}\nbackend {}\nwire {}\nstore {}",
            env!("CARGO_PKG_VERSION"),
            env!("SYMBOLON_COMMIT"),
            symbolon::backend(),
            symbolon::PROTOCOL_VERSION,
            symbolon::store::FORMAT_VERSION,
        )
    })
}

/// Prints a script of completions for this command line.
///
/// # Errors
/// Those of [`print`](fn@print).
pub fn completions(args: &CompletionsArgs, command: &mut clap::Command) -> CliResult<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "symbolon", &mut script);
    write_raw(&script)
}

/// Prints the main manual page of this command line, or writes those of all commands.
///
/// # Errors
/// A failure when the pages cannot be written.
pub fn man(args: &ManArgs, mut command: clap::Command) -> CliResult<()> {
    command.build();
    match &args.out {
        Some(folder) => write_pages(&command, "symbolon", folder),
        None => write_raw(&page(&command)?),
    }
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &clap::Command, name: &str, folder: &Path) -> CliResult<()> {
    let path = folder.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?)
        .map_err(|error| CliError::unwritten(format!("cannot write {}", path.display()), &error))?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        if sub.get_name() != "help" {
            write_pages(sub, &format!("{name}-{}", sub.get_name()), folder)?;
        }
    }
    Ok(())
}

fn page(command: &clap::Command) -> CliResult<Vec<u8>> {
    let mut text = Vec::new();
    // The long version has several lines, for which a heading has no room.
    let command = command.clone().long_version(None::<&str>);
    clap_mangen::Man::new(command)
        .render(&mut text)
        .map_err(|error| CliError::internal(format!("cannot write a manual page: {error}")))?;
    Ok(text)
}

fn write_raw(text: &[u8]) -> CliResult<()> {
    print(&String::from_utf8_lossy(text))
}
