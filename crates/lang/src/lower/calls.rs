//! Who calls whom, how often, and who can fail.

use std::collections::{HashMap, HashSet};

use super::Lower;
use crate::ids::InstanceId;
use crate::tir::{Expr, Instance, Kind, Tir};
use crate::walk::walk;

/// Returns how often each instance that the entry reaches is called; 2 means twice or more.
pub(super) fn count(tir: &Tir, entry: InstanceId) -> HashMap<InstanceId, u8> {
    let mut order = Vec::new();
    visit(tir, entry, &mut HashSet::new(), &mut order);
    let mut counts = HashMap::from([(entry, 1u8)]);
    // Callers come after what they call.
    for &caller in order.iter().rev() {
        let times = counts.get(&caller).copied().unwrap_or(0);
        let Some(Some(instance)) = tir.instances.get(caller) else { continue };
        walk(&instance.body, 1, &mut |expr, weight| {
            if let Kind::Call(call, _) = expr.kind {
                let count = counts.entry(instance.calls[call]).or_insert(0);
                *count = count.saturating_add(times.saturating_mul(weight)).min(2);
            }
        });
    }
    counts
}

fn visit(
    tir: &Tir,
    place: InstanceId,
    seen: &mut HashSet<InstanceId>,
    order: &mut Vec<InstanceId>,
) {
    if !seen.insert(place) {
        return;
    }
    if let Some(Some(instance)) = tir.instances.get(place) {
        for &callee in &instance.calls {
            visit(tir, callee, seen, order);
        }
    }
    order.push(place);
}

/// Returns an instance that calls itself, directly or not.
pub fn cycle(tir: &Tir) -> Option<InstanceId> {
    let mut states = HashMap::new();
    tir.instances.ids().find_map(|place| find_cycle(tir, place, &mut states))
}

/// What the search for cycles knows of an instance that it has seen.
#[derive(Clone, Copy)]
enum State {
    Open,
    Done,
}

fn find_cycle(
    tir: &Tir,
    place: InstanceId,
    states: &mut HashMap<InstanceId, State>,
) -> Option<InstanceId> {
    match states.insert(place, State::Open) {
        Some(State::Open) => return Some(place),
        Some(State::Done) => {
            states.insert(place, State::Done);
            return None;
        }
        None => {}
    }
    if let Some(Some(instance)) = tir.instances.get(place) {
        for &callee in &instance.calls {
            if let Some(found) = find_cycle(tir, callee, states) {
                return Some(found);
            }
        }
    }
    states.insert(place, State::Done);
    None
}

/// Returns whether an instance or what it calls has asserts.
pub(super) fn fails(lower: &mut Lower<'_>, place: InstanceId) -> bool {
    if let Some(&known) = lower.facts.fails.get(&place) {
        return known;
    }
    let Some(Some(instance)) = lower.tir.instances.get(place).cloned() else { return false };
    let fails = can_fail(lower, &instance, &instance.body);
    lower.facts.fails.insert(place, fails);
    fails
}

/// Returns whether a part of an instance or what it calls has asserts.
pub(super) fn can_fail(lower: &mut Lower<'_>, instance: &Instance, part: &Expr) -> bool {
    let (mut own, mut called) = (false, Vec::new());
    walk(part, 1, &mut |expr, _| match expr.kind {
        Kind::Assert(..) | Kind::Expect(..) => own = true,
        Kind::Call(call, _) => called.push(instance.calls[call]),
        _ => {}
    });
    own || called.into_iter().any(|callee| fails(lower, callee))
}
