//! Rows of tables, from comments next to the code.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

/// All kinds of rows.
const KINDS: [&str; 5] = ["Paper", "Check", "Departure", "Timing", "Unsafe"];

/// The keywords before the name of an item.
const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "const", "static", "type", "mod"];

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The content of the comment.
    pub cells: Vec<String>,
    /// The file that contains the comment.
    pub file: String,
    /// The item that the comment is about; `None` for the whole file.
    pub item: Option<String>,
}

impl Row {
    /// Returns where the comment is, for the last column of a table.
    pub fn place(&self) -> String {
        match &self.item {
            Some(item) => format!("`{}` `{item}`", self.file),
            None => format!("`{}`", self.file),
        }
    }

    /// Returns whether the first cell is this key, or continues after it with `,`, `;` or `:`.
    pub fn has_key(&self, key: &str) -> bool {
        let rest = self.cells[0].strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ';', ':']))
    }
}

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns all rows of a kind in the crates' sources, in the order of files and lines.
pub fn rows(kind: &str) -> Vec<Row> {
    let mut found = Vec::new();
    for (file, text) in sources() {
        found.extend(rows_in(&file, &text, kind));
    }
    found
}

/// Returns the names and texts of all Rust files in the crates' `src` directories, sorted by name.
pub fn sources() -> Vec<(String, String)> {
    let root = root();
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        look(&entry.unwrap().path().join("src"), &mut files);
    }
    files.sort();
    let name = |file: &Path| file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
    files.iter().map(|file| (name(file), fs::read_to_string(file).unwrap())).collect()
}

fn look(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Returns the rows of a kind in a file.
///
/// # Panics
/// If no item follows a `///` comment.
pub fn rows_in(file: &str, text: &str, kind: &str) -> Vec<Row> {
    let row = |text: &str, item: Option<&str>| Row {
        cells: text.split(" | ").map(str::to_string).collect(),
        file: file.to_string(),
        item: item.map(str::to_string),
    };
    // The current paragraph, and those whose item has not been reached yet.
    let (mut paragraph, mut in_header) = (None::<String>, false);
    let (mut found, mut waiting) = (Vec::new(), Vec::<String>::new());
    for line in text.lines().map(str::trim).chain([""]) {
        let header = line.strip_prefix("//!");
        let comment = header.or_else(|| line.strip_prefix("///")).map_or("", str::trim);
        let start = kind_of(comment);
        if let Some(text) = paragraph.as_mut().filter(|_| start.is_none() && !comment.is_empty()) {
            *text += &format!(" {comment}");
            continue;
        }
        match paragraph.take() {
            Some(text) if in_header => found.push(row(&text, None)),
            Some(text) => waiting.push(text),
            None => {}
        }
        paragraph = start.filter(|(other, _)| *other == kind).map(|(_, text)| text.to_string());
        in_header = header.is_some();
        if let Some(item) = item_of(line) {
            found.extend(waiting.drain(..).map(|text| row(&text, Some(item))));
        }
    }
    assert!(waiting.is_empty(), "{file}: no item follows {waiting:?}");
    found
}

/// Returns the kind of row that begins with this line of a comment, and the text after it.
fn kind_of(comment: &str) -> Option<(&str, &str)> {
    comment.split_once(": ").filter(|(kind, _)| KINDS.contains(kind))
}

/// Returns the name of the item that is defined in this line.
fn item_of(line: &str) -> Option<&str> {
    if line.starts_with('#') || line.starts_with("//") {
        return None;
    }
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let named = |pair: &&[&str]| ITEMS.contains(&pair[0]) && !ITEMS.contains(&pair[1]);
    words.windows(2).find(named).map(|pair| pair[1])
}

/// Sorts rows by the longest keys with which their first cells begin, and rows with the same key by
/// their first cells.
///
/// # Panics
/// If a row has none of the keys, or no row has a key.
pub fn in_order(mut rows: Vec<Row>, keys: &[&str]) -> Vec<Row> {
    let lost: Vec<&&str> =
        keys.iter().filter(|key| !rows.iter().any(|row| row.has_key(key))).collect();
    assert!(lost.is_empty(), "no comment says anything about {lost:#?}");
    let place = |row: &Row| {
        let of_row = keys.iter().enumerate().filter(|(_, key)| row.has_key(key));
        of_row.max_by_key(|(_, key)| key.len()).map(|(place, _)| place)
    };
    let strange: Vec<&Row> = rows.iter().filter(|row| place(row).is_none()).collect();
    assert!(strange.is_empty(), "no place in the table for {strange:#?}");
    rows.sort_by(|a, b| {
        let places = place(a).cmp(&place(b));
        places.then_with(|| compare(&a.cells[0], &b.cells[0]))
    });
    rows
}

/// Compares texts with their numbers as numbers: step 9 precedes step 10.
fn compare(a: &str, b: &str) -> Ordering {
    parts(a).cmp(&parts(b))
}

fn parts(text: &str) -> Vec<(u64, char)> {
    let (mut parts, mut number) = (Vec::new(), None::<u64>);
    for c in text.chars().chain(['\0']) {
        match c.to_digit(10) {
            Some(digit) => number = Some(number.unwrap_or(0) * 10 + u64::from(digit)),
            None => {
                parts.extend(number.take().map(|number| (number, '0')));
                parts.push((0, c));
            }
        }
    }
    parts
}

/// Returns the page with the table that `table` makes for each name after `<!-- generated: `.
pub fn with_tables(page: &str, mut table: impl FnMut(&str) -> String) -> String {
    let (mut made, mut lines) = (String::new(), page.lines().peekable());
    while let Some(line) = lines.next() {
        made.push_str(line);
        made.push('\n');
        let Some(rest) = line.strip_prefix("<!-- generated: ") else { continue };
        while lines.next_if(|line| line.starts_with('|')).is_some() {}
        made.push_str(&table(rest.trim_end_matches(" -->")));
    }
    made
}

/// Compares a page with its expected text, or writes it.
///
/// # Panics
/// If the page is not current.
pub fn settle(name: &str, table: impl FnMut(&str) -> String) {
    let path = root().join(name);
    let written = fs::read_to_string(&path).unwrap();
    let page = with_tables(&written, table);
    if std::env::var_os("SYMBOLON_WRITE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
        return;
    }
    let first = written.lines().zip(page.lines()).find(|(old, new)| old != new);
    assert!(
        written == page,
        "{name} is not current: {first:?}. SYMBOLON_WRITE_DOCS=1 rewrites its tables"
    );
}
