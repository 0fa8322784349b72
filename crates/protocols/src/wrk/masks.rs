//! The masks of all wires, and the products λ_α·λ_β: steps 3 and 4a of Fig. 2, the same for both
//! parties.
//!
//! The walk is cut into chunks. A chunk's d and e are sent when its masks are known, and awaited
//! [`LOOKAHEAD`] chunks later, so that a long link is kept full; the four rows of its gates follow.

use std::collections::VecDeque;

use symbolon_circuit::{Circuit, Cursor, Linear, PartyId, Plan};
use symbolon_preprocessing::{
    Share,
    exchange::{AwaitedOpening, Opened, ShareOpening},
};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Error, Result};

use super::material::Material;

/// AND gates of one chunk, at least (a batch is never cut).
const CHUNK: usize = 8192;

/// How many chunks the openings run ahead.
const LOOKAHEAD: usize = 6;

/// The opening of d = λ_α ⊕ a and e = λ_β ⊕ b.
pub(super) const BEAVER: Opened = Opened { kind: "Beaver: d, e", check: "Beaver MAC check" };

/// What the four rows of an AND gate are made of.
pub(super) struct GateShares {
    pub alpha: Share,
    pub beta: Share,
    /// λ_α·λ_β ⊕ λ_γ: row 0 itself.
    pub row0: Share,
}

/// A chunk of AND gates whose products are known.
pub(super) struct Chunk {
    pub gates: Vec<GateShares>,
}

/// The walk over the masks.
pub(super) struct MaskWalk<'a> {
    cursor: Cursor<'a>,
    slots: Vec<Share>,
    outputs: &'a [u32],
    /// Chunks whose rows are not made yet, and their openings: awaited, or here already.
    pending: VecDeque<Vec<PendingGate>>,
    awaited: VecDeque<AwaitedOpening>,
    opened: VecDeque<BitVec>,
    walked: bool,
    constant: Constant,
    delta: Block,
}

/// Who carries public constants: the evaluator flips its bit, the garbler adapts its key for it.
#[derive(Clone, Copy)]
pub(super) enum Constant {
    /// The garbler's side, with Δ_A.
    Key(Block),
    /// The evaluator's side.
    Bit,
}

impl Constant {
    /// The share of the public constant `bit`.
    pub fn share(self, bit: bool) -> Share {
        match self {
            Constant::Key(delta) => Share { key: delta.select(bit), ..Share::default() },
            Constant::Bit => Share { bit, ..Share::default() },
        }
    }
}

/// An AND gate whose d and e are on their way.
struct PendingGate {
    alpha: Share,
    beta: Share,
    a: Share,
    b: Share,
    /// c ⊕ λ_γ.
    rest: Share,
}

impl<'a> MaskWalk<'a> {
    /// Puts the input masks in place.
    pub fn new(
        circuit: &Circuit,
        plan: &'a Plan,
        material: &Material,
        me: PartyId,
        constant: Constant,
    ) -> Self {
        let mut slots = vec![Share::default(); plan.slots()];
        let (mut own, mut peer) = (0, 0);
        let owners = circuit
            .inputs()
            .iter()
            .flat_map(|input| std::iter::repeat_n(input.owner, input.ty.width() as usize));
        for (slot, owner) in slots[plan.input_slots()].iter_mut().zip(owners) {
            if owner == me {
                slot.bit = material.own_inputs.bits.get(own);
                slot.mac = material.own_inputs.macs[own];
                own += 1;
            } else {
                slot.key = material.peer_inputs[peer];
                peer += 1;
            }
        }
        MaskWalk {
            cursor: plan.cursor(),
            slots,
            outputs: plan.output_slots(),
            pending: VecDeque::new(),
            awaited: VecDeque::new(),
            opened: VecDeque::new(),
            walked: false,
            constant,
            delta: material.delta,
        }
    }

    /// The next chunk of gates, in the order of the walk; `None` after the last.
    pub fn next_chunk(
        &mut self,
        channel: &mut Channel,
        material: &mut Material,
    ) -> Result<Option<Chunk>> {
        while !self.walked && self.pending.len() <= LOOKAHEAD {
            self.walk_chunk(channel, material)?;
        }
        let Some(gates) = self.pending.pop_front() else {
            return Ok(None);
        };
        // The garbler's openings and tables come in one stream: those that it sent ahead of this
        // chunk's table must be taken first. The evaluator sends no tables, and the garbler must not
        // wait for more than it needs.
        let wanted = match self.constant {
            Constant::Bit => self.awaited.len(),
            Constant::Key(_) => 1,
        };
        for opening in self.awaited.drain(..wanted) {
            self.opened.push_back(opening.receive(channel, &BEAVER, self.delta)?);
        }
        let opened = self.opened.pop_front().expect("an opening was awaited for every chunk");
        let gates = gates.into_iter().enumerate().map(|(k, gate)| self.product(k, gate, &opened));
        Ok(Some(Chunk { gates: gates.collect() }))
    }

    /// The masks of the outputs, in order, after the walk.
    pub fn outputs(&self) -> Vec<Share> {
        self.outputs.iter().map(|&slot| self.slots[slot as usize]).collect()
    }

    fn walk_chunk(&mut self, channel: &mut Channel, material: &mut Material) -> Result<()> {
        let mut gates = Vec::with_capacity(CHUNK);
        let mut opening = ShareOpening::new();
        while gates.len() < CHUNK {
            let Some(batch) = self.cursor.next_batch() else {
                self.walked = true;
                break;
            };
            let slots = &mut self.slots[batch.base..];
            for &linear in batch.linear {
                step(slots, linear);
            }
            for and in batch.ands {
                let own = material.next_gate().ok_or_else(|| {
                    Error::InvalidInput("the circuit needs more than was preprocessed".into())
                })?;
                let (alpha, beta) = (slots[and.a as usize], slots[and.b as usize]);
                opening.push(alpha ^ own.a);
                opening.push(beta ^ own.b);
                gates.push(PendingGate { alpha, beta, a: own.a, b: own.b, rest: own.c ^ own.mask });
                slots[and.out as usize] = own.mask;
            }
        }
        if !gates.is_empty() {
            self.awaited.push_back(opening.send(channel, &BEAVER)?);
            self.pending.push_back(gates);
        }
        Ok(())
    }

    /// λ_α·λ_β = c ⊕ d·b ⊕ e·a ⊕ d·e.
    fn product(&self, k: usize, gate: PendingGate, opened: &BitVec) -> GateShares {
        let (d, e) = (opened.get(2 * k), opened.get(2 * k + 1));
        let row0 = gate.rest ^ gate.b.times(d) ^ gate.a.times(e) ^ self.constant.share(d & e);
        GateShares { alpha: gate.alpha, beta: gate.beta, row0 }
    }
}

fn step(slots: &mut [Share], linear: Linear) {
    match linear {
        Linear::Xor { a, b, out } => slots[out as usize] = slots[a as usize] ^ slots[b as usize],
        Linear::Inv { a, out } | Linear::Copy { from: a, out } => {
            slots[out as usize] = slots[a as usize];
        }
        Linear::Const { out, .. } => slots[out as usize] = Share::default(),
    }
}

impl GateShares {
    /// The share of row 2u + v: the masked output for masked inputs u and v.
    #[inline]
    pub fn rows(&self, constant: Constant) -> [Share; 4] {
        let row1 = self.row0 ^ self.alpha;
        let row2 = self.row0 ^ self.beta;
        [self.row0, row1, row2, row1 ^ self.beta ^ constant.share(true)]
    }
}
