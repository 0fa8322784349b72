//! Products of matrices.

use crate::builder::{Builder, ComponentBuilder, Subcircuit, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// The product modulo 2^width of two matrices of `size` rows of `size` words, one of each party.
///
/// One component multiplies and adds, a second calls it for a row and a column, and the circuit
/// calls the second for every element of the product; size³·width² ANDs minus the first additions.
pub(super) fn matmul(size: u32, width: u32) -> Result<Circuit, CircuitError> {
    let ty = Type::Array { len: size, elem: Box::new(Type::words(size, width)) };
    let mut b = Builder::new(format!("matmul:{size}x{width}"));
    let left = b.input("left", ty.clone(), 0).split(width as usize);
    let right = b.input("right", ty.clone(), 1).split(width as usize);
    let (size, width) = (size as usize, width as usize);
    let dot = dot_product(size, width)?;
    let product = by_elements(&left, &right, size, |row, column| b.call_one(&dot, &[row, column]));
    b.output("product", &Word::join(&product), ty, Receivers::All);
    b.finish()
}

/// [`matmul`] by blocks of `block` by `block` words, as in the experiments of KNRTT17.
///
/// One component multiplies two blocks, `block-product-MxW`, and one adds two, `block-sum-MxW`.
pub(super) fn matmul_in_blocks(size: u32, width: u32, block: u32) -> Result<Circuit, CircuitError> {
    let ty = Type::Array { len: size, elem: Box::new(Type::words(size, width)) };
    let mut b = Builder::new(format!("matmul:{size}x{width}/{block}"));
    let left = b.input("left", ty.clone(), 0).split(width as usize);
    let right = b.input("right", ty.clone(), 1).split(width as usize);
    let (size, width, block) = (size as usize, width as usize, block as usize);
    let (multiply, add) = (block_product(block, width)?, block_sum(block, width)?);
    let blocks = size / block;
    let part = |matrix: &[Word], row: usize, column: usize| {
        let rows = matrix.chunks(size).skip(row * block).take(block);
        Word::join(rows.flat_map(|row| &row[column * block..][..block]))
    };
    let mut product = vec![Word::zero(width); size * size];
    for (row, column) in (0..blocks * blocks).map(|at| (at / blocks, at % blocks)) {
        let term = |b: &mut Builder, k| {
            b.call_one(&multiply, &[&part(&left, row, k), &part(&right, k, column)])
        };
        let mut sum = term(&mut b, 0);
        for k in 1..blocks {
            let next = term(&mut b, k);
            sum = b.call_one(&add, &[&sum, &next]);
        }
        for (at, word) in sum.split(width).into_iter().enumerate() {
            let (i, j) = (row * block + at / block, column * block + at % block);
            product[i * size + j] = word;
        }
    }
    b.output("product", &Word::join(&product), ty, Receivers::All);
    b.finish()
}

/// The product of two matrices, in order, where `dot` computes each element from a row and a
/// column.
fn by_elements(
    left: &[Word],
    right: &[Word],
    size: usize,
    mut dot: impl FnMut(&Word, &Word) -> Word,
) -> Vec<Word> {
    let columns: Vec<Word> =
        (0..size).map(|column| Word::join(right.iter().skip(column).step_by(size))).collect();
    let mut product = Vec::with_capacity(size * size);
    for row in left.chunks(size) {
        let row = Word::join(row);
        product.extend(columns.iter().map(|column| dot(&row, column)));
    }
    product
}

/// The product of two blocks.
fn block_product(size: usize, width: usize) -> Result<Subcircuit, CircuitError> {
    let dot = dot_product(size, width)?;
    let mut c = ComponentBuilder::new(format!("block-product-{size}x{width}"));
    let [left, right] = [(); 2].map(|()| c.input(size * size * width).split(width));
    let product = by_elements(&left, &right, size, |row, column| c.call_one(&dot, &[row, column]));
    c.output(&Word::join(&product));
    c.finish()
}

/// The sum of two blocks.
fn block_sum(size: usize, width: usize) -> Result<Subcircuit, CircuitError> {
    let mut c = ComponentBuilder::new(format!("block-sum-{size}x{width}"));
    let [left, right] = [(); 2].map(|()| c.input(size * size * width).split(width));
    let sums: Vec<Word> = left.iter().zip(&right).map(|(x, y)| c.add(x, y)).collect();
    c.output(&Word::join(&sums));
    c.finish()
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
            let inputs = [array(&left, width), array(&right, width)];
            let out = run(&circuit, &inputs);
            prop_assert_eq!(&words(&out[0], size * size, width), &product);
            for block in (1..=size as u32).filter(|block| (size as u32).is_multiple_of(*block)) {
                let circuit = matmul_in_blocks(size as u32, width, block).unwrap();
                let out = run(&circuit, &inputs);
                prop_assert_eq!(&words(&out[0], size * size, width), &product, "{}", block);
            }
        }
    }

    #[test]
    fn the_papers_product_costs_a_square_for_each_product_of_words() {
        let circuit = matmul(16, 32).unwrap();
        assert!(and_count(&circuit) <= 16 * 16 * 16 * 32 * 32);
        assert_eq!(circuit.components().len(), 3);
    }

    #[test]
    fn blocks_are_multiplied_and_added_by_components() {
        let circuit = matmul_in_blocks(4, 8, 2).unwrap();
        let calls = |name: &str| {
            let main = circuit.components().last().unwrap();
            let named =
                |call: &&crate::Call| circuit.components()[call.component as usize].name == name;
            main.calls.iter().filter(named).count()
        };
        assert_eq!((calls("block-product-2x8"), calls("block-sum-2x8")), (8, 4));
        assert_eq!(circuit.name(), "matmul:4x8/2");
    }
}
