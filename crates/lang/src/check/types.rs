//! Turns types and constants as written into types and numbers.

use std::rc::Rc;

use super::consts::{Around, Seen};
use super::unknown::{Env, Param, Pending, VarKind};
use super::{AliasState, Binding, FnCx};
use crate::ast::{self, BinaryOp, ExprKind, GenericKind, Name, TypeKind, UnaryOp};
use crate::builtin;
use crate::def::Def;
use crate::diag::Code;
use crate::ids::{AdtId, AliasId, ModuleId};
use crate::program::{self, Alias};
use crate::source::Span;
use crate::tir::Local;
use crate::ty::{Arg, Len, MAX_WIDTH, Ty};
use crate::uses;
use crate::value::Value;

/// A type written out has at most this many parts.
const MAX_SIZE: u32 = 1 << 16;

/// Returns whether a type written out has more than [`MAX_SIZE`] parts.
pub(super) fn too_large(ty: &Ty) -> bool {
    fn count(ty: &Ty, left: &mut u32) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        match ty {
            Ty::Tuple(parts) => parts.iter().all(|part| count(part, left)),
            Ty::Array(element, _) => count(element, left),
            Ty::Adt(_, args) => args.iter().all(|arg| match arg {
                Arg::Ty(ty) => count(ty, left),
                Arg::Const(_) => true,
            }),
            _ => true,
        }
    }
    !count(ty, &mut MAX_SIZE.clone())
}

/// The result of the quick evaluator.
pub(super) enum Mini {
    /// The number, exact.
    Value(i128),
    /// The truth value.
    Truth(bool),
    /// It depends on something not yet known.
    Wait,
    /// It needs the full evaluator.
    No,
}

impl FnCx<'_, '_> {
    pub(super) fn own_env(&self) -> Env {
        Env { module: self.module, args: self.names.generics.clone(), own: true }
    }

    pub(super) fn own_type(&mut self, ty: &ast::Type) -> Ty {
        let env = self.own_env();
        self.convert(ty, &env)
    }

    pub(super) fn convert(&mut self, ty: &ast::Type, env: &Env) -> Ty {
        match &ty.kind {
            TypeKind::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|part| self.convert(part, env)).collect())
            }
            TypeKind::Array(element, len) => {
                let element = self.convert(element, env);
                Ty::Array(Box::new(element), self.convert_len(len, env))
            }
            TypeKind::Path(path, args) => self.convert_path(path, args, env),
        }
    }

    fn width(&mut self, len: Len, span: Span, most: u64) -> Len {
        if let Len::Known(width) = len
            && width > most
        {
            let message = format!("a number has at most {most} bits, not {width}");
            self.error(Code::Limit, span, message);
            return Len::Known(most);
        }
        len
    }

    fn convert_path(&mut self, path: &ast::Path, args: &[ast::Arg], env: &Env) -> Ty {
        if let [only] = &path.parts[..] {
            if let Some(builtin) = builtin::ty(&only.name)
                && let Some(ty) = self.builtin_type(builtin, path.span, args, env)
            {
                return ty;
            }
            match (&*only.name, args) {
                ("_", []) => return self.any(),
                ("unsigned", [of]) if self.cx.program.is_std(env.module) => {
                    let of = self.convert_ty_arg(of, env);
                    let var = self.any();
                    if let Ty::Var(number) = var {
                        self.infer.pending.push(Pending::Unsigned(of, number));
                    }
                    return var;
                }
                (name, []) => match env.get(name) {
                    Some(Arg::Ty(ty)) => return ty.clone(),
                    Some(Arg::Const(_)) => {
                        let message = format!("`{name}` is a constant, not a type");
                        self.error(Code::Type, path.span, message);
                        return Ty::Error;
                    }
                    None => {}
                },
                _ => {}
            }
        }
        match self.cx.program.resolve(env.module, &path.parts, &mut self.cx.errors) {
            Some(Def::Adt(adt)) => self.convert_adt(adt, path.span, args, env),
            Some(Def::Alias(alias)) => self.convert_alias(alias, path.span),
            Some(other) => {
                // `use std::text;` does not hide the type.
                if let (Def::Module(_), true) = (other, path.is(program::TEXT))
                    && let Some(text) = self.cx.program.text()
                {
                    return self.convert_adt(text, path.span, args, env);
                }
                self.error(Code::Type, path.span, "this is not a type");
                Ty::Error
            }
            None => {
                self.unknown_type(path);
                Ty::Error
            }
        }
    }

    /// Returns the type of an alias. It is found once, because aliases of aliases can double it
    /// each time.
    fn convert_alias(&mut self, alias: AliasId, span: Span) -> Ty {
        match self.cx.items.aliases.get(&alias) {
            Some(AliasState::Known(known)) => return known.clone(),
            Some(AliasState::Wrong) => return Ty::Error,
            Some(AliasState::Working) => {
                self.error(Code::Type, span, "this type is an alias of itself");
                return Ty::Error;
            }
            None => {}
        }
        if self.names.alias_depth >= 64 {
            self.error(Code::Limit, span, "aliases of aliases nest more than 64 deep");
            return Ty::Error;
        }
        let errors = self.cx.errors.errors();
        let Alias { module, ty, .. } = self.cx.program.aliases[alias].clone();
        let env = Env { module, args: Rc::new(Vec::new()), own: false };
        self.cx.items.aliases.insert(alias, AliasState::Working);
        self.names.alias_depth += 1;
        let ty = self.convert(&ty, &env);
        self.names.alias_depth -= 1;
        self.cx.items.aliases.remove(&alias);
        if too_large(&ty) {
            self.error(Code::Limit, span, "this type is too large");
        }
        if self.cx.errors.errors() > errors {
            self.cx.items.aliases.insert(alias, AliasState::Wrong);
            self.cx.items.wrong_aliases.push(alias);
            return Ty::Error;
        }
        // What is not known belongs to this use.
        if !has_var(&ty) {
            self.cx.items.aliases.insert(alias, AliasState::Known(ty.clone()));
        }
        ty
    }

    /// Returns a built-in type, or `None` if it takes other arguments.
    fn builtin_type(
        &mut self,
        builtin: builtin::Type,
        span: Span,
        args: &[ast::Arg],
        env: &Env,
    ) -> Option<Ty> {
        Some(match (builtin, args) {
            (builtin::Type::Bool, []) => Ty::Bool,
            (builtin::Type::Size, []) => Ty::size(),
            (builtin::Type::Float(precision), []) => Ty::Float(precision),
            (builtin::Type::Exact(signed, width), []) => {
                Ty::Int(signed, self.width(Len::Known(width), span, MAX_WIDTH))
            }
            (builtin::Type::Int(signed), [width]) => {
                let width = self.convert_const(width, env, &Ty::size());
                Ty::Int(signed, self.width(width, span, MAX_WIDTH))
            }
            (builtin::Type::Fixed, [int, frac]) => {
                let int = self.convert_const(int, env, &Ty::size());
                let frac = self.convert_const(frac, env, &Ty::size());
                let most = MAX_WIDTH / 2;
                Ty::Fixed(self.width(int, span, most), self.width(frac, span, most))
            }
            _ => return None,
        })
    }

    fn convert_adt(&mut self, adt: AdtId, span: Span, args: &[ast::Arg], env: &Env) -> Ty {
        let generics = self.cx.program.adts[adt].generics().to_vec();
        if args.is_empty() {
            return Ty::Adt(adt, self.fresh_args(&generics));
        }
        if args.len() != generics.len() {
            let name = self.cx.program.adts[adt].name().name.clone();
            let message =
                format!("`{name}` takes {} arguments, {} are given", generics.len(), args.len());
            self.error(Code::Type, span, message);
            return Ty::Error;
        }
        let module = self.cx.program.adts[adt].module;
        Ty::Adt(adt, self.convert_args(module, Vec::new(), &generics, args, env))
    }

    /// Converts arguments for generic parameters of a definition in a module, after those that it
    /// already has.
    pub(super) fn convert_args(
        &mut self,
        module: ModuleId,
        before: Vec<Param>,
        generics: &[ast::Generic],
        args: &[ast::Arg],
        env: &Env,
    ) -> Vec<Arg> {
        let mut params = before;
        for (generic, arg) in generics.iter().zip(args) {
            let ty = self.param_type(generic, module, &params);
            let arg = match generic.kind {
                GenericKind::Type(_) => Arg::Ty(self.convert_ty_arg(arg, env)),
                GenericKind::Const(_) => Arg::Const(self.convert_const(arg, env, &ty)),
            };
            params.push(Param { name: generic.name.name.clone(), arg, ty });
        }
        params.into_iter().map(|param| param.arg).collect()
    }

    /// Returns generic parameters with their arguments.
    pub(super) fn params(
        &mut self,
        module: ModuleId,
        generics: &[ast::Generic],
        args: &[Arg],
    ) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::with_capacity(args.len());
        for (generic, arg) in generics.iter().zip(args) {
            let ty = self.param_type(generic, module, &params);
            params.push(Param { name: generic.name.name.clone(), arg: arg.clone(), ty });
        }
        params
    }

    /// Returns the declared type of a const parameter, which may use the parameters before it.
    fn param_type(&mut self, generic: &ast::Generic, module: ModuleId, before: &[Param]) -> Ty {
        let GenericKind::Const(ty) = &generic.kind else { return Ty::Error };
        // A fast path: nearly all are `usize`, and each use of a parameter asks for its type.
        if let TypeKind::Path(path, args) = &ty.kind
            && let ([only], []) = (&path.parts[..], &args[..])
            && builtin::ty(&only.name) == Some(builtin::Type::Size)
        {
            return Ty::size();
        }
        let span = generic.name.span;
        if self.cx.items.open_params.contains(&span) {
            self.error(Code::Type, span, "the type of this parameter depends on itself");
            return Ty::Error;
        }
        self.cx.items.open_params.push(span);
        let env = Env { module, args: Rc::new(before.to_vec()), own: false };
        let ty = self.convert(ty, &env);
        self.cx.items.open_params.pop();
        ty
    }

    /// Creates unknown arguments for generic parameters.
    pub(super) fn fresh_args(&mut self, generics: &[ast::Generic]) -> Vec<Arg> {
        let fresh = |generic: &ast::Generic| match generic.kind {
            GenericKind::Type(_) => Arg::Ty(self.any()),
            GenericKind::Const(_) => Arg::Const(Len::Var(self.fresh_len())),
        };
        generics.iter().map(fresh).collect()
    }

    fn convert_ty_arg(&mut self, arg: &ast::Arg, env: &Env) -> Ty {
        match arg {
            ast::Arg::Type(ty) => self.convert(ty, env),
            ast::Arg::Expr(expr) => match &expr.kind {
                ExprKind::Path(path, args) if args.is_empty() => self.convert_path(path, &[], env),
                _ => {
                    self.error(Code::Type, expr.span, "expected a type");
                    Ty::Error
                }
            },
        }
    }

    fn convert_const(&mut self, arg: &ast::Arg, env: &Env, wanted: &Ty) -> Len {
        match arg {
            ast::Arg::Expr(expr) => self.convert_number(expr, env, wanted),
            ast::Arg::Type(ty) => {
                self.error(Code::Constant, ty.span, "expected a constant, found a type");
                Len::Known(1)
            }
        }
    }

    /// Converts a length.
    pub(super) fn convert_len(&mut self, expr: &ast::Expr, env: &Env) -> Len {
        self.convert_number(expr, env, &Ty::size())
    }

    /// Converts a constant of this type within a type: a parameter alone can be inferred, anything
    /// else is computed.
    fn convert_number(&mut self, expr: &ast::Expr, env: &Env, wanted: &Ty) -> Len {
        if let ExprKind::Path(path, _) = &expr.kind
            && let [only] = &path.parts[..]
        {
            if &*only.name == "_" {
                return Len::Var(self.fresh_len());
            }
            if let Some(Param { arg: Arg::Const(len), ty, .. }) = env.param(&only.name)
                && !(env.own && self.hides_param(&only.name))
                && (*ty == Ty::Bool) == (*wanted == Ty::Bool)
            {
                return *len;
            }
        }
        match self.measure(expr, env, wanted) {
            Mini::Value(value) => Len::Known(u64::try_from(value).unwrap_or(0)),
            Mini::Truth(value) => Len::Known(value.into()),
            Mini::Wait => {
                let var = self.fresh_len();
                self.infer.pending.push(Pending::Len(
                    expr.clone(),
                    env.clone(),
                    var,
                    wanted.clone(),
                ));
                Len::Var(var)
            }
            Mini::No => Len::Known(self.const_number(expr, env, wanted)),
        }
    }

    /// Returns whether a name of the function hides the const parameter.
    fn hides_param(&self, name: &str) -> bool {
        self.names.scope.at(name).is_some_and(|(place, _)| place >= self.names.param_bindings)
    }

    /// Does the same as [`Self::mini`] for a constant of this type.
    pub(super) fn measure(&mut self, expr: &ast::Expr, env: &Env, wanted: &Ty) -> Mini {
        let wanted = self.resolve(wanted);
        if has_var(&wanted) {
            return Mini::Wait;
        }
        if wanted == Ty::Bool || wanted == Ty::size() {
            match self.mini(expr, env) {
                Mini::Value(_) if wanted == Ty::Bool => {}
                Mini::Truth(_) if wanted != Ty::Bool => {}
                found => return found,
            }
        }
        // A constant of another type wraps at another width, or is wrong.
        self.mini_args_known(env)
    }

    /// Computes a constant of this type with the full evaluator.
    pub(super) fn const_number(&mut self, expr: &ast::Expr, env: &Env, wanted: &Ty) -> u64 {
        match self.const_value(expr, Some(wanted), env) {
            Some((_, Value::Bool(value))) => u64::from(value),
            Some((_, Value::Int(value))) => u64::try_from(&value).unwrap_or_else(|_| {
                let message = "an argument for a const parameter is from 0 to 2^64 - 1";
                self.error(Code::Limit, expr.span, message);
                0
            }),
            _ => 0,
        }
    }

    /// Computes a constant with the full evaluator; returns its type and value. Errors are
    /// reported.
    pub(super) fn const_value(
        &mut self,
        expr: &ast::Expr,
        expected: Option<&Ty>,
        env: &Env,
    ) -> Option<(Ty, Value)> {
        let param = |param: &Param| Param {
            name: param.name.clone(),
            arg: self.resolve_arg(&param.arg),
            ty: self.resolve(&param.ty),
        };
        let args: Vec<Param> = env.args.iter().map(param).collect();
        let scope = if env.own { self.seen_by(expr) } else { Vec::new() };
        let expected = expected.map(|ty| self.resolve(ty));
        let module = env.module;
        let checked = if env.own { self.checked } else { self.cx.program.is_checked(module) };
        self.cx.evaluate(expr, expected, Around { module, args, scope, checked })
    }

    /// Returns the number that a `let` binds a variable to, if the variable is a `usize`. What is a
    /// length is one.
    fn let_number(&mut self, local: Local) -> Option<u64> {
        let info = &self.names.locals[local as usize];
        let (number, ty) = (info.number?, self.infer.types[info.ty as usize].clone());
        match self.shallow(&ty) {
            Ty::Var(var) if self.infer.vars[var as usize].1 == VarKind::Int => {
                self.unify(&ty, &Ty::size()).then_some(number)
            }
            known => (known == Ty::size()).then_some(number),
        }
    }

    /// Returns the names in scope that an expression can see. Variables are not constants, except
    /// those that a `let` binds to a number, and hide constants of the same name.
    fn seen_by(&mut self, expr: &ast::Expr) -> Vec<Seen> {
        let mut seen = Vec::new();
        let names: Vec<Name> = match uses::all_names(expr) {
            Some(names) => names.into_iter().map(Name::from).collect(),
            None => {
                self.count(self.names.scope.len() as u64);
                self.names.scope.names().cloned().collect()
            }
        };
        for name in names {
            let Some((place, binding)) = self.names.scope.at(&name) else { continue };
            if place < self.names.param_bindings {
                continue;
            }
            match binding {
                Binding::Const(ty, value) => {
                    seen.push(Seen { name, ty: ty.clone(), value: Some(value.clone()) });
                }
                Binding::Local(local) => {
                    let local = *local;
                    let ty =
                        self.infer.types[self.names.locals[local as usize].ty as usize].clone();
                    let number = self.let_number(local);
                    let ty = self.resolve(&ty);
                    let unknown = has_var(&ty) || ty == Ty::Error;
                    let ty = if unknown { Ty::size() } else { ty };
                    let value = number.map(|number| Rc::new(Value::Int(number.into())));
                    seen.push(Seen { name, ty, value });
                }
            }
        }
        seen
    }

    /// Evaluates the operations that lengths mostly use, exactly as the language does while all
    /// numbers are `usize`.
    pub(super) fn mini(&mut self, expr: &ast::Expr, env: &Env) -> Mini {
        const TOP: i128 = u32::MAX as i128;
        let found = match &expr.kind {
            ExprKind::Int(value, None) => i128::try_from(value).map_or(Mini::No, Mini::Value),
            ExprKind::Bool(value) => Mini::Truth(*value),
            ExprKind::Path(path, args) if args.is_empty() => return self.mini_path(path, env),
            ExprKind::Unary(UnaryOp::Not, operand) => match self.mini(operand, env) {
                Mini::Truth(value) => Mini::Truth(!value),
                Mini::Value(_) => Mini::No,
                other => return other,
            },
            ExprKind::Binary(op, a, b) => {
                if op.power() == 3
                    && let (Some((a, below)), Some((b, under))) =
                        (self.mini_name(a, env), self.mini_name(b, env))
                    && a < under
                    && b < below
                {
                    return mini_op(*op, a, b);
                }
                match (op, self.mini(a, env)) {
                    (_, other @ (Mini::Wait | Mini::No)) => return other,
                    (BinaryOp::AndAlso, Mini::Truth(false)) => Mini::Truth(false),
                    (BinaryOp::OrElse, Mini::Truth(true)) => Mini::Truth(true),
                    (_, a) => match (a, self.mini(b, env)) {
                        (_, other @ (Mini::Wait | Mini::No)) => return other,
                        (Mini::Value(a), Mini::Value(b)) => mini_op(*op, a, b),
                        (Mini::Truth(a), Mini::Truth(b)) => mini_truth_op(*op, a, b),
                        _ => Mini::No,
                    },
                }
            }
            ExprKind::Call(callee, _, values) => match (&callee.kind, &values[..]) {
                (ExprKind::Path(path, _), [n])
                    if path.parts.len() == 1 && &*path.parts[0].name == "clog2" =>
                {
                    match self.mini(n, env) {
                        Mini::Value(n) => match u64::try_from(n) {
                            Ok(n) => Mini::Value(crate::ty::clog2(n).into()),
                            Err(_) => Mini::No,
                        },
                        Mini::Truth(_) => Mini::No,
                        other => return other,
                    }
                }
                (ExprKind::Field(array, name), []) if &*name.name == "len" => {
                    match self.place_type(array, env) {
                        Some(Ty::Array(_, len)) => match self.len(len) {
                            Len::Known(len) => Mini::Value(len.into()),
                            Len::Var(_) => Mini::No,
                        },
                        _ => Mini::No,
                    }
                }
                _ => Mini::No,
            },
            _ => Mini::No,
        };
        match found {
            Mini::Value(value) if (0..=TOP).contains(&value) => found,
            Mini::Truth(_) => found,
            _ => self.mini_args_known(env),
        }
    }

    /// Returns [`Mini::No`] if all parameters are known, as the full evaluator needs, else
    /// [`Mini::Wait`].
    fn mini_args_known(&self, env: &Env) -> Mini {
        let unknown = env.args.iter().any(|param| match &param.arg {
            Arg::Ty(ty) => has_var(&self.resolve(ty)),
            Arg::Const(len) => matches!(self.len(*len), Len::Var(_)),
        });
        if unknown { Mini::Wait } else { Mini::No }
    }

    /// Returns the type and the value of a constant number in scope or a const parameter.
    fn named(&self, name: &str, env: &Env) -> Option<(Ty, i128)> {
        if env.own
            && let Some(binding) = self.names.scope.find(name)
        {
            let Binding::Const(ty, value) = binding else { return None };
            let Mini::Value(value) = mini_value(value) else { return None };
            return Some((ty.clone(), value));
        }
        let Some(Param { arg: Arg::Const(len), ty, .. }) = env.param(name) else { return None };
        let Len::Known(value) = self.len(*len) else { return None };
        Some((self.resolve(ty), value.into()))
    }

    /// Returns the value of a literal or of a name of an unsigned integer, and the first value
    /// beyond its type. Comparisons of them give the same in all types.
    fn mini_name(&self, expr: &ast::Expr, env: &Env) -> Option<(i128, i128)> {
        match &expr.kind {
            ExprKind::Int(value, None) => Some((i128::try_from(value).ok()?, i128::MAX)),
            ExprKind::Path(path, args) if args.is_empty() => {
                let [only] = &path.parts[..] else { return None };
                match self.named(&only.name, env)? {
                    (Ty::Int(false, Len::Known(width)), value) => {
                        Some((value, 1i128.checked_shl(width.min(126) as u32)?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn mini_path(&mut self, path: &ast::Path, env: &Env) -> Mini {
        if let [only] = &path.parts[..] {
            if env.own
                && let Some(binding) = self.names.scope.find(&only.name)
            {
                return match binding {
                    Binding::Const(ty, value) if *ty == Ty::size() || *ty == Ty::Bool => {
                        mini_value(value)
                    }
                    Binding::Local(local) => {
                        let local = *local;
                        self.let_number(local).map_or(Mini::No, |n| Mini::Value(n.into()))
                    }
                    Binding::Const(..) => Mini::No,
                };
            }
            match env.param(&only.name) {
                Some(Param { arg: Arg::Const(len), ty, .. }) => {
                    return match self.len(*len) {
                        // Numbers of other types wrap at other widths.
                        Len::Known(_) if *ty != Ty::size() && *ty != Ty::Bool => {
                            self.mini_args_known(env)
                        }
                        Len::Known(n) if *ty == Ty::Bool => Mini::Truth(n != 0),
                        Len::Known(n) => Mini::Value(i128::from(n)),
                        Len::Var(_) => Mini::Wait,
                    };
                }
                Some(_) => return Mini::No,
                None => {}
            }
            if &*only.name == builtin::PARTIES {
                return Mini::Value(i128::from(self.cx.parties));
            }
        }
        if let [of, bits] = &path.parts[..]
            && &*bits.name == "BITS"
            && let Some(Arg::Ty(ty)) = env.get(&of.name)
        {
            let ty = self.resolve(ty);
            if has_var(&ty) {
                return Mini::Wait;
            }
            return match self.cx.shape(&ty, path.span) {
                Some(id) => Mini::Value(i128::from(self.cx.tir.shapes.width(id))),
                None => Mini::Value(0),
            };
        }
        match self.cx.program.resolve(env.module, &path.parts, &mut self.cx.errors) {
            Some(Def::Const(place)) => match self.cx.constant(place, path.span) {
                Some((ty, value)) if ty == Ty::size() || ty == Ty::Bool => mini_value(&value),
                _ => Mini::No,
            },
            _ => Mini::No,
        }
    }

    /// Returns the type of a literal: the type written after it, or an unknown number.
    pub(super) fn literal_type(&mut self, ty: Option<&ast::Type>) -> Ty {
        match ty {
            Some(ty) => self.own_type(ty),
            None => self.fresh(VarKind::Int),
        }
    }
}

fn mini_value(value: &Value) -> Mini {
    match value {
        Value::Int(value) => i128::try_from(value).map_or(Mini::No, Mini::Value),
        Value::Bool(value) => Mini::Truth(*value),
        _ => Mini::No,
    }
}

fn mini_op(op: BinaryOp, a: i128, b: i128) -> Mini {
    use BinaryOp::*;
    let number = match op {
        Add => a.checked_add(b),
        Sub => a.checked_sub(b),
        Mul => a.checked_mul(b),
        Div if b != 0 => Some(a / b),
        Rem if b != 0 => Some(a % b),
        And => Some(a & b),
        Or => Some(a | b),
        Xor => Some(a ^ b),
        Shl if b < 32 => a.checked_shl(b as u32),
        Shr if b < 32 => Some(a >> b),
        _ => return mini_compare(op, &a, &b),
    };
    number.map_or(Mini::No, Mini::Value)
}

fn mini_truth_op(op: BinaryOp, a: bool, b: bool) -> Mini {
    use BinaryOp::*;
    match op {
        And | AndAlso => Mini::Truth(a && b),
        Or | OrElse => Mini::Truth(a || b),
        Xor => Mini::Truth(a != b),
        _ => mini_compare(op, &a, &b),
    }
}

fn mini_compare<T: Ord>(op: BinaryOp, a: &T, b: &T) -> Mini {
    use BinaryOp::*;
    match op {
        Eq => Mini::Truth(a == b),
        Ne => Mini::Truth(a != b),
        Lt => Mini::Truth(a < b),
        Le => Mini::Truth(a <= b),
        Gt => Mini::Truth(a > b),
        Ge => Mini::Truth(a >= b),
        _ => Mini::No,
    }
}

/// Returns whether anything in a type is not known.
pub(super) fn has_var(ty: &Ty) -> bool {
    let unknown = |len: &Len| matches!(len, Len::Var(_));
    match ty {
        Ty::Var(_) => true,
        Ty::Bool | Ty::Float(_) | Ty::Error => false,
        Ty::Int(_, width) => unknown(width),
        Ty::Fixed(int, frac) => unknown(int) || unknown(frac),
        Ty::Tuple(parts) => parts.iter().any(has_var),
        Ty::Array(element, len) => unknown(len) || has_var(element),
        Ty::Adt(_, args) => args.iter().any(|arg| match arg {
            Arg::Ty(ty) => has_var(ty),
            Arg::Const(len) => unknown(len),
        }),
    }
}
