//! Executions that wait in stores, and what becomes of them when nodes end and come back.

use std::path::Path;

use symbolon::Protocol;
use symbolon::store::{Protection, Store};
use symbolon_service::{FunctionConfig, Node};

use crate::common::*;

/// Two sessions of four executions each, one of which is loaded.
fn function(protocol: Protocol) -> FunctionConfig {
    FunctionConfig { ready: 8, low: 8, ..adder(protocol) }
}

/// Waits until everything is prepared; returns how many executions were kept, made and void.
fn restarted(nodes: &[Node]) -> Vec<[u64; 3]> {
    stocked(nodes);
    // Those that are being prepared count as prepared.
    let done = |node: &Node| counter(node, "kept") + counter(node, "made") >= 8;
    until("they are there", || nodes.iter().all(done));
    nodes.iter().map(|node| ["kept", "made", "voided"].map(|what| counter(node, what))).collect()
}

/// Asserts that all stores have the same items.
fn equal(world: &World) {
    let all: Vec<_> =
        (0..world.parties.len()).map(|party| available(&world.store(party).unwrap())).collect();
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{all:?}");
}

#[test]
fn what_is_prepared_outlasts_a_restart() {
    for (parties, protocol) in [(2, Protocol::Wrk), (3, Protocol::Ywz), (2, Protocol::TinyTable)] {
        let mut world = World::with_stores(parties);
        let functions = [function(protocol)];
        let nodes = world.start_all(&functions);
        assert_eq!(restarted(&nodes), vec![[0, 8, 0]; parties], "{protocol:?}");
        drop(nodes);
        // What was loaded is used up: one execution of each session.
        equal(&world);
        assert_eq!(available(&world.store(0).unwrap()).len(), 6);
        let nodes = world.start_all(&functions);
        assert_eq!(restarted(&nodes), vec![[6, 2, 0]; parties], "{protocol:?}");
        for i in 0..20 {
            assert_eq!(sum(&nodes, &format!("c{i}"), [i, 7]), i + 7);
        }
        drop(nodes);
        equal(&world);
    }
}

#[test]
fn what_only_one_party_has_is_void() {
    for (party, all) in [(0, false), (1, false), (1, true)] {
        let mut world = World::with_stores(2);
        let nodes = world.start_all(&[function(Protocol::Wrk)]);
        restarted(&nodes);
        drop(nodes);
        let store = world.store(party).unwrap();
        let mut lost = available(&store);
        lost.truncate(if all { usize::MAX } else { 2 });
        store.void(&lost, "lost").unwrap();
        drop(store);
        let nodes = world.start_all(&[function(Protocol::Wrk)]);
        let (kept, gone) = (6 - lost.len() as u64, lost.len() as u64);
        let filled = restarted(&nodes);
        assert_eq!(filled[1 - party], [kept, 8 - kept, gone]);
        assert_eq!(filled[party], [kept, 8 - kept, 0]);
        assert_eq!(sum(&nodes, "c", [1, 2]), 3);
        drop(nodes);
        equal(&world);
    }
}

/// Changes a byte in the middle of every file of the items.
fn damage(items: &Path) {
    for item in std::fs::read_dir(items).unwrap() {
        for file in std::fs::read_dir(item.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        }
    }
}

#[test]
fn damaged_items_are_void_and_calls_go_on() {
    for party in [0, 1] {
        let mut world = World::with_stores(2);
        let nodes = world.start_all(&[function(Protocol::Wrk)]);
        restarted(&nodes);
        drop(nodes);
        let folder = world.stores.as_ref().unwrap().path().join(format!("store-{party}"));
        damage(&folder.join("items"));
        let nodes = world.start_all(&[function(Protocol::Wrk)]);
        // A call to which a damaged one was given has no answer; all others have.
        let (mut answers, mut failures) = (0, 0);
        while answers < 10 {
            let call = format!("c{answers}-{failures}");
            let calls = nodes.iter().map(|node| post(node, &call, answers).unwrap());
            let calls = calls.collect::<Vec<_>>();
            let sums: Vec<_> = calls.iter().map(answer).collect();
            for sum in sums.iter().filter_map(|sum| sum.as_ref().as_ref().ok()) {
                assert_eq!(sum.uint("sum").unwrap(), 2 * answers);
            }
            match sums.iter().all(|sum| sum.is_ok()) {
                true => answers += 1,
                false => failures += 1,
            }
        }
        assert!(failures <= 2, "{failures}");
        stocked(&nodes);
        drop(nodes);
        // A node does not start with a store whose latest state is not known.
        std::fs::write(folder.join("head"), "no head").unwrap();
        let store = Store::open(&folder, &Protection::None);
        assert!(store.is_err());
    }
}

#[test]
fn all_have_a_store_or_none_has() {
    let mut world = World::with_stores(2);
    let zero = world.start(0, vec![function(Protocol::Wrk)]);
    // The folder stays until the end.
    let _stores = world.stores.take();
    let one = world.start(1, vec![function(Protocol::Wrk)]);
    for node in [&zero, &one] {
        let why = || node.stock().functions[0].disabled.clone().unwrap_or_default();
        until("it is disabled", || why().starts_with("`store` is "));
    }
}
