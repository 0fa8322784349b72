//! The engine: it holds the OTs with the peer and prepares executions with them.

use symbolon_engine::{
    Compiled, EachPrepared, Engine, Network, Prepared, Preprocessed, phases::each_by_itself,
};
use symbolon_interaction::toss_coin;
use symbolon_primitives::Prg;
use symbolon_transport::{Error, Result, SessionId};

use super::{
    function::Function,
    garble::NUMBERS,
    offline::EachExecution,
    online::PreparedExecutions,
    options::DualExOptions,
    ot::OtSession,
    params::{Kappas, Params},
    preparation::Preparation,
    probe_matrix::ProbeMatrix,
    tables::Tables,
};

/// A party whose OTs are set up.
pub(super) struct DualEx {
    ots: OtSession,
    session: [u8; 32],
    /// How many circuits each party has garbled in this session. No circuit number is used twice.
    circuits: u64,
    prg: Prg,
}

/// Runs the set-up.
pub(super) fn set_up(net: &mut Network) -> Result<Box<dyn Engine>> {
    Ok(Box::new(set_up_own(net)?))
}

/// Runs the set-up and returns the engine unboxed.
pub(super) fn set_up_own(net: &mut Network) -> Result<DualEx> {
    let mut prg = Prg::from_os().map_err(|e| Error::internal(format!("no randomness: {e}")))?;
    let ots = OtSession::set_up(net, &mut prg)?;
    Ok(DualEx { ots, session: net.session, circuits: 0, prg })
}

impl DualEx {
    /// Prepares a batch of executions that is held until its evaluation.
    pub(super) fn prepare_batch(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        params: Params,
        #[cfg(test)] cheat: Option<&super::garble::GarblingCheat>,
    ) -> Result<PreparedExecutions> {
        let mut executions = Vec::with_capacity(params.executions());
        let mut none = PreparedExecutions::none(net, circuit, &params)?;
        self.prepare_into(
            net,
            &none,
            params,
            &mut |_, execution| {
                executions.push(execution);
                Ok(())
            },
            #[cfg(test)]
            cheat,
        )?;
        none.executions = executions;
        Ok(none)
    }

    /// Prepares executions and passes each of them to `each`. `none` holds what they have in
    /// common.
    fn prepare_into(
        &mut self,
        net: &mut Network,
        none: &PreparedExecutions,
        params: Params,
        each: &mut EachExecution<'_>,
        #[cfg(test)] cheat: Option<&super::garble::GarblingCheat>,
    ) -> Result<()> {
        let function = &none.function;
        let gates = function.plan.and_count() as usize;
        params.check_messages(function.inputs, function.outputs)?;
        let first = self.circuits;
        self.circuits = first
            .checked_add(params.circuits() as u64)
            .filter(|circuits| *circuits < NUMBERS)
            .ok_or_else(|| Error::invalid_input("this session has garbled too many circuits"))?;
        let session = SessionId(net.session);
        let coin = toss_coin(net.peers(), &session, 2 * first, &mut self.prg)?;
        let mut coin = coin.into_prg();
        let matrices =
            function.inputs.map(|bits| ProbeMatrix::draw(bits, params.kappa_s, &mut coin));
        let offline = Preparation {
            net,
            function,
            params,
            first,
            matrices,
            prg: &mut self.prg,
            tables: Tables::new(params.executions() * params.bucket(), gates),
            #[cfg(test)]
            cheat,
        };
        offline.run(&mut self.ots, each)
    }
}

impl Engine for DualEx {
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        let function = circuit.derived::<Function>()?;
        let options = DualExOptions::of(&net.options, net.rho)?;
        let kappas = Kappas::of(net.rho, options);
        let params = Params::new(net.executions, kappas, options.psi, &function)?;
        Ok(Box::new(self.prepare_batch(
            net,
            circuit,
            params,
            #[cfg(test)]
            None,
        )?))
    }

    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        count: usize,
        each: &mut EachPrepared<'_>,
    ) -> Result<()> {
        if net.executions != 1 || count < 2 {
            // Executions that run together are already one preparation.
            return each_by_itself(self, net, circuit, count, each);
        }
        let options = DualExOptions::of(&net.options, net.rho)?;
        let kappas = Kappas::of(net.rho, options);
        let function = circuit.derived::<Function>()?;
        let params = Params::new(count, kappas, options.psi, &function)?;
        let none = PreparedExecutions::none(net, circuit, &params)?;
        self.prepare_into(
            net,
            &none,
            params,
            &mut |net, execution| each(net, Box::new(none.with(execution))),
            #[cfg(test)]
            None,
        )
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}

/// Nothing is left to prepare.
impl Preprocessed for PreparedExecutions {
    fn prepare(self: Box<Self>, _: &mut Network, circuit: &Compiled) -> Result<Box<dyn Prepared>> {
        circuit.must_be(&self.digest)?;
        Ok(self)
    }

    fn is_prepared(&self) -> bool {
        true
    }
}
