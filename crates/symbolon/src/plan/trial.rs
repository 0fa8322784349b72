//! Real runs between parties of this process, to compare with what was forecast.

use symbolon_circuit::Circuit;
use symbolon_primitives::BitVec;
use symbolon_transport::{Error, Result, SimulatedLink, threads};

use super::{Combination, PlanRequest};
use crate::{Config, Inputs, Report, SETUP, Session, Transport};

/// How long a run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Seconds of the set-up, with the handshake.
    pub setup_seconds: f64,
    /// Seconds after the set-up.
    pub seconds: f64,
    /// Seconds of processor time of all parties together, where the system tells.
    pub cpu_seconds: Option<f64>,
}

impl Times {
    /// Returns the seconds of all phases.
    pub fn all_seconds(&self) -> f64 {
        self.setup_seconds + self.seconds
    }
}

/// Runs the circuit on zeros in this way: all parties in this process, each on one thread, over a
/// simulation of the link that the request names.
///
/// # Errors
/// `InvalidInput` if the protocol cannot run the circuit among this many parties; `System` if there
/// are too few threads.
pub fn trial(circuit: &Circuit, way: Combination, request: PlanRequest) -> Result<Times> {
    let reports = reports(circuit, way, request, Some(request.link))?;
    let mut times = Times { setup_seconds: 0.0, seconds: 0.0, cpu_seconds: None };
    let mut all = 0f64;
    for report in &reports {
        let setup = report.phase(SETUP).map_or(0.0, |phase| phase.seconds);
        times.setup_seconds = times.setup_seconds.max(setup);
        all = all.max(report.phases.iter().map(|phase| phase.seconds).sum());
        let cpu = report.phases.iter().map(|phase| phase.cpu_seconds).sum::<Option<f64>>();
        times.cpu_seconds = cpu.map(|cpu| cpu.max(times.cpu_seconds.unwrap_or_default()));
    }
    times.seconds = all - times.setup_seconds;
    Ok(times)
}

/// Does the same, over a simulated link or none; returns every party's report.
pub(super) fn reports(
    circuit: &Circuit,
    way: Combination,
    request: PlanRequest,
    link: Option<SimulatedLink>,
) -> Result<Vec<Report>> {
    let ends = Transport::memory_mesh(request.parties, 1, link)?;
    let party = |(number, transport)| {
        let config = Config::new(number, transport).protocol(way.protocol).rho(request.rho);
        let config = config.form(way.form).ot(way.ot).executions(request.evaluations);
        let config = config.options(way.options());
        let mut session = Session::connect(config, circuit)?;
        let inputs = (0..request.evaluations).map(|_| zeros(circuit, number));
        session.evaluate_batch(inputs, |_| Ok(()))?;
        Ok(session.report())
    };
    let ((), ended) = threads::beside((0..).zip(ends), party, || ())?;
    let lost = |_| Err(Error::internal("a party of a trial panicked"));
    ended.into_iter().map(|end| end.unwrap_or_else(lost)).collect()
}

fn zeros(circuit: &Circuit, party: u16) -> Result<Inputs> {
    let mut inputs = Inputs::builder(circuit, party);
    for (place, input) in circuit.inputs().iter().enumerate() {
        if input.owner == party {
            let width = usize::try_from(input.ty.width());
            let width = width.map_err(|_| Error::invalid_input("an input is too long"))?;
            inputs = inputs.bits(place, BitVec::zeros(width))?;
        }
    }
    inputs.finish()
}
