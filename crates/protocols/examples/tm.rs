//! scratch
use std::time::{Duration, Instant};
use symbolon_circuit::{Plan, builtin};
use symbolon_primitives::BitVec;
use symbolon_protocols::*;
use symbolon_transport::{Meter, memory_lanes};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let circuit = builtin::by_name(&args[1]).unwrap();
    let shared = args[2] == "shared";
    let n: usize = args[3].parse().unwrap();
    let reps: usize = args[4].parse().unwrap();
    let (m0, m1) = (Meter::new(), Meter::new());
    let (a, b) = memory_lanes((0, m0.clone()), (1, m1.clone()), 1, None).unwrap();
    std::thread::scope(|s| {
        for (me, lanes, meter) in [(0u16, a, m0), (1, b, m1)] {
            let circuit = &circuit;
            s.spawn(move || {
                let mut net = Network {
                    me,
                    lanes: vec![lanes],
                    meter,
                    session: [7; 32],
                    rho: Rho::Bits40,
                    ot: Generator::SoftSpoken { k: BlockBits::Four },
                    form: Form::Tables,
                    batch: Batch { executions: if shared { 1 } else { n }, mac: MacLength::Bits64 },
                };
                for l in net.lanes.iter_mut().flatten() {
                    l.set_timeout(Duration::from_secs(60));
                }
                let plan = Plan::new(circuit);
                let p = Protocol::TinyTable;
                let mut engine = p.set_up(&mut net).unwrap();
                let need = p.need(&net, circuit, &plan).unwrap();
                let m = engine.preprocess(&mut net, &need).unwrap();
                let t = Instant::now();
                let r = m.prepare(&mut net, circuit, &plan).unwrap();
                if me == 0 {
                    println!("dep {:?}", t.elapsed());
                }
                let r = r.measured(shared.then_some(n)).unwrap();
                let w: usize = circuit
                    .inputs()
                    .iter()
                    .filter(|i| i.owner == me)
                    .map(|i| i.ty.width() as usize)
                    .sum();
                let inputs = BitVec::zeros(w * n);
                let mut times = vec![];
                for _ in 0..reps {
                    let t = Instant::now();
                    r.run(&mut net, circuit, &inputs).unwrap();
                    times.push(t.elapsed());
                }
                times.sort();
                if me == 0 {
                    println!(
                        "online min {:?} median {:?} per exec {:.3} us",
                        times[0],
                        times[reps / 2],
                        times[reps / 2].as_secs_f64() * 1e6 / n as f64
                    );
                }
                std::mem::forget(r);
            });
        }
    });
}
