//! The numbers that determine how much a party sends.

use super::{function::Function, options::PsiForm, params::Params, probe_matrix::encoded_bits};

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
    pub fn new(function: &Function, params: &Params, party: usize) -> Sender {
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
}
