//! Clients of calls: what they give, the parties' lists of it, and what becomes of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use symbolon::Inputs;
use symbolon::circuit::PartyId;
use symbolon_clients::Layout;

use super::state::{FunctionState, Own, State};
use super::{Node, Shared};
use crate::clients::{
    Admission, ClientAnswer, ClientsConfig, ClientsReply, Digest, List, MAX_LIST, Part, Posted,
    Round, Submission, SubmitError, Taking, complete,
};
use crate::config::Function;
use crate::error::CallError;
use crate::name::Name;
use crate::wire::Message;

/// How often a call is tried whose time for submissions is over.
const ATTEMPTS: Duration = Duration::from_secs(1);

impl FunctionState {
    /// Returns the number of calls that hold submissions for a run.
    fn holding(&self) -> usize {
        let holds =
            |round: &&Round| matches!(round.taking, Taking::Open { .. } | Taking::Closed { .. });
        self.rounds.values().filter(holds).count()
    }

    /// Ends submissions whose time is up, and forgets those of calls that are over.
    pub(super) fn expire_rounds(&mut self, now: Instant) {
        let keep = self.spec.config.keep;
        let calls = &self.calls;
        self.rounds.retain(|call, round| {
            let own = calls.get(call).map_or(&Own::None, |entry| &entry.own);
            match round.taking {
                Taking::Open { until } if until <= now => {
                    round.taking = Taking::Closed { until: now + keep };
                    round.attempt = Some(now);
                    true
                }
                Taking::Closed { until } => until > now || !matches!(own, Own::None),
                Taking::Over => !matches!(own, Own::None),
                Taking::No | Taking::Open { .. } => true,
            }
        });
    }
}

impl Shared {
    /// Ends the submissions for a call that this party makes.
    pub(super) fn close_clients(
        &self,
        state: &mut State,
        function: usize,
        call: &Name,
        now: Instant,
    ) {
        let parties = self.parties();
        let one = &mut state.functions[function];
        if one.spec.clients.is_some() {
            let until = now + one.spec.config.wait + one.spec.config.keep;
            let round = one.rounds.entry(call.clone()).or_insert_with(|| Round::new(parties));
            // What was closed by time is not kept for longer.
            if round.attempt.is_none() {
                round.taking = Taking::Closed { until };
            }
        }
    }

    /// Tells a party that this one has inputs for a call, and before that which clients' values.
    pub(super) fn announce(&self, state: &mut State, function: usize, call: &Name, to: PartyId) {
        let one = &state.functions[function];
        let name = one.spec.config.name.clone();
        if one.spec.clients.is_some() {
            let list: List = one.rounds.get(call).map(Round::list).unwrap_or_default();
            let all: Vec<(Name, Digest)> = list.into_iter().collect();
            let mut before = 0;
            loop {
                let end = all.len().min(before + MAX_LIST);
                let (function, call) = (name.clone(), call.clone());
                let (clients, last) = (all[before..end].to_vec(), end == all.len());
                state.send(to, &Message::Clients { function, call, before, clients, last });
                if last {
                    break;
                }
                before = end;
            }
        }
        state.send(to, &Message::Have { function: name, call: call.clone() });
    }

    /// A peer lists clients; returns whether it may say that.
    pub(super) fn peer_listed(
        &self,
        state: &mut State,
        from: PartyId,
        (function, call): (Name, Name),
        part: Part,
    ) -> bool {
        let Some(place) = state.function(&function) else { return true };
        let parties = self.parties();
        let one = &mut state.functions[place];
        // When the peer says that it has inputs, it learns why they are refused.
        if one.agreed[usize::from(from)] != Some(Ok(())) {
            return true;
        }
        let (Some(layout), Some(config)) = (&one.spec.clients, &one.spec.config.clients) else {
            return false;
        };
        let theirs = |(other, round): &(&Name, &Round)| **other != call && round.has_list(from);
        let too_many = one.rounds.iter().filter(theirs).count() >= config.open;
        let over = one.calls.get(&call).is_some_and(|entry| entry.is_over());
        if too_many || over {
            return true;
        }
        let most = layout.ports().clients;
        let round = one.rounds.entry(call.clone()).or_insert_with(|| Round::new(parties));
        let last = part.last;
        let heard = round.hear(from, part, most);
        if last {
            self.settle_clients(state, place, &call);
        }
        heard
    }

    /// Computes the clients of a call once all lists are there, and tells the others.
    pub(super) fn settle_clients(&self, state: &mut State, function: usize, call: &Name) {
        let one = &mut state.functions[function];
        let waits =
            one.calls.get(call).is_some_and(|entry| matches!(entry.own, Own::Waiting { .. }));
        let settled = one.rounds.get_mut(call).filter(|_| waits);
        let Some(set) = settled.and_then(|round| round.settle(self.me)) else { return };
        let function_name = one.spec.config.name.clone();
        state.broadcast(&Message::Agreed { function: function_name, call: call.clone(), set });
        self.enqueue(state, function, call);
    }

    /// A peer has computed the clients of a call.
    pub(super) fn peer_agreed(
        &self,
        state: &mut State,
        from: PartyId,
        function: &Name,
        call: &Name,
        set: Digest,
    ) {
        let Some(place) = state.function(function) else { return };
        if let Some(round) = state.functions[place].rounds.get_mut(call) {
            round.agree(from, set);
            self.enqueue(state, place, call);
        }
    }

    /// Makes the calls whose time for submissions is over, where this party has nothing to add. The
    /// others' time may be over later, so it tries again.
    pub(super) fn call_for_clients(&self, state: &mut State, now: Instant) {
        let mut due = Vec::new();
        for (function, one) in state.functions.iter_mut().enumerate() {
            let config = &one.spec.config;
            let calls = &one.calls;
            for (call, round) in &mut one.rounds {
                let entry = calls.get(call);
                let idle = entry.is_none_or(|entry| match entry.own {
                    Own::None => true,
                    Own::Done { .. } => !entry.is_over(),
                    _ => false,
                });
                let started = |party: PartyId| {
                    config.may_start(party)
                        && (party == self.me
                            || entry.is_some_and(|entry| entry.have[usize::from(party)]))
                };
                let closed = matches!(round.taking, Taking::Closed { .. });
                let time = round.attempt.is_some_and(|at| at <= now);
                if closed && time && idle && PartyId::all(self.parties()).any(started) {
                    round.attempt = Some(now + ATTEMPTS);
                    let circuit = &config.circuit;
                    let inputs = complete(circuit, self.me, Inputs::builder(circuit, self.me));
                    due.extend(inputs.ok().map(|inputs| (function, call.clone(), inputs)));
                }
            }
        }
        for (function, call, inputs) in due {
            if let Err(error) = self.post_locked(state, function, &call, inputs) {
                let call = call.as_str();
                tracing::warn!(target: crate::LOG, call, %error, "cannot call for clients");
            }
        }
    }
}

/// A function with clients. Requests of many clients share it.
struct WithClients {
    place: usize,
    spec: Arc<Function>,
}

impl WithClients {
    fn layout(&self) -> Result<&Layout, SubmitError> {
        self.spec.clients.as_ref().ok_or(SubmitError::NoFunction)
    }

    fn config(&self) -> Result<&ClientsConfig, SubmitError> {
        self.spec.config.clients.as_ref().ok_or(SubmitError::NoFunction)
    }
}

impl Node {
    fn with_clients(&self, function: &str) -> Result<WithClients, SubmitError> {
        let state = self.shared.lock();
        let place = super::place(&state, function).map_err(|_| SubmitError::NoFunction)?;
        let found = WithClients { place, spec: state.functions[place].spec.clone() };
        found.layout()?;
        found.config()?;
        Ok(found)
    }

    /// Opens a call for submissions of clients, until the call is made or this time is over. Then
    /// this node makes the call by itself if its party has no inputs of its own.
    ///
    /// # Errors
    /// [`CallError::NoFunction`]; [`CallError::Inputs`] if the function has no clients;
    /// [`CallError::Busy`] if too many calls are open; [`CallError::OtherInputs`] if the call was
    /// made already.
    pub fn open(
        &self,
        function: &str,
        call: &Name,
        time: Option<Duration>,
    ) -> Result<(), CallError> {
        self.place(function)?;
        let none = |_| CallError::Inputs("the function has no clients".to_string());
        let found = self.with_clients(function).map_err(none)?;
        let (place, config) = (found.place, found.config().map_err(none)?);
        let parties = self.parties();
        let state = &mut *self.shared.lock();
        if state.draining {
            return Err(CallError::Draining);
        }
        let one = &mut state.functions[place];
        let known = one.rounds.get(call).map(|round| round.taking);
        match known {
            Some(Taking::Open { .. }) => return Ok(()),
            Some(Taking::Closed { .. } | Taking::Over) => return Err(CallError::OtherInputs),
            Some(Taking::No) | None => {}
        }
        if one.holding() >= config.open {
            return Err(CallError::Busy);
        }
        let until = Instant::now() + time.unwrap_or(config.time).min(config.time);
        let round = one.rounds.entry(call.clone()).or_insert_with(|| Round::new(parties));
        round.taking = Taking::Open { until };
        Ok(())
    }

    /// Returns what clients give to a function.
    ///
    /// # Errors
    /// [`SubmitError::NoFunction`].
    pub fn layout(&self, function: &str) -> Result<Layout, SubmitError> {
        Ok(self.with_clients(function)?.layout()?.clone())
    }

    /// Returns how many requests one address may make to a function in a minute.
    pub(crate) fn client_rate(&self, function: &str) -> Option<u32> {
        self.with_clients(function).ok()?.config().ok()?.per_minute
    }

    /// Returns the most bytes that a submission for a function can have.
    pub(crate) fn submission_limit(&self, function: &str) -> Result<usize, SubmitError> {
        let found = self.with_clients(function)?;
        let layout = found.layout()?;
        let bytes = layout.share_len() + 32 * usize::from(layout.ports().parties);
        // As base64, and a name.
        Ok(bytes / 3 * 4 + 1024)
    }

    /// Takes a client's submission.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn submit(
        &self,
        function: &str,
        call: &Name,
        posted: &Posted,
        token: Option<&[u8]>,
    ) -> Result<(), SubmitError> {
        let found = self.with_clients(function)?;
        let (place, layout) = (found.place, found.layout()?);
        let admission: &Admission = &found.config()?.admission;
        if !admission.admits(&posted.client, token) {
            return Err(SubmitError::Token);
        }
        let name = function.parse().map_err(|_| SubmitError::NoFunction)?;
        let submission = Submission::new(posted, (&name, call), self.party(), layout)?;
        let state = &mut *self.shared.lock();
        let round = state.functions[place].rounds.get_mut(call).ok_or(SubmitError::NoCall)?;
        round.submit(&posted.client, submission, layout.ports().clients)
    }

    /// Returns the clients of a call.
    ///
    /// # Errors
    /// [`CallError::NoFunction`]; [`CallError::NoCall`] if it was not opened here.
    pub fn clients(&self, function: &str, call: &Name) -> Result<ClientsReply, CallError> {
        let place = self.place(function)?;
        let state = self.shared.lock();
        let one = &state.functions[place];
        let answer = one.calls.get(call).and_then(|entry| entry.outcome.get());
        let reply = one.rounds.get(call).and_then(|round| ClientsReply::new(round, answer));
        reply.ok_or(CallError::NoCall)
    }

    /// Returns what a client learns of a call.
    ///
    /// # Errors
    /// [`SubmitError::NoFunction`] and [`SubmitError::NoCall`].
    pub fn client_answer(
        &self,
        function: &str,
        call: &Name,
        client: &Name,
    ) -> Result<ClientAnswer, SubmitError> {
        let found = self.with_clients(function)?;
        let state = self.shared.lock();
        let one = &state.functions[found.place];
        let answer = one.calls.get(call).and_then(|entry| entry.outcome.get());
        let round = one.rounds.get(call).ok_or(SubmitError::NoCall)?;
        ClientAnswer::new(round, client, answer, found.layout()?).ok_or(SubmitError::NoCall)
    }
}
