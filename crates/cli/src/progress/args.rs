//! Options about what is shown while a command works.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::live::args::LiveArgs;
use crate::common::error::{CliError, CliResult};

/// Seconds between two lines of progress.
const INTERVAL: f64 = 10.0;

/// What is shown while a command works.
#[derive(Args, Debug, Default, Clone)]
#[command(next_help_heading = "Progress and log")]
pub struct ShowArgs {
    /// Show no progress and no costs
    #[arg(short, long)]
    pub quiet: bool,
    /// Log connections and phases; -vv logs work, too
    #[arg(short, long, action = clap::ArgAction::Count, conflicts_with = "log")]
    pub verbose: u8,
    /// Log by level and target: `debug`, or `symbolon::connect=debug,symbolon::phase=info`
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
    /// Append events to this file as they happen, one JSON object a line; docs/reference/json.md
    /// describes them
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Print the table of costs also when standard error is not a terminal
    #[arg(long)]
    pub costs: bool,
    /// Seconds between two lines of progress when standard error is not a terminal [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub progress_interval: Option<f64>,
    /// The live page.
    #[command(flatten)]
    pub live: LiveArgs,
}

impl ShowArgs {
    /// Returns the time between two lines of progress.
    ///
    /// # Errors
    /// A usage failure when it is out of range.
    pub fn interval(&self) -> CliResult<Duration> {
        let seconds = self.progress_interval.unwrap_or(INTERVAL);
        if !(0.01..=86_400.0).contains(&seconds) {
            return Err(CliError::usage("--progress-interval takes seconds, from 0.01 to a day's"));
        }
        Ok(Duration::from_secs_f64(seconds))
    }

    /// Returns these options, with those of `other` where they are not set.
    pub fn or(&self, other: ShowArgs) -> ShowArgs {
        let log = self.log.clone().or(other.log).filter(|_| self.verbose == 0);
        ShowArgs {
            quiet: self.quiet || other.quiet,
            verbose: if self.log.is_some() { 0 } else { self.verbose.max(other.verbose) },
            log,
            events: self.events.clone().or(other.events),
            costs: self.costs || other.costs,
            progress_interval: self.progress_interval.or(other.progress_interval),
            live: self.live.or(other.live),
        }
    }
}
