//! What is computed.

use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

use symbolon::circuit::{Circuit, builtin, read_circuit};
use symbolon::{Error, Result, files};
use symbolon_lang::{CompileError, Options, compile_file};

use crate::border::compute;
use crate::failure::{Failure, Status};
use crate::pointers::{array, free, give, optional_text, text};

/// No circuit file is longer.
const MAX_FILE: u64 = 1 << 30;

/// No call sets more constants.
const MAX_CONSTANTS: usize = 1 << 12;

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
    unsafe { compute(error, work) }
}

/// A `pub const` of a program, and the value it is to have, as text.
#[repr(C)]
pub struct Constant {
    /// Its name.
    pub name: *const c_char,
    /// Its value, as the program would have it: `32`, `true`.
    pub value: *const c_char,
}

/// Reads a circuit file of any format; a `.sym` program is compiled with
/// its own constants, and for as many parties as it names.
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
    unsafe { compute(error, work) }
}

/// Compiles the function `entry` (`main`, if that is null) of the `.sym` program in `path`, with
/// `count` of its constants set, at most 4096. If `parties` is 0, the program says how many parties
/// there are, or there are two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_circuit_compile(
    path: *const c_char,
    entry: *const c_char,
    constants: *const Constant,
    count: usize,
    parties: u16,
    circuit: *mut *mut CircuitHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        if count > MAX_CONSTANTS {
            let text = format!("a call sets at most {MAX_CONSTANTS} constants, not {count}");
            return Err(Error::invalid_input(text).into());
        }
        // SAFETY: the rules for callers.
        let (path, entry, constants) = unsafe {
            let path = text(path, "the path of the program")?;
            let entry = optional_text(entry, "the name of the function")?;
            (path, entry, array(constants, count, "constants")?)
        };
        let constants = constants.iter().map(|constant| {
            // SAFETY: the same.
            let (name, value) = unsafe {
                let name = text(constant.name, "the name of a constant")?;
                (name, text(constant.value, "the value of a constant")?)
            };
            Ok((name.to_string(), value.to_string()))
        });
        let options = Options {
            entry: entry.map(str::to_string),
            constants: constants.collect::<Result<_>>()?,
            parties: (parties > 0).then_some(parties),
            ..Options::default()
        };
        let compiled = program(Path::new(path), &options)?;
        // SAFETY: the same.
        Ok(unsafe { give(circuit, CircuitHandle(Arc::new(compiled))) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

fn program(path: &Path, options: &Options) -> Result<Circuit> {
    compile_file(path, options).map_err(|error| match error {
        CompileError::Unread(text) => Error::invalid_input(text),
        CompileError::Program(errors) => {
            let (shown, errors) = (path.display(), errors.in_a_line());
            Error::invalid_input(format!("{shown} has errors: {errors}"))
        }
        CompileError::NoThread(error) => error.into(),
    })
}

fn read(path: &Path) -> Result<Circuit> {
    if path.extension().is_some_and(|extension| extension == "sym") {
        return program(path, &Options::default());
    }
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
