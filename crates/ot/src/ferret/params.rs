//! The sizes of an expansion.

/// Check keys of an expansion: the bits of an element of GF(2^128).
pub(super) const CHECK_COTS: usize = 128;

/// The sizes of an expansion: t trees of 2^h leaves, whose n = t·2^h outputs are the sums of 10
/// places each of a table of k correlated OTs.
///
/// `docs/proofs/lpn.py` computes the cost of the known attacks on each row, and refuses rows
/// below 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LpnParams {
    pub(super) secret: usize,
    pub(super) trees: usize,
    pub(super) height: usize,
}

impl LpnParams {
    /// The rows, from the smallest table to the largest: the larger one is, the less an expansion
    /// sends, and the more cache it needs.
    pub const ROWS: [LpnParams; 5] = [
        LpnParams::row(43_008, 700, 9),
        LpnParams::row(81_920, 900, 10),
        LpnParams::row(163_840, 1_100, 11),
        LpnParams::row(327_680, 1_300, 12),
        LpnParams::row(655_360, 1_400, 13),
    ];

    /// The rows that sessions use. With larger tables, of which there are two for each peer and
    /// lane, a correlated OT takes a quarter more time, and a session saves 1.4 bytes for a gate:
    /// too little above 15 Mbit/s.
    pub const USED: &'static [LpnParams] = LpnParams::ROWS.split_at(2).0;

    const fn row(secret: usize, trees: usize, height: usize) -> LpnParams {
        let params = LpnParams { secret, trees, height };
        assert!(params.outputs() > params.base(), "an expansion yields more than it uses");
        params
    }

    /// Returns sizes that are far from secure, for tests.
    #[cfg(test)]
    pub(super) const fn tiny(secret: usize, trees: usize, height: usize) -> LpnParams {
        LpnParams::row(secret, trees, height)
    }

    /// Returns k, the correlated OTs in the table.
    pub const fn table(self) -> usize {
        self.secret
    }

    /// Returns t, the trees, each of which has one noisy output.
    pub const fn trees(self) -> usize {
        self.trees
    }

    /// Returns the leaves of a tree, 2^h.
    pub const fn leaves(self) -> usize {
        1 << self.height
    }

    /// Returns n, the outputs of an expansion, with those that the next one starts from.
    pub const fn outputs(self) -> usize {
        self.trees << self.height
    }

    /// Returns the correlated OTs that an expansion starts from: the table, one for each level of
    /// each tree, and those of the check.
    pub const fn base(self) -> usize {
        self.secret + self.trees * self.height + CHECK_COTS
    }

    /// Returns by how many outputs an expansion has more than it starts from.
    pub const fn gain(self) -> usize {
        self.outputs() - self.base()
    }

    /// Returns the bytes of the trees' sums.
    pub const fn sums_bytes(self) -> usize {
        16 * self.trees * self.height
    }
}

#[cfg(test)]
mod tests {
    use super::super::{draw_bytes, expansion_bytes};
    use super::*;
    use crate::cot::{MAX_DRAW, column_bytes};
    use crate::pprf::TreeDepth;
    use crate::softspoken;

    /// At least eighty places of the table for each leaf of a tree: from this follows the cost of
    /// guessing k outputs without noise.
    #[test]
    fn rows_keep_the_ratio_of_table_and_tree() {
        for row in LpnParams::ROWS {
            assert!(row.secret >= 80 * row.leaves());
            assert!(row.gain() * 100 > row.outputs() * 85, "{row:?} keeps most of its outputs");
        }
        assert!(LpnParams::ROWS.is_sorted_by_key(|row| row.secret));
    }

    /// The figures of `docs/reference/bytes.md`.
    #[test]
    fn the_page_has_these_bytes() {
        let [small, large] = LpnParams::USED else { panic!("two rows") };
        let first: usize = (0..small.base())
            .step_by(MAX_DRAW)
            .map(|at| softspoken::draw_bytes(TreeDepth::Eight, MAX_DRAW.min(small.base() - at)))
            .sum();
        let first = (first + expansion_bytes(*small)) as f64 / 1e3;
        let enough = small.gain();
        let each = expansion_bytes(*large) as f64 / large.gain() as f64;
        // Three leaky triples with three correlated OTs and six bytes of U each, and their d.
        let two = 9.0 * each + 18.0 + 5.0 / 8.0;
        let leaky = 10_688;
        let draw = 3 * leaky;
        let rows = 8 * column_bytes(draw);
        let more = (rows as f64 * each + draw_bytes(draw) as f64) / leaky as f64;
        let more = 3.0 * more + 18.0 + 5.0 / 8.0;
        let page = include_str!("../../../../docs/reference/bytes.md").replace('\n', " ");
        let [thousands, rest] = [enough / 1000, enough % 1000];
        for text in [
            format!("first sends {first:.0} kB to each other"),
            format!("enough for {thousands} {rest:03} correlated"),
            format!("expansions take {each:.3} bytes"),
            format!("| 37.3 | {two:.1} | {more:.1} |"),
        ] {
            assert!(page.contains(&text), "bytes.md should have: {text}");
        }
    }

    /// `docs/proofs/lpn.py` has the same rows.
    #[test]
    fn the_script_has_the_same_rows() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/proofs/lpn.py");
        let text = std::fs::read_to_string(script).expect("the script is in the repository");
        let rows: Vec<String> = LpnParams::ROWS
            .iter()
            .map(|row| format!("    ({}, {}, {}),", row.secret, row.trees, row.height))
            .collect();
        let list = text.split_once("ROWS = [\n").expect("the list").1;
        let list = list.split_once("\n]").expect("the end of the list").0;
        assert_eq!(list, rows.join("\n"));
    }
}
