//! Tokens to the syntax tree, by recursive descent.
//!
//! After an error the parser continues with the next statement or item, so that one run reports
//! many.
//!
//! The grammar: `{x}` repeats, `[x]` is optional, `x,*` and `x,+` are comma lists. Operators and
//! their precedence are Rust's, and a prefix binds tighter than `as`. Headers of `if`, `match` and
//! `for` take no literals of structures.
//!
//! ```text
//! file:     {"#!["name"]"}{item}
//! item:     {attr}["pub"](use|const|alias|struct|enum|impl|fn)|parties
//! attr:     "#["name"]"
//! name:     NAME["("(NAME,+|NAME"="TEXT)")"]
//! parties:  "parties"NAME,+";"
//! use:      "use"path["::{"NAME,+"}"]";"
//! const:    "const"NAME[":"type]["="expr]";"
//! alias:    "type"NAME"="type";"
//! struct:   "struct"NAME[generics]"{"(NAME":"type),*"}"
//! enum:     "enum"NAME[generics]"{"(NAME["("type,+")"|"{"(NAME":"type),+"}"]),+"}"
//! impl:     "impl"[generics]type"{"{{attr}["pub"]fn}"}"
//! fn:       "fn"NAME[generics]"("param,*")"["->"result]block
//! generics: "<"(NAME[":"NAME]|"const"NAME":"type),+">"
//! param:    ["mut"](NAME":"type["from"owner]|"self")
//! owner:    INT|NAME|"each"|"share"|"clients"
//! result:   type|"("(NAME":"type"to"who),+")"
//! who:      INT|NAME|"each"|"clients"|"all"|"("(INT|NAME),+")"
//! type:     path["<"arg,+">"]|"["type";"expr"]"|"("type,*")"
//! arg:      type|binary
//! path:     NAME{"::"NAME}
//! block:    "{"{stmt}[expr]"}"
//! stmt:     "let"pattern[":"type]"="expr["else"block]";"|const|for|if|match|block
//!           |expr[ASSIGN expr]";"|"return"[expr]";"|("break"|"continue")[LABEL]";"
//! for:      {attr}[LABEL":"]"for"pattern"in"expr block
//! expr:     binary[(".."|"..=")binary]
//! binary:   unary{OPERATOR unary}
//! unary:    {"-"|"!"}postfix{"as"type}
//! postfix:  primary{"."NAME|"."INT|["::<"arg,+">"]"("expr,*")"|"["expr"]"}
//! primary:  LITERAL|path["{"(NAME[":"expr]),*[".."expr]"}"]|"("expr,*")"|if|match|block|array
//!           |("assert"|"assert_eq"|"assert_ne")"!""("expr,+")"
//! array:    "["(expr,*|expr";"expr|expr"for"pattern"in"expr)"]"
//! if:       "if"(expr|"let"pattern"="expr["&&"expr])block["else"(if|block)]
//! match:    "match"expr"{"(pattern["if"expr]"=>"expr),*"}"
//! pattern:  single{"|"single}
//! single:   "_"|number[("..="|"..")number]|["mut"]NAME|"("pattern,*")"|"["(pattern|".."),*"]"
//!           |path["("pattern,*")"|"{"(NAME[":"pattern]),*[".."]"}"]
//! ```

mod expr;
mod foreign;
mod items;
mod marks;
mod recover;
mod types;

pub use marks::{Mark, Marks};

use crate::ast::{File, Ident, Type};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::lex::{Lexed, Token, lex};
use crate::source::Span;

/// Expressions, types, patterns and blocks nest at most this deep.
pub const MAX_NESTING: u32 = 256;

/// A path has at most this many names.
const MAX_PATH: usize = 64;

/// An item has at most this many parameters in `<…>`.
const MAX_GENERICS: usize = 64;

/// Words that cannot be names.
pub const KEYWORDS: [&str; 22] = [
    "use", "const", "type", "struct", "enum", "impl", "fn", "parties", "pub", "mut", "let", "for",
    "in", "if", "else", "match", "return", "break", "continue", "as", "true", "false",
];

/// Stands for an error that has already been reported.
#[derive(Debug)]
pub struct Failed;

/// The result of parsing a part; an error has already been reported.
pub type Parsed<T> = Result<T, Failed>;

/// Parses a file.
pub fn parse(file: u32, text: &str, errors: &mut Diagnostics) -> File {
    let mut tokens = lex(file, text, errors);
    tokens.retain(|t| !matches!(t.token, Token::LineComment | Token::BlockComment));
    Parser::new(text, tokens, errors).file()
}

/// Returns what the tokens of a file without errors are.
pub fn marks(text: &str) -> Option<Marks> {
    let mut errors = Diagnostics::default();
    let mut tokens = lex(0, text, &mut errors);
    tokens.retain(|t| !matches!(t.token, Token::LineComment | Token::BlockComment));
    let mut parser = Parser::new(text, tokens, &mut errors);
    parser.file();
    let marks = std::mem::take(&mut parser.marks);
    (errors.errors() == 0).then_some(marks)
}

/// Parses a text that is one expression, such as the value of a constant given from outside.
pub fn parse_expr(file: u32, text: &str, errors: &mut Diagnostics) -> Option<crate::ast::Expr> {
    let mut tokens = lex(file, text, errors);
    tokens.retain(|t| !matches!(t.token, Token::LineComment | Token::BlockComment));
    let mut parser = Parser::new(text, tokens, errors);
    let expr = parser.expr().ok()?;
    (parser.peek().token == Token::End).then_some(expr)
}

/// The tokens and the current place in them.
pub struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Lexed>,
    place: usize,
    errors: &'a mut Diagnostics,
    depth: u32,
    /// How many tokens were read in vain; bounds the time that ambiguous arguments can take.
    spent: usize,
    /// What `Self` means here, and of how many tokens it is.
    own: Option<(Type, usize)>,
    /// Whether the file defines a type `text`, after which a `<` compares.
    own_text: bool,
    /// Whether the end of an item could not be found.
    unclosed: bool,
    /// What the tokens read so far are.
    marks: Marks,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Lexed>, errors: &'a mut Diagnostics) -> Self {
        let word = |token: &Lexed| &text[token.span.start as usize..token.span.end as usize];
        let own_text = tokens.windows(2).any(|pair| {
            word(&pair[1]) == "text" && matches!(word(&pair[0]), "type" | "struct" | "enum")
        });
        Parser {
            text,
            tokens,
            place: 0,
            errors,
            depth: 0,
            spent: 0,
            own: None,
            own_text,
            unclosed: false,
            marks: Marks::default(),
        }
    }

    fn peek(&self) -> Lexed {
        self.tokens[self.place.min(self.tokens.len() - 1)]
    }

    fn text_at(&self, ahead: usize) -> &'a str {
        let token = self.tokens[(self.place + ahead).min(self.tokens.len() - 1)];
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    fn span(&self) -> Span {
        self.peek().span
    }

    fn last_span(&self) -> Span {
        self.tokens[self.place.saturating_sub(1)].span
    }

    fn from(&self, start: Span) -> Span {
        start.to(self.last_span())
    }

    fn next(&mut self) -> Lexed {
        let token = self.peek();
        self.place = (self.place + 1).min(self.tokens.len() - 1);
        token
    }

    fn skip(&mut self, tokens: usize) {
        self.place = (self.place + tokens).min(self.tokens.len() - 1);
    }

    /// Returns whether the next token is this punctuation or keyword.
    fn at(&self, text: &str) -> bool {
        matches!(self.peek().token, Token::Punct | Token::Name) && self.text_at(0) == text
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        if self.at(text) {
            return Ok(self.next().span);
        }
        self.fail(&format!("`{text}`"))
    }

    fn fail<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = match self.peek().token {
            Token::End => "the end of the file".to_string(),
            _ => format!("`{}`", self.text_at(0).chars().take(40).collect::<String>()),
        };
        let span = self.span();
        let mut error =
            Diagnostic::new(Code::Text, span, format!("expected {expected}, found {found}"));
        error.help = self.advice().map(Into::into);
        self.errors.push(error);
        Err(Failed)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::new(Code::Text, span, message));
    }

    /// Refuses more than this many parts of a kind.
    fn few(&mut self, count: usize, most: usize, whole: &str, parts: &str) -> Parsed<()> {
        if count <= most {
            return Ok(());
        }
        let message = format!("{whole} has at most {most} {parts}");
        self.errors.push(Diagnostic::new(Code::Limit, self.last_span(), message));
        Err(Failed)
    }

    fn is_name(&self, ahead: usize) -> bool {
        let token = self.tokens[(self.place + ahead).min(self.tokens.len() - 1)].token;
        token == Token::Name && !KEYWORDS.contains(&self.text_at(ahead))
    }

    /// Parses the name of a loop, if there is one.
    fn label(&mut self) -> Option<Ident> {
        let found = self.peek().token == Token::Label;
        found.then(|| Ident { name: self.text_at(0).into(), span: self.next().span })
    }

    fn name(&mut self) -> Parsed<Ident> {
        if !self.is_name(0) {
            return self.fail("a name");
        }
        let name = self.text_at(0).into();
        Ok(Ident { name, span: self.next().span })
    }

    /// Runs a nested part, unless it nests too deep.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            let span = self.span();
            let message = format!("this nests more than {MAX_NESTING} deep");
            self.errors.push(Diagnostic::new(Code::Limit, span, message));
            return Err(Failed);
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Parses `part, part, …` up to and including `close`.
    fn list<T>(
        &mut self,
        close: &str,
        mut part: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let open = self.place.saturating_sub(1);
        let mut parts = Vec::new();
        while !self.at(close) {
            parts.push(part(self)?);
            if !self.eat(",") {
                break;
            }
        }
        if close == ">" {
            self.marks.set(open, Mark::Angle);
            self.marks.set(self.place, Mark::Angle);
        } else if self.marks.of(open).0 == Mark::Plain {
            self.marks.set(open, Mark::List);
        }
        self.expect(close)?;
        Ok(parts)
    }

    /// Marks the bracket that was just taken.
    fn mark_open(&mut self, mark: Mark) {
        self.marks.set(self.place.saturating_sub(1), mark);
    }

    /// Marks brackets around one part: a tuple of one if a comma follows it.
    fn mark_single(&mut self, open: usize) {
        let mark = if self.text_before_close() == "," { Mark::One } else { Mark::Plain };
        self.marks.set(open, mark);
    }
}
