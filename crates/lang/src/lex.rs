//! Text to tokens.

use logos::Logos;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::source::Span;
use symbolon_common::invisible::is_invisible;

/// A token. `>` is always one token, so that nested type arguments close one by one; the parser
/// joins `>>`, `>=` and `>>=` where it expects an operator.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n]+")]
pub enum Token {
    /// A line of comment; `///` and `//!` document.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    /// `/* … */`, nested.
    #[token("/*", block_comment)]
    BlockComment,
    /// A name or a keyword.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    /// An integer, with or without a type after it.
    #[regex(r"[0-9][A-Za-z0-9_]*")]
    Int,
    /// A number with a fraction or an exponent.
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?([fF][0-9]+)?")]
    #[regex(r"[0-9][0-9_]*[eE][+-][0-9_]+([fF][0-9]+)?")]
    Float,
    /// `'a'`, `b'a'`
    #[regex(r"b?'([^'\\\n]|\\[^\n])'")]
    Char,
    /// `"text"`, `b"text"`
    #[regex(r#"b?"([^"\\\n]|\\[^\n])*""#)]
    Text,
    /// `'a`, the name of a loop.
    #[regex(r"'[A-Za-z_][A-Za-z0-9_]*")]
    Label,
    /// Brackets, separators and operators.
    #[token("(")]
    #[token(")")]
    #[token("[")]
    #[token("]")]
    #[token("{")]
    #[token("}")]
    #[token(",")]
    #[token(";")]
    #[token(":")]
    #[token("::")]
    #[token(".")]
    #[token("..")]
    #[token("..=")]
    #[token("->")]
    #[token("=>")]
    #[token("=")]
    #[token("==")]
    #[token("!=")]
    #[token("!")]
    #[token("<")]
    #[token("<=")]
    #[token("<<")]
    #[token("<<=")]
    #[token(">")]
    #[token("+")]
    #[token("+=")]
    #[token("-")]
    #[token("-=")]
    #[token("*")]
    #[token("*=")]
    #[token("/")]
    #[token("/=")]
    #[token("%")]
    #[token("%=")]
    #[token("&")]
    #[token("&=")]
    #[token("&&")]
    #[token("|")]
    #[token("|=")]
    #[token("||")]
    #[token("^")]
    #[token("^=")]
    #[token("#")]
    Punct,
    /// The end of the file.
    End,
}

fn block_comment(lexer: &mut logos::Lexer<'_, Token>) -> bool {
    let mut depth = 1usize;
    let bytes = lexer.remainder().as_bytes();
    let mut place = 0;
    while place + 1 < bytes.len() {
        match (bytes[place], bytes[place + 1]) {
            (b'/', b'*') => (depth, place) = (depth + 1, place + 2),
            (b'*', b'/') => (depth, place) = (depth - 1, place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            lexer.bump(place);
            return true;
        }
    }
    lexer.bump(bytes.len());
    false
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub struct Lexed {
    /// What it is.
    pub token: Token,
    /// Where.
    pub span: Span,
}

/// Returns all tokens of a file, comments included, ended by [`Token::End`]; text that is not a
/// token is reported and left out. Characters that cannot be seen are reported outside of texts.
pub fn lex(file: u32, text: &str, errors: &mut Diagnostics) -> Vec<Lexed> {
    let mut tokens = Vec::new();
    let span = |range: std::ops::Range<usize>| Span {
        file,
        start: range.start as u32,
        end: range.end as u32,
    };
    if text.len() > crate::MAX_SOURCE {
        errors.push(Diagnostic::new(Code::Limit, span(0..0), "the file is longer than 16 MiB"));
        return vec![Lexed { token: Token::End, span: span(0..0) }];
    }
    let mut hidden = Hidden { text, place: 0 };
    for (token, range) in Token::lexer(text).spanned() {
        let end = if token == Ok(Token::Text) { range.start } else { range.end };
        hidden.up_to(end, |range| errors.push(refused(text, span(range))));
        hidden.place = range.end;
        let span = span(range.clone());
        match token {
            Ok(token) => tokens.push(Lexed { token, span }),
            // These have been reported.
            Err(()) if text[range.clone()].chars().all(is_unseen) => {}
            Err(()) => {
                let reason = match text.as_bytes()[range.start] {
                    b'"' => "this text has no closing `\"` on its line",
                    b'\'' => "a character is written `'a'`",
                    b'/' => "this comment has no closing `*/`",
                    b'@' => "there is no `@`: write `x if x < 4 => …`, or slices of the array",
                    b'?' => {
                        "there is no `?`: write `if c { a } else { b }`, or \
                         `let Some(x) = … else { return None; };`"
                    }
                    _ => "this character means nothing here",
                };
                errors.push(Diagnostic::new(Code::Text, span, reason));
            }
        }
    }
    hidden.up_to(text.len(), |range| errors.push(refused(text, span(range))));
    tokens.push(Lexed { token: Token::End, span: span(text.len()..text.len()) });
    tokens
}

/// Returns whether a character cannot be seen, or is a carriage return. Editors end a line at a
/// carriage return, and the language does not, so it is allowed only before a line feed.
fn is_unseen(c: char) -> bool {
    is_invisible(c) || c == '\r'
}

/// Finds what cannot be seen from a place in a text on.
struct Hidden<'t> {
    text: &'t str,
    place: usize,
}

impl Hidden<'_> {
    fn up_to(&mut self, end: usize, mut found: impl FnMut(std::ops::Range<usize>)) {
        while self.place < end {
            let part = &self.text[self.place..end];
            let Some((at, c)) = part.char_indices().find(|(_, c)| is_unseen(*c)) else { break };
            let start = self.place + at;
            self.place = start + c.len_utf8();
            if c != '\r' || !self.text[self.place..].starts_with('\n') {
                found(start..self.place);
            }
        }
        self.place = self.place.max(end);
    }
}

fn refused(text: &str, span: Span) -> Diagnostic {
    let shown = &text[span.start as usize..span.end as usize];
    let shown: String = shown.chars().map(|c| format!("U+{:04X}", u32::from(c))).collect();
    let message = format!("the character {shown} cannot be seen, or changes what is seen");
    Diagnostic::new(Code::Text, span, message)
        .help("delete it: outside of texts in `\"`, a program has no such characters")
}

/// Returns the bytes of a text or character literal, whose quotes, and a `b` before them, are part
/// of `literal`; `None` for a bad escape.
pub fn unescape(literal: &str) -> Option<Vec<u8>> {
    let literal = literal.strip_prefix('b').unwrap_or(literal);
    let inner = literal.get(1..literal.len().checked_sub(1)?)?;
    let mut bytes = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            let mut buffer = [0; 4];
            bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        bytes.push(match chars.next()? {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            '0' => 0,
            '\\' => b'\\',
            '"' => b'"',
            '\'' => b'\'',
            _ => return None,
        });
    }
    Some(bytes)
}
