//! Additions selected by bits, and halves of blocks: the arithmetic of MACs and keys, many at a
//! time.
//!
//! Timing: bits, blocks | masks by register comparison, PDEP with a constant mask, or masked XOR

use crate::{Backend, BitVec, Block};

/// Adds `values[i]` to `out[i]` where bit `first + i` of `bits` is 1; without a branch.
///
/// # Panics
/// If the lengths differ, `first` is not a multiple of 64, or there are fewer bits.
pub fn xor_masked(out: &mut [Block], bits: &BitVec, first: usize, values: &[Block]) {
    assert_eq!(out.len(), values.len(), "a value for each sum");
    Backend::active().xor_masked(out, words(bits, first, out.len()), values);
}

/// Adds `values[i]` to `out[i]` where bit `first + i` of `bits` is 1, like [`xor_masked`], for
/// 64-bit values.
///
/// # Panics
/// If the lengths differ, `first` is not a multiple of 64, or there are fewer bits.
pub fn xor_words_masked(out: &mut [u64], bits: &BitVec, first: usize, values: &[u64]) {
    assert_eq!(out.len(), values.len(), "a value for each sum");
    Backend::active().xor_words_masked(out, words(bits, first, out.len()), values);
}

/// Adds the same `value` to `out[i]` where bit `first + i` of `bits` is 1; without a branch.
///
/// # Panics
/// If `first` is not a multiple of 64, or there are fewer bits.
pub fn xor_key_masked(out: &mut [Block], bits: &BitVec, first: usize, value: Block) {
    Backend::active().xor_key_masked(out, words(bits, first, out.len()), value);
}

/// Writes the lower half of each block.
///
/// # Panics
/// If the lengths differ.
pub fn truncate_u64(blocks: &[Block], out: &mut [u64]) {
    Backend::active().truncate_u64(blocks, out);
}

/// Writes the least significant bits of words; of each 64, the first becomes the lowest bit.
///
/// # Panics
/// If there is not a word for each 64 bits.
pub fn lsbs(words: &[u64], out: &mut [u64]) {
    Backend::active().lsbs(words, out);
}

/// Returns the words of `n` bits from `first` on.
fn words(bits: &BitVec, first: usize, n: usize) -> &[u64] {
    assert!(first.is_multiple_of(64), "bit {first} does not begin a word");
    let end = first.checked_add(n).filter(|&end| end <= bits.len());
    assert!(end.is_some(), "{n} bits from {first} on of {}", bits.len());
    &bits.words()[first / 64..][..n.div_ceil(64)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    #[test]
    fn every_backend_adds_what_the_bits_choose() {
        let mut prg = Prg::from_seed(Block(8));
        for n in (0..9).chain([63, 64, 65, 70, 128, 131, 1000]) {
            let bits = BitVec::random(128 + n, &mut prg);
            let [mut out, mut values] = [(); 2].map(|()| vec![Block::ZERO; n]);
            prg.fill_blocks(&mut out);
            prg.fill_blocks(&mut values);
            let key = prg.block();
            let expected = |value: &dyn Fn(usize) -> Block| -> Vec<Block> {
                (0..n).map(|i| out[i] ^ value(i).select(bits.get(128 + i))).collect()
            };
            for backend in Backend::available() {
                let (mut a, mut b) = (out.clone(), out.clone());
                backend.xor_masked(&mut a, words(&bits, 128, n), &values);
                backend.xor_key_masked(&mut b, words(&bits, 128, n), key);
                assert_eq!(a, expected(&|i| values[i]), "{backend:?} {n}");
                assert_eq!(b, expected(&|_| key), "{backend:?} {n}");
            }
            let low = |blocks: &[Block]| blocks.iter().map(|block| block.0 as u64).collect();
            let [out_words, value_words]: [Vec<u64>; 2] = [low(&out), low(&values)];
            let expected_words: Vec<u64> = low(&expected(&|i| values[i]));
            for backend in Backend::available() {
                let mut words_out = out_words.clone();
                backend.xor_words_masked(&mut words_out, words(&bits, 128, n), &value_words);
                assert_eq!(words_out, expected_words, "{backend:?} {n}");
            }
            let mut words_out = out_words;
            xor_words_masked(&mut words_out, &bits, 128, &value_words);
            assert_eq!(words_out, expected_words);
            let (mut a, mut b) = (out.clone(), out.clone());
            xor_masked(&mut a, &bits, 128, &values);
            xor_key_masked(&mut b, &bits, 128, key);
            assert_eq!((a, b), (expected(&|i| values[i]), expected(&|_| key)));
        }
    }

    #[test]
    fn every_backend_takes_lower_halves_and_lowest_bits() {
        let mut prg = Prg::from_seed(Block(9));
        for n in (0..18).chain([63, 64, 1000]) {
            let mut blocks = vec![Block::ZERO; n];
            prg.fill_blocks(&mut blocks);
            let expected: Vec<u64> = blocks.iter().map(|block| block.0 as u64).collect();
            for backend in Backend::available() {
                let mut out = vec![0; n];
                backend.truncate_u64(&blocks, &mut out);
                assert_eq!(out, expected, "{backend:?} {n}");
            }
            let bits: Vec<bool> = expected.iter().map(|word| word & 1 == 1).collect();
            for backend in Backend::available() {
                let mut out = vec![1; n.div_ceil(64)];
                backend.lsbs(&expected, &mut out);
                assert_eq!(out, BitVec::from_bools(&bits).words(), "{backend:?} {n}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a word of each block")]
    fn refuses_missing_room_for_words() {
        truncate_u64(&[Block::ONE], &mut []);
    }

    #[test]
    #[should_panic(expected = "a word for each 64 bits")]
    fn refuses_missing_room_for_bits() {
        lsbs(&[1], &mut []);
    }

    #[test]
    #[should_panic(expected = "begin a word")]
    fn refuses_the_middle_of_a_word() {
        xor_key_masked(&mut [], &BitVec::zeros(64), 1, Block::ONE);
    }

    #[test]
    #[should_panic(expected = "bits from 64 on of 65")]
    fn refuses_missing_bits() {
        xor_key_masked(&mut [Block::ZERO; 2], &BitVec::zeros(65), 64, Block::ONE);
    }

    #[test]
    #[should_panic(expected = "a value for each")]
    fn refuses_missing_values() {
        xor_masked(&mut [Block::ZERO; 2], &BitVec::zeros(2), 0, &[Block::ONE]);
    }

    #[test]
    #[should_panic(expected = "a value for each")]
    fn refuses_missing_words() {
        xor_words_masked(&mut [0; 2], &BitVec::zeros(2), 0, &[1]);
    }
}
