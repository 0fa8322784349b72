//! What the names of items mean.

use crate::ids::{AdtId, AliasId, ConstId, FnId, ModuleId};

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// A module.
    Module(ModuleId),
    /// A structure or an enumeration.
    Adt(AdtId),
    /// A variant of an enumeration.
    Variant(AdtId, usize),
    /// A function.
    Fn(FnId),
    /// A constant.
    Const(ConstId),
    /// Another name of a type.
    Alias(AliasId),
}
