//! Small tables, run and shown.

use super::Pace;
use super::run::{PaperResult, paper};
use super::show::{PapersJson, html, markdown, text};
use super::tables::{Chosen, parse};
use crate::bench::machine::Machine;

const SMALL: &str = r#"
title = "A paper"
machine = "a large one"
differs = ["It is small."]

[[table]]
name = "Table 1"
caption = "Adders"
columns = ["independent ms", "offline MB", "online kB", "total ms"]
sender = 0
row = [
  { name = "measured", paper = [nan, 2.5, nan, 1], run = ["add:8 --protocol wrk --transport memory --split-phases"], seconds = 0.1 },
  { name = "measured twice", paper = [1, 1, 1, 1], run = ["triples --count 1000 --transport memory", "add:8 --protocol wrk --transport memory"], seconds = 0.1 },
  { name = "prepared together", paper = [nan, 1, 1, 1], run = ["add:8 --protocol dualex --batch 2 --one-by-one --transport memory --repeat 1"], seconds = 0.2 },
  { name = "another protocol's", paper = [7, 8, 9, 10], left_out = "It is not here." },
  { name = "too large", paper = [1, 1, 1, 1], run = ["add:8"], seconds = 1, memory = 1e9 },
  { name = "too slow", paper = [1, 1, 1, 1], run = ["add:8"], seconds = 1e6 },
  { name = "impossible", paper = [1, 1, 1, 1], run = ["add:8 --protocol wrk --parties 3"], seconds = 0.1 },
]
"#;

fn small() -> PaperResult {
    let chosen = Chosen { name: "small", tables: parse("small", SMALL).unwrap() };
    paper(&chosen, &Machine::here(), Pace { quick: true, repeat: Some(2) }).unwrap()
}

#[test]
fn rows_are_measured_or_say_why_not_and_every_page_has_each() {
    let result = small();
    let rows = &result.tables[0].rows;
    let figures = |row: usize| rows[row].ours.iter().flatten().count();
    assert_eq!((0..7).map(figures).collect::<Vec<_>>(), [4, 4, 3, 0, 0, 0, 0]);
    for row in &rows[..3] {
        assert!(row.note.is_none() && !row.commands.is_empty(), "{row:?}");
        assert!(row.ours.iter().flatten().all(|ours| ours.median > 0.0), "{row:?}");
    }
    let spread = rows[0].ours[3].unwrap();
    assert!(spread.least <= spread.median && spread.median <= spread.most);
    let reasons = ["not here", "memory", "--quick", "It failed: wrk runs among 2"];
    for (row, reason) in rows[3..].iter().zip(reasons) {
        assert!(row.note.as_ref().unwrap().contains(reason), "{row:?}");
    }

    let format = "symbolon-paper-1";
    let machine = Machine::here();
    let result = PapersJson { format, machine, quick: true, papers: vec![result] };
    for page in [text(&result), html(&result), markdown(&result)] {
        for row in &result.papers[0].tables[0].rows {
            let name = row.name.replace('\'', "&#39;");
            assert!(page.contains(&row.name) || page.contains(&name), "{}: {page}", row.name);
        }
        assert!(page.contains("2.5") && page.contains("It is not here."), "{page}");
    }
    let json = serde_json::to_value(&result).unwrap();
    let row = &json["papers"][0]["tables"][0]["rows"][0];
    assert!(row["paper"][0].is_null());
    assert!(row["ours"][0]["median"].as_f64().unwrap() > 0.0);
}

/// Triples that are made for many evaluations count for one as its gates do.
#[test]
fn triples_count_by_the_gates_of_the_circuit() {
    let chosen = Chosen { name: "small", tables: parse("small", SMALL).unwrap() };
    let words = &chosen.tables.table[0].row[1].run;
    let measured: Vec<_> = words
        .iter()
        .flat_map(|words| {
            let mut args = super::run::bench(words).unwrap();
            args.repeat = Some(1);
            crate::bench::measurements(&args).unwrap()
        })
        .collect();
    let [triples, circuit] = &measured[..] else { panic!("two measurements") };
    let column = super::figure::Column::IndependentBytes;
    let ours = column.of(&measured, Some(0)).unwrap().median * 1e6;
    let independent = triples.costs[0].phases.iter().find(|p| p.phase == "independent").unwrap();
    let expected = independent.bytes_sent as f64 / triples.count as f64 * circuit.count as f64;
    assert!((ours - expected).abs() < 1.0, "{ours} {expected}");
}
