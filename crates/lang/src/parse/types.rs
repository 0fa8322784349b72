//! Types, their arguments, and patterns.

use super::{Mark, Parsed, Parser};
use crate::ast::*;
use crate::diag::Code;
use crate::lex::Token;

/// The parser reads at most this many tokens of one file again.
const MOST_AGAIN: usize = 1 << 20;

/// A try counts like this many tokens, however early it fails.
const TRY: usize = 16;

/// Returns whether `<` after a type begins its arguments: `u8`, `bool` and the like take none.
fn takes_arguments(path: &Path) -> bool {
    use crate::builtin::Type;
    let [only] = &path.parts[..] else { return true };
    !matches!(
        crate::builtin::ty(&only.name),
        Some(Type::Bool | Type::Size | Type::Float(_) | Type::Exact(..))
    )
}

impl Parser<'_> {
    pub(super) fn path(&mut self) -> Parsed<Path> {
        let start = self.span();
        let mut parts = match &self.own {
            Some((Type { kind: TypeKind::Path(own, _), .. }, _)) if self.at("Self") => {
                let mut parts = own.parts.clone();
                let span = self.next().span;
                parts.iter_mut().for_each(|part| part.span = span);
                parts
            }
            _ => vec![self.name()?],
        };
        while self.at("::") && self.is_name(1) {
            self.next();
            parts.push(self.name()?);
            self.few(parts.len(), super::MAX_PATH, "a path", "names")?;
        }
        Ok(Path { parts, span: self.from(start) })
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.nested(|p| {
            let start = p.span();
            let kind = if p.eat("[") {
                let element = p.ty()?;
                p.expect(";")?;
                let length = p.expr()?;
                p.expect("]")?;
                TypeKind::Array(Box::new(element), Box::new(length))
            } else if p.eat("(") {
                let open = p.place - 1;
                let parts = p.list(")", Parser::ty)?;
                if parts.len() == 1 {
                    p.mark_single(open);
                }
                TypeKind::Tuple(parts)
            } else if p.is_name(0) {
                if p.at("Self")
                    && p.text_at(1) != "::"
                    && let Some((own, tokens)) = &p.own
                {
                    // Every `Self` is a copy.
                    let (kind, tokens) = (own.kind.clone(), *tokens);
                    p.spent += tokens;
                    if p.spent > MOST_AGAIN {
                        return p.fail("fewer types `Self`, or a shorter type in the `impl`");
                    }
                    return Ok(Type { kind, span: p.next().span });
                }
                let path = p.path()?;
                let args = if takes_arguments(&path) && p.eat("<") {
                    p.list(">", Parser::arg)?
                } else {
                    Vec::new()
                };
                TypeKind::Path(path, args)
            } else {
                return p.fail("a type");
            };
            Ok(Type { kind, span: p.from(start) })
        })
    }

    /// Parses the type after `as`. A `<` after other types than these compares.
    pub(super) fn cast_type(&mut self) -> Parsed<Type> {
        let takes = matches!(self.text_at(0), "u" | "i" | "fixed" | "unsigned");
        if !self.is_name(0) || takes || (self.at("text") && !self.own_text) {
            return self.ty();
        }
        let path = self.path()?;
        let span = path.span;
        Ok(Type { kind: TypeKind::Path(path, Vec::new()), span })
    }

    /// Parses a type, or a constant expression without `<`, `>` and shifts.
    pub(super) fn arg(&mut self) -> Parsed<Arg> {
        if self.at("[") || self.at("(") {
            let (place, errors) = (self.place, self.errors.clone());
            if self.spent > MOST_AGAIN {
                return self.fail("fewer ambiguous arguments");
            }
            if let Ok(ty) = self.ty()
                && (self.at(",") || self.at(">"))
            {
                return Ok(Arg::Type(ty));
            }
            self.spent += TRY + (self.place - place);
            self.place = place;
            *self.errors = errors;
            return Ok(Arg::Expr(self.restricted()?));
        }
        // A name with arguments is a type.
        let mut ahead = 0;
        while self.is_name(ahead) && self.text_at(ahead + 1) == "::" {
            ahead += 2;
        }
        if self.is_name(ahead) && self.text_at(ahead + 1) == "<" {
            return Ok(Arg::Type(self.ty()?));
        }
        Ok(Arg::Expr(self.restricted()?))
    }

    pub(super) fn pattern(&mut self) -> Parsed<Pattern> {
        self.nested(|p| {
            let start = p.span();
            let mut patterns = vec![p.single_pattern()?];
            while p.eat("|") {
                patterns.push(p.single_pattern()?);
            }
            if patterns.len() > 1 {
                return Ok(Pattern { kind: PatternKind::Or(patterns), span: p.from(start) });
            }
            patterns.pop().ok_or(super::Failed)
        })
    }

    fn single_pattern(&mut self) -> Parsed<Pattern> {
        let start = self.span();
        let kind = match self.peek().token {
            Token::Int | Token::Char => self.number_pattern()?,
            Token::Text => PatternKind::Literal(Box::new(self.primary()?)),
            _ if self.at("-") => self.number_pattern()?,
            _ if self.at("true") || self.at("false") => {
                PatternKind::Literal(Box::new(self.primary()?))
            }
            _ if self.at("_") => {
                self.next();
                PatternKind::Any
            }
            _ if self.eat("mut") => PatternKind::Name(self.name()?, true),
            _ if self.eat("(") => {
                let open = self.place - 1;
                let parts = self.list(")", Parser::pattern)?;
                if parts.len() == 1 {
                    self.mark_single(open);
                }
                // `(p)` is p; a tuple of one is written `(p,)`.
                if parts.len() == 1 && self.text_before_close() != "," {
                    return parts.into_iter().next().ok_or(super::Failed);
                }
                PatternKind::Tuple(parts)
            }
            _ if self.eat("[") => self.array_pattern()?,
            _ if self.is_name(0) => self.path_pattern()?,
            _ => return self.fail("a pattern"),
        };
        Ok(Pattern { kind, span: self.from(start) })
    }

    /// Parses `p, .., q]`.
    fn array_pattern(&mut self) -> Parsed<PatternKind> {
        self.mark_open(Mark::List);
        let (mut parts, mut rest) = (Vec::new(), None);
        while !self.at("]") {
            if self.at("..") && rest.is_none() {
                self.next();
                rest = Some(parts.len());
            } else {
                parts.push(self.pattern()?);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(PatternKind::Array(parts, rest))
    }

    /// Returns the token before the closing bracket that was just taken.
    pub(super) fn text_before_close(&self) -> &str {
        let token = self.tokens[self.place.saturating_sub(2)];
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    fn number_pattern(&mut self) -> Parsed<PatternKind> {
        let low = self.signed_literal()?;
        for (text, inclusive) in [("..=", true), ("..", false)] {
            if self.eat(text) {
                let high = self.signed_literal()?;
                return Ok(PatternKind::Range(Box::new(low), Box::new(high), inclusive));
            }
        }
        Ok(PatternKind::Literal(Box::new(low)))
    }

    fn signed_literal(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let negative = self.eat("-");
        if negative {
            self.mark_open(Mark::Prefix);
        }
        if !matches!(self.peek().token, Token::Int | Token::Char) {
            return self.fail("a number");
        }
        let value = self.primary()?;
        if !negative {
            return Ok(value);
        }
        let kind = ExprKind::Unary(UnaryOp::Neg, Box::new(value));
        Ok(Expr { kind, span: self.from(start) })
    }

    fn path_pattern(&mut self) -> Parsed<PatternKind> {
        let path = self.path()?;
        if self.eat("(") {
            return Ok(PatternKind::Variant(path, self.list(")", Parser::pattern)?));
        }
        if self.eat("{") {
            self.mark_open(Mark::List);
            let mut rest = false;
            let mut fields = Vec::new();
            while !self.at("}") {
                if self.eat("..") {
                    rest = true;
                    break;
                }
                let name = self.name()?;
                let pattern = if self.eat(":") { Some(self.pattern()?) } else { None };
                fields.push((name, pattern));
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("}")?;
            return Ok(PatternKind::Struct(path, fields, rest));
        }
        if path.parts.len() == 1 {
            let name = path.parts.into_iter().next().ok_or(super::Failed)?;
            return Ok(PatternKind::Name(name, false));
        }
        Ok(PatternKind::Variant(path, Vec::new()))
    }

    pub(super) fn bad_number<T>(&mut self, span: crate::source::Span, why: &str) -> Parsed<T> {
        self.errors.push(crate::diag::Diagnostic::new(Code::Text, span, why));
        Err(super::Failed)
    }
}
