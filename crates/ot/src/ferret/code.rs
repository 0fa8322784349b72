//! The public matrix: each row has 10 random places of the table.

use symbolon_primitives::{Aes128, Block};

/// Places in a row.
const WEIGHT: usize = 10;

/// Rows whose places are computed at a time.
const ROWS: usize = 64;

/// Two rows take five blocks, four places of 32 bits each.
const BLOCKS: usize = ROWS * WEIGHT / 4;

/// The matrix of one expansion. A place may come twice in a row; then the row has eight others.
pub(super) struct LocalCode {
    aes: Aes128,
    places: usize,
}

impl LocalCode {
    /// Starts from a public seed, for a table of `places`.
    pub fn new(seed: Block, places: usize) -> Self {
        LocalCode { aes: Aes128::new(seed), places }
    }

    /// Calls `each` with the places of some rows at a time, and the number of the first of them.
    /// There are `rows` rows, from row `first` on, an even number; numbers start from 0.
    #[inline]
    fn each(&self, first: usize, rows: usize, mut each: impl FnMut(usize, &[[u32; WEIGHT]])) {
        let mut blocks = [Block::ZERO; BLOCKS];
        for row in (0..rows).step_by(ROWS) {
            let count = ROWS.min(rows - row);
            let used = &mut blocks[..(count * WEIGHT).div_ceil(4)];
            self.aes.counter_blocks(((first + row) * WEIGHT / 4) as u128, used);
            let words: &mut [u32] = bytemuck::cast_slice_mut(used);
            // The high half of a product is below the number of places, with a bias of 2^-12.
            for word in words.iter_mut() {
                *word = ((u64::from(*word) * self.places as u64) >> 32) as u32;
            }
            each(row, &words.as_chunks::<WEIGHT>().0[..count]);
        }
    }

    /// Adds to each output the sum of its row's places of `table`.
    pub fn add(&self, first: usize, table: &[Block], out: &mut [Block]) {
        self.each(first, out.len(), |row, rows| add_places(rows, table, &mut out[row..]));
    }

    /// As [`add`](LocalCode::add), also for bits: `bits` has 64 in a word, `out_bits` one in a
    /// byte.
    pub fn add_with_bits(
        &self,
        first: usize,
        (table, bits): (&[Block], &[u64]),
        (out, out_bits): (&mut [Block], &mut [u8]),
    ) {
        self.each(first, out.len(), |row, rows| {
            // One after the other: together they need more registers than there are.
            add_places(rows, table, &mut out[row..]);
            for (out, places) in out_bits[row..].iter_mut().zip(rows) {
                let bit = |place: &u32| bits[*place as usize / 64] >> (place % 64);
                *out ^= places.iter().fold(0, |sum, place| sum ^ bit(place)) as u8 & 1;
            }
        });
    }
}

/// Adds to each output the sum of its row's places.
///
/// Pairs of words stay in one vector register each; numbers of 128 bits do not.
#[inline]
fn add_places(rows: &[[u32; WEIGHT]], table: &[Block], out: &mut [Block]) {
    let table: &[[u64; 2]] = bytemuck::cast_slice(table);
    let out: &mut [[u64; 2]] = bytemuck::cast_slice_mut(out);
    for (out, places) in out.iter_mut().zip(rows) {
        for place in places {
            let [low, high] = table[*place as usize];
            *out = [out[0] ^ low, out[1] ^ high];
        }
    }
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Prg;

    use super::*;

    /// The outputs are those of the matrix, written out row by row, from wherever one starts.
    #[test]
    fn agrees_with_a_matrix_multiplication() {
        let (places, rows) = (100, 200);
        let code = LocalCode::new(Block(5), places);
        let mut matrix = vec![vec![false; places]; rows];
        code.each(0, rows, |first, some| {
            for (row, places) in some.iter().enumerate() {
                places.iter().for_each(|place| matrix[first + row][*place as usize] ^= true);
            }
        });
        let weight = matrix.iter().flatten().filter(|bit| **bit).count();
        assert!((8 * rows..=10 * rows).contains(&weight), "{weight} ones");
        let mut prg = Prg::from_seed(Block(6));
        let mut table = vec![Block::ZERO; places];
        prg.fill_blocks(&mut table);
        let bits: Vec<u64> = (0..places.div_ceil(64)).map(|_| prg.u64()).collect();
        for (first, count) in [(0, rows), (2, 1), (64, 70), (130, 70)] {
            let mut out = vec![Block(7); count];
            code.add(first, &table, &mut out);
            let (mut same, mut out_bits) = (vec![Block(7); count], vec![1; count]);
            code.add_with_bits(first, (&table, &bits), (&mut same, &mut out_bits));
            assert_eq!(out, same);
            for (row, (out, bit)) in out.iter().zip(out_bits).enumerate() {
                let ones = (0..places).filter(|place| matrix[first + row][*place]);
                let (sum, parity) = ones.fold((Block(7), 1), |(sum, parity), place| {
                    (sum ^ table[place], parity ^ (bits[place / 64] >> (place % 64) & 1))
                });
                assert_eq!((*out, u64::from(bit)), (sum, parity), "row {row} from {first}");
            }
        }
    }

    /// Every place is drawn about as often as any other.
    #[test]
    fn places_are_uniform() {
        let (places, rows) = (80, 40_000);
        let mut counts = vec![0f64; places];
        LocalCode::new(Block(8), places).each(0, rows, |_, rows| {
            rows.as_flattened().iter().for_each(|place| counts[*place as usize] += 1.0);
        });
        let mean = (rows * WEIGHT / places) as f64;
        let chi2: f64 = counts.iter().map(|count| (count - mean).powi(2) / mean).sum();
        assert!(chi2 < 160.0, "chi-squared {chi2} of 79 degrees of freedom");
    }
}
