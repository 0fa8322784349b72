//! The names that a place in a function sees.

use std::collections::HashMap;

use super::Binding;
use crate::ast::Name;

/// Names with what they mean, inner ones after outer ones.
#[derive(Default)]
pub(super) struct Scope {
    names: Vec<(Name, Binding)>,
    /// The places of each name, the innermost last.
    places: HashMap<Name, Vec<usize>>,
}

impl Scope {
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn push(&mut self, name: Name, binding: Binding) {
        self.places.entry(name.clone()).or_default().push(self.names.len());
        self.names.push((name, binding));
    }

    /// Forgets the names from this place on, and returns them.
    pub(super) fn split_off(&mut self, mark: usize) -> Vec<(Name, Binding)> {
        let gone = self.names.split_off(mark.min(self.names.len()));
        for (name, _) in gone.iter().rev() {
            if let Some(places) = self.places.get_mut(name) {
                places.pop();
                if places.is_empty() {
                    self.places.remove(name);
                }
            }
        }
        gone
    }

    pub(super) fn truncate(&mut self, mark: usize) {
        self.split_off(mark);
    }

    /// Returns where a name is bound, and to what.
    pub(super) fn at(&self, name: &str) -> Option<(usize, &Binding)> {
        let place = *self.places.get(name)?.last()?;
        Some((place, &self.names[place].1))
    }

    pub(super) fn find(&self, name: &str) -> Option<&Binding> {
        self.at(name).map(|found| found.1)
    }

    /// Returns the names from this place on.
    pub(super) fn after(&self, mark: usize) -> &[(Name, Binding)] {
        &self.names[mark.min(self.names.len())..]
    }

    /// Returns every name once.
    pub(super) fn names(&self) -> impl Iterator<Item = &Name> {
        self.places.keys()
    }
}
