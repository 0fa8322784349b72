//! Calls of functions, methods, variants and built-ins.

use std::rc::Rc;

use super::FnCx;
use super::unknown::Env;
use crate::ast::{self, BinaryOp, ExprKind, Ident};
use crate::builtin;
use crate::def::Def;
use crate::diag::Code;
use crate::ids::FnId;
use crate::source::Span;
use crate::tir::{Expr, Fits, Intrinsic, Kind};
use crate::ty::{Arg, Ty};

/// A failed assert shows at most this many characters of its condition.
const MOST_WRITTEN: usize = 80;

impl FnCx<'_, '_> {
    pub(super) fn call(
        &mut self,
        callee: &ast::Expr,
        args: &[ast::Arg],
        values: &[ast::Expr],
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        match &callee.kind {
            ExprKind::Field(receiver, name) => {
                self.method(receiver, name, args, values, hint, span)
            }
            ExprKind::Path(path, _) => {
                if let [only] = &path.parts[..] {
                    let local = self.names.scope.find(&only.name).is_some();
                    if local {
                        let message = format!("`{}` is a value, not a function", only.name);
                        self.error(Code::Type, path.span, message);
                        return self.broken(span);
                    }
                    if let Some(done) = self.builtin(only, args, values, hint, span) {
                        return done;
                    }
                }
                match self.definition(path) {
                    Some(Def::Fn(function)) => {
                        self.call_fn(function, None, args, values, hint, span)
                    }
                    Some(Def::Variant(adt, variant)) => {
                        self.variant(adt, variant, values, hint, span)
                    }
                    Some(_) => {
                        self.error(Code::Type, path.span, "this is not a function");
                        self.broken(span)
                    }
                    None => {
                        self.unknown(path, "function");
                        self.broken(span)
                    }
                }
            }
            _ => {
                self.error(Code::Type, callee.span, "this is not a function");
                self.broken(span)
            }
        }
    }

    /// Checks a call of a built-in function; returns `None` if the name is not one.
    fn builtin(
        &mut self,
        name: &Ident,
        args: &[ast::Arg],
        values: &[ast::Expr],
        hint: Option<&Ty>,
        span: Span,
    ) -> Option<Expr> {
        match builtin::function(&name.name) {
            Some(builtin::Function::Assert) => return Some(self.assert(values, span)),
            Some(builtin::Function::AssertMacro) => return Some(self.assert_macro(values, span)),
            Some(builtin::Function::AssertOrder(op)) => {
                return Some(self.assert_order(op, values, span));
            }
            Some(builtin::Function::Zero) => {
                let ty = match (args, hint) {
                    ([ast::Arg::Type(ty)], _) => self.own_type(ty),
                    ([ast::Arg::Expr(ast::Expr { kind: ExprKind::Path(path, _), span })], _) => {
                        let kind = ast::TypeKind::Path(path.clone(), Vec::new());
                        self.own_type(&ast::Type { kind, span: *span })
                    }
                    ([], Some(hint)) => hint.clone(),
                    _ => self.any(),
                };
                return Some(self.node(
                    Kind::Intrinsic(Intrinsic::Zero, Vec::new()),
                    &ty,
                    true,
                    span,
                ));
            }
            Some(builtin::Function::Clog2) => return Some(self.clog2(values, span)),
            None => {}
        }
        let std = self.cx.program.is_std(self.module);
        let op = match &*name.name {
            "__to_bits" if std => Intrinsic::ToBits,
            "__from_bits" if std => Intrinsic::FromBits,
            "__sum" if std => Intrinsic::Sum,
            "__count" if std => Intrinsic::Count,
            "__mul_wide" if std => Intrinsic::MulWide,
            "__divrem" if std => Intrinsic::DivRem,
            "__abs_diff" if std => Intrinsic::AbsDiff,
            "__sqrt" if std => Intrinsic::Sqrt,
            "__may_hold" if std => Intrinsic::MayHold,
            "__before" if std => Intrinsic::Before,
            "__fits_cast" if std => Intrinsic::Fits(Fits::Cast),
            "__fast_add" if std => Intrinsic::Fast(BinaryOp::Add),
            "__fast_sub" if std => Intrinsic::Fast(BinaryOp::Sub),
            "__fast_mul" if std => Intrinsic::Fast(BinaryOp::Mul),
            "__fast_div" if std => Intrinsic::Fast(BinaryOp::Div),
            "__fast_sqrt" if std => Intrinsic::FastSqrt,
            _ => return None,
        };
        let values: Vec<Expr> = values.iter().map(|value| self.expr(value, None)).collect();
        let constant = values.iter().all(|value| value.constant);
        let ty = match hint {
            Some(hint) => hint.clone(),
            None => self.any(),
        };
        Some(self.node(Kind::Intrinsic(op, values), &ty, constant, span))
    }

    fn clog2(&mut self, values: &[ast::Expr], span: Span) -> Expr {
        let [value] = values else {
            self.error(Code::Type, span, "`clog2` takes one number");
            return self.broken(span);
        };
        let value = self.check(value, &Ty::size());
        if !value.constant {
            self.error(Code::Constant, value.span, "`clog2` takes a constant");
        }
        let kind = Kind::Intrinsic(Intrinsic::Clog2, vec![value]);
        self.node(kind, &Ty::size(), true, span)
    }

    /// Adds the text that an assert shows, and returns its number.
    pub(super) fn assert_text(&mut self, text: &ast::Expr, span: Span) -> Option<u32> {
        let ExprKind::Text(bytes) = &text.kind else {
            self.error(Code::Type, text.span, "this must be a text in `\"`");
            return None;
        };
        Some(self.add_assert(String::from_utf8_lossy(bytes).into_owned(), span))
    }

    fn add_assert(&mut self, text: String, span: Span) -> u32 {
        let asserts = &mut self.cx.tir.asserts;
        *self.cx.assert_places.entry(span).or_insert_with(|| {
            asserts.push((text, span));
            asserts.len() as u32 - 1
        })
    }

    /// Checks `assert!(condition)`, with or without a text.
    fn assert_macro(&mut self, values: &[ast::Expr], span: Span) -> Expr {
        let [condition] = values else { return self.assert(values, span) };
        let text = format!("assertion failed: {}", self.written(condition.span));
        let condition = self.check(condition, &Ty::Bool);
        self.asserted(condition, text, span)
    }

    /// Checks `assert_eq!(a, b)` and `assert_ne!(a, b)`, with or without a text.
    fn assert_order(&mut self, op: BinaryOp, values: &[ast::Expr], span: Span) -> Expr {
        let ([a, b] | [a, b, _]) = values else {
            self.error(Code::Type, span, "this takes two values, and may have a text");
            return self.broken(span);
        };
        let within = a.span.to(b.span);
        let kind = ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
        let condition = ast::Expr { kind, span: within };
        if let [_, _, text] = values {
            return self.assert(&[condition, text.clone()], span);
        }
        let (left, right) = (self.written(a.span), self.written(b.span));
        let text = format!("assertion failed: {left} {} {right}", op.text());
        let condition = self.check(&condition, &Ty::Bool);
        self.asserted(condition, text, span)
    }

    pub(super) fn asserted(&mut self, condition: Expr, text: String, span: Span) -> Expr {
        let text = self.add_assert(text, span);
        let constant = condition.constant;
        self.node(Kind::Assert(Box::new(condition), text), &Ty::unit(), constant, span)
    }

    /// Returns what is written at a place, on one line and not too long.
    pub(super) fn written(&self, span: Span) -> String {
        let source = self.cx.program.sources.files.get(span.file as usize);
        let text = source.and_then(|s| s.text.get(span.start as usize..span.end as usize));
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(MOST_WRITTEN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    fn assert(&mut self, values: &[ast::Expr], span: Span) -> Expr {
        let [condition, text] = values else {
            let message = "`assert` takes a condition and a text";
            let error = self.diagnostic(Code::Type, span, message);
            self.cx.errors.push(error.help("`assert!(condition)` needs no text"));
            return self.broken(span);
        };
        let condition = self.check(condition, &Ty::Bool);
        let Some(text) = self.assert_text(text, span) else { return self.broken(span) };
        let constant = condition.constant;
        self.node(Kind::Assert(Box::new(condition), text), &Ty::unit(), constant, span)
    }

    pub(super) fn call_fn(
        &mut self,
        function: FnId,
        receiver: Option<Expr>,
        args: &[ast::Arg],
        values: &[ast::Expr],
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let def = self.cx.program.fns[function].clone();
        let generic_args = self.call_args(&def, args, span);
        let params = self.params(def.module, &def.generics, &generic_args);
        let env = Env { module: def.module, args: Rc::new(params), own: false };
        let given = values.len() + usize::from(receiver.is_some());
        if def.decl.params.len() != given {
            let name = &def.decl.name.name;
            let message =
                format!("`{name}` takes {} values, {given} are given", def.decl.params.len());
            self.error(Code::Type, span, message);
            return self.broken(span);
        }
        let mut types = Vec::new();
        for param in &def.decl.params {
            types.push(match (&param.ty, &def.owner) {
                (Some(ty), _) => self.convert(ty, &env),
                (None, Some(owner)) => self.convert(&owner.1, &env),
                (None, None) => Ty::Error,
            });
        }
        let result = self.result_type(&def.decl.result, &env);
        // The type expected of the result determines untyped arguments, if it fits.
        if let Some(hint) = hint
            && !self.all_known(&generic_args)
            && matches!(def.decl.result, ast::ResultDecl::Type(_))
        {
            self.hint_result(&result, hint);
        }
        let mut checked = Vec::new();
        let mut types = types.into_iter();
        if let Some(receiver) = receiver {
            let found = self.ty_of(&receiver);
            self.demand(&types.next().unwrap_or(Ty::Error), &found, receiver.span);
            checked.push(receiver);
        }
        for (value, ty) in values.iter().zip(types) {
            checked.push(self.check(value, &ty));
        }
        self.settle();
        let constant = checked.iter().all(|value| value.constant);
        self.later.calls.push((function, generic_args, span));
        let kind = Kind::Call(self.later.calls.len() - 1, checked);
        self.node(kind, &result, constant, span)
    }

    /// Unifies the result with the hint if both are the same structure or enumeration. If that
    /// fails, nothing changes.
    fn hint_result(&mut self, result: &Ty, hint: &Ty) {
        if let (Ty::Adt(a, _), Ty::Adt(b, _)) = (self.shallow(result), self.shallow(hint))
            && a == b
        {
            let mut probe = self.infer.vars.clone();
            let lens = self.infer.lens.clone();
            if !self.unify(result, hint) {
                std::mem::swap(&mut self.infer.vars, &mut probe);
                self.infer.lens = lens;
            }
        }
    }

    fn call_args(
        &mut self,
        def: &crate::program::FnDef,
        args: &[ast::Arg],
        span: Span,
    ) -> Vec<Arg> {
        let mut generic_args = self.fresh_args(&def.generics);
        if args.is_empty() {
            return generic_args;
        }
        // The arguments of an `impl` are inferred from the receiver.
        let own = def.decl.generics.len();
        let first = def.generics.len() - own;
        if args.len() != own {
            let name = &def.decl.name.name;
            let message = format!("`{name}` takes {own} arguments in `<…>`, {} given", args.len());
            self.error(Code::Type, span, message);
            return generic_args;
        }
        let env = self.own_env();
        generic_args.truncate(first);
        let before = self.params(def.module, &def.generics, &generic_args);
        self.convert_args(def.module, before, &def.generics[first..], args, &env)
    }
}
