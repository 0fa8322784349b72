//! Parties with channels in memory to a dealer, and checks of what it deals.
#![allow(dead_code, missing_docs)]

use std::sync::{Condvar, Mutex, mpsc};
use std::time::Duration;

use symbolon_preprocessing::dealer::{
    DealerClient, DealerServer, Event, Limits, Request, ServerLimits, Summary,
};
use symbolon_preprocessing::{AuthBits, AuthShares, Triples};
use symbolon_primitives::Block;
use symbolon_transport::{Channel, Client, DEALER, MIN_RATE, Meter, Result, memory_lanes};

/// Only bounds the duration of a test that hangs.
pub const DEADLINE: Duration = Duration::from_secs(20);

pub const LIMITS: ServerLimits = ServerLimits {
    per_session: Limits { and_gates: 1 << 32, input_bits: 1 << 20 },
    join_timeout: DEADLINE,
    waiting: 256,
    running: 64,
    per_key: 16,
    slots: 1024,
    per_address: 256,
    rate: MIN_RATE,
};

/// What one party received.
pub struct Dealt {
    pub delta: Block,
    pub inputs: AuthBits,
    pub keys: Vec<Vec<Block>>,
    pub gates: Vec<(AuthShares, Triples)>,
}

/// Returns a request for party 0's slot, with party 1 evaluating.
pub fn request(input_bits: &[u64], and_gates: u64) -> Request {
    let (session, input_bits) = ([9; 32], input_bits.to_vec());
    Request {
        session,
        party: 0.into(),
        evaluator: 1.into(),
        and_gates,
        input_bits,
        keys: Vec::new(),
    }
}

/// Returns both ends of a channel of `party` to the dealer: the party's, then the dealer's.
pub fn slot(party: u16) -> (Channel, Channel) {
    let (own, dealer) = ((party, Meter::new()), (DEALER, Meter::new()));
    let (mut near, mut far) = memory_lanes(own, dealer, 1, None).unwrap();
    near[0].set_timeout(DEADLINE);
    far[0].set_timeout(DEADLINE);
    (near.remove(0), far.remove(0))
}

/// Returns the parties' ends, and the dealer's.
pub fn slots(parties: u16) -> (Vec<Channel>, Vec<Channel>) {
    (0..parties).map(slot).unzip()
}

/// Deals to the parties at the other ends of these channels until something ends.
pub fn serve(dealer: Vec<Channel>) -> Result<Summary> {
    let (tell, events) = mpsc::channel();
    let server = DealerServer::new(LIMITS, move |event| drop(tell.send(event)))?;
    dealer.into_iter().for_each(|channel| server.admit(Client::from(channel)));
    match events.recv().expect("something ends") {
        Event::Served(summary) => Ok(summary),
        Event::Failed { error, .. } => Err(error),
        Event::TurnedAway(_) => panic!("nobody is turned away"),
    }
}

/// Runs the dealer and all parties at once.
pub fn with_dealer<P: Send, T: Send, D: Send>(
    dealer: impl FnOnce() -> D + Send,
    parties: Vec<P>,
    party: impl Fn(P) -> T + Sync,
) -> (Vec<T>, D) {
    std::thread::scope(|scope| {
        let dealer = scope.spawn(dealer);
        let party = &party;
        let threads: Vec<_> = parties.into_iter().map(|p| scope.spawn(move || party(p))).collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        (ended, dealer.join().unwrap())
    })
}

/// Requests `asked` in the slot of the channel's party, and takes everything.
pub fn take(channel: Channel, asked: &Request) -> Result<Dealt> {
    let party = channel.me();
    finish(DealerClient::new(channel, Request { party, ..asked.clone() })?)
}

/// Takes everything that is dealt.
pub fn finish(client: DealerClient) -> Result<Dealt> {
    let delta = **client.delta();
    let (inputs, mut keys, mut source) = client.inputs()?;
    let mut gates = Vec::new();
    while let Some(batch) = source.next_batch()? {
        gates.push(batch);
    }
    Ok(Dealt { delta, inputs, keys: std::mem::take(&mut *keys), gates })
}

/// Checks that every MAC fits its key, every c is a ∧ b, and the amounts are as requested.
pub fn check(dealt: &[Dealt], asked: &Request) {
    assert_eq!(dealt.len(), asked.parties());
    for (i, own) in dealt.iter().enumerate() {
        assert_eq!(own.inputs.bits.len() as u64, asked.input_bits[i]);
        let gates: usize = own.gates.iter().map(|(masks, _)| masks.len()).sum();
        assert_eq!(gates as u64, asked.and_gates);
        assert_eq!((own.inputs.macs.len(), own.keys.len()), (dealt.len() - 1, dealt.len() - 1));
        for (j, peer) in dealt.iter().enumerate().filter(|(j, _)| *j != i) {
            let (mine, theirs) = (place(j, i), place(i, j));
            let bits = own.inputs.bits.to_bools();
            let (macs, keys) = (&own.inputs.macs[mine], &peer.keys[theirs]);
            assert!(authenticated(&bits, macs, keys, peer.delta), "inputs of {i} towards {j}");
            for (own, their) in own.gates.iter().zip(&peer.gates) {
                for (own, their) in shares(own).into_iter().zip(shares(their)) {
                    let (macs, keys) = (&own.towards[mine].macs, &their.towards[theirs].keys);
                    let bits = own.bits.to_bools();
                    assert!(authenticated(&bits, macs, keys, peer.delta), "gates of {i}");
                }
            }
        }
    }
    for batch in 0..dealt[0].gates.len() {
        let sum = |of: fn(&Triples) -> &AuthShares| {
            let mut sum = of(&dealt[0].gates[batch].1).bits.clone();
            dealt[1..].iter().for_each(|other| sum.xor_assign(&of(&other.gates[batch].1).bits));
            sum.to_bools()
        };
        let (a, b, c) = (sum(|t| &t.a), sum(|t| &t.b), sum(|t| &t.c));
        let products: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a & b).collect();
        assert!(c == products, "batch {batch}");
    }
}

/// Returns the index of `party` among the peers of `of`.
fn place(party: usize, of: usize) -> usize {
    party - usize::from(party > of)
}

fn shares((masks, triples): &(AuthShares, Triples)) -> [&AuthShares; 4] {
    [masks, &triples.a, &triples.b, &triples.c]
}

fn authenticated(bits: &[bool], macs: &[Block], keys: &[Block], delta: Block) -> bool {
    assert_eq!((bits.len(), bits.len()), (macs.len(), keys.len()));
    (0..bits.len()).all(|k| macs[k] == keys[k] ^ delta.select(bits[k]))
}

/// A number that threads wait for.
#[derive(Default)]
pub struct Counter(Mutex<u64>, Condvar);

impl Counter {
    pub fn add(&self, n: u64) {
        *self.0.lock().unwrap() += n;
        self.1.notify_all();
    }

    pub fn get(&self) -> u64 {
        *self.0.lock().unwrap()
    }

    #[track_caller]
    pub fn wait_for(&self, n: u64) {
        let count = self.0.lock().unwrap();
        let waited = self.1.wait_timeout_while(count, DEADLINE, |count| *count < n).unwrap();
        assert!(!waited.1.timed_out(), "{} of {n}", waited.0);
    }
}
