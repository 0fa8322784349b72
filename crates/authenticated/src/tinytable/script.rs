//! What `tinytable` sends and computes: the order of `scramble`, `one_hot` and `online`.

use std::collections::VecDeque;
use std::sync::Arc;

use symbolon_circuit::{PartyId, Table};
use symbolon_engine::forecast::{DEPENDENT, Forecast, INDEPENDENT, ONLINE, SETUP, Way};
use symbolon_engine::phases::small;
use symbolon_engine::{Compiled, Demand};
use symbolon_preprocessing::bucketing;
use symbolon_transport::Result;
use symbolon_transport::script::{Script, Unit};

use super::{
    code::script::CodeScript,
    demand,
    entries::width,
    options::{Commitment, commitment},
    program::Program,
    scramble::{CHUNK, LOOKAHEAD, LOOKUPS},
};
use crate::gates::script::{PROCESS, Ports, batch_memory, packed, terms};

/// A product of masks, and the entry that is made from it.
const PRODUCT: Unit = Unit::new("table product", 360.0);

/// A step of the convolution that makes a look-up's table.
const CONVOLUTION: Unit = Unit::new("table convolution", 9.0);

/// An AND gate online.
const GATE: Unit = Unit::new("table gate online", 33.0);

/// A look-up online.
const LOOKUP: Unit = Unit::new("look-up online", 470.0);

/// A layer online.
const LAYER: Unit = Unit::new("table layer", 1_000.0);

/// The kinds of work here.
pub(super) const UNITS: &[Unit] = &[PRODUCT, CONVOLUTION, GATE, LOOKUP, LAYER];

/// Forecasts a run of one batch.
pub(super) fn forecast(circuit: &Compiled, way: &Way<'_>) -> Result<Forecast> {
    let program = circuit.derived::<Program>()?;
    let demand = demand(circuit, way.terms)?;
    let executions = way.terms.executions as u64;
    let ports = Ports::of(circuit.circuit(), 2);
    let batches = bucketing::plan(small(demand.and_gates)?, way.terms.rho.bits(), 1);
    let counts = Demand::input_counts(&demand, 2)?;
    let code = match commitment(way.terms.options) {
        Commitment::Bits => None,
        Commitment::Code => Some(CodeScript::of(&program, way.terms.executions, way.terms.rho)?),
    };
    let mut scripts = Vec::new();
    for me in PartyId::all(2u16) {
        let mut script = Script::new(me, 2);
        let mut terms = terms(way);
        script.phase(SETUP);
        terms.set_up(&mut script);
        script.phase(INDEPENDENT);
        terms.bits(&mut script, &counts);
        for batch in &batches {
            terms.triples(&mut script, *batch, false);
            terms.bits(&mut script, &[batch.triples; 2]);
        }
        script.phase(DEPENDENT);
        let mut pass = Pass {
            script: &mut script,
            program: program.clone(),
            executions,
            ands: 0,
            pending: VecDeque::new(),
            lookups: vec![0; program.layered.tables().len()],
        };
        pass.run();
        if let Some(code) = &code {
            code.commit(&mut script, GATE);
        }
        script.phase(ONLINE);
        layers(&mut script, &program, executions, &ports);
        match &code {
            None => script.exchange(16),
            Some(code) => code.check(&mut script, GATE),
        }
        masks(&mut script, executions, &ports);
        scripts.push(script);
    }
    let triples: u64 = batches.iter().map(|batch| batch.triples as u64).sum();
    let memory = PROCESS + batch_memory(&batches, 1, way.ot) + 96 * triples;
    Ok(Forecast { scripts, within_percent: 0, exact_rounds: true, memory })
}

/// The function-dependent phase, as `scramble::Walk` runs it.
struct Pass<'a> {
    script: &'a mut Script,
    program: Arc<Program>,
    executions: u64,
    /// AND gates of all executions whose openings are not sent yet.
    ands: u64,
    /// The sizes of chunks whose products are in transit.
    pending: VecDeque<u64>,
    /// By table: look-ups that are not processed yet.
    lookups: Vec<u64>,
}

impl Pass<'_> {
    fn run(&mut self) {
        let program = self.program.clone();
        for layer in program.layered.layers() {
            for _ in layer.ands {
                self.ands += self.executions;
                if self.ands >= CHUNK as u64 {
                    self.open();
                }
            }
            for lookup in layer.lookups.iter() {
                let table = lookup.table as usize;
                self.lookups[table] += 1;
                if self.lookups[table] * self.executions >= LOOKUPS as u64 {
                    self.process(table);
                }
            }
        }
        if self.ands > 0 {
            self.open();
        }
        (0..self.lookups.len()).for_each(|table| self.process(table));
        self.receive(0);
    }

    fn open(&mut self) {
        let products = std::mem::take(&mut self.ands);
        self.script.send_all(packed(2 * products) + 32);
        self.pending.push_back(products);
        self.receive(LOOKAHEAD);
    }

    /// Adds the rest of chunks until at most `left` are in transit.
    fn receive(&mut self, left: usize) {
        while self.pending.len() > left {
            let products = self.pending.pop_front().unwrap_or(0);
            self.script.receive_all();
            self.script.work(PRODUCT, products as f64);
        }
    }

    fn process(&mut self, table: usize) {
        self.receive(0);
        let all = std::mem::take(&mut self.lookups[table]) * self.executions;
        if all == 0 {
            return;
        }
        let table = &self.program.layered.tables()[table];
        let mut vectors = vec![2u64; table.inputs() as usize];
        while vectors.len() > 1 {
            let pairs = vectors.chunks(2);
            let products = pairs.clone().filter(|pair| pair.len() == 2);
            let products: u64 = products.map(|pair| (pair[0] - 1) * (pair[1] - 1)).sum();
            vectors = pairs.map(|pair| pair.iter().product()).collect();
            self.script.exchange(packed(2 * products * all) + 32);
            self.script.work(PRODUCT, (products * all) as f64);
        }
        self.script.work(CONVOLUTION, all as f64 * 3f64.powi(table.inputs() as i32));
    }
}

fn layers(script: &mut Script, program: &Program, executions: u64, ports: &Ports) {
    let me = script.me();
    let tables: &[Table] = program.layered.tables();
    script.exchange(packed(ports.inputs[me.index()] * executions));
    for layer in program.layered.layers() {
        if layer.ands.is_empty() && layer.lookups.is_empty() {
            continue;
        }
        let entries = layer.lookups.iter().map(|lookup| width(&tables[lookup.table as usize]));
        let entries = entries.sum::<usize>() as u64 * executions;
        script.work(LAYER, 1.0);
        script.exchange(packed(layer.ands.len() as u64 * executions) + entries);
        script.work(GATE, (layer.ands.len() as u64 * executions) as f64);
        script.work(LOOKUP, (layer.lookups.iter().count() as u64 * executions) as f64);
    }
}

fn masks(script: &mut Script, executions: u64, ports: &Ports) {
    let me = script.me();
    let [own, theirs] = [me, me.other_of_two()].map(|party| ports.outputs[party.index()]);
    if theirs > 0 {
        script.send_all(packed(theirs * executions) + 16);
    }
    if own > 0 {
        script.receive_all();
    }
}
