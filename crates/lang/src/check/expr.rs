//! Expressions.

use std::rc::Rc;

use super::types::Mini;
use super::unknown::{Check, VarKind};
use super::{Binding, FnCx};
use crate::ast::{self, BinaryOp, ExprKind, Ident, UnaryOp};
use crate::def::Def;
use crate::diag::Code;
use crate::ids::{AdtId, ExprId, Id};
use crate::program::AdtDecl;
use crate::references::Target;
use crate::source::Span;
use crate::tir::{Expr, Fits, Kind, MAX_DEEP, TOO_DEEP, TyRef};
use crate::ty::{Arg, Len, Ty};
use crate::value::Value;

impl FnCx<'_, '_> {
    pub(super) fn node(&mut self, kind: Kind, ty: &Ty, constant: bool, span: Span) -> Expr {
        self.place = span;
        let ty = self.type_ref(ty);
        self.see(span, ty);
        self.plain(kind, ty, constant, span)
    }

    /// Returns an expression that nobody wrote.
    pub(super) fn plain(&mut self, kind: Kind, ty: TyRef, constant: bool, span: Span) -> Expr {
        let id = ExprId::of(self.cx.exprs);
        self.cx.exprs += 1;
        Expr { id, kind, ty, constant, span }
    }

    pub(super) fn ty_of(&self, expr: &Expr) -> Ty {
        self.infer.types[expr.ty as usize].clone()
    }

    /// Returns a placeholder for an expression with an error.
    pub(super) fn broken(&mut self, span: Span) -> Expr {
        self.node(Kind::Aggregate(Vec::new()), &Ty::Error, true, span)
    }

    /// Checks an expression that must have this type.
    pub(super) fn check(&mut self, expr: &ast::Expr, expected: &Ty) -> Expr {
        let checked = self.expr(expr, Some(expected));
        let ty = self.ty_of(&checked);
        self.demand(expected, &ty, expr.span);
        checked
    }

    /// Checks an expression; the hint is the type that it will need, but is not enforced here.
    pub(super) fn expr(&mut self, expr: &ast::Expr, hint: Option<&Ty>) -> Expr {
        self.place = expr.span;
        if self.cx.spent.deep >= MAX_DEEP {
            self.error(Code::Limit, expr.span, TOO_DEEP);
            return self.broken(expr.span);
        }
        if !self.may_work() {
            return self.broken(expr.span);
        }
        self.cx.spent.deep += 1;
        let checked = self.expr_at(expr, hint);
        self.cx.spent.deep -= 1;
        checked
    }

    fn expr_at(&mut self, expr: &ast::Expr, hint: Option<&Ty>) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value, ty) => {
                let ty = self.literal_type(ty.as_ref());
                self.later.checks.push((Check::Num, ty.clone(), span));
                self.later.checks.push((Check::Literal(value.clone()), ty.clone(), span));
                self.node(Kind::Int(value.clone()), &ty, true, span)
            }
            ExprKind::Float(text, ty) => self.fraction(text, ty.as_ref(), span),
            ExprKind::Bool(value) => {
                self.node(Kind::Const(Rc::new(Value::Bool(*value))), &Ty::Bool, true, span)
            }
            ExprKind::Char(byte) => {
                let ty = Ty::Int(false, Len::Known(8));
                self.node(Kind::Int((*byte).into()), &ty, true, span)
            }
            ExprKind::Text(bytes) => self.text(bytes, hint, span),
            ExprKind::Path(path, _) => self.path(path),
            ExprKind::Struct(path, fields, base) => {
                self.struct_literal(path, fields, base.as_deref(), span)
            }
            ExprKind::Tuple(parts) => self.tuple(parts, hint, span),
            ExprKind::If(branch) => self.if_expr(branch, hint, span),
            ExprKind::Match(value, arms) => self.match_expr(value, arms, hint, span),
            ExprKind::Block(block) => self.block(block, hint),
            ExprKind::Array(parts) => self.array(parts, hint, span),
            ExprKind::Repeat(value, len) => {
                let env = self.own_env();
                let len = self.convert_len(len, &env);
                let element = self.element_hint(hint);
                let value = self.expr(value, element.as_ref());
                let ty = Ty::Array(Box::new(self.ty_of(&value)), len);
                let constant = value.constant;
                self.node(Kind::Repeat(Box::new(value)), &ty, constant, span)
            }
            ExprKind::Comprehension(body, pattern, over) => {
                self.comprehension(body, pattern, over, hint, span)
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand, hint, span),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, hint, span),
            ExprKind::Cast(operand, ty) => self.cast(operand, ty, span),
            ExprKind::Field(value, name) => self.field(value, name, span),
            ExprKind::TupleField(value, place, at) => self.tuple_field(value, *place, *at, span),
            ExprKind::Call(callee, args, values) => self.call(callee, args, values, hint, span),
            ExprKind::Index(value, index) => self.index(value, index, span),
            ExprKind::Range(..) => self.range_value(expr, span),
            ExprKind::Return(value) => {
                let result = self.result.clone();
                let value = match value {
                    Some(value) => self.check(value, &result),
                    None => {
                        self.demand(&result, &Ty::unit(), span);
                        self.node(Kind::Aggregate(Vec::new()), &Ty::unit(), true, span)
                    }
                };
                self.leave(Kind::Return(Box::new(value)), span)
            }
            ExprKind::Break(label) => self.leave_loop(label.as_ref(), true, span),
            ExprKind::Continue(label) => self.leave_loop(label.as_ref(), false, span),
        }
    }

    fn cast(&mut self, operand: &ast::Expr, ty: &ast::Type, span: Span) -> Expr {
        let to = self.own_type(ty);
        if let (ExprKind::Text(_), Some(_)) = (&operand.kind, self.text_len(&to)) {
            return self.check(operand, &to);
        }
        let value = self.expr(operand, None);
        let from = self.ty_of(&value);
        if self.text_len(&from).is_some() || self.text_len(&to).is_some() {
            return self.text_cast(value, &to, span);
        }
        // A negated literal takes its type from the cast: by default it would be unsigned.
        if is_negated_literal(operand) {
            self.unify(&from, &to);
        }
        self.later.checks.push((Check::Cast(to.clone()), from, span));
        let constant = value.constant;
        if self.checked && !is_negated_literal(operand) {
            return self.checked_unary(Fits::Cast, value, (Kind::Cast, &to), span);
        }
        self.node(Kind::Cast(Box::new(value)), &to, constant, span)
    }

    pub(super) fn leave(&mut self, kind: Kind, span: Span) -> Expr {
        let ty = self.any();
        self.infer.diverging.push(ty.clone());
        self.node(kind, &ty, false, span)
    }

    fn fraction(&mut self, text: &str, ty: Option<&ast::Type>, span: Span) -> Expr {
        let ty = match ty {
            Some(ty) => self.own_type(ty),
            None => self.fresh(VarKind::Fraction),
        };
        self.later.checks.push((Check::Fraction(text.into()), ty.clone(), span));
        self.node(Kind::Fraction(text.into()), &ty, true, span)
    }

    fn path(&mut self, path: &ast::Path) -> Expr {
        let span = path.span;
        if let [only] = &path.parts[..] {
            match self.names.scope.find(&only.name).cloned() {
                Some(Binding::Local(local)) => {
                    let info = &self.names.locals[local as usize];
                    let bound = info.span;
                    let (ty, constant) =
                        (self.infer.types[info.ty as usize].clone(), info.constant);
                    self.note(span, Target::Place(bound));
                    return self.node(Kind::Local(local), &ty, constant, span);
                }
                Some(Binding::Const(ty, value)) => {
                    return self.node(Kind::Const(value), &ty, true, span);
                }
                None => {}
            }
            if &*only.name == "PARTIES" {
                let parties = self.cx.parties;
                return self.node(Kind::Int(parties.into()), &Ty::size(), true, span);
            }
        }
        if let [before @ .., last] = &path.parts[..]
            && &*last.name == "BITS"
            && !before.is_empty()
        {
            return self.bits_of(before, span);
        }
        if let [before @ .., last] = &path.parts[..]
            && matches!(&*last.name, "MAX" | "MIN")
            && let Some(bound) = self.bound_of(before, &last.name, span)
        {
            return bound;
        }
        match self.definition(path) {
            Some(Def::Const(place)) => match self.cx.constant(place, span) {
                Some((ty, value)) => self.node(Kind::Const(value), &ty, true, span),
                None => self.broken(span),
            },
            Some(Def::Variant(adt, variant)) => self.variant(adt, variant, &[], None, span),
            Some(Def::Fn(_)) => {
                self.error(Code::Type, span, "a function is not a value: call it");
                self.broken(span)
            }
            Some(_) => {
                self.error(Code::Type, span, "this is not a value");
                self.broken(span)
            }
            None => {
                self.unknown(path, "value");
                self.broken(span)
            }
        }
    }

    /// Returns what a path means; `Some` and `None` need no `Option::`.
    pub(super) fn definition(&mut self, path: &ast::Path) -> Option<Def> {
        let found = self.cx.program.resolve(self.module, &path.parts, &mut self.cx.errors);
        if found.is_none()
            && let [only] = &path.parts[..]
        {
            let found = self.cx.program.bare_variant(&only.name)?;
            self.note(only.span, Target::Item(found));
            return Some(found);
        }
        found
    }

    fn bits_of(&mut self, parts: &[Ident], span: Span) -> Expr {
        let path = ast::Path { parts: parts.to_vec(), span };
        let ty = ast::Type { kind: ast::TypeKind::Path(path, Vec::new()), span };
        let ty = self.own_type(&ty);
        let ty = self.resolve(&ty);
        if super::types::has_var(&ty) {
            self.error(Code::Type, span, "the width of this type is not known");
            return self.broken(span);
        }
        let bits = self.cx.shape(&ty, span).map_or(0, |id| self.cx.tir.shapes.width(id));
        self.node(Kind::Int(bits.into()), &Ty::size(), true, span)
    }

    /// Checks a variant with its payload.
    pub(super) fn variant(
        &mut self,
        adt: AdtId,
        variant: usize,
        values: &[ast::Expr],
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let generics = self.cx.program.adts[adt].generics().to_vec();
        let args = self.fresh_args(&generics);
        let ty = Ty::Adt(adt, args.clone());
        if let Some(hint) = hint {
            // Helps untyped parts; what does not fit is reported by the caller.
            if matches!(self.shallow(hint), Ty::Adt(other, _) if other == adt) {
                self.unify(&ty, hint);
            }
        }
        let payload = self.payload_of(adt, variant, &args);
        if payload.len() != values.len() {
            let message = format!(
                "this variant carries {} values, {} are given",
                payload.len(),
                values.len()
            );
            self.error(Code::Type, span, message);
            return self.broken(span);
        }
        let values: Vec<Expr> =
            values.iter().zip(&payload).map(|(value, ty)| self.check(value, ty)).collect();
        let constant = values.iter().all(|value| value.constant);
        self.node(Kind::Variant(variant, values), &ty, constant, span)
    }

    fn tuple(&mut self, parts: &[ast::Expr], hint: Option<&Ty>, span: Span) -> Expr {
        let hints = match hint.map(|hint| self.shallow(hint)) {
            Some(Ty::Tuple(hints)) if hints.len() == parts.len() => hints,
            _ => Vec::new(),
        };
        let parts: Vec<Expr> =
            parts.iter().enumerate().map(|(i, part)| self.expr(part, hints.get(i))).collect();
        let ty = Ty::Tuple(parts.iter().map(|part| self.ty_of(part)).collect());
        let constant = parts.iter().all(|part| part.constant);
        self.node(Kind::Aggregate(parts), &ty, constant, span)
    }

    pub(super) fn element_hint(&self, hint: Option<&Ty>) -> Option<Ty> {
        match hint.map(|hint| self.shallow(hint)) {
            Some(Ty::Array(element, _)) => Some(*element),
            _ => None,
        }
    }

    fn array(&mut self, parts: &[ast::Expr], hint: Option<&Ty>, span: Span) -> Expr {
        let element = match self.element_hint(hint) {
            Some(element) => element,
            None => self.any(),
        };
        let parts: Vec<Expr> = parts.iter().map(|part| self.check(part, &element)).collect();
        let ty = Ty::Array(Box::new(element), Len::Known(parts.len() as u64));
        let constant = parts.iter().all(|part| part.constant);
        self.node(Kind::Aggregate(parts), &ty, constant, span)
    }

    fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, hint: Option<&Ty>, span: Span) -> Expr {
        let operand = self.expr(operand, hint);
        let ty = self.ty_of(&operand);
        let check = match op {
            UnaryOp::Neg => Check::Signed,
            UnaryOp::Not => Check::Bits,
        };
        self.later.checks.push((check, ty.clone(), span));
        let constant = operand.constant;
        let is_literal = matches!(operand.kind, Kind::Int(_) | Kind::Fraction(_));
        if self.checked && op == UnaryOp::Neg && !is_literal {
            let negated = |operand| Kind::Unary(op, operand);
            return self.checked_unary(Fits::Neg, operand, (negated, &ty), span);
        }
        self.node(Kind::Unary(op, Box::new(operand)), &ty, constant, span)
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        use BinaryOp::*;
        match op {
            AndAlso | OrElse => {
                let a = self.check(a, &Ty::Bool);
                let b = self.check(b, &Ty::Bool);
                let constant = a.constant && b.constant;
                let known = Kind::Const(Rc::new(Value::Bool(op == OrElse)));
                let known = self.node(known, &Ty::Bool, true, span);
                let (then, otherwise) = if op == AndAlso { (b, known) } else { (known, b) };
                let kind = Kind::If(Box::new(a), Box::new(then), Some(Box::new(otherwise)));
                self.node(kind, &Ty::Bool, constant, span)
            }
            Shl | Shr => {
                let a = self.expr(a, hint);
                let b = self.expr(b, None);
                let (ty, amount) = (self.ty_of(&a), self.ty_of(&b));
                self.later.checks.push((Check::Int, ty.clone(), span));
                self.later.checks.push((Check::Int, amount, b.span));
                if self.checked {
                    return self.checked_binary(op, (a, b), &ty, span);
                }
                let constant = a.constant && b.constant;
                self.node(Kind::Binary(op, Box::new(a), Box::new(b)), &ty, constant, span)
            }
            _ => {
                let compares = op.power() == 3;
                let (a, b, ty) = match a.kind {
                    // A text is what the other side is.
                    ExprKind::Text(_) if compares => {
                        let b = self.expr(b, None);
                        let ty = self.ty_of(&b);
                        (self.check(a, &ty), b, ty)
                    }
                    _ => {
                        let a = self.expr(a, if compares { None } else { hint });
                        let ty = self.ty_of(&a);
                        let b = self.check(b, &ty);
                        (a, b, ty)
                    }
                };
                let constant = a.constant && b.constant;
                match op {
                    Add | Sub | Mul | Div => self.later.checks.push((Check::Num, ty.clone(), span)),
                    Rem => self.later.checks.push((Check::Remainder, ty.clone(), span)),
                    And | Or | Xor => self.later.checks.push((Check::Bits, ty.clone(), span)),
                    _ => {}
                }
                if self.checked && matches!(op, Add | Sub | Mul | Div | Rem) {
                    return self.checked_binary(op, (a, b), &ty, span);
                }
                let result = if compares { Ty::Bool } else { ty };
                self.node(Kind::Binary(op, Box::new(a), Box::new(b)), &result, constant, span)
            }
        }
    }

    /// Returns the type of a value whose parts are accessed.
    pub(super) fn known_type(&mut self, value: &Expr) -> Ty {
        let ty = self.ty_of(value);
        if let Ty::Var(_) = self.shallow(&ty) {
            self.settle();
        }
        let ty = self.shallow(&ty);
        if let Ty::Var(_) = ty {
            let error =
                self.diagnostic(Code::Type, value.span, "the type of this must be known here");
            self.cx.errors.push(error.help("say it where it is bound: `let x: TYPE = …`"));
            return Ty::Error;
        }
        ty
    }

    fn field(&mut self, value: &ast::Expr, name: &Ident, span: Span) -> Expr {
        let value = self.expr(value, None);
        match self.field_of(&value, name) {
            Some((place, ty)) => {
                let constant = value.constant;
                self.node(Kind::Field(Box::new(value), place), &ty, constant, span)
            }
            None => self.broken(span),
        }
    }

    /// Returns the place and the type of a field, or reports an error.
    pub(super) fn field_of(&mut self, value: &Expr, name: &Ident) -> Option<(usize, Ty)> {
        let ty = self.known_type(value);
        if let Ty::Adt(adt, args) = &ty
            && let AdtDecl::Struct(decl) = &self.cx.program.adts[*adt].decl
            && let Some(place) = self.cx.program.part(*adt, &name.name)
        {
            let (field, ty) = &decl.clone().fields[place];
            self.note(name.span, Target::Place(field.span));
            let env = self.inside(*adt, args);
            return Some((place, self.convert(ty, &env)));
        }
        if ty != Ty::Error {
            let shown = self.show(&ty);
            self.no_field(&shown, if let Ty::Adt(adt, _) = ty { Some(adt) } else { None }, name);
        }
        None
    }

    fn tuple_field(&mut self, value: &ast::Expr, place: u64, at: Span, span: Span) -> Expr {
        let value = self.expr(value, None);
        match self.tuple_part(&value, place, at) {
            Some(ty) => {
                let constant = value.constant;
                self.node(Kind::Field(Box::new(value), place as usize), &ty, constant, span)
            }
            None => self.broken(span),
        }
    }

    /// Returns the type of a part of a tuple, or reports an error.
    pub(super) fn tuple_part(&mut self, value: &Expr, place: u64, at: Span) -> Option<Ty> {
        let ty = self.known_type(value);
        if let Ty::Tuple(parts) = &ty
            && let Some(part) = parts.get(place as usize)
        {
            return Some(part.clone());
        }
        if ty != Ty::Error {
            let shown = self.show(&ty);
            self.error(Code::Type, at, format!("`{shown}` has no part {place}"));
        }
        None
    }

    fn index(&mut self, value: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let value = self.expr(value, None);
        let element = match self.known_type(&value) {
            Ty::Array(element, _) => *element,
            Ty::Error => return self.broken(span),
            other => {
                let shown = self.show(&other);
                self.error(Code::Type, span, format!("`{shown}` is not an array"));
                return self.broken(span);
            }
        };
        if let ExprKind::Range(low, high, inclusive) = &index.kind {
            let Some((low, high)) = self.bounds(low, high, *inclusive) else {
                return self.broken(span);
            };
            // How long the array is may become known only later.
            self.later.checks.push((Check::Slice(high), self.ty_of(&value), index.span));
            let ty = Ty::Array(Box::new(element), Len::Known(high - low));
            let constant = value.constant;
            return self.node(Kind::Slice(Box::new(value), low), &ty, constant, span);
        }
        let index = self.index_value(index);
        let array = self.ty_of(&value);
        let index = self.checked_index(index, &array, span);
        let constant = value.constant && index.constant;
        self.node(Kind::Index(Box::new(value), Box::new(index)), &element, constant, span)
    }

    /// Checks an index, which is an unsigned integer.
    pub(super) fn index_value(&mut self, index: &ast::Expr) -> Expr {
        let index = self.expr(index, None);
        let ty = self.ty_of(&index);
        if let Ty::Int(true, _) = self.shallow(&ty) {
            let error = self.diagnostic(Code::Type, index.span, "an index is unsigned");
            self.cx.errors.push(error.help("convert it: `as u32`"));
        }
        self.later.checks.push((Check::Int, ty, index.span));
        index
    }

    /// Returns the bounds of a range, which must be known: the first, and one past the last.
    pub(super) fn bounds(
        &mut self,
        low: &ast::Expr,
        high: &ast::Expr,
        inclusive: bool,
    ) -> Option<(u64, u64)> {
        let env = self.own_env();
        let errors = self.cx.errors.errors();
        let low_value = self.convert_len(low, &env);
        let high_value = self.convert_len(high, &env);
        let (Len::Known(from), Len::Known(to)) = (low_value, high_value) else { return None };
        if self.cx.errors.errors() > errors {
            return None;
        }
        let Some(to) = to.checked_add(u64::from(inclusive)) else {
            let message = "a range includes at most 2^64 - 2";
            self.error(Code::Limit, low.span.to(high.span), message);
            return None;
        };
        if from > to {
            let message = format!("the range ends at {to}, before it begins at {from}");
            self.error(Code::Constant, low.span.to(high.span), message);
            return None;
        }
        Some((from, to))
    }

    /// Checks `i..j` as an array.
    fn range_value(&mut self, expr: &ast::Expr, span: Span) -> Expr {
        let ExprKind::Range(low, high, inclusive) = &expr.kind else { return self.broken(span) };
        let Some((from, to)) = self.bounds(low, high, *inclusive) else {
            return self.broken(span);
        };
        if to - from > 1 << 20 {
            self.error(Code::Limit, span, "an array written as a range has at most 2^20 elements");
            return self.broken(span);
        }
        let ty = Ty::Array(Box::new(Ty::size()), Len::Known(to - from));
        let values = (from..to).map(|n| Value::Int(n.into())).collect();
        self.node(Kind::Const(Rc::new(Value::List(values))), &ty, true, span)
    }

    /// Returns the value of a condition if it is known by now.
    pub(super) fn decided(&mut self, condition: &ast::Expr) -> Option<bool> {
        let env = self.own_env();
        match self.mini(condition, &env) {
            Mini::Truth(holds) => Some(holds),
            _ => None,
        }
    }

    pub(super) fn all_known(&self, args: &[Arg]) -> bool {
        args.iter().all(|arg| match self.resolve_arg(arg) {
            Arg::Ty(ty) => !super::types::has_var(&ty),
            Arg::Const(len) => matches!(len, Len::Known(_)),
        })
    }
}

/// Returns whether this is `-` and a literal without a type.
fn is_negated_literal(expr: &ast::Expr) -> bool {
    let ExprKind::Unary(UnaryOp::Neg, operand) = &expr.kind else { return false };
    matches!(operand.kind, ExprKind::Int(_, None) | ExprKind::Float(_, None))
}
