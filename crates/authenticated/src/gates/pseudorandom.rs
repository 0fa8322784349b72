//! Pseudorandom labels and shares, for measurements of garbling alone.

use symbolon_primitives::{BitVec, Block, Prg};

use super::{masked_gates::MaskedGates, wire_shares::WireShares};

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

    /// Returns shares of this many gates, between two parties.
    pub fn chunk(&mut self, gates: usize) -> MaskedGates {
        MaskedGates {
            lambda_a: self.rows(gates),
            lambda_b: self.rows(gates),
            lambda_ab_c: self.rows(gates),
        }
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
