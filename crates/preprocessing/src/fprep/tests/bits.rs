//! The cheating peer in authenticated bits among n parties and in the check of global keys
//! (Yang–Wang–Zhang 2020, Figs. 4 and 5). Each test is one cheat, and the check that must catch it.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use symbolon_interaction::BROADCAST_CHECK;
use symbolon_ot::cot;
use symbolon_primitives::gf128;
use symbolon_transport::adversary::{Action, Adversary, CheckName, FnAdversary};

use super::*;
use crate::{checks, peers_of};
use mesh::{message, state};

const SHARES: usize = 100;

/// Who cheats, and towards whom.
const CASES: [(u16, u16, u16); 5] = [(3, 0, 1), (3, 1, 2), (3, 2, 0), (5, 0, 4), (5, 3, 1)];

#[track_caller]
fn assert_caught<T>(
    ended: Vec<(Preprocessor, Result<T>)>,
    cheaters: &[u16],
    check: impl CheckName,
) {
    let results: Vec<Result<T>> = ended.into_iter().map(|(_, result)| result).collect();
    mesh::assert_caught(&results, cheaters, check);
}

/// Draws shares while one party cheats towards one peer, and asserts that the check catches it, and
/// that this peer names the cheater.
#[track_caller]
fn assert_cheat_caught(case: (u16, u16, u16), adversary: FnAdversary, check: impl CheckName) {
    let (n, cheater, victim) = case;
    let mut parties = parties(n, 1, 21);
    mesh::cheat(&mut parties[usize::from(cheater)].lanes, victim, adversary);
    let ended = run(parties, |open, lanes| {
        open.shares(lanes, SHARES)?;
        // A party that has noticed nothing yet waits for those that have.
        open.shares(lanes, 1)
    });
    let results: Vec<Result<AuthShares>> = ended.into_iter().map(|(_, result)| result).collect();
    mesh::assert_caught(&results, &[cheater], check);
    mesh::assert_caught_by_one_of(&results, &[victim], cheater, check);
}

/// Flips choice bit 0 in every column.
fn flip_choice(u: &mut [u8]) {
    let stride = u.len() / COLUMNS;
    u.iter_mut().step_by(stride).for_each(|byte| *byte ^= 1);
}

/// Step 3: different bits towards one verifier than towards the others, with nothing adapted: the
/// verifier's columns do not match x̃. The column hashes always catch it.
/// Cheat: 3, 5; one | Fig. 4, step 3 | other bits towards one party, nothing adapted | `OT
/// extension consistency` | always
#[test]
fn other_bits_towards_one_peer() {
    for case in CASES {
        assert_cheat_caught(case, state("iknp: u", flip_choice), symbolon_ot::checks::EXTENSION);
    }
}

/// Step 6: a different x̃, t̃ or digest towards one verifier. The column hashes always catch it,
/// because the verifier's χ or its columns do not match.
/// Cheat: 3, 5; one | Fig. 4, step 6 | another x̃, t̃ or digest towards one party | `OT extension
/// consistency` | always
#[test]
fn wrong_hashes_towards_one_peer() {
    for case in CASES {
        for (kind, byte) in
            [("aBit: check", 0), ("aBit: check", 16 * 128 + 15), ("aBit: digests", 31)]
        {
            assert_cheat_caught(
                case,
                message(kind, move |p| p[byte] ^= 8),
                symbolon_ot::checks::EXTENSION,
            );
        }
    }
}

/// Short, long and empty messages. The framing always catches them.
/// Cheat: 3 | Fig. 4 | short, long and empty messages | `message framing` | always
#[test]
fn short_and_long_messages() {
    let changes: [fn(&mut Vec<u8>); 3] =
        [|p| p.truncate(p.len() - 1), |p| p.clear(), |p| p.push(0)];
    for kind in ["iknp: u", "aBit: digests", "aBit: check", "broadcast echo"] {
        for change in changes {
            assert_cheat_caught((3, 1, 2), message(kind, change), "message framing");
        }
    }
}

/// Returns the stream of a seed of a party's bits towards a verifier, on a lane.
fn stream(party: u16, verifier: u16, lane: usize, seed: Block) -> Prg {
    let (sender, receiver) = (Some(verifier.into()), party.into());
    let id = ExtensionId { sender, receiver, lane: lane as u64 + 1 };
    Prg::starting_at(seed, id.start(SESSION.as_bytes()))
}

/// A cheater that keeps everything it sends to one verifier consistent.
struct Forger {
    cheater: u16,
    /// The index of the victim among the cheater's peers.
    victim: usize,
    lane: usize,
    /// The seeds of the cheater's bits towards the victim.
    seeds: Seeds,
    /// The digests of the corrections sent so far, by index.
    digests: Vec<[u8; 32]>,
    /// The victim's correction.
    u: Vec<u8>,
}

impl Forger {
    fn of(party: &Party, lane: usize, cheater: u16, victim: u16) -> Arc<Mutex<Forger>> {
        let place = usize::from(victim) - usize::from(victim > cheater);
        let seeds = party.seeds[lane][place];
        let (digests, u) = (Vec::new(), Vec::new());
        Arc::new(Mutex::new(Forger { cheater, victim: place, lane, seeds, digests, u }))
    }

    /// Returns the coefficients that follow from these digests.
    fn chi(&self, digests: &[[u8; 32]]) -> Vec<Block> {
        let (receiver, lane) = (self.cheater.into(), self.lane as u64 + 1);
        let mut transcript =
            ExtensionId { sender: None, receiver, lane }.transcript(SESSION.as_bytes());
        transcript.absorb("corrections", &digests.concat());
        cot::coefficients(transcript.challenge("chi"), self.u.len() / COLUMNS)
    }

    /// Returns the column hashes of the first draw under these coefficients: x̃ and all t̃.
    fn check(&self, chi: &[Block]) -> Vec<Block> {
        let stride = self.u.len() / COLUMNS;
        let victim = self.victim as u16 + u16::from(self.victim as u16 >= self.cheater);
        let columns = |which: usize| {
            let mut t = vec![0; COLUMNS * stride];
            for (column, seeds) in t.chunks_exact_mut(stride).zip(&self.seeds) {
                stream(self.cheater, victim, self.lane, seeds[which]).fill(column);
            }
            t
        };
        let (t, other) = (columns(0), columns(1));
        let x: Vec<u8> = (0..stride).map(|k| self.u[k] ^ t[k] ^ other[k]).collect();
        let mut hashes = [Block::ZERO; COLUMNS];
        gf128::column_hash(&t, stride, chi.len(), chi, &mut hashes);
        [&[cot::hash_choices(&x, chi)], &hashes[..]].concat()
    }
}

/// Returns parties of which one sends each peer something different on this lane, the last, as
/// `adversary` says.
fn forged(
    lane: usize,
    (n, cheater, victim): (u16, u16, u16),
    adversary: impl Fn(Arc<Mutex<Forger>>, bool) -> FnAdversary,
) -> Vec<Party> {
    let mut parties = parties(n, lane + 1, 22);
    let forger = Forger::of(&parties[usize::from(cheater)], lane, cheater, victim);
    for (place, peer) in peers_of(cheater, usize::from(n)).enumerate() {
        let adversary = adversary(forger.clone(), peer == victim);
        let on_first_lane = match lane {
            0 => adversary,
            // Only the echo is on the first lane.
            _ => {
                let channel = &mut parties[usize::from(cheater)].lanes[lane][place];
                channel.set_adversary(Box::new(adversary));
                FnAdversary::new()
            }
        };
        agree(&mut parties, cheater, peer.number(), on_first_lane);
    }
    parties
}

/// A cheater that tells each peer, in the echo of broadcasts, what that peer expects. Only honest
/// parties can find out that they received different values.
struct Agreeing {
    adversary: FnAdversary,
    told: mpsc::Receiver<Vec<u8>>,
}

impl Adversary for Agreeing {
    fn outgoing(&mut self, kind: &'static str, index: usize, payload: &mut Vec<u8>) -> Action {
        if kind == "broadcast echo" {
            // A peer that has failed already sends nothing.
            if let Ok(theirs) = self.told.recv_timeout(Duration::from_secs(20)) {
                *payload = theirs;
            }
        }
        self.adversary.outgoing(kind, index, payload)
    }

    fn state(&mut self, point: &'static str, data: &mut [u8]) {
        self.adversary.state(point, data);
    }
}

/// Draws shares with cheaters that agree with everybody, and asserts that an honest party notices.
#[track_caller]
fn assert_found_out(parties: Vec<Party>, cheaters: &[u16]) {
    let ended = run(parties, |open, lanes| open.shares(lanes, SHARES));
    assert_caught(ended, cheaters, BROADCAST_CHECK);
}

/// Tampers with a cheater's channel to an honest peer, and makes it agree with that peer's echo.
pub(super) fn agree(parties: &mut [Party], cheater: u16, peer: u16, adversary: FnAdversary) {
    let (tell, told) = mpsc::channel();
    let spy = FnAdversary::new().on_outgoing(move |kind, _, payload| {
        if kind == "broadcast echo" {
            // Nobody receives any more once the cheater has ended.
            let _ = tell.send(payload.clone());
        }
        Action::Send
    });
    mesh::listen(&mut parties[usize::from(peer)].lanes, cheater, spy);
    let channel = mesh::towards(&mut parties[usize::from(cheater)].lanes, peer);
    channel.set_adversary(Box::new(Agreeing { adversary, told }));
}

/// Records a message of the first draw. The victim receives the digests after `change`, and the
/// matching hashes.
fn forge(
    forger: &Mutex<Forger>,
    to_victim: bool,
    kind: &str,
    index: usize,
    payload: &mut Vec<u8>,
    change: impl Fn(&mut [[u8; 32]], usize),
) {
    let mut forger = forger.lock().unwrap();
    match kind {
        "iknp: u" if index == 0 => {
            forger.digests.push(*blake3::hash(payload).as_bytes());
            if to_victim {
                forger.u.clone_from(payload);
            }
        }
        "aBit: digests" if index == 0 && to_victim => {
            let mut digests = forger.digests.clone();
            change(&mut digests, forger.victim);
            digests.remove(forger.victim);
            *payload = digests.concat();
        }
        "aBit: check" if index == 0 && to_victim => {
            let mut digests = forger.digests.clone();
            change(&mut digests, forger.victim);
            let check = forger.check(&forger.chi(&digests));
            payload.copy_from_slice(Block::as_bytes(&check));
        }
        _ => {}
    }
}

/// The forger itself changes nothing: it computes what an honest party sends.
#[test]
fn the_forger_computes_what_is_right() {
    for case in CASES {
        let parties = forged(0, case, |forger, to_victim| {
            FnAdversary::new().on_outgoing(move |kind, index, payload| {
                let before = payload.clone();
                forge(&forger, to_victim, kind, index, payload, |_, _| ());
                assert!(before == *payload, "{kind}");
                Action::Send
            })
        });
        all_end_well(run(parties, |open, lanes| open.shares(lanes, SHARES)));
    }
}

/// Returns a forger with different bits towards the victim in the lane's first draw: the first bit
/// of every column differs, and x̃ matches it. (Its t̃ are right whatever the bits.)
fn with_other_bits(lane: usize, case: (u16, u16, u16)) -> Vec<Party> {
    forged(lane, case, |forger, to_victim| {
        let adversary = FnAdversary::new().on_outgoing(move |kind, index, payload| {
            forge(&forger, to_victim, kind, index, payload, |_, _| ());
            Action::Send
        });
        if !to_victim {
            return adversary;
        }
        let mut first = true;
        adversary.on_state(move |at, u| {
            if at == "iknp: u" && std::mem::take(&mut first) {
                flip_choice(u);
            }
        })
    })
}

/// Steps 3 and 6: different bits towards one verifier, with a matching x̃. All column hashes match,
/// but the two x̃ differ. The echo of broadcasts always catches it.
/// Cheat: 3, 5; one | Fig. 4, steps 3 and 6 | other bits towards one party, with their own x̃ and
/// hashes | `broadcast echo` | always
#[test]
fn other_bits_towards_one_peer_with_their_own_hash() {
    for case in CASES {
        assert_found_out(with_other_bits(0, case), &[case.1]);
    }
}

/// As above, on a second lane with an honest first one: the echo covers the broadcasts of all
/// lanes.
/// Cheat: 3; one, two lanes | Fig. 4, steps 3 and 6 | other bits towards one party on the second
/// lane, with their own x̃ and hashes | `broadcast echo` | always
#[test]
fn other_bits_with_their_own_hash_on_another_lane() {
    for case in CASES.into_iter().filter(|(n, _, _)| *n == 3) {
        let parties = with_other_bits(1, case);
        let ended = run(parties, |open, lanes| open.shares(lanes, MAX_DRAW + 2));
        assert_caught(ended, &[case.1], BROADCAST_CHECK);
    }
}

/// Returns a spy that panics if the honest party commits to d.
fn no_commitment_to_d() -> FnAdversary {
    FnAdversary::new().on_outgoing(|kind, _, _| {
        assert_ne!(kind, "leaky AND: commitment to d", "committed before the echo");
        Action::Send
    })
}

/// As above, in the first draw of a batch of leaky ANDs. The echo catches it before any honest
/// party commits to its d.
/// Cheat: 3, 5; one | Fig. 14, steps 1 and 4 | other bits towards one party within a batch, with
/// their own x̃ and hashes | `broadcast echo`, before d | always
#[test]
fn other_bits_with_their_own_hash_in_a_batch() {
    let batch = Batch { triples: 7, bucket: 3 };
    for case in CASES {
        let (n, cheater, _) = case;
        let mut parties = with_other_bits(0, case);
        for me in (0..n).filter(|&me| me != cheater) {
            let honest = peers_of(me, usize::from(n)).filter(|&peer| peer != cheater);
            let lanes = &mut parties[usize::from(me)].lanes;
            honest.for_each(|peer| mesh::listen(lanes, peer.number(), no_commitment_to_d()));
        }
        let ended = run(parties, |open, lanes| open.triples(lanes, batch));
        assert_caught(ended, &[cheater], BROADCAST_CHECK);
    }
}

/// Step 5: different digests towards one verifier, so that it derives a different χ, and matching
/// hashes. The echo of broadcasts always catches it.
/// Cheat: 3, 5; one | Fig. 4, step 5 | equivocated digests, with hashes for the χ that follows |
/// `broadcast echo` | always
#[test]
fn other_digests_towards_one_peer_with_their_own_hashes() {
    for case in CASES {
        let parties = forged(0, case, |forger, to_victim| {
            FnAdversary::new().on_outgoing(move |kind, index, payload| {
                forge(&forger, to_victim, kind, index, payload, |digests, victim| {
                    digests[usize::from(victim == 0)][7] ^= 1;
                });
                Action::Send
            })
        });
        assert_found_out(parties, &[case.1]);
    }
}

/// As above, but with bits that are all zero, including padding: x̃ is zero whatever χ is, so only
/// the digests differ. The echo of broadcasts always catches it.
/// Cheat: 3, 5; one | Fig. 4, step 5 | equivocated digests of bits that are zero | `broadcast echo`
/// | always
#[test]
fn other_digests_for_bits_that_are_zero() {
    for case in CASES {
        let (n, cheater, victim) = case;
        let mut parties = parties(n, 1, 27);
        let forger = Forger::of(&parties[usize::from(cheater)], 0, cheater, victim);
        let seeds = parties[usize::from(cheater)].seeds[0].clone();
        for (peer, seeds) in peers_of(cheater, usize::from(n)).zip(seeds) {
            let forger = forger.clone();
            let adversary = state("iknp: u", move |u| {
                let stride = u.len() / COLUMNS;
                for (column, seeds) in u.chunks_exact_mut(stride).zip(&seeds) {
                    let mut other = vec![0; stride];
                    stream(cheater, peer.number(), 0, seeds[0]).fill(column);
                    stream(cheater, peer.number(), 0, seeds[1]).fill(&mut other);
                    column.iter_mut().zip(other).for_each(|(u, other)| *u ^= other);
                }
            });
            let adversary = adversary.on_outgoing(move |kind, index, payload| {
                if kind == "aBit: check" {
                    payload[..16].fill(0);
                }
                forge(&forger, peer == victim, kind, index, payload, |digests, victim| {
                    digests[usize::from(victim == 0)][7] ^= 1;
                });
                Action::Send
            });
            agree(&mut parties, cheater, peer.number(), adversary);
        }
        assert_found_out(parties, &[cheater]);
    }
}

/// Different bits towards one of two honest parties, with accomplices that agree with everybody:
/// the two honest parties always catch it.
/// Cheat: 5; three | Fig. 4 | equivocated digests, with accomplices who agree with everybody |
/// `broadcast echo` | always
#[test]
fn accomplices_agree_with_everybody() {
    let (cheaters, honest) = ([0, 1, 2], [3, 4]);
    let mut parties = with_other_bits(0, (5, 0, 4));
    for accomplice in [1, 2] {
        for peer in honest {
            agree(&mut parties, accomplice, peer, FnAdversary::new());
        }
    }
    assert_found_out(parties, &cheaters);
}

/// Draws shares as the set-up does, and runs the check of global keys.
fn check(open: &mut Preprocessor, lanes: &mut Lanes) -> Result<()> {
    let shares = open.shares(lanes, ashare_check::SHARES)?;
    let (delta, session) = (open.delta.clone(), open.session);
    ashare_check::check(&mut lanes[0], &shares, &delta, &session, &mut open.prg)
}

#[test]
fn the_same_delta_towards_all_passes() {
    for n in [2, 3, 5] {
        all_end_well(run(parties(n, 1, 23), check));
    }
}

/// Fig. 5: a different Δ towards one peer, in one bit, and in all. Always caught.
/// Cheat: 3, 5; one | Fig. 5 | another Δ towards one party | `global key consistency` | always
#[test]
fn another_delta_towards_one_peer() {
    for (n, cheater, victim) in CASES {
        for difference in [1, 1 << 127, u128::MAX] {
            let deltas = deltas(n, 24);
            let parties = parties_with(n, 1, 24, |me, peer| {
                let other = (me, peer) == (cheater, victim);
                deltas[usize::from(me)] ^ Block(difference).select(other)
            });
            assert_caught(run(parties, check), &[cheater], checks::GLOBAL_KEY);
        }
    }
}

/// Fig. 5: three of five parties do the same. One party's error does not cancel another's.
/// Cheat: 5; three | Fig. 5 | another Δ of several parties alike | `global key consistency` |
/// always
#[test]
fn another_delta_of_several_parties() {
    let deltas = deltas(5, 25);
    let parties = parties_with(5, 1, 25, |me, peer| {
        deltas[usize::from(me)] ^ Block(1 << 77).select(me < 3 && peer == 4)
    });
    assert_caught(run(parties, check), &[0, 1, 2], checks::GLOBAL_KEY);
}

/// Fig. 5, steps 5 to 8: a zero share other than the one used; a different y towards one party; a
/// different commitment to z, or an opening that does not match it. Always caught.
/// Cheat: 3, 5; one | Fig. 5, steps 5 to 8 | a wrong zero share, y or z; another z opened | `global
/// key consistency`, `broadcast echo`, `aShare z commitment` | always
#[test]
fn lies_in_the_check_of_global_keys() {
    for (n, cheater, victim) in CASES {
        for (kind, at) in [
            ("aShare: zero share", checks::GLOBAL_KEY),
            ("aShare: y", BROADCAST_CHECK),
            ("aShare: commitment to z", BROADCAST_CHECK),
            ("aShare: z", checks::GLOBAL_KEY_Z),
        ] {
            let mut parties = parties(n, 1, 26);
            let lie = message(kind, |p| *p.last_mut().expect("not empty") ^= 1);
            mesh::cheat(&mut parties[usize::from(cheater)].lanes, victim, lie);
            // A party that has noticed nothing yet waits for those that have.
            let ended = run(parties, |open, lanes| {
                check(open, lanes)?;
                open.shares(lanes, 1)
            });
            assert_caught(ended, &[cheater], at);
        }
    }
}
