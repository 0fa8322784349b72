//! Which expansions are made, and when: both sides compute the same from the same numbers.
//!
//! The first expansion is of the smallest row, because its base costs most. From its outputs
//! larger rows start, which send less; several at a time, so that few round trips suffice. What
//! the smallest row starts from is always kept.

use super::LpnParams;

/// Most expansions at a time: what they send and hold until their checks is bounded.
const AT_ONCE: usize = 16;

/// Returns how many of `total` outputs draws can have.
pub fn available(rows: &[LpnParams], total: usize) -> usize {
    total.saturating_sub(rows[0].base())
}

/// Returns the rows of the next expansions, of which each starts from outputs of earlier rounds,
/// and which are checked together; none if draws can have `need` outputs already. The first
/// expansion is alone. `rows` are in ascending order.
pub fn next_round(rows: &[LpnParams], total: usize, need: usize) -> Vec<LpnParams> {
    let missing = need.saturating_sub(available(rows, total));
    let mut affordable = rows.iter().filter(|row| row.base() <= total);
    if missing == 0 {
        return Vec::new();
    }
    if let Some(row) = affordable.clone().find(|row| row.gain() >= missing) {
        return vec![*row];
    }
    match affordable.next_back() {
        None => vec![rows[0]],
        Some(row) => {
            let count = missing.div_ceil(row.gain()).min(total / row.base()).min(AT_ONCE);
            vec![*row; count]
        }
    }
}

/// Returns how many outputs there are after a round.
pub fn total_after(round: &[LpnParams], total: usize) -> usize {
    // Only the first expansion does not start from outputs.
    match round {
        [first] if total < first.base() => first.outputs(),
        _ => total + round.iter().map(|row| row.gain()).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rounds in which a need is met.
    fn rounds(mut total: usize, need: usize) -> (Vec<Vec<LpnParams>>, usize) {
        let mut all = Vec::new();
        loop {
            let round = next_round(LpnParams::USED, total, need);
            if round.is_empty() {
                return (all, total);
            }
            let bases: usize = round.iter().map(|row| row.base()).sum();
            assert!(all.is_empty() || bases <= total, "{round:?} of {total}");
            total = total_after(&round, total);
            all.push(round);
        }
    }

    #[test]
    fn few_rounds_meet_any_need() {
        let [small, large] = LpnParams::USED else { panic!("two rows") };
        let count = |need| rounds(0, need).0;
        assert!(count(0).is_empty());
        let first = small.outputs() - small.base();
        assert_eq!(count(1), [vec![*small]]);
        assert_eq!(count(first), [vec![*small]]);
        assert_eq!(count(first + 1), [vec![*small], vec![*small]]);
        assert_eq!(count(1_000_000), [vec![*small], vec![*large]]);
        let many = [vec![*small], vec![*large; 3], vec![*large; 16], vec![*large; 5]];
        assert_eq!(count(20_000_000), many);
        for need in (0..60).map(|power| 1usize << (power / 2)) {
            for start in [0, 500_000, 5_000_000] {
                let (made, total) = rounds(start, need);
                assert!(available(LpnParams::USED, total) >= need);
                assert!(made.len() <= 4 + need / 13_000_000, "{need}: {}", made.len());
            }
        }
    }

    /// Whatever is drawn in between, the next expansion has its base.
    #[test]
    fn a_base_is_always_kept() {
        let mut total = 0;
        for need in [1, 300_000, 7, 900_000, 400_000, 1, 3_000_000] {
            total = rounds(total, need).1 - need;
            assert!(total >= LpnParams::USED[0].base());
        }
    }
}
