//! Calls to two nodes over loopback with TLS: `cargo bench -p symbolon-service`.
//!
//! Prints the median, 90 % and 99 % of the time of a call, from the inputs of the first party to
//! the answers of both, calls a second, and what a call costs both nodes together: processor time
//! and page faults (on Linux). One at a time, and twenty at a time, with executions in memory and
//! in stores. All calls find prepared executions; how fast these are made is what `symbolon bench`
//! measures. The slowest of the first ten calls, which use memory for the first time, is told
//! apart. The same is measured of two bare sessions, with TLS and without: the rest is what nodes
//! cost.
//! A part of a circuit's name as an argument measures that one alone.
#![allow(missing_docs, clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use symbolon::circuit::{Circuit, builtin};
use symbolon::store::{Protection, Store};
use symbolon::{
    BitVec, Config, Identity, Inputs, Listener, PeerInfo, Protocol, Session, SessionParams,
    Transport,
};
use symbolon_service::{FunctionConfig, Name, Node, NodeConfig, Party};

const LONG: Duration = Duration::from_secs(600);

/// HMAC-SHA-256 of a text of 32 bytes: 89 084 AND gates.
const HMAC: &str = "
use std::crypto::hmac_sha256;
fn main(key: [u8; 32] from 0, text: [u8; 32] from 1) -> (tag: [u8; 32] to all) {
    hmac_sha256(key, text)
}";

fn circuit(name: &str) -> Arc<Circuit> {
    Arc::new(match name {
        "HMAC-SHA-256" => {
            symbolon_lang::compile_text(HMAC, &Default::default()).expect("a program")
        }
        name => builtin::by_name(name).expect("a built-in circuit"),
    })
}

fn nodes(
    circuit: &Arc<Circuit>,
    side_by_side: usize,
    ready: usize,
    folder: Option<&Path>,
) -> Vec<Node> {
    let listeners = [(); 2].map(|()| Listener::bind("127.0.0.1:0").expect("a port"));
    let identities = [(); 2].map(|()| Arc::new(Identity::generate().expect("a key")));
    let party = |(listener, identity): (&Listener, &Arc<Identity>)| {
        Party::new(Some(listener.local_addr().to_string()), identity.fingerprint())
    };
    let parties: Vec<_> = listeners.iter().zip(&identities).map(party).collect();
    let params = SessionParams::new(Protocol::Wrk);
    let name: Name = "f".parse().expect("a name");
    let start = |(party, (listener, identity)): (u16, (Listener, Arc<Identity>))| {
        let function = FunctionConfig {
            side_by_side,
            ready,
            // Nothing is refilled during the measurement.
            low: 1,
            keep: Duration::from_secs(5),
            ..FunctionConfig::new(name.clone(), circuit.clone(), params.clone())
        };
        let config = NodeConfig {
            party: party.into(),
            identities: vec![identity],
            parties: parties.clone(),
            listener: Some(listener),
            functions: vec![function],
            timeout: LONG,
            state: None,
            store: folder.map(|folder| {
                let store = Store::create(folder.join(party.to_string()), &Protection::None);
                store.expect("a store")
            }),
        };
        Node::start(config).expect("a node")
    };
    (0..).zip(listeners.into_iter().zip(identities)).map(start).collect()
}

/// Waits until everything is prepared, so that nothing is during the measurement.
fn stocked(nodes: &[Node]) {
    let full = |node: &Node| {
        let stock = &node.stock().functions[0];
        stock.ready >= stock.wanted
    };
    while !nodes.iter().all(full) {
        std::thread::sleep(Duration::from_millis(50));
    }
    // Executions that are being prepared count as prepared.
    std::thread::sleep(Duration::from_secs(2));
}

/// Returns the processor time in ticks of 10 ms and the page faults of this process so far.
fn spent() -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may have spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some((field(14)? + field(15)?, field(10)?))
}

fn inputs(circuit: &Circuit, party: usize) -> Inputs {
    let own = circuit.inputs().iter().enumerate().filter(|(_, input)| input.owner == party as u16);
    let builder = own.fold(Inputs::builder(circuit, party as u16), |inputs, (place, input)| {
        inputs.bits(place, BitVec::zeros(input.ty.width() as usize)).expect("an input")
    });
    builder.finish().expect("all inputs")
}

/// Makes one call at both nodes; returns how long it took.
fn call(nodes: &[Node], circuit: &Circuit, id: &str) -> Duration {
    let id: Name = id.parse().expect("a name");
    let both = [0, 1].map(|party| inputs(circuit, party));
    let begun = Instant::now();
    let calls: Vec<_> = nodes
        .iter()
        .zip(both)
        .map(|(node, inputs)| node.call("f", &id, inputs).expect("a call"))
        .collect();
    for call in calls {
        let answer = call.wait(LONG).expect("an answer");
        assert!(answer.is_ok(), "{answer:?}");
    }
    begun.elapsed()
}

#[expect(clippy::print_stdout, reason = "it is a benchmark")]
fn measure(name: &str, at_a_time: usize, calls: usize, is_stored: bool) {
    let about = circuit(name);
    let folder = is_stored.then(|| tempfile::tempdir().expect("a folder"));
    let folder = folder.as_ref().map(|folder| folder.path());
    let nodes = nodes(&about, at_a_time, calls + 20, folder);
    stocked(&nodes);
    let warm = (0..10).map(|i| call(&nodes, &about, &format!("warm-{i}")));
    let first = warm.max().unwrap_or_default();
    let before = spent();
    let begun = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let (nodes, about) = (&nodes, &about);
        let threads: Vec<_> = (0..at_a_time)
            .map(|thread| {
                scope.spawn(move || {
                    let own = (thread..calls).step_by(at_a_time);
                    own.map(|i| call(nodes, about, &format!("c{i}"))).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    });
    let (all, after) = (begun.elapsed(), spent());
    let stored = if is_stored { ", in stores" } else { "" };
    print!("{name}, {at_a_time} at a time{stored}: {}", summary(&mut times, all));
    print!(", one of the first ten {first:.2?}");
    if let (Some(before), Some(after)) = (before, after) {
        let each = |all: u64| all as f64 / calls as f64;
        let (ticks, faults) = (each(after.0 - before.0), each(after.1 - before.1));
        print!(", {:.2} ms of processors and {faults:.0} page faults a call", ticks * 10.0);
    }
    println!();
}

/// Returns the median and more of times that came one after another or side by side.
fn summary(times: &mut [Duration], all: Duration) -> String {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let rate = times.len() as f64 / all.as_secs_f64();
    format!("median {:.2?}, 90 % {:.2?}, 99 % {:.2?}, {rate:.0} calls/s", at(50), at(90), at(99))
}

/// Measures the same executions in two sessions, one for each party, without nodes.
#[expect(clippy::print_stdout, reason = "it is a benchmark")]
fn measure_sessions(name: &str, calls: usize, is_private: bool) {
    let about = circuit(name);
    let door = Listener::bind("127.0.0.1:0").expect("a port");
    let identities = [(); 2].map(|()| Identity::generate().expect("a key"));
    let peer = |identity: &Identity, address: Option<String>| PeerInfo {
        address,
        fingerprint: is_private.then(|| identity.fingerprint()),
    };
    let address = Some(door.local_addr().to_string());
    let peers = vec![peer(&identities[0], address), peer(&identities[1], None)];
    let mut doors = [Some(door), None];
    let begun = std::sync::Barrier::new(2);
    let times: Vec<Vec<Duration>> = std::thread::scope(|scope| {
        let parties = identities.into_iter().enumerate().map(|(party, identity)| {
            let (door, peers) = (doors[party].take(), peers.clone());
            let (about, begun) = (&about, &begun);
            scope.spawn(move || {
                let transport = match is_private {
                    true => Transport::tls_mesh(door, identity, peers),
                    false => Transport::insecure_plain_tcp_mesh(door, peers),
                };
                let config = Config::new(party as u16, transport).protocol(Protocol::Wrk);
                let mut session = Session::connect_ahead(config, about).expect("a session");
                let prepared = session.prepare_more(calls).expect("executions");
                let inputs = inputs(about, party);
                let run = |prepared| {
                    begun.wait();
                    let at = Instant::now();
                    session.run_named(prepared, &inputs, &[7; 32]).expect("outputs");
                    at.elapsed()
                };
                prepared.into_iter().map(run).collect::<Vec<_>>()
            })
        });
        let parties: Vec<_> = parties.collect();
        parties.into_iter().map(|party| party.join().expect("a party")).collect()
    });
    // A call is over when both are.
    let both = times[0].iter().zip(&times[1]).map(|(one, other)| *one.max(other));
    let mut both: Vec<Duration> = both.collect();
    let all = both.iter().sum();
    let over = if is_private { "TLS" } else { "TCP" };
    println!("{name}, bare sessions over {over}: {}", summary(&mut both, all));
}

fn main() {
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let all = [("aes128", 400), ("HMAC-SHA-256", 100)];
    let chosen = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    for (circuit, calls) in all.into_iter().filter(|(name, _)| chosen(name)) {
        for is_private in [true, false] {
            measure_sessions(circuit, calls, is_private);
        }
        for is_stored in [false, true] {
            measure(circuit, 1, calls, is_stored);
            measure(circuit, 20, calls, is_stored);
        }
    }
}
