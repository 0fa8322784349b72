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

use symbolon_circuit::PartyId;
use symbolon_primitives::{BitVec, Block, PolyHash, Selected, TagHash, Transcript, prefetch};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroize;

use super::{MacLength, entries::width, prepared::Ready, program::Program, tag::Tag};
use crate::ports::{OUTPUT_CHECK, OutputWires, decode_bits};

const MAC: &str = "tinytable: MAC";
const MASKS: &str = "tinytable: output masks";

/// The name of the check.
pub(super) const CHECK: &str = "table MAC";

/// Which entries were looked up in all tables, and what the peer sent of them.
pub(super) struct Looked {
    /// By position of an AND gate: the masked values of its inputs.
    pub c: BitVec,
    pub d: BitVec,
    /// The peer's bits.
    pub theirs: BitVec,
    /// By look-up, and within it by execution: the index.
    pub indices: Vec<u8>,
    /// The peer's shares of these entries.
    pub entries: Vec<u8>,
}

impl Looked {
    /// Nothing yet, with room for all executions of a program.
    pub fn with_room(program: &Program, lanes: usize) -> Self {
        let [c, d, theirs] = [(); 3].map(|()| BitVec::with_capacity(program.ands() * lanes));
        let bytes: usize = (0..program.lookups()).map(|number| width(program.table(number))).sum();
        let indices = Vec::with_capacity(program.lookups() * lanes);
        Looked { c, d, theirs, indices, entries: Vec::with_capacity(bytes * lanes) }
    }
}

/// Where the entries with these indices stand among those of one look-up, `step` entries for each execution.
pub(super) fn found(
    indices: &[u8],
    step: usize,
) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
    indices.iter().enumerate().map(move |(lane, index)| lane * step + usize::from(*index))
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
    transcript: &mut Transcript,
    channel: &mut Channel,
) -> Result<Checked> {
    let chi = transcript.challenge("table bits").into_block();
    let mut own = Sum::<T>::new(chi);
    let macs = ready.gates.each_ref().map(|rows| &rows.macs[..]);
    own.gates(ready, macs, looked, (looked.c.words(), T::default()));
    own.entries(ready, &ready.tables.macs, looked, None);
    let mut mac = own.finish().to_bytes();
    channel.bend_state("tinytable: own MAC", &mut mac);
    channel.send(MAC, &mac)?;
    channel.flush()?;

    let mut expected = Sum::<T>::new(chi);
    let delta = T::cut(ready.delta);
    let mut bits = looked.theirs.clone();
    if ready.me == 1 {
        // What party 0 adds to its share in public is not under its MAC.
        let public = looked.c.words().iter().zip(looked.d.words()).map(|(c, d)| c & d);
        bits.words_mut().iter_mut().zip(public).for_each(|(bits, public)| *bits ^= public);
    }
    let keys = ready.gates.each_ref().map(|rows| &rows.keys[..]);
    expected.gates(ready, keys, looked, (bits.words(), delta));
    expected.entries(ready, &ready.tables.keys, looked, Some(&Multiples::of(delta)));
    let theirs = Block::from_bytes(channel.recv_array(MAC)?);
    if !expected.finish().ct_eq(&theirs) {
        return Err(Error::misbehaved(channel.peer(), CHECK));
    }
    Ok(Checked(()))
}

/// Opens the masks of output wires to the peer who learns them: bits, and in the same message the MAC on them, at a
/// point that depends on all that was said and on these bits.
///
/// # Errors
/// `Transport` when the peer is gone.
pub(super) fn open_masks<T: Tag>(
    ready: &Ready<T>,
    channel: &mut Channel,
    (transcript, wires): (&Transcript, &OutputWires),
    _: Checked,
) -> Result<()> {
    if wires.is_empty() {
        return Ok(());
    }
    let places = places(ready, wires);
    let mut bits = BitVec::zeros(0);
    places.clone().for_each(|place| bits.push(ready.outputs.bits.get(place)));
    let mut bits = bits.to_bytes();
    channel.bend_state("tinytable: own output masks", &mut bits);
    let mut sum = Sum::new(point(transcript, ready.me, &bits));
    sum.bits(places.map(|place| ready.outputs.macs[place]));
    channel.send_parts(MASKS, &[&bits, &sum.finish().to_bytes()])?;
    channel.flush()
}

/// Receives the peer's shares of the masks of output wires that this party learns, and adds the own ones.
///
/// # Errors
/// `PeerMisbehaved` when a bit or the MAC is wrong; `Transport` when the peer is gone.
pub(super) fn receive_masks<T: Tag>(
    ready: &Ready<T>,
    channel: &mut Channel,
    (transcript, wires): (&Transcript, &OutputWires),
) -> Result<BitVec> {
    let n = wires.len() * ready.stock();
    if n == 0 {
        return Ok(BitVec::zeros(0));
    }
    let message = channel.recv(MASKS, BitVec::byte_len(n) + 16)?;
    let (bytes, mac) = message.split_at(BitVec::byte_len(n));
    let mut bits = decode_bits(channel, n, bytes)?;
    let (places, delta) = (places(ready, wires), T::cut(ready.delta));
    let mut sum = Sum::new(point(transcript, channel.peer(), bytes));
    let keys = places.clone().enumerate();
    sum.bits(keys.map(|(k, place)| ready.outputs.keys[place] ^ delta.select(bits.get(k))));
    let mac = mac.try_into().map(Block::from_bytes);
    if !mac.is_ok_and(|mac| sum.finish().ct_eq(&mac)) {
        return Err(Error::misbehaved(channel.peer(), OUTPUT_CHECK));
    }
    for (k, place) in places.enumerate() {
        bits.set(k, bits.get(k) ^ ready.outputs.bits.get(place));
    }
    Ok(bits)
}

/// Where the masks of output wires stand.
fn places<T: Tag>(ready: &Ready<T>, wires: &OutputWires) -> impl Iterator<Item = usize> + Clone {
    let stock = ready.stock();
    wires.indices().flat_map(move |wire| wire * stock..(wire + 1) * stock)
}

/// Where the MACs of a party's output masks are added up.
fn point(transcript: &Transcript, party: PartyId, bits: &[u8]) -> Block {
    let mut transcript = transcript.fork();
    transcript.absorb("output masks of party", &party.to_le_bytes());
    transcript.absorb("output masks", bits);
    transcript.challenge("output masks").into_block()
}

/// The tags of gates whose material all executions share.
fn each_for_all(hash: &mut TagHash, tags: Selected<'_>, lanes: usize) {
    let words = lanes / 64;
    for gate in 0..tags.rows[0].len() {
        let range = gate * words..(gate + 1) * words;
        let tags = Selected {
            rows: tags.rows.map(|row| &row[gate..=gate]),
            bits: tags.bits.map(|bits| &bits[range.clone()]),
            flips: &tags.flips[range],
            delta: tags.delta,
        };
        hash.update_selected(tags, lanes);
    }
}

/// Σ χ^i·tag_i.
struct Sum<T: Tag> {
    hash: Hash,
    buffer: Vec<T>,
}

/// The hash for tags of one word, and for any; both are the same.
enum Hash {
    Words(TagHash),
    Blocks(Box<PolyHash>),
}

/// Tags that are hashed at a time.
const PIECE: usize = 1024;

impl<T: Tag> Sum<T> {
    fn new(chi: Block) -> Self {
        let hash = match T::LENGTH {
            MacLength::Bits64 => Hash::Words(TagHash::new(chi)),
            _ => Hash::Blocks(Box::new(PolyHash::new(chi))),
        };
        Sum { hash, buffer: Vec::with_capacity(PIECE) }
    }

    /// Adds the tags of the entries of AND gates that were opened, by position, each ⊕ delta where its bit of `flips`
    /// is set.
    fn gates(
        &mut self,
        ready: &Ready<T>,
        rows: [&[T]; 3],
        looked: &Looked,
        (flips, delta): (&[u64], T),
    ) {
        let bits = [looked.c.words(), looked.d.words()];
        if let (Hash::Words(hash), [Some(row), Some(beta), Some(alpha)], Some(&[delta])) =
            (&mut self.hash, rows.map(T::as_words), T::as_words(&[delta]))
        {
            let tags = Selected { rows: [row, beta, alpha], bits, flips, delta };
            match ready.shared {
                false => hash.update_selected(tags, looked.c.len()),
                true => each_for_all(hash, tags, ready.lanes),
            }
            return;
        }
        let bit = |words: &[u64], k: usize| words[k / 64] >> (k % 64) & 1 == 1;
        let times = ready.lanes / ready.stock();
        for k in 0..looked.c.len() {
            let [row, beta, alpha] = rows.map(|row| row[k / times]);
            let tag = row ^ beta.select(bit(bits[0], k)) ^ alpha.select(bit(bits[1], k));
            self.push(tag ^ delta.select(bit(flips, k)));
        }
        self.flush();
    }

    /// Adds the tags of the entries of look-ups that were opened, each ⊕ the product of Δ with the peer's entry when its
    /// multiples are given.
    fn entries(
        &mut self,
        ready: &Ready<T>,
        tags: &[T],
        looked: &Looked,
        multiples: Option<&Multiples<T>>,
    ) {
        let mut entries = &looked.entries[..];
        for (number, indices) in looked.indices.chunks(ready.lanes).enumerate() {
            let (first, step) = ready.place(number);
            let width = width(ready.program.table(number));
            let (sent, rest) = entries.split_at(width * ready.lanes);
            entries = rest;
            let pieces = indices.chunks(PIECE).zip(sent.chunks(PIECE * width)).enumerate();
            for (piece, (indices, sent)) in pieces {
                let tags = &tags[first.entry + piece * PIECE * step..];
                let found = found(indices, step);
                if step > 0 {
                    found.clone().for_each(|at| prefetch(&tags[at]));
                }
                self.buffer.extend(found.map(|at| tags[at]));
                match multiples {
                    None => {}
                    Some(multiples) if width == 1 => {
                        let all = self.buffer.iter_mut().zip(sent);
                        all.for_each(|(tag, byte)| *tag ^= multiples.times_byte(*byte));
                    }
                    Some(multiples) => {
                        let all = self.buffer.iter_mut().zip(sent.chunks(width));
                        all.for_each(|(tag, entry)| *tag ^= multiples.times(entry));
                    }
                }
                self.flush();
            }
        }
    }

    /// Adds tags, one by one.
    fn bits(&mut self, mut tags: impl Iterator<Item = T>) {
        loop {
            self.buffer.extend(tags.by_ref().take(PIECE));
            if self.buffer.is_empty() {
                return;
            }
            self.flush();
        }
    }

    fn push(&mut self, tag: T) {
        self.buffer.push(tag);
        if self.buffer.len() == PIECE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        match (&mut self.hash, T::as_words(&self.buffer)) {
            (Hash::Words(hash), Some(words)) => hash.update(words),
            (Hash::Words(_), None) => unreachable!("tags of one word are words"),
            (Hash::Blocks(hash), _) => {
                let mut blocks: Vec<Block> = self.buffer.iter().map(|tag| tag.widen()).collect();
                hash.update(&blocks);
                blocks.zeroize();
            }
        }
        self.buffer.clear();
    }

    /// The hash.
    fn finish(mut self) -> Block {
        self.buffer.zeroize();
        match self.hash {
            Hash::Words(hash) => hash.finish(),
            Hash::Blocks(hash) => hash.finish(),
        }
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

    fn times_byte(&self, byte: u8) -> T {
        self.0[0][usize::from(byte)]
    }

    fn times(&self, entry: &[u8]) -> T {
        let products = self.0.iter().zip(entry).map(|(table, byte)| table[usize::from(*byte)]);
        products.fold(T::default(), |sum, product| sum ^ product)
    }
}

impl<T: Tag> Drop for Multiples<T> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}
