//! The blind test of the check of leaky ANDs: what is opened is ρ·Σ V_i.

use super::*;
use crate::laand::{TestHashes, ZeroTest};

/// What the parties open adds up to this, for these V; half of the V's bits are in the test at
/// ρ = 40.
fn opened(v: &[Block], width: Width, seed: u128) -> Block {
    let coin = Block(seed << 64 | 5);
    let ended = run(parties(v.len() as u16, 1, seed), |open, lanes| {
        let Preprocessor { lanes: made, session, prg, .. } = open;
        let hashes = TestHashes { session: session.as_bytes(), number: 3 };
        let (draws, channels) = (made[0].bits(), &mut lanes[0]);
        let mut test = ZeroTest::draw_own(draws, channels, width, prg)?;
        channels.iter_mut().try_for_each(Channel::flush)?;
        test.send(draws, channels, &hashes)?;
        channels.iter_mut().try_for_each(Channel::flush)?;
        test.receive(channels)?;
        let (rho, v) = (test.rho(coin), v[usize::from(channels[0].me())]);
        Ok((rho, test.share(channels, &hashes, coin, &v)?))
    });
    let (mut rho, mut sum) = (Block::ZERO, Block::ZERO);
    for (own, share) in all_end_well(ended) {
        rho ^= own;
        sum ^= share;
    }
    let all = v.iter().fold(Block::ZERO, |all, v| all ^ *v);
    assert_eq!(sum, product(width, rho, all));
    sum
}

/// Bit by bit, modulo X^128 + X^7 + X^2 + X + 1 or X^64 + X^4 + X^3 + X + 1.
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

/// It is the product with a ρ that is new each time, so zero tells only that the sum is zero.
#[test]
fn the_product_with_rho_is_opened() {
    let mut prg = Prg::from_seed(Block(fresh(70)));
    for (n, width) in [(2, Width::Half), (2, Width::Whole), (3, Width::Half), (5, Width::Whole)] {
        let mut v: Vec<Block> = (0..n).map(|_| prg.block()).collect();
        let [first, second] = [71, 72].map(|seed| opened(&v, width, seed));
        assert!(first != second && first != Block::ZERO);
        v[0] = v[1..].iter().fold(Block::ZERO, |sum, v| sum ^ *v);
        assert_eq!(opened(&v, width, 73), Block::ZERO);
    }
}
