//! The configuration of a session, except how the others are reached.

use std::time::Duration;

use symbolon_circuit::PartyId;
use symbolon_transport::{CancelHandle, Error, Observer, Result, SimulatedLink};

use crate::params::SessionParams;

/// The maximum number of threads of a session.
pub const MAX_THREADS: usize = 64;

/// The configuration of a session, except how the others are reached.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) party: PartyId,
    /// The parameters that all parties must share.
    pub(crate) params: SessionParams,
    pub(crate) timeout: Duration,
    pub(crate) link: Option<SimulatedLink>,
    pub(crate) cancel: CancelHandle,
    pub(crate) observer: Observer,
}

impl Terms {
    /// Returns the number of executions side by side: all, or one if each is online separately.
    pub(crate) fn side_by_side(&self) -> Result<usize> {
        let SessionParams { executions, in_flight, .. } = self.params;
        let executions = usize::try_from(if in_flight.is_some() { 1 } else { executions });
        executions.map_err(|_| Error::invalid_input("more evaluations than this machine can hold"))
    }
}

pub(crate) fn check_threads(threads: usize) -> Result<()> {
    if (1..=MAX_THREADS).contains(&threads) {
        return Ok(());
    }
    Err(Error::invalid_input(format!("threads must be 1 to {MAX_THREADS}, not {threads}")))
}
