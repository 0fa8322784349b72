//! What the garbling protocols send and compute: the order of `mask_pass`, `streaming` and
//! `garbled_table` on one lane.

use std::collections::VecDeque;
use std::slice::Iter;

use symbolon_circuit::{Circuit, PartyId, Plan};
use symbolon_engine::forecast::{DEPENDENT, Forecast, INDEPENDENT, ONLINE, SETUP, STREAMED, Way};
use symbolon_engine::{Compiled, Demand, OtExtension};
use symbolon_preprocessing::bucketing::{self, Batch};
use symbolon_preprocessing::script::{Terms, silent_memory};
use symbolon_transport::script::Script;
use symbolon_transport::{Error, Result};

use super::circuit_dependent::circuit_batches;
use super::garbled_table::MESSAGE;
use super::io_wires;
use super::masked_gates::{CHUNK, LOOKAHEAD, chunk_sizes};

/// What a garbling protocol adds to the common steps.
pub(crate) trait GarblingScript {
    /// Returns whether this party evaluates.
    fn evaluates(&self) -> bool;

    /// Adds what a garbler computes and sends for these gates, at most those of one message, or
    /// what the evaluator receives for them.
    fn gates(&self, script: &mut Script, gates: u64);

    /// Adds the online phase.
    fn online(&self, script: &mut Script);

    /// Adds what comes before the first segment of a streamed circuit.
    fn streamed_inputs(&self, script: &mut Script);

    /// Adds the evaluation of a streamed chunk, at the evaluator, or its proof, at a garbler.
    fn streamed_values(&self, script: &mut Script, gates: u64);

    /// Adds the end of a segment of this many chunks.
    fn segment_end(&self, script: &mut Script, chunks: u64);

    /// Adds the openings of outputs, after the last segment.
    fn streamed_outputs(&self, script: &mut Script);
}

/// The sizes of a circuit's inputs and outputs, by party.
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    /// Input bits of each party.
    pub inputs: Vec<u64>,
    /// Output bits that each party learns.
    pub outputs: Vec<u64>,
}

impl Ports {
    pub fn of(circuit: &Circuit, parties: u16) -> Ports {
        let inputs = PartyId::all(parties).map(|party| io_wires::input_bits(circuit, party) as u64);
        let outputs = PartyId::all(parties).map(|party| {
            let own = circuit.outputs().iter().filter(|output| output.to.contains(party));
            own.map(|output| output.ty.width()).sum()
        });
        Ports { inputs: inputs.collect(), outputs: outputs.collect() }
    }
}

/// Returns the bytes of packed bits.
pub(crate) fn packed(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// Returns the terms of the preprocessing.
pub(crate) fn terms(way: &Way<'_>) -> Terms {
    Terms::new(way.terms.rho.bits(), way.ot, way.parties)
}

/// About how many bytes a process holds before it computes.
pub(crate) const PROCESS: u64 = 8 << 20;

/// Returns about how many bytes a batch of triples takes while it is made, with what silent OT
/// keeps of its expansions.
pub(crate) fn batch_memory(batches: &[Batch], peers: u64, ot: OtExtension) -> u64 {
    let most = batches.iter().map(|batch| batch.leaky() as u64).max().unwrap_or(0);
    let silent = if ot == OtExtension::Ferret { silent_memory(3 * most) } else { 0 };
    most * (64 * peers + 48) + silent * peers
}

/// Forecasts a run on material that is made for its circuit.
///
/// # Errors
/// `InvalidInput` if the circuit is too large.
pub(crate) fn forecast<G: GarblingScript>(
    circuit: &Compiled,
    way: &Way<'_>,
    role: impl Fn(PartyId, Ports, u64) -> G,
) -> Result<Forecast> {
    if way.terms.executions != 1 {
        return Err(Error::invalid_input("the protocol runs one execution at a time"));
    }
    let plan = circuit.plan();
    let (gates, peers) = (plan.and_count(), u64::from(way.parties) - 1);
    let streams = gates > way.segment_gates;
    let ands = usize::try_from(gates).unwrap_or(usize::MAX);
    let plan_on = |n| bucketing::plan_on(n, way.terms.rho.bits(), peers as usize);
    let batches = circuit_batches(ands, way.segment_gates, plan_on)?;
    let counts = Demand::of(circuit, way.parties).input_counts(way.parties)?;
    // The masks of the first batch's gates are drawn with those of the inputs.
    let first = batches.first().map_or(0, |batch| batch.triples.min(ands));
    let drawn: Vec<usize> = counts.iter().map(|count| count + first).collect();
    let ports = Ports::of(circuit.circuit(), way.parties);
    let mut scripts = Vec::new();
    for me in PartyId::all(way.parties) {
        let mut script = Script::new(me, way.parties);
        let mut run = Run {
            role: role(me, ports.clone(), gates),
            terms: terms(way),
            plan,
            batches: &batches,
            are_drawn: first > 0,
        };
        script.phase(SETUP);
        run.terms.set_up(&mut script);
        if streams {
            script.phase(STREAMED);
            run.terms.bits(&mut script, &drawn);
            run.stream(&mut script);
        } else {
            script.phase(INDEPENDENT);
            match first {
                0 => run.terms.bits(&mut script, &drawn),
                _ => run.terms.bits_before_triples(&mut script, &drawn),
            }
            let mut left = ands;
            for batch in &batches {
                if left == 0 {
                    break;
                }
                run.triples(&mut script, *batch, &mut left);
            }
            script.phase(DEPENDENT);
            run.pass(&mut script);
            script.phase(ONLINE);
            run.role.online(&mut script);
        }
        scripts.push(script);
    }
    let kept = if streams {
        2 * batches.iter().map(|batch| batch.triples as u64).max().unwrap_or(0)
    } else {
        gates
    };
    let wires = plan.slots() as u64 * 32 * (peers + 1);
    let memory =
        PROCESS + batch_memory(&batches, peers, way.ot) + 96 * kept * peers + 100 * kept + wires;
    Ok(Forecast { scripts, within_percent: 0, exact_rounds: true, memory })
}

struct Run<'a, G> {
    role: G,
    terms: Terms,
    plan: &'a Plan,
    batches: &'a [Batch],
    /// Whether the masks of the next batch's gates are drawn already.
    are_drawn: bool,
}

/// The openings of chunks that were sent and not used, as `OpeningQueue` has them.
#[derive(Default)]
struct Openings {
    awaited: usize,
    opened: usize,
}

impl Openings {
    /// Adds the openings of the next chunk, after those that are sent ahead of it.
    fn next(&mut self, script: &mut Script, ahead: &mut Iter<'_, usize>, is_evaluator: bool) {
        while self.awaited + self.opened <= LOOKAHEAD
            && let Some(gates) = ahead.next()
        {
            self.send(script, *gates as u64);
        }
        self.receive(script, is_evaluator);
    }

    fn send(&mut self, script: &mut Script, gates: u64) {
        script.send_all(packed(gates) + 32);
        self.awaited += 1;
    }

    fn receive(&mut self, script: &mut Script, is_evaluator: bool) {
        let wanted = if is_evaluator { self.awaited } else { 1 };
        (0..wanted).for_each(|_| script.receive_all());
        self.awaited -= wanted;
        self.opened += wanted;
        self.opened -= 1;
    }
}

impl<G: GarblingScript> Run<'_, G> {
    /// Adds the masks and triples of the next gates; returns how many gates.
    fn triples(&mut self, script: &mut Script, batch: Batch, left: &mut usize) -> usize {
        let gates = batch.triples.min(*left);
        *left -= gates;
        if !std::mem::take(&mut self.are_drawn) {
            self.terms.bits(script, &vec![gates; usize::from(script.parties())]);
        }
        self.terms.triples(script, batch, true);
        gates
    }

    /// Adds the pass over all chunks, with openings that run ahead.
    fn pass(&self, script: &mut Script) {
        let sizes = chunk_sizes(self.plan);
        let mut openings = Openings::default();
        let mut ahead = sizes.iter();
        for gates in &sizes {
            openings.next(script, &mut ahead, self.role.evaluates());
            self.table(script, *gates);
        }
    }

    /// Adds the garbled gates of a chunk.
    fn table(&self, script: &mut Script, gates: usize) {
        let sizes = |first: usize| (gates - first).min(MESSAGE) as u64;
        (0..gates).step_by(MESSAGE).for_each(|first| self.role.gates(script, sizes(first)));
    }

    /// Adds all segments, and what is before and after them.
    fn stream(&mut self, script: &mut Script) {
        self.role.streamed_inputs(script);
        let most = self.plan.limits().batch;
        let mut cursor = self.plan.cursor();
        let mut batches = self.batches.iter();
        let (mut undrawn, mut left) = (self.plan.and_count() as usize, 0);
        let mut openings = Openings::default();
        loop {
            while undrawn > 0 && left < most {
                let Some(batch) = batches.next() else { break };
                left += self.triples(script, *batch, &mut undrawn);
            }
            let due = undrawn;
            let mut chunks = Vec::new();
            while left > 0 && (due == 0 || left >= most) {
                let mut gates = 0;
                while gates < CHUNK.min(left) && (due == 0 || left >= gates + most) {
                    gates += cursor.skip_ands().unwrap_or(left);
                }
                left -= gates;
                chunks.push(gates);
            }
            self.segment(script, &chunks, &mut openings);
            if due == 0 {
                break;
            }
        }
        self.role.streamed_outputs(script);
    }

    fn segment(&self, script: &mut Script, chunks: &[usize], openings: &mut Openings) {
        let (mut ahead, mut behind) = (chunks.iter(), VecDeque::new());
        for gates in chunks {
            if behind.len() > LOOKAHEAD {
                behind.pop_front().into_iter().for_each(|g| self.role.streamed_values(script, g));
            }
            openings.next(script, &mut ahead, self.role.evaluates());
            self.table(script, *gates);
            behind.push_back(*gates as u64);
            if self.role.evaluates() {
                behind.drain(..).for_each(|gates| self.role.streamed_values(script, gates));
            }
        }
        behind.into_iter().for_each(|gates| self.role.streamed_values(script, gates));
        self.role.segment_end(script, chunks.len() as u64);
    }
}
