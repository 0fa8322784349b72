//! Functions that are components: each is written once, and called. A call whose arguments have
//! constant bits may call a component of its own, in which they are constants: what they decide
//! takes no gates there.

use std::collections::HashMap;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, ComponentBuilder, Subcircuit, Word};

use super::{Done, EFFORT, Failed, Lower, MAX_STEPS, Machine, Never, calls, local_type};
use crate::diag::Code;
use crate::ids::InstanceId;
use crate::tir::Instance;

/// A function without AND gates becomes a component if it has this many steps, or calls others.
const LINEAR_STEPS: u64 = 1 << 16;

/// A function is written at most this often for other constants in its arguments.
const MOST_VARIANTS: usize = 16;

/// Arguments of more bits are not looked at for constants.
const MOST_BITS: usize = 1 << 14;

/// Writing functions again for constants takes at most this many steps, which do not count to
/// those of the program: what compiles without them compiles with them.
const STEPS: u64 = MAX_STEPS / 8;

/// A component for constants saves at least one in this many ANDs. Of a function that the program
/// marks, one in [`MARKED`]: the more copies of one component there are, the less each takes in
/// protocols that choose at random among copies.
const SAVES: u64 = 64;

/// See [`SAVES`].
const MARKED: u64 = 8;

/// A component, whether it can fail, and an assert in it that always does.
#[derive(Clone)]
pub(super) struct Finished {
    pub(super) body: Subcircuit,
    pub(super) fails: bool,
    pub(super) never: Option<Never>,
    lookups: u64,
    /// Whether calls of it are better than its gates written out each time.
    is_worth_calls: bool,
    /// Whether it has XORs alone, and is called to save them where no argument has constant bits.
    is_linear: bool,
    /// How many steps it took to write it, with what it calls.
    steps: u64,
}

/// The bits of a call's arguments: the constants are known.
type Known = Box<[Option<bool>]>;

/// How a function is called whose arguments have constants.
#[derive(Clone)]
enum Variant {
    /// As without constants.
    General,
    /// It is written out.
    WrittenOut,
    /// As a component, whose inputs are the bits that are no constants.
    Own(Finished),
}

/// The functions that were asked for as components.
#[derive(Default)]
pub(super) struct Components {
    /// `None` for what is written out where it is called.
    general: HashMap<InstanceId, Option<Finished>>,
    variants: HashMap<InstanceId, HashMap<Known, Variant>>,
    /// The steps that variants have taken.
    steps: u64,
    /// The functions that were components, once these have been let go.
    functions: Vec<InstanceId>,
}

impl Lower<'_> {
    /// Returns the component that a call is of, and its arguments; `None` for what is written out.
    pub(super) fn called(
        &mut self,
        place: InstanceId,
        whole: bool,
        args: &[Word],
    ) -> Done<Option<(Finished, Vec<Word>)>> {
        let Some(general) = self.component(place, whole)? else { return Ok(None) };
        let bits: usize = args.iter().map(Word::width).sum();
        let known = || args.iter().flat_map(|arg| arg.iter().map(|bit| bit.as_constant()));
        if args.iter().all(|arg| arg.constant_bits() == 0) {
            return Ok(Some((general, args.to_vec())));
        }
        if general.is_linear {
            return Ok(None);
        }
        let variant = match bits {
            ..=MOST_BITS => self.variant(place, known().collect(), &general)?,
            _ => Variant::General,
        };
        Ok(match variant {
            Variant::General => Some((general, args.to_vec())),
            Variant::WrittenOut => None,
            Variant::Own(component) => {
                let bits = args.iter().flat_map(|arg| arg.iter().copied());
                let open: Word = bits.filter(|bit| bit.as_constant().is_none()).collect();
                Some((component, vec![open]))
            }
        })
    }

    /// Returns the component of an instance, if it is one.
    fn component(&mut self, place: InstanceId, whole: bool) -> Done<Option<Finished>> {
        let instance = self.instance(place)?;
        if self.is_inline(&instance) || (whole && !instance.component) {
            return Ok(None);
        }
        if !instance.component && self.facts.counts.get(&place).copied().unwrap_or(0) < 2 {
            return Ok(None);
        }
        if let Some(known) = self.components.general.get(&place) {
            return Ok(known.clone());
        }
        let mut builder = ComponentBuilder::new(instance.name.clone());
        let widths = self.widths(&instance);
        let args: Vec<Word> = widths.iter().map(|&width| builder.input(width)).collect();
        let finished = self.write(place, &instance, builder, args)?;
        let finished = Some(finished).filter(|finished| finished.is_worth_calls);
        self.components.general.insert(place, finished.clone());
        Ok(finished)
    }

    /// Lets all components go, so that those of the circuit are moved into it and not copied.
    pub(super) fn drop_components(&mut self) {
        let general = self.components.general.iter();
        let mut functions: Vec<InstanceId> =
            general.filter(|(_, finished)| finished.is_some()).map(|(place, _)| *place).collect();
        functions.sort_unstable();
        self.components = Components { functions, ..Components::default() };
        self.shared.selectors.clear();
        self.shared.adders.clear();
    }

    /// Returns the functions of a finished entry that are components, in order.
    pub(super) fn called_functions(&self) -> &[InstanceId] {
        &self.components.functions
    }

    /// Returns how a function is called with these constants.
    fn variant(&mut self, place: InstanceId, known: Known, general: &Finished) -> Done<Variant> {
        let variants = self.components.variants.entry(place).or_default();
        if let Some(variant) = variants.get(&known) {
            return Ok(variant.clone());
        }
        let number = variants.len() + 1;
        if number > MOST_VARIANTS || self.components.steps + general.steps > STEPS {
            return Ok(Variant::General);
        }
        let instance = self.instance(place)?;
        let errors = self.errors.clone();
        let (steps, further) = (self.spent.steps, self.spent.further);
        // A component that is written later has the effort that it would have had.
        let effort = std::mem::replace(&mut self.spent.effort, EFFORT / 8);
        let written = self.write_variant(place, &instance, number, &known);
        self.components.steps += self.spent.steps - steps;
        (self.spent.steps, self.spent.further, self.spent.effort) = (steps, further, effort);
        let variant = match written {
            // What the general component does not report is no error.
            Err(Failed) => {
                *self.errors = errors;
                Variant::General
            }
            Ok(variant) if !variant.saves(general, &instance) => Variant::General,
            Ok(variant) if variant.is_worth_calls => Variant::Own(variant),
            Ok(_) => Variant::WrittenOut,
        };
        self.components.variants.entry(place).or_default().insert(known, variant.clone());
        Ok(variant)
    }

    fn write_variant(
        &mut self,
        place: InstanceId,
        instance: &Instance,
        number: usize,
        known: &[Option<bool>],
    ) -> Done<Finished> {
        // Its loops are components of other names, too.
        let name = format!("{} with constants {number}", instance.name);
        let mut builder = ComponentBuilder::new(name.clone());
        let open = builder.input(known.iter().filter(|bit| bit.is_none()).count());
        let mut open = open.iter().copied();
        let mut bits = known.iter().map(|known| match known {
            Some(true) => Bit::ONE,
            Some(false) => Bit::ZERO,
            None => open.next().unwrap_or(Bit::ZERO),
        });
        let widths = self.widths(instance);
        let args = widths.iter().map(|&width| bits.by_ref().take(width).collect()).collect();
        let instance = Rc::new(Instance { name, ..(*instance).clone() });
        self.write(place, &instance, builder, args)
    }

    /// Writes a function as a component whose inputs so far are the open bits of the arguments.
    fn write(
        &mut self,
        place: InstanceId,
        instance: &Rc<Instance>,
        mut builder: ComponentBuilder,
        args: Vec<Word>,
    ) -> Done<Finished> {
        let before = self.spent.steps;
        let open = args.iter().map(|arg| arg.width() - arg.constant_bits()).sum::<usize>();
        let fails = calls::fails(self, place);
        let alive = if fails { builder.input(1)[0] } else { Bit::ONE };
        let mut machine = Machine::new(self, &mut builder, instance.component);
        machine.path.push((alive, Some(alive)));
        machine.given = 1;
        let result = machine.function(instance.clone(), args)?;
        let never = machine.failure.never;
        let (failed, code, booked) = machine.into_parts();
        builder.output(&result);
        let mut outputs = if self.costs.is_some() { result.to_vec() } else { Vec::new() };
        if fails {
            builder.output(&[failed]);
            builder.output(&code);
            outputs.push(failed);
            outputs.extend_from_slice(&code);
        }
        let width = result.width();
        drop(result);
        let lookups = builder.lookup_count();
        let (body, costs) = match self.finish(builder, (booked, instance.span), &outputs) {
            Ok(finished) => finished,
            Err(error) => return self.error(Code::Limit, instance.span, error.to_string()),
        };
        let ands = body.and_count();
        let port_bits = open + width;
        let saves_ands = ands >= 512 && ands >= 2 * port_bits as u64;
        let is_large = body.has_calls() || body.own_steps() >= LINEAR_STEPS;
        let is_linear = !instance.component && ands == 0 && is_large;
        let is_worth_calls = instance.component || saves_ands || is_linear;
        if let (Some(all), true) = (&mut self.costs, is_worth_calls) {
            all.components.push((instance.name.clone(), costs));
        }
        let steps = self.spent.steps.saturating_sub(before);
        Ok(Finished { body, fails, never, lookups, is_worth_calls, is_linear, steps })
    }

    pub(super) fn widths(&self, instance: &Instance) -> Vec<usize> {
        let width = |&param| self.tir.shapes.width(local_type(instance, param)) as usize;
        instance.params.iter().map(width).collect()
    }
}

impl Finished {
    /// Returns whether a component for constants is to be called in the place of the general one.
    fn saves(&self, general: &Finished, instance: &Instance) -> bool {
        let part = if instance.component { MARKED } else { SAVES };
        let (ands, all) = (self.body.and_count(), general.body.and_count());
        all.saturating_sub(ands) >= (all / part).max(1) && self.lookups <= general.lookups
    }
}
