//! The programs of `examples/sym`: expected outputs, and their own tests.

use std::path::Path;

use crate::common::bits;
use symbolon_circuit::{Circuit, FileForm, eval_ports, format_value, parse_file};
use symbolon_lang::source::{Folder, read_source};
use symbolon_lang::testing::run_tests;
use symbolon_lang::{Options, check, compile, with_stack};

fn options(constants: &[(&str, &str)]) -> Options {
    let constants = constants.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Options { constants: constants.collect(), ..Options::default() }
}

fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sym").join(name);
    read_source(&path).expect("it is there")
}

fn example(name: &str, constants: &[(&str, &str)]) -> Circuit {
    match compile(name, &program(name), &Folder(".".into()), &options(constants)) {
        Ok(circuit) => circuit,
        Err(errors) => panic!("{errors}"),
    }
}

fn outputs(name: &str, constants: &[(&str, &str)], inputs: &[&str]) -> Vec<String> {
    bits(&example(name, constants), inputs)
}

#[test]
fn psi_adds_up_debts() {
    let a = "[[3, 10], [7, 20], [9, 30], [12, 4294967295]]";
    let b = "[[1, 5], [7, 6], [12, 4294967295], [13, 1]]";
    let out = outputs("psi.sym", &[("N", "4")], &[a, b]);
    assert_eq!(out, ["[[7, 26], [12, 8589934590], null, null]", "0"]);
}

#[test]
fn auction_finds_winner_and_second_price() {
    let out = outputs("auction.sym", &[("PARTIES", "4")], &["30", "90", "70", "90"]);
    assert_eq!(out, ["1", "0", "90", "0", "0"]);
}

#[test]
fn salaries_have_a_threshold() {
    let of = |inputs: &[&str]| outputs("salaries.sym", &[("PARTIES", "7")], inputs);
    let six = of(&["100", "null", "300", "50", "70", "1000", "80"]);
    assert_eq!(six, ["266", "100", "0"]);
    let four = of(&["100", "null", "300", "null", "70", "1000", "null"]);
    assert_eq!(four, ["0", "0", "1"]);
}

#[test]
fn score_is_a_logistic_regression() {
    let w: Vec<String> = (0..20).map(|i| format!("{}", f64::from(i - 10) / 8.0)).collect();
    let x: Vec<String> = (0..20).map(|i| format!("{}", f64::from(i % 3) / 2.0)).collect();
    let z: f64 =
        (0..20).map(|i| f64::from(i - 10) / 8.0 * f64::from(i % 3) / 2.0).sum::<f64>() + 0.25;
    let list = |values: &[String]| format!("[{}]", values.join(", "));
    let out = outputs("score.sym", &[], &[&list(&w), "0.25", &list(&x)]);
    let score: f64 = out[0].parse().expect("a number");
    assert!((score - 1.0 / (1.0 + f64::exp(-z))).abs() < 1e-4, "{score} {z}");
}

#[test]
fn nearest_takes_the_majority_of_five() {
    let point = |at: i32, class: u8| {
        format!("{{\"at\": [{at}, 0, 0, 0, 0, 0, 0, -{at}], \"class\": {class}}}")
    };
    let points: Vec<String> = [(1, 3), (2, 3), (50, 1), (3, 2), (60, 1), (4, 3), (5, 2), (70, 1)]
        .map(|(at, class)| point(at, class))
        .into();
    let out = outputs(
        "nearest.sym",
        &[("N", "8")],
        &[&format!("[{}]", points.join(", ")), "[0, 0, 0, 0, 0, 0, 0, 0]"],
    );
    assert_eq!(out, ["3"]);
}

#[test]
fn edit_counts_changes() {
    let out = outputs("edit.sym", &[("N", "4")], &["[1, 2, 3, 4]", "[2, 3, 4, 5]"]);
    assert_eq!(out, ["2"]);
}

#[test]
fn cbcmac_calls_one_component() {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    let circuit = example("cbcmac.sym", &[]);
    let [repeat] = circuit.main().repeats[..] else { panic!("one repeat") };
    assert_eq!((repeat.count, circuit.main().calls.len()), (1024, 0));
    let steps = circuit.components().iter().find(|component| component.name == "step");
    let ands = steps.map(|step| {
        step.steps.iter().filter(|step| matches!(step, symbolon_circuit::Step::And { .. })).count()
    });
    assert_eq!(ands, Some(5120));
    let small = example("cbcmac.sym", &[("BLOCKS", "3")]);
    let key: [u8; 16] = std::array::from_fn(|i| i as u8 * 7);
    let cipher = aes::Aes128::new(&key.into());
    let mut state = [0u8; 16];
    let mut message = Vec::new();
    for block in 0..3u8 {
        let bytes: [u8; 16] = std::array::from_fn(|i| block * 50 + i as u8);
        message.push(format!("{bytes:?}"));
        let mut next = std::array::from_fn::<u8, 16, _>(|i| state[i] ^ bytes[i]).into();
        cipher.encrypt_block(&mut next);
        state = next.into();
    }
    let message = format!("[{}]", message.join(", "));
    assert_eq!(bits(&small, &[&format!("{key:?}"), &message]), [format!("{state:?}")]);
}

/// The inputs are the CSV files, with the columns that the program's first comment names.
#[test]
fn hospitals_join_by_addresses() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hospitals");
    let text = read_source(&folder.join("hospitals.sym")).expect("it is there");
    let circuit = compile("hospitals.sym", &text, &Folder(folder.clone()), &Options::default());
    let circuit = circuit.unwrap_or_else(|errors| panic!("{errors}"));
    let commands = text.lines().filter_map(|line| line.trim().strip_prefix("//!     --input '"));
    let mut inputs = Vec::new();
    for (command, input) in commands.zip(circuit.inputs()) {
        let (name, value) = command.split_once("=@examples/hospitals/").expect("a file");
        let (file, columns) =
            value.trim_end_matches(" \\").trim_end_matches('\'').split_once('#').unwrap();
        assert_eq!(name, input.name);
        let rows = std::fs::read_to_string(folder.join(file)).expect("it is there");
        let columns = columns.split(',').map(String::from).collect();
        let form = FileForm { csv: true, columns, ..FileForm::default() };
        inputs.push(parse_file(input, &rows, &form).expect("rows"));
    }
    let outputs = eval_ports(&circuit, &inputs).expect("inputs fit");
    for (output, bits) in circuit.outputs().iter().zip(outputs) {
        let line = format!("//! {} = {}\n", output.name, format_value(&output.ty, &bits));
        assert!(output.name == "assert" || text.contains(&line), "{line}");
    }
}

#[test]
fn vote_counts_marks() {
    let yes = "[false, true, false, false]";
    let no = "[true, false, false, false]";
    let of = |inputs: &[&str]| outputs("vote.sym", &[("PARTIES", "3")], inputs);
    assert_eq!(of(&[yes, no, yes]), ["[1, 2, 0, 0]", "0"]);
    assert_eq!(of(&[yes, "[true, true, false, false]", yes]), ["[0, 0, 0, 0]", "1"]);
}

#[test]
fn two_order_books_meet_at_the_price_of_the_most_trade() {
    let order = |(price, amount)| format!("{{\"price\": {price}, \"amount\": {amount}}}");
    let book = |orders: [(u16, u16); 4]| format!("[{}]", orders.map(order).join(", "));
    let of = |bids, asks| outputs("orders.sym", &[("N", "4")], &[&book(bids), &book(asks)]);
    // At 101, 25 are wanted and 30 offered; at 102 only 15 are wanted.
    let bids = [(103, 10), (102, 5), (101, 10), (90, 100)];
    let asks = [(100, 20), (101, 10), (105, 50), (0, 0)];
    let met = of(bids, asks);
    assert_eq!(met, ["101", "25", "[10, 5, 10, 0]", "[20, 5, 0, 0]", "0"]);
    // Books that do not cross.
    let met = of([(90, 1), (80, 2), (0, 0), (0, 0)], asks);
    assert_eq!(met, ["0", "0", "[0, 0, 0, 0]", "[0, 0, 0, 0]", "0"]);
    let unsorted = of([(90, 1), (91, 2), (0, 0), (0, 0)], asks);
    assert_eq!(unsorted[..2], ["0", "0"]);
    assert_ne!(unsorted[4], "0");
}

/// Every price is tried, as an exchange would that sees both books.
#[test]
fn two_order_books_meet_as_an_exchange_would_have_it() {
    let circuit = example("orders.sym", &[("N", "3")]);
    let mut state = 7u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for _ in 0..40 {
        let mut book = || -> Vec<(u32, u32)> { (0..3).map(|_| (draw(8), 1 + draw(9))).collect() };
        let (mut bids, mut asks) = (book(), book());
        bids.sort_by_key(|order| std::cmp::Reverse(order.0));
        asks.sort_by_key(|order| order.0);
        let traded = |price: u32| {
            let wanted: u32 = bids.iter().filter(|o| o.0 >= price).map(|o| o.1).sum();
            let offered: u32 = asks.iter().filter(|o| o.0 <= price).map(|o| o.1).sum();
            wanted.min(offered)
        };
        let best = (0..8).map(traded).max().expect("prices");
        let text = |book: &[(u32, u32)]| {
            let orders = book
                .iter()
                .map(|(price, amount)| format!("{{\"price\": {price}, \"amount\": {amount}}}"));
            format!("[{}]", orders.collect::<Vec<_>>().join(", "))
        };
        let out = bits(&circuit, &[&text(&bids), &text(&asks)]);
        assert_eq!(out[1], best.to_string(), "{bids:?} {asks:?}");
        if best > 0 {
            assert_eq!(traded(out[0].parse().expect("a price")), best, "{bids:?} {asks:?}");
        }
    }
}

/// Computes AES-128-GCM on whole blocks by the definition: bit i of a block is the coefficient of
/// x^i.
fn gcm(
    key: [u8; 16],
    nonce: [u8; 12],
    header: &[[u8; 16]],
    text: &[[u8; 16]],
) -> (Vec<[u8; 16]>, [u8; 16]) {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    let cipher = aes::Aes128::new(&key.into());
    let encrypt = |block: [u8; 16]| -> u128 {
        let mut block = block.into();
        cipher.encrypt_block(&mut block);
        u128::from_be_bytes(block.into())
    };
    let counter = |number: u32| {
        let mut block = [0; 16];
        block[..12].copy_from_slice(&nonce);
        block[12..].copy_from_slice(&number.to_be_bytes());
        encrypt(block)
    };
    let subkey = encrypt([0; 16]);
    let multiply = |a: u128| {
        let (mut product, mut power) = (0, subkey);
        for i in (0..128).rev() {
            product ^= if a >> i & 1 == 1 { power } else { 0 };
            power = power >> 1 ^ if power & 1 == 1 { 0xe1 << 120 } else { 0 };
        }
        product
    };
    let sealed = (2u32..).zip(text);
    let sealed: Vec<u128> =
        sealed.map(|(number, block)| u128::from_be_bytes(*block) ^ counter(number)).collect();
    let lengths = ((128 * header.len() as u128) << 64) | (128 * text.len() as u128);
    let header = header.iter().map(|block| u128::from_be_bytes(*block));
    let all = header.chain(sealed.iter().copied()).chain([lengths]);
    let tag = all.fold(0, |state, block| multiply(state ^ block)) ^ counter(1);
    (sealed.into_iter().map(u128::to_be_bytes).collect(), tag.to_be_bytes())
}

/// Test case 3 of D. McGrew, J. Viega, The Galois/Counter Mode of Operation, for the reference; it
/// has no header, which the program always has.
#[test]
fn gcm_is_the_standards() {
    let blocks = |hex: &str| -> Vec<[u8; 16]> {
        let block = |i| u128::from_str_radix(&hex[i..i + 32], 16).expect("digits").to_be_bytes();
        (0..hex.len()).step_by(32).map(block).collect()
    };
    let key = blocks("feffe9928665731c6d6a8f9467308308")[0];
    let nonce = [0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88];
    let text = blocks(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
    );
    let sealed = blocks(
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
         21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
    );
    let tag = blocks("4d5c2af327cd64a62cf35abd2ba6fab4")[0];
    assert_eq!(gcm(key, nonce, &[], &text), (sealed, tag));

    let header = [key, [3; 16]];
    let (sealed, tag) = gcm(key, nonce, &header, &text[..2]);
    let constants = [("HEADER", "2"), ("BLOCKS", "2")];
    let inputs = [
        format!("{key:?}"),
        format!("{nonce:?}"),
        format!("{header:?}"),
        format!("{:?}", &text[..2]),
    ];
    let out = outputs("gcm.sym", &constants, &inputs.each_ref().map(String::as_str));
    assert_eq!(out, [format!("{sealed:?}"), format!("{tag:?}")]);
}

#[test]
fn programs_pass_their_own_tests() {
    for (name, parties, tests) in [("vote.sym", 2, 1), ("orders.sym", 2, 2), ("gcm.sym", 2, 1)] {
        with_stack(|| {
            let text = program(name);
            let options = Options { parties: Some(parties), ..options(&[]) };
            let checked = check(name, &text, &Folder(".".into()), &options);
            let results = run_tests(&checked, 1);
            assert_eq!(results.len(), tests, "{name}");
            assert!(results.iter().all(|result| result.wrong.is_none()), "{name}: {results:?}");
        })
        .expect("a thread");
    }
}

#[test]
fn the_large_sizes_compile() {
    for name in ["psi.sym", "nearest.sym", "edit.sym"] {
        let circuit = example(name, &[]);
        assert!(symbolon_circuit::builder::and_count(&circuit) > 10_000, "{name}");
    }
}

#[test]
fn the_costs_of_lines_sum_up_to_the_circuit() {
    for (name, parties) in [("vote.sym", 3), ("score.sym", 2), ("edit.sym", 2), ("cbcmac.sym", 2)] {
        let text = program(name);
        let options = Options { parties: Some(parties), ..Options::default() };
        let report = with_stack(|| {
            let (circuit, costs, sources) =
                symbolon_lang::compile_here(name, &text, &Folder(".".into()), &options, true)
                    .unwrap_or_else(|errors| panic!("{errors}"));
            let report =
                symbolon_lang::cost::report(&circuit, &costs.expect("asked for"), &sources);
            assert_eq!(report.ands, symbolon_circuit::builder::and_count(&circuit), "{name}");
            report
        })
        .expect("a thread");
        let lines: u64 = report.lines.iter().map(|line| line.ands).sum();
        assert_eq!(lines, report.ands, "{name}");
        let asked: u64 = report.lines.iter().map(|line| line.asked).sum();
        assert_eq!(asked - report.unused, report.ands, "{name}");
        // The gates of calls are those that their components list.
        let calls: u64 = report.lines.iter().map(|line| line.calls).sum();
        let port_bits: u64 = report.lines.iter().map(|line| line.port_bits).sum();
        let called = &report.components[1..];
        assert_eq!(calls, called.iter().map(|part| part.calls).sum::<u64>(), "{name}");
        let passed = called.iter().map(|part| part.calls * part.port_bits).sum::<u64>();
        assert_eq!(port_bits, passed, "{name}");
        let asserts: u64 = report.lines.iter().map(|line| line.asserts).sum();
        assert_eq!(asserts, if name == "vote.sym" { 3 } else { 0 }, "{name}");
        assert!(report.unused * 2 < report.ands, "{name}: {}", report.unused);
    }
}

/// Where nothing is rewritten, the lines of a component add up to its depth and live wires.
#[test]
fn depth_and_live_wires_of_lines_sum_up() {
    let text = "#[component]
fn add(a: u32, b: u32) -> u32 {
    a + b
}
fn main(a: [u32; 4] from 0, b: u32 from 1) -> (x: u32 to all) {
    let mut sum = b;
    for y in a { sum = add(sum, y); }
    let twice = sum + b;
    twice ^ a[3] ^ b
}";
    let report = with_stack(|| {
        let (circuit, costs, sources) = symbolon_lang::compile_here(
            "main.sym",
            text,
            &symbolon_lang::source::NoModules,
            &Options::default(),
            true,
        )
        .unwrap_or_else(|errors| panic!("{errors}"));
        symbolon_lang::cost::report(&circuit, &costs.expect("asked for"), &sources)
    })
    .expect("a thread");
    let names: Vec<&str> = report.components.iter().map(|part| &part.name[..]).collect();
    assert_eq!(names, ["main", "main loop 1", "add"]);
    let line = |number: u32| {
        report.lines.iter().find(|line| line.line == number).expect("the line costs something")
    };
    // The repeat is deep, the sum after it too; XORs between them are glue.
    assert_eq!((line(3).depth, line(3).ands), (31, 4 * 31));
    assert_eq!((line(7).depth, line(7).calls), (4 * 31, 8));
    assert_eq!((line(8).depth, line(8).glue > 0), (31, true));
    assert_eq!((line(9).depth, line(9).glue), (0, 64));
    let main = &report.components[0];
    assert_eq!(line(7).depth + line(8).depth, u64::from(main.depth));
    // Lines 2 and 3 are the component's own; its inputs belong to its name.
    let live = |lines: &[u32]| lines.iter().map(|&number| line(number).live_wires).sum::<u64>();
    assert_eq!(live(&[2, 3]), report.components[2].live_wires);
    let most: u64 = report.lines.iter().map(|line| line.live_wires).sum();
    assert!(main.live_wires <= most, "{most}");
}
