//! What `cost` says of lines: the gates that the circuit has, and those that are saved.

use symbolon_circuit::Circuit;
use symbolon_lang::cost::{LineCost, Report, report};
use symbolon_lang::source::NoModules;
use symbolon_lang::{Options, compile_here, compile_text, with_stack};

fn cost(text: &str) -> (Circuit, Report) {
    with_stack(|| {
        let done = compile_here("main.sym", text, &NoModules, &Options::default(), true);
        let (circuit, costs, sources) = done.unwrap_or_else(|errors| panic!("{errors}"));
        let report = report(&circuit, &costs.expect("it is asked for"), &sources);
        (circuit, report)
    })
    .expect("a thread")
}

/// Checks that the lines add up, and returns those of the program.
fn lines(text: &str) -> (Report, Vec<LineCost>) {
    let (circuit, report) = cost(text);
    let plain = compile_text(text, &Options::default()).expect("a circuit");
    assert_eq!(circuit.digest(), plain.digest(), "asking for costs changes the circuit: {text}");
    let sum = |of: fn(&LineCost) -> u64| report.lines.iter().map(of).sum::<u64>();
    assert_eq!(sum(|line| line.ands), report.ands, "{report:?}");
    assert_eq!(sum(|line| line.asked) - report.ands, report.unused, "{report:?}");
    assert_eq!(sum(|line| line.lookups), report.lookups, "{report:?}");
    let functions: u64 = report.functions.iter().map(|function| function.ands).sum();
    assert_eq!(functions, report.ands, "{report:?}");
    let own = report.lines.iter().filter(|line| line.file == "main.sym").cloned().collect();
    (report, own)
}

fn line(lines: &[LineCost], number: u32) -> (u64, u64) {
    let line = lines.iter().find(|line| line.line == number);
    line.map_or((0, 0), |line| (line.ands, line.asked))
}

#[test]
fn what_is_saved_is_charged_to_the_lines_that_made_it() {
    let (report, lines) = lines(
        "fn main(a: u32 from 0, b: u32 from 1) -> (r: u32 to all) {
    let sum = a + b;
    let unused = a * b;
    let high = sum < b;
    sum ^ (unused & 0)
}",
    );
    assert_eq!(line(&lines, 2), (31, 31));
    assert_eq!(line(&lines, 3).0, 0);
    assert!(line(&lines, 3).1 > 500 && report.unused > 500);
    assert_eq!(line(&lines, 4).0, 0);
}

/// Three ANDs for each bit become one, on the line whose value they are.
#[test]
fn what_the_optimiser_writes_belongs_to_the_line_whose_value_it_is() {
    let (report, lines) = lines(
        "fn main(x: u32 from 0, y: u32 from 1, z: u32 from 1) -> (r: u32 to all) {
    let xy = x & y;
    let xz = x & z;
    let yz = y & z;
    xy ^ xz ^ yz
}",
    );
    assert_eq!(report.ands, 32);
    assert_eq!([2, 3, 4].map(|number| line(&lines, number)), [(0, 32); 3]);
    assert_eq!(line(&lines, 5), (32, 0));
}

/// Calls, repeats, look-ups, asserts, selections in large arrays, and long sums.
#[test]
fn lines_add_up_in_every_program() {
    for text in [
        "#[component]
fn square(x: u32) -> u32 { assert(x != 7, \"seven\"); x * x + 1 }
fn main(a: [u32; 40] from 0, b: u32 from 1) -> (r: u32 to all) {
    let mut r = b;
    for x in a { r = square(r ^ x) + square(3); }
    r
}",
        "fn main(a: [u8; 20000] from 0, i: u16 from 1, v: u8 from 1) -> (r: [u8; 20000] to all) {
    let mut r = a;
    r[i] = v;
    r
}",
        "fn main(a: [u32; 3000] from 0, least: u32 from 1) -> (n: u32 to all, s: u64 to all) {
    let mut n = 0u32;
    let mut s = 0u64;
    for x in a { if x > least { n += 1; s += x as u64; } }
    (n, s)
}",
        "fn main(key: [u8; 16] from 0, text: [u8; 16] from 1) -> (r: [u8; 16] to all) {
    std::crypto::aes128::encrypt(std::crypto::aes128::expand(key), text)
}",
        "fn main(a: [u64; 300] from 0, b: [u64; 300] from 1) -> (r: [Option<u64>; 300] to all) {
    std::psi::intersect(a, b)
}",
        "parties bank, broker;
fn main(bid: [Option<u16>; 3] from clients) -> (top: [Option<u16>; 3] to clients) {
    let mut most = 0;
    for b in bid { if let Some(b) = b { most = max(most, b); } }
    [Some(most); 3]
}",
        "fn main(x: [f32; 9] from 0) -> (r: [f32; 9] to all) { [std::float::sin(v) / 3.0 for v in x] }",
    ] {
        let (report, _) = lines(text);
        assert!(report.ands > 0, "{text}");
    }
}

#[test]
fn functions_that_hide_gates_are_named_with_what_that_costs() {
    let text = |mark: &str| {
        format!(
            "{mark}
fn part(x: u32, y: u32, z: bool) -> u32 {{ if z {{ x * y }} else {{ x / 3 }} }}
fn main(a: u32 from 0, b: u32 from 1) -> (r: u32 to all) {{
    part(a, b, true) ^ (part(b, a, true) & 0xff)
}}"
        )
    };
    let (report, _) = lines(&text("#[component]"));
    let [hint] = &report.hints[..] else { panic!("{:?}", report.hints) };
    assert_eq!((&*hint.function, &*hint.file, hint.line), ("part", "main.sym", 2));
    let (inline, _) = lines(&text("#[inline]"));
    assert_eq!(report.ands - inline.ands, hint.saves);
    assert!(hint.saves > 0 && inline.hints.is_empty(), "{:?}", inline.hints);
    // Nothing is hidden where calls have nothing in common with what is around.
    let (report, _) = lines(
        "#[component]
fn square(x: u32) -> u32 { x * x }
fn main(a: u32 from 0, b: u32 from 1) -> (r: u32 to all, s: u32 to all) { (square(a), square(b)) }",
    );
    assert!(report.hints.is_empty(), "{:?}", report.hints);
}
