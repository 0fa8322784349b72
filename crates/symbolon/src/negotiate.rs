//! Negotiates what the parties left open, after they have agreed on everything else.
//!
//! A wish of any party is taken, and two different wishes are an error. Whatever all parties leave
//! open follows from the slowest link between any two of them:
//!
//! ```text
//! i ⇄ j       both measure the link between them
//! i → all j   the longest round trip and the lowest rate that i found
//! i → all j   H(session, what everybody reported), what follows from it        compared
//! ```
//!
//! So honest parties reach the same choice or end in an error, whatever the others send. A false
//! report about a link slows the computation down, but every party can do that by being slow.

use std::time::Duration;

use blake3::Hasher;
use symbolon_interaction::BROADCAST_CHECK;
use symbolon_protocols::{GateForm, OtExtension};
use symbolon_transport::{
    AUTO, Channel, Culprit, Error, LinkSpeed, PartyId, Result, Subject, measure, threads,
};

use crate::autotune::{Choice, Preferences, Work};
use crate::connect::by_party;
use crate::handshake_all::Agreed;
use crate::messages::{LINK_CHOICE, LINK_REPORT};
use crate::params::OPEN;

const SESSION_DOMAIN: &str = "symbolon 2026 settled session id v1";
const REPORTS_DOMAIN: &str = "symbolon 2026 link reports v1";

/// The open terms of every hello.
const FORM: &str = OPEN[0];
const OT: &str = OPEN[1];

/// Negotiates everything; returns the result with the session's id, which binds it. `unasked`
/// applies where nobody has a wish; the link decides the rest.
///
/// Check: what the link decides | measurements and choice are compared pairwise (`broadcast
/// echo`) | different choices | 2^-128
///
/// # Errors
/// `PeerIncompatible` if two parties have different wishes or reach different results;
/// `PeerMisbehaved` if one party reported different links to different peers; `Transport` if a
/// connection is lost.
pub(crate) fn negotiate(
    peers: &mut [Channel],
    agreed: &Agreed,
    (work, unasked): (Work, Preferences),
) -> Result<([u8; 32], Choice)> {
    let form = |name: &str| GateForm::ALL.into_iter().find(|form| form.name() == name);
    let ot = |name: &str| OtExtension::ALL.into_iter().find(|ot| ot.name() == name);
    let wishes = Preferences { form: wish(agreed, FORM, 0, form)?, ot: wish(agreed, OT, 1, ot)? };
    let wishes = wishes.or(unasked);
    let (choice, reports) = match wishes.settled() {
        Some(choice) => (choice, None),
        None => {
            let (link, reports) = slowest(peers, &agreed.session)?;
            let choice = wishes.over(link, work);
            compare(peers, &reports, &choice)?;
            (choice, Some(reports))
        }
    };
    let mut hasher = Hasher::new_derive_key(SESSION_DOMAIN);
    hasher.update(&agreed.session);
    for name in [choice.form.name(), choice.ot.name()] {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
    }
    match reports {
        Some(reports) => hasher.update(&[1]).update(&reports),
        None => hasher.update(&[0]),
    };
    Ok((*hasher.finalize().as_bytes(), choice))
}

/// Returns the common wish for the open term with index `place`, if there is one.
fn wish<T>(
    agreed: &Agreed,
    what: &str,
    place: usize,
    by_name: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let mut wishes = PartyId::all(agreed.open.len()).zip(agreed.wishes(place));
    let Some((party, name)) = wishes.find_map(|(party, wish)| Some((party, wish?))) else {
        return Ok(None);
    };
    by_name(name).map(Some).ok_or_else(|| {
        let error = Error::incompatible(what, AUTO, name);
        if agreed.open.len() > 2 { by_party(error, party) } else { error }
    })
}

/// Returns the slowest link between any two parties, and a digest of all parties' reports.
fn slowest(peers: &mut [Channel], session: &[u8; 32]) -> Result<(LinkSpeed, [u8; 32])> {
    let own = measure_all(peers)?;
    for peer in peers.iter_mut() {
        peer.send(LINK_REPORT, &encode(own))?;
        peer.flush()?;
    }
    let me = peers.first().map_or(PartyId::new(0), Channel::me);
    let mut reports = Vec::with_capacity(peers.len() + 1);
    for peer in peers.iter_mut() {
        reports.push(peer.recv_array::<16>(LINK_REPORT)?);
    }
    reports.insert(usize::from(me), encode(own));
    let mut hasher = Hasher::new_derive_key(REPORTS_DOMAIN);
    hasher.update(session);
    for report in &reports {
        hasher.update(report);
    }
    Ok((reports.iter().map(decode).fold(own, slower), *hasher.finalize().as_bytes()))
}

/// Measures the links to all peers concurrently, as the computation will use them; returns the
/// worst.
fn measure_all(peers: &mut [Channel]) -> Result<LinkSpeed> {
    let results: Vec<Result<LinkSpeed>> = match peers {
        [peer] => vec![measure(peer)],
        peers => {
            let ((), ended) = threads::beside(peers.iter_mut(), measure, || ())?;
            let lost = |_| Err(Error::internal("a thread that measures a link panicked"));
            ended.into_iter().map(|end| end.unwrap_or_else(lost)).collect()
        }
    };
    let mut worst: Option<LinkSpeed> = None;
    let mut lost = None;
    for result in results {
        match result {
            Ok(link) => worst = Some(worst.map_or(link, |worst| slower(worst, link))),
            // A lost connection may only be the consequence of what another peer did.
            Err(error @ Error::Transport { .. }) => lost = lost.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match (lost, worst) {
        (Some(error), _) => Err(error),
        (None, Some(worst)) => Ok(worst),
        (None, None) => Err(Error::internal("a session has no peer")),
    }
}

fn slower(a: LinkSpeed, b: LinkSpeed) -> LinkSpeed {
    LinkSpeed {
        round_trip: a.round_trip.max(b.round_trip),
        bytes_per_second: a.bytes_per_second.min(b.bytes_per_second),
    }
}

fn encode(link: LinkSpeed) -> [u8; 16] {
    let nanos = u64::try_from(link.round_trip.as_nanos()).unwrap_or(u64::MAX);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&nanos.to_le_bytes());
    bytes[8..].copy_from_slice(&link.bytes_per_second.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8; 16]) -> LinkSpeed {
    let number = u128::from_le_bytes(*bytes);
    LinkSpeed {
        round_trip: Duration::from_nanos(number as u64),
        // A peer may send any number.
        bytes_per_second: ((number >> 64) as u64).max(1),
    }
}

/// Compares all parties' reports, and the resulting choice, with every peer.
fn compare(peers: &mut [Channel], reports: &[u8; 32], choice: &Choice) -> Result<()> {
    let place = |at: Option<usize>| at.map_or(u8::MAX, |at| at as u8);
    let form = place(GateForm::ALL.iter().position(|form| *form == choice.form));
    let ot = place(OtExtension::ALL.iter().position(|ot| *ot == choice.ot));
    for peer in peers.iter_mut() {
        peer.send_parts(LINK_CHOICE, &[reports, &[form, ot]])?;
        peer.flush()?;
    }
    let several = peers.len() > 1;
    for peer in peers.iter_mut() {
        let theirs = peer.recv_array::<34>(LINK_CHOICE)?;
        if theirs[..32] != reports[..] {
            // The culprit is that peer, or the party that reported a different link to it than to
            // us.
            let culprit = if several { Culprit::Unknown } else { peer.peer().into() };
            return Err(Error::misbehaved(culprit, BROADCAST_CHECK));
        }
        let differ = |what: &str, ours: &str, theirs: Option<&str>| {
            let theirs = theirs.unwrap_or("something unknown here");
            let error = Error::incompatible(Subject::Settled(what.to_string()), ours, theirs);
            if several { by_party(error, peer.peer()) } else { error }
        };
        if theirs[32] != form {
            let theirs = GateForm::ALL.get(usize::from(theirs[32])).map(|form| form.name());
            return Err(differ(FORM, choice.form.name(), theirs));
        }
        if theirs[33] != ot {
            let theirs = OtExtension::ALL.get(usize::from(theirs[33])).map(|ot| ot.name());
            return Err(differ(OT, choice.ot.name(), theirs));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
