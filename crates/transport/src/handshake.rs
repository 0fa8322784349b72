//! Agreement on what is computed, before anything is.
//!
//! Both sides send a fixed-size opening with a fresh nonce and then their whole [`Hello`], and only then
//! compare, so that a difference is reported on both sides with both values. The session id binds
//! both hellos, both nonces and the TLS connection; every hash and key of the protocols absorbs it.

use blake3::Hasher;

use crate::{Channel, Error, Result};

/// The version of the protocols' messages.
pub const PROTOCOL_VERSION: u32 = 1;

/// The longest encoded [`Hello`], in bytes.
pub const MAX_HELLO: usize = 16 << 10;

const NONCE_KIND: &str = "handshake nonce";
const HELLO_KIND: &str = "handshake hello";
const DOMAIN: &str = "symbolon 2026 session id v1";

/// What a party was asked to compute, with whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of the protocols' messages; [`PROTOCOL_VERSION`].
    pub version: u32,
    /// All parties of the computation, in an order that all agree on.
    pub parties: Vec<u16>,
    /// Everything public that the parties must agree on, as (name, value), each name once: protocol,
    /// parameters, circuit digest. The order is part of it.
    pub terms: Vec<(String, String)>,
}

impl Hello {
    /// A hello of this version, without terms.
    pub fn new(parties: impl Into<Vec<u16>>) -> Self {
        Hello { version: PROTOCOL_VERSION, parties: parties.into(), terms: Vec::new() }
    }

    /// Adds a term.
    pub fn term(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.terms.push((name.into(), value.to_string()));
        self
    }

    /// `sender`, `version`, the parties and the terms, with all lengths in front.
    fn encode(&self, sender: u16) -> Result<Vec<u8>> {
        let too_long = || {
            Error::invalid_input(format!("the session's terms are longer than {MAX_HELLO} bytes"))
        };
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&sender.to_le_bytes());
        let count = |n: usize| u16::try_from(n).map(u16::to_le_bytes).map_err(|_| too_long());
        bytes.extend_from_slice(&count(self.parties.len())?);
        for party in &self.parties {
            bytes.extend_from_slice(&party.to_le_bytes());
        }
        bytes.extend_from_slice(&count(self.terms.len())?);
        for (i, (name, value)) in self.terms.iter().enumerate() {
            if self.terms[..i].iter().any(|(other, _)| other == name) {
                let name = crate::text::printable(name);
                return Err(Error::internal(format!("the term `{name}` is given twice")));
            }
            for text in [name, value] {
                bytes.extend_from_slice(&count(text.len())?);
                bytes.extend_from_slice(text.as_bytes());
            }
        }
        if bytes.len() > MAX_HELLO { Err(too_long()) } else { Ok(bytes) }
    }
}

/// A decoded hello and the party that it names as its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The party that sent it, as it says.
    pub sender: u16,
    /// What it was asked to compute.
    pub hello: Hello,
}

/// Reads an encoded hello; `None` if the bytes are none.
///
/// Of a hello of another version only the version is read: the rest may look different there.
pub fn decode(bytes: &[u8]) -> Option<Received> {
    if bytes.len() > MAX_HELLO {
        return None;
    }
    let mut rest = bytes;
    let version = u32::from_le_bytes(take::<4>(&mut rest)?);
    if version != PROTOCOL_VERSION {
        let hello = Hello { version, parties: Vec::new(), terms: Vec::new() };
        return Some(Received { sender: 0, hello });
    }
    let sender = u16::from_le_bytes(take::<2>(&mut rest)?);
    let count = u16::from_le_bytes(take::<2>(&mut rest)?);
    // Nothing is reserved by a count: the lists grow with the bytes that are there.
    let mut parties = Vec::new();
    for _ in 0..count {
        parties.push(u16::from_le_bytes(take::<2>(&mut rest)?));
    }
    let count = u16::from_le_bytes(take::<2>(&mut rest)?);
    let mut terms = Vec::new();
    for _ in 0..count {
        terms.push((text(&mut rest)?, text(&mut rest)?));
    }
    rest.is_empty().then_some(Received { sender, hello: Hello { version, parties, terms } })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let len = usize::from(u16::from_le_bytes(take::<2>(rest)?));
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    std::str::from_utf8(head).ok().map(str::to_string)
}

/// The name of one run of a protocol between two parties, the same on both sides and never seen before.
///
/// Public between the two parties, unknown to others when the channel is encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; 32]);

impl SessionId {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionId({}…)", hex::encode(&self.0[..4]))
    }
}

/// Agrees with the peer of `channel` (lane 0) on everything in `mine`, and makes the session's id.
///
/// One message each way. Nothing that this side cannot know beforehand is ever allocated beyond
/// [`MAX_HELLO`] bytes.
///
/// # Errors
/// [`Error::PeerIncompatible`] naming the first difference, on both sides: the version, the parties, or
/// a term with both values. [`Error::PeerMisbehaved`] for a malformed, echoed or misattributed hello.
/// [`Error::InvalidInput`] if `mine` does not fit into [`MAX_HELLO`] bytes.
pub fn handshake(channel: &mut Channel, mine: &Hello) -> Result<SessionId> {
    let (me, peer) = (channel.me(), channel.peer());
    let my_hello = mine.encode(me)?;
    let mut my_nonce = [0; 32];
    getrandom::fill(&mut my_nonce)
        .map_err(|e| Error::internal(format!("the system gives no randomness: {e}")))?;
    channel.send(NONCE_KIND, &my_nonce)?;
    channel.send(HELLO_KIND, &my_hello)?;
    let their_nonce = channel.recv_array::<32>(NONCE_KIND)?;
    let their_hello = channel.recv_bounded(HELLO_KIND, MAX_HELLO)?;

    if their_nonce == my_nonce {
        return Err(Error::misbehaved_with(peer, "handshake", "it echoed our own nonce"));
    }
    let theirs = decode(&their_hello)
        .ok_or_else(|| Error::misbehaved_with(peer, "handshake", "its hello is malformed"))?;
    compare_versions(mine, &theirs.hello)?;
    if theirs.sender != peer {
        let detail = format!("its hello is party {}'s", theirs.sender);
        return Err(Error::misbehaved_with(peer, "handshake", detail));
    }
    compare(mine, &theirs.hello)?;

    let ours = Side { party: me, nonce: my_nonce, hello: my_hello };
    let theirs = Side { party: peer, nonce: their_nonce, hello: their_hello };
    Ok(session_id(ours, theirs, channel.binding()))
}

/// One side's part of the session id.
struct Side {
    party: u16,
    nonce: [u8; 32],
    hello: Vec<u8>,
}

fn session_id(a: Side, b: Side, binding: Option<&[u8; 32]>) -> SessionId {
    let ordered = if a.party < b.party { [a, b] } else { [b, a] };
    let mut hasher = Hasher::new_derive_key(DOMAIN);
    for side in ordered {
        hasher.update(&side.party.to_le_bytes());
        hasher.update(&side.nonce);
        hasher.update(&(side.hello.len() as u64).to_le_bytes());
        hasher.update(&side.hello);
    }
    // A channel without keying material must not be taken for one with: the first byte differs.
    match binding {
        Some(binding) => hasher.update(&[1]).update(binding),
        None => hasher.update(&[0]),
    };
    SessionId(*hasher.finalize().as_bytes())
}

fn compare_versions(ours: &Hello, theirs: &Hello) -> Result<()> {
    if ours.version == theirs.version {
        return Ok(());
    }
    let (ours, theirs) = (ours.version.to_string(), theirs.version.to_string());
    Err(Error::incompatible("the protocol version", ours, theirs))
}

/// Finds the first difference, in the order of the shared list; both sides find the same one.
fn compare(ours: &Hello, theirs: &Hello) -> Result<()> {
    let absent = || "absent".to_string();
    if ours.parties != theirs.parties {
        let list =
            |hello: &Hello| hello.parties.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
        return Err(Error::incompatible("the parties", list(ours), list(theirs)));
    }
    if ours.terms == theirs.terms {
        return Ok(());
    }
    let find = |hello: &Hello, name: &str| {
        hello.terms.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    };
    for i in 0..ours.terms.len().max(theirs.terms.len()) {
        // At the first place where the lists differ, a name may be missing on either side; the lesser
        // name is looked at first, so that both sides report the same.
        let mut names: Vec<&str> = [ours, theirs]
            .into_iter()
            .filter_map(|hello| hello.terms.get(i).map(|(name, _)| name.as_str()))
            .collect();
        names.sort_unstable();
        for name in names {
            let (our, their) = (find(ours, name), find(theirs, name));
            if our != their {
                let (our, their) = (our.unwrap_or_else(absent), their.unwrap_or_else(absent));
                return Err(Error::incompatible(name, our, their));
            }
        }
    }
    let names = |hello: &Hello| {
        hello.terms.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    };
    Err(Error::incompatible("the order of the terms", names(ours), names(theirs)))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::prelude::*;

    use super::*;
    use crate::bend::{Action, FnBend};
    use crate::tests::pair;

    fn example() -> Hello {
        Hello::new([0, 1]).term("protocol", "wrk").term("rho", 40).term("circuit", "ab12")
    }

    fn agree(
        (mut a, mut b): (Channel, Channel),
        hello_a: &Hello,
        hello_b: &Hello,
    ) -> (Result<SessionId>, Result<SessionId>) {
        thread::scope(|scope| {
            let other = scope.spawn(move || handshake(&mut a, hello_a));
            let mine = handshake(&mut b, hello_b);
            (other.join().unwrap(), mine)
        })
    }

    #[test]
    fn equal_hellos_agree_and_no_session_comes_twice() {
        let (a, b) = agree(pair(), &example(), &example());
        let first = a.unwrap();
        assert_eq!(first, b.unwrap());
        let (a, _) = agree(pair(), &example(), &example());
        assert_ne!(first, a.unwrap());
    }

    #[test]
    fn the_first_difference_is_named_on_both_sides() {
        let with = |f: fn(&mut Hello)| {
            let mut hello = example();
            f(&mut hello);
            hello
        };
        let cases = [
            (with(|h| h.version = 7), "the protocol version: ours 7, theirs 1"),
            (with(|h| h.parties.push(2)), "the parties: ours 0, 1, 2, theirs 0, 1"),
            (with(|h| h.terms[2].1 = "ff".into()), "circuit: ours ff, theirs ab12"),
            (with(|h| h.terms[1].1 = "80".into()), "rho: ours 80, theirs 40"),
            (with(|h| drop(h.terms.remove(1))), "rho: ours absent, theirs 40"),
            (with(|h| drop(h.terms.pop())), "circuit: ours absent, theirs ab12"),
            (with(|h| h.terms.swap(0, 1)), "the order of the terms"),
            (with(|h| h.terms.insert(0, ("aes".into(), "1".into()))), "aes: ours 1, theirs absent"),
        ];
        for (hello, text) in cases {
            let (a, b) = agree(pair(), &hello, &example());
            let (a, b) = (a.unwrap_err(), b.unwrap_err());
            assert!(a.to_string().contains(text), "{a}");
            match (a, b) {
                (
                    Error::PeerIncompatible { what: wa, ours: oa, theirs: ta },
                    Error::PeerIncompatible { what: wb, ours: ob, theirs: tb },
                ) => assert_eq!((wa, oa, ta), (wb, tb, ob)),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn echoes_and_impostors_are_refused() {
        // A peer that sends back whatever it gets.
        let (mut a, mut b) = pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                let nonce = b.recv_array::<32>(NONCE_KIND).unwrap();
                let hello = b.recv_bounded(HELLO_KIND, MAX_HELLO).unwrap();
                b.send(NONCE_KIND, &nonce).unwrap();
                b.send(HELLO_KIND, &hello).unwrap();
                b.close().unwrap();
            });
            let error = handshake(&mut a, &example()).unwrap_err().to_string();
            assert!(error.contains("echoed our own nonce"), "{error}");
        });
        // One that echoes the hello under its own nonce.
        let (mut a, mut b) = pair();
        b.send(NONCE_KIND, &[1; 32]).unwrap();
        b.send(HELLO_KIND, &example().encode(0).unwrap()).unwrap();
        b.flush().unwrap();
        let error = handshake(&mut a, &example()).unwrap_err().to_string();
        assert!(error.contains("its hello is party 0's"), "{error}");
    }

    #[test]
    fn malformed_hellos_are_the_peers_fault() {
        for cut in [0, 3, 5, 10, 20] {
            let (a, mut b) = pair();
            b.set_bend(Box::new(FnBend::new().on_message(HELLO_KIND, 0, move |hello| {
                hello.truncate(cut);
                Action::Send
            })));
            let (a, _) = agree((a, b), &example(), &example());
            assert!(matches!(a, Err(Error::PeerMisbehaved { party: 1, check: "handshake", .. })));
        }
    }

    #[test]
    fn the_connection_under_a_session_is_part_of_it() {
        // The same nonces and hellos over two connections: a relay between them gains nothing.
        let id = |binding: Option<[u8; 32]>| {
            let side = |party, nonce| Side { party, nonce: [nonce; 32], hello: vec![1, 2] };
            session_id(side(0, 5), side(1, 6), binding.as_ref())
        };
        assert_eq!(id(Some([1; 32])), id(Some([1; 32])));
        assert_ne!(id(Some([1; 32])), id(Some([2; 32])));
        assert_ne!(id(Some([0; 32])), id(None));
    }

    #[test]
    fn our_own_mistakes_are_ours() {
        let long = example().term("x", "y".repeat(MAX_HELLO));
        let (mut a, _b) = pair();
        assert!(matches!(handshake(&mut a, &long), Err(Error::InvalidInput(_))));
        let twice = example().term("rho", 80);
        assert!(matches!(handshake(&mut a, &twice), Err(Error::Internal(_))));
    }

    proptest! {
        #[test]
        fn hellos_survive_the_way(
            sender: u16,
            parties in proptest::collection::vec(any::<u16>(), 0..20),
            values in proptest::collection::vec(".{0,40}", 0..10),
        ) {
            let mut hello = Hello::new(parties);
            for (i, value) in values.into_iter().enumerate() {
                hello = hello.term(format!("term {i}"), value);
            }
            let bytes = hello.encode(sender).unwrap();
            prop_assert_eq!(decode(&bytes), Some(Received { sender, hello }));
            for cut in 4..bytes.len() {
                prop_assert_eq!(decode(&bytes[..cut]), None);
            }
        }

        #[test]
        fn any_bytes_decode_or_do_not(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
            versioned: bool,
        ) {
            if versioned && bytes.len() >= 12 {
                bytes[..4].copy_from_slice(&PROTOCOL_VERSION.to_le_bytes());
                let terms = bytes[10] % 4;
                bytes[6..12].copy_from_slice(&[1, 0, 0, 0, terms, 0]);
            }
            if let Some(received) = decode(&bytes)
                && received.hello.version == PROTOCOL_VERSION
            {
                let names: std::collections::HashSet<_> =
                    received.hello.terms.iter().map(|(name, _)| name).collect();
                if names.len() == received.hello.terms.len() {
                    prop_assert_eq!(received.hello.encode(received.sender).unwrap(), bytes);
                }
            }
        }
    }
}
