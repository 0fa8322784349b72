//! Leaky AND triples: Yang–Wang–Zhang 2020, Fig. 14 and the batched check after it, for n = 2.
//!
//! For each triple t both parties hold shares of random x, y, r. With P_i the one that acts and P_j
//! its peer (for n = 2 every sum over k ≠ i has one term):
//!
//! ```text
//! 2.  Φ_i = y^i·Δ_i ⊕ K_i[y^j] ⊕ M_j[y^i]
//! 3.  U_ij = H(K_i[x^j], ij‖t) ⊕ H(K_i[x^j] ⊕ Δ_i, ij‖t) ⊕ Φ_i                           sent to P_j
//!     M_i[x^j]_Φ = x^j·U_ij ⊕ H(M_i[x^j], ij‖t)                                          at P_j
//! 4.  S_i = x^i·Φ_i ⊕ H(K_i[x^j], ij‖t) ⊕ M_j[x^i]_Φ ⊕ r^i·Δ_i ⊕ K_i[r^j] ⊕ M_j[r^i]
//!     d_i = lsb(S_i), committed, opened; d = d_i ⊕ d_j;  ⟨z⟩ = ⟨r⟩ ⊕ d
//! 5.  T_i = S_i ⊕ d·Δ_i, and Σ T_i must be zero
//! ```
//!
//! Step 5 is checked for all triples at once: χ from a coin toss that runs after every U and d is
//! fixed, V_i = Σ χ_t·T_i,t committed and opened, V_i ⊕ V_j = 0. As lsb(Δ_0) ⊕ lsb(Δ_1) = 1, the
//! bit d makes the least significant bits agree, and the rest agree only if z = x ∧ y.
//!
//! A cheater that sends U_ij ⊕ R is noticed exactly when x^j = 1: it learns x^j with probability 1/2,
//! and nothing of y or z. That is the leak that [`crate::combine`] removes.
//!
//! Work is cut into chunks. A chunk's correlated OTs are sent [`LOOKAHEAD`] chunks before its U, and
//! the U is sent [`LOOKAHEAD`] chunks before the peer's is used, so that a long link is kept full.

use std::ops::Range;

use symbolon_ot::setup::Lane;
use symbolon_primitives::{BitVec, Block, Challenge, Prg, TweakedHash, gf128};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroize;

use crate::exchange::{self, Committed};

/// Triples of one chunk: with its three correlated OTs per triple just below the largest draw.
pub const CHUNK: usize = 10_240;

/// How many chunks the first message of a chunk runs ahead of its second.
const LOOKAHEAD: usize = 2;

const D: Committed = Committed {
    commit: "leaky AND: commitment to d",
    open: "leaky AND: d",
    check: "leaky AND d commitment",
};

const V: Committed = Committed {
    commit: "leaky AND: commitment to V",
    open: "leaky AND: V",
    check: "leaky AND V commitment",
};

/// The name of the check of step 5.
pub const CHECK: &str = "leaky AND check";

/// One party's part of one leaky triple: 96 bytes side by side, as the buckets will gather them in
/// random order.
#[derive(Clone, Copy, Default)]
pub struct Record {
    /// MACs on the own bits of x, y, z.
    pub macs: [Block; 3],
    /// Keys for the peer's bits of x, y, z.
    pub keys: [Block; 3],
}

/// One party's part of many leaky triples.
#[derive(Default)]
pub struct LeakyTriples {
    /// MACs and keys.
    pub records: Vec<Record>,
    /// The own bits of x, y, z.
    pub bits: [BitVec; 3],
    /// S of step 4 (still without its part of the peer's U before that arrives).
    s: Vec<Block>,
}

impl LeakyTriples {
    /// Makes room for `n`; keeps the memory of earlier ones.
    pub fn reset(&mut self, n: usize) {
        self.records.resize(n, Record::default());
        self.s.resize(n, Block::ZERO);
        self.bits = std::array::from_fn(|_| BitVec::zeros(n));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl Drop for LeakyTriples {
    fn drop(&mut self) {
        for record in &mut self.records {
            record.macs.zeroize();
            record.keys.zeroize();
        }
        self.s.zeroize();
        for bits in &mut self.bits {
            bits.zeroize();
        }
    }
}

/// Where one lane writes its part of a batch.
pub(crate) struct Part<'a> {
    pub records: &'a mut [Record],
    pub s: &'a mut [Block],
    /// The own bits of x, y, r of this part, filled by the lane.
    pub bits: [BitVec; 3],
}

/// Splits `triples` into one part per lane, each a whole number of chunks but the last.
pub(crate) fn split(triples: &mut LeakyTriples, lanes: usize) -> Vec<Part<'_>> {
    let chunks = triples.records.len().div_ceil(CHUNK).max(1);
    let size = chunks.div_ceil(lanes) * CHUNK;
    let parts = triples.records.chunks_mut(size).zip(triples.s.chunks_mut(size));
    parts
        .map(|(records, s)| Part { bits: std::array::from_fn(|_| BitVec::zeros(0)), records, s })
        .collect()
}

/// What a lane keeps between batches.
pub(crate) struct LeakyLane {
    ot: Lane,
    prg: Prg,
    /// Hash for U that this party sends, and for the U that it receives.
    hash_out: TweakedHash,
    hash_in: TweakedHash,
    /// The tweak of the next triple; never used twice on this lane, and lanes have ranges of their own.
    tweak: u128,
    scratch: Scratch,
}

/// Buffers that stay warm from chunk to chunk.
#[derive(Default)]
struct Scratch {
    draw: Vec<Block>,
    pairs: Vec<Block>,
    single: Vec<Block>,
    u: Vec<Block>,
}

impl LeakyLane {
    pub fn new(ot: Lane, session: &[u8; 32], me: u16, peer: u16, lane: usize, prg: Prg) -> Self {
        let start = |from: u16, to: u16| {
            let direction = u64::from(from) << 16 | u64::from(to);
            TweakedHash::new(symbolon_primitives::derive_block(
                "symbolon leaky and 1",
                session,
                direction,
            ))
        };
        LeakyLane {
            ot,
            prg,
            hash_out: start(me, peer),
            hash_in: start(peer, me),
            tweak: (lane as u128) << 64,
            scratch: Scratch::default(),
        }
    }

    /// The lane's correlated OT, for draws that are not triples.
    pub fn ot(&mut self) -> &mut Lane {
        &mut self.ot
    }

    /// A fresh random bit vector.
    pub fn random_bits(&mut self, n: usize) -> BitVec {
        BitVec::random(n, &mut self.prg)
    }

    /// Steps 1 to 4a for one part of a batch; the bits of the part are left in `part.bits`.
    pub fn generate(&mut self, channel: &mut Channel, part: &mut Part<'_>) -> Result<()> {
        let n = part.records.len();
        let chunks = n.div_ceil(CHUNK);
        let range = |chunk: usize| chunk * CHUNK..((chunk + 1) * CHUNK).min(n);
        let first_tweak = self.tweak;
        self.tweak += n as u128;
        for step in 0..chunks + 2 * LOOKAHEAD {
            if step < chunks {
                self.draw_own(channel, part, range(step))?;
            }
            if (LOOKAHEAD..chunks + LOOKAHEAD).contains(&step) {
                let range = range(step - LOOKAHEAD);
                self.draw_peer(channel, part, range.clone())?;
                self.send_u(channel, part, range, first_tweak)?;
            }
            if step >= 2 * LOOKAHEAD {
                self.receive_u(channel, part, range(step - 2 * LOOKAHEAD))?;
            }
        }
        Ok(())
    }

    /// Own bits of x, y, r with their MACs.
    fn draw_own(
        &mut self,
        channel: &mut Channel,
        part: &mut Part<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let n = range.len();
        let bits: [BitVec; 3] = std::array::from_fn(|_| BitVec::random(n, &mut self.prg));
        let mut all = bits[0].clone();
        all.extend_from(&bits[1]);
        all.extend_from(&bits[2]);
        self.scratch.draw.resize(3 * n, Block::ZERO);
        self.ot.receiver.extend(channel, &all, &mut self.scratch.draw)?;
        all.zeroize();
        for (k, record) in part.records[range].iter_mut().enumerate() {
            record.macs = std::array::from_fn(|which| self.scratch.draw[which * n + k]);
        }
        for (all, new) in part.bits.iter_mut().zip(&bits) {
            all.extend_from(new);
        }
        Ok(())
    }

    /// Keys for the peer's bits of x, y, r.
    fn draw_peer(
        &mut self,
        channel: &mut Channel,
        part: &mut Part<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let n = range.len();
        self.scratch.draw.resize(3 * n, Block::ZERO);
        self.ot.sender.extend(channel, &mut self.scratch.draw)?;
        for (k, record) in part.records[range].iter_mut().enumerate() {
            record.keys = std::array::from_fn(|which| self.scratch.draw[which * n + k]);
        }
        Ok(())
    }

    /// Steps 2 and 3, and all of S_i but x^i·U_ji.
    fn send_u(
        &mut self,
        channel: &mut Channel,
        part: &mut Part<'_>,
        range: Range<usize>,
        first_tweak: u128,
    ) -> Result<()> {
        let delta = self.ot.sender.delta();
        let tweak = first_tweak + range.start as u128;
        let Scratch { pairs, single, u, .. } = &mut self.scratch;
        let records = &part.records[range.clone()];
        pairs.clear();
        pairs.extend(records.iter().flat_map(|r| [r.keys[0], r.keys[0] ^ delta]));
        self.hash_out.hash(tweak, 2, pairs);
        single.clear();
        single.extend(records.iter().map(|r| r.macs[0]));
        self.hash_in.hash(tweak, 1, single);
        u.clear();
        let [x, y, r] = &part.bits;
        for (k, t) in range.clone().enumerate() {
            let Record { macs, keys } = &records[k];
            let phi = delta.select(y.get(t)) ^ keys[1] ^ macs[1];
            u.push(pairs[2 * k] ^ pairs[2 * k + 1] ^ phi);
            part.s[t] = phi.select(x.get(t))
                ^ pairs[2 * k]
                ^ single[k]
                ^ delta.select(r.get(t))
                ^ keys[2]
                ^ macs[2];
        }
        channel.send("leaky AND: U", Block::as_bytes(u))
    }

    /// The rest of S_i.
    fn receive_u(
        &mut self,
        channel: &mut Channel,
        part: &mut Part<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let u = &mut self.scratch.u;
        u.resize(range.len(), Block::ZERO);
        channel.recv_into("leaky AND: U", Block::as_bytes_mut(u))?;
        for (t, u) in range.zip(u.iter()) {
            part.s[t] ^= u.select(part.bits[0].get(t));
        }
        Ok(())
    }
}

/// What step 4b onwards needs to know.
pub(crate) struct Finish<'a> {
    pub session: &'a [u8; 32],
    pub delta: Block,
    /// Number of this batch in the session.
    pub batch: u64,
    pub prg: &'a mut Prg,
}

/// Steps 4b to 6: d committed and opened, then the check of all triples at once.
pub(crate) fn finish(
    channel: &mut Channel,
    triples: &mut LeakyTriples,
    by: &mut Finish<'_>,
) -> Result<()> {
    let n = triples.len();
    channel.bend_state("leaky AND: S", Block::as_bytes_mut(&mut triples.s));
    let mut d = BitVec::zeros(n);
    for (t, s) in triples.s.iter().enumerate() {
        d.set(t, s.lsb());
    }
    let theirs = exchange::committed(channel, &D, by.session, by.batch, &d.to_bytes(), by.prg)?;
    let theirs =
        BitVec::from_bytes(n, &theirs).ok_or_else(|| Error::misbehaved(channel.peer(), D.check))?;
    d.xor_assign(&theirs);

    let challenge = exchange::toss_coin(channel, by.session, 2 * by.batch, by.prg)?;
    let mut v = combination(&triples.s, &d, by.delta, challenge);
    channel.bend_state("leaky AND: V", Block::as_bytes_mut(std::slice::from_mut(&mut v)));
    let theirs = exchange::committed(channel, &V, by.session, by.batch, &v.to_bytes(), by.prg)?;
    if theirs != v.to_bytes() {
        return Err(Error::misbehaved(channel.peer(), CHECK));
    }

    // ⟨z⟩ = ⟨r⟩ ⊕ d: the first party's bit changes, and the second party's key for it.
    if channel.me() < channel.peer() {
        triples.bits[2].xor_assign(&d);
    } else {
        for (t, record) in triples.records.iter_mut().enumerate() {
            record.keys[2] ^= by.delta.select(d.get(t));
        }
    }
    Ok(())
}

/// V_i = Σ χ_t·T_i,t with T_i,t = S_i,t ⊕ d_t·Δ_i.
fn combination(s: &[Block], d: &BitVec, delta: Block, challenge: Challenge) -> Block {
    let mut prg = challenge.into_prg();
    let mut chi = vec![Block::ZERO; 2048];
    let mut ts = Vec::with_capacity(chi.len());
    let mut v = Block::ZERO;
    for (chunk, s) in s.chunks(chi.len()).enumerate() {
        let first = chunk * chi.len();
        prg.fill_blocks(&mut chi);
        ts.clear();
        ts.extend(s.iter().enumerate().map(|(k, &s)| s ^ delta.select(d.get(first + k))));
        v ^= gf128::inner_product(&ts, &chi[..s.len()]);
    }
    v
}
