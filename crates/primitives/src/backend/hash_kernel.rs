//! The rounds of the re-keyed hash.
//!
//! Lane l of a key register holds the key of group l, and lane l of a state register holds one
//! block of that group. So blocks are permuted once when they are loaded and once when they are
//! stored, and round keys never.
//!
//! These are macros, for the reason that [`leaf_kernel`](mod@super::leaf_kernel) gives.

/// Defines `hash_few`, with `inputs` and `write`, for a kind of register with `$lanes` lanes. The
/// calling module must define, using only `$features`:
///
/// - `zero`, `xor`, `encrypt` and `encrypt_last`, a round of AES under a round key; `load` and
///   `store` of `$lanes` blocks;
/// - `sigma`, the hash's σ; `by_group` and `in_order`, from memory order to one group per lane and
///   back;
/// - `next_keys`, the next round keys of one schedule per lane.
macro_rules! hash_kernel {
    ($features:literal, $register:ty, $lanes:literal) => {
        /// The blocks of as many groups as there are lanes, in memory order.
        type Set<const GROUP: usize> = [[Block; $lanes]; GROUP];

        /// Returns a set's inputs, one group per lane, after σ if requested.
        #[inline]
        #[target_feature(enable = $features)]
        fn inputs<const SIGMA: bool, const GROUP: usize>(set: &Set<GROUP>) -> [$register; GROUP] {
            let mut inputs = [zero(); GROUP];
            for (input, blocks) in inputs.iter_mut().zip(set) {
                *input = load(blocks);
            }
            inputs = by_group(inputs);
            if SIGMA {
                for input in &mut inputs {
                    *input = sigma(*input);
                }
            }
            inputs
        }

        /// Stores the hashes of a set.
        #[inline]
        #[target_feature(enable = $features)]
        fn write<const GROUP: usize>(set: &mut Set<GROUP>, hashes: [$register; GROUP]) {
            for (blocks, hashed) in set.iter_mut().zip(in_order(hashes)) {
                store(blocks, hashed);
            }
        }

        /// Hashes `N` sets, with the key schedules of each set in one register.
        #[inline]
        #[target_feature(enable = $features)]
        fn hash_few<const SIGMA: bool, const GROUP: usize, const N: usize>(
            mut keys: [$register; N],
            sets: &mut [Set<GROUP>; N],
        ) {
            let mut ins = [[zero(); GROUP]; N];
            let mut states = ins;
            for n in 0..N {
                ins[n] = inputs::<SIGMA, GROUP>(&sets[n]);
                for (state, input) in states[n].iter_mut().zip(ins[n]) {
                    *state = xor(input, keys[n]);
                }
                keys[n] = next_keys(keys[n], RCON[0]);
            }
            for &rcon in &RCON[1..] {
                for n in 0..N {
                    // The next key starts before the preceding round, which hides the latency of
                    // the schedule.
                    let next = next_keys(keys[n], rcon);
                    for state in &mut states[n] {
                        *state = encrypt(*state, keys[n]);
                    }
                    keys[n] = next;
                }
            }
            for n in 0..N {
                for (state, input) in states[n].iter_mut().zip(ins[n]) {
                    *state = xor(encrypt_last(*state, keys[n]), input);
                }
                write(&mut sets[n], states[n]);
            }
        }
    };
}

/// Defines `hash_lanes` for a kind of register. The calling module must define, using only
/// `$features`, `zero`, `xor`, `encrypt` and `encrypt_last` as for [`hash_kernel`]; `next_words`,
/// the next round keys word by word, and `transpose_words`.
macro_rules! lanes_kernel {
    ($features:literal, $register:ty) => {
        /// Hashes the lanes of inputs, `GROUP` of them under each lane of four key registers, `N`
        /// times. The key schedules proceed word by word: register i has word i of all keys, and in
        /// this form a step is one substitution and a few XORs. Transposing the words yields round
        /// keys.
        ///
        /// Each caller has its own closure and so its own copy of this function, which is inlined
        /// into the caller: registers do not go through memory.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn hash_lanes<const GROUP: usize, const N: usize>(
            keys: [[$register; 4]; N],
            input: impl Fn(usize, usize) -> [$register; GROUP],
        ) -> [[[$register; GROUP]; 4]; N] {
            let mut ins = [[[zero(); GROUP]; 4]; N];
            for (n, ins) in ins.iter_mut().enumerate() {
                for (i, ins) in ins.iter_mut().enumerate() {
                    *ins = input(n, i);
                }
            }
            let mut states = ins;
            let mut words = keys;
            for n in 0..N {
                for (states, key) in states[n].iter_mut().zip(keys[n]) {
                    for state in states {
                        *state = xor(*state, key);
                    }
                }
                words[n] = next_words(transpose_words(keys[n]), RCON[0]);
            }
            for &rcon in &RCON[1..] {
                for n in 0..N {
                    // The next words start before the preceding round, which hides the latency.
                    let next = next_words(words[n], rcon);
                    for (states, key) in states[n].iter_mut().zip(transpose_words(words[n])) {
                        for state in states {
                            *state = encrypt(*state, key);
                        }
                    }
                    words[n] = next;
                }
            }
            for n in 0..N {
                let last = transpose_words(words[n]);
                for i in 0..4 {
                    for (state, input) in states[n][i].iter_mut().zip(ins[n][i]) {
                        *state = xor(encrypt_last(*state, last[i]), input);
                    }
                }
            }
            states
        }
    };
}

pub(super) use {hash_kernel, lanes_kernel};
