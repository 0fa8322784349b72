//! What a node knows: functions, calls, sessions, peers. One lock guards all of it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use symbolon::circuit::PartyId;
use symbolon::{CancelHandle, Channel, Fingerprint, Inputs};
use symbolon_transport::Hangup;

use crate::budget::{Budget, Ledger};
use crate::clients::{Digest, Round};
use crate::config::Function;
use crate::error::CallError;
use crate::name::Name;
use crate::outcome::Outcome;
use crate::wire::{Message, Tag, messages};

/// A peer that does not take this many bytes is cut off.
const MAX_BACKLOG: usize = 8 << 20;

/// How long a session waits after its first and after many failures before it is opened again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

pub(super) struct State {
    pub functions: Vec<FunctionState>,
    /// By party; this party's own place is unused.
    pub peers: Vec<Peer>,
    pub sessions: HashMap<Tag, OpenSession>,
    pub ledger: Option<Ledger>,
    /// Sessions that prepare executions now; party 0 counts them.
    pub filling: usize,
    pub draining: bool,
    pub generation: u64,
}

#[derive(Default)]
pub(super) struct Peer {
    pub link: Option<Link>,
    pub draining: bool,
    /// Why it is not connected, as far as it is known.
    pub why: Option<String>,
    /// The connection that this side has ended; why is known.
    pub ended: u64,
    /// The functions that it last said it has.
    pub functions: Functions,
    /// The name of the relation that it last proved, if this node has a store.
    pub relation: Option<String>,
}

/// The functions of a peer, each with its terms.
pub(super) type Functions = Vec<(Name, Vec<(String, String)>)>;

/// The control connections with a peer.
pub(super) struct Link {
    pub generation: u64,
    pub out: Channel,
    /// The key that the peer proved.
    pub key: Option<Fingerprint>,
    /// Ends the connection on which this side receives.
    pub hangup: Option<Hangup>,
    pub sent: Instant,
}

pub(super) struct FunctionState {
    pub spec: Arc<Function>,
    /// Whether the settings have it no longer, or another one of its name. It stays in its place,
    /// to which threads refer, and its running calls end.
    pub retired: bool,
    /// By party: whether it has the same function, and why not; `None` while it is away.
    pub agreed: Vec<Option<Result<(), String>>>,
    pub calls: HashMap<Name, Entry>,
    /// The number of calls for which each party has inputs.
    pub having: Vec<usize>,
    /// The number of calls for which this party's inputs wait.
    pub waiting: usize,
    /// Calls in the order in which their time to wait ends; some have ended before.
    pub due: VecDeque<(Instant, Name)>,
    /// Calls with an answer, in the order in which it is forgotten.
    pub ended: VecDeque<(Instant, Name)>,
    /// Party 0: calls with all inputs, in their order.
    pub queue: VecDeque<Name>,
    /// Party 0: the sessions, open or not.
    pub slots: Vec<Slot>,
    /// Party 0: whether executions are prepared until enough are ready.
    pub refilling: bool,
    /// When the last call ran.
    pub ran: Option<Instant>,
    pub budget: Budget,
    /// What clients gave for calls, if the function has clients.
    pub rounds: HashMap<Name, Round>,
}

/// A call.
pub(super) struct Entry {
    pub own: Own,
    /// By party: whether it has inputs.
    pub have: Vec<bool>,
    pub queued: bool,
    pub posted: Instant,
    pub outcome: Arc<Outcome>,
}

/// This party's part of a call.
pub(super) enum Own {
    /// Only others have inputs.
    None,
    Waiting {
        inputs: Inputs,
        digest: [u8; 32],
        until: Instant,
    },
    /// Party 0 was told that the inputs are taken back, and did not answer yet.
    Withdrawing {
        inputs: Inputs,
        digest: [u8; 32],
        error: CallError,
    },
    Running {
        digest: [u8; 32],
    },
    Done {
        digest: [u8; 32],
        until: Instant,
    },
}

impl Own {
    pub fn is_waiting(&self) -> bool {
        matches!(self, Own::Waiting { .. } | Own::Withdrawing { .. })
    }
}

/// A session as party 0 sees it.
pub(super) struct Slot {
    pub at: At,
    pub ready: usize,
    pub failures: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Closed { retry: Instant },
    Opening(Tag),
    Idle(Tag),
    Filling(Tag),
    Running(Tag),
}

pub(super) struct OpenSession {
    pub function: usize,
    pub queue: Sender<Command>,
    pub cancel: CancelHandle,
    /// Executions that are prepared or being prepared.
    pub ready: usize,
    /// Those of them that are being prepared.
    pub preparing: usize,
    /// Calls that run or are about to.
    pub running: usize,
}

/// What a session's thread does next.
pub(super) enum Command {
    Fill(usize),
    Run {
        call: Name,
        inputs: Inputs,
        /// The clients who take part.
        clients: Option<Digest>,
    },
}

impl At {
    pub fn tag(self) -> Option<Tag> {
        match self {
            At::Closed { .. } => None,
            At::Opening(tag) | At::Idle(tag) | At::Filling(tag) | At::Running(tag) => Some(tag),
        }
    }
}

impl Slot {
    pub fn new(now: Instant) -> Slot {
        Slot { at: At::Closed { retry: now }, ready: 0, failures: 0 }
    }

    /// Closes the session, which is opened again after a pause that grows with each failure.
    pub fn close(&mut self, now: Instant) {
        let pause = jittered((PAUSE.0 * 2u32.pow(self.failures.min(7))).min(PAUSE.1));
        self.failures = self.failures.saturating_add(1);
        (self.at, self.ready) = (At::Closed { retry: now + pause }, 0);
    }
}

/// Returns between half a time and all of it.
pub(super) fn jittered(time: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX);
    time / 2 + (time / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

impl Entry {
    pub fn new(parties: usize, now: Instant) -> Entry {
        Entry {
            own: Own::None,
            have: vec![false; parties],
            queued: false,
            posted: now,
            outcome: Arc::default(),
        }
    }

    /// Returns whether the call runs, or has used up an execution.
    pub fn is_over(&self) -> bool {
        match self.own {
            Own::Running { .. } => true,
            Own::Done { .. } => {
                let answer = self.outcome.get();
                answer.is_some_and(|answer| (*answer).as_ref().err().is_none_or(CallError::used))
            }
            _ => false,
        }
    }
}

impl FunctionState {
    /// Returns a function without calls and sessions; party 0 opens `slots` of them.
    pub fn new(
        spec: Arc<Function>,
        parties: usize,
        slots: Vec<Slot>,
        ledger: Option<&Ledger>,
    ) -> FunctionState {
        let one = &spec.config;
        let budget = Budget::new(&one.name, (one.calls, one.calls_per_hour), ledger);
        FunctionState {
            retired: false,
            agreed: vec![None; parties],
            calls: Default::default(),
            having: vec![0; parties],
            waiting: 0,
            due: Default::default(),
            ended: Default::default(),
            queue: Default::default(),
            slots,
            refilling: false,
            ran: None,
            budget,
            rounds: Default::default(),
            spec,
        }
    }

    /// Notes whether a party has inputs for a call.
    pub fn set_have(&mut self, call: &Name, party: PartyId, has: bool) {
        let party = usize::from(party);
        if let Some(entry) = self.calls.get_mut(call)
            && entry.have[party] != has
        {
            entry.have[party] = has;
            let count = &mut self.having[party];
            *count = if has { *count + 1 } else { count.saturating_sub(1) };
        }
    }

    /// Forgets a peer's list of a call's clients.
    pub fn forget_list(&mut self, call: &Name, party: PartyId) {
        let Some(round) = self.rounds.get_mut(call) else { return };
        round.forget(party);
        if round.is_empty() {
            self.rounds.remove(call);
        }
    }

    /// Forgets the lists of parties that have no inputs for a call any more.
    pub fn forget_old_lists(&mut self, call: &Name, parties: usize) {
        for party in PartyId::all(parties) {
            let has = self.calls.get(call).is_some_and(|entry| entry.have[usize::from(party)]);
            if !has {
                self.forget_list(call, party);
            }
        }
    }

    /// Returns whether clients are listed before a call, and a peer's list is not here.
    pub fn lacks_list(&self, call: &Name, party: PartyId) -> bool {
        let listed = self.rounds.get(call).is_some_and(|round| round.is_listed(party));
        self.spec.clients.is_some() && !listed
    }

    /// Returns whether all parties have inputs for a call, and see the same clients.
    pub fn is_complete(&self, call: &Name) -> bool {
        let agreed = || self.rounds.get(call).is_some_and(|round| round.is_agreed());
        self.calls.get(call).is_some_and(|entry| entry.have.iter().all(|has| *has))
            && (self.spec.clients.is_none() || agreed())
    }

    /// Forgets a call that nobody has anything of.
    pub fn forget(&mut self, call: &Name) {
        let idle = |entry: &Entry| {
            matches!(entry.own, Own::None) && !entry.queued && entry.have.iter().all(|has| !has)
        };
        if self.calls.get(call).is_some_and(idle) {
            self.calls.remove(call);
        }
    }

    /// Returns why the function cannot be used, if a connected party disagrees.
    pub fn disagreement(&self) -> Option<&str> {
        self.agreed.iter().flatten().find_map(|agreed| agreed.as_ref().err()).map(String::as_str)
    }

    /// Returns whether all peers are there and agree.
    pub fn is_agreed(&self, me: PartyId) -> bool {
        let mut others = (0..self.agreed.len()).filter(|party| *party != usize::from(me));
        others.all(|party| self.agreed[party] == Some(Ok(())))
    }
}

impl State {
    /// Sends a message to a peer if it is connected. A peer that takes nothing is cut off; the
    /// thread that receives from it notices.
    pub fn send(&mut self, to: PartyId, message: &Message) {
        let Some(link) = &mut self.peers[usize::from(to)].link else { return };
        link.sent = Instant::now();
        let sent = link.out.send(messages::CONTROL, &message.encode());
        let sent = sent.and_then(|()| link.out.flush());
        if sent.is_err() || link.out.backlog() > MAX_BACKLOG {
            link.hangup.take().into_iter().for_each(Hangup::hang_up);
        }
    }

    /// Sends a message to all peers.
    pub fn broadcast(&mut self, message: &Message) {
        for party in PartyId::all(self.peers.len()) {
            self.send(party, message);
        }
    }

    pub fn function(&self, name: &Name) -> Option<usize> {
        let known = |one: &FunctionState| !one.retired && one.spec.config.name == *name;
        self.functions.iter().position(known)
    }

    /// Returns the places of the functions that the settings have.
    pub fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let retired: Vec<bool> = self.functions.iter().map(|one| one.retired).collect();
        (0..retired.len()).filter(move |place| !retired[*place])
    }
}
