//! Inputs of a run, from what the package made of Python's values.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use symbolon::circuit::{Circuit, FileForm, Input, parse_file, parse_value};
use symbolon::zeroize::Zeroizing;
use symbolon::{BitVec, Error, Inputs, Result};

/// A value: text in one of the command's forms, the bytes of all wires, or a table as CSV.
pub(crate) enum Given {
    Text(Zeroizing<String>),
    Bytes(Zeroizing<Vec<u8>>),
    Table(Zeroizing<String>, FileForm),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Given {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Given> {
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Given::Text(text.to_str()?.to_string().into()));
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Given::Bytes(bytes.as_bytes().to_vec().into()));
        }
        match value.extract::<(String, Vec<String>, bool)>() {
            Ok((text, columns, pad)) => {
                let form = FileForm { csv: true, columns, pad, ..FileForm::default() };
                Ok(Given::Table(text.into(), form))
            }
            Err(_) => Err(PyTypeError::new_err("an input is given as text, bytes or a table")),
        }
    }
}

impl Given {
    /// Returns the wires of a value for `input`.
    pub(crate) fn bits(&self, input: &Input) -> Result<BitVec> {
        let bits = match self {
            Given::Text(text) => parse_value(input, text)?,
            Given::Table(text, form) => parse_file(input, text, form)?,
            Given::Bytes(bytes) => {
                let bits = BitVec::from_bytes(input.ty.width() as usize, bytes);
                let (name, ty) = (&input.name, &input.ty);
                let wrong =
                    || Error::InvalidInput(format!("`{name}` ({ty}) has another number of bytes"));
                return bits.ok_or_else(wrong);
            }
        };
        Ok(BitVec::from_bools(&Zeroizing::new(bits)))
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
        let input = circuit.inputs().iter().find(|input| input.name == *name);
        builder = match (value, input) {
            (Given::Bytes(bytes), _) => builder.bytes(name, bytes)?,
            (Given::Table(..), Some(input)) => builder.bits(name, value.bits(input)?)?,
            // An input that there is not is refused with the names of those that there are.
            (Given::Text(text) | Given::Table(text, _), _) => builder.text(name, text)?,
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
