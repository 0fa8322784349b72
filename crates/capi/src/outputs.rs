//! What a party learnt.

use std::ffi::{CString, c_char};

use symbolon::zeroize::Zeroizing;
use symbolon::{Error, Outputs};

use crate::border::call;
use crate::failure::{Ended, Failure, Status};
use crate::pointers::{c_string, free, handle, place, put, text};

/// The outputs of a run; wiped when they are freed.
pub struct OutputsHandle {
    outputs: Vec<Output>,
    /// What an assert of the program said that did not hold: then all outputs are zero, and none is
    /// handed out.
    failed: Option<String>,
}

struct Output {
    name: CString,
    /// Nothing where this party does not learn it.
    learnt: Option<Learnt>,
}

struct Learnt {
    /// It ends with its only zero byte.
    text: Zeroizing<Vec<u8>>,
    bits: Zeroizing<Vec<u8>>,
}

impl Learnt {
    fn new(text: &str, bits: &[bool]) -> Self {
        // A list that grows would leave copies.
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend(text.bytes().filter(|byte| *byte != 0));
        bytes.push(0);
        let bits: Vec<u8> = bits.iter().map(|bit| u8::from(*bit)).collect();
        Learnt { text: bytes.into(), bits: bits.into() }
    }
}

impl OutputsHandle {
    /// The outputs of a run alone.
    pub(crate) fn checked(outputs: &Outputs) -> Result<Self, Box<Failure>> {
        let outputs = OutputsHandle::new(outputs);
        outputs.check()?;
        Ok(outputs)
    }

    /// The outputs of one run of several, of which the others are of use where this one failed.
    pub(crate) fn new(outputs: &Outputs) -> Self {
        let output = |output: &symbolon::OutputValue| {
            let text = Zeroizing::new(output.text().unwrap_or_default());
            let learnt = output.bits.as_ref().map(|bits| Learnt::new(&text, bits));
            Output { name: c_string(&output.name), learnt }
        };
        let failed = outputs.failure().map(ToString::to_string);
        OutputsHandle { outputs: outputs.iter().map(output).collect(), failed }
    }

    fn check(&self) -> Ended {
        self.failed.as_deref().map_or(Ok(()), |text| Err(Failure::assert(text)))
    }

    fn learnt(&self, name: &str) -> Result<&Learnt, Box<Failure>> {
        self.check()?;
        let found = self.outputs.iter().find(|output| output.name.as_bytes() == name.as_bytes());
        let found = found
            .ok_or_else(|| Error::invalid_input(format!("the circuit has no output `{name}`")))?;
        let learnt = found.learnt.as_ref();
        let hidden = || Error::invalid_input(format!("this party does not learn `{name}`"));
        Ok(learnt.ok_or_else(hidden)?)
    }
}

/// How many outputs there are, learnt or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_count(outputs: *const OutputsHandle) -> usize {
    // SAFETY: the rules for callers.
    unsafe { outputs.as_ref() }.map_or(0, |outputs| outputs.outputs.len())
}

/// The name of the output at a place, from 0; null if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_name(
    outputs: *const OutputsHandle,
    place: usize,
) -> *const c_char {
    // SAFETY: the rules for callers.
    let outputs = unsafe { outputs.as_ref() };
    let output = outputs.and_then(|outputs| outputs.outputs.get(place));
    output.map_or(std::ptr::null(), |output| output.name.as_ptr())
}

/// An output as text, as the command prints it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_text(
    outputs: *const OutputsHandle,
    name: *const c_char,
    value: *mut *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (outputs, name) =
            unsafe { (handle(outputs, "outputs")?, text(name, "the name of the output")?) };
        // SAFETY: the same.
        Ok(unsafe { put(value, outputs.learnt(name)?.text.as_ptr().cast()) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// An output of at most 64 bits as an unsigned integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_uint(
    outputs: *const OutputsHandle,
    name: *const c_char,
    value: *mut u64,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (outputs, name) =
            unsafe { (handle(outputs, "outputs")?, text(name, "the name of the output")?) };
        let bits = &outputs.learnt(name)?.bits;
        if bits.len() > 64 {
            let text = format!("output `{name}` has {} bits, more than 64", bits.len());
            return Err(Error::invalid_input(text).into());
        }
        let number = bits.iter().rev().fold(0, |number, bit| number << 1 | u64::from(*bit));
        // SAFETY: the same.
        Ok(unsafe { put(value, number) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// The bits of an output, a byte of 0 or 1 each, first wire first, and how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_bits(
    outputs: *const OutputsHandle,
    name: *const c_char,
    bits: *mut *const u8,
    count: *mut usize,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (outputs, name) =
            unsafe { (handle(outputs, "outputs")?, text(name, "the name of the output")?) };
        let learnt = &outputs.learnt(name)?.bits;
        place(count)?;
        // SAFETY: the same.
        unsafe {
            put(bits, learnt.as_ptr())?;
            Ok(put(count, learnt.len())?)
        }
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Wipes and frees outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_free(outputs: *mut OutputsHandle) {
    // SAFETY: the rules for callers.
    unsafe { free(outputs) }
}
