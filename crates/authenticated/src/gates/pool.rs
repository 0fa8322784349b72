//! Pools of masks and triples outside of a session ([`PoolSink`], [`PoolSource`]).
//!
//! With p peers, a pool has these sections:
//!
//! * 0: Δ (16 bytes), the evaluator's party number (2 bytes, little-endian);
//! * 1: gates, in chunks of [`GATES_PER_CHUNK`], the last one filled up with zeros. The mask comes
//!   first, then a, b and c of the triple; each of these consists of the own bits, packed, and for
//!   each peer the MACs and the keys, 16 bytes each;
//! * 2 + i: masks for input bits of party i: a byte and p MACs for each of this party's, a key for
//!   each of a peer's.
//!
//! Gates and input bits are taken from the front, each once: the caller that keeps a pool must
//! ensure this, and the pool's integrity. A gate's number in the pool is the tweak of its hashes,
//! so no tweak is used twice under one Δ.

use std::io::Read;
use std::ops::Range;

use symbolon_circuit::PartyId;
use symbolon_engine::{
    PoolRange, PoolSink, PoolSource,
    codec::{Reader, damaged},
    phases::small,
};
use symbolon_preprocessing::{AuthShares, PeerAuth, Triples};
use symbolon_primitives::{BitVec, Block, Delta, Prg, reserve_wiped, watch};
use symbolon_transport::{Error, Result};
use zeroize::{Zeroize, Zeroizing};

use super::{
    correlations::{Correlations, InputAuth, PartySecrets, RandomCorrelations},
    position::Position,
    triples::{RandomTriples, TripleQueue, TripleSource},
};

/// The number of gates that are stored together.
pub const GATES_PER_CHUNK: usize = 128;

/// The section with data about the whole pool.
pub const HEAD: usize = 0;

/// The section of the gates.
pub const GATES: usize = 1;

const HEAD_BYTES: usize = 18;

/// The name under which MACs and keys are reported to the test that searches the memory. Some are
/// sent when the pool is used: they are secret only until then.
pub const WATCHED: &str = "pool";

/// The layout of one party's pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLayout {
    /// The party.
    pub me: PartyId,
    /// The number of parties, including this one.
    pub parties: u16,
}

impl PoolLayout {
    /// Returns the number of sections.
    pub fn sections(self) -> usize {
        2 + usize::from(self.parties)
    }

    /// Returns the section of the input bits of `party`.
    pub fn inputs(party: PartyId) -> usize {
        2 + usize::from(party)
    }

    fn peers(self) -> usize {
        usize::from(self.parties) - 1
    }

    /// Returns the size of a chunk of gates, in bytes.
    pub fn chunk_bytes(self) -> u64 {
        4 * (GATES_PER_CHUNK as u64 / 8 + 32 * GATES_PER_CHUNK as u64 * self.peers() as u64)
    }

    /// Returns the byte range of section [`GATES`] that holds the chunks of these gates.
    pub fn gate_bytes(self, gates: &Range<u64>) -> Range<u64> {
        let chunk = GATES_PER_CHUNK as u64;
        let bytes = self.chunk_bytes();
        gates.start / chunk * bytes..gates.end.div_ceil(chunk) * bytes
    }

    /// Returns the size of one input bit of `party`, in bytes.
    pub fn input_bytes(self, party: PartyId) -> u64 {
        if party == self.me { 1 + 16 * self.peers() as u64 } else { 16 }
    }
}

/// Writes a pool.
pub(crate) struct PoolWriter<'a> {
    sink: &'a mut dyn PoolSink,
    layout: PoolLayout,
    /// Gates of the next chunk, with room for all of it: lists that grow would leave copies.
    pending: Vec<AuthShares>,
    buffer: Zeroizing<Vec<u8>>,
}

impl<'a> PoolWriter<'a> {
    /// Writes the data about the whole pool.
    pub fn new(
        sink: &'a mut dyn PoolSink,
        position: Position,
        parties: u16,
        delta: &Delta,
    ) -> Result<PoolWriter<'a>> {
        let layout = PoolLayout { me: position.me, parties };
        let mut head = Zeroizing::new(Vec::with_capacity(HEAD_BYTES));
        head.extend_from_slice(Block::as_bytes(std::slice::from_ref(delta)));
        head.extend_from_slice(&position.evaluator.to_le_bytes());
        sink.write(HEAD, &head)?;
        let room = || AuthShares::with_capacity(GATES_PER_CHUNK, layout.peers());
        let pending = (0..4).map(|_| room()).collect();
        Ok(PoolWriter { sink, layout, pending, buffer: Zeroizing::default() })
    }

    /// Writes the masks of all input bits.
    pub fn inputs(&mut self, own: &BitVec, macs: &[Vec<Block>], keys: &[Vec<Block>]) -> Result<()> {
        // The next chunk overwrites the last one, which is as long.
        self.buffer.clear();
        reserve_wiped(&mut self.buffer, own.len() * (1 + 16 * macs.len()));
        for k in 0..own.len() {
            self.buffer.push(own.get(k).into());
            for macs in macs {
                self.buffer.extend_from_slice(&macs[k].to_bytes());
            }
        }
        self.sink.write(PoolLayout::inputs(self.layout.me), &self.buffer)?;
        let me = self.layout.me;
        let peers = PartyId::all(self.layout.parties).filter(|&party| party != me);
        for (party, keys) in peers.zip(keys) {
            self.sink.write(PoolLayout::inputs(party), Block::as_bytes(keys))?;
        }
        Ok(())
    }

    /// Writes the next gates.
    pub fn gates(&mut self, batch: &RandomTriples) -> Result<()> {
        let all = batch.lambda_c.len();
        let mut start = 0;
        while start < all {
            let room = GATES_PER_CHUNK - self.pending[0].len();
            let range = start..all.min(start + room);
            start = range.end;
            let Triples { a, b, c } = &batch.abc;
            let four = [&batch.lambda_c, a, b, c];
            for (pending, shares) in self.pending.iter_mut().zip(four) {
                pending.bits.extend_from(&shares.bits.slice(range.clone()));
                for (to, from) in pending.towards.iter_mut().zip(&shares.towards) {
                    to.macs.extend_from_slice(&from.macs[range.clone()]);
                    to.keys.extend_from_slice(&from.keys[range.clone()]);
                }
            }
            if self.pending[0].len() == GATES_PER_CHUNK {
                self.chunk()?;
            }
        }
        Ok(())
    }

    /// Writes the last chunk.
    pub fn finish(mut self) -> Result<()> {
        if self.pending[0].is_empty() {
            return Ok(());
        }
        let missing = GATES_PER_CHUNK - self.pending[0].len();
        for pending in &mut self.pending {
            pending.bits.extend_from(&BitVec::zeros(missing));
            for list in pending.towards.iter_mut().flat_map(PeerAuth::lists) {
                list.resize(GATES_PER_CHUNK, Block::ZERO);
            }
        }
        self.chunk()
    }

    fn chunk(&mut self) -> Result<()> {
        // The next chunk overwrites the last one, which is as long.
        self.buffer.clear();
        reserve_wiped(&mut self.buffer, small(self.layout.chunk_bytes())?);
        for pending in &mut self.pending {
            self.buffer.extend_from_slice(&Zeroizing::new(pending.bits.to_bytes()));
            // Wiping keeps the memory.
            pending.bits.zeroize();
            for list in pending.towards.iter_mut().flat_map(PeerAuth::lists) {
                watch::tell(WATCHED, Block::as_bytes(list));
                self.buffer.extend_from_slice(Block::as_bytes(list));
                list.zeroize();
            }
        }
        self.sink.write(GATES, &self.buffer)
    }
}

/// Opens a part of a pool as correlations for one circuit; gates are read when they are needed.
pub(crate) fn correlations(
    position: Position,
    parties: u16,
    range: &PoolRange,
    source: &mut dyn PoolSource,
) -> Result<RandomCorrelations> {
    let layout = PoolLayout { me: position.me, parties };
    if range.inputs.len() != usize::from(parties) {
        return Err(Error::invalid_input("a range of input bits is needed for every party"));
    }
    let mut head = source.open(HEAD, 0..HEAD_BYTES as u64)?;
    let mut head = Reader(&mut *head);
    let delta = head.delta()?;
    if head.array()? != position.evaluator.to_le_bytes() {
        return Err(damaged("it has another evaluator"));
    }
    let mut own_masks = BitVec::zeros(0);
    let mut inputs = InputAuth { macs: vec![Vec::new(); layout.peers()], keys: Vec::new() };
    for (party, bits) in PartyId::all(parties).zip(&range.inputs) {
        let each = layout.input_bytes(party);
        let bytes = bits.start * each..bits.end * each;
        let mut section = source.open(PoolLayout::inputs(party), bytes)?;
        let n = small(bits.end - bits.start)?;
        let mut section = Reader(&mut *section);
        if party == position.me {
            own_masks = read_own(&mut section, n, &mut inputs.macs)?;
        } else {
            inputs.keys.push(section.list(n)?);
        }
    }
    let gates = source.open(GATES, layout.gate_bytes(&range.gates))?;
    let reader = GateReader {
        layout,
        chunks: gates,
        skip: small(range.gates.start % GATES_PER_CHUNK as u64)?,
        left: range.gates.end - range.gates.start,
    };
    let seed = Prg::from_os().map_err(|e| Error::internal(e.to_string()))?.seed();
    let first_tweak = range.gates.start;
    let secrets = PartySecrets { position, delta, first_tweak, seed, own_masks };
    let triples = TripleQueue::new(reader, range.gates.end - range.gates.start);
    Ok(Correlations { secrets, inputs, triples })
}

fn read_own(section: &mut Reader<'_>, n: usize, macs: &mut [Vec<Block>]) -> Result<BitVec> {
    let mut own = BitVec::zeros(0);
    for _ in 0..n {
        let [bit] = section.array()?;
        if bit > 1 {
            return Err(damaged("an input mask is not a bit"));
        }
        own.push(bit == 1);
        for macs in &mut *macs {
            reserve_wiped(macs, 1);
            macs.push(section.block()?);
        }
    }
    Ok(own)
}

/// Reads gates chunk by chunk.
struct GateReader {
    layout: PoolLayout,
    chunks: Box<dyn Read + Send>,
    /// The number of gates of the next chunk before ours.
    skip: usize,
    left: u64,
}

impl TripleSource for GateReader {
    type Batch = RandomTriples;

    fn next(&mut self) -> Result<Option<RandomTriples>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut reader = Reader(&mut *self.chunks);
        let mut shares = Vec::with_capacity(4);
        for _ in 0..4 {
            let bits = reader.bits(GATES_PER_CHUNK)?;
            let mut towards = Vec::with_capacity(self.layout.peers());
            for _ in 0..self.layout.peers() {
                let macs = reader.list(GATES_PER_CHUNK)?;
                towards.push(PeerAuth { macs, keys: reader.list(GATES_PER_CHUNK)? });
            }
            shares.push(AuthShares { bits, towards });
        }
        let start = std::mem::take(&mut self.skip);
        let take = self.left.min((GATES_PER_CHUNK - start) as u64);
        self.left -= take;
        let range = start..start + take as usize;
        let mut shares = shares.into_iter().map(|shares| shares.slice(range.clone()));
        let mut next = || shares.next().unwrap_or_default();
        let lambda_c = next();
        let abc = Triples { a: next(), b: next(), c: next() };
        Ok(Some(RandomTriples { lambda_c, abc }))
    }
}
