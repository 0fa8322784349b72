//! Large arrays at secret places: the selections of all elements are one repeat, not gates.

use symbolon_circuit::builder::{Argument, Bit, ComponentBuilder, Subcircuit, Word};

use super::{Done, Machine};
use crate::cost::Totals;
use crate::diag::Code;
use crate::source::Span;

/// Selections of at least this many bits are repeats. Smaller ones are gates, which can merge with
/// equal gates.
const WIDE: usize = 1 << 16;

/// How many bits of a result are one round.
const CHUNK: usize = 64;

/// Returns whether selections of this width are a repeat, unless some bits are constants.
pub(super) fn is_wide(bits: usize) -> bool {
    bits >= WIDE
}

fn has_constants(bits: &[Bit]) -> bool {
    bits.iter().any(|bit| bit.as_constant().is_some())
}

impl Machine<'_, '_, '_> {
    /// Writes a value to the elements of a large array whose conditions hold; returns `false` if
    /// gates may do it with fewer ANDs.
    pub(super) fn write_wide(
        &mut self,
        to: &mut [Bit],
        value: &[Bit],
        here: &[Bit],
        at: Span,
    ) -> Done<bool> {
        if !is_wide(to.len()) || has_constants(to) || has_constants(here) {
            return Ok(false);
        }
        let selector = self.selector(value.len(), at)?;
        let (each, old): (Word, Word) = (here.to_vec().into(), to.to_vec().into());
        let args = [Argument::Strided(&each), Argument::Strided(&old), Argument::Fixed(value)];
        let selected = self.repeat_component(&selector, here.len(), &args, at);
        to.copy_from_slice(&selected);
        Ok(true)
    }

    /// Halves a large array while it is large: of each pair of elements, the next bit of the index
    /// selects one. Returns the elements that are left, and the bits of the index.
    pub(super) fn read_wide<'i>(
        &mut self,
        array: &[Bit],
        width: usize,
        mut index: &'i [Bit],
        at: Span,
    ) -> Done<(Word, &'i [Bit])> {
        let mut level: Word = array.to_vec().into();
        while let Some((&bit, rest)) = index.split_first()
            && is_wide(level.width() / 2)
            && !has_constants(&level)
            && bit.as_constant().is_none()
        {
            let pairs = level.width() / (2 * width);
            let selector = self.selector(width, at)?;
            let pairs_of = level.slice(0..pairs * 2 * width);
            let last = &level[pairs * 2 * width..];
            let args = [Argument::Fixed(std::slice::from_ref(&bit)), Argument::Strided(&pairs_of)];
            let selected = self.repeat_component(&selector, pairs, &args, at);
            // The partner of the last element would be beyond the end.
            let last = self.gates.and_each(!bit, last);
            level = Word::join([&selected, &last]);
            index = rest;
        }
        Ok((level, index))
    }

    /// Returns an entry's result, or zeros if an assert has failed.
    pub(super) fn unless_failed(&mut self, result: Word, at: Span) -> Done<Word> {
        let before = self.account(at);
        let holds = !self.failure.failed;
        let (wide, rest) = match is_wide(result.width()) && holds.as_constant().is_none() {
            true => result.split_at(result.width() / CHUNK * CHUNK),
            false => result.split_at(0),
        };
        let mut masked = Word::zero(0);
        if !wide.is_empty() && !has_constants(wide) {
            let selector = self.selector(CHUNK, at)?;
            let zeros = Word::zero(CHUNK);
            let choice = Argument::Fixed(std::slice::from_ref(&holds));
            let chunks = result.slice(0..wide.len());
            let args = [choice, Argument::Fixed(&zeros), Argument::Strided(&chunks)];
            masked = self.repeat_component(&selector, wide.len() / CHUNK, &args, at);
        } else {
            self.room(2 * wide.len() as u64, at)?;
            masked = Word::join([&masked, &self.gates.and_each(holds, wide)]);
        }
        let rest = self.gates.and_each(holds, rest);
        self.account(before);
        Ok(Word::join([&masked, &rest]))
    }

    /// Returns the component that selects the second of two words of this width if a bit is set.
    fn selector(&mut self, width: usize, at: Span) -> Done<Subcircuit> {
        if let Some(known) = self.lower.shared.selectors.get(&(width, at)) {
            return Ok(known.clone());
        }
        let name = format!("selection {}", self.lower.shared.selectors.len() + 1);
        let mut builder = ComponentBuilder::new(name);
        let (choice, old, new) = (builder.input(1), builder.input(width), builder.input(width));
        let selected = builder.select(choice[0], &new, &old);
        let finished = self.own_component(builder, &selected, at)?;
        self.lower.shared.selectors.insert((width, at), finished.clone());
        Ok(finished)
    }

    /// Finishes a component that no function of the program is, whose gates belong to this place.
    pub(super) fn own_component(
        &mut self,
        mut builder: ComponentBuilder,
        outputs: &[Bit],
        at: Span,
    ) -> Done<Subcircuit> {
        builder.output(outputs);
        let mut machine = Machine::new(self.lower, &mut builder, true);
        machine.booking.at = at;
        let (_, _, booked) = machine.into_parts();
        let name = builder.name().to_string();
        // It stays as it is.
        let effort = std::mem::take(&mut self.lower.spent.effort);
        let finished = self.lower.finish(builder, (booked, at), outputs);
        self.lower.spent.effort = effort;
        match finished {
            Ok((finished, costs)) => {
                if let Some(all) = &mut self.lower.costs {
                    all.components.push((name, costs));
                }
                Ok(finished)
            }
            Err(error) => self.lower.error(Code::Limit, at, error.to_string()),
        }
    }

    /// Calls such a component in rounds that pass nothing on; returns what all of them give.
    pub(super) fn repeat_component(
        &mut self,
        component: &Subcircuit,
        count: usize,
        args: &[Argument<'_>],
        at: Span,
    ) -> Word {
        let before = self.account(at);
        self.passes(args, component, count as u32);
        let (_, given) = self.gates.repeat(component, count as u32, args);
        let port_bits = component.port_bits().saturating_mul(count as u64);
        self.book(at, Totals { calls: count as u64, port_bits, ..Totals::default() });
        self.account(before);
        given
    }
}
