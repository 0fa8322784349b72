//! What the Python package `symbolon` is built on: types and errors of the library, as Python has
//! them. The package's own modules, in `python/symbolon`, add what is better said in Python; the
//! logic is the library's.

mod circuit;
mod dealer;
mod door;
mod error;
mod exchange;
mod inputs;
mod keys;
mod outputs;
mod session;
mod settings;
mod simulate;
mod stored;
mod values;
mod wait;

use pyo3::prelude::*;

#[pymodule]
fn _symbolon(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add_to(module)?;
    module.add_class::<circuit::PyCircuit>()?;
    module.add_class::<circuit::PyPort>()?;
    module.add_class::<outputs::PyOutputs>()?;
    module.add_class::<dealer::PyDealer>()?;
    module.add_class::<door::PyDoor>()?;
    module.add_class::<door::PyNodes>()?;
    module.add_class::<door::PySubmission>()?;
    module.add_class::<session::PySession>()?;
    module.add_class::<exchange::PyExchange>()?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(settings::options, module)?)?;
    module.add_function(wrap_pyfunction!(error::error_of, module)?)?;
    module.add_function(wrap_pyfunction!(keys::keygen, module)?)?;
    module.add_function(wrap_pyfunction!(keys::fingerprint, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("failure_output", symbolon::circuit::Circuit::FAILURE)?;
    module.add("protocol_version", symbolon::PROTOCOL_VERSION)
}
