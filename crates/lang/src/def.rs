//! What the names of items mean.

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// A module.
    Module(usize),
    /// A structure or an enumeration.
    Adt(usize),
    /// A variant of an enumeration.
    Variant(usize, usize),
    /// A function.
    Fn(usize),
    /// A constant.
    Const(usize),
    /// Another name of a type.
    Alias(usize),
}
