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
    threads: Threads,
}

/// On how many threads a party does a kind of work, where its machine has the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// On one.
    One,
    /// On at most this many, while its peers wait.
    InTurn(u16),
    /// On at most this many, while its peers work too.
    AtOnce(u16),
}

impl Threads {
    /// Returns how many run at a time on a machine with this many cores and parties.
    pub fn running(self, cores: u16, parties: u16) -> u16 {
        match self {
            Threads::One => 1,
            Threads::InTurn(most) => most.min(cores).max(1),
            Threads::AtOnce(most) => most.min(cores / parties.max(1)).max(1),
        }
    }
}

impl Unit {
    /// Declares a unit of work, and its nanoseconds of one thread on a typical machine.
    pub const fn new(name: &'static str, nanos: f64) -> Unit {
        Unit { name, nanos, threads: Threads::One }
    }

    /// Declares that several threads share such work.
    pub const fn on(self, threads: Threads) -> Unit {
        Unit { threads, ..self }
    }

    /// Returns on how many threads a party does it.
    pub const fn threads(self) -> Threads {
        self.threads
    }

    /// Returns its name, which is unique.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns its nanoseconds of one thread on a typical machine.
    pub const fn nanos(self) -> f64 {
        self.nanos
    }
}

impl PartialEq for Unit {
    fn eq(&self, other: &Unit) -> bool {
        self.name == other.name
    }
}

/// A message, at its sender and at its receiver.
pub const MESSAGE: Unit = Unit::new("message", 4_000.0);

/// A byte of a message, at its sender and at its receiver.
pub const BYTE: Unit = Unit::new("byte", 0.3);

/// What passes between the arrival of a message and the next step of a party that waited for it.
pub const WAKE: Unit = Unit::new("wake-up", 5_000.0);

/// The work of messages, whatever they have.
pub const UNITS: &[Unit] = &[MESSAGE, BYTE, WAKE];

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

/// An amount of a kind of work in one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// The phase's name.
    pub phase: &'static str,
    /// The kind of work.
    pub unit: Unit,
    /// How much of it.
    pub amount: f64,
}

impl Script {
    /// Returns all work, with that of messages, but without wake-ups.
    pub fn work_in_all(&self) -> Vec<Amount> {
        let mut all: Vec<Amount> = Vec::new();
        let mut current = "";
        let mut add = |phase, unit, amount| match all
            .iter_mut()
            .find(|one| one.phase == phase && one.unit == unit)
        {
            Some(one) => one.amount += amount,
            None => all.push(Amount { phase, unit, amount }),
        };
        for action in &self.actions {
            match *action {
                Action::Phase(phase) => current = phase,
                Action::Work(unit, amount) => add(current, unit, amount),
                // The sender's bytes count twice, because its receiver does not know them.
                Action::Send(_, bytes) => {
                    add(current, MESSAGE, 1.0);
                    add(current, BYTE, 2.0 * bytes as f64);
                }
                Action::Receive(_) => add(current, MESSAGE, 1.0),
            }
        }
        all
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

/// The seconds of each phase of a party, in the order in which phases begin.
pub type PhaseTimes = Vec<(&'static str, f64)>;

/// Returns the seconds of each phase, by party, if all parties follow their scripts over links like
/// this, and `seconds` tells how long a unit of work takes. `None` if a message is awaited that
/// nobody sends.
pub fn play(
    scripts: &[Script],
    link: LinkModel,
    seconds: impl Fn(Unit) -> f64,
) -> Option<Vec<PhaseTimes>> {
    let messages =
        Messages { link, each: seconds(MESSAGE), byte: seconds(BYTE), wake: seconds(WAKE) };
    let n = scripts.len();
    let mut parties: Vec<Playing<'_>> = scripts.iter().map(Playing::new).collect();
    let mut links: Vec<Direction> = (0..n * n).map(|_| Direction::default()).collect();
    let mut moved = true;
    while moved {
        moved = false;
        for party in &mut parties {
            while party.step(&mut links, messages, &seconds) {
                moved = true;
            }
        }
    }
    let mut all = Vec::new();
    for mut party in parties {
        if !party.left.is_empty() {
            return None;
        }
        party.end_phase();
        all.push(party.phases);
    }
    Some(all)
}

/// What messages take.
#[derive(Clone, Copy)]
struct Messages {
    link: LinkModel,
    /// Seconds of [`MESSAGE`], [`BYTE`] and [`WAKE`].
    each: f64,
    byte: f64,
    wake: f64,
}

/// Messages under way from one party to another.
#[derive(Default)]
struct Direction {
    /// When each message arrives, and how many bytes it has.
    arrivals: VecDeque<(f64, u64)>,
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
    phases: PhaseTimes,
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
        messages: Messages,
        seconds: impl Fn(Unit) -> f64,
    ) -> bool {
        let Messages { link, each, byte, wake } = messages;
        let Some((&action, left)) = self.left.split_first() else { return false };
        match action {
            Action::Phase(phase) => {
                self.end_phase();
                self.phase = phase;
            }
            Action::Work(unit, amount) => self.now += amount * seconds(unit),
            Action::Send(to, bytes) => {
                let direction = &mut links[self.me * self.parties + to.index()];
                self.now += each + bytes as f64 * byte;
                direction.free = direction.free.max(self.now) + bytes as f64 * link.byte;
                direction.arrivals.push_back((direction.free + link.trip, bytes));
            }
            Action::Receive(from) => {
                let direction = &mut links[from.index() * self.parties + self.me];
                let Some((arrival, bytes)) = direction.arrivals.pop_front() else { return false };
                if arrival > self.now {
                    self.now = arrival + wake;
                }
                self.now += each + bytes as f64 * byte;
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
    fn threads_take_turns_where_parties_share_a_machine() {
        let running = |threads: Threads| {
            [(1, 1), (2, 1), (2, 2), (16, 2)]
                .map(|(cores, parties)| threads.running(cores, parties))
        };
        assert_eq!(running(Threads::One), [1; 4]);
        assert_eq!(running(Threads::InTurn(8)), [1, 2, 2, 8]);
        assert_eq!(running(Threads::AtOnce(2)), [1, 2, 1, 2]);
    }

    #[test]
    fn work_and_waiting_overlap() {
        let link = LinkModel { trip: 1.0, byte: 0.01 };
        let seconds = |unit: Unit| if unit == WORK { 1.0 } else { 0.0 };
        let played = play(&question(), link, seconds).unwrap();
        // The question arrives after two seconds, the answer after 1.08 more.
        let expected = [1.0 + 1.0 + 2.0 + 0.08 + 1.0, 1.0 + 1.0 + 2.0];
        for (phases, expected) in played.iter().zip(expected) {
            let [("ask", seconds)] = phases[..] else { panic!("{phases:?}") };
            assert!((seconds - expected).abs() < 1e-9, "{seconds}");
        }
        let [a, _] = question();
        assert_eq!(play(&[a, Script::new(1, 2)], link, seconds), None);
    }

    /// Messages take time at both ends, and a party that waited wakes up.
    #[test]
    fn messages_are_work() {
        let link = LinkModel { trip: 1.0, byte: 0.01 };
        let seconds = |unit: Unit| match () {
            () if unit == MESSAGE => 0.5,
            () if unit == BYTE => 0.02,
            () if unit == WAKE => 0.25,
            () => 1.0,
        };
        let played = play(&question(), link, seconds).unwrap();
        let sent = 0.5 + 2.0;
        let received = sent + 1.0 + 1.0 + 0.25 + 0.5 + 2.0;
        let answered = received + 2.0 + 0.5 + 8.0 * 0.02;
        let [("ask", of_b)] = played[1][..] else { panic!("{played:?}") };
        assert!((of_b - answered).abs() < 1e-9, "{of_b}");
        let [("ask", of_a)] = played[0][..] else { panic!("{played:?}") };
        let done = answered + 0.08 + 1.0 + 0.25 + 0.5 + 8.0 * 0.02;
        assert!((of_a - done).abs() < 1e-9, "{of_a}");
    }

    #[test]
    fn all_work_of_a_phase_is_summed_up() {
        let [mut a, _] = question();
        a.work(WORK, 2.0);
        let amount = |unit, amount| Amount { phase: "ask", unit, amount };
        let all = [amount(MESSAGE, 2.0), amount(BYTE, 200.0), amount(WORK, 3.0)];
        assert_eq!(a.work_in_all(), all);
    }
}
