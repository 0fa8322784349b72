//! Forecasts of runs, from the circuit alone: how many circuits are garbled, and how many bytes
//! each party sends.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_engine::forecast::ONLINE;
use symbolon_engine::{OtExtension, Rho, RunTerms, TreeDepth};
use symbolon_transport::Result;

use super::{
    function::Function,
    options::DualExOptions,
    params::{Kappas, Params},
    script,
};

/// A planned run.
#[derive(Clone, Copy, Debug)]
pub struct Plans {
    /// Statistical security.
    pub rho: Rho,
    /// How many executions are prepared together.
    pub executions: usize,
    /// The form of their intersections, and κ_b.
    pub options: DualExOptions,
    /// Whether each execution runs by itself, with its own messages.
    pub one_by_one: bool,
    /// What makes correlated OTs.
    pub ot: OtExtension,
}

impl Default for Plans {
    /// One execution at ρ = 40, with `softspoken4`.
    fn default() -> Self {
        let ot = OtExtension::SoftSpoken { k: TreeDepth::Four };
        let options = DualExOptions::default();
        Plans { rho: Rho::Bits40, executions: 1, options, one_by_one: false, ot }
    }
}

impl Plans {
    /// Plans executions on these terms, each batch in messages of its own.
    ///
    /// # Errors
    /// `InvalidInput` if an option has no such value.
    pub fn of(terms: RunTerms<'_>) -> Result<Plans> {
        let RunTerms { rho, executions, options } = terms;
        let options = DualExOptions::of(options, rho)?;
        Ok(Plans { rho, executions, options, ..Plans::default() })
    }
}

/// What a preparation and its executions are made of and send, without the set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// N: executions that are prepared together, and so buckets of each party.
    pub executions: u64,
    /// B: circuits of each party in a bucket, all of which are evaluated.
    pub bucket: u64,
    /// N̂: circuits that each party garbles.
    pub made: u64,
    /// Bytes that each party sends before inputs are known, with message headers.
    pub offline: [u64; 2],
    /// Bytes that each party sends online, with message headers.
    pub online: [u64; 2],
}

impl Forecast {
    /// Forecasts runs of `circuit`.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol cannot run this circuit, or cannot prepare this many
    /// executions of it together.
    pub fn new(circuit: &Circuit, plans: Plans) -> Result<Forecast> {
        let Plans { rho, executions, options, one_by_one, ot } = plans;
        let function = Function::of(circuit)?;
        let kappas = Kappas::of(rho, options);
        let params = Params::new(executions, kappas, options.psi, &function)?;
        params.check_messages(function.inputs, function.outputs)?;
        Ok(Forecast::of(&function, &params, one_by_one, ot))
    }

    /// Forecasts runs with these parameters.
    pub(super) fn of(
        function: &Function,
        params: &Params,
        one_by_one: bool,
        ot: OtExtension,
    ) -> Forecast {
        let (mut offline, mut online) = ([0; 2], [0; 2]);
        for me in PartyId::all(2u16) {
            for phase in script::executions(me, function, params, (one_by_one, ot)).phases() {
                let sum = if phase.phase == ONLINE { &mut online } else { &mut offline };
                sum[me.index()] = phase.sent.bytes;
            }
        }
        let sizes = params.sizes;
        let (executions, bucket, made) = (sizes.buckets, sizes.bucket, sizes.objects);
        Forecast { executions, bucket, made, offline, online }
    }

    /// Returns the bytes that both parties send, without the set-up.
    pub fn bytes(&self) -> u64 {
        self.offline.iter().chain(&self.online).fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}
