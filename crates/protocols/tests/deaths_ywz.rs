//! A party of three that dies, or falls silent, at a message of any kind: the others end in time, with the
//! connection's error or with the right outputs, and accuse nobody of cheating.
//!
//! To die at every single message takes minutes, so each party dies once at each kind of message, at the
//! first one of that kind to one of its peers, and at some others.
#![allow(missing_docs)]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Setting, sweep};
use symbolon_circuit::{Circuit, Plan, Receivers};
use symbolon_protocols::{OutputBits, Protocol};
use symbolon_transport::bend::{Action, FnBend};
use symbolon_transport::{Error, TransportReason};

const PARTIES: u16 = 3;

/// Besides the first of each kind, every so many messages are tried.
const STRIDE: usize = 11;

/// Where a party stops, counted over all that it sends, to whomever.
#[derive(Clone, Copy, Debug)]
struct Case {
    party: u16,
    index: usize,
    /// Its connections stay open.
    silent: bool,
}

/// A message: its kind and its receiver.
type Message = (&'static str, u16);

/// Two layers of gates on everybody's inputs; all learn the outputs, so that all messages are needed.
fn circuit() -> Circuit {
    let steps: Vec<(u8, u32, u32)> =
        (0..8).map(|i| (0, i, 8 + i)).chain((0..8).map(|i| (0, 24 + i, 16 + i))).collect();
    common::circuit(&[8; 3], &steps, vec![((32..40).collect(), Receivers::All)])
}

fn inputs() -> Vec<Vec<bool>> {
    (0..3).map(|party| (0..8).map(|i| (i + party) % 3 != 1).collect()).collect()
}

/// Runs with `strike` at every message of one party, which says nothing more once it failed.
fn run(
    party: u16,
    timeout: Duration,
    strike: impl Fn(usize) -> Action + Send + Sync + 'static,
) -> (Vec<Result<OutputBits, Error>>, Vec<Message>) {
    let setting = Setting { protocol: Protocol::Ywz, parties: PARTIES, ..Setting::default() };
    let sent: Arc<Mutex<Vec<Message>>> = Arc::default();
    let strike = Arc::new(strike);
    let mut nets = common::mesh(setting);
    for net in &mut nets {
        for channel in net.lanes.iter_mut().flatten() {
            channel.set_timeout(timeout);
            if net.me == party {
                let (sent, strike, peer) = (sent.clone(), strike.clone(), channel.peer());
                channel.set_bend(Box::new(FnBend::new().on_outgoing(move |kind, _, _| {
                    let mut sent = sent.lock().unwrap();
                    sent.push((kind, peer));
                    strike(sent.len() - 1)
                })));
            }
        }
    }
    let (circuit, all) = (circuit(), inputs());
    let plan = Plan::new(&circuit);
    let ended = std::thread::scope(|scope| {
        let start = |mut net: symbolon_protocols::Network| {
            let (task, inputs) =
                ([(&circuit, &plan); 2], common::inputs_of(&circuit, net.me, &all));
            scope.spawn(move || {
                if net.me == party {
                    common::phases(setting, &mut net, task, &inputs)
                } else {
                    common::party(setting, net, task, &inputs).outputs
                }
            })
        };
        let parties: Vec<_> = nets.into_iter().map(start).collect();
        parties.into_iter().map(|party| party.join().expect("a party panicked")).collect()
    });
    let sent = sent.lock().unwrap().clone();
    (ended, sent)
}

/// What is wrong with how a case ended, if anything is.
fn attempt(case: Case) -> Result<(), String> {
    let (action, timeout) = if case.silent {
        (Action::Stall, Duration::from_millis(300))
    } else {
        (Action::Close, sweep::HANGING)
    };
    let strike = move |index| if index >= case.index { action } else { Action::Send };
    let (ended, sent) = run(case.party, timeout, strike);
    let deprived = sent.get(case.index).map(|(_, receiver)| *receiver);
    let mut names_it = case.silent;
    for (me, ended) in (0..).zip(&ended).filter(|(me, _)| *me != case.party) {
        match ended {
            Ok(outputs) if *outputs != common::expected(&circuit(), me, &inputs()) => {
                return Err(format!("party {me}: wrong outputs"));
            }
            Ok(_) if deprived == Some(me) => {
                return Err(format!("party {me}: outputs without the message"));
            }
            Ok(_) => {}
            Err(Error::Transport { reason: TransportReason::TimedOut(_), .. }) if !case.silent => {
                return Err(format!("party {me} waited for nothing"));
            }
            Err(Error::Transport { party, .. }) => names_it |= *party == Some(case.party),
            Err(error) => return Err(format!("party {me}: {error}")),
        }
    }
    if names_it { Ok(()) } else { Err("nobody names the party that died".into()) }
}

/// What a party sends in a clean run.
fn messages(party: u16) -> Vec<Message> {
    let (ended, sent) = run(party, sweep::HANGING, |_| Action::Send);
    assert!(ended.iter().all(Result::is_ok), "the clean run");
    sent
}

/// The first message of each kind, to one peer or the other in turns, and every [`STRIDE`]-th.
fn sample(party: u16) -> Vec<usize> {
    let sent = messages(party);
    let mut kinds: Vec<&str> = sent.iter().map(|(kind, _)| *kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    // Five in the set-up at least, ten in a batch of triples, two for products and five online.
    assert!(kinds.len() > 20, "party {party} sends {kinds:?} only");
    let first = |(k, kind): (usize, &&str)| {
        let mut of_kind = sent.iter().enumerate().filter(|(_, message)| message.0 == *kind);
        let (index, message) = of_kind.next()?;
        let other = of_kind.find(|(_, other)| other.1 != message.1);
        Some(other.map_or(index, |(other, _)| if k % 2 == 0 { index } else { other }))
    };
    let mut indices: Vec<usize> = kinds.iter().enumerate().filter_map(first).collect();
    indices.extend((0..sent.len()).step_by(STRIDE).chain([sent.len() - 1]));
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn cases(silent: bool, step: usize) -> Vec<Case> {
    let of_party = |party: u16| {
        let indices = sample(party).into_iter().skip(usize::from(party) % step).step_by(step);
        indices.map(move |index| Case { party, index, silent })
    };
    (0..PARTIES).flat_map(of_party).collect()
}

#[test]
fn death_at_any_kind_of_message() {
    sweep::try_all(cases(false, 1), attempt);
}

#[test]
fn silence_at_some_messages() {
    sweep::try_all(cases(true, 4), attempt);
}
