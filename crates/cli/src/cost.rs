//! `symbolon cost`: what a program costs, as text, JSON or a page with its source.

mod page;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use symbolon::circuit::{Circuit, LookupCount, Plan, Stats};
use symbolon_lang::cost::{Report, report};
use symbolon_lang::source::{Sources, read_source};

use crate::cost_table::{align, bytes};
use crate::error::{CliError, CliResult};
use crate::lang::{ProgramArgs, folder};
use crate::results::{print, print_json, tell};
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

/// What `cost --json` prints.
#[derive(Serialize)]
struct CostJson {
    format: &'static str,
    program: String,
    parties: u16,
    and_without_lookups: u64,
    bytes: Vec<ProtocolBytes>,
    #[serde(flatten)]
    report: Report,
}

/// What a protocol sends for a circuit.
#[derive(Clone, Debug, Serialize)]
struct ProtocolBytes {
    protocol: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<&'static str>,
    /// All parties together, at ρ = 40, without making triples: they are the same for all.
    bytes: u64,
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
    let mut lines = vec![["line", "AND gates", "look-ups"].map(String::from)];
    for line in &report.lines {
        let place = format!("{}:{}", line.file, line.line);
        lines.push([place, line.ands.to_string(), line.lookups.to_string()]);
    }
    if report.unused > 0 {
        let saved = format!("-{}", report.unused);
        lines.push(["not needed, or optimised away".to_string(), saved, String::new()]);
    }
    lines.push(["in all".to_string(), report.ands.to_string(), report.lookups.to_string()]);
    if cost.and_without_lookups != report.ands {
        let gates = cost.and_without_lookups.to_string();
        lines.push(["with gates for look-ups".to_string(), gates, String::new()]);
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

/// What the protocols send for a circuit in the function-dependent and the online phase, all
/// parties together, at ρ = 40: the sums of `docs/protocols.md` that grow with gates and inputs.
fn protocol_bytes(circuit: &Circuit, parties: u16) -> Vec<ProtocolBytes> {
    let gates = Plan::new(circuit).and_count();
    let inputs: u64 = circuit.inputs().iter().map(|input| input.ty.width()).sum();
    let others = u64::from(parties) - 1;
    let labels = 16 * inputs * others;
    let mut all = Vec::new();
    let mut add = |protocol, form, bits: u64| {
        all.push(ProtocolBytes { protocol, form, bytes: (bits / 8).saturating_add(labels) });
    };
    // A garbler's table, with other garblers' MACs; two opened bits on every link; the evaluator's
    // bit to each garbler.
    let tables = others * (256 + 512 * (others - 1)) + 1;
    let partial = tables + 2 * others * (others + 1) + others;
    if parties == 2 {
        add("wrk", Some("four-row"), gates.saturating_mul(3 * 128 + 4 * 40 + 4));
        add("wrk", Some("half-gates"), gates.saturating_mul(partial));
    }
    add("ywz", None, gates.saturating_mul(partial));
    if parties == 2 {
        let plan = Plan::with_lookups(circuit);
        // Each direction: two opened bits of a product, then a bit of the gate; and the header of a
        // message for each layer.
        let headers = 2 * 64 * u64::from(Stats::of_plan(&plan).and_depth);
        let mut bits = plan.and_count().saturating_mul(2 * 3).saturating_add(headers);
        for LookupCount { inputs, outputs, count } in LookupCount::of(circuit) {
            let products = (1u64 << inputs) - u64::from(inputs) - 1;
            let one = 2 * (2 * products + u64::from(outputs));
            bits = bits.saturating_add(count.saturating_mul(one));
        }
        all.push(ProtocolBytes { protocol: "tinytable", form: None, bytes: (bits + inputs) / 8 });
    }
    all
}
