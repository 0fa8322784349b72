//! Sessions with peers, and all parties in this process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use symbolon::circuit::Circuit;
use symbolon::{
    CancelHandle, Config, Endpoint, Error, Identity, Listener, Outputs, PeerInfo, Progress,
    Protocol, Report, Result, Session, SessionParams, Transport, parameters,
};

use crate::circuit::PyCircuit;
use crate::error::raise;
use crate::inputs::{Given, inputs_of, inputs_of_all};
use crate::outputs::PyOutputs;
use crate::wait::wait;

/// What `options` have: the parameters of a session by name, and two things that each party chooses
/// for itself.
struct Settings {
    params: SessionParams,
    timeout: Option<Duration>,
    link: Option<symbolon::SimulatedLink>,
    progress: Option<Py<PyAny>>,
}

impl Settings {
    fn new(
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
                _ => settings.params.set(&name, &value)?,
            }
        }
        settings.params.check().map_err(Error::from)?;
        Ok(settings)
    }

    fn config(&self, py: Python<'_>, party: u16, transport: Transport) -> Config {
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

/// A party, and what it has open with its peers.
#[pyclass(name = "Session", module = "symbolon", frozen)]
pub(crate) struct PySession {
    party: u16,
    key: Option<PathBuf>,
    listen: Option<String>,
    peers: Vec<PeerInfo>,
    settings: Settings,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Opened early, so that a port that is taken is known at once.
    door: Option<Listener>,
    open: Option<Session>,
    /// Whether a call goes on.
    busy: bool,
    closed: bool,
    cancel: CancelHandle,
}

#[pymethods]
impl PySession {
    /// `peers` are address and fingerprint of every party, by number; without `key` nothing is
    /// encrypted.
    #[new]
    #[pyo3(signature = (party, key, listen, peers, options, progress))]
    fn new(
        py: Python<'_>,
        party: u16,
        key: Option<PathBuf>,
        listen: Option<String>,
        peers: Vec<(Option<String>, Option<String>)>,
        options: Vec<(String, String)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PySession> {
        let new = || {
            let peers = peers.into_iter().map(|(address, fingerprint)| {
                let fingerprint = fingerprint.map(|text| text.parse()).transpose()?;
                Ok(PeerInfo { address, fingerprint })
            });
            let peers = peers.collect::<Result<Vec<_>>>()?;
            let settings = Settings::new(peers.len(), options, progress)?;
            let door = listen.as_deref().map(Listener::bind).transpose()?;
            let state = Mutex::new(State { door, ..State::default() });
            Ok(PySession { party, key, listen, peers, settings, state })
        };
        raise(py, new())
    }

    /// Where this party listens.
    #[getter]
    fn address(&self) -> Option<String> {
        let state = self.state.lock().expect("no panic");
        state.door.as_ref().map(|door| door.local_addr().to_string())
    }

    /// Evaluates a circuit with this party's inputs; connects, if that was not done before.
    fn run(
        &self,
        py: Python<'_>,
        circuit: &PyCircuit,
        inputs: Vec<(String, Given)>,
    ) -> PyResult<PyOutputs> {
        let inputs = raise(py, inputs_of(&circuit.0, self.party, &inputs))?;
        let (open, door, cancel) = self.take(py)?;
        let config = match &open {
            Some(_) => None,
            None => Some(self.connect(py, door, &cancel)),
        };
        let circuit = circuit.0.clone();
        let done = wait(py, &cancel, || {
            let mut session = match (open, config) {
                (Some(mut session), _) => {
                    if session.circuit().digest() != circuit.digest() {
                        session.next_circuit(&circuit)?;
                    }
                    session
                }
                (None, Some(config)) => Session::connect(config?, &circuit)?,
                (None, None) => unreachable!("there is one of them"),
            };
            let before = session.report();
            let outputs = session.evaluate(&inputs)?;
            let report = session.report().since(&before);
            Ok((session, outputs, report))
        });
        let mut state = self.state.lock().expect("no panic");
        state.busy = false;
        let (session, outputs, report) = raise(py, done?)?;
        if !state.closed {
            state.open = Some(session);
        }
        Ok(PyOutputs { outputs, report })
    }

    /// Ends the session; a call that goes on in another thread is cancelled.
    fn close(&self, py: Python<'_>) {
        let open = {
            let mut state = self.state.lock().expect("no panic");
            state.closed = true;
            state.door = None;
            if state.busy {
                state.cancel.cancel();
            }
            state.open.take()
        };
        // Peers are told, which may take a moment.
        py.detach(|| drop(open));
    }
}

impl PySession {
    /// Takes what is open, for one call.
    fn take(&self, py: Python<'_>) -> PyResult<(Option<Session>, Option<Listener>, CancelHandle)> {
        let mut state = self.state.lock().expect("no panic");
        if state.closed {
            return Err(PyRuntimeError::new_err("the party is closed"));
        }
        if state.busy {
            return Err(PyRuntimeError::new_err("the party runs another circuit at the moment"));
        }
        let open = state.open.take();
        let mut door = state.door.take();
        if open.is_none() {
            state.cancel = CancelHandle::new();
            if let (None, Some(address)) = (&door, &self.listen) {
                door = Some(raise(py, Listener::bind(address))?);
            }
        }
        state.busy = true;
        Ok((open, door, state.cancel.clone()))
    }

    fn connect(
        &self,
        py: Python<'_>,
        door: Option<Listener>,
        cancel: &CancelHandle,
    ) -> Result<Config> {
        let transport = self.transport(door)?;
        let mut config = self.settings.config(py, self.party, transport).cancelled_by(cancel);
        if let Some(link) = self.settings.link {
            config = config.link(link);
        }
        Ok(config)
    }

    /// Returns how the others are reached. Between two parties, the one that listens is the one
    /// that has an address to listen at.
    fn transport(&self, door: Option<Listener>) -> Result<Transport> {
        let identity = self.key.as_ref().map(Identity::load).transpose()?;
        let peer = self.peers.get(1 - usize::from(self.party.min(1)));
        let (2, Some(peer)) = (self.peers.len(), peer) else {
            return Ok(match identity {
                Some(identity) => Transport::tls_mesh(door, identity, self.peers.clone()),
                None => Transport::insecure_plain_tcp_mesh(door, self.peers.clone()),
            });
        };
        let missing = |what: &str| Error::InvalidInput(format!("the peer has no {what}"));
        let meeting = match (door, &peer.address) {
            (Some(door), _) => Endpoint::Listen(door),
            (None, Some(address)) => Endpoint::dial(address),
            (None, None) => return Err(missing("address, and this party does not listen")),
        };
        Ok(match identity {
            Some(identity) => {
                let pin = peer.fingerprint.ok_or_else(|| missing("fingerprint"))?;
                Transport::tls(meeting, identity, pin)
            }
            None => Transport::insecure_plain_tcp(meeting),
        })
    }
}

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
) -> PyResult<Vec<PyOutputs>> {
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
    let outputs = |(outputs, report)| PyOutputs { outputs, report };
    ended.into_iter().map(|ended| raise(py, ended.map(outputs))).collect()
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
    parameters().iter().map(one).collect()
}

/// Makes a key and writes it to a file that its owner alone may read; returns its fingerprint.
#[pyfunction]
#[pyo3(signature = (path, overwrite = false))]
pub(crate) fn keygen(py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<String> {
    let made = Identity::generate().and_then(|identity| {
        identity.save(&path, overwrite)?;
        Ok(identity.fingerprint().to_string())
    });
    raise(py, made)
}

/// The fingerprint of a key file.
#[pyfunction]
pub(crate) fn fingerprint(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    raise(py, Identity::load(path).map(|identity| identity.fingerprint().to_string()))
}
