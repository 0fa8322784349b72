//! Both parties over channels, at sizes of games that tests choose.

use std::sync::Arc;
use std::time::Duration;

use symbolon_circuit::builder::{Bit, Builder, ComponentBuilder, Word};
use symbolon_circuit::{Circuit, PartyId, Plan, Receivers, Type, builtin, reference};
use symbolon_cutchoose::{Sizes, hcom};
use symbolon_transport::adversary::Stage;
use symbolon_transport::{Channel, Meter, Result, memory_lanes};

use super::components::Kind;
use super::engine::{self, Duplo};
use super::layout::Layout;
use super::params::{Games, Params, Small};
use super::program::Program;
use crate::{
    Batch, Engine, GateForm, InputBits, Network, OtExtension, OutputBits, Rho, SEGMENT_GATES,
};

/// What a run is of.
#[derive(Clone)]
pub(super) struct Scene {
    pub circuit: Circuit,
    pub small: Option<Small>,
    pub executions: usize,
    /// The inputs' bits, execution after execution.
    pub inputs: Vec<Vec<bool>>,
}

/// Two calls of a component with eight AND gates, with XOR, NOT and constants between them, and
/// outputs of all kinds: components' outputs, sums of them, opposites, constants, inputs.
pub(super) fn circuit(to: Receivers) -> Circuit {
    let mut c = ComponentBuilder::new("product");
    let (x, y) = (c.input(4), c.input(4));
    let product = c.and(&x, &y);
    let turned = product.rotl(1);
    let more = c.and(&product, &turned);
    let sum = c.xor(&more, &x);
    c.output(&sum);
    let product = c.finish().unwrap();
    let mut b = Builder::new("two products");
    let x = b.input("x", Type::Uint(4), 0);
    let y = b.input("y", Type::Uint(4), 1);
    let first = b.call_one(&product, &[&x, &y]);
    let mixed = b.xor(&first, &y);
    let mut mixed: Vec<Bit> = mixed.iter().copied().collect();
    mixed[0] = b.xor_bit(mixed[0], Bit::constant(true));
    mixed[3] = Bit::constant(true);
    let mixed: Word = mixed.into_iter().collect();
    let second = b.call_one(&product, &[&mixed, &x]);
    let sum = b.xor(&first, &second);
    let mut last: Vec<Bit> = second.iter().copied().collect();
    last.push(sum[0]);
    last.push(b.xor_bit(sum[1], Bit::constant(true)));
    last.push(Bit::constant(true));
    last.push(x[2]);
    last.push(b.xor_bit(y[1], Bit::constant(true)));
    let last: Word = last.into_iter().collect();
    b.output("z", &last, Type::Uint(9), to);
    b.finish().unwrap()
}

impl Scene {
    /// The circuit above on inputs that follow from a seed.
    pub fn new(small: Option<Small>, executions: usize, seed: u64) -> Scene {
        let bits = |by: u64| {
            (0..4 * executions as u64).map(|i| (i + seed).wrapping_mul(by) >> 3 & 1 == 1).collect()
        };
        let circuit = circuit(Receivers::All);
        Scene { circuit, small, executions, inputs: vec![bits(0x9e37_79b9), bits(0x85eb_ca6b)] }
    }

    /// What `party` should learn.
    pub fn expected(&self, party: PartyId) -> OutputBits {
        let one = |execution: usize| {
            let inputs = self.inputs.iter().flat_map(|bits| {
                let width = bits.len() / self.executions;
                bits[execution * width..][..width].to_vec()
            });
            reference::eval(&self.circuit, &inputs.collect::<Vec<_>>())
        };
        let all: Vec<Vec<bool>> = (0..self.executions).map(one).collect();
        let mut start = 0;
        let of = |output: &symbolon_circuit::Output| {
            let range = start..start + output.ty.width() as usize;
            start = range.end;
            let bits = all.iter().flat_map(|bits| bits[range.clone()].to_vec()).collect();
            output.to.contains(party).then_some(bits)
        };
        self.circuit.outputs().iter().map(of).collect()
    }

    /// Runs both parties, after `adversary` has tampered with their channels.
    pub fn run(&self, adversary: impl FnOnce(&mut [Channel; 2])) -> [Result<OutputBits>; 2] {
        self.run_counted([Meter::new(), Meter::new()], adversary)
    }

    /// The same, counted by these meters.
    fn run_counted(
        &self,
        [a, b]: [Arc<Meter>; 2],
        adversary: impl FnOnce(&mut [Channel; 2]),
    ) -> [Result<OutputBits>; 2] {
        let (a, b) = memory_lanes((0, a), (1, b), 1, None).unwrap();
        let [a, b] = [a, b].map(|mut lanes| lanes.remove(0));
        let mut channels = [a, b];
        channels.iter_mut().for_each(|channel| channel.set_timeout(Duration::from_secs(20)));
        adversary(&mut channels);
        let stage = &Stage::new(channels.iter().filter(|channel| !channel.cheats()).count());
        let plan = &Plan::new(&self.circuit);
        std::thread::scope(|scope| {
            let parties = (0..).zip(channels).map(|(me, channel)| {
                scope.spawn(move || {
                    let cheats = channel.cheats();
                    stage.play(cheats, self.network(me, channel), |net| {
                        let done = self.phases(net, plan);
                        if done.is_err() && !cheats {
                            net.peers()[0].abort("the run failed");
                        }
                        done
                    })
                })
            });
            let parties: Vec<_> = parties.collect();
            let mut ended = parties.into_iter().map(|party| party.join().expect("no panic"));
            [ended.next().expect("the first"), ended.next().expect("the second")]
        })
    }

    fn network(&self, me: PartyId, channel: Channel) -> Network {
        let meter = channel.meter().clone();
        let batch = Batch { executions: self.executions, ..Batch::default() };
        let (rho, ot, form) = (Rho::Bits40, OtExtension::default(), GateForm::HalfGates);
        let (lanes, session) = (vec![vec![channel]], [7; 32]);
        Network { me, lanes, meter, session, rho, ot, form, batch, segment_gates: SEGMENT_GATES }
    }

    fn phases(&self, net: &mut Network, plan: &Plan) -> Result<OutputBits> {
        let games = Games { small: self.small, ..Games::new(40) };
        net.meter.set_phase("set-up");
        let mut engine = Duplo::set_up(net, games)?;
        net.meter.set_phase("components");
        let material = engine.preprocess_for(net, &self.circuit, plan)?;
        net.meter.set_phase("solderings");
        let ready = material.prepare(net, &self.circuit, plan)?;
        let own = |(input, bits): (&symbolon_circuit::Input, &Vec<bool>)| {
            (input.owner == net.me).then(|| bits.clone())
        };
        let inputs: InputBits = self.circuit.inputs().iter().zip(&self.inputs).map(own).collect();
        net.meter.set_phase("online");
        ready.evaluate(net, &self.circuit, plan, &inputs)
    }
}

/// Sizes at which runs take little.
pub(super) const TINY: Small = Small { components: [2, 2], authenticators: [3, 3] };

#[test]
fn several_executions_are_run_together() {
    for (small, executions) in [(Some(TINY), 1), (Some(TINY), 5), (None, 3)] {
        for seed in 0..4 {
            let scene = Scene::new(small, executions, seed);
            let ended = scene.run(|_| ());
            for (party, ended) in (0..).zip(ended) {
                assert_eq!(ended.unwrap(), scene.expected(party), "party {party}, seed {seed}");
            }
        }
    }
}

/// The components of the test circuit are what the tests of cheats count on.
#[test]
fn the_test_circuit_has_one_kind_in_two_slots() {
    let program =
        Program::new(&circuit(Receivers::All), 1, Games { small: Some(TINY), ..Games::new(40) })
            .unwrap();
    assert_eq!(program.graph.counts(), [2]);
    assert_eq!(program.graph.kinds[0].outputs(), 4);
    assert_eq!(program.out_gates.len(), 2);
}

/// Bytes that the garbler sends, by the formula of docs/protocols.md: for components, solderings,
/// online.
fn predicted(program: &Program, params: &Params) -> [u64; 3] {
    let graph = &program.graph;
    let (made, rho) = (&params.authenticators, 40);
    let bits = |n: u64| n.div_ceil(8);
    let layout = Layout::new(program, params, rho, 0);
    let commitments = hcom::random_bytes(&engine::commitments(rho).unwrap(), layout.total) as u64;
    let [own, theirs] = [&program.inputs[0], &program.inputs[1]].map(|wires| wires.len() as u64);
    let outputs = program.to_evaluator.len() as u64;
    let rho = u64::from(rho);
    let transfers = 16 * (theirs + rho + 1);
    let masks = bits(outputs + rho) + 16 * rho;
    let authenticators =
        bits(made.objects) + 48 * made.objects + 16 * made.opened() + 32 * made.bucketed()
            - 16 * made.buckets;
    let component = |(kind, sizes): (&Kind, &Sizes)| {
        let [g, n, m] = [kind.ands(), kind.inputs(), kind.outputs()].map(|n| n as u64);
        bits(sizes.objects)
            + (16 * m + 32) * sizes.objects
            + 16 * (1 + n) * sizes.opened()
            + (32 * g + 16 * (1 + m)) * sizes.bucketed()
            + 16 * n * (sizes.bucketed() - sizes.buckets)
    };
    let components: u64 = graph.kinds.iter().zip(&params.kinds).map(component).sum();
    let solderings = 16 * (graph.sums.len() + program.out_gates.len()) as u64;
    [
        commitments + transfers + masks + authenticators + components,
        solderings,
        16 * (own + theirs + outputs),
    ]
}

#[test]
fn bytes_are_as_documented() {
    for (name, executions) in [("aes128", 1), ("aes128", 4), ("cbcmac:8", 1), ("sort:8x8", 1)] {
        let circuit = builtin::by_name(name).unwrap();
        let inputs = circuit.inputs().iter();
        let inputs =
            inputs.map(|input| vec![true; input.ty.width() as usize * executions]).collect();
        let scene = Scene { circuit, small: None, executions, inputs };
        let meters = [Meter::new(), Meter::new()];
        for ended in scene.run_counted(meters.clone(), |_| ()) {
            ended.unwrap();
        }
        let games = Games::new(40);
        let program = Program::new(&scene.circuit, executions, games).unwrap();
        let params = Params::new(&program.graph, program.wires(), games).unwrap();
        let report = meters[0].report();
        for (phase, predicted) in
            ["components", "solderings", "online"].into_iter().zip(predicted(&program, &params))
        {
            let sent = report.iter().find(|report| report.phase == phase).unwrap().bytes_sent;
            // Headers of messages, proofs and coins.
            assert!(sent >= predicted, "{name}: {phase}: {sent}, {predicted}");
            let most = predicted + predicted / 20 + 500;
            assert!(sent <= most, "{name}: {phase}: {sent}, {predicted}");
        }
    }
}
