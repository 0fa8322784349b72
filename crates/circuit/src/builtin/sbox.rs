//! The AES S-box in 32 ANDs.
//!
//! The straight-line program of J. Boyar and R. Peralta, "A New Combinational Logic Minimization
//! Technique with Applications to Cryptology" (SEA 2010) and "A Small Depth-16 Circuit for the AES
//! S-Box" (SEC 2012): a linear layer from 8 to 22 bits, inversion in a tower of fields
//! GF(((2²)²)²) by 32 ANDs, a linear layer back. Their bits are numbered from the most significant.

use std::sync::LazyLock;

use crate::Table;
use crate::builder::{Bit, Gates, Word};

/// The S-box as a table, bytes least significant bit first.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let entries: Vec<u64> = (0..=255).map(|x| definition(x).into()).collect();
    Table::new(8, 8, entries).expect("256 bytes")
});

/// The S-box by its definition in FIPS-197, 5.1.1: an inverse, and an affine map.
fn definition(x: u8) -> u8 {
    let inverse = (0..=255).find(|&y| mul(x, y) == 1).unwrap_or(0);
    (1..=4).fold(0x63 ^ inverse, |sum, by| sum ^ inverse.rotate_left(by))
}

/// Product in GF(2⁸) modulo x⁸ + x⁴ + x³ + x + 1.
fn mul(a: u8, b: u8) -> u8 {
    (0..8).rev().fold(0u8, |sum, i| {
        let doubled = sum << 1 ^ if sum & 0x80 != 0 { 0x1b } else { 0 };
        if b >> i & 1 == 1 { doubled ^ a } else { doubled }
    })
}

/// The S-box of one byte; 32 ANDs, six of them in the longest chain.
pub(crate) fn sbox(g: &mut Gates, byte: &[Bit]) -> Word {
    let x: [Bit; 8] = std::array::from_fn(|i| byte[7 - i]);
    let y = top(g, &x);
    let t = middle(g, &y, x[7]);
    let z = products(g, &y, x[7], &t);
    let s = bottom(g, &z);
    s.into_iter().rev().collect()
}

/// The top linear layer: `y[1] .. y[21]` of the paper (`y[0]` is unused).
fn top(g: &mut Gates, x: &[Bit; 8]) -> [Bit; 22] {
    let mut y = [Bit::ZERO; 22];
    y[14] = g.xor_bit(x[3], x[5]);
    y[13] = g.xor_bit(x[0], x[6]);
    y[9] = g.xor_bit(x[0], x[3]);
    y[8] = g.xor_bit(x[0], x[5]);
    let t0 = g.xor_bit(x[1], x[2]);
    y[1] = g.xor_bit(t0, x[7]);
    y[4] = g.xor_bit(y[1], x[3]);
    y[12] = g.xor_bit(y[13], y[14]);
    y[2] = g.xor_bit(y[1], x[0]);
    y[5] = g.xor_bit(y[1], x[6]);
    y[3] = g.xor_bit(y[5], y[8]);
    let t1 = g.xor_bit(x[4], y[12]);
    y[15] = g.xor_bit(t1, x[5]);
    y[20] = g.xor_bit(t1, x[1]);
    y[6] = g.xor_bit(y[15], x[7]);
    y[10] = g.xor_bit(y[15], t0);
    y[11] = g.xor_bit(y[20], y[9]);
    y[7] = g.xor_bit(x[7], y[11]);
    y[17] = g.xor_bit(y[10], y[11]);
    y[19] = g.xor_bit(y[10], y[8]);
    y[16] = g.xor_bit(t0, y[11]);
    y[21] = g.xor_bit(y[13], y[16]);
    y[18] = g.xor_bit(x[0], y[16]);
    y
}

/// The inner inverse in GF(2⁴): the paper's t29, t33, t37, t40, t41, t42, t43, t44, t45.
fn middle(g: &mut Gates, y: &[Bit; 22], x7: Bit) -> [Bit; 9] {
    let t2 = g.and_bit(y[12], y[15]);
    let t3 = g.and_bit(y[3], y[6]);
    let t4 = g.xor_bit(t3, t2);
    let t5 = g.and_bit(y[4], x7);
    let t6 = g.xor_bit(t5, t2);
    let t7 = g.and_bit(y[13], y[16]);
    let t8 = g.and_bit(y[5], y[1]);
    let t9 = g.xor_bit(t8, t7);
    let t10 = g.and_bit(y[2], y[7]);
    let t11 = g.xor_bit(t10, t7);
    let t12 = g.and_bit(y[9], y[11]);
    let t13 = g.and_bit(y[14], y[17]);
    let t14 = g.xor_bit(t13, t12);
    let t15 = g.and_bit(y[8], y[10]);
    let t16 = g.xor_bit(t15, t12);
    let t17 = g.xor_bit(t4, t14);
    let t18 = g.xor_bit(t6, t16);
    let t19 = g.xor_bit(t9, t14);
    let t20 = g.xor_bit(t11, t16);
    let t21 = g.xor_bit(t17, y[20]);
    let t22 = g.xor_bit(t18, y[19]);
    let t23 = g.xor_bit(t19, y[21]);
    let t24 = g.xor_bit(t20, y[18]);
    let t25 = g.xor_bit(t21, t22);
    let t26 = g.and_bit(t21, t23);
    let t27 = g.xor_bit(t24, t26);
    let t28 = g.and_bit(t25, t27);
    let t29 = g.xor_bit(t28, t22);
    let t30 = g.xor_bit(t23, t24);
    let t31 = g.xor_bit(t22, t26);
    let t32 = g.and_bit(t31, t30);
    let t33 = g.xor_bit(t32, t24);
    let t34 = g.xor_bit(t23, t33);
    let t35 = g.xor_bit(t27, t33);
    let t36 = g.and_bit(t24, t35);
    let t37 = g.xor_bit(t36, t34);
    let t38 = g.xor_bit(t27, t36);
    let t39 = g.and_bit(t29, t38);
    let t40 = g.xor_bit(t25, t39);
    let t41 = g.xor_bit(t40, t37);
    let t42 = g.xor_bit(t29, t33);
    let t43 = g.xor_bit(t29, t40);
    let t44 = g.xor_bit(t33, t37);
    let t45 = g.xor_bit(t42, t41);
    [t29, t33, t37, t40, t41, t42, t43, t44, t45]
}

/// The last 18 ANDs: the paper's z0 … z17.
fn products(g: &mut Gates, y: &[Bit; 22], x7: Bit, t: &[Bit; 9]) -> [Bit; 18] {
    let [t29, t33, t37, t40, t41, t42, t43, t44, t45] = *t;
    let factors = [
        (t44, y[15]),
        (t37, y[6]),
        (t33, x7),
        (t43, y[16]),
        (t40, y[1]),
        (t29, y[7]),
        (t42, y[11]),
        (t45, y[17]),
        (t41, y[10]),
        (t44, y[12]),
        (t37, y[3]),
        (t33, y[4]),
        (t43, y[13]),
        (t40, y[5]),
        (t29, y[2]),
        (t42, y[9]),
        (t45, y[14]),
        (t41, y[8]),
    ];
    factors.map(|(a, b)| g.and_bit(a, b))
}

/// The bottom linear layer, with the S-box's constant: most significant bit first.
fn bottom(g: &mut Gates, z: &[Bit; 18]) -> [Bit; 8] {
    let t46 = g.xor_bit(z[15], z[16]);
    let t47 = g.xor_bit(z[10], z[11]);
    let t48 = g.xor_bit(z[5], z[13]);
    let t49 = g.xor_bit(z[9], z[10]);
    let t50 = g.xor_bit(z[2], z[12]);
    let t51 = g.xor_bit(z[2], z[5]);
    let t52 = g.xor_bit(z[7], z[8]);
    let t53 = g.xor_bit(z[0], z[3]);
    let t54 = g.xor_bit(z[6], z[7]);
    let t55 = g.xor_bit(z[16], z[17]);
    let t56 = g.xor_bit(z[12], t48);
    let t57 = g.xor_bit(t50, t53);
    let t58 = g.xor_bit(z[4], t46);
    let t59 = g.xor_bit(z[3], t54);
    let t60 = g.xor_bit(t46, t57);
    let t61 = g.xor_bit(z[14], t57);
    let t62 = g.xor_bit(t52, t58);
    let t63 = g.xor_bit(t49, t58);
    let t64 = g.xor_bit(z[4], t59);
    let t65 = g.xor_bit(t61, t62);
    let t66 = g.xor_bit(z[1], t63);
    let s0 = g.xor_bit(t59, t63);
    let s6 = g.xor_bit(t56, !t62);
    let s7 = g.xor_bit(t48, !t60);
    let t67 = g.xor_bit(t64, t65);
    let s3 = g.xor_bit(t53, t66);
    let s4 = g.xor_bit(t51, t66);
    let s5 = g.xor_bit(t47, t65);
    let s1 = g.xor_bit(t64, !s3);
    let s2 = g.xor_bit(t55, !t67);
    [s0, s1, s2, s3, s4, s5, s6, s7]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Builder, and_count};
    use crate::{Receivers, Type, reference};

    #[test]
    fn is_the_s_box_for_every_byte() {
        let mut b = Builder::new("sbox");
        let x = b.input("x", Type::Uint(8), 0);
        let y = sbox(&mut b, &x);
        b.output("y", &y, Type::Uint(8), Receivers::All);
        let circuit = b.finish().unwrap();
        assert_eq!(and_count(&circuit), 32);
        for x in 0..=255u8 {
            let bits: Vec<bool> = (0..8).map(|i| x >> i & 1 == 1).collect();
            let out = reference::eval(&circuit, &bits);
            let y = (0..8).map(|i| u8::from(out[i]) << i).sum::<u8>();
            assert_eq!(y, definition(x), "{x:02x}");
        }
    }
}
