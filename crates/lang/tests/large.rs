//! Long programs of one shape: each compiles, or ends in an error that says why, in time that grows
//! with its length and not with its square. Nothing here measures time: with steps for each pair of
//! parts, these tests would not end.

use crate::common::{compute, errors_of};
use symbolon_lang::diag::Diagnostics;
use symbolon_lang::{Options, compile_text};

const MAIN: &str = "fn main(a: u8 from 0) -> (r: u8 to all) { a }\n";

/// Returns `n` parts, one after the other.
fn each(n: u32, part: impl Fn(u32) -> String) -> String {
    (0..n).map(part).collect()
}

fn compiles(text: &str) {
    if let Err(errors) = compile_text(text, &Options::default()) {
        panic!("{errors}");
    }
}

fn refused(text: &str, code: &str, words: &str) {
    let found = errors_of(text);
    assert!(found.contains(code) && found.contains(words), "{}", &found[..found.len().min(2000)]);
}

fn matched(ty: &str, value: &str, arms: &str) -> String {
    format!(
        "fn main(a: {ty} from 0, b: {ty} from 1) -> (r: u8 to all) {{
    match {value} {{ {arms} _ => 9 }}
}}"
    )
}

#[test]
fn matches_with_many_cases() {
    let spread = |i: u32| i.wrapping_mul(7919);
    compiles(&matched("u32", "a", &each(20_000, |i| format!("{} => {},\n", spread(i), i % 200))));
    let one = matched("u32", "a", &each(5_000, |i| format!("{} => {},\n", spread(i), i % 200)));
    let body = one.split_once('{').unwrap().1;
    let functions = each(3, |i| format!("fn f{i}(a: u32, b: u32) -> u8 {{ {body}\n"));
    compiles(&format!("{functions} {one}"));
    let alternatives = each(50_000, |i| format!("{} | ", spread(i)));
    compiles(&matched("u32", "a", &format!("{alternatives} 5 => 1,")));
    let pairs = each(8_000, |i| format!("({}, {}) => {},\n", spread(i), i, i % 200));
    compiles(&matched("u32", "(a, b)", &pairs));
    let guarded = each(3_000, |i| format!("x if x == b + {i} => {},\n", i % 200));
    compiles(&matched("u32", "a", &guarded));
}

/// Each arm takes the time of what it writes, not of what all others write.
#[test]
fn matches_whose_arms_each_assign_another_variable() {
    const N: u32 = 15_000;
    let lets = each(N, |i| format!("let mut x{i} = a;\n"));
    let sum = each(N, |i| format!("r = r ^ x{i};\n"));
    let program = |arms: &str| {
        format!(
            "fn main(a: u8 from 0, b: u8 from 1, op: u32 from 0) -> (r: u8 to all) {{
    {lets} match op {{ {arms} _ => {{}} }} let mut r = a; {sum} r
}}"
        )
    };
    let out =
        compute(&program(&each(N, |i| format!("{i} => {{ x{i} = b; }},\n"))), &["1", "4", "77"]);
    assert_eq!(out, ["4"]);
    // Arms that do not exclude each other.
    let arms = each(N, |i| format!("v if v > b as u32 + {i} => {{ x{i} = b; }},\n"));
    compiles(&program(&arms));
    // Elements of one array, and values.
    let arms = each(N, |i| format!("{i} => {{ r[{i}] = b; }},\n"));
    compiles(&format!(
        "fn main(a: [u8; {N}] from 0, b: u8 from 1, op: u32 from 0) -> (r: [u8; {N}] to all) {{
    let mut r = a; match op {{ {arms} _ => {{}} }} r
}}"
    ));
    let lets = each(N, |i| format!("let x{i} = a + {};\n", i % 200));
    let arms = each(N, |i| format!("{i} => x{i},\n"));
    compiles(&format!(
        "fn main(a: u8 from 0, b: u8 from 1, op: u32 from 0) -> (r: u8 to all) {{
    {lets} match op {{ {arms} _ => b }}
}}"
    ));
}

#[test]
fn matches_that_cannot_be_compared_in_few_steps() {
    let pairs = each(5_000, |i| match i % 2 {
        0 => format!("({i}, _) => 1,\n"),
        _ => format!("(_, {i}) => 2,\n"),
    });
    refused(&matched("u32", "(a, b)", &pairs), "error[E07]", "2^24 steps to compare");
    // All matches of a program count together.
    let some = each(1_000, |i| match i % 2 {
        0 => format!("({i}, _) => 1,\n"),
        _ => format!("(_, {i}) => 2,\n"),
    });
    let one = matched("u32", "(a, b)", &some);
    compiles(&one);
    let body = one.split_once('{').unwrap().1;
    let functions = each(12, |i| format!("fn f{i}(a: u32, b: u32) -> u8 {{ {body}\n"));
    refused(&format!("{functions} {one}"), "error[E07]", "2^24 steps to compare");
}

#[test]
fn functions_that_call_each_other_twice() {
    let chain = |mark: &str, first: &str| {
        let functions =
            each(60, |i| format!("{mark} fn f{}(a: u8) -> u8 {{ f{i}(f{i}(a)) }}\n", i + 1));
        format!(
            "fn f0(a: u8) -> u8 {{ {first} }}\n{functions}
fn main(a: u8 from 0) -> (r: u8 to all) {{ f60(a) }}"
        )
    };
    for mark in ["", "#[inline]"] {
        assert_eq!(compute(&chain(mark, "a"), &["7"]), ["7"]);
        assert_eq!(compute(&chain(mark, "a ^ 5"), &["7"]), ["7"]);
        assert_eq!(compute(&chain(mark, "if a > 7 { 7 } else { a & 3 }"), &["6"]), ["2"]);
    }
    // XORs alone: a component as soon as there are many.
    let linear = each(30, |i| format!("fn f{}(a: u64) -> u64 {{ f{i}(f{i}(a)) }}\n", i + 1));
    let linear = format!(
        "fn f0(a: u64) -> u64 {{ a ^ (a << 1) ^ (a >> 3) ^ 5 }}\n{linear}
fn main(a: u64 from 0) -> (r: u64 to all) {{ f30(a) }}"
    );
    compiles(&linear);
    // What can fail is written each time.
    let failing = chain("#[inline]", "assert(a != 3, \"three\"); a");
    refused(&failing, "error[E07]", "more than 2^25 steps");
}

/// Calls that are not written again give the gates that they would give.
#[test]
fn equal_calls_give_equal_results() {
    let program = "fn mixed(a: u8, b: u8) -> u8 { if a > b { a * b } else { a + b } }
#[component]
fn square(a: u8) -> u8 { a * a }
fn main(a: u8 from 0, b: u8 from 1) -> (x: u8 to all, y: u8 to all, z: u8 to all, w: u8 to all) {
    let mut c = a;
    let x = mixed(c, b);
    c += 1;
    let y = mixed(c, b);
    let z = square(mixed(a, b));
    (x, y, z, mixed(a, b) + square(a))
}";
    let mixed = |a: u8, b: u8| if a > b { a.wrapping_mul(b) } else { a.wrapping_add(b) };
    for (a, b) in [(3u8, 4u8), (200, 100), (255, 255), (4, 4)] {
        let square = |x: u8| x.wrapping_mul(x);
        let x = mixed(a, b);
        let expected = [x, mixed(a.wrapping_add(1), b), square(x), x.wrapping_add(square(a))];
        let found = compute(program, &[&a.to_string(), &b.to_string()]);
        assert_eq!(found, expected.map(|value| value.to_string()));
    }
}

#[test]
fn enumerations_and_structures_with_many_parts() {
    let variants = each(20_000, |i| format!("V{i},"));
    let arms = each(19_999, |i| format!("E::V{i} => {},\n", i % 200));
    compiles(&format!(
        "enum E {{ {variants} }}
fn main(a: E from 0) -> (r: u8 to all) {{ match a {{ {arms} _ => 9 }} }}"
    ));
    let fields = each(15_000, |i| format!("f{i}: u8,"));
    let values = each(15_000, |i| format!("f{i}: a,"));
    let uses = each(15_000, |i| format!("x = x ^ s.f{i};\n"));
    compiles(&format!(
        "struct S {{ {fields} }}
fn main(a: u8 from 0) -> (r: u8 to all) {{ let s = S {{ {values} }}; let mut x = a; {uses} x }}"
    ));
}

#[test]
fn functions_with_many_names() {
    let lets = each(30_000, |i| format!("let v{i} = a;\n"));
    let uses = each(20_000, |i| format!("x = x ^ v{i};\n"));
    compiles(&format!(
        "fn main(a: u8 from 0) -> (r: u8 to all) {{ let mut x = a; {lets} {uses} x }}"
    ));
    let consts = each(20_000, |i| format!("const C{i}: u8 = {};\n", i % 200));
    compiles(&format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ {consts} a ^ C77 }}"));
    let parts = each(40_000, |i| format!("v{i}, "));
    let zeros = "0u8, ".repeat(40_000);
    compiles(&format!(
        "fn main(a: u8 from 0) -> (r: u8 to all) {{ let ({parts}) = ({zeros}); a ^ v7 }}"
    ));
    let unknown = each(10_000, |i| format!("let w{i} = u{i};\n"));
    refused(
        &format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ {unknown} a }}"),
        "error[E02]",
        "there is no value `u0`",
    );
}

#[test]
fn many_items() {
    let functions = each(20_000, |i| format!("fn f{i}<const N: usize>(a: u8) -> u8 {{ a }}\n"));
    compiles(&format!("{functions} {MAIN}"));
    let constants =
        each(10_000, |i| format!("fn f{i}() -> u8 {{ {} }} const C{i}: u8 = f{i}();\n", i % 200));
    compiles(&format!("{constants} {MAIN}"));
    let asserts = each(20_000, |i| format!("assert(a != {}, \"no {i}\");\n", i % 200));
    compiles(&format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ {asserts} a }}"));
    let functions = each(70_000, |i| format!("fn f{i}() {{}}\n"));
    refused(&format!("{functions} {MAIN}"), "error[E07]", "65 536");
}

#[test]
fn values_with_many_parts() {
    let numbers = each(100_000, |i| format!("{},", i % 250));
    compiles(&format!(
        "const T: [u8; 100000] = [{numbers}];
fn main(a: u8 from 0) -> (r: u8 to all) {{ a ^ T[99999] }}"
    ));
    let tuple = "1u8, ".repeat(30_000);
    let uses = "x;\n".repeat(30_000);
    refused(
        &format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ let x = ({tuple}); {uses} a }}"),
        "error[E07]",
        "or there are too many",
    );
}

#[test]
fn loops_that_are_checked_round_by_round_are_limited_with_their_bodies() {
    let body = "a;\n".repeat(10_000);
    refused(
        &format!(
            "fn main(a: u8 from 0) -> (r: u8 to all) {{
    for i in 0..100000 {{ let x: [u8; i] = zero(); {body} }}
    a
}}"
        ),
        "error[E07]",
        "or there are too many",
    );
}

/// Rounds differ by what is known while compiling, so only what each takes at least is counted.
#[test]
fn loops_whose_rounds_differ_are_refused_when_they_are_certainly_too_long() {
    let looped = |rounds: u32, mark: &str| {
        format!(
            "fn main(a: u8 from 0, b: u8 from 1) -> (r: u8 to all) {{
    let mut x = a;
    {mark}
    for i in 0..{rounds} {{ if i % 3 == 0 {{ x += b; }} else {{ x ^= a; }} }}
    x
}}"
        )
    };
    for mark in ["", "#[unroll]"] {
        refused(&looped(1_000_000_000, mark), "error[E07]", "more than 2^25 steps");
        compiles(&looped(100, mark));
    }
    // A loop that is left early takes few rounds.
    compiles(
        "fn main(a: u8 from 0) -> (r: u8 to all) {
    let mut x = a;
    #[unroll]
    for i in 0..1000000000 { if i % 7 == 6 { break; } x = x ^ (i % 5) as u8; }
    x
}",
    );
}

#[test]
fn paths_and_lists_of_parameters_are_limited() {
    let path = "a::".repeat(50_000);
    refused(&format!("use {path}b; {MAIN}"), "error[E07]", "a path has at most 64 names");
    refused(
        &format!("fn f(a: u8) -> u8 {{ {path}b }} {MAIN}"),
        "error[E07]",
        "a path has at most 64 names",
    );
    let generics = each(65, |i| format!("T{i}, "));
    refused(&format!("fn f<{generics}>() {{}} {MAIN}"), "error[E07]", "at most 64 parameters");
}

#[test]
fn the_formatter_refuses_what_would_be_indented_without_end() {
    let deep = "(\n".repeat(200_000);
    let errors = symbolon_lang::fmt::format(&deep).unwrap_err();
    assert!(errors.list()[0].message.contains("deep"));
    let text = format!("fn f() {{\n{}{}}}\n", "{\n".repeat(100), "}\n".repeat(100));
    let shown = symbolon_lang::fmt::format(&text).unwrap();
    assert_eq!(symbolon_lang::fmt::format(&shown).unwrap(), shown);
}

/// Everything in one line, as programs write it.
#[cfg(feature = "lsp")]
#[test]
fn an_editor_sees_a_long_line() {
    let functions = each(4_000, |i| format!("/* é */ fn f{i}(a: u8) -> u8 {{ a }} "));
    let text = format!("{functions} {MAIN}");
    symbolon_lang::with_stack(|| {
        let (checked, facts) = symbolon_lang::analyse(
            "a.sym",
            &text,
            &symbolon_lang::source::NoModules,
            &Options::default(),
        );
        assert_eq!(checked.errors.errors(), 0);
        assert!(facts.items.len() > 4_000);
    })
    .unwrap();
    let framed = |body: String| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let quoted = serde_json::to_string(&text).unwrap();
    let mut session = String::new();
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#.into(),
        format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":
{{"uri":"file:///a.sym","languageId":"sym","version":1,"text":{quoted}}}}}}}"#
        ),
        r#"{"jsonrpc":"2.0","id":2,"method":"textDocument/documentSymbol","params":{"textDocument":
{"uri":"file:///a.sym"}}}"#
            .into(),
        r#"{"jsonrpc":"2.0","id":3,"method":"shutdown"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"exit"}"#.into(),
    ] {
        session.push_str(&framed(body));
    }
    let answers = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    symbolon_lang::lsp::serve_over(std::io::Cursor::new(session), Shared(answers.clone())).unwrap();
    let answers = String::from_utf8(answers.lock().unwrap().clone()).unwrap();
    assert!(answers.contains("f3999"), "{}", answers.len());
}

#[cfg(feature = "lsp")]
struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

#[cfg(feature = "lsp")]
impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn characters_that_cannot_be_seen_are_refused_outside_of_texts() {
    let main = |inside: &str| format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ {inside} a }}");
    for c in [
        '\u{202e}',
        '\u{2066}',
        '\u{200b}',
        '\u{feff}',
        '\u{ad}',
        '\0',
        '\u{1b}',
        '\u{2028}',
        '\u{e0041}',
        '\r',
    ] {
        for inside in [
            format!("/* {c} */"),
            format!("// {c} }}\n"),
            format!("let {c}x = 1u8;"),
            format!("let x{c} = 1u8;"),
            format!("let x = '{c}';"),
        ] {
            let text = main(&inside);
            let mut errors = Diagnostics::default();
            symbolon_lang::lex::lex(0, &text, &mut errors);
            let shown = format!("U+{:04X}", u32::from(c));
            let found = errors.list().iter().find(|d| d.message.contains(&shown));
            let found = found.unwrap_or_else(|| panic!("{inside:?}: {:?}", errors.list()));
            assert_eq!(found.span.start as usize, text.find(c).unwrap(), "{inside:?}");
            assert_eq!((found.span.end - found.span.start) as usize, c.len_utf8());
            assert!(symbolon_lang::fmt::format(&text).is_err());
            let rendered = errors_of(&text);
            assert!(rendered.contains("error[E01]"), "{rendered}");
            assert!(!rendered.contains(c), "{rendered:?}");
        }
    }
    // In texts, and where every editor shows a line's end.
    compiles(&main(
        "assert(a != 1, \"no\u{202e}ne\u{2069}\"); // end\r\n/* \u{e9}\u{4e2d}\u{1f600} */",
    ));
    let found = errors_of(&main("assert(1 == 2, \"no\u{202e}ne\");"));
    assert!(found.contains("never holds: no\\u{202e}ne"), "{found}");
    assert!(!found.contains('\u{202e}'), "{found}");
}
