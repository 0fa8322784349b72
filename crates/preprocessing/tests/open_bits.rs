//! Openings of shares with their MACs: honest, and with a cheating peer.

use std::iter;

use symbolon_preprocessing::open_bits::{OpeningLabels, ShareOpening, recv_bits_and_digest};
use symbolon_preprocessing::{AuthShares, PeerIndex, Share};
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::adversary::fresh;
use symbolon_transport::{Check, Error, Message, Meter, Result, memory_pair};

use crate::mesh::{self, Lanes, assert_caught, assert_caught_by_one_of, message};

const LABELS: OpeningLabels = OpeningLabels {
    kind: Message::of_test("bits"),
    check: Check::new("test-mac", "test MAC check", ""),
};

fn prg(seed: u128) -> Prg {
    Prg::from_seed(Block(fresh(seed)))
}

/// Deals shares of random bits under the Δ of each of the parties.
fn deal(parties: usize, n: usize) -> (Vec<AuthShares>, Vec<Block>) {
    let mut prg = prg(8);
    let deltas: Vec<Block> = (0..parties).map(|_| prg.block()).collect();
    let mut shares = vec![AuthShares::zeros(n, parties - 1); parties];
    for k in 0..n {
        for me in 0..parties {
            let bit = prg.bool();
            shares[me].bits.set(k, bit);
            for peer in (0..parties).filter(|&peer| peer != me) {
                let key = prg.block();
                let index = |party: usize, of: usize| PeerIndex::of(party as u16, of as u16).get();
                shares[me].towards[index(peer, me)].macs[k] = key ^ deltas[peer].select(bit);
                shares[peer].towards[index(me, peer)].keys[k] = key;
            }
        }
    }
    (shares, deltas)
}

/// Opens what `push` makes of `n` dealt shares among `parties` parties, after `adversary` has
/// changed their channels.
fn open_as(
    parties: u16,
    n: usize,
    adversary: impl FnOnce(&mut [Lanes]),
    push: impl Fn(usize, &AuthShares, &mut ShareOpening) + Sync,
) -> Vec<Result<BitVec>> {
    let (shares, deltas) = deal(usize::from(parties), n);
    let mut lanes = mesh::mesh(parties, 1);
    adversary(&mut lanes);
    mesh::run(lanes, |lanes| {
        let channels = &mut lanes[0][..];
        let me = usize::from(channels[0].me());
        let mut opening = ShareOpening::new(usize::from(parties) - 1);
        push(me, &shares[me], &mut opening);
        opening.send(channels, &LABELS)?.receive(channels, &LABELS, deltas[me])
    })
}

/// Opens dealt shares, one by one.
fn open_among(parties: u16, n: usize, adversary: impl FnOnce(&mut [Lanes])) -> Vec<Result<BitVec>> {
    open_as(parties, n, adversary, |_, shares, opening| {
        for k in 0..n {
            opening.push_bits(shares.bits.get(k).into(), 1);
            for (peer, towards) in PeerIndex::all(shares.towards.len()).zip(&shares.towards) {
                opening.extend_towards(peer, iter::once([towards.macs[k], towards.keys[k]]));
            }
        }
    })
}

#[test]
fn opened_shares_are_the_shared_values() {
    for parties in [2, 3, 5] {
        for n in [0, 1, 8, 77, 2047, 2048, 2049, 4096] {
            let mut value = BitVec::zeros(n);
            deal(usize::from(parties), n)
                .0
                .iter()
                .for_each(|shares| value.xor_assign(&shares.bits));
            let opened = open_among(parties, n, |_| ());
            assert!(opened.into_iter().all(|opened| opened.unwrap() == value));
        }
    }
}

/// Each opened bit, each bit of the digest, and each bit after the last is checked.
/// Cheat: 2 | App. A.3 | every bit of an opening, changed | the opening's MAC | always
#[test]
fn every_changed_bit_of_an_opening_is_caught() {
    const N: usize = 13;
    for bit in 0..8 * (2 + 32) {
        let adversary = message("bits", move |p| p[bit / 8] ^= 1 << (bit % 8));
        let ended = open_among(2, N, |lanes| mesh::cheat(&mut lanes[0], 1, adversary));
        assert_caught(&ended, &[0], LABELS.check);
    }
    // MACs are hashed in pieces, so this covers positions in each piece.
    for bit in [0, 2047, 2048, 4095, 4096, 4999] {
        let adversary = message("bits", move |p| p[bit / 8] ^= 1 << (bit % 8));
        let ended = open_among(2, 5000, |lanes| mesh::cheat(&mut lanes[0], 1, adversary));
        assert_caught(&ended, &[0], LABELS.check);
    }
}

/// A lie towards one peer only, and the same lie towards all.
/// Cheat: 3, 5; one | App. A.3 | lies towards one and towards all | the opening's MAC | always
#[test]
fn lies_towards_one_and_all_are_caught() {
    for n in [3, 5] {
        for cheater in 0..n {
            let lie = || message("bits", |p| p[0] ^= 4);
            let victims: Vec<u16> = (0..n).filter(|&peer| peer != cheater).collect();
            for victims in [&victims[..1], &victims[n as usize - 2..], &victims] {
                let ended = open_among(n, 20, |lanes| {
                    for &victim in victims {
                        mesh::cheat(&mut lanes[usize::from(cheater)], victim, lie());
                    }
                });
                // The others may have received everything they needed.
                assert_caught_by_one_of(&ended, victims, cheater, LABELS.check);
            }
        }
    }
}

/// Opens sums of two lists, in pieces by all but the first party, which adds share by share; the
/// digests are the same.
fn open_sums_among(
    parties: u16,
    n: usize,
    adversary: impl FnOnce(&mut [Lanes]),
) -> Vec<Result<BitVec>> {
    open_as(parties, 2 * n, adversary, |me, shares, opening| {
        let [x, y] = [0..n, n..2 * n].map(|range| shares.slice(range));
        if me > 0 {
            opening.push_sums([&x, &y], 0..n / 3);
            opening.push_sums([&x, &y], n / 3..n);
            return;
        }
        for k in 0..n {
            opening.push_bits((x.bits.get(k) ^ y.bits.get(k)).into(), 1);
            let both = x.towards.iter().zip(&y.towards);
            for (peer, (x, y)) in PeerIndex::all(y.towards.len()).zip(both) {
                let sums = [x.macs[k] ^ y.macs[k], x.keys[k] ^ y.keys[k]];
                opening.extend_towards(peer, iter::once(sums));
            }
        }
    })
}

#[test]
fn sums_of_lists_are_opened_and_checked() {
    for (parties, n) in [(2, 0), (2, 1), (3, 70), (2, 3000), (2, 3 * 2048), (3, 5000)] {
        let mut both = BitVec::zeros(2 * n);
        deal(usize::from(parties), 2 * n).0.iter().for_each(|s| both.xor_assign(&s.bits));
        let mut expected = both.slice(0..n);
        expected.xor_assign(&both.slice(n..2 * n));
        let opened = open_sums_among(parties, n, |_| ());
        assert!(opened.into_iter().all(|opened| opened.unwrap() == expected), "{parties}, {n}");
    }
    for cheater in [0, 1] {
        for bit in [0, 999, 1000, 2047, 2048, 2999] {
            let adversary = message("bits", move |p| p[bit / 8] ^= 1 << (bit % 8));
            let ended = open_sums_among(2, 3000, |lanes| {
                mesh::cheat(&mut lanes[usize::from(cheater)], 1 - cheater, adversary);
            });
            assert_caught(&ended, &[cheater], LABELS.check);
        }
    }
}

/// Our own opening sent back: its bits are known, but not the MACs on them.
/// Cheat: 2 | App. A.3 | our own opening echoed | the opening's MAC | always
#[test]
fn an_echoed_opening_is_caught() {
    let (shares, deltas) = deal(2, 20);
    let (mut cheater, honest) = memory_pair(Meter::new(), Meter::new());
    let mut honest = [honest];
    let mut opening = ShareOpening::new(1);
    for k in 0..20 {
        let Share { bit, mac, key } = shares[1].pair(k, PeerIndex::of(0, 1));
        opening.push_bits(bit.into(), 1);
        opening.extend_towards(PeerIndex::of(0, 1), iter::once([mac.0, key.0]));
    }
    let awaited = opening.send(&mut honest, &LABELS).unwrap();
    let ours = cheater.recv("bits", 3 + 32).unwrap();
    cheater.send("bits", &ours).unwrap();
    cheater.flush().unwrap();
    let refused = awaited.receive(&mut honest, &LABELS, deltas[1]);
    assert_eq!(refused.err(), Some(Error::misbehaved(0, LABELS.check)));
}

#[test]
fn packed_bits_have_one_form_only() {
    for n in [1, 7, 8, 9] {
        let (mut cheater, mut honest) = memory_pair(Meter::new(), Meter::new());
        let garbage = n % 8 != 0;
        let mut message = vec![0; BitVec::byte_len(n) + 32];
        message[(n - 1) / 8] = 0x80;
        cheater.send("bits", &message).unwrap();
        cheater.flush().unwrap();
        let result = recv_bits_and_digest(&mut honest, &LABELS, n);
        if garbage {
            assert_eq!(result.err(), Some(Error::misbehaved(0, LABELS.check)));
        } else {
            assert!(result.unwrap().0.get(n - 1));
        }
    }
}
