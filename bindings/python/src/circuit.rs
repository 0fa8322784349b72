//! Circuits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use symbolon::circuit::{Circuit, Receivers, Stats, Type, builtin, read_circuit};
use symbolon::{CancelHandle, Error};
use symbolon_lang::{CompileError, Options, compile_file, compile_text};

use crate::error::{self, exception, raise};
use crate::wait::wait;

/// A circuit: what is computed, with the owner of each input and the receivers of each output.
#[pyclass(name = "Circuit", module = "symbolon", frozen)]
pub(crate) struct PyCircuit(pub(crate) Arc<Circuit>);

/// An input or an output of a circuit.
#[pyclass(name = "Port", module = "symbolon", frozen, get_all)]
pub(crate) struct PyPort {
    name: String,
    /// As `circuit info` writes it.
    r#type: String,
    /// How many bits it has.
    width: u64,
    /// Who gives an input, and who learns an output: `None` is everybody.
    parties: Option<Vec<u16>>,
    /// The type and shape of a numpy array that has its values, if there is one.
    array: Option<(&'static str, Vec<usize>)>,
}

#[pymethods]
impl PyPort {
    fn __repr__(&self) -> String {
        let parties = match &self.parties {
            None => "all".to_string(),
            Some(parties) => {
                parties.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
            }
        };
        format!("<{}: {}, party {parties}>", self.name, self.r#type)
    }
}

#[pymethods]
impl PyCircuit {
    /// Builds a built-in circuit, such as `aes128` or `add:32`.
    #[staticmethod]
    fn builtin(py: Python<'_>, name: &str) -> PyResult<PyCircuit> {
        let built = builtin::by_name(name).map_err(Error::from);
        Ok(PyCircuit(Arc::new(raise(py, built)?)))
    }

    /// Reads a circuit in any of the formats that the command reads.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, file: &[u8]) -> PyResult<PyCircuit> {
        let read = wait(py, &CancelHandle::new(), || read_circuit(file).map_err(Error::from))?;
        Ok(PyCircuit(Arc::new(raise(py, read)?.0)))
    }

    /// Compiles `text`, or the program in `path` with the modules in its folder.
    #[staticmethod]
    #[pyo3(signature = (text, path, entry, parties, constants))]
    fn compile(
        py: Python<'_>,
        text: Option<String>,
        path: Option<PathBuf>,
        entry: Option<String>,
        parties: Option<u16>,
        constants: Vec<(String, String)>,
    ) -> PyResult<PyCircuit> {
        let options = Options { entry, constants, parties, ..Options::default() };
        let compiled = wait(py, &CancelHandle::new(), || match (&text, &path) {
            (Some(text), _) => compile_text(text, &options),
            (None, path) => compile_file(path.as_deref().unwrap_or("".as_ref()), &options),
        })?;
        let circuit = compiled.map_err(|error| match error {
            CompileError::Unread(text) => error::InvalidInput::new_err(text),
            CompileError::Program(errors) => error::CompileError::new_err(errors.to_string()),
            CompileError::NoThread(error) => exception(py, &error.into()),
        })?;
        Ok(PyCircuit(Arc::new(circuit)))
    }

    /// The circuit's name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// BLAKE3 of the circuit with its owners and receivers, in hexadecimal.
    #[getter]
    fn digest(&self) -> String {
        hex::encode(self.0.digest())
    }

    #[getter]
    fn inputs(&self) -> Vec<PyPort> {
        let port = |input: &symbolon::circuit::Input| {
            port(&input.name, &input.ty, Some(vec![input.owner.number()]))
        };
        self.0.inputs().iter().map(port).collect()
    }

    #[getter]
    fn outputs(&self) -> Vec<PyPort> {
        let shown = self.0.outputs().iter().filter(|output| output.name != Circuit::FAILURE);
        let port = |output: &symbolon::circuit::Output| {
            let parties = match &output.to {
                Receivers::All => None,
                Receivers::Only(parties) => Some(parties.iter().map(|p| p.number()).collect()),
            };
            port(&output.name, &output.ty, parties)
        };
        shown.map(port).collect()
    }

    /// The counts of `circuit info`, by name.
    fn stats(&self, py: Python<'_>) -> PyResult<BTreeMap<&'static str, u64>> {
        let stats = wait(py, &CancelHandle::new(), || Stats::of(&self.0))?;
        Ok(BTreeMap::from([
            ("and_gates", stats.and),
            ("xor_gates", stats.xor),
            ("not_gates", stats.inv),
            ("lookups", stats.lookups),
            ("and_depth", stats.and_depth.into()),
            ("input_bits", stats.input_bits),
            ("output_bits", stats.output_bits),
        ]))
    }

    fn __repr__(&self) -> String {
        let ports = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        let (inputs, outputs) = (self.0.inputs().len(), self.outputs().len());
        let name = self.name();
        format!("<Circuit {name}: {}, {}>", ports(inputs, "input"), ports(outputs, "output"))
    }
}

fn port(name: &str, ty: &Type, parties: Option<Vec<u16>>) -> PyPort {
    let (name, width, array) = (name.to_string(), ty.width(), array_of(ty));
    PyPort { name, r#type: ty.to_string(), width, parties, array }
}

/// Returns the type and shape of a numpy array whose bytes, in order, are the wires of a value:
/// little-endian numbers of whole bytes, or truth values, eight to a byte.
pub(crate) fn array_of(ty: &Type) -> Option<(&'static str, Vec<usize>)> {
    let (mut ty, mut shape) = (ty, Vec::new());
    while let Type::Array { len, elem } = ty {
        shape.push(*len as usize);
        ty = elem;
    }
    let element = match ty {
        Type::Bool => "bool",
        Type::Uint(8) => "<u1",
        Type::Uint(16) => "<u2",
        Type::Uint(32) => "<u4",
        Type::Uint(64) => "<u8",
        Type::Int(8) => "<i1",
        Type::Int(16) => "<i2",
        Type::Int(32) => "<i4",
        Type::Int(64) => "<i8",
        Type::F32 => "<f4",
        Type::F64 => "<f8",
        _ => return None,
    };
    (!shape.is_empty()).then_some((element, shape))
}
