//! What a party holds once its tables are made.

use std::sync::Arc;

use bytemuck::Pod;
use symbolon_circuit::PartyId;
use symbolon_engine::{
    Compiled,
    codec::{Reader, Writer},
};
use symbolon_preprocessing::{AuthShares, PeerAuth};
use symbolon_primitives::{BitVec, Delta, HugeBuf};
use symbolon_transport::Result;

use super::{
    entries::{Records, Tables},
    program::Program,
    tag::Tag,
};

/// One party's side of a scrambled circuit, for a number of executions.
pub(crate) struct ScrambledCircuit<T: Tag> {
    pub me: PartyId,
    /// The number of executions.
    pub executions: usize,
    pub delta: Delta,
    pub program: Arc<Program>,
    /// The circuit's digest.
    pub digest: [u8; 32],
    /// The masks of this party's input wires: those of one wire in all executions, then those of
    /// the next.
    pub own_masks: BitVec,
    pub gates: Gates<T>,
    pub tables: Tables<T>,
    /// Shares of the masks of the output wires, in the same order.
    pub outputs: Rows<T>,
    /// Whether all executions use the material of one; only for measurements.
    pub shared: bool,
}

impl<T: Tag> ScrambledCircuit<T> {
    /// Returns the tables of a look-up.
    pub fn records(&self, lookup: usize) -> Records<'_, T> {
        let table = self.program.table(lookup);
        let step = if self.shared { 0 } else { table.entries().len() };
        self.tables.records(table, self.program.place(lookup, 0, self.stock()), step)
    }

    /// Returns the number of executions for which there is material.
    pub fn stock(&self) -> usize {
        if self.shared { 1 } else { self.executions }
    }
}

/// Shares with truncated MACs, with room for a fixed number of shares.
pub(crate) struct Rows<T: Tag> {
    /// This party's bits of the shares so far.
    pub bits: BitVec,
    /// The MACs on them.
    pub macs: HugeBuf<T>,
    /// The keys for the peer's bits.
    pub keys: HugeBuf<T>,
}

impl<T: Tag> Rows<T> {
    /// Returns an empty list with room for this many shares.
    pub fn with_room(n: usize) -> Self {
        Rows { bits: BitVec::with_capacity(n), macs: HugeBuf::zeroed(n), keys: HugeBuf::zeroed(n) }
    }

    /// Returns shares without MACs and keys.
    pub fn without_tags(bits: BitVec) -> Self {
        Rows { bits, macs: HugeBuf::zeroed(0), keys: HugeBuf::zeroed(0) }
    }

    /// Appends shares between two parties, for which there must be room.
    pub fn extend(&mut self, shares: &AuthShares) {
        let range = self.bits.len()..self.bits.len() + shares.len();
        self.bits.extend_from(&shares.bits);
        let PeerAuth { macs, keys } = &shares.towards[0];
        for (to, from) in [(&mut self.macs, macs), (&mut self.keys, keys)] {
            let to = to[range.clone()].iter_mut();
            to.zip(from).for_each(|(to, from)| *to = T::cut(*from));
        }
    }

    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        out.bits(&self.bits)?;
        out.bytes(bytemuck::cast_slice(&self.macs))?;
        out.bytes(bytemuck::cast_slice(&self.keys))
    }

    fn read(from: &mut Reader<'_>, n: usize) -> Result<Self> {
        Ok(Rows { bits: from.bits(n)?, macs: slab(from, n)?, keys: slab(from, n)? })
    }
}

/// The AND gates by position ([`Program`]): three shares, of which every entry of the table is a
/// sum.
///
/// t_cd = (r_u ⊕ c)(r_v ⊕ d) ⊕ r_o = (r_u·r_v ⊕ r_o) ⊕ c·r_v ⊕ d·r_u ⊕ c·d, in this order.
pub(crate) type Gates<T> = [Rows<T>; 3];

impl<T: Tag> ScrambledCircuit<T> {
    /// Writes all of it.
    pub fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        out.list(&[*self.delta])?;
        out.bits(&self.own_masks)?;
        self.gates.iter().try_for_each(|rows| rows.write(out))?;
        out.bytes(&self.tables.bytes)?;
        self.outputs.write(out)
    }
}

/// Reads back what party `me` saved, for this many executions.
pub(super) fn load<T: Tag>(
    me: PartyId,
    executions: usize,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<ScrambledCircuit<T>>> {
    circuit.derived::<Program>()?.check(T::LENGTH)?;
    Ok(Box::new(read(me, executions, circuit, &mut from, true)?))
}

/// Reads a circuit whose tables have tags, or none.
pub(super) fn read<T: Tag>(
    me: PartyId,
    executions: usize,
    circuit: &Compiled,
    from: &mut Reader<'_>,
    tagged: bool,
) -> Result<ScrambledCircuit<T>> {
    let program = circuit.derived::<Program>()?;
    let delta = from.delta()?;
    let own_masks = from.bits(program.input_bits(me) * executions)?;
    let n = program.ands() * executions;
    let mut rows = || match tagged {
        true => Rows::<T>::read(from, n),
        false => Ok(Rows::without_tags(from.bits(n)?)),
    };
    let gates = [rows()?, rows()?, rows()?];
    let tables = match tagged {
        true => Tables::new(slab(from, Tables::<T>::bytes_before(program.end) * executions)?),
        false => Tables::untagged(slab(from, program.end.byte * executions)?),
    };
    let n = program.layered.output_slots().len() * executions;
    let outputs = Rows::read(from, n)?;
    let (digest, shared) = (circuit.digest(), false);
    Ok(ScrambledCircuit {
        me,
        executions,
        delta,
        program,
        digest,
        own_masks,
        gates,
        tables,
        outputs,
        shared,
    })
}

/// How many elements are made room for at first; later at most twice the number read so far.
const PIECE: usize = 1 << 20;

fn slab<E: Pod>(from: &mut Reader<'_>, n: usize) -> Result<HugeBuf<E>> {
    let mut slab = HugeBuf::zeroed(n.min(PIECE));
    let mut done = 0;
    loop {
        from.fill(bytemuck::cast_slice_mut(&mut slab[done..]))?;
        done = slab.len();
        if done == n {
            return Ok(slab);
        }
        let mut larger = HugeBuf::zeroed(n.min(2 * done));
        larger[..done].copy_from_slice(&slab);
        slab = larger;
    }
}
