//! Step 1 of Fig. 2: the set-up and the correlated OTs under everything, bent in a whole run. The
//! checks themselves are tried one by one where they live.

use symbolon_circuit::Plan;
use symbolon_protocols::{Need, Network, Protocol};
use symbolon_transport::Error;
use symbolon_transport::bend::FnBend;

use super::tools::*;
use crate::common::{self, Setting};

/// Base OT, either message: no group element. Refused by its decoding, always.
#[test]
fn malformed_base_ot_point() {
    for (cheater, kind) in [(0, "base OT: A"), (1, "base OT: r")] {
        let ended = cheat(cheater, message(kind, 0, |p| p[..32].fill(0xff)));
        assert_caught(&ended, cheater, "base OT point decoding");
    }
}

/// OT extension: other choice bits in every column, in the set-up's own draw, in input masks, in leaky
/// triples and in gate masks. Caught by the column hashes, always.
#[test]
fn inconsistent_choice_bits_in_any_draw() {
    // Party 0 makes one draw more: the one from which the other direction starts.
    for (cheater, draws) in [(0, 4), (1, 3)] {
        for index in 0..draws {
            let ended = cheat(cheater, flipped_choices(index));
            assert_caught(&ended, cheater, "OT extension consistency check");
        }
        for honest in cheat(cheater, flipped_choices(draws)) {
            honest.outputs.expect("there are no more draws");
        }
    }
}

/// Flips the first choice bit in every column of draw number `index`.
fn flipped_choices(index: usize) -> FnBend {
    let mut draw = 0;
    FnBend::new().on_state(move |point, u| {
        if point == "iknp: u" {
            if draw == index {
                let column = u.len() / 128;
                u.iter_mut().step_by(column).for_each(|byte| *byte ^= 1);
            }
            draw += 1;
        }
    })
}

/// After a failed check nothing of the set-up is used again: the engine refuses.
#[test]
fn a_failed_engine_refuses_to_go_on() {
    let circuit = circuit();
    let need = Need::of(&circuit, &Plan::new(&circuit), 2);
    let mut nets = common::networks(Setting::default());
    by(0, message("bucketing: d", 0, |d| d[0] ^= 1))(&mut nets);
    let party = |mut net: Network| {
        let mut engine = Protocol::Wrk.set_up(&mut net).unwrap();
        let first = engine.preprocess(&mut net, &need).map(drop);
        let second = engine.preprocess(&mut net, &need).map(drop);
        (first, second)
    };
    let [a, b] = nets;
    let (first, second) = std::thread::scope(|scope| {
        let cheater = scope.spawn(|| drop(party(a)));
        let honest = party(b);
        cheater.join().expect("the cheater panicked");
        honest
    });
    assert_eq!(first, Err(Error::misbehaved(0, "bucketing MAC check")));
    assert!(matches!(second, Err(Error::InvalidInput(_))), "{second:?}");
}
