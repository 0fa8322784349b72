//! Agreement among all parties, and the id of their session.
//!
//! Every two parties shake hands, which compares everything public. With two parties, the session's
//! id comes from that handshake. More than two parties derive one id that all share:
//!
//! ```text
//! i → all j   nonce_i                              session = H(what was said, nonce_0 … nonce_n-1)
//! i → j       H(session, id of the handshake i–j)  compared
//! ```
//!
//! The nonces go out right after the handshakes' own messages, before any party waits. The nonces,
//! and the terms that each party leaves open or not, are broadcasts, so they are confirmed pairwise
//! before they are used. The id of a pair's handshake binds the connection below it, and the
//! comparison binds that id to the session: this stops a relay between two connections. An honest
//! party's nonce makes the id fresh, even if another party chooses its nonce last.

use blake3::Hasher;
use symbolon_interaction::BROADCAST_CHECK;
use symbolon_transport::{
    self as transport, AUTO, Channel, Culprit, Error, Handshake, Hello, PartyId, Result, SessionId,
};

use crate::checks;
use crate::connect::by_party;
use crate::messages::{GROUP_ECHO, GROUP_NONCE};

const DOMAIN: &str = "symbolon 2026 group session id v2";
const ECHO_DOMAIN: &str = "symbolon 2026 group session echo v1";

/// What all parties agreed on.
#[derive(Debug)]
pub(crate) struct Agreed {
    /// The session's id. It binds everything that was said, including open terms.
    pub session: [u8; 32],
    /// Every party's open terms, by party number, in the order of the hello.
    pub open: Vec<Vec<Option<String>>>,
}

impl Agreed {
    /// Returns every party's value of the open term with index `place`.
    pub fn wishes(&self, place: usize) -> impl Iterator<Item = Option<&str>> {
        self.open.iter().map(move |terms| terms.get(place).and_then(|value| value.as_deref()))
    }

    /// Checks that no two parties have different values of an open term.
    ///
    /// The handshakes compared this party's values with all others', so a difference found here is
    /// between two other parties.
    fn check_wishes(&self, hello: &Hello) -> Result<()> {
        for (place, (name, _)) in hello.open.iter().enumerate() {
            let wishes = (0u16..).zip(self.wishes(place));
            let mut wishes = wishes.filter_map(|(party, wish)| Some((party, wish?)));
            let Some((first, known)) = wishes.next() else { continue };
            if let Some((party, wish)) = wishes.find(|(_, wish)| *wish != known) {
                let theirs = format!("{known} (party {first}) and {wish} (party {party})");
                return Err(Error::incompatible(name, AUTO, theirs));
            }
        }
        Ok(())
    }
}

/// Agrees with every peer on `hello`; returns the session's id and the open terms. `peers` must be
/// in ascending order.
///
/// Check: session id, n > 2 | everyone's nonce, none our own (`group nonce`), compared pairwise
/// (`broadcast echo`) | different sessions among honest parties | 2^-128
///
/// # Errors
/// `PeerIncompatible` with the first difference and, among several peers, the party that differs;
/// `PeerMisbehaved` if a peer told others a different nonce; `Transport` if a connection is lost.
pub(crate) fn agree(peers: &mut [Channel], hello: &Hello) -> Result<Agreed> {
    let me = peers.first().map_or(PartyId::new(0), Channel::me);
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce)
        .map_err(|e| Error::internal(format!("the system gives no randomness: {e}")))?;
    let shaken = shake_hands(peers, hello, &nonce)?;
    let (pairs, mut open): (Vec<SessionId>, Vec<_>) =
        shaken.into_iter().map(|transport::Agreed { id, open }| (id, open)).unzip();
    open.insert(usize::from(me), hello.open.iter().map(|(_, value)| value.clone()).collect());
    let mut agreed = Agreed { session: [0; 32], open };
    agreed.check_wishes(hello)?;
    if let [pair] = pairs[..] {
        return Ok(Agreed { session: pair.0, ..agreed });
    }
    let mut nonces = Vec::with_capacity(peers.len() + 1);
    for peer in peers.iter_mut() {
        let theirs = peer.recv_array::<32>(GROUP_NONCE)?;
        if theirs == nonce {
            return Err(Error::misbehaved(peer.peer(), checks::GROUP_NONCE));
        }
        nonces.push(theirs);
    }
    nonces.insert(usize::from(me), nonce);
    let session = session_id(hello, &agreed.open, &nonces);
    agreed.session = session;
    let echo = |pair: &SessionId| {
        let mut hasher = Hasher::new_derive_key(ECHO_DOMAIN);
        *hasher.update(&session).update(&pair.0).finalize().as_bytes()
    };
    for (peer, pair) in peers.iter_mut().zip(&pairs) {
        peer.send_parts(GROUP_ECHO, &[&me.to_le_bytes(), &echo(pair)])?;
        peer.flush()?;
    }
    for (peer, pair) in peers.iter_mut().zip(&pairs) {
        let theirs = peer.recv_array::<34>(GROUP_ECHO)?;
        if theirs[..2] != peer.peer().to_le_bytes() || theirs[2..] != echo(pair) {
            // The culprit is that peer, or the party that sent it a different nonce than us.
            return Err(Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK));
        }
    }
    Ok(agreed)
}

/// Shakes hands with all peers, even if one handshake fails: a party that differs from one of
/// several also differs from others, and each of them should see the difference rather than a
/// closed connection.
///
/// All handshakes are begun before the first wait. Several peers also receive this party's nonce.
fn shake_hands(
    peers: &mut [Channel],
    hello: &Hello,
    nonce: &[u8; 32],
) -> Result<Vec<transport::Agreed>> {
    let several = peers.len() > 1;
    let begin = |peer: &mut Channel| {
        let begun = Handshake::begin(peer, hello)?;
        if several {
            peer.send(GROUP_NONCE, nonce)?;
        }
        peer.flush()?;
        Ok(begun)
    };
    let begun: Vec<Result<Handshake<'_>>> = peers.iter_mut().map(begin).collect();
    let mut pairs = Vec::with_capacity(peers.len());
    let mut failed: Option<Error> = None;
    for (peer, begun) in peers.iter_mut().zip(begun) {
        match begun.and_then(|begun| begun.finish(peer)) {
            Ok(pair) => pairs.push(pair),
            Err(error) => {
                let error = if several { by_party(error, peer.peer()) } else { error };
                // A lost connection may only be the consequence of a difference.
                let worse = !matches!(error, Error::Transport { .. });
                if failed.is_none() || worse && matches!(failed, Some(Error::Transport { .. })) {
                    failed = Some(error);
                }
            }
        }
    }
    match failed {
        None => Ok(pairs),
        Some(error) => Err(error),
    }
}

fn session_id(hello: &Hello, open: &[Vec<Option<String>>], nonces: &[[u8; 32]]) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key(DOMAIN);
    hasher.update(&hello.version.to_le_bytes());
    hasher.update(&(hello.parties.len() as u64).to_le_bytes());
    for party in &hello.parties {
        hasher.update(&party.to_le_bytes());
    }
    hasher.update(&(hello.terms.len() as u64).to_le_bytes());
    for text in hello.terms.iter().flat_map(|(name, value)| [name, value]) {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.update(&(hello.open.len() as u64).to_le_bytes());
    for (place, (name, _)) in hello.open.iter().enumerate() {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        for value in open.iter().map(|values| values[place].as_deref()) {
            let text = value.unwrap_or_default();
            hasher.update(&[u8::from(value.is_some())]);
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
    }
    for nonce in nonces {
        hasher.update(nonce);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::thread;

    use super::*;
    use crate::Transport;
    use crate::connect::TransportKind;

    fn hello(parties: u16) -> Hello {
        Hello::new((0..parties).collect::<Vec<_>>()).term("circuit", "ab12")
    }

    /// Returns every party's channels to the others.
    pub(crate) fn mesh(parties: u16) -> Vec<Vec<Channel>> {
        let ends = Transport::memory_mesh(parties, 1, None).unwrap();
        let lane = |end: Transport| match end.0 {
            TransportKind::Channels { mut lanes, .. } => lanes.remove(0),
            other => panic!("{other:?}"),
        };
        ends.into_iter().map(lane).collect()
    }

    /// Runs party 2 of three, which shakes hands and then sends each of the others a different
    /// nonce.
    fn against_two_nonces(nonces: [[u8; 32]; 2]) -> Vec<Result<Agreed>> {
        let mut ends = mesh(3);
        let mut cheat = ends.pop().unwrap();
        thread::scope(|scope| {
            let honest: Vec<_> =
                ends.iter_mut().map(|peers| scope.spawn(move || agree(peers, &hello(3)))).collect();
            let pairs: Vec<_> = cheat
                .iter_mut()
                .map(|peer| transport::handshake(peer, &hello(3)).unwrap())
                .collect();
            let mut theirs = Vec::new();
            for (peer, nonce) in cheat.iter_mut().zip(&nonces) {
                theirs.push(peer.recv_array::<32>(GROUP_NONCE).unwrap());
                peer.send(GROUP_NONCE, nonce).unwrap();
                peer.flush().unwrap();
            }
            // Sends each of the others the echo that it expects.
            for ((peer, pair), nonce) in cheat.iter_mut().zip(&pairs).zip(&nonces) {
                let session = session_id(
                    &hello(3),
                    &[vec![], vec![], vec![]],
                    &[theirs[0], theirs[1], *nonce],
                );
                let mut hasher = Hasher::new_derive_key(ECHO_DOMAIN);
                let echo = hasher.update(&session).update(&pair.0).finalize();
                peer.send_parts(GROUP_ECHO, &[&2u16.to_le_bytes(), echo.as_bytes()]).unwrap();
                peer.flush().unwrap();
            }
            honest.into_iter().map(|party| party.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_parties_share_one_fresh_id() {
        let mut seen = Vec::new();
        for parties in [2, 3, 5, 3] {
            let mut ends = mesh(parties);
            let ids: Vec<[u8; 32]> = thread::scope(|scope| {
                let all: Vec<_> = ends
                    .iter_mut()
                    .map(|peers| {
                        scope.spawn(move || agree(peers, &hello(parties)).unwrap().session)
                    })
                    .collect();
                all.into_iter().map(|party| party.join().unwrap()).collect()
            });
            assert!(ids.iter().all(|id| *id == ids[0]));
            assert!(!seen.contains(&ids[0]));
            seen.push(ids[0]);
        }
    }

    /// The last peer receives everything that does not depend on it while the first one is silent.
    #[test]
    fn all_are_told_before_any_is_waited_for() {
        let mut ends = mesh(3);
        let mut last = ends.pop().unwrap();
        let silent = ends.pop().unwrap();
        let mut own = ends.pop().unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(move || agree(&mut own, &hello(3)));
            transport::handshake(&mut last[0], &hello(3)).unwrap();
            assert_ne!(last[0].recv_array::<32>(GROUP_NONCE).unwrap(), [0; 32]);
            drop(silent);
            assert!(matches!(waits.join().unwrap(), Err(Error::Transport { .. })));
        });
    }

    /// Cheat: 3; one | session's id | each party's own nonce sent back to it | `group nonce` |
    /// always
    #[test]
    fn a_nonce_sent_back_is_refused() {
        let mut ends = mesh(3);
        let mut cheat = ends.pop().unwrap();
        let ended: Vec<Result<Agreed>> = thread::scope(|scope| {
            let honest: Vec<_> =
                ends.iter_mut().map(|peers| scope.spawn(move || agree(peers, &hello(3)))).collect();
            for peer in &mut cheat {
                transport::handshake(peer, &hello(3)).unwrap();
            }
            for peer in &mut cheat {
                let nonce = peer.recv_array::<32>(GROUP_NONCE).unwrap();
                peer.send(GROUP_NONCE, &nonce).unwrap();
                peer.flush().unwrap();
            }
            honest.into_iter().map(|party| party.join().unwrap()).collect()
        });
        for ended in ended {
            assert_eq!(ended.unwrap_err(), Error::misbehaved(2, checks::GROUP_NONCE));
        }
    }

    /// Cheat: 3; one | session's id | two nonces | `broadcast echo` | always
    #[test]
    fn two_nonces_of_one_party_are_noticed_by_both_others() {
        assert!(
            against_two_nonces([[7; 32]; 2]).iter().all(Result::is_ok),
            "the cheat itself works"
        );
        for end in against_two_nonces([[7; 32], [8; 32]]) {
            assert_eq!(end.unwrap_err(), Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK));
        }
    }

    /// Cheat: 3; one | handshake | another circuit | named by all others | always
    #[test]
    fn a_different_party_is_named_by_all_others() {
        let mut ends = mesh(3);
        let errors: Vec<Error> = thread::scope(|scope| {
            let all: Vec<_> = ends
                .iter_mut()
                .enumerate()
                .map(|(party, peers)| {
                    let hello = match party {
                        1 => Hello::new([0, 1, 2]).term("circuit", "ff"),
                        _ => hello(3),
                    };
                    scope.spawn(move || agree(peers, &hello).unwrap_err())
                })
                .collect();
            all.into_iter().map(|party| party.join().unwrap()).collect()
        });
        let expected =
            [("ab12", "ff (party 1)"), ("ff", "ab12 (party 0)"), ("ab12", "ff (party 1)")];
        for (error, (ours, theirs)) in errors.into_iter().zip(expected) {
            assert_eq!(error, Error::incompatible("circuit", ours, theirs));
        }
    }
}
