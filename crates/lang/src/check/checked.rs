//! `#[checked]` functions: what does not fit is a failed assert that names the line.

use super::FnCx;
use crate::ast::BinaryOp;
use crate::diag::Code;
use crate::source::Span;
use crate::tir::{Expr, Fits, Intrinsic, Kind, Place, Step, Stmt};
use crate::ty::{Len, Ty};

impl FnCx<'_, '_> {
    /// Binds a value to a variable without a name, and returns a use of it.
    fn keep(&mut self, value: Expr, lets: &mut Vec<Stmt>) -> Expr {
        let (ty, constant, span) = (value.ty, value.constant, value.span);
        let whole = self.ty_of(&value);
        let local = self.hidden("checked", &whole, span);
        self.names.locals[local as usize].constant = constant;
        lets.push(self.bound_to(local, value, span));
        self.plain(Kind::Local(local), ty, constant, span)
    }

    /// Returns the assert that some values fit.
    fn demand_fit(&mut self, fits: Fits, values: Vec<Expr>, why: &str, span: Span) -> Stmt {
        let constant = values.iter().all(|value| value.constant);
        let kind = Kind::Intrinsic(Intrinsic::Fits(fits), values);
        let condition = self.node(kind, &Ty::Bool, constant, span);
        let text = format!("`{}` {why}", self.written(span));
        Stmt::Expr(self.asserted(condition, text, span))
    }

    /// Returns the operation, after an assert that its result fits.
    pub(super) fn checked_binary(
        &mut self,
        op: BinaryOp,
        (a, b): (Expr, Expr),
        ty: &Ty,
        span: Span,
    ) -> Expr {
        let mut lets = Vec::new();
        let (a, b) = (self.keep(a, &mut lets), self.keep(b, &mut lets));
        let why = match op {
            BinaryOp::Div => "divides by 0, or does not fit",
            BinaryOp::Rem => "divides by 0",
            BinaryOp::Shl | BinaryOp::Shr => "shifts by the width or more",
            _ => "does not fit",
        };
        lets.push(self.demand_fit(Fits::Binary(op), vec![a.clone(), b.clone()], why, span));
        let constant = a.constant && b.constant;
        let kind = Kind::Binary(op, Box::new(a), Box::new(b));
        let value = self.node(kind, ty, constant, span);
        self.node(Kind::Block(lets, Some(Box::new(value))), ty, constant, span)
    }

    /// Returns what a value becomes, after an assert that it fits.
    pub(super) fn checked_unary(
        &mut self,
        fits: Fits,
        value: Expr,
        (becomes, ty): (impl FnOnce(Box<Expr>) -> Kind, &Ty),
        span: Span,
    ) -> Expr {
        let mut lets = Vec::new();
        let value = self.keep(value, &mut lets);
        let constant = value.constant;
        let new = self.node(becomes(Box::new(value.clone())), ty, constant, span);
        let new = self.keep(new, &mut lets);
        lets.push(self.demand_fit(fits, vec![value, new.clone()], "does not fit", span));
        self.node(Kind::Block(lets, Some(Box::new(new))), ty, constant, span)
    }

    /// Returns an index, after an assert that the array has it. Constants are checked anyway.
    pub(super) fn checked_index(&mut self, index: Expr, array: &Ty, span: Span) -> Expr {
        if !self.checked || index.constant {
            return index;
        }
        let known = match self.shallow(array) {
            Ty::Array(_, len) => self.len(len),
            _ => return index,
        };
        let Len::Known(len) = known else {
            self.error(Code::Type, span, "the length of this must be known here");
            return index;
        };
        let mut lets = Vec::new();
        let ty = self.ty_of(&index);
        let index = self.keep(index, &mut lets);
        let why = "is beyond the array";
        lets.push(self.demand_fit(Fits::Index(len), vec![index.clone()], why, span));
        self.node(Kind::Block(lets, Some(Box::new(index))), &ty, false, span)
    }

    /// Adds `place op= value` with its assert: indices first, then the value, then what is there.
    pub(super) fn checked_assign(
        &mut self,
        mut place: Place,
        (op, value, ty): (BinaryOp, Expr, &Ty),
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) {
        let root = self.names.locals[place.local as usize].ty;
        let mut there = self.plain(Kind::Local(place.local), root, false, span);
        for (step, part) in &mut place.path {
            let whole = Box::new(there);
            let kind = match step {
                Step::Field(field) => Kind::Field(whole, *field),
                Step::Index(index) => {
                    *index = self.keep(index.clone(), stmts);
                    Kind::Index(whole, Box::new(index.clone()))
                }
            };
            there = self.plain(kind, *part, false, span);
        }
        let value = self.keep(value, stmts);
        let new = self.checked_binary(op, (there, value), ty, span);
        stmts.push(Stmt::Assign(place, None, new));
    }
}
