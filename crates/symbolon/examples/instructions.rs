//! One small run of a protocol, all parties as threads of one process over channels in memory.
//! `.ci/instructions` counts its instructions and compares its peak memory. The argument is a name
//! of [`RUNS`]; without one, the names are printed.
//!
//! A run prints its peak resident memory in KiB, if the system reports it.
//!
//! Every parameter that the measured link could decide is fixed, so runs differ only in their
//! randomness.

#![allow(clippy::print_stdout)]

use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, Stats, builtin};
use symbolon::store::{Protection, Store};
use symbolon::stored::{self, Amount};
use symbolon::{
    Config, Error, Inputs, OtExtension, Protocol, Result, Session, Transport, TreeDepth,
    make_triples,
};

/// The OT extension.
const OT: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Four };

/// The number of AND gates in a segment of a streamed run.
const SEGMENT: u64 = 8192;

/// How the phases of a run follow each other.
#[derive(Clone, Copy)]
enum Phases {
    /// All at once, with triples for this circuit.
    Together,
    /// Segment by segment.
    Streamed,
    /// Function-independent preprocessing first.
    Independent,
    /// Three sessions over stores on disk: a pool, a circuit prepared from it, the evaluation.
    Stored,
}

/// What a run computes.
#[derive(Clone, Copy)]
enum Work {
    /// A circuit.
    Circuit(Protocol, &'static str, Phases),
    /// The set-up and this many triples.
    Triples(u64),
}

/// The runs: name, number of parties, threads per party, and what they compute. In each of them the
/// set-up is the smaller part.
const RUNS: [(&str, u16, usize, Work); 17] = [
    ("set-up", 2, 1, Work::Circuit(Protocol::Wrk, "add:2", Phases::Together)),
    ("wrk", 2, 1, Work::Circuit(Protocol::Wrk, "random:32768/1024", Phases::Together)),
    ("wrk-streamed", 2, 1, Work::Circuit(Protocol::Wrk, "random:20480/1024", Phases::Streamed)),
    (
        "wrk-independent",
        2,
        1,
        Work::Circuit(Protocol::Wrk, "random:16384/1024", Phases::Independent),
    ),
    ("wrk-stored", 2, 1, Work::Circuit(Protocol::Wrk, "random:16384/1024", Phases::Stored)),
    ("wrk-two-lanes", 2, 2, Work::Circuit(Protocol::Wrk, "random:20480/1024", Phases::Streamed)),
    ("ywz-2", 2, 1, Work::Circuit(Protocol::Ywz, "random:32768/1024", Phases::Together)),
    ("ywz-3", 3, 1, Work::Circuit(Protocol::Ywz, "random:8192/1024", Phases::Together)),
    ("ywz-streamed", 2, 1, Work::Circuit(Protocol::Ywz, "random:20480/1024", Phases::Streamed)),
    (
        "ywz-independent",
        2,
        1,
        Work::Circuit(Protocol::Ywz, "random:16384/1024", Phases::Independent),
    ),
    ("ywz-stored", 2, 1, Work::Circuit(Protocol::Ywz, "random:16384/1024", Phases::Stored)),
    ("ywz-two-lanes", 2, 2, Work::Circuit(Protocol::Ywz, "random:16384/1024", Phases::Together)),
    ("tinytable", 2, 1, Work::Circuit(Protocol::TinyTable, "aes128:sbox", Phases::Together)),
    ("duplo", 2, 1, Work::Circuit(Protocol::Duplo, "cbcmac:3", Phases::Together)),
    ("duplo-independent", 2, 1, Work::Circuit(Protocol::Duplo, "aes128", Phases::Independent)),
    ("dualex", 2, 1, Work::Circuit(Protocol::DualEx, "aes128", Phases::Together)),
    ("triples", 2, 1, Work::Triples(32768)),
];

fn main() -> Result<()> {
    let Some(name) = std::env::args().nth(1) else {
        RUNS.iter().for_each(|(name, ..)| println!("{name}"));
        return Ok(());
    };
    let Some((_, parties, threads, work)) = RUNS.into_iter().find(|(known, ..)| *known == name)
    else {
        eprintln!("no `{}`: see the list without an argument", name.escape_default());
        std::process::exit(2);
    };
    match work {
        Work::Triples(count) => {
            together(parties, threads, |config, _| make_triples(config, count).map(drop))?;
        }
        Work::Circuit(protocol, circuit, phases) => {
            let circuit = builtin::by_name(circuit).expect("it is built in");
            let form = protocol.forms().first().copied();
            let config = |config: Config| config.protocol(protocol).form(form);
            if let Phases::Stored = phases {
                return stored(parties, threads, &circuit, config).map(|()| print_peak());
            }
            together(parties, threads, |open, me| {
                evaluate(config(open), &circuit, &zeros(&circuit, me)?, phases)
            })?;
        }
    }
    print_peak();
    Ok(())
}

/// Runs `part` for every party, each in its own thread, over new channels.
fn together(
    parties: u16,
    threads: usize,
    part: impl Fn(Config, u16) -> Result<()> + Sync,
) -> Result<()> {
    let part = &part;
    thread::scope(|scope| {
        let mesh = (0..parties).zip(Transport::memory_mesh(parties, threads, None)?);
        let start = |(me, transport)| {
            // Under an emulator everything is slow.
            let config = Config::new(me, transport).timeout(Duration::from_secs(600)).ot(OT);
            scope.spawn(move || part(config, me))
        };
        let running: Vec<_> = mesh.map(start).collect();
        running.into_iter().try_for_each(|thread| thread.join().expect("no party panics"))
    })
}

fn zeros(circuit: &Circuit, me: u16) -> Result<Inputs> {
    let mut inputs = Inputs::builder(circuit, me);
    for (place, input) in circuit.inputs().iter().enumerate() {
        if input.owner == me {
            inputs = inputs.bits(place, vec![false; input.ty.width() as usize])?;
        }
    }
    inputs.finish()
}

/// Runs all phases in one session.
fn evaluate(config: Config, circuit: &Circuit, inputs: &Inputs, phases: Phases) -> Result<()> {
    let config = match phases {
        Phases::Streamed => config.segment_gates(SEGMENT),
        _ => config,
    };
    let mut session = Session::connect(config, circuit)?;
    if let Phases::Independent = phases {
        let material = session.preprocess()?;
        let ready = session.prepare(material)?;
        return session.run(ready, inputs).map(drop);
    }
    assert_eq!(session.streams(), matches!(phases, Phases::Streamed));
    session.evaluate(inputs).map(drop)
}

/// Runs each phase in a separate session, over a store of each party.
fn stored(
    parties: u16,
    threads: usize,
    circuit: &Circuit,
    config: impl Fn(Config) -> Config + Sync,
) -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| Error::store(error.to_string()))?;
    let make = |party: u16| Store::create(folder.path().join(party.to_string()), &Protection::None);
    let stores: std::result::Result<Vec<Store>, _> = (0..parties).map(make).collect();
    let stores = stores.map_err(|error| Error::store(error.to_string()))?;
    let store = |me: u16| &stores[usize::from(me)];
    // A byte more of input bits than the circuit has: a pool is rarely used up exactly.
    let amount = Amount { and_gates: Stats::of(circuit).and, input_bits: 136 };
    together(parties, threads, |open, me| stored::fill(config(open), store(me), amount).map(drop))?;
    together(parties, threads, |open, me| {
        let made = stored::prepare(config(open), store(me), circuit, 1)?;
        assert_eq!(made.from_pools, 1, "the pool is large enough");
        Ok(())
    })?;
    together(parties, threads, |open, me| {
        stored::run(config(open), store(me), circuit, &zeros(circuit, me)?).map(drop)
    })
}

/// Prints the peak memory of this process, in KiB.
fn print_peak() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    if let Some(peak) = peak {
        println!("{}", peak.trim().trim_end_matches(" kB"));
    }
}
