//! All phases at once, for circuits that are too large to be kept: material is made, used for the gates that come
//! next, garbled, evaluated and forgotten, *stretch* by stretch.
//!
//! A stretch is what one batch of triples ([`symbolon_preprocessing::bucketing`]) is enough for;
//! [`Network::stretch`] bounds it. Memory follows the wires that are alive and one stretch; the phases one after another keep 96 bytes of material an AND gate and
//! peer, then the whole garbled circuit.
//!
//! # What happens when
//! The masks of the inputs are made first, then the inputs are masked and the labels of their wires sent. Then, for
//! every stretch: masks and triples, on the gates' own masks ([`crate::known`]); Beaver's openings, garbling and evaluation, chunk by
//! chunk as ever; then the check of all that was evaluated: a verdict on the rows' MACs, or the exchange that
//! half-gates are checked by. Nothing is in flight between two stretches. Output masks are opened behind the last one.
//!
//! # Why inputs may come first
//! The figures of all protocols garble before inputs are known. Here a party has sent its masked inputs, and with
//! half-gates the evaluator the masked values of all gates of earlier stretches, before the next triples and tables are made.
//! What a cheater gains by that is to choose what it does wrong by these values. They tell it nothing: a masked value is
//! the value XORed with a mask of which at least one honest party's share is uniform, known to nobody else, and
//! used for this wire alone, and every AND gate has a fresh one; so they are uniform bits whatever the inputs
//! are, and a simulator that draws them at random, and plays honest parties on inputs of zero, is right before
//! the stretch begins as it was after all of them. Its cheater's inputs it knows by then: their masks are
//! authenticated bits, fixed before. Whether a check fails is decided by these bits and by what the cheater
//! does, so an honest party that gives up in the middle gives away no more than one that gives up at the end.
//! Labels were sent before the tables that are hashed under them, so the labels that can be asked for do
//! not depend on a table: garbling needs less than when the inputs come last.
//!
//! Checks on correlated OT and triples, which give a cheater a guess at bits of Δ or at shares, come between garbled gates
//! of the same Δ. They do so wherever a session evaluates twice ([`crate::Engine`]), and for the same
//! reason: what a garbled gate shows of Δ is behind a hash of a label that is not known, and the first check that fails is the
//! last under this Δ ([`crate::guard`]).
//!
//! Outputs are released as ever: after every check of every stretch, from [`crate::ports::Verified`] alone.
//!
//! # Tables that are checked after evaluation
//! Half-gates are checked by a polynomial at a point χ that the evaluator draws, over all gates ([`crate::ywz`], steps 11 and
//! 12). Here every stretch has a point of its own, drawn by the evaluator and told to nobody before all tables of
//! that stretch are with it, and its check is over before the next stretch begins: each stands for its gates as the
//! check of a whole circuit does for all of them.

use symbolon_circuit::{Circuit, Plan};
use symbolon_preprocessing::Preprocessor;
use symbolon_transport::{Channel, Error, Result};

use crate::{
    InputBits, Need, Network, OutputBits,
    known::OwnGates,
    masks::{Chunk, MaskWalk, Seat},
    material::Material,
};

/// What a party does to evaluate a circuit in stretches.
pub(crate) type Stream =
    fn(Supply<'_>, &mut Network, (&Circuit, &Plan), &InputBits) -> Result<OutputBits>;

/// Material that is made as the walk over the masks needs it.
pub(crate) struct Supply<'a> {
    pub material: Material,
    open: &'a mut Preprocessor,
    gates: OwnGates<'a>,
    /// The most AND gates of a batch of the plan: the walk goes on when there are so many.
    most: usize,
}

impl<'a> Supply<'a> {
    /// Makes the masks of the inputs.
    pub fn begin(
        open: &'a mut Preprocessor,
        net: &mut Network,
        (circuit, plan): (&Circuit, &'a Plan),
        start: (Seat, u64),
    ) -> Result<Self> {
        let need = Need::of(circuit, plan, net.parties());
        let mut material = Material::for_inputs(open, net, &need, start)?;
        material.known = Some(circuit.clone());
        material.due = need.and_gates;
        let gates = OwnGates::new(open, (circuit, plan), &material, net.stretch)?;
        Ok(Supply { material, open, gates, most: plan.limits().batch })
    }

    /// Makes material for the next stretch.
    pub fn refill(&mut self, lanes: &mut [Vec<Channel>]) -> Result<()> {
        while !self.material.reaches(self.most) {
            let spent = self.material.spend();
            let batch = self.gates.next_batch(self.open, lanes, spent)?;
            let batch =
                batch.ok_or_else(|| Error::internal("fewer gates were made than are due"))?;
            self.material.due -= batch.masks.len() as u64;
            self.material.add(batch);
        }
        Ok(())
    }

    /// Whether the stretch under way is the last.
    pub fn is_last(&self) -> bool {
        self.material.due == 0
    }

    /// The next chunk of this stretch; `None` at its end.
    pub fn next_chunk(
        &mut self,
        masks: &mut MaskWalk<'_>,
        net: &mut Network,
    ) -> Result<Option<Chunk>> {
        masks.next_chunk(net.peers(), &mut self.material)
    }
}
