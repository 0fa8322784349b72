//! The AND gates of the library's functions, as `docs/language.md` lists them.
//!
//! `SYMBOLON_WRITE=1 cargo test -p symbolon-lang --test counts` rewrites the list.

mod common;

use std::fmt::Write;
use std::path::Path;

use symbolon_circuit::builder::and_count;
use symbolon_circuit::lower_lookups;

const BEGIN: &str = "<!-- the counts begin: tests/counts.rs writes them -->\n";
const END: &str = "<!-- the counts end -->\n";

/// What is computed, a program for it, and the best public count that we know.
const ROWS: &[(&str, &str, &str)] = &[
    ("add, subtract 64 bits", "(a: u64 from 0, b: u64 from 1) -> (r: u64 to all) { a + b }", "63"),
    ("compare 64 bits", "(a: u64 from 0, b: u64 from 1) -> (r: bool to all) { a < b }", "64"),
    (
        "select 64 bits",
        "(a: u64 from 0, b: u64 from 1, c: bool from 1) -> (r: u64 to all) { if c { a } else { b } }",
        "64",
    ),
    ("multiply 64 → 64", "(a: u64 from 0, b: u64 from 1) -> (r: u64 to all) { a * b }", "4033"),
    (
        "multiply 2048 → 2048",
        "(a: u2048 from 0, b: u2048 from 1) -> (r: u2048 to all) { a * b }",
        "4192257",
    ),
    (
        "`num::mul_wide` 64 × 64",
        "(a: u64 from 0, b: u64 from 1) -> (r: u128 to all) { std::num::mul_wide(a, b) }",
        "8128",
    ),
    ("`square` 64 → 128", "(a: u64 from 0) -> (r: u128 to all) { square(a) }", ""),
    ("divide 64", "(a: u64 from 0, b: u64 from 1) -> (r: u64 to all) { a / b }", "4285"),
    (
        "`num::divmod` 64",
        "(a: u64 from 0, b: u64 from 1) -> (r: (u64, u64) to all) { std::num::divmod(a, b) }",
        "4285",
    ),
    ("divide 64, signed", "(a: i64 from 0, b: i64 from 1) -> (r: i64 to all) { a / b }", ""),
    ("`num::isqrt` 64", "(a: u64 from 0) -> (r: u32 to all) { std::num::isqrt(a) }", ""),
    (
        "`num::checked_add`, `sat_add` 64",
        "(a: u64 from 0, b: u64 from 1) -> (r: u64 to all) { std::num::sat_add(a, b) }",
        "",
    ),
    (
        "`num::checked_mul`, `sat_mul` 64",
        "(a: u64 from 0, b: u64 from 1) -> (r: u64 to all) { std::num::sat_mul(a, b) }",
        "",
    ),
    ("`min`, `max` 64", "(a: u64 from 0, b: u64 from 1) -> (r: u64 to all) { min(a, b) }", "128"),
    ("`abs_diff` 64", "(a: u64 from 0, b: u64 from 1) -> (r: u64 to all) { abs_diff(a, b) }", ""),
    ("`count` 64", "(a: [bool; 64] from 0) -> (r: u7 to all) { count(a) }", "63"),
    ("`sum` of 16 × u32", "(a: [u32; 16] from 0) -> (r: u36 to all) { sum(a) }", ""),
    ("shift 64 by u6", "(a: u64 from 0, b: u6 from 1) -> (r: u64 to all) { a << b }", ""),
    (
        "`bits::rotl` 64 by a secret",
        "(a: u64 from 0, b: u6 from 1) -> (r: u64 to all) { std::bits::rotl(a, b as u32) }",
        "",
    ),
    ("`bits::clz` 64", "(a: u64 from 0) -> (r: u7 to all) { std::bits::clz(a) }", ""),
    (
        "`bits::gf2_mul` 128 × 128",
        "(a: u128 from 0, b: u128 from 1) -> (r: u256 to all) { std::bits::gf2_mul(a, b) }",
        "2187",
    ),
    (
        "`sort::sort` 16 × u32",
        "(a: [u32; 16] from 0) -> (r: [u32; 16] to all) { std::sort::sort(a) }",
        "",
    ),
    (
        "`sort::by_key` 16 × (u16, u16)",
        "(a: [u16; 16] from 0, b: [u16; 16] from 1) -> (r: [u16; 16] to all) { std::sort::by_key(a, b).1 }",
        "",
    ),
    (
        "`sort::merge` 16 and 16 × u32",
        "(a: [u32; 16] from 0, b: [u32; 16] from 1) -> (r: [u32; 32] to all) { std::sort::merge(a, b) }",
        "",
    ),
    (
        "`sort::smallest` 4 of 16 × u32",
        "(a: [u32; 16] from 0) -> (r: [u32; 4] to all) { std::sort::smallest::<u32, 16, 4>(a) }",
        "",
    ),
    (
        "`psi::intersect` 16 and 16 × u32",
        "(a: [u32; 16] from 0, b: [u32; 16] from 1) -> (r: [Option<u32>; 16] to all) { std::psi::intersect(a, b) }",
        "",
    ),
    (
        "`psi::join` 16 and 16 × (u32, u32)",
        "(a: [(u32, u32); 16] from 0, b: [(u32, u32); 16] from 1) -> (r: [Option<(u32, u32, u32)>; 16] to all) { std::psi::join(a, b) }",
        "",
    ),
    (
        "`stats::mean` 16 × u32",
        "(a: [u32; 16] from 0) -> (r: u32 to all) { std::stats::mean(a) }",
        "",
    ),
    (
        "`stats::median` 15 × u32",
        "(a: [u32; 15] from 0) -> (r: u32 to all) { std::stats::median(a) }",
        "",
    ),
    ("`stats::mode` 8 × u8", "(a: [u8; 8] from 0) -> (r: u8 to all) { std::stats::mode(a) }", ""),
    (
        "`fixed<16, 16>` multiply",
        "(a: fixed<16, 16> from 0, b: fixed<16, 16> from 1) -> (r: fixed<16, 16> to all) { a * b }",
        "",
    ),
    (
        "`fixed<16, 16>` divide",
        "(a: fixed<16, 16> from 0, b: fixed<16, 16> from 1) -> (r: fixed<16, 16> to all) { a / b }",
        "",
    ),
    (
        "`fixed::sqrt` `<16, 16>`",
        "(a: fixed<16, 16> from 0) -> (r: fixed<16, 16> to all) { std::fixed::sqrt(a) }",
        "",
    ),
    (
        "`fixed::exp` `<16, 16>`",
        "(a: fixed<16, 16> from 0) -> (r: fixed<16, 16> to all) { std::fixed::exp(a) }",
        "",
    ),
    (
        "`fixed::ln` `<16, 16>`",
        "(a: fixed<16, 16> from 0) -> (r: fixed<16, 16> to all) { std::fixed::ln(a) }",
        "",
    ),
    (
        "`fixed::sigmoid` `<16, 16>`",
        "(a: fixed<16, 16> from 0) -> (r: fixed<16, 16> to all) { std::fixed::sigmoid(a) }",
        "",
    ),
    ("f32 add, subtract", "(a: f32 from 0, b: f32 from 1) -> (r: f32 to all) { a + b }", "986"),
    ("f32 multiply", "(a: f32 from 0, b: f32 from 1) -> (r: f32 to all) { a * b }", "3016"),
    ("f32 divide", "(a: f32 from 0, b: f32 from 1) -> (r: f32 to all) { a / b }", "3809"),
    ("`float::sqrt` f32", "(a: f32 from 0) -> (r: f32 to all) { std::float::sqrt(a) }", "3006"),
    ("f32 compare", "(a: f32 from 0, b: f32 from 1) -> (r: bool to all) { a < b }", "213"),
    ("f64 add, subtract", "(a: f64 from 0, b: f64 from 1) -> (r: f64 to all) { a + b }", "5385"),
    ("f64 multiply", "(a: f64 from 0, b: f64 from 1) -> (r: f64 to all) { a * b }", "19626"),
    ("f64 divide", "(a: f64 from 0, b: f64 from 1) -> (r: f64 to all) { a / b }", "82269"),
    ("`float::sqrt` f64", "(a: f64 from 0) -> (r: f64 to all) { std::float::sqrt(a) }", "91504"),
    ("`float::exp` f32", "(a: f32 from 0) -> (r: f32 to all) { std::float::exp(a) }", "11409"),
    ("`float::ln` f32", "(a: f32 from 0) -> (r: f32 to all) { std::float::ln(a) }", "8878"),
    ("`float::sin` f32", "(a: f32 from 0) -> (r: f32 to all) { std::float::sin(a) }", "5215"),
    ("`float::cos` f32", "(a: f32 from 0) -> (r: f32 to all) { std::float::cos(a) }", "5227"),
    ("`float::exp` f64", "(a: f64 from 0) -> (r: f64 to all) { std::float::exp(a) }", ""),
    ("`float::ln` f64", "(a: f64 from 0) -> (r: f64 to all) { std::float::ln(a) }", ""),
    ("`float::sin` f64", "(a: f64 from 0) -> (r: f64 to all) { std::float::sin(a) }", ""),
    ("`float::cos` f64", "(a: f64 from 0) -> (r: f64 to all) { std::float::cos(a) }", ""),
    (
        "`float::fast::add`, `sub` f32",
        "(a: f32 from 0, b: f32 from 1) -> (r: f32 to all) { std::float::fast::add(a, b) }",
        "986",
    ),
    (
        "`float::fast::mul` f32",
        "(a: f32 from 0, b: f32 from 1) -> (r: f32 to all) { std::float::fast::mul(a, b) }",
        "3016",
    ),
    (
        "`float::fast::div` f32",
        "(a: f32 from 0, b: f32 from 1) -> (r: f32 to all) { std::float::fast::div(a, b) }",
        "3809",
    ),
    (
        "`float::fast::sqrt` f32",
        "(a: f32 from 0) -> (r: f32 to all) { std::float::fast::sqrt(a) }",
        "3006",
    ),
    (
        "`float::fast::exp` f32",
        "(a: f32 from 0) -> (r: f32 to all) { std::float::fast::exp(a) }",
        "11409",
    ),
    (
        "`float::fast::ln` f32",
        "(a: f32 from 0) -> (r: f32 to all) { std::float::fast::ln(a) }",
        "8878",
    ),
    (
        "`float::fast::add`, `sub` f64",
        "(a: f64 from 0, b: f64 from 1) -> (r: f64 to all) { std::float::fast::add(a, b) }",
        "5385",
    ),
    (
        "`float::fast::mul` f64",
        "(a: f64 from 0, b: f64 from 1) -> (r: f64 to all) { std::float::fast::mul(a, b) }",
        "19626",
    ),
    (
        "`float::fast::div` f64",
        "(a: f64 from 0, b: f64 from 1) -> (r: f64 to all) { std::float::fast::div(a, b) }",
        "82269",
    ),
    ("i32 as f32", "(a: i32 from 0) -> (r: f32 to all) { a as f32 }", ""),
    ("f32 as i32", "(a: f32 from 0) -> (r: i32 to all) { a as i32 }", ""),
    ("f64 as f32", "(a: f64 from 0) -> (r: f32 to all) { a as f32 }", ""),
    (
        "`ml::dot` 16 × u32",
        "(a: [u32; 16] from 0, b: [u32; 16] from 1) -> (r: u32 to all) { std::ml::dot(a, b) }",
        "",
    ),
    ("`ml::argmin` 16 × u32", "(a: [u32; 16] from 0) -> (r: u4 to all) { std::ml::argmin(a) }", ""),
    (
        "`crypto::aes128::encrypt` with `expand`",
        "(k: [u8; 16] from 0, m: [u8; 16] from 1) -> (r: [u8; 16] to all) { std::crypto::aes128::encrypt(std::crypto::aes128::expand(k), m) }",
        "6400",
    ),
    (
        "`crypto::aes128::encrypt`",
        "(k: [[u8; 16]; 11] from 0, m: [u8; 16] from 1) -> (r: [u8; 16] to all) { std::crypto::aes128::encrypt(k, m) }",
        "5120",
    ),
    (
        "`crypto::aes_gcm::seal` of 64 bytes",
        "(k: [u8; 16] from 0, n: [u8; 12] from 1, m: [u8; 64] from 1) -> (r: ([u8; 64], [u8; 16]) to all) { std::crypto::aes_gcm::seal(k, n, [0u8; 0], m) }",
        "",
    ),
    (
        "`crypto::sha256_block`",
        "(s: [u32; 8] from 0, b: [u32; 16] from 1) -> (r: [u32; 8] to all) { std::crypto::sha256_block(s, b) }",
        "22272",
    ),
    (
        "`text::find` 4 in 32 bytes",
        "(a: [u8; 32] from 0, b: [u8; 4] from 1) -> (r: Option<u6> to all) { match std::text::find(a, b) { Some(i) => Some(i as u6), None => None } }",
        "",
    ),
    (
        "`text::edit_distance` 8 and 8 bytes",
        "(a: [u8; 8] from 0, b: [u8; 8] from 1) -> (r: u32 to all) { std::text::edit_distance(a, b) as u32 }",
        "",
    ),
];

fn table() -> String {
    let mut table = String::from("| function | AND gates | best public |\n| --- | --- | --- |\n");
    for (name, program, public) in ROWS {
        let circuit = common::circuit(&format!("fn main{program}"));
        let ands = and_count(&lower_lookups(&circuit));
        let _ = writeln!(table, "| {name} | {ands} | {public} |");
    }
    table
}

#[test]
fn the_list_of_counts_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the counts");
    let (listed, after) = rest.split_once(END).expect("and an end of it");
    let current = table();
    if std::env::var_os("SYMBOLON_WRITE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{current}{END}{after}")).expect("a write");
        return;
    }
    assert_eq!(listed, current, "SYMBOLON_WRITE=1 rewrites the list");
}

#[test]
fn nothing_is_worse_than_the_best_public_circuit() {
    for (name, program, public) in ROWS {
        let Ok(public) = public.parse::<u64>() else { continue };
        let circuit = common::circuit(&format!("fn main{program}"));
        let ands = and_count(&lower_lookups(&circuit));
        assert!(ands <= public, "{name}: {ands}");
    }
}
