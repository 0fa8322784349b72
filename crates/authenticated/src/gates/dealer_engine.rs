//! Correlations from a dealer, in place of oblivious transfer among the parties.
//!
//! [`symbolon_preprocessing::dealer`] describes the trust in the dealer, and what it sends. Here a
//! party requests one *dealing* after another, each over its own channel and under a fresh Δ: one
//! for every call of phase 1. The id of a dealing hashes the parties' session, on which all of them
//! have agreed already, the number of the dealing in it, and everything that is requested:
//!
//! ```text
//! id = H(session, number, evaluator, AND gates, input bits of every party)
//! ```
//!
//! The dealer brings together the clients with the same id. Parties in different sessions, or with
//! different counts, never meet there. The dealer does not learn the session's id, which keys
//! hashes.
//!
//! Each requested gate gets one mask and one triple, as good as those that the parties make: what
//! the protocols do with them, and all of their checks, stay the same.

use std::collections::VecDeque;

use blake3::Hasher;
use symbolon_engine::{Compiled, Dealer, Demand, Engine, Network, PoolSink, Preprocessed};
use symbolon_preprocessing::dealer::{DealerClient, Gates, Request};
use symbolon_primitives::Prg;
use symbolon_transport::{Channel, Error, Result, Step};

use super::{
    correlations::{Correlations, InputAuth, PartySecrets},
    engine::{Independent, finished},
    pool::PoolWriter,
    position::Position,
    role::Role,
    triples::{RandomTriples, TripleQueue},
};

const DOMAIN: &str = "symbolon 2026 dealing id v1";

/// An engine whose phase 1 takes material from a dealer.
pub(crate) struct DealerEngine {
    dealer: Dealer,
    position: Position,
    session: [u8; 32],
    role: Role,
    /// The number of dealings so far.
    dealings: u64,
    /// The number of AND gates so far. Every dealing has its own Δ, but tweaks differ between
    /// dealings nevertheless.
    gates: u64,
}

impl DealerEngine {
    /// Creates an engine in this position of the session of `net`. Sends nothing yet.
    pub fn new(net: &Network, dealer: Dealer, position: Position, role: Role) -> Self {
        DealerEngine { dealer, position, session: net.session, role, dealings: 0, gates: 0 }
    }

    /// Requests another dealing; returns its material for the inputs, and the source of its gates.
    /// First sends what this party still owes its peers, because the dealer waits for all of them.
    fn ask(&mut self, net: &mut Network, demand: &Demand) -> Result<(Correlations<()>, Gates)> {
        net.lanes.iter_mut().flatten().try_for_each(Channel::flush)?;
        let parties = usize::from(net.parties());
        let input_bits: Vec<u64> =
            (0..parties).map(|party| demand.input_bits.get(party).copied().unwrap_or(0)).collect();
        let mut request = Request {
            session: [0; 32],
            party: self.position.me,
            evaluator: self.position.evaluator,
            and_gates: demand.and_gates,
            input_bits,
            keys: self.dealer.keys.clone(),
        };
        request.session = dealing_id(&self.session, self.dealings, &request);
        self.dealings += 1;
        let client = DealerClient::new((self.dealer.dial)(net)?, request)?;
        let delta = client.delta().clone();
        let (mut own, mut keys, gates) = client.inputs()?;
        let correlations = Correlations {
            secrets: PartySecrets {
                position: self.position,
                delta,
                first_tweak: self.gates,
                seed: Prg::from_os().map_err(|e| Error::internal(e.to_string()))?.seed(),
                own_masks: std::mem::take(&mut own.bits),
            },
            inputs: InputAuth {
                macs: std::mem::take(&mut own.macs),
                keys: std::mem::take(&mut *keys),
            },
            triples: (),
        };
        Ok((correlations, gates))
    }
}

fn dealing_id(session: &[u8; 32], number: u64, request: &Request) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key(DOMAIN);
    hasher.update(session).update(&number.to_le_bytes());
    hasher.update(&request.evaluator.to_le_bytes()).update(&request.and_gates.to_le_bytes());
    for bits in &request.input_bits {
        hasher.update(&bits.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

impl Engine for DealerEngine {
    fn preprocess(&mut self, net: &mut Network, demand: &Demand) -> Result<Box<dyn Preprocessed>> {
        let (correlations, mut gates) = self.ask(net, demand)?;
        let mut batches = VecDeque::new();
        net.meter.begin_step(Step::Triples, demand.and_gates);
        while let Some((lambda_c, abc)) = gates.next_batch()? {
            net.meter.advance(Step::Triples, abc.len() as u64);
            batches.push_back(RandomTriples { lambda_c, abc });
        }
        self.gates = self.gates.checked_add(demand.and_gates).ok_or_else(finished)?;
        let correlations = correlations.with(TripleQueue::new(batches, demand.and_gates));
        Ok(Box::new(Independent { correlations, role: self.role }))
    }

    /// Does the same as [`preprocess`](Engine::preprocess) for the circuit's demand: knowing the
    /// circuit saves nothing here.
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        let demand = self.role.demand(net, circuit)?;
        self.preprocess(net, &demand)
    }

    fn fill(&mut self, net: &mut Network, demand: &Demand, sink: &mut dyn PoolSink) -> Result<()> {
        if self.dealings > 0 {
            return Err(finished());
        }
        let (correlations, mut gates) = self.ask(net, demand)?;
        // The gates in the pool are numbered from 0, and no later gate gets a number.
        self.gates = u64::MAX;
        let Correlations { secrets, inputs, .. } = correlations;
        let mut pool = PoolWriter::new(sink, self.position, net.parties(), &secrets.delta)?;
        pool.inputs(&secrets.own_masks, &inputs.macs, &inputs.keys)?;
        net.meter.begin_step(Step::Triples, demand.and_gates);
        while let Some((lambda_c, abc)) = gates.next_batch()? {
            net.meter.advance(Step::Triples, abc.len() as u64);
            pool.gates(&RandomTriples { lambda_c, abc })?;
        }
        pool.finish()
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}
