//! The order of the commitments.
//!
//! # Memory
//! All commitments of a cut-and-choose are in memory until its last bucket is filled, since a
//! bucket may get any of the copies. At ρ = 40 each takes 72 bytes at each party. For N blocks of
//! AES-128:
//!
//! | N | commitments | MB at each party |
//! | --- | --- | --- |
//! | 1 | 29 973 | 2 |
//! | 32 | 330 624 | 24 |
//! | 128 | 984 602 | 71 |
//! | 1 024 | 5 876 331 | 423 |
//!
//! The evaluator also keeps 32 bytes for each wire of each authenticator: a run of 128 blocks makes
//! 329 788 of these, one of 1 024 makes 2 118 996. A run that would take more than 2^23 commitments
//! is divided (`windows`).

use super::{commit::Id, params::Params, program::Program};

/// Objects of the same shape, each with its own Δ: the copies of a component, or authenticators.
#[derive(Clone, Copy, Debug)]
pub(super) struct Objects {
    first: Id,
    /// How many commitments each object has: Δ, then the keys.
    stride: u32,
    /// How many there are.
    pub count: usize,
    /// The number of the first object. No other object made in the set-up's session has it.
    pub number: u64,
}

impl Objects {
    /// Returns the commitment to Δ of an object.
    pub fn offset(&self, object: usize) -> Id {
        self.first + object as u32 * self.stride
    }

    /// Returns the commitment to a key of an object. A component's input keys come before its
    /// output keys.
    pub fn key(&self, object: usize, key: usize) -> Id {
        self.offset(object) + 1 + key as u32
    }
}

/// The commitments of a run, in order.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The copies of each kind.
    pub kinds: Vec<Objects>,
    /// All authenticators. Each has as many keys as a bundle has wires.
    pub authenticators: Objects,
    /// Wires in a bundle.
    pub bundle: usize,
    /// Bundles in each preparation.
    pub bundles: usize,
    /// The first of the R_i: those of the evaluator's inputs, then the sacrificed ones.
    pub transfers: Id,
    /// The first of the masks: those of the evaluator's outputs, then the sacrificed ones.
    pub masks: Id,
    /// The first of the keys of the evaluator's inputs.
    pub own_inputs: Id,
    /// Commitments in all.
    pub total: usize,
    /// Objects in all.
    pub objects: u64,
}

/// The commitment to Δ_ot, the offset to which all others are soldered.
pub(super) const COMMON_OFFSET: Id = 0;

impl Layout {
    /// Returns the commitments for some preparations of a program. Objects are numbered from
    /// `number` on.
    pub fn new(
        (program, preparations): (&Program, usize),
        params: &Params,
        rho: u32,
        number: u64,
    ) -> Layout {
        let (mut next, mut objects) = (COMMON_OFFSET as usize + 1, number);
        let mut take = |keys: usize, count: usize| {
            let taken =
                Objects { first: next as Id, stride: 1 + keys as u32, count, number: objects };
            next += count * (1 + keys);
            objects += count as u64;
            taken
        };
        let kinds = program.graph.kinds.iter().zip(&params.kinds);
        let kinds = kinds
            .map(|(kind, sizes)| take(kind.inputs() + kind.outputs(), sizes.objects as usize))
            .collect();
        let bundle = params.bundle;
        let bundles = params.authenticators.buckets as usize / preparations;
        let authenticators = take(bundle, params.authenticators.objects as usize);
        let transfers = next;
        let own = program.inputs[1].len() * preparations;
        let masks = transfers + own + rho as usize;
        let own_inputs = masks + program.to_evaluator.len() * preparations + rho as usize;
        let total = own_inputs + own;
        Layout {
            kinds,
            authenticators,
            bundle,
            bundles,
            transfers: transfers as Id,
            masks: masks as Id,
            own_inputs: own_inputs as Id,
            total,
            objects: objects - number,
        }
    }
}
