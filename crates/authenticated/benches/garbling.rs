//! Garbling alone, in AND gates per second on one thread: a layer of independent gates whose
//! labels, shares and tables fit the L2 cache; and SHA-256, whose layers have a few gates each. The
//! backend is the processor's, or that of `SYMBOLON_BACKEND`.

use divan::Bencher;
use divan::counter::ItemsCount;
use symbolon_authenticated::kernels::KERNELS;
use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Plan, Receivers, Type, builtin};

fn main() {
    divan::main();
}

/// The number of AND gates in the layer, which the plan divides into batches.
const GATES: u32 = 1024;

fn names() -> Vec<&'static str> {
    KERNELS.iter().map(|(name, _)| *name).collect()
}

#[divan::bench(args = names(), sample_size = 20, sample_count = 500)]
fn layer(bencher: Bencher<'_, '_>, name: &str) {
    let mut builder = Builder::new("layer");
    let ty = || Type::Uint(GATES);
    let (x, y) = (builder.input("x", ty(), 0), builder.input("y", ty(), 1));
    let z = builder.and(&x, &y);
    builder.output("z", &z, ty(), Receivers::All);
    measure(bencher, name, &builder.finish().expect("a circuit"));
}

#[divan::bench(args = names(), sample_size = 1, sample_count = 100)]
fn narrow(bencher: Bencher<'_, '_>, name: &str) {
    measure(bencher, name, &builtin::by_name("sha256").expect("a built-in circuit"));
}

fn measure(bencher: Bencher<'_, '_>, name: &str, circuit: &Circuit) {
    let plan = Plan::new(circuit);
    let kernel = KERNELS.iter().find(|(known, _)| *known == name).map(|(_, kernel)| kernel);
    let run = kernel.expect("a kernel")(&plan);
    bencher.counter(ItemsCount::new(plan.and_count())).bench_local(run);
}
