//! The cheating peer in leaky ANDs and bucketing (Yang–Wang–Zhang 2020, Figs. 14 and 16). Each test
//! is one cheat, and the check that must catch it.
//!
//! The tests inspect the honest party, so they assert the meaning of "caught with probability 1/2":
//! caught exactly if the guessed bit is wrong.

use std::sync::mpsc;
use std::time::Duration;

use symbolon_primitives::{CommitContext, commit};
use symbolon_transport::Check;
use symbolon_transport::adversary::{Action, FnAdversary, Rate};

use super::*;
use crate::checks;
use mesh::{message, state};

const BATCH: Batch = Batch { triples: 7, bucket: 3 };

/// How a run with a cheat ended.
struct Ended {
    /// The honest party.
    open: Preprocessor,
    results: Vec<Result<Triples>>,
    cheater: u16,
    deltas: Vec<Block>,
}

impl Ended {
    /// Returns the honest party's own bit of a triple's x.
    fn x(&self, triple: usize) -> bool {
        self.open.laand.own_x(triple)
    }

    #[track_caller]
    fn assert_caught(&self, by: impl symbolon_transport::adversary::CheckName) {
        mesh::assert_caught(&self.results, &[self.cheater], by);
    }

    /// Asserts that nobody was accused, and that the triples are right nevertheless.
    #[track_caller]
    fn assert_harmless(&self) {
        let triples: Vec<&Triples> =
            self.results.iter().map(|result| result.as_ref().unwrap()).collect();
        assert_triples(&triples, &self.deltas);
    }
}

/// Runs one batch with an adversary on each side: the cheater's, and the honest party's, which must
/// not change anything.
fn run_with(cheater: u16, mut parties: Vec<Party>, cheat: FnAdversary, spy: FnAdversary) -> Ended {
    let deltas = parties.iter().map(|party| *party.open.delta).collect();
    mesh::cheat(&mut parties[usize::from(cheater)].lanes, 1 - cheater, cheat);
    mesh::listen(&mut parties[usize::from(1 - cheater)].lanes, cheater, spy);
    let ended = run(parties, |open, lanes| open.triples(lanes, BATCH));
    let (mut opens, results): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    let open = opens.swap_remove(usize::from(1 - cheater));
    Ended { open, results, cheater, deltas }
}

fn cheat(cheater: u16, seed: u128, cheat: FnAdversary) -> Ended {
    run_with(cheater, parties(2, 1, seed), cheat, FnAdversary::new())
}

/// Like [`cheat`], but at ρ = 80, where U and S have 88 bits.
fn cheat_at_80(cheater: u16, seed: u128, cheat: FnAdversary) -> Ended {
    let mut parties = parties(2, 1, seed);
    parties.iter_mut().for_each(|party| party.open.rho = 80);
    run_with(cheater, parties, cheat, FnAdversary::new())
}

/// Fig. 14 step 3: U ⊕ R for one triple. The check of step 5 catches it exactly if the honest
/// party's x is 1, that is, half of the time; if x is 0 it has no effect.
/// Cheat: 2 | Fig. 14, step 3 | U ⊕ R for one triple: a guess of x | `leaky AND` | 1/2, if x = 1
#[test]
fn wrong_u_on_one_triple() {
    let mut caught = Rate::default();
    for seed in 0..200 {
        let triple = seed as usize % BATCH.leaky();
        let ended = cheat(
            seed as u16 % 2,
            seed,
            message("leaky AND: U", move |u| u[U * triple + 3] ^= 0x10),
        );
        caught.note(ended.x(triple));
        if ended.x(triple) {
            ended.assert_caught(checks::LEAKY_AND);
        } else {
            ended.assert_harmless();
        }
    }
    caught.assert_predicted(0.5, "caught");
    caught.assert_tells(0.5, 0.25);
    caught.assert_tells(0.5, 0.75);
}

/// Fig. 14 step 3: U ⊕ R for k triples. It goes unnoticed only if x is 0 in all of them (2^-k).
/// Cheat: 2 | Fig. 14, step 3 | U ⊕ R for k triples | `leaky AND` | 1 − 2^-k, if an x is 1
#[test]
fn wrong_u_on_many_triples() {
    wrong_u_on(&[(2, 300), (3, 500), (5, 16), (21, 16)]);
}

/// Cheat: 2 | Fig. 14, step 3 | U ⊕ R for k triples, many times, k = 1 to 5 | `leaky AND` | 1 −
/// 2^-k
#[test]
#[ignore = "a minute"]
fn many_wrong_u() {
    wrong_u_on(&[(1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000), (5, 16_000)]);
}

/// Measures how often U ⊕ R for k triples goes unnoticed, for each k in this many runs.
fn wrong_u_on(cases: &[(usize, u128)]) {
    for &(k, runs) in cases {
        let mut unnoticed = Rate::default();
        for seed in 0..runs {
            let ended = cheat(
                seed as u16 % 2,
                1000 + seed,
                message("leaky AND: U", move |u| {
                    u.chunks_exact_mut(U).take(k).for_each(|u| u[U - 1] ^= 1);
                }),
            );
            let wrong = (0..k).any(|triple| ended.x(triple));
            unnoticed.note(!wrong);
            if wrong {
                ended.assert_caught(checks::LEAKY_AND);
            } else {
                ended.assert_harmless();
            }
        }
        let predicted = 0.5f64.powi(k as i32);
        unnoticed.assert_predicted(predicted, &format!("{k} triples unnoticed"));
        if k < 4 || runs > 1_000 {
            unnoticed.assert_tells(predicted, 2.0 * predicted);
            unnoticed.assert_tells(predicted, 0.0);
        }
    }
}

/// Fig. 14 step 4: a wrong S before d is committed to. With a wrong lsb, d is flipped; with any
/// other wrong bit, V is wrong. The check of step 5 always catches it.
/// Cheat: 2 | Fig. 14, step 4 | a wrong S: a flipped d, or a wrong T | `leaky AND` | always
#[test]
fn wrong_s() {
    for cheater in [0, 1] {
        for bit in [0, 1, 8 * U - 1] {
            let ended = cheat(
                cheater,
                5,
                state("leaky AND: S", move |s| s[WORD + bit / 8] ^= 1 << (bit % 8)),
            );
            ended.assert_caught(checks::LEAKY_AND);
        }
    }
}

/// Fig. 14 steps 3 and 4 where ρ requires more bits of U and S: a wrong one among those that are
/// absent at ρ = 40. In U it is caught if the honest party's x is 1, in S always.
/// Cheat: 2 | Fig. 14, steps 3 and 4 | at ρ = 80, a wrong U or S in the bits that there are not at
/// ρ = 40 | `leaky AND` | 1/2, if x = 1; always
#[test]
fn wrong_u_and_s_in_their_upper_bits() {
    let mut caught = Rate::default();
    for seed in 0..100 {
        let triple = seed as usize % BATCH.leaky();
        let adversary = message("leaky AND: U", move |u| {
            assert_eq!(u.len(), 11 * BATCH.leaky());
            u[11 * triple + 8] ^= 0x10;
        });
        let ended = cheat_at_80(seed as u16 % 2, seed, adversary);
        caught.note(ended.x(triple));
        if ended.x(triple) {
            ended.assert_caught(checks::LEAKY_AND);
        } else {
            ended.assert_harmless();
        }
    }
    caught.assert_predicted(0.5, "caught");
    for (cheater, bit) in [(0, 48), (1, 87)] {
        let adversary = state("leaky AND: S", move |s| s[16 + bit / 8] ^= 1 << (bit % 8));
        cheat_at_80(cheater, 5, adversary).assert_caught(checks::LEAKY_AND);
    }
}

/// Fig. 14 step 4: S ⊕ Δ of the cheater. Its own T stays right whichever d results, but the honest
/// party's does not. The check of step 5 always catches it. For party 1, whose lsb(Δ) is 1, this is
/// a flipped d with everything adapted that the cheater can adapt.
/// Cheat: 2 | Fig. 14, step 4 | a flipped d, with everything adapted | `leaky AND` | always
#[test]
fn flipped_d_with_everything_adapted() {
    for cheater in [0, 1] {
        let delta = deltas(2, 6)[usize::from(cheater)].to_bytes();
        let ended = cheat(
            cheater,
            6,
            state("leaky AND: S", move |s| {
                s.iter_mut().zip(delta).take(U).for_each(|(s, d)| *s ^= d)
            }),
        );
        ended.assert_caught(checks::LEAKY_AND);
    }
}

/// Fig. 14 step 4: both parties' Δ have the same lsb, so d cannot correct z. The check of step 5
/// catches it unless r = x ∧ y in all triples.
/// Cheat: 2 | Fig. 14, step 4 | Δ with the wrong last bit | `leaky AND` | 1 − 2^-21
#[test]
fn delta_with_the_wrong_lsb() {
    let (a, b) = (deltas(2, 7)[0], deltas(2, 7)[1]);
    for (cheater, deltas) in [(0, [a.with_lsb(true), b]), (1, [a, b.with_lsb(false)])] {
        let parties = parties_under(&deltas, 1, 7);
        let ended = run_with(cheater, parties, FnAdversary::new(), FnAdversary::new());
        ended.assert_caught(checks::LEAKY_AND);
    }
}

/// Fig. 14 step 4: d is opened differently from the commitment, which always catches it.
/// Cheat: 2 | Fig. 14, step 4 | another d than committed | `leaky AND d commitment` | always
#[test]
fn another_d_than_committed() {
    for cheater in [0, 1] {
        let flipped = cheat(cheater, 8, message("leaky AND: d", |open| open[32] ^= 1));
        flipped.assert_caught("leaky AND d commitment");
        let nonce = cheat(cheater, 8, message("leaky AND: d", |open| open[31] ^= 1));
        nonce.assert_caught("leaky AND d commitment");
    }
}

/// Fig. 14 step 4: bits after the last d, honestly committed to and opened. Always rejected: a
/// message has only one form.
/// Cheat: 2 | Fig. 14, step 4 | bits after the last d | `leaky AND d commitment` | always
#[test]
fn garbage_behind_the_last_d() {
    for cheater in [0, 1] {
        let context = CommitContext {
            domain: "leaky AND: commitment to d",
            session: SESSION.as_bytes(),
            party: cheater,
            index: 0,
        };
        // 21 bits in three bytes, and the seed.
        let garbage = [0xff; 3 + 32];
        let (commitment, opening) =
            commit::commit(&context, &garbage, &mut Prg::from_seed(Block(1)));
        let ended = cheat(
            cheater,
            9,
            FnAdversary::new().on_outgoing(move |kind, _, payload| {
                match kind {
                    "leaky AND: commitment to d" => payload.copy_from_slice(&commitment.0),
                    "leaky AND: d" => *payload = [&opening.nonce[..], &garbage].concat(),
                    _ => {}
                }
                Action::Send
            }),
        );
        ended.assert_caught("leaky AND d commitment");
    }
}

/// Fig. 14 step 5: a wrong V before it is committed to, so the two V differ. Always caught.
/// Cheat: 2 | Fig. 14, step 5 | a wrong V | `leaky AND` | always
#[test]
fn wrong_v() {
    for cheater in [0, 1] {
        for bit in [0, 8 * WORD - 1] {
            let v = state("leaky AND: V", move |v| v[bit / 8] ^= 1 << (bit % 8));
            cheat(cheater, 10, v).assert_caught(checks::LEAKY_AND);
        }
    }
}

/// Returns the bits that make up a party's part of ρ in a run with this seed: the first that its
/// lane draws.
fn bits_of_rho(party: u16, seed: u128, rho: u32) -> BitVec {
    let mut parties = parties(2, 1, seed);
    let lane = &mut parties[usize::from(party)].open.lanes[0];
    lane.random_bits(laand::zero_test_bits(ULength::for_rho(rho).width()))
}

/// The check of Fig. 14, step 5: a wrong R for one of the bits that make up ρ. It is noticed
/// exactly if the honest party's bit is 1; otherwise it has no effect.
/// Cheat: 2 | Fig. 14, step 5 | a wrong R for one bit of ρ | `leaky AND`, if the bit is 1; nothing
/// else depends on it | 1/2
#[test]
fn a_wrong_blinding_tells_a_bit_of_rho() {
    const BIT: usize = 77;
    let mut caught = Rate::default();
    for seed in 0..200 {
        let wrong = |at| message("leaky AND: blinding", move |sent| sent[at] ^= 4);
        let cheater = seed as u16 % 2;
        let (rho, ended) = match seed / 2 % 2 {
            0 => (40, cheat(cheater, seed, wrong(WORD * BIT))),
            _ => (80, cheat_at_80(cheater, seed, wrong(16 * BIT + 15))),
        };
        let bit = bits_of_rho(1 - cheater, seed, rho).get(BIT);
        caught.note(bit);
        if bit {
            ended.assert_caught(checks::LEAKY_AND);
        } else {
            ended.assert_harmless();
        }
    }
    caught.assert_predicted(0.5, "caught");
    caught.assert_tells(0.5, 0.25);
    caught.assert_tells(0.5, 0.75);
}

/// The same step: a V other than the one computed. Always caught.
/// Cheat: 2 | Fig. 14, step 5 | another masked V | `leaky AND` | always
#[test]
fn another_masked_v() {
    for cheater in [0, 1] {
        for bit in [0, 8 * WORD - 1] {
            let wrong = message("leaky AND: masked V", move |v| v[bit / 8] ^= 1 << (bit % 8));
            cheat(cheater, 14, wrong).assert_caught(checks::LEAKY_AND);
        }
        let wrong = message("leaky AND: masked V", |v| v[15] ^= 1);
        cheat_at_80(cheater, 14, wrong).assert_caught(checks::LEAKY_AND);
    }
}

/// The same step: a different R for all bits, and a matching V, which changes only the mask of V.
/// With an R that matches only some of the bits, it is caught.
/// Cheat: 2 | Fig. 14, step 5 | another R, and the masked V that fits it | none, and the triples
/// are right; `leaky AND` if it fits some bits only | always
#[test]
fn another_mask_of_v() {
    for (cheater, bits) in [(0, 48 * WORD), (1, 48 * WORD), (0, 24 * WORD), (1, 24 * WORD)] {
        let cheat_all = FnAdversary::new().on_outgoing(move |kind, _, payload| {
            match kind {
                "leaky AND: blinding" => {
                    payload.chunks_mut(WORD).take(bits).for_each(|sent| sent[2] ^= 9);
                }
                "leaky AND: masked V" => payload[2] ^= 9,
                _ => {}
            }
            Action::Send
        });
        let ended = cheat(cheater, 15, cheat_all);
        match bits == 48 * WORD {
            true => ended.assert_harmless(),
            false => ended.assert_caught(checks::LEAKY_AND),
        }
    }
}

/// Returns adversaries for a cheater that waits for the honest party's messages of the given kinds
/// with number `index`, and sends the same content: the cheater's adversary, and the honest party's
/// spy. With `refuse` the honest party must end after the first kind's message.
fn echo(
    kinds: &'static [&'static str],
    index: usize,
    refuse: bool,
    mut replace: impl FnMut(&mut Vec<u8>, Vec<u8>) + Send + 'static,
) -> (FnAdversary, FnAdversary) {
    let (tell, told) = mpsc::channel();
    let cheat = FnAdversary::new().on_outgoing(move |kind, i, payload| {
        if kinds.contains(&kind) && i == index {
            // If the honest party has caught the cheat already, it sends nothing more.
            if let Ok(theirs) = told.recv_timeout(Duration::from_secs(20)) {
                replace(payload, theirs);
            }
        }
        Action::Send
    });
    let spy = FnAdversary::new().on_outgoing(move |kind, i, payload: &mut Vec<u8>| {
        if kinds.contains(&kind) && i == index {
            assert!(!refuse || kind == kinds[0], "opened after an echo");
            // Nobody receives any more once the cheater was caught.
            let _ = tell.send(payload.clone());
        }
        Action::Send
    });
    (cheat, spy)
}

/// Figs. 14 and 16, every commitment: a rushing peer echoes our commitment, and then our opening,
/// so that "both values are equal" or "the coin is zero" would hold. Always rejected before
/// anything is opened.
/// Cheat: 2 | every commitment | our commitment and opening echoed | the step's commitment | always
#[test]
fn echoed_commitments() {
    const CASES: [(&[&str], usize, &str); 2] = [
        (&["leaky AND: commitment to d", "leaky AND: d"], 0, "leaky AND d commitment"),
        (
            &["leaky AND: commitment to blinded V", "leaky AND: blinded V"],
            0,
            "leaky AND blinded V commitment",
        ),
    ];
    for cheater in [0, 1] {
        for (kinds, index, check) in CASES {
            let (cheat, spy) = echo(kinds, index, true, |payload, theirs| *payload = theirs);
            run_with(cheater, parties(2, 1, 11), cheat, spy).assert_caught(check);
        }
    }
}

/// Fig. 14 step 5: a rushing peer waits for our V and opens its own commitment to it. The
/// commitment always catches it.
/// Cheat: 2 | Fig. 14, step 5 | our V opened for another commitment | `leaky AND blinded V
/// commitment` | always
#[test]
fn our_v_opened_for_another_commitment() {
    for cheater in [0, 1] {
        // The peer's own V would be right, so it is made wrong first.
        let (cheat, spy) = echo(&["leaky AND: blinded V"], 0, false, |payload, theirs| {
            payload[32..].copy_from_slice(&theirs[32..]);
        });
        let cheat = cheat.on_state(|at, data| {
            if at == "leaky AND: V" {
                data[0] ^= 1;
            }
        });
        run_with(cheater, parties(2, 1, 12), cheat, spy)
            .assert_caught("leaky AND blinded V commitment");
    }
}

/// The coin: a seed other than the committed one is opened, to steer χ or the buckets. The
/// commitment to d, which is one to the seed, always catches it.
/// Cheat: 2 | coin of a batch | another seed than committed | `leaky AND d commitment` | always
#[test]
fn another_seed_than_committed() {
    for cheater in [0, 1] {
        for byte in 0..32 {
            let adversary = message("leaky AND: d", move |open| {
                let seed = open.len() - 32;
                open[seed + byte] ^= 1;
            });
            cheat(cheater, 13, adversary).assert_caught(checks::LEAKY_AND_D);
        }
    }
}

/// All commitments: an earlier commitment and its opening in the same step, from the first batch in
/// the second. Each is bound to its place. Always caught.
/// Cheat: 2 | every commitment | a commitment and opening from before | the step's commitment |
/// always
#[test]
fn replayed_commitments() {
    const CASES: [([&str; 2], usize, Check); 2] = [
        (["leaky AND: commitment to d", "leaky AND: d"], 1, checks::LEAKY_AND_D),
        (
            ["leaky AND: commitment to blinded V", "leaky AND: blinded V"],
            1,
            checks::LEAKY_BLINDED_V,
        ),
    ];
    for cheater in [0, 1] {
        for (kinds, again, check) in CASES {
            let mut first: [Vec<u8>; 2] = Default::default();
            let replay = FnAdversary::new().on_outgoing(move |kind, index, payload| {
                if let Some(which) = kinds.iter().position(|k| *k == kind) {
                    match index {
                        0 => first[which].clone_from(payload),
                        _ if index == again => payload.clone_from(&first[which]),
                        _ => {}
                    }
                }
                Action::Send
            });
            let mut parties = parties(2, 1, 18);
            parties[cheater].lanes[0][0].set_adversary(Box::new(replay));
            let ended = run(parties, |open, lanes| {
                open.triples(lanes, BATCH)?;
                open.triples(lanes, BATCH)
            });
            let expected = Error::misbehaved(cheater as u16, check);
            assert_eq!(ended[1 - cheater].1.as_ref().err(), Some(&expected));
        }
    }
}

/// The coins of three batches: any earlier commitment and its opening in any later toss. Always
/// caught.
/// Cheat: 2 | coins | any earlier toss in any later one, three batches | `leaky AND d commitment` |
/// always
#[test]
fn replayed_tosses() {
    const BATCHES: usize = 3;
    const KINDS: [&str; 2] = ["leaky AND: commitment to d", "leaky AND: d"];
    for again in 1..BATCHES {
        for from in 0..again {
            let mut kept: [Vec<u8>; 2] = Default::default();
            let replay = FnAdversary::new().on_outgoing(move |kind, index, payload| {
                if let Some(which) = KINDS.iter().position(|k| *k == kind) {
                    if index == from {
                        kept[which].clone_from(payload);
                    } else if index == again {
                        payload.clone_from(&kept[which]);
                    }
                }
                Action::Send
            });
            let mut parties = parties(2, 1, 19);
            parties[0].lanes[0][0].set_adversary(Box::new(replay));
            let ended = run(parties, |open, lanes| {
                (0..BATCHES).try_for_each(|_| open.triples(lanes, BATCH).map(drop))
            });
            let results: Vec<Result<()>> = ended.into_iter().map(|(_, result)| result).collect();
            mesh::assert_caught(&results, &[0], checks::LEAKY_AND_D);
        }
    }
}

/// Fig. 16: one wrong opened d, with the honest sum of the MACs. The sum always catches it
/// before anything that depends on d is released.
/// Cheat: 2 | Fig. 16 | a lie in one opened bit, with the honest sum of MACs | `bucketing MAC` |
/// always
#[test]
fn lie_in_one_opened_bit() {
    for cheater in [0, 1] {
        for bit in 0..BATCH.triples * (BATCH.bucket - 1) {
            let lie = message("bucketing: d", move |d| d[bit / 8] ^= 1 << (bit % 8));
            cheat(cheater, 14, lie).assert_caught("bucketing MAC");
        }
    }
}

/// Fig. 16: two wrong opened d, which would cancel if they had the same coefficient in the sum.
/// Always caught.
/// Cheat: 2 | Fig. 16 | lies in two opened bits | `bucketing MAC` | always
#[test]
fn lies_in_two_opened_bits() {
    let bits = BATCH.triples * (BATCH.bucket - 1);
    for (first, second) in (0..bits).flat_map(|bit| (0..bit).map(move |other| (other, bit))) {
        let lie = message("bucketing: d", move |d| {
            d[first / 8] ^= 1 << (first % 8);
            d[second / 8] ^= 1 << (second % 8);
        });
        cheat(0, 14, lie).assert_caught("bucketing MAC");
    }
}

/// Fig. 16: a lie with a made-up sum; honest bits with a sum that is wrong in any bit; bits after
/// the last d. Always caught.
/// Cheat: 2 | Fig. 16 | a made-up sum, one that is off in a bit; bits after the last | `bucketing
/// MAC` | always
#[test]
fn made_up_sum_and_garbage_padding() {
    for cheater in [0, 1] {
        for lie in [0, 1] {
            let lie = FnAdversary::new().on_outgoing(move |kind, _, payload| {
                match kind {
                    "bucketing: d" => payload[0] ^= lie,
                    "bucketing: MACs" => payload.fill(0x77),
                    _ => {}
                }
                Action::Send
            });
            cheat(cheater, 15, lie).assert_caught("bucketing MAC");
        }
        for bit in 0..128 {
            let sum = message("bucketing: MACs", move |sum| sum[bit / 8] ^= 1 << (bit % 8));
            cheat(cheater, 15, sum).assert_caught("bucketing MAC");
        }
        // 14 bits in two bytes.
        let padding = message("bucketing: d", |d| d[1] ^= 0x80);
        cheat(cheater, 15, padding).assert_caught("bucketing MAC");
    }
}

/// Fig. 16: a peer waits for our sum and sends it back as its own. Always caught, because the two
/// sums are of MACs under different Δ.
/// Cheat: 2 | Fig. 16 | our sum sent back as theirs | `bucketing MAC` | always
#[test]
fn our_sum_as_theirs() {
    for cheater in [0, 1] {
        let (cheat, spy) = echo(&["bucketing: MACs"], 0, true, |payload, theirs| *payload = theirs);
        run_with(cheater, parties(2, 1, 21), cheat, spy).assert_caught("bucketing MAC");
    }
}

/// Any message: short, empty or long. The framing always catches it.
/// Cheat: 2 | every message | short, empty and long; MACs' digest left out | `message framing` |
/// always
#[test]
fn short_and_long_messages() {
    for kind in [
        "leaky AND: U",
        "leaky AND: commitment to d",
        "leaky AND: d",
        "leaky AND: blinding",
        "leaky AND: masked V",
        "leaky AND: commitment to blinded V",
        "leaky AND: blinded V",
        "bucketing: d",
        "bucketing: MACs",
    ] {
        for change in [
            |p: &mut Vec<u8>| p.truncate(p.len() - 1),
            |p: &mut Vec<u8>| p.truncate(1),
            |p: &mut Vec<u8>| p.clear(),
            |p: &mut Vec<u8>| p.push(0),
        ] {
            cheat(0, 16, message(kind, change)).assert_caught("message framing");
        }
    }
}

/// Fig. 14 on a second lane, with an honest first one: different choice bits in every column, and a
/// wrong U for every triple. The party ends with the lane's failed check. Always caught.
/// Cheat: 2, two lanes | Fig. 14 | cheats on the second lane | `OT extension consistency`, `leaky
/// AND` | always
#[test]
fn cheats_on_another_lane() {
    let batch = Batch { triples: 5_000, bucket: 3 };
    assert!(batch.leaky() > laand::CHUNK, "the second lane has work");
    let cases = [
        (
            symbolon_ot::checks::EXTENSION,
            FnAdversary::new().on_state(|point, u| {
                if point == "iknp: u" {
                    let column = u.len() / COLUMNS;
                    u.iter_mut().step_by(column).for_each(|byte| *byte ^= 1);
                }
            }),
        ),
        (checks::LEAKY_AND, message("leaky AND: U", |u| u.iter_mut().for_each(|byte| *byte ^= 1))),
    ];
    for (cheater, (check, adversary)) in [1, 0].into_iter().zip(cases) {
        let mut parties = parties(2, 2, 17);
        parties[cheater].lanes[1][0].set_adversary(Box::new(adversary));
        let ended = run(parties, |open, lanes| open.triples(lanes, batch));
        let expected = Error::misbehaved(cheater as u16, check);
        assert_eq!(ended[1 - cheater].1.as_ref().err(), Some(&expected));
    }
}
