//! Pools: garbled components that say nothing of a program, outside of a session.
//!
//! The function-independent phase makes so many buckets of each kind of component. The outputs of a
//! bucket have wires, with authenticators, that belong to it; more wires, transfers and masks are
//! there for what programs have besides: inputs, and outputs that are sums. All of it is checked
//! when it is made: which copies are in a bucket is drawn by a coin after all copies are fixed,
//! over the whole pool or a window of it (`windows`), and every soldering inside of a bucket is
//! proved. So every bucket of a pool is good but for a probability of 2^-ρ for the pool, whichever
//! are taken for whatever program.
//!
//! A program takes buckets from the front of each kind, and its function-dependent phase connects
//! them. Nothing goes from one pool to another: Δ_ot and the key of the commitments are the pool's.
//!
//! # Records
//! By section:
//! * 0: the session of the set-up, what openings are numbered by, sizes of buckets, the commitment
//!   to Δ_ot;
//! * 1: a wire: commitments to its key and Δ; at the evaluator, the start of its authenticators'
//!   hash, and these;
//! * 2: an input of the evaluator: commitments to R of a transfer and to the key of the wire; at
//!   the evaluator, choice and result;
//! * 3: a mask: the commitment to it;
//! * 4 + k: a bucket of kind k: commitments to Δ and input keys of its first copy; the wires of its
//!   outputs; at the evaluator, all copies.
//!
//! # Openings
//! Every opening has a start of its own. Those for a part of a pool hash the pool's start and where
//! the part is in the pool: no two parts overlap, so no two of these are the same.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use symbolon_cutchoose::hcom::{OwnLater, TheirLater};
use symbolon_primitives::{BitVec, Block, HugeBuf};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use super::authenticators::{Authenticator, Authenticators};
use super::buckets::{GarbledCopy, View};
use super::commit::{Committed, Id, List, Received};
use super::components::Kind;
use super::ends::Ends;
use super::evaluate::PartBuckets;
use super::garble::HalfGates;
use super::keys::KeyHash;
use super::layout::COMMON_OFFSET;
use super::oblivious::Transfers;
use super::online::{EvaluatorParts, GarblerParts};
use super::params::{BucketSizes, Games};
use super::program::{Carrier, GARBLER, Origin, Program, Task};
use super::solder::Target;
use super::state::{commitments, peer};
use super::stock::{Components, MASKS, TRANSFERS, WIRES};
use super::store;
use super::windows::Windows;
use crate::codec::{Reader, Writer, damaged};
use crate::component_pool::{ComponentSection, ComponentTerms};
use crate::{Compiled, Network, PoolSink, PoolSource, Prepared, Rho};

/// The section of what belongs to the pool as a whole; those of what is counted follow.
const HEAD: usize = 0;

/// Bytes of a session's id, and of what openings are numbered by.
const START: usize = 32;

/// How large records are, at one party.
struct Shape {
    garbler: bool,
    /// Bytes of a commitment.
    commitment: usize,
    buckets: BucketSizes,
}

impl Shape {
    fn new(me: PartyId, rho: u32, buckets: BucketSizes) -> Result<Shape> {
        let params = commitments(rho)?;
        let garbler = me == GARBLER;
        let commitment =
            if garbler { Committed::one_bytes(&params) } else { Received::one_bytes(&params) };
        Ok(Shape { garbler, commitment, buckets })
    }

    fn at_evaluator(&self, bytes: usize) -> usize {
        if self.garbler { 0 } else { bytes }
    }

    fn wire(&self) -> usize {
        let authenticators = store::authenticators_bytes(self.buckets.authenticators);
        2 * self.commitment + self.at_evaluator(authenticators)
    }

    fn transfer(&self) -> usize {
        2 * self.commitment + self.at_evaluator(1 + 16)
    }

    fn bucket(&self, kind: &Kind, number: usize) -> usize {
        let first = (1 + kind.inputs()) * self.commitment;
        let copies = store::slot_bytes(kind, self.buckets.kinds[number]);
        first + kind.outputs() * self.wire() + self.at_evaluator(copies)
    }
}

/// The sections of a party's pool.
///
/// # Errors
/// `InvalidInput` when there is no such pool.
pub(super) fn sections(
    components: &Components,
    me: PartyId,
    games: Games,
) -> Result<Vec<ComponentSection>> {
    let buckets = Windows::of_pool(components, games)?.buckets();
    let shape = Shape::new(me, games.rho, buckets)?;
    let mut records = vec![shape.wire(), shape.transfer(), shape.commitment];
    let kinds = components.kinds.iter().enumerate();
    records.extend(kinds.map(|(number, (kind, _))| shape.bucket(kind, number)));
    let head = ComponentSection { counter: None, bytes: 0 };
    let of = |(counter, bytes)| ComponentSection { counter: Some(counter), bytes: bytes as u64 };
    Ok([head].into_iter().chain(records.into_iter().enumerate().map(of)).collect())
}

/// As [`sections`], with games that are lost with at most 2^-ρ.
pub(super) fn sections_at(
    components: &Components,
    me: PartyId,
    rho: Rho,
) -> Result<Vec<ComponentSection>> {
    sections(components, me, Games::new(rho.bits()))
}

/// What so many runs of a circuit take: the components that cost least when all are made together.
pub(super) fn demand(
    circuit: &Compiled,
    terms: ComponentTerms<'_>,
    runs: u64,
) -> Result<Components> {
    let parts = usize::try_from(runs).ok().filter(|runs| (1..=1 << 32).contains(runs));
    let task = Task {
        executions: terms.batch.executions,
        parts: parts.ok_or_else(|| Error::invalid_input("too many executions at a time"))?,
        games: Games::new(terms.rho.bits()),
        components: terms.names,
        linked: &[],
    };
    Components::of(&Program::new(circuit.circuit(), task)?, runs)
}

/// What a run of a circuit takes of a pool of these kinds.
pub(super) fn plan(
    circuit: &Compiled,
    terms: ComponentTerms<'_>,
    kinds: &[[u8; 32]],
) -> Result<Plan> {
    let executions = terms.batch.executions;
    let program = Program::of_kinds(circuit.circuit(), executions, kinds, terms.names)?;
    Plan::new(circuit.digest(), program, kinds)
}

/// What the evaluator has besides commitments.
pub(super) struct EvaluatorBuckets<'a> {
    pub authenticators: &'a Authenticators,
    pub copies: &'a [GarbledCopy],
    pub tables: &'a [HalfGates],
}

/// Writes a pool as it is made.
pub(super) struct Filling<'a> {
    sink: &'a mut dyn PoolSink,
    record: Zeroizing<Vec<u8>>,
}

impl<'a> Filling<'a> {
    pub fn new(sink: &'a mut dyn PoolSink) -> Filling<'a> {
        Filling { sink, record: Zeroizing::default() }
    }

    /// Writes a record of at most so many bytes.
    fn put(
        &mut self,
        section: usize,
        bytes: usize,
        write: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<()> {
        self.record.clear();
        if self.record.capacity() < bytes {
            // A vector that grows leaves copies of what it held behind.
            self.record = Zeroizing::new(Vec::with_capacity(bytes));
        }
        write(&mut Writer(&mut *self.record))?;
        self.sink.write(section, &self.record)
    }

    /// What belongs to the pool as a whole; `own` is what only this party's side has.
    pub fn head<L: List>(
        &mut self,
        session: &[u8; 32],
        list: &L,
        buckets: &BucketSizes,
        own: &[u8],
    ) -> Result<()> {
        let bytes = START + 8 * (1 + buckets.kinds.len()) + list.bytes() + own.len();
        self.put(HEAD, bytes, |to| {
            to.bytes(session)?;
            store::write_buckets(to, buckets)?;
            list.write(COMMON_OFFSET, to)?;
            to.bytes(own)
        })
    }

    /// All that belongs to no bucket of components.
    pub fn unbound<L: List>(
        &mut self,
        view: View<'_>,
        list: &L,
        evaluator: Option<(&Authenticators, &Transfers)>,
    ) -> Result<()> {
        let (program, ends) = (view.program, Ends::of(view));
        for wire in 0..program.unbound() {
            let authenticators = evaluator.map(|(all, _)| all);
            let own = authenticators.map_or(0, |all| store::authenticators_bytes(all.bucket));
            self.put(1 + WIRES, 2 * list.bytes() + own, |to| {
                write_wire(to, list, ends.heads[wire], (authenticators, wire))
            })?;
        }
        for (transfer, &wire) in program.inputs[1].iter().enumerate() {
            self.put(1 + TRANSFERS, 2 * list.bytes() + 17, |to| {
                list.write(ends.transfers[transfer], to)?;
                list.write(ends.head(wire).key, to)?;
                let Some((_, all)) = evaluator else { return Ok(()) };
                to.bytes(&[all.choices.get(transfer).into()])?;
                to.blocks(&all.results[transfer..][..1])
            })?;
        }
        for mask in 0..program.to_evaluator.len() {
            self.put(1 + MASKS, list.bytes(), |to| list.write(ends.masks + mask as Id, to))?;
        }
        Ok(())
    }

    /// A bucket of components.
    pub fn bucket<L: List>(
        &mut self,
        (view, slot): (View<'_>, usize),
        list: &L,
        evaluator: Option<EvaluatorBuckets<'_>>,
    ) -> Result<()> {
        let (at, kind, objects) = view.slot(slot);
        let first = view.copies(slot)[0] as usize;
        let copies = evaluator.as_ref().map_or(0, |own| own.copies.len());
        let all = evaluator.as_ref().map(|own| own.authenticators);
        let of_wire = all.map_or(0, |all| store::authenticators_bytes(all.bucket));
        let wire = 2 * list.bytes() + of_wire;
        let bytes = (1 + kind.inputs()) * list.bytes() + kind.outputs() * wire;
        let bytes = bytes + store::slot_bytes(kind, copies);
        self.put(1 + MASKS + 1 + at.kind, bytes, |to| {
            list.write(objects.offset(first), to)?;
            (0..kind.inputs()).try_for_each(|i| list.write(objects.key(first, i), to))?;
            for wire in (at.first_output as usize..).take(kind.outputs()) {
                write_wire(to, list, view.head(wire), (all, wire))?;
            }
            let Some(EvaluatorBuckets { copies, tables, .. }) = evaluator else { return Ok(()) };
            store::write_slot(to, copies, tables)
        })
    }
}

fn write_wire(
    to: &mut Writer<'_>,
    list: &impl List,
    head: Target,
    (authenticators, wire): (Option<&Authenticators>, usize),
) -> Result<()> {
    list.write(head.key, to)?;
    list.write(head.offset, to)?;
    authenticators.map_or(Ok(()), |all| store::write_authenticators(to, all, wire))
}

/// The program of a circuit that was made of a pool, whose kinds these are, in order.
///
/// # Errors
/// `InvalidInput` when it has others.
pub(super) fn program(net: &Network, circuit: &Compiled, kinds: &[[u8; 32]]) -> Result<Program> {
    let executions = net.batch.executions;
    let program = Program::of_kinds(circuit.circuit(), executions, kinds, &net.components)?;
    if program.graph.kinds.iter().map(Kind::digest).ne(kinds.iter().copied()) {
        return Err(Error::invalid_input("a program of other components"));
    }
    Ok(program)
}

/// What a program takes of a pool.
pub struct Plan {
    digest: [u8; 32],
    program: Arc<Program>,
    /// The kinds of the program, and where each is among the pool's.
    kinds: Vec<([u8; 32], usize)>,
    takes: Vec<u64>,
}

impl Plan {
    /// What a circuit takes of a pool of these kinds in a session.
    ///
    /// # Errors
    /// `InvalidInput` when it takes other components.
    pub(crate) fn of(net: &Network, circuit: &Compiled, kinds: &[[u8; 32]]) -> Result<Plan> {
        plan(circuit, ComponentTerms::of(net), kinds)
    }

    /// How much it takes of each count of the pool.
    pub fn takes(&self) -> &[u64] {
        &self.takes
    }

    fn new(digest: [u8; 32], program: Program, pool: &[[u8; 32]]) -> Result<Plan> {
        let place = |kind: &Kind| {
            let digest = kind.digest();
            let place = pool.iter().position(|known| *known == digest);
            place.map(|place| (digest, place)).ok_or_else(|| Error::internal("an unknown kind"))
        };
        let kinds = program.graph.kinds.iter().map(place).collect::<Result<Vec<_>>>()?;
        let mut takes = vec![0; MASKS + 1 + pool.len()];
        takes[WIRES] = program.unbound() as u64;
        takes[TRANSFERS] = program.inputs[1].len() as u64;
        takes[MASKS] = program.to_evaluator.len() as u64;
        for ((_, place), count) in kinds.iter().zip(program.graph.counts()) {
            takes[MASKS + 1 + place] += count as u64;
        }
        Ok(Plan { digest, program: Arc::new(program), kinds, takes })
    }

    /// Prepares the program from a part of the pool.
    ///
    /// Check: `duplo`: pools of components | as above when the pool is filled: coin, buckets and
    /// sizes are the whole pool's; `commitment opening` when a program is connected | another
    /// bucket, wire, transfer or mask than was agreed on; parts of another pool | 2^-ρ for the
    /// pool; 2^-ρ
    ///
    /// # Errors
    /// `Store` when it is not there; others as the function-dependent phase has them.
    pub(crate) fn prepare(
        &self,
        net: &mut Network,
        range: &[Range<u64>],
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Prepared>> {
        let taken = range.iter().map(|range| range.end.saturating_sub(range.start));
        if !taken.eq(self.takes.iter().copied()) {
            return Err(Error::invalid_input("the part of the pool is not what the program takes"));
        }
        let opened = Opened::new(self, (net.me, net.rho.bits()), range, source)?;
        let (digest, program) = (self.digest, self.program.clone());
        let channel = peer(net)?;
        Ok(match opened {
            Opened::Garbler { origin, ends, committed, start } => {
                let parts = GarblerParts { digest, program, origin, ends };
                let [proof, online] = [0, 1].map(|use_of| start.numbered(&number(range, use_of)));
                Box::new(parts.connect(channel, &committed, proof.opening(), online)?)
            }
            Opened::Evaluator { origin, ends, received, start, own } => {
                let (buckets, transfers) = *own;
                let parts = EvaluatorParts { digest, program, origin, ends, buckets, transfers };
                let [proof, online] = [0, 1].map(|use_of| start.numbered(&number(range, use_of)));
                Box::new(parts.connect(channel, &received, proof.opening(), online)?)
            }
        })
    }
}

/// The number of an opening of a part of a pool.
fn number(range: &[Range<u64>], use_of: u8) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("symbolon 2026 duplo openings of a pool");
    hasher.update(&[use_of]);
    for Range { start, end } in range {
        hasher.update(&start.to_le_bytes()).update(&end.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// A part of a pool.
enum Opened {
    Garbler {
        origin: Origin,
        ends: Ends,
        committed: Committed,
        start: OwnLater,
    },
    Evaluator {
        origin: Origin,
        ends: Ends,
        received: Received,
        start: TheirLater,
        own: Box<(PartBuckets, Transfers)>,
    },
}

impl Opened {
    fn new(
        plan: &Plan,
        (me, rho): (PartyId, u32),
        range: &[Range<u64>],
        source: &mut dyn PoolSource,
    ) -> Result<Opened> {
        let params = commitments(rho)?;
        let n = plan.takes.len() - MASKS - 1;
        let garbler = me == GARBLER;
        let (commitment, own) = if garbler {
            (Committed::one_bytes(&params), START)
        } else {
            (Received::one_bytes(&params), TheirLater::bytes(&params))
        };
        let bytes = START + 8 * (1 + n) + commitment + own;
        let mut head = source.open(HEAD, 0..bytes as u64)?;
        let mut head = Reader(&mut *head);
        let session = head.array()?;
        let all = store::read_buckets(&mut head, n)?;
        let kinds = plan.kinds.iter().map(|(_, place)| all.kinds[*place]).collect();
        let buckets = BucketSizes { kinds, authenticators: all.authenticators };
        let origin =
            Origin::Pool(plan.kinds.iter().map(|(kind, _)| *kind).collect(), buckets.clone());
        let mut sections = Sections::open(plan, Shape::new(me, rho, all)?, range, source)?;
        if garbler {
            let mut committed = Committed::none(&params);
            committed.read(&mut head)?;
            let start = OwnLater::from_bytes(head.array()?);
            let (ends, _) = sections.read(&plan.program, &buckets, &mut committed)?;
            return Ok(Opened::Garbler { origin, ends, committed, start });
        }
        let mut received = Received::none(&params);
        received.read(&mut head)?;
        let start = Zeroizing::new(head.bytes(TheirLater::bytes(&params))?);
        let start = TheirLater::from_bytes(&params, &start)
            .ok_or_else(|| Error::internal("a record of another length than was read"))?;
        let (ends, own) = sections.read(&plan.program, &buckets, &mut received)?;
        let OwnOfEvaluator { hashes, authenticators: all, slots, tables, transfers } = own;
        let bucket = buckets.authenticators;
        let carriers = plan.program.carriers.clone();
        let authenticators = Authenticators { session, bucket, hashes, all, carriers };
        let buckets = PartBuckets { authenticators, slots, tables };
        let own = Box::new((buckets, transfers));
        Ok(Opened::Evaluator { origin, ends, received, start, own })
    }
}

/// What the evaluator reads besides commitments; the garbler has nothing of it.
struct OwnOfEvaluator {
    hashes: Vec<KeyHash>,
    authenticators: Vec<Authenticator>,
    slots: Vec<Vec<GarbledCopy>>,
    tables: HugeBuf<HalfGates>,
    transfers: Transfers,
}

/// The part of each section.
struct Sections {
    garbler: bool,
    /// Of each count; none of kinds that the program has not.
    parts: Vec<Option<Box<dyn Read + Send>>>,
    /// Where the kinds of the program are among the counts.
    kinds: Vec<usize>,
}

impl Sections {
    fn open(
        plan: &Plan,
        shape: Shape,
        range: &[Range<u64>],
        source: &mut dyn PoolSource,
    ) -> Result<Sections> {
        let mut records = vec![None; plan.takes.len()];
        records[WIRES] = Some(shape.wire());
        records[TRANSFERS] = Some(shape.transfer());
        records[MASKS] = Some(shape.commitment);
        for (kind, (_, place)) in plan.program.graph.kinds.iter().zip(&plan.kinds) {
            records[MASKS + 1 + place] = Some(shape.bucket(kind, *place));
        }
        let mut parts = Vec::with_capacity(records.len());
        for (counter, (record, Range { start, end })) in records.into_iter().zip(range).enumerate()
        {
            let Some(bytes) = record.map(|bytes| bytes as u64) else {
                parts.push(None);
                continue;
            };
            let beyond = || damaged("it is said to be impossibly long");
            let end = end.checked_mul(bytes).ok_or_else(beyond)?;
            parts.push(Some(source.open(1 + counter, start * bytes..end)?));
        }
        let kinds = plan.kinds.iter().map(|(_, place)| MASKS + 1 + place).collect();
        Ok(Sections { garbler: shape.garbler, parts, kinds })
    }

    fn of(&mut self, counter: usize) -> Result<Reader<'_>> {
        let part = self.parts.get_mut(counter).and_then(Option::as_mut);
        Ok(Reader(&mut **part.ok_or_else(|| Error::internal("a kind that is not there"))?))
    }

    /// Reads all that a program takes, in the order of its wires; commitments go behind the one to
    /// Δ_ot in `list`.
    fn read<L: List>(
        &mut self,
        program: &Program,
        buckets: &BucketSizes,
        list: &mut L,
    ) -> Result<(Ends, OwnOfEvaluator)> {
        let graph = &program.graph;
        let mut ends = Ends::default();
        let gates = |slot: usize| {
            let kind = graph.slots[slot].kind;
            graph.kinds[kind].ands() * buckets.kinds[kind]
        };
        let all = if self.garbler { 0 } else { (0..graph.slots.len()).map(gates).sum() };
        let n = program.inputs[1].len();
        let choices = Zeroizing::new(BitVec::zeros(n));
        let transfers = Transfers { choices, results: Zeroizing::new(Vec::with_capacity(n)) };
        let mut own = OwnOfEvaluator {
            hashes: Vec::new(),
            authenticators: Vec::new(),
            slots: Vec::new(),
            tables: HugeBuf::public(all),
            transfers,
        };
        let (garbler, bucket) = (self.garbler, buckets.authenticators);
        let wires =
            |from: &mut Reader<'_>, n, ends: &mut Ends, own: &mut OwnOfEvaluator, list: &mut L| {
                for _ in 0..n {
                    ends.heads.push(Target { key: list.read(from)?, offset: list.read(from)? });
                    if !garbler {
                        let all = (&mut own.hashes, &mut own.authenticators);
                        store::read_authenticators(from, bucket, all)?;
                    }
                }
                Ok::<_, Error>(())
            };
        for &carrier in &program.carriers[..graph.inputs] {
            match carrier {
                Carrier::Authenticated(_) => {
                    let from = &mut self.of(WIRES)?;
                    wires(from, 1, &mut ends, &mut own, list)?;
                }
                Carrier::OwnInput(input) => {
                    let from = &mut self.of(TRANSFERS)?;
                    ends.transfers.push(list.read(from)?);
                    ends.heads.push(Target { key: list.read(from)?, offset: COMMON_OFFSET });
                    if !garbler {
                        read_transfer(from, input as usize, &mut own.transfers)?;
                    }
                }
            }
        }
        let mut first = 0;
        for (number, slot) in graph.slots.iter().enumerate() {
            let kind = &graph.kinds[slot.kind];
            if [slot.first_sum, slot.first_output as usize] != [ends.inputs.len(), ends.heads.len()]
            {
                return Err(Error::internal("a component's wires do not follow those before"));
            }
            let from = &mut self.of(self.kinds[slot.kind])?;
            let offset = list.read(from)?;
            for _ in 0..kind.inputs() {
                ends.inputs.push(Target { key: list.read(from)?, offset });
            }
            wires(from, kind.outputs(), &mut ends, &mut own, list)?;
            if !garbler {
                let copies = (kind, buckets.kinds[slot.kind]);
                own.slots.push(store::read_slot(from, copies, (&mut own.tables, first))?);
                first += gates(number);
            }
        }
        let unbound = &mut self.of(WIRES)?;
        wires(unbound, program.out_gates.len(), &mut ends, &mut own, list)?;
        ends.masks = list.next();
        for _ in 0..program.to_evaluator.len() {
            list.read(&mut self.of(MASKS)?)?;
        }
        Ok((ends, own))
    }
}

fn read_transfer(from: &mut Reader<'_>, number: usize, transfers: &mut Transfers) -> Result<()> {
    let [choice] = from.array()?;
    if choice > 1 {
        return Err(damaged("a choice is no bit"));
    }
    transfers.choices.set(number, choice == 1);
    let result: Block = from.block()?;
    transfers.results.push(result);
    Ok(())
}
