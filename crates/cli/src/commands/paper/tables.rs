//! The papers' tables, as data.

use serde::Deserialize;

use super::args::Paper;
use super::figure::Column;
use crate::common::error::{CliError, CliResult};

/// What a paper measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// Authors, title and where it was published.
    pub title: String,
    /// On what the paper measured.
    pub machine: String,
    /// How the parties share this machine, if they do.
    pub here: String,
    /// What differs here, in all tables.
    pub differs: Vec<String>,
    /// Its tables, and figures with figures in them.
    pub table: Vec<Table>,
}

/// One table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// `Table N` or `Figure N`.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The party whose bytes count; without one, they are the most that any sent.
    pub sender: Option<usize>,
    /// What differs here.
    #[serde(default)]
    pub differs: Vec<String>,
    /// Its rows.
    pub row: Vec<Row>,
}

/// One row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What it is about.
    pub name: String,
    /// The paper's figures, `nan` where it has none.
    pub paper: Vec<f64>,
    /// The arguments of `symbolon bench` that measure the same. Of two commands, the first makes
    /// triples for the circuit of the second, or one is for an evaluation alone and the other for
    /// many.
    #[serde(default)]
    pub run: Vec<String>,
    /// The same with `--quick`, where it is less.
    pub quick: Option<Vec<String>>,
    /// About how long one run takes on two cores.
    #[serde(default)]
    pub seconds: f64,
    /// About how many gigabytes all parties take together.
    #[serde(default)]
    pub memory: f64,
    /// About how many gigabytes of temporary files they write.
    #[serde(default)]
    pub disk: f64,
    /// The threads of each party.
    #[serde(default)]
    pub threads: usize,
    /// The parties, where they are many.
    #[serde(default)]
    pub parties: usize,
    /// What differs here.
    pub note: Option<String>,
    /// Why nothing is run.
    pub left_out: Option<String>,
}

/// A paper's name and its tables.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The name.
    pub name: &'static str,
    /// The tables.
    pub tables: Tables,
}

const ALL: [(Paper, &str, &str); 5] = [
    (Paper::Wrk17, "wrk17", include_str!("tables/wrk17.toml")),
    (Paper::Ywz20, "ywz20", include_str!("tables/ywz20.toml")),
    (Paper::Tinytable17, "tinytable17", include_str!("tables/tinytable17.toml")),
    (Paper::Duplo17, "duplo17", include_str!("tables/duplo17.toml")),
    (Paper::Rr16, "rr16", include_str!("tables/rr16.toml")),
];

impl Table {
    /// Returns the number in its name.
    fn number(&self) -> Option<u32> {
        self.name.rsplit(' ').next()?.parse().ok()
    }
}

/// Returns the tables with these numbers, or all, of these papers.
///
/// # Errors
/// A usage failure when a paper has none of the tables.
pub fn chosen(papers: &[Paper], numbers: &[u32]) -> CliResult<Vec<Chosen>> {
    let wanted =
        |(paper, ..): &&(Paper, _, _)| papers.iter().any(|p| p == paper || *p == Paper::All);
    let load = |&(_, name, text): &(Paper, &'static str, &str)| {
        let mut tables = parse(name, text)?;
        let known: Vec<String> = tables.table.iter().map(|table| table.name.clone()).collect();
        tables.table.retain(|table| {
            numbers.is_empty() || table.number().is_some_and(|number| numbers.contains(&number))
        });
        match tables.table.is_empty() {
            true => Err(CliError::usage(format!("{name} has no such table"))
                .with_hint(format!("it has {}", known.join(", ")))),
            false => Ok(Chosen { name, tables }),
        }
    };
    ALL.iter().filter(wanted).map(load).collect()
}

/// Returns the tables in a text.
///
/// # Errors
/// An internal failure when it has none.
pub fn parse(name: &str, text: &str) -> CliResult<Tables> {
    toml::from_str(text).map_err(|error| CliError::internal(format!("{name}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::paper::run::bench;

    #[test]
    fn every_table_is_there() {
        let expected: [&[&str]; 5] = [
            &["Table 6", "Table 7", "Table 8", "Table 9", "Table 10"],
            &["Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 7"],
            &["Table 1", "Table 2", "Table 3", "Section 6"],
            &["Table 1", "Table 2", "Table 3", "Table 4"],
            &["Figure 5", "Figure 6", "Figure 7", "Figure 8"],
        ];
        let papers = chosen(&[Paper::All], &[]).unwrap();
        for (paper, expected) in papers.iter().zip(expected) {
            let names: Vec<&str> = paper.tables.table.iter().map(|t| t.name.as_str()).collect();
            assert_eq!(names, expected, "{}", paper.name);
        }
        assert_eq!(papers.len(), expected.len());
    }

    #[test]
    fn every_row_is_measured_or_says_why_not() {
        for Chosen { name, tables } in chosen(&[Paper::All], &[]).unwrap() {
            for table in &tables.table {
                let mut names = std::collections::HashSet::new();
                for row in &table.row {
                    let at = format!("{name}, {}, {}", table.name, row.name);
                    assert!(names.insert(&row.name), "{at} is there twice");
                    assert_eq!(row.paper.len(), table.columns.len(), "{at}");
                    assert_eq!(row.run.is_empty(), row.left_out.is_some(), "{at}");
                    assert_eq!(row.run.is_empty(), row.seconds == 0.0, "{at}");
                    for words in row.run.iter().chain(row.quick.iter().flatten()) {
                        let args = bench(words).unwrap_or_else(|error| panic!("{at}: {error}"));
                        assert_eq!(args.workloads.len(), 1, "{at}");
                    }
                }
            }
        }
    }

    /// Where our figures are of something else than the paper's, the table says so.
    #[test]
    fn tables_say_what_their_figures_are_of() {
        for Chosen { name, tables } in chosen(&[Paper::All], &[]).unwrap() {
            for table in &tables.table {
                let runs = || table.row.iter().map(|row| &row.run);
                let says = |what: &str| table.differs.iter().any(|line| line.contains(what));
                let at = format!("{name}, {}", table.name);
                let amortised = |run: &Vec<String>| run.len() > 1 && run[0].starts_with("triples");
                if runs().any(amortised) {
                    assert!(says("triples alone"), "{at}: input and gate masks are left out");
                }
                if name != "rr16" && runs().flatten().any(|run| run.contains("dualex")) {
                    assert!(says("dualex"), "{at}: whose figures ours are");
                    assert!(table.sender.is_none() || says("both parties garble"), "{at}: bytes");
                }
                if table.columns.contains(&Column::TripleBytes) {
                    assert!(says("mean"), "{at}: which bytes");
                }
                if table.columns.contains(&Column::EachTime) && name == "wrk17" {
                    assert!(says("function-independent"), "{at}: which phases");
                }
            }
        }
    }

    #[test]
    fn tables_are_chosen_by_number() {
        let papers = chosen(&[Paper::Rr16, Paper::Wrk17], &[6]).unwrap();
        let names: Vec<_> = papers.iter().map(|p| (p.name, p.tables.table.len())).collect();
        assert_eq!(names, [("wrk17", 1), ("rr16", 1)]);
        assert!(chosen(&[Paper::Wrk17], &[5]).is_err());
    }
}
