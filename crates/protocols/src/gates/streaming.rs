//! All phases at once, for circuits that are too large to be kept: material is made, used for the gates that come
//! next, garbled, evaluated and forgotten, *stretch* by stretch.
//!
//! A stretch is what one batch of triples ([`symbolon_preprocessing::bucketing`]) is enough for;
//! [`Network::stretch`] bounds it. Memory follows the wires that are alive and one stretch; the phases one after another keep 96 bytes of material an AND gate and
//! peer, then the whole garbled circuit.
//!
//! # What happens when
//! The masks of the inputs are made first, then the inputs are masked and the labels of their wires sent. Then, for
//! every stretch: masks and triples, on the gates' own masks ([`crate::gates::circuit_dependent`]); Beaver's openings, garbling and evaluation, chunk by
//! chunk as ever; then the check of all that was evaluated: a verdict on the rows' MACs, or the exchange that
//! half-gates are checked by. Nothing of the walk is in flight between two stretches. Output masks are opened behind the last one.
//!
//! A stretch's last gates, fewer than the largest batch of the plan, are walked with the next stretch: the walk stops where its material
//! might not be enough for the plan's next batch. Their triples have passed every check on triples; as gates they are opened, garbled and checked with
//! those of the next stretch.
//!
//! With several lanes the next stretch's material is made meanwhile, by a thread of its own on all lanes but the first:
//! there are two stretches at a time.
//!
//! # Why inputs may come first
//! The figures of all protocols garble before inputs are known. Here a party has sent its masked inputs, and with
//! half-gates the evaluator the masked values of all gates of earlier chunks and stretches, before the next tables and triples are made.
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
//! last under this Δ ([`crate::poison`]).
//!
//! # Why the next stretch may be made meanwhile
//! Masks and triples are made by messages of their own, from Δ and fresh randomness: nothing in them depends on what the walk
//! does with those that were made before, so that it makes no difference to anybody's view in which order the two are played.
//! All checks by which a cheater may guess (bits of Δ, shares of leaky triples) are the makers', whose order is what it is
//! with one lane. Those of the walk fail by MACs and rows alone, of which nobody guesses one but with the probability that the check
//! has anyway. What the two have in common is their end: a failure there is seen before the next chunk here, a failure here before the next
//! stretch there, and what is made by then is used by nobody.
//!
//! Outputs are released as ever: after every check of every stretch, from [`crate::io_wires::Verified`] alone.
//!
//! # Tables that are checked after evaluation
//! Half-gates are checked by a polynomial at a point χ that the evaluator draws, over all gates ([`crate::ywz`], steps 11 and
//! 12). Here that goes chunk by chunk ([`crate::ywz`]'s `proof`): when the evaluator has evaluated a chunk, it tells the
//! garblers its masked values, the digest that proves them, and a χ for this chunk alone; the garblers check and prove it while
//! they garble the chunks behind it, so that nobody waits for a proof but at a stretch's end. Why that is as good as a check of a
//! whole circuit:
//! * A chunk's χ is drawn by the evaluator and told to nobody before all tables of that chunk are with it, and serves for
//!   nothing else. What is wrong in them is fixed by then, and passes with a probability of (gates)·2^-128.
//! * Each chunk's z is compared by itself. Of their sum a cheater could make up for an error in one chunk, whose χ it knows,
//!   by what it does wrong in a later one.
//! * A garbler sends z of a stretch's chunks all together, when every masked value of that stretch has been proven to it: z of gates
//!   whose masked inputs are a lie would tell of their masks. A lie ends a garbler at that chunk: it garbles no more than is under way.
//! * The masked values of a chunk are told before its gates are proven. So are they of a whole circuit, all at once. What is new is that
//!   they come before the next chunk's tables, and that these may follow wrong gates: by the argument above they are uniform bits
//!   to everybody, whatever a cheater did wrong before, since each has a mask of its own with an honest party's share in it that
//!   nothing else shows.
//! * A party begins its next stretch when its own checks of this one are over. A garbler does not hear what the evaluator makes of its z:
//!   it may have made triples, openings and tables for the next stretch when the evaluator refuses another garbler's z and ends. They
//!   depend on nothing that was wrong, and the evaluator tells no more masked values.

use std::sync::{
    atomic::{AtomicBool, Ordering},
    mpsc::{self, Receiver, Sender, SyncSender},
};
use std::thread;

use symbolon_circuit::{Circuit, Plan};
use symbolon_preprocessing::Preprocessor;
use symbolon_primitives::stack;
use symbolon_transport::{Channel, Error, Result};

use crate::{
    Demand, InputBits, Network, OutputBits,
    gates::circuit_dependent::CircuitTriples,
    gates::correlations::{Correlations, GateBatch},
    gates::mask_pass::{MaskPass, MaskedGates, Position},
    gates::pipeline,
    gates::wire_shares::WireShares,
};

/// What a party does to evaluate a circuit in stretches.
pub(crate) type Stream =
    fn(Streaming<'_>, &mut Network, (&Circuit, &Plan), &InputBits) -> Result<OutputBits>;

/// Evaluates a circuit in stretches, with what `open` makes.
pub(crate) fn run(
    open: &mut Preprocessor,
    net: &mut Network,
    (circuit, plan): (&Circuit, &Plan),
    start: (Position, u64),
    walk: impl FnOnce(Streaming<'_>, &mut Network) -> Result<OutputBits>,
) -> Result<OutputBits> {
    let demand = Demand::of(circuit, plan, net.parties());
    let mut correlations = Correlations::for_inputs(open, net, &demand, start)?;
    correlations.known = Some(circuit.clone());
    correlations.due = demand.and_gates;
    let most = plan.limits().batch;
    let meanwhile = net.lanes.len() > 1;
    // What the makers find of λ_α and λ_β is kept until it is garbled, which takes less than to find it again, and until a
    // garbler of half-gates has proven its gates by the MACs.
    correlations.found = demand.and_gates > 0;
    correlations.keep_used();
    let gates = CircuitTriples::new(open, (circuit, plan), &correlations, net.stretch)?;
    let maker = Maker { open, gates };
    if !meanwhile {
        return walk(Streaming { correlations, source: Source::Now(Box::new(maker)), most }, net);
    }
    let mut lanes = net.lanes.split_off(1);
    let (ready, batches) = mpsc::sync_channel(0);
    let (spent, used) = mpsc::channel();
    let failed = &AtomicBool::new(false);
    let source = Source::Meanwhile { batches, spent, failed };
    let making = &mut lanes[..];
    let done = thread::scope(|scope| {
        let maker = scope.spawn(move || {
            let made = stack::wiped(|| maker.keep_making(making, ready, &used));
            failed.store(made.is_err(), Ordering::Relaxed);
            made
        });
        let walked = walk(Streaming { correlations, source, most }, net);
        // What is not sent yet may be what a peer's maker, and so ours, waits for.
        let _ = pipeline::flush(net.peers());
        pipeline::join(maker.join(), walked)
    });
    net.lanes.append(&mut lanes);
    done
}

/// Makes material for one stretch after another.
struct Maker<'a> {
    open: &'a mut Preprocessor,
    gates: CircuitTriples<'a>,
}

impl Maker<'_> {
    /// As long as there are gates, and the walk takes what is made; with memory that it is done with.
    fn keep_making(
        mut self,
        lanes: &mut [Vec<Channel>],
        ready: SyncSender<GateBatch>,
        used: &Receiver<GateBatch>,
    ) -> Result<()> {
        loop {
            let batch = self.gates.next_batch(self.open, lanes, used.try_recv().ok());
            // Before anything else: a peer waits for the end of this stretch's messages.
            let flushed = lanes.iter_mut().try_for_each(|lane| pipeline::flush(lane));
            let Some(batch) = batch? else {
                return flushed;
            };
            flushed?;
            if ready.send(batch).is_err() {
                return Ok(());
            }
        }
    }
}

/// Correlations that is made as the walk over the masks needs it.
pub(crate) struct Streaming<'a> {
    pub correlations: Correlations,
    source: Source<'a>,
    /// The most AND gates of a batch of the plan: the walk goes on when there are so many.
    most: usize,
}

/// Where the next stretch's material comes from.
enum Source<'a> {
    /// It is made when the walk is there.
    Now(Box<Maker<'a>>),
    /// It is made by a thread of its own while the walk is one stretch behind. That gets back what memory is done with,
    /// and says when it failed.
    Meanwhile { batches: Receiver<GateBatch>, spent: Sender<GateBatch>, failed: &'a AtomicBool },
}

impl Streaming<'_> {
    /// The walk over the masks. What ties the inputs' masks to the peers is with it from then on: of a million inputs
    /// there is no second copy.
    pub fn walk<'p>(&mut self, circuit: &Circuit, plan: &'p Plan) -> MaskPass<'p> {
        let masks = MaskPass::new(circuit, plan, &self.correlations);
        self.correlations.forget_input_macs();
        masks
    }

    /// Makes material for the next stretch, or waits for it.
    pub fn refill(&mut self, net: &mut Network) -> Result<()> {
        while !self.correlations.reaches(self.most) {
            let spent = self.correlations.spend();
            let batch = match &mut self.source {
                Source::Now(maker) => maker.gates.next_batch(maker.open, net.makers(), spent)?,
                Source::Meanwhile { batches, spent: give_back, .. } => {
                    pipeline::flush(net.peers())?;
                    if let Some(spent) = spent {
                        // Nobody is there any more who could use it, once the last stretch is made.
                        let _ = give_back.send(spent);
                    }
                    batches.recv().ok()
                }
            };
            let batch =
                batch.ok_or_else(|| Error::internal("fewer gates were made than are due"))?;
            self.correlations.due -= batch.gates as u64;
            self.correlations.add(batch);
        }
        Ok(())
    }

    /// Whether the stretch under way is the last.
    pub fn is_last(&self) -> bool {
        self.correlations.due == 0
    }

    /// The masks of the outputs, behind the last chunk. What is left of the material goes before the outputs take room.
    pub fn finish(self, mut masks: MaskPass<'_>) -> WireShares {
        masks.outputs()
    }

    /// The next chunk of this stretch; `None` at its end.
    pub fn next_chunk(
        &mut self,
        masks: &mut MaskPass<'_>,
        net: &mut Network,
    ) -> Result<Option<MaskedGates>> {
        if let Source::Meanwhile { failed, .. } = self.source
            && failed.load(Ordering::Relaxed)
        {
            return Err(Error::internal("the next stretch could not be made"));
        }
        masks.next_chunk(net.peers(), &mut self.correlations)
    }
}
