//! Nodes that are killed: one runs in a process of its own, the program of these tests started
//! again.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use symbolon::store::{ItemState, Protection, Store};
use symbolon::{Identity, Listener, Protocol};
use symbolon_service::{
    Call, CallError, FunctionConfig, Name, Node, NodeConfig, NodeUpdate, Party, Reason,
};

use crate::common::*;

/// Where the process finds what it needs.
const FOLDER: &str = "SYMBOLON_TEST_NODE";

/// How often the process is killed.
const KILLS: u64 = 5;

/// Calls that the killed party takes part in, in all.
const BUDGET: u64 = 10_000;

/// With a store more executions wait, so that some are left at a kill.
fn function(is_stored: bool) -> FunctionConfig {
    let ready = if is_stored { 16 } else { 4 };
    FunctionConfig { calls: Some(BUDGET), ready, ..adder(Protocol::Wrk) }
}

/// Returns a party's keys in `folder`: the new one and, if it has just changed, the old one.
fn keys(folder: &Path, party: usize) -> Vec<Arc<Identity>> {
    let paths = ["", ".old"].map(|old| folder.join(format!("party-{party}{old}.pem")));
    let there = paths.iter().filter(|path| path.exists());
    there.map(|path| Arc::new(Identity::load(path).unwrap())).collect()
}

/// Gives a party a new key, and keeps the old one beside it.
pub fn change_key(folder: &Path, party: usize) {
    let path = |old: &str| folder.join(format!("party-{party}{old}.pem"));
    std::fs::rename(path(""), path(".old")).unwrap();
    Identity::generate().unwrap().save(path(""), false).unwrap();
}

/// Returns what a party's settings say now; the keys of both are in `folder`.
pub fn update(folder: &Path, party: usize, addresses: [SocketAddr; 2]) -> NodeUpdate {
    let all = [0, 1].map(|party| keys(folder, party));
    let parties = all.iter().zip(addresses).map(|(keys, address)| Party {
        address: Some(address.to_string()),
        keys: keys.iter().map(|key| key.fingerprint().into()).collect(),
    });
    NodeUpdate {
        identities: all[party].clone(),
        parties: parties.collect(),
        functions: vec![function(folder.join("stored").exists())],
        timeout: Duration::from_secs(20),
    }
}

/// Returns the settings of a party at its start.
pub fn config(folder: &Path, party: usize, addresses: [SocketAddr; 2]) -> NodeConfig {
    let NodeUpdate { identities, parties, functions, timeout } = update(folder, party, addresses);
    let store = folder.join("stored").exists().then(|| {
        let path = folder.join(format!("store-{party}"));
        Store::open_or_create(path, &Protection::None).unwrap()
    });
    NodeConfig {
        party: (party as u16).into(),
        identities,
        parties,
        listener: Some(Listener::bind(&addresses[party].to_string()).unwrap()),
        functions,
        timeout,
        state: Some(folder.join(format!("state-{party}"))),
        store,
    }
}

/// What the killed party gives for a call: the number in its name and 1000 more.
fn given(call: &Name) -> u128 {
    call.as_str()[1..].parse::<u128>().unwrap() + 1000
}

/// Not a test: the process that is killed. It gives inputs for every call that the other party
/// announces.
#[test]
#[ignore = "a part of the tests below, which start it"]
fn a_node_of_its_own() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let text = std::fs::read_to_string(folder.join("child")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let addresses = [0, 1].map(|party| lines[party].parse().unwrap());
    let party = lines[2].parse().unwrap();
    let node = Node::start(config(&folder, party, addresses)).unwrap();
    let again = folder.join("again");
    // It ends with the test, too, if that fails.
    let end = Instant::now() + 4 * LONG;
    while Instant::now() < end && folder.join("child").exists() {
        if again.exists() {
            node.update(Ok(update(&folder, party, addresses))).unwrap();
            std::fs::remove_file(&again).unwrap();
        }
        for call in node.announced("add").unwrap() {
            let _ = node.call("add", &call, number(&node, "add", given(&call)));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The process; it is killed when this is dropped.
pub struct Killed(Child);

impl Killed {
    pub fn start(folder: &Path) -> Killed {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "killed::a_node_of_its_own", "--ignored"]).env(FOLDER, folder);
        Killed(program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        // This is SIGKILL.
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Returns the sum; `None` if the call ended without an answer.
pub fn sum_of(call: &Call) -> Option<u128> {
    match &*answer(call) {
        Ok(outputs) => Some(outputs.uint("sum").unwrap()),
        // The peer may have begun, and have lost the link before this party heard of it.
        Err(
            CallError::Run(_)
            | CallError::NoInputFromPeer(_)
            | CallError::NotReady
            | CallError::RefusedByPeer(_, Reason::Finished),
        ) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Kills one party again and again, while the other makes calls. Every answer is right, the other
/// node goes on, and the budget on disk counts every call that had an answer.
fn goes_on_when_killed(killed: usize, is_stored: bool) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for party in [0, 1] {
        let path = folder.join(format!("party-{party}.pem"));
        Identity::generate().unwrap().save(path, false).unwrap();
    }
    let free = || Listener::bind("127.0.0.1:0").unwrap().local_addr();
    let addresses = [free(), free()];
    let about = format!("{}\n{}\n{killed}\n", addresses[0], addresses[1]);
    std::fs::write(folder.join("child"), about).unwrap();
    if is_stored {
        std::fs::write(folder.join("stored"), "").unwrap();
    }
    let node = Node::start(config(folder, 1 - killed, addresses)).unwrap();
    let (mut answers, mut number_of_calls) = (0, 0);
    for round in 0..KILLS {
        let child = Killed::start(folder);
        until("it connects", || node.stock().peers[0].connected);
        // The first kill comes while executions are prepared, the others during calls.
        let end = Instant::now() + Duration::from_millis(20 + 70 * round);
        let mut calls = Vec::new();
        while Instant::now() < end {
            let id = name(&format!("c{number_of_calls}"));
            let call = node.call("add", &id, number(&node, "add", number_of_calls)).unwrap();
            calls.push((number_of_calls, call));
            number_of_calls += 1;
            std::thread::sleep(Duration::from_millis(3));
        }
        drop(child);
        until("its end is noticed", || !node.stock().peers[0].connected);
        // What still waits is answered by the next one.
        let child = Killed::start(folder);
        for (number, call) in &calls {
            if let Some(sum) = sum_of(call) {
                assert_eq!(sum, 2 * number + 1000);
                answers += 1;
            }
        }
        until("executions are prepared", || {
            let stock = node.stock();
            stock.is_healthy() && stock.functions[0].ready >= stock.functions[0].wanted
        });
        drop(child);
        until("its end is noticed", || !node.stock().peers[0].connected);
    }
    assert!(answers > 0);
    let written = std::fs::read_to_string(folder.join(format!("state-{killed}/calls.json")));
    let written: serde_json::Value = serde_json::from_str(&written.unwrap()).unwrap();
    let counted = written["calls"]["add"].as_u64().unwrap();
    assert!((answers..=BUDGET).contains(&counted), "{counted} calls counted, {answers} answers");
    std::fs::remove_file(folder.join("child")).unwrap();
    if is_stored {
        assert!(counter(&node, "kept") > 0);
        drop(node);
        let store = |party: usize| {
            let path = folder.join(format!("store-{party}"));
            Store::open(path, &Protection::None).unwrap()
        };
        // The other node did not end, so its store still lists what it has used.
        let listed = store(1 - killed).list().unwrap();
        let used = listed.iter().filter(|item| item.state == ItemState::Used).count() as u64;
        assert!(used >= answers, "{used} used, {answers} answers");
        let nodes = [0, 1].map(|party| Node::start(config(folder, party, addresses)).unwrap());
        assert_eq!(sum(&nodes, "last", [1, 2]), 3);
        stocked(&nodes);
        drop(nodes);
        assert_eq!(available(&store(0)), available(&store(1)));
    }
}

#[test]
fn party_1_is_killed_and_calls_go_on() {
    goes_on_when_killed(1, false);
}

#[test]
fn party_0_is_killed_and_calls_go_on() {
    goes_on_when_killed(0, false);
}

#[test]
fn party_1_is_killed_and_its_stock_is_kept() {
    goes_on_when_killed(1, true);
}

#[test]
fn party_0_is_killed_and_its_stock_is_kept() {
    goes_on_when_killed(0, true);
}
