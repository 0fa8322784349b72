//! Function-independent material: what the garbling protocols use up, the same for all of them.
//!
//! One authenticated bit per input bit, known to the input's owner (Bit2Share: all other parties' shares
//! of that mask are zero); one authenticated share per AND gate, the mask of its output wire; one triple
//! per AND gate.

use std::collections::VecDeque;

use symbolon_circuit::{Circuit, PartyId, Plan};
use symbolon_preprocessing::{AuthBits, Config, Preprocessor, Shares, Triples};
use symbolon_primitives::Block;
use symbolon_transport::{Error, Result};
use zeroize::Zeroize;

use crate::{Engine, Need, Network, Prepared, Preprocessed, known};

/// An engine whose phase 1 makes [`Material`]: all that the garbling protocols differ in is what they do
/// with it.
pub(crate) struct MaterialEngine {
    open: Preprocessor,
    /// AND gates prepared so far: no tweak of a garbling hash is used twice under a Δ.
    gates: u64,
    prepare: Prepare,
}

/// What a party does in phase 2 with its material, which is enough for the circuit.
pub(crate) type Prepare = fn(Material, &mut Network, &Circuit, &Plan) -> Result<Box<dyn Prepared>>;

impl MaterialEngine {
    /// Runs the set-up; `prepare` is this party's phase 2.
    pub fn set_up(
        net: &mut Network,
        evaluator: PartyId,
        prepare: Prepare,
    ) -> Result<Box<dyn Engine>> {
        let session = net.session;
        let config = Config { rho: net.rho.bits(), evaluator, generator: net.ot };
        let open = Preprocessor::set_up(&mut net.lanes, &session, config)?;
        Ok(Box::new(MaterialEngine { open, gates: 0, prepare }))
    }
}

impl Engine for MaterialEngine {
    fn preprocess(&mut self, net: &mut Network, need: &Need) -> Result<Box<dyn Preprocessed>> {
        let material = Material::make(&mut self.open, net, need, self.gates)?;
        self.gates += need.and_gates;
        Ok(Box::new(Independent { material, prepare: self.prepare }))
    }

    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
    ) -> Result<Box<dyn Preprocessed>> {
        let material = known::make(&mut self.open, net, circuit, plan, self.gates)?;
        self.gates += plan.and_count();
        Ok(Box::new(Independent { material, prepare: self.prepare }))
    }
}

/// A party after phase 1.
struct Independent {
    material: Material,
    prepare: Prepare,
}

impl Preprocessed for Independent {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
    ) -> Result<Box<dyn Prepared>> {
        let Independent { material, prepare } = *self;
        material.check(circuit, &Need::of(circuit, plan, net.parties()), net.me)?;
        prepare(material, net, circuit, plan)
    }
}

/// Everything one evaluation will use up, on one party's side.
pub(crate) struct Material {
    /// This party's Δ.
    pub delta: Block,
    /// Masks of this party's input wires, in the order of the wires.
    pub own_inputs: AuthBits,
    /// For each peer the keys for the masks of its input wires.
    pub peer_inputs: Vec<Vec<Block>>,
    /// The first gate's tweak.
    pub first_tweak: u64,
    /// Fresh randomness for labels.
    pub seed: Block,
    /// The digest of the only circuit it is good for, when the right factors of the triples are the
    /// masks λ_β of that circuit's gates.
    pub known: Option<[u8; 32]>,
    gates: VecDeque<GateBatch>,
    /// The next gate within the first batch of `gates`.
    next: usize,
    left: u64,
}

/// A mask and a triple per AND gate.
pub(crate) struct GateBatch {
    pub masks: Shares,
    pub triples: Triples,
}

/// What one AND gate uses up: entry `k` of each.
pub(crate) struct GateMaterial<'a> {
    pub k: usize,
    /// The mask of the output wire.
    pub mask: &'a Shares,
    /// The triple c = a ∧ b.
    pub triple: &'a Triples,
}

impl Material {
    /// Makes enough for `need` with the peers.
    pub fn make(
        open: &mut Preprocessor,
        net: &mut Network,
        need: &Need,
        first_tweak: u64,
    ) -> Result<Material> {
        let mut material = Material::for_inputs(open, net, need, first_tweak)?;
        for batch in open.plan(small(need.and_gates)?) {
            let triples = open.triples(&mut net.lanes, batch)?;
            let masks = open.shares(&mut net.lanes, batch.triples)?;
            material.gates.push_back(GateBatch { masks, triples });
        }
        material.left = need.and_gates;
        Ok(material)
    }

    /// Makes the masks of the inputs; there is nothing for any gate yet.
    pub fn for_inputs(
        open: &mut Preprocessor,
        net: &mut Network,
        need: &Need,
        first_tweak: u64,
    ) -> Result<Material> {
        let mut counts = Vec::new();
        for party in 0..net.parties() {
            counts.push(small(need.input_bits.get(party as usize).copied().unwrap_or(0))?);
        }
        let (own_inputs, peer_inputs) = open.bits(&mut net.lanes, &counts)?;
        Ok(Material {
            delta: open.delta(),
            own_inputs,
            peer_inputs,
            first_tweak,
            seed: open.prg().block(),
            known: None,
            gates: VecDeque::new(),
            next: 0,
            left: 0,
        })
    }

    /// Adds what the next AND gates will use up, as many as there are masks.
    pub fn add(&mut self, gates: GateBatch) {
        self.left += gates.masks.len() as u64;
        self.gates.push_back(gates);
    }

    /// Refuses a circuit that needs more than there is, or is not the one that the material is for.
    pub fn check(&self, circuit: &Circuit, need: &Need, me: u16) -> Result<()> {
        if self.known.is_some_and(|known| known != circuit.digest()) {
            return Err(Error::InvalidInput("the material was made for another circuit".into()));
        }
        let mut peers = self.peer_inputs.iter().map(Vec::len);
        let mut have = (0..need.input_bits.len()).map(|party| {
            if party == me as usize {
                self.own_inputs.bits.len()
            } else {
                peers.next().unwrap_or(0)
            }
        });
        let inputs = need.input_bits.iter().all(|&bits| bits <= have.next().unwrap_or(0) as u64);
        if inputs && need.and_gates <= self.left {
            return Ok(());
        }
        Err(Error::InvalidInput("the circuit needs more than was preprocessed".into()))
    }

    /// Hands the material of the next AND gate to `take`.
    pub fn next_gate<T>(&mut self, take: impl FnOnce(GateMaterial<'_>) -> T) -> Result<T> {
        let batch = self.gates.front().filter(|_| self.left > 0).ok_or_else(|| {
            Error::InvalidInput("the circuit needs more than was preprocessed".into())
        })?;
        let k = self.next;
        let taken = take(GateMaterial { k, mask: &batch.masks, triple: &batch.triples });
        self.next += 1;
        self.left -= 1;
        if self.next == batch.triples.len() {
            self.gates.pop_front();
            self.next = 0;
        }
        Ok(taken)
    }
}

/// A number of bits or gates that fits into memory.
pub(crate) fn small(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::InvalidInput("the circuit is too large".into()))
}

impl Drop for Material {
    fn drop(&mut self) {
        self.delta.zeroize();
        self.seed.zeroize();
        self.own_inputs.bits.zeroize();
        self.own_inputs.macs.zeroize();
        self.peer_inputs.zeroize();
    }
}
