//! What a run will send and compute, known before it begins.

use symbolon_ot::OtExtension;
use symbolon_transport::script::Script;

use crate::{GateForm, RunTerms};

/// The name of the set-up in reports and forecasts.
pub const SETUP: &str = "setup";

/// The name of the function-independent phase.
pub const INDEPENDENT: &str = "independent";

/// The name of the function-dependent phase. A run whose material is made for its circuit counts
/// the function-independent phase as a part of it.
pub const DEPENDENT: &str = "dependent";

/// The name of the online phase.
pub const ONLINE: &str = "online";

/// The name of all phases after the set-up, where they run at once.
pub const STREAMED: &str = "streamed";

/// The way in which a circuit is run, with material that is made for it.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// How many parties.
    pub parties: u16,
    /// The form of garbling.
    pub form: GateForm,
    /// The extension that makes correlated OTs.
    pub ot: OtExtension,
    /// ρ, the executions that run together, and the options of the protocol.
    pub terms: RunTerms<'a>,
    /// How many such batches share one cut-and-choose, if the protocol can.
    pub together: usize,
    /// Circuits with more AND gates than this are streamed, if the protocol can.
    pub segment_gates: u64,
}

/// What all parties do in a session: its set-up without the handshake, and one batch, or as many as
/// [share a cut-and-choose](Way::together).
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Every party's steps, by party.
    pub scripts: Vec<Script>,
    /// By how many percent the bytes may differ from those of a run; zero if they are exact.
    pub within_percent: u8,
    /// Whether rounds are those of a run on one thread.
    pub exact_rounds: bool,
    /// About how many bytes of memory the party that needs most holds at its peak.
    pub memory: u64,
}
