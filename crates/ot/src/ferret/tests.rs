use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use symbolon_transport::adversary::{FnAdversary, assert_noticed, fresh};
use symbolon_transport::{Meter, memory_pair};

use super::*;
use crate::cot::COLUMNS;
use crate::pprf::{self, TreeDepth, TreeParams};
use crate::setup::Lane;
use crate::{OtExtension, iknp, softspoken};

#[path = "tests/cheats.rs"]
mod cheats;

const SESSION: [u8; 32] = [3; 32];

/// 12 trees of 128 leaves; an expansion yields 1 124 correlated OTs.
const TINY: LpnParams = LpnParams::tiny(200, 12, 7);

const IKNP: OtExtension = OtExtension::Iknp;
const SOFT: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Four };

/// One direction: party 0 has Δ, party 1 the bits.
struct Direction {
    delta: Block,
    sender: Sender,
    receiver: Receiver,
    channels: (Channel, Channel),
}

impl Direction {
    fn new(params: LpnParams, first: OtExtension, seed: u128) -> Self {
        let mut prg = Prg::from_seed(Block(fresh(seed)));
        let stream = ExtensionId { sender: Some(0.into()), receiver: 1.into(), lane: 1 };
        let delta = prg.block();
        let (sender, receiver) = first_extension(first, stream, delta, &mut prg);
        let sender = Sender::new(sender, &SESSION, stream, &[params], prg.child());
        let receiver = Receiver::new(receiver, &SESSION, stream, &[params], prg.child());
        let (mut a, mut b) = memory_pair(Meter::new(), Meter::new());
        a.set_timeout(Duration::from_secs(20));
        b.set_timeout(Duration::from_secs(20));
        Direction { delta, sender, receiver, channels: (a, b) }
    }

    /// Runs both sides, and returns their results. A side that fails closes its channel.
    fn run<A: Send, B: Send>(
        &mut self,
        party0: impl FnOnce(&mut Sender, &mut Channel) -> Result<A> + Send,
        party1: impl FnOnce(&mut Receiver, &mut Channel) -> Result<B> + Send,
    ) -> (Result<A>, Result<B>) {
        let (sender, receiver) = (&mut self.sender, &mut self.receiver);
        let (a, b) = (&mut self.channels.0, &mut self.channels.1);
        let ended = |channel: &mut Channel| channel.abort("a test's end");
        std::thread::scope(|scope| {
            let other = scope.spawn(move || {
                let result = party1(receiver, b).and_then(|r| b.flush().map(|()| r));
                if result.is_err() {
                    ended(b);
                }
                result
            });
            let first = party0(sender, a).and_then(|r| a.flush().map(|()| r));
            if first.is_err() {
                ended(a);
            }
            (first, other.join().expect("party 1"))
        })
    }

    fn expand(&mut self) -> (Result<()>, Result<()>) {
        self.run(|s, a| s.expand(a), |r, b| r.expand(b))
    }

    /// Performs one draw. Returns (keys, MACs), or an error of the sender or of the receiver.
    fn draw(&mut self, choices: &BitVec) -> (Result<Vec<Block>>, Result<Vec<Block>>) {
        let n = choices.len();
        let by_sender = move |sender: &mut Sender, channel: &mut Channel| {
            let mut keys = vec![Block::ZERO; n];
            sender.extend(channel, &mut keys, &mut Workspace::default()).map(|()| keys)
        };
        let by_receiver = |receiver: &mut Receiver, channel: &mut Channel| {
            let mut macs = vec![Block::ZERO; n];
            receiver.extend(channel, choices, &mut macs, &mut Workspace::default()).map(|()| macs)
        };
        self.run(by_sender, by_receiver)
    }

    /// Draws random bits, checks M = K ⊕ x·Δ for each, and returns the keys.
    #[track_caller]
    fn draw_right(&mut self, n: usize) -> Vec<Block> {
        let choices = BitVec::random(n, &mut Prg::from_seed(Block(n as u128)));
        let (keys, macs) = self.draw(&choices);
        let (keys, macs) = (keys.unwrap(), macs.unwrap());
        assert_correlated(self.delta, &choices, &keys, &macs);
        keys
    }

    /// Returns the number of a tree's leaf α in the expansion that waits for its check.
    fn alpha(&self, tree: usize) -> usize {
        let (supply, _) = self.receiver.pending.first().expect("an expansion");
        supply.alpha(tree)
    }
}

#[track_caller]
fn assert_correlated(delta: Block, choices: &BitVec, keys: &[Block], macs: &[Block]) {
    for (i, (key, mac)) in keys.iter().zip(macs).enumerate() {
        assert!(*mac == *key ^ delta.select(choices.get(i)), "MAC {i} of {}", keys.len());
    }
}

/// Returns both sides of an extension from known seeds.
fn first_extension(
    first: OtExtension,
    stream: ExtensionId,
    delta: Block,
    prg: &mut Prg,
) -> (Box<dyn CotSender>, Box<dyn CotReceiver>) {
    let pairs: [[Block; 2]; COLUMNS] = std::array::from_fn(|_| [prg.block(), prg.block()]);
    let chosen = std::array::from_fn(|i| pairs[i][(delta.0 >> i & 1) as usize]);
    let (delta, guard, tails) = (Delta::new(delta), Arc::default(), prg.child());
    match first {
        OtExtension::Iknp => (
            Box::new(iknp::Sender::new(&delta, &chosen, &SESSION, stream, guard)),
            Box::new(iknp::Receiver::new(&pairs, &SESSION, stream, tails)),
        ),
        OtExtension::SoftSpoken { k } => {
            let (tree_sender, tree_receiver) = (1.into(), 0.into());
            let tree_params = TreeParams { session: &SESSION, tree_sender, tree_receiver, k };
            let (all, message) = pprf::build_trees(tree_params, &pairs);
            let some = pprf::puncture(tree_params, &delta, &chosen, &message, &guard).unwrap();
            (
                Box::new(softspoken::Sender::new(&some, &SESSION, stream, guard)),
                Box::new(softspoken::Receiver::new(&all, &SESSION, stream, tails)),
            )
        }
        OtExtension::Ferret => unreachable!("it is no base of its own"),
    }
}

/// M = K ⊕ x·Δ over draws of many sizes, which need several expansions, from both kinds of base;
/// no key comes twice.
#[test]
fn draws_across_expansions() {
    for first in [IKNP, SOFT] {
        let mut direction = Direction::new(TINY, first, 1);
        let mut seen = HashSet::new();
        for n in [1, 0, 127, 128, 129, 1000, 3000, 5, 640] {
            let keys = direction.draw_right(n);
            assert!(keys.iter().all(|key| seen.insert(key.0)), "a key twice");
            assert_eq!(direction.sender.available(), direction.receiver.available());
        }
        assert!(direction.sender.binding.expansions > 4);
        assert_eq!(direction.sender.binding.digest, direction.receiver.binding.digest);
    }
}

/// The bits before derandomisation are as often 1 as 0, and each tree adds one bit of noise.
#[test]
fn random_bits_are_even() {
    let mut direction = Direction::new(TINY, IKNP, 2);
    let ones = Arc::new(std::sync::Mutex::new((0, 0)));
    let count = ones.clone();
    direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_state(move |at, bits| {
        if at == "ferret: bits" {
            // Without the tail, which is random in any case.
            let own = &bits[..bits.len() - 16];
            let mut count = count.lock().unwrap();
            count.0 += own.iter().map(|byte| byte.count_ones()).sum::<u32>();
            count.1 += 8 * own.len() as u32;
        }
    })));
    for _ in 0..20 {
        let choices = BitVec::zeros(1024);
        let (keys, macs) = direction.draw(&choices);
        assert_eq!(keys.unwrap(), macs.unwrap());
    }
    let (ones, all) = *ones.lock().unwrap();
    let sigma = (f64::from(all) / 4.0).sqrt();
    assert!((f64::from(ones) - f64::from(all) / 2.0).abs() < 6.0 * sigma, "{ones} of {all}");
}

/// The smallest real row, over more than one expansion.
#[test]
fn a_real_row() {
    let row = LpnParams::ROWS[0];
    let mut direction = Direction::new(row, SOFT, 3);
    for _ in 0..=row.gain() / MAX_DRAW {
        direction.draw_right(MAX_DRAW);
    }
    assert_eq!(direction.sender.binding.expansions, 2);
}

/// Every row.
#[test]
#[ignore = "a minute"]
fn all_rows() {
    for row in LpnParams::ROWS {
        let mut direction = Direction::new(row, SOFT, 4);
        for _ in 0..=row.gain() / MAX_DRAW {
            direction.draw_right(MAX_DRAW);
        }
        assert_eq!(direction.sender.binding.expansions, 2);
    }
}

/// Expansions in both directions at a time, over one channel, and more than one before a draw.
#[test]
fn both_directions_expand_together() {
    let mut prg = Prg::from_seed(Block(5));
    let (deltas, id) = ([prg.block(), prg.block()], |sender: u16| ExtensionId {
        sender: Some(sender.into()),
        receiver: (1 - sender).into(),
        lane: 1,
    });
    let mut side = |sender: u16| {
        let id = id(sender);
        let (s, r) = first_extension(IKNP, id, deltas[usize::from(sender)], &mut prg);
        let sender = Sender::new(s, &SESSION, id, &[TINY], prg.child());
        (sender, Receiver::new(r, &SESSION, id, &[TINY], prg.child()))
    };
    let ((sender0, receiver1), (sender1, receiver0)) = (side(0), side(1));
    let (a, b) = memory_pair(Meter::new(), Meter::new());
    let party = |mut channel: Channel, sender: Sender, receiver: Receiver| {
        let mut lanes = [Lane { sender: Box::new(sender), receiver: Box::new(receiver) }];
        let channels = std::slice::from_mut(&mut channel);
        // The party with the smaller number draws more.
        let [own, theirs] = match channels[0].me() == 0 {
            true => [7 * TINY.gain(), 1],
            false => [1, 7 * TINY.gain()],
        };
        crate::supply(channels, &mut lanes, own, &[theirs]).unwrap();
        let [Lane { sender, receiver }] = &mut lanes;
        let has = |n: usize| n.next_multiple_of(TINY.gain());
        assert_eq!(sender.silent().unwrap().available(), has(theirs));
        assert_eq!(receiver.silent().unwrap().available(), has(own));
        crate::supply(channels, &mut lanes, own.max(1700), &[theirs.max(1700)]).unwrap();
        let [Lane { sender, receiver }] = &mut lanes;
        let choices = BitVec::random(1500, &mut Prg::from_seed(Block(9)));
        let (mut macs, mut keys) = (vec![Block::ZERO; 1500], vec![Block::ZERO; 1500]);
        let mut work = Workspace::default();
        receiver.extend(&mut channel, &choices, &mut macs, &mut work).unwrap();
        sender.extend(&mut channel, &mut keys, &mut work).unwrap();
        channel.flush().unwrap();
        (choices, macs, keys)
    };
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| party(b, sender1, receiver1));
        (party(a, sender0, receiver0), other.join().unwrap())
    });
    assert_correlated(deltas[1], &first.0, &second.2, &first.1);
    assert_correlated(deltas[0], &second.0, &first.2, &second.1);
}

/// The meter agrees with the formulas.
#[test]
fn bytes_of_expansions_and_draws() {
    let mut direction = Direction::new(TINY, IKNP, 6);
    let (one, other) = direction.expand();
    one.unwrap();
    other.unwrap();
    let sent = |channel: &Channel| channel.meter().report()[0].bytes_sent as usize;
    let all = |d: &Direction| sent(&d.channels.0) + sent(&d.channels.1);
    // The first base, and three messages with headers of eight bytes.
    let base = iknp::draw_bytes(TINY.base()) + 16;
    assert_eq!(all(&direction), base + expansion_bytes(TINY) + 24);
    for n in [0, 1, 300] {
        let before = all(&direction);
        direction.draw_right(n);
        assert_eq!(all(&direction) - before, draw_bytes(n) + 16);
    }
    let before = all(&direction);
    let (one, other) = direction.expand();
    one.unwrap();
    other.unwrap();
    assert_eq!(all(&direction) - before, expansion_bytes(TINY) + 24);
}

/// A draw that is too large is refused before anything is sent.
#[test]
fn too_large_a_draw() {
    let mut direction = Direction::new(TINY, IKNP, 7);
    let (keys, macs) = direction.draw(&BitVec::zeros(MAX_DRAW + 1));
    for refused in [keys.map(drop), macs.map(drop)] {
        assert!(matches!(refused, Err(Error::InvalidInput(_))));
    }
}

/// Matrices, trees and coefficients of other expansions, sessions and sizes are others.
#[test]
fn expansions_are_bound_to_session_and_number() {
    let of = |session: u8, lane: u64, params: LpnParams| {
        let stream = ExtensionId { sender: Some(0.into()), receiver: 1.into(), lane };
        let mut binding = Binding::new(&[session; 32], stream);
        let first = binding.next(params);
        [binding.next(params), first].concat()
    };
    let all =
        [of(1, 1, TINY), of(2, 1, TINY), of(1, 2, TINY), of(1, 1, LpnParams::ROWS[0])].concat();
    let distinct: HashSet<u128> = all.iter().map(|block| block.0).collect();
    assert_eq!(distinct.len(), all.len());
    assert_eq!(of(1, 1, TINY), of(1, 1, TINY));
}

/// χ depends on the sums and on the receiver's seed: the same but for one of them, other χ.
#[test]
fn coefficients_follow_sums_and_seed() {
    let of = |point: &'static str| {
        let mut direction = Direction::new(TINY, IKNP, 36);
        let chi = Arc::new(std::sync::Mutex::new(Vec::new()));
        let copy = chi.clone();
        direction.channels.0.set_adversary(Box::new(FnAdversary::new().on_state(
            move |at, bytes| {
                if at == "ferret: chi" {
                    copy.lock().unwrap().extend_from_slice(bytes);
                } else if at == point {
                    bytes[0] ^= 1;
                }
            },
        )));
        direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_state(
            move |at, bytes| {
                if at == point {
                    bytes[0] ^= 1;
                }
            },
        )));
        direction.expand().0.unwrap();
        let chi = chi.lock().unwrap().clone();
        assert_eq!(chi.len(), 16 * TINY.leaves());
        chi
    };
    let [honest, again] = ["", ""].map(of);
    assert_eq!(honest, again);
    for point in ["ferret: sums", "ferret: seed"] {
        assert_ne!(of(point)[..16], honest[..16], "{point}");
    }
}

/// Another x': the receiver gets a hash that it cannot use, and the correlated OTs are what they
/// would have been. A seed that was chosen, or that of the expansion before, does no harm either:
/// the coefficients depend on the sums, too.
#[test]
fn another_challenge() {
    let mut direction = Direction::new(TINY, IKNP, 34);
    direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_state(|point, seed| {
        if point == "ferret: seed" {
            seed.fill(7);
        }
    })));
    let mut drawn = HashSet::new();
    for _ in 0..3 {
        let (one, other) = direction.expand();
        one.unwrap();
        other.unwrap();
        let [chi, _] = direction.sender.binding.coefficients(TINY);
        assert!(drawn.insert(chi[0].0));
    }
    direction.draw_right(1000);

    direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_state(|point, hidden| {
        if point == "ferret: x'" {
            hidden[0] ^= 1;
        }
    })));
    let (sender, receiver) = direction.expand();
    sender.unwrap();
    // The cheater sees it; an honest sender has nothing to see.
    assert_noticed(&receiver, 0, SILENT);
}
