//! Errors of the library as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use symbolon::Error;
use symbolon::stored::OUT_OF_MATERIAL;

create_exception!(symbolon, SymbolonError, PyException, "The base of all errors of this package.");
create_exception!(
    symbolon,
    InvalidInput,
    SymbolonError,
    "An argument, an input or a circuit is unusable; nothing was sent."
);
create_exception!(
    symbolon,
    CompileError,
    InvalidInput,
    "A program has errors; the message has each with its line."
);
create_exception!(
    symbolon,
    AssertFailed,
    SymbolonError,
    "An assert of the program failed, so there are no outputs."
);
create_exception!(
    symbolon,
    CheatingDetected,
    SymbolonError,
    "A check failed: the party `party`, if it is known, deviated from the protocol at `check`."
);
create_exception!(
    symbolon,
    PeerMismatch,
    SymbolonError,
    "The parties have different settings: `what`, here `ours`, there `theirs`."
);
create_exception!(
    symbolon,
    PeerUnreachable,
    SymbolonError,
    "A peer is absent, gone, silent, or has another key. Nobody is accused."
);
create_exception!(
    symbolon,
    StoreError,
    SymbolonError,
    "A key file or stored material cannot be read, written or trusted."
);
create_exception!(
    symbolon,
    OutOfMaterial,
    StoreError,
    "The parties' stores hold too little in common, or others use it. Nothing was used."
);
create_exception!(
    symbolon,
    OutOfResources,
    SymbolonError,
    "The system has no more memory, threads, files or room on a disk."
);

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("SymbolonError", py.get_type::<SymbolonError>())?;
    module.add("InvalidInput", py.get_type::<InvalidInput>())?;
    module.add("CompileError", py.get_type::<CompileError>())?;
    module.add("AssertFailed", py.get_type::<AssertFailed>())?;
    module.add("CheatingDetected", py.get_type::<CheatingDetected>())?;
    module.add("PeerMismatch", py.get_type::<PeerMismatch>())?;
    module.add("PeerUnreachable", py.get_type::<PeerUnreachable>())?;
    module.add("StoreError", py.get_type::<StoreError>())?;
    module.add("OutOfMaterial", py.get_type::<OutOfMaterial>())?;
    module.add("OutOfResources", py.get_type::<OutOfResources>())
}

/// Returns the exception for an error; its attribute `code` is the library's.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let text = error.to_string();
    let raised = match error {
        Error::PeerMisbehaved { .. } => CheatingDetected::new_err(text),
        Error::PeerIncompatible { .. } => PeerMismatch::new_err(text),
        Error::Transport { .. } => PeerUnreachable::new_err(text),
        Error::InvalidInput(_) => InvalidInput::new_err(text),
        Error::Store(fault) if fault.code() == OUT_OF_MATERIAL => OutOfMaterial::new_err(text),
        Error::Store(_) => StoreError::new_err(text),
        Error::System(_) | Error::Full(_) => OutOfResources::new_err(text),
        Error::Cancelled => PyKeyboardInterrupt::new_err(text),
        _ => SymbolonError::new_err(text),
    };
    // An exception without attributes is better than another exception.
    let _ = describe(&raised.value(py).clone(), error);
    raised
}

fn describe(raised: &Bound<'_, pyo3::exceptions::PyBaseException>, error: &Error) -> PyResult<()> {
    raised.setattr("code", error.code())?;
    match error {
        Error::PeerMisbehaved { culprit, check, .. } => {
            raised.setattr("check", check.to_string())?;
            raised.setattr("party", culprit.party().map(|party| party.number()))
        }
        Error::PeerIncompatible { what, ours, theirs } => {
            raised.setattr("what", what.to_string())?;
            raised.setattr("ours", ours)?;
            raised.setattr("theirs", theirs)
        }
        Error::Transport { party, .. } => {
            raised.setattr("party", party.map(|party| party.number()))
        }
        _ => Ok(()),
    }
}

/// Turns a result of the library into one of Python.
pub(crate) fn raise<T>(py: Python<'_>, result: symbolon::Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &error))
}

/// What a node, or another party's driver, tells of an error.
pub(crate) struct Told<'a> {
    pub class: &'a str,
    pub code: &'a str,
    pub text: String,
    pub party: Option<u16>,
    pub check: Option<String>,
}

/// Returns the exception for an error that somebody tells, by its class.
pub(crate) fn of_class(py: Python<'_>, told: Told<'_>) -> PyErr {
    let Told { class, code, text, party, check } = told;
    let raised = match class {
        "usage" => InvalidInput::new_err(text),
        "assert" => AssertFailed::new_err(text),
        "misbehaved" => CheatingDetected::new_err(text),
        "incompatible" => PeerMismatch::new_err(text),
        "peer" => PeerUnreachable::new_err(text),
        "store" => StoreError::new_err(text),
        "system" | "unwritten" => OutOfResources::new_err(text),
        _ => SymbolonError::new_err(text),
    };
    let describe = || -> PyResult<()> {
        let raised = raised.value(py);
        raised.setattr("code", code)?;
        if class == "misbehaved" {
            raised.setattr("check", check)?;
        }
        if ["misbehaved", "peer"].contains(&class) {
            raised.setattr("party", party)?;
        }
        Ok(())
    };
    // An exception without attributes is better than another exception.
    let _ = describe();
    raised
}

/// The exception for an error that a node, or another party's driver, tells.
#[pyfunction]
#[pyo3(signature = (class_, code, text, /, *, party=None, check=None))]
pub(crate) fn error_of(
    py: Python<'_>,
    class_: &str,
    code: &str,
    text: String,
    party: Option<u16>,
    check: Option<String>,
) -> Py<PyAny> {
    of_class(py, Told { class: class_, code, text, party, check }).into_value(py).into_any()
}
