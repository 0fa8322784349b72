//! `--mac code`: tables committed under a binary code, instead of a MAC on every bit (section 6 of
//! the paper).
//!
//! The paper commits a player to her tables by MiniMac's representation: C(s) for a code C, and
//! shares of a∗C(s) for a secret a. Between two parties, one of whom knows s and the other a, these
//! shares are a subspace vector OLE over C. What a party keeps of it is a seed for each position of
//! the code, and as verifier the prover's corrections; all else is computed again when it is used.
//!
//! | step | where |
//! | --- | --- |
//! | the code and its square | `reed_muller` |
//! | which code, and its blocks | `layout` |
//! | the shares of a∗C(s) | `streams` |
//! | Fig. 9: commitments to both parties' tables | `commit` |
//! | Fig. 11: check of all bits opened so far | `check` |
//!
//! Inputs, table bits and the masks of outputs are as with MACs; the masks keep theirs.

#[cfg(test)]
mod cheats;
mod check;
mod combine;
mod commit;
mod layout;
mod reed_muller;
pub(super) mod script;
mod shares;
mod streams;

use std::io::Write;

use symbolon_engine::{
    Compiled, InputBits, LoadTerms, Network, OutputBits, Prepared, Rho,
    codec::{Reader, Writer},
};
use symbolon_primitives::{Block, Delta, HugeBuf, watch};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use super::{
    entries::{self, Tables},
    online::{self, Check},
    opened::OpenedEntries,
    prepared::{self, Rows, ScrambledCircuit},
    program::Program,
    scramble,
    tag::Tag,
};
use crate::gates::correlations::RandomCorrelations;
use commit::Hiding;
use layout::Layout;

/// Returns the number of authenticated bits that each party needs besides the masks of its inputs.
pub(super) fn bits(program: &Program, executions: usize, rho: Rho) -> Result<u64> {
    let layout = Layout::best(&layout::Tables::of(program, executions)?, rho);
    Ok(layout.bits() as u64)
}

/// What the streams and the shares of a∗C(s) are computed from.
struct Secrets {
    /// The session in which they were made.
    session: [u8; 32],
    /// The keys for the peer's a.
    keys: Zeroizing<Vec<Block>>,
    /// This party's a, and the MACs on it.
    a: Zeroizing<Vec<Block>>,
    macs: Zeroizing<Vec<Block>>,
}

impl Secrets {
    /// Returns the streams of both seeds of each pair, for this party's own tables.
    fn own_streams(&self, me: PartyId, delta: &Delta) -> [streams::Streams; 2] {
        [Block::ZERO, **delta].map(|delta| {
            let keys = self.keys.iter().map(|key| *key ^ delta);
            streams::Streams::new(&self.session, me, keys)
        })
    }

    /// Returns the streams that a chose, for the peer's tables.
    fn their_streams(&self, me: PartyId) -> streams::Streams {
        streams::Streams::new(&self.session, me.other_of_two(), self.macs.iter().copied())
    }
}

/// What a party keeps of both parties' commitments.
struct Commitments {
    layout: Layout,
    secrets: Secrets,
    /// The peer's corrections: a word for each row of its tables, and packed positions for each
    /// mask.
    tables: Vec<Block>,
    masks: Vec<Block>,
}

/// One party's side of a scrambled circuit whose tables are committed under a code; its tables have
/// no tags.
struct CommittedCircuit<T: Tag> {
    tables: ScrambledCircuit<T>,
    commitments: Commitments,
}

/// Binds correlations to a circuit, for this many executions.
pub(super) fn prepare<T: Tag>(
    correlations: RandomCorrelations,
    net: &mut Network,
    circuit: &Compiled,
    executions: usize,
) -> Result<Box<dyn Prepared>> {
    let program = circuit.derived::<Program>()?;
    let layout = Layout::best(&layout::Tables::of(&program, executions)?, net.rho);
    let input_bits = PartyId::all(2u16).map(|party| program.input_bits(party) * executions);
    let input_bits: Vec<usize> = input_bits.collect();
    let (secrets, mut hiding) = split(&correlations, net, &layout, &input_bits)?;
    let mut tagged = scramble::scramble::<u128>(correlations, net, circuit, executions)?;
    let [channel] = net.peers() else {
        return Err(Error::invalid_input("tinytable runs between two parties"));
    };
    let [row, ..] = &mut tagged.gates;
    channel.tamper_state("tinytable: own rows", bytemuck::cast_slice_mut(row.bits.words_mut()));
    let hidden = bytemuck::cast_slice_mut(hiding.bits.words_mut());
    channel.tamper_state("tinytable: own hiding bits", hidden);
    channel.tamper_state("tinytable: own entries", &mut tagged.tables.bytes);
    let commitments = commit::commit(&tagged, layout, secrets, &hiding, channel)?;
    Ok(Box::new(CommittedCircuit { tables: without_tags::<T>(tagged), commitments }))
}

/// Takes the authenticated bits after those of the inputs: a, then those that hide the tables.
fn split(
    correlations: &RandomCorrelations,
    net: &Network,
    layout: &Layout,
    input_bits: &[usize],
) -> Result<(Secrets, Hiding)> {
    let too_few = || Error::internal("too few authenticated bits for a code");
    let (n, hiding) = (layout.code.length(), layout.hiding_bits());
    let [own, theirs] = [net.me, net.me.other_of_two()].map(|party| input_bits[party.index()]);
    let bits = &correlations.secrets.own_masks;
    let (macs, keys) = (&correlations.inputs.macs[0], &correlations.inputs.keys[0]);
    if bits.len().min(macs.len()) < own + n + hiding || keys.len() < theirs + n + hiding {
        return Err(too_few());
    }
    let list = |list: &[Block]| Zeroizing::new(list.to_vec());
    let mut a = Zeroizing::new(vec![Block::ZERO; layout.code.blocks()]);
    super::slices::get(bits.words(), own, bytemuck::cast_slice_mut(&mut a), n);
    watch::tell("code of tables", Block::as_bytes(&a));
    let secrets = Secrets {
        session: net.session,
        keys: list(&keys[theirs..theirs + n]),
        a,
        macs: list(&macs[own..own + n]),
    };
    let hiding = Hiding {
        bits: bits.slice(own + n..own + n + hiding),
        macs: list(&macs[own + n..own + n + hiding]),
        keys: list(&keys[theirs + n..theirs + n + hiding]),
    };
    Ok((secrets, hiding))
}

/// Returns the same circuit without the tags of tables, and with those of outputs truncated.
fn without_tags<T: Tag>(tagged: ScrambledCircuit<u128>) -> ScrambledCircuit<T> {
    let ScrambledCircuit { me, executions, delta, program, digest, own_masks, .. } = tagged;
    let cut = |tags: &[u128]| {
        let mut short = HugeBuf::zeroed(tags.len());
        let tags = tags.iter().map(|tag| T::cut(Block(*tag)));
        short.iter_mut().zip(tags).for_each(|(to, tag)| *to = tag);
        short
    };
    let outputs = &tagged.outputs;
    let outputs = Rows {
        macs: cut(&outputs.macs),
        keys: cut(&outputs.keys),
        bits: tagged.outputs.bits.clone(),
    };
    ScrambledCircuit {
        me,
        executions,
        delta,
        digest,
        own_masks,
        gates: tagged.gates.map(|rows| Rows::without_tags(rows.bits)),
        tables: untagged(&tagged.tables, &program, executions),
        program,
        outputs,
        shared: false,
    }
}

/// Returns the same shares of look-ups' entries without tags.
fn untagged<T: Tag>(tagged: &Tables<u128>, program: &Program, executions: usize) -> Tables<T> {
    let mut bytes = HugeBuf::zeroed(program.end.byte * executions);
    for lookup in 0..program.lookups() {
        let (place, table) = (program.place(lookup, 0, executions), program.table(lookup));
        let width = entries::width(table);
        let shares = &mut bytes[place.byte..][..table.entries().len() * executions * width];
        for (i, share) in shares.chunks_exact_mut(width).enumerate() {
            let (byte, entry) = (place.byte + i * width, place.entry + i);
            share.copy_from_slice(tagged.share(byte, entry, width));
        }
    }
    Tables::untagged(bytes)
}

impl<T: Tag> Check for CommittedCircuit<T> {
    type Tag = T;

    fn tables(&self) -> &ScrambledCircuit<T> {
        &self.tables
    }

    fn check(
        &self,
        opened: &OpenedEntries,
        transcript: &mut symbolon_primitives::Transcript,
        channel: &mut symbolon_transport::Channel,
    ) -> Result<super::check::Checked> {
        check::check(&self.tables, &self.commitments, opened, transcript, channel)
    }
}

impl<T: Tag> Prepared for CommittedCircuit<T> {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        online::evaluate(&*self, net, circuit, inputs)
    }

    #[cfg(feature = "measure")]
    fn measured(
        self: Box<Self>,
        shared_by: Option<usize>,
    ) -> Result<Box<dyn symbolon_engine::phases::Measured>> {
        match shared_by {
            None => Ok(self),
            Some(_) => Err(Error::invalid_input(
                "with mac = code, executions cannot share one's material: its masks are used once",
            )),
        }
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let out = &mut Writer(out);
        self.tables.write(out)?;
        let Commitments { secrets, tables, masks, .. } = &self.commitments;
        out.bytes(&secrets.session)?;
        for list in [&secrets.keys[..], &secrets.a, &secrets.macs, tables, masks] {
            out.list(list)?;
        }
        Ok(())
    }
}

#[cfg(feature = "measure")]
impl<T: Tag> symbolon_engine::phases::Measured for CommittedCircuit<T> {
    fn run(
        &self,
        net: &mut Network,
        circuit: &symbolon_circuit::Circuit,
        inputs: &symbolon_primitives::BitVec,
    ) -> Result<symbolon_primitives::BitVec> {
        let session = net.session;
        online::run(self, &mut net.peers()[0], &session, circuit, inputs)
    }
}

/// Reads back what a party saved.
pub(super) fn load<T: Tag>(
    LoadTerms { me, run, .. }: LoadTerms<'_>,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let executions = run.executions;
    let tables = prepared::read::<T>(me, executions, circuit, &mut from, false)?;
    let layout = Layout::best(&layout::Tables::of(&tables.program, executions)?, run.rho);
    let session = from.array()?;
    let n = layout.code.length();
    let mut secret = |n: usize| Ok::<_, Error>(Zeroizing::new(from.list::<Block>(n)?));
    let secrets =
        Secrets { session, keys: secret(n)?, a: secret(layout.code.blocks())?, macs: secret(n)? };
    watch::tell("code of tables", Block::as_bytes(&secrets.a));
    let [table, mask] = layout.correction_blocks();
    let rows = from.list(layout.rows() * table)?;
    let masks = from.list(layout.checks * mask)?;
    let commitments = Commitments { layout, secrets, tables: rows, masks };
    Ok(Box::new(CommittedCircuit { tables, commitments }))
}
