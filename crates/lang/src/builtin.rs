//! Names that the language reserves. A definition of such a name would never be found, so it is
//! refused.

use crate::ast::BinaryOp;
use crate::def::Def;
use crate::ty::{MAX_WIDTH, Precision};

/// How many parties there are.
pub const PARTIES: &str = "PARTIES";

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `assert`.
    Assert,
    /// `assert!`.
    AssertMacro,
    /// `assert_eq!`, `assert_ne!`: what must hold.
    AssertOrder(BinaryOp),
    /// `zero`.
    Zero,
    /// `clog2`.
    Clog2,
}

/// Returns the built-in function of this name.
pub fn function(name: &str) -> Option<Function> {
    Some(match name {
        "assert" => Function::Assert,
        "assert!" => Function::AssertMacro,
        "assert_eq!" => Function::AssertOrder(BinaryOp::Eq),
        "assert_ne!" => Function::AssertOrder(BinaryOp::Ne),
        "zero" => Function::Zero,
        "clog2" => Function::Clog2,
        _ => return None,
    })
}

/// A built-in type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `usize`.
    Size,
    /// `f32`, `f64`.
    Float(Precision),
    /// `u<W>`, `i<W>`: whether it is signed.
    Int(bool),
    /// `u8`, `i8`: whether it is signed, and the width.
    Exact(bool, u64),
    /// `fixed<I, F>`.
    Fixed,
}

/// Returns the built-in type of this name.
pub fn ty(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "usize" => Type::Size,
        "f32" => Type::Float(Precision::Single),
        "f64" => Type::Float(Precision::Double),
        "u" => Type::Int(false),
        "i" => Type::Int(true),
        "fixed" => Type::Fixed,
        _ => {
            let digits = name.strip_prefix(['u', 'i'])?;
            let leading = digits.len() > 1 && digits.starts_with('0');
            if leading || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            // A width with too many digits for a number is wider than any integer.
            Type::Exact(name.starts_with('i'), digits.parse().unwrap_or(MAX_WIDTH + 1))
        }
    })
}

/// Returns whether the language reserves this name for definitions of this kind.
pub fn takes(name: &str, def: Def) -> bool {
    match def {
        Def::Fn(_) => function(name).is_some(),
        Def::Adt(_) | Def::Alias(_) => ty(name).is_some(),
        Def::Const(_) => name == PARTIES,
        Def::Module(_) | Def::Variant(..) => false,
    }
}

/// The attributes of functions, `#[name]`.
pub const FUNCTION_ATTRIBUTES: [&str; 5] = ["component", "inline", "checked", "test", "allow"];

/// The attributes of files, `#![name]`.
pub const FILE_ATTRIBUTES: [&str; 2] = ["checked", "allow"];
