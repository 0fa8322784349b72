//! Sorting.

use crate::builder::{Builder, ComponentBuilder, Word, sorting_network};
use crate::{Circuit, CircuitError, Receivers, Type};

/// Sorts `len` words of `width` bits, of which each party has an XOR share, in ascending order.
pub(super) fn sort(len: u32, width: u32) -> Result<Circuit, CircuitError> {
    let mut b = Builder::new(format!("sort:{len}x{width}"));
    let share0 = b.input("share0", Type::words(len, width), 0);
    let share1 = b.input("share1", Type::words(len, width), 1);
    let words = b.xor(&share0, &share1);
    finish_sorted(b, &words, len, width)
}

/// Merges two lists of `len` words of `width` bits, one of each party and in any order, into one
/// list in ascending order.
pub(super) fn merge(len: u32, width: u32) -> Result<Circuit, CircuitError> {
    let mut b = Builder::new(format!("merge:{len}x{width}"));
    let list0 = b.input("list0", Type::words(len, width), 0);
    let list1 = b.input("list1", Type::words(len, width), 1);
    finish_sorted(b, &Word::join([&list0, &list1]), 2 * len, width)
}

/// Puts the words in order, by calls of one component that orders two; 2·width ANDs per call.
fn finish_sorted(
    mut b: Builder,
    words: &Word,
    len: u32,
    width: u32,
) -> Result<Circuit, CircuitError> {
    let width_bits = width as usize;
    let mut c = ComponentBuilder::new(format!("order-{width}"));
    let (x, y) = (c.input(width_bits), c.input(width_bits));
    let (low, high) = c.min_max(&x, &y);
    c.output(&low);
    c.output(&high);
    let order = c.finish()?;

    let mut words = words.split(width_bits);
    for (i, j) in sorting_network(words.len()) {
        let out = b.call(&order, &[&words[i], &words[j]]);
        [words[i], words[j]] = <[Word; 2]>::try_from(out).expect("two outputs");
    }
    b.output("sorted", &Word::join(&words), Type::words(len, width), Receivers::All);
    b.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::{array, run, words};
    use crate::testing::Choices;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn sorts(
            values in prop::collection::vec(any::<(u64, u64)>(), 2..40),
            width in 1u32..=64,
        ) {
            let len = values.len();
            let mask = u64::MAX >> (64 - width);
            let share0: Vec<u64> = values.iter().map(|v| v.0 & mask).collect();
            let share1: Vec<u64> = values.iter().map(|v| v.1 & mask).collect();
            let inputs = [array(&share0, width), array(&share1, width)];

            let out = run(&sort(len as u32, width).unwrap(), &inputs);
            let mut expected: Vec<u64> = share0.iter().zip(&share1).map(|(x, y)| x ^ y).collect();
            expected.sort_unstable();
            prop_assert_eq!(words(&out[0], len, width), expected);

            let out = run(&merge(len as u32, width).unwrap(), &inputs);
            let mut expected = [share0, share1].concat();
            expected.sort_unstable();
            prop_assert_eq!(words(&out[0], 2 * len, width), expected);
        }
    }

    #[test]
    fn sorts_many() {
        let mut choices = Choices::new(11);
        let mut share = || (0..1000).map(|_| choices.word() >> 48).collect::<Vec<u64>>();
        let (share0, share1) = (share(), share());
        let out = run(&sort(1000, 16).unwrap(), &[array(&share0, 16), array(&share1, 16)]);
        let mut expected: Vec<u64> = share0.iter().zip(&share1).map(|(x, y)| x ^ y).collect();
        expected.sort_unstable();
        assert_eq!(words(&out[0], 1000, 16), expected);
    }

    #[test]
    fn the_papers_sort_is_within_the_bitonic_count() {
        let circuit = sort(4096, 32).unwrap();
        assert_eq!(and_count(&circuit), 139_263 * 64);
        assert_eq!(circuit.components().len(), 2);
    }
}
