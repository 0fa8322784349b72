//! The examples of `docs/language.md`: each compiles, is formatted, passes its tests, and gives
//! what it says.

use crate::common::{bits, circuit};
use symbolon_lang::fmt::format;
use symbolon_lang::source::NoModules;
use symbolon_lang::testing::run_tests;
use symbolon_lang::{Options, check, with_stack};

/// Returns the blocks of programs.
fn examples() -> Vec<String> {
    let text = include_str!("../../../docs/language.md");
    let parts = text.split("```sym\n").skip(1);
    parts.map(|part| part.split("```").next().expect("a block ends").to_string()).collect()
}

/// Returns the parts between commas outside of brackets.
fn values(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut values = vec![String::new()];
    for c in list.chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                values.push(String::new());
                continue;
            }
            _ => {}
        }
        values.last_mut().expect("never empty").push(c);
    }
    values.iter().map(|value| value.trim().to_string()).collect()
}

#[test]
fn the_ten_examples_do_what_they_say() {
    let examples = examples();
    assert_eq!(examples.len(), 10);
    for text in examples {
        let compiled = circuit(&text);
        let runs: Vec<(&str, &str)> =
            text.lines().filter_map(|line| line.strip_prefix("// ")?.split_once(" -> ")).collect();
        assert!(!runs.is_empty(), "{text}");
        for (inputs, outputs) in runs {
            let inputs = values(inputs);
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            assert_eq!(bits(&compiled, &inputs), values(outputs), "{text}");
        }
        with_stack(|| {
            let checked = check("main.sym", &text, &NoModules, &Options::default());
            for result in run_tests(&checked, 3) {
                assert!(result.wrong.is_none(), "{result:?}");
            }
        })
        .expect("a thread");
    }
}

#[test]
fn the_examples_and_the_library_are_formatted() {
    let mut texts = examples();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["../../examples/sym", "src/std", "src/std/crypto"].map(|name| folder.join(name))
    {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "sym") {
                texts.push(std::fs::read_to_string(path).expect("text"));
            }
        }
    }
    for text in texts {
        let Ok(formatted) = format(&text) else { panic!("not made of tokens: {text}") };
        assert_eq!(formatted, text);
    }
}
