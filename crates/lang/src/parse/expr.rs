//! Expressions.

use num_bigint::BigInt;

use super::{Failed, Mark, Parsed, Parser};
use crate::ast::*;
use crate::lex::Token;
use crate::source::Span;

/// Which operators an expression may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// All.
    Any,
    /// No struct literals: a `{` belongs to what follows.
    Header,
    /// No `<`, `>` and shifts: a `>` closes arguments.
    Argument,
}

/// Integer literals have at most this many digits.
const MAX_DIGITS: usize = 20_000;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.ranged(Mode::Any)
    }

    pub(super) fn header(&mut self) -> Parsed<Expr> {
        self.ranged(Mode::Header)
    }

    pub(super) fn restricted(&mut self) -> Parsed<Expr> {
        self.binary(0, Mode::Argument)
    }

    fn ranged(&mut self, mode: Mode) -> Parsed<Expr> {
        self.nested(|p| {
            let low = p.binary(0, mode)?;
            for (text, inclusive) in [("..=", true), ("..", false)] {
                if p.eat(text) {
                    let high = p.binary(0, mode)?;
                    let span = low.span.to(high.span);
                    let kind = ExprKind::Range(Box::new(low), Box::new(high), inclusive);
                    return Ok(Expr { kind, span });
                }
            }
            Ok(low)
        })
    }

    fn binary(&mut self, least: u8, mode: Mode) -> Parsed<Expr> {
        let left = self.nested(|p| p.unary(mode))?;
        self.binary_from(left, least, mode)
    }

    /// Continues after a `{ … }` that turned out to be the start of an expression.
    pub(super) fn expr_from(&mut self, primary: Expr) -> Parsed<Expr> {
        let left = self.postfix_from(primary, Mode::Any)?;
        let left = self.casts(left)?;
        self.binary_from(left, 0, Mode::Any)
    }

    fn binary_from(&mut self, mut left: Expr, least: u8, mode: Mode) -> Parsed<Expr> {
        let mut length = 0;
        while let Some((op, tokens)) = self.operator(mode) {
            if op.power() <= least {
                break;
            }
            // A chain is a tree as deep as it is long.
            length += 1;
            if length > super::MAX_NESTING {
                let span = self.span();
                let message = "this chain of operators is longer than 256; use brackets or `sum`";
                self.errors.push(crate::diag::Diagnostic::new(
                    crate::diag::Code::Limit,
                    span,
                    message,
                ));
                return Err(Failed);
            }
            self.marks.set(self.place, Mark::Binary(op.power()));
            if tokens > 1 {
                self.marks.set(self.place + 1, Mark::Glued);
            }
            self.skip(tokens);
            let right = self.nested(|p| p.binary(op.power(), mode))?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// Returns whether these characters come next with nothing between them.
    pub(super) fn glued(&self, text: &str) -> bool {
        let start = self.span().start as usize;
        self.text.get(start..start + text.len()) == Some(text)
    }

    fn operator(&self, mode: Mode) -> Option<(BinaryOp, usize)> {
        use BinaryOp::*;
        if self.peek().token != Token::Punct {
            return None;
        }
        let argument = mode == Mode::Argument;
        let op = match self.text_at(0) {
            "+" => Add,
            "-" => Sub,
            "*" => Mul,
            "/" => Div,
            "%" => Rem,
            "&" => And,
            "|" => Or,
            "^" => Xor,
            "==" => Eq,
            "!=" => Ne,
            "&&" => AndAlso,
            "||" => OrElse,
            _ if argument => return None,
            "<<" => Shl,
            "<" => Lt,
            "<=" => Le,
            ">" if self.glued(">>=") => return None,
            ">" if self.glued(">>") => return Some((Shr, 2)),
            ">" if self.glued(">=") => return Some((Ge, 2)),
            ">" => Gt,
            _ => return None,
        };
        Some((op, 1))
    }

    /// Parses prefixes and casts. A prefix binds tighter than `as`, as in Rust: `-x as u8` converts
    /// `-x`.
    fn unary(&mut self, mode: Mode) -> Parsed<Expr> {
        let value = self.prefix(mode)?;
        self.casts(value)
    }

    fn prefix(&mut self, mode: Mode) -> Parsed<Expr> {
        let start = self.span();
        for (text, op) in [("-", UnaryOp::Neg), ("!", UnaryOp::Not)] {
            if self.eat(text) {
                self.mark_open(Mark::Prefix);
                let operand = self.nested(|p| p.prefix(mode))?;
                let span = start.to(operand.span);
                return Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span });
            }
        }
        if ["&", "&&", "*"].iter().any(|text| self.at(text)) {
            return self.no_reference(start);
        }
        let primary = self.primary_in(mode)?;
        self.postfix_from(primary, mode)
    }

    fn casts(&mut self, mut value: Expr) -> Parsed<Expr> {
        let mut length = 0;
        while self.eat("as") {
            length = self.chain(length)?;
            let ty = self.cast_type()?;
            let span = value.span.to(ty.span);
            value = Expr { kind: ExprKind::Cast(Box::new(value), ty), span };
        }
        Ok(value)
    }

    fn chain(&mut self, length: u32) -> Parsed<u32> {
        if length < super::MAX_NESTING {
            return Ok(length + 1);
        }
        let span = self.span();
        let message = "this nests more than 256 deep";
        self.errors.push(crate::diag::Diagnostic::new(crate::diag::Code::Limit, span, message));
        Err(Failed)
    }

    fn postfix_from(&mut self, mut value: Expr, mode: Mode) -> Parsed<Expr> {
        let mut length = 0;
        loop {
            let start = value.span;
            let kind = if self.eat(".") {
                self.member(value)?
            } else if self.at("::") && self.text_at(1) == "<" {
                self.skip(2);
                let args = self.list(">", Parser::arg)?;
                if self.at("(") {
                    self.next();
                    let values = self.list(")", Parser::expr)?;
                    ExprKind::Call(Box::new(value), args, values)
                } else {
                    return self.fail("`(`");
                }
            } else if self.eat("(") {
                ExprKind::Call(Box::new(value), Vec::new(), self.list(")", Parser::expr)?)
            } else if self.eat("[") {
                let index = self.expr()?;
                self.expect("]")?;
                ExprKind::Index(Box::new(value), Box::new(index))
            } else {
                let _ = mode;
                return Ok(value);
            };
            length = self.chain(length)?;
            value = Expr { kind, span: self.from(start) };
        }
    }

    fn member(&mut self, value: Expr) -> Parsed<ExprKind> {
        let token = self.peek();
        let text = self.text_at(0);
        match token.token {
            Token::Int => {
                self.next();
                match text.parse() {
                    Ok(place) => Ok(ExprKind::TupleField(Box::new(value), place, token.span)),
                    Err(_) => self.bad_number(token.span, "expected the number of a part"),
                }
            }
            // `a.0.1` reads as a number with a fraction.
            Token::Float => {
                self.next();
                let mut parts = text.split('.').map(str::parse);
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(Ok(one)), Some(Ok(two)), None) => {
                        let span = value.span.to(token.span);
                        let kind = ExprKind::TupleField(Box::new(value), one, token.span);
                        let inner = Expr { kind, span };
                        Ok(ExprKind::TupleField(Box::new(inner), two, token.span))
                    }
                    _ => self.bad_number(token.span, "expected the number of a part"),
                }
            }
            _ => Ok(ExprKind::Field(Box::new(value), self.name()?)),
        }
    }

    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        self.primary_in(Mode::Any)
    }

    fn primary_in(&mut self, mode: Mode) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek().token {
            Token::Int => self.int_literal()?,
            Token::Float => {
                let text = self.text_at(0);
                self.next();
                self.float_literal(text, start)?
            }
            Token::Char | Token::Text => self.quoted()?,
            Token::Name => match self.text_at(0) {
                "true" | "false" => ExprKind::Bool(self.next_text() == "true"),
                "if" | "match" => return self.block_like(),
                _ if mode == Mode::Any && self.is_foreign_statement() => {
                    return self.refuse_foreign();
                }
                "return" => {
                    self.next();
                    let none = [";", "}", ",", ")"].iter().any(|text| self.at(text));
                    let value = if none { None } else { Some(Box::new(self.expr()?)) };
                    ExprKind::Return(value)
                }
                "break" => {
                    self.next();
                    ExprKind::Break(self.label())
                }
                "continue" => {
                    self.next();
                    ExprKind::Continue(self.label())
                }
                _ => self.path_expr(mode)?,
            },
            _ if self.at("{") => return self.block_like(),
            _ if self.eat("(") => {
                let open = self.place - 1;
                let mut parts = self.list(")", Parser::expr)?;
                if parts.len() == 1 {
                    self.mark_single(open);
                }
                if parts.len() == 1 && self.text_before_close() != "," {
                    return parts.pop().ok_or(Failed);
                }
                ExprKind::Tuple(parts)
            }
            _ if self.eat("[") => self.array()?,
            _ => return self.fail("an expression"),
        };
        Ok(Expr { kind, span: self.from(start) })
    }

    fn next_text(&mut self) -> &str {
        let span = self.next().span;
        &self.text[span.start as usize..span.end as usize]
    }

    fn quoted(&mut self) -> Parsed<ExprKind> {
        let Some(bytes) = crate::lex::unescape(self.text_at(0)) else {
            let span = self.next().span;
            return self.bad_number(span, "an escape is one of \\n \\t \\r \\0 \\\\ \\\" \\'");
        };
        let token = self.next();
        if token.token == Token::Text {
            return Ok(ExprKind::Text(bytes));
        }
        match bytes[..] {
            [byte] => Ok(ExprKind::Char(byte)),
            _ => self.bad_number(token.span, "a character literal is one byte"),
        }
    }

    fn path_expr(&mut self, mode: Mode) -> Parsed<ExprKind> {
        let path = self.path()?;
        if let [only] = &path.parts[..]
            && self.at("!")
            && matches!(self.text_at(1), "(" | "[" | "{")
        {
            return self.macro_call(only.clone());
        }
        let literal = mode == Mode::Any
            && self.at("{")
            && (matches!(self.text_at(1), "}" | "..")
                || self.is_name(1) && matches!(self.text_at(2), ":" | "," | "}"));
        if !literal {
            return Ok(ExprKind::Path(path, Vec::new()));
        }
        self.next();
        self.mark_open(Mark::List);
        let (mut fields, mut base) = (Vec::new(), None);
        while !self.at("}") {
            if self.eat("..") {
                base = Some(Box::new(self.expr()?));
                break;
            }
            let name = self.name()?;
            let value = if self.eat(":") { Some(self.expr()?) } else { None };
            fields.push((name, value));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(ExprKind::Struct(path, fields, base))
    }

    /// Parses what follows the name of `assert!(…)`. Names of functions have no `!`, so these
    /// are never a program's own.
    fn macro_call(&mut self, name: Ident) -> Parsed<ExprKind> {
        if !matches!(&*name.name, "assert" | "assert_eq" | "assert_ne") {
            let (span, message) = (name.span, format!("there is no macro `{}!`", name.name));
            return self.refuse(span, message, super::foreign::macro_help(&name.name));
        }
        let span = name.span.to(self.next().span);
        self.expect("(")?;
        let values = self.list(")", Parser::expr)?;
        let part = Ident { name: format!("{}!", name.name).into(), span: name.span };
        let kind = ExprKind::Path(Path { parts: vec![part], span }, Vec::new());
        Ok(ExprKind::Call(Box::new(Expr { kind, span }), Vec::new(), values))
    }

    fn array(&mut self) -> Parsed<ExprKind> {
        if self.eat("]") {
            return Ok(ExprKind::Array(Vec::new()));
        }
        let open = self.place - 1;
        let first = self.expr()?;
        if self.eat(";") {
            let length = self.expr()?;
            self.expect("]")?;
            return Ok(ExprKind::Repeat(Box::new(first), Box::new(length)));
        }
        if self.eat("for") {
            let pattern = self.pattern()?;
            self.expect("in")?;
            let over = self.expr()?;
            self.expect("]")?;
            let (first, pattern, over) = (Box::new(first), Box::new(pattern), Box::new(over));
            return Ok(ExprKind::Comprehension(first, pattern, over));
        }
        self.marks.set(open, Mark::List);
        let mut parts = vec![first];
        if self.eat(",") {
            parts.extend(self.list("]", Parser::expr)?);
        } else {
            self.expect("]")?;
        }
        Ok(ExprKind::Array(parts))
    }

    /// Parses `if`, `match` or a block.
    pub(super) fn block_like(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let start = p.span();
            let kind = match p.text_at(0) {
                "if" => p.if_expr()?,
                "match" => {
                    p.next();
                    let value = p.header()?;
                    p.expect("{")?;
                    p.mark_open(Mark::Arms);
                    ExprKind::Match(Box::new(value), p.arms()?)
                }
                _ => ExprKind::Block(Box::new(p.block()?)),
            };
            Ok(Expr { kind, span: p.from(start) })
        })
    }

    fn if_expr(&mut self) -> Parsed<ExprKind> {
        self.next();
        let pattern = if self.eat("let") {
            let pattern = self.pattern()?;
            self.expect("=")?;
            Some(pattern)
        } else {
            None
        };
        // After `if let`, `&&` is not a part of what is matched.
        let (condition, guard) = if pattern.is_some() {
            let value = self.matched()?;
            let guard = if self.eat("&&") { Some(self.header()?) } else { None };
            (value, guard)
        } else {
            (self.header()?, None)
        };
        let then = self.block()?;
        let otherwise = match self.eat("else") {
            true if self.at("if") || self.at("{") => Some(self.block_like()?),
            true => return self.fail("`if` or `{`"),
            false => None,
        };
        Ok(ExprKind::If(Box::new(If { pattern, condition, guard, then, otherwise })))
    }

    /// Parses arms up to `}`; the comma after an arm that ends with `}` may be missing.
    fn arms(&mut self) -> Parsed<Vec<Arm>> {
        let mut arms = Vec::new();
        while !self.at("}") {
            self.marks.start(self.place);
            let pattern = self.pattern()?;
            let guard = if self.eat("if") { Some(self.expr()?) } else { None };
            self.expect("=>")?;
            let body = self.arm_body()?;
            let closed = self.last_span();
            arms.push(Arm { pattern, guard, body });
            let brace = &self.text[closed.start as usize..closed.end as usize] == "}";
            if !self.eat(",") && !brace {
                break;
            }
        }
        self.expect("}")?;
        Ok(arms)
    }

    /// Parses the value of an arm. After a block, a bracket or a `-` begins the next pattern.
    fn arm_body(&mut self) -> Parsed<Expr> {
        if !["{", "if", "match"].iter().any(|text| self.at(text)) {
            return self.expr();
        }
        let block = self.block_like()?;
        let goes_on = self.at(".") || self.at("as") || self.operator(Mode::Any).is_some();
        if goes_on && !self.at("-") { self.expr_from(block) } else { Ok(block) }
    }

    /// Parses what `if let` matches.
    fn matched(&mut self) -> Parsed<Expr> {
        self.nested(|p| p.binary(BinaryOp::AndAlso.power(), Mode::Header))
    }

    fn int_literal(&mut self) -> Parsed<ExprKind> {
        let text = self.text_at(0);
        let span = self.next().span;
        let (radix, digits) = match text.as_bytes() {
            [b'0', b'x', ..] => (16, &text[2..]),
            [b'0', b'b', ..] => (2, &text[2..]),
            [b'0', b'o', ..] => (8, &text[2..]),
            _ => (10, text),
        };
        let is_digit = |c: char| c == '_' || c.is_digit(radix);
        let split = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
        let (number, suffix) = digits.split_at(split);
        let exponent = radix == 10 && suffix.starts_with(['e', 'E']);
        if exponent || (radix == 10 && matches!(suffix, "f32" | "f64")) {
            return self.float_literal(text, span);
        }
        let number: String = number.chars().filter(|&c| c != '_').collect();
        if number.len() > MAX_DIGITS {
            return self.bad_number(span, "this number has more than 20 000 digits");
        }
        let Some(value) = BigInt::parse_bytes(number.as_bytes(), radix) else {
            return self.bad_number(span, "a number needs digits");
        };
        if suffix.is_empty() {
            return Ok(ExprKind::Int(value, None));
        }
        let start = span.end - suffix.len() as u32;
        Ok(ExprKind::Int(value, Some(suffix_type(suffix, Span { start, ..span }))))
    }

    fn float_literal(&mut self, text: &str, span: Span) -> Parsed<ExprKind> {
        let split = text.find(['f', 'F']).unwrap_or(text.len());
        let (number, suffix) = text.split_at(split);
        let number: String = number.chars().filter(|&c| c != '_').collect();
        if number.len() > MAX_DIGITS || number.parse::<f64>().is_err() {
            return self.bad_number(span, "this is not a number");
        }
        let start = span.end - suffix.len() as u32;
        let ty = (!suffix.is_empty()).then(|| suffix_type(suffix, Span { start, ..span }));
        Ok(ExprKind::Float(number, ty))
    }
}

/// Returns the type after a literal.
fn suffix_type(suffix: &str, span: Span) -> Type {
    let parts = vec![Ident { name: suffix.into(), span }];
    Type { kind: TypeKind::Path(Path { parts, span }, Vec::new()), span }
}
