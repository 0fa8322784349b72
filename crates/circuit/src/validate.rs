//! The rules of the IR, checked once when a [`crate::Circuit`] is made.

use std::collections::HashSet;

use crate::{CircuitError, Component, Input, Output, Step};

/// A flattened program may have at most this many gates: enough for anyone, and small enough that
/// counts of gates, bytes and hashes never overflow.
const MAX_GATES: u64 = 1 << 48;

/// A component may have at most this many wires, so that slots of a caller's and a callee's frame
/// fit a `u32` side by side.
pub(crate) const MAX_WIRES: u32 = 1 << 30;

pub(crate) fn check(
    inputs: &[Input],
    outputs: &[Output],
    components: &[Component],
) -> Result<(), CircuitError> {
    let main = components
        .last()
        .ok_or_else(|| CircuitError::invalid("a program needs at least one component"))?;
    let mut sizes: Vec<u64> = Vec::with_capacity(components.len());
    for index in 0..components.len() {
        sizes.push(check_component(components, index, &sizes)?);
    }
    check_ports("input", inputs.iter().map(|i| (&i.name, i.ty.width())), u64::from(main.inputs))?;
    check_ports(
        "output",
        outputs.iter().map(|o| (&o.name, o.ty.width())),
        main.outputs.len() as u64,
    )
}

fn check_ports<'a>(
    kind: &str,
    ports: impl Iterator<Item = (&'a String, u64)>,
    wires: u64,
) -> Result<(), CircuitError> {
    let mut names = HashSet::new();
    let mut total = 0u64;
    for (name, width) in ports {
        if name.is_empty() || !names.insert(name) {
            return Err(CircuitError::invalid(format!(
                "{kind} name `{name}` is empty or repeated"
            )));
        }
        if width == 0 {
            return Err(CircuitError::invalid(format!("{kind} `{name}` has no bits")));
        }
        total = total.saturating_add(width);
    }
    if total != wires {
        return Err(CircuitError::invalid(format!(
            "the {kind}s have {total} bits, the main component has {wires} {kind} wires"
        )));
    }
    Ok(())
}

/// Checks one component, given the flattened sizes of those before it; returns its own.
fn check_component(
    components: &[Component],
    index: usize,
    sizes: &[u64],
) -> Result<u64, CircuitError> {
    let component = &components[index];
    let name = &component.name;
    if component.inputs > component.wires {
        return Err(CircuitError::invalid(format!(
            "component `{name}` has more inputs than wires"
        )));
    }
    if component.wires > MAX_WIRES {
        return Err(CircuitError::invalid(format!("component `{name}` has more than 2^30 wires")));
    }
    // Every wire that is neither an input nor written by a step makes the claimed count too large,
    // so the count is bounded by what the steps really hold before anything is allocated for it.
    let written = component.steps.iter().try_fold(u64::from(component.inputs), |sum, step| {
        let outputs = match *step {
            Step::Call(call) => called(component, call, index)?.1.outputs_of(components),
            _ => 1,
        };
        Ok::<u64, CircuitError>(sum.saturating_add(outputs))
    })?;
    if written != u64::from(component.wires) {
        return Err(CircuitError::invalid(format!(
            "component `{name}` claims {} wires, its inputs and steps write {written}",
            component.wires
        )));
    }
    let mut wires = Defined::new(component);
    let mut size = 0u64;
    for step in &component.steps {
        match *step {
            Step::Xor { a, b, out } | Step::And { a, b, out } => {
                wires.read(a)?;
                wires.read(b)?;
                wires.write(out)?;
                size += 1;
            }
            Step::Inv { a, out } => {
                wires.read(a)?;
                wires.write(out)?;
                size += 1;
            }
            Step::Const { out, .. } => {
                wires.write(out)?;
                size += 1;
            }
            Step::Call(call) => {
                size = size.saturating_add(check_call(components, index, call, sizes, &mut wires)?);
            }
        }
        if size > MAX_GATES {
            return Err(CircuitError::invalid(format!(
                "component `{name}` has more than 2^48 gates when flattened"
            )));
        }
    }
    component.outputs.iter().try_for_each(|&w| wires.read(w))?;
    Ok(size)
}

fn check_call(
    components: &[Component],
    index: usize,
    call: u32,
    sizes: &[u64],
    wires: &mut Defined<'_>,
) -> Result<u64, CircuitError> {
    let caller = &components[index];
    let (call, callee_index) = called(caller, call, index).map(|(c, i)| (c, i.0))?;
    let callee = &components[callee_index];
    let args = (call.first_arg as usize)
        .checked_add(call.arg_count as usize)
        .and_then(|end| caller.call_args.get(call.first_arg as usize..end))
        .ok_or_else(|| {
            CircuitError::invalid(format!("`{}`: call arguments out of range", caller.name))
        })?;
    let mut passed = 0u64;
    for range in args {
        passed += u64::from(range.len);
        if passed > u64::from(callee.inputs) {
            break;
        }
        for i in 0..range.len {
            wires.read(range.first.saturating_add(i))?;
        }
    }
    if passed != u64::from(callee.inputs) {
        return Err(CircuitError::invalid(format!(
            "`{}` calls `{}` with a wrong number of wires ({} expected)",
            caller.name, callee.name, callee.inputs
        )));
    }
    for i in 0..callee.outputs.len() as u32 {
        wires.write(call.first_output.saturating_add(i))?;
    }
    // The call itself counts too: a walk spends time on it even when there is no gate inside.
    Ok(sizes[callee_index].saturating_add(1))
}

/// The index of a called component, known to be earlier than its caller.
struct Callee(usize);

impl Callee {
    fn outputs_of(&self, components: &[Component]) -> u64 {
        components[self.0].outputs.len() as u64
    }
}

fn called(
    caller: &Component,
    call: u32,
    caller_index: usize,
) -> Result<(crate::Call, Callee), CircuitError> {
    let call = *caller.calls.get(call as usize).ok_or_else(|| {
        CircuitError::invalid(format!("`{}`: no call number {call}", caller.name))
    })?;
    if call.component as usize >= caller_index {
        return Err(CircuitError::invalid(format!(
            "`{}` calls component {}, which is not an earlier one",
            caller.name, call.component
        )));
    }
    Ok((call, Callee(call.component as usize)))
}

/// Which wires of a component have been written so far.
struct Defined<'a> {
    component: &'a Component,
    words: Vec<u64>,
}

impl<'a> Defined<'a> {
    fn new(component: &'a Component) -> Self {
        let mut defined =
            Defined { component, words: vec![0; (component.wires as usize).div_ceil(64)] };
        for wire in 0..component.inputs {
            defined.words[wire as usize / 64] |= 1 << (wire % 64);
        }
        defined
    }

    fn get(&self, wire: u32) -> bool {
        wire < self.component.wires && self.words[wire as usize / 64] >> (wire % 64) & 1 == 1
    }

    fn read(&self, wire: u32) -> Result<(), CircuitError> {
        if self.get(wire) {
            return Ok(());
        }
        Err(CircuitError::invalid(format!(
            "component `{}` reads wire {wire} before it is written",
            self.component.name
        )))
    }

    fn write(&mut self, wire: u32) -> Result<(), CircuitError> {
        if wire >= self.component.wires || self.get(wire) {
            return Err(CircuitError::invalid(format!(
                "component `{}` writes wire {wire} twice, or it is out of range",
                self.component.name
            )));
        }
        self.words[wire as usize / 64] |= 1 << (wire % 64);
        Ok(())
    }
}
