//! Circuits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use symbolon::circuit::{
    Circuit, Input, PartyId, Receivers, Stats, Type, builtin, native, read_circuit,
};
use symbolon::columns;
use symbolon::plan::{self, Alternative, PlanRequest};
use symbolon::{BitVec, CancelHandle, Compiled, Error, ProtocolBytes, Rho, protocol_bytes};
use symbolon_lang::{CompileError, Options, compile_file, compile_text};

use crate::error::{self, exception, raise};
use crate::inputs::Given;
use crate::values::{ArrayType, array_of, learnt};
use crate::wait::wait;

/// A circuit: what is computed, with the owner of each input and the receivers of each output.
#[pyclass(name = "Circuit", module = "symbolon", frozen)]
pub(crate) struct PyCircuit(pub(crate) Arc<Circuit>);

/// An input or an output of a circuit.
#[pyclass(name = "Port", module = "symbolon", frozen)]
pub(crate) struct PyPort {
    #[pyo3(get)]
    name: String,
    /// As `circuit info` writes it.
    #[pyo3(get)]
    r#type: String,
    /// Who gives an input, and who learns an output: `None` is everybody.
    #[pyo3(get)]
    parties: Option<Vec<u16>>,
    /// `None` where only its text is known, which cannot be read.
    ty: Option<Type>,
}

#[pymethods]
impl PyPort {
    /// A port of which only the type's text is known. Structures and enumerations cannot be read
    /// from it.
    #[staticmethod]
    fn of_text(name: String, r#type: String, parties: Option<Vec<u16>>) -> PyPort {
        let ty = r#type.parse().ok();
        PyPort { name, r#type, parties, ty }
    }

    /// How many bits it has; 0 where the type is not known.
    #[getter]
    fn width(&self) -> u64 {
        self.ty.as_ref().map_or(0, Type::width)
    }

    /// The type and shape of a numpy array that has its values, if there is one.
    #[getter]
    fn array(&self) -> Option<ArrayType> {
        self.ty.as_ref().and_then(array_of)
    }

    /// The fields of an array of structures, with the type and shape of a numpy array that has the
    /// values of each, if all have one.
    #[getter]
    fn columns(&self) -> Option<Vec<(String, ArrayType)>> {
        let types = columns::types(self.ty.as_ref()?)?;
        types.into_iter().map(|(name, ty)| Some((name, array_of(&ty)?))).collect()
    }

    /// Converts an input to the digits of its wires; `None` where the type is not known.
    fn digits(&self, py: Python<'_>, given: Given) -> PyResult<Option<String>> {
        let Some(ty) = self.ty.clone() else { return Ok(None) };
        let input = Input { name: self.name.clone(), ty, owner: PartyId::new(0) };
        let bits = raise(py, given.bits(&input))?;
        Ok(Some(bits.iter().map(|bit| if bit { '1' } else { '0' }).collect()))
    }

    /// Converts the digits of wires, as a node sends them; `None` where the type is not known.
    fn decode<'py>(&self, py: Python<'py>, bits: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(ty) = &self.ty else { return Ok(None) };
        let bits: BitVec = bits.bytes().map(|digit| digit == b'1').collect();
        if bits.len() as u64 != ty.width() {
            let text = format!("output `{}` has another width than {ty}", self.name);
            return Err(error::SymbolonError::new_err(text));
        }
        learnt(py, ty, &bits).map(Some)
    }

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

    /// Its file: what `from_bytes` reads, with the same digest.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let write = || {
            let mut file = Vec::new();
            native::write(&self.0, &mut file).map(|()| file)
        };
        Ok(PyBytes::new(py, &wait(py, &CancelHandle::new(), write)??))
    }

    /// Pickles it as its file.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let file = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (file,)))
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

    /// What protocols send for it, all parties together.
    fn costs<'py>(&self, py: Python<'py>, parties: u16) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let costs = wait(py, &CancelHandle::new(), || protocol_bytes(&self.0, parties))?;
        let one = |cost: &ProtocolBytes| {
            let dict = PyDict::new(py);
            dict.set_item("protocol", cost.protocol)?;
            dict.set_item("form", cost.form)?;
            dict.set_item("ot", cost.ot)?;
            dict.set_item("independent", cost.triple_bytes)?;
            dict.set_item("rest", cost.bytes)?;
            Ok(dict)
        };
        costs.iter().map(one).collect()
    }

    /// The ways of running it, the fastest first; and why the calibration of this machine, if there
    /// is one, is of no use.
    fn ways<'py>(
        &self,
        py: Python<'py>,
        parties: u16,
        count: u64,
        link: &str,
        rho: u32,
    ) -> PyResult<(Vec<Bound<'py, PyDict>>, Option<String>)> {
        let link = raise(py, link.parse())?;
        let rho = Rho::from_bits(rho);
        let wrong = || Error::InvalidInput("rho is 40, 64 or 80".to_string());
        let rho = raise(py, rho.ok_or_else(wrong))?;
        let (rates, unusable) = plan::kept_rates().or_built_in();
        let request =
            PlanRequest { parties, evaluations: count.max(1), rho, ..PlanRequest::over(link) };
        let ways = wait(py, &CancelHandle::new(), || {
            plan::alternatives(&Compiled::new(&self.0), request, &rates)
        })?;
        let ways = raise(py, ways)?;
        let one = |one: &Alternative| {
            let dict = PyDict::new(py);
            dict.set_item("protocol", one.way.protocol.name())?;
            dict.set_item("form", one.way.form.name())?;
            dict.set_item("ot", one.way.ot.name())?;
            let option = one.way.option.map(|(name, word)| (name.replace('-', "_"), word));
            dict.set_item("protocol_options", option.into_iter().collect::<BTreeMap<_, _>>())?;
            dict.set_item("setup_bytes", one.setup_bytes)?;
            dict.set_item("bytes", one.bytes)?;
            dict.set_item("within_percent", one.within_percent)?;
            dict.set_item("rounds", one.rounds)?;
            dict.set_item("setup_seconds", one.setup_seconds)?;
            dict.set_item("seconds", one.seconds)?;
            dict.set_item("memory", one.memory)?;
            Ok(dict)
        };
        Ok((ways.iter().map(one).collect::<PyResult<_>>()?, unusable))
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

/// Returns a port of a known type.
pub(crate) fn port(name: &str, ty: &Type, parties: Option<Vec<u16>>) -> PyPort {
    PyPort { name: name.to_string(), r#type: ty.to_string(), parties, ty: Some(ty.clone()) }
}
