//! Binary fields, in the clear, and a tag over their elements.

/// The field GF(2^n), n = 8 or 64, modulo x^n + x^4 + x^3 + x + 1.
///
/// Timing: clients' values and keys | no branch and no index depends on an element
#[derive(Clone, Copy, Debug)]
pub struct Field {
    bits: u32,
}

impl Field {
    /// GF(2^64), in which clients compute.
    pub const BLOCKS: Field = Field { bits: 64 };

    /// GF(2^8): small enough to measure how often a change passes.
    pub const SMALL: Field = Field { bits: 8 };

    /// Returns the bits of an element.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the product of two elements.
    pub fn mul(self, x: u64, y: u64) -> u64 {
        let top = self.bits - 1;
        let mask = u64::MAX >> (63 - top);
        let (mut product, mut x) = (0, x);
        for bit in 0..self.bits {
            product ^= x & (y >> bit & 1).wrapping_neg();
            x = (x << 1 & mask) ^ ((x >> top & 1).wrapping_neg() & 0b11011);
        }
        product
    }

    /// Returns s^(q+1) + Σ x_i·s^i over d blocks x_1 … x_d, where q is the smallest power of two
    /// above d.
    pub fn amd_tag(self, blocks: &[u64], s: u64) -> u64 {
        let squarings = usize::BITS - blocks.len().leading_zeros();
        let power = (0..squarings).fold(s, |power, _| self.mul(power, power));
        let sum = blocks.iter().rev().fold(0, |sum, block| self.mul(sum, s) ^ block);
        self.mul(sum ^ power, s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_fields() {
        // The product of AES' specification.
        assert_eq!(Field::SMALL.mul(0x57, 0x83), 0xc1);
        for x in 1..256 {
            let inverses = (1..256).filter(|&y| Field::SMALL.mul(x, y) == 1).count();
            assert_eq!(inverses, 1, "{x}");
        }
        // x^(2^64) = x, and x^(2^32) is another element: the modulus has no factor of a degree that
        // divides 32, so it is irreducible.
        let field = Field::BLOCKS;
        let mut power = 2;
        for squared in 1..=64 {
            power = field.mul(power, power);
            assert_eq!(power == 2, squared == 64, "{squared}");
        }
        let (x, y, z) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0xdead_beef_0bad_f00d);
        assert_eq!(field.mul(x, y ^ z), field.mul(x, y) ^ field.mul(x, z));
        assert_eq!(field.mul(x, field.mul(y, z)), field.mul(field.mul(x, y), z));
        assert_eq!(field.mul(1 << 63, 2), 0b11011);
        let cube = field.mul(x, field.mul(x, x));
        assert_eq!(field.amd_tag(&[y], x), cube ^ field.mul(x, y));
        let fifth = field.mul(cube, field.mul(x, x));
        let [first, second] = [field.mul(x, y), field.mul(field.mul(x, x), z)];
        assert_eq!(field.amd_tag(&[y, z], x), fifth ^ first ^ second);
    }
}
