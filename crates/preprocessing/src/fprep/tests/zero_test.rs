//! The blind test in the check of leaky ANDs: it opens ρ·Σ V_i.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc;

use symbolon_transport::adversary::{Action, FnAdversary};

use super::*;
use crate::checks::LEAKY_AND;
use crate::laand::{TestHashes, Width, ZeroTest};

/// The results of a test of these V.
struct Tested {
    /// The opened ρ·Σ V_i.
    sum: Block,
    /// The p_i.
    shares: Vec<Block>,
    /// What party 0 sends party 1 in place of its V.
    masked: Block,
    /// What party 1 can compute from each of party 0's c: the other string of that OT, masked by
    /// R_0.
    others: Vec<Block>,
}

/// Runs the test alone; at ρ = 40 it covers half of V's bits.
fn tested(v: &[Block], width: Width, seed: u128) -> Tested {
    let coin = Block(seed << 64 | 5);
    let mut parties = parties(v.len() as u16, 1, seed);
    let (tell, told) = mpsc::channel();
    let listen = FnAdversary::new().on_message("leaky AND: masked V", 0, move |sent| {
        tell.send(low_block(sent)).unwrap();
        Action::Send
    });
    mesh::listen(&mut parties[0].lanes, 1, listen);
    let ended = run(parties, |open, lanes| {
        let Preprocessor { lanes: made, session, prg, .. } = open;
        let hashes = TestHashes { session: session.as_bytes(), number: 3 };
        let (draws, channels) = (made[0].bits(), &mut lanes[0]);
        let mut test = ZeroTest::draw_own(draws, channels, width, prg)?;
        channels.iter_mut().try_for_each(Channel::flush)?;
        test.send(draws, channels, &hashes)?;
        channels.iter_mut().try_for_each(Channel::flush)?;
        test.receive(channels)?;
        let (rho, others) = (test.rho(coin), test.others(&hashes, &channels[0]));
        let v = v[usize::from(channels[0].me())];
        test.send_masked(channels, &v)?;
        channels.iter_mut().try_for_each(Channel::flush)?;
        Ok((rho, others, test.share(channels, &hashes, coin, &v)?))
    });
    let (mut rho, mut shares, mut others) = (Block::ZERO, Vec::new(), Vec::new());
    for (own_rho, own_others, share) in all_end_well(ended) {
        rho ^= own_rho;
        others.push(own_others);
        shares.push(share);
    }
    let [sum, all] = [&shares[..], v].map(|list| list.iter().fold(Block::ZERO, |a, b| a ^ *b));
    assert_eq!(sum, product(width, rho, all));
    Tested { sum, shares, masked: told.recv().unwrap(), others: others.swap_remove(1) }
}

/// Returns a block that begins with these bytes.
fn low_block(bytes: &[u8]) -> Block {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    Block::from_bytes(block)
}

/// Multiplies bit by bit, modulo X^128 + X^7 + X^2 + X + 1 or X^64 + X^4 + X^3 + X + 1.
fn product(width: Width, a: Block, b: Block) -> Block {
    let (bits, rest) = match width {
        Width::Half => (64, 0b11011),
        Width::Whole => (128, 0b1000_0111),
    };
    let mask = u128::MAX >> (128 - bits);
    (0..bits).rev().fold(Block::ZERO, |sum, k| {
        let carry = if sum.0 >> (bits - 1) & 1 == 1 { rest } else { 0 };
        let doubled = sum.0 << 1 & mask ^ carry;
        Block(doubled ^ if a.0 >> k & 1 == 1 { b.0 & mask } else { 0 })
    })
}

/// The opened value is the product with a fresh ρ each time, so zero reveals only that the sum is
/// zero.
#[test]
fn the_product_with_rho_is_opened() {
    let mut prg = Prg::from_seed(Block(fresh(70)));
    for (n, width) in [(2, Width::Half), (2, Width::Whole), (3, Width::Half), (5, Width::Whole)] {
        let mut v: Vec<Block> = (0..n).map(|_| prg.block()).collect();
        let [first, second] = [71, 72].map(|seed| tested(&v, width, seed).sum);
        assert!(first != second && first != Block::ZERO);
        v[0] = v[1..].iter().fold(Block::ZERO, |sum, v| sum ^ *v);
        assert_eq!(tested(&v, width, 73).sum, Block::ZERO);
    }
}

/// No message reveals V or R: the same V leads to different messages, no two c of a party have the
/// same mask, and among three parties the shares of a zero are random.
#[test]
fn no_message_shows_v() {
    let mut prg = Prg::from_seed(Block(fresh(74)));
    for (n, width) in [(2, Width::Half), (2, Width::Whole), (3, Width::Half), (3, Width::Whole)] {
        let mut v: Vec<Block> = (0..n).map(|_| prg.block()).collect();
        v[0] = v[1..].iter().fold(Block::ZERO, |sum, v| sum ^ *v);
        let [first, second] = [75, 76].map(|seed| tested(&v, width, seed));
        assert_ne!(first.masked, second.masked);
        for tested in [&first, &second] {
            assert_ne!(tested.masked, low_block(&v[0].to_bytes()[..width.bytes()]));
            // If R were not masked, half of these would be R.
            let masks: HashSet<u128> = tested.others.iter().map(|other| other.0).collect();
            assert_eq!(masks.len(), 48 * width.bytes());
        }
        for (first, second) in first.shares.iter().zip(&second.shares).filter(|_| n > 2) {
            assert!(first != second && *first != Block::ZERO);
        }
    }
}

/// With a wrong d the sum of all V is a factor known to the cheater times Δ. What it sees of the
/// honest party's V must not reveal the sum.
/// Cheat: 2 | Fig. 14, step 5 | a flipped d, to learn Δ from the V that does not fit | `leaky AND`,
/// and no message shows V | always
#[test]
fn a_failed_check_does_not_give_the_sum_away() {
    for rho in [40, 80] {
        for cheater in [0, 1] {
            let mut parties = parties(2, 1, 77 + u128::from(rho));
            parties.iter_mut().for_each(|party| party.open.rho = rho);
            let (tell, told) = mpsc::channel();
            let [own, honest, sent] = [(); 3].map(|()| tell.clone());
            let cheat = FnAdversary::new().on_state(move |at, data| match at {
                "leaky AND: S" => data[0] ^= 1,
                "leaky AND: V" => own.send(("own", low_block(data))).unwrap(),
                _ => {}
            });
            let cheat = cheat.on_incoming(move |kind, _, payload| match kind {
                "leaky AND: masked V" => sent.send(("masked", low_block(payload))).unwrap(),
                "leaky AND: blinded V" => sent.send(("share", low_block(&payload[32..]))).unwrap(),
                _ => {}
            });
            let spy = FnAdversary::new().on_state(move |at, data| {
                if at == "leaky AND: V" {
                    honest.send(("honest", low_block(data))).unwrap();
                }
            });
            mesh::cheat(&mut parties[usize::from(cheater)].lanes, 1 - cheater, cheat);
            mesh::listen(&mut parties[usize::from(1 - cheater)].lanes, cheater, spy);
            let batch = Batch { triples: 7, bucket: 3 };
            let ended = run(parties, |open, lanes| open.triples(lanes, batch));
            let ended: Vec<_> = ended.into_iter().map(|(_, result)| result).collect();
            mesh::assert_caught(&ended, &[cheater], LEAKY_AND);
            drop(tell);
            let told: HashMap<&str, Block> = told.into_iter().collect();
            let w = if rho == 40 { 8 } else { 16 };
            let low = |name: &str| low_block(&told[name].to_bytes()[..w]);
            let [own, honest, masked, share] = ["own", "honest", "masked", "share"].map(low);
            assert_ne!(own, honest);
            for seen in [masked, share, masked ^ share] {
                assert!(seen != honest && seen != own ^ honest);
            }
        }
    }
}
