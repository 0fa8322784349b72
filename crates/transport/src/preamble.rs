//! The first bytes of every connection: the caller, the callee, and the lane.
//!
//! The dialling side sends its preamble, and the listening side answers with its own. Both have a
//! fixed length, so a stranger's bytes can neither make anybody wait for more nor cause
//! allocations. Over TLS the preamble follows the check of the keys.
//!
//! ```text
//!  0..8   magic "SYMBOLON"            14..16  receiver, u16
//!  8..10  wire version, u16           16..18  lane, u16
//! 10      verdict, u8                 18..20  lanes, u16
//! 11      zero                        20..52  token of the group of connections
//! 12..14  sender, u16                 52..64  zero
//! ```
//! All integers are little-endian.

use symbolon_common::PartyId;

use crate::{Error, Refusal, Result, Subject, TransportReason};

/// The version of everything between the transport and the handshake: preamble, headers, tags.
pub(crate) const WIRE_VERSION: u16 = 1;

/// The size of a preamble, in bytes.
pub const PREAMBLE: usize = 64;

const MAGIC: [u8; 8] = *b"SYMBOLON";

/// The listening side's answer to the dialling side, which always says `Hello`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Verdict {
    /// The opening.
    Hello = 0,
    /// The lane is accepted.
    Accepted = 1,
    /// The two preambles do not fit together.
    Refused = 2,
    /// The listening side has this lane already.
    Duplicate = 3,
}

/// A preamble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// The sender's wire version.
    pub version: u16,
    /// Whether this is the opening or an answer.
    pub verdict: Verdict,
    /// The party that sends this preamble.
    pub sender: PartyId,
    /// The intended receiver.
    pub receiver: PartyId,
    /// This connection's number in its group, from 0.
    pub lane: u16,
    /// The number of connections in the group.
    pub lanes: u16,
    /// A random token, chosen by the dialling side and the same for all connections of a group.
    pub token: [u8; 32],
}

/// Why bytes are not a preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPreamble {
    /// The bytes come from another program, or are noise.
    #[error("it does not speak this protocol")]
    Magic,
    /// The magic is right, but something after it is not.
    #[error("its preamble is malformed")]
    Malformed,
}

impl Preamble {
    /// Encodes the preamble.
    pub fn encode(&self) -> [u8; PREAMBLE] {
        let mut bytes = [0; PREAMBLE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_le_bytes());
        bytes[10] = self.verdict as u8;
        let numbers = [self.sender.number(), self.receiver.number(), self.lane, self.lanes];
        for (place, number) in bytes[12..20].chunks_exact_mut(2).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[20..52].copy_from_slice(&self.token);
        bytes
    }

    /// Decodes a preamble. The layout above is the same in all versions; the caller must compare
    /// versions first.
    ///
    /// # Errors
    /// The bytes are not a preamble.
    pub fn decode(bytes: &[u8; PREAMBLE]) -> std::result::Result<Self, NotAPreamble> {
        if bytes[..8] != MAGIC {
            return Err(NotAPreamble::Magic);
        }
        let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let version = number(8);
        let verdict = match bytes[10] {
            0 => Verdict::Hello,
            1 => Verdict::Accepted,
            2 => Verdict::Refused,
            3 => Verdict::Duplicate,
            _ => return Err(NotAPreamble::Malformed),
        };
        let padding = bytes[11] != 0 || bytes[52..].iter().any(|b| *b != 0);
        if version == WIRE_VERSION && padding {
            return Err(NotAPreamble::Malformed);
        }
        let mut token = [0; 32];
        token.copy_from_slice(&bytes[20..52]);
        let (sender, receiver) = (number(12).into(), number(14).into());
        let (lane, lanes) = (number(16), number(18));
        if version == WIRE_VERSION && lane >= lanes {
            return Err(NotAPreamble::Malformed);
        }
        Ok(Preamble { version, verdict, sender, receiver, lane, lanes, token })
    }

    /// Checks whether `theirs` matches `self`, this side's preamble. Both directions give the same
    /// result.
    ///
    /// # Errors
    /// The first difference, in words that make sense on either side.
    pub(crate) fn fits(&self, theirs: &Preamble) -> Result<()> {
        if theirs.version != self.version {
            let (ours, theirs) = (self.version.to_string(), theirs.version.to_string());
            return Err(Error::incompatible(Subject::Version("the wire version"), ours, theirs));
        }
        if theirs.sender == self.sender {
            let reason = TransportReason::Refused(Refusal::SameParty(self.sender));
            return Err(Error::Transport { party: None, reason });
        }
        if theirs.sender != self.receiver || theirs.receiver != self.sender {
            let say = |p: &Preamble| format!("party {} calls party {}", p.sender, p.receiver);
            let what = Subject::Parties("who talks to whom");
            return Err(Error::incompatible(what, say(self), say(theirs)));
        }
        if theirs.lanes != self.lanes {
            let (ours, theirs) = (self.lanes.to_string(), theirs.lanes.to_string());
            return Err(Error::incompatible(Subject::Lanes, ours, theirs));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn example() -> Preamble {
        Preamble {
            version: WIRE_VERSION,
            verdict: Verdict::Hello,
            sender: 1.into(),
            receiver: 0.into(),
            lane: 2,
            lanes: 4,
            token: [7; 32],
        }
    }

    #[test]
    fn differences_are_named() {
        let ours = Preamble { sender: 0.into(), receiver: 1.into(), ..example() };
        assert_eq!(ours.fits(&example()), Ok(()));
        let cases = [
            (Preamble { version: 9, ..example() }, "the wire version: ours 1, theirs 9"),
            (Preamble { sender: 0.into(), ..example() }, "both parties claim to be party 0"),
            (Preamble { sender: 2.into(), ..example() }, "theirs party 2 calls party 0"),
            (Preamble { receiver: 3.into(), ..example() }, "theirs party 1 calls party 3"),
            (Preamble { lanes: 3, ..example() }, "the number of lanes: ours 4, theirs 3"),
        ];
        for (theirs, text) in cases {
            let error = ours.fits(&theirs).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn noise_is_no_preamble() {
        let mut bytes = example().encode();
        assert_eq!(Preamble::decode(&bytes), Ok(example()));
        bytes[0] ^= 1;
        assert_eq!(Preamble::decode(&bytes), Err(NotAPreamble::Magic));
        for (at, value) in [(10, 4), (11, 1), (63, 1), (16, 4)] {
            let mut bytes = example().encode();
            bytes[at] = value;
            assert_eq!(Preamble::decode(&bytes), Err(NotAPreamble::Malformed), "byte {at}");
        }
        // Everything after the version may differ in another version.
        let mut bytes = example().encode();
        bytes[8] = 2;
        bytes[63] = 1;
        assert_eq!(Preamble::decode(&bytes).unwrap().version, 2);
    }

    #[test]
    fn every_verdict_comes_back() {
        for verdict in [Verdict::Hello, Verdict::Accepted, Verdict::Refused, Verdict::Duplicate] {
            let preamble = Preamble { verdict, ..example() };
            assert_eq!(Preamble::decode(&preamble.encode()), Ok(preamble));
        }
    }

    proptest! {
        #[test]
        fn whatever_decodes_encodes_to_the_same(mut bytes: [u8; PREAMBLE], magic: bool) {
            if magic {
                bytes[..8].copy_from_slice(&MAGIC);
                let verdict = bytes[10] % 6;
                bytes[8..12].copy_from_slice(&[1, 0, verdict, 0]);
                bytes[52..].fill(0);
            }
            if let Ok(preamble) = Preamble::decode(&bytes)
                && preamble.version == WIRE_VERSION
            {
                prop_assert_eq!(preamble.encode(), bytes);
            }
        }
    }
}
