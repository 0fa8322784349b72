//! The fused proof against the plain one in [`crate::reference`], on random circuits.

use symbolon_circuit::{Linear, builtin};
use symbolon_primitives::Prg;

use super::*;
use crate::reference::{Masked, Part, evaluators_z, garblers_z};

/// Masked values and masks of a random run, gate by gate, with both parties' parts of the masks.
struct Dealt {
    /// Λ of the inputs.
    inputs: BitVec,
    garbler: Vec<(Masked, Part)>,
    evaluator: Vec<(Masked, Part)>,
}

fn deal(plan: &Plan, delta: Block, prg: &mut Prg) -> Dealt {
    let bit = |prg: &mut Prg| prg.u64() & 1 == 1;
    // By slot: the value of the wire and its mask.
    let mut slots = vec![(false, false); plan.slots()];
    let mut inputs = BitVec::with_capacity(plan.input_slots().len());
    for slot in plan.input_slots() {
        slots[slot] = (bit(prg), bit(prg));
        inputs.push(slots[slot].0 ^ slots[slot].1);
    }
    let (mut garbler, mut evaluator) = (Vec::new(), Vec::new());
    let mut cursor = plan.cursor();
    while let Some(batch) = cursor.next_batch() {
        let slots = &mut slots[batch.base..];
        for &linear in batch.linear {
            match linear {
                Linear::Xor { a, b, out } => {
                    let (a, b) = (slots[a as usize], slots[b as usize]);
                    slots[out as usize] = (a.0 ^ b.0, a.1 ^ b.1);
                }
                Linear::Inv { a, out } => {
                    let (value, mask) = slots[a as usize];
                    slots[out as usize] = (!value, mask);
                }
                Linear::Copy { from, out, len } => {
                    slots.copy_within(from as usize..(from + len) as usize, out as usize);
                }
                Linear::Const { value, out } => slots[out as usize] = (value, false),
            }
        }
        for and in batch.ands {
            let (a, b) = (slots[and.a as usize], slots[and.b as usize]);
            let out = (a.0 & b.0, bit(prg));
            slots[and.out as usize] = out;
            let masked = [a, b, out].map(|(value, mask)| value ^ mask);
            let own = [(); 3].map(|()| bit(prg));
            let masks = [a.1, b.1, a.1 & b.1 ^ out.1];
            let theirs = std::array::from_fn(|k| masks[k] ^ own[k]);
            // The evaluator holds the keys for the garbler's bits. For its own bits it needs no
            // MACs.
            let keys = [(); 3].map(|()| prg.block());
            let macs = std::array::from_fn(|k: usize| keys[k] ^ delta.select(own[k]));
            let none = [Block::ZERO; 3];
            garbler.push((masked, Part { bits: own, macs, keys: none }));
            evaluator.push((masked, Part { bits: theirs, macs: none, keys }));
        }
    }
    Dealt { inputs, garbler, evaluator }
}

#[test]
fn the_proof_is_that_of_the_figure() {
    let mut prg = Prg::from_seed(Block(8));
    for name in ["add:2", "random:1500", "random:4096/1024", "sha1"] {
        let plan = Plan::new(&builtin::by_name(name).unwrap());
        let (delta, chi) = (prg.block(), prg.block());
        let Dealt { inputs, garbler, mut evaluator } = deal(&plan, delta, &mut prg);
        let n = garbler.len();
        let mut bits = BitVec::with_capacity(n);
        garbler.iter().for_each(|(masked, _)| bits.push(masked[2]));
        let values = MaskedValues { bits, digest: [0; 32], chi };
        let rows: [Vec<Block>; 3] =
            std::array::from_fn(|k| garbler.iter().map(|(_, part)| part.macs[k]).collect());
        // In two pieces, as if from two batches of triples.
        let (first, second) = (rows.each_ref(), rows.each_ref());
        let pieces = [first.map(|row| &row[..n / 2]), second.map(|row| &row[n / 2..])];
        let unused = Delta::new(Block::ZERO);
        let z = Proof::new(&plan, &inputs, 0, &unused).sum(&values, n, pieces.into_iter());
        assert_eq!(z, garblers_z(&garbler, chi), "{name}");
        assert_eq!(z, evaluators_z(&evaluator, delta, chi), "{name}");
        // A wrong masked value of any gate is detected.
        evaluator[n / 3].0[2] ^= true;
        assert_ne!(z, evaluators_z(&evaluator, delta, chi), "{name}");
    }
}
