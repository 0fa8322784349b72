//! The protocols, each a module over the same three [`phases`].

mod masks;
mod material;
mod network;
pub mod phases;
mod ports;
mod share_rows;
pub mod wrk;

use symbolon_transport::{Error, Result};

pub use network::{Network, Rho};
pub use phases::{Engine, InputBits, Need, OutputBits, Prepared, Preprocessed};

/// The protocols there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Wang, Ranellucci, Katz 2017: two parties, four-row authenticated garbling, one message each
    /// way online.
    Wrk,
}

impl Protocol {
    /// Every protocol, in the order in which lists show them.
    pub const ALL: &[Protocol] = &[Protocol::Wrk];

    /// The name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Wrk => "wrk",
        }
    }

    /// The protocol with this name.
    pub fn by_name(name: &str) -> Option<Protocol> {
        Protocol::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// How many parties it can have.
    pub fn parties(self) -> std::ops::RangeInclusive<u16> {
        match self {
            Protocol::Wrk => 2..=2,
        }
    }

    /// What a party does in it, for messages to people.
    pub fn role(self, party: u16) -> &'static str {
        match (self, party) {
            (Protocol::Wrk, 0) => "garbler",
            (Protocol::Wrk, _) => "evaluator",
        }
    }

    /// Runs the set-up (base OTs, global keys) with the peer.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a base-OT message is malformed, `Transport` when the peer is gone,
    /// `InvalidInput` when this party cannot take part.
    pub fn set_up(self, net: &mut Network) -> Result<Box<dyn Engine>> {
        if !self.parties().contains(&2) || net.me > 1 || net.lanes.is_empty() {
            return Err(Error::InvalidInput(format!(
                "{} runs between parties 0 and 1",
                self.name()
            )));
        }
        match self {
            Protocol::Wrk => wrk::set_up(net),
        }
    }
}
