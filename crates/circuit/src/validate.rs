//! The rules of the IR, checked once when a [`crate::Circuit`] is made.

use std::collections::HashSet;

use crate::{
    CircuitError, Component, Input, Lookup, Output, Program, Ranges, Repeat, RepeatArg, Step,
    Table, Type,
};

/// A flattened program may have at most this many gates: enough for any use, and so few that counts
/// of gates, bytes and hashes never overflow.
const MAX_GATES: u64 = 1 << 48;

/// A component may have at most this many wires, so that slots of a caller's and a callee's frame
/// fit a `u32` side by side.
pub(crate) const MAX_WIRES: u32 = 1 << 30;

/// A component may have this many wires beside its inputs however few steps it has: no program of
/// the language has more in a component. Calls and repeats write many wires in one step, so a small
/// file could take any amount of memory otherwise. Inputs take a few bits each.
const FREE_WIRES: u64 = 1 << 27;

/// This many more for each step: enough for calls of the components that circuits are made of.
const WIRES_PER_STEP: u64 = 256;

/// A component's lists of calls, arguments and look-ups may have at most this many entries, so that
/// turning look-ups into calls never makes one that a `u32` cannot index. Its repeats may read at
/// most this many wires, each counted as often as an argument names it.
const MAX_LIST: u64 = 1 << 31;

/// The calls and repeats of a program may pass this many wires to components with few gates for
/// them: reading and planning a circuit takes time for every wire passed, and one call in a few
/// bytes of a file can pass millions that nothing reads.
const FREE_PASSED: u64 = 1 << 28;

/// This many more for each step: as many as the widest component that is called for small parts of
/// its inputs, such as a function that reads one field of a large structure, a million times.
const PASSED_PER_STEP: u64 = 1 << 14;

/// The wires of a call or repeat count only beyond this many for each of its gates, flattened. A
/// gate reads two wires, so components that use their inputs may be called as often as
/// [`MAX_GATES`] allows; a walk then takes longer than reading and planning.
const PASSED_PER_GATE: u64 = 4;

/// Calls may share arguments in their component's list. Together they may name as many as the list
/// has, and this many more for each step, so that the list is not read once for every call.
const SHARED_PER_STEP: u64 = 256;

/// The same for repeats: each may name this many arguments and runs of wires beyond those in the
/// lists.
const SHARED_PER_REPEAT: u64 = 256;

pub(crate) fn check(
    inputs: &[Input],
    outputs: &[Output],
    program: &Program,
) -> Result<(), CircuitError> {
    let components = &program.components[..];
    let main = components
        .last()
        .ok_or_else(|| CircuitError::invalid("a program needs at least one component"))?;
    let mut sizes: Vec<u64> = Vec::with_capacity(components.len());
    let mut passed = Passed::default();
    for index in 0..components.len() {
        sizes.push(check_component(program, index, &sizes, &mut passed)?);
    }
    let ports = inputs.iter().map(|input| ("input", &input.name, &input.ty));
    let ports = ports.chain(outputs.iter().map(|output| ("output", &output.name, &output.ty)));
    ports.into_iter().try_for_each(|(kind, name, ty)| check_type(kind, name, ty))?;
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
    let (ports, mut total) = (ports.collect::<Vec<_>>(), 0u64);
    check_names(kind, ports.iter().map(|(name, _)| *name))?;
    for (name, width) in ports {
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

/// Refuses a name with control characters: a line break in it could forge whatever is printed
/// after the name.
fn check_name(what: &str, name: &str) -> Result<(), CircuitError> {
    if name.contains(char::is_control) {
        let name = name.escape_debug();
        return Err(CircuitError::invalid(format!("{what} name `{name}` has control characters")));
    }
    Ok(())
}

/// Refuses names with control characters in a type, and fields or variants that are not told apart
/// by their names.
fn check_type_names(ty: &Type) -> Result<(), CircuitError> {
    match ty {
        Type::Array { elem, .. } => check_type_names(elem),
        Type::Tuple(parts) => parts.iter().try_for_each(check_type_names),
        Type::Struct { name, fields } => {
            check_name("type", name)?;
            check_names("field", fields.iter().map(|(field, _)| field))?;
            fields.iter().try_for_each(|(_, ty)| check_type_names(ty))
        }
        Type::Enum { name, variants } => {
            check_name("type", name)?;
            check_names("variant", variants.iter().map(|(variant, _)| variant))?;
            variants.iter().flat_map(|(_, parts)| parts).try_for_each(check_type_names)
        }
        _ => Ok(()),
    }
}

/// Refuses types that no bits can be a value of, and types with names that
/// [`check_type_names`] refuses.
pub(crate) fn check_type(kind: &str, name: &str, ty: &Type) -> Result<(), CircuitError> {
    check_type_names(ty)?;
    match ty.has_value() {
        true => Ok(()),
        false => Err(CircuitError::invalid(format!(
            "{kind} `{name}` has an enumeration without variants"
        ))),
    }
}

/// Returns how many wires components may have that have this many steps.
pub(crate) fn most_wires(free: u64, steps: usize) -> u64 {
    free.saturating_add(WIRES_PER_STEP.saturating_mul(steps as u64))
}

/// Refuses names that are empty, occur twice or have control characters.
pub(crate) fn check_names<'a>(
    kind: &str,
    list: impl IntoIterator<Item = &'a String>,
) -> Result<(), CircuitError> {
    let mut names = HashSet::new();
    let list: Vec<&String> = list.into_iter().collect();
    list.iter().try_for_each(|name| check_name(kind, name))?;
    match list.into_iter().find(|name| name.is_empty() || !names.insert(*name)) {
        Some(name) => {
            Err(CircuitError::invalid(format!("{kind} name `{name}` is empty or repeated")))
        }
        None => Ok(()),
    }
}

/// Checks one component, given the flattened sizes of those before it; returns its own.
fn check_component(
    program: &Program,
    index: usize,
    sizes: &[u64],
    passed: &mut Passed,
) -> Result<u64, CircuitError> {
    let components = &program.components[..];
    let component = &components[index];
    let name = &component.name;
    check_name("component", name)?;
    if component.inputs > component.wires {
        return Err(CircuitError::invalid(format!(
            "component `{name}` has more inputs than wires"
        )));
    }
    if component.wires > MAX_WIRES {
        return Err(CircuitError::invalid(format!("component `{name}` has more than 2^30 wires")));
    }
    check_lists(component, &program.tables)?;
    (0..component.calls.len() as u32).try_for_each(|c| called(component, c, index).map(drop))?;
    let repeats = check_repeats(components, index)?;
    // The claimed number of wires and the work are bounded by what the steps really hold before
    // memory is allocated and time is spent for them.
    let size = check_totals(program, index, &repeats, sizes, passed)?;
    check_wires(components, index, &repeats)?;
    Ok(size)
}

/// Checks how many wires the steps of a component write and pass; returns its flattened size.
fn check_totals(
    program: &Program,
    index: usize,
    repeats: &[Shape],
    sizes: &[u64],
    passed: &mut Passed,
) -> Result<u64, CircuitError> {
    let components = &program.components[..];
    let component = &components[index];
    let name = &component.name;
    let (mut written, mut size, mut args) = (u64::from(component.inputs), 0u64, 0u64);
    for step in &component.steps {
        let (outputs, gates) = match *step {
            Step::Call(call) => {
                let (call, callee) = called(component, call, index)?;
                args += u64::from(call.arg_count);
                let gates = sizes[callee.0];
                passed.add(components[callee.0].inputs.into(), gates);
                // The call itself counts too: a walk spends time on it even if it has no gates.
                (callee.outputs_of(components), gates.saturating_add(1))
            }
            Step::Repeat(repeat) => {
                let &Shape { repeat, read, written, constants } =
                    repeated(component, repeats, repeat)?;
                let round = sizes[repeat.component as usize].saturating_add(1 + constants);
                let gates = round.saturating_mul(repeat.count.into());
                passed.add(read, gates);
                (written, gates)
            }
            Step::Lookup(lookup) => {
                let lookup = looked_up(component, lookup)?;
                // Protocols without look-ups call a component instead.
                let gates = program.tables[lookup.table as usize].most_gates() + 1;
                (lookup.output_count.into(), gates)
            }
            _ => (1, 1),
        };
        written = written.saturating_add(outputs);
        size = size.saturating_add(gates);
    }
    check_written(component, written)?;
    if size > MAX_GATES {
        return Err(CircuitError::invalid(format!(
            "component `{name}` has more than 2^48 gates when flattened"
        )));
    }
    let steps = component.steps.len() as u64;
    let most = component.call_args.len() as u64 + SHARED_PER_STEP * steps;
    if args > most {
        return Err(CircuitError::invalid(format!(
            "the calls of component `{name}` name {args} arguments: more than {most}, which are \
             those in its list and 256 for each step"
        )));
    }
    passed.check(component)?;
    Ok(size)
}

/// Refuses a component that claims another number of wires than are written, or has too many.
fn check_written(component: &Component, written: u64) -> Result<(), CircuitError> {
    let name = &component.name;
    if written != u64::from(component.wires) {
        return Err(CircuitError::invalid(format!(
            "component `{name}` claims {} wires, its inputs and steps write {written}",
            component.wires
        )));
    }
    let most = most_wires(FREE_WIRES, component.steps.len());
    let others = written - u64::from(component.inputs);
    if others > most {
        return Err(CircuitError::invalid(format!(
            "component `{name}` has {others} wires beside its inputs: more than {most}, which are \
             2^27 and 256 for each step"
        )));
    }
    Ok(())
}

/// How many wires the calls and repeats of a program pass beyond those that their gates allow.
#[derive(Default)]
struct Passed {
    wires: u64,
    steps: u64,
}

impl Passed {
    /// Adds the wires of a call or repeat with this many gates.
    fn add(&mut self, wires: u64, gates: u64) {
        let beyond = wires.saturating_sub(gates.saturating_mul(PASSED_PER_GATE));
        self.wires = self.wires.saturating_add(beyond);
    }

    /// Checks the sum, up to and with all steps of this component.
    fn check(&mut self, component: &Component) -> Result<(), CircuitError> {
        self.steps += component.steps.len() as u64;
        let most = FREE_PASSED + PASSED_PER_STEP * self.steps;
        if self.wires > most {
            return Err(CircuitError::invalid(format!(
                "the calls and repeats of component `{}` and those before it pass {} wires beyond \
                 4 for each gate: more than {most}, which are 2^28 and 2^14 for each step",
                component.name, self.wires
            )));
        }
        Ok(())
    }
}

/// Checks that every wire is written once, and not read before.
fn check_wires(
    components: &[Component],
    index: usize,
    repeats: &[Shape],
) -> Result<(), CircuitError> {
    let component = &components[index];
    let mut wires = Defined::new(component);
    for step in &component.steps {
        match *step {
            Step::Xor { a, b, out } | Step::And { a, b, out } => {
                wires.read(a)?;
                wires.read(b)?;
                wires.write(out)?;
            }
            Step::Inv { a, out } => {
                wires.read(a)?;
                wires.write(out)?;
            }
            Step::Const { out, .. } => wires.write(out)?,
            Step::Call(call) => check_call(components, index, call, &mut wires)?,
            Step::Repeat(repeat) => {
                check_repeat(component, repeated(component, repeats, repeat)?, &mut wires)?;
            }
            Step::Lookup(lookup) => {
                let lookup = looked_up(component, lookup)?;
                component.inputs_of(lookup).iter().try_for_each(|&wire| wires.read(wire))?;
                for i in 0..lookup.output_count {
                    wires.write(lookup.first_output.saturating_add(i))?;
                }
            }
        }
    }
    component.outputs.iter().try_for_each(|&wire| wires.read(wire))
}

/// Checks the lengths of a component's lists, and that every look-up fits a table and finds its
/// inputs.
fn check_lists(component: &Component, tables: &[Table]) -> Result<(), CircuitError> {
    let name = &component.name;
    let reads = component.lookups.iter().map(|lookup| u64::from(lookup.input_count));
    let reads = reads.fold(0, u64::saturating_add);
    let calls = component.calls.len().max(component.repeats.len());
    let args = component.call_args.len().max(component.repeat_args.len());
    let longest = calls.max(args).max(component.lookups.len());
    if reads.max(longest as u64) > MAX_LIST {
        return Err(CircuitError::invalid(format!(
            "component `{name}` has more than 2^31 calls, arguments or inputs of look-ups"
        )));
    }
    for lookup in &component.lookups {
        let table = tables.get(lookup.table as usize).ok_or_else(|| {
            CircuitError::invalid(format!("`{name}` looks up in table {}: none", lookup.table))
        })?;
        if (lookup.input_count, lookup.output_count) != (table.inputs(), table.outputs()) {
            return Err(CircuitError::invalid(format!(
                "`{name}` looks up {} bits by {} in table {}, which has {} by {}",
                lookup.output_count,
                lookup.input_count,
                lookup.table,
                table.outputs(),
                table.inputs()
            )));
        }
        let end = u64::from(lookup.first_input) + u64::from(lookup.input_count);
        if end > component.lookup_inputs.len() as u64 {
            return Err(CircuitError::invalid(format!("`{name}`: look-up inputs out of range")));
        }
    }
    Ok(())
}

/// The shape of a repeat in its component.
struct Shape {
    repeat: Repeat,
    /// How many wires its arguments name.
    read: u64,
    /// How many wires it writes.
    written: u64,
    /// How many bits of the round's number every round gets.
    constants: u64,
}

/// Checks the wires of a repeat.
fn check_repeat(
    component: &Component,
    &Shape { repeat, written, .. }: &Shape,
    wires: &mut Defined<'_>,
) -> Result<(), CircuitError> {
    let ranges = component.args_of(repeat).iter().filter_map(RepeatArg::ranges);
    let mut ranges = ranges.flat_map(|ranges| component.ranges_of(ranges));
    ranges.try_for_each(|range| wires.read_all(range.first, range.len))?;
    // All wires together are at most 2^30 here.
    wires.write_all(repeat.first_output, written as u32)
}

/// Checks the repeats of a component, whether or not steps name them.
fn check_repeats(components: &[Component], index: usize) -> Result<Vec<Shape>, CircuitError> {
    let component = &components[index];
    check_shared(component)?;
    let mut read = 0;
    component.repeats.iter().map(|&repeat| shape(components, index, repeat, &mut read)).collect()
}

/// Refuses repeats that read the lists of their component again and again: the work would grow with
/// the product of three lengths.
fn check_shared(component: &Component) -> Result<(), CircuitError> {
    let more = SHARED_PER_REPEAT * component.repeats.len() as u64;
    let check = |what: &str, named: u64, list: usize| {
        let most = list as u64 + more;
        if named > most {
            return Err(CircuitError::invalid(format!(
                "the repeats of component `{}` name {named} {what}: more than {most}, which are \
                 those in its list and 256 for each repeat",
                component.name
            )));
        }
        Ok(())
    };
    let args = component.repeats.iter().map(|repeat| u64::from(repeat.arg_count));
    check("arguments", args.sum(), component.repeat_args.len())?;
    let args = component.repeats.iter().flat_map(|repeat| arguments(component, *repeat));
    let runs = args.flatten().filter_map(RepeatArg::ranges).map(|ranges| u64::from(ranges.count));
    check("runs of wires", runs.sum(), component.call_args.len())
}

/// Returns the arguments of a repeat, unless they are out of range.
fn arguments(component: &Component, repeat: Repeat) -> Option<&[RepeatArg]> {
    (repeat.first_arg as usize)
        .checked_add(repeat.arg_count as usize)
        .and_then(|end| component.repeat_args.get(repeat.first_arg as usize..end))
}

/// Checks everything of a repeat except the wires that it reads and writes; adds the number of
/// wires read to `read`.
fn shape(
    components: &[Component],
    index: usize,
    repeat: Repeat,
    read: &mut u64,
) -> Result<Shape, CircuitError> {
    let component = &components[index];
    let before = *read;
    let refuse = |what: &str| Err(CircuitError::invalid(format!("`{}`: {what}", component.name)));
    let Some(callee) = components[..index].get(repeat.component as usize) else {
        return refuse("a repeat names a component that is not an earlier one");
    };
    if repeat.count == 0 {
        return refuse("a repeat has no rounds");
    }
    let Some(args) = arguments(component, repeat) else {
        return refuse("a repeat's arguments are out of range");
    };
    let (mut passed, mut carried, mut constants) = (0u64, 0u64, 0u64);
    for arg in args {
        let width = match *arg {
            RepeatArg::Counter { bits: 65.., .. } => {
                return refuse("a repeat's counter has more than 64 bits");
            }
            RepeatArg::Counter { bits, .. } => {
                constants += u64::from(bits);
                bits.into()
            }
            RepeatArg::Fixed(ranges) => count(component, ranges, read)?,
            RepeatArg::Carried(ranges) => {
                let width = count(component, ranges, read)?;
                carried += width;
                width
            }
            RepeatArg::Strided(ranges) => {
                let all = count(component, ranges, read)?;
                if !all.is_multiple_of(repeat.count.into()) {
                    return refuse("a repeat's rounds get different numbers of wires");
                }
                all / u64::from(repeat.count)
            }
        };
        passed += width;
        // The number of bits passed bounds this work, however the arguments overlap.
        if width == 0 || passed > u64::from(callee.inputs) {
            return refuse("a repeat passes a wrong number of wires");
        }
    }
    let outputs = callee.outputs.len() as u64;
    if passed != u64::from(callee.inputs) || carried > outputs {
        return refuse("a repeat passes a wrong number of wires");
    }
    let written = carried + (outputs - carried).saturating_mul(repeat.count.into());
    Ok(Shape { repeat, read: *read - before, written, constants })
}

/// Returns how many wires some ranges have, and adds them to `read`.
fn count(component: &Component, ranges: Ranges, read: &mut u64) -> Result<u64, CircuitError> {
    let before = *read;
    let found = (ranges.first as usize)
        .checked_add(ranges.count as usize)
        .and_then(|end| component.call_args.get(ranges.first as usize..end));
    for range in found.unwrap_or_default() {
        *read += u64::from(range.len);
        if range.len == 0 || *read > MAX_LIST {
            break;
        }
    }
    let empty = found.is_none_or(|found| found.iter().any(|range| range.len == 0));
    if empty || *read > MAX_LIST {
        return Err(CircuitError::invalid(format!(
            "`{}`: the arguments of repeats are out of range, or empty",
            component.name
        )));
    }
    Ok(*read - before)
}

fn repeated<'s>(
    component: &Component,
    repeats: &'s [Shape],
    repeat: u32,
) -> Result<&'s Shape, CircuitError> {
    repeats.get(repeat as usize).ok_or_else(|| {
        CircuitError::invalid(format!("`{}`: no repeat number {repeat}", component.name))
    })
}

fn looked_up(component: &Component, lookup: u32) -> Result<Lookup, CircuitError> {
    component.lookups.get(lookup as usize).copied().ok_or_else(|| {
        CircuitError::invalid(format!("`{}`: no look-up number {lookup}", component.name))
    })
}

/// Checks the wires of a call.
fn check_call(
    components: &[Component],
    index: usize,
    call: u32,
    wires: &mut Defined<'_>,
) -> Result<(), CircuitError> {
    let caller = &components[index];
    let (call, callee) = called(caller, call, index)?;
    let callee = &components[callee.0];
    let args = (call.first_arg as usize)
        .checked_add(call.arg_count as usize)
        .and_then(|end| caller.call_args.get(call.first_arg as usize..end))
        .ok_or_else(|| {
            CircuitError::invalid(format!("`{}`: call arguments out of range", caller.name))
        })?;
    let mut passed = 0u64;
    for range in args {
        // Any number of them would pass no wire, and take time.
        if range.len == 0 {
            return Err(CircuitError::invalid(format!(
                "`{}`: a call has an empty range of wires",
                caller.name
            )));
        }
        passed += u64::from(range.len);
        if passed > u64::from(callee.inputs) {
            break;
        }
        wires.read_all(range.first, range.len)?;
    }
    if passed != u64::from(callee.inputs) {
        return Err(CircuitError::invalid(format!(
            "`{}` calls `{}` with a wrong number of wires ({} expected)",
            caller.name, callee.name, callee.inputs
        )));
    }
    wires.write_all(call.first_output, callee.outputs.len() as u32)
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
        let mut words = vec![0; (component.wires as usize).div_ceil(64)];
        let (full, left) = (component.inputs as usize / 64, component.inputs % 64);
        words[..full].fill(u64::MAX);
        if left > 0 {
            words[full] = (1 << left) - 1;
        }
        Defined { component, words }
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

    /// Reads a run of wires, 64 at a time where it can.
    fn read_all(&self, first: u32, len: u32) -> Result<(), CircuitError> {
        let (mut wire, end) = (u64::from(first), u64::from(first) + u64::from(len));
        while wire < end {
            let aligned = wire.is_multiple_of(64) && wire + 64 <= end;
            if aligned && self.words.get(wire as usize / 64) == Some(&u64::MAX) {
                wire += 64;
            } else {
                self.read(u32::try_from(wire).unwrap_or(u32::MAX))?;
                wire += 1;
            }
        }
        Ok(())
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

    /// Writes a run of wires, 64 at a time where it can.
    fn write_all(&mut self, first: u32, len: u32) -> Result<(), CircuitError> {
        let (mut wire, end) = (u64::from(first), u64::from(first) + u64::from(len));
        let wires = u64::from(self.component.wires);
        while wire < end {
            let aligned = wire.is_multiple_of(64) && wire + 64 <= end.min(wires);
            if aligned && self.words[wire as usize / 64] == 0 {
                self.words[wire as usize / 64] = u64::MAX;
                wire += 64;
            } else {
                self.write(u32::try_from(wire).unwrap_or(u32::MAX))?;
                wire += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
