//! Leaky AND triples: Yang–Wang–Zhang 2020, Fig. 14 and the batched check after it.
//!
//! For each triple t all parties hold shares of random x, y, r. With P_i the one that acts, P_j each of
//! its peers, and every sum over the peers:
//!
//! ```text
//! 2.  Φ_i = y^i·Δ_i ⊕ Σ_j (K_i[y^j] ⊕ M_j[y^i])
//! 3.  U_ij = H(K_i[x^j], ij‖t) ⊕ H(K_i[x^j] ⊕ Δ_i, ij‖t) ⊕ Φ_i                           sent to P_j
//!     M_i[x^j]_Φ = x^j·U_ij ⊕ H(M_i[x^j], ij‖t)                                          at P_j
//! 4.  S_i = x^i·Φ_i ⊕ Σ_j (H(K_i[x^j], ij‖t) ⊕ M_j[x^i]_Φ) ⊕ r^i·Δ_i ⊕ Σ_j (K_i[r^j] ⊕ M_j[r^i])
//!     d_i = lsb(S_i), committed, opened; d = Σ d_i;  ⟨z⟩ = ⟨r⟩ ⊕ d
//! 5.  T_i = S_i ⊕ d·Δ_i, and Σ T_i must be zero
//! ```
//!
//! Step 5 is checked for all triples at once: χ from a coin toss that runs after every U and d is
//! fixed, V_i = Σ χ_t·T_i,t committed and opened, Σ V_i = 0. As Σ lsb(Δ_i) = 1, the bit d makes
//! the least significant bits agree, and the rest agree only if z = x ∧ y.
//!
//! A cheater that sends U_ij ⊕ R is noticed exactly when x^j = 1: it learns x^j with probability 1/2,
//! and nothing of y or z. That is the leak that [`crate::combine`] removes.
//!
//! # Triples on given shares
//! A batch's first triples may be made with shares of y that the parties hold already instead of fresh
//! ones: [`crate::Preprocessor::triples_on`]. Nothing of y leaks above: what a cheater adds to U_ij is
//! multiplied by x^j, and y enters every message under a hash of x's key, with a tweak of its own, or in
//! S, which only ever shows masked by r. So the same y may be given to several triples, and used
//! elsewhere. A party that takes another y than the given one is off by x·Δ in step 5: it goes unnoticed
//! exactly when x = 0, and then z = 0 is right. That is the guess of x again.
//!
//! Work is cut into chunks. A chunk's correlated OTs are sent `LOOKAHEAD` chunks before its U, and
//! the U is sent `LOOKAHEAD` chunks before the peer's is used, so that a long link is kept full.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use symbolon_primitives::{
    BitVec, Block, Challenge, Prg, Slab, TweakedHash, derive_block, gf128, prefetch,
};
use symbolon_transport::{Channel, Error, Result, SOMEBODY};
use zeroize::Zeroize;

use crate::{
    Shares,
    bits::{self, BitLane},
    exchange::{self, Committed},
};

/// Triples of one chunk: with its three correlated OTs per triple just below the largest draw.
pub const CHUNK: usize = 10_240;

/// Triples that are hashed at a time: what they take stays in the first-level cache.
const BLOCK: usize = 512;

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
pub const CHECK: &str = "leaky AND";

/// One party's part of one leaky triple, as far as one peer is concerned: 96 bytes side by side, as
/// the buckets will gather them in random order.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// MACs on the own bits of x, y, z.
    pub macs: [Block; 3],
    /// Keys for the peer's bits of x, y, z.
    pub keys: [Block; 3],
}

/// One party's part of many leaky triples.
#[derive(Default)]
pub struct LeakyTriples {
    peers: usize,
    /// One record per peer for triple 0, then for triple 1, ... Their z is still r: what `correction` says is
    /// added when a record is read, which saves a pass over all of them.
    records: Slab<Record>,
    /// The own bits of x, y, z.
    bits: [BitVec; 3],
    /// S of step 4 (still without its part of the peers' U before they arrive).
    s: Slab<Block>,
    /// d of step 4, for which z = r ⊕ d.
    correction: BitVec,
    /// What a record's key for z lacks where `correction` says so: Δ if the peer in place 0 is party 0, whose
    /// bit changes, and otherwise nothing.
    correcting: Block,
}

impl LeakyTriples {
    /// Makes room for `n` among this party and `peers` others; keeps the memory of earlier ones.
    pub(crate) fn reset(&mut self, n: usize, peers: usize) {
        self.peers = peers;
        self.records.reset(n * peers);
        self.s.reset(n);
        self.bits = std::array::from_fn(|_| BitVec::zeros(0));
        self.correction = BitVec::zeros(0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.s.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.s.is_empty()
    }

    /// How many peers each triple is shared with.
    pub fn peers(&self) -> usize {
        self.peers
    }

    /// The own bits of x, y, z of a triple.
    pub fn own_bits(&self, triple: usize) -> [bool; 3] {
        std::array::from_fn(|which| self.bits[which].get(triple))
    }

    /// What ties a triple to the peer in place `peer`.
    #[inline]
    pub fn record(&self, triple: usize, peer: usize) -> Record {
        let mut record = self.records[triple * self.peers + peer];
        if peer == 0 {
            record.keys[2] ^= self.correcting.select(self.correction.get(triple));
        }
        record
    }

    /// Asks for a triple's memory ahead of its use.
    #[inline]
    pub fn prefetch(&self, triple: usize) {
        self.records[triple * self.peers..][..self.peers].iter().for_each(prefetch);
    }

    /// Takes the bits that the lanes left in their parts.
    pub(crate) fn set_bits(&mut self, parts: Vec<[BitVec; 3]>) {
        for part in parts {
            for (all, mut more) in self.bits.iter_mut().zip(part) {
                all.extend_from(&more);
                more.zeroize();
            }
        }
    }
}

impl Drop for LeakyTriples {
    fn drop(&mut self) {
        self.correcting.zeroize();
        for bits in &mut self.bits {
            bits.zeroize();
        }
    }
}

/// Where one lane writes its part of a batch.
pub(crate) struct Part<'a> {
    /// Shares of y for the first triples of the batch, and how many of those lie before this part.
    given: Option<(&'a Shares, usize)>,
    records: &'a mut [Record],
    s: &'a mut [Block],
    /// The own bits of x, y, r of this part, filled by the lane.
    pub bits: [BitVec; 3],
}

impl<'a> Part<'a> {
    /// The given shares of y for the first triples of `range`.
    fn given(&self, range: &Range<usize>) -> Option<(&'a Shares, Range<usize>)> {
        let (shares, before) = self.given?;
        let place = |triple: usize| (before + triple).min(shares.len());
        let places = place(range.start)..place(range.end);
        (!places.is_empty()).then_some((shares, places))
    }

    /// How many of `range` have their y given.
    fn given_count(&self, range: &Range<usize>) -> usize {
        self.given(range).map_or(0, |(_, places)| places.len())
    }
}

/// Splits `triples` into one part per lane, each a whole number of chunks but the last. The batch's first
/// triples take their y from `given`.
pub(crate) fn split<'a>(
    triples: &'a mut LeakyTriples,
    lanes: usize,
    given: Option<&'a Shares>,
) -> Vec<Part<'a>> {
    let chunks = triples.len().div_ceil(CHUNK).max(1);
    let size = chunks.div_ceil(lanes) * CHUNK;
    let records = triples.records.chunks_mut(size * triples.peers);
    let part = |(number, (records, s))| Part {
        given: given.map(|shares| (shares, number * size)),
        bits: std::array::from_fn(|_| BitVec::zeros(0)),
        records,
        s,
    };
    records.zip(triples.s.chunks_mut(size)).enumerate().map(part).collect()
}

/// Where the authenticated bits of a chunk of `n` triples lie in its draw: all x, those y that were not
/// given to the first `given` triples, all r.
#[derive(Clone, Copy)]
struct Layout {
    n: usize,
    given: usize,
}

impl Layout {
    /// Bits in the draw.
    fn len(self) -> usize {
        3 * self.n - self.given
    }

    /// The places of all x, the y that were drawn, and all r.
    fn ranges(self) -> [Range<usize>; 3] {
        let (y, r) = (self.n, 2 * self.n - self.given);
        [0..y, y..r, r..self.len()]
    }
}

/// A chunk's own MACs and keys, from each peer a draw.
struct Drawn<'a> {
    layout: Layout,
    macs: &'a [Block],
    keys: &'a [Block],
}

impl<'a> Drawn<'a> {
    /// MACs and keys of the draw with `peer`.
    fn of(&self, peer: usize) -> [&'a [Block]; 2] {
        let len = self.layout.len();
        [self.macs, self.keys].map(|all| &all[peer * len..][..len])
    }

    /// MACs and keys of x with `peer`.
    fn x(&self, peer: usize) -> [&'a [Block]; 2] {
        self.of(peer).map(|all| &all[..self.layout.n])
    }
}

/// Writes the records of a chunk, all Φ_i, and of S_i what needs no hash.
fn sum_and_record(
    part: &mut Part<'_>,
    range: &Range<usize>,
    drawn: &Drawn<'_>,
    delta: Block,
    phi: &mut Vec<Block>,
) {
    let given = part.given(range);
    let peers = part.records.len() / part.s.len();
    let records = &mut part.records[range.start * peers..range.end * peers];
    let s = &mut part.s[range.clone()];
    phi.clear();
    phi.extend(range.clone().map(|t| delta.select(part.bits[1].get(t))));
    for (s, t) in s.iter_mut().zip(range.clone()) {
        *s = delta.select(part.bits[2].get(t));
    }
    for peer in 0..peers {
        let [macs, keys] = drawn.of(peer).map(|all| drawn.layout.ranges().map(|part| &all[part]));
        // Those whose y was given, then those whose y was drawn.
        let (first, given_y) = match &given {
            Some((shares, places)) => {
                let towards = &shares.towards[peer];
                (places.len(), [&towards.macs[places.clone()], &towards.keys[places.clone()]])
            }
            None => (0, [&[][..], &[][..]]),
        };
        for (from, [y_macs, y_keys]) in [(0, given_y), (first, [macs[1], keys[1]])] {
            let sums = phi[from..].iter_mut().zip(&mut s[from..]);
            let records = records[from * peers..].iter_mut().skip(peer).step_by(peers);
            let x = macs[0][from..].iter().zip(&keys[0][from..]);
            let y = y_macs.iter().zip(y_keys);
            let r = macs[2][from..].iter().zip(&keys[2][from..]);
            for (((((phi, s), record), x), y), r) in sums.zip(records).zip(x).zip(y).zip(r) {
                *phi ^= *y.0 ^ *y.1;
                *s ^= *r.0 ^ *r.1;
                *record = Record { macs: [*x.0, *y.0, *r.0], keys: [*x.1, *y.1, *r.1] };
            }
        }
    }
    for ((s, &phi), t) in s.iter_mut().zip(&*phi).zip(range.clone()) {
        *s ^= phi.select(part.bits[0].get(t));
    }
}

/// What a lane keeps between batches.
pub(crate) struct LeakyLane {
    bits: BitLane,
    prg: Prg,
    /// For each peer the hash for the U that it is sent, and for the U that it sends.
    hashes: Vec<[TweakedHash; 2]>,
    /// The tweak of the next triple; never used twice on this lane, and lanes have ranges of their own.
    tweak: u128,
    scratch: Scratch,
}

/// Buffers that stay warm from chunk to chunk.
#[derive(Default)]
struct Scratch {
    /// The MACs of the chunks whose keys are awaited: chunk c's in place c modulo their number.
    macs: [Vec<Block>; LOOKAHEAD + 1],
    keys: Vec<Block>,
    phi: Vec<Block>,
    pairs: Vec<Block>,
    single: Vec<Block>,
    u: Vec<Block>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Scratch { macs, keys, phi, pairs, single, u } = self;
        for buffer in macs.iter_mut().chain([keys, phi, pairs, single, u]) {
            buffer.zeroize();
        }
    }
}

impl LeakyLane {
    pub fn new(bits: BitLane, session: &[u8; 32], me: u16, lane: usize, prg: Prg) -> Self {
        let hash = |from: u16, to: u16| {
            let direction = u64::from(from) << 16 | u64::from(to);
            TweakedHash::new(derive_block("symbolon leaky and 1", session, direction))
        };
        let hashes = bits::peers_of(me, bits.peers() + 1);
        LeakyLane {
            hashes: hashes.map(|peer| [hash(me, peer), hash(peer, me)]).collect(),
            bits,
            prg,
            tweak: (lane as u128) << 64,
            scratch: Scratch::default(),
        }
    }

    /// The lane's authenticated bits, for draws that are not triples.
    pub fn bits(&mut self) -> &mut BitLane {
        &mut self.bits
    }

    /// How many peers there are.
    pub fn peers(&self) -> usize {
        self.bits.peers()
    }

    /// What the lane's broadcasts come to so far.
    pub fn log_digest(&self) -> [u8; 32] {
        self.bits.log_digest()
    }

    /// A fresh random bit vector.
    pub fn random_bits(&mut self, n: usize) -> BitVec {
        BitVec::random(n, &mut self.prg)
    }

    /// Steps 1 to 4a for one part of a batch; the bits of the part are left in `part.bits`.
    pub fn generate(&mut self, channels: &mut [Channel], part: &mut Part<'_>) -> Result<()> {
        let n = part.s.len();
        let chunks = n.div_ceil(CHUNK);
        let range = |chunk: usize| chunk * CHUNK..((chunk + 1) * CHUNK).min(n);
        let first_tweak = self.tweak;
        self.tweak += n as u128;
        for step in 0..chunks + 2 * LOOKAHEAD {
            if step < chunks {
                self.draw_own(channels, part, step, range(step))?;
            }
            if (LOOKAHEAD..chunks + LOOKAHEAD).contains(&step) {
                let chunk = step - LOOKAHEAD;
                self.draw_theirs(channels, part, range(chunk))?;
                self.send_u(channels, part, chunk, range(chunk), first_tweak)?;
            }
            if step >= 2 * LOOKAHEAD {
                self.receive_u(channels, part, range(step - 2 * LOOKAHEAD))?;
            }
        }
        Ok(())
    }

    /// Own bits of x, y, r with their MACs.
    fn draw_own(
        &mut self,
        channels: &mut [Channel],
        part: &mut Part<'_>,
        chunk: usize,
        range: Range<usize>,
    ) -> Result<()> {
        let layout = Layout { n: range.len(), given: part.given_count(&range) };
        let fresh = [layout.n, layout.n - layout.given, layout.n];
        let mut bits = fresh.map(|n| BitVec::random(n, &mut self.prg));
        let mut all = bits[0].clone();
        all.extend_from(&bits[1]);
        all.extend_from(&bits[2]);
        let macs = &mut self.scratch.macs[chunk % (LOOKAHEAD + 1)];
        macs.resize(layout.len() * channels.len(), Block::ZERO);
        let mut macs: Vec<&mut [Block]> = macs.chunks_exact_mut(layout.len()).collect();
        self.bits.draw_own(channels, &all, &mut macs)?;
        all.zeroize();
        if let Some((shares, places)) = part.given(&range) {
            let drawn = std::mem::replace(&mut bits[1], shares.bits.slice(places));
            bits[1].extend_from(&drawn);
        }
        for (all, mut new) in part.bits.iter_mut().zip(bits) {
            all.extend_from(&new);
            new.zeroize();
        }
        Ok(())
    }

    /// Keys for the peers' bits of x, y, r.
    fn draw_theirs(
        &mut self,
        channels: &mut [Channel],
        part: &Part<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let layout = Layout { n: range.len(), given: part.given_count(&range) };
        self.scratch.keys.resize(layout.len() * channels.len(), Block::ZERO);
        let mut keys: Vec<&mut [Block]> =
            self.scratch.keys.chunks_exact_mut(layout.len()).collect();
        self.bits.draw_theirs(channels, &mut keys)
    }

    /// Steps 2 and 3, and all of S_i but the x^i·U_ji; what the buckets will need goes into the records.
    fn send_u(
        &mut self,
        channels: &mut [Channel],
        part: &mut Part<'_>,
        chunk: usize,
        range: Range<usize>,
        first_tweak: u128,
    ) -> Result<()> {
        let delta = self.bits.delta();
        let layout = Layout { n: range.len(), given: part.given_count(&range) };
        let Scratch { macs, keys, phi, pairs, single, u } = &mut self.scratch;
        let drawn = Drawn { layout, macs: &macs[chunk % (LOOKAHEAD + 1)], keys };
        sum_and_record(part, &range, &drawn, delta, phi);
        let tweak = first_tweak + range.start as u128;
        for (peer, channel) in channels.iter_mut().enumerate() {
            let [hash_out, hash_in] = &self.hashes[peer];
            let [macs, keys] = drawn.x(peer);
            u.clear();
            let blocks = macs.chunks(BLOCK).zip(keys.chunks(BLOCK)).zip(phi.chunks(BLOCK));
            let s = part.s[range.clone()].chunks_mut(BLOCK);
            for (block, (((macs, keys), phi), s)) in blocks.zip(s).enumerate() {
                let tweak = tweak + (block * BLOCK) as u128;
                pairs.clear();
                pairs.extend(keys.iter().flat_map(|&key| [key, key ^ delta]));
                hash_out.hash(tweak, 2, pairs);
                single.clear();
                single.extend_from_slice(macs);
                hash_in.hash(tweak, 1, single);
                let pairs = pairs.as_chunks::<2>().0;
                for ((s, [zero, _]), single) in s.iter_mut().zip(pairs).zip(&*single) {
                    *s ^= *zero ^ *single;
                }
                u.extend(pairs.iter().zip(phi).map(|([zero, one], &phi)| *zero ^ *one ^ phi));
            }
            channel.send("leaky AND: U", Block::as_bytes(u))?;
            channel.flush()?;
        }
        Ok(())
    }

    /// The rest of S_i.
    fn receive_u(
        &mut self,
        channels: &mut [Channel],
        part: &mut Part<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let u = &mut self.scratch.u;
        for channel in channels {
            u.resize(range.len(), Block::ZERO);
            channel.recv_into("leaky AND: U", Block::as_bytes_mut(u))?;
            for (t, u) in range.clone().zip(u.iter()) {
                part.s[t] ^= u.select(part.bits[0].get(t));
            }
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
    channels: &mut [Channel],
    triples: &mut LeakyTriples,
    by: &mut Finish<'_>,
) -> Result<()> {
    let n = triples.len();
    channels[0].bend_state("leaky AND: S", Block::as_bytes_mut(&mut triples.s));
    let mut d = BitVec::zeros(n);
    for (t, s) in triples.s.iter().enumerate() {
        d.set(t, s.lsb());
    }
    let opened = exchange::committed(channels, &D, by.session, by.batch, &d.to_bytes(), by.prg)?;
    for (channel, theirs) in channels.iter().zip(opened) {
        let theirs = BitVec::from_bytes(n, &theirs)
            .ok_or_else(|| Error::misbehaved(channel.peer(), D.check))?;
        d.xor_assign(&theirs);
    }

    let challenge = exchange::toss_coin(channels, by.session, 2 * by.batch, by.prg)?;
    let mut v = combination(&triples.s, &d, by.delta, challenge);
    channels[0].bend_state("leaky AND: V", Block::as_bytes_mut(std::slice::from_mut(&mut v)));
    let opened = exchange::committed(channels, &V, by.session, by.batch, &v.to_bytes(), by.prg)?;
    for theirs in opened {
        v ^= Block::from_bytes(theirs.try_into().expect("as long as ours"));
    }
    if v != Block::ZERO {
        // With two parties it is the peer; with more, V does not tell whose it is.
        let party = if let [peer] = channels { peer.peer() } else { SOMEBODY };
        return Err(Error::misbehaved(party, CHECK));
    }

    // ⟨z⟩ = ⟨r⟩ ⊕ d: party 0's bit changes, and the others' keys for it.
    triples.correcting = if channels[0].me() == 0 {
        triples.bits[2].xor_assign(&d);
        Block::ZERO
    } else {
        by.delta
    };
    triples.correction = d;
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
