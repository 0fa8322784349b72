//! What `circuit info --protocol` shows: what a run with `duplo` or `dualex` garbles and sends.

use serde::Serialize;
use symbolon::circuit::Circuit;
use symbolon::duplo::{Forecast, GameSizes, Plans};
use symbolon::{BatchPlan, BatchWindows, Compiled, Protocol, RunTerms, SessionParams, dualex};

use super::args::{FORECAST, RunInfoArgs};
use crate::args::tuning::check_parties;
use crate::common::cost_table::{align, bytes};
use crate::common::error::{CliError, CliResult};

/// A forecast, if one was requested.
#[derive(Default, Serialize)]
pub struct ForecastJson {
    /// With `--protocol duplo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplo: Option<DuploJson>,
    /// With `--protocol dualex`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dualex: Option<DualExJson>,
}

/// What a run with dualex garbles and sends, the set-up left out.
#[derive(Serialize)]
pub struct DualExJson {
    /// Evaluations that are prepared together, N: `run` and `local` cut a large batch, and what
    /// `prepare --count` makes is prepared together. Each is a bucket of each party.
    executions: u64,
    /// Circuits of each party in a bucket, B.
    bucket: u64,
    /// Circuits that each party garbles, N̂.
    made: u64,
    /// How many preparations there are, one after the other. The last one may have fewer
    /// evaluations; the numbers above are those of the first one.
    preparations: u64,
    /// Bytes that both parties send, for the whole batch, with message headers.
    bytes: u64,
    /// Those of them that are sent online.
    online_bytes: u64,
}

/// What a run with duplo garbles and sends, the set-up left out.
#[derive(Serialize)]
pub struct DuploJson {
    /// What is garbled.
    components: Vec<GarbledJson>,
    /// The game of the authenticators of bundles of wires.
    authenticators: GameJson,
    /// Wires that share an authenticator.
    wires_in_a_bundle: u64,
    /// Inputs of components that are soldered to other wires.
    solderings: u64,
    /// Bytes that both parties send, for the whole batch.
    bytes: u64,
    /// Those of them that are sent online.
    online_bytes: u64,
    /// How many evaluations run together: `run` and `local` cut a large batch, and `prepare`, for
    /// which `--count` asks, does not. `bench --one-by-one --batch N` is `--count N`.
    evaluations_together: u64,
    /// How many such batches are prepared together, and share cut-and-chooses. Components,
    /// authenticators, solderings and memory are those of these batches, the first ones.
    batches_together: u64,
    /// How many cut-and-chooses there are, one after the other; if one evaluation, or batch of
    /// `executions`, takes several, how many it takes.
    windows: u64,
    /// Bytes of memory that party 1 holds at its peak, to about a fifth; party 0 holds less.
    memory_bytes: u64,
}

/// A component that is garbled.
#[derive(Serialize)]
pub struct GarbledJson {
    /// Its name.
    name: String,
    /// AND gates.
    and: u64,
    /// Input bits.
    inputs: u64,
    /// Output bits.
    outputs: u64,
    /// Its game.
    #[serde(flatten)]
    game: GameJson,
    /// Bytes that party 0 sends for all its copies, commitments included.
    bytes: u64,
}

/// A game of cut-and-choose.
#[derive(Serialize)]
pub struct GameJson {
    /// Places to fill.
    buckets: u64,
    /// Objects for each place.
    bucket: u64,
    /// Objects that are made.
    made: u64,
}

impl From<GameSizes> for GameJson {
    fn from(sizes: GameSizes) -> GameJson {
        let GameSizes { buckets, bucket, made } = sizes;
        GameJson { buckets, bucket, made }
    }
}

impl ForecastJson {
    /// Forecasts what was requested.
    ///
    /// # Errors
    /// A usage failure for an option that the protocol does not have, or a protocol without
    /// forecasts; `InvalidInput` if it cannot run the circuit.
    pub fn new(circuit: &Circuit, parties: u16, args: &RunInfoArgs) -> CliResult<ForecastJson> {
        let mut forecast = ForecastJson::default();
        let Some(name) = args.protocol.as_deref() else { return Ok(forecast) };
        let protocol = Protocol::by_name(name).filter(|protocol| FORECAST.contains(protocol));
        let protocol = protocol.ok_or_else(|| {
            CliError::usage("circuit info takes no --protocol but duplo and dualex")
        })?;
        check_parties(protocol, parties)?;
        let mut params = SessionParams::new(protocol);
        args.given.apply(&mut params)?;
        if protocol == Protocol::DualEx {
            forecast.dualex = Some(dualex(circuit, &params, args.count)?);
            return Ok(forecast);
        }
        if args.given.has("ot") {
            return Err(CliError::usage("circuit info takes no --ot for duplo"));
        }
        protocol.check_options(circuit, &params.options)?;
        let groups = divided(circuit, parties, &params, args.count)?;
        forecast.duplo = Some(duplo(circuit, params.run_terms(1), &groups)?);
        Ok(forecast)
    }

    /// Returns it as text, after an empty line; empty if nothing was requested.
    pub fn text(&self) -> String {
        let duplo = self.duplo.as_ref().map(|duplo| format!("\n{}", duplo_text(duplo)));
        let dualex = self.dualex.as_ref().map(|dualex| format!("\n{}", dualex_text(dualex)));
        duplo.into_iter().chain(dualex).collect()
    }
}

fn sized(n: u64) -> CliResult<usize> {
    usize::try_from(n).map_err(|_| CliError::usage("more evaluations than this machine can hold"))
}

/// Returns what a run with dualex garbles.
fn dualex(circuit: &Circuit, params: &SessionParams, count: Option<u32>) -> CliResult<DualExJson> {
    let plans = dualex::Plans::of(params.run_terms(1))?;
    let plans = dualex::Plans { ot: params.ot.unwrap_or(plans.ot), ..plans };
    // Evaluations that are stored by themselves are prepared together, batches are not.
    let one_by_one = count.is_some() && params.executions == 1;
    let groups = match count {
        Some(count) if one_by_one => {
            vec![BatchWindows { windows: 1, executions: count.into(), times: 1 }]
        }
        _ => divided(circuit, 2, params, count)?,
    };
    let mut sum = DualExJson {
        executions: 0,
        bucket: 0,
        made: 0,
        preparations: 0,
        bytes: 0,
        online_bytes: 0,
    };
    for BatchWindows { windows, executions, times } in groups {
        let executions = sized(executions)?;
        let plans = dualex::Plans { executions, one_by_one, ..plans };
        let one = dualex::Forecast::new(circuit, plans)?;
        if sum.preparations == 0 {
            let dualex::Forecast { executions, bucket, made, .. } = one;
            sum = DualExJson { executions, bucket, made, ..sum };
        }
        let times = windows.saturating_mul(times);
        let add = |sum: &mut u64, bytes: u64| {
            *sum = sum.saturating_add(bytes.saturating_mul(times));
        };
        add(&mut sum.preparations, 1);
        add(&mut sum.bytes, one.bytes());
        add(&mut sum.online_bytes, one.online[0].saturating_add(one.online[1]));
    }
    Ok(sum)
}

fn dualex_text(dualex: &DualExJson) -> String {
    let DualExJson { executions, bucket, made, preparations, bytes, online_bytes } = *dualex;
    let facts = [
        ("garbled by each party of dualex", made),
        ("evaluations together", executions),
        ("circuits in a bucket", bucket),
        ("preparations", preparations),
        ("bytes of all, set-up left out", bytes),
        ("of them online", online_bytes),
    ];
    align(&facts.map(|(name, number)| [name.to_string(), number.to_string()]), 2)
}

/// Returns what a run with duplo garbles, prepared in these groups of batches.
fn duplo(circuit: &Circuit, terms: RunTerms<'_>, groups: &[BatchWindows]) -> CliResult<DuploJson> {
    let mut all: Vec<(Forecast, u64)> = Vec::new();
    for &BatchWindows { windows, executions, times } in groups {
        let (executions, count) = (sized(executions)?, sized(windows)?);
        let plans = Plans::of(RunTerms { executions, ..terms }, count);
        all.push((Forecast::new(circuit, plans)?, times));
    }
    let sum = |of: &dyn Fn(&Forecast) -> u64| -> u64 {
        let each = all.iter().map(|(forecast, times)| of(forecast).saturating_mul(*times));
        each.fold(0, u64::saturating_add)
    };
    let online_bytes = sum(&|forecast| forecast.online.garbler + forecast.online.evaluator);
    let (bytes, windows) = (sum(&Forecast::bytes), sum(&|forecast| forecast.windows));
    let (first, _) = all.swap_remove(0);
    let Forecast { components, authenticators, bundle, solderings, memory, .. } = first;
    let garbled = components.into_iter().map(|component| GarbledJson {
        name: component.name,
        and: component.and_gates,
        inputs: component.inputs,
        outputs: component.outputs,
        game: component.sizes.into(),
        bytes: component.bytes,
    });
    Ok(DuploJson {
        components: garbled.collect(),
        authenticators: authenticators.into(),
        wires_in_a_bundle: bundle,
        solderings,
        bytes,
        online_bytes,
        evaluations_together: groups[0].executions,
        batches_together: groups[0].windows,
        windows,
        memory_bytes: memory,
    })
}

/// Returns what is prepared together.
fn divided(
    circuit: &Circuit,
    parties: u16,
    params: &SessionParams,
    count: Option<u32>,
) -> CliResult<Vec<BatchWindows>> {
    let executions = params.executions;
    if let Some(count) = count {
        return Ok(vec![BatchWindows { windows: count.into(), executions, times: 1 }]);
    }
    let (protocol, terms) = (params.protocol, params.run_terms(1));
    let plan = BatchPlan::new(protocol, &Compiled::new(circuit), parties, terms, executions)?;
    Ok(plan.windows())
}

fn duplo_text(duplo: &DuploJson) -> String {
    let head = ["garbled by duplo", "places", "bucket", "made", "AND gates", "in", "out", "bytes"];
    let mut rows = vec![head.map(String::from)];
    for one in &duplo.components {
        let GameJson { buckets, bucket, made } = one.game;
        let numbers = [buckets, bucket, made, one.and, one.inputs, one.outputs, one.bytes];
        let [a, b, c, d, e, f, g] = numbers.map(|n| n.to_string());
        rows.push([one.name.clone(), a, b, c, d, e, f, g]);
    }
    let GameJson { buckets, bucket, made } = duplo.authenticators;
    let [a, b, c] = [buckets, bucket, made].map(|n| n.to_string());
    let none = String::new;
    let name = format!("authenticators of {} wires", duplo.wires_in_a_bundle);
    rows.push([name, a, b, c, none(), none(), none(), none()]);
    let facts = [
        ["evaluations together".to_string(), duplo.evaluations_together.to_string()],
        ["batches prepared together".to_string(), duplo.batches_together.to_string()],
        ["solderings".to_string(), duplo.solderings.to_string()],
        ["bytes of all, set-up left out".to_string(), duplo.bytes.to_string()],
        ["of them online".to_string(), duplo.online_bytes.to_string()],
        ["cut-and-chooses".to_string(), duplo.windows.to_string()],
        ["memory of party 1, about".to_string(), bytes(duplo.memory_bytes)],
    ];
    format!("{}\n{}", align(&rows, 1), align(&facts, 2))
}
