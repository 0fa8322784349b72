//! Symbolon's own circuit files (`.sbc`): everything that a circuit has, in few bytes.
//!
//! Bristol files have no names, types, owners, receivers or components. These files keep all of
//! them: a circuit that is written and read again is equal, and has the same digest.
//!
//! ```text
//! file      = 89 "SBC" version:u8 name inputs outputs failures tables components    (lists)
//! input     = name type owner
//! output    = name type receivers        0: all; n + 1, then n parties: these parties
//! failure   = text file line
//! type      = 0 width | 1 width | 2 length type | 3 | 4 int frac   (Uint, Int, Array, Bool, Fixed)
//!           | 5 types | 6 name fields | 7 name variants | 8 | 9    (Tuple, Struct, Enum, F32, F64)
//!           | 10 length                                               (Text)
//! table     = inputs outputs entry … entry                           2^inputs entries
//! component = name inputs wires steps calls arguments repeats passed lookups reads outputs
//! call      = component first_arg* arg_count first_output*
//! argument  = first* length
//! repeat    = component count first_passed* passed_count first_output*
//! passed    = 0 first* count | 1 first* count | 2 first* count       (Fixed, Carried, Strided)
//!           | 3 start step bits                                      (Counter)
//! lookup    = table first_input* input_count first_output* output_count
//! outputs   = list of first* length                                  runs of consecutive wires
//! ```
//!
//! Numbers are LEB128 in the fewest bytes. Names, texts and lists begin with their lengths. A
//! number marked * is the difference from what is expected (the end of the previous item of the
//! list, 0 at first), in zigzag form.
//!
//! A step begins with a byte: its kind (bits 0 to 2), a short distance (3 to 6), and whether the
//! result, call, look-up or repeat is not the next one (7); then a difference in zigzag form
//! follows. An operand is the distance from it to the result, modulo 2^32. The first one is in bits
//! 3 to 6 if it is 1 to 15. Most gates take two to four bytes.
//!
//! Version 2 is the same without texts, and version 1 also without repeats and what they pass. A
//! circuit without texts is written in version 2.
//!
//! # Limits
//! Items that cost no bytes are limited, so that memory is bounded by a file's length and these
//! limits: all components of a file together have at most 2^30 inputs, 2^26 outputs, and 2^28 other
//! wires and 256 for each step; enumerations have a variant; types are nested at most 64 deep, and
//! hold at most 2^16 more values than bits. The writer refuses other circuits. Wires that calls
//! pass cost no bytes either: [`Circuit::new`](crate::Circuit::new) limits them.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::write;

use crate::validate::most_wires;
use crate::{CircuitError, Type};

/// Every file begins with these bytes. The first one occurs in no text.
const MAGIC: [u8; 4] = *b"\x89SBC";

/// The newest version, which is written for circuits with texts.
const VERSION: u8 = 3;

/// The version that is written for other circuits, so that older programs read them, too.
const WITHOUT_TEXTS: u8 = 2;

/// The oldest version that is read, which has no repeats.
const OLDEST: u8 = 1;

/// How deep types may be nested.
const MAX_DEPTH: usize = 64;

/// How many values a type may hold beyond its bits: values without bits take no memory in a
/// circuit, but time whenever a value is read or shown.
const MAX_EMPTY: u64 = 1 << 16;

/// How many inputs all components may have together. One takes a few bits of memory.
const MAX_INPUTS: u64 = 1 << 30;

/// How many outputs all components may have together.
const MAX_OUTPUTS: u64 = 1 << 26;

/// How many wires all components may have together, apart from their inputs and those that their
/// steps allow: calls and repeats write many in a few bytes.
const FREE_WIRES: u64 = 1 << 28;

/// Returns whether the bytes begin like a file of this format, in any version.
pub fn is_native(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The kinds of steps, as their bytes encode them.
mod kind {
    pub(super) const XOR: u8 = 0;
    pub(super) const AND: u8 = 1;
    pub(super) const INV: u8 = 2;
    pub(super) const ZERO: u8 = 3;
    pub(super) const ONE: u8 = 4;
    pub(super) const CALL: u8 = 5;
    pub(super) const LOOKUP: u8 = 6;
    pub(super) const REPEAT: u8 = 7;
    /// The bits that hold the kind.
    pub(super) const MASK: u8 = 7;
    /// Where the short distance of the first operand begins.
    pub(super) const SHORT: u32 = 3;
    /// The largest short distance.
    pub(super) const LONGEST: u32 = 15;
    /// Set where the result is not the next wire.
    pub(super) const ELSEWHERE: u8 = 0x80;
}

/// Counts the inputs, outputs, wires and steps of components.
#[derive(Default)]
struct Ports {
    inputs: u64,
    outputs: u64,
    wires: u64,
    steps: usize,
}

impl Ports {
    /// Adds the wires, beside its inputs, of a component that has this many steps.
    fn add_wires(&mut self, wires: u32, steps: usize) -> Result<(), CircuitError> {
        self.wires += u64::from(wires);
        self.steps += steps;
        let most = most_wires(FREE_WIRES, self.steps);
        if self.wires > most {
            return Err(CircuitError::invalid(format!(
                "the components up to here have {} wires beside their inputs: more than {most}, \
                 which are 2^28 and 256 for each step",
                self.wires
            )));
        }
        Ok(())
    }

    /// Adds the inputs and outputs of a component, or of a part of it.
    fn add(&mut self, inputs: u64, outputs: u64) -> Result<(), CircuitError> {
        self.inputs = self.inputs.saturating_add(inputs);
        self.outputs = self.outputs.saturating_add(outputs);
        let all = [(self.inputs, MAX_INPUTS, "inputs"), (self.outputs, MAX_OUTPUTS, "outputs")];
        for (count, most, what) in all {
            if count > most {
                return Err(CircuitError::invalid(format!(
                    "the components have more than 2^{} {what}, the most that a file may have",
                    most.ilog2()
                )));
            }
        }
        Ok(())
    }
}

/// Refuses types that hold too many values without bits; types that are too deep are not read at
/// all.
fn check_type(ty: &Type) -> Result<(), CircuitError> {
    if values(ty) > ty.width().saturating_add(MAX_EMPTY) {
        return Err(CircuitError::invalid("a type holds too many values without bits"));
    }
    Ok(())
}

/// Returns how many values are in a type, including those that hold others.
fn values(ty: &Type) -> u64 {
    let sum = |parts: &[Type]| parts.iter().map(values).fold(0, u64::saturating_add);
    match ty {
        Type::Array { len, elem } => u64::from(*len).saturating_mul(values(elem)),
        Type::Tuple(parts) => sum(parts).saturating_add(1),
        Type::Struct { fields, .. } => {
            fields.iter().map(|(_, ty)| values(ty)).fold(1, u64::saturating_add)
        }
        Type::Enum { variants, .. } => {
            variants.iter().map(|(_, parts)| sum(parts)).fold(1, u64::saturating_add)
        }
        _ => 1,
    }
}

/// Returns how deep a type is nested: 1 for a number.
fn depth(ty: &Type) -> usize {
    let deepest = |parts: &[Type]| parts.iter().map(depth).max().unwrap_or(0);
    1 + match ty {
        Type::Array { elem, .. } => depth(elem),
        Type::Tuple(parts) => deepest(parts),
        Type::Struct { fields, .. } => fields.iter().map(|(_, ty)| depth(ty)).max().unwrap_or(0),
        Type::Enum { variants, .. } => {
            variants.iter().map(|(_, parts)| deepest(parts)).max().unwrap_or(0)
        }
        _ => 0,
    }
}
