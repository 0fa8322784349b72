//! Step 1 of Fig. 2: cheats in the set-up and the correlated OTs below everything, in a complete
//! run. The crates that contain the checks test each of them separately.

use symbolon_authenticated::wrk;
use symbolon_engine::{Compiled, Demand, Network};
use symbolon_transport::Error;
use symbolon_transport::adversary::{FnAdversary, assert_noticed};

use super::tools::*;
use crate::common::{self, Setting};

/// Base OT, either message: not a group element. The decoding always rejects it.
/// Cheat: `wrk` | either message | no group element, in a whole run | `base OT point decoding` |
/// always
#[test]
fn malformed_base_ot_point() {
    for (cheater, kind) in [(0, "base OT: A"), (1, "base OT: s, t")] {
        let ended = cheat(cheater, message(kind, 0, |p| p[..32].fill(0xff)));
        assert_caught(&ended, cheater, "base OT point decoding");
    }
}

/// OT extension: different choice bits in every column, in the set-up's own draw, in input masks,
/// in leaky triples and in gate masks. The column hashes always catch it.
/// Cheat: `wrk` | any draw | other choice bits in every column, in a whole run | `OT extension
/// consistency` | always
#[test]
fn inconsistent_choice_bits_in_any_draw() {
    // Party 0 makes one more draw, from which the other direction starts. The check of leaky
    // triples has its own draw.
    for (cheater, draws) in [(0, 5), (1, 4)] {
        for index in 0..draws {
            let ended = cheat(cheater, flipped_choices(index));
            assert_caught(&ended, cheater, "OT extension consistency");
        }
        for honest in cheat(cheater, flipped_choices(draws)) {
            honest.outputs.expect("there are no more draws");
        }
    }
}

/// Flips the first choice bit in every column of draw number `index`.
fn flipped_choices(index: usize) -> FnAdversary {
    let mut draw = 0;
    FnAdversary::new().on_state(move |point, u| {
        if point == "iknp: u" {
            if draw == index {
                let column = u.len() / 128;
                u.iter_mut().step_by(column).for_each(|byte| *byte ^= 1);
            }
            draw += 1;
        }
    })
}

/// The state of an engine, and of material that it made earlier, after one run through all phases.
struct Afterwards {
    run: Result<(), Error>,
    again: Result<(), Error>,
    earlier: Result<(), Error>,
}

fn run_twice(mut net: Network) -> Afterwards {
    let circuit = circuit();
    let compiled = Compiled::new(&circuit);
    let need = Demand::of(&compiled, 2);
    let inputs = common::inputs_of(&circuit, net.me.number(), &inputs());
    let mut engine = wrk::SPEC.set_up(&mut net).unwrap();
    let earlier = engine.preprocess(&mut net, &need).unwrap();
    let run = (|| {
        let material = engine.preprocess(&mut net, &need)?;
        let prepared = material.prepare(&mut net, &compiled)?;
        prepared.evaluate(&mut net, &compiled, &inputs).map(drop)
    })();
    let again = engine.preprocess(&mut net, &need).map(drop);
    let earlier = earlier.prepare(&mut net, &compiled).map(drop);
    Afterwards { run, again, earlier }
}

/// After a failed check in any phase nothing of the set-up is used again: the engine refuses, and
/// so does material that it made before.
/// Cheat: `wrk` | after a failed check | any further use of the set-up | the engine refuses |
/// always
#[test]
fn after_a_failed_check_everything_is_refused() {
    for (kind, index, check) in [
        // The earlier material used the first opening.
        ("bucketing: d", 1, "bucketing MAC"),
        ("Beaver: d, e", 0, "Beaver MAC"),
        (LABELS, 0, TABLE_CHECK),
    ] {
        let mut nets = common::networks(Setting::default());
        by(0, message(kind, index, |p| p[0] ^= 1))(&mut nets);
        let [a, b] = nets;
        let honest = std::thread::scope(|scope| {
            let cheater = scope.spawn(|| drop(run_twice(a)));
            let honest = run_twice(b);
            cheater.join().expect("the cheater panicked");
            honest
        });
        assert_noticed(&honest.run, 0, check);
        for refused in [honest.again, honest.earlier] {
            assert!(matches!(refused, Err(Error::InvalidInput(_))), "{kind}: {refused:?}");
        }
    }
}
