//! A party's request to the dealer.
//!
//! ```text
//!  0..2   version, u16           8..40  session id
//!  2..4   party, u16            40..48  AND gates, u64
//!  4..6   parties, u16          48..50  1 when keys follow, else 0
//!  6..8   evaluator, u16        50..64  zero
//! ```
//! A second message, whose length follows from the first, contains the input bits of every party
//! (u64 each), then the fingerprint of every party's key (32 bytes each). All integers are
//! little-endian.

use std::collections::HashSet;

use symbolon_transport::{Channel, Client, Error, Fingerprint, PartyId, Result, Subject};

use super::{CLOSING, SHARES, gates_in_chunk, inputs_in_chunk};
use crate::{checks, messages};

/// The maximum number of parties that a dealer deals to.
pub const MAX_PARTIES: usize = 256;

/// The maximum of each count in a request, whatever a dealer's limits: sums of such counts fit all
/// counters.
const MAX_COUNT: u64 = 1 << 40;

const VERSION: u16 = 2;
/// The length of the first message, in bytes.
pub const REQUEST_HEAD: usize = 64;
const MALFORMED: &str = "malformed";

/// The number of bytes in a message besides its payload.
const FRAME: u64 = 8;

/// The request of one party. All parties of a session send the same, except for the slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The session's id, on which the parties have agreed among themselves.
    pub session: [u8; 32],
    /// The slot: this party's number.
    pub party: PartyId,
    /// The party that evaluates. The last bit of its Δ differs.
    pub evaluator: PartyId,
    /// The number of AND gates to deal for.
    pub and_gates: u64,
    /// The number of input bits of each party; one entry per party.
    pub input_bits: Vec<u64>,
    /// The fingerprint of each party's key. Empty only over links without keys.
    pub keys: Vec<Fingerprint>,
}

/// The limits of a dealer for one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of AND gates.
    pub and_gates: u64,
    /// The number of input bits of all parties together.
    pub input_bits: u64,
}

impl Default for Limits {
    /// Returns the default limits: 2^32 AND gates, 2^28 input bits.
    fn default() -> Self {
        Limits { and_gates: 1 << 32, input_bits: 1 << 28 }
    }
}

impl Request {
    /// Returns the number of parties.
    pub fn parties(&self) -> usize {
        self.input_bits.len()
    }

    /// Returns the number of bytes that the dealer sends to `party`, including framing. With n
    /// parties, m input bits of this party in p chunks and g gates in q chunks, this is
    ///
    /// ```text
    /// 24 + (n − 1)·(16·m + 8·p) + (n − 1)·(64·g + 32·q)
    /// ```
    ///
    /// and party 0 receives another 8 bytes and one bit per gate, rounded up to bytes, for every
    /// chunk of gates. A chunk is ⌊8 192 / (n − 1)⌋ gates or ⌊32 768 / (n − 1)⌋ input bits; the
    /// last one contains the rest.
    ///
    /// # Panics
    /// If there is no such party.
    pub fn bytes_to_party(&self, party: PartyId) -> u64 {
        let peers = self.parties() as u64 - 1;
        let own = self.input_bits[usize::from(party)];
        let inputs = 16 * own + FRAME * own.div_ceil(inputs_in_chunk(self.parties()) as u64);
        let chunk = gates_in_chunk(self.parties()) as u64;
        let chunks = self.and_gates.div_ceil(chunk);
        let gates = SHARES as u64 * (16 * self.and_gates + FRAME * chunks);
        let mut bytes = FRAME + 16 + peers * (inputs + gates);
        if party == CLOSING {
            let (whole, rest) = (self.and_gates / chunk, self.and_gates % chunk);
            bytes += FRAME * chunks + whole * chunk.div_ceil(8) + rest.div_ceil(8);
        }
        bytes
    }

    /// Returns what is wrong with the request itself, if anything.
    fn fault(&self) -> Option<&'static str> {
        let parties = self.parties();
        let inputs = self.input_bits.iter().fold(0_u64, |sum, bits| sum.saturating_add(*bits));
        if !(2..=MAX_PARTIES).contains(&parties) {
            Some("a dealer deals to 2 to 256 parties")
        } else if usize::from(self.party) >= parties || usize::from(self.evaluator) >= parties {
            Some("there is no party of this number")
        } else if !self.keys.is_empty() && self.keys.len() != parties {
            Some("the keys are not one for each party")
        } else if self.keys.iter().collect::<HashSet<_>>().len() < self.keys.len() {
            Some("two parties have the same key")
        } else if self.and_gates > MAX_COUNT || inputs > MAX_COUNT {
            Some("more than a dealer can count")
        } else {
            None
        }
    }

    /// Checks the request before it is sent.
    pub(super) fn check(&self) -> Result<()> {
        self.fault().map_or(Ok(()), |fault| Err(Error::invalid_input(fault)))
    }

    /// Sends the request.
    pub(super) fn send(&self, channel: &mut Channel) -> Result<()> {
        let (head, table) = self.encode();
        channel.send(messages::DEALER_REQUEST, &head)?;
        channel.send(messages::DEALER_PARTIES, &table)?;
        channel.flush()
    }

    /// Encodes both messages of a valid request.
    pub fn encode(&self) -> ([u8; REQUEST_HEAD], Vec<u8>) {
        let mut head = [0; REQUEST_HEAD];
        let numbers =
            [VERSION, self.party.number(), self.parties() as u16, self.evaluator.number()];
        for (place, number) in head.chunks_exact_mut(2).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        head[8..40].copy_from_slice(&self.session);
        head[40..48].copy_from_slice(&self.and_gates.to_le_bytes());
        head[48] = u8::from(!self.keys.is_empty());
        let mut table = Vec::with_capacity(table_bytes(self.parties(), true));
        table.extend(self.input_bits.iter().flat_map(|bits| bits.to_le_bytes()));
        table.extend(self.keys.iter().flat_map(|key| key.0));
        (head, table)
    }

    /// Decodes the output of [`encode`](Request::encode), for this version.
    ///
    /// # Errors
    /// What is wrong: the table's length, or the request itself.
    pub fn decode(
        head: &[u8; REQUEST_HEAD],
        table: &[u8],
    ) -> std::result::Result<Self, &'static str> {
        let (Some(length), Some(parties)) = (Self::table_length(head), Self::parties_in(head))
        else {
            return Err(MALFORMED);
        };
        if table.len() != length {
            return Err(MALFORMED);
        }
        let (counts, keys) = table.split_at(8 * parties);
        let mut session = [0; 32];
        session.copy_from_slice(&head[8..40]);
        let request = Request {
            session,
            party: number(head, 2).into(),
            evaluator: number(head, 6).into(),
            and_gates: count(&head[40..48]),
            input_bits: counts.chunks_exact(8).map(count).collect(),
            keys: keys.chunks_exact(32).map(fingerprint).collect(),
        };
        request.fault().map_or(Ok(request), Err)
    }

    /// Returns the length of the second message after this first one; `None` if the first is
    /// malformed.
    pub fn table_length(head: &[u8; REQUEST_HEAD]) -> Option<usize> {
        let plain = head[48] <= 1 && head[49..] == [0; REQUEST_HEAD - 49];
        let parties = Self::parties_in(head).filter(|_| plain)?;
        Some(table_bytes(parties, head[48] == 1))
    }

    fn parties_in(head: &[u8; REQUEST_HEAD]) -> Option<usize> {
        Some(usize::from(number(head, 4))).filter(|parties| (2..=MAX_PARTIES).contains(parties))
    }

    /// Receives a client's request, and checks that the slot belongs to the client.
    ///
    /// Check: dealer | `dealer request`, with limits before allocation | malformed requests,
    /// another's slot | –
    ///
    /// # Errors
    /// `PeerMisbehaved` if it is not a request, or the client's number or key does not match the
    /// slot; `PeerIncompatible` for another version or if it exceeds the limits; `Transport`.
    pub(super) fn hear(client: &mut Client, limits: &Limits) -> Result<Request> {
        let channel = &mut client.channel;
        let head = channel.recv_array::<REQUEST_HEAD>(messages::DEALER_REQUEST)?;
        if number(&head, 0) != VERSION {
            let (ours, theirs) = (VERSION.to_string(), number(&head, 0).to_string());
            let what = Subject::Version("the version of the dealer's messages");
            return Err(Error::incompatible(what, ours, theirs));
        }
        let sender = channel.peer();
        let wrong = |why: &str| Error::misbehaved_with(sender, checks::DEALER_REQUEST, why);
        let length = Request::table_length(&head).ok_or_else(|| wrong(MALFORMED))?;
        let table = channel.recv(messages::DEALER_PARTIES, length)?;
        let request = Request::decode(&head, &table).map_err(wrong)?;
        if request.party != sender {
            return Err(wrong("the slot of another number than it connected with"));
        }
        if request.keys.get(usize::from(request.party)) != client.key.as_ref() {
            return Err(wrong("the slot of another key than its own"));
        }
        request.within(limits)?;
        Ok(request)
    }

    fn within(&self, limits: &Limits) -> Result<()> {
        let inputs: u64 = self.input_bits.iter().sum();
        let counts = [
            ("the number of AND gates", limits.and_gates, self.and_gates),
            ("the number of input bits", limits.input_bits, inputs),
        ];
        match counts.into_iter().find(|(_, most, wanted)| wanted > most) {
            None => Ok(()),
            Some((what, most, wanted)) => {
                let what = Subject::Request(what.to_string());
                Err(Error::incompatible(what, format!("at most {most}"), wanted.to_string()))
            }
        }
    }

    /// Returns the first difference between two parties' requests, if there is one.
    ///
    /// Check: dealer | all requests are equal, and name one key for each party | one party in two
    /// roles; different counts | –
    pub(super) fn difference(&self, other: &Request) -> Option<Difference> {
        let first = |what: String, ours: String, theirs: String| {
            let values = [(self.party, ours), (other.party, theirs)];
            (values[0].1 != values[1].1).then_some(Difference { what, values })
        };
        let plain =
            |what: &str, of: fn(&Request) -> String| first(what.into(), of(self), of(other));
        plain("the session", |r| Fingerprint(r.session).to_string())
            .or_else(|| plain("the number of parties", |r| r.parties().to_string()))
            .or_else(|| plain("the evaluator", |r| format!("party {}", r.evaluator)))
            .or_else(|| plain("the number of AND gates", |r| r.and_gates.to_string()))
            .or_else(|| plain("the use of keys", |r| (!r.keys.is_empty()).to_string()))
            .or_else(|| {
                let pairs = self.input_bits.iter().zip(&other.input_bits).enumerate();
                pairs.into_iter().find_map(|(party, (ours, theirs))| {
                    let what = format!("the input bits of party {party}");
                    first(what, ours.to_string(), theirs.to_string())
                })
            })
            .or_else(|| {
                let pairs = self.keys.iter().zip(&other.keys).enumerate();
                pairs.into_iter().find_map(|(party, (ours, theirs))| {
                    let what = format!("the key of party {party}");
                    first(what, ours.to_string(), theirs.to_string())
                })
            })
    }
}

/// A difference between the requests of two parties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    what: String,
    values: [(PartyId, String); 2],
}

impl Difference {
    /// Returns the dealer's error.
    pub fn error(&self) -> Error {
        let [ours, theirs] =
            self.values.each_ref().map(|(p, value)| format!("{value} (party {p})"));
        Error::incompatible(Subject::Request(self.what.clone()), ours, theirs)
    }

    /// Returns what the parties are told.
    pub fn words(&self) -> String {
        let [(p, ours), (q, theirs)] = &self.values;
        format!("the parties disagree on {}: {ours} (party {p}), {theirs} (party {q})", self.what)
    }
}

fn table_bytes(parties: usize, keyed: bool) -> usize {
    parties * if keyed { 8 + 32 } else { 8 }
}

fn number(head: &[u8; REQUEST_HEAD], at: usize) -> u16 {
    u16::from_le_bytes([head[at], head[at + 1]])
}

fn count(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn fingerprint(bytes: &[u8]) -> Fingerprint {
    let mut digest = [0; 32];
    digest.copy_from_slice(bytes);
    Fingerprint(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(and_gates: u64, input_bits: &[u64]) -> Request {
        let (session, input_bits) = ([1; 32], input_bits.to_vec());
        Request {
            session,
            party: 0.into(),
            evaluator: 1.into(),
            and_gates,
            input_bits,
            keys: Vec::new(),
        }
    }

    #[test]
    fn the_largest_numbers_are_allowed_and_no_larger_ones() {
        let most = MAX_COUNT;
        for (gates, inputs, right) in [
            (most, [0, 0], true),
            (most + 1, [0, 0], false),
            (0, [most - 1, 1], true),
            (0, [most, 1], false),
            (0, [u64::MAX, u64::MAX], false),
        ] {
            assert_eq!(request(gates, &inputs).check().is_ok(), right, "{gates} {inputs:?}");
        }
        assert!(request(0, &[0; MAX_PARTIES]).check().is_ok());
        for parties in [1, MAX_PARTIES + 1] {
            let fault = request(0, &vec![0; parties]).fault();
            assert_eq!(fault, Some("a dealer deals to 2 to 256 parties"));
        }

        let limits = Limits { and_gates: 10, input_bits: 5 };
        for (gates, inputs, right) in
            [(10, [2, 3], true), (11, [0, 0], false), (0, [3, 3], false), (10, [5, 0], true)]
        {
            assert_eq!(
                request(gates, &inputs).within(&limits).is_ok(),
                right,
                "{gates} {inputs:?}"
            );
        }
    }

    #[test]
    fn two_slots_for_one_key_are_refused() {
        let fault = "two parties have the same key";
        for (keys, right) in
            [([7, 8, 9], true), ([7, 7, 9], false), ([7, 8, 7], false), ([9, 8, 8], false)]
        {
            let keys = keys.map(|byte| Fingerprint([byte; 32])).to_vec();
            let asked = Request { keys, ..request(1, &[1, 1, 1]) };
            let (head, table) = asked.encode();
            let expected = if right { Ok(asked) } else { Err(fault) };
            assert_eq!(Request::decode(&head, &table), expected);
        }
    }

    #[test]
    fn the_use_of_keys_is_told_as_it_is() {
        let (without, key) = (request(1, &[1, 1]), Fingerprint([7; 32]));
        let with = Request { party: 1.into(), keys: vec![key; 2], ..without.clone() };
        let words = without.difference(&with).unwrap().words();
        let expected = "the parties disagree on the use of keys: false (party 0), true (party 1)";
        assert_eq!(words, expected);
    }
}
