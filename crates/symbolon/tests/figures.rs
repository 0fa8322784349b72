//! `docs/figures.md` leads to files that exist and to functions and types in them.
#![allow(missing_docs)]

use std::fs;
use std::path::Path;

/// What a reader looks for.
const FIGURES: [&str; 18] = [
    "WRK17, Fig. 1",
    "WRK17, Fig. 2, 4(a)",
    "WRK17, Fig. 2, 4(b)",
    "WRK17, Fig. 2, 4(c)",
    "WRK17, Fig. 2, 4(d)",
    "YWZ20, Fig. 1",
    "YWZ20, Fig. 4",
    "YWZ20, Fig. 5",
    "YWZ20, Fig. 6",
    "YWZ20, Fig. 14",
    "YWZ20, Fig. 16",
    "§2.6",
    "DNNR17, Fig. 5",
    "DNNR17, Fig. 8",
    "KNRTT17, GenSub",
    "KNRTT17, EvSubs",
    "KNRTT17, Recover",
    "KNRTT17, OutputE",
];

/// A row: the figure, the file, and names in it.
fn row(line: &str) -> Option<(&str, &str, Vec<&str>)> {
    let mut cells = line.strip_prefix("| ")?.split(" | ");
    let (figure, _, place) = (cells.next()?, cells.next()?, cells.next()?);
    let mut quoted = place.split('`').skip(1).step_by(2);
    let file = quoted.next()?;
    Some((figure, file, quoted.collect()))
}

/// Whether a function or type of this name is defined in the source.
fn defines(source: &str, name: &str) -> bool {
    ["fn", "struct", "enum", "trait", "const"].iter().any(|kind| {
        let mut rest = source;
        let definition = format!("{kind} {name}");
        while let Some(at) = rest.find(&definition) {
            rest = &rest[at + definition.len()..];
            if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                return true;
            }
        }
        false
    })
}

#[test]
fn every_figure_leads_to_code_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/figures.md")).unwrap();
    let rows: Vec<_> = page.lines().filter_map(row).collect();
    assert!(rows.len() > 50, "only {} rows were read", rows.len());
    let mut wrong = Vec::new();
    for (figure, file, names) in &rows {
        let Ok(source) = fs::read_to_string(root.join(file)) else {
            wrong.push(format!("{figure}: no file {file}"));
            continue;
        };
        if names.is_empty() {
            wrong.push(format!("{figure}: nothing is named in {file}"));
        }
        for name in names.iter().filter(|name| !defines(&source, name)) {
            wrong.push(format!("{figure}: no `{name}` in {file}"));
        }
    }
    assert!(wrong.is_empty(), "docs/figures.md is not current: {wrong:#?}");
    for wanted in FIGURES {
        assert!(rows.iter().any(|(figure, ..)| figure.contains(wanted)), "no row for {wanted}");
    }
}
