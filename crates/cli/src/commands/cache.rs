//! `symbolon cache`: the compiled programs that earlier commands kept.

use clap::{Args, Subcommand};
use symbolon::escape::one_line;
use time::OffsetDateTime;

use crate::common::cost_table::{align, bytes};
use crate::common::error::{CliError, CliResult};
use crate::common::output::print;
use crate::common::words::counted;
use crate::source::cache::{Cache, Listed};

/// Arguments of `cache`.
#[derive(Args, Debug)]
pub struct CacheArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: CacheCommand,
}

/// What can be done with compiled programs.
#[derive(Subcommand, Debug)]
pub enum CacheCommand {
    /// List the compiled programs, those used last first
    Ls,
    /// Remove the compiled programs
    Clear,
}

/// Runs one of the commands.
///
/// # Errors
/// A usage failure when the folder is unknown, unreadable or not this user's alone.
pub fn command(args: &CacheArgs) -> CliResult<()> {
    let cache = Cache::of_user().ok_or_else(|| {
        CliError::usage("no cache folder: neither XDG_CACHE_HOME nor HOME names one")
    })?;
    let failed = |error: std::io::Error| {
        let what = format!("cannot use the cache {}", cache.folder().display());
        CliError::io(what, &error)
    };
    match args.command {
        CacheCommand::Ls => print(&table(&cache.list().map_err(failed)?)),
        CacheCommand::Clear => {
            let (files, removed) = cache.clear().map_err(failed)?;
            let files = counted(files, "compiled program");
            print(&format!("removed: {files}, {}\n", bytes(removed)))
        }
    }
}

fn table(entries: &[Listed]) -> String {
    if entries.is_empty() {
        return "no compiled programs\n".to_string();
    }
    let mut rows = vec![["program", "circuit", "last used, UTC", "size"].map(String::from)];
    for entry in entries {
        let used = OffsetDateTime::from(entry.used);
        let (date, time) = (used.date(), used.time());
        rows.push([
            entry.program.as_deref().map_or("damaged".to_string(), |path| one_line(path).into()),
            entry.circuit.get(..8).map_or("-".to_string(), |digest| format!("{digest}…")),
            format!("{date} {:02}:{:02}", time.hour(), time.minute()),
            bytes(entry.bytes),
        ]);
    }
    align(&rows, 3)
}
