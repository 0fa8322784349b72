//! Small exchanges among all parties that many steps are made of: commit and open, toss a coin,
//! open bits with their MACs.

use symbolon_primitives::rows::add_blocks;
use symbolon_primitives::{
    Aes128, BitVec, Block, Challenge, CommitContext, Commitment, Opening, Prg, Transcript,
    add_where, commit, gf128, hash_blocks,
};
use symbolon_transport::{Channel, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Share, Shares,
    bits::{self, BroadcastLog},
};

/// What an exchange of committed values is called: in its two messages, and when it fails.
pub struct Committed {
    /// The kind of the message that carries the commitment.
    pub commit: &'static str,
    /// The kind of the message that carries nonce and value.
    pub open: &'static str,
    /// The check that fails when value and commitment do not match.
    pub check: &'static str,
}

/// Every party commits to a value of the same length, then opens; returns the peers' values, in the
/// order of `channels`.
///
/// No value depends on another. A commitment binds its maker, the session and `index`, so that
/// sending back somebody else's is useless; an echo of our own is refused before anything is opened.
/// With more than two parties the commitments are broadcasts: their digest is compared pairwise
/// before anything is opened.
///
/// # Errors
/// `PeerMisbehaved` when a peer echoes our commitment, told others something else, or opens something
/// else than it committed to; `Transport` when it is gone.
pub fn committed(
    channels: &mut [Channel],
    names: &Committed,
    session: &[u8; 32],
    index: u64,
    value: &[u8],
    prg: &mut Prg,
) -> Result<Vec<Vec<u8>>> {
    let context = |party| CommitContext { domain: names.commit, session, party, index };
    let me = channels[0].me();
    let (own, opening) = commit::commit(&context(me), value, prg);
    for channel in channels.iter_mut() {
        channel.send(names.commit, &own.0)?;
        channel.flush()?;
    }
    let mut log = BroadcastLog::new(channels.len() + 1);
    log.note(me, &own.0);
    let mut theirs = Vec::with_capacity(channels.len());
    for channel in channels.iter_mut() {
        let commitment = Commitment(channel.recv_array(names.commit)?);
        if commitment == own {
            return Err(Error::misbehaved(channel.peer(), names.check));
        }
        log.note(channel.peer(), &commitment.0);
        theirs.push(commitment);
    }
    bits::confirm_broadcasts(channels, &log.digest())?;
    for channel in channels.iter_mut() {
        channel.send_parts(names.open, &[&opening.nonce, value])?;
        channel.flush()?;
    }
    let open = |(channel, commitment): (&mut Channel, &Commitment)| {
        let mut opened = channel.recv(names.open, 32 + value.len())?;
        let value = opened.split_off(32);
        let opening = Opening { nonce: opened.try_into().expect("32 bytes were split off") };
        if commit::verify(&context(channel.peer()), commitment, &opening, &value) {
            Ok(value)
        } else {
            Err(Error::misbehaved(channel.peer(), names.check))
        }
    };
    channels.iter_mut().zip(&theirs).map(open).collect()
}

/// Tosses a coin (F_Rand, YWZ20 App. A.1): a challenge that no party could know or bias when it sent
/// what the challenge is about to check.
///
/// # Errors
/// As [`committed`].
pub fn toss_coin(
    channels: &mut [Channel],
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
    for theirs in committed(channels, &NAMES, session, index, &seed, prg)? {
        for (own, theirs) in seed.iter_mut().zip(theirs) {
            *own ^= theirs;
        }
    }
    Ok(Challenge::from_seed32(seed))
}

/// What an opening is called: in its message, and when its check fails.
pub struct Opened {
    /// The kind of the message.
    pub kind: &'static str,
    /// The check.
    pub check: &'static str,
}

/// The coefficients χ that opened bits are checked with: uniform blocks that hang on all of the bits and on who opens them.
///
/// YWZ20 App. A.3 opens many bits with a digest of all their MACs. Here it is Σ χ_k·M\[x_k\], which has to be
/// Σ χ_k·K\[x_k\] ⊕ (Σ χ_k·x_k)·Δ. With errors e in the bits the sender has to be off by (Σ χ_k·e_k)·Δ; that is 0 for one in 2^128 of
/// the lists of bits that it may try in the hash, as many as there are whatever the session is, and otherwise it has to know
/// Δ. The receiver could compute the sum by itself if the bits are right, so that it learns nothing from it.
pub struct Coefficients(Aes128);

/// Coefficients that are used at a time.
const SUMMED: usize = 1024;

impl Coefficients {
    /// Those for bits that `party` opens, packed.
    pub fn new(names: &Opened, party: u16, bits: &[u8]) -> Self {
        let mut transcript = Transcript::new("symbolon opening 2", &[0; 32]);
        transcript.absorb(names.kind, &party.to_le_bytes());
        transcript.absorb("bits", bits);
        Coefficients(Aes128::new(transcript.challenge("coefficients").into_block()))
    }

    /// Σ χ_k·(x ⊕ y ⊕ …)_k of rows x, y, … of equal length, the first entry of which belongs to bit `first`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn sum<const ROWS: usize>(&self, first: usize, rows: [&[Block]; ROWS]) -> Block {
        let n = rows[0].len();
        assert!(rows.iter().all(|row| row.len() == n), "rows of equal length");
        let (mut chi, mut values) = ([Block::ZERO; SUMMED], Zeroizing::new([Block::ZERO; SUMMED]));
        let mut sum = Block::ZERO;
        for start in (0..n).step_by(SUMMED) {
            let end = n.min(start + SUMMED);
            let (chi, values) = (&mut chi[..end - start], &mut values[..end - start]);
            self.0.counter_blocks((first + start) as u128, chi);
            values.copy_from_slice(&rows[0][start..end]);
            rows[1..].iter().for_each(|row| add_blocks(values, &row[start..end]));
            sum ^= gf128::inner_product(values, chi);
        }
        sum
    }

    /// Σ χ_k·x_k of the bits themselves.
    fn sum_of_bits(&self, bits: &BitVec) -> Block {
        let (mut chi, mut chosen) = ([Block::ZERO; SUMMED], [Block::ZERO; SUMMED]);
        for start in (0..bits.len()).step_by(SUMMED) {
            let n = SUMMED.min(bits.len() - start);
            self.0.counter_blocks(start as u128, &mut chi[..n]);
            add_where(&mut chosen[..n], bits, start, &chi[..n]);
        }
        chosen.into_iter().fold(Block::ZERO, |sum, chi| sum ^ chi)
    }
}

/// Opens bits of which MACs and keys are elsewhere: sends the `own` to each peer with the sum of their MACs under its Δ, which
/// `macs` computes for the peer in each place.
///
/// # Errors
/// `Transport` when a peer is gone.
pub fn open_bits(
    channels: &mut [Channel],
    names: &Opened,
    own: BitVec,
    macs: impl Fn(usize, &Coefficients) -> Block,
) -> Result<AwaitedBits> {
    let bits = own.to_bytes();
    let coefficients = Coefficients::new(names, channels[0].me(), &bits);
    for (peer, channel) in channels.iter_mut().enumerate() {
        channel.send_parts(names.kind, &[&bits, &macs(peer, &coefficients).to_bytes()])?;
        channel.flush()?;
    }
    Ok(AwaitedBits { own })
}

/// An opening of which the peers' parts are awaited.
pub struct AwaitedBits {
    own: BitVec,
}

impl AwaitedBits {
    /// Receives the peers' bits, checks them by the sums of the keys, which `keys` computes for the peer in each place, and
    /// returns the opened values ⊕_i λ^i.
    ///
    /// # Errors
    /// `PeerMisbehaved` when the sum of a peer's MACs is not the right one; `Transport` when it is
    /// gone.
    pub fn receive(
        self,
        channels: &mut [Channel],
        names: &Opened,
        delta: Block,
        keys: impl Fn(usize, &Coefficients) -> Block,
    ) -> Result<BitVec> {
        let mut values = self.own;
        let n = values.len();
        for (peer, channel) in channels.iter_mut().enumerate() {
            let mut bytes = channel.recv(names.kind, BitVec::byte_len(n) + size_of::<Block>())?;
            let sum = bytes.split_off(BitVec::byte_len(n));
            let sum = Block::from_bytes(sum.try_into().expect("a block was split off"));
            let theirs = BitVec::from_bytes(n, &bytes)
                .ok_or_else(|| Error::misbehaved(channel.peer(), names.check))?;
            let coefficients = Coefficients::new(names, channel.peer(), &bytes);
            let of_bits = gf128::mul(coefficients.sum_of_bits(&theirs), delta);
            if !sum.ct_eq(&(keys(peer, &coefficients) ^ of_bits)) {
                return Err(Error::misbehaved(channel.peer(), names.check));
            }
            values.xor_assign(&theirs);
        }
        Ok(values)
    }
}

/// Collects shares to be opened: the own bits and, for the check, the MACs of the own bits and the
/// keys of the peers' bits.
pub struct ShareOpening {
    own: BitVec,
    /// One entry per peer.
    proofs: Vec<Proof>,
}

/// What ties an opening to one peer: MACs of the own bits, and keys for the peer's.
struct Proof {
    macs: Zeroizing<Vec<Block>>,
    keys: Zeroizing<Vec<Block>>,
}

impl Proof {
    fn with_capacity(n: usize) -> Proof {
        let room = || Zeroizing::new(Vec::with_capacity(n));
        Proof { macs: room(), keys: room() }
    }

    /// Adds sums of two rows.
    fn extend_sums(&mut self, macs: [&[Block]; 2], keys: [&[Block]; 2]) {
        for (out, [x, y]) in [(&mut self.macs, macs), (&mut self.keys, keys)] {
            let start = out.len();
            out.extend_from_slice(x);
            add_blocks(&mut out[start..], y);
        }
    }
}

impl ShareOpening {
    /// An opening of nothing yet, among this party and `peers` others.
    pub fn new(peers: usize) -> Self {
        ShareOpening::with_capacity(0, peers)
    }

    /// The same, with room for `n` shares.
    pub fn with_capacity(n: usize, peers: usize) -> Self {
        let proofs = (0..peers).map(|_| Proof::with_capacity(n)).collect();
        ShareOpening { own: BitVec::with_capacity(n), proofs }
    }

    /// Adds the own bit of a share; MAC and key towards each peer follow by
    /// [`push_towards`](ShareOpening::push_towards).
    pub fn push_bit(&mut self, bit: bool) {
        self.push_bits(u64::from(bit), 1);
    }

    /// The same for `n` shares, the lowest bits of a word that has no others.
    ///
    /// # Panics
    /// As [`BitVec::push_word`].
    pub fn push_bits(&mut self, bits: u64, n: usize) {
        self.own.push_word(bits, n);
    }

    /// Adds what ties the share that was pushed last to the peer in place `peer`.
    pub fn push_towards(&mut self, peer: usize, mac: Block, key: Block) {
        self.extend_towards(peer, std::iter::once([mac, key]));
    }

    /// The same for the shares that were pushed last, in their order: of each MAC and key.
    pub fn extend_towards(&mut self, peer: usize, auths: impl Iterator<Item = [Block; 2]>) {
        let Proof { macs, keys } = &mut self.proofs[peer];
        for [mac, key] in auths {
            macs.push(mac);
            keys.push(key);
        }
    }

    /// Adds a share between two parties.
    pub fn push(&mut self, share: Share) {
        self.push_bit(share.bit);
        self.push_towards(0, share.mac, share.key);
    }

    /// Adds the sums x ⊕ y of two lists of shares between two parties, of the same length.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn push_sums(&mut self, x: &Shares, y: &Shares) {
        let mut sums = x.bits.clone();
        sums.xor_assign(&y.bits);
        self.own.extend_from(&sums);
        sums.zeroize();
        let (x, y) = (&x.towards[0], &y.towards[0]);
        self.proofs[0].extend_sums([&x.macs, &y.macs], [&x.keys, &y.keys]);
    }

    /// Sends the own bits, to each peer with the sum of their MACs under its Δ.
    ///
    /// # Errors
    /// `Transport` when a peer is gone.
    pub fn send(self, channels: &mut [Channel], names: &Opened) -> Result<AwaitedOpening> {
        let proofs = self.proofs;
        let macs = |peer: usize, chi: &Coefficients| chi.sum(0, [&proofs[peer].macs]);
        let bits = open_bits(channels, names, self.own, macs)?;
        Ok(AwaitedOpening { bits, keys: proofs.into_iter().map(|proof| proof.keys).collect() })
    }
}

/// The same with the keys.
pub struct AwaitedOpening {
    bits: AwaitedBits,
    /// One list per peer.
    keys: Vec<Zeroizing<Vec<Block>>>,
}

impl AwaitedOpening {
    /// Receives the peers' bits, checks them, and returns the opened values ⊕_i λ^i.
    ///
    /// # Errors
    /// As [`AwaitedBits::receive`].
    pub fn receive(self, channels: &mut [Channel], names: &Opened, delta: Block) -> Result<BitVec> {
        let keys = |peer: usize, chi: &Coefficients| chi.sum(0, [&self.keys[peer]]);
        self.bits.receive(channels, names, delta, keys)
    }
}

/// The digest of MACs that stands in for them when a few bits are opened with outputs.
pub fn digest_of(macs: &[Block]) -> [u8; 32] {
    hash_blocks("symbolon opening 1", macs)
}
