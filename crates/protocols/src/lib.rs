//! The protocols, each a module over the same three [`phases`].

mod codec;
mod form;
mod gates;
mod io_wires;
#[cfg(feature = "measure")]
#[doc(hidden)]
pub mod kernels;
mod labels;
mod network;
pub mod phases;
mod poison;
pub mod pool;
mod prepared;
pub mod tinytable;
pub mod wrk;
pub mod ywz;

use gates::correlations::{Independent, PeerEngine, Prepare, Role};
use gates::dealer_engine::DealerEngine;
use gates::mask_pass::Position;
use gates::streaming::Stream;
use symbolon_circuit::{Circuit, Plan};
use symbolon_transport::{Error, Result};

pub use form::Form;
pub use gates::dealer_engine::{Connector, Dealer};
pub use network::{Batch, Network, Rho, STRETCH};
pub use phases::{Demand, Engine, InputBits, OutputBits, Prepared, Preprocessed};
pub use pool::{PoolLayout, PoolRange, PoolSink, PoolSource};
pub use symbolon_preprocessing::{BlockBits, Generator};
pub use tinytable::MacLength;

/// The protocols there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Wang, Ranellucci, Katz 2017: two parties, authenticated garbling in two [forms](Form): four-row,
    /// one message each way online, or half-gates.
    Wrk,
    /// Yang, Wang, Zhang 2020: any number of parties; with two, half-gates checked after evaluation.
    Ywz,
    /// Damgård, Nielsen, Nielsen, Ranellucci 2017: two parties, scrambled truth tables; a message for each layer, a bit an
    /// AND gate, many executions side by side.
    TinyTable,
}

impl Protocol {
    /// Every protocol, in the order in which lists show them.
    pub const ALL: &[Protocol] = &[Protocol::Wrk, Protocol::Ywz, Protocol::TinyTable];

    /// The name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Wrk => "wrk",
            Protocol::Ywz => "ywz",
            Protocol::TinyTable => "tinytable",
        }
    }

    /// The protocol with this name.
    pub fn by_name(name: &str) -> Option<Protocol> {
        Protocol::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// How many parties it can have.
    pub fn parties(self) -> std::ops::RangeInclusive<u16> {
        match self {
            Protocol::Wrk | Protocol::TinyTable => 2..=2,
            Protocol::Ywz => 2..=256,
        }
    }

    /// The forms in which its gates come, the one with the fewest rounds first.
    pub fn forms(self) -> &'static [Form] {
        match self {
            Protocol::TinyTable => &[Form::Tables],
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
            (Protocol::TinyTable, _) => "peer",
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
        Ok(poison::poisonable(PeerEngine::set_up(net, self.evaluator(), role)?))
    }

    /// An engine whose phase 1 takes material from a dealer, whom all parties of the session trust, instead of making
    /// it with the peers. There is nothing to set up, and the session's generator of correlated OT is not used.
    ///
    /// # Errors
    /// `InvalidInput` when this party cannot take part. The dealer is asked in phase 1, which fails with `Transport` when it
    /// is absent, refuses or goes.
    pub fn set_up_dealt(self, net: &Network, dealer: Dealer) -> Result<Box<dyn Engine>> {
        self.check(net)?;
        let position = Position { me: net.me, evaluator: self.evaluator() };
        let role = self.role_in(net.me, net.form);
        Ok(poison::poisonable(Box::new(DealerEngine::new(net, dealer, position, role))))
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
        let position = Position { me: net.me, evaluator: self.evaluator() };
        let correlations = pool::correlations(position, net.parties(), range, source)?;
        let role = self.role_in(net.me, net.form);
        Ok(poison::poisonable_material(Box::new(Independent { correlations, role })))
    }

    /// The protocol whose pools this one is served from: [`Ywz`](Protocol::Ywz)'s between two parties serve
    /// [`TinyTable`](Protocol::TinyTable), any other has its own.
    pub fn pools(self) -> Protocol {
        match self {
            Protocol::TinyTable => Protocol::Ywz,
            own => own,
        }
    }

    /// Whether it runs several executions of a circuit side by side.
    pub fn runs_batches(self) -> bool {
        self == Protocol::TinyTable
    }

    /// Whether the length of the MACs on opened bits can be chosen.
    pub fn has_mac_length(self) -> bool {
        self == Protocol::TinyTable
    }

    /// What the executions of `circuit` that are to be prepared together in the session of `net` take.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol cannot run this circuit, or so many executions of it.
    pub fn demand(self, net: &Network, circuit: &Circuit, plan: &Plan) -> Result<Demand> {
        self.demand_of(circuit, plan, net.parties(), net.batch)
    }

    /// The same among so many parties, before there is a session.
    ///
    /// # Errors
    /// As [`demand`](Protocol::demand).
    pub fn demand_of(
        self,
        circuit: &Circuit,
        plan: &Plan,
        parties: u16,
        batch: Batch,
    ) -> Result<Demand> {
        if self == Protocol::TinyTable {
            return tinytable::demand(circuit, batch);
        }
        if batch.executions != 1 {
            let name = self.name();
            return Err(Error::invalid_input(format!("{name} runs one execution at a time")));
        }
        Ok(Demand::of(circuit, plan, parties))
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

    /// The party that evaluates, where the others garble; in any case, the one whose Δ has the odd last bit.
    pub fn evaluator(self) -> u16 {
        match self {
            Protocol::Wrk => wrk::EVALUATOR,
            Protocol::Ywz | Protocol::TinyTable => ywz::EVALUATOR,
        }
    }

    fn role_in(self, me: u16, form: Form) -> Role {
        let (prepare, stream): (Prepare, Option<Stream>) = match self {
            Protocol::Wrk => wrk::role(me, form),
            Protocol::Ywz => ywz::role(me, ywz::EVALUATOR),
            Protocol::TinyTable => (tinytable::prepare, None),
        };
        Role { protocol: self, prepare, stream }
    }
}
