//! Items and statements.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::ast::*;
use crate::lex::Token;

impl Parser<'_> {
    pub(super) fn file(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while self.peek().token != Token::End {
            let before = self.place;
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => {
                    self.recover();
                    self.eat("}");
                    if self.place == before {
                        self.next();
                    }
                }
            }
        }
        items
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.span();
        let attributes = self.attributes()?;
        let public = self.eat("pub");
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
        Ok(Item { public, kind, span: self.from(start) })
    }

    fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        while self.eat("#") {
            self.expect("[")?;
            let name = self.name()?;
            let (mut key, mut text) = (None, None);
            if self.eat("(") {
                key = Some(self.name()?);
                if self.eat("=") {
                    text = Some(self.text_literal()?);
                }
                self.expect(")")?;
            }
            self.expect("]")?;
            attributes.push(Attribute { name, key, text });
        }
        Ok(attributes)
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
        self.expect("{")?;
        let fields = self.list("}", |p| {
            let name = p.name()?;
            p.expect(":")?;
            Ok((name, p.ty()?))
        })?;
        Ok(ItemKind::Struct(Arc::new(StructDecl { name, generics, fields })))
    }

    fn enum_item(&mut self) -> Parsed<ItemKind> {
        self.next();
        let name = self.name()?;
        let generics = self.generics()?;
        self.expect("{")?;
        let variants = self.list("}", |p| {
            let name = p.name()?;
            let payload = if p.eat("(") { p.list(")", Parser::ty)? } else { Vec::new() };
            Ok((name, payload))
        })?;
        Ok(ItemKind::Enum(Arc::new(EnumDecl { name, generics, variants })))
    }

    fn impl_item(&mut self) -> Parsed<ItemKind> {
        self.next();
        let generics = self.generics()?;
        let ty = self.ty()?;
        self.expect("{")?;
        let mut functions = Vec::new();
        while !self.at("}") {
            let attributes = self.attributes()?;
            self.eat("pub");
            functions.push(Arc::new(self.function(attributes)?));
        }
        self.expect("}")?;
        Ok(ItemKind::Impl(generics, ty, functions))
    }

    fn function(&mut self, attributes: Vec<Attribute>) -> Parsed<FnDecl> {
        self.expect("fn")?;
        let name = self.name()?;
        let generics = self.generics()?;
        self.expect("(")?;
        let params = self.list(")", Parser::param)?;
        let result = if self.eat("->") { self.result()? } else { ResultDecl::Unit };
        let body = self.block()?;
        Ok(FnDecl { attributes, name, generics, params, result, body })
    }

    fn param(&mut self) -> Parsed<Param> {
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
            let mut block = Block { stmts: Vec::new(), tail: None, cut: false, span: start };
            while !p.at("}") {
                if p.peek().token == Token::End {
                    return p.fail("`}`");
                }
                block.cut = p.statement(&mut block).is_err();
                if block.cut {
                    let before = p.place;
                    p.recover();
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
        match self.text_at(0) {
            "let" => {
                self.next();
                let pattern = self.pattern()?;
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                self.expect("=")?;
                let value = self.expr()?;
                self.expect(";")?;
                block.stmts.push(Stmt::Let(pattern, ty, value));
            }
            "const" => block.stmts.push(Stmt::Const(Arc::new(self.const_decl()?))),
            "#" | "for" => {
                let attributes = self.attributes()?;
                let start = self.expect("for")?;
                let pattern = self.pattern()?;
                self.expect("in")?;
                let over = self.header()?;
                let body = self.block()?;
                let span = self.from(start);
                let looped = ForLoop { attributes, pattern, over, body, span };
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
