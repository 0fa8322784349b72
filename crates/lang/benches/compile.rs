//! Programs of the size of real data: processor time and peak memory of `check`, which compiles a
//! program, and of what `circuit info` does on top of that, which plans, counts and digests the
//! circuit. Each is measured in a process of its own. Words on the command line choose programs
//! whose names have one of them, and programs in files: `cargo bench -p symbolon-lang -- sort
//! /tmp/mine.sym`.
//!
//! Runs are not measured here, because the engine is above this crate: `symbolon local` with the
//! same program prints its time.
#![allow(missing_docs, clippy::print_stdout)]

use std::fmt::Write;
use std::process::{Command, ExitCode};

use symbolon_circuit::builder::and_count;
use symbolon_circuit::{LookupCount, Stats};
use symbolon_lang::cost::component_costs;
use symbolon_lang::{Options, compile_text};

/// The environment variable that names the program and the work to measure in this process.
const CHOICE: &str = "SYMBOLON_BENCH_COMPILE";

/// A program by its name, and its text.
type Program = (String, String);

/// Two blocks.
const SHA256: &str =
    "fn main(text: [u8; 100] from 0, mask: [u8; 100] from 1) -> (digest: [u8; 32] to all) {
    std::crypto::sha256([x ^ y for (x, y) in zip(text, mask)])
}";

fn programs() -> Vec<Program> {
    let own = [
        ("sort 4 096 u64 with payload", sort(4096)),
        ("sort 65 536 u64 with payload", sort(65_536)),
        ("intersect 4 000 u32", intersect(4_000)),
        ("intersect 16 000 u32", intersect(16_000)),
        ("join 65 536 (u64, u64)", join("u64", 65_536, 65_536)),
        ("hospitals' join 500 x 800", join("u128", 500, 800)),
        ("count 10^6 u32", count(1_000_000)),
        ("sum 10^6 u32", sum(1_000_000)),
        ("histogram 10^6 u4", histogram(1_000_000)),
        ("SHA-256 two blocks", SHA256.to_string()),
    ];
    let own = own.map(|(name, text)| (name.to_string(), text));
    let files = words().into_iter().filter(|word| word.ends_with(".sym")).map(|path| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        (path, text)
    });
    own.into_iter().chain(files).collect()
}

/// Returns the words of the command line without options, of which Cargo passes some.
fn words() -> Vec<String> {
    std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect()
}

fn sort(n: u32) -> String {
    format!(
        "fn main(keys: [u64; {n}] from 0, values: [u64; {n}] from 1)
    -> (k: [u64; {n}] to all, v: [u64; {n}] to all) {{ std::sort::by_key(keys, values) }}"
    )
}

fn intersect(n: u32) -> String {
    format!(
        "fn main(a: [u32; {n}] from 0, b: [u32; {n}] from 1) -> (r: [Option<u32>; {n}] to all) {{
    std::psi::intersect(a, b)
}}"
    )
}

fn join(key: &str, n: u32, m: u32) -> String {
    let most = n.min(m);
    format!(
        "fn main(a: [({key}, u64); {n}] from 0, b: [({key}, u64); {m}] from 1)
    -> (r: [Option<({key}, u64, u64)>; {most}] to all) {{ std::psi::join(a, b) }}"
    )
}

fn count(n: u32) -> String {
    format!(
        "fn main(a: [u32; {n}] from 0, least: u32 from 1) -> (r: u32 to all) {{
    let mut n = 0u32;
    for x in a {{ if x > least {{ n += 1; }} }}
    n
}}"
    )
}

fn sum(n: u32) -> String {
    format!("fn main(a: [u32; {n}] from 0) -> (r: u<32 + clog2({n})> to all) {{ sum(a) }}")
}

fn histogram(n: u32) -> String {
    format!(
        "fn main(a: [u4; {n}] from 0) -> (r: [u<clog2({n} + 1)>; 16] to all) {{
    std::stats::histogram(a)
}}"
    )
}

/// What a process measures.
#[derive(Clone, Copy)]
enum Work {
    Check,
    Info,
}

impl Work {
    const ALL: [Work; 2] = [Work::Check, Work::Info];

    fn name(self) -> &'static str {
        match self {
            Work::Check => "check",
            Work::Info => "info",
        }
    }
}

/// Measures each chosen program twice, and prints a row for each.
fn main() -> ExitCode {
    let programs = programs();
    if let Ok(choice) = std::env::var(CHOICE) {
        return measure(&programs, &choice);
    }
    let chosen = words();
    let is_chosen =
        |name: &str| chosen.is_empty() || chosen.iter().any(|word| name.contains(&**word));
    println!("{:30}{:>12}{:>16}{:>16}", "", "AND gates", "check", "circuit info");
    let mut failed = false;
    for (place, (name, _)) in programs.iter().enumerate().filter(|(_, p)| is_chosen(&p.0)) {
        let mut row = String::new();
        let mut ands = String::new();
        for work in Work::ALL {
            match in_child(place, work) {
                Ok(measured) => {
                    ands.clone_from(&measured.ands);
                    let cell = format!("{:.2} s {} MB", measured.seconds, measured.kib / 1024);
                    write!(row, "{cell:>16}").expect("texts grow");
                }
                Err(why) => {
                    failed = true;
                    write!(row, "  {why}").expect("texts grow");
                    break;
                }
            }
        }
        println!("{name:30}{ands:>12}{row}");
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What a child has measured.
struct Measured {
    ands: String,
    seconds: f64,
    kib: u64,
}

/// Starts this program again to measure one thing.
fn in_child(place: usize, work: Work) -> Result<Measured, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(own);
    child.args(words());
    let child = child.env(CHOICE, format!("{place} {}", work.name())).output();
    let child = child.map_err(|error| error.to_string())?;
    let shown = String::from_utf8_lossy(&child.stdout).into_owned();
    let words: Vec<&str> = shown.split_whitespace().collect();
    match words[..] {
        [ands, seconds, kib] if child.status.success() => Ok(Measured {
            ands: ands.to_string(),
            seconds: seconds.parse().unwrap_or_default(),
            kib: kib.parse().unwrap_or_default(),
        }),
        _ => {
            let errors = String::from_utf8_lossy(&child.stderr);
            Err(errors.lines().next().unwrap_or("a process ended without a word").to_string())
        }
    }
}

/// Measures this process, and prints AND gates, seconds and KiB.
fn measure(programs: &[Program], choice: &str) -> ExitCode {
    let (place, work) = choice.split_once(' ').expect("a place and a work");
    let (_, text) = &programs[place.parse::<usize>().expect("a place")];
    let circuit = match compile_text(text, &Options::default()) {
        Ok(circuit) => circuit,
        Err(errors) => {
            eprintln!("{errors}");
            return ExitCode::FAILURE;
        }
    };
    let ands = if work == Work::Info.name() {
        std::hint::black_box((circuit.digest(), component_costs(&circuit)));
        std::hint::black_box(LookupCount::of(&circuit));
        Stats::of(&circuit).and
    } else {
        and_count(&circuit)
    };
    println!("{ands} {} {}", seconds(), peak_kib());
    ExitCode::SUCCESS
}

/// Returns the processor time of this process, of all its threads.
#[cfg(unix)]
fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns nothing: other systems have another clock.
#[cfg(not(unix))]
fn seconds() -> f64 {
    0.0
}

/// Returns the peak memory of this process, where Linux shows it.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
