//! All parties in this process.

use std::sync::Arc;

use pyo3::prelude::*;
use symbolon::circuit::Circuit;
use symbolon::{CancelHandle, Config, Error, Outputs, Report, Result, Session, Transport};

use crate::circuit::PyCircuit;
use crate::error::raise;
use crate::inputs::{Given, inputs_of_all};
use crate::outputs::Ran;
use crate::settings::Settings;
use crate::wait::wait;

/// Runs all parties in this process, over channels in memory; returns what each learnt.
#[pyfunction]
#[pyo3(signature = (circuit, parties, inputs, options, progress))]
pub(crate) fn simulate(
    py: Python<'_>,
    circuit: &PyCircuit,
    parties: u16,
    inputs: Vec<(String, Given)>,
    options: Vec<(String, String)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Ran>> {
    let cancel = CancelHandle::new();
    let circuit: &Arc<Circuit> = &circuit.0;
    let prepared = (|| {
        let settings = Settings::new(parties.into(), options, progress)?;
        let mesh = Transport::memory_mesh(parties, settings.params.threads, settings.link)?;
        let all = (0..).zip(mesh);
        let configs = all.map(|(party, transport)| {
            // One party tells how far they are.
            let told = Settings { progress: None, params: settings.params.clone(), ..settings };
            let settings = if party == 0 { &settings } else { &told };
            settings.config(py, party, transport).cancelled_by(&cancel)
        });
        let configs: Vec<Config> = configs.collect();
        Ok((configs, inputs_of_all(circuit, parties, inputs)?))
    })();
    let (configs, inputs) = raise(py, prepared)?;
    let ended = wait(py, &cancel, || {
        std::thread::scope(|scope| {
            let party = |(config, inputs): (Config, _)| {
                std::thread::Builder::new().spawn_scoped(scope, move || -> Result<_> {
                    let mut session = Session::connect(config, circuit)?;
                    let outputs = session.evaluate(&inputs)?;
                    Ok((outputs, session.report()))
                })
            };
            let threads: Vec<_> = configs.into_iter().zip(inputs).map(party).collect();
            let join = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, _>>| match thread
            {
                Ok(thread) => {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                Err(error) => Err(Error::system(format!("there is no thread: {error}"))),
            };
            threads.into_iter().map(join).collect::<Vec<Result<(Outputs, Report)>>>()
        })
    })?;
    // A party that fails makes the others fail: the first that says why is shown.
    let lost = |ended: &&Result<_>| matches!(ended, Err(Error::Transport { .. }));
    if let Some(Err(error)) = ended.iter().filter(|ended| ended.is_err()).find(|e| !lost(e)) {
        return Err(crate::error::exception(py, error));
    }
    let ran = |ended| raise(py, ended).and_then(|(outputs, report)| Ran::new(py, outputs, &report));
    ended.into_iter().map(ran).collect()
}
