//! What the check of a function does not know yet, and what it must verify in the end.

use std::rc::Rc;

use crate::ast::{self, Name};
use crate::ids::ModuleId;
use crate::ty::{Arg, Ty};

/// A generic parameter and its argument.
#[derive(Clone)]
pub(super) struct Param {
    pub name: Name,
    pub arg: Arg,
    /// The type that a const parameter is declared with; of a type parameter nothing.
    pub ty: Ty,
}

/// What an unknown type may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VarKind {
    /// Anything.
    Any,
    /// The type of an untyped integer: a number; `usize` if nothing says which.
    Int,
    /// The type of an untyped fraction.
    Fraction,
}

/// Where names of types and constants are looked up.
#[derive(Clone)]
pub(super) struct Env {
    /// The module.
    pub module: ModuleId,
    /// Generic parameters and their arguments.
    pub args: Rc<Vec<Param>>,
    /// Whether it is the function's own, which also sees the constants in scope.
    pub own: bool,
}

impl Env {
    pub(super) fn get(&self, name: &str) -> Option<&Arg> {
        self.param(name).map(|param| &param.arg)
    }

    pub(super) fn param(&self, name: &str) -> Option<&Param> {
        self.args.iter().find(|param| &*param.name == name)
    }
}

/// What is found out later.
#[derive(Clone)]
pub(super) enum Pending {
    /// The constant is the value of the expression, which has this type.
    Len(ast::Expr, Env, u32, Ty),
    /// The type is the unsigned integer as wide as another.
    Unsigned(Ty, u32),
}

/// What must hold at the end.
pub(super) enum Check {
    /// A number.
    Num,
    /// A number that has remainders.
    Remainder,
    /// An integer.
    Int,
    /// A signed number.
    Signed,
    /// `bool`, an integer, or an array of these.
    Bits,
    /// An array that does not end before this place.
    Slice(u64),
    /// A cast from the first to the second.
    Cast(Ty),
    /// A literal fraction of these digits. If it is negated, its `Signed` comes next.
    Fraction(String),
    /// A literal of this value. If it is negated, its `Signed` comes next.
    Literal(num_bigint::BigInt),
}
