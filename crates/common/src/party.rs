//! The number of a party.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// A party's number; parties are numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[repr(transparent)]
pub struct PartyId(u16);

impl PartyId {
    /// The party with this number.
    pub const fn new(number: u16) -> Self {
        PartyId(number)
    }

    /// Parties 0 to `parties` - 1, of which there are at most 2^16.
    pub fn all(
        parties: impl Into<usize>,
    ) -> impl DoubleEndedIterator<Item = PartyId> + ExactSizeIterator + Clone {
        (0..parties.into()).map(|number| PartyId(number as u16))
    }

    /// The other of two parties: 1 for party 0, and 0 for party 1.
    pub const fn other_of_two(self) -> PartyId {
        PartyId(1 - self.0)
    }

    /// The number as it is written in messages and files.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The place of the party in a list of all parties.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number in bytes, as messages and hashes take it.
    pub const fn to_le_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    /// The number from its bytes.
    pub const fn from_le_bytes(bytes: [u8; 2]) -> Self {
        PartyId(u16::from_le_bytes(bytes))
    }
}

impl From<u16> for PartyId {
    fn from(number: u16) -> Self {
        PartyId(number)
    }
}

impl From<PartyId> for u16 {
    fn from(party: PartyId) -> u16 {
        party.0
    }
}

macro_rules! wider {
    ($($number:ty),*) => {$(
        impl From<PartyId> for $number {
            fn from(party: PartyId) -> $number {
                party.0.into()
            }
        }
    )*};
}

wider!(usize, u64, u128);

// Let code write `party == 0`.
impl PartialEq<u16> for PartyId {
    fn eq(&self, number: &u16) -> bool {
        self.0 == *number
    }
}

impl PartialEq<PartyId> for u16 {
    fn eq(&self, party: &PartyId) -> bool {
        *self == party.0
    }
}

impl FromStr for PartyId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(PartyId)
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number alone: messages print lists of parties.
impl fmt::Debug for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
