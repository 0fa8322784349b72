//! The compression functions of SHA-256 and SHA-512 (FIPS 180-4).

use super::byte_order::{big_endian, from_big_endian};
use crate::builder::{Builder, Gates, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// The compression of one block into the state, both as big-endian integers.
pub(super) fn sha256() -> Result<Circuit, CircuitError> {
    let constants: Vec<u128> = CONSTANTS[..64].iter().map(|&k| u128::from(k >> 32)).collect();
    circuit("sha256", &SHA256, &constants)
}

/// The compression of one block into the state, both as big-endian integers.
pub(super) fn sha512() -> Result<Circuit, CircuitError> {
    let constants: Vec<u128> = CONSTANTS.iter().map(|&k| u128::from(k)).collect();
    circuit("sha512", &SHA512, &constants)
}

/// The differences between the two: the width of words, and the amounts of each function's
/// rotations; the last amount of the schedule's functions is a shift.
struct Variant {
    width: usize,
    big_sigma: [[usize; 3]; 2],
    small_sigma: [[usize; 3]; 2],
}

const SHA256: Variant = Variant {
    width: 32,
    big_sigma: [[2, 13, 22], [6, 11, 25]],
    small_sigma: [[7, 18, 3], [17, 19, 10]],
};

const SHA512: Variant = Variant {
    width: 64,
    big_sigma: [[28, 34, 39], [14, 18, 41]],
    small_sigma: [[1, 8, 7], [19, 61, 6]],
};

fn circuit(name: &str, variant: &Variant, constants: &[u128]) -> Result<Circuit, CircuitError> {
    let width = variant.width as u32;
    let mut b = Builder::new(name);
    let block = b.input("block", Type::Uint(16 * width), 0);
    let state = b.input("state", Type::Uint(8 * width), 1);
    let next = compress(&mut b, variant, constants, &block, &state);
    b.output("state", &next, Type::Uint(8 * width), Receivers::All);
    b.finish()
}

fn compress(g: &mut Gates, v: &Variant, constants: &[u128], block: &Word, state: &Word) -> Word {
    let mut schedule = big_endian(block, v.width);
    for t in 16..constants.len() {
        let near = small_sigma(g, v.small_sigma[1], &schedule[t - 2]);
        let far = small_sigma(g, v.small_sigma[0], &schedule[t - 15]);
        // The latest word comes last, which keeps the longest chain of ANDs short.
        let next = g.sum(v.width, &[&far, &schedule[t - 16], &schedule[t - 7], &near]);
        schedule.push(next);
    }
    let initial = big_endian(state, v.width);
    let mut s: [Word; 8] = std::array::from_fn(|i| initial[i].clone());
    for (word, &constant) in schedule.iter().zip(constants) {
        // The words are added in the order in which they become known.
        let constant = Word::constant(v.width, constant);
        let sigma1 = big_sigma(g, v.big_sigma[1], &s[4]);
        let choice = g.select_each(&s[4], &s[5], &s[6]);
        let t1 = g.sum(v.width, &[&constant, word, &s[7], &sigma1, &choice]);
        let sigma0 = big_sigma(g, v.big_sigma[0], &s[0]);
        let majority = g.majority_each(&s[0], &s[1], &s[2]);
        let e = g.add(&s[3], &t1);
        let a = g.sum(v.width, &[&sigma0, &majority, &t1]);
        s.rotate_right(1);
        (s[0], s[4]) = (a, e);
    }
    let words: Vec<Word> = initial.iter().zip(&s).map(|(x, y)| g.add(x, y)).collect();
    from_big_endian(&words)
}

fn big_sigma(g: &mut Gates, by: [usize; 3], x: &Word) -> Word {
    let two = g.xor(&x.rotr(by[0]), &x.rotr(by[1]));
    g.xor(&two, &x.rotr(by[2]))
}

fn small_sigma(g: &mut Gates, by: [usize; 3], x: &Word) -> Word {
    let two = g.xor(&x.rotr(by[0]), &x.rotr(by[1]));
    g.xor(&two, &x.shr(by[2]))
}

/// SHA-512's round constants: the first 64 bits of the fractional parts of the cube roots of the
/// first 80 primes. SHA-256's are the first 32 bits, for the first 64 primes.
#[rustfmt::skip]
const CONSTANTS: [u64; 80] = [
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
];

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::{hex, padded, run};

    const IV256: &str = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
    const IV512: &str = "6a09e667f3bcc908bb67ae8584caa73b3c6ef372fe94f82ba54ff53a5f1d36f1\
                         510e527fade682d19b05688c2b3e6c1f1f83d9abfb41bd6b5be0cd19137e2179";

    #[test]
    fn known_digests_of_sha256() {
        let circuit = sha256().unwrap();
        for (message, digest) in [
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ] {
            let block = padded(message.as_bytes(), 64);
            assert_eq!(run(&circuit, &[block, hex(IV256)]), [hex(digest)]);
        }
        assert!(and_count(&circuit) <= 22_272, "{}", and_count(&circuit));
    }

    #[test]
    fn known_digests_of_sha512() {
        let circuit = sha512().unwrap();
        for (message, digest) in [
            (
                "abc",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (
                "",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
                 47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
            ),
        ] {
            let block = padded(message.as_bytes(), 128);
            assert_eq!(run(&circuit, &[block, hex(IV512)]), [hex(digest)]);
        }
        assert!(and_count(&circuit) <= 57_723, "{}", and_count(&circuit));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn sha256_agrees_with_an_independent_implementation(
            block: [[u8; 32]; 2],
            state: [u32; 8],
        ) {
            let block: [u8; 64] = block.concat().try_into().unwrap();
            let mut expected = state;
            sha2::block_api::compress256(&mut expected, &[block]);
            let number = |words: [u32; 8]| {
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
                BigUint::from_bytes_be(&bytes)
            };
            let out = run(&sha256().unwrap(), &[BigUint::from_bytes_be(&block), number(state)]);
            prop_assert_eq!(out, [number(expected)]);
        }

        #[test]
        fn sha512_agrees_with_an_independent_implementation(
            block: [[u8; 32]; 4],
            state: [u64; 8],
        ) {
            let block: [u8; 128] = block.concat().try_into().unwrap();
            let mut expected = state;
            sha2::block_api::compress512(&mut expected, &[block]);
            let number = |words: [u64; 8]| {
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
                BigUint::from_bytes_be(&bytes)
            };
            let out = run(&sha512().unwrap(), &[BigUint::from_bytes_be(&block), number(state)]);
            prop_assert_eq!(out, [number(expected)]);
        }
    }
}
