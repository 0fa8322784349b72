//! Cheats in the messages of garbled gates. A chunk has several of them, and an error in any of
//! them is caught like one in a chunk with a single message.

use std::sync::{Arc, Mutex};

use crate::common::{self, Ended, Setting, careless, message};
use symbolon_authenticated::{wrk, ywz};
use symbolon_circuit::Receivers;
use symbolon_engine::ProtocolSpec;
use symbolon_transport::adversary::{Action, CheckName, FnAdversary};

/// Input bits of each party, and gates of each of the two layers.
const WIDTH: usize = 1_100;

/// The gates of each message.
const MESSAGES: [usize; 3] = [1_024, 1_024, 2 * WIDTH - 2_048];

/// Bytes of a gate's labels in four rows, and of a MAC at ρ = 40.
const LABELS: usize = 48;
const MAC: usize = 5;

/// The kind of the messages, their garbler, and the check that catches it.
const WRK: (&str, u16, &str) = ("garbled table", 0, "garbled table MAC");
const YWZ: (&str, u16, &str) = ("garbled gates", 1, "circuit authentication");

fn caught(
    protocol: &'static ProtocolSpec,
    garbler: u16,
    adversary: FnAdversary,
    check: impl CheckName,
) {
    let setting = Setting { protocol, ..Setting::default() };
    let circuit = common::two_layers(WIDTH as u32, Receivers::All);
    let bits = |party| (0..WIDTH).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect();
    let ended: Vec<Ended> = common::run_all(setting, &circuit, &[bits(0), bits(1)], |nets| {
        nets[usize::from(garbler)].lanes[0][0].set_adversary(Box::new(careless(adversary)));
    });
    common::assert_caught(&ended[usize::from(1 - garbler)], garbler, check);
}

/// Figure 2, step 4d: the MACs of all rows of the first or last gate of any message. Always caught.
/// Cheat: G | step 4d | MACs of all four rows of a gate, in any of a chunk's messages | `garbled
/// table MAC` | always
#[test]
fn flipped_macs_in_any_message() {
    let (kind, garbler, check) = WRK;
    for (index, gates) in MESSAGES.into_iter().enumerate() {
        for gate in [0, gates - 1] {
            let flip = message(kind, index, move |table| {
                assert_eq!(table.len(), gates * (LABELS + 4 * MAC));
                for row in 0..4 {
                    table[LABELS * gates + (4 * gate + row) * MAC] ^= 1;
                }
            });
            caught(&wrk::SPEC, garbler, flip, check);
        }
    }
}

/// Figure 7 of YWZ20, step 6: b_γ of the last gate of any message. Always caught.
/// Cheat: G, `ywz` | YWZ, Fig. 7, step 6 | b_γ of a gate, in any of a chunk's messages | `circuit
/// authentication` | always
#[test]
fn a_turned_gate_in_any_message() {
    let (kind, garbler, check) = YWZ;
    for (index, gates) in MESSAGES.into_iter().enumerate() {
        let turn = message(kind, index, move |half_gates| {
            assert_eq!(half_gates.len(), 32 * gates + gates.div_ceil(8));
            *half_gates.last_mut().unwrap() ^= 1 << ((gates - 1) % 8);
        });
        caught(&ywz::SPEC, garbler, turn, check);
    }
}

/// The first message repeated in place of the second: as long, well formed, but for other gates.
/// Always caught.
/// Cheat: G | step 4d | a message of garbled gates sent in the place of the next one | `garbled
/// table MAC` | always
#[test]
fn a_message_sent_twice() {
    let (kind, garbler, check) = WRK;
    let first = Arc::new(Mutex::new(Vec::new()));
    let twice = FnAdversary::new().on_outgoing(move |at, index, payload| {
        let mut first = first.lock().unwrap();
        match index {
            0 if at == kind => first.clone_from(payload),
            1 if at == kind => payload.clone_from(&first),
            _ => {}
        }
        Action::Send
    });
    caught(&wrk::SPEC, garbler, twice, check);
}

/// A byte less or more than any message has. Always caught.
/// Cheat: G, `wrk` and `ywz` | step 4d | a byte less or more in any of a chunk's messages |
/// `message framing` | always
#[test]
fn short_and_long_messages() {
    for (protocol, (kind, garbler, _)) in [(&wrk::SPEC, WRK), (&ywz::SPEC, YWZ)] {
        for index in 0..MESSAGES.len() {
            let changes: [fn(&mut Vec<u8>); 2] = [|p| p.truncate(p.len() - 1), |p| p.push(0)];
            for change in changes {
                let adversary = message(kind, index, change);
                caught(protocol, garbler, adversary, "message framing");
            }
        }
    }
}
