//! The engine: OTs with the peer, and executions prepared with them.

use symbolon_circuit::{Circuit, Plan};
use symbolon_interaction::toss_coin;
use symbolon_primitives::Prg;
use symbolon_transport::{Error, Result, SessionId};

use super::{
    execution::Lengths, function::Function, offline::Offline, online::PreparedExecutions,
    ot::OtSession, params::Params, probe_matrix::ProbeMatrix,
};
use crate::{
    Demand, Engine, InputBits, Network, OutputBits, PoolSink, Prepared, Preprocessed,
    phases::{self, Keep, PlannedCircuit},
};

/// A party whose OTs are set up.
pub(super) struct DualEx {
    ots: OtSession,
    session: [u8; 32],
    /// Circuits garbled so far, by either party: numbers never come again.
    circuits: u64,
    prg: Prg,
}

/// Runs the set-up.
pub(super) fn set_up(net: &mut Network) -> Result<Box<dyn Engine>> {
    Ok(Box::new(set_up_own(net)?))
}

/// The same, without the box.
pub(super) fn set_up_own(net: &mut Network) -> Result<DualEx> {
    let mut prg = Prg::from_os().map_err(|e| Error::internal(format!("no randomness: {e}")))?;
    let ots = OtSession::set_up(net, &mut prg)?;
    Ok(DualEx { ots, session: net.session, circuits: 0, prg })
}

/// What is refused to callers that want material for any circuit.
pub(super) fn dependent_only() -> Error {
    Error::invalid_input(
        "dualex prepares circuits only: it has no function-independent material, pools or dealer",
    )
}

impl DualEx {
    /// Prepares with these parameters.
    pub(super) fn prepare_with(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        params: Params,
        #[cfg(test)] cheat: Option<&super::garble::OtherFunction>,
    ) -> Result<PreparedExecutions> {
        let function = Function::of(circuit)?;
        let first = self.circuits;
        self.circuits = first
            .checked_add(params.circuits() as u64)
            .filter(|circuits| *circuits < 1 << 62)
            .ok_or_else(|| Error::invalid_input("this session has garbled too many circuits"))?;
        let session = net.session;
        let coin = toss_coin(net.peers(), &SessionId(session), 2 * first, &mut self.prg)?;
        let mut coin = coin.into_prg();
        let matrices =
            function.inputs.map(|bits| ProbeMatrix::draw(bits, params.kappa_s, &mut coin));
        let offline = Offline {
            net,
            function: &function,
            params,
            first,
            matrices,
            prg: &mut self.prg,
            #[cfg(test)]
            cheat,
        };
        let executions = offline.run(&mut self.ots)?;
        let lengths = Lengths::new(net.me, &function, &params);
        Ok(PreparedExecutions { session, function, lengths, executions })
    }
}

impl Engine for DualEx {
    fn preprocess(&mut self, _: &mut Network, _: &Demand) -> Result<Box<dyn Preprocessed>> {
        Err(dependent_only())
    }

    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        _: &Plan,
    ) -> Result<Box<dyn Preprocessed>> {
        let params = Params::new(net.batch.executions, net.rho, net.batch.psi)?;
        let prepared = self.prepare_with(
            net,
            circuit,
            params,
            #[cfg(test)]
            None,
        )?;
        Ok(Box::new(Made { prepared, digest: circuit.digest() }))
    }

    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        _: &Plan,
        count: usize,
        keep: &mut Keep<'_>,
    ) -> Result<()> {
        if net.batch.executions != 1 {
            return Err(Error::invalid_input("executions that run together are prepared together"));
        }
        let params = Params::new(count, net.rho, net.batch.psi)?;
        let prepared = self.prepare_with(
            net,
            circuit,
            params,
            #[cfg(test)]
            None,
        )?;
        let PreparedExecutions { session, function, lengths, executions } = prepared;
        let alone = |execution| -> Box<dyn Prepared> {
            let (function, executions) = (function.clone(), vec![execution]);
            Box::new(PreparedExecutions { session, function, lengths, executions })
        };
        executions.into_iter().try_for_each(|execution| keep(net, alone(execution)))
    }

    fn stream(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        phases::one_by_one(self, net, PlannedCircuit { circuit, plan }, inputs)
    }

    fn fill(&mut self, _: &mut Network, _: &Demand, _: &mut dyn PoolSink) -> Result<()> {
        Err(dependent_only())
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}

/// Executions of one circuit: all that there is to prepare is done.
struct Made {
    prepared: PreparedExecutions,
    digest: [u8; 32],
}

impl Preprocessed for Made {
    fn prepare(
        self: Box<Self>,
        _: &mut Network,
        circuit: &Circuit,
        _: &Plan,
    ) -> Result<Box<dyn Prepared>> {
        if self.digest != circuit.digest() {
            return Err(Error::invalid_input("the material was made for another circuit"));
        }
        Ok(Box::new(self.prepared))
    }
}
