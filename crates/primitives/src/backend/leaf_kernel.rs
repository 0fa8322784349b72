//! Sums of many leaves' streams, accumulated as soon as they are computed, for registers of all
//! widths.
//!
//! It is a macro because a function must name the instructions that it is compiled for, and cannot
//! do so through its type parameters.

/// Defines `leaf_sums` for a kind of register. The calling module must define, using only
/// `$features`:
///
/// - `BLOCKS`, the number of blocks in a register;
/// - `zero`, `xor` of two and `xor3` of three; `encrypt` and `encrypt_last`, a round of AES under a
///   round key;
/// - `broadcast`, the same block in all lanes; `numbers::<N>`, consecutive numbers modulo 2^128 in
///   `N` registers;
/// - `write`, which stores as many blocks of `N` registers as there is room for.
macro_rules! leaf_kernel {
    ($features:literal, $register:ty) => {
        /// The maximum number of registers of one leaf's stream in flight. Those of two leaves hide
        /// the latency of a round, and the columns of a draw for triples consist of whole strips of
        /// this size.
        const WIDTH: usize = 5;

        /// The number of leaves that are summed without a slot for each node: a subtree of two
        /// levels.
        const GROUP: usize = 4;
        const LEVELS: usize = 2;

        /// Computes the sums over `keys.len()` leaves, a power of two and at least four; see
        /// [`Leaves::sums`](crate::Leaves::sums).
        #[target_feature(enable = $features)]
        pub(in super::super) fn leaf_sums(
            keys: &[[Block; 11]],
            first: u128,
            total: &mut [u8],
            sums: &mut [u8],
        ) {
            match keys.len().ilog2() as usize - LEVELS {
                0 => all_strips::<0>(keys, first, total, sums),
                1 => all_strips::<1>(keys, first, total, sums),
                2 => all_strips::<2>(keys, first, total, sums),
                3 => all_strips::<3>(keys, first, total, sums),
                4 => all_strips::<4>(keys, first, total, sums),
                5 => all_strips::<5>(keys, first, total, sums),
                6 => all_strips::<6>(keys, first, total, sums),
                _ => unreachable!("there are no more than 2^{} leaves", MAX_LEAF_BITS),
            }
        }

        /// Computes the sums for trees with `UPPER` levels above those of a group.
        #[target_feature(enable = $features)]
        fn all_strips<const UPPER: usize>(
            keys: &[[Block; 11]],
            first: u128,
            total: &mut [u8],
            sums: &mut [u8],
        ) {
            let stride = total.len();
            let mut at = 0;
            while at < stride {
                let from = first.wrapping_add((at / 16) as u128);
                let out = Out { at, total, sums };
                at += match (stride - at).div_ceil(16 * BLOCKS) {
                    1 => strip::<1, UPPER>(keys, from, out),
                    2 => strip::<2, UPPER>(keys, from, out),
                    3 => strip::<3, UPPER>(keys, from, out),
                    4 => strip::<4, UPPER>(keys, from, out),
                    _ => strip::<WIDTH, UPPER>(keys, from, out),
                };
            }
        }

        /// The destination of a strip: byte `at` of each sum.
        struct Out<'a> {
            at: usize,
            total: &'a mut [u8],
            sums: &'a mut [u8],
        }

        /// Computes `N` registers of each sum, or what is left of them; returns the number of
        /// bytes.
        #[inline]
        #[target_feature(enable = $features)]
        fn strip<const N: usize, const UPPER: usize>(
            keys: &[[Block; 11]],
            from: u128,
            Out { at, total, sums }: Out<'_>,
        ) -> usize {
            let zeros = [zero(); N];
            let counters = numbers::<N>(from);
            let (groups, _) = keys.as_chunks::<GROUP>();
            let (mut low, mut high) = (zeros, zeros);
            // For the levels above: the node that waits for its sibling, and the sum of the level's
            // bit.
            let (mut waiting, mut upper) = ([zeros; UPPER], [zeros; UPPER]);
            let mut node = zeros;
            for (g, group) in groups.iter().enumerate().take(1 << UPPER) {
                let [first, second] = two_streams([&group[0], &group[1]], counters);
                for i in 0..N {
                    low[i] = xor(low[i], second[i]);
                    node[i] = xor(first[i], second[i]);
                }
                let [third, fourth] = two_streams([&group[2], &group[3]], counters);
                for i in 0..N {
                    low[i] = xor(low[i], fourth[i]);
                    high[i] = xor3(high[i], third[i], fourth[i]);
                    node[i] = xor3(node[i], third[i], fourth[i]);
                }
                for level in 0..UPPER {
                    if g >> level & 1 == 0 {
                        waiting[level] = node;
                        break;
                    }
                    for i in 0..N {
                        upper[level][i] = xor(upper[level][i], node[i]);
                        node[i] = xor(node[i], waiting[level][i]);
                    }
                }
            }
            let stride = total.len();
            let bytes = (stride - at).min(16 * BLOCKS * N);
            write(&mut total[at..][..bytes], &node);
            for (level, sum) in [&low, &high].into_iter().chain(&upper).enumerate() {
                write(&mut sums[level * stride + at..][..bytes], sum);
            }
            bytes
        }

        /// Encrypts the same counters under two leaves' keys, round by round.
        #[inline]
        #[target_feature(enable = $features)]
        fn two_streams<const N: usize>(
            keys: [&[Block; 11]; 2],
            counters: [$register; N],
        ) -> [[$register; N]; 2] {
            let mut streams = [counters; 2];
            for (stream, keys) in streams.iter_mut().zip(keys) {
                let key = broadcast(&keys[0]);
                for x in stream {
                    *x = xor(*x, key);
                }
            }
            for round in 1..10 {
                for (stream, keys) in streams.iter_mut().zip(keys) {
                    let key = broadcast(&keys[round]);
                    for x in stream {
                        *x = encrypt(*x, key);
                    }
                }
            }
            for (stream, keys) in streams.iter_mut().zip(keys) {
                let key = broadcast(&keys[10]);
                for x in stream {
                    *x = encrypt_last(*x, key);
                }
            }
            streams
        }
    };
}

pub(super) use leaf_kernel;
