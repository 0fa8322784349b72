//! Every phase of every run, as rows of a CSV file.

use super::args::BenchArgs;
use super::raw::Raw;
use super::report;
use super::result::{Measured, link_name};
use crate::args::given::protocol_options;
use crate::common::error::CliResult;

/// The columns before those of the protocols' options.
const FIRST: &str = "workload,protocol,parties,threads,link,rho,form,ot";

/// The columns after them.
const LAST: &str = "transport,split_phases,batch,one_by_one,session,run,party,phase,seconds,\
                    cpu_seconds,bytes_sent,bytes_received,messages_sent,messages_received,rounds";

/// Returns the names of all columns.
fn head() -> String {
    let options: String = protocol_options().map(|spec| spec.key() + ",").collect();
    format!("{FIRST},{options}{LAST}\n")
}

/// Writes the file that `--csv` names, if it was given.
///
/// # Errors
/// A failure when it cannot be written.
pub fn write(args: &BenchArgs, measurements: &[Measured]) -> CliResult<()> {
    let Some(path) = &args.csv else { return Ok(()) };
    report::write("--csv", path, &csv(measurements))
}

fn csv(measurements: &[Measured]) -> String {
    let mut text = head();
    for measured in measurements {
        let own = [
            measured.workload.clone(),
            measured.protocol.unwrap_or_default().to_string(),
            measured.parties.to_string(),
            measured.threads.to_string(),
            link_name(measured.link.as_deref()),
            measured.rho.to_string(),
            measured.choice.form.clone().unwrap_or_default(),
            measured.choice.ot.clone(),
        ];
        let settings = [
            measured.transport.to_string(),
            measured.split_phases.to_string(),
            measured.batch.to_string(),
            measured.one_by_one.to_string(),
        ];
        let options = protocol_options().map(|spec| measured.option(spec, " "));
        let what = own.into_iter().chain(options).chain(settings);
        let what: String = what.map(|text| cell(&text) + ",").collect();
        for Raw { session, run, party, cost } in &measured.raw {
            let run = run.map_or(String::new(), |run| run.to_string());
            let cpu = cost.cpu_seconds.map_or(String::new(), |cpu| cpu.to_string());
            text.push_str(&format!(
                "{what}{session},{run},{party},{},{},{cpu},{},{},{},{},{}\n",
                cell(&cost.phase),
                cost.seconds,
                cost.bytes_sent,
                cost.bytes_received,
                cost.messages_sent,
                cost.messages_received,
                cost.rounds
            ));
        }
    }
    text
}

/// Returns a cell of a CSV file, in quotes if it contains anything that would end it.
fn cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use symbolon::OptionSpec;

    use super::*;

    #[test]
    fn every_column_is_documented() {
        let page = include_str!("../../../../docs/reference/csv.md");
        let options: Vec<String> = protocol_options().map(OptionSpec::key).collect();
        for column in head().trim().split(',').filter(|name| !options.contains(&name.to_string())) {
            let found = page.contains(&format!("`{column}`"));
            assert!(found, "no `{column}` in docs/reference/csv.md");
        }
    }

    #[test]
    fn cells_hold_whatever_they_are_given() {
        assert_eq!(cell("add:8"), "add:8");
        assert_eq!(cell("20ms,100mbit"), "\"20ms,100mbit\"");
        assert_eq!(cell("a \"b\"\n"), "\"a \"\"b\"\"\n\"");
    }
}
