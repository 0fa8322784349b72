//! `tinytable`: both parties act alike, so each row is tried with either of them as the honest one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use symbolon_authenticated::tinytable::{
    self,
    options::{Commitment, TinyTableOptions},
};
use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Table, Type};
use symbolon_transport::adversary::{Action, FnAdversary};

use crate::common::{Setting, chosen};
use crate::stage::{Cheat, Row, Stage, USUAL_RUNS, WIDTH};

const INPUTS: &str = "tinytable: masked inputs";
const MAC: &str = "tinytable: MAC";
const MASKS: &str = "tinytable: output masks";
const SUMS: &str = "tinytable: opened sums";

/// Points at which a cheater's own state is changed; it continues with the changed state.
const BITS: &str = "tinytable: own table bits";
const OWN_MAC: &str = "tinytable: own MAC";
const OWN_MASKS: &str = "tinytable: own output masks";

/// The size of a layer of AND gates in bytes; in the second layer the look-up's entry follows.
const LAYER: usize = WIDTH / 8;

/// Two layers of AND gates, and with the second a look-up of four bits in six.
fn circuit() -> Circuit {
    let table = Table::new(4, 6, (0..16).map(|i| i * 13 % 64).collect::<Vec<_>>()).unwrap();
    let width = WIDTH as u32;
    let mut b = Builder::new("two layers and a look-up");
    let x = b.input("x", Type::Uint(width), 0);
    let y = b.input("y", Type::Uint(width), 1);
    let products = b.and(&x, &y);
    let turned = products.rotl(3);
    let second = b.and(&products, &turned);
    let looked = b.lookup(&table, &products.slice(2..6));
    let sums = b.xor(&second, &x);
    b.output("sums", &sums, Type::Uint(width), Receivers::All);
    b.output("looked", &looked, Type::Uint(6), Receivers::All);
    b.finish().unwrap()
}

/// Runs a row with each party as the honest one, against these adversaries of the other.
fn rows(stage: &Stage, noticed: f64, adversary: &dyn Fn() -> FnAdversary) {
    for honest in [0, 1] {
        let evaluate = || -> Vec<Cheat> { vec![(1 - honest, honest, adversary())] };
        stage.assert_private(Row { honest, noticed, prepare: &Vec::new, evaluate: &evaluate });
    }
}

fn stage() -> Stage {
    Stage::of(Setting { protocol: &tinytable::SPEC, ..Setting::default() }, circuit())
}

/// The same with tables under a code.
fn code_stage() -> Stage {
    let options = TinyTableOptions { commitment: Commitment::Code, ..TinyTableOptions::default() };
    let setting =
        Setting { options: chosen(options), protocol: &tinytable::SPEC, ..Setting::default() };
    Stage::for_runs(USUAL_RUNS, setting, circuit())
}

/// Changes the cheater's state, the `index`-th time that it gets to a point.
fn state(point: &'static str, index: usize, change: fn(&mut [u8])) -> FnAdversary {
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

fn message(kind: &'static str, change: fn(&mut [u8])) -> FnAdversary {
    FnAdversary::new().on_message(kind, 0, move |payload| {
        change(payload);
        Action::Send
    })
}

/// Changes the state at a point only if the peer's first masked input is 1.
fn if_a_one(point: &'static str, change: fn(&mut [u8])) -> FnAdversary {
    let one = Arc::new(AtomicBool::new(false));
    let seen = one.clone();
    FnAdversary::new()
        .on_incoming(move |kind, _, payload| {
            if kind == INPUTS {
                seen.store(payload[0] & 1 == 1, Ordering::Relaxed);
            }
        })
        .on_state(move |at, data| {
            if at == point && one.load(Ordering::Relaxed) {
                change(data);
            }
        })
}

fn first(data: &mut [u8]) {
    data[0] ^= 1;
}

fn last(data: &mut [u8]) {
    *data.last_mut().unwrap() ^= 1;
}

/// Cheat: `tinytable` | – | nothing | no difference | 0
#[test]
fn honest_runs() {
    rows(&stage(), 0.0, &FnAdversary::new);
}

/// Fig. 5, steps 2 and 4: a masked input other than the one meant, wrong table bits in either
/// layer, a wrong entry of the look-up. All table bits are sent before the check, so the honest
/// party's bits depend on the successors of the wrong layer.
/// Cheat: `tinytable`, one | Fig. 5, steps 2, 4 | masked inputs, table bits, entries | no
/// difference | 1
#[test]
fn wrong_bits() {
    let stage = stage();
    rows(&stage, 1.0, &|| message(INPUTS, first));
    rows(&stage, 1.0, &|| state(BITS, 0, first));
    rows(&stage, 1.0, &|| state(BITS, 0, |bits| bits.iter_mut().for_each(|byte| *byte ^= 0xff)));
    rows(&stage, 1.0, &|| state(BITS, 1, first));
    rows(&stage, 1.0, &|| state(BITS, 1, |bits| bits[LAYER] ^= 0b10_0001));
}

/// Fig. 5, steps 5 and 6: a wrong MAC, a wrong output mask, and a wrong MAC on output masks.
/// Cheat: `tinytable`, one | Fig. 5, steps 5, 6 | MACs and output masks | no difference | 1
#[test]
fn wrong_macs_and_masks() {
    let stage = stage();
    rows(&stage, 1.0, &|| message(MAC, first));
    rows(&stage, 1.0, &|| state(OWN_MASKS, 0, first));
    rows(&stage, 1.0, &|| message(MASKS, last));
}

/// Selective failure: a wrong bit, or a wrong MAC, only if a masked input of the honest party is 1.
/// It is noticed exactly then, which is as often as the masked input is 0, whatever the input is.
/// Cheat: `tinytable`, one | Fig. 5, steps 4, 5 | a lie only if a masked input is 1 | no difference
/// | 1/2
#[test]
fn lies_only_for_a_one() {
    let stage = stage();
    rows(&stage, 0.5, &|| if_a_one(BITS, first));
    rows(&stage, 0.5, &|| if_a_one(OWN_MAC, first));
}

/// Under a code a party also sends masked sums of words, whose places the peer knows.
/// Cheat: `tinytable`, `--mac code` | – | nothing | no difference | 0
#[test]
#[ignore = "takes minutes"]
fn honest_runs_under_a_code() {
    rows(&code_stage(), 0.0, &FnAdversary::new);
}

/// Fig. 11: wrong table bits and wrong sums, and a wrong bit only if a masked input is 1.
/// Cheat: `tinytable`, `--mac code`, one | Fig. 11 | table bits, sums, a lie only if a masked input
/// is 1 | no difference | 1, 1/2
#[test]
#[ignore = "takes minutes"]
fn wrong_bits_under_a_code() {
    let stage = code_stage();
    rows(&stage, 1.0, &|| state(BITS, 0, first));
    rows(&stage, 1.0, &|| message(SUMS, first));
    rows(&stage, 0.5, &|| if_a_one(BITS, first));
}
