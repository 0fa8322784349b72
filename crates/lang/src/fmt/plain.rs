//! Spaces, indentation and blank lines of texts with errors, whose line breaks stay.

use crate::lex::{Lexed, Token};
use crate::parse::KEYWORDS;

pub(super) fn put_all(text: &str, tokens: &[Lexed]) -> String {
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
