//! Several executions online at a time, honest and not.

use std::sync::Mutex;

use symbolon_engine::{Compiled, InFlight, InputBits, Network, OutputBits};
use symbolon_transport::adversary::{Action, Endings, FnAdversary};
use symbolon_transport::{Check, Message, Result};

use super::runs::example;
use super::tools::{
    Setting, apart, both, change_table, expected, inputs_of, networks, prepare, prg, random_inputs,
};
use crate::dualex::options::PsiForm;
use crate::dualex::{
    checks::{INPUT_LABEL, PSI_OPENED, RECONCILIATION, TRANSLATION},
    execution::Execution,
    messages::{INPUT_LABELS, MASKED_INPUTS, OUTPUT_SEEDS, PSI_ITEMS, PSI_OPENING, PSI_SUMS},
};

const EXECUTIONS: usize = 5;

/// What each party learnt from the executions, in order, and how it ended.
struct Ended {
    learnt: [Vec<OutputBits>; 2],
    ended: [Result<usize>; 2],
}

/// The changes that party 0 makes to its network and to its prepared executions.
struct Cheat<A, C>(A, C);

/// Inputs of a party as [`InFlight`] takes them.
struct Own(InputBits);

impl AsRef<InputBits> for Own {
    fn as_ref(&self) -> &InputBits {
        &self.0
    }
}

/// Runs five executions with at most `limit` online. A party that ends well returns how many were
/// online at a time.
fn run(
    (psi, limit): (PsiForm, usize),
    all: &[Vec<Vec<bool>>],
    Cheat(adversary, change): Cheat<
        impl FnOnce(&mut [Network; 2]),
        impl Fn(&mut Vec<Execution>) + Sync,
    >,
) -> Ended {
    let setting = Setting { psi, sizes: [EXECUTIONS as u64, 2, 12], ..Setting::default() };
    let mut nets = networks(setting);
    adversary(&mut nets);
    let learnt = [Mutex::default(), Mutex::default()];
    let ended = both(nets, [&learnt[0], &learnt[1]], &|net, learnt: &Mutex<Vec<OutputBits>>| {
        let circuit = example();
        let mut prepared = prepare(net, &circuit, setting, None)?;
        if net.me == 0 {
            change(&mut prepared.executions);
        }
        let (mut number, mut most) = (0, 0);
        let mut apart = apart(prepared).into_iter();
        let me = net.me;
        let next = |_: &mut Network| {
            number += 1;
            most = most.max(number - learnt.lock().unwrap().len());
            let inputs = inputs_of(&circuit, me.number(), &all[number - 1..number]);
            Ok((apart.next().unwrap(), Own(inputs)))
        };
        InFlight::new(&Compiled::new(&circuit), limit)?.evaluate(
            net,
            EXECUTIONS as u64,
            next,
            |outputs| {
                learnt.lock().unwrap().push(outputs);
                Ok(())
            },
        )?;
        Ok(most)
    });
    Ended { learnt: learnt.map(|learnt| learnt.into_inner().unwrap()), ended }
}

fn honest() -> Cheat<impl FnOnce(&mut [Network; 2]), impl Fn(&mut Vec<Execution>) + Sync> {
    Cheat(|_: &mut [Network; 2]| {}, |_: &mut Vec<Execution>| {})
}

#[test]
fn executions_in_flight_give_their_outputs_in_order() {
    let circuit = example();
    for psi in PsiForm::ALL {
        for limit in [1, 2, 4, 40] {
            let all = random_inputs(&circuit, EXECUTIONS, &mut prg(1));
            let Ended { learnt, ended } = run((psi, limit), &all, honest());
            for (party, learnt) in (0..).zip(learnt) {
                let each = all.iter().map(std::slice::from_ref);
                let right: Vec<_> = each.map(|one| expected(&circuit, party, one)).collect();
                assert_eq!(learnt, right, "party {party}, {limit} at a time");
            }
            assert_eq!(ended.map(Result::unwrap), [limit.min(EXECUTIONS); 2]);
        }
    }
}

/// Asserts that the honest party ends with this check, and has learnt only outputs that were
/// confirmed before, of at most `at_most` executions.
#[track_caller]
fn assert_caught(ended: &Ended, all: &[Vec<Vec<bool>>], check: Check, at_most: usize) {
    Endings::new(&ended.ended, &[0]).assert_caught_by_all(&[check]);
    let learnt = &ended.learnt[1];
    assert!(learnt.len() <= at_most, "{} outputs were released", learnt.len());
    for (learnt, inputs) in learnt.iter().zip(all) {
        assert_eq!(*learnt, expected(&example(), 1, std::slice::from_ref(inputs)));
    }
}

/// The cheater answers the second execution with its message for the first.
/// Cheat: one | online, several in flight | the message of one execution for another one, each kind
/// in turn | `input label`, `intersection opening`, `output translation` | always
#[test]
fn a_message_of_another_execution_is_refused() {
    let circuit = example();
    let synchronous = [
        (MASKED_INPUTS, INPUT_LABEL),
        (INPUT_LABELS, INPUT_LABEL),
        (PSI_SUMS, PSI_OPENED),
        (OUTPUT_SEEDS, TRANSLATION),
        (PSI_OPENING, PSI_OPENED),
    ];
    let asynchronous = [
        (INPUT_LABELS, INPUT_LABEL),
        (PSI_ITEMS, PSI_OPENED),
        (OUTPUT_SEEDS, TRANSLATION),
        (PSI_OPENING, PSI_OPENED),
    ];
    let cases = synchronous.map(|case| (PsiForm::Synchronous, case)).into_iter();
    for (psi, (message, check)) in
        cases.chain(asynchronous.map(|case| (PsiForm::Asynchronous, case)))
    {
        let all = random_inputs(&circuit, EXECUTIONS, &mut prg(2));
        let cheat = |nets: &mut [Network; 2]| repeat_first(nets, message);
        let ended = run((psi, 12), &all, Cheat(cheat, |_: &mut Vec<Execution>| {}));
        assert_caught(&ended, &all, check, 1);
    }
}

/// Makes party 0 send its first message of a kind again as the second one. If both are equal, as
/// masked inputs are with probability 2^-10, that would be no cheat: then it changes a bit.
fn repeat_first(nets: &mut [Network; 2], message: Message) {
    let mut first = Vec::new();
    let adversary = FnAdversary::new().on_outgoing(move |kind, index, payload| {
        match index {
            0 if kind == message.name() => first = payload.clone(),
            1 if kind == message.name() && *payload == first => payload[0] ^= 1,
            1 if kind == message.name() => payload.clone_from(&first),
            _ => {}
        }
        Action::Send
    });
    nets[0].lanes[0][0].set_adversary(Box::new(adversary));
}

fn cheats(nets: &mut [Network; 2]) {
    nets[0].lanes[0][0].set_adversary(Box::new(FnAdversary::new()));
}

/// The cheater answers each of two executions that are online together with material of the other.
/// Cheat: one | online, several in flight | circuits, OTs or output labels of two executions
/// exchanged | `input label`, `reconciliation`, `intersection opening`, `output translation` |
/// always
#[test]
fn executions_that_are_mixed_up_give_no_output() {
    let circuit = example();
    type Change = fn(&mut Execution, &mut Execution);
    let own: Change = |a, b| std::mem::swap(&mut a.own, &mut b.own);
    let sender: Change = |a, b| std::mem::swap(&mut a.psi.0, &mut b.psi.0);
    let theirs: Change =
        |a, b| std::mem::swap(&mut a.own[0].output_seed, &mut b.own[0].output_seed);
    let cases = [
        (PsiForm::Synchronous, own, INPUT_LABEL),
        (PsiForm::Synchronous, sender, RECONCILIATION),
        (PsiForm::Asynchronous, sender, PSI_OPENED),
        (PsiForm::Synchronous, theirs, TRANSLATION),
    ];
    for (psi, mix, check) in cases {
        let all = random_inputs(&circuit, EXECUTIONS, &mut prg(3));
        let change = |executions: &mut Vec<Execution>| {
            let (first, rest) = executions.split_at_mut(3);
            mix(&mut first[2], &mut rest[0]);
        };
        let ended = run((psi, 12), &all, Cheat(cheats, change));
        assert_caught(&ended, &all, check, 2);
    }
}

/// The cheater cheats in one execution. The executions before it end well. It and those after it
/// release nothing, although they are online when the cheat is found.
/// Cheat: one | online, several in flight | a set of one execution that is not from its circuits |
/// `reconciliation`; those before it have their outputs, none after it | always
#[test]
fn outputs_wait_for_the_checks_of_their_own_execution() {
    let circuit = example();
    for psi in PsiForm::ALL {
        let all = random_inputs(&circuit, EXECUTIONS, &mut prg(4));
        let change = |executions: &mut Vec<Execution>| {
            for circuit in &mut executions[2].theirs {
                change_table(&mut circuit.table);
                let translations = circuit.ending.translations.as_flattened_mut();
                translations.iter_mut().for_each(|label| label.0 ^= 3);
            }
        };
        let ended = run((psi, 3), &all, Cheat(cheats, change));
        assert_caught(&ended, &all, RECONCILIATION, 2);
        assert_eq!(ended.learnt[1].len(), 2, "those before it were confirmed");
    }
}
