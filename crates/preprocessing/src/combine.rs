//! From leaky triples to good ones: bucketing, Yang–Wang–Zhang 2020, Fig. 16.
//!
//! The leaky triples of a batch are thrown into buckets by a permutation from a coin toss that runs
//! after all of them are fixed and checked. In each bucket the first triple absorbs the others:
//!
//! ```text
//! d = Open(⟨y_1⟩ ⊕ ⟨y_k⟩),   ⟨x⟩ ⊕= ⟨x_k⟩,   ⟨z⟩ ⊕= ⟨z_k⟩ ⊕ d·⟨x_k⟩,   ⟨y⟩ = ⟨y_1⟩
//! ```
//!
//! In a batch of *tied* triples ([`Batch::tied`]) the first triple of bucket k, its head, is number k of the batch, made
//! on a given share of y or a fresh one, and only the others are thrown: [`crate::bucketing`] says what that costs. What
//! comes out has the head's ⟨y⟩; d is masked by the fresh y_k. Heads lie where the sums go from the start.
//!
//! All d of a batch are opened at once: bits first, then digests of their MACs. What is computed from the
//! bits in between stays here until the digests are right: a peer that could lie about one d unnoticed would
//! learn a share of a chosen triple at a risk of 1/2, and 2^-ρ would become 2^-B.
//!
//! # Memory
//! The leaky triples of a bucket lie anywhere: each is visited once, when all d are known, and gives at that
//! one visit the sums, the products with d, and both what its d's MAC is and what the peer's should be. Before
//! that only the bits are gathered, a byte for each triple.
//!
//! # Threads
//! Each thread has some of the buckets, from the permutation to the sums, and a digest of its MACs; what is compared is a
//! digest of all threads' digests. All parties cut a batch alike, for they have as many lanes.

use symbolon_primitives::records::{BucketSums, Buckets, sum_buckets};
use symbolon_primitives::{
    BitVec, Block, BlockHasher, Challenge, add_key_where, rows_of_bytes, same_digest,
};
use symbolon_transport::{Channel, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Shares, Towards, Triples,
    bucketing::Batch,
    exchange::{self, Opened},
    leaky::{D_BIT, LeakyTriples, X_BIT, Y_BIT, Z_BIT},
    threads,
    throw::thrown,
};

/// The opening of the d bits, and its check.
pub const OPENED: Opened = Opened { kind: "bucketing: d", check: "bucketing MAC" };

/// The kind of the message with the digest of the d bits' MACs.
pub const MACS: &str = "bucketing: MACs";

/// A batch of leaky triples to be combined, and on how many threads: as many for all parties.
pub(crate) struct Combine<'a> {
    pub leaky: &'a LeakyTriples,
    pub batch: Batch,
    pub delta: Block,
    pub threads: usize,
}

/// What is kept between batches: memory touched for the first time is dear.
#[derive(Default)]
pub(crate) struct Scratch {
    spare: Triples,
    /// For each thread.
    waiting: Vec<Waiting>,
    bytes: Vec<u8>,
}

impl Scratch {
    /// Keeps the memory of triples that are used up for the next batch's.
    pub(crate) fn recycle(&mut self, triples: Triples) {
        self.spare = triples;
    }

    /// Room for the triples of a batch among this party and `peers` others, on the right factors `given` if there are
    /// such, and `onto` what their products are to be added to; what else the memory holds is overwritten later.
    pub(crate) fn room(
        &mut self,
        (batch, peers): (Batch, usize),
        given: Option<Shares>,
        onto: Option<Shares>,
    ) -> Triples {
        let Triples { a, b, c } = std::mem::take(&mut self.spare);
        let room = |mut shares: Shares| {
            shares.make_room(batch.triples, peers);
            shares
        };
        let or_room = |given: Option<Shares>, spare| given.unwrap_or_else(|| room(spare));
        Triples { a: room(a), b: or_room(given, b), c: or_room(onto, c) }
    }
}

/// For each peer MACs that wait to be hashed: those of the own d, and those that the peer's should have.
#[derive(Default)]
struct Waiting(Vec<[Vec<Block>; 2]>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.iter_mut().flatten().for_each(Zeroize::zeroize);
    }
}

/// How many buckets ahead memory is asked for.
const PREFETCH: usize = 32;

/// Buckets that are summed at a time, for one peer after another: a word of each vector of bits, and their
/// records stay in the first-level cache.
const PIECE: usize = 64;

/// MACs that are hashed at a time.
const HASHED: usize = 2048;

/// The bits that the buckets are summed with.
struct Bits {
    /// The own bits of all x_k but the first of each bucket.
    factors: Zeroizing<BitVec>,
    /// The own bits of all d; all parties' once they are known.
    d: BitVec,
    /// For each bucket how often z lacks its correction, modulo 2.
    corrections: BitVec,
}

impl Combine<'_> {
    /// Makes triples by the buckets that `challenge` draws, in the room `triples`, where the heads of tied buckets are.
    ///
    /// # Errors
    /// `PeerMisbehaved` when an opened d has no valid MAC; `Transport` when a peer is gone.
    pub fn run(
        &self,
        channels: &mut [Channel],
        challenge: Challenge,
        mut triples: Triples,
        scratch: &mut Scratch,
    ) -> Result<Triples> {
        let order = thrown(self.batch, challenge, self.threads)?;
        if self.batch.tied {
            let keys = &mut triples.a.towards[0].keys;
            channels[0].bend_state("bucketing: keys of the heads", Block::as_bytes_mut(keys));
        }
        let mut bits = self.gather(&order, &mut triples)?;
        let theirs = exchange_bits(channels, &bits.d, &mut scratch.bytes)?;
        for theirs in &theirs {
            bits.d.xor_assign(theirs);
        }
        let macs = self.sum(&order, (&bits, &theirs), &mut triples, scratch)?;
        check(channels, &macs)?;
        Ok(triples)
    }

    /// How many words of bits, a bit for each bucket, a thread has.
    fn words(&self) -> usize {
        self.batch.triples.div_ceil(PIECE).div_ceil(self.threads)
    }

    /// How many triples of each bucket are not its first.
    fn others(&self) -> usize {
        self.batch.bucket - 1
    }

    /// The order of the triples that are thrown, thread by thread.
    fn members<'a>(&self, order: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
        order.chunks(self.words() * PIECE * self.batch.thrown())
    }

    /// Gathers all bits, and adds up the own bits of all sums but the products with d.
    fn gather(&self, order: &[u32], triples: &mut Triples) -> Result<Bits> {
        let (n, words, others) = (self.batch.triples, self.words(), self.others());
        let mut bits = Bits {
            factors: Zeroizing::new(BitVec::zeros(n * others)),
            d: BitVec::zeros(n * others),
            corrections: BitVec::zeros(n),
        };
        let factors = bits.factors.words_mut().chunks_mut(words * others);
        let d = bits.d.words_mut().chunks_mut(words * others);
        let corrections = bits.corrections.words_mut().chunks_mut(words);
        let gathering = |((factors, d), corrections)| Gathering {
            factors,
            d,
            sums: vec![(D_BIT, corrections)],
        };
        let mut parts: Vec<_> = factors.zip(d).zip(corrections).map(gathering).collect();
        for (shares, bit) in made(triples, self.batch.tied, [X_BIT, Y_BIT, Z_BIT]) {
            for (part, words) in parts.iter_mut().zip(shares.bits.words_mut().chunks_mut(words)) {
                part.sums.push((bit, words));
            }
        }
        let (heads, thrown) = self.leaky.packed().split_at(self.batch.heads());
        let size = words * PIECE;
        let parts = self.members(order).zip(parts).zip((0..).step_by(size));
        threads::each(parts, |((members, mut part), first)| {
            // No bytes where the heads are thrown, too.
            let heads = &heads[first.min(heads.len())..];
            part.run((heads, thrown), members, self.batch);
        })?;
        Ok(bits)
    }

    /// Adds up MACs and keys; digests the MACs on the own d, and those that the peers' parts of d, `theirs`, should have.
    fn sum(
        &self,
        order: &[u32],
        (bits, theirs): (&Bits, &[BitVec]),
        triples: &mut Triples,
        scratch: &mut Scratch,
    ) -> Result<Vec<Digests>> {
        let (words, peers) = (self.words(), self.leaky.peers());
        let parts = self.members(order).count();
        scratch.waiting.resize_with(parts, Waiting::default);
        let Triples { a, b, c } = triples;
        let (heads, b) = match self.batch.tied {
            true => (&b.towards[..], &mut [][..]),
            false => (&[][..], &mut b.towards[..]),
        };
        let Shares { bits: products, towards: c } = c;
        let mut work: Vec<Summing<'_>> = self
            .members(order)
            .zip(products.words_mut().chunks_mut(words))
            .zip((0..).step_by(words))
            .map(|((members, products), first)| Summing {
                first,
                members,
                products,
                heads,
                made: (0..peers).map(|_| [None, None, None]).collect(),
            })
            .collect();
        for (which, towards) in [&mut a.towards, b, c].into_iter().enumerate() {
            for (peer, Towards { macs, keys }) in towards.iter_mut().enumerate() {
                let of_parts = macs.chunks_mut(words * PIECE).zip(keys.chunks_mut(words * PIECE));
                for (part, (macs, keys)) in work.iter_mut().zip(of_parts) {
                    part.made[peer][which] = Some([macs, keys]);
                }
            }
        }
        let work = work.into_iter().zip(&mut scratch.waiting);
        threads::each(work, |(mut part, waiting)| part.run(self, (bits, theirs), waiting))
    }
}

/// One thread's part of the bits.
struct Gathering<'a> {
    factors: &'a mut [u64],
    d: &'a mut [u64],
    /// Sums of bits, each with what it is in a packed triple.
    sums: Vec<(u8, &'a mut [u64])>,
}

impl Gathering<'_> {
    /// With the packed bits of the heads from the first bucket on, if they are not thrown, and of all that are.
    fn run(&mut self, (heads, packed): (&[u8], &[u8]), members: &[u32], batch: Batch) {
        let (others, size) = (batch.bucket - 1, batch.thrown());
        let mut heads = heads.iter();
        let mut sums = Zeroizing::new([0; PIECE]);
        let mut bytes = Zeroizing::new(vec![0; PIECE * others]);
        let mut rows = Zeroizing::new(vec![[0; 8]; batch.bucket]);
        for (word, members) in members.chunks(PIECE * size).enumerate() {
            sums.fill(0);
            bytes.fill(0);
            let places = sums.iter_mut().zip(bytes.chunks_exact_mut(others));
            for (members, (sum, others)) in members.chunks_exact(size).zip(places) {
                let (first, members) = match heads.next() {
                    Some(head) => (*head, members),
                    None => (packed[members[0] as usize], &members[1..]),
                };
                *sum = gather(packed, first, members, others);
            }
            let (of_sums, of_others) = rows.split_at_mut(1);
            rows_of_bytes(&*sums, of_sums);
            rows_of_bytes(&bytes, of_others);
            for (bit, sums) in &mut self.sums {
                sums[word] ^= of_sums[0][place(*bit)];
            }
            let factors = self.factors[word * others..].iter_mut();
            let d = self.d[word * others..].iter_mut();
            for ((factors, d), rows) in factors.zip(d).zip(of_others) {
                (*factors, *d) = (rows[place(X_BIT)], rows[place(Y_BIT)]);
            }
        }
    }
}

/// The number of a packed bit.
const fn place(bit: u8) -> usize {
    bit.trailing_zeros() as usize
}

/// The bits of a bucket's sum, without products; of each member but the first its x and, in the place of
/// y, the own bit of d.
#[inline]
fn gather(packed: &[u8], first: u8, members: &[u32], others: &mut [u8]) -> u8 {
    let mut sum = first;
    for (&member, out) in members.iter().zip(others) {
        let other = packed[member as usize];
        sum ^= other & !Y_BIT;
        *out = other & X_BIT | (first ^ other) & Y_BIT;
    }
    sum
}

/// The products d·x_k of 64 buckets, added up; of `others` d and x_k a bucket, one after another.
fn products(factors: &[u64], d: &[u64], others: usize) -> u64 {
    let mut sums = 0;
    for (f, product) in factors.iter().zip(d).map(|(x, d)| x & d).enumerate().take(others) {
        for bit in 0..64 {
            sums ^= (product >> bit & 1) << ((64 * f + bit) / others);
        }
    }
    sums
}

/// Sends the own d to all peers, and returns theirs.
fn exchange_bits(
    channels: &mut [Channel],
    own: &BitVec,
    bytes: &mut Vec<u8>,
) -> Result<Vec<BitVec>> {
    for channel in channels.iter_mut() {
        channel.send(OPENED.kind, &own.to_bytes())?;
        channel.flush()?;
    }
    bytes.resize(BitVec::byte_len(own.len()), 0);
    let receive = |channel: &mut Channel| {
        channel.recv_into(OPENED.kind, bytes)?;
        BitVec::from_bytes(own.len(), bytes)
            .ok_or_else(|| Error::misbehaved(channel.peer(), OPENED.check))
    };
    channels.iter_mut().map(receive).collect()
}

/// For each peer the digests of the MACs on the own d, and of those that its d should have.
type Digests = Vec<[[u8; 32]; 2]>;

/// One thread's part of the sums.
struct Summing<'a> {
    /// The word of bits that its first bucket's are in.
    first: usize,
    members: &'a [u32],
    /// The own bits of the products, still without d.
    products: &'a mut [u64],
    /// Of tied buckets, for each peer, y of the heads of all threads.
    heads: &'a [Towards],
    /// For each peer where MACs and keys of x, y and z go. Of tied buckets y is absent, and their heads' x and z are there.
    made: Vec<[Option<[&'a mut [Block]; 2]>; 3]>,
}

impl Summing<'_> {
    fn run(
        &mut self,
        of: &Combine<'_>,
        (bits, theirs): (&Bits, &[BitVec]),
        Waiting(waiting): &mut Waiting,
    ) -> Digests {
        let (size, others) = (of.batch.thrown(), of.others());
        waiting.resize_with(self.made.len(), Default::default);
        let digest = |_: &_| [exchange::digest(), exchange::digest()];
        let mut digests: Vec<[BlockHasher; 2]> = waiting.iter().map(digest).collect();
        for first in (0..self.members.len() / size).step_by(PIECE) {
            let rest = &self.members[first * size..];
            let members = &rest[..rest.len().min(PIECE * size)];
            let word = self.first + first / PIECE;
            let bits_from = word * others;
            self.products[first / PIECE] ^=
                products(&bits.factors.words()[bits_from..], &bits.d.words()[bits_from..], others);
            for (peer, waiting) in waiting.iter_mut().enumerate() {
                let [_, expected] = &*waiting;
                let already = expected.len();
                let more = already + members.len() / size * others;
                for macs in &mut *waiting {
                    macs.resize(more, Block::ZERO);
                }
                let opened = waiting.each_mut().map(|macs| &mut macs[already..]);
                let piece = first..first + members.len() / size;
                let heads = self.heads.get(peer).map(|Towards { macs, keys }| {
                    let before = PIECE * self.first;
                    [macs, keys].map(|row| &row[before + piece.start..before + piece.end])
                });
                let buckets = Buckets {
                    members,
                    size,
                    heads,
                    d: &bits.d.words()[bits_from..],
                    corrected: bits.corrections.words()[word],
                    correction: of.leaky.correcting(peer),
                    // The first peer's turn asks for the records of all.
                    ahead: if peer == 0 { asked_for(rest, size) } else { &[] },
                };
                let made = self.made[peer].each_mut().map(|made| {
                    made.as_mut().map(|made| made.each_mut().map(|row| &mut row[piece.clone()]))
                });
                sum_buckets(of.leaky.records(), peer, &buckets, &mut BucketSums { made, opened });
                let [own, expected] = waiting;
                add_key_where(&mut expected[already..], &theirs[peer], PIECE * bits_from, of.delta);
                if own.len() >= HASHED || members.len() == rest.len() {
                    for (digest, macs) in digests[peer].iter_mut().zip([own, expected]) {
                        digest.update(macs);
                        macs.clear();
                    }
                }
            }
        }
        digests.into_iter().map(|both| both.map(BlockHasher::finish)).collect()
    }
}

/// The triples whose records are asked for while the first piece of `rest` is summed up.
fn asked_for(rest: &[u32], size: usize) -> &[u32] {
    let ahead = rest.get(PREFETCH * size..).unwrap_or_default();
    &ahead[..ahead.len().min(PIECE * size)]
}

/// Compares digests of MACs with all peers: of all threads' digests, in their order.
fn check(channels: &mut [Channel], parts: &[Digests]) -> Result<()> {
    let mut expected = Vec::with_capacity(channels.len());
    for (peer, channel) in channels.iter_mut().enumerate() {
        let [own, theirs] = [0, 1].map(|side| {
            let mut all = blake3::Hasher::new_derive_key("symbolon bucketing MACs 1");
            for digests in parts {
                all.update(&digests[peer][side]);
            }
            *all.finalize().as_bytes()
        });
        channel.send(MACS, &own)?;
        channel.flush()?;
        expected.push(theirs);
    }
    for (channel, expected) in channels.iter_mut().zip(expected) {
        if !same_digest(&channel.recv_array::<32>(MACS)?, &expected) {
            return Err(Error::misbehaved(channel.peer(), OPENED.check));
        }
    }
    Ok(())
}

/// The shares that buckets make, each with what stands in its place among x, y and z: y of tied ones is their head's.
fn made<T>(
    Triples { a, b, c }: &mut Triples,
    tied: bool,
    with: [T; 3],
) -> impl Iterator<Item = (&mut Shares, T)> {
    let all = [Some(a), Some(b).filter(|_| !tied), Some(c)].into_iter().zip(with);
    all.filter_map(|(shares, with)| Some((shares?, with)))
}
