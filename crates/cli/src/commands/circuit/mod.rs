//! `symbolon circuit`: list, describe, evaluate and export circuits.

use std::io::{BufWriter, IsTerminal, Write};

use serde::Serialize;
use symbolon::circuit::{
    Circuit, LookupCount, PartyId, Plan, Receivers, Stats, bristol, builtin, eval_packed,
    lower_lookups, native, optimise,
};

use symbolon_lang::cost::{ComponentCost, component_costs};

use crate::common::cost_table::align;
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell};
use crate::common::packed::Packed;
use crate::results::failed_asserts::check_failure;
use crate::results::{OutputJson, outputs_json, print_outputs};
use crate::source::CircuitSpec;
use crate::source::values::{Reading, Saves, given, paths, resolve_wholes};
use args::{CircuitCommand, EvalArgs, ExportArgs, ExportFormat, InfoArgs};

pub mod args;
pub mod forecast;

use forecast::ForecastJson;

/// Runs one of the circuit commands.
///
/// # Errors
/// A usage failure for an unknown circuit, an unreadable file or an unsuitable value.
pub fn command(command: &CircuitCommand) -> CliResult<()> {
    match command {
        CircuitCommand::List => list(),
        CircuitCommand::Info(args) => info(args),
        CircuitCommand::Eval(args) => eval(args),
        CircuitCommand::Export(args) => export(args, false),
        CircuitCommand::Optimise(args) => export(args, true),
    }
}

fn list() -> CliResult<()> {
    let mut rows = vec![["example", "what it computes"].map(String::from)];
    for entry in builtin::catalogue() {
        rows.push([entry.example.to_string(), entry.description.to_string()]);
        if !entry.parameters.is_empty() {
            let syntax = format!("  {}{}", entry.name, entry.parameters);
            rows.push([String::new(), syntax]);
        }
    }
    print(&align(&rows, 2))
}

/// What `circuit info --json` prints.
#[derive(Serialize)]
struct InfoJson {
    /// `symbolon-circuit-1`.
    format: &'static str,
    /// The circuit as it was named.
    circuit: String,
    /// BLAKE3 of the circuit with its owners and receivers, in hexadecimal.
    digest: String,
    /// In the circuit's order.
    inputs: Vec<PortJson>,
    /// In the circuit's order.
    outputs: Vec<PortJson>,
    /// How many there are.
    components: usize,
    /// The main one first.
    component_list: Vec<ComponentJson>,
    /// Gates, every call counted.
    gates: GatesJson,
    /// Look-ups by shape.
    lookups: Vec<LookupCount>,
    /// AND gates once gates replace look-ups, as in all protocols but `tinytable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    and_without_lookups: Option<u64>,
    /// The most AND gates on any path; a look-up counts as one.
    and_depth: u32,
    /// Wires, every call counted.
    wires: u64,
    /// Slots that a walk over the plan needs: the most wires that are live at once, with the room
    /// that calls take.
    live_width: u64,
    /// With `--protocol duplo` or `dualex`.
    #[serde(flatten)]
    forecast: ForecastJson,
}

/// An input or output.
#[derive(Serialize)]
struct PortJson {
    /// Its name.
    name: String,
    /// Its type.
    #[serde(rename = "type")]
    ty: String,
    /// Its width.
    bits: u64,
    /// Of an input.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<PartyId>,
    /// Of an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    receivers: Option<Vec<PartyId>>,
}

/// A component of a circuit.
#[derive(Serialize)]
struct ComponentJson {
    /// Its name.
    name: String,
    /// How often it is called in all.
    calls: u64,
    /// AND gates of one call, those of its own calls left out.
    and: u64,
    /// Look-ups of one call, likewise.
    lookups: u64,
}

/// Gates by kind.
#[derive(Serialize)]
struct GatesJson {
    /// AND.
    and: u64,
    /// XOR.
    xor: u64,
    /// NOT.
    inv: u64,
    /// Constants.
    constants: u64,
}

fn describe(name: &str, circuit: &Circuit, parties: u16) -> InfoJson {
    let stats = Stats::of(circuit);
    let inputs = circuit.inputs().iter().map(|input| PortJson {
        name: input.name.clone(),
        ty: input.ty.to_string(),
        bits: input.ty.width(),
        owner: Some(input.owner),
        receivers: None,
    });
    let outputs = circuit.outputs().iter().map(|output| PortJson {
        name: output.name.clone(),
        ty: output.ty.to_string(),
        bits: output.ty.width(),
        owner: None,
        receivers: Some(match &output.to {
            Receivers::All => PartyId::all(parties).collect(),
            Receivers::Only(parties) => parties.clone(),
        }),
    });
    InfoJson {
        format: "symbolon-circuit-1",
        circuit: name.to_string(),
        digest: hex::encode(circuit.digest()),
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        components: circuit.components().len(),
        component_list: components(circuit),
        gates: GatesJson {
            and: stats.and,
            xor: stats.xor,
            inv: stats.inv,
            constants: stats.constants,
        },
        lookups: LookupCount::of(circuit),
        and_without_lookups: (stats.lookups > 0).then(|| Plan::new(circuit).and_count()),
        and_depth: stats.and_depth,
        wires: stats.wires,
        live_width: stats.live_width,
        forecast: ForecastJson::default(),
    }
}

fn components(circuit: &Circuit) -> Vec<ComponentJson> {
    let one = |cost: ComponentCost| ComponentJson {
        name: cost.name,
        calls: cost.calls,
        and: cost.ands,
        lookups: cost.lookups,
    };
    component_costs(circuit).into_iter().map(one).collect()
}

fn info(args: &InfoArgs) -> CliResult<()> {
    let spec = CircuitSpec::new(&args.circuit, &args.ports);
    let (loaded, parties) = spec.load_for_all(args.parties)?;
    let mut info = describe(&args.circuit, &loaded.circuit, parties);
    info.forecast = ForecastJson::new(&loaded.circuit, parties, &args.run)?;
    if args.json {
        return print_json(&info);
    }
    let mut rows = Vec::new();
    for (place, input) in info.inputs.iter().enumerate() {
        let owner = input.owner.map_or(String::new(), |owner| format!("from party {owner}"));
        rows.push([format!("input {place}"), input.name.clone(), input.ty.clone(), owner]);
    }
    for (place, output) in info.outputs.iter().enumerate() {
        let to: Vec<String> = output.receivers.iter().flatten().map(PartyId::to_string).collect();
        let to = match to.len() {
            0 => "to nobody".to_string(),
            1 => format!("to party {}", to[0]),
            _ => format!("to parties {}", to.join(", ")),
        };
        rows.push([format!("output {place}"), output.name.clone(), output.ty.clone(), to]);
    }
    let mut facts = vec![
        ["AND gates".to_string(), info.gates.and.to_string()],
        ["XOR gates".to_string(), info.gates.xor.to_string()],
        ["NOT gates".to_string(), info.gates.inv.to_string()],
        ["constants".to_string(), info.gates.constants.to_string()],
        ["AND depth".to_string(), info.and_depth.to_string()],
        ["wires".to_string(), info.wires.to_string()],
        ["live width".to_string(), info.live_width.to_string()],
        ["components".to_string(), info.components.to_string()],
        ["digest".to_string(), info.digest.clone()],
    ];
    let lookups = info.lookups.iter().map(|LookupCount { inputs, outputs, count }| {
        [format!("look-ups, {inputs} bits in, {outputs} out"), count.to_string()]
    });
    let lowered = info.and_without_lookups.iter();
    let lowered = lowered.map(|ands| ["AND gates without look-ups".to_string(), ands.to_string()]);
    facts.splice(4..4, lookups.chain(lowered));
    let mut text = format!("{}\n\n{}\n{}", info.circuit, align(&rows, 4), align(&facts, 2));
    if info.component_list.len() > 1 {
        let mut rows = vec![["component", "calls", "AND gates", "look-ups"].map(String::from)];
        for one in &info.component_list {
            let numbers = [one.calls, one.and, one.lookups].map(|n| n.to_string());
            let [calls, and, lookups] = numbers;
            rows.push([one.name.clone(), calls, and, lookups]);
        }
        text.push_str(&format!("\n{}", align(&rows, 1)));
    }
    text.push_str(&info.forecast.text());
    print(&text)
}

/// What `eval --json` prints.
#[derive(Serialize)]
struct EvalJson {
    /// `symbolon-eval-1`.
    format: &'static str,
    /// The circuit as it was named.
    circuit: String,
    /// BLAKE3 of the circuit with its owners and receivers, in hexadecimal.
    digest: String,
    /// In the circuit's order.
    outputs: Vec<OutputJson>,
}

/// Evaluates in the clear.
///
/// # Errors
/// Those of [`command`], and the failed assert of a program.
pub fn eval(args: &EvalArgs) -> CliResult<()> {
    let mut spec = CircuitSpec::new(&args.circuit, &args.ports);
    spec.program.clear_clients = true;
    let (loaded, parties) = spec.load_for_all(args.parties)?;
    let wholes = spec.wholes(&loaded);
    let circuit = loaded.circuit;
    let saves = Saves::new(&circuit, |_| true, paths(&args.values.saves))?;
    let how = Reading { pad: args.values.pad, by_line: false, spec: Some(&spec) };
    let values = resolve_wholes(&circuit, &wholes, &given(&args.inputs)?, how)?;
    let mut bits = Vec::with_capacity(circuit.inputs().len());
    for (place, input) in circuit.inputs().iter().enumerate() {
        let Some((_, value)) = values.iter().find(|(known, _)| *known == place) else {
            return Err(CliError::usage(format!(
                "no value for input `{}` ({})",
                input.name, input.ty
            ))
            .with_hint("give every input with --input NAME=VALUE; see --help for the forms"));
        };
        bits.extend(value.iter().map(|Packed(bits)| bits.words()));
    }
    let learnt = eval_packed(&circuit, &bits)?;
    let outputs: Vec<Option<Packed>> = circuit
        .outputs()
        .iter()
        .zip(learnt)
        .map(|(output, words)| Some(Packed::of_words(&words, output.ty.width() as usize)))
        .collect();
    let failure = check_failure(&circuit, &outputs);
    let failure = match failure {
        Ok(()) => saves.write(&circuit, &outputs),
        failed => failed,
    };
    if !args.json {
        print_outputs(&circuit, &outputs)?;
        return failure;
    }
    print_json(&EvalJson {
        format: "symbolon-eval-1",
        circuit: args.circuit.clone(),
        digest: hex::encode(circuit.digest()),
        outputs: outputs_json(&circuit, &outputs, parties),
    })?;
    failure
}

fn export(args: &ExportArgs, optimised: bool) -> CliResult<()> {
    let spec = CircuitSpec::new(&args.circuit, &args.ports);
    let mut circuit = spec.load_for_all(args.parties)?.0.circuit;
    if args.gates {
        circuit = lower_lookups(&circuit);
    }
    if optimised {
        let before = Stats::of(&circuit).and;
        circuit = optimise(&circuit)
            .map_err(|error| CliError::usage(format!("cannot optimise: {error}")))?;
        tell(&format!("AND gates: {before}, now {}\n", Stats::of(&circuit).and));
    }
    let format = args.format();
    let write = |out: &mut dyn Write| {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        match format {
            ExportFormat::Native => native::write(&circuit, &mut out)?,
            ExportFormat::Fashion => bristol::write_fashion(&circuit, &mut out)?,
            ExportFormat::Bristol => bristol::write_old(&circuit, &mut out)?,
        }
        out.flush()
    };
    let Some(path) = &args.out else {
        if format == ExportFormat::Native && std::io::stdout().is_terminal() {
            return Err(CliError::usage("a native file is not text, so it is not shown here")
                .with_hint("write it to a file with --out NAME.sbc"));
        }
        return match write(&mut std::io::stdout().lock()) {
            // A reader that closes early, such as `head`, is not an error.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            done => done.map_err(|error| CliError::unwritten("cannot export", &error)),
        };
    };
    // To nowhere first: a circuit that the format cannot hold leaves an older file as it is.
    write(&mut std::io::sink()).map_err(|error| CliError::io("cannot export", &error))?;
    std::fs::File::create(path)
        .and_then(|mut file| write(&mut file))
        .map_err(|error| CliError::io(format!("cannot write {}", path.display()), &error))?;
    tell(&format!("wrote {}\n", path.display()));
    Ok(())
}
