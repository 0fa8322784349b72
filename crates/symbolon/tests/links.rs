//! Every relative link between the pages leads to a file, and to a heading where it names one.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all pages, hand-written and generated: those at the root, in `docs`, and in
/// `docs/proofs`.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in ["", "docs", "docs/proofs"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

/// Returns the text without fenced code, in which brackets are not links.
fn prose(text: &str) -> String {
    let parts = text.split("\n```").enumerate();
    parts.filter(|(i, _)| i % 2 == 0).map(|(_, part)| part).collect()
}

/// Returns the targets of all links, written `](target)`.
fn targets(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// Returns the anchor that Markdown viewers give a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Returns what is wrong with a link from `page`, if anything.
fn problem(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { page.parent().unwrap().join(file) };
    if !path.exists() {
        return Some(format!("{}: no file for {target}", page.display()));
    }
    if heading.is_empty() {
        return None;
    }
    let text = prose(&fs::read_to_string(&path).unwrap());
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    let found = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
    (!found).then(|| format!("{}: no heading for {target}", page.display()))
}

#[test]
fn every_link_between_the_pages_leads_somewhere() {
    let mut links = 0;
    let mut problems = Vec::new();
    for page in pages() {
        let text = prose(&fs::read_to_string(&page).unwrap());
        for target in targets(&text) {
            links += 1;
            problems.extend(problem(&page, target));
        }
    }
    assert!(links > 100, "only {links} links were found");
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn a_link_to_a_missing_file_or_heading_is_noticed() {
    let page = root().join("README.md");
    assert!(problem(&page, "docs/no-such-page.md").is_some());
    assert!(problem(&page, "docs/cli.md#no-such-heading").is_some());
    assert!(problem(&page, "docs/cli.md#exit-codes").is_none());
}
