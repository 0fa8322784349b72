//! Patterns.

use std::collections::{HashMap, HashSet};

use num_bigint::BigInt;

use super::unknown::Check;
use super::{Binding, Coverage, FnCx};
use crate::ast::{self, ExprKind, PatternKind as Written, UnaryOp};
use crate::def::Def;
use crate::diag::Code;
use crate::source::Span;
use crate::tir::{Local, Pattern, PatternKind, TyRef};
use crate::ty::{Len, Ty};
use crate::value::Value;

/// A `..` in a pattern for an array stands for at most this many elements.
const MOST_REST: u64 = 1 << 12;

impl FnCx<'_, '_> {
    /// Checks a pattern for values of a type and brings its names into scope.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, ty: &Ty, constant: bool) -> Pattern {
        let mark = self.names.scope.len();
        let checked = self.part(pattern, ty, constant);
        self.check_names(mark);
        checked
    }

    /// Reports names that a pattern binds twice, among those in scope from this place on.
    fn check_names(&mut self, mark: usize) {
        let mut known = HashSet::new();
        let mut twice = Vec::new();
        for (name, binding) in self.names.scope.after(mark) {
            if let Binding::Local(local) = binding
                && !known.insert(name)
            {
                let message = format!("`{name}` is bound twice");
                twice.push((self.names.locals[*local as usize].span, message));
            }
        }
        for (span, message) in twice {
            self.error(Code::Name, span, message);
        }
    }

    /// Checks a pattern or a part of one.
    fn part(&mut self, pattern: &ast::Pattern, ty: &Ty, constant: bool) -> Pattern {
        let span = pattern.span;
        self.place = span;
        let kind = match &pattern.kind {
            Written::Any => PatternKind::Any,
            Written::Name(name, mutable) => self.name_pattern(name, *mutable, ty, constant),
            Written::Literal(value) => match (&value.kind, self.pattern_value(value, ty)) {
                (ExprKind::Text(bytes), _) => self.text_pattern(value, bytes, ty),
                (_, Some(value)) => PatternKind::Range(value.clone(), value),
                (_, None) => PatternKind::Any,
            },
            Written::Range(low, high, inclusive) => {
                match (self.pattern_value(low, ty), self.pattern_value(high, ty)) {
                    (Some(low), Some(high)) => {
                        let high = if *inclusive { high } else { high - 1 };
                        if low > high {
                            self.error(Code::Pattern, span, "this range is empty");
                        }
                        PatternKind::Range(low, high)
                    }
                    _ => PatternKind::Any,
                }
            }
            Written::Tuple(parts) => self.tuple_pattern(parts, ty, constant, span),
            Written::Array(parts, rest) => self.array_pattern(parts, *rest, (ty, constant), span),
            Written::Variant(path, parts) => self.variant_pattern(path, parts, ty, constant, span),
            Written::Struct(path, fields, rest) => {
                self.struct_pattern(path, fields, *rest, ty, constant, span)
            }
            Written::Or(patterns) => self.or_pattern(patterns, ty, constant, span),
        };
        Pattern { kind, ty: self.type_ref(ty), span }
    }

    fn name_pattern(
        &mut self,
        name: &ast::Ident,
        mutable: bool,
        ty: &Ty,
        constant: bool,
    ) -> PatternKind {
        if !mutable && name.name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let path = ast::Path { parts: vec![name.clone()], span: name.span };
            match self.definition(&path) {
                Some(Def::Variant(..)) => {
                    return self.variant_pattern(&path, &[], ty, constant, name.span);
                }
                Some(Def::Const(place)) => {
                    let Some((found, value)) = self.cx.constant(place, name.span) else {
                        return PatternKind::Any;
                    };
                    self.demand(ty, &found, name.span);
                    return self.value_pattern(&value, name.span);
                }
                _ => {}
            }
        }
        // A variable that is assigned to is not a constant, whatever its first value is.
        PatternKind::Bind(self.local(name, ty, mutable, constant && !mutable))
    }

    fn value_pattern(&mut self, value: &Value, span: Span) -> PatternKind {
        let value = match value {
            Value::Int(value) => value.clone(),
            Value::Bool(value) => u8::from(*value).into(),
            _ => {
                self.error(Code::Pattern, span, "a constant in a pattern is a number or a `bool`");
                return PatternKind::Any;
            }
        };
        PatternKind::Range(value.clone(), value)
    }

    fn pattern_value(&mut self, value: &ast::Expr, ty: &Ty) -> Option<BigInt> {
        match &value.kind {
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let number = self.pattern_value(inner, ty);
                self.later.checks.push((Check::Signed, ty.clone(), value.span));
                number.map(|number| -number)
            }
            ExprKind::Bool(truth) => {
                self.demand(ty, &Ty::Bool, value.span);
                Some(u8::from(*truth).into())
            }
            ExprKind::Int(number, _) => {
                self.later.checks.push((Check::Int, ty.clone(), value.span));
                let checked = self.expr(value, None);
                let found = self.ty_of(&checked);
                self.demand(ty, &found, value.span);
                Some(number.clone())
            }
            ExprKind::Char(byte) => {
                let checked = self.expr(value, None);
                let found = self.ty_of(&checked);
                self.demand(ty, &found, value.span);
                Some((*byte).into())
            }
            ExprKind::Text(_) => None,
            _ => {
                self.error(Code::Pattern, value.span, "a pattern holds numbers, `bool`s and names");
                None
            }
        }
    }

    fn tuple_pattern(
        &mut self,
        parts: &[ast::Pattern],
        ty: &Ty,
        constant: bool,
        span: Span,
    ) -> PatternKind {
        let types: Vec<Ty> = parts.iter().map(|_| self.any()).collect();
        self.demand(ty, &Ty::Tuple(types.clone()), span);
        let parts =
            parts.iter().zip(&types).map(|(part, ty)| self.part(part, ty, constant)).collect();
        PatternKind::Tuple(parts)
    }

    fn variant_pattern(
        &mut self,
        path: &ast::Path,
        parts: &[ast::Pattern],
        ty: &Ty,
        constant: bool,
        span: Span,
    ) -> PatternKind {
        let Some(Def::Variant(adt, variant)) = self.definition(path) else {
            self.unknown(path, "variant");
            return PatternKind::Any;
        };
        let generics = self.cx.program.adts[adt].generics().to_vec();
        let args = self.fresh_args(&generics);
        self.demand(ty, &Ty::Adt(adt, args.clone()), span);
        let payload = self.payload_of(adt, variant, &args);
        if payload.len() != parts.len() {
            let message =
                format!("this variant carries {} values, {} are named", payload.len(), parts.len());
            self.error(Code::Pattern, span, message);
            return PatternKind::Any;
        }
        let parts =
            parts.iter().zip(&payload).map(|(part, ty)| self.part(part, ty, constant)).collect();
        PatternKind::Variant(variant, parts)
    }

    fn struct_pattern(
        &mut self,
        path: &ast::Path,
        fields: &[(ast::Ident, Option<ast::Pattern>)],
        rest: bool,
        ty: &Ty,
        constant: bool,
        span: Span,
    ) -> PatternKind {
        let Some(named) = self.named_parts(path, Code::Pattern) else { return PatternKind::Any };
        self.demand(ty, &Ty::Adt(named.adt, named.args.clone()), span);
        let places = named.places();
        let types = &named.types;
        let mut parts: Vec<Option<Pattern>> = vec![None; types.len()];
        for (name, pattern) in fields {
            let Some(&place) = places.get(&*name.name) else {
                self.no_named_field(&named, name);
                continue;
            };
            if parts[place].is_some() {
                self.error(Code::Name, name.span, format!("`{}` is named twice", name.name));
            }
            let pattern = match pattern {
                Some(pattern) => self.part(pattern, &types[place], constant),
                None => {
                    let ty = &types[place];
                    let kind = PatternKind::Bind(self.local(name, ty, false, constant));
                    Pattern { kind, ty: self.type_ref(ty), span: name.span }
                }
            };
            parts[place] = Some(pattern);
        }
        if !rest && let Some(missing) = parts.iter().position(Option::is_none) {
            let message = format!("the field `{}` is not named", named.fields[missing]);
            let error = self.diagnostic(Code::Pattern, span, message);
            self.cx.errors.push(error.help("name it, or end with `..`"));
        }
        let mut all = Vec::new();
        for (part, ty) in parts.into_iter().zip(types) {
            let any = Pattern { kind: PatternKind::Any, ty: self.type_ref(ty), span };
            all.push(part.unwrap_or(any));
        }
        match named.variant {
            Some(variant) => PatternKind::Variant(variant, all),
            None => PatternKind::Tuple(all),
        }
    }

    /// Checks a pattern for an array; `rest` is where its `..` is.
    fn array_pattern(
        &mut self,
        parts: &[ast::Pattern],
        rest: Option<usize>,
        (ty, constant): (&Ty, bool),
        span: Span,
    ) -> PatternKind {
        let element = self.any();
        let len = match rest {
            None => Len::Known(parts.len() as u64),
            Some(_) => Len::Var(self.fresh_len()),
        };
        let errors = self.cx.errors.errors();
        self.demand(ty, &Ty::Array(Box::new(element.clone()), len), span);
        if self.cx.errors.errors() > errors {
            self.unify(&element, &Ty::Error);
        }
        self.settle();
        let Len::Known(len) = self.len(len) else {
            self.error(Code::Type, span, "the length of the array must be known here");
            return PatternKind::Any;
        };
        let Some(more) = len.checked_sub(parts.len() as u64) else {
            let message = format!("this names {} elements, the array has {len}", parts.len());
            self.error(Code::Pattern, span, message);
            return PatternKind::Any;
        };
        // Each takes a pattern of its own.
        self.count(8 * more.min(MOST_REST));
        if more > MOST_REST {
            let message = format!("`..` stands for at most {MOST_REST} elements, here {more}");
            self.error(Code::Limit, span, message);
            return PatternKind::Any;
        }
        let mut all = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            if rest == Some(place) {
                self.add_rest(more, &element, span, &mut all);
            }
            all.push(self.part(part, &element, constant));
        }
        if rest == Some(parts.len()) {
            self.add_rest(more, &element, span, &mut all);
        }
        PatternKind::Tuple(all)
    }

    fn add_rest(&mut self, more: u64, element: &Ty, span: Span, all: &mut Vec<Pattern>) {
        let ty = self.type_ref(element);
        if !self.may_work() {
            return;
        }
        let any = || Pattern { kind: PatternKind::Any, ty, span };
        all.extend(std::iter::repeat_with(any).take(more as usize));
    }

    /// Checks alternatives, which must all bind the same names to the same variables.
    fn or_pattern(
        &mut self,
        patterns: &[ast::Pattern],
        ty: &Ty,
        constant: bool,
        span: Span,
    ) -> PatternKind {
        let mark = self.names.scope.len();
        let mut checked = Vec::new();
        let mut first: Option<Vec<(ast::Name, Binding)>> = None;
        let mut known: HashMap<ast::Name, Local> = HashMap::new();
        for pattern in patterns {
            let mut pattern = self.pattern(pattern, ty, constant);
            let bound = self.names.scope.split_off(mark);
            let locals = bound.iter().filter_map(|(name, binding)| match binding {
                Binding::Local(local) => Some((name.clone(), *local)),
                Binding::Const(..) => None,
            });
            let Some(first) = &first else {
                known = locals.collect();
                first = Some(bound);
                checked.push(pattern);
                continue;
            };
            let mut same = first.len() == bound.len();
            let mut renamed = HashMap::new();
            for (name, from) in locals {
                let Some(&to) = known.get(&name) else {
                    same = false;
                    continue;
                };
                let a = self.infer.types[self.names.locals[from as usize].ty as usize].clone();
                let b = self.infer.types[self.names.locals[to as usize].ty as usize].clone();
                self.demand(&b, &a, span);
                renamed.insert(from, to);
            }
            if !same {
                let message = "all alternatives of a pattern bind the same names";
                self.error(Code::Pattern, span, message);
            }
            if !renamed.is_empty() {
                rename(&mut pattern, &renamed);
            }
            checked.push(pattern);
        }
        for (name, binding) in first.into_iter().flatten() {
            self.names.scope.push(name, binding);
        }
        PatternKind::Or(checked)
    }

    /// Notes that these patterns, with or without a condition, must cover all values of a type.
    pub(super) fn covers(
        &mut self,
        patterns: Vec<(Pattern, bool)>,
        ty: TyRef,
        span: Span,
        is_binding: bool,
    ) {
        self.later.matches.push(Coverage { patterns, ty, span, is_binding });
    }
}

fn rename(pattern: &mut Pattern, names: &HashMap<Local, Local>) {
    match &mut pattern.kind {
        PatternKind::Bind(local) => *local = names.get(local).copied().unwrap_or(*local),
        PatternKind::Tuple(parts) | PatternKind::Variant(_, parts) | PatternKind::Or(parts) => {
            parts.iter_mut().for_each(|part| rename(part, names));
        }
        _ => {}
    }
}
