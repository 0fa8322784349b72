//! What `duplo` sends and computes, in the large: the bytes are those of `forecast`, and messages
//! of one kind are one message here.

use symbolon_circuit::PartyId;
use symbolon_cutchoose::hcom;
use symbolon_engine::Compiled;
use symbolon_engine::forecast::{self as engine, DEPENDENT, ONLINE, SETUP, Way};
use symbolon_ot::script::{receive_draw, send_draw, set_up};
use symbolon_transport::Result;
use symbolon_transport::script::{Script, Threads, Unit};

use super::forecast::{Forecast, PhaseBytes, Plans};
use super::state;

/// The garbling threads of a machine with two cores.
const TWO: Threads = Threads::AtOnce(2);

/// An AND gate of a copy, garbled and hashed.
const GARBLE: Unit = Unit::new("duplo gate garbled", 54.0).on(TWO);

/// An AND gate of a copy that stays, at the evaluator: received, hashed and kept.
const KEEP: Unit = Unit::new("duplo gate kept", 41.0);

/// An AND gate of a copy that is evaluated.
const EVALUATE: Unit = Unit::new("duplo gate online", 96.0).on(TWO);

/// A key of a wire that is committed to, authenticated or soldered.
const COMMITMENT: Unit = Unit::new("duplo commitment", 600.0);

/// The kinds of work here.
pub(super) const UNITS: &[Unit] =
    &[GARBLE, KEEP, EVALUATE, COMMITMENT, COLUMN, PREPARATION, ONLINE_PHASE];

/// A column of the commitments' code, in the set-up.
const COLUMN: Unit = Unit::new("duplo column", 4_000.0);

/// What a preparation takes at either party, however small it is.
const PREPARATION: Unit = Unit::new("duplo preparation", 5e6);

/// What an online phase takes at the evaluator, however small it is.
const ONLINE_PHASE: Unit = Unit::new("duplo online phase", 1e6);

/// The pieces in which a window's bytes are sent, so that work and sending overlap.
const PIECES: u64 = 64;

/// Forecasts batches that are prepared together.
pub(super) fn forecast(circuit: &Compiled, way: &Way<'_>) -> Result<engine::Forecast> {
    let plans = Plans { ot: way.ot, ..Plans::of(way.terms, way.together) };
    let forecast = Forecast::new(circuit.circuit(), plans)?;
    let commitments = state::commitments(way.terms.rho.bits())?;
    let scripts = PartyId::all(2u16).map(|me| script(me, &forecast, way, &commitments)).collect();
    let memory = forecast.memory + (8 << 20);
    Ok(engine::Forecast { scripts, within_percent: 5, exact_rounds: false, memory })
}

/// Returns the AND gates of all copies that are made, and of those that are kept; and wires.
fn amounts(forecast: &Forecast) -> [f64; 3] {
    let sum = |of: &dyn Fn(&super::forecast::ComponentForecast) -> u64| -> f64 {
        forecast.components.iter().map(|component| of(component) as f64).sum()
    };
    let made = sum(&|one| one.and_gates.saturating_mul(one.sizes.made));
    let kept = sum(&|one| {
        one.and_gates.saturating_mul(one.sizes.bucket).saturating_mul(one.sizes.buckets)
    });
    let wires = sum(&|one| (1 + one.inputs + one.outputs).saturating_mul(one.sizes.made));
    let keys = forecast.authenticators.made.saturating_mul(1 + forecast.bundle) as f64;
    [made, kept, wires + keys]
}

fn script(me: PartyId, forecast: &Forecast, way: &Way<'_>, commitments: &hcom::Params) -> Script {
    let mut script = Script::new(me, 2);
    let (peer, garbles) = (me.other_of_two(), me == 0);
    let [made, kept, wires] = amounts(forecast);
    script.phase(SETUP);
    set_up(&mut script, way.ot);
    let (columns, trees) = (commitments.columns(), commitments.tree_bytes() as u64);
    script.work(COLUMN, columns as f64);
    match garbles {
        true => {
            receive_draw(&mut script, peer, way.ot, columns);
            script.send(peer, trees);
        }
        false => {
            send_draw(&mut script, peer, way.ot, columns);
            script.receive(peer);
        }
    }
    script.phase(DEPENDENT);
    script.work(PREPARATION, 1.0);
    one_way(&mut script, !garbles, &[forecast.made.evaluator]);
    let opened = made - kept;
    // The copies are garbled and committed to; a coin decides which are opened; then the others
    // are garbled again and sent.
    let [first, second] = [forecast.made.garbler / 4, forecast.made.garbler * 3 / 4];
    stream(
        &mut script,
        garbles,
        first,
        [(GARBLE, made), (COMMITMENT, wires)],
        [(COMMITMENT, wires / 2.0); 2],
    );
    script.exchange(32);
    script.exchange(64);
    let theirs = [(GARBLE, opened), (KEEP, kept)];
    stream(&mut script, garbles, second, [(GARBLE, kept), (COMMITMENT, 0.0)], theirs);
    one_way(&mut script, garbles, &[forecast.connected.garbler]);
    script.phase(ONLINE);
    let PhaseBytes { garbler, evaluator } = forecast.online;
    one_way(&mut script, !garbles, &[evaluator / 2]);
    one_way(&mut script, garbles, &[garbler]);
    if !garbles {
        script.work(ONLINE_PHASE, 1.0);
        script.work(EVALUATE, kept);
    }
    one_way(&mut script, !garbles, &[evaluator - evaluator / 2]);
    script
}

/// Adds messages in one direction.
fn one_way(script: &mut Script, sends: bool, payloads: &[u64]) {
    for payload in payloads {
        if sends { script.send_all(*payload) } else { script.receive_all() }
    }
}

/// Adds many messages from the garbler, and the work of both parties for them.
fn stream(
    script: &mut Script,
    garbles: bool,
    bytes: u64,
    own: [(Unit, f64); 2],
    theirs: [(Unit, f64); 2],
) {
    for piece in 0..PIECES {
        let payload = bytes * (piece + 1) / PIECES - bytes * piece / PIECES;
        let work = if garbles { own } else { theirs };
        if !garbles {
            script.receive_all();
        }
        work.into_iter().for_each(|(unit, all)| script.work(unit, all / PIECES as f64));
        if garbles {
            script.send_all(payload);
        }
    }
}
