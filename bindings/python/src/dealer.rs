//! A process that deals.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use pyo3::prelude::*;
use symbolon::dealer::{AdmissionPolicy, Dealing, ServerLimits, serve};
use symbolon::{Identity, Listener, NoThread, Result};

use crate::error::raise;

/// Deals to parties until it is closed.
#[pyclass(name = "Dealer", module = "symbolon", frozen)]
pub(crate) struct PyDealer {
    /// Where it listens.
    #[pyo3(get)]
    address: String,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Result<()>>>>,
}

#[pymethods]
impl PyDealer {
    /// Without a key it deals over plain TCP to anybody.
    #[new]
    fn new(
        py: Python<'_>,
        listen: &str,
        key: Option<PathBuf>,
        parties: Vec<String>,
    ) -> PyResult<PyDealer> {
        raise(py, PyDealer::open(listen, key, &parties))
    }

    /// Ends dealing, once the sessions that go on have ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.stop.store(true, Ordering::SeqCst);
        let thread = self.thread.lock().expect("no panic").take();
        let Some(thread) = thread else { return Ok(()) };
        raise(py, py.detach(|| thread.join()).expect("no panic"))
    }
}

impl PyDealer {
    fn open(listen: &str, key: Option<PathBuf>, parties: &[String]) -> Result<PyDealer> {
        let identity = key.map(Identity::load).transpose()?;
        let keys = parties.iter().map(|text| text.parse()).collect::<Result<Vec<_>>>()?;
        let admit = match identity {
            Some(_) => AdmissionPolicy::Keys(keys),
            None => AdmissionPolicy::Anybody,
        };
        let dealing = Dealing { identity, admit, limits: ServerLimits::default() };
        dealing.check()?;
        let door = Listener::bind(listen)?;
        let address = door.local_addr().to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let deal = move || serve(door, &dealing, &stopped, |_| ());
        let thread = std::thread::Builder::new().name("symbolon-dealer".to_string()).spawn(deal);
        let thread = Mutex::new(Some(thread.map_err(NoThread)?));
        Ok(PyDealer { address, stop, thread })
    }
}

impl Drop for PyDealer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}
