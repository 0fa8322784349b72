//! Values of a circuit's types, as Python has them.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyTuple};
use symbolon::BitVec;
use symbolon::circuit::{Type, Value, format_value};
use symbolon::zeroize::Zeroizing;

/// Converts the wires of a value: to a pair of the type and shape of an array and its bytes where
/// `Port.array` says so, else to a value.
pub(crate) fn learnt<'py>(
    py: Python<'py>,
    ty: &Type,
    bits: &BitVec,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(array) = array_of(ty) {
        let bytes = Zeroizing::new(bits.to_bytes());
        return (array, PyBytes::new(py, &bytes)).into_bound_py_any(py);
    }
    value(py, ty, &format_value(ty, &Zeroizing::new(bits.to_bools())))
}

/// The type and shape of a numpy array.
pub(crate) type ArrayType = (&'static str, Vec<usize>);

/// Returns the type and shape of a numpy array whose bytes, in order, are the wires of a value:
/// little-endian numbers of whole bytes, or truth values, eight to a byte.
pub(crate) fn array_of(ty: &Type) -> Option<ArrayType> {
    let (mut ty, mut shape) = (ty, Vec::new());
    while let Type::Array { len, elem } = ty {
        shape.push(*len as usize);
        ty = elem;
    }
    let element = match ty {
        Type::Bool => "bool",
        Type::Uint(8) => "<u1",
        Type::Uint(16) => "<u2",
        Type::Uint(32) => "<u4",
        Type::Uint(64) => "<u8",
        Type::Int(8) => "<i1",
        Type::Int(16) => "<i2",
        Type::Int(32) => "<i4",
        Type::Int(64) => "<i8",
        Type::F32 => "<f4",
        Type::F64 => "<f8",
        _ => return None,
    };
    (!shape.is_empty()).then_some((element, shape))
}

/// Converts a value: an array is a list, a tuple a tuple, a structure a dict.
fn value<'py>(py: Python<'py>, ty: &Type, given: &Value) -> PyResult<Bound<'py, PyAny>> {
    match (ty, given) {
        (Type::Array { elem, .. }, Value::Array(values)) => {
            let values = values.iter().map(|one| value(py, elem, one));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_bound_py_any(py)
        }
        (Type::Tuple(types), Value::Array(values)) => {
            let values = types.iter().zip(values).map(|(ty, one)| value(py, ty, one));
            PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_bound_py_any(py)
        }
        (Type::Struct { fields, .. }, Value::Object(values)) => {
            let dict = PyDict::new(py);
            for ((name, ty), (_, one)) in fields.iter().zip(values) {
                dict.set_item(name, value(py, ty, one)?)?;
            }
            dict.into_bound_py_any(py)
        }
        (Type::F32 | Type::F64, Value::Name(special)) => {
            let number: f64 = special.parse().expect("`inf`, `-inf` or `NaN`");
            number.into_bound_py_any(py)
        }
        (Type::Enum { .. }, _) => variant(py, ty, given),
        _ => plain(py, given),
    }
}

/// Converts a value of an enumeration: a variant's name, or its name and its payload; of an
/// optional type, `None` or what it has.
fn variant<'py>(py: Python<'py>, ty: &Type, given: &Value) -> PyResult<Bound<'py, PyAny>> {
    let Type::Enum { variants, .. } = ty else { return plain(py, given) };
    match (given, ty.optional()) {
        (Value::Null | Value::Name(_), _) => plain(py, given),
        (given, Some(some)) if some.optional().is_none() => value(py, some, given),
        (Value::Object(fields), _) => {
            let dict = PyDict::new(py);
            for (name, payload) in fields {
                let types = variants.iter().find(|(known, _)| known == name);
                let types = types.map_or(Vec::new(), |(_, types)| types.clone());
                dict.set_item(name, value(py, &Type::Tuple(types), payload)?)?;
            }
            dict.into_bound_py_any(py)
        }
        _ => plain(py, given),
    }
}

/// Converts a value by its form alone.
fn plain<'py>(py: Python<'py>, given: &Value) -> PyResult<Bound<'py, PyAny>> {
    match given {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Integer(digits) => py.get_type::<PyInt>().call1((digits, 0)),
        Value::Fraction(text) => {
            let number: f64 = text.parse().expect("a decimal");
            number.into_bound_py_any(py)
        }
        Value::Name(text) | Value::Text(text) => text.into_bound_py_any(py),
        Value::Array(values) => {
            let values = values.iter().map(|one| plain(py, one));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_bound_py_any(py)
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, one) in fields {
                dict.set_item(name, plain(py, one)?)?;
            }
            dict.into_bound_py_any(py)
        }
    }
}
