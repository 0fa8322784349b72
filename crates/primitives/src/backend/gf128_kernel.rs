//! Sums of products in GF(2^128) by Karatsuba's rule, for registers of 256 and 512 bits.
//!
//! This is a macro, for the reason that [`leaf_kernel`](mod@super::leaf_kernel) gives.

/// Defines `column_hash`, with the types `Sum`, `Factor` and `Karatsuba`, for a kind of register.
/// The calling module must define, using only `$features`:
///
/// - `BLOCKS`, the number of blocks in a register; `load` and `store` of that many; `load_tail` of
///   fewer, then zeros; `load_bytes` and `load_tail_bytes`, the same for bytes;
/// - `zero`, `xor` of two and `xor3` of three; `xor_lanes`, the sum of a register's blocks, and
///   `lane_sums`, that sum for each of `BLOCKS` registers;
/// - `low_products` and `high_products`, of the low and of the high halves of blocks, and
///   `high_by_low`, of the high halves of the first with the low ones of the second; `swap_halves`;
///   `shift_up` and `shift_down` of each block by 64 bits;
/// - `polynomial`, X^7 + X^2 + X + 1 in the low half of each block.
macro_rules! gf128_kernel {
    ($features:literal, $register:ty) => {
        /// A sum of products before reduction in each lane: low + 2^64·middle + 2^128·high.
        #[derive(Clone, Copy)]
        struct Sum {
            low: $register,
            middle: $register,
            high: $register,
        }

        impl Sum {
            #[inline]
            #[target_feature(enable = $features)]
            fn zero() -> Sum {
                Sum { low: zero(), middle: zero(), high: zero() }
            }

            /// Reduces the sum of all lanes.
            #[inline]
            #[target_feature(enable = $features)]
            fn reduce(self) -> Block {
                x86::reduce(xor_lanes(self.low), xor_lanes(self.middle), xor_lanes(self.high))
            }
        }

        /// The halves of factors; the low half of each lane of `both` holds the sum of its halves.
        #[derive(Clone, Copy)]
        struct Factor {
            halves: $register,
            both: $register,
        }

        impl Factor {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(halves: $register) -> Factor {
                Factor { halves, both: xor(halves, swap_halves(halves)) }
            }
        }

        /// A sum of products by Karatsuba's rule, with three carry-less products each. Its middle
        /// term still contains low and high.
        #[derive(Clone, Copy)]
        struct Karatsuba(Sum);

        impl Karatsuba {
            #[inline]
            #[target_feature(enable = $features)]
            fn zero() -> Karatsuba {
                Karatsuba(Sum::zero())
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn add(&mut self, a: Factor, b: Factor) {
                let Karatsuba(sum) = self;
                sum.low = xor(sum.low, low_products(a.halves, b.halves));
                sum.high = xor(sum.high, high_products(a.halves, b.halves));
                sum.middle = xor(sum.middle, low_products(a.both, b.both));
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn sum(self) -> Sum {
                let Sum { low, middle, high } = self.0;
                Sum { low, middle: xor3(low, middle, high), high }
            }
        }

        /// Reduces as many sums as there are lanes, one per lane, with the steps of the 128-bit
        /// kernel.
        #[inline]
        #[target_feature(enable = $features)]
        fn reduce_lanes(sums: [Karatsuba; BLOCKS]) -> $register {
            let (mut low, mut middle, mut high) =
                ([zero(); BLOCKS], [zero(); BLOCKS], [zero(); BLOCKS]);
            for (i, sum) in sums.into_iter().enumerate() {
                let sum = sum.sum();
                (low[i], middle[i], high[i]) = (sum.low, sum.middle, sum.high);
            }
            let (low, middle, high) = (lane_sums(low), lane_sums(middle), lane_sums(high));
            let low = xor(low, shift_up(middle));
            let high = xor(high, shift_down(middle));
            let upper = high_by_low(high, polynomial());
            let high = xor(high, shift_down(upper));
            xor3(low, shift_up(upper), low_products(high, polynomial()))
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn column_hash(
            cols: &[u8],
            stride: usize,
            coeffs: &[Block],
            out: &mut [Block; 128],
        ) {
            let (registers, tail) = coeffs.as_chunks::<BLOCKS>();
            // As many rows as lanes at a time share the loads of the coefficients, and the
            // reduction.
            for (i, hashes) in out.as_chunks_mut::<BLOCKS>().0.iter_mut().enumerate() {
                let (mut rows, mut bodies) = ([&[][..]; BLOCKS], [&[][..]; BLOCKS]);
                for (r, (row, body)) in rows.iter_mut().zip(&mut bodies).enumerate() {
                    // A closure here would not be inlined.
                    *row = &cols[(BLOCKS * i + r) * stride..][..16 * coeffs.len()];
                    *body = &row.as_chunks::<{ 16 * BLOCKS }>().0[..registers.len()];
                }
                let mut sums = [Karatsuba::zero(); BLOCKS];
                for (k, coeffs) in registers.iter().enumerate() {
                    let coeffs = Factor::new(load(coeffs));
                    for (sum, body) in sums.iter_mut().zip(bodies) {
                        sum.add(Factor::new(load_bytes(&body[k])), coeffs);
                    }
                }
                if !tail.is_empty() {
                    let coeffs = Factor::new(load_tail(tail));
                    for (row, sum) in rows.iter().zip(&mut sums) {
                        let rest = &row[16 * BLOCKS * registers.len()..];
                        sum.add(Factor::new(load_tail_bytes(rest)), coeffs);
                    }
                }
                store(hashes, reduce_lanes(sums));
            }
        }
    };
}

pub(super) use gf128_kernel;
