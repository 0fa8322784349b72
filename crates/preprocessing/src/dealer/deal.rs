//! The dealer's side of one session.

use std::thread;
use std::time::{Duration, Instant};

use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::{Channel, Client, Error, PartyId, Result, TransportReason};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{A, B, C, CLOSING, Request, SHARES, gates_in_chunk, inputs_in_chunk, streams::Streams};
use crate::{PeerIndex, messages, peers_of};

/// The maximum number of bytes not yet taken by the parties, over all parties; each party may have
/// at least 1 MiB.
const BACKLOG: usize = 8 << 20;

/// A summary of what was dealt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The session's id.
    pub session: [u8; 32],
    /// The number of AND gates.
    pub and_gates: u64,
    /// The number of input bits, by party.
    pub input_bits: Vec<u64>,
    /// The number of bytes sent, by party, including framing.
    pub bytes: Vec<u64>,
}

impl Summary {
    fn of(request: &Request) -> Self {
        let parties = PartyId::all(request.parties());
        Summary {
            session: request.session,
            and_gates: request.and_gates,
            input_bits: request.input_bits.clone(),
            bytes: parties.map(|party| request.bytes_to_party(party)).collect(),
        }
    }
}

pub(super) fn channels(clients: Vec<Client>) -> Vec<Channel> {
    clients.into_iter().map(|client| client.channel).collect()
}

/// Deals what `request` says to the parties on these channels, in the order of their numbers. The
/// parties must take `rate` bytes per second.
pub(super) fn deal(mut channels: Vec<Channel>, request: &Request, rate: u64) -> Result<Summary> {
    let dealt = Dealing::new(request, rate).and_then(|mut dealing| dealing.run(&mut channels));
    match dealt {
        Ok(()) => {
            channels.into_iter().try_for_each(Channel::close)?;
            Ok(Summary::of(request))
        }
        Err(error) => {
            dismiss(channels, &refusal(&error));
            Err(error)
        }
    }
}

/// Tells all parties why the dealing failed, then closes their channels.
pub(super) fn dismiss(mut channels: Vec<Channel>, words: &str) {
    channels.iter_mut().for_each(|channel| channel.abort(words));
    // A dropped channel waits a moment for its peer to read that. The channels are dropped in
    // parallel, because strangers need not read.
    thread::scope(|scope| {
        for channel in channels {
            // If no thread starts, the channel is dropped, and waits, here.
            let _ = thread::Builder::new().spawn_scoped(scope, move || drop(channel));
        }
    });
}

/// Returns what the parties are told about an error.
pub(super) fn refusal(error: &Error) -> String {
    let with = error.culprit().map_or(String::new(), |culprit| format!(" {culprit}"));
    match error {
        Error::PeerMisbehaved { detail: Some(detail), .. } => {
            format!("the request of{with} is refused: {detail}")
        }
        Error::PeerMisbehaved { .. } => format!("the request of{with} is refused"),
        Error::PeerIncompatible { what, ours, theirs } => {
            format!("{what}: the dealer's is {ours}, the request's {theirs}")
        }
        Error::Transport { reason: TransportReason::TimedOut(_), .. } => {
            format!("the dealer waited too long for{with}")
        }
        Error::Transport { .. } => format!("the dealer lost the connection with{with}"),
        _ => "the dealer failed for a reason of its own".to_string(),
    }
}

/// The dealing of one session. Its memory is proportional to a chunk.
#[derive(ZeroizeOnDrop)]
struct Dealing<'r> {
    #[zeroize(skip)]
    request: &'r Request,
    seeds: Vec<Block>,
    #[zeroize(skip)]
    streams: Vec<Streams>,
    /// The MACs of one message.
    macs: Vec<Block>,
    #[zeroize(skip)]
    begun: Instant,
    /// The number of bytes dealt so far to all parties, without framing.
    sent: u64,
    /// The minimum rate that all parties together must reach, in bytes per second.
    rate: u64,
}

impl<'r> Dealing<'r> {
    fn new(request: &'r Request, rate: u64) -> Result<Self> {
        let mut prg = Prg::from_os().map_err(|e| Error::internal(e.to_string()))?;
        let parties = request.parties();
        let mut seeds = vec![Block::ZERO; parties];
        prg.fill_blocks(&mut seeds);
        let streams = PartyId::all(parties).zip(&seeds);
        let streams = streams.map(|(party, seed)| Streams::new(*seed, request, party)).collect();
        let macs = vec![Block::ZERO; inputs_in_chunk(parties).max(gates_in_chunk(parties))];
        Ok(Dealing { request, seeds, streams, macs, begun: Instant::now(), sent: 0, rate })
    }

    fn run(&mut self, channels: &mut [Channel]) -> Result<()> {
        for (channel, seed) in channels.iter_mut().zip(&self.seeds) {
            channel.send(messages::DEALER_SEED, Block::as_bytes(std::slice::from_ref(seed)))?;
        }
        let Request { and_gates, input_bits, .. } = self.request;
        self.pace(channels, |party| *and_gates > 0 || input_bits[party] > 0)?;
        let parties = channels.len();
        let most = input_bits.iter().copied().max().unwrap_or(0);
        let step = inputs_in_chunk(parties) as u64;
        for start in (0..most).step_by(step as usize) {
            for (party, channel) in PartyId::all(parties).zip(channels.iter_mut()) {
                let own = input_bits[usize::from(party)];
                let n = own.saturating_sub(start).min(step) as usize;
                self.inputs(party, n, channel)?;
            }
            self.pace(channels, |party| *and_gates > 0 || input_bits[party] > start + step)?;
        }
        let step = gates_in_chunk(parties) as u64;
        for start in (0..*and_gates).step_by(step as usize) {
            let left = and_gates - start;
            self.gates(left.min(step) as usize, channels)?;
            self.pace(channels, |_| left > step)?;
        }
        self.hear_the_end(channels)
    }

    /// Flushes everything, then waits for a party with too large a backlog. A party for which
    /// nothing `more` is to come may have disconnected already.
    ///
    /// A party must not hold a dealer's slot by taking a few bytes now and then: once the parties
    /// are late by more than a time-out, the dealer stops waiting.
    ///
    /// Check: dealer | 64 KiB/s on average, all parties of a session together | slow readers | –
    fn pace(&self, channels: &mut [Channel], more: impl Fn(usize) -> bool) -> Result<()> {
        let each = (BACKLOG / channels.len()).max(1 << 20);
        channels.iter_mut().try_for_each(Channel::flush)?;
        let mut waiting = channels.iter_mut().enumerate().filter(|(party, _)| more(*party));
        waiting.try_for_each(|(_, channel)| {
            let due = self.due(channel.timeout());
            channel.throttle_until(each, due)
        })
    }

    /// Returns when everything dealt so far must have been taken; `None` if that is beyond the
    /// clock's range.
    fn due(&self, timeout: Duration) -> Option<Instant> {
        let slowest = Duration::from_millis(self.sent.saturating_mul(1000) / self.rate.max(1));
        self.begun.checked_add(timeout.saturating_add(slowest))
    }

    /// Waits for all parties to confirm that they have everything, within one time-out, or until
    /// everything is due if that is later.
    fn hear_the_end(&self, channels: &mut [Channel]) -> Result<()> {
        let dealt = Instant::now();
        for channel in channels {
            let timeout = channel.timeout();
            let end = (dealt + timeout).max(self.due(timeout).unwrap_or(dealt));
            channel.set_timeout(timeout.min(end.saturating_duration_since(Instant::now())));
            channel.recv_into(messages::DEALER_DONE, &mut [])?;
            channel.set_timeout(timeout);
        }
        Ok(())
    }

    /// Sends the MACs on the next `n` input bits of `party`.
    fn inputs(&mut self, party: PartyId, n: usize, channel: &mut Channel) -> Result<()> {
        if n == 0 {
            return Ok(());
        }
        let bits = self.streams[usize::from(party)].input_bits(n);
        for peer in peers_of(party, self.streams.len()) {
            let macs = self.macs(&bits, party, peer);
            channel.send(messages::DEALER_INPUT_MACS, Block::as_bytes(macs))?;
            self.sent += 16 * n as u64;
        }
        Ok(())
    }

    /// Deals the next `n` gates of all parties.
    fn gates(&mut self, n: usize, channels: &mut [Channel]) -> Result<()> {
        let mut bits: Vec<[BitVec; SHARES]> =
            self.streams.iter_mut().map(|streams| streams.gate_bits(n)).collect();
        close_triples(&mut bits);
        for ((party, channel), bits) in PartyId::all(bits.len()).zip(channels).zip(&bits) {
            if party == CLOSING {
                let mut bytes = bits[C].to_bytes();
                channel.send(messages::DEALER_PRODUCT_BITS, &bytes)?;
                bytes.zeroize();
            }
            for peer in peers_of(party, self.streams.len()) {
                for bits in bits {
                    let macs = self.macs(bits, party, peer);
                    channel.send(messages::DEALER_GATE_MACS, Block::as_bytes(macs))?;
                    self.sent += 16 * n as u64;
                }
            }
        }
        Ok(())
    }

    /// Computes the MACs on `bits` of `party` under the Δ of `peer`: that peer's next keys, plus Δ
    /// where a bit is 1.
    fn macs(&mut self, bits: &BitVec, party: PartyId, peer: PartyId) -> &[Block] {
        let macs = &mut self.macs[..bits.len()];
        let streams = &mut self.streams[usize::from(peer)];
        streams.keys(PeerIndex::of(party, peer), macs);
        for (macs, word) in macs.chunks_mut(64).zip(bits.words()) {
            for (k, mac) in macs.iter_mut().enumerate() {
                *mac ^= streams.delta.select(word >> k & 1 == 1);
            }
        }
        macs
    }
}

/// Sets the closing party's c so that ⊕c = ⊕a ∧ ⊕b.
fn close_triples(bits: &mut [[BitVec; SHARES]]) {
    let (closing, others) = bits.split_at_mut(1);
    let [_, a, b, c] = &mut closing[0];
    let (mut sum_a, mut sum_b) = (a.clone(), b.clone());
    for other in &*others {
        sum_a.xor_assign(&other[A]);
        sum_b.xor_assign(&other[B]);
        c.xor_assign(&other[C]);
    }
    for (c, (a, b)) in c.words_mut().iter_mut().zip(sum_a.words().iter().zip(sum_b.words())) {
        *c ^= a & b;
    }
}
