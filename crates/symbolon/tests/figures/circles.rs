//! No files of a crate import each other in a circle, so a reader of one file need not know the
//! files that use it.
//!
//! An arrow goes from a file to each file whose items it names, by `crate::`, `super::` or the name
//! of a submodule; an item that another file only re-exports counts as that of the file that it
//! comes from. What a parent and the files in its folder take from each other does not count: a
//! parent calls what it declares. Neither do tests, nor what only links in comments name.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::sources;

/// A module of a crate, as the names from the crate's root down to it.
type Module = Vec<String>;

/// The files of a crate that are no tests, without comments.
type Files = BTreeMap<Module, String>;

/// For each module, the modules that it imports from, and a path by which it does.
type Arrows = BTreeMap<Module, BTreeMap<Module, String>>;

/// The files of each crate.
fn crates() -> BTreeMap<String, BTreeMap<Module, String>> {
    let mut crates: BTreeMap<String, BTreeMap<Module, String>> = BTreeMap::new();
    for (name, text) in sources() {
        let (name, file) = name.strip_prefix("crates/").unwrap().split_once("/src/").unwrap();
        crates.entry(name.to_string()).or_default().insert(module_of(file), text);
    }
    crates
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut found = Vec::new();
    for (name, texts) in &crates() {
        let arrows = arrows(&without_tests(texts));
        found.extend(circles(&arrows).iter().map(|all| format!("{name}: {}", told(all, &arrows))));
    }
    assert!(found.is_empty(), "files import each other in circles:\n{}", found.join("\n"));
}

/// A command stands on what all commands share, and only the command line names commands.
#[test]
fn no_command_uses_another() {
    let arrows = arrows(&without_tests(&crates()["cli"]));
    let command = |module: &Module| (module.len() > 1).then(|| module[..2].to_vec());
    let mut commands = BTreeSet::new();
    for (from, to) in arrows.iter().flat_map(|(from, all)| all.keys().map(move |to| (from, to))) {
        let Some(used) = command(to).filter(|used| used[0] == "commands") else { continue };
        let dispatches = from.is_empty() || from[..] == ["command_line"];
        assert!(dispatches || command(from).as_ref() == Some(&used), "{from:?} uses {to:?}");
        commands.insert(used);
    }
    assert!(commands.len() > 10, "{commands:?}");
}

/// The interpreter is what tests compare circuits with, so neither it nor what it stands on takes
/// anything from the code that writes circuits.
#[test]
fn the_interpreter_uses_nothing_of_what_writes_circuits() {
    let arrows = arrows(&without_tests(&crates()["lang"]));
    let mut reached = BTreeSet::from([vec!["interp".to_string()]]);
    let mut left: Vec<Module> = reached.iter().cloned().collect();
    while let Some(from) = left.pop() {
        for (to, path) in arrows.get(&from).into_iter().flatten() {
            assert_ne!(to.first().map_or("", String::as_str), "lower", "{from:?}: {path}");
            if reached.insert(to.clone()) {
                left.push(to.clone());
            }
        }
    }
    assert!(reached.len() > 5, "{reached:?}");
}

/// The comparison itself finds circles, through folders, re-exports and paths inside of functions,
/// and takes none for one where a parent calls what it declares.
#[test]
fn circles_are_found() {
    let crate_of = |files: &[(&str, &str)]| -> Vec<usize> {
        let texts = files.iter().map(|(file, text)| (module_of(file), text.to_string()));
        let arrows = arrows(&without_tests(&texts.collect()));
        circles(&arrows).iter().map(BTreeSet::len).collect()
    };
    const NONE: [usize; 0] = [];
    let lib = ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::C;\n");
    let one_way = [("a.rs", "use crate::b::B;\n"), ("b.rs", "use crate::C;\n"), ("c.rs", "")];
    assert_eq!(crate_of(&[&[lib], &one_way[..]].concat()), NONE);
    let by_name = ("c.rs", "use super::{\n    a::{self, A},\n};\n");
    assert_eq!(crate_of(&[lib, one_way[0], one_way[1], by_name]), [3]);
    let inside = ("c.rs", "fn f() {\n    crate::a::g()\n}\n");
    assert_eq!(crate_of(&[lib, one_way[0], one_way[1], inside]), [3]);
    let in_a_test = ("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::g;\n}\n");
    assert_eq!(crate_of(&[lib, one_way[0], one_way[1], in_a_test]), NONE);
    let in_a_comment = ("c.rs", "/// See [`crate::a`].\nstruct C;\n");
    assert_eq!(crate_of(&[lib, one_way[0], one_way[1], in_a_comment]), NONE);
    let parent = [("lib.rs", "mod a;\n"), ("a/mod.rs", "mod x;\npub use x::X;\n")];
    let child = [("a/x.rs", "use super::Y;\n")];
    assert_eq!(crate_of(&[&parent[..], &child[..]].concat()), NONE);
    let siblings = [("a/x.rs", "use super::y::Y;\n"), ("a/y.rs", "use super::X;\n")];
    assert_eq!(crate_of(&[&parent[..], &siblings[..]].concat()), [2]);
}

/// Returns the module of a file, by its name below `src`.
fn module_of(file: &str) -> Module {
    let mut names: Module = file.trim_end_matches(".rs").split('/').map(str::to_string).collect();
    names.pop_if(|name| matches!(&name[..], "lib" | "mod"));
    names
}

/// Removes comments, tests inside files, and files that are tests.
fn without_tests(texts: &BTreeMap<Module, String>) -> Files {
    let mut tests = BTreeSet::new();
    let mut files = Files::new();
    for (module, text) in texts {
        let mut kept = String::new();
        let (mut of_test, mut of_docs) = (false, false);
        for line in text.lines().map(|line| line.split("//").next().unwrap().trim_end()) {
            let code = line.trim();
            if of_test && code.ends_with('{') && code.contains("mod ") {
                break;
            }
            if let Some(name) = code.strip_suffix(';').filter(|_| of_test) {
                tests.extend(name.split_once("mod ").map(|(_, name)| child(module, name)));
            }
            of_test = code == "#[cfg(test)]" || of_test && code.starts_with("#[");
            // An import of this kind takes one line.
            if !of_docs {
                kept.extend([line, "\n"]);
            }
            of_docs = code == "#[cfg(doc)]";
        }
        files.insert(module.clone(), kept);
    }
    files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    files
}

fn child(module: &[String], name: &str) -> Module {
    [module, &[name.to_string()]].concat()
}

/// Returns the arrows between the files of a crate.
fn arrows(files: &Files) -> Arrows {
    let names: BTreeMap<&Module, BTreeMap<String, Vec<String>>> =
        files.iter().map(|(module, text)| (module, imports(text))).collect();
    let mut arrows = Arrows::new();
    for (module, text) in files {
        let own = arrows.entry(module.clone()).or_default();
        for path in names[module].values().cloned().chain(paths(text)) {
            let Some(to) = target(files, &names, module, &path, 0) else { continue };
            if !to.starts_with(module) && !module.starts_with(&to) {
                own.entry(to).or_insert_with(|| path.join("::"));
            }
        }
    }
    arrows
}

/// Returns the file that defines what a path names in a module; `None` outside of the crate.
fn target(
    files: &Files,
    names: &BTreeMap<&Module, BTreeMap<String, Vec<String>>>,
    module: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    let (mut at, mut rest) = (module.clone(), path);
    match &path[0][..] {
        "crate" => (at, rest) = (Module::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                at.pop();
                rest = &rest[1..];
            }
        }
        name if files.contains_key(&child(module, name)) => {}
        _ => return None,
    }
    while let Some(next) = rest.first().map(|name| child(&at, name)) {
        if !files.contains_key(&next) {
            break;
        }
        (at, rest) = (next, &rest[1..]);
    }
    let renamed = rest.first().and_then(|name| names.get(&at)?.get(name));
    match renamed.filter(|to| depth < 8 && to[..] != *path) {
        Some(to) => target(files, names, &at, to, depth + 1),
        None => Some(at),
    }
}

/// Returns what a file imports by `use`: the name that it gets, and its path.
fn imports(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    let mut rest = text;
    while let Some(start) = rest.find("use ") {
        let line = &rest[..start][rest[..start].rfind('\n').map_or(0, |end| end + 1)..];
        rest = &rest[start + "use ".len()..];
        let visibility = line.trim();
        let Some(end) = rest.find(';').filter(|_| {
            visibility.is_empty() || visibility.starts_with("pub") && !visibility.contains(' ')
        }) else {
            continue;
        };
        for path in expanded(&rest[..end]) {
            let (path, renamed) = path.split_once(" as ").unwrap_or((&path, ""));
            let path = path.trim().trim_end_matches("::self");
            let names: Vec<String> = path.split("::").map(|name| name.trim().into()).collect();
            let name = if renamed.is_empty() { names.last().unwrap() } else { renamed.trim() };
            // Glob imports differ by their paths.
            let name = if name == "*" { path } else { name };
            found.insert(name.to_string(), names);
        }
        rest = &rest[end..];
    }
    found
}

/// Returns the single paths of a tree of imports.
fn expanded(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        return if tree.trim().is_empty() { Vec::new() } else { vec![tree.trim().to_string()] };
    };
    let inner = &rest[..rest.rfind('}').unwrap_or(rest.len())];
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let each = expanded(&inner[start..at]).into_iter();
                found.extend(each.map(|path| format!("{}{path}", prefix.trim())));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Returns the paths that begin with `crate::` or `super::` anywhere in a text.
fn paths(text: &str) -> Vec<Vec<String>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = text.split(|c| !is_part(c));
    let own = words.filter(|word| word.starts_with("crate::") || word.starts_with("super::"));
    own.map(|word| word.trim_end_matches(':').split("::").map(str::to_string).collect())
        .filter(|path: &Vec<String>| path.len() > 1)
        .collect()
}

/// Returns the sets of modules in each of which every module leads to every other.
fn circles(arrows: &Arrows) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|module| (module, reachable(arrows, module))).collect();
    let mut found: Vec<BTreeSet<Module>> = Vec::new();
    for (module, others) in &reached {
        if others.contains(module) && !found.iter().any(|circle| circle.contains(*module)) {
            let back = others.iter().filter(|other| reached[*other].contains(module));
            found.push(back.map(|other| (*other).clone()).collect());
        }
    }
    found
}

fn reachable<'a>(arrows: &'a Arrows, from: &'a Module) -> BTreeSet<&'a Module> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![from]);
    while let Some(module) = waiting.pop() {
        let next = arrows[module].keys().filter(|to| found.insert(*to));
        waiting.extend(next.collect::<Vec<_>>());
    }
    found
}

fn told(circle: &BTreeSet<Module>, arrows: &Arrows) -> String {
    let inside = circle.iter().flat_map(|from| {
        let to = arrows[from].iter().filter(|(to, _)| circle.contains(*to));
        to.map(|(to, path)| format!("{} -> {} ({path})", from.join("::"), to.join("::")))
    });
    inside.collect::<Vec<_>>().join(", ")
}
