//! Sources of segments' triples: made when they are needed, or concurrently by a separate thread.

use std::sync::{
    atomic::{AtomicBool, Ordering},
    mpsc::{self, Receiver, Sender, SyncSender},
};

use symbolon_engine::{Compiled, Demand, Network, OutputBits};
use symbolon_preprocessing::{Broadcasts, Preprocessor};
use symbolon_transport::{Channel, Error, Result, Step};

use super::{
    circuit_dependent::{CircuitTriples, Draws},
    correlations::Correlations,
    pipeline,
    position::Position,
    streaming::{SegmentSource, Streaming},
    triples::SolvedTriples,
    wire_shares::WireShares,
};

/// Evaluates a circuit in segments, with the triples that `open` makes, for gates whose tweaks
/// start at `first_tweak`.
pub(crate) fn stream(
    open: &mut Preprocessor,
    net: &mut Network,
    circuit: &Compiled,
    position: Position,
    first_tweak: u64,
    evaluate: impl FnOnce(Streaming<'_>, &mut Network) -> Result<OutputBits>,
) -> Result<OutputBits> {
    let demand = Demand::of(circuit, net.parties());
    let draws = Draws::plan(open, circuit, net.segment_gates)?;
    // Masked inputs come before the first triples.
    let masks = (&demand, draws.first(), Broadcasts::Compared);
    let (correlations, masks) = Correlations::with_masks(open, net, masks, position, first_tweak)?;
    let triples = CircuitTriples::new(circuit, &correlations, draws.after(masks));
    let (secrets, ()) = correlations.into_secrets(circuit.circuit());
    net.meter.begin_step(Step::Triples, circuit.plan().and_count());
    net.meter.begin_step(Step::Gates, circuit.plan().and_count());
    let maker = Maker { open, triples };
    let peers = net.peers().len();
    if net.lanes.len() == 1 {
        return evaluate(Streaming::new(circuit, peers, secrets, Box::new(maker)), net);
    }
    let mut lanes = net.lanes.split_off(1);
    let (ready, batches) = mpsc::sync_channel(0);
    let (spent, used) = mpsc::channel();
    let (found, outputs) = mpsc::channel();
    let failed = &AtomicBool::new(false);
    let making = &mut lanes[..];
    let make = move || {
        let made = maker.keep_making(making, &ready, &used);
        failed.store(made.is_err(), Ordering::Relaxed);
        if let Some(outputs) = made? {
            // If the evaluation has failed, nobody takes the outputs.
            let _ = found.send(outputs);
        }
        Ok(())
    };
    let done = pipeline::beside(make, || {
        let source = Box::new(Background { batches, outputs, spent, failed });
        let evaluated = evaluate(Streaming::new(circuit, peers, secrets, source), net);
        // A peer's maker, and so ours, may be waiting for what is not sent yet.
        let _ = pipeline::flush(net.peers());
        evaluated
    });
    net.lanes.append(&mut lanes);
    done
}

/// Makes one batch after another. By itself it is a source that makes segments when they are
/// needed.
struct Maker<'a> {
    open: &'a mut Preprocessor,
    triples: CircuitTriples<'a>,
}

impl SegmentSource for Maker<'_> {
    fn next(&mut self, net: &mut Network, spent: Option<SolvedTriples>) -> Result<SolvedTriples> {
        self.triples.next_solved(self.open, net.makers(), spent)?.ok_or_else(too_few)
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn outputs(self: Box<Self>) -> Result<WireShares> {
        Ok(self.triples.outputs())
    }
}

impl Maker<'_> {
    /// Makes batches as long as there are gates and the receiver accepts them, in reused memory.
    /// Returns the masks of the outputs, if all batches were taken.
    fn keep_making(
        mut self,
        lanes: &mut [Vec<Channel>],
        ready: &SyncSender<SolvedTriples>,
        used: &Receiver<SolvedTriples>,
    ) -> Result<Option<WireShares>> {
        loop {
            let batch = self.triples.next_solved(self.open, lanes, used.try_recv().ok());
            // This comes first, because a peer waits for the end of this segment's messages.
            let flushed = lanes.iter_mut().try_for_each(|lane| pipeline::flush(lane));
            let batch = batch?;
            flushed?;
            let Some(batch) = batch else {
                return Ok(Some(self.triples.outputs()));
            };
            if ready.send(batch).is_err() {
                return Ok(None);
            }
        }
    }
}

/// A source whose thread makes segments while the previous one is evaluated. The thread gets used
/// memory back, and reports its failure.
struct Background<'a> {
    batches: Receiver<SolvedTriples>,
    outputs: Receiver<WireShares>,
    spent: Sender<SolvedTriples>,
    failed: &'a AtomicBool,
}

impl SegmentSource for Background<'_> {
    fn next(&mut self, net: &mut Network, spent: Option<SolvedTriples>) -> Result<SolvedTriples> {
        pipeline::flush(net.peers())?;
        if let Some(spent) = spent {
            // Once the last batch is made, nobody can use the memory any more.
            let _ = self.spent.send(spent);
        }
        self.batches.recv().map_err(|_| too_few())
    }

    fn check(&self) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(Error::internal("the next segment could not be made"));
        }
        Ok(())
    }

    fn outputs(self: Box<Self>) -> Result<WireShares> {
        self.outputs.recv().map_err(|_| Error::internal("the masks of the outputs are missing"))
    }
}

fn too_few() -> Error {
    Error::internal("fewer gates were made than are due")
}
