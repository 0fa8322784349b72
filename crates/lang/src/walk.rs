//! Walks over expressions: what they change, declare, and do besides giving a value.

use std::collections::BTreeSet;

use crate::tir::{Expr, Kind, Local, Over, Pattern, PatternKind, Step, Stmt};

/// Shows every expression inside one, itself first, with the least number of times that it is
/// evaluated, at most 2.
pub(crate) fn walk<'e>(expr: &'e Expr, weight: u8, see: &mut dyn FnMut(&'e Expr, u8)) {
    see(expr, weight);
    match &expr.kind {
        Kind::Int(_)
        | Kind::Fraction(_)
        | Kind::Const(_)
        | Kind::Local(_)
        | Kind::Break
        | Kind::Continue => {}
        Kind::Unary(_, a)
        | Kind::Cast(a)
        | Kind::Repeat(a)
        | Kind::Field(a, _)
        | Kind::Slice(a, _)
        | Kind::Assert(a, _)
        | Kind::Expect(a, _)
        | Kind::Return(a) => walk(a, weight, see),
        Kind::Binary(_, a, b) | Kind::Index(a, b) => {
            walk(a, weight, see);
            walk(b, weight, see);
        }
        Kind::Aggregate(parts)
        | Kind::Variant(_, parts)
        | Kind::Call(_, parts)
        | Kind::Intrinsic(_, parts) => parts.iter().for_each(|part| walk(part, weight, see)),
        Kind::If(condition, then, otherwise) => {
            walk(condition, weight, see);
            walk(then, weight, see);
            otherwise.iter().for_each(|other| walk(other, weight, see));
        }
        Kind::Match(value, arms) => {
            walk(value, weight, see);
            for arm in arms {
                arm.guard.iter().for_each(|guard| walk(guard, weight, see));
                walk(&arm.body, weight, see);
            }
        }
        Kind::Block(stmts, tail) => {
            stmts.iter().for_each(|stmt| walk_stmt(stmt, weight, see));
            tail.iter().for_each(|tail| walk(tail, weight, see));
        }
        Kind::Comprehension(_, over, body) => {
            walk_over(over, weight, see);
            walk(body, 2, see);
        }
    }
}

fn walk_over<'e>(over: &'e Over, weight: u8, see: &mut dyn FnMut(&'e Expr, u8)) {
    match over {
        Over::Range(low, high, _) => {
            walk(low, weight, see);
            walk(high, weight, see);
        }
        Over::Array(array) => walk(array, weight, see),
        Over::Rounds(rounds) => rounds.iter().for_each(|round| walk(round, weight, see)),
    }
}

fn walk_stmt<'e>(stmt: &'e Stmt, weight: u8, see: &mut dyn FnMut(&'e Expr, u8)) {
    match stmt {
        Stmt::Let(_, value) | Stmt::Expr(value) => walk(value, weight, see),
        Stmt::Assign(place, _, value) => {
            for (step, _) in &place.path {
                if let Step::Index(index) = step {
                    walk(index, weight, see);
                }
            }
            walk(value, weight, see);
        }
        Stmt::For(_, over, body, _) => {
            walk_over(over, weight, see);
            walk(body, 2, see);
        }
    }
}

/// Returns the variables that an expression changes but does not itself declare.
pub(crate) fn assigned(expr: &Expr) -> Vec<Local> {
    changed(expr).difference(&bound(expr)).copied().collect()
}

/// Returns the variables that an expression changes.
pub(crate) fn changed(expr: &Expr) -> BTreeSet<Local> {
    let mut changed = BTreeSet::new();
    walk(expr, 1, &mut |expr, _| {
        if let Kind::Block(stmts, _) = &expr.kind {
            for stmt in stmts {
                if let Stmt::Assign(place, ..) = stmt {
                    changed.insert(place.local);
                }
            }
        }
    });
    changed
}

/// Returns whether an expression does more than give a value: it may change a variable, fail, or
/// leave.
pub(crate) fn has_effects(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, 1, &mut |expr, _| match &expr.kind {
        Kind::Assert(..) | Kind::Expect(..) | Kind::Call(..) => found = true,
        Kind::Return(_) | Kind::Break | Kind::Continue => found = true,
        _ => found |= changes(expr),
    });
    found
}

/// Returns whether an expression has assignments.
pub(crate) fn assigns(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, 1, &mut |expr, _| found |= changes(expr));
    found
}

/// Returns whether an expression may change a variable, or leave the function or a loop.
pub(crate) fn leaves_or_assigns(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, 1, &mut |expr, _| match &expr.kind {
        Kind::Return(_) | Kind::Break | Kind::Continue => found = true,
        _ => found |= changes(expr),
    });
    found
}

fn changes(expr: &Expr) -> bool {
    let Kind::Block(stmts, _) = &expr.kind else { return false };
    stmts.iter().any(|stmt| matches!(stmt, Stmt::Assign(..)))
}

/// Collects the variables that a pattern binds.
pub(crate) fn collect(pattern: &Pattern, names: &mut Vec<Local>) {
    match &pattern.kind {
        PatternKind::Bind(local) => names.push(*local),
        PatternKind::Tuple(parts) | PatternKind::Variant(_, parts) | PatternKind::Or(parts) => {
            parts.iter().for_each(|part| collect(part, names));
        }
        PatternKind::Any | PatternKind::Range(..) => {}
    }
}

/// Returns the variables that an expression declares.
pub(crate) fn bound(expr: &Expr) -> BTreeSet<Local> {
    let mut bound = BTreeSet::new();
    walk(expr, 1, &mut |expr, _| match &expr.kind {
        Kind::Block(stmts, _) => {
            for stmt in stmts {
                match stmt {
                    Stmt::Let(pattern, _) => names(pattern, &mut bound),
                    Stmt::For(pattern, ..) => names(pattern, &mut bound),
                    Stmt::Assign(..) | Stmt::Expr(_) => {}
                }
            }
        }
        Kind::Match(_, arms) => arms.iter().for_each(|arm| names(&arm.pattern, &mut bound)),
        Kind::Comprehension(pattern, ..) => names(pattern, &mut bound),
        _ => {}
    });
    bound
}

fn names(pattern: &Pattern, bound: &mut BTreeSet<Local>) {
    match &pattern.kind {
        PatternKind::Bind(local) => drop(bound.insert(*local)),
        PatternKind::Tuple(parts) | PatternKind::Variant(_, parts) | PatternKind::Or(parts) => {
            parts.iter().for_each(|part| names(part, bound));
        }
        PatternKind::Any | PatternKind::Range(..) => {}
    }
}
