//! Many sessions, one after another and at once, successful and failing ones: the process gets all
//! resources back, and no session disturbs another.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "what was held is worth reading")]

use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use symbolon::circuit::{Circuit, Type, builder::Builder};
use symbolon::{
    Config, Error, Identity, Inputs, Listener, PeerInfo, Protocol, Result, Session, Transport,
};

/// Both tests count what the whole process holds.
static ALONE: Mutex<()> = Mutex::new(());

/// What the process holds at a given time.
#[derive(Debug, Clone, Copy)]
struct Held {
    threads: usize,
    descriptors: usize,
    /// The resident memory in bytes.
    memory: u64,
}

fn held() -> Held {
    let entries = |folder: &str| std::fs::read_dir(folder).expect("Linux has it").count();
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = resident.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Held {
        threads: entries("/proc/self/task"),
        descriptors: entries("/proc/self/fd"),
        memory: 1024 * kilobytes.expect("VmRSS in kB"),
    }
}

/// Waits until no more threads and descriptors are held than `before`; channels close theirs with
/// some delay.
fn assert_given_back(before: Held) {
    let begun = Instant::now();
    loop {
        let now = held();
        if now.threads <= before.threads && now.descriptors <= before.descriptors {
            return;
        }
        let patient = begun.elapsed() < Duration::from_secs(20);
        assert!(patient, "not given back: {now:?}, before {before:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn circuit(parties: u16) -> Circuit {
    let mut b = Builder::new("sum");
    let input = |party| b.input(format!("x{party}"), Type::Uint(8), party);
    let inputs: Vec<_> = (0..parties).map(input).collect();
    let sum = inputs[1..].iter().fold(inputs[0].clone(), |sum, input| b.add(&sum, input));
    b.output("sum", &sum, Type::Uint(8), symbolon::circuit::Receivers::All);
    b.finish().expect("a valid circuit")
}

#[derive(Clone, Copy)]
enum Link {
    Tls,
    Tcp,
    Memory,
}

/// Returns how the parties reach each other; strangers connect first if there is a port.
fn transports(parties: u16, link: Link) -> Vec<Transport> {
    if let Link::Memory = link {
        return Transport::memory_mesh(parties, 1, None).expect("lanes");
    }
    let listens = |party| (party + 1 < parties).then(|| Listener::bind("127.0.0.1:0").unwrap());
    let doors: Vec<_> = (0..parties).map(listens).collect();
    let keys: Vec<_> = (0..parties).map(|_| Identity::generate().unwrap()).collect();
    let address = |door: &Option<Listener>| Some(door.as_ref()?.local_addr().to_string());
    let contacts: Vec<_> = doors
        .iter()
        .zip(&keys)
        .map(|(door, key)| {
            let fingerprint = matches!(link, Link::Tls).then(|| key.fingerprint());
            PeerInfo { address: address(door), fingerprint }
        })
        .collect();
    for address in contacts.iter().filter_map(|contact| contact.address.as_ref()) {
        drop(TcpStream::connect(address));
    }
    let transport = |(door, key)| match link {
        Link::Tls => Transport::tls_mesh(door, key, contacts.clone()),
        _ => Transport::insecure_plain_tcp_mesh(door, contacts.clone()),
    };
    doors.into_iter().zip(keys).map(transport).collect()
}

fn inputs(circuit: &Circuit, party: u16) -> Inputs {
    let value = 10 + u128::from(party);
    let builder = Inputs::builder(circuit, party).uint(usize::from(party), value);
    builder.and_then(|builder| builder.finish()).expect("a value that fits")
}

/// Runs all parties at once: each connects, and evaluates unless it is the one that `leaves`.
fn session(protocol: Protocol, parties: u16, link: Link, leaves: Option<u16>) -> Vec<Result<u128>> {
    let circuit = &circuit(parties);
    let party = |me: u16, transport: Transport| {
        let config = Config::new(me, transport).protocol(protocol);
        let mut session = Session::connect(config.timeout(Duration::from_secs(60)), circuit)?;
        if leaves == Some(me) {
            return Ok(0);
        }
        let outputs = session.evaluate(&inputs(circuit, me))?;
        Ok(outputs.get("sum").and_then(|sum| sum.uint()).expect("everybody learns it"))
    };
    thread::scope(|scope| {
        let party = &party;
        let start = |(me, transport)| scope.spawn(move || party(me, transport));
        let threads: Vec<_> = (0u16..).zip(transports(parties, link)).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// The number of kinds of sessions.
const KINDS: usize = 8;

/// Runs one session, of a kind that depends on the number.
fn run(number: usize) {
    let (protocol, parties, link, leaves) = match number % KINDS {
        0 => (Protocol::Wrk, 2, Link::Tls, None),
        1 => (Protocol::Ywz, 2, Link::Tcp, None),
        2 => (Protocol::TinyTable, 2, Link::Memory, None),
        3 => (Protocol::Wrk, 2, Link::Tls, Some(1)),
        4 => (Protocol::Ywz, 3, Link::Tls, None),
        5 => (Protocol::Duplo, 2, Link::Tls, None),
        6 => (Protocol::DualEx, 2, Link::Tcp, None),
        _ => (Protocol::Ywz, 3, Link::Tcp, Some(0)),
    };
    for (party, end) in (0u16..).zip(session(protocol, parties, link, leaves)) {
        match leaves {
            None => {
                let sum = (0..u128::from(parties)).map(|party| 10 + party).sum();
                assert_eq!(end, Ok(sum), "session {number}, party {party}");
            }
            Some(left) if left == party => assert_eq!(end, Ok(0), "session {number}"),
            Some(_) => assert!(
                matches!(end, Err(Error::Transport { .. })),
                "session {number}, party {party}: {end:?}"
            ),
        }
    }
}

/// Runs all kinds of sessions `rounds` times one after another, then the same with `at_once`
/// concurrent sessions. Memory may grow by `slack` bytes after a first round of each, and nothing
/// else may grow.
fn soak(rounds: usize, at_once: usize, slack: u64) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let crowd = || {
        thread::scope(|scope| {
            for number in 0..at_once {
                scope.spawn(move || run(number));
            }
        });
    };
    let before = held();
    (0..KINDS).for_each(run);
    crowd();
    assert_given_back(before);
    let first = held();
    for round in 0..rounds {
        (0..KINDS).for_each(run);
        assert_given_back(before);
        if round % 6 == 0 {
            crowd();
            assert_given_back(before);
        }
    }
    let last = held();
    let sessions = KINDS * rounds + at_once * rounds.div_ceil(6);
    println!("{sessions} sessions: {first:?} after the first ones, {last:?} after the last");
    assert!(last.memory < first.memory + slack, "memory grows: {first:?}, then {last:?}");
}

#[test]
fn sessions_give_back_what_they_take() {
    soak(6, 12, 48 << 20);
}

/// Prints what is held after the first round and after the last.
#[test]
#[ignore = "ten minutes"]
fn hundreds_of_sessions_give_back_what_they_take() {
    soak(120, 48, 96 << 20);
}
