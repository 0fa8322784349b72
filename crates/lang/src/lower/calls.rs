//! Who calls whom, how often, and who can fail.

use std::collections::HashMap;

use super::Lower;
use super::places::walk;
use crate::tir::{Expr, Instance, Kind, Tir};

/// Returns how often each instance that the entry reaches is called; 2 means twice or more.
pub(super) fn count(tir: &Tir, entry: usize) -> HashMap<usize, u8> {
    let mut order = Vec::new();
    let mut seen = vec![false; tir.instances.len()];
    visit(tir, entry, &mut seen, &mut order);
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

fn visit(tir: &Tir, place: usize, seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[place], true) {
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
pub fn cycle(tir: &Tir) -> Option<usize> {
    // 0: not seen, 1: in progress, 2: done.
    let mut states = vec![0u8; tir.instances.len()];
    (0..tir.instances.len()).find_map(|place| find_cycle(tir, place, &mut states))
}

fn find_cycle(tir: &Tir, place: usize, states: &mut [u8]) -> Option<usize> {
    match states[place] {
        1 => return Some(place),
        2 => return None,
        _ => states[place] = 1,
    }
    if let Some(Some(instance)) = tir.instances.get(place) {
        for &callee in &instance.calls {
            if let Some(found) = find_cycle(tir, callee, states) {
                return Some(found);
            }
        }
    }
    states[place] = 2;
    None
}

/// Returns whether an instance or what it calls has asserts.
pub(super) fn fails(lower: &mut Lower<'_>, place: usize) -> bool {
    if let Some(&known) = lower.fails.get(&place) {
        return known;
    }
    let Some(Some(instance)) = lower.tir.instances.get(place).cloned() else { return false };
    let fails = can_fail(lower, &instance, &instance.body);
    lower.fails.insert(place, fails);
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
