//! A cheater that garbles some of its circuits otherwise. It takes the steps of an honest party,
//! and puts its own circuits in place of the honest ones.

use std::collections::VecDeque;

use symbolon_engine::{Compiled, Network};
use symbolon_garbling::component::ComponentDigest;
use symbolon_primitives::{BitVec, Commitment};
use symbolon_transport::Result;

use crate::dualex::buckets::{self, Outgoing, Table};
use crate::dualex::check::{self, Committed};
use crate::dualex::engine::DualEx;
use crate::dualex::execution::Execution;
use crate::dualex::function::Function;
use crate::dualex::garble::{Garbled, Garbler, Leaf, LeafHash, PairDigest};
use crate::dualex::inputs::{self, keep_labels};
use crate::dualex::online::PreparedExecutions;
use crate::dualex::ot::{Blocks, OtSession};
use crate::dualex::params::Params;
use crate::dualex::preparation::Preparation;

/// How a cheater garbles some of its circuits, and what it does with the others.
pub struct GarblingCheat {
    /// What it garbles in the affected circuits: a function of the same shape.
    pub function: Function,
    /// Whether the circuit with this number is affected.
    pub affects: Box<dyn Fn(u64) -> bool + Sync>,
    /// The input whose leaves are in the wrong order in the affected circuits.
    pub swapped: Option<usize>,
    /// Whether the leaf for value 1 of the encoding's first bit is zero in the affected circuits.
    pub probes: bool,
    /// Whether the output labels of the other circuits are translated and opened from another seed.
    pub reseeded: bool,
    /// Whether the cheater goes on if labels of its own encoding are wrong.
    pub careless: bool,
}

/// Prepares a batch of executions; a cheater cheats.
pub fn prepare_batch(
    engine: &mut DualEx,
    net: &mut Network,
    circuit: &Compiled,
    params: Params,
    cheat: Option<&GarblingCheat>,
) -> Result<PreparedExecutions> {
    let Some(cheat) = cheat else { return engine.prepare_batch(net, circuit, params) };
    let mut prepared = PreparedExecutions::none(net, circuit, &params)?;
    let (offline, ots) = engine.begin(net, &prepared.function, params)?;
    prepared.executions = cheat.run(offline, ots)?;
    Ok(prepared)
}

impl GarblingCheat {
    /// Garbles this function in the affected circuits, and does nothing else.
    pub fn garbles(function: Function, affects: impl Fn(u64) -> bool + Sync + 'static) -> Self {
        let (affects, swapped) = (Box::new(affects), None);
        GarblingCheat {
            function,
            affects,
            swapped,
            probes: false,
            reseeded: false,
            careless: false,
        }
    }

    /// `Preparation::run`, with the cheater's circuits.
    fn run(&self, mut offline: Preparation<'_>, ots: &mut OtSession) -> Result<Vec<Execution>> {
        let mut ots = offline.draw_ots(ots)?;
        let mut committed = Committed::draw(&mut offline, &ots);
        self.swap_orders(offline.first, &mut committed);
        let all = (0..offline.params.circuits()).map(|j| self.garble(&offline, &committed, j));
        let all: Vec<_> = all.collect();
        let own: Vec<Commitment> = all.iter().map(|(_, _, commitment)| *commitment).collect();
        committed.exchange(&mut offline, &own)?;
        let [mine, theirs] = offline.toss()?;
        check::open(&mut offline, &committed, &mut ots, [&mine.opened, &theirs.opened])?;
        let mut inputs = inputs::announce(&mut offline, ots, [&mine.buckets, &theirs.buckets])?;
        let mut outgoing = Outgoing::new(&committed, &mine.buckets);
        outgoing.ready = self.ready(&mut offline, all, mine.buckets.objects());
        let mut executions = Vec::new();
        for i in 0..offline.params.executions() {
            let mut bucket = buckets::exchange_circuits(&mut offline, &mut outgoing, &inputs, i)?;
            if self.careless {
                let labels = inputs.labels(&mut offline, &mut bucket, i)?;
                keep_labels(&offline, &mut bucket, &labels);
            } else {
                inputs.receive(&mut offline, &mut bucket, i)?;
            }
            inputs.release(i);
            executions.push(bucket.into_execution(offline.intersection(i, inputs.ots())?));
        }
        Ok(executions)
    }

    fn swap_orders(&self, first: u64, committed: &mut Committed) {
        let Some(input) = self.swapped else { return };
        let affected = (first..).zip(&mut committed.orders);
        for (_, order) in affected.filter(|(number, _)| (self.affects)(*number)) {
            let bit = order.get(input);
            order.set(input, !bit);
        }
    }

    /// Garbles circuit `j`, and commits to it.
    fn garble(
        &self,
        offline: &Preparation<'_>,
        committed: &Committed,
        j: usize,
    ) -> (Table, Garbled, Commitment) {
        let source = committed.source(offline.first, j);
        let affected = (self.affects)(source.number);
        let function = if affected { &self.function } else { offline.function };
        let garbler = Garbler { function, ..offline.garbler(offline.me()) };
        let (mut table, mut digest) = (Table::new(), ComponentDigest::default());
        let mut garbled = garbler.garble(&[source], |_, gates| {
            table.extend_from_slice(gates);
            digest.update(gates);
        });
        let mut garbled = garbled.pop().expect("one was garbled");
        if affected && self.probes {
            probe(&garbler, &mut garbled);
        }
        let commitment = garbler.commitment(&garbled, digest);
        (table, garbled, commitment)
    }

    /// Returns the circuits of the buckets, in order, as they are sent.
    fn ready(
        &self,
        offline: &mut Preparation<'_>,
        all: Vec<(Table, Garbled, Commitment)>,
        kept: &[u32],
    ) -> VecDeque<(Table, Garbled)> {
        let mut all: Vec<_> = all.into_iter().map(Some).collect();
        let ready = kept.iter().map(|&j| {
            let (table, mut garbled, _) = all[j as usize].take().expect("each is in one bucket");
            if self.reseeded && !(self.affects)(garbled.own.number) {
                garbled.own.output_seed = offline.prg.seed();
            }
            (table, garbled)
        });
        ready.collect()
    }
}

/// Puts zero in place of the leaf for value 1 of the encoding's first bit.
fn probe(garbler: &Garbler<'_>, garbled: &mut Garbled) {
    let own = &garbled.own;
    let hash = LeafHash::new(garbler.session, garbler.party, own.number);
    let zeros = hash.leaves(Leaf::Encoded, &Blocks::new(own.encoded.to_vec()));
    garbled.leaves.encoded[0] = zeros[0];
    let mut pairs = PairDigest::new();
    pairs.add_opened(&zeros, &BitVec::zeros(zeros.len()), &garbled.leaves.encoded);
    garbled.leaves.pairs[1] = pairs.finish();
}
