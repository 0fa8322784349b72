//! Tables of the pages that are generated from comments next to the code:
//!
//! | comment | page |
//! | --- | --- |
//! | `Paper: figure, step \| what`; what, once for the items of a file | `docs/reference/figures.md` |
//! | `Check: step \| check \| catches \| undetected with` | `docs/reference/checks.md` |
//! | `Departure: what \| paper \| here \| why it is sound` | `docs/reference/checks.md` |
//! | `Timing: secret \| why its time does not depend on it` | `docs/reference/timing.md` |
//! | `Unsafe: what \| what makes it sound` | `docs/reference/timing.md` |
//!
//! Such a comment is a paragraph of its own: in a `///` comment about the item that follows, in a
//! `//!` comment about the file. A line `<!-- generated: … -->` is before each table of a page.
//! `SYMBOLON_WRITE_DOCS=1 cargo test -p symbolon --test figures` writes the tables.
#![allow(missing_docs)]

mod callers;
mod checks;
mod circles;
mod rows;
mod threads;
mod timing;

use std::fmt::Write;

use rows::{Row, in_order, rows, rows_in, settle, with_tables};

/// The sections of the page: the title, the folders of the code (anywhere if empty), and the
/// figures and steps that a reader looks for, in the papers' order.
const FIGURES: [(&str, &str, &[&str]); 9] = [
    (
        "Oblivious transfer",
        "crates/ot/",
        &[
            "MRR21",
            "IKNP03",
            "Roy22, punctured PRF",
            "Roy22, Fig. 7",
            "Roy22, consistency",
            "Roy22, Figs. 8, 9",
            "YWLZW20, Fig. 6",
            "YWLZW20, Fig. 7",
            "YWZ20, Fig. 2",
        ],
    ),
    (
        "Preprocessing",
        "",
        &[
            "WRK17, Fig. 1",
            "WRK17, Fig. 1, init",
            "WRK17, Fig. 1, random",
            "WRK17, Fig. 1, AND",
            "YWZ20, Fig. 1",
            "YWZ20, Fig. 4",
            "YWZ20, Fig. 5",
            "YWZ20, Fig. 10",
            "YWZ20, Fig. 11",
            "YWZ20, Fig. 14",
            "YWZ20, Fig. 16",
            "WRK17, §6; YWZ20, App. D",
        ],
    ),
    (
        "`wrk`, four rows",
        "",
        &[
            "WRK17, Fig. 2, 1",
            "WRK17, Fig. 2, 2",
            "WRK17, Fig. 2, 3",
            "WRK17, Fig. 2, 4(a)",
            "WRK17, Fig. 2, 4(b)",
            "WRK17, Fig. 2, 4(b)–(c)",
            "WRK17, Fig. 2, 4(c)",
            "WRK17, Fig. 2, 4(d)",
            "WRK17, Fig. 2, 5–6",
            "WRK17, Fig. 2, 7(a)",
            "WRK17, Fig. 2, 7(b)",
            "WRK17, Fig. 2, 8",
        ],
    ),
    (
        "Garbling",
        "crates/garbling/",
        &[
            "ZRE15, Fig. 2, GbAnd",
            "ZRE15, Fig. 2, Gb",
            "ZRE15, Fig. 2, Ev",
            "RR16, Fig. 9, Gb",
            "RR16, Fig. 9, Ev",
        ],
    ),
    (
        "`ywz`, and `wrk` with half-gates",
        "",
        &[
            "YWZ20, Fig. 6",
            "YWZ20, Fig. 7, 9",
            "YWZ20, Fig. 7, 10",
            "YWZ20, Fig. 7, 11; §2.6",
            "YWZ20, Fig. 7, 12; §2.6",
            "YWZ20, Fig. 7, 13",
        ],
    ),
    (
        "`tinytable`",
        "",
        &[
            "DNNR17, Fig. 5, 3",
            "DNNR17, Figs. 5, 8",
            "DNNR17, Fig. 5, 4",
            "DNNR17, Fig. 5, 5",
            "DNNR17, Fig. 5, 6–7",
            "DNNR17, Fig. 8, 1–2",
            "DNNR17, Fig. 8, 3, NOT and XOR",
            "DNNR17, Fig. 8, 3, AND",
            "DNNR17, §4",
            "DNNR17, Fig. 9",
            "DNNR17, Fig. 11, check",
        ],
    ),
    (
        "`duplo`",
        "crates/copies/src/duplo/ crates/circuit/src/components/",
        &[
            "KNRTT17, slots, Par",
            "KNRTT17, §1.1",
            "KNRTT17, App. A, L and α",
            "KNRTT17, GenWire",
            "KNRTT17, GenSold",
            "KNRTT17, PreProcessRecovery",
            "KNRTT17, GenInKeyAuth",
            "KNRTT17, EvKAs",
            "KNRTT17, PreProcessOTInit",
            "KNRTT17, §5.1",
            "KNRTT17, GenSub",
            "KNRTT17, App. A, V",
            "KNRTT17, PreProcessSub",
            "KNRTT17, PreProcessInKA",
            "KNRTT17, AssembleSubs",
            "KNRTT17, InputG",
            "KNRTT17, EvSubs",
            "KNRTT17, RecoverInputBit",
            "KNRTT17, Recover",
            "KNRTT17, OutputE",
        ],
    ),
    (
        "`dualex`",
        "crates/copies/src/dualex/",
        &[
            "RR16, §6",
            "RR16, Lemma 1",
            "RR16, §6.1",
            "RR16, Fig. 10",
            "RR16, Figs. 9, 15",
            "RR16, Fig. 15, Cut-and-Choose Commit",
            "RR16, Fig. 15, Cut-and-Choose",
            "RR16, Fig. 15, Bucketing",
            "RR16, §5.2",
            "RR16, Fig. 15, Receiver's and Sender's Inputs",
            "RR16, Fig. 15, Evaluate",
            "RR16, Fig. 15, PSI Commit",
            "RR16, Fig. 13",
            "RR16, Fig. 14",
            "RR16, Figs. 13, 14",
            "RR16, Fig. 15, Output Decommit",
            "RR16, Fig. 15, PSI Decommit",
        ],
    ),
    (
        "Cut-and-choose",
        "crates/cutchoose/",
        &[
            "KNRTT17, App. A, L and α",
            "KNRTT17, App. A, COMMIT and OPEN",
            "RR16, Lemma 1",
            "KNRTT17, App. A, V",
        ],
    ),
];

#[test]
fn the_page_of_figures_is_what_the_comments_say() {
    let all = rows("Paper");
    assert!(all.len() > 100, "only {} comments were read", all.len());
    for row in &all {
        let sections = FIGURES.iter().filter(|section| is_in(row, section)).count();
        assert_eq!(sections, 1, "sections that take {row:?}");
    }
    let mut titles: Vec<&str> = FIGURES.iter().map(|section| section.0).collect();
    settle("docs/reference/figures.md", |title| {
        titles.retain(|left| *left != title);
        let section = FIGURES.iter().find(|section| section.0 == title).expect("a section");
        let here = all.iter().filter(|row| is_in(row, section)).cloned().collect();
        figures(&in_order(here, section.2))
    });
    assert!(titles.is_empty(), "docs/reference/figures.md has no table for {titles:?}");
}

fn is_in(row: &Row, (_, folder, keys): &(&str, &str, &[&str])) -> bool {
    folder.split(' ').any(|place| row.file.starts_with(place))
        && keys.iter().any(|key| row.has_key(key))
}

/// Returns the table of a section. Items of one file with the same figure share a line; one of them
/// describes it.
fn figures(rows: &[Row]) -> String {
    let mut table = "| figure, step | what | where |\n| --- | --- | --- |\n".to_string();
    for (i, first) in rows.iter().enumerate() {
        let same = |row: &&Row| row.cells[0] == first.cells[0] && row.file == first.file;
        if rows[..i].iter().any(|row| same(&row)) {
            continue;
        }
        let here: Vec<&Row> = rows.iter().filter(same).collect();
        let said: Vec<&str> = here.iter().flat_map(|row| row.cells.get(1)).map(|s| &**s).collect();
        let [what] = said[..] else { panic!("which of {said:?} is {first:?}?") };
        let mut place = first.place();
        for (k, row) in here.iter().enumerate().skip(1) {
            let item = row.item.as_deref().expect("an item");
            if here[..k].iter().all(|above| above.item.as_deref() != Some(item)) {
                place += &format!(", `{item}`");
            }
        }
        writeln!(table, "| {} | {what} | {place} |", first.cells[0]).unwrap();
    }
    table
}

/// Comments that are wrapped, that follow each other, and that describe a file or an item.
#[test]
fn comments_are_read() {
    let text = "//! A file.\n//!\n//! Paper: A, 1 | the\n//! whole file\n//!\n//! More.\n\n\
        /// Does.\n///\n/// Paper: A, 2 | what\n///\n/// Paper: B | it\n/// Check: x | y\n\
        #[inline]\npub(crate) const fn does() {}\n    /// Paper: A, 2\n    struct Other;\n";
    let read = rows_in("a.rs", text, "Paper");
    let read: Vec<String> =
        read.iter().map(|row| format!("{}: {}", row.place(), row.cells.join(" | "))).collect();
    let expected = [
        "`a.rs`: A, 1 | the whole file",
        "`a.rs` `does`: A, 2 | what",
        "`a.rs` `does`: B | it",
        "`a.rs` `Other`: A, 2",
    ];
    assert_eq!(read, expected);
}

/// Missing, new and doubly described items are noticed, and a changed comment changes the table.
#[test]
fn a_page_that_is_not_current_is_noticed() {
    let text = "/// Paper: A, 10 | ten\nfn ten() {}\n/// Paper: A, 9 | nine\nfn nine() {}\n";
    let read = |text: &str| in_order(rows_in("a.rs", text, "Paper"), &["A"]);
    let page = "Head\n<!-- generated: one -->\n| old |\n\nTail\n";
    let made = with_tables(page, |_| figures(&read(text)));
    let nine = "| A, 9 | nine | `a.rs` `nine` |\n";
    assert!(made.contains(&format!("{nine}| A, 10 | ten | `a.rs` `ten` |\n\nTail\n")), "{made}");
    assert!(!made.contains("old"), "{made}");
    assert_ne!(with_tables(&made, |_| figures(&read(&text.replace("nine", "9")))), made);
    let fails = |work: fn()| std::panic::catch_unwind(work).is_err();
    assert!(fails(|| drop(in_order(Vec::new(), &["A"]))));
    assert!(fails(|| drop(in_order(rows_in("a.rs", "/// Paper: B\nfn b() {}\n", "Paper"), &[]))));
    assert!(fails(|| drop(rows_in("a.rs", "/// Paper: B\n", "Paper"))));
    let twice = "/// Paper: A | one\nfn a() {}\n/// Paper: A | two\nfn b() {}\n";
    assert!(std::panic::catch_unwind(|| figures(&read(twice))).is_err());
}
