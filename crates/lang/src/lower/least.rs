//! How many steps a function or a round of a loop takes at least, before it is written: functions
//! that call each other twice each take 2^n steps for n functions.

use std::collections::HashMap;

use super::{Done, Lower, MAX_STEPS, Machine, calls};
use crate::ast::BinaryOp;
use crate::ids::InstanceId;
use crate::source::Span;
use crate::tir::{Expr, Kind, Over, Step, Stmt};
use crate::walk::walk;

/// The least steps of instances, by whether the unmarked functions that they call are written out.
pub(super) type Least = HashMap<(InstanceId, bool), u64>;

impl Lower<'_> {
    /// Returns how many steps a call takes at least. Only functions that can fail and are certainly
    /// written out count with those that they call: others may be components, or written before.
    fn least(&mut self, place: InstanceId, whole: bool) -> u64 {
        let Some(Some(instance)) = self.tir.instances.get(place).cloned() else { return 1 };
        let is_written = self.is_inline(&instance) || (whole && !instance.component);
        if !is_written || !calls::fails(self, place) {
            return 1;
        }
        if let Some(&known) = self.facts.least.get(&(place, whole)) {
            return known;
        }
        // A function that calls itself is reported elsewhere.
        self.facts.least.insert((place, whole), 1);
        let (mut steps, mut called) = (0u64, Vec::new());
        certain(&instance.body, &mut |expr| {
            steps += u64::from(is_step(expr));
            if let Kind::Call(call, _) = expr.kind
                && !expr.constant
            {
                called.push(call);
            }
        });
        for call in called {
            steps = steps.saturating_add(self.least(instance.calls[call], whole));
        }
        self.facts.least.insert((place, whole), steps);
        steps
    }
}

impl Machine<'_, '_, '_> {
    /// Refuses a function that would take more steps than are left, before it takes them.
    pub(super) fn steps_left_for(&mut self, place: InstanceId, span: Span) -> Done<()> {
        let least = self.lower.least(place, self.whole);
        self.steps_for(least, span)
    }

    /// Refuses what takes at least `least` more steps, if fewer are left.
    pub(super) fn steps_for(&mut self, least: u64, span: Span) -> Done<()> {
        if self.lower.spent.steps.saturating_add(least) > MAX_STEPS {
            return self.beyond(false, span);
        }
        Ok(())
    }
}

/// Returns how many steps an expression takes at least, without the functions that it calls.
pub(super) fn least_of(expr: &Expr) -> u64 {
    let mut steps = 0;
    certain(expr, &mut |expr| steps += u64::from(is_step(expr)));
    steps
}

/// Returns whether an expression takes a step wherever it is written. Variables and constants, and
/// comparisons and choices, may be found as parts of others.
fn is_step(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Binary(op, ..) => {
            !matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
        }
        Kind::Unary(..)
        | Kind::Cast(_)
        | Kind::Call(..)
        | Kind::Intrinsic(..)
        | Kind::Assert(..)
        | Kind::Match(..) => true,
        _ => false,
    }
}

/// Shows the expressions that are written whenever this one is, in any order; returns whether what
/// follows this one is written, too.
fn certain<'e>(expr: &'e Expr, see: &mut dyn FnMut(&'e Expr)) -> bool {
    see(expr);
    match &expr.kind {
        Kind::Int(_) | Kind::Fraction(_) | Kind::Const(_) | Kind::Local(_) => true,
        Kind::Break | Kind::Continue => false,
        Kind::Return(value) => {
            certain(value, see);
            false
        }
        Kind::Unary(_, a)
        | Kind::Cast(a)
        | Kind::Repeat(a)
        | Kind::Field(a, _)
        | Kind::Slice(a, _)
        | Kind::Assert(a, _)
        | Kind::Expect(a, _) => certain(a, see),
        Kind::Binary(_, a, b) | Kind::Index(a, b) => certain(a, see) && certain(b, see),
        Kind::Aggregate(parts)
        | Kind::Variant(_, parts)
        | Kind::Call(_, parts)
        | Kind::Intrinsic(_, parts) => parts.iter().all(|part| certain(part, see)),
        Kind::If(first, ..) | Kind::Match(first, _) => certain(first, see) && stays(expr),
        Kind::Comprehension(_, over, _) => certain_over(over, see) && stays(expr),
        Kind::Block(stmts, tail) => {
            stmts.iter().all(|stmt| certain_stmt(stmt, see))
                && tail.as_ref().is_none_or(|tail| certain(tail, see))
        }
    }
}

fn certain_stmt<'e>(stmt: &'e Stmt, see: &mut dyn FnMut(&'e Expr)) -> bool {
    match stmt {
        Stmt::Let(_, value) | Stmt::Expr(value) => certain(value, see),
        Stmt::Assign(place, _, value) => {
            let mut indices = place.path.iter().filter_map(|(step, _)| match step {
                Step::Index(index) => Some(index),
                Step::Field(_) => None,
            });
            indices.all(|index| certain(index, see)) && certain(value, see)
        }
        Stmt::For(_, over, body, _) => certain_over(over, see) && stays(body),
    }
}

fn certain_over<'e>(over: &'e Over, see: &mut dyn FnMut(&'e Expr)) -> bool {
    match over {
        Over::Range(low, high, _) => certain(low, see) && certain(high, see),
        Over::Array(array) => certain(array, see),
        Over::Rounds(rounds) => rounds.iter().all(stays),
    }
}

/// Returns whether an expression never leaves the function or a loop.
pub(super) fn stays(expr: &Expr) -> bool {
    let mut stays = true;
    walk(expr, 1, &mut |expr, _| {
        stays &= !matches!(expr.kind, Kind::Return(_) | Kind::Break | Kind::Continue);
    });
    stays
}
