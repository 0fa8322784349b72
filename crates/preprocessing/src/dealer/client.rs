//! A party's side of the dealer.

use symbolon_primitives::{BitVec, Block, Delta, Seed};
use symbolon_transport::{Channel, DEALER, Error, PartyId, Result};
use zeroize::Zeroize;

use super::{C, CLOSING, Request, SHARES, gates_in_chunk, inputs_in_chunk, streams::Streams};
use crate::{
    AuthBits, AuthShares, PeerIndex, PeerKeys, Triples, checks::DEALT_BITS, messages, peers_of,
};

/// A party to which the dealer has begun to deal.
///
/// The dealt material comes in this order: Δ, then the inputs, then the gates. After an error
/// everything received must be dropped.
pub struct DealerClient {
    channel: Channel,
    request: Request,
    streams: Streams,
}

impl DealerClient {
    /// Sends the request over a channel to the [`DEALER`], and waits until all parties have sent
    /// theirs and the dealing begins. The channel's time-out must be longer than the dealer waits
    /// for late parties.
    ///
    /// # Errors
    /// `InvalidInput` for an invalid request, or one that is not for the channel's own party.
    /// `Transport` if the connection is lost or the dealer refuses; then it contains the dealer's
    /// words, for example what the parties disagree on.
    pub fn new(mut channel: Channel, request: Request) -> Result<Self> {
        request.check()?;
        if (channel.me(), channel.peer()) != (request.party, DEALER) {
            return Err(Error::invalid_input("the channel is not this party's to the dealer"));
        }
        request.send(&mut channel)?;
        let mut seed = Seed::default();
        channel.recv_into(
            messages::DEALER_SEED,
            Block::as_bytes_mut(std::slice::from_mut(&mut *seed)),
        )?;
        let streams = Streams::new(*seed, &request, request.party);
        Ok(DealerClient { channel, request, streams })
    }

    /// Returns this party's Δ.
    pub fn delta(&self) -> &Delta {
        &self.streams.delta
    }

    /// Receives the inputs: this party's random bits, as many as it has input bits, authenticated
    /// towards all others; and for each peer, in ascending order, the keys for its bits. The gates
    /// follow.
    ///
    /// # Errors
    /// `Transport` if the connection is lost, `PeerMisbehaved` if the dealer sends something else;
    /// `InvalidInput` if there is more than this machine can address.
    pub fn inputs(mut self) -> Result<(AuthBits, PeerKeys, Gates)> {
        let counts: Vec<usize> =
            self.request.input_bits.iter().map(|&bits| addressable(bits)).collect::<Result<_>>()?;
        let (me, parties) = (self.request.party, self.request.parties());
        let own = counts[usize::from(me)];
        let mut auth_bits =
            AuthBits { bits: BitVec::default(), macs: vec![vec![Block::ZERO; own]; parties - 1] };
        let step = inputs_in_chunk(parties);
        for start in (0..own).step_by(step) {
            let range = start..(start + step).min(own);
            auth_bits.bits.extend_from(&self.streams.input_bits(range.len()));
            for macs in &mut auth_bits.macs {
                let macs = Block::as_bytes_mut(&mut macs[range.clone()]);
                self.channel.recv_into(messages::DEALER_INPUT_MACS, macs)?;
            }
        }
        let keys = peers_of(me, parties).map(|peer| {
            let mut keys = vec![Block::ZERO; counts[usize::from(peer)]];
            self.streams.keys(PeerIndex::of(peer, me), &mut keys);
            keys
        });
        let keys = PeerKeys::new(keys.collect());
        let DealerClient { channel, request, streams } = self;
        let mut gates = Gates { channel, left: request.and_gates, me, parties, streams };
        gates.acknowledge()?;
        Ok((auth_bits, keys, gates))
    }
}

/// The gates that the dealer deals, batch by batch.
pub struct Gates {
    channel: Channel,
    left: u64,
    me: PartyId,
    parties: usize,
    streams: Streams,
}

impl Gates {
    /// Receives the next batch, one mask and one triple per gate; returns `None` after the last
    /// requested gate.
    ///
    /// If a party does not fetch the next batch, the dealer waits for it, at most for its time-out.
    ///
    /// Check: dealer | exact lengths, `dealt bits` | malformed dealings | –
    ///
    /// # Errors
    /// `Transport` if the connection is lost, with the dealer's words if it gave up;
    /// `PeerMisbehaved` if it sends something else.
    pub fn next_batch(&mut self) -> Result<Option<(AuthShares, Triples)>> {
        let n = self.left.min(gates_in_chunk(self.parties) as u64) as usize;
        if n == 0 {
            return Ok(None);
        }
        let mut bits = self.streams.gate_bits(n);
        if self.me == CLOSING {
            let mut bytes =
                self.channel.recv(messages::DEALER_PRODUCT_BITS, BitVec::byte_len(n))?;
            bits[C] = BitVec::from_bytes(n, &bytes).ok_or(Error::misbehaved(DEALER, DEALT_BITS))?;
            bytes.zeroize();
        }
        let mut shares: [AuthShares; SHARES] = bits.map(|bits| {
            let mut shares = AuthShares::zeros(0, self.parties - 1);
            shares.bits = bits;
            shares
        });
        for peer in PeerIndex::all(self.parties - 1) {
            for shares in &mut shares {
                let towards = &mut shares.towards[peer.get()];
                towards.macs.resize(n, Block::ZERO);
                towards.keys.resize(n, Block::ZERO);
                self.channel.recv_into(
                    messages::DEALER_GATE_MACS,
                    Block::as_bytes_mut(&mut towards.macs),
                )?;
                self.streams.keys(peer, &mut towards.keys);
            }
        }
        self.left -= n as u64;
        self.acknowledge()?;
        let [masks, a, b, c] = shares;
        Ok(Some((masks, Triples { a, b, c })))
    }

    /// Tells the dealer once nothing is left to come.
    fn acknowledge(&mut self) -> Result<()> {
        if self.left > 0 {
            return Ok(());
        }
        self.channel.send(messages::DEALER_DONE, &[])?;
        self.channel.flush()
    }
}

fn addressable(count: u64) -> Result<usize> {
    usize::try_from(count).map_err(|_| Error::invalid_input("more inputs than memory can hold"))
}
