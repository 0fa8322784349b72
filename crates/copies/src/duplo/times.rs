//! What a run takes besides the garbling, sending and evaluating that it cannot avoid. Prints
//! times, and asserts nothing about them.

use std::time::Instant;

use symbolon_circuit::{Plan, builtin};
use symbolon_garbling::Instance;
use symbolon_primitives::{Block, HugeBuf, Seed};
use symbolon_transport::{Meter, memory_lanes};

use super::commit::{receive_blocks_into, send_blocks};
use super::forecast::{Forecast, Plans};
use super::messages;
use super::tests::Scene;

/// How often everything is measured, in turns.
const ROUNDS: usize = 3;

/// Processor time of this process, all threads, user and system, in hundredths of a second.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn taken(work: impl FnOnce()) -> u64 {
    let start = ticks();
    work();
    ticks() - start
}

/// Sends a table `copies` times over the kind of channel that the parties have, to a receiver that
/// keeps all of them in memory.
fn send(table: &[[Block; 2]], copies: usize) {
    let (a, b) = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, None).unwrap();
    let [mut a, mut b] = [a, b].map(|mut lanes| lanes.remove(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..copies {
                send_blocks(&mut a, messages::TABLE, table.as_flattened()).unwrap();
            }
            a.flush().unwrap();
        });
        let mut all = HugeBuf::<[Block; 2]>::public(copies * table.len());
        for table in all.chunks_mut(table.len()) {
            receive_blocks_into(&mut b, messages::TABLE, table.as_flattened_mut()).unwrap();
        }
        std::hint::black_box(&all[..]);
    });
}

/// Prints the processor time of both parties for N blocks of AES-128, by phase. Compares it with
/// garbling L copies, sending the evaluation copies and garbling the opened ones again, first
/// without and then with both parties' digests and garbling the evaluation copies again. Compares
/// the online phase with evaluating the evaluation copies.
#[test]
#[ignore = "measures: prints processor times, in hundredths of a second"]
fn times_beside_the_garbling_that_cannot_be_avoided() {
    let circuit = builtin::by_name("aes128").unwrap();
    let plan = Plan::new(&circuit);
    let wanted = std::env::var("SYMBOLON_TIMES").unwrap_or_else(|_| "1 32 128 1024".into());
    let numbers = wanted.split_whitespace().map(|n| n.parse().expect("numbers of executions"));
    for executions in numbers.collect::<Vec<usize>>() {
        let plans = Plans { executions, ..Plans::default() };
        let sizes = Forecast::new(&circuit, plans).unwrap().components[0].sizes;
        let kept = sizes.bucket * sizes.buckets;
        let (mut garbling, mut sending, mut evaluating) = (0, 0, 0);
        let (mut again, mut digests) = (0, 0);
        let (mut phases, mut waited) = ([0; 4], [0; 4]);
        for _ in 0..ROUNDS {
            let instance = Instance::new(&plan, &[3; 32], 1);
            let keys = instance.keys_from_seed(&Seed::new(Block(7)));
            let mut table = vec![[Block::ZERO; 2]; instance.gates() as usize];
            instance.garble_into(&keys, &mut table);
            let mut garble = |copies| {
                taken(|| {
                    for number in 0..copies {
                        let instance = Instance::new(&plan, &[3; 32], number);
                        std::hint::black_box(instance.garble_into(&keys, &mut table));
                    }
                })
            };
            garbling += garble(sizes.made + (sizes.made - kept));
            again += garble(kept);
            digests += taken(|| {
                for _ in 0..2 * sizes.made {
                    std::hint::black_box(super::garble::digest(&table));
                }
            });
            sending += taken(|| send(&table, kept as usize));
            evaluating += taken(|| {
                for _ in 0..kept {
                    std::hint::black_box(instance.evaluate_table(&keys.inputs, &table));
                }
            });
            let inputs = circuit.inputs().iter();
            let inputs =
                inputs.map(|input| vec![true; input.ty.width() as usize * executions]).collect();
            let (circuit, components) = (circuit.clone(), Vec::new());
            let usual = Scene::new(None, executions, 0);
            let scene = Scene { circuit, components, inputs, ..usual };
            let start = Instant::now();
            let hundredths = || start.elapsed().as_millis() as u64 / 10;
            let times = scene.run_timed(|| [ticks(), hundredths()]);
            let sums = phases.iter_mut().zip(&mut waited);
            for ((worked, waited), [ticks, elapsed]) in sums.zip(times) {
                *worked += ticks;
                *waited += elapsed;
            }
        }
        let [set_up, components, connected, online] = phases;
        let elapsed = waited[1] + waited[2];
        let ratio = |all: u64, least: u64| all as f64 / least as f64;
        eprintln!(
            "N = {executions}, α = {}, L = {}, {ROUNDS} rounds: garbling {garbling}, sending \
             {sending}, evaluating {evaluating}, garbling again {again}, digests {digests}; \
             set-up {set_up}, components {components}, solderings {connected}, online {online}; \
             before online {:.2} times, with garbling again and digests {:.2}, online {:.2} times \
             what cannot be avoided; {elapsed} pass before online and {} online, {:.2} and {:.2} times \
             what one core needs",
            sizes.bucket,
            sizes.made,
            ratio(components + connected, garbling + sending),
            ratio(components + connected, garbling + sending + again + digests),
            ratio(online, evaluating),
            waited[3],
            ratio(elapsed, garbling + sending),
            ratio(waited[3], evaluating),
        );
    }
}

/// Prints the sizes for N blocks of AES-128, the bytes that both parties send for each, and the
/// memory that the commitments take at each party.
#[test]
#[ignore = "prints sizes"]
fn sizes_by_the_number_of_executions() {
    let circuit = builtin::by_name("aes128").unwrap();
    for executions in [1, 32, 128, 1024] {
        let plans = Plans { executions, ..Plans::default() };
        let forecast = Forecast::new(&circuit, plans).unwrap();
        let (one, all) = (&forecast.components[0], forecast.authenticators);
        let commitments = one.sizes.made * (1 + one.inputs + one.outputs)
            + all.made * (1 + forecast.bundle)
            + 3 * 128 * executions as u64;
        let row = 8 * super::state::commitments(40).unwrap().row_words() as u64;
        eprintln!(
            "N = {executions}: components {:?}; authenticators of {} wires {all:?}; {:.2} MB for \
             each; {commitments} commitments, {} MB",
            one.sizes,
            forecast.bundle,
            forecast.bytes() as f64 / executions as f64 / 1e6,
            commitments * (16 + row) / 1_000_000,
        );
    }
}
