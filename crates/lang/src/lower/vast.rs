//! Values of very many bits. A bit that is listed takes some bytes, so a list has a limit; inputs,
//! their parts, and what rounds of loops give are wires in a row, which are not listed.

use symbolon_circuit::builder::Word;

use super::{Done, Lower, Machine};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::tir::{Expr, Instance, Intrinsic, Kind};

/// A value lists at most this many bits.
const MOST_LISTED: usize = 1 << 25;

/// Returns whether a value of this width may be an element of nothing but wires in a row.
pub(super) fn is_vast(width: usize) -> bool {
    width > MOST_LISTED
}

/// Returns whether the value of an expression has its wires in a row if those of its parts are.
fn keeps_rows(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::If(condition, ..) => condition.constant,
        Kind::Int(_)
        | Kind::Fraction(_)
        | Kind::Const(_)
        | Kind::Unary(..)
        | Kind::Binary(..)
        | Kind::Cast(_)
        | Kind::Repeat(_)
        | Kind::Variant(..)
        | Kind::Intrinsic(..)
        | Kind::Expect(..)
        | Kind::Match(..) => false,
        _ => true,
    }
}

/// Returns whether an expression looks at its operands as wires in a row.
fn takes_rows(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Intrinsic(op, _) => matches!(op, Intrinsic::Sum | Intrinsic::Count),
        Kind::Unary(..) | Kind::Binary(..) | Kind::Cast(_) | Kind::Match(..) => false,
        _ => true,
    }
}

impl Lower<'_> {
    /// Refuses to list the bits of a value.
    pub(super) fn too_vast<T>(&mut self, span: Span) -> Done<T> {
        let message = "this needs a list of more than 2^25 bits";
        self.errors.push(Diagnostic::new(Code::Limit, span, message).help(
            "values of more bits are inputs, parts of them and arrays that a loop gives; read them \
             in a loop, `for x in array` or `array[i]`",
        ));
        Err(super::Failed)
    }
}

impl Machine<'_, '_, '_> {
    /// Refuses to list this many bits of a value if they are too many.
    pub(super) fn listable(&mut self, width: usize, span: Span) -> Done<()> {
        if is_vast(width) { self.lower.too_vast(span) } else { Ok(()) }
    }

    /// Refuses an expression whose value, or one of whose operands, would be a list of too many
    /// bits, before it is evaluated.
    pub(super) fn before_vast(&mut self, instance: &Instance, expr: &Expr) -> Done<()> {
        let width = |expr: &Expr| self.width(instance.types[expr.ty as usize]);
        let operands: &[&Expr] = match &expr.kind {
            Kind::Unary(_, a) | Kind::Cast(a) | Kind::Match(a, _) => &[a],
            Kind::Binary(_, a, b) => &[a, b],
            _ => &[],
        };
        let args = match &expr.kind {
            Kind::Intrinsic(_, args) => &args[..],
            _ => &[],
        };
        let mut operands = operands.iter().copied().chain(args);
        let is_listed = is_vast(width(expr)) && !keeps_rows(expr)
            || !takes_rows(expr) && operands.any(|operand| is_vast(width(operand)));
        if is_listed { self.lower.too_vast(expr.span) } else { Ok(()) }
    }

    /// Refuses a value that lists too many bits.
    pub(super) fn after_vast(&mut self, value: &Word, span: Span) -> Done<()> {
        match is_vast(value.width()) && is_vast(value.listed_bits()) {
            true => self.lower.too_vast(span),
            false => Ok(()),
        }
    }
}
