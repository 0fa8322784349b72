//! One-hot vectors of masks: computes from shares of the k bits of a number r the shares of the 2^k
//! bits [r = j].
//!
//! With them every entry of a look-up's table is linear: T(c ⊕ r) = Σ_j T(c ⊕ j)·[r = j] (Damgård,
//! Nielsen, Nielsen and Ranellucci 2017, §4, make each entry by 7 separate products, 1 792 for the
//! S-box of AES). A vector for k bits is the outer product of those of its parts. One of its rows
//! and one of its columns follow from the others, because the bits of a vector sum to 1. That
//! leaves 2^k − k − 1 products in all, in ⌈log2 k⌉ rounds.
//!
//! Departure: `tinytable`: look-ups | 7 products per entry | one-hot vectors of the masks, by 2^k −
//! k − 1 products, then linear | the same authenticated values

use symbolon_preprocessing::{AuthShares, Triples};
use symbolon_transport::{Channel, Result};

use super::{
    flat::{self, Side},
    products::Products,
};

/// Computes the one-hot vectors of many numbers with the same number of bits. `bits` are the shares
/// of their bits, all first bits first; `triples` returns the requested number of triples. Returns,
/// by j, whether each number is j.
pub(crate) fn one_hot(
    channels: &mut [Channel],
    bits: Vec<AuthShares>,
    side: &Side,
    triples: &mut dyn FnMut(usize) -> Triples,
) -> Result<Vec<AuthShares>> {
    let single = |bit: AuthShares| {
        let mut none = bit.clone();
        side.flip(&mut none);
        vec![none, bit]
    };
    let mut vectors: Vec<Vec<AuthShares>> = bits.into_iter().map(single).collect();
    while vectors.len() > 1 {
        let mut next = Vec::new();
        let mut pairs = Vec::new();
        let mut rest = vectors.into_iter();
        while let Some(low) = rest.next() {
            match rest.next() {
                Some(high) => pairs.push((low, high)),
                None => next.push(low),
            }
        }
        // An unpaired vector is the highest part, and remains so.
        let merged = merge(channels, pairs, side, triples)?;
        next.splice(0..0, merged);
        vectors = next;
    }
    Ok(vectors.pop().unwrap_or_default())
}

/// Computes the outer products of pairs of vectors, all in one round.
///
/// Paper: DNNR17, §4 | tables of look-ups
fn merge(
    channels: &mut [Channel],
    pairs: Vec<(Vec<AuthShares>, Vec<AuthShares>)>,
    side: &Side,
    triples: &mut dyn FnMut(usize) -> Triples,
) -> Result<Vec<Vec<AuthShares>>> {
    let (mut x, mut y) = (flat::empty(0), flat::empty(0));
    for (low, high) in &pairs {
        for b in &high[1..] {
            for a in &low[1..] {
                flat::append(&mut x, a);
                flat::append(&mut y, b);
            }
        }
    }
    let triples = triples(x.len());
    let products = Products::open(channels, &x, &y, triples)?.receive(channels, side)?;
    let mut taken = 0;
    let outer = pairs.into_iter().map(|(low, high)| {
        let n = low[0].len();
        let mut next = || {
            taken += n;
            products.slice(taken - n..taken)
        };
        let mut out: Vec<AuthShares> = Vec::with_capacity(low.len() * high.len());
        // The row of high = 0 is `low` minus the other rows; in each row, the element low = 0 is
        // the bit of `high` minus the other elements.
        out.extend(low.iter().cloned());
        for b in &high[1..] {
            let mut first = b.clone();
            let row = out.len();
            out.push(flat::empty(0));
            for a in 1..low.len() {
                let product = next();
                flat::add(&mut first, &product);
                flat::add(&mut out[a], &product);
                out.push(product);
            }
            flat::add(&mut out[0], &first);
            out[row] = first;
        }
        out
    });
    Ok(outer.collect())
}
