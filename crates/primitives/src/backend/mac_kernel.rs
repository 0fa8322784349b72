//! Sums of products of tags, for registers of 256 and 512 bits.
//!
//! This is a macro, for the reason that [`leaf_kernel`](mod@super::leaf_kernel) gives.

/// Defines `carryless_products`, `tag_products` and `selected_tag_products`, with the type `Sums`,
/// for a kind of register. The calling module must define, using only `$features`:
///
/// - `WORDS`, the number of words in a register; `load` and `store` of that many; `load_tail` of
///   fewer, then zeros; `broadcast` of one;
/// - `zero` and `xor`; `xor_lanes`, the sum of a register's blocks;
/// - `even_products` and `odd_products`, of the words in even and in odd positions with a factor in
///   even positions; `multiply_halves`, the product of each block's halves; `low_words` and
///   `high_words` of two registers' blocks, interleaved;
/// - `selected_words`, which computes `selected_tag_products` for whole words of bits.
macro_rules! mac_kernel {
    ($features:literal, $register:ty) => {
        #[target_feature(enable = $features)]
        pub(in super::super) fn carryless_products(
            words: &[u64],
            factor: u64,
            low: &mut [u64],
            high: &mut [u64],
        ) {
            let (registers, rest) = words.as_chunks::<WORDS>();
            let whole = words.len() - rest.len();
            let factors = broadcast(factor);
            let (lows, highs) = (low.as_chunks_mut::<WORDS>().0, high.as_chunks_mut::<WORDS>().0);
            for (words, (low, high)) in registers.iter().zip(lows.iter_mut().zip(highs)) {
                let words = load(words);
                let (even, odd) = (even_products(words, factors), odd_products(words, factors));
                store(low, low_words(even, odd));
                store(high, high_words(even, odd));
            }
            x86::carryless_products(rest, factor, &mut low[whole..], &mut high[whole..]);
        }

        /// The sums of products under both sets of keys, lane by lane.
        #[derive(Clone, Copy)]
        struct Sums([$register; 2]);

        impl Sums {
            #[inline]
            #[target_feature(enable = $features)]
            fn new() -> Sums {
                Sums([zero(); 2])
            }

            /// Adds the products of adjacent pairs of tags.
            #[inline]
            #[target_feature(enable = $features)]
            fn add(&mut self, tags: $register, keys: [$register; 2]) {
                for (sum, keys) in self.0.iter_mut().zip(keys) {
                    *sum = xor(*sum, multiply_halves(xor(tags, keys)));
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn finish(self) -> [u128; 2] {
                [bytemuck::cast(xor_lanes(self.0[0])), bytemuck::cast(xor_lanes(self.0[1]))]
            }
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn tag_products(tags: &[u64], Keys(keys): Keys<'_>) -> [u128; 2] {
            let mut sums = Sums::new();
            let (registers, rest) = tags.as_chunks::<WORDS>();
            let [first, second] = keys.map(|keys| keys.split_at(tags.len() - rest.len()));
            let whole = first.0.as_chunks::<WORDS>().0.iter().zip(second.0.as_chunks::<WORDS>().0);
            for (tags, (first, second)) in registers.iter().zip(whole) {
                sums.add(load(tags), [load(first), load(second)]);
            }
            // Beyond the last keys there are zeros too, so these products are zero.
            sums.add(load_tail(rest), [load_tail(first.1), load_tail(second.1)]);
            sums.finish()
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn selected_tag_products(
            tags: SelectedSums<'_>,
            (keys, n): (Keys<'_>, usize),
        ) -> [[u128; 2]; 2] {
            let whole = n / 64 * 64;
            let mut sums = selected_words(tags, keys, n / 64);
            if whole < n {
                let rest = (keys.from(whole), n - whole);
                let rest = x86::selected_tag_products(tags.from(whole), rest);
                let both = sums.as_flattened_mut().iter_mut().zip(rest.as_flattened());
                both.for_each(|(sum, rest)| *sum ^= rest);
            }
            sums
        }
    };
}

pub(super) use mac_kernel;
