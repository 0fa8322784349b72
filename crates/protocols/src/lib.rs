//! The protocols, each a module over the same three [`phases`].

mod form;
mod guard;
mod known;
mod labels;
mod masks;
mod material;
mod network;
pub mod phases;
mod ports;
mod share_rows;
pub mod wrk;
pub mod ywz;

use symbolon_transport::{Error, Result};

pub use form::Form;
pub use network::{Network, Rho};
pub use phases::{Engine, InputBits, Need, OutputBits, Prepared, Preprocessed};
pub use symbolon_preprocessing::Generator;

/// The protocols there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Wang, Ranellucci, Katz 2017: two parties, authenticated garbling in two [forms](Form): four-row,
    /// one message each way online, or half-gates.
    Wrk,
    /// Yang, Wang, Zhang 2020: any number of parties; with two, half-gates checked after evaluation.
    Ywz,
}

impl Protocol {
    /// Every protocol, in the order in which lists show them.
    pub const ALL: &[Protocol] = &[Protocol::Wrk, Protocol::Ywz];

    /// The name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Wrk => "wrk",
            Protocol::Ywz => "ywz",
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
            Protocol::Ywz => 2..=256,
        }
    }

    /// The forms in which it garbles, the one with the fewest rounds first.
    pub fn forms(self) -> &'static [Form] {
        match self {
            Protocol::Wrk => &[Form::FourRow, Form::HalfGates],
            Protocol::Ywz => &[Form::HalfGates],
        }
    }

    /// What a party does in it, for messages to people.
    pub fn role(self, party: u16) -> &'static str {
        match (self, party) {
            (Protocol::Wrk, 0) => "garbler",
            (Protocol::Wrk, _) | (Protocol::Ywz, 0) => "evaluator",
            (Protocol::Ywz, _) => "garbler",
        }
    }

    /// Runs the set-up (base OTs, global keys) with the peer.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a base-OT message is malformed, `Transport` when the peer is gone,
    /// `InvalidInput` when this party cannot take part.
    pub fn set_up(self, net: &mut Network) -> Result<Box<dyn Engine>> {
        let parties = net.parties();
        if !self.parties().contains(&parties) || net.me >= parties {
            return Err(Error::InvalidInput(format!(
                "{} does not run among {parties} parties",
                self.name()
            )));
        }
        if !self.forms().contains(&net.form) {
            return Err(Error::InvalidInput(format!("{} has no form {}", self.name(), net.form)));
        }
        let engine = match self {
            Protocol::Wrk => wrk::set_up(net)?,
            Protocol::Ywz => ywz::set_up::<{ ywz::EVALUATOR }>(net)?,
        };
        Ok(guard::guarded(engine))
    }
}
