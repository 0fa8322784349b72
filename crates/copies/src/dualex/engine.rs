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
    ) -> Result<PreparedExecutions> {
        let mut executions = Vec::with_capacity(params.executions());
        let mut none = PreparedExecutions::none(net, circuit, &params)?;
        let (offline, ots) = self.begin(net, &none.function, params)?;
        offline.run(ots, &mut |_, execution| {
            executions.push(execution);
            Ok(())
        })?;
        none.executions = executions;
        Ok(none)
    }

    /// Begins a preparation: numbers its circuits, and tosses the coin for the encodings. Returns
    /// it, and the OTs that it takes.
    pub(super) fn begin<'a>(
        &'a mut self,
        net: &'a mut Network,
        function: &'a Function,
        params: Params,
    ) -> Result<(Preparation<'a>, &'a mut OtSession)> {
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
        let tables = Tables::new(params.executions() * params.bucket(), gates);
        let prg = &mut self.prg;
        let offline = Preparation { net, function, params, first, matrices, prg, tables };
        Ok((offline, &mut self.ots))
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
        Ok(Box::new(self.prepare_batch(net, circuit, params)?))
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
        let (offline, ots) = self.begin(net, &none.function, params)?;
        offline.run(ots, &mut |net, execution| each(net, Box::new(none.with(execution))))
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
