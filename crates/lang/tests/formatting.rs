//! The formatter: formatting its output changes nothing, and the output is the same program.

use std::path::{Path, PathBuf};

use symbolon_lang::diag::Diagnostics;
use symbolon_lang::fmt::format;
use symbolon_lang::lex::{Token, lex};
use symbolon_lang::source::read_source;
use symbolon_lang::{Options, compile_text};

/// Formats a text, and checks that formatting again changes nothing.
fn formatted(text: &str) -> String {
    let once = format(text).expect("tokens");
    let again = format(&once).expect("tokens");
    let differ = once.lines().zip(again.lines()).find(|(once, again)| once != again);
    assert!(again == once, "formatted twice: {differ:?}\n{once}\n{again}");
    once
}

/// Returns the text with all line breaks where lines can break, or with none.
fn relaid(text: &str, gap: &str) -> String {
    let tokens = lex(0, text, &mut Diagnostics::default());
    let mut out = String::new();
    let mut end = 0;
    for token in tokens {
        let (from, to) = (token.span.start as usize, token.span.end as usize);
        let between = &text[end..from];
        // What is together may be one operator.
        let comment = out.rsplit('\n').next().is_some_and(|line| line.contains("//"));
        out.push_str(match between {
            _ if comment => "\n",
            "" => "",
            _ => gap,
        });
        out.push_str(&text[from..to]);
        if token.token == Token::LineComment {
            out.push('\n');
        }
        end = to;
    }
    out
}

/// All programs of the repository, with their texts.
fn programs() -> Vec<(PathBuf, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("src/std"), here.join("../../examples/sym")];
    let mut programs = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = read_source(&path).expect("text");
                programs.push((path, text));
            }
        }
    }
    assert!(programs.len() > 25, "{programs:?}");
    programs
}

/// Returns all tokens but commas, in order.
fn tokens(text: &str) -> Vec<String> {
    let tokens = lex(0, text, &mut Diagnostics::default());
    let own = |t: &symbolon_lang::lex::Lexed| {
        text[t.span.start as usize..t.span.end as usize].trim_end().to_string()
    };
    tokens.iter().map(own).filter(|own| own != ",").collect()
}

#[test]
fn examples_are_formatted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sym");
    let mut seen = 0;
    for (path, text) in programs().iter().filter(|(path, _)| path.starts_with(&folder)) {
        assert_eq!(formatted(text), *text, "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn all_programs_keep_their_tokens_and_lines_are_short() {
    for (path, text) in programs() {
        for text in [text.clone(), relaid(&text, " "), relaid(&text, "\n")] {
            let found = formatted(&text);
            assert_eq!(tokens(&found), tokens(&text), "{}", path.display());
            for line in found.lines().filter(|line| line.chars().count() > 100) {
                // Nothing in a comment or in a text is broken.
                let atom = line.contains("//") || line.contains('"');
                assert!(atom, "{}: {line}", path.display());
            }
        }
    }
}

/// Each is laid out as rustfmt does it with `max_width = 100` and `use_small_heuristics = "Max"`.
#[test]
fn programs_are_laid_out_as_by_rustfmt() {
    let cases = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formatting.txt"),
    )
    .expect("the cases");
    for case in cases.split("\n=====\n") {
        let (written, wanted) = case.split_once("\n-----\n").expect("two parts");
        let found = formatted(written);
        assert_eq!(found.trim_end(), wanted.trim_end(), "{written}");
    }
}

#[test]
fn a_formatted_program_is_the_same_program() {
    let text = "use std::sort::{sort};fn main(a:[u8;3]from 0,b:i5 from 1)->(r:[u8;3]to all,s:i5 to(0,1)){\
        let mut c=sort(a);/* why */for i in 0..3{if c[i]<9&&b!=-1{c[i]+=1;}}// end\n(c,-b)}";
    let found = formatted(text);
    assert_ne!(found, text);
    let digest = |text: &str| {
        let circuit = compile_text(text, &Options::default());
        circuit.unwrap_or_else(|errors| panic!("{errors}")).digest()
    };
    assert_eq!(digest(&found), digest(text));
}

#[test]
fn a_program_with_errors_keeps_its_lines() {
    let text = "fn main(a:u8 from 0)\n->(r:u8 to all){\nlet b=a\n+1;\nb b\n}\n";
    let wanted =
        "fn main(a: u8 from 0)\n    -> (r: u8 to all) {\n    let b = a\n        + 1;\n    b b\n}\n";
    assert_eq!(formatted(text), wanted);
}

/// Comments, brackets and lists take time by their length.
#[test]
fn long_files_are_formatted_in_time() {
    let comments = format!("{}fn f() {{}}\n", "// why\n".repeat(200_000));
    let nested = format!("const N = {}3{};\n", "(".repeat(200), ")".repeat(200));
    let list = format!("const N: [u8; 100000] = [{}];\n", "x + 1, ".repeat(100_000));
    for text in [comments, nested.repeat(1000), list] {
        let begin = std::time::Instant::now();
        format(&text).expect("tokens");
        let took = begin.elapsed().as_secs();
        assert!(took < 20, "{took} s for {} bytes", text.len());
    }
}
