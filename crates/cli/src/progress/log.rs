//! The log: events of the `tracing` crate, on standard error.

use std::io::{self, IsTerminal, Write};

use symbolon::circuit::PartyId;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::args::ShowArgs;
use crate::common::error::{CliError, CliResult};
use crate::common::screen;
use symbolon::escape::printable;

impl ShowArgs {
    /// Returns what is logged, as a filter of `tracing`.
    pub fn log_filter(&self) -> Option<String> {
        match (self.verbose, &self.log) {
            (_, Some(filter)) => Some(filter.clone()),
            (0, None) => None,
            (1, None) => Some("symbolon=info".to_string()),
            (_, None) => Some("symbolon=debug".to_string()),
        }
    }
}

/// Begins to log, if requested.
///
/// # Errors
/// A usage failure when the filter is invalid.
pub fn set_up(show: &ShowArgs) -> CliResult<()> {
    match show.log_filter() {
        Some(filter) => log(&filter, String::new()),
        None => Ok(()),
    }
}

/// Begins to log in a process that is one of several parties.
///
/// # Errors
/// Those of [`set_up`].
pub fn log_as_party(filter: &str, party: PartyId) -> CliResult<()> {
    log(filter, format!("party {party}: "))
}

fn log(filter: &str, prefix: String) -> CliResult<()> {
    let parsed = EnvFilter::builder().parse(filter).map_err(|_| {
        CliError::usage("--log takes a level, or levels of targets separated by commas")
            .with_hint("levels are error, warn, info, debug and trace; a target is given as symbolon::connect=debug")
    })?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(parsed)
        .with_ansi(false)
        .with_writer(ToScreen { prefix: prefix.into_bytes() });
    // A second one in a process changes nothing: the first was set up by the same options.
    let _ = match io::stderr().is_terminal() {
        true => subscriber.without_time().try_init(),
        false => subscriber.try_init(),
    };
    Ok(())
}

/// Writes lines of the log to standard error.
struct ToScreen {
    prefix: Vec<u8>,
}

impl<'a> MakeWriter<'a> for ToScreen {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> LineWriter<'a> {
        LineWriter(&self.prefix)
    }
}

/// Writes a line of the log, with its prefix and without control characters.
struct LineWriter<'a>(&'a [u8]);

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        screen::write(&[self.0, printable(&text).as_bytes()].concat());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
