//! Material made for one circuit: it is useless for any other, and its only opening is checked.

use crate::common::{self, Setting};
use symbolon_authenticated::{wrk, ywz};
use symbolon_circuit::Receivers;
use symbolon_engine::Compiled;
use symbolon_transport::Error;
use symbolon_transport::adversary::{Action, FnAdversary};

#[test]
fn another_circuit_is_refused() {
    let circuit = common::two_layers(4, Receivers::All);
    // The same number of gates and inputs, but other receivers.
    let other = common::two_layers(4, Receivers::only([0]));
    for protocol in [&wrk::SPEC, &ywz::SPEC] {
        let nets = common::networks(Setting { protocol, ..Setting::default() });
        std::thread::scope(|scope| {
            for mut net in nets {
                let (circuit, other) = (&circuit, &other);
                scope.spawn(move || {
                    let mut engine = protocol.set_up(&mut net).unwrap();
                    let (circuit, other) = (Compiled::new(circuit), Compiled::new(other));
                    let material = engine.preprocess_for(&mut net, &circuit).unwrap();
                    let refused = material.prepare(&mut net, &other).err();
                    assert!(
                        matches!(&refused, Some(Error::InvalidInput(why)) if why.contains("another circuit")),
                        "{refused:?}"
                    );
                });
            }
        });
    }
}

/// One flipped d of Beaver's trick, with its MAC unchanged.
#[test]
fn a_lie_in_the_opening() {
    let circuit = common::two_layers(9, Receivers::All);
    let all = [vec![true; 9], vec![false; 9]];
    for protocol in [&wrk::SPEC, &ywz::SPEC] {
        for cheater in [0, 1] {
            let setting = Setting { protocol, known: true, ..Setting::default() };
            let lie = FnAdversary::new().on_message("Beaver: d, e", 0, |payload| {
                payload[1] ^= 4;
                Action::Send
            });
            let ended = common::run_bent(setting, &circuit, &all, |nets| {
                nets[cheater].peers()[0].set_adversary(Box::new(lie));
            });
            common::assert_caught(&ended[1 - cheater], cheater as u16, "Beaver MAC");
        }
    }
}
