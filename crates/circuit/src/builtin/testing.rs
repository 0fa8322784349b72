//! Running circuits on integers, for tests.

use num_bigint::BigUint;

use crate::{Circuit, reference};

/// Returns the outputs of the circuit for these inputs, each value as one integer.
pub(crate) fn run(circuit: &Circuit, inputs: &[BigUint]) -> Vec<BigUint> {
    assert_eq!(inputs.len(), circuit.inputs().len());
    let mut bits = Vec::new();
    for (value, input) in inputs.iter().zip(circuit.inputs()) {
        let width = input.ty.width();
        assert!(value.bits() <= width, "`{}` is too wide", input.name);
        bits.extend((0..width).map(|i| value.bit(i)));
    }
    let out = reference::eval(circuit, &bits);
    let mut out = out.as_slice();
    let mut values = Vec::new();
    for output in circuit.outputs() {
        let (word, rest) = out.split_at(output.ty.width() as usize);
        out = rest;
        let mut value = BigUint::ZERO;
        word.iter().enumerate().for_each(|(i, &bit)| value.set_bit(i as u64, bit));
        values.push(value);
    }
    values
}

/// Returns the integer with these hexadecimal digits.
pub(crate) fn hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal digits")
}

/// Returns words of `width` bits as the value of an array.
pub(crate) fn array(words: &[u64], width: u32) -> BigUint {
    words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << width) + word)
}

/// Returns the words of `width` bits in the value of an array of `len`.
pub(crate) fn words(value: &BigUint, len: usize, width: u32) -> Vec<u64> {
    let mask = (BigUint::from(1u32) << width) - 1u32;
    let word = |i| (value >> (i * width as usize)) & &mask;
    (0..len).map(|i| u64::try_from(word(i)).expect("words of 64 bits at most")).collect()
}

/// Returns a short message with the padding of SHA-1 and SHA-2, as one block of `len` bytes.
pub(crate) fn padded(message: &[u8], len: usize) -> BigUint {
    assert!(message.len() < len - 16);
    let mut block = vec![0u8; len];
    block[..message.len()].copy_from_slice(message);
    block[message.len()] = 0x80;
    block[len - 8..].copy_from_slice(&(8 * message.len() as u64).to_be_bytes());
    BigUint::from_bytes_be(&block)
}
