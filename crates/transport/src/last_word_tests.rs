//! The last word of a party that is interrupted reaches its peer, whatever both were doing.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::network_tests::one_lane;
use crate::tests::pair;
use crate::{CANCEL_POLL, CancelHandle, Channel, Error, Meter, TransportReason, memory_lanes};

/// How often each case is tried, with another moment of the interrupt each time.
const TIMES: u64 = 20;

const SOME: usize = 64 << 10;

/// How many messages are on their way: more than sockets hold.
const MANY: usize = 200;

const WORDS: &str = "it was interrupted";

/// The transports of a session.
const TRANSPORTS: [&str; 4] = ["memory", "link", "tcp", "tls"];

/// How many runs of a case each transport has at a time: they wait for most of their time.
const AT_ONCE: u64 = 4;

/// Runs a case [`TIMES`] times with each transport.
fn with_each(case: impl Fn(&str, u64) + Sync) {
    thread::scope(|scope| {
        for (transport, first) in
            TRANSPORTS.into_iter().flat_map(|t| (0..AT_ONCE).map(move |n| (t, n)))
        {
            let (case, times) = (&case, (first..TIMES).step_by(AT_ONCE as usize));
            scope.spawn(move || times.for_each(|time| case(transport, time)));
        }
    });
}

fn ends(transport: &str) -> (Channel, Channel) {
    match transport {
        "memory" => pair(),
        "link" => {
            let link = Some("1ms,8gbit".parse().unwrap());
            let ends = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, link);
            let (mut a, mut b) = ends.unwrap();
            (a.remove(0), b.remove(0))
        }
        _ => one_lane(transport == "tls"),
    }
}

/// Runs `work` on a channel until it is interrupted, and tells the peer.
fn interrupted(mut channel: Channel, mut work: impl FnMut(&mut Channel) -> crate::Result<()>) {
    let ended = loop {
        if let Err(error) = work(&mut channel) {
            break error;
        }
    };
    assert_eq!(ended, Error::Cancelled);
    channel.abort(WORDS);
}

fn assert_told(transport: &str, time: u64, ended: &Error) {
    let told = Error::transport(1, TransportReason::Aborted(WORDS.to_string()));
    assert_eq!(*ended, told, "{transport}, time {time}");
}

/// Party 1 is behind with millions of bytes that its peer has not read, its last word comes after
/// them, and the peer keeps sending. If party 1 closed its connection with unread data, the system
/// would reset it, and discard what the peer does not have yet.
#[test]
fn the_last_word_arrives_behind_data_and_against_data() {
    with_each(|transport, time| {
        let (mut a, mut b) = ends(transport);
        let cancel = CancelHandle::new();
        cancel.watch(&b);
        let has_sent = Barrier::new(2);
        thread::scope(|scope| {
            let sent = &has_sent;
            scope.spawn(move || {
                (0..MANY).for_each(|_| b.send("many", &[1; SOME]).unwrap());
                sent.wait();
                interrupted(b, |b| b.recv("some", SOME).map(drop));
            });
            scope.spawn(|| {
                has_sent.wait();
                thread::sleep(Duration::from_millis(time));
                cancel.cancel();
            });
            let ended = loop {
                thread::sleep(Duration::from_micros(500));
                let sent = a.send("some", &[0; SOME]);
                if let Err(error) = sent.and_then(|()| a.recv("many", SOME)) {
                    break error;
                }
            };
            assert_told(transport, time, &ended);
        });
    });
}

/// Both wait for the other one.
#[test]
fn the_last_word_of_a_party_that_waits_arrives() {
    with_each(|transport, time| {
        let (mut a, b) = ends(transport);
        let cancel = CancelHandle::new();
        cancel.watch(&b);
        thread::scope(|scope| {
            scope.spawn(|| {
                interrupted(b, |b| b.recv("never", 1).map(drop));
            });
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(time));
                cancel.cancel();
            });
            assert_told(transport, time, &a.recv("never", 1).unwrap_err());
        });
    });
}

/// A reader notices an interrupt soon, although its connection stays open, in the middle of a
/// message, too.
#[test]
fn an_interrupt_ends_a_read_soon() {
    for transport in TRANSPORTS {
        let (mut a, mut b) = ends(transport);
        let cancel = CancelHandle::new();
        cancel.watch(&b);
        a.send("half", &[0; 100]).unwrap();
        a.flush().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                cancel.cancel();
            });
            assert_eq!(b.recv("half", 100).unwrap(), [0; 100]);
            let begun = Instant::now();
            assert_eq!(b.recv("never", 1).unwrap_err(), Error::Cancelled);
            // On a busy machine it takes longer, but not as long as the time-out.
            assert!(begun.elapsed() < CANCEL_POLL * 50, "{transport}");
        });
        assert!(a.send("more", &[0; 100]).is_ok(), "{transport}: the connection is whole");
    }
}
