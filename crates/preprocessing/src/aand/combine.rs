//! Combines leaky triples into good ones by bucketing: Yang–Wang–Zhang 2020, Fig. 16.
//!
//! The leaky triples of a batch are streams. A coin shifts each stream but the first, and so
//! assigns the triples to buckets (`shifts`); it is tossed after all triples are fixed. In each
//! bucket the first triple absorbs the others:
//!
//! ```text
//! d = Open(⟨y_1⟩ ⊕ ⟨y_k⟩),   ⟨x⟩ ⊕= ⟨x_k⟩,   ⟨z⟩ ⊕= ⟨z_k⟩ ⊕ d·⟨x_k⟩,   ⟨y⟩ = ⟨y_1⟩
//! ```
//!
//! The first triple of bucket k, its *anchor*, is number k of the batch. It is made with a given or
//! fresh share of y. The bucket's triple has the anchor's ⟨y⟩, and the fresh y_k masks d. Anchors
//! are generated directly in the output, where the sums will be.
//!
//! All d of a batch are opened at once: first the bits, then a sum of their MACs, see `mac_check`.
//! Nothing is computed from the bits until those sums are verified: a peer that could lie about one
//! d unnoticed would learn a share of a chosen triple at a risk of 1/2, and 2^-ρ would become 2^-B.
//!
//! # Two checks on the same messages
//! The check of the leaky triples (`laand/check.rs`) sends masked V, then commitments, then what
//! they open. The bits d go with the masked V, and the sums of their MACs with the commitments. So
//! d are opened before it is known that all z are right. They reveal nothing in either case: an
//! honest party's share of d is masked by its bit of y_k, which is used once, and of which nothing
//! leaks (`docs/proofs/leaky-ands.md#triples-on-given-shares`). The receiver knows the right sum of
//! MACs before it comes. A cheater that has seen d knows no more about x, and so passes the check
//! with the same probability. Products with d are summed when both checks have passed.
//!
//! # Memory
//! Each stream is read once, when all d are known, a run of consecutive triples at a time. The MACs
//! and keys of its y are only summed, with coefficients. Bits are handled apart, a word at a time.
//!
//! # Threads
//! Each thread handles some of the buckets.

use std::ops::Range;

use symbolon_primitives::block_xor::xor_blocks;
use symbolon_primitives::{BitVec, Block, Coefficients, Delta, xor_key_masked, xor_masked};
use symbolon_transport::{Channel, Error, Result, SessionId};

use crate::{
    AuthShares, PeerIndex, Triples,
    aand::{
        mac_check::{self, MacSums},
        shifts::{Stream, shifted},
    },
    bucketing::Batch,
    checks,
    laand::{Opened, Right},
    messages::{BUCKETING_D, BUCKETING_MACS},
    open_bits::OpeningLabels,
    threads,
};

/// The opening of the bits d, and its check.
pub const OPENED: OpeningLabels = OpeningLabels { kind: BUCKETING_D, check: checks::BUCKETING };

/// A batch of leaky triples to be combined, and the number of threads, which is the same for all
/// parties.
pub(crate) struct Combine<'a, 'c> {
    pub leaky: Opened<'a, 'c>,
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

/// The number of buckets summed at a time. What they read and write stays in the caches.
const PIECE: usize = 512;

/// The bits from which the buckets are summed.
struct BucketBits {
    /// This party's bits of all d, stream by stream, in the order of the buckets.
    d: BitVec,
    /// This party's bits of x of each stream, in the order of the buckets.
    factors: Vec<BitVec>,
    /// For each bucket, how often z lacks its correction, modulo 2.
    corrections: BitVec,
}

impl Combine<'_, '_> {
    /// Checks the leaky triples, and combines them in the buckets that their coin draws.
    ///
    /// Check: bucketing | `bucketing MAC`: a random sum of the MACs of opened bits | lies in
    /// openings | 2^-63; 2^-127 at ρ = 64 and 80
    ///
    /// # Errors
    /// `PeerMisbehaved` if a leaky triple is wrong or an opened d has no valid MAC; `Transport` if
    /// a connection is lost.
    pub fn run(mut self, channels: &mut [Channel]) -> Result<Triples> {
        let mut triples = self.leaky.take_output();
        let (seed, coin) = self.leaky.take_buckets()?.into_block_and_mark();
        let streams = shifted(self.leaky.batch(), seed);
        let keys = &mut triples.a.towards[0].keys;
        channels[0].tamper_state("bucketing: keys of the heads", Block::as_bytes_mut(keys));
        let mut bits = self.sum_bits(&streams, &mut triples);
        let check = self.leaky.send_v(channels)?;
        let own = send_bits(channels, &bits.d)?;
        let check = check.share(channels)?;
        let opened = OpenedBits { theirs: receive_bits(channels, bits.d.len())?, own };
        let macs = self.mac_sums(channels, &streams, &coin, &opened, &triples.b)?;
        for (channel, [own, _]) in channels.iter_mut().zip(&macs) {
            channel.send(BUCKETING_MACS, &own.to_bytes())?;
        }
        let right = check.check(channels, |channels| verify(channels, &macs))?;
        for theirs in &opened.theirs {
            bits.d.xor_assign(theirs);
        }
        self.sum(right, &streams, &bits, &mut triples)?;
        Ok(triples)
    }

    /// Returns the sums of the opened bits' MACs, for each peer.
    fn mac_sums(
        &self,
        channels: &[Channel],
        streams: &[Stream],
        coin: &[u8; 32],
        OpenedBits { own, theirs }: &OpenedBits,
        anchors: &AuthShares,
    ) -> Result<Vec<MacSums>> {
        let chi = |(channel, theirs): (&Channel, &BitVec)| {
            let opened = [(channel.me(), &own[..]), (channel.peer(), &theirs.to_bytes())];
            mac_check::coefficients(self.session, self.number, coin, opened)
        };
        let chi: Vec<Coefficients> = channels.iter().zip(theirs).map(chi).collect();
        let n = self.leaky.batch().triples;
        let theirs: Vec<Vec<BitVec>> = theirs.iter().map(|bits| by_stream(bits, n)).collect();
        let opening = mac_check::MacCheck {
            n,
            streams,
            y_shares: self.leaky.streams().y(),
            anchors: &anchors.towards,
            theirs: &theirs,
            chi: &chi,
            delta: self.delta,
        };
        opening.mac_sums(self.threads)
    }

    /// Sums this party's bits except the products with d.
    ///
    /// Paper: YWZ20, Fig. 16, 2b | the buckets' sums
    fn sum_bits(&self, streams: &[Stream], Triples { a, b, c }: &mut Triples) -> BucketBits {
        let n = self.leaky.batch().triples;
        let [x, y, z, corrected] = self.leaky.bits();
        let mut bits = BucketBits {
            d: BitVec::with_capacity(n * streams.len()),
            factors: Vec::with_capacity(streams.len()),
            corrections: corrected.slice(0..n),
        };
        a.bits.xor_assign(&x.slice(0..n));
        c.bits.xor_assign(&z.slice(0..n));
        for stream in streams {
            let mut d = stream.bits(y);
            d.xor_assign(&b.bits);
            bits.d.extend_from(&d);
            let factors = stream.bits(x);
            a.bits.xor_assign(&factors);
            bits.factors.push(factors);
            c.bits.xor_assign(&stream.bits(z));
            bits.corrections.xor_assign(&stream.bits(corrected));
        }
        bits
    }

    /// Sums MACs and keys of triples that are right, and adds the products with the opened d, whose
    /// MACs have been verified.
    ///
    /// Paper: YWZ20, Fig. 16, 2b
    fn sum(
        &self,
        _: Right,
        streams: &[Stream],
        bits: &BucketBits,
        triples: &mut Triples,
    ) -> Result<()> {
        let Triples { a, c, .. } = triples;
        let n = self.leaky.batch().triples;
        let d = by_stream(&bits.d, n);
        for (factors, d) in bits.factors.iter().zip(&d) {
            let words = factors.words().iter().zip(d.words()).map(|(x, d)| x & d);
            c.bits.words_mut().iter_mut().zip(words).for_each(|(sum, product)| *sum ^= product);
        }
        let size = n.div_ceil(self.threads).next_multiple_of(PIECE);
        let mut work: Vec<SumPart<'_>> = (0..n)
            .step_by(size)
            .map(|first| SumPart {
                buckets: first..(first + size).min(n),
                sums: Vec::with_capacity(a.towards.len()),
            })
            .collect();
        for (x, z) in a.towards.iter_mut().zip(&mut c.towards) {
            let rows = [&mut x.macs, &mut x.keys, &mut z.macs, &mut z.keys];
            let mut parts = rows.map(|row| row.chunks_mut(size));
            for part in &mut work {
                part.sums.push(parts.each_mut().map(|parts| parts.next().expect("a row for each")));
            }
        }
        threads::each(work, |mut part| part.run(self, streams, (&d, &bits.corrections))).map(|_| ())
    }
}

/// Splits bits into those of each stream of `n`.
fn by_stream(bits: &BitVec, n: usize) -> Vec<BitVec> {
    (0..bits.len()).step_by(n).map(|first| bits.slice(first..first + n)).collect()
}

/// The bits d before they are combined.
struct OpenedBits {
    /// This party's bits, in the form in which they were sent.
    own: Vec<u8>,
    /// Each peer's bits.
    theirs: Vec<BitVec>,
}

/// Sends this party's d to all peers; returns them as sent.
///
/// Paper: YWZ20, Fig. 16, 2a | d opened
fn send_bits(channels: &mut [Channel], d: &BitVec) -> Result<Vec<u8>> {
    let own = d.to_bytes();
    for channel in channels.iter_mut() {
        channel.send(OPENED.kind, &own)?;
        channel.flush()?;
    }
    Ok(own)
}

/// Receives the `n` bits of every peer.
fn receive_bits(channels: &mut [Channel], n: usize) -> Result<Vec<BitVec>> {
    let mut bytes = vec![0; BitVec::byte_len(n)];
    let receive = |channel: &mut Channel| {
        channel.recv_into(OPENED.kind, &mut bytes)?;
        BitVec::from_bytes(n, &bytes).ok_or_else(|| Error::misbehaved(channel.peer(), OPENED.check))
    };
    channels.iter_mut().map(receive).collect()
}

/// Receives the peers' sums of MACs, and compares them with those expected.
fn verify(channels: &mut [Channel], macs: &[MacSums]) -> Result<()> {
    for (channel, [_, expected]) in channels.iter_mut().zip(macs) {
        let theirs = Block::from_bytes(channel.recv_array(BUCKETING_MACS)?);
        if !theirs.ct_eq(expected) {
            return Err(Error::misbehaved(channel.peer(), OPENED.check));
        }
    }
    Ok(())
}

/// One thread's part of the sums.
struct SumPart<'a> {
    buckets: Range<usize>,
    /// For each peer, MACs and keys of x, then of z: the anchors', to which those of the streams
    /// are added.
    sums: Vec<[&'a mut [Block]; 4]>,
}

impl SumPart<'_> {
    /// Adds each stream's triples, given the opened d by stream, and the buckets whose keys for z
    /// lack a correction.
    fn run(&mut self, of: &Combine<'_, '_>, streams: &[Stream], bits: (&[BitVec], &BitVec)) {
        let (d, corrections) = bits;
        let Range { start, end } = self.buckets;
        for first in (start..end).step_by(PIECE) {
            let piece = first..(first + PIECE).min(end);
            for (peer, sums) in PeerIndex::all(self.sums.len()).zip(&mut self.sums) {
                let keys = &mut sums[3][piece.start - start..piece.end - start];
                xor_key_masked(keys, corrections, first, of.leaky.correction(peer));
            }
            for (stream, d) in streams.iter().zip(d) {
                for (run, from) in stream.runs(piece.clone()) {
                    let d = d.slice(run.clone());
                    for (peer, sums) in self.sums.iter_mut().enumerate() {
                        let rows = of.leaky.streams().rows(peer);
                        let [x_macs, x_keys, z_macs, z_keys] =
                            rows.map(|row| &row[from..][..run.len()]);
                        let sums = sums.each_mut();
                        let [of_x_macs, of_x_keys, of_z_macs, of_z_keys] =
                            sums.map(|row| &mut row[run.start - start..run.end - start]);
                        xor_blocks(of_x_macs, x_macs);
                        xor_blocks(of_x_keys, x_keys);
                        xor_blocks(of_z_macs, z_macs);
                        xor_blocks(of_z_keys, z_keys);
                        xor_masked(of_z_macs, &d, 0, x_macs);
                        xor_masked(of_z_keys, &d, 0, x_keys);
                    }
                }
            }
        }
    }
}
