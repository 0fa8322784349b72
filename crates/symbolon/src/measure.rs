//! Measurements of `tinytable` that no product should make: they use material more than once, which
//! gives away all inputs; and on what they are made. Only with the feature `measure`.

use std::time::Instant;

use symbolon_circuit::{Circuit, PartyId, reference};
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_protocols::phases::Measured;
use symbolon_protocols::{Compiled, Engine, Network, Prepared, Protocol};
use symbolon_transport::{Error, Result};

use crate::autotune::Preferences;
use crate::config::Config;
use crate::messages::READY;
use crate::params::Job;
use crate::report::{DEPENDENT, INDEPENDENT, ONLINE, Report};
use crate::session::{Begun, begin, counted, engine, give_up};

/// What [`measure_tables`] is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TableCourse {
    /// Executions side by side, each on fresh material.
    pub batch: usize,
    /// Executions side by side that share the material of one, so that it stays in the caches: a
    /// multiple of 64.
    pub shared_by: usize,
    /// How often everything is measured.
    pub repeat: usize,
}

/// What one party measured.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TableTimes {
    /// Seconds from the inputs to the outputs of one execution, each time on fresh material.
    pub sequential: Vec<f64>,
    /// The same for an execution of a batch on fresh material: the batch's time over their number.
    pub fresh: Vec<f64>,
    /// The same for an execution of those that share material.
    pub shared: Vec<f64>,
    /// Seconds for the triples and masks of one execution of a batch.
    pub independent: Vec<f64>,
    /// Seconds to make its tables from them.
    pub dependent: Vec<f64>,
    /// Bytes sent in the preprocessing for one execution of a batch.
    pub preprocessing_bytes: f64,
    /// Bytes of what is prepared for one execution of a batch.
    pub prepared_bytes: f64,
    /// Bytes sent online by one execution alone, with all framing.
    pub sequential_bytes: f64,
    /// Bytes sent online by one execution of a batch.
    pub batch_bytes: f64,
}

impl TableTimes {
    /// Adds what the same party measured in a later session, whose bytes are the same.
    pub fn append(&mut self, later: TableTimes) {
        self.sequential.extend(later.sequential);
        self.fresh.extend(later.fresh);
        self.shared.extend(later.shared);
        self.independent.extend(later.independent);
        self.dependent.extend(later.dependent);
    }
}

/// Measures the phases of `tinytable` on a circuit, with both parties' inputs made up from their
/// numbers.
///
/// # Errors
/// `InvalidInput` when `config` cannot work, or `course` has no executions; otherwise as
/// [`Session::connect`](crate::Session::connect) and what follows it.
pub fn measure_tables(
    config: Config,
    circuit: &Circuit,
    course: TableCourse,
) -> Result<TableTimes> {
    let config = config.protocol(Protocol::TinyTable);
    config.check(circuit)?;
    let TableCourse { batch, shared_by, repeat } = course;
    if batch == 0 || repeat == 0 {
        return Err(Error::invalid_input("nothing to measure"));
    }
    let compiled = Compiled::new(circuit);
    let job = Job::Measure(&compiled, [batch, shared_by, repeat]);
    let gates = config.demand(&compiled)?.and_gates.saturating_mul(batch as u64);
    let begun = begin(config, job, (gates, Preferences::NOTHING), |network, dealer| {
        engine(Protocol::TinyTable, network, dealer)
    })?;
    let Begun { mut network, made: engine, .. } = begun;
    let mut bench =
        Bench { network: &mut network, engine, circuit: &compiled, times: TableTimes::default() };
    let done = (0..repeat).try_for_each(|_| bench.round(course));
    let times = bench.times;
    done.map(|()| times).inspect_err(|error| give_up(&mut network, error))
}

struct Bench<'a> {
    network: &'a mut Network,
    engine: Box<dyn Engine>,
    circuit: &'a Compiled,
    times: TableTimes,
}

impl Bench<'_> {
    fn round(&mut self, TableCourse { batch, shared_by, .. }: TableCourse) -> Result<()> {
        let (one, ..) = self.prepare(1)?;
        let (time, bytes) = self.run(one.measured(None)?, 1)?;
        self.times.sequential.push(time);
        self.times.sequential_bytes = bytes;

        let (many, [independent, dependent], sent) = self.prepare(batch)?;
        self.times.independent.push(independent);
        self.times.dependent.push(dependent);
        self.times.preprocessing_bytes = sent;
        let (time, bytes) = self.run(many.measured(None)?, batch)?;
        self.times.fresh.push(time);
        self.times.batch_bytes = bytes;

        let (one, ..) = self.prepare(1)?;
        let (time, _) = self.run(one.measured(Some(shared_by))?, shared_by)?;
        self.times.shared.push(time);
        if self.times.prepared_bytes == 0.0 {
            let (one, ..) = self.prepare(1)?;
            let mut counter = Counter(0);
            one.save(&mut counter)?;
            self.times.prepared_bytes = counter.0 as f64;
        }
        Ok(())
    }

    /// Prepares this many executions; seconds and bytes sent are for one of them.
    fn prepare(&mut self, executions: usize) -> Result<(Box<dyn Prepared>, [f64; 2], f64)> {
        self.network.batch.executions = executions;
        let need = Protocol::TinyTable.demand(self.network, self.circuit)?;
        let before = sent(self.network, &[INDEPENDENT, DEPENDENT]);
        ready(self.network)?;
        let start = Instant::now();
        let engine = &mut self.engine;
        let material =
            counted(self.network, INDEPENDENT, |network| engine.preprocess(network, &need))?;
        let independent = start.elapsed().as_secs_f64();
        let circuit = self.circuit;
        let prepared =
            counted(self.network, DEPENDENT, |network| material.prepare(network, circuit))?;
        let dependent = start.elapsed().as_secs_f64() - independent;
        let bytes = sent(self.network, &[INDEPENDENT, DEPENDENT]) - before;
        let one = |all: f64| all / executions as f64;
        Ok((prepared, [one(independent), one(dependent)], one(bytes)))
    }

    /// Runs what was prepared; seconds and bytes sent are for one execution.
    fn run(&mut self, online: Box<dyn Measured>, executions: usize) -> Result<(f64, f64)> {
        let inputs = [0, 1].map(|party| made_up(self.circuit.circuit(), party, executions));
        let (circuit, me) = (self.circuit.circuit(), self.network.me);
        let before = sent(self.network, &[ONLINE]);
        ready(self.network)?;
        let start = Instant::now();
        let outputs = counted(self.network, ONLINE, |network| {
            online.run(network, circuit, &inputs[usize::from(me)])
        })?;
        let time = start.elapsed().as_secs_f64();
        let bytes = sent(self.network, &[ONLINE]) - before;
        check(circuit, &inputs, &outputs, executions)?;
        Ok((time / executions as f64, bytes / executions as f64))
    }
}

/// Waits until the peer is here, too.
fn ready(network: &mut Network) -> Result<()> {
    let channel = &mut network.peers()[0];
    channel.send(READY, &[])?;
    channel.flush()?;
    channel.recv(READY, 0).map(drop)
}

fn sent(network: &Network, phases: &[&str]) -> f64 {
    let report = Report::of(&network.meter);
    let sent = phases.iter().filter_map(|phase| report.phase(phase));
    sent.map(|phase| phase.bytes_sent as f64).sum()
}

/// The bits of a party's input wires, one wire's of all executions after the other's.
fn made_up(circuit: &Circuit, party: PartyId, executions: usize) -> BitVec {
    let own = circuit.inputs().iter().filter(|input| input.owner == party);
    let wires: u64 = own.map(|input| input.ty.width()).sum();
    let mut prg = Prg::from_seed(Block(u128::from(party) + 1));
    BitVec::random(wires as usize * executions, &mut prg)
}

/// Compares the outputs of the first and the last execution, of a circuit all of whose outputs both
/// learn, with the reference evaluation.
fn check(
    circuit: &Circuit,
    inputs: &[BitVec; 2],
    outputs: &BitVec,
    executions: usize,
) -> Result<()> {
    for lane in [0, executions - 1] {
        let mut taken = [0; 2];
        let mut bits = Vec::new();
        for input in circuit.inputs() {
            let place = &mut taken[usize::from(input.owner)];
            for _ in 0..input.ty.width() {
                bits.push(inputs[usize::from(input.owner)].get(*place * executions + lane));
                *place += 1;
            }
        }
        let expected = reference::eval(circuit, &bits).into_iter().enumerate();
        let mut learnt = expected.map(|(wire, bit)| outputs.get(wire * executions + lane) == bit);
        if !learnt.all(|right| right) {
            return Err(Error::internal("a measured run gave a wrong output"));
        }
    }
    Ok(())
}

/// Counts what is written.
struct Counter(u64);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
