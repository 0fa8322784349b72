//! The gates of a circuit in the form in which garblers and evaluators take them: shares of the
//! masks, chunk by chunk.

use std::collections::VecDeque;

use symbolon_circuit::Plan;
use symbolon_garbling::half_gates::Offsets;
use symbolon_preprocessing::open_bits::{AwaitedOpening, OpeningLabels, ShareOpening};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Channel, Result};

use super::{correlations::PartySecrets, wire_shares::WireShares};
use crate::{checks, messages};

/// The minimum number of AND gates in a chunk (a batch of the plan is never split).
pub(crate) const CHUNK: usize = 8192;

/// How many chunks the openings run ahead.
pub(crate) const LOOKAHEAD: usize = 6;

/// The opening of d = λ_a ⊕ a and e = λ_b ⊕ b.
pub(crate) const BEAVER: OpeningLabels =
    OpeningLabels { kind: messages::BEAVER, check: checks::BEAVER };

/// A chunk of AND gates, in the order of the plan: entry k of each list belongs to gate k.
pub(crate) struct MaskedGates {
    /// λ_a, the masks of the left inputs.
    pub lambda_a: WireShares,
    /// λ_b, the masks of the right inputs.
    pub lambda_b: WireShares,
    /// λ_a·λ_b ⊕ λ_c: the masked output when both masked inputs are 0.
    pub lambda_ab_c: WireShares,
}

impl MaskedGates {
    /// Returns the number of gates.
    pub fn len(&self) -> usize {
        self.lambda_a.len()
    }
}

/// What a garbler's own shares add to labels: the sums of their keys, plus Δ where the bit is 1.
impl Offsets for MaskedGates {
    /// Paper: YWZ20, Fig. 6, 8 | what a party's shares add to them
    #[inline]
    fn fill(
        &self,
        place: usize,
        delta: Block,
        _: &mut [[Block; 2]],
        halves: &mut [[Block; 2]],
        outputs: &mut [Block],
    ) {
        WireShares::key_sums([&self.lambda_b, &self.lambda_a], place, delta, halves);
        let (outputs, _) = outputs.as_chunks_mut::<1>();
        WireShares::key_sums([&self.lambda_ab_c], place, delta, outputs);
    }
}

/// What else arrives over the channels of the openings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Nothing.
    Own,
    /// Garbled gates.
    Shared,
}

/// Yields the gates of a circuit chunk by chunk, in the order of the plan.
pub(crate) trait MaskedGateStream: Send {
    /// Returns the next chunk; `None` after the last.
    fn next(&mut self, channels: &mut [Channel], lane: Lane) -> Result<Option<MaskedGates>>;

    /// Takes back a used chunk, for its memory.
    fn recycle(&mut self, gates: MaskedGates);

    /// Returns the masks of the outputs, in order, after the last chunk.
    fn outputs(self: Box<Self>) -> WireShares;
}

/// Returns the number of gates in each chunk of `plan`.
pub(crate) fn chunk_sizes(plan: &Plan) -> Vec<usize> {
    let mut cursor = plan.cursor();
    let mut sizes = Vec::new();
    let mut size = 0;
    while let Some(batch) = cursor.next_batch() {
        size += batch.ands.len();
        if size >= CHUNK {
            sizes.push(std::mem::take(&mut size));
        }
    }
    sizes.extend((size > 0).then_some(size));
    sizes
}

/// The openings of chunks that were sent and not yet checked.
pub(crate) struct OpeningQueue {
    delta: Delta,
    is_evaluator: bool,
    awaited: VecDeque<AwaitedOpening>,
    opened: VecDeque<BitVec>,
}

impl OpeningQueue {
    pub fn new(secrets: &PartySecrets) -> Self {
        OpeningQueue {
            delta: secrets.delta.clone(),
            is_evaluator: secrets.position.evaluator_index().is_none(),
            awaited: VecDeque::new(),
            opened: VecDeque::new(),
        }
    }

    /// Sends the opening of the next chunk.
    pub fn send(&mut self, opening: ShareOpening, channels: &mut [Channel]) -> Result<()> {
        self.awaited.push_back(opening.send(channels, &BEAVER)?);
        Ok(())
    }

    /// Returns the opened bits of the earliest chunk in the queue, with the peers' MACs checked.
    pub fn receive(&mut self, channels: &mut [Channel], lane: Lane) -> Result<BitVec> {
        // A garbler's openings and tables arrive in one stream, so the evaluator must first take
        // the openings that were sent ahead of this chunk's table. The evaluator sends no tables,
        // and garblers must not wait for more than they need.
        let one_stream = self.is_evaluator && lane == Lane::Shared;
        let wanted = if one_stream { self.awaited.len() } else { 1 };
        for opening in self.awaited.drain(..wanted) {
            self.opened.push_back(opening.receive(channels, &BEAVER, *self.delta)?);
        }
        Ok(self.opened.pop_front().expect("an opening was sent for every chunk"))
    }
}

/// Lists whose memory is kept from chunk to chunk.
pub(crate) struct SpareShares {
    lists: Vec<WireShares>,
    peers: usize,
}

impl SpareShares {
    pub fn new(peers: usize) -> Self {
        SpareShares { lists: Vec::new(), peers }
    }

    /// Returns three empty lists; new ones have room for this many shares.
    pub fn gates(&mut self, room: usize) -> MaskedGates {
        let mut empty = || {
            let new = || WireShares::with_capacity(room, self.peers);
            let mut list = self.lists.pop().unwrap_or_else(new);
            list.clear_all();
            list
        };
        MaskedGates { lambda_a: empty(), lambda_b: empty(), lambda_ab_c: empty() }
    }

    pub fn recycle(&mut self, gates: MaskedGates) {
        self.lists.extend([gates.lambda_a, gates.lambda_b, gates.lambda_ab_c]);
    }
}
