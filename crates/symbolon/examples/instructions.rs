//! One small run of a protocol, all parties as threads over channels in memory: what `.ci/instructions` counts the
//! instructions of. The argument is a name of [`WORK`]; without one, the names are printed.
//!
//! Everything that could be chosen by the clock is given, so that a run does the same each time but for what the
//! randomness decides.

#![allow(clippy::print_stdout)]

use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::{BlockBits, Config, Generator, Inputs, Protocol, Result, Session, Transport};

/// What makes the correlated OTs.
const OT: Generator = Generator::SoftSpoken { k: BlockBits::Four };

/// What the parties compute.
#[derive(Clone, Copy)]
enum Work {
    /// A circuit, in a protocol.
    Circuit(Protocol, &'static str),
    /// The set-up, and so many triples.
    Triples(u64),
}

/// By name: how many parties, and what. Large enough that the set-up is the smaller part.
const WORK: [(&str, u16, Work); 6] = [
    ("set-up", 2, Work::Circuit(Protocol::Wrk, "add:2")),
    ("wrk", 2, Work::Circuit(Protocol::Wrk, "random:32768/1024")),
    ("ywz-2", 2, Work::Circuit(Protocol::Ywz, "random:32768/1024")),
    ("ywz-3", 3, Work::Circuit(Protocol::Ywz, "random:8192/1024")),
    ("tinytable", 2, Work::Circuit(Protocol::TinyTable, "aes128:sbox")),
    ("triples", 2, Work::Triples(32768)),
];

fn main() -> Result<()> {
    let Some(name) = std::env::args().nth(1) else {
        WORK.iter().for_each(|(name, ..)| println!("{name}"));
        return Ok(());
    };
    let Some((_, parties, work)) = WORK.into_iter().find(|(known, ..)| *known == name) else {
        eprintln!("no `{}`: see the list without an argument", name.escape_default());
        std::process::exit(2);
    };
    let circuit = match work {
        Work::Circuit(_, name) => Some(builtin::by_name(name).expect("it is built in")),
        Work::Triples(_) => None,
    };
    let party = |number: u16, transport| -> Result<()> {
        // Nothing is fast under an emulator.
        let config = Config::new(number, transport).timeout(Duration::from_secs(600)).ot(OT);
        match (work, &circuit) {
            (Work::Circuit(protocol, _), Some(circuit)) => {
                let form = protocol.forms().first().copied();
                evaluate(config.protocol(protocol).form(form), circuit, number)
            }
            (Work::Triples(count), _) => symbolon::make_triples(config, count).map(drop),
            (Work::Circuit(..), None) => unreachable!("made above"),
        }
    };
    let party = &party;
    std::thread::scope(|scope| {
        let mesh = (0..parties).zip(Transport::memory_mesh(parties, 1, None)?);
        let threads: Vec<_> =
            mesh.map(|(number, transport)| scope.spawn(move || party(number, transport))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no party panics"))
    })
}

/// The three phases, on inputs of zeros.
fn evaluate(config: Config, circuit: &Circuit, number: u16) -> Result<()> {
    let mut inputs = Inputs::builder(circuit, number);
    for (place, input) in circuit.inputs().iter().enumerate() {
        if input.owner == number {
            inputs = inputs.bits(place, vec![false; input.ty.width() as usize])?;
        }
    }
    Session::connect(config, circuit)?.evaluate(&inputs.finish()?).map(drop)
}
