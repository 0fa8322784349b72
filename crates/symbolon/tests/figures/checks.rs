//! `docs/reference/checks.md`: what is checked, and where the code departs from the papers.

use std::collections::BTreeSet;
use std::fmt::Write;

use symbolon::registry::sections;

use crate::rows::{Row, in_order, rows, rows_in, settle};

/// The steps that contain checks, in the order of the table.
const STEPS: [&str; 39] = [
    "connection",
    "every message",
    "handshake",
    "session id, n > 2",
    "what the link decides",
    "what the stores hold",
    "broadcasts, n > 2",
    "coins and commitments",
    "base OT",
    "OT extension",
    "trees of SoftSpoken OT and commitments",
    "trees of silent OT",
    "new commitments",
    "openings of commitments",
    "Δ, n > 2",
    "leaky AND",
    "bucketing",
    "products",
    "`wrk`",
    "`ywz`",
    "`tinytable`",
    "`duplo`: components",
    "`duplo`: tables",
    "`duplo`: authenticators",
    "`duplo`: solderings, also to later circuits",
    "`duplo`: pools of components",
    "`duplo`: OT of inputs",
    "`duplo`: inputs",
    "`duplo`: evaluator's outputs",
    "`duplo`: garbler's outputs",
    "`dualex`: circuits",
    "`dualex`: OT of inputs",
    "`dualex`: inputs",
    "`dualex`: outputs",
    "outputs",
    "store",
    "dealer",
    "service",
    "clients",
];

/// The departures from papers, in the order of the table.
const DEPARTURES: [&str; 28] = [
    "base OT",
    "OT extension check",
    "Ferret",
    "commitments",
    "leaky ANDs",
    "MACs of opened d",
    "buckets",
    "triples of a known circuit",
    "input masks",
    "evaluator's output masks",
    "garbler's outputs",
    "row hash",
    "`ywz`",
    "large circuits",
    "order, with threads",
    "adaptive garbling (RR16, Fig. 9)",
    "`tinytable`",
    "`duplo`: authenticators",
    "`duplo`: XOR between components",
    "`duplo`: differences of Δ",
    "`duplo`: copies",
    "`duplo`: check of transfers",
    "`duplo`: tables sent early",
    "`dualex`: κ_b",
    "`dualex`: probe matrix",
    "`dualex`: opening",
    "`dualex`: commitments",
    "`dualex`: reconciliation",
];

#[test]
fn the_page_of_checks_is_what_the_comments_say() {
    let (checks, departures) = (rows("Check"), rows("Departure"));
    settle("docs/reference/checks.md", |name| match name {
        "checks" => table(
            "step | check, by its name in the error | catches | undetected with",
            &in_order(checks.clone(), &STEPS),
        ),
        "departures" => table(
            "what | paper | here | why it is sound",
            &in_order(departures.clone(), &DEPARTURES),
        ),
        other => panic!("docs/reference/checks.md asks for a table of {other}"),
    });
}

#[test]
fn every_check_has_a_row() {
    let rows = rows("Check");
    let names: Vec<&str> =
        sections().iter().flat_map(|section| section.checks).map(|check| check.name()).collect();
    let silent = without_a_row(&names, &rows);
    assert!(silent.is_empty(), "no comment `Check: …` names these: {silent:#?}");
    let row = rows_in("a.rs", "/// Check: a | `known` | b | –\nfn a() {}\n", "Check");
    assert_eq!(without_a_row(&["known", "unknown"], &row), BTreeSet::from(["unknown"]));
}

/// Returns the names that are in no row's second cell.
fn without_a_row<'n>(names: &[&'n str], rows: &[Row]) -> BTreeSet<&'n str> {
    let named = |name: &&&str| rows.iter().any(|row| row.cells[1].contains(&format!("`{name}`")));
    names.iter().filter(|name| !named(name)).copied().collect()
}

/// Returns a table of rows with four cells, and the places of their comments.
fn table(head: &str, rows: &[Row]) -> String {
    let mut table = format!("| {head} | where |\n| --- | --- | --- | --- | --- |\n");
    for row in rows {
        assert_eq!(row.cells.len(), 4, "{row:?}");
        writeln!(table, "| {} | {} |", linked(&row.cells.join(" | ")), row.place()).unwrap();
    }
    table
}

/// Returns the text with links for names of proofs, `docs/proofs/…`. The page is in
/// `docs/reference`.
fn linked(text: &str) -> String {
    let mut parts = text.split("`docs/proofs/");
    let mut linked = parts.next().unwrap().to_string();
    for part in parts {
        let (target, rest) = part.split_once('`').expect("the end of a name");
        linked += &format!("[proof](../proofs/{target}){rest}");
    }
    linked
}
