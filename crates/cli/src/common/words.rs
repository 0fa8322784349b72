//! Words of the command line that consist of parts.

/// Splits `NAME=REST` at the first `=`.
///
/// # Errors
/// A sentence that says what was expected and does not repeat `text`, which may hold a secret.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, rest)) if !name.trim().is_empty() => {
            Ok((name.trim().to_string(), rest.to_string()))
        }
        _ => Err("expected NAME=…, where NAME is a name or a place counted from 0".to_string()),
    }
}

/// Formats `1 test`, `2 tests`.
pub fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns what to do when a list was written with spaces, so that the shell split it into several
/// words: names the words that look like further elements of an input, only by their places.
pub fn loose_elements() -> Option<String> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    loose_elements_in(&words.collect::<Vec<_>>())
}

fn loose_elements_in(words: &[String]) -> Option<String> {
    let (mut from, mut end) = (0, 0);
    for (place, word) in words.iter().enumerate() {
        let value = match word.strip_prefix("--input") {
            Some("") => place + 1,
            Some(rest) if rest.starts_with('=') => place,
            _ => continue,
        };
        let more = words.iter().skip(value + 1).take_while(|word| is_element(word)).count();
        if more > 0 {
            (from, end) = (value, value + more);
            break;
        }
    }
    let further = match end - from {
        0 => return None,
        1 => format!("argument {end} looks like a further element"),
        _ => format!("arguments {} to {end} look like further elements", from + 1),
    };
    Some(format!(
        "{further} of the list in argument {from}: write it with commas, --input NAME=1,2,3, or in \
         quotes, --input 'NAME=[1, 2, 3]'"
    ))
}

/// Returns whether a word can be an element of a list, and hardly anything else.
fn is_element(word: &str) -> bool {
    let first = word.strip_prefix('-').unwrap_or(word).chars().next();
    first.is_some_and(|c| c.is_ascii_digit() || matches!(c, '[' | ']' | '{' | '"' | ','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_a_shell_made_words_of_are_found() {
        let hint = |line: &str| {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            loose_elements_in(&words)
        };
        let says = hint("symbolon eval x.sym --input salary=3000 5000 7000 -1").unwrap();
        assert!(says.starts_with("arguments 5 to 7 look like further elements of the list in"));
        assert!(says.contains("argument 4: write it with commas, --input NAME=1,2,3"), "{says}");
        let says =
            hint("symbolon eval x.sym --input above=1 --input=a=[3000, 5000] --pad").unwrap();
        assert!(
            says.starts_with("argument 6 looks like a further element of the list in argument 5")
        );
        for line in ["eval --input a=1 ./x.sym y --", "run --party 0 --input", "x 5 6 --input -"] {
            assert_eq!(hint(line), None, "{line}");
        }
    }

    #[test]
    fn assignments_split_at_the_first_sign() {
        assert_eq!(assignment("key=hex:0f").unwrap(), ("key".into(), "hex:0f".into()));
        assert_eq!(assignment("a=b=c").unwrap(), ("a".into(), "b=c".into()));
        for bad in ["", "=5", "secret12345"] {
            let error = assignment(bad).unwrap_err();
            assert!(!error.contains("12345"), "{error}");
        }
    }
}
