//! The rows that a code's pairs of seeds expand to.
//!
//! For every position of the code the committing party has a pair of seeds, and the other party the
//! seed of the pair that its bit of a chose. They come from authenticated bits, as in
//! `symbolon_ot::vole`: the bit a has a MAC M = K ⊕ a·Δ under the committing party's Δ, so hashes
//! of K and K ⊕ Δ are the pair, and the hash of M is the chosen seed.
//!
//! A stream gives one bit of every row of a *draw*: rows of the tables, and rows of masks, are two
//! draws. Any window of rows can be computed by itself, so nothing but the seeds is kept.

use blake3::Hasher;
use symbolon_primitives::{Block, Prg, transpose_128};
use symbolon_transport::PartyId;
use zeroize::{Zeroize, Zeroizing};

/// The rows of a window.
pub(super) const WINDOW: usize = 512;

/// The blocks of a stream in a window.
const STRIDE: usize = WINDOW / 128;

/// What rows are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draw {
    /// The tables, and what hides them in the commitments' check.
    Tables,
    /// The masks of the online check, and what hides them.
    Masks,
}

/// One seed for each position.
pub(super) struct Streams(Zeroizing<Vec<Block>>);

impl Streams {
    /// Returns the streams of these MACs or keys, in which `party` commits to its tables, in the
    /// session in which they were prepared.
    pub fn new(
        session: &[u8; 32],
        party: PartyId,
        rows: impl ExactSizeIterator<Item = Block>,
    ) -> Streams {
        let mut hasher = Hasher::new_derive_key("symbolon tinytable codes 1: seed");
        let mut seeds = Zeroizing::new(Vec::with_capacity(rows.len()));
        for (position, row) in rows.enumerate() {
            let row = Zeroizing::new(row.to_bytes());
            hasher.reset();
            hasher.update(session).update(&party.to_le_bytes());
            hasher.update(&(position as u64).to_le_bytes()).update(&*row);
            let mut seed = Zeroizing::new([0; 16]);
            hasher.finalize_xof().fill(&mut *seed);
            seeds.push(Block::from_bytes(*seed));
        }
        hasher.zeroize();
        Streams(seeds)
    }

    /// Writes the rows of a window: as many as `rows` has room for, up to [`WINDOW`].
    fn window(&self, draw: Draw, window: usize, rows: &mut [Block]) {
        let blocks = self.0.len() / 128;
        let n = rows.len() / blocks;
        debug_assert!(n <= WINDOW && n * blocks == rows.len());
        let stride = n.div_ceil(128);
        let mut columns = Zeroizing::new(vec![Block::ZERO; 128 * stride]);
        let mut transposed = Zeroizing::new(vec![Block::ZERO; 128 * stride]);
        let start = match draw {
            Draw::Tables => 0,
            Draw::Masks => 1u128 << 64,
        };
        let start = Block(start + (window * STRIDE) as u128);
        for (group, seeds) in self.0.chunks_exact(128).enumerate() {
            for (seed, column) in seeds.iter().zip(columns.chunks_exact_mut(stride)) {
                // Seeds depend on the session, so no other session's streams start here.
                Prg::starting_at(*seed, start).fill_blocks(column);
            }
            transpose_128(Block::as_bytes(&columns), 16 * stride, &mut transposed);
            for (row, block) in rows.chunks_exact_mut(blocks).zip(transposed.iter()) {
                row[group] = *block;
            }
        }
    }
}

/// The rows of a draw, one after another, which are computed a window at a time.
pub(super) struct Rows<'a> {
    streams: &'a Streams,
    draw: Draw,
    blocks: usize,
    /// The number of the next window, and of the rows that are in no window yet.
    next: usize,
    left: usize,
    window: Zeroizing<Vec<Block>>,
    /// The first block of the next row in the window.
    at: usize,
}

impl<'a> Rows<'a> {
    /// Returns the first `rows` rows of a draw.
    pub fn new(streams: &'a Streams, draw: Draw, rows: usize) -> Rows<'a> {
        let blocks = streams.0.len() / 128;
        let window = Zeroizing::new(Vec::with_capacity(rows.min(WINDOW) * blocks));
        Rows { streams, draw, blocks, next: 0, left: rows, window, at: 0 }
    }

    /// Returns the next row.
    ///
    /// # Panics
    /// If there is none.
    pub fn next(&mut self) -> &[Block] {
        if self.at == self.window.len() {
            let rows = self.left.min(WINDOW);
            self.left -= rows;
            self.window.resize(rows * self.blocks, Block::ZERO);
            self.streams.window(self.draw, self.next, &mut self.window);
            self.next += 1;
            self.at = 0;
        }
        self.at += self.blocks;
        &self.window[self.at - self.blocks..self.at]
    }
}

/// Returns the number of rows in each window of a draw of this many rows.
pub(super) fn windows(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows.div_ceil(WINDOW)).map(move |window| WINDOW.min(rows - window * WINDOW))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn streams(session: u8, party: u16, n: usize) -> Streams {
        Streams::new(&[session; 32], party.into(), (0..n).map(|i| Block(i as u128 / 2)))
    }

    /// Bit i of row j is bit j of stream i, in each window and draw; and no stream is another's.
    #[test]
    fn rows_are_columns_of_streams() {
        let streams = streams(1, 0, 256);
        for (draw, window, n) in
            [(Draw::Tables, 0, 1), (Draw::Tables, 2, WINDOW), (Draw::Masks, 0, 130)]
        {
            let mut rows = vec![Block::ZERO; 2 * n];
            streams.window(draw, window, &mut rows);
            for (position, seed) in streams.0.iter().enumerate() {
                let first = if draw == Draw::Masks { 1 << 64 } else { 0 };
                let mut prg = Prg::starting_at(*seed, Block(first + 4 * window as u128));
                let mut column = vec![Block::ZERO; n.div_ceil(128)];
                prg.fill_blocks(&mut column);
                for row in 0..n {
                    let bit = rows[2 * row + position / 128].0 >> (position % 128) & 1;
                    assert_eq!(bit, column[row / 128].0 >> (row % 128) & 1);
                }
            }
        }
    }

    #[test]
    fn seeds_differ_between_positions_sessions_and_parties() {
        let mut seen = HashSet::new();
        for streams in [streams(1, 0, 128), streams(2, 0, 128), streams(1, 1, 128)] {
            assert!(streams.0.iter().all(|seed| seen.insert(seed.0)));
        }
    }

    #[test]
    fn windows_cover_all_rows() {
        for rows in [0, 1, WINDOW, WINDOW + 1, 3 * WINDOW - 1] {
            assert_eq!(windows(rows).sum::<usize>(), rows);
            let streams = streams(1, 0, 128);
            let mut all = Rows::new(&streams, Draw::Tables, rows);
            let mut window = Vec::new();
            for row in 0..rows {
                if row % WINDOW == 0 {
                    window.resize(WINDOW.min(rows - row), Block::ZERO);
                    streams.window(Draw::Tables, row / WINDOW, &mut window);
                }
                assert_eq!(all.next(), &window[row % WINDOW..][..1]);
            }
        }
    }
}
