//! Sessions of commitments from known seeds, and tools for tests.
#![allow(dead_code, missing_docs)]

use std::time::Duration;

use symbolon_cutchoose::hcom::{
    Commitments, Committed, Committer, FieldBits, Params, Receiver, TheirOpening, VoleParties,
};
use symbolon_ot::vole;
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::adversary::{Action, FnAdversary, fresh};
use symbolon_transport::{Channel, Error, Message, Meter, memory_pair};

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

/// The strings of an opening.
const STRINGS: Message = Message::of_test("strings");

/// Sends the strings of these commitments, and the proof.
pub fn open(
    committer: &mut Committer,
    channel: &mut Channel,
    committed: &Committed,
) -> Result<(), Error> {
    let mut opening = committer.opening();
    channel.send(STRINGS, Block::as_bytes(committed.values()))?;
    opening.add_range(committed, 0..committed.len());
    opening.finish(channel)
}

/// Receives the strings of `n` commitments, and the proof.
pub fn receive(
    receiver: &mut Receiver,
    channel: &mut Channel,
    commitments: &Commitments,
    n: usize,
) -> Result<Vec<Block>, Error> {
    let mut values = vec![Block::ZERO; n];
    channel.recv_into(STRINGS, Block::as_bytes_mut(&mut values))?;
    let mut opening = receiver.opening();
    add_all(&mut opening, commitments, &values);
    opening.finish(channel)?;
    Ok(values)
}

/// Adds commitments to known strings.
pub fn add_all(opening: &mut TheirOpening, commitments: &Commitments, values: &[Block]) {
    for (i, &value) in values.iter().enumerate() {
        opening.add_sum(commitments, std::iter::once(i), value);
    }
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

    /// The committer opens one list, the receiver another.
    pub fn open(
        &mut self,
        committed: &Committed,
        commitments: &Commitments,
    ) -> Result<Vec<Block>, Error> {
        open(&mut self.committer, &mut self.channels.0, committed)?;
        self.channels.0.flush()?;
        receive(&mut self.receiver, &mut self.channels.1, commitments, committed.len())
    }

    /// The committer proves one list; the receiver verifies another, for known values.
    pub fn prove(
        &mut self,
        committed: &Committed,
        commitments: &Commitments,
        values: &[Block],
    ) -> Result<(), Error> {
        let mut opening = self.committer.opening();
        opening.add_range(committed, 0..committed.len());
        opening.finish(&mut self.channels.0)?;
        self.channels.0.flush()?;
        let mut opening = self.receiver.opening();
        add_all(&mut opening, commitments, values);
        opening.finish(&mut self.channels.1)
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
        let mut value = list.values()[i].0;
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
