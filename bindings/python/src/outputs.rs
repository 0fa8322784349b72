//! What a run returns.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyTuple};
use symbolon::circuit::{Type, Value};
use symbolon::store::ItemId;
use symbolon::{OutputValue, Outputs, PhaseReport, Report};

use crate::circuit::array_of;
use crate::error::{AssertFailed, raise};

/// The outputs that one party learnt.
#[pyclass(name = "Outputs", module = "symbolon", frozen)]
pub(crate) struct PyOutputs(pub(crate) Outputs);

#[pymethods]
impl PyOutputs {
    /// The names of the outputs that this party learnt, in the circuit's order.
    ///
    /// Raises `AssertFailed` if an assert of the program failed.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<&str>> {
        if let Some(failure) = self.0.failure() {
            let raised = AssertFailed::new_err(failure.to_string());
            raised.value(py).setattr("code", "assert-failed")?;
            return Err(raised);
        }
        let failure = symbolon::circuit::Circuit::FAILURE;
        let learnt = self.0.iter();
        let learnt = learnt.filter(|output| output.bits.is_some() && output.name != failure);
        Ok(learnt.map(|output| output.name.as_str()).collect())
    }

    /// An output: a pair of the type and shape of an array and its bytes where `Port.array` says
    /// so, else a value.
    fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if self.0.get(name).is_none() {
            return Err(PyKeyError::new_err(format!("there is no output `{name}`")));
        }
        let OutputValue { ty, .. } = raise(py, self.0.learnt(name))?;
        if let Some(array) = array_of(ty) {
            let bytes = raise(py, self.0.bytes(name))?;
            return (array, PyBytes::new(py, &bytes)).into_bound_py_any(py);
        }
        value(py, ty, &raise(py, self.0.value(name))?)
    }
}

/// What a call returns: the outputs of each evaluation, and what it cost.
#[derive(IntoPyObject)]
pub(crate) struct Ran {
    outputs: Vec<PyOutputs>,
    report: Py<PyList>,
    /// The prepared circuits that it used up.
    used: Vec<String>,
}

impl Ran {
    pub(crate) fn new(py: Python<'_>, outputs: Outputs, report: &Report) -> PyResult<Ran> {
        Ran::of(py, vec![outputs], report, Vec::new())
    }

    pub(crate) fn of(
        py: Python<'_>,
        outputs: Vec<Outputs>,
        report: &Report,
        used: Vec<ItemId>,
    ) -> PyResult<Ran> {
        let outputs = outputs.into_iter().map(PyOutputs).collect();
        let used = used.iter().map(ToString::to_string).collect();
        Ok(Ran { outputs, report: phases(py, report)?, used })
    }
}

/// What each phase cost, in the order of the phases.
pub(crate) fn phases(py: Python<'_>, report: &Report) -> PyResult<Py<PyList>> {
    let phase = |phase: &PhaseReport| {
        let dict = PyDict::new(py);
        dict.set_item("phase", &phase.phase)?;
        dict.set_item("bytes_sent", phase.bytes_sent)?;
        dict.set_item("bytes_received", phase.bytes_received)?;
        dict.set_item("rounds", phase.rounds)?;
        dict.set_item("seconds", phase.seconds)?;
        PyResult::Ok(dict)
    };
    let phases = report.phases.iter().map(phase).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, phases)?.unbind())
}

/// Converts a value: an array is a list, a tuple a tuple, a structure a dict.
fn value<'py>(py: Python<'py>, ty: &Type, given: &Value) -> PyResult<Bound<'py, PyAny>> {
    match (ty, given) {
        (Type::Array { elem, .. }, Value::Array(values)) => {
            let values = values.iter().map(|one| value(py, elem, one));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_bound_py_any(py)
        }
        (Type::Tuple(types), Value::Array(values)) => {
            let values = types.iter().zip(values).map(|(ty, one)| value(py, ty, one));
            PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_bound_py_any(py)
        }
        (Type::Struct { fields, .. }, Value::Object(values)) => {
            let dict = PyDict::new(py);
            for ((name, ty), (_, one)) in fields.iter().zip(values) {
                dict.set_item(name, value(py, ty, one)?)?;
            }
            dict.into_bound_py_any(py)
        }
        (Type::F32 | Type::F64, Value::Name(special)) => {
            let number: f64 = special.parse().expect("`inf`, `-inf` or `NaN`");
            number.into_bound_py_any(py)
        }
        (Type::Enum { .. }, _) => variant(py, ty, given),
        _ => plain(py, given),
    }
}

/// Converts a value of an enumeration: a variant's name, or its name and its payload; of an
/// optional type, `None` or what it has.
fn variant<'py>(py: Python<'py>, ty: &Type, given: &Value) -> PyResult<Bound<'py, PyAny>> {
    let Type::Enum { variants, .. } = ty else { return plain(py, given) };
    match (given, ty.optional()) {
        (Value::Null | Value::Name(_), _) => plain(py, given),
        (given, Some(some)) if some.optional().is_none() => value(py, some, given),
        (Value::Object(fields), _) => {
            let dict = PyDict::new(py);
            for (name, payload) in fields {
                let types = variants.iter().find(|(known, _)| known == name);
                let types = types.map_or(Vec::new(), |(_, types)| types.clone());
                dict.set_item(name, value(py, &Type::Tuple(types), payload)?)?;
            }
            dict.into_bound_py_any(py)
        }
        _ => plain(py, given),
    }
}

/// Converts a value by its form alone.
fn plain<'py>(py: Python<'py>, given: &Value) -> PyResult<Bound<'py, PyAny>> {
    match given {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Integer(digits) => py.get_type::<PyInt>().call1((digits, 0)),
        Value::Fraction(text) => {
            let number: f64 = text.parse().expect("a decimal");
            number.into_bound_py_any(py)
        }
        Value::Name(text) | Value::Text(text) => text.into_bound_py_any(py),
        Value::Array(values) => {
            let values = values.iter().map(|one| plain(py, one));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_bound_py_any(py)
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, one) in fields {
                dict.set_item(name, plain(py, one)?)?;
            }
            dict.into_bound_py_any(py)
        }
    }
}
