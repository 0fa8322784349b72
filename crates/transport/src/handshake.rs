//! Agreement on what to compute, before anything is computed.
//!
//! Both sides send a fixed-size opening with a fresh nonce and then their whole [`Hello`]. Only
//! then do they compare, so a difference is reported on both sides with both values. The session id
//! binds both hellos, both nonces and the TLS connection, and every hash and key of the protocols
//! absorbs it.

use blake3::Hasher;

use symbolon_common::PartyId;

use crate::checks::HANDSHAKE;
use crate::messages::{HELLO, NONCE};
use crate::{Channel, Error, Result, Subject};

/// The version of the protocols' messages.
pub const PROTOCOL_VERSION: u32 = 28;

/// The maximum length of an encoded [`Hello`], in bytes.
pub const MAX_HELLO: usize = 16 << 10;

/// The maximum length of a [`Hello::note`], in bytes.
pub const MAX_NOTE: usize = 64;

/// The value of an open term, on the wire and for people.
pub const AUTO: &str = "auto";

const DOMAIN: &str = "symbolon 2026 session id v1";

/// What a party wants to compute, and with whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of the protocols' messages; [`PROTOCOL_VERSION`].
    pub version: u32,
    /// All parties of the computation, in an order that all agree on.
    pub parties: Vec<PartyId>,
    /// Everything public on which the parties must agree, as (name, value), each name once:
    /// protocol, parameters, circuit digest. The order matters.
    pub terms: Vec<(String, String)>,
    /// Terms that a party may leave open, as `None`. Parties with a value decide them, or they are
    /// settled after the handshake. Two different values are a difference, as for any other term.
    pub open: Vec<(String, Option<String>)>,
    /// Text that is shown with a term if the parties differ in it, as (name, text). It is not
    /// compared: a circuit may have different names on the two sides.
    pub notes: Vec<(String, String)>,
}

impl Hello {
    /// Returns a hello of this version, without terms.
    pub fn new<P: Into<PartyId>>(parties: impl IntoIterator<Item = P>) -> Self {
        Hello {
            version: PROTOCOL_VERSION,
            parties: parties.into_iter().map(Into::into).collect(),
            terms: Vec::new(),
            open: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a term.
    pub fn term(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.terms.push((name.into(), value.to_string()));
        self
    }

    /// Adds a term that may be left open. No value may be [`AUTO`].
    pub fn negotiable(mut self, name: impl Into<String>, value: Option<impl ToString>) -> Self {
        self.open.push((name.into(), value.map(|value| value.to_string())));
        self
    }

    /// Adds a note of at most 64 bytes on the terms whose names begin with `name`.
    pub fn note(mut self, name: impl Into<String>, text: &str) -> Self {
        let mut end = text.len().min(MAX_NOTE);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.notes.push((name.into(), text[..end].to_string()));
        self
    }

    /// Returns the note on a term, if there is one.
    fn note_on(&self, term: &str) -> Option<&str> {
        let found = self.notes.iter().find(|(name, _)| term.starts_with(name.as_str()));
        found.map(|(_, text)| text.as_str())
    }

    /// Returns the names and texts of the open terms.
    fn open_texts(&self) -> Vec<(&str, &str)> {
        self.open.iter().map(|(name, text)| (&**name, text.as_deref().unwrap_or(AUTO))).collect()
    }

    /// Returns the names and texts of the other terms.
    fn texts(&self) -> Vec<(&str, &str)> {
        self.terms.iter().map(|(name, text)| (&**name, &**text)).collect()
    }

    /// Encodes `sender`, the version, the parties, both lists of terms and the notes, each with its
    /// length in front.
    fn encode(&self, sender: PartyId) -> Result<Vec<u8>> {
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
        let (terms, open) = (self.texts(), self.open_texts());
        let mut names: Vec<&str> = terms.iter().chain(&open).map(|(name, _)| *name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = crate::text::printable(twice[0]);
            return Err(Error::internal(format!("the term `{name}` is given twice")));
        }
        let notes = self.notes.iter().map(|(name, text)| (&**name, &**text)).collect();
        for list in [terms, open, notes] {
            bytes.extend_from_slice(&count(list.len())?);
            for text in list.into_iter().flat_map(|(name, value)| [name, value]) {
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
    /// The claimed sender.
    pub sender: PartyId,
    /// The sender's hello.
    pub hello: Hello,
}

/// Decodes a hello; returns `None` if the bytes are not a hello.
///
/// For a hello of another version, only the version is read: the rest may have another format.
pub fn decode(bytes: &[u8]) -> Option<Received> {
    if bytes.len() > MAX_HELLO {
        return None;
    }
    let mut rest = bytes;
    let version = u32::from_le_bytes(take::<4>(&mut rest)?);
    if version != PROTOCOL_VERSION {
        return Some(Received {
            sender: PartyId::new(0),
            hello: Hello { version, ..Hello::new::<PartyId>([]) },
        });
    }
    let sender = PartyId::from_le_bytes(take::<2>(&mut rest)?);
    let count = u16::from_le_bytes(take::<2>(&mut rest)?);
    // No memory is reserved by a count: the lists grow with the bytes that are there.
    let mut parties = Vec::new();
    for _ in 0..count {
        parties.push(PartyId::from_le_bytes(take::<2>(&mut rest)?));
    }
    let count = u16::from_le_bytes(take::<2>(&mut rest)?);
    let mut terms = Vec::new();
    for _ in 0..count {
        terms.push((text(&mut rest)?, text(&mut rest)?));
    }
    let count = u16::from_le_bytes(take::<2>(&mut rest)?);
    let mut open = Vec::new();
    for _ in 0..count {
        let (name, value) = (text(&mut rest)?, text(&mut rest)?);
        open.push((name, Some(value).filter(|value| value != AUTO)));
    }
    let count = u16::from_le_bytes(take::<2>(&mut rest)?);
    let mut notes = Vec::new();
    for _ in 0..count {
        notes.push((text(&mut rest)?, text(&mut rest)?));
    }
    let hello = Hello { version, parties, terms, open, notes };
    rest.is_empty().then_some(Received { sender, hello })
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

/// The id of one run of a protocol between two parties, the same on both sides and fresh.
///
/// It is public between the two parties, and unknown to others if the channel is encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; 32]);

impl SessionId {
    /// Returns the bytes of the id.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionId({}…)", hex::encode(&self.0[..4]))
    }
}

/// The result of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The session id, which binds both hellos, including open terms.
    pub id: SessionId,
    /// The peer's values of the open terms, in the order of this party's. If both parties have a
    /// value, it is the same.
    pub open: Vec<Option<String>>,
}

/// Agrees with the peer of `channel` (lane 0) on everything in `mine`, and derives the session id.
///
/// As [`handshake_open`], for hellos without open terms.
///
/// # Errors
/// As [`handshake_open`].
pub fn handshake(channel: &mut Channel, mine: &Hello) -> Result<SessionId> {
    handshake_open(channel, mine).map(|agreed| agreed.id)
}

/// Agrees with the peer of `channel` (lane 0) on everything in `mine` that is not left open, learns
/// the peer's open terms, and derives the session id.
///
/// Sends one message each way. Data of unknown length never make this side allocate more than
/// [`MAX_HELLO`] bytes.
///
/// # Errors
/// [`Error::PeerIncompatible`] with the first difference, on both sides: the version, the parties,
/// or a term with both values. [`Error::PeerMisbehaved`] for a malformed, echoed or misattributed
/// hello. [`Error::InvalidInput`] if `mine` does not fit into [`MAX_HELLO`] bytes.
pub fn handshake_open(channel: &mut Channel, mine: &Hello) -> Result<Agreed> {
    Handshake::begin(channel, mine)?.finish(channel)
}

/// A [`handshake_open`] whose own message was sent. With several peers, all handshakes can be begun
/// before the first wait.
pub struct Handshake<'a> {
    mine: &'a Hello,
    ours: Side,
}

impl<'a> Handshake<'a> {
    /// Sends this side's message, which leaves with the next flush or receive.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if `mine` does not fit into [`MAX_HELLO`] bytes;
    /// [`Error::Transport`] if the connection is lost.
    pub fn begin(channel: &mut Channel, mine: &'a Hello) -> Result<Self> {
        let party = channel.me();
        let hello = mine.encode(party)?;
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce)
            .map_err(|e| Error::internal(format!("the system gives no randomness: {e}")))?;
        channel.send(NONCE, &nonce)?;
        channel.send(HELLO, &hello)?;
        Ok(Handshake { mine, ours: Side { party, nonce, hello } })
    }

    /// Receives the peer's message on the same channel, and compares.
    ///
    /// Check: handshake | `handshake`: a well-formed hello of its sender, not our own nonce; all
    /// parameters, from one list (`symbolon/src/params.rs`), and the circuit's digest are equal |
    /// an echo; another circuit or parameter, which would make an honest party look like a cheat |
    /// 2^-128
    ///
    /// # Errors
    /// As [`handshake_open`].
    pub fn finish(self, channel: &mut Channel) -> Result<Agreed> {
        let Handshake { mine, ours } = self;
        let peer = channel.peer();
        let nonce = channel.recv_array::<32>(NONCE)?;
        let hello = channel.recv_bounded(HELLO, MAX_HELLO)?;

        if nonce == ours.nonce {
            return Err(Error::misbehaved_with(peer, HANDSHAKE, "it echoed our own nonce"));
        }
        let theirs = decode(&hello)
            .ok_or_else(|| Error::misbehaved_with(peer, HANDSHAKE, "its hello is malformed"))?;
        compare_versions(mine, &theirs.hello)?;
        if theirs.sender != peer {
            let detail = format!("its hello is party {}'s", theirs.sender);
            return Err(Error::misbehaved_with(peer, HANDSHAKE, detail));
        }
        compare(mine, &theirs.hello).map_err(|error| with_notes(error, mine, &theirs.hello))?;

        let open = theirs.hello.open.into_iter().map(|(_, value)| value).collect();
        let theirs = Side { party: peer, nonce, hello };
        Ok(Agreed { id: session_id(ours, theirs, channel.binding()), open })
    }
}

/// One side's part of the session id.
struct Side {
    party: PartyId,
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
    // The first byte differs, so that a channel without keying material cannot pass for one with
    // it.
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
    Err(Error::incompatible(Subject::Version("the protocol version"), ours, theirs))
}

/// Reduces a difference between two lists of a circuit's parts to the first item that differs.
/// These lists have one item per line. Returns other differences unchanged.
fn first_item((what, ours, theirs): (Subject, String, String)) -> (Subject, String, String) {
    let Subject::Term(term) = &what else { return (what, ours, theirs) };
    if !term.starts_with("circuit ") {
        return (what, ours, theirs);
    }
    if !ours.contains('\n') && !theirs.contains('\n') {
        return (Subject::Circuit(term.clone()), ours, theirs);
    }
    let lists = [&ours, &theirs].map(|text| text.lines().collect::<Vec<_>>());
    let pairs = lists[0].iter().zip(&lists[1]);
    let place = pairs.take_while(|(ours, theirs)| ours == theirs).count();
    let item = |list: &[&str]| list.get(place).copied().unwrap_or("none").to_string();
    (Subject::Circuit(format!("{term} {place}")), item(&lists[0]), item(&lists[1]))
}

/// Adds both parties' notes to a difference.
fn with_notes(error: Error, ours: &Hello, theirs: &Hello) -> Error {
    let Error::PeerIncompatible { what, ours: our, theirs: their } = error else { return error };
    let (what, our, their) = first_item((what, our, their));
    match (ours.note_on(what.code()), theirs.note_on(what.code())) {
        (Some(our_note), Some(their_note)) => Error::PeerIncompatible {
            ours: format!("{our} ({our_note})"),
            theirs: format!("{their} ({their_note})"),
            what,
        },
        _ => Error::PeerIncompatible { what, ours: our, theirs: their },
    }
}

/// Finds the first difference, in the order of the shared lists. Both sides find the same one.
fn compare(ours: &Hello, theirs: &Hello) -> Result<()> {
    if ours.parties != theirs.parties {
        let list = |hello: &Hello| {
            hello.parties.iter().map(PartyId::to_string).collect::<Vec<_>>().join(", ")
        };
        return Err(Error::incompatible(Subject::Parties("the parties"), list(ours), list(theirs)));
    }
    compare_terms(&ours.texts(), &theirs.texts(), |our, their| our != their)?;
    compare_terms(&ours.open_texts(), &theirs.open_texts(), |our, their| {
        our != their && our != AUTO && their != AUTO
    })
}

/// Finds the first difference in one list of names and values; `differ` decides whether two values
/// differ.
fn compare_terms(
    ours: &[(&str, &str)],
    theirs: &[(&str, &str)],
    differ: fn(&str, &str) -> bool,
) -> Result<()> {
    let find = |list: &[(&str, &str)], name: &str| {
        list.iter().find(|(other, _)| *other == name).map(|(_, value)| value.to_string())
    };
    for i in 0..ours.len().max(theirs.len()) {
        // At the first position where the lists differ, either side may lack a name. The lesser
        // name is compared first, so that both sides report the same.
        let mut names: Vec<&str> =
            [ours, theirs].into_iter().filter_map(|list| list.get(i)).map(|term| term.0).collect();
        names.sort_unstable();
        for name in names {
            let (our, their) = match (find(ours, name), find(theirs, name)) {
                (Some(our), Some(their)) if !differ(&our, &their) => continue,
                pair => pair,
            };
            let text = |value: Option<String>| value.unwrap_or_else(|| "absent".to_string());
            return Err(Error::incompatible(name, text(our), text(their)));
        }
    }
    let [ours, theirs] =
        [ours, theirs].map(|list| list.iter().map(|term| term.0).collect::<Vec<_>>());
    if ours == theirs {
        return Ok(());
    }
    Err(Error::incompatible("the order of the terms", ours.join(", "), theirs.join(", ")))
}

#[cfg(test)]
mod tests;
