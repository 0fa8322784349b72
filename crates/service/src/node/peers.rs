//! What peers say over the control connections.

use std::time::{Duration, Instant};

use symbolon::circuit::PartyId;
use symbolon::{Channel, Error, Result};
use symbolon_transport::Hangup;

use super::Shared;
use super::state::{Link, Own, State};
use crate::checks;
use crate::clients::Part;
use crate::error::{CallError, Reason};
use crate::metrics::OfParty;
use crate::name::Name;
use crate::wire::{MAX_FUNCTIONS, MAX_MESSAGE, Message, VERSION, messages};

/// A peer that says nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(20);

/// How long a peer that has connected may take to introduce itself.
const GREETING: Duration = Duration::from_secs(3);

/// How long this side says nothing.
const IDLE: Duration = Duration::from_secs(5);

/// The functions of a peer, each with its terms.
type Functions = Vec<(Name, Vec<(String, String)>)>;

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
        } else if peer.link.is_none() {
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
        let functions: Vec<Message> = {
            let state = self.lock();
            let specs = state.functions.iter().map(|one| &one.spec);
            let told = |name: &Name, terms: &Vec<(String, String)>| Message::Function {
                name: name.clone(),
                terms: terms.clone(),
            };
            specs.map(|spec| told(&spec.config.name, &spec.terms)).collect()
        };
        let hello = Message::Hello { version: VERSION, functions: functions.len() };
        for message in std::iter::once(&hello).chain(&functions) {
            out.send(messages::CONTROL, &message.encode())?;
        }
        out.flush()?;
        from.set_timeout(GREETING);
        let theirs = introduction(from)?;
        from.set_timeout(SILENCE);
        self.peer_is_here(party, generation, out, from.hangup(), &theirs);
        loop {
            let message = receive(from)?;
            let state = &mut *self.lock();
            let link = state.peers[usize::from(party)].link.as_ref();
            if link.is_none_or(|link| link.generation != generation) {
                return Ok(());
            }
            self.hear(state, party, message)?;
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
        hangup: Hangup,
        theirs: &Functions,
    ) {
        let state = &mut *self.lock();
        if state.peers[usize::from(party)].link.is_some() {
            let replaced = Error::internal("it connected again");
            self.peer_is_gone(state, party, &replaced);
        }
        tracing::info!(target: crate::LOG, %party, "connected");
        let link = Link { generation, out, hangup: Some(hangup), sent: Instant::now() };
        let peer = &mut state.peers[usize::from(party)];
        (peer.link, peer.draining, peer.why) = (Some(link), false, None);
        self.metrics.connected.get_or_create(&OfParty { party: party.number() }).set(1);
        for one in &mut state.functions {
            let name = &one.spec.config.name;
            let agreed = compare(party, &one.spec.terms, theirs, name);
            if let Err(why) = &agreed {
                let function = name.as_str();
                tracing::warn!(target: crate::LOG, function, why, "the function is disabled");
            }
            one.agreed[usize::from(party)] = Some(agreed);
        }
        self.withdraw_disabled(state);
        if state.draining {
            state.send(party, &Message::Draining {});
        } else {
            self.announce_all(state, party);
        }
        (0..state.functions.len()).for_each(|function| self.pump(state, function));
        self.changed.notify_all();
    }

    /// Calls that wait for a function on which the parties do not agree have no answer.
    fn withdraw_disabled(&self, state: &mut State) {
        for function in 0..state.functions.len() {
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
    fn peer_is_gone(&self, state: &mut State, party: PartyId, error: &Error) {
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

fn receive(from: &mut Channel) -> Result<Message> {
    let bytes = from.recv_bounded(messages::CONTROL, MAX_MESSAGE)?;
    Message::decode(&bytes).map_err(|_| Error::misbehaved(from.peer(), checks::CONTROL))
}

/// Receives the first messages of a peer.
fn introduction(from: &mut Channel) -> Result<Functions> {
    let count = match receive(from)? {
        Message::Hello { version, .. } if version != VERSION => {
            let (ours, theirs) = (VERSION.to_string(), version.to_string());
            return Err(Error::incompatible("the version of the service", ours, theirs));
        }
        Message::Hello { functions, .. } if functions <= MAX_FUNCTIONS => functions,
        _ => return Err(Error::misbehaved(from.peer(), checks::CONTROL)),
    };
    let mut all = Functions::new();
    for _ in 0..count {
        match receive(from)? {
            Message::Function { name, terms } => all.push((name, terms)),
            _ => return Err(Error::misbehaved(from.peer(), checks::CONTROL)),
        }
    }
    Ok(all)
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
