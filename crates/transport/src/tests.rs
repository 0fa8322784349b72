//! Channels over memory: order, framing, ends, time-outs, abort notices, adversaries.

use std::thread;
use std::time::{Duration, Instant};

use crate::adversary::{Action, FnAdversary};
use crate::checks::FRAMING;
use crate::{
    CancelHandle, Channel, Culprit, Error, Meter, SimulatedLink, TransportReason, memory_lanes,
    memory_pair,
};

pub(crate) const SHORT: Duration = Duration::from_millis(60);

pub(crate) fn pair() -> (Channel, Channel) {
    memory_pair(Meter::new(), Meter::new())
}

/// Returns what party `party` sends: bytes that depend on their position.
fn text(party: u16, len: usize) -> Vec<u8> {
    let word = |i: usize| (i as u32 ^ u32::from(party) << 31).wrapping_mul(0x9e37_79b1);
    (0..len.div_ceil(4)).flat_map(|i| word(i).to_le_bytes()).take(len).collect()
}

const SIZES: [usize; 12] =
    [1 << 20, 0, 1, 100, 16_383, 16_384, 8_200, 65_535, 65_536, 65_537, 3 << 20, 8];

/// Both sides send `total` bytes before they receive any, in messages of many sizes.
pub(crate) fn flood((mut a, mut b): (Channel, Channel), total: usize) {
    let run = move |channel: &mut Channel| {
        let sizes = SIZES;
        let sent = sizes.iter().cycle().scan(0, |sum, len| {
            *sum += len;
            (*sum <= total).then_some(*len)
        });
        let sent: Vec<usize> = sent.collect();
        // Every message begins at a different position of the text.
        let (mine, theirs) =
            [channel.me(), channel.peer()].map(|party| text(party.number(), 4 << 20)).into();
        for (at, len) in sent.iter().enumerate() {
            channel.send("flood", &mine[at..at + len]).unwrap();
        }
        let mut buf = vec![0; 3 << 20];
        for (at, len) in sent.iter().enumerate() {
            channel.recv_into("flood", &mut buf[..*len]).unwrap();
            assert!(buf[..*len] == theirs[at..at + len], "message {at} of {len} bytes");
        }
    };
    thread::scope(|scope| {
        scope.spawn(move || {
            run(&mut a);
            a.close().unwrap();
        });
        run(&mut b);
    });
}

/// The sides send and receive in turns, one large message and some small ones at a time.
pub(crate) fn take_turns((mut a, mut b): (Channel, Channel)) {
    let run = |channel: &mut Channel| {
        let (mine, theirs) =
            [channel.me(), channel.peer()].map(|party| text(party.number(), 4 << 20)).into();
        for turn in 0..600 {
            let sizes =
                [0, 1, 5].map(|next| SIZES[(turn + next) % SIZES.len()].min(200_000) + next);
            for len in sizes {
                channel.send("turn", &mine[turn..turn + len]).unwrap();
            }
            for len in sizes {
                let came = channel.recv("turn", len).unwrap();
                assert!(came == theirs[turn..turn + len], "{len} bytes in turn {turn}");
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run(&mut a));
        run(&mut b);
    });
}

#[test]
fn messages_by_turns() {
    take_turns(pair());
}

#[test]
fn both_directions_at_once() {
    flood(pair(), 64 << 20);
}

#[test]
fn both_directions_at_once_over_a_link() {
    let link = Some(SimulatedLink::LAN);
    let (mut a, mut b) = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, link).unwrap();
    flood((a.remove(0), b.remove(0)), 8 << 20);
}

#[test]
fn messages_arrive_in_order_and_whole() {
    let (mut a, mut b) = pair();
    a.send("one", b"hello").unwrap();
    a.send_parts("two", &[b"a", b"", b"bc"]).unwrap();
    a.send("empty", b"").unwrap();
    a.flush().unwrap();
    assert_eq!(b.recv("one", 5).unwrap(), b"hello");
    assert_eq!(b.recv_array::<3>("two").unwrap(), *b"abc");
    assert_eq!(b.recv_bounded("empty", 10).unwrap(), b"");
    assert_eq!((a.me(), a.peer(), b.me(), b.peer()), (0.into(), 1.into(), 1.into(), 0.into()));
}

/// Cheat: 2 | any message | another kind or length | `message framing` | always
#[test]
fn framing_errors_say_what_came() {
    let cases: [(&'static str, usize, &str); 3] = [
        ("kind", 6, "expected `kind` with 6 bytes, got `kind` with 5 bytes"),
        ("kind", 4, "expected `kind` with 4 bytes, got `kind` with 5 bytes"),
        ("other", 5, "expected `other` with 5 bytes, got tag"),
    ];
    for (kind, len, text) in cases {
        let (mut a, mut b) = pair();
        // Nothing below waits.
        b.set_timeout(Duration::from_secs(3600));
        a.send("kind", b"12345").unwrap();
        a.flush().unwrap();
        let error = b.recv(kind, len).unwrap_err();
        assert!(matches!(
            &error,
            Error::PeerMisbehaved { culprit: Culprit::Party(party), check: FRAMING, .. } if *party == 0
        ));
        assert!(error.to_string().contains(text), "{error}");
        // The channel is dead from now on, with the same error.
        assert_eq!(b.recv("kind", 5).unwrap_err(), error);
        assert_eq!(b.send("kind", b"").unwrap_err(), error);
        assert_eq!(b.flush().unwrap_err(), error);
        assert_eq!(b.close().unwrap_err(), error);
    }
}

/// Cheat: 2 | handshake | a message longer than the bound | `message framing` | always
#[test]
fn a_bounded_message_is_bounded() {
    let (mut a, mut b) = pair();
    a.send("hello", &[0; 101]).unwrap();
    a.flush().unwrap();
    let error = b.recv_bounded("hello", 100).unwrap_err();
    assert!(error.to_string().contains("at most 100 bytes"), "{error}");
}

#[test]
fn an_end_comes_after_the_data() {
    let (mut a, mut b) = pair();
    a.send("last", b"x").unwrap();
    a.close().unwrap();
    assert_eq!(b.recv("last", 1).unwrap(), b"x");
    let error = b.recv("more", 1).unwrap_err();
    assert_eq!(error, Error::transport(0, TransportReason::Closed));
    assert_eq!(b.send("more", b"x").unwrap_err(), error);
}

/// Cheat: 2 | any message | silence, slow drip | the time-out | always
#[test]
fn silence_and_slow_drip_end() {
    let (a, mut b) = pair();
    b.set_timeout(SHORT);
    let error = b.recv("never", 1).unwrap_err();
    assert_eq!(error.to_string(), "party 0 did not answer within 0.06 s");
    drop(a);

    let (pipe, mut b) = raw_pair();
    b.set_timeout(SHORT);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let stop = &stop;
    thread::scope(|scope| {
        scope.spawn(move || {
            // Each pause is much shorter than the time-out; together they are much longer.
            let header = crate::wire::Header { len: 500, tag: crate::tag("drip") };
            for byte in header.encode().into_iter().chain([0; 500]) {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                let _ = pipe.push(crate::pipe::Chunk::new(vec![byte]));
                thread::sleep(Duration::from_millis(10));
            }
        });
        let error = b.recv("drip", 500).unwrap_err();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(error, Error::Transport { reason: TransportReason::TimedOut(_), .. }));
    });
}

/// Returns a pipe into a channel, for bytes that no channel would send.
fn raw_pair() -> (std::sync::Arc<crate::pipe::Pipe>, Channel) {
    use crate::{outlet::Outlet, pipe::Pipe, pipe::PipeSource};
    let (into, out) = (Pipe::new(), Pipe::new());
    let source = Box::new(PipeSource::new(into.clone()));
    (
        into.clone(),
        Channel::new((1.into(), 0.into()), source, Outlet::direct(out, into), Meter::new(), None),
    )
}

/// Directly, and over a simulated link with a writer thread.
#[test]
fn a_channel_in_memory_is_hung_up_from_another_thread() {
    let link = "1ms,1gbit".parse::<SimulatedLink>().unwrap();
    for link in [None, Some(link)] {
        let (mut a, mut b) = memory_lanes((0, Meter::new()), (1, Meter::new()), 1, link).unwrap();
        let (mut a, mut b) = (a.remove(0), b.remove(0));
        let hangup = a.hangup();
        let reader = thread::spawn(move || {
            let error = a.recv("never", 1).unwrap_err();
            let sent = a.send("late", &[1]).and_then(|()| a.flush());
            (error, sent)
        });
        thread::sleep(Duration::from_millis(20));
        hangup.hang_up();
        let (error, sent) = reader.join().unwrap();
        assert_eq!(error, Error::transport(1, TransportReason::Closed));
        assert!(sent.is_err());
        assert_eq!(b.recv("late", 1).unwrap_err(), Error::transport(0, TransportReason::Closed));
    }
}

#[test]
fn a_peer_that_speaks_or_goes_is_noticed_without_waiting() {
    let (mut a, mut b) = pair();
    assert!(!a.has_input() && !b.has_input());
    a.send("word", &[1]).unwrap();
    a.flush().unwrap();
    assert!(b.has_input() && !a.has_input());
    b.recv("word", 1).unwrap();
    assert!(!b.has_input());
    drop(b);
    assert!(a.has_input());
}

#[test]
fn abort_notices_arrive_first_and_are_escaped() {
    let (mut a, mut b) = pair();
    a.abort("the \x1b MAC check failed");
    assert!(a.send("x", b"").is_err());
    drop(a);
    let error = b.recv("anything", 100).unwrap_err();
    assert_eq!(error.to_string(), "party 0 aborted: the \\u{1b} MAC check failed");

    // A sender finds the notice too, after other messages.
    let (mut a, mut b) = pair();
    a.send("data", &[0; 10_000]).unwrap();
    a.abort(&"long ".repeat(100));
    drop(a);
    let error = b.send("x", &[0; 1 << 20]).unwrap_err();
    assert!(error.to_string().starts_with("party 0 aborted: long long"), "{error}");
    assert!(error.to_string().len() < 260);
}

#[test]
fn abort_works_after_an_error() {
    let (mut a, mut b) = pair();
    a.send("x", b"1").unwrap();
    a.flush().unwrap();
    b.recv("y", 1).unwrap_err();
    b.abort("the message framing check failed");
    drop(b);
    let error = a.recv("z", 1).unwrap_err();
    assert_eq!(error.to_string(), "party 1 aborted: the message framing check failed");
}

#[test]
fn throttle_waits_for_the_peer() {
    let (mut a, mut b) = pair();
    a.set_timeout(SHORT);
    a.send("x", &[0; 1000]).unwrap();
    a.throttle(2000).unwrap();
    assert_eq!(a.backlog(), 1008);
    thread::scope(|scope| {
        scope.spawn(|| b.recv("x", 1000).unwrap());
        a.throttle(0).unwrap();
    });
    a.send("x", &[0; 1000]).unwrap();
    assert!(a.throttle(0).unwrap_err().to_string().contains("did not answer"));
}

#[test]
fn a_throttle_can_be_cancelled() {
    let (mut a, b) = pair();
    let cancel = CancelHandle::new();
    cancel.watch(&a);
    a.send("x", &[0; 1000]).unwrap();
    thread::scope(|scope| {
        let throttled = scope.spawn(|| a.throttle(0).unwrap_err());
        thread::sleep(SHORT);
        cancel.cancel();
        assert_eq!(throttled.join().unwrap(), Error::Cancelled);
    });
    drop(b);
}

#[test]
fn a_link_delays() {
    let link = Some("20ms,8mbit".parse().unwrap());
    let (mut a, mut b) = memory_lanes((3, Meter::new()), (5, Meter::new()), 1, link).unwrap();
    let (mut a, mut b) = (a.remove(0), b.remove(0));
    thread::scope(|scope| {
        scope.spawn(move || {
            b.recv("q", 10_000).unwrap();
            b.send("a", b"x").unwrap();
        });
        let begun = Instant::now();
        a.send("q", &[0; 10_000]).unwrap();
        a.recv("a", 1).unwrap();
        // 10 ms each way and 10 ms for 10 000 bytes.
        assert!(begun.elapsed() >= Duration::from_millis(30));
    });
    assert!(memory_lanes((3, Meter::new()), (3, Meter::new()), 1, None).is_err());
}

#[test]
fn the_meter_counts_headers_and_payloads() {
    let (ma, mb) = (Meter::new(), Meter::new());
    let (mut a, mut b) = memory_pair(ma.clone(), mb.clone());
    ma.set_phase("online");
    mb.set_phase("online");
    for _ in 0..4 {
        a.send("q", &[0; 92]).unwrap();
        a.flush().unwrap();
        b.recv("q", 92).unwrap();
        b.send("a", &[0; 2]).unwrap();
        b.flush().unwrap();
        a.recv("a", 2).unwrap();
    }
    let (ra, rb) = (&ma.report()[0], &mb.report()[0]);
    assert_eq!((ra.bytes_sent, ra.bytes_received, ra.rounds), (400, 40, 4));
    assert_eq!((rb.bytes_sent, rb.bytes_received, rb.rounds), (40, 400, 4));
    assert_eq!((ra.messages_sent, ra.messages_received), (4, 4));
}

#[test]
fn an_adversary_changes_messages() {
    let bent = |action: Action| {
        let (mut a, b) = pair();
        a.set_adversary(Box::new(FnAdversary::new().on_message("m", 1, move |payload| {
            payload.push(9);
            action
        })));
        for i in 0..3 {
            let sent = a.send("m", &[i]);
            assert_eq!(sent.is_err(), action == Action::Close && i >= 1);
        }
        let _ = a.flush();
        (a, b)
    };
    let (_a, mut b) = bent(Action::Send);
    assert_eq!(b.recv("m", 1).unwrap(), [0]);
    assert_eq!(b.recv("m", 2).unwrap(), [1, 9]);
    assert_eq!(b.recv("m", 1).unwrap(), [2]);
    let (_a, mut b) = bent(Action::Twice);
    b.recv("m", 1).unwrap();
    assert_eq!(b.recv("m", 2).unwrap(), b.recv("m", 2).unwrap());
    let (_a, mut b) = bent(Action::Drop);
    b.recv("m", 1).unwrap();
    assert_eq!(b.recv("m", 1).unwrap(), [2]);
    let (_a, mut b) = bent(Action::Close);
    b.recv("m", 1).unwrap();
    assert!(b.recv("m", 1).unwrap_err().to_string().contains("closed"));
    let (_a, mut b) = bent(Action::Stall);
    b.set_timeout(SHORT);
    b.recv("m", 1).unwrap();
    assert!(b.recv("m", 1).unwrap_err().to_string().contains("did not answer"));
}

#[test]
fn an_adversary_changes_state_and_sees_messages() {
    let (mut a, mut b) = pair();
    let (tx, rx) = std::sync::mpsc::channel();
    b.set_adversary(Box::new(
        FnAdversary::new()
            .on_incoming(move |kind, index, payload| {
                tx.send((kind, index, payload.len())).unwrap();
            })
            .on_state(|point, data| {
                if point == "choice bits" {
                    data[0] ^= 1;
                }
            }),
    ));
    a.send("m", &[0; 3]).unwrap();
    a.send("m", &[0; 4]).unwrap();
    a.flush().unwrap();
    b.recv("m", 3).unwrap();
    b.recv_bounded("m", 4).unwrap();
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), [("m", 0, 3), ("m", 1, 4)]);
    let mut data = [0, 0];
    b.tamper_state("choice bits", &mut data);
    b.tamper_state("elsewhere", &mut data);
    a.tamper_state("choice bits", &mut data);
    assert_eq!(data, [1, 0]);
}

#[test]
fn channels_can_be_moved_to_other_threads() {
    fn movable<T: Send + 'static>() {}
    movable::<Channel>();
    movable::<crate::Listener>();
    movable::<Error>();
}

/// Returns a preamble that a listening party 0 would accept.
pub(crate) fn preamble_bytes() -> [u8; 64] {
    let options = crate::Options::insecure_plain_tcp(1, Meter::new());
    options.preamble(0.into(), 0, 1, [9; 32]).encode()
}
