//! SHA-1's compression function (FIPS 180-4).

use super::byte_order::{big_endian, from_big_endian};
use crate::builder::{Builder, Gates, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// A round constant for every twenty rounds.
const CONSTANTS: [u128; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// The compression of one block into the state, both as big-endian integers.
pub(super) fn sha1() -> Result<Circuit, CircuitError> {
    let mut b = Builder::new("sha1");
    let block = b.input("block", Type::Uint(512), 0);
    let state = b.input("state", Type::Uint(160), 1);
    let next = compress(&mut b, &block, &state);
    b.output("state", &next, Type::Uint(160), Receivers::All);
    b.finish()
}

fn compress(g: &mut Gates, block: &Word, state: &Word) -> Word {
    let mut schedule = big_endian(block, 32);
    for t in 16..80 {
        let near = g.xor(&schedule[t - 3], &schedule[t - 8]);
        let far = g.xor(&schedule[t - 14], &schedule[t - 16]);
        schedule.push(g.xor(&near, &far).rotl(1));
    }
    let initial = big_endian(state, 32);
    let [mut a, mut b, mut c, mut d, mut e]: [Word; 5] =
        std::array::from_fn(|i| initial[i].clone());
    for (t, word) in schedule.iter().enumerate() {
        let f = mixing(g, t, [&b, &c, &d]);
        let constant = Word::constant(32, CONSTANTS[t / 20]);
        // Terms that are known early are added first, which keeps the longest chain of ANDs short.
        let early = g.add(word, &constant);
        let (sum, carries) = g.carry_save(&early, &e, &a.rotl(5));
        let next = g.sum(32, &[&sum, &carries, &f]);
        (e, d, c, b, a) = (d, c, b.rotl(30), a, next);
    }
    let last = [a, b, c, d, e];
    let words: Vec<Word> = initial.iter().zip(&last).map(|(x, y)| g.add(x, y)).collect();
    from_big_endian(&words)
}

/// The round's function of three words.
fn mixing(g: &mut Gates, round: usize, [x, y, z]: [&Word; 3]) -> Word {
    let bits = x.iter().zip(y.iter()).zip(z.iter()).map(|((&x, &y), &z)| match round / 20 {
        0 => g.select_bit(x, y, z),
        2 => g.majority_bit(x, y, z),
        _ => {
            let sum = g.xor_bit(x, y);
            g.xor_bit(sum, z)
        }
    });
    bits.collect()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::{hex, padded, run};

    #[test]
    fn known_digests() {
        let circuit = sha1().unwrap();
        let initial = hex("67452301efcdab8998badcfe10325476c3d2e1f0");
        for (message, digest) in [
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ] {
            let block = padded(message.as_bytes(), 64);
            assert_eq!(run(&circuit, &[block, initial.clone()]), [hex(digest)]);
        }
        assert!(and_count(&circuit) <= 11_200, "{}", and_count(&circuit));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn agrees_with_an_independent_implementation(block: [[u8; 32]; 2], state: [u32; 5]) {
            let block: [u8; 64] = block.concat().try_into().unwrap();
            let mut expected = state;
            sha1::block_api::compress(&mut expected, &[block]);
            let number = |words: [u32; 5]| {
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
                BigUint::from_bytes_be(&bytes)
            };
            let circuit = super::sha1().unwrap();
            let out = run(&circuit, &[BigUint::from_bytes_be(&block), number(state)]);
            prop_assert_eq!(out, [number(expected)]);
        }
    }
}
