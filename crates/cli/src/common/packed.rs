//! Bits of inputs and outputs, packed, between the text that people write and the library.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use symbolon::BitVec;
use symbolon::zeroize::Zeroizing;

/// The bits of a value, first wire first; wiped when dropped, and never shown. For other processes
/// they are their number and the hexadecimal digits of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed(pub BitVec);

impl Packed {
    /// Returns the first `length` bits of these words.
    pub fn of_words(words: &[u64], length: usize) -> Packed {
        let mut bits = BitVec::zeros(length);
        bits.words_mut().copy_from_slice(words);
        bits.mask_tail();
        Packed(bits)
    }

    /// Appends bits.
    pub fn append(&mut self, bits: &[bool]) {
        for bits in bits.chunks(64) {
            let word = bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
            self.0.push_word(word, bits.len());
        }
    }

    /// Returns the bits of these wires, one `bool` each.
    pub fn part(&self, wires: Range<usize>) -> Vec<bool> {
        self.0.slice(wires).to_bools()
    }
}

impl From<Vec<bool>> for Packed {
    fn from(bits: Vec<bool>) -> Packed {
        Packed(bits.into())
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bytes = Zeroizing::new(self.0.to_bytes());
        (self.0.len(), &*Zeroizing::new(hex::encode(&*bytes))).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Packed, D::Error> {
        let (length, digits) = <(usize, String)>::deserialize(from)?;
        let bytes = hex::decode(&*Zeroizing::new(digits)).ok().map(Zeroizing::new);
        let bits = bytes.and_then(|bytes| BitVec::from_bytes(length, &bytes));
        bits.map(Packed).ok_or_else(|| D::Error::custom("the digits do not fit the number of bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_survive_and_others_are_refused() {
        for length in [0, 1, 8, 9, 200] {
            let bits = Packed((0..length).map(|i| i % 3 == 0).collect::<Vec<_>>().into());
            let text = serde_json::to_string(&bits).unwrap();
            assert_eq!(serde_json::from_str::<Packed>(&text).unwrap(), bits, "{text}");
        }
        for text in ["[9, \"ff\"]", "[9, \"ff02\"]", "[8, \"f\"]", "[8, \"fg\"]", "[-1, \"\"]"] {
            assert!(serde_json::from_str::<Packed>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Packed>("[18446744073709551615, \"ff\"]").is_err());
    }
}
