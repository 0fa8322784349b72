//! A party's view of a session: its identity, its channels, its counters, and the agreed
//! parameters.

use std::sync::{Arc, OnceLock};

use symbolon_circuit::PartyId;
use symbolon_ot::OtExtension;
use symbolon_transport::{Channel, Meter};

use crate::{GateForm, Options, Rho, options::DEFAULTS};

/// What the parties agree on that decides what a circuit takes.
#[derive(Clone, Copy, Debug)]
pub struct RunTerms<'a> {
    /// The statistical security parameter.
    pub rho: Rho,
    /// The number of executions that are prepared and run together.
    pub executions: usize,
    /// The options of the protocol.
    pub options: &'a Options,
}

impl Default for RunTerms<'_> {
    /// Returns those of one execution at ρ = 40.
    fn default() -> Self {
        RunTerms { rho: Rho::Bits40, executions: 1, options: &DEFAULTS }
    }
}

impl<'a> RunTerms<'a> {
    /// Returns the terms of a session.
    pub fn of(net: &'a Network) -> RunTerms<'a> {
        RunTerms { rho: net.rho, executions: net.executions, options: &net.options }
    }
}

/// What of a session decides how a party's prepared circuits are stored.
#[derive(Clone, Copy, Debug)]
pub struct LoadTerms<'a> {
    /// The party.
    pub me: PartyId,
    /// How many parties there are.
    pub parties: u16,
    /// The terms of what runs.
    pub run: RunTerms<'a>,
}

/// A session after the handshake: one or more lanes to every peer.
pub struct Network {
    /// This party.
    pub me: PartyId,
    /// `lanes[l][p]` is lane l's channel to the peer with index p, peers in ascending order. Lane 0
    /// carries everything sequential. Further lanes make correlated OTs and triples, also while
    /// lane 0 is busy, and the second one carries the openings of a long circuit's masks while lane
    /// 0 carries its garbled gates.
    pub lanes: Vec<Vec<Channel>>,
    /// The counters that all lanes share.
    pub meter: Arc<Meter>,
    /// The session id of the handshake, which binds everything agreed. It enters every hash and
    /// key.
    pub session: [u8; 32],
    /// The statistical security parameter.
    pub rho: Rho,
    /// The extension that makes the correlated OTs; every party must choose the same.
    pub ot: OtExtension,
    /// The form of garbling, one of the protocol's [forms](crate::ProtocolSpec::forms); every party
    /// must choose the same.
    pub form: GateForm,
    /// The number of executions that are prepared and run together. Every party must choose the
    /// same, and it may change between one preparation and the next.
    pub executions: usize,
    /// About how many AND gates' material is made at a time for a known circuit ([in
    /// segments](crate::Engine::stream), or [all of it](crate::Engine::preprocess_for)), at least
    /// one; every party must choose the same.
    pub segment_gates: u64,
    /// The options of the protocol. Every party must choose the same.
    pub options: Options,
}

/// The default of [`Network::segment_gates`]: the smallest number of gates that reaches the lowest
/// cost per gate, or a small multiple of it.
pub const SEGMENT_GATES: u64 = 1 << 20;

impl Network {
    /// Returns the number of parties, including this one.
    #[inline]
    pub fn parties(&self) -> u16 {
        self.lanes.first().map_or(1, |peers| peers.len() as u16 + 1)
    }

    /// Returns the terms by which prepared circuits are read back.
    pub fn load_terms(&self) -> LoadTerms<'_> {
        LoadTerms { me: self.me, parties: self.parties(), run: RunTerms::of(self) }
    }

    /// Returns the lanes that make correlated OTs and triples: all but the first, unless it is the
    /// only one.
    pub fn makers(&mut self) -> &mut [Vec<Channel>] {
        let first = usize::from(self.lanes.len() > 1);
        &mut self.lanes[first..]
    }

    /// Returns how many threads garble and evaluate components and circuits of a cut-and-choose:
    /// one for each lane that makes correlated OTs, or two where the machine has two cores. All
    /// messages use the first lane, so the peer does not notice how many there are.
    pub fn garbling_threads(&self) -> usize {
        // Kept, because the system reads files to find it out.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores =
            *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        let lanes = self.lanes.len().saturating_sub(1).max(1);
        lanes.max(cores.min(2))
    }

    /// Returns the channels for everything sequential, one per peer.
    #[inline]
    pub fn peers(&mut self) -> &mut [Channel] {
        &mut self.lanes[0]
    }
}
