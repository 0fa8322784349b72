use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use symbolon_transport::adversary::{Action, FnAdversary, Rate, assert_noticed, fresh};
use symbolon_transport::{Meter, memory_pair};

use super::*;
use crate::checks::EXTENSION;
use crate::cot::COLUMNS;
use crate::pprf::{self, TreeDepth, TreeParams};
use crate::{OtExtension, iknp, softspoken};

const SESSION: [u8; 32] = [3; 32];

/// 12 trees of 128 leaves; an expansion yields 1 024 correlated OTs.
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
        let sender = Sender::new(sender, &SESSION, stream, params, prg.child());
        let receiver = Receiver::new(receiver, &SESSION, stream, params, prg.child());
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
        let (supply, _) = self.receiver.pending.as_ref().expect("an expansion");
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
        let sender = Sender::new(s, &SESSION, id, TINY, prg.child());
        (sender, Receiver::new(r, &SESSION, id, TINY, prg.child()))
    };
    let ((sender0, receiver1), (sender1, receiver0)) = (side(0), side(1));
    let (a, b) = memory_pair(Meter::new(), Meter::new());
    let party = |mut channel: Channel, mut sender: Sender, mut receiver: Receiver| {
        for _ in 0..3 {
            expand_both(&mut channel, &mut sender, &mut receiver).unwrap();
        }
        assert_eq!([sender.available(), receiver.available()], [3 * TINY.gain(); 2]);
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
        let mut binding = Binding::new(&[session; 32], stream, params);
        let first = binding.next();
        [binding.next(), first].concat()
    };
    let all =
        [of(1, 1, TINY), of(2, 1, TINY), of(1, 2, TINY), of(1, 1, LpnParams::ROWS[0])].concat();
    let distinct: HashSet<u128> = all.iter().map(|block| block.0).collect();
    assert_eq!(distinct.len(), all.len());
    assert_eq!(of(1, 1, TINY), of(1, 1, TINY));
}

/// A wrong sum at any level, with or without the cheater's own hashes following it.
/// Cheat: 2, Ferret | sums | a wrong sum for a level of a tree | `silent OT consistency` | always
#[test]
fn wrong_sums() {
    for level in 0..TINY.height {
        for in_transit in [false, true] {
            let mut direction = Direction::new(TINY, IKNP, 20);
            let at = 16 * (5 * TINY.height + level) + 3;
            let adversary = if in_transit {
                FnAdversary::new().on_message("ferret: sums", 0, move |sums| {
                    sums[at] ^= 1;
                    Action::Send
                })
            } else {
                FnAdversary::new().on_state(move |point, sums| {
                    if point == "ferret: sums" {
                        sums[at] ^= 1;
                    }
                })
            };
            direction.channels.0.set_adversary(Box::new(adversary));
            assert_noticed(&direction.expand().1, 0, SILENT);
            assert_eq!(direction.receiver.available(), 0);
            assert!(matches!(
                direction.expand().1,
                Err(Error::Internal(_) | Error::Transport { .. } | Error::PeerMisbehaved { .. })
            ));
        }
    }
}

/// The best guess: the sum of one tree's last level is wrong by ε. The receiver's leaf α, and the
/// one that differs from it in the last bit, are then wrong by ε. The cheater adds their χ for a
/// guess of α's other bits to V, and passes exactly if the guess is right.
fn guess_of_a_place(height: usize, seed: u128, guess: usize) -> bool {
    let params = LpnParams::tiny(40, 60, height);
    let (tree, epsilon) = (7, Block(1 << 77 | 5));
    let mut direction = Direction::new(params, IKNP, seed);
    let (mut chi, half) = (Block::ZERO, 1 << (height - 1));
    let of = |bytes: &[u8], i: usize| Block::from_bytes(bytes[16 * i..][..16].try_into().unwrap());
    let changed = FnAdversary::new().on_state(move |point, bytes| {
        let mut add = |i: usize, value: Block| {
            let sum = of(bytes, i) ^ value;
            bytes[16 * i..][..16].copy_from_slice(&sum.to_bytes());
        };
        match point {
            "ferret: sums" => add(tree * height + height - 1, epsilon),
            "ferret: V" => add(0, chi),
            "ferret: chi" => chi = of(bytes, guess) ^ of(bytes, guess + half),
            "ferret: rho" => chi = gf128::mul(gf128::mul(of(bytes, tree), epsilon), chi),
            _ => (),
        }
    });
    direction.channels.0.set_adversary(Box::new(changed));
    let offered = direction.run(Sender::offer, |r, b| {
        r.send_base(b)?;
        r.challenge(b)
    });
    (offered.0.unwrap(), offered.1.unwrap());
    let right = direction.alpha(tree) % half == guess;
    let answered = direction.run(Sender::answer, Receiver::accept);
    match right {
        true => answered.1.unwrap(),
        false => assert_noticed(&answered.1, 0, SILENT),
    }
    right
}

/// Cheat: 2, Ferret | sums, answer | sums that fit some places, and V for a guess of a place | `silent
/// OT consistency` | 1 − 2^-(h − 1), for trees of 2^h leaves
#[test]
fn guesses_of_a_place() {
    for (height, runs) in [(3, 600), (4, 1_200)] {
        let run = |seed: u64| guess_of_a_place(height, 1000 + u128::from(seed), 1);
        let rate: Rate = (0..runs).map(run).collect();
        let predicted = 0.5f64.powi(height as i32 - 1);
        rate.assert_predicted(predicted, &format!("places of {height} bits, unnoticed"));
        rate.assert_tells(predicted, predicted / 2.5);
        rate.assert_tells(predicted, 2.0 * predicted);
    }
}

/// A wrong hash of V, one of another expansion, or one that is too short or long.
/// Cheat: 2, Ferret | answer | a wrong hash; that of the expansion before | `silent OT consistency`
/// | always
#[test]
fn wrong_answers() {
    for replay in [false, true] {
        let mut direction = Direction::new(TINY, IKNP, 30);
        let mut before: Option<Vec<u8>> = None;
        direction.channels.0.set_adversary(Box::new(FnAdversary::new().on_state(
            move |point, answer| {
                if point == "ferret: answer" {
                    match &before {
                        None => before = Some(answer.to_vec()),
                        Some(before) if replay => answer.copy_from_slice(before),
                        Some(_) => answer[31] ^= 0x80,
                    }
                }
            },
        )));
        let (one, other) = direction.expand();
        (one.unwrap(), other.unwrap());
        assert_noticed(&direction.expand().1, 0, SILENT);
    }
}

/// Cheat: 2, Ferret | every message | a byte short, nothing, twice the bytes | `message framing` |
/// always
#[test]
fn short_and_long() {
    let cheats: [fn(&mut Vec<u8>); 3] =
        [|bytes| bytes.truncate(bytes.len() - 1), Vec::clear, |bytes| bytes.extend_from_within(..)];
    for change in cheats {
        for kind in ["ferret: sums", "ferret: answer", "ferret: challenge", "ferret: bits"] {
            let mut direction = Direction::new(TINY, IKNP, 31);
            let by_sender = ["ferret: sums", "ferret: answer"].contains(&kind);
            let adversary = FnAdversary::new().on_message(kind, 0, move |bytes| {
                change(bytes);
                Action::Send
            });
            let channels = &mut direction.channels;
            let channel = if by_sender { &mut channels.0 } else { &mut channels.1 };
            channel.set_adversary(Box::new(adversary));
            let (keys, macs) = direction.draw(&BitVec::zeros(100));
            match by_sender {
                true => assert_noticed(&macs, 0, "message framing"),
                false => assert_noticed(&keys, 1, "message framing"),
            }
        }
    }
}

/// The receiver's bits changed: by itself, or on their way.
/// Cheat: 2, Ferret | bits | other bits than those of the check | `OT extension consistency` |
/// always
#[test]
fn wrong_bits() {
    for in_transit in [false, true] {
        for at in [0, 12, 20] {
            let mut direction = Direction::new(TINY, SOFT, 32);
            let adversary = match in_transit {
                true => FnAdversary::new().on_message("ferret: bits", 0, move |bits| {
                    bits[at] ^= 4;
                    Action::Send
                }),
                false => FnAdversary::new().on_state(move |point, bits| {
                    if point == "ferret: bits" {
                        bits[at] ^= 4;
                    }
                }),
            };
            direction.channels.1.set_adversary(Box::new(adversary));
            assert_noticed(&direction.draw(&BitVec::zeros(100)).0, 1, EXTENSION);
        }
    }
}

/// Cheat: 2, Ferret | check | a wrong x̃ or column hash | `OT extension consistency` | always
#[test]
fn wrong_check() {
    let mut direction = Direction::new(TINY, IKNP, 33);
    for at in (0..16).chain((0..COLUMNS).map(|column| 16 * (1 + column) + 5)) {
        // The first base has one draw with a check of its own.
        let index = usize::from(direction.sender.available() == 0);
        let adversary =
            FnAdversary::new().on_message("correlated OT: check", index, move |check| {
                check[at] ^= 4;
                Action::Send
            });
        direction.channels.1.set_adversary(Box::new(adversary));
        assert_noticed(&direction.draw(&BitVec::zeros(10)).0, 1, EXTENSION);
        direction = Direction::new(TINY, IKNP, 33);
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
        (one.unwrap(), other.unwrap());
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

/// A cheat in the draws of the first base is caught by its own check.
/// Cheat: 2, Ferret | the first base | another choice bit in a column | `OT extension consistency`
/// | always, where Δ is not 0 there
#[test]
fn the_first_base_is_checked() {
    let mut direction = Direction::new(TINY, IKNP, 35);
    let column = direction.delta.0.trailing_zeros() as usize;
    let stride = column_bytes(TINY.base());
    direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_state(move |point, u| {
        if point == "iknp: u" {
            u[column * stride] ^= 1;
        }
    })));
    assert_noticed(&direction.expand().0, 1, EXTENSION);
}
