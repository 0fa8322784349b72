//! Truth tables of functions of six variables, as words of 64 bits.

/// Functions have at most this many variables.
pub(super) const VARIABLES: usize = 6;

/// The bit of each monomial of degree 0 or 1.
pub(super) const AFFINE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16 | 1 << 32;

/// The truth tables of the variables.
pub(super) const PROJECTIONS: [u64; VARIABLES] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// Converts a truth table to its algebraic normal form, or back: bit i is the monomial of the
/// variables in i.
pub(super) fn normal_form(mut table: u64) -> u64 {
    for (variable, projection) in PROJECTIONS.iter().enumerate() {
        table ^= (table << (1 << variable)) & projection;
    }
    table
}

/// Returns the degree of an algebraic normal form.
pub(super) fn degree(form: u64) -> u32 {
    // The monomials of each degree.
    const MONOMIALS: [u64; 7] = {
        let mut monomials = [0; 7];
        let mut set = 0u64;
        while set < 64 {
            monomials[set.count_ones() as usize] |= 1 << set;
            set += 1;
        }
        monomials
    };
    (0..7).rev().find(|&degree| form & MONOMIALS[degree] != 0).unwrap_or(0) as u32
}

/// Returns the function of x ⊕ a.
pub(super) fn shifted(mut table: u64, a: usize) -> u64 {
    for (variable, projection) in PROJECTIONS.iter().enumerate() {
        if a >> variable & 1 == 1 {
            let by = 1 << variable;
            table = (table & projection) >> by | (table & !projection) << by;
        }
    }
    table
}

/// Returns the function with one variable set, on which it then does not depend.
pub(super) fn restricted(table: u64, variable: usize, value: bool) -> u64 {
    let (projection, by) = (PROJECTIONS[variable], 1 << variable);
    if value {
        let high = table & projection;
        high | high >> by
    } else {
        let low = table & !projection;
        low | low << by
    }
}

/// Returns the function with two variables exchanged.
pub(super) fn exchanged(table: u64, i: usize, j: usize) -> u64 {
    let (i, j) = (i.min(j), i.max(j));
    if i == j {
        return table;
    }
    let by = (1 << j) - (1 << i);
    let moved = (table >> by ^ table) & PROJECTIONS[i] & !PROJECTIONS[j];
    table ^ moved ^ moved << by
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_on_tables_do_what_they_say_at_every_place() {
        let table = 0x9d3f_12c5_77e0_a86bu64;
        let at = |table: u64, x: usize| table >> x & 1 == 1;
        for x in 0..64 {
            for i in 0..VARIABLES {
                assert_eq!(at(restricted(table, i, true), x), at(table, x | 1 << i));
                assert_eq!(at(restricted(table, i, false), x), at(table, x & !(1 << i)));
                for j in 0..VARIABLES {
                    let (a, b) = (x >> i & 1, x >> j & 1);
                    let y = if i == j { x } else { x & !(1 << i | 1 << j) | a << j | b << i };
                    assert_eq!(at(exchanged(table, i, j), x), at(table, y));
                }
            }
            for a in 0..64 {
                assert_eq!(at(shifted(table, a), x), at(table, x ^ a));
            }
        }
        assert_eq!(degree(normal_form(PROJECTIONS[0] & PROJECTIONS[1] & PROJECTIONS[5])), 3);
        assert_eq!((degree(normal_form(u64::MAX)), degree(normal_form(1))), (0, 6));
    }
}
