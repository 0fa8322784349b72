//! Characters that nobody sees, or that change the order in which others are shown. A source has
//! them only in texts: parties agree on a program by reading it.

use std::borrow::Cow;

/// Runs of such characters beyond ASCII: Unicode's categories Cc, Cf, Zl and Zp, which have all of
/// `Bidi_Control`, and other characters with `Default_Ignorable_Code_Point` than the selectors of
/// variants, which follow a character that is seen.
const RUNS: [(char, char); 26] = [
    ('\u{80}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e00ff}'),
    ('\u{e01f0}', '\u{e0fff}'),
];

/// Returns whether a character is one of these; tabs and ends of lines are not.
pub fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    }
    let after = RUNS.partition_point(|run| run.0 <= c);
    after > 0 && c <= RUNS[after - 1].1
}

/// Returns a text with such characters as escapes like `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_invisible(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;

    #[test]
    fn runs_ascend() {
        assert!(RUNS.iter().all(|run| run.0 <= run.1));
        assert!(RUNS.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert_eq!(visible("a\u{202e}\t\0"), "a\\u{202e}\t\\u{0}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn knows_the_categories(
            hidden in string_regex(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}--\t\n\r]").unwrap(),
            seen in string_regex(
                r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}--\p{Default_Ignorable_Code_Point}]",
            ).unwrap(),
        ) {
            prop_assert!(hidden.chars().all(is_invisible), "{hidden:?}");
            prop_assert!(!seen.contains(is_invisible), "{seen:?}");
        }
    }
}
