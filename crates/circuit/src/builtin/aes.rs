//! AES (FIPS-197) with 128, 192 and 256-bit keys, and CBC-MAC over AES-128.
//!
//! Keys, messages and ciphertexts are the standard's byte strings read as big-endian integers. So
//! is an expanded key: the words of the key schedule in order, the cipher key itself first.
//!
//! The S-box is made of gates or, for protocols that have look-ups, of a look-up in its table.

use super::byte_order::{big_endian, from_big_endian};
use super::sbox;
use crate::builder::{Bit, Builder, ComponentBuilder, Gates, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// The S-box of one byte.
type Sbox = fn(&mut Gates, &[Bit]) -> Word;

/// The S-box as 32 ANDs.
const BY_GATES: Sbox = sbox::sbox;

/// The S-box as one look-up.
const BY_TABLE: Sbox = |g, byte| g.lookup(&sbox::TABLE, byte);

/// AES-128: 6 400 ANDs.
pub(super) fn aes128() -> Result<Circuit, CircuitError> {
    aes("aes128", 4, BY_GATES)
}

/// AES-128: 200 look-ups, 40 of them in the key schedule; no ANDs.
pub(super) fn aes128_sbox() -> Result<Circuit, CircuitError> {
    aes("aes128:sbox", 4, BY_TABLE)
}

/// AES-128 under an expanded key: 5 120 ANDs.
pub(super) fn aes128_expanded() -> Result<Circuit, CircuitError> {
    expanded("aes128:expanded", BY_GATES)
}

/// AES-128 under an expanded key: 160 look-ups, no ANDs.
pub(super) fn aes128_sbox_expanded() -> Result<Circuit, CircuitError> {
    expanded("aes128:sbox-expanded", BY_TABLE)
}

/// AES-192: 7 168 ANDs.
pub(super) fn aes192() -> Result<Circuit, CircuitError> {
    aes("aes192", 6, BY_GATES)
}

/// AES-256: 8 832 ANDs.
pub(super) fn aes256() -> Result<Circuit, CircuitError> {
    aes("aes256", 8, BY_GATES)
}

/// One block, with the key schedule; `key_words` is the standard's Nk.
fn aes(name: &str, key_words: usize, sbox: Sbox) -> Result<Circuit, CircuitError> {
    let mut b = Builder::new(name);
    let key = b.input("key", Type::Uint(32 * key_words as u32), 0);
    let message = b.input("message", Type::Uint(128), 1);
    let round_keys = key_schedule(&mut b, &key, key_words, sbox);
    let ciphertext = cipher(&mut b, &round_keys, &message, sbox);
    b.output("ciphertext", &ciphertext, Type::Uint(128), Receivers::All);
    b.finish()
}

/// One block of AES-128 whose key its owner has expanded.
fn expanded(name: &str, sbox: Sbox) -> Result<Circuit, CircuitError> {
    let mut b = Builder::new(name);
    let key = b.input("expanded_key", Type::Uint(11 * 128), 0);
    let message = b.input("message", Type::Uint(128), 1);
    let round_keys = big_endian(&key, 128);
    let ciphertext = cipher(&mut b, &round_keys, &message, sbox);
    b.output("ciphertext", &ciphertext, Type::Uint(128), Receivers::All);
    b.finish()
}

/// CBC-MAC with AES-128 of `blocks` blocks: the key schedule is one component, called once, and the
/// cipher another, called for every block; 1 280 + 5 120·blocks ANDs.
pub(super) fn cbcmac(blocks: u32) -> Result<Circuit, CircuitError> {
    let mut c = ComponentBuilder::new("aes128-key-schedule");
    let key = c.input(128);
    let round_keys = key_schedule(&mut c, &key, 4, BY_GATES);
    c.output(&Word::join(&round_keys));
    let schedule = c.finish()?;

    let mut c = ComponentBuilder::new("aes128-cipher-of-xor");
    let round_keys = c.input(11 * 128).split(128);
    let (chain, block) = (c.input(128), c.input(128));
    let input = c.xor(&chain, &block);
    let output = cipher(&mut c, &round_keys, &input, BY_GATES);
    c.output(&output);
    let chained = c.finish()?;

    let mut b = Builder::new(format!("cbcmac:{blocks}"));
    let key = b.input("key", Type::Uint(128), 0);
    let message = b.input("message", Type::words(blocks, 128), 1).split(128);
    let round_keys = b.call_one(&schedule, &[&key]);
    let mut tag = Word::zero(128);
    for block in &message {
        tag = b.call_one(&chained, &[&round_keys, &tag, block]);
    }
    b.output("tag", &tag, Type::Uint(128), Receivers::All);
    b.finish()
}

/// The round keys, 128 bits each.
fn key_schedule(g: &mut Gates, key: &Word, key_words: usize, sbox: Sbox) -> Vec<Word> {
    let rounds = key_words + 6;
    let mut words = big_endian(key, 32);
    let mut constant = 1u8;
    for i in key_words..4 * (rounds + 1) {
        let mut word = words[i - 1].clone();
        if i % key_words == 0 {
            word = sub_bytes(g, &word.rotl(8), sbox);
            let rcon = Word::constant(32, u128::from(constant) << 24);
            word = g.xor(&word, &rcon);
            constant = constant << 1 ^ if constant & 0x80 != 0 { 0x1b } else { 0 };
        } else if key_words > 6 && i % key_words == 4 {
            word = sub_bytes(g, &word, sbox);
        }
        let next = g.xor(&word, &words[i - key_words]);
        words.push(next);
    }
    words.chunks(4).map(from_big_endian).collect()
}

/// One block under an expanded key.
fn cipher(g: &mut Gates, round_keys: &[Word], message: &Word, sbox: Sbox) -> Word {
    let last = round_keys.len() - 1;
    let mut state = g.xor(message, &round_keys[0]);
    for (round, round_key) in round_keys.iter().enumerate().skip(1) {
        let bytes = big_endian(&sub_bytes(g, &state, sbox), 8);
        // ShiftRows: row r of the column-major state moves r columns to the left.
        let shifted: [Word; 16] = std::array::from_fn(|i| bytes[(i + 4 * (i % 4)) % 16].clone());
        let mixed = match round == last {
            true => shifted.to_vec(),
            false => shifted.chunks(4).flat_map(|column| mix_column(g, column)).collect(),
        };
        state = g.xor(&from_big_endian(&mixed), round_key);
    }
    state
}

fn sub_bytes(g: &mut Gates, word: &Word, sbox: Sbox) -> Word {
    word.chunks(8).flat_map(|byte| sbox(g, byte).to_vec()).collect()
}

/// MixColumns of one column: each byte becomes 2·itself + 3·next + the two others.
fn mix_column(g: &mut Gates, column: &[Word]) -> [Word; 4] {
    let pairs: [Word; 4] = std::array::from_fn(|i| g.xor(&column[i], &column[(i + 1) % 4]));
    let all = g.xor(&pairs[0], &pairs[2]);
    std::array::from_fn(|i| {
        // 2·(a + b) + (a + b + c + d) + a.
        let doubled = double(g, &pairs[i]);
        let rest = g.xor(&all, &column[i]);
        g.xor(&doubled, &rest)
    })
}

/// The product with x in GF(2⁸).
fn double(g: &mut Gates, byte: &Word) -> Word {
    let top = byte[7];
    let mut doubled = byte.shl(1);
    let feedback: [Bit; 3] = [1, 3, 4].map(|i| g.xor_bit(doubled[i], top));
    (doubled[0], doubled[1], doubled[3], doubled[4]) = (top, feedback[0], feedback[1], feedback[2]);
    doubled
}

#[cfg(test)]
mod tests {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::{hex, run};
    use crate::{Layered, LookupCount, Plan};
    use num_bigint::BigUint;

    /// FIPS-197, appendix C.
    #[test]
    fn fips_197_vectors() {
        let message = hex("00112233445566778899aabbccddeeff");
        let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        for (build, digits, expected, ands) in [
            (aes128 as fn() -> _, 32, "69c4e0d86a7b0430d8cdb78070b4c55a", 6400),
            (aes192, 48, "dda97ca4864cdfe06eaf70a0ec0d7191", 7168),
            (aes256, 64, "8ea2b7ca516745bfeafc49904b496089", 8832),
        ] {
            let circuit: Circuit = build().unwrap();
            assert_eq!(run(&circuit, &[hex(&key[..digits]), message.clone()]), [hex(expected)]);
            assert_eq!(and_count(&circuit), ands);
        }
    }

    /// FIPS-197, appendix B.
    #[test]
    fn fips_197_worked_example() {
        let key = hex("2b7e151628aed2a6abf7158809cf4f3c");
        let message = hex("3243f6a8885a308d313198a2e0370734");
        let expected = [hex("3925841d02dc09fbdc118597196a0b32")];
        for circuit in [aes128(), aes128_sbox()] {
            assert_eq!(run(&circuit.unwrap(), &[key.clone(), message.clone()]), expected);
        }
        let expanded_key = hex(EXPANDED);
        for circuit in [aes128_expanded(), aes128_sbox_expanded()] {
            assert_eq!(run(&circuit.unwrap(), &[expanded_key.clone(), message.clone()]), expected);
        }
    }

    /// FIPS-197, appendix A.1: the key of appendix B, expanded.
    const EXPANDED: &str = "2b7e151628aed2a6abf7158809cf4f3c\
        a0fafe1788542cb123a339392a6c7605f2c295f27a96b9435935807a7359f67f\
        3d80477d4716fe3e1e237e446d7a883bef44a541a8525b7fb671253bdb0bad00\
        d4d1c6f87c839d87caf2b8bc11f915bc6d88a37a110b3efddbf98641ca0093fd\
        4e54f70e5f5fc9f384a64fb24ea6dc4fead27321b58dbad2312bf5607f8d292f\
        ac7766f319fadc2128d12941575c006ed014f9a8c9ee2589e13f0cc8b6630ca6";

    #[test]
    fn look_ups_stand_in_ten_layers() {
        for (circuit, lookups, lowered) in
            [(aes128_sbox(), 200, 6400), (aes128_sbox_expanded(), 160, 5120)]
        {
            let circuit = circuit.unwrap();
            let shape = LookupCount { inputs: 8, outputs: 8, count: lookups };
            assert_eq!(LookupCount::of(&circuit), [shape]);
            assert_eq!(circuit.tables(), std::slice::from_ref(&*sbox::TABLE));
            let layered = Layered::new(&circuit).unwrap();
            assert_eq!((layered.depth(), layered.counts().and), (10, 0));
            let each = usize::try_from(lookups / 10).unwrap();
            assert!(layered.layers().take(10).all(|layer| layer.lookups.iter().len() == each));
            assert_eq!(Plan::new(&circuit).and_count(), lowered);
            // The expanded key, and the state before and after a layer of look-ups.
            assert!(layered.slots() <= 11 * 128 + 2 * 128 + 64, "{}", layered.slots());
        }
        assert_eq!(and_count(&aes128_expanded().unwrap()), 5120);
    }

    fn encrypt<C: KeyInit + BlockCipherEncrypt>(key: &[u8], block: &[u8]) -> Vec<u8> {
        let cipher = C::new_from_slice(key).unwrap();
        let mut block = block.try_into().unwrap();
        cipher.encrypt_block(&mut block);
        block.to_vec()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn agrees_with_an_independent_implementation(key: [u8; 32], message: [u8; 16]) {
            let expected = [
                (aes128().unwrap(), 16, encrypt::<aes::Aes128>(&key[..16], &message)),
                (aes128_sbox().unwrap(), 16, encrypt::<aes::Aes128>(&key[..16], &message)),
                (aes192().unwrap(), 24, encrypt::<aes::Aes192>(&key[..24], &message)),
                (aes256().unwrap(), 32, encrypt::<aes::Aes256>(&key, &message)),
            ];
            for (circuit, len, expected) in expected {
                let inputs = [&key[..len], &message].map(BigUint::from_bytes_be);
                prop_assert_eq!(run(&circuit, &inputs), [BigUint::from_bytes_be(&expected)]);
            }
        }

        #[test]
        fn cbcmac_chains_blocks(key: [u8; 16], blocks in prop::collection::vec(any::<[u8; 16]>(), 1..5)) {
            let mut tag = vec![0u8; 16];
            for block in &blocks {
                tag.iter_mut().zip(block).for_each(|(t, b)| *t ^= b);
                tag = encrypt::<aes::Aes128>(&key, &tag);
            }
            // The first block is element 0, which is the array's least significant.
            let message: Vec<u8> = blocks.iter().rev().flatten().copied().collect();
            let circuit = cbcmac(blocks.len() as u32).unwrap();
            prop_assert_eq!(and_count(&circuit), 1280 + 5120 * blocks.len() as u64);
            prop_assert_eq!(circuit.components().len(), 3);
            let inputs = [&key[..], &message].map(BigUint::from_bytes_be);
            prop_assert_eq!(run(&circuit, &inputs), [BigUint::from_bytes_be(&tag)]);
        }
    }
}
