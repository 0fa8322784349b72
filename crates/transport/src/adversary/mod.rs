//! The cheating peer: lets a test change the messages of a party, and its state at named points.
//!
//! Exists only under the feature `adversary` (and in this crate's own tests); a normal build has
//! neither the code nor the hooks.

mod endings;
mod interpose;
mod rate;
mod seed;
mod stage;
mod table;

use std::collections::HashMap;

use crate::Kind;

pub use endings::{CheckName, Endings, Outcome, assert_noticed};
pub use interpose::{Tamper, Verdict, interposed_pair, tampers};
pub use rate::Rate;
pub use seed::fresh;
pub use stage::Stage;
pub use table::note_caught;

/// What to do with a message after [`Adversary::outgoing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends it.
    Send,
    /// Does not send it.
    Drop,
    /// Sends it twice.
    Twice,
    /// Closes the connection instead of sending it. Further calls on the channel fail.
    Close,
    /// Sends neither it nor anything later on this lane, but keeps the connection open.
    Stall,
}

/// A modified party. All methods see the messages of one lane in order.
pub trait Adversary: Send {
    /// Called for every message to be sent. May change the payload, including its length.
    ///
    /// `index` counts the messages of this kind sent on this lane, from 0.
    fn outgoing(&mut self, kind: &'static str, index: usize, payload: &mut Vec<u8>) -> Action;

    /// Called for every message received.
    fn incoming(&mut self, _kind: &'static str, _index: usize, _payload: &[u8]) {}

    /// Called by a protocol at a named point, with state that a cheat may change.
    fn state(&mut self, _point: &'static str, _data: &mut [u8]) {}

    /// Returns whether this makes its party a cheater; otherwise it only observes an honest party.
    fn cheats(&self) -> bool {
        true
    }
}

type Outgoing = Box<dyn FnMut(&'static str, usize, &mut Vec<u8>) -> Action + Send>;
type Incoming = Box<dyn FnMut(&'static str, usize, &[u8]) + Send>;
type State = Box<dyn FnMut(&'static str, &mut [u8]) + Send>;

/// An [`Adversary`] made of closures. Methods without a closure do nothing.
#[derive(Default)]
pub struct FnAdversary {
    outgoing: Option<Outgoing>,
    incoming: Option<Incoming>,
    state: Option<State>,
    listens: bool,
}

impl FnAdversary {
    /// Returns an adversary that changes nothing.
    pub fn new() -> Self {
        FnAdversary::default()
    }

    /// Marks the adversary as an observer of an honest party.
    pub fn listening(mut self) -> Self {
        self.listens = true;
        self
    }

    /// Sets [`Adversary::outgoing`].
    pub fn on_outgoing(
        mut self,
        f: impl FnMut(&'static str, usize, &mut Vec<u8>) -> Action + Send + 'static,
    ) -> Self {
        self.outgoing = Some(Box::new(f));
        self
    }

    /// Sets [`Adversary::outgoing`] for the `index`-th message of one kind. All others are sent
    /// unchanged.
    pub fn on_message(
        self,
        kind: impl Into<Kind>,
        index: usize,
        mut f: impl FnMut(&mut Vec<u8>) -> Action + Send + 'static,
    ) -> Self {
        let kind = kind.into().name();
        self.on_outgoing(
            move |k, i, payload| {
                if k == kind && i == index { f(payload) } else { Action::Send }
            },
        )
    }

    /// Sets [`Adversary::incoming`].
    pub fn on_incoming(
        mut self,
        f: impl FnMut(&'static str, usize, &[u8]) + Send + 'static,
    ) -> Self {
        self.incoming = Some(Box::new(f));
        self
    }

    /// Sets [`Adversary::state`].
    pub fn on_state(mut self, f: impl FnMut(&'static str, &mut [u8]) + Send + 'static) -> Self {
        self.state = Some(Box::new(f));
        self
    }
}

impl Adversary for FnAdversary {
    fn outgoing(&mut self, kind: &'static str, index: usize, payload: &mut Vec<u8>) -> Action {
        self.outgoing.as_mut().map_or(Action::Send, |f| f(kind, index, payload))
    }

    fn incoming(&mut self, kind: &'static str, index: usize, payload: &[u8]) {
        if let Some(f) = &mut self.incoming {
            f(kind, index, payload);
        }
    }

    fn state(&mut self, point: &'static str, data: &mut [u8]) {
        if let Some(f) = &mut self.state {
            f(point, data);
        }
    }

    fn cheats(&self) -> bool {
        !self.listens
    }
}

/// An adversary with the counters for its indices.
pub(crate) struct HookedAdversary {
    adversary: Box<dyn Adversary>,
    sent: HashMap<&'static str, usize>,
    received: HashMap<&'static str, usize>,
    pub(crate) stalled: bool,
}

impl HookedAdversary {
    pub(crate) fn new(adversary: Box<dyn Adversary>) -> Self {
        HookedAdversary {
            adversary,
            sent: HashMap::new(),
            received: HashMap::new(),
            stalled: false,
        }
    }

    pub(crate) fn outgoing(&mut self, kind: &'static str, payload: &mut Vec<u8>) -> Action {
        if self.stalled {
            return Action::Drop;
        }
        let count = self.sent.entry(kind).or_default();
        let action = self.adversary.outgoing(kind, *count, payload);
        *count += 1;
        self.stalled = action == Action::Stall;
        action
    }

    pub(crate) fn incoming(&mut self, kind: &'static str, payload: &[u8]) {
        let count = self.received.entry(kind).or_default();
        self.adversary.incoming(kind, *count, payload);
        *count += 1;
    }

    pub(crate) fn state(&mut self, point: &'static str, data: &mut [u8]) {
        self.adversary.state(point, data);
    }

    pub(crate) fn cheats(&self) -> bool {
        self.adversary.cheats()
    }
}
