//! Cheats that combine and adapt: two corrupt parties, one step and a later one, two lanes, and
//! what a cheater does once it knows that a guess was right.
//!
//! As everywhere, the tests assert that a guess is caught exactly if it is wrong.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use symbolon_interaction::BROADCAST_CHECK;
use symbolon_ot::TreeDepth;
use symbolon_transport::adversary::{Action, Adversary, FnAdversary, Rate};

use super::bits::agree;
use super::*;
use crate::checks;
use mesh::{message, state};

const BATCH: Batch = Batch { triples: 7, bucket: 3 };

/// A guess of one bit of the peer's Δ: its position and its value.
#[derive(Clone, Copy)]
struct Guess {
    column: usize,
    bit: bool,
}

impl Guess {
    /// Guesses any bit but the last, which is public.
    fn any(number: u128) -> Guess {
        Guess { column: 1 + number as usize % 127, bit: number.is_multiple_of(3) }
    }

    fn is_right(self, delta: Block) -> bool {
        (delta_bit(delta, self.column) == 1) == self.bit
    }
}

/// Guesses one bit of Δ in each of the first draws, and then the x of the first triples through
/// their U.
///
/// It flips the last row of a column, whose coefficient is 1, and adapts its hash if it guesses
/// that the bit is 1.
fn guessing(guesses: Vec<Guess>, triples: Vec<usize>) -> FnAdversary {
    let (mut draw, hashes) = (0, guesses.clone());
    let adversary = FnAdversary::new().on_state(move |at, u| {
        if at == "iknp: u" {
            if let Some(guess) = guesses.get(draw) {
                let stride = u.len() / COLUMNS;
                u[(guess.column + 1) * stride - 1] ^= 0x80;
            }
            draw += 1;
        }
    });
    adversary.on_outgoing(move |kind, index, payload| {
        if kind == "aBit: check"
            && let Some(guess) = hashes.get(index).filter(|guess| guess.bit)
        {
            payload[16 * (1 + guess.column) + 15] ^= 0x80;
        }
        if kind == "leaky AND: U" && index == 0 {
            triples.iter().for_each(|triple| payload[U * triple + 3] ^= 0x10);
        }
        Action::Send
    })
}

/// Returns each party's result.
fn results<T>(ended: Vec<(Preprocessor, Result<T>)>) -> Vec<Result<T>> {
    ended.into_iter().map(|(_, result)| result).collect()
}

#[track_caller]
fn assert_harmless(results: &[Result<Triples>], deltas: &[Block]) {
    let triples: Vec<&Triples> = results.iter().map(|result| result.as_ref().unwrap()).collect();
    assert_triples(&triples, deltas);
}

/// A bit of Δ is guessed in OT extension, then an x in a leaky AND. Each guess passes half of the
/// time.
/// Cheat: 2 | Fig. 4, then Fig. 14, step 3 | a guess of a bit of Δ, then one of an x | `OT
/// extension consistency`, `leaky AND` | 3/4, if either is wrong
#[test]
fn a_guess_of_delta_and_then_one_of_x() {
    let mut unnoticed = Rate::default();
    for seed in 0..200 {
        let (cheater, triple) = (seed as usize % 2, seed as usize % BATCH.leaky());
        let guess = Guess::any(seed);
        let mut parties = parties(2, 1, 300 + seed);
        let adversary = guessing(vec![guess], vec![triple]);
        mesh::cheat(&mut parties[cheater].lanes, 1 - cheater as u16, adversary);
        let ended = run(parties, |open, lanes| open.triples(lanes, BATCH));
        let deltas = deltas(2, 300 + seed);
        let right = guess.is_right(deltas[1 - cheater]);
        let caught = match right {
            false => Some(symbolon_ot::checks::EXTENSION),
            true => ended[1 - cheater].0.laand.own_x(triple).then_some(checks::LEAKY_AND),
        };
        unnoticed.note(caught.is_none());
        match caught {
            Some(check) => mesh::assert_caught(&results(ended), &[cheater as u16], check),
            None => assert_harmless(&results(ended), &deltas),
        }
    }
    unnoticed.assert_predicted(0.25, "unnoticed");
    unnoticed.assert_tells(0.25, 0.5);
    unnoticed.assert_tells(0.25, 0.0625);
}

/// One more bit of Δ is guessed in every draw, as long as the guesses were right. Caught at the
/// first wrong one.
/// Cheat: 2, adapts | Fig. 4 | one more bit of Δ guessed in every draw, until a guess fails | `OT
/// extension consistency` | at the first wrong guess, 1/2 each
#[test]
fn one_more_bit_of_delta_in_every_draw() {
    const DRAWS: usize = 6;
    let mut caught = Rate::default();
    for seed in 0..200 {
        let cheater = seed as usize % 2;
        let mut parties = parties(2, 1, 600 + seed);
        let guesses: Vec<Guess> =
            (0..DRAWS as u128).map(|draw| Guess::any(seed * 7 + 11 * draw)).collect();
        let adversary = guessing(guesses.clone(), Vec::new());
        mesh::cheat(&mut parties[cheater].lanes, 1 - cheater as u16, adversary);
        let drawn = AtomicUsize::new(0);
        let ended = run(parties, |open, lanes| {
            (0..DRAWS).try_for_each(|_| {
                open.shares(lanes, 10)?;
                let honest = usize::from(lanes[0][0].me()) != cheater;
                drawn.fetch_add(usize::from(honest), Ordering::SeqCst);
                Ok(())
            })
        });
        let delta = deltas(2, 600 + seed)[1 - cheater];
        let wrong = guesses.iter().position(|guess| !guess.is_right(delta));
        assert_eq!(drawn.into_inner(), wrong.unwrap_or(DRAWS));
        (0..wrong.unwrap_or(DRAWS)).for_each(|_| caught.note(false));
        match wrong {
            Some(_) => {
                caught.note(true);
                mesh::assert_caught(
                    &results(ended),
                    &[cheater as u16],
                    symbolon_ot::checks::EXTENSION,
                );
            }
            None => drop(all_end_well(ended)),
        }
    }
    caught.assert_predicted(0.5, "caught, of each guess");
    caught.assert_tells(0.5, 0.25);
}

/// A peer whose cheat was caught, and that goes on, gets nothing more under the same Δ.
/// Cheat: 2 | Figs. 4, 14 and 16 | goes on after a failed check | every later step is refused |
/// always
#[test]
fn nothing_is_made_after_a_failed_check() {
    let lies: [(fn() -> FnAdversary, _); 3] = [
        (
            || state("iknp: u", |u| u.iter_mut().for_each(|byte| *byte ^= 1)),
            symbolon_ot::checks::EXTENSION,
        ),
        (|| message("leaky AND: masked V", |v| v[0] ^= 1), checks::LEAKY_AND),
        (|| message("bucketing: d", |d| d[0] ^= 2), checks::BUCKETING),
    ];
    for (cheater, (lie, check)) in [0, 1].into_iter().flat_map(|c| lies.map(|lie| (c, lie))) {
        let mut parties = parties(2, 1, 2_100);
        mesh::cheat(&mut parties[cheater].lanes, 1 - cheater as u16, lie());
        let ended = run(parties, |open, lanes| {
            let shares = AuthShares::zeros(BATCH.triples, 1);
            Ok([
                open.triples(lanes, BATCH).err(),
                open.triples(lanes, BATCH).err(),
                open.triples_on(lanes, BATCH, shares, None).err(),
                open.shares(lanes, 10).err(),
                open.bits(lanes, &[10, 10]).err(),
            ])
        });
        let [first, later @ ..] = ended[1 - cheater].1.as_ref().unwrap();
        assert_eq!(first.as_ref(), Some(&Error::misbehaved(cheater as u16, check)));
        let refused = |error: &Option<Error>| match error {
            Some(Error::InvalidInput(text)) => text.contains("failed before"),
            _ => false,
        };
        assert!(later.iter().all(refused), "{later:?}");
    }
}

/// Two colluding peers guess a bit of Δ each, in the same draw. The victim names the first whose
/// guess is wrong.
/// Cheat: 3; two | Fig. 4 | a bit of the victim's Δ guessed by each of two in one draw | `OT
/// extension consistency`, naming the first | 3/4, if either is wrong
#[test]
fn guesses_of_two_peers_in_league() {
    const VICTIM: u16 = 2;
    let mut unnoticed = Rate::default();
    for seed in 0..120 {
        let mut parties = parties(3, 1, 900 + seed);
        let guesses = [Guess::any(seed), Guess::any(seed + 64)];
        for (cheater, guess) in guesses.into_iter().enumerate() {
            mesh::cheat(&mut parties[cheater].lanes, VICTIM, guessing(vec![guess], Vec::new()));
        }
        let results = results(run(parties, |open, lanes| open.shares(lanes, 20).map(drop)));
        let delta = deltas(3, 900 + seed)[usize::from(VICTIM)];
        let wrong = guesses.iter().position(|guess| !guess.is_right(delta));
        unnoticed.note(wrong.is_none());
        match wrong {
            Some(culprit) => {
                mesh::assert_caught(&results, &[0, 1], symbolon_ot::checks::EXTENSION);
                let expected =
                    Err(Error::misbehaved(culprit as u16, symbolon_ot::checks::EXTENSION));
                assert_eq!(results[usize::from(VICTIM)], expected);
            }
            None => assert!(results.iter().all(Result::is_ok)),
        }
    }
    unnoticed.assert_predicted(0.25, "unnoticed");
}

/// A bit of Δ is guessed on the second lane, and an x on the first.
/// Cheat: 2, two lanes | Figs. 4 and 14 | a bit of Δ guessed on one lane, an x on the other | `OT
/// extension consistency`, `leaky AND` | 3/4, if either is wrong
#[test]
fn guesses_on_two_lanes() {
    let batch = Batch { triples: 5_000, bucket: 3 };
    assert!(batch.leaky() > laand::CHUNK, "the second lane has work");
    for seed in 0..12 {
        let cheater = seed as usize % 2;
        let guess = Guess::any(seed);
        let mut parties = parties(2, 2, 1_200 + seed);
        let adversaries = [guessing(Vec::new(), vec![0]), guessing(vec![guess], Vec::new())];
        for (lane, adversary) in parties[cheater].lanes.iter_mut().zip(adversaries) {
            lane[0].set_adversary(Box::new(adversary));
        }
        let ended = run(parties, |open, lanes| open.triples(lanes, batch));
        let deltas = deltas(2, 1_200 + seed);
        let right = guess.is_right(deltas[1 - cheater]);
        if !right {
            mesh::assert_caught(&results(ended), &[cheater as u16], symbolon_ot::checks::EXTENSION);
        } else if ended[1 - cheater].0.laand.own_x(0) {
            mesh::assert_caught(&results(ended), &[cheater as u16], checks::LEAKY_AND);
        } else {
            assert_harmless(&results(ended), &deltas);
        }
    }
}

/// One of two colluding parties sends U ⊕ R, the other adds R to its S. That cancels where x is 1,
/// so it is caught exactly if x is 0, whether or not R has the bit of d.
/// Cheat: 3; two | Fig. 14, steps 3 and 4 | U ⊕ R of one, S ⊕ R of the other, which cancels it
/// where x = 1 | `leaky AND`, by all | 1/2, if x = 0
#[test]
fn a_wrong_u_covered_up_by_an_accomplice() {
    const VICTIM: u16 = 2;
    let mut caught = Rate::default();
    for seed in 0..200 {
        let (byte, bit) = [(3, 0x10), (0, 1)][seed as usize % 2];
        let triple = seed as usize % BATCH.leaky();
        let mut parties = parties(3, 1, 1_500 + seed);
        mesh::cheat(
            &mut parties[0].lanes,
            VICTIM,
            message("leaky AND: U", move |u| u[U * triple + byte] ^= bit),
        );
        // The state is changed at the channel to the first peer.
        mesh::cheat(
            &mut parties[1].lanes,
            0,
            state("leaky AND: S", move |s| s[WORD * triple + byte] ^= bit),
        );
        let ended = run(parties, |open, lanes| open.triples(lanes, BATCH));
        let x = ended[usize::from(VICTIM)].0.laand.own_x(triple);
        caught.note(!x);
        match x {
            false => mesh::assert_caught_by_all(&results(ended), &[0, 1], checks::LEAKY_AND),
            true => assert_harmless(&results(ended), &deltas(3, 1_500 + seed)),
        }
    }
    caught.assert_predicted(0.5, "caught");
    caught.assert_tells(0.5, 0.25);
    caught.assert_tells(0.5, 0.75);
}

/// Returns adversaries for two colluding parties, each of which sends what the other one would send
/// in the messages of these kinds with this number.
fn swapping(kinds: &'static [&'static str], number: usize) -> [FnAdversary; 2] {
    let ((tell_1, told_by_0), (tell_0, told_by_1)) = (mpsc::channel(), mpsc::channel());
    [(tell_1, told_by_1), (tell_0, told_by_0)].map(|(tell, told)| {
        FnAdversary::new().on_outgoing(move |kind, index, payload| {
            if kinds.contains(&kind) && index == number {
                // Nobody receives any more once the victim has caught one of them.
                let _ = tell.send(payload.clone());
                if let Ok(theirs) = told.recv_timeout(Duration::from_secs(20)) {
                    *payload = theirs;
                }
            }
            Action::Send
        })
    })
}

/// Fig. 4: two colluding parties swap their hashes towards the victim, or their whole draws. Always
/// caught.
/// Cheat: 3; two | Fig. 4 | two swap their hashes towards the victim, or all of their draws | `OT
/// extension consistency` | always
#[test]
fn draws_swapped_by_two_in_league() {
    const KINDS: [&[&str]; 2] = [&["aBit: check"], &["iknp: u", "aBit: digests", "aBit: check"]];
    for kinds in KINDS {
        for victim in 0..3 {
            let mut parties = parties(3, 1, 1_800);
            let league = [(victim + 1) % 3, (victim + 2) % 3];
            for (cheater, adversary) in league.into_iter().zip(swapping(kinds, 0)) {
                mesh::cheat(&mut parties[usize::from(cheater)].lanes, victim, adversary);
            }
            let results = results(run(parties, |open, lanes| open.shares(lanes, 20)));
            mesh::assert_caught(&results, &league, symbolon_ot::checks::EXTENSION);
        }
    }
}

/// Tampers with a cheater's channel to the victim. In the echo it tells the victim what the victim
/// expects. It replaces what the victim sends there by its own echo, because its honest code would
/// end where a real cheater ignores the difference.
fn agree_and_look_away(
    parties: &mut [Party],
    cheater: u16,
    victim: u16,
    mut adversary: FnAdversary,
) {
    let (tell_cheater, told_cheater) = mpsc::channel::<Vec<u8>>();
    let (tell_victim, told_victim) = mpsc::channel::<Vec<u8>>();
    let exchange = |tell: mpsc::Sender<Vec<u8>>, told: mpsc::Receiver<Vec<u8>>| {
        move |payload: &mut Vec<u8>| {
            // A party that has ended sends nothing more.
            let _ = tell.send(payload.clone());
            if let Ok(theirs) = told.recv_timeout(Duration::from_secs(20)) {
                *payload = theirs;
            }
        }
    };
    let (of_cheater, of_victim) =
        (exchange(tell_victim, told_cheater), exchange(tell_cheater, told_victim));
    let cheat = FnAdversary::new().on_outgoing(move |kind, index, payload| match kind {
        "broadcast echo" => {
            of_cheater(payload);
            Action::Send
        }
        _ => adversary.outgoing(kind, index, payload),
    });
    let spy = FnAdversary::new().on_outgoing(move |kind, _, payload| {
        if kind == "broadcast echo" {
            of_victim(payload);
        }
        Action::Send
    });
    mesh::cheat(&mut parties[usize::from(cheater)].lanes, victim, cheat);
    mesh::listen(&mut parties[usize::from(victim)].lanes, cheater, spy);
}

/// Fig. 14: two colluding parties swap what they commit to and open towards the victim, and agree
/// with its echo, so all sums stay the same. A commitment is bound to its maker, so this is always
/// caught.
/// Cheat: 3; two | Fig. 14 | two swap their commitments and openings towards the victim, and agree
/// with its echo | the step's commitment | always
#[test]
fn commitments_swapped_by_two_in_league() {
    const CASES: [(&[&str], usize, &str); 2] = [
        (&["leaky AND: commitment to d", "leaky AND: d"], 0, "leaky AND d commitment"),
        (
            &["leaky AND: commitment to blinded V", "leaky AND: blinded V"],
            0,
            "leaky AND blinded V commitment",
        ),
    ];
    for (kinds, number, check) in CASES {
        for victim in 0..3 {
            let mut parties = parties(3, 1, 1_900);
            let league = [(victim + 1) % 3, (victim + 2) % 3];
            for (cheater, adversary) in league.into_iter().zip(swapping(kinds, number)) {
                agree_and_look_away(&mut parties, cheater, victim, adversary);
            }
            let results = results(run(parties, |open, lanes| open.triples(lanes, BATCH)));
            mesh::assert_caught(&results, &league, check);
        }
    }
}

/// Every commitment is equivocated by a cheater that agrees with everybody's echo, with an
/// accomplice that does so, too. Two honest parties find out from each other. Always caught.
/// Cheat: 3; one, 4; two | Fig. 14 | another commitment to one of two honest parties; each hears in
/// the echo what it expects | `broadcast echo` | always
#[test]
fn equivocated_commitments_covered_up_in_the_echo() {
    for kind in ["leaky AND: commitment to d", "leaky AND: commitment to blinded V"] {
        for league in [&[0][..], &[0, 1]] {
            let honest = league.len() as u16..league.len() as u16 + 2;
            let victim = honest.end - 1;
            let mut parties = parties(honest.end, 1, 2_000);
            for (&cheater, peer) in league.iter().flat_map(|c| honest.clone().map(move |p| (c, p)))
            {
                let adversary = match (cheater, peer) == (0, victim) {
                    true => message(kind, |c| c[31] ^= 1),
                    false => FnAdversary::new(),
                };
                agree(&mut parties, cheater, peer, adversary);
            }
            let results = results(run(parties, |open, lanes| open.triples(lanes, BATCH)));
            mesh::assert_caught(&results, league, BROADCAST_CHECK);
        }
    }
}

fn set_up(lanes: &mut Lanes, k: TreeDepth) -> Result<Preprocessor> {
    let ot_extension = OtExtension::SoftSpoken { k };
    Preprocessor::set_up(lanes, &SESSION, Config { rho: 40, evaluator: 0.into(), ot_extension })
}

/// A bit of Δ is guessed in the set-up's own draw, and later an x in a leaky AND, over a whole
/// session. Party 0 makes that draw.
/// Cheat: 2 | set-up, then Fig. 14, step 3 | a guess of a bit of Δ in the set-up's own draw, then
/// one of an x, in a whole session | `OT extension consistency`, `leaky AND` | 3/4, if either is
/// wrong
#[test]
fn a_guess_in_the_set_up_and_one_later() {
    const COLUMN: usize = 77;
    let mut unnoticed = Rate::default();
    for run in 0..80 {
        let bit = run % 2 == 1;
        let mut parties = mesh::mesh(2, 1);
        let mut draw = 0;
        let adversary = FnAdversary::new().on_state(move |at, u| {
            if at == "iknp: u" {
                let stride = u.len() / COLUMNS;
                u[(COLUMN + 1) * stride - 1] ^= u8::from(draw == 0) << 7;
                draw += 1;
            }
        });
        let adversary = adversary.on_outgoing(move |kind, index, payload| {
            match (kind, index) {
                ("correlated OT: check", 0) => {
                    payload[16 * (1 + COLUMN) + 15] ^= u8::from(bit) << 7
                }
                ("leaky AND: U", 0) => payload[3] ^= 0x10,
                _ => {}
            }
            Action::Send
        });
        let delta = Arc::new(Mutex::new(Block::ZERO));
        let seen = delta.clone();
        let spy = state("set-up: delta", move |delta| {
            *seen.lock().unwrap() = Block::from_bytes((&*delta).try_into().expect("16 bytes"));
        });
        mesh::cheat(&mut parties[0], 1, adversary);
        mesh::listen(&mut parties[1], 0, spy);
        let ended = mesh::run(parties, |lanes| {
            let mut open = set_up(lanes, TreeDepth::Two)?;
            let made = open.triples(lanes, BATCH);
            Ok((open, made))
        });
        let right = Guess { column: COLUMN, bit }.is_right(*delta.lock().unwrap());
        assert_eq!(ended[1].is_ok(), right);
        let Ok((open, _)) = &ended[1] else {
            unnoticed.note(false);
            mesh::assert_caught(&ended, &[0], symbolon_ot::checks::EXTENSION);
            continue;
        };
        let x = open.laand.own_x(0);
        unnoticed.note(!x);
        let made: Vec<Result<Triples>> =
            ended.into_iter().map(|ended| ended.and_then(|(_, made)| made)).collect();
        match x {
            true => mesh::assert_caught(&made, &[0], checks::LEAKY_AND),
            false => assert!(made.iter().all(Result::is_ok)),
        }
    }
    unnoticed.assert_predicted(0.25, "unnoticed");
    unnoticed.assert_tells(0.25, 0.75);
}

/// Two colluding parties send the victim each other's trees. Always caught, in the set-up.
/// Cheat: 3; two | set-up | two swap their trees towards the victim | `punctured tree consistency`
/// | always
#[test]
fn trees_swapped_by_two_in_league() {
    for victim in 0..3 {
        let mut parties = mesh::mesh(3, 1);
        let league = [(victim + 1) % 3, (victim + 2) % 3];
        for (cheater, adversary) in league.into_iter().zip(swapping(&["softspoken: pprf"], 0)) {
            mesh::cheat(&mut parties[usize::from(cheater)], victim, adversary);
        }
        let ended = mesh::run(parties, |lanes| set_up(lanes, TreeDepth::Four).map(drop));
        mesh::assert_caught(&ended, &league, symbolon_ot::checks::PUNCTURED_TREE);
    }
}
