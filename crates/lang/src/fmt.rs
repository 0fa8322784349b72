//! The formatter: spaces, indentation and blank lines. Line breaks stay where they are.
//!
//! It works on tokens, so comments stay where they are and the tokens are the same before and
//! after.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::lex::{Lexed, Token, lex};
use crate::parse::{KEYWORDS, MAX_NESTING};

/// Formats a source text.
///
/// # Errors
/// Reports text that is not a token, and what no program may be: too deep, or too long.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    let mut errors = Diagnostics::default();
    let tokens = lex(0, text, &mut errors);
    if errors.errors() > 0 {
        return Err(errors);
    }
    if let Some(token) = too_deep(text, &tokens) {
        let message = format!("this nests more than {MAX_NESTING} deep");
        errors.push(Diagnostic::new(Code::Limit, token.span, message));
        return Err(errors);
    }
    let formatted = put_all(text, &tokens);
    if formatted.len() > crate::MAX_SOURCE {
        let message = "formatted, the file would be longer than 16 MiB";
        errors.push(Diagnostic::new(Code::Limit, Default::default(), message));
        return Err(errors);
    }
    // Adjacent tokens could read as another token, but only in texts that mean nothing anyway.
    let again = lex(0, &formatted, &mut errors);
    let of = |text: &str, token: &Lexed| {
        let range = token.span.start as usize..token.span.end as usize;
        text[range].trim_end().to_string()
    };
    let same = tokens.len() == again.len()
        && tokens.iter().zip(&again).all(|(a, b)| of(text, a) == of(&formatted, b));
    Ok(if same { formatted } else { text.to_string() })
}

/// Returns the first bracket that nests deeper than any program: it would be indented as deep.
fn too_deep<'t>(text: &str, tokens: &'t [Lexed]) -> Option<&'t Lexed> {
    let mut depth = 0u32;
    tokens.iter().filter(|token| token.token == Token::Punct).find(|token| {
        match &text[token.span.start as usize..token.span.end as usize] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 2 * MAX_NESTING
    })
}

fn put_all(text: &str, tokens: &[Lexed]) -> String {
    let mut out =
        Output { text, out: String::new(), open: Vec::new(), indent: 0, is_result: false };
    let mut before: Option<Lexed> = None;
    let mut earlier = "";
    for &token in tokens {
        if token.token == Token::End {
            break;
        }
        out.put(before, earlier, token);
        earlier = before.map_or("", |before| out.of(before));
        before = Some(token);
    }
    if !out.out.is_empty() {
        out.out.push('\n');
    }
    out.out
}

struct Output<'a> {
    text: &'a str,
    out: String,
    /// For each open bracket the indentation of its line, and whether it belongs to a `use`.
    open: Vec<(usize, bool)>,
    indent: usize,
    /// Whether the line begins with the `->` of a header: its block belongs to the line before.
    is_result: bool,
}

impl<'a> Output<'a> {
    fn of(&self, token: Lexed) -> &'a str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    fn put(&mut self, before: Option<Lexed>, earlier: &str, token: Lexed) {
        let own = self.of(token);
        let (last, gap) = match before {
            Some(before) => {
                let from = before.span.end as usize;
                (self.of(before), &self.text[from..token.span.start as usize])
            }
            None => ("", ""),
        };
        let breaks = gap.bytes().filter(|&byte| byte == b'\n').count();
        let closes = token.token == Token::Punct && matches!(own, ")" | "]" | "}");
        let in_use = self.open.last().is_some_and(|open| open.1);
        let closed = if closes { self.open.pop() } else { None };
        let before_is_line = before.is_some_and(|before| before.token == Token::LineComment);
        if before.is_some() && (breaks > 0 || before_is_line) {
            let blank = breaks > 1 && !closes && !matches!(last, "{" | "(" | "[");
            self.out.push_str(if blank { "\n\n" } else { "\n" });
            let goes_on = !closes && continues(before, last, token, own);
            self.is_result = goes_on && own == "->";
            let inside = self.open.last().map_or(0, |open| open.0 + 1);
            // A closing bracket is indented like the line that opened it.
            self.indent = closed.map_or(inside + usize::from(goes_on), |open| open.0);
            self.out.extend(std::iter::repeat_n("    ", self.indent));
        } else if let Some(before) = before
            && spaced(before, last, earlier, token, own, !gap.is_empty(), in_use)
        {
            self.out.push(' ');
        }
        self.out.push_str(own.trim_end());
        if token.token == Token::Punct && matches!(own, "(" | "[" | "{") {
            let header = self.indent - usize::from(self.is_result && own == "{");
            self.open.push((header, own == "{" && last == "::"));
        }
    }
}

/// Returns whether a line continues what the line before began.
fn continues(before: Option<Lexed>, last: &str, token: Lexed, own: &str) -> bool {
    let comment = |token: Token| matches!(token, Token::LineComment | Token::BlockComment);
    let Some(before) = before else { return false };
    if comment(before.token) || comment(token.token) {
        return false;
    }
    let starts = token.token == Token::Punct
        && matches!(
            own,
            "->" | "." | "+" | "-" | "*" | "/" | "%" | "&" | "^" | "&&" | "||" | "==" | "!="
        );
    let ends = before.token == Token::Punct
        && matches!(
            last,
            "=" | "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "&&" | "||" | "==" | "!=" | "->"
        );
    starts || ends
}

/// Returns whether a space separates two tokens of a line.
fn spaced(
    before: Lexed,
    last: &str,
    earlier: &str,
    token: Lexed,
    own: &str,
    was: bool,
    in_use: bool,
) -> bool {
    let word = |token: Token| {
        matches!(token, Token::Name | Token::Int | Token::Float | Token::Char | Token::Text)
    };
    let keyword = |text: &str| KEYWORDS.contains(&text) && text != "true" && text != "false";
    if token.token != Token::Punct && before.token != Token::Punct {
        return true;
    }
    if matches!(token.token, Token::LineComment | Token::BlockComment) {
        return true;
    }
    // Whether `<` and `>` compare or enclose is not known here: they stay as they are.
    if matches!(own, "<" | ">") || (matches!(last, "<" | ">") && before.token == Token::Punct) {
        let tight = matches!(own, "," | ";" | ")" | "]" | "::");
        let wide = own == "{" || (last == ">" && word(token.token));
        return (was && !tight) || wide;
    }
    if own == "}" {
        return last != "{" && !in_use;
    }
    if own == ".." && last == "," {
        return true;
    }
    let opens = before.token == Token::Punct && matches!(last, "(" | "[" | "." | "::" | "#" | "..");
    if opens || last == "..=" || matches!(own, ")" | "]" | "," | ";" | ":" | "." | "::" | "..") {
        return false;
    }
    if own == "..=" {
        return false;
    }
    if last == "{" {
        return !in_use;
    }
    // `assert!(…)`
    if own == "!" && before.token == Token::Name && !keyword(last) {
        return false;
    }
    let ends_value = |token: Token, text: &str| {
        (word(token) && !keyword(text)) || matches!(text, ")" | "]" | "}")
    };
    if last == "!" || (last == "-" && before.token == Token::Punct) {
        // After a `>`, which ends a type or compares, it stays as it is.
        let binary = if earlier == ">" { was } else { operand(earlier) };
        return last == "-" && binary;
    }
    if matches!(own, "(" | "[") {
        let tight = ends_value(before.token, last) && !matches!(last, "to" | "from" | "}");
        return !tight;
    }
    true
}

/// Returns whether a token can end an operand.
fn operand(text: &str) -> bool {
    let ends =
        text.chars().next_back().is_some_and(|c| c.is_alphanumeric() || "_)]}'\"".contains(c));
    ends && (!KEYWORDS.contains(&text) || text == "true" || text == "false")
}
