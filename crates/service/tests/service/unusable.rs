//! Stored executions that a node can no longer use: they are found, and removed without touching
//! anything that could still be of use, whenever the process dies.

use std::path::Path;

use symbolon::Protocol;
use symbolon::circuit::builtin;
use symbolon::store::{
    ClosedItem, DEFAULT_FRAME, ItemKind, ItemMeta, ItemPeer, ItemState, Protection, Section, Store,
};
use symbolon::stored::{
    DiscardedItems, MAX_RELATIONS, Relation, StoredFunction, Unusable, discard_unusable, unusable,
};
use symbolon_service::FunctionConfig;
use symbolon_store::fault;

use crate::common::*;

/// One session of four executions, one of which is loaded.
fn function(what: &str) -> FunctionConfig {
    let usual = adder(Protocol::Wrk);
    FunctionConfig {
        name: name(what),
        circuit: builtin::by_name(&format!("{what}:16")).unwrap().into(),
        side_by_side: 1,
        ready: 4,
        low: 4,
        ..usual
    }
}

fn stored(party: usize, what: &str) -> StoredFunction {
    let FunctionConfig { circuit, params, .. } = function(what);
    StoredFunction::new((party as u16).into(), &circuit, &params).unwrap()
}

/// Prepares executions of functions, and ends.
fn prepare(world: &mut World, functions: &[FunctionConfig]) {
    let nodes = world.start_all(functions);
    stocked(&nodes);
    let made = |node: &symbolon_service::Node| {
        let text = node.metrics();
        let done = text.lines().filter(|line| {
            (line.starts_with("symbolon_made_total{") || line.starts_with("symbolon_kept_total{"))
                && !line.ends_with(" 0")
        });
        done.count() >= functions.len()
    };
    until("they are there", || nodes.iter().all(made));
}

#[test]
fn executions_without_a_function_are_found_and_removed_at_both_sides() {
    let mut world = World::with_stores(2);
    let both = [function("add"), function("sub")];
    prepare(&mut world, &both);
    let before = available(&world.store(0).unwrap());
    assert_eq!(before.len(), 6);
    // The node goes on without one of them, and keeps what it could be given again.
    prepare(&mut world, &both[..1]);
    let store = world.store(0).unwrap();
    let found = unusable(&store, Some(&[stored(0, "add")])).unwrap();
    assert_eq!(found.len(), 3);
    assert!(found.values().all(|why| *why == Unusable::NoFunction));
    assert!(unusable(&store, Some(&[stored(0, "add"), stored(0, "sub")])).unwrap().is_empty());
    let only = |why| why == Unusable::NoFunction;
    let done = discard_unusable(&store, Some(&[stored(0, "add")]), only).unwrap();
    assert_eq!(done, DiscardedItems { voided: 3, busy: 0 });
    assert_eq!(store.gc().unwrap().items.iter().filter(|id| found.contains_key(id)).count(), 3);
    drop(store);
    // The other party sees that they are gone when the function comes back.
    let nodes = world.start_all(&both);
    stocked(&nodes);
    until("it is noticed", || {
        nodes[1].metrics().contains("symbolon_voided_total{function=\"sub\"} 3\n")
    });
    assert_eq!(sum(&nodes, "c", [1, 2]), 3);
    drop(nodes);
    assert_eq!(available(&world.store(0).unwrap()), available(&world.store(1).unwrap()));
}

/// What a running node has, or is making, is in locked groups.
#[test]
fn nothing_is_taken_from_a_node_that_runs() {
    let mut world = World::with_stores(2);
    let nodes = world.start_all(&[function("add")]);
    stocked(&nodes);
    until("they are there", || nodes.iter().all(|node| counter(node, "made") == 4));
    let store = world.store(0).unwrap();
    // Whoever calls it has other settings than the node.
    let done = discard_unusable(&store, Some(&[]), |_| true).unwrap();
    assert_eq!(done, DiscardedItems { voided: 0, busy: 3 });
    drop(store);
    for i in 0..6 {
        assert_eq!(sum(&nodes, &format!("c{i}"), [i, 1]), i + 1);
    }
    assert!(nodes.iter().all(|node| counter(node, "voided") == 0));
}

#[test]
fn a_node_removes_what_is_bound_to_what_it_has_forgotten() {
    let mut world = World::with_stores(2);
    prepare(&mut world, &[function("add")]);
    let store = world.store(0).unwrap();
    assert_eq!(available(&store).len(), 3);
    let meet = |drawn: u8| {
        let relation = Relation::from_drawn([0.into(), 1.into()], [&[drawn; 16], &[0; 16]]);
        relation.keep(&store, 0.into(), 1.into()).unwrap();
    };
    // While the store knows the relation, the peer could come back with it.
    (1..MAX_RELATIONS as u8).for_each(meet);
    assert!(unusable(&store, None).unwrap().values().all(|why| *why == Unusable::EndedRelation));
    drop(world.start(0, vec![function("add")]));
    assert_eq!(available(&store).len(), 3);
    meet(MAX_RELATIONS as u8);
    drop(world.start(0, vec![function("add")]));
    assert!(available(&store).is_empty());
    // Their records are gone, too.
    assert!(store.list().unwrap().is_empty());
}

/// Where the process finds the store.
const STORE: &str = "SYMBOLON_TEST_UNUSABLE";

/// Not a test: the process that dies.
#[test]
#[ignore = "a part of the test below, which starts it"]
fn a_process_that_removes_what_is_unusable() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = Store::open(path, &Protection::None).unwrap();
    discard_unusable(&store, Some(&[stored(0, "add")]), |_| true).unwrap();
    store.gc().unwrap();
}

/// Lets the process die at a point; returns whether it came there.
fn die(path: &Path, at: &str) -> bool {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "unusable::a_process_that_removes_what_is_unusable", "--ignored"]);
    program.env(STORE, path).env("SYMBOLON_FAULT", at);
    let output = program.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || output.status.code().is_none(), "{at}: {said}");
    !output.status.success()
}

/// Puts executions of a function into a store, bound to a relation.
fn put(store: &Store, what: &str, group: u8, relation: &Relation) {
    let FunctionConfig { circuit, params, .. } = function(what);
    let closed = |sequence| {
        let meta = ItemMeta {
            kind: ItemKind::Prepared,
            protocol: params.protocol.name().to_string(),
            group: [group; 32],
            party: 0.into(),
            peers: vec![ItemPeer { party: 1.into(), fingerprint: Some(relation.name().into()) }],
            dealer: None,
            rho: params.rho.bits(),
            circuit: Some(circuit.digest()),
            name: None,
            sequence,
            counts: Vec::new(),
            components: Vec::new(),
        };
        let mut writer = store.begin(meta, &[Section::Whole], DEFAULT_FRAME).unwrap();
        writer.section(0).put(&[7; 300]).unwrap();
        writer.close(vec![1]).unwrap()
    };
    ClosedItem::publish_all((0..2).map(closed).collect()).unwrap();
}

/// Cheat: – | removal of unusable executions | death at every step | what is of use stays, what was
/// removed does not come back, and another attempt goes to the end | always
#[test]
fn death_at_every_step_of_the_removal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let relation = Relation::from_drawn([0.into(), 1.into()], [&[1; 16], &[2; 16]]);
    let store = Store::create(&path, &Protection::None).unwrap();
    relation.keep(&store, 0.into(), 1.into()).unwrap();
    put(&store, "add", 0, &relation);
    let kept = available(&store);
    drop(store);
    let (mut died, mut group) = (Vec::new(), 0);
    let passed = ["commit.", "head.", "void.", "discard."];
    let is_passed = |point: &&&str| passed.iter().any(|start| point.starts_with(start));
    for point in fault::POINTS.iter().filter(is_passed) {
        for time in 1..=2 {
            group += 1;
            let store = Store::open(&path, &Protection::None).unwrap();
            put(&store, "sub", group, &relation);
            assert_eq!(available(&store).len(), kept.len() + 2);
            drop(store);
            if !die(&path, &format!("{point}:{time}")) {
                break;
            }
            died.push(*point);
            let store = Store::open(&path, &Protection::None).unwrap();
            let still = available(&store);
            assert!(kept.iter().all(|id| still.contains(id)), "{point}:{time}");
            drop(store);
            assert!(!die(&path, "none"), "{point}:{time}");
            let store = Store::open(&path, &Protection::None).unwrap();
            assert_eq!(available(&store), kept, "{point}:{time}");
            assert!(store.list().unwrap().iter().all(|item| item.state == ItemState::Available));
        }
    }
    died.dedup();
    let all: Vec<_> = fault::POINTS.iter().copied().filter(|point| is_passed(&point)).collect();
    assert_eq!(died, all);
}
