//! Loops with names, bindings that may fail, and assignments to several places at once.

use std::rc::Rc;

use super::{Binding, FnCx, LocalInfo, Loop, stmt};
use crate::ast::{self, ExprKind, Ident, Name};
use crate::diag::Code;
use crate::source::Span;
use crate::tir::{Arm, Expr, Kind, Local, Pattern, PatternKind, Place, Stmt};
use crate::ty::{Len, Ty};
use crate::value::Value;

impl FnCx<'_, '_> {
    /// Checks `break` or `continue`. A loop further out is left by a flag: the inner loop sets it
    /// and breaks, and the loop around asks for it after the inner one.
    pub(super) fn leave_loop(&mut self, label: Option<&Ident>, breaks: bool, span: Span) -> Expr {
        let plain = if breaks { Kind::Break } else { Kind::Continue };
        let Some(innermost) = self.names.loops.len().checked_sub(1) else {
            self.error(Code::Control, span, "this is in no loop");
            return self.leave(plain, span);
        };
        let Some(label) = label else { return self.leave(plain, span) };
        let named = |around: &Loop| around.label.as_ref() == Some(&label.name);
        let Some(target) = self.names.loops.iter().rposition(named) else {
            let message = format!("no loop around this is named `{}`", label.name);
            self.error(Code::Control, label.span, message);
            return self.leave(plain, span);
        };
        if target == innermost {
            return self.leave(plain, span);
        }
        let around = &self.names.loops[target];
        let flag = match if breaks { around.broken } else { around.continued } {
            Some(flag) => flag,
            None => self.flag(target, breaks, span),
        };
        for place in target..innermost {
            let left = (flag, breaks || place > target);
            if !self.names.loops[place].left.contains(&left) {
                self.names.loops[place].left.push(left);
            }
        }
        let set = Place { local: flag, path: Vec::new(), span };
        let set = Stmt::Assign(set, None, self.truth(true, span));
        let leave = self.leave(Kind::Break, span);
        let ty = self.ty_of(&leave);
        self.node(Kind::Block(vec![set], Some(Box::new(leave))), &ty, false, span)
    }

    fn flag(&mut self, target: usize, breaks: bool, span: Span) -> Local {
        let flag = self.hidden("left", &Ty::Bool, span);
        let around = &mut self.names.loops[target];
        *(if breaks { &mut around.broken } else { &mut around.continued }) = Some(flag);
        flag
    }

    fn truth(&mut self, value: bool, span: Span) -> Expr {
        self.node(Kind::Const(Rc::new(Value::Bool(value))), &Ty::Bool, true, span)
    }

    /// Returns a variable without a name that programs can use.
    pub(super) fn hidden(&mut self, name: &str, ty: &Ty, span: Span) -> Local {
        let (name, ty) = (name.into(), self.type_ref(ty));
        self.names.locals.push(LocalInfo {
            name,
            span,
            ty,
            mutable: true,
            constant: false,
            number: None,
        });
        self.names.locals.len() as Local - 1
    }

    pub(super) fn bound_to(&mut self, local: Local, value: Expr, span: Span) -> Stmt {
        let pattern = Pattern { kind: PatternKind::Bind(local), ty: value.ty, span };
        Stmt::Let(pattern, value)
    }

    /// Checks the body of a loop, which gives nothing.
    pub(super) fn loop_body(&mut self, body: &ast::Block) -> Expr {
        let checked = self.block(body, Some(&Ty::unit()));
        let ty = self.ty_of(&checked);
        self.demand(&Ty::unit(), &ty, body.span);
        let Some(flag) = self.names.loops.last_mut().and_then(|own| own.continued.take()) else {
            return checked;
        };
        let down = self.truth(false, body.span);
        let stmts = vec![self.bound_to(flag, down, body.span), Stmt::Expr(checked)];
        self.node(Kind::Block(stmts, None), &Ty::unit(), false, body.span)
    }

    /// Checks a loop, and adds it with what it needs before and after it.
    pub(super) fn add_loop(&mut self, looped: &ast::ForLoop, stmts: &mut Vec<Stmt>) {
        let label = looped.label.as_ref().map(|label| label.name.clone());
        self.names.loops.push(Loop { label, ..Loop::default() });
        let done = self.for_loop(looped);
        let own = self.names.loops.pop().unwrap_or_default();
        if let Some(flag) = own.broken {
            let down = self.truth(false, looped.span);
            stmts.push(self.bound_to(flag, down, looped.span));
        }
        stmts.extend(done);
        let left = self.names.loops.last_mut().map(|around| std::mem::take(&mut around.left));
        for (flag, breaks) in left.into_iter().flatten() {
            let span = looped.span;
            let condition = self.node(Kind::Local(flag), &Ty::Bool, false, span);
            let then = self.leave(if breaks { Kind::Break } else { Kind::Continue }, span);
            let kind = Kind::If(Box::new(condition), Box::new(then), None);
            stmts.push(Stmt::Expr(self.node(kind, &Ty::unit(), false, span)));
        }
    }

    /// Checks `let p = v else { … };`: a `match` that gives what the pattern binds.
    pub(super) fn let_else(&mut self, bound: &ast::LetElse) -> Stmt {
        let span = bound.pattern.span;
        let value = self.let_value(bound.ty.as_ref(), &bound.value);
        let ty = self.ty_of(&value);
        let mark = self.names.scope.len();
        let pattern = self.pattern(&bound.pattern, &ty, false);
        let names = self.names.scope.split_off(mark);
        let names: Vec<(Name, Local)> = names
            .into_iter()
            .filter_map(|(name, binding)| match binding {
                Binding::Local(local) => Some((name, local)),
                Binding::Const(..) => None,
            })
            .collect();
        let otherwise = self.block(&bound.otherwise, None);
        if !stmt::diverges(&otherwise) {
            let message = "the `else` of a `let` must leave the block";
            let error = self.diagnostic(Code::Control, bound.otherwise.span, message);
            self.cx.errors.push(error.help("end it with `return`, `break` or `continue`"));
        }
        let type_of = |this: &Self, local: Local| {
            this.infer.types[this.names.locals[local as usize].ty as usize].clone()
        };
        let types: Vec<Ty> = names.iter().map(|(_, local)| type_of(self, *local)).collect();
        let mut parts = Vec::new();
        for ((_, local), ty) in names.iter().zip(&types) {
            parts.push(self.node(Kind::Local(*local), ty, false, span));
        }
        let whole = Ty::Tuple(types.clone());
        let given = self.node(Kind::Aggregate(parts), &whole, false, span);
        let found = self.ty_of(&otherwise);
        self.unify(&whole, &found);
        let any = Pattern { kind: PatternKind::Any, ty: value.ty, span: bound.otherwise.span };
        let cases = vec![(pattern.clone(), false), (any.clone(), false)];
        self.covers(cases, value.ty, span, false);
        let arms = vec![
            Arm { pattern, guard: None, body: given },
            Arm { pattern: any, guard: None, body: otherwise },
        ];
        let chosen = self.node(Kind::Match(Box::new(value), arms), &whole, false, span);
        let mut binds = Vec::new();
        for ((name, inner), ty) in names.into_iter().zip(&types) {
            let LocalInfo { span, mutable, .. } = self.names.locals[inner as usize];
            let local = self.hidden(&name, ty, span);
            self.names.locals[local as usize].mutable = mutable;
            self.names.scope.push(name, Binding::Local(local));
            let ty = self.names.locals[local as usize].ty;
            binds.push(Pattern { kind: PatternKind::Bind(local), ty, span });
        }
        Stmt::Let(Pattern { kind: PatternKind::Tuple(binds), ty: chosen.ty, span }, chosen)
    }

    /// Checks `(a, b[i]) = v;`: the value is bound to hidden variables, which are then assigned.
    pub(super) fn assign_parts(
        &mut self,
        places: &ast::Expr,
        value: &ast::Expr,
        stmts: &mut Vec<Stmt>,
    ) {
        let mut targets = Vec::new();
        let Some((pattern, ty)) = self.target(places, &mut targets) else { return };
        let value = self.check(value, &ty);
        stmts.push(Stmt::Let(pattern, value));
        for (place, local, ty) in targets {
            let value = self.node(Kind::Local(local), &ty, false, place.span);
            stmts.push(Stmt::Assign(place, None, value));
        }
    }

    /// Returns what binds the parts of the value, and the type of the value.
    fn target(
        &mut self,
        expr: &ast::Expr,
        targets: &mut Vec<(Place, Local, Ty)>,
    ) -> Option<(Pattern, Ty)> {
        let span = expr.span;
        let (kind, ty) = match &expr.kind {
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
                let mut patterns = Vec::new();
                let mut types = Vec::new();
                for part in parts {
                    let (pattern, ty) = self.target(part, targets)?;
                    patterns.push(pattern);
                    types.push(ty);
                }
                let ty = if matches!(expr.kind, ExprKind::Tuple(_)) {
                    Ty::Tuple(types)
                } else {
                    let element = self.any();
                    for (part, ty) in parts.iter().zip(&types) {
                        self.demand(&element, ty, part.span);
                    }
                    Ty::Array(Box::new(element), Len::Known(parts.len() as u64))
                };
                (PatternKind::Tuple(patterns), ty)
            }
            ExprKind::Path(path, _) if path.parts.len() == 1 && &*path.parts[0].name == "_" => {
                (PatternKind::Any, self.any())
            }
            _ => {
                let (place, ty) = self.place(expr)?;
                let local = self.hidden("part", &ty, span);
                targets.push((place, local, ty.clone()));
                (PatternKind::Bind(local), ty)
            }
        };
        Some((Pattern { kind, ty: self.type_ref(&ty), span }, ty))
    }
}
