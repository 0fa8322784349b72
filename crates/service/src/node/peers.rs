//! What peers say over the control connections.

use std::time::{Duration, Instant};

use symbolon::circuit::PartyId;
use symbolon::{Channel, Error, Result};
use symbolon_transport::Hangup;

use super::Shared;
use super::introduction::{Introduction, receive, receive_functions};
use super::state::{Functions, Link, Own, State};
use crate::checks;
use crate::clients::Part;
use crate::error::{CallError, Reason};
use crate::metrics::OfParty;
use crate::name::Name;
use crate::wire::Message;

/// A peer that says nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(20);

/// How long this side says nothing.
const IDLE: Duration = Duration::from_secs(5);

impl Shared {
    /// Talks with a peer until the connection ends: sends over `out`, and receives over `from`.
    pub(super) fn converse(&self, party: PartyId, out: Channel, mut from: Channel) {
        self.stopped.watch(&from);
        self.stopped.watch(&out);
        let generation = {
            let state = &mut *self.lock();
            state.generation += 1;
            state.generation
        };
        let error = match self.talk(party, generation, out, &mut from) {
            Err(error) => error,
            Ok(()) => return,
        };
        if matches!(error, Error::PeerMisbehaved { .. }) {
            from.abort("its peer sent what is no message");
        }
        let state = &mut *self.lock();
        let peer = &mut state.peers[usize::from(party)];
        if peer.link.as_ref().is_some_and(|link| link.generation == generation) {
            self.peer_is_gone(state, party, &error);
        } else if peer.link.is_none() && peer.ended != generation {
            peer.why = Some(error.to_string());
        }
    }

    /// Notes that a peer cannot be reached.
    pub(super) fn is_away(&self, party: PartyId, error: &Error) {
        let state = &mut *self.lock();
        let peer = &mut state.peers[usize::from(party)];
        let why = error.to_string();
        if peer.link.is_none() && peer.why.as_ref() != Some(&why) {
            tracing::warn!(target: crate::LOG, %party, %error, "cannot connect");
            peer.why = Some(why);
        }
    }

    fn talk(
        &self,
        party: PartyId,
        generation: u64,
        mut out: Channel,
        from: &mut Channel,
    ) -> Result<()> {
        let theirs = self.introduce(party, &mut out, from)?;
        from.set_timeout(SILENCE);
        self.peer_is_here(party, generation, out, from, theirs);
        loop {
            let message = receive(from)?;
            let functions = match message {
                Message::Functions { functions } => Some(receive_functions(from, functions)?),
                _ => None,
            };
            let state = &mut *self.lock();
            let link = state.peers[usize::from(party)].link.as_ref();
            if link.is_none_or(|link| link.generation != generation) {
                return Ok(());
            }
            match functions {
                Some(functions) => {
                    state.peers[usize::from(party)].functions = functions;
                    self.compare_functions(state, party);
                }
                None => self.hear(state, party, message)?,
            }
        }
    }

    /// Acts on a peer's message.
    fn hear(&self, state: &mut State, from: PartyId, message: Message) -> Result<()> {
        match message {
            Message::Ping {} => {}
            Message::Have { function, call } => self.peer_has(state, from, function, call),
            Message::Withdraw { function, call } => {
                self.peer_withdrew(state, from, function, call);
            }
            Message::Refused { function, call, reason } => {
                if let Some(place) = state.function(&function) {
                    let error = CallError::RefusedByPeer(from, reason);
                    self.withdraw(state, place, &call, error);
                }
            }
            Message::Draining {} => {
                state.peers[usize::from(from)].draining = true;
                self.told.tell();
                self.withdraw_all(state, &CallError::RefusedByPeer(from, Reason::Draining));
            }
            Message::Closed { session } => self.peer_closed(state, session),
            Message::Clients { function, call, before, clients, last } => {
                let part = Part { before, clients, last };
                if !self.peer_listed(state, from, (function, call), part) {
                    return Err(Error::misbehaved(from, checks::CONTROL));
                }
            }
            Message::Agreed { function, call, set } => {
                self.peer_agreed(state, from, &function, &call, set);
            }
            Message::Withdrawn { function, call } if from == 0 => {
                if let Some(place) = state.function(&function) {
                    self.withdrawn(state, place, &call);
                }
            }
            Message::Open { function, session } if from == 0 => {
                self.asked_to_open(state, &function, session);
            }
            Message::Fill { session, count } if from == 0 => {
                self.asked_to_fill(state, session, count);
            }
            Message::Assign { function, call, session } if from == 0 => {
                self.assigned(state, &function, &call, session);
            }
            // Not from this peer, or not at this time.
            _ => return Err(Error::misbehaved(from, checks::CONTROL)),
        }
        Ok(())
    }

    /// A peer has introduced itself. It may be one that came back before its end was noticed.
    fn peer_is_here(
        &self,
        party: PartyId,
        generation: u64,
        out: Channel,
        from: &Channel,
        theirs: Introduction,
    ) {
        let state = &mut *self.lock();
        if state.peers[usize::from(party)].link.is_some() {
            let replaced = Error::internal("it connected again");
            self.peer_is_gone(state, party, &replaced);
        }
        tracing::info!(target: crate::LOG, %party, "connected");
        let (key, hangup) = (from.peer_key(), Some(from.hangup()));
        let link = Link { generation, out, key, hangup, sent: Instant::now() };
        let peer = &mut state.peers[usize::from(party)];
        (peer.link, peer.draining, peer.why) = (Some(link), false, None);
        (peer.functions, peer.relation) = (theirs.functions, theirs.relation);
        self.metrics.connected.get_or_create(&OfParty { party: party.number() }).set(1);
        self.compare_functions(state, party);
        self.told.tell();
        self.changed.notify_all();
    }

    /// Compares the functions of a peer with this node's, and goes on with those that are the same.
    pub(super) fn compare_functions(&self, state: &mut State, party: PartyId) {
        let mut differ = Vec::new();
        for place in state.places() {
            let State { functions, peers, .. } = state;
            let one = &mut functions[place];
            let name = &one.spec.config.name;
            let theirs = &peers[usize::from(party)].functions;
            let agreed = compare(party, &one.spec.terms, theirs, name);
            let agreed = Some(agreed);
            if one.agreed[usize::from(party)] == agreed {
                continue;
            }
            if let Some(Err(why)) = &agreed {
                let function = name.as_str();
                tracing::warn!(target: crate::LOG, function, why, "the function is disabled");
                differ.push(place);
            }
            one.agreed[usize::from(party)] = agreed;
        }
        differ.into_iter().for_each(|place| self.close_sessions(state, place));
        self.told.tell();
        self.withdraw_disabled(state);
        if state.draining {
            state.send(party, &Message::Draining {});
        } else {
            self.announce_all(state, party);
        }
        state.places().for_each(|place| self.pump(state, place));
    }

    /// Calls that wait for a function on which the parties do not agree have no answer.
    fn withdraw_disabled(&self, state: &mut State) {
        for function in state.places() {
            let one = &state.functions[function];
            let Some(why) = one.disagreement().map(str::to_string) else { continue };
            let calls = one.calls.iter();
            let waits = calls.filter(|(_, entry)| matches!(entry.own, Own::Waiting { .. }));
            let waiting: Vec<Name> = waits.map(|(call, _)| call.clone()).collect();
            for call in waiting {
                self.withdraw(state, function, &call, CallError::Disabled(why.clone()));
            }
        }
    }

    /// A peer is gone, and with it all sessions.
    pub(super) fn peer_is_gone(&self, state: &mut State, party: PartyId, error: &Error) {
        tracing::warn!(target: crate::LOG, %party, %error, "lost the connection");
        let peer = &mut state.peers[usize::from(party)];
        if let Some(mut link) = peer.link.take() {
            link.hangup.take().into_iter().for_each(Hangup::hang_up);
        }
        (peer.draining, peer.why) = (false, Some(error.to_string()));
        self.metrics.connected.get_or_create(&OfParty { party: party.number() }).set(0);
        state.functions.iter_mut().for_each(|one| one.agreed[usize::from(party)] = None);
        self.close_all(state);
        self.forget_peer(state, party);
        self.told.tell();
        self.changed.notify_all();
    }

    /// Tells peers that hear nothing else that this side is alive.
    pub(super) fn ping(&self, state: &mut State, now: Instant) {
        for party in PartyId::all(self.parties()) {
            let link = state.peers[usize::from(party)].link.as_ref();
            if link.is_some_and(|link| now.duration_since(link.sent) >= IDLE) {
                state.send(party, &Message::Ping {});
            }
        }
    }
}

/// Returns whether a peer has the same function, and otherwise the first difference.
fn compare(
    party: PartyId,
    ours: &[(String, String)],
    all: &Functions,
    name: &Name,
) -> std::result::Result<(), String> {
    let Some((_, theirs)) = all.iter().find(|(other, _)| other == name) else {
        return Err(format!("party {party} does not have it"));
    };
    if ours == theirs {
        return Ok(());
    }
    let shown =
        |value: &str| symbolon::escape::one_line(value).chars().take(80).collect::<String>();
    let differ = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
    Err(match differ {
        Some(((key, ours), (theirs_key, theirs))) if key == theirs_key => {
            format!("`{key}` is {ours} here and {} at party {party}", shown(theirs))
        }
        _ => format!("party {party} lists other parameters"),
    })
}
