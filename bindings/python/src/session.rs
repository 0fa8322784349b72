//! Sessions with peers.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use symbolon::store::{Protection, Store};
use symbolon::stored::{self, Amount};
use symbolon::{
    CancelHandle, Config, Dealer, Endpoint, Error, Exchange, Identity, Listener, PeerInfo, Result,
    Session, Transport,
};

use crate::circuit::PyCircuit;
use crate::error::raise;
use crate::exchange::PyExchange;
use crate::inputs::{Given, inputs_of};
use crate::outputs::Ran;
use crate::settings::Settings;
use crate::stored::{entries, filled, prepared};
use crate::wait::wait;

/// An address and a fingerprint.
type Contact = (Option<String>, Option<String>);

/// Where a party is, and what it has.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Place {
    party: u16,
    /// Without it nothing is encrypted.
    key: Option<PathBuf>,
    listen: Option<String>,
    /// Every party, by number.
    peers: Vec<Contact>,
    dealer: Option<Contact>,
    store: Option<PathBuf>,
    store_key: Option<PathBuf>,
}

/// A party, and what it has open with its peers.
#[pyclass(name = "Session", module = "symbolon", frozen)]
pub(crate) struct PySession {
    party: u16,
    key: Option<PathBuf>,
    peers: Vec<PeerInfo>,
    dealer: Option<PeerInfo>,
    store: Option<Store>,
    settings: Settings,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where this party listens, with the actual port: every session listens there again.
    listen: Option<String>,
    /// Opened early, so that a port that is taken is known at once.
    door: Option<Listener>,
    open: Option<(Session, CancelHandle)>,
    /// Whether a call goes on.
    busy: bool,
    closed: bool,
    /// Cancels the call that goes on.
    cancel: CancelHandle,
}

/// What a call takes out of the state.
struct Taken {
    open: Option<Session>,
    door: Option<Listener>,
    cancel: CancelHandle,
}

#[pymethods]
impl PySession {
    #[new]
    fn new(
        py: Python<'_>,
        place: Place,
        options: Vec<(String, String)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PySession> {
        let new = || {
            let peers = place.peers.into_iter().map(contact).collect::<Result<Vec<_>>>()?;
            let settings = Settings::new(peers.len(), options, progress)?;
            let dealer = place.dealer.map(contact).transpose()?;
            let store =
                place.store.map(|directory| open(directory, place.store_key)).transpose()?;
            let door = place.listen.as_deref().map(Listener::bind).transpose()?;
            let listen = door.as_ref().map(|door| door.local_addr().to_string());
            let state = Mutex::new(State { listen, door, ..State::default() });
            let (party, key) = (place.party, place.key);
            Ok(PySession { party, key, peers, dealer, store, settings, state })
        };
        raise(py, new())
    }

    /// Where this party listens.
    #[getter]
    fn address(&self) -> Option<String> {
        self.state().listen.clone()
    }

    /// Whether the protocol evaluates many times together.
    #[getter]
    fn batches(&self) -> bool {
        let params = &self.settings.params;
        params.protocol.runs_batches() && params.in_flight.is_none()
    }

    /// Connects to the other party for an exchange of public data about sessions to come, which
    /// `about` describes: both parties must say the same.
    fn exchange(&self, py: Python<'_>, about: String) -> PyResult<PyExchange> {
        let Taken { door, cancel, .. } = self.take(py, false)?;
        let config = self.config(py, door, &cancel);
        let begun = wait(py, &cancel, || Exchange::begin(config?, &[("shards", about)]));
        self.state().busy = false;
        Ok(PyExchange::new(raise(py, begun?)?, cancel))
    }

    /// Evaluates a circuit with this party's inputs; connects, if that was not done before.
    fn run(
        &self,
        py: Python<'_>,
        circuit: &PyCircuit,
        inputs: Vec<(String, Given)>,
    ) -> PyResult<Ran> {
        self.run_each(py, circuit, vec![inputs])
    }

    /// Evaluates a circuit once for each of these inputs, one after the other, as `run` does.
    fn run_each(
        &self,
        py: Python<'_>,
        circuit: &PyCircuit,
        rows: Vec<Vec<(String, Given)>>,
    ) -> PyResult<Ran> {
        let inputs = rows.iter().map(|row| inputs_of(&circuit.0, self.party, row));
        let inputs = raise(py, inputs.collect::<Result<Vec<_>>>())?;
        let Taken { open, door, cancel } = self.take(py, true)?;
        let config = match &open {
            Some(_) => None,
            None => Some(self.config(py, door, &cancel)),
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
            let outputs = inputs.iter().map(|inputs| session.evaluate(inputs));
            let outputs = outputs.collect::<Result<Vec<_>>>()?;
            let report = session.report().since(&before);
            Ok((session, outputs, report))
        });
        let mut state = self.state();
        state.busy = false;
        let (session, outputs, report) = raise(py, done?)?;
        if !state.closed {
            state.open = Some((session, cancel));
        }
        drop(state);
        Ran::of(py, outputs, &report, Vec::new())
    }

    /// Evaluates a circuit once for each of these inputs, in a session of its own.
    fn run_batch(
        &self,
        py: Python<'_>,
        circuit: &PyCircuit,
        rows: Vec<Vec<(String, Given)>>,
    ) -> PyResult<Ran> {
        let circuit = circuit.0.clone();
        let inputs = rows.iter().map(|row| inputs_of(&circuit, self.party, row));
        let inputs = raise(py, inputs.collect::<Result<Vec<_>>>())?;
        let (all, report) = self.apart(py, rows.len() as u64, |config| {
            let mut all = Vec::with_capacity(inputs.len());
            let mut session = Session::connect(config, &circuit)?;
            session.evaluate_batch(inputs.into_iter().map(Ok), |outputs| {
                all.push(outputs);
                Ok(())
            })?;
            Ok((all, session.report()))
        })?;
        Ran::of(py, all, &report, Vec::new())
    }

    /// Evaluates a prepared circuit, which is used up.
    fn run_stored(
        &self,
        py: Python<'_>,
        circuit: &PyCircuit,
        inputs: Vec<(String, Given)>,
    ) -> PyResult<Ran> {
        let store = self.store(py)?;
        let inputs = raise(py, inputs_of(&circuit.0, self.party, &inputs))?;
        let ran = self.apart(py, 1, |config| stored::run(config, store, &circuit.0, &inputs))?;
        Ran::of(py, vec![ran.outputs], &ran.report, vec![ran.item])
    }

    /// Evaluates what was prepared for as many evaluations, or as many prepared circuits where
    /// several are in flight.
    fn run_stored_batch(
        &self,
        py: Python<'_>,
        circuit: &PyCircuit,
        rows: Vec<Vec<(String, Given)>>,
    ) -> PyResult<Ran> {
        let (store, circuit) = (self.store(py)?, circuit.0.clone());
        let inputs = rows.iter().map(|row| inputs_of(&circuit, self.party, row));
        let inputs = raise(py, inputs.collect::<Result<Vec<_>>>())?.into_iter().map(Ok);
        let in_flight = self.settings.params.in_flight.is_some();
        let (outputs, report, used) = self.apart(py, rows.len() as u64, |config| {
            if !in_flight {
                let ran = stored::run_batch(config, store, &circuit, inputs)?;
                return Ok((ran.outputs, ran.report, vec![ran.item]));
            }
            let mut all = Vec::with_capacity(rows.len());
            let ran = stored::run_in_flight(config, store, &circuit, inputs, |outputs| {
                all.push(outputs);
                Ok(())
            })?;
            Ok((all, ran.report, ran.items))
        })?;
        Ran::of(py, outputs, &report, used)
    }

    /// Prepares a circuit `count` times in all parties' stores, each for `batch` evaluations.
    fn prepare<'py>(
        &self,
        py: Python<'py>,
        circuit: &PyCircuit,
        count: u32,
        batch: u64,
        only_pools: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let store = self.store(py)?;
        let work = if only_pools { stored::prepare_from_pools } else { stored::prepare };
        let done = self.apart(py, batch, |config| work(config, store, &circuit.0, count))?;
        prepared(py, &done)
    }

    /// Fills pools until they hold this much.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        and_gates: u64,
        input_bits: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (store, target) = (self.store(py)?, Amount { and_gates, input_bits });
        let done = self.apart(py, 1, |config| stored::fill(config, store, target))?;
        filled(py, &done.items, &done.report)
    }

    /// Fills pools of components until they suffice for this many runs of a circuit.
    fn fill_components<'py>(
        &self,
        py: Python<'py>,
        circuit: &PyCircuit,
        runs: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let store = self.store(py)?;
        let done = self.apart(py, 1, |config| {
            stored::fill_components(config, store, &circuit.0, runs, |_| ())
        })?;
        filled(py, &done.items, &done.report)
    }

    /// What this party's store has.
    fn material<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let store = self.store(py)?;
        let listed = wait(py, &CancelHandle::new(), || store.list().map_err(Error::from))?;
        entries(py, &raise(py, listed)?)
    }

    /// Cancels the call that goes on, if one does; later calls connect again.
    fn cancel(&self) {
        let state = self.state();
        if state.busy {
            state.cancel.cancel();
        }
    }

    /// Ends the session; a call that goes on in another thread is cancelled.
    fn close(&self, py: Python<'_>) {
        let open = {
            let mut state = self.state();
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

fn contact((address, fingerprint): Contact) -> Result<PeerInfo> {
    let fingerprint = fingerprint.map(|text| text.parse()).transpose()?;
    Ok(PeerInfo { address, fingerprint })
}

fn open(directory: PathBuf, key: Option<PathBuf>) -> Result<Store> {
    let protection = key.map_or(Protection::None, Protection::KeyFile);
    Store::open_or_create(directory, &protection).map_err(Error::from)
}

impl PySession {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    fn store(&self, py: Python<'_>) -> PyResult<&Store> {
        let missing = || Error::invalid_input("this party has no store: `Party` takes `store`");
        raise(py, self.store.as_ref().ok_or_else(missing))
    }

    /// Does `work` in a session of its own, with this many evaluations in a batch.
    fn apart<T: Send>(
        &self,
        py: Python<'_>,
        executions: u64,
        work: impl FnOnce(Config) -> Result<T> + Send,
    ) -> PyResult<T> {
        let Taken { door, cancel, .. } = self.take(py, false)?;
        let config = self.config(py, door, &cancel);
        let done = wait(py, &cancel, || work(config?.executions(executions)));
        self.state().busy = false;
        raise(py, done?)
    }

    /// Takes what one call needs: with `reuse`, the open session if there is one.
    fn take(&self, py: Python<'_>, reuse: bool) -> PyResult<Taken> {
        let mut state = self.state();
        if state.closed {
            return Err(PyRuntimeError::new_err("the party is closed"));
        }
        if state.busy {
            return Err(PyRuntimeError::new_err("the party is in another call at the moment"));
        }
        let open = if reuse { state.open.take() } else { None };
        let taken = match open {
            Some((session, cancel)) => Taken { open: Some(session), door: None, cancel },
            None => {
                let door = match (state.door.take(), &state.listen) {
                    (None, Some(address)) => Some(raise(py, Listener::bind(address))?),
                    (door, _) => door,
                };
                Taken { open: None, door, cancel: CancelHandle::new() }
            }
        };
        state.cancel = taken.cancel.clone();
        state.busy = true;
        Ok(taken)
    }

    fn config(
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
        if let Some(dealer) = &self.dealer {
            let address = dealer.address.clone();
            let address =
                address.ok_or_else(|| Error::invalid_input("the dealer has no address"))?;
            config = config.dealer(match dealer.fingerprint {
                Some(fingerprint) => Dealer::tls(address, fingerprint),
                None => Dealer::insecure_plain_tcp(address),
            });
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
