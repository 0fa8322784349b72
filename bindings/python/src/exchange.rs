//! Exchanges of public data between two parties.

use std::sync::Mutex;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use symbolon::{CancelHandle, Exchange};

use crate::error::raise;
use crate::wait::wait;

/// A connection over which two parties tell each other about their sessions. What the other one
/// says is no more trustworthy than it is, and nothing secret may be said.
#[pyclass(name = "Exchange", module = "symbolon", frozen)]
pub(crate) struct PyExchange {
    /// `None` once it is over, and while a call uses it.
    open: Mutex<Option<Exchange>>,
    cancel: CancelHandle,
}

#[pymethods]
impl PyExchange {
    /// Sends `own`, and returns what the other party sends: at most `most` bytes.
    fn swap<'py>(
        &self,
        py: Python<'py>,
        own: Vec<u8>,
        most: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let taken = self.open.lock().expect("no panic").take();
        let over = || PyRuntimeError::new_err("the exchange is over");
        let mut exchange = taken.ok_or_else(over)?;
        let swapped =
            wait(py, &self.cancel, || exchange.swap(&own, most).map(|theirs| (exchange, theirs)))?;
        let (exchange, theirs) = raise(py, swapped)?;
        if !self.cancel.is_cancelled() {
            *self.open.lock().expect("no panic") = Some(exchange);
        }
        Ok(PyBytes::new(py, &theirs))
    }

    /// Ends it; a call that goes on in another thread is cancelled.
    fn close(&self, py: Python<'_>) {
        let open = self.open.lock().expect("no panic").take();
        if open.is_none() {
            self.cancel.cancel();
        }
        // The other party is told, which may take a moment.
        py.detach(|| drop(open));
    }
}

impl PyExchange {
    pub(crate) fn new(exchange: Exchange, cancel: CancelHandle) -> PyExchange {
        PyExchange { open: Mutex::new(Some(exchange)), cancel }
    }
}
