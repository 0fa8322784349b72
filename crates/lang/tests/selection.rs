//! What secret choices change is selected once, under the whole condition: AND gates of programs in
//! which a selection for each level of conditions costs more, and their results.

use crate::common::{bits, circuit};
use symbolon_circuit::builder::and_count;

/// Checks the AND gates of a program, and its outputs for some inputs.
fn check(text: &str, ands: u64, results: &[(&[&str], &[&str])]) {
    let circuit = circuit(text);
    assert_eq!(and_count(&circuit), ands, "{text}");
    for (inputs, outputs) in results {
        assert_eq!(bits(&circuit, inputs), *outputs, "{inputs:?}\n{text}");
    }
}

#[test]
fn nested_conditions_become_one() {
    let text =
        "fn main(c: bool from 0, d: bool from 1, x: u32 from 0, v: u32 from 1) -> (r: u32 to all) {
    let mut r = x;
    if c { if d { r = v; } }
    r
}";
    let results: &[(&[&str], &[&str])] = &[
        (&["true", "true", "1", "2"], &["2"]),
        (&["true", "false", "1", "2"], &["1"]),
        (&["false", "true", "1", "2"], &["1"]),
    ];
    check(text, 33, results);
    // Three levels, two variables.
    let text = "fn main(c: [bool; 3] from 0, x: u32 from 0, v: u32 from 1) -> (r: u32 to all, s: u32 to all) {
    let (mut r, mut s) = (x, v);
    if c[0] { if c[1] { if c[2] { r = v; } s = x; } }
    (r, s)
}";
    let results: &[(&[&str], &[&str])] = &[
        (&["[true, true, true]", "1", "2"], &["2", "1"]),
        (&["[true, true, false]", "1", "2"], &["1", "1"]),
        (&["[false, true, true]", "1", "2"], &["1", "2"]),
    ];
    check(text, 64 + 3, results);
}

/// What is read on the way is selected there.
#[test]
fn what_is_read_between_costs_no_more_than_a_selection_for_each_level() {
    let text =
        "fn main(c: bool from 0, d: bool from 1, x: u32 from 0, v: u32 from 1) -> (r: u32 to all) {
    let mut r = x;
    if c { if d { r = v; } r = r ^ 5; }
    r
}";
    check(
        text,
        64,
        &[(&["true", "true", "1", "2"], &["7"]), (&["true", "false", "1", "2"], &["4"])],
    );
    let text = "fn main(c: bool from 0, d: bool from 1, x: u32 from 0, v: u32 from 1, w: u32 from 1) -> (r: u32 to all) {
    if c { if d { x } else { v } } else { w }
}";
    check(text, 64, &[(&["true", "false", "1", "2", "3"], &["2"])]);
    let text = "fn main(c: bool from 0, d: bool from 1, x: u32 from 0, v: u32 from 1, w: u32 from 1) -> (r: u32 to all) {
    let mut r = 0;
    if c { if d { r = x; } else { r = v; } } else { r = w; }
    r
}";
    check(text, 64, &[(&["true", "false", "1", "2", "3"], &["2"])]);
    let text = "fn main(c: bool from 0, d: bool from 1, x: u32 from 0, v: u32 from 1, w: u32 from 1) -> (r: u32 to all) {
    let mut r = x;
    if c { r = v; } else if d { r = w; }
    r
}";
    check(text, 64, &[(&["false", "true", "1", "2", "3"], &["3"])]);
}

#[test]
fn the_arms_of_a_match_exclude_each_other() {
    let text =
        "fn main(op: u8 from 0, v: u32 from 0, r: [u32; 8] from 1) -> (out: [u32; 8] to all) {
    let mut r = r;
    match op {
        0 => { r[0] = v; }, 1 => { r[1] = v; }, 2 => { r[2] = v; }, 3 => { r[3] = v; },
        4 => { r[4] = v; }, 5 => { r[5] = v; }, 6 => { r[6] = v; }, 7 => { r[7] = v; },
        _ => {}
    }
    r
}";
    let all = "[1, 2, 3, 4, 5, 6, 7, 8]";
    let results: &[(&[&str], &[&str])] = &[
        (&["2", "99", all], &["[1, 2, 99, 4, 5, 6, 7, 8]"]),
        (&["7", "99", all], &["[1, 2, 3, 4, 5, 6, 7, 99]"]),
        (&["8", "99", all], &[all]),
    ];
    check(text, 277, results);
    // Constants are sums of what says which arm is taken.
    let text = "fn main(op: u3 from 0) -> (r: u8 to all) {
    match op { 0 => 7, 1 => 200, 2 => 13, 3 => 14, 4 => 250, 5 => 6, 6 => 77, _ => 9 }
}";
    check(text, 4, &[(&["3"], &["14"]), (&["7"], &["9"]), (&["0"], &["7"])]);
}

#[test]
fn else_ifs_that_assign_other_variables_select_each_once() {
    let text = "fn main(c: [bool; 4] from 0, v: u32 from 0, r: [u32; 4] from 1) -> (out: [u32; 4] to all) {
    let mut r = r;
    if c[0] { r[0] = v; } else if c[1] { r[1] = v; } else if c[2] { r[2] = v; } else if c[3] { r[3] = v; }
    r
}";
    let results: &[(&[&str], &[&str])] = &[
        (&["[false, false, true, true]", "9", "[1, 2, 3, 4]"], &["[1, 2, 9, 4]"]),
        (&["[false, false, false, false]", "9", "[1, 2, 3, 4]"], &["[1, 2, 3, 4]"]),
    ];
    check(text, 4 * 32 + 3, results);
}

#[test]
fn leaving_a_loop_selects_once_a_round() {
    let flag =
        "fn main(n: u32 from 0, b: [bool; 50] from 0, d: [u32; 50] from 1) -> (n: u32 to all) {
    let mut n = n;
    let mut go = true;
    for i in 0..50 {
        go = go && !b[i];
        if go { n += d[i]; }
    }
    n
}";
    let left =
        "fn main(n: u32 from 0, b: [bool; 50] from 0, d: [u32; 50] from 1) -> (n: u32 to all) {
    let mut n = n;
    for i in 0..50 {
        if b[i] { break; }
        n += d[i];
    }
    n
}";
    let count = |place: usize| {
        let list: Vec<String> = (0..50).map(|i| (i == place).to_string()).collect();
        format!("[{}]", list.join(", "))
    };
    let ones = format!("[{}]", ["1"; 50].join(", "));
    for text in [flag, left] {
        let (at_7, never) = (count(7), count(50));
        check(text, 3152, &[(&["3", &at_7, &ones], &["10"]), (&["3", &never, &ones], &["53"])]);
    }
    // A round that is left, and a value that is returned from within the loop.
    let text = "fn f(n: u32, b: [bool; 8], d: [u32; 8]) -> u32 {
    let mut n = n;
    for i in 0..8 {
        if b[i] { continue; }
        n += d[i];
    }
    n
}
fn main(n: u32 from 0, b: [bool; 8] from 0, d: [u32; 8] from 1) -> (n: u32 to all) { f(n, b, d) }";
    check(text, 8 * 62 + 1, &[]);
    let text = "fn f(b: [bool; 8], d: [u32; 8]) -> u32 {
    for i in 0..8 {
        if b[i] { return d[i]; }
    }
    7
}
fn main(b: [bool; 8] from 0, d: [u32; 8] from 1) -> (n: u32 to all) { f(b, d) }";
    let none = "[false, false, false, false, false, false, false, false]";
    let some = "[false, false, true, false, true, false, false, false]";
    let values = "[1, 2, 3, 4, 5, 6, 7, 8]";
    check(text, 8 * 32 + 7, &[(&[none, values], &["7"]), (&[some, values], &["3"])]);
}

/// The value of an arm that leaves does not matter, nor what it changes before it returns.
#[test]
fn what_an_arm_leaves_behind_is_not_selected() {
    let text = "fn f(c: bool, x: u32, y: u32) -> u32 {
    let mut z = x;
    let v = if c { z = 9; return 5; } else { y };
    z ^ v
}
fn main(c: bool from 0, x: u32 from 0, y: u32 from 1) -> (r: u32 to all) { f(c, x, y) }";
    check(text, 32, &[(&["true", "1", "2"], &["5"]), (&["false", "1", "2"], &["3"])]);
}

#[test]
fn a_condition_goes_into_the_address_of_an_array() {
    let text = "fn main(a: [u16; 10] from 0, w: bool from 1, i: u8 from 1, v: u16 from 1) -> (out: [u16; 10] to all) {
    let mut a = a;
    if w { a[i] = v; }
    a
}";
    let all = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    let results: &[(&[&str], &[&str])] = &[
        (&[all, "true", "8", "77"], &["[1, 2, 3, 4, 5, 6, 7, 8, 77, 10]"]),
        (&[all, "false", "8", "77"], &[all]),
        (&[all, "true", "10", "77"], &[all]),
        (&[all, "true", "18", "77"], &[all]),
    ];
    check(text, 175, results);
    let text = "fn main(a: [[u16; 4]; 4] from 0, w: bool from 1, i: u2 from 1, j: u2 from 1, v: u16 from 1) -> (out: [[u16; 4]; 4] to all) {
    let mut a = a;
    if w { a[i][j] = v; }
    a
}";
    let all = "[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]";
    let new = "[[1, 2, 3, 4], [5, 6, 7, 8], [9, 77, 11, 12], [13, 14, 15, 16]]";
    let results: &[(&[&str], &[&str])] =
        &[(&[all, "true", "2", "1", "77"], &[new]), (&[all, "false", "2", "1", "77"], &[all])];
    check(text, 16 * 16 + 3 + 4 * 3, results);
}

/// Two writes in turn, one of them read in between, and one in each arm.
#[test]
fn writes_to_one_array_keep_their_order() {
    let text = "fn main(a: [u8; 4] from 0, c: [bool; 4] from 1, i: u2 from 1) -> (out: [u8; 4] to all, s: u8 to all) {
    let mut a = a;
    let mut s = 0;
    if c[0] {
        a[i] = 10;
        if c[1] { a[1] = 20; a[i] += 1; } else if c[2] { a[2] = 30; }
        if c[3] { s = a[1]; a[i] = 40; }
        a[3] ^= 1;
    }
    (a, s)
}";
    let circuit = circuit(text);
    for inputs in 0..64u32 {
        let c: Vec<bool> = (0..4).map(|place| inputs >> place & 1 == 1).collect();
        let i = (inputs >> 4) as usize;
        let (mut a, mut s) = ([1u8, 2, 3, 4], 0);
        if c[0] {
            a[i] = 10;
            if c[1] {
                a[1] = 20;
                a[i] += 1;
            } else if c[2] {
                a[2] = 30;
            }
            if c[3] {
                s = a[1];
                a[i] = 40;
            }
            a[3] ^= 1;
        }
        let given = ["[1, 2, 3, 4]".to_string(), format!("{c:?}"), i.to_string()];
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        assert_eq!(bits(&circuit, &given), [format!("{a:?}"), s.to_string()], "{given:?}");
    }
}

/// The smaller and the larger of two values share their gates wherever they are computed; so do
/// comparisons in both directions, and equality.
#[test]
fn comparisons_of_the_same_operands_share_their_gates() {
    let both = "fn main(a: u32 from 0, b: u32 from 1) -> (lo: u32 to all, hi: u32 to all) { (min(a, b), max(a, b)) }";
    check(
        both,
        64,
        &[(&["1", "2"], &["1", "2"]), (&["7", "2"], &["2", "7"]), (&["3", "3"], &["3", "3"])],
    );
    let signed = "fn low(a: i32, b: i32) -> i32 { if a > b { b } else { a } }
fn main(a: i32 from 0, b: i32 from 1) -> (lo: i32 to all, hi: i32 to all) { (low(b, a), if a >= b { a } else { b }) }";
    check(signed, 64, &[(&["-1", "2"], &["-1", "2"]), (&["7", "-2"], &["-2", "7"])]);
    let three = "fn main(a: i32 from 0, b: i32 from 1) -> (r: (bool, bool, bool, bool) to all) { (a < b, a == b, a > b, a <= b) }";
    let results: &[(&[&str], &[&str])] = &[
        (&["-1", "2"], &["[true, false, false, true]"]),
        (&["2", "2"], &["[false, true, false, true]"]),
        (&["2", "-1"], &["[false, false, true, false]"]),
    ];
    check(three, 64, results);
    // Floating-point numbers: the first one if one is NaN.
    let floats = "fn main(a: f32 from 0, b: f32 from 1) -> (lo: f32 to all, hi: f32 to all) { (min(a, b), max(a, b)) }";
    let floats = circuit(floats);
    assert_eq!(bits(&floats, &["0", "-0"]), ["0.0", "0.0"]);
    assert_eq!(bits(&floats, &["1", "nan"]), ["1.0", "1.0"]);
    assert_eq!(bits(&floats, &["1", "-2"]), ["-2.0", "1.0"]);
}

/// An element that an arm writes before and after a condition of its own is what the arm wrote
/// last, and stays as it was if the arm is not taken.
#[test]
fn an_arm_may_write_an_element_twice_around_another_choice() {
    let text =
        "fn main(a: [u8; 2] from 0, c: bool from 0, d: bool from 0, v: u8 from 1, w: u8 from 1)
    -> (x: [u8; 2] to all) {
    let mut x = a;
    if c { x[0] = v; if d { x[1] = w; } x[0] = v + w; }
    x
}";
    let circuit = circuit(text);
    for (c, d, x) in [
        ("true", "true", "[30, 20]"),
        ("true", "false", "[30, 2]"),
        ("false", "true", "[1, 2]"),
        ("false", "false", "[1, 2]"),
    ] {
        assert_eq!(bits(&circuit, &["[1, 2]", c, d, "10", "20"]), [x], "{c} {d}");
    }
}

/// What is added under conditions is summed once, when it is read.
#[test]
fn additions_wait_until_the_sum_is_read() {
    let count = "fn main(b: [bool; 64] from 0) -> (n: u32 to all) {
    let mut n = 0u32;
    for x in b { if x { n += 1; } }
    n
}";
    let some: Vec<String> = (0..64).map(|i| (i % 3 == 0).to_string()).collect();
    let some = format!("[{}]", some.join(", "));
    check(count, 63, &[(&[&some], &["22"])]);
    // In arms that exclude each other, one addition serves all.
    let arms = "fn main(a: u32 from 0, c: bool from 1, d: bool from 1) -> (r: u32 to all) {
    let mut r = a;
    if c { r += 1; } else if d { r -= 3; } else { r = r + 5; }
    r
}";
    let results: &[(&[&str], &[&str])] = &[
        (&["7", "true", "false"], &["8"]),
        (&["7", "false", "true"], &["4"]),
        (&["7", "false", "false"], &["12"]),
        (&["0", "false", "true"], &["4294967293"]),
    ];
    check(arms, 31, results);
    // What is read in the arm, and what is added to after it is set.
    let mixed =
        "fn main(a: i16 from 0, b: i16 from 1, c: bool from 1) -> (r: i16 to all, s: i16 to all) {
    let (mut r, mut s) = (a, 0);
    if c { r += b; s = r; r -= 2; } else { r = 3; r += a; s -= b; }
    r += s;
    (r, s)
}";
    let results: &[(&[&str], &[&str])] =
        &[(&["7", "-9", "true"], &["-6", "-2"]), (&["7", "-9", "false"], &["19", "9"])];
    for (inputs, outputs) in results {
        assert_eq!(bits(&circuit(mixed), inputs), *outputs, "{inputs:?}");
    }
}

#[test]
fn a_sum_at_a_secret_place_takes_no_selection() {
    let text = "fn main(a: [u3; 16] from 0, c: [bool; 16] from 1) -> (h: [u32; 6] to all) {
    let mut h = [100u32; 6];
    for i in 0..16 { if c[i] { h[a[i]] += 2; } else { h[5] -= 1; } }
    h
}";
    let values = "[1, 2, 3, 4, 5, 6, 7, 0, 1, 1, 1, 2, 2, 2, 2, 2]";
    let yes = format!("[{}]", ["true"; 16].join(", "));
    let none = format!("[{}]", ["false"; 16].join(", "));
    let circuit = circuit(text);
    assert!(and_count(&circuit) < 450, "{}", and_count(&circuit));
    assert_eq!(bits(&circuit, &[values, &yes]), ["[102, 108, 112, 102, 102, 102]"]);
    assert_eq!(bits(&circuit, &[values, &none]), ["[100, 100, 100, 100, 100, 84]"]);
}

/// Arms that call the same function call it once, with selected arguments, and what a function
/// gives for constants or has given before is not computed again for that.
#[test]
fn arms_that_call_the_same_function_call_it_once() {
    const F: &str = "fn f(x: u32, y: u32) -> u32 { x * x + x * y }\n";
    let ands = |main: &str| and_count(&circuit(&format!("{F}{main}")));
    let whole =
        "fn main(c: bool from 0, x: [u32; 3] from 0, y: (u32, u32) from 1) -> (r: u32 to all) ";
    let with = |body: &str| ands(&format!("{whole}{{ {body} }}"));
    // Twice, so that it is a component.
    let once =
        with("let (a, b) = (x[0], x[1]); let s = if c { a } else { b }; f(s, y.0) ^ f(a, y.1)");
    let idiom =
        with("let (a, b) = (x[0], x[1]); (if c { f(a, y.0) } else { f(b, y.0) }) ^ f(a, y.1)");
    assert_eq!(idiom, once);
    // Both arguments differ.
    let once =
        with("let a = x[0]; let b = x[1]; f(if c { a } else { b }, if c { y.0 } else { y.1 })");
    let idiom = with("let a = x[0]; let b = x[1]; if c { f(a, y.0) } else { f(b, y.1) }");
    assert!(idiom <= once + 2, "{idiom}, {once}");
    // One result is there: the other call and a selection are left.
    let there = with(
        "let (a, b) = (x[0], x[1]); let r = f(a, y.0); r ^ (if c { f(a, y.0) } else { f(b, y.1) })",
    );
    let apart = with(
        "let (a, b) = (x[0], x[1]); let r = f(a, y.0); let s = f(b, y.1); r ^ (if c { r } else { s })",
    );
    assert_eq!(there, apart);
    let text = format!(
        "{F}{whole}{{ let (a, b) = (x[0], x[1]); if c {{ f(a, y.0) }} else {{ f(b, y.1) }} }}"
    );
    check(
        &text,
        idiom,
        &[
            (&["true", "[3, 5, 0]", "[7, 9]"], &["30"]),
            (&["false", "[3, 5, 0]", "[7, 9]"], &["70"]),
        ],
    );
    // What can fail, fails only in the arm that is taken.
    let text = "fn f(x: u32) -> u32 { assert!(x != 3); x * x }
fn main(c: bool from 0, a: u32 from 0, b: u32 from 1) -> (r: u32 to all, s: u32 to all) {
    (if c { f(a) } else { f(b) }, if c { 0 } else { f(a + 4) })
}";
    let circuit = circuit(text);
    assert_eq!(bits(&circuit, &["true", "5", "3"]), ["25", "0", "0"]);
    // What the condition changes, the arms see.
    let text = format!(
        "{F}fn main(x: [u32; 2] from 0, y: u32 from 1) -> (r: u32 to all) {{
    let (mut a, b) = (x[0], x[1]);
    if {{ a = a + 1; a > y }} {{ f(a, y) }} else {{ f(b, y) }}
}}"
    );
    check(
        &text,
        and_count(&self::circuit(&text)),
        &[(&["[3, 5]", "2"], &["24"]), (&["[3, 5]", "7"], &["60"])],
    );
}
