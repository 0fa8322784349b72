//! `std::psi` for any number of parties, against sets computed here.

use std::collections::BTreeMap;

use crate::common::bits;
use symbolon_circuit::Circuit;
use symbolon_lang::{Options, compile_text};

/// A table: values by key.
type Table = BTreeMap<u64, u64>;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    /// Draws this many keys below 14, 255 among them, with values.
    fn table(&mut self, rows: usize) -> Table {
        let mut table = Table::new();
        while table.len() < rows {
            let key = match self.below(14) {
                13 => 255,
                key => key,
            };
            table.insert(key, self.below(16));
        }
        table
    }
}

fn compiled(parties: usize, text: &str) -> Circuit {
    let options = Options { parties: Some(parties as u16), ..Options::default() };
    compile_text(text, &options).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Returns the keys that all tables have, each with the values of all.
fn joined(tables: &[Table]) -> Vec<(u64, Vec<u64>)> {
    let shared = tables[0].keys().filter(|key| tables.iter().all(|table| table.contains_key(key)));
    shared.map(|&key| (key, tables.iter().map(|table| table[&key]).collect())).collect()
}

fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(", "))
}

/// Writes items, then `null` up to a length.
fn filled(items: impl IntoIterator<Item = String>, len: usize) -> String {
    let mut items: Vec<String> = items.into_iter().collect();
    items.resize(len, "null".into());
    list(items)
}

fn rows(table: &Table) -> Vec<String> {
    table.iter().map(|(key, value)| format!("[{key}, {value}]")).collect()
}

/// Returns what the functions give for these tables: common keys and rows, up to a length, how
/// many there are, and the sums of their values.
fn wanted(tables: &[Table], len: usize) -> [String; 4] {
    let joined = joined(tables);
    let sums = (0..tables.len()).map(|party| joined.iter().map(|row| row.1[party]).sum::<u64>());
    [
        filled(joined.iter().map(|row| row.0.to_string()), len),
        filled(joined.iter().map(|row| format!("[{}, {}]", row.0, list(&row.1))), len),
        joined.len().to_string(),
        list(sums),
    ]
}

fn outcome(circuit: &Circuit, inputs: &[String]) -> Vec<String> {
    bits(circuit, &inputs.iter().map(String::as_str).collect::<Vec<_>>())
}

const SHAPES: [(usize, usize); 9] =
    [(2, 1), (2, 4), (2, 5), (3, 1), (3, 3), (3, 6), (4, 2), (5, 4), (7, 3)];

#[test]
fn full_tables_of_all_parties() {
    let mut random = Random(1);
    for (parties, len) in SHAPES {
        let circuit = compiled(
            parties,
            &format!(
                "use std::psi::{{intersect_all, join_all, count_all, sum_all}};
                fn main(t: [[(u8, u4); {len}]; PARTIES] from each) -> (
                    keys: [Option<u8>; {len}] to all,
                    rows: [Option<(u8, [u4; PARTIES])>; {len}] to all,
                    count: u<clog2({len} + 1)> to all,
                    sums: [u<4 + clog2({len})>; PARTIES] to all,
                ) {{
                    let k = [[row.0 for row in table] for table in t];
                    (intersect_all(k), join_all(t), count_all(k), sum_all(t))
                }}"
            ),
        );
        for _ in 0..40 {
            let tables: Vec<Table> = (0..parties).map(|_| random.table(len)).collect();
            let inputs: Vec<String> = tables.iter().map(|table| list(rows(table))).collect();
            let out = outcome(&circuit, &inputs);
            assert_eq!(out[..4], wanted(&tables, len), "{tables:?}");
            assert_eq!(out.get(4).map_or("0", |failed| failed), "0");
        }
    }
}

#[test]
fn tables_of_up_to_so_many_rows() {
    let mut random = Random(2);
    for (parties, len) in SHAPES {
        let circuit = compiled(
            parties,
            &format!(
                "use std::psi::{{intersect_all_up_to, join_all_up_to, count_all_up_to, sum_all_up_to}};
                fn main(t: [[Option<(u8, u4)>; {len}]; PARTIES] from each) -> (
                    keys: [Option<u8>; {len}] to all,
                    rows: [Option<(u8, [u4; PARTIES])>; {len}] to all,
                    count: u<clog2({len} + 1)> to all,
                    sums: [u<4 + clog2({len})>; PARTIES] to all,
                ) {{
                    let k = [[match row {{ Some((key, _)) => Some(key), None => None }} for row in table]
                        for table in t];
                    (intersect_all_up_to(k), join_all_up_to(t), count_all_up_to(k), sum_all_up_to(t))
                }}"
            ),
        );
        for _ in 0..40 {
            let tables: Vec<Table> = (0..parties)
                .map(|_| {
                    let rows = random.below(len as u64 + 1) as usize;
                    random.table(rows)
                })
                .collect();
            let inputs: Vec<String> = tables.iter().map(|table| filled(rows(table), len)).collect();
            let out = outcome(&circuit, &inputs);
            assert_eq!(out[..4], wanted(&tables, len), "{tables:?}");
            assert_eq!(out.get(4).map_or("0", |failed| failed), "0");
        }
    }
}

#[test]
fn two_tables_of_up_to_so_many_rows_may_differ_in_length_and_type() {
    let mut random = Random(3);
    for (n, m) in [(1, 1), (1, 4), (3, 3), (4, 2), (5, 8)] {
        let least = n.min(m);
        let circuit = compiled(
            2,
            &format!(
                "use std::psi::{{intersect_up_to, join_up_to, sorted_set, sorted_table}};
                fn keys<T, const N: usize>(table: [Option<(u8, T)>; N]) -> [Option<u8>; N] {{
                    [match row {{ Some((key, _)) => Some(key), None => None }} for row in table]
                }}
                fn main(a: [Option<(u8, u4)>; {n}] from 0, b: [Option<(u8, i9)>; {m}] from 1) -> (
                    keys: [Option<u8>; {least}] to all,
                    rows: [Option<(u8, u4, i9)>; {least}] to all,
                    same: bool to all,
                ) {{
                    let k = intersect_up_to(keys(a), keys(b));
                    let r = join_up_to(a, b);
                    let same = sorted_table(rev(a)) == a && sorted_set(rev(keys(b))) == keys(b);
                    (k, r, same)
                }}"
            ),
        );
        for _ in 0..40 {
            let (first, second) = (random.below(n as u64 + 1), random.below(m as u64 + 1));
            let (a, b) = (random.table(first as usize), random.table(second as usize));
            let out = outcome(&circuit, &[filled(rows(&a), n), filled(rows(&b), m)]);
            let joined = joined(&[a.clone(), b.clone()]);
            let shown = joined.iter().map(|row| format!("[{}, {}, {}]", row.0, row.1[0], row.1[1]));
            let found = joined.iter().map(|row| row.0.to_string());
            let wanted = [filled(found, least), filled(shown, least), "true".into()];
            assert_eq!(out[..3], wanted, "{a:?} {b:?}");
            assert_eq!(out.get(3).map_or("0", |failed| failed), "0");
        }
    }
}

#[test]
fn unsorted_tables_are_sorted_first() {
    let mut random = Random(4);
    let circuit = compiled(
        3,
        "use std::psi::{intersect_all_unsorted, join_all_unsorted};
        fn main(t: [[(u8, u4); 4]; PARTIES] from each) -> (
            keys: [Option<u8>; 4] to all, rows: [Option<(u8, [u4; PARTIES])>; 4] to all
        ) {
            (intersect_all_unsorted([[row.0 for row in table] for table in t]), join_all_unsorted(t))
        }",
    );
    for _ in 0..40 {
        let tables: Vec<Table> = (0..3).map(|_| random.table(4)).collect();
        let shuffled = tables.iter().map(|table| {
            let mut rows = rows(table);
            rows.rotate_left(random.below(4) as usize);
            rows.swap(0, random.below(4) as usize);
            list(rows)
        });
        let inputs: Vec<String> = shuffled.collect();
        let out = outcome(&circuit, &inputs);
        assert_eq!(out[..2], wanted(&tables, 4)[..2], "{tables:?}");
        assert_eq!(out[2], "0");
    }
    let twice = ["[[1, 1], [2, 1], [3, 1], [1, 1]]", "[[1, 1], [2, 1], [3, 1], [4, 1]]"];
    let out = bits(&circuit, &[twice[1], twice[0], twice[1]]);
    assert_ne!(out[2], "0", "a key occurs twice");
}

#[test]
fn keys_out_of_order_fail() {
    let full = compiled(
        3,
        "fn main(s: [[u8; 3]; PARTIES] from each) -> (r: u2 to all) { std::psi::count_all(s) }",
    );
    let filled = compiled(
        3,
        "fn main(s: [[Option<u8>; 3]; PARTIES] from each) -> (r: u2 to all) {
            std::psi::count_all_up_to(s)
        }",
    );
    let good = "[1, 2, 3]";
    for (bad, circuit) in [
        ("[1, 3, 3]", &full),
        ("[3, 2, 1]", &full),
        ("[1, 3, 3]", &filled),
        ("[2, 1, null]", &filled),
        ("[null, 1, 2]", &filled),
        ("[1, null, 2]", &filled),
    ] {
        for party in 0..3 {
            let mut inputs = [good; 3];
            assert_eq!(bits(circuit, &inputs), ["3", "0"]);
            inputs[party] = bad;
            let out = bits(circuit, &inputs);
            assert_eq!(out[0], "0", "{bad}");
            assert_ne!(out[1], "0", "{bad}");
        }
    }
    assert_eq!(bits(&filled, &["[1, null, null]", good, "[null, null, null]"]), ["0", "0"]);
    assert_eq!(bits(&filled, &["[1, null, null]", good, "[0, 1, null]"]), ["1", "0"]);
}
