//! Plain garbling in AND gates per second on one thread: a layer of independent gates, AES-128 and
//! SHA-256; then several garblings side by side, and in the adaptive form. The backend is the best
//! one of the processor, or the one that `SYMBOLON_BACKEND` selects.

use std::convert::Infallible;
use std::hint::black_box;

use divan::Bencher;
use divan::counter::ItemsCount;
use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Plan, Receivers, Type, builtin};
use symbolon_garbling::component::ComponentDigest;
use symbolon_garbling::{InputKeys, Instance, adaptive};
use symbolon_primitives::{Block, Seed};

fn main() {
    divan::main();
}

const CIRCUITS: [&str; 3] = ["layer", "aes128", "sha256"];

/// AND gates of the layer.
const GATES: u32 = 1024;

fn circuit(name: &str) -> Circuit {
    if name != "layer" {
        return builtin::by_name(name).expect("a circuit");
    }
    let mut builder = Builder::new("layer");
    let ty = || Type::Uint(GATES);
    let (x, y) = (builder.input("x", ty(), 0), builder.input("y", ty(), 1));
    let z = builder.and(&x, &y);
    builder.output("z", &z, ty(), Receivers::All);
    builder.finish().expect("a circuit")
}

/// Benchmarks `run` on one instance.
fn measure(bencher: Bencher<'_, '_>, name: &str, run: impl Fn(&Instance<'_>, &Seed)) {
    let plan = Plan::new(&circuit(name));
    let instance = Instance::new(&plan, &[7; 32], 0);
    let seed = Seed::new(Block(5));
    bencher.counter(ItemsCount::new(plan.and_count())).bench_local(|| run(&instance, &seed));
}

fn forget<T: ?Sized>(_: &T) -> Result<(), Infallible> {
    Ok(())
}

fn garble_table(instance: &Instance<'_>, keys: &InputKeys) -> Vec<[Block; 2]> {
    let mut table = vec![[Block::ZERO; 2]; instance.gates() as usize];
    instance.garble_into(keys, &mut table);
    table
}

#[divan::bench(args = CIRCUITS)]
fn garble(bencher: Bencher<'_, '_>, name: &str) {
    measure(bencher, name, |instance, seed| {
        let keys = instance.keys_from_seed(seed);
        let _ = black_box(instance.garble(&keys, |gates| forget(black_box(gates))));
    });
}

#[divan::bench(args = CIRCUITS)]
fn evaluate(bencher: Bencher<'_, '_>, name: &str) {
    let plan = Plan::new(&circuit(name));
    let instance = Instance::new(&plan, &[7; 32], 0);
    let keys = instance.keys_from_seed(&Seed::new(Block(5)));
    let table = garble_table(&instance, &keys);
    bencher
        .counter(ItemsCount::new(plan.and_count()))
        .bench_local(|| instance.evaluate_table(&keys.inputs, &table));
}

/// Benchmarks `run` on `n` instances of one plan, which are garbled or evaluated side by side.
fn side_by_side(
    bencher: Bencher<'_, '_>,
    (name, n): (&str, usize),
    mut run: impl FnMut(&[Instance<'_>], &[&InputKeys], &mut [&mut [[Block; 2]]]),
) {
    let plan = Plan::new(&circuit(name));
    let instances: Vec<_> = (0..n as u64).map(|k| Instance::new(&plan, &[7; 32], k)).collect();
    let keys = instances.iter().map(|instance| instance.keys_from_seed(&Seed::new(Block(5))));
    let keys: Vec<_> = keys.collect();
    let tables = instances.iter().zip(&keys).map(|(instance, keys)| garble_table(instance, keys));
    let mut tables: Vec<_> = tables.collect();
    let mut tables: Vec<_> = tables.iter_mut().map(|table| &mut table[..]).collect();
    let keys: Vec<_> = keys.iter().collect();
    let gates = ItemsCount::new(n as u64 * plan.and_count());
    bencher.counter(gates).bench_local(|| run(&instances, &keys, &mut tables));
}

#[divan::bench(args = CIRCUITS, consts = [2, 3, 4])]
fn garble_side_by_side<const N: usize>(bencher: Bencher<'_, '_>, name: &str) {
    side_by_side(bencher, (name, N), |instances, keys, tables| {
        black_box(symbolon_garbling::garble_side_by_side(instances, keys, tables));
    });
}

#[divan::bench(args = CIRCUITS, consts = [2, 3, 4])]
fn evaluate_side_by_side<const N: usize>(bencher: Bencher<'_, '_>, name: &str) {
    side_by_side(bencher, (name, N), |instances, keys, tables| {
        let inputs: Vec<_> = keys.iter().map(|keys| &keys.inputs[..]).collect();
        let tables: Vec<_> = tables.iter().map(|table| &**table).collect();
        black_box(symbolon_garbling::evaluate_side_by_side(instances, &inputs, &tables));
    });
}

#[divan::bench(args = CIRCUITS, consts = [1, 2, 3, 4])]
fn garble_adaptively_side_by_side<const N: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let seed = Seed::new(Block(5));
    let wanted = vec![[Block::ZERO; 2]; Plan::new(&circuit(name)).output_slots().len()];
    side_by_side(bencher, (name, N), |instances, keys, _| {
        let each = vec![(&seed, &wanted[..]); N];
        let mut digests: Vec<_> = (0..N).map(|_| ComponentDigest::default()).collect();
        let ended = adaptive::garble_adaptively_side_by_side(instances, keys, &each, |pieces| {
            digests.iter_mut().zip(pieces).for_each(|(digest, gates)| digest.update(gates));
            Ok::<_, Infallible>(())
        });
        let digests: Vec<_> = digests.into_iter().map(ComponentDigest::finish).collect();
        black_box((ended.is_ok(), digests));
    });
}
