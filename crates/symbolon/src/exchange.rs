//! An exchange between two parties about their sessions, outside of any session: which measurements
//! they are going to make, and the results.
//!
//! It is a session of its own without a computation: the handshake compares what the parties are
//! about to do, then they swap public data. Nothing secret may be sent here, and received data are
//! no more trustworthy than the peer.

use symbolon_protocols::{GateForm, Network, OtExtension};
use symbolon_transport::{Error, Result};

use crate::autotune::Preferences;
use crate::config::Config;
use crate::messages::TOLD;
use crate::params::Job;
use crate::session::{Begun, begin, give_up};

/// The size of a piece in bytes. A shorter piece is the last one, so memory is allocated only for
/// data that arrive.
const PIECE: usize = 64 << 10;

/// A connection between two parties for an exchange about their sessions.
pub struct Exchange {
    network: Network,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").field("party", &self.network.me).finish_non_exhaustive()
    }
}

impl Exchange {
    /// Connects to the other party and compares what both are about to do, value by value.
    ///
    /// # Errors
    /// `InvalidInput` if there are more than two parties, or `config` cannot work;
    /// `PeerIncompatible` if the other party is about to do something else; otherwise as
    /// [`Session::connect`](crate::Session::connect).
    pub fn begin(config: Config, about: &[(&'static str, String)]) -> Result<Exchange> {
        config.check_alone()?;
        if config.parties() != 2 {
            return Err(Error::invalid_input("two parties exchange what they know"));
        }
        let unasked =
            Preferences { form: Some(GateForm::default()), ot: Some(OtExtension::default()) };
        let Begun { network, .. } =
            begin(config, Job::Exchange(about), (0, unasked), |_, _| Ok(()))?;
        Ok(Exchange { network })
    }

    /// Sends `own` to the other party, and returns what it sends: at most `most` bytes.
    ///
    /// # Errors
    /// `PeerMisbehaved` if it sends more; `Transport` if the connection is lost. The exchange is
    /// then over.
    pub fn swap(&mut self, own: &[u8], most: usize) -> Result<Vec<u8>> {
        let swapped = match self.network.me.number() {
            0 => self.send(own).and_then(|()| self.receive(most)),
            _ => self.receive(most).and_then(|theirs| self.send(own).map(|()| theirs)),
        };
        swapped.inspect_err(|error| give_up(&mut self.network, error))
    }

    fn send(&mut self, own: &[u8]) -> Result<()> {
        let channel = &mut self.network.peers()[0];
        for piece in own.chunks(PIECE) {
            channel.send(TOLD, piece)?;
        }
        if own.len().is_multiple_of(PIECE) {
            channel.send(TOLD, &[])?;
        }
        channel.flush()
    }

    fn receive(&mut self, most: usize) -> Result<Vec<u8>> {
        let channel = &mut self.network.peers()[0];
        let mut all = Vec::new();
        loop {
            // The channel rejects pieces that are too long, or that exceed the total.
            let left = most - all.len();
            let piece = channel.recv_bounded(TOLD, PIECE.min(left))?;
            all.extend_from_slice(&piece);
            if piece.len() < PIECE {
                return Ok(all);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::Transport;

    fn both<T: Send>(part: impl Fn(Config) -> Result<T> + Sync) -> [Result<T>; 2] {
        let (zero, one) = Transport::memory(1, None).unwrap();
        let part = &part;
        thread::scope(|scope| {
            let other = scope.spawn(move || part(Config::new(1, one)));
            [part(Config::new(0, zero)), other.join().unwrap()]
        })
    }

    #[test]
    fn both_hear_what_the_other_says_however_long_it_is() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let heard = both(|config| {
                let own = vec![7 + config.party().number() as u8; length];
                let mut exchange = Exchange::begin(config, &[("plan", "x".to_string())])?;
                exchange.swap(b"", 0)?;
                exchange.swap(&own, length)
            });
            assert_eq!(heard, [8, 7].map(|byte| Ok(vec![byte; length])), "{length}");
        }
    }

    #[test]
    fn what_differs_is_named_and_what_is_too_long_refused() {
        for ended in both(|config| {
            let plan = format!("party {}'s", config.party());
            Exchange::begin(config, &[("plan", plan)]).map(drop)
        }) {
            let Err(Error::PeerIncompatible { what, .. }) = ended else { panic!("{ended:?}") };
            assert_eq!(what.code(), "plan");
        }
        for most in [0, 100, PIECE] {
            let [_, one] = both(|config| {
                let own = vec![0; PIECE + 100];
                Exchange::begin(config, &[])?.swap(&own, most)
            });
            assert!(matches!(one, Err(Error::PeerMisbehaved { .. })), "{most}: {one:?}");
        }
    }
}
