//! Commit and open, coin tosses, and openings with MACs: honest, and with a cheating peer.
#![allow(missing_docs)]

mod mesh;

use mesh::{Lanes, assert_caught, message};
use symbolon_preprocessing::Shares;
use symbolon_preprocessing::bits::{BROADCAST_CHECK, BroadcastLog, confirm_broadcasts};
use symbolon_preprocessing::exchange::{
    Committed, Opened, ShareOpening, committed, recv_bits_and_digest, toss_coin,
};
use symbolon_primitives::{BitVec, Block, Challenge, CommitContext, Prg, commit};
use symbolon_transport::bend::{Action, FnBend, fresh};
use symbolon_transport::{Channel, Error, Meter, Result, SOMEBODY, memory_pair};

const SESSION: [u8; 32] = [4; 32];
const NAMES: Committed = Committed { commit: "c", open: "o", check: "test commitment" };
const OPENED: Opened = Opened { kind: "bits", check: "test MAC check" };

fn prg(seed: u128) -> Prg {
    Prg::from_seed(Block(fresh(seed)))
}

/// Runs `f` for all of `n` parties.
fn all<T: Send>(n: u16, f: impl Fn(&mut [Channel]) -> Result<T> + Sync) -> Vec<Result<T>> {
    mesh::run(mesh::mesh(n, 1), |lanes| f(&mut lanes[0]))
}

/// Two parties, of which party 0 cheats by `bend`.
fn against<T: Send>(
    bend: FnBend,
    f: impl Fn(&mut [Channel]) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let mut parties = mesh::mesh(2, 1);
    mesh::cheat(&mut parties[0], 1, bend);
    mesh::run(parties, |lanes| f(&mut lanes[0]))
}

fn exchange(channels: &mut [Channel], index: u64, value: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut prg = prg(u128::from(channels[0].me()));
    committed(channels, &NAMES, &SESSION, index, value, &mut prg)
}

#[test]
fn each_gets_the_others_values() {
    for parties in [2, 3, 5] {
        for n in [0, 1, 100] {
            let value = |party: u16| vec![party as u8 + 1; n];
            let got = all(parties, |channels| exchange(channels, 0, &value(channels[0].me())));
            for (me, got) in (0..).zip(got) {
                let peers = (0..parties).filter(|&peer| peer != me);
                assert_eq!(got.unwrap(), peers.map(value).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn another_value_or_nonce_than_committed_is_refused() {
    for place in [0, 31, 32, 35] {
        let bend = message("o", move |open| open[place] ^= 1);
        let ended = against(bend, |channels| exchange(channels, 0, b"same"));
        assert_caught(&ended, &[0], NAMES.check);
    }
    let bend = message("c", |commitment| commitment[9] ^= 1);
    let ended = against(bend, |channels| exchange(channels, 0, b"same"));
    assert_caught(&ended, &[0], NAMES.check);
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
    let twice = |channels: &mut [Channel]| {
        exchange(channels, 0, b"same").map(drop)?;
        exchange(channels, 1, b"same")
    };
    assert_caught(&against(bend, twice), &[0], NAMES.check);
}

/// A commitment that names another maker, honestly opened: nobody can pass on another party's.
#[test]
fn a_commitment_of_another_maker_is_refused() {
    for cheater in [0u16, 1] {
        for maker in [0, 1, 2] {
            let (domain, session) = (NAMES.commit, &SESSION);
            let context = CommitContext { domain, session, party: maker, index: 0 };
            let (commitment, opening) = commit::commit(&context, b"same", &mut prg(77));
            let bend = FnBend::new().on_outgoing(move |kind, _, payload| {
                match kind {
                    "c" => payload.copy_from_slice(&commitment.0),
                    _ => payload[..32].copy_from_slice(&opening.nonce),
                }
                Action::Send
            });
            let mut parties = mesh::mesh(2, 1);
            mesh::cheat(&mut parties[usize::from(cheater)], 1 - cheater, bend);
            let ended = mesh::run(parties, |lanes| exchange(&mut lanes[0], 0, b"same"));
            if maker == cheater {
                assert!(ended.iter().all(Result::is_ok), "the cheat itself works");
            } else {
                assert_caught(&ended, &[cheater], NAMES.check);
            }
        }
    }
}

#[test]
fn messages_of_another_length_are_refused() {
    for kind in ["c", "o"] {
        for change in [
            |p: &mut Vec<u8>| p.truncate(p.len() - 1),
            |p: &mut Vec<u8>| p.clear(),
            |p: &mut Vec<u8>| p.push(0),
        ] {
            let ended = against(message(kind, change), |channels| exchange(channels, 0, b"value"));
            assert_caught(&ended, &[0], "message framing");
        }
    }
}

#[test]
fn a_coin_is_the_same_for_all_and_new_every_time() {
    for n in [2, 3, 5] {
        let coins = all(n, |channels| {
            let mut prg = prg(u128::from(channels[0].me()));
            let toss = |index| Ok(toss_coin(channels, &SESSION, index, &mut prg)?.into_block());
            (0..3).map(toss).collect::<Result<Vec<Block>>>()
        });
        let coins: Vec<_> = coins.into_iter().map(Result::unwrap).collect();
        assert!(coins.iter().all(|theirs| *theirs == coins[0]));
        let c = &coins[0];
        assert!(c[0] != c[1] && c[1] != c[2] && c[0] != c[2]);
    }
}

/// The coin is the sum of all seeds: whatever the others' are, one uniform seed makes it uniform.
#[test]
fn a_coin_is_the_sum_of_all_seeds() {
    for n in [2u16, 3] {
        let mut sum = [0; 32];
        for party in 0..n {
            let mut seed = [0; 32];
            prg(u128::from(party)).fill(&mut seed);
            sum.iter_mut().zip(seed).for_each(|(sum, byte)| *sum ^= byte);
        }
        let expected = Challenge::from_seed32(sum).into_block();
        let coins = all(n, |channels| {
            let mut prg = prg(u128::from(channels[0].me()));
            Ok(toss_coin(channels, &SESSION, 0, &mut prg)?.into_block())
        });
        assert!(coins.into_iter().all(|coin| coin.unwrap() == expected));
    }
}

/// Parties that always toss the same cannot fix the coin: the last one's seed is in it.
#[test]
fn all_but_one_party_do_not_decide_the_coin() {
    for n in [2u16, 3, 5] {
        for honest in 0..n {
            let toss = |seed: u128| {
                let mut coins = all(n, |channels| {
                    let me = channels[0].me();
                    let seed = if me == honest { seed } else { u128::from(me) };
                    Ok(toss_coin(channels, &SESSION, 0, &mut prg(seed))?.into_block())
                });
                coins.remove(0).unwrap()
            };
            assert!(toss(100) == toss(100));
            assert!(toss(100) != toss(101));
        }
    }
}

/// Shares of random bits under the Δ of each of the parties, from a dealer.
fn deal(parties: usize, n: usize) -> (Vec<Shares>, Vec<Block>) {
    let mut prg = prg(8);
    let deltas: Vec<Block> = (0..parties).map(|_| prg.block()).collect();
    let mut shares = vec![Shares::zeros(n, parties - 1); parties];
    for k in 0..n {
        for me in 0..parties {
            let bit = prg.bool();
            shares[me].bits.set(k, bit);
            for peer in (0..parties).filter(|&peer| peer != me) {
                let key = prg.block();
                let place = |party: usize, of: usize| party - usize::from(party > of);
                shares[me].towards[place(peer, me)].macs[k] = key ^ deltas[peer].select(bit);
                shares[peer].towards[place(me, peer)].keys[k] = key;
            }
        }
    }
    (shares, deltas)
}

/// Opens what `push` makes of `n` dealt shares among `parties` parties, after `bend` has had its
/// way with their channels.
fn open_as(
    (parties, n): (u16, usize),
    bend: impl FnOnce(&mut [Lanes]),
    push: impl Fn(usize, &Shares, &mut ShareOpening) + Sync,
) -> Vec<Result<BitVec>> {
    let (shares, deltas) = deal(usize::from(parties), n);
    let mut lanes = mesh::mesh(parties, 1);
    bend(&mut lanes);
    mesh::run(lanes, |lanes| {
        let channels = &mut lanes[0][..];
        let me = usize::from(channels[0].me());
        let mut opening = ShareOpening::new(usize::from(parties) - 1);
        push(me, &shares[me], &mut opening);
        opening.send(channels, &OPENED)?.receive(channels, &OPENED, deltas[me])
    })
}

/// Opens dealt shares, one by one.
fn open_among(parties: u16, n: usize, bend: impl FnOnce(&mut [Lanes])) -> Vec<Result<BitVec>> {
    open_as((parties, n), bend, |_, shares, opening| {
        for k in 0..n {
            opening.push_bit(shares.bits.get(k));
            for (peer, towards) in shares.towards.iter().enumerate() {
                opening.push_towards(peer, towards.macs[k], towards.keys[k]);
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

/// Each opened bit, and each bit of the digest, is checked; so is every bit behind the last.
#[test]
fn every_bent_bit_of_an_opening_is_caught() {
    const N: usize = 13;
    for bit in 0..8 * (2 + 32) {
        let bend = message("bits", move |p| p[bit / 8] ^= 1 << (bit % 8));
        let ended = open_among(2, N, |lanes| mesh::cheat(&mut lanes[0], 1, bend));
        assert_caught(&ended, &[0], OPENED.check);
    }
    // MACs are hashed piece by piece: any place in any piece.
    for bit in [0, 2047, 2048, 4095, 4096, 4999] {
        let bend = message("bits", move |p| p[bit / 8] ^= 1 << (bit % 8));
        let ended = open_among(2, 5000, |lanes| mesh::cheat(&mut lanes[0], 1, bend));
        assert_caught(&ended, &[0], OPENED.check);
    }
}

/// A lie towards one peer only, and the same lie towards all.
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
                // The others may have had all they needed.
                assert_caught_by(&ended, victims, cheater, OPENED.check);
            }
        }
    }
}

/// One of the victims at least caught the cheater; the others lost their connection at worst.
#[track_caller]
fn assert_caught_by<T>(ended: &[Result<T>], victims: &[u16], cheater: u16, at: &'static str) {
    let mut seen = 0;
    for ended in victims.iter().map(|&victim| ended[usize::from(victim)].as_ref().err()) {
        match ended {
            // Another victim was faster, and closed its channels.
            Some(Error::Transport { .. }) => {}
            refused => {
                assert_eq!(refused, Some(&Error::misbehaved(cheater, at)));
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "nobody saw the {at} check fail");
}

/// Sums of two lists, opened in pieces by all but the first party, which adds share by share: the
/// same digests.
fn open_sums_among(parties: u16, n: usize, bend: impl FnOnce(&mut [Lanes])) -> Vec<Result<BitVec>> {
    open_as((parties, 2 * n), bend, |me, shares, opening| {
        let [x, y] = [0..n, n..2 * n].map(|range| shares.slice(range));
        if me > 0 {
            opening.push_sums([&x, &y], 0..n / 3);
            opening.push_sums([&x, &y], n / 3..n);
            return;
        }
        for k in 0..n {
            opening.push_bit(x.bits.get(k) ^ y.bits.get(k));
            for (peer, (x, y)) in x.towards.iter().zip(&y.towards).enumerate() {
                opening.push_towards(peer, x.macs[k] ^ y.macs[k], x.keys[k] ^ y.keys[k]);
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
            let bend = message("bits", move |p| p[bit / 8] ^= 1 << (bit % 8));
            let ended = open_sums_among(2, 3000, |lanes| {
                mesh::cheat(&mut lanes[usize::from(cheater)], 1 - cheater, bend);
            });
            assert_caught(&ended, &[cheater], OPENED.check);
        }
    }
}

/// Our own opening sent back: the bits are known, but not their MACs.
#[test]
fn an_echoed_opening_is_caught() {
    let (shares, deltas) = deal(2, 20);
    let (mut cheater, honest) = memory_pair(Meter::new(), Meter::new());
    let mut honest = [honest];
    let mut opening = ShareOpening::new(1);
    (0..20).for_each(|k| opening.push(shares[1].pair(k, 0)));
    let awaited = opening.send(&mut honest, &OPENED).unwrap();
    let ours = cheater.recv("bits", 3 + 32).unwrap();
    cheater.send("bits", &ours).unwrap();
    cheater.flush().unwrap();
    let refused = awaited.receive(&mut honest, &OPENED, deltas[1]);
    assert_eq!(refused.err(), Some(Error::misbehaved(0, OPENED.check)));
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
        let result = recv_bits_and_digest(&mut honest, &OPENED, n);
        if garbage {
            assert_eq!(result.err(), Some(Error::misbehaved(0, OPENED.check)));
        } else {
            assert!(result.unwrap().0.get(n - 1));
        }
    }
}

/// Another commitment to one peer than to the others: the echo of the digest, always, before
/// anything is opened.
#[test]
fn equivocated_commitments() {
    for n in [3, 5] {
        for cheater in 0..n {
            for victim in (0..n).filter(|&victim| victim != cheater) {
                let mut parties = mesh::mesh(n, 1);
                mesh::cheat(
                    &mut parties[usize::from(cheater)],
                    victim,
                    message("c", |c| c[0] ^= 1),
                );
                for (me, lanes) in (0..).zip(&mut parties).filter(|(me, _)| *me != cheater) {
                    for peer in (0..n).filter(|&peer| peer != me) {
                        mesh::listen(lanes, peer, nothing_of("o"));
                    }
                }
                let ended = mesh::run(parties, |lanes| exchange(&mut lanes[0], 0, b"same"));
                assert_caught(&ended, &[cheater], BROADCAST_CHECK);
            }
        }
    }
}

/// An honest party that must not send such a message.
fn nothing_of(kind: &'static str) -> FnBend {
    FnBend::new().on_outgoing(move |k, _, _| {
        assert_ne!(k, kind, "opened after a failed check");
        Action::Send
    })
}

/// A party that opens to one peer what it did not commit to.
#[test]
fn another_opening_towards_one_peer() {
    for n in [3, 5] {
        for (cheater, victim) in [(0, n - 1), (n - 1, 0), (1, 2)] {
            let mut parties = mesh::mesh(n, 1);
            mesh::cheat(&mut parties[usize::from(cheater)], victim, message("o", |o| o[33] ^= 1));
            let ended = mesh::run(parties, |lanes| exchange(&mut lanes[0], 0, b"same"));
            // The opening is the last message: the others had all they needed, and the same values.
            assert_caught_by(&ended, &[victim], cheater, NAMES.check);
        }
    }
}

/// Logs that differ in anything have different digests.
#[test]
fn broadcast_logs_bind_sender_order_and_content() {
    let log = |notes: &[(u16, &[u8])]| {
        let mut log = BroadcastLog::new(3);
        notes.iter().for_each(|(sender, data)| log.note(*sender, data));
        log.digest()
    };
    let logs: [&[(u16, &[u8])]; 7] = [
        &[],
        &[(0, b"ab")],
        &[(1, b"ab")],
        &[(0, b"a"), (0, b"b")],
        &[(0, b"b"), (0, b"a")],
        &[(0, b"a"), (1, b"b")],
        &[(0, b"ab"), (2, b"")],
    ];
    for (i, a) in logs.iter().enumerate() {
        for b in &logs[..i] {
            assert_ne!(log(a), log(b));
        }
    }
    // Between senders the order of arrival is nobody's business.
    assert_eq!(log(&[(0, b"a"), (1, b"b")]), log(&[(1, b"b"), (0, b"a")]));
}

/// Between two parties there is nothing to compare and nothing is sent; among more, one other
/// digest is enough, and nobody can tell whose fault it is.
#[test]
fn broadcasts_are_confirmed_by_all() {
    for n in [2, 3, 5] {
        for odd in 0..n {
            let ended = all(n, |channels| {
                let digest = [u8::from(channels[0].me() == odd); 32];
                confirm_broadcasts(channels, &digest)
            });
            if n == 2 {
                assert!(ended.iter().all(Result::is_ok));
                continue;
            }
            for ended in ended {
                match ended {
                    Err(Error::Transport { .. }) => {}
                    other => assert_eq!(other, Err(Error::misbehaved(SOMEBODY, BROADCAST_CHECK))),
                }
            }
        }
        let same = all(n, |channels| confirm_broadcasts(channels, &[9; 32]));
        assert!(same.iter().all(Result::is_ok));
    }
}
