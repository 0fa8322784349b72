//! Papers' tables with our figures next to theirs, for people: as text, as a page, as Markdown.

use maud::{Markup, html};
use serde::Serialize;

use super::run::{PaperResult, RowResult, TableResult};
use crate::common::cost_table::align;
use crate::common::page::document;
use crate::measure::machine::{Machine, lines};
use crate::measure::page::{STYLE, machine, overview};
use crate::measure::result::Table;
use crate::measure::spread::Spread;

/// What `paper --json` prints.
#[derive(Debug, Serialize)]
pub struct PapersJson {
    /// `symbolon-paper-2`.
    pub format: &'static str,
    /// On what ours were measured.
    pub machine: Machine,
    /// Party 1's machine, as it says of itself; absent where all parties are on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_machine: Option<Machine>,
    /// How many minutes were given to each paper; null where each had all that it took.
    pub quick: Option<u32>,
    /// The papers.
    pub papers: Vec<PaperResult>,
}

const SPREADS: &str = "Ours are medians, with the least and the most in brackets where there were several runs; a sum of \
     phases has the sums of these. Figures of several evaluations are for one.";

impl PapersJson {
    /// Creates the result of papers that were run on these machines.
    pub fn new(machines: Vec<Machine>, quick: Option<u32>, papers: Vec<PaperResult>) -> PapersJson {
        let mut machines = machines.into_iter();
        let machine = machines.next().unwrap_or_else(Machine::here);
        let other_machine = machines.next();
        PapersJson { format: "symbolon-paper-2", machine, other_machine, quick, papers }
    }

    /// Returns the conditions under which everything was measured.
    fn conditions(&self) -> String {
        let Some(minutes) = self.quick else { return SPREADS.to_string() };
        let minutes =
            if minutes == 1 { "a minute".to_string() } else { format!("{minutes} minutes") };
        format!(
            "Quick: about {minutes} for each paper, the cheapest rows first, few runs of each. \
             No figure here is a record. {SPREADS}"
        )
    }
}

/// Formats a figure with three digits, or as many as it has.
fn digits(figure: f64) -> String {
    match figure.abs() {
        f if f == 0.0 || f >= 99.95 => format!("{figure:.0}"),
        f if f >= 9.995 => format!("{figure:.1}"),
        f if f >= 0.9995 => format!("{figure:.2}"),
        f if f >= 0.09995 => format!("{figure:.3}"),
        _ => format!("{figure:.4}"),
    }
}

/// The notes of a table, numbered in order.
struct Notes(Vec<String>);

impl Notes {
    fn of(table: &TableResult) -> Notes {
        let mut notes: Vec<String> = Vec::new();
        for note in table.rows.iter().filter_map(|row| row.note.as_ref()) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        Notes(notes)
    }

    fn number(&self, row: &RowResult) -> Option<usize> {
        let note = row.note.as_ref()?;
        self.0.iter().position(|known| known == note).map(|place| place + 1)
    }
}

/// Returns a row for each row of the table, with the paper's figure and ours for each column.
fn grid(table: &TableResult, notes: &Notes) -> Table {
    let mut head = vec![table.table.clone()];
    for column in &table.columns {
        head.extend([format!("{}: paper", column.name()), "ours".to_string()]);
    }
    let mut rows = vec![head];
    for row in &table.rows {
        let mark = notes.number(row).map_or(String::new(), |number| format!(" [{number}]"));
        let mut cells = vec![format!("{}{mark}", row.name)];
        let none = || "–".to_string();
        for (paper, ours) in row.paper.iter().zip(&row.ours) {
            cells.push(paper.map_or_else(none, |figure| figure.to_string()));
            cells.push(ours.map_or_else(none, |spread: Spread| spread.show(digits)));
        }
        rows.push(cells);
    }
    Table { rows, names: 1 }
}

/// Returns the remarks below a table: what differs, and the numbered notes.
fn remarks(table: &TableResult, notes: &Notes) -> Vec<String> {
    let numbered = notes.0.iter().enumerate();
    let numbered = numbered.map(|(place, note)| format!("[{}] {note}", place + 1));
    table.differs.iter().cloned().chain(numbered).collect()
}

/// Returns which command measured which row.
fn commands(table: &TableResult) -> Vec<[String; 2]> {
    let rows = table.rows.iter().filter(|row| !row.commands.is_empty());
    rows.map(|row| [row.name.clone(), row.commands.join(" ; ")]).collect()
}

/// Returns the text for a terminal.
pub fn text(result: &PapersJson) -> String {
    let machines = lines(&result.machine, result.other_machine.as_ref());
    let mut text = format!("{machines}\n{}\n", result.conditions());
    for paper in &result.papers {
        text.push_str(&format!("\n{}: {}\n", paper.paper, paper.title));
        text.push_str(&format!("Their machine: {}.\n", paper.their_machine));
        paper.differs.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        for table in &paper.tables {
            let notes = Notes::of(table);
            let Table { rows, names } = grid(table, &notes);
            text.push_str(&format!(
                "\n{}: {}\n{}",
                table.table,
                table.caption,
                align(&rows, names)
            ));
            remarks(table, &notes).iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
    }
    text
}

/// Returns a self-contained page.
pub fn html(result: &PapersJson) -> String {
    let names: Vec<&str> = result.papers.iter().map(|paper| paper.paper).collect();
    let body = html! {
        (machine(&result.machine))
        @if let Some(other) = &result.other_machine { (machine(other)) }
        p { (result.conditions()) }
        @for paper in &result.papers { (section(paper)) }
    };
    document(&format!("symbolon paper {}", names.join(" ")), STYLE, &body)
}

fn section(paper: &PaperResult) -> Markup {
    html! {
        h2 { (paper.paper) ": " (paper.title) }
        p { "Their machine: " (paper.their_machine) "." }
        ul { @for line in &paper.differs { li { (line) } } }
        @for table in &paper.tables {
            @let notes = Notes::of(table);
            h3 { (table.table) ": " (table.caption) }
            (overview(&grid(table, &notes)))
            @for line in remarks(table, &notes) { p { (line) } }
            details {
                summary { "Commands" }
                @for [name, command] in commands(table) { p { (name) ": " code { (command) } } }
            }
        }
    }
}

/// Returns Markdown, for `docs/reference/papers`.
pub fn markdown(result: &PapersJson) -> String {
    let names: Vec<&str> = result.papers.iter().map(|paper| paper.paper).collect();
    let flags = match result.quick {
        None => String::new(),
        Some(1) => " --quick".to_string(),
        Some(minutes) => format!(" --quick={minutes}"),
    };
    let mut text = format!(
        "# The papers' tables\n\nMade by `symbolon paper {}{flags} --report papers.md`.\n\n{}\n\n{}\n",
        names.join(" "),
        lines(&result.machine, result.other_machine.as_ref()).replace('\n', "\n\n"),
        result.conditions()
    );
    for paper in &result.papers {
        text.push_str(&format!("\n## `{}`\n\n{}.\n\n", paper.paper, paper.title));
        text.push_str(&format!("* Their machine: {}.\n", paper.their_machine));
        paper.differs.iter().for_each(|line| text.push_str(&format!("* {line}\n")));
        for table in &paper.tables {
            text.push_str(&markdown_table(table));
        }
    }
    text
}

fn markdown_table(table: &TableResult) -> String {
    let notes = Notes::of(table);
    let Table { rows, .. } = grid(table, &notes);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | ").replace('[', "\\["));
    let mut text = format!("\n### {}: {}\n\n", table.table, table.caption);
    for (place, row) in rows.iter().enumerate() {
        text.push_str(&line(row));
        if place == 0 {
            text.push_str(&format!("| --- |{}\n", " ---: |".repeat(row.len() - 1)));
        }
    }
    text.push('\n');
    for remark in remarks(table, &notes) {
        text.push_str(&format!("* {}\n", remark.replace('[', "\\[").replace('*', "\\*")));
    }
    for [name, command] in commands(table) {
        text.push_str(&format!("* {}: `{command}`\n", name.replace('[', "\\[")));
    }
    text
}
