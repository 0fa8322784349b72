//! The masks of all wires, and shares of the products λ_α·λ_β: what every garbling protocol begins its
//! function-dependent phase with, the same for every party.
//!
//! The walk is cut into chunks. A chunk's d and e (Beaver's trick) are sent when its masks are known,
//! and awaited [`LOOKAHEAD`] chunks later, so that a long link is kept full; its garbled gates follow. Where
//! material is made along the way ([`crate::gates::streaming`]), the walk stops where the material ends, with nothing
//! awaited any more. With several lanes it has a thread of its own ([`crate::gates::pipeline`]).

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_circuit::{Circuit, Cursor, Linear, PartyId, Plan};
use symbolon_preprocessing::{
    Shares,
    exchange::{AwaitedOpening, Opened, ShareOpening},
};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Channel, Result};
use zeroize::Zeroize;

use crate::{
    gates::correlations::{Correlations, GateBatch, GateMaterial},
    gates::wire_shares::WireShares,
};

/// AND gates of one chunk, at least (a batch is never cut).
const CHUNK: usize = 8192;

/// How many chunks the openings run ahead.
pub(crate) const LOOKAHEAD: usize = 6;

/// The opening of d = λ_α ⊕ a and e = λ_β ⊕ b.
pub(crate) const BEAVER: Opened = Opened { kind: "Beaver: d, e", check: "Beaver MAC" };

/// A chunk of AND gates, in the order of the walk: entry k of each list belongs to gate k.
pub(crate) struct MaskedGates {
    /// λ_α.
    pub alpha: WireShares,
    /// λ_β.
    pub beta: WireShares,
    /// λ_α·λ_β ⊕ λ_γ: the masked output when both masked inputs are 0.
    pub row0: WireShares,
}

impl MaskedGates {
    /// How many gates there are.
    pub fn len(&self) -> usize {
        self.alpha.len()
    }

    /// Appends all gates' MACs towards the peer in this place.
    fn push_macs(&self, place: usize, ProofMacs { alpha, beta, row0 }: &mut ProofMacs) {
        for (rows, macs) in [(&self.alpha, alpha), (&self.beta, beta), (&self.row0, row0)] {
            macs.extend(rows.auths(0, self.len()).map(|auth| auth[place][0]));
        }
    }
}

/// Who a party is in the walk.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    pub me: PartyId,
    /// The evaluator carries public constants: it flips its bit, the others adapt their keys for it.
    pub evaluator: PartyId,
}

impl Position {
    /// The place of the evaluator among this party's peers; `None` for the evaluator itself.
    pub fn evaluator_place(self) -> Option<usize> {
        (self.me != self.evaluator)
            .then(|| usize::from(self.evaluator) - usize::from(self.evaluator > self.me))
    }

    /// Share `k` of `rows` ⊕= the public constant `bit`.
    pub fn add_constant(self, rows: &mut WireShares, k: usize, bit: bool, delta: Block) {
        match self.evaluator_place() {
            None => rows.set_bit(k, rows.bit(k) ^ bit),
            Some(place) => rows.auth_mut(k)[place][1] ^= delta.select(bit),
        }
    }
}

/// The walk over the masks.
pub(crate) struct MaskPass<'a> {
    cursor: Cursor<'a>,
    slots: WireShares,
    outputs: &'a [u32],
    /// Chunks whose products are not known yet, and their openings: awaited, or here already.
    pending: VecDeque<Pending>,
    awaited: VecDeque<AwaitedOpening>,
    opened: VecDeque<BitVec>,
    /// Lists whose memory is kept for the next chunks.
    spare: Vec<WireShares>,
    walked: bool,
    /// The most AND gates of a batch of the plan.
    most: usize,
    /// Whether every triple's b is its gate's λ_β already, so that no e is opened.
    known: bool,
    /// Whether λ_α and λ_β come with the material, so that free gates need not be done, and slots not be kept.
    found: bool,
    /// The masks of the outputs, when they came.
    found_outputs: Option<WireShares>,
    /// Whether nothing but openings comes by the channels that the walk is given.
    pub has_a_lane: bool,
    keep: Keep,
    gates: u64,
    position: Position,
    delta: Delta,
}

/// Where the MACs towards the peer in one place are kept, behind the garbling of their gates.
enum Keep {
    Nowhere,
    Apart {
        place: usize,
        macs: ProofMacs,
    },
    /// Those of λ_α and λ_β lie there already; so many gates' third ones took the place of those of c.
    InMaterial {
        place: usize,
        gates: usize,
    },
}

/// MACs towards one peer of the own shares of λ_α, λ_β and λ_αβ ⊕ λ_γ, gate by gate.
#[derive(Default)]
pub(crate) struct ProofMacs {
    pub alpha: Vec<Block>,
    pub beta: Vec<Block>,
    pub row0: Vec<Block>,
}

impl Drop for ProofMacs {
    fn drop(&mut self) {
        for macs in [&mut self.alpha, &mut self.beta, &mut self.row0] {
            macs.zeroize();
        }
    }
}

/// AND gates whose d and e are on their way.
struct Pending {
    gates: usize,
    what: Awaiting,
}

/// What waits for them.
enum Awaiting {
    /// λ_α, λ_β and c ⊕ λ_γ.
    Shares { alpha: WireShares, beta: WireShares, rest: WireShares },
    /// Nothing: it all lies in the material still, in these batches at these places.
    Correlations(Vec<(usize, Range<usize>)>),
}

/// Gates of a chunk in the making, behind their λ_α and λ_β.
struct Gathered {
    alpha: WireShares,
    beta: WireShares,
    rest: WireShares,
}

impl Gathered {
    /// Takes what the next gates use up; b is λ_β if it is `known`.
    fn add(
        &mut self,
        GateMaterial { range, masks, triples, .. }: &GateMaterial<'_>,
        known: bool,
        opening: &mut ShareOpening,
    ) {
        let first = self.rest.len();
        if known {
            push_differences(opening, (&self.alpha, first), (&triples.a, range.clone()));
        } else {
            for (place, k) in (first..).zip(range.clone()) {
                push_differences(opening, (&self.alpha, place), (&triples.a, k..k + 1));
                push_differences(opening, (&self.beta, place), (&triples.b, k..k + 1));
            }
        }
        match masks.is_empty() {
            true => self.rest.push_range(&triples.c, range.clone()),
            false => self.rest.push_sums([&triples.c, masks], range.clone()),
        }
    }
}

impl<'a> MaskPass<'a> {
    /// Puts the input masks in place.
    pub fn new(circuit: &Circuit, plan: &'a Plan, correlations: &Correlations) -> Self {
        let slots = match correlations.found {
            true => WireShares::zeros(0, correlations.peer_inputs.len()),
            false => input_masks(circuit, plan, correlations),
        };
        MaskPass {
            cursor: plan.cursor(),
            slots,
            found: correlations.found,
            found_outputs: None,
            has_a_lane: false,
            keep: Keep::Nowhere,
            gates: plan.and_count(),
            known: correlations.known.is_some(),
            outputs: plan.output_slots(),
            pending: VecDeque::new(),
            awaited: VecDeque::new(),
            opened: VecDeque::new(),
            spare: Vec::new(),
            walked: false,
            most: plan.limits().batch,
            position: correlations.position,
            delta: correlations.delta.clone(),
        }
    }

    /// The next chunk of gates, in the order of the walk; `None` after the last, and after the last one that the
    /// material is enough for while more of it is to come.
    pub fn next_chunk(
        &mut self,
        channels: &mut [Channel],
        correlations: &mut Correlations,
    ) -> Result<Option<MaskedGates>> {
        while !self.walked && self.pending.len() <= LOOKAHEAD && correlations.reaches(self.most) {
            self.walk_chunk(channels, correlations)?;
        }
        self.found_outputs = self.found_outputs.take().or(correlations.outputs.take());
        let Some(gates) = self.pending.pop_front() else {
            return Ok(None);
        };
        // A garbler's openings and tables come in one stream: the evaluator must take those that were
        // sent ahead of this chunk's table first. It sends no tables, and garblers must not wait for
        // more than they need.
        let one_stream = self.position.me == self.position.evaluator && !self.has_a_lane;
        let wanted = if one_stream { self.awaited.len() } else { 1 };
        for opening in self.awaited.drain(..wanted) {
            self.opened.push_back(opening.receive(channels, &BEAVER, *self.delta)?);
        }
        let opened = self.opened.pop_front().expect("an opening was awaited for every chunk");
        let chunk = self.products(gates, &opened, correlations);
        match &mut self.keep {
            Keep::Nowhere => {}
            Keep::Apart { place, macs } => chunk.push_macs(*place, macs),
            Keep::InMaterial { place, gates } => {
                let macs = chunk.row0.auths(0, chunk.len()).map(|auth| auth[*place][0]);
                correlations.put_back((*place, *gates), macs);
                *gates += chunk.len();
            }
        }
        Ok(Some(chunk))
    }

    /// The MACs towards the peer in this place are kept of the chunks of the next `gates`: in the material, if λ_α and λ_β come
    /// with it, where [`Correlations::used`] finds them until it is spent.
    pub fn keep_macs(&mut self, place: usize, gates: usize) {
        self.keep = if self.found {
            Keep::InMaterial { place, gates: 0 }
        } else {
            let room = || Vec::with_capacity(gates);
            Keep::Apart { place, macs: ProofMacs { alpha: room(), beta: room(), row0: room() } }
        };
    }

    /// What was kept apart from the material.
    pub fn kept_macs(&mut self) -> ProofMacs {
        match std::mem::replace(&mut self.keep, Keep::Nowhere) {
            Keep::Apart { macs, .. } => macs,
            Keep::InMaterial { .. } | Keep::Nowhere => ProofMacs::default(),
        }
    }

    /// Whether there may be more than one chunk.
    pub fn is_long(&self) -> bool {
        self.gates > CHUNK as u64
    }

    /// Takes back a chunk that is dealt with, for its memory.
    pub fn recycle(&mut self, chunk: MaskedGates) {
        self.spare.extend([chunk.alpha, chunk.beta, chunk.row0]);
    }

    /// An empty list, new ones with room for so many.
    fn empty(&mut self, room: usize) -> WireShares {
        let peers = self.slots.peers();
        let mut rows = self.spare.pop().unwrap_or_else(|| WireShares::with_capacity(room, peers));
        rows.clear_all();
        rows
    }

    /// The masks of the outputs, in order, after the walk.
    pub fn outputs(&mut self) -> WireShares {
        if let Some(outputs) = self.found_outputs.take() {
            return outputs;
        }
        of_slots(&self.slots, self.outputs)
    }

    fn walk_chunk(
        &mut self,
        channels: &mut [Channel],
        correlations: &mut Correlations,
    ) -> Result<()> {
        // No more than will be used: what is wiped in the end is all of it.
        let room = usize::try_from(correlations.left).unwrap_or(usize::MAX).min(CHUNK + self.most);
        let opened = if self.known { room } else { 2 * room };
        let mut opening = ShareOpening::with_capacity(opened, self.slots.peers());
        let gates = match self.found {
            true => self.pass(correlations, &mut opening)?,
            false => self.gather(correlations, room, &mut opening)?,
        };
        if gates.gates > 0 {
            self.awaited.push_back(opening.send(channels, &BEAVER)?);
            self.pending.push_back(gates);
        }
        Ok(())
    }

    /// The next chunk of gates, if their λ_α and λ_β come with the material: the walk is there to say where the plan's batches
    /// end.
    fn pass(
        &mut self,
        correlations: &mut Correlations,
        opening: &mut ShareOpening,
    ) -> Result<Pending> {
        let mut gates = 0;
        while gates < CHUNK && correlations.reaches(gates + self.most) {
            let Some(ands) = self.cursor.skip_ands() else {
                self.walked = true;
                break;
            };
            gates += ands;
        }
        let mut places = Vec::new();
        correlations.next_gates(
            gates,
            |GateMaterial { batch, range, triples, alpha, .. }| {
                opening.push_sums([alpha, &triples.a], range.clone());
                places.push((batch, range));
            },
        )?;
        Ok(Pending { gates, what: Awaiting::Correlations(places) })
    }

    /// The next chunk of gates, from the walk over the slots.
    fn gather(
        &mut self,
        correlations: &mut Correlations,
        room: usize,
        opening: &mut ShareOpening,
    ) -> Result<Pending> {
        let known = self.known;
        let mut gates =
            Gathered { alpha: self.empty(room), beta: self.empty(room), rest: self.empty(room) };
        while gates.rest.len() < CHUNK && correlations.reaches(self.most) {
            let Some(batch) = self.cursor.next_batch() else {
                self.walked = true;
                break;
            };
            for &linear in batch.linear {
                step(&mut self.slots, batch.base, linear);
            }
            let mut ands = batch.ands;
            for and in ands {
                gates.alpha.push_row(&self.slots, batch.base + and.a as usize);
                gates.beta.push_row(&self.slots, batch.base + and.b as usize);
            }
            correlations.next_gates(ands.len(), |correlations| {
                gates.add(&correlations, known, opening);
                let (here, behind) = ands.split_at(correlations.range.len());
                let outs = here.iter().map(|and| batch.base + and.out as usize);
                self.slots.put(outs, correlations.masks, correlations.range.start);
                ands = behind;
            })?;
        }
        let Gathered { alpha, beta, rest } = gates;
        Ok(Pending { gates: rest.len(), what: Awaiting::Shares { alpha, beta, rest } })
    }

    /// λ_α·λ_β = (a ⊕ d)·(b ⊕ e) = c ⊕ d·λ_β ⊕ e·λ_α ⊕ d·e: Beaver's formula in terms of the masks, so that the factors
    /// need not be kept.
    fn products(
        &mut self,
        gates: Pending,
        opened: &BitVec,
        correlations: &Correlations,
    ) -> MaskedGates {
        let (alpha, beta, mut rest) = match gates.what {
            Awaiting::Shares { alpha, beta, rest } => (alpha, beta, rest),
            Awaiting::Correlations(places) => {
                return self.products_in(&places, (gates.gates, opened), correlations);
            }
        };
        if self.known {
            rest.add(&beta, |k| opened.get(k));
        } else {
            let (d, e) = (|k| opened.get(2 * k), |k| opened.get(2 * k + 1));
            rest.add(&beta, d);
            rest.add(&alpha, e);
            for k in 0..rest.len() {
                self.position.add_constant(&mut rest, k, d(k) & e(k), *self.delta);
            }
        }
        MaskedGates { alpha, beta, row0: rest }
    }

    /// The same where all of it is in the material, and b is λ_β.
    fn products_in(
        &mut self,
        places: &[(usize, Range<usize>)],
        (gates, opened): (usize, &BitVec),
        correlations: &Correlations,
    ) -> MaskedGates {
        let (mut alpha, mut beta, mut row0) =
            (self.empty(gates), self.empty(gates), self.empty(gates));
        for (batch, range) in places {
            let GateBatch { triples, alpha: left, .. } = correlations.batch(*batch);
            let d = opened.slice(row0.len()..row0.len() + range.len());
            alpha.push_range(left, range.clone());
            beta.push_range(&triples.b, range.clone());
            row0.push_products([&triples.c, &triples.b], range.clone(), &d);
        }
        MaskedGates { alpha, beta, row0 }
    }
}

/// Adds to an opening what the masks from one place on differ by from the factors in others.
fn push_differences(
    opening: &mut ShareOpening,
    (masks, first): (&WireShares, usize),
    (factors, range): (&Shares, Range<usize>),
) {
    for (first, part) in (first..).step_by(64).zip(range.clone().step_by(64)) {
        let n = (range.end - part).min(64);
        let bit = |i| u64::from(masks.bit(first + i) ^ factors.bits.get(part + i)) << i;
        opening.push_bits((0..n).map(bit).fold(0, |word, bit| word | bit), n);
    }
    for (p, t) in factors.towards.iter().enumerate() {
        let factors = t.macs[range.clone()].iter().zip(&t.keys[range.clone()]);
        let masks = masks.auths(first, range.len()).map(|auths| auths[p]);
        let sum = |([mac, key], (m, k)): ([Block; 2], (&Block, &Block))| [mac ^ *m, key ^ *k];
        opening.extend_towards(p, masks.zip(factors).map(sum));
    }
}

/// Some slots' masks, in their order.
pub(crate) fn of_slots(slots: &WireShares, which: &[u32]) -> WireShares {
    let mut masks = WireShares::zeros(0, slots.peers());
    which.iter().for_each(|&slot| masks.push_row(slots, slot as usize));
    masks
}

/// How many gates each chunk of the walk over `plan` has.
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

/// A slot for every wire, with the masks of the inputs in place.
pub(crate) fn input_masks(
    circuit: &Circuit,
    plan: &Plan,
    correlations: &Correlations,
) -> WireShares {
    let me = correlations.position.me;
    let peers = correlations.peer_inputs.len();
    let mut slots = WireShares::zeros(plan.slots(), peers);
    let mut taken = vec![0; peers + 1];
    let owners = circuit
        .inputs()
        .iter()
        .flat_map(|input| std::iter::repeat_n(input.owner, input.ty.width() as usize));
    for (slot, owner) in plan.input_slots().zip(owners) {
        let k = taken[owner as usize];
        taken[owner as usize] += 1;
        if owner == me {
            slots.set_bit(slot, correlations.own_inputs.bits.get(k));
            for (auth, macs) in slots.auth_mut(slot).iter_mut().zip(&correlations.own_inputs.macs) {
                auth[0] = macs[k];
            }
        } else {
            let place = usize::from(owner) - usize::from(owner > me);
            slots.auth_mut(slot)[place][1] = correlations.peer_inputs[place][k];
        }
    }
    slots
}

/// A free gate.
pub(crate) fn step(slots: &mut WireShares, base: usize, linear: Linear) {
    let at = |slot: u32| base + slot as usize;
    match linear {
        Linear::Xor { a, b, out } => slots.xor(at(a), at(b), at(out)),
        Linear::Inv { a, out } => slots.copy(at(a), at(out)),
        Linear::Copy { from, out, len } => slots.copy_run(at(from)..at(from + len), at(out)),
        Linear::Const { out, .. } => slots.clear(at(out)),
    }
}
