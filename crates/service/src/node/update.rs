//! New settings for a node that runs: keys, addresses, functions. No call that runs is lost.

use std::sync::{Arc, PoisonError};

use symbolon::circuit::PartyId;
use symbolon::{Error, Result, TransportReason};

use super::introduction;
use super::port;
use super::state::{FunctionState, State};
use super::{Node, Shared};
use crate::config::{Function, NodeUpdate, Parties};
use crate::error::CallError;
use crate::metrics::OfUpdate;
use crate::name::Name;
use crate::wire::Message;

/// Why a call that waits has no answer when its function is gone.
const GONE: &str = "the settings have it no longer, or another one of its name";

impl Node {
    /// Gives the node new settings, or says why there are none: `update` is what reading them gave.
    /// If they cannot work, the old ones stay. The log and the metrics say what happened.
    ///
    /// Calls that run go on. Those that wait stay, but for functions that are gone or have another
    /// circuit. A connection whose key is accepted no longer ends; others stay.
    ///
    /// # Errors
    /// As [`Node::start`], and the error that was given.
    pub fn update(&self, update: Result<NodeUpdate>) -> Result<()> {
        let done = update.and_then(|update| self.shared.update(update));
        let result = match &done {
            Ok(()) => {
                tracing::info!(target: crate::LOG, "the settings were read again");
                "done"
            }
            Err(error) => {
                let what = "the new settings cannot be used; the old ones stay";
                tracing::error!(target: crate::LOG, %error, what);
                "refused"
            }
        };
        self.shared.metrics.updates.get_or_create(&OfUpdate { result }).inc();
        done
    }
}

impl Shared {
    fn update(&self, update: NodeUpdate) -> Result<()> {
        let before = self.group();
        update.check(&before, self.lock().ledger.is_some())?;
        let NodeUpdate { identities, parties: all, functions, timeout } = update;
        let group = Parties { me: self.me, identities, all, timeout };
        port::options(self.me, &group)?;
        let is_stored = self.store.is_some();
        let specs = functions.into_iter().map(|one| Arc::new(Function::new(one, is_stored)));
        let specs: Vec<Arc<Function>> = specs.collect();
        let state = &mut *self.lock();
        *self.group.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(group);
        self.end_unaccepted(state);
        self.change_functions(state, specs);
        self.told.tell();
        self.changed.notify_all();
        Ok(())
    }

    /// Ends the connections with peers whose key is accepted no longer.
    pub(super) fn end_unaccepted(&self, state: &mut State) {
        let group = self.group();
        for party in PartyId::all(self.parties()) {
            let link = state.peers[usize::from(party)].link.as_ref();
            let key = link.and_then(|link| Some((link.generation, link.key?)));
            let Some((generation, key)) = key else { continue };
            if let Some(reason) = group.refuses(party, key) {
                state.peers[usize::from(party)].ended = generation;
                self.peer_is_gone(state, party, &Error::transport(party, reason));
            }
        }
    }

    /// Somebody came with a key that is not accepted, or did not accept this node's.
    pub(super) fn refused_key(&self, group: &Parties, reason: &TransportReason) {
        let error = Error::Transport { party: None, reason: reason.clone() };
        tracing::warn!(target: crate::LOG, %error, "refused a connection");
        let TransportReason::KeyExpired { .. } = reason else { return };
        let state = &mut *self.lock();
        for party in PartyId::all(self.parties()) {
            let keys = &group.all[usize::from(party)].keys;
            let mut reasons = keys.iter().map(|key| group.refuses(party, key.fingerprint));
            let peer = &mut state.peers[usize::from(party)];
            if party != self.me
                && peer.link.is_none()
                && reasons.any(|other| other.as_ref() == Some(reason))
            {
                peer.why = Some(Error::transport(party, reason.clone()).to_string());
            }
        }
    }

    fn change_functions(&self, state: &mut State, specs: Vec<Arc<Function>>) {
        for place in state.places() {
            let known = &state.functions[place].spec.config;
            let same = |spec: &&Arc<Function>| {
                spec.config.name == known.name
                    && spec.config.circuit.digest() == known.circuit.digest()
            };
            match specs.iter().find(same) {
                Some(spec) => self.renew(state, place, spec.clone()),
                None => self.retire(state, place),
            }
        }
        for spec in specs {
            if state.function(&spec.config.name).is_none() {
                let slots = self.slots(spec.config.side_by_side);
                let one = FunctionState::new(spec, self.parties(), slots, state.ledger.as_ref());
                state.functions.push(one);
            }
        }
        let told = introduction::functions(state);
        state.broadcast(&Message::Functions { functions: told.len() });
        told.iter().for_each(|message| state.broadcast(message));
        for party in PartyId::all(self.parties()) {
            if state.peers[usize::from(party)].link.is_some() {
                self.compare_functions(state, party);
            }
        }
    }

    /// Gives a function with the same circuit other settings.
    fn renew(&self, state: &mut State, place: usize, spec: Arc<Function>) {
        let State { functions, ledger, .. } = state;
        let one = &mut functions[place];
        let limits = (spec.config.calls, spec.config.calls_per_hour);
        one.budget.set_limits(limits, ledger.as_ref());
        let other_terms = one.spec.terms != spec.terms;
        let side_by_side = spec.config.side_by_side;
        one.spec = spec;
        if other_terms {
            self.close_sessions(state, place);
            state.functions[place].slots = self.slots(side_by_side);
        }
    }

    /// Ends what waits for a function that the settings have no longer.
    fn retire(&self, state: &mut State, place: usize) {
        let one = &mut state.functions[place];
        one.retired = true;
        one.agreed.fill(None);
        self.metrics.forget(one.spec.config.name.as_str());
        one.rounds.clear();
        let calls = one.calls.iter().filter(|(_, entry)| entry.own.is_waiting());
        let calls: Vec<Name> = calls.map(|(call, _)| call.clone()).collect();
        self.close_sessions(state, place);
        for call in calls {
            self.withdraw(state, place, &call, CallError::Disabled(GONE.to_string()));
            // Party 0 cannot assign it any more: its sessions are closed.
            self.withdrawn(state, place, &call);
        }
    }
}
