//! PreProcessOTInit, PreProcessSub and PreProcessInKA in one: everything up to the buckets.
//!
//! ```text
//! G                                                          E
//! commitments, corrections, digests, transfers, masks   ──▶
//!                          coin: key of the authenticators' hash
//! accepted keys                                         ──▶
//!                          coin: opened objects, buckets, subsets of the other checks
//!                                                       ◀──  sums of transfers
//! openings of objects, sums of masks                    ──▶  a thread checks everything
//! for each preparation: solderings of authenticators,
//! tables and solderings of components                   ──▶  checks everything
//! ```
//!
//! All preparations of a program share the cut-and-choose. Then the preparations follow one after
//! another, each with a proof of its own, so that the evaluator can store a preparation and forget
//! it before the next one arrives.
//!
//! A preparation may even run online before the next one is filled, as the batches of a long run
//! do. While a preparation is filled and connected, the evaluator sends nothing, and the garbler's
//! messages do not depend on what ran before; so both parties' views are those of stored
//! preparations in another order. A garbler that cheats has learnt from earlier preparations what
//! it would learn from any earlier evaluation; the commitments, digests and accepted keys, against
//! which everything is checked, are older than the coin.

use std::sync::Arc;

use symbolon_cutchoose::hcom::{OwnLater, OwnOpening, TheirLater, TheirOpening};
use symbolon_engine::parallel::allow_gates;
use symbolon_primitives::Prg;
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::authenticators;
use super::buckets::{self, Drawn, View};
use super::check::{self, Draw};
use super::commit::{Committed, Received};
use super::evaluate::FilledBuckets;
use super::garble;
use super::indicators;
use super::keys::KeyHash;
use super::layout::Layout;
use super::oblivious::{self, Transfers};
use super::opened::{Check, Opened, Sent, Verdict};
use super::params::{BucketSizes, Params};
use super::pool::Filling;
use super::program::Program;
use super::shelf::{Shelf, output_wires};
use super::state::{Duplo, Evaluator, Garbler, Role};

/// The task of one cut-and-choose.
pub(super) struct Window<'a> {
    /// The digest of the circuit.
    pub digest: [u8; 32],
    pub program: &'a Arc<Program>,
    /// How many preparations of the program it is for.
    pub preparations: usize,
    pub params: Params,
}

/// What the garbler holds after the cut-and-choose.
pub(super) struct GarblerCopies {
    /// The digest of the circuit.
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub drawn: Drawn,
    pub committed: Committed,
    session: [u8; 32],
    threads: usize,
    buckets: BucketSizes,
}

/// What the evaluator holds after the cut-and-choose.
pub(super) struct EvaluatorCopies {
    /// The digest of the circuit.
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub drawn: Arc<Drawn>,
    pub received: Arc<Received>,
    pub transfers: Transfers,
    sent: Arc<Sent>,
    buckets: BucketSizes,
    /// The verdict on the opened objects.
    opened: Verdict,
}

/// The sizes and numbers of everything that all preparations of a program take.
struct Run {
    params: Params,
    layout: Layout,
    /// Transfers, without the sacrificed ones.
    transfers: usize,
    /// Masks, without the sacrificed ones.
    masks: usize,
    /// How many more transfers, and how many more masks, are sacrificed.
    checks: usize,
}

impl Run {
    fn new<R: Role>(engine: &mut Duplo<R>, window: Window<'_>) -> Result<Run> {
        let Window { program, preparations, params, .. } = window;
        let checks = engine.games.rho as usize;
        let layout =
            Layout::new((program, preparations), &params, engine.games.rho, engine.objects);
        if u32::try_from(layout.total).is_err() {
            return Err(Error::invalid_input("too many wires of too many components at a time"));
        }
        engine.objects += layout.objects;
        let transfers = program.inputs[1].len() * preparations;
        let masks = program.to_evaluator.len() * preparations;
        Ok(Run { params, layout, transfers, masks, checks })
    }

    /// Draws the opened objects and the buckets of the others.
    fn draw(self, program: &Program, coin: &mut Prg) -> Result<Drawn> {
        let kinds = self.params.kinds.iter().map(|sizes| Draw::new(sizes, coin));
        let kinds = kinds.collect::<Result<_>>()?;
        let authenticators = Draw::new(&self.params.authenticators, coin)?;
        let mut counts = vec![0; program.graph.kinds.len()];
        let bucket_of = program.graph.slots.iter().map(|slot| {
            counts[slot.kind] += 1;
            counts[slot.kind] - 1
        });
        let bucket_of = bucket_of.collect();
        Ok(Drawn { layout: self.layout, kinds, authenticators, bucket_of, counts })
    }
}

/// The garbler's side of the cut-and-choose.
pub(super) fn garbler(
    engine: &mut Duplo<Garbler>,
    channel: &mut Channel,
    threads: usize,
    window: Window<'_>,
) -> Result<GarblerCopies> {
    let (digest, program) = (window.digest, window.program.clone());
    let run = Run::new(engine, window)?;
    let buckets = run.params.buckets();
    let session = engine.session;
    let (transfers, masks) = (run.layout.transfers, run.layout.masks);
    let Garbler { cot, committer } = &mut engine.role;
    let mut committed = Committed::random(channel, committer, run.layout.total)?;
    let place = (transfers, run.transfers + run.checks);
    oblivious::send(channel, cot.as_mut(), &mut committed, place)?;
    indicators::commit(channel, &mut committed, (masks, run.masks + run.checks))?;
    let (objects, bundle) = (run.layout.authenticators, run.layout.bundle);
    authenticators::commit_all(channel, &mut committed, &session, (&objects, bundle))?;
    for kind in program.graph.kinds.iter().zip(&run.layout.kinds) {
        garble::garble_all(channel, &mut committed, (&session, threads), kind)?;
    }
    let hash = KeyHash::new(engine.coin(channel)?);
    authenticators::send_accepted(channel, &committed, &hash, (&objects, bundle))?;
    let mut coin = engine.coin(channel)?.into_prg();
    let (of_transfers, of_masks) = (check::next(&mut coin), check::next(&mut coin));
    let (n_transfers, n_masks, checks) = (run.transfers, run.masks, run.checks);
    let drawn = run.draw(&program, &mut coin)?;

    let mut opening = committed.opening(engine.role.committer.opening());
    oblivious::open(channel, &mut opening, of_transfers, (transfers, n_transfers, checks))?;
    indicators::open(channel, &mut opening, of_masks, (masks, n_masks, checks))?;
    for ((kind, objects), draw) in
        program.graph.kinds.iter().zip(&drawn.layout.kinds).zip(&drawn.kinds)
    {
        check::open_components(channel, &mut opening, (kind, objects), draw)?;
    }
    let what = (&objects, bundle);
    check::open_authenticators(channel, &mut opening, what, &drawn.authenticators)?;
    opening.prove(channel)?;
    channel.flush()?;
    let kinds = program.graph.kinds.iter().zip(&drawn.kinds);
    let opened = kinds.map(|(kind, draw)| kind.ands() * draw.opened.len()).sum::<usize>();
    allow_gates(channel, opened as u64);
    Ok(GarblerCopies { digest, program, drawn, committed, session, threads, buckets })
}

impl GarblerCopies {
    /// Writes the head of a pool, of which this is the first window.
    ///
    /// # Errors
    /// `Store` when the pool cannot be written.
    pub fn begin(&self, pool: &mut Filling<'_>, start: &OwnLater) -> Result<()> {
        pool.head(&self.session, &self.committed, &self.buckets, &start.to_bytes())
    }

    /// Writes the only preparation, whose buckets are filled, to a pool.
    ///
    /// # Errors
    /// `Store` when the pool cannot be written.
    pub fn keep(&self, pool: &mut Filling<'_>) -> Result<()> {
        let GarblerCopies { program, drawn, committed, .. } = self;
        let view = View { program, drawn, preparation: 0 };
        pool.unbound(view, committed, None)?;
        let mut slots = 0..program.graph.slots.len();
        slots.try_for_each(|slot| pool.bucket((view, slot), committed))
    }

    /// Fills the buckets of a preparation.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn fill(&self, channel: &mut Channel, proof: OwnOpening, preparation: usize) -> Result<()> {
        let GarblerCopies { program, drawn, committed, session, threads, .. } = self;
        let mut sending = buckets::Sending::new(session, *threads);
        let view = View { program, drawn, preparation };
        let mut opening = committed.opening(proof);
        buckets::solder_authenticators(channel, &mut opening, view)?;
        for slot in 0..program.graph.slots.len() {
            sending.slot(channel, &mut opening, (view, slot))?;
        }
        opening.prove(channel)?;
        channel.flush()
    }
}

/// The evaluator's side of the cut-and-choose.
pub(super) fn evaluator(
    engine: &mut Duplo<Evaluator>,
    channel: &mut Channel,
    threads: usize,
    window: Window<'_>,
) -> Result<EvaluatorCopies> {
    let (digest, program) = (window.digest, window.program.clone());
    let run = Run::new(engine, window)?;
    let buckets = run.params.buckets();
    let session = engine.session;
    let (first_transfer, first_mask) = (run.layout.transfers, run.layout.masks);
    let mut prg = engine.prg.child();
    let Evaluator { cot, receiver, .. } = &mut engine.role;
    let mut received = Received::random(channel, receiver, run.layout.total)?;
    let place = (first_transfer, run.transfers + run.checks);
    let transfers = oblivious::receive(channel, cot.as_mut(), &mut received, place, &mut prg)?;
    indicators::receive(channel, &mut received, (first_mask, run.masks + run.checks))?;
    let (objects, bundle) = (run.layout.authenticators, run.layout.bundle);
    authenticators::receive_all(channel, &mut received, (&objects, bundle))?;
    let mut digests = Vec::new();
    for kind in program.graph.kinds.iter().zip(&run.layout.kinds) {
        digests.push(garble::receive_all(channel, &mut received, kind)?);
    }
    let hash = KeyHash::new(engine.coin(channel)?);
    let accepted = authenticators::receive_accepted(channel, (&objects, bundle))?;
    let mut coin = engine.coin(channel)?.into_prg();
    let (of_transfers, of_masks) = (check::next(&mut coin), check::next(&mut coin));
    let (n_transfers, n_masks, checks) = (run.transfers, run.masks, run.checks);
    let drawn = run.draw(&program, &mut coin)?;

    let mut claims = received.claims(engine.role.receiver.opening());
    let place = (first_transfer, n_transfers, checks);
    oblivious::claim(channel, &mut claims, of_transfers, &transfers, place)?;
    indicators::claim(channel, &mut claims, of_masks, (first_mask, n_masks, checks))?;
    let opening = claims.into_opening();
    let opened = Opened::receive(channel, &program, &drawn)?;
    let transfers = transfers.first(n_transfers);
    let (drawn, received) = (Arc::new(drawn), Arc::new(received));
    let sent = Arc::new(Sent { session, digests, hash, accepted });
    let check = Check {
        program: program.clone(),
        drawn: drawn.clone(),
        received: received.clone(),
        sent: sent.clone(),
        opening,
        opened,
        threads,
        peer: channel.peer(),
    };
    let opened = check.start()?;
    Ok(EvaluatorCopies { digest, program, drawn, received, transfers, sent, buckets, opened })
}

impl EvaluatorCopies {
    /// Receives the buckets of a preparation and checks their proof. Then waits for the check of
    /// the opened objects: the buckets may not be used before it has passed.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn fill(
        &mut self,
        channel: &mut Channel,
        proof: TheirOpening,
        preparation: usize,
    ) -> Result<FilledBuckets> {
        let filled = self.receive(channel, proof, preparation);
        // A garbler that cheated may be gone by now; then its cheat is the error.
        self.opened.passed()?;
        filled
    }

    fn receive(
        &self,
        channel: &mut Channel,
        proof: TheirOpening,
        preparation: usize,
    ) -> Result<FilledBuckets> {
        let EvaluatorCopies { program, drawn, received, sent, .. } = self;
        let Sent { session, digests, hash, accepted } = sent.as_ref();
        let view = View { program, drawn, preparation };
        let mut claims = received.claims(proof);
        let what = (session, hash.clone(), &accepted[..]);
        let authenticators = buckets::receive_authenticators(channel, &mut claims, view, what)?;
        let graph = &program.graph;
        let mut shelf = Shelf::new(graph, &self.buckets)?;
        for (number, slot) in graph.slots.iter().enumerate() {
            shelf.begin(&authenticators, output_wires(graph, slot))?;
            let digests = &digests[slot.kind];
            let what = (view, number);
            buckets::receive_slot(channel, &mut claims, what, digests, &mut shelf)?;
        }
        claims.check(channel)?;
        let authenticators = if shelf.is_in_file() {
            authenticators.only(program.unbound_wires())
        } else {
            authenticators
        };
        Ok(FilledBuckets { authenticators, slots: shelf.finish()? })
    }

    /// Writes the head of a pool, of which this is the first window.
    ///
    /// # Errors
    /// `Store` when the pool cannot be written.
    pub fn begin(&self, pool: &mut Filling<'_>, start: &TheirLater) -> Result<()> {
        let own = Zeroizing::new(start.to_bytes());
        pool.head(&self.sent.session, self.received.as_ref(), &self.buckets, &own)
    }

    /// Receives the buckets of the only preparation and writes them to a pool as they arrive. Also
    /// checks their proof and waits for the check of the opened objects, so the buckets may be used
    /// once this returns.
    ///
    /// # Errors
    /// As [`fill`](EvaluatorCopies::fill); `Store` when the pool cannot be written.
    pub fn fill_pool(
        &mut self,
        channel: &mut Channel,
        proof: TheirOpening,
        pool: &mut Filling<'_>,
    ) -> Result<()> {
        let filled = self.receive_pool(channel, proof, pool);
        self.opened.passed()?;
        filled
    }

    fn receive_pool(
        &self,
        channel: &mut Channel,
        proof: TheirOpening,
        pool: &mut Filling<'_>,
    ) -> Result<()> {
        let EvaluatorCopies { program, drawn, sent, transfers, .. } = self;
        let received = self.received.as_ref();
        let Sent { session, digests, hash, accepted } = sent.as_ref();
        let view = View { program, drawn, preparation: 0 };
        let mut claims = received.claims(proof);
        let what = (session, hash.clone(), &accepted[..]);
        let authenticators = buckets::receive_authenticators(channel, &mut claims, view, what)?;
        pool.unbound(view, received, Some((&authenticators, transfers)))?;
        for (number, slot) in program.graph.slots.iter().enumerate() {
            pool.bucket((view, number), received)?;
            let mut bucket = pool.own_bucket((view, number), &authenticators)?;
            let digests = &digests[slot.kind];
            buckets::receive_slot(channel, &mut claims, (view, number), digests, &mut bucket)?;
        }
        claims.check(channel).map(drop)
    }
}
