//! The masks of all wires, and shares of the products λ_a·λ_b: every garbling protocol begins its
//! function-dependent phase with these, in the same way for every party.
//!
//! A chunk's d and e (Beaver's trick) are sent once its masks are known, and awaited [`LOOKAHEAD`]
//! chunks later, so that a long link stays busy; its garbled gates follow. With several lanes the
//! pass has its own thread ([`super::pipeline`]).

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_circuit::{Cursor, Plan};
use symbolon_engine::{Compiled, phases::small};
use symbolon_garbling::wires::WireStore;
use symbolon_preprocessing::{AuthShares, PeerIndex, open_bits::ShareOpening};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Channel, Result};

use super::{
    correlations::{Correlations, PartySecrets},
    masked_gates::{
        CHUNK, LOOKAHEAD, Lane, MaskedGateStream, MaskedGates, OpeningQueue, SpareShares,
    },
    position::Position,
    triples::{BetaTriples, RandomTriples, TripleBatch, TripleQueue},
    wire_shares::WireShares,
};

/// Triples from which the products of the masks in a pass are made.
pub(crate) trait BeaverTriples: TripleBatch {
    /// The number of opened bits per gate.
    const OPENED: usize;

    /// Returns the masks of the gates' outputs.
    fn lambda_c(&self) -> &AuthShares;

    /// Returns the products.
    fn c(&self) -> &AuthShares;

    /// Adds to an opening the differences between the triples in `range` and the masks λ_a and λ_b
    /// of gates from `first` on.
    ///
    /// Paper: WRK17, Fig. 2, 4(a) | shares of λ_α·λ_β by Beaver's trick
    ///
    /// Paper: YWZ20, Fig. 6, 7 | products by Beaver's trick
    fn open(&self, range: Range<usize>, gates: &Products, first: usize, opening: &mut ShareOpening);

    /// Returns λ_a·λ_b ⊕ λ_c, computed from the opened bits.
    ///
    /// Paper: WRK17, Fig. 2, 4(a)
    ///
    /// Paper: YWZ20, Fig. 6, 7
    fn multiply(gates: Products, opened: &BitVec, position: Position, delta: Block) -> MaskedGates;
}

/// Gates whose openings are in transit.
pub(crate) struct Products {
    lambda_a: WireShares,
    lambda_b: WireShares,
    /// The triples' products, with λ_c added: c ⊕ λ_c.
    c: WireShares,
}

impl BeaverTriples for RandomTriples {
    const OPENED: usize = 2;

    fn lambda_c(&self) -> &AuthShares {
        &self.lambda_c
    }

    fn c(&self) -> &AuthShares {
        &self.abc.c
    }

    fn open(
        &self,
        range: Range<usize>,
        gates: &Products,
        first: usize,
        opening: &mut ShareOpening,
    ) {
        for (gate, k) in (first..).zip(range) {
            push_differences(opening, &gates.lambda_a, gate, &self.abc.a, k..k + 1);
            push_differences(opening, &gates.lambda_b, gate, &self.abc.b, k..k + 1);
        }
    }

    /// (a ⊕ d)·(b ⊕ e) = c ⊕ d·λ_b ⊕ e·λ_a ⊕ d·e: Beaver's formula in terms of the masks, so that
    /// the factors need not be kept.
    fn multiply(
        Products { lambda_a, lambda_b, mut c }: Products,
        opened: &BitVec,
        position: Position,
        delta: Block,
    ) -> MaskedGates {
        let (d, e) = (|k| opened.get(2 * k), |k| opened.get(2 * k + 1));
        c.add(&lambda_b, d);
        c.add(&lambda_a, e);
        for k in 0..c.len() {
            position.add_constant(&mut c, k, d(k) & e(k), delta);
        }
        MaskedGates { lambda_a, lambda_b, lambda_ab_c: c }
    }
}

impl BeaverTriples for BetaTriples {
    const OPENED: usize = 1;

    fn lambda_c(&self) -> &AuthShares {
        &self.lambda_c
    }

    fn c(&self) -> &AuthShares {
        &self.c
    }

    fn open(
        &self,
        range: Range<usize>,
        gates: &Products,
        first: usize,
        opening: &mut ShareOpening,
    ) {
        push_differences(opening, &gates.lambda_a, first, &self.a, range);
    }

    /// As for general triples, with b = λ_b and so e = 0.
    fn multiply(
        Products { lambda_a, lambda_b, mut c }: Products,
        opened: &BitVec,
        _: Position,
        _: Block,
    ) -> MaskedGates {
        c.add(&lambda_b, |k| opened.get(k));
        MaskedGates { lambda_a, lambda_b, lambda_ab_c: c }
    }
}

/// A pass over a circuit that computes the masks of all wires.
pub(crate) struct MaskPass<'p, B> {
    plan: &'p Plan,
    cursor: Cursor<'p>,
    slots: WireShares,
    triples: TripleQueue<B>,
    /// The number of AND gates that the pass has not reached.
    left: u64,
    pending: VecDeque<Products>,
    openings: OpeningQueue,
    spare: SpareShares,
    position: Position,
    delta: Delta,
}

impl<'p, B: BeaverTriples> MaskPass<'p, B> {
    /// Puts the masks of the inputs in place; returns the rest of the correlations.
    pub fn start(
        circuit: &'p Compiled,
        correlations: Correlations<TripleQueue<B>>,
    ) -> (PartySecrets, Self) {
        let slots = correlations.input_wires(circuit);
        let (circuit, plan) = circuit.planned();
        let (secrets, triples) = correlations.into_secrets(circuit);
        let pass = MaskPass {
            plan,
            cursor: plan.cursor(),
            triples,
            left: plan.and_count(),
            pending: VecDeque::new(),
            openings: OpeningQueue::new(&secrets),
            spare: SpareShares::new(slots.peers()),
            slots,
            position: secrets.position,
            delta: secrets.delta.clone(),
        };
        (secrets, pass)
    }

    /// Computes the masks of the next chunk, and sends its openings.
    fn open_chunk(&mut self, channels: &mut [Channel]) -> Result<()> {
        // The capacity covers only what will be used, because all of it is wiped at the end.
        let room = small(self.left.min((CHUNK + self.plan.limits().batch) as u64))?;
        let mut opening = ShareOpening::with_capacity(B::OPENED * room, self.slots.peers());
        let MaskedGates { lambda_a, lambda_b, lambda_ab_c: c } = self.spare.gates(room);
        let mut gates = Products { lambda_a, lambda_b, c };
        while self.left > 0 && gates.c.len() < CHUNK {
            let batch = self.cursor.next_batch().expect("the plan holds every gate");
            self.slots.free_gates(batch.base, batch.linear);
            for and in batch.ands {
                gates.lambda_a.push_row(&self.slots, batch.base + and.a as usize);
                gates.lambda_b.push_row(&self.slots, batch.base + and.b as usize);
            }
            self.left -= batch.ands.len() as u64;
            let (slots, mut ands) = (&mut self.slots, batch.ands);
            self.triples.take(ands.len(), |triples, range| {
                triples.open(range.clone(), &gates, gates.c.len(), &mut opening);
                gates.c.push_sums([triples.c(), triples.lambda_c()], range.clone());
                let (here, behind) = ands.split_at(range.len());
                let outs = here.iter().map(|and| batch.base + and.out as usize);
                slots.put(outs, triples.lambda_c(), range.start);
                ands = behind;
            })?;
        }
        self.pending.push_back(gates);
        self.openings.send(opening, channels)
    }
}

impl<B: BeaverTriples> MaskedGateStream for MaskPass<'_, B> {
    fn next(&mut self, channels: &mut [Channel], lane: Lane) -> Result<Option<MaskedGates>> {
        while self.left > 0 && self.pending.len() <= LOOKAHEAD {
            self.open_chunk(channels)?;
        }
        let Some(gates) = self.pending.pop_front() else {
            return Ok(None);
        };
        let opened = self.openings.receive(channels, lane)?;
        Ok(Some(B::multiply(gates, &opened, self.position, *self.delta)))
    }

    fn recycle(&mut self, gates: MaskedGates) {
        self.spare.recycle(gates);
    }

    fn outputs(self: Box<Self>) -> WireShares {
        let MaskPass { cursor, mut slots, plan, .. } = *self;
        slots.finish(cursor);
        slots.select(plan.output_slots())
    }
}

/// Adds to an opening the differences between masks and factors, each from a given index on.
fn push_differences(
    opening: &mut ShareOpening,
    masks: &WireShares,
    first: usize,
    factors: &AuthShares,
    range: Range<usize>,
) {
    for (first, part) in (first..).step_by(64).zip(range.clone().step_by(64)) {
        let n = (range.end - part).min(64);
        let bit = |i| u64::from(masks.bit(first + i) ^ factors.bits.get(part + i)) << i;
        opening.push_bits((0..n).map(bit).fold(0, |word, bit| word | bit), n);
    }
    for (peer, t) in PeerIndex::all(factors.towards.len()).zip(&factors.towards) {
        let factors = t.macs[range.clone()].iter().zip(&t.keys[range.clone()]);
        let masks = masks.auths(first, range.len()).map(|auths| auths[peer.get()]);
        let sum = |([mac, key], (m, k)): ([Block; 2], (&Block, &Block))| [mac ^ *m, key ^ *k];
        opening.extend_towards(peer, masks.zip(factors).map(sum));
    }
}
