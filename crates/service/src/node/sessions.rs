//! Sessions: party 0 opens them, fills them and gives calls to them; the others follow.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use symbolon::circuit::PartyId;
use symbolon::stored::FilledStock;
use symbolon::{CancelHandle, Error, Outputs};

use super::Shared;
use super::state::{At, Command, OpenSession, State};
use super::worker::{Ran, Worker};
use crate::error::CallError;
use crate::metrics::OfFunction;
use crate::name::Name;
use crate::wire::{Message, Tag};

/// A refill that is not urgent begins this long after the last call.
const QUIET: Duration = Duration::from_millis(200);

/// Calls that wait for busy sessions do so no longer than this if other sessions can be filled.
const STUCK: Duration = Duration::from_secs(1);

/// About as many AND gates are prepared at a time, so that a call waits for no more.
const GATES_AT_A_TIME: u64 = 1 << 15;

impl Shared {
    /// Party 0: opens sessions, gives waiting calls to idle ones, and refills.
    pub(super) fn pump(&self, state: &mut State, function: usize) {
        if self.me != 0 || !state.functions[function].is_agreed(self.me) {
            return;
        }
        let now = Instant::now();
        if !state.draining {
            self.open_slots(state, function, now);
        }
        while let Some(place) = most_ready(state, function) {
            let Some(call) = self.next_call(state, function) else { break };
            self.assign(state, function, place, &call);
        }
        if !state.draining {
            self.refill(state, function, now);
        }
    }

    fn open_slots(&self, state: &mut State, function: usize, now: Instant) {
        for place in 0..state.functions[function].slots.len() {
            let one = &mut state.functions[function];
            match one.slots[place].at {
                At::Closed { retry } if retry <= now => {}
                _ => continue,
            }
            let name = one.spec.config.name.clone();
            let opened = Tag::draw().and_then(|session| {
                self.start_session(state, function, session)?;
                Ok(session)
            });
            let slot = &mut state.functions[function].slots[place];
            match opened {
                Ok(session) => {
                    slot.at = At::Opening(session);
                    state.broadcast(&Message::Open { function: name, session });
                }
                Err(error) => {
                    let function = name.as_str();
                    tracing::warn!(target: crate::LOG, function, %error, "cannot open a session");
                    slot.close(now);
                }
            }
        }
    }

    fn assign(&self, state: &mut State, function: usize, place: usize, call: &Name) {
        let one = &mut state.functions[function];
        let slot = &mut one.slots[place];
        let Some(session) = slot.at.tag() else { return };
        slot.ready -= 1;
        slot.at = At::Running(session);
        let name = one.spec.config.name.clone();
        state.broadcast(&Message::Assign { function: name, call: call.clone(), session });
        self.run(state, function, call, session);
    }

    /// Gives a call to a session's thread; returns whether that is possible.
    fn run(&self, state: &mut State, function: usize, call: &Name, session: Tag) -> bool {
        let open = state.sessions.get(&session);
        if !open.is_some_and(|open| open.function == function && open.ready > 0) {
            return false;
        }
        let Some((inputs, clients)) = self.take(state, function, call) else { return false };
        if let Some(open) = state.sessions.get_mut(&session) {
            open.ready -= 1;
            open.running += 1;
            self.told.tell();
            // Its thread reads until the session is removed.
            let _ = open.queue.send(Command::Run { call: call.clone(), inputs, clients });
        }
        true
    }

    /// Begins a refill where one is due: at once only for calls for which nothing is prepared.
    fn refill(&self, state: &mut State, function: usize, now: Instant) {
        loop {
            let one = &mut state.functions[function];
            let config = &one.spec.config;
            let ready: usize = one.slots.iter().map(|slot| slot.ready).sum();
            if ready < config.low {
                one.refilling = true;
            } else if ready >= config.ready {
                one.refilling = false;
            }
            let filling = one.slots.iter().filter(|slot| matches!(slot.at, At::Filling(_))).count();
            let still = one.ran.map_or(Duration::MAX, |ran| now.duration_since(ran));
            let due = match lacking(one.queue.len(), ready, still) {
                0 => {
                    let may = still >= QUIET || ready < config.low.min(config.side_by_side);
                    one.refilling && may && state.filling < self.fills
                }
                lacking => filling < lacking,
            };
            // From one store one session takes over at a time: two would lock parts of one group.
            let due = due && (self.store.is_none() || filling == 0);
            let each = config.ready_each();
            let empty = |at: At| matches!(at, At::Idle(_));
            let least = one.slots.iter().enumerate().filter(|(_, slot)| empty(slot.at));
            let least = least.min_by_key(|(_, slot)| slot.ready);
            let Some((place, slot)) = least.filter(|(_, slot)| due && slot.ready < each) else {
                return;
            };
            let at_a_time = GATES_AT_A_TIME / one.spec.and_gates.max(1);
            let count = (each - slot.ready).min(at_a_time.clamp(1, 64) as usize);
            let Some(session) = slot.at.tag() else { return };
            one.slots[place].at = At::Filling(session);
            state.filling += 1;
            state.broadcast(&Message::Fill { session, count });
            fill(state, session, count);
            self.told.tell();
        }
    }

    /// Starts the thread of a session.
    fn start_session(&self, state: &mut State, function: usize, tag: Tag) -> symbolon::Result<()> {
        let (queue, commands) = mpsc::channel();
        let cancel = CancelHandle::new();
        let shared = self.own.upgrade().ok_or_else(|| Error::Internal("no node".to_string()))?;
        let spec = state.functions[function].spec.clone();
        let relations = state.peers.iter().map(|peer| peer.relation.clone()).collect();
        let worker =
            Worker { shared, spec, function, tag, relations, cancel: cancel.clone(), runs: 0 };
        worker.start(commands)?;
        let open = OpenSession { function, queue, cancel, ready: 0, preparing: 0, running: 0 };
        state.sessions.insert(tag, open);
        self.told.tell();
        Ok(())
    }

    /// A session is open.
    pub(super) fn opened(&self, tag: Tag) {
        let state = &mut *self.lock();
        self.idle(state, tag, 0);
    }

    /// Returns whether executions of a function that are being prepared are urgent: calls wait for
    /// them, or no others are ready. Work that began at low priority would not hurry for a call.
    pub(super) fn is_urgent(&self, function: usize) -> bool {
        is_urgent(&self.lock(), function)
    }

    /// A session has more prepared executions.
    pub(super) fn filled(&self, tag: Tag, filled: FilledStock) {
        let state = &mut *self.lock();
        let FilledStock { kept, made, voided } = filled;
        if let Some(open) = state.sessions.get_mut(&tag) {
            open.preparing = 0;
            let function = state.functions[open.function].spec.config.name.to_string();
            if kept + voided > 0 {
                tracing::info!(target: crate::LOG, function, kept, voided, "the store was compared");
            }
            self.metrics.filled(function, &filled);
        }
        self.idle(state, tag, kept + made);
    }

    /// A call ran.
    pub(super) fn ran(&self, tag: Tag, call: Ran<'_>, done: Result<Outputs, Error>) {
        let Ran { function, call, loads } = call;
        let state = &mut *self.lock();
        let went_well = done.is_ok();
        self.finish(state, function, call, done.map_err(CallError::Run));
        if let Some(open) = state.sessions.get_mut(&tag) {
            open.running = open.running.saturating_sub(1);
            if went_well && !loads {
                self.idle(state, tag, 0);
            }
        }
        self.told.tell();
        self.changed.notify_all();
    }

    /// A session has loaded executions after a call.
    pub(super) fn loaded(&self, tag: Tag) {
        self.idle(&mut self.lock(), tag, 0);
    }

    /// A session can do something else; `made` executions were prepared.
    fn idle(&self, state: &mut State, tag: Tag, made: usize) {
        self.told.tell();
        let Some(open) = state.sessions.get(&tag) else { return };
        let function = open.function;
        let slots = &mut state.functions[function].slots;
        if let Some(slot) = slots.iter_mut().find(|slot| slot.at.tag() == Some(tag)) {
            if matches!(slot.at, At::Filling(_)) {
                state.filling = state.filling.saturating_sub(1);
                slot.failures = 0;
            }
            slot.at = At::Idle(tag);
            slot.ready += made;
            self.pump(state, function);
        }
    }

    /// A session failed here.
    pub(super) fn failed(&self, tag: Tag, error: &Error) {
        let state = &mut *self.lock();
        self.note_failure(state, tag, error);
        self.close(state, tag);
    }

    fn note_failure(&self, state: &State, tag: Tag, error: &Error) {
        if let Some(open) = state.sessions.get(&tag) {
            let name = state.functions[open.function].spec.config.name.to_string();
            tracing::warn!(target: crate::LOG, function = name, %error, "a session failed");
            self.metrics.failed.get_or_create(&OfFunction { function: name }).inc();
        }
    }

    /// Closes a session and tells the others. A call that runs in it goes on to its end.
    fn close(&self, state: &mut State, tag: Tag) {
        if self.remove(state, tag) {
            state.broadcast(&Message::Closed { session: tag });
        }
    }

    /// Forgets a session; returns whether there was one.
    fn remove(&self, state: &mut State, tag: Tag) -> bool {
        let Some(open) = state.sessions.remove(&tag) else { return false };
        self.told.tell();
        if open.running == 0 {
            open.cancel.cancel();
        }
        let slots = &mut state.functions[open.function].slots;
        if let Some(slot) = slots.iter_mut().find(|slot| slot.at.tag() == Some(tag)) {
            if matches!(slot.at, At::Filling(_)) {
                state.filling = state.filling.saturating_sub(1);
            }
            slot.close(Instant::now());
        }
        true
    }

    /// Closes all sessions: each is with all parties.
    pub(super) fn close_all(&self, state: &mut State) {
        let all: Vec<Tag> = state.sessions.keys().copied().collect();
        all.into_iter().for_each(|tag| self.close(state, tag));
    }

    /// Closes all sessions of a function. Calls that run go on to their ends.
    pub(super) fn close_sessions(&self, state: &mut State, function: usize) {
        let of = state.sessions.iter().filter(|(_, open)| open.function == function);
        let all: Vec<Tag> = of.map(|(tag, _)| *tag).collect();
        all.into_iter().for_each(|tag| self.close(state, tag));
    }

    /// A session ended at a peer.
    pub(super) fn peer_closed(&self, state: &mut State, tag: Tag) {
        match self.me == 0 {
            true => self.close(state, tag),
            false => drop(self.remove(state, tag)),
        }
    }

    /// Party 0 opens a session. One that is not wanted here is closed there.
    pub(super) fn asked_to_open(&self, state: &mut State, name: &Name, tag: Tag) {
        let function = state.function(name).filter(|place| {
            let one = &state.functions[*place];
            let open = state.sessions.values().filter(|open| open.function == *place).count();
            one.is_agreed(self.me) && open < one.spec.config.side_by_side
        });
        let started = match function {
            Some(function) if !state.sessions.contains_key(&tag) && !state.draining => {
                self.start_session(state, function, tag)
            }
            _ => Err(Error::Internal("not wanted".to_string())),
        };
        if let Err(error) = started {
            let function = name.as_str();
            tracing::warn!(target: crate::LOG, function, %error, "does not open a session");
            state.send(PartyId::new(0), &Message::Closed { session: tag });
        }
    }

    /// Party 0 prepares executions, not more than both sides said.
    pub(super) fn asked_to_fill(&self, state: &mut State, tag: Tag, count: usize) {
        let fits = state.sessions.get(&tag).is_some_and(|open| {
            let each = state.functions[open.function].spec.config.ready_each();
            count >= 1 && count <= each && open.ready + count <= each
        });
        match fits {
            true => {
                fill(state, tag, count);
                self.told.tell();
            }
            false => self.refuse(state, tag, "party 0 prepares more than was agreed"),
        }
    }

    /// Party 0 gives an execution to a call. It can only be one that this party has inputs for, and
    /// only once.
    pub(super) fn assigned(&self, state: &mut State, name: &Name, call: &Name, tag: Tag) {
        let function = state.function(name);
        if !function.is_some_and(|function| self.run(state, function, call, tag)) {
            self.refuse(state, tag, "party 0 assigns what is not there");
        }
    }

    fn refuse(&self, state: &mut State, tag: Tag, why: &str) {
        self.note_failure(state, tag, &Error::Internal(why.to_string()));
        self.remove(state, tag);
        state.send(PartyId::new(0), &Message::Closed { session: tag });
    }
}

/// Returns how many executions are lacking for calls that wait. One that only waits for a busy
/// session needs nothing new, unless no call has begun for a while: that session may be stuck.
fn lacking(waiting: usize, ready: usize, still: Duration) -> usize {
    if still >= STUCK { waiting } else { waiting.saturating_sub(ready) }
}

fn fill(state: &mut State, tag: Tag, count: usize) {
    if let Some(open) = state.sessions.get_mut(&tag) {
        open.ready += count;
        open.preparing += count;
        let _ = open.queue.send(Command::Fill(count));
    }
}

/// Returns whether calls wait for a function, or its sessions have nothing but what they prepare.
fn is_urgent(state: &State, function: usize) -> bool {
    let mut of = state.sessions.values().filter(|open| open.function == function);
    state.functions[function].waiting > 0 || of.all(|open| open.ready == open.preparing)
}

/// Returns the idle session that has most prepared.
fn most_ready(state: &State, function: usize) -> Option<usize> {
    let slots = state.functions[function].slots.iter().enumerate();
    let idle = slots.filter(|(_, slot)| matches!(slot.at, At::Idle(_)) && slot.ready > 0);
    idle.max_by_key(|(_, slot)| slot.ready).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use symbolon::circuit::builtin;
    use symbolon::{Protocol, SessionParams};

    use super::super::state::FunctionState;
    use super::*;
    use crate::config::{Function, FunctionConfig};

    /// Returns two functions, whose sessions have these numbers of executions that are prepared or
    /// being prepared, and of those that are being prepared.
    fn state(sessions: &[(usize, usize, usize)]) -> State {
        let circuit = Arc::new(builtin::by_name("add:8").unwrap());
        let function = |name: &str| {
            let params = SessionParams::new(Protocol::Wrk);
            let config = FunctionConfig::new(name.parse().unwrap(), circuit.clone(), params);
            FunctionState::new(Arc::new(Function::new(config, false)), 2, Vec::new(), None)
        };
        let open = |(number, (function, ready, preparing)): (usize, &(usize, usize, usize))| {
            let (queue, cancel) = (mpsc::channel().0, CancelHandle::new());
            let (function, ready, preparing) = (*function, *ready, *preparing);
            let open = OpenSession { function, queue, cancel, ready, preparing, running: 0 };
            (Tag([number as u8; 16]), open)
        };
        State {
            functions: vec![function("f"), function("g")],
            peers: Vec::new(),
            sessions: sessions.iter().enumerate().map(open).collect(),
            ledger: None,
            filling: 0,
            draining: false,
            generation: 0,
        }
    }

    #[test]
    fn a_refill_is_urgent_when_calls_wait_or_nothing_else_is_ready() {
        // One session has some ready: nothing is urgent.
        let mut state = state(&[(0, 5, 2), (0, 1, 1)]);
        assert!(!is_urgent(&state, 0));
        // The other function has none at all.
        assert!(is_urgent(&state, 1));
        state.functions[0].waiting = 1;
        assert!(is_urgent(&state, 0));
    }

    #[test]
    fn what_others_prepare_and_have_ready_elsewhere_does_not_count() {
        // All that there is is being prepared.
        assert!(is_urgent(&state(&[(0, 2, 2), (0, 3, 3), (0, 0, 0)]), 0));
        // The executions of another function answer no calls of this one.
        let state = state(&[(0, 2, 2), (1, 9, 0)]);
        assert!(is_urgent(&state, 0));
        assert!(!is_urgent(&state, 1));
    }

    #[test]
    fn calls_that_wait_for_busy_sessions_lack_nothing_until_these_are_stuck() {
        assert_eq!(lacking(5, 6, STUCK / 2), 0);
        assert_eq!(lacking(5, 3, STUCK / 2), 2);
        assert_eq!(lacking(5, 6, STUCK), 5);
        assert_eq!(lacking(0, 0, STUCK), 0);
    }
}
