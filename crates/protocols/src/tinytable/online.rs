//! Phase 3 (Fig. 5): the masked inputs, one message each way for every layer, the check of all that was opened, and
//! only then the masks of the outputs.

use symbolon_circuit::{Circuit, Layer, Linear, PartyId};
use symbolon_preprocessing::exchange::{Opened, digest_of, recv_bits_and_digest};
use symbolon_primitives::{BitVec, Transcript};
use symbolon_transport::{Channel, Error, Result};

use super::{
    check::{self, Checked, Looked},
    entries::width,
    prepared::Ready,
    slices::{self, Slices},
    tag::Tag,
};
use crate::{
    InputBits, OutputBits,
    ports::{OUTPUT_CHECK, OutputWires, receive_bits},
};

const INPUTS: &str = "tinytable: masked inputs";
const LAYER: &str = "tinytable: table bits";
const OUTPUTS: Opened = Opened { kind: "tinytable: output masks", check: OUTPUT_CHECK };

/// Evaluates all executions on this party's inputs.
pub(super) fn evaluate<T: Tag>(
    ready: &Ready<T>,
    channel: &mut Channel,
    session: &[u8; 32],
    circuit: &Circuit,
    inputs: &InputBits,
) -> Result<OutputBits> {
    let wires = [0, 1].map(|party| OutputWires::of(circuit, party));
    let opened = run(ready, channel, session, &masked(ready, inputs), &wires)?;
    let mut bits = opened.into_iter();
    let outputs = circuit.outputs().iter().map(|output| {
        output.to.contains(ready.me).then(|| {
            let rows: Vec<Vec<bool>> = bits.by_ref().take(output.ty.width() as usize).collect();
            (0..ready.lanes).flat_map(|lane| rows.iter().map(move |row| row[lane])).collect()
        })
    });
    Ok(outputs.collect())
}

/// The own inputs, masked: one wire's of all executions, then the next wire's.
fn masked<T: Tag>(ready: &Ready<T>, inputs: &InputBits) -> BitVec {
    let mut masked = BitVec::zeros(0);
    for bits in inputs.iter().flatten() {
        let width = bits.len() / ready.lanes;
        for wire in 0..width {
            (0..ready.lanes).for_each(|lane| masked.push(bits[lane * width + wire]));
        }
    }
    masked.xor_assign(&ready.own_masks);
    masked
}

/// The protocol from the masked inputs to the outputs: by output wire that this party learns, its bits.
fn run<T: Tag>(
    ready: &Ready<T>,
    channel: &mut Channel,
    session: &[u8; 32],
    inputs: &BitVec,
    wires: &[OutputWires; 2],
) -> Result<Vec<Vec<bool>>> {
    let mut run = Run {
        ready,
        values: Slices::zeros(ready.program.layered.slots(), ready.lanes),
        transcript: Transcript::new("symbolon tinytable 1", session),
        looked: Looked::default(),
    };
    run.inputs(channel, inputs)?;
    for layer in ready.program.layered.layers() {
        run.layer(channel, layer)?;
    }
    let Run { values, transcript, looked, .. } = run;
    let checked = check::check(ready, &looked, transcript, channel)?;
    outputs(ready, channel, &values, wires, checked)
}

struct Run<'a, T: Tag> {
    ready: &'a Ready<T>,
    /// The masked values of all wires, which are public.
    values: Slices,
    /// All that is said, from which the check's challenge is drawn.
    transcript: Transcript,
    looked: Looked,
}

impl<T: Tag> Run<'_, T> {
    /// Sends the own message, receives the peer's of the same kind, and has both in the transcript.
    fn exchange(
        &mut self,
        channel: &mut Channel,
        kind: &'static str,
        own: &[u8],
        receive: impl FnOnce(&mut Channel) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        channel.send(kind, own)?;
        channel.flush()?;
        let theirs = receive(channel)?;
        let both = if self.ready.me == 0 { [own, &theirs] } else { [&theirs, own] };
        both.into_iter().for_each(|message| self.transcript.absorb(kind, message));
        Ok(theirs)
    }

    fn inputs(&mut self, channel: &mut Channel, own: &BitVec) -> Result<()> {
        let Ready { me, lanes, .. } = *self.ready;
        let n = self.ready.program.input_bits(1 - me) * lanes;
        let theirs = self.exchange(channel, INPUTS, &own.to_bytes(), |channel| {
            Ok(receive_bits(channel, INPUTS, n)?.to_bytes())
        })?;
        let theirs = unpack(channel, n, &theirs)?;
        let mut taken = [0; 2];
        let program = &self.ready.program;
        for (slot, owner) in program.layered.input_slots().zip(&program.owners) {
            let from = if *owner == me { own } else { &theirs };
            let place = &mut taken[usize::from(*owner)];
            slices::get(from.words(), *place, self.values.row_mut(slot), lanes);
            *place += lanes;
        }
        Ok(())
    }

    fn layer(&mut self, channel: &mut Channel, layer: Layer<'_>) -> Result<()> {
        layer.linear.iter().for_each(|&linear| step(&mut self.values, linear));
        if layer.ands.is_empty() && layer.lookups.is_empty() {
            return Ok(());
        }
        let lanes = self.ready.lanes;
        let n = layer.ands.len() * lanes;
        let (mut c, mut d) = (BitVec::zeros(n), BitVec::zeros(n));
        for (g, and) in layer.ands.iter().enumerate() {
            slices::put(c.words_mut(), g * lanes, self.values.row(and.a as usize), lanes);
            slices::put(d.words_mut(), g * lanes, self.values.row(and.b as usize), lanes);
        }
        let mut bits = self.table_bits(layer.first_and as usize * lanes, &c, &d);
        let mut own = bits.to_bytes();
        let shares = self.table_entries(layer, &mut own);
        let len = own.len();
        let theirs = self.exchange(channel, LAYER, &own, |channel| channel.recv(LAYER, len))?;
        let (their_bits, their_shares) = theirs.split_at(BitVec::byte_len(n));
        let their_bits = unpack(channel, n, their_bits)?;
        bits.xor_assign(&their_bits);
        for (g, and) in layer.ands.iter().enumerate() {
            let row = self.values.row_mut(and.out as usize);
            slices::get(bits.words(), g * lanes, row, lanes);
        }
        self.looked.c.extend_from(&c);
        self.looked.d.extend_from(&d);
        self.looked.theirs.extend_from(&their_bits);
        self.take_entries(channel, layer, shares, their_shares)
    }

    /// The own shares of the entries (c, d) of the AND gates from position `first`.
    fn table_bits(&self, first: usize, c: &BitVec, d: &BitVec) -> BitVec {
        let [mut bits, beta, alpha] =
            self.ready.gates.bits.each_ref().map(|bits| bits.slice(first..first + c.len()));
        let public = if self.ready.me == 0 { u64::MAX } else { 0 };
        let factors = beta.words().iter().zip(alpha.words());
        let indices = c.words().iter().zip(d.words());
        for ((bits, (beta, alpha)), (c, d)) in bits.words_mut().iter_mut().zip(factors).zip(indices)
        {
            *bits ^= c & beta ^ d & alpha ^ c & d & public;
        }
        bits
    }

    /// The own shares of the entries that the look-ups of a layer read, which are appended to the message.
    fn table_entries(&mut self, layer: Layer<'_>, message: &mut Vec<u8>) -> Vec<u64> {
        let Ready { lanes, program, tables, .. } = self.ready;
        let mut indices = vec![0; *lanes];
        let mut shares = Vec::with_capacity(layer.lookups.len() * lanes);
        for (place, lookup) in layer.lookups.iter().enumerate() {
            let number = layer.first_lookup as usize + place;
            let width = width(program.table(number));
            let rows = lookup.inputs.iter().map(|&slot| self.values.row(slot as usize));
            slices::columns(rows, *lanes, &mut indices);
            for (lane, &index) in indices.iter().enumerate() {
                let at = program.place(number, lane, *lanes).byte + width * index as usize;
                let share = &tables.shares[at..at + width];
                message.extend_from_slice(share);
                shares.push(number_of(share));
                self.looked.indices.push(index as u8);
            }
        }
        shares
    }

    /// The values of the look-ups' outputs, from both shares.
    fn take_entries(
        &mut self,
        channel: &Channel,
        layer: Layer<'_>,
        mut own: Vec<u64>,
        mut theirs: &[u8],
    ) -> Result<()> {
        let Ready { lanes, program, .. } = self.ready;
        for (place, (lookup, values)) in
            layer.lookups.iter().zip(own.chunks_mut(*lanes)).enumerate()
        {
            let table = program.table(layer.first_lookup as usize + place);
            let (shares, rest) = theirs.split_at(width(table) * lanes);
            theirs = rest;
            for (value, share) in values.iter_mut().zip(shares.chunks(width(table))) {
                let share = number_of(share);
                if share.checked_shr(table.outputs()).unwrap_or(0) != 0 {
                    return Err(Error::misbehaved(channel.peer(), "padding of packed bits"));
                }
                *value ^= share;
                self.looked.entries.push(share);
            }
            for (bit, &slot) in lookup.outputs.iter().enumerate() {
                slices::row_of(values, bit, self.values.row_mut(slot as usize));
            }
        }
        Ok(())
    }
}

/// A free gate on masked values.
fn step(values: &mut Slices, linear: Linear) {
    match linear {
        Linear::Xor { a, b, out } => values.xor(a as usize, b as usize, out as usize),
        Linear::Inv { a, out } => {
            values.copy(a as usize, out as usize);
            values.flip(out as usize);
        }
        Linear::Copy { from, out } => values.copy(from as usize, out as usize),
        Linear::Const { value, out } => values.fill(out as usize, value),
    }
}

/// The number with these little-endian bytes, at most eight.
fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn unpack(channel: &Channel, n: usize, bytes: &[u8]) -> Result<BitVec> {
    crate::ports::decode_bits(channel, n, bytes)
}

/// Opens the masks of the outputs, each to those who learn it, after the check.
fn outputs<T: Tag>(
    ready: &Ready<T>,
    channel: &mut Channel,
    values: &Slices,
    wires: &[OutputWires; 2],
    _: Checked,
) -> Result<Vec<Vec<bool>>> {
    let Ready { me, lanes, outputs, .. } = ready;
    let of = |party: PartyId| {
        let mut shares = super::flat::empty(0);
        for wire in wires[usize::from(party)].indices() {
            super::flat::append(&mut shares, &outputs.slice(wire * lanes..(wire + 1) * lanes));
        }
        shares
    };
    if !wires[usize::from(1 - me)].is_empty() {
        let shares = of(1 - me);
        let digest = digest_of(&shares.towards[0].macs);
        channel.send_parts(OUTPUTS.kind, &[&shares.bits.to_bytes(), &digest])?;
        channel.flush()?;
    }
    let mine = &wires[usize::from(*me)];
    if mine.is_empty() {
        return Ok(Vec::new());
    }
    let mut shares = of(*me);
    let (theirs, digest) = recv_bits_and_digest(channel, &OUTPUTS, shares.len())?;
    let keys = &mut shares.towards[0].keys;
    keys.iter_mut().enumerate().for_each(|(k, key)| *key ^= ready.delta.select(theirs.get(k)));
    if digest_of(keys) != digest {
        return Err(Error::misbehaved(channel.peer(), OUTPUTS.check));
    }
    shares.bits.xor_assign(&theirs);
    let slots = ready.program.layered.output_slots();
    let opened = mine.indices().enumerate().map(|(place, wire)| {
        let row = values.row(slots[wire] as usize);
        let bit = |lane: usize| row[lane / 64] >> (lane % 64) & 1 == 1;
        (0..*lanes).map(|lane| bit(lane) ^ shares.bits.get(place * lanes + lane)).collect()
    });
    Ok(opened.collect())
}
