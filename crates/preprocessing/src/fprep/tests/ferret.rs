//! Silent OT in whole sessions: honest ones, and a party that cheats towards one of its peers in
//! the expansions, or in what follows from them.

use std::sync::mpsc;

use symbolon_ot::checks::{EXTENSION, SILENT};
use symbolon_transport::adversary::{Action, FnAdversary};

use super::*;
use mesh::{message, nth_message, state};

/// More than the first expansion gives.
const TWO_EXPANSIONS: usize = 320_000;

fn silent_parties(n: u16, lanes: usize, seed: u128) -> Vec<Party> {
    let deltas = deltas(n, seed);
    parties_by(OtExtension::Ferret, (n, lanes, seed), |me, _| deltas[usize::from(me)])
}

#[test]
fn silent_triples_are_right() {
    for (n, triples, bucket, lanes) in
        [(2, 1, 3, 1), (2, 100, 5, 3), (2, 7_000, 3, 2), (3, 3_500, 3, 2), (4, 20, 3, 1)]
    {
        let batch = Batch { triples, bucket };
        let ended = run(silent_parties(n, lanes, 61), |open, lanes| {
            Ok([open.triples(lanes, batch)?, open.triples(lanes, batch)?])
        });
        let made = all_end_well(ended);
        for which in [0, 1] {
            let made: Vec<&Triples> = made.iter().map(|made| &made[which]).collect();
            assert_triples(&made, &deltas(n, 61));
        }
    }
}

/// Parties with different numbers of bits make different numbers of expansions.
#[test]
fn silent_bits_of_uneven_numbers() {
    for counts in [&[TWO_EXPANSIONS, 3][..], &[0, 7], &[MAX_DRAW + 1, 0, 130]] {
        let n = counts.len() as u16;
        let made = all_end_well(run(silent_parties(n, 1, 62), |open, lanes| {
            Ok((open.bits(lanes, counts)?, open.shares(lanes, 500)?))
        }));
        assert_shared(&made.iter().map(|made| &made.1).collect::<Vec<_>>(), &deltas(n, 62));
        for ((i, j), (index_of_i, index_of_j)) in pairs(counts.len()) {
            let (own, keys) = (&made[i].0.0, &made[j].0.1[index_of_i.get()]);
            let macs = &own.macs[index_of_j.get()];
            assert_eq!((own.bits.len(), macs.len(), keys.len()), (counts[i], counts[i], counts[i]));
            for (k, key) in keys.iter().enumerate() {
                let expected = *key ^ deltas(n, 62)[j].select(own.bits.get(k));
                assert!(macs[k] == expected, "bit {k} of {i} towards {j}");
            }
        }
    }
}

/// Between two parties a draw is silent, and its bits are even and differ from those before.
#[test]
fn draws_between_two_send_nothing() {
    let sent = |lanes: &Lanes| lanes[0][0].meter().report()[0].messages_sent;
    let made = all_end_well(run(silent_parties(2, 1, 63), |open, lanes| {
        let first = open.shares(lanes, 10_000)?;
        let before = sent(lanes);
        let second = open.shares(lanes, 10_000)?;
        assert_eq!(sent(lanes), before);
        Ok([first, second])
    }));
    for which in [0, 1] {
        assert_shared(&made.iter().map(|made| &made[which]).collect::<Vec<_>>(), &deltas(2, 63));
    }
    for [first, second] in &made {
        let mut difference = first.bits.clone();
        difference.xor_assign(&second.bits);
        for bits in [&first.bits, &second.bits, &difference] {
            let ones = bits.to_bools().iter().filter(|&&bit| bit).count();
            assert!((4_700..5_300).contains(&ones), "{ones} of 10000");
        }
    }
}

/// Draws shares twice while a party cheats towards a peer on the first lane.
fn shares_with(
    (n, cheater, victim): (u16, u16, u16),
    (shares, lanes): (usize, usize),
    adversary: FnAdversary,
) -> Vec<Result<AuthShares>> {
    let mut parties = silent_parties(n, lanes, 64);
    mesh::cheat(&mut parties[usize::from(cheater)].lanes, victim, adversary);
    run_shares(parties, shares)
}

fn run_shares(parties: Vec<Party>, shares: usize) -> Vec<Result<AuthShares>> {
    let ended = run(parties, |open, lanes| {
        open.shares(lanes, shares)?;
        // A party that has noticed nothing yet waits for those that have.
        open.shares(lanes, TWO_EXPANSIONS)
    });
    ended.into_iter().map(|(_, result)| result).collect()
}

const CASES: [(u16, u16, u16); 4] = [(2, 0, 1), (2, 1, 0), (3, 0, 2), (3, 2, 1)];

#[track_caller]
fn assert_trees_caught(case: (u16, u16, u16), adversary: FnAdversary) {
    let results = shares_with(case, (100, 1), adversary);
    mesh::assert_caught(&results, &[case.1], SILENT);
    mesh::assert_caught_by_one_of(&results, &[case.2], case.1, SILENT);
}

/// Cheat: 2, 3; one, Ferret | sums, in a session | a wrong sum towards one party | `silent OT
/// consistency` | always
#[test]
fn wrong_sums_towards_one_peer() {
    for (case, byte) in CASES.into_iter().zip([0, 100, 16 * 700 * 9 - 1, 5_000]) {
        assert_trees_caught(case, state("ferret: sums", move |sums| sums[byte] ^= 4));
    }
}

/// Trees of another Δ than that of the base: each of them is consistent in itself.
/// Cheat: 2, 3; one, Ferret | trees, in a session | trees for another Δ towards one party | `silent
/// OT consistency` | always
#[test]
fn trees_of_another_delta() {
    for (case, byte) in CASES.into_iter().zip([0, 7, 15, 3]) {
        assert_trees_caught(case, state("ferret: delta", move |delta| delta[byte] ^= 1));
    }
}

/// Cheat: 2, 3; one, Ferret | answer, in a session | a wrong hash towards one party | `silent OT
/// consistency` | always
#[test]
fn wrong_answers_towards_one_peer() {
    for case in CASES {
        assert_trees_caught(case, message("ferret: answer", |answer| answer[31] ^= 1));
    }
}

/// Cheat: 2, Ferret | expansions, in a session | sums, or an answer, of the expansion before |
/// `silent OT consistency` | always
#[test]
fn what_an_expansion_sent_before() {
    for kind in ["ferret: sums", "ferret: answer"] {
        for (cheater, victim) in [(0, 1), (1, 0)] {
            let mut before = Vec::new();
            let replay = FnAdversary::new().on_outgoing(move |sent, number, payload| {
                match number {
                    0 if sent == kind => before = payload.clone(),
                    1 if sent == kind => *payload = before.clone(),
                    _ => {}
                }
                Action::Send
            });
            let results = shares_with((2, cheater, victim), (TWO_EXPANSIONS, 1), replay);
            mesh::assert_caught(&results, &[cheater], SILENT);
        }
    }
}

/// Cheat: 2, Ferret | expansions, in a session | sums of the other lane | `silent OT consistency` |
/// always
#[test]
fn sums_of_another_lane() {
    let mut parties = silent_parties(2, 2, 65);
    let (tell, told) = mpsc::channel();
    let lanes = &mut parties[0].lanes;
    let first = message("ferret: sums", move |sums| tell.send(sums.clone()).unwrap());
    lanes[0][0].set_adversary(Box::new(first));
    let second = message("ferret: sums", move |sums| *sums = told.recv().unwrap());
    lanes[1][0].set_adversary(Box::new(second));
    mesh::assert_caught(&run_shares(parties, 2 * MAX_DRAW), &[0], SILENT);
}

/// Cheat: 2, 3; one, Ferret | the first base, in a session | another choice bit in all columns |
/// `OT extension consistency` | always
#[test]
fn a_wrong_first_base() {
    for case in CASES {
        let mut draws = 0;
        let spoiled = state("iknp: u", move |u| {
            let stride = u.len() / COLUMNS;
            let wrong = u8::from(draws == 0);
            u.iter_mut().step_by(stride).for_each(|byte| *byte ^= wrong);
            draws += 1;
        });
        let results = shares_with(case, (100, 1), spoiled);
        mesh::assert_caught(&results, &[case.1], EXTENSION);
        mesh::assert_caught_by_one_of(&results, &[case.2], case.1, EXTENSION);
    }
}

/// Other correction bits towards one of several verifiers, with nothing else adapted.
/// Cheat: 3, 4; one, Ferret | Fig. 4, step 3 | other bits towards one party, nothing adapted | `OT
/// extension consistency` | always
#[test]
fn other_corrections_towards_one_peer() {
    for (case, byte) in [((3, 0, 1), 0), ((3, 2, 0), 11), ((4, 1, 3), 5)] {
        for in_transit in [false, true] {
            let adversary = match in_transit {
                true => nth_message("ferret: bits", 0, move |bits| bits[byte] ^= 4),
                false => state("ferret: bits", move |bits| bits[byte] ^= 4),
            };
            let results = shares_with(case, (100, 1), adversary);
            mesh::assert_caught(&results, &[case.1], EXTENSION);
            mesh::assert_caught_by_one_of(&results, &[case.2], case.1, EXTENSION);
        }
    }
}

/// Cheat: 2, 3; one, Ferret | every message, in a session | a byte short, nothing | `message
/// framing` | always
#[test]
fn short_messages_of_expansions() {
    let changes: [fn(&mut Vec<u8>); 2] = [|bytes| bytes.truncate(bytes.len() - 1), Vec::clear];
    for (kind, case) in [
        ("ferret: sums", (2, 0, 1)),
        ("ferret: challenge", (2, 1, 0)),
        ("ferret: answer", (3, 0, 1)),
        ("ferret: bits", (3, 1, 2)),
    ] {
        for change in changes {
            let results = shares_with(case, (100, 1), message(kind, change));
            mesh::assert_caught(&results, &[case.1], "message framing");
        }
    }
}
