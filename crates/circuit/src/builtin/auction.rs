//! A sealed-bid auction at the second price.

use crate::builder::{Bit, Builder, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// An auction with `bidders` bids of `width` bits, bid i of party i. All learn the winner's number,
/// the lowest among equal bids; only party i learns `price_i`, the second-highest bid if it won and
/// 0 if not.
pub(super) fn auction(bidders: u32, width: u32) -> Result<Circuit, CircuitError> {
    let mut b = Builder::new(format!("auction:{bidders}x{width}"));
    let input = |b: &mut Builder, i: u32| b.input(format!("bid_{i}"), Type::Uint(width), i as u16);
    let bids: Vec<Word> = (0..bidders).map(|i| input(&mut b, i)).collect();
    let number_width = (u32::BITS - (bidders - 1).leading_zeros()) as usize;
    let number = |i: usize| Word::constant(number_width, i as u128);

    let mut winner = number(0);
    let mut highest = bids[0].clone();
    let mut second: Option<Word> = None;
    // Whether bidder i is ahead of all before it; the last one that is wins.
    let mut ahead = vec![Bit::ONE];
    for (i, bid) in bids.iter().enumerate().skip(1) {
        let better = b.lt(&highest, bid);
        winner = b.select(better, &number(i), &winner);
        let (high, low) = b.swap_if(better, &highest, bid);
        highest = high;
        second = Some(match second {
            None => low,
            Some(second) => b.max(&second, &low),
        });
        ahead.push(better);
    }
    let second = second.unwrap_or_else(|| Word::zero(width as usize));

    b.output("winner", &winner, Type::Uint(number_width as u32), Receivers::All);
    let mut passed = Bit::ZERO;
    let mut prices = vec![Word::default(); bids.len()];
    for (i, &ahead) in ahead.iter().enumerate().rev() {
        let won = b.and_bit(ahead, !passed);
        passed = b.or_bit(passed, ahead);
        prices[i] = b.and_each(won, &second);
    }
    for (i, price) in prices.iter().enumerate() {
        let to = Receivers::only([i as u16]);
        b.output(format!("price_{i}"), price, Type::Uint(width), to);
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::run;

    fn check(bids: &[u64], width: u32) {
        let circuit = auction(bids.len() as u32, width).unwrap();
        let inputs: Vec<BigUint> = bids.iter().map(|&bid| bid.into()).collect();
        let out = run(&circuit, &inputs);
        let highest = *bids.iter().max().unwrap();
        let winner = bids.iter().position(|&bid| bid == highest).unwrap();
        let others = bids.iter().enumerate().filter(|(i, _)| *i != winner);
        let second = *others.map(|(_, bid)| bid).max().unwrap();
        assert_eq!(out[0], winner.into(), "{bids:?}");
        for (i, price) in out[1..].iter().enumerate() {
            assert_eq!(*price, if i == winner { second.into() } else { BigUint::ZERO }, "{bids:?}");
        }
    }

    proptest! {
        #[test]
        fn the_highest_bid_wins_at_the_second_price(
            bids in prop::collection::vec(any::<u64>(), 2..20),
            width in 1u32..=64,
        ) {
            // Narrow bids are often equal.
            let bids: Vec<u64> = bids.into_iter().map(|bid| bid >> (64 - width)).collect();
            check(&bids, width);
        }
    }

    #[test]
    fn ties_go_to_the_lowest_number() {
        for bids in [[0, 0, 0], [7, 7, 1], [1, 7, 7], [7, 1, 7], [7, 7, 7]] {
            check(&bids, 3);
        }
    }

    #[test]
    fn bids_and_prices_are_each_partys_own() {
        let circuit = auction(5, 8).unwrap();
        let owners: Vec<_> = circuit.inputs().iter().map(|input| input.owner).collect();
        assert_eq!(owners, [0, 1, 2, 3, 4]);
        assert_eq!(circuit.outputs()[0].to, Receivers::All);
        assert_eq!(circuit.outputs()[0].ty, Type::Uint(3));
        assert_eq!(circuit.outputs()[4].name, "price_3");
        assert_eq!(circuit.outputs()[4].to, Receivers::only([3]));
        assert!(and_count(&circuit) < 5 * 6 * 8);
    }
}
