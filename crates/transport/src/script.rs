//! What a party sends, receives and computes, in order and known in advance.
//!
//! A [`Script`] tells what the [`Meter`](crate::Meter) will count, to the byte. Scripts of all
//! parties, [played](play) over a link, tell how long they take: so work and waiting overlap as
//! they do in a run.

use std::collections::VecDeque;

use symbolon_common::PartyId;

use crate::wire::HEADER;

/// A kind of work, with the time that it takes on a typical machine.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    name: &'static str,
    nanos: f64,
}

impl Unit {
    /// Declares a unit of work, and its nanoseconds on a typical machine.
    pub const fn new(name: &'static str, nanos: f64) -> Unit {
        Unit { name, nanos }
    }

    /// Returns its name, which is unique.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns its nanoseconds on a typical machine.
    pub const fn nanos(self) -> f64 {
        self.nanos
    }
}

impl PartialEq for Unit {
    fn eq(&self, other: &Unit) -> bool {
        self.name == other.name
    }
}

/// A step of a party.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Begins a phase, or continues it.
    Phase(&'static str),
    /// Sends a message of this size, with its header.
    Send(PartyId, u64),
    /// Waits for the next message.
    Receive(PartyId),
    /// Computes this many units.
    Work(Unit, f64),
}

/// Bytes and messages that a party sends, as the meter counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Headers and payloads.
    pub bytes: u64,
    /// Messages.
    pub messages: u64,
}

/// What a party does in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseScript {
    /// The phase's name.
    pub phase: &'static str,
    /// What the party sends to all peers.
    pub sent: Traffic,
    /// Rounds, as [`Meter`](crate::Meter) defines them, on one lane.
    pub rounds: u64,
}

/// What a party does, in order, on one lane.
#[derive(Clone, Debug)]
pub struct Script {
    me: PartyId,
    parties: u16,
    actions: Vec<Action>,
}

impl Script {
    /// Returns an empty script for party `me` among a number of parties.
    pub fn new(me: impl Into<PartyId>, parties: u16) -> Script {
        Script { me: me.into(), parties, actions: Vec::new() }
    }

    /// Returns whose script it is.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// Returns how many parties there are.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// Returns all other parties, in ascending order.
    pub fn peers(&self) -> impl Iterator<Item = PartyId> + use<> {
        let me = self.me;
        PartyId::all(self.parties).filter(move |peer| *peer != me)
    }

    /// Returns all steps.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Begins a phase.
    pub fn phase(&mut self, phase: &'static str) {
        self.actions.push(Action::Phase(phase));
    }

    /// Sends a message with this payload, in bytes.
    pub fn send(&mut self, to: PartyId, payload: u64) {
        self.actions.push(Action::Send(to, payload.saturating_add(HEADER as u64)));
    }

    /// Sends every peer a message with this payload.
    pub fn send_all(&mut self, payload: u64) {
        self.peers().for_each(|peer| self.send(peer, payload));
    }

    /// Receives a message.
    pub fn receive(&mut self, from: PartyId) {
        self.actions.push(Action::Receive(from));
    }

    /// Receives a message from every peer.
    pub fn receive_all(&mut self) {
        self.peers().for_each(|peer| self.receive(peer));
    }

    /// Sends every peer a message with this payload, and receives one from each.
    pub fn exchange(&mut self, payload: u64) {
        self.send_all(payload);
        self.receive_all();
    }

    /// Computes this many units.
    pub fn work(&mut self, unit: Unit, amount: f64) {
        if amount > 0.0 {
            self.actions.push(Action::Work(unit, amount));
        }
    }

    /// Returns the steps of each phase together, in the order in which phases begin.
    pub fn phases(&self) -> Vec<PhaseScript> {
        let mut phases: Vec<(PhaseScript, Vec<[u64; 2]>)> = Vec::new();
        // By peer: whether its last step was a message that was received.
        let mut last: Vec<Option<bool>> = vec![None; usize::from(self.parties)];
        let mut current = 0;
        for action in &self.actions {
            let (peer, received) = match *action {
                Action::Phase(phase) => {
                    let known = phases.iter().position(|(known, _)| known.phase == phase);
                    current = known.unwrap_or_else(|| {
                        let new = PhaseScript { phase, sent: Traffic::default(), rounds: 0 };
                        phases.push((new, vec![[0; 2]; usize::from(self.parties)]));
                        phases.len() - 1
                    });
                    last.fill(None);
                    continue;
                }
                Action::Work(..) => continue,
                Action::Send(peer, _) => (peer, false),
                Action::Receive(peer) => (peer, true),
            };
            let Some((phase, runs)) = phases.get_mut(current) else { continue };
            if let Action::Send(_, bytes) = *action {
                phase.sent.bytes = phase.sent.bytes.saturating_add(bytes);
                phase.sent.messages += 1;
            }
            if last[peer.index()].replace(received) != Some(received) {
                runs[peer.index()][usize::from(received)] += 1;
            }
        }
        let rounds = |runs: &[[u64; 2]]| runs.iter().flatten().copied().max().unwrap_or(0);
        let done =
            phases.into_iter().map(|(phase, runs)| PhaseScript { rounds: rounds(&runs), ..phase });
        done.collect()
    }
}

/// A link between any two parties, in both directions alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkModel {
    /// Seconds from a message's last byte to its arrival.
    pub trip: f64,
    /// Seconds per byte.
    pub byte: f64,
}

/// Returns the seconds of each phase, at the party that takes longest, if all parties follow their
/// scripts over links like this, and `seconds` tells how long a unit of work takes. `None` if a
/// message is awaited that nobody sends.
pub fn play(
    scripts: &[Script],
    link: LinkModel,
    seconds: impl Fn(Unit) -> f64,
) -> Option<Vec<(&'static str, f64)>> {
    let n = scripts.len();
    let mut parties: Vec<Playing<'_>> = scripts.iter().map(Playing::new).collect();
    let mut links: Vec<Direction> = (0..n * n).map(|_| Direction::default()).collect();
    let mut moved = true;
    while moved {
        moved = false;
        for party in &mut parties {
            while party.step(&mut links, link, &seconds) {
                moved = true;
            }
        }
    }
    let mut all: Vec<(&'static str, f64)> = Vec::new();
    for mut party in parties {
        if !party.left.is_empty() {
            return None;
        }
        party.end_phase();
        for (phase, seconds) in party.phases {
            match all.iter_mut().find(|(known, _)| *known == phase) {
                Some((_, most)) => *most = most.max(seconds),
                None => all.push((phase, seconds)),
            }
        }
    }
    Some(all)
}

/// Messages under way from one party to another.
#[derive(Default)]
struct Direction {
    arrivals: VecDeque<f64>,
    free: f64,
}

/// A party in the middle of its script.
struct Playing<'a> {
    me: usize,
    parties: usize,
    left: &'a [Action],
    now: f64,
    since: f64,
    phase: &'static str,
    phases: Vec<(&'static str, f64)>,
}

impl<'a> Playing<'a> {
    fn new(script: &'a Script) -> Playing<'a> {
        Playing {
            me: script.me.index(),
            parties: usize::from(script.parties),
            left: &script.actions,
            now: 0.0,
            since: 0.0,
            phase: "",
            phases: Vec::new(),
        }
    }

    /// Takes the next step, unless there is none or its message has not been sent.
    fn step(
        &mut self,
        links: &mut [Direction],
        link: LinkModel,
        seconds: impl Fn(Unit) -> f64,
    ) -> bool {
        let Some((&action, left)) = self.left.split_first() else { return false };
        match action {
            Action::Phase(phase) => {
                self.end_phase();
                self.phase = phase;
            }
            Action::Work(unit, amount) => self.now += amount * seconds(unit),
            Action::Send(to, bytes) => {
                let direction = &mut links[self.me * self.parties + to.index()];
                direction.free = direction.free.max(self.now) + bytes as f64 * link.byte;
                direction.arrivals.push_back(direction.free + link.trip);
            }
            Action::Receive(from) => {
                let direction = &mut links[from.index() * self.parties + self.me];
                let Some(arrival) = direction.arrivals.pop_front() else { return false };
                self.now = self.now.max(arrival);
            }
        }
        self.left = left;
        true
    }

    fn end_phase(&mut self) {
        let seconds = self.now - std::mem::replace(&mut self.since, self.now);
        match self.phases.iter_mut().find(|(known, _)| *known == self.phase) {
            Some((_, sum)) => *sum += seconds,
            None if self.phase.is_empty() => {}
            None => self.phases.push((self.phase, seconds)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Unit = Unit::new("work", 1.0);

    /// A question and its answer, over which work is done: 3 s there, 2 s back.
    fn question() -> [Script; 2] {
        let [mut a, mut b] = [0, 1].map(|me| Script::new(me, 2));
        a.phase("ask");
        a.send(1.into(), 92);
        a.work(WORK, 1.0);
        a.receive(1.into());
        b.phase("ask");
        b.receive(0.into());
        b.work(WORK, 2.0);
        b.send(0.into(), 0);
        [a, b]
    }

    #[test]
    fn a_script_counts_as_the_meter_does() {
        let [mut a, _] = question();
        a.exchange(2);
        a.phase("then");
        a.receive_all();
        let told = a.phases();
        let sent = Traffic { bytes: 110, messages: 2 };
        assert_eq!(told[0], PhaseScript { phase: "ask", sent, rounds: 2 });
        let sent = Traffic::default();
        assert_eq!(told[1], PhaseScript { phase: "then", sent, rounds: 1 });
    }

    #[test]
    fn work_and_waiting_overlap() {
        let link = LinkModel { trip: 1.0, byte: 0.01 };
        let played = play(&question(), link, |_| 1.0).unwrap();
        let [("ask", seconds)] = played[..] else { panic!("{played:?}") };
        assert!((seconds - (1.0 + 1.0 + 2.0 + 0.08 + 1.0)).abs() < 1e-9, "{seconds}");
        let [a, _] = question();
        assert_eq!(play(&[a, Script::new(1, 2)], link, |_| 1.0), None);
    }
}
