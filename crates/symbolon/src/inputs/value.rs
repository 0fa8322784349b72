//! Inputs from Rust values.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};
use symbolon_transport::{Error, Result};

use super::InputsBuilder;
use crate::{Port, json};

impl InputsBuilder<'_> {
    /// Sets an input from any value that serde can serialize: integers, `bool`, floating-point
    /// numbers, lists, tuples, structures, options and enumerations, for inputs of the matching
    /// types. Fixed-point inputs take floating-point numbers. Needs the feature `serde`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let circuit = symbolon::circuit::builtin::by_name("add:32")?;
    /// let inputs = symbolon::Inputs::builder(&circuit, 0).value("x", &7u32)?.finish()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidInput`, see [`InputsBuilder`], also when the value does not match the input's type,
    /// or has a number that is not finite or a `Some(None)`.
    pub fn value<'p>(
        self,
        port: impl Into<Port<'p>>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Self> {
        let place = self.place(port.into())?;
        let input = &self.circuit.inputs()[place];
        // The reason may contain the value, so it is dropped.
        let unfit = || {
            Error::invalid_input(format!(
                "input `{}` ({}): the value has no form that an input can take",
                input.name, input.ty
            ))
        };
        // JSON would write these as `null`, which is another value.
        value.serialize(Strict).map_err(|_| unfit())?;
        let text = json::to_text(value).map_err(|_| unfit())?;
        self.text(place, &text)
    }
}

/// Refuses values that JSON confuses with others: numbers that are not finite, and `Some` of a
/// value that is itself written as `null`. `Ok` says whether the value is written as `null`.
struct Strict;

/// The same for the parts of a value.
struct Parts;

type Checked<T = bool> = std::result::Result<T, fmt::Error>;

macro_rules! accept {
    ($($method:ident($ty:ty)),*) => {
        $(fn $method(self, _: $ty) -> Checked {
            Ok(false)
        })*
    };
}

macro_rules! parts {
    ($($method:ident($($argument:ty),*) -> $parts:ident),*) => {
        $(
            type $parts = Parts;

            fn $method(self, $(_: $argument),*) -> Checked<Parts> {
                Ok(Parts)
            }
        )*
    };
}

impl Serializer for Strict {
    type Ok = bool;
    type Error = fmt::Error;

    accept! {
        serialize_bool(bool), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_i128(i128), serialize_u8(u8), serialize_u16(u16), serialize_u32(u32),
        serialize_u64(u64), serialize_u128(u128)
    }

    parts! {
        serialize_seq(Option<usize>) -> SerializeSeq,
        serialize_tuple(usize) -> SerializeTuple,
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant,
        serialize_map(Option<usize>) -> SerializeMap,
        serialize_struct(&'static str, usize) -> SerializeStruct,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant
    }

    fn serialize_f32(self, value: f32) -> Checked {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Checked {
        if value.is_finite() { Ok(false) } else { Err(fmt::Error) }
    }

    fn serialize_none(self) -> Checked {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        if value.serialize(self)? { Err(fmt::Error) } else { Ok(false) }
    }

    fn serialize_unit(self) -> Checked {
        Ok(true)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Checked {
        Ok(true)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(false)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self).map(|_| false)
    }
}

macro_rules! each {
    ($($parts:ident: $($method:ident($($name:ty)?)),+;)*) => {
        $(impl ser::$parts for Parts {
            type Ok = bool;
            type Error = fmt::Error;

            $(fn $method<T: Serialize + ?Sized>(
                &mut self,
                $(_: $name,)?
                value: &T,
            ) -> Checked<()> {
                value.serialize(Strict).map(drop)
            })+

            fn end(self) -> Checked {
                Ok(false)
            }
        })*
    };
}

each! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use symbolon_circuit::Type;

    use super::super::tests::circuit;
    use crate::Inputs;

    #[derive(Serialize)]
    struct Bid {
        price: f64,
        at: (u8, bool),
        limit: Option<i8>,
        class: Class,
    }

    #[derive(Serialize)]
    enum Class {
        Free,
        Card(u8),
    }

    fn bid_type() -> Type {
        let option = Type::Enum {
            name: "Option".into(),
            variants: vec![("None".into(), vec![]), ("Some".into(), vec![Type::Int(8)])],
        };
        let class = Type::Enum {
            name: "Class".into(),
            variants: vec![("Free".into(), vec![]), ("Card".into(), vec![Type::Uint(8)])],
        };
        let fields = vec![
            ("price".into(), Type::Fixed { int: 8, frac: 8 }),
            ("at".into(), Type::Tuple(vec![Type::Uint(8), Type::Bool])),
            ("limit".into(), option),
            ("class".into(), class),
        ];
        let bid = Type::Struct { name: "Bid".into(), fields };
        Type::Array { len: 2, elem: Box::new(bid) }
    }

    #[test]
    fn a_value_is_what_its_text_is() {
        let circuit = circuit([Type::Uint(128), Type::Bool, bid_type()]);
        let bids = [
            Bid { price: 1.25, at: (7, true), limit: Some(-3), class: Class::Free },
            Bid { price: -2.0, at: (0, false), limit: None, class: Class::Card(9) },
        ];
        let text = r#"[{"price": 1.25, "at": [7, true], "limit": -3, "class": "Free"},
            {"class": {"Card": [9]}, "price": -2, "at": [0, false], "limit": null}]"#;
        let new = || Inputs::builder(&circuit, 0);
        let given = new().value("a", &u128::MAX).unwrap().value("c", &bids).unwrap();
        let expected = new().uint("a", u128::MAX).unwrap().text("c", text).unwrap();
        assert_eq!(given.inputs.bits, expected.inputs.bits);
        let lone = Inputs::builder(&circuit, 1).value("b", &true).unwrap().finish().unwrap();
        assert_eq!(lone.bits()[1], Some(vec![true].into()));
    }

    #[test]
    fn a_value_of_another_type_is_refused_and_not_told() {
        let circuit = circuit([Type::Uint(8), Type::Bool, Type::words(2, 8)]);
        let new = || Inputs::builder(&circuit, 0);
        let unnamed = std::collections::HashMap::from([((1, 2), 1234)]);
        for (error, text) in [
            (new().value("a", &1234).err(), "`a`"),
            (new().value("a", &"hex:4d2").err(), "`a`"),
            (new().value("a", &[1234, 1234]).err(), "`a`"),
            (new().value("c", &[1, 2, 1234]).err(), "`c`"),
            (new().value("c", &f64::NAN).err(), "`c`"),
            (new().value("c", &unnamed).err(), "no form"),
            (new().value("b", &true).err(), "belongs to party 1"),
        ] {
            let error = error.expect(text).to_string();
            assert!(error.contains(text), "{error}");
            assert!(!error.contains("1234") && !error.contains("4d2"), "{error}");
        }
    }

    /// JSON writes all of these as `null`.
    #[test]
    fn what_json_confuses_is_refused() {
        let option = |ty: Type| Type::Enum {
            name: "Option".into(),
            variants: vec![("None".into(), vec![]), ("Some".into(), vec![ty])],
        };
        let circuit = circuit([option(Type::F64), Type::Bool, option(option(Type::Uint(8)))]);
        let new = || Inputs::builder(&circuit, 0);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(new().value("a", &Some(value)).is_err(), "{value}");
        }
        assert!(new().value("a", &Some(1.5)).is_ok());
        assert!(new().value("a", &None::<f64>).is_ok());
        assert!(new().value("c", &Some(None::<u8>)).is_err());
        assert!(new().value("c", &None::<Option<u8>>).is_ok());
    }
}
