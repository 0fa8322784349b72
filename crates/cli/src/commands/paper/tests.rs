//! Small tables, run and shown.

use std::thread;

use clap::Parser;

use super::args::{Pace, PaperArgs};
use super::run::{PaperResult, paper};
use super::show::{PapersJson, html, markdown, text};
use super::site::Site;
use super::tables::{Chosen, parse};
use crate::common::error::{CliError, ErrorClass};
use crate::measure::machine::Machine;

const SMALL: &str = r#"
title = "A paper"
machine = "a large one"
here = "Both parties are here."
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

fn chosen(text: &str) -> Chosen {
    Chosen { name: "small", tables: parse("small", text).unwrap() }
}

const PACE: Pace = Pace { quick: Some(1), repeat: Some(2) };

fn small() -> PaperResult {
    paper(&chosen(SMALL), &mut Site::Here(Machine::here()), PACE).unwrap()
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

    assert_eq!(result.differs, ["Both parties are here.", "It is small."]);
    let result = PapersJson::new(vec![Machine::here()], Some(1), vec![result]);
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
    let chosen = chosen(SMALL);
    let words = &chosen.tables.table[0].row[1].run;
    let measured: Vec<_> = words
        .iter()
        .flat_map(|words| {
            let mut args = super::run::bench(words).unwrap();
            args.repeat = Some(1);
            crate::measure::measurements(&args, None).unwrap()
        })
        .collect();
    let [triples, circuit] = &measured[..] else { panic!("two measurements") };
    let column = super::figure::Column::IndependentBytes;
    let ours = column.of(&measured, Some(0)).unwrap().median * 1e6;
    let independent = triples.costs[0].phases.iter().find(|p| p.phase == "independent").unwrap();
    let expected = independent.bytes_sent as f64 / triples.count as f64 * circuit.count as f64;
    assert!((ours - expected).abs() < 1.0, "{ours} {expected}");
}

const BETWEEN: &str = r#"
title = "A paper"
machine = "two large ones"
here = "Both parties are here."
differs = []

[[table]]
name = "Table 1"
caption = "Adders"
columns = ["online kB", "total ms", "triple us"]
row = [
  { name = "measured", paper = [1, 1, 1], run = ["add:8 --protocol wrk"], seconds = 1 },
  { name = "of three", paper = [1, 1, 1], run = ["add:8 --parties 3"], seconds = 2 },
  { name = "of triples", paper = [1, 1, 1], run = ["triples --count 1000"], seconds = 3 },
  { name = "fails", paper = [1, 1, 1], run = ["no-such"], seconds = 4 },
  { name = "after it", paper = [1, 1, 1], run = ["add:8"], seconds = 5 },
  { name = "too slow", paper = [1, 1, 1], run = ["add:8"], seconds = 50 },
]
"#;

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    args: PaperArgs,
}

/// Both machines run and leave out the same rows, and stop where one fails.
#[test]
fn two_machines_fill_one_table() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    drop(port);
    let party = |words: [&str; 4], pace: Pace| {
        let words = ["paper", "wrk17", "--transport", "tcp"].into_iter().chain(words);
        let args = Words::parse_from(words).args;
        let chosen = chosen(BETWEEN);
        let mut site = Site::new(&args, std::slice::from_ref(&chosen), pace)?;
        let result = paper(&chosen, &mut site, pace)?;
        Ok::<_, CliError>(PapersJson::new(site.machines(), pace.quick, vec![result]))
    };
    let both = |paces: [Pace; 2]| {
        let [zero, one] = [["0", "--listen"], ["1", "--connect"]]
            .map(|[number, way]| ["--party", number, way, &address]);
        thread::scope(|scope| {
            let one = scope.spawn(|| party(one, paces[1]));
            [party(zero, paces[0]), one.join().unwrap()]
        })
    };
    let [zero, one] = both([PACE; 2]).map(Result::unwrap);
    let json = |result: &PapersJson| serde_json::to_value(result).unwrap();
    assert_eq!(json(&zero), json(&one), "one report");
    assert!(zero.other_machine.is_some() && text(&zero).starts_with("party 0: "));
    assert!(zero.papers[0].differs[0].starts_with("Each party is on a machine of its own"));
    let rows = &zero.papers[0].tables[0].rows;
    let figures = |row: usize| rows[row].ours.iter().flatten().count();
    assert_eq!((0..6).map(figures).collect::<Vec<_>>(), [2, 0, 1, 0, 0, 0]);
    let notes = ["", "two parties", "", "It failed: ", "an earlier row failed", "--quick"];
    for (row, note) in rows.iter().zip(notes) {
        assert!(row.note.clone().unwrap_or_default().contains(note), "{row:?}");
    }
    // Another number of runs is another table.
    for ended in both([PACE, Pace { repeat: Some(3), ..PACE }]) {
        let failure = ended.expect_err("they differ");
        assert_eq!(failure.class, ErrorClass::Incompatible, "{failure}");
        assert!(failure.message.contains("repeat"), "{failure}");
    }
}

#[test]
fn quick_takes_minutes_after_an_equals_sign_only() {
    let quick = |words: &[&str]| {
        let words = ["paper"].iter().chain(words);
        Words::try_parse_from(words).map(|words| words.args.quick).map_err(|error| error.kind())
    };
    assert_eq!(quick(&["wrk17"]), Ok(None));
    assert_eq!(quick(&["--quick", "wrk17"]), Ok(Some(1)));
    assert_eq!(quick(&["--quick=7", "wrk17"]), Ok(Some(7)));
    assert!(quick(&["--quick=0", "wrk17"]).is_err());
}
