//! Parties that differ, die, or stop.

use std::time::Duration;

use symbolon::circuit::builtin;
use symbolon::{Protocol, SessionParams};
use symbolon_service::{CallError, FunctionConfig, Reason};

use crate::common::*;

#[test]
fn a_difference_disables_one_function_and_both_say_so() {
    let mut world = World::new(2);
    let other = |circuit: &str| FunctionConfig {
        ready: 1,
        low: 1,
        side_by_side: 1,
        ..FunctionConfig::new(
            name("other"),
            builtin::by_name(circuit).unwrap(),
            SessionParams::new(Protocol::Wrk),
        )
    };
    let mut alone = adder(Protocol::Wrk);
    alone.name = name("alone");
    let zero = world.start(0, vec![other("add:8"), adder(Protocol::Wrk), alone]);
    let one = world.start(1, vec![adder(Protocol::Wrk), other("add:9")]);
    let nodes = [zero, one];
    assert_eq!(sum(&nodes, "works", [1, 2]), 3);
    let disabled = |node: usize, function: &str| {
        let stock = nodes[node].stock();
        let one = stock.functions.into_iter().find(|one| one.name.as_str() == function);
        one.unwrap().disabled.unwrap_or_default()
    };
    for node in [0, 1] {
        assert!(disabled(node, "other").contains("`circuit` is "), "{}", disabled(node, "other"));
    }
    assert_eq!(disabled(0, "alone"), "party 1 does not have it");
    let inputs = number(&nodes[0], "other", 1);
    let refused = nodes[0].call("other", &name("c"), inputs).unwrap_err();
    assert!(matches!(refused, CallError::Disabled(_)), "{refused}");
    assert!(!nodes[0].stock().is_healthy());
}

#[test]
fn a_peer_that_dies_comes_back() {
    for dies in [1, 0] {
        let mut world = World::new(2);
        let mut nodes = world.start_all(&[adder(Protocol::Wrk)]);
        assert_eq!(sum(&nodes, "before", [1, 2]), 3);
        drop(nodes.remove(dies));
        until("its end is noticed", || !nodes[0].stock().peers[0].connected);
        assert_eq!(nodes[0].stock().functions[0].sessions, 0);
        // A call waits for it.
        let waits = post(&nodes[0], "after", 4).unwrap();
        nodes.insert(dies, world.start(dies, vec![adder(Protocol::Wrk)]));
        assert_eq!(sum(&nodes, "after", [4, 4]), 8);
        assert!(answer(&waits).is_ok());
    }
}

#[test]
fn one_of_three_dies_and_comes_back() {
    let mut world = World::new(3);
    let mut nodes = world.start_all(&[adder(Protocol::Ywz)]);
    assert_eq!(sum(&nodes, "before", [1, 2]), 3);
    for dies in [2, 1, 0] {
        drop(nodes.remove(dies));
        nodes.insert(dies, world.start(dies, vec![adder(Protocol::Ywz)]));
        assert_eq!(sum(&nodes, &format!("after-{dies}"), [1, 2]), 3);
    }
}

#[test]
fn a_party_without_an_address_dials() {
    for hidden in [0, 1] {
        let mut world = World::new(2);
        world.parties[hidden].address = None;
        let start = |world: &mut World, party: usize| {
            let mut config = world.config(party, vec![adder(Protocol::Wrk)]);
            config.listener = config.listener.filter(|_| party != hidden);
            symbolon_service::Node::start(config).unwrap()
        };
        let nodes = [start(&mut world, 0), start(&mut world, 1)];
        assert_eq!(sum(&nodes, "one", [1, 2]), 3);
    }
}

#[test]
fn a_node_that_drains_ends_running_calls_and_refuses_others() {
    for drains in [0, 1] {
        let nodes = World::new(2).start_all(&[adder(Protocol::Wrk)]);
        stocked(&nodes);
        let other = 1 - drains;
        let mine = post(&nodes[drains], "mine", 1).unwrap();
        let theirs = post(&nodes[other], "theirs", 1).unwrap();
        let both: Vec<_> = (0..8)
            .flat_map(|i| nodes.iter().map(move |node| post(node, &format!("b{i}"), i).unwrap()))
            .collect();
        nodes[drains].drain();
        assert_eq!(refused(&mine), CallError::Draining);
        let reason = CallError::RefusedByPeer((drains as u16).into(), Reason::Draining);
        assert_eq!(refused(&theirs), reason);
        assert_eq!(post(&nodes[drains], "new", 1).unwrap_err(), CallError::Draining);
        assert_eq!(post(&nodes[other], "new", 1).unwrap_err(), reason);
        // Both sides agree on what became of every call.
        for (i, pair) in both.chunks(2).enumerate() {
            let (zero, one) = (answer(&pair[0]), answer(&pair[1]));
            assert_eq!(zero.is_ok(), one.is_ok(), "{i}: {zero:?} {one:?}");
            if let Ok(outputs) = zero.as_ref() {
                assert_eq!(outputs.uint("sum").unwrap(), 2 * i as u128);
            }
        }
    }
}

#[test]
fn inputs_that_come_when_none_is_prepared_wait_for_one() {
    let mut function = adder(Protocol::Wrk);
    (function.ready, function.low, function.side_by_side) = (1, 1, 1);
    function.wait = Duration::from_secs(30);
    let nodes = World::new(2).start_all(&[function]);
    for i in 0..5 {
        assert_eq!(sum(&nodes, &format!("c{i}"), [i, 1]), i + 1);
    }
}
