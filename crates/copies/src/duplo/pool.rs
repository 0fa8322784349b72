//! Pools: garbled components that are independent of any program and outlive their session.
//!
//! The function-independent phase fills a number of buckets for each kind of component. The outputs
//! of a bucket have wires of their own, with authenticators. Programs also need inputs, and outputs
//! that are sums; for these the pool has more wires, transfers and masks. Everything is checked
//! when the pool is filled. A coin, tossed after all copies are fixed, distributes the copies to
//! the buckets, over the whole pool or a window of it (`windows`), and every soldering inside a
//! bucket is proved. So every bucket is good except with probability 2^-ρ for the pool, whichever
//! buckets a program takes.
//!
//! A program takes buckets from the front of each kind, and its function-dependent phase connects
//! them. Nothing moves from one pool to another: Δ_ot and the key of the commitments belong to the
//! pool.
//!
//! # Records
//! By section:
//! * 0: the session of the set-up, the bucket sizes, the commitment to Δ_ot, and the start of the
//!   pool's openings; at the evaluator, also Δ of the commitments;
//! * 1: for each wire, the commitments to its key and Δ; at the evaluator, also the start of its
//!   authenticators' hash, and the authenticators;
//! * 2: for each input of the evaluator, the commitments to R of a transfer and to the key of the
//!   wire; at the evaluator, also the choice and the result;
//! * 3: for each mask, its commitment;
//! * 4 + k: for each bucket of kind k, the commitments to Δ and the input keys of its first copy,
//!   and to the key and Δ of each output;
//! * 4 + n + k, at the evaluator only, for n kinds: for each bucket of kind k, the authenticators
//!   of its outputs, and all copies.
//!
//! # Openings
//! Every opening has a start of its own. The start of an opening for a range of the pool is a hash
//! of the pool's start and the range's position. Ranges do not overlap, so no two starts are the
//! same.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

use symbolon_circuit::components::Kind;
use symbolon_cutchoose::hcom::{OwnLater, TheirLater};
use symbolon_engine::{
    Compiled, ComponentPlan, ComponentSection, Components, Network, PoolSink, PoolSource, Prepared,
    Rho, RunTerms,
    codec::{Reader, Writer, damaged},
};
use symbolon_primitives::{BitVec, Block, HugeBuf};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use super::authenticators::Authenticators;
use super::buckets::{GarbledCopy, Place, View};
use super::commit::{Committed, Id, List, Received};
use super::endpoints::Endpoints;
use super::evaluate::FilledBuckets;
use super::garble::HalfGates;
use super::layout::COMMON_OFFSET;
use super::oblivious::Transfers;
use super::online::{EvaluatorPreparation, GarblerPreparation};
use super::options;
use super::params::{BucketSizes, Games};
use super::program::{Carrier, GARBLER, Origin, Program, Task};
use super::shelf::{InFile, Shelf, Slots, output_wires, slot_bytes};
use super::solder::Target;
use super::state::{commitments, peer};
use super::stock::{self, MASKS, TRANSFERS, WIRES};
use super::store;
use super::windows::Windows;

/// The section with the data of the pool as a whole. Those of the counts follow.
const HEAD: usize = 0;

/// Returns the section of the commitments of the buckets of a kind.
fn section_of(kind: usize) -> usize {
    1 + MASKS + 1 + kind
}

/// Returns the section of the evaluator's authenticators and copies for one of `kinds` kinds.
fn own_section(kinds: usize, kind: usize) -> usize {
    section_of(kinds) + kind
}

/// Bytes of a session id, and of the start of openings.
const START: usize = 32;

/// The sizes of a party's records.
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

    fn bucket(&self, kind: &Kind) -> usize {
        (1 + kind.inputs() + 2 * kind.outputs()) * self.commitment
    }
}

/// Returns the sections of a party's pool.
///
/// # Errors
/// `InvalidInput` when the pool would be too large.
pub(super) fn sections(
    components: &Components,
    me: PartyId,
    games: Games,
) -> Result<Vec<ComponentSection>> {
    let buckets = Windows::of_pool(components, games)?.buckets();
    let shape = Shape::new(me, games.rho, buckets)?;
    let mut records = vec![shape.wire(), shape.transfer(), shape.commitment];
    records.extend(components.by_kind.iter().map(|(kind, _)| shape.bucket(kind)));
    let mut sections = vec![ComponentSection { counter: None, bytes: 0, public: false }];
    let of = |counter, bytes: usize, public| ComponentSection {
        counter: Some(counter),
        bytes: bytes as u64,
        public,
    };
    sections.extend((0..).zip(records).map(|(counter, bytes)| of(counter, bytes, false)));
    if !shape.garbler {
        let kinds = components.by_kind.iter().enumerate();
        sections.extend(kinds.map(|(number, (kind, _))| {
            of(MASKS + 1 + number, slot_bytes(kind, number, &shape.buckets), true)
        }));
    }
    Ok(sections)
}

/// Like [`sections`], for games that are lost with probability at most 2^-ρ.
pub(super) fn sections_at(
    components: &Components,
    me: PartyId,
    rho: Rho,
) -> Result<Vec<ComponentSection>> {
    sections(components, me, Games::new(rho.bits()))
}

/// Returns what `runs` runs of a circuit take. Unless components are named, those that cost least
/// when all runs are made together are chosen.
pub(super) fn demand(circuit: &Compiled, terms: RunTerms<'_>, runs: u64) -> Result<Components> {
    let preparations = usize::try_from(runs).ok().filter(|runs| (1..=1 << 32).contains(runs));
    let task = Task {
        executions: terms.executions,
        preparations: preparations
            .ok_or_else(|| Error::invalid_input("too many executions at a time"))?,
        games: Games::new(terms.rho.bits()),
        components: options::components(terms.options),
        linked: &[],
    };
    stock::needed(&Program::new(circuit.circuit(), task)?, runs)
}

/// Returns what a run of a circuit takes from a pool of these kinds.
pub(super) fn plan(
    circuit: &Compiled,
    terms: RunTerms<'_>,
    kinds: &[[u8; 32]],
) -> Result<Box<dyn ComponentPlan>> {
    Ok(Box::new(Plan::of(circuit, terms, kinds)?))
}

/// Writes a pool as it is made.
pub(super) struct Filling<'a> {
    sink: &'a mut dyn PoolSink,
    record: Zeroizing<Vec<u8>>,
    /// Scratch space for a table.
    table: HugeBuf<HalfGates>,
}

impl<'a> Filling<'a> {
    pub fn new(sink: &'a mut dyn PoolSink) -> Filling<'a> {
        Filling { sink, record: Zeroizing::default(), table: HugeBuf::public(0) }
    }

    /// Writes a record of at most `bytes` bytes.
    fn put(
        &mut self,
        section: usize,
        bytes: usize,
        write: impl FnOnce(&mut Writer<'_>) -> Result<()>,
    ) -> Result<()> {
        self.record.clear();
        if self.record.capacity() < bytes {
            // A vector that grows leaves copies of its old contents in memory.
            self.record = Zeroizing::new(Vec::with_capacity(bytes));
        }
        write(&mut Writer(&mut *self.record))?;
        self.sink.write(section, &self.record)
    }

    /// Writes the data of the pool as a whole. `own` is this party's side of the start of openings.
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

    /// Writes everything that does not belong to a bucket of components.
    pub fn unbound<L: List>(
        &mut self,
        view: View<'_>,
        list: &L,
        evaluator: Option<(&Authenticators, &Transfers)>,
    ) -> Result<()> {
        let (program, endpoints) = (view.program, Endpoints::of(view));
        for wire in 0..program.unbound() {
            let authenticators = evaluator.map(|(all, _)| all);
            let own = authenticators.map_or(0, |all| store::authenticators_bytes(all.bucket));
            self.put(1 + WIRES, 2 * list.bytes() + own, |to| {
                let own = authenticators.map(|all| (all, wire));
                write_wire(to, list, endpoints.heads[wire], own)
            })?;
        }
        for (transfer, &wire) in program.inputs[1].iter().enumerate() {
            self.put(1 + TRANSFERS, 2 * list.bytes() + 17, |to| {
                list.write(endpoints.transfers[transfer], to)?;
                list.write(endpoints.head(wire).key, to)?;
                let Some((_, all)) = evaluator else { return Ok(()) };
                to.bytes(&[all.choices.get(transfer).into()])?;
                to.list(&all.results[transfer..][..1])
            })?;
        }
        for mask in 0..program.to_evaluator.len() {
            self.put(1 + MASKS, list.bytes(), |to| list.write(endpoints.masks + mask as Id, to))?;
        }
        Ok(())
    }

    /// Writes the commitments of a bucket of components.
    pub fn bucket<L: List>(&mut self, (view, slot): (View<'_>, usize), list: &L) -> Result<()> {
        let (at, kind, objects) = view.slot(slot);
        let first = view.copies(slot)[0] as usize;
        let bytes = (1 + kind.inputs() + 2 * kind.outputs()) * list.bytes();
        self.put(section_of(at.kind), bytes, |to| {
            list.write(objects.offset(first), to)?;
            (0..kind.inputs()).try_for_each(|i| list.write(objects.key(first, i), to))?;
            for wire in output_wires(&view.program.graph, at) {
                write_wire(to, list, view.head(wire), None)?;
            }
            Ok(())
        })
    }

    /// Writes the evaluator's authenticators for the outputs of a bucket. The bucket's copies go to
    /// the returned place.
    pub fn own_bucket<'f>(
        &'f mut self,
        (view, slot): (View<'_>, usize),
        authenticators: &Authenticators,
    ) -> Result<FillingBucket<'f, 'a>> {
        let (at, kind, _) = view.slot(slot);
        let section = own_section(view.program.graph.kinds.len(), at.kind);
        let bytes = kind.outputs() * store::authenticators_bytes(authenticators.bucket);
        self.put(section, bytes, |to| {
            let mut wires = output_wires(&view.program.graph, at);
            wires.try_for_each(|wire| store::write_authenticators(to, authenticators, wire))
        })?;
        Ok(FillingBucket { filling: self, section })
    }
}

/// A bucket whose copies are being written.
pub(super) struct FillingBucket<'f, 'a> {
    filling: &'f mut Filling<'a>,
    section: usize,
}

impl Place for FillingBucket<'_, '_> {
    fn table(&mut self, gates: usize) -> (&mut [HalfGates], Range<usize>) {
        self.filling.table.reset(gates);
        (&mut self.filling.table[..], 0..gates)
    }

    fn keep(&mut self, copy: GarbledCopy) -> Result<()> {
        let Filling { sink, table, .. } = self.filling;
        let mut to = ToSection(&mut **sink, self.section, None);
        let written = store::write_copy(&mut Writer(&mut to), &copy, table);
        to.2.map_or(written, Err)
    }
}

/// Writes to a section of a pool, and keeps the error if that fails.
struct ToSection<'a>(&'a mut dyn PoolSink, usize, Option<Error>);

impl Write for ToSection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(self.1, bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.2 = Some(error);
                Err(io::Error::other("the pool cannot be written"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_wire(
    to: &mut Writer<'_>,
    list: &impl List,
    head: Target,
    own: Option<(&Authenticators, usize)>,
) -> Result<()> {
    list.write(head.key, to)?;
    list.write(head.offset, to)?;
    own.map_or(Ok(()), |(all, wire)| store::write_authenticators(to, all, wire))
}

/// Returns the program of a circuit that was prepared from a pool. `kinds` are the kinds of the
/// program, in order.
///
/// # Errors
/// `InvalidInput` when the circuit has components of other kinds.
pub(super) fn program(
    run: RunTerms<'_>,
    circuit: &Compiled,
    kinds: &[[u8; 32]],
) -> Result<Program> {
    let executions = run.executions;
    let components = options::components(run.options);
    let program = Program::of_kinds(circuit.circuit(), executions, kinds, components)?;
    if program.graph.kinds.iter().map(Kind::digest).ne(kinds.iter().copied()) {
        return Err(Error::invalid_input("a program of other components"));
    }
    Ok(program)
}

/// What a program takes from a pool.
pub(super) struct Plan {
    digest: [u8; 32],
    program: Arc<Program>,
    /// The kinds of the program, each with its index among the pool's kinds.
    kinds: Vec<([u8; 32], usize)>,
    takes: Vec<u64>,
}

impl Plan {
    /// Returns what a circuit takes from a pool of these kinds.
    ///
    /// # Errors
    /// `InvalidInput` when the circuit has components of other kinds.
    pub fn of(circuit: &Compiled, terms: RunTerms<'_>, kinds: &[[u8; 32]]) -> Result<Plan> {
        let RunTerms { executions, options, .. } = terms;
        let components = options::components(options);
        let program = Program::of_kinds(circuit.circuit(), executions, kinds, components)?;
        Plan::new(circuit.digest(), program, kinds)
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
}

impl ComponentPlan for Plan {
    fn takes(&self) -> &[u64] {
        &self.takes
    }

    /// Prepares the program from a range of the pool.
    ///
    /// Check: `duplo`: pools of components | as above when the pool is filled: coin and buckets are
    /// a window's, and the games of all windows share 2^-ρ; `commitment opening` when a program is
    /// connected | another bucket, wire, transfer or mask than was agreed on; parts of another pool
    /// | 2^-ρ for the pool; 2^-ρ
    fn prepare(
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
            Opened::Garbler { origin, endpoints, committed, start } => {
                let preparation = GarblerPreparation { digest, program, origin, endpoints };
                let [proof, online] = [0, 1].map(|use_of| start.numbered(&number(range, use_of)));
                Box::new(preparation.connect(channel, &committed, proof.opening(), online)?)
            }
            Opened::Evaluator { origin, endpoints, received, start, own } => {
                let (buckets, transfers) = *own;
                let preparation =
                    EvaluatorPreparation { digest, program, origin, endpoints, buckets, transfers };
                let [proof, online] = [0, 1].map(|use_of| start.numbered(&number(range, use_of)));
                Box::new(preparation.connect(channel, &received, proof.opening(), online)?)
            }
        })
    }
}

/// Returns the number of an opening for a range of a pool. `use_of` tells the range's two openings
/// apart.
fn number(range: &[Range<u64>], use_of: u8) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("symbolon 2026 duplo openings of a pool");
    hasher.update(&[use_of]);
    for Range { start, end } in range {
        hasher.update(&start.to_le_bytes()).update(&end.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// A range of a pool, as read by a party.
enum Opened {
    Garbler {
        origin: Origin,
        endpoints: Endpoints,
        committed: Committed,
        start: OwnLater,
    },
    Evaluator {
        origin: Origin,
        endpoints: Endpoints,
        received: Received,
        start: TheirLater,
        own: Box<(FilledBuckets, Transfers)>,
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
            let endpoints = sections.read(&plan.program, &mut committed, None)?;
            return Ok(Opened::Garbler { origin, endpoints, committed, start });
        }
        let mut received = Received::none(&params);
        received.read(&mut head)?;
        let start = Zeroizing::new(head.list(TheirLater::bytes(&params))?);
        let start = TheirLater::from_bytes(&params, &start)
            .ok_or_else(|| Error::internal("a record of another length than was read"))?;
        let n = plan.program.inputs[1].len();
        let choices = Zeroizing::new(BitVec::zeros(n));
        let carriers = plan.program.carriers.clone();
        let mut own = OwnOfEvaluator {
            authenticators: Authenticators::of_some(session, buckets.authenticators, carriers),
            transfers: Transfers { choices, results: Zeroizing::new(Vec::with_capacity(n)) },
        };
        let endpoints = sections.read(&plan.program, &mut received, Some(&mut own))?;
        let OwnOfEvaluator { mut authenticators, transfers } = own;
        let slots = sections.slots(plan, &buckets, (&mut authenticators, source.waits()))?;
        let buckets = FilledBuckets { authenticators, slots };
        let own = Box::new((buckets, transfers));
        Ok(Opened::Evaluator { origin, endpoints, received, start, own })
    }
}

/// What only the evaluator reads, besides the commitments.
struct OwnOfEvaluator {
    authenticators: Authenticators,
    transfers: Transfers,
}

/// Readers of a program's part of each section.
struct Sections {
    /// One for each count; `None` for kinds that the program does not have.
    readers: Vec<Option<Box<dyn Read + Send>>>,
    /// For each kind of the program, its index among the counts.
    kinds: Vec<usize>,
    /// The evaluator's authenticators and copies, one reader for each kind of the pool.
    own: Vec<Box<dyn Read + Send>>,
    /// For each kind of the program, the index of its reader in `own`.
    own_of: Vec<usize>,
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
            records[MASKS + 1 + place] = Some(shape.bucket(kind));
        }
        let mut open = |section, counter: usize, bytes: usize| {
            let Range { start, end } = &range[counter];
            let beyond = || damaged("it is said to be impossibly long");
            let end = end.checked_mul(bytes as u64).ok_or_else(beyond)?;
            source.open(section, start * bytes as u64..end)
        };
        let mut readers = Vec::with_capacity(records.len());
        for (counter, record) in records.into_iter().enumerate() {
            readers.push(record.map(|bytes| open(1 + counter, counter, bytes)).transpose()?);
        }
        let kinds: Vec<usize> = plan.kinds.iter().map(|(_, place)| MASKS + 1 + place).collect();
        let (mut own, mut own_of, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let wanted = if shape.garbler { &[][..] } else { &plan.kinds };
        for (kind, (_, place)) in plan.program.graph.kinds.iter().zip(wanted) {
            // A program may have a kind of the pool under two names.
            let known = places.iter().position(|known| known == place);
            own_of.push(known.unwrap_or(own.len()));
            if known.is_none() {
                let bytes = slot_bytes(kind, *place, &shape.buckets);
                let section = own_section(plan.takes.len() - MASKS - 1, *place);
                own.push(open(section, MASKS + 1 + place, bytes)?);
                places.push(*place);
            }
        }
        Ok(Sections { readers, kinds, own, own_of })
    }

    /// Returns the evaluator's slots. If they are large and the source waits for this program, they
    /// stay in the source.
    fn slots(
        mut self,
        plan: &Plan,
        buckets: &BucketSizes,
        (authenticators, waits): (&mut Authenticators, bool),
    ) -> Result<Slots> {
        let graph = &plan.program.graph;
        let mut shelf = Shelf::new(graph, buckets)?;
        if shelf.is_in_file() && waits {
            return Ok(Slots::InFile(InFile::new(self.own, self.own_of, buckets.clone())));
        }
        for slot in &graph.slots {
            let from = &mut Reader(&mut *self.own[self.own_of[slot.kind]]);
            shelf.read(from, (graph, slot), buckets, authenticators)?;
        }
        shelf.finish()
    }

    fn of(&mut self, counter: usize) -> Result<Reader<'_>> {
        let reader = self.readers.get_mut(counter).and_then(Option::as_mut);
        Ok(Reader(&mut **reader.ok_or_else(|| Error::internal("a kind that is not there"))?))
    }

    /// Reads everything that a program takes, in the order of its wires. Appends the commitments to
    /// `list`, after the one to Δ_ot, and the evaluator's other data to `own`.
    fn read<L: List>(
        &mut self,
        program: &Program,
        list: &mut L,
        mut own: Option<&mut OwnOfEvaluator>,
    ) -> Result<Endpoints> {
        let (graph, mut endpoints) = (&program.graph, Endpoints::default());
        for (wire, &carrier) in program.carriers[..graph.inputs].iter().enumerate() {
            match carrier {
                Carrier::Authenticated(_) => {
                    let all = own.as_mut().map(|own| (&mut own.authenticators, wire));
                    endpoints.heads.push(read_wire(&mut self.of(WIRES)?, list, all)?);
                }
                Carrier::OwnInput(input) => {
                    let from = &mut self.of(TRANSFERS)?;
                    endpoints.transfers.push(list.read(from)?);
                    endpoints.heads.push(Target { key: list.read(from)?, offset: COMMON_OFFSET });
                    if let Some(own) = &mut own {
                        read_transfer(from, input as usize, &mut own.transfers)?;
                    }
                }
            }
        }
        for slot in &graph.slots {
            let kind = &graph.kinds[slot.kind];
            if [slot.first_sum, slot.first_output as usize]
                != [endpoints.inputs.len(), endpoints.heads.len()]
            {
                return Err(Error::internal("a component's wires do not follow those before"));
            }
            let from = &mut self.of(self.kinds[slot.kind])?;
            let offset = list.read(from)?;
            for _ in 0..kind.inputs() {
                endpoints.inputs.push(Target { key: list.read(from)?, offset });
            }
            for _ in 0..kind.outputs() {
                endpoints.heads.push(read_wire(from, list, None)?);
            }
        }
        for wire in graph.wires..program.wires() {
            let all = own.as_mut().map(|own| (&mut own.authenticators, wire));
            endpoints.heads.push(read_wire(&mut self.of(WIRES)?, list, all)?);
        }
        endpoints.masks = list.next();
        for _ in 0..program.to_evaluator.len() {
            list.read(&mut self.of(MASKS)?)?;
        }
        Ok(endpoints)
    }
}

fn read_wire(
    from: &mut Reader<'_>,
    list: &mut impl List,
    own: Option<(&mut Authenticators, usize)>,
) -> Result<Target> {
    let head = Target { key: list.read(from)?, offset: list.read(from)? };
    if let Some((all, wire)) = own {
        store::read_authenticators(from, wire, all)?;
    }
    Ok(head)
}

fn read_transfer(from: &mut Reader<'_>, number: usize, transfers: &mut Transfers) -> Result<()> {
    let [choice] = from.array()?;
    if choice > 1 {
        return Err(damaged("a choice is not a bit"));
    }
    transfers.choices.set(number, choice == 1);
    let result: Block = from.block()?;
    transfers.results.push(result);
    Ok(())
}
