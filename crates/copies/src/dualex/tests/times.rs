//! Compares the time of a run with that of the work that cannot be avoided. Prints times, and
//! asserts nothing about them.

use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Type, builtin};
use symbolon_engine::{Compiled, Prepared, Rho};
use symbolon_garbling::{
    Instance, SIDE, adaptive::garble_adaptively_side_by_side, component::ComponentDigest,
};
use symbolon_primitives::{BitVec, Block, Seed};

use super::tools::{Setting, both, inputs_of, networks, prg, random_inputs};
use crate::dualex::options::{KappaBPer, PsiForm};
use crate::dualex::{
    engine::set_up_own,
    function::Function,
    garble::{Garbler, Source},
    params::{Kappas, Params},
    probe_matrix::ProbeMatrix,
};

/// Returns the processor time of this process, all threads, in milliseconds.
fn processor_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10
}

/// Returns the peak memory of this process in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}

/// The work that cannot be avoided, for both parties, in milliseconds.
struct Unavoidable {
    /// Garbling N̂ copies, and the opened ones again.
    garbling: u64,
    /// Masking and hashing their tables: a table that is sent before its inputs are known is masked
    /// (Fig. 9), and a circuit that is opened later is committed.
    hashing: u64,
    /// Garbling and masking the evaluation circuits again, because their tables were not kept, and
    /// hashing them as the receiver does.
    again: u64,
    /// Copying the tables of the evaluation circuits from one buffer to another, once for each
    /// party.
    sending: u64,
    /// Evaluating the circuits of all buckets.
    evaluating: u64,
}

impl Unavoidable {
    fn measure(function: &Function, params: &Params) -> Unavoidable {
        let (all, kept) = (params.circuits(), params.executions() * params.bucket());
        let garbled = 2 * (all + all - kept) as u64;
        let session = [3; 32];
        let seed = Seed::new(Block(7));
        let timed = |work: &mut dyn FnMut()| {
            let start = processor_ms();
            work();
            processor_ms() - start
        };
        let garbling = timed(&mut || {
            for number in 0..garbled {
                let instance = Instance::new(&function.plan, &session, number);
                let keys = instance.keys_from_seed(&seed);
                let outputs = instance.garble(&keys, |gates| {
                    black_box(gates);
                    Ok::<_, std::convert::Infallible>(())
                });
                black_box(outputs.is_ok());
            }
        });
        let wanted = vec![[Block::ONE; 2]; function.outputs];
        let masked = timed(&mut || {
            for number in 0..garbled {
                let instance = Instance::new(&function.plan, &session, number);
                let keys = instance.keys_from_seed(&seed);
                let mut digest = ComponentDigest::default();
                let each = [(&seed, &wanted[..])];
                let ended = garble_adaptively_side_by_side(&[instance], &[&keys], &each, |gates| {
                    digest.update(gates[0]);
                    Ok::<_, std::convert::Infallible>(())
                });
                black_box((ended.is_ok(), digest.finish()));
            }
        });
        let instance = Instance::new(&function.plan, &session, 1);
        let keys = instance.keys_from_seed(&seed);
        let mut table = vec![[Block::ZERO; 2]; instance.gates() as usize];
        instance.garble_into(&keys, &mut table);
        let mut copy = table.clone();
        let sending = timed(&mut || {
            for _ in 0..2 * kept {
                copy.copy_from_slice(black_box(&table));
                black_box(&copy);
            }
        });
        let evaluating = timed(&mut || {
            for _ in 0..2 * kept {
                black_box(instance.evaluate_table(&keys.inputs, &table));
            }
        });
        let hashing = masked.saturating_sub(garbling);
        let again = masked * 2 * kept as u64 / garbled;
        Unavoidable { garbling, hashing, again, sending, evaluating }
    }
}

/// Prints the processor time of both parties for N evaluations, and the time that passes, by phase,
/// next to the work that cannot be avoided. N̂ and B are those of the paper's bound.
#[test]
#[ignore = "measures: prints processor times"]
fn times_beside_the_garbling_that_cannot_be_avoided() {
    let wanted = std::env::var("SYMBOLON_TIMES").unwrap_or_else(|_| "32 128".into());
    let (numbers, names): (Vec<&str>, Vec<&str>) =
        wanted.split_whitespace().partition(|word| word.parse::<usize>().is_ok());
    let names = if names.is_empty() { vec!["aes128", "sha256"] } else { names };
    for n in numbers.into_iter().filter_map(|n| n.parse().ok()) {
        for name in &names {
            let circuit = builtin::by_name(name).unwrap();
            let function = Function::of(&circuit).unwrap();
            let psi = PsiForm::Synchronous;
            let per = KappaBPer::Execution;
            let kappas = Kappas { bit: Rho::Bits40, per, rest: Rho::Bits40 };
            let params = Params::new(n, kappas, psi, &function).unwrap();
            let sizes = params.sizes;
            let setting = Setting {
                sizes: [sizes.buckets, sizes.bucket, sizes.objects],
                psi,
                ..Setting::default()
            };
            let Unavoidable { garbling, hashing, again, sending, evaluating } =
                Unavoidable::measure(&function, &params);
            let (barrier, times) = (Barrier::new(2), Mutex::new(Vec::new()));
            let start = Instant::now();
            let phase = || {
                if barrier.wait().is_leader() {
                    let elapsed = start.elapsed().as_millis() as u64;
                    times.lock().unwrap().push([processor_ms(), elapsed]);
                }
                barrier.wait();
            };
            let all = random_inputs(&circuit, n, &mut prg(1));
            let compiled = Compiled::new(&circuit);
            let ended = both(networks(setting), [(); 2], &|net, ()| {
                phase();
                let mut engine = set_up_own(net)?;
                phase();
                let prepared = engine.prepare_batch(net, &compiled, params)?;
                phase();
                let outputs = Box::new(prepared).evaluate(
                    net,
                    &compiled,
                    &inputs_of(&circuit, net.me.number(), &all),
                );
                phase();
                outputs
            });
            ended.into_iter().for_each(|ended| drop(ended.unwrap()));
            let times = times.into_inner().unwrap();
            let phases = |kind: usize| [0, 1, 2].map(|k| times[k + 1][kind] - times[k][kind]);
            let ([set_up, offline, online], [_, offline_passed, online_passed]) =
                (phases(0), phases(1));
            let ratio = |time: u64, least: u64| time as f64 / least.max(1) as f64;
            eprintln!(
                "{name}, N = {n}, B = {}, N̂ = {}: set-up {set_up} ms; offline {offline} ms, {:.2} \
                 of garbling and sending ({garbling} + {sending}), {:.2} with masks and hashes \
                 ({hashing} more), {:.2} with the second garbling ({again} more); online {online} ms, \
                 {:.2} of evaluating ({evaluating}); {offline_passed} and {online_passed} ms \
                 pass, {:.2} and {:.2} times what one core needs; peak {} MiB",
                params.bucket(),
                params.circuits(),
                ratio(offline, garbling + sending),
                ratio(offline, garbling + sending + hashing),
                ratio(offline, garbling + sending + hashing + again),
                ratio(online, evaluating),
                ratio(offline_passed, garbling + sending),
                ratio(online_passed, evaluating),
                peak_mib(),
            );
        }
    }
}

/// Returns a circuit with `bits` input bits of each party, whose outputs are their XOR.
fn wires(bits: u32) -> Circuit {
    let mut b = Builder::new("wires");
    let [x, y] = [("x", 0), ("y", 1)].map(|(name, p)| b.input(name, Type::Uint(bits), p));
    let sum = b.xor(&x, &y);
    b.output("sum", &sum, Type::Uint(bits), Receivers::All);
    b.finish().unwrap()
}

/// Returns the shortest time of 30 runs, in nanoseconds.
fn best_ns(mut work: impl FnMut()) -> u128 {
    let run = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos()
    };
    (0..30).map(run).min().unwrap_or_default()
}

/// Measures one circuit, in nanoseconds. The constants in `params.rs` come from this.
#[test]
#[ignore = "measures: prints times"]
fn times_of_one_circuit() {
    let session = [3; 32];
    let named = |name: &str| builtin::by_name(name).unwrap();
    let circuits =
        [named("aes128"), named("sha256"), named("mult:64"), wires(64), wires(128), wires(512)];
    for circuit in circuits {
        let function = Function::of(&circuit).unwrap();
        let matrix = ProbeMatrix::draw(function.inputs[1], 40, &mut prg(3));
        let party = symbolon_transport::PartyId::new(0);
        let garbler = Garbler { session: &session, party, function: &function, matrix: &matrix };
        let (seed, order) = (Seed::new(Block(7)), BitVec::zeros(function.inputs[0]));
        let sources = [(); SIDE].map(|()| Source { number: 5, seed: &seed, order: &order });
        let sources = &sources[..garbler.side_by_side()];
        let lanes = sources.len() as u128;
        let committing = best_ns(|| drop(black_box(garbler.commit(sources)))) / lanes;
        let garbling = best_ns(|| drop(black_box(garbler.garble(sources, |_, _| ())))) / lanes;
        let instance = Instance::new(&function.plan, &session, 1);
        let keys = instance.keys_from_seed(&seed);
        let mut table = vec![[Block::ZERO; 2]; instance.gates() as usize];
        instance.garble_into(&keys, &mut table);
        let hashing = best_ns(|| {
            let mut digest = ComponentDigest::default();
            digest.update(&table);
            black_box(digest.finish());
        });
        let evaluating = best_ns(|| drop(black_box(instance.evaluate_table(&keys.inputs, &table))));
        let labels = vec![Block::ONE; matrix.encoded()];
        let labels = vec![&labels[..]; SIDE];
        let decoding = best_ns(|| drop(black_box(matrix.decode_labels(&labels)))) / SIDE as u128;
        eprintln!(
            "{}: {} ANDs, inputs {:?}, encoded {}, outputs {}: committing {committing}, of which \
             garbling {garbling}; hashing {hashing}, evaluating {evaluating}, decoding {decoding}",
            circuit.name(),
            function.plan.and_count(),
            function.inputs,
            matrix.encoded(),
            function.outputs,
        );
    }
}
