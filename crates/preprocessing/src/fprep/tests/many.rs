//! Cheating peers among more than two in leaky ANDs and bucketing (Yang–Wang–Zhang 2020, Figs. 14
//! and 16): one cheater, and all but one colluding.
//!
//! As with two parties, "caught with probability 1/2" is asserted as caught exactly if the guessed
//! bit is wrong.

use symbolon_interaction::BROADCAST_CHECK;
use symbolon_transport::Culprit;
use symbolon_transport::adversary::{FnAdversary, Rate};

use super::*;
use crate::{checks, peers_of};
use mesh::{message, nth_message, state};

const BATCH: Batch = Batch { triples: 7, bucket: 3 };

/// Who cheats, and towards whom.
const CASES: [(u16, u16, u16); 5] = [(3, 0, 1), (3, 1, 2), (3, 2, 0), (5, 0, 4), (5, 3, 1)];

/// How a run with cheats ended.
struct Ended {
    opens: Vec<Preprocessor>,
    results: Vec<Result<Triples>>,
    cheaters: Vec<u16>,
    deltas: Vec<Block>,
}

impl Ended {
    /// Returns a party's own bit of x.
    fn x(&self, party: u16, triple: usize) -> bool {
        self.opens[usize::from(party)].laand.own_x(triple)
    }

    #[track_caller]
    fn assert_caught(&self, by: impl symbolon_transport::adversary::CheckName) {
        mesh::assert_caught(&self.results, &self.cheaters, by);
    }

    /// Asserts that the check caught it, and that the victim names this cheater.
    #[track_caller]
    fn assert_names(
        &self,
        victim: u16,
        cheater: u16,
        by: impl symbolon_transport::adversary::CheckName,
    ) {
        self.assert_caught(by);
        mesh::assert_caught_by_one_of(&self.results, &[victim], cheater, by);
    }

    /// Asserts that nobody was accused, and that the triples are right nevertheless.
    #[track_caller]
    fn assert_harmless(&self) {
        let triples: Vec<&Triples> =
            self.results.iter().map(|result| result.as_ref().unwrap()).collect();
        assert_triples(&triples, &self.deltas);
    }

    /// Asserts that the check of leaky ANDs caught it at all honest parties if `caught`, and that
    /// it was harmless otherwise.
    #[track_caller]
    fn assert_caught_if(&self, caught: bool) {
        if !caught {
            return self.assert_harmless();
        }
        for party in (0..self.results.len() as u16).filter(|p| !self.cheaters.contains(p)) {
            let error = self.results[usize::from(party)].as_ref().err();
            assert_eq!(error, Some(&Error::misbehaved(Culprit::Unknown, checks::LEAKY_AND)));
        }
    }
}

/// Runs one batch in which these parties cheat, each towards these peers with `adversary(cheater,
/// peer)`.
///
/// Bucketing's opening is the last message of a batch. A draw after it lets parties that caught
/// nothing learn that another one did.
fn run_with(
    parties: Vec<Party>,
    cheats: &[(u16, u16)],
    adversary: impl Fn(u16, u16) -> FnAdversary,
) -> Ended {
    run_batch(BATCH, parties, cheats, adversary)
}

/// Like [`run_with`], but runs this batch.
fn run_batch(
    batch: Batch,
    mut parties: Vec<Party>,
    cheats: &[(u16, u16)],
    adversary: impl Fn(u16, u16) -> FnAdversary,
) -> Ended {
    let deltas = parties.iter().map(|party| *party.open.delta).collect();
    for &(cheater, peer) in cheats {
        mesh::cheat(&mut parties[usize::from(cheater)].lanes, peer, adversary(cheater, peer));
    }
    let ended = run(parties, |open, lanes| {
        let triples = open.triples(lanes, batch)?;
        open.shares(lanes, 1)?;
        Ok(triples)
    });
    let (opens, results) = ended.into_iter().unzip();
    let mut cheaters: Vec<u16> = cheats.iter().map(|(cheater, _)| *cheater).collect();
    cheaters.dedup();
    Ended { opens, results, cheaters, deltas }
}

/// Runs one cheater against one victim.
fn cheat(
    (n, cheater, victim): (u16, u16, u16),
    seed: u128,
    adversary: impl Fn() -> FnAdversary,
) -> Ended {
    run_with(parties(n, 1, seed), &[(cheater, victim)], |_, _| adversary())
}

/// Runs one cheater that cheats in the same way towards all.
fn cheat_all(n: u16, cheater: u16, seed: u128, adversary: impl Fn() -> FnAdversary) -> Ended {
    let cheats: Vec<_> =
        peers_of(cheater, usize::from(n)).map(|peer| (cheater, peer.number())).collect();
    run_with(parties(n, 1, seed), &cheats, |_, _| adversary())
}

/// Runs all parties but one as cheaters towards that one, each in its own way.
fn in_league(n: u16, honest: u16, seed: u128, adversary: impl Fn(u16) -> FnAdversary) -> Ended {
    let cheats: Vec<_> =
        peers_of(honest, usize::from(n)).map(|peer| (peer.number(), honest)).collect();
    run_with(parties(n, 1, seed), &cheats, |cheater, _| adversary(cheater))
}

/// Fig. 14 step 3: U ⊕ R for one triple towards one peer. Caught exactly if that peer's x is 1.
/// Cheat: 3, 5; one | Fig. 14, step 3 | U ⊕ R towards one party | `leaky AND` | 1/2, if its x = 1
#[test]
fn wrong_u_towards_one_peer() {
    let mut caught = Rate::default();
    for seed in 0..200 {
        let case = CASES[seed as usize % CASES.len()];
        let triple = seed as usize % BATCH.leaky();
        let ended = cheat(case, seed, || message("leaky AND: U", move |u| u[U * triple + 3] ^= 16));
        let x = ended.x(case.2, triple);
        ended.assert_caught_if(x);
        caught.note(x);
    }
    caught.assert_predicted(0.5, "caught");
    caught.assert_tells(0.5, 0.25);
    caught.assert_tells(0.5, 0.75);
}

/// Fig. 14 step 3: the same U ⊕ R towards all peers. The sum of all S is wrong exactly if the sum
/// of their x is 1.
/// Cheat: 3, 5; one | Fig. 14, step 3 | U ⊕ R towards all | `leaky AND` | 1/2, if the sum of x is 1
#[test]
fn wrong_u_towards_all_peers() {
    for seed in 0..24 {
        let n = [3, 5][seed as usize % 2];
        let cheater = seed as u16 % n;
        let ended = cheat_all(n, cheater, 200 + seed, || message("leaky AND: U", |u| u[5] ^= 1));
        let x =
            peers_of(cheater, usize::from(n)).fold(false, |x, peer| x ^ ended.x(peer.number(), 0));
        ended.assert_caught_if(x);
    }
}

/// Fig. 14 step 3: all but one party collude, with a wrong U each for one triple. Caught exactly if
/// the honest party's x is 1. With the same R, an even number of them cancels and has no effect.
/// Cheat: 3, 5; n − 1 | Fig. 14, step 3 | U ⊕ R of all but one | `leaky AND` | 1/2, if x = 1
#[test]
fn wrong_u_of_all_but_one() {
    for seed in 0..24 {
        let n = [3, 5][seed as usize % 2];
        let honest = seed as u16 % n;
        let ended = in_league(n, honest, 300 + seed, |cheater| {
            message("leaky AND: U", move |u| u[usize::from(cheater)] ^= 1)
        });
        ended.assert_caught_if(ended.x(honest, 0));
        let ended = in_league(n, honest, 300 + seed, |_| message("leaky AND: U", |u| u[9] ^= 1));
        ended.assert_harmless();
    }
}

/// Fig. 14 step 4: a wrong S, and so a wrong d or V; of one party, and of all but one. Always
/// caught.
/// Cheat: 3, 5; one and n − 1 | Fig. 14, step 4 | a wrong S | `leaky AND` | always
#[test]
fn wrong_s_and_d() {
    for n in [3, 5] {
        for party in 0..n {
            for bit in [0, 8, 8 * U - 1] {
                // The state is changed at the channel to the first peer.
                let first = u16::from(party == 0);
                let s = move |s: &mut [u8]| s[WORD + bit / 8] ^= 1 << (bit % 8);
                cheat((n, party, first), 31, || state("leaky AND: S", s)).assert_caught_if(true);
            }
            let cheats: Vec<_> =
                peers_of(party, usize::from(n)).map(|p| (p.number(), u16::from(p == 0))).collect();
            let ended = run_with(parties(n, 1, 32), &cheats, |cheater, _| {
                state("leaky AND: S", move |s| s[WORD * usize::from(cheater)] ^= 1)
            });
            ended.assert_caught_if(true);
        }
    }
}

/// Fig. 14 step 5: a wrong V of one party, and of all but one. Always caught.
/// Cheat: 3, 5; one and n − 1 | Fig. 14, step 5 | a wrong V | `leaky AND` | always
#[test]
fn wrong_v() {
    for n in [3, 5] {
        for party in 0..n {
            let first = u16::from(party == 0);
            cheat((n, party, first), 33, || state("leaky AND: V", |v| v[7] ^= 0x80))
                .assert_caught_if(true);
            let cheats: Vec<_> =
                peers_of(party, usize::from(n)).map(|p| (p.number(), u16::from(p == 0))).collect();
            let ended = run_with(parties(n, 1, 34), &cheats, |cheater, _| {
                state("leaky AND: V", move |v| v[usize::from(cheater)] ^= 1)
            });
            ended.assert_caught_if(true);
        }
    }
}

/// Fig. 14, step 5: a different masked V towards one peer, and different blinding for all of its
/// bits. Always caught: the product with one V is off by ρ or by a random factor.
/// Cheat: 3, 5; one | Fig. 14, step 5 | another masked V, or other blinding, towards one party |
/// `leaky AND` | always
#[test]
fn equivocated_blinding_of_v() {
    for case in CASES {
        let masked = || nth_message("leaky AND: masked V", 0, |v| v[WORD - 1] ^= 0x80);
        cheat(case, 38, masked).assert_caught_if(true);
        let flip = |c: &mut Vec<u8>| c.iter_mut().step_by(WORD).for_each(|byte| *byte ^= 1);
        cheat(case, 39, || nth_message("leaky AND: blinding", 0, flip)).assert_caught_if(true);
    }
}

/// Fig. 14: a Δ whose last bit makes the sum of all last bits 0, so that d cannot correct z. Caught
/// unless r = x ∧ y in all triples.
/// Cheat: 3, 5; one | Fig. 14, step 4 | Δ with the wrong last bit | `leaky AND` | 1 − 2^-21
#[test]
fn delta_with_the_wrong_lsb() {
    for n in [3, 5] {
        for cheater in 0..n {
            let mut deltas = deltas(n, 35);
            deltas[usize::from(cheater)] ^= Block(1);
            let ended = run_with(parties_under(&deltas, 1, 35), &[], |_, _| FnAdversary::new());
            let ended = Ended { cheaters: vec![cheater], ..ended };
            ended.assert_caught_if(true);
        }
    }
}

/// Every commitment: one peer receives a different one. The echo of the digest always catches it.
/// Cheat: 3, 5; one | every commitment | another one to one party | `broadcast echo` | always
#[test]
fn equivocated_commitments() {
    for case in CASES {
        for kind in ["leaky AND: commitment to d", "leaky AND: commitment to blinded V"] {
            cheat(case, 36, || message(kind, |c| c[31] ^= 1)).assert_caught(BROADCAST_CHECK);
        }
    }
}

/// Every opening of a commitment: one peer receives a different one. The commitment always catches
/// it.
/// Cheat: 3, 5; one | every opening | another one to one party | the step's commitment | always
#[test]
fn equivocated_openings() {
    for case in CASES {
        let (_, cheater, victim) = case;
        let seed = BATCH.leaky().div_ceil(8);
        for (kind, place, check) in [
            ("leaky AND: d", 0, checks::LEAKY_AND_D),
            ("leaky AND: d", seed, checks::LEAKY_AND_D),
            ("leaky AND: blinded V", 0, checks::LEAKY_BLINDED_V),
        ] {
            cheat(case, 37, || message(kind, move |open| open[32 + place] ^= 1))
                .assert_names(victim, cheater, check);
        }
    }
}

/// The echo of broadcasts itself is wrong towards one peer, which gains the cheater nothing. Always
/// caught.
/// Cheat: 3, 5; one | echoes of a batch | a wrong echo towards one party | `broadcast echo` |
/// always
#[test]
fn wrong_echo() {
    for case in CASES {
        for index in 0..3 {
            cheat(case, 38, || nth_message("broadcast echo", index, |echo| echo[0] ^= 1))
                .assert_caught(BROADCAST_CHECK);
        }
    }
}

/// Fig. 16: one wrong opened d towards one peer, towards all, and the same from all but one party.
/// The sum of MACs always catches it, even if the errors cancel.
/// Cheat: 3, 5; one and n − 1 | Fig. 16 | a lie in one opened bit towards one, all, and of all but
/// one | `bucketing MAC` | always
#[test]
fn lies_in_bucketing() {
    let lie = || message("bucketing: d", |d| d[0] ^= 2);
    for case in CASES {
        let (_, cheater, victim) = case;
        cheat(case, 39, lie).assert_names(victim, cheater, checks::BUCKETING);
        cheat(case, 39, || message("bucketing: MACs", |macs| macs[10] ^= 1)).assert_names(
            victim,
            cheater,
            checks::BUCKETING,
        );
    }
    for n in [3, 5] {
        for party in 0..n {
            cheat_all(n, party, 40, lie).assert_caught(checks::BUCKETING);
            // The first of several is named.
            let first = u16::from(party == 0);
            in_league(n, party, 41, |_| lie()).assert_names(party, first, checks::BUCKETING);
        }
    }
}

/// As above, everywhere. One party lies to one peer in any opened d or in any byte of the sum; or
/// all but one party tell the same lie.
/// Cheat: 3, 5; one and n − 1 | Fig. 16 | any wrong bit d, or byte of the sum of MACs | `bucketing
/// MAC` | always
#[test]
fn lies_in_any_bit_of_bucketing() {
    let in_d = |bit: usize| message("bucketing: d", move |d| d[bit / 8] ^= 1 << (bit % 8));
    let in_sum = |byte: usize| message("bucketing: MACs", move |macs| macs[byte] ^= 1);
    for case in CASES {
        let (n, cheater, victim) = case;
        let caught = |adversary: &dyn Fn() -> FnAdversary| {
            run_batch(BATCH, parties(n, 1, 43), &[(cheater, victim)], |_, _| adversary())
                .assert_names(victim, cheater, checks::BUCKETING);
        };
        (0..BATCH.shifted()).for_each(|bit| caught(&|| in_d(bit)));
        (0..16).for_each(|byte| caught(&|| in_sum(byte)));
    }
    for n in [3, 5] {
        for honest in 0..n {
            let cheats: Vec<_> =
                peers_of(honest, usize::from(n)).map(|peer| (peer.number(), honest)).collect();
            let first = u16::from(honest == 0);
            run_batch(BATCH, parties(n, 1, 44), &cheats, |_, _| in_d(1)).assert_names(
                honest,
                first,
                checks::BUCKETING,
            );
        }
    }
}

/// As above, but on a second lane's messages, with an honest first lane: a wrong U for every
/// triple.
/// Cheat: 3; one | Fig. 14, second lane | a wrong U for every triple | `leaky AND` | always
#[test]
fn cheat_on_another_lane() {
    let batch = Batch { triples: 3_500, bucket: 3 };
    assert!(batch.leaky() > laand::CHUNK, "the second lane has work");
    for (cheater, place) in [(0, 1), (1, 0), (2, 0)] {
        let mut parties = parties(3, 2, 42);
        let adversary = message("leaky AND: U", |u| u.iter_mut().for_each(|byte| *byte ^= 1));
        parties[usize::from(cheater)].lanes[1][place].set_adversary(Box::new(adversary));
        let ended = run(parties, |open, lanes| open.triples(lanes, batch));
        let results: Vec<_> = ended.into_iter().map(|(_, result)| result).collect();
        mesh::assert_caught(&results, &[cheater], checks::LEAKY_AND);
    }
}
