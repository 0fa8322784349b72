//! Whether a loop's variable is in types, lengths or bounds of slices, so that the loop must be
//! checked round by round.

use std::collections::HashSet;

use crate::ast::*;

/// Returns whether `name` is in a type or a length in this block.
pub fn block_in_types(block: &Block, name: &str) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Let(_, ty, value) => {
            ty.as_ref().is_some_and(|ty| type_names(ty, name)) || expr_in_types(value, name)
        }
        Stmt::LetElse(bound) => {
            bound.ty.as_ref().is_some_and(|ty| type_names(ty, name))
                || expr_in_types(&bound.value, name)
                || block_in_types(&bound.otherwise, name)
        }
        Stmt::Const(decl) => {
            decl.ty.as_ref().is_some_and(|ty| type_names(ty, name))
                || decl.value.as_ref().is_some_and(|value| names(value, name))
        }
        Stmt::Expr(value) => expr_in_types(value, name),
        Stmt::Assign(place, _, value, _) => {
            expr_in_types(place, name) || expr_in_types(value, name)
        }
        Stmt::For(looped) => {
            let inner = match &looped.pattern.kind {
                PatternKind::Name(inner, _) => block_in_types(&looped.body, &inner.name),
                _ => false,
            };
            over_in_types(&looped.over, name, inner) || block_in_types(&looped.body, name)
        }
    }) || block.tail.as_ref().is_some_and(|tail| expr_in_types(tail, name))
}

/// Does the same for what a loop iterates over. The bounds of a loop that is checked round by round
/// are lengths, too.
fn over_in_types(over: &Expr, name: &str, by_rounds: bool) -> bool {
    match &over.kind {
        ExprKind::Range(low, high, _) if by_rounds => names(low, name) || names(high, name),
        ExprKind::Range(low, high, _) => expr_in_types(low, name) || expr_in_types(high, name),
        _ => expr_in_types(over, name),
    }
}

/// Returns whether `name` is in a type or a length in this expression.
pub fn expr_in_types(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Float(..) => false,
        ExprKind::Repeat(value, len) => expr_in_types(value, name) || names(len, name),
        ExprKind::Comprehension(body, _, over) => {
            over_in_types(over, name, true) || expr_in_types(body, name)
        }
        ExprKind::Cast(value, ty) => expr_in_types(value, name) || type_names(ty, name),
        ExprKind::Call(callee, args, values) => {
            args.iter().any(|arg| arg_names(arg, name))
                || expr_in_types(callee, name)
                || values.iter().any(|value| expr_in_types(value, name))
        }
        ExprKind::Index(value, index) => {
            let slice = match &index.kind {
                ExprKind::Range(low, high, _) => names(low, name) || names(high, name),
                _ => expr_in_types(index, name),
            };
            slice || expr_in_types(value, name)
        }
        // A range as a value is an array as long as the bounds say.
        ExprKind::Range(low, high, _) => names(low, name) || names(high, name),
        ExprKind::If(branch) => {
            expr_in_types(&branch.condition, name)
                || branch.guard.as_ref().is_some_and(|guard| expr_in_types(guard, name))
                || block_in_types(&branch.then, name)
                || branch.otherwise.as_ref().is_some_and(|other| expr_in_types(other, name))
        }
        ExprKind::Match(value, arms) => {
            expr_in_types(value, name)
                || arms.iter().any(|arm| {
                    expr_in_types(&arm.body, name)
                        || arm.guard.as_ref().is_some_and(|guard| expr_in_types(guard, name))
                })
        }
        ExprKind::Block(block) => block_in_types(block, name),
        _ => parts(expr).into_iter().any(|part| expr_in_types(part, name)),
    }
}

/// Returns whether `name` occurs anywhere in this expression.
pub fn names(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Path(path, _) => path.parts.len() == 1 && &*path.parts[0].name == name,
        ExprKind::Cast(value, ty) => names(value, name) || type_names(ty, name),
        // Forms that are rare in a length count as naming it: checking round by round is always
        // right.
        ExprKind::If(_) | ExprKind::Match(..) | ExprKind::Block(_) => true,
        ExprKind::Call(callee, args, values) => {
            args.iter().any(|arg| arg_names(arg, name))
                || names(callee, name)
                || values.iter().any(|value| names(value, name))
        }
        _ => parts(expr).into_iter().any(|part| names(part, name)),
    }
}

/// Returns the names in an expression, or `None` if it has forms that are rare in a length.
pub fn all_names(expr: &Expr) -> Option<HashSet<&str>> {
    let mut found = HashSet::new();
    collect(expr, &mut found).then_some(found)
}

/// Adds the names in an expression; returns whether these are all.
fn collect<'e>(expr: &'e Expr, found: &mut HashSet<&'e str>) -> bool {
    match &expr.kind {
        ExprKind::Path(path, _) => {
            if let [only] = &path.parts[..] {
                found.insert(&only.name);
            }
            true
        }
        ExprKind::Cast(value, ty) => collect(value, found) && collect_type(ty, found),
        ExprKind::If(_) | ExprKind::Match(..) | ExprKind::Block(_) => false,
        ExprKind::Struct(_, fields, base) => {
            fields.iter().all(|(name, value)| match value {
                Some(value) => collect(value, found),
                None => {
                    found.insert(&name.name);
                    true
                }
            }) && base.as_ref().is_none_or(|base| collect(base, found))
        }
        ExprKind::Call(callee, args, values) => {
            args.iter().all(|arg| collect_arg(arg, found))
                && collect(callee, found)
                && values.iter().all(|value| collect(value, found))
        }
        _ => parts(expr).into_iter().all(|part| collect(part, found)),
    }
}

fn collect_type<'e>(ty: &'e Type, found: &mut HashSet<&'e str>) -> bool {
    match &ty.kind {
        TypeKind::Path(_, args) => args.iter().all(|arg| collect_arg(arg, found)),
        TypeKind::Array(element, len) => collect_type(element, found) && collect(len, found),
        TypeKind::Tuple(parts) => parts.iter().all(|part| collect_type(part, found)),
    }
}

fn collect_arg<'e>(arg: &'e Arg, found: &mut HashSet<&'e str>) -> bool {
    match arg {
        Arg::Type(ty) => collect_type(ty, found),
        Arg::Expr(expr) => collect(expr, found),
    }
}

fn type_names(ty: &Type, name: &str) -> bool {
    match &ty.kind {
        TypeKind::Path(_, args) => args.iter().any(|arg| arg_names(arg, name)),
        TypeKind::Array(element, len) => type_names(element, name) || names(len, name),
        TypeKind::Tuple(parts) => parts.iter().any(|part| type_names(part, name)),
    }
}

fn arg_names(arg: &Arg, name: &str) -> bool {
    match arg {
        Arg::Type(ty) => type_names(ty, name),
        Arg::Expr(expr) => names(expr, name),
    }
}

/// Returns the expressions directly inside one.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Struct(_, fields, base) => {
            fields.iter().filter_map(|(_, value)| value.as_ref()).chain(base.as_deref()).collect()
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().collect(),
        ExprKind::Repeat(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::Range(a, b, _)
        | ExprKind::Comprehension(a, _, b) => vec![a, b],
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a, _)
        | ExprKind::Field(a, _)
        | ExprKind::TupleField(a, ..) => vec![a],
        ExprKind::Return(value) => value.as_deref().into_iter().collect(),
        ExprKind::Call(callee, _, values) => std::iter::once(&**callee).chain(values).collect(),
        _ => Vec::new(),
    }
}
