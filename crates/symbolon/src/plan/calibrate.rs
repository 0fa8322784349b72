//! Measures the times of all kinds of work on this machine.
//!
//! Short runs of all protocols, both parties in this process, tell how much processor time they
//! take; forecasts tell of how much work they consist. The times are those with which the forecasts
//! come closest. Processor time does not depend on what else the machine does as much as other
//! time does.

use symbolon_circuit::builtin;
use symbolon_protocols::forecast::{ONLINE, SETUP};
use symbolon_protocols::{Compiled, GateForm, OtExtension, Protocol, TreeDepth};
use symbolon_transport::script::{Unit, WAKE};
use symbolon_transport::{Error, Meter, Result, SimulatedLink, measure, memory_lanes, threads};

use super::rates::{Rates, units};
use super::{Combination, PlanRequest, parts, trial};

/// How often each run is repeated; its median counts.
const REPEATS: usize = 3;

/// How strongly times are held where the runs leave them open: the weight of a time that keeps its
/// proportion to the others, compared with a run.
const HOLD: f64 = 0.1;

/// A run: the circuit, how many evaluations, and how.
type Run = (&'static str, u64, Combination);

/// Returns a run in the form with the fewest bytes.
fn run(circuit: &'static str, count: u64, protocol: Protocol, ot: OtExtension) -> Run {
    let form = protocol.forms().last().copied().unwrap_or(GateForm::HalfGates);
    (circuit, count, Combination { protocol, form, ot, option: None })
}

const FOUR: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Four };
const EIGHT: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Eight };

/// Runs in which every unit has a part that counts.
fn runs() -> Vec<Run> {
    use Protocol::{DualEx, Duplo, TinyTable, Wrk, Ywz};
    let four_rows = |circuit| {
        let way = Combination { form: GateForm::FourRow, ..run(circuit, 1, Wrk, FOUR).2 };
        (circuit, 1, way)
    };
    let mut all = vec![
        four_rows("aes128"),
        four_rows("sha512"),
        run("sha512", 1, Wrk, FOUR),
        run("add:64", 1, Wrk, FOUR),
        run("aes128", 4, Ywz, FOUR),
        run("aes128", 1, TinyTable, FOUR),
        run("aes128:sbox", 1, TinyTable, FOUR),
        run("aes128:sbox", 4, TinyTable, FOUR),
        run("aes128", 8, TinyTable, FOUR),
        run("sort:64x32", 1, TinyTable, FOUR),
        run("add:64", 64, TinyTable, FOUR),
        run("add:64", 1, DualEx, FOUR),
        run("add:64", 16, DualEx, FOUR),
        run("aes128", 1, DualEx, FOUR),
        run("aes128", 8, DualEx, FOUR),
        run("add:64", 1, Duplo, FOUR),
        run("aes128", 1, Duplo, FOUR),
        run("aes128", 8, Duplo, FOUR),
        run("sort:64x32", 1, Duplo, FOUR),
        run("sha256", 1, Duplo, FOUR),
    ];
    for ot in OtExtension::ALL {
        all.push(run("sha256", 1, Wrk, ot));
    }
    all.push(run("sort:64x32", 1, Wrk, EIGHT));
    all
}

/// The work of a phase of a run, and the processor time that it took.
struct Row {
    /// In the order of [`units`].
    amounts: Vec<f64>,
    seconds: f64,
}

/// Measures how long this machine takes for each kind of work: some seconds of runs in memory.
/// `told` hears how many of all runs are done.
///
/// # Errors
/// `InvalidInput` if this system does not tell a process its processor time; `System` if it has too
/// few threads.
pub fn calibrate(mut told: impl FnMut(usize, usize)) -> Result<Rates> {
    let (all, runs) = (units(), runs());
    let wake = wake()?;
    let mut rows = Vec::new();
    for (done, run) in runs.iter().enumerate() {
        told(done, runs.len());
        rows.extend(measured(run, &all)?);
    }
    told(runs.len(), runs.len());
    let factors = fit(&rows, &all);
    Ok(Rates::of(|unit| match all.iter().position(|one| *one == unit) {
        _ if unit == WAKE => wake,
        Some(place) => factors[place] * unit.nanos() * 1e-9,
        None => unit.nanos() * 1e-9,
    }))
}

/// Returns how long a message takes to a party that waits for it, over a link without delay.
fn wake() -> Result<f64> {
    let link = "0s,1000gbit".parse::<SimulatedLink>()?;
    let mut trips = Vec::new();
    for _ in 0..REPEATS {
        let (mut zero, one) = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, Some(link))?;
        let here = || zero.first_mut().map(measure);
        let (here, _) = threads::beside(one, |mut one| measure(&mut one), here)?;
        let here = here.ok_or_else(|| Error::internal("a connection without a lane"))??;
        trips.push(here.round_trip.as_secs_f64() / 2.0);
    }
    Ok(median(trips))
}

/// Returns the phases of a run: the set-up, what is made ahead, and the online phase.
fn measured(run: &Run, all: &[Unit]) -> Result<Vec<Row>> {
    let &(name, evaluations, way) = run;
    let circuit = builtin::by_name(name)?;
    let request = PlanRequest { evaluations, ..PlanRequest::over(SimulatedLink::LAN) };
    let mut phases = [const { Vec::new() }; 3];
    for _ in 0..REPEATS {
        let reports = trial::reports(&circuit, way, request, None)?;
        // Where the phases of two parties overlap, the one that ends them last tells them apart.
        let cpu = |name: &str| -> Option<f64> {
            let of =
                |report: &crate::Report| report.phase(name).map_or(Some(0.0), |p| p.cpu_seconds);
            reports.iter().map(of).try_fold(f64::INFINITY, |least, one| Some(least.min(one?)))
        };
        let mut in_all = reports
            .iter()
            .map(|report| report.phases.iter().map(|phase| phase.cpu_seconds).sum::<Option<f64>>());
        let in_all = in_all.try_fold(0f64, |most, one| Some(most.max(one?)));
        let (Some(setup), Some(online), Some(in_all)) = (cpu(SETUP), cpu(ONLINE), in_all) else {
            let text =
                "this system does not tell a process its processor time: nothing is measured";
            return Err(Error::invalid_input(text));
        };
        let made = in_all - setup - online;
        phases.iter_mut().zip([setup, made, online]).for_each(|(all, one)| all.push(one));
    }
    let mut rows =
        phases.map(|all| Row { amounts: vec![0.0; units().len()], seconds: median(all) });
    for (number, part) in parts(&Compiled::new(&circuit), way, request)?.iter().enumerate() {
        for work in part.forecast.scripts.iter().flat_map(|script| script.work_in_all()) {
            let (row, times) = match work.phase {
                SETUP => (0, u64::from(number == 0)),
                ONLINE => (2, part.times),
                _ => (1, part.times),
            };
            if let Some(place) = all.iter().position(|unit| *unit == work.unit) {
                rows[row].amounts[place] += work.amount * times as f64;
            }
        }
    }
    Ok(rows.into_iter().filter(|row| row.seconds > 0.0).collect())
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Returns how many times as long as on a typical machine each unit takes: the least squares of
/// relative errors, none of them negative.
fn fit(rows: &[Row], all: &[Unit]) -> Vec<f64> {
    // The share of each unit in a row's time, if it took as long as on a typical machine.
    let shares: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let share = |(amount, unit): (&f64, &Unit)| amount * unit.nanos() * 1e-9 / row.seconds;
            row.amounts.iter().zip(all).map(share).collect()
        })
        .collect();
    let whole = shares.iter().map(|row| 1.0 / row.iter().sum::<f64>().max(1e-9)).collect();
    let whole = median(whole);
    let mut factors = vec![whole; all.len()];
    let mut sums: Vec<f64> = shares.iter().map(|row| row.iter().sum::<f64>() * whole).collect();
    // One unit at a time takes the value that is best while the others keep theirs.
    for _ in 0..2_000 {
        for (place, factor) in factors.iter_mut().enumerate() {
            let (mut above, mut below) = (HOLD, HOLD);
            for (row, sum) in shares.iter().zip(&sums) {
                let share = row[place] * whole;
                above += share * (1.0 - (sum - row[place] * *factor));
                below += share * share;
            }
            let best = whole * (above / below).max(0.02);
            let change = best - std::mem::replace(factor, best);
            shares.iter().zip(&mut sums).for_each(|(row, sum)| *sum += row[place] * change);
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit that no run has would keep the time of a typical machine.
    #[test]
    fn every_unit_counts_in_a_run() {
        let mut missing = units();
        missing.retain(|unit| *unit != WAKE);
        for (name, evaluations, way) in runs() {
            let circuit = Compiled::new(&builtin::by_name(name).unwrap());
            let request = PlanRequest { evaluations, ..PlanRequest::over(SimulatedLink::LAN) };
            for part in parts(&circuit, way, request).unwrap() {
                let work = part.forecast.scripts.iter().flat_map(|script| script.work_in_all());
                work.for_each(|work| missing.retain(|unit| *unit != work.unit));
            }
        }
        assert!(missing.is_empty(), "{missing:?}");
    }

    /// Rows of a machine that takes twice as long for all but one unit.
    #[test]
    fn times_are_found_again() {
        let all = units();
        let truth = |place: usize| if place == 3 { 0.5 } else { 2.0 };
        let row = |seed: usize| {
            // Each unit takes about the same part of a row.
            let amount = |(place, unit): (usize, &Unit)| {
                ((place * 7 + seed * 13) % 11) as f64 * 1e3 / unit.nanos()
            };
            let amounts: Vec<f64> = all.iter().enumerate().map(amount).collect();
            let cost =
                |(place, amount): (usize, &f64)| truth(place) * amount * all[place].nanos() * 1e-9;
            let seconds = amounts.iter().enumerate().map(cost).sum();
            Row { amounts, seconds }
        };
        let rows: Vec<Row> = (0..200).map(row).collect();
        let single = |place: usize| {
            let mut amounts = vec![0.0; all.len()];
            amounts[place] = 1e3 / all[place].nanos();
            Row { amounts, seconds: truth(place) * 1e-6 }
        };
        let rows: Vec<Row> = rows.into_iter().chain((0..all.len()).map(single)).collect();
        for (place, factor) in fit(&rows, &all).into_iter().enumerate() {
            assert!((factor / truth(place) - 1.0).abs() < 0.05, "{}: {factor}", all[place].name());
        }
    }
}
