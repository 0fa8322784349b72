//! Honest runs, and waits for a party that computes.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Type, builtin};
use symbolon_engine::{Compiled, Engine, Network, Prepared};
use symbolon_transport::{Error, Result, TransportReason};

use super::tools::{
    Setting, both, expected, inputs_of, networks, prepare, prg, random_inputs, run,
};
use crate::dualex::engine::set_up_own;
use crate::dualex::options::PsiForm;

/// Has outputs for both parties, for each alone and for nobody.
pub fn example() -> Circuit {
    let mut b = Builder::new("example");
    let [x, y, z] =
        [("x", 1), ("y", 0), ("z", 1)].map(|(name, owner)| b.input(name, Type::Uint(5), owner));
    let sum = b.add(&x, &y);
    let both = b.and(&x, &z);
    let product = b.mul(&y, &z);
    let only = |party| Receivers::only([party]);
    b.output("sum", &sum, Type::Uint(5), only(1));
    b.output("both", &both, Type::Uint(5), Receivers::All);
    b.output("nobody", &sum, Type::Uint(5), Receivers::Only(vec![]));
    b.output("product", &product, Type::Uint(5), only(0));
    b.finish().unwrap()
}

#[test]
fn both_parties_learn_their_outputs() {
    let mut prg = prg(1);
    let circuit = example();
    for (psi, sizes, lanes) in [
        (PsiForm::Synchronous, [2, 2, 6], 1),
        (PsiForm::Asynchronous, [2, 2, 6], 1),
        (PsiForm::Synchronous, [1, 1, 1], 1),
        (PsiForm::Asynchronous, [1, 3, 5], 2),
        (PsiForm::Synchronous, [5, 3, 20], 3),
    ] {
        let setting = Setting { psi, sizes, lanes, ..Setting::default() };
        let all = random_inputs(&circuit, sizes[0] as usize, &mut prg);
        let ended = run(setting, &circuit, &all, None, |_| {});
        for (party, ended) in (0..).zip(ended) {
            assert_eq!(ended.unwrap(), expected(&circuit, party, &all), "{sizes:?}");
        }
    }
}

/// The time-out of the party that waits.
const SHORT: Duration = Duration::from_millis(1);

/// What party 1 drops when it ends, and party 0 waits for.
type End = std::result::Result<Sender<()>, Receiver<()>>;

/// From here on party 0 is silent until party 1 ends, whose time-out is short.
fn stall(net: &mut Network, end: &End) -> Result<()> {
    let channel = &mut net.peers()[0];
    channel.flush()?;
    match end {
        Err(ended) => assert!(ended.recv().is_err(), "nothing is sent"),
        Ok(_) => channel.set_timeout(SHORT),
    }
    Ok(())
}

/// Runs both parties, which [`stall`] at one point. Returns for how much longer than its time-out
/// party 1 waits.
fn granted(setting: Setting, part: impl Fn(&mut Network, End) -> Result<()> + Sync) -> Duration {
    let (sender, receiver) = mpsc::channel();
    let [_, waited] = both(networks(setting), [Err(receiver), Ok(sender)], &part);
    match waited {
        Err(Error::Transport { reason: TransportReason::TimedOut(limit), .. }) => limit - SHORT,
        other => panic!("party 1 does not wait: {other:?}"),
    }
}

/// A party may take longer than the time-out to garble its circuits again.
#[test]
fn a_slow_garbler_is_waited_for() {
    let circuit = Compiled::new(&builtin::by_name("mult:32").unwrap());
    let setting = Setting { sizes: [1, 1, 1], ..Setting::default() };
    let granted = granted(setting, |net, end| {
        let mut engine = set_up_own(net)?;
        engine.prepare_each(net, &circuit, 2, &mut |net, _| stall(net, &end))
    });
    assert!(!granted.is_zero());
}

/// A party may take longer than the time-out to evaluate all circuits of all executions.
#[test]
fn a_slow_evaluator_is_waited_for() {
    let circuit = builtin::by_name("aes128").unwrap();
    let setting = Setting::default();
    let all = random_inputs(&circuit, 2, &mut prg(2));
    let granted = granted(setting, |net, end| {
        let prepared = Box::new(prepare(net, &circuit, setting, None)?);
        let inputs = inputs_of(&circuit, net.me.number(), &all);
        let mut online = prepared.start(net, &Compiled::new(&circuit), &inputs)?;
        // What was allowed while the executions were prepared has passed.
        std::thread::sleep(Duration::from_millis(500));
        // Both send labels, and party 1 evaluates.
        online.step(net)?;
        if net.me == 1 {
            online.step(net)?;
        }
        stall(net, &end)?;
        online.step(net).map(drop)
    });
    // 2^21 gates take a second. Part of the time passes before party 1 waits.
    let gates = 2 * 2 * 6400;
    let all = Duration::from_millis(gates * 1000 / (1 << 21));
    assert!(!granted.is_zero() && granted <= all, "{granted:?}");
}
