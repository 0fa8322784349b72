//! Unknown names, and known ones that are like them.

use super::FnCx;
use crate::ast::{self, Name};
use crate::builtin;
use crate::def::Def;
use crate::diag::{Code, Diagnostic};
use crate::library;

/// Comparing unknown names with known ones takes at most this many steps.
const MAX_SUGGESTED: u64 = 1 << 24;

/// Types of other languages, and what to write.
const FOREIGN_TYPES: [(&str, &str); 14] = [
    ("String", "a text has at most N bytes: write `text<N>`"),
    ("str", "a text has at most N bytes: write `text<N>`"),
    ("string", "a text has at most N bytes: write `text<N>`"),
    ("Vec", "an array has a fixed length: write `[T; N]`"),
    ("HashMap", "write an array of pairs: `[(K, V); N]`"),
    ("Result", "write an `Option`, or fail with `assert`"),
    ("Box", "leave it out: types are values"),
    ("char", "write `u8`, which is one byte"),
    ("int", "write `i32`, or another width"),
    ("uint", "write `u32`, or another width"),
    ("isize", "write `i32`"),
    ("float", "did you mean `f32`?"),
    ("double", "did you mean `f64`?"),
    ("boolean", "did you mean `bool`?"),
];

/// To look for a name in the library takes this many steps.
const SEARCH: u64 = 1 << 13;

impl FnCx<'_, '_> {
    /// Reports an unknown name, with the nearest known one.
    pub(super) fn unknown(&mut self, path: &ast::Path, kind: &str) {
        let name: Vec<&str> = path.parts.iter().map(|part| &*part.name).collect();
        let name = name.join("::");
        let best = match &path.parts[..] {
            [only] => self.like(&only.name),
            [ty, function] if builtin::ty(&ty.name).is_some() => {
                let help = match &*function.name {
                    "from" | "try_from" => {
                        format!("write `x as {0}`, or `x.checked_cast::<{0}>()`", ty.name)
                    }
                    method => format!("call methods after a value: `x.{method}(…)`"),
                };
                let message = format!("there is no {kind} `{name}`");
                self.cx.errors.push(Diagnostic::new(Code::Name, path.span, message).help(help));
                return;
            }
            parts => self.like_path(parts),
        };
        let error = Diagnostic::new(Code::Name, path.span, format!("there is no {kind} `{name}`"));
        let error = match best {
            _ if matches!(&*name, "assert_eq" | "assert_ne") => {
                error.help(format!("write `{name}!(a, b)`"))
            }
            Some(known) => error.help(format!("did you mean `{known}`?")),
            None => error,
        };
        self.cx.errors.push(error);
    }

    /// Reports an unknown type; for one of other languages, with what it is called here.
    pub(super) fn unknown_type(&mut self, path: &ast::Path) {
        let foreign = match &path.parts[..] {
            [only] => FOREIGN_TYPES.iter().find(|(known, _)| *known == &*only.name),
            _ => None,
        };
        let help = match (foreign, &path.parts[..]) {
            (Some((_, help)), _) => Some(help.to_string()),
            (None, [only]) => integer_of_c(&only.name).map(|ty| format!("write `{ty}`")),
            _ => None,
        };
        let Some(help) = help else { return self.unknown(path, "type") };
        let name = path.parts.last().map_or("", |part| &*part.name);
        let error = Diagnostic::new(Code::Name, path.span, format!("there is no type `{name}`"));
        self.cx.errors.push(error.help(help));
    }

    /// Returns a known name that is like a single one: in the library, or in scope.
    fn like(&self, name: &str) -> Option<String> {
        if !self.may_suggest(SEARCH) {
            return None;
        }
        if let Some(module) = library::definer(name) {
            return Some(format!("std::{}::{name}", module.replace('/', "::")));
        }
        let known = self.names.scope.names().chain(self.cx.program.names(self.module));
        Some(self.nearest(name, known)?.to_string())
    }

    /// Returns a known path that is like one with several parts.
    fn like_path(&mut self, parts: &[ast::Ident]) -> Option<String> {
        let (last, before) = parts.split_last()?;
        let prefix: Vec<&str> = before.iter().map(|part| &*part.name).collect();
        let prefix = prefix.join("::");
        let found = match self.cx.program.resolve(self.module, before, &mut self.cx.errors) {
            Some(Def::Module(module)) => {
                self.nearest(&last.name, self.cx.program.public_names(module))
            }
            Some(Def::Adt(adt)) => self.nearest(&last.name, self.cx.program.members(adt)),
            Some(_) => None,
            None => {
                let modules = library::modules();
                let modules: Vec<Name> = modules
                    .map(|path| format!("std::{}", path.replace('/', "::")).into())
                    .collect();
                let near = self.nearest(&prefix, modules.iter())?;
                return Some(format!("{near}::{}", last.name));
            }
        };
        Some(format!("{prefix}::{}", found?))
    }

    /// Counts steps; returns false after too many. Nobody reads suggestions for more names.
    pub(super) fn may_suggest(&self, steps: u64) -> bool {
        self.cx.spent.suggested.set(self.cx.spent.suggested.get().saturating_add(steps));
        self.cx.spent.suggested.get() <= MAX_SUGGESTED
    }

    /// Returns the name that is most like another, if one is.
    pub(super) fn nearest<'n>(
        &self,
        name: &str,
        known: impl Iterator<Item = &'n Name>,
    ) -> Option<&'n Name> {
        let mut best: Option<(usize, &Name)> = None;
        for known in known {
            let near = known.len().abs_diff(name.len()) <= name.len() / 3;
            if !self.may_suggest(if near { (known.len() * name.len()) as u64 } else { 1 }) {
                break;
            }
            if !near {
                continue;
            }
            let distance = edit_distance(known, name);
            // Of several that are as near, the first by the alphabet.
            if distance <= name.len() / 3 && best.is_none_or(|best| (distance, known) < best) {
                best = Some((distance, known));
            }
        }
        best.map(|(_, known)| known)
    }
}

/// Returns what `uint32`, `int8_t` and the like are called here.
fn integer_of_c(name: &str) -> Option<String> {
    let name = name.strip_suffix("_t").unwrap_or(name);
    let (sign, width) = match name.strip_prefix("uint") {
        Some(width) => ('u', width),
        None => ('i', name.strip_prefix("int")?),
    };
    let width: u16 = width.parse().ok()?;
    Some(format!("{sign}{width}"))
}

/// Returns how many letters differ; two neighbours that are swapped count once.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut earlier = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1];
        for j in 0..b.len() {
            let replaced = row[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(row[j + 1].min(next[j]) + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(earlier[j - 1] + 1);
            }
            next.push(best);
        }
        earlier = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
