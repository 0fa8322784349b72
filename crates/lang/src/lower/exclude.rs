//! Which arms of a `match` exclude all arms before them, by their patterns.

use std::collections::BTreeMap;

use crate::interp::encode;
use crate::tir::{Arm, Pattern, PatternKind};
use crate::ty::{Shape, Shapes, TyId};
use crate::value::Value;

/// How many bits of a value are looked at.
const BITS: u32 = 128;

/// The values of a pattern, in an order in which the first parts of a value count most: from, to,
/// as numbers of which these bits are known so far.
#[derive(Clone, Copy)]
struct Span {
    low: u128,
    high: u128,
    bits: u32,
}

/// Returns of each arm whether no value fits it and an arm before. Of the last arm, which is taken
/// whenever none before is, that is said in any case if it has no guard.
///
/// Patterns count as ranges that contain all their values, so some arms that exclude others are not
/// found.
pub(super) fn excluding(shapes: &Shapes, types: &[TyId], arms: &[Arm]) -> Vec<bool> {
    // The ranges of the arms so far, joined, by where they begin.
    let mut taken: BTreeMap<u128, u128> = BTreeMap::new();
    let mut excluding = Vec::with_capacity(arms.len());
    for (place, arm) in arms.iter().enumerate() {
        let is_last = place + 1 == arms.len() && arm.guard.is_none();
        let mut spans = Vec::new();
        let alternatives = match &arm.pattern.kind {
            PatternKind::Or(patterns) => patterns,
            _ => std::slice::from_ref(&arm.pattern),
        };
        for pattern in alternatives {
            spans.push(span(shapes, types, pattern));
        }
        let is_free = |span: &Span| {
            let before = taken.range(..=span.high).next_back();
            before.is_none_or(|(_, &high)| high < span.low)
        };
        excluding.push(is_last || spans.iter().all(is_free));
        spans.iter().for_each(|span| add(&mut taken, *span));
    }
    excluding
}

/// Adds a range to those that are joined.
fn add(taken: &mut BTreeMap<u128, u128>, span: Span) {
    let Span { mut low, mut high, .. } = span;
    while let Some((&first, &last)) = taken.range(..=high).next_back()
        && last >= low
    {
        (low, high) = (low.min(first), high.max(last));
        taken.remove(&first);
    }
    taken.insert(low, high);
}

fn span(shapes: &Shapes, types: &[TyId], pattern: &Pattern) -> Span {
    let mut span = Span { low: 0, high: 0, bits: 0 };
    narrow(shapes, types, pattern, &mut span);
    let rest = BITS - span.bits;
    if rest > 0 {
        span.low = span.low.checked_shl(rest).unwrap_or(0);
        span.high = span.high.checked_shl(rest).unwrap_or(0) | (u128::MAX >> (BITS - rest));
    }
    span
}

/// Adds what a pattern says of a value, as long as all before is one value; returns whether it
/// still is.
fn narrow(shapes: &Shapes, types: &[TyId], pattern: &Pattern, span: &mut Span) -> bool {
    let ty = types[pattern.ty as usize];
    match &pattern.kind {
        PatternKind::Any | PatternKind::Bind(_) | PatternKind::Or(_) => shapes.width(ty) == 0,
        PatternKind::Range(low, high) => {
            let width = shapes.width(ty) as u32;
            if width > BITS - span.bits {
                return false;
            }
            let value = |number: &num_bigint::BigInt| {
                let mut bits = Vec::new();
                let value = match shapes.shape(ty) {
                    Shape::Bool => Value::Bool(*number != num_bigint::BigInt::ZERO),
                    _ => Value::Int(number.clone()),
                };
                encode(shapes, ty, &value, &mut bits);
                let is_signed = !matches!(shapes.shape(ty), Shape::Bool | Shape::Int(false, _));
                if let (Some(sign), true) = (bits.last_mut(), is_signed) {
                    *sign = !*sign;
                }
                bits.iter().rev().fold(0u128, |value, &bit| value << 1 | u128::from(bit))
            };
            span.add(width, value(low), value(high))
        }
        PatternKind::Tuple(parts) => parts.iter().all(|part| narrow(shapes, types, part, span)),
        PatternKind::Variant(variant, parts) => {
            let tag = shapes.tag_bits(ty) as u32;
            if tag > BITS - span.bits {
                return false;
            }
            span.add(tag, *variant as u128, *variant as u128)
                && parts.iter().all(|part| narrow(shapes, types, part, span))
        }
    }
}

impl Span {
    /// Adds bits below those that are known; returns whether all are one value.
    fn add(&mut self, width: u32, low: u128, high: u128) -> bool {
        self.low = self.low.checked_shl(width).unwrap_or(0) | low;
        self.high = self.high.checked_shl(width).unwrap_or(0) | high;
        self.bits += width;
        low == high
    }
}
