//! Items and statements.

use std::sync::Arc;

use super::{Mark, Parsed, Parser};
use crate::ast::*;
use crate::diag::{Code, Diagnostic};
use crate::lex::Token;

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let (mut attributes, mut items) = (Vec::new(), Vec::new());
        while self.at("#") && self.text_at(1) == "!" {
            self.marks.start(self.place);
            self.skip(2);
            match self.attribute() {
                Ok(attribute) => attributes.push(attribute),
                Err(_) => self.recover(),
            }
        }
        while self.peek().token != Token::End {
            let before = self.place;
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => {
                    self.leave_item(before);
                    self.lose(before);
                }
            }
        }
        File { attributes, items }
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.span();
        self.marks.start(self.place);
        let attributes = self.attributes()?;
        if self.is_foreign_item() {
            return self.refuse_foreign();
        }
        let public = self.eat("pub");
        let own = attributes.clone();
        let kind =
            match self.text_at(0) {
                "use" => self.use_item()?,
                "const" => ItemKind::Const(Arc::new(self.const_decl()?)),
                "type" => self.alias()?,
                "struct" => self.struct_item()?,
                "enum" => self.enum_item()?,
                "impl" => self.impl_item()?,
                "fn" => ItemKind::Fn(Arc::new(self.function(attributes)?)),
                "parties" => {
                    self.next();
                    let mut names = vec![self.name()?];
                    while self.eat(",") {
                        names.push(self.name()?);
                    }
                    self.expect(";")?;
                    ItemKind::Parties(names)
                }
                _ => return self.fail(
                    "an item: `use`, `const`, `type`, `struct`, `enum`, `impl`, `fn` or `parties`",
                ),
            };
        if !matches!(kind, ItemKind::Fn(_)) {
            own.iter().for_each(|attribute| self.no_attribute(attribute));
        }
        Ok(Item { public, kind, span: self.from(start) })
    }

    /// Reports an attribute before something else than a function.
    fn no_attribute(&mut self, attribute: &Attribute) {
        let name = &attribute.name.name;
        let message = format!("`#[{name}]` is not read here: attributes are for functions");
        let error = Diagnostic::new(Code::Name, attribute.name.span, message);
        self.errors.push(match &**name {
            "derive" => error.help("leave it out: all types are copied, compared and printed"),
            _ => error.help("leave it out, or put it before the function that it is for"),
        });
    }

    fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        while self.eat("#") {
            if self.at("!") {
                let span = self.span();
                let help = "write it there, or leave out the `!`";
                return self.refuse(span, "`#![…]` is for the top of a file", help);
            }
            attributes.push(self.attribute()?);
        }
        Ok(attributes)
    }

    /// Parses an attribute from its `[` on.
    fn attribute(&mut self) -> Parsed<Attribute> {
        self.expect("[")?;
        let name = self.name()?;
        let (mut keys, mut text) = (Vec::new(), None);
        if self.eat("(") {
            keys.push(self.name()?);
            if self.eat("=") {
                text = Some(self.text_literal()?);
            }
            while text.is_none() && self.eat(",") && !self.at(")") {
                keys.push(self.name()?);
            }
            self.expect(")")?;
        }
        self.expect("]")?;
        Ok(Attribute { name, keys, text })
    }

    fn text_literal(&mut self) -> Parsed<String> {
        if self.peek().token != Token::Text {
            return self.fail("a text in `\"`");
        }
        let literal = self.text_at(0);
        let span = self.next().span;
        match crate::lex::unescape(literal).and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => Ok(text),
            None => {
                self.error(span, "an escape is one of \\n \\t \\r \\0 \\\\ \\\" \\'");
                Ok(String::new())
            }
        }
    }

    fn use_item(&mut self) -> Parsed<ItemKind> {
        let start = self.next().span;
        let mut parts = vec![self.name()?];
        let mut names = None;
        while self.eat("::") {
            if self.eat("{") {
                self.mark_open(Mark::Use);
                names = Some(self.list("}", Parser::name)?);
                break;
            }
            parts.push(self.name()?);
            self.few(parts.len(), super::MAX_PATH, "a path", "names")?;
        }
        let path = Path { parts, span: self.from(start) };
        self.expect(";")?;
        Ok(ItemKind::Use(path, names))
    }

    pub(super) fn const_decl(&mut self) -> Parsed<ConstDecl> {
        self.expect("const")?;
        if self.at("fn") {
            let span = self.span();
            let help = "write `fn`: every function can compute constants";
            return self.refuse(span, "there is no `const fn`", help);
        }
        let name = self.name()?;
        let ty = if self.eat(":") { Some(self.ty()?) } else { None };
        let value = if self.eat("=") { Some(self.expr()?) } else { None };
        self.expect(";")?;
        Ok(ConstDecl { name, ty, value })
    }

    fn alias(&mut self) -> Parsed<ItemKind> {
        self.next();
        let name = self.name()?;
        self.expect("=")?;
        let ty = self.ty()?;
        self.expect(";")?;
        Ok(ItemKind::Alias(name, Arc::new(ty)))
    }

    fn generics(&mut self) -> Parsed<Vec<Generic>> {
        if !self.eat("<") {
            return Ok(Vec::new());
        }
        let generics = self.list(">", |p| {
            if p.eat("const") {
                let name = p.name()?;
                p.expect(":")?;
                return Ok(Generic { name, kind: GenericKind::Const(p.ty()?) });
            }
            let name = p.name()?;
            let bound = if p.eat(":") { Some(p.name()?) } else { None };
            Ok(Generic { name, kind: GenericKind::Type(bound) })
        })?;
        self.few(generics.len(), super::MAX_GENERICS, "an item", "parameters in `<…>`")?;
        Ok(generics)
    }

    fn struct_item(&mut self) -> Parsed<ItemKind> {
        self.next();
        let name = self.name()?;
        let generics = self.generics()?;
        if self.at("(") || self.at(";") {
            let span = self.span();
            let help =
                "name the fields, `struct P { x: u8 }`, or name a tuple, `type P = (u8, u8);`";
            return self.refuse(span, "the fields of a structure have names", help);
        }
        self.expect("{")?;
        self.mark_open(Mark::Fields);
        let fields = self.list("}", Parser::field)?;
        Ok(ItemKind::Struct(Arc::new(StructDecl { name, generics, fields })))
    }

    /// Parses `NAME: type`; a `pub` before it says nothing.
    fn field(&mut self) -> Parsed<(Ident, Type)> {
        if self.at("pub") && self.is_name(1) {
            self.next();
        }
        let name = self.name()?;
        self.expect(":")?;
        Ok((name, self.ty()?))
    }

    fn enum_item(&mut self) -> Parsed<ItemKind> {
        self.next();
        let name = self.name()?;
        let generics = self.generics()?;
        self.expect("{")?;
        self.mark_open(Mark::Fields);
        let variants = self.list("}", |p| {
            let name = p.name()?;
            let (mut payload, mut fields) = (Vec::new(), Vec::new());
            if p.eat("(") {
                payload = p.list(")", Parser::ty)?;
            } else if p.eat("{") {
                (fields, payload) = p.list("}", Parser::field)?.into_iter().unzip();
            } else if p.at("=") {
                let span = p.span();
                let help =
                    "variants are numbered from 0; write a function with a `match` for others";
                return p.refuse(span, "a variant has no number of its own", help);
            }
            Ok(Variant { name, payload, fields })
        })?;
        Ok(ItemKind::Enum(Arc::new(EnumDecl { name, generics, variants })))
    }

    fn impl_item(&mut self) -> Parsed<ItemKind> {
        self.next();
        let generics = self.generics()?;
        let first = self.place;
        let ty = self.ty()?;
        let tokens = self.place - first;
        if self.at("for") {
            let span = self.span();
            let help = "there are no traits: write `impl TYPE { … }`";
            return self.refuse(span, "an `impl` names one type", help);
        }
        self.expect("{")?;
        self.mark_open(Mark::Items);
        self.own = Some((ty.clone(), tokens));
        let functions = self.methods();
        self.own = None;
        Ok(ItemKind::Impl(generics, ty, functions?))
    }

    fn methods(&mut self) -> Parsed<Vec<Arc<FnDecl>>> {
        let mut functions = Vec::new();
        while !self.at("}") {
            self.marks.start(self.place);
            let attributes = self.attributes()?;
            self.eat("pub");
            if self.at("const") || self.at("type") {
                let span = self.span();
                let help = "write it before the `impl`, with a name of its own";
                return self.refuse(span, "an `impl` has only functions", help);
            }
            functions.push(Arc::new(self.function(attributes)?));
        }
        self.expect("}")?;
        Ok(functions)
    }

    fn function(&mut self, attributes: Vec<Attribute>) -> Parsed<FnDecl> {
        self.expect("fn")?;
        let name = self.name()?;
        let generics = self.generics()?;
        self.expect("(")?;
        let params = self.list(")", Parser::param)?;
        let result = if self.eat("->") { self.result()? } else { ResultDecl::Unit };
        if self.at("where") {
            return self.refuse_foreign();
        }
        let body = self.block()?;
        Ok(FnDecl { attributes, name, generics, params, result, body })
    }

    fn param(&mut self) -> Parsed<Param> {
        if self.at("&") {
            let span = self.span();
            let help = "write `self`, and return what it becomes: copies are free";
            return self.refuse(span, "there are no references", help);
        }
        let mutable = self.eat("mut");
        let name = self.name()?;
        if &*name.name == "self" {
            return Ok(Param { mutable, name, ty: None, owner: None });
        }
        self.expect(":")?;
        let ty = Some(self.ty()?);
        let owner = if self.eat("from") { Some(self.owner()?) } else { None };
        Ok(Param { mutable, name, ty, owner })
    }

    fn owner(&mut self) -> Parsed<Owner> {
        match self.text_at(0) {
            "each" => Ok(Owner::Each(self.next().span)),
            "share" => Ok(Owner::Share(self.next().span)),
            "clients" => Ok(Owner::Clients(self.name()?)),
            _ => Ok(Owner::Party(self.party()?)),
        }
    }

    fn party(&mut self) -> Parsed<Party> {
        if self.peek().token != Token::Int {
            return Ok(Party::Name(self.name()?));
        }
        let text = self.text_at(0);
        let span = self.next().span;
        match text.parse() {
            Ok(number) => Ok(Party::Number(number, span)),
            Err(_) => {
                self.error(span, "a party is a number from 0, or a name of `parties`");
                Ok(Party::Number(0, span))
            }
        }
    }

    fn result(&mut self) -> Parsed<ResultDecl> {
        // `(NAME: …` are ports; any other bracket is a tuple.
        let ports = self.at("(") && self.is_name(1) && self.text_at(2) == ":";
        if !ports {
            return Ok(ResultDecl::Type(self.ty()?));
        }
        self.next();
        let ports = self.list(")", |p| {
            let name = p.name()?;
            p.expect(":")?;
            let ty = p.ty()?;
            p.expect("to")?;
            Ok((name, ty, p.who()?))
        })?;
        Ok(ResultDecl::Ports(ports))
    }

    fn who(&mut self) -> Parsed<Who> {
        match self.text_at(0) {
            "each" => Ok(Who::Each(self.next().span)),
            "clients" => Ok(Who::Clients(self.name()?)),
            "all" => {
                self.next();
                Ok(Who::All)
            }
            "(" => {
                self.next();
                Ok(Who::Parties(self.list(")", Parser::party)?))
            }
            _ => Ok(Who::Parties(vec![self.party()?])),
        }
    }

    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.nested(|p| {
            let start = p.expect("{")?;
            p.mark_open(Mark::Block);
            let mut block = Block { stmts: Vec::new(), tail: None, cut: false, span: start };
            while !p.at("}") {
                if p.peek().token == Token::End {
                    return p.fail("`}`");
                }
                let start = p.place;
                block.cut = p.statement(&mut block).is_err();
                if block.cut {
                    let before = p.place;
                    p.recover();
                    p.lose(start);
                    if p.place == before && !p.at("}") {
                        return Err(super::Failed);
                    }
                }
                if block.tail.is_some() {
                    break;
                }
            }
            p.expect("}")?;
            block.span = p.from(start);
            Ok(block)
        })
    }

    /// Parses the next statement, or the value of the block.
    fn statement(&mut self, block: &mut Block) -> Parsed<()> {
        self.marks.start(self.place);
        match self.text_at(0) {
            "let" => {
                self.next();
                let pattern = self.pattern()?;
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                self.expect("=")?;
                let value = self.expr()?;
                if self.eat("else") {
                    let otherwise = self.block()?;
                    let bound = LetElse { pattern, ty, value, otherwise };
                    block.stmts.push(Stmt::LetElse(Box::new(bound)));
                } else {
                    block.stmts.push(Stmt::Let(pattern, ty, value));
                }
                self.expect(";")?;
            }
            "const" => block.stmts.push(Stmt::Const(Arc::new(self.const_decl()?))),
            _ if self.is_loop() => {
                let attributes = self.attributes()?;
                let label = self.label();
                if label.is_some() {
                    self.expect(":")?;
                }
                let start = self.expect("for")?;
                let pattern = self.pattern()?;
                self.expect("in")?;
                let over = self.header()?;
                let body = self.block()?;
                let span = self.from(start);
                let looped = ForLoop { attributes, label, pattern, over, body, span };
                block.stmts.push(Stmt::For(Arc::new(looped)));
            }
            ";" => {
                self.next();
            }
            "if" | "match" | "{" => {
                let value = self.block_like()?;
                // If `.` or `as` follows, it is an expression; a statement ends with its brace.
                if self.at(".") || self.at("as") {
                    let value = self.expr_from(value)?;
                    return self.expression_statement(block, value);
                }
                if self.at("}") {
                    block.tail = Some(Box::new(value));
                } else {
                    self.eat(";");
                    block.stmts.push(Stmt::Expr(value));
                }
            }
            _ => {
                let value = self.expr()?;
                return self.expression_statement(block, value);
            }
        }
        Ok(())
    }

    fn is_loop(&self) -> bool {
        self.at("#") || self.at("for") || self.peek().token == Token::Label
    }

    fn expression_statement(&mut self, block: &mut Block, value: Expr) -> Parsed<()> {
        if let Some(op) = self.assignment() {
            let right = self.expr()?;
            let span = value.span.to(right.span);
            self.expect(";")?;
            block.stmts.push(Stmt::Assign(value, op, right, span));
        } else if self.eat(";") {
            block.stmts.push(Stmt::Expr(value));
        } else if self.at("}") {
            block.tail = Some(Box::new(value));
        } else {
            return self.fail("`;` or an operator");
        }
        Ok(())
    }

    /// Parses `=`, `+=`, …, `>>=`; returns the operator to apply before the assignment, if any.
    #[allow(clippy::option_option)]
    fn assignment(&mut self) -> Option<Option<BinaryOp>> {
        use BinaryOp::*;
        if self.glued(">>=") {
            self.marks.set(self.place + 1, Mark::Glued);
            self.marks.set(self.place + 2, Mark::Glued);
            self.skip(3);
            return Some(Some(Shr));
        }
        let op = match self.text_at(0) {
            "=" => None,
            "+=" => Some(Add),
            "-=" => Some(Sub),
            "*=" => Some(Mul),
            "/=" => Some(Div),
            "%=" => Some(Rem),
            "&=" => Some(And),
            "|=" => Some(Or),
            "^=" => Some(Xor),
            "<<=" => Some(Shl),
            _ => return None,
        };
        self.next();
        Some(op)
    }
}
