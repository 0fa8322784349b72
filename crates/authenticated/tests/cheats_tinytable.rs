//! The cheating peer in `tinytable` (Damgård, Nielsen, Nielsen, Ranellucci 2017, Fig. 5 and 8, with
//! the changes that the module's documentation lists). Each test is one row, a cheat, and the check
//! that must catch it.
//!
//! A cheater continues with its changed state: it computes with its wrong bits, and MACs and
//! challenges follow from them, so only the check can tell. All cheats are always caught, except
//! with probability 2^-k with MACs of k bits.

use std::sync::{Arc, Mutex};

use crate::common::{self, Ended, Setting, assert_caught, chosen, message, run_bent};
use symbolon_authenticated::tinytable::{
    self,
    options::{MacLength, TinyTableOptions},
};
use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Table, Type};
use symbolon_transport::adversary::{Action, CheckName, FnAdversary};

const EXECUTIONS: usize = 3;

/// Bits of a layer of AND gates in all executions, and bytes of the look-up's entries.
const BITS: usize = 8 * EXECUTIONS;
const ENTRIES: usize = EXECUTIONS;

const LAYER: &str = "tinytable: table bits";
const MAC: &str = "tinytable: MAC";
const MASKS: &str = "tinytable: output masks";
const INPUTS: &str = "tinytable: masked inputs";

const CHECK: &str = "table MAC";
const OUTPUT_CHECK: &str = "output mask MAC";
const PADDING: &str = "padding of packed bits";
const FRAMING: &str = "message framing";

/// Two layers of eight AND gates, and with the second a look-up of four bits in six.
fn circuit(to: Receivers) -> Circuit {
    let table = Table::new(4, 6, (0..16).map(|i| i * 13 % 64).collect::<Vec<_>>()).unwrap();
    let mut b = Builder::new("two layers and a look-up");
    let x = b.input("x", Type::Uint(8), 0);
    let y = b.input("y", Type::Uint(8), 1);
    let products = b.and(&x, &y);
    let turned = products.rotl(3);
    let second = b.and(&products, &turned);
    let looked = b.lookup(&table, &products.slice(2..6));
    let sums = b.xor(&second, &x);
    b.output("sums", &sums, Type::Uint(8), to.clone());
    b.output("looked", &looked, Type::Uint(6), to);
    b.finish().unwrap()
}

fn inputs(seed: usize) -> [Vec<bool>; 2] {
    let bits = |by: usize| (0..BITS).map(|i| (i + seed) * by % 5 < 2).collect();
    [bits(3), bits(7)]
}

fn setting(mac: MacLength) -> Setting {
    let options = chosen(TinyTableOptions { mac: mac.into(), ..Default::default() });
    let (protocol, executions) = (&tinytable::SPEC, EXECUTIONS);
    Setting { protocol, executions, options, ..Setting::default() }
}

/// Runs with one cheating party; also returns the kinds of the messages that it received.
fn cheat_with(
    (mac, seed): (MacLength, usize),
    cheater: u16,
    adversary: FnAdversary,
) -> ([Ended; 2], Vec<&'static str>) {
    let run = (setting(mac), circuit(Receivers::All), inputs(seed));
    run_and_hear(run, cheater, adversary)
}

/// Runs a circuit with one cheating party; also returns the kinds of the messages that it received.
pub fn run_and_hear(
    (setting, circuit, inputs): (Setting, Circuit, [Vec<bool>; 2]),
    cheater: u16,
    adversary: FnAdversary,
) -> ([Ended; 2], Vec<&'static str>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let all = heard.clone();
    let adversary = adversary.on_incoming(move |kind, _, _| all.lock().unwrap().push(kind));
    let ended = run_bent(setting, &circuit, &inputs, |nets| {
        nets[usize::from(cheater)].peers()[0].set_adversary(Box::new(adversary));
    });
    let heard = heard.lock().unwrap().clone();
    (ended, heard)
}

/// Asserts that the cheater is caught at this check before it learns any output mask, for all
/// inputs and MACs.
#[track_caller]
fn assert_cheat(check: impl CheckName, adversary: impl Fn() -> FnAdversary) {
    for cheater in [0, 1] {
        for (mac, seed) in [
            (MacLength::Bits64, 0),
            (MacLength::Bits64, 1),
            (MacLength::Bits32, 2),
            (MacLength::Bits128, 3),
        ] {
            let (ended, heard) = cheat_with((mac, seed), cheater, adversary());
            assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
            if ![OUTPUT_CHECK, FRAMING].contains(&check.check_name()) {
                assert!(!heard.contains(&MASKS), "an output was opened before the check");
            }
        }
    }
}

/// Changes the cheater's state at a point, the `index`-th time that it gets there.
pub fn state(
    point: &'static str,
    index: usize,
    change: impl Fn(&mut [u8]) + Send + 'static,
) -> FnAdversary {
    let mut times = 0;
    FnAdversary::new().on_state(move |at, data| {
        if at == point {
            if times == index {
                change(data);
            }
            times += 1;
        }
    })
}

/// Without a cheat, nobody is accused.
#[test]
fn honest_runs_are_not_accused() {
    let (ended, heard) = cheat_with((MacLength::Bits64, 0), 0, FnAdversary::new());
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
    assert_eq!(heard.iter().filter(|kind| **kind == MASKS).count(), 1);
    assert_eq!(heard.iter().filter(|kind| **kind == LAYER).count(), 2);
}

/// Fig. 5, step 4: one wrong table bit, of any gate and execution.
/// Cheat: one | Fig. 5, step 4 | one wrong table bit | `table MAC` | 1 − 2^-k
#[test]
fn a_wrong_table_bit() {
    for (layer, bit) in [(0, 0), (0, 11), (0, BITS - 1), (1, 1), (1, BITS - 1)] {
        assert_cheat(CHECK, || {
            state("tinytable: own table bits", layer, move |own| own[bit / 8] ^= 1 << (bit % 8))
        });
    }
}

/// Fig. 5, step 4: two wrong bits, which would cancel in a plain sum of their MACs.
/// Cheat: one | Fig. 5, step 4 | two wrong table bits | `table MAC` | 1 − 2^-k
#[test]
fn two_wrong_table_bits() {
    for (first, second) in [(0, 1), (3, 3 + EXECUTIONS), (0, BITS - 1)] {
        assert_cheat(CHECK, || {
            state("tinytable: own table bits", 0, move |own| {
                own[first / 8] ^= 1 << (first % 8);
                own[second / 8] ^= 1 << (second % 8);
            })
        });
    }
}

/// The same share of all executions' bits flipped, and all bits of a layer.
/// Cheat: one | Fig. 5, step 4 | many wrong table bits | `table MAC` | 1 − 2^-k
#[test]
fn many_wrong_table_bits() {
    assert_cheat(CHECK, || state("tinytable: own table bits", 0, |own| own[0] ^= 0b111));
    assert_cheat(CHECK, || {
        state("tinytable: own table bits", 1, |own| {
            own[..BITS / 8].iter_mut().for_each(|byte| *byte ^= 0xff);
        })
    });
}

/// §2.3, a wrong entry of a look-up: each bit, and all bits at once.
/// Cheat: one | §2.3 | a wrong entry of a look-up | `table MAC` | 1 − 2^-k
#[test]
fn a_wrong_table_entry() {
    for lane in 0..ENTRIES {
        for change in [1, 1 << 5, 0b11_1111] {
            assert_cheat(CHECK, || {
                state("tinytable: own table bits", 1, move |own| own[BITS / 8 + lane] ^= change)
            });
        }
    }
}

/// Bits of an entry that no entry has.
/// Cheat: one | §2.3 | bits that no entry has | `padding of packed bits` | always
#[test]
fn an_entry_that_is_too_long() {
    for bit in [6, 7] {
        assert_cheat(PADDING, || message(LAYER, 1, move |payload| payload[BITS / 8] |= 1 << bit));
    }
}

/// Fig. 5, step 5: a wrong accumulated MAC, in any bit.
/// Cheat: one | Fig. 5, step 5 | a wrong accumulated MAC | `table MAC` | always
#[test]
fn a_wrong_mac() {
    for bit in [0, 63, 64, 127] {
        assert_cheat(CHECK, || {
            state("tinytable: own MAC", 0, move |mac| mac[bit / 8] ^= 1 << (bit % 8))
        });
    }
    assert_cheat(CHECK, || state("tinytable: own MAC", 0, |mac| mac.fill(0)));
}

/// Fig. 5, step 4: a bit of the last layer is changed in transit, and everything else of both
/// parties is right. Everything sent enters the challenge, so even the party whose bit it was finds
/// the other's MAC wrong.
/// Cheat: one | Fig. 5, step 4 | a table bit changed on its way | `table MAC`, at both | always
#[test]
fn a_table_bit_changed_on_its_way() {
    for cheater in [0, 1] {
        let adversary = message(LAYER, 1, |payload| payload[0] ^= 1);
        let (ended, _) = cheat_with((MacLength::Bits64, 0), cheater, adversary);
        assert_caught(&ended[usize::from(1 - cheater)], cheater, CHECK);
        assert_caught(&ended[usize::from(cheater)], 1 - cheater, CHECK);
    }
}

/// The MAC that the peer sent in another run under the same session id. The peer sends its own MAC
/// before it receives ours, so it cannot echo one of this run.
/// Cheat: one | Fig. 5, step 5 | the MAC of another run replayed | `table MAC` | always
#[test]
fn a_replayed_mac() {
    for cheater in [0, 1] {
        let replayed = Arc::new(Mutex::new(None));
        let seen = replayed.clone();
        let adversary = FnAdversary::new().on_incoming(move |kind, _, payload| {
            if kind == MAC {
                *seen.lock().unwrap() = Some(payload.to_vec());
            }
        });
        let run = |adversary| {
            run_bent(setting(MacLength::Bits64), &circuit(Receivers::All), &inputs(0), |nets| {
                nets[usize::from(cheater)].peers()[0].set_adversary(Box::new(adversary));
            })
        };
        run(adversary);
        let mac = replayed.lock().unwrap().clone().unwrap();
        let ended = run(message(MAC, 0, move |payload| payload.copy_from_slice(&mac)));
        assert_caught(&ended[usize::from(1 - cheater)], cheater, CHECK);
    }
}

/// Fig. 5, step 6: a wrong output mask, with the MAC for the right one.
/// Cheat: one | Fig. 5, step 6 | a wrong output mask | `output mask MAC` | 1 − 2^-k
#[test]
fn a_wrong_output_mask() {
    for bit in [0, 14 * EXECUTIONS - 1] {
        assert_cheat(OUTPUT_CHECK, || {
            state("tinytable: own output masks", 0, move |own| own[bit / 8] ^= 1 << (bit % 8))
        });
    }
}

/// Fig. 5, step 6: an output mask's MAC that is wrong, or missing.
/// Cheat: one | Fig. 5, step 6 | an output mask's MAC wrong or withheld | `output mask MAC`,
/// `message framing` | always
#[test]
fn a_wrong_mac_of_output_masks() {
    let bits = 14 * EXECUTIONS;
    assert_cheat(OUTPUT_CHECK, || message(MASKS, 0, |payload| *payload.last_mut().unwrap() ^= 1));
    assert_cheat(OUTPUT_CHECK, || {
        message(MASKS, 0, move |payload| payload[bits.div_ceil(8)..].fill(0))
    });
    assert_cheat(FRAMING, || message(MASKS, 0, move |payload| payload.truncate(bits.div_ceil(8))));
}

/// Fig. 8, step 4 as printed: outputs opened before the check, by a peer that skips its own part in
/// the check.
/// Cheat: one | Fig. 8, step 4 | output opened before the check | the token that the check makes |
/// always
#[test]
fn outputs_opened_before_the_check() {
    for cheater in [0, 1] {
        let adversary = FnAdversary::new().on_outgoing(|kind, _, _| match kind {
            MAC => Action::Drop,
            _ => Action::Send,
        });
        let (ended, heard) = cheat_with((MacLength::Bits64, 0), cheater, adversary);
        // The cheater's output masks arrive in place of its MAC.
        assert_caught(&ended[usize::from(1 - cheater)], cheater, FRAMING);
        assert!(!heard.contains(&MASKS), "the honest party opened its masks");
    }
}

/// Fig. 8, step 3: a wrong bit in the openings of Beaver's trick, for AND gates and for one-hot
/// vectors.
/// Cheat: one | Fig. 8, step 3 | a wrong opening | `Beaver MAC` | always
#[test]
fn a_wrong_opening() {
    // One opening of all AND gates, then the two rounds of the look-ups' vectors.
    for index in 0..3 {
        assert_cheat("Beaver MAC", || message("Beaver: d, e", index, |payload| payload[0] ^= 1));
    }
}

/// Messages of wrong lengths, and bits where there are none.
/// Cheat: one | Fig. 5 | messages of wrong lengths | `message framing` | always
#[test]
fn malformed_messages() {
    for kind in [INPUTS, LAYER, MAC, MASKS] {
        assert_cheat_or_later(kind, |payload| payload.push(0));
        assert_cheat_or_later(kind, |payload| {
            payload.pop();
        });
    }
}

#[track_caller]
fn assert_cheat_or_later(kind: &'static str, change: fn(&mut Vec<u8>)) {
    for cheater in [0, 1] {
        let (ended, _) = cheat_with((MacLength::Bits64, 0), cheater, message(kind, 0, change));
        assert_caught(&ended[usize::from(1 - cheater)], cheater, FRAMING);
    }
}

/// The other party's tables are for another circuit, with the same messages.
/// Cheat: one | Fig. 8 | scrambled for another circuit | `Beaver MAC` | always
#[test]
fn scrambled_for_another_circuit() {
    let other = {
        let mut b = Builder::new("another");
        let x = b.input("x", Type::Uint(8), 0);
        let y = b.input("y", Type::Uint(8), 1);
        let x = x.rotl(1);
        let products = b.and(&x, &y);
        let out = b.xor(&products, &x);
        b.output("out", &out, Type::Uint(8), Receivers::All);
        b.finish().unwrap()
    };
    let right = {
        let mut b = Builder::new("right");
        let x = b.input("x", Type::Uint(8), 0);
        let y = b.input("y", Type::Uint(8), 1);
        let products = b.and(&x, &y);
        let out = b.xor(&products, &x);
        b.output("out", &out, Type::Uint(8), Receivers::All);
        b.finish().unwrap()
    };
    let all = inputs(0);
    let ended =
        common::run_apart(setting(MacLength::Bits64), [&other, &right], [&all, &all], |_| ());
    assert_caught(&ended[1], 0, "Beaver MAC");
    assert!(ended[0].outputs.is_err());
}
