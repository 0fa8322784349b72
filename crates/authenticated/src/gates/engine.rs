//! The engine of protocols on AND gates: makes correlations with the peers, and passes them to a
//! role.

use symbolon_engine::{
    Compiled, Demand, Engine, InputBits, Network, OutputBits, PoolSink, Prepared, Preprocessed,
    phases::{self, small},
};
use symbolon_preprocessing::{Config, Preprocessor};
use symbolon_transport::{Error, Result, SessionId, Step};

use super::{
    circuit_dependent::{CircuitTriples, Draws},
    correlations::{Correlations, RandomCorrelations},
    pool::PoolWriter,
    position::Position,
    role::{GarblingRole, GateRole, Role},
    segment_source,
    triples::{BetaTriples, RandomTriples, TripleQueue},
};

/// An engine that makes its correlations with the peers.
pub(crate) struct PeerEngine {
    open: Preprocessor,
    position: Position,
    session: [u8; 32],
    /// The number of AND gates prepared so far: no tweak of a garbling hash is used twice under a
    /// Δ.
    gates: u64,
    role: Role,
}

impl PeerEngine {
    /// Runs the set-up.
    ///
    /// Paper: WRK17, Fig. 2, 1 | Δ
    ///
    /// Paper: YWZ20, Fig. 6, 1 | Δ
    pub fn set_up(net: &mut Network, position: Position, role: Role) -> Result<Box<dyn Engine>> {
        let (session, evaluator) = (net.session, position.evaluator);
        let config = Config { rho: net.rho.bits(), evaluator, ot_extension: net.ot };
        let open = Preprocessor::set_up(net.makers(), &SessionId(session), config)?;
        Ok(Box::new(PeerEngine { open, position, session, gates: 0, role }))
    }

    /// Assigns numbers to the next `n` AND gates; returns the first.
    fn number(&mut self, n: u64) -> Result<u64> {
        let first = self.gates;
        self.gates = first.checked_add(n).ok_or_else(finished)?;
        Ok(first)
    }
}

impl Engine for PeerEngine {
    fn preprocess(&mut self, net: &mut Network, demand: &Demand) -> Result<Box<dyn Preprocessed>> {
        let first = self.number(demand.and_gates)?;
        let (open, position) = (&mut self.open, self.position);
        let correlations = RandomCorrelations::make(open, net, demand, position, first)?;
        Ok(Box::new(Independent { correlations, role: self.role }))
    }

    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        let demand = self.role.demand(net, circuit)?;
        let GateRole::Garbling(role) = self.role.gates else {
            return self.preprocess(net, &demand);
        };
        let first = self.number(demand.and_gates)?;
        let (open, position) = (&mut self.open, self.position);
        let draws = Draws::plan(open, circuit, net.segment_gates)?;
        let masks = (&demand, draws.first(), draws.broadcasts());
        let (correlations, masks) = Correlations::with_masks(open, net, masks, position, first)?;
        let triples = CircuitTriples::new(circuit, &correlations, draws.after(masks));
        let beside = net.lanes.len() > 1;
        net.meter.begin_step(Step::Triples, demand.and_gates);
        let triples = triples.beta_triples(open, net.makers(), beside)?;
        let correlations = correlations.with(TripleQueue::new(triples, demand.and_gates));
        Ok(Box::new(Dependent { correlations, digest: circuit.digest(), role }))
    }

    fn stream(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let GateRole::Garbling(role) = self.role.gates else {
            return phases::one_by_one(self, net, circuit, inputs);
        };
        phases::check_inputs(circuit.circuit(), net.me, inputs, 1)?;
        let first = self.number(circuit.plan().and_count())?;
        let (open, position) = (&mut self.open, self.position);
        segment_source::stream(open, net, circuit, position, first, |streaming, net| {
            (role.stream)(streaming, net, circuit, inputs)
        })
    }

    fn fill(&mut self, net: &mut Network, demand: &Demand, sink: &mut dyn PoolSink) -> Result<()> {
        if self.gates > 0 {
            return Err(finished());
        }
        let counts = demand.input_counts(net.parties())?;
        let mut pool = PoolWriter::new(sink, self.position, net.parties(), self.open.delta())?;
        let (own, theirs) = self.open.bits(net.makers(), &counts)?;
        pool.inputs(&own.bits, &own.macs, &theirs)?;
        // The gates in the pool are numbered from 0, and no later gate gets a number.
        self.gates = u64::MAX;
        let mut left = small(demand.and_gates)?;
        net.meter.begin_step(Step::Triples, demand.and_gates);
        for batch in self.open.plan(left) {
            let abc = self.open.triples(net.makers(), batch)?;
            let gates = abc.len().min(left);
            left -= gates;
            let lambda_c = self.open.shares(net.makers(), gates)?;
            let batch = RandomTriples { lambda_c, abc };
            pool.gates(&batch)?;
            self.open.recycle(batch.abc);
        }
        pool.finish()
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}

/// A party after phase 1, with correlations for any circuit within the demand they were made for.
pub(crate) struct Independent {
    pub correlations: RandomCorrelations,
    pub role: Role,
}

impl Preprocessed for Independent {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        let Independent { correlations, role } = *self;
        correlations.check(&role.demand(net, circuit)?)?;
        match role.gates {
            GateRole::Garbling(role) => role.prepare_with(correlations, net, circuit),
            GateRole::Tables(prepare) => prepare(correlations, net, circuit),
        }
    }
}

/// A party after phase 1, with correlations for one circuit.
struct Dependent {
    correlations: Correlations<TripleQueue<BetaTriples>>,
    digest: [u8; 32],
    role: GarblingRole,
}

impl Preprocessed for Dependent {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        let Dependent { correlations, digest, role } = *self;
        circuit.must_be(&digest)?;
        role.prepare_with(correlations, net, circuit)
    }
}

/// Returns the error for an engine that filled a pool, or would do so after it made something else.
pub(crate) fn finished() -> Error {
    Error::invalid_input("a pool is filled by a session of its own")
}
