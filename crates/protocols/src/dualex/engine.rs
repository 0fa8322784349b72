//! The engine: OTs with the peer, and executions prepared with them.

use symbolon_interaction::toss_coin;
use symbolon_primitives::Prg;
use symbolon_transport::{Error, Result, SessionId};

use super::{
    execution::Lengths, function::Function, offline::Offline, online::PreparedExecutions,
    ot::OtSession, params::Params, probe_matrix::ProbeMatrix,
};
use crate::{
    Compiled, Engine, Network, Prepared, Preprocessed,
    phases::{EachPrepared, each_by_itself},
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

impl DualEx {
    /// Prepares so many executions.
    fn executions(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        executions: usize,
    ) -> Result<PreparedExecutions> {
        let params = Params::new(executions, net.rho, net.batch.psi)?;
        self.prepare_with(
            net,
            circuit,
            params,
            #[cfg(test)]
            None,
        )
    }

    /// Prepares with these parameters.
    pub(super) fn prepare_with(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        params: Params,
        #[cfg(test)] cheat: Option<&super::garble::OtherFunction>,
    ) -> Result<PreparedExecutions> {
        let function = Function::of(circuit.circuit())?;
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
        let digest = circuit.digest();
        Ok(PreparedExecutions { digest, session, function, lengths, executions })
    }
}

impl Engine for DualEx {
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        Ok(Box::new(self.executions(net, circuit, net.batch.executions)?))
    }

    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        count: usize,
        each: &mut EachPrepared<'_>,
    ) -> Result<()> {
        if net.batch.executions != 1 || count < 2 {
            // What runs together is one preparation.
            return each_by_itself(self, net, circuit, count, each);
        }
        let apart = self.executions(net, circuit, count)?.apart();
        apart.into_iter().try_for_each(|prepared| each(net, prepared))
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}

/// All that there is to prepare is done.
impl Preprocessed for PreparedExecutions {
    fn prepare(self: Box<Self>, _: &mut Network, circuit: &Compiled) -> Result<Box<dyn Prepared>> {
        circuit.must_be(&self.digest)?;
        Ok(self)
    }
}
