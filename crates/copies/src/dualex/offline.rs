//! The offline phase (Fig. 15, set-up stage): N executions at once.
//!
//! Both parties take the same steps at the same time, each as the garbler of its own circuits and
//! as the evaluator of the peer's. [`check`](super::check) commits to N̂ circuits and opens some.
//! Then, bucket by bucket, [`buckets`](super::buckets) sends the rest, [`inputs`](super::inputs)
//! fetches the labels of the evaluator's encoded input, and this module sets aside the OTs for the
//! intersections. An execution is handed over as soon as its buckets are complete, so only the
//! circuits of one execution need to be in memory.

use symbolon_cutchoose::draw::{Buckets, CheckSet};
use symbolon_engine::Network;
use symbolon_interaction::toss_coin;
use symbolon_primitives::{BitVec, Challenge};
use symbolon_transport::{PartyId, Result, SessionId};
use zeroize::Zeroizing;

use super::{
    buckets, check,
    execution::{Execution, Lengths},
    inputs, messages,
    ot::OtSession,
    preparation::{Draw, Ots, Preparation},
    psi::{CommittedTerms, Receiver, Sender},
};
use crate::dualex::options::PsiForm;

/// The callback that receives each execution as soon as it is ready.
pub(super) type EachExecution<'a> = dyn FnMut(&mut Network, Execution) -> Result<()> + 'a;

impl Preparation<'_> {
    /// Prepares as many executions as `params` says and passes each of them to `each`.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport`; the errors of `each`.
    pub fn run(mut self, ots: &mut OtSession, each: &mut EachExecution<'_>) -> Result<()> {
        let mut ots = self.draw_ots(ots)?;
        let committed = check::commit(&mut self, &ots)?;
        // Everything that the coin decides about is fixed: circuits by their commitments, choices
        // of OTs by the consistency check.
        let [mine, theirs] = self.toss()?;
        check::open(&mut self, &committed, &mut ots, [&mine.opened, &theirs.opened])?;
        let mut inputs = inputs::announce(&mut self, ots, [&mine.buckets, &theirs.buckets])?;
        let mut outgoing = buckets::Outgoing::new(&committed, &mine.buckets);
        for i in 0..self.params.executions() {
            let bucket = buckets::exchange(&mut self, &mut outgoing, &inputs, i)?;
            inputs.release(i);
            let psi = self.intersection(i, inputs.ots())?;
            each(self.net, bucket.into_execution(psi))?;
        }
        Ok(())
    }

    /// Draws the OTs for the encodings and the intersections, all with random choice bits.
    pub fn draw_ots(&mut self, ots: &mut OtSession) -> Result<Ots> {
        let psi = self.params.executions() * self.params.bucket() * self.params.item_bits();
        let total = |party: usize| self.params.circuits() * self.matrices[party].encoded() + psi;
        let me = self.me();
        let choices = Zeroizing::new(BitVec::random(total(me), self.prg));
        // The OTs of each circuit are released separately.
        let pieces = [me, 1 - me].map(|party| match self.matrices[party].encoded() {
            0 => self.params.item_bits(),
            encoded => encoded,
        });
        let (received, sent) = ots.draw(self.net, choices, total(1 - me), pieces)?;
        Ok(Ots { received, sent })
    }

    /// Tosses a coin and draws from it, for this party's circuits and for the peer's, which are
    /// opened and which bucket each other one joins.
    ///
    /// Paper: RR16, Fig. 15, Cut-and-Choose | the coin, and the check
    pub fn toss(&mut self) -> Result<[Draw; 2]> {
        let (session, index) = (self.net.session, 2 * self.first + 1);
        let coin = toss_coin(self.net.peers(), &SessionId(session), index, self.prg)?;
        let mut prg = coin.into_prg();
        let mut challenge = || {
            let mut seed = [0; 32];
            prg.fill(&mut seed);
            Challenge::from_seed32(seed)
        };
        let sizes = &self.params.sizes;
        let mut draw = || {
            let opened = CheckSet::draw(sizes, challenge())?;
            let buckets = Buckets::draw(sizes, &opened, challenge())?;
            Ok::<_, symbolon_transport::Error>(Draw { opened, buckets })
        };
        let [first, second] = [draw()?, draw()?];
        Ok(if self.me() == 0 { [first, second] } else { [second, first] })
    }

    /// Sets aside the OTs for intersection `i`. In the asynchronous form, also exchanges the
    /// commitments to its terms.
    pub fn intersection(&mut self, i: usize, ots: &Ots) -> Result<(Sender, Receiver)> {
        let me = self.me();
        let session = self.net.session;
        let lengths = Lengths::new(PartyId::new(me as u16), self.function, &self.params);
        let start = |party: usize| self.params.circuits() * self.matrices[party].encoded();
        let (own, theirs) = (start(me), start(1 - me));
        let shape = lengths.shape(&session, self.first + i as u64);
        let range = |start: usize| start + i * shape.ots()..start + (i + 1) * shape.ots();
        let pairs = ots.sent.pairs(range(theirs)).to_vec();
        let mut sender = Sender { pairs, committed: None };
        let mut receiver = Receiver {
            choices: Zeroizing::new(ots.received.choices.slice(range(own))),
            messages: ots.received.messages(range(own)),
            leaves: Vec::new(),
        };
        if self.params.psi == PsiForm::Asynchronous {
            let order = BitVec::random(shape.ots(), self.prg);
            let terms = CommittedTerms { order, pads: self.prg.seed() };
            let padded =
                Zeroizing::new(shape.padded_terms(PartyId::new(me as u16), &sender, &terms));
            let leaves = shape.leaves(PartyId::new(me as u16), &padded);
            sender.committed = Some(terms);
            let channel = self.channel();
            channel.send(messages::TERMS, leaves.as_flattened().as_flattened())?;
            let bytes = channel.recv(messages::TERMS, 64 * shape.terms())?;
            let halves = bytes.as_chunks::<32>().0;
            receiver.leaves = halves.as_chunks::<2>().0.to_vec();
        }
        Ok((sender, receiver))
    }
}
