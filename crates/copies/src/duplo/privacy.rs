//! What a cheater sees of an honest party does not depend on that party's input, whether or not the
//! cheat is noticed, and whether or not the evaluator recovers. The comparison is that of
//! `tests/privacy`; here the sizes of buckets are chosen, so that bad copies stay.
//!
//! The output is 0 for both inputs that are compared, so what the cheater's own program learns is
//! compared, too: it knows the keys that it made, which the messages alone do not show.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use symbolon_circuit::builder::{Builder, ComponentBuilder};
use symbolon_circuit::components::Kind;
use symbolon_circuit::{Circuit, Receivers, Type};
use symbolon_engine::{Compiled, Network, Prepared, codec::Reader};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::{Channel, Meter, PartyId};

use super::load;
use super::online::{EvaluatorReady, GarblerReady};
use super::preprocess::{self, Window};
use super::program::{EVALUATOR, GARBLER, Origin, Program, Task};
use super::state::{Duplo, Evaluator, Garbler, Role};
use super::tests::{Scene, Small};
use super::windows::Windows;
use crate::compare::{Seen, compare};
use crate::record::Record;

/// Runs for each of the two inputs.
const RUNS: usize = 100;

/// Buckets of three copies, none of which is opened. The program has two buckets.
const KEPT: Small = Small { components: [3, 0], authenticators: [3, 0] };

/// Copies of each preparation.
const COPIES: usize = 6;

/// Calls a component of two layers twice, on the inputs and on sums. All outputs are 0 if one of
/// the inputs is.
fn products() -> Circuit {
    let mut c = ComponentBuilder::new("product");
    let (x, y) = (c.input(4), c.input(4));
    let product = c.and(&x, &y);
    let turned = product.rotl(1);
    let more = c.and(&product, &turned);
    c.output(&more);
    let product = c.finish().unwrap();
    let mut b = Builder::new("products");
    let [x, y] = [("x", 0), ("y", 1)].map(|(name, owner)| b.input(name, Type::Uint(4), owner));
    let first = b.call_one(&product, &[&x, &y]);
    let mixed = b.xor(&first, &y);
    let second = b.call_one(&product, &[&mixed, &x]);
    let sum = b.xor(&first, &second);
    for (name, word) in [("first", &first), ("second", &second), ("sum", &sum)] {
        b.output(name, word, Type::Uint(4), Receivers::All);
    }
    b.finish().unwrap()
}

/// Prepared programs, one for each run.
struct Stage {
    scene: Scene,
    compiled: Compiled,
    prepared: [Vec<Vec<u8>>; 2],
}

/// A role in which a party prepares a program.
trait Prepares: Role {
    /// Prepares the program of a window and returns what the party saves of it.
    fn prepare(
        engine: &mut Duplo<Self>,
        channel: &mut Channel,
        window: Window<'_>,
        origin: Origin,
    ) -> symbolon_transport::Result<Vec<u8>>;
}

impl Prepares for Garbler {
    fn prepare(
        engine: &mut Duplo<Garbler>,
        channel: &mut Channel,
        window: Window<'_>,
        origin: Origin,
    ) -> symbolon_transport::Result<Vec<u8>> {
        let copies = preprocess::garbler(engine, channel, 1, window)?;
        let committer = &mut engine.role.committer;
        copies.fill(channel, committer.opening(), 0)?;
        let ready = copies.connect(channel, committer.opening(), 0, committer.later())?;
        let mut bytes = Vec::new();
        Box::new(GarblerReady { origin, ..ready }).save(&mut bytes)?;
        Ok(bytes)
    }
}

impl Prepares for Evaluator {
    fn prepare(
        engine: &mut Duplo<Evaluator>,
        channel: &mut Channel,
        window: Window<'_>,
        origin: Origin,
    ) -> symbolon_transport::Result<Vec<u8>> {
        let mut copies = preprocess::evaluator(engine, channel, 1, window)?;
        let receiver = &mut engine.role.receiver;
        let buckets = copies.fill(channel, receiver.opening(), 0)?;
        let (proof, online) = (receiver.opening(), receiver.later());
        let ready = copies.connect(channel, proof, (0, buckets), online)?;
        let mut bytes = Vec::new();
        Box::new(EvaluatorReady { origin, ..ready }).save(&mut bytes)?;
        Ok(bytes)
    }
}

/// Prepares the programs of all runs and returns what a party saves of them.
fn prepare<R: Prepares>(
    net: &mut Network,
    (scene, compiled): (&Scene, &Compiled),
) -> symbolon_transport::Result<Vec<Vec<u8>>> {
    let mut engine = Duplo::<R>::set_up(net, scene.games())?;
    let channel = &mut net.peers()[0];
    let (executions, games, components) = (1, scene.games(), &scene.components);
    let task = Task { executions, preparations: 1, games, components, linked: &[] };
    let mut all = Vec::new();
    for _ in 0..2 * RUNS {
        let program = Arc::new(Program::new(&scene.circuit, task)?);
        let params = Windows::of_program(&program, games)?.largest().clone();
        // The sizes of a program that is made alone are computed again when it is read; those of a
        // pool are saved.
        let kinds = program.graph.kinds.iter().map(Kind::digest).collect();
        let origin = Origin::Pool(kinds, params.buckets());
        let window =
            Window { digest: compiled.digest(), program: &program, preparations: 1, params };
        all.push(R::prepare(&mut engine, channel, window, origin)?);
    }
    channel.flush()?;
    Ok(all)
}

/// What happens in the runs of a row.
struct Row<'a> {
    honest: PartyId,
    /// The probability with which the honest party ends in an error.
    noticed: f64,
    /// The cheat.
    cheat: &'a dyn Fn() -> FnAdversary,
    /// Changes what the honest party does, depending on its input.
    spoil: &'a dyn Fn(bool) -> FnAdversary,
}

impl Stage {
    fn honest() -> Stage {
        Stage::new(None)
    }

    /// Prepares all runs, with or without a cheat of the garbler. Nobody notices it yet.
    fn new(garbler: Option<FnAdversary>) -> Stage {
        let circuit = products();
        let scene = Scene { circuit, ..Scene::new(Some(KEPT), 1, 0) };
        let compiled = Compiled::new(&scene.circuit);
        let adversary = |channels: &mut [Channel; 2]| {
            if let Some(garbler) = garbler {
                channels[usize::from(GARBLER)].set_adversary(Box::new(garbler));
            }
        };
        let prepared = scene.play([Meter::new(), Meter::new()], adversary, |net| {
            if net.me == GARBLER {
                prepare::<Garbler>(net, (&scene, &compiled))
            } else {
                prepare::<Evaluator>(net, (&scene, &compiled))
            }
        });
        let prepared = prepared.map(|prepared| prepared.expect("nobody notices yet"));
        Stage { scene, compiled, prepared }
    }

    fn compare(&self, row: &Row<'_>) -> Result<(), String> {
        let mut runs = [Vec::new(), Vec::new()];
        for number in 0..2 * RUNS {
            let input = number % 2 == 1;
            runs[usize::from(input)].push(self.run(row, number, input));
        }
        compare(&runs, row.noticed)
    }

    fn run(&self, row: &Row<'_>, number: usize, input: bool) -> Seen {
        let mut scene = self.scene.clone();
        let given = |party: u16| vec![row.honest == party && input; 4];
        scene.inputs = vec![given(0), given(1)];
        let (honest, cheater) = (row.honest.index(), row.honest.other_of_two().index());
        let record = Record::default();
        let adversaries = |channels: &mut [Channel; 2]| {
            record.listen(&mut channels[honest], (row.spoil)(input));
            channels[cheater].set_adversary(Box::new((row.cheat)()));
        };
        let ended = scene.play([Meter::new(), Meter::new()], adversaries, |net| {
            let mut bytes = &self.prepared[usize::from(net.me)][number][..];
            let prepared = load::load(net.load_terms(), &self.compiled, Reader(&mut bytes))?;
            let outputs = prepared.evaluate(net, &self.compiled, &scene.inputs_of(net.me))?;
            // A cheater stays until the honest party has ended.
            net.peers()[0].flush()?;
            Ok(outputs)
        });
        let error = ended[honest].as_ref().err().map(ToString::to_string);
        Seen { sent: record.sent(), error, learnt: format!("{:?}", ended[cheater]) }
    }

    /// Asserts that a cheat reveals nothing about the honest party's input.
    #[track_caller]
    fn assert_private(&self, honest: PartyId, noticed: f64, cheat: &dyn Fn() -> FnAdversary) {
        let row = Row { honest, noticed, cheat, spoil: &|_| FnAdversary::new() };
        if let Err(found) = self.compare(&row) {
            panic!("{found}");
        }
    }

    /// Returns what the comparison finds about an honest party that `spoil` makes careless.
    fn careless(&self, honest: PartyId, spoil: &dyn Fn(bool) -> FnAdversary) -> String {
        let row = Row { honest, noticed: 0.0, cheat: &FnAdversary::new, spoil };
        self.compare(&row).expect_err("nothing was found")
    }
}

/// Changes the state at a point.
fn state(point: &'static str, change: fn(&mut [u8])) -> FnAdversary {
    FnAdversary::new().on_state(move |at, data| {
        if at == point {
            change(data);
        }
    })
}

/// Changes the state at a point only if a bit that the peer has sent is 1: the first one of this
/// message that is masked.
fn if_a_one(kind: &'static str, point: &'static str, change: fn(&mut [u8])) -> FnAdversary {
    let one = Arc::new(AtomicBool::new(false));
    let seen = one.clone();
    let adversary = FnAdversary::new().on_incoming(move |at, _, payload| {
        if at == kind {
            seen.store(payload[0] & 1 == 1, Ordering::Relaxed);
        }
    });
    adversary.on_state(move |at, data| {
        if at == point && one.load(Ordering::Relaxed) {
            change(data);
        }
    })
}

fn message(kind: &'static str, change: fn(&mut [u8])) -> FnAdversary {
    FnAdversary::new().on_message(kind, 0, move |payload| {
        change(payload);
        Action::Send
    })
}

fn flip(data: &mut [u8]) {
    data[0] ^= 2;
}

/// How often a cheat that is never noticed was played.
#[derive(Clone, Default)]
struct Played(Arc<AtomicUsize>);

impl Played {
    fn note(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Prepares all runs, in each of which the cheat must be played.
    fn in_all(self, garbler: FnAdversary) -> Stage {
        let stage = Stage::new(Some(garbler));
        let times = self.0.load(Ordering::Relaxed);
        assert!(times >= 2 * RUNS, "played {times} times");
        stage
    }
}

/// Prepares all runs with other tables of these copies, also when they are garbled again.
fn tables(which: &'static [usize], change: fn(&mut [u8])) -> Stage {
    let (played, mut known) = (Played::default(), HashMap::<Vec<u8>, bool>::new());
    let noted = played.clone();
    played.in_all(FnAdversary::new().on_state(move |at, table| {
        if at == "duplo: table" {
            let number = known.len() % COPIES;
            let bad = known.entry(table.to_vec()).or_insert_with(|| which.contains(&number));
            if *bad {
                change(table);
                noted.note();
            }
        }
    }))
}

/// Prepares all runs with the meaning of all outputs of these copies swapped.
fn swapped(which: &'static [usize]) -> Stage {
    let (played, mut copies) = (Played::default(), 0);
    let noted = played.clone();
    played.in_all(FnAdversary::new().on_state(move |at, data| {
        if at == "duplo: output keys" {
            if which.contains(&(copies % COPIES)) {
                noted.note();
                data.chunks_exact_mut(16).for_each(|committed| committed[0] ^= 1);
            }
            copies += 1;
        }
    }))
}

/// Cheat: `duplo` | – | nothing | no difference | 0
#[test]
fn honest_runs() {
    let stage = Stage::honest();
    for honest in [GARBLER, EVALUATOR] {
        stage.assert_private(honest, 0.0, &FnAdversary::new);
    }
}

/// GenSub: two of six copies are bad, which stay; the two buckets have a good copy each. A wrong
/// row is used for one colour of a wire only, the first one for the garbler's input, the other one
/// for the evaluator's; the evaluator recovers, or not, depending on the values of wires.
/// Cheat: `duplo`, G | GenSub | a wrong row for one value of a wire, garbage, swapped outputs, in
/// copies next to a good one | no difference, whether the evaluator recovers or not | 0
#[test]
fn bad_copies() {
    let first: fn(&mut [u8]) = |table| table[0] ^= 1;
    let second: fn(&mut [u8]) = |table| table[16] ^= 1;
    let garbage: fn(&mut [u8]) = |table| table.fill(7);
    for change in [first, second, garbage] {
        let stage = tables(&[1, 4], change);
        stage.assert_private(EVALUATOR, 0.0, &FnAdversary::new);
    }
    let stage = swapped(&[1, 4]);
    stage.assert_private(EVALUATOR, 0.0, &FnAdversary::new);
    // With a lie online as well.
    stage.assert_private(EVALUATOR, 1.0, &|| state("duplo: own input keys", flip));
}

/// GenInKeyAuth: an authenticator of every preparation refuses the keys of colour 0 on its four
/// wires. Two good ones in its bucket outvote it.
/// Cheat: `duplo`, G | GenInKeyAuth | an authenticator that refuses one of the two keys of each
/// wire
/// | no difference | 0
#[test]
fn an_authenticator_that_refuses_one_key() {
    let played = Played::default();
    let noted = played.clone();
    let stage = played.in_all(FnAdversary::new().on_state(move |at, hashes| {
        if at == "duplo: accepted" {
            hashes.chunks_exact_mut(32).take(4).for_each(|pair| pair[0] ^= 1);
            noted.note();
        }
    }));
    stage.assert_private(EVALUATOR, 0.0, &FnAdversary::new);
}

/// InputG, InputE and OutputE: keys, openings and their proof. Also a lie about the evaluator's
/// first input, told only if its masked input is 1, which it is as often as 0 for either input.
/// Cheat: `duplo`, G | InputG, InputE, OutputE | input keys, openings, indicator bits, the proof; a
/// lie only if a masked input is 1 | no difference | 1; 1/2
#[test]
fn lies_of_the_garbler() {
    let stage = Stage::honest();
    for point in ["duplo: own input keys", "duplo: opened inputs", "duplo: indicator bits"] {
        stage.assert_private(EVALUATOR, 1.0, &|| state(point, flip));
    }
    stage.assert_private(EVALUATOR, 1.0, &|| message("commitments: proof", flip));
    let if_a_one = || if_a_one("duplo: masked inputs", "duplo: opened inputs", flip);
    stage.assert_private(EVALUATOR, 0.5, &if_a_one);
}

/// OutputG: keys that did not come out; one only if a bit of the garbler's opened sums is 1.
/// Cheat: `duplo`, E | OutputG | keys that did not come out; one only if a bit of what was opened
/// is 1 | no difference | 1; 1/2
#[test]
fn lies_of_the_evaluator() {
    let stage = Stage::honest();
    let exchanged: fn(&mut [u8]) = |keys| keys.rotate_left(16);
    for change in [flip, exchanged] {
        stage.assert_private(GARBLER, 1.0, &|| state("duplo: returned keys", change));
    }
    let if_a_one = || if_a_one("duplo: input keys", "duplo: returned keys", flip);
    stage.assert_private(GARBLER, 0.5, &if_a_one);
}

/// Evaluators and garblers that are careless with their inputs: the comparison must find each.
#[test]
fn careless_parties_are_found() {
    let stage = Stage::honest();
    // A key that did not come out, for one input only: its bits are as random as those of others.
    let found = stage.careless(EVALUATOR, &|input| match input {
        true => state("duplo: returned keys", flip),
        false => FnAdversary::new(),
    });
    assert!(found.contains("what the cheater learns"), "{found}");
    // The first bit of the input, unmasked in most runs.
    let found = stage.careless(EVALUATOR, &|input| {
        FnAdversary::new().on_message("duplo: masked inputs", 0, move |payload| {
            payload[0] = payload[0] & !1 | u8::from(input);
            Action::Send
        })
    });
    assert!(found.contains("bit 0 of `duplo: masked inputs`"), "{found}");
    // A garbler that gives up for one input.
    let found = stage.careless(GARBLER, &|input| {
        let action = if input { Action::Close } else { Action::Send };
        FnAdversary::new().on_message("duplo: input keys", 0, move |_| action)
    });
    assert!(found.contains("error"), "{found}");
}
