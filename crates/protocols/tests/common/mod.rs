//! Both parties of a run in one process, over memory channels.
#![allow(dead_code, missing_docs)]

use std::sync::Arc;

use symbolon_circuit::{Circuit, Plan};
use symbolon_protocols::{InputBits, Need, Network, OutputBits, Protocol, Rho};
use symbolon_transport::{Channel, Meter, PhaseReport, Result, memory_lanes};

/// What one party of a run ended with.
pub struct Ended {
    pub outputs: Result<OutputBits>,
    pub phases: Vec<PhaseReport>,
}

/// How a run is to be made.
#[derive(Clone, Copy)]
pub struct Setting {
    pub protocol: Protocol,
    pub lanes: usize,
    pub rho: Rho,
}

impl Default for Setting {
    fn default() -> Self {
        Setting { protocol: Protocol::Wrk, lanes: 1, rho: Rho::Bits40 }
    }
}

/// Both parties' networks; the session id is as fresh as a test needs it.
pub fn networks(setting: Setting) -> [Network; 2] {
    let meters = [Meter::new(), Meter::new()];
    let (a, b) =
        memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), setting.lanes, None).unwrap();
    let network = |me: u16, lanes: Vec<Channel>, meter: &Arc<Meter>| Network {
        me,
        lanes,
        meter: meter.clone(),
        session: [7; 32],
        rho: setting.rho,
    };
    [network(0, a, &meters[0]), network(1, b, &meters[1])]
}

/// Runs all phases of one party.
pub fn party(
    setting: Setting,
    mut net: Network,
    circuit: &Circuit,
    plan: &Plan,
    inputs: &InputBits,
) -> Ended {
    let outputs = phases(setting, &mut net, circuit, plan, inputs);
    if outputs.is_err() {
        net.lanes.iter_mut().for_each(|lane| lane.abort("the run failed"));
    }
    Ended { outputs, phases: net.meter.report() }
}

fn phases(
    setting: Setting,
    net: &mut Network,
    circuit: &Circuit,
    plan: &Plan,
    inputs: &InputBits,
) -> Result<OutputBits> {
    net.meter.set_phase("setup");
    let mut engine = setting.protocol.set_up(net)?;
    net.meter.set_phase("independent");
    let material = engine.preprocess(net, &Need::of(circuit, plan, 2))?;
    net.meter.set_phase("dependent");
    let prepared = material.prepare(net, circuit, plan)?;
    net.meter.set_phase("online");
    prepared.evaluate(net, circuit, plan, inputs)
}

/// The inputs that `party` owns, out of all inputs.
pub fn inputs_of(circuit: &Circuit, party: u16, all: &[Vec<bool>]) -> InputBits {
    let own = |(input, bits): (&symbolon_circuit::Input, &Vec<bool>)| {
        (input.owner == party).then(|| bits.clone())
    };
    circuit.inputs().iter().zip(all).map(own).collect()
}

/// Runs both parties, each on a thread of its own, after `bend` has had its way with the networks.
pub fn run_bent(
    setting: Setting,
    circuit: &Circuit,
    all: &[Vec<bool>],
    bend: impl FnOnce(&mut [Network; 2]),
) -> [Ended; 2] {
    let plan = Plan::new(circuit);
    let mut nets = networks(setting);
    bend(&mut nets);
    let [a, b] = nets;
    std::thread::scope(|scope| {
        let run = |net: Network| {
            let plan = &plan;
            let inputs = inputs_of(circuit, net.me, all);
            scope.spawn(move || party(setting, net, circuit, plan, &inputs))
        };
        let (a, b) = (run(a), run(b));
        [a.join().expect("party 0 panicked"), b.join().expect("party 1 panicked")]
    })
}

/// Runs both parties honestly.
pub fn run(setting: Setting, circuit: &Circuit, all: &[Vec<bool>]) -> [Ended; 2] {
    run_bent(setting, circuit, all, |_| ())
}

/// What `party` should learn, from the reference evaluation.
pub fn expected(circuit: &Circuit, party: u16, all: &[Vec<bool>]) -> OutputBits {
    let mut bits = symbolon_circuit::reference::eval(circuit, &all.concat()).into_iter();
    let of = |output: &symbolon_circuit::Output| {
        let value: Vec<bool> = bits.by_ref().take(output.ty.width() as usize).collect();
        output.to.contains(party).then_some(value)
    };
    circuit.outputs().iter().map(of).collect()
}

/// Asserts that an honest run gives both parties what the reference evaluation says.
pub fn assert_runs(setting: Setting, circuit: &Circuit, all: &[Vec<bool>]) -> [Ended; 2] {
    let ended = run(setting, circuit, all);
    for (party, ended) in (0..).zip(&ended) {
        match &ended.outputs {
            Ok(outputs) => assert_eq!(outputs, &expected(circuit, party, all), "party {party}"),
            Err(error) => panic!("party {party}: {error}"),
        }
    }
    ended
}
