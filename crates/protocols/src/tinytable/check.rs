//! The check of all table bits that were opened, in one message each way (§3.2–3.3, Fig. 5 step 5).
//!
//! Each bit (and each look-up's entry) x that a party sends has a MAC M = K ⊕ x·Δ, a sum of MACs from the
//! preprocessing. The paper sends ⊕ F(M) for a random oracle F. Here it is Σ_i χ^i·M_i in GF(2^128), with χ drawn from a
//! hash of the whole transcript, after all bits are sent: fewer instructions than a block cipher call a bit, and no
//! random oracle on secrets.
//!
//! # Why that is sound
//! A cheater that sent x ⊕ e instead of x, e ≠ 0, passes if it sends Σ χ^i·M_i ⊕ L(Δ), where
//! L(Δ) = Σ χ^i·(e_i·Δ), the products e_i·Δ taken in the field of the k-bit tags and put into GF(2^128) by appending
//! zeros. L is linear over GF(2). All k bits of Δ are unknown to it (one fewer for k = 128), so it passes with
//! probability |ker L|·2^-k. For each Δ ≠ 0 the e_i·Δ are not all zero, so L(Δ) = 0 for at most N of the 2^128 values of
//! χ, N being the number of bits and entries. With q evaluations of the hash, which it can try before it sends its last
//! bits, it passes with probability at most 2^-k + q·N·2^-128. Bits of Δ that it guessed during OT extension, at a risk
//! of 1/2 each, gain it nothing.
//!
//! Whoever receives Σ χ^i·M_i can compute it from its keys and the bits it was sent: it learns nothing.

use symbolon_primitives::{BitVec, Block, PolyHash, Transcript};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroize;

use super::{prepared::Ready, tag::Tag};

const MAC: &str = "tinytable: MAC";

/// The name of the check.
pub(super) const CHECK: &str = "table MAC";

/// Which entries were looked up in all tables, and what the peer sent of them.
#[derive(Default)]
pub(super) struct Looked {
    /// By position of an AND gate: the masked values of its inputs.
    pub c: BitVec,
    pub d: BitVec,
    /// The peer's bits.
    pub theirs: BitVec,
    /// By look-up, and within it by execution: the index.
    pub indices: Vec<u8>,
    /// The peer's shares of these entries.
    pub entries: Vec<u64>,
}

/// All that was opened is right: without this no output is.
pub(super) struct Checked(());

/// Proves the own bits to the peer, and checks the peer's.
///
/// # Errors
/// `PeerMisbehaved` when it sent a wrong bit, or a wrong MAC.
pub(super) fn check<T: Tag>(
    ready: &Ready<T>,
    looked: &Looked,
    mut transcript: Transcript,
    channel: &mut Channel,
) -> Result<Checked> {
    let chi = transcript.challenge("table bits").into_block();
    let mut own = Sum::new(chi);
    own.gates(&ready.gates.macs, looked, |_, tag| tag);
    own.entries(ready, &ready.tables.macs, looked, |_, tag| tag);
    channel.send(MAC, &own.finish().to_bytes())?;
    channel.flush()?;

    let mut expected = Sum::new(chi);
    let delta = T::cut(ready.delta);
    // What party 0 adds to its share in public is not under its MAC.
    let public = |word: usize| looked.c.words()[word] & looked.d.words()[word];
    let mut bits = looked.theirs.clone();
    if ready.me == 1 {
        bits.words_mut().iter_mut().enumerate().for_each(|(i, word)| *word ^= public(i));
    }
    expected.gates(&ready.gates.keys, looked, |k, tag| tag ^ delta.select(bits.get(k)));
    let multiples = Multiples::of(delta);
    let entry = |k: usize, tag| tag ^ multiples.times(looked.entries[k]);
    expected.entries(ready, &ready.tables.keys, looked, entry);
    let theirs = Block::from_bytes(channel.recv_array(MAC)?);
    if !expected.finish().ct_eq(&theirs) {
        return Err(Error::misbehaved(channel.peer(), CHECK));
    }
    Ok(Checked(()))
}

/// Σ χ^i·tag_i.
struct Sum {
    hash: PolyHash,
    buffer: Vec<Block>,
}

/// Tags that are hashed at a time.
const PIECE: usize = 1024;

impl Sum {
    fn new(chi: Block) -> Sum {
        Sum { hash: PolyHash::new(chi), buffer: vec![Block::ZERO; PIECE] }
    }

    /// Adds the tags of the entries of AND gates that were opened, by position, each after `finish`.
    fn gates<T: Tag>(
        &mut self,
        [row, beta, alpha]: &[Vec<T>; 3],
        looked: &Looked,
        finish: impl Fn(usize, T) -> T,
    ) {
        for start in (0..row.len()).step_by(PIECE) {
            let end = row.len().min(start + PIECE);
            for (k, out) in (start..end).zip(&mut self.buffer) {
                let tag =
                    row[k] ^ beta[k].select(looked.c.get(k)) ^ alpha[k].select(looked.d.get(k));
                *out = finish(k, tag).widen();
            }
            self.hash.update(&self.buffer[..end - start]);
        }
    }

    /// Adds the tags of the entries of look-ups that were opened.
    fn entries<T: Tag>(
        &mut self,
        ready: &Ready<T>,
        tags: &[T],
        looked: &Looked,
        finish: impl Fn(usize, T) -> T,
    ) {
        let lanes = ready.lanes;
        for (number, indices) in looked.indices.chunks(lanes).enumerate() {
            for start in (0..lanes).step_by(PIECE) {
                let end = lanes.min(start + PIECE);
                for (lane, out) in (start..end).zip(&mut self.buffer) {
                    let place = ready.program.place(number, lane, lanes);
                    let tag = tags[place.entry + usize::from(indices[lane])];
                    *out = finish(number * lanes + lane, tag).widen();
                }
                self.hash.update(&self.buffer[..end - start]);
            }
        }
    }

    fn finish(mut self) -> Block {
        self.buffer.zeroize();
        self.hash.finish()
    }
}

/// The products of Δ with all bytes, at each place of a byte in an entry. They are found by public bytes.
struct Multiples<T: Tag>(Vec<[T; 256]>);

impl<T: Tag> Multiples<T> {
    fn of(mut delta: T) -> Self {
        let tables = (0..8).map(|_| {
            let table = std::array::from_fn(|byte| delta.times(byte as u64));
            delta = delta.times(1 << 8);
            table
        });
        Multiples(tables.collect())
    }

    fn times(&self, entry: u64) -> T {
        let bytes = entry.to_le_bytes();
        let products = self.0.iter().zip(bytes).map(|(table, byte)| table[usize::from(byte)]);
        products.fold(T::default(), |sum, product| sum ^ product)
    }
}

impl<T: Tag> Drop for Multiples<T> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}
