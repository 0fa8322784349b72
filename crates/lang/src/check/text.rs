//! Texts: literals where a `text<N>` is needed, patterns, and conversions from and to bytes.

use std::rc::Rc;

use super::FnCx;
use crate::ast;
use crate::diag::Code;
use crate::source::Span;
use crate::tir::{Expr, Kind, Pattern, PatternKind};
use crate::ty::{Arg, Len, Ty};
use crate::value::Value;

impl FnCx<'_, '_> {
    /// Returns how many bytes a `text<N>` has room for; `None` for other types.
    pub(super) fn text_len(&self, ty: &Ty) -> Option<Len> {
        match self.shallow(ty) {
            Ty::Adt(adt, args) if Some(adt) == self.cx.tir.shapes.text => match args[..] {
                [Arg::Const(len)] => Some(self.len(len)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Checks a literal: an array of bytes, or a text where one is needed.
    pub(super) fn text(&mut self, bytes: &[u8], hint: Option<&Ty>, span: Span) -> Expr {
        let array = byte_array(Len::Known(bytes.len() as u64));
        let Some((ty, len)) = hint.and_then(|hint| Some((hint, self.text_len(hint)?))) else {
            let bytes = Value::List(bytes.iter().map(|&byte| Value::Int(byte.into())).collect());
            return self.node(Kind::Const(Rc::new(bytes)), &array, true, span);
        };
        let Some(bytes) = self.filled(bytes, len, span) else { return self.broken(span) };
        let bytes = Value::List(bytes.into_iter().map(|byte| Value::Int(byte.into())).collect());
        self.node(Kind::Const(Rc::new(Value::List(vec![bytes]))), &ty.clone(), true, span)
    }

    /// Returns the bytes of a literal with the zero bytes after it; a length that is not known yet
    /// becomes that of the literal.
    fn filled(&mut self, bytes: &[u8], len: Len, span: Span) -> Option<Vec<u8>> {
        let given = bytes.len() as u64;
        if let Len::Var(_) = len {
            self.unify_len(len, Len::Known(given));
        }
        let room = if let Len::Known(room) = len { room } else { given };
        if given > room {
            let message = format!("this text has {given} bytes, more than `text<{room}>` holds");
            self.error(Code::Constant, span, message);
            return None;
        }
        if bytes.contains(&0) {
            self.error(Code::Constant, span, "a `text` has no zero bytes: they fill it up");
            return None;
        }
        self.count(room);
        if !self.may_work() {
            return None;
        }
        let mut bytes = bytes.to_vec();
        bytes.resize(room as usize, 0);
        Some(bytes)
    }

    /// Checks `as` from a text to its bytes, and back.
    pub(super) fn text_cast(&mut self, value: Expr, to: &Ty, span: Span) -> Expr {
        let from = self.ty_of(&value);
        let constant = value.constant;
        let (len, other, kind): (_, _, fn(Expr) -> Kind) =
            match (self.text_len(&from), self.text_len(to)) {
                (Some(len), None) => (len, to, |value| Kind::Field(Box::new(value), 0)),
                (None, Some(len)) => (len, &from, |value| Kind::Aggregate(vec![value])),
                _ => {
                    if !self.unify(&from, to) {
                        let (from, to) = (self.show(&from), self.show(to));
                        let message = format!("a `{from}` cannot become a `{to}` by `as`");
                        let error = self.diagnostic(Code::Type, span, message);
                        let help = "write `t.resize()`, which adds zero bytes or cuts";
                        self.cx.errors.push(error.help(help));
                        return self.broken(span);
                    }
                    return value;
                }
            };
        if !self.unify(&byte_array(len), other) {
            let (from, to) = (self.show(&from), self.show(to));
            let error =
                self.diagnostic(Code::Type, span, format!("a `{from}` cannot become a `{to}`"));
            self.cx.errors.push(error.help("a `text<N>` is converted from and to `[u8; N]`"));
            return self.broken(span);
        }
        self.node(kind(value), to, constant, span)
    }

    /// Checks a literal as a pattern, for a text or an array of bytes.
    pub(super) fn text_pattern(
        &mut self,
        literal: &ast::Expr,
        bytes: &[u8],
        ty: &Ty,
    ) -> PatternKind {
        let span = literal.span;
        let exact = |this: &mut Self, bytes: &[u8]| {
            let element = Ty::Int(false, Len::Known(8));
            let element = this.type_ref(&element);
            let byte = |&byte: &u8| {
                let kind = PatternKind::Range(byte.into(), byte.into());
                Pattern { kind, ty: element, span }
            };
            PatternKind::Tuple(bytes.iter().map(byte).collect())
        };
        let Some(len) = self.text_len(ty) else {
            self.demand(ty, &byte_array(Len::Known(bytes.len() as u64)), span);
            return exact(self, bytes);
        };
        let Some(bytes) = self.filled(bytes, len, span) else { return PatternKind::Any };
        let kind = exact(self, &bytes);
        let ty = self.type_ref(&byte_array(Len::Known(bytes.len() as u64)));
        PatternKind::Tuple(vec![Pattern { kind, ty, span }])
    }
}

fn byte_array(len: Len) -> Ty {
    Ty::Array(Box::new(Ty::Int(false, Len::Known(8))), len)
}
