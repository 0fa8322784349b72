//! How `run` reaches the other parties: flags for one peer, a list of parties for several.

use std::net::SocketAddr;

use symbolon::circuit::PartyId;
use symbolon::{Endpoint, Fingerprint, Identity, Listener, PeerInfo, Transport};

use crate::args::options::RemoteTransport;
use crate::common::error::{CliError, CliResult};
use crate::common::interrupt;
use crate::common::output::tell;
use crate::settings::{PartyEntry, Settings};

/// Creates the transport that the settings describe, for `party`; opens the port, if there is one.
///
/// # Errors
/// A usage failure that says what is missing or does not go together.
pub fn transport(settings: &Settings, party: PartyId) -> CliResult<Transport> {
    match &settings.parties {
        Some(entries) => mesh(settings, entries, party),
        None => pair(settings, true),
    }
}

/// Returns how many parties the settings list, or two.
///
/// # Errors
/// A usage failure when the list has a gap, a party twice, or more than there can be.
pub fn count(settings: &Settings) -> CliResult<u16> {
    let listed = |entries: &[PartyEntry]| listed(entries.iter().map(|entry| entry.id));
    settings.parties.as_deref().map_or(Ok(2), listed)
}

/// Returns how many parties a list has.
///
/// # Errors
/// Those of [`count`].
pub fn listed(ids: impl Iterator<Item = PartyId>) -> CliResult<u16> {
    let ids: Vec<PartyId> = ids.collect();
    let count = u16::try_from(ids.len()).unwrap_or(u16::MAX);
    for id in 0..count {
        match ids.iter().filter(|other| **other == id).count() {
            1 => {}
            0 => {
                return Err(CliError::usage(format!(
                    "[[party]]: {count} parties are listed, but none has id = {id}"
                ))
                .with_hint("ids count from 0, each once"));
            }
            _ => return Err(CliError::usage(format!("[[party]]: id = {id} is given twice"))),
        }
    }
    Ok(count)
}

/// Does the same as [`transport`] for another session with the same peer, without repeating
/// messages.
///
/// # Errors
/// Those of [`transport`].
pub fn transport_again(settings: &Settings, party: PartyId) -> CliResult<Transport> {
    match &settings.parties {
        Some(entries) => mesh(settings, entries, party),
        None => pair(settings, false),
    }
}

/// Creates the transport to one peer. With `aloud`, prints where it listens and warns of plain TCP.
fn pair(settings: &Settings, aloud: bool) -> CliResult<Transport> {
    let pinned = match settings.transport {
        RemoteTransport::Tcp => {
            if aloud {
                refuse_keys(settings.key.is_some() || settings.peer_fingerprint.is_some())?;
            }
            None
        }
        RemoteTransport::Tls => {
            let identity = identity(settings)?;
            let fingerprint = settings.peer_fingerprint.as_deref().ok_or_else(|| {
                CliError::usage("TLS needs the peer's fingerprint: --peer-fingerprint HEX")
                    .with_hint(
                        "the peer sees it with `symbolon fingerprint FILE` and tells it to you \
                         over a channel that you trust",
                    )
            })?;
            Some((identity, fingerprint.parse::<Fingerprint>()?))
        }
    };
    let meeting = match (&settings.listen, &settings.connect) {
        (Some(_), Some(_)) => {
            return Err(CliError::usage(
                "say either where to listen or whom to connect to, not both",
            ));
        }
        (Some(address), None) => Endpoint::listen(address)?,
        (None, Some(address)) => Endpoint::dial(address.as_str()),
        (None, None) => {
            return Err(CliError::usage("where is the peer? Say --listen ADDR or --connect ADDR")
                .with_hint(
                    "one side listens, the other connects; either may start first. More than two \
                     parties are listed in a file, as [[party]]",
                ));
        }
    };
    if let Some(address) = meeting.local_address().filter(|_| aloud) {
        tell_address(address)?;
    }
    Ok(match pinned {
        Some((identity, fingerprint)) => Transport::tls(meeting, identity, fingerprint),
        None => Transport::insecure_plain_tcp(meeting),
    })
}

fn mesh(settings: &Settings, entries: &[PartyEntry], party: PartyId) -> CliResult<Transport> {
    if settings.connect.is_some() || settings.peer_fingerprint.is_some() {
        return Err(CliError::usage(
            "with a list of parties, their addresses and fingerprints are in [[party]]: leave out \
             --connect and --peer-fingerprint",
        ));
    }
    let mut entries: Vec<&PartyEntry> = entries.iter().collect();
    entries.sort_by_key(|entry| entry.id);
    let mut contacts = Vec::with_capacity(entries.len());
    for PartyEntry { id, address, fingerprint } in entries {
        let parse = |text: &String| {
            text.parse::<Fingerprint>().map_err(|error| {
                let failure = CliError::from(error);
                CliError { message: format!("[[party]] {id}: {}", failure.message), ..failure }
            })
        };
        let fingerprint = fingerprint.as_ref().map(parse).transpose()?;
        contacts.push(PeerInfo { address: address.clone(), fingerprint });
    }
    let (last, own) = (contacts.len() - 1, usize::from(party));
    check_addresses(&contacts, own)?;
    let identity = match settings.transport {
        RemoteTransport::Tcp => {
            let any = contacts.iter().any(|contact| contact.fingerprint.is_some());
            refuse_keys(settings.key.is_some() || any)?;
            None
        }
        RemoteTransport::Tls => {
            let identity = identity(settings)?;
            check_keys(&contacts, own, &identity)?;
            Some(identity)
        }
    };
    let door = match (&settings.listen, &contacts[own].address) {
        (Some(_), _) if own == last => {
            return Err(CliError::usage(format!("nobody dials party {party}: leave out --listen"))
                .with_hint("of each two parties the one with the lower number listens"));
        }
        _ if own == last => None,
        (Some(address), _) | (None, Some(address)) => Some(Listener::bind(address)?),
        (None, None) => return Err(no_address(own)),
    };
    if let Some(door) = &door {
        tell_address(door.local_addr())?;
    }
    Ok(match identity {
        Some(identity) => Transport::tls_mesh(door, identity, contacts),
        None => Transport::insecure_plain_tcp_mesh(door, contacts),
    })
}

/// Prints where this process listens. From then on a signal cancels the run.
///
/// # Errors
/// Those of [`interrupt::handle`].
pub fn tell_address(address: SocketAddr) -> CliResult<()> {
    interrupt::handle()?;
    tell(&format!("listening on {address}\n"));
    Ok(())
}

/// Checks that every party that `own` dials has an address.
fn check_addresses(contacts: &[PeerInfo], own: usize) -> CliResult<()> {
    match contacts[..own].iter().position(|contact| contact.address.is_none()) {
        Some(party) => Err(no_address(party)),
        None => Ok(()),
    }
}

fn no_address(party: usize) -> CliError {
    CliError::usage(format!("[[party]] {party} has no address"))
        .with_hint("every party but the last needs one, HOST:PORT, which all later ones dial")
}

/// Checks that every other party has a fingerprint, and that this party's is that of its key.
fn check_keys(contacts: &[PeerInfo], own: usize, identity: &Identity) -> CliResult<()> {
    let key = identity.fingerprint();
    for (party, contact) in contacts.iter().enumerate() {
        match contact.fingerprint {
            Some(listed) if party == own && listed != key => {
                return Err(CliError::usage(format!(
                    "[[party]] {own} has fingerprint {listed}, but the key given here has {key}"
                ))
                .with_hint("is this the right --key and the right --party?"));
            }
            None if party != own => {
                return Err(CliError::usage(format!("[[party]] {party} has no fingerprint"))
                    .with_hint("its owner sees it with `symbolon fingerprint FILE`"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn refuse_keys(given: bool) -> CliResult<()> {
    if given {
        return Err(CliError::usage("plain TCP uses no key and no fingerprint")
            .with_hint("leave --transport out to use TLS"));
    }
    tell(
        "warning: plain TCP is neither private nor authenticated: anybody on the way can read and \
         change everything\n",
    );
    Ok(())
}

fn identity(settings: &Settings) -> CliResult<Identity> {
    let key = settings.key.as_ref().ok_or_else(|| {
        CliError::usage("TLS needs this party's identity: --key FILE")
            .with_hint("`symbolon keygen --out FILE` makes one")
    })?;
    Ok(Identity::load(key)?)
}
