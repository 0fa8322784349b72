//! Function-independent material: what the garbling protocols use up, the same for all of them.
//!
//! One authenticated bit per input bit, known to the input's owner (Bit2Share: all other parties' shares
//! of that mask are zero); one authenticated share per AND gate, the mask of its output wire; one triple
//! per AND gate.

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_circuit::{Circuit, PartyId, Plan};
use symbolon_preprocessing::{AuthBits, Config, Preprocessor, Shares, Triples};
use symbolon_primitives::{BitVec, Block, Delta, Seed};
use symbolon_transport::{Error, Result};
use zeroize::Zeroize;

use crate::{
    Demand, Engine, InputBits, Network, OutputBits, Prepared, Preprocessed, Protocol,
    gates::circuit_dependent,
    gates::mask_pass::Position,
    gates::streaming::{self, Stream},
    gates::wire_shares::WireShares,
    io_wires, phases,
    pool::{PoolSink, PoolWriter},
};

/// An engine whose phase 1 makes [`Correlations`]: all that the garbling protocols differ in is what they do
/// with it.
pub(crate) struct PeerEngine {
    open: Preprocessor,
    position: Position,
    session: [u8; 32],
    /// AND gates prepared so far: no tweak of a garbling hash is used twice under a Δ.
    gates: u64,
    role: Role,
}

/// What a party does in phase 2 with its material, which is enough for the circuit.
pub(crate) type Prepare =
    fn(Correlations, &mut Network, &Circuit, &Plan) -> Result<Box<dyn Prepared>>;

/// What a protocol does with material, on one party's side.
#[derive(Clone, Copy)]
pub(crate) struct Role {
    pub protocol: Protocol,
    pub prepare: Prepare,
    /// How it does all phases at once; `None` when it cannot. Whoever can also has use for triples on the gates' own
    /// masks ([`known`]).
    pub stream: Option<Stream>,
}

impl PeerEngine {
    /// Runs the set-up.
    pub fn set_up(net: &mut Network, evaluator: PartyId, role: Role) -> Result<Box<dyn Engine>> {
        let session = net.session;
        let config = Config { rho: net.rho.bits(), evaluator, generator: net.ot };
        let open = Preprocessor::set_up(net.makers(), &session, config)?;
        let position = Position { me: net.me, evaluator };
        Ok(Box::new(PeerEngine { open, position, session, gates: 0, role }))
    }
}

impl Engine for PeerEngine {
    fn preprocess(&mut self, net: &mut Network, demand: &Demand) -> Result<Box<dyn Preprocessed>> {
        let start = (self.position, self.gates);
        let correlations = Correlations::make(&mut self.open, net, demand, start)?;
        self.gates += demand.and_gates;
        Ok(Box::new(Independent { correlations, role: self.role }))
    }

    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
    ) -> Result<Box<dyn Preprocessed>> {
        if self.role.stream.is_none() {
            let demand = self.role.protocol.demand(net, circuit, plan)?;
            return self.preprocess(net, &demand);
        }
        let start = (self.position, self.gates);
        let correlations = circuit_dependent::make(&mut self.open, net, (circuit, plan), start)?;
        self.gates += plan.and_count();
        Ok(Box::new(Independent { correlations, role: self.role }))
    }

    fn stream(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let Some(walk) = self.role.stream else {
            return phases::one_by_one(self, net, (circuit, plan), inputs);
        };
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let start = (self.position, self.gates);
        self.gates += plan.and_count();
        streaming::run(&mut self.open, net, (circuit, plan), start, |streaming, net| {
            walk(streaming, net, (circuit, plan), inputs)
        })
    }

    fn fill(&mut self, net: &mut Network, demand: &Demand, sink: &mut dyn PoolSink) -> Result<()> {
        if self.gates > 0 {
            return Err(Error::invalid_input("a pool is filled by a session of its own"));
        }
        let counts = input_counts(net, demand)?;
        let mut pool = PoolWriter::new(sink, self.position, net.parties(), self.open.delta())?;
        let (own, theirs) = self.open.bits(net.makers(), &counts)?;
        pool.inputs(&own, &theirs)?;
        // Numbers are given to the gates in the pool from 0, and none to others after it.
        self.gates = u64::MAX;
        let mut left = small(demand.and_gates)?;
        for batch in self.open.plan(left) {
            let triples = self.open.triples(net.makers(), batch)?;
            let gates = triples.len().min(left);
            left -= gates;
            let masks = self.open.shares(net.makers(), gates)?;
            let batch = GateBatch::new(masks, triples);
            pool.gates(&batch)?;
            self.open.recycle(batch.triples);
        }
        pool.finish()
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}

fn input_counts(net: &Network, demand: &Demand) -> Result<Vec<usize>> {
    let of = |party| small(demand.input_bits.get(usize::from(party)).copied().unwrap_or(0));
    (0..net.parties()).map(of).collect()
}

/// A party after phase 1.
pub(crate) struct Independent {
    pub correlations: Correlations,
    pub role: Role,
}

impl Preprocessed for Independent {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
    ) -> Result<Box<dyn Prepared>> {
        let Independent { correlations, role } = *self;
        correlations.check(circuit, &role.protocol.demand(net, circuit, plan)?, net.me)?;
        (role.prepare)(correlations, net, circuit, plan)
    }
}

/// Everything one evaluation will use up, on one party's side.
pub(crate) struct Correlations {
    /// Who this party is among the others; the last bits of all Δ fit this evaluator only.
    pub position: Position,
    /// This party's Δ.
    pub delta: Delta,
    /// Masks of this party's input wires, in the order of the wires.
    pub own_inputs: AuthBits,
    /// For each peer the keys for the masks of its input wires.
    pub peer_inputs: Vec<Vec<Block>>,
    /// The first gate's tweak.
    pub first_tweak: u64,
    /// Fresh randomness for labels.
    pub seed: Seed,
    /// The only circuit it is good for, when the right factors of the triples are the masks λ_β of that
    /// circuit's gates.
    pub known: Option<Circuit>,
    /// Whether λ_α and λ_β come with the gates, and the outputs' masks with the last of them, so that nobody has to walk over
    /// the circuit for them again.
    pub found: bool,
    /// The masks of the outputs, when they came.
    pub outputs: Option<WireShares>,
    pub(crate) gates: VecDeque<GateBatch>,
    /// Batches that were used up before those, where they are [kept](Correlations::used); otherwise `None`.
    pub(crate) used: Option<Vec<GateBatch>>,
    /// Where more gates come from when there are none left here.
    pub(crate) source: Option<Box<dyn GateSource>>,
    /// The next gate within the first batch of `gates`.
    pub(crate) next: usize,
    pub(crate) left: u64,
    /// How many more AND gates' material will be [added](Correlations::add) while this is being used up.
    pub(crate) due: u64,
}

/// Gives gates' material bit by bit.
pub(crate) trait GateSource: Send {
    /// The next gates, at least one, or `None` after the last.
    fn next_batch(&mut self) -> Result<Option<GateBatch>>;
}

/// A mask and a triple per AND gate. Where b is the gates' λ_β ([`Correlations::known`]), it is there only if λ_α is, too
/// ([`Correlations::found`]).
pub(crate) struct GateBatch {
    /// How many gates it is enough for.
    pub gates: usize,
    /// λ_γ of each gate; nothing where it is added to c, for it is not needed by itself.
    pub masks: Shares,
    pub triples: Triples,
    /// λ_α of each gate, or nothing.
    pub alpha: Shares,
    /// The masks of the circuit's outputs, with the last batch of those that have λ_α.
    pub outputs: Option<WireShares>,
}

impl GateBatch {
    /// Masks and triples, with nothing that a walk would find.
    pub fn new(masks: Shares, triples: Triples) -> Self {
        let (gates, alpha) = (masks.len(), Shares::default());
        GateBatch { gates, masks, triples, alpha, outputs: None }
    }
}

/// What some AND gates use up: these entries of each list.
pub(crate) struct GateMaterial<'a> {
    /// Where the lists are found again, if they are [kept](Correlations::keep_used): see [`Correlations::batch`].
    pub batch: usize,
    pub range: Range<usize>,
    /// The masks of the output wires, where c is without them.
    pub masks: &'a Shares,
    /// The triples c = a ∧ b, or with the masks added to c.
    pub triples: &'a Triples,
    /// λ_α, where it is there.
    pub alpha: &'a Shares,
}

impl Correlations {
    /// Makes enough for `demand` with the peers, in this position, for gates whose tweaks start at this number.
    pub fn make(
        open: &mut Preprocessor,
        net: &mut Network,
        demand: &Demand,
        start: (Position, u64),
    ) -> Result<Correlations> {
        let mut correlations = Correlations::for_inputs(open, net, demand, start)?;
        for batch in open.plan(small(demand.and_gates)?) {
            let triples = open.triples(net.makers(), batch)?;
            let masks = open.shares(net.makers(), batch.triples)?;
            correlations.gates.push_back(GateBatch::new(masks, triples));
        }
        correlations.left = demand.and_gates;
        Ok(correlations)
    }

    /// Makes the masks of the inputs; there is nothing for any gate yet.
    pub fn for_inputs(
        open: &mut Preprocessor,
        net: &mut Network,
        demand: &Demand,
        (position, first_tweak): (Position, u64),
    ) -> Result<Correlations> {
        let counts = input_counts(net, demand)?;
        let (own_inputs, peer_inputs) = open.bits(net.makers(), &counts)?;
        Ok(Correlations {
            position,
            delta: open.delta().clone(),
            own_inputs,
            peer_inputs,
            first_tweak,
            seed: open.prg().seed(),
            known: None,
            found: false,
            outputs: None,
            gates: VecDeque::new(),
            used: None,
            source: None,
            next: 0,
            left: 0,
            due: 0,
        })
    }

    /// Whether there is enough for a batch of so many gates, or nothing more to come.
    pub fn reaches(&self, gates: usize) -> bool {
        self.due == 0 || self.left >= gates as u64
    }

    /// Adds what the next AND gates will use up.
    pub fn add(&mut self, mut batch: GateBatch) {
        self.left += batch.gates as u64;
        self.outputs = self.outputs.take().or(batch.outputs.take());
        self.gates.push_back(batch);
    }

    /// Refuses a circuit that needs more than there is, or is not the one that the material is for.
    pub fn check(&self, circuit: &Circuit, demand: &Demand, me: u16) -> Result<()> {
        // The same one most often, which takes no digest to see.
        let other = |known: &Circuit| known != circuit && known.digest() != circuit.digest();
        if self.known.as_ref().is_some_and(other) {
            return Err(Error::InvalidInput("the material was made for another circuit".into()));
        }
        let mut peers = self.peer_inputs.iter().map(Vec::len);
        let mut have = (0..demand.input_bits.len()).map(|party| {
            if party == me as usize {
                self.own_inputs.bits.len()
            } else {
                peers.next().unwrap_or(0)
            }
        });
        let inputs = demand.input_bits.iter().all(|&bits| bits <= have.next().unwrap_or(0) as u64);
        if inputs && demand.and_gates <= self.left {
            return Ok(());
        }
        Err(Error::InvalidInput("the circuit needs more than was preprocessed".into()))
    }

    /// From now on batches that are used up are kept.
    pub fn keep_used(&mut self) {
        self.used = Some(Vec::new());
    }

    /// What was handed out for these gates, counted from the last [`spend`](Correlations::spend) on, where it is kept: these
    /// entries of each list, in order.
    pub fn used(&self, gates: Range<usize>) -> impl Iterator<Item = (&GateBatch, Range<usize>)> {
        let whole = self.used.iter().flatten().map(|batch| (batch, batch.triples.len()));
        let all = whole.chain(self.gates.front().map(|batch| (batch, self.next)));
        let mut next = 0;
        all.filter_map(move |(batch, len)| {
            let first = next;
            next += len;
            let range =
                gates.start.clamp(first, next) - first..gates.end.clamp(first, next) - first;
            (!range.is_empty()).then_some((batch, range))
        })
    }

    /// A batch that was handed out of since the last [`spend`](Correlations::spend), where it is kept.
    pub fn batch(&self, number: usize) -> &GateBatch {
        let mut batches = self.used.iter().flatten().chain(self.gates.front());
        batches.nth(number).expect("a batch that is kept")
    }

    /// Puts MACs towards the peer in this place where those of the products were, of gates that were handed out, from the one
    /// with this number on, counted as [`used`](Correlations::used) does.
    pub fn put_back(
        &mut self,
        (peer, mut first): (usize, usize),
        mut macs: impl Iterator<Item = Block>,
    ) {
        for batch in self.used.iter_mut().flatten().chain(self.gates.front_mut()) {
            let products = &mut batch.triples.c.towards[peer].macs;
            let here = first.min(products.len());
            products[here..].iter_mut().zip(&mut macs).for_each(|(old, mac)| *old = mac);
            first -= here;
        }
    }

    /// Moves the few gates that are left of a batch aside, and gives its memory back; forgets what was used up before it.
    pub fn spend(&mut self) -> Option<GateBatch> {
        self.used.iter_mut().for_each(Vec::clear);
        let batch = self.gates.pop_front()?;
        let left = std::mem::take(&mut self.next)..batch.triples.len();
        let slice = |shares: &Shares| match shares.is_empty() {
            true => Shares::default(),
            false => shares.slice(left.clone()),
        };
        let GateBatch { masks, triples: Triples { a, b, c }, alpha, .. } = &batch;
        let rest = GateBatch {
            gates: left.len(),
            masks: slice(masks),
            triples: Triples { a: slice(a), b: slice(b), c: slice(c) },
            alpha: slice(alpha),
            outputs: None,
        };
        self.gates.push_front(rest);
        Some(batch)
    }

    /// Wipes the MACs and keys of the inputs' masks, and gives their memory back.
    pub fn forget_input_macs(&mut self) {
        self.own_inputs.macs.zeroize();
        self.peer_inputs.zeroize();
        (self.own_inputs.macs, self.peer_inputs) = Default::default();
    }

    /// The masks of this party's inputs of `circuit`.
    pub fn own_masks(&self, circuit: &Circuit) -> BitVec {
        self.own_inputs.bits.slice(0..io_wires::input_bits(circuit, self.position.me))
    }

    /// Hands the material of the next `n` AND gates to `take`, as many at a time as lie side by side.
    pub fn next_gates(&mut self, n: usize, mut take: impl FnMut(GateMaterial<'_>)) -> Result<()> {
        let mut wanted = n;
        while wanted > 0 {
            if self.gates.is_empty() && self.left > 0 {
                let more = self.source.as_mut().map_or(Ok(None), |source| source.next_batch())?;
                self.gates.extend(more);
            }
            let batch = self.gates.front().filter(|_| self.left > 0).ok_or_else(|| {
                Error::InvalidInput("the circuit needs more than was preprocessed".into())
            })?;
            let here = batch.triples.len() - self.next;
            let run = wanted.min(here).min(usize::try_from(self.left).unwrap_or(usize::MAX));
            let range = self.next..self.next + run;
            let GateBatch { masks, triples, alpha, .. } = batch;
            let number = self.used.as_ref().map_or(0, Vec::len);
            take(GateMaterial { batch: number, range, masks, triples, alpha });
            wanted -= run;
            self.next += run;
            self.left -= run as u64;
            if run == here {
                let batch = self.gates.pop_front();
                if let Some(used) = &mut self.used {
                    used.extend(batch);
                }
                self.next = 0;
            }
        }
        Ok(())
    }
}

/// A number of bits or gates that fits into memory.
pub(crate) fn small(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::InvalidInput("the circuit is too large".into()))
}

impl Drop for Correlations {
    fn drop(&mut self) {
        self.peer_inputs.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(n: usize) -> GateBatch {
        let zeros = || Shares::zeros(n, 1);
        GateBatch::new(zeros(), Triples { a: zeros(), b: zeros(), c: zeros() })
    }

    #[test]
    fn macs_are_put_back_in_their_order_across_batches() {
        let mut correlations = Correlations {
            position: Position { me: 0, evaluator: 1 },
            delta: Delta::new(Block::ZERO),
            own_inputs: AuthBits::default(),
            peer_inputs: Vec::new(),
            first_tweak: 0,
            seed: Seed::default(),
            known: None,
            found: true,
            outputs: None,
            gates: VecDeque::from([batch(5)]),
            used: Some(vec![batch(3), batch(2)]),
            source: None,
            next: 4,
            left: 1,
            due: 0,
        };
        for (first, macs) in [(0, 1..3), (2, 3..7), (6, 7..10)] {
            correlations.put_back((0, first), macs.map(Block));
        }
        let macs = |gates| {
            let used = correlations.used(gates);
            let macs = used.flat_map(|(batch, range)| &batch.triples.c.towards[0].macs[range]);
            macs.map(|mac| mac.0).collect::<Vec<_>>()
        };
        for first in 0..=9 {
            for last in first..=9 {
                let expected: Vec<u128> = (1..10).collect();
                assert_eq!(macs(first..last), expected[first..last], "{first} to {last}");
            }
        }
        assert_eq!(macs(7..20), [8, 9], "no gate is handed out behind the ninth");
    }
}
