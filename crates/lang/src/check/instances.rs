//! The instances of functions: which there are, and which wait for their check.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Cx, FnCx};
use crate::diag::Code;
use crate::ids::{FnId, InstanceId, Table};
use crate::source::Span;
use crate::tir::MAX_DEPTH;
use crate::ty::Arg;

/// A program has at most this many instances of functions.
const MAX_INSTANCES: usize = 65_536;

/// A function with its arguments.
type Key = (FnId, Vec<Arg>);

/// An instance to be checked, its function, the arguments, and the depth of the call.
type Waiting = (InstanceId, FnId, Vec<Arg>, u32);

/// The instances of functions.
#[derive(Default)]
pub(super) struct Instances {
    pub(super) keys: HashMap<Key, InstanceId>,
    /// The keys of all instances.
    pub(super) made: Table<InstanceId, Key>,
    /// The instances that are not checked yet, and where each is in this list.
    waiting: Vec<Waiting>,
    queued: HashMap<InstanceId, usize>,
    /// Instances that have been checked with all that they call.
    pub(super) ensured: HashSet<InstanceId>,
    /// How many instances ask for one another, up to the one that is being checked.
    pub(super) depth: u32,
}

impl Cx<'_> {
    /// Returns the instance of a function with these arguments; it is checked by [`Cx::work`].
    pub fn instance(&mut self, function: FnId, args: Vec<Arg>, span: Span) -> Option<InstanceId> {
        let key = (function, args);
        if let Some(&known) = self.instances.keys.get(&key) {
            return Some(known);
        }
        if self.tir.instances.len() >= MAX_INSTANCES || self.instances.depth >= MAX_DEPTH {
            let message = "functions with other const arguments call each other without end: more \
                           than 256 deep, or 65 536 in all";
            self.error(Code::Limit, span, message);
            return None;
        }
        let place = self.tir.instances.push(None);
        self.instances.keys.insert(key.clone(), place);
        self.instances.made.push(key.clone());
        self.instances.queued.insert(place, self.instances.waiting.len());
        self.instances.waiting.push((place, function, key.1, self.instances.depth + 1));
        Some(place)
    }

    /// Checks all instances that wait.
    pub fn work(&mut self) {
        while let Some(waiting) = self.instances.waiting.pop() {
            self.instances.queued.remove(&waiting.0);
            self.check_waiting(waiting);
        }
    }

    fn check_waiting(&mut self, (place, function, args, depth): Waiting) {
        let before = std::mem::replace(&mut self.instances.depth, depth);
        let errors = self.errors.errors();
        let instance = FnCx::check_function(self, function, &args);
        if self.errors.errors() == errors {
            self.tir.instances[place] = Some(Rc::new(instance));
        }
        self.instances.depth = before;
        if self.errors.errors() > 200 {
            self.instances.waiting.clear();
            self.instances.queued.clear();
        }
    }

    /// Checks these instances and what they call.
    pub(super) fn ensure(&mut self, places: &[InstanceId]) {
        let mut left = places.to_vec();
        while let Some(place) = left.pop() {
            if self.instances.ensured.contains(&place) {
                continue;
            }
            if let Some(found) = self.instances.queued.remove(&place) {
                let waiting = self.instances.waiting.swap_remove(found);
                if let Some(moved) = self.instances.waiting.get(found) {
                    self.instances.queued.insert(moved.0, found);
                }
                self.check_waiting(waiting);
            }
            if let Some(instance) = &self.tir.instances[place] {
                left.extend_from_slice(&instance.calls);
                self.instances.ensured.insert(place);
            }
        }
    }
}
