//! Types as a user writes them.

use std::cell::Cell;

use super::Cx;
use crate::ty::{Arg, Len, Ty};

/// At most this many parts of a type are shown, names counted by their letters: a type may hold
/// thousands of parts, and a message is read.
const MOST: usize = 256;

impl Cx<'_> {
    /// Returns a type as a user writes it, `…` in place of what is too long.
    pub fn show(&self, ty: &Ty, var: &dyn Fn(u32) -> &'static str) -> String {
        self.show_part(ty, var, &Cell::new(MOST))
    }

    /// Shows a part of a type, if there is something `left` of [`MOST`].
    fn show_part(&self, ty: &Ty, var: &dyn Fn(u32) -> &'static str, left: &Cell<usize>) -> String {
        let spend = |count: usize| left.set(left.get().saturating_sub(count));
        if left.get() == 0 {
            return "…".into();
        }
        spend(1);
        let len = |len: &Len| match len {
            Len::Known(n) => n.to_string(),
            Len::Var(_) => "_".to_string(),
        };
        let part = |part: &Ty| self.show_part(part, var, left);
        match ty {
            Ty::Bool => "bool".into(),
            Ty::Int(signed, width) => {
                let letter = if *signed { 'i' } else { 'u' };
                match width {
                    Len::Known(n) => format!("{letter}{n}"),
                    Len::Var(_) => format!("{letter}<_>"),
                }
            }
            Ty::Fixed(int, frac) => format!("fixed<{}, {}>", len(int), len(frac)),
            Ty::Float(precision) => precision.name().into(),
            Ty::Tuple(parts) if parts.len() == 1 => format!("({},)", part(&parts[0])),
            Ty::Tuple(parts) => format!("({})", show_list(parts, left, part)),
            Ty::Array(element, n) => format!("[{}; {}]", part(element), len(n)),
            Ty::Adt(adt, args) => {
                let name = &self.program.adts[*adt].name().name;
                spend(name.len());
                if args.is_empty() {
                    return name.to_string();
                }
                let arg = |arg: &Arg| match arg {
                    Arg::Ty(ty) => part(ty),
                    Arg::Const(n) => len(n),
                };
                format!("{name}<{}>", show_list(args, left, arg))
            }
            Ty::Var(number) => var(*number).into(),
            Ty::Error => "an error".into(),
        }
    }
}

/// Shows a list of parts, up to the first one for which nothing is left.
fn show_list<T>(parts: &[T], left: &Cell<usize>, one: impl Fn(&T) -> String) -> String {
    let mut shown = Vec::new();
    for part in parts {
        if left.get() == 0 {
            shown.push("…".to_string());
            break;
        }
        shown.push(one(part));
    }
    shown.join(", ")
}
