//! Functions with all types known, which are interpreted and lowered.

use std::rc::Rc;

use num_bigint::BigInt;

use crate::ast::{BinaryOp, Name, UnaryOp};
use crate::ids::{ExprId, InstanceId, Table};
use crate::source::Span;
use crate::ty::{Shapes, TyId};
use crate::value::Value;

/// A place in [`Instance::types`].
pub type TyRef = u32;

/// A place in [`Instance::locals`].
pub type Local = u32;

/// Functions call each other at most this deep.
pub const MAX_DEPTH: u32 = 256;

/// Expressions that are checked, computed or written nest at most this deep, through all calls and
/// constants: each takes a part of the thread's stack.
pub const MAX_DEEP: u32 = 1 << 15;

/// What the error says about expressions that nest deeper.
pub const TOO_DEEP: &str = "expressions nest more than 2^15 deep, calls and constants included";

/// A function with its types and const arguments.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The name with its arguments.
    pub name: String,
    /// The parameters.
    pub params: Vec<Local>,
    /// All variables: names and types.
    pub locals: Vec<(Name, TyRef)>,
    /// The type of its result.
    pub result: TyRef,
    /// Its body.
    pub body: Expr,
    /// The types that expressions name by place.
    pub types: Vec<TyId>,
    /// The functions that calls name by place.
    pub calls: Vec<InstanceId>,
    /// Whether it is marked with `#[component]`.
    pub component: bool,
    /// Whether it is marked with `#[inline]`.
    pub inline: bool,
    /// Whether its conversions to fewer bits are checked, or allowed.
    pub may_narrow: bool,
    /// The place of its name.
    pub span: Span,
}

/// A program ready to run.
#[derive(Debug, Default)]
pub struct Tir {
    /// All instances, in the order they were met; one is missing where its check failed.
    pub instances: Table<InstanceId, Option<Rc<Instance>>>,
    /// The shapes of types.
    pub shapes: Shapes,
    /// The texts of asserts, with their places; [`Kind::Assert`] names them.
    pub asserts: Vec<(String, Span)>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Which it is; a copy has the same id.
    pub id: ExprId,
    /// What it is.
    pub kind: Kind,
    /// Its type.
    pub ty: TyRef,
    /// Whether it is a constant by the language's rules: made of literals, constants, const
    /// parameters and loop variables over constants.
    pub constant: bool,
    /// Its place.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A literal integer.
    Int(BigInt),
    /// A literal fraction: its digits.
    Fraction(Rc<str>),
    /// Any other constant.
    Const(Rc<Value>),
    /// A variable.
    Local(Local),
    /// An operator.
    Unary(UnaryOp, Box<Expr>),
    /// An operator; `&&` and `||` are [`Kind::If`].
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `as`.
    Cast(Box<Expr>),
    /// A tuple, a structure or an array of these parts.
    Aggregate(Vec<Expr>),
    /// An array of one value, as often as its type says.
    Repeat(Box<Expr>),
    /// A variant with its payload.
    Variant(usize, Vec<Expr>),
    /// A part of a tuple or a structure.
    Field(Box<Expr>, usize),
    /// An element.
    Index(Box<Expr>, Box<Expr>),
    /// Elements from this one on, as many as the type says.
    Slice(Box<Expr>, u64),
    /// A call of one of [`Instance::calls`].
    Call(usize, Vec<Expr>),
    /// Something the language itself cannot express.
    Intrinsic(Intrinsic, Vec<Expr>),
    /// A choice.
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// A choice by patterns, which cover all values.
    Match(Box<Expr>, Vec<Arm>),
    /// Statements and a value.
    Block(Vec<Stmt>, Option<Box<Expr>>),
    /// An array, one element for each of another.
    Comprehension(Box<Pattern>, Box<Over>, Box<Expr>),
    /// Fails, unless the condition holds, with one of [`Tir::asserts`].
    Assert(Box<Expr>, u32),
    /// The payload of `Some`; fails for `None`.
    Expect(Box<Expr>, u32),
    /// Leaves the function.
    Return(Box<Expr>),
    /// Leaves the loop.
    Break,
    /// Goes to the next round of the loop.
    Continue,
}

/// What the language itself cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intrinsic {
    /// Zero bits.
    Zero,
    /// The bits of a value, as an array of `bool`.
    ToBits,
    /// The value of bits.
    FromBits,
    /// The sum of an array, as wide as the result.
    Sum,
    /// How many of an array of `bool` hold.
    Count,
    /// A product as wide as both factors.
    MulWide,
    /// Quotient and remainder.
    DivRem,
    /// `⌈log₂ n⌉` of a constant.
    Clog2,
    /// The absolute difference of two integers, unsigned.
    AbsDiff,
    /// The square root: of an integer rounded down, of a floating-point number to the nearest.
    Sqrt,
    /// Whether the result of an operation fits.
    Fits(Fits),
    /// Whether a condition may hold: a secret one may, of which nothing is computed then. Only
    /// where the result is the same for both.
    MayHold,
    /// Whether one value comes before another in the total order, which sorts use.
    Before,
    /// An operator of floating-point numbers without subnormal ones.
    Fast(BinaryOp),
    /// The square root likewise.
    FastSqrt,
}

/// An operation that may give what does not fit in its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fits {
    /// An operator, of its operands.
    Binary(BinaryOp),
    /// `-`, of the number and the result.
    Neg,
    /// `as`, of the number and the result; a fraction that is cut off fits.
    Cast,
    /// An index, in an array of this length.
    Index(u64),
}

/// What a loop goes over.
#[derive(Clone, Debug)]
pub enum Over {
    /// From, to, and whether the last one is included; both constants.
    Range(Expr, Expr, bool),
    /// The elements of an array.
    Array(Expr),
    /// A round for each of these, which replace the loop's body.
    Rounds(Vec<Expr>),
}

/// One case.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// The condition.
    pub guard: Option<Expr>,
    /// The value.
    pub body: Expr,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Binds names.
    Let(Pattern, Expr),
    /// Computes, for what it changes or asserts.
    Expr(Expr),
    /// Changes a variable or a part of it, by an operator or to the value.
    Assign(Place, Option<BinaryOp>, Expr),
    /// A loop, and whether what it calls is written out.
    For(Box<Pattern>, Box<Over>, Box<Expr>, bool),
}

/// A variable or a part of it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub local: Local,
    /// The way to the part, with the type of each part on it.
    pub path: Vec<(Step, TyRef)>,
    /// Its place.
    pub span: Span,
}

/// One step from a value to a part of it.
#[derive(Clone, Debug)]
pub enum Step {
    /// Into a tuple or a structure.
    Field(usize),
    /// Into an array.
    Index(Expr),
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// The type of the value that it is matched with.
    pub ty: TyRef,
    /// Its place.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// Anything.
    Any,
    /// Anything, which gets a name.
    Bind(Local),
    /// From this integer (or `bool`) to that one, both included.
    Range(BigInt, BigInt),
    /// Any of the parts of a tuple or a structure.
    Tuple(Vec<Pattern>),
    /// A variant and its payload.
    Variant(usize, Vec<Pattern>),
    /// One of these.
    Or(Vec<Pattern>),
}
