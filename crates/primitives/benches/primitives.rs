//! Each kernel on each backend that the processor has; throughput in items (blocks, columns) or
//! bytes. The data fit the L2 cache.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use symbolon_primitives::hash::Tweaks;
use symbolon_primitives::{
    Aes128, Backend, BitVec, Block, Leaves, PolyHash, Prg, SelectedSums, Transcript,
    UniversalMacHash, gf128, hash_blocks,
};

fn main() {
    divan::main();
}

fn backends() -> Vec<Backend> {
    Backend::available()
}

fn blocks(n: usize) -> Vec<Block> {
    let mut out = vec![Block::ZERO; n];
    Prg::from_seed(Block(1)).fill_blocks(&mut out);
    out
}

fn words(n: usize) -> Vec<u64> {
    blocks(n).iter().map(|block| block.0 as u64).collect()
}

/// The number of blocks in a hash or AES benchmark.
const N: usize = 4096;

#[divan::bench(args = backends(), consts = [1, 2, 4, 8])]
fn hash_circular<const GROUP: usize>(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut xs, start) = (blocks(N), Block(77));
    bencher
        .counter(ItemsCount::new(N))
        .bench_local(|| backend.hash_circular(start, Tweaks::From(5), GROUP, &mut xs));
}

#[divan::bench(args = backends(), consts = [1, 2, 4, 8])]
fn hash_linear_listed<const GROUP: usize>(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut xs, start) = (blocks(N), Block(77));
    let tweaks: Vec<u128> = blocks(N / GROUP).iter().map(|b| b.0).collect();
    bencher
        .counter(ItemsCount::new(N))
        .bench_local(|| backend.hash_linear(start, Tweaks::List(&tweaks), GROUP, &mut xs));
}

/// The size of one half-gate, which shows the overhead of a call.
#[divan::bench(args = backends())]
fn hash_two_blocks(bencher: Bencher<'_, '_>, backend: Backend) {
    let mut xs = blocks(2);
    bencher
        .counter(ItemsCount::new(2usize))
        .bench_local(|| backend.hash_circular(Block(77), Tweaks::From(5), 2, &mut xs));
}

#[divan::bench(args = backends())]
fn aes_encrypt(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut xs, aes) = (blocks(N), Aes128::with_backend(backend, Block(7)));
    bencher.counter(ItemsCount::new(N)).bench_local(|| aes.encrypt_blocks(&mut xs));
}

#[divan::bench(args = backends())]
fn aes_counter(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut xs, aes) = (blocks(N), Aes128::with_backend(backend, Block(7)));
    bencher.counter(ItemsCount::new(N)).bench_local(|| aes.counter_blocks(3, &mut xs));
}

#[divan::bench(args = backends())]
fn aes_key_schedule(bencher: Bencher<'_, '_>, backend: Backend) {
    bencher.bench_local(|| Aes128::with_backend(backend, black_box(Block(7))));
}

#[divan::bench(args = backends())]
fn gf128_mul(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut x, y) = ([Block(7)], [Block(1 << 99 | 5)]);
    bencher.bench_local(|| x[0] = backend.inner_product(&x, &y));
}

#[divan::bench(args = backends())]
fn inner_product(bencher: Bencher<'_, '_>, backend: Backend) {
    let (a, b) = (blocks(N), blocks(N));
    bencher.counter(ItemsCount::new(N)).bench_local(|| backend.inner_product(&a, &b));
}

#[divan::bench(args = backends())]
fn words_inner_product(bencher: Bencher<'_, '_>, backend: Backend) {
    let (a, b) = (words(N), blocks(N));
    bencher.counter(ItemsCount::new(N)).bench_local(|| backend.words_inner_product(&a, &b));
}

#[divan::bench(args = backends())]
fn truncate_u64(bencher: Bencher<'_, '_>, backend: Backend) {
    let (xs, mut out) = (blocks(N), words(N));
    bencher.counter(ItemsCount::new(N)).bench_local(|| backend.truncate_u64(&xs, &mut out));
}

#[divan::bench(args = backends())]
fn lsbs(bencher: Bencher<'_, '_>, backend: Backend) {
    let (xs, mut out) = (words(N), words(N / 64));
    bencher.counter(ItemsCount::new(N)).bench_local(|| backend.lsbs(&xs, &mut out));
}

#[divan::bench(args = backends())]
fn blocks_added(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut out, values) = (blocks(N), blocks(N));
    bencher.counter(ItemsCount::new(N)).bench_local(|| backend.xor_blocks(&mut out, &values));
}

#[divan::bench(args = backends())]
fn sums_added(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut out, a, b) = (blocks(N), blocks(N), blocks(N));
    bencher.counter(ItemsCount::new(N)).bench_local(|| backend.xor_sums(&mut out, &a, &b));
}

#[divan::bench(args = backends())]
fn rows_paired_up(bencher: Bencher<'_, '_>, backend: Backend) {
    let (macs, keys, mut out) = (blocks(N), blocks(N), vec![[Block::ZERO; 2]; N]);
    bencher
        .counter(ItemsCount::new(N))
        .bench_local(|| backend.interleave_blocks(&macs, &keys, &mut out));
}

#[divan::bench(args = backends())]
fn rows_paired_up_where(bencher: Bencher<'_, '_>, backend: Backend) {
    let (rows, bits, mut out) = (blocks(4 * N), words(N / 64), vec![[Block::ZERO; 2]; N]);
    let row = |which: usize| &rows[which * N..][..N];
    let counted = bencher.counter(ItemsCount::new(N));
    counted.bench_local(|| {
        backend.interleave_masked([row(0), row(1)], &bits, [row(2), row(3)], &mut out);
    });
}

#[divan::bench(args = backends())]
fn blocks_added_where(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut out, values, bits) = (blocks(N), blocks(N), words(N / 64));
    let counted = bencher.counter(ItemsCount::new(N));
    counted.bench_local(|| backend.xor_masked(&mut out, &bits, &values));
}

#[divan::bench(args = backends())]
fn words_added_where(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut out, values, bits) = (words(N), words(N), words(N / 64));
    let counted = bencher.counter(ItemsCount::new(N));
    counted.bench_local(|| backend.xor_words_masked(&mut out, &bits, &values));
}

#[divan::bench(args = backends())]
fn key_added_where(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut out, bits) = (blocks(N), words(N / 64));
    let counted = bencher.counter(ItemsCount::new(N));
    counted.bench_local(|| backend.xor_key_masked(&mut out, &bits, Block(77)));
}

#[divan::bench(args = backends())]
fn key_sums(bencher: Bencher<'_, '_>, backend: Backend) {
    let bits = BitVec::random(N, &mut Prg::from_seed(Block(3))).to_bools();
    let auths: Vec<[Block; 2]> = blocks(2 * N).as_chunks().0.to_vec();
    let mut sums = vec![[Block::ZERO; 2]; N];
    let counted = bencher.counter(ItemsCount::new(N));
    counted.bench_local(|| backend.key_sums(Block(77), [&bits; 2], [&auths; 2], &mut sums));
}

#[divan::bench(args = backends())]
fn leaky_hashes(bencher: Bencher<'_, '_>, backend: Backend) {
    let (rows, mut s, mut u) = (blocks(3 * N), blocks(N), blocks(N));
    let row = |which: usize| &rows[which * N..][..N];
    let by = ([Block(77), Block(78)], 5, Block(9));
    let counted = bencher.counter(ItemsCount::new(N));
    counted.bench_local(|| backend.leaky_hashes(by, [row(0), row(1)], row(2), &mut s, &mut u));
}

#[divan::bench(args = backends())]
fn half_gates(bencher: Bencher<'_, '_>, backend: Backend) {
    let pairs: Vec<[Block; 2]> = blocks(2 * N).as_chunks().0.to_vec();
    let (mut message, mut labels) = (vec![[Block::ZERO; 2]; N], blocks(N));
    let counted = bencher.counter(ItemsCount::new(N));
    let by = (Block(77), 5, Block(9));
    counted.bench_local(|| backend.half_gates(by, &pairs, &mut message, &mut labels));
}

#[divan::bench(args = backends(), consts = [64, 512, 516, 4160])]
fn column_hash<const STRIDE: usize>(bencher: Bencher<'_, '_>, backend: Backend) {
    let (cols, coeffs) = (blocks(128 * STRIDE / 16), blocks(STRIDE / 16));
    let mut out = [Block::ZERO; 128];
    bencher.counter(ItemsCount::new(128 * coeffs.len())).bench_local(|| {
        backend.column_hash(Block::as_bytes(&cols), STRIDE, &coeffs, &mut out);
    });
}

#[divan::bench(args = backends(), consts = [64, 512, 528, 1024, 1600, 4096, 4160])]
fn transpose<const STRIDE: usize>(bencher: Bencher<'_, '_>, backend: Backend) {
    let cols = blocks(128 * STRIDE / 16);
    let mut out = blocks(STRIDE / 16 * 128);
    bencher
        .counter(ItemsCount::new(out.len()))
        .bench_local(|| backend.transpose_128(Block::as_bytes(&cols), STRIDE, &mut out));
}

#[divan::bench]
fn poly_hash(bencher: Bencher<'_, '_>) {
    let xs = blocks(N);
    bencher.counter(ItemsCount::new(N)).bench_local(|| {
        let mut hash = PolyHash::new(Block(99));
        hash.update(&xs);
        hash.finish()
    });
}

#[divan::bench]
fn pow2_combine(bencher: Bencher<'_, '_>) {
    let xs = blocks(128);
    bencher.counter(ItemsCount::new(128usize)).bench_local(|| gf128::pow2_combine(&xs));
}

/// The sums over all leaves of one tree, 4 KiB each; throughput in blocks of leaves.
#[divan::bench(args = backends(), consts = [2, 4, 8])]
fn leaf_sums<const BITS: usize>(bencher: Bencher<'_, '_>, backend: Backend) {
    let leaves = Leaves::with_backend(backend, &blocks(1 << BITS));
    let (mut total, mut sums) = (vec![0u8; 4096], vec![0u8; BITS * 4096]);
    bencher
        .counter(ItemsCount::new(256usize << BITS))
        .bench_local(|| leaves.sums(3, &mut total, &mut sums));
}

/// As above, for the amount that a draw of triples takes from each tree.
#[divan::bench(args = backends(), consts = [2, 4])]
fn leaf_sums_of_a_draw<const BITS: usize>(bencher: Bencher<'_, '_>, backend: Backend) {
    let leaves = Leaves::with_backend(backend, &blocks(1 << BITS));
    let (mut total, mut sums) = (vec![0u8; 1600], vec![0u8; BITS * 1600]);
    bencher
        .counter(ItemsCount::new(100usize << BITS))
        .bench_local(|| leaves.sums(3, &mut total, &mut sums));
}

/// One long stream.
#[divan::bench(args = backends())]
fn generator_64_kib(bencher: Bencher<'_, '_>, backend: Backend) {
    let (mut prg, mut out) = (Prg::with_backend(backend, Block(7)), vec![0u8; 1 << 16]);
    bencher.counter(BytesCount::new(out.len())).bench_local(|| prg.fill(&mut out));
}

/// Many short streams, as in IKNP.
#[divan::bench(args = backends())]
fn fill_128_generators_1_kib(bencher: Bencher<'_, '_>, backend: Backend) {
    let seeded = |seed| Prg::with_backend(backend, seed);
    let mut prgs: Vec<Prg> = blocks(128).into_iter().map(seeded).collect();
    let mut out = vec![0u8; 128 * 1024];
    bencher.counter(BytesCount::new(out.len())).bench_local(|| {
        for (prg, row) in prgs.iter_mut().zip(out.chunks_exact_mut(1024)) {
            prg.fill(row);
        }
    });
}

#[divan::bench]
fn permutation(bencher: Bencher<'_, '_>) {
    let mut prg = Prg::from_seed(Block(3));
    bencher.counter(ItemsCount::new(100_000usize)).bench_local(|| prg.permutation(100_000));
}

#[divan::bench]
fn transcript_absorb_1_mib(bencher: Bencher<'_, '_>) {
    let data = vec![5u8; 1 << 20];
    let mut transcript = Transcript::new("bench", &[0; 32]);
    bencher.counter(BytesCount::new(data.len())).bench_local(|| transcript.absorb("x", &data));
}

#[divan::bench]
fn hash_blocks_1_mib(bencher: Bencher<'_, '_>) {
    let data = blocks(1 << 16);
    bencher.counter(BytesCount::new(1usize << 20)).bench_local(|| hash_blocks("bench", &data));
}

/// Tags one after the other.
#[divan::bench(args = backends())]
fn hash_tags(bencher: Bencher<'_, '_>, backend: Backend) {
    let tags = words(N);
    let mut hash = UniversalMacHash::<1>::with_backend(backend, &mut Prg::from_seed(Block(99)));
    bencher.counter(ItemsCount::new(N)).bench_local(|| hash.update([&tags]));
}

/// Products with a key, which make tags.
#[divan::bench(args = backends())]
fn carryless_products(bencher: Bencher<'_, '_>, backend: Backend) {
    let (factors, mut out) = (words(N), vec![0; 2 * N]);
    bencher
        .counter(ItemsCount::new(N))
        .bench_local(|| backend.carryless_products(&factors, 0x1d_872b_41c9, &mut out));
}

/// Eight rows of bits as the bytes from which look-ups are made.
#[divan::bench(args = backends())]
fn lookup_bytes_of_rows(bencher: Bencher<'_, '_>, backend: Backend) {
    let (rows, mut out) = (words(8 * 64), vec![0u8; 64 * 64]);
    let rows: [&[u64]; 8] = std::array::from_fn(|row| &rows[64 * row..][..64]);
    bencher
        .counter(BytesCount::new(out.len()))
        .bench_local(|| backend.bytes_of_rows(rows, &mut out));
}

/// The inverse conversion.
#[divan::bench(args = backends())]
fn rows_of_lookup_bytes(bencher: Bencher<'_, '_>, backend: Backend) {
    let (bytes, mut out) = (words(8 * 64), vec![[0; 8]; 64]);
    let bytes = bytemuck::cast_slice(&bytes);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| backend.rows_of_bytes(bytes, &mut out));
}

/// Bits between words and the messages that carry them; these have only one version.
#[divan::bench(args = ["to bytes", "from bytes", "from bools", "slice", "append"])]
fn pack_bits(bencher: Bencher<'_, '_>, way: &str) {
    let n = 64 * N;
    let bits = BitVec::random(n, &mut Prg::from_seed(Block(2)));
    let (bytes, bools) = (bits.to_bytes(), bits.to_bools());
    let bencher = bencher.counter(ItemsCount::new(n));
    match way {
        "to bytes" => bencher.bench_local(|| bits.to_bytes()),
        "from bytes" => bencher.bench_local(|| BitVec::from_bytes(n, &bytes)),
        "from bools" => bencher.bench_local(|| BitVec::from_bools(&bools)),
        // Neither starts at a word boundary: every word is assembled from two.
        "slice" => bencher.bench_local(|| bits.slice(5..n)),
        _ => bencher.bench_local(|| {
            let mut all = BitVec::from_bools(&[true; 5]);
            all.extend_from(&bits);
            all
        }),
    }
}

/// Tags of a bit-sliced batch, half of them selected, on both sides.
#[divan::bench(args = backends(), consts = [false, true])]
fn hash_selected_tags<const SHARED: bool>(bencher: Bencher<'_, '_>, backend: Backend) {
    let words = words(N);
    let row = |i: usize| if SHARED { &words[i..=i] } else { &words[..] };
    let tags = SelectedSums {
        rows: [[row(0), row(1), row(2)], [row(3), row(4), row(5)]],
        bits: [&words, &words[1..]],
        flips: &words[2..],
        delta: 7,
    };
    let mut hash = UniversalMacHash::<2>::with_backend(backend, &mut Prg::from_seed(Block(99)));
    bencher.counter(ItemsCount::new(2 * N)).bench_local(|| hash.update_selected(tags, N));
}
