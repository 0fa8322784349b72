//! Checks all opened table bits, in one message each way (§3.2–3.3, Fig. 5 step 5).
//!
//! Each bit (and each look-up's entry) x that a party sends has a MAC M = K ⊕ x·Δ, a sum of MACs
//! from the preprocessing. The paper sends ⊕ F(M) for a random oracle F. This implementation sends
//! a universal hash H(M_1, M_2, …) of 128 bits. Its keys are drawn from a hash of the whole
//! transcript, after all bits are sent. This costs fewer instructions than one block cipher call
//! per bit, and needs no random oracle on secrets.
//!
//! * k = 64: for each of two sets of keys, Σ (M_i ⊕ κ_i)·(M_i+1 ⊕ κ_i+1) over pairs, in GF(2^64),
//!   for 1 024 tags at a time; these blocks of 128 bits are the coefficients of a polynomial in χ
//!   ([`UniversalMacHash`](symbolon_primitives::UniversalMacHash)).
//! * k = 32 and 128: Σ χ^i·M_i in GF(2^128), with shorter tags padded with zeros.
//!
//! A wrong bit passes with probability at most 2^-k + q·N·2^-128 after q evaluations of the hash,
//! where N is at most the number of bits and entries. So k must be larger than ρ
//! ([`MacLength::suffices`](symbolon_engine::MacLength::suffices)).
//! `docs/proofs/tinytable-macs.md` has the proof.
//!
//! The receiver of H(M) can compute it from its keys and the received bits, so it learns nothing.
//!
//! Departure: `tinytable`: MACs | ⊕ F(M_i), F a random oracle | a universal hash of 128 bits, keyed
//! by the transcript | as strong, no oracle on secrets (`docs/proofs/tinytable-macs.md`)

use symbolon_circuit::PartyId;
use symbolon_engine::decode_bits;
use symbolon_primitives::{BitVec, Block, Challenge, Transcript};
use symbolon_transport::{Channel, Error, Result};

use super::{
    checks::TABLE,
    messages::{MAC, MASKS},
    opened::OpenedEntries,
    prepared::ScrambledCircuit,
    sums::Sums,
    tag::Tag,
};
use crate::checks::OUTPUT_MASK;
use crate::gates::io_wires::OutputWires;

/// Evidence that everything opened is right. Outputs require it.
pub(super) struct Checked(());

impl Checked {
    /// Returns the evidence that the [check under a code](super::code) gives.
    pub fn by_code() -> Checked {
        Checked(())
    }
}

/// Proves this party's bits to the peer, and checks the peer's.
///
/// Check: `tinytable` | `table MAC`: one hash over the MACs of everything opened, before any
/// output | wrong bits, entries, MACs | 2^-64 at ρ = 40, else 2^-127, plus the hash's loss
/// (`docs/proofs/tinytable-macs.md`)
///
/// # Errors
/// `PeerMisbehaved` if the peer sent a wrong bit or a wrong MAC.
pub(super) fn check<T: Tag>(
    ready: &ScrambledCircuit<T>,
    opened: &OpenedEntries,
    transcript: &mut Transcript,
    channel: &mut Channel,
) -> Result<Checked> {
    let mut bits = opened.theirs.clone();
    if ready.me == 1 {
        // Party 0's MAC does not cover the public values that it adds to its share.
        let public = opened.c.words().iter().zip(opened.d.words()).map(|(c, d)| c & d);
        bits.words_mut().iter_mut().zip(public).for_each(|(bits, public)| *bits ^= public);
    }
    let delta = T::cut(*ready.delta);
    let mut sums = Sums::<T, 2>::new(transcript.challenge("table bits"));
    sums.gates(ready, opened, bits.words(), delta);
    sums.entries(ready, opened, delta);
    let [own, expected] = sums.finish();

    let mut mac = own.to_bytes();
    channel.tamper_state("tinytable: own MAC", &mut mac);
    channel.send(MAC, &mac)?;
    channel.flush()?;
    let theirs = Block::from_bytes(channel.recv_array(MAC)?);
    if !expected.ct_eq(&theirs) {
        return Err(Error::misbehaved(channel.peer(), TABLE));
    }
    Ok(Checked(()))
}

/// Opens the masks of output wires to the peer that learns them. One message contains the bits and
/// the hash of their MACs, at a point that depends on the transcript and on these bits.
///
/// # Errors
/// `Transport` if the connection is lost.
pub(super) fn open_masks<T: Tag>(
    ready: &ScrambledCircuit<T>,
    channel: &mut Channel,
    transcript: &Transcript,
    wires: &OutputWires,
    _: Checked,
) -> Result<()> {
    if wires.is_empty() {
        return Ok(());
    }
    let places = places(ready, wires);
    let mut bits = BitVec::zeros(0);
    places.clone().for_each(|place| bits.push(ready.outputs.bits.get(place)));
    let mut bits = bits.to_bytes();
    channel.tamper_state("tinytable: own output masks", &mut bits);
    let mut sums = Sums::<T, 1>::new(point(transcript, ready.me, &bits));
    places.for_each(|place| sums.push([ready.outputs.macs[place]]));
    let [mac] = sums.finish();
    channel.send_parts(MASKS, &[&bits, &mac.to_bytes()])?;
    channel.flush()
}

/// Receives the peer's shares of the masks of output wires that this party learns, and adds this
/// party's own shares.
///
/// # Errors
/// `PeerMisbehaved` if a bit or the MAC is wrong; `Transport` if the connection is lost.
pub(super) fn receive_masks<T: Tag>(
    ready: &ScrambledCircuit<T>,
    channel: &mut Channel,
    transcript: &Transcript,
    wires: &OutputWires,
) -> Result<BitVec> {
    let n = wires.len() * ready.stock();
    if n == 0 {
        return Ok(BitVec::zeros(0));
    }
    let message = channel.recv(MASKS, BitVec::byte_len(n) + 16)?;
    let (bytes, mac) = message.split_at(BitVec::byte_len(n));
    let mut bits = decode_bits(channel, n, bytes)?;
    let (places, delta) = (places(ready, wires), T::cut(*ready.delta));
    let mut sums = Sums::<T, 1>::new(point(transcript, channel.peer(), bytes));
    for (k, place) in places.clone().enumerate() {
        sums.push([ready.outputs.keys[place] ^ delta.select(bits.get(k))]);
    }
    let [expected] = sums.finish();
    let mac = mac.try_into().map(Block::from_bytes);
    if !mac.is_ok_and(|mac| expected.ct_eq(&mac)) {
        return Err(Error::misbehaved(channel.peer(), OUTPUT_MASK));
    }
    for (k, place) in places.enumerate() {
        bits.set(k, bits.get(k) ^ ready.outputs.bits.get(place));
    }
    Ok(bits)
}

/// Returns the positions of the masks of output wires.
fn places<T: Tag>(
    ready: &ScrambledCircuit<T>,
    wires: &OutputWires,
) -> impl Iterator<Item = usize> + Clone {
    let stock = ready.stock();
    wires.indices().flat_map(move |wire| wire * stock..(wire + 1) * stock)
}

/// Returns the challenge for hashing the MACs of a party's output masks.
fn point(transcript: &Transcript, party: PartyId, bits: &[u8]) -> Challenge {
    let mut transcript = transcript.fork();
    transcript.absorb("output masks of party", &party.to_le_bytes());
    transcript.absorb("output masks", bits);
    transcript.challenge("output masks")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash point of output masks cannot be known before the masks are sent, and differs
    /// between the parties.
    #[test]
    fn the_point_depends_on_all_that_was_said() {
        let said = |layer: &[u8]| {
            let mut transcript = Transcript::new("test", &[1; 32]);
            transcript.absorb("layer", layer);
            transcript
        };
        let (one, other) = (said(&[1]), said(&[2]));
        let point = |said: &Transcript, party, bits: &[u8]| point(said, party, bits).into_block();
        let first = point(&one, 0.into(), &[5, 6]);
        assert_eq!(first, point(&said(&[1]), 0.into(), &[5, 6]));
        let others = [
            point(&other, 0.into(), &[5, 6]),
            point(&one, 1.into(), &[5, 6]),
            point(&one, 0.into(), &[5, 7]),
        ];
        assert!(others.iter().all(|other| *other != first));
    }
}
