//! What a party holds when its tables are made.

use std::io::Write;
use std::sync::Arc;

use symbolon_circuit::{Circuit, PartyId, Plan};
use symbolon_preprocessing::{Shares, Towards};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Error, Result};
use zeroize::Zeroize;

use super::{entries::Tables, online, program::Program, tag::Tag};
use crate::{
    InputBits, Network, OutputBits, Prepared,
    codec::{Reader, Writer},
    phases::check_inputs,
};

/// One party's side of a scrambled circuit, for a number of executions.
pub(crate) struct Ready<T: Tag> {
    pub me: PartyId,
    /// How many executions there are.
    pub lanes: usize,
    pub delta: Block,
    pub program: Arc<Program>,
    /// The masks of this party's input wires: those of one wire in all executions, then the next wire's.
    pub own_masks: BitVec,
    pub gates: Gates<T>,
    pub tables: Tables<T>,
    /// Shares of the masks of the output wires, in the same order.
    pub outputs: Shares,
}

/// The AND gates by position ([`Program`]): three shares of which every entry of the table is a sum.
///
/// t_cd = (r_u ⊕ c)(r_v ⊕ d) ⊕ r_o = (r_u·r_v ⊕ r_o) ⊕ c·r_v ⊕ d·r_u ⊕ c·d, in this order.
pub(crate) struct Gates<T: Tag> {
    /// The own bits.
    pub bits: [BitVec; 3],
    /// The MACs on them.
    pub macs: [Vec<T>; 3],
    /// The keys for the peer's.
    pub keys: [Vec<T>; 3],
}

impl<T: Tag> Drop for Gates<T> {
    fn drop(&mut self) {
        self.bits.zeroize();
        self.macs.zeroize();
        self.keys.zeroize();
    }
}

impl<T: Tag> Drop for Ready<T> {
    fn drop(&mut self) {
        self.delta.zeroize();
        self.own_masks.zeroize();
    }
}

impl<T: Tag> Prepared for Ready<T> {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        _: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        check_inputs(circuit, net.me, inputs, self.lanes)?;
        if circuit.digest() != self.program.digest {
            return Err(Error::invalid_input("the tables were made for another circuit"));
        }
        let session = net.session;
        let [channel] = net.peers() else {
            return Err(Error::invalid_input("tinytable runs between two parties"));
        };
        online::evaluate(&self, channel, &session, circuit, inputs)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.blocks(&[self.delta])?;
        out.bits(&self.own_masks)?;
        for bits in &self.gates.bits {
            out.bits(bits)?;
        }
        for tags in self.gates.macs.iter().chain(&self.gates.keys) {
            write_tags(&mut out, tags)?;
        }
        out.bytes(&self.tables.shares)?;
        write_tags(&mut out, &self.tables.macs)?;
        write_tags(&mut out, &self.tables.keys)?;
        out.bits(&self.outputs.bits)?;
        out.blocks(&self.outputs.towards[0].macs)?;
        out.blocks(&self.outputs.towards[0].keys)
    }
}

/// Reads back what party `me` saved, for so many executions.
pub(super) fn load<T: Tag>(
    (me, lanes): (PartyId, usize),
    circuit: &Circuit,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let program = Program::of(circuit)?;
    program.check(T::LENGTH)?;
    let delta = from.block()?;
    let own_masks = from.bits(program.input_bits(me) * lanes)?;
    let n = program.ands() * lanes;
    let bits = [from.bits(n)?, from.bits(n)?, from.bits(n)?];
    let mut three = || -> Result<[Vec<T>; 3]> {
        Ok([tags(&mut from, n)?, tags(&mut from, n)?, tags(&mut from, n)?])
    };
    let (macs, keys) = (three()?, three()?);
    let gates = Gates::<T> { bits, macs, keys };
    let (entries, bytes) = (program.end.entry * lanes, program.end.byte * lanes);
    let tables = Tables {
        shares: from.bytes(bytes)?,
        macs: tags(&mut from, entries)?,
        keys: tags(&mut from, entries)?,
    };
    let n = program.layered.output_slots().len() * lanes;
    let bits = from.bits(n)?;
    let outputs =
        Shares { bits, towards: vec![Towards { macs: from.blocks(n)?, keys: from.blocks(n)? }] };
    Ok(Box::new(Ready { me, lanes, delta, program, own_masks, gates, tables, outputs }))
}

/// Tags that are written or read at a time.
const PIECE: usize = 1 << 14;

fn write_tags<T: Tag>(out: &mut Writer<'_>, tags: &[T]) -> Result<()> {
    let mut bytes = Vec::with_capacity(PIECE * T::BYTES);
    for tags in tags.chunks(PIECE) {
        bytes.clear();
        T::to_bytes(tags, &mut bytes);
        out.bytes(&bytes)?;
    }
    bytes.zeroize();
    Ok(())
}

fn tags<T: Tag>(from: &mut Reader<'_>, n: usize) -> Result<Vec<T>> {
    let mut tags = Vec::new();
    while tags.len() < n {
        let mut bytes = from.bytes(PIECE.min(n - tags.len()) * T::BYTES)?;
        T::from_bytes(&bytes, &mut tags);
        bytes.zeroize();
    }
    Ok(tags)
}
