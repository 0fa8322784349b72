//! A record of everything that a party sends.

use std::sync::{Arc, Mutex};

use symbolon_transport::Channel;
use symbolon_transport::adversary::{Action, Adversary, FnAdversary};

use crate::compare::Sent;

/// Everything that a party sends.
#[derive(Clone, Default)]
pub struct Record(Arc<Mutex<Vec<Sent>>>);

impl Record {
    /// Records what an honest party sends on a channel, after `spoil` has changed it.
    pub fn listen(&self, channel: &mut Channel, spoil: FnAdversary) {
        let to = channel.peer().number();
        channel.set_adversary(Box::new(Tap { spoil, to, record: self.clone() }));
    }

    /// Returns the messages, in the order in which they were sent.
    pub fn sent(&self) -> Vec<Sent> {
        self.0.lock().unwrap().clone()
    }
}

struct Tap {
    spoil: FnAdversary,
    to: u16,
    record: Record,
}

impl Adversary for Tap {
    fn outgoing(&mut self, kind: &'static str, index: usize, payload: &mut Vec<u8>) -> Action {
        let action = self.spoil.outgoing(kind, index, payload);
        if action == Action::Send {
            let sent = Sent { to: self.to, kind, payload: payload.clone() };
            self.record.0.lock().unwrap().push(sent);
        }
        action
    }

    fn incoming(&mut self, kind: &'static str, index: usize, payload: &[u8]) {
        self.spoil.incoming(kind, index, payload);
    }

    fn state(&mut self, point: &'static str, data: &mut [u8]) {
        self.spoil.state(point, data);
    }

    fn cheats(&self) -> bool {
        false
    }
}
