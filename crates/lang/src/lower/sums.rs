//! Sums of very many numbers: blocks of them are added in the rounds of a repeat.
//!
//! A full adder takes three bits of a column and leaves one there, so the bits of a column, carries
//! included, decide how many it takes, and not their order. Rounds have full adders alone, and what
//! is left of the columns is added in the same way, so blocks take no more ANDs than one large sum.
//! The carries of a column come from a repeat of their own, which takes nothing where nobody reads
//! the columns above; the last columns of a block of wider numbers are left to it.

use std::rc::Rc;

use symbolon_circuit::builder::{Argument, Bit, ComponentBuilder, Subcircuit, Word};

use super::{Done, Machine};
use crate::source::Span;

/// Numbers of fewer bits in all are added by gates, which may merge with equal gates. What is this
/// large is not rewritten for fewer ANDs.
const MANY: usize = 1 << 16;

/// The most numbers in a block. Of 2^n - 1 bits full adders leave one in each column.
const BLOCK: usize = 255;

/// The most bits in a block.
const BLOCK_BITS: usize = 1 << 14;

/// A column that has fewer bits after the first blocks is added by gates.
const COLUMN: usize = 1 << 12;

/// Bits side by side: the first of each row of wires, and how many there are.
type Rows = Vec<(Bit, u32)>;

/// What was added: the numbers, how wide each is, and how wide the sum.
pub(super) type Summed = (Rows, usize, usize);

/// The components that add a block of numbers, each with the column of each output.
pub(super) type Adder = Rc<[(Subcircuit, Vec<usize>)]>;

/// The numbers in a block, how wide each is, the columns, and the place in the program.
pub(super) type AdderKey = (usize, usize, usize, Span);

impl Machine<'_, '_, '_> {
    /// Returns the sum of unsigned integers of `part` bits side by side, modulo 2^width, if they
    /// are very many and all their bits are different wires. Otherwise gates may take fewer ANDs.
    pub(super) fn sum_in_blocks(
        &mut self,
        numbers: &Word,
        part: usize,
        width: usize,
        at: Span,
    ) -> Done<Option<Word>> {
        if numbers.width() < MANY || part == 0 || 3 * part > BLOCK_BITS {
            return Ok(None);
        }
        let Some(rows) = numbers.rows() else { return Ok(None) };
        let key = (rows, part, width);
        if let Some(known) = self.reuse.sums.get(&key) {
            return Ok(Some(known.clone()));
        }
        let mut columns = vec![Vec::new(); width];
        self.add_blocks(&mut columns, numbers, part, at)?;
        for place in 0..width {
            while columns[place].len() >= COLUMN {
                let column = Word::from(std::mem::take(&mut columns[place]));
                self.add_blocks(&mut columns[place..], &column, 1, at)?;
            }
        }
        let bits: usize = columns.iter().map(Vec::len).sum();
        self.room(5 * bits as u64, at)?;
        let sum = self.gates.sum_columns(columns);
        self.reuse.sums.insert(key, sum.clone());
        Ok(Some(sum))
    }

    /// Adds numbers to columns, whole blocks by the rounds of a repeat.
    fn add_blocks(
        &mut self,
        columns: &mut [Vec<Bit>],
        numbers: &Word,
        part: usize,
        at: Span,
    ) -> Done<()> {
        let most = (BLOCK_BITS / part).min(BLOCK) + 1;
        let block = (1 << most.ilog2()) - 1;
        let adder = self.adder((block, part, columns.len().min(part + 1), at))?;
        let rounds = numbers.width() / (block * part);
        let (end, all) = (rounds * block * part, numbers.width());
        let blocks = numbers.slice(0..end);
        for (body, places) in adder.iter() {
            let added = self.repeat_component(body, rounds, &[Argument::Strided(&blocks)], at);
            self.copied(added.width());
            for round in added.chunks(places.len()) {
                places.iter().zip(round).for_each(|(&place, &bit)| columns[place].push(bit));
            }
        }
        for number in numbers.slice(end..all).chunks(part) {
            columns.iter_mut().zip(number).for_each(|(column, &bit)| column.push(bit));
        }
        Ok(())
    }

    fn adder(&mut self, key: AdderKey) -> Done<Adder> {
        if let Some(known) = self.lower.shared.adders.get(&key) {
            return Ok(known.clone());
        }
        let (_, part, width, at) = key;
        let parts = if part == 1 { [0..1, 1..width] } else { [0..width, 0..0] };
        let mut bodies = Vec::new();
        for given in parts.into_iter().filter(|given| !given.is_empty()) {
            let what = if given.start == 0 { "sum" } else { "carries" };
            let name = format!("{what} {}", self.lower.shared.adders.len() + 1);
            let mut builder = ComponentBuilder::new(name);
            let columns = reduced(&mut builder, key);
            let (mut places, mut outputs) = (Vec::new(), Vec::new());
            for place in given {
                places.extend(std::iter::repeat_n(place, columns[place].len()));
                outputs.extend_from_slice(&columns[place]);
            }
            bodies.push((self.own_component(builder, &outputs, at)?, places));
        }
        let adder: Adder = bodies.into();
        self.lower.shared.adders.insert(key, adder.clone());
        Ok(adder)
    }
}

/// Adds the bits of a block's columns, all but the last of a number if it has several, as far as
/// full adders do.
fn reduced(builder: &mut ComponentBuilder, (block, part, width, _): AdderKey) -> Vec<Vec<Bit>> {
    let numbers = builder.input(block * part);
    let mut columns = vec![Vec::new(); width];
    for number in numbers.chunks(part) {
        columns.iter_mut().zip(number).for_each(|(column, &bit)| column.push(bit));
    }
    for place in 0..width.min((part - 1).max(1)) {
        let mut column = std::mem::take(&mut columns[place]);
        let Some(above) = columns.get_mut(place + 1) else {
            // Nothing is carried out of the last one of all.
            let sum = column.into_iter().reduce(|sum, bit| builder.xor_bit(sum, bit));
            columns[place].extend(sum);
            break;
        };
        // The earliest bits first and sums at the back keep chains of ANDs short.
        let mut next = 0;
        while let Some(&[x, y, z]) = column.get(next..next + 3) {
            let (sum, carry) = builder.full_adder(x, y, z);
            column.push(sum);
            above.push(carry);
            next += 3;
        }
        columns[place] = column.split_off(next);
    }
    columns
}
