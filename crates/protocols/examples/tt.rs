//! scratch
use std::time::{Duration, Instant};
use symbolon_circuit::{Plan, builtin};
use symbolon_protocols::*;
use symbolon_transport::{Meter, memory_lanes};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let circuit = builtin::by_name(&args[1]).unwrap();
    let n: usize = args[2].parse().unwrap();
    let (m0, m1) = (Meter::new(), Meter::new());
    let (a, b) = memory_lanes((0, m0.clone()), (1, m1.clone()), 1, None).unwrap();
    std::thread::scope(|s| {
        for (me, lanes, meter) in [(0u16, a, m0), (1, b, m1)] {
            let circuit = &circuit;
            s.spawn(move || {
                let mut net = Network { me, lanes: vec![lanes], meter, session: [7; 32], rho: Rho::Bits40, ot: Generator::SoftSpoken { k: BlockBits::Four }, form: Form::Tables, batch: Batch { executions: n, mac: MacLength::Bits64 } };
                for l in net.lanes.iter_mut().flatten() { l.set_timeout(Duration::from_secs(60)); }
                let plan = Plan::new(circuit);
                let p = Protocol::TinyTable;
                let mut engine = p.set_up(&mut net).unwrap();
                let need = p.need(&net, circuit, &plan).unwrap();
                for _ in 0..3 {
                    let t = Instant::now();
                    let m = engine.preprocess(&mut net, &need).unwrap();
                    let t1 = t.elapsed();
                    let t = Instant::now();
                    let r = m.prepare(&mut net, circuit, &plan).unwrap();
                    let t2 = t.elapsed();
                    let inputs: InputBits = circuit.inputs().iter().map(|i| (i.owner == me).then(|| vec![true; i.ty.width() as usize * n])).collect();
                    let t = Instant::now();
                    let out = r.evaluate(&mut net, circuit, &plan, &inputs).unwrap();
                    let t3 = t.elapsed();
                    if me == 0 { println!("ind {:?} dep {:?} online {:?} per exec: {:.2} us {:.2} us {:.3} us ({} out)", t1, t2, t3, t1.as_secs_f64()*1e6/n as f64, t2.as_secs_f64()*1e6/n as f64, t3.as_secs_f64()*1e6/n as f64, out.len()); }
                }
            });
        }
    });
}
