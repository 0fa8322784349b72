//! The library `std`, written in the language itself.

/// The modules, by path without `std/` and `.sym`.
const MODULES: [(&str, &str); 17] = [
    ("prelude", include_str!("std/prelude.sym")),
    ("bits", include_str!("std/bits.sym")),
    ("crypto", include_str!("std/crypto.sym")),
    ("crypto/aes128", include_str!("std/crypto/aes128.sym")),
    ("crypto/aes_gcm", include_str!("std/crypto/aes_gcm.sym")),
    ("fixed", include_str!("std/fixed.sym")),
    ("float", include_str!("std/float.sym")),
    ("float/double", include_str!("std/float/double.sym")),
    ("float/fast", include_str!("std/float/fast.sym")),
    ("methods", include_str!("std/methods.sym")),
    ("ml", include_str!("std/ml.sym")),
    ("num", include_str!("std/num.sym")),
    ("psi", include_str!("std/psi.sym")),
    ("shuffle", include_str!("std/shuffle.sym")),
    ("sort", include_str!("std/sort.sym")),
    ("stats", include_str!("std/stats.sym")),
    ("text", include_str!("std/text.sym")),
];

/// Returns the text of a module.
pub fn source(path: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}

/// Returns the first module, by path, that has a `pub` item of this name.
pub fn definer(name: &str) -> Option<&'static str> {
    let defines = |line: &str| {
        let Some(rest) = line.strip_prefix("pub ") else { return false };
        let item = rest.split_once(' ').map_or("", |(_, item)| item);
        let end = item.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &item[..end.unwrap_or(item.len())] == name
    };
    let mut modules = MODULES.iter().filter(|(path, _)| *path != "prelude");
    modules.find(|(_, text)| text.lines().any(defines)).map(|(path, _)| *path)
}

/// Returns the paths of all modules.
pub fn modules() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(path, _)| *path)
}
