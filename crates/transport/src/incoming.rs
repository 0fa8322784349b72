//! Connections from many that nobody counted on: how a service such as the dealer is reached.
//!
//! A party waits for peers that it knows by number and key. A service takes connections one by one
//! from all comers, and finds out afterwards what they want. Only the beginning is the same:
//! each connection is opened in a thread of its own, and a slow stranger keeps nobody out.
//!
//! Check: dealer | TLS 1.3 with all keys pinned | impostors, strangers | –

use std::fmt;
use std::net::IpAddr;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::endpoint::Options;
use crate::keys::Fingerprint;
use crate::link::Direction;
use crate::listen::{Called, Event, Listener, Openings, network};
use crate::preamble::Verdict;
use crate::{Channel, Error, Result};

/// Who may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionPolicy {
    /// Holders of these keys; for TLS.
    Keys(Vec<Fingerprint>),
    /// Over TLS, anybody who proves to have a key, whichever it is; over plain TCP, anybody.
    Anybody,
}

/// Somebody who came: a channel, and the key that was proven over it.
#[derive(Debug)]
pub struct Client {
    /// The channel; its peer is the number that the client gave itself, which proves nothing.
    pub channel: Channel,
    /// The fingerprint of the client's key; `None` without TLS.
    pub key: Option<Fingerprint>,
    /// Where it came from, cut to what one host cannot choose: an IPv4 address, or the first half
    /// of an IPv6 address. `None` within a process.
    pub address: Option<IpAddr>,
}

/// What became of connections that are no clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnedAway {
    /// How many gave way to newer ones before they had said who they are.
    pub displaced: u64,
    /// How many were closed because too many waited already.
    pub overflowed: u64,
    /// Why the system accepted no connection, the last time that happened; for instance for want of
    /// file descriptors.
    pub refused: Option<String>,
}

impl From<Channel> for Client {
    /// A client without a key, for channels within a process.
    fn from(channel: Channel) -> Self {
        Client { channel, key: None, address: None }
    }
}

/// Takes connections of one lane each from all comers.
pub struct Incoming<'a> {
    listener: &'a mut Listener,
    options: Options,
    openings: Openings,
}

impl fmt::Debug for Incoming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Listener {
    /// Begins to take clients. They dial with [`connect_lanes`](crate::connect_lanes), one lane
    /// each, and name as their peer the number in `options`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] when keys are named that plain TCP cannot check.
    pub fn incoming(&mut self, options: &Options, admit: &AdmissionPolicy) -> Result<Incoming<'_>> {
        let pins = match admit {
            AdmissionPolicy::Keys(keys) => Some(keys.as_slice()),
            AdmissionPolicy::Anybody => None,
        };
        let config = match &options.tls {
            Some(tls) => Some(tls.server(pins)?),
            None if pins.is_some() => {
                let text = "plain TCP proves no keys: it admits anybody, or TLS is needed";
                return Err(Error::invalid_input(text));
            }
            None => None,
        };
        let openings = Openings::new(self, config);
        Ok(Incoming { listener: self, options: options.clone(), openings })
    }
}

impl Incoming<'_> {
    /// The next client, if one comes within `wait`. Strangers and broken connections are passed
    /// over.
    ///
    /// # Errors
    /// [`Error::Internal`] when the listening thread is gone.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Client>> {
        let deadline = Instant::now() + wait.min(crate::LONGEST_TIMEOUT);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.listener.incoming.recv_timeout(left) {
                Ok(Event::Connected(socket)) => {
                    self.openings.begin(socket, self.options.opening_deadline());
                }
                Ok(Event::Opened { round, id, outcome }) => {
                    if self.openings.ended(round, id)
                        && let Ok(called) = *outcome
                        && let Some(client) = self.welcome(called)
                    {
                        return Ok(Some(client));
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("the listening thread is gone"));
                }
            }
        }
    }

    /// What happened since the last call to connections that became no clients; `None` if nothing
    /// did.
    pub fn turned_away(&mut self) -> Option<TurnedAway> {
        let (overflowed, refused) = self.listener.missed();
        let displaced = self.openings.displaced();
        let turned = TurnedAway { displaced, overflowed, refused };
        (turned != TurnedAway::default()).then_some(turned)
    }

    /// Answers a connection whose preamble was read, and makes a channel of it if it fits.
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
        let channel = self.options.channel(theirs.sender, opening, link).ok()?;
        Some(Client { channel, key, address })
    }
}

#[cfg(test)]
mod tests;
