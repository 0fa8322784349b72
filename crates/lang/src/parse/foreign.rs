//! What Rust and other languages have and this one does not, and what to write instead.

use super::{Failed, Parsed, Parser};
use crate::diag::{Code, Diagnostic};
use crate::lex::Token;
use crate::source::Span;

/// A word that begins something which the language does not have, what stays true without it, and
/// what to write.
struct Foreign {
    word: &'static str,
    /// Whether it begins an item, or else a statement.
    item: bool,
    message: &'static str,
    help: &'static str,
}

const fn item(word: &'static str, message: &'static str, help: &'static str) -> Foreign {
    Foreign { word, item: true, message, help }
}

const fn stmt(word: &'static str, message: &'static str, help: &'static str) -> Foreign {
    Foreign { word, item: false, message, help }
}

/// All of them. A word is a name everywhere else.
const FOREIGN: [Foreign; 16] = [
    item("static", "there are no `static` variables", "write `const NAME: TYPE = …;`"),
    item("mod", "a module is a file", "write the items to `NAME.sym`, and `use NAME::item;` here"),
    item("trait", "there are no traits", "write functions with `T: Num`, `T: Int` or `T: Float`"),
    item("where", "there is no `where`", "write the bound in the `<…>`: `T: Num`"),
    item("unsafe", "there is no `unsafe`", "leave it out"),
    item("extern", "there is no `extern`", "leave it out"),
    item("async", "there is no `async`", "leave it out"),
    item("macro_rules", "there are no macros", "write a function"),
    item("let", "`let` is for functions", "write `const NAME: TYPE = …;`"),
    stmt(
        "while",
        "there is no `while`: every loop has a known number of rounds",
        "write `for i in 0..MOST { if !condition { break; } … }`",
    ),
    stmt(
        "loop",
        "there is no `loop`: every loop has a known number of rounds",
        "write `for i in 0..MOST { … }` and leave it with `break`",
    ),
    stmt("fn", "functions are items", "write it before or after this function"),
    stmt("struct", "structures are items", "write it before or after this function"),
    stmt("enum", "enumerations are items", "write it before or after this function"),
    stmt("use", "`use` is for files", "write it at the beginning of the file"),
    stmt("unsafe", "there is no `unsafe`", "leave it out"),
];

/// Returns what to write instead of a macro.
pub(super) fn macro_help(name: &str) -> &'static str {
    match name {
        "vec" => "write an array: `[a, b]`, or `[a; N]`",
        "println" | "print" | "eprintln" | "dbg" | "format" => {
            "a value is shown only as an output: add it to the results of `main`"
        }
        "panic" | "unreachable" | "todo" | "unimplemented" => {
            "write `assert(false, \"text\")`, and give a value after it"
        }
        "debug_assert" => "write `assert!(condition)`",
        "matches" => "write `match x { PATTERN => true, _ => false }`",
        _ => "write a function",
    }
}

impl Parser<'_> {
    /// Reports something that the language does not have.
    pub(super) fn refuse<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: &str,
    ) -> Parsed<T> {
        self.errors.push(Diagnostic::new(Code::Text, span, message).help(help));
        Err(Failed)
    }

    fn foreign(&self, item: bool) -> Option<&'static Foreign> {
        if self.peek().token != Token::Name {
            return None;
        }
        FOREIGN.iter().find(|foreign| foreign.item == item && foreign.word == self.text_at(0))
    }

    pub(super) fn is_foreign_item(&self) -> bool {
        self.foreign(true).is_some()
    }

    /// Returns whether a word begins a statement that there is not: another name, or what begins a
    /// condition or a block, follows it.
    pub(super) fn is_foreign_statement(&self) -> bool {
        let next = self.tokens[(self.place + 1).min(self.tokens.len() - 1)].token;
        let starts = matches!(next, Token::Name | Token::Int) && self.text_at(1) != "as";
        let opens = match self.text_at(0) {
            "while" => matches!(self.text_at(1), "!" | "("),
            "loop" | "unsafe" => self.text_at(1) == "{" && !matches!(self.text_at(3), ":" | ","),
            _ => false,
        };
        (starts || opens) && self.foreign(false).is_some()
    }

    pub(super) fn refuse_foreign<T>(&mut self) -> Parsed<T> {
        let span = self.span();
        match self.foreign(true).or_else(|| self.foreign(false)) {
            Some(foreign) => self.refuse(span, foreign.message, foreign.help),
            None => self.fail("an item"),
        }
    }

    /// Reports `&x` and `*x`.
    pub(super) fn no_reference<T>(&mut self, span: Span) -> Parsed<T> {
        let before = self.tokens[self.place.saturating_sub(1)].span;
        let before = &self.text[before.start as usize..before.end as usize];
        if before == "*" {
            return self.refuse(span, "there is no `**`", "write `x.pow(2)`");
        }
        self.refuse(span, "there are no references", "leave out the `&` or `*`: copies are free")
    }

    /// Returns what may help where something else is expected.
    pub(super) fn advice(&self) -> Option<&'static str> {
        let before = self.tokens[self.place.saturating_sub(1)].span;
        let before = &self.text[before.start as usize..before.end as usize];
        match (before, self.text_at(0)) {
            ("+", "+") => Some("write `x += 1`"),
            (_, "|" | "||") if !matches!(before, ")" | "]" | "}") => {
                Some("there are no closures: write a loop, `[f(x) for x in a]`, or a function")
            }
            ("[" | ",", "..") => {
                Some("join arrays with `a.concat(b)`; a slice has both bounds: `a[0..2]`")
            }
            (".." | "..=", "]") => Some("a slice has both bounds: `a[2..a.len()]`"),
            (".." | "..=", "=>" | "|") | (_, "..=") => {
                Some("a range in a pattern has both ends: `3..=255`")
            }
            ("ref", _) => Some("leave out `ref`: copies are free"),
            ("for" | "(" | ",", "&") => Some("leave out the `&`: copies are free"),
            (_, "to") => Some("an output has a name: `-> (r: u32 to all)`"),
            ("&&" | "||" | "(" | "if", "let") => {
                Some("`let` comes first in a condition: `if let Some(x) = y && x > 3 { … }`")
            }
            (_, "let") => Some("the statement before ends with `;`"),
            ("impl", _) => Some("a type parameter is written `fn f<T: Num>(x: T)`"),
            ("+" | "-", ";") => Some("write `x += 1` or `x -= 1`"),
            _ => None,
        }
    }
}
