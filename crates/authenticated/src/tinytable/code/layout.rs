//! Which code a circuit's tables are committed with, and how its blocks are laid out.
//!
//! A *group* is as many AND gates, or entries of look-ups, as the code has places. It has one block
//! for each bit of an entry, a *plane*: three for AND gates, whose tables are three shares, and one
//! for each output bit of the look-ups. So the bits of one gate or entry are at the same place of
//! all planes of its group. The rows of the commitments are all planes of the first group, then
//! those of the next; AND gates come first.
//!
//! # How lengths follow ρ
//! Every event in which a cheat passes has probability at most 2^-(ρ + 8); there are fewer than 2^8
//! of them (`docs/proofs/tinytable-codes.md`). From this follow the distance of the square, the
//! rows of the online check, and the rows of the check of the commitments.

use symbolon_engine::{Rho, phases::small};
use symbolon_transport::Result;

use super::super::program::Program;
use super::reed_muller::{Places, ReedMuller};

/// How many bits of security more than ρ each event has.
const MARGIN: u32 = 8;

/// The number of shares of an AND gate.
pub(super) const AND_PLANES: usize = 3;

/// The sizes of a circuit's tables, for all executions.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    ands: usize,
    /// The number of entries of each look-up in all executions, and of their bits.
    lookups: Vec<(usize, usize)>,
}

impl Tables {
    /// Returns the sizes for this many executions.
    ///
    /// # Errors
    /// `InvalidInput` if that cannot be counted.
    pub fn of(program: &Program, executions: usize) -> Result<Tables> {
        let times = |n: usize| {
            let n = (n as u64).checked_mul(executions as u64);
            small(n.unwrap_or(u64::MAX))
        };
        let lookup = |number| {
            let table = program.table(number);
            Ok((times(table.entries().len())?, table.outputs() as usize))
        };
        let lookups = (0..program.lookups()).map(lookup).collect::<Result<_>>()?;
        Ok(Tables { ands: times(program.ands())?, lookups })
    }
}

/// A code for a circuit, and everything that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub code: ReedMuller,
    /// The rows of the online check.
    pub checks: usize,
    /// The elements of GF(2^128) in a challenge of the commitments' check.
    pub hashes: usize,
    /// The number of AND gates, and of entries.
    pub ands: usize,
    pub entries: usize,
    /// The number of planes of each group of entries.
    planes: Vec<u8>,
    /// The entries of each look-up.
    spans: Vec<Span>,
}

/// The entries of a look-up in all executions.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The first entry, and the end.
    entries: [usize; 2],
    /// Where the first entry's share begins, if shares are not interleaved with anything.
    byte: usize,
    /// The size of a share in bytes.
    width: usize,
}

/// Where the shares of a run of entries are.
pub(super) struct Run {
    /// The number of the first.
    pub first: usize,
    pub n: usize,
    /// The bytes of shares before the first.
    pub byte: usize,
    /// The size of a share in bytes.
    pub width: usize,
}

impl Layout {
    /// Returns the layout with which a party stores least. Both parties find the same.
    pub fn best(tables: &Tables, rho: Rho) -> Layout {
        let log2_distance = distance(rho).ilog2();
        let candidates = (2..=5).map(|r| {
            let code = ReedMuller::new(r, 2 * r + log2_distance);
            debug_assert!(code.square_distance() >= (rho.bits() + MARGIN) as usize);
            Layout::with(code, tables, rho)
        });
        candidates.min_by_key(Layout::stored_bytes).expect("at least one code")
    }

    /// Returns the layout with this code, whose distance is the caller's business.
    pub fn with(code: ReedMuller, tables: &Tables, rho: Rho) -> Layout {
        let k = code.dimension();
        let entries: usize = tables.lookups.iter().map(|(entries, _)| entries).sum();
        let mut planes = vec![0; entries.div_ceil(k)];
        let (mut first, mut byte, mut spans) = (0, 0, Vec::new());
        for &(n, bits) in tables.lookups.iter().filter(|(n, _)| *n > 0) {
            let groups = first / k..(first + n).div_ceil(k);
            // Tables have at most 64 output bits.
            planes[groups]
                .iter_mut()
                .for_each(|planes: &mut u8| *planes = (*planes).max(bits as u8));
            let width = bits.div_ceil(8);
            spans.push(Span { entries: [first, first + n], byte, width });
            first += n;
            byte += n * width;
        }
        let checks = (rho.bits() + MARGIN) as usize;
        Layout { code, checks, hashes: hashes(rho), ands: tables.ands, entries, planes, spans }
    }

    /// Returns the number of groups of AND gates.
    pub fn and_groups(&self) -> usize {
        self.ands.div_ceil(self.code.dimension())
    }

    /// Returns the number of planes of each group.
    pub fn groups(&self) -> impl Iterator<Item = usize> {
        let ands = std::iter::repeat_n(AND_PLANES, self.and_groups());
        ands.chain(self.planes.iter().map(|planes| usize::from(*planes)))
    }

    /// Returns the range of AND gates, or of entries, in a group of either.
    pub fn range(&self, group: usize) -> std::ops::Range<usize> {
        let (k, ands) = (self.code.dimension(), self.and_groups());
        match group.checked_sub(ands) {
            None => group * k..self.ands.min((group + 1) * k),
            Some(group) => group * k..self.entries.min((group + 1) * k),
        }
    }

    /// Returns where the entries of a range are.
    pub fn runs(&self, entries: std::ops::Range<usize>) -> impl Iterator<Item = Run> {
        let from = self.spans.partition_point(|span| span.entries[1] <= entries.start);
        let spans = self.spans[from..].iter();
        spans.take_while(move |span| span.entries[0] < entries.end).map(move |span| {
            let [first, end] = span.entries;
            let (start, end) = (first.max(entries.start), end.min(entries.end));
            let byte = span.byte + (start - first) * span.width;
            Run { first: start, n: end - start, byte, width: span.width }
        })
    }

    /// Returns the blocks that a packed bit for each place takes.
    pub fn place_blocks(&self) -> usize {
        self.code.dimension().div_ceil(128)
    }

    /// Returns the number of rows of the tables.
    pub fn rows(&self) -> usize {
        self.groups().sum()
    }

    /// Returns the number of rows that hide what the commitments' check opens, in each draw.
    pub fn hiding(&self) -> usize {
        128 * self.hashes
    }

    /// Returns the number of random bits that the check of the commitments takes.
    pub fn hiding_bits(&self) -> usize {
        self.hiding() * self.code.dimension()
    }

    /// Returns the number of further authenticated bits that each party needs: the other's Δ of the
    /// code, and what hides its own tables.
    pub fn bits(&self) -> usize {
        self.code.length() + self.hiding_bits()
    }

    /// Returns the blocks of the correction of one row of the tables, and of one mask.
    pub fn correction_blocks(&self) -> [usize; 2] {
        [self.code.blocks(), self.code.count(Places::Fixed).div_ceil(128)]
    }

    /// Returns the bytes of the commitments' proof.
    pub fn proof_bytes(&self) -> usize {
        let places =
            self.code.dimension().div_ceil(64) + self.code.count(Places::Free).div_ceil(64);
        self.hiding() * places * 8 + 32
    }

    /// Returns the bytes of the online proof.
    pub fn online_bytes(&self) -> usize {
        self.checks * self.code.count(Places::Free).div_ceil(64) * 8 + 32
    }

    /// Returns the bytes that a party stores besides its tables.
    pub fn stored_bytes(&self) -> usize {
        let [table, mask] = self.correction_blocks().map(|blocks| 16 * blocks);
        let seeds = 2 * 16 * self.code.length() + self.code.length() / 8;
        seeds + self.rows() * table + self.checks * mask
    }
}

/// Returns the distance that the square of the code needs.
fn distance(rho: Rho) -> u32 {
    (rho.bits() + MARGIN).next_power_of_two()
}

/// Returns the smallest h for which 2^(β − 128h) ≤ 2^-(ρ + margin), with β = ρ + margin.
fn hashes(rho: Rho) -> usize {
    (2 * (rho.bits() + MARGIN)).div_ceil(128) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(ands: usize, lookups: &[(usize, usize)]) -> Tables {
        Tables { ands, lookups: lookups.to_vec() }
    }

    #[test]
    fn lengths_follow_rho() {
        for (rho, d, checks, h) in
            [(Rho::Bits40, 64, 48, 1), (Rho::Bits64, 128, 72, 2), (Rho::Bits80, 128, 88, 2)]
        {
            let layout = Layout::best(&tables(10, &[]), rho);
            assert_eq!(layout.code.square_distance(), d);
            assert_eq!((layout.checks, layout.hashes), (checks, h));
            // β = ρ + margin: an event has at most probability 2^(β − 128h) and 2^-d.
            assert!(128 * h >= 2 * checks && d >= checks);
        }
    }

    /// Larger circuits take larger codes.
    #[test]
    fn the_code_follows_the_circuit() {
        for (rho, ands, code) in [
            (Rho::Bits40, 100, [2, 10]),
            (Rho::Bits40, 100_000, [3, 12]),
            (Rho::Bits40, 1_000_000, [4, 14]),
            (Rho::Bits40, 10_000_000, [5, 16]),
            (Rho::Bits80, 100, [2, 11]),
            (Rho::Bits80, 100_000, [3, 13]),
            (Rho::Bits80, 1_000_000, [4, 15]),
            (Rho::Bits80, 10_000_000, [5, 17]),
        ] {
            let layout = Layout::best(&tables(ands, &[]), rho);
            assert_eq!([layout.code.r, layout.code.m], code, "{rho:?} {ands}");
        }
    }

    /// The groups of entries have as many planes as the widest of their tables.
    #[test]
    fn planes_are_those_of_the_widest_table() {
        let tables = tables(57, &[(50, 3), (10, 5), (0, 64), (100, 2)]);
        let code = ReedMuller::new(2, 10);
        let layout = Layout::with(code, &tables, Rho::Bits40);
        assert_eq!(layout.entries, 160);
        assert_eq!(layout.and_groups(), 2);
        assert_eq!(layout.groups().collect::<Vec<_>>(), [3, 3, 5, 5, 2]);
        assert_eq!(layout.rows(), 18);
        assert_eq!(layout.range(1), 56..57);
        assert_eq!(layout.range(2), 0..56);
        assert_eq!(layout.range(4), 112..160);
        let runs = |range| layout.runs(range).map(|run| [run.first, run.n, run.byte, run.width]);
        assert!(runs(0..56).eq([[0, 50, 0, 1], [50, 6, 50, 1]]));
        assert!(runs(56..112).eq([[56, 4, 56, 1], [60, 52, 60, 1]]));
    }

    /// The goal that led to codes: what is stored for a gate beside today's MACs.
    #[test]
    fn stored_tables_are_several_times_smaller() {
        for (rho, mac, times) in [(Rho::Bits40, 64, 4), (Rho::Bits80, 128, 8)] {
            for ands in [100_000, 1_000_000] {
                let layout = Layout::best(&tables(ands, &[]), rho);
                let macs = 3 * ands * (2 * mac + 1) / 8;
                let code = layout.stored_bytes() + 3 * ands / 8;
                assert!(times * code < macs, "{rho:?} {ands}: {code} of {macs}");
            }
        }
    }
}
