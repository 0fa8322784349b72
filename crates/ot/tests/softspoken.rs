//! SoftSpoken correlated OT between honest parties.

use std::collections::HashSet;

use proptest::prelude::*;
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::cot::{CHECK_BYTES, MAX_DRAW, column_bytes};
use symbolon_ot::{OtExtension, TreeDepth, Workspace, draw_bytes, setup};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Channel, Error};

use crate::common::{Direction, SESSION, assert_correlated, both, channels, prg};

const SIZES: [usize; 9] = [0, 1, 127, 128, 129, 1000, 0, 255, MAX_DRAW];

fn soft() -> [OtExtension; 3] {
    TreeDepth::ALL.map(|k| OtExtension::SoftSpoken { k })
}

#[test]
fn every_size_of_draw_and_many_in_a_row() {
    for ot_extension in soft() {
        let mut direction = Direction::by(ot_extension, 5);
        let mut seen = HashSet::new();
        for n in SIZES {
            let choices = BitVec::random(n, &mut prg(n as u128));
            let (keys, macs) = direction.draw(&choices).unwrap();
            assert_correlated(direction.delta, &choices, &keys, &macs);
            assert!(keys.iter().all(|key| seen.insert(key.0)), "{ot_extension}: a key twice");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// M = K ⊕ x·Δ by every extension, for any Δ and choices, over two draws.
    #[test]
    fn every_generator_gives_the_same_relation(
        delta in any::<u128>(),
        first in prop::collection::vec(any::<bool>(), 0..400),
        second in prop::collection::vec(any::<bool>(), 0..400),
    ) {
        for &ot_extension in OtExtension::DIRECT {
            let mut direction =
                Direction::made((ot_extension, 3), Block(delta), 1, Default::default());
            for choices in [&first, &second] {
                let choices = BitVec::from_bools(choices);
                let (keys, macs) = direction.draw(&choices).unwrap();
                assert_correlated(Block(delta), &choices, &keys, &macs);
            }
        }
    }
}

#[test]
fn a_draw_that_is_too_large_is_refused_and_sends_nothing() {
    for ot_extension in soft() {
        let mut direction = Direction::by(ot_extension, 7);
        let Direction { sender, receiver, channels, .. } = &mut direction;
        let (mut blocks, work) = (vec![Block::ZERO; MAX_DRAW + 1], &mut Workspace::default());
        let choices = BitVec::zeros(MAX_DRAW + 1);
        let too_large = receiver.extend(&mut channels.1, &choices, &mut blocks, work);
        assert!(matches!(too_large, Err(Error::InvalidInput(_))));
        let too_large = sender.extend(&mut channels.0, &mut blocks, work);
        assert!(matches!(too_large, Err(Error::InvalidInput(_))));
        assert!(channels.1.meter().report().iter().all(|phase| phase.bytes_sent == 0));
        // Neither side's streams moved on: the next draw is right.
        let choices = BitVec::random(9, &mut prg(1));
        let (keys, macs) = direction.draw(&choices).unwrap();
        assert_correlated(direction.delta, &choices, &keys, &macs);
    }
}

#[test]
fn the_meter_agrees_with_draw_bytes() {
    for (ot_extension, k) in soft().into_iter().zip([2, 4, 8]) {
        for n in SIZES {
            let mut direction = Direction::by(ot_extension, 8);
            direction.draw(&BitVec::zeros(n)).unwrap();
            let sent = |channel: &Channel| channel.meter().report()[0].clone();
            let (to, from) = (sent(&direction.channels.0), sent(&direction.channels.1));
            // Two messages, with headers of eight bytes; none back.
            let bytes = (draw_bytes(ot_extension, n) + 16) as u64;
            assert_eq!((from.messages_sent, from.bytes_sent), (2, bytes));
            assert_eq!((to.messages_sent, to.bytes_sent), (0, 0));
            assert_eq!(draw_bytes(ot_extension, n), 128 / k * column_bytes(n) + CHECK_BYTES);
        }
    }
}

/// What a party holds after one draw in each direction on each lane.
struct Drawn {
    delta: Block,
    /// Per lane: own choices, MACs on them, and keys for the peer's choices.
    lanes: Vec<(BitVec, Vec<Block>, Vec<Block>)>,
}

fn party(channel: &mut Channel, ot_extension: OtExtension, lanes: usize, n: usize) -> Drawn {
    let mut prg = prg(u128::from(channel.me()) + 1);
    let delta = prg.block();
    let lanes = setup::both_directions(
        channel,
        &SESSION,
        &GlobalKey::new(Delta::new(delta)),
        lanes,
        ot_extension,
        &mut prg,
    )
    .unwrap();
    let mut work = Workspace::default();
    let lanes = lanes.into_iter().map(|mut lane| {
        assert_eq!(**lane.sender.delta(), delta);
        let choices = BitVec::random(n, &mut prg);
        let (mut macs, mut keys) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
        lane.receiver.extend(channel, &choices, &mut macs, &mut work).unwrap();
        lane.sender.extend(channel, &mut keys, &mut work).unwrap();
        (choices, macs, keys)
    });
    Drawn { delta, lanes: lanes.collect() }
}

#[test]
fn both_directions_on_every_lane() {
    for ot_extension in soft() {
        for lanes in [1, 3] {
            let (a, b) = both(
                channels(),
                |channel| party(channel, ot_extension, lanes, 300),
                |channel| party(channel, ot_extension, lanes, 300),
            );
            assert_eq!((a.lanes.len(), b.lanes.len()), (lanes, lanes));
            let mut seen = HashSet::new();
            for (ours, theirs) in a.lanes.iter().zip(&b.lanes) {
                assert_correlated(b.delta, &ours.0, &theirs.2, &ours.1);
                assert_correlated(a.delta, &theirs.0, &ours.2, &theirs.1);
                let keys = ours.2.iter().chain(&theirs.2);
                assert!(keys.into_iter().all(|key| seen.insert(key.0)), "a key twice");
            }
        }
    }
}
