//! Arithmetic on two integers: x of party 0 and y of party 1.

use crate::builder::{Builder, ComponentBuilder, Subcircuit, Word};
use crate::{Circuit, CircuitError, Receivers, Type};

/// Products of more than two limbs of this width are composed of products of limbs.
const LIMB: usize = 64;

/// `x + y` modulo 2^width; width - 1 ANDs.
pub(super) fn add(width: u32) -> Result<Circuit, CircuitError> {
    let (mut b, x, y) = operands(format!("add:{width}"), width);
    let sum = b.add(&x, &y);
    b.output("sum", &sum, Type::Uint(width), Receivers::All);
    b.finish()
}

/// `x - y` modulo 2^width; width - 1 ANDs.
pub(super) fn sub(width: u32) -> Result<Circuit, CircuitError> {
    let (mut b, x, y) = operands(format!("sub:{width}"), width);
    let difference = b.sub(&x, &y);
    b.output("difference", &difference, Type::Uint(width), Receivers::All);
    b.finish()
}

/// `x · y` modulo 2^width, by Karatsuba's method where it is cheaper.
pub(super) fn mul(width: u32) -> Result<Circuit, CircuitError> {
    let (mut b, x, y) = operands(format!("mul:{width}"), width);
    let product = if x.width() <= 2 * LIMB { b.mul(&x, &y) } else { b.mul_in_parts(&x, &y) };
    b.output("product", &product, Type::Uint(width), Receivers::All);
    b.finish()
}

/// The circuit of [`mul`] under another name.
pub(super) fn mult(width: u32) -> Result<Circuit, CircuitError> {
    Ok(mul(width)?.with_name(format!("mult:{width}")))
}

/// `x · y` modulo 2^width by schoolbook multiplication, the papers' workload; width² - width + 1
/// ANDs; if composed of limbs, a few percent more unless limbs divide the width.
pub(super) fn mult_schoolbook(width: u32) -> Result<Circuit, CircuitError> {
    let (mut b, x, y) = operands(format!("mult-schoolbook:{width}"), width);
    let product = if x.width() <= 2 * LIMB {
        b.mul_add(&x, &y, &Word::zero(x.width()))
    } else {
        mul_by_limbs(&mut b, &x, &y)?
    };
    b.output("product", &product, Type::Uint(width), Receivers::All);
    b.finish()
}

/// Quotient and remainder; a division by zero gives all ones and x.
pub(super) fn div(width: u32) -> Result<Circuit, CircuitError> {
    let (mut b, x, y) = operands(format!("div:{width}"), width);
    let (quotient, remainder) = b.div_rem(&x, &y);
    b.output("quotient", &quotient, Type::Uint(width), Receivers::All);
    b.output("remainder", &remainder, Type::Uint(width), Receivers::All);
    b.finish()
}

/// Whether `x < y` and whether `x = y`.
pub(super) fn compare(width: u32) -> Result<Circuit, CircuitError> {
    let (mut b, x, y) = operands(format!("compare:{width}"), width);
    let (less, equal) = (b.lt(&x, &y), b.eq(&x, &y));
    b.output("lt", &less.into(), Type::Uint(1), Receivers::All);
    b.output("eq", &equal.into(), Type::Uint(1), Receivers::All);
    b.finish()
}

/// Whether party 0 has strictly more than party 1.
pub(super) fn millionaires(width: u32) -> Result<Circuit, CircuitError> {
    let (mut b, x, y) = operands(format!("millionaires:{width}"), width);
    let richer = b.lt(&y, &x);
    b.output("richer", &richer.into(), Type::Uint(1), Receivers::All);
    b.finish()
}

fn operands(name: String, width: u32) -> (Builder, Word, Word) {
    let mut b = Builder::new(name);
    let x = b.input("x", Type::Uint(width), 0);
    let y = b.input("y", Type::Uint(width), 1);
    (b, x, y)
}

/// The schoolbook product modulo 2^width, with one call for every pair of limbs that matters.
fn mul_by_limbs(b: &mut Builder, x: &Word, y: &Word) -> Result<Word, CircuitError> {
    // Limbs as equal as possible: a narrow last limb would waste much of its products.
    let limb = x.width().div_ceil(x.width().div_ceil(LIMB));
    let (x, y) = (x.split(limb), y.split(limb));
    let limbs = x.len();
    let top = x[limbs - 1].width();
    let whole = limb_product(limb)?;
    let low = low_limb_product(top)?;
    let mut sum: Vec<Word> = x.iter().map(|limb| Word::zero(limb.width())).collect();
    for (i, y) in y.iter().enumerate() {
        let mut carry = Word::zero(limb);
        for (j, x) in x.iter().enumerate().take(limbs - 1 - i) {
            let out = b.call(&whole, &[x, y, &sum[i + j], &carry]);
            [sum[i + j], carry] = <[Word; 2]>::try_from(out).expect("two outputs");
        }
        // Of the pair that ends at the top, only the low bits count.
        let (x, y) = (x[limbs - 1 - i].resize(top), y.resize(top));
        let carry = carry.resize(top);
        sum[limbs - 1] = b.call_one(&low, &[&x, &y, &sum[limbs - 1], &carry]);
    }
    Ok(Word::join(&sum))
}

/// `x · y + z + t` of four limbs, as two; 2·width² ANDs.
fn limb_product(width: usize) -> Result<Subcircuit, CircuitError> {
    let mut c = ComponentBuilder::new(format!("multiply-add-{width}"));
    let [x, y, z, t] = std::array::from_fn(|_| c.input(width));
    let product = c.mul_full_add(&x, &y, &z, &t);
    c.output(&product[..width]);
    c.output(&product[width..]);
    c.finish()
}

/// `x · y + z + t` of four limbs modulo 2^width; width² + width - 1 ANDs.
fn low_limb_product(width: usize) -> Result<Subcircuit, CircuitError> {
    let mut c = ComponentBuilder::new(format!("multiply-add-low-{width}"));
    let [x, y, z, t] = std::array::from_fn(|_| c.input(width));
    let sum = c.add(&z, &t);
    let product = c.mul_add(&x, &y, &sum);
    c.output(&product);
    c.finish()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;
    use crate::builder::and_count;
    use crate::builtin::testing::run;

    fn bit(value: bool) -> BigUint {
        BigUint::from(u8::from(value))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn agrees_with_big_integers(
            width in 1u32..300,
            x in prop::collection::vec(any::<u8>(), 38),
            y in prop::collection::vec(any::<u8>(), 38),
            narrow in any::<bool>(),
            same in 0u8..8,
        ) {
            let modulus = BigUint::from(1u8) << width;
            let x = BigUint::from_bytes_be(&x) % &modulus;
            // Small divisors give long quotients, equal operands equality.
            let y = match (same, narrow) {
                (0, _) => x.clone(),
                (_, true) => BigUint::from_bytes_be(&y) % (&modulus >> (width / 2)),
                _ => BigUint::from_bytes_be(&y) % &modulus,
            };
            let on = |circuit: Result<Circuit, CircuitError>| {
                run(&circuit.unwrap(), &[x.clone(), y.clone()])
            };
            prop_assert_eq!(on(add(width)), [(&x + &y) % &modulus]);
            prop_assert_eq!(on(sub(width)), [(&x + &modulus - &y) % &modulus]);
            prop_assert_eq!(on(mul(width)), [(&x * &y) % &modulus]);
            prop_assert_eq!(on(mult(width)), [(&x * &y) % &modulus]);
            prop_assert_eq!(on(mult_schoolbook(width)), [(&x * &y) % &modulus]);
            prop_assert_eq!(on(compare(width)), [bit(x < y), bit(x == y)]);
            prop_assert_eq!(on(millionaires(width)), [bit(x > y)]);
            let (quotient, remainder) = match y == BigUint::ZERO {
                true => (&modulus - 1u8, x.clone()),
                false => (&x / &y, &x % &y),
            };
            prop_assert_eq!(on(div(width)), [quotient, remainder]);
        }
    }

    #[test]
    fn costs_little() {
        let cost = |circuit: Result<Circuit, CircuitError>| and_count(&circuit.unwrap());
        assert_eq!(cost(add(64)), 63);
        assert_eq!(cost(sub(64)), 63);
        assert_eq!(cost(mult_schoolbook(64)), 4033);
        assert_eq!(cost(mult(64)), cost(mul(64)));
        assert!(cost(mul(64)) <= 3469, "{}", cost(mul(64)));
        assert!(cost(mul(2048)) <= 1_340_000, "{}", cost(mul(2048)));
        assert!(cost(div(64)) <= 3330, "{}", cost(div(64)));
        assert_eq!(cost(millionaires(64)), 64);
        assert!(cost(compare(64)) <= 127);
        assert!(cost(mult_schoolbook(200)) <= 200 * 200 + 200);
        assert!(cost(mult_schoolbook(1025)) <= 1025 * 1025 + 17 * 1025);
    }

    #[test]
    fn wide_products_are_small_as_programs() {
        for (circuit, most) in [(mult_schoolbook(2048), 2048 * 2048 + 2048), (mul(2048), 1_340_000)]
        {
            let circuit = circuit.unwrap();
            assert!(and_count(&circuit) <= most);
            let steps: usize = circuit.components().iter().map(|c| c.steps.len()).sum();
            assert!(steps < 200_000, "{steps}");
            let x = (BigUint::from(1u8) << 2048) - 3u8;
            let y = BigUint::from(7u8).pow(729);
            let expected = (&x * &y) % (BigUint::from(1u8) << 2048);
            assert_eq!(run(&circuit, &[x, y]), [expected]);
        }
    }
}
