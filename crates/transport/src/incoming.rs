//! Connections from unknown clients, for a service such as the dealer.
//!
//! A party waits for peers that it knows by number and key. A service accepts connections one by
//! one from any client, and only then learns what the client wants. Only the beginning is the same:
//! each connection is opened in its own thread, and a slow stranger keeps nobody out.
//!
//! Check: dealer | TLS 1.3 with all keys pinned | impostors, strangers | –

use std::fmt;
use std::net::IpAddr;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::endpoint::Options;
use crate::keys::{AcceptedKey, Fingerprint};
use crate::link::Direction;
use crate::listen::{Called, Event, Listener, NotOpened, Openings};
use crate::newcomer::network;
use crate::preamble::Verdict;
use crate::{Channel, Error, Result, TransportReason};

/// Which clients are admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionPolicy {
    /// Holders of these keys; for TLS.
    Keys(Vec<Fingerprint>),
    /// Holders of these keys, some of them for a time only; for TLS.
    Accepted(Vec<AcceptedKey>),
    /// Over TLS, anybody who proves possession of any key; over plain TCP, anybody.
    Anybody,
}

/// A client: a channel, and the key that was proven over it.
#[derive(Debug)]
pub struct Client {
    /// The channel. Its peer is the number that the client claims, which proves nothing.
    pub channel: Channel,
    /// The fingerprint of the client's key; `None` without TLS.
    pub key: Option<Fingerprint>,
    /// The client's address, cut to what one host cannot choose: an IPv4 address, or the first half
    /// of an IPv6 address. `None` within a process.
    pub address: Option<IpAddr>,
}

/// Connections that did not become clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnedAway {
    /// How many were displaced by newer ones before they had identified themselves.
    pub displaced: u64,
    /// How many were closed because too many were waiting already.
    pub overflowed: u64,
    /// The last reason why the system accepted no connection, for example a lack of file
    /// descriptors.
    pub refused: Option<String>,
}

impl From<Channel> for Client {
    /// Returns a client without a key, for channels within a process.
    fn from(channel: Channel) -> Self {
        Client { channel, key: None, address: None }
    }
}

/// Accepts connections of one lane each from any client.
pub struct Incoming<'a> {
    listener: &'a mut Listener,
    options: Options,
    openings: Openings,
    /// Why the last client with an unknown key was refused.
    refused_key: Option<TransportReason>,
}

impl fmt::Debug for Incoming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Listener {
    /// Begins to accept clients. They dial with [`connect_lanes`](crate::connect_lanes) with one
    /// lane each, and name the number in `options` as their peer.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if `admit` names keys, which plain TCP cannot check.
    pub fn incoming(&mut self, options: &Options, admit: &AdmissionPolicy) -> Result<Incoming<'_>> {
        let pins = match admit {
            AdmissionPolicy::Keys(keys) => Some(keys.iter().map(|key| (*key).into()).collect()),
            AdmissionPolicy::Accepted(keys) => Some(keys.clone()),
            AdmissionPolicy::Anybody => None,
        };
        let pins: Option<Vec<AcceptedKey>> = pins;
        let config = match &options.tls {
            Some(tls) => Some(tls.server(pins.as_deref())?),
            None if pins.is_some() => {
                let text = "plain TCP proves no keys: it admits anybody, or TLS is needed";
                return Err(Error::invalid_input(text));
            }
            None => None,
        };
        let openings = Openings::new(self, config);
        Ok(Incoming { listener: self, options: options.clone(), openings, refused_key: None })
    }
}

impl Incoming<'_> {
    /// Returns the next client if one arrives within `wait`. Skips strangers and broken
    /// connections.
    ///
    /// # Errors
    /// [`Error::Internal`] if the listening thread is gone.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Client>> {
        let deadline = Instant::now() + wait.min(crate::LONGEST_TIMEOUT);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.listener.incoming.recv_timeout(left) {
                Ok(Event::Connected(socket)) => {
                    self.openings.begin(socket, self.options.opening_deadline());
                }
                Ok(Event::Opened { round, id, outcome }) => {
                    if !self.openings.ended(round, id) {
                        continue;
                    }
                    match *outcome {
                        Ok(called) => match self.welcome(called) {
                            Some(client) => return Ok(Some(client)),
                            None => continue,
                        },
                        Err(NotOpened { reason, .. }) => self.note(reason),
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("the listening thread is gone"));
                }
            }
        }
    }

    fn note(&mut self, reason: TransportReason) {
        if let TransportReason::WrongKey { .. }
        | TransportReason::KeyExpired { .. }
        | TransportReason::OwnKeyRefused
        | TransportReason::OwnKeyExpired = reason
        {
            self.refused_key = Some(reason);
        }
    }

    /// Returns why the last connection failed of those since the last call on which one side did
    /// not accept the other's key; `None` if there were none.
    pub fn refused_key(&mut self) -> Option<TransportReason> {
        self.refused_key.take()
    }

    /// Returns what happened since the last call to connections that did not become clients; `None`
    /// if nothing happened.
    pub fn turned_away(&mut self) -> Option<TurnedAway> {
        let (overflowed, refused) = self.listener.missed();
        let displaced = self.openings.displaced();
        let turned = TurnedAway { displaced, overflowed, refused };
        (turned != TurnedAway::default()).then_some(turned)
    }

    /// Answers a connection whose preamble was read, and makes a client of it if it fits.
    fn welcome(&self, called: Called) -> Option<Client> {
        let Called { mut opening, theirs, key } = called;
        let address = opening.socket.peer_addr().ok().map(|address| network(address.ip()));
        let mut mine = self.options.preamble(theirs.sender, 0, 1, theirs.token);
        let fits = mine.fits(&theirs).is_ok();
        mine.verdict = if fits { Verdict::Accepted } else { Verdict::Refused };
        let answered = opening.send(&mine, self.options.opening_deadline());
        if !fits || answered.is_err() {
            return None;
        }
        let link = self.options.link.map(Direction::new);
        let channel = self.options.channel(theirs.sender, opening, link);
        let channel = channel.inspect_err(|error| self.listener.refuse(error)).ok()?;
        Some(Client { channel, key, address })
    }
}

#[cfg(test)]
mod tests;
