//! Reads types as they are shown.

use std::str::FromStr;

use crate::Type;

/// How deep types may be nested.
const MAX_DEPTH: usize = 64;

/// A text that is not a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; a type is written as u32, i8, bool, f32, f64, fixed<12, 20>, text<64>, (bool, i8), \
     Option<u8> or [u32; 200]"
)]
pub struct ParseTypeError(&'static str);

impl FromStr for Type {
    type Err = ParseTypeError;

    /// Reads what [`Display`](std::fmt::Display) shows, with or without spaces. Structures and
    /// enumerations other than `Option` cannot be read, since only their names are shown.
    fn from_str(text: &str) -> Result<Type, ParseTypeError> {
        let mut rest = Text(text);
        let (ty, _) = rest.ty(MAX_DEPTH)?;
        match rest.0.trim_start() {
            "" => Ok(ty),
            _ => Err(ParseTypeError("the text continues after the type")),
        }
    }
}

/// The rest of the text.
struct Text<'t>(&'t str);

impl Text<'_> {
    fn take(&mut self, sign: &str) -> bool {
        let rest = self.0.trim_start();
        match rest.strip_prefix(sign) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str, error: &'static str) -> Result<(), ParseTypeError> {
        if self.take(sign) { Ok(()) } else { Err(ParseTypeError(error)) }
    }

    fn number(&mut self) -> Result<u32, ParseTypeError> {
        let rest = self.0.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse();
        self.0 = &rest[end..];
        number.map_err(|_| ParseTypeError("a number is missing or too large"))
    }

    /// Reads a type that is nested at most this deep; returns it and its depth.
    fn ty(&mut self, most: usize) -> Result<(Type, usize), ParseTypeError> {
        let inner = most.checked_sub(1).ok_or(ParseTypeError("the type is nested too deep"))?;
        if self.take("[") {
            let (elem, depth) = self.ty(inner)?;
            self.expect(";", "an array's type and its length are separated by `;`")?;
            let len = self.number()?;
            self.expect("]", "an array's length ends with `]`")?;
            return Ok((Type::Array { len, elem: Box::new(elem) }, depth + 1));
        }
        if self.take("(") {
            let (mut parts, mut deepest) = (Vec::new(), 0);
            while !self.take(")") {
                if !parts.is_empty() {
                    self.expect(",", "parts of a tuple are separated by commas")?;
                }
                let (part, depth) = self.ty(inner)?;
                parts.push(part);
                deepest = deepest.max(depth);
            }
            return Ok((Type::Tuple(parts), deepest + 1));
        }
        if self.take("Option<") {
            let (some, depth) = self.ty(inner)?;
            self.expect(">", "Option< ends with `>`")?;
            let variants = vec![("None".into(), vec![]), ("Some".into(), vec![some])];
            return Ok((Type::Enum { name: "Option".into(), variants }, depth + 1));
        }
        let ty = if self.take("fixed<") {
            let int = self.number()?;
            self.expect(",", "fixed<> has two numbers")?;
            let frac = self.number()?;
            self.expect(">", "fixed< ends with `>`")?;
            Type::Fixed { int, frac }
        } else if self.take("text<") {
            let len = self.number()?;
            self.expect(">", "text< ends with `>`")?;
            Type::Text(len)
        } else if self.take("u") {
            Type::Uint(self.number()?)
        } else if self.take("i") {
            Type::Int(self.number()?)
        } else if self.take("bool") {
            Type::Bool
        } else if self.take("f32") {
            Type::F32
        } else if self.take("f64") {
            Type::F64
        } else {
            return Err(ParseTypeError("this is not a type"));
        };
        Ok((ty, 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown_type() -> impl Strategy<Value = Type> {
        let leaf = prop_oneof![
            any::<u32>().prop_map(Type::Uint),
            any::<u32>().prop_map(Type::Int),
            any::<u32>().prop_map(Type::Text),
            any::<(u32, u32)>().prop_map(|(int, frac)| Type::Fixed { int, frac }),
            prop::sample::select(vec![Type::Bool, Type::F32, Type::F64]),
        ];
        leaf.prop_recursive(5, 20, 3, |inner| {
            prop_oneof![
                (any::<u32>(), inner.clone())
                    .prop_map(|(len, elem)| Type::Array { len, elem: elem.into() }),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Type::Tuple),
                inner.prop_map(|some| Type::Enum {
                    name: "Option".into(),
                    variants: vec![("None".into(), vec![]), ("Some".into(), vec![some])],
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read(ty in shown_type(), spaces in any::<bool>()) {
            let text = ty.to_string();
            let text = if spaces { text.replace(',', " ,") } else { text.replace(' ', "") };
            prop_assert_eq!(text.parse(), Ok(ty));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[ui0-9\\[;\\]<>(), OptionBb.ex]{0,40}") {
            if let Ok(ty) = text.parse::<Type>() {
                prop_assert_eq!(ty.to_string().parse(), Ok(ty));
            }
        }
    }

    #[test]
    fn what_is_no_type_is_refused() {
        let cases = [
            ("", "not a type"),
            ("word8", "not a type"),
            ("u", "number is missing"),
            ("u4294967296", "too large"),
            ("[u8;", "number is missing"),
            ("[u8; 4", "`]`"),
            ("[u8]", "`;`"),
            ("uint8", "number is missing"),
            ("u8[4]", "continues"),
            ("[u8; 4] x", "continues"),
            ("(bool i8)", "commas"),
            ("fixed<3>", "two numbers"),
            ("Option<bool", "`>`"),
            ("text", "not a type"),
            ("text<>", "number is missing"),
            ("text<8", "`>`"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<Type>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let nested = |depth| format!("{}bool{}", "[".repeat(depth), "; 1]".repeat(depth));
        for deep in [nested(64), "(".repeat(100_000), "[".repeat(100_000)] {
            assert!(deep.parse::<Type>().unwrap_err().to_string().contains("too deep"));
        }
        assert!(nested(63).parse::<Type>().is_ok());
    }
}
