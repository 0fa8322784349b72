//! Correlated randomness: everything that one evaluation consumes, on one party's side.
//!
//! One authenticated bit per input bit, known to the input's owner (Bit2Share: the other parties'
//! shares of that mask are zero), and triples of one of the kinds of [`super::triples`].

use std::collections::VecDeque;

use symbolon_circuit::{Circuit, Plan};
use symbolon_engine::{Compiled, Demand, Network, phases::small};
use symbolon_garbling::wires::ZeroLabels;
use symbolon_preprocessing::{AuthShares, Broadcasts, Preprocessor};
use symbolon_primitives::{BitVec, Block, Delta, Seed, derive_block};
use symbolon_transport::{Result, Step};
use zeroize::ZeroizeOnDrop;

use super::io_wires;
use super::{
    position::Position,
    triples::{RandomTriples, TripleQueue, too_few},
    wire_shares::WireShares,
};

/// What a party holds throughout one evaluation.
pub(crate) struct PartySecrets {
    pub position: Position,
    /// This party's Δ.
    pub delta: Delta,
    /// The first gate's tweak.
    pub first_tweak: u64,
    /// Fresh randomness for labels.
    pub seed: Seed,
    /// The masks of this party's input wires, in the order of the wires.
    pub own_masks: BitVec,
}

impl PartySecrets {
    /// Returns the labels of a garbling, random on the inputs.
    pub fn input_labels(&self, plan: &Plan, session: &[u8; 32]) -> ZeroLabels {
        let start = derive_block("symbolon input labels 1", session, self.position.me.into());
        // A party's garblings in a session start 2^64 blocks apart.
        let start = start.0.wrapping_add(u128::from(self.first_tweak) << 64);
        ZeroLabels::from_seed(plan, &self.delta, (&self.seed, Block(start)))
    }
}

/// The MACs and keys of the masks of the inputs.
#[derive(ZeroizeOnDrop)]
pub(crate) struct InputAuth {
    /// For each peer, the MACs on the masks of this party's input wires.
    pub macs: Vec<Vec<Block>>,
    /// For each peer, the keys for the masks of its input wires.
    pub keys: Vec<Vec<Block>>,
}

/// Everything that one evaluation consumes, with `triples` for its gates.
pub(crate) struct Correlations<T> {
    pub secrets: PartySecrets,
    pub inputs: InputAuth,
    pub triples: T,
}

/// Correlations for any circuit within the demand they were made for.
pub(crate) type RandomCorrelations = Correlations<TripleQueue<RandomTriples>>;

impl<T> Correlations<T> {
    /// Returns the same correlations with other triples.
    pub fn with<U>(self, triples: U) -> Correlations<U> {
        Correlations { secrets: self.secrets, inputs: self.inputs, triples }
    }

    /// Returns a slot for every wire of the plan, with the masks of the inputs in place.
    pub fn input_wires(&self, circuit: &Compiled) -> WireShares {
        let (circuit, plan) = circuit.planned();
        let me = self.secrets.position.me;
        let peers = self.inputs.keys.len();
        let mut slots = WireShares::zeros(plan.slots(), peers);
        let mut taken = vec![0; peers + 1];
        let owners = circuit
            .inputs()
            .iter()
            .flat_map(|input| std::iter::repeat_n(input.owner, input.ty.width() as usize));
        for (slot, owner) in plan.input_slots().zip(owners) {
            let k = taken[owner.index()];
            taken[owner.index()] += 1;
            if owner == me {
                slots.set_bit(slot, self.secrets.own_masks.get(k));
                for (auth, macs) in slots.auth_mut(slot).iter_mut().zip(&self.inputs.macs) {
                    auth[0] = macs[k];
                }
            } else {
                let peer = usize::from(owner) - usize::from(owner > me);
                slots.auth_mut(slot)[peer][1] = self.inputs.keys[peer][k];
            }
        }
        slots
    }

    /// Returns what is left once the masks of the inputs are on the wires, so that they are not
    /// kept twice for a million inputs.
    pub fn into_secrets(self, circuit: &Circuit) -> (PartySecrets, T) {
        let Correlations { mut secrets, triples, .. } = self;
        let inputs = io_wires::input_bits(circuit, secrets.position.me);
        secrets.own_masks = secrets.own_masks.slice(0..inputs);
        (secrets, triples)
    }
}

impl Correlations<()> {
    /// Makes the masks of the inputs with the peers, for gates whose tweaks start at `first_tweak`.
    ///
    /// Paper: WRK17, Fig. 2, 2 | masks of inputs and AND outputs, triples
    ///
    /// Paper: YWZ20, Fig. 6, 2–4 | input masks, masks of AND outputs, triples
    pub fn for_inputs(
        open: &mut Preprocessor,
        net: &mut Network,
        demand: &Demand,
        position: Position,
        first_tweak: u64,
    ) -> Result<Self> {
        let compared = Broadcasts::Compared;
        Correlations::with_masks(open, net, (demand, 0, compared), position, first_tweak)
            .map(|(inputs, _)| inputs)
    }

    /// Makes the same, and in the same draw the masks of this many AND outputs.
    pub fn with_masks(
        open: &mut Preprocessor,
        net: &mut Network,
        (demand, gates, broadcasts): (&Demand, usize, Broadcasts),
        position: Position,
        first_tweak: u64,
    ) -> Result<(Self, AuthShares)> {
        let counts = demand.input_counts(net.parties())?;
        let (mut own, mut keys, masks) =
            open.bits_and_shares(net.makers(), (&counts, gates), broadcasts)?;
        let (delta, seed) = (open.delta().clone(), open.prg().seed());
        let inputs =
            InputAuth { macs: std::mem::take(&mut own.macs), keys: std::mem::take(&mut *keys) };
        let own_masks = std::mem::take(&mut own.bits);
        let secrets = PartySecrets { position, delta, first_tweak, seed, own_masks };
        Ok((Correlations { secrets, inputs, triples: () }, masks))
    }
}

impl RandomCorrelations {
    /// Makes enough for `demand` with the peers, for gates whose tweaks start at `first_tweak`.
    ///
    /// Paper: WRK17, Fig. 2, 2
    ///
    /// Paper: YWZ20, Fig. 6, 2–4
    pub fn make(
        open: &mut Preprocessor,
        net: &mut Network,
        demand: &Demand,
        position: Position,
        first_tweak: u64,
    ) -> Result<Self> {
        let inputs = Correlations::for_inputs(open, net, demand, position, first_tweak)?;
        let mut batches = VecDeque::new();
        net.meter.begin_step(Step::Triples, demand.and_gates);
        for batch in open.plan(small(demand.and_gates)?) {
            let abc = open.triples(net.makers(), batch)?;
            let lambda_c = open.shares(net.makers(), batch.triples)?;
            batches.push_back(RandomTriples { lambda_c, abc });
        }
        Ok(inputs.with(TripleQueue::new(batches, demand.and_gates)))
    }

    /// Rejects a circuit that needs more than there is.
    pub fn check(&self, demand: &Demand) -> Result<()> {
        let me = usize::from(self.secrets.position.me);
        let mut peers = self.inputs.keys.iter().map(Vec::len);
        let mut have = |party| {
            if party == me { self.secrets.own_masks.len() } else { peers.next().unwrap_or(0) }
        };
        let mut inputs = demand.input_bits.iter().enumerate();
        let enough = inputs.all(|(party, &bits)| bits <= have(party) as u64);
        if enough && demand.and_gates <= self.triples.left() { Ok(()) } else { Err(too_few()) }
    }
}
