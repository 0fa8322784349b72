//! Floats compared with the processor.

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::*;
use crate::builder::{Builder, and_count};
use crate::{Circuit, Plan, Receivers, Type, eval_words};

/// Returns the circuit that applies `make` to words of these widths.
fn circuit(widths: &[usize], make: impl FnOnce(&mut Gates, &[Word]) -> Word) -> Circuit {
    let mut b = Builder::new("float");
    let inputs: Vec<Word> = widths
        .iter()
        .enumerate()
        .map(|(i, &width)| b.input(format!("x{i}"), Type::Uint(width as u32), 0))
        .collect();
    let word = make(&mut b, &inputs);
    b.output("z", &word, Type::Uint(word.width() as u32), Receivers::All);
    b.finish().expect("the ports are right")
}

/// Returns the circuit's values for many inputs, computed 64 at a time.
fn run(circuit: &Circuit, cases: &[Vec<u64>]) -> Vec<u64> {
    let plan = Plan::new(circuit);
    let mut results = Vec::with_capacity(cases.len());
    for cases in cases.chunks(64) {
        let mut words = Vec::new();
        for (place, input) in circuit.inputs().iter().enumerate() {
            for bit in 0..input.ty.width() {
                let lanes = cases.iter().enumerate();
                words.push(lanes.map(|(lane, case)| (case[place] >> bit & 1) << lane).sum());
            }
        }
        let out = eval_words(&plan, &words);
        results.extend((0..cases.len()).map(|lane| {
            out.iter().enumerate().map(|(bit, word)| (word >> lane & 1) << bit).sum::<u64>()
        }));
    }
    results
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a number whose exponent and fraction are special more often than at random.
    fn float(&mut self, f: Format) -> u64 {
        let mask = |bits: usize| (1u64 << bits) - 1;
        let draw = self.next();
        let fraction = match draw & 7 {
            0 => 0,
            1 => mask(f.fraction),
            2 => 1 << (self.next() % f.fraction as u64),
            3 => mask(f.fraction) & !(1 << (self.next() % f.fraction as u64)),
            4 => self.next() & mask(f.fraction) & mask(1 + (self.next() % 40) as usize),
            _ => self.next() & mask(f.fraction),
        };
        let bias = f.bias() as u64;
        let exponent = match draw >> 3 & 7 {
            0 => 0,
            1 => mask(f.exponent) - (self.next() & 1),
            2 => 1 + self.next() % 30,
            3 | 4 => bias - 30 + self.next() % 60,
            5 => bias / 2 - 15 + self.next() % 30,
            _ => self.next() & mask(f.exponent),
        };
        (draw >> 63) << (f.width() - 1) | exponent << f.fraction | fraction
    }
}

/// Returns every pair of some numbers, then pairs of random ones, which are often close to each
/// other.
fn pairs(f: Format, random: &mut Random, count: usize) -> Vec<Vec<u64>> {
    let mut hard = Vec::new();
    let top = 1u64 << (f.width() - 1);
    let infinity = ((1u64 << f.exponent) - 1) << f.fraction;
    let one = (f.bias() as u64) << f.fraction;
    for x in [0, 1, 2, 3, infinity, f.nan(), infinity + 1, one, one + 1, one - 1] {
        hard.extend([x, x | top]);
    }
    let least = 1u64 << f.fraction;
    for x in [least, least - 1, least + 1, infinity - 1, infinity - least, one << 1 & !top] {
        hard.extend([x, x | top]);
    }
    let mut pairs: Vec<Vec<u64>> =
        hard.iter().flat_map(|&x| hard.iter().map(move |&y| vec![x, y])).collect();
    while pairs.len() < count {
        let x = random.float(f);
        let y = match random.next() % 8 {
            0 => x ^ top,
            1 => {
                (x ^ top).wrapping_add(random.next() % 9).wrapping_sub(4)
                    & (top << 1).wrapping_sub(1)
            }
            2 => x ^ (random.next() & 7) << f.fraction ^ (random.next() & 3),
            _ => random.float(f),
        };
        pairs.push(vec![x, y]);
    }
    pairs
}

fn check(name: &str, circuit: &Circuit, cases: &[Vec<u64>], model: impl Fn(&[u64]) -> u64) {
    for (case, found) in cases.iter().zip(run(circuit, cases)) {
        assert_eq!(found, model(case), "{name} of {case:x?}");
    }
}

fn f32_bits(x: f32) -> u64 {
    if x.is_nan() { F32.nan() } else { x.to_bits().into() }
}

fn f64_bits(x: f64) -> u64 {
    if x.is_nan() { F64.nan() } else { x.to_bits() }
}

type Binary = fn(&mut Gates, Format, &[Bit], &[Bit]) -> Word;

fn binary(f: Format, op: Binary) -> Circuit {
    circuit(&[f.width(); 2], |g, x| op(g, f, &x[0], &x[1]))
}

const LESS: Binary = |g, f, x, y| g.float_lt(f, x, y).into();
const NOT_MORE: Binary = |g, f, x, y| g.float_le(f, x, y).into();
const EQUAL: Binary = |g, f, x, y| g.float_eq(f, x, y).into();
const KEYS: Binary = |g, f, x, y| {
    let (x, y) = (g.float_key(f, x), g.float_key(f, y));
    g.lt(&x, &y).into()
};
const ROOT: Binary = |g, f, x, _| g.float_sqrt(f, x);

fn compare_all(seed: u64, count: usize) {
    macro_rules! compare {
        ($format:expr, $float:ty, $uint:ty, $bits:expr) => {{
            let cases = pairs($format, &mut Random(seed), count);
            type Model = fn($float, $float) -> u64;
            let operations: [(&str, Binary, Model); 10] = [
                ("add", Gates::float_add, |x, y| $bits(x + y)),
                ("sub", Gates::float_sub, |x, y| $bits(x - y)),
                ("mul", Gates::float_mul, |x, y| $bits(x * y)),
                ("div", Gates::float_div, |x, y| $bits(x / y)),
                ("sqrt", ROOT, |x, _| $bits(x.sqrt())),
                ("lt", LESS, |x, y| u64::from(x < y)),
                ("le", NOT_MORE, |x, y| u64::from(x <= y)),
                ("eq", EQUAL, |x, y| u64::from(x == y)),
                ("total order", KEYS, |x, y| u64::from(x.total_cmp(&y).is_lt())),
                (
                    "neg",
                    |g, f, x, _| {
                        let mut x: Word = x.to_vec().into();
                        x[f.width() - 1] = !x[f.width() - 1];
                        let _ = g;
                        x
                    },
                    |x, _| (-x).to_bits().into(),
                ),
            ];
            for (name, op, model) in operations {
                let value = |bits: u64| <$float>::from_bits(bits as $uint);
                let circuit = binary($format, op);
                check(name, &circuit, &cases, |case| model(value(case[0]), value(case[1])));
            }
        }};
    }
    compare!(F32, f32, u32, f32_bits);
    compare!(F64, f64, u64, f64_bits);
}

#[test]
fn operations_equal_the_processors() {
    compare_all(1, 6_000);
}

/// Does the same against a library that computes with integers.
fn compare_with_apfloat<F: Float>(f: Format, seed: u64, count: usize) {
    let cases = pairs(f, &mut Random(seed), count);
    let value = |bits: u64| F::from_bits(bits.into());
    let bits = |x: F| if x.is_nan() { f.nan() } else { x.to_bits() as u64 };
    let near = Round::NearestTiesToEven;
    type Model<F> = fn(F, F, Round) -> F;
    let operations: [(&str, Binary, Model<F>); 4] = [
        ("add", Gates::float_add, |x, y, round| x.add_r(y, round).value),
        ("sub", Gates::float_sub, |x, y, round| x.sub_r(y, round).value),
        ("mul", Gates::float_mul, |x, y, round| x.mul_r(y, round).value),
        ("div", Gates::float_div, |x, y, round| x.div_r(y, round).value),
    ];
    for (name, op, model) in operations {
        let circuit = binary(f, op);
        check(name, &circuit, &cases, |x| bits(model(value(x[0]), value(x[1]), near)));
    }
    let order = |x: &[u64]| value(x[0]).partial_cmp(&value(x[1]));
    check("lt", &binary(f, LESS), &cases, |x| order(x).is_some_and(|o| o.is_lt()).into());
    check("le", &binary(f, NOT_MORE), &cases, |x| order(x).is_some_and(|o| o.is_le()).into());
    check("eq", &binary(f, EQUAL), &cases, |x| order(x).is_some_and(|o| o.is_eq()).into());
}

/// Checks operations without subnormal numbers: a result below the least normal number stays below
/// it when it is rounded towards zero.
fn compare_fast<F: Float>(f: Format, seed: u64, count: usize) {
    let sign = 1 << (f.width() - 1);
    let flush = |bits: u64| match bits >> f.fraction & ((1 << f.exponent) - 1) {
        0 => bits & sign,
        _ => bits,
    };
    let bits = |x: F| if x.is_nan() { f.nan() } else { x.to_bits() as u64 };
    type Model<F> = fn(F, F, Round) -> F;
    let operations: [(&str, Binary, Model<F>); 4] = [
        ("fast add", Gates::float_add_fast, |x, y, round| x.add_r(y, round).value),
        ("fast sub", Gates::float_sub_fast, |x, y, round| x.sub_r(y, round).value),
        ("fast mul", Gates::float_mul_fast, |x, y, round| x.mul_r(y, round).value),
        ("fast div", Gates::float_div_fast, |x, y, round| x.div_r(y, round).value),
    ];
    // Products and quotients near the least normal number.
    let mut cases = pairs(f, &mut Random(seed), count);
    let mut random = Random(seed + 1);
    for _ in 0..count / 4 {
        let (x, y) = (random.float(f), random.next());
        let field = |bits: u64| bits >> f.fraction & ((1 << f.exponent) - 1);
        let bias = f.bias() as u64;
        let near = random.next() % 4;
        let product = (bias + near).saturating_sub(field(x) + 1);
        let quotient = (field(x) + bias).saturating_sub(near);
        let fields = 1 << f.exponent;
        for other in [product, quotient].into_iter().filter(|&other| other < fields) {
            cases.push(vec![
                x,
                y & !((fields - 1) << f.fraction) & (sign << 1).wrapping_sub(1)
                    | other << f.fraction,
            ]);
        }
    }
    for (name, op, model) in operations {
        check(name, &binary(f, op), &cases, |case| {
            let [x, y] = [case[0], case[1]].map(|x| F::from_bits(flush(x).into()));
            let cut = bits(model(x, y, Round::TowardZero));
            match flush(cut) {
                flushed if flushed & (sign - 1) == 0 => flushed,
                _ => bits(model(x, y, Round::NearestTiesToEven)),
            }
        });
    }
    let root: Binary = |g, f, x, _| g.float_sqrt_fast(f, x);
    check("fast sqrt", &binary(f, root), &cases, |case| match f == F32 {
        true => f32_bits(f32::from_bits(flush(case[0]) as u32).sqrt()),
        false => f64_bits(f64::from_bits(flush(case[0])).sqrt()),
    });
}

#[test]
fn fast_operations_flush_to_zero() {
    compare_fast::<Single>(F32, 11, 3_000);
    compare_fast::<Double>(F64, 12, 3_000);
}

fn convert_with_apfloat(seed: u64, count: usize) {
    let mut random = Random(seed);
    let (singles, doubles) = (pairs(F32, &mut random, count), pairs(F64, &mut random, count));
    let widen = circuit(&[32, 32], |g, x| g.float_convert(F32, F64, &x[0]));
    check("f32 as f64", &widen, &singles, |x| {
        let value: Double = Single::from_bits(x[0].into()).convert(&mut false).value;
        if value.is_nan() { F64.nan() } else { value.to_bits() as u64 }
    });
    let narrow = circuit(&[64, 64], |g, x| g.float_convert(F64, F32, &x[0]));
    check("f64 as f32", &narrow, &doubles, |x| {
        let value: Single = Double::from_bits(x[0].into()).convert(&mut false).value;
        if value.is_nan() { F32.nan() } else { value.to_bits() as u64 }
    });
    let cut = circuit(&[64, 64], |g, x| g.float_to_int(F64, &x[0], (37, true), 0));
    check("f64 as i37", &cut, &doubles, |x| {
        let value = Double::from_bits(x[0].into()).to_i128_r(37, Round::TowardZero, &mut false);
        value.value as u64 & ((1 << 37) - 1)
    });
}

#[test]
fn operations_equal_a_soft_float_library() {
    compare_with_apfloat::<Single>(F32, 5, 3_000);
    compare_with_apfloat::<Double>(F64, 6, 3_000);
    convert_with_apfloat(7, 3_000);
}

#[test]
#[ignore = "takes some minutes"]
fn operations_equal_a_soft_float_library_a_million_times() {
    compare_with_apfloat::<Single>(F32, 8, 1_000_000);
    compare_with_apfloat::<Double>(F64, 9, 1_000_000);
    compare_fast::<Single>(F32, 13, 1_000_000);
    compare_fast::<Double>(F64, 14, 1_000_000);
    convert_with_apfloat(10, 1_000_000);
}

#[test]
#[ignore = "takes some minutes"]
fn operations_equal_the_processors_a_million_times() {
    compare_all(2, 1_000_000);
}

fn convert_all(seed: u64, count: usize) {
    let mut random = Random(seed);
    let singles = pairs(F32, &mut random, count);
    let doubles = pairs(F64, &mut random, count);
    let widen = circuit(&[32, 32], |g, x| g.float_convert(F32, F64, &x[0]));
    check("f32 as f64", &widen, &singles, |x| f64_bits(f32::from_bits(x[0] as u32).into()));
    let narrow = circuit(&[64, 64], |g, x| g.float_convert(F64, F32, &x[0]));
    check("f64 as f32", &narrow, &doubles, |x| f32_bits(f64::from_bits(x[0]) as f32));
    macro_rules! integers {
        ($($int:ty, $signed:expr, $width:expr;)*) => {$(
            let to = circuit(&[32, 32], |g, x| g.float_to_int(F32, &x[0], ($width, $signed), 0));
            let mask = u64::MAX >> (64 - $width);
            check("f32 as integer", &to, &singles, |x| {
                f32::from_bits(x[0] as u32) as $int as u64 & mask
            });
            let to = circuit(&[64, 64], |g, x| g.float_to_int(F64, &x[0], ($width, $signed), 0));
            check("f64 as integer", &to, &doubles, |x| f64::from_bits(x[0]) as $int as u64 & mask);
            let cases: Vec<Vec<u64>> = (0..count)
                .map(|_| {
                    let x = random.next() >> (random.next() % 64);
                    vec![if random.next() % 2 == 0 { x & mask } else { x.wrapping_neg() & mask }]
                })
                .collect();
            let from = circuit(&[$width], |g, x| g.float_from_int(F32, &x[0], $signed, 0));
            check("integer as f32", &from, &cases, |x| f32_bits(x[0] as $int as f32));
            let from = circuit(&[$width], |g, x| g.float_from_int(F64, &x[0], $signed, 0));
            check("integer as f64", &from, &cases, |x| f64_bits(x[0] as $int as f64));
        )*};
    }
    integers!(u8, false, 8; i8, true, 8; u32, false, 32; i32, true, 32; u64, false, 64;
              i64, true, 64;);
}

#[test]
fn conversions_equal_the_processors() {
    convert_all(3, 3_000);
}

#[test]
#[ignore = "takes some minutes"]
fn conversions_equal_the_processors_a_million_times() {
    convert_all(4, 1_000_000);
}

#[test]
fn costs_are_those_documented() {
    let cost = |f, op: Binary| and_count(&binary(f, op));
    let goals: [(&str, Format, Binary, u64); 13] = [
        ("f32 fast add", F32, Gates::float_add_fast, 600),
        ("f32 fast mul", F32, Gates::float_mul_fast, 850),
        ("f32 fast div", F32, Gates::float_div_fast, 860),
        ("f32 fast sqrt", F32, |g, f, x, _| g.float_sqrt_fast(f, x), 430),
        ("f32 add", F32, Gates::float_add, 950),
        ("f32 mul", F32, Gates::float_mul, 1600),
        ("f32 div", F32, Gates::float_div, 1300),
        ("f32 sqrt", F32, ROOT, 900),
        ("f32 lt", F32, LESS, 105),
        ("f64 add", F64, Gates::float_add, 2500),
        ("f64 mul", F64, Gates::float_mul, 6500),
        ("f64 div", F64, Gates::float_div, 5000),
        ("f64 sqrt", F64, ROOT, 3500),
    ];
    for (name, f, op, most) in goals {
        let found = cost(f, op);
        eprintln!("{name}: {found}");
        assert!(found <= most, "{name}: {found} of {most}");
    }
}
