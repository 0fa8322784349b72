//! Instances of functions to gates.
//!
//! A value is its bits, side by side as in [`crate::ty::Shape`]. For a secret choice all arms are
//! written, and what they changed is selected. Leaving a function or a loop sets a flag, and what
//! follows becomes an arm of a choice on that flag.

mod addends;
mod body;
mod bounds;
mod calls;
mod choice;
mod clients;
mod components;
mod control;
mod copies;
mod count;
mod derived;
mod entry;
mod eval;
mod exclude;
mod fits;
mod flat;
mod float;
mod hidden;
mod joined;
mod kept;
mod known;
mod least;
mod merge;
mod ops;
mod outer;
mod pace;
mod places;
mod ports;
mod repeat;
mod scatter;
mod select;
mod state;
mod sums;
mod trial;
mod tries;
mod vast;
mod wide;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use symbolon_circuit::CircuitError;
use symbolon_circuit::builder::{Bit, ComponentBuilder, Gates, Profile, Subcircuit, Trace, Word};

use crate::cost::{Costs, Totals};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ids::{ExprId, InstanceId};
use crate::source::Span;
use crate::tir::{Expr, Instance, Local, MAX_DEEP, MAX_DEPTH, TOO_DEEP, Tir};
use crate::ty::TyId;
use crate::walk::assigned;

use kept::Kept;
use state::Frame;

pub use calls::cycle;
pub use count::one_call;
pub use entry::{Entry, EntryInput, EntryOutput, InputKind, OutputKind, port_type};
pub use hidden::lower_entry;
pub use ports::lower_entry_as_repeats;

/// A component has at most this many wires beside its inputs while it is built.
const MAX_WIRES: u32 = 1 << 27;

/// The gates of a component take at most this many bytes while it is built.
const MAX_MEMORY: u64 = 1 << 30;

/// A gate takes this many bytes.
const GATE: u64 = 24;

/// Lowering takes at most this many steps: below two seconds. A gate that is asked for is one,
/// whether or not it exists already.
const MAX_STEPS: u64 = 1 << 25;

/// The number of steps that an expression counts as.
const EXPRESSION: u64 = 4;

/// The number of steps that a call counts as that is written out, apart from what it writes.
const CALL: u64 = 64;

/// A component may have this many XORs, and [`LINEAR_PER_AND`] for each of its ANDs. Each XOR
/// beyond counts as [`LINEAR`] further steps.
const FREE_LINEAR: u64 = 1 << 20;

/// See [`FREE_LINEAR`]. An addition has four XORs for each AND.
const LINEAR_PER_AND: u64 = 4;

/// See [`FREE_LINEAR`].
const LINEAR: u64 = 2;

/// Each gate beyond this many in a component counts as [`FAR`] further steps: equal gates are
/// looked up in a table that no longer fits into the caches.
const CROWD: u64 = 1 << 21;

/// See [`CROWD`].
const FAR: u64 = 3;

/// Rewriting for fewer ANDs looks at this many gates of all components; what is built afterwards
/// stays as it is.
const EFFORT: u64 = 1 << 22;

/// Copying this many bits counts as a step.
const COPIED: usize = 256;

/// An error that has already been reported.
pub struct Failed;

type Done<T> = Result<T, Failed>;

/// An assert that fails whenever the component that has it is called: its number, and its place.
type Never = (u32, Span);

/// What is common to all components of a program.
pub struct Lower<'a> {
    tir: &'a Tir,
    errors: &'a mut Diagnostics,
    facts: Facts,
    repeats: Repeats,
    components: components::Components,
    shared: Shared,
    code_bits: usize,
    spent: Spent,
    /// A function that is written out, though nothing marks it.
    written_out: Option<Span>,
    /// AND gates by place, if requested.
    pub costs: Option<Costs>,
}

/// What has been found out about the program.
#[derive(Default)]
struct Facts {
    /// How often each instance is called; 2 means twice or more.
    counts: HashMap<InstanceId, u8>,
    fails: HashMap<InstanceId, bool>,
    least: least::Least,
    assigned: HashMap<ExprId, Rc<[Local]>>,
    /// Which arms of a `match` exclude all before, by the first arm's body.
    excludes: HashMap<ExprId, Rc<[bool]>>,
    /// Whether bodies of loops call what may be a component, also by whether unmarked functions are
    /// written out.
    may_call: HashMap<(ExprId, bool), bool>,
}

/// Which loops are repeats of calls.
#[derive(Default)]
struct Repeats {
    /// The bodies of loops that cannot be.
    refused: HashSet<ExprId>,
    /// Whether every loop that can be one is one.
    all: bool,
    /// How many loops of each function are.
    loops: HashMap<String, u32>,
}

/// Components that no function of the program is.
#[derive(Default)]
struct Shared {
    /// Those that select among two words: by their width, and by the place that asks.
    selectors: HashMap<(usize, Span), Subcircuit>,
    /// Those that add blocks of numbers.
    adders: HashMap<sums::AdderKey, sums::Adder>,
}

/// What the lowering has taken of that for which there is a limit.
struct Spent {
    steps: u64,
    /// The steps among them that are counted for many gates.
    further: u64,
    /// What is left of [`EFFORT`].
    effort: u64,
    /// How many expressions are being written, one within the other, in all components.
    deep: u32,
}

/// What is booked for a component under construction.
#[derive(Default)]
struct Booked {
    places: HashMap<Span, Totals>,
    marks: Vec<(u32, Span)>,
}

impl Booked {
    /// Returns what each place is responsible for in the finished component, of which the profile
    /// was taken before; inputs are booked to `start`.
    fn finished(self, profile: Profile, trace: &Trace, start: Span) -> HashMap<Span, Totals> {
        let Booked { mut places, marks } = self;
        let mut add = |wire: u32, more: Totals| {
            let span = match marks.partition_point(|(first, _)| *first <= wire) {
                0 => start,
                after => marks[after - 1].1,
            };
            // Gates outside of any expression belong to the function.
            let span = if span == Span::default() { start } else { span };
            *places.entry(span).or_default() += more;
        };
        for &(wire, depth) in &profile.path {
            add(wire, Totals { depth: depth.into(), ..Totals::default() });
        }
        let nothing = Totals::default();
        let all = [
            (&profile.live, Totals { live_wires: 1, ..nothing }),
            (&trace.ands, Totals { ands: 1, ..nothing }),
            (&trace.lookups, Totals { lookups: 1, ..nothing }),
            (&trace.xors, Totals { glue: 1, ..nothing }),
        ];
        for (wires, one) in all {
            wires.iter().for_each(|&wire| add(wire, one));
        }
        places
    }
}

/// Writes one component.
struct Machine<'l, 'a, 'g> {
    lower: &'l mut Lower<'a>,
    gates: &'g mut Gates,
    failure: Failure,
    /// The surrounding secret choices, each with the conjunction of all up to it once that is
    /// needed.
    path: Vec<(Bit, Option<Bit>)>,
    /// How many of these choices the caller made: one in a component.
    given: usize,
    /// Whether unmarked functions are written out, as in a marked component.
    whole: bool,
    depth: u32,
    counts: Counts,
    told: Told,
    reuse: Reuse,
    booking: Booking,
}

/// Whether an assert has failed, and which.
struct Failure {
    failed: Bit,
    /// The number of the first that did, plus one.
    code: Word,
    /// An assert that always fails.
    never: Option<Never>,
}

/// What a component has asked for so far.
#[derive(Default)]
struct Counts {
    /// How many calls and repeats there are that can fail.
    failing_calls: u64,
    /// How many choices of `if` and `match` were known while compiling.
    choices: u64,
    /// The gates asked for that are counted as steps.
    asked: u64,
    /// The further steps that are counted for gates that were made.
    further: u64,
}

/// Of which values a choice is one.
#[derive(Default)]
struct Told {
    /// Whether the next choice tells it.
    wanted: bool,
    /// The value of the last choice that told, and of which values it is one.
    values: Option<(Word, state::Group)>,
}

/// What has been written, and is taken where it is asked for again.
#[derive(Default)]
struct Reuse {
    waiting: addends::Waiting,
    derived: derived::Derived,
    /// Results of functions that were written out.
    kept: Kept,
    /// Sums of very many numbers.
    sums: HashMap<sums::Summed, Word>,
    /// The numbers that were compared, each with whether the first is less than the second.
    compared: HashMap<[Word; 2], Bit>,
}

/// Which place of the text pays for gates.
#[derive(Default)]
struct Booking {
    /// What is asked for by place, the current place, and the AND gates when it was entered.
    costs: HashMap<Span, Totals>,
    at: Span,
    since: u64,
    /// Where the place changed: the wires from there on, and the new place.
    marks: Vec<(u32, Span)>,
}

impl<'a> Lower<'a> {
    /// Returns the lowering of a checked program from this instance on.
    pub fn new(tir: &'a Tir, errors: &'a mut Diagnostics, entry: InstanceId) -> Self {
        let counts = calls::count(tir, entry);
        let last = tir.asserts.len().checked_sub(1);
        let code_bits = last.map_or(0, |last| assert_number(last as u32).ilog2() as usize + 1);
        Lower {
            tir,
            errors,
            facts: Facts { counts, ..Facts::default() },
            repeats: Repeats::default(),
            components: components::Components::default(),
            shared: Shared::default(),
            code_bits,
            spent: Spent { steps: 0, further: 0, effort: EFFORT, deep: 0 },
            written_out: None,
            costs: None,
        }
    }

    fn error<T>(&mut self, code: Code, span: Span, message: impl Into<String>) -> Done<T> {
        self.errors.push(Diagnostic::new(code, span, message));
        Err(Failed)
    }

    /// Refuses an index that is known to be beyond an array.
    fn beyond_array<T>(&mut self, at: u128, len: u64, span: Span) -> Done<T> {
        let message = format!("the index is {at}, the array has {len} elements");
        let help = match len.checked_sub(1) {
            Some(last) => format!("the first element has the index 0, the last {last}"),
            None => "an array without elements has no index".to_string(),
        };
        self.errors.push(Diagnostic::new(Code::Constant, span, message).help(help));
        Err(Failed)
    }

    /// Returns whether a function is written out where it is called, whatever that takes.
    fn is_inline(&self, instance: &Instance) -> bool {
        instance.inline || self.written_out == Some(instance.span)
    }

    /// Finishes a component with these outputs; also returns what each place is responsible for, if
    /// that is asked for.
    fn finish(
        &mut self,
        mut builder: ComponentBuilder,
        (booked, start): (Booked, Span),
        outputs: &[Bit],
    ) -> Result<(Subcircuit, HashMap<Span, Totals>), CircuitError> {
        if self.costs.is_none() {
            return Ok((builder.finish_within(&mut self.spent.effort)?, HashMap::new()));
        }
        let profile = builder.profile(outputs);
        let (body, trace) = builder.finish_traced(&mut self.spent.effort)?;
        Ok((body, booked.finished(profile, &trace, start)))
    }

    fn instance(&mut self, place: InstanceId) -> Done<Rc<Instance>> {
        self.tir.instances.get(place).cloned().flatten().ok_or(Failed)
    }
}

/// Returns the number of an assert in the output that reports failures, by its place in
/// [`Tir::asserts`]: the numbers with an odd number of bits that are 1, in order. So the sum of the
/// output's bits tells whether any assert failed, which
/// [`certain_failures`](symbolon_circuit::certain_failures) relies on.
pub fn assert_number(place: u32) -> u64 {
    let place = u64::from(place);
    2 * place + u64::from(place.count_ones() % 2 == 0)
}

/// Returns the place of the assert with a number in the output that reports failures; 0 is none.
pub fn assert_place(number: usize) -> Option<usize> {
    (number > 0).then_some(number / 2)
}

/// Returns the type of a variable.
fn local_type(instance: &Instance, local: Local) -> TyId {
    instance.types[instance.locals[local as usize].1 as usize]
}

impl<'l, 'a, 'g> Machine<'l, 'a, 'g> {
    fn new(lower: &'l mut Lower<'a>, gates: &'g mut Gates, whole: bool) -> Self {
        let code = Word::zero(lower.code_bits);
        let gates_asked = gates.asked();
        Machine {
            lower,
            gates,
            failure: Failure { failed: Bit::ZERO, code, never: None },
            path: Vec::new(),
            given: 0,
            whole,
            depth: 0,
            counts: Counts { asked: gates_asked, ..Counts::default() },
            told: Told::default(),
            reuse: Reuse::default(),
            booking: Booking::default(),
        }
    }

    /// Returns whether an assert failed, which one, and the gates by place.
    fn into_parts(mut self) -> (Bit, Word, Booked) {
        self.account(Span::default());
        self.count_gates();
        let Machine { failure, booking, .. } = self;
        let booked = Booked { places: booking.costs, marks: booking.marks };
        (failure.failed, failure.code, booked)
    }

    /// Books the gates made since the last call to the current place, moves to `next`, and returns
    /// the old place.
    fn account(&mut self, next: Span) -> Span {
        if self.lower.costs.is_none() {
            return next;
        }
        let now = self.gates.own_and_count();
        if now != self.booking.since {
            self.booking.costs.entry(self.booking.at).or_default().asked +=
                now - self.booking.since;
        }
        self.booking.since = now;
        let wire = self.gates.next_wire();
        match self.booking.marks.last_mut() {
            Some(last) if last.0 == wire => last.1 = next,
            _ => self.booking.marks.push((wire, next)),
        }
        std::mem::replace(&mut self.booking.at, next)
    }

    /// Books costs that are not gates to a place.
    fn book(&mut self, at: Span, more: Totals) {
        if self.lower.costs.is_some() {
            *self.booking.costs.entry(at).or_default() += more;
        }
    }

    fn width(&self, ty: TyId) -> usize {
        self.lower.tir.shapes.width(ty) as usize
    }

    fn step(&mut self, span: Span) -> Done<()> {
        self.lower.spent.steps += EXPRESSION;
        self.count_gates();
        if self.lower.spent.steps > MAX_STEPS {
            return self.beyond(false, span);
        }
        self.room(0, span)
    }

    /// Counts the gates that were asked for since the last call.
    fn count_gates(&mut self) {
        let asked = self.gates.asked();
        self.lower.spent.steps += asked - std::mem::replace(&mut self.counts.asked, asked);
        let (ands, xors) = (self.gates.own_and_count(), self.gates.xor_count());
        let linear = xors.saturating_sub(FREE_LINEAR + LINEAR_PER_AND * ands);
        let further = LINEAR * linear + FAR * (ands + xors).saturating_sub(CROWD);
        // An AND may bring back what was counted for XORs.
        let more = further.saturating_sub(self.counts.further);
        self.lower.spent.steps += more;
        self.lower.spent.further += more;
        self.counts.further = self.counts.further.max(further);
    }

    /// Counts the copying of this many bits.
    fn copied(&mut self, bits: usize) {
        self.lower.spent.steps += (bits / COPIED) as u64;
    }

    /// Writes a part within the current one, unless it is too deep for the stack.
    fn deeper<T>(&mut self, span: Span, part: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        if self.lower.spent.deep >= MAX_DEEP {
            return self.lower.error(Code::Limit, span, TOO_DEEP);
        }
        self.lower.spent.deep += 1;
        let done = part(self);
        self.lower.spent.deep -= 1;
        done
    }

    /// Refuses what would make more gates than a component may have, or take too many steps, before
    /// it makes them.
    fn room(&mut self, gates: u64, span: Span) -> Done<()> {
        if self.lower.spent.steps.saturating_add(gates) > MAX_STEPS {
            return self.beyond(false, span);
        }
        if u64::from(self.gates.wire_count()).saturating_add(gates) > u64::from(MAX_WIRES) {
            return self.beyond(true, span);
        }
        if self.gates.memory().saturating_add(gates.saturating_mul(GATE)) > MAX_MEMORY {
            return self.beyond(true, span);
        }
        Ok(())
    }

    /// Reports too many wires or too much memory, or else too many steps.
    fn beyond(&mut self, wires: bool, span: Span) -> Done<()> {
        let message = if wires {
            "this makes the circuit larger than 2^27 wires in one component, or than 1 GiB"
        } else {
            "the program takes more than 2^25 steps to compile"
        };
        let error = Diagnostic::new(Code::Limit, span, message);
        self.lower.errors.push(error.help(
            "what is done often takes one step as a loop whose rounds differ only in their \
             elements, or as a function marked `#[component]`",
        ));
        Err(Failed)
    }

    /// Returns whether all surrounding choices are taken.
    fn alive(&mut self) -> Bit {
        let known = self.path.iter().rposition(|(_, product)| product.is_some());
        let mut product = known.and_then(|place| self.path[place].1).unwrap_or(Bit::ONE);
        for place in known.map_or(0, |place| place + 1)..self.path.len() {
            product = self.gates.and_bit(product, self.path[place].0);
            self.path[place].1 = Some(product);
        }
        product
    }

    /// Returns whether this place is reached whenever the component is called.
    fn is_certain(&self) -> bool {
        self.path[self.given..].iter().all(|(bit, _)| *bit == Bit::ONE)
    }

    /// Notes that an assert fails whenever the component is called, or reports it where nothing
    /// decides whether that is.
    fn never_holds(&mut self, (text, span): Never) -> Done<()> {
        if self.given > 0 {
            self.failure.never.get_or_insert((text, span));
            return Ok(());
        }
        let text = &self.lower.tir.asserts[text as usize].0;
        self.lower.error(Code::Constant, span, format!("this never holds: {text}"))
    }

    /// Calls a function by writing it out here.
    fn function(&mut self, instance: Rc<Instance>, args: Vec<Word>) -> Done<Word> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = "functions call each other more than 256 deep";
            return self.lower.error(Code::Limit, instance.span, message);
        }
        self.lower.spent.steps += CALL;
        let mut frame = Frame::new(instance.clone(), None);
        for (&param, arg) in instance.params.iter().zip(args) {
            frame.declare(param, arg);
        }
        let value = self.eval(&mut frame, &instance.body)?;
        self.depth -= 1;
        Ok(match frame.left.result {
            Some(result) if frame.left.returned == Bit::ONE => Word::clone(&result),
            Some(result) => {
                self.listable(result.width(), instance.span)?;
                self.choose(frame.left.returned, &result, &value)
            }
            None => value,
        })
    }

    /// Writes `if choice { a } else { b }`, without gates for bits that agree.
    fn choose(&mut self, choice: Bit, a: &[Bit], b: &[Bit]) -> Word {
        match choice.as_constant() {
            Some(true) => return a.to_vec().into(),
            Some(false) => return b.to_vec().into(),
            None => {}
        }
        let pairs = a.iter().zip(b);
        pairs.map(|(&a, &b)| if a == b { a } else { self.gates.select_bit(choice, a, b) }).collect()
    }

    /// Returns the variables that an expression changes but does not itself declare.
    fn assigned(&mut self, expr: &Expr) -> Rc<[Local]> {
        if let Some(known) = self.lower.facts.assigned.get(&expr.id) {
            return known.clone();
        }
        let found: Rc<[Local]> = assigned(expr).into();
        self.lower.facts.assigned.insert(expr.id, found.clone());
        found
    }
}
