//! Texts: bytes of UTF-8, filled up with zero bytes.

use std::str::Chars;

use symbolon_common::invisible::is_invisible;
use zeroize::{Zeroize, Zeroizing};

use crate::Type;

/// Returns how many bytes a text has room for, if values of this type are texts or optional ones.
pub(super) fn room(ty: &Type) -> Option<u32> {
    match (ty, ty.optional()) {
        (Type::Text(len), _) | (_, Some(Type::Text(len))) => Some(*len),
        _ => None,
    }
}

/// Returns whether values of a type are texts or optional ones.
pub(super) fn is_text(ty: &Type) -> bool {
    room(ty).is_some()
}

/// Returns the text of these bits, unless the bytes are none: not UTF-8, or with a zero byte before
/// another one.
pub(super) fn shown(bits: &[bool]) -> Option<String> {
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    let mut bytes: Vec<u8> = bits.chunks(8).map(byte).collect();
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(end);
    let mut no_text = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => return Some(text),
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    no_text.zeroize();
    None
}

/// Returns what a text in quotes means, as in JSON.
pub(super) fn from_json(quoted: &str) -> Result<Zeroizing<String>, String> {
    const WRONG: &str = "a text in quotes is written as in JSON";
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or(WRONG)?;
    // No escape is shorter than its character, so the memory does not grow.
    let mut text = Zeroizing::new(String::with_capacity(inner.len()));
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '"' => return Err(WRONG.into()),
            '\\' => match chars.next().ok_or(WRONG)? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => escaped(&mut chars).ok_or(WRONG)?,
                c @ ('"' | '\\' | '/') => c,
                _ => return Err(WRONG.into()),
            },
            c => c,
        });
    }
    Ok(text)
}

/// Reads the digits after `\u`, and a second escape if both are one character.
fn escaped(chars: &mut Chars<'_>) -> Option<char> {
    fn unit(chars: &mut Chars<'_>) -> Option<u16> {
        (0..4).try_fold(0, |unit, _| Some(unit << 4 | chars.next()?.to_digit(16)? as u16))
    }
    let first = unit(chars)?;
    match first {
        0xd800..0xdc00 if chars.next()? == '\\' && chars.next()? == 'u' => {
            char::decode_utf16([first, unit(chars)?]).next()?.ok()
        }
        _ => char::from_u32(first.into()),
    }
}

/// Writes a text in quotes, as in JSON. What cannot be seen is escaped: another party may have
/// chosen the text.
pub(super) fn to_json(text: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    use std::fmt::Write;
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if is_invisible(c) => {
                c.encode_utf16(&mut [0; 2])
                    .iter()
                    .try_for_each(|unit| write!(f, "\\u{unit:04x}"))?;
            }
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
