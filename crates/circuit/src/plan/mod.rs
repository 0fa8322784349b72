//! The form of a program that protocols walk: batches of independent AND gates, with the free gates
//! between them, over a small array of slots.
//!
//! A [`Plan`] is made once per circuit. It has the circuit's gates, one for one: nothing is
//! simplified or left out. Walking it flattens the calls on the fly, in memory that grows with the
//! wires that are live at one time, not with the number of gates.
//!
//! # How to walk
//! Keep one value per slot ([`Plan::slots`] of them). Put the inputs' bits, in order, into the
//! slots [`Plan::input_slots`]; then take [`Batch`]es from a [`Cursor`] until there are none; then
//! the outputs' bits, in order, are in the slots [`Plan::output_slots`]. For every batch, first do
//! its [`Linear`] operations one after the other, then its [`And`] gates and its [`LookupGates`] in
//! any order or all at once. Every slot number of a batch counts from the batch's `base`.
//!
//! # Look-ups
//! [`Plan::new`] and [`Plan::with_limits`] plan a circuit as [`lower_lookups`] makes it: such a
//! plan has no look-ups. [`Plan::with_lookups`] keeps them.
//!
//! # How it is made
//! Each component gets a schedule and a frame of slots of its own. Within windows of
//! [`Limits::window`] gates, the gates are sorted by AND-depth, which makes batches wide while the
//! live wires stay about those of the program as written; slots are assigned by liveness. A call
//! puts the callee's frame after the caller's, and copies the arguments in and the results out, by
//! runs of slots; results that nobody reads are not copied. Small components are first written out
//! where they are called, and calls of one component that do not depend on each other are made
//! together, so that their gates share batches. So are some rounds of a repeat, whose frame is
//! planned once and walked round after round.

mod cursor;
pub(crate) mod flat;
mod frame;
mod layered;
mod lookups;
mod program;
mod reads;
mod rewrite;
mod slots;

use std::ops::Range;
use std::sync::Arc;

pub use cursor::{Batch, Cursor};
pub use layered::{Layer, Layered};
pub use lookups::{LookupGate, LookupGates};

use crate::{Circuit, Table, lower_lookups};
use frame::Frame;
use program::Program;

/// One AND gate: slot `out` becomes slot `a` ∧ slot `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct And {
    /// Left operand's slot.
    pub a: u32,
    /// Right operand's slot.
    pub b: u32,
    /// Result's slot; different from every slot that the AND gates and look-ups of the same batch
    /// read, and from those of their other results.
    pub out: u32,
}

/// One operation that costs nothing. Its result may go to a slot that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linear {
    /// Slot `out` becomes slot `a` ⊕ slot `b`.
    Xor {
        /// Left operand's slot.
        a: u32,
        /// Right operand's slot.
        b: u32,
        /// Result's slot.
        out: u32,
    },
    /// Slot `out` becomes ¬ slot `a`.
    Inv {
        /// Operand's slot.
        a: u32,
        /// Result's slot.
        out: u32,
    },
    /// Slot `out` becomes a public constant.
    Const {
        /// The constant.
        value: bool,
        /// Result's slot.
        out: u32,
    },
    /// Slots `out .. out + len` become slots `from .. from + len`, in order: arguments or results
    /// of a call, not a gate of the program. The two ranges have no slot in common, because a frame
    /// comes after that of its caller.
    Copy {
        /// The first slot read.
        from: u32,
        /// The first slot written.
        out: u32,
        /// How many there are; at least 1.
        len: u32,
    },
}

/// How far a plan may reorder gates, and how many AND gates a batch may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Gates are reordered within windows of this many (1 to 65 535; values outside are moved to
    /// the nearest of these). A wider window makes wider batches and keeps more wires alive.
    pub window: usize,
    /// The most AND gates and look-ups in one batch (at least 1).
    pub batch: usize,
}

impl Limits {
    /// What [`Plan::new`] uses.
    pub const DEFAULT: Limits = Limits { window: 8192, batch: 256 };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// How many gates of each kind a flattened program has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateCounts {
    /// AND gates.
    pub and: u64,
    /// XOR gates.
    pub xor: u64,
    /// NOT gates.
    pub inv: u64,
    /// Constants.
    pub constants: u64,
    /// Look-ups.
    pub lookups: u64,
    /// Outputs of all look-ups.
    pub lookup_outputs: u64,
    /// Bits copied into and out of calls; these are not gates.
    pub copies: u64,
}

impl GateCounts {
    /// Returns how many wires these gates write.
    pub fn wires(&self) -> u64 {
        self.and + self.xor + self.inv + self.constants + self.lookup_outputs
    }

    /// Returns how many gates there are.
    pub fn gates(&self) -> u64 {
        self.and + self.xor + self.inv + self.constants + self.lookups
    }

    /// Adds `other`, `times` times; the limit on a program's gates keeps all but copies in range.
    fn add(&mut self, other: &GateCounts, times: u64) {
        self.and += other.and * times;
        self.xor += other.xor * times;
        self.inv += other.inv * times;
        self.constants += other.constants * times;
        self.lookups += other.lookups * times;
        self.lookup_outputs += other.lookup_outputs * times;
        self.copies = self.copies.saturating_add(other.copies.saturating_mul(times));
    }
}

/// A circuit, scheduled for walking; see the [module](self).
#[derive(Clone, Debug)]
pub struct Plan {
    /// One per component that the main one needs, callees before callers; the last is the main one.
    frames: Vec<Frame>,
    limits: Limits,
    tables: Arc<[Table]>,
}

impl Plan {
    /// Plans `circuit` with the default [`Limits`], look-ups turned into gates.
    pub fn new(circuit: &Circuit) -> Plan {
        Plan::with_limits(circuit, Limits::DEFAULT)
    }

    /// Plans `circuit` with other limits, look-ups turned into gates.
    pub fn with_limits(circuit: &Circuit, limits: Limits) -> Plan {
        Plan::of(&lower_lookups(circuit), limits)
    }

    /// Plans `circuit` with the default [`Limits`], look-ups kept.
    pub fn with_lookups(circuit: &Circuit) -> Plan {
        Plan::of(circuit, Limits::DEFAULT)
    }

    fn of(circuit: &Circuit, limits: Limits) -> Plan {
        let limits = Limits { window: limits.window.clamp(1, 65_535), batch: limits.batch.max(1) };
        let program = Program::arrange(circuit.components(), limits.window);
        let needed = program.needed();
        let mut frames = Vec::new();
        let mut frame_of = vec![0usize; program.entries.len()];
        for (index, entry) in program.entries.iter().enumerate() {
            if needed[index] {
                let callee = |component| frame_of[program.callee(index, component)];
                let frame = Frame::plan(&entry.component, &frames, callee, limits);
                frame_of[index] = frames.len();
                frames.push(frame);
            }
        }
        Plan { frames, limits, tables: circuit.shared_tables() }
    }

    fn main(&self) -> &Frame {
        self.frames.last().expect("a circuit has a main component")
    }

    /// Returns how many slots a walker needs.
    pub fn slots(&self) -> usize {
        self.main().depth
    }

    /// Returns how many AND gates the flattened program has.
    pub fn and_count(&self) -> u64 {
        self.main().counts.and
    }

    /// Returns how many gates of every kind the flattened program has, and how many copies a walk
    /// makes.
    pub fn counts(&self) -> GateCounts {
        self.main().counts
    }

    /// Returns the slots of the inputs' bits, in order, when the walk starts: `0 .. n`.
    pub fn input_slots(&self) -> Range<usize> {
        0..self.main().inputs as usize
    }

    /// Returns the slots of the outputs' bits, in order, when the walk has ended. A slot may occur
    /// more than once.
    pub fn output_slots(&self) -> &[u32] {
        &self.main().outputs
    }

    /// Returns the tables that the look-ups' numbers refer to; empty unless the plan was made
    /// [`with_lookups`](Self::with_lookups).
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn shared_tables(&self) -> Arc<[Table]> {
        self.tables.clone()
    }

    /// Returns the limits it was made with; no batch has more than [`Limits::batch`] AND gates and
    /// look-ups.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Starts a walk. Any number of cursors may walk the same plan, each at its own place.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::new(self)
    }
}

#[cfg(test)]
mod tests;
