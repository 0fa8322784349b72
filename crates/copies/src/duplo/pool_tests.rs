//! Pools of components: a pool that is filled in one session serves programs in others, each from
//! its own part. Also, the cheating peer in both.

use std::io::{Cursor, Read};
use std::ops::Range;

use symbolon_circuit::builder::{Builder, ComponentBuilder};
use symbolon_circuit::{Circuit, Receivers, Type, builtin, reference};
use symbolon_cutchoose::checks::OPENING;
use symbolon_engine::{
    Compiled, ComponentPlan, Components, InputBits, Network, OutputBits, PoolSink, PoolSource,
    RunTerms,
};
use symbolon_transport::adversary::{CheckName, FnAdversary, assert_noticed};
use symbolon_transport::{Channel, Error, Meter, PartyId, Result};

use super::engine::set_up_with;
use super::forecast::{Forecast, Made, Plans};
use super::options::DuploOptions;
use super::pool::Plan;
use super::program::{EVALUATOR, GARBLER, Program, Task};
use super::tests::{MemoryUse, Scene, TINY, circuit, continuation, table_of};
use super::windows::Windows;
use super::{SPEC, checks};

/// A party's pool.
#[derive(Clone, Default)]
pub(super) struct Pool(Vec<Vec<u8>>);

impl PoolSink for Pool {
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()> {
        self.0.resize(self.0.len().max(section + 1), Vec::new());
        self.0[section].extend_from_slice(bytes);
        Ok(())
    }
}

impl PoolSource for Pool {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        let all = self.0.get(section).map_or(&[][..], |bytes| bytes);
        let at = |place: u64| (place as usize).min(all.len());
        Ok(Box::new(Cursor::new(all[at(bytes.start)..at(bytes.end)].to_vec())))
    }
}

/// The pools of both parties, and their kinds.
struct Filled {
    pools: [Pool; 2],
    kinds: Vec<[u8; 32]>,
}

const NOBODY: fn(&mut [Channel; 2]) = |_| ();

pub(super) fn cheats(cheater: PartyId, adversary: FnAdversary) -> impl FnOnce(&mut [Channel; 2]) {
    move |channels| channels[usize::from(cheater)].set_adversary(Box::new(adversary))
}

/// Changes the cheater's state at a point, the `index`-th time that it gets there.
fn state(point: &'static str, index: usize, place: usize) -> FnAdversary {
    let mut times = 0;
    FnAdversary::new().on_state(move |at, data| {
        if at == point {
            if times == index {
                data[place] ^= 2;
            }
            times += 1;
        }
    })
}

/// Returns what `runs` runs of the scene take.
pub(super) fn components(scene: &Scene, runs: u64) -> Components {
    let task = Task {
        executions: scene.executions,
        preparations: runs as usize,
        games: scene.games(),
        components: &scene.components,
        linked: &[],
    };
    super::stock::needed(&Program::new(&scene.circuit, task).unwrap(), runs).unwrap()
}

/// Fills pools for `runs` runs.
pub(super) fn fill(
    scene: &Scene,
    runs: u64,
    adversary: impl FnOnce(&mut [Channel; 2]),
) -> [Result<Pool>; 2] {
    let components = components(scene, runs);
    scene.play([Meter::new(), Meter::new()], adversary, |net| {
        let mut pool = Pool::default();
        set_up_with(net, scene.games())?.fill_components(net, &components, &mut pool)?;
        net.peers()[0].flush()?;
        let sections = super::pool::sections(&components, net.me, scene.games())?;
        let counts = components.counts();
        for (section, bytes) in sections.iter().zip(&pool.0).skip(1) {
            let counter = section.counter.unwrap();
            assert_eq!(bytes.len() as u64, counts[counter] * section.bytes, "count {counter}");
        }
        Ok(pool)
    })
}

fn filled(scene: &Scene, runs: u64) -> Filled {
    let kinds = components(scene, runs).kinds().map(|(kind, _)| kind).collect();
    Filled { pools: fill(scene, runs, NOBODY).map(Result::unwrap), kinds }
}

fn inputs_of(circuit: &Circuit, me: PartyId, all: &[Vec<bool>]) -> InputBits {
    let inputs = circuit.inputs().iter().zip(all);
    inputs.map(|(input, bits)| (input.owner == me).then(|| bits[..].into())).collect()
}

impl Filled {
    /// Returns what `plan` takes from a pool if it begins at `from`.
    fn range(plan: &Plan, from: &[u64]) -> Vec<Range<u64>> {
        from.iter().zip(plan.takes()).map(|(from, take)| *from..from + take).collect()
    }

    /// Prepares a circuit from the part that starts at `from` at each party, saves it, and runs it
    /// in a session of its own.
    fn run(
        &self,
        (scene, circuit): (&Scene, &Circuit),
        from: [&[u64]; 2],
        adversary: impl FnOnce(&mut [Channel; 2]),
        all: &[Vec<bool>],
    ) -> [Result<OutputBits>; 2] {
        let compiled = &Compiled::new(circuit);
        let meters = || [Meter::new(), Meter::new()];
        let ready = scene.play(meters(), adversary, |net: &mut Network| {
            let plan = Plan::of(compiled, RunTerms::of(net), &self.kinds)?;
            let me = usize::from(net.me);
            let range = Filled::range(&plan, from[me]);
            let mut pool = self.pools[me].clone();
            let prepared = SPEC.prepare_components(net, &plan, &range, &mut pool)?;
            let mut bytes = Vec::new();
            SPEC.save_prepared(net, compiled, prepared, &mut bytes)?;
            net.peers()[0].flush()?;
            Ok(bytes)
        });
        let ready = match ready {
            [Ok(a), Ok(b)] => [a, b],
            failed => return failed.map(|ended| ended.map(|_| Vec::new())),
        };
        scene.play(meters(), NOBODY, |net| {
            let mut bytes = &ready[usize::from(net.me)][..];
            let prepared = SPEC.load_prepared(net, compiled, &mut bytes)?;
            prepared.evaluate(net, compiled, &inputs_of(circuit, net.me, all))
        })
    }
}

/// Two programs take their parts from one pool, in turn.
#[test]
fn a_pool_serves_programs_one_after_the_other() {
    for (small, executions, most) in [
        (Some(TINY), 1, None),
        (Some(TINY), 3, None),
        (None, 1, None),
        // In several windows, whose boundaries are not those of programs.
        (Some(TINY), 1, Some(500)),
        (Some(TINY), 1, Some(1)),
        (None, 1, Some(4000)),
    ] {
        let mut scene = Scene { most, ..Scene::new(small, executions, 0) };
        let filled = filled(&scene, 8);
        let mut from = vec![0; 4];
        for seed in 0..4 {
            let next = Scene::new(small, executions, seed);
            let (of, expected) = if seed % 2 == 0 {
                scene.inputs = next.inputs.clone();
                (scene.circuit.clone(), [0, 1].map(|party| next.expected(party.into())))
            } else {
                // It takes more inputs than the circuit that the pool was filled for.
                let other = continuation();
                let bits =
                    |n: usize| (0..n * executions).map(|i| (i as u64).is_multiple_of(seed + 1));
                scene.inputs = vec![bits(9).collect(), bits(4).collect()];
                let one = |number: usize| {
                    let part = |n: usize, input: usize| &scene.inputs[input][number * n..][..n];
                    reference::eval(&other, &[part(9, 0), part(4, 1)].concat())
                };
                let all: Vec<bool> = (0..executions).flat_map(one).collect();
                (other, [0, 1].map(|_| vec![Some(all[..].into())]))
            };
            let ended = filled.run((&scene, &of), [&from, &from], NOBODY, &scene.inputs);
            assert_eq!(ended.map(Result::unwrap), expected, "seed {seed}");
            let compiled = Compiled::new(&of);
            let options = &scene.options();
            let terms = RunTerms { executions, options, ..RunTerms::default() };
            let plan = SPEC.component_plan(&compiled, terms, &filled.kinds).unwrap();
            from.iter_mut().zip(plan.takes()).for_each(|(from, take)| *from += take);
        }
    }
}

/// The evaluator's slots wait in a file: those just made, those read from a store, and those taken
/// from a pool.
#[test]
fn slots_that_wait_in_a_file_are_evaluated() {
    let _use = MemoryUse::alone().fill();
    for (small, executions) in [(Some(TINY), 1), (Some(TINY), 3), (None, 1)] {
        let scene = Scene::new(small, executions, 5);
        for (party, ended) in (0..).zip(scene.run(NOBODY)) {
            assert_eq!(ended.unwrap(), scene.expected(party.into()), "party {party}");
        }
        let filled = filled(&scene, 2);
        let mut from = vec![0; 4];
        for _ in 0..2 {
            let ended = filled.run((&scene, &scene.circuit), [&from, &from], NOBODY, &scene.inputs);
            for (party, ended) in (0..).zip(ended) {
                assert_eq!(ended.unwrap(), scene.expected(party.into()), "party {party}");
            }
            let takes = components(&scene, 1).counts();
            from.iter_mut().zip(takes).for_each(|(from, take)| *from += take);
        }
    }
    for ended in Scene::new(Some(TINY), 1, 2).run_parts(NOBODY) {
        let expected = Scene::new(Some(TINY), 1, 2).expected_of_parts();
        assert_eq!(ended.unwrap(), [expected.clone(), expected]);
    }
}

/// A program that is too large for one cut-and-choose is made in windows of its components: once in
/// memory, and once with everything that waits in files.
#[test]
fn a_large_program_is_made_in_windows() {
    let mut memory = MemoryUse::alone();
    for file in [false, true] {
        if file {
            memory = memory.fill();
        }
        for (small, executions, most) in
            [(Some(TINY), 1, 1), (Some(TINY), 4, 150), (None, 1, 1000), (None, 3, 2500)]
        {
            let scene = Scene { most: Some(most), ..Scene::new(small, executions, 7) };
            let task = Task {
                executions,
                preparations: 1,
                games: scene.games(),
                components: &scene.components,
                linked: &[],
            };
            let program = Program::new(&scene.circuit, task).unwrap();
            let windows = Windows::of_program(&program, scene.games()).unwrap();
            assert!(windows.as_pool(&program, &scene.components).unwrap().is_some());
            for (party, ended) in (0..).zip(scene.run(NOBODY)) {
                assert_eq!(ended.unwrap(), scene.expected(party.into()), "party {party}");
            }
        }
        // Two preparations, which are saved and run later.
        let scene = Scene { most: Some(1), ..Scene::new(Some(TINY), 1, 2) };
        let compiled = Compiled::new(&scene.circuit);
        let saved = scene.play([Meter::new(), Meter::new()], NOBODY, |net| {
            let (mut engine, mut saved) = (set_up_with(net, scene.games())?, Vec::new());
            engine.prepare_each(net, &compiled, 2, &mut |net, prepared| {
                let mut bytes = Vec::new();
                SPEC.save_prepared(net, &compiled, prepared, &mut bytes)?;
                saved.push(bytes);
                Ok(())
            })?;
            net.peers()[0].flush()?;
            Ok(saved)
        });
        let saved = saved.map(Result::unwrap);
        for number in [1, 0] {
            let ended = scene.play([Meter::new(), Meter::new()], NOBODY, |net| {
                let mut bytes = &saved[usize::from(net.me)][number][..];
                let prepared = SPEC.load_prepared(net, &compiled, &mut bytes)?;
                prepared.evaluate(net, &compiled, &scene.inputs_of(net.me))
            });
            for (party, ended) in (0..).zip(ended) {
                assert_eq!(ended.unwrap(), scene.expected(party.into()), "party {party}");
            }
        }
    }
    drop(memory);
}

#[test]
fn bytes_of_pools_are_as_documented() {
    bytes_of_a_pool(Scene::new(None, 1, 0), 1);
    bytes_of_a_pool(Scene { most: Some(8000), ..Scene::new(None, 1, 0) }, 2);
}

fn bytes_of_a_pool(scene: Scene, windows: usize) {
    let (components, circuit) = (components(&scene, 16), Compiled::new(&scene.circuit));
    let kinds: Vec<_> = components.kinds().map(|(kind, _)| kind).collect();
    let meters = [Meter::new(), Meter::new()];
    let ended = scene.play(meters.clone(), NOBODY, |net| {
        let (mut engine, mut pool) = (set_up_with(net, scene.games())?, Pool::default());
        net.meter.set_phase("filling");
        engine.fill_components(net, &components, &mut pool)?;
        net.peers()[0].flush()?;
        net.meter.set_phase("connecting");
        let plan = Plan::of(&circuit, RunTerms::of(net), &kinds)?;
        let range = Filled::range(&plan, &vec![0; plan.takes().len()]);
        SPEC.prepare_components(net, &plan, &range, &mut pool)?;
        net.peers()[0].flush()
    });
    ended.into_iter().for_each(|ended| ended.unwrap());
    let plans = Plans { components: &scene.components, ..Plans::default() };
    let connected = Forecast::new(&scene.circuit, plans).unwrap().connected;
    let (mut made, windows_of_pool) =
        (Made::default(), Windows::of_pool(&components, scene.games()).unwrap());
    made.add_pool(&components, &windows_of_pool).unwrap();
    let (filling, number) = (made.bytes, windows_of_pool.number());
    assert!(number >= windows, "{number}");
    for (party, meter) in meters.iter().enumerate() {
        for (phase, predicted) in [("filling", filling), ("connecting", connected)] {
            let predicted = [predicted.garbler, predicted.evaluator][party];
            let report = meter.report().into_iter().find(|report| report.phase == phase);
            let sent = report.unwrap().bytes_sent;
            // Headers of messages, proofs and coins.
            let most = predicted + predicted / 20 + 500 * number as u64;
            assert!((predicted..=most).contains(&sent), "{phase}: {sent}, {predicted}");
        }
    }
}

/// Two components that compute the same, gate for gate.
#[test]
fn components_that_are_the_same_under_two_names_are_one_kind() {
    let product = |name: &str| {
        let mut c = ComponentBuilder::new(name);
        let (x, y) = (c.input(4), c.input(4));
        let product = c.and(&x, &y);
        c.output(&product);
        c.finish().unwrap()
    };
    let mut b = Builder::new("twins");
    let x = b.input("x", Type::Uint(4), 0);
    let y = b.input("y", Type::Uint(4), 1);
    let one = b.call_one(&product("one"), &[&x, &y]);
    let turned = b.xor(&one, &y);
    let two = b.call_one(&product("two"), &[&turned, &x]);
    b.output("z", &two, Type::Uint(4), Receivers::All);
    let circuit = b.finish().unwrap();
    let components_of = ["one", "two"].map(String::from).to_vec();
    let base = Scene::new(Some(TINY), 1, 1);
    let scene = Scene { circuit, components: components_of, ..base };
    assert_eq!(components(&scene, 1).counts()[3..], [2]);
    let filled = filled(&scene, 1);
    let from = &[0; 4][..];
    let ended = filled.run((&scene, &scene.circuit), [from, from], NOBODY, &scene.inputs);
    for (party, outputs) in (0..).zip(ended) {
        assert_eq!(outputs.unwrap(), scene.expected(party.into()), "party {party}");
    }
}

/// The function-independent phase in memory, as in a session that splits its phases.
#[test]
fn components_are_made_before_the_circuit_is_known() {
    for small in [Some(TINY), None] {
        let scene = Scene::new(small, 2, 3);
        let (components, compiled) = (components(&scene, 1), Compiled::new(&scene.circuit));
        let ended = scene.play([Meter::new(), Meter::new()], NOBODY, |net| {
            let mut engine = set_up_with(net, scene.games())?;
            let material = engine.preprocess_components(net, &components)?;
            let ready = material.prepare(net, &compiled)?;
            ready.evaluate(net, &compiled, &inputs_of(&scene.circuit, net.me, &scene.inputs))
        });
        for (party, outputs) in (0..).zip(ended) {
            assert_eq!(outputs.unwrap(), scene.expected(party.into()), "party {party}");
        }
    }
}

/// A circuit without AND gates has no components, only inputs, masks and sums.
#[test]
fn a_circuit_without_and_gates_is_made_ahead_of_its_connection() {
    let mut b = Builder::new("sum");
    let x = b.input("x", Type::Uint(4), 0);
    let y = b.input("y", Type::Uint(4), 1);
    let sum = b.xor(&x, &y);
    b.output("z", &sum, Type::Uint(4), Receivers::All);
    let circuit = b.finish().unwrap();
    for small in [Some(TINY), None] {
        let base = Scene::new(small, 1, 3);
        let scene = Scene { circuit: circuit.clone(), components: Vec::new(), ..base };
        let (components, compiled) = (components(&scene, 1), Compiled::new(&circuit));
        assert_eq!(components.kinds().count(), 0);
        let ended = scene.play([Meter::new(), Meter::new()], NOBODY, |net| {
            let mut engine = set_up_with(net, scene.games())?;
            let ready = engine.preprocess_components(net, &components)?.prepare(net, &compiled)?;
            ready.evaluate(net, &compiled, &scene.inputs_of(net.me))
        });
        for (party, outputs) in (0..).zip(ended) {
            assert_eq!(outputs.unwrap(), scene.expected(party.into()), "party {party}");
        }
    }
}

#[test]
fn components_that_are_not_in_the_pool_are_named() {
    let scene = Scene::new(Some(TINY), 1, 0);
    let kinds: Vec<[u8; 32]> = components(&scene, 1).kinds().map(|(kind, _)| kind).collect();
    let plan = |circuit: &Circuit, names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let options = &DuploOptions { components: names }.into();
        let terms = RunTerms { options, ..RunTerms::default() };
        SPEC.component_plan(&Compiled::new(circuit), terms, &kinds).map(drop)
    };
    assert_eq!(plan(&circuit(Receivers::All), &[]), Ok(()));
    assert_eq!(plan(&circuit(Receivers::All), &["product"]), Ok(()));
    for (name, says) in [("cbcmac:2", "`aes"), ("add:8", "`add")] {
        let other = builtin::by_name(name).unwrap();
        let Err(Error::InvalidInput(text)) = plan(&other, &[]) else { panic!("{name} is refused") };
        assert!(text.contains("the pool has no components") && text.contains(says), "{text}");
    }
}

/// Asserts that the evaluator fails at this check if the garbler cheats while pools are filled.
#[track_caller]
fn assert_caught_filling(check: impl CheckName, adversary: impl Fn() -> FnAdversary) {
    for seed in 0..3 {
        let scene = Scene::new(Some(TINY), 1, seed);
        let ended = fill(&scene, 2, cheats(GARBLER, adversary()));
        assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, check);
    }
}

/// Cheat: G | filling a pool | a wrong soldering inside of a bucket | `commitment opening` | always
#[test]
fn a_wrong_soldering_inside_of_a_bucket_is_caught_when_the_pool_is_filled() {
    assert_caught_filling(OPENING, || state("duplo: component soldering", 1, 16));
    assert_caught_filling(OPENING, || state("duplo: authenticator soldering", 0, 16));
}

/// Cheat: G | filling a pool | another table than its digest | `component table` | always
#[test]
fn another_table_than_was_fixed_is_caught_when_the_pool_is_filled() {
    let message = || {
        FnAdversary::new().on_message("duplo: table", 0, |payload| {
            payload[3] ^= 1;
            symbolon_transport::adversary::Action::Send
        })
    };
    assert_caught_filling(checks::TABLE_DIGEST, message);
}

/// Cheat: G | filling a pool | another opened key or Δ | `opened component`, `opened authenticator`
/// | always
#[test]
fn other_openings_are_caught_when_the_pool_is_filled() {
    let flipped = |kind: &'static str| {
        FnAdversary::new().on_message(kind, 0, |payload| {
            payload[1] ^= 1;
            symbolon_transport::adversary::Action::Send
        })
    };
    assert_caught_filling(checks::OPENED_COMPONENT, || flipped("duplo: opened component"));
    assert_caught_filling(checks::OPENED_AUTHENTICATOR, || flipped("duplo: opened authenticators"));
    assert_caught_filling(OPENING, || flipped("commitments: proof"));
}

/// A garbler solders a program to the wrong wires.
/// Cheat: G | AssembleSubs, from a pool | a wrong soldering | `commitment opening` | always
#[test]
fn a_wrong_soldering_to_a_program_is_caught() {
    let scene = Scene::new(Some(TINY), 1, 1);
    let filled = filled(&scene, 2);
    let adversary = cheats(GARBLER, state("duplo: soldering", 0, 0));
    let from = &[0; 4][..];
    let ended = filled.run((&scene, &scene.circuit), [from, from], adversary, &scene.inputs);
    assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, OPENING);
}

/// A garbler takes other buckets, wires, transfers or masks of the pool than were agreed on.
/// Cheat: G | AssembleSubs, from a pool | another bucket, wire, transfer or mask than was agreed on
/// | `commitment opening` | always
#[test]
fn other_parts_of_the_pool_than_were_agreed_on_are_caught() {
    let scene = Scene::new(Some(TINY), 1, 2);
    let filled = filled(&scene, 3);
    let agreed = &[0; 4][..];
    for count in 0..4 {
        let mut other = [0; 4];
        other[count] = 2;
        let from = [&other[..], agreed];
        let ended = filled.run((&scene, &scene.circuit), from, NOBODY, &scene.inputs);
        assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, OPENING);
    }
}

/// Material of two pools does not fit together: each has its own Δ and its own key of commitments.
/// Cheat: G | AssembleSubs, from a pool | components of another pool | `commitment opening` |
/// always
#[test]
fn parts_of_another_pool_are_caught() {
    let scene = Scene::new(Some(TINY), 1, 2);
    let (mut one, two) = (filled(&scene, 1), filled(&scene, 1));
    let [garbler, _] = two.pools;
    one.pools[usize::from(GARBLER)] = garbler;
    let from = &[0; 4][..];
    let ended = one.run((&scene, &scene.circuit), [from, from], NOBODY, &scene.inputs);
    assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, OPENING);
}

/// Bad copies in buckets of a pool: where they are not opened, the good ones and the recovery make
/// up for them, and the garbler sees no difference.
/// Cheat: G | GenSub, for a pool | a wrong row in a copy | `opened component` if it is opened;
/// otherwise the outputs are right | always
#[test]
fn bad_copies_in_a_pool_are_opened_or_make_no_difference() {
    let (mut caught, mut survived) = (0, 0);
    // About a quarter of the copies are opened: 200 tries see both.
    for seed in 0..200 {
        if seed >= 12 && caught > 0 && survived > 0 {
            break;
        }
        let scene = Scene::new(Some(TINY), 1, seed);
        let wrong_row = table_of(seed as usize % 6, |table| table[5] ^= 2);
        let adversary = cheats(GARBLER, wrong_row);
        let [garbler, evaluator] = fill(&scene, 1, adversary);
        let Ok(own) = evaluator else {
            assert_noticed(&evaluator, GARBLER, checks::OPENED_COMPONENT);
            caught += 1;
            continue;
        };
        let kinds = components(&scene, 1).kinds().map(|(kind, _)| kind).collect();
        let filled = Filled { pools: [garbler.unwrap(), own], kinds };
        let from = &[0; 4][..];
        let ended = filled.run((&scene, &scene.circuit), [from, from], NOBODY, &scene.inputs);
        for (party, outputs) in (0..).zip(ended) {
            assert_eq!(outputs.unwrap(), scene.expected(party.into()), "party {party}");
        }
        survived += 1;
    }
    assert!(caught > 0 && survived > 0, "{caught} caught, {survived} not opened");
}

/// A program prepared from a pool names the kinds and their bucket sizes; others are reported as
/// damage.
#[test]
fn what_is_said_of_the_pool_is_checked_when_it_is_loaded() {
    let scene = Scene::new(Some(TINY), 1, 2);
    let filled = filled(&scene, 1);
    let compiled = &Compiled::new(&scene.circuit);
    let meters = [Meter::new(), Meter::new()];
    let ended = scene.play(meters, NOBODY, |net| {
        let plan = Plan::of(compiled, RunTerms::of(net), &filled.kinds)?;
        let range = Filled::range(&plan, &[0; 4]);
        let mut pool = filled.pools[usize::from(net.me)].clone();
        let prepared = SPEC.prepare_components(net, &plan, &range, &mut pool)?;
        let mut saved = Vec::new();
        SPEC.save_prepared(net, compiled, prepared, &mut saved)?;
        net.peers()[0].flush()?;
        let kind = filled.kinds[0];
        let place = saved.windows(32).position(|bytes| *bytes == kind).unwrap();
        let load = |bytes: &[u8]| {
            let mut bytes = bytes;
            SPEC.load_prepared(net, compiled, &mut bytes).map(drop)
        };
        assert_eq!(load(&saved), Ok(()));
        // The number of kinds, the kind itself, and impossible bucket sizes.
        let other = [(place - 8, 0), (place - 8, 2), (place - 1, 9), (place, !kind[0])];
        let sizes = [(place + 32, 0), (place + 39, 9), (place + 40, 0), (place + 47, 9)];
        for (at, value) in other.into_iter().chain(sizes) {
            let mut damaged = saved.clone();
            damaged[at] = value;
            assert!(matches!(load(&damaged), Err(Error::Store(_))), "byte {at}");
        }
        Ok(())
    });
    ended.into_iter().for_each(|ended| ended.unwrap());
}

/// Pools that were cut off, or are longer than records are.
#[test]
fn damaged_pools_are_refused() {
    let scene = Scene::new(Some(TINY), 1, 2);
    let filled = filled(&scene, 1);
    let from = &[0; 4][..];
    for section in 0..filled.pools[0].0.len() {
        let mut damaged = Filled { pools: filled.pools.clone(), kinds: filled.kinds.clone() };
        for pool in &mut damaged.pools {
            pool.0[section].pop().expect("no section is empty");
        }
        let ended = damaged.run((&scene, &scene.circuit), [from, from], NOBODY, &scene.inputs);
        for ended in ended {
            assert!(matches!(ended, Err(Error::Store(_))), "section {section}: {ended:?}");
        }
    }
}

/// Cheats in a later window of a pool are caught like those in the first.
/// Cheat: G | filling a pool, second window | a wrong soldering, another table | `commitment
/// opening`, `component table` | always
#[test]
fn cheats_in_a_later_window_of_a_pool_are_caught() {
    for seed in 0..3 {
        let scene = Scene { most: Some(1), ..Scene::new(Some(TINY), 1, seed) };
        let windows = Windows::of_pool(&components(&scene, 2), scene.games()).unwrap();
        assert!(windows.number() > 1);
        // Of the first window there are two copies in one bucket, and one message of solderings.
        let soldering = state("duplo: component soldering", 3, 16);
        let ended = fill(&scene, 2, cheats(GARBLER, soldering));
        assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, OPENING);
        let table = FnAdversary::new().on_message("duplo: table", 2, |payload| {
            payload[3] ^= 1;
            symbolon_transport::adversary::Action::Send
        });
        let ended = fill(&scene, 2, cheats(GARBLER, table));
        assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, checks::TABLE_DIGEST);
    }
}
