//! Sums of rows with public bits as coefficients, many at a time.

use symbolon_primitives::{Block, block_xor::xor_blocks};
use zeroize::Zeroizing;

/// How many rows are added together (the method of the four Russians): their 16 sums are computed
/// once, and each total takes one of them.
const TOGETHER: usize = 4;

/// Which totals a row is added to: bit i of element i / 128.
pub(super) type Coefficient = [Block; 2];

/// Totals of rows of a fixed number of blocks.
///
/// Timing: rows and totals | coefficients, which are public, choose what is added
pub(super) struct Totals {
    blocks: usize,
    /// One after another.
    totals: Zeroizing<Vec<Block>>,
    /// The sums of the rows that are not added yet, by which of them.
    sums: Zeroizing<Vec<Block>>,
    coefficients: [Coefficient; TOGETHER],
    waiting: usize,
}

impl Totals {
    /// Returns `n` totals of rows of this many blocks, at most 256.
    pub fn new(n: usize, blocks: usize) -> Totals {
        debug_assert!(n <= 256);
        let zeros = |rows| Zeroizing::new(vec![Block::ZERO; rows * blocks]);
        Totals {
            blocks,
            totals: zeros(n),
            sums: zeros(1 << TOGETHER),
            coefficients: [[Block::ZERO; 2]; TOGETHER],
            waiting: 0,
        }
    }

    /// Adds a row to the totals that its coefficient names.
    ///
    /// # Panics
    /// If the row's length differs.
    pub fn add(&mut self, row: &[Block], coefficient: Coefficient) {
        let first = 1 << self.waiting;
        let (known, new) = self.sums.split_at_mut(first * self.blocks);
        new[..known.len()].copy_from_slice(known);
        new[..known.len()].chunks_exact_mut(self.blocks).for_each(|sum| xor_blocks(sum, row));
        self.coefficients[self.waiting] = coefficient;
        self.waiting += 1;
        if self.waiting == TOGETHER {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let coefficients = &self.coefficients[..self.waiting];
        for (i, total) in self.totals.chunks_exact_mut(self.blocks).enumerate() {
            let bit = |c: &Coefficient| (c[i / 128].0 >> (i % 128)) as usize & 1;
            let which = coefficients.iter().rev().fold(0, |which, c| which << 1 | bit(c));
            if which != 0 {
                xor_blocks(total, &self.sums[which * self.blocks..][..self.blocks]);
            }
        }
        self.waiting = 0;
    }

    /// Returns the totals, one after another.
    pub fn finish(mut self) -> Zeroizing<Vec<Block>> {
        self.flush();
        std::mem::take(&mut self.totals)
    }
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Prg;

    use super::*;

    #[test]
    fn totals_are_sums_of_the_rows_that_coefficients_name() {
        let mut prg = Prg::from_seed(Block(9));
        for (n, blocks, rows) in [(1, 1, 0), (48, 8, 7), (128, 3, 4), (256, 2, 9)] {
            let mut totals = Totals::new(n, blocks);
            let mut expected = vec![Block::ZERO; n * blocks];
            for _ in 0..rows {
                let mut row = vec![Block::ZERO; blocks];
                prg.fill_blocks(&mut row);
                let coefficient = [prg.block(), prg.block()];
                totals.add(&row, coefficient);
                for (i, total) in expected.chunks_exact_mut(blocks).enumerate() {
                    if coefficient[i / 128].0 >> (i % 128) & 1 == 1 {
                        xor_blocks(total, &row);
                    }
                }
            }
            assert_eq!(*totals.finish(), expected);
        }
    }
}
