//! Calls of methods, and the constants of built-in types. The methods of built-in types are in
//! `std/methods.sym`, one function each.

use std::rc::Rc;

use num_bigint::BigInt;

use super::FnCx;
use super::unknown::{Env, VarKind};
use crate::ast::{self, ExprKind, Ident, Name};
use crate::builtin;
use crate::def::Def;
use crate::diag::{Code, Diagnostic};
use crate::ids::{AdtId, FnId};
use crate::program::Head;
use crate::references::Target;
use crate::source::Span;
use crate::tir::{Expr, Kind, Stmt};
use crate::ty::{Arg, Len, Precision, Shape, Ty};
use crate::value::Value;
use crate::walk::has_effects;

/// Methods that the compiler knows without the library.
const BUILT_IN: [&str; 3] = ["len", "is_empty", "expect"];

/// Methods of Rust that there are not, and what to write.
const FOREIGN: [(&str, &str); 49] = [
    ("unwrap", "write `.expect(\"text\")`, or `.unwrap_or(other)`"),
    ("map", "there are no closures: write `[f(x) for x in a]`, or a `match` of an `Option`"),
    ("for_each", "write `for x in a { … }`"),
    (
        "filter",
        "how many elements there are is public: write `[if c(x) { Some(x) } else { None } for x in a]`",
    ),
    ("fold", "write `for x in a { all = f(all, x); }`"),
    ("reduce", "write `for x in a { all = f(all, x); }`"),
    ("position", "write `a.find(x)`"),
    ("step_by", "write `for i in 0..N { const AT: usize = 2 * i; … }`"),
    ("iter_mut", "write `for i in 0..a.len() { a[i] = …; }`"),
    ("collect", "leave it out: these are arrays"),
    ("copied", "leave it out: copies are free"),
    ("cloned", "leave it out: copies are free"),
    ("clone", "leave it out: copies are free"),
    ("to_vec", "leave it out: arrays are values"),
    ("as_slice", "leave it out: arrays are values"),
    ("push", "an array has a fixed length: write `a.concat([x])`"),
    ("sort", "arrays are values: write `a = a.sorted();`"),
    ("sort_unstable", "arrays are values: write `a = a.sorted();`"),
    ("reverse", "arrays are values: write `a = a.rev();`"),
    ("swap", "write `(a[i], a[j]) = (a[j], a[i]);`"),
    ("fill", "write `a = [x; N];`"),
    ("product", "write `for x in a { all = all * x; }`"),
    ("as_bytes", "leave it out: a text is an array of bytes"),
    ("first", "write `a[0]`"),
    ("last", "write `a[a.len() - 1]`"),
    ("get", "write `a[i]`; beyond the array it is zero, or fails after `#[checked]`"),
    ("skip", "write `a[n..a.len()]`"),
    ("take", "write `a[0..n]`"),
    ("split_at", "write `(a[0..n], a[n..a.len()])`"),
    ("windows", "write `for i in 0..a.len() - 1 { … a[i] … a[i + 1] … }`"),
    ("chunks", "write `for i in 0..N { … a[2 * i..2 * i + 2] … }`"),
    ("chunks_exact", "write `for i in 0..N { … a[2 * i..2 * i + 2] … }`"),
    ("is_sorted", "write `a.sorted() == a`"),
    ("binary_search", "write `a.find(x)`"),
    ("into", "write `x as TYPE`"),
    ("try_into", "write `x.checked_cast()`"),
    ("to_string", "values are printed as outputs"),
    ("to_be_bytes", "write `std::bits::to_bits(x)`, or `[(x >> 8 * i) as u8 for i in 0..4].rev()`"),
    ("to_le_bytes", "write `[(x >> 8 * i) as u8 for i in 0..4]`"),
    ("cmp", "write `x < y` and `x == y`"),
    ("partial_cmp", "write `x < y` and `x == y`"),
    ("eq", "write `x == y`"),
    ("then", "write `x.then_some(y)`, or `if x { Some(y) } else { None }`"),
    ("unwrap_or_default", "write `.unwrap_or(0)`"),
    ("unwrap_or_else", "write `.unwrap_or(other)`: both are computed anyway"),
    ("and_then", "write `match o { Some(x) => f(x), None => None }`"),
    ("map_or", "write `match o { Some(x) => f(x), None => other }`"),
    ("ok_or", "there is no `Result`: write `.expect(\"text\")`, or an `enum`"),
    ("is_some_and", "write `if let Some(x) = o && c { … }`"),
];

impl FnCx<'_, '_> {
    pub(super) fn method(
        &mut self,
        receiver: &ast::Expr,
        name: &Ident,
        args: &[ast::Arg],
        values: &[ast::Expr],
        hint: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let receiver = self.expr(receiver, None);
        let ty = self.receiver_type(&receiver, name);
        match (&ty, &*name.name, values) {
            (Ty::Error, ..) => return self.broken(span),
            (Ty::Array(_, len), "len" | "is_empty", []) => {
                let len = self.len(*len);
                return self.length(receiver, len, &name.name, span);
            }
            (Ty::Adt(adt, args), "expect", _) if self.is_option(*adt) => {
                let payload = args.first().cloned();
                return self.expect_some(receiver, payload, values, span);
            }
            _ => {}
        }
        match self.find_method(&ty, &name.name) {
            Some(function) => {
                self.note(name.span, Target::Item(Def::Fn(function)));
                self.call_fn(function, Some(receiver), args, values, hint, span)
            }
            None => {
                self.no_method(&ty, name);
                self.broken(span)
            }
        }
    }

    /// Returns the type of the value whose method is called. An untyped number has the methods that
    /// all numbers have.
    fn receiver_type(&mut self, receiver: &Expr, name: &Ident) -> Ty {
        let ty = self.ty_of(receiver);
        let ty = self.shallow(&ty);
        if let Ty::Var(var) = ty
            && self.infer.vars[var as usize].1 != VarKind::Any
            && self.find_method(&ty, &name.name).is_some()
        {
            return ty;
        }
        self.known_type(receiver)
    }

    /// Returns where methods of a type are looked for, in order.
    fn heads(&self, ty: &Ty) -> Vec<Head> {
        match ty {
            Ty::Bool => vec![Head::Bool, Head::Any],
            Ty::Int(false, _) => vec![Head::Unsigned, Head::Int, Head::Num, Head::Any],
            Ty::Int(true, _) => vec![Head::Signed, Head::Int, Head::Num, Head::Any],
            Ty::Fixed(..) => vec![Head::Fixed, Head::Num, Head::Any],
            Ty::Float(_) => vec![Head::Float, Head::Num, Head::Any],
            Ty::Array(..) => vec![Head::Array, Head::Any],
            Ty::Adt(adt, _) => vec![Head::Adt(*adt), Head::Any],
            Ty::Var(_) => vec![Head::Num, Head::Any],
            Ty::Tuple(_) => vec![Head::Any],
            Ty::Error => Vec::new(),
        }
    }

    fn find_method(&mut self, ty: &Ty, name: &Name) -> Option<FnId> {
        let heads = self.heads(ty);
        let find = |this: &Self| {
            heads
                .iter()
                .find_map(|&head| this.cx.program.methods.get(&(head, name.clone())).copied())
        };
        if let Some(found) = find(self) {
            return Some(found);
        }
        self.cx.program.load_methods(&mut self.cx.errors);
        find(self)
    }

    fn is_option(&self, adt: AdtId) -> bool {
        let some = self.cx.program.bare_variant("Some");
        matches!(some, Some(Def::Variant(option, _)) if option == adt)
    }

    fn expect_some(
        &mut self,
        receiver: Expr,
        payload: Option<Arg>,
        values: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let (Some(Arg::Ty(payload)), [text]) = (payload, values) else {
            self.error(Code::Type, span, "`expect` takes a text");
            return self.broken(span);
        };
        let Some(text) = self.assert_text(text, span) else { return self.broken(span) };
        let constant = receiver.constant;
        self.node(Kind::Expect(Box::new(receiver), text), &payload, constant, span)
    }

    /// Returns the length of an array: a constant, after what the array's expression does.
    fn length(&mut self, receiver: Expr, len: Len, name: &str, span: Span) -> Expr {
        let Len::Known(len) = len else {
            self.error(Code::Type, span, "the length of this is not known here");
            return self.broken(span);
        };
        let (kind, ty) = match name {
            "len" => (Kind::Int(len.into()), Ty::size()),
            _ => (Kind::Const(Rc::new(Value::Bool(len == 0))), Ty::Bool),
        };
        if len > u64::from(u32::MAX) {
            self.error(Code::Limit, span, "this length does not fit in `u32`");
        }
        let number = self.node(kind, &ty, true, span);
        if !has_effects(&receiver) {
            return number;
        }
        let kind = Kind::Block(vec![Stmt::Expr(receiver)], Some(Box::new(number)));
        self.node(kind, &ty, false, span)
    }

    fn no_method(&mut self, ty: &Ty, name: &Ident) {
        let shown = self.show(ty);
        let message = format!("`{shown}` has no method `{}`", name.name);
        let error = Diagnostic::new(Code::Name, name.span, message);
        let foreign = FOREIGN.iter().find(|(known, _)| *known == &*name.name);
        let heads = self.heads(ty);
        let methods = &self.cx.program.methods;
        let most = if self.may_suggest(methods.len() as u64) { usize::MAX } else { 0 };
        let known = methods.keys().take(most).filter(|(head, _)| heads.contains(head));
        let built_in = BUILT_IN.iter().filter(|known| match (**known, ty) {
            ("expect", Ty::Adt(adt, _)) => self.is_option(*adt),
            (_, Ty::Array(..)) => true,
            _ => false,
        });
        let known: Vec<Name> = known
            .map(|(_, known)| known.clone())
            .chain(built_in.map(|known| Name::from(*known)))
            .collect();
        let near = self.nearest(&name.name, known.iter());
        let error = match (foreign, near) {
            (Some((_, help)), _) => error.help(*help),
            (None, Some(near)) => error.help(format!("did you mean `{near}`?")),
            (None, None) => error,
        };
        self.cx.errors.push(error);
    }

    /// Returns the type of a variable or a part of one, without checking an expression.
    pub(super) fn place_type(&mut self, expr: &ast::Expr, env: &Env) -> Option<Ty> {
        let ty = match &expr.kind {
            ExprKind::Path(path, _) => {
                if env.own
                    && let [only] = &path.parts[..]
                    && let Some(binding) = self.names.scope.find(&only.name)
                {
                    match binding {
                        super::Binding::Local(local) => {
                            self.infer.types[self.names.locals[*local as usize].ty as usize].clone()
                        }
                        super::Binding::Const(ty, _) => ty.clone(),
                    }
                } else {
                    let errors = &mut self.cx.errors;
                    match self.cx.program.resolve(env.module, &path.parts, errors)? {
                        Def::Const(place) => self.cx.constant(place, path.span)?.0,
                        _ => return None,
                    }
                }
            }
            ExprKind::Field(inner, name) => {
                let Ty::Adt(adt, args) = self.place_type(inner, env)? else { return None };
                let part = self.cx.program.part(adt, &name.name)?;
                let crate::program::AdtDecl::Struct(decl) = &self.cx.program.adts[adt].decl else {
                    return None;
                };
                let decl = decl.clone();
                let inside = self.inside(adt, &args);
                self.convert(&decl.fields[part].1, &inside)
            }
            ExprKind::TupleField(inner, part, _) => match self.place_type(inner, env)? {
                Ty::Tuple(parts) => parts.get(*part as usize)?.clone(),
                _ => return None,
            },
            ExprKind::Index(inner, index) if !matches!(index.kind, ExprKind::Range(..)) => {
                match self.place_type(inner, env)? {
                    Ty::Array(element, _) => *element,
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(self.shallow(&ty))
    }

    /// Returns the constant `MAX` or `MIN` of a type of numbers, or `None` if the path names
    /// something else.
    pub(super) fn bound_of(&mut self, parts: &[Ident], name: &str, span: Span) -> Option<Expr> {
        let [of] = parts else { return None };
        let known = builtin::ty(&of.name).is_some()
            || matches!(self.own_env().get(&of.name), Some(Arg::Ty(_)))
            || matches!(
                self.cx.program.resolve(self.module, parts, &mut self.cx.errors),
                Some(Def::Alias(_))
            );
        if !known {
            return None;
        }
        let path = ast::Path { parts: parts.to_vec(), span };
        let ty = ast::Type { kind: ast::TypeKind::Path(path, Vec::new()), span };
        let ty = self.own_type(&ty);
        let ty = self.resolve(&ty);
        if ty == Ty::Error {
            return Some(self.broken(span));
        }
        if super::types::has_var(&ty) || !super::infer::is_number(&ty) {
            let shown = self.show(&ty);
            self.error(Code::Name, span, format!("`{shown}` has no `{name}`"));
            return Some(self.broken(span));
        }
        let id = self.cx.shape(&ty, span)?;
        let most = name == "MAX";
        let value = match *self.cx.tir.shapes.shape(id) {
            Shape::Int(signed, width) => Value::Int(bound(signed, width, most)),
            Shape::Fixed(int, frac) => Value::Int(bound(true, int + frac, most)),
            Shape::Float(precision) => {
                let (largest, sign) = match precision {
                    Precision::Single => (u64::from(f32::MAX.to_bits()), 1 << 31),
                    Precision::Double => (f64::MAX.to_bits(), 1 << 63),
                };
                Value::Float(if most { largest } else { largest | sign })
            }
            _ => return None,
        };
        Some(self.node(Kind::Const(Rc::new(value)), &ty, true, span))
    }
}

/// Returns the largest or the least integer of this many bits.
fn bound(signed: bool, width: u32, most: bool) -> BigInt {
    let one = BigInt::from(1);
    match (signed, most) {
        (false, true) => (one << width) - 1,
        (false, false) => BigInt::ZERO,
        (true, _) if width == 0 => BigInt::ZERO,
        (true, true) => (one << (width - 1)) - 1,
        (true, false) => -(one << (width - 1)),
    }
}
