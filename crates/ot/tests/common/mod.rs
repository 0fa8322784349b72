//! Two parties on two threads, and sessions of correlated OT from known seeds.
#![allow(dead_code, missing_docs)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use symbolon_ot::iknp::{self, COLUMNS, ExtensionId, SelectiveFailureGuard};
use symbolon_ot::pprf::{self, TreeParams};
use symbolon_ot::{CotReceiver, CotSender, OtExtension, Workspace, softspoken};
use symbolon_primitives::{BitVec, Block, Delta, Prg};
use symbolon_transport::adversary::{Action, CheckName, FnAdversary, assert_noticed, fresh};
use symbolon_transport::{Channel, Error, Meter, memory_pair};

pub const SESSION: [u8; 32] = [1; 32];

/// Returns a generator. Within a process, equal numbers give equal generators.
pub fn prg(number: u128) -> Prg {
    Prg::from_seed(Block(fresh(number)))
}

/// Returns connected channels of parties 0 and 1. The time-out only bounds a test that hangs.
pub fn channels() -> (Channel, Channel) {
    let (mut a, mut b) = memory_pair(Meter::new(), Meter::new());
    a.set_timeout(Duration::from_secs(20));
    b.set_timeout(Duration::from_secs(20));
    (a, b)
}

/// Runs both parties; each one's channel closes when it is done.
pub fn both<A: Send, B: Send>(
    (mut a, mut b): (Channel, Channel),
    party0: impl FnOnce(&mut Channel) -> A + Send,
    party1: impl FnOnce(&mut Channel) -> B + Send,
) -> (A, B) {
    std::thread::scope(|scope| {
        let other = scope.spawn(move || party1(&mut b));
        let first = party0(&mut a);
        drop(a);
        (first, other.join().expect("party 1 panicked"))
    })
}

/// Returns an adversary that changes one message.
pub fn tampered(
    kind: &'static str,
    index: usize,
    mut f: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> Box<FnAdversary> {
    Box::new(FnAdversary::new().on_message(kind, index, move |payload| {
        f(payload);
        Action::Send
    }))
}

/// The messages of one kind that a party sent.
pub type Record = Arc<Mutex<Vec<Vec<u8>>>>;

/// Returns an adversary that changes nothing and records the messages of one kind.
pub fn recorder(kind: &'static str) -> (Record, Box<FnAdversary>) {
    let record = Record::default();
    let copy = record.clone();
    let adversary = FnAdversary::new().on_outgoing(move |k, _, payload| {
        if k == kind {
            copy.lock().unwrap().push(payload.clone());
        }
        Action::Send
    });
    (record, Box::new(adversary))
}

/// Asserts that the honest party of two caught the other one, `cheater`, at this check.
#[track_caller]
pub fn assert_caught<T>(honest: Result<T, Error>, cheater: u16, at: impl CheckName) {
    assert_noticed(&honest, cheater, at);
}

/// One direction of correlated OT without base OTs: party 1 has the choice bits, party 0 has Δ. A
/// draw's receiver only sends, so both sides run one after the other on one thread.
pub struct Direction {
    pub delta: Block,
    pub sender: Box<dyn CotSender>,
    pub receiver: Box<dyn CotReceiver>,
    pub channels: (Channel, Channel),
}

impl Direction {
    pub fn new(seed: u128) -> Self {
        Direction::by(OtExtension::Iknp, seed)
    }

    pub fn by(ot_extension: OtExtension, seed: u128) -> Self {
        let delta = prg(seed).block();
        Direction::made((ot_extension, seed), delta, 1, Arc::default())
    }

    pub fn with(seed: u128, delta: Block, lane: u64, guard: Arc<SelectiveFailureGuard>) -> Self {
        Direction::made((OtExtension::Iknp, seed), delta, lane, guard)
    }

    pub fn made(
        (ot_extension, seed): (OtExtension, u128),
        delta: Block,
        lane: u64,
        guard: Arc<SelectiveFailureGuard>,
    ) -> Self {
        let mut prg = prg(seed ^ 1 << 64);
        let pairs: [[Block; 2]; COLUMNS] =
            std::array::from_fn(|_| std::array::from_fn(|_| prg.block()));
        let chosen = std::array::from_fn(|i| pairs[i][(delta.0 >> i & 1) as usize]);
        let stream = ExtensionId { sender: Some(0.into()), receiver: 1.into(), lane };
        let tails = Prg::from_seed(prg.block());
        let (sender, receiver): (Box<dyn CotSender>, Box<dyn CotReceiver>) = match ot_extension {
            OtExtension::Iknp => (
                Box::new(iknp::Sender::new(&Delta::new(delta), &chosen, &SESSION, stream, guard)),
                Box::new(iknp::Receiver::new(&pairs, &SESSION, stream, tails)),
            ),
            OtExtension::SoftSpoken { k } => {
                let tree_params = TreeParams {
                    session: &SESSION,
                    tree_sender: 1.into(),
                    tree_receiver: 0.into(),
                    k,
                };
                let (sender_trees, message) = pprf::build_trees(tree_params, &pairs);
                let trees =
                    pprf::puncture(tree_params, &Delta::new(delta), &chosen, &message, &guard)
                        .unwrap();
                (
                    Box::new(softspoken::Sender::new(&trees, &SESSION, stream, guard)),
                    Box::new(softspoken::Receiver::new(&sender_trees, &SESSION, stream, tails)),
                )
            }
            OtExtension::Ferret => unreachable!("its tests are in src/ferret"),
        };
        Direction { delta, sender, receiver, channels: channels() }
    }

    /// Performs one draw. Returns (keys, MACs), or the sender's error.
    pub fn draw(&mut self, choices: &BitVec) -> Result<(Vec<Block>, Vec<Block>), Error> {
        let mut macs = vec![Block::ZERO; choices.len()];
        let mut keys = macs.clone();
        let (keys_side, macs_side) = (&mut self.channels.0, &mut self.channels.1);
        self.receiver
            .extend(macs_side, choices, &mut macs, &mut Workspace::default())
            .expect("the receiver only sends");
        macs_side.flush().expect("memory takes everything");
        self.sender.extend(keys_side, &mut keys, &mut Workspace::default())?;
        Ok((keys, macs))
    }
}

/// Asserts that M = K ⊕ x·Δ for every bit.
#[track_caller]
pub fn assert_correlated(delta: Block, choices: &BitVec, keys: &[Block], macs: &[Block]) {
    assert_eq!((keys.len(), macs.len()), (choices.len(), choices.len()));
    for (k, (key, mac)) in keys.iter().zip(macs).enumerate() {
        assert!(*mac == *key ^ delta.select(choices.get(k)), "MAC {k} of {}", keys.len());
    }
}
