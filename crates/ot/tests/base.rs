//! Base OT between honest parties, with malformed points, and with another session's messages.

use std::collections::HashSet;

use proptest::prelude::*;
use symbolon_ot::checks::{self, BASE_OT_POINT};
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::{OtExtension, base, setup};
use symbolon_primitives::{BitVec, Block, Delta, Prg};
use symbolon_transport::adversary::FnAdversary;
use symbolon_transport::{Channel, Error, Meter, Result, memory_lanes};
use zeroize::Zeroizing;

use crate::common::{SESSION, assert_caught, both, channels, prg, recorder, tampered};

/// Runs `n` base OTs as the sender.
fn send(
    channel: &mut Channel,
    session: &[u8; 32],
    n: usize,
    prg: &mut Prg,
) -> Result<Zeroizing<Vec<[Block; 2]>>> {
    base::Sender::begin(channel, session, prg)?.finish(channel, n)
}

/// Runs a base OT for each choice as the receiver.
fn receive(
    channel: &mut Channel,
    session: &[u8; 32],
    choices: &BitVec,
    prg: &mut Prg,
) -> Result<Zeroizing<Vec<Block>>> {
    base::Receiver::begin(channel, session, choices, prg)?.finish(channel)
}

type Keys = (Result<Zeroizing<Vec<[Block; 2]>>>, Result<Zeroizing<Vec<Block>>>);

fn run(session: &[u8; 32], choices: &BitVec, seed: u128) -> Keys {
    let n = choices.len();
    both(
        channels(),
        |channel| send(channel, session, n, &mut prg(seed)),
        |channel| receive(channel, session, choices, &mut prg(seed + 1)),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_receiver_gets_the_chosen_key_and_no_other(
        bits in prop::collection::vec(any::<bool>(), 0..24),
        seed in any::<u64>(),
    ) {
        let choices = BitVec::from_bools(&bits);
        let (pairs, keys) = run(&SESSION, &choices, u128::from(seed));
        let (pairs, keys) = (pairs.unwrap(), keys.unwrap());
        prop_assert_eq!((pairs.len(), keys.len()), (bits.len(), bits.len()));
        for ((pair, key), &bit) in pairs.iter().zip(keys.iter()).zip(&bits) {
            prop_assert!(*key == pair[usize::from(bit)]);
        }
        let distinct: HashSet<_> = pairs.iter().flatten().map(|key| key.0).collect();
        prop_assert_eq!(distinct.len(), 2 * bits.len());
    }
}

/// RFC 9496, A.3: encodings that are not group elements; and the identity, which is one, but would
/// give a key that everybody knows.
const MALFORMED: &[&str] = &[
    // The identity.
    "0000000000000000000000000000000000000000000000000000000000000000",
    // Non-canonical field elements.
    "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    // Negative field elements.
    "0100000000000000000000000000000000000000000000000000000000000000",
    "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
    // x² is not a square.
    "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
    // xy is negative.
    "3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e",
    // s = −1, which makes y zero.
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// McQuoid–Rosulek–Roy, first message: decoding always refuses a malformed point as A.
/// Cheat: 2 | first message | a malformed or low-order point as A | `base OT point decoding` |
/// always
#[test]
fn malformed_a() {
    for point in MALFORMED {
        let (mut a, b) = channels();
        let bytes = hex::decode(point).unwrap();
        a.set_adversary(tampered("base OT: A", 0, move |payload| payload.copy_from_slice(&bytes)));
        let choices = BitVec::from_bools(&[true, false]);
        let (_, keys) = both(
            (a, b),
            |channel| send(channel, &SESSION, 2, &mut prg(1)),
            |channel| receive(channel, &SESSION, &choices, &mut prg(2)),
        );
        assert_caught(keys, 0, BASE_OT_POINT);
    }
}

/// McQuoid–Rosulek–Roy, second message: decoding always refuses a malformed point as any of the s.
/// Cheat: 2 | second message | a malformed or low-order point as any s | `base OT point decoding` |
/// always
#[test]
fn malformed_s() {
    for (k, point) in MALFORMED.iter().enumerate() {
        let (a, mut b) = channels();
        let bytes = hex::decode(point).unwrap();
        let place = 80 * [0, 1, 2][k % 3];
        b.set_adversary(tampered("base OT: s, t", 0, move |payload| {
            payload[place..place + 32].copy_from_slice(&bytes);
        }));
        let choices = BitVec::from_bools(&[true, false, true]);
        let (pairs, _) = both(
            (a, b),
            |channel| send(channel, &SESSION, 3, &mut prg(1)),
            |channel| receive(channel, &SESSION, &choices, &mut prg(2)),
        );
        assert_caught(pairs, 1, BASE_OT_POINT);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Random bytes in place of one point are refused, or give a point whose logarithm nobody
    /// knows; then the keys of that OT no longer match.
    /// Cheat: 2 | second message | random bytes in place of a point | `base OT point decoding`, or
    /// keys that nobody knows | always
    #[test]
    fn random_bytes_as_a_point(bytes in any::<[u8; 32]>(), as_a in any::<bool>()) {
        let (mut a, mut b) = channels();
        if as_a {
            a.set_adversary(tampered("base OT: A", 0, move |payload| payload.copy_from_slice(&bytes)));
        } else {
            b.set_adversary(tampered("base OT: s, t", 0, move |p| p[..32].copy_from_slice(&bytes)));
        }
        let (pairs, keys) = both(
            (a, b),
            |channel| send(channel, &SESSION, 1, &mut prg(1)),
            |channel| receive(channel, &SESSION, &BitVec::zeros(1), &mut prg(2)),
        );
        match (pairs, keys) {
            (Ok(pairs), Ok(keys)) => prop_assert!(!pairs[0].contains(&keys[0])),
            (pairs, keys) => {
                let error = if as_a { keys.err() } else { pairs.err() }.expect("the victim's");
                let cheat = u16::from(!as_a);
                prop_assert_eq!(error, Error::misbehaved(cheat, BASE_OT_POINT));
            }
        }
    }
}

/// Messages of a wrong length never reach the decoding.
/// Cheat: 2 | both | short and long messages | `message framing` | always
#[test]
fn short_and_long_messages() {
    for change in [|p: &mut Vec<u8>| p.truncate(p.len() - 1), |p: &mut Vec<u8>| p.push(0)] {
        let (mut a, b) = channels();
        a.set_adversary(tampered("base OT: A", 0, change));
        let (_, keys) = both(
            (a, b),
            |channel| send(channel, &SESSION, 1, &mut prg(1)),
            |channel| receive(channel, &SESSION, &BitVec::zeros(1), &mut prg(2)),
        );
        assert_caught(keys, 0, "message framing");

        let (a, mut b) = channels();
        b.set_adversary(tampered("base OT: s, t", 0, change));
        let (pairs, _) = both(
            (a, b),
            |channel| send(channel, &SESSION, 1, &mut prg(1)),
            |channel| receive(channel, &SESSION, &BitVec::zeros(1), &mut prg(2)),
        );
        assert_caught(pairs, 1, "message framing");
    }
}

/// The receiver's message of another session is replayed to a sender that happens to use the same
/// A. Both keys differ from those of the first session, and the replayer does not know the chosen
/// one.
/// Cheat: 2 | second message | the reply of another session replayed | keys that nobody knows |
/// always
#[test]
fn a_replayed_reply_gives_keys_that_nobody_knows() {
    let choices = BitVec::from_bools(&[true, false, true, true]);
    let (record, spy) = recorder("base OT: s, t");
    let (a, mut b) = channels();
    b.set_adversary(spy);
    let (first_pairs, first_keys) = both(
        (a, b),
        |channel| send(channel, &SESSION, 4, &mut prg(1)).unwrap(),
        |channel| receive(channel, &SESSION, &choices, &mut prg(2)).unwrap(),
    );
    let replay = record.lock().unwrap()[0].clone();
    let (a, mut b) = channels();
    b.set_adversary(tampered("base OT: s, t", 0, move |payload| payload.clone_from(&replay)));
    let (pairs, keys) = both(
        (a, b),
        |channel| send(channel, &[2; 32], 4, &mut prg(1)).unwrap(),
        |channel| receive(channel, &[2; 32], &choices, &mut prg(2)).unwrap(),
    );
    for k in 0..4 {
        assert!(!pairs[k].contains(&first_keys[k]));
        assert!(!pairs[k].contains(&keys[k]));
        assert!(pairs[k].iter().all(|key| !first_pairs[k].contains(key)));
    }
}

/// A third party between the sender and a receiver passes on the receiver's message. The two pairs
/// of parties have no key in common, although session, A and points are the same.
/// Cheat: 3 | second message | a reply passed on between two pairs of parties | keys that nobody
/// knows | always
#[test]
fn a_reply_passed_on_gives_keys_that_nobody_knows() {
    let choices = BitVec::from_bools(&[true, false, true, true]);
    let run = |receiver: u16, adversary: Box<FnAdversary>| {
        let (mut a, mut b) =
            memory_lanes((0, Meter::new()), (receiver, Meter::new()), 1, None).unwrap();
        b[0].set_adversary(adversary);
        both(
            (a.remove(0), b.remove(0)),
            |channel| send(channel, &SESSION, 4, &mut prg(1)).unwrap(),
            |channel| receive(channel, &SESSION, &choices, &mut prg(2)).unwrap(),
        )
    };
    let (record, spy) = recorder("base OT: s, t");
    let (first_pairs, first_keys) = run(2, spy);
    let passed_on = record.lock().unwrap()[0].clone();
    let (pairs, _) = run(1, tampered("base OT: s, t", 0, move |r| r.clone_from(&passed_on)));
    for k in 0..4 {
        assert!(first_pairs[k].contains(&first_keys[k]));
        assert!(!pairs[k].contains(&first_keys[k]));
        assert!(pairs[k].iter().all(|key| !first_pairs[k].contains(key)));
    }
}

/// A of another session is replayed in a whole set-up. The keys do not match, so the first
/// extension, which the honest party checks, fails.
/// Cheat: 2 | first message | A of another session replayed in a set-up | `OT extension
/// consistency` | always
#[test]
fn a_replayed_a_fails_the_first_extension() {
    let whole = |session: &[u8; 32], seed: u128, channel: &mut symbolon_transport::Channel| {
        let mut prg = prg(seed);
        let delta = prg.block();
        setup::both_directions(
            channel,
            session,
            &GlobalKey::new(Delta::new(delta)),
            1,
            OtExtension::Iknp,
            &mut prg,
        )
        .map(drop)
    };
    let (record, spy) = recorder("base OT: A");
    let (mut a, b) = channels();
    a.set_adversary(spy);
    let (first, second) =
        both((a, b), |channel| whole(&SESSION, 1, channel), |channel| whole(&SESSION, 2, channel));
    first.unwrap();
    second.unwrap();
    let replay = record.lock().unwrap()[0].clone();
    let (mut a, b) = channels();
    a.set_adversary(tampered("base OT: A", 0, move |payload| payload.clone_from(&replay)));
    let (_, second) =
        both((a, b), |channel| whole(&[2; 32], 3, channel), |channel| whole(&[2; 32], 4, channel));
    assert_caught(second, 0, checks::EXTENSION);
}
