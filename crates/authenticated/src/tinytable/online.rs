//! Phase 3 (Fig. 5): the masked inputs, one message each way for every layer, the check of
//! everything opened, and only then the masks of the outputs.
//!
//! Timing: shares, MACs, keys in tables, multiples of Δ | **indices** are masked values and opened
//! entries, which both parties know; so in `entries` and `sums`

use std::io::Write;

use symbolon_circuit::{Circuit, Layer, PartyId};
use symbolon_engine::{
    Compiled, InputBits, Network, OutputBits, Prepared, codec::Writer, decode_bits,
    phases::check_inputs, receive_bits,
};
use symbolon_garbling::wires::WireStore;
use symbolon_primitives::{BitVec, Transcript, mask64};
use symbolon_transport::{Channel, Error, Message, Result};
use zeroize::Zeroizing;

use super::messages::{INPUTS, LAYER};
use super::{
    check::{self, Checked},
    entries::width,
    opened::OpenedEntries,
    prepared::{Rows, ScrambledCircuit},
    slices::{self, Slices},
    tag::Tag,
};
use crate::gates::io_wires::OutputWires;

/// A scrambled circuit, and how its opened bits are checked.
pub(super) trait Check {
    /// The tags of the masks of outputs.
    type Tag: Tag;

    /// Returns the circuit.
    fn tables(&self) -> &ScrambledCircuit<Self::Tag>;

    /// Proves this party's opened bits to the peer, and checks the peer's.
    ///
    /// # Errors
    /// `PeerMisbehaved` if the peer sent a wrong bit or proof.
    fn check(
        &self,
        opened: &OpenedEntries,
        transcript: &mut Transcript,
        channel: &mut Channel,
    ) -> Result<Checked>;
}

impl<T: Tag> Check for ScrambledCircuit<T> {
    type Tag = T;

    fn tables(&self) -> &ScrambledCircuit<T> {
        self
    }

    fn check(
        &self,
        opened: &OpenedEntries,
        transcript: &mut Transcript,
        channel: &mut Channel,
    ) -> Result<Checked> {
        check::check(self, opened, transcript, channel)
    }
}

impl<T: Tag> Prepared for ScrambledCircuit<T> {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        evaluate(&*self, net, circuit, inputs)
    }

    #[cfg(feature = "measure")]
    fn measured(
        mut self: Box<Self>,
        shared_by: Option<usize>,
    ) -> Result<Box<dyn symbolon_engine::phases::Measured>> {
        if let Some(executions) = shared_by {
            if self.executions != 1 || executions == 0 || !executions.is_multiple_of(64) {
                return Err(Error::invalid_input("whole words of executions share one's material"));
            }
            (self.executions, self.shared) = (executions, true);
        }
        Ok(self)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        self.write(&mut Writer(out))
    }
}

#[cfg(feature = "measure")]
impl<T: Tag> symbolon_engine::phases::Measured for ScrambledCircuit<T> {
    fn run(&self, net: &mut Network, circuit: &Circuit, inputs: &BitVec) -> Result<BitVec> {
        let session = net.session;
        run(self, &mut net.peers()[0], &session, circuit, inputs)
    }
}

/// Evaluates all executions on this party's inputs.
pub(super) fn evaluate(
    prepared: &impl Check,
    net: &mut Network,
    circuit: &Compiled,
    inputs: &InputBits,
) -> Result<OutputBits> {
    let ready = prepared.tables();
    let executions = ready.executions;
    check_inputs(circuit.circuit(), net.me, inputs, executions)?;
    circuit.must_be(&ready.digest)?;
    let session = net.session;
    let [channel] = net.peers() else {
        return Err(Error::invalid_input("tinytable runs between two parties"));
    };
    let circuit = circuit.circuit();
    let opened = run(prepared, channel, &session, circuit, &side_by_side(inputs, executions))?;
    let mut wires = (0..opened.len() / executions).map(|wire| wire * executions);
    let outputs = circuit.outputs().iter().map(|output| {
        output.to.contains(ready.me).then(|| {
            let wires: Vec<usize> = wires.by_ref().take(output.ty.width() as usize).collect();
            (0..executions)
                .flat_map(|execution| wires.iter().map(move |wire| (wire, execution)))
                .map(|(wire, execution)| opened.get(wire + execution))
                .collect()
        })
    });
    Ok(outputs.collect())
}

/// Returns the bits of this party's inputs: one wire's in all executions, then the next wire's.
fn side_by_side(inputs: &InputBits, executions: usize) -> Zeroizing<BitVec> {
    // The full capacity is reserved at once, because growing would leave unwiped copies.
    let all = inputs.iter().flatten().map(|bits| bits.len()).sum();
    let mut joined = Zeroizing::new(BitVec::with_capacity(all));
    for bits in inputs.iter().flatten() {
        let width = bits.len() / executions;
        for wire in 0..width {
            let places = (wire..bits.len()).step_by(width);
            places.for_each(|place| joined.push(bits.get(place)));
        }
    }
    joined
}

/// Runs the protocol on rows of bits of all executions, from this party's inputs to the outputs
/// that this party learns.
pub(super) fn run(
    prepared: &impl Check,
    channel: &mut Channel,
    session: &[u8; 32],
    circuit: &Circuit,
    inputs: &BitVec,
) -> Result<BitVec> {
    let ready = prepared.tables();
    let mut run = Run {
        ready,
        values: Slices::zeros(ready.program.layered.slots(), ready.executions),
        transcript: Transcript::new("symbolon tinytable 1", session),
        opened: OpenedEntries::with_room(&ready.program, ready.executions),
    };
    run.inputs(channel, inputs)?;
    for layer in ready.program.layered.layers() {
        run.layer(channel, layer)?;
    }
    let Run { values, mut transcript, opened, .. } = run;
    let checked = prepared.check(&opened, &mut transcript, channel)?;
    outputs(ready, channel, circuit, &values, transcript, checked)
}

struct Run<'a, T: Tag> {
    ready: &'a ScrambledCircuit<T>,
    /// The masked values of all wires, which are public.
    values: Slices,
    /// Everything sent, from which the check's challenge is drawn.
    transcript: Transcript,
    opened: OpenedEntries,
}

impl<T: Tag> Run<'_, T> {
    /// Sends this party's message, receives the peer's of the same kind, and absorbs both into the
    /// transcript.
    fn exchange(
        &mut self,
        channel: &mut Channel,
        message: Message,
        own: &[u8],
        receive: impl FnOnce(&mut Channel) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        channel.send(message, own)?;
        channel.flush()?;
        let theirs = receive(channel)?;
        let both = if self.ready.me == 0 { [own, &theirs] } else { [&theirs, own] };
        both.into_iter().for_each(|bytes| self.transcript.absorb(message.name(), bytes));
        Ok(theirs)
    }

    /// Paper: DNNR17, Fig. 5, 3 | masked inputs
    fn inputs(&mut self, channel: &mut Channel, bits: &BitVec) -> Result<()> {
        let ScrambledCircuit { me, executions, ref program, ref own_masks, .. } = *self.ready;
        let mut own = spread(own_masks, self.ready.stock(), executions);
        own.xor_assign(bits);
        let n = program.input_bits(me.other_of_two()) * executions;
        let theirs = self.exchange(channel, INPUTS, &own.to_bytes(), |channel| {
            Ok(receive_bits(channel, INPUTS, n)?.to_bytes())
        })?;
        let theirs = decode_bits(channel, n, &theirs)?;
        let mut taken = [0; 2];
        for (slot, owner) in program.layered.input_slots().zip(&program.owners) {
            let from = if *owner == me { &own } else { &theirs };
            let place = &mut taken[usize::from(*owner)];
            slices::get(from.words(), *place, self.values.row_mut(slot), executions);
            *place += executions;
        }
        Ok(())
    }

    /// Paper: DNNR17, Fig. 5, 4 | table bits, layer by layer
    fn layer(&mut self, channel: &mut Channel, layer: Layer<'_>) -> Result<()> {
        self.values.free_gates(0, layer.linear);
        if layer.ands.is_empty() && layer.lookups.is_empty() {
            return Ok(());
        }
        let executions = self.ready.executions;
        let n = layer.ands.len() * executions;
        let (mut c, mut d) = (BitVec::zeros(n), BitVec::zeros(n));
        for (g, and) in layer.ands.iter().enumerate() {
            slices::put(c.words_mut(), g * executions, self.values.row(and.a as usize), executions);
            slices::put(d.words_mut(), g * executions, self.values.row(and.b as usize), executions);
        }
        let mut own = self.table_bits(layer, &c, &d).to_bytes();
        self.table_entries(layer, &mut own);
        channel.tamper_state("tinytable: own table bits", &mut own);
        let len = own.len();
        let theirs = self.exchange(channel, LAYER, &own, |channel| channel.recv(LAYER, len))?;
        let (own_bits, own_shares) = own.split_at(BitVec::byte_len(n));
        let (their_bits, their_shares) = theirs.split_at(BitVec::byte_len(n));
        let their_bits = decode_bits(channel, n, their_bits)?;
        let mut bits = decode_bits(channel, n, own_bits)?;
        bits.xor_assign(&their_bits);
        for (g, and) in layer.ands.iter().enumerate() {
            let row = self.values.row_mut(and.out as usize);
            slices::get(bits.words(), g * executions, row, executions);
        }
        self.opened.c.extend_from(&c);
        self.opened.d.extend_from(&d);
        self.opened.theirs.extend_from(&their_bits);
        self.take_entries(channel, layer, own_shares, their_shares)
    }

    /// Returns this party's shares of the entries (c, d) of a layer's AND gates.
    ///
    /// Paper: DNNR17, Fig. 5, 4
    fn table_bits(&self, layer: Layer<'_>, c: &BitVec, d: &BitVec) -> BitVec {
        let ScrambledCircuit { me, executions, ref gates, shared, .. } = *self.ready;
        let (first, n) = (layer.first_and as usize, layer.ands.len());
        let public = if me == 0 { u64::MAX } else { 0 };
        let mut bits = BitVec::zeros(n * executions);
        let indices = bits.words_mut().iter_mut().zip(c.words().iter().zip(d.words()));
        if shared {
            // Each bit applies to whole words of executions.
            for (k, (bits, (c, d))) in indices.enumerate() {
                let place = first + k / (executions / 64);
                let all = |rows: &Rows<T>| mask64(rows.bits.get(place));
                let [row, beta, alpha] = gates.each_ref().map(all);
                *bits = row ^ c & beta ^ d & alpha ^ c & d & public;
            }
            return bits;
        }
        let range = first * executions..(first + n) * executions;
        let [row, beta, alpha] = gates.each_ref().map(|rows| rows.bits.slice(range.clone()));
        let shares = row.words().iter().zip(beta.words().iter().zip(alpha.words()));
        for ((bits, (c, d)), (row, (beta, alpha))) in indices.zip(shares) {
            *bits = row ^ c & beta ^ d & alpha ^ c & d & public;
        }
        bits
    }

    /// Appends to the message this party's shares of the entries that the look-ups of a layer read.
    ///
    /// Paper: DNNR17, Fig. 5, 4
    fn table_entries(&mut self, layer: Layer<'_>, message: &mut Vec<u8>) {
        let (ready, executions) = (self.ready, self.ready.executions);
        let zeros = vec![0; executions.div_ceil(64)];
        let first = self.opened.indices.len();
        let numbered = || (layer.first_lookup as usize..).zip(layer.lookups.iter());
        for (number, lookup) in numbered() {
            let rows = lookup.inputs.iter().map(|&slot| self.values.row(slot as usize));
            let indices = &mut self.opened.indices;
            let old = indices.len();
            indices.resize(old + 64 * zeros.len(), 0);
            slices::columns(rows, &mut indices[old..], &zeros);
            indices.truncate(old + executions);
            let records = ready.records(number);
            (0..)
                .zip(&indices[old..])
                .for_each(|(execution, index)| records.prefetch(execution, *index));
        }
        let indices = self.opened.indices[first..].chunks(executions);
        for ((number, _), indices) in numbered().zip(indices) {
            let records = ready.records(number);
            let shares =
                (0..).zip(indices).map(|(execution, index)| records.share(execution, *index));
            match records.width {
                1 => message.extend(shares.map(|share| share[0])),
                _ => shares.for_each(|share| message.extend_from_slice(share)),
            }
        }
    }

    /// Computes the values of the look-ups' outputs from both shares.
    fn take_entries(
        &mut self,
        channel: &Channel,
        layer: Layer<'_>,
        own: &[u8],
        theirs: &[u8],
    ) -> Result<()> {
        let ScrambledCircuit { executions, program, .. } = self.ready;
        self.opened.entries.extend_from_slice(theirs);
        let both: Vec<u8> = own.iter().zip(theirs).map(|(own, theirs)| own ^ theirs).collect();
        let (mut start, mut words) = (0, Vec::new());
        for (place, lookup) in layer.lookups.iter().enumerate() {
            let table = program.table(layer.first_lookup as usize + place);
            let width = width(table);
            let values = &both[start..start + width * executions];
            start += width * executions;
            // The unused bits of an entry are zero in this party's share.
            let spare = (8 * width) as u32 - table.outputs();
            let filled = |bytes: &[u8]| bytes[width - 1].leading_zeros() < spare;
            if spare > 0 && values.chunks(width).any(filled) {
                return Err(Error::misbehaved(channel.peer(), symbolon_engine::checks::PADDING));
            }
            for (byte, outputs) in lookup.outputs.chunks(8).enumerate() {
                slices::rows_of(&values[byte..], width, *executions, &mut words);
                for (bit, &slot) in outputs.iter().enumerate() {
                    let row = self.values.row_mut(slot as usize).iter_mut();
                    row.zip(&words).for_each(|(row, words)| *row = words[bit]);
                }
            }
        }
        Ok(())
    }
}

/// Expands rows of `stock` bits to rows of `executions` bits: unchanged, or each bit for all
/// executions.
fn spread(rows: &BitVec, stock: usize, executions: usize) -> BitVec {
    if stock == executions {
        return rows.clone();
    }
    let mut out = Slices::zeros(1, executions);
    let mut all = BitVec::zeros(rows.len() * executions);
    for k in 0..rows.len() {
        out.fill(0, rows.get(k));
        slices::put(all.words_mut(), k * executions, out.row(0), executions);
    }
    all
}

/// Opens the masks of the outputs after the check, each to those that learn it.
///
/// Paper: DNNR17, Fig. 5, 6–7 | outputs
fn outputs<T: Tag>(
    ready: &ScrambledCircuit<T>,
    channel: &mut Channel,
    circuit: &Circuit,
    values: &Slices,
    transcript: Transcript,
    checked: Checked,
) -> Result<BitVec> {
    let ScrambledCircuit { me, executions, program, .. } = ready;
    let wires = |party: PartyId| OutputWires::of(circuit, party);
    check::open_masks(ready, channel, &transcript, &wires(me.other_of_two()), checked)?;
    let mine = wires(*me);
    let mut opened = BitVec::zeros(mine.len() * executions);
    let slots = program.layered.output_slots();
    for (place, wire) in mine.indices().enumerate() {
        slices::put(
            opened.words_mut(),
            place * executions,
            values.row(slots[wire] as usize),
            *executions,
        );
    }
    let masks = check::receive_masks(ready, channel, &transcript, &mine)?;
    opened.xor_assign(&spread(&masks, ready.stock(), *executions));
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use symbolon_circuit::{Linear, builtin};
    use symbolon_primitives::{Block, Delta, HugeBuf, Prg};
    use symbolon_transport::{Meter, memory_pair};

    use super::super::{entries::Tables, program::Program};
    use super::*;
    use crate::reference::{self, GateShares};

    /// Layers contain no copies, so no run of the protocol makes one.
    #[test]
    fn values_are_copied_in_order() {
        let mut values = Slices::zeros(6, 3);
        (0..3).for_each(|slot| values.row_mut(slot)[0] = slot as u64 + 1);
        values.free_gates(0, &[Linear::Copy { from: 1, out: 3, len: 2 }]);
        let rows: Vec<u64> = (0..6).map(|slot| values.row(slot)[0]).collect();
        assert_eq!(rows, [1, 2, 3, 2, 3, 0]);
    }

    /// Deals random shares of every gate in every execution, and the parties' sides of a run on
    /// them.
    fn deal(
        program: &Arc<Program>,
        lanes: usize,
        prg: &mut Prg,
    ) -> [(Vec<GateShares>, ScrambledCircuit<u64>); 2] {
        [0, 1].map(|me| {
            let n = program.ands() * lanes;
            let mut rows = [(); 3].map(|()| Rows::with_room(n));
            for rows in &mut rows {
                rows.bits = BitVec::random(n, prg);
            }
            let bit = |which: usize, k: usize| rows[which].bits.get(k);
            let of = |k| GateShares { row0: bit(0, k), r_v: bit(1, k), r_u: bit(2, k) };
            let shares = (0..n).map(of).collect();
            let ready = ScrambledCircuit {
                me: me.into(),
                executions: lanes,
                delta: Delta::new(Block::ONE),
                program: program.clone(),
                digest: [0; 32],
                own_masks: BitVec::zeros(0),
                gates: rows,
                tables: Tables::new(HugeBuf::zeroed(0)),
                outputs: Rows::with_room(0),
                shared: false,
            };
            (shares, ready)
        })
    }

    /// Evaluates the same layers in straightforward form, execution by execution.
    fn plain(program: &Program, values: &mut [bool], shares: impl Fn(usize) -> [GateShares; 2]) {
        for layer in program.layered.layers() {
            for &linear in layer.linear {
                match linear {
                    Linear::Xor { a, b, out } => {
                        values[out as usize] = values[a as usize] ^ values[b as usize];
                    }
                    Linear::Inv { a, out } => values[out as usize] = !values[a as usize],
                    Linear::Copy { .. } => unreachable!("layers have no copies"),
                    Linear::Const { value, out } => values[out as usize] = value,
                }
            }
            for (gate, and) in (layer.first_and as usize..).zip(layer.ands) {
                let [a, b] = shares(gate);
                let tables = [reference::table(a, true), reference::table(b, false)];
                let (e_u, e_v) = (values[and.a as usize], values[and.b as usize]);
                values[and.out as usize] = reference::look_up(tables, e_u, e_v);
            }
        }
    }

    #[test]
    fn layers_are_those_of_the_figure() {
        let mut prg = Prg::from_seed(Block(3));
        for (name, lanes) in [("add:8", 1), ("mult:8", 64), ("mult:8", 70), ("random:300", 130)] {
            let program = Arc::new(Program::new(&builtin::by_name(name).unwrap()).unwrap());
            let slots = program.layered.slots();
            let [(own, zero), (theirs, one)] = deal(&program, lanes, &mut prg);
            let mut inputs = Vec::new();
            let mut expected = vec![vec![false; slots]; lanes];
            for slot in program.layered.input_slots() {
                let bits = BitVec::random(lanes, &mut prg);
                (0..lanes).for_each(|lane| expected[lane][slot] = bits.get(lane));
                inputs.push((slot, bits));
            }
            for (lane, values) in expected.iter_mut().enumerate() {
                let at = |gate| gate * lanes + lane;
                plain(&program, values, |gate| [own[at(gate)], theirs[at(gate)]]);
            }
            let (a, b) = memory_pair(Meter::new(), Meter::new());
            let run = |ready: &ScrambledCircuit<u64>, mut channel: Channel| {
                let mut run = Run {
                    ready,
                    values: Slices::zeros(slots, lanes),
                    transcript: Transcript::new("test", &[0; 32]),
                    opened: OpenedEntries::with_room(&program, lanes),
                };
                for (slot, bits) in &inputs {
                    run.values.row_mut(*slot).copy_from_slice(bits.words());
                }
                for layer in program.layered.layers() {
                    run.layer(&mut channel, layer).unwrap();
                }
                run.values
            };
            let both = thread::scope(|scope| {
                let other = scope.spawn(|| run(&one, b));
                [run(&zero, a), other.join().unwrap()]
            });
            for (lane, expected) in expected.iter().enumerate() {
                for values in &both {
                    let bit = |slot: usize| values.row(slot)[lane / 64] >> (lane % 64) & 1 == 1;
                    assert!(
                        (0..slots).all(|slot| bit(slot) == expected[slot]),
                        "{name}, execution {lane}"
                    );
                }
            }
        }
    }
}
