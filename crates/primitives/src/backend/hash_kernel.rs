//! The rounds of the re-keyed hash, for registers of 256 and 512 bits.
//!
//! Lane l of a key register holds the key of group l, and lane l of a state register one block of
//! that group, so blocks are permuted once on the way in and once on the way out, and round keys
//! never.
//!
//! A macro, for the reason that [`leaf_kernel`](mod@super::leaf_kernel) gives.

/// Writes `hash_few` and `hash_lanes`, with `inputs` and `write`, for a kind of register with
/// `$lanes` lanes. The calling module must define, with no more than `$features`:
///
/// - `zero`, `xor`, `encrypt` and `encrypt_last`, a round of AES under a round key; `load` and
///   `store` of `$lanes` blocks;
/// - `sigma`, the hash's σ; `by_group` and `in_order`, from memory order to one group a lane and
///   back;
/// - `next_keys`, the next round keys of one schedule a lane; `next_words`, the same word by word,
///   and `transpose_words`.
macro_rules! hash_kernel {
    ($features:literal, $register:ty, $lanes:literal) => {
        /// As many groups' blocks as there are lanes, in memory order.
        type Set<const GROUP: usize> = [[Block; $lanes]; GROUP];

        /// A set's inputs, one group to a lane, after σ if wanted.
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

        /// Stores what a set hashed to.
        #[inline]
        #[target_feature(enable = $features)]
        fn write<const GROUP: usize>(set: &mut Set<GROUP>, hashes: [$register; GROUP]) {
            for (blocks, hashed) in set.iter_mut().zip(in_order(hashes)) {
                store(blocks, hashed);
            }
        }

        /// `N` sets, the key schedules of each in one register.
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
                    // Begun before the round ahead of it, which hides the latency of the schedule.
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

        /// What the lanes of inputs hash to, `GROUP` of them under each lane of four registers of
        /// keys, `N` times. The key schedules go word by word: register i has word i of all keys,
        /// and in that form a step is one substitution and a few XORs. Transposing the words makes
        /// round keys of them.
        ///
        /// Each caller has a closure of its own and with it a copy of this function, which is
        /// compiled into it: registers do not go through memory.
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
                    // Begun before the round ahead of it, which hides the latency.
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

pub(super) use hash_kernel;
