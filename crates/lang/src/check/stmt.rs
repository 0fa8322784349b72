//! Blocks, statements, loops and choices.

use std::rc::Rc;

use super::types::Mini;
use super::unknown::Check;
use super::{Binding, FnCx, MAX_ROUNDS};
use crate::ast::{self, BinaryOp, ExprKind};
use crate::diag::Code;
use crate::references::Target;
use crate::source::Span;
use crate::tir::{Arm, Expr, Kind, Over, Pattern, PatternKind, Place, Step, Stmt};
use crate::ty::{Len, Ty};
use crate::uses;
use crate::value::Value;

impl FnCx<'_, '_> {
    pub(super) fn block(&mut self, block: &ast::Block, hint: Option<&Ty>) -> Expr {
        let mark = self.names.scope.len();
        let mut stmts = Vec::new();
        for stmt in &block.stmts {
            self.stmt(stmt, &mut stmts);
        }
        let tail = block.tail.as_ref().map(|tail| self.expr(tail, hint));
        self.names.scope.truncate(mark);
        let leaves = match stmts.last() {
            Some(Stmt::Expr(last)) => diverges(last),
            _ => false,
        };
        let ty = match &tail {
            Some(tail) => self.ty_of(tail),
            // What could not be read may be the value.
            None if block.cut => Ty::Error,
            None if leaves => {
                let ty = self.any();
                self.infer.diverging.push(ty.clone());
                ty
            }
            None => Ty::unit(),
        };
        let constant = stmts.is_empty() && tail.as_ref().is_none_or(|tail| tail.constant);
        self.node(Kind::Block(stmts, tail.map(Box::new)), &ty, constant, block.span)
    }

    fn stmt(&mut self, stmt: &ast::Stmt, stmts: &mut Vec<Stmt>) {
        match stmt {
            ast::Stmt::Let(pattern, ty, written) => {
                let value = self.let_value(ty.as_ref(), written);
                let ty = self.ty_of(&value);
                let number = match &pattern.kind {
                    ast::PatternKind::Name(_, false) => self.number(written),
                    _ => None,
                };
                let pattern = self.pattern(pattern, &ty, false);
                if let PatternKind::Bind(local) = pattern.kind {
                    self.names.locals[local as usize].number = number;
                }
                self.covers(vec![(pattern.clone(), false)], value.ty, pattern.span, true);
                stmts.push(Stmt::Let(pattern, value));
            }
            ast::Stmt::LetElse(bound) => {
                let stmt = self.let_else(bound);
                stmts.push(stmt);
            }
            ast::Stmt::Const(decl) => self.local_const(decl),
            ast::Stmt::Expr(value) => {
                let value = self.expr(value, None);
                stmts.push(Stmt::Expr(value));
            }
            ast::Stmt::Assign(places, None, value, _)
                if matches!(&places.kind, ExprKind::Tuple(_) | ExprKind::Array(_))
                    || is_underscore(places) =>
            {
                self.assign_parts(places, value, stmts);
            }
            ast::Stmt::Assign(place, op, value, span) => {
                self.assign(place, *op, (value, *span), stmts);
            }
            ast::Stmt::For(looped) => self.add_loop(looped, stmts),
        }
    }

    pub(super) fn let_value(&mut self, ty: Option<&ast::Type>, value: &ast::Expr) -> Expr {
        let Some(ty) = ty else { return self.expr(value, None) };
        let ty = self.own_type(ty);
        let value = self.check(value, &ty);
        // The annotated type may be known where the value's is not yet.
        Expr { ty: self.type_ref(&ty), ..value }
    }

    /// Returns the number that an expression of constants has as a `usize`.
    fn number(&mut self, expr: &ast::Expr) -> Option<u64> {
        let env = self.own_env();
        match self.mini(expr, &env) {
            Mini::Value(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    fn local_const(&mut self, decl: &ast::ConstDecl) {
        let Some(value) = &decl.value else {
            self.error(Code::Constant, decl.name.span, "a constant in a function has a value");
            return;
        };
        let ty = decl.ty.as_ref().map(|ty| self.own_type(ty));
        let env = self.own_env();
        let (ty, value) = match self.const_value(value, ty.as_ref(), &env) {
            Some(known) => known,
            None => (Ty::Error, Value::Int(0.into())),
        };
        self.names.scope.push(decl.name.name.clone(), Binding::Const(ty, Rc::new(value)));
    }

    fn assign(
        &mut self,
        place: &ast::Expr,
        op: Option<BinaryOp>,
        (value, span): (&ast::Expr, Span),
        stmts: &mut Vec<Stmt>,
    ) {
        let Some((place, ty)) = self.place(place) else { return };
        let value = match op {
            Some(BinaryOp::Shl | BinaryOp::Shr) => {
                let value = self.expr(value, None);
                let amount = self.ty_of(&value);
                self.later.checks.push((Check::Int, amount, value.span));
                self.later.checks.push((Check::Int, ty.clone(), span));
                value
            }
            Some(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) => {
                self.later.checks.push((Check::Bits, ty.clone(), span));
                self.check(value, &ty)
            }
            Some(BinaryOp::Rem) => {
                self.later.checks.push((Check::Remainder, ty.clone(), span));
                self.check(value, &ty)
            }
            Some(_) => {
                self.later.checks.push((Check::Num, ty.clone(), span));
                self.check(value, &ty)
            }
            None => self.check(value, &ty),
        };
        match op {
            Some(op)
                if self.checked && !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) =>
            {
                self.checked_assign(place, (op, value, &ty), span, stmts);
            }
            _ => stmts.push(Stmt::Assign(place, op, value)),
        }
    }

    /// Returns a place that can be assigned to and its type, or reports an error.
    pub(super) fn place(&mut self, expr: &ast::Expr) -> Option<(Place, Ty)> {
        match &expr.kind {
            ExprKind::Path(path, _) if path.parts.len() == 1 => {
                let name = &path.parts[0].name;
                let local = match self.names.scope.find(name) {
                    Some(Binding::Local(local)) => *local,
                    Some(Binding::Const(..)) => {
                        self.error(Code::Control, expr.span, "a constant cannot be assigned to");
                        return None;
                    }
                    None => {
                        self.unknown(path, "variable");
                        return None;
                    }
                };
                self.note(expr.span, Target::Place(self.names.locals[local as usize].span));
                let info = &self.names.locals[local as usize];
                let ty = self.infer.types[info.ty as usize].clone();
                if !info.mutable {
                    let message = format!("`{}` is assigned to, and is not `mut`", info.name);
                    let help = format!("where it is bound, write `mut {}`", info.name);
                    let error = self.diagnostic(Code::Control, expr.span, message);
                    self.cx.errors.push(error.help(help));
                }
                Some((Place { local, path: Vec::new(), span: expr.span }, ty))
            }
            ExprKind::Field(inner, name) => {
                let (mut place, ty) = self.place(inner)?;
                let value = self.node(Kind::Aggregate(Vec::new()), &ty, false, inner.span);
                let (field, ty) = self.field_of(&value, name)?;
                place.path.push((Step::Field(field), self.type_ref(&ty)));
                Some((place, ty))
            }
            ExprKind::TupleField(inner, number, at) => {
                let (mut place, ty) = self.place(inner)?;
                let value = self.node(Kind::Aggregate(Vec::new()), &ty, false, inner.span);
                let ty = self.tuple_part(&value, *number, *at)?;
                place.path.push((Step::Field(*number as usize), self.type_ref(&ty)));
                Some((place, ty))
            }
            ExprKind::Index(inner, index) if !matches!(index.kind, ExprKind::Range(..)) => {
                let (mut place, ty) = self.place(inner)?;
                let value = self.node(Kind::Aggregate(Vec::new()), &ty, false, inner.span);
                let element = match self.known_type(&value) {
                    Ty::Array(element, _) => *element,
                    Ty::Error => return None,
                    other => {
                        let shown = self.show(&other);
                        self.error(Code::Type, inner.span, format!("`{shown}` is not an array"));
                        return None;
                    }
                };
                let index = self.index_value(index);
                let array = self.ty_of(&value);
                let index = self.checked_index(index, &array, expr.span);
                place.path.push((Step::Index(index), self.type_ref(&element)));
                Some((place, element))
            }
            _ => {
                self.error(Code::Control, expr.span, "this cannot be assigned to");
                None
            }
        }
    }

    pub(super) fn for_loop(&mut self, looped: &ast::ForLoop) -> Option<Stmt> {
        for attribute in &looped.attributes {
            if &*attribute.name.name != "unroll" {
                let message = format!("a loop has no attribute `{}`", attribute.name.name);
                self.error(Code::Name, attribute.name.span, message);
            }
        }
        let mark = self.names.scope.len();
        let done = self.loop_within(looped);
        self.names.scope.truncate(mark);
        done
    }

    fn loop_within(&mut self, looped: &ast::ForLoop) -> Option<Stmt> {
        let span = looped.span;
        let unroll = !looped.attributes.is_empty();
        if let ExprKind::Range(low, high, inclusive) = &looped.over.kind
            && let ast::PatternKind::Name(name, false) = &looped.pattern.kind
            && uses::block_in_types(&looped.body, &name.name)
        {
            let (from, to) = self.bounds(low, high, *inclusive)?;
            let any = Pattern { kind: PatternKind::Any, ty: self.type_ref(&Ty::size()), span };
            let rounds = self.rounds(name, from, to, span, |this| this.loop_body(&looped.body))?;
            let nothing = self.node(Kind::Aggregate(Vec::new()), &Ty::unit(), true, span);
            let over = Box::new(Over::Rounds(rounds));
            return Some(Stmt::For(Box::new(any), over, Box::new(nothing), unroll));
        }
        let (over, element, constant) = self.over(&looped.over, None)?;
        let pattern = self.pattern(&looped.pattern, &element, constant);
        self.covers(vec![(pattern.clone(), false)], pattern.ty, pattern.span, true);
        let body = self.loop_body(&looped.body);
        Some(Stmt::For(Box::new(pattern), Box::new(over), Box::new(body), unroll))
    }

    /// Checks one part for each number, which is the value of the name in it.
    fn rounds(
        &mut self,
        name: &ast::Ident,
        from: u64,
        to: u64,
        span: Span,
        mut part: impl FnMut(&mut Self) -> Expr,
    ) -> Option<Vec<Expr>> {
        self.cx.spent.rounds = self.cx.spent.rounds.saturating_add(to - from);
        if self.cx.spent.rounds > MAX_ROUNDS {
            let message = "loops whose variable is in types or slices have more than 2^20 rounds";
            self.error(Code::Limit, span, message);
            return None;
        }
        let mut parts = Vec::new();
        for number in from..to {
            let mark = self.names.scope.len();
            let errors = self.cx.errors.errors();
            let value = Rc::new(Value::Int(number.into()));
            self.names.scope.push(name.name.clone(), Binding::Const(Ty::size(), value));
            parts.push(part(self));
            self.names.scope.truncate(mark);
            if self.cx.errors.errors() > errors {
                return None;
            }
        }
        Some(parts)
    }

    /// Returns what a loop iterates over, the type of its elements, and whether they are constants.
    /// `known` is the first number of a range and the one after its last, where an array is as long
    /// as the range.
    fn over(&mut self, over: &ast::Expr, known: Option<(u64, u64)>) -> Option<(Over, Ty, bool)> {
        if let ExprKind::Range(low, high, inclusive) = &over.kind {
            let (first, end) = (low, high);
            let low = self.expr(low, None);
            let ty = self.ty_of(&low);
            let high = self.check(high, &ty);
            self.later.checks.push((Check::Int, ty.clone(), over.span));
            let (low, high) = (self.known_bound(first, low), self.known_bound(end, high));
            for (written, bound) in [(first, &low), (end, &high)] {
                if !bound.constant {
                    let message = "the bounds of a loop are constants";
                    let error = self.diagnostic(Code::Constant, bound.span, message);
                    let most = "go over the most there can be, and decide inside with `if`";
                    self.cx.errors.push(match self.let_named(written) {
                        Some(name) => error.help(format!(
                            "if `{name}` is a constant, bind it as one, `const {}: usize = …;`; \
                             else {most}",
                            name.to_uppercase()
                        )),
                        None => error.help(most),
                    });
                }
            }
            let Some((from, to)) = known else {
                return Some((Over::Range(low, high, *inclusive), ty, true));
            };
            // The length was computed as `usize`. Where the elements have another type, the bounds
            // could wrap at another width, so the numbers of the length count.
            let (first, last) = if from < to { (from, to - 1) } else { (0, 0) };
            let low = self.typed(first, &ty, low.span);
            let high = self.typed(last, &ty, high.span);
            return Some((Over::Range(low, high, from < to), ty, true));
        }
        let array = self.expr(over, None);
        let element = match self.known_type(&array) {
            Ty::Array(element, _) => *element,
            Ty::Error => return None,
            other => {
                let shown = self.show(&other);
                let message = format!("a loop goes over a range or an array, not `{shown}`");
                self.error(Code::Type, over.span, message);
                return None;
            }
        };
        let constant = array.constant;
        Some((Over::Array(array), element, constant))
    }

    /// Returns the name of a variable that cannot change, if an expression is one.
    fn let_named(&self, expr: &ast::Expr) -> Option<ast::Name> {
        let ExprKind::Path(path, _) = &expr.kind else { return None };
        let [only] = &path.parts[..] else { return None };
        match self.names.scope.find(&only.name) {
            Some(Binding::Local(local)) if !self.names.locals[*local as usize].mutable => {
                Some(only.name.clone())
            }
            _ => None,
        }
    }

    /// Returns the bound of a loop as a number, if it is a `usize` of constants and of variables
    /// that a `let` binds to constants.
    fn known_bound(&mut self, written: &ast::Expr, bound: Expr) -> Expr {
        if bound.constant {
            return bound;
        }
        let ty = self.ty_of(&bound);
        let Some(number) = self.number(written) else { return bound };
        if !self.unify(&ty, &Ty::size()) {
            return bound;
        }
        self.typed(number, &ty, bound.span)
    }

    /// Returns a number that must fit in this type.
    fn typed(&mut self, number: u64, ty: &Ty, span: Span) -> Expr {
        self.later.checks.push((Check::Literal(number.into()), ty.clone(), span));
        self.node(Kind::Int(number.into()), ty, true, span)
    }

    pub(super) fn comprehension(
        &mut self,
        body: &ast::Expr,
        pattern: &ast::Pattern,
        over: &ast::Expr,
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let mark = self.names.scope.len();
        let loops = std::mem::take(&mut self.names.loops);
        let done = self.comprehension_within(body, pattern, over, hint, span);
        self.names.loops = loops;
        self.names.scope.truncate(mark);
        done.unwrap_or_else(|| self.broken(span))
    }

    fn comprehension_within(
        &mut self,
        body: &ast::Expr,
        pattern: &ast::Pattern,
        over: &ast::Expr,
        hint: Option<&Ty>,
        span: Span,
    ) -> Option<Expr> {
        let hint = self.element_hint(hint);
        let mut known = None;
        if let ExprKind::Range(low, high, inclusive) = &over.kind {
            let (from, to) = self.bounds(low, high, *inclusive)?;
            if let ast::PatternKind::Name(name, false) = &pattern.kind
                && uses::expr_in_types(body, &name.name)
            {
                let element = hint.unwrap_or_else(|| self.any());
                let parts = self.rounds(name, from, to, span, |this| this.check(body, &element))?;
                let constant = parts.iter().all(|part| part.constant);
                let ty = Ty::Array(Box::new(element), Len::Known(to - from));
                return Some(self.node(Kind::Aggregate(parts), &ty, constant, span));
            }
            known = Some((from, to));
        }
        let (over, element, constant) = self.over(over, known)?;
        let len = match (&over, known) {
            (_, Some((from, to))) => Len::Known(to - from),
            (Over::Array(array), None) => {
                let ty = self.ty_of(array);
                match self.shallow(&ty) {
                    Ty::Array(_, len) => len,
                    _ => return None,
                }
            }
            _ => return None,
        };
        let pattern = self.pattern(pattern, &element, constant);
        self.covers(vec![(pattern.clone(), false)], pattern.ty, pattern.span, true);
        let body = self.expr(body, hint.as_ref());
        let ty = Ty::Array(Box::new(self.ty_of(&body)), len);
        let constant = constant && body.constant;
        let kind = Kind::Comprehension(Box::new(pattern), Box::new(over), Box::new(body));
        Some(self.node(kind, &ty, constant, span))
    }

    pub(super) fn if_expr(&mut self, branch: &ast::If, hint: Option<&Ty>, span: Span) -> Expr {
        if let Some(pattern) = &branch.pattern {
            return self.if_let(branch, pattern, hint, span);
        }
        match (self.decided(&branch.condition), &branch.otherwise) {
            (Some(true), Some(_)) => return self.block(&branch.then, hint),
            (Some(true), None) => {
                let then = self.block(&branch.then, hint);
                self.unit_without_else(branch, &then);
                return then;
            }
            (Some(false), Some(otherwise)) => return self.expr(otherwise, hint),
            (Some(false), None) => {
                return self.node(Kind::Aggregate(Vec::new()), &Ty::unit(), true, span);
            }
            (None, _) => {}
        }
        let condition = self.check(&branch.condition, &Ty::Bool);
        let then = self.block(&branch.then, hint);
        let ty = self.ty_of(&then);
        let otherwise = match &branch.otherwise {
            Some(otherwise) => Some(Box::new(self.check(otherwise, &ty))),
            None => {
                self.unit_without_else(branch, &then);
                None
            }
        };
        let parts = [Some(&condition), Some(&then), otherwise.as_deref()];
        let constant = parts.into_iter().flatten().all(|part| part.constant);
        self.node(Kind::If(Box::new(condition), Box::new(then), otherwise), &ty, constant, span)
    }

    /// Checks that an `if` without `else` has no value.
    fn unit_without_else(&mut self, branch: &ast::If, then: &Expr) {
        let at = branch.then.tail.as_ref().map_or(branch.then.span, |tail| tail.span);
        let ty = self.ty_of(then);
        self.demand(&Ty::unit(), &ty, at);
    }

    fn if_let(
        &mut self,
        branch: &ast::If,
        pattern: &ast::Pattern,
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let value = self.expr(&branch.condition, None);
        let value_ty = self.ty_of(&value);
        let mark = self.names.scope.len();
        let pattern = self.pattern(pattern, &value_ty, value.constant);
        let guard = branch.guard.as_ref().map(|guard| self.check(guard, &Ty::Bool));
        let then = self.block(&branch.then, hint);
        self.names.scope.truncate(mark);
        let ty = self.ty_of(&then);
        let otherwise = match &branch.otherwise {
            Some(otherwise) => self.check(otherwise, &ty),
            None => {
                self.demand(&Ty::unit(), &ty, branch.then.span);
                self.node(Kind::Aggregate(Vec::new()), &Ty::unit(), true, span)
            }
        };
        let any = Pattern { kind: PatternKind::Any, ty: value.ty, span };
        let constant = value.constant
            && then.constant
            && otherwise.constant
            && guard.as_ref().is_none_or(|guard| guard.constant);
        let arms = vec![
            Arm { pattern, guard, body: then },
            Arm { pattern: any, guard: None, body: otherwise },
        ];
        self.node(Kind::Match(Box::new(value), arms), &ty, constant, span)
    }

    pub(super) fn match_expr(
        &mut self,
        value: &ast::Expr,
        arms: &[ast::Arm],
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let value = self.expr(value, None);
        let value_ty = self.ty_of(&value);
        let ty = match hint {
            Some(hint) => hint.clone(),
            None => self.any(),
        };
        let mut constant = value.constant;
        let mut checked = Vec::new();
        for arm in arms {
            let mark = self.names.scope.len();
            let pattern = self.pattern(&arm.pattern, &value_ty, value.constant);
            let guard = arm.guard.as_ref().map(|guard| self.check(guard, &Ty::Bool));
            let body = self.check(&arm.body, &ty);
            self.names.scope.truncate(mark);
            constant &= body.constant && guard.as_ref().is_none_or(|guard| guard.constant);
            checked.push(Arm { pattern, guard, body });
        }
        let patterns =
            checked.iter().map(|arm| (arm.pattern.clone(), arm.guard.is_some())).collect();
        self.covers(patterns, value.ty, span, false);
        if checked.is_empty() {
            self.error(Code::Pattern, span, "a `match` needs at least one case");
            return self.broken(span);
        }
        self.node(Kind::Match(Box::new(value), checked), &ty, constant, span)
    }
}

fn is_underscore(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ExprKind::Path(path, _) if path.parts.len() == 1
        && &*path.parts[0].name == "_")
}

/// Returns whether nothing is evaluated after this expression.
pub(super) fn diverges(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Return(_) | Kind::Break | Kind::Continue => true,
        Kind::If(_, then, Some(otherwise)) => diverges(then) && diverges(otherwise),
        Kind::Match(_, arms) => arms.iter().all(|arm| diverges(&arm.body)),
        Kind::Block(stmts, tail) => match (tail, stmts.last()) {
            (Some(tail), _) => diverges(tail),
            (None, Some(Stmt::Expr(last))) => diverges(last),
            _ => false,
        },
        _ => false,
    }
}
