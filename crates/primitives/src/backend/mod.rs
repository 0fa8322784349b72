//! Which instructions to use: the one place that knows.
//!
//! Each kernel has a portable version, which is the specification, and faster ones; the best that
//! the processor can run is picked once. Set the environment variable `SYMBOLON_BACKEND` to `portable`,
//! `aesni` or `vaes512` to go below that, for tests and measurements; it cannot go above, and any
//! other value means the best, as if it were not set.

mod portable;

use std::sync::OnceLock;

use crate::hash::Tweaks;
use crate::{BitVec, Block};

/// A set of instructions that the kernels are written for, in ascending order.
///
/// The methods are the kernels. A backend that the processor lacks may be named: its kernels
/// run as the best one that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// Plain Rust.
    Portable,
    /// AES-NI, PCLMULQDQ, SSE4.1 and AVX2.
    Aesni,
    /// VAES, VPCLMULQDQ, GFNI and AVX-512 (F, BW, DQ, VL, VBMI), and what [`Backend::Aesni`] has.
    Vaes512,
}

impl Backend {
    /// What the library uses: the best of [`Backend::available`], unless the environment lowers it.
    #[inline]
    pub fn active() -> Backend {
        static ACTIVE: OnceLock<Backend> = OnceLock::new();
        *ACTIVE.get_or_init(|| {
            let wish = match std::env::var("SYMBOLON_BACKEND").as_deref() {
                Ok("portable") => Backend::Portable,
                Ok("aesni") => Backend::Aesni,
                _ => Backend::Vaes512,
            };
            wish.usable()
        })
    }

    /// What the processor can run, in ascending order; [`Backend::Portable`] is always there.
    pub fn available() -> Vec<Backend> {
        [Backend::Portable, Backend::Aesni, Backend::Vaes512]
            .into_iter()
            .filter(|backend| *backend <= Backend::best())
            .collect()
    }

    /// The best that the processor can run.
    #[inline]
    fn best() -> Backend {
        Backend::Portable
    }

    /// This backend, or the best if the processor lacks it.
    #[inline]
    fn usable(self) -> Backend {
        self.min(Backend::best())
    }

    /// A key for [`Cipher::encrypt`].
    pub(crate) fn aes_cipher(self, key: Block) -> Cipher {
        Cipher::Portable(Box::new(portable::expand(key)))
    }

    /// The hash of [`TweakedHash::hash_linear`](crate::TweakedHash::hash_linear).
    ///
    /// # Panics
    /// If `group` is not 1, 2, 4 or 8, or `xs` is not a whole number of groups, or the tweaks are a
    /// list and not one for each group.
    pub fn hash_linear(self, start: Block, tweaks: Tweaks<'_>, group: usize, xs: &mut [Block]) {
        self.rekeyed_hash::<false>(start, tweaks, group, xs);
    }

    /// The hash of [`TweakedHash::hash`](crate::TweakedHash::hash).
    ///
    /// # Panics
    /// As [`Backend::hash_linear`].
    pub fn hash_circular(self, start: Block, tweaks: Tweaks<'_>, group: usize, xs: &mut [Block]) {
        self.rekeyed_hash::<true>(start, tweaks, group, xs);
    }

    fn rekeyed_hash<const SIGMA: bool>(
        self,
        start: Block,
        tweaks: Tweaks<'_>,
        group: usize,
        xs: &mut [Block],
    ) {
        assert!(matches!(group, 1 | 2 | 4 | 8), "a group of {group} blocks, not 1, 2, 4 or 8");
        assert!(xs.len().is_multiple_of(group), "{} is no multiple of {group}", xs.len());
        if let Tweaks::List(list) = tweaks {
            assert_eq!(list.len(), xs.len() / group, "one tweak for each group");
        }
        portable::hash::<SIGMA>(start, tweaks, group, xs);
    }

    /// Σ a\[i\]·b\[i\] in GF(2^128); see [`gf128`](crate::gf128).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn inner_product(self, a: &[Block], b: &[Block]) -> Block {
        assert_eq!(a.len(), b.len(), "inner product of different lengths");
        portable::inner_product(a, b)
    }

    /// Σ bits\[i\]·coeffs\[i\].
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn bits_inner_product(self, bits: &BitVec, coeffs: &[Block]) -> Block {
        assert_eq!(bits.len(), coeffs.len(), "inner product of different lengths");
        portable::bits_inner_product(bits, coeffs)
    }

    /// The kernel of [`column_hash`](crate::gf128::column_hash); `coeffs` says how long a row is.
    ///
    /// # Panics
    /// If `stride` is less than a row, or `cols` ends before the last row does.
    pub fn column_hash(self, cols: &[u8], stride: usize, coeffs: &[Block], out: &mut [Block; 128]) {
        check_matrix(cols, stride, 16 * coeffs.len());
        portable::column_hash(cols, stride, coeffs, out);
    }

    /// The kernel of [`transpose_128`](crate::transpose_128).
    ///
    /// # Panics
    /// As [`transpose_128`](crate::transpose_128).
    pub fn transpose_128(self, cols: &[u8], stride: usize, out: &mut [Block]) {
        assert!(out.len().is_multiple_of(128), "{} columns, no multiple of 128", out.len());
        check_matrix(cols, stride, out.len() / 8);
        portable::transpose_128(cols, stride, out);
    }
}

/// Checks that 128 rows of `row` bytes, `stride` apart, lie within `cols`.
fn check_matrix(cols: &[u8], stride: usize, row: usize) {
    assert!(row <= stride, "rows of {row} bytes are longer than the stride of {stride}");
    let need = stride.checked_mul(127).and_then(|bytes| bytes.checked_add(row));
    assert!(
        need.is_some_and(|need| need <= cols.len()),
        "a matrix of {} bytes lacks some of its 128 rows of {row} bytes, {stride} apart",
        cols.len()
    );
}

/// An expanded AES-128 key in the form that one backend wants.
pub(crate) enum Cipher {
    Portable(Box<::aes::Aes128>),
}

impl Cipher {
    /// Encrypts each block in place.
    #[inline]
    pub(crate) fn encrypt(&self, blocks: &mut [Block]) {
        match self {
            Cipher::Portable(aes) => portable::encrypt(aes, blocks),
        }
    }

    /// Overwrites `out[i]` with the encryption of `first + i` modulo 2^128.
    #[inline]
    pub(crate) fn counter(&self, first: u128, out: &mut [Block]) {
        match self {
            Cipher::Portable(aes) => portable::counter(aes, first, out),
        }
    }
}
