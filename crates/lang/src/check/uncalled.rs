//! Generic functions that nothing calls: checked with samples of their arguments.

use std::collections::HashSet;

use super::{AliasState, Cx};
use crate::ast::{self, Generic, GenericKind, TypeKind};
use crate::builtin;
use crate::diag::{Diagnostic, Diagnostics};
use crate::ids::FnId;
use crate::ty::{Arg, Len, Precision, Ty};

/// Constants for the parameters in turn, from far apart to all equal.
const CONSTANTS: [[u64; 4]; 7] = [
    [4, 4, 4, 4],
    [8, 4, 2, 1],
    [2, 4, 8, 16],
    [3, 5, 7, 9],
    [32, 32, 32, 32],
    [64, 16, 64, 16],
    [1, 1, 1, 1],
];

/// Samples take at most this many steps, those of constants and those with types. Functions beyond
/// are not checked: samples are to find mistakes early, and what is called is always checked.
const MAX_SAMPLED: u64 = 100_000_000;

impl Cx<'_> {
    /// Checks the generic functions among these that have no instance. An error is reported if
    /// every sample gives it in the same words, because it then does not depend on the arguments.
    ///
    /// The program stays as it is: samples do not become instances.
    pub fn check_uncalled(&mut self, functions: &[FnId]) {
        let called: HashSet<FnId> = self.instances.keys.keys().map(|(known, _)| *known).collect();
        for &function in functions {
            let generics = &self.program.fns[function].generics;
            if called.contains(&function)
                || generics.is_empty()
                || self.spent.sampled >= MAX_SAMPLED
            {
                continue;
            }
            self.common_errors(function).into_iter().for_each(|error| self.errors.push(error));
        }
    }

    /// Returns the errors that all samples have in common.
    fn common_errors(&mut self, function: FnId) -> Vec<Diagnostic> {
        let generics = self.program.fns[function].generics.clone();
        let mut common: Option<Vec<Diagnostic>> = None;
        for (round, constants) in CONSTANTS.iter().enumerate() {
            let mut constants = constants.iter().cycle();
            let sample = |generic: &Generic| match &generic.kind {
                GenericKind::Type(bound) => {
                    Arg::Ty(sample_type(bound.as_ref().map(|bound| &*bound.name), round))
                }
                GenericKind::Const(ty) => {
                    let number = *constants.next().unwrap_or(&1);
                    Arg::Const(Len::Known(sample_number(ty, number)))
                }
            };
            let args = generics.iter().map(sample).collect();
            let found = self.errors_of_sample(function, args);
            if self.spent.sampled >= MAX_SAMPLED {
                return Vec::new();
            }
            let known = |error: &Diagnostic| {
                let same = |other: &&Diagnostic| {
                    (other.span, other.code) == (error.span, error.code)
                        && other.message == error.message
                };
                found.list().iter().any(|other| same(&other))
            };
            match &mut common {
                None => common = Some(found.list().to_vec()),
                Some(common) => common.retain(known),
            }
            if common.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        common.unwrap_or_default()
    }

    /// Checks an instance and what it calls, forgets them, and returns the errors.
    fn errors_of_sample(&mut self, function: FnId, args: Vec<Arg>) -> Diagnostics {
        let (first, asserts) = (self.tir.instances.next(), self.tir.asserts.len());
        let (limits, work) = (
            (self.spent.rounds, self.spent.steps, self.spent.compared),
            self.spent.work.replace(0),
        );
        let errors = std::mem::take(&mut self.errors);
        let span = self.program.fns[function].decl.name.span;
        self.instance(function, args, span);
        self.work();
        let found = std::mem::replace(&mut self.errors, errors);
        for key in self.instances.made.drain_from(first) {
            if let Some(place) = self.instances.keys.remove(&key) {
                self.instances.ensured.remove(&place);
            }
        }
        for (_, span) in self.tir.asserts.drain(asserts..) {
            self.assert_places.remove(&span);
        }
        drop(self.tir.instances.drain_from(first));
        // Every sample reports its own errors.
        for alias in self.items.wrong_aliases.drain(..) {
            if matches!(self.items.aliases.get(&alias), Some(AliasState::Wrong)) {
                self.items.aliases.remove(&alias);
            }
        }
        let compared = self.spent.compared - limits.2;
        self.spent.sampled +=
            self.spent.steps - limits.1 + compared + self.spent.work.replace(work);
        (self.spent.rounds, self.spent.steps, self.spent.compared) = limits;
        found
    }
}

/// Returns the low bits of a number that fit the declared type of a const parameter.
fn sample_number(ty: &ast::Type, number: u64) -> u64 {
    let TypeKind::Path(path, _) = &ty.kind else { return number };
    let bits = match builtin::ty(&path.parts[0].name) {
        Some(builtin::Type::Bool) => 1,
        Some(builtin::Type::Exact(_, bits)) => bits,
        _ => return number,
    };
    number & 1u64.checked_shl(bits as u32).map_or(u64::MAX, |above| above - 1)
}

fn sample_type(bound: Option<&str>, round: usize) -> Ty {
    let types = match bound {
        Some("Float") => [Ty::Float(Precision::Single), Ty::Float(Precision::Double)],
        Some("Int") => [Ty::Int(false, Len::Known(16)), Ty::Int(true, Len::Known(32))],
        Some(_) => [Ty::Int(false, Len::Known(16)), Ty::Fixed(Len::Known(8), Len::Known(8))],
        None => [Ty::Int(false, Len::Known(16)), Ty::Bool],
    };
    types[round % 2].clone()
}
