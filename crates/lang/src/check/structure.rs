//! Structures and variants with named parts.

use std::collections::HashMap;

use super::{FnCx, LocalInfo};
use crate::ast::{self, ExprKind, Ident, Name};
use crate::def::Def;
use crate::diag::Code;
use crate::ids::AdtId;
use crate::program::AdtDecl;
use crate::source::Span;
use crate::tir::{Expr, Kind, Local, Pattern, PatternKind, Stmt};
use crate::ty::{Arg, Ty};
use crate::walk::has_effects;

/// A structure, or a variant whose parts have names.
pub(super) struct Named {
    pub adt: AdtId,
    /// The number of the variant.
    pub variant: Option<usize>,
    pub name: Name,
    pub fields: Vec<Name>,
    pub args: Vec<Arg>,
    /// The types of the fields.
    pub types: Vec<Ty>,
}

impl Named {
    /// Returns the place of each field.
    pub(super) fn places(&self) -> HashMap<&str, usize> {
        self.fields.iter().enumerate().map(|(place, name)| (&**name, place)).collect()
    }
}

impl FnCx<'_, '_> {
    /// Returns the structure or the variant with named parts that a path names, or reports an
    /// error.
    pub(super) fn named_parts(&mut self, path: &ast::Path, code: Code) -> Option<Named> {
        let found = self.definition(path);
        let (Some(Def::Adt(adt)) | Some(Def::Variant(adt, _))) = found else {
            self.unknown(path, "structure");
            return None;
        };
        let variant = if let Some(Def::Variant(_, variant)) = found { Some(variant) } else { None };
        let generics = self.cx.program.adts[adt].generics().to_vec();
        let args = self.fresh_args(&generics);
        let named = match (&self.cx.program.adts[adt].decl, variant) {
            (AdtDecl::Struct(decl), _) => Some((decl.name.clone(), {
                decl.fields.iter().map(|(name, _)| name.name.clone()).collect::<Vec<_>>()
            })),
            (AdtDecl::Enum(decl), Some(variant)) => {
                let variant = &decl.variants[variant];
                let fields = variant.fields.iter().map(|name| name.name.clone()).collect();
                let positional = variant.fields.is_empty() && !variant.payload.is_empty();
                (!positional).then(|| (variant.name.clone(), fields))
            }
            (AdtDecl::Enum(_), None) => {
                self.error(code, path.span, "this is an enumeration: name a variant");
                return None;
            }
        };
        let Some((name, fields)) = named else {
            let message = "the values of this variant have no names: write them in `(…)`";
            self.error(code, path.span, message);
            return None;
        };
        let types = match variant {
            Some(variant) => self.payload_of(adt, variant, &args),
            None => self.variants_of(adt, &args).pop().map(|v| v.1).unwrap_or_default(),
        };
        Some(Named { adt, variant, name: name.name, fields, args, types })
    }

    pub(super) fn struct_literal(
        &mut self,
        path: &ast::Path,
        fields: &[(Ident, Option<ast::Expr>)],
        base: Option<&ast::Expr>,
        span: Span,
    ) -> Expr {
        let Some(named) = self.named_parts(path, Code::Type) else { return self.broken(span) };
        let (parts, order) = self.given_fields(&named, fields);
        let ty = Ty::Adt(named.adt, named.args.clone());
        let mut lets = Vec::new();
        let parts = match (base, parts.iter().position(Option::is_none)) {
            (Some(base), _) if named.variant.is_some() => {
                self.error(
                    Code::Type,
                    base.span,
                    "only a structure can take the rest from another",
                );
                return self.broken(span);
            }
            (Some(base), _) => self.with_base(parts, &order, (base, &named), &mut lets),
            (None, Some(missing)) => {
                let message = format!("the field `{}` is missing", named.fields[missing]);
                self.error(Code::Type, span, message);
                return self.broken(span);
            }
            (None, None) => {
                let mut parts: Vec<Expr> = parts.into_iter().flatten().collect();
                if !order.is_sorted() && parts.iter().any(has_effects) {
                    lets = self.as_written(&mut parts, &order);
                }
                parts
            }
        };
        let constant = parts.iter().all(|part| part.constant);
        let kind = match named.variant {
            Some(variant) => Kind::Variant(variant, parts),
            None => Kind::Aggregate(parts),
        };
        let literal = self.node(kind, &ty, constant, span);
        if lets.is_empty() {
            return literal;
        }
        self.node(Kind::Block(lets, Some(Box::new(literal))), &ty, constant, span)
    }

    /// Checks the fields that a literal gives, and returns them by place, and the places as
    /// written.
    fn given_fields(
        &mut self,
        named: &Named,
        fields: &[(Ident, Option<ast::Expr>)],
    ) -> (Vec<Option<Expr>>, Vec<usize>) {
        let places = named.places();
        let mut parts: Vec<Option<Expr>> = vec![None; named.types.len()];
        let mut order = Vec::new();
        for (name, value) in fields {
            let Some(&place) = places.get(&*name.name) else {
                self.no_named_field(named, name);
                continue;
            };
            if parts[place].is_some() {
                let message = format!("`{}` is given twice", name.name);
                self.error(Code::Name, name.span, message);
            }
            let checked = match value {
                Some(value) => self.check(value, &named.types[place]),
                None => {
                    let path = ast::Path { parts: vec![name.clone()], span: name.span };
                    let kind = ExprKind::Path(path, Vec::new());
                    self.check(&ast::Expr { kind, span: name.span }, &named.types[place])
                }
            };
            parts[place] = Some(checked);
            order.push(place);
        }
        (parts, order)
    }

    /// Returns all parts of a structure whose missing ones are another structure's, which is
    /// computed last.
    fn with_base(
        &mut self,
        parts: Vec<Option<Expr>>,
        order: &[usize],
        (base, named): (&ast::Expr, &Named),
        lets: &mut Vec<Stmt>,
    ) -> Vec<Expr> {
        let ty = Ty::Adt(named.adt, named.args.clone());
        let base = self.check(base, &ty);
        let whole = self.type_ref(&ty);
        let (constant, span) = (base.constant, base.span);
        let local = self.hidden_field(Expr { ty: whole, ..base.clone() });
        let mut all = Vec::new();
        for (place, part) in parts.into_iter().enumerate() {
            all.push(match part {
                Some(part) => part,
                None => {
                    let from = self.plain(Kind::Local(local), whole, constant, span);
                    let kind = Kind::Field(Box::new(from), place);
                    self.node(kind, &named.types[place], constant, span)
                }
            });
        }
        if has_effects(&base) || all.iter().any(has_effects) {
            *lets = self.as_written(&mut all, order);
        }
        let pattern = Pattern { kind: PatternKind::Bind(local), ty: whole, span };
        lets.push(Stmt::Let(pattern, base));
        all
    }

    /// Returns a variable for a value that is computed before others.
    fn hidden_field(&mut self, Expr { ty, constant, span, .. }: Expr) -> Local {
        let name = "field".into();
        self.names.locals.push(LocalInfo {
            name,
            span,
            ty,
            mutable: false,
            constant,
            number: None,
        });
        self.names.locals.len() as Local - 1
    }

    /// Returns statements that evaluate the fields of a structure in the order written. The parts
    /// become the variables that these statements bind.
    fn as_written(&mut self, parts: &mut [Expr], order: &[usize]) -> Vec<Stmt> {
        let mut lets = Vec::new();
        for &place in order {
            let Expr { ty, constant, span, .. } = parts[place];
            let local = self.hidden_field(parts[place].clone());
            let use_of_it = self.plain(Kind::Local(local), ty, constant, span);
            let value = std::mem::replace(&mut parts[place], use_of_it);
            let kind = PatternKind::Bind(local);
            lets.push(Stmt::Let(Pattern { kind, ty, span }, value));
        }
        lets
    }

    /// Reports a field that a type does not have, with the nearest that it has.
    pub(super) fn no_field(&mut self, shown: &str, adt: Option<AdtId>, name: &Ident) {
        let message = format!("`{shown}` has no field `{}`", name.name);
        let mut error = self.diagnostic(Code::Name, name.span, message);
        let methods = self.cx.program.methods.len() as u64;
        let adt = adt.filter(|_| self.may_suggest(methods));
        let near = adt.and_then(|adt| self.nearest(&name.name, self.cx.program.members(adt)));
        if let Some(near) = near {
            error = error.help(format!("did you mean `{near}`?"));
        }
        self.cx.errors.push(error);
    }

    pub(super) fn no_named_field(&mut self, named: &Named, name: &Ident) {
        let message = format!("`{}` has no field `{}`", named.name, name.name);
        let mut error = self.diagnostic(Code::Name, name.span, message);
        if let Some(near) = self.nearest(&name.name, named.fields.iter()) {
            error = error.help(format!("did you mean `{near}`?"));
        }
        self.cx.errors.push(error);
    }
}
