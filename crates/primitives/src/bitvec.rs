//! Packed bits.

use std::fmt;
use std::ops::Range;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::reserve_wiped;

/// A sequence of bits, packed in 64-bit words, least significant bit first.
///
/// Indices and lengths are public; the bits may be secret, and no operation branches on them. The
/// unused bits of the last word are zero. `==` may stop early, so it is only for tests and public
/// bits. Wiped on drop, and so is the memory that it leaves when it grows.
#[derive(Clone, PartialEq, Eq, Default, ZeroizeOnDrop)]
pub struct BitVec {
    words: Vec<u64>,
    len: usize,
}

impl fmt::Debug for BitVec {
    /// Prints only the length, because the bits may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitVec({} bits)", self.len)
    }
}

impl Zeroize for BitVec {
    /// Wipes the bits and leaves an empty vector, which keeps its memory.
    fn zeroize(&mut self) {
        self.words.zeroize();
        self.len = 0;
    }
}

impl From<&[bool]> for BitVec {
    fn from(bits: &[bool]) -> BitVec {
        BitVec::from_bools(bits)
    }
}

impl From<Vec<bool>> for BitVec {
    /// Packs bits, and wipes the list.
    fn from(bits: Vec<bool>) -> BitVec {
        BitVec::from_bools(&Zeroizing::new(bits))
    }
}

impl FromIterator<bool> for BitVec {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> BitVec {
        let mut all = BitVec::default();
        all.extend(bits);
        all
    }
}

impl Extend<bool> for BitVec {
    fn extend<I: IntoIterator<Item = bool>>(&mut self, bits: I) {
        bits.into_iter().for_each(|bit| self.push(bit));
    }
}

impl BitVec {
    /// Returns `n` zero bits.
    pub fn zeros(n: usize) -> BitVec {
        BitVec { words: vec![0; n.div_ceil(64)], len: n }
    }

    /// Returns an empty vector with room for `n` bits.
    pub fn with_capacity(n: usize) -> BitVec {
        BitVec { words: Vec::with_capacity(n.div_ceil(64)), len: 0 }
    }

    /// Packs these bits, in order.
    pub fn from_bools(bits: &[bool]) -> BitVec {
        let mut out = BitVec::zeros(bits.len());
        for (word, chunk) in out.words.iter_mut().zip(bits.chunks(64)) {
            *word = chunk.iter().rev().fold(0, |w, &bit| w << 1 | u64::from(bit));
        }
        out
    }

    /// Returns the bits, one `bool` each.
    pub fn to_bools(&self) -> Vec<bool> {
        let mut bits = Vec::with_capacity(self.len);
        self.append_to(&mut bits);
        bits
    }

    /// Returns the bits, first to last.
    pub fn iter(&self) -> impl Iterator<Item = bool> + '_ {
        (0..self.len).map(|i| self.words[i / 64] >> (i % 64) & 1 == 1)
    }

    /// Appends the bits to a list, one `bool` each. Memory that the list leaves is wiped.
    pub fn append_to(&self, list: &mut Vec<bool>) {
        reserve_wiped(list, self.len);
        let mut left = self.len;
        for &word in &self.words {
            let bits = left.min(64);
            list.extend((0..bits).map(|i| word >> i & 1 == 1));
            left -= bits;
        }
    }

    /// Returns the number of bits.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no bits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns bit `i`.
    ///
    /// # Panics
    /// If `i` is not below the length.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i`.
    ///
    /// # Panics
    /// If `i` is not below the length.
    #[inline]
    pub fn set(&mut self, i: usize, bit: bool) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        let word = &mut self.words[i / 64];
        *word = *word & !(1 << (i % 64)) | u64::from(bit) << (i % 64);
    }

    /// Appends a bit.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            reserve_wiped(&mut self.words, 1);
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(bit) << (self.len % 64);
        self.len += 1;
    }

    /// Appends the lowest `n` bits of a word; its other bits must be zero.
    ///
    /// # Panics
    /// If `n` is more than 64, or a bit above them is set.
    #[inline]
    pub fn push_word(&mut self, word: u64, n: usize) {
        assert!(n <= 64 && word.checked_shr(n as u32).unwrap_or(0) == 0, "more than {n} bits");
        if n == 0 {
            return;
        }
        let shift = self.len % 64;
        reserve_wiped(&mut self.words, 1);
        if shift == 0 {
            self.words.push(word);
        } else {
            self.words[self.len / 64] |= word << shift;
            if shift + n > 64 {
                self.words.push(word >> (64 - shift));
            }
        }
        self.len += n;
    }

    /// XORs another vector into this one.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn xor_assign(&mut self, other: &BitVec) {
        assert_eq!(self.len, other.len, "XOR of bit vectors of different lengths");
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a ^= b;
        }
    }

    /// Returns the words: bit `i` is bit `i % 64` of word `i / 64`.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the words for writing. A caller that writes to the last one must keep its unused
    /// bits zero, or call [`BitVec::mask_tail`] afterwards.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Zeroes the unused bits of the last word.
    #[inline]
    pub fn mask_tail(&mut self) {
        if !self.len.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << (self.len % 64)) - 1;
        }
    }

    /// Returns the number of bytes for `n` bits: `(n + 7) / 8`.
    #[inline]
    pub const fn byte_len(n: usize) -> usize {
        n.div_ceil(8)
    }

    /// Returns the bits as `byte_len(len)` bytes, least significant bit first; unused bits are
    /// zero.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        let mut out = bytes[..BitVec::byte_len(self.len)].to_vec();
        if !self.len.is_multiple_of(8)
            && let Some(last) = out.last_mut()
        {
            *last &= (1 << (self.len % 8)) - 1;
        }
        out
    }

    /// Decodes `n` bits from exactly `byte_len(n)` bytes. Returns `None` if the number of bytes is
    /// wrong, or if an unused bit of the last one is set.
    pub fn from_bytes(n: usize, bytes: &[u8]) -> Option<BitVec> {
        if bytes.len() != BitVec::byte_len(n) {
            return None;
        }
        if !n.is_multiple_of(8) && bytes.last().is_some_and(|last| last >> (n % 8) != 0) {
            return None;
        }
        let mut out = BitVec::zeros(n);
        let dest: &mut [u8] = bytemuck::cast_slice_mut(&mut out.words);
        dest[..bytes.len()].copy_from_slice(bytes);
        Some(out)
    }

    /// Returns a copy of the bits in a range.
    ///
    /// # Panics
    /// If the range is not within the vector.
    pub fn slice(&self, range: Range<usize>) -> BitVec {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "bits {range:?} of {}",
            self.len
        );
        let mut out = BitVec::zeros(range.len());
        let (first, shift) = (range.start / 64, range.start % 64);
        for (i, word) in out.words.iter_mut().enumerate() {
            *word = self.words[first + i] >> shift;
            if shift != 0
                && let Some(next) = self.words.get(first + i + 1)
            {
                *word |= next << (64 - shift);
            }
        }
        out.mask_tail();
        out
    }

    /// Appends another vector's bits.
    pub fn extend_from(&mut self, other: &BitVec) {
        let (old, shift) = (self.len / 64, self.len % 64);
        self.len += other.len;
        let words = self.len.div_ceil(64);
        reserve_wiped(&mut self.words, words.saturating_sub(old));
        self.words.resize(words, 0);
        for (i, &word) in other.words.iter().enumerate() {
            self.words[old + i] |= word << shift;
            if shift != 0
                && let Some(next) = self.words.get_mut(old + i + 1)
            {
                *next |= word >> (64 - shift);
            }
        }
        self.mask_tail();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Block, Prg};

    fn bools(max: usize) -> impl Strategy<Value = Vec<bool>> {
        prop::collection::vec(any::<bool>(), 0..max)
    }

    proptest! {
        #[test]
        fn words_are_appended_as_their_bits_are(bits in bools(300), most in 1usize..=64) {
            let (mut v, mut left) = (BitVec::default(), &bits[..]);
            // Pieces of no bits, the most, one less, and so on.
            for n in std::iter::once(0).chain((1..=most).rev().cycle()) {
                let (now, later) = left.split_at(n.min(left.len()));
                let word = now.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
                v.push_word(word, now.len());
                left = later;
                if left.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(v, BitVec::from_bools(&bits));
        }

        #[test]
        fn bits_survive_every_form(bits in bools(300)) {
            let v = BitVec::from_bools(&bits);
            prop_assert_eq!(v.to_bools(), bits.clone());
            let mut pushed = BitVec::default();
            let mut set = BitVec::zeros(bits.len());
            for (i, &bit) in bits.iter().enumerate() {
                pushed.push(bit);
                set.set(i, true);
                set.set(i, bit);
            }
            prop_assert_eq!(&pushed, &v);
            prop_assert_eq!(&set, &v);
            let bytes = v.to_bytes();
            prop_assert_eq!(bytes.len(), bits.len().div_ceil(8));
            prop_assert_eq!(BitVec::from_bytes(bits.len(), &bytes), Some(v));
        }

        #[test]
        fn slices_and_joins(a in bools(200), b in bools(200), cut in any::<(u16, u16)>()) {
            let mut joined = BitVec::from_bools(&a);
            joined.extend_from(&BitVec::from_bools(&b));
            let all = [a, b].concat();
            prop_assert_eq!(joined.to_bools(), all.clone());
            let end = cut.0 as usize % (all.len() + 1);
            let start = cut.1 as usize % (end + 1);
            let slice = joined.slice(start..end);
            prop_assert_eq!(&slice, &BitVec::from_bools(&all[start..end]));
        }

        #[test]
        fn xor_is_bitwise(pairs in prop::collection::vec(any::<(bool, bool)>(), 0..200)) {
            let (a, b): (Vec<bool>, Vec<bool>) = pairs.iter().copied().unzip();
            let mut v = BitVec::from_bools(&a);
            v.xor_assign(&BitVec::from_bools(&b));
            let expected: Vec<bool> = pairs.iter().map(|(x, y)| x ^ y).collect();
            prop_assert_eq!(v.to_bools(), expected);
        }
    }

    #[test]
    fn decoding_is_strict() {
        assert!(BitVec::from_bytes(9, &[0xff, 0x01]).is_some());
        assert!(BitVec::from_bytes(9, &[0xff, 0x02]).is_none());
        assert!(BitVec::from_bytes(9, &[0xff, 0x81]).is_none());
        assert!(BitVec::from_bytes(9, &[0xff]).is_none());
        assert!(BitVec::from_bytes(9, &[0xff, 1, 0]).is_none());
        assert!(BitVec::from_bytes(0, &[]).is_some());
        assert!(BitVec::from_bytes(usize::MAX, &[1]).is_none());
    }

    #[test]
    fn random_bits_follow_the_generator_and_keep_the_tail_clear() {
        let v = BitVec::random(100, &mut Prg::from_seed(Block(7)));
        let mut bytes = [0u8; 13];
        Prg::from_seed(Block(7)).fill(&mut bytes);
        bytes[12] &= 0x0f;
        assert_eq!(v.to_bytes(), bytes);
        assert_eq!(v.words()[1] >> 36, 0);
    }

    #[test]
    fn a_dirty_tail_is_never_sent() {
        let mut v = BitVec::zeros(70);
        v.words_mut()[1] = u64::MAX;
        assert_eq!(v.to_bytes()[8], 0x3f);
        v.mask_tail();
        assert_eq!(v.words()[1], 0x3f);
    }

    #[test]
    fn wiping_empties() {
        let mut v = BitVec::from_bools(&[true; 70]);
        v.zeroize();
        assert!(v.is_empty() && v.words().is_empty());
    }
}
