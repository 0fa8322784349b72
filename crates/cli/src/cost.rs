//! `symbolon cost`: what a program costs, as text, JSON or a page with its source.

mod page;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use symbolon::circuit::{Circuit, Plan};
use symbolon::{Compiled, Protocol};
use symbolon_lang::cost::report;
use symbolon_lang::source::{Sources, read_source};

use report::{CostJson, ProtocolBytes};

use crate::cost_table::{align, bytes};
use crate::error::{CliError, CliResult};
use crate::lang::{ProgramArgs, folder};
use crate::output::{print, print_json, tell};
use crate::source::parties_of;

/// Arguments of `cost`.
#[derive(Args, Debug)]
pub struct CostArgs {
    /// A `.sym` program
    pub file: String,
    /// How many parties
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub parties: Option<u16>,
    /// What it is compiled with.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Write one self-contained page: the source with the gates of each line
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Shows what a program costs.
///
/// # Errors
/// A usage failure with all errors of the program, and when the page cannot be written.
pub fn command(args: &CostArgs) -> CliResult<()> {
    let text = read_source(Path::new(&args.file)).map_err(CliError::usage)?;
    let options = args.program.options(args.parties);
    let (circuit, report, sources) = symbolon_lang::with_stack(|| {
        symbolon_lang::compile_here(&args.file, &text, &folder(&args.file), &options, true)
            .map(|(circuit, costs, sources)| {
                let report = report(&circuit, &costs.unwrap_or_default(), &sources);
                (circuit, report, sources)
            })
            .map_err(|errors| CliError::usage(format!("{} has errors\n\n{errors}", args.file)))
    })?;
    let parties = args.parties.unwrap_or_else(|| parties_of(&circuit));
    let cost = CostJson {
        format: "symbolon-cost-1",
        program: args.file.clone(),
        parties,
        and_without_lookups: Plan::new(&circuit).and_count(),
        bytes: protocol_bytes(&circuit, parties),
        report,
    };
    if let Some(path) = &args.html {
        write_page(path, &cost, &sources)?;
    }
    if args.json {
        return print_json(&cost);
    }
    if args.html.is_some() {
        return Ok(());
    }
    print(&shown(&cost))
}

fn write_page(path: &Path, cost: &CostJson, sources: &Sources) -> CliResult<()> {
    std::fs::write(path, page::page(cost, sources))
        .map_err(|error| CliError::io(format!("cannot write {}", path.display()), &error))?;
    tell(&format!("wrote {}\n", path.display()));
    Ok(())
}

fn shown(cost: &CostJson) -> String {
    let report = &cost.report;
    let mut functions = vec![["function", "", "AND gates", "look-ups"].map(String::from)];
    for function in &report.functions {
        let place = format!("{}:{}", function.file, function.line);
        let (ands, lookups) = (function.ands.to_string(), function.lookups.to_string());
        functions.push([function.name.clone(), place, ands, lookups]);
    }
    let mut components = vec![
        ["component", "calls", "AND gates", "look-ups", "depth", "live wires", "port bits"]
            .map(String::from),
    ];
    for component in &report.components {
        components.push([
            component.name.clone(),
            component.calls.to_string(),
            component.ands.to_string(),
            component.lookups.to_string(),
            component.depth.to_string(),
            component.live_wires.to_string(),
            component.port_bits.to_string(),
        ]);
    }
    let mut lines =
        vec![["line", "AND gates", "look-ups", "calls", "port bits", "asserts"].map(String::from)];
    let row = |name: String, rest: [String; 2]| {
        let [ands, lookups] = rest;
        [name, ands, lookups, String::new(), String::new(), String::new()]
    };
    for line in &report.lines {
        let place = format!("{}:{}", line.file, line.line);
        let counts = [line.ands, line.lookups, line.calls, line.port_bits, line.asserts];
        let [ands, lookups, calls, port_bits, asserts] = counts.map(|count| count.to_string());
        lines.push([place, ands, lookups, calls, port_bits, asserts]);
    }
    if report.unused > 0 {
        let saved = format!("-{}", report.unused);
        lines.push(row("not needed, or optimised away".to_string(), [saved, String::new()]));
    }
    let all = [report.ands.to_string(), report.lookups.to_string()];
    lines.push(row("in all".to_string(), all));
    if cost.and_without_lookups != report.ands {
        let gates = cost.and_without_lookups.to_string();
        lines.push(row("with gates for look-ups".to_string(), [gates, String::new()]));
    }
    let one = |name: &str, value: String| [name.to_string(), value];
    let whole =
        [one("depth", report.depth.to_string()), one("live wires", report.live_wires.to_string())];
    let mut protocols = vec![["protocol", "bytes after the triples"].map(String::from)];
    for protocol in &cost.bytes {
        protocols.push([protocol.name(), bytes(protocol.bytes)]);
    }
    let tables = [
        align(&functions, 2),
        align(&components, 1),
        align(&lines, 1),
        align(&whole, 1),
        align(&protocols, 1),
    ];
    tables.join("\n")
}

impl ProtocolBytes {
    fn name(&self) -> String {
        match self.form {
            Some(form) => format!("{}, {form}", self.protocol),
            None => self.protocol.to_string(),
        }
    }
}

/// What the protocols send for a circuit in the function-dependent and the online phase, where they
/// have a formula.
fn protocol_bytes(circuit: &Circuit, parties: u16) -> Vec<ProtocolBytes> {
    let circuit = Compiled::new(circuit);
    let run = Protocol::ALL.iter().filter(|protocol| protocol.parties().contains(&parties));
    let ways = run.flat_map(|protocol| protocol.forms().iter().map(move |form| (protocol, *form)));
    let bytes = ways.filter_map(|(protocol, form)| {
        let bytes = protocol.bytes_after_triples(&circuit, parties, form)?;
        let form = (protocol.forms().len() > 1).then(|| form.name());
        Some(ProtocolBytes { protocol: protocol.name(), form, bytes })
    });
    bytes.collect()
}
