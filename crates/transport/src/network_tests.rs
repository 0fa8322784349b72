//! Connecting over TCP and TLS: the right peer, wrong peers, strangers, and full-duplex traffic.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::keys::impostor;
use crate::tests::{flood, take_turns};
use crate::{
    Channel, Error, Fingerprint, Hello, Identity, Listener, Meter, Options, Peer, Result,
    TransportReason, connect_lanes, handshake,
};

const WAIT: Duration = Duration::from_secs(20);

/// The options of both sides and the peers that they expect.
struct Sides {
    listening: (Options, Peer),
    dialling: (Options, Peer),
}

fn sides(tls: bool) -> Sides {
    let (mut listening, mut dialling);
    let peers = if tls {
        let (a, b) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        listening = Options::tls(0, &a, Meter::new()).unwrap();
        dialling = Options::tls(1, &b, Meter::new()).unwrap();
        (Peer::pinned(1, b.fingerprint()), Peer::pinned(0, a.fingerprint()))
    } else {
        listening = Options::insecure_plain_tcp(0, Meter::new());
        dialling = Options::insecure_plain_tcp(1, Meter::new());
        (Peer::unauthenticated(1), Peer::unauthenticated(0))
    };
    listening.connect_timeout = WAIT;
    dialling.connect_timeout = WAIT;
    Sides { listening: (listening, peers.0), dialling: (dialling, peers.1) }
}

type Ends = (Result<Vec<Channel>>, Result<Vec<Channel>>);

/// Connects both sides, after `strangers` had a chance to connect to the listening one.
fn meet(sides: &Sides, lanes: (usize, usize), strangers: impl FnOnce(&str)) -> Ends {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    thread::scope(|scope| {
        let listening = scope.spawn(|| {
            let (options, peer) = &sides.listening;
            let ends = listener.accept_lanes(options, peer, lanes.0);
            drop(listener);
            ends
        });
        strangers(&address);
        let (options, peer) = &sides.dialling;
        let dialled = connect_lanes(options, &address, peer, lanes.1);
        (listening.join().unwrap(), dialled)
    })
}

pub(crate) fn one_lane(tls: bool) -> (Channel, Channel) {
    let (a, b) = meet(&sides(tls), (1, 1), |_| {});
    (a.unwrap().remove(0), b.unwrap().remove(0))
}

#[test]
fn both_directions_at_once_over_tcp() {
    flood(one_lane(false), 64 << 20);
}

#[test]
fn both_directions_at_once_over_tls() {
    flood(one_lane(true), 64 << 20);
}

#[test]
fn messages_by_turns_over_tcp_and_tls() {
    for tls in [false, true] {
        take_turns(one_lane(tls));
    }
}

/// Sends parts of all sizes, more than fit at a time, to a reader that begins when the socket is
/// full, so that a partial write may end inside any part.
#[test]
fn parts_arrive_joined_wherever_the_socket_is_full() {
    for tls in [false, true] {
        let (mut a, mut b) = one_lane(tls);
        let bytes: Vec<u8> = (0..6 << 20).map(|i: u32| (i ^ i >> 9) as u8).collect();
        let sizes = [0, 5, 70_000, 1, 16 << 10, 300_000, 0, 3, (16 << 10) - 1, 1 << 20];
        let messages = |k: usize| {
            let parts = (k..k + 1 + 7 * (k % 4)).scan(k, |from, i| {
                let part = &bytes[*from..*from + sizes[i % sizes.len()]];
                *from += part.len();
                Some(part)
            });
            parts.collect::<Vec<&[u8]>>()
        };
        for k in 0..20 {
            a.send_parts("parts", &messages(k)).unwrap();
        }
        a.flush().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || a.close().unwrap());
            for k in 0..20 {
                let expected = messages(k).concat();
                let came = b.recv("parts", expected.len()).unwrap();
                assert!(came == expected, "message {k} of {} bytes", expected.len());
            }
        });
    }
}

/// A large message that is sent without copying to a disconnected peer ends the channel, like any
/// other message.
#[test]
fn a_large_message_to_nobody_is_an_error() {
    let (mut a, b) = one_lane(false);
    drop(b);
    let large = vec![0; 1 << 20];
    // The other side keeps accepting bytes for another second.
    let sent = (0..1_000).find_map(|_| {
        thread::sleep(Duration::from_millis(10));
        a.send("large", &large).err()
    });
    let error = sent.expect("an error");
    assert!(matches!(error, Error::Transport { party: Some(party), .. } if party == 1), "{error}");
    assert_eq!(a.send("small", &[1]), Err(error));
}

#[test]
fn lanes_come_in_order_and_share_nothing() {
    for tls in [false, true] {
        let (a, b) = meet(&sides(tls), (5, 5), |_| {});
        let (mut a, mut b) = (a.unwrap(), b.unwrap());
        for (i, channel) in a.iter_mut().enumerate() {
            channel.send("lane", &[i as u8]).unwrap();
            channel.flush().unwrap();
        }
        for (i, (a, b)) in a.iter().zip(&mut b).enumerate().rev() {
            assert_eq!(b.recv("lane", 1).unwrap(), [i as u8]);
            assert_eq!(a.binding(), b.binding());
            assert_eq!(a.binding().is_some(), tls);
        }
        if tls {
            assert_ne!(a[0].binding(), a[1].binding());
        }
    }
}

#[test]
fn ping_pong_and_ends() {
    for tls in [false, true] {
        let (mut a, mut b) = one_lane(tls);
        thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..100_u8 {
                    assert_eq!(b.recv("q", 1).unwrap(), [i]);
                    b.send("a", &[i; 3]).unwrap();
                }
                b.close().unwrap();
            });
            for i in 0..100 {
                a.send("q", &[i]).unwrap();
                assert_eq!(a.recv("a", 3).unwrap(), [i; 3]);
            }
            let error = a.recv("a", 3).unwrap_err();
            assert_eq!(error, Error::transport(1, TransportReason::Closed), "tls: {tls}");
        });
    }
}

#[test]
fn abort_notices_cross_unread_data() {
    for tls in [false, true] {
        let (mut a, mut b) = one_lane(tls);
        // More than the sockets' buffers hold, so the peer dies without having read everything.
        a.send("data", &vec![0; 32 << 20]).unwrap();
        a.flush().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                b.recv("other", 1).unwrap_err();
                b.abort("the message framing check failed");
            });
            let error = a.recv("answer", 1).unwrap_err();
            assert_eq!(
                error.to_string(),
                "party 1 aborted: the message framing check failed",
                "tls: {tls}"
            );
        });
    }
}

/// Cheat: 2, network | any message | silence, and a peer that does not read | the time-out | always
#[test]
fn silence_and_a_peer_that_does_not_read_end() {
    for tls in [false, true] {
        let (mut a, b) = one_lane(tls);
        a.set_timeout(Duration::from_millis(80));
        let error = a.recv("never", 1).unwrap_err();
        assert_eq!(error.to_string(), "party 1 did not answer within 0.08 s");
        drop((a, b));

        let (mut a, b) = one_lane(tls);
        a.set_timeout(Duration::from_millis(200));
        // On a busy machine the time may be up before all of it is queued.
        let sent = a.send("data", &vec![0; 64 << 20]);
        let error = sent.and_then(|()| a.throttle(0)).unwrap_err();
        assert!(error.to_string().contains("did not answer within"), "{error}");
        assert_eq!(a.close().unwrap_err(), error);
        drop(b);
    }
}

/// Cheat: 2, network | connecting | strangers | preamble and TLS | always
#[test]
fn strangers_neither_enter_nor_keep_the_peer_out() {
    for tls in [false, true] {
        let mut open = Vec::new();
        let (a, b) = meet(&sides(tls), (2, 2), |address| {
            // Silent connections, more than may be in the process of opening.
            for _ in 0..80 {
                open.push(TcpStream::connect(address).unwrap());
            }
            for noise in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &[0xff; 4096], b"SYMBOLON"] {
                let mut socket = TcpStream::connect(address).unwrap();
                let _ = socket.write_all(noise);
                open.push(socket);
            }
            drop(TcpStream::connect(address).unwrap());
        });
        let (mut a, mut b) = (a.unwrap(), b.unwrap());
        a[1].send("x", b"1").unwrap();
        a[1].flush().unwrap();
        assert_eq!(b[1].recv("x", 1).unwrap(), b"1");
        drop(open);
    }
}

/// Cheat: 2, network | connecting | a flood of connections that say nothing | of too many, one of
/// the network with the most gives way | always
#[test]
fn the_peer_gets_through_a_flood() {
    for tls in [false, true] {
        let over = AtomicBool::new(false);
        let calls = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (a, b) = meet(&sides(tls), (2, 2), |address| {
                for _ in 0..2 {
                    let (over, calls, address) = (&over, &calls, address.to_string());
                    scope.spawn(move || {
                        let mut open = VecDeque::new();
                        while !over.load(Ordering::Relaxed) {
                            let Ok(mut socket) = TcpStream::connect(&address) else { break };
                            let _ = socket.write_all(&[0x16, 3, 1]);
                            open.push_back(socket);
                            // More than the listening side handles, and fewer than this process may
                            // open.
                            if open.len() > 200 {
                                open.pop_front();
                            }
                            calls.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                while calls.load(Ordering::Relaxed) < 300 {
                    thread::yield_now();
                }
            });
            over.store(true, Ordering::Relaxed);
            let (mut a, mut b) = (a.unwrap(), b.unwrap());
            b[1].send("x", b"1").unwrap();
            b[1].flush().unwrap();
            assert_eq!(a[1].recv("x", 1).unwrap(), b"1");
        });
    }
}

/// Cheat: 2, network | connecting | a dripping stranger | the time-out | always
#[test]
fn a_dripping_stranger_is_cut_off() {
    let sides = sides(false);
    let mut short = sides.listening.0.clone();
    short.connect_timeout = Duration::from_millis(300);
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr();
    let mut socket = TcpStream::connect(address).unwrap();
    thread::scope(|scope| {
        let (short, peer) = (&short, &sides.listening.1);
        scope.spawn(move || listener.accept_lanes(short, peer, 1).unwrap_err());
        let begun = Instant::now();
        // 64 bytes at this rate would take more than three seconds.
        for byte in crate::tests::preamble_bytes() {
            if socket.write_all(&[byte]).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(50));
            if begun.elapsed() > Duration::from_secs(1) {
                break;
            }
        }
        let _ = socket.set_read_timeout(Some(Duration::from_secs(5)));
        assert!(matches!(socket.read(&mut [0]), Ok(0) | Err(_)), "closed by the listening side");
    });
}

/// Cheat: 2, network | TLS | another key | the pinned key | always
#[test]
fn wrong_keys_are_named_on_both_sides() {
    // The dialling side pins a key other than the listening side's.
    let mut wrong = sides(true);
    let right = wrong.dialling.1.keys[0].fingerprint;
    let pinned = Fingerprint([0xab; 32]);
    wrong.dialling.1.keys = vec![pinned.into()];
    wrong.listening.0.connect_timeout = Duration::from_millis(1500);
    let (a, b) = meet(&wrong, (1, 1), |_| {});
    let expected = format!("the peer's key has fingerprint {right}, expected {pinned}");
    assert_eq!(b.unwrap_err().to_string(), expected);
    let text = a.unwrap_err().to_string();
    assert!(text.contains("no answer from party 1") && text.contains("refused our key"), "{text}");

    // The listening side pins a key other than the dialling side's.
    let mut wrong = sides(true);
    let right = wrong.listening.1.keys[0].fingerprint;
    wrong.listening.1.keys = vec![pinned.into()];
    wrong.listening.0.connect_timeout = Duration::from_millis(1500);
    let (a, b) = meet(&wrong, (1, 1), |_| {});
    let expected = format!("the peer's key has fingerprint {right}, expected {pinned}");
    let text = a.unwrap_err().to_string();
    assert!(text.contains("within 1.5 s") && text.contains(&expected), "{text}");
    let text = b.unwrap_err().to_string();
    assert_eq!(text, "party 0 refused our key: it expects another fingerprint");
}

/// Cheat: 2, network | TLS | a certificate without its key | the TLS handshake | always
#[test]
fn a_certificate_without_its_key_opens_nothing() {
    let [a, b, thief] = [(); 3].map(|()| Identity::generate().unwrap());
    let short = Duration::from_millis(600);
    for listening_lies in [false, true] {
        let (shown_a, shown_b) = match listening_lies {
            true => (impostor(&a, &thief), impostor(&b, &b)),
            false => (impostor(&a, &a), impostor(&b, &thief)),
        };
        let mut ends = Sides {
            listening: (
                Options::tls(0, &shown_a, Meter::new()).unwrap(),
                Peer::pinned(1, b.fingerprint()),
            ),
            dialling: (
                Options::tls(1, &shown_b, Meter::new()).unwrap(),
                Peer::pinned(0, a.fingerprint()),
            ),
        };
        ends.listening.0.connect_timeout = short;
        ends.dialling.0.connect_timeout = short;
        let (x, y) = meet(&ends, (1, 1), |_| {});
        let (x, y) = (x.unwrap_err().to_string(), y.unwrap_err().to_string());
        assert!(x.contains("no answer from party 1"), "{x}");
        assert!(y.contains("no answer from party 0"), "{y}");
        let honest = if listening_lies { y } else { x };
        assert!(honest.contains("BadSignature"), "{honest}");
    }
}

#[test]
fn plain_and_tls_do_not_meet() {
    let (secure, plain) = (sides(true), sides(false));
    let mut mixed = Sides { listening: secure.listening, dialling: plain.dialling };
    mixed.listening.0.connect_timeout = Duration::from_millis(300);
    mixed.dialling.0.connect_timeout = Duration::from_millis(300);
    let (a, b) = meet(&mixed, (1, 1), |_| {});
    assert!(a.unwrap_err().to_string().contains("no answer from party 1"));
    assert!(b.unwrap_err().to_string().contains("no answer from party 0"));
}

/// Cheat: 2, network | preamble | who talks to whom, lanes, version | the preamble | always
#[test]
fn mismatched_preambles_end_in_the_same_words() {
    for tls in [false, true] {
        let (a, b) = meet(&sides(tls), (2, 3), |_| {});
        let (a, b) = (a.unwrap_err().to_string(), b.unwrap_err().to_string());
        assert_eq!(a, "the parties disagree on the number of lanes: ours 2, theirs 3");
        assert_eq!(b, "the parties disagree on the number of lanes: ours 3, theirs 2");

        let mut same = sides(tls);
        same.dialling.0.me = 0.into();
        same.dialling.1.party = 1.into();
        let (a, b) = meet(&same, (1, 1), |_| {});
        for error in [a.unwrap_err(), b.unwrap_err()] {
            assert!(error.to_string().contains("both parties claim to be party 0"), "{error}");
        }

        let mut third = sides(tls);
        third.dialling.0.me = 2.into();
        // Over plain TCP this may be anybody, so the wait continues to its end.
        third.listening.0.connect_timeout = if tls { WAIT } else { Duration::from_millis(500) };
        let (a, b) = meet(&third, (1, 1), |_| {});
        let told = if tls { "theirs party 2 calls party 0" } else { "party 2 called party 0" };
        let a = a.unwrap_err().to_string();
        assert!(a.contains(told), "{a}");
        assert!(b.unwrap_err().to_string().contains("ours party 2 calls party 0"));
    }
}

#[test]
fn an_absent_peer_is_reported() {
    let Sides { listening: (mut a, to_b), dialling: (mut b, to_a) } = sides(true);
    a.connect_timeout = Duration::from_millis(150);
    b.connect_timeout = Duration::from_millis(150);
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    let error = listener.accept_lanes(&a, &to_b, 1).unwrap_err().to_string();
    assert_eq!(error, format!("no answer from party 1 at {address} within 0.15 s"));
    drop(listener);
    let error = connect_lanes(&b, &address, &to_a, 1).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("no answer from party 0 at {address} within 0.15 s")),
        "{error}"
    );
    assert!(Listener::bind("no such host:1").is_err());
}

#[test]
fn the_dialling_side_may_come_first() {
    // Finds a free port, and releases it for a moment.
    let address = Listener::bind("127.0.0.1:0").unwrap().local_addr().to_string();
    let Sides { listening: (a, to_b), dialling: (b, to_a) } = sides(true);
    thread::scope(|scope| {
        let dialled = scope.spawn(|| connect_lanes(&b, &address, &to_a, 2).unwrap());
        thread::sleep(Duration::from_millis(60));
        let listener = Listener::bind(&address).unwrap();
        assert_eq!(listener.accept_lanes(&a, &to_b, 2).unwrap().len(), 2);
        assert_eq!(dialled.join().unwrap().len(), 2);
    });
}

/// Over plain TCP anybody can send a preamble. One that no peer would send must not end the wait
/// for the peer.
/// Cheat: a stranger | plain TCP preamble | party numbers that no peer would send | dropped; the
/// wait goes on | always
#[test]
fn a_plain_preamble_with_nonsensical_numbers_ends_nothing() {
    use crate::preamble::{PREAMBLE, Preamble, Verdict, WIRE_VERSION};
    use std::io::{Read, Write};
    let sides = sides(false);
    let numbers = [(7, 0, WIRE_VERSION), (u16::MAX, u16::MAX, WIRE_VERSION), (1, 9, 1), (5, 0, 77)];
    let (a, b) = meet(&sides, (1, 1), |address| {
        for (sender, receiver, version) in numbers {
            let token = [3; 32];
            let verdict = Verdict::Hello;
            let (lane, lanes) = (0, 1);
            let preamble = Preamble {
                version,
                verdict,
                sender: sender.into(),
                receiver: receiver.into(),
                lane,
                lanes,
                token,
            };
            let mut stranger = TcpStream::connect(address).unwrap();
            stranger.write_all(&preamble.encode()).unwrap();
            let mut answer = [0; PREAMBLE];
            stranger.read_exact(&mut answer).unwrap();
            assert_eq!(Preamble::decode(&answer).unwrap().verdict, Verdict::Refused);
        }
    });
    assert_eq!((a.unwrap().len(), b.unwrap().len()), (1, 1));
}

#[test]
fn several_parties_call_one_listener() {
    for tls in [false, true] {
        let keys: Vec<_> = (0..4).map(|_| Identity::generate().unwrap()).collect();
        let options = |me: u16| match tls {
            true => Options::tls(me, &keys[usize::from(me)], Meter::new()).unwrap(),
            false => Options::insecure_plain_tcp(me, Meter::new()),
        };
        let peer = |party: u16| Peer::pinned(party, keys[usize::from(party)].fingerprint());
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        thread::scope(|scope| {
            let (address, peer) = (&address, &peer);
            for me in [3, 1, 2] {
                let options = options(me);
                scope.spawn(move || {
                    let mut lanes = connect_lanes(&options, address, &peer(0), 2).unwrap();
                    lanes[1].send("me", &[me as u8]).unwrap();
                    lanes[1].flush().unwrap();
                    // Keeps the lanes open until the other side has read.
                    lanes[0].recv("bye", 0).unwrap();
                });
            }
            let peers = [peer(1), peer(2), peer(3)];
            let all = listener.accept_parties(&options(0), &peers, 2).unwrap();
            for (party, mut lanes) in (1..).zip(all) {
                assert_eq!(lanes[0].peer(), party);
                assert_eq!(lanes[1].recv("me", 1).unwrap(), [party as u8]);
                lanes[0].send("bye", b"").unwrap();
            }
        });
    }
}

#[test]
fn a_peer_that_died_while_connecting_may_come_again() {
    let sides = sides(true);
    let (a, b) = meet(&sides, (2, 2), |address| {
        // Connects the first of two lanes, and then nothing more.
        let (options, peer) = &sides.dialling;
        crate::dial::half_connect(options, address, peer, 2);
    });
    assert_eq!((a.unwrap().len(), b.unwrap().len()), (2, 2));
}

/// Party 1 connects, dies, and comes again before party 2 has come.
#[test]
fn a_peer_that_died_after_connecting_may_come_again() {
    for tls in [false, true] {
        let keys: Vec<_> = (0..3).map(|_| Identity::generate().unwrap()).collect();
        let options = |me: u16| match tls {
            true => Options::tls(me, &keys[usize::from(me)], Meter::new()).unwrap(),
            false => Options::insecure_plain_tcp(me, Meter::new()),
        };
        let peer = |party: u16| Peer::pinned(party, keys[usize::from(party)].fingerprint());
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        thread::scope(|scope| {
            let peers = [peer(1), peer(2)];
            let accepting =
                scope.spawn(move || listener.accept_parties(&options(0), &peers, 1).unwrap());
            crate::dial::half_connect(&options(1), &address, &peer(0), 1);
            let dial = |me: u16| connect_lanes(&options(me), &address, &peer(0), 1).unwrap();
            let (mut one, _two) = (dial(1), dial(2));
            one[0].send("me", &[1]).unwrap();
            one[0].flush().unwrap();
            let mut all = accepting.join().unwrap();
            assert_eq!(all[0][0].recv("me", 1).unwrap(), [1]);
        });
    }
}

/// The port is open before anybody answers there. A peer that gave up meanwhile and dials again is
/// not confused with its first attempt.
#[test]
fn attempts_that_were_given_up_do_not_count() {
    let sides = sides(false);
    let ((accepting, caller), (dialling, callee)) = (&sides.listening, &sides.dialling);
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    for _ in 0..3 {
        let mut given_up = TcpStream::connect(&address).unwrap();
        let preamble = dialling.preamble(callee.party, 0, 1, [7; 32]);
        given_up.write_all(&preamble.encode()).unwrap();
    }
    thread::scope(|scope| {
        let accepted = scope.spawn(move || listener.accept_lanes(accepting, caller, 1).unwrap());
        let mut dialled = connect_lanes(dialling, &address, callee, 1).unwrap();
        dialled[0].send("me", &[1]).unwrap();
        dialled[0].flush().unwrap();
        assert_eq!(accepted.join().unwrap()[0].recv("me", 1).unwrap(), [1]);
    });
}

#[test]
fn a_link_over_tls_delays() {
    let mut sides = sides(true);
    sides.listening.0.link = Some("20ms,1gbit".parse().unwrap());
    sides.dialling.0.link = sides.listening.0.link;
    let (a, b) = meet(&sides, (1, 1), |_| {});
    let (mut a, mut b) = (a.unwrap().remove(0), b.unwrap().remove(0));
    thread::scope(|scope| {
        scope.spawn(move || {
            b.recv("q", 1).unwrap();
            b.send("a", b"x").unwrap();
        });
        let begun = Instant::now();
        a.send("q", b"x").unwrap();
        a.recv("a", 1).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(20));
    });
}

#[test]
fn sessions_over_the_network_agree() {
    for tls in [false, true] {
        let (mut a, mut b) = one_lane(tls);
        let hello = Hello::new([0, 1]).term("protocol", "wrk");
        let ids = thread::scope(|scope| {
            let other = scope.spawn(|| handshake(&mut a, &hello).unwrap());
            (handshake(&mut b, &hello).unwrap(), other.join().unwrap())
        });
        assert_eq!(ids.0, ids.1);
    }
}

#[test]
fn endless_timeouts_are_only_long() {
    let mut sides = sides(false);
    for (options, _) in [&mut sides.listening, &mut sides.dialling] {
        options.connect_timeout = Duration::MAX;
        options.timeout = Duration::MAX;
    }
    let (a, b) = meet(&sides, (1, 1), |_| {});
    let (mut a, mut b) = (a.unwrap().remove(0), b.unwrap().remove(0));
    a.send("x", b"1").unwrap();
    a.flush().unwrap();
    assert_eq!(b.recv("x", 1).unwrap(), b"1");
}

/// Forwards connections to `target`, and flips a bit in byte `at` of the first connection.
fn flipping_proxy(target: String, at: usize) -> String {
    let door = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = door.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for index in 0.. {
            let (Ok((near, _)), Ok(far)) = (door.accept(), TcpStream::connect(&target)) else {
                return;
            };
            let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
            thread::spawn(move || pass_bytes(near, far, (index == 0).then_some(at)));
            thread::spawn(move || pass_bytes(back.0, back.1, None));
        }
    });
    address
}

fn pass_bytes(mut from: TcpStream, mut to: TcpStream, flip: Option<usize>) {
    let mut buffer = [0; 4096];
    let mut passed = 0;
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        match flip.and_then(|at| at.checked_sub(passed)) {
            Some(at) if at < n => buffer[at] ^= 1,
            _ => {}
        }
        passed += n;
        if to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// Cheat: 2, network | TLS | any flipped bit | TLS 1.3 | always
#[test]
fn tls_notices_every_flipped_bit() {
    // In the first message of the handshake, in its encrypted part, and in the data.
    for (at, survives) in [(60, true), (400, true), (50_000, false)] {
        let sides = sides(true);
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = flipping_proxy(listener.local_addr().to_string(), at);
        thread::scope(|scope| {
            let (options, peer) = &sides.dialling;
            scope.spawn(move || {
                let mut lanes = connect_lanes(options, &address, peer, 1).unwrap();
                lanes[0].send("data", &[7; 100_000]).unwrap();
            });
            let (options, peer) = &sides.listening;
            let mut lanes = listener.accept_lanes(options, peer, 1).unwrap();
            match lanes[0].recv("data", 100_000) {
                Ok(data) => assert!(survives && data == [7; 100_000]),
                Err(error) => {
                    assert!(!survives && error.to_string().contains("TLS"), "{at}: {error}");
                }
            }
        });
    }
}
