//! `symbolon preprocess` and `symbolon prepare`: work done ahead of time with the peers, whose
//! results go to every party's store.

pub mod args;

use symbolon::circuit::{Circuit, PartyId};
use symbolon::store::Store;
use symbolon::stored::{self, Agreement, Amount, Filled, NewComponents, NewPool, PreparedItems};
use symbolon::{Config, Protocol};

use crate::args::RunArgs;
use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell, want_json};
use crate::common::screen;
use crate::common::words::counted;
use crate::parties::connect;
use crate::parties::dealer;
use crate::parties::remote::{party_costs, tell_agreement, tell_costs, who};
use crate::parties::store::open_or_create;
use crate::progress::{self, Event, Progress};
use crate::results::{PartyJson, PreparedJson, StoresJson};
use crate::settings::Settings;
use args::{PrepareArgs, PreprocessArgs};

/// By default, a pool has one input bit of each party for this many gates.
const GATES_PER_INPUT_BIT: u64 = 8;

/// Fills up the pools that all parties hold.
///
/// # Errors
/// A usage failure before the peer is contacted; otherwise those of the library.
pub fn preprocess(args: &PreprocessArgs) -> CliResult<()> {
    let run = RunArgs {
        circuit: args.circuit.clone(),
        meet: args.meet.clone(),
        ports: args.ports.clone(),
        store: args.store.clone(),
        ..RunArgs::default()
    };
    let settings = Settings::of(&run)?;
    if settings.json {
        return Err(CliError::usage("`json = true`: `preprocess` prints no JSON")
            .with_hint("leave it out of the settings, and give --json to the commands that do"));
    }
    progress::set_up(&settings.show, &settings.tuning, "preprocess", &settings.spec.circuit)?;
    let (mut tuning, party) = who(&settings)?;
    args.pools.or(settings.ahead.pools.clone()).apply(&mut tuning.params)?;
    has_pools(tuning.params.protocol)?;
    if tuning.params.protocol.has_components() {
        return preprocess_components(args, &settings, (&tuning, party));
    }
    if args.circuit.is_some() || args.count.is_some() {
        let name = tuning.params.protocol.name();
        return Err(CliError::usage(format!("{name} fills pools of gates, of no circuit"))
            .with_hint("--gates says how many"));
    }
    if let Some(option) = args.ports.given() {
        return Err(CliError::usage(format!("{option} is for a circuit, and pools serve any")));
    }
    tuning.one_at_a_time("preprocess: a pool serves any batch")?;
    let and_gates = args.gates.or(settings.ahead.gates);
    let and_gates =
        and_gates.ok_or_else(|| CliError::usage("for how many AND gates? Say --gates N"))?;
    let store = open_or_create(&settings.store)?;
    let input_bits = args.input_bits.or(settings.ahead.input_bits);
    let input_bits = input_bits.unwrap_or(and_gates.div_ceil(GATES_PER_INPUT_BIT));
    let target = Amount { and_gates, input_bits };
    let (config, dealt) = reach(&settings, (&tuning, party), false)?;
    let filled = fill(config, &store, target).map_err(|e| dealer::suspect(e, dealt))?;
    tell_agreement(&filled.agreement);
    if filled.items.is_empty() {
        print(&format!("there is enough already: {}\n", in_words(filled.had)))?;
    }
    tell_costs(&tuning, &[(party, &filled.report)]);
    Ok(())
}

/// Refuses a protocol that has no pools of any kind.
///
/// # Errors
/// A usage failure that says what to do instead.
fn has_pools(protocol: Protocol) -> CliResult<()> {
    if protocol.has_pools() || protocol.has_components() {
        return Ok(());
    }
    let name = protocol.name();
    Err(CliError::usage(format!("{name} has no pools"))
        .with_hint("`symbolon prepare CIRCUIT --count N` does all work ahead for N runs at once"))
}

/// Returns the configuration that reaches the others, and whether there is a dealer.
/// With `again`, for another session with the same parties.
fn reach(
    settings: &Settings,
    (tuning, party): (&Tuning, PartyId),
    again: bool,
) -> CliResult<(Config, bool)> {
    let transport = match again {
        true => connect::transport_again(settings, party)?,
        false => connect::transport(settings, party)?,
    };
    let config = tuning.apply_with_link(Config::new(party, transport))?;
    let dealer = dealer::named(settings)?;
    let dealt = dealer.is_some();
    Ok((config.dealer(dealer), dealt))
}

fn in_words(Amount { and_gates, input_bits }: Amount) -> String {
    format!("{and_gates} AND gates and {input_bits} input bits of each party")
}

/// Fills the pools, and prints each when it is closed.
fn fill(config: Config, store: &Store, target: Amount) -> CliResult<Filled> {
    let party = config.party();
    let mut closed = Vec::new();
    let mut printed = Ok(());
    let filled = {
        let progress = Progress::begin()?;
        let config = progress.sink(party).attach(config);
        stored::fill_each(config, store, target, |pool| {
            let NewPool { item, holds, number, of } = *pool;
            progress.hear(party, &Event::Pool { item: item.to_string(), pool: number, of });
            closed.push(holds.and_gates);
            let line = format!("pool {item}: {}\n", in_words(holds));
            let now = screen::without_bars(|| print(&line));
            printed = std::mem::replace(&mut printed, Ok(())).and(now);
        })
    };
    let filled = filled.map_err(|error| match closed.len() {
        0 => CliError::from(error),
        _ => CliError::from(error).with_hint(format!(
            "the material made so far is kept: pools with {} AND gates in all; run the same command to continue",
            closed.iter().sum::<u64>()
        )),
    })?;
    printed.map(|()| filled)
}

/// Fills up the pools of components for a number of runs of a circuit.
fn preprocess_components(
    args: &PreprocessArgs,
    settings: &Settings,
    (tuning, party): (&Tuning, PartyId),
) -> CliResult<()> {
    let name = tuning.params.protocol.name();
    if args.gates.is_some() || args.input_bits.is_some() {
        return Err(CliError::usage(format!("{name} fills pools of components, not of gates"))
            .with_hint("name a circuit, and say with --count for how many runs of it"));
    }
    tuning.runs_nothing("preprocess")?;
    if settings.spec.circuit.is_empty() {
        let text = format!("for which circuit? {name} fills pools of components, for runs of one");
        return Err(CliError::usage(text).with_hint("say `symbolon preprocess CIRCUIT --count N`"));
    }
    let circuit = settings.spec.load(connect::count(settings)?)?.circuit;
    tuning.check_circuit(&circuit)?;
    let runs = u64::from(args.count.or(settings.ahead.count).unwrap_or(1));
    let store = open_or_create(&settings.store)?;
    let (config, _) = reach(settings, (tuning, party), false)?;
    let of = |runs: u64| format!("components for {} of {}", counted(runs, "run"), circuit.name());
    let (mut closed, mut printed) = (0, Ok(()));
    let filled = {
        let progress = Progress::begin()?;
        let config = progress.sink(party).attach(config);
        stored::fill_components(config, &store, &circuit, runs, |pool| {
            let NewComponents { item, runs, number, of: pools } = *pool;
            let event = Event::Pool { item: item.to_string(), pool: number, of: pools };
            progress.hear(party, &event);
            closed += runs;
            let now = screen::without_bars(|| print(&format!("pool {item}: {}\n", of(runs))));
            printed = std::mem::replace(&mut printed, Ok(())).and(now);
        })
    };
    let filled = filled.map_err(|error| match closed {
        0 => CliError::from(error),
        _ => CliError::from(error).with_hint(format!(
            "the material made so far is kept: {}; run the same command to continue",
            of(closed)
        )),
    })?;
    printed?;
    tell_agreement(&filled.agreement);
    if filled.items.is_empty() {
        print(&format!("there is enough already: {}\n", of(filled.had)))?;
    }
    tell_costs(tuning, &[(party, &filled.report)]);
    Ok(())
}

/// Puts prepared circuits into the stores.
///
/// # Errors
/// A usage failure before the peer is contacted; otherwise those of the library.
pub fn prepare(args: &PrepareArgs) -> CliResult<()> {
    let run = RunArgs {
        circuit: args.circuit.clone(),
        meet: args.meet.clone(),
        ports: args.ports.clone(),
        store: args.store.clone(),
        json: args.json,
        ..RunArgs::default()
    };
    let settings = Settings::of(&run)?;
    if settings.json {
        want_json();
    }
    progress::set_up(&settings.show, &settings.tuning, "prepare", &settings.spec.circuit)?;
    let (tuning, party) = who(&settings)?;
    let from_pools = args.from_pools || settings.ahead.from_pools;
    if from_pools {
        has_pools(tuning.params.protocol)?;
    }
    tuning.runs_nothing("prepare")?;
    tuning.warn();
    let circuit = settings.spec.load(connect::count(&settings)?)?.circuit;
    tuning.check_circuit(&circuit)?;
    let count = args.count.or(settings.ahead.count).unwrap_or(1);
    let groups = args.side_by_side.or(settings.ahead.side_by_side).unwrap_or(1);
    let groups = groups_of(count, groups)?;
    if from_pools && groups.len() > 1 {
        return Err(CliError::usage("--side-by-side makes new groups: leave out --from-pools")
            .with_hint("what is made from a pool belongs to the pool's group"));
    }
    let store = open_or_create(&settings.store)?;
    let mut all: Option<PreparedItems> = None;
    for count in groups {
        let again = all.is_some();
        let (config, dealt) = reach(&settings, (&tuning, party), again)?;
        let made = {
            let progress = Progress::begin()?;
            let config = progress.sink(party).attach(config);
            let prepare = if from_pools { stored::prepare_from_pools } else { stored::prepare };
            let made = prepare(config, &store, &circuit, count);
            made.map_err(|e| dealer::suspect(e.into(), dealt))?
        };
        tell_agreement(&made.agreement);
        if !settings.json {
            made.items.iter().try_for_each(|item| print(&format!("prepared {item}\n")))?;
        }
        all = Some(match all {
            Some(before) => joined(before, made),
            None => made,
        });
    }
    let made = all.ok_or_else(|| CliError::usage("`count` takes 1 to 1000000"))?;
    if settings.json {
        let costs = party_costs(&tuning, &[(party, &made.report)]);
        progress::live::report(&costs, "");
        return print_json(&prepared_json(&settings, &tuning, (&circuit, &made), costs));
    }
    if made.from_pools > 0 {
        tell(&format!("{} of {} from pools\n", made.from_pools, made.items.len()));
    }
    if made.dealt > 0 {
        tell(&format!("{} of {} made with the dealer's material\n", made.dealt, made.items.len()));
    }
    tell_costs(&tuning, &[(party, &made.report)]);
    Ok(())
}

/// Returns how many circuits each group has.
fn groups_of(count: u32, groups: u32) -> CliResult<Vec<u32>> {
    if groups > count {
        return Err(CliError::usage(format!(
            "--side-by-side {groups}: {count} prepared circuits do not make as many groups"
        ))
        .with_hint("--count says how many circuits are prepared, in all groups together"));
    }
    Ok((0..groups).map(|group| count / groups + u32::from(group < count % groups)).collect())
}

/// Joins what two groups have. They begin with the same pools: only the first says how far the
/// stores agree on those.
fn joined(mut all: PreparedItems, more: PreparedItems) -> PreparedItems {
    all.items.extend(more.items);
    all.from_pools += more.from_pools;
    all.dealt += more.dealt;
    all.report.add(&more.report);
    all
}

fn prepared_json(
    settings: &Settings,
    tuning: &Tuning,
    (circuit, made): (&Circuit, &PreparedItems),
    costs: Vec<PartyJson>,
) -> PreparedJson {
    let Agreement { common, only_here, only_elsewhere, uneven } = made.agreement;
    PreparedJson {
        format: "symbolon-prepare-1",
        circuit: settings.spec.circuit.clone(),
        digest: hex::encode(circuit.digest()),
        protocol: tuning.params.protocol.name().to_string(),
        rho: tuning.params.rho.bits(),
        batch: tuning.params.executions,
        items: made.items.iter().map(ToString::to_string).collect(),
        from_pools: made.from_pools,
        dealt: made.dealt,
        stores: StoresJson { common, only_here, only_elsewhere, uneven },
        parties: costs,
    }
}
