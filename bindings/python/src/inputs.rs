//! Inputs of a run, from what the package made of Python's values.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use symbolon::circuit::{Circuit, FileForm, Input, parse_value};
use symbolon::zeroize::Zeroizing;
use symbolon::{BitVec, Error, Inputs, Result, columns, read_file};

/// A value: text in one of the command's forms, the bytes of all wires, a table as CSV, or the
/// bytes of each of its columns, as `Port.columns` says.
pub(crate) enum Given {
    Text(Zeroizing<String>),
    Bytes(Zeroizing<Vec<u8>>),
    Table(Zeroizing<String>, FileForm),
    Columns(Vec<Zeroizing<Vec<u8>>>),
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
        if let Ok(columns) = value.extract::<Vec<Bound<'py, PyBytes>>>() {
            let bytes = columns.iter().map(|column| column.as_bytes().to_vec().into());
            return Ok(Given::Columns(bytes.collect()));
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
        let Input { name, ty, .. } = input;
        let unfit = |what| move || Error::InvalidInput(format!("`{name}` ({ty}) has {what}"));
        match self {
            Given::Text(text) => Ok(parse_value(input, text)?.into()),
            Given::Table(text, form) => read_file(input, text, form),
            Given::Bytes(bytes) => {
                let bits = BitVec::from_bytes(ty.width() as usize, bytes);
                bits.ok_or_else(unfit("another number of bytes"))
            }
            Given::Columns(given) => {
                let types = columns::types(ty).unwrap_or_default();
                let widths = types.iter().map(|(_, ty)| ty.width() as usize);
                let bits = widths.zip(given).map(|(width, bytes)| BitVec::from_bytes(width, bytes));
                let bits: Option<Vec<BitVec>> = bits.collect();
                let joined = bits.filter(|_| types.len() == given.len());
                let joined = joined.and_then(|bits| columns::join(ty, &bits));
                joined.ok_or_else(unfit("other columns"))
            }
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
        let input = circuit.inputs().iter().find(|input| input.name == *name);
        builder = match (value, input) {
            (Given::Bytes(bytes), _) => builder.bytes(name, bytes)?,
            (Given::Table(..) | Given::Columns(..), Some(input)) => {
                builder.bits(name, value.bits(input)?)?
            }
            // An input that there is not is refused with the names of those that there are.
            (Given::Text(text) | Given::Table(text, _), _) => builder.text(name, text)?,
            (Given::Columns(_), None) => builder.bytes(name, &[])?,
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
