//! The building blocks of every protocol: 128-bit blocks, packed bits, GF(2^128), AES and hashes
//! based on it, a generator, bit-matrix transposition, transcripts and commitments.
//!
//! Each performance-critical primitive has a portable version, which is the specification, and
//! faster ones for x86-64, chosen once at run time: see [`backend`]. No crate above this one uses
//! SIMD.
//!
//! Lengths that do not match are mistakes of the caller and panic, as documented for each function.
//! Data from a peer are checked before they get here, and the functions that decode such data
//! return an `Option`.

#[cfg(target_endian = "big")]
compile_error!("blocks are viewed as bytes in memory, which needs a little-endian target");

pub mod aes;
pub mod auth;
pub mod backend;
pub mod bitvec;
pub mod block;
pub mod block_xor;
pub mod coefficients;
pub mod commit;
pub mod digest;
pub mod gf128;
pub mod ggm_sums;
pub mod hash;
pub mod huge_buf;
pub mod mac_hash;
pub mod mask;
pub mod out_of_memory;
pub mod prefetch;
pub mod prg;
pub mod secret;
pub mod select;
mod selected_sums;
pub mod side_by_side;
pub mod stack;
pub mod transcript;
pub mod transpose;
mod tweaks;
pub mod watch;

pub use crate::aes::Aes128;
pub use crate::auth::{Key, Mac};
pub use crate::backend::Backend;
pub use crate::bitvec::BitVec;
pub use crate::block::Block;
pub use crate::coefficients::Coefficients;
pub use crate::commit::{CommitContext, Commitment, Opening, commit, commit_with, verify};
pub use crate::digest::{BlockHasher, derive_block, hash_blocks, same_digest};
pub use crate::gf128::PolyHash;
pub use crate::ggm_sums::Leaves;
pub use crate::hash::{TweakedHash, key_sums};
pub use crate::huge_buf::HugeBuf;
pub use crate::mac_hash::{UniversalMacHash, carryless_products};
pub use crate::mask::{mask64, mask128};
pub use crate::prefetch::prefetch;
pub use crate::prg::Prg;
pub use crate::secret::{Delta, Secret, Seed, reserve_wiped, wipe_list};
pub use crate::select::{lsbs, truncate_u64, xor_key_masked, xor_masked, xor_words_masked};
pub use crate::selected_sums::SelectedSums;
pub use crate::transcript::{Challenge, Transcript};
pub use crate::transpose::{bytes_of_rows, rows_of_bytes, transpose_128};

/// Why the settings with which this crate was compiled make it slow, if they do: a sentence.
pub const SLOW_BUILD: Option<&str> = option_env!("SYMBOLON_SLOW_BUILD");
