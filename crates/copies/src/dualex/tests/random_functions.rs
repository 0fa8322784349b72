//! A cheater garbles random functions instead of the right one, in one preparation after the other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use symbolon_circuit::{Circuit, Component, Input, Output, Receivers, Step, Type};
use symbolon_cutchoose::games::{Costs, Game, Goal, Sizes};
use symbolon_engine::{Compiled, Network, OutputBits, Prepared};
use symbolon_primitives::Prg;
use symbolon_transport::adversary::{FnAdversary, Rate};
use symbolon_transport::{Error, Result};

use super::garbling_cheat::{GarblingCheat, prepare_batch};
use super::tools::{Setting, both, expected, inputs_of, networks, prg, random_inputs};
use crate::dualex::checks::{CIRCUIT, RECONCILIATION};
use crate::dualex::engine::set_up_own;
use crate::dualex::function::Function;
use crate::dualex::options::PsiForm;

/// Input bits of each party.
const INPUTS: u32 = 3;
/// AND gates.
const ANDS: usize = 6;

/// Returns a random function of three bits of each party, with outputs for both and for party 1.
/// All have the same shape.
fn random_function(prg: &mut Prg) -> Circuit {
    let mut steps = Vec::new();
    let mut wires = 2 * INPUTS;
    // The wire before, so that all gates count, and any other one.
    let pick = |wires: u32, prg: &mut Prg| [wires - 1, prg.below(u64::from(wires) - 1) as u32];
    for _ in 0..ANDS {
        let [a, b] = pick(wires, prg);
        let out = wires;
        steps.push(if prg.bool() { Step::Xor { a, b, out } } else { Step::Inv { a, out } });
        let [a, b] = pick(wires + 1, prg);
        steps.push(Step::And { a, b, out: out + 1 });
        wires += 2;
    }
    let outputs = vec![wires - 1, wires - 2, wires - 3, wires - 5];
    let main = Component { inputs: 2 * INPUTS, wires, steps, outputs, ..Component::default() };
    let input = |(name, owner): (&str, u16)| Input {
        name: name.into(),
        ty: Type::Uint(INPUTS),
        owner: owner.into(),
    };
    let output =
        |(name, to): (&str, Receivers)| Output { name: name.into(), ty: Type::Uint(2), to };
    let outputs = [("all", Receivers::All), ("one", Receivers::only([1]))].map(output);
    Circuit::new("random", [("x", 1), ("y", 0)].map(input).into(), outputs.into(), vec![main])
        .unwrap()
}

/// Returns a cheat that garbles another random function in the first `bad` circuits of each
/// preparation.
fn garbles_another(prg: &mut Prg, sizes: [u64; 3], bad: u64) -> GarblingCheat {
    let [.., circuits] = sizes;
    let function = Function::of(&random_function(prg)).unwrap();
    GarblingCheat::garbles(function, move |number| number % circuits < bad)
}

/// How a session ended for the cheater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Session {
    /// Whether its first preparation was accused.
    caught_at_once: bool,
    /// Whether a bucket of the first preparation had no good circuit.
    won_at_once: bool,
    /// Whether a bucket of any preparation had none.
    won: bool,
    /// Whether the honest party then ended without an output.
    accused_of_outputs: bool,
}

/// What both parties of a session share.
struct Scene {
    setting: Setting,
    circuit: Circuit,
    cheat: GarblingCheat,
    /// Whether a bucket of the cheater has no good circuit.
    won: AtomicBool,
    /// The inputs of the executions.
    inputs: Vec<Vec<Vec<bool>>>,
}

impl Scene {
    /// Prepares and evaluates, again and again, until a check fails or the cheater has won; returns
    /// how many preparations there were. Every output must be right.
    fn play(&self, net: &mut Network) -> (usize, Result<()>) {
        let mut tries = 0;
        let mut engine = match set_up_own(net) {
            Ok(engine) => engine,
            Err(error) => return (0, Err(error)),
        };
        loop {
            tries += 1;
            let cheat = Some(&self.cheat).filter(|_| net.me == 0);
            let (circuit, params) = (Compiled::new(&self.circuit), self.setting.params());
            let prepared = prepare_batch(&mut engine, net, &circuit, params, cheat);
            let outputs = prepared.and_then(|prepared| {
                if net.me == 0 {
                    let bad = |number| (self.cheat.affects)(number);
                    let mut all = prepared.executions.iter();
                    let won = all.any(|one| one.own.iter().all(|own| bad(own.number)));
                    self.won.store(won, Ordering::SeqCst);
                }
                self.evaluate(net, Box::new(prepared))
            });
            match outputs {
                Err(error) => return (tries, Err(error)),
                // The evaluation waits for messages that the cheater sends after it has looked.
                Ok(()) if self.won.load(Ordering::SeqCst) => return (tries, Ok(())),
                Ok(()) => {}
            }
        }
    }

    fn evaluate(&self, net: &mut Network, prepared: Box<dyn Prepared>) -> Result<()> {
        let party = net.me.number();
        let inputs = inputs_of(&self.circuit, party, &self.inputs);
        let outputs: OutputBits = prepared.evaluate(net, &Compiled::new(&self.circuit), &inputs)?;
        assert_eq!(outputs, expected(&self.circuit, party, &self.inputs), "a wrong output");
        Ok(())
    }
}

/// Plays a session with random functions and inputs, in which the cheater makes `bad` bad circuits
/// for each preparation.
fn session(setting: Setting, bad: u64, prg: &mut Prg) -> Session {
    let circuit = random_function(prg);
    let inputs = random_inputs(&circuit, setting.sizes[0] as usize, prg);
    let cheat = garbles_another(prg, setting.sizes, bad);
    let scene = Scene { setting, circuit, cheat, won: AtomicBool::new(false), inputs };
    let mut nets = networks(setting);
    nets[0].lanes[0][0].set_adversary(Box::new(FnAdversary::new()));
    let tries = Mutex::new(0);
    let [_, honest] = both(nets, [(); 2], &|net, ()| {
        let (played, ended) = scene.play(net);
        if net.me == 1 {
            *tries.lock().unwrap() = played;
        }
        ended
    });
    let at_once = tries.into_inner().unwrap() == 1;
    let won = scene.won.into_inner();
    // A bucket with a good circuit always gives the right output; one without gives the right one
    // or none.
    let accused = match &honest {
        Ok(()) => None,
        Err(Error::PeerMisbehaved { check, .. }) => Some(*check),
        Err(error) => panic!("{error}"),
    };
    match (won, accused) {
        (false, Some(check)) => assert_eq!(check, CIRCUIT, "good circuits in every bucket"),
        (true, check) => assert!(check.is_none_or(|check| check == RECONCILIATION), "{check:?}"),
        (false, None) => panic!("the session ended without a reason"),
    }
    Session {
        caught_at_once: at_once && !won,
        won_at_once: at_once && won,
        won,
        accused_of_outputs: won && accused.is_some(),
    }
}

/// The predicted rates of a cheater with `bad` bad circuits: one of them is opened; a bucket has no
/// good circuit, in a preparation and in a session.
fn predicted(sizes: Sizes, bad: u64) -> [f64; 3] {
    let Sizes { buckets, bucket, objects } = sizes;
    let kept = sizes.bucketed();
    let unopened: f64 = (0..bad).map(|i| (kept - i) as f64 / (objects - i) as f64).product();
    // A bucket has only bad circuits.
    let all_bad: f64 =
        (0..bucket).map(|i| bad.saturating_sub(i) as f64 / (kept - i) as f64).product();
    let wins = unopened * (buckets as f64 * all_bad).min(1.0);
    [1.0 - unopened, wins, wins / (1.0 - unopened + wins)]
}

/// The cheater garbles other random functions in some circuits of each preparation, and goes on
/// until it is accused or a bucket has no good circuit. Outputs are always right, and without an
/// accusation there are none else.
/// Cheat: one | Cut-and-Choose | random functions for the right one in some circuits of each
/// preparation, until one is opened or a bucket has no good one | `opened circuit`;
/// `reconciliation` or the right output in a bucket without good circuits | C(U, t)/C(L, t), P and
/// W of `crates/cutchoose/src/games.rs`
#[test]
fn random_functions_in_bad_circuits_give_right_outputs_or_an_accusation() {
    let mut prg = prg(11);
    for (psi, sizes, bad) in [
        // The union bound over buckets is exact for as few bad circuits as two buckets' cannot be.
        (PsiForm::Synchronous, [3, 2, 8], 2),
        (PsiForm::Asynchronous, [2, 2, 6], 3),
        (PsiForm::Synchronous, [1, 3, 5], 3),
    ] {
        let setting = Setting { psi, sizes, ..Setting::default() };
        let [buckets, bucket, objects] = sizes;
        let [caught, won, won_in_all] = predicted(Sizes { buckets, bucket, objects }, bad);
        let all: Vec<Session> = (0..100).map(|_| session(setting, bad, &mut prg)).collect();
        let rate = |of: fn(&Session) -> bool| all.iter().map(of).collect::<Rate>();
        let what = format!("{bad} bad of {objects}, {buckets} buckets of {bucket}");
        rate(|s| s.caught_at_once).assert_predicted(caught, &format!("{what}: accused at once"));
        rate(|s| s.won_at_once).assert_predicted(won, &format!("{what}: a bad bucket at once"));
        rate(|s| s.won).assert_predicted(won_in_all, &format!("{what}: a bad bucket at last"));
        assert!(rate(|s| s.accused_of_outputs).measured() <= rate(|s| s.won).measured());
    }
}

/// Sizes for a whole preparation keep their promise for all buckets and all tries of a session;
/// those for a given execution do not.
/// Cheat: one | Cut-and-Choose | the best number of bad circuits against four buckets at κ_b = 2,
/// in each preparation of a session | `opened circuit` | 2^-κ_b for the whole preparation, more for
/// a given execution
#[test]
fn a_bound_for_the_preparation_holds_for_all_of_its_executions() {
    const KAPPA_B: u32 = 2;
    let mut prg = prg(12);
    let limit = 0.5f64.powi(KAPPA_B as i32);
    for (goal, holds) in [(Goal::OneGood, true), (Goal::OneGoodInGivenBucket, false)] {
        let game = Game::new(goal, 4, KAPPA_B).unwrap();
        let sizes = game.best(Costs::FEWEST_OBJECTS).unwrap();
        let best = (1..=sizes.bucketed())
            .max_by(|s, t| predicted(sizes, *s)[2].total_cmp(&predicted(sizes, *t)[2]))
            .unwrap();
        let [_, _, most] = predicted(sizes, best);
        assert_eq!(most <= limit, holds, "{goal:?}: {most}");
        let setting =
            Setting { sizes: [sizes.buckets, sizes.bucket, sizes.objects], ..Setting::default() };
        let won: Rate = (0..80).map(|_| session(setting, best, &mut prg).won).collect();
        won.assert_at_most(most);
        if !holds {
            assert!(won.measured() > limit, "{goal:?}: {won:?}, at most {most}");
        }
    }
}
