//! The cheating peer in authenticated bits among n parties over SoftSpoken OT, and in part over
//! Ferret (Yang–Wang–Zhang 2020, Fig. 4): a party that equivocates consistently, so that each
//! verifier's own check passes, and one that guesses a block of one verifier's Δ.

use std::sync::Mutex;

use symbolon_interaction::BROADCAST_CHECK;
use symbolon_ot::{TreeDepth, checks::EXTENSION, cot};
use symbolon_transport::adversary::{Action, Endings, FnAdversary, Outcome, Rate};

use super::bits::agree;
use super::*;
use crate::peers_of;

const SHARES: usize = 100;

/// The number of parties, who cheats, and towards whom.
type Case = (u16, u16, u16);

static CASES: [Case; 5] = [(3, 0, 1), (3, 1, 2), (3, 2, 0), (5, 0, 4), (5, 3, 1)];

/// The extensions, each with the cases that do not take long with it.
fn extensions() -> [(OtExtension, &'static [Case]); 4] {
    let [two, four, eight] = TreeDepth::ALL.map(|k| (OtExtension::SoftSpoken { k }, &CASES[..]));
    [two, four, eight, (OtExtension::Ferret, &CASES[..3])]
}

/// Returns the name of a correction, and how many columns it has.
fn correction(extension: OtExtension) -> (&'static str, usize) {
    match extension {
        OtExtension::Ferret => ("ferret: bits", 1),
        OtExtension::SoftSpoken { k } => ("softspoken: u", k.trees()),
        OtExtension::Iknp => ("iknp: u", COLUMNS),
    }
}

fn parties(extension: OtExtension, n: u16, seed: u128) -> Vec<Party> {
    let deltas = deltas(n, seed);
    parties_by(extension, (n, 1, seed), |me, _| deltas[usize::from(me)])
}

/// A cheater that sends a victim other bits than the others in its first draw. From what it sends,
/// it computes the χ of the draw, and with it the x̃ of the victim's bits. Its t̃ are right for any
/// bits.
#[derive(Default)]
struct Equivocator {
    cheater: u16,
    /// The digests of the corrections, by the peer's index, as far as they were sent.
    digests: Vec<[u8; 32]>,
    /// The bits in which the victim's differ from the others'.
    difference: Vec<u8>,
}

impl Equivocator {
    /// Returns the difference of the victim's x̃ from the others'.
    fn difference_of_hashes(&self) -> Block {
        let id = ExtensionId { sender: None, receiver: self.cheater.into(), lane: 1 };
        let mut transcript = id.transcript(SESSION.as_bytes());
        transcript.absorb("corrections", &self.digests.concat());
        let chi = cot::coefficients(transcript.challenge("chi"), self.difference.len());
        cot::hash_choices(&self.difference, &chi)
    }
}

/// Returns the cheater's channel to the peer with index `index`.
fn equivocating(
    shared: &Arc<Mutex<Equivocator>>,
    extension: OtExtension,
    (index, to_victim): (usize, bool),
    change: fn(&mut [u8]),
) -> FnAdversary {
    let (corrected, sent) = (shared.clone(), shared.clone());
    let mut draws = 0;
    let (point, columns) = correction(extension);
    let adversary = FnAdversary::new().on_state(move |at, u| {
        if at != point {
            return;
        }
        draws += 1;
        if draws > 1 || !to_victim {
            return;
        }
        let stride = u.len() / columns;
        let mut difference = vec![0; stride];
        change(&mut difference);
        for u in u.chunks_exact_mut(stride) {
            u.iter_mut().zip(&difference).for_each(|(u, difference)| *u ^= difference);
        }
        corrected.lock().unwrap().difference = difference;
    });
    adversary.on_outgoing(move |kind, number, payload| {
        let mut shared = sent.lock().unwrap();
        match kind {
            "aBit: digests" if number == 0 => {
                let others = (0..shared.digests.len()).filter(|other| *other != index);
                let others: Vec<usize> = others.collect();
                for (other, digest) in others.into_iter().zip(payload.as_chunks::<32>().0) {
                    shared.digests[other] = *digest;
                }
            }
            "aBit: check" if number == 0 && to_victim => {
                let difference = shared.difference_of_hashes().to_bytes();
                payload.iter_mut().zip(difference).for_each(|(byte, other)| *byte ^= other);
            }
            _ => {}
        }
        Action::Send
    })
}

/// Returns parties of which one sends a victim other bits with a matching x̃, and tells every peer
/// in the echo what that peer expects.
fn with_other_bits(
    extension: OtExtension,
    case: Case,
    seed: u128,
    change: fn(&mut [u8]),
) -> Vec<Party> {
    let (n, cheater, victim) = case;
    let mut parties = parties(extension, n, seed);
    let digests = vec![[0; 32]; usize::from(n) - 1];
    let shared = Equivocator { cheater, digests, ..Equivocator::default() };
    let shared = Arc::new(Mutex::new(shared));
    for (index, peer) in peers_of(cheater, usize::from(n)).enumerate() {
        let adversary = equivocating(&shared, extension, (index, peer == victim), change);
        agree(&mut parties, cheater, peer.number(), adversary);
    }
    parties
}

/// What a party holds after a draw: its bits, its MACs by peer, and its keys by peer.
type Drawn = (BitVec, [Vec<Vec<Block>>; 2]);

/// Draws bits of all parties. The broadcasts are not compared yet.
fn draw(open: &mut Preprocessor, lanes: &mut Lanes) -> Result<Drawn> {
    let mut blocks = [0, 1].map(|_| vec![vec![Block::ZERO; SHARES]; lanes[0].len()]);
    let [mut macs, mut keys] =
        blocks.each_mut().map(|all| all.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
    let bits = (SHARES, &mut open.prg);
    let bits = open.lanes[0].bits().draw(&mut lanes[0], bits, &mut macs, &mut keys)?;
    Ok((bits, blocks))
}

/// Flips the first bit.
fn first(bits: &mut [u8]) {
    bits[0] ^= 1;
}

/// Flips all bits that are used.
fn all(bits: &mut [u8]) {
    bits[..SHARES / 8].fill(0xff);
}

/// The equivocator itself is consistent: without the comparison of broadcasts every check passes,
/// and two honest parties hold keys for different bits.
#[test]
fn every_pairwise_check_passes() {
    for (extension, cases) in extensions() {
        for &case in cases {
            let (n, cheater, victim) = case;
            let deltas = deltas(n, 41);
            let ended = all_end_well(run(with_other_bits(extension, case, 41, first), draw));
            let (bits, [macs, _]) = &ended[usize::from(cheater)];
            for peer in peers_of(cheater, usize::from(n)).map(usize::from) {
                let (_, [_, keys]) = &ended[peer];
                let (to, from) = (usize::from(cheater), peer as u16);
                let index = |of: u16, at: u16| PeerIndex::of(of, at).get();
                let (macs, keys) = (&macs[index(from, cheater)], &keys[index(cheater, from)]);
                for (number, (mac, key)) in macs.iter().zip(keys).enumerate() {
                    let other = number == 0 && from == victim;
                    let expected = *key ^ deltas[peer].select(bits.get(number) ^ other);
                    assert!(*mac == expected, "{extension}: bit {number} of {to} towards {peer}");
                }
            }
        }
    }
}

/// Steps 3 and 6: other bits towards one verifier, in all blocks of its Δ, with a matching x̃. Both
/// honest verifiers' checks pass, and the cheater agrees with the echo of each. The honest parties'
/// comparison always catches it.
/// Cheat: 3, 5; one, SoftSpoken, Ferret | Fig. 4, steps 3 and 6 | other bits towards one
/// party, with their own x̃, so that every pairwise check passes | `broadcast echo` | always
#[test]
fn other_bits_towards_one_peer_with_their_own_hash() {
    for (extension, cases) in extensions() {
        let mut caught = Rate::default();
        for (change, seed) in [(first as fn(&mut [u8]), 42), (all, 43)] {
            for &case in cases {
                let parties = with_other_bits(extension, case, seed, change);
                let ended = run(parties, |open, lanes| open.shares(lanes, SHARES));
                let results: Vec<_> = ended.into_iter().map(|(_, result)| result).collect();
                mesh::assert_caught(&results, &[case.1], BROADCAST_CHECK);
                caught.note(true);
            }
        }
        caught.assert_predicted(1.0, &format!("{extension}, equivocated"));
    }
}

/// Returns how often another bit in one block, towards one of two verifiers, goes unnoticed. x̃ is
/// the same for both. The check passes exactly if the block of the verifier's Δ is 0.
fn unnoticed(k: TreeDepth, runs: u64) -> Rate {
    let (n, cheater, victim) = (3, 1, 2);
    let run_one = |number: u64| {
        let seed = 5_000 + u128::from(number);
        let mut parties = parties(OtExtension::SoftSpoken { k }, n, seed);
        let tree = number as usize % k.trees();
        for peer in [0, victim] {
            let mut draws = 0;
            let adversary = FnAdversary::new().on_state(move |at, u| {
                if at == "softspoken: u" {
                    let stride = u.len() / k.trees();
                    u[tree * stride] ^= u8::from(draws == 0 && peer == victim);
                    draws += 1;
                }
            });
            agree(&mut parties, cheater, peer, adversary);
        }
        let ended = run(parties, |open, lanes| open.shares(lanes, SHARES));
        let results: Vec<_> = ended.into_iter().map(|(_, result)| result).collect();
        let block = deltas(n, seed)[usize::from(victim)].0 >> (tree * k.bits());
        let guessed = block & (k.leaves() as u128 - 1) == 0;
        if !guessed {
            mesh::assert_caught_by_one_of(&results, &[victim], cheater, EXTENSION);
        }
        let endings = Endings::new(&results, &[cheater]);
        for honest in [0, victim].into_iter().filter(|_| guessed) {
            assert_eq!(endings.of(honest, &[EXTENSION]), Outcome::Finished, "run {number}");
        }
        guessed
    };
    (0..runs).map(run_one).collect()
}

/// Step 3: another bit towards one of two verifiers in one block of its Δ, with the x̃ of the
/// others. It passes if the block is 0; then the verifier's bits are the same as the others'.
/// Cheat: 3; one, SoftSpoken | Fig. 4, step 3 | another bit in one block towards one party |
/// `OT extension consistency` | 1 − 2^-k, unless the party's Δ is 0 there
#[test]
fn another_bit_in_one_block_towards_one_peer() {
    for (k, runs) in [(TreeDepth::Two, 100), (TreeDepth::Four, 200)] {
        let rate = unnoticed(k, runs);
        let predicted = 0.5f64.powi(k.bits() as i32);
        rate.assert_predicted(predicted, &format!("{} bits a block, unnoticed", k.bits()));
        rate.assert_tells(predicted, (6.0 * predicted).min(0.9));
    }
}

/// The same often enough to tell a rate from half of it, and from less than twice of it.
/// Cheat: 3; one, SoftSpoken | Fig. 4, step 3 | another bit in one block towards one party, many
/// times | `OT extension consistency` | 1 − 2^-k
#[test]
#[ignore = "two minutes"]
fn many_other_bits_in_one_block() {
    for k in [TreeDepth::Two, TreeDepth::Four] {
        let predicted = 0.5f64.powi(k.bits() as i32);
        let rate = unnoticed(k, (400.0 / predicted) as u64);
        rate.assert_predicted(predicted, &format!("{} bits a block, unnoticed", k.bits()));
        rate.assert_tells(predicted, 0.5 * predicted);
        rate.assert_tells(predicted, 1.7 * predicted);
    }
}
