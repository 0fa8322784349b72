//! Honest clients and parties.

use std::time::Instant;

use symbolon_circuit::builder::and_count;
use symbolon_circuit::{ClientPorts, Type, format_value};
use symbolon_clients::{ClientError, Layout};
use symbolon_primitives::{BitVec, Block, Prg};

use crate::common::{Program, by_party, submit_bits};

const AUCTION: &str = "
fn main(bids: [Option<u64>; 5] from clients, floor: u64 from 0) -> (winner: u32 to all,
    price: [u64; 5] to clients) {
    let mut best = floor;
    let mut winner = 5;
    for i in 0..5 {
        if bids[i].is_some() && bids[i].unwrap_or(0) > best {
            best = bids[i].unwrap_or(0);
            winner = i;
        }
    }
    (winner, [best; 5])
}";

#[test]
fn clients_give_values_and_read_answers() {
    let program = Program::new(AUCTION, 3);
    let mut prg = Prg::from_public_seed(Block(1));
    let bids = [Some(30u64), None, Some(u64::MAX), Some(70), None];
    let made: Vec<_> = bids
        .map(|bid| bid.map(|bid| program.submit(&mut prg, &[("bids", &bid.to_string())])))
        .into();
    let given: Vec<_> = made.iter().map(Option::as_ref).collect();
    let ran = program.run(&by_party(3, &given), &[("floor", "50")]);
    assert_eq!(ran.outputs, [("winner".to_string(), "2".to_string())]);
    assert_eq!(ran.counted, [true, false, true, true, false]);
    let clear = program
        .in_the_clear(&[("bids", "[30, null, 18446744073709551615, 70, null]"), ("floor", "50")]);
    assert_eq!(clear[0], ran.outputs[0]);
    for (client, made) in made.iter().enumerate() {
        let Some(made) = made else {
            assert!(ran.answers[client].iter().all(|byte| *byte == 0));
            continue;
        };
        let kept = program.layout.receipt(made.receipt.as_bytes()).unwrap();
        let opened = program.layout.open(&kept, &ran.answers[client]).unwrap();
        let [(name, ty, bits)] = &opened.answers[..] else { panic!("{opened:?}") };
        assert_eq!((&name[..], opened.failure), ("price", None));
        assert_eq!(format_value(ty, &bits.to_bools()).to_string(), u64::MAX.to_string());
        // Another client cannot read it.
        let other = (client + 1) % 5;
        let result = program.layout.open(&kept, &ran.answers[other]);
        assert!(matches!(result, Err(ClientError::Changed | ClientError::NotCounted)));
    }
}

/// Values of many types, in two inputs.
const RECORDS: &str = "
enum Side { Buy, Sell(u7), Wait { until: [u4; 3] } }
struct Order { side: Side, price: fixed<9, 5>, note: text<3> }
fn main(
    orders: [Option<Order>; 4] from clients,
    key: u9 from 1,
    weights: [Option<(i7, Option<bool>)>; 4] from clients,
) -> (orders: [Option<Order>; 4] to all, weights: [Option<(i7, Option<bool>)>; 4] to 0,
    own: [(Option<Order>, u9); 4] to clients, place: [u3; 4] to clients) {
    (orders, weights, [(orders[i], key) for i in 0..4], [i as u3 for i in 0..4])
}";

#[test]
fn records_of_random_clients_are_what_they_are_in_the_clear() {
    let program = Program::new(RECORDS, 2);
    let width = program.layout.ports().value_bits() as usize;
    let mut prg = Prg::from_public_seed(Block(2));
    for _ in 0..200 {
        let bits: Vec<Option<BitVec>> =
            (0..4).map(|_| prg.bool().then(|| BitVec::random(width, &mut prg))).collect();
        let made: Vec<_> = bits
            .iter()
            .map(|bits| bits.as_ref().map(|bits| submit_bits(&program.layout, &mut prg, bits)))
            .collect();
        let given: Vec<_> = made.iter().map(Option::as_ref).collect();
        let key = prg.below(512).to_string();
        let ran = program.run(&by_party(2, &given), &[("key", &key)]);
        let present: Vec<bool> = bits.iter().map(Option::is_some).collect();
        assert_eq!(ran.counted, present);
        // In the clear, each value is given by its bits.
        let orders = program.layout.ports().values[0].1.width() as usize;
        let raw = |range: std::ops::Range<usize>| {
            let one = |bits: &Option<BitVec>| match bits {
                None => "null".to_string(),
                Some(bits) => {
                    let bits = bits.slice(range.clone());
                    let digits = bits.iter().map(|bit| if bit { '1' } else { '0' });
                    format!("bits:{}", digits.collect::<String>())
                }
            };
            format!("[{}]", bits.iter().map(one).collect::<Vec<_>>().join(", "))
        };
        let inputs =
            [("orders", &*raw(0..orders)), ("key", &key), ("weights", &*raw(orders..width))];
        let clear = program.in_the_clear(&inputs);
        assert_eq!(ran.outputs, clear[..2]);
        for (client, made) in made.iter().enumerate() {
            let Some(made) = made else { continue };
            let opened = program.layout.open(&made.receipt, &ran.answers[client]).unwrap();
            assert_eq!(opened.failure, None);
            for ((name, ty, bits), (clear_name, clear)) in opened.answers.iter().zip(&clear[2..]) {
                assert_eq!(name, clear_name);
                let each = Type::Array { len: 4, elem: Box::new(ty.clone()) };
                let mut all = vec![false; each.width() as usize];
                let start = client * bits.len();
                all[start..start + bits.len()].copy_from_slice(&bits.to_bools());
                // The element of this client is the same text in both lists.
                let element = format_value(ty, &bits.to_bools()).to_string();
                assert!(clear.contains(&element), "{element} in {clear}");
            }
        }
    }
}

#[test]
fn a_failed_assert_is_told_to_clients() {
    let program = Program::new(
        "fn main(x: [Option<u8>; 2] from clients) -> (y: [u8; 2] to clients) {
            assert(x[0].unwrap_or(1) != 0, \"no zeros\");
            assert(x[1].unwrap_or(1) != 0, \"no zeros here\");
            [x[0].unwrap_or(7), x[1].unwrap_or(7)]
        }",
        2,
    );
    let mut prg = Prg::from_public_seed(Block(3));
    for (given, failure) in [([5, 6], None), ([0, 6], Some(1)), ([5, 0], Some(2))] {
        let made = given.map(|x: u8| program.submit(&mut prg, &[("", &x.to_string())]));
        let ran = program.run(&by_party(2, &[Some(&made[0]), Some(&made[1])]), &[]);
        for client in 0..2 {
            let opened = program.layout.open(&made[client].receipt, &ran.answers[client]).unwrap();
            assert_eq!(opened.failure, failure);
            let [(name, ty, bits)] = &opened.answers[..] else { panic!("{opened:?}") };
            assert_eq!((&name[..], ty), ("y", &Type::Uint(8)));
            let expected = if failure.is_some() { 0 } else { given[client] };
            assert_eq!(bits.words(), [u64::from(expected)]);
        }
    }
}

/// Returns the circuit of clients that give values of a type, which are all put out.
fn plain(ty: &str, clients: u32, parties: u16) -> Program {
    let text = format!(
        "fn main(x: [Option<{ty}>; {clients}] from clients) \
         -> (x: [Option<{ty}>; {clients}] to all) {{ x }}"
    );
    Program::new(&text, parties)
}

/// The AND gates of a product in GF(2^64).
const PRODUCT: u64 = 300;

#[test]
fn clients_take_as_many_gates_as_documented() {
    // For each client a product for each block of its values, the comparison of the tag, presence
    // and the bits of the value.
    for (ty, blocks, width, parties) in
        [("u64", 1, 64, 2), ("u64", 1, 64, 5), ("bool", 1, 1, 3), ("[u64; 2]", 2, 128, 3)]
    {
        let program = plain(ty, 10, parties);
        assert_eq!(program.layout.ports().value_blocks(), blocks, "{ty}");
        let expected = blocks * PRODUCT + 63 + u64::from(parties) + width;
        assert_eq!(and_count(&program.circuit), 10 * expected, "{ty}");
    }
    // An answer takes a product for each block, and its bits and those of the tag.
    let before = and_count(&plain("u64", 5, 2).circuit);
    let text = "fn main(x: [Option<u64>; 5] from clients) \
                -> (x: [Option<u64>; 5] to all, y: [u64; 5] to clients) { (x, [7; 5]) }";
    let after = and_count(&Program::new(text, 2).circuit);
    assert_eq!(after - before, 5 * (PRODUCT + 64 + 64));
}

#[test]
fn ten_thousand_clients_compile_in_seconds() {
    let begin = Instant::now();
    let text = "fn main(x: [Option<u64>; 10000] from clients) -> (sum: u64 to all, y: [u64; 10000] \
                to clients) { let mut sum = 0; for v in x { sum += v.unwrap_or(0); } \
                (sum, [sum; 10000]) }";
    let program = Program::new(text, 3);
    let took = begin.elapsed();
    println!("10 000 clients: {took:?}, {} ANDs", and_count(&program.circuit));
    assert!(took.as_secs() < 30, "{took:?}");
    let components = program.circuit.components().iter();
    let steps: usize = components.map(|component| component.steps.len()).sum();
    assert!(steps < 4_000_000, "{steps}");
    let mut prg = Prg::from_public_seed(Block(4));
    let made: Vec<_> = (0..10_000u64)
        .map(|x| {
            submit_bits(
                &program.layout,
                &mut prg,
                &BitVec::from_bytes(64, &x.to_le_bytes()).unwrap(),
            )
        })
        .collect();
    let given: Vec<_> = made.iter().map(Some).collect();
    let ran = program.run(&by_party(3, &given), &[]);
    assert!(ran.counted.iter().all(|counted| *counted));
    assert_eq!(ran.outputs, [("sum".to_string(), "49995000".to_string())]);
    let opened = program.layout.open(&made[777].receipt, &ran.answers[777]).unwrap();
    assert_eq!(opened.answers[0].2.words(), [49_995_000]);
}

#[test]
fn what_clients_give_is_checked() {
    let program = Program::new(RECORDS, 2);
    let values = |given: &[(&str, &str)]| program.layout.values(given).unwrap_err().to_string();
    let order = r#"{"side": {"Sell": [3]}, "price": 2.5, "note": "hi"}"#;
    assert!(program.layout.values(&[("weights", "[-3, true]"), ("orders", order)]).is_ok());
    assert!(values(&[("orders", order)]).contains("no value for `weights`"));
    assert!(values(&[("orders", order), ("orders", order)]).contains("given twice"));
    assert!(values(&[("order", order)]).contains("orders, weights"));
    let wrong = values(&[("orders", "12345"), ("weights", "[-3, true]")]);
    assert!(wrong.contains("`orders`") && !wrong.contains("12345"), "{wrong}");
    let one = plain("u8", 2, 2);
    let given = |given: &[(&str, &str)]| one.layout.values(given).map(|bits| bits.words()[0]);
    assert_eq!((given(&[("", "9")]), given(&[("x", "9")])), (Ok(9), Ok(9)));
    assert!(given(&[("", "9"), ("x", "9")]).is_err());
    assert!(one.layout.encode(&BitVec::zeros(7)).is_err());
    // Shares of one submission differ from those of the next.
    let [a, b] = [(); 2].map(|()| one.layout.encode(&BitVec::zeros(8)).unwrap());
    assert_ne!(a.shares[0].as_bytes(), b.shares[0].as_bytes());
    assert_ne!(a.hashes.digest(b"f", "ann"), b.hashes.digest(b"f", "ann"));
    assert_ne!(a.hashes.digest(b"f", "ann"), a.hashes.digest(b"fa", "nn"));
    let shown = format!("{:?} {:?}", a.shares, a.receipt);
    assert_eq!(shown, "[Share(..), Share(..)] Receipt(..)");
}

#[test]
fn layouts_from_strangers_are_checked() {
    let layout = |values: &str| {
        let text = format!(
            r#"{{"format": "symbolon-clients-1", "clients": 3, "parties": 2, "values": {values}}}"#
        );
        Layout::from_json(&text).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(layout(r#"[{"name": "x", "type": {"uint": 5}}]"#), Ok(()));
    for (values, reason) in [
        ("[]", "no bits"),
        (r#"[{"name": "x", "type": {"uint": 0}}]"#, "no bits"),
        (r#"[{"name": "x", "type": {"array": {"len": 4294967295, "elem": "f64"}}}]"#, "2^20"),
        (r#"[{"name": "x", "type": {"enum": {"name": "E", "variants": []}}}]"#, "variants"),
        (r#"[{"name": "x", "type": "u5"}]"#, "unknown variant"),
        (r#"[{"name": "x"}]"#, "missing field"),
    ] {
        let error = layout(values).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    let nested = "[".repeat(100_000);
    assert!(Layout::from_json(&nested).is_err());
    let none = ClientPorts {
        clients: 0,
        parties: 2,
        values: vec![("x".into(), Type::Bool)],
        answers: Vec::new(),
    };
    assert!(Layout::new(none.clone()).is_err());
    assert!(Layout::new(ClientPorts { clients: 1, ..none.clone() }).is_ok());
    assert!(Layout::new(ClientPorts { clients: 1, parties: 1, ..none }).is_err());
}
