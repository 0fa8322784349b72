//! Every fault at every message: whatever happens to one message between two parties, from the
//! first one of the handshake to the last one of the outputs, all parties end, none of them panics
//! or hangs, nobody has a wrong output, the party that needed the message has none, and no
//! uninvolved party is accused.
//!
//! The faults concern bytes in transit; [`faults`] lists them. The tests of cheats, and the flipped
//! bits here, cover wrong content from a party.
//!
//! By default each message meets some of the faults, so that each fault meets many messages. In the
//! ignored tests every message meets every fault.

mod faults;
mod scene;
mod sweep;

use std::time::Duration;

use faults::{Fault, Message, Struck};
use scene::{Scene, Way, is_right};
use symbolon::{Error, Outputs, Result, TransportReason};
use symbolon_transport::Culprit;
use symbolon_transport::adversary::tampers;
use symbolon_transport::checks::FRAMING;

/// How long a party waits for the others if waiting is all that it can do. The longer ones are for
/// loaded machines, on which the fault may come later than the shorter ones.
const TIMEOUTS: [Duration; 3] =
    [Duration::from_millis(400), Duration::from_secs(3), Duration::from_secs(15)];

/// A fault at one message.
#[derive(Clone, Copy, Debug)]
struct Case {
    scene: Scene,
    way: Way,
    index: usize,
    fault: Fault,
}

type Ended = Vec<Result<Outputs>>;

impl Case {
    /// Runs the case; returns how it ended, and the faulty message.
    fn run(self, timeout: Duration) -> (Ended, Option<Message>) {
        let struck = Struck::default();
        let ended = self.scene.run(timeout, |way| {
            let at = (way == self.way).then_some(self.index);
            if way.from == self.way.from {
                faults::tamper(self.fault, at, struck.clone())
            } else {
                tampers::honest()
            }
        });
        (ended, struck.message())
    }

    /// Returns what is wrong with how a party ended, if anything.
    fn verdict(
        self,
        message: Message,
        party: u16,
        ended: &Result<Outputs>,
    ) -> std::result::Result<(), &'static str> {
        let Case { scene, way, fault, .. } = self;
        let victim = party == way.to;
        let framing = victim && fault.breaks_framing(message) && !message.has_any_length();
        let may_recover = scene.has_spares() && fault.keeps_framing();
        match ended {
            Ok(outputs) if !is_right(scene, outputs) => Err("a wrong output"),
            Ok(_) if victim && fault.must_be_noticed(message) && !may_recover => {
                Err("an output without the message")
            }
            Ok(_) => Ok(()),
            Err(_) if fault == Fault::Delayed => Err("an error for nothing"),
            Err(Error::PeerMisbehaved { .. }) if fault.is_innocent() => Err("accuses somebody"),
            Err(Error::PeerMisbehaved { culprit, check, .. }) => {
                let accuses = |other| *culprit == Culprit::Party(other) && other != party;
                let concerned = accuses(way.from.into()) || accuses(way.to.into());
                if framing && (*check, *culprit) != (FRAMING, Culprit::Party(way.from.into())) {
                    Err("the framing was to be noticed")
                } else if concerned || *culprit == Culprit::Unknown && scene.parties() > 2 {
                    Ok(())
                } else {
                    Err("accuses a party that is not concerned")
                }
            }
            Err(Error::PeerIncompatible { .. }) if message.is_hello() => Ok(()),
            Err(Error::Transport { .. }) if framing => Err("the framing was to be noticed"),
            Err(Error::Transport { reason: TransportReason::TimedOut(_), .. })
                if !fault.needs_time_out() =>
            {
                Err("waited for nothing")
            }
            Err(Error::Transport { .. }) => Ok(()),
            Err(_) => Err("an error that is nobody's"),
        }
    }

    /// Returns what is wrong with how all parties ended, if anything.
    fn judge(self, message: Message, ended: &Ended) -> std::result::Result<(), String> {
        for (party, one) in (0..).zip(ended) {
            self.verdict(message, party, one)
                .map_err(|wrong| format!("{message:?}, party {party}: {wrong}; {ended:?}"))?;
        }
        let lost = self.fault.is_innocent() && self.fault != Fault::Delayed;
        if lost && !self.is_named(ended) {
            return Err(format!("nobody says whom it lost: {ended:?}"));
        }
        Ok(())
    }

    /// Returns whether an error names the lost connection: one of the two parties at its ends.
    fn is_named(self, ended: &Ended) -> bool {
        let concerned = [self.way.from, self.way.to].map(|party| Some(party.into()));
        ended.iter().any(|ended| {
            matches!(ended, Err(Error::Transport { party, .. }) if concerned.contains(party))
        })
    }
}

fn is_late(ended: &Result<Outputs>) -> bool {
    matches!(ended, Err(Error::Transport { reason: TransportReason::TimedOut(_), .. }))
}

/// Runs one case; returns what is wrong with how it ended.
fn attempt(case: Case) -> std::result::Result<(), String> {
    let timeouts = if case.fault.needs_time_out() { &TIMEOUTS[..] } else { &[sweep::HANGING] };
    for timeout in timeouts {
        let (ended, struck) = case.run(*timeout);
        if let Some(message) = struck {
            let judged = case.judge(message, &ended);
            // A busy machine may need more time to notice what was changed.
            let was_late = timeouts.last() != Some(timeout) && ended.iter().any(is_late);
            if judged.is_err() && was_late {
                continue;
            }
            return judged;
        }
        // Measuring a slower link takes more messages.
        let right = |ended: &Result<Outputs>| {
            ended.as_ref().is_ok_and(|outputs| is_right(case.scene, outputs))
        };
        if case.scene == Scene::ByLink && ended.iter().all(right) {
            return Ok(());
        }
    }
    Err("no such message".into())
}

/// Returns every message of a scene with every `stride`-th fault: each message with faults other
/// than those of the message before it.
fn cases(scene: Scene, stride: usize) -> Vec<Case> {
    let messages = scene.messages();
    // Two of the handshake and, on the first lane that makes triples, a base OT, two for each of
    // three draws, U, four commitments and openings, two openings with MACs; one online. With
    // fewer, too little would be tested.
    let least = |way: Way| match (way.lane, scene.lanes()) {
        // Its evaluator mostly receives.
        (0, 1) if scene == Scene::Duplo && way.from == 1 => 15,
        (0, 1) => 20,
        (0, _) => 5,
        (1, _) => 15,
        _ => 3,
    };
    assert!(messages.iter().all(|(way, count)| *count >= least(*way)), "{messages:?}");
    let places = messages.into_iter().flat_map(|(way, count)| (0..count).map(move |i| (way, i)));
    let all =
        places.flat_map(|(way, index)| Fault::ALL.map(|fault| Case { scene, way, index, fault }));
    all.step_by(stride).collect()
}

fn try_scene(scene: Scene, stride: usize) {
    sweep::try_all(cases(scene, stride), attempt);
}

/// The distance between the faults tried at each message; it does not divide their number, so all
/// faults get their turn.
const STRIDE: usize = 13;

/// Cheat: `wrk` | every message | 20 faults in turn | the framing; or an error, or the right output
/// | always
#[test]
fn wrk_with_four_rows() {
    try_scene(Scene::FourRow, STRIDE);
}

/// Cheat: `wrk`, two threads | every message | 20 faults in turn | the framing; or an error, or the
/// right output | always
#[test]
fn wrk_with_two_threads() {
    try_scene(Scene::TwoThreads, 3 * STRIDE);
}

/// Cheat: `wrk` | every message, link measured | 20 faults in turn | the framing; or an error, or
/// the right output | always
#[test]
fn wrk_as_the_link_decides() {
    try_scene(Scene::ByLink, 3 * STRIDE);
}

/// Cheat: `wrk`, half-gates | every message | 20 faults in turn | the framing; or an error, or the
/// right output | always
#[test]
fn wrk_with_half_gates() {
    try_scene(Scene::HalfGates, STRIDE);
}

/// Cheat: `ywz` 2 | every message | 20 faults in turn | the framing; or an error, or the right
/// output | always
#[test]
fn ywz_between_two() {
    try_scene(Scene::Pair, STRIDE);
}

/// Cheat: `ywz` 3 | every message | 20 faults in turn | the framing; or an error, or the right
/// output | always
#[test]
fn ywz_among_three() {
    try_scene(Scene::Three, 7 * STRIDE);
}

/// Cheat: `tinytable` | every message | 20 faults in turn | the framing; or an error, or the right
/// output | always
#[test]
fn tinytable() {
    try_scene(Scene::TinyTable, STRIDE);
}

/// Cheat: `tinytable`, `--mac code` | every message | 20 faults in turn | the framing; or an error,
/// or the right output | always
#[test]
fn tables_under_a_code() {
    try_scene(Scene::TableCode, STRIDE);
}

/// Cheat: `duplo` | every message | 20 faults in turn | the framing; or an error, or the right
/// output | always
#[test]
fn duplo() {
    try_scene(Scene::Duplo, 3 * STRIDE);
}

/// Cheat: `dualex` | every message | 20 faults in turn | the framing; or an error, or the right
/// output | always
#[test]
fn dualex() {
    try_scene(Scene::DualEx, 3 * STRIDE);
}

/// Cheat: `wrk`, in segments | every message | 20 faults in turn | the framing; or an error, or the
/// right output | always
#[test]
fn wrk_in_segments() {
    try_scene(Scene::Streamed, 5 * STRIDE);
}

/// Cheat: `wrk`, in segments, two threads | every message | 20 faults in turn | the framing; or an
/// error, or the right output | always
#[test]
fn wrk_in_segments_with_two_threads() {
    try_scene(Scene::StreamedMeanwhile, 9 * STRIDE);
}

/// Cheat: `ywz` 2, in segments | every message | 20 faults in turn | the framing; or an error, or
/// the right output | always
#[test]
fn ywz_in_segments() {
    try_scene(Scene::StreamedPair, 5 * STRIDE);
}

/// Cheat: `wrk`, stock in stores | every message | 20 faults in turn | the framing; or an error, or
/// the right output | always
#[test]
fn wrk_with_a_stock() {
    try_scene(Scene::Stocked, STRIDE);
}

/// Cheat: all of two | every message | every fault | the framing; or an error, or the right output
/// | always
#[test]
#[ignore = "a few minutes"]
fn every_fault_at_every_message_of_two() {
    for scene in [
        Scene::FourRow,
        Scene::TwoThreads,
        Scene::ByLink,
        Scene::HalfGates,
        Scene::Pair,
        Scene::TinyTable,
        Scene::Duplo,
        Scene::DualEx,
        Scene::Streamed,
        Scene::StreamedPair,
        Scene::StreamedMeanwhile,
        Scene::Stocked,
    ] {
        try_scene(scene, 1);
    }
}

/// Cheat: `ywz` 3 | every message | every fault | the framing; or an error, or the right output |
/// always
#[test]
#[ignore = "ten minutes"]
fn every_fault_at_every_message_of_three() {
    try_scene(Scene::Three, 1);
}
