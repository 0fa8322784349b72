//! Commit and open, coin tosses, and openings with MACs: honest, and with a cheating peer.
#![allow(missing_docs)]

use std::time::Duration;

use symbolon_preprocessing::exchange::{
    Committed, Opened, ShareOpening, committed, recv_bits_and_digest, toss_coin,
};
use symbolon_preprocessing::{Preprocessor, Share, Shares};
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::bend::{Action, FnBend};
use symbolon_transport::{Channel, Error, Meter, Result, memory_lanes, memory_pair};

const SESSION: [u8; 32] = [4; 32];
const NAMES: Committed = Committed { commit: "c", open: "o", check: "test commitment" };
const OPENED: Opened = Opened { kind: "bits", check: "test MAC check" };

fn prg(seed: u128) -> Prg {
    Prg::from_seed(Block(seed))
}

fn channels() -> [Channel; 2] {
    let (a, b) = memory_pair(Meter::new(), Meter::new());
    [a, b].map(|mut channel| {
        channel.set_timeout(Duration::from_secs(20));
        channel
    })
}

fn both<T: Send>(
    channels: [Channel; 2],
    f: impl Fn(&mut Channel) -> Result<T> + Sync,
) -> [Result<T>; 2] {
    std::thread::scope(|scope| {
        let f = &f;
        channels
            .map(|mut channel| scope.spawn(move || f(&mut channel)))
            .map(|thread| thread.join().expect("a party panicked"))
    })
}

/// Both parties, of which party 0 cheats by `bend`; what party 1 ends with.
fn against<T: Send>(bend: FnBend, f: impl Fn(&mut Channel) -> Result<T> + Sync) -> Result<T> {
    let mut channels = channels();
    channels[0].set_bend(Box::new(bend));
    let [_, honest] = both(channels, f);
    honest
}

#[track_caller]
fn assert_caught<T>(result: Result<T>, at: &str) {
    match result {
        Err(Error::PeerMisbehaved { party, check, .. }) => assert_eq!((party, check), (0, at)),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("the cheat went unnoticed"),
    }
}

fn exchange(channel: &mut Channel, index: u64, value: &[u8]) -> Result<Vec<u8>> {
    committed(channel, &NAMES, &SESSION, index, value, &mut prg(u128::from(channel.me())))
}

fn send(f: impl Fn(&mut Vec<u8>) + Send + 'static) -> impl FnMut(&mut Vec<u8>) -> Action + Send {
    move |payload| {
        f(payload);
        Action::Send
    }
}

#[test]
fn each_gets_the_other_s_value() {
    for n in [0, 1, 100] {
        let value = |party: u16| vec![party as u8 + 1; n];
        let [a, b] = both(channels(), |channel| exchange(channel, 0, &value(channel.me())));
        assert_eq!((a.unwrap(), b.unwrap()), (value(1), value(0)));
    }
}

#[test]
fn another_value_or_nonce_than_committed_is_refused() {
    for place in [0, 31, 32, 35] {
        let bend = FnBend::new().on_message("o", 0, send(move |open| open[place] ^= 1));
        assert_caught(against(bend, |channel| exchange(channel, 0, b"same")), NAMES.check);
    }
    let bend = FnBend::new().on_message("c", 0, send(|commitment| commitment[9] ^= 1));
    assert_caught(against(bend, |channel| exchange(channel, 0, b"same")), NAMES.check);
}

/// The same value at another index has another commitment: an old one cannot be used again.
#[test]
fn a_commitment_and_opening_of_another_index_are_refused() {
    let mut old = Vec::new();
    let bend = FnBend::new().on_outgoing(move |_, index, payload| {
        if index == 0 {
            old.push(payload.clone());
        } else {
            payload.clone_from(&old.remove(0));
        }
        Action::Send
    });
    let twice = |channel: &mut Channel| {
        exchange(channel, 0, b"same").map(drop)?;
        exchange(channel, 1, b"same")
    };
    assert_caught(against(bend, twice), NAMES.check);
}

#[test]
fn messages_of_another_length_are_refused() {
    for kind in ["c", "o"] {
        for change in [
            |p: &mut Vec<u8>| p.truncate(p.len() - 1),
            |p: &mut Vec<u8>| p.clear(),
            |p: &mut Vec<u8>| p.push(0),
        ] {
            let bend = FnBend::new().on_message(kind, 0, send(change));
            let result = against(bend, |channel| exchange(channel, 0, b"value"));
            assert_caught(result, "message framing");
        }
    }
}

#[test]
fn a_coin_is_the_same_for_both_and_new_every_time() {
    let [a, b] = both(channels(), |channel| {
        let mut prg = prg(u128::from(channel.me()));
        let toss = |index| Ok(toss_coin(channel, &SESSION, index, &mut prg)?.into_block());
        (0..3).map(toss).collect::<Result<Vec<Block>>>()
    });
    let (a, b) = (a.unwrap(), b.unwrap());
    assert!(a == b);
    assert!(a[0] != a[1] && a[1] != a[2] && a[0] != a[2]);
}

/// A party that always tosses the same cannot fix the coin: the other one's seed is in it.
#[test]
fn one_party_alone_does_not_decide_the_coin() {
    let toss = |other: u128| {
        let [a, _] = both(channels(), |channel| {
            let seed = if channel.me() == 0 { 1 } else { other };
            Ok(toss_coin(channel, &SESSION, 0, &mut prg(seed))?.into_block())
        });
        a.unwrap()
    };
    assert!(toss(2) == toss(2));
    assert!(toss(2) != toss(3));
}

/// Shares of random bits under the Δ of two parties, from a dealer.
fn deal(n: usize) -> ([Shares; 2], [Block; 2]) {
    let mut prg = prg(8);
    let deltas = [prg.block(), prg.block()];
    let mut shares = [Shares::zeros(n), Shares::zeros(n)];
    for k in 0..n {
        let (bits, keys) = ([prg.bool(), prg.bool()], [prg.block(), prg.block()]);
        for me in [0, 1] {
            let mac = keys[1 - me] ^ deltas[1 - me].select(bits[me]);
            shares[me].set(k, Share { bit: bits[me], mac, key: keys[me] });
        }
    }
    (shares, deltas)
}

fn open(n: usize, bend: FnBend) -> [Result<BitVec>; 2] {
    let (shares, deltas) = deal(n);
    let mut channels = channels();
    channels[0].set_bend(Box::new(bend));
    both(channels, |channel| {
        let me = usize::from(channel.me());
        let mut opening = ShareOpening::new();
        (0..n).for_each(|k| opening.push(shares[me].get(k)));
        opening.send(channel, &OPENED)?.receive(channel, &OPENED, deltas[me])
    })
}

#[test]
fn opened_shares_are_the_shared_values() {
    for n in [0, 1, 8, 77] {
        let ([mut a, b], _) = deal(n);
        a.bits.xor_assign(&b.bits);
        let opened = open(n, FnBend::new()).map(Result::unwrap);
        assert!(opened[0] == a.bits && opened[1] == a.bits);
    }
}

/// Each opened bit, and each bit of the digest, is checked; so is every bit behind the last.
#[test]
fn every_bent_bit_of_an_opening_is_caught() {
    const N: usize = 13;
    for bit in 0..8 * (2 + 32) {
        let bend = FnBend::new().on_message("bits", 0, send(move |p| p[bit / 8] ^= 1 << (bit % 8)));
        let [_, honest] = open(N, bend);
        assert_caught(honest, OPENED.check);
    }
}

/// Our own opening sent back: the bits are known, but not their MACs.
#[test]
fn an_echoed_opening_is_caught() {
    let (shares, deltas) = deal(20);
    let [mut cheater, mut honest] = channels();
    let mut opening = ShareOpening::new();
    (0..20).for_each(|k| opening.push(shares[1].get(k)));
    let awaited = opening.send(&mut honest, &OPENED).unwrap();
    honest.flush().unwrap();
    let ours = cheater.recv("bits", 3 + 32).unwrap();
    cheater.send("bits", &ours).unwrap();
    cheater.flush().unwrap();
    assert_caught(awaited.receive(&mut honest, &OPENED, deltas[1]), OPENED.check);
}

#[test]
fn packed_bits_have_one_form_only() {
    for n in [1, 7, 8, 9] {
        let [mut cheater, mut honest] = channels();
        let garbage = n % 8 != 0;
        let mut message = vec![0; BitVec::byte_len(n) + 32];
        message[(n - 1) / 8] = 0x80;
        cheater.send("bits", &message).unwrap();
        cheater.flush().unwrap();
        let result = recv_bits_and_digest(&mut honest, &OPENED, n);
        if garbage {
            assert_caught(result, OPENED.check);
        } else {
            assert!(result.unwrap().0.get(n - 1));
        }
    }
}

/// The whole session, base OTs included, as its users open it.
#[test]
fn a_session_from_nothing_makes_right_shares_and_triples() {
    let (a, b) = memory_lanes((0, Meter::new()), (1, Meter::new()), 2, None).unwrap();
    let party = |mut channels: Vec<Channel>| {
        let mut open = Preprocessor::set_up(&mut channels, &SESSION, 40).unwrap();
        let batch = open.plan(10)[0];
        let triples = open.triples(&mut channels, batch).unwrap();
        (open.delta(), open.shares(&mut channels[0], 9).unwrap(), triples)
    };
    let (a, b) = std::thread::scope(|scope| {
        let b = scope.spawn(|| party(b));
        (party(a), b.join().expect("party 1 panicked"))
    });
    assert!(a.0.lsb() && !b.0.lsb(), "leaky ANDs need the two to differ");
    assert!(a.2.len() >= 10 && a.2.len() == b.2.len());
    for (ours, theirs) in [(&a.1, &b.1), (&a.2.a, &b.2.a), (&a.2.b, &b.2.b), (&a.2.c, &b.2.c)] {
        for k in 0..ours.len() {
            let (ours, theirs) = (ours.get(k), theirs.get(k));
            assert!(ours.mac == theirs.key ^ b.0.select(ours.bit));
            assert!(theirs.mac == ours.key ^ a.0.select(theirs.bit));
        }
    }
    let bit = |x: &Shares, y: &Shares, k| x.bits.get(k) ^ y.bits.get(k);
    for k in 0..a.2.len() {
        assert_eq!(bit(&a.2.c, &b.2.c, k), bit(&a.2.a, &b.2.a, k) & bit(&a.2.b, &b.2.b, k));
    }
}

#[test]
fn a_session_without_lanes_is_refused() {
    let refused = Preprocessor::set_up(&mut [], &SESSION, 40);
    assert!(matches!(refused, Err(Error::InvalidInput(_))));
}
