//! The protocols, each a module over the same three [`phases`].

mod codec;
mod form;
mod guard;
mod known;
mod labels;
mod masks;
mod material;
mod network;
pub mod phases;
pub mod pool;
mod ports;
mod prepared;
mod share_rows;
pub mod wrk;
pub mod ywz;

use masks::Seat;
use material::{Independent, MaterialEngine, Prepare};
use symbolon_transport::{Error, Result};

pub use form::Form;
pub use network::{Network, Rho};
pub use phases::{Engine, InputBits, Need, OutputBits, Prepared, Preprocessed};
pub use pool::{PoolLayout, PoolRange, PoolSink, PoolSource};
pub use symbolon_preprocessing::{BlockBits, Generator};

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
        self.check(net)?;
        let role = self.role_in(net.me, net.form);
        Ok(guard::guarded(MaterialEngine::set_up(net, self.evaluator(), role)?))
    }

    /// Opens a part of a pool that [`Engine::fill`] made for a protocol with the same
    /// [`evaluator`](Protocol::evaluator), as if phase 1 had just made it. The caller sees to it that no part
    /// is ever opened twice, and that all parties open the same.
    ///
    /// # Errors
    /// `Store` when the pool cannot be read or is not this party's; `InvalidInput` as
    /// [`set_up`](Protocol::set_up).
    pub fn from_pool(
        self,
        net: &Network,
        range: &PoolRange,
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Preprocessed>> {
        self.check(net)?;
        let seat = Seat { me: net.me, evaluator: self.evaluator() };
        let material = pool::material(seat, net.parties(), range, source)?;
        let prepare = self.role_in(net.me, net.form);
        Ok(guard::guarded_material(Box::new(Independent { material, prepare })))
    }

    fn check(self, net: &Network) -> Result<()> {
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
        Ok(())
    }

    /// The party that evaluates; the others garble.
    pub fn evaluator(self) -> u16 {
        match self {
            Protocol::Wrk => wrk::EVALUATOR,
            Protocol::Ywz => ywz::EVALUATOR,
        }
    }

    fn role_in(self, me: u16, form: Form) -> Prepare {
        match self {
            Protocol::Wrk => wrk::role(me, form),
            Protocol::Ywz => ywz::role(me, ywz::EVALUATOR),
        }
    }
}
