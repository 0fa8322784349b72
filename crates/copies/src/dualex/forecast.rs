//! Forecasts of runs, from the circuit alone: how many circuits are garbled, and how many bytes
//! each party sends.

use symbolon_circuit::Circuit;
use symbolon_engine::{OtExtension, Rho, RunTerms, TreeDepth};
use symbolon_ot::{cot::MAX_DRAW, draw_bytes};
use symbolon_transport::Result;

use super::{
    buckets::PIECE,
    function::Function,
    options::DualExOptions,
    params::{Kappas, Params},
    probe_matrix::encoded_bits,
};
use crate::dualex::options::PsiForm;

/// Bytes of a message besides its content.
const HEADER: u128 = 8;

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
        let of = |party: usize| Sender::new(function, params, party);
        let most = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        let online = |sender: Sender| match one_by_one {
            true => sender.n * Sender { n: 1, ..sender }.online(),
            false => sender.online(),
        };
        Forecast {
            executions: params.sizes.buckets,
            bucket: params.sizes.bucket,
            made: params.sizes.objects,
            offline: [0, 1].map(|party| most(of(party).offline(ot))),
            online: [0, 1].map(|party| most(online(of(party)))),
        }
    }

    /// Returns the bytes that both parties send, without the set-up.
    pub fn bytes(&self) -> u64 {
        self.offline.iter().chain(&self.online).fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

/// What determines how much a party sends. Names are those of `docs/reference/bytes.md`.
#[derive(Clone, Copy)]
pub(super) struct Sender {
    /// N.
    pub n: u128,
    /// B.
    pub b: u128,
    /// N̂.
    pub circuits: u128,
    /// Input bits of the party and of its peer.
    pub inputs: [u128; 2],
    /// The lengths of their encodings.
    pub encoded: [u128; 2],
    /// Output bits.
    pub outputs: u128,
    /// AND gates.
    pub gates: u128,
    /// ℓ.
    pub item: u128,
    pub psi: PsiForm,
}

impl Sender {
    pub(super) fn new(function: &Function, params: &Params, party: usize) -> Sender {
        let inputs = [party, 1 - party].map(|party| function.inputs[party]);
        Sender {
            n: params.sizes.buckets.into(),
            b: params.sizes.bucket.into(),
            circuits: params.sizes.objects.into(),
            inputs: inputs.map(|bits| bits as u128),
            encoded: inputs.map(|bits| encoded_bits(bits, params.kappa_s) as u128),
            outputs: function.outputs as u128,
            gates: function.plan.and_count().into(),
            item: params.item_bits() as u128,
            psi: params.psi,
        }
    }

    /// Returns the bytes sent offline.
    fn offline(&self, ot: OtExtension) -> u128 {
        let Sender { n, b, circuits, inputs: [own, peer], encoded, outputs, gates, item, psi } =
            *self;
        let coins = 2 * (32 + 64 + 2 * HEADER);
        let committed = 32 * circuits + HEADER;
        let opened = circuits - n * b;
        let opened = 16 * opened + bytes(opened * encoded[0]) + 32 + HEADER;
        let leaves = 32 * (own + peer + encoded[1]) + 128;
        let ending = 16 * outputs.div_ceil(128) + 32 * outputs + leaves + 32 + HEADER;
        let circuit = 32 * gates + gates.div_ceil(PIECE as u128) * HEADER + ending;
        let bucket = 32 * outputs * b + 32 + HEADER;
        let inputs = bytes(n * (b - 1) * encoded[0]) + HEADER + n * (32 * b * encoded[1] + HEADER);
        let terms = match psi {
            PsiForm::Synchronous => 0,
            PsiForm::Asynchronous => n * (64 * b * b * item + HEADER),
        };
        let draws = draws(ot, circuits * encoded[0] + n * b * item);
        coins + draws + committed + opened + n * (b * circuit + bucket) + inputs + terms
    }

    /// Returns the bytes sent online, if all executions run together.
    fn online(&self) -> u128 {
        let Sender { n, b, inputs: [own, peer], item, psi, .. } = *self;
        let labels = n * (16 * b * (own + peer + 1) + HEADER);
        let inputs = bytes(n * own) + HEADER + labels;
        let items = bytes(n * b * item);
        let seeds = 16 * n * b + HEADER;
        let intersection = match psi {
            PsiForm::Synchronous => items + HEADER + 32 + HEADER + 32 + 16 * n * b * b + HEADER,
            PsiForm::Asynchronous => 2 * items + HEADER + n * (16 * b * b * item + HEADER),
        };
        inputs + seeds + intersection
    }
}

/// Returns the bytes of drawing correlated OTs as their receiver.
fn draws(ot: OtExtension, choices: u128) -> u128 {
    let most = MAX_DRAW as u128;
    let draw = |n: u128| draw_bytes(ot, n as usize) as u128 + 2 * HEADER;
    let rest = choices % most;
    choices / most * draw(most) + if rest > 0 { draw(rest) } else { 0 }
}

fn bytes(bits: u128) -> u128 {
    bits.div_ceil(8)
}
