//! Combines leaky triples into good ones by bucketing: Yang–Wang–Zhang 2020, Fig. 16.
//!
//! A permutation from a coin toss shuffles the leaky triples of a batch into buckets; the coin is
//! tossed after all triples are fixed and checked. In each bucket the first triple absorbs the
//! others:
//!
//! ```text
//! d = Open(⟨y_1⟩ ⊕ ⟨y_k⟩),   ⟨x⟩ ⊕= ⟨x_k⟩,   ⟨z⟩ ⊕= ⟨z_k⟩ ⊕ d·⟨x_k⟩,   ⟨y⟩ = ⟨y_1⟩
//! ```
//!
//! In an *anchored* batch ([`Batch::anchored`]) the first triple of bucket k, its anchor, is number
//! k of the batch. It is made with a given or fresh share of y, and only the other triples are
//! shuffled; [`crate::bucketing`] gives the cost. The bucket's triple has the anchor's ⟨y⟩, and the
//! fresh y_k masks d. Anchors are generated directly in the output, where the sums will be.
//!
//! All d of a batch are opened at once: first the bits, then a sum of their MACs, see `mac_check`.
//! Values computed from the bits in the meantime are not released until those sums are verified: a
//! peer that could lie about one d unnoticed would learn a share of a chosen triple at a risk of
//! 1/2, and 2^-ρ would become 2^-B.
//!
//! # Memory
//! The leaky triples of a bucket are scattered in memory. Each is visited once, when all d are
//! known; this visit reads its x and z, one cache line per peer. Before that only the bits are
//! gathered, one byte per triple. The MACs and keys of its y are never looked up.
//!
//! # Threads
//! Each thread handles some of the buckets.

use symbolon_interaction::toss_coin;
use symbolon_primitives::bucket_kernels::{Buckets, sum_buckets};
use symbolon_primitives::{BitVec, Block, Challenge, Coefficients, Delta, Prg, rows_of_bytes};
use symbolon_transport::{Channel, Error, Result, SessionId};
use zeroize::Zeroizing;

use crate::{
    AuthShares, PeerAuth, PeerIndex, Triples,
    aand::{
        mac_check::{self, MacSums},
        shuffle::shuffled,
    },
    bucketing::Batch,
    checks,
    laand::{Checked, D_BIT, X_BIT, Y_BIT, Z_BIT},
    messages::{BUCKETING_D, BUCKETING_MACS},
    open_bits::OpeningLabels,
    threads,
};

/// The opening of the bits d, and its check.
pub const OPENED: OpeningLabels = OpeningLabels { kind: BUCKETING_D, check: checks::BUCKETING };

/// A batch of leaky triples to be combined, and the number of threads, which is the same for all
/// parties.
pub(crate) struct Combine<'a> {
    pub leaky: Checked<'a>,
    pub session: &'a SessionId,
    /// The number of this batch in the session.
    pub number: u64,
    pub delta: &'a Delta,
    pub threads: usize,
}

/// Memory that is kept between batches, because the first use of new memory is slow.
#[derive(Default)]
pub(crate) struct Scratch {
    spare: Triples,
}

impl Scratch {
    /// Keeps the memory of used triples for the next batch.
    pub(crate) fn recycle(&mut self, triples: Triples) {
        self.spare = triples;
    }

    /// Returns room for the triples of a batch among this party and `peers` others. It contains the
    /// y in `given`, if any, and the shares in `onto`, if any, to which the products are added. The
    /// rest of the memory is overwritten later.
    pub(crate) fn room(
        &mut self,
        batch: Batch,
        peers: usize,
        given: Option<AuthShares>,
        onto: Option<AuthShares>,
    ) -> Triples {
        let Triples { a, b, c } = std::mem::take(&mut self.spare);
        let room = |mut shares: AuthShares| {
            shares.make_room(batch.triples, peers);
            shares
        };
        let or_room = |given: Option<AuthShares>, spare| given.unwrap_or_else(|| room(spare));
        Triples { a: room(a), b: or_room(given, b), c: or_room(onto, c) }
    }
}

/// How many buckets ahead memory is prefetched.
const PREFETCH: usize = 32;

/// The number of buckets summed at a time for each peer: one word of each bit vector. Their records
/// stay in the L1 cache.
const PIECE: usize = 64;

/// The bits from which the buckets are summed.
struct BucketBits {
    /// This party's bits of all x_k except the first of each bucket.
    factors: Zeroizing<BitVec>,
    /// This party's bits of all d, and later the opened d.
    d: BitVec,
    /// For each bucket, how often z lacks its correction, modulo 2.
    corrections: BitVec,
}

impl Combine<'_> {
    /// Tosses the coin that assigns the triples to buckets, and combines them.
    ///
    /// # Errors
    /// `PeerMisbehaved` if the coin toss fails or an opened d has no valid MAC; `Transport` if a
    /// connection is lost.
    pub fn run(self, channels: &mut [Channel], prg: &mut Prg) -> Result<Triples> {
        let coin = toss_coin(channels, self.session, 2 * self.number + 1, prg)?;
        self.run_with(channels, coin)
    }

    /// Combines the triples in the buckets that `coin` draws.
    ///
    /// Check: bucketing | `bucketing MAC`: a random sum of the MACs of opened bits | lies in
    /// openings | 2^-63; 2^-127 at ρ = 64 and 80, and in batches without anchored triples
    pub(crate) fn run_with(mut self, channels: &mut [Channel], coin: Challenge) -> Result<Triples> {
        let mut triples = self.leaky.take_output();
        let batch = self.leaky.batch();
        let (seed, coin) = coin.into_block_and_mark();
        let order = shuffled(batch, seed, self.threads)?;
        if batch.anchored {
            let keys = &mut triples.a.towards[0].keys;
            channels[0].tamper_state("bucketing: keys of the heads", Block::as_bytes_mut(keys));
        } else {
            self.start_sums(&order, &mut triples);
        }
        let mut bits = self.gather(&order, &mut triples)?;
        let opened = exchange_bits(channels, &bits.d)?;
        let macs = self.mac_sums(channels, &order, &coin, &opened, &triples.b)?;
        for (channel, [own, _]) in channels.iter_mut().zip(&macs) {
            channel.send(BUCKETING_MACS, &own.to_bytes())?;
            channel.flush()?;
        }
        for theirs in &opened.theirs {
            bits.d.xor_assign(theirs);
        }
        self.sum(&order, &bits, &mut triples)?;
        for (channel, [_, expected]) in channels.iter_mut().zip(&macs) {
            let theirs = Block::from_bytes(channel.recv_array(BUCKETING_MACS)?);
            if !theirs.ct_eq(expected) {
                return Err(Error::misbehaved(channel.peer(), OPENED.check));
            }
        }
        Ok(triples)
    }

    /// Starts the sums of a batch without anchors: y with the first y of each bucket, x and z with
    /// zero.
    fn start_sums(&self, order: &[u32], Triples { a, b, c }: &mut Triples) {
        a.clear_auths(0);
        c.clear_auths(0);
        for (peer, PeerAuth { macs, keys }) in b.towards.iter_mut().enumerate() {
            let firsts = order.iter().step_by(self.leaky.batch().bucket);
            for ((mac, key), &first) in macs.iter_mut().zip(keys).zip(firsts) {
                [*mac, *key] = self.leaky.y_shares().get(first as usize, peer);
            }
        }
    }

    /// Returns the sums of the opened bits' MACs, for each peer.
    fn mac_sums(
        &self,
        channels: &[Channel],
        order: &[u32],
        coin: &[u8; 32],
        OpenedBits { own, theirs }: &OpenedBits,
        firsts: &AuthShares,
    ) -> Result<Vec<MacSums>> {
        let chi = |(channel, theirs): (&Channel, &BitVec)| {
            let opened = [(channel.me(), &own[..]), (channel.peer(), &theirs.to_bytes())];
            mac_check::coefficients(self.session, self.number, coin, opened)
        };
        let chi: Vec<Coefficients> = channels.iter().zip(theirs).map(chi).collect();
        let opening = mac_check::MacCheck {
            batch: self.leaky.batch(),
            order,
            y_shares: self.leaky.y_shares(),
            firsts: &firsts.towards,
            theirs,
            chi: &chi,
            delta: self.delta,
        };
        opening.mac_sums(self.threads)
    }

    /// Returns the number of words per thread in a bit vector with one bit per bucket.
    fn words(&self) -> usize {
        self.leaky.batch().triples.div_ceil(PIECE).div_ceil(self.threads)
    }

    /// Returns how many triples of each bucket come after the first.
    fn others(&self) -> usize {
        self.leaky.batch().bucket - 1
    }

    /// Returns the shuffled triples, thread by thread.
    fn members<'a>(&self, order: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
        order.chunks(self.words() * PIECE * self.leaky.batch().shuffled())
    }

    /// Gathers all bits, and sums this party's bits except the products with d.
    ///
    /// Paper: YWZ20, Fig. 16, 2b | the buckets' sums
    fn gather(&self, order: &[u32], triples: &mut Triples) -> Result<BucketBits> {
        let (n, words, others) = (self.leaky.batch().triples, self.words(), self.others());
        let mut bits = BucketBits {
            factors: Zeroizing::new(BitVec::zeros(n * others)),
            d: BitVec::zeros(n * others),
            corrections: BitVec::zeros(n),
        };
        let factors = bits.factors.words_mut().chunks_mut(words * others);
        let d = bits.d.words_mut().chunks_mut(words * others);
        let corrections = bits.corrections.words_mut().chunks_mut(words);
        let gathering = |((factors, d), corrections)| GatherPart {
            factors,
            d,
            sums: vec![(D_BIT, corrections)],
        };
        let mut parts: Vec<_> = factors.zip(d).zip(corrections).map(gathering).collect();
        for (shares, bit) in outputs(triples, self.leaky.batch().anchored, [X_BIT, Y_BIT, Z_BIT]) {
            for (part, words) in parts.iter_mut().zip(shares.bits.words_mut().chunks_mut(words)) {
                part.sums.push((bit, words));
            }
        }
        let (anchors, shuffled) = self.leaky.packed().split_at(self.leaky.batch().anchors());
        let size = words * PIECE;
        let parts = self.members(order).zip(parts).zip((0..).step_by(size));
        threads::each(parts, |((members, mut part), first)| {
            // This is empty in a batch without anchors.
            let anchors = &anchors[first.min(anchors.len())..];
            part.run(anchors, shuffled, members, self.leaky.batch());
        })?;
        Ok(bits)
    }

    /// Sums MACs and keys.
    ///
    /// Paper: YWZ20, Fig. 16, 2b
    fn sum(
        &self,
        order: &[u32],
        bits: &BucketBits,
        Triples { a, c, .. }: &mut Triples,
    ) -> Result<()> {
        let words = self.words();
        let AuthShares { bits: products, towards: c } = c;
        let mut work: Vec<SumPart<'_>> = self
            .members(order)
            .zip(products.words_mut().chunks_mut(words))
            .zip((0..).step_by(words))
            .map(|((members, products), first)| SumPart {
                first,
                members,
                products,
                sums: Vec::with_capacity(c.len()),
            })
            .collect();
        for (x, z) in a.towards.iter_mut().zip(c) {
            let rows = [&mut x.macs, &mut x.keys, &mut z.macs, &mut z.keys];
            let mut parts = rows.map(|row| row.chunks_mut(words * PIECE));
            for part in &mut work {
                part.sums.push(parts.each_mut().map(|parts| parts.next().expect("a row for each")));
            }
        }
        threads::each(work, |mut part| part.run(self, bits)).map(|_| ())
    }
}

/// One thread's part of the bits.
struct GatherPart<'a> {
    factors: &'a mut [u64],
    d: &'a mut [u64],
    /// The bit vectors to be summed, each with its bit in a packed triple.
    sums: Vec<(u8, &'a mut [u64])>,
}

impl GatherPart<'_> {
    /// Gathers the bits from the packed anchors, starting at the first bucket (empty if there are
    /// none), and from all packed shuffled triples.
    fn run(&mut self, anchors: &[u8], packed: &[u8], members: &[u32], batch: Batch) {
        let (others, size) = (batch.bucket - 1, batch.shuffled());
        let mut anchors = anchors.iter();
        let mut sums = Zeroizing::new([0; PIECE]);
        let mut bytes = Zeroizing::new(vec![0; PIECE * others]);
        let mut rows = Zeroizing::new(vec![[0; 8]; batch.bucket]);
        for (word, members) in members.chunks(PIECE * size).enumerate() {
            sums.fill(0);
            bytes.fill(0);
            let places = sums.iter_mut().zip(bytes.chunks_exact_mut(others));
            for (members, (sum, others)) in members.chunks_exact(size).zip(places) {
                let (first, members) = match anchors.next() {
                    Some(anchor) => (*anchor, members),
                    None => (packed[members[0] as usize], &members[1..]),
                };
                *sum = gather(packed, first, members, others);
            }
            let (of_sums, of_others) = rows.split_at_mut(1);
            rows_of_bytes(&*sums, of_sums);
            rows_of_bytes(&bytes, of_others);
            for (bit, sums) in &mut self.sums {
                sums[word] ^= of_sums[0][bit_index(*bit)];
            }
            let factors = self.factors[word * others..].iter_mut();
            let d = self.d[word * others..].iter_mut();
            for ((factors, d), rows) in factors.zip(d).zip(of_others) {
                (*factors, *d) = (rows[bit_index(X_BIT)], rows[bit_index(Y_BIT)]);
            }
        }
    }
}

/// Returns the index of a packed bit.
const fn bit_index(bit: u8) -> usize {
    bit.trailing_zeros() as usize
}

/// Returns the bits of a bucket's sum without products. Writes to `others`, for each member but the
/// first, its x and, in place of y, this party's bit of d.
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

/// Returns the sums of the products d·x_k of 64 buckets. Each bucket has `others` consecutive bits
/// of d and x_k.
fn products(factors: &[u64], d: &[u64], others: usize) -> u64 {
    let mut sums = 0;
    let (mut bucket, mut member) = (0, 0);
    for product in factors.iter().zip(d).map(|(x, d)| x & d).take(others) {
        for bit in 0..64 {
            sums ^= (product >> bit & 1) << bucket;
            member += 1;
            if member == others {
                (bucket, member) = (bucket + 1, 0);
            }
        }
    }
    sums
}

/// The bits d before they are combined.
struct OpenedBits {
    /// This party's bits, in the form in which they were sent.
    own: Vec<u8>,
    /// Each peer's bits.
    theirs: Vec<BitVec>,
}

/// Sends this party's d to all peers, and receives theirs.
///
/// Paper: YWZ20, Fig. 16, 2a | d opened
fn exchange_bits(channels: &mut [Channel], d: &BitVec) -> Result<OpenedBits> {
    let own = d.to_bytes();
    for channel in channels.iter_mut() {
        channel.send(OPENED.kind, &own)?;
        channel.flush()?;
    }
    let mut bytes = vec![0; own.len()];
    let receive = |channel: &mut Channel| {
        channel.recv_into(OPENED.kind, &mut bytes)?;
        BitVec::from_bytes(d.len(), &bytes)
            .ok_or_else(|| Error::misbehaved(channel.peer(), OPENED.check))
    };
    let theirs = channels.iter_mut().map(receive).collect::<Result<_>>()?;
    Ok(OpenedBits { own, theirs })
}

/// One thread's part of the sums.
struct SumPart<'a> {
    /// The index of the first bucket's word in the bit vectors.
    first: usize,
    members: &'a [u32],
    /// This party's bits of the products, still without d.
    products: &'a mut [u64],
    /// For each peer, MACs and keys of x, then of z, to which those of the members are added.
    sums: Vec<[&'a mut [Block]; 4]>,
}

impl SumPart<'_> {
    fn run(&mut self, of: &Combine<'_>, bits: &BucketBits) {
        let (size, others) = (of.leaky.batch().shuffled(), of.others());
        for first in (0..self.members.len() / size).step_by(PIECE) {
            let rest = &self.members[first * size..];
            let members = &rest[..rest.len().min(PIECE * size)];
            let word = self.first + first / PIECE;
            let bits_from = word * others;
            self.products[first / PIECE] ^=
                products(&bits.factors.words()[bits_from..], &bits.d.words()[bits_from..], others);
            for (peer, sums) in PeerIndex::all(self.sums.len()).zip(&mut self.sums) {
                let buckets = Buckets {
                    members,
                    size,
                    absorbing: size > others,
                    d: &bits.d.words()[bits_from..],
                    corrected: bits.corrections.words()[word],
                    correction: of.leaky.correction(peer),
                    // The first peer's turn prefetches the records for all peers.
                    ahead: if peer.get() == 0 { asked_for(rest, size) } else { &[] },
                };
                let piece = first..first + members.len() / size;
                let sums = sums.each_mut().map(|row| &mut row[piece.clone()]);
                sum_buckets(of.leaky.records(), peer.get(), &buckets, sums);
            }
        }
    }
}

/// Returns the triples whose records are prefetched while the first piece of `rest` is summed.
fn asked_for(rest: &[u32], size: usize) -> &[u32] {
    let ahead = rest.get(PREFETCH * size..).unwrap_or_default();
    &ahead[..ahead.len().min(PIECE * size)]
}

/// Returns the shares that are summed within buckets, each with its entry of `with`. In an anchored
/// batch y is the anchor's and is not summed.
fn outputs<T>(
    Triples { a, b, c }: &mut Triples,
    anchored: bool,
    with: [T; 3],
) -> impl Iterator<Item = (&mut AuthShares, T)> {
    let all = [Some(a), Some(b).filter(|_| !anchored), Some(c)].into_iter().zip(with);
    all.filter_map(|(shares, with)| Some((shares?, with)))
}
