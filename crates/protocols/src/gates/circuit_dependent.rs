//! Correlations for a circuit that is known: triples on the gates' own masks.
//!
//! When nothing is to be stored, the function-dependent phase can make the triples itself, for the gates
//! that it has. All masks are drawn first; then the triple of each AND gate gets the mask of the gate's
//! right input wire as its right factor b = λ_β. That saves one of 3B authenticated bits a gate, and of
//! the two openings in Beaver's trick the one of λ_β ⊕ b, which is zero:
//!
//! ```text
//! d = λ_α ⊕ a,   λ_α·λ_β = a·λ_β ⊕ d·λ_β = c ⊕ d·b
//! ```
//!
//! # Where this departs from Katz, Ranellucci, Rosulek and Wang (CRYPTO 2018, §5.2)
//! They build the first leaky triple of a bucket on both input masks, and so save two bits and both
//! openings. With leaky triples as Fig. 14 of Yang–Wang–Zhang 2020 makes them that is not sound: a cheater
//! may guess the share of the left factor x at a risk of 1/2. Were x = λ_α, it would learn the mask of a
//! wire of its choice half the time, and no bucket could hide it. Were x_1 = λ_α ⊕ x_2 ⊕ … ⊕ x_B, the
//! buckets would have to be known before the first triples are made, so that a cheater could choose all
//! of them by their bucket, and B would have to grow by one. The right factor does not leak
//! ([`symbolon_preprocessing::leaky`]), so it may be a mask, even of a wire that feeds many gates. The
//! triple that it is made with then belongs to its gate's bucket before the buckets are drawn, which
//! costs a little of their security: [`symbolon_preprocessing::bucketing`] counts it.

use std::{thread, vec};

use symbolon_circuit::{Circuit, Cursor, Plan};
use symbolon_preprocessing::{Preprocessor, Shares, bucketing};
use symbolon_primitives::stack;
use symbolon_transport::{Channel, Error, Result};

use crate::{
    Demand, Network,
    gates::correlations::{Correlations, GateBatch, small},
    gates::mask_pass::{self, Position},
    gates::pipeline,
    gates::wire_shares::WireShares,
};

/// Makes what one evaluation of `circuit` takes, and of no other.
pub(crate) fn make(
    open: &mut Preprocessor,
    net: &mut Network,
    (circuit, plan): (&Circuit, &Plan),
    start: (Position, u64),
) -> Result<Correlations> {
    let demand = Demand::of(circuit, plan, net.parties());
    let mut correlations = Correlations::for_inputs(open, net, &demand, start)?;
    correlations.known = Some(circuit.clone());
    let mut gates = CircuitTriples::new(open, (circuit, plan), &correlations, net.stretch)?;
    if net.lanes.len() > 1 {
        gates.look_beside(open, net.makers(), &mut correlations)?;
    } else {
        while let Some(batch) = gates.next_batch(open, net.makers(), None)? {
            correlations.add(batch);
        }
    }
    Ok(correlations)
}

/// Makes the material of a circuit's AND gates batch by batch, in the order of the walk: draws their masks, looks for
/// those of their inputs, and makes triples on these.
pub(crate) struct CircuitTriples<'a> {
    walk: Inputs<'a>,
    making: Making,
}

/// What is made with the peers.
struct Making {
    batches: vec::IntoIter<bucketing::Batch>,
    left: usize,
    /// Whether λ_α and λ_β go with the material ([`Correlations::found`]).
    keeps: bool,
    /// Memory for the right factors of a batch.
    beta: Shares,
}

/// Gates whose masks are drawn.
struct Drawn {
    batch: bucketing::Batch,
    masks: Shares,
    /// Once they are found, λ_β, with shares of zero for what fills the batch up, and λ_α if it is kept; their memory until then.
    beta: Shares,
    alpha: Shares,
    /// Whether no gates come after these.
    is_last: bool,
    /// The masks of the circuit's outputs, if these gates are the last and it is kept what is found.
    outputs: Option<WireShares>,
}

impl<'a> CircuitTriples<'a> {
    /// Starts with the masks of the inputs in `material`. Parts of about `stretch` gates are planned apart from each
    /// other.
    pub fn new(
        open: &Preprocessor,
        (circuit, plan): (&Circuit, &'a Plan),
        correlations: &Correlations,
        stretch: u64,
    ) -> Result<Self> {
        let left = small(plan.and_count())?;
        let parts = small(plan.and_count().div_ceil(stretch.max(1)))?;
        let part = |i: usize| left / parts + usize::from(i < left % parts);
        let mut batches = open.plan_on(left);
        // All together can be cut more evenly, into as many as there are to be.
        if batches.iter().any(|batch| batch.triples as u64 > stretch) {
            batches = (0..parts).flat_map(|i| open.plan_on(part(i))).collect();
        }
        let keeps = correlations.found;
        let walk = Inputs {
            cursor: plan.cursor(),
            outputs: plan.output_slots(),
            slots: mask_pass::input_masks(circuit, plan, correlations),
            ready: Vec::new(),
            taken: 0,
            keeps,
        };
        let making = Making { batches: batches.into_iter(), left, keeps, beta: Shares::default() };
        Ok(CircuitTriples { walk, making })
    }

    /// The next gates' material, in the memory of a batch that is used up if there is one; `None` after the last.
    pub fn next_batch(
        &mut self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        spent: Option<GateBatch>,
    ) -> Result<Option<GateBatch>> {
        let Some(mut drawn) = self.making.draw(open, lanes, spent)? else {
            return Ok(None);
        };
        drawn.beta = std::mem::take(&mut self.making.beta);
        self.walk.look(&mut drawn)?;
        self.making.finish(open, lanes, drawn).map(Some)
    }

    /// Makes all gates' material, with the walk on a thread beside this one: it looks for the inputs of one batch's gates
    /// while the triples of the one before are made, or the masks of the second drawn.
    ///
    /// So a batch's masks are drawn before the triples of the one before it, which stand on other masks, and no message of
    /// either depends on the other. All that the order decides is which of their checks comes first; one that fails is the
    /// last under its Δ either way.
    fn look_beside(
        self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        correlations: &mut Correlations,
    ) -> Result<()> {
        let CircuitTriples { mut walk, mut making } = self;
        let mut drawn = making.draw(open, lanes, None)?;
        let mut found: Option<Drawn> = None;
        while drawn.is_some() || found.is_some() {
            let beta = std::mem::take(&mut making.beta);
            let (next, made) = thread::scope(|scope| {
                let look = drawn.as_mut().map(|drawn| {
                    drawn.beta = beta;
                    scope.spawn(|| stack::wiped(|| walk.look(drawn)))
                });
                let made = found.take().map(|found| making.finish(open, lanes, found));
                let here =
                    made.transpose().and_then(|made| Ok((making.draw(open, lanes, None)?, made)));
                pipeline::join(look.map_or(Ok(Ok(())), |look| look.join()), here)
            })?;
            if let Some(made) = made {
                correlations.add(made);
            }
            found = std::mem::replace(&mut drawn, next);
        }
        Ok(())
    }
}

impl Making {
    /// Draws the masks of the next gates, in the memory of a batch that is used up if there is one; `None` after the last.
    fn draw(
        &mut self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        spent: Option<GateBatch>,
    ) -> Result<Option<Drawn>> {
        let Some(batch) = self.batches.next() else {
            return Ok(None);
        };
        // What fills a batch up is made on shares of zero and never used.
        let gates = batch.triples.min(self.left);
        self.left -= gates;
        let (mut memory, mut alpha) = (Shares::default(), Shares::default());
        if let Some(mut spent) = spent {
            (memory, alpha) = (spent.masks, spent.alpha);
            if self.keeps {
                memory = std::mem::take(&mut spent.triples.c);
                self.beta = std::mem::take(&mut spent.triples.b);
            }
            open.recycle(spent.triples);
        }
        // As many as triples will be added to them.
        memory.make_room(batch.triples, lanes[0].len());
        let masks = open.shares_in(lanes, gates, memory)?;
        let (beta, is_last, outputs) = (Shares::default(), self.left == 0, None);
        Ok(Some(Drawn { batch, masks, beta, alpha, is_last, outputs }))
    }

    /// Makes triples on the masks that were found.
    fn finish(
        &mut self,
        open: &mut Preprocessor,
        lanes: &mut [Vec<Channel>],
        Drawn { batch, mut masks, beta, alpha, outputs, .. }: Drawn,
    ) -> Result<GateBatch> {
        let gates = masks.len();
        let onto = self.keeps.then(|| {
            masks.fill_up(batch.triples);
            std::mem::take(&mut masks)
        });
        let mut triples = open.triples_on(lanes, batch, beta, onto)?;
        if !self.keeps {
            // The walk over the masks will find every λ_β again: nothing but its memory is kept, for another batch.
            self.beta = std::mem::take(&mut triples.b);
        }
        Ok(GateBatch { gates, masks, triples, alpha, outputs })
    }
}

/// A walk that looks for the masks of the AND gates' input wires, and stops where the masks end.
struct Inputs<'a> {
    cursor: Cursor<'a>,
    outputs: &'a [u32],
    slots: WireShares,
    /// Inputs and output of the gates of a batch of the plan whose free gates are done; so many of them are taken.
    ready: Vec<[usize; 3]>,
    taken: usize,
    /// Whether all that is found is kept.
    keeps: bool,
}

impl Inputs<'_> {
    /// Finds the masks of the inputs of gates whose output masks are drawn.
    fn look(&mut self, drawn: &mut Drawn) -> Result<()> {
        let Drawn { batch, masks, beta, alpha, is_last, outputs } = drawn;
        let (gates, peers) = (masks.len(), self.slots.peers());
        beta.make_room(batch.triples, peers);
        beta.clear_auths(gates);
        alpha.make_room(if self.keeps { gates } else { 0 }, peers);
        self.take(masks, beta, self.keeps.then_some(alpha))?;
        if self.keeps && *is_last {
            *outputs = Some(self.outputs()?);
        }
        Ok(())
    }

    /// Gives the next gates these output masks; `beta` gets the masks of their right inputs, and `alpha`, if there is one,
    /// those of their left ones.
    fn take(
        &mut self,
        masks: &Shares,
        beta: &mut Shares,
        mut alpha: Option<&mut Shares>,
    ) -> Result<()> {
        let mut done = 0;
        loop {
            let ready = &self.ready[self.taken..];
            let gates = &ready[..ready.len().min(masks.len() - done)];
            // None of these gates has another one's output as an input.
            if let Some(alpha) = &mut alpha {
                self.slots.gather(gates.iter().map(|gate| gate[0]), alpha, done);
            }
            self.slots.gather(gates.iter().map(|gate| gate[1]), beta, done);
            self.slots.put(gates.iter().map(|gate| gate[2]), masks, done);
            self.taken += gates.len();
            done += gates.len();
            if done == masks.len() {
                return Ok(());
            }
            self.make_ready()?;
        }
    }

    /// Does the free gates before the AND gates that come next.
    fn make_ready(&mut self) -> Result<()> {
        let batch = self.cursor.next_batch();
        let batch =
            batch.ok_or_else(|| Error::internal("the plan has fewer gates than it says"))?;
        for &linear in batch.linear {
            mask_pass::step(&mut self.slots, batch.base, linear);
        }
        let wires = |slot: u32| batch.base + slot as usize;
        self.ready.clear();
        self.ready.extend(batch.ands.iter().map(|and| [and.a, and.b, and.out].map(wires)));
        self.taken = 0;
        Ok(())
    }

    /// The masks of the circuit's outputs, behind the last AND gate. Nothing of the walk is needed after it.
    fn outputs(&mut self) -> Result<WireShares> {
        while let Some(batch) = self.cursor.next_batch() {
            if !batch.ands.is_empty() {
                return Err(Error::internal("the plan has more gates than it says"));
            }
            for &linear in batch.linear {
                mask_pass::step(&mut self.slots, batch.base, linear);
            }
        }
        let found = mask_pass::of_slots(&self.slots, self.outputs);
        self.slots = WireShares::zeros(0, found.peers());
        self.ready = Vec::new();
        Ok(found)
    }
}
