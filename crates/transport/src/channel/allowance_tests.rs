//! A peer that computes may be silent, and not read, for longer than the time-out, but not forever.

use std::thread;
use std::time::{Duration, Instant};

use crate::network_tests::one_lane;
use crate::{Channel, Error, TransportReason};

/// A time-out that a busy machine keeps.
const TIMEOUT: Duration = Duration::from_millis(200);

/// How long the peer computes.
const LONG: Duration = Duration::from_millis(800);

/// More time than the peer needs.
const ALLOWED: Duration = Duration::from_millis(2500);

/// Returns both ends over TCP and TLS. The first one has a short time-out, and allows more.
fn each_transport(test: impl Fn(Channel, Channel)) {
    for tls in [false, true] {
        let (mut a, b) = one_lane(tls);
        a.set_timeout(TIMEOUT);
        test(a, b);
    }
}

fn assert_timed_out(error: &Error, least: Duration, most: Duration) {
    let Error::Transport { reason: TransportReason::TimedOut(after), .. } = error else {
        panic!("{error:?}");
    };
    assert!((least..=most).contains(after), "{error}");
}

#[test]
fn a_peer_that_computes_may_be_silent_for_longer() {
    each_transport(|mut a, mut b| {
        a.allow(ALLOWED);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(LONG);
                b.send("late", b"done").unwrap();
                b.flush().unwrap();
            });
            assert_eq!(a.recv("late", 4).unwrap(), b"done");
        });
    });
}

/// What the peer sends while it computes, such as what it had ready, does not end the longer wait.
#[test]
fn a_message_does_not_end_the_longer_wait() {
    each_transport(|mut a, mut b| {
        a.allow(ALLOWED);
        b.send("ready", b"early").unwrap();
        b.flush().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(LONG);
                b.send("late", b"done").unwrap();
                b.flush().unwrap();
            });
            assert_eq!(a.recv("ready", 5).unwrap(), b"early");
            assert_eq!(a.recv("late", 4).unwrap(), b"done");
        });
    });
}

/// The peer does not read while it computes. A write that begins after a message of the peer is
/// waited for, too.
#[test]
fn a_message_does_not_end_the_longer_wait_of_writes() {
    each_transport(|mut a, mut b| {
        a.allow(ALLOWED);
        b.send("ready", b"early").unwrap();
        b.flush().unwrap();
        assert_eq!(a.recv("ready", 5).unwrap(), b"early");
        let large = vec![0; 32 << 20];
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(LONG);
                assert_eq!(b.recv("large", large.len()).unwrap().len(), large.len());
            });
            a.send("large", &large).unwrap();
            a.throttle(0).unwrap();
        });
    });
}

/// The longer wait ends when its time has passed, for reads and writes, with and without a message
/// in between.
#[test]
fn the_longer_wait_ends() {
    each_transport(|mut a, mut b| {
        a.allow(TIMEOUT);
        let begun = Instant::now();
        let error = a.recv("never", 1).unwrap_err();
        assert!(begun.elapsed() >= 2 * TIMEOUT - Duration::from_millis(20));
        assert_timed_out(&error, TIMEOUT, 2 * TIMEOUT);
        drop(b);

        (a, b) = one_lane(false);
        a.set_timeout(TIMEOUT);
        a.allow(TIMEOUT);
        thread::sleep(2 * TIMEOUT);
        b.send("late", b"done").unwrap();
        b.flush().unwrap();
        assert_eq!(a.recv("late", 4).unwrap(), b"done");
        assert_timed_out(&a.recv("never", 1).unwrap_err(), TIMEOUT, TIMEOUT);

        (a, b) = one_lane(false);
        a.set_timeout(TIMEOUT);
        a.allow(TIMEOUT);
        thread::sleep(2 * TIMEOUT);
        let error = a.send("data", &vec![0; 64 << 20]).and_then(|()| a.throttle(0)).unwrap_err();
        assert_timed_out(&error, TIMEOUT, TIMEOUT);
        drop(b);
    });
}
