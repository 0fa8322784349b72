//! Calls that go well, and those that have no answer although all parties are honest.

use std::time::Duration;

use symbolon::Protocol;
use symbolon_service::{CallError, Node, Reason};

use crate::common::*;

/// Makes many calls at a time among `parties` parties.
fn many_calls(parties: usize, protocol: Protocol) {
    let nodes = World::new(parties).start_all(&[adder(protocol)]);
    assert_eq!(sum(&nodes, "first", [20, 22]), 42);
    let calls: Vec<_> = (0..20)
        .map(|i| {
            let post = |node| post(node, &format!("c{i}"), i).unwrap();
            nodes.iter().map(post).collect::<Vec<_>>()
        })
        .collect();
    for (i, calls) in (0..).zip(&calls) {
        for call in calls {
            let answer = answer(call);
            assert_eq!(answer.as_ref().as_ref().unwrap().uint("sum").unwrap(), 2 * i);
        }
    }
    stocked(&nodes);
    assert!(
        nodes[0].metrics().contains("symbolon_calls_total{function=\"add\",result=\"done\"} 21")
    );
}

#[test]
fn two_parties_with_wrk() {
    many_calls(2, Protocol::Wrk);
}

#[test]
fn two_parties_with_tinytable() {
    many_calls(2, Protocol::TinyTable);
}

#[test]
fn three_parties_with_ywz() {
    many_calls(3, Protocol::Ywz);
}

#[test]
fn two_parties_with_two_threads() {
    let mut function = adder(Protocol::Ywz);
    function.params.threads = 2;
    let nodes = World::new(2).start_all(&[function]);
    assert_eq!(sum(&nodes, "first", [1, 2]), 3);
}

#[test]
fn the_same_inputs_have_the_same_answer_and_others_are_refused() {
    let nodes = World::new(2).start_all(&[adder(Protocol::Wrk)]);
    assert_eq!(sum(&nodes, "one", [1, 2]), 3);
    stocked(&nodes);
    let before = nodes[0].stock().functions[0].ready;
    assert_eq!(sum(&nodes, "one", [1, 2]), 3);
    assert_eq!(nodes[0].stock().functions[0].ready, before, "nothing was used");
    assert_eq!(post(&nodes[0], "one", 5).unwrap_err(), CallError::OtherInputs);
    // It is so, too, while the call waits.
    let waits = post(&nodes[0], "two", 7).unwrap();
    assert_eq!(post(&nodes[0], "two", 8).unwrap_err(), CallError::OtherInputs);
    post(&nodes[0], "two", 7).unwrap();
    post(&nodes[1], "two", 3).unwrap();
    assert_eq!(answer(&waits).as_ref().as_ref().unwrap().uint("sum").unwrap(), 10);
}

#[test]
fn a_call_without_the_peers_inputs_uses_nothing() {
    let mut function = adder(Protocol::Wrk);
    function.wait = Duration::from_millis(300);
    let nodes = World::new(2).start_all(&[function]);
    stocked(&nodes);
    for node in &nodes {
        let other = 1 - node.party().number();
        let alone = post(node, "alone", 1).unwrap();
        assert_eq!(refused(&alone), CallError::NoInputFromPeer(vec![other.into()]));
    }
    assert_eq!(nodes[0].stock().functions[0].ready, 4);
    // The name is free again.
    assert_eq!(sum(&nodes, "alone", [3, 4]), 7);
}

/// Nothing is prepared while calls only wait for a session that has prepared executions.
#[test]
fn calls_that_wait_for_a_busy_session_begin_no_refill() {
    let mut function = adder(Protocol::Wrk);
    // Three of the four sessions have two executions, the fourth has none.
    (function.ready, function.side_by_side, function.low) = (5, 4, 1);
    let nodes = World::new(2).start_all(&[function]);
    let made = |node: &Node, count: usize| {
        node.metrics().contains(&format!("symbolon_made_total{{function=\"add\"}} {count}\n"))
    };
    until("executions are prepared", || {
        nodes.iter().all(|node| made(node, 6) && node.stock().functions[0].sessions == 4)
    });
    for node in &nodes {
        (0..5).for_each(|i| drop(post(node, &format!("c{i}"), i).unwrap()));
    }
    for i in 0..5 {
        let call = nodes[0].find("add", &name(&format!("c{i}"))).unwrap();
        assert!(answer(&call).is_ok());
    }
    // Executions that are being prepared count, too.
    assert_eq!(nodes[0].stock().functions[0].ready, 1);
}

#[test]
fn only_callers_start_calls() {
    let mut function = adder(Protocol::Wrk);
    function.callers = vec![1.into()];
    let nodes = World::new(2).start_all(&[function]);
    stocked(&nodes);
    assert_eq!(post(&nodes[0], "a", 1).unwrap_err(), CallError::NotACaller);
    let started = post(&nodes[1], "a", 2).unwrap();
    until("the call is announced", || nodes[0].announced("add").unwrap() == [name("a")]);
    post(&nodes[0], "a", 1).unwrap();
    assert_eq!(answer(&started).as_ref().as_ref().unwrap().uint("sum").unwrap(), 3);
}

#[test]
fn budgets_are_kept_by_each_owner_and_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(2);
    let mut limited = adder(Protocol::Wrk);
    limited.calls = Some(2);
    let start = |world: &mut World| {
        let mut config = world.config(1, vec![limited.clone()]);
        config.state = Some(folder.path().join("state"));
        symbolon_service::Node::start(config).unwrap()
    };
    let mut nodes = vec![world.start(0, vec![adder(Protocol::Wrk)]), start(&mut world)];
    assert_eq!(sum(&nodes, "one", [1, 1]), 2);
    assert_eq!(nodes[1].stock().functions[0].calls_left, Some(1));
    let old = nodes.pop().unwrap();
    old.drain();
    drop(old);
    nodes.push(start(&mut world));
    assert_eq!(sum(&nodes, "two", [2, 1]), 3);
    assert_eq!(post(&nodes[1], "three", 1).unwrap_err(), CallError::Budget);
    // The other side is told, and does not wait.
    let told = post(&nodes[0], "four", 1).unwrap();
    assert_eq!(refused(&told), CallError::RefusedByPeer(1.into(), Reason::Budget));
}

#[test]
fn so_many_calls_an_hour() {
    let mut function = adder(Protocol::Wrk);
    function.calls_per_hour = Some(1);
    let nodes = World::new(2).start_all(&[function]);
    assert_eq!(sum(&nodes, "one", [1, 1]), 2);
    assert_eq!(post(&nodes[0], "two", 1).unwrap_err(), CallError::Budget);
}

#[test]
fn only_so_many_calls_wait() {
    let mut function = adder(Protocol::Wrk);
    function.waiting = 2;
    let nodes = World::new(2).start_all(&[function]);
    stocked(&nodes);
    let first = post(&nodes[0], "a", 1).unwrap();
    post(&nodes[0], "b", 1).unwrap();
    assert_eq!(post(&nodes[0], "c", 1).unwrap_err(), CallError::Busy);
    post(&nodes[1], "a", 1).unwrap();
    assert!(answer(&first).is_ok());
    assert_eq!(sum(&nodes, "c", [1, 2]), 3);
}

#[test]
fn an_answer_is_kept_for_a_while() {
    let mut function = adder(Protocol::Wrk);
    function.keep = Duration::from_millis(300);
    let nodes = World::new(2).start_all(&[function]);
    assert_eq!(sum(&nodes, "one", [1, 2]), 3);
    until("it is forgotten", || nodes.iter().all(|node| node.find("add", &name("one")).is_err()));
    assert_eq!(sum(&nodes, "one", [5, 2]), 7);
}

#[test]
fn inputs_of_another_function_are_refused() {
    let mut other = adder(Protocol::Wrk);
    other.name = name("other");
    other.circuit = std::sync::Arc::new(symbolon::circuit::builtin::by_name("sub:16").unwrap());
    let nodes = World::new(2).start_all(&[adder(Protocol::Wrk), other]);
    let inputs = number(&nodes[1], "add", 1);
    let refused = nodes[0].call("add", &name("c"), inputs).unwrap_err();
    assert!(matches!(refused, CallError::Inputs(_)), "{refused}");
}
