//! Leaky AND triples: Yang–Wang–Zhang 2020, Fig. 14 and the batched check after it.
//!
//! For each triple t all parties hold shares of random x, y, r. P_i is the acting party, P_j each
//! of its peers, and every sum runs over the peers:
//!
//! ```text
//! 2.  Φ_i = y^i·Δ_i ⊕ Σ_j (K_i[y^j] ⊕ M_j[y^i])
//! 3.  U_ij = H(K_i[x^j], ij‖t) ⊕ H(K_i[x^j] ⊕ Δ_i, ij‖t) ⊕ Φ_i                         sent to P_j
//!     M_i[x^j]_Φ = x^j·U_ij ⊕ H(M_i[x^j], ij‖t)                                        at P_j
//! 4.  S_i = x^i·Φ_i ⊕ Σ_j (H(K_i[x^j], ij‖t) ⊕ M_j[x^i]_Φ) ⊕ r^i·Δ_i ⊕ Σ_j (K_i[r^j] ⊕ M_j[r^i])
//!     d_i = lsb(S_i), committed, opened; d = Σ d_i;  ⟨z⟩ = ⟨r⟩ ⊕ d
//! 5.  T_i = S_i ⊕ d·Δ_i, and Σ T_i must be zero
//! ```
//!
//! Step 5 checks all triples at once: χ comes from a coin toss after every U and d is fixed, V_i =
//! Σ χ_t·T_i,t, Σ V_i = 0. As Σ lsb(Δ_i) = 1, the bit d makes the least significant bits agree, and
//! the other bits agree only if z = x ∧ y. The V_i are not opened: `zero_test` explains why, and
//! how the parties test that they sum to zero. A party sums its V on several threads, each with its
//! part of one sequence of χ.
//!
//! A cheater that sends U_ij ⊕ R is caught exactly if x^j = 1: it learns x^j with probability 1/2,
//! and nothing about y or z. [`crate::aand::combine`] removes this leak.
//!
//! *Among more than two parties* U is sent before the broadcasts of the next draws are echoed; d
//! and everything later follow the echo. `docs/proofs/leaky-ands.md` proves that U may come first.
//!
//! Where the paper has 128 bits of Φ, H, U, S and T, this module uses only the w least significant
//! ones, as many as ρ requires: `laand/width.rs` explains why they suffice.
//!
//! Departure: leaky ANDs | WRK17 Fig. 8 | YWZ20 Fig. 14 | proven there; half the hashes
//!
//! # Triples on given shares
//! A batch's first stream may use shares of y that the parties already hold, instead of fresh
//! ones: [`crate::Preprocessor::triples_on`]. Nothing about y leaks: see
//! `docs/proofs/leaky-ands.md`.
//!
//! # States
//! A batch is `Sampled` (steps 1 to 4b), then `Confirmed` (all parties received the same
//! broadcasts), then `Opened` (d is open, and a coin is tossed that decides the rest); the next
//! step consumes each state. Step 5 runs while the buckets are opened, and makes a `Right`, without
//! which no bucket is summed. The memory is a borrowed `LaAndWorkspace`.
//!
//! # Chunks
//! Work is divided into chunks. A chunk's correlated OTs are sent `LOOKAHEAD` chunks before its U,
//! and the U is sent `LOOKAHEAD` chunks before the peer's U is used, so that a long link stays
//! busy.

mod anchors;
mod batch;
mod check;
mod shape;
mod streams;
mod width;
mod workspace;
mod y_shares;
mod zero_test;

use std::ops::Range;

use symbolon_ot::{OtExtension, TreeDepth};
use symbolon_primitives::{
    BitVec, Block, HugeBuf, Prg, TweakedHash, derive_block, reserve_wiped, xor_key_masked,
    xor_masked,
};
use symbolon_transport::{Channel, Error, PartyId, Result, SessionId, Step};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{abit::AuthBitGenerator, messages::LEAKY_U, peers_of};
use anchors::{Anchors, SampledAnchors};
use streams::StreamSharesMut;
use width::Word;
use workspace::Part;

pub(crate) use batch::{Opened, Sampled, confirm_logs};
pub(crate) use check::{LaAndCheck, MaskedV, Right};
pub(crate) use shape::{BatchInputs, LaAndBatch};
pub(crate) use streams::StreamShares;
pub use width::{ULength, Width};
pub(crate) use workspace::LaAndWorkspace;
pub(crate) use y_shares::YShares;
pub use zero_test::bits as zero_test_bits;
pub(crate) use zero_test::{TestHashes, ZeroTest};

/// The number of triples in a chunk: its draws, and what is computed from them, stay in the L2
/// cache. With three correlated OTs per triple a column is 25 cache lines. That is a whole number
/// of lines, so no load or store crosses a line, and of strips of the trees' sums
/// ([`symbolon_primitives::ggm_sums`]). It is also odd, so columns do not evict each other from the
/// caches.
pub const CHUNK: usize = 4224;

/// The chunk size if bytes matter more, just below the largest draw: 63 cache lines.
const LARGE_CHUNK: usize = 10_688;

/// Returns the number of triples in a chunk. Each chunk takes a draw of correlated OTs with a check
/// of 2 kB. That is a tenth of a small draw of `softspoken8`, which is meant for slow links, and
/// more than silent OT sends otherwise; between two parties, silent draws need no check.
pub(crate) fn chunk(ot_extension: OtExtension, peers: usize) -> usize {
    match ot_extension {
        OtExtension::SoftSpoken { k: TreeDepth::Eight } => LARGE_CHUNK,
        OtExtension::Ferret if peers > 1 => LARGE_CHUNK,
        _ => CHUNK,
    }
}

/// The number of triples hashed at a time; their data fit the L1 cache.
const BLOCK: usize = 512;

/// How many chunks the first message of a chunk runs ahead of its second: with small chunks it
/// takes several to keep a long link busy.
pub(crate) const LOOKAHEAD: usize = 6;

/// The layout of the authenticated bits of a chunk of `n` triples in its draw: all x, then the y of
/// all but the first `given` triples, then all r.
#[derive(Clone, Copy)]
struct Layout {
    n: usize,
    given: usize,
}

impl Layout {
    /// Returns the number of bits in the draw.
    fn len(self) -> usize {
        3 * self.n - self.given
    }

    /// Returns the ranges of all x, the drawn y, and all r.
    fn ranges(self) -> [Range<usize>; 3] {
        let (y, r) = (self.n, 2 * self.n - self.given);
        [0..y, y..r, r..self.len()]
    }
}

/// MACs and keys of the bits sampled for a chunk, from one draw with each peer.
struct SampledChunk<'a> {
    layout: Layout,
    macs: &'a [Block],
    keys: &'a [Block],
}

impl<'a> SampledChunk<'a> {
    /// Returns MACs and keys of the draw with `peer`.
    fn of(&self, peer: usize) -> [&'a [Block]; 2] {
        let len = self.layout.len();
        [self.macs, self.keys].map(|all| &all[peer * len..][..len])
    }

    /// Returns MACs and keys of x with `peer`.
    fn x(&self, peer: usize) -> [&'a [Block]; 2] {
        self.of(peer).map(|all| &all[..self.layout.n])
    }
}

/// The destination of a block of triples.
struct Out<'a, 'b> {
    /// The part's anchors.
    anchors: &'a mut Anchors<'b>,
    /// The range of the anchors in the block; they come first.
    places: Range<usize>,
    /// The part's other triples.
    streams: &'a mut StreamSharesMut<'b>,
    /// The number of other triples before the block.
    before: usize,
    /// Φ_i and S_i of the block; results are XORed to them.
    sums: [&'a mut [Block]; 2],
}

impl SampledChunk<'_> {
    /// Writes MACs and keys with `peer` for the triples `block` of the chunk, and XORs to their Φ_i
    /// and S_i the terms that need no hash and no own bit.
    fn lay_out(&self, block: Range<usize>, peer: usize, out: &mut Out<'_, '_>) {
        let Out { anchors, places, streams, before, sums } = out;
        let (all, [x, y, z]) = (self.of(peer), self.layout.ranges());
        let behind = |part: &Range<usize>, run: &Range<usize>| {
            all.map(|all| &all[part.start + run.start..part.start + run.end])
        };
        let first_other = block.start + places.len();
        let (of_anchors, rest) = (block.start..first_other, first_other..block.end);
        let [phi, s] = sums.each_mut().map(|sums| sums.split_at_mut(places.len()));
        if !of_anchors.is_empty() {
            let fresh_y = (self.layout.given == 0).then(|| behind(&y, &of_anchors));
            let (x, z) = (behind(&x, &of_anchors), behind(&z, &of_anchors));
            let fresh = SampledAnchors { x, y: fresh_y, z };
            anchors.lay_out(peer, places.clone(), &fresh, [phi.0, s.0]);
        }
        if !rest.is_empty() {
            let fresh_y = rest.start - self.layout.given..rest.end - self.layout.given;
            let rows = [behind(&x, &rest), behind(&y, &fresh_y), behind(&z, &rest)];
            streams.note(peer, *before, rows, [phi.1, s.1]);
        }
    }
}

/// Returns the hash for what one party sends another.
fn directed_hash(domain: &str, session: &[u8; 32], from: PartyId, to: PartyId) -> TweakedHash {
    TweakedHash::new(derive_block(domain, session, u64::from(from) << 16 | u64::from(to)))
}

/// The state that a lane keeps between batches.
pub(crate) struct LeakyAndGenerator {
    bits: AuthBitGenerator,
    prg: Prg,
    /// For each peer, the hash for the U that it receives, and for the U that it sends.
    hashes: Vec<[TweakedHash; 2]>,
    /// The tweak of the next triple. Tweaks are never reused on this lane, and each lane has its
    /// own range.
    tweak: u128,
    scratch: Scratch,
    /// The state of the check of the current batch, on lane 0. It is boxed, because moving an empty
    /// option would copy stale bytes of the stack.
    zero_test: Option<Box<ZeroTest>>,
    /// The number of tests so far.
    tests: u64,
    session: SessionId,
    lane: usize,
}

/// Buffers that stay warm from chunk to chunk.
#[derive(Default, ZeroizeOnDrop)]
struct Scratch {
    /// MACs, keys and U of the current chunks, in a single allocation, which may use huge pages.
    memory: HugeBuf<Block>,
    phi: Vec<Block>,
    s: Vec<Block>,
    u: Vec<Block>,
}

/// The parts of [`Scratch::memory`]. At first they contain old data.
struct ChunkBuffers<'a> {
    /// The MACs of the chunks whose keys are awaited; chunk c uses the slot c modulo the number of
    /// slots.
    macs: [&'a mut [Block]; LOOKAHEAD + 1],
    keys: &'a mut [Block],
    /// U for each peer, one chunk after another.
    u: &'a mut [Block],
    their_u: &'a mut [Block],
}

impl<'a> ChunkBuffers<'a> {
    /// Returns the number of blocks that chunks of at most `chunk` triples need with `peers` peers.
    fn blocks(chunk: usize, peers: usize) -> usize {
        let draws = LOOKAHEAD + 2;
        (3 * draws * peers + peers + 1) * chunk
    }

    /// Divides memory of that size.
    fn of(memory: &'a mut [Block], peers: usize) -> Self {
        let chunk = memory.len() / ChunkBuffers::blocks(1, peers);
        let (their_u, rest) = memory.split_at_mut(chunk);
        let (u, rest) = rest.split_at_mut(peers * chunk);
        let mut draws = rest.chunks_exact_mut(3 * peers * chunk);
        let mut draw = || draws.next().expect("room for every draw");
        ChunkBuffers { macs: std::array::from_fn(|_| draw()), keys: draw(), u, their_u }
    }
}

impl LeakyAndGenerator {
    pub fn new(
        bits: AuthBitGenerator,
        session: &SessionId,
        me: PartyId,
        lane: usize,
        prg: Prg,
    ) -> Self {
        let hash = |from: PartyId, to: PartyId| {
            directed_hash("symbolon leaky and 1", session.as_bytes(), from, to)
        };
        let hashes = peers_of(me, bits.peers() + 1);
        LeakyAndGenerator {
            hashes: hashes.map(|peer| [hash(me, peer), hash(peer, me)]).collect(),
            bits,
            prg,
            tweak: (lane as u128) << 64,
            scratch: Scratch::default(),
            zero_test: None,
            tests: 0,
            session: *session,
            lane,
        }
    }

    /// Returns the lane's authenticated bits.
    #[cfg(test)]
    pub fn bits(&mut self) -> &mut AuthBitGenerator {
        &mut self.bits
    }

    /// Returns the number of peers.
    pub fn peers(&self) -> usize {
        self.bits.peers()
    }

    /// Returns the digest of the lane's broadcast log.
    pub fn log_digest(&self) -> [u8; 32] {
        self.bits.log_digest()
    }

    /// Takes the check's state for a batch that lane 0 has generated, and its number.
    ///
    /// # Errors
    /// `Internal` if there is no such batch, or the state was taken already.
    pub fn take_zero_test(&mut self) -> Result<(Box<ZeroTest>, u64)> {
        let test =
            self.zero_test.take().ok_or_else(|| Error::internal("a check without a batch"))?;
        self.tests += 1;
        Ok((test, self.tests - 1))
    }

    /// Returns the bits that this lane would draw next.
    #[cfg(test)]
    pub fn random_bits(&mut self, n: usize) -> BitVec {
        BitVec::random(n, &mut self.prg)
    }

    /// Makes draws that are not triples, as [`AuthBitGenerator::draw`].
    pub fn draw(
        &mut self,
        channels: &mut [Channel],
        n: usize,
        macs: &mut [&mut [Block]],
        keys: &mut [&mut [Block]],
    ) -> Result<BitVec> {
        self.bits.draw(channels, (n, &mut self.prg), macs, keys)
    }

    /// Runs steps 1 to 4b for one part of a batch, up to this party's d. The bits of the part are
    /// left in `part.bits`.
    pub fn generate(&mut self, channels: &mut [Channel], part: &mut Part<'_>) -> Result<()> {
        match part.length.width() {
            Width::Half => self.generate_as::<u64>(channels, part),
            Width::Whole => self.generate_as::<Block>(channels, part),
        }
    }

    /// Does the work of [`generate`](Self::generate) with U in words W.
    fn generate_as<W: Word>(
        &mut self,
        channels: &mut [Channel],
        part: &mut Part<'_>,
    ) -> Result<()> {
        let n = part.len;
        let size = part.chunk;
        let chunks = n.div_ceil(size);
        let range = |chunk: usize| chunk * size..((chunk + 1) * size).min(n);
        let first_tweak = self.tweak;
        self.tweak += n as u128;
        self.scratch.memory.reset(ChunkBuffers::blocks(n.min(size), channels.len()));
        let test = (self.lane == 0).then(|| zero_test::bits(part.length.width()));
        let draws = (0..chunks).map(|chunk| {
            let range = range(chunk);
            Layout { n: range.len(), given: part.anchors.given(&range) }.len()
        });
        let draws: Vec<usize> = test.into_iter().chain(draws).collect();
        self.bits.supply(channels, &draws, &vec![&draws; channels.len()])?;
        for step in 0..chunks + 2 * LOOKAHEAD {
            if step == chunks.max(LOOKAHEAD) {
                // This was the end of the last draw. No peer's message delays it, so it is flushed
                // now.
                channels.iter_mut().try_for_each(Channel::flush)?;
            }
            if self.lane == 0 {
                self.prepare_zero_test(channels, part.length.width(), step)?;
            }
            let theirs = (LOOKAHEAD..chunks + LOOKAHEAD).contains(&step);
            if theirs {
                self.draw_theirs(channels, part, range(step - LOOKAHEAD))?;
            }
            // The small check at the end of a draw is sent with the U after it, or with the next
            // draw.
            if step < chunks {
                self.draw_own(channels, part, step, range(step))?;
            }
            if theirs {
                let chunk = step - LOOKAHEAD;
                self.send_u::<W>(channels, part, chunk, range(chunk), first_tweak)?;
            }
            if step >= 2 * LOOKAHEAD {
                let chunk = range(step - 2 * LOOKAHEAD);
                let leaky = chunk.len() as u64;
                self.receive_u::<W>(channels, part, chunk)?;
                let meter = channels[0].meter();
                meter.advance_by_parts(Step::Triples, leaky, part.leaky_each);
            }
        }
        Ok(())
    }

    /// Prepares the check: its draws precede those of the first chunk, and its messages for the
    /// peers' bits precede the first U.
    fn prepare_zero_test(
        &mut self,
        channels: &mut [Channel],
        width: Width,
        step: usize,
    ) -> Result<()> {
        if step == 0 {
            let test = ZeroTest::draw_own(&mut self.bits, channels, width, &mut self.prg)?;
            self.zero_test = Some(Box::new(test));
        }
        let hashes = TestHashes { session: self.session.as_bytes(), number: self.tests };
        match &mut self.zero_test {
            Some(test) if step == LOOKAHEAD => test.send(&mut self.bits, channels, &hashes),
            Some(test) if step == 2 * LOOKAHEAD => test.receive(channels),
            _ => Ok(()),
        }
    }

    /// Draws own bits of x, y, r with their MACs.
    ///
    /// Paper: YWZ20, Fig. 14, 1 | random x, y, r
    fn draw_own(
        &mut self,
        channels: &mut [Channel],
        part: &mut Part<'_>,
        chunk: usize,
        range: Range<usize>,
    ) -> Result<()> {
        let layout = Layout { n: range.len(), given: part.anchors.given(&range) };
        let buffers = ChunkBuffers::of(&mut self.scratch.memory, channels.len());
        let macs = &mut buffers.macs[chunk % (LOOKAHEAD + 1)][..layout.len() * channels.len()];
        let mut macs: Vec<&mut [Block]> = macs.chunks_exact_mut(layout.len()).collect();
        let mut all = self.bits.draw_own(channels, layout.len(), &mut self.prg, &mut macs)?;
        let mut bits = layout.ranges().map(|range| all.slice(range));
        all.zeroize();
        if layout.given > 0 {
            let given = part.anchors.bits(part.anchors.among(&range));
            let drawn = std::mem::replace(&mut bits[1], given);
            bits[1].extend_from(&drawn);
        }
        // d follows once S is complete.
        for (all, mut new) in part.bits.iter_mut().zip(bits) {
            all.extend_from(&new);
            new.zeroize();
        }
        Ok(())
    }

    /// Draws keys for the peers' bits of x, y, r.
    ///
    /// Paper: YWZ20, Fig. 14, 1
    fn draw_theirs(
        &mut self,
        channels: &mut [Channel],
        part: &Part<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let layout = Layout { n: range.len(), given: part.anchors.given(&range) };
        let buffers = ChunkBuffers::of(&mut self.scratch.memory, channels.len());
        let keys = &mut buffers.keys[..layout.len() * channels.len()];
        let mut keys: Vec<&mut [Block]> = keys.chunks_exact_mut(layout.len()).collect();
        self.bits.draw_theirs(channels, &mut keys)
    }

    /// Runs steps 2 and 3, and computes all of S_i except the x^i·U_ji. Writes what the buckets
    /// will need to the part.
    ///
    /// Paper: YWZ20, Fig. 14, 2–3 | Φ, U sent
    fn send_u<W: Word>(
        &mut self,
        channels: &mut [Channel],
        part: &mut Part<'_>,
        chunk: usize,
        range: Range<usize>,
        first_tweak: u128,
    ) -> Result<()> {
        let delta = **self.bits.delta();
        let layout = Layout { n: range.len(), given: part.anchors.given(&range) };
        let peers = channels.len();
        let Scratch { memory, phi, s, u: hashed } = &mut self.scratch;
        let ChunkBuffers { macs, keys, u, .. } = ChunkBuffers::of(memory, peers);
        let drawn = SampledChunk { layout, macs: macs[chunk % (LOOKAHEAD + 1)], keys };
        let u = &mut words_mut::<W>(u)[..layout.n * peers];
        let all_s = words_mut::<W>(part.s);
        // The data of a block stay in the L1 cache from first to last use.
        for first in (0..layout.n).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(layout.n);
            let place = range.start + first;
            let end = range.start + block.end;
            for sums in [&mut *phi, &mut *s] {
                sums.clear();
                reserve_wiped(sums, block.len());
                sums.resize(block.len(), Block::ZERO);
            }
            xor_key_masked(phi, &part.bits[1], place, delta);
            xor_key_masked(s, &part.bits[2], place, delta);
            let places = part.anchors.among(&(place..end));
            let mut out = Out {
                places,
                before: place.saturating_sub(part.anchors.len()),
                anchors: &mut part.anchors,
                streams: &mut part.streams,
                sums: [phi, s],
            };
            for peer in 0..peers {
                drawn.lay_out(block.clone(), peer, &mut out);
            }
            xor_masked(s, &part.bits[0], place, phi);
            for (peer, hashes) in self.hashes.iter().enumerate() {
                let [macs, keys] = drawn.x(peer).map(|x| &x[block.clone()]);
                reserve_wiped(hashed, block.len().saturating_sub(hashed.len()));
                hashed.resize(block.len(), Block::ZERO);
                let by = (first_tweak + place as u128, delta);
                TweakedHash::leaky_hashes(hashes, by, [macs, keys], phi, s, hashed);
                W::lower(hashed, &mut u[peer * layout.n..][block.clone()]);
            }
            W::lower(s, &mut all_s[place..end]);
            part.length.truncate(&mut all_s[place..end]);
        }
        for (channel, u) in channels.iter_mut().zip(u.chunks_exact_mut(layout.n)) {
            channel.send(LEAKY_U, part.length.pack(u))?;
            channel.flush()?;
        }
        Ok(())
    }

    /// Completes S_i, and computes d_i.
    ///
    /// Paper: YWZ20, Fig. 14, 3–4a | U received, S
    fn receive_u<W: Word>(
        &mut self,
        channels: &mut [Channel],
        part: &mut Part<'_>,
        range: Range<usize>,
    ) -> Result<()> {
        let buffers = ChunkBuffers::of(&mut self.scratch.memory, channels.len());
        let u = &mut words_mut::<W>(buffers.their_u)[..range.len()];
        let [x, .., d] = &mut part.bits;
        let s = &mut words_mut::<W>(part.s)[range.clone()];
        for channel in channels.iter_mut() {
            channel.recv_into(LEAKY_U, part.length.packed(u))?;
            part.length.unpack(u);
            W::xor_masked(s, x, range.start, u);
        }
        channels[0].tamper_state("leaky AND: S", bytemuck::cast_slice_mut(s));
        W::push_lsbs(s, d);
        Ok(())
    }
}

/// Returns this memory as words.
fn words_mut<W: Word>(memory: &mut [Block]) -> &mut [W] {
    bytemuck::cast_slice_mut(memory)
}
