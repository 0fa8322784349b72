//! Function-independent material: what steps 1 and 2 of Fig. 2 make.

use std::collections::VecDeque;

use symbolon_preprocessing::{AuthBits, Preprocessor, Share, Shares, Triples};
use symbolon_primitives::{Block, derive_block};
use symbolon_transport::{Error, Result};
use zeroize::Zeroize;

use crate::{Need, Network};

/// Everything one evaluation will use up, on one party's side.
pub(super) struct Material {
    /// This party's Δ.
    pub delta: Block,
    /// ρ in bytes: the length of a MAC in a garbled row.
    pub mac_bytes: usize,
    /// Masks of this party's input wires, in the order of the wires.
    pub own_inputs: AuthBits,
    /// Keys for the masks of the peer's input wires.
    pub peer_inputs: Vec<Block>,
    /// Where the hashes of labels and of MACs start.
    pub hash_starts: [Block; 2],
    /// The first gate's tweak.
    pub first_tweak: u64,
    /// Fresh randomness for labels.
    pub seed: Block,
    gates: VecDeque<GateBatch>,
    /// The next gate within the first batch of `gates`.
    next: usize,
    left: u64,
}

/// A mask and a triple per AND gate.
struct GateBatch {
    masks: Shares,
    triples: Triples,
}

/// What one AND gate uses up.
#[derive(Clone, Copy)]
pub(super) struct GateMaterial {
    /// The mask of the output wire.
    pub mask: Share,
    /// The triple c = a ∧ b.
    pub a: Share,
    pub b: Share,
    pub c: Share,
}

impl Material {
    /// Makes enough for `need` with the peer.
    pub fn make(
        open: &mut Preprocessor,
        net: &mut Network,
        need: &Need,
        first_tweak: u64,
    ) -> Result<Material> {
        let bits = |party: u16| {
            let bits = need.input_bits.get(party as usize).copied().unwrap_or(0);
            usize::try_from(bits).map_err(|_| Error::InvalidInput("too many input bits".into()))
        };
        let (mine, theirs) = (bits(net.me)?, bits(net.peer())?);
        let (own_inputs, peer_inputs) = open.bits(&mut net.lanes[0], mine, theirs)?;
        let gates = usize::try_from(need.and_gates)
            .map_err(|_| Error::InvalidInput("too many AND gates".into()))?;
        let mut batches = VecDeque::new();
        for batch in open.plan(gates) {
            let triples = open.triples(&mut net.lanes, batch)?;
            let masks = open.shares(&mut net.lanes[0], batch.triples)?;
            batches.push_back(GateBatch { masks, triples });
        }
        let start = |which| derive_block("symbolon wrk garbling 1", &net.session, which);
        Ok(Material {
            delta: open.delta(),
            mac_bytes: net.rho.bits() as usize / 8,
            own_inputs,
            peer_inputs,
            hash_starts: [start(0), start(1)],
            first_tweak,
            seed: open.prg().block(),
            gates: batches,
            next: 0,
            left: need.and_gates,
        })
    }

    /// Refuses a circuit that needs more than there is.
    pub fn check(&self, need: &Need, me: u16) -> Result<()> {
        let bits = |party: u16| need.input_bits.get(party as usize).copied().unwrap_or(0) as usize;
        let enough = need.and_gates <= self.left
            && bits(me) <= self.own_inputs.macs.len()
            && bits(1 - me) <= self.peer_inputs.len();
        if enough {
            return Ok(());
        }
        Err(Error::InvalidInput("the circuit needs more than was preprocessed".into()))
    }

    /// Takes the material of the next AND gate; `None` when there is no more.
    pub fn next_gate(&mut self) -> Option<GateMaterial> {
        if self.left == 0 {
            return None;
        }
        let batch = self.gates.front()?;
        let k = self.next;
        let gate = GateMaterial {
            mask: batch.masks.get(k),
            a: batch.triples.a.get(k),
            b: batch.triples.b.get(k),
            c: batch.triples.c.get(k),
        };
        self.next += 1;
        self.left -= 1;
        if self.next == batch.triples.len() {
            self.gates.pop_front();
            self.next = 0;
        }
        Some(gate)
    }
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
