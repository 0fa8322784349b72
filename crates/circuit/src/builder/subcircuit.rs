//! Components: parts of a circuit that are written once and called many times.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use super::bit::{Bit, Word};
use super::gates::Gates;
use super::improve::improve;
use super::sweep::{Swept, sweep};
use crate::{Call, CircuitError, Component, Program, Table, WireRange};

/// A finished component, to be called by [`Gates::call`]; cheap to clone.
///
/// However often it is called, directly or through other components, the finished circuit holds it
/// once. Two components built separately stay two, even if they compute the same.
#[derive(Clone)]
pub struct Subcircuit(Arc<Definition>);

struct Definition {
    /// Its calls name components by their places in `callees`.
    component: Component,
    callees: Vec<Subcircuit>,
    /// Its look-ups name tables by their places in this list.
    tables: Vec<Table>,
    input_widths: Vec<usize>,
    output_widths: Vec<usize>,
    ands: u64,
    /// Worked out when it is asked for.
    depth: OnceLock<u32>,
}

impl Subcircuit {
    /// The number of AND gates that a call computes, look-ups not counted.
    pub fn and_count(&self) -> u64 {
        self.0.ands
    }

    /// The most AND gates and look-ups on any path through a call, its inputs being all there at
    /// once.
    pub fn depth(&self) -> u32 {
        let Definition { component, callees, .. } = &*self.0;
        *self.0.depth.get_or_init(|| super::profile::depth(component, callees))
    }

    /// The number of its own AND gates and look-ups, without those of its callees.
    pub fn own_gates(&self) -> u64 {
        super::own_ands(&self.0.component) + self.0.component.lookups.len() as u64
    }

    /// Whether it calls other components.
    pub fn has_calls(&self) -> bool {
        !self.0.component.is_leaf()
    }

    /// The bits of its inputs and outputs together.
    pub fn port_bits(&self) -> u64 {
        u64::from(self.0.component.inputs) + u64::from(self.output_bits())
    }

    /// An address that no other component has while this one lives.
    fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// The component itself, with calls that mean nothing outside.
    pub(crate) fn component(&self) -> &Component {
        &self.0.component
    }

    /// The bits of its inputs.
    pub(super) fn input_bits(&self) -> u32 {
        self.0.component.inputs
    }

    pub(super) fn output_bits(&self) -> u32 {
        self.0.component.outputs.len() as u32
    }
}

impl std::fmt::Debug for Subcircuit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Subcircuit({}, {} ANDs)", self.0.component.name, self.0.ands)
    }
}

/// Builds a component: a part of a circuit that is written once and called many times.
///
/// All gates come from [`Gates`], to which it dereferences.
pub struct ComponentBuilder {
    name: String,
    gates: Gates,
    input_widths: Vec<usize>,
    output_widths: Vec<usize>,
    outputs: Vec<Bit>,
}

impl ComponentBuilder {
    /// A component without inputs, gates or outputs. The name is for people.
    pub fn new(name: impl Into<String>) -> ComponentBuilder {
        ComponentBuilder {
            name: name.into(),
            gates: Gates::new(),
            input_widths: Vec::new(),
            output_widths: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// The next input, `width` bits wide.
    ///
    /// # Panics
    /// When `width` is 2^31 or more.
    pub fn input(&mut self, width: usize) -> Word {
        self.input_widths.push(width);
        self.gates.input_wires(input_width(width as u64))
    }

    /// Makes `word` the next output.
    pub fn output(&mut self, word: &[Bit]) {
        self.output_widths.push(word.len());
        self.outputs.extend_from_slice(word);
    }

    /// The finished component, without the gates that reach no output.
    ///
    /// # Errors
    /// [`CircuitError::Invalid`] when it has more than about 2^31 wires.
    pub fn finish(self) -> Result<Subcircuit, CircuitError> {
        let swept = sweep(self.gates, self.name, &self.outputs)?;
        Ok(Self::finished(swept, self.input_widths, self.output_widths))
    }

    /// As [`finish`](Self::finish), with fewer AND gates where rewriting finds a way; see
    /// [`optimise`](crate::optimise()). Components of more than 2^18 steps stay as they are.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_optimised(self) -> Result<Subcircuit, CircuitError> {
        let swept = improve(sweep(self.gates, self.name, &self.outputs)?)?;
        Ok(Self::finished(swept, self.input_widths, self.output_widths))
    }

    fn finished(
        Swept { component, callees, tables }: Swept,
        mut input_widths: Vec<usize>,
        output_widths: Vec<usize>,
    ) -> Subcircuit {
        let further = component.inputs as usize - input_widths.iter().sum::<usize>();
        input_widths.extend((further > 0).then_some(further));
        let ands = all_ands(&component, &callees);
        let depth = OnceLock::new();
        let definition =
            Definition { component, callees, tables, input_widths, output_widths, ands, depth };
        Subcircuit(Arc::new(definition))
    }
}

impl Deref for ComponentBuilder {
    type Target = Gates;

    fn deref(&self) -> &Gates {
        &self.gates
    }
}

impl DerefMut for ComponentBuilder {
    fn deref_mut(&mut self) -> &mut Gates {
        &mut self.gates
    }
}

/// A component's AND gates, those of its calls included.
pub(super) fn all_ands(component: &Component, callees: &[Subcircuit]) -> u64 {
    let used =
        component.uses().map(|(used, times)| callees[used as usize].0.ands.saturating_mul(times));
    used.fold(super::own_ands(component), u64::saturating_add)
}

/// A width as a number of wires.
pub(super) fn input_width(width: u64) -> u32 {
    assert!(width < 1 << 31, "an input of {width} bits is too wide for a circuit");
    width as u32
}

impl Gates {
    /// Calls a component: one argument for each of its inputs, one word for each of its outputs.
    ///
    /// The call stays a call in the finished circuit; nothing folds across its borders, so
    /// constants are better built into a component than passed to it.
    ///
    /// `finish` reports arguments whose number or widths are not those of the component's inputs.
    pub fn call(&mut self, callee: &Subcircuit, args: &[&[Bit]]) -> Vec<Word> {
        let definition = &*callee.0;
        let (widths, given): (_, Vec<usize>) =
            (&definition.input_widths, args.iter().map(|arg| arg.len()).collect());
        if given != *widths {
            let name = &definition.component.name;
            self.note_mismatch(|| {
                format!("`{name}` takes words of {widths:?} bits, not {given:?}")
            });
            return definition.output_widths.iter().map(|&width| Word::zero(width)).collect();
        }
        let first_arg = self.call_args.len();
        for &arg in args {
            for &bit in arg {
                let wire = self.materialise(bit);
                WireRange::push(&mut self.call_args, first_arg, wire);
            }
        }
        let fits = u32::try_from(self.call_args.len()).is_ok();
        self.too_large |= !fits;
        let bits = callee.output_bits();
        let Some(first_output) = self.allocate(bits) else {
            let dead = |&width| std::iter::repeat_n(Bit::of_wire(0), width).collect();
            return definition.output_widths.iter().map(dead).collect();
        };
        let call = Call {
            component: self.callee_index(callee),
            first_arg: first_arg as u32,
            arg_count: (self.call_args.len() - first_arg) as u32,
            first_output,
        };
        self.call_step(call, definition.ands);
        let mut wires = (first_output..first_output + bits).map(Bit::of_wire);
        let widths = definition.output_widths.iter();
        widths.map(|&width| wires.by_ref().take(width).collect()).collect()
    }

    /// Like [`call`](Self::call), for components with one output.
    ///
    /// # Panics
    /// As [`call`](Self::call), and when the component has not exactly one output.
    pub fn call_one(&mut self, callee: &Subcircuit, args: &[&[Bit]]) -> Word {
        let [word] = <[Word; 1]>::try_from(self.call(callee, args)).expect("one output");
        word
    }

    /// As [`call`](Self::call), with all arguments in one word, and all outputs.
    ///
    /// # Panics
    /// When the word has another width than the component's inputs together.
    pub fn call_flat(&mut self, callee: &Subcircuit, args: &[Bit]) -> Word {
        let mut rest = args;
        let widths = callee.0.input_widths.iter();
        let args: Vec<&[Bit]> = widths
            .map(|&width| {
                let (arg, others) = rest.split_at(width);
                rest = others;
                arg
            })
            .collect();
        assert!(rest.is_empty(), "more bits than the component's inputs have");
        Word::join(&self.call(callee, &args))
    }

    pub(super) fn callee_index(&mut self, callee: &Subcircuit) -> u32 {
        *self.callee_places.entry(callee.identity()).or_insert_with(|| {
            self.callees.push(callee.clone());
            self.callees.len() as u32 - 1
        })
    }
}

/// The program of a main component and all that it calls, each once, callees first; and all tables,
/// each once.
pub(super) fn link(main: Swept) -> Program {
    let mut linker = Linker::default();
    let Swept { mut component, callees, tables } = main;
    linker.relocate(&mut component, &callees, &tables);
    linker.program.components.push(component);
    linker.program
}

#[derive(Default)]
struct Linker {
    program: Program,
    places: HashMap<usize, u32>,
    tables: HashMap<Table, u32>,
}

impl Linker {
    fn relocate(&mut self, component: &mut Component, callees: &[Subcircuit], tables: &[Table]) {
        let places: Vec<u32> = callees.iter().map(|callee| self.place(callee)).collect();
        for call in &mut component.calls {
            call.component = places[call.component as usize];
        }
        for repeat in &mut component.repeats {
            repeat.component = places[repeat.component as usize];
        }
        let places: Vec<u32> = tables.iter().map(|table| self.table(table)).collect();
        for lookup in &mut component.lookups {
            lookup.table = places[lookup.table as usize];
        }
    }

    fn place(&mut self, subcircuit: &Subcircuit) -> u32 {
        if let Some(&place) = self.places.get(&subcircuit.identity()) {
            return place;
        }
        let definition = &*subcircuit.0;
        let mut component = definition.component.clone();
        self.relocate(&mut component, &definition.callees, &definition.tables);
        let place = self.program.components.len() as u32;
        self.program.components.push(component);
        self.places.insert(subcircuit.identity(), place);
        place
    }

    fn table(&mut self, table: &Table) -> u32 {
        let Linker { program, tables, .. } = self;
        *tables.entry(table.clone()).or_insert_with(|| {
            program.tables.push(table.clone());
            program.tables.len() as u32 - 1
        })
    }
}
