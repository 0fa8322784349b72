//! The cheating peer in `tinytable` with tables committed under a code (section 6). Each test is
//! one row, a cheat, and the check that must catch it.
//!
//! What a guess of the verifier's secret bits gains is measured with codes of small distance, in
//! `src/tinytable/code/cheats.rs`.

use std::sync::{Arc, Mutex};

use crate::cheats_tinytable::{run_and_hear, state};
use crate::common::{Ended, Setting, assert_caught, chosen, message};
use symbolon_authenticated::tinytable::{
    self,
    options::{Commitment, TinyTableOptions},
};
use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Table, Type};
use symbolon_engine::Rho;
use symbolon_transport::adversary::{Action, CheckName, FnAdversary};

const EXECUTIONS: usize = 2;

/// Bits of a layer of AND gates in all executions.
const BITS: usize = 8 * EXECUTIONS;

const TABLES: &str = "tinytable: code of tables";
const CODE_MASKS: &str = "tinytable: code of masks";
const CHALLENGE: &str = "tinytable: code challenge";
const PROOF: &str = "tinytable: code proof";
const ONLINE: &str = "tinytable: opened sums";
const LAYER: &str = "tinytable: table bits";
const MASKS: &str = "tinytable: output masks";

const COMMITMENT: &str = "code commitment";
const CODE: &str = "table code";
const FRAMING: &str = "message framing";

/// Two layers of eight AND gates, and with the second a look-up of four bits in six.
fn circuit() -> Circuit {
    let table = Table::new(4, 6, (0..16).map(|i| i * 13 % 64).collect::<Vec<_>>()).unwrap();
    let mut b = Builder::new("two layers and a look-up");
    let x = b.input("x", Type::Uint(8), 0);
    let y = b.input("y", Type::Uint(8), 1);
    let products = b.and(&x, &y);
    let turned = products.rotl(3);
    let second = b.and(&products, &turned);
    let looked = b.lookup(&table, &products.slice(2..6));
    let sums = b.xor(&second, &x);
    b.output("sums", &sums, Type::Uint(8), Receivers::All);
    b.output("looked", &looked, Type::Uint(6), Receivers::All);
    b.finish().unwrap()
}

/// Runs with one cheating party; also returns the kinds of the messages that it received.
fn cheat_with(rho: Rho, cheater: u16, adversary: FnAdversary) -> ([Ended; 2], Vec<&'static str>) {
    let options =
        chosen(TinyTableOptions { commitment: Commitment::Code, ..TinyTableOptions::default() });
    let (protocol, executions) = (&tinytable::SPEC, EXECUTIONS);
    let setting = Setting { protocol, executions, options, rho, ..Setting::default() };
    let bits = |by: usize| (0..BITS).map(|i| i * by % 5 < 2).collect();
    run_and_hear((setting, circuit(), [bits(3), bits(7)]), cheater, adversary)
}

/// Asserts that either cheater is caught at this check before it learns any output mask.
#[track_caller]
fn assert_cheat(check: impl CheckName, adversary: impl Fn() -> FnAdversary) {
    for cheater in [0, 1] {
        let (ended, heard) = cheat_with(Rho::Bits40, cheater, adversary());
        assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
        assert!(!heard.contains(&MASKS), "an output was opened before the check");
        if check.check_name() == COMMITMENT {
            assert!(!heard.contains(&LAYER), "a table was opened before the check");
        }
    }
}

/// Without a cheat, nobody is accused.
#[test]
fn honest_runs_are_not_accused() {
    for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
        let (ended, heard) = cheat_with(rho, 0, FnAdversary::new());
        assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
        for (kind, times) in [(PROOF, 1), (CHALLENGE, 2), (ONLINE, 1), (MASKS, 1)] {
            assert_eq!(heard.iter().filter(|heard| **heard == kind).count(), times, "{kind}");
        }
    }
}

/// Fig. 11, step 3: one wrong table bit, of any gate and execution, and several.
/// Cheat: one | Fig. 11, step 3 | wrong table bits | `table code` | 1 − 2^-ρ
#[test]
fn wrong_table_bits() {
    for (layer, bits) in
        [(0, vec![0]), (0, vec![BITS - 1]), (1, vec![1]), (0, vec![0, 1]), (1, (0..BITS).collect())]
    {
        assert_cheat(CODE, || {
            let bits = bits.clone();
            state("tinytable: own table bits", layer, move |own| {
                bits.iter().for_each(|bit| own[bit / 8] ^= 1 << (bit % 8));
            })
        });
    }
}

/// Fig. 11, step 3: a wrong entry of a look-up.
/// Cheat: one | Fig. 11, step 3 | a wrong entry of a look-up | `table code` | 1 − 2^-ρ
#[test]
fn a_wrong_table_entry() {
    for change in [1, 1 << 5, 0b11_1111] {
        assert_cheat(CODE, || {
            state("tinytable: own table bits", 1, move |own| own[BITS / 8] ^= change)
        });
    }
}

/// Fig. 9: tables that are not those of the authenticated bits, with the code and the proof of the
/// changed bits: one share of a gate, an entry of a look-up, or a bit that hides them.
/// Cheat: one | Fig. 9 | a committed bit that is not the authenticated one | `code commitment` |
/// 1 − 2^-128
#[test]
fn tables_that_are_not_the_authenticated_ones() {
    for point in ["tinytable: own rows", "tinytable: own entries", "tinytable: own hiding bits"] {
        for place in [0, 1] {
            assert_cheat(COMMITMENT, || state(point, 0, move |own| own[place] ^= 1));
        }
    }
}

/// Fig. 9: corrections that make rows no words of their code, in many positions, of tables, of
/// masks, and of what hides them.
/// Cheat: one | Fig. 9 | rows that are no words of the code | `code commitment` | 1 − 2^-b for b
/// positions
#[test]
fn rows_that_are_no_words() {
    for point in [TABLES, CODE_MASKS] {
        assert_cheat(COMMITMENT, || {
            state(point, 0, |rows| rows[..16].iter_mut().for_each(|byte| *byte ^= 0xff))
        });
        assert_cheat(COMMITMENT, || {
            state(point, 0, |rows| rows.iter_mut().rev().step_by(7).for_each(|byte| *byte ^= 1))
        });
    }
}

/// Fig. 9: wrong sums, of tables or of masks, or a wrong digest.
/// Cheat: one | Fig. 9 | a wrong proof of the commitments | `code commitment` | always
#[test]
fn a_wrong_proof_of_commitments() {
    assert_cheat(COMMITMENT, || state("tinytable: own code proof", 0, |own| own[0] ^= 1));
    assert_cheat(COMMITMENT, || {
        state("tinytable: own code proof", 0, |own| *own.last_mut().unwrap() ^= 1)
    });
    assert_cheat(COMMITMENT, || state("tinytable: own code proof", 0, |own| own[128 * 8 + 1] ^= 2));
    assert_cheat(COMMITMENT, || message(PROOF, 0, |payload| *payload.last_mut().unwrap() ^= 1));
}

/// Fig. 11, check: wrong sums, or a wrong digest.
/// Cheat: one | Fig. 11, check | a wrong proof of the opened bits | `table code` | always
#[test]
fn a_wrong_proof_of_opened_bits() {
    assert_cheat(CODE, || state("tinytable: own opened sums", 0, |own| own[0] ^= 1));
    assert_cheat(CODE, || state("tinytable: own opened sums", 0, |own| own.fill(0)));
    assert_cheat(CODE, || message(ONLINE, 0, |payload| *payload.last_mut().unwrap() ^= 1));
}

/// The proof of another run under the same session id, for another challenge.
/// Cheat: one | Fig. 11, check | the proof of another run replayed | `table code` | always
#[test]
fn a_replayed_proof() {
    for (kind, check) in [(ONLINE, CODE), (PROOF, COMMITMENT)] {
        for cheater in [0, 1] {
            let replayed = Arc::new(Mutex::new(None));
            let seen = replayed.clone();
            let adversary = FnAdversary::new().on_outgoing(move |sent, _, payload| {
                if sent == kind {
                    *seen.lock().unwrap() = Some(payload.to_vec());
                }
                Action::Send
            });
            cheat_with(Rho::Bits40, cheater, adversary);
            let proof = replayed.lock().unwrap().clone().unwrap();
            let again = message(kind, 0, move |payload| payload.copy_from_slice(&proof));
            let (ended, _) = cheat_with(Rho::Bits40, cheater, again);
            assert_caught(&ended[usize::from(1 - cheater)], cheater, check);
        }
    }
}

/// Outputs opened before the check, by a peer that skips its own part in it.
/// Cheat: one | Fig. 11, step 4 | output opened before the check | the token that the check makes |
/// always
#[test]
fn outputs_opened_before_the_check() {
    for cheater in [0, 1] {
        let adversary = FnAdversary::new().on_outgoing(|kind, _, _| match kind {
            ONLINE => Action::Drop,
            _ => Action::Send,
        });
        let (ended, heard) = cheat_with(Rho::Bits40, cheater, adversary);
        assert_caught(&ended[usize::from(1 - cheater)], cheater, FRAMING);
        assert!(!heard.contains(&MASKS), "the honest party opened its masks");
    }
}

/// Messages of wrong lengths.
/// Cheat: one | Figs. 9, 11 | messages of wrong lengths | `message framing` | always
#[test]
fn malformed_messages() {
    for kind in [TABLES, CODE_MASKS, CHALLENGE, PROOF, ONLINE] {
        for longer in [true, false] {
            for cheater in [0, 1] {
                let change = move |payload: &mut Vec<u8>| match longer {
                    true => payload.push(0),
                    false => payload.truncate(payload.len() - 1),
                };
                let (ended, _) = cheat_with(Rho::Bits40, cheater, message(kind, 0, change));
                assert_caught(&ended[usize::from(1 - cheater)], cheater, FRAMING);
            }
        }
    }
}

/// A party that waits for its challenge before it has sent everything that the challenge is for:
/// corrections of tables or masks, or the last table bits. No challenge comes.
/// Cheat: one | Figs. 9, 11 | the challenge awaited before all is sent | the order of messages |
/// always
#[test]
fn challenges_come_last() {
    for (kind, index, challenges) in [(TABLES, 0, 0), (CODE_MASKS, 0, 0), (LAYER, 1, 1)] {
        for cheater in [0, 1] {
            let mut seen = 0;
            let adversary = FnAdversary::new().on_outgoing(move |sent, _, _| {
                seen += usize::from(sent == kind);
                if sent == kind && seen == index + 1 { Action::Drop } else { Action::Send }
            });
            let (ended, heard) = cheat_with(Rho::Bits40, cheater, adversary);
            assert_caught(&ended[usize::from(1 - cheater)], cheater, FRAMING);
            let heard = heard.iter().filter(|kind| **kind == CHALLENGE).count();
            assert_eq!(heard, challenges, "{kind}");
        }
    }
}

/// Every challenge is a new one, of both parties and in every run.
#[test]
fn challenges_are_fresh() {
    let all = Arc::new(Mutex::new(std::collections::HashSet::new()));
    for cheater in [0, 1, 0] {
        let seen = all.clone();
        let adversary = FnAdversary::new().on_outgoing(move |kind, _, payload| {
            if kind == CHALLENGE {
                assert!(seen.lock().unwrap().insert(payload.to_vec()), "a challenge twice");
            }
            Action::Send
        });
        let (ended, _) = cheat_with(Rho::Bits40, cheater, adversary);
        assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
    }
    assert_eq!(all.lock().unwrap().len(), 6);
}
