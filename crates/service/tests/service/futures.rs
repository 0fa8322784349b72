//! Futures of calls and of changes: dropping one at any point loses nothing.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use symbolon::Protocol;
use symbolon_service::{CallError, Name};
use tokio::time::timeout;

use crate::common::*;

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

#[test]
fn a_future_that_is_dropped_leaves_its_call_as_it_is() {
    let nodes = World::new(2).start_all(&[adder(Protocol::Wrk)]);
    stocked(&nodes);
    let call = post(&nodes[0], "c", 20).unwrap();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    for _ in 0..100 {
        // Each is dropped after it has begun to wait.
        let mut arrived = pin!(call.arrived());
        assert!(arrived.as_mut().poll(&mut context).is_pending());
    }
    let mut kept = pin!(call.arrived());
    assert!(kept.as_mut().poll(&mut context).is_pending());
    let other = post(&nodes[1], "c", 22).unwrap();
    let answer = answer(&call);
    assert_eq!(answer.as_ref().as_ref().unwrap().uint("sum").unwrap(), 42);
    // The one that waits is woken, and those that are gone are not.
    until("it is woken", || count.0.load(Ordering::SeqCst) == 1);
    assert!(kept.as_mut().poll(&mut context).is_ready());
    runtime().block_on(async {
        // Later futures have the same answer, as often as they are asked for.
        for _ in 0..3 {
            assert!(Arc::ptr_eq(&call.arrived().await, &answer));
        }
        assert_eq!(other.arrived().await.as_ref().as_ref().unwrap().uint("sum").unwrap(), 42);
    });
    assert_eq!(nodes[0].stock().functions[0].waiting, 0);
}

#[test]
fn many_calls_are_awaited_by_one_thread_with_impatience() {
    let nodes = World::new(2).start_all(&[adder(Protocol::Wrk)]);
    runtime().block_on(async {
        let calls: Vec<_> = (0..12)
            .map(|i| [0, 1].map(|party| post(&nodes[party], &format!("c{i}"), i).unwrap()))
            .collect();
        for (i, call) in (0..).zip(calls.iter().flatten()) {
            // Most of these futures are dropped before the answer comes.
            let answer = loop {
                match timeout(Duration::from_micros(200), call.arrived()).await {
                    Ok(answer) => break answer,
                    Err(_) => continue,
                }
            };
            let sum = answer.as_ref().as_ref().unwrap().uint("sum").unwrap();
            assert_eq!(sum, 2 * (i / 2));
        }
    });
}

/// Answers calls of the other party as they are announced, without asking again and again.
#[test]
fn changes_tell_of_calls_of_stock_and_of_peers() {
    let mut world = World::new(2);
    let zero = world.start(0, vec![adder(Protocol::Wrk)]);
    let mut changes = zero.changes();
    let one = world.start(1, vec![adder(Protocol::Wrk)]);
    let mut until_it_is = |so: &dyn Fn() -> bool| {
        while !so() {
            assert!(changes.wait(LONG), "nothing is told");
        }
    };
    until_it_is(&|| zero.stock().peers[0].connected);
    until_it_is(&|| {
        let function = zero.stock().functions[0].clone();
        function.sessions == 2 && function.ready == function.wanted
    });
    let call = post(&one, "c", 1).unwrap();
    until_it_is(&|| zero.announced("add").unwrap() == [name("c")]);
    let own = post(&zero, "c", 2).unwrap();
    until_it_is(&|| own.answer().is_some());
    assert!(answer(&call).is_ok());
    drop(one);
    until_it_is(&|| !zero.stock().peers[0].connected);
    // The end is told, too.
    zero.stop();
    while changes.wait(LONG) {}
    assert!(!changes.wait(LONG));
}

#[test]
fn a_change_between_two_futures_is_told() {
    let nodes = World::new(2).start_all(&[adder(Protocol::Wrk)]);
    stocked(&nodes);
    let mut changes = nodes[0].changes();
    let waker = Waker::from(Arc::new(Count::default()));
    let mut context = Context::from_waker(&waker);
    let names: Vec<Name> = (0..20).map(|i| name(&format!("c{i:02}"))).collect();
    for i in 0..names.len() {
        // All that came before is told, and a future that begins to wait is dropped.
        while pin!(changes.next()).poll(&mut context).is_ready() {}
        post(&nodes[1], names[i].as_str(), 1).unwrap();
        until("it is announced", || nodes[0].announced("add").unwrap() == names[..=i]);
        let told = runtime().block_on(async { timeout(LONG, changes.next()).await });
        assert_eq!(told, Ok(true));
    }
    assert_eq!(nodes[0].announced("sub"), Err(CallError::NoFunction));
}
