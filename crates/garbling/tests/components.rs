//! Components garbled from a seed, their digests, and the adaptive form.

mod common;

use std::convert::Infallible;

use common::{SESSION, active, random_circuit, random_inputs, seeds};
use proptest::prelude::*;
use symbolon_circuit::{Plan, builtin, eval_bits};
use symbolon_garbling::adaptive::{
    evaluate_adaptively_side_by_side, garble_adaptively_side_by_side,
};
use symbolon_garbling::component::ComponentDigest;
use symbolon_garbling::{Coverage, InputKeys, Instance, decoding};
use symbolon_primitives::{Block, Seed};

fn adder() -> Plan {
    Plan::new(&builtin::by_name("add:8").unwrap())
}

#[test]
fn garbling_again_finds_the_digest_and_the_keys() {
    let plan = adder();
    for coverage in [Coverage::Table, Coverage::TableAndDecoding] {
        let instance = Instance::new(&plan, &SESSION, 4);
        let seed = Seed::new(Block(5));
        let (made, keys) = instance.garble_component(&seed, coverage);
        assert_eq!(made.table.len() as u64, instance.gates());
        let again = instance.regarble(&seed, coverage, &made.digest).unwrap();
        assert!(again.delta.ct_eq(&keys.delta));
        assert_eq!((again.inputs, again.outputs), (keys.inputs.clone(), keys.outputs.clone()));
        let InputKeys { mut delta, inputs } = instance.keys_from_seed(&seed);
        let opened = |delta| {
            let keys = InputKeys { delta, inputs: inputs.clone() };
            instance.regarble_with_keys(&keys, coverage, &made.digest)
        };
        assert_eq!(opened(delta.clone()), Some(keys.outputs.clone()));
        // Another Δ, and one whose lowest bit is not set.
        for bit in [77, 0] {
            delta.bits_mut().0 ^= 1 << bit;
            assert_eq!(opened(delta.clone()), None);
        }
        // The evaluator's side, when it receives the table.
        let mut digest = ComponentDigest::default();
        made.table.chunks(3).for_each(|gates| digest.update(gates));
        let digest = match coverage {
            Coverage::Table => digest.finish(),
            Coverage::TableAndDecoding => digest.finish_with_decoding(&decoding(&keys.outputs)),
        };
        assert_eq!(digest, made.digest);
    }
}

/// A garbler sends the digest of one seed and opens another, or garbles another instance.
#[test]
fn another_seed_instance_session_or_coverage_is_refused() {
    let plan = adder();
    let (seed, other) = (Seed::new(Block(5)), Seed::new(Block(6)));
    let instance = Instance::new(&plan, &SESSION, 4);
    let digest = instance.garble_component(&seed, Coverage::Table).0.digest;
    assert!(instance.regarble(&seed, Coverage::Table, &digest).is_some());
    assert!(instance.regarble(&other, Coverage::Table, &digest).is_none());
    assert!(instance.regarble(&seed, Coverage::TableAndDecoding, &digest).is_none());
    for wrong in [Instance::new(&plan, &SESSION, 5), Instance::new(&plan, &[1; 32], 4)] {
        assert!(wrong.regarble(&seed, Coverage::Table, &digest).is_none());
    }
    let plan = Plan::new(&builtin::by_name("sub:8").unwrap());
    let wrong = Instance::new(&plan, &SESSION, 4);
    assert!(wrong.regarble(&seed, Coverage::Table, &digest).is_none());
    assert!(instance.regarble_adaptively(&seed, &digest).is_none());
    let digest = instance.garble_adaptive_component(&seed).0.digest;
    assert!(instance.regarble_adaptively(&seed, &digest).is_some());
    assert!(instance.regarble_adaptively(&other, &digest).is_none());
}

#[test]
fn digests_see_every_bit() {
    let plan = adder();
    let instance = Instance::new(&plan, &SESSION, 4);
    let seed = Seed::new(Block(5));
    let (made, keys) = instance.garble_component(&seed, Coverage::TableAndDecoding);
    let digest_of = |table: &[[Block; 2]], decoding: &_| {
        let mut digest = ComponentDigest::default();
        digest.update(table);
        digest.finish_with_decoding(decoding)
    };
    let right = decoding(&keys.outputs);
    assert_eq!(digest_of(&made.table, &right), made.digest);
    for bit in 0..256 * made.table.len() {
        let mut table = made.table.clone();
        table.as_flattened_mut()[bit / 128].0 ^= 1 << (bit % 128);
        assert_ne!(digest_of(&table, &right), made.digest, "{bit}");
    }
    for bit in 0..right.len() {
        let mut wrong = right.clone();
        wrong.set(bit, !right.get(bit));
        assert_ne!(digest_of(&made.table, &wrong), made.digest, "{bit}");
    }

    let made = instance.garble_adaptive_component(&seed).0;
    let digest_of = |table: &[[Block; 2]], ending: &_| {
        let mut digest = ComponentDigest::default();
        digest.update(table);
        digest.finish_with_ending(ending)
    };
    assert_eq!(digest_of(&made.table, &made.ending), made.digest);
    for bit in 0..128 * (made.ending.decoding.len() + 2 * made.ending.translations.len()) {
        let mut ending = made.ending.clone();
        let all = ending.decoding.iter_mut().chain(ending.translations.as_flattened_mut());
        all.skip(bit / 128).take(1).for_each(|block| block.0 ^= 1 << (bit % 128));
        assert_ne!(digest_of(&made.table, &ending), made.digest, "{bit}");
    }
}

proptest! {
    #[test]
    fn the_adaptive_form_ends_with_the_labels_wanted(seed in seeds()) {
        let circuit = random_circuit(seed);
        let plan = Plan::new(&circuit);
        let instance = Instance::new(&plan, &SESSION, 3);
        let (made, keys) = instance.garble_adaptive_component(&Seed::new(Block(seed)));
        let component = &keys.component;
        let input_keys =
            InputKeys { delta: component.delta.clone(), inputs: component.inputs.clone() };
        let inputs = random_inputs(&plan, seed);
        let mut pieces = made.table.chunks(symbolon_garbling::CHUNK);
        let (values, labels) = instance
            .evaluate_adaptively(&keys.nonce, &active(&input_keys, &inputs), &made.ending, |gates| {
                gates.copy_from_slice(pieces.next().unwrap());
                Ok::<_, Infallible>(())
            })
            .unwrap();
        let expected = eval_bits(&circuit, &inputs.to_bools());
        prop_assert_eq!(values.to_bools(), &expected[..]);
        for ((label, pair), value) in labels.iter().zip(&*keys.outputs).zip(expected) {
            prop_assert_eq!(*label, pair[usize::from(value)]);
        }
    }
}

/// Side by side, all circuits are garbled and evaluated exactly as alone.
#[test]
fn the_adaptive_form_is_the_same_side_by_side() {
    let circuit = builtin::by_name("mult-schoolbook:32").unwrap();
    let plan = Plan::new(&circuit);
    let instances = [5, 6, 7].map(|number| Instance::new(&plan, &SESSION, number));
    let seeds = [1, 2, 3].map(|seed| Seed::new(Block(seed)));
    let alone: [_; 3] = std::array::from_fn(|i| instances[i].garble_adaptive_component(&seeds[i]));
    let keys = alone.each_ref().map(|(_, keys)| InputKeys {
        delta: keys.component.delta.clone(),
        inputs: keys.component.inputs.clone(),
    });
    let wanted = alone.each_ref().map(|(_, keys)| (&keys.nonce, &keys.outputs[..]));
    let mut tables: [Vec<[Block; 2]>; 3] = Default::default();
    let endings = garble_adaptively_side_by_side(&instances, &keys.each_ref(), &wanted, |pieces| {
        tables.iter_mut().zip(pieces).for_each(|(table, gates)| table.extend_from_slice(gates));
        Ok::<_, Infallible>(())
    });
    for ((table, ending), (made, _)) in tables.iter().zip(endings.unwrap()).zip(&alone) {
        assert_eq!((table, &ending), (&made.table, &made.ending));
    }
    let bits: [_; 3] = std::array::from_fn(|i| random_inputs(&plan, i as u128));
    let inputs: [_; 3] = std::array::from_fn(|i| active(&keys[i], &bits[i]));
    let mut read = [0; 3];
    let evaluated = evaluate_adaptively_side_by_side(
        &instances,
        &inputs.each_ref().map(|inputs| &inputs[..]),
        &alone.each_ref().map(|(made, keys)| (&keys.nonce, &made.ending)),
        |pieces| {
            for ((piece, table), read) in pieces.iter_mut().zip(&tables).zip(&mut read) {
                piece.copy_from_slice(&table[*read..][..piece.len()]);
                *read += piece.len();
            }
            Ok::<_, Infallible>(())
        },
    );
    for (((values, labels), bits), (_, keys)) in evaluated.unwrap().iter().zip(&bits).zip(&alone) {
        let expected = eval_bits(&circuit, &bits.to_bools());
        assert_eq!(values.to_bools(), expected);
        for ((label, pair), value) in labels.iter().zip(&*keys.outputs).zip(expected) {
            assert_eq!(*label, pair[usize::from(value)]);
        }
    }
}

/// Without R, the table, the decoding and the translations say nothing about the static garbling:
/// each block is masked, under R and the instance.
#[test]
fn everything_sent_before_the_inputs_is_masked() {
    let plan = Plan::new(&builtin::by_name("mult-schoolbook:16").unwrap());
    let instance = Instance::new(&plan, &SESSION, 3);
    let keys = instance.keys_from_seed(&Seed::new(Block(5)));
    let (plain, zero) = instance.garble_table(&keys);
    let wanted = vec![[Block(3), Block(4)]; zero.len()];
    let masked = |nonce| {
        let mut table = Vec::new();
        let (_, ending) = instance
            .garble_adaptively(&keys, (&Seed::new(nonce), &wanted), |gates| {
                table.extend_from_slice(gates);
                Ok::<_, Infallible>(())
            })
            .unwrap();
        (table, ending)
    };
    let (table, ending) = masked(Block(1));
    let (other, other_ending) = masked(Block(2));
    let masks = |table: &[[Block; 2]]| -> Vec<Block> {
        let both = table.as_flattened().iter().zip(plain.as_flattened());
        both.map(|(masked, plain)| *masked ^ *plain).collect()
    };
    let mut all = [masks(&table), masks(&other)].concat();
    all.extend_from_slice(&ending.decoding);
    all.extend_from_slice(&other_ending.decoding);
    all.extend_from_slice(ending.translations.as_flattened());
    all.extend_from_slice(other_ending.translations.as_flattened());
    let count = all.len();
    all.sort_unstable_by_key(|block| block.0);
    all.dedup();
    assert_eq!(all.len(), count);
    assert!(all.iter().all(|mask| mask.0.count_ones() > 20));
}

/// An evaluator with a wrong nonce or an invalid label obtains none of the wanted labels.
#[test]
fn without_the_nonce_there_is_no_output() {
    let plan = adder();
    let instance = Instance::new(&plan, &SESSION, 3);
    let (made, keys) = instance.garble_adaptive_component(&Seed::new(Block(5)));
    let ends = |nonce: &Seed, inputs: &[Block]| {
        let mut rest = &made.table[..];
        let (_, labels) = instance
            .evaluate_adaptively(nonce, inputs, &made.ending, |gates| {
                let (next, behind) = rest.split_at(gates.len());
                gates.copy_from_slice(next);
                rest = behind;
                Ok::<_, Infallible>(())
            })
            .unwrap();
        labels.iter().zip(&*keys.outputs).filter(|(label, pair)| pair.contains(label)).count()
    };
    let inputs = &keys.component.inputs;
    assert_eq!(ends(&keys.nonce, inputs), 8);
    assert_eq!(ends(&Seed::new(Block(77)), inputs), 0);
    let mut wrong = inputs.clone();
    wrong[0].0 ^= 1 << 60;
    // Through AND gates, the lowest bit of each summand affects every bit of the sum.
    assert_eq!(ends(&keys.nonce, &wrong), 0);
}
