//! Calls: inputs arrive, wait for those of the others, and become an answer.

use std::sync::Arc;
use std::time::Instant;

use subtle::ConstantTimeEq;
use symbolon::circuit::PartyId;
use symbolon::{Inputs, Outputs};

use super::Shared;
use super::state::{Entry, Own, State};
use crate::clients::{Digest, own_port};
use crate::error::{CallError, Reason};
use crate::name::Name;
use crate::outcome::Outcome;
use crate::wire::Message;

/// The maximum number of answers that are kept of a function.
const MAX_KEPT: usize = 100_000;

impl Shared {
    /// Takes this party's inputs for a call; returns where the answer arrives.
    pub(super) fn post(
        &self,
        function: usize,
        call: &Name,
        inputs: Inputs,
    ) -> Result<Arc<Outcome>, CallError> {
        self.post_locked(&mut self.lock(), function, call, inputs)
    }

    /// The same for a state that is locked.
    pub(super) fn post_locked(
        &self,
        state: &mut State,
        function: usize,
        call: &Name,
        inputs: Inputs,
    ) -> Result<Arc<Outcome>, CallError> {
        let digest = inputs.digest(&self.digest_key);
        let now = Instant::now();
        if let Some(entry) = state.functions[function].calls.get(call) {
            match &entry.own {
                Own::Waiting { digest: known, .. }
                | Own::Withdrawing { digest: known, .. }
                | Own::Running { digest: known }
                | Own::Done { digest: known, .. } => {
                    let again = entry.outcome.get().is_some_and(|answer| match &*answer {
                        Err(error) => !error.used(),
                        Ok(_) => false,
                    });
                    if !again {
                        let same = bool::from(digest.ct_eq(known));
                        let outcome = entry.outcome.clone();
                        return if same { Ok(outcome) } else { Err(CallError::OtherInputs) };
                    }
                }
                Own::None => {}
            }
        }
        self.admit(state, function, call, now)?;
        let parties = self.parties();
        let one = &mut state.functions[function];
        let until = now + one.spec.config.wait;
        let entry = one.calls.entry(call.clone()).or_insert_with(|| Entry::new(parties, now));
        entry.own = Own::Waiting { inputs, digest, until };
        (entry.posted, entry.outcome) = (now, Arc::default());
        let outcome = entry.outcome.clone();
        one.waiting += 1;
        self.told.tell();
        one.due.push_back((until, call.clone()));
        one.set_have(call, self.me, true);
        self.close_clients(state, function, call, now);
        PartyId::all(parties).for_each(|party| self.announce(state, function, call, party));
        self.settle_clients(state, function, call);
        self.enqueue(state, function, call);
        Ok(outcome)
    }

    /// Checks whether this party's inputs for a call may wait now, and reserves a call.
    fn admit(
        &self,
        state: &mut State,
        function: usize,
        call: &Name,
        now: Instant,
    ) -> Result<(), CallError> {
        if state.draining {
            return Err(CallError::Draining);
        }
        let leaving =
            PartyId::all(state.peers.len()).find(|party| state.peers[usize::from(*party)].draining);
        if let Some(party) = leaving {
            return Err(CallError::RefusedByPeer(party, Reason::Draining));
        }
        let State { functions, ledger, .. } = state;
        let one = &mut functions[function];
        if one.retired {
            return Err(CallError::NoFunction);
        }
        if let Some(why) = one.disagreement() {
            return Err(CallError::Disabled(why.to_string()));
        }
        let config = &one.spec.config;
        let has = |party: PartyId| {
            one.calls.get(call).is_some_and(|entry| entry.have[usize::from(party)])
        };
        let mut starters = PartyId::all(self.parties()).filter(|party| config.may_start(*party));
        if !config.may_start(self.me) && !starters.any(has) {
            return Err(CallError::NotACaller);
        }
        let refused = match one.waiting >= config.waiting {
            true => Err((CallError::Busy, Reason::Busy)),
            false => one.budget.reserve(ledger.as_mut(), now).map_err(|why| (why, Reason::Budget)),
        };
        let Err((error, reason)) = refused else { return Ok(()) };
        // The others need not wait for inputs that will not come.
        let waiting: Vec<_> = PartyId::all(self.parties()).filter(|party| has(*party)).collect();
        let refusal =
            Message::Refused { function: config.name.clone(), call: call.clone(), reason };
        waiting.into_iter().for_each(|party| state.send(party, &refusal));
        Err(error)
    }

    /// Returns where the answer of a call arrives.
    pub(super) fn find(&self, function: usize, call: &Name) -> Result<Arc<Outcome>, CallError> {
        let state = self.lock();
        let entry = state.functions[function].calls.get(call);
        let own = entry.filter(|entry| !matches!(entry.own, Own::None));
        own.map(|entry| entry.outcome.clone()).ok_or(CallError::NoCall)
    }

    /// Party 0: puts a call into the queue once all have inputs for it.
    pub(super) fn enqueue(&self, state: &mut State, function: usize, call: &Name) {
        let one = &mut state.functions[function];
        let complete = one.is_complete(call);
        let Some(entry) = one.calls.get_mut(call) else { return };
        let waits = matches!(entry.own, Own::Waiting { .. });
        if self.me == 0 && waits && !entry.queued && complete {
            entry.queued = true;
            one.queue.push_back(call.clone());
            self.pump(state, function);
        }
    }

    /// Party 0: takes the first call out of the queue for which all still have inputs.
    pub(super) fn next_call(&self, state: &mut State, function: usize) -> Option<Name> {
        let one = &mut state.functions[function];
        while let Some(call) = one.queue.pop_front() {
            let complete = one.is_complete(&call);
            if let Some(entry) = one.calls.get_mut(&call) {
                entry.queued = false;
                let waits = matches!(entry.own, Own::Waiting { .. });
                if waits && complete {
                    return Some(call);
                }
                one.forget(&call);
            }
        }
        None
    }

    /// Takes the inputs of a call that runs now, with what its clients gave, and the digest of who
    /// they are; `None` if none wait.
    pub(super) fn take(
        &self,
        state: &mut State,
        function: usize,
        call: &Name,
    ) -> Option<(Inputs, Option<Digest>)> {
        let one = &mut state.functions[function];
        let entry = one.calls.get_mut(call)?;
        if !matches!(entry.own, Own::Waiting { .. } | Own::Withdrawing { .. }) {
            return None;
        }
        let of_clients = match &one.spec.clients {
            Some(layout) => Some(one.rounds.get_mut(call)?.take(layout)?),
            None => None,
        };
        match std::mem::replace(&mut entry.own, Own::None) {
            Own::Waiting { inputs, digest, .. } | Own::Withdrawing { inputs, digest, .. } => {
                entry.own = Own::Running { digest };
                one.waiting -= 1;
                let now = Instant::now();
                one.budget.take(now);
                one.ran = Some(now);
                let Some((bits, clients)) = of_clients else { return Some((inputs, None)) };
                let port = own_port(&one.spec.config.circuit, self.me)?;
                Some((inputs.with_bits(port, bits).ok()?, Some(clients)))
            }
            other => {
                entry.own = other;
                None
            }
        }
    }

    /// Takes this party's inputs back. Party 0 may have assigned the call meanwhile, so the others
    /// wait for its word.
    pub(super) fn withdraw(
        &self,
        state: &mut State,
        function: usize,
        call: &Name,
        error: CallError,
    ) {
        let one = &mut state.functions[function];
        let name = one.spec.config.name.clone();
        let Some(entry) = one.calls.get_mut(call) else { return };
        match std::mem::replace(&mut entry.own, Own::None) {
            Own::Waiting { inputs, digest, .. } => {
                entry.own = Own::Withdrawing { inputs, digest, error };
            }
            other => {
                entry.own = other;
                return;
            }
        }
        let decided = self.me == 0 || state.peers[0].link.is_none();
        state.broadcast(&Message::Withdraw { function: name, call: call.clone() });
        if decided {
            self.withdrawn(state, function, call);
        }
    }

    /// Ends a call whose inputs were taken back.
    pub(super) fn withdrawn(&self, state: &mut State, function: usize, call: &Name) {
        let one = &mut state.functions[function];
        let Some(entry) = one.calls.get_mut(call) else { return };
        let Own::Withdrawing { error, .. } = &entry.own else { return };
        let error = error.clone();
        one.waiting -= 1;
        one.budget.release();
        self.finish(state, function, call, Err(error));
    }

    /// Ends a call.
    pub(super) fn finish(
        &self,
        state: &mut State,
        function: usize,
        call: &Name,
        answer: Result<Outputs, CallError>,
    ) {
        let one = &mut state.functions[function];
        one.set_have(call, self.me, false);
        let used = answer.as_ref().err().is_none_or(CallError::used);
        if used {
            PartyId::all(self.parties()).for_each(|party| one.set_have(call, party, false));
        }
        one.forget_old_lists(call, self.parties());
        let keep = one.spec.config.keep;
        let Some(entry) = one.calls.get_mut(call) else { return };
        let now = Instant::now();
        if let Own::Waiting { digest, .. }
        | Own::Withdrawing { digest, .. }
        | Own::Running { digest } = &entry.own
        {
            let until = now + keep;
            entry.own = Own::Done { digest: *digest, until };
            one.ended.push_back((until, call.clone()));
            let name = one.spec.config.name.as_str();
            let result = answer.as_ref().map_or_else(CallError::code, |_| "done");
            if let Err(error) = &answer {
                let call = call.as_str();
                tracing::info!(target: crate::LOG, function = name, call, %error, "no answer");
            }
            self.metrics.ended(name, result, now.duration_since(entry.posted));
            entry.outcome.set(Arc::new(answer));
            self.told.tell();
        }
    }

    /// A peer has inputs for a call.
    pub(super) fn peer_has(&self, state: &mut State, from: PartyId, function: Name, call: Name) {
        let Some(place) = state.function(&function) else {
            let reason = Reason::Disabled;
            return state.send(from, &Message::Refused { function, call, reason });
        };
        let (parties, draining) = (self.parties(), state.draining);
        let one = &mut state.functions[place];
        let entry = one.calls.get(&call);
        let is_known = entry.is_some_and(|entry| entry.have[usize::from(from)]);
        let mine = entry.map_or(&Own::None, |entry| &entry.own);
        let over = entry.is_some_and(Entry::is_over);
        let spent = matches!(mine, Own::None) && one.budget.left() == Some(0);
        let reason = match () {
            () if is_known => return,
            () if draining => Reason::Draining,
            () if one.agreed[usize::from(from)] != Some(Ok(())) => Reason::Disabled,
            () if over => Reason::Finished,
            () if spent => Reason::Budget,
            // There were too many lists of clients already.
            () if one.lacks_list(&call, from) => Reason::Busy,
            () if one.having[usize::from(from)] >= one.spec.config.waiting => Reason::Busy,
            () => {
                let now = Instant::now();
                one.calls.entry(call.clone()).or_insert_with(|| Entry::new(parties, now));
                one.set_have(&call, from, true);
                self.told.tell();
                return self.enqueue(state, place, &call);
            }
        };
        state.send(from, &Message::Refused { function, call, reason });
    }

    /// A peer took its inputs back.
    pub(super) fn peer_withdrew(
        &self,
        state: &mut State,
        from: PartyId,
        function: Name,
        call: Name,
    ) {
        if let Some(place) = state.function(&function) {
            let one = &mut state.functions[place];
            let running =
                one.calls.get(&call).is_some_and(|entry| matches!(entry.own, Own::Running { .. }));
            if !running {
                one.set_have(&call, from, false);
                self.told.tell();
                // Party 0 may have assigned the call before: then its clients are needed.
                let waits = one.calls.get(&call).is_some_and(|entry| entry.own.is_waiting());
                if self.me == 0 || !waits {
                    one.forget_list(&call, from);
                }
                one.forget(&call);
            }
        }
        if self.me == 0 {
            // If the call was assigned, the peer sees that first, and does not mind this.
            state.send(from, &Message::Withdrawn { function, call });
        }
    }

    /// Ends calls whose time is up, and forgets old answers.
    pub(super) fn expire(&self, state: &mut State, now: Instant) {
        for function in 0..state.functions.len() {
            let one = &mut state.functions[function];
            let mut late = Vec::new();
            while one.due.front().is_some_and(|(until, _)| *until <= now)
                && let Some((until, call)) = one.due.pop_front()
            {
                let Some(entry) = one.calls.get(&call) else { continue };
                if matches!(&entry.own, Own::Waiting { until: own, .. } if *own == until) {
                    let has = |party: &PartyId| entry.have[usize::from(*party)];
                    let missing = PartyId::all(self.parties()).filter(|party| !has(party));
                    let missing = missing.collect::<Vec<_>>();
                    late.push((call, missing));
                }
            }
            let mut surplus = one.ended.len().saturating_sub(MAX_KEPT);
            let mut is_old = |until: Instant| {
                let old = surplus > 0 || until <= now;
                surplus = surplus.saturating_sub(1);
                old
            };
            while one.ended.front().is_some_and(|(until, _)| is_old(*until))
                && let Some((until, call)) = one.ended.pop_front()
            {
                let Some(entry) = one.calls.get_mut(&call) else { continue };
                if matches!(&entry.own, Own::Done { until: own, .. } if *own == until) {
                    entry.own = Own::None;
                }
                one.forget(&call);
            }
            one.expire_rounds(now);
            for (call, missing) in late {
                let rounds = &state.functions[function].rounds;
                let others = rounds.get(&call).map(|round| round.others(self.me));
                let error = match (missing.is_empty(), others.filter(|others| !others.is_empty())) {
                    (false, _) => CallError::NoInputFromPeer(missing),
                    (true, Some(others)) => CallError::OtherClients(others),
                    (true, None) => CallError::NotReady,
                };
                self.withdraw(state, function, &call, error);
            }
        }
    }

    /// Takes the inputs of all waiting calls back.
    pub(super) fn withdraw_all(&self, state: &mut State, error: &CallError) {
        for function in 0..state.functions.len() {
            for call in waiting(state, function) {
                self.withdraw(state, function, &call, error.clone());
            }
        }
    }

    /// Tells a peer that has just connected for which calls this party has inputs.
    pub(super) fn announce_all(&self, state: &mut State, to: PartyId) {
        for function in 0..state.functions.len() {
            for call in waiting(state, function) {
                self.announce(state, function, &call, to);
                self.settle_clients(state, function, &call);
            }
        }
    }

    /// Forgets what a peer that is gone had inputs for. Without party 0 nothing that is being taken
    /// back can still be assigned.
    pub(super) fn forget_peer(&self, state: &mut State, party: PartyId) {
        for function in 0..state.functions.len() {
            let one = &mut state.functions[function];
            let rounds: Vec<Name> = one.rounds.keys().cloned().collect();
            rounds.iter().for_each(|call| one.forget_list(call, party));
            let calls: Vec<Name> = one.calls.keys().cloned().collect();
            for call in calls {
                let one = &mut state.functions[function];
                one.set_have(&call, party, false);
                one.forget(&call);
                if party == 0 {
                    self.withdrawn(state, function, &call);
                }
            }
        }
    }
}

/// Returns the calls for which this party's inputs wait.
fn waiting(state: &State, function: usize) -> Vec<Name> {
    let calls = state.functions[function].calls.iter();
    let waits = calls.filter(|(_, entry)| matches!(entry.own, Own::Waiting { .. }));
    waits.map(|(call, _)| call.clone()).collect()
}
