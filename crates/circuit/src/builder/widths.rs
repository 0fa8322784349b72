//! Operands whose widths do not match: noted while a circuit is built, reported by `finish`.

use std::borrow::Cow;

use super::bit::{Bit, Word};
use super::gates::Gates;
use crate::CircuitError;

/// Words of equal widths.
pub(super) struct Level<'w, const N: usize>([Cow<'w, [Bit]>; N]);

impl<const N: usize> Level<'_, N> {
    pub fn words(&self) -> [&[Bit]; N] {
        self.0.each_ref().map(|word| &**word)
    }
}

impl Gates {
    /// Notes a mismatch, unless one has been noted before.
    pub(super) fn note_mismatch(&mut self, text: impl FnOnce() -> String) {
        self.mismatch.get_or_insert_with(|| CircuitError::invalid(text()));
    }

    /// Returns the operands of one operation. If they are not equally wide, notes that and adds
    /// zeros, so that building can continue.
    pub(super) fn level<'w, const N: usize>(&mut self, words: [&'w [Bit]; N]) -> Level<'w, N> {
        let width = words.iter().map(|word| word.len()).max().unwrap_or(0);
        if words.iter().any(|word| word.len() != width) {
            let widths = words.map(|word| word.len().to_string()).join(" and ");
            self.note_mismatch(|| format!("an operation has words of {widths} bits"));
        }
        Level(words.map(|word| widened(word, width)))
    }

    /// Returns a word of this width. If it has another one, notes that and adds zeros or drops
    /// bits.
    pub(super) fn of_width<'w>(
        &mut self,
        what: &str,
        word: &'w [Bit],
        width: usize,
    ) -> Cow<'w, [Bit]> {
        if word.len() != width {
            self.note_mismatch(|| format!("{what} takes {width} bits, not {}", word.len()));
        }
        widened(&word[..word.len().min(width)], width)
    }

    /// Returns the elements of an array, all of the same width.
    pub(super) fn level_array(&mut self, array: &[Word]) -> Vec<Word> {
        let width = array.iter().map(|word| word.len()).max().unwrap_or(0);
        if let Some(other) = array.iter().find(|word| word.len() != width) {
            let other = other.len();
            self.note_mismatch(|| format!("an array has elements of {other} and {width} bits"));
        }
        array.iter().map(|word| word.resize(width)).collect()
    }
}

fn widened(word: &[Bit], width: usize) -> Cow<'_, [Bit]> {
    if word.len() == width {
        return Cow::Borrowed(word);
    }
    let mut wide = word.to_vec();
    wide.resize(width, Bit::ZERO);
    Cow::Owned(wide)
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, ComponentBuilder, F32};
    use super::*;
    use crate::{Receivers, Type};

    /// Returns what `finish` says of a circuit that applies `wrong` to words of 8 and 9 bits.
    fn finish(wrong: impl FnOnce(&mut Gates, &Word, &Word) -> Word) -> String {
        let mut b = Builder::new("wrong");
        let x = b.input("x", Type::Uint(8), 0);
        let y = b.input("y", Type::Uint(9), 1);
        let result = wrong(&mut b, &x, &y);
        let ty = Type::Uint(result.width() as u32);
        b.output("result", &result, ty, Receivers::All);
        b.finish().expect_err("widths differ").to_string()
    }

    type Wrong = fn(&mut Gates, &Word, &Word) -> Word;

    #[test]
    fn finish_reports_operations_on_words_of_different_widths() {
        let wrong: [Wrong; 24] = [
            |g, x, y| g.add(x, y),
            |g, x, y| g.add(y, x),
            |g, x, y| g.add_with_carry(x, y, Bit::ZERO).0,
            |g, x, y| g.sub(x, y),
            |g, x, y| g.sub_with_borrow(y, x).0,
            |g, x, y| g.carry_save(x, x, y).1,
            |g, x, y| g.sum(8, &[x, y]),
            |g, x, y| g.mul(x, y),
            |g, x, y| g.mul_in_parts(y, x),
            |g, x, y| g.mul_add(x, x, y),
            |g, x, y| g.mul_full_add(x, y, y, y),
            |g, x, y| g.div_rem(x, y).0,
            |g, x, y| g.div_rem_signed(y, x).1,
            |g, x, y| g.xor(x, y),
            |g, x, y| g.and(x, y),
            |g, x, y| g.or(y, x),
            |g, x, y| g.lt(x, y).into(),
            |g, x, y| g.le_signed(x, y).into(),
            |g, x, y| g.eq(x, y).into(),
            |g, x, y| g.select(x[0], x, y),
            |g, x, y| g.select_each(x, x, y),
            |g, x, y| g.swap_if(y[0], x, y).1,
            |g, x, y| g.sort(&[x.clone(), y.clone()]).remove(0),
            |g, x, y| g.majority_each(x, y, y),
        ];
        for (place, wrong) in wrong.into_iter().enumerate() {
            let told = finish(wrong);
            assert!(told.contains('8') && told.contains('9'), "operation {place}: {told}");
        }
    }

    #[test]
    fn finish_reports_arrays_calls_and_numbers_of_other_widths() {
        let told = finish(|g, x, y| g.read(&[x.clone(), y.clone()], y));
        assert!(told.contains("elements of 8 and 9 bits"), "{told}");
        let told = finish(|g, x, y| g.write(std::slice::from_ref(x), y, y).remove(0));
        assert!(told.contains("9 and 8 bits"), "{told}");
        let told = finish(|g, x, _| Word::join([x, &g.read(&[], x)]));
        assert!(told.contains("no elements"), "{told}");
        let told = finish(|g, x, y| g.float_add(F32, x, y));
        assert!(told.contains("takes 32 bits, not 8"), "{told}");

        let mut part = ComponentBuilder::new("part");
        let input = part.input(8);
        part.output(&input);
        let part = part.finish().unwrap();
        let told = finish(|g, _, y| g.call(&part, &[y]).remove(0));
        assert!(told.contains("`part` takes words of [8] bits, not [9]"), "{told}");
        let told = finish(|g, x, _| g.call(&part, &[x, x]).remove(0));
        assert!(told.contains("[8, 8]"), "{told}");
    }

    /// The first mistake is reported: later ones may follow from it.
    #[test]
    fn a_component_reports_too_and_the_first_mistake_is_told() {
        let mut part = ComponentBuilder::new("part");
        let (x, y, z) = (part.input(8), part.input(9), part.input(10));
        let sum = part.add(&x, &y);
        let sum = part.add(&sum, &z);
        part.output(&sum);
        let Err(told) = part.finish() else { panic!("widths differ") };
        assert!(told.to_string().contains("8 and 9 bits"), "{told}");
    }
}
