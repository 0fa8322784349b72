//! Types and constants as written become types and numbers.

use std::rc::Rc;

use super::unknown::{Env, Pending, VarKind};
use super::{Binding, FnCx};
use crate::ast::{self, BinaryOp, ExprKind, GenericKind, Name, TypeKind, UnaryOp};
use crate::def::Def;
use crate::diag::Code;
use crate::source::Span;
use crate::ty::{Arg, Len, MAX_WIDTH, Precision, Ty};
use crate::value::Value;

/// What the quick evaluator says.
pub(super) enum Mini {
    /// The value, exact; `bool` is 0 or 1.
    Value(i128),
    /// It depends on something not yet known.
    Wait,
    /// It takes the whole evaluator.
    No,
}

/// A suffix of `u` or `i`.
pub(super) fn integer_name(name: &str) -> Option<(bool, u64)> {
    let signed = name.starts_with('i');
    let digits = name.strip_prefix(['u', 'i'])?;
    if digits.is_empty() || digits.starts_with('0') && digits.len() > 1 {
        return None;
    }
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    Some((signed, digits.parse().unwrap_or(u64::MAX)))
}

impl FnCx<'_, '_> {
    pub(super) fn own_env(&self) -> Env {
        Env { module: self.module, args: self.generics.clone(), own: true }
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
            match (&*only.name, args) {
                ("bool", []) => return Ty::Bool,
                ("usize", []) => return Ty::size(),
                ("_", []) => return self.any(),
                ("f32", []) => return Ty::Float(Precision::Single),
                ("f64", []) => return Ty::Float(Precision::Double),
                ("u" | "i", [width]) => {
                    let width = self.convert_const(width, env);
                    let width = self.width(width, path.span, MAX_WIDTH);
                    return Ty::Int(&*only.name == "i", width);
                }
                ("fixed", [int, frac]) => {
                    let int = self.convert_const(int, env);
                    let frac = self.convert_const(frac, env);
                    let most = MAX_WIDTH / 2;
                    let int = self.width(int, path.span, most);
                    return Ty::Fixed(int, self.width(frac, path.span, most));
                }
                ("unsigned", [of]) if self.cx.program.is_std(env.module) => {
                    let of = self.convert_ty_arg(of, env);
                    let var = self.any();
                    if let Ty::Var(number) = var {
                        self.pending.push(Pending::Unsigned(of, number));
                    }
                    return var;
                }
                (name, []) => {
                    if let Some((signed, width)) = integer_name(name) {
                        let width = self.width(Len::Known(width), path.span, MAX_WIDTH);
                        return Ty::Int(signed, width);
                    }
                    match env.get(name) {
                        Some(Arg::Ty(ty)) => return ty.clone(),
                        Some(Arg::Const(_)) => {
                            let message = format!("`{name}` is a constant, not a type");
                            self.error(Code::Type, path.span, message);
                            return Ty::Error;
                        }
                        None => {}
                    }
                }
                _ => {}
            }
        }
        match self.cx.program.resolve(env.module, &path.parts, &mut self.cx.errors) {
            Some(Def::Adt(adt)) => self.convert_adt(adt, path.span, args, env),
            Some(Def::Alias(alias)) => {
                let (module, ty) = self.cx.program.aliases[alias].clone();
                self.alias_depth += 1;
                if self.alias_depth > 64 {
                    self.alias_depth = 0;
                    self.error(Code::Type, path.span, "this type is an alias of itself");
                    return Ty::Error;
                }
                let env = Env { module, args: Rc::new(Vec::new()), own: false };
                let ty = self.convert(&ty, &env);
                self.alias_depth = self.alias_depth.saturating_sub(1);
                ty
            }
            Some(_) => {
                self.error(Code::Type, path.span, "this is not a type");
                Ty::Error
            }
            None => {
                self.unknown(path, "type");
                Ty::Error
            }
        }
    }

    fn convert_adt(&mut self, adt: usize, span: Span, args: &[ast::Arg], env: &Env) -> Ty {
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
        let args = generics.iter().zip(args);
        Ty::Adt(adt, args.map(|(generic, arg)| self.convert_arg(generic, arg, env)).collect())
    }

    /// An argument for a generic parameter.
    pub(super) fn convert_arg(&mut self, generic: &ast::Generic, arg: &ast::Arg, env: &Env) -> Arg {
        match generic.kind {
            GenericKind::Type(_) => Arg::Ty(self.convert_ty_arg(arg, env)),
            GenericKind::Const(_) => Arg::Const(self.convert_const(arg, env)),
        }
    }

    /// Unknown arguments for generic parameters.
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

    fn convert_const(&mut self, arg: &ast::Arg, env: &Env) -> Len {
        match arg {
            ast::Arg::Expr(expr) => self.convert_len(expr, env),
            ast::Arg::Type(ty) => {
                self.error(Code::Constant, ty.span, "expected a constant, found a type");
                Len::Known(1)
            }
        }
    }

    /// A constant in a type: a parameter that stands alone can be inferred, the rest is worked out.
    pub(super) fn convert_len(&mut self, expr: &ast::Expr, env: &Env) -> Len {
        if let ExprKind::Path(path, _) = &expr.kind
            && let [only] = &path.parts[..]
        {
            if &*only.name == "_" {
                return Len::Var(self.fresh_len());
            }
            if let Some(Arg::Const(len)) = env.get(&only.name) {
                return *len;
            }
        }
        match self.mini(expr, env) {
            Mini::Value(value) => Len::Known(u64::try_from(value).unwrap_or(0)),
            Mini::Wait => {
                let var = self.fresh_len();
                self.pending.push(Pending::Len(expr.clone(), env.clone(), var));
                Len::Var(var)
            }
            Mini::No => Len::Known(self.const_size(expr, env)),
        }
    }

    /// A constant of type `usize`, by the whole evaluator.
    pub(super) fn const_size(&mut self, expr: &ast::Expr, env: &Env) -> u64 {
        match self.const_value(expr, Some(&Ty::size()), env) {
            Some((_, Value::Int(value))) => u64::try_from(&value).unwrap_or(0),
            _ => 0,
        }
    }

    /// A constant, by the whole evaluator; its type, and its value. Errors are reported.
    pub(super) fn const_value(
        &mut self,
        expr: &ast::Expr,
        expected: Option<&Ty>,
        env: &Env,
    ) -> Option<(Ty, Value)> {
        let args: Vec<(Name, Arg)> =
            env.args.iter().map(|(name, arg)| (name.clone(), self.resolve_arg(arg))).collect();
        let scope: Vec<(Name, Binding)> = if env.own {
            let constant = |entry: &&(Name, Binding)| matches!(entry.1, Binding::Const(..));
            self.scope.iter().filter(constant).cloned().collect()
        } else {
            Vec::new()
        };
        let expected = expected.map(|ty| self.resolve(ty));
        self.cx.evaluate(expr, expected, env.module, args, scope)
    }

    /// Evaluates what lengths are mostly made of, exactly as the language does while all values are
    /// of `usize`.
    pub(super) fn mini(&mut self, expr: &ast::Expr, env: &Env) -> Mini {
        const TOP: i128 = u32::MAX as i128;
        let value = match &expr.kind {
            ExprKind::Int(value, None) => i128::try_from(value).ok(),
            ExprKind::Bool(value) => Some(i128::from(*value)),
            ExprKind::Path(path, args) if args.is_empty() => return self.mini_path(path, env),
            ExprKind::Unary(UnaryOp::Not, operand) => match self.mini(operand, env) {
                Mini::Value(value) if self.is_truth(operand) => Some(1 - value),
                Mini::Wait => return Mini::Wait,
                _ => None,
            },
            ExprKind::Binary(op, a, b) => {
                let a = match self.mini(a, env) {
                    Mini::Value(a) => a,
                    other => return other,
                };
                match (op, a) {
                    (BinaryOp::AndAlso, 0) => return Mini::Value(0),
                    (BinaryOp::OrElse, 1) => return Mini::Value(1),
                    _ => {}
                }
                let b = match self.mini(b, env) {
                    Mini::Value(b) => b,
                    other => return other,
                };
                mini_op(*op, a, b)
            }
            ExprKind::Call(callee, _, values) => match (&callee.kind, &values[..]) {
                (ExprKind::Path(path, _), [n])
                    if path.parts.len() == 1 && &*path.parts[0].name == "clog2" =>
                {
                    match self.mini(n, env) {
                        Mini::Value(n) => {
                            u64::try_from(n).ok().map(|n| i128::from(crate::ty::clog2(n)))
                        }
                        other => return other,
                    }
                }
                _ => return self.mini_args_known(env),
            },
            _ => return self.mini_args_known(env),
        };
        match value {
            Some(value) if (0..=TOP).contains(&value) => Mini::Value(value),
            _ => self.mini_args_known(env),
        }
    }

    /// The whole evaluator needs all parameters.
    fn mini_args_known(&self, env: &Env) -> Mini {
        let unknown = env.args.iter().any(|(_, arg)| match arg {
            Arg::Ty(ty) => has_var(&self.resolve(ty)),
            Arg::Const(len) => matches!(self.len(*len), Len::Var(_)),
        });
        if unknown { Mini::Wait } else { Mini::No }
    }

    fn is_truth(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Bool(_) => true,
            ExprKind::Unary(UnaryOp::Not, inner) => self.is_truth(inner),
            ExprKind::Binary(op, ..) => op.power() <= 3,
            _ => false,
        }
    }

    fn mini_path(&mut self, path: &ast::Path, env: &Env) -> Mini {
        if let [only] = &path.parts[..] {
            if env.own
                && let Some((_, binding)) =
                    self.scope.iter().rev().find(|(name, _)| *name == only.name)
            {
                return match binding {
                    Binding::Const(ty, value) if *ty == Ty::size() || *ty == Ty::Bool => {
                        mini_value(value)
                    }
                    _ => Mini::No,
                };
            }
            match env.get(&only.name) {
                Some(Arg::Const(len)) => {
                    return match self.len(*len) {
                        Len::Known(n) => Mini::Value(i128::from(n)),
                        Len::Var(_) => Mini::Wait,
                    };
                }
                Some(Arg::Ty(_)) => return Mini::No,
                None => {}
            }
            if &*only.name == "PARTIES" {
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

    /// A constant parameter or a parameter's type as an expression's type.
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
        Value::Bool(value) => Mini::Value(i128::from(*value)),
        _ => Mini::No,
    }
}

fn mini_op(op: BinaryOp, a: i128, b: i128) -> Option<i128> {
    use BinaryOp::*;
    let truth = |holds: bool| Some(i128::from(holds));
    match op {
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
        Eq => truth(a == b),
        Ne => truth(a != b),
        Lt => truth(a < b),
        Le => truth(a <= b),
        Gt => truth(a > b),
        Ge => truth(a >= b),
        AndAlso => truth(a != 0 && b != 0),
        OrElse => truth(a != 0 || b != 0),
        _ => None,
    }
}

/// Whether anything in a type is not known.
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
