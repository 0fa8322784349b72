//! Nodes with stores over a long time: kills, restarts, cut links and changes of keys, while calls
//! are made.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use symbolon::store::{Protection, Store};
use symbolon::{Identity, Listener};
use symbolon_service::{Call, Node};

use crate::common::*;
use crate::killed::{Killed, change_key, config, sum_of, update};

/// Passes connections on, until they are cut.
struct Relay {
    address: SocketAddr,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn start(to: SocketAddr) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let kept = open.clone();
        thread::spawn(move || {
            for from in listener.incoming().flatten() {
                let Ok(to) = TcpStream::connect(to) else { continue };
                for (one, other) in [(&from, &to), (&to, &from)] {
                    let _ = one.set_nodelay(true);
                    let (mut one, mut other) =
                        (one.try_clone().unwrap(), other.try_clone().unwrap());
                    kept.lock().unwrap().push(one.try_clone().unwrap());
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut one, &mut other);
                        let _ = other.shutdown(Shutdown::Write);
                    });
                }
            }
        });
        Relay { address, open }
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// What happened.
#[derive(Debug, Default)]
struct Counts {
    kills: u64,
    restarts: u64,
    cuts: u64,
    keys: u64,
    calls: u64,
    answers: u64,
    kept: u64,
    made: u64,
    voided: u64,
}

impl Counts {
    /// Adds what a node has counted; it is about to end.
    fn add(&mut self, node: &Node) {
        self.kept += counter(node, "kept");
        self.made += counter(node, "made");
        self.voided += counter(node, "voided");
    }

    /// Waits for answers, all of which must be right.
    fn check(&mut self, calls: Vec<(u64, Call)>, answered: impl Fn(&Call) -> bool) {
        for (number, call) in calls {
            if answered(&call)
                && let Some(sum) = sum_of(&call)
            {
                assert_eq!(sum, 2 * u128::from(number) + 1000);
                self.answers += 1;
            }
        }
    }
}

fn post_some(node: &Node, counts: &mut Counts, count: u64) -> Vec<(u64, Call)> {
    let post = |number: u64| {
        thread::sleep(Duration::from_millis(2));
        let inputs = number_of(node, number);
        (number, node.call("add", &name(&format!("c{number}")), inputs).unwrap())
    };
    let calls = (counts.calls..counts.calls + count).map(post).collect();
    counts.calls += count;
    calls
}

fn number_of(node: &Node, value: u64) -> symbolon::Inputs {
    number(node, "add", value.into())
}

/// Each round makes calls, and something goes wrong meanwhile. A process of its own has the party
/// `killed`.
fn soak(folder: &Path, killed: usize, rounds: u64, each: u64) -> Counts {
    std::fs::write(folder.join("stored"), "").unwrap();
    for party in [0, 1] {
        let path = folder.join(format!("party-{party}.pem"));
        Identity::generate().unwrap().save(path, false).unwrap();
    }
    let free = || Listener::bind("127.0.0.1:0").unwrap().local_addr();
    let addresses = [free(), free()];
    let relay = Relay::start(addresses[0]);
    let (own, here) = (1 - killed, relay.address);
    // Party 1 dials party 0, by the relay.
    let of = |party: usize| if party == 1 { [here, addresses[1]] } else { addresses };
    let [zero, one] = of(killed);
    std::fs::write(folder.join("child"), format!("{zero}\n{one}\n{killed}\n")).unwrap();
    let start = || Node::start(config(folder, own, of(own))).unwrap();
    let (mut node, mut child) = (start(), Killed::start(folder));
    let mut counts = Counts::default();
    for round in 0..rounds {
        until("executions are prepared", || {
            let stock = node.stock();
            stock.is_healthy() && stock.functions[0].ready >= stock.functions[0].wanted
        });
        let mut calls = post_some(&node, &mut counts, each);
        match round % 5 {
            0 => {
                drop(child);
                counts.kills += 1;
                child = Killed::start(folder);
            }
            1 => {
                relay.cut();
                counts.cuts += 1;
            }
            2 => {
                counts.add(&node);
                drop(node);
                counts.restarts += 1;
                // What has no answer now never has one.
                counts.check(std::mem::take(&mut calls), |call| call.answer().is_some());
                node = start();
            }
            3 => {
                // The old key of each is taken back when it changes again.
                let party = (round / 5 % 2) as usize;
                change_key(folder, party);
                node.update(Ok(update(folder, own, of(own)))).unwrap();
                std::fs::write(folder.join("again"), "").unwrap();
                until("the other has new settings", || !folder.join("again").exists());
                counts.keys += 1;
            }
            _ => {
                counts.add(&node);
                drop((node, child));
                (counts.kills, counts.restarts) = (counts.kills + 1, counts.restarts + 1);
                counts.check(std::mem::take(&mut calls), |call| call.answer().is_some());
                (node, child) = (start(), Killed::start(folder));
            }
        }
        calls.extend(post_some(&node, &mut counts, each));
        counts.check(calls, |_| true);
        eprintln!("{round}: {counts:?}");
    }
    counts.add(&node);
    drop(child);
    drop(node);
    std::fs::remove_file(folder.join("child")).unwrap();
    // Both end in peace now, and have the same.
    let nodes = [0, 1].map(|party| Node::start(config(folder, party, addresses)).unwrap());
    stocked(&nodes);
    assert_eq!(sum(&nodes, "last", [1, 2]), 3);
    let stores = [0, 1].map(|party| {
        Store::open(folder.join(format!("store-{party}")), &Protection::None).unwrap()
    });
    // What is being made or loaded is there at one party before it is at the other.
    until("the stores have the same", || available(&stores[0]) == available(&stores[1]));
    drop(nodes);
    assert_eq!(available(&stores[0]), available(&stores[1]));
    // More answers than executions would mean that one was used twice.
    assert!(counts.answers <= counts.made, "{counts:?}");
    assert!(counts.answers > 0 && counts.kept > 0, "{counts:?}");
    counts
}

#[test]
fn a_few_kills_restarts_cut_links_and_new_keys() {
    let folder = tempfile::tempdir().unwrap();
    let counts = soak(folder.path(), 1, 5, 10);
    assert_eq!((counts.kills, counts.restarts, counts.cuts, counts.keys), (2, 2, 1, 1));
}

/// Minutes: `cargo test -p symbolon-service --test service soak -- --ignored --nocapture`.
fn many(killed: usize) {
    let folder = tempfile::tempdir().unwrap();
    let counts = soak(folder.path(), killed, 60, 40);
    eprintln!("party {killed} is killed: {counts:?}");
    assert_eq!(counts.calls, 4800);
    // How many calls a kill or a cut hits depends on how fast the machine is.
    assert!(counts.answers >= 1000, "{counts:?}");
}

#[test]
#[ignore = "takes minutes"]
fn many_kills_of_party_0_restarts_cut_links_and_new_keys() {
    many(0);
}

#[test]
#[ignore = "takes minutes"]
fn many_kills_of_party_1_restarts_cut_links_and_new_keys() {
    many(1);
}
