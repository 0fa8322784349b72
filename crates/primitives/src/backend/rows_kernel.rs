//! Rows of MACs and keys, for registers of 256 and 512 bits.
//!
//! This is a macro, for the reason that [`leaf_kernel`](mod@super::leaf_kernel) gives.

/// Defines `xor_blocks`, `xor_sums`, `interleave_blocks` and `interleave_masked` for a kind of
/// register. The calling module must define, using only `$features`:
///
/// - `BLOCKS`, the number of blocks in a register; `load` and `store` of that many;
/// - `xor` of two and `xor3` of three;
/// - `Masks::new`, from a word of bits, and its `xor_next(x, y)`, which returns x, plus y in the
///   blocks whose bits are set, for two rows; each call moves on to the next `BLOCKS` bits;
/// - `in_turns`, which interleaves a register of MACs and one of keys as MAC, key, MAC, key, ….
macro_rules! rows_kernel {
    ($features:literal, $register:ty) => {
        #[target_feature(enable = $features)]
        pub(in super::super) fn xor_blocks(out: &mut [Block], values: &[Block]) {
            let (out, out_tail) = out.as_chunks_mut::<BLOCKS>();
            let (values, tail) = values.as_chunks::<BLOCKS>();
            for (out, values) in out.iter_mut().zip(values) {
                store(out, xor(load(out), load(values)));
            }
            portable::xor_blocks(out_tail, tail);
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn xor_sums(out: &mut [Block], a: &[Block], b: &[Block]) {
            let (out, out_tail) = out.as_chunks_mut::<BLOCKS>();
            let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<BLOCKS>(), b.as_chunks::<BLOCKS>());
            for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                store(out, xor3(load(out), load(a), load(b)));
            }
            portable::xor_sums(out_tail, a_tail, b_tail);
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn interleave_blocks(
            macs: &[Block],
            keys: &[Block],
            out: &mut [[Block; 2]],
        ) {
            let (out, out_tail) = out.as_chunks_mut::<BLOCKS>();
            let (macs, macs_tail) = macs.as_chunks::<BLOCKS>();
            let (keys, keys_tail) = keys.as_chunks::<BLOCKS>();
            for (out, (macs, keys)) in out.iter_mut().zip(macs.iter().zip(keys)) {
                write(out, [load(macs), load(keys)]);
            }
            portable::interleave_blocks(macs_tail, keys_tail, out_tail);
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn interleave_masked(
            rows: [&[Block]; 2],
            words: &[u64],
            more: [&[Block]; 2],
            out: &mut [[Block; 2]],
        ) {
            let rows = rows[0].chunks(64).zip(rows[1].chunks(64));
            let more = more[0].chunks(64).zip(more[1].chunks(64));
            for ((&word, out), ((macs, keys), (more_macs, more_keys))) in
                words.iter().zip(out.chunks_mut(64)).zip(rows.zip(more))
            {
                let mut masks = Masks::new(word);
                // Closures over rows here would not be inlined.
                let (macs, macs_tail) = macs.as_chunks::<BLOCKS>();
                let (keys, keys_tail) = keys.as_chunks::<BLOCKS>();
                let (more_macs, more_macs_tail) = more_macs.as_chunks::<BLOCKS>();
                let (more_keys, more_keys_tail) = more_keys.as_chunks::<BLOCKS>();
                let (out, out_tail) = out.as_chunks_mut::<BLOCKS>();
                let registers = macs.iter().zip(keys).zip(more_macs.iter().zip(more_keys));
                for (out, ((macs, keys), (more_macs, more_keys))) in out.iter_mut().zip(registers) {
                    let own = [load(macs), load(keys)];
                    write(out, masks.xor_next(own, [load(more_macs), load(more_keys)]));
                }
                if !out_tail.is_empty() {
                    let words = [word >> (BLOCKS * out.len())];
                    let more = [more_macs_tail, more_keys_tail];
                    portable::interleave_masked([macs_tail, keys_tail], &words, more, out_tail);
                }
            }
        }

        /// Writes a register of MACs and one of keys, interleaved.
        #[inline]
        #[target_feature(enable = $features)]
        fn write(out: &mut [[Block; 2]; BLOCKS], rows: [$register; 2]) {
            let halves: &mut [[Block; BLOCKS]; 2] = bytemuck::cast_mut(out);
            let [first, second] = in_turns(rows);
            store(&mut halves[0], first);
            store(&mut halves[1], second);
        }
    };
}

pub(super) use rows_kernel;
