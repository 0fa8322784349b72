//! Patterns and values.

use num_bigint::BigInt;

use crate::tir::{Pattern, PatternKind};
use crate::value::Value;

/// Returns whether a value matches a pattern, and binds the pattern's names. Adds what it compares
/// and copies to `work`.
pub fn bind(locals: &mut [Value], pattern: &Pattern, value: &Value, work: &mut u64) -> bool {
    *work += 1;
    match (&pattern.kind, value) {
        (PatternKind::Any, _) => true,
        (PatternKind::Bind(local), value) => {
            *work += value.size();
            locals[*local as usize] = value.clone();
            true
        }
        (PatternKind::Range(low, high), Value::Int(value)) => low <= value && value <= high,
        (PatternKind::Range(low, high), Value::Bool(value)) => {
            let value = BigInt::from(u8::from(*value));
            *low <= value && value <= *high
        }
        (PatternKind::Tuple(patterns), Value::List(parts)) => {
            patterns.iter().zip(parts).all(|(pattern, part)| bind(locals, pattern, part, work))
        }
        (PatternKind::Variant(wanted, patterns), Value::Variant(variant, parts)) => {
            wanted == variant
                && patterns
                    .iter()
                    .zip(parts)
                    .all(|(pattern, part)| bind(locals, pattern, part, work))
        }
        (PatternKind::Or(patterns), value) => {
            patterns.iter().any(|pattern| bind(locals, pattern, value, work))
        }
        _ => false,
    }
}
