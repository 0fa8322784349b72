//! Both arms of an `if` that call the same function: it is called once, with the arguments of the
//! arm that is taken.
//!
//! That takes an AND for each bit in which the arguments differ, and saves those of a call: how
//! many these are is known of a component. Functions that can fail are left as they are, and so are
//! calls with constants, which may have components of their own, and calls whose result is there
//! already.

use symbolon_circuit::builder::Word;

use super::state::Frame;
use super::{Done, Machine, calls, kept};
use crate::ids::InstanceId;
use crate::tir::{Expr, Kind};
use crate::walk::leaves_or_assigns;

/// Returns the call that an expression is.
fn call_of(expr: &Expr) -> Option<(&Expr, usize, &[Expr])> {
    match &expr.kind {
        Kind::Call(call, args) if !expr.constant => Some((expr, *call, args)),
        Kind::Block(stmts, Some(tail)) if stmts.is_empty() => call_of(tail),
        _ => None,
    }
}

/// Returns whether an expression only names what is there, so that nothing is lost if it is read
/// again, or for an arm that is not taken.
fn only_names(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Local(_) => true,
        Kind::Field(whole, _) => only_names(whole),
        Kind::Aggregate(parts) => parts.iter().all(only_names),
        _ => false,
    }
}

impl Machine<'_, '_, '_> {
    /// Writes an `if` whose arms call the same function, if one call takes fewer ANDs than two.
    pub(super) fn choose_arguments(
        &mut self,
        frame: &mut Frame,
        expr: &Expr,
    ) -> Done<Option<Word>> {
        let Kind::If(condition, then, Some(otherwise)) = &expr.kind else { return Ok(None) };
        let (Some(one), Some(other)) = (call_of(then), call_of(otherwise)) else { return Ok(None) };
        let ((call, number, args), (_, other_number, other_args)) = (one, other);
        let place = frame.instance.calls[number];
        if frame.instance.calls[other_number] != place
            || !args.iter().chain(other_args).all(only_names)
            || calls::fails(self.lower, place)
            // The arguments are read before the condition is written.
            || leaves_or_assigns(condition)
        {
            return Ok(None);
        }
        let callee = self.lower.instance(place)?;
        if self.lower.widths(&callee).iter().sum::<usize>() > kept::MOST_BITS {
            return Ok(None);
        }
        let both = [self.arguments(frame, args)?, self.arguments(frame, other_args)?];
        if !self.is_better_once(place, &both)? {
            return Ok(None);
        }
        self.told.wanted = false;
        let choice = self.choice(frame, condition)?;
        if let Some(first) = choice.as_constant() {
            return self.eval(frame, if first { then } else { otherwise }).map(Some);
        }
        let [args, other_args] = both;
        let chosen = args.iter().zip(&other_args).map(|(a, b)| self.choose(choice, a, b)).collect();
        self.call_with(frame, place, chosen, call.span).map(Some)
    }

    /// Returns whether one call with either arguments takes fewer ANDs than a call with each.
    fn is_better_once(&mut self, place: InstanceId, both: &[Vec<Word>; 2]) -> Done<bool> {
        if both.iter().flatten().any(|word| word.constant_bits() > 0)
            || both.iter().any(|args| self.is_kept(place, args))
        {
            return Ok(false);
        }
        let Some((component, _)) = self.lower.called(place, self.whole, &both[0])? else {
            return Ok(false);
        };
        let [one, other] = both.each_ref().map(|args| args.iter().flat_map(|word| word.iter()));
        let differing = one.zip(other).filter(|(a, b)| a != b).count() as u64;
        Ok((1..component.body.and_count()).contains(&differing))
    }
}
