//! What a party learnt.

use std::cell::OnceCell;
use std::ffi::{CString, c_char};

use symbolon::circuit::Type;
use symbolon::zeroize::Zeroizing;
use symbolon::{Error, OutputValue, Outputs};

use crate::border::call;
use crate::failure::{Ended, Failure, Status};
use crate::pointers::{c_string, free, handle, place, put, text};

/// The outputs of a run; wiped when they are freed.
pub struct OutputsHandle {
    all: Outputs,
    /// How many parties there are, as JSON names those that learn an output.
    parties: u16,
    /// The name of each output, and its text where this party learns it.
    shown: Vec<(CString, Option<Text>)>,
    /// The bits of those whose bits C has asked for, a byte each.
    bits: Vec<OnceCell<Zeroizing<Vec<bool>>>>,
    /// The bytes of those whose bytes C has asked for.
    bytes: Vec<OnceCell<Zeroizing<Vec<u8>>>>,
    /// All of them as JSON, once C has asked for it.
    json: OnceCell<Text>,
}

/// A text that ends with its only zero byte.
type Text = Zeroizing<Vec<u8>>;

fn terminated(text: &str) -> Text {
    // A list that grows would leave copies.
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend(text.bytes().filter(|byte| *byte != 0));
    bytes.push(0);
    bytes.into()
}

fn unfit(output: &OutputValue, number: &str) -> Error {
    let OutputValue { name, ty, .. } = output;
    Error::invalid_input(format!(
        "output `{name}` ({ty}) cannot be read as {number} of 64 bits: read its text or its bits"
    ))
}

impl OutputsHandle {
    /// The outputs of a run alone.
    pub(crate) fn checked(outputs: Outputs, parties: u16) -> Result<Self, Box<Failure>> {
        let outputs = OutputsHandle::new(outputs, parties);
        outputs.check()?;
        Ok(outputs)
    }

    /// The outputs of one run of several, of which the others are of use where this one failed.
    pub(crate) fn new(all: Outputs, parties: u16) -> Self {
        let show = |output: &OutputValue| {
            let text = output.text().map(Zeroizing::new);
            (c_string(&output.name), text.map(|text| terminated(&text)))
        };
        let shown = all.iter().map(show).collect();
        let bits = all.iter().map(|_| OnceCell::new()).collect();
        let bytes = all.iter().map(|_| OnceCell::new()).collect();
        OutputsHandle { all, parties, shown, bits, bytes, json: OnceCell::new() }
    }

    /// Refuses outputs that are zero because an assert of the program did not hold.
    fn check(&self) -> Ended {
        let failure = self.all.failure();
        failure.map_or(Ok(()), |failure| Err(Failure::assert(&failure.to_string())))
    }

    fn learnt(&self, name: &str) -> Result<&OutputValue, Box<Failure>> {
        self.check()?;
        Ok(self.all.learnt(name)?)
    }

    fn text(&self, name: &str) -> Result<&Text, Box<Failure>> {
        self.learnt(name)?;
        let shown = self.shown.iter().find(|(known, _)| known.as_bytes() == name.as_bytes());
        let text = shown.and_then(|(_, text)| text.as_ref());
        Ok(text.ok_or_else(|| Error::internal("an output that is learnt has no text"))?)
    }

    fn bits(&self, name: &str) -> Result<&[bool], Box<Failure>> {
        let output = self.learnt(name)?;
        let place = self.all.iter().position(|other| other.name == output.name);
        let bits = place.and_then(|place| self.bits.get(place)).zip(output.bits.as_ref());
        let (unpacked, bits) =
            bits.ok_or_else(|| Error::internal("an output that is learnt has no bits"))?;
        Ok(unpacked.get_or_init(|| bits.to_bools().into()))
    }

    fn bytes(&self, name: &str) -> Result<&[u8], Box<Failure>> {
        let output = self.learnt(name)?;
        let place = self.all.iter().position(|other| other.name == output.name);
        let kept = place.and_then(|place| self.bytes.get(place));
        let kept = kept.ok_or_else(|| Error::internal("an output that is learnt has no place"))?;
        if kept.get().is_none() {
            let _ = kept.set(self.all.bytes(name)?);
        }
        Ok(kept.get().map_or(&[], |bytes| bytes))
    }

    fn json(&self) -> Result<&Text, Box<Failure>> {
        self.check()?;
        if let Some(json) = self.json.get() {
            return Ok(json);
        }
        let json = terminated(&self.all.json(self.parties)?);
        Ok(self.json.get_or_init(|| json))
    }
}

/// Writes to `value` what `read` returns for the output with this name.
///
/// # Safety
/// The rules for callers of the functions of this library hold for all pointers.
unsafe fn read_output<T>(
    outputs: *const OutputsHandle,
    name: *const c_char,
    value: *mut T,
    error: *mut *mut Failure,
    read: impl FnOnce(&OutputsHandle, &str) -> Result<T, Box<Failure>>,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (outputs, name) =
            unsafe { (handle(outputs, "outputs")?, text(name, "the name of the output")?) };
        // SAFETY: the same.
        Ok(unsafe { put(value, read(outputs, name)?) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// How many outputs there are, learnt or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_count(outputs: *const OutputsHandle) -> usize {
    // SAFETY: the rules for callers.
    unsafe { outputs.as_ref() }.map_or(0, |outputs| outputs.shown.len())
}

/// The name of the output at a place, from 0; null if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_name(
    outputs: *const OutputsHandle,
    place: usize,
) -> *const c_char {
    // SAFETY: the rules for callers.
    let outputs = unsafe { outputs.as_ref() };
    let output = outputs.and_then(|outputs| outputs.shown.get(place));
    output.map_or(std::ptr::null(), |(name, _)| name.as_ptr())
}

/// Writes 1 if this party learns the output, and 0 if it does not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_is_learnt(
    outputs: *const OutputsHandle,
    name: *const c_char,
    is_learnt: *mut u8,
    error: *mut *mut Failure,
) -> Status {
    let read = |outputs: &OutputsHandle, name: &str| Ok(u8::from(outputs.all.is_learnt(name)?));
    // SAFETY: the rules for callers.
    unsafe { read_output(outputs, name, is_learnt, error, read) }
}

/// All outputs as a JSON list, each as the command writes it with `--json`: an object with `name`,
/// `type`, `receivers`, `bits`, `hex` and `value`. The last three are null where this party does
/// not learn the output. docs/reference/json.md has more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_json(
    outputs: *const OutputsHandle,
    json: *mut *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let outputs = unsafe { handle(outputs, "outputs") }?;
        // SAFETY: the same.
        Ok(unsafe { put(json, outputs.json()?.as_ptr().cast()) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// An output as text, as the command prints it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_text(
    outputs: *const OutputsHandle,
    name: *const c_char,
    value: *mut *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let read = |outputs: &OutputsHandle, name: &str| Ok(outputs.text(name)?.as_ptr().cast());
    // SAFETY: the rules for callers.
    unsafe { read_output(outputs, name, value, error, read) }
}

/// An output of at most 64 bits as an unsigned integer, whatever its type. Wire 0 is the lowest
/// bit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_uint(
    outputs: *const OutputsHandle,
    name: *const c_char,
    value: *mut u64,
    error: *mut *mut Failure,
) -> Status {
    let read = |outputs: &OutputsHandle, name: &str| {
        let output = outputs.learnt(name)?;
        let number = output.uint().filter(|_| output.ty.width() <= 64);
        Ok(number.ok_or_else(|| unfit(output, "an unsigned integer"))? as u64)
    };
    // SAFETY: the rules for callers.
    unsafe { read_output(outputs, name, value, error, read) }
}

/// An integer or a truth value as a signed integer: an `int` of at most 64 bits, a `uint` of at
/// most 63, or a `bool`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_int(
    outputs: *const OutputsHandle,
    name: *const c_char,
    value: *mut i64,
    error: *mut *mut Failure,
) -> Status {
    let read = |outputs: &OutputsHandle, name: &str| {
        let output = outputs.learnt(name)?;
        // Whether it can be read never depends on the value.
        let widest = if matches!(output.ty, Type::Int(_)) { 64 } else { 63 };
        let number = output.int().filter(|_| output.ty.width() <= widest);
        Ok(number.ok_or_else(|| unfit(output, "a signed integer"))? as i64)
    };
    // SAFETY: the rules for callers.
    unsafe { read_output(outputs, name, value, error, read) }
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
        let learnt = outputs.bits(name)?;
        place(count)?;
        // SAFETY: the same. A `bool` is a byte of 0 or 1.
        unsafe {
            put(bits, learnt.as_ptr().cast())?;
            Ok(put(count, learnt.len())?)
        }
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// The bytes of an output, and how many there are: eight wires each, the first wire being the
/// lowest bit of the first byte. So an array of bytes is as it is, and an integer in little-endian
/// order. They are wiped with the outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_outputs_bytes(
    outputs: *const OutputsHandle,
    name: *const c_char,
    bytes: *mut *const u8,
    count: *mut usize,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (outputs, name) =
            unsafe { (handle(outputs, "outputs")?, text(name, "the name of the output")?) };
        let learnt = outputs.bytes(name)?;
        place(count)?;
        // SAFETY: the same.
        unsafe {
            put(bytes, learnt.as_ptr())?;
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
