//! Rows of MACs and keys, many at a time: copied, XORed, interleaved.

use crate::{Backend, BitVec, Block};

/// The number of blocks copied at a time: 2 KiB.
const COPIED: usize = 128;

/// Copies `values[i]` to `out[i]`.
///
/// For more than a few KiB, C libraries implement `copy_from_slice` with `rep movsb`, which
/// processors claim to execute fast. On some it takes five times as long as plain loads and stores
/// if the two rows are at similar distances from the start of a page, as rows of one size are.
/// Smaller pieces are copied with loads and stores.
///
/// # Panics
/// If the lengths differ.
pub fn copy_blocks(out: &mut [Block], values: &[Block]) {
    assert_eq!(out.len(), values.len(), "a block for each");
    for (out, values) in out.chunks_mut(COPIED).zip(values.chunks(COPIED)) {
        out.copy_from_slice(values);
    }
}

/// Appends `values`, copied like in [`copy_blocks`].
pub fn append_blocks(out: &mut Vec<Block>, values: &[Block]) {
    out.reserve(values.len());
    values.chunks(COPIED).for_each(|values| out.extend_from_slice(values));
}

/// Adds `values[i]` to `out[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn xor_blocks(out: &mut [Block], values: &[Block]) {
    Backend::active().xor_blocks(out, values);
}

/// Adds `a[i]` and `b[i]` to `out[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn xor_sums(out: &mut [Block], a: &[Block], b: &[Block]) {
    Backend::active().xor_sums(out, a, b);
}

/// Sets `out[i]` to `[macs[i], keys[i]]`.
///
/// # Panics
/// If the lengths differ.
pub fn interleave_blocks(macs: &[Block], keys: &[Block], out: &mut [[Block; 2]]) {
    Backend::active().interleave_blocks(macs, keys, out);
}

/// Like [`interleave_blocks`], but with `more[0][i]` added to the MAC and `more[1][i]` to the key
/// where bit `i` is 1; without a branch.
///
/// # Panics
/// If the lengths differ.
pub fn interleave_masked(
    [macs, keys]: [&[Block]; 2],
    bits: &BitVec,
    more: [&[Block]; 2],
    out: &mut [[Block; 2]],
) {
    assert_eq!(bits.len(), out.len(), "a bit for each pair");
    Backend::active().interleave_masked([macs, keys], bits.words(), more, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    const LENGTHS: [usize; 14] = [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 67, 128, 331];

    fn blocks(prg: &mut Prg, n: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; n];
        prg.fill_blocks(&mut blocks);
        blocks
    }

    #[test]
    fn copies_are_whole() {
        let mut prg = Prg::from_seed(Block(2));
        for n in LENGTHS {
            let (mut out, values) = (blocks(&mut prg, n), blocks(&mut prg, n));
            let mut all = out.clone();
            append_blocks(&mut all, &values);
            assert!(all == [&out[..], &values].concat(), "{n}");
            copy_blocks(&mut out, &values);
            assert!(out == values, "{n}");
        }
    }

    #[test]
    #[should_panic = "a block for each"]
    fn refuses_to_copy_less() {
        copy_blocks(&mut [Block::ZERO; 2], &[Block::ONE; 3]);
    }

    #[test]
    fn every_backend_adds_up() {
        let mut prg = Prg::from_seed(Block(1));
        for n in LENGTHS {
            let [before, a, b] = [(); 3].map(|()| blocks(&mut prg, n));
            let one: Vec<Block> = (0..n).map(|i| before[i] ^ a[i]).collect();
            let both: Vec<Block> = (0..n).map(|i| before[i] ^ a[i] ^ b[i]).collect();
            for backend in Backend::available() {
                let (mut out, mut sums) = (before.clone(), before.clone());
                backend.xor_blocks(&mut out, &a);
                backend.xor_sums(&mut sums, &a, &b);
                assert!(out == one && sums == both, "{backend:?} {n}");
            }
            let (mut out, mut sums) = (before.clone(), before);
            xor_blocks(&mut out, &a);
            xor_sums(&mut sums, &a, &b);
            assert!(out == one && sums == both, "{n}");
        }
    }

    #[test]
    fn every_backend_puts_side_by_side() {
        let mut prg = Prg::from_seed(Block(2));
        for n in LENGTHS {
            let [macs, keys, more_macs, more_keys] = [(); 4].map(|()| blocks(&mut prg, n));
            let bits = BitVec::random(n, &mut prg);
            let more = |row: &[Block], i: usize| row[i].select(bits.get(i));
            let pairs: Vec<[Block; 2]> = (0..n).map(|i| [macs[i], keys[i]]).collect();
            let sum = |i: usize| [macs[i] ^ more(&more_macs, i), keys[i] ^ more(&more_keys, i)];
            let sums: Vec<[Block; 2]> = (0..n).map(sum).collect();
            for backend in Backend::available() {
                let mut out = vec![[Block::ONE; 2]; n];
                backend.interleave_blocks(&macs, &keys, &mut out);
                assert_eq!(out, pairs, "{backend:?} {n}");
                let rows = ([&macs[..], &keys], [&more_macs[..], &more_keys]);
                backend.interleave_masked(rows.0, bits.words(), rows.1, &mut out);
                assert_eq!(out, sums, "{backend:?} {n}");
            }
            let mut out = vec![[Block::ONE; 2]; n];
            interleave_blocks(&macs, &keys, &mut out);
            assert_eq!(out, pairs);
            interleave_masked([&macs, &keys], &bits, [&more_macs, &more_keys], &mut out);
            assert_eq!(out, sums);
        }
    }

    #[test]
    #[should_panic(expected = "a value for each sum")]
    fn refuses_missing_values() {
        xor_blocks(&mut [Block::ONE], &[]);
    }

    #[test]
    #[should_panic(expected = "two values for each sum")]
    fn refuses_missing_addends() {
        xor_sums(&mut [Block::ONE], &[Block::ONE], &[]);
    }

    #[test]
    #[should_panic(expected = "a MAC and a key for each pair")]
    fn refuses_missing_keys() {
        interleave_blocks(&[Block::ONE], &[], &mut [[Block::ONE; 2]]);
    }

    #[test]
    #[should_panic(expected = "a bit for each pair")]
    fn refuses_missing_bits() {
        let one = [Block::ONE];
        interleave_masked([&one, &one], &BitVec::zeros(0), [&one, &one], &mut [[Block::ONE; 2]]);
    }

    #[test]
    #[should_panic(expected = "a MAC and a key for each pair")]
    fn refuses_missing_values_for_pairs() {
        let one = [Block::ONE];
        interleave_masked([&one, &one], &BitVec::zeros(1), [&one, &[]], &mut [[Block::ONE; 2]]);
    }
}
