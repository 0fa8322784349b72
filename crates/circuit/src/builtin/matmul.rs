//! Products of matrices.

use crate::builder::{Builder, ComponentBuilder, Subcircuit, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// The product modulo 2^width of two matrices of `size` rows of `size` words, one of each party.
///
/// One component multiplies and adds, a second calls it for a row and a column, and the circuit
/// calls that for every element of the product; size³·width² ANDs less the first additions.
pub(super) fn matmul(size: u32, width: u32) -> Result<Circuit, CircuitError> {
    let ty = Type::Array { len: size, elem: Box::new(Type::words(size, width)) };
    let mut b = Builder::new(format!("matmul:{size}x{width}"));
    let left = b.input("left", ty.clone(), 0).split(width as usize);
    let right = b.input("right", ty.clone(), 1).split(width as usize);
    let (size, width) = (size as usize, width as usize);
    let dot = dot_product(size, width)?;
    let columns: Vec<Word> =
        (0..size).map(|column| Word::join(right.iter().skip(column).step_by(size))).collect();
    let mut product = Vec::with_capacity(size * size);
    for row in left.chunks(size) {
        let row = Word::join(row);
        for column in &columns {
            product.push(b.call_one(&dot, &[&row, column]));
        }
    }
    b.output("product", &Word::join(&product), ty, Receivers::All);
    b.finish()
}

/// The sum of the products of `size` pairs of words.
fn dot_product(size: usize, width: usize) -> Result<Subcircuit, CircuitError> {
    let mut c = ComponentBuilder::new(format!("multiply-accumulate-{width}"));
    let [x, y, sum] = std::array::from_fn(|_| c.input(width));
    let next = c.mul_add(&x, &y, &sum);
    c.output(&next);
    let accumulate = c.finish()?;

    let mut c = ComponentBuilder::new(format!("dot-product-{size}x{width}"));
    let row = c.input(size * width).split(width);
    let column = c.input(size * width).split(width);
    let mut sum = c.mul_add(&row[0], &column[0], &Word::zero(width));
    for (x, y) in row.iter().zip(&column).skip(1) {
        sum = c.call_one(&accumulate, &[x, y, &sum]);
    }
    c.output(&sum);
    c.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::{array, run, words};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn multiplies_matrices(
            size in 1usize..5,
            width in 1u32..=64,
            entries in prop::collection::vec(any::<u64>(), 32),
        ) {
            let mask = u64::MAX >> (64 - width);
            let entry = |i: usize| entries[i] & mask;
            let left: Vec<u64> = (0..size * size).map(entry).collect();
            let right: Vec<u64> = (16..16 + size * size).map(entry).collect();
            let product = (0..size * size).map(|at| {
                let (row, column) = (at / size, at % size);
                let terms = (0..size)
                    .map(|k| left[row * size + k].wrapping_mul(right[k * size + column]));
                terms.fold(0, u64::wrapping_add) & mask
            });
            let product: Vec<u64> = product.collect();
            let circuit = matmul(size as u32, width).unwrap();
            let out = run(&circuit, &[array(&left, width), array(&right, width)]);
            prop_assert_eq!(words(&out[0], size * size, width), product);
        }
    }

    #[test]
    fn the_papers_product_costs_a_square_for_each_product_of_words() {
        let circuit = matmul(16, 32).unwrap();
        assert!(and_count(&circuit) <= 16 * 16 * 16 * 32 * 32);
        assert_eq!(circuit.components().len(), 3);
    }
}
