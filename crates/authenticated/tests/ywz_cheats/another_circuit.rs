//! Garbled for another circuit: one garbler, or all of them, prepare another function of the same
//! size and then evaluate the right one.

use symbolon_circuit::{Circuit, Component, Plan, Step};
use symbolon_transport::adversary::FnAdversary;

use super::tools::*;

/// Returns the right circuit with another main component.
fn changed(parties: u16, change: impl FnOnce(&mut Component)) -> Circuit {
    let circuit = circuit(parties);
    let mut main = circuit.main().clone();
    change(&mut main);
    let (inputs, outputs) = (circuit.inputs().to_vec(), circuit.outputs().to_vec());
    let other = Circuit::new("another", inputs, outputs, vec![main]).unwrap();
    assert_eq!(Plan::new(&other).and_count(), Plan::new(&circuit).and_count());
    other
}

/// Returns the circuit in which gate number `gate` of the first layer is a NAND.
fn negated(parties: u16, gate: usize) -> Circuit {
    changed(parties, |main| {
        let Step::And { out: and, .. } = main.steps[gate] else {
            panic!("the first layer is ANDs")
        };
        let nand = main.wires;
        main.wires += 1;
        for step in &mut main.steps[gate + 1..] {
            if let Step::And { a, b, .. } | Step::Xor { a, b, .. } = step {
                for wire in [a, b] {
                    *wire = if *wire == and { nand } else { *wire };
                }
            }
        }
        main.steps.insert(gate + 1, Step::Inv { a: and, out: nand });
    })
}

/// Returns the circuit in which gate number `gate` of the second layer reads another wire.
fn rewired(parties: u16, gate: usize) -> Circuit {
    changed(parties, |main| {
        let ands = main.steps.iter_mut().filter(|step| matches!(step, Step::And { .. }));
        let mut second = ands.skip(WIDTH);
        let Some(Step::And { b, .. }) = second.nth(gate) else {
            panic!("the second layer is ANDs")
        };
        // The sums are adjacent; without the last gate, nothing reads beyond them.
        *b += if gate + 2 < WIDTH { 1 } else { 2 };
    })
}

/// Returns a cheater's channel to the evaluator, which inverts this gate's bit b if it is the first
/// garbler: together with [`negated`], all labels match a circuit in which the gate is a NAND.
fn turned(parties: u16, garbler: u16, gate: usize) -> Cheat {
    let turn = message(GARBLED, move |p| {
        let pointers = 16 * GATES * (2 + 4 * (usize::from(parties) - 2));
        p[pointers + gate / 8] ^= 1 << (gate % 8);
    });
    (garbler, 0, careless(if garbler == POINTER { turn } else { FnAdversary::new() }))
}

/// Step 8, by all garblers together: a NAND in place of an AND, with labels and bits b that match
/// that circuit. The evaluation finds no wrong label, but the authentication fails. Always caught.
/// Cheat: 2, 3, 5; all G | step 8 | a NAND for an AND, by all garblers alike | `circuit
/// authentication` | always
#[test]
fn garbled_for_another_function_by_all_garblers() {
    for parties in PARTIES {
        for gate in if parties == 5 { vec![3] } else { vec![0, WIDTH - 1] } {
            let cheats = (1..parties).map(|garbler| turned(parties, garbler, gate)).collect();
            run_preparing(parties, &negated(parties, gate), cheats)
                .assert_caught(AUTHENTICATION_CHECK);
        }
    }
}

/// As above, by one garbler among honest ones: the first one, whose bit b is inverted; or another
/// one, whose labels then open nothing, which the first one notices. Always caught.
/// Cheat: 3, 5; G | step 8 | a NAND for an AND, by one garbler | `masked value label`, `circuit
/// authentication` | always
#[test]
fn garbled_for_another_function_by_one_garbler() {
    for (parties, garbler) in [(3, 1), (3, 2), (5, 1), (5, 4)] {
        let gate = usize::from(garbler);
        let cheats = vec![turned(parties, garbler, gate)];
        run_preparing(parties, &negated(parties, gate), cheats).assert_caught_by_one_of(&CHECKS);
    }
}

/// Steps 7 and 8: one gate reads another wire, so its masks differ. Always caught when its product
/// is opened.
/// Cheat: 2, 3, 5; G | steps 7, 8 | garbled with another wire | `Beaver MAC` | always
#[test]
fn garbled_with_another_wire() {
    for parties in PARTIES {
        for gate in if parties == 5 { vec![3] } else { vec![0, WIDTH - 1] } {
            let other = rewired(parties, gate);
            let careless = |garbler| (garbler, 0, careless(FnAdversary::new()));
            for cheaters in [vec![1], vec![parties - 1], (1..parties).collect()] {
                let cheats = cheaters.into_iter().map(careless).collect();
                run_preparing(parties, &other, cheats).assert_caught("Beaver MAC");
            }
        }
    }
}
