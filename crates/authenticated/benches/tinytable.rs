//! AES-128 in `tinytable`, with S-box look-ups and with gates: a single block, blocks of a batch
//! with fresh material, and blocks that all use the material of one, as the paper measures them.
//! Sharing material reveals all inputs, so no product offers it.
//!
//! Two threads communicate over TCP. Options: `--repeat N` (7), `--mac-bits 32|64|128` (64),
//! `--threads N` (1).

#![allow(clippy::print_stdout)]

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use symbolon_authenticated::tinytable::{
    self,
    options::{MacLength, TinyTableOptions},
};
use symbolon_circuit::{Circuit, PartyId, builtin, reference};
use symbolon_engine::{
    Compiled, Engine, GateForm, Network, Prepared, Rho, SEGMENT_GATES, phases::Measured,
};
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::{Channel, Listener, Meter, Options, Peer, Result, connect_lanes};

/// What is measured: its name, its circuit, and how many blocks are made with fresh material at a
/// time.
const VARIANTS: [(&str, &str, usize); 2] =
    [("S-boxes", "aes128:sbox-expanded", 24), ("gates", "aes128:expanded", 192)];

/// How many blocks share the material of one.
const SHARED_BY: usize = 4096;

fn main() -> Result<()> {
    let repeat = option("--repeat").unwrap_or(7).max(1) as usize;
    let bits = option("--mac-bits").unwrap_or(64);
    let mac = MacLength::ALL.into_iter().find(|mac| mac.bits() == bits);
    let mac = mac.expect("--mac-bits takes 32, 64 or 128");
    // As in a session: with several threads, there is one more connection than threads.
    let lanes = option("--threads").map_or(1, |n| if n > 1 { n as usize + 1 } else { 1 });
    for (name, circuit, batch) in VARIANTS {
        let circuit = builtin::by_name(circuit).expect("a built-in circuit");
        let (networks, start) = (networks(mac, lanes)?, Barrier::new(2));
        let times: Vec<Times> = thread::scope(|scope| {
            let parties = networks.map(|network| {
                let (circuit, start) = (&circuit, &start);
                scope.spawn(move || measure(network, circuit, start, batch, repeat))
            });
            parties.into_iter().map(|party| party.join().expect("no panic")).collect::<Result<_>>()
        })?;
        print(name, batch, mac, &times);
    }
    Ok(())
}

/// Returns the number after this word on the command line.
fn option(name: &str) -> Option<u32> {
    let mut words = std::env::args().skip_while(|word| word != name);
    words.next()?;
    Some(words.next()?.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
}

/// Returns both ends of a session over TCP on this machine.
fn networks(mac: MacLength, lanes: usize) -> Result<[Network; 2]> {
    let meters = [Meter::new(), Meter::new()];
    let options =
        [0, 1].map(|me: u16| Options::insecure_plain_tcp(me, meters[usize::from(me)].clone()));
    let door = Listener::bind("127.0.0.1:0")?;
    let address = door.local_addr().to_string();
    let peers = [0, 1].map(Peer::unauthenticated);
    let (dialled, awaited) = thread::scope(|scope| {
        let dialled = scope.spawn(|| connect_lanes(&options[1], &address, &peers[0], lanes));
        let awaited = door.accept_lanes(&options[0], &peers[1], lanes);
        (dialled.join().expect("no panic"), awaited)
    });
    let ends = [(0, awaited?, &meters[0]), (1, dialled?, &meters[1])];
    Ok(ends.map(|(me, channels, meter)| Network {
        me: PartyId::new(me),
        lanes: channels.into_iter().map(|channel| vec![channel]).collect(),
        meter: meter.clone(),
        session: [7; 32],
        rho: Rho::Bits40,
        ot: "softspoken4".parse().expect("a generator"),
        form: GateForm::Tables,
        executions: 1,
        options: TinyTableOptions { mac: mac.into(), ..Default::default() }.into(),
        segment_gates: SEGMENT_GATES,
    }))
}

/// The measurements of one party, per block.
#[derive(Default)]
struct Times {
    /// Online seconds of a single block.
    alone: Vec<f64>,
    /// Online seconds of a block in a batch with fresh material.
    fresh: Vec<f64>,
    /// Online seconds of a block with shared material.
    shared: Vec<f64>,
    /// Seconds for the triples and masks of a block in a batch.
    independent: Vec<f64>,
    /// Seconds to make its tables from them.
    dependent: Vec<f64>,
    /// Bytes sent online for a single block, and for one in a batch.
    online_bytes: [f64; 2],
    /// Bytes sent to prepare a block in a batch.
    preparing_bytes: f64,
    /// Size of the prepared material for one block, in bytes.
    prepared_bytes: usize,
}

/// One party, after its set-up.
struct Party<'a> {
    network: Network,
    engine: Box<dyn Engine>,
    circuit: Compiled,
    start: &'a Barrier,
}

fn measure(
    mut network: Network,
    circuit: &Circuit,
    start: &Barrier,
    batch: usize,
    repeat: usize,
) -> Result<Times> {
    let engine = tinytable::SPEC.set_up(&mut network)?;
    let mut party = Party { network, engine, circuit: Compiled::new(circuit), start };
    let mut times = Times::default();
    for _ in 0..repeat {
        let (alone, ..) = party.prepare(1)?;
        let (seconds, bytes) = party.run(alone.measured(None)?, 1)?;
        times.alone.push(seconds);
        times.online_bytes[0] = bytes;

        let (many, [independent, dependent], sent) = party.prepare(batch)?;
        times.independent.push(independent);
        times.dependent.push(dependent);
        times.preparing_bytes = sent;
        let (seconds, bytes) = party.run(many.measured(None)?, batch)?;
        times.fresh.push(seconds);
        times.online_bytes[1] = bytes;

        let (one, ..) = party.prepare(1)?;
        times.shared.push(party.run(one.measured(Some(SHARED_BY))?, SHARED_BY)?.0);
    }
    let mut saved = Vec::new();
    party.prepare(1)?.0.save(&mut saved)?;
    times.prepared_bytes = saved.len();
    Ok(times)
}

impl Party<'_> {
    /// Does `work` once both parties have arrived here, and flushes; returns seconds and bytes
    /// sent, too.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, f64, f64)> {
        let sent = |network: &Network| -> u64 {
            network.meter.report().iter().map(|phase| phase.bytes_sent).sum()
        };
        let before = sent(&self.network);
        self.start.wait();
        let begin = Instant::now();
        let made = work(self)?;
        self.network.lanes.iter_mut().flatten().try_for_each(Channel::flush)?;
        let seconds = begin.elapsed().as_secs_f64();
        Ok((made, seconds, (sent(&self.network) - before) as f64))
    }

    /// Prepares a number of executions; returns seconds of both phases and bytes sent, per
    /// execution.
    fn prepare(&mut self, executions: usize) -> Result<(Box<dyn Prepared>, [f64; 2], f64)> {
        self.network.executions = executions;
        let demand = tinytable::SPEC.demand(&self.network, &self.circuit)?;
        let (material, independent, first) =
            self.timed(|party| party.engine.preprocess(&mut party.network, &demand))?;
        let (prepared, dependent, second) =
            self.timed(|party| material.prepare(&mut party.network, &party.circuit))?;
        let one = |all: f64| all / executions as f64;
        Ok((prepared, [one(independent), one(dependent)], one(first + second)))
    }

    /// Runs what was prepared; returns seconds and bytes sent, per execution.
    fn run(&mut self, online: Box<dyn Measured>, executions: usize) -> Result<(f64, f64)> {
        let inputs = [0, 1]
            .map(|party| pseudorandom(self.circuit.circuit(), PartyId::new(party), executions));
        let own = &inputs[self.network.me.index()];
        let (outputs, seconds, bytes) =
            self.timed(|party| online.run(&mut party.network, party.circuit.circuit(), own))?;
        check(self.circuit.circuit(), &inputs, &outputs, executions);
        Ok((seconds / executions as f64, bytes / executions as f64))
    }
}

/// Returns bits for a party's input wires, those of one wire in all executions after another.
fn pseudorandom(circuit: &Circuit, party: PartyId, executions: usize) -> BitVec {
    let own = circuit.inputs().iter().filter(|input| input.owner == party);
    let wires: u64 = own.map(|input| input.ty.width()).sum();
    let mut prg = Prg::from_seed(Block(u128::from(party.number()) + 1));
    BitVec::random(wires as usize * executions, &mut prg)
}

/// Compares the outputs of the first and the last execution, which both parties learn, with the
/// reference evaluation.
fn check(circuit: &Circuit, inputs: &[BitVec; 2], outputs: &BitVec, executions: usize) {
    for execution in [0, executions - 1] {
        let mut taken = [0; 2];
        let mut bits = Vec::new();
        for input in circuit.inputs() {
            let owner = usize::from(input.owner);
            for _ in 0..input.ty.width() {
                bits.push(inputs[owner].get(taken[owner] * executions + execution));
                taken[owner] += 1;
            }
        }
        for (wire, bit) in reference::eval(circuit, &bits).into_iter().enumerate() {
            assert_eq!(outputs.get(wire * executions + execution), bit, "output wire {wire}");
        }
    }
}

/// Returns the median, the minimum and the maximum of the party with the larger median.
fn spread(times: &[Times], of: fn(&Times) -> &Vec<f64>) -> String {
    let sorted = times.iter().map(|party| {
        let mut seconds = of(party).clone();
        seconds.sort_by(f64::total_cmp);
        seconds
    });
    let worst = sorted.max_by(|a, b| a[a.len() / 2].total_cmp(&b[b.len() / 2]));
    let worst = worst.unwrap_or_default();
    let show = |seconds: f64| format!("{:.2?}", Duration::from_secs_f64(seconds));
    let [median, least, most] =
        [worst.len() / 2, 0, worst.len() - 1].map(|place| show(worst[place]));
    format!("{median} ({least} – {most})")
}

fn print(name: &str, batch: usize, mac: MacLength, times: &[Times]) {
    let most = |of: fn(&Times) -> f64| {
        let most = times.iter().map(of).fold(0.0, f64::max);
        format!("{most:.0} B")
    };
    println!(
        "AES-128 by {name}, {mac}-bit MACs, one block: the slower party's median (least – most)"
    );
    for (what, value) in [
        ("alone", spread(times, |party| &party.alone)),
        ("online, fresh material", spread(times, |party| &party.fresh)),
        ("online, material reused (insecure)", spread(times, |party| &party.shared)),
        ("sent online, alone", most(|party| party.online_bytes[0])),
        ("sent online, in a batch", most(|party| party.online_bytes[1])),
        ("prepared", most(|party| party.prepared_bytes as f64)),
        ("sent to prepare it", most(|party| party.preparing_bytes)),
        ("time for triples and masks", spread(times, |party| &party.independent)),
        ("time for tables from them", spread(times, |party| &party.dependent)),
        ("blocks in a batch", batch.to_string()),
    ] {
        println!("  {what:36}{value}");
    }
}
