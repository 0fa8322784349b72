//! What people who know Rust write: it computes what it does there, or the error says what to write
//! instead.

use crate::common::{self, compute, errors_of};

/// A body of `main(x: u32 from 0, a: [u8; 4] from 1) -> (r: u32 to all)`, and its value for 100 and
/// [7, 0, 200, 7].
const BODIES: [(&str, u64); 78] = [
    ("a.len() as u32", 4),
    ("let b = [1u8; a.len()]; b[a.len() - 1] as u32", 1),
    ("let mut s = 0; for i in 0..a.len() { s += a[i] as u32; } s", 214),
    ("[a[i] as u32 for i in 0..a.len()][2]", 200),
    ("x.min(5)", 5),
    ("x.max(500)", 500),
    ("x.clamp(3, 50)", 50),
    ("(x, 3).min((7, 9)).0", 7),
    ("x + u8::MAX as u32", 355),
    ("u32::MAX - x", 0xffff_ff9b),
    ("(i8::MIN as i32 + x as i32) as u32", 0xffff_ffe4),
    ("u32::BITS + x", 132),
    ("x.count_ones()", 3),
    ("x.count_zeros()", 29),
    ("x.leading_zeros()", 25),
    ("x.trailing_zeros()", 2),
    ("x.rotate_left(3)", 800),
    ("x.rotate_right(3)", 0x8000_000c),
    ("(x as i32).rotate_left(30) as u32", 25),
    ("x.reverse_bits()", 0x2600_0000),
    ("x.leading_ones() + x.trailing_ones() + (x + 3).trailing_ones() + (!x).leading_ones()", 28),
    ("x.is_power_of_two() as u32 + (x + 28).is_power_of_two() as u32", 1),
    ("(x * 0).is_power_of_two() as u32", 0),
    ("x.div_ceil(3) * 1000 + x.div_ceil(5)", 34_020),
    ("x.div_ceil(0)", 0xffff_ffff),
    ("x.wrapping_pow(5)", 1_410_065_408),
    ("x.saturating_pow(5)", 0xffff_ffff),
    ("x.checked_pow(4).unwrap_or(9)", 100_000_000),
    ("(0 - x as i32).saturating_pow(5) as u32", 0x8000_0000),
    ("x.wrapping_shl(33) + x.wrapping_shr(33)", 250),
    ("i8::MIN.wrapping_abs() as u8 as u32", 128),
    ("i8::MIN.saturating_neg() as u8 as u32", 127),
    ("(x > 3).then_some(x).unwrap_or(3) + (x < 3).then_some(x).unwrap_or(3)", 103),
    ("x.checked_cast::<u8>().unwrap_or(3) as u32", 100),
    ("x.checked_cast::<u6>().unwrap_or(3) as u32", 3),
    ("let y: Option<i7> = x.checked_cast(); y.is_none() as u32", 1),
    ("x.wrapping_add(u32::MAX)", 99),
    ("x.wrapping_sub(101)", 0xffff_ffff),
    ("x.pow(2)", 10_000),
    ("x.pow(0) + x.pow(1)", 101),
    ("(a[0] as u32).pow(x)", 7u64.wrapping_pow(100) as u32 as u64),
    ("x.abs_diff(300)", 200),
    ("(0 - x as i32).abs()", 100),
    ("(0 - x as i32).signum() as u32", 0xffff_ffff),
    ("x.checked_add(u32::MAX).unwrap_or(9)", 9),
    ("(x as i8).checked_add(28).unwrap_or(9) as u32", 9),
    ("(x as i8).checked_mul(1).unwrap_or(9) as u32", 100),
    ("(x as i8).saturating_mul(-2) as u8 as u32", 128),
    ("(a[2].saturating_add(100)) as u32", 255),
    ("a.contains(200) as u32", 1),
    ("a.find(7).unwrap_or(9)", 0),
    ("a.find(8).unwrap_or(9)", 9),
    ("a.sum() as u32", 214),
    ("[y > 3 for y in a].any() as u32 + [y > 3 for y in a].all() as u32", 1),
    ("a.concat([1, 2])[5] as u32", 2),
    ("let mut y = x; for i in (0..4).rev() { y = y * 3 + i; } y", 8202),
    ("let mut y = 0; for b in a.iter() { y = y * 3 + b as u32; } y", 796),
    ("let mut y = 0; for (i, b) in a.iter().enumerate() { y += i * b as u32; } y", 421),
    ("a.sorted()[1] as u32", 7),
    ("assert!(x > 3); x", 100),
    ("assert!(x > 3, \"small\"); assert_eq!(x, 100); assert_ne!(x, 1, \"one\"); x", 100),
    ("let Some(y) = x.checked_add(1) else { return 0; }; y", 101),
    ("let Some(y) = x.checked_sub(101) else { return 6; }; y", 6),
    ("let (Some(y), mut z) = (x.checked_add(1), 4) else { return 6; }; z += y; z", 105),
    ("if let Some(y) = x.checked_add(1) && y > 300 { y } else { 5 }", 5),
    (
        "let mut r = 0; 'o: for i in 0..5 { for j in 0..5 { if i * j == 6 { break 'o; } r += 1; } } r",
        13,
    ),
    (
        "let mut r = 0; 'o: for i in 0..3 { for j in 0..3 { if x == i + j { continue 'o; } if j == i { continue 'o; } r += 1; } r += 100; } r",
        3,
    ),
    (
        "let mut r = 0; 'o: for i in 0..3 { for j in 0..2 { for k in 0..2 { if a[j] as u32 == i + k { break 'o; } r += 1; } r += 10; } r += 100; } r",
        12,
    ),
    ("let [p, q, _, s] = a; p as u32 + q as u32 + s as u32", 14),
    ("match a { [7, .., 7] => 1, [first, ..] => first as u32, }", 1),
    ("let (mut p, mut q) = (1, x); (p, q) = (q, p); p * 2 + q", 201),
    ("let mut b = a; (b[0], b[2]) = (b[2], b[0]); b[0] as u32", 200),
    ("let mut b = a; [b[0], _, _, b[1]] = a; _ = x; b[1] as u32", 7),
    ("if x as u8 < a[2] { 1 } else { 2 }", 1),
    ("match x { 0 => { 1 } 100 => { 2 } _ => { 3 } }", 2),
    (
        "let n = 3; let m = n * 2; let b = [x; m]; let mut s = 0; for i in 0..n { s += b[i]; } s",
        300,
    ),
    ("if a == b\"abcd\" { 1 } else { b'a' as u32 }", 97),
    ("let e = E::Move { x: 3, y: 4 }; match e { E::Move { x, .. } => x as u32, E::Stop => 0 }", 3),
];

#[test]
fn what_people_write_computes() {
    for (body, expected) in BODIES {
        let text = format!(
            "enum E {{ Stop, Move {{ x: u8, y: u8 }} }}
            fn main(x: u32 from 0, a: [u8; 4] from 1) -> (r: u32 to all) {{ {body} }}"
        );
        let found = compute(&text, &["100", "[7, 0, 200, 7]"]);
        assert_eq!(found[0], expected.to_string(), "{body}");
    }
}

#[test]
fn methods_of_a_structure_name_it_self() {
    let text = "struct P { a: u32, b: u32 }
        impl P {
            fn new(a: u32) -> Self { Self { a, b: 1 } }
            fn more(self) -> Self { Self { a: self.a + 1, ..self } }
        }
        fn main(x: u32 from 0) -> (r: u32 to all) { let p = P::new(x).more(); p.a * 10 + p.b }";
    assert_eq!(compute(text, &["4"]), ["51"]);
}

#[test]
fn the_rest_of_a_structure_is_computed_last_and_once() {
    let text = "struct P { a: u8, b: u8 }
        fn main(x: u8 from 0) -> (r: (u8, u8, u8) to all) {
            let mut n = x;
            let p = P { a: { n += 1; n }, ..{ n *= 2; P { a: n, b: n } } };
            (p.a, p.b, n)
        }";
    assert_eq!(compute(text, &["4"]), ["[5, 10, 10]"]);
}

/// Each is not in the language, and the error says what to write.
const REFUSED: [(&str, &str); 69] = [
    ("-x", "write `0 - x`, which wraps, or `-(x as i32)`"),
    ("a[-1] as u32", "`-(x as i"),
    ("assert_eq(x, 3); x", "write `assert_eq!(a, b)`"),
    ("let y: uint32 = x; y", "write `u32`"),
    ("let y: int8_t = 3; x", "write `i8`"),
    ("let y: intx = 3; x", "there is no type `intx`"),
    ("let b = a + a; x", "`a.concat(b)`"),
    ("let b = [..a, ..a]; x", "`a.concat(b)`"),
    ("if x { 1 } else { 2 }", "`x != 0`"),
    ("let y: String = a; x", "write `text<N>`"),
    ("let y: float = 3; x", "did you mean `f32`?"),
    ("let mut y = x; while y > 3 { y = y / 2; } y", "every loop has a known number of rounds"),
    ("let mut y = x; loop { y = y / 2; } y", "leave it with `break`"),
    ("let y = &x; y", "copies are free"),
    ("let f = |y: u32| y + 1; x", "there are no closures"),
    ("println!(\"{}\", x); x", "add it to the results"),
    ("let b = vec![1, 2]; x", "write an array"),
    ("let lenght = x; length", "did you mean `lenght`?"),
    ("std::bits::rol(x, 3)", "did you mean `std::bits::rotl`?"),
    ("std::bit::rotl(x, 3)", "did you mean `std::bits::rotl`?"),
    ("sort(a)[0] as u32", "did you mean `std::sort::sort`?"),
    ("let p = P { alpha: x }; p.alpah", "did you mean `alpha`?"),
    ("let p = P { alpah: x }; 3", "did you mean `alpha`?"),
    ("x.count_one()", "did you mean `count_ones`?"),
    ("a.lenn()", "did you mean `len`?"),
    ("E::Two as u32", "did you mean `E::Tow`?"),
    ("let mut y = x; y++; y", "write `x += 1`"),
    ("x ** 2", "write `x.pow(2)`"),
    ("let y = x.checked_add(1)?; y", "let Some(x) = … else"),
    ("x.checked_add(1).unwrap()", "`.expect("),
    ("x.checked_add(1).map(x)", "there are no closures"),
    ("fn g(y: u32) -> u32 { y } g(x)", "functions are items"),
    ("match x { 0..=9 => 1, 11..=99 => 2 }", "such as `10`"),
    ("match (a[0], x > 3) { (_, true) => 1, (0..=254, false) => 1 }", "such as `(255, false)`"),
    ("match E::One { E::One => 1, E::Tow(0) => 2 }", "such as `E::Tow(1..=255)`"),
    ("match x.checked_add(1) { None => 1, Some(3) => 2, }", "such as `Some(0..=2)`"),
    ("let Some(y) = x.checked_add(1) else { 4 }; y", "end it with `return`"),
    ("'a: for i in 0..2 { for j in 0..2 { break 'b; } } x", "is named `'b`"),
    ("break 'a; x", "in no loop"),
    ("let [p, q] = a; x", "found `[_; 2]`"),
    ("a.first()", "write `a[0]`"),
    ("a.last()", "write `a[a.len() - 1]`"),
    ("a.get(1)", "write `a[i]`"),
    ("a.iter().skip(1)", "write `a[n..a.len()]`"),
    ("a.iter().take(1)", "write `a[0..n]`"),
    ("a.windows(2)", "a[i + 1]"),
    ("a.chunks(2)", "a[2 * i..2 * i + 2]"),
    ("a.is_sorted()", "`a.sorted() == a`"),
    ("x.into()", "write `x as TYPE`"),
    ("x.try_into()", "`x.checked_cast()`"),
    ("u8::try_from(x)", "`x.checked_cast::<u8>()`"),
    ("u32::from(a[0])", "write `x as u32`"),
    ("u32::max(x, 3)", "`x.max(…)`"),
    ("x.to_string()", "printed as outputs"),
    ("x.to_be_bytes()", "`[(x >> 8 * i) as u8 for i in 0..4].rev()`"),
    ("x.cmp(3)", "write `x < y`"),
    ("x.checked_add(1).unwrap_or_else(x)", "`.unwrap_or(other)`"),
    ("x.checked_add(1).unwrap_or_default()", "`.unwrap_or(0)`"),
    ("x.checked_add(1).map_or(3, x)", "`match o { Some(x) => f(x), None => other }`"),
    ("x.checked_add(1).ok_or(3)", "there is no `Result`"),
    ("(x > 3).then(x)", "`x.then_some(y)`"),
    ("a[1..]", "both bounds"),
    ("a[..2]", "both bounds"),
    ("match x { 3.. => 1, _ => 2 }", "both ends"),
    ("match x { ..=3 => 1, _ => 2 }", "both ends"),
    ("match x { n @ 4 => n, _ => 2 }", "there is no `@`"),
    ("match x { ref y => 1 }", "leave out `ref`"),
    ("for &b in a { } x", "leave out the `&`"),
    ("let n = x; let b = [0; n]; x", "not a constant"),
];

#[test]
fn what_is_not_there_is_refused_with_what_to_write() {
    for (body, wanted) in REFUSED {
        let text = format!(
            "struct P {{ alpha: u32 }}
            enum E {{ One, Tow(u8) }}
            fn main(x: u32 from 0, a: [u8; 4] from 1) -> (r: u32 to all) {{ {body} }}"
        );
        let found = errors_of(&text);
        assert!(found.contains(wanted), "{body}\n{found}");
    }
}

#[test]
fn items_of_other_languages_are_refused_with_what_to_write() {
    for (item, wanted) in [
        ("static N: u32 = 3;", "write `const"),
        ("mod a { fn f() {} }", "NAME.sym"),
        ("trait T { }", "there are no traits"),
        ("struct P(u8, u8);", "name a tuple"),
        ("enum E { A = 1 }", "numbered from 0"),
        ("struct P { a: u8 } impl P { const C: u8 = 3; }", "before the `impl`"),
        ("struct P { a: u8 } impl P { fn f(&mut self) { } }", "copies are free"),
        ("fn f<T>(x: T) -> T where T: Num { x }", "in the `<…>`"),
        ("impl Num for u8 { }", "there are no traits"),
        ("#[derive(Clone, Copy)] struct P { a: u8 }", "attributes are for functions"),
        ("#[inline] const N: u8 = 3;", "attributes are for functions"),
        ("const fn f() -> u8 { 3 }", "every function can"),
        ("fn f(x: u8) -> (u8 to all) { x }", "an output has a name"),
        ("impl u8 { fn f(self) { } }", "methods belong to"),
    ] {
        let text = format!("{item}\nfn main(x: u32 from 0) -> (r: u32 to all) {{ x }}");
        let found = errors_of(&text);
        assert!(found.contains(wanted), "{item}\n{found}");
    }
}

#[test]
fn checked_numbers_are_those_of_rust() {
    let text = "fn main(x: i8 from 0, y: i8 from 1, u: u8 from 0, v: u8 from 1)
        -> (s: [Option<i8>; 6] to all, t: [i8; 3] to all, w: [Option<u8>; 5] to all) {
        ([x.checked_add(y), x.checked_sub(y), x.checked_mul(y), x.checked_neg(), x.checked_div(y),
            x.checked_rem(y)],
        [x.saturating_add(y), x.saturating_sub(y), x.saturating_mul(y)],
        [u.checked_add(v), u.checked_sub(v), u.checked_mul(v), u.checked_div(v), u.checked_neg()])
    }";
    let circuit = common::circuit(text);
    let shown = |value: Option<String>| value.unwrap_or("null".into());
    for x in [-128i8, -127, -12, -1, 0, 1, 11, 12, 64, 127] {
        for y in [-128i8, -11, -10, -1, 0, 1, 2, 10, 11, 127] {
            let (u, v) = (x as u8, y as u8);
            let out = common::bits(
                &circuit,
                &[x.to_string(), y.to_string(), u.to_string(), v.to_string()]
                    .each_ref()
                    .map(String::as_str),
            );
            // `x % y` is known also for the quotient that does not fit.
            let rem = (y != 0).then(|| x.wrapping_rem(y));
            let signed = [
                x.checked_add(y),
                x.checked_sub(y),
                x.checked_mul(y),
                x.checked_neg(),
                x.checked_div(y),
                rem,
            ]
            .map(|value| shown(value.map(|n| n.to_string())));
            assert_eq!(out[0], format!("[{}]", signed.join(", ")), "{x} {y}");
            let near = [x.saturating_add(y), x.saturating_sub(y), x.saturating_mul(y)];
            assert_eq!(out[1], format!("{near:?}"), "{x} {y}");
            let unsigned = [
                u.checked_add(v),
                u.checked_sub(v),
                u.checked_mul(v),
                u.checked_div(v),
                u.checked_neg(),
            ]
            .map(|value| shown(value.map(|n| n.to_string())));
            assert_eq!(out[2], format!("[{}]", unsigned.join(", ")), "{u} {v}");
        }
    }
}

#[test]
fn a_failed_assert_without_a_text_shows_its_condition() {
    for (wrong, shown) in [("assert!(1 ==  2)", "1 == 2"), ("assert_eq!(3, 4)", "3 == 4")] {
        let text = format!("fn main(x: u8 from 0) -> (r: u8 to all) {{ {wrong}; x }}");
        let found = errors_of(&text);
        assert!(found.contains(&format!("assertion failed: {shown}")), "{found}");
    }
}

#[test]
fn the_formatter_knows_them() {
    let text = "enum E { A { x: u8 }, B }

fn main(x: u8 from 0, a: [u8; 3] from 1) -> (r: u8 to all) {
    assert!(x > 3, \"small\");
    let Some(y) = x.checked_add(1) else { return 0; };
    'outer: for i in 0..3 {
        for j in 0..3 { if x == i { break 'outer; } }
    }
    let [first, ..] = a;
    let (mut p, mut q) = (first, y);
    (p, q) = (q, p);
    let e = E::A { x: p };
    match e { E::A { x, .. } => x.min(q), E::B => b'a' }
}
";
    assert_eq!(symbolon_lang::fmt::format(text).expect("it is read"), text);
    common::circuit(&text.replace("x == i ", "x as u32 == i "));
}

/// From `cases/language/let_is_no_constant.sym`: a bound that a `let` names is bound by `const`.
#[test]
fn a_bound_that_is_no_constant_names_what_would_be_one() {
    let program = |bound: &str, first: &str| {
        format!(
            "fn main(xs: [u8; 10] from 0) -> (r: u8 to all) {{
                let mut total = 0;
                for i in 0..10 {{
                    {bound} = if i < 3 {{ 0 }} else {{ i - 2 }};
                    for k in {first}..=i {{ total += xs[k]; }}
                }}
                total
            }}"
        )
    };
    let found = errors_of(&program("let first", "first"));
    assert!(found.contains("`const FIRST: usize = …;`"), "{found}");
    let xs = [1u64, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let windows = (0..10usize).map(|i| xs[i.saturating_sub(2)..=i].iter().sum::<u64>());
    let text = program("const FIRST: usize", "FIRST");
    assert_eq!(compute(&text, &[&format!("{xs:?}")]), [windows.sum::<u64>().to_string()]);
}
