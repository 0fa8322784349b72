//! Requests to nodes: as this party's application, and as a client who is no party.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use symbolon::BitVec;
use symbolon::circuit::{Input, PartyId};
use symbolon::zeroize::Zeroizing;
use symbolon_clients::{Layout, Opened, Receipt};
use symbolon_service::{Client, ClientFailure, ClientNodes, DoorConfig, Name, Token};

use crate::circuit::{PyPort, port};
use crate::error::{InvalidInput, PeerUnreachable, Told, of_class, raise};
use crate::inputs::Given;
use crate::values::learnt;
use crate::wait::wait_or_leave;

/// The door of this party's node.
#[pyclass(name = "Door", module = "symbolon", frozen)]
pub(crate) struct PyDoor(Client);

#[pymethods]
impl PyDoor {
    /// `place` is a Unix socket, or with a token an address of loopback.
    #[new]
    fn new(py: Python<'_>, place: &str, token: Option<String>) -> PyResult<PyDoor> {
        let Some(token) = token else {
            return Ok(PyDoor(Client::new(DoorConfig::Socket(place.into()))));
        };
        let token = raise(py, Token::new(Zeroizing::new(token)))?;
        let wrong = |_| InvalidInput::new_err("with a token, a door is at ADDRESS:PORT");
        Ok(PyDoor(Client::new(DoorConfig::Loopback(place.parse().map_err(wrong)?, token))))
    }

    /// Sends a GET request, or with a body a POST request; returns the status and the body.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        path: String,
        body: Option<Vec<u8>>,
        wait: f64,
    ) -> PyResult<(u16, Bound<'py, PyBytes>)> {
        let (client, body) = (self.0.clone(), body.map(Zeroizing::new));
        let wait = Duration::from_secs_f64(wait);
        let reply = wait_or_leave(py, move || client.ask(&path, body, wait))?;
        let reply = reply.map_err(|error| PeerUnreachable::new_err(error.to_string()))?;
        Ok((reply.status, PyBytes::new(py, &reply.body)))
    }
}

/// The doors for clients of all parties' nodes.
#[pyclass(name = "Nodes", module = "symbolon", frozen)]
pub(crate) struct PyNodes(Arc<ClientNodes>);

/// What a client has given, and what it needs for its answer.
#[pyclass(name = "Submission", module = "symbolon", frozen)]
pub(crate) struct PySubmission {
    nodes: Arc<ClientNodes>,
    function: Name,
    call: Name,
    client: Name,
    made: Arc<(Layout, Receipt)>,
}

#[pymethods]
impl PyNodes {
    #[new]
    fn new(py: Python<'_>, urls: Vec<String>, authorities: Option<PathBuf>) -> PyResult<PyNodes> {
        let nodes = ClientNodes::new(&urls, authorities.as_deref());
        Ok(PyNodes(Arc::new(nodes.map_err(|error| failed(py, &error))?)))
    }

    /// The values that clients of a function give.
    fn values(&self, py: Python<'_>, function: &str) -> PyResult<Vec<PyPort>> {
        let layout = self.layout(py, named(function)?)?;
        let values = layout.ports().values.iter();
        Ok(values.map(|(name, ty)| port(name, ty, None)).collect())
    }

    /// Gives values to all parties, as shares. `names` are those of the function, the call and this
    /// client.
    fn submit(
        &self,
        py: Python<'_>,
        names: (String, String, String),
        token: Option<String>,
        values: Vec<(String, Given)>,
    ) -> PyResult<PySubmission> {
        let (function, call, client) = (named(&names.0)?, named(&names.1)?, named(&names.2)?);
        let layout = self.layout(py, function.clone())?;
        let bits = raise(py, bits_of(&layout, &values))?;
        let made = layout.encode(&bits).map_err(ClientFailure::from);
        let made = made.map_err(|error| failed(py, &error))?;
        let (nodes, token) = (self.0.clone(), token.map(Zeroizing::new));
        let about = (function.clone(), call.clone(), client.clone());
        let (receipt, given) = wait_or_leave(py, move || {
            let (function, call, client) = &about;
            let token = token.as_ref().map(|token| token.as_str());
            let given = nodes.submit((function, call), client, token, &made);
            (made.receipt, given)
        })?;
        given.map_err(|error| failed(py, &error))?;
        let (nodes, made) = (self.0.clone(), Arc::new((layout, receipt)));
        Ok(PySubmission { nodes, function, call, client, made })
    }
}

#[pymethods]
impl PySubmission {
    /// Waits for the answers, for at most this many seconds: names and values.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        seconds: f64,
    ) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let (nodes, made) = (self.nodes.clone(), self.made.clone());
        let names = (self.function.clone(), self.call.clone(), self.client.clone());
        let wait = Duration::from_secs_f64(seconds);
        let opened = wait_or_leave(py, move || {
            let (layout, receipt) = &*made;
            nodes.answer((&names.0, &names.1), &names.2, (layout, receipt), wait)
        })?;
        let Some(Opened { failure, answers, .. }) = opened.map_err(|error| failed(py, &error))?
        else {
            return Ok(Vec::new());
        };
        if let Some(number) = failure {
            let text = format!("assert {number} of the program failed");
            return Err(crate::error::AssertFailed::new_err(text));
        }
        answers.iter().map(|(name, ty, bits)| Ok((name.clone(), learnt(py, ty, bits)?))).collect()
    }
}

impl PyNodes {
    fn layout(&self, py: Python<'_>, function: Name) -> PyResult<Layout> {
        let nodes = self.0.clone();
        let layout = wait_or_leave(py, move || nodes.layout(&function))?;
        layout.map_err(|error| failed(py, &error))
    }
}

fn named(text: &str) -> PyResult<Name> {
    text.parse().map_err(|error| InvalidInput::new_err(format!("`{text}`: {error}")))
}

fn failed(py: Python<'_>, error: &ClientFailure) -> PyErr {
    let (class, code, text) = (error.class.name(), &error.code, error.to_string());
    of_class(py, Told { class, code, text, party: None, check: None })
}

/// Returns a client's values as bits, in the order of the layout.
fn bits_of(layout: &Layout, given: &[(String, Given)]) -> symbolon::Result<BitVec> {
    let mut bits = BitVec::zeros(0);
    let all = &layout.ports().values;
    for (name, ty) in all {
        let Some((_, value)) = given.iter().find(|(given, _)| given == name) else {
            let text = format!("no value for `{name}` ({ty})");
            return Err(symbolon::Error::InvalidInput(text));
        };
        let input = Input { name: name.clone(), ty: ty.clone(), owner: PartyId::new(0) };
        bits.extend_from(&value.bits(&input)?);
    }
    Ok(bits)
}
