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

    /// The rows that sessions use: the tables of others are larger than a core's own cache.
    pub const USED: &'static [LpnParams] = LpnParams::ROWS.split_at(3).0;

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
    use super::*;

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
