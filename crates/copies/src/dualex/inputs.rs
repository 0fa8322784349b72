//! The offline part of the inputs: each party fetches the labels of its encoding in the peer's
//! circuits (§5.2, §6.1; Fig. 15, "Offline Inputs").
//!
//! A party has a string c_j of OT choices for each of its circuits. In a bucket, the OTs of its B
//! circuits are *aggregated* into one OT with the choices c_1 of the first circuit: the party sends
//! δ_j = c_1 ⊕ c_j, and the OT sender masks the labels for value h of position k with
//!
//! ```text
//! ⊕_j m^j_{h ⊕ δ_j[k]}[k].
//! ```
//!
//! If the party sends a wrong bit of a δ_j, it lacks a share of both masks and gets no label at
//! this position. The labels it gets encode r = c_1. Later M·c_1 masks its input, and the same δ_j
//! determine in which order the labels of its own circuits must be opened.
//!
//! A garbler may send a wrong label for one of the two values and see whether the peer aborts: it
//! learns a bit of r at a risk of 1/2. The encoding makes that useless (`probe_matrix`). The labels
//! are checked against the commitments now, long before there are inputs.

use std::ops::Range;

use symbolon_cutchoose::draw::Buckets;
use symbolon_engine::decode_bits;
use symbolon_primitives::{BitVec, Block, TweakedHash, derive_block, same_digest};
use symbolon_transport::{Error, Result};
use zeroize::Zeroizing;

use super::{
    checks,
    execution::Bucket,
    garble::{Leaf, LeafHash, PairDigest},
    messages,
    ot::Blocks,
    preparation::{Ots, Preparation},
};

/// What is needed to fetch the labels of the encodings in all buckets.
pub(super) struct Inputs<'a> {
    ots: Ots,
    /// This party's buckets, and the peer's.
    buckets: [&'a Buckets; 2],
    /// The encoded bits of this party and of the peer.
    encoded: [usize; 2],
    /// B.
    size: usize,
    /// The peer's differences δ_j.
    differences: BitVec,
}

/// Exchanges the differences δ_j for all `[own, peer's]` buckets.
///
/// Paper: RR16, §5.2, §6.1; Fig. 15, Offline Inputs | aggregated OTs, labels of the encoding
///
/// # Errors
/// `PeerMisbehaved` when the peer's differences are malformed; `Transport`.
pub(super) fn announce<'a>(
    offline: &mut Preparation<'_>,
    ots: Ots,
    buckets: [&'a Buckets; 2],
) -> Result<Inputs<'a>> {
    let me = offline.me();
    let encoded = [me, 1 - me].map(|party| offline.matrices[party].encoded());
    let (n, size) = (offline.params.executions(), offline.params.bucket());
    let mut inputs = Inputs { ots, buckets, encoded, size, differences: BitVec::zeros(0) };
    let mut own = BitVec::with_capacity(n * (size - 1) * encoded[0]);
    for i in 0..n {
        let runs = inputs.runs(i, 0);
        let choices =
            |run: &Range<usize>| Zeroizing::new(inputs.ots.received.choices.slice(run.clone()));
        let first = choices(&runs[0]);
        for run in &runs[1..] {
            let mut difference = choices(run);
            difference.xor_assign(&first);
            own.extend_from(&difference);
        }
    }
    let channel = offline.channel();
    channel.send(messages::DIFFERENCES, &own.to_bytes())?;
    let bits = n * (size - 1) * encoded[1];
    let bytes = channel.recv(messages::DIFFERENCES, BitVec::byte_len(bits))?;
    inputs.differences = decode_bits(channel, bits, &bytes)?;
    Ok(inputs)
}

impl Inputs<'_> {
    /// Returns the OTs that have not been released.
    pub fn ots(&self) -> &Ots {
        &self.ots
    }

    /// Releases the OTs of the circuits of bucket `i`, whose labels have been fetched.
    pub fn release(&mut self, i: usize) {
        self.runs(i, 0).into_iter().for_each(|run| self.ots.received.release(run));
        self.runs(i, 1).into_iter().for_each(|run| self.ots.sent.release(run));
    }

    /// Returns the peer's circuits in bucket `i`.
    pub fn peers(&self, i: usize) -> &[u32] {
        self.buckets[1].bucket(i)
    }

    /// Returns the OT choices of the first circuit of own bucket `i`: the encoding r.
    pub fn choices(&self, i: usize) -> Zeroizing<BitVec> {
        Zeroizing::new(self.ots.received.choices.slice(self.runs(i, 0).swap_remove(0)))
    }

    /// Returns the ranges of the OTs of the circuits of bucket `i`: this party's circuits if
    /// `whose` is 0, the peer's if it is 1.
    fn runs(&self, i: usize, whose: usize) -> Vec<Range<usize>> {
        let bits = self.encoded[whose];
        let run = |j: &u32| *j as usize * bits..(*j as usize + 1) * bits;
        self.buckets[whose].bucket(i).iter().map(run).collect()
    }

    /// Returns the peer's differences for bucket `i`.
    fn differences(&self, i: usize) -> Vec<BitVec> {
        let bits = self.encoded[1];
        let start = |b: usize| (i * (self.size - 1) + b) * bits;
        (0..self.size - 1).map(|b| self.differences.slice(start(b)..start(b) + bits)).collect()
    }

    fn mask(&self, offline: &Preparation<'_>, sender: usize, bucket: u64) -> Mask {
        let session = &offline.net.session;
        let start = derive_block("symbolon dualex encoded 1", session, sender as u64);
        Mask { hash: TweakedHash::new(start), bucket, size: self.size }
    }

    /// Sends the masked labels of the peer's encoding in own bucket `i`.
    pub fn send(&self, offline: &mut Preparation<'_>, bucket: &mut Bucket, i: usize) -> Result<()> {
        let strings = sent_strings(&self.ots, &self.runs(i, 1), &self.differences(i));
        let message = self.mask(offline, offline.me(), bucket.number).labels(&strings, bucket);
        bucket.own.iter_mut().for_each(|circuit| circuit.encoded = Blocks::default());
        offline.channel().send(messages::ENCODED, Block::as_bytes(&message))
    }

    /// Receives the labels of this party's encoding in the peer's bucket `i`, checks and keeps
    /// them.
    pub fn receive(
        &self,
        offline: &mut Preparation<'_>,
        bucket: &mut Bucket,
        i: usize,
    ) -> Result<()> {
        let labels = self.labels(offline, bucket, i)?;
        check_labels(offline, bucket, &self.choices(i), &labels)?;
        keep_labels(offline, bucket, &labels);
        Ok(())
    }

    /// Receives the labels of this party's encoding in the peer's bucket `i`, for each circuit.
    pub fn labels(
        &self,
        offline: &mut Preparation<'_>,
        bucket: &mut Bucket,
        i: usize,
    ) -> Result<Vec<Blocks>> {
        let peer = 1 - offline.me();
        for (circuit, difference) in bucket.theirs.iter_mut().skip(1).zip(&self.differences(i)) {
            circuit.shift = offline.matrices[peer].decode(difference);
        }
        let mut masked = vec![Block::ZERO; 2 * self.size * self.encoded[0]];
        offline.channel().recv_into(messages::ENCODED, Block::as_bytes_mut(&mut masked))?;
        let strings = received_strings(&self.ots, &self.runs(i, 0));
        let mask = self.mask(offline, peer, bucket.number);
        let labels = mask.unmask(&strings, &self.choices(i), &masked);
        let of_circuit =
            |l: usize| Blocks::new(labels.iter().skip(l).step_by(self.size).copied().collect());
        Ok((0..self.size).map(of_circuit).collect())
    }
}

/// Returns both strings of each aggregated OT, as the sender has them.
///
/// Paper: RR16, §5.2, §6.1; Fig. 15, Offline Inputs
fn sent_strings(
    ots: &Ots,
    runs: &[Range<usize>],
    differences: &[BitVec],
) -> Zeroizing<Vec<[Block; 2]>> {
    let mut sums = ots.sent.pairs(runs[0].clone());
    for (run, difference) in runs[1..].iter().zip(differences) {
        let pairs = ots.sent.pairs(run.clone());
        for (k, (sum, [zero, one])) in sums.iter_mut().zip(pairs.iter()).enumerate() {
            let swap = (*zero ^ *one).select(difference.get(k));
            *sum = [sum[0] ^ *zero ^ swap, sum[1] ^ *one ^ swap];
        }
    }
    sums
}

/// Returns the chosen string of each aggregated OT, as the receiver has it.
fn received_strings(ots: &Ots, runs: &[Range<usize>]) -> Blocks {
    let mut sums = ots.received.messages(runs[0].clone());
    for run in &runs[1..] {
        let messages = ots.received.messages(run.clone());
        sums.iter_mut().zip(messages.iter()).for_each(|(sum, message)| *sum ^= *message);
    }
    sums
}

/// The masks of the labels of a bucket.
struct Mask {
    hash: TweakedHash,
    bucket: u64,
    /// B.
    size: usize,
}

impl Mask {
    /// Returns the tweak of the mask for position k and value h in the bucket's first circuit. The
    /// tweaks of the other circuits follow it.
    fn tweak(&self, k: usize, h: bool) -> u128 {
        let place = (2 * k as u128 + u128::from(h)) * self.size as u128;
        u128::from(self.bucket) << 64 | place
    }

    /// Returns the masked labels of this party's circuits, by position, circuit and value.
    fn labels(&self, strings: &[[Block; 2]], bucket: &Bucket) -> Vec<Block> {
        // By position, value and circuit, so that the tweaks count up.
        let repeated =
            strings.as_flattened().iter().flat_map(|s| std::iter::repeat_n(*s, self.size));
        let mut masks = Blocks::new(Vec::with_capacity(2 * self.size * strings.len()));
        masks.extend(repeated);
        self.hash.hash(self.tweak(0, false), 1, &mut masks);
        let mut message = Vec::with_capacity(masks.len());
        for (k, masks) in masks.chunks(2 * self.size).enumerate() {
            let (zeros, ones) = masks.split_at(self.size);
            for (circuit, (zero, one)) in bucket.own.iter().zip(zeros.iter().zip(ones)) {
                let label = circuit.encoded[k];
                message.push(label ^ *zero);
                message.push(label ^ *circuit.delta ^ *one);
            }
        }
        message
    }

    /// Returns the labels for this party's choices, by position and circuit.
    fn unmask(&self, strings: &[Block], choices: &BitVec, masked: &[Block]) -> Blocks {
        let mut labels = Blocks::new(Vec::with_capacity(masked.len() / 2));
        // The tweaks reveal the choices.
        let mut tweaks = Zeroizing::new(Vec::with_capacity(masked.len() / 2));
        for (k, string) in strings.iter().enumerate() {
            let first = self.tweak(k, choices.get(k));
            tweaks.extend((0..self.size as u128).map(|l| first + l));
            labels.extend(std::iter::repeat_n(*string, self.size));
        }
        self.hash.hash_with(&tweaks, 1, &mut labels);
        for (at, (label, [zero, one])) in
            labels.iter_mut().zip(masked.as_chunks::<2>().0).enumerate()
        {
            *label ^= *zero ^ (*zero ^ *one).select(choices.get(at / self.size));
        }
        labels
    }
}

/// Compares the labels of this party's encoding with the commitments.
///
/// Paper: RR16, §5.2, §6.1; Fig. 15, Offline Inputs
///
/// Check: `dualex`: OT of inputs | `encoded input label`, on a random encoding that resists ρ
/// probes | wrong labels for one value of an input bit | 2^-ρ
fn check_labels(
    offline: &Preparation<'_>,
    bucket: &Bucket,
    choices: &BitVec,
    labels: &[Blocks],
) -> Result<()> {
    let peer = offline.net.me.other_of_two();
    let mut good = true;
    for ((circuit, (sums, expected)), labels) in
        bucket.theirs.iter().zip(&bucket.encoded).zip(labels)
    {
        let hash = LeafHash::new(&offline.net.session, peer, circuit.number);
        let mut pairs = PairDigest::new();
        // The choices are secret, and `add_opened` does not branch on them.
        pairs.add_opened(&hash.leaves(Leaf::Encoded, labels), choices, sums);
        good &= same_digest(&pairs.finish(), expected);
    }
    match good {
        true => Ok(()),
        false => Err(Error::misbehaved(peer, checks::ENCODED_LABEL)),
    }
}

/// Decodes the labels of this party's encoding to those of M·r, which it keeps.
pub(super) fn keep_labels(offline: &Preparation<'_>, bucket: &mut Bucket, labels: &[Blocks]) {
    let each: Vec<&[Block]> = labels.iter().map(|labels| &labels[..]).collect();
    let decoded = offline.matrices[offline.me()].decode_labels(&each);
    for (circuit, decoded) in bucket.theirs.iter_mut().zip(decoded) {
        circuit.mask_labels = decoded;
    }
    bucket.encoded.clear();
}
