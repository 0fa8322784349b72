//! What a cheater sees of an honest party does not depend on that party's input, whether or not the
//! cheat is noticed. The comparison is that of `tests/privacy`; here the sizes of buckets are
//! chosen, so that wrong circuits stay.
//!
//! Party 0 cheats. The output is 0 for both inputs that are compared, so what the cheater's own
//! program ends with is compared, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use symbolon_circuit::{Circuit, Component, Input, Output, Receivers, Step, Type};
use symbolon_engine::{Compiled, Network};
use symbolon_transport::adversary::{Action, FnAdversary};

use super::garbling_cheat::{GarblingCheat, prepare_batch};
use super::tools::{Setting, both, inputs_of, networks, prg};
use crate::compare::{Seen, compare};
use crate::dualex::SPEC;
use crate::dualex::options::PsiForm;
use crate::dualex::{engine::set_up_own, execution::Execution, function::Function};
use crate::record::Record;

/// Runs for each of the two inputs.
const RUNS: usize = 100;

const WIDTH: u32 = 4;

/// Circuits in a bucket. None is opened.
const BUCKET: u64 = 3;

/// x ∧ y, or x ∧ ¬y, bit by bit: x is the honest party's, y the cheater's.
fn and(negated: bool) -> Circuit {
    let (x, y, mut free) = (0, WIDTH, 2 * WIDTH);
    let mut factor = y;
    let mut steps = Vec::new();
    if negated {
        steps.extend((0..WIDTH).map(|i| Step::Inv { a: y + i, out: free + i }));
        (factor, free) = (free, free + WIDTH);
    }
    steps.extend((0..WIDTH).map(|i| Step::And { a: x + i, b: factor + i, out: free + i }));
    let outputs = (free..free + WIDTH).collect();
    let wires = free + WIDTH;
    let main = Component { inputs: 2 * WIDTH, wires, steps, outputs, ..Component::default() };
    let input = |(name, owner): (&str, u16)| Input {
        name: name.into(),
        ty: Type::Uint(WIDTH),
        owner: owner.into(),
    };
    let output = Output { name: "z".into(), ty: Type::Uint(WIDTH), to: Receivers::All };
    Circuit::new("and", [("x", 1), ("y", 0)].map(input).into(), vec![output], vec![main]).unwrap()
}

/// Garbles x ∧ ¬y in some circuits.
fn negates(affects: impl Fn(u64) -> bool + Sync + 'static) -> GarblingCheat {
    GarblingCheat::garbles(Function::of(&and(true)).unwrap(), affects)
}

/// Garbles x ∧ ¬y in all circuits of a bucket but one.
fn all_but_one() -> GarblingCheat {
    negates(|number| !number.is_multiple_of(BUCKET))
}

/// A preparation by a cheater.
struct Made<'a> {
    psi: PsiForm,
    cheat: Option<GarblingCheat>,
    /// The cheater's adversary.
    adversary: FnAdversary,
    /// Changes what the cheater has prepared.
    change: &'a (dyn Fn(&mut Execution) + Sync),
}

impl Default for Made<'_> {
    fn default() -> Self {
        let (psi, adversary) = (PsiForm::Synchronous, FnAdversary::new());
        Made { psi, cheat: None, adversary, change: &|_| () }
    }
}

/// Prepared executions, one for each run.
struct Stage {
    setting: Setting,
    compiled: Compiled,
    prepared: [Vec<Vec<u8>>; 2],
}

impl Stage {
    fn new(bucket: u64, made: Made<'_>) -> Stage {
        let Made { psi, cheat, adversary, change } = made;
        let setting = Setting { sizes: [1, bucket, bucket], psi, ..Setting::default() };
        let compiled = Compiled::new(&and(false));
        let mut nets = networks(setting);
        nets[0].lanes[0][0].set_adversary(Box::new(adversary));
        let prepared = both(nets, [(); 2], &|net: &mut Network, ()| {
            let (mut engine, mut all) = (set_up_own(net)?, Vec::new());
            let cheats = net.me == 0;
            for _ in 0..2 * RUNS {
                let cheat = cheat.as_ref().filter(|_| cheats);
                let params = setting.params();
                let mut one = prepare_batch(&mut engine, net, &compiled, params, cheat)?;
                if cheats {
                    one.executions.iter_mut().for_each(change);
                }
                let mut bytes = Vec::new();
                SPEC.save_prepared(net, &compiled, Box::new(one), &mut bytes)?;
                all.push(bytes);
            }
            Ok(all)
        });
        let prepared = prepared.map(|prepared| prepared.expect("nobody notices yet"));
        Stage { setting, compiled, prepared }
    }

    fn compare(
        &self,
        noticed: f64,
        cheat: &dyn Fn() -> FnAdversary,
        spoil: &dyn Fn(bool) -> FnAdversary,
    ) -> Result<(), String> {
        let mut runs = [Vec::new(), Vec::new()];
        for number in 0..2 * RUNS {
            let input = number % 2 == 1;
            runs[usize::from(input)].push(self.run(number, input, (cheat(), spoil(input))));
        }
        compare(&runs, noticed)
    }

    fn run(&self, number: usize, input: bool, (cheat, spoil): (FnAdversary, FnAdversary)) -> Seen {
        let mut nets = networks(self.setting);
        let record = Record::default();
        nets[0].lanes[0][0].set_adversary(Box::new(cheat));
        record.listen(&mut nets[1].lanes[0][0], spoil);
        let all = [vec![vec![input; WIDTH as usize], vec![false; WIDTH as usize]]];
        let ended = both(nets, [(); 2], &|net: &mut Network, ()| {
            let mut bytes = &self.prepared[usize::from(net.me)][number][..];
            let prepared = SPEC.load_prepared(net, &self.compiled, &mut bytes)?;
            let inputs = inputs_of(self.compiled.circuit(), net.me.number(), &all);
            prepared.evaluate(net, &self.compiled, &inputs)
        });
        let error = ended[1].as_ref().err().map(ToString::to_string);
        Seen { sent: record.sent(), error, learnt: format!("{:?}", ended[0]) }
    }

    /// Asserts that a cheat reveals nothing about the honest party's input.
    #[track_caller]
    fn assert_private(&self, noticed: f64, cheat: &dyn Fn() -> FnAdversary) {
        if let Err(found) = self.compare(noticed, cheat, &|_| FnAdversary::new()) {
            panic!("{found}");
        }
    }
}

fn message(kind: &'static str, at: fn(&[u8]) -> usize) -> FnAdversary {
    FnAdversary::new().on_message(kind, 0, move |payload| {
        let at = at(payload);
        payload[at] ^= 1;
        Action::Send
    })
}

fn first(_: &[u8]) -> usize {
    0
}

fn last(payload: &[u8]) -> usize {
    payload.len() - 1
}

/// Cheat: `dualex` | – | nothing | no difference | 0
#[test]
fn honest_runs() {
    for psi in PsiForm::ALL {
        let stage = Stage::new(BUCKET, Made { psi, ..Made::default() });
        stage.assert_private(0.0, &FnAdversary::new);
    }
}

/// One good circuit in the bucket. The others give the cheater's y = 0 the output x; but what they
/// give is not confirmed.
/// Cheat: `dualex`, one | Bucketing | x ∧ ¬y for x ∧ y in all circuits of a bucket but one | no
/// difference | 0
#[test]
fn wrong_circuits_next_to_a_good_one() {
    for psi in PsiForm::ALL {
        let made = Made { psi, cheat: Some(all_but_one()), ..Made::default() };
        let stage = Stage::new(BUCKET, made);
        stage.assert_private(0.0, &FnAdversary::new);
        // With a lie online as well.
        stage.assert_private(1.0, &|| message("dualex: psi opening", last));
    }
}

/// The same with output labels of the good circuit from another seed.
/// Cheat: `dualex`, one | Output Decommit | the good circuit of a bucket translated, and opened,
/// from another seed | no difference | 1
#[test]
fn a_good_circuit_with_other_output_labels() {
    for psi in PsiForm::ALL {
        let cheat = Some(GarblingCheat { reseeded: true, ..all_but_one() });
        let stage = Stage::new(BUCKET, Made { psi, cheat, ..Made::default() });
        stage.assert_private(1.0, &FnAdversary::new);
    }
}

/// The cheater's own input is another one in some circuits of the bucket, or its set does not come
/// from the circuits.
/// Cheat: `dualex`, one | Input Commit, PSI Commit | another own input in all circuits of a bucket
/// but one; a set that is not from the circuits | no difference | 0; 1
#[test]
fn other_inputs_and_sets() {
    let other = |number: u64| !number.is_multiple_of(BUCKET);
    let function = Function::of(&and(false)).unwrap();
    let cheat = GarblingCheat { function, swapped: Some(0), ..negates(other) };
    let change = |execution: &mut Execution| {
        for circuit in execution.own.iter_mut().filter(|circuit| other(circuit.number)) {
            let delta = *circuit.delta;
            circuit.own[0] ^= delta;
        }
    };
    let made = Made { cheat: Some(cheat), change: &change, ..Made::default() };
    Stage::new(BUCKET, made).assert_private(0.0, &FnAdversary::new);

    let change = |execution: &mut Execution| {
        execution.psi.0.pairs.iter_mut().for_each(|pair| pair.swap(0, 1));
    };
    let made = Made { change: &change, ..Made::default() };
    Stage::new(BUCKET, made).assert_private(1.0, &FnAdversary::new);
}

/// OTs of the intersection under Δ = 0, and sums that fit only one of three places of the honest
/// party's set. Without an output it accuses the cheater, whatever its input.
/// Cheat: `dualex`, one | PSI | OTs under Δ = 0, sums that fit one place, 2 wrong circuits of 3 |
/// no difference | 2/3
#[test]
fn ots_without_an_offset() {
    let adversary = FnAdversary::new().on_state(|at, data| {
        if at == "set-up: delta" {
            data.fill(0);
        }
    });
    let change = |execution: &mut Execution| {
        let pairs = &mut execution.psi.0.pairs;
        let bits = pairs.len() / BUCKET as usize;
        prg(1).fill_blocks(pairs[bits..].as_flattened_mut());
    };
    let cheat = Some(all_but_one());
    let made = Made { cheat, adversary, change: &change, ..Made::default() };
    Stage::new(BUCKET, made).assert_private(2.0 / 3.0, &FnAdversary::new);
}

/// A wrong label for the cheater, only if the honest party's first masked input is 1.
fn if_a_one() -> FnAdversary {
    let one = Arc::new(AtomicBool::new(false));
    let seen = one.clone();
    let adversary = FnAdversary::new().on_incoming(move |kind, _, payload| {
        if kind == "dualex: masked inputs" {
            seen.store(payload[0] & 1 == 1, Ordering::Relaxed);
        }
    });
    adversary.on_message("dualex: input labels", 0, move |payload| {
        payload[0] ^= u8::from(one.load(Ordering::Relaxed));
        Action::Send
    })
}

/// Cheat: `dualex`, one | Receiver's and Sender's Inputs, PSI Commit, Output Decommit, PSI Decommit
/// | labels, commitments, seeds and openings; a wrong label only if a masked input is 1 | no
/// difference | 1; 1/2
#[test]
fn lies_online() {
    let stage = Stage::new(BUCKET, Made::default());
    for kind in [
        "dualex: masked inputs",
        "dualex: input labels",
        "dualex: psi commitment",
        "dualex: output labels",
        "dualex: psi opening",
    ] {
        stage.assert_private(1.0, &|| message(kind, first));
    }
    stage.assert_private(1.0, &|| message("dualex: input labels", last));
    stage.assert_private(0.5, &if_a_one);
    let stage = Stage::new(BUCKET, Made { psi: PsiForm::Asynchronous, ..Made::default() });
    stage.assert_private(1.0, &|| message("dualex: psi items", last));
    stage.assert_private(1.0, &|| message("dualex: psi opening", first));
}

/// Classical dual execution leaks a bit, and a careless party more: the comparison must find both.
#[test]
fn leaks_are_found() {
    let stage = Stage::new(1, Made { cheat: Some(negates(|_| true)), ..Made::default() });
    let careful = |_: bool| FnAdversary::new();
    let found = stage.compare(0.0, &FnAdversary::new, &careful).expect_err("a bit leaks");
    assert!(found.contains("error"), "{found}");

    let stage = Stage::new(BUCKET, Made::default());
    let unmasked = |input: bool| {
        FnAdversary::new().on_message("dualex: masked inputs", 0, move |payload| {
            payload[0] = payload[0] & !1 | u8::from(input);
            Action::Send
        })
    };
    let found = stage.compare(0.0, &FnAdversary::new, &unmasked).expect_err("an input leaks");
    assert!(found.contains("bit 0 of `dualex: masked inputs`"), "{found}");

    // A last message that is wrong for one input: its bits are as random as those of a right one.
    let wrong_opening = |input: bool| match input {
        true => message("dualex: psi opening", last),
        false => FnAdversary::new(),
    };
    let found = stage.compare(0.0, &FnAdversary::new, &wrong_opening).expect_err("an input leaks");
    assert!(found.contains("what the cheater learns"), "{found}");
}
