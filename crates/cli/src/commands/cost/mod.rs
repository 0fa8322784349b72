//! `symbolon cost`: what a program costs, as text, JSON or a page with its source.

mod page;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use symbolon::circuit::{
    Circuit, Component, Input, Lookup, Output, Plan, Program, Receivers, Step, Table, Type,
};
use symbolon::{ProtocolBytes, protocol_bytes};
use symbolon_lang::cost::{Report, report};
use symbolon_lang::source::{Sources, read_source};

use report::{ComponentBytes, CostJson};

use crate::args::OwnerArgs;
use crate::args::program::ProgramArgs;
use crate::common::cost_table::{align, bytes};
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell};
use crate::source::program::{folder, wrong_program};
use crate::source::{CircuitSpec, parties_of};

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
    /// Who gives its inputs.
    #[command(flatten)]
    pub owners: OwnerArgs,
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
/// A usage failure when the program has errors, which are printed, and when the page cannot be
/// written.
pub fn command(args: &CostArgs) -> CliResult<()> {
    let text = read_source(Path::new(&args.file)).map_err(CliError::usage)?;
    let options = args.program.options(args.parties);
    let (circuit, report, sources) = symbolon_lang::with_stack(|| {
        symbolon_lang::compile_here(&args.file, &text, &folder(&args.file), &options, true)
            .map(|(circuit, costs, sources)| {
                let report = report(&circuit, &costs.unwrap_or_default(), &sources);
                (circuit, report, sources)
            })
            .map_err(|errors| wrong_program(&args.file, &errors.list, &errors.sources))
    })??;
    let (whole, parties) = match &args.owners.owners[..] {
        [] => {
            let parties = args.parties.unwrap_or_else(|| parties_of(&circuit));
            (protocol_bytes(&circuit, parties), parties)
        }
        owners => {
            let (given, parties) = CircuitSpec::give(owners, circuit.clone(), args.parties)?;
            (protocol_bytes(&given.circuit, parties), parties)
        }
    };
    let cost = CostJson {
        format: "symbolon-cost-2",
        program: args.file.clone(),
        parties,
        and_without_lookups: Plan::new(&circuit).and_count(),
        component_bytes: component_bytes(&circuit, parties, &report, &whole),
        bytes: whole,
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
        ["component", "calls", "AND gates", "look-ups", "depth", "live wires", "port bits", "glue"]
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
            component.glue.to_string(),
        ]);
    }
    let one = |name: &str, value: String| [name.to_string(), value];
    let whole =
        [one("depth", report.depth.to_string()), one("live wires", report.live_wires.to_string())];
    let mut protocols =
        vec![["protocol", "bytes in all", "of triples", "of the rest"].map(String::from)];
    for protocol in &cost.bytes {
        let parts = [protocol.total(), protocol.triple_bytes, protocol.bytes].map(bytes);
        let [total, triples, rest] = parts;
        let about = if protocol.within_percent > 0 { "about " } else { "" };
        protocols.push([protocol_name(protocol), format!("{about}{total}"), triples, rest]);
    }
    let tables = [
        align(&functions, 2),
        align(&components, 1),
        lines_table(cost),
        hints_table(report),
        shares(cost),
        align(&whole, 1),
        align(&protocols, 1),
    ];
    tables.into_iter().filter(|table| !table.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns what each line costs.
fn lines_table(cost: &CostJson) -> String {
    let report = &cost.report;
    let mut lines = vec![
        [
            "line",
            "AND gates",
            "saved",
            "look-ups",
            "depth",
            "live wires",
            "calls",
            "port bits",
            "glue",
            "asserts",
        ]
        .map(String::from),
    ];
    let row = |name: String, rest: [String; 3]| {
        let mut row: [String; 10] = Default::default();
        row[0] = name;
        [row[1], row[2], row[3]] = rest;
        row
    };
    for line in &report.lines {
        let saved = i128::from(line.asked) - i128::from(line.ands);
        let gates = [line.ands.to_string(), saved.to_string(), line.lookups.to_string()];
        let mut cells = row(format!("{}:{}", line.file, line.line), gates);
        let counts =
            [line.depth, line.live_wires, line.calls, line.port_bits, line.glue, line.asserts];
        cells[4..].iter_mut().zip(counts).for_each(|(cell, count)| *cell = count.to_string());
        lines.push(cells);
    }
    let all = [report.ands, report.unused, report.lookups].map(|count| count.to_string());
    lines.push(row("in all".to_string(), all));
    if cost.and_without_lookups != report.ands {
        let gates = cost.and_without_lookups.to_string();
        let gates = [gates, String::new(), String::new()];
        lines.push(row("with gates for look-ups".to_string(), gates));
    }
    align(&lines, 1)
}

/// Returns which functions hide gates, if any do.
fn hints_table(report: &Report) -> String {
    if report.hints.is_empty() {
        return String::new();
    }
    let mut hints = vec![["marked #[inline]", "", "saves AND gates"].map(String::from)];
    for hint in &report.hints {
        let place = format!("{}:{}", hint.file, hint.line);
        hints.push([hint.function.clone(), place, hint.saves.to_string()]);
    }
    align(&hints, 2)
}

/// Returns the bytes of each component, if there are several.
fn shares(cost: &CostJson) -> String {
    if cost.component_bytes.len() < 2 {
        return String::new();
    }
    let mut rows = vec![["component", "protocol", "bytes"].map(String::from)];
    for component in &cost.component_bytes {
        for (protocol, share) in cost.bytes.iter().zip(&component.bytes) {
            rows.push([component.name.clone(), protocol_name(protocol), bytes(*share)]);
        }
    }
    align(&rows, 2)
}

/// Returns a protocol's name with its form.
fn protocol_name(cost: &ProtocolBytes) -> String {
    match cost.form {
        Some(form) => format!("{}, {form}", cost.protocol),
        None => cost.protocol.to_string(),
    }
}

/// Returns how many of these bytes each component's own gates take, over all its calls, in the
/// order of the report, with each protocol on triples: only there each gate takes the same. The
/// rest is for inputs and messages.
fn component_bytes(
    circuit: &Circuit,
    parties: u16,
    report: &Report,
    whole: &[ProtocolBytes],
) -> Vec<ComponentBytes> {
    // The cost of gates is the difference between two circuits, one of which has this many more.
    const MORE: u32 = 4096;
    let on_triples = whole.iter().take_while(|protocol| protocol.triple_bytes > 0).count();
    let price = |few: &Circuit, many: &Circuit| -> Vec<u64> {
        let [few, many] = [few, many].map(|circuit| protocol_bytes(circuit, parties));
        few.iter().zip(&many).map(|(few, many)| many.bytes.saturating_sub(few.bytes)).collect()
    };
    let gate = price(&independent(1, None), &independent(1 + MORE, None));
    let tables = circuit.tables().iter().map(|table| {
        price(&independent(1, Some((table, 1))), &independent(1, Some((table, 1 + MORE))))
    });
    let tables: Vec<Vec<u64>> = tables.collect();
    let own = circuit.components().iter().rev().zip(&report.components);
    own.map(|(component, cost)| {
        let mut bytes = vec![0u128; on_triples];
        let mut add = |prices: &[u64], count: u64| {
            let count = u128::from(count) * u128::from(cost.calls);
            let prices = prices.iter().map(|price| u128::from(*price) * count);
            bytes.iter_mut().zip(prices).for_each(|(sum, price)| *sum += price);
        };
        add(&gate, cost.ands);
        component.lookups.iter().for_each(|lookup| add(&tables[lookup.table as usize], 1));
        let share = |bytes: u128| u64::try_from(bytes / u128::from(MORE)).unwrap_or(u64::MAX);
        ComponentBytes { name: cost.name.clone(), bytes: bytes.into_iter().map(share).collect() }
    })
    .collect()
}

/// Returns a circuit of this many AND gates and look-ups, none of which depends on another.
fn independent(ands: u32, lookups: Option<(&Table, u32)>) -> Circuit {
    let inputs = lookups.map_or(2, |(table, _)| table.inputs().max(2));
    let mut main = Component { inputs, wires: inputs, ..Component::default() };
    for _ in 0..ands {
        main.steps.push(Step::And { a: 0, b: 1, out: main.wires });
        main.wires += 1;
    }
    let mut tables = Vec::new();
    if let Some((table, count)) = lookups {
        tables.push(table.clone());
        main.lookup_inputs.extend(0..table.inputs());
        for _ in 0..count {
            main.steps.push(Step::Lookup(main.lookups.len() as u32));
            main.lookups.push(Lookup {
                table: 0,
                first_input: 0,
                input_count: table.inputs(),
                first_output: main.wires,
                output_count: table.outputs(),
            });
            main.wires += table.outputs();
        }
    }
    main.outputs.push(main.wires - 1);
    let input = Input { name: "x".into(), ty: Type::Uint(inputs), owner: 0.into() };
    let output = Output { name: "y".into(), ty: Type::Bool, to: Receivers::All };
    let program = Program { components: vec![main], tables };
    Circuit::new("gates", vec![input], vec![output], program).expect("gates that read inputs")
}
