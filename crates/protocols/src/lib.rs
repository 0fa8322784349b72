//! The protocols, each in a module, all with the same three [`phases`].

pub mod checks;
mod codec;
#[cfg(test)]
#[path = "../tests/privacy/compare.rs"]
mod compare;
mod compiled;
mod component_pool;
pub mod dualex;
pub mod duplo;
mod form;
mod gates;
mod in_flight;
mod io_wires;
#[cfg(feature = "measure")]
#[doc(hidden)]
pub mod kernels;
pub mod messages;
mod network;
mod parallel;
pub mod phases;
mod poison;
pub mod pool;
mod prepared;
#[cfg(test)]
#[path = "../tests/privacy/record.rs"]
mod record;
#[cfg(test)]
mod reference;
mod spec;
pub mod tinytable;
pub mod wrk;
pub mod ywz;

use gates::{
    dealer_engine::DealerEngine,
    engine::{Independent, PeerEngine},
    position::Position,
    role::GateRole,
};
use spec::{EngineSource, ProtocolSpec, Role};
use symbolon_preprocessing::forecast::triple_bytes;
use symbolon_transport::{Check, Error, Message, PartyId, Result};

pub use compiled::Compiled;
pub use component_pool::{ComponentPlan, ComponentSection, ComponentTerms, Components};
pub use dualex::PsiForm;
pub use form::GateForm;
pub use gates::dealer_engine::{Connector, Dealer};
pub use in_flight::InFlight;
pub use network::{Batch, KappaBPer, Network, Rho, SEGMENT_GATES};
pub use phases::{
    Demand, EachPrepared, Engine, InputBits, Link, Online, OutputBits, Prepared, Preprocessed,
};
pub use pool::{PoolLayout, PoolRange, PoolSink, PoolSource};
pub use symbolon_preprocessing::{OtExtension, TreeDepth};
pub use tinytable::MacLength;

/// The available protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Wang, Ranellucci, Katz 2017: two parties, authenticated garbling in two [forms](GateForm):
    /// four-row, with one message each way online, or half-gates.
    Wrk,
    /// Yang, Wang, Zhang 2020: any number of parties; with two parties, half-gates that are checked
    /// after evaluation.
    Ywz,
    /// Damgård, Nielsen, Nielsen, Ranellucci 2017: two parties, scrambled truth tables; one message
    /// per layer, one bit per AND gate, and many executions side by side.
    TinyTable,
    /// Kolesnikov, Nielsen, Rosulek, Trieu, Trifiletti 2017: two parties, cut-and-choose of garbled
    /// components, which are soldered into circuits.
    Duplo,
    /// Rindal, Rosulek 2016: two parties that both garble and evaluate; many executions of a
    /// circuit are prepared together, and each runs in a few messages.
    DualEx,
}

impl Protocol {
    /// Every protocol, in the order of lists.
    pub const ALL: &[Protocol] =
        &[Protocol::Wrk, Protocol::Ywz, Protocol::TinyTable, Protocol::Duplo, Protocol::DualEx];

    /// Returns the protocol's description. This is the registry: everything else is in the
    /// protocol's own module.
    fn spec(self) -> &'static ProtocolSpec {
        match self {
            Protocol::Wrk => &wrk::SPEC,
            Protocol::Ywz => &ywz::SPEC,
            Protocol::TinyTable => &tinytable::SPEC,
            Protocol::Duplo => &duplo::SPEC,
            Protocol::DualEx => &dualex::SPEC,
        }
    }

    /// Returns the name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the protocol with this name.
    pub fn by_name(name: &str) -> Option<Protocol> {
        Protocol::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// Returns the default protocol for this number of parties.
    pub fn for_parties(parties: usize) -> Protocol {
        if parties == 2 { Protocol::Wrk } else { Protocol::Ywz }
    }

    /// Returns the range of the number of parties.
    pub fn parties(self) -> std::ops::RangeInclusive<u16> {
        let [fewest, most] = self.spec().parties;
        fewest..=most
    }

    /// Returns the forms of its gates, the one with the fewest rounds first.
    pub fn forms(self) -> &'static [GateForm] {
        self.spec().forms
    }

    /// Returns the protocol's own messages; [`messages`] has those that protocols share.
    pub fn messages(self) -> &'static [Message] {
        self.spec().messages
    }

    /// Returns the protocol's own checks; [`checks`] has those that protocols share.
    pub fn checks(self) -> &'static [Check] {
        self.spec().checks
    }

    /// Returns a party's role in the protocol, for messages to people.
    pub fn role(self, party: impl Into<PartyId>) -> &'static str {
        self.spec().roles[usize::from(party.into() != 0)]
    }

    /// Runs the set-up (base OTs, global keys) with the peer.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a base-OT message is malformed, `Transport` if the connection is lost,
    /// `InvalidInput` if this party cannot take part.
    pub fn set_up(self, net: &mut Network) -> Result<Box<dyn Engine>> {
        self.check_place(net)?;
        Ok(poison::poisonable(match self.spec().engine {
            EngineSource::Gates(_) => PeerEngine::set_up(net, self.role_in(net)?)?,
            EngineSource::Own(set_up) => set_up(net)?,
        }))
    }

    /// Returns an engine whose phase 1 takes correlations from a dealer that all parties of the
    /// session trust, instead of making them with the peers. There is nothing to set up, and the
    /// session's OT extension is not used.
    ///
    /// # Errors
    /// `InvalidInput` if this party cannot take part. Phase 1 contacts the dealer, and fails with
    /// `Transport` if it is absent, refuses or disconnects.
    pub fn set_up_dealt(self, net: &Network, dealer: Dealer) -> Result<Box<dyn Engine>> {
        let (role, position) = (self.role_in(net)?, self.position(net));
        Ok(poison::poisonable(Box::new(DealerEngine::new(net, dealer, position, role))))
    }

    /// Opens a part of a pool that [`Engine::fill`] made for a protocol with the same
    /// [`evaluator`](Protocol::evaluator), as if phase 1 had just made it. The caller must ensure
    /// that no part is ever opened twice, and that all parties open the same part.
    ///
    /// # Errors
    /// `Store` if the pool cannot be read or does not belong to this party; `InvalidInput` as
    /// [`set_up`](Protocol::set_up).
    pub fn from_pool(
        self,
        net: &Network,
        range: &PoolRange,
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Preprocessed>> {
        let role = self.role_in(net)?;
        let correlations = pool::correlations(self.position(net), net.parties(), range, source)?;
        Ok(poison::poisonable_material(Box::new(Independent { correlations, role })))
    }

    /// Returns the protocol whose pools serve this one: two-party pools of [`Ywz`](Protocol::Ywz)
    /// serve [`TinyTable`](Protocol::TinyTable), any other protocol has its own.
    pub fn pools(self) -> Protocol {
        Protocol::by_name(self.spec().pools).unwrap_or(self)
    }

    /// Returns whether its material consists of correlations that do not depend on a circuit: they
    /// can come from a [pool](Engine::fill) or from a [dealer](Protocol::set_up_dealt).
    pub fn has_pools(self) -> bool {
        matches!(self.spec().engine, EngineSource::Gates(_))
    }

    /// Returns whether it runs several executions of a circuit side by side.
    pub fn runs_batches(self) -> bool {
        self.spec().batches.is_some()
    }

    /// Returns whether it can evaluate a circuit [segment by segment](Engine::stream), in memory
    /// that does not grow with the circuit.
    pub fn streams(self) -> bool {
        match self.spec().engine {
            EngineSource::Gates(role) => {
                matches!(role(PartyId::new(0), self.forms()[0]), GateRole::Garbling(_))
            }
            EngineSource::Own(_) => false,
        }
    }

    /// Returns whether the parties choose the length of the MACs on opened bits.
    pub fn has_mac_length(self) -> bool {
        self.spec().has_mac_length
    }

    /// Returns whether the parties choose how they [intersect](PsiForm) their results.
    pub fn has_psi_form(self) -> bool {
        self.spec().has_psi_form
    }

    /// Returns whether [κ_b](Batch::kappa_b), the bound on leaked bits, can differ from ρ.
    pub fn has_kappa_b(self) -> bool {
        self.spec().has_kappa_b
    }

    /// Returns whether several evaluations can be [online at a time](InFlight) over one connection.
    pub fn runs_in_flight(self) -> bool {
        self.spec().runs_in_flight
    }

    /// Returns how many batches of `circuit` a long run should prepare together
    /// ([`Engine::prepare_each`]), at most `most`: as many as share one cut-and-choose. Each of
    /// them can run before the next one is ready, so only one waits in memory. `None` if batches
    /// of this protocol share nothing, or would all have to wait.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run this circuit.
    pub fn batches_together(
        self,
        circuit: &Compiled,
        terms: ComponentTerms<'_>,
        most: usize,
    ) -> Result<Option<usize>> {
        self.spec().batches_together.map(|together| together(circuit, terms, most)).transpose()
    }

    /// Returns whether outputs of one circuit can be inputs of the next without being opened: see
    /// [`Engine::evaluate_part`].
    pub fn continues(self) -> bool {
        self.spec().continues
    }

    /// Returns whether the parties choose which components of a circuit are garbled.
    pub fn has_components(self) -> bool {
        self.spec().components.is_some()
    }

    /// Checks that the circuit has components of these names, with AND gates in them, if this
    /// protocol garbles components.
    ///
    /// # Errors
    /// `InvalidInput` with the first name that it does not have.
    pub fn check_components(self, circuit: &Compiled, names: &[String]) -> Result<()> {
        if names.is_empty() || !self.has_components() {
            return Ok(());
        }
        duplo::check_components(circuit.circuit(), names)
    }

    /// Returns the demand of the executions of `circuit` that are prepared together in the session
    /// of `net`.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run this circuit, or this number of executions of it.
    pub fn demand(self, net: &Network, circuit: &Compiled) -> Result<Demand> {
        self.demand_of(circuit, net.parties(), net.batch)
    }

    /// Returns the same among this many parties, before there is a session.
    ///
    /// # Errors
    /// As [`demand`](Protocol::demand).
    pub fn demand_of(self, circuit: &Compiled, parties: u16, batch: Batch) -> Result<Demand> {
        self.spec().demand(circuit, parties, batch)
    }

    /// Returns about how many bytes all parties together send for one evaluation in the
    /// function-dependent and the online phase, at ρ = 40, counting what grows with gates and
    /// inputs. `None` if the protocol has no such formula.
    pub fn bytes_after_triples(
        self,
        circuit: &Compiled,
        parties: u16,
        form: GateForm,
    ) -> Option<u64> {
        self.spec().bytes.map(|bytes| bytes(circuit, parties, form))
    }

    /// Returns about how many bytes all parties together send before that, to make the triples of
    /// one evaluation at ρ = 40. `None` as for
    /// [`bytes_after_triples`](Protocol::bytes_after_triples), or if the protocol cannot run this
    /// circuit.
    pub fn bytes_of_triples(
        self,
        circuit: &Compiled,
        parties: u16,
        ot: OtExtension,
    ) -> Option<u64> {
        self.spec().bytes?;
        let demand = self.demand_of(circuit, parties, Batch::default()).ok()?;
        Some(triple_bytes(demand.and_gates, Rho::Bits40.bits(), parties, ot))
    }

    /// Returns the party that evaluates, if the others garble; in any case, the one whose Δ ends in
    /// n mod 2, while all others' end in 1.
    pub fn evaluator(self) -> PartyId {
        self.spec().evaluator
    }

    fn position(self, net: &Network) -> Position {
        Position { me: net.me, evaluator: self.evaluator() }
    }

    /// Rejects a party that cannot take part in the session of `net`.
    fn check_place(self, net: &Network) -> Result<()> {
        let parties = net.parties();
        if !self.parties().contains(&parties) || net.me.number() >= parties {
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

    /// Returns this party's role in the session of `net`, if it can take part.
    fn role_in(self, net: &Network) -> Result<Role> {
        self.check_place(net)?;
        let spec = self.spec();
        match spec.engine {
            EngineSource::Gates(role) => Ok(Role { spec, gates: role(net.me, net.form) }),
            EngineSource::Own(_) => Err(Error::InvalidInput(format!(
                "{} has no pools of gates, and makes no use of a dealer",
                self.name()
            ))),
        }
    }
}
