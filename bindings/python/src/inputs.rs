//! Inputs of a run, from what the package made of Python's values.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use symbolon::circuit::Circuit;
use symbolon::{Inputs, Result};
use zeroize::Zeroizing;

/// A value: text in one of the command's forms, or the bytes of all wires.
pub(crate) enum Given {
    Text(Zeroizing<String>),
    Bytes(Zeroizing<Vec<u8>>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Given {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Given> {
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Given::Text(text.to_str()?.to_string().into()));
        }
        match value.cast::<PyBytes>() {
            Ok(bytes) => Ok(Given::Bytes(bytes.as_bytes().to_vec().into())),
            Err(_) => Err(PyTypeError::new_err("an input is given as text or bytes")),
        }
    }
}

/// Collects the inputs of one party.
pub(crate) fn inputs_of(
    circuit: &Circuit,
    party: u16,
    given: &[(String, Given)],
) -> Result<Inputs> {
    let mut builder = Inputs::builder(circuit, party);
    for (name, value) in given {
        builder = match value {
            Given::Text(text) => builder.text(name, text)?,
            Given::Bytes(bytes) => builder.bytes(name, bytes)?,
        };
    }
    builder.finish()
}

/// Collects the inputs of every party, where one process has all of them.
pub(crate) fn inputs_of_all(
    circuit: &Circuit,
    parties: u16,
    given: Vec<(String, Given)>,
) -> Result<Vec<Inputs>> {
    let mut by_party: Vec<Vec<(String, Given)>> = (0..parties).map(|_| Vec::new()).collect();
    for (name, value) in given {
        let input = circuit.inputs().iter().find(|input| input.name == name);
        // Party 0 says that there is no such input, and the config that there is no such party.
        let owner = input.map_or(0, |input| usize::from(input.owner));
        let place = if owner < by_party.len() { owner } else { 0 };
        by_party[place].push((name, value));
    }
    let collect = |(party, given): (u16, Vec<_>)| inputs_of(circuit, party, &given);
    (0..).zip(by_party).map(collect).collect()
}
