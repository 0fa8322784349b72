//! Programs made of the language's words, which get past the parser more often than any bytes do:
//! each byte is a word. The check ends; a program and its formatted text are the same circuit.

use symbolon_lang::fmt::format;
use symbolon_lang::source::NoModules;
use symbolon_lang::{Options, analyse, compile_here, with_stack};

const START: &str = "fn main(a: u8 from 0, b: [u4; 3] from 1) -> (r: u8 to all) {";

#[rustfmt::skip]
const WORDS: [&str; 112] = [
    "a", "b", "c", "x", "T", "N", "main", "f", "0", "1", "2", "3", "7u3", "0.5", "true", "'q'",
    "\"t\"", "u8", "i5", "bool", "usize", "u<N>", "fixed<3, 4>", "[u8; 3]", "[bool; N]", "(u8, bool)",
    "Option<u8>", "Some(", "None", "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ":", "::", ".",
    "..", "..=", "->", "=>", "=", "==", "!=", "<=", "+", "-", "*", "/", "%", "&", "|", "^", "<<",
    "&&", "||", "!", "+=", "let", "mut", "for", "in", "if", "else", "match", "return", "break",
    "continue", "as", "const", "struct S", "enum E", "impl S", "fn f", "type T =", "pub", "use std::",
    "sort::sort", "bits::to_bits", "self", "from 0", "to all", "assert(", "zip(", "sum(", "zero(",
    "#[component]", "#[test]", "\n", "_", "// c\n", "'o: for", "'o", "else { return a; };", "[a, ..]",
    ".len()", ".min(", ".rev()", "assert!(", "#[checked]", "Self", "u8::MAX", ".checked_add(", "while",
    "b\"t\"", "..b", "{ x: a }",
];

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    if data.len() > 400 {
        return;
    }
    let words: Vec<&str> =
        data.iter().map(|&byte| WORDS[usize::from(byte) % WORDS.len()]).collect();
    let text = format!("{START} {}", words.join(" "));
    let options = Options::default();
    with_stack(|| {
        drop(analyse("main.sym", &text, &NoModules, &options));
        let compile = |text: &str| compile_here("main.sym", text, &NoModules, &options, false);
        if let Ok((circuit, ..)) = compile(&text) {
            let formatted = format(&text).expect("made of tokens");
            let (again, ..) = compile(&formatted).expect("the same program");
            assert_eq!(circuit.digest(), again.digest(), "{formatted}");
        }
    })
    .expect("a thread");
}
