//! What is computed.

use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

use symbolon::circuit::{Circuit, builtin, read_circuit};
use symbolon::{Error, Result, files};

use crate::border::{call, free, give, text};
use crate::failure::{Failure, Status};

/// No circuit file is longer.
const MAX_FILE: u64 = 1 << 30;

/// A circuit.
pub struct CircuitHandle(pub(crate) Arc<Circuit>);

/// Builds a built-in circuit, such as `aes128` or `add:32`; `symbolon circuit list` shows them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_circuit_builtin(
    name: *const c_char,
    circuit: *mut *mut CircuitHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let built = builtin::by_name(unsafe { text(name, "the name of the circuit") }?)
            .map_err(Error::from)?;
        // SAFETY: the same.
        Ok(unsafe { give(circuit, CircuitHandle(Arc::new(built))) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Reads a circuit file: native, Bristol, BLIF or JSON of Yosys. `symbolon circuit convert` makes a
/// native file of a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_circuit_read(
    path: *const c_char,
    circuit: *mut *mut CircuitHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let read = read(Path::new(unsafe { text(path, "the path of the circuit") }?))?;
        // SAFETY: the same.
        Ok(unsafe { give(circuit, CircuitHandle(Arc::new(read))) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

fn read(path: &Path) -> Result<Circuit> {
    let shown = path.display();
    let bytes = files::read(path, MAX_FILE)
        .map_err(|error| Error::invalid_input(format!("cannot read {shown}: {error}")))?;
    let read = read_circuit(&bytes);
    Ok(read.map_err(|error| Error::invalid_input(format!("{shown}: {error}")))?.0)
}

/// Frees a circuit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_circuit_free(circuit: *mut CircuitHandle) {
    // SAFETY: the rules for callers.
    unsafe { free(circuit) }
}
