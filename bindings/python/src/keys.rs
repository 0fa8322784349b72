//! Keys.

use std::path::PathBuf;

use pyo3::prelude::*;
use symbolon::Identity;

use crate::error::raise;

/// Makes a key and writes it to a file that its owner alone may read; returns its fingerprint.
#[pyfunction]
#[pyo3(signature = (path, overwrite = false))]
pub(crate) fn keygen(py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<String> {
    let made = Identity::generate().and_then(|identity| {
        identity.save(&path, overwrite)?;
        Ok(identity.fingerprint().to_string())
    });
    raise(py, made)
}

/// The fingerprint of a key file.
#[pyfunction]
pub(crate) fn fingerprint(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    raise(py, Identity::load(path).map(|identity| identity.fingerprint().to_string()))
}
