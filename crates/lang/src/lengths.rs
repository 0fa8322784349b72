//! What a program's text says of its inputs: whose length `--const` sets, and which are shared.

use crate::ast::{ExprKind, FnDecl, Item, ItemKind, Owner, Type, TypeKind};
use crate::compile::with_stack;
use crate::diag::Diagnostics;
use crate::parse::parse;

/// Returns the `pub const` of a program's main file that is the length of the list that an input of
/// the entry takes, by the input's name; `None` if its length is something else, or the input is no
/// list. An input that each party has is called `name.0` and so on.
pub fn length_constant(text: &str, entry: Option<&str>, input: &str) -> Option<String> {
    with_stack(|| {
        let items = parse(0, text, &mut Diagnostics::default()).items;
        let function = entry_of(&items, entry)?;
        let name = constant(&items, list_of(&items, function, input)?)?;
        let is_set = |item: &Item| match &item.kind {
            ItemKind::Const(known) => item.public && *known.name.name == *name,
            _ => false,
        };
        items.iter().any(is_set).then_some(name)
    })
    // It is for a hint, which nobody needs on a machine without a thread to spare.
    .unwrap_or(None)
}

/// Returns the inputs `from share` of a program's entry: each is the XOR of the inputs `name.0`,
/// `name.1`, …, one for each party.
pub fn shared_inputs(text: &str, entry: Option<&str>) -> Vec<String> {
    let names = with_stack(|| {
        let items = parse(0, text, &mut Diagnostics::default()).items;
        let params = entry_of(&items, entry).map_or(&[][..], |function| &function.params);
        let shared = params.iter().filter(|param| matches!(param.owner, Some(Owner::Share(_))));
        shared.map(|param| param.name.name.to_string()).collect()
    });
    // Without them, values are given share by share.
    names.unwrap_or_default()
}

/// Returns the function with this name, `main` by default.
fn entry_of<'a>(items: &'a [Item], entry: Option<&str>) -> Option<&'a FnDecl> {
    let entry = entry.unwrap_or("main");
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Fn(function) if *function.name.name == *entry => Some(&**function),
        _ => None,
    })
}

/// Returns the type of a value of an input.
fn list_of<'a>(items: &'a [Item], function: &'a FnDecl, input: &str) -> Option<&'a Type> {
    let named = |name: &str| {
        let param = function.params.iter().find(|param| *param.name.name == *name)?;
        param.ty.as_ref()
    };
    if let Some(ty) = named(input) {
        return Some(ty);
    }
    let (name, party) = input.rsplit_once('.')?;
    party.parse::<u16>().ok()?;
    let param = function.params.iter().find(|param| *param.name.name == *name)?;
    match &resolved(items, param.ty.as_ref()?).kind {
        TypeKind::Array(element, _) if param.is_of_each() => Some(element),
        _ => param.ty.as_ref(),
    }
}

/// Returns the constant that is the length of an array.
fn constant(items: &[Item], ty: &Type) -> Option<String> {
    let TypeKind::Array(_, length) = &resolved(items, ty).kind else { return None };
    match &length.kind {
        ExprKind::Path(path, args) if args.is_empty() => match &path.parts[..] {
            [name] => Some(name.name.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns what an alias without parameters stands for.
fn resolved<'a>(items: &'a [Item], ty: &'a Type) -> &'a Type {
    let mut ty = ty;
    // A circle of aliases is an error that others report.
    for _ in 0..8 {
        let TypeKind::Path(path, args) = &ty.kind else { return ty };
        let [name] = &path.parts[..] else { return ty };
        let alias = items.iter().find_map(|item| match &item.kind {
            ItemKind::Alias(known, ty) if known.name == name.name && args.is_empty() => Some(ty),
            _ => None,
        });
        match alias {
            Some(alias) => ty = alias,
            None => return ty,
        }
    }
    ty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_of_a_length_is_found() {
        let program = "pub const N = 4; pub const M = 2; const K = 3;\n\
            type Bids = [u8; M];\n\
            fn main(a: [u8; N] from 0, b: [[u8; N]; PARTIES] from each, c: Bids from 1, \
            d: [u8; K] from 1, e: [u8; N + 1] from 1, f: u8 from 1, g: [u8; N] from share) \
            -> (x: u8 to all) { a[0] }\n\
            fn other(a: [u8; M] from 0) -> (x: u8 to all) { a[0] }\n";
        for (entry, input, constant) in [
            (None, "a", Some("N")),
            (None, "b.1", Some("N")),
            (None, "c", Some("M")),
            (None, "d", None),
            (None, "e", None),
            (None, "f", None),
            (None, "g.0", Some("N")),
            (None, "h", None),
            (Some("other"), "a", Some("M")),
            (Some("another"), "a", None),
        ] {
            assert_eq!(length_constant(program, entry, input).as_deref(), constant, "{input}");
        }
        assert_eq!(shared_inputs(program, None), ["g"]);
        assert!(shared_inputs(program, Some("other")).is_empty());
        assert!(shared_inputs("fn main(", None).is_empty());
        assert_eq!(length_constant("fn main(", None, "a"), None);
        assert_eq!(length_constant("type T = T; fn main(a: T from 0) {}", None, "a"), None);
    }
}
