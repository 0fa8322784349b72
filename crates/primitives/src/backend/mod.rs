//! The choice of instructions; no other module makes it.
//!
//! Each kernel has a portable version, which is the specification, and faster ones; the best that
//! the processor can run is chosen once. Set the environment variable `SYMBOLON_BACKEND` to
//! `portable`, `aesni`, `vaes256` or `vaes512` to use less than the best, for tests and
//! measurements. It cannot select more than the processor supports, and any other value is ignored.
//! On AArch64 there is one faster version, `neon`.
//!
//! Unsafe: calls to functions that need processor features | `Backend::usable` returns no more than
//! what detection found

mod ciphers;
#[cfg(target_arch = "x86_64")]
mod gf128_kernel;
#[cfg(target_arch = "x86_64")]
mod hash_kernel;
#[cfg(target_arch = "x86_64")]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod leaf_kernel;
mod leaf_sums;
#[cfg(target_arch = "x86_64")]
mod mac_kernel;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod rows_kernel;
mod side_by_side;
#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
mod x86_256;
#[cfg(target_arch = "x86_64")]
mod x86_512;

use std::sync::OnceLock;

use zeroize::Zeroize;

use crate::Block;
use crate::selected_sums::{Keys, SelectedSums};
use crate::tweaks::Tweaks;

pub(crate) use ciphers::{Cipher, LeafCiphers};
#[cfg(target_arch = "x86_64")]
use hash_kernel::{hash_kernel, lanes_kernel};
#[cfg(target_arch = "x86_64")]
use leaf_kernel::leaf_kernel;
pub(crate) use leaf_sums::MAX_LEAF_BITS;

/// AES key schedule constants, each in the lowest byte of a word.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
const RCON: [i32; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// Calls a backend's version of a kernel.
macro_rules! run {
    ($backend:expr, $kernel:ident $(::<$param:ident>)? ($($arg:expr),*)) => {
        match $backend.usable() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `usable` names this backend only if the processor has its instructions.
            Backend::Aesni => unsafe { x86::$kernel $(::<$param>)? ($($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Vaes256 => unsafe { x86_256::$kernel $(::<$param>)? ($($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Vaes512 => unsafe { x86_512::$kernel $(::<$param>)? ($($arg),*) },
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            // Some kernels are the portable ones, which are safe.
            #[allow(unused_unsafe)]
            // SAFETY: as above.
            Backend::Neon => unsafe { neon::$kernel $(::<$param>)? ($($arg),*) },
            _ => portable::$kernel $(::<$param>)? ($($arg),*),
        }
    };
}

/// Checks that there are a bit and a value for each of `sums` sums.
fn check_chosen(sums: usize, words: &[u64], values: usize) {
    assert_eq!(sums, values, "a value for each sum");
    assert_eq!(sums.div_ceil(64), words.len(), "a word of bits for each 64 sums");
}

/// An instruction set for which the kernels are written, in ascending order.
///
/// The methods are the kernels. A backend that the processor lacks may be named: the best available
/// one runs its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// Plain Rust, and the `aes` crate.
    Portable,
    /// AES-NI, PCLMULQDQ, SSE4.1 and AVX2.
    Aesni,
    /// VAES and VPCLMULQDQ on registers of 256 bits, and the instructions of [`Backend::Aesni`].
    Vaes256,
    /// GFNI and AVX-512 (F, BW, DQ, VL, VBMI), and the instructions of [`Backend::Vaes256`].
    Vaes512,
    /// AES and PMULL instructions of AArch64.
    Neon,
}

impl Backend {
    const ALL: [Backend; 5] =
        [Backend::Portable, Backend::Aesni, Backend::Vaes256, Backend::Vaes512, Backend::Neon];

    /// Returns the backend in use: the best of [`Backend::available`], unless the environment
    /// lowers it.
    #[inline]
    pub fn active() -> Backend {
        static ACTIVE: OnceLock<Backend> = OnceLock::new();
        *ACTIVE.get_or_init(|| {
            let wish = std::env::var("SYMBOLON_BACKEND").ok();
            Backend::lowered(wish.as_deref()).usable()
        })
    }

    /// Returns the backend that the environment names, or the highest.
    fn lowered(wish: Option<&str>) -> Backend {
        match wish {
            Some("portable") => Backend::Portable,
            Some("aesni") => Backend::Aesni,
            Some("vaes256") => Backend::Vaes256,
            Some("vaes512") => Backend::Vaes512,
            _ => Backend::Neon,
        }
    }

    /// Lists what the processor can run, in ascending order. [`Backend::Portable`] is always
    /// included.
    pub fn available() -> Vec<Backend> {
        Backend::ALL.into_iter().filter(|backend| backend.usable() == *backend).collect()
    }

    /// Returns the best backend that the processor can run.
    #[inline]
    fn best() -> Backend {
        static BEST: OnceLock<Backend> = OnceLock::new();
        *BEST.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            if x86_512::supported() {
                return Backend::Vaes512;
            } else if x86_256::supported() {
                return Backend::Vaes256;
            } else if x86::supported() {
                return Backend::Aesni;
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            if neon::supported() {
                return Backend::Neon;
            }
            Backend::Portable
        })
    }

    /// Returns this backend, or the best one if the processor lacks it.
    #[inline]
    fn usable(self) -> Backend {
        match (self, Backend::best()) {
            (Backend::Portable, _) => Backend::Portable,
            // Such a processor supports none of the x86-64 backends below.
            (_, Backend::Neon) => Backend::Neon,
            (_, best) => self.min(best),
        }
    }

    /// Computes the hash of [`TweakedHash::hash_linear`](crate::TweakedHash::hash_linear).
    ///
    /// # Panics
    /// If `group` is not 1, 2, 4 or 8, or `xs` is not a whole number of groups, or the tweaks are a
    /// list and not one for each group.
    pub fn hash_linear(self, start: Block, tweaks: Tweaks<'_>, group: usize, xs: &mut [Block]) {
        self.rekeyed_hash::<false>(start, tweaks, group, xs);
    }

    /// Computes the hash of [`TweakedHash::hash`](crate::TweakedHash::hash).
    ///
    /// # Panics
    /// As [`Backend::hash_linear`].
    pub fn hash_circular(self, start: Block, tweaks: Tweaks<'_>, group: usize, xs: &mut [Block]) {
        self.rekeyed_hash::<true>(start, tweaks, group, xs);
    }

    /// Computes the half-gates of [`TweakedHash::half_gates`](crate::TweakedHash::half_gates).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn half_gates(
        self,
        (start, first, delta): (Block, u128, Block),
        pairs: &[[Block; 2]],
        message: &mut [[Block; 2]],
        labels: &mut [Block],
    ) {
        assert_eq!(pairs.len(), message.len(), "two half-gates for each gate");
        assert_eq!(pairs.len(), labels.len(), "a label for each gate");
        let done = match self.usable() {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => {
                // SAFETY: `usable` names this backend only if the processor has its instructions.
                unsafe { x86_256::half_gates((start, first, delta), pairs, message, labels) }
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => {
                // SAFETY: as above.
                unsafe { x86_512::half_gates((start, first, delta), pairs, message, labels) }
            }
            _ => 0,
        };
        let mut hashes = [[Block::ZERO; 4]; 16];
        let rest = pairs[done..].chunks(hashes.len());
        let rest = rest.zip(message[done..].chunks_mut(hashes.len()));
        let rest = rest.zip(labels[done..].chunks_mut(hashes.len()));
        let mut tweak = first.wrapping_add(2 * done as u128);
        for ((pairs, message), labels) in rest {
            let hashes = &mut hashes[..pairs.len()];
            for (hashes, &[alpha, beta]) in hashes.iter_mut().zip(pairs) {
                *hashes = [alpha, alpha ^ delta, beta, beta ^ delta];
            }
            self.hash_circular(start, Tweaks::From(tweak), 2, hashes.as_flattened_mut());
            tweak = tweak.wrapping_add(2 * pairs.len() as u128);
            let gates = hashes.iter().zip(pairs).zip(message).zip(labels);
            for (((h, [alpha, _]), message), label) in gates {
                message[0] ^= h[0] ^ h[1];
                message[1] ^= h[2] ^ h[3] ^ *alpha;
                *label ^= h[0] ^ h[2];
            }
        }
        hashes.as_flattened_mut().zeroize();
    }

    /// Adds the hashes of [`TweakedHash::leaky_hashes`](crate::TweakedHash::leaky_hashes), with
    /// these starts.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn leaky_hashes(
        self,
        (starts, first, delta): ([Block; 2], u128, Block),
        auths: [&[Block]; 2],
        phi: &[Block],
        s: &mut [Block],
        u: &mut [Block],
    ) {
        let n = phi.len();
        let equal = auths.iter().all(|row| row.len() == n) && s.len() == n && u.len() == n;
        assert!(equal, "lists of equal length");
        let done = match self.usable() {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => {
                // SAFETY: `usable` names this backend only if the processor has its instructions.
                unsafe { x86_256::leaky_hashes((starts, first, delta), auths, phi, s, u) }
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => {
                // SAFETY: as above.
                unsafe { x86_512::leaky_hashes((starts, first, delta), auths, phi, s, u) }
            }
            _ => 0,
        };
        let mut pairs = [[Block::ZERO; 2]; 64];
        let mut singles = [Block::ZERO; 64];
        let [macs, keys] = auths.map(|row| row[done..].chunks(singles.len()));
        let rest = macs.zip(keys).zip(phi[done..].chunks(singles.len()));
        let out = s[done..].chunks_mut(singles.len()).zip(u[done..].chunks_mut(singles.len()));
        let mut tweak = first.wrapping_add(done as u128);
        for (((macs, keys), phi), (s, u)) in rest.zip(out) {
            let (pairs, singles) = (&mut pairs[..keys.len()], &mut singles[..keys.len()]);
            for (pair, &key) in pairs.iter_mut().zip(keys) {
                *pair = [key, key ^ delta];
            }
            singles.copy_from_slice(macs);
            self.hash_circular(starts[0], Tweaks::From(tweak), 2, pairs.as_flattened_mut());
            self.hash_circular(starts[1], Tweaks::From(tweak), 1, singles);
            tweak = tweak.wrapping_add(keys.len() as u128);
            let hashes = pairs.iter().zip(&*singles).zip(phi);
            for (((zero, one), single, phi), (s, u)) in hashes
                .map(|((&[zero, one], single), phi)| ((zero, one), single, phi))
                .zip(s.iter_mut().zip(u))
            {
                *u = *phi ^ zero ^ one;
                *s ^= zero ^ *single;
            }
        }
        pairs.as_flattened_mut().zeroize();
        singles.zeroize();
    }

    /// The kernel of [`key_sums`](crate::key_sums).
    ///
    /// # Panics
    /// If the lengths differ, or there are not one or two lists.
    pub fn key_sums<const LISTS: usize>(
        self,
        delta: Block,
        bits: [&[bool]; LISTS],
        auths: [&[[Block; 2]]; LISTS],
        sums: &mut [[Block; LISTS]],
    ) {
        assert!(matches!(LISTS, 1 | 2), "{LISTS} lists, not one or two");
        for (bits, auths) in bits.iter().zip(auths) {
            assert_eq!(bits.len(), sums.len(), "a bit for each sum");
            assert_eq!(auths.len(), sums.len(), "a MAC and a key for each sum");
        }
        let done = match self.usable() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `usable` names this backend only if the processor has its instructions.
            Backend::Vaes512 => unsafe { x86_512::key_sums(delta, bits, auths, sums) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Aesni | Backend::Vaes256 => unsafe { x86::key_sums(delta, bits, auths, sums) },
            _ => 0,
        };
        for (k, sums) in sums.iter_mut().enumerate().skip(done) {
            *sums = std::array::from_fn(|list| auths[list][k][1] ^ delta.select(bits[list][k]));
        }
    }

    fn rekeyed_hash<const SIGMA: bool>(
        self,
        start: Block,
        tweaks: Tweaks<'_>,
        group: usize,
        xs: &mut [Block],
    ) {
        assert!(matches!(group, 1 | 2 | 4 | 8), "a group of {group} blocks, not 1, 2, 4 or 8");
        assert!(xs.len().is_multiple_of(group), "{} is not a multiple of {group}", xs.len());
        if let Tweaks::List(list) = tweaks {
            assert_eq!(list.len(), xs.len() / group, "one tweak for each group");
        }
        run!(self, hash::<SIGMA>(start, tweaks, group, xs));
    }

    /// Returns Σ a\[i\]·b\[i\] in GF(2^128); see [`gf128`](crate::gf128).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn inner_product(self, a: &[Block], b: &[Block]) -> Block {
        assert_eq!(a.len(), b.len(), "inner product of different lengths");
        run!(self, inner_product(a, b))
    }

    /// Returns Σ words\[i\]·coeffs\[i\] in GF(2^128), where each word is the low half of a block;
    /// see [`gf128`](crate::gf128).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn words_inner_product(self, words: &[u64], coeffs: &[Block]) -> Block {
        assert_eq!(words.len(), coeffs.len(), "inner product of different lengths");
        run!(self, words_inner_product(words, coeffs))
    }

    /// The kernel of [`truncate_u64`](crate::truncate_u64).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn truncate_u64(self, blocks: &[Block], out: &mut [u64]) {
        assert_eq!(blocks.len(), out.len(), "a word of each block");
        run!(self, truncate_u64(blocks, out));
    }

    /// The kernel of [`xor_blocks`](crate::block_xor::xor_blocks).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn xor_blocks(self, out: &mut [Block], values: &[Block]) {
        assert_eq!(out.len(), values.len(), "a value for each sum");
        run!(self, xor_blocks(out, values));
    }

    /// The kernel of [`xor_sums`](crate::block_xor::xor_sums).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn xor_sums(self, out: &mut [Block], a: &[Block], b: &[Block]) {
        let n = out.len();
        assert!(a.len() == n && b.len() == n, "two values for each sum");
        run!(self, xor_sums(out, a, b));
    }

    /// The kernel of [`interleave_blocks`](crate::block_xor::interleave_blocks).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn interleave_blocks(self, macs: &[Block], keys: &[Block], out: &mut [[Block; 2]]) {
        let n = out.len();
        assert!(macs.len() == n && keys.len() == n, "a MAC and a key for each pair");
        run!(self, interleave_blocks(macs, keys, out));
    }

    /// The kernel of [`interleave_masked`](crate::block_xor::interleave_masked), with a word of
    /// bits for each 64 blocks.
    ///
    /// # Panics
    /// If the lengths do not match.
    pub fn interleave_masked(
        self,
        rows: [&[Block]; 2],
        words: &[u64],
        more: [&[Block]; 2],
        out: &mut [[Block; 2]],
    ) {
        let n = out.len();
        let mut all = rows.iter().chain(&more);
        assert!(all.all(|row| row.len() == n), "a MAC and a key for each pair, and as many more");
        assert_eq!(words.len(), n.div_ceil(64), "a word of bits for each 64 pairs");
        run!(self, interleave_masked(rows, words, more, out));
    }

    /// The kernel of [`lsbs`](crate::lsbs).
    ///
    /// # Panics
    /// If there is not a word for each 64 bits.
    pub fn lsbs(self, words: &[u64], out: &mut [u64]) {
        assert_eq!(words.len().div_ceil(64), out.len(), "a word for each 64 bits");
        run!(self, lsbs(words, out));
    }

    /// The kernel of [`xor_masked`](crate::xor_masked), with a word of bits for each 64 blocks.
    ///
    /// # Panics
    /// If the lengths do not match.
    pub fn xor_masked(self, out: &mut [Block], words: &[u64], values: &[Block]) {
        check_chosen(out.len(), words, values.len());
        run!(self, xor_masked(out, words, values));
    }

    /// The kernel of [`xor_words_masked`](crate::xor_words_masked), with a word of bits for each 64
    /// words.
    ///
    /// # Panics
    /// If the lengths do not match.
    pub fn xor_words_masked(self, out: &mut [u64], words: &[u64], values: &[u64]) {
        check_chosen(out.len(), words, values.len());
        run!(self, xor_words_masked(out, words, values));
    }

    /// The kernel of [`xor_key_masked`](crate::xor_key_masked), with a word of bits for each 64
    /// blocks.
    ///
    /// # Panics
    /// If the lengths do not match.
    pub fn xor_key_masked(self, out: &mut [Block], words: &[u64], value: Block) {
        check_chosen(out.len(), words, out.len());
        run!(self, xor_key_masked(out, words, value));
    }

    /// The kernel of [`carryless_products`](crate::carryless_products).
    ///
    /// # Panics
    /// As [`carryless_products`](crate::carryless_products).
    pub fn carryless_products(self, words: &[u64], factor: u64, out: &mut [u64]) {
        assert_eq!(out.len(), 2 * words.len(), "two words for each product");
        let (low, high) = out.split_at_mut(words.len());
        run!(self, carryless_products(words, factor, low, high));
    }

    /// The kernel of [`bytes_of_rows`](crate::bytes_of_rows).
    ///
    /// # Panics
    /// As [`bytes_of_rows`](crate::bytes_of_rows).
    pub fn bytes_of_rows(self, rows: [&[u64]; 8], out: &mut [u8]) {
        let (groups, rest) = out.as_chunks_mut();
        assert!(
            rest.is_empty() && rows.iter().all(|row| row.len() == groups.len()),
            "64 bytes for each word of a row"
        );
        run!(self, bytes_of_rows(rows, groups));
    }

    /// The kernel of [`rows_of_bytes`](crate::rows_of_bytes).
    ///
    /// # Panics
    /// As [`rows_of_bytes`](crate::rows_of_bytes).
    pub fn rows_of_bytes(self, bytes: &[u8], out: &mut [[u64; 8]]) {
        assert_eq!(bytes.len(), 64 * out.len(), "64 bytes for each group of words");
        run!(self, rows_of_bytes(bytes.as_chunks().0, out));
    }

    /// Returns Σ (tag ⊕ key)·(tag ⊕ key) over pairs, under either set of keys, unreduced. An odd
    /// tag at the end counts as if a zero followed. There must be keys for all tags, including that
    /// zero.
    pub(crate) fn tag_products(self, tags: &[u64], keys: Keys<'_>) -> [u128; 2] {
        run!(self, tag_products(tags, keys))
    }

    /// As [`tag_products`](Self::tag_products), for the first tags of two lists of sums, as many as
    /// `keys` says.
    pub(crate) fn selected_tag_products(
        self,
        tags: SelectedSums<'_>,
        keys: (Keys<'_>, usize),
    ) -> [[u128; 2]; 2] {
        run!(self, selected_tag_products(tags, keys))
    }

    /// The kernel of [`column_hash`](crate::gf128::column_hash); a row has one block per entry of
    /// `coeffs`.
    ///
    /// # Panics
    /// If `stride` is less than a row, or `cols` ends before the last row does.
    pub fn column_hash(self, cols: &[u8], stride: usize, coeffs: &[Block], out: &mut [Block; 128]) {
        check_matrix(cols, stride, 16 * coeffs.len());
        run!(self, column_hash(cols, stride, coeffs, out));
    }

    /// The kernel of [`transpose_128`](crate::transpose_128).
    ///
    /// # Panics
    /// As [`transpose_128`](crate::transpose_128).
    pub fn transpose_128(self, cols: &[u8], stride: usize, out: &mut [Block]) {
        assert!(out.len().is_multiple_of(128), "{} columns, no multiple of 128", out.len());
        check_matrix(cols, stride, out.len() / 8);
        run!(self, transpose_128(cols, stride, out));
    }
}

/// Checks that 128 rows of `row` bytes, `stride` apart, are within `cols`.
fn check_matrix(cols: &[u8], stride: usize, row: usize) {
    assert!(row <= stride, "rows of {row} bytes are longer than the stride of {stride}");
    let need = stride.checked_mul(127).and_then(|bytes| bytes.checked_add(row));
    assert!(
        need.is_some_and(|need| need <= cols.len()),
        "a matrix of {} bytes lacks some of its 128 rows of {row} bytes, {stride} apart",
        cols.len()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_active_backend_is_available() {
        let available = Backend::available();
        assert_eq!(available[0], Backend::Portable);
        assert!(available.is_sorted());
        assert!(available.contains(&Backend::active()));
    }

    #[test]
    fn the_environment_only_lowers() {
        assert_eq!(Backend::lowered(Some("portable")), Backend::Portable);
        assert_eq!(Backend::lowered(Some("aesni")), Backend::Aesni);
        assert_eq!(Backend::lowered(Some("vaes256")), Backend::Vaes256);
        assert_eq!(Backend::lowered(Some("vaes512")), Backend::Vaes512);
        for best in [Some("neon"), Some("fastest"), Some(""), None] {
            assert_eq!(Backend::lowered(best), Backend::Neon);
            assert_eq!(Backend::lowered(best).usable(), Backend::best());
        }
    }

    #[test]
    fn naming_a_missing_backend_falls_back() {
        for backend in Backend::ALL {
            assert!(Backend::available().contains(&backend.usable()));
            assert_eq!(backend.inner_product(&[Block(2)], &[Block(1 << 127)]), Block(0x87));
        }
    }
}
