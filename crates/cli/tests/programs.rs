//! `.sym` programs: the parties compute them, and the tools work on them.

mod common;

use common::{symbolon, symbolon_in};

const VOTE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sym/vote.sym");

#[test]
fn parties_compute_a_program_and_a_failed_assert_is_code_6() {
    let ballots = |last: &'static str| {
        vec![
            "local",
            VOTE,
            "--parties",
            "3",
            "--input",
            "ballot.0=[1, 0, 0, 0]",
            "--input",
            "ballot.1=[0, 0, 1, 0]",
            "--input",
            last,
        ]
    };
    let done = symbolon(&ballots("ballot.2=[1, 0, 0, 0]")).expect(0);
    assert!(done.out.contains("votes = [2, 0, 1, 0]"), "{}", done.out);
    let failed = symbolon(&ballots("ballot.2=[1, 1, 0, 0]")).expect(6);
    assert!(failed.out.contains("votes = [0, 0, 0, 0]"), "{}", failed.out);
    assert!(failed.err.contains("mark one option"), "{}", failed.err);
    assert!(failed.err.contains("line 2"), "{}", failed.err);
}

#[test]
fn tools_check_format_count_and_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "pub const N = 2;\nuse lib::twice;\nfn main(a:u8 from 0)->(r:u8 to all){twice(a)*N as u8}\n\
                  #[test]\nfn doubles(x: u8) { assert(twice(x) == x + x, \"no\"); }\n";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    std::fs::write(folder.path().join("lib.sym"), "pub fn twice(x: u8) -> u8 { x + x }\n")
        .expect("written");
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    run(&["check", "p.sym"]).expect(0);
    run(&["fmt", "--check", "p.sym"]).expect(2);
    run(&["fmt", "p.sym"]).expect(0);
    run(&["fmt", "--check", "p.sym"]).expect(0);
    let formatted = std::fs::read_to_string(folder.path().join("p.sym")).expect("text");
    assert!(
        formatted.contains("fn main(a: u8 from 0) -> (r: u8 to all) { twice(a) * N as u8 }"),
        "{formatted}"
    );
    assert!(run(&["test", "p.sym"]).expect(0).out.contains("doubles: passed"));
    let cost = run(&["cost", "p.sym", "--const", "N=3", "--json"]).expect(0).json();
    assert!(cost["ands"].as_u64().is_some_and(|ands| ands > 0), "{cost}");
    let eval = ["circuit", "eval", "p.sym", "--const", "N=5", "--input", "a=7"];
    assert_eq!(run(&eval).expect(0).out, "r = 70\n");
    run(&["circuit", "eval", "add:8", "--const", "N=5"]).expect(2).says(&["for `.sym` programs"]);
    std::fs::write(folder.path().join("bad.sym"), "fn main(a: u8 from 0) -> (r: u8 to all) { b }")
        .expect("written");
    let errors = run(&["check", "bad.sym", "--json"]).expect(2).json();
    assert_eq!((errors[0]["code"].as_str(), errors[0]["line"].as_u64()), (Some("E02"), Some(1)));
}
