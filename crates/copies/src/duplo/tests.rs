//! Runs both parties over channels, with game sizes that the tests choose.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use symbolon_circuit::builder::{Bit, Builder, ComponentBuilder, Subcircuit, Word};
use symbolon_circuit::{Circuit, PartyId, Receivers, Type, builtin, reference};
use symbolon_cutchoose::{Costs, Goal, Sizes};
use symbolon_engine::{
    Compiled, GateForm, InputBits, Link, Network, Options, OtExtension, OutputBits, Rho,
    SEGMENT_GATES,
};
use symbolon_transport::adversary::{Action, FnAdversary, Stage};
use symbolon_transport::{Channel, Meter, Result, memory_lanes};

use super::engine::set_up_with;
use super::forecast::{Forecast, Plans};
use super::options::DuploOptions;
use super::params::{Games, Sizing};
use super::program::{Program, Task};
use super::shelf::{IN_MEMORY, MEMORY, Room};
use super::windows::Windows;

/// The parameters of a run.
#[derive(Clone)]
pub(super) struct Scene {
    pub circuit: Circuit,
    pub small: Option<Small>,
    /// ρ of all checks that do not depend on the sizes of buckets.
    pub rho: u32,
    /// How many commitments may be made at a time, if fewer than usual.
    pub most: Option<usize>,
    pub executions: usize,
    /// The names of the components that are garbled.
    pub components: Vec<String>,
    /// The bits of each input, execution after execution.
    pub inputs: Vec<Vec<bool>>,
}

/// A circuit on the output of the one below. Its first input would be party 1's if it were not
/// linked.
pub(super) fn continuation() -> Circuit {
    let product = product();
    let mut b = Builder::new("continuation");
    let w = b.input("w", Type::Uint(9), 1);
    let x = b.input("x", Type::Uint(4), 0);
    let first = b.call_one(&product, &[&w[..4], &x]);
    let second = b.call_one(&product, &[&w[4..8], &first]);
    let sum = b.xor(&second, &w[5..]);
    b.output("v", &sum, Type::Uint(4), Receivers::All);
    b.finish().unwrap()
}

fn product() -> Subcircuit {
    let mut c = ComponentBuilder::new("product");
    let (x, y) = (c.input(4), c.input(4));
    let product = c.and(&x, &y);
    let turned = product.rotl(1);
    let more = c.and(&product, &turned);
    let sum = c.xor(&more, &x);
    c.output(&sum);
    c.finish().unwrap()
}

/// Two calls of a component with eight AND gates, with XOR, NOT and constants between them, and
/// outputs of all kinds: outputs of components, sums of them, inverted bits, constants and inputs.
pub(super) fn circuit(to: Receivers) -> Circuit {
    let product = product();
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

/// Lets one test at a time decide whether everything that waits goes to files, because the memory
/// for it is in use. Tests that run at the same time still compute the same.
pub(super) struct MemoryUse {
    _room: Option<Room>,
    _alone: MutexGuard<'static, ()>,
}

impl MemoryUse {
    /// Leaves the memory to what waits, and waits for other tests that do not.
    pub fn alone() -> MemoryUse {
        static ALONE: Mutex<()> = Mutex::new(());
        MemoryUse { _room: None, _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Uses all memory until this is dropped.
    pub fn fill(self) -> MemoryUse {
        let room = MEMORY.take(IN_MEMORY + 1, u64::MAX);
        assert!(room.is_some());
        MemoryUse { _room: room, ..self }
    }
}

/// Sizes too small to be safe, with which it can be measured how often a cheat is caught.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    /// For components: α, and the number of opened copies.
    pub components: [u64; 2],
    /// For authenticators: the same.
    pub authenticators: [u64; 2],
}

impl Small {
    /// Returns this as the sizing of games.
    pub fn sizing(self) -> &'static dyn Sizing {
        Box::leak(Box::new(self))
    }
}

impl Sizing for Small {
    /// The wires of the circuit above do not fill the last bundle.
    fn bundles(&self) -> &'static [usize] {
        &[4]
    }

    fn best(&self, goal: Goal, buckets: u64, _: (u32, u64), _: Costs) -> Result<Sizes> {
        let [bucket, opened] = match goal {
            Goal::OneGood => self.components,
            _ => self.authenticators,
        };
        Ok(Sizes { buckets, bucket, objects: bucket * buckets + opened })
    }

    fn with_bucket(&self, goal: Goal, buckets: u64, among: (u32, u64), _: u64) -> Result<Sizes> {
        self.best(goal, buckets, among, Costs::FEWEST_OBJECTS)
    }
}

impl Scene {
    /// The circuit above, on inputs derived from a seed.
    pub fn new(small: Option<Small>, executions: usize, seed: u64) -> Scene {
        let bits = |by: u64| {
            (0..4 * executions as u64).map(|i| (i + seed).wrapping_mul(by) >> 3 & 1 == 1).collect()
        };
        let circuit = circuit(Receivers::All);
        let inputs = vec![bits(0x9e37_79b9), bits(0x85eb_ca6b)];
        let components = vec!["product".to_string()];
        Scene { circuit, small, rho: 40, most: None, executions, components, inputs }
    }

    /// A circuit of the evaluator's input alone, without gates that are garbled.
    pub fn of_evaluator(input: u8) -> Scene {
        let mut b = Builder::new("only inputs");
        let y = b.input("y", Type::Uint(8), 1);
        let sum = b.xor(&y, &y.rotl(3));
        b.output("z", &sum, Type::Uint(8), Receivers::All);
        let circuit = b.finish().unwrap();
        let inputs = vec![(0..8).map(|bit| input >> bit & 1 == 1).collect()];
        Scene { circuit, inputs, components: Vec::new(), ..Scene::new(None, 1, 0) }
    }

    /// Returns the games of the run.
    pub fn games(&self) -> Games {
        let usual = Games::new(self.rho);
        let sizing = self.small.map_or(usual.sizing, Small::sizing);
        Games { sizing, most: self.most.unwrap_or(usual.most), ..usual }
    }

    /// Returns what `party` should learn.
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

    /// Returns the inputs that `party` owns.
    pub fn inputs_of(&self, party: PartyId) -> InputBits {
        let own = |(input, bits): (&symbolon_circuit::Input, &Vec<bool>)| {
            (input.owner == party).then(|| bits[..].into())
        };
        self.circuit.inputs().iter().zip(&self.inputs).map(own).collect()
    }

    /// Runs both parties, after `adversary` has tampered with their channels.
    pub fn run(&self, adversary: impl FnOnce(&mut [Channel; 2])) -> [Result<OutputBits>; 2] {
        self.run_counted([Meter::new(), Meter::new()], adversary)
    }

    /// Like [`run`](Scene::run), counted by these meters.
    fn run_counted(
        &self,
        meters: [Arc<Meter>; 2],
        adversary: impl FnOnce(&mut [Channel; 2]),
    ) -> [Result<OutputBits>; 2] {
        let compiled = &Compiled::new(&self.circuit);
        self.play(meters, adversary, |net| self.phases(net, compiled))
    }

    /// Runs `work` at both parties, after `adversary` has tampered with their channels.
    pub fn play<T: Send>(
        &self,
        [a, b]: [Arc<Meter>; 2],
        adversary: impl FnOnce(&mut [Channel; 2]),
        work: impl Fn(&mut Network) -> Result<T> + Sync,
    ) -> [Result<T>; 2] {
        self.play_on(Self::channels([a, b], adversary), &work)
    }

    /// Returns both ends of a connection, after `adversary` has tampered with them.
    fn channels(
        [a, b]: [Arc<Meter>; 2],
        adversary: impl FnOnce(&mut [Channel; 2]),
    ) -> [Channel; 2] {
        let (a, b) = memory_lanes((0, a), (1, b), 1, None).unwrap();
        let [a, b] = [a, b].map(|mut lanes| lanes.remove(0));
        let mut channels = [a, b];
        channels.iter_mut().for_each(|channel| channel.set_timeout(Duration::from_secs(20)));
        adversary(&mut channels);
        channels
    }

    /// The rest of [`play`](Scene::play): it is compiled once, not for each cheat.
    fn play_on<T: Send>(
        &self,
        channels: [Channel; 2],
        work: &(dyn Fn(&mut Network) -> Result<T> + Sync),
    ) -> [Result<T>; 2] {
        let stage = &Stage::new(channels.iter().filter(|channel| !channel.cheats()).count());
        std::thread::scope(|scope| {
            let parties = (0..).zip(channels).map(|(me, channel)| {
                scope.spawn(move || {
                    let cheats = channel.cheats();
                    stage.play(cheats, self.network(me.into(), channel), |net| {
                        let done = work(net);
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

    /// Runs the circuit with outputs that nobody learns, then another one twice on these outputs.
    pub fn run_parts(
        &self,
        adversary: impl FnOnce(&mut [Channel; 2]),
    ) -> [Result<[OutputBits; 2]>; 2] {
        let first = circuit(Receivers::Only(Vec::new()));
        let second = continuation();
        let compiled = [&first, &second].map(Compiled::new);
        let links = [Link { input: 0, part: 0, output: 0 }];
        self.play([Meter::new(), Meter::new()], adversary, |net| {
            let mut engine = set_up_with(net, self.games())?;
            let own = |owner: usize, bits: &Vec<bool>| {
                (usize::from(net.me) == owner).then(|| bits[..].into())
            };
            let [x, y] = [0, 1].map(|owner| own(owner, &self.inputs[owner]));
            let none = engine.evaluate_part(net, &compiled[0], &[], &vec![x.clone(), y])?;
            assert_eq!(none, [None]);
            let inputs = vec![None, x];
            let mut again = || engine.evaluate_part(net, &compiled[1], &links, &inputs);
            Ok([again()?, again()?])
        })
    }

    /// Returns what both parties should learn in the later parts.
    pub fn expected_of_parts(&self) -> OutputBits {
        let middle = reference::eval(&self.circuit, &self.inputs.concat());
        let inputs = [middle, self.inputs[0].clone()].concat();
        vec![Some(reference::eval(&continuation(), &inputs).into())]
    }

    /// Returns how far each of two clocks went in each phase of party 1.
    pub fn run_timed(&self, clocks: impl Fn() -> [u64; 2] + Sync) -> Vec<[u64; 2]> {
        let compiled = &Compiled::new(&self.circuit);
        let times = std::sync::Mutex::new(Vec::new());
        let ended = self.play(
            [Meter::new(), Meter::new()],
            |_| (),
            |net| {
                let note = || times.lock().unwrap().push(clocks());
                let mine = net.me == 1;
                if mine {
                    note();
                }
                let mut engine = set_up_with(net, self.games())?;
                if mine {
                    note();
                }
                let material = engine.preprocess_for(net, compiled)?;
                if mine {
                    note();
                }
                let ready = material.prepare(net, compiled)?;
                if mine {
                    note();
                }
                let inputs = self.inputs_of(net.me);
                let outputs = ready.evaluate(net, compiled, &inputs)?;
                if mine {
                    note();
                }
                Ok(outputs)
            },
        );
        ended.into_iter().for_each(|ended| drop(ended.unwrap()));
        let times = times.into_inner().unwrap();
        times.windows(2).map(|pair| [0, 1].map(|clock| pair[1][clock] - pair[0][clock])).collect()
    }

    fn network(&self, me: PartyId, channel: Channel) -> Network {
        let meter = channel.meter().clone();
        let (rho, ot, form) = (Rho::Bits40, OtExtension::default(), GateForm::HalfGates);
        let (lanes, session) = (vec![vec![channel]], [7; 32]);
        let (executions, segment_gates, options) = (self.executions, SEGMENT_GATES, self.options());
        Network { me, lanes, meter, session, rho, ot, form, executions, segment_gates, options }
    }

    /// Returns the options of a session.
    pub fn options(&self) -> Options {
        DuploOptions { components: self.components.clone() }.into()
    }

    pub fn phases(&self, net: &mut Network, compiled: &Compiled) -> Result<OutputBits> {
        net.meter.set_phase("set-up");
        let mut engine = set_up_with(net, self.games())?;
        net.meter.set_phase("components");
        let material = engine.preprocess_for(net, compiled)?;
        net.meter.set_phase("solderings");
        let ready = material.prepare(net, compiled)?;
        let inputs = self.inputs_of(net.me);
        net.meter.set_phase("online");
        ready.evaluate(net, compiled, &inputs)
    }
}

/// Changes the table of one copy, and does so again when the copy is garbled again.
pub(super) fn table_of(copy: usize, change: impl Fn(&mut [u8]) + Send + 'static) -> FnAdversary {
    let (mut times, mut honest) = (0, None);
    FnAdversary::new().on_state(move |at, data| {
        if at == "duplo: table" {
            if times == copy {
                honest = Some(data.to_vec());
            }
            if honest.as_deref() == Some(&*data) {
                change(data);
            }
            times += 1;
        }
    })
}

/// Sizes with which runs are cheap.
pub(super) const TINY: Small = Small { components: [2, 2], authenticators: [3, 3] };

#[test]
fn several_executions_are_run_together() {
    for (small, executions) in [(Some(TINY), 1), (Some(TINY), 5), (None, 3)] {
        for seed in 0..4 {
            let scene = Scene::new(small, executions, seed);
            let ended = scene.run(|_| ());
            for (party, ended) in (0..).zip(ended) {
                assert_eq!(
                    ended.unwrap(),
                    scene.expected(party.into()),
                    "party {party}, seed {seed}"
                );
            }
        }
    }
}

/// The evaluator has more inputs than a draw has transfers.
#[test]
fn transfers_take_as_many_draws_as_they_need() {
    let executions = symbolon_ot::cot::MAX_DRAW / 4 + 1;
    let scene = Scene::new(Some(TINY), executions, 3);
    for (party, ended) in (0..).zip(scene.run(|_| ())) {
        assert_eq!(ended.unwrap(), scene.expected(party.into()), "party {party}");
    }
}

#[test]
fn parts_go_on_with_outputs_that_nobody_learnt() {
    for (small, seed) in [(Some(TINY), 0), (Some(TINY), 1), (Some(TINY), 2), (None, 3)] {
        let scene = Scene::new(small, 1, seed);
        for ended in scene.run_parts(|_| ()) {
            let expected = scene.expected_of_parts();
            assert_eq!(ended.unwrap(), [expected.clone(), expected], "seed {seed}");
        }
    }
}

/// Several cut-and-chooses run one after another, each for some of what is prepared together. The
/// slots of the first two preparations wait in memory, those of the others in one file. They are
/// evaluated in the opposite order.
#[test]
fn windows_are_prepared_one_after_the_other() {
    let _use = MemoryUse::alone();
    for (small, most) in [(Some(TINY), 400), (Some(TINY), 150), (Some(TINY), 1), (None, 2500)] {
        let scene = Scene { most: Some(most), ..Scene::new(small, 1, 3) };
        let compiled = &Compiled::new(&scene.circuit);
        let task = Task {
            executions: 1,
            preparations: 5,
            games: scene.games(),
            components: &scene.components,
            linked: &[],
        };
        let program = Program::new(&scene.circuit, task).unwrap();
        let windows = Windows::of_program(&program, scene.games()).unwrap();
        assert!(windows.number() > 1, "{most}");
        let ended = scene.play(
            [Meter::new(), Meter::new()],
            |_| (),
            |net| {
                let evaluates = usize::from(net.me) == 1;
                let (mut engine, mut all) = (set_up_with(net, scene.games())?, Vec::new());
                let mut full = None;
                engine.prepare_each(net, compiled, 5, &mut |_, prepared| {
                    all.push(prepared);
                    if evaluates && all.len() == 2 {
                        full = MEMORY.take(IN_MEMORY + 1, u64::MAX);
                    }
                    Ok(())
                })?;
                assert_eq!(full.is_some(), evaluates);
                drop(full);
                let inputs = scene.inputs_of(net.me);
                all.into_iter().rev().map(|one| one.evaluate(net, compiled, &inputs)).collect()
            },
        );
        for (party, ended) in (0..).zip(ended) {
            let ended: Vec<OutputBits> = ended.unwrap();
            assert_eq!(ended, vec![scene.expected(party.into()); 5], "party {party}");
        }
    }
}

/// The garbler may take longer than the time-out to garble all copies.
#[test]
fn a_slow_garbler_is_waited_for() {
    let circuit = builtin::by_name("sha256").unwrap();
    let inputs = circuit.inputs().iter().map(|input| vec![true; input.ty.width() as usize * 16]);
    let inputs = inputs.collect();
    let scene = Scene { circuit, inputs, components: Vec::new(), ..Scene::new(None, 16, 0) };
    let ended = scene.run(|[garbler, evaluator]| {
        evaluator.set_timeout(Duration::from_secs(6));
        let slow = FnAdversary::new().listening().on_message("duplo: output keys", 0, |_| {
            std::thread::sleep(Duration::from_millis(6500));
            Action::Send
        });
        garbler.set_adversary(Box::new(slow));
    });
    for (party, ended) in (0..).zip(ended) {
        assert_eq!(ended.unwrap(), scene.expected(party.into()), "party {party}");
    }
}

/// The test circuit has the components on which the tests of cheats rely.
#[test]
fn the_test_circuit_has_one_kind_in_two_slots() {
    let games = Games { sizing: TINY.sizing(), ..Games::new(40) };
    let components = &["product".to_string()];
    let task = Task { executions: 1, preparations: 1, games, components, linked: &[] };
    let program = Program::new(&circuit(Receivers::All), task).unwrap();
    assert_eq!(program.graph.counts(), [2]);
    assert_eq!(program.graph.kinds[0].outputs(), 4);
    assert_eq!(program.out_gates.len(), 2);
}

#[test]
fn bytes_are_as_documented() {
    for (name, executions) in [("aes128", 1), ("aes128", 4), ("cbcmac:8", 1), ("sort:8x8", 1)] {
        let circuit = builtin::by_name(name).unwrap();
        let inputs = circuit.inputs().iter();
        let inputs =
            inputs.map(|input| vec![true; input.ty.width() as usize * executions]).collect();
        let usual = Scene::new(None, executions, 0);
        let scene = Scene { circuit, components: Vec::new(), inputs, ..usual };
        let meters = [Meter::new(), Meter::new()];
        for ended in scene.run_counted(meters.clone(), |_| ()) {
            ended.unwrap();
        }
        let plans = Plans { executions, ..Plans::default() };
        let Forecast { made, connected, online, .. } =
            Forecast::new(&scene.circuit, plans).unwrap();
        for (party, meter) in meters.iter().enumerate() {
            let report = meter.report();
            let phases = [("components", made), ("solderings", connected), ("online", online)];
            for (phase, predicted) in phases {
                let predicted = [predicted.garbler, predicted.evaluator][party];
                let report = report.iter().find(|report| report.phase == phase);
                let sent = report.map_or(0, |report| report.bytes_sent);
                // Headers of messages, proofs and coins.
                assert!(sent >= predicted, "{name}: {phase}: {sent}, {predicted}");
                let most = predicted + predicted / 20 + 500;
                assert!(sent <= most, "{name}: {phase}: {sent}, {predicted}");
            }
        }
    }
}
