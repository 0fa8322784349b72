//! Plain garbling: correctness against evaluation in the clear, half-gates as published, streaming,
//! and the effect of wrong labels and tables.

mod common;

use std::convert::Infallible;

use common::{SESSION, active, decode, garble_table, random_circuit, random_inputs, seeds};
use proptest::prelude::*;
use symbolon_circuit::{And, Plan, builtin, eval_bits};
use symbolon_garbling::four_row::{FourRows, RowHash, row_input};
use symbolon_garbling::half_gates::{Colours, Gates, HalfGates, RUN};
use symbolon_garbling::{
    CHUNK, Instance, SIDE, decoding, evaluate_pieces_side_by_side, evaluate_side_by_side,
    garble_pieces_side_by_side, garble_side_by_side, value_of,
};
use symbolon_primitives::{BitVec, Block, Delta, Prg, Seed, TweakedHash};

proptest! {
    #[test]
    fn a_garbled_circuit_computes_the_circuit(seed in seeds()) {
        let circuit = random_circuit(seed);
        let plan = Plan::new(&circuit);
        let instance = Instance::new(&plan, &SESSION, 3);
        let keys = instance.keys_from_seed(&Seed::new(Block(seed)));
        let (table, zero) = garble_table(&instance, &keys);
        for k in 0..4 {
            let inputs = random_inputs(&plan, seed ^ k);
            let labels = instance.evaluate_table(&active(&keys, &inputs), &table);
            let expected = eval_bits(&circuit, &inputs.to_bools());
            prop_assert_eq!(decode(&labels, &decoding(&zero)).to_bools(), &expected[..]);
            // Exactly the labels for these values.
            for ((label, zero), value) in labels.iter().zip(&*zero).zip(&expected) {
                prop_assert_eq!(value_of(*label, *zero, &keys.delta), Some(*value));
            }
        }
    }
}

/// Asserts that all garblings are the same side by side as alone, with their own keys and starts.
fn side_by_side_is_as_alone(plan: &Plan, n: u64, seed: u128) {
    let instances: Vec<_> = (10..10 + n).map(|i| Instance::new(plan, &SESSION, i)).collect();
    let own = |(instance, i): (&Instance<'_>, u128)| {
        (instance.keys_from_seed(&Seed::new(Block(seed + i))), random_inputs(plan, seed + i))
    };
    let (keys, bits): (Vec<_>, Vec<_>) = instances.iter().zip(0..).map(own).unzip();
    let keys: Vec<_> = keys.iter().collect();
    let alone = instances.iter().zip(&keys).map(|(instance, keys)| garble_table(instance, keys));
    let (tables, zero): (Vec<_>, Vec<_>) = alone.unzip();

    let mut made: Vec<_> = tables.iter().map(|table| vec![[Block::ZERO; 2]; table.len()]).collect();
    let mut places: Vec<_> = made.iter_mut().map(|table| &mut table[..]).collect();
    assert_eq!(garble_side_by_side(&instances, &keys, &mut places), zero);
    assert_eq!(made, tables);

    let mut joined = vec![Vec::new(); tables.len()];
    let outputs = garble_pieces_side_by_side(&instances, &keys, |pieces| {
        assert!(pieces[0].len() == CHUNK || pieces[0].len() + joined[0].len() == tables[0].len());
        joined.iter_mut().zip(pieces).for_each(|(joined, piece)| joined.extend_from_slice(piece));
        Ok::<_, Infallible>(())
    });
    assert_eq!((outputs.unwrap(), joined), (zero, made));

    let inputs: Vec<_> = keys.iter().zip(&bits).map(|(keys, bits)| active(keys, bits)).collect();
    let inputs: Vec<_> = inputs.iter().map(|inputs| &inputs[..]).collect();
    let all: Vec<_> = tables.iter().map(|table| &table[..]).collect();
    let alone = instances.iter().zip(&inputs).zip(&all);
    let alone: Vec<_> = alone.map(|((one, inputs), all)| one.evaluate_table(inputs, all)).collect();
    assert_eq!(evaluate_side_by_side(&instances, &inputs, &all), alone);
    let mut read = 0;
    let of_pieces = evaluate_pieces_side_by_side(&instances, &inputs, |pieces| {
        let range = read..read + pieces[0].len();
        read = range.end;
        for (piece, table) in pieces.iter_mut().zip(&tables) {
            piece.copy_from_slice(&table[range.clone()]);
        }
        Ok::<_, Infallible>(())
    });
    assert_eq!((of_pieces.unwrap(), read), (alone, tables[0].len()));
}

proptest! {
    #[test]
    fn garblings_side_by_side_are_as_alone(seed in seeds()) {
        let plan = Plan::new(&random_circuit(seed));
        (1..=SIDE as u64).for_each(|n| side_by_side_is_as_alone(&plan, n, seed));
    }
}

/// Has several pieces, and runs of gates that cross the end of a piece.
#[test]
fn pieces_side_by_side_end_within_runs() {
    for (name, n) in [("aes128", 3), ("aes128", 4), ("mult-schoolbook:16", 4)] {
        side_by_side_is_as_alone(&Plan::new(&builtin::by_name(name).unwrap()), n, 5);
    }
}

/// FIPS-197, appendix C.1.
#[test]
fn aes_of_the_standard_is_computed() {
    let bits = |number: u128| (0..128).map(move |i| number >> i & 1 == 1);
    let plan = Plan::new(&builtin::by_name("aes128").unwrap());
    let instance = Instance::new(&plan, &SESSION, 0);
    let keys = instance.keys_from_seed(&Seed::new(Block(5)));
    let (table, zero) = garble_table(&instance, &keys);
    assert_eq!(table.len(), 6400);
    let (key, message) = (0x000102030405060708090a0b0c0d0e0f, 0x00112233445566778899aabbccddeeff);
    let inputs: Vec<bool> = bits(key).chain(bits(message)).collect();
    let labels = instance.evaluate_table(&active(&keys, &BitVec::from_bools(&inputs)), &table);
    let cipher = decode(&labels, &decoding(&zero));
    let expected: Vec<bool> = bits(0x69c4e0d86a7b0430d8cdb78070b4c55a).collect();
    assert_eq!(cipher.to_bools(), expected);
}

/// Zahur, Rosulek and Evans 2015, Fig. 2, gate by gate as printed there.
#[test]
fn the_kernel_makes_half_gates_as_published() {
    let mut prg = Prg::from_public_seed(Block(8));
    let (hash, delta) = (TweakedHash::new(prg.block()), prg.block().with_lsb(true));
    let h = |tweak: u64, label| {
        let mut block = [label];
        hash.hash(tweak.into(), 1, &mut block);
        block[0]
    };
    for n in [1, 7, RUN] {
        let ands: Vec<And> =
            (0..n as u32).map(|k| And { a: 3 * k, b: 3 * k + 1, out: 3 * k + 2 }).collect();
        let mut slots: Vec<Block> = (0..3 * n).map(|_| prg.block()).collect();
        let mut table = vec![[Block::ZERO; 2]; n];
        let gates = Gates { ands: &ands, place: 0, number: 40 };
        let before = slots.clone();
        let mut kernel = HalfGates::default();
        kernel.garble((&hash, delta), &mut slots, gates, &Colours, &mut table);
        for (k, and) in ands.iter().enumerate() {
            let (wa0, wb0) = (before[and.a as usize], before[and.b as usize]);
            let (wa1, wb1) = (wa0 ^ delta, wb0 ^ delta);
            let (pa, pb) = (wa0.lsb(), wb0.lsb());
            let (j, j2) = (80 + 2 * k as u64, 81 + 2 * k as u64);
            let tg = h(j, wa0) ^ h(j, wa1) ^ delta.select(pb);
            let wg0 = h(j, wa0) ^ tg.select(pa);
            let te = h(j2, wb0) ^ h(j2, wb1) ^ wa0;
            let we0 = h(j2, wb0) ^ (te ^ wa0).select(pb);
            assert_eq!(table[k], [tg, te], "{n} {k}");
            assert_eq!(slots[and.out as usize], wg0 ^ we0, "{n} {k}");
        }
    }
}

/// Four rows with the colours as offsets: for each pair of input labels, the row of their colours
/// gives the label of the output.
#[test]
fn the_kernel_of_four_rows_garbles_an_and_gate() {
    let mut prg = Prg::from_public_seed(Block(8));
    let delta = prg.block().with_lsb(true);
    let hash =
        RowHash { labels: TweakedHash::new(prg.block()), macs: TweakedHash::new(prg.block()) };
    for n in [1, 7, RUN] {
        let and = |k| And { a: 3 * k, b: 3 * k + 1, out: 3 * k + 2 };
        let ands: Vec<And> = (0..n as u32).map(and).collect();
        let mut slots: Vec<Block> = (0..3 * n).map(|_| prg.block()).collect();
        let mut table = vec![[Block::ZERO; 3]; n];
        let gates = Gates { ands: &ands, place: 0, number: 40 };
        let mut kernel = FourRows::default();
        let macs = kernel.garble((&hash, delta), &mut slots, gates, &Colours, &mut table).to_vec();
        for (k, and) in ands.iter().enumerate() {
            for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
                let a = slots[and.a as usize] ^ delta.select(x);
                let b = slots[and.b as usize] ^ delta.select(y);
                let row = 2 * usize::from(a.lsb()) + usize::from(b.lsb());
                let (mut label, mut mac) = ([row_input(a, b)], [row_input(a, b)]);
                hash.hash(40 + k as u64, 1, &mut label, &mut mac);
                let sent = if row == 0 { Block::ZERO } else { table[k][row - 1] };
                let expected = slots[and.out as usize] ^ delta.select(x & y);
                assert_eq!(label[0] ^ sent, expected, "{n} {k} {row}");
                assert_eq!(mac[0], macs[k][row], "{n} {k} {row}");
            }
        }
    }
}

#[test]
fn pieces_are_of_one_length_and_errors_end_both_sides() {
    let plan = Plan::new(&builtin::by_name("random:1500").unwrap());
    let instance = Instance::new(&plan, &SESSION, 0);
    let keys = instance.keys_from_seed(&Seed::new(Block(5)));
    let mut pieces = Vec::new();
    let zero = instance.garble(&keys, |gates| {
        pieces.push(gates.to_vec());
        Ok::<_, Infallible>(())
    });
    assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [CHUNK, CHUNK, 1500 - 2 * CHUNK]);
    assert_eq!((pieces.concat(), zero.unwrap()), garble_table(&instance, &keys));
    let mut count = 0;
    assert_eq!(instance.garble(&keys, |_| Err::<(), _>("full")), Err("full"));
    let ended = instance.evaluate(&keys.inputs, |gates| {
        count += 1;
        gates.copy_from_slice(&pieces[count - 1]);
        if count == 2 { Err("gone") } else { Ok(()) }
    });
    assert_eq!((ended, count), (Err("gone"), 2));
}

/// Of a million gates, only the live wires are kept.
#[test]
fn a_large_component_is_evaluated_as_it_is_garbled() {
    let plan = Plan::new(&builtin::by_name("random:2^20/2^10").unwrap());
    assert!(plan.slots() < 20_000);
    let instance = Instance::new(&plan, &SESSION, 0);
    let keys = instance.keys_from_seed(&Seed::new(Block(5)));
    let inputs = random_inputs(&plan, 6);
    let (sink, source) = std::sync::mpsc::sync_channel::<Vec<[Block; 2]>>(4);
    let (zero, labels) = std::thread::scope(|scope| {
        let garbler =
            scope.spawn(|| instance.garble(&keys, move |gates| sink.send(gates.to_vec())));
        let labels = instance.evaluate(&active(&keys, &inputs), |gates| {
            gates.copy_from_slice(&source.recv()?);
            Ok::<_, std::sync::mpsc::RecvError>(())
        });
        (garbler.join().unwrap().unwrap(), labels.unwrap())
    });
    let expected = eval_bits(&builtin::by_name("random:2^20/2^10").unwrap(), &inputs.to_bools());
    assert_eq!(decode(&labels, &decoding(&zero)).to_bools(), expected);
}

/// A label or a half-gate with any wrong bit leads to neither of the output's two labels.
#[test]
fn wrong_labels_and_tables_give_neither_label() {
    let mut builder = symbolon_circuit::builder::Builder::new("and");
    let ty = || symbolon_circuit::Type::Uint(1);
    let (x, y) = (builder.input("x", ty(), 0), builder.input("y", ty(), 1));
    let z = builder.and(&x, &y);
    builder.output("z", &z, ty(), symbolon_circuit::Receivers::All);
    let plan = Plan::new(&builder.finish().unwrap());
    let instance = Instance::new(&plan, &SESSION, 0);
    let keys = instance.keys_from_seed(&Seed::new(Block(5)));
    let (table, zero) = garble_table(&instance, &keys);
    let value = |labels: &[Block], table: &[[Block; 2]]| {
        let label = instance.evaluate_table(labels, table)[0];
        value_of(label, zero[0], &keys.delta)
    };
    for inputs in [[false, false], [false, true], [true, false], [true, true]] {
        let labels = active(&keys, &BitVec::from_bools(&inputs));
        assert_eq!(value(&labels, &table), Some(inputs[0] & inputs[1]));
        for which in 0..2 {
            for bit in 0..128 {
                let mut wrong = labels.clone();
                wrong[which].0 ^= 1 << bit;
                assert_eq!(value(&wrong, &table), None, "{inputs:?} {which} {bit}");
                let mut wrong = table.clone();
                wrong[0][which].0 ^= 1 << bit;
                let used = [labels[0].lsb(), labels[1].lsb()][which];
                assert_eq!(value(&labels, &wrong).is_none(), used, "{inputs:?} {which} {bit}");
            }
        }
    }
}

#[test]
fn instances_and_sessions_have_other_keys_and_tables() {
    let plan = Plan::new(&builtin::by_name("add:8").unwrap());
    let seed = Seed::new(Block(5));
    let made = |session: &[u8; 32], number| {
        let instance = Instance::new(&plan, session, number);
        let keys = instance.keys_from_seed(&seed);
        (*keys.delta, keys.inputs.to_vec(), garble_table(&instance, &keys).0)
    };
    let (delta, inputs, table) = made(&SESSION, 0);
    assert_eq!(made(&SESSION, 0), (delta, inputs.clone(), table.clone()));
    for other in [made(&SESSION, 1), made(&[8; 32], 0)] {
        assert_ne!(other.0, delta);
        assert!(other.1.iter().zip(&inputs).all(|(a, b)| a != b));
        assert!(other.2.iter().zip(&table).all(|(a, b)| a[0] != b[0] && a[1] != b[1]));
    }
    // The same keys in another instance: the hash differs.
    let keys = Instance::new(&plan, &SESSION, 0).keys_from_seed(&seed);
    let other = garble_table(&Instance::new(&plan, &SESSION, 1), &keys).0;
    assert!(other.iter().zip(&table).all(|(a, b)| a[0] != b[0] && a[1] != b[1]));
}

#[test]
fn delta_and_labels_are_told_by_colour_and_by_nothing_else() {
    let (delta, zero) = (Delta::new(Block(0xfeed << 40 | 1)), Block(0x1234 << 70));
    assert_eq!(value_of(zero, zero, &delta), Some(false));
    assert_eq!(value_of(zero ^ *delta, zero, &delta), Some(true));
    for bit in 0..128 {
        assert_eq!(value_of(Block(zero.0 ^ 1 << bit), zero, &delta), None);
    }
}

#[test]
#[should_panic(expected = "colour")]
fn refuses_a_delta_without_colour() {
    let plan = Plan::new(&builtin::by_name("add:8").unwrap());
    let instance = Instance::new(&plan, &SESSION, 0);
    let mut keys = instance.keys_from_seed(&Seed::new(Block(5)));
    keys.delta = Delta::new(Block(2));
    garble_table(&instance, &keys);
}

#[test]
#[should_panic(expected = "look-ups")]
fn refuses_look_ups() {
    let plan = Plan::with_lookups(&builtin::by_name("aes128:sbox").unwrap());
    Instance::new(&plan, &SESSION, 0);
}
