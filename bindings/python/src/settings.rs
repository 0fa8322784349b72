//! The options of a session.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use symbolon::{
    Config, Error, Progress, Protocol, Result, SessionParams, SimulatedLink, Transport, parameters,
};

/// How many evaluations there are in a batch: each call says that, not the session.
const BATCH: &str = "batch";

/// What `options` have: the parameters of a session by name, and two things that each party chooses
/// for itself.
pub(crate) struct Settings {
    pub(crate) params: SessionParams,
    pub(crate) timeout: Option<Duration>,
    pub(crate) link: Option<SimulatedLink>,
    pub(crate) progress: Option<Py<PyAny>>,
}

impl Settings {
    pub(crate) fn new(
        parties: usize,
        options: Vec<(String, String)>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Settings> {
        let mut settings = Settings {
            params: SessionParams::new(Protocol::for_parties(parties)),
            timeout: None,
            link: None,
            progress,
        };
        for (name, value) in options {
            match name.as_str() {
                "timeout" => {
                    let seconds = value.parse().ok().map(Duration::try_from_secs_f64);
                    let wrong = || Error::InvalidInput("`timeout` takes seconds".to_string());
                    settings.timeout = Some(seconds.ok_or_else(wrong)?.map_err(|_| wrong())?);
                }
                "link" => settings.link = Some(value.parse()?),
                BATCH => {
                    let text = "`batch` is no option of a party: `prepare` takes it, and \
                                `run_batch` runs as many evaluations as there are rows";
                    return Err(Error::invalid_input(text));
                }
                _ => settings.params.set(&name, &value)?,
            }
        }
        settings.params.check().map_err(Error::from)?;
        Ok(settings)
    }

    pub(crate) fn config(&self, py: Python<'_>, party: u16, transport: Transport) -> Config {
        let mut config = Config::new(party, transport).params(self.params.clone());
        if let Some(timeout) = self.timeout {
            config = config.timeout(timeout);
        }
        match &self.progress {
            None => config,
            Some(progress) => {
                let progress = progress.clone_ref(py);
                config.on_progress(move |now| tell(&progress, now))
            }
        }
    }
}

/// Calls back with work that goes on. What the callback raises is shown, and changes nothing.
fn tell(progress: &Py<PyAny>, now: &Progress) {
    let Progress::Work(work) = now else { return };
    Python::attach(|py| {
        let told = progress.call1(py, (work.step.name(), work.done, work.total));
        if let Err(error) = told {
            error.write_unraisable(py, None);
        }
    });
}

/// The options of a session: name, values, and what it is for.
#[pyfunction]
pub(crate) fn options<'py>(py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |parameter: &symbolon::Parameter| {
        let (spec, dict) = (parameter.spec(), PyDict::new(py));
        dict.set_item("name", spec.key())?;
        dict.set_item("help", spec.help)?;
        Ok(dict)
    };
    let of_parties = parameters().iter().filter(|parameter| parameter.spec().key() != BATCH);
    of_parties.map(one).collect()
}
