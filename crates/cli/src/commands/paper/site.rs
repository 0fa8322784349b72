//! Where rows are run: on this machine, or between it and another one.

use super::args::{Pace, PaperArgs};
use super::tables::Chosen;
use crate::args::options::LocalTransport;
use crate::common::error::CliResult;
use crate::measure;
use crate::measure::args::BenchArgs;
use crate::measure::machine::Machine;
use crate::measure::remote::Remote;
use crate::measure::result::Measured;

/// Where rows are run.
pub enum Site {
    /// All parties on this machine.
    Here(Machine),
    /// A party on this machine, the other one on another.
    Between(Box<Between>),
}

/// This machine and another one. Both decide in the same way which row is next, so a row that fails
/// is the last one: after it they may disagree on the next row.
pub struct Between {
    remote: Remote,
    transport: LocalTransport,
    over: bool,
}

impl Site {
    /// Returns this machine, or both if the command line names another one, after connecting to it.
    ///
    /// # Errors
    /// Those of `bench` when the other machine is not reached, or is to measure other rows.
    pub fn new(args: &PaperArgs, papers: &[Chosen], pace: Pace) -> CliResult<Site> {
        let Some((party, remote, transport)) = args.other_machine() else {
            return Ok(Site::Here(Machine::here()));
        };
        let tables = |paper: &Chosen| {
            let names: Vec<&str> = paper.tables.table.iter().map(|t| t.name.as_str()).collect();
            format!("{}: {}", paper.name, names.join(", "))
        };
        let papers: Vec<String> = papers.iter().map(tables).collect();
        let repeat = pace.repeat.map_or("as it fits".to_string(), |repeat| repeat.to_string());
        let quick = pace.quick.map_or("no".to_string(), |minutes| format!("{minutes} minutes"));
        let about = [("papers", papers.join("; ")), ("quick", quick), ("repeat", repeat)];
        let endpoint = (remote, transport);
        let remote = Remote::meet(party, endpoint, symbolon::DEFAULT_TIMEOUT, &about)?;
        Ok(Site::Between(Box::new(Between { remote, transport, over: false })))
    }

    /// Returns the machines, by party.
    pub fn machines(&self) -> Vec<Machine> {
        match self {
            Site::Here(machine) => vec![machine.clone()],
            Site::Between(between) => between.remote.machines().to_vec(),
        }
    }

    /// Returns whether each party has a machine of its own.
    pub fn is_between(&self) -> bool {
        matches!(self, Site::Between(_))
    }

    /// Returns why a command cannot be run here, or `None` if it can.
    pub fn obstacle(&self, args: &BenchArgs) -> Option<&'static str> {
        match self {
            Site::Here(_) => None,
            Site::Between(between) if between.over => {
                Some("Left out: an earlier row failed, and the two machines stopped there.")
            }
            Site::Between(_) if args.dealer || args.parties.iter().any(|n| *n != 2) => {
                Some("Between two machines two parties are measured.")
            }
            Site::Between(_) => None,
        }
    }

    /// Runs a command.
    ///
    /// # Errors
    /// Those of `bench`.
    pub fn measure(&mut self, mut args: BenchArgs) -> CliResult<Vec<Measured>> {
        match self {
            Site::Here(_) => measure::measurements(&args, None),
            Site::Between(between) => {
                args.transport = Some(between.transport);
                let measured = measure::measurements(&args, Some(&mut between.remote));
                between.over |= measured.is_err();
                measured
            }
        }
    }
}
