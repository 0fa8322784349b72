//! Components garbled from a seed, their digests, and the adaptive form.

mod common;

use std::convert::Infallible;

use common::{SESSION, active, garble_table, random_circuit, random_inputs, seeds};
use proptest::prelude::*;
use symbolon_circuit::{Plan, builtin, eval_bits};
use symbolon_garbling::adaptive::{
    Ending, evaluate_adaptively_side_by_side, garble_adaptively_side_by_side,
};
use symbolon_garbling::component::ComponentDigest;
use symbolon_garbling::{InputKeys, Instance, Labels};
use symbolon_primitives::{BitVec, Block, Prg, Seed};

fn adder() -> Plan {
    Plan::new(&builtin::by_name("add:8").unwrap())
}

fn digest_of(table: &[[Block; 2]]) -> [u8; 32] {
    let mut digest = ComponentDigest::default();
    table.chunks(3).for_each(|gates| digest.update(gates));
    digest.finish()
}

/// A garbler sends the digest of one seed and opens another, or garbles another instance.
#[test]
fn another_seed_instance_or_session_has_another_digest() {
    let plan = adder();
    let digest = |instance: &Instance<'_>, seed| {
        digest_of(&garble_table(instance, &instance.keys_from_seed(&Seed::new(Block(seed)))).0)
    };
    let instance = Instance::new(&plan, &SESSION, 4);
    let right = digest(&instance, 5);
    assert_eq!(digest(&instance, 5), right);
    assert_ne!(digest(&instance, 6), right);
    for wrong in [Instance::new(&plan, &SESSION, 5), Instance::new(&plan, &[1; 32], 4)] {
        assert_ne!(digest(&wrong, 5), right);
    }
    let plan = Plan::new(&builtin::by_name("sub:8").unwrap());
    assert_ne!(digest(&Instance::new(&plan, &SESSION, 4), 5), right);
}

#[test]
fn digests_see_every_bit() {
    let plan = adder();
    let instance = Instance::new(&plan, &SESSION, 4);
    let (table, _) = garble_table(&instance, &instance.keys_from_seed(&Seed::new(Block(5))));
    let right = digest_of(&table);
    for bit in 0..256 * table.len() {
        let mut table = table.clone();
        table.as_flattened_mut()[bit / 128].0 ^= 1 << (bit % 128);
        assert_ne!(digest_of(&table), right, "{bit}");
    }

    let made = Adaptive::garble(&instance, 5);
    let digest_of = |ending: &_| {
        let mut digest = ComponentDigest::default();
        digest.update(&made.table);
        digest.finish_with_ending(ending)
    };
    let right = digest_of(&made.ending);
    for bit in 0..128 * (made.ending.decoding.len() + 2 * made.ending.translations.len()) {
        let mut ending = made.ending.clone();
        let all = ending.decoding.iter_mut().chain(ending.translations.as_flattened_mut());
        all.skip(bit / 128).take(1).for_each(|block| block.0 ^= 1 << (bit % 128));
        assert_ne!(digest_of(&ending), right, "{bit}");
    }
}

/// An adaptively garbled circuit, and what its garbler keeps.
struct Adaptive {
    table: Vec<[Block; 2]>,
    ending: Ending,
    keys: InputKeys,
    nonce: Seed,
    /// d̂, two labels for each output.
    wanted: Vec<[Block; 2]>,
}

impl Adaptive {
    /// Garbles an instance alone, from keys, R and d̂ that a seed determines.
    fn garble(instance: &Instance<'_>, seed: u128) -> Adaptive {
        let mut prg = Prg::from_public_seed(Block(seed));
        let keys = instance.keys_from_seed(&Seed::new(prg.block()));
        let nonce = Seed::new(prg.block());
        let mut wanted = vec![[Block::ZERO; 2]; instance.plan().output_slots().len()];
        prg.fill_blocks(wanted.as_flattened_mut());
        let (table, ending) = Adaptive::with(instance, &keys, &nonce, &wanted);
        Adaptive { table, ending, keys, nonce, wanted }
    }

    fn with(
        instance: &Instance<'_>,
        keys: &InputKeys,
        nonce: &Seed,
        wanted: &[[Block; 2]],
    ) -> (Vec<[Block; 2]>, Ending) {
        let mut table = Vec::new();
        let each = [(nonce, wanted)];
        let endings = garble_adaptively_side_by_side(&[*instance], &[keys], &each, |pieces| {
            table.extend_from_slice(pieces[0]);
            Ok::<_, Infallible>(())
        });
        (table, endings.unwrap().remove(0))
    }

    /// Evaluates with any R and labels of inputs.
    fn evaluate(
        &self,
        instance: &Instance<'_>,
        nonce: &Seed,
        inputs: &[Block],
    ) -> (BitVec, Labels) {
        let mut rest = &self.table[..];
        let endings = [(nonce, &self.ending)];
        let ended = evaluate_adaptively_side_by_side(&[*instance], &[inputs], &endings, |pieces| {
            let (next, behind) = rest.split_at(pieces[0].len());
            pieces[0].copy_from_slice(next);
            rest = behind;
            Ok::<_, Infallible>(())
        });
        ended.unwrap().remove(0)
    }
}

proptest! {
    #[test]
    fn the_adaptive_form_ends_with_the_labels_wanted(seed in seeds()) {
        let circuit = random_circuit(seed);
        let plan = Plan::new(&circuit);
        let instance = Instance::new(&plan, &SESSION, 3);
        let made = Adaptive::garble(&instance, seed);
        let inputs = random_inputs(&plan, seed);
        let (values, labels) =
            made.evaluate(&instance, &made.nonce, &active(&made.keys, &inputs));
        let expected = eval_bits(&circuit, &inputs.to_bools());
        prop_assert_eq!(values.to_bools(), &expected[..]);
        for ((label, pair), value) in labels.iter().zip(&made.wanted).zip(expected) {
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
    let alone: [_; 3] = std::array::from_fn(|i| Adaptive::garble(&instances[i], 1 + i as u128));
    let keys = alone.each_ref().map(|made| &made.keys);
    let wanted = alone.each_ref().map(|made| (&made.nonce, &made.wanted[..]));
    let mut tables: [Vec<[Block; 2]>; 3] = Default::default();
    let endings = garble_adaptively_side_by_side(&instances, &keys, &wanted, |pieces| {
        tables.iter_mut().zip(pieces).for_each(|(table, gates)| table.extend_from_slice(gates));
        Ok::<_, Infallible>(())
    });
    for ((table, ending), made) in tables.iter().zip(endings.unwrap()).zip(&alone) {
        assert_eq!((table, &ending), (&made.table, &made.ending));
    }
    let bits: [_; 3] = std::array::from_fn(|i| random_inputs(&plan, i as u128));
    let inputs: [_; 3] = std::array::from_fn(|i| active(keys[i], &bits[i]));
    let mut read = [0; 3];
    let evaluated = evaluate_adaptively_side_by_side(
        &instances,
        &inputs.each_ref().map(|inputs| &inputs[..]),
        &alone.each_ref().map(|made| (&made.nonce, &made.ending)),
        |pieces| {
            for ((piece, table), read) in pieces.iter_mut().zip(&tables).zip(&mut read) {
                piece.copy_from_slice(&table[*read..][..piece.len()]);
                *read += piece.len();
            }
            Ok::<_, Infallible>(())
        },
    );
    for (((values, labels), bits), made) in evaluated.unwrap().iter().zip(&bits).zip(&alone) {
        let expected = eval_bits(&circuit, &bits.to_bools());
        assert_eq!(values.to_bools(), expected);
        for ((label, pair), value) in labels.iter().zip(&made.wanted).zip(expected) {
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
    let (plain, zero) = garble_table(&instance, &keys);
    let wanted = vec![[Block(3), Block(4)]; zero.len()];
    let masked = |nonce| Adaptive::with(&instance, &keys, &Seed::new(nonce), &wanted);
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
    let made = Adaptive::garble(&instance, 5);
    let ends = |nonce: &Seed, inputs: &[Block]| {
        let (_, labels) = made.evaluate(&instance, nonce, inputs);
        labels.iter().zip(&made.wanted).filter(|(label, pair)| pair.contains(label)).count()
    };
    let inputs = &made.keys.inputs;
    assert_eq!(ends(&made.nonce, inputs), 8);
    assert_eq!(ends(&Seed::new(Block(77)), inputs), 0);
    let mut wrong = inputs.clone();
    wrong[0].0 ^= 1 << 60;
    // Through AND gates, the lowest bit of each summand affects every bit of the sum.
    assert_eq!(ends(&made.nonce, &wrong), 0);
}
