//! Matching and different hellos.

use std::thread;

use proptest::prelude::*;

use super::*;
use crate::Culprit;
use crate::adversary::{Action, FnAdversary};
use crate::tests::pair;

fn example() -> Hello {
    Hello::new([0, 1])
        .term("protocol", "wrk")
        .term("rho", 40)
        .term("circuit", "ab12")
        .negotiable("ot", None::<&str>)
        .negotiable("form", Some("rows"))
}

fn agree(
    (mut a, mut b): (Channel, Channel),
    hello_a: &Hello,
    hello_b: &Hello,
) -> (Result<SessionId>, Result<SessionId>) {
    thread::scope(|scope| {
        let other = scope.spawn(move || handshake(&mut a, hello_a));
        let mine = handshake(&mut b, hello_b);
        (other.join().unwrap(), mine)
    })
}

#[test]
fn equal_hellos_agree_and_no_session_comes_twice() {
    let (a, b) = agree(pair(), &example(), &example());
    let first = a.unwrap();
    assert_eq!(first, b.unwrap());
    let (a, _) = agree(pair(), &example(), &example());
    assert_ne!(first, a.unwrap());
}

#[test]
fn both_sides_can_begin_before_either_waits() {
    let ((mut a, mut b), hello) = (pair(), example());
    let begun = [&mut a, &mut b].map(|channel| {
        let begun = Handshake::begin(channel, &hello).unwrap();
        channel.flush().unwrap();
        begun
    });
    let [on_a, on_b] = begun;
    assert_eq!(on_a.finish(&mut a), on_b.finish(&mut b));
}

/// Cheat: 2 | handshake | another version, parties or term | the difference is named to both |
/// always
#[test]
fn the_first_difference_is_named_on_both_sides() {
    let with = |f: fn(&mut Hello)| {
        let mut hello = example();
        f(&mut hello);
        hello
    };
    let version = format!("the protocol version: ours 999, theirs {PROTOCOL_VERSION}");
    let cases = [
        (with(|h| h.version = 999), version.as_str()),
        (with(|h| h.parties.push(2.into())), "the parties: ours 0, 1, 2, theirs 0, 1"),
        (with(|h| h.terms[2].1 = "ff".into()), "circuit: ours ff, theirs ab12"),
        (with(|h| h.terms[1].1 = "80".into()), "rho: ours 80, theirs 40"),
        (with(|h| drop(h.terms.remove(1))), "rho: ours absent, theirs 40"),
        (with(|h| drop(h.terms.pop())), "circuit: ours absent, theirs ab12"),
        (with(|h| h.terms.swap(0, 1)), "the order of the terms"),
        (with(|h| h.terms.insert(0, ("aes".into(), "1".into()))), "aes: ours 1, theirs absent"),
        (with(|h| h.open[1].1 = Some("halves".into())), "form: ours halves, theirs rows"),
        (with(|h| drop(h.open.remove(0))), "ot: ours absent, theirs auto"),
        (with(|h| drop(h.open.pop())), "form: ours absent, theirs rows"),
        (with(|h| h.open.swap(0, 1)), "the order of the terms"),
    ];
    for (hello, text) in cases {
        let (a, b) = agree(pair(), &hello, &example());
        let (a, b) = (a.unwrap_err(), b.unwrap_err());
        assert!(a.to_string().contains(text), "{a}");
        match (a, b) {
            (
                Error::PeerIncompatible { what: wa, ours: oa, theirs: ta },
                Error::PeerIncompatible { what: wb, ours: ob, theirs: tb },
            ) => assert_eq!((wa, oa, ta), (wb, tb, ob)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_difference_between_circuits_is_told_by_its_item_and_with_both_names() {
    let hello = |inputs: &str, name: &str| {
        Hello::new([0, 1]).term("circuit input", inputs).term("circuit", "ab").note("circuit", name)
    };
    let (a, b) = agree(pair(), &hello("x: 8\ny: 8", "one"), &hello("x: 8\ny: 9", "other"));
    let texts = [a, b].map(|ended| ended.unwrap_err().to_string());
    let expected = |ours, theirs| {
        format!("the parties disagree on circuit input 1: ours {ours}, theirs {theirs}")
    };
    assert_eq!(texts[0], expected("y: 8 (one)", "y: 9 (other)"));
    assert_eq!(texts[1], expected("y: 9 (other)", "y: 8 (one)"));
    let (a, _) = agree(pair(), &hello("x: 8\ny: 8", "one"), &hello("x: 8", "other"));
    assert!(a.unwrap_err().to_string().ends_with("1: ours y: 8 (one), theirs none (other)"));
    // Different notes alone are not a difference, and long notes are truncated.
    let long = "é".repeat(MAX_NOTE);
    let (a, b) = agree(pair(), &hello("x: 8", "one"), &hello("x: 8", &long));
    assert_eq!(a.unwrap(), b.unwrap());
    assert_eq!(hello("", &long).notes[0].1.len(), MAX_NOTE);
}

#[test]
fn a_term_left_open_goes_with_every_value_and_is_told() {
    let hello = |ot: Option<&str>, form: Option<&str>| {
        Hello::new([0, 1]).negotiable("ot", ot).negotiable("form", form)
    };
    let (mut a, mut b) = pair();
    let (one, other) = (hello(Some("iknp"), None), hello(None, None));
    let (a, b) = thread::scope(|scope| {
        let one = scope.spawn(move || handshake_open(&mut a, &one).unwrap());
        (handshake_open(&mut b, &other).unwrap(), one.join().unwrap())
    });
    assert_eq!(a.id, b.id);
    assert_eq!((a.open, b.open), (vec![Some("iknp".to_string()), None], vec![None, None]));
    // A peer may leave open only terms that are open here.
    let strict = Hello::new([0, 1]).term("rho", 40);
    let (a, _) = agree(pair(), &strict, &Hello::new([0, 1]).term("rho", AUTO));
    assert_eq!(a, Err(Error::incompatible("rho", "40", AUTO)));
    let (a, _) = agree(pair(), &strict, &Hello::new([0, 1]).negotiable("rho", None::<&str>));
    assert_eq!(a, Err(Error::incompatible("rho", "40", "absent")));
}

/// Cheat: 2 | handshake | our nonce echoed; another party's hello | `handshake` | always
#[test]
fn echoes_and_impostors_are_refused() {
    // A peer that sends back whatever it receives.
    let (mut a, mut b) = pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            let nonce = b.recv_array::<32>(NONCE).unwrap();
            let hello = b.recv_bounded(HELLO, MAX_HELLO).unwrap();
            b.send(NONCE, &nonce).unwrap();
            b.send(HELLO, &hello).unwrap();
            b.close().unwrap();
        });
        let error = handshake(&mut a, &example()).unwrap_err().to_string();
        assert!(error.contains("echoed our own nonce"), "{error}");
    });
    // A peer that echoes the hello under its own nonce.
    let (mut a, mut b) = pair();
    b.send(NONCE, &[1; 32]).unwrap();
    b.send(HELLO, &example().encode(0.into()).unwrap()).unwrap();
    b.flush().unwrap();
    let error = handshake(&mut a, &example()).unwrap_err().to_string();
    assert!(error.contains("its hello is party 0's"), "{error}");
}

/// Cheat: 2 | handshake | a malformed hello | `handshake` | always
#[test]
fn malformed_hellos_are_the_peers_fault() {
    for cut in [0, 3, 5, 10, 20] {
        let (a, mut b) = pair();
        b.set_adversary(Box::new(FnAdversary::new().on_message(HELLO, 0, move |hello| {
            hello.truncate(cut);
            Action::Send
        })));
        let (a, _) = agree((a, b), &example(), &example());
        assert!(matches!(
            a,
            Err(Error::PeerMisbehaved { culprit: Culprit::Party(party), check: HANDSHAKE, .. }) if party == 1
        ));
    }
    let mut whole = example().encode(1.into()).unwrap();
    assert!(decode(&whole).is_some());
    whole.push(0);
    assert!(decode(&whole).is_none(), "something after it");
}

/// Cheat: 2 | handshake | a relay between two connections | the session's id | always
#[test]
fn the_connection_under_a_session_is_part_of_it() {
    // The same nonces and hellos over two connections: a relay between them gains nothing.
    let id = |binding: Option<[u8; 32]>| {
        let side = |party, nonce| Side { party, nonce: [nonce; 32], hello: vec![1, 2] };
        session_id(side(0.into(), 5), side(1.into(), 6), binding.as_ref())
    };
    assert_eq!(id(Some([1; 32])), id(Some([1; 32])));
    assert_ne!(id(Some([1; 32])), id(Some([2; 32])));
    assert_ne!(id(Some([0; 32])), id(None));
}

#[test]
fn a_hello_is_of_a_bounded_length() {
    let hello = |value: usize| Hello::new([0, 1]).term("x", "y".repeat(value));
    let room = MAX_HELLO - hello(0).encode(0.into()).unwrap().len();
    let longest = hello(room).encode(0.into()).unwrap();
    assert_eq!(longest.len(), MAX_HELLO);
    assert_eq!(decode(&longest).unwrap().hello, hello(room));
    // Adds a letter and adjusts the length in front of the text. The count of open terms follows
    // the text.
    let mut longer = longest;
    let at = longer.len() - 2 - room - 2;
    longer[at..at + 2].copy_from_slice(&(room as u16 + 1).to_le_bytes());
    longer.insert(at + 2, b'y');
    assert!(decode(&longer).is_none());
}

#[test]
fn the_name_of_a_session_depends_on_all_that_was_said() {
    let id = |parties: [u16; 2], nonces: [u8; 2], hellos: [&[u8]; 2]| {
        let side = |i: usize| Side {
            party: parties[i].into(),
            nonce: [nonces[i]; 32],
            hello: hellos[i].to_vec(),
        };
        session_id(side(0), side(1), None)
    };
    let first = id([0, 1], [5, 6], [&[1, 2], &[1, 2]]);
    assert_eq!(first, id([1, 0], [6, 5], [&[1, 2], &[1, 2]]), "both sides name it alike");
    for other in [
        id([0, 2], [5, 6], [&[1, 2], &[1, 2]]),
        id([0, 1], [7, 6], [&[1, 2], &[1, 2]]),
        id([0, 1], [5, 7], [&[1, 2], &[1, 2]]),
        id([0, 1], [5, 6], [&[1, 3], &[1, 2]]),
        id([0, 1], [5, 6], [&[1, 2], &[1, 3]]),
        id([0, 1], [5, 6], [&[1, 2, 0], &[1, 2]]),
    ] {
        assert_ne!(first, other);
    }
}

#[test]
fn our_own_mistakes_are_ours() {
    let long = example().term("x", "y".repeat(MAX_HELLO));
    let (mut a, _b) = pair();
    assert!(matches!(handshake(&mut a, &long), Err(Error::InvalidInput(_))));
    let twice = example().term("rho", 80);
    assert!(matches!(handshake(&mut a, &twice), Err(Error::Internal(_))));
}

proptest! {
    #[test]
    fn hellos_survive_the_way(
        sender: u16,
        parties in proptest::collection::vec(any::<u16>(), 0..20),
        values in proptest::collection::vec(".{0,40}", 0..10),
        open in proptest::collection::vec(proptest::option::of(".{0,40}"), 0..4),
    ) {
        let mut hello = Hello::new(parties);
        for (i, value) in values.into_iter().enumerate() {
            hello = hello.term(format!("term {i}"), value);
        }
        for (i, value) in open.into_iter().enumerate() {
            hello = hello.negotiable(format!("open {i}"), value.filter(|value| value != AUTO));
        }
        let bytes = hello.encode(sender.into()).unwrap();
        prop_assert_eq!(decode(&bytes), Some(Received { sender: sender.into(), hello }));
        for cut in 4..bytes.len() {
            prop_assert_eq!(decode(&bytes[..cut]), None);
        }
    }

    #[test]
    fn any_bytes_decode_or_do_not(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        versioned: bool,
    ) {
        if versioned && bytes.len() >= 12 {
            bytes[..4].copy_from_slice(&PROTOCOL_VERSION.to_le_bytes());
            let terms = bytes[10] % 4;
            bytes[6..12].copy_from_slice(&[1, 0, 0, 0, terms, 0]);
        }
        if let Some(received) = decode(&bytes)
            && received.hello.version == PROTOCOL_VERSION
        {
            let lists = [received.hello.texts(), received.hello.open_texts()].concat();
            let names: std::collections::HashSet<_> =
                lists.iter().map(|(name, _)| name).collect();
            if names.len() == lists.len() {
                prop_assert_eq!(received.hello.encode(received.sender).unwrap(), bytes);
            }
        }
    }
}
