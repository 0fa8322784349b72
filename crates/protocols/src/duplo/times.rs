//! What a run takes besides the garbling and evaluating that it cannot do without. Prints, and
//! asserts nothing about times.

use symbolon_circuit::{Plan, builtin};
use symbolon_garbling::Instance;
use symbolon_primitives::{Block, Seed};

use super::forecast::{Forecast, Plans};
use super::tests::Scene;

/// Processor time of this process, all threads, in hundredths of a second.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Processor time of both parties for N blocks of AES-128, against garbling L copies, garbling the
/// opened ones again and evaluating the others.
#[test]
#[ignore = "measures: prints processor times, in hundredths of a second"]
fn times_beside_the_garbling_that_cannot_be_avoided() {
    let circuit = builtin::by_name("aes128").unwrap();
    let plan = Plan::new(&circuit);
    for executions in [32, 128] {
        let plans = Plans { executions, ..Plans::default() };
        let sizes = Forecast::new(&circuit, plans).unwrap().components[0].sizes;
        let kept = sizes.bucket * sizes.buckets;
        let start = ticks();
        for number in 0..sizes.made + (sizes.made - kept) {
            let instance = Instance::new(&plan, &[3; 32], number);
            let keys = instance.keys_from_seed(&Seed::new(Block(7)));
            std::hint::black_box(instance.garble_table(&keys));
        }
        let garbling = ticks() - start;
        let instance = Instance::new(&plan, &[3; 32], 1);
        let keys = instance.keys_from_seed(&Seed::new(Block(7)));
        let (table, _) = instance.garble_table(&keys);
        let start = ticks();
        for _ in 0..kept {
            std::hint::black_box(instance.evaluate_table(&keys.inputs, &table));
        }
        let evaluating = ticks() - start;
        let inputs = circuit.inputs().iter();
        let inputs =
            inputs.map(|input| vec![true; input.ty.width() as usize * executions]).collect();
        let components = Vec::new();
        let scene = Scene { circuit: circuit.clone(), small: None, executions, components, inputs };
        let start = ticks();
        let phases = scene.run_timed(ticks);
        eprintln!(
            "N = {executions}, α = {}, L = {}: unavoidable {garbling} + {evaluating}, all {}, by phase {phases:?}",
            sizes.bucket,
            sizes.made,
            ticks() - start,
        );
    }
}
