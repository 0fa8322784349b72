//! Cheating peers: party 0 cheats, party 1 must notice or be unaffected.

use std::sync::{Arc, Condvar, Mutex};

use symbolon_circuit::{Circuit, Component, Input, Output, Receivers, Step, Type};
use symbolon_engine::{Network, OutputBits, checks::PADDING};
use symbolon_transport::adversary::{Action, Endings, FnAdversary, Outcome, Rate};
use symbolon_transport::{Check, Error, Result};

use super::garbling_cheat::GarblingCheat;
use super::runs::example;
use super::tools::{
    Setting, adversary, change_table, expected, prg, random_inputs, run, run_changed,
};
use crate::dualex::options::PsiForm;
use crate::dualex::{
    checks::{
        CHOICES, CIRCUIT, ECHO, ENCODED_LABEL, INPUT_LABEL, KEPT, PSI_OPENED, RECONCILIATION,
        TRANSLATION,
    },
    execution::Execution,
    function::Function,
};

/// How each party ended.
type Ended = [Result<OutputBits>; 2];

/// The only output, learnt.
fn only(bit: bool) -> OutputBits {
    vec![Some([bit][..].into())]
}

/// x ∧ y, or x ∧ ¬y: x is the honest party's, y the cheater's.
fn and(negated: bool) -> Circuit {
    // Built by hand, because the builder would turn it into x ⊕ x ∧ y.
    let steps = match negated {
        false => vec![Step::And { a: 0, b: 1, out: 2 }],
        true => vec![Step::Inv { a: 1, out: 2 }, Step::And { a: 0, b: 2, out: 3 }],
    };
    let wires = 2 + steps.len() as u32;
    let main =
        Component { inputs: 2, wires, steps, outputs: vec![wires - 1], ..Component::default() };
    let input = |(name, owner): (&str, u16)| Input {
        name: name.into(),
        ty: Type::Bool,
        owner: owner.into(),
    };
    let output = Output { name: "z".into(), ty: Type::Bool, to: Receivers::All };
    Circuit::new("and", [("x", 1), ("y", 0)].map(input).into(), vec![output], vec![main]).unwrap()
}

/// Garbles x ∧ ¬y in some circuits.
fn negates(affects: impl Fn(u64) -> bool + Sync + 'static) -> GarblingCheat {
    GarblingCheat::garbles(Function::of(&and(true)).unwrap(), affects)
}

fn sized(sizes: [u64; 3]) -> Setting {
    Setting { sizes, ..Setting::default() }
}

/// Inputs of one execution: x, y.
fn bits(x: bool, y: bool) -> Vec<Vec<Vec<bool>>> {
    vec![vec![vec![x], vec![y]]]
}

#[track_caller]
fn assert_caught(ended: &Ended, check: Check) {
    Endings::new(ended, &[0]).assert_caught_by_all(&[check]);
}

fn caught(ended: &Ended, check: Check) -> bool {
    Endings::new(ended, &[0]).of(1, &[check]) == Outcome::Noticed
}

/// Cheat: one | Cut-and-Choose | wrong circuits in the check set | `opened circuit` | always
#[test]
fn wrong_circuits_in_the_check_set_are_found() {
    for sizes in [[1, 1, 2], [2, 2, 6]] {
        let all = vec![bits(true, true)[0].clone(); sizes[0] as usize];
        let ended = run(sized(sizes), &and(false), &all, Some(&negates(|_| true)), |_| {});
        assert_caught(&ended, CIRCUIT);
    }
}

/// Cheat: one | Cut-and-Choose | labels not in the order of M·c | `opened circuit` | always
#[test]
fn labels_in_the_wrong_order_are_found_in_the_check_set() {
    let mut cheat = negates(|_| true);
    cheat.function = Function::of(&and(false)).unwrap();
    cheat.swapped = Some(0);
    let ended = run(sized([1, 2, 5]), &and(false), &bits(true, true), Some(&cheat), |_| {});
    assert_caught(&ended, CIRCUIT);
}

/// Two of four circuits are wrong. With a bucket of two, both wrong circuits end up in the bucket
/// with probability 1/6; in all other cases the check finds them.
/// Cheat: one | Cut-and-Choose | 2 wrong circuits of 4, with a bucket of 2 | `opened circuit`;
/// `reconciliation` if both get through | 1/6 get through
#[test]
fn wrong_circuits_get_through_as_often_as_predicted() {
    let mut through = Rate::default();
    for _ in 0..150 {
        let cheat = negates(|number| number < 2);
        let ended = run(sized([1, 2, 4]), &and(false), &bits(true, false), Some(&cheat), |_| {});
        let checks = [CIRCUIT, RECONCILIATION];
        let outcome = Endings::new(&ended, &[0]).of(1, &checks);
        assert_eq!(outcome, Outcome::Noticed);
        through.note(caught_at(&ended, RECONCILIATION));
    }
    through.assert_tells(1.0 / 6.0, 1.0 / 2.0);
    through.assert_predicted(1.0 / 6.0, "both wrong circuits in the bucket");
}

fn caught_at(ended: &Ended, at: Check) -> bool {
    matches!(&ended[1], Err(Error::PeerMisbehaved { check, .. }) if *check == at)
}

/// Without cut-and-choose this is classical dual execution. The cheater garbles x ∧ ¬y and enters
/// y = 0. Its circuits give x where the right output is 0, so it learns x from whether the honest
/// party gets an output. A bucket without a good circuit gives no more than that: the wrong output
/// is not confirmed.
/// Cheat: one | none of it | classical dual execution, one circuit or three, none opened: x ∧ ¬y in
/// place of x ∧ y | `reconciliation`, exactly if x = 1: a bit leaks; never a wrong output | as
/// predicted
#[test]
fn classical_dual_execution_leaks_a_bit() {
    let cases = PsiForm::ALL.into_iter().flat_map(|psi| [1, 3].map(|bucket| (psi, bucket)));
    for ((psi, bucket), x) in cases.flat_map(|case| [false, true].map(|x| (case, x))) {
        let (cheat, setting) = (negates(|_| true), Setting { psi, ..sized([1, bucket, bucket]) });
        let ended = run(setting, &and(false), &bits(x, false), Some(&cheat), |_| {});
        match x {
            true => assert_caught(&ended, RECONCILIATION),
            false => assert_eq!(ended[1].as_ref().unwrap(), &only(false)),
        }
    }
}

/// Runs x ∧ y with y = 0 and two wrong circuits of three, with Δ = 0 in the cheater's OTs.
fn without_offset(psi: PsiForm, x: bool, change: impl Fn(&mut Vec<Execution>) + Sync) -> Ended {
    let cheat = negates(|number| number % 3 != 0);
    let setting = Setting { psi, ..sized([1, 3, 3]) };
    let no_offset = |nets: &mut [Network; 2]| {
        let adversary = FnAdversary::new().on_state(|at, data| {
            if at == "set-up: delta" {
                data.fill(0);
            }
        });
        nets[0].lanes[0][0].set_adversary(Box::new(adversary));
    };
    run_changed(setting, &and(false), &bits(x, false), Some(&cheat), (no_offset, change))
}

/// If Δ is 0, both strings of an OT hash the same block. If the strings were equal, the cheater's
/// sums would be those of every value. Here they fit only one place of the honest party's set. If
/// the right value is there, the output is right; if another value is there, there is no output,
/// whatever x is.
/// Cheat: one | PSI | OTs under Δ = 0, sums that fit one place, 2 wrong circuits of 3 |
/// `reconciliation`, whatever x is; never a wrong output | 2/3
#[test]
fn ots_without_an_offset_confirm_no_other_value() {
    for psi in PsiForm::ALL {
        let ended = without_offset(psi, true, |_| {});
        assert_eq!(ended[1].as_ref().unwrap(), &only(false), "{psi:?}");
    }
    for x in [false, true] {
        let mut noticed = Rate::default();
        for _ in 0..150 {
            let ended = without_offset(PsiForm::Synchronous, x, |executions| {
                let pairs = &mut executions[0].psi.0.pairs;
                let bits = pairs.len() / 3;
                prg(1).fill_blocks(pairs[bits..].as_flattened_mut());
            });
            noticed.note(caught(&ended, RECONCILIATION));
            if let Ok(outputs) = &ended[1] {
                assert_eq!(outputs, &only(false), "x = {x}");
            }
        }
        noticed.assert_tells(2.0 / 3.0, 1.0 / 3.0);
        noticed.assert_is(2.0 / 3.0);
    }
}

/// The same cheat with one good circuit in the bucket: the honest party has the right output,
/// whatever its input, and the cheater sees no difference.
/// Cheat: one | Bucketing | x ∧ ¬y for x ∧ y in all circuits of a bucket but one | nothing: both
/// have the right output, whatever x is | no difference
#[test]
fn with_one_good_circuit_in_the_bucket_nothing_leaks() {
    for psi in PsiForm::ALL {
        for (x, wrong) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
            let cheat = negates(move |number| number % 3 != wrong);
            let setting = Setting { sizes: [1, 3, 3], psi, ..Setting::default() };
            let ended = run(setting, &and(false), &bits(x, false), Some(&cheat), |_| {});
            for ended in &ended {
                assert_eq!(ended.as_ref().unwrap(), &only(false), "x = {x}");
            }
        }
    }
}

/// The cheater translates the output labels of the good circuit from a seed that the circuit was
/// not garbled with, and opens that seed. If this went unnoticed, the good circuit would give a
/// random value, and the wrong circuits alone would decide, as in classical dual execution.
/// Cheat: one | Bucket Labels, Output Decommit | the good circuit of a bucket translated, and
/// opened, from another seed | `output translation` | always
#[test]
fn a_good_circuit_cannot_be_spoiled_by_another_seed_of_its_output_labels() {
    for psi in PsiForm::ALL {
        for x in [false, true] {
            let cheat = GarblingCheat { reseeded: true, ..negates(|number| number % 3 != 0) };
            let setting = Setting { sizes: [1, 3, 3], psi, ..Setting::default() };
            let ended = run(setting, &and(false), &bits(x, false), Some(&cheat), |_| {});
            assert_caught(&ended, TRANSLATION);
        }
    }
}

/// Runs with the leaves of the cheater's input in the wrong order in some circuits. The cheater
/// opens the labels that fit this order: those of the other value.
fn with_other_inputs(
    sizes: [u64; 3],
    y: bool,
    other: impl Fn(u64) -> bool + Sync + Copy + 'static,
) -> Ended {
    let mut cheat = negates(other);
    cheat.function = Function::of(&and(false)).unwrap();
    cheat.swapped = Some(0);
    let change = |executions: &mut Vec<Execution>| {
        for circuit in executions.iter_mut().flat_map(|execution| &mut execution.own) {
            if other(circuit.number) {
                let delta = *circuit.delta;
                circuit.own[0] ^= delta;
            }
        }
    };
    run_changed(sized(sizes), &and(false), &bits(true, y), Some(&cheat), (|_| {}, change))
}

/// The honest party evaluates all but one circuit of the bucket on an input that is not the
/// cheater's input in the other direction.
/// Cheat: one | Input Commit | another own input in all circuits of a bucket but one | nothing:
/// both have the right output | no difference
#[test]
fn another_input_in_some_circuits_of_a_bucket_changes_nothing() {
    for y in [false, true] {
        let ended = with_other_inputs([1, 3, 3], y, |number| number > 0);
        for ended in &ended {
            assert_eq!(ended.as_ref().unwrap(), &only(y));
        }
    }
}

/// The same in all circuits: the two directions differ, so there is no output.
/// Cheat: one | Input Commit | another own input in all circuits than in the other direction |
/// `reconciliation` | always
#[test]
fn another_input_in_the_other_direction_is_found() {
    assert_caught(&with_other_inputs([1, 2, 2], true, |_| true), RECONCILIATION);
}

/// Flips a bit of a message at several places, one run each, and checks that each flip is caught.
#[track_caller]
fn assert_flips_caught(psi: PsiForm, kind: &'static str, places: &[f64], check: Check) {
    let circuit = example();
    let mut prg = prg(1);
    for &place in places {
        let all = random_inputs(&circuit, 2, &mut prg);
        let setting = Setting { psi, ..Setting::default() };
        let ended = run(setting, &circuit, &all, None, |nets| {
            adversary(nets, kind, 0, move |bytes| {
                let at = ((bytes.len() - 1) as f64 * place) as usize;
                bytes[at] ^= 1;
            });
        });
        assert_caught(&ended, check);
    }
}

/// Cheat: one | Cut-and-Choose | a seed, a choice bit or the digest of an opened circuit | `opened
/// circuit`, `opened OT choices` | always
#[test]
fn opened_circuits_must_have_their_seeds_and_choices() {
    assert_flips_caught(PsiForm::Synchronous, "dualex: opened circuits", &[0.0], CIRCUIT);
    let choices = [0.5, 1.0];
    assert_flips_caught(PsiForm::Synchronous, "dualex: opened circuits", &choices, CHOICES);
}

/// No list of packed bits ends with a whole byte here, so the last byte of each has a bit that
/// means nothing.
/// Cheat: one | Cut-and-Choose, Offline Inputs, Receiver's Inputs, PSI Commit | a bit behind the
/// last one of a list | `padding of packed bits` | always
#[test]
fn bits_behind_the_last_one_are_refused() {
    for (kind, from_end) in [
        // The digest of 32 bytes follows the choice bits.
        ("dualex: opened circuits", 33),
        ("dualex: OT aggregation", 1),
        ("dualex: masked inputs", 1),
        ("dualex: psi items", 1),
    ] {
        let ended = run(sized([1, 2, 5]), &and(false), &bits(true, true), None, |nets| {
            adversary(nets, kind, 0, move |bytes| {
                let last = bytes.len() - from_end;
                bytes[last] |= 0x80;
            });
        });
        assert_caught(&ended, PADDING);
    }
}

/// Cheat: one | Bucketing | a bit of a table, its ending, its leaves or its nonce | `garbled
/// circuit commitment` | always
#[test]
fn a_circuit_that_stays_must_be_the_one_committed_to() {
    let places = [0.0, 0.5, 1.0];
    assert_flips_caught(PsiForm::Synchronous, "dualex: garbled circuit", &places, KEPT);
    let places = [0.0, 0.02, 0.1, 0.5, 0.95, 1.0];
    assert_flips_caught(PsiForm::Synchronous, "dualex: circuit ending", &places, KEPT);
}

/// Cheat: one | Bucket Labels | a wrong translation, a wrong hash of a label | `output translation`
/// | always
#[test]
fn wrong_translations_and_label_hashes_are_found_before_anything_depends_on_them() {
    for psi in PsiForm::ALL {
        // Of 992 bytes: 480 of XORs, the digest, then translations of 0 and 1 by turns.
        let places = [0.0, 0.3, 0.5, 0.65, 0.7, 1.0];
        assert_flips_caught(psi, "dualex: bucket labels", &places, TRANSLATION);
    }
}

/// Cheat: one | Output Decommit | wrong seeds of output labels | `output translation` | always
#[test]
fn opened_output_labels_must_be_those_committed_to() {
    for psi in PsiForm::ALL {
        assert_flips_caught(psi, "dualex: output labels", &[0.0, 0.4, 1.0], TRANSLATION);
    }
}

/// Cheat: one | Sender's Inputs | a wrong label or a wrong R | `input label` | always
#[test]
fn labels_of_inputs_must_be_those_committed_to() {
    let places = [0.0, 0.2, 0.5, 0.8, 1.0];
    assert_flips_caught(PsiForm::Synchronous, "dualex: input labels", &places, INPUT_LABEL);
}

/// The cheater announces an input that its labels are not for: the order of the leaves ties the two
/// together.
/// Cheat: one | Receiver's Inputs | another masked input than the labels are for | `input label` |
/// always
#[test]
fn an_announced_input_must_be_the_one_of_the_labels() {
    assert_flips_caught(PsiForm::Synchronous, "dualex: masked inputs", &[0.0], INPUT_LABEL);
}

/// Cheat: one | PSI Decommit | another opening than was committed to | `intersection opening` |
/// always
#[test]
fn an_intersection_must_be_opened_as_it_was_committed_to() {
    let places = [0.0, 0.5, 1.0];
    for psi in PsiForm::ALL {
        assert_flips_caught(psi, "dualex: psi opening", &places, PSI_OPENED);
    }
    assert_flips_caught(PsiForm::Synchronous, "dualex: psi commitment", &places, PSI_OPENED);
    // The sender's half of the message: the sender opens other terms than the message selects.
    let places = [0.55, 1.0];
    assert_flips_caught(PsiForm::Asynchronous, "dualex: psi items", &places, PSI_OPENED);
}

/// Cheat: one | Fig. 14, offline | other terms than are opened | `intersection opening` | always
#[test]
fn committed_terms_must_be_those_that_are_opened() {
    let circuit = example();
    let all = random_inputs(&circuit, 2, &mut prg(1));
    let setting = Setting { psi: PsiForm::Asynchronous, ..Setting::default() };
    let ended = run(setting, &circuit, &all, None, |nets| {
        adversary(nets, "dualex: psi terms", 0, |bytes| {
            bytes.iter_mut().for_each(|byte| *byte ^= 1)
        });
    });
    assert_caught(&ended, PSI_OPENED);
}

/// Changes what the cheater has prepared, in both forms of intersection, and checks that `check`
/// catches it.
#[track_caller]
fn assert_change_caught(check: Check, change: impl Fn(&mut Execution) + Sync) {
    let circuit = example();
    for psi in PsiForm::ALL {
        let all = random_inputs(&circuit, 2, &mut prg(2));
        let setting = Setting { psi, ..Setting::default() };
        let cheater = |nets: &mut [Network; 2]| {
            nets[0].lanes[0][0].set_adversary(Box::new(FnAdversary::new()));
        };
        let change = |executions: &mut Vec<Execution>| change(&mut executions[1]);
        let ended = run_changed(setting, &circuit, &all, None, (cheater, change));
        assert_caught(&ended, check);
    }
}

/// In one circuit of the bucket, the cheater sends the valid label for the other value of one of
/// its inputs.
/// Cheat: one | Sender's Inputs | the other label of one of the party's inputs in one circuit |
/// `input label` | always
#[test]
fn another_input_in_one_circuit_is_found_at_once() {
    assert_change_caught(INPUT_LABEL, |execution| {
        let circuit = &mut execution.own[1];
        let delta = *circuit.delta;
        circuit.own[0] ^= delta;
    });
}

/// The cheater sends a label for the other value of the peer's announced input.
/// Cheat: one | Receiver's Inputs | a label for the other value of the peer's masked input | `input
/// label` | always
#[test]
fn labels_for_another_announced_input_are_found() {
    assert_change_caught(INPUT_LABEL, |execution| {
        let circuit = &mut execution.own[0];
        let delta = *circuit.delta;
        circuit.announced[1] ^= delta;
    });
}

/// The cheater does not evaluate, so its set has nothing from the circuits.
/// Cheat: one | PSI Commit | a set that is not from the circuits | `reconciliation` | always
#[test]
fn sets_that_are_not_from_the_circuits_give_no_output() {
    assert_change_caught(RECONCILIATION, |execution| {
        for circuit in &mut execution.theirs {
            change_table(&mut circuit.table);
            circuit.ending.translations.iter_mut().for_each(|pair| pair[0].0 ^= 3);
            circuit.ending.translations.iter_mut().for_each(|pair| pair[1].0 ^= 3);
        }
    });
}

/// The cheater makes its sums from other strings than those of the OTs.
/// Cheat: one | PSI Commit | sums of other strings than those of the OTs | `reconciliation` |
/// always
#[test]
fn wrong_reconciliation_sums_give_no_output() {
    let circuit = example();
    let all = random_inputs(&circuit, 2, &mut prg(2));
    let cheater = |nets: &mut [Network; 2]| {
        nets[0].lanes[0][0].set_adversary(Box::new(FnAdversary::new()));
    };
    let change = |executions: &mut Vec<Execution>| {
        executions[1].psi.0.pairs.iter_mut().for_each(|pair| pair.swap(0, 1));
    };
    let ended = run_changed(Setting::default(), &circuit, &all, None, (cheater, change));
    assert_caught(&ended, RECONCILIATION);
}

/// The cheater withholds a message that the honest party needs, perhaps after it has seen its own
/// result. The honest party gets no output, and does not send what must wait for this message. It
/// accuses nobody, because silence proves nothing.
/// Cheat: one | Receiver's Inputs, PSI Commit, Output Decommit, PSI Decommit | messages withheld |
/// a time-out, no output, and no message that must wait for them | always
#[test]
fn withheld_messages_give_no_output_and_nothing_that_waits_for_them() {
    let circuit = example();
    for (psi, kind, waits) in [
        (PsiForm::Synchronous, "dualex: masked inputs", Some("dualex: input labels")),
        (PsiForm::Synchronous, "dualex: psi items", Some("dualex: psi commitment")),
        (PsiForm::Asynchronous, "dualex: psi items", Some("dualex: output labels")),
        (PsiForm::Synchronous, "dualex: psi commitment", Some("dualex: output labels")),
        (PsiForm::Synchronous, "dualex: output labels", Some("dualex: psi opening")),
        (PsiForm::Asynchronous, "dualex: output labels", Some("dualex: psi opening")),
        (PsiForm::Synchronous, "dualex: psi opening", None),
        (PsiForm::Asynchronous, "dualex: psi opening", None),
    ] {
        let all = random_inputs(&circuit, 2, &mut prg(3));
        let setting = Setting { psi, ..Setting::default() };
        let heard = Overheard::default();
        let ended = run(setting, &circuit, &all, None, |nets| {
            let adversary = FnAdversary::new()
                .on_outgoing(move |k, _, _| if k == kind { Action::Stall } else { Action::Send });
            nets[0].lanes[0][0].set_adversary(Box::new(adversary));
            heard.listen(nets);
            nets[1].lanes[0][0].set_timeout(std::time::Duration::from_millis(700));
        });
        assert!(matches!(ended[1], Err(Error::Transport { .. })), "{kind}: {:?}", ended[1]);
        assert!(waits.is_none_or(|waits| !heard.has(waits)), "{psi:?}: {kind}");
    }
}

/// A probe of the encoding: one of the two masked labels of position 0 is wrong. The honest party
/// aborts if its random bit at this position selects the wrong label, which does not depend on its
/// input.
/// Cheat: one | Offline Inputs | one of two masked labels of one position | `encoded input label` |
/// 1/2 for either input
#[test]
fn a_probe_of_the_encoding_is_found_half_of_the_time_whatever_the_input() {
    for x in [false, true] {
        let mut found = Rate::default();
        for _ in 0..60 {
            let ended = run(sized([1, 1, 1]), &and(false), &bits(x, true), None, |nets| {
                adversary(nets, "dualex: encoded labels", 0, |bytes| bytes[0] ^= 1);
            });
            let noticed = caught(&ended, ENCODED_LABEL);
            found.note(noticed);
            if !noticed {
                assert_eq!(ended[1].as_ref().unwrap(), &only(x));
            }
        }
        found.assert_predicted(0.5, if x { "input 1" } else { "input 0" });
    }
}

/// The same probe through the committed leaves: their XOR and digest are those of the leaf for 0
/// and of a value that is no leaf. In the check set this is found.
/// Cheat: one | Input Commit | leaves of one position that fit one of its labels alone | `encoded
/// input label`, or `opened circuit` in the check set | 1/2 for either input; always
#[test]
fn a_probe_by_committed_leaves_is_found_half_of_the_time_whatever_the_input() {
    let function = || Function::of(&and(false)).unwrap();
    let cheat = || GarblingCheat { function: function(), probes: true, ..negates(|_| true) };
    for x in [false, true] {
        let mut found = Rate::default();
        for _ in 0..60 {
            let ended = run(sized([1, 1, 1]), &and(false), &bits(x, true), Some(&cheat()), |_| {});
            let noticed = caught(&ended, ENCODED_LABEL);
            found.note(noticed);
            if !noticed {
                assert_eq!(ended[1].as_ref().unwrap(), &only(x));
            }
        }
        found.assert_predicted(0.5, if x { "leaves, input 1" } else { "leaves, input 0" });
    }
    let ended = run(sized([1, 1, 2]), &and(false), &bits(true, true), Some(&cheat()), |_| {});
    assert_caught(&ended, CIRCUIT);
}

/// Probes three positions at a time, and both labels of one position.
/// Cheat: one | Offline Inputs | labels of three positions; both labels of one | `encoded input
/// label` | 7/8; always
#[test]
fn more_probes_are_found_more_often() {
    let mut found = Rate::default();
    for _ in 0..60 {
        let ended = run(sized([1, 1, 1]), &and(false), &bits(true, true), None, |nets| {
            adversary(nets, "dualex: encoded labels", 0, |bytes| {
                [0, 32, 64].iter().for_each(|at| bytes[*at] ^= 1);
            });
        });
        found.note(caught(&ended, ENCODED_LABEL));
    }
    found.assert_predicted(0.875, "three positions");
    let ended = run(sized([1, 1, 1]), &and(false), &bits(true, true), None, |nets| {
        adversary(nets, "dualex: encoded labels", 0, |bytes| {
            [0, 16].iter().for_each(|at| bytes[*at] ^= 1)
        });
    });
    assert_caught(&ended, ENCODED_LABEL);
}

/// The cheater sends a wrong bit of a difference, opens the labels of its own circuits that fit it,
/// and goes on with what it gets. It gets no label at this position of its encoding, because it
/// lacks a string that both masks contain, so it evaluates nothing.
/// Cheat: one | Offline Inputs | a wrong difference of OT choices, and the labels that fit it |
/// `reconciliation`: the cheater lacks a label of its input | always
#[test]
fn a_lie_about_aggregated_choices_gives_no_label() {
    for psi in PsiForm::ALL {
        let cheat = GarblingCheat { careless: true, ..negates(|_| false) };
        let wrong = |nets: &mut [Network; 2]| {
            adversary(nets, "dualex: OT aggregation", 0, |bytes| bytes[0] ^= 1);
        };
        // M maps the wrong bit to the only input bit.
        let fitting = |executions: &mut Vec<Execution>| {
            let circuit = &mut executions[0].own[1];
            let delta = *circuit.delta;
            circuit.own[0] ^= delta;
        };
        let (circuit, setting) = (and(false), Setting { psi, ..sized([1, 2, 2]) });
        let all = bits(true, true);
        let ended = run_changed(setting, &circuit, &all, Some(&cheat), (wrong, fitting));
        assert_caught(&ended, RECONCILIATION);
    }
}

/// Messages in the order in which they were sent: the kind and the content of each.
type Messages = Vec<(&'static str, Vec<u8>)>;

/// What party 1 has sent.
#[derive(Clone, Default)]
struct Overheard(Arc<(Mutex<Messages>, Condvar)>);

impl Overheard {
    /// Listens to party 1, which stays honest.
    fn listen(&self, nets: &mut [Network; 2]) {
        let heard = self.clone();
        let listener = FnAdversary::new().listening().on_outgoing(move |kind, _, payload| {
            heard.0.0.lock().unwrap().push((kind, payload.clone()));
            heard.0.1.notify_all();
            Action::Send
        });
        nets[1].lanes[0][0].set_adversary(Box::new(listener));
    }

    /// Whether a message of this kind was sent.
    fn has(&self, kind: &str) -> bool {
        self.0.0.lock().unwrap().iter().any(|(sent, _)| *sent == kind)
    }

    /// Waits for the first message of this kind.
    fn wait(&self, kind: &str) -> Vec<u8> {
        let Overheard(shared) = self;
        let (messages, sent_more) = &**shared;
        let none = |messages: &mut Messages| messages.iter().all(|(sent, _)| *sent != kind);
        let messages = sent_more.wait_while(messages.lock().unwrap(), none).unwrap();
        messages.iter().find(|(sent, _)| *sent == kind).unwrap().1.clone()
    }
}

/// Makes party 0 send party 1's message of this kind back.
fn echo(nets: &mut [Network; 2], kind: &'static str, overheard: &Overheard) {
    overheard.listen(nets);
    let overheard = overheard.clone();
    let echo = FnAdversary::new().on_message(kind, 0, move |payload| {
        *payload = overheard.wait(kind);
        Action::Send
    });
    nets[0].lanes[0][0].set_adversary(Box::new(echo));
}

/// An echo is refused at once: the honest party does not send its next message.
/// Cheat: one | Cut-and-Choose Commit, PSI Commit | commitments echoed | `circuit commitment`,
/// `intersection opening` | always
#[test]
fn echoed_commitments_are_refused() {
    let circuit = example();
    for (kind, check, next) in [
        ("dualex: circuits", ECHO, "dualex: opened circuits"),
        ("dualex: psi commitment", PSI_OPENED, "dualex: output labels"),
    ] {
        let all = random_inputs(&circuit, 2, &mut prg(5));
        let heard = Overheard::default();
        let cheat = |nets: &mut [Network; 2]| echo(nets, kind, &heard);
        let ended = run(Setting::default(), &circuit, &all, None, cheat);
        assert_caught(&ended, check);
        assert!(heard.has(kind) && !heard.has(next), "{kind}");
    }
}

/// A change to the cheater's own choices must not change the honest party's output.
/// Cheat: one | PSI Commit | a bit of d | nothing: it says something else about the cheater alone |
/// no difference
#[test]
fn a_changed_choice_of_the_intersection_says_nothing_to_the_honest_party() {
    let circuit = example();
    let all = random_inputs(&circuit, 2, &mut prg(6));
    let ended = run(Setting::default(), &circuit, &all, None, |nets| {
        adversary(nets, "dualex: psi items", 0, |bytes| bytes[0] ^= 1);
    });
    assert_eq!(ended[1].as_ref().unwrap(), &expected(&circuit, 1, &all));
}
