//! Lints: what they find, and what permits it.

use symbolon_lang::source::{Loader, NoModules};
use symbolon_lang::{Options, check, with_stack};

/// Returns the codes and lines of what is reported.
fn told_with(text: &str, loader: &(dyn Loader + Sync)) -> Vec<(String, u32)> {
    with_stack(|| {
        let checked = check("main.sym", text, loader, &Options::default());
        let told = checked.errors.list().iter();
        told.map(|error| (error.code.text().to_string(), checked.sources.line(error.span)))
            .collect()
    })
    .expect("a thread")
}

fn told(text: &str) -> Vec<(String, u32)> {
    told_with(text, &NoModules)
}

/// Returns whether the lint finds something in a body of `main`.
fn narrows(body: &str) -> bool {
    let text = format!(
        "enum E {{ A(u16), B }}
        fn low(x: u16) -> u8 {{ x as u8 }}
        fn id(x: u16) -> u16 {{ x }}
        fn main(x: u16 from 0, y: i16 from 1, q: fixed<16, 8> from 1, f: f32 from 1) -> (r: u8 to all) {{ {body} }}"
    );
    let found = told(&text);
    assert!(found.iter().all(|(code, _)| code == "W10"), "{body}: {found:?}");
    !found.is_empty()
}

#[test]
fn narrowing_is_found_where_an_output_depends_on_it() {
    for body in [
        "x as u8",
        "y as u8",
        "y as i8 as u8",
        "q as u8",
        "(q as fixed<4, 8> > 1.0) as u8",
        "(x as fixed<4, 8> > 1.0) as u8",
        "low(x)",
        "let z = x as u8; z",
        "let mut z = 0; z += x as u8; z",
        "let (a, b) = (x as u8, 3); a + b",
        "let mut a = [1, 2, 3]; a[x as u2] = 4; a[0]",
        "if (x as u8) < 3 { 1 } else { 2 }",
        "if x > 3 { return x as u8; } 4",
        "let mut z = 0; if x as u8 == 3 { z = 1; } z",
        "let mut z = 0; for i in 0..4 { if x as u8 == 3 { break; } z += 1; } z",
        "let mut z = 0; for w in [x as u8, 3] { z += w; } z",
        "match E::A(x) { E::A(w) if w as u8 > 3 => 1, _ => 2 }",
        "match x as u8 { 0 => 1, _ => 2 }",
        "[x as u8 for i in 0..3][1]",
        "id(x) as u8",
        "(x / y as u16) as u8",
        "(x + 1) as u8",
        "((x & 0xff) + (x & 0xff)) as u8",
        "let mut z = 3; z = x; z as u8",
        "(x % 257) as u8",
        "(x >> 7) as u8",
        "((x & 0xff) as i8 > 3) as u8",
    ] {
        assert!(narrows(body), "{body}");
    }
}

#[test]
fn narrowing_is_not_found_where_it_cannot_be_or_does_not_matter() {
    for body in [
        "let z = x as u8; 3",
        "assert!(x as u8 < 3); 3",
        "let z = low(x); 3",
        "(x & 0xff) as u8",
        "(x >> 8) as u8",
        "(x >> 4 << 4 & 0x70) as u8",
        "(x % 256) as u8",
        "(x / 256) as u8",
        "(x & 15) as u8 * (x & 15) as u8",
        "((x & 15) * (x & 15)) as u8",
        "((x & 127) + (x & 127)) as u8",
        "let z = x & 0xff; z as u8",
        "x.min(255) as u8",
        "x.clamp(3, 200) as u8",
        "min(x, 255) as u8",
        "(if x > 3 { 200 } else { x >> 8 }) as u8",
        "(x as u8 as u16 == x) as u8 & 0",
        "let mut z = 0; for i in 0..300 { z += i as u8; } z",
        "f as u8",
        "x.count_ones() as u8 & 0",
        "x.checked_cast().unwrap_or(3)",
        "((x & 0x7f) as i8 > 3) as u8",
    ] {
        // What is beside the case itself.
        let body = body.replace("x as u8 as u16 == x", "x == 3").replace("count_ones()", "min(9)");
        assert!(!narrows(&body), "{body}");
    }
}

#[test]
fn functions_and_files_permit_lints_by_name() {
    let program = |file: &str, function: &str| {
        format!(
            "{file}\n{function}\nfn f(a: u16) -> u8 {{ match a {{ _ => a as u8, 3 => 2 }} }}\n\
             fn main(a: u16 from 0) -> (r: u8 to all) {{ f(a) + a as u8 }}"
        )
    };
    let codes = |file: &str, function: &str| {
        let mut found = told(&program(file, function));
        found.sort();
        found.into_iter().map(|(code, line)| format!("{code}:{line}")).collect::<Vec<_>>()
    };
    assert_eq!(codes("", ""), ["W09:3", "W10:3", "W10:4"]);
    assert_eq!(codes("", "#[allow(unreachable)]"), ["W10:3", "W10:4"]);
    assert_eq!(codes("", "#[allow(narrowing)]"), ["W09:3", "W10:4"]);
    assert_eq!(codes("", "#[allow(narrowing, unreachable)]"), ["W10:4"]);
    assert_eq!(codes("", "#[checked]"), ["W09:3", "W10:4"]);
    assert_eq!(codes("#![allow(narrowing)]", ""), ["W09:3"]);
    assert_eq!(codes("#![allow(narrowing, unreachable)]", ""), [""; 0]);
    assert_eq!(codes("#![checked] #![allow(unreachable)]", ""), [""; 0]);
    for wrong in ["#![allow(other)]", "#![allow]", "#![inline]", "#![checked(3)]", "#![checked(a)]"]
    {
        let found = told(&program(wrong, ""));
        assert!(found.iter().any(|(code, _)| code.starts_with('E')), "{wrong}: {found:?}");
    }
    let late = "fn f() { }\n#![checked]\nfn main(a: u8 from 0) -> (r: u8 to all) { a }";
    assert_eq!(told(late)[0], ("E01".into(), 2));
}

#[test]
fn a_file_that_permits_them_permits_them_in_its_modules_only() {
    struct One(&'static str);
    impl Loader for One {
        fn load(&self, path: &[std::sync::Arc<str>]) -> Result<Option<(String, String)>, String> {
            let known = path.len() == 1 && &*path[0] == "m";
            Ok(known.then(|| ("m.sym".into(), self.0.into())))
        }
    }
    let main = "fn main(a: u16 from 0) -> (r: u8 to all) { m::f(a) }";
    let loud = One("pub fn f(a: u16) -> u8 { a as u8 }");
    let quiet = One("#![allow(narrowing)]\npub fn f(a: u16) -> u8 { a as u8 }");
    assert_eq!(told_with(main, &loud).len(), 1);
    assert!(told_with(main, &quiet).is_empty());
    assert!(told_with(&format!("#![allow(narrowing)]\n{main}"), &loud).is_empty());
    let both = "fn main(a: u16 from 0) -> (r: u8 to all) { m::f(a) + a as u8 }";
    assert_eq!(told_with(both, &quiet), [("W10".into(), 1)]);
    let unknown = One("#![other]\npub fn f(a: u16) -> u8 { 3 }");
    assert_eq!(told_with(main, &unknown), [("E02".into(), 1)]);
}
