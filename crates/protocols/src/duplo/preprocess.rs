//! PreProcessOTInit, PreProcessSub, PreProcessInKA in one: from nothing to buckets.
//!
//! ```text
//! G                                                          E
//! commitments, corrections, digests, transfers, masks   ──▶
//!                          coin: key of the authenticators' hash
//! accepted keys                                         ──▶
//!                          coin: opened objects, buckets, subsets of the other checks
//!                                                       ◀──  sums of transfers
//! openings of objects, sums of masks                    ──▶  checks everything
//! solderings of authenticators, tables and solderings   ──▶  checks everything
//! ```

use symbolon_cutchoose::hcom::{Committer, OwnLater, Receiver, TheirLater};
use symbolon_ot::{CotReceiver, CotSender};
use symbolon_primitives::Prg;
use symbolon_transport::{Channel, Error, Result};

use super::authenticators::{self, Authenticators};
use super::buckets::{self, GarbledCopy, Places};
use super::check::{self, Draw};
use super::commit::{Committed, Received};
use super::engine::{Duplo, Side};
use super::garble;
use super::indicators;
use super::keys::KeyHash;
use super::layout::Layout;
use super::oblivious::{self, Transfers};
use super::params::Params;
use super::program::Program;

/// What the garbler has after the cut-and-choose.
pub(super) struct GarblerMaterial {
    pub program: Program,
    pub places: Places,
    pub committed: Committed,
    /// Of the solderings between slots, and of what is opened online.
    pub proofs: [OwnLater; 2],
}

/// What the evaluator has.
pub(super) struct EvaluatorMaterial {
    pub program: Program,
    pub places: Places,
    pub received: Received,
    pub transfers: Transfers,
    pub authenticators: Authenticators,
    pub slots: Vec<Vec<GarbledCopy>>,
    /// As the garbler's.
    pub proofs: [TheirLater; 2],
}

/// The sizes and the numbers of everything that a program takes.
struct Run {
    params: Params,
    layout: Layout,
    /// Transfers and masks, and how many more are sacrificed.
    transfers: usize,
    masks: usize,
    checks: usize,
}

impl Run {
    fn new(engine: &mut Duplo, program: &Program) -> Result<Run> {
        let checks = engine.games.rho as usize;
        let params = Params::new(&program.graph, program.wires(), engine.games)?;
        let layout = Layout::new(program, &params, engine.games.rho, engine.objects);
        if u32::try_from(layout.total).is_err() {
            return Err(Error::invalid_input("too many wires of too many components at a time"));
        }
        engine.objects += layout.objects;
        let (transfers, masks) = (program.inputs[1].len(), program.to_evaluator.len());
        Ok(Run { params, layout, transfers, masks, checks })
    }

    /// Draws what is opened and where the others go.
    fn draw(self, program: &Program, coin: &mut Prg) -> Result<Places> {
        let kinds = self.params.kinds.iter().map(|sizes| Draw::new(sizes, coin));
        let kinds = kinds.collect::<Result<_>>()?;
        let authenticators = Draw::new(&self.params.authenticators, coin)?;
        let mut next = vec![0; program.graph.kinds.len()];
        let bucket_of = program.graph.slots.iter().map(|slot| {
            next[slot.kind] += 1;
            next[slot.kind] - 1
        });
        let bucket_of = bucket_of.collect();
        Ok(Places { layout: self.layout, kinds, authenticators, bucket_of })
    }
}

fn garblers(engine: &mut Duplo) -> Result<(&mut dyn CotSender, &mut Committer)> {
    match &mut engine.side {
        Side::Garbler(cot, committer) => Ok((cot.as_mut(), committer)),
        Side::Evaluator(..) => Err(Error::internal("the evaluator is not the garbler")),
    }
}

fn evaluators(engine: &mut Duplo) -> Result<(&mut dyn CotReceiver, &mut Receiver)> {
    match &mut engine.side {
        Side::Evaluator(cot, receiver) => Ok((cot.as_mut(), receiver)),
        Side::Garbler(..) => Err(Error::internal("the garbler is not the evaluator")),
    }
}

/// The garbler's part.
pub(super) fn garbler(
    engine: &mut Duplo,
    channel: &mut Channel,
    program: Program,
) -> Result<GarblerMaterial> {
    let run = Run::new(engine, &program)?;
    let session = engine.session;
    let (transfers, masks) = (run.layout.transfers, run.layout.masks);
    let (cot, committer) = garblers(engine)?;
    let mut committed = Committed::random(channel, committer, run.layout.total)?;
    let place = (transfers, run.transfers + run.checks);
    oblivious::send(channel, cot, &mut committed, place)?;
    indicators::commit(channel, &mut committed, (masks, run.masks + run.checks))?;
    authenticators::commit_all(channel, &mut committed, &session, &run.layout.authenticators)?;
    let mut tables = Vec::new();
    let mut room = garble::room();
    for kind in program.graph.kinds.iter().zip(&run.layout.kinds) {
        tables.push(garble::garble_all(channel, &mut committed, &session, kind, &mut room)?);
    }
    let hash = KeyHash::new(engine.coin(channel)?);
    let objects = run.layout.authenticators;
    authenticators::send_accepted(channel, &committed, &hash, &objects)?;
    let mut coin = engine.coin(channel)?.into_prg();
    let (of_transfers, of_masks) = (check::next(&mut coin), check::next(&mut coin));
    let (n_transfers, n_masks, checks) = (run.transfers, run.masks, run.checks);
    let places = run.draw(&program, &mut coin)?;

    let mut opening = committed.opening(garblers(engine)?.1.opening());
    oblivious::open(channel, &mut opening, of_transfers, (transfers, n_transfers, checks))?;
    indicators::open(channel, &mut opening, of_masks, (masks, n_masks, checks))?;
    for ((kind, objects), draw) in
        program.graph.kinds.iter().zip(&places.layout.kinds).zip(&places.kinds)
    {
        check::open_components(channel, &mut opening, (kind, objects), draw)?;
    }
    check::open_authenticators(channel, &mut opening, &objects, &places.authenticators)?;
    opening.prove(channel)?;

    let mut opening = committed.opening(garblers(engine)?.1.opening());
    buckets::solder_authenticators(channel, &mut opening, &places, program.wires())?;
    for (slot, at) in program.graph.slots.iter().enumerate() {
        let kind = &program.graph.kinds[at.kind];
        let tables = &mut tables[at.kind];
        buckets::send_slot(channel, &mut opening, &session, &places, (slot, at, kind), tables)?;
    }
    opening.prove(channel)?;
    channel.flush()?;
    let committer = garblers(engine)?.1;
    let proofs = [committer.later(), committer.later()];
    Ok(GarblerMaterial { program, places, committed, proofs })
}

/// The evaluator's part.
pub(super) fn evaluator(
    engine: &mut Duplo,
    channel: &mut Channel,
    program: Program,
) -> Result<EvaluatorMaterial> {
    let run = Run::new(engine, &program)?;
    let session = engine.session;
    let (first_transfer, first_mask) = (run.layout.transfers, run.layout.masks);
    let mut prg = Prg::from_seed(*engine.prg.seed());
    let (cot, receiver) = evaluators(engine)?;
    let mut received = Received::random(channel, receiver, run.layout.total)?;
    let place = (first_transfer, run.transfers + run.checks);
    let transfers = oblivious::receive(channel, cot, &mut received, place, &mut prg)?;
    indicators::receive(channel, &mut received, (first_mask, run.masks + run.checks))?;
    authenticators::receive_all(channel, &mut received, &run.layout.authenticators)?;
    let mut digests = Vec::new();
    for kind in program.graph.kinds.iter().zip(&run.layout.kinds) {
        digests.push(garble::receive_all(channel, &mut received, kind)?);
    }
    let hash = KeyHash::new(engine.coin(channel)?);
    let objects = run.layout.authenticators;
    let accepted = authenticators::receive_accepted(channel, &objects)?;
    let mut coin = engine.coin(channel)?.into_prg();
    let (of_transfers, of_masks) = (check::next(&mut coin), check::next(&mut coin));
    let (n_transfers, n_masks, checks) = (run.transfers, run.masks, run.checks);
    let places = run.draw(&program, &mut coin)?;

    let mut claims = received.claims(evaluators(engine)?.1.opening());
    let place = (first_transfer, n_transfers, checks);
    oblivious::claim(channel, &mut claims, of_transfers, &transfers, place)?;
    indicators::claim(channel, &mut claims, of_masks, (first_mask, n_masks, checks))?;
    for (number, (kind, objects)) in
        program.graph.kinds.iter().zip(&places.layout.kinds).enumerate()
    {
        let (what, draw) = ((kind, objects, &digests[number][..]), &places.kinds[number]);
        check::check_components(channel, &mut claims, &session, what, draw)?;
    }
    let what = (&objects, &hash, &accepted[..]);
    check::check_authenticators(channel, &mut claims, &session, what, &places.authenticators)?;
    claims.check(channel)?;

    let mut claims = received.claims(evaluators(engine)?.1.opening());
    let what = (&session, hash, &accepted[..]);
    let wires = program.wires();
    let authenticators =
        buckets::receive_authenticators(channel, &mut claims, &places, wires, what)?;
    let mut slots = Vec::with_capacity(program.graph.slots.len());
    for (slot, at) in program.graph.slots.iter().enumerate() {
        let place = (slot, at, &program.graph.kinds[at.kind]);
        let digests = &digests[at.kind];
        slots.push(buckets::receive_slot(channel, &mut claims, &places, place, digests)?);
    }
    claims.check(channel)?;
    let transfers = transfers.first(n_transfers);
    let receiver = evaluators(engine)?.1;
    let proofs = [receiver.later(), receiver.later()];
    Ok(EvaluatorMaterial { program, places, received, transfers, authenticators, slots, proofs })
}
