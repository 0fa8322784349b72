//! What a run returns.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use symbolon::columns::{self, Column};
use symbolon::store::ItemId;
use symbolon::{OutputValue, Outputs, PhaseReport, Report};

use crate::error::{AssertFailed, raise};
use crate::values::learnt;

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
        learnt(py, ty, raise(py, self.0.bits(name))?)
    }

    /// The columns of an output that is an array of structures, by the names of the fields and as
    /// `get` returns an array; `None` for another one.
    fn columns<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Columns<'py>>> {
        let output = raise(py, self.0.learnt(name))?;
        let bits = raise(py, self.0.bits(name))?;
        let Some(columns) = columns::split(&output.ty, bits) else { return Ok(None) };
        let shown = |column: Column| Ok((column.name, learnt(py, &column.ty, &column.bits)?));
        columns.into_iter().map(shown).collect::<PyResult<Columns<'_>>>().map(Some)
    }
}

/// Columns by name.
type Columns<'py> = Vec<(String, Bound<'py, PyAny>)>;

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
