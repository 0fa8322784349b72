//! Repeats: a component that is used round after round.
//!
//! A [`Repeat`] does in one step what a loop of calls does in many. Its arguments, joined in order,
//! are the component's inputs: wires that are the same in every round, wires that each round passes
//! on to the next, consecutive parts of a list of wires, or the number of the round.
//!
//! The component's first outputs are what a round passes on, in the order of the carried arguments.
//! Those of the last round are the repeat's first outputs. The other outputs of every round follow
//! them, the first round's first.

use crate::{Component, Ranges, Repeat, RepeatArg, Wire, WireRange};

/// Returns bit `bit` of the number of a round.
pub(crate) fn counter_bit(start: u64, step: u64, round: u32, bit: u32) -> bool {
    start.wrapping_add(step.wrapping_mul(round.into())) >> bit & 1 == 1
}

impl Component {
    /// Returns the arguments of one of its repeats.
    pub fn args_of(&self, repeat: Repeat) -> &[RepeatArg] {
        &self.repeat_args[repeat.first_arg as usize..][..repeat.arg_count as usize]
    }

    /// Returns the runs of wires that part of an argument names.
    pub(crate) fn ranges_of(&self, ranges: Ranges) -> &[WireRange] {
        &self.call_args[ranges.first as usize..][..ranges.count as usize]
    }

    /// Returns the wires of some ranges, in order.
    pub(crate) fn wires_of(&self, ranges: Ranges) -> impl Iterator<Item = Wire> + Clone {
        self.ranges_of(ranges).iter().flat_map(|range| range.first..range.first + range.len)
    }

    /// Returns all wires that a repeat reads, each as often as an argument names it.
    pub fn read_by(&self, repeat: Repeat) -> impl Iterator<Item = Wire> + Clone {
        let ranges = self.args_of(repeat).iter().filter_map(RepeatArg::ranges);
        ranges.flat_map(|ranges| self.wires_of(ranges))
    }

    /// Returns how many wires a round of a repeat passes on to the next.
    pub fn carried_by(&self, repeat: Repeat) -> u32 {
        let carried = self.args_of(repeat).iter().map(|arg| match arg {
            RepeatArg::Carried(ranges) => self.ranges_of(*ranges).iter().map(|r| r.len).sum(),
            _ => 0u32,
        });
        carried.sum()
    }

    /// Returns how many wires a repeat writes if its component has this many outputs.
    pub fn written_by(&self, repeat: Repeat, outputs: u32) -> u32 {
        let carried = self.carried_by(repeat);
        carried + repeat.count * (outputs - carried)
    }

    /// Returns the rounds of a repeat, one after the other.
    pub fn rounds(&self, repeat: Repeat) -> Rounds<'_> {
        Rounds {
            component: self,
            repeat,
            round: 0,
            places: vec![(0, 0); self.args_of(repeat).len()],
        }
    }
}

/// Where an input of a round comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A wire of the component with the repeat.
    Wire(Wire),
    /// The output with this number of the previous round.
    Before(u32),
    /// A bit of the round's number.
    Constant(bool),
}

/// The rounds of a [`Repeat`]; see [`Component::rounds`].
#[derive(Clone, Debug)]
pub struct Rounds<'a> {
    component: &'a Component,
    repeat: Repeat,
    /// How many rounds have been returned.
    round: u32,
    /// Where the next part of each list of wires begins: a range, and how many of its wires are
    /// used up.
    places: Vec<(u32, u32)>,
}

impl Rounds<'_> {
    /// Replaces `sources` by the inputs of the next round; returns false after the last.
    pub fn next(&mut self, sources: &mut Vec<Source>) -> bool {
        sources.clear();
        if self.round == self.repeat.count {
            return false;
        }
        let mut carried = 0;
        for (arg, place) in self.component.args_of(self.repeat).iter().zip(&mut self.places) {
            match *arg {
                RepeatArg::Fixed(ranges) => {
                    sources.extend(self.component.wires_of(ranges).map(Source::Wire));
                }
                RepeatArg::Carried(ranges) => {
                    let wires = self.component.wires_of(ranges);
                    let first = carried;
                    let before = |(wire, number)| match self.round {
                        0 => Source::Wire(wire),
                        _ => Source::Before(number),
                    };
                    sources.extend(wires.zip(first..).map(before));
                    carried += self.component.ranges_of(ranges).iter().map(|r| r.len).sum::<u32>();
                }
                RepeatArg::Strided(ranges) => {
                    let ranges = self.component.ranges_of(ranges);
                    let all: u64 = ranges.iter().map(|range| u64::from(range.len)).sum();
                    let mut left = (all / u64::from(self.repeat.count)) as u32;
                    while left > 0 {
                        let range = ranges[place.0 as usize];
                        let len = left.min(range.len - place.1);
                        let first = range.first + place.1;
                        sources.extend((first..first + len).map(Source::Wire));
                        left -= len;
                        place.1 += len;
                        if place.1 == range.len {
                            *place = (place.0 + 1, 0);
                        }
                    }
                }
                RepeatArg::Counter { start, step, bits } => {
                    let bit = |bit| Source::Constant(counter_bit(start, step, self.round, bit));
                    sources.extend((0..bits).map(bit));
                }
            }
        }
        self.round += 1;
        true
    }
}
