//! Runs all phases at once, for circuits that are too large to keep: triples are made for the next
//! gates, used, garbled, evaluated and dropped, *segment* by segment.
//!
//! A segment consists of the gates for which one batch of triples
//! ([`symbolon_preprocessing::bucketing`]) suffices: about [`Network::segment_gates`], rounded up
//! to what the buckets need. Memory grows with the number of live wires and one segment. The
//! separate phases keep 96 bytes per AND gate and peer, and then the whole garbled circuit.
//!
//! Departure: large circuits | all is garbled before inputs are used | inputs are masked first;
//! then material, garbling, evaluation and check by segment | masked values are uniform
//! (`docs/proofs/streaming.md`)
//!
//! # Order of events
//! The masks of the inputs are made first, then the inputs are masked and the labels of their wires
//! sent. Then follow for every segment: masks and triples, on the gates' own masks
//! ([`crate::gates::circuit_dependent`]); Beaver's openings, garbling and evaluation, chunk by
//! chunk; then the check of everything evaluated: a verdict on the rows' MACs, or the exchange that
//! checks half-gates. Nothing is in flight between two segments. Output masks are opened after the
//! last one.
//!
//! A segment's last gates, fewer than the largest batch of the plan, join the next segment: the
//! pass stops where the triples might not suffice for the plan's next batch. They have passed every
//! check on triples; as gates they are opened, garbled and checked with those of the next segment.
//!
//! With several lanes, a separate thread makes the next segment's triples meanwhile, on all lanes
//! but the first, so two segments are in memory at a time.
//!
//! # Security
//! Inputs are masked before gates are garbled, the next segment may be made meanwhile, and
//! half-gates are checked chunk by chunk. `docs/proofs/streaming.md` proves that each of these is
//! sound.

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_circuit::Cursor;
use symbolon_engine::{Compiled, Network};
use symbolon_preprocessing::open_bits::ShareOpening;
use symbolon_primitives::Block;
use symbolon_transport::{Result, Step};

use super::{
    correlations::PartySecrets,
    masked_gates::{CHUNK, LOOKAHEAD, Lane, MaskedGates, OpeningQueue, SpareShares},
    segment_triples::SegmentTriples,
    triples::{SolvedTriples, TripleBatch},
    wire_shares::WireShares,
};

/// Makes a circuit's triples, segment by segment.
pub(crate) trait SegmentSource {
    /// Returns the next batch, in the memory of a used one if there is one.
    fn next(&mut self, net: &mut Network, spent: Option<SolvedTriples>) -> Result<SolvedTriples>;

    /// Fails if it is already known that no next batch can be made.
    fn check(&self) -> Result<()>;

    /// Returns the masks of the circuit's outputs, after the last batch.
    fn outputs(self: Box<Self>) -> Result<WireShares>;
}

/// A circuit under evaluation whose triples are made as they are needed.
pub(crate) struct Streaming<'a> {
    pub secrets: PartySecrets,
    source: Box<dyn SegmentSource + 'a>,
    cursor: Cursor<'a>,
    openings: OpeningQueue,
    spare: SpareShares,
    /// What the last segment left, and memory that it no longer needs.
    rest: Vec<SolvedTriples>,
    spent: Option<SolvedTriples>,
    /// The number of gates whose triples are still to come from the source.
    due: u64,
    /// The maximum number of AND gates in a batch of the plan. A segment continues while it has
    /// triples for this many.
    most: usize,
}

impl<'a> Streaming<'a> {
    pub fn new(
        circuit: &'a Compiled,
        peers: usize,
        secrets: PartySecrets,
        source: Box<dyn SegmentSource + 'a>,
    ) -> Self {
        Streaming {
            source,
            cursor: circuit.plan().cursor(),
            openings: OpeningQueue::new(&secrets),
            spare: SpareShares::new(peers),
            rest: Vec::new(),
            spent: None,
            due: circuit.plan().and_count(),
            most: circuit.plan().limits().batch,
            secrets,
        }
    }

    /// Makes the triples of the next segment, or waits for them. A circuit without AND gates has
    /// one empty segment.
    pub fn next_segment(&mut self, net: &mut Network) -> Result<Segment<'_, 'a>> {
        let mut triples = SegmentTriples::new(std::mem::take(&mut self.rest));
        while self.due > 0 && triples.left() < self.most {
            let batch = self.source.next(net, self.spent.take())?;
            self.due -= batch.len() as u64;
            triples.push(batch);
        }
        Ok(Segment { streaming: self, triples, pending: VecDeque::new() })
    }

    /// Returns whether the segments so far contain all gates.
    pub fn is_done(&self) -> bool {
        self.due == 0
    }

    /// Returns the masks of the outputs, after the last segment. Everything else is dropped before
    /// they take room.
    pub fn outputs(self) -> Result<WireShares> {
        self.source.outputs()
    }
}

/// The gates for which there are triples. A segment ends with the role's check of what was
/// evaluated; nothing of it is in flight afterwards.
pub(crate) struct Segment<'s, 'a> {
    streaming: &'s mut Streaming<'a>,
    triples: SegmentTriples,
    /// The ranges of chunks whose openings are awaited.
    pending: VecDeque<Range<usize>>,
}

impl Segment<'_, '_> {
    /// Returns the next chunk of gates; `None` at the end of the segment.
    pub fn next(&mut self, net: &mut Network) -> Result<Option<MaskedGates>> {
        self.streaming.source.check()?;
        while self.triples.left() > 0 && self.pending.len() <= LOOKAHEAD && self.reaches(0) {
            self.open_chunk(net)?;
        }
        let Some(gates) = self.pending.pop_front() else {
            return Ok(None);
        };
        let opened = self.streaming.openings.receive(net.peers(), Lane::Shared)?;
        net.meter.advance(Step::Gates, gates.len() as u64);
        let mut masked = self.streaming.spare.gates(gates.len());
        for (SolvedTriples { lambda_a, abc }, range) in self.triples.pieces(gates) {
            let done = masked.len();
            let d = opened.slice(done..done + range.len());
            masked.lambda_a.push_range(lambda_a, range.clone());
            masked.lambda_b.push_range(&abc.b, range.clone());
            // λ_a·λ_b = a·λ_b ⊕ d·λ_b = c ⊕ d·b
            masked.lambda_ab_c.push_products([&abc.c, &abc.b], range, &d);
        }
        Ok(Some(masked))
    }

    /// Takes back a used chunk, for its memory.
    pub fn recycle(&mut self, gates: MaskedGates) {
        self.streaming.spare.recycle(gates);
    }

    /// Keeps the MACs that prove the gates of the next chunk to a peer: see
    /// [`SegmentTriples::keep_proof`].
    pub fn keep_proof(&mut self, gates: &MaskedGates, peer: usize) {
        self.triples.keep_proof(gates, peer);
    }

    /// Returns what was [kept](Segment::keep_proof) of gates, counted from the segment's first.
    pub fn proof_macs(
        &self,
        gates: Range<usize>,
        peer: usize,
    ) -> impl Iterator<Item = [&[Block]; 3]> {
        self.triples.proof_macs(gates, peer)
    }

    /// Ends the segment once all of it is checked.
    pub fn finish(self) {
        (self.streaming.rest, self.streaming.spent) = self.triples.finish();
    }

    /// Returns whether a batch of the plan after this many gates is within the segment.
    fn reaches(&self, gates: usize) -> bool {
        self.streaming.due == 0 || self.triples.left() >= gates + self.streaming.most
    }

    /// Sends the openings of the next chunk. λ_a and λ_b are known, so the cursor only shows where
    /// the plan's batches end.
    fn open_chunk(&mut self, net: &mut Network) -> Result<()> {
        let left = self.triples.left();
        let mut gates = 0;
        while gates < CHUNK.min(left) && self.reaches(gates) {
            gates += self.streaming.cursor.skip_ands().expect("the plan holds every gate");
        }
        // The capacity covers only what will be used, because all of it is wiped at the end.
        let room = left.min(CHUNK + self.streaming.most);
        let mut opening = ShareOpening::with_capacity(room, net.peers().len());
        let gates = self.triples.take(gates);
        for (SolvedTriples { lambda_a, abc }, range) in self.triples.pieces(gates.clone()) {
            opening.push_sums([lambda_a, &abc.a], range);
        }
        self.pending.push_back(gates);
        self.streaming.openings.send(opening, net.peers())
    }
}
