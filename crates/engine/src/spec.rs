//! Descriptions of protocols: each has one [`ProtocolSpec`] in its own module, through which it is
//! run.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use symbolon_circuit::{Circuit, PartyId};
use symbolon_transport::script::Unit;
use symbolon_transport::{Check, Error, Message, Result};

use crate::{
    Compiled, ComponentPlan, ComponentPools, ComponentSection, Components, Dealer, Demand, Engine,
    GateForm, LoadTerms, Network, Options, OtExtension, PoolRange, PoolSource, Prepared,
    Preprocessed, ProtocolOption, Rho, RunTerms,
    codec::Reader,
    forecast::{Forecast, Way},
    poison,
};

/// The description of a protocol.
#[derive(Clone, Copy)]
pub struct ProtocolSpec {
    /// The name in commands, configuration and the handshake.
    pub name: &'static str,
    /// The number in stored data.
    pub code: u8,
    /// The minimum and the maximum number of parties.
    pub parties: [u16; 2],
    /// The forms of its gates, the one with the fewest rounds first.
    pub forms: &'static [GateForm],
    /// The extensions that can make its correlated OTs, from the one that sends most.
    pub extensions: &'static [OtExtension],
    /// The roles of party 0 and of every other party, for messages to people.
    pub roles: [&'static str; 2],
    /// The party whose Δ ends in n mod 2, while all others' end in 1: the one that evaluates, if
    /// the others garble.
    pub evaluator: PartyId,
    /// The name of the protocol whose pools serve this one.
    pub pools: &'static str,
    /// The demand of several executions side by side; `None` if the protocol runs one at a time.
    pub batches: Option<fn(&Compiled, RunTerms<'_>) -> Result<Demand>>,
    /// Forecasts what all parties do in a session.
    pub forecast: ForecastRun,
    /// The protocol's own kinds of work in forecasts, unless another protocol lists them.
    pub units: &'static [Unit],
    /// The protocol's own messages.
    pub messages: &'static [Message],
    /// The protocol's own checks.
    pub checks: &'static [Check],
    /// Its options, in the order in which results show them.
    pub options: &'static [ProtocolOption],
    /// What the options mean for material that is stored.
    pub stored: Option<StoredOptions>,
    /// Whether several evaluations can be online at a time over one connection.
    pub runs_in_flight: bool,
    /// How many batches of a circuit, at most some number, share one cut-and-choose: see
    /// [`batches_together`](ProtocolSpec::batches_together).
    pub batches_together: Option<BatchesTogether>,
    /// Whether outputs of an evaluation can be inputs of a later one without being opened: see
    /// [`Engine::evaluate_part`].
    pub continues: bool,
    /// The pools of components, for a protocol that garbles components chosen by the parties.
    pub components: Option<ComponentPools>,
    /// The source of its material.
    pub engine: EngineSource,
    /// Reads back what a party saved after phase 2.
    pub load: Load,
}

/// What the options of a protocol mean for material that is stored.
#[derive(Clone, Copy)]
pub struct StoredOptions {
    /// Returns what tells a prepared circuit from others, after the name of the protocol and the
    /// number of executions.
    pub label: fn(&Options, Rho) -> Result<String>,
    /// Returns the number in the stamp of a prepared circuit, if it is not the usual one.
    pub stamp: Option<fn(&Options, Rho) -> Result<u32>>,
}

impl fmt::Debug for ProtocolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl ProtocolSpec {
    /// Returns the range of the number of parties.
    pub fn parties(&self) -> RangeInclusive<u16> {
        let [fewest, most] = self.parties;
        fewest..=most
    }

    /// Returns the forms of its gates, the one with the fewest rounds first.
    pub fn forms(&self) -> &'static [GateForm] {
        self.forms
    }

    /// Returns the extensions that can make its correlated OTs, from the one that sends most.
    pub fn extensions(&self) -> &'static [OtExtension] {
        self.extensions
    }

    /// Returns the protocol's own messages; a crate's `messages` has those that several share.
    pub fn messages(&self) -> &'static [Message] {
        self.messages
    }

    /// Returns the protocol's own checks; a crate's `checks` has those that several share.
    pub fn checks(&self) -> &'static [Check] {
        self.checks
    }

    /// Returns a party's role in the protocol, for messages to people.
    pub fn role(&self, party: impl Into<PartyId>) -> &'static str {
        self.roles[usize::from(party.into() != 0)]
    }

    /// Runs the set-up (base OTs, global keys) with the peer.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a base-OT message is malformed, `Transport` if the connection is lost,
    /// `InvalidInput` if this party cannot take part.
    pub fn set_up(&self, net: &mut Network) -> Result<Box<dyn Engine>> {
        self.check_place(net)?;
        Ok(poison::poisonable(match self.engine {
            EngineSource::Correlations(source) => source.set_up(net, self)?,
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
    pub fn set_up_dealt(&self, net: &Network, dealer: Dealer) -> Result<Box<dyn Engine>> {
        Ok(poison::poisonable(self.correlations(net)?.set_up_dealt(net, self, dealer)?))
    }

    /// Opens a part of a pool that [`Engine::fill`] made for a protocol with the same
    /// [`evaluator`](ProtocolSpec::evaluator), as if phase 1 had just made it. The caller must
    /// ensure that no part is ever opened twice, and that all parties open the same part.
    ///
    /// # Errors
    /// `Store` if the pool cannot be read or does not belong to this party; `InvalidInput` as
    /// [`set_up`](ProtocolSpec::set_up).
    pub fn from_pool(
        &self,
        net: &Network,
        range: &PoolRange,
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Preprocessed>> {
        let material = self.correlations(net)?.open_pool(net, self, range, source)?;
        Ok(poison::poisonable_material(material))
    }

    /// Returns whether its material consists of correlations that do not depend on a circuit: they
    /// can come from a [pool](Engine::fill) or from a [dealer](ProtocolSpec::set_up_dealt).
    pub fn has_pools(&self) -> bool {
        matches!(self.engine, EngineSource::Correlations(_))
    }

    /// Returns whether it runs several executions of a circuit side by side.
    pub fn runs_batches(&self) -> bool {
        self.batches.is_some()
    }

    /// Returns whether it can evaluate a circuit [segment by segment](Engine::stream), in memory
    /// that does not grow with the circuit.
    pub fn streams(&self) -> bool {
        match self.engine {
            EngineSource::Correlations(source) => source.streams(self.forms[0]),
            EngineSource::Own(_) => false,
        }
    }

    /// Returns its options, in the order in which results show them.
    pub fn options(&self) -> &'static [ProtocolOption] {
        self.options
    }

    /// Returns what tells a prepared circuit from others of the protocol and this number of
    /// executions, in words; empty if no option changes it.
    ///
    /// # Errors
    /// `InvalidInput` if an option has no such value.
    pub fn stored_label(&self, options: &Options, rho: Rho) -> Result<String> {
        self.stored.as_ref().map_or(Ok(String::new()), |stored| (stored.label)(options, rho))
    }

    /// Checks that the options fit the circuit.
    ///
    /// # Errors
    /// `InvalidInput` that says what the circuit does not have.
    pub fn check_options(&self, circuit: &Circuit, options: &Options) -> Result<()> {
        for option in self.options {
            if let (Some(check), Some(value)) = (option.check_circuit, option.chosen(options)) {
                check(value, circuit)?;
            }
        }
        Ok(())
    }

    /// Returns whether several evaluations can be [online at a time](crate::InFlight) over one
    /// connection.
    pub fn runs_in_flight(&self) -> bool {
        self.runs_in_flight
    }

    /// Returns how many batches of `circuit` a long run should prepare together
    /// ([`Engine::prepare_each`]), at most `most`: as many as share one cut-and-choose. Each of
    /// them can run before the next one is ready, so only one waits in memory. `None` if batches
    /// of this protocol share nothing, or would all have to wait.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run this circuit.
    pub fn batches_together(
        &self,
        circuit: &Compiled,
        terms: RunTerms<'_>,
        most: usize,
    ) -> Result<Option<usize>> {
        self.batches_together.map(|together| together(circuit, terms, most)).transpose()
    }

    /// Returns whether outputs of one circuit can be inputs of the next without being opened: see
    /// [`Engine::evaluate_part`].
    pub fn continues(&self) -> bool {
        self.continues
    }

    /// Returns whether the parties choose which components of a circuit are garbled.
    pub fn has_components(&self) -> bool {
        self.components.is_some()
    }

    /// Returns the demand of the executions of `circuit` that are prepared together in the session
    /// of `net`.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run this circuit, or this number of executions of it.
    pub fn demand(&self, net: &Network, circuit: &Compiled) -> Result<Demand> {
        self.demand_of(circuit, net.parties(), RunTerms::of(net))
    }

    /// Returns the same among this many parties, before there is a session.
    ///
    /// # Errors
    /// As [`demand`](ProtocolSpec::demand).
    pub fn demand_of(
        &self,
        circuit: &Compiled,
        parties: u16,
        terms: RunTerms<'_>,
    ) -> Result<Demand> {
        match self.batches {
            Some(demand) => demand(circuit, terms),
            None if terms.executions == 1 => Ok(Demand::of(circuit, parties)),
            None => Err(Error::InvalidInput(format!("{} runs one execution at a time", self.name))),
        }
    }

    /// Forecasts what all parties do to run a circuit in this way.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol cannot run the circuit, or not among this many parties or in
    /// this form.
    pub fn forecast(&self, circuit: &Compiled, way: &Way<'_>) -> Result<Forecast> {
        self.check_way(way.parties, way.form, way.ot)?;
        (self.forecast)(circuit, way)
    }

    /// Returns the party that evaluates, if the others garble; in any case, the one whose Δ ends in
    /// n mod 2, while all others' end in 1.
    pub fn evaluator(&self) -> PartyId {
        self.evaluator
    }

    /// Rejects a party that cannot take part in the session of `net`.
    fn check_place(&self, net: &Network) -> Result<()> {
        let parties = net.parties();
        if net.me.number() >= parties {
            return Err(self.not_among(parties));
        }
        self.check_way(parties, net.form, net.ot)
    }

    /// Rejects a number of parties, a form or an OT extension that the protocol does not have.
    fn check_way(&self, parties: u16, form: GateForm, ot: OtExtension) -> Result<()> {
        if !self.parties().contains(&parties) {
            return Err(self.not_among(parties));
        }
        if !self.forms().contains(&form) {
            return Err(Error::InvalidInput(format!("{} has no form {form}", self.name)));
        }
        if !self.extensions().contains(&ot) {
            return Err(Error::InvalidInput(format!("{} has no OT {ot}", self.name)));
        }
        Ok(())
    }

    fn not_among(&self, parties: u16) -> Error {
        Error::InvalidInput(format!("{} does not run among {parties} parties", self.name))
    }

    /// Returns the source of correlations for the session of `net`, if this party can take part.
    fn correlations(&self, net: &Network) -> Result<&'static dyn CorrelationSource> {
        self.check_place(net)?;
        match self.engine {
            EngineSource::Correlations(source) => Ok(source),
            EngineSource::Own(_) => Err(Error::InvalidInput(format!(
                "{} has no pools of gates, and makes no use of a dealer",
                self.name
            ))),
        }
    }

    fn component_pools(&self) -> Result<&ComponentPools> {
        let none = || Error::InvalidInput(format!("{} has no components", self.name));
        self.components.as_ref().ok_or_else(none)
    }

    /// Returns the content of a pool of components for this many runs of a circuit.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol has no such pools, or the circuit has too many components.
    pub fn components(
        &self,
        circuit: &Compiled,
        terms: RunTerms<'_>,
        runs: u64,
    ) -> Result<Components> {
        (self.component_pools()?.demand)(circuit, terms, runs)
    }

    /// Returns the sections of a party's pool of components.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol has no such pools, or this one would be too large.
    pub fn component_sections(
        &self,
        components: &Components,
        me: PartyId,
        rho: Rho,
    ) -> Result<Vec<ComponentSection>> {
        (self.component_pools()?.sections)(components, me, rho)
    }

    /// Returns what a run of `circuit` takes from a pool of components of these kinds.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol has no such pools, or the circuit needs other components,
    /// which the error names.
    pub fn component_plan(
        &self,
        circuit: &Compiled,
        terms: RunTerms<'_>,
        kinds: &[[u8; 32]],
    ) -> Result<Box<dyn ComponentPlan>> {
        (self.component_pools()?.plan)(circuit, terms, kinds)
    }

    /// Runs the function-dependent phase on a part of a pool that
    /// [`Engine::fill_components`] made; the part is a range of
    /// each count. The caller must ensure that no part is ever opened twice, that all parties open
    /// the same part, and that nothing of the pool is used after a failed check.
    ///
    /// # Errors
    /// `Store` if the pool cannot be read; `InvalidInput` if the part is not what the plan takes;
    /// `PeerMisbehaved` and `Transport` as for every phase.
    pub fn prepare_components(
        &self,
        net: &mut Network,
        plan: &dyn ComponentPlan,
        part: &[Range<u64>],
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Prepared>> {
        self.check_place(net)?;
        Ok(poison::poisonable_prepared(plan.prepare(net, part, source)?))
    }
}

/// Forecasts what all parties do to run a circuit in some way; `InvalidInput` if the protocol
/// cannot run it.
pub type ForecastRun = fn(&Compiled, &Way<'_>) -> Result<Forecast>;

/// Returns how many batches of a circuit share one cut-and-choose, at most the given number.
pub type BatchesTogether = fn(&Compiled, RunTerms<'_>, usize) -> Result<usize>;

/// Reads back a circuit that was prepared in some form.
pub type Load = fn(LoadTerms<'_>, GateForm, &Compiled, Reader<'_>) -> Result<Box<dyn Prepared>>;

/// The source of a protocol's material.
#[derive(Clone, Copy)]
pub enum EngineSource {
    /// Correlations that do not depend on a circuit: from the peers, a pool or a dealer.
    Correlations(&'static dyn CorrelationSource),
    /// The protocol's own engine, from this set-up. It has no pools and no dealer.
    Own(fn(&mut Network) -> Result<Box<dyn Engine>>),
}

/// Engines that make or take correlations. Each function serves the protocol that `spec` describes.
pub trait CorrelationSource: Sync {
    /// Runs the set-up of an engine that makes correlations with the peers.
    ///
    /// # Errors
    /// As [`ProtocolSpec::set_up`].
    fn set_up(&self, net: &mut Network, spec: &ProtocolSpec) -> Result<Box<dyn Engine>>;

    /// Returns an engine that requests correlations from a dealer.
    ///
    /// # Errors
    /// As [`ProtocolSpec::set_up_dealt`].
    fn set_up_dealt(
        &self,
        net: &Network,
        spec: &ProtocolSpec,
        dealer: Dealer,
    ) -> Result<Box<dyn Engine>>;

    /// Opens a part of a pool of correlations.
    ///
    /// # Errors
    /// As [`ProtocolSpec::from_pool`].
    fn open_pool(
        &self,
        net: &Network,
        spec: &ProtocolSpec,
        range: &PoolRange,
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Preprocessed>>;

    /// Returns whether a protocol in this form can evaluate a circuit segment by segment.
    fn streams(&self, form: GateForm) -> bool;
}
