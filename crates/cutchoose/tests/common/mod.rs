//! Sessions of commitments from known seeds, and tools for tests.
#![allow(dead_code, missing_docs)]

use std::time::Duration;

use symbolon_cutchoose::hcom::{
    Commitments, Committed, Committer, FieldBits, Params, Receiver, VoleParties,
};
use symbolon_ot::vole;
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::adversary::{Action, FnAdversary, fresh};
use symbolon_transport::{Channel, Error, Meter, memory_pair};

pub const SESSION: [u8; 32] = [4; 32];

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

pub fn params(k: FieldBits, rho: u32) -> Params {
    Params::new(k, rho).unwrap()
}

/// Bytes sent, without headers.
pub fn payload_sent(channel: &Channel) -> u64 {
    let report = channel.meter().report();
    report.iter().map(|phase| phase.bytes_sent - 8 * phase.messages_sent).sum()
}

/// Commitments without base OTs: party 0 commits, party 1 receives. The committer only sends, so
/// both sides run one after the other on one thread.
pub struct Session {
    pub committer: Committer,
    pub receiver: Receiver,
    pub channels: (Channel, Channel),
    /// Bit j of place i is bit i·k + j.
    pub delta: BitVec,
}

impl Session {
    pub fn new(params: &Params, seed: u128) -> Session {
        let delta = BitVec::random(params.columns(), &mut prg(seed ^ 1 << 64));
        Session::with(params, seed, delta, |_| {}).unwrap()
    }

    /// Returns a session with this Δ, after `adversary` has changed the message of the set-up.
    pub fn with(
        params: &Params,
        seed: u128,
        delta: BitVec,
        adversary: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Session, Error> {
        let mut prg = prg(seed);
        let ends = VoleParties { session: &SESSION, prover: 0.into(), verifier: 1.into() };
        let pairs: Vec<[Block; 2]> =
            (0..params.columns()).map(|_| [prg.block(), prg.block()]).collect();
        let chosen: Vec<Block> =
            pairs.iter().enumerate().map(|(i, pair)| pair[usize::from(delta.get(i))]).collect();
        let (provers, mut message) = vole::build_provers(ends, params, &pairs, 1)?;
        adversary(&mut message);
        let verifiers = vole::build_verifiers(ends, params, (&delta, &chosen), &message, 1)?;
        let committer = Committer::of(provers, ends).pop().unwrap();
        let receiver = Receiver::of(verifiers, ends).pop().unwrap();
        Ok(Session { committer, receiver, channels: channels(), delta })
    }

    pub fn random(&mut self, n: usize) -> Result<(Committed, Commitments), Error> {
        let committed = self.committer.commit_random(&mut self.channels.0, n)?;
        self.channels.0.flush()?;
        Ok((committed, self.receiver.commit_random(&mut self.channels.1, n)?))
    }

    pub fn chosen(&mut self, values: &[Block]) -> Result<(Committed, Commitments), Error> {
        let committed = self.committer.commit_chosen(&mut self.channels.0, values)?;
        self.channels.0.flush()?;
        Ok((committed, self.receiver.commit_chosen(&mut self.channels.1, values.len())?))
    }

    /// The committer opens one list, the receiver another.
    pub fn open(
        &mut self,
        committed: &Committed,
        commitments: &Commitments,
    ) -> Result<Vec<Block>, Error> {
        self.committer.open(&mut self.channels.0, committed)?;
        self.channels.0.flush()?;
        self.receiver.open(&mut self.channels.1, commitments)
    }

    /// The committer proves one list; the receiver verifies another, for known values.
    pub fn prove(
        &mut self,
        committed: &Committed,
        commitments: &Commitments,
        values: &[Block],
    ) -> Result<(), Error> {
        self.committer.prove(&mut self.channels.0, committed)?;
        self.channels.0.flush()?;
        self.receiver.verify(&mut self.channels.1, commitments, values)
    }

    /// Makes the committer change one message.
    pub fn tamper_message(
        &mut self,
        kind: &'static str,
        mut f: impl FnMut(&mut Vec<u8>) + Send + 'static,
    ) {
        let adversary = FnAdversary::new().on_message(kind, 0, move |payload| {
            f(payload);
            Action::Send
        });
        self.channels.0.set_adversary(Box::new(adversary));
    }

    /// Makes the committer change its state at a named point.
    pub fn tamper_state(
        &mut self,
        point: &'static str,
        mut f: impl FnMut(&mut [u8]) + Send + 'static,
    ) {
        let adversary = FnAdversary::new().on_state(move |at, data| {
            if at == point {
                f(data);
            }
        });
        self.channels.0.set_adversary(Box::new(adversary));
    }
}

/// Returns a copy of the list in which `f` has changed each commitment: its string, and the words
/// of its row.
pub fn forged(
    params: &Params,
    list: &Committed,
    mut f: impl FnMut(usize, &mut u128, &mut [u64]),
) -> Committed {
    let mut out = Committed::new(params);
    for i in 0..list.len() {
        let mut record = Vec::new();
        list.write_record(i, &mut record);
        let mut value = list.value(i).0;
        let mut row: Vec<u64> = record[16..]
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect();
        f(i, &mut value, &mut row);
        record.clear();
        record.extend_from_slice(&value.to_le_bytes());
        row.iter().for_each(|word| record.extend_from_slice(&word.to_le_bytes()));
        out.push_record(&record);
    }
    out
}

/// Returns the places of the code at which a string's codeword is 1.
pub fn places(params: &Params, value: Block) -> Vec<usize> {
    let message = (0..128).filter(|i| value.0 >> i & 1 == 1);
    let sums = params.code().sums().iter().enumerate();
    let parity = sums.filter(|(_, sum)| (value & **sum).0.count_ones() % 2 == 1);
    message.chain(parity.map(|(i, _)| 128 + i)).collect()
}

/// Returns a string whose codeword has the code's distance as its weight.
pub fn lightest(params: &Params) -> Block {
    let distance = params.code().distance();
    let pairs = (0..128).flat_map(|i| (0..i).map(move |j| 1u128 << i | 1 << j));
    let values = (0..128).map(|i| 1 << i).chain(pairs);
    values.map(Block).find(|value| places(params, *value).len() == distance).unwrap()
}
