//! Numbers of the interpreter: literals, the order of values, and floating-point numbers as the
//! host computes them.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

use crate::ast::BinaryOp;
use crate::tir::Fits;
use crate::ty::{Precision, Shape, Shapes, TyId};
use crate::value::Value;

/// Returns the one NaN that operations give.
fn nan(precision: Precision) -> u64 {
    match precision {
        Precision::Single => 0x7fc0_0000,
        Precision::Double => 0x7ff8_0000_0000_0000,
    }
}

fn single(x: f32) -> u64 {
    if x.is_nan() { nan(Precision::Single) } else { x.to_bits().into() }
}

fn double(x: f64) -> u64 {
    if x.is_nan() { nan(Precision::Double) } else { x.to_bits() }
}

fn as_single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// Returns the quotient, rounded towards zero, and the remainder; after division by zero, −1 or all
/// ones, and the dividend.
pub(crate) fn divide(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    if b.sign() == Sign::NoSign { (BigInt::from(-1), a.clone()) } else { (a / b, a % b) }
}

/// Computes an arithmetic operator of floating-point numbers.
pub(crate) fn compute(precision: Precision, op: BinaryOp, a: u64, b: u64) -> u64 {
    macro_rules! operate {
        ($a:expr, $b:expr) => {
            match op {
                BinaryOp::Add => $a + $b,
                BinaryOp::Sub => $a - $b,
                BinaryOp::Mul => $a * $b,
                _ => $a / $b,
            }
        };
    }
    match precision {
        Precision::Single => single(operate!(as_single(a), as_single(b))),
        Precision::Double => double(operate!(f64::from_bits(a), f64::from_bits(b))),
    }
}

/// Returns the bits of a fraction, and the exponent of its last bit for an exponent field of 0.
fn format(precision: Precision) -> (u32, i64) {
    match precision {
        Precision::Single => (23, 1 - 127 - 23),
        Precision::Double => (52, 1 - 1023 - 52),
    }
}

/// Replaces a subnormal number by zero with its sign.
fn flush(precision: Precision, bits: u64) -> u64 {
    let sign = 1 << (precision.bits() - 1);
    if (bits & (sign - 1)) >> format(precision).0 == 0 { bits & sign } else { bits }
}

/// Computes like [`compute`] without subnormal numbers: as operands they are zero, and so is a
/// result below the least normal number before rounding.
pub(crate) fn compute_fast(shape: &Shape, op: BinaryOp, a: u64, b: u64) -> u64 {
    let precision = precision_of(shape);
    let (a, b) = (flush(precision, a), flush(precision, b));
    let result = compute(precision, op, a, b);
    let (fraction, lowest) = format(precision);
    let sign = 1u64 << (precision.bits() - 1);
    if result & (sign - 1) != 1 << fraction {
        return flush(precision, result);
    }
    // It may have been rounded up to the least normal number. Sums this small are exact.
    let apart = |bits: u64| {
        let field = (bits & (sign - 1)) >> fraction;
        let significand = bits & ((1 << fraction) - 1) | 1 << fraction;
        (u128::from(significand), lowest + field as i64 - 1)
    };
    let ((a, a_place), (b, b_place)) = (apart(a), apart(b));
    let least = lowest + i64::from(fraction);
    let below = match op {
        BinaryOp::Mul => a * b < 1 << (least - a_place - b_place),
        // a < b · 2^less, where both have as many bits.
        BinaryOp::Div => match b_place + least - a_place {
            0 => a < b,
            less => less > 0,
        },
        _ => false,
    };
    if below { result & sign } else { result }
}

/// Returns the square root of a floating-point number.
pub(crate) fn sqrt(shape: &Shape, bits: u64) -> u64 {
    match precision_of(shape) {
        Precision::Single => single(as_single(bits).sqrt()),
        Precision::Double => double(f64::from_bits(bits).sqrt()),
    }
}

/// Computes like [`sqrt`]; the root of a subnormal number is zero.
pub(crate) fn sqrt_fast(shape: &Shape, bits: u64) -> u64 {
    sqrt(shape, flush(precision_of(shape), bits))
}

/// Returns the precision of a floating-point type.
fn precision_of(shape: &Shape) -> Precision {
    if let Shape::Float(precision) = shape { *precision } else { Precision::Double }
}

/// Computes a cast from or to a floating-point number; returns `None` for others.
pub(crate) fn cast(from: &Shape, to: &Shape, value: &Value) -> Option<Value> {
    Some(match (from, to, value) {
        (Shape::Float(from), Shape::Float(to), Value::Float(bits)) => {
            Value::Float(match (from, to) {
                (Precision::Single, Precision::Double) => double(as_single(*bits).into()),
                (Precision::Double, Precision::Single) => single(f64::from_bits(*bits) as f32),
                _ => *bits,
            })
        }
        (Shape::Float(from), to, Value::Float(bits)) => Value::Int(to_integer(*from, *bits, to)),
        (from, Shape::Float(to), Value::Int(value)) => {
            let frac = if let Shape::Fixed(_, frac) = from { *frac } else { 0 };
            Value::Float(nearest(*to, value, frac))
        }
        (_, Shape::Float(to), Value::Bool(value)) => {
            Value::Float(nearest(*to, &u8::from(*value).into(), 0))
        }
        _ => return None,
    })
}

/// Truncates to an integer or a fixed-point number; out of range, the nearest one, and for NaN 0.
fn to_integer(from: Precision, bits: u64, to: &Shape) -> BigInt {
    let value = match from {
        Precision::Single => as_single(bits).into(),
        Precision::Double => f64::from_bits(bits),
    };
    let (signed, width, frac) = match to {
        Shape::Int(signed, width) => (*signed, *width, 0),
        Shape::Fixed(int, frac) => (true, int + frac, *frac),
        _ => (false, 1, 0),
    };
    if width == 0 {
        return BigInt::ZERO;
    }
    let magnitude = BigInt::from(1) << (width - u32::from(signed));
    let (least, most) = (if signed { -magnitude.clone() } else { BigInt::ZERO }, magnitude - 1);
    if value.is_nan() {
        return BigInt::ZERO;
    }
    if value.is_infinite() {
        return if value > 0.0 { most } else { least };
    }
    // The significand times a power of two.
    let field = (value.to_bits() >> 52 & 0x7ff) as i64;
    let fraction = value.to_bits() & ((1 << 52) - 1);
    let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
    let exponent = field.max(1) - 1075 + i64::from(frac);
    let significand = BigInt::from(significand);
    let cut = if exponent >= 0 { significand << exponent } else { significand >> -exponent };
    let cut = if value < 0.0 { -cut } else { cut };
    cut.clamp(least, most)
}

/// Returns the nearest floating-point number to an integer divided by 2^`frac`, ties to even.
fn nearest(to: Precision, value: &BigInt, frac: u32) -> u64 {
    let (fraction_bits, bias, top) = match to {
        Precision::Single => (23i64, 127i64, 31),
        Precision::Double => (52, 1023, 63),
    };
    let (sign, magnitude) = (value.sign() == Sign::Minus, value.magnitude());
    let bits = magnitude.bits() as i64;
    if bits == 0 {
        return 0;
    }
    let exponent = bits - 1 - i64::from(frac);
    // The exponent of the last bit that the number has.
    let last = exponent.max(1 - bias) - fraction_bits;
    let drop = last + i64::from(frac);
    let kept: BigUint = if drop > 0 {
        let half = BigUint::from(1u8) << (drop - 1);
        let (floor, rest) = (magnitude >> drop, magnitude & ((BigUint::from(1u8) << drop) - 1u8));
        let up = rest > half || (rest == half && floor.bit(0));
        if up { floor + 1u8 } else { floor }
    } else {
        magnitude << -drop
    };
    let kept = u64::try_from(kept).unwrap_or(0);
    let field = (exponent.max(1 - bias) + bias - 1) as u64;
    let infinite = ((2 * bias + 1) as u64) << fraction_bits;
    let number = if exponent > bias { infinite } else { (field << fraction_bits) + kept };
    number.min(infinite) | u64::from(sign) << top
}

/// Compares two values: the first parts that differ decide, floating-point ones by IEEE 754.
pub(crate) fn order(shapes: &Shapes, ty: TyId, a: &Value, b: &Value) -> Option<Ordering> {
    compare(shapes, ty, a, b, &|precision, a, b| match precision {
        Precision::Single => as_single(a).partial_cmp(&as_single(b)),
        Precision::Double => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
    })
}

/// Compares like [`order`], with floating-point numbers in the total order of IEEE 754.
pub(crate) fn total_order(shapes: &Shapes, ty: TyId, a: &Value, b: &Value) -> Ordering {
    let order = compare(shapes, ty, a, b, &|precision, a, b| {
        Some(match precision {
            Precision::Single => as_single(a).total_cmp(&as_single(b)),
            Precision::Double => f64::from_bits(a).total_cmp(&f64::from_bits(b)),
        })
    });
    order.unwrap_or(Ordering::Equal)
}

type Floats<'f> = &'f dyn Fn(Precision, u64, u64) -> Option<Ordering>;

fn compare(
    shapes: &Shapes,
    ty: TyId,
    a: &Value,
    b: &Value,
    floats: Floats<'_>,
) -> Option<Ordering> {
    let parts = |types: &[TyId], a: &[Value], b: &[Value]| {
        for ((&ty, a), b) in types.iter().zip(a).zip(b) {
            let order = compare(shapes, ty, a, b, floats);
            if order != Some(Ordering::Equal) {
                return order;
            }
        }
        Some(Ordering::Equal)
    };
    match (shapes.shape(ty), a, b) {
        (_, Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (_, Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Shape::Float(precision), Value::Float(a), Value::Float(b)) => floats(*precision, *a, *b),
        (Shape::Array(element, _), Value::List(a), Value::List(b)) => {
            parts(&vec![*element; a.len()], a, b)
        }
        (_, Value::List(a), Value::List(b)) => parts(&shapes.parts(ty), a, b),
        (_, Value::Variant(form, a), Value::Variant(other, b)) => match form.cmp(other) {
            Ordering::Equal => parts(&shapes.payload(ty, *form), a, b),
            different => Some(different),
        },
        _ => None,
    }
}

/// Returns the value of a whole literal.
pub fn whole(shape: &Shape, value: &BigInt) -> Value {
    match shape {
        Shape::Fixed(_, frac) => Value::Int(value << *frac),
        Shape::Float(precision) => Value::Float(nearest(*precision, value, 0)),
        _ => Value::Int(value.clone()),
    }
}

/// Returns the value of a literal fraction.
pub fn fraction(shape: &Shape, text: &str) -> Value {
    match shape {
        Shape::Float(Precision::Single) => Value::Float(text.parse().map_or(0, single)),
        Shape::Float(Precision::Double) => Value::Float(text.parse().map_or(0, double)),
        Shape::Fixed(_, frac) => Value::Int(scaled(text, *frac).unwrap_or_default()),
        _ => Value::Int(BigInt::ZERO),
    }
}

/// Returns the number that a fraction's text is, times 2^`frac`, rounded to nearest, ties to even.
pub fn scaled(text: &str, frac: u32) -> Option<BigInt> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    if exponent.unsigned_abs() > 20_000 {
        return None;
    }
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let number = BigInt::parse_bytes(digits.as_bytes(), 10)? << frac;
    let exponent = exponent - part.len() as i32;
    let power = BigInt::from(10).pow(exponent.unsigned_abs());
    if exponent >= 0 {
        return Some(number * power);
    }
    let (floor, rest) = (&number / &power, &number % &power);
    let twice = rest * 2;
    let up = twice > power || (twice == power && floor.bit(0));
    Some(if up { floor + 1 } else { floor })
}

/// Returns whether an operation on these values, of these types, gives what fits in its type. A
/// floating-point number always does.
pub fn fits(shapes: &Shapes, fits: Fits, types: &[TyId], values: &[Value]) -> bool {
    let shape = shapes.shape(types[0]);
    let (signed, width, frac) = match shape {
        Shape::Int(signed, width) => (*signed, *width, 0),
        Shape::Fixed(int, frac) => (true, int + frac, *frac),
        _ => return true,
    };
    let is_in = |value: BigInt| {
        let numbers = BigInt::from(1) << width;
        let (low, high) = match signed {
            true => (-(&numbers >> 1u32), numbers >> 1u32),
            false => (BigInt::ZERO, numbers),
        };
        low <= value && value < high || value == BigInt::ZERO
    };
    match (fits, values) {
        (Fits::Binary(op), [Value::Int(a), Value::Int(b)]) => match op {
            BinaryOp::Add => is_in(a + b),
            BinaryOp::Sub => is_in(a - b),
            BinaryOp::Mul => is_in((a * b) >> frac),
            BinaryOp::Div => *b != BigInt::ZERO && is_in(divide(&(a << frac), b).0),
            BinaryOp::Rem => *b != BigInt::ZERO,
            BinaryOp::Shl | BinaryOp::Shr => {
                // The amount is read as an unsigned number.
                let turn = BigInt::from(1) << shapes.width(types[1]);
                let by = if b.sign() == Sign::Minus { b + turn } else { b.clone() };
                by < width.into()
            }
            _ => true,
        },
        (Fits::Neg, [Value::Int(a), _]) => is_in(-a),
        (Fits::Cast, [Value::Int(a), Value::Int(new)]) => {
            let to = if let Shape::Fixed(_, to) = shapes.shape(types[1]) { *to } else { 0 };
            (a << to) >> frac == *new
        }
        (Fits::Index(len), [Value::Int(index)]) => *index < len.into(),
        _ => true,
    }
}
