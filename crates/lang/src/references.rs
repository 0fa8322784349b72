//! What an editor asks about a main file: what each name means, and which type each expression has.

use std::collections::HashMap;

use crate::ast::Name;
use crate::def::Def;
use crate::source::Span;
use crate::ty::TyId;

/// An expression in a generic function or in a loop that is checked round by round can have many
/// types; this many are kept.
const MOST_TYPES: usize = 3;

/// What is noted during a check, for the main file only.
#[derive(Debug, Default)]
pub struct References {
    /// What a name at a place means.
    pub names: HashMap<Span, Target>,
    /// The types of an expression or a variable at a place.
    pub types: HashMap<Span, Vec<TyId>>,
    /// Where each variable is bound, and its name.
    pub variables: HashMap<Span, Name>,
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An item.
    Item(Def),
    /// A variable or a field that is defined here.
    Place(Span),
}

impl References {
    /// Notes what the name at `span` means.
    pub fn name(&mut self, span: Span, target: Target) {
        if span.file == 0 {
            self.names.insert(span, target);
        }
    }

    /// Notes the type of what is at `span`.
    pub fn ty(&mut self, span: Span, ty: TyId) {
        let types = self.types.entry(span).or_default();
        if types.len() < MOST_TYPES && !types.contains(&ty) {
            types.push(ty);
        }
    }
}
