//! The syntax tree. Every node knows its place; names are resolved later.

use std::sync::Arc;

use num_bigint::BigInt;

use crate::source::Span;

/// The text of a name.
pub type Name = Arc<str>;

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The text.
    pub name: Name,
    /// The place.
    pub span: Span,
}

/// `a::b::c`.
#[derive(Clone, Debug)]
pub struct Path {
    /// The parts, at least one.
    pub parts: Vec<Ident>,
    /// The whole.
    pub span: Span,
}

impl Path {
    /// Returns whether it is this name alone.
    pub fn is(&self, name: &str) -> bool {
        matches!(&self.parts[..], [only] if &*only.name == name)
    }
}

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    /// `#![name]` at its top.
    pub attributes: Vec<Attribute>,
    /// What it defines.
    pub items: Vec<Item>,
}

/// `#[name]`, `#[name(key, other)]` or `#[name(key = "text")]`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// `component`.
    pub name: Ident,
    /// The keys in the parentheses.
    pub keys: Vec<Ident>,
    /// The text after `=`.
    pub text: Option<String>,
}

impl Attribute {
    /// Returns whether it is `allow(lint)`.
    pub fn allows(&self, lint: &str) -> bool {
        &*self.name.name == "allow" && self.keys.iter().any(|key| &*key.name == lint)
    }
}

/// One item of a file.
#[derive(Clone, Debug)]
pub struct Item {
    /// Whether it is marked `pub`.
    pub public: bool,
    /// What it is.
    pub kind: ItemKind,
    /// The place.
    pub span: Span,
}

/// The kinds of items.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `use path;` or `use path::{a, b};`: the path and the names taken from it.
    Use(Path, Option<Vec<Ident>>),
    /// `const NAME: type = expr;`
    Const(Arc<ConstDecl>),
    /// `type NAME = type;`
    Alias(Ident, Arc<Type>),
    /// `struct NAME<…> { … }`
    Struct(Arc<StructDecl>),
    /// `enum NAME<…> { … }`
    Enum(Arc<EnumDecl>),
    /// `impl<…> type { … }`
    Impl(Vec<Generic>, Type, Vec<Arc<FnDecl>>),
    /// `fn name…`
    Fn(Arc<FnDecl>),
    /// `parties a, b;`
    Parties(Vec<Ident>),
}

/// A constant.
#[derive(Clone, Debug)]
pub struct ConstDecl {
    /// Its name.
    pub name: Ident,
    /// Its type, `usize` if absent and the value is an untyped literal.
    pub ty: Option<Type>,
    /// Its value; a `pub const` of the main file may have none.
    pub value: Option<Expr>,
}

/// A type or const parameter.
#[derive(Clone, Debug)]
pub struct Generic {
    /// Its name.
    pub name: Ident,
    /// What it is.
    pub kind: GenericKind,
}

/// The two kinds of parameters.
#[derive(Clone, Debug)]
pub enum GenericKind {
    /// `T` or `T: Num`.
    Type(Option<Ident>),
    /// `const N: usize`.
    Const(Type),
}

/// A structure.
#[derive(Clone, Debug)]
pub struct StructDecl {
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub generics: Vec<Generic>,
    /// Its fields.
    pub fields: Vec<(Ident, Type)>,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub generics: Vec<Generic>,
    /// Its variants.
    pub variants: Vec<Variant>,
}

/// A variant of an enumeration.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: Ident,
    /// What it carries.
    pub payload: Vec<Type>,
    /// The names of what it carries; none in `A(u8)`.
    pub fields: Vec<Ident>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct FnDecl {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Ident,
    /// Its parameters between `<` and `>`.
    pub generics: Vec<Generic>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its result.
    pub result: ResultDecl,
    /// Its body.
    pub body: Block,
}

impl FnDecl {
    /// Returns the attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| &*attribute.name.name == name)
    }

    /// Returns whether it is marked `#[allow(lint)]`.
    pub fn allows(&self, lint: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.allows(lint))
    }

    /// Returns whether its parameters name owners or its results name receivers.
    pub fn is_entry(&self) -> bool {
        self.params.iter().any(|param| param.owner.is_some())
            || matches!(self.result, ResultDecl::Ports(_))
    }
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Whether it can be assigned to.
    pub mutable: bool,
    /// Its name; `self` for a method's own.
    pub name: Ident,
    /// Its type; none for `self`.
    pub ty: Option<Type>,
    /// Its owner.
    pub owner: Option<Owner>,
}

impl Param {
    /// Returns whether every party has an element of it as an input.
    pub fn is_of_each(&self) -> bool {
        matches!(self.owner, Some(Owner::Each(_)))
    }
}

/// The owner of an input.
#[derive(Clone, Debug)]
pub enum Owner {
    /// A number or a name.
    Party(Party),
    /// Element i is party i's.
    Each(Span),
    /// The XOR of all parties' shares.
    Share(Span),
    /// Element i is that of client i, who is no party; or the party of this name, if there is one.
    Clients(Ident),
}

/// A party, by number or name.
#[derive(Clone, Debug)]
pub enum Party {
    /// `0`
    Number(u64, Span),
    /// `bank`
    Name(Ident),
}

/// The result of a function.
#[derive(Clone, Debug)]
pub enum ResultDecl {
    /// Nothing.
    Unit,
    /// A value.
    Type(Type),
    /// Named outputs with their receivers.
    Ports(Vec<(Ident, Type, Who)>),
}

/// Who learns an output.
#[derive(Clone, Debug)]
pub enum Who {
    /// These parties.
    Parties(Vec<Party>),
    /// Party i learns element i.
    Each(Span),
    /// Client i, who is no party, learns element i; or the party of this name, if there is one.
    Clients(Ident),
    /// Everybody.
    All,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// The place.
    pub span: Span,
}

/// The kinds of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `u8`, `Option<u8>`, `fixed<12, 20>`.
    Path(Path, Vec<Arg>),
    /// `[T; N]`.
    Array(Box<Type>, Box<Expr>),
    /// `(A, B)`.
    Tuple(Vec<Type>),
}

/// An argument between `<` and `>`.
#[derive(Clone, Debug)]
pub enum Arg {
    /// Certainly a type.
    Type(Type),
    /// A constant, or a lone name, which may be a type.
    Expr(Expr),
}

impl Arg {
    /// Returns the place.
    pub fn span(&self) -> Span {
        match self {
            Arg::Type(ty) => ty.span,
            Arg::Expr(expr) => expr.span,
        }
    }
}

/// `{ … }`.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// The value.
    pub tail: Option<Box<Expr>>,
    /// Whether its last statement, or its value, could not be read.
    pub cut: bool,
    /// The place.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `let pattern: type = expr;`
    Let(Pattern, Option<Type>, Expr),
    /// `let pattern: type = expr else { … };`
    LetElse(Box<LetElse>),
    /// `const NAME: type = expr;`
    Const(Arc<ConstDecl>),
    /// `expr;`
    Expr(Expr),
    /// `place = expr;` or `place += expr;`
    Assign(Expr, Option<BinaryOp>, Expr, Span),
    /// `for pattern in expr { … }`
    For(Arc<ForLoop>),
}

/// A binding that may fail.
#[derive(Clone, Debug)]
pub struct LetElse {
    /// What must match.
    pub pattern: Pattern,
    /// The type of the value.
    pub ty: Option<Type>,
    /// The value.
    pub value: Expr,
    /// What leaves the block otherwise.
    pub otherwise: Block,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct ForLoop {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// `'a`, the name by which an inner `break` or `continue` means it.
    pub label: Option<Ident>,
    /// What each element is bound to.
    pub pattern: Pattern,
    /// The elements.
    pub over: Expr,
    /// The body.
    pub body: Block,
    /// The place.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The place.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `7`, `7u5`.
    Int(BigInt, Option<Type>),
    /// `0.5`, `2e-3f64`: the digits without `_`, and the type.
    Float(String, Option<Type>),
    /// `true`.
    Bool(bool),
    /// `'a'`.
    Char(u8),
    /// `"text"`.
    Text(Vec<u8>),
    /// `a::b`, `f::<3>` before a call.
    Path(Path, Vec<Arg>),
    /// `P { x: 1, y }`, `P { x: 1, ..p }`.
    Struct(Path, Vec<(Ident, Option<Expr>)>, Option<Box<Expr>>),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `if …`.
    If(Box<If>),
    /// `match …`.
    Match(Box<Expr>, Vec<Arm>),
    /// `{ … }`.
    Block(Box<Block>),
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `[a; N]`.
    Repeat(Box<Expr>, Box<Expr>),
    /// `[a for p in b]`.
    Comprehension(Box<Expr>, Box<Pattern>, Box<Expr>),
    /// `-a`, `!a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a as u8`.
    Cast(Box<Expr>, Type),
    /// `a.b`.
    Field(Box<Expr>, Ident),
    /// `a.0`.
    TupleField(Box<Expr>, u64, Span),
    /// `f(a)`, `a.f(b)`.
    Call(Box<Expr>, Vec<Arg>, Vec<Expr>),
    /// `a[b]`.
    Index(Box<Expr>, Box<Expr>),
    /// `a..b`, `a..=b`.
    Range(Box<Expr>, Box<Expr>, bool),
    /// `return a`.
    Return(Option<Box<Expr>>),
    /// `break`, `break 'a`.
    Break(Option<Ident>),
    /// `continue`, `continue 'a`.
    Continue(Option<Ident>),
}

/// `if c { … } else { … }`, `if let p = c && d { … }`.
#[derive(Clone, Debug)]
pub struct If {
    /// The pattern of `if let`.
    pub pattern: Option<Pattern>,
    /// The condition, or what is matched.
    pub condition: Expr,
    /// What must also hold if the pattern matches.
    pub guard: Option<Expr>,
    /// The block to evaluate if the condition holds.
    pub then: Block,
    /// A block or another `if`.
    pub otherwise: Option<Expr>,
}

/// `p if g => e`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// The condition.
    pub guard: Option<Expr>,
    /// The value.
    pub body: Expr,
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// The place.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`.
    Any,
    /// `x`, `mut x`, or a constant or a variant without payload.
    Name(Ident, bool),
    /// `3`, `true`, `'a'`.
    Literal(Box<Expr>),
    /// `1..=3`: both ends, and whether the last is included.
    Range(Box<Expr>, Box<Expr>, bool),
    /// `(a, b)`.
    Tuple(Vec<Pattern>),
    /// `[a, b]`, `[a, .., b]`: where the `..` is that stands for any further elements.
    Array(Vec<Pattern>, Option<usize>),
    /// `Some(x)`, `Shape::Empty`.
    Variant(Path, Vec<Pattern>),
    /// `P { x, y: 3, .. }`.
    Struct(Path, Vec<(Ident, Option<Pattern>)>, bool),
    /// `a | b`.
    Or(Vec<Pattern>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    AndAlso,
    OrElse,
}

impl BinaryOp {
    /// Returns how tightly it binds, as in Rust.
    pub fn power(self) -> u8 {
        use BinaryOp::*;
        match self {
            Mul | Div | Rem => 9,
            Add | Sub => 8,
            Shl | Shr => 7,
            And => 6,
            Xor => 5,
            Or => 4,
            Eq | Ne | Lt | Le | Gt | Ge => 3,
            AndAlso => 2,
            OrElse => 1,
        }
    }

    /// Returns whether its work grows with pairs of the words of its numbers.
    pub fn multiplies(self) -> bool {
        matches!(self, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem)
    }

    /// Returns the operator as written.
    pub fn text(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            And => "&",
            Or => "|",
            Xor => "^",
            Shl => "<<",
            Shr => ">>",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            AndAlso => "&&",
            OrElse => "||",
        }
    }
}
