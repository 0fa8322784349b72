//! Integers that are made of texts in a column or under a key: `#email|sha256`, `#id|hex`.

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::Type;
use crate::value::parse::typed;
use crate::value::text::from_json;

/// A column of CSV, or a key of JSON, and what is made of it.
pub(super) struct Column<'t> {
    /// Its name.
    pub(super) name: &'t str,
    /// What turns its texts into integers.
    pub(super) transform: Option<Transform>,
}

impl<'t> Column<'t> {
    /// Reads `NAME` or `NAME|TRANSFORM`.
    pub(super) fn new(written: &'t str) -> Result<Column<'t>, String> {
        let Some((name, transform)) = written.rsplit_once('|') else {
            return Ok(Column { name: written, transform: None });
        };
        let transform = match transform.trim() {
            "sha256" => Transform::Sha256,
            "hex" => Transform::Hex,
            other => {
                return Err(format!(
                    "there is no `{other}` to compute from a column: there are `sha256` and `hex`"
                ));
            }
        };
        Ok(Column { name: name.trim(), transform: Some(transform) })
    }
}

/// What turns a text into an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transform {
    /// The first bytes of SHA-256 of the text's UTF-8 bytes, as one big-endian integer.
    Sha256,
    /// The integer with these hexadecimal digits, with or without `0x`.
    Hex,
}

impl Transform {
    /// Adds what is made of a CSV cell; an empty one is no value of an optional type.
    pub(super) fn of_cell(self, ty: &Type, cell: &str, bits: &mut Vec<bool>) -> Result<(), String> {
        let integer = ty.optional().unwrap_or(ty);
        match (self, integer) {
            (Transform::Sha256, Type::Uint(128 | 256)) | (Transform::Hex, Type::Uint(_)) => {}
            (Transform::Sha256, _) => {
                return Err(format!("`sha256` makes a u128 or u256, not {integer}"));
            }
            (Transform::Hex, _) => {
                return Err(format!("`hex` makes an unsigned integer, not {integer}"));
            }
        }
        if cell.trim().is_empty() {
            return match ty.optional() {
                Some(_) => typed(ty, "null", bits),
                None => Err("nothing is given".into()),
            };
        }
        let digits = match self {
            Transform::Sha256 => sha256(cell, integer.width() as usize / 4),
            Transform::Hex => {
                let digits = cell.trim();
                let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
                Zeroizing::new(format!("0x{}", digits.unwrap_or(cell.trim())))
            }
        };
        typed(ty, &digits, bits)
    }

    /// Adds what is made of a text in JSON; `null` is no value of an optional type.
    pub(super) fn of_json(
        self,
        ty: &Type,
        value: &str,
        bits: &mut Vec<bool>,
    ) -> Result<(), String> {
        match value {
            "null" if ty.optional().is_some() => self.of_cell(ty, "", bits),
            _ if !value.starts_with('"') => Err("a text in quotes is expected".into()),
            _ => self.of_cell(ty, &from_json(value)?, bits),
        }
    }
}

/// Returns the first digits of SHA-256 of a text, after `0x`.
fn sha256(text: &str, digits: usize) -> Zeroizing<String> {
    let digest = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(text)));
    let mut hex = Zeroizing::new(String::with_capacity(66));
    hex.push_str("0x");
    let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(digits);
    hex.extend(nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)));
    hex
}
