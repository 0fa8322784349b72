//! The offline part of the inputs: each party fetches the labels of its encoding in the peer's
//! circuits (§5.2, §6.1; Fig. 15, "Offline Inputs").
//!
//! A party has a string c_j of OT choices for each of its circuits. In a bucket the OTs of its B
//! circuits are *aggregated* to one with the choices c_1 of the first: it says δ_j = c_1 ⊕ c_j, and the
//! sender masks the labels for value h of position k by
//!
//! ```text
//! ⊕_j m^j_{h ⊕ δ_j[k]}[k].
//! ```
//!
//! If it lies about a δ_j it misses a share of both masks and gets no label at this position. The
//! labels are those of r = c_1; M·c_1 later masks its input, and the same δ say in which order its own
//! circuits' labels must be opened.
//!
//! A garbler may send something else for one of the values, and see whether the peer gives up: it
//! learns a bit of r for a risk of 1/2. The encoding makes that useless (`probe_matrix`). The labels
//! are compared with the commitments now, long before there are inputs.

use std::ops::Range;

use symbolon_cutchoose::draw::Buckets;
use symbolon_primitives::{BitVec, Block, TweakedHash, derive_block};
use symbolon_transport::{Error, Result};
use zeroize::Zeroizing;

use super::{
    buckets::Bucket,
    checks,
    garble::{Leaf, LeafHash, PairDigest},
    messages,
    offline::{Offline, Ots},
    ot::Blocks,
};

/// Exchanges differences and masked labels for all buckets, `[own, peer's]` of them.
///
/// # Errors
/// `PeerMisbehaved` when the labels are not those that were committed to; `Transport`.
pub(super) fn exchange(
    offline: &mut Offline<'_>,
    buckets: &mut [Bucket],
    ots: &Ots,
    [mine, theirs]: [&Buckets; 2],
) -> Result<()> {
    let me = offline.me();
    let [own_bits, peer_bits] = [me, 1 - me].map(|party| offline.matrices[party].encoded());
    let size = offline.params.bucket();
    let run = |j: u32, bits: usize| j as usize * bits..(j as usize + 1) * bits;

    let mut differences = BitVec::with_capacity(buckets.len() * (size - 1) * own_bits);
    for i in 0..buckets.len() {
        let choices = |j: u32| Zeroizing::new(ots.received.choices.slice(run(j, own_bits)));
        let first = choices(mine.bucket(i)[0]);
        for &j in &mine.bucket(i)[1..] {
            let mut difference = choices(j);
            difference.xor_assign(&first);
            differences.extend_from(&difference);
        }
    }
    let channel = offline.channel();
    channel.send(messages::DIFFERENCES, &differences.to_bytes())?;
    let bits = buckets.len() * (size - 1) * peer_bits;
    let bytes = channel.recv(messages::DIFFERENCES, BitVec::byte_len(bits))?;
    let peer = channel.peer();
    let differences = BitVec::from_bytes(bits, &bytes)
        .ok_or_else(|| Error::misbehaved(peer, checks::ENCODED_LABEL))?;

    let session = offline.net.session;
    let mask = |sender: u16, bucket: u64| Mask {
        hash: TweakedHash::new(derive_block("symbolon dualex encoded 1", &session, sender.into())),
        bucket,
        size,
    };
    for (i, bucket) in buckets.iter_mut().enumerate() {
        let of_bucket = |b: usize| {
            let start = (i * (size - 1) + b - 1) * peer_bits;
            differences.slice(start..start + peer_bits)
        };
        let differences: Vec<BitVec> = (1..size).map(of_bucket).collect();
        for (circuit, difference) in bucket.theirs.iter_mut().skip(1).zip(&differences) {
            circuit.shift = offline.matrices[1 - me].decode(difference);
        }
        let runs: Vec<Range<usize>> = theirs.bucket(i).iter().map(|j| run(*j, peer_bits)).collect();
        let strings = sent_strings(ots, &runs, &differences);
        let message = mask(me as u16, bucket.number).labels(&strings, bucket);
        offline.channel().send(messages::ENCODED, Block::as_bytes(&message))?;
    }
    for (i, bucket) in buckets.iter_mut().enumerate() {
        let mut masked = vec![Block::ZERO; 2 * size * own_bits];
        offline.channel().recv_into(messages::ENCODED, Block::as_bytes_mut(&mut masked))?;
        let runs: Vec<Range<usize>> = mine.bucket(i).iter().map(|j| run(*j, own_bits)).collect();
        let choices = Zeroizing::new(ots.received.choices.slice(runs[0].clone()));
        let strings = received_strings(ots, &runs);
        let labels = mask(1 - me as u16, bucket.number).unmask(&strings, &choices, &masked);
        receive_labels(offline, bucket, &choices, &labels)?;
    }
    Ok(())
}

/// The masks' strings of aggregated OTs, as their sender has them.
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

/// The chosen ones, as their receiver has them.
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
    /// The masks of position k's labels for value h, one for each circuit, from the OT's string.
    fn of(&self, k: usize, h: bool, string: Block) -> Blocks {
        let mut masks = Blocks::new(vec![string; self.size]);
        let place = (2 * k as u128 + u128::from(h)) * self.size as u128;
        self.hash.hash(u128::from(self.bucket) << 64 | place, 1, &mut masks);
        masks
    }

    /// The masked labels of the own circuits: for each position, circuit and value.
    fn labels(&self, strings: &[[Block; 2]], bucket: &Bucket) -> Vec<Block> {
        let mut message = Vec::with_capacity(2 * self.size * strings.len());
        for (k, [zero, one]) in strings.iter().enumerate() {
            let masks = [self.of(k, false, *zero), self.of(k, true, *one)];
            for (l, circuit) in bucket.own.iter().enumerate() {
                let label = circuit.encoded[k];
                message.push(label ^ masks[0][l]);
                message.push(label ^ *circuit.delta ^ masks[1][l]);
            }
        }
        message
    }

    /// The labels of the own choices: for each position and circuit.
    fn unmask(&self, strings: &[Block], choices: &BitVec, masked: &[Block]) -> Blocks {
        let mut labels = Blocks::new(Vec::with_capacity(masked.len() / 2));
        let masked = masked.as_chunks::<2>().0.chunks(self.size);
        for (k, (string, masked)) in strings.iter().zip(masked).enumerate() {
            let choice = choices.get(k);
            let masks = self.of(k, choice, *string);
            for (mask, [zero, one]) in masks.iter().zip(masked) {
                labels.push(*zero ^ (*zero ^ *one).select(choice) ^ *mask);
            }
        }
        labels
    }
}

/// Compares the labels of the own encoding with the commitments, and decodes them.
fn receive_labels(
    offline: &Offline<'_>,
    bucket: &mut Bucket,
    choices: &BitVec,
    labels: &[Block],
) -> Result<()> {
    let peer = 1 - offline.net.me;
    let size = bucket.theirs.len();
    let mut good = true;
    for (l, (circuit, (sums, expected))) in
        bucket.theirs.iter_mut().zip(&bucket.encoded).enumerate()
    {
        let own = labels.iter().skip(l).step_by(size).copied();
        let own = Blocks::new(own.collect());
        let hash = LeafHash::new(&offline.net.session, peer, circuit.number);
        let mut pairs = PairDigest::new();
        for (k, (label, sum)) in own.iter().zip(sums).enumerate() {
            // The choice is secret, and only data here.
            let leaf = hash.leaf(Leaf::Encoded, k, choices.get(k), *label);
            pairs.add_opened(&leaf, choices.get(k), sum);
        }
        good &= symbolon_primitives::same_digest(&pairs.finish(), expected);
        circuit.mask_labels = Blocks::new(offline.matrices[offline.me()].decode_labels(&own));
    }
    bucket.encoded.clear();
    bucket.own.iter_mut().for_each(|circuit| circuit.encoded = Blocks::default());
    match good {
        true => Ok(()),
        false => Err(Error::misbehaved(peer, checks::ENCODED_LABEL)),
    }
}
