//! Garbling alone, for measurements: all AND gates of a plan as the protocols garble and evaluate them, on labels, shares and tables
//! that are made up, without messages and checks. Only with the feature `measure`.

use symbolon_circuit::Plan;
use symbolon_primitives::{BitVec, Block, Prg};

use crate::{gates::mask_pass::MaskedGates, gates::wire_shares::WireShares, wrk, ywz};

/// What works at all AND gates of a plan each time it is called.
pub type Kernel<'a> = Box<dyn FnMut() + 'a>;

/// What makes a kernel of a plan.
pub type Maker = fn(&Plan) -> Kernel<'_>;

/// The four kernels by name: garblers and evaluators of `wrk` in its form of four rows, with MACs of 40 bits, and of half-gates
/// between two parties.
pub const KERNELS: [(&str, Maker); 4] = [
    ("half-gates, garble", |plan| Box::new(ywz::garbling_kernel(plan))),
    ("half-gates, evaluate", |plan| Box::new(ywz::evaluation_kernel(plan))),
    ("four-row, garble", |plan| Box::new(wrk::garbling_kernel(plan))),
    ("four-row, evaluate", |plan| Box::new(wrk::evaluation_kernel(plan))),
];

/// Pseudorandom labels and shares.
pub(crate) struct Blocks(Prg);

impl Blocks {
    pub fn new() -> Blocks {
        Blocks(Prg::from_seed(Block(1)))
    }

    pub fn many(&mut self, n: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; n];
        self.0.fill_blocks(&mut blocks);
        blocks
    }

    pub fn array<const N: usize>(&mut self) -> [Block; N] {
        std::array::from_fn(|_| self.0.block())
    }

    pub fn bits(&mut self, n: usize) -> BitVec {
        BitVec::random(n, &mut self.0)
    }

    /// Shares of this many gates, between two parties.
    pub fn chunk(&mut self, gates: usize) -> MaskedGates {
        MaskedGates { alpha: self.rows(gates), beta: self.rows(gates), row0: self.rows(gates) }
    }

    fn rows(&mut self, gates: usize) -> WireShares {
        let mut rows = WireShares::zeros(gates, 1);
        for k in 0..gates {
            rows.set_bit(k, self.0.block().lsb());
            rows.auth_mut(k)[0] = self.array();
        }
        rows
    }
}
