//! Authenticated bits among n parties: Yang–Wang–Zhang 2020, Fig. 4, in a sound form.
//!
//! Party i has bits x and runs correlated OT extension with every other party j, who obtains keys
//! under its Δ_j. One check serves two purposes: x is the same in all columns towards one verifier,
//! and the same towards all verifiers. The figure's own check combines rows (its Lemma 2 rests on a
//! lemma that does not hold as stated). This one hashes columns, see [`symbolon_ot::cot`], and
//! keeps the paper's idea: the coefficients χ and the value x̃ are the same for all verifiers.
//!
//! ```text
//! i → j   correction u_j                                 to each j its own
//! i → all digests of all corrections                     χ = H(session, i, earlier draws, digests)
//! i → j   x̃ (the same for all), t̃_j^1 … t̃_j^128
//! ```
//!
//! j knows the digest of the u_j that it received, so χ is fixed only after every u is. Digests and
//! x̃ are broadcasts: they enter a [`BroadcastLog`], which all parties compare before they send
//! anything that is safe only if the bits are the same towards all. (U of [`crate::laand`] is safe
//! without this comparison, and is sent before it.) If the logs agree, honest verifiers used the
//! same χ and x̃. By the universality of the hash, a party whose bits differ between two of them
//! passes only with probability 2^-128, apart from guessing bits of their Δ.
//!
//! # Silent OT
//! All bits here are random, so a draw may return those that [`symbolon_ot::ferret`] has. Between
//! two parties it does: the expansions' check is enough, and the draw sends nothing. Among more the
//! bits must be the same towards all, so each correction turns one peer's bits into those.
//!
//! Departure: `ywz`: χ of authenticated bits | coin toss, or transcript hash | hash of the
//! broadcast digests of all corrections | fixed after every correction, echoed before use

use symbolon_interaction::BroadcastLog;
use symbolon_ot::script::silent_rows;
use symbolon_ot::{Columns, Correction, cot, setup::Lane};
use symbolon_primitives::{BitVec, Block, Delta, Prg, Transcript};
use symbolon_transport::{Channel, Error, PartyId, Result, SessionId};

use crate::messages::{ABIT_CHECK, ABIT_DIGESTS};
use crate::{PeerIndex, peers::peers_of};

/// How many draws are sent before the peers' first draw is awaited, so that a long link stays busy.
pub(crate) const AHEAD: usize = 4;

/// One lane's correlated OT with every peer.
pub struct AuthBitGenerator {
    me: PartyId,
    pairs: Vec<Lane>,
    own: Transcript,
    theirs: Vec<Transcript>,
    log: BroadcastLog,
    tails: Prg,
    /// Memory for the draws. An own draw uses columns for every peer at a time, a peer's draw uses
    /// the first.
    columns: Vec<Columns>,
    correction: Correction,
}

impl AuthBitGenerator {
    /// Takes over the lane's correlated OT with each peer, peers in ascending order.
    pub fn new(
        pairs: Vec<Lane>,
        session: &SessionId,
        me: PartyId,
        lane: u64,
        prg: &mut Prg,
    ) -> Self {
        let parties = pairs.len() + 1;
        // All other parties check a draw together; with two parties there is only one.
        let transcript = |receiver, verifier: PartyId| {
            let sender = (parties == 2).then_some(verifier);
            cot::ExtensionId { sender, receiver, lane }.transcript(session.as_bytes())
        };
        AuthBitGenerator {
            me,
            own: transcript(me, peers_of(me, parties).next().unwrap_or(me)),
            theirs: peers_of(me, parties).map(|peer| transcript(peer, me)).collect(),
            columns: pairs.iter().map(|_| Columns::default()).collect(),
            correction: Correction::default(),
            pairs,
            log: BroadcastLog::new(parties),
            tails: prg.child(),
        }
    }

    /// Returns this party's Δ.
    pub fn delta(&self) -> &Delta {
        self.pairs[0].sender.delta()
    }

    /// Returns the number of peers.
    pub fn peers(&self) -> usize {
        self.pairs.len()
    }

    /// Returns the digest of this lane's broadcasts so far.
    pub fn log_digest(&self) -> [u8; 32] {
        self.log.digest()
    }

    /// Makes what the next draws need, if the OT is silent: of this party's draws, and of each
    /// peer's. All parties must call this at the same time.
    ///
    /// # Errors
    /// As [`symbolon_ot::supply`].
    pub fn supply<D: AsRef<[usize]>>(
        &mut self,
        channels: &mut [Channel],
        own: &[usize],
        theirs: &[D],
    ) -> Result<()> {
        let parties = self.pairs.len() + 1;
        let rows = |draws: &[usize]| draws.iter().map(|n| silent_rows(parties, *n)).sum();
        let theirs: Vec<usize> = theirs.iter().map(|draws| rows(draws.as_ref())).collect();
        symbolon_ot::supply(channels, &mut self.pairs, rows(own), &theirs)
    }

    /// Makes draws of any size in both directions: `n` random bits of this party, which it returns.
    /// Fills `macs[p]` with the MACs on them under the Δ of the peer with index p, and `keys[p]`
    /// with a key for each of that peer's bits.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a peer's bits are inconsistent; `Transport` if a connection is lost.
    pub fn draw(
        &mut self,
        channels: &mut [Channel],
        (n, prg): (usize, &mut Prg),
        macs: &mut [&mut [Block]],
        keys: &mut [&mut [Block]],
    ) -> Result<BitVec> {
        let most = keys.iter().map(|keys| keys.len()).fold(n, usize::max);
        let draws = most.div_ceil(cot::MAX_DRAW);
        let range = |n: usize, draw: usize| {
            (draw * cot::MAX_DRAW).min(n)..((draw + 1) * cot::MAX_DRAW).min(n)
        };
        let sizes = |n: usize| -> Vec<usize> {
            (0..n.div_ceil(cot::MAX_DRAW)).map(|draw| range(n, draw).len()).collect()
        };
        let theirs: Vec<Vec<usize>> = keys.iter().map(|keys| sizes(keys.len())).collect();
        self.supply(channels, &sizes(n), &theirs)?;
        let mut bits = BitVec::with_capacity(n);
        for step in 0..draws + AHEAD {
            if step == draws.max(AHEAD) {
                // This was the end of the last own draw. No peer's message delays it, so it is
                // flushed now.
                channels.iter_mut().try_for_each(Channel::flush)?;
            }
            let own = range(n, step);
            if !own.is_empty() {
                let mut macs: Vec<&mut [Block]> =
                    macs.iter_mut().map(|macs| &mut macs[own.clone()]).collect();
                bits.extend_from(&self.draw_own(channels, own.len(), prg, &mut macs)?);
            }
            if let Some(draw) = step.checked_sub(AHEAD) {
                let keys = keys.iter_mut().map(|keys| {
                    let range = range(keys.len(), draw);
                    &mut keys[range]
                });
                self.draw_theirs(channels, &mut keys.collect::<Vec<_>>())?;
            }
        }
        channels.iter_mut().try_for_each(Channel::flush)?;
        Ok(bits)
    }

    /// Draws `n` random bits and authenticates them towards all peers: fills `macs[p]` with the
    /// MACs under the Δ of the peer with index p. Only sends, and leaves the end to be flushed with
    /// the next message. What silent OT needs for it must have been
    /// [made](AuthBitGenerator::supply).
    ///
    /// Paper: YWZ20, Fig. 4, 3–4 | Π_aBit: own bits, MACs and keys by correlated OT
    ///
    /// # Errors
    /// `Transport` if a connection is lost; `InvalidInput` if there are more than [`cot::MAX_DRAW`]
    /// bits.
    pub fn draw_own(
        &mut self,
        channels: &mut [Channel],
        n: usize,
        prg: &mut Prg,
        macs: &mut [&mut [Block]],
    ) -> Result<BitVec> {
        if n > cot::MAX_DRAW {
            return Err(Error::InvalidInput("a draw of too many authenticated bits".into()));
        }
        if let ([pair], [macs]) = (&mut self.pairs[..], &mut macs[..])
            && let Some(silent) = pair.receiver.silent()
        {
            return silent.bits(macs);
        }
        let bits = BitVec::random(n, prg);
        self.send_bits(channels, &bits, macs)?;
        Ok(bits)
    }

    /// Authenticates these bits, at most [`cot::MAX_DRAW`].
    fn send_bits(
        &mut self,
        channels: &mut [Channel],
        bits: &BitVec,
        macs: &mut [&mut [Block]],
    ) -> Result<()> {
        let x = cot::padded(bits, &mut self.tails);
        let mut digests = Vec::with_capacity(self.pairs.len());
        let pairs = self.pairs.iter_mut().zip(&mut self.columns);
        for ((pair, t), channel) in pairs.zip(channels.iter_mut()) {
            digests.push(pair.receiver.send_columns(channel, &x, t, &mut self.correction)?);
        }
        for (peer, channel) in PeerIndex::all(digests.len()).zip(channels.iter_mut()) {
            send_others(channel, &digests, peer)?;
        }
        let chi = challenge(&mut self.own, &digests, x.len());
        let x_hash = cot::hash_choices(&x, &chi);
        for (t, channel) in self.columns.iter().zip(channels.iter_mut()) {
            let hashes = t.hash(&chi);
            let x_hash = x_hash.to_bytes();
            channel.send_parts(ABIT_CHECK, &[&x_hash, Block::as_bytes(&hashes)])?;
        }
        self.note(self.me, &digests, x_hash);
        for (t, macs) in self.columns.iter().zip(macs) {
            t.rows(macs);
        }
        Ok(())
    }

    /// Runs the other side of [`draw_own`](AuthBitGenerator::draw_own): fills `keys[p]` with one
    /// key for each bit that the peer with index p draws. The length of `keys[p]` is the number of
    /// bits.
    ///
    /// Paper: YWZ20, Fig. 4, 3–4
    ///
    /// # Errors
    /// `PeerMisbehaved` if a peer's bits are inconsistent; `Transport` if a connection is lost.
    pub fn draw_theirs(
        &mut self,
        channels: &mut [Channel],
        keys: &mut [&mut [Block]],
    ) -> Result<()> {
        for ((peer, channel), keys) in PeerIndex::all(keys.len()).zip(channels).zip(keys) {
            if keys.is_empty() {
                continue;
            }
            self.draw_from(peer, channel, keys)?;
        }
        Ok(())
    }

    /// Paper: YWZ20, Fig. 4, 6 | Π_aBit: the same bits towards all peers
    fn draw_from(
        &mut self,
        index: PeerIndex,
        channel: &mut Channel,
        keys: &mut [Block],
    ) -> Result<()> {
        let peer = channel.peer();
        let peers = self.pairs.len();
        if let [pair] = &mut self.pairs[..]
            && let Some(silent) = pair.sender.silent()
        {
            return silent.keys(keys);
        }
        let (q, sender) = (&mut self.columns[0], &mut self.pairs[index.get()].sender);
        let digest = sender.receive_columns(channel, keys.len(), q, &mut self.correction)?;
        let digests = receive_others(channel, digest, self.me, peers)?;
        let chi = challenge(&mut self.theirs[index.get()], &digests, cot::column_bytes(keys.len()));
        let mut check = vec![Block::ZERO; cot::COLUMNS + 1];
        channel.recv_into(ABIT_CHECK, Block::as_bytes_mut(&mut check))?;
        sender.verify(peer, &chi, (check[0], &check[1..]), q)?;
        q.rows(keys);
        self.note(peer, &digests, check[0]);
        Ok(())
    }

    fn note(&mut self, sender: PartyId, digests: &[[u8; 32]], x_hash: Block) {
        if self.pairs.len() > 1 {
            self.log.note(sender, &digests.concat());
            self.log.note(sender, &x_hash.to_bytes());
        }
    }
}

/// Sends a peer the digests of the corrections for the other peers.
fn send_others(channel: &mut Channel, digests: &[[u8; 32]], peer: PeerIndex) -> Result<()> {
    if digests.len() < 2 {
        return Ok(());
    }
    let others: Vec<[u8; 32]> =
        digests.iter().enumerate().filter(|(p, _)| *p != peer.get()).map(|(_, d)| *d).collect();
    channel.send(ABIT_DIGESTS, &others.concat())
}

/// Receives the digests of the peer's corrections, and inserts this party's own digest, which it
/// computed itself.
fn receive_others(
    channel: &mut Channel,
    own: [u8; 32],
    me: PartyId,
    peers: usize,
) -> Result<Vec<[u8; 32]>> {
    if peers < 2 {
        return Ok(vec![own]);
    }
    let bytes = channel.recv(ABIT_DIGESTS, 32 * (peers - 1))?;
    let others = bytes.chunks_exact(32).map(|d| d.try_into().expect("32 bytes"));
    let mut digests: Vec<[u8; 32]> = others.collect();
    digests.insert(PeerIndex::of(me, channel.peer()).get(), own);
    Ok(digests)
}

fn challenge(transcript: &mut Transcript, digests: &[[u8; 32]], stride: usize) -> Vec<Block> {
    transcript.absorb("corrections", &digests.concat());
    cot::coefficients(transcript.challenge("chi"), stride)
}
