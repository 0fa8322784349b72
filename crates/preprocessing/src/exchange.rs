//! Small exchanges between two parties that many steps are made of: commit and open, toss a coin,
//! open bits with their MACs.

use symbolon_primitives::{
    BitVec, Block, BlockHasher, Challenge, CommitContext, Commitment, Opening, Prg, commit,
};
use symbolon_transport::{Channel, Error, Result};

/// What an exchange of committed values is called: in its two messages, and when it fails.
pub struct Committed {
    /// The kind of the message that carries the commitment.
    pub commit: &'static str,
    /// The kind of the message that carries nonce and value.
    pub open: &'static str,
    /// The check that fails when value and commitment do not match.
    pub check: &'static str,
}

/// Both parties commit to a value of the same length, then open; returns the peer's value.
///
/// Neither value depends on the other. A commitment binds its maker, the session and `index`, so
/// that sending back our own is useless; it is refused before anything is opened.
///
/// # Errors
/// `PeerMisbehaved` when the peer echoes our commitment or opens something else than it committed
/// to; `Transport` when it is gone.
pub fn committed(
    channel: &mut Channel,
    names: &Committed,
    session: &[u8; 32],
    index: u64,
    value: &[u8],
    prg: &mut Prg,
) -> Result<Vec<u8>> {
    let context = |party| CommitContext { domain: names.commit, session, party, index };
    let (own, opening) = commit::commit(&context(channel.me()), value, prg);
    channel.send(names.commit, &own.0)?;
    let theirs = Commitment(channel.recv_array(names.commit)?);
    if theirs == own {
        return Err(Error::misbehaved(channel.peer(), names.check));
    }
    channel.send_parts(names.open, &[&opening.nonce, value])?;
    let mut opened = channel.recv(names.open, 32 + value.len())?;
    let value = opened.split_off(32);
    let opening = Opening { nonce: opened.try_into().expect("32 bytes were split off") };
    if commit::verify(&context(channel.peer()), &theirs, &opening, &value) {
        Ok(value)
    } else {
        Err(Error::misbehaved(channel.peer(), names.check))
    }
}

/// Tosses a coin (F_Rand, YWZ20 App. A.1): a challenge that neither party could know or bias when
/// it sent what the challenge is about to check.
///
/// # Errors
/// As [`committed`].
pub fn toss_coin(
    channel: &mut Channel,
    session: &[u8; 32],
    index: u64,
    prg: &mut Prg,
) -> Result<Challenge> {
    const NAMES: Committed = Committed {
        commit: "coin toss: commitment",
        open: "coin toss: seed",
        check: "coin toss commitment",
    };
    let mut seed = [0u8; 32];
    prg.fill(&mut seed);
    let theirs = committed(channel, &NAMES, session, index, &seed, prg)?;
    for (own, theirs) in seed.iter_mut().zip(theirs) {
        *own ^= theirs;
    }
    Ok(Challenge::from_seed32(seed))
}

/// Collects bits to be opened and, for the check, the MACs of the own and the keys of the peer's.
///
/// This is the amortised opening of YWZ20 App. A.3: bits, then one hash of all their MACs. The
/// receiver hashes K ⊕ x·Δ for the bits x it was sent.
pub struct ShareOpening {
    own: BitVec,
    macs: Vec<Block>,
    keys: Vec<Block>,
}

/// What an opening is called: in its message, and when its check fails.
pub struct Opened {
    /// The kind of the message.
    pub kind: &'static str,
    /// The check.
    pub check: &'static str,
}

impl ShareOpening {
    /// An opening of nothing yet.
    pub fn new() -> Self {
        ShareOpening { own: BitVec::zeros(0), macs: Vec::new(), keys: Vec::new() }
    }

    /// Adds a share that is to be opened.
    pub fn push(&mut self, share: crate::Share) {
        self.own.push(share.bit);
        self.macs.push(share.mac);
        self.keys.push(share.key);
    }

    /// Sends the own bits and the digest of their MACs.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn send(self, channel: &mut Channel, names: &Opened) -> Result<AwaitedOpening> {
        let digest = digest_of(&self.macs);
        channel.send_parts(names.kind, &[&self.own.to_bytes(), &digest])?;
        Ok(AwaitedOpening { own: self.own, keys: self.keys })
    }
}

/// An opening of which the peer's part is awaited.
pub struct AwaitedOpening {
    own: BitVec,
    keys: Vec<Block>,
}

impl AwaitedOpening {
    /// Receives the peer's bits, checks them, and returns the opened values λ = λ^i ⊕ λ^j.
    ///
    /// # Errors
    /// `PeerMisbehaved` when the digest of the MACs is not the right one; `Transport` when the peer
    /// is gone.
    pub fn receive(self, channel: &mut Channel, names: &Opened, delta: Block) -> Result<BitVec> {
        let n = self.keys.len();
        let (mut values, theirs) = recv_bits_and_digest(channel, names, n)?;
        let mut macs = self.keys;
        for (k, key) in macs.iter_mut().enumerate() {
            *key ^= delta.select(values.get(k));
        }
        if digest_of(&macs) != theirs {
            return Err(Error::misbehaved(channel.peer(), names.check));
        }
        values.xor_assign(&self.own);
        Ok(values)
    }
}

impl Default for ShareOpening {
    fn default() -> Self {
        Self::new()
    }
}

/// The digest of MACs that stands in for them when many bits are opened at once.
pub fn digest_of(macs: &[Block]) -> [u8; 32] {
    let mut hasher = BlockHasher::new("symbolon opening 1");
    hasher.update(macs);
    hasher.finish()
}

/// Receives `n` packed bits and a 32-byte digest.
pub fn recv_bits_and_digest(
    channel: &mut Channel,
    names: &Opened,
    n: usize,
) -> Result<(BitVec, [u8; 32])> {
    let mut bytes = channel.recv(names.kind, BitVec::byte_len(n) + 32)?;
    let digest = bytes.split_off(BitVec::byte_len(n));
    let bits = BitVec::from_bytes(n, &bytes)
        .ok_or_else(|| Error::misbehaved(channel.peer(), names.check))?;
    Ok((bits, digest.try_into().expect("32 bytes were split off")))
}
