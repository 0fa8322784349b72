//! All phases at once, for circuits that are too large to be kept: triples are made for the gates
//! that come next, used, garbled, evaluated and forgotten, *segment* by segment.
//!
//! A segment is what one batch of triples ([`symbolon_preprocessing::bucketing`]) is enough for;
//! [`Network::segment_gates`] bounds it. Memory follows the wires that are alive and one segment;
//! the phases one after another keep 96 bytes an AND gate and peer, then the whole garbled circuit.
//!
//! Departure: large circuits | all is garbled before inputs are used | inputs are masked first;
//! then material, garbling, evaluation and check by segment | masked values are uniform
//! (`docs/proofs/streaming.md`)
//!
//! # What happens when
//! The masks of the inputs are made first, then the inputs are masked and the labels of their wires
//! sent. Then, for every segment: masks and triples, on the gates' own masks
//! ([`crate::gates::circuit_dependent`]); Beaver's openings, garbling and evaluation, chunk by
//! chunk; then the check of all that was evaluated: a verdict on the rows' MACs, or the
//! exchange that half-gates are checked by. Nothing is in flight between two segments. Output masks
//! are opened after the last one.
//!
//! A segment's last gates, fewer than the largest batch of the plan, go with the next segment: the
//! pass stops where the triples might not be enough for the plan's next batch. They have passed
//! every check on triples; as gates they are opened, garbled and checked with those of the next
//! segment.
//!
//! With several lanes the next segment's triples are made meanwhile, by a thread of its own on all
//! lanes but the first: there are two segments at a time.
//!
//! # Security
//! Inputs are masked before gates are garbled, the next segment may be made meanwhile, and
//! half-gates are checked chunk by chunk. `docs/proofs/streaming.md` says why each is sound.

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_circuit::Cursor;
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
use crate::{Compiled, Network};

/// Makes a circuit's triples, segment by segment.
pub(crate) trait SegmentSource {
    /// The next batch, in the memory of one that is used up if there is one.
    fn next(&mut self, net: &mut Network, spent: Option<SolvedTriples>) -> Result<SolvedTriples>;

    /// Fails when it is known already that no next batch can be made.
    fn check(&self) -> Result<()>;

    /// The masks of the circuit's outputs, after the last batch.
    fn outputs(self: Box<Self>) -> Result<WireShares>;
}

/// A circuit under evaluation whose triples are made as they are needed.
pub(crate) struct Streaming<'a> {
    pub secrets: PartySecrets,
    source: Box<dyn SegmentSource + 'a>,
    cursor: Cursor<'a>,
    openings: OpeningQueue,
    spare: SpareShares,
    /// What the last segment left over, and memory that it is done with.
    rest: Vec<SolvedTriples>,
    spent: Option<SolvedTriples>,
    /// How many gates' triples are still to come from the source.
    due: u64,
    /// The most AND gates of a batch of the plan: a segment goes on while there are triples for so
    /// many.
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
    /// one segment, an empty one.
    pub fn next_segment(&mut self, net: &mut Network) -> Result<Segment<'_, 'a>> {
        let mut triples = SegmentTriples::new(std::mem::take(&mut self.rest));
        while self.due > 0 && triples.left() < self.most {
            let batch = self.source.next(net, self.spent.take())?;
            self.due -= batch.len() as u64;
            triples.push(batch);
        }
        Ok(Segment { streaming: self, triples, pending: VecDeque::new() })
    }

    /// Whether the segments until now hold all gates.
    pub fn is_done(&self) -> bool {
        self.due == 0
    }

    /// The masks of the outputs, after the last segment. What else there is goes before they take
    /// room.
    pub fn outputs(self) -> Result<WireShares> {
        self.source.outputs()
    }
}

/// The gates for which there are triples. It ends with the role's check of what was evaluated;
/// nothing of it is in flight then.
pub(crate) struct Segment<'s, 'a> {
    streaming: &'s mut Streaming<'a>,
    triples: SegmentTriples,
    /// Chunks whose openings are awaited.
    pending: VecDeque<Range<usize>>,
}

impl Segment<'_, '_> {
    /// The next chunk of gates; `None` at the end of the segment.
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

    /// Takes back a chunk that is dealt with, for its memory.
    pub fn recycle(&mut self, gates: MaskedGates) {
        self.streaming.spare.recycle(gates);
    }

    /// Keeps the MACs towards a peer by which the gates of the next chunk are proven: see
    /// [`SegmentTriples::keep_proof`].
    pub fn keep_proof(&mut self, gates: &MaskedGates, peer: usize) {
        self.triples.keep_proof(gates, peer);
    }

    /// What was [kept](Segment::keep_proof) of gates, counted from the segment's first.
    pub fn proof_macs(
        &self,
        gates: Range<usize>,
        peer: usize,
    ) -> impl Iterator<Item = [&[Block]; 3]> {
        self.triples.proof_macs(gates, peer)
    }

    /// Ends the segment, when all of it is checked.
    pub fn finish(self) {
        (self.streaming.rest, self.streaming.spent) = self.triples.finish();
    }

    /// Whether a batch of the plan that comes after this many gates is within the segment.
    fn reaches(&self, gates: usize) -> bool {
        self.streaming.due == 0 || self.triples.left() >= gates + self.streaming.most
    }

    /// Sends the openings of the next chunk: λ_a and λ_b are there, so that the cursor only says
    /// where the plan's batches end.
    fn open_chunk(&mut self, net: &mut Network) -> Result<()> {
        let left = self.triples.left();
        let mut gates = 0;
        while gates < CHUNK.min(left) && self.reaches(gates) {
            gates += self.streaming.cursor.skip_ands().expect("the plan holds every gate");
        }
        // No more than will be used: what is wiped in the end is all of it.
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
