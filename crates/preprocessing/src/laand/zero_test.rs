//! Tests whether the V_i of all parties sum to zero, and reveals nothing else about their sum.
//!
//! After a wrong d or U, Σ V_i is a public factor times the sum of the honest parties' Δ. The paper
//! opens every V_i: a cheater learns that sum, and with one honest party its Δ. The paper's
//! protocol aborts there. Here, however, other circuits may have been evaluated under this Δ
//! already, and others may wait in a store. So the parties open ρ·Σ V_i for a random ρ = Σ ρ_i that
//! nobody knows.
//!
//! V, ρ and the following values are in GF(2^v), with v = 64 if w ≤ 64 and otherwise 128; only the v
//! last bits of V are used. P_i draws m = 6v authenticated bits b^i and v random bits R_i with the
//! batch. With its keys K_i[b^j_k], it sends P_j, before the coin for χ is tossed,
//!
//! ```text
//! c_ij,k = H(K_i[b^j_k], ij‖k) ⊕ H(K_i[b^j_k] ⊕ Δ_i, ij‖k) ⊕ R_i          (v bits of each H)
//! ```
//!
//! The coin also determines g_1 … g_m, and ρ_i = Σ_k g_k·b^i_k. Then P_i
//!
//! ```text
//! sends all       n_i = V_i ⊕ R_i
//! computes        p_i = ρ_i·(V_i ⊕ Σ_j n_j)
//!                       ⊕ Σ_j Σ_k g_k·(H(K_i[b^j_k], ij‖k) ⊕ H(M_i[b^i_k], ji‖k) ⊕ b^i_k·c_ji,k)
//! commits to p_i and opens it: Σ p_i = ρ·Σ V_i must be zero.
//! ```
//!
//! `docs/proofs/leaky-ands.md` proves what this reveals.
//!
//! Departure: leaky ANDs: the check | V is opened | ρ·V is, for a random ρ | V gives Δ away, under
//! which other circuits were evaluated (`docs/proofs/leaky-ands.md#the-blind-test`)

use symbolon_primitives::{BitVec, Block, Delta, Prg, Secret, TweakedHash, gf128, hash_blocks};
use symbolon_transport::{Channel, Message, PartyId, Result};
use zeroize::Zeroizing;

use super::{Width, directed_hash};
use crate::abit::AuthBitGenerator;
use crate::messages::{LEAKY_BLIND, LEAKY_MASKED_V};

/// One block for each bit b, with one peer.
type Blocks = Zeroizing<Vec<Block>>;

/// The state of a test in preparation.
pub(crate) struct ZeroTest {
    width: Width,
    bits: Zeroizing<BitVec>,
    /// The mask R_i.
    mask: Secret<Block>,
    /// The MACs of each peer on this party's bits.
    macs: Vec<Blocks>,
    /// Keys for each peer's bits; once the c are sent, the hashes of the keys.
    keys: Vec<Blocks>,
    /// The c of each peer.
    theirs: Vec<Vec<Block>>,
}

/// The hashes of a test, one for each direction between two parties.
pub(crate) struct TestHashes<'a> {
    pub session: &'a [u8; 32],
    /// The number of earlier tests.
    pub number: u64,
}

impl TestHashes<'_> {
    fn of(&self, from: PartyId, to: PartyId) -> TweakedHash {
        directed_hash("symbolon zero test 1", self.session, from, to)
    }

    fn first_tweak(&self) -> u128 {
        u128::from(self.number) << 16
    }
}

/// Returns m, the number of each party's authenticated bits that the check of a batch consumes.
pub fn bits(width: Width) -> usize {
    48 * width.bytes()
}

impl ZeroTest {
    /// Draws b and R, and sends the messages for the MACs.
    ///
    /// # Errors
    /// `Transport` if a connection is lost.
    pub fn draw_own(
        draws: &mut AuthBitGenerator,
        channels: &mut [Channel],
        width: Width,
        prg: &mut Prg,
    ) -> Result<ZeroTest> {
        let m = bits(width);
        let room = || -> Vec<Blocks> {
            channels.iter().map(|_| Blocks::new(vec![Block::ZERO; m])).collect()
        };
        let (mut macs, keys) = (room(), room());
        let mut places: Vec<&mut [Block]> = macs.iter_mut().map(|macs| &mut macs[..]).collect();
        let bits = Zeroizing::new(draws.draw_own(channels, m, prg, &mut places)?);
        let mask = Secret::new(low(width, prg.block()));
        Ok(ZeroTest { width, bits, mask, macs, keys, theirs: Vec::new() })
    }

    /// Receives the keys of the peers' bits, and sends c.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a peer's bits are inconsistent; `Transport` if a connection is lost.
    pub fn send(
        &mut self,
        draws: &mut AuthBitGenerator,
        channels: &mut [Channel],
        hashes: &TestHashes<'_>,
    ) -> Result<()> {
        let mut places: Vec<&mut [Block]> =
            self.keys.iter_mut().map(|keys| &mut keys[..]).collect();
        draws.draw_theirs(channels, &mut places)?;
        let delta: &Delta = draws.delta();
        for (channel, keys) in channels.iter_mut().zip(&mut self.keys) {
            let both = keys.iter().map(|key| [*key, *key ^ **delta]);
            let mut both = Zeroizing::new(both.collect::<Vec<_>>());
            let hash = hashes.of(channel.me(), channel.peer());
            hash.hash(hashes.first_tweak(), 2, both.as_flattened_mut());
            let masked = both.iter().map(|[zero, one]| *zero ^ *one ^ *self.mask);
            let bytes = |block: Block| block.to_bytes().into_iter().take(self.width.bytes());
            let mut masked: Vec<u8> = masked.flat_map(bytes).collect();
            channel.tamper_state("leaky AND: blinding", &mut masked);
            channel.send(LEAKY_BLIND, &masked)?;
            for (key, [zero, _]) in keys.iter_mut().zip(both.iter()) {
                *key = low(self.width, *zero);
            }
        }
        Ok(())
    }

    /// Receives the peers' c.
    ///
    /// # Errors
    /// `Transport` if a connection is lost.
    pub fn receive(&mut self, channels: &mut [Channel]) -> Result<()> {
        for channel in channels {
            self.theirs.push(receive(channel, LEAKY_BLIND, self.width, bits(self.width))?);
        }
        Ok(())
    }

    /// Sends this party's V_i, masked. It leaves with the next flush.
    ///
    /// # Errors
    /// `Transport` if a connection is lost.
    pub fn send_masked(&self, channels: &mut [Channel], v: &Block) -> Result<()> {
        let masked = (*v ^ *self.mask).to_bytes();
        let bytes = &masked[..self.width.bytes()];
        channels.iter_mut().try_for_each(|channel| channel.send(LEAKY_MASKED_V, bytes))
    }

    /// Receives the peers' masked V, and computes this party's share of ρ·Σ V_i from its V_i. g
    /// comes from `coin`, which must be tossed after all c were sent.
    ///
    /// # Errors
    /// `Transport` if a connection is lost.
    pub fn share(
        self,
        channels: &mut [Channel],
        hashes: &TestHashes<'_>,
        coin: Block,
        v: &Block,
    ) -> Result<Block> {
        let gadget = gadget(self.width, self.bits.len(), coin);
        let chosen = gadget.iter().enumerate().map(|(k, g)| g.select(self.bits.get(k)));
        let rho = Zeroizing::new(chosen.fold(Block::ZERO, |rho, g| rho ^ g));
        let mut factor = Zeroizing::new(low(self.width, *v));
        let mut terms = Blocks::new(vec![Block::ZERO; self.bits.len()]);
        let of_peers = self.macs.iter().zip(&self.keys).zip(&self.theirs);
        for (channel, ((macs, keys), theirs)) in channels.iter_mut().zip(of_peers) {
            *factor ^= receive(channel, LEAKY_MASKED_V, self.width, 1)?[0];
            let mut own = macs.clone();
            let hash = hashes.of(channel.peer(), channel.me());
            hash.hash(hashes.first_tweak(), 1, &mut own);
            for (k, (term, (own, sent))) in terms.iter_mut().zip(own.iter().zip(theirs)).enumerate()
            {
                *term ^= keys[k] ^ low(self.width, *own) ^ sent.select(self.bits.get(k));
            }
        }
        let sum = gf128::inner_product(&terms, &gadget) ^ gf128::mul(*rho, *factor);
        Ok(reduced(self.width, sum))
    }
}

#[cfg(test)]
impl ZeroTest {
    /// Returns this party's ρ_i.
    pub fn rho(&self, coin: Block) -> Block {
        let gadget = gadget(self.width, self.bits.len(), coin);
        let chosen = gadget.iter().enumerate().map(|(k, g)| g.select(self.bits.get(k)));
        chosen.fold(Block::ZERO, |rho, g| rho ^ g)
    }

    /// Returns what this party can compute from the c of its first peer: the string of each OT that
    /// it does not hold, masked by R.
    pub fn others(&self, hashes: &TestHashes<'_>, channel: &Channel) -> Vec<Block> {
        let mut own = self.macs[0].clone();
        let hash = hashes.of(channel.peer(), channel.me());
        hash.hash(hashes.first_tweak(), 1, &mut own);
        let pairs = own.iter().zip(&self.theirs[0]);
        pairs.map(|(own, sent)| low(self.width, *own) ^ *sent).collect()
    }
}

/// Returns g_1 … g_m.
fn gadget(width: Width, m: usize, coin: Block) -> Vec<Block> {
    let seed = hash_blocks("symbolon zero test gadget 1", &[coin]);
    let seed = Block::from_bytes(*seed.first_chunk().expect("a digest of 32 bytes"));
    let mut prg = Prg::from_public_seed(seed);
    (0..m).map(|_| low(width, prg.block())).collect()
}

/// Returns the v last bits of a block.
fn low(width: Width, block: Block) -> Block {
    match width {
        Width::Half => Block(block.0 & u128::from(u64::MAX)),
        Width::Whole => block,
    }
}

/// Reduces a sum of products in GF(2^128) to an element of GF(2^v). Products of 64-bit elements
/// have at most 127 bits and are not reduced yet; they are reduced modulo X^64 + X^4 + X^3 + X + 1.
fn reduced(width: Width, sum: Block) -> Block {
    let fold = |x: u128| {
        let high = x >> 64;
        x & u128::from(u64::MAX) ^ high ^ high << 1 ^ high << 3 ^ high << 4
    };
    match width {
        Width::Half => Block(fold(fold(sum.0))),
        Width::Whole => sum,
    }
}

/// Receives elements of GF(2^v).
fn receive(channel: &mut Channel, kind: Message, width: Width, n: usize) -> Result<Vec<Block>> {
    let sent = channel.recv(kind, n * width.bytes())?;
    let element = |bytes: &[u8]| {
        let mut block = [0; 16];
        block[..bytes.len()].copy_from_slice(bytes);
        Block::from_bytes(block)
    };
    Ok(sent.chunks(width.bytes()).map(element).collect())
}
