//! Operations compared with integers of the host; components; sweeping.

use proptest::prelude::*;

use super::*;
use crate::{CircuitError, reference};

/// Returns a circuit of two words of `width` bits with the outputs of `make`.
fn circuit(width: u32, make: impl Fn(&mut Gates, &Word, &Word) -> Vec<Word>) -> Circuit {
    let mut b = Builder::new("test");
    let x = b.input("x", Type::Uint(width), 0);
    let y = b.input("y", Type::Uint(width), 1);
    for (i, word) in make(&mut b, &x, &y).iter().enumerate() {
        b.output(format!("z{i}"), word, Type::Uint(word.width() as u32), Receivers::All);
    }
    b.finish().unwrap()
}

fn eval(circuit: &Circuit, x: u128, y: u128) -> Vec<u128> {
    let width = circuit.inputs()[0].ty.width() as u32;
    let bits: Vec<bool> =
        [x, y].iter().flat_map(|v| (0..width).map(move |i| v >> i & 1 == 1)).collect();
    let out = reference::eval(circuit, &bits);
    let mut out = out.iter();
    let value = |output: &Output| {
        let word = out.by_ref().take(output.ty.width() as usize).enumerate();
        word.map(|(i, &bit)| u128::from(bit) << i).sum()
    };
    circuit.outputs().iter().map(value).collect()
}

/// Returns `value` as a two's-complement integer of `width` bits.
fn signed(value: u128, width: u32) -> i128 {
    (value << (128 - width)) as i128 >> (128 - width)
}

fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

/// Compares with a model on all pairs of 5 bits, and on random pairs of other widths.
fn agrees(
    make: impl Fn(&mut Gates, &Word, &Word) -> Vec<Word>,
    model: impl Fn(u32, u128, u128) -> Vec<u128>,
) {
    let small = circuit(5, &make);
    for (x, y) in (0..32).flat_map(|x| (0..32).map(move |y| (x, y))) {
        assert_eq!(eval(&small, x, y), model(5, x, y), "{x} {y}");
    }
    let edges = [0, 1, 2, mask(64), mask(63), 1 << 63, 0x0123_4567_89ab_cdef_f00d, 0xfedc_ba98];
    for width in [1, 2, 7, 32, 33, 64] {
        let circuit = circuit(width, &make);
        for (&x, &y) in edges.iter().flat_map(|x| edges.iter().map(move |y| (x, y))) {
            let (x, y) = (x & mask(width), y & mask(width));
            assert_eq!(eval(&circuit, x, y), model(width, x, y), "{width} bits: {x} {y}");
        }
    }
}

#[test]
fn addition_and_subtraction() {
    agrees(
        |g, x, y| {
            let (sum, carry) = g.add_with_carry(x, y, Bit::ONE);
            let (difference, borrow) = g.sub_with_borrow(x, y);
            vec![
                g.add(x, y),
                sum,
                carry.into(),
                g.sub(x, y),
                difference,
                borrow.into(),
                g.neg(x),
                g.neg_if(y[0], x),
                g.abs(x),
            ]
        },
        |width, x, y| {
            let m = mask(width);
            let difference = x.wrapping_sub(y) & m;
            let negative = x.wrapping_neg() & m;
            vec![
                (x + y) & m,
                (x + y + 1) & m,
                (x + y + 1) >> width,
                difference,
                difference,
                u128::from(x < y),
                negative,
                if y & 1 == 1 { negative } else { x },
                signed(x, width).unsigned_abs(),
            ]
        },
    );
}

#[test]
fn multiplication() {
    agrees(
        |g, x, y| {
            vec![
                g.mul(x, y),
                g.mul_full(x, y),
                g.mul_add(x, y, y),
                g.mul_full_add(x, y, y, x),
                g.mul_full(x, x),
                g.mul(x, x),
                g.mul_in_parts(x, y),
                g.mul_in_parts(x, x),
            ]
        },
        |width, x, y| {
            let m = mask(width);
            let low = (x * y) & m;
            vec![low, x * y, (x * y + y) & m, x * y + x + y, x * x, (x * x) & m, low, (x * x) & m]
        },
    );
}

#[test]
fn multiplication_of_extended_and_constant_words() {
    agrees(
        |g, x, y| {
            let wide = x.width() + 9;
            let c = |value: u128| Word::constant(x.width(), value);
            let mut words = vec![
                g.mul(&x.resize_signed(wide), &y.resize_signed(wide)),
                g.mul(&x.resize_signed(wide), &y.resize(wide)),
                g.mul(&x.resize_signed(2 * x.width()), &y.resize_signed(2 * x.width())),
                g.mul(&x.shl(1), &y.shl(2)),
            ];
            words.extend([1, 10, 0x77, 0xfff0, u128::MAX].map(|v| g.mul(x, &c(v))));
            words.extend([3, 255].map(|v| g.mul(&c(v), y)));
            words
        },
        |width, x, y| {
            let (m, wide) = (mask(width), mask(width + 9));
            let (sx, sy) = (signed(x, width), signed(y, width));
            let product = sx.wrapping_mul(sy) as u128;
            let double = mask(2 * width);
            let mut words = vec![
                product & wide,
                (sx.wrapping_mul(y as i128)) as u128 & wide,
                product & double,
                x.wrapping_mul(y).wrapping_mul(8) & m,
            ];
            words.extend([1, 10, 0x77, 0xfff0, u128::MAX].map(|v| x.wrapping_mul(v) & m));
            words.extend([3, 255].map(|v| y.wrapping_mul(v & m) & m));
            words
        },
    );
}

#[test]
fn division() {
    agrees(
        |g, x, y| {
            let (q, r) = g.div_rem(x, y);
            let (sq, sr) = g.div_rem_signed(x, y);
            vec![q, r, sq, sr, g.sqrt(x), g.sqrt(&x.resize(x.width() + 1))]
        },
        |width, x, y| {
            let m = mask(width);
            let root = x.isqrt();
            if y == 0 {
                return vec![m, x, m, x, root, root];
            }
            let (sx, sy) = (signed(x, width), signed(y, width));
            vec![x / y, x % y, (sx / sy) as u128 & m, (sx % sy) as u128 & m, root, root]
        },
    );
}

#[test]
fn division_of_words_with_constants() {
    agrees(
        |g, x, y| {
            let width = x.width();
            let narrow = y.slice(0..width.div_ceil(2)).resize(width);
            let even = y.shl(1);
            let mut words = Vec::new();
            for divisor in [&narrow, &even, &narrow.shl(1)] {
                let (q, r) = g.div_rem(x, divisor);
                words.extend([q, r]);
            }
            let (q, r) = g.div_rem(&x.shr(2), y);
            words.extend([q, r]);
            for divisor in [0, 1, 2, 3, 10, 12, 255] {
                let (q, r) = g.div_rem(x, &Word::constant(width, divisor));
                words.extend([q, r]);
            }
            words
        },
        |width, x, y| {
            let m = mask(width);
            let narrow = y & mask(width.div_ceil(2));
            let mut pairs = vec![(x, narrow), (x, y << 1 & m), (x, narrow << 1 & m), (x >> 2, y)];
            pairs.extend([0, 1, 2, 3, 10, 12, 255].map(|divisor| (x, divisor & m)));
            pairs
                .into_iter()
                .flat_map(|(x, y)| [x.checked_div(y).unwrap_or(m), x.checked_rem(y).unwrap_or(x)])
                .collect()
        },
    );
}

#[test]
fn comparison_and_choice() {
    agrees(
        |g, x, y| {
            let bits = [
                g.lt(x, y),
                g.le(x, y),
                g.eq(x, y),
                g.lt_signed(x, y),
                g.le_signed(x, y),
                g.any(x),
                g.all(x),
            ];
            let mut words: Vec<Word> = bits.into_iter().map(Word::from).collect();
            words.extend([g.min(x, y), g.max(x, y), g.min_signed(x, y), g.max_signed(x, y)]);
            words.push(g.select(x[0], x, y));
            words.extend([g.and(x, y), g.or(x, y), g.xor(x, y)]);
            words
        },
        |width, x, y| {
            let (sx, sy) = (signed(x, width), signed(y, width));
            let bits = [x < y, x <= y, x == y, sx < sy, sx <= sy, x != 0, x == mask(width)];
            let mut words: Vec<u128> = bits.into_iter().map(u128::from).collect();
            words.extend([x.min(y), x.max(y)]);
            words.extend([sx.min(sy), sx.max(sy)].map(|v| v as u128 & mask(width)));
            words.push(if x & 1 == 1 { x } else { y });
            words.extend([x & y, x | y, x ^ y]);
            words
        },
    );
}

#[test]
fn shifts_and_counts() {
    agrees(
        |g, x, y| {
            vec![
                g.shl_by(x, y),
                g.shr_by(x, y),
                g.sar_by(x, y),
                g.rotl_by(x, y),
                g.rotr_by(x, y),
                g.popcount(x),
            ]
        },
        |width, x, y| {
            let m = mask(width);
            let w = u128::from(width);
            let rotl = |by: u128| (x << by | x >> (w - by)) & m;
            let by = y.min(127) as u32;
            vec![
                if y < w { (x << y) & m } else { 0 },
                if y < w { x >> y } else { 0 },
                (signed(x, width) >> by) as u128 & m,
                rotl(y % w),
                rotl((w - y % w) % w),
                x.count_ones().into(),
            ]
        },
    );
}

#[test]
fn costs_are_those_documented() {
    let cost = |width: u32, make: fn(&mut Gates, &Word, &Word) -> Word| {
        and_count(&circuit(width, |g, x, y| vec![make(g, x, y)]))
    };
    assert_eq!(cost(64, |g, x, y| g.add(x, y)), 63);
    assert_eq!(cost(64, |g, x, y| g.sub(x, y)), 63);
    assert_eq!(cost(64, |g, x, _| g.neg(x)), 62);
    assert_eq!(cost(8, |g, x, y| g.mul(x, y)), 42);
    assert_eq!(cost(64, |g, x, y| g.mul_add(x, y, &Word::zero(64))), 4033);
    for (most, name, found) in [
        (3469, "mul", cost(64, |g, x, y| g.mul(x, y))),
        (4912, "mul_full", cost(64, |g, x, y| g.mul_full(x, y))),
        (2840, "square", cost(64, |g, x, _| g.mul_full(x, x))),
        (
            3330,
            "div_rem",
            cost(64, |g, x, y| {
                let (q, r) = g.div_rem(x, y);
                Word::join([&q, &r])
            }),
        ),
        (
            3600,
            "div_rem_signed",
            cost(64, |g, x, y| {
                let (q, r) = g.div_rem_signed(x, y);
                Word::join([&q, &r])
            }),
        ),
        (600, "sqrt", cost(64, |g, x, _| g.sqrt(x))),
        (130, "times 10", cost(64, |g, x, _| g.mul(x, &Word::constant(64, 10)))),
        (130, "times 2^20 - 1", cost(64, |g, x, _| g.mul(x, &Word::constant(64, 0xf_ffff)))),
        (260, "by 10", cost(64, |g, x, _| g.div_rem(x, &Word::constant(64, 10)).0)),
        (0, "by 16", cost(64, |g, x, _| g.div_rem(x, &Word::constant(64, 16)).0)),
        (1100, "by 8 bits", cost(64, |g, x, y| g.div_rem(x, &y.resize(8).resize(64)).0)),
    ] {
        eprintln!("{name} {found}");
        assert!(found <= most, "{name}: {found} of {most}");
    }
    assert_eq!(cost(64, |g, x, y| g.lt(x, y).into()), 64);
    assert_eq!(cost(64, |g, x, y| g.le_signed(x, y).into()), 64);
    assert_eq!(cost(64, |g, x, y| g.eq(x, y).into()), 63);
    assert_eq!(cost(64, |g, x, y| g.select(x[0], y, x)), 64);
    assert_eq!(cost(64, |g, x, y| g.min(x, y)), 128);
    assert_eq!(cost(64, |g, x, _| g.popcount(x)), 63);
    assert_eq!(cost(63, |g, x, _| g.popcount(x)), 57);
    assert_eq!(cost(64, |g, x, y| g.shl_by(x, &y[..6])), 6 * 64);
    assert!(cost(64, |g, x, y| g.rotl_by(x, y)) <= 6 * 64);
}

proptest! {
    #[test]
    fn sums_of_many_words(values in prop::collection::vec(any::<u16>(), 0..12)) {
        let mut b = Builder::new("sum");
        let x = b.input("x", Type::words(12, 16), 0).split(16);
        let terms: Vec<&[Bit]> = x[..values.len()].iter().map(|w| &**w).collect();
        let sum = b.sum(16, &terms);
        b.output("sum", &sum, Type::Uint(16), Receivers::All);
        let circuit = b.finish().unwrap();
        prop_assert!(and_count(&circuit) <= 15 * (values.len() as u64).saturating_sub(1));
        let bits = (0..192).map(|i| values.get(i / 16).is_some_and(|v| v >> (i % 16) & 1 == 1));
        let out = reference::eval(&circuit, &bits.collect::<Vec<_>>());
        let expected = values.iter().fold(0u16, |sum, &v| sum.wrapping_add(v));
        prop_assert_eq!((0..16).map(|i| u16::from(out[i]) << i).sum::<u16>(), expected);
    }

    #[test]
    fn arrays_are_read_and_written_and_sorted(
        values in prop::collection::vec(0u128..64, 1..12),
        index_width in 0usize..6,
        index in 0u128..32,
        value in 0u128..64,
    ) {
        let index = index & ((1 << index_width) - 1);
        // Everything constant would fold away: the values come in through XOR with an input.
        let len = values.len();
        let make = |g: &mut Gates, x: &Word, _: &Word| {
            let low: Word = x[..6].to_vec().into();
            let mut word = |v: u128| g.xor(&low, &Word::constant(6, v));
            let array: Vec<Word> = values.iter().map(|&v| word(v)).collect();
            let value = word(value);
            let index: Word = (0..index_width)
                .map(|i| g.xor_bit(x[6 + i], Bit::constant(index >> i & 1 == 1)))
                .collect();
            let mut out = vec![g.read(&array, &index)];
            out.extend(g.write(&array, &index, &value));
            out.extend(g.sort(&array));
            out
        };
        let circuit = circuit(12, make);
        let at = index as usize;
        let mut expected = vec![values.get(at).copied().unwrap_or(0)];
        let mut written = values.clone();
        if at < len {
            written[at] = value;
        }
        expected.extend(written);
        let mut sorted = values.clone();
        sorted.sort_unstable();
        expected.extend(sorted);
        prop_assert_eq!(eval(&circuit, 0, 0), expected);
    }
}

#[test]
fn array_costs() {
    let mut g = Gates::new();
    let array = g.input_wires(16 * 8).split(8);
    let index = g.input_wires(4);
    g.read(&array, &index);
    assert_eq!(g.and_count(), 15 * 8);
    g.write(&array, &index, &array[0].clone());
    assert!(g.and_count() <= 15 * 8 + 16 * 8 + 14);
}

#[test]
fn what_reaches_no_output_vanishes_but_inputs_stay() {
    let mut c = ComponentBuilder::new("unused");
    let x = c.input(4);
    let product = c.mul(&x, &x);
    c.output(&product);
    let unused = c.finish().unwrap();

    let mut b = Builder::new("test");
    let x = b.input("x", Type::Uint(4), 0);
    let wasted = b.call_one(&unused, &[&x]);
    let y = b.input("y", Type::Uint(4), 1);
    let kept = b.and(&x, &wasted);
    let _ = b.add(&kept, &y);
    let sum = b.xor(&x, &y);
    b.output("sum", &sum, Type::Uint(4), Receivers::All);
    let circuit = b.finish().unwrap();
    assert_eq!(circuit.components().len(), 1);
    let main = circuit.main();
    assert_eq!((main.inputs, main.wires, main.steps.len()), (8, 12, 4));
    assert_eq!(eval(&circuit, 0b1100, 0b1010), [0b0110]);
}

#[test]
fn components_stand_once_and_are_called_often() {
    let mut c = ComponentBuilder::new("inner");
    let (x, y) = (c.input(8), c.input(8));
    let (sum, carry) = c.add_with_carry(&x, &y, Bit::ZERO);
    c.output(&sum);
    c.output(&[carry]);
    let inner = c.finish().unwrap();
    assert_eq!(inner.and_count(), 8);

    let mut c = ComponentBuilder::new("outer");
    let x = c.input(8);
    // Arguments out of order, inverted, constant: none of these is a run of wires.
    let twisted: Word = x.iter().rev().map(|&bit| !bit).collect();
    let first = c.call(&inner, &[&twisted, &Word::constant(8, 0x81)]);
    let second = c.call(&inner, &[&first[0], &x])[0].clone();
    c.output(&second);
    let outer = c.finish().unwrap();
    assert_eq!(outer.and_count(), 16);

    let mut b = Builder::new("test");
    let x = b.input("x", Type::Uint(8), 0);
    let once = b.call_one(&outer, &[&x]);
    // An input declared after gates and calls is still an input.
    let y = b.input("y", Type::Uint(8), 1);
    let twice = b.call_one(&outer, &[&once]);
    let crossing = Word::join([&x.slice(4..8), &y.slice(0..4)]);
    let last = b.call(&inner, &[&crossing, &twice]);
    b.output("sum", &last[0], Type::Uint(8), Receivers::All);
    b.output("carry", &last[1], Type::Uint(1), Receivers::only([1]));
    assert_eq!(b.and_count(), 40);
    let circuit = b.finish().unwrap();
    let names: Vec<&str> = circuit.components().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["inner", "outer", "test"]);
    assert_eq!(and_count(&circuit), 40);

    let model = |x: u8| (!x.reverse_bits()).wrapping_add(0x81).wrapping_add(x);
    for (x, y) in [(0u8, 0u8), (0xff, 0xff), (0x5a, 0xc3), (0x17, 0x80)] {
        let (sum, carry) = (x >> 4 | y << 4).overflowing_add(model(model(x)));
        assert_eq!(eval(&circuit, x.into(), y.into()), [u128::from(sum), u128::from(carry)]);
    }
}

#[test]
fn outputs_may_be_constants_inputs_and_inversions() {
    let circuit = circuit(2, |_, x, y| {
        let all = [x[0], !x[0], y[1], !y[1], Bit::ZERO, Bit::ONE, !x[0]];
        vec![all.to_vec().into()]
    });
    for x in 0..4u128 {
        for y in 0..4 {
            let (a, b) = (x & 1, y >> 1);
            let expected = a | (1 - a) << 1 | b << 2 | (1 - b) << 3 | 1 << 5 | (1 - a) << 6;
            assert_eq!(eval(&circuit, x, y), [expected]);
        }
    }
}

#[test]
fn ports_that_do_not_fit_are_refused() {
    let build = |width: u32, ty: Type, name: &str| {
        let mut b = Builder::new("test");
        let x = b.input("x", Type::Uint(width), 0);
        b.output("z", &x, ty.clone(), Receivers::All);
        b.output(name, &x, ty, Receivers::All);
        b.finish()
    };
    assert!(build(4, Type::words(2, 2), "w").is_ok());
    let refused = |result| matches!(result, Err(CircuitError::Invalid(_)));
    assert!(refused(build(4, Type::Uint(5), "w")));
    assert!(refused(build(4, Type::Uint(4), "z")));
    assert!(refused(build(0, Type::Uint(0), "w")));
}

#[test]
fn the_cost_of_products_and_quotients_is_known_before_they_are_made() {
    for width in [1, 8, 13, 33, 64, 100] {
        let mut b = Builder::new("p");
        let x = b.input("x", Type::Uint(width as u32), 0);
        let y = b.input("y", Type::Uint(width as u32), 1);
        for (x, y) in [(&x, &y), (&x, &x)] {
            let before = b.and_count();
            let expected = b.product_ands(x, y, 2 * width);
            b.mul_full(x, y);
            let made = b.and_count() - before;
            assert!(made.abs_diff(expected) * 10 <= expected, "{width}: {made} for {expected}");
        }
        let (before, expected) = (b.and_count(), b.division_ands(&x, &y));
        b.div_rem(&x, &y);
        let made = b.and_count() - before;
        assert!(made.abs_diff(expected) <= 2 * width as u64 + 8, "{width}: {made}, {expected}");
    }
    // Schoolbook rows would be 134 million.
    let mut b = Builder::new("p");
    let x = b.input("x", Type::Uint(8192), 0);
    let y = b.input("y", Type::Uint(8192), 1);
    assert!(b.product_ands(&x, &y, 8192) < 12_000_000);
}

#[test]
fn a_decoded_word_has_one_place_and_takes_the_fewest_ands() {
    for bits in 1..=8 {
        let mut b = Builder::new("decode");
        let word = b.input("word", Type::Uint(bits), 0);
        let before = b.and_count();
        let places = b.decode(&word);
        assert_eq!(b.and_count() - before, (1 << bits) - u64::from(bits) - 1);
        b.output("places", &places, Type::Uint(1 << bits), Receivers::All);
        let circuit = b.finish().expect("a circuit");
        for number in 0..1usize << bits {
            let input: Vec<bool> = (0..bits).map(|bit| number >> bit & 1 == 1).collect();
            let places = crate::eval_bits(&circuit, &input);
            assert!(places.iter().enumerate().all(|(place, bit)| *bit == (place == number)));
        }
    }
    assert_eq!(Builder::new("none").decode(&[]).width(), 1);
}
