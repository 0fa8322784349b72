//! What a session is asked to do, but for how the others are reached.

use std::time::Duration;

use symbolon_circuit::PartyId;
use symbolon_protocols::Batch;
use symbolon_transport::{CancelHandle, Error, Observer, Result, SimulatedLink};

use crate::params::SessionParams;

/// The most lanes that a session may have.
pub const MAX_THREADS: usize = 64;

/// What a session is asked to do, but for how the others are reached.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) party: PartyId,
    /// What all parties must share.
    pub(crate) params: SessionParams,
    pub(crate) timeout: Duration,
    pub(crate) link: Option<SimulatedLink>,
    pub(crate) cancel: CancelHandle,
    pub(crate) observer: Observer,
}

impl Terms {
    /// This many executions side by side, as they were chosen.
    pub(crate) fn batch(&self, executions: usize) -> Batch {
        let usual = Batch::default();
        let mac = self.params.mac_length().unwrap_or(usual.mac);
        let SessionParams { psi, kappa_b, .. } = self.params;
        Batch { executions, mac, psi, kappa_b }
    }

    /// All executions of a batch side by side, or one where they are online each by itself.
    pub(crate) fn whole_batch(&self) -> Result<Batch> {
        let SessionParams { executions, in_flight, .. } = self.params;
        let executions = usize::try_from(if in_flight.is_some() { 1 } else { executions });
        let executions = executions
            .map_err(|_| Error::invalid_input("more evaluations than this machine can hold"))?;
        Ok(self.batch(executions))
    }
}

/// How many connections to each peer a session with this many threads has.
pub(crate) fn connections(threads: usize) -> usize {
    if threads > 1 { threads + 1 } else { threads }
}

pub(crate) fn check_threads(threads: usize) -> Result<()> {
    if (1..=MAX_THREADS).contains(&threads) {
        return Ok(());
    }
    Err(Error::invalid_input(format!("threads must be 1 to {MAX_THREADS}, not {threads}")))
}
