//! A party's view of a session: its identity, its channels, its counters, and the agreed
//! parameters.

use std::sync::{Arc, OnceLock};

use symbolon_circuit::PartyId;
use symbolon_preprocessing::OtExtension;
use symbolon_transport::{Channel, Meter};

use crate::{GateForm, MacLength, PsiForm};

/// The statistical security parameter ρ in bits: a cheat goes unnoticed with probability at most
/// 2^-ρ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rho {
    /// 40 bits, the default and the papers' choice.
    Bits40,
    /// 64 bits.
    Bits64,
    /// 80 bits.
    Bits80,
}

impl Rho {
    /// Returns the number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Rho::Bits40 => 40,
            Rho::Bits64 => 64,
            Rho::Bits80 => 80,
        }
    }

    /// Returns the parameter with this number of bits, if it is one of 40, 64 and 80.
    pub fn from_bits(bits: u32) -> Option<Rho> {
        [Rho::Bits40, Rho::Bits64, Rho::Bits80].into_iter().find(|rho| rho.bits() == bits)
    }
}

/// What 2^-κ_b bounds in [`DualEx`](crate::Protocol::DualEx): the probability of which leak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KappaBPer {
    /// That any execution leaks a bit of an input, of all that are prepared in a session.
    #[default]
    Preparation,
    /// That a given execution does, as in the paper. Of N executions that are prepared together,
    /// one does with probability up to N·2^-κ_b, and a cheater can choose which inputs it gets.
    Execution,
}

impl KappaBPer {
    /// Both choices.
    pub const ALL: [KappaBPer; 2] = [KappaBPer::Preparation, KappaBPer::Execution];

    /// Returns the name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        match self {
            KappaBPer::Preparation => "preparation",
            KappaBPer::Execution => "execution",
        }
    }

    /// Returns the choice with this name, if there is one.
    pub fn by_name(name: &str) -> Option<KappaBPer> {
        KappaBPer::ALL.into_iter().find(|per| per.name() == name)
    }
}

/// How many executions of a circuit a protocol runs side by side, and how it authenticates them.
///
/// `wrk` and `ywz` run one execution at a time, and choose their MACs themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// The number of executions that are prepared and run together.
    pub executions: usize,
    /// The length of the MACs on opened bits. A session rejects one that is too short for ρ
    /// ([`MacLength::suffices`]), unless it was requested for comparison.
    pub mac: MacLength,
    /// How [`DualEx`](crate::Protocol::DualEx) intersects the parties' results.
    pub psi: PsiForm,
    /// κ_b of [`DualEx`](crate::Protocol::DualEx): a bit of an input leaks with probability at most
    /// 2^-κ_b. `None` means ρ, which bounds all other failures in any case.
    pub kappa_b: Option<Rho>,
    /// Whether κ_b bounds leaks of any execution, or of a given one.
    pub kappa_b_per: KappaBPer,
}

impl Default for Batch {
    /// Returns the default: one execution, MACs of 128 bits, which suffice for every ρ, and κ_b =
    /// ρ for the whole preparation.
    fn default() -> Self {
        let (mac, psi) = (MacLength::Bits128, PsiForm::default());
        Batch { executions: 1, mac, psi, kappa_b: None, kappa_b_per: KappaBPer::default() }
    }
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
    /// The form of garbling, one of [`Protocol::forms`](crate::Protocol::forms); every party must
    /// choose the same.
    pub form: GateForm,
    /// The executions that are prepared and run at a time. Every party must choose the same, and it
    /// may change between one preparation and the next.
    pub batch: Batch,
    /// About how many AND gates' material is made at a time for a known circuit ([in
    /// segments](crate::Engine::stream), or [all of it](crate::Engine::preprocess_for)), at least
    /// one; every party must choose the same.
    pub segment_gates: u64,
    /// The names of the components that [`Duplo`](crate::Protocol::Duplo) garbles. If there are
    /// none, the cost decides. Every party must choose the same.
    pub components: Vec<String>,
}

/// The default of [`Network::segment_gates`]: the smallest number of gates that reaches the lowest
/// cost per gate, or a small multiple of it.
pub const SEGMENT_GATES: u64 = 1 << 20;

impl Network {
    /// Returns the number of parties, including this one.
    pub fn parties(&self) -> u16 {
        self.lanes.first().map_or(1, |peers| peers.len() as u16 + 1)
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
    pub fn peers(&mut self) -> &mut [Channel] {
        &mut self.lanes[0]
    }
}
