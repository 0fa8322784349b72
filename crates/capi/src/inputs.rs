//! One party's inputs.

use std::ffi::c_char;
use std::sync::Arc;

use symbolon::circuit::Circuit;
use symbolon::zeroize::Zeroizing;
use symbolon::{Error, Inputs, InputsBuilder, Result};

use crate::border::call;
use crate::circuit::CircuitHandle;
use crate::failure::{Failure, Status};
use crate::pointers::{array, free, give, handle, handle_mut, text};

/// No call computes more evaluations.
const MAX_BATCH: usize = 1 << 24;

/// A party's inputs for a circuit; wiped when they are freed.
pub struct InputsHandle {
    circuit: Arc<Circuit>,
    party: u16,
    given: Vec<(String, Given)>,
}

/// A value as it was given, behind a pointer, so that a list that grows leaves no copy of it.
enum Given {
    Text(Zeroizing<String>),
    Uint(Box<Zeroizing<u64>>),
    Bits(Zeroizing<Vec<bool>>),
    Bytes(Zeroizing<Vec<u8>>),
}

impl Given {
    fn add<'c>(&self, name: &str, to: InputsBuilder<'c>) -> Result<InputsBuilder<'c>> {
        match self {
            Given::Text(text) => to.text(name, text),
            Given::Uint(value) => to.uint(name, u128::from(***value)),
            Given::Bits(bits) => to.bits(name, bits.to_vec()),
            Given::Bytes(bytes) => to.bytes(name, bytes),
        }
    }
}

impl InputsHandle {
    fn set(&mut self, name: &str, value: Given) -> Result<()> {
        // By itself, so that a mistake is found now; twice the same name is one, too.
        value.add(name, Inputs::builder(&self.circuit, self.party))?;
        if self.given.iter().any(|(known, _)| known == name) {
            return Err(Error::invalid_input(format!("input `{name}` is given twice")));
        }
        self.given.push((name.to_string(), value));
        Ok(())
    }

    /// Refuses a number of bits that the input does not have.
    fn check_count(&self, name: &str, count: usize) -> Result<()> {
        let width = Inputs::builder(&self.circuit, self.party).width(name)?;
        if width == count as u64 {
            return Ok(());
        }
        let text = format!("input `{name}` takes {width} bits, {count} were given");
        Err(Error::invalid_input(text))
    }

    /// Refuses a number of bytes that the input does not take.
    fn check_bytes(&self, name: &str, count: usize) -> Result<()> {
        let takes = Inputs::builder(&self.circuit, self.party).width(name)?.div_ceil(8);
        if takes == count as u64 {
            return Ok(());
        }
        let text = format!("input `{name}` takes {takes} bytes, {count} were given");
        Err(Error::invalid_input(text))
    }

    /// The inputs as the library takes them, if none is missing.
    pub(crate) fn finish(&self) -> Result<Inputs> {
        let start = Inputs::builder(&self.circuit, self.party);
        let all = self.given.iter().try_fold(start, |all, (name, value)| value.add(name, all));
        all?.finish()
    }
}

/// This party's inputs of each evaluation of a batch of `expected`, from an array of C.
///
/// # Safety
/// `inputs` is null, or points to `count` handles that the rules for callers allow.
pub(crate) unsafe fn finish_all(
    inputs: *const *const InputsHandle,
    count: usize,
    expected: u64,
) -> Result<Vec<Inputs>> {
    if count > MAX_BATCH {
        let text = format!("a call computes at most {MAX_BATCH} evaluations, not {count}");
        return Err(Error::invalid_input(text));
    }
    if count as u64 != expected {
        let text = format!("there are {count} inputs, and `batch` says {expected} evaluations");
        return Err(Error::invalid_input(text));
    }
    // SAFETY: the caller's promise.
    let inputs = unsafe { array(inputs, count, "inputs") }?;
    // SAFETY: the same.
    let one = |inputs: &*const InputsHandle| unsafe { handle(*inputs, "inputs") }?.finish();
    inputs.iter().map(one).collect()
}

/// Begins to collect the inputs that `party` has in `circuit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_inputs_new(
    circuit: *const CircuitHandle,
    party: u16,
    inputs: *mut *mut InputsHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let circuit = unsafe { handle(circuit, "circuit") }?.0.clone();
        let made = InputsHandle { circuit, party, given: Vec::new() };
        // SAFETY: the same.
        Ok(unsafe { give(inputs, made) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Sets an input from text as the command takes it: `42`, `-5`, `hex:01ff`, `[1, 2, 3]`, `true`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_inputs_text(
    inputs: *mut InputsHandle,
    name: *const c_char,
    value: *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (inputs, name, value) = unsafe {
            let inputs = handle_mut(inputs, "inputs")?;
            (inputs, text(name, "the name of the input")?, text(value, "the value")?)
        };
        Ok(inputs.set(name, Given::Text(value.to_string().into()))?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Sets an input from an unsigned integer that fits its width.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_inputs_uint(
    inputs: *mut InputsHandle,
    name: *const c_char,
    value: u64,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (inputs, name) =
            unsafe { (handle_mut(inputs, "inputs")?, text(name, "the name of the input")?) };
        Ok(inputs.set(name, Given::Uint(Box::new(value.into())))?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Sets an input from `count` bits, a byte of 0 or 1 each, first wire first. Wire 0 of an integer
/// is its lowest bit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_inputs_bits(
    inputs: *mut InputsHandle,
    name: *const c_char,
    bits: *const u8,
    count: usize,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (inputs, name) =
            unsafe { (handle_mut(inputs, "inputs")?, text(name, "the name of the input")?) };
        inputs.check_count(name, count)?;
        // SAFETY: the same.
        let bits = unsafe { array(bits, count, "bits") }?;
        if bits.iter().any(|bit| *bit > 1) {
            return Err(Error::invalid_input("a bit is a byte of 0 or 1").into());
        }
        let bits: Vec<bool> = bits.iter().map(|bit| *bit == 1).collect();
        Ok(inputs.set(name, Given::Bits(bits.into()))?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Sets an input from `count` bytes: eight wires each, the first wire being the lowest bit of the
/// first byte. Unused bits of the last byte are zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_inputs_bytes(
    inputs: *mut InputsHandle,
    name: *const c_char,
    bytes: *const u8,
    count: usize,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (inputs, name) =
            unsafe { (handle_mut(inputs, "inputs")?, text(name, "the name of the input")?) };
        inputs.check_bytes(name, count)?;
        // SAFETY: the same.
        let bytes = unsafe { array(bytes, count, "bytes") }?;
        Ok(inputs.set(name, Given::Bytes(bytes.to_vec().into()))?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Wipes and frees inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_inputs_free(inputs: *mut InputsHandle) {
    // SAFETY: the rules for callers.
    unsafe { free(inputs) }
}
