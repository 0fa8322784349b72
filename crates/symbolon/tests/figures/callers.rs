//! Whether the functions that implement the papers' figures are called: by name, from code that is
//! not a test. A name that several functions share counts for all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{Row, rows, sources};

/// What uses a name: a function, or `None` for what is outside functions or runs without being
/// called by name (`main`, and implementations of traits).
type User = Option<String>;

/// The functions that are defined in some files, and the uses of all names.
#[derive(Default)]
struct Uses {
    defined: BTreeSet<(String, String)>,
    users: BTreeMap<String, BTreeSet<User>>,
}

impl Uses {
    fn of(sources: &[(String, String)]) -> Uses {
        let mut uses = Uses::default();
        let of_tests: Vec<String> =
            sources.iter().flat_map(|(file, text)| test_modules(file, text)).collect();
        for (file, text) in sources {
            let stem = file.trim_end_matches(".rs");
            let within = |module: &String| {
                stem.strip_prefix(module.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !of_tests.iter().any(within) {
                uses.add(file, text);
            }
        }
        uses
    }

    /// Reads a file that rustfmt has formatted, up to its tests.
    fn add(&mut self, file: &str, text: &str) {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let (mut function, mut implements) = (None::<(String, usize)>, false);
        let mut imports = false;
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            let code = line.trim_start();
            // An import alone calls nothing.
            imports |= ["use ", "pub use ", "pub(crate) use "].iter().any(|u| code.starts_with(u));
            if imports || code.starts_with("//") {
                imports &= !code.ends_with(';');
                continue;
            }
            if indent == 0 && code.starts_with("impl") {
                implements = code.contains(" for ");
            }
            let defined = defined(code).filter(|_| function.is_none());
            if let Some(name) = defined {
                self.defined.insert((file.to_string(), name.to_string()));
                let user = if implements || name == "main" { String::new() } else { name.into() };
                function = Some((user, indent));
            }
            let user = function.as_ref().map(|(name, _)| name.clone()).filter(|n| !n.is_empty());
            for word in code.split(|c: char| !c.is_alphanumeric() && c != '_') {
                if defined != Some(word) {
                    self.users.entry(word.to_string()).or_default().insert(user.clone());
                }
            }
            let ends =
                code == "}" || code.ends_with(';') || defined.is_some() && code.ends_with('}');
            function.take_if(|(_, of)| indent == *of && ends);
            if line == "}" {
                implements = false;
            }
        }
    }

    /// Returns the names that are used by something that runs.
    fn called(&self) -> BTreeSet<&str> {
        let mut called = BTreeSet::new();
        loop {
            let runs = |user: &User| user.as_deref().is_none_or(|user| called.contains(user));
            let named = self.users.iter().filter(|(_, users)| users.iter().any(runs));
            let more: BTreeSet<&str> = named.map(|(name, _)| name.as_str()).collect();
            if more.len() == called.len() {
                return called;
            }
            called = more;
        }
    }

    /// Returns the rows about functions that nothing calls.
    fn uncalled<'r>(&self, rows: &'r [Row]) -> Vec<&'r Row> {
        let called = self.called();
        let is_uncalled = |row: &&Row| {
            row.item.as_ref().is_some_and(|item| {
                self.defined.contains(&(row.file.clone(), item.clone()))
                    && !called.contains(item.as_str())
            })
        };
        rows.iter().filter(is_uncalled).collect()
    }
}

/// Returns the name of the function that is defined in this line.
fn defined(code: &str) -> Option<&str> {
    let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let at = words.iter().position(|word| *word == "fn")?;
    let before = ["pub", "crate", "super", "const", "async", "unsafe", "extern", "C", "in", ""];
    let all = words[..at].iter().all(|word| before.contains(word));
    words.get(at + 1).copied().filter(|name| all && !name.is_empty())
}

/// Returns the paths, without `.rs`, of the modules that a file declares for tests alone.
fn test_modules(file: &str, text: &str) -> Vec<String> {
    let (folder, name) = file.rsplit_once('/').expect("a file in a folder");
    let folder = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_string(),
        _ => file.trim_end_matches(".rs").to_string(),
    };
    let after = text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| rest.lines().next());
    let module = |line: &str| {
        let name =
            line.trim_start_matches("pub(super) ").strip_prefix("mod ")?.strip_suffix(';')?;
        Some(format!("{folder}/{name}"))
    };
    after.filter_map(module).collect()
}

#[test]
fn every_figure_is_mapped_to_code_that_is_called() {
    let rows = rows("Paper");
    let uses = Uses::of(&sources());
    let uncalled = uses.uncalled(&rows);
    assert!(uncalled.is_empty(), "only tests call these: {uncalled:#?}");
}

/// Functions that are called by nothing, by a test, by a function that nothing calls, or by
/// themselves are found; those that run are not.
#[test]
fn uncalled_functions_are_noticed() {
    let one = "use x::{\n    c, d,\n};\n\n#[cfg(test)]\nmod cheats;\n\nfn main() {\n    a();\n}\n\nfn a() {\n    b()\n}\n\n\
        fn b() {}\n\nfn c() {\n    d();\n    c();\n}\n\nfn d() {}\n\n/// fn f calls e.\nfn e() {}\n\n\
        impl Drop for X {\n    fn drop(&mut self) {\n        g();\n    }\n}\n\nfn g() {}\n\n\
        fn h() {}\n\nstatic H: fn() = h;\n\n#[cfg(test)]\nmod tests {\n    fn f() {\n        e();\n    \
        }\n}\n";
    let two = "fn t() {\n    e();\n}\n";
    let files = [("x/src/main.rs", one), ("x/src/cheats.rs", two)];
    let files = files.map(|(file, text)| (file.to_string(), text.to_string()));
    let row = |item: &str| Row {
        cells: Vec::new(),
        file: files[0].0.clone(),
        item: Some(item.to_string()),
    };
    let all: Vec<Row> = ["a", "b", "c", "d", "e", "g", "h", "X"].map(row).to_vec();
    let uncalled: Vec<&str> =
        Uses::of(&files).uncalled(&all).iter().filter_map(|row| row.item.as_deref()).collect();
    assert_eq!(uncalled, ["c", "d", "e"]);
}
