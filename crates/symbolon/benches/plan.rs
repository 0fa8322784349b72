//! Forecasts against measurements: `cargo bench -p symbolon --bench plan`.
//!
//! Runs five circuits over four links, one, eight and 64 times, in all ways that a forecast finds
//! cheap enough, both parties in this process. Prints for each the chosen way with its forecast and
//! measured seconds, the best way, and what the choice loses against it. Times are medians of runs
//! that alternate; by default this machine is calibrated first.
//!
//! Arguments: a part of a circuit's name; `--built-in` for the times of a typical machine;
//! `--repeat N`; `--longest SECONDS` for a run; `--near N` for only those ways that are forecast to
//! take at most N times as long as the chosen one; `--keep FILE` to keep measurements, and take
//! from it those that it has; `--detail` for a line per way.
#![allow(missing_docs, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::io::Write;

use symbolon::circuit::builtin;
use symbolon::plan::{
    Alternative, Machine, PlanRequest, Rates, alternatives, calibrate, trial, units,
};
use symbolon::{Compiled, SimulatedLink};

const CIRCUITS: [&str; 5] = ["add:64", "aes128", "sha256", "sort:64x32", "mult:256"];
const LINKS: [&str; 4] = ["lan", "1ms,1gbit", "20ms,100mbit", "wan"];
const COUNTS: [u64; 3] = [1, 8, 64];

struct Options {
    part: String,
    repeat: usize,
    longest: f64,
    near: f64,
    detail: bool,
    rates: Rates,
    keep: Option<String>,
}

fn options() -> Options {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let mut options = Options {
        part: String::new(),
        repeat: 3,
        longest: 4.0,
        near: f64::INFINITY,
        detail: false,
        rates: Rates::built_in(),
        keep: None,
    };
    let mut built_in = false;
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|n| n.parse::<f64>().ok()).expect("a number");
        match word.as_str() {
            "--built-in" => built_in = true,
            "--detail" => options.detail = true,
            "--repeat" => options.repeat = number() as usize,
            "--longest" => options.longest = number(),
            "--near" => options.near = number(),
            "--keep" => options.keep = words.next(),
            _ => options.part = word,
        }
    }
    if !built_in {
        options.rates = calibrate(|_, _| ()).expect("a calibration");
        for unit in units() {
            let [own, usual] = [options.rates.seconds(unit) * 1e9, unit.nanos()];
            println!("{:>24} {own:>12.1} ns, built in {usual:.1} ns", unit.name());
        }
    }
    options
}

/// The measured seconds of ways, by what was run.
#[derive(Default)]
struct Measured {
    all: BTreeMap<String, [f64; 3]>,
    file: Option<std::fs::File>,
}

impl Measured {
    fn new(keep: Option<&str>) -> Measured {
        let Some(path) = keep else { return Measured::default() };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = |line: &str| {
            let (name, numbers) = line.split_once('\t')?;
            let numbers: Vec<f64> = numbers.split('\t').filter_map(|n| n.parse().ok()).collect();
            Some((name.to_string(), numbers.try_into().ok()?))
        };
        let all = text.lines().filter_map(line).collect();
        let file = std::fs::File::options().append(true).create(true).open(path);
        Measured { all, file: Some(file.expect("a file for measurements")) }
    }

    /// Returns the medians of all ways: seconds of the set-up, of the rest, and of all processors.
    fn of(
        &mut self,
        (circuit, request): (&str, PlanRequest),
        ways: &[Alternative],
        repeat: usize,
    ) -> Vec<[f64; 3]> {
        let name = |way: &Alternative| {
            let PlanRequest { link, evaluations, .. } = request;
            format!("{circuit} {link} {evaluations} {}", shown(way))
        };
        let due: Vec<&Alternative> =
            ways.iter().filter(|way| !self.all.contains_key(&name(way))).collect();
        let built = builtin::by_name(circuit).expect("a built-in circuit");
        let mut runs = vec![[const { Vec::new() }; 3]; due.len()];
        for _ in 0..repeat {
            for (way, runs) in due.iter().zip(&mut runs) {
                let times = trial(&built, way.way, request).expect("a run");
                let cpu = times.cpu_seconds.unwrap_or(0.0);
                let all = [times.setup_seconds, times.seconds, cpu];
                runs.iter_mut().zip(all).for_each(|(runs, one)| runs.push(one));
            }
        }
        for (way, runs) in due.into_iter().zip(runs) {
            let medians = runs.map(|runs| median(&runs));
            if let Some(file) = &mut self.file {
                let [setup, rest, cpu] = medians;
                writeln!(file, "{}\t{setup}\t{rest}\t{cpu}", name(way)).expect("a written line");
            }
            self.all.insert(name(way), medians);
        }
        ways.iter().map(|way| self.all[&name(way)]).collect()
    }
}

fn median(all: &[f64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

fn shown(way: &Alternative) -> String {
    let way = way.way;
    let flag = way.flag();
    format!("{} {} {} {flag}", way.protocol.name(), way.form.name(), way.ot.name())
}

fn main() {
    let options = options();
    let mut measured = Measured::new(options.keep.as_deref());
    let (mut losses, mut errors, mut errors_of_choices) = (Vec::new(), Vec::new(), Vec::new());
    println!("circuit, link, count: chosen way, forecast and measured ms; best way; loss");
    for circuit in CIRCUITS.into_iter().filter(|name| name.contains(&options.part)) {
        let built = Compiled::new(&builtin::by_name(circuit).expect("a built-in circuit"));
        for (link, evaluations) in LINKS.iter().flat_map(|link| COUNTS.map(|count| (link, count))) {
            let link: SimulatedLink = link.parse().expect("a link");
            let request = PlanRequest::over(link);
            let machine = Machine { parties: 2, ..request.machine };
            let request = PlanRequest { evaluations, machine, ..request };
            let mut ways = alternatives(&built, request, &options.rates).expect("ways");
            let chosen = ways[0].all_seconds();
            ways.retain(|way| {
                let seconds = way.all_seconds();
                seconds <= chosen || seconds <= options.longest.min(options.near * chosen)
            });
            let times = measured.of((circuit, request), &ways, options.repeat);
            let real: Vec<f64> = times.iter().map(|[setup, rest, _]| setup + rest).collect();
            let best = (0..ways.len()).min_by(|a, b| real[*a].total_cmp(&real[*b])).unwrap_or(0);
            let loss = real[0] / real[best] - 1.0;
            let error = |place: usize| ways[place].all_seconds() / real[place] - 1.0;
            losses.push(loss);
            errors.extend((0..ways.len()).map(|place| error(place).abs()));
            errors_of_choices.push(error(0).abs());
            println!(
                "{circuit}, {link}, {evaluations}: {}, {:.1} and {:.1}; {}, {:.1}; {:.0} %",
                shown(&ways[0]),
                1e3 * chosen,
                1e3 * real[0],
                shown(&ways[best]),
                1e3 * real[best],
                1e2 * loss
            );
            if options.detail {
                for (place, (way, [setup, rest, cpu])) in ways.iter().zip(&times).enumerate() {
                    println!(
                        "  {:32} set-up {:7.1} {:7.1}  rest {:8.1} {:8.1}  cpu {:8.1}  {:+.0} %",
                        shown(way),
                        1e3 * way.setup_seconds,
                        1e3 * setup,
                        1e3 * way.seconds,
                        1e3 * rest,
                        1e3 * cpu,
                        1e2 * error(place)
                    );
                }
            }
        }
    }
    let within = losses.iter().filter(|loss| **loss <= 0.2).count();
    println!(
        "losses: median {:.0} %, at most {:.0} %; within 20 % in {within} of {} cases",
        1e2 * median(&losses),
        1e2 * losses.iter().copied().fold(0.0, f64::max),
        losses.len()
    );
    println!(
        "errors of times: median {:.0} %, {:.0} % for chosen ways, over {} ways",
        1e2 * median(&errors),
        1e2 * median(&errors_of_choices),
        errors.len()
    );
}
