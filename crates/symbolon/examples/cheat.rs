//! A cheating party, and what the honest one reports. The cheats use the tests' harness, which a
//! normal build does not contain.
//!
//! ```text
//! cargo run --release -p symbolon --example cheat             all of them
//! cargo run --release -p symbolon --example cheat -- row      one of them
//! ```

#![allow(clippy::print_stdout)]

use std::thread;

use symbolon::circuit::builtin;
use symbolon::{Config, Error, GateForm, Inputs, Meter, Protocol, Result, Session, Transport};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::{Channel, memory_lanes};

/// A cheat: its name, the cheater, the protocol, and the bit that it flips in a message; `None` for
/// all of the message's first half. A single wrong row would go unnoticed, and do no harm, unless
/// it is the one of four that is used.
struct Cheat {
    name: &'static str,
    what: &'static str,
    cheater: u16,
    protocol: Protocol,
    form: GateForm,
    message: &'static str,
    bit: Option<usize>,
}

const CHEATS: [Cheat; 6] = [
    Cheat {
        name: "row",
        what: "the garbler sends other garbled rows",
        cheater: 0,
        protocol: Protocol::Wrk,
        form: GateForm::FourRow,
        message: "garbled table",
        bit: None,
    },
    Cheat {
        name: "output",
        what: "the evaluator lies to the garbler about its output",
        cheater: 1,
        protocol: Protocol::Wrk,
        form: GateForm::FourRow,
        message: "outputs for the garbler",
        bit: Some(0),
    },
    Cheat {
        name: "masks",
        what: "a party opens output masks whose MACs do not fit",
        cheater: 0,
        protocol: Protocol::Wrk,
        form: GateForm::HalfGates,
        message: "output masks",
        bit: Some(0),
    },
    Cheat {
        name: "ot",
        what: "the receiver of correlated OTs answers their check wrongly",
        cheater: 1,
        protocol: Protocol::Ywz,
        form: GateForm::HalfGates,
        message: "aBit: check",
        bit: None,
    },
    Cheat {
        name: "and",
        what: "a party lies about leaky AND triples",
        cheater: 0,
        protocol: Protocol::Ywz,
        form: GateForm::HalfGates,
        message: "leaky AND: U",
        bit: None,
    },
    Cheat {
        name: "opened",
        what: "a party lies about a bit that it opens online",
        cheater: 1,
        protocol: Protocol::TinyTable,
        form: GateForm::Tables,
        message: "tinytable: table bits",
        bit: Some(2),
    },
];

impl Cheat {
    /// Changes the first message of its kind.
    fn adversary(&self) -> Box<FnAdversary> {
        let (message, bit) = (self.message, self.bit);
        let mut done = false;
        Box::new(FnAdversary::new().on_outgoing(move |kind, _, payload| {
            if kind == message && !done {
                match bit {
                    Some(bit) => payload[bit / 8] ^= 1 << (bit % 8),
                    None => {
                        let half = payload.len() / 2;
                        payload[..half].iter_mut().for_each(|byte| *byte = !*byte);
                    }
                }
                done = true;
            }
            Action::Send
        }))
    }

    fn party(&self, me: u16, mut lanes: Vec<Channel>) -> Result<()> {
        if me == self.cheater {
            lanes[0].set_adversary(self.adversary());
        }
        let meter = lanes[0].meter().clone();
        let circuit = builtin::by_name("mul:16").expect("a built-in circuit");
        let config = Config::new(me, Transport::channels(lanes, meter));
        let config = config.protocol(self.protocol).form(self.form);
        let inputs = Inputs::builder(&circuit, me).uint(usize::from(me), 300)?.finish()?;
        Session::connect(config, &circuit)?.evaluate(&inputs).map(drop)
    }

    /// Runs the cheat, and returns what the honest party reports.
    fn play(&self) -> Result<()> {
        let (zero, one) = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, None)?;
        thread::scope(|scope| {
            let zero = scope.spawn(|| self.party(0, zero));
            let one = self.party(1, one);
            let zero = zero.join().expect("party 0");
            if self.cheater == 0 { one } else { zero }
        })
    }
}

#[allow(missing_docs)]
pub fn main() -> std::result::Result<(), String> {
    let wanted = std::env::args().nth(1);
    let cheats: Vec<&Cheat> = match &wanted {
        Some(name) if CHEATS.iter().any(|cheat| cheat.name == name) => {
            CHEATS.iter().filter(|cheat| cheat.name == name).collect()
        }
        _ => CHEATS.iter().collect(),
    };
    for cheat in cheats {
        let honest = 1 - cheat.cheater;
        println!("{} ({}): {}", cheat.name, cheat.protocol.name(), cheat.what);
        match cheat.play() {
            Err(error @ Error::PeerMisbehaved { .. }) => println!("    party {honest}: {error}"),
            other => return Err(format!("{} was not caught: {other:?}", cheat.name)),
        }
    }
    Ok(())
}
