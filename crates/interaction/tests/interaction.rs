//! Commit and open, coin tosses and broadcasts: honest, and with a cheating peer.
#![allow(missing_docs)]

mod mesh;

use mesh::{assert_caught, assert_caught_by_one_of, message};
use symbolon_interaction::{
    BROADCAST_CHECK, BroadcastLog, CommitOpenLabels, Committed, commit_and_open,
    confirm_broadcasts, open_with_coin, toss_coin,
};
use symbolon_primitives::{Block, Challenge, CommitContext, Prg, commit};
use symbolon_transport::adversary::{Action, FnAdversary, fresh};
use symbolon_transport::{Channel, Check, Culprit, Error, Message, Result, SessionId};

const SESSION: SessionId = SessionId([4; 32]);
const LABELS: CommitOpenLabels = CommitOpenLabels {
    commit: Message::of_test("c"),
    open: Message::of_test("o"),
    check: Check::new("test-commitment", "test commitment", ""),
};

fn prg(seed: u128) -> Prg {
    Prg::from_seed(Block(fresh(seed)))
}

/// Runs `f` for all of `n` parties.
fn all<T: Send>(n: u16, f: impl Fn(&mut [Channel]) -> Result<T> + Sync) -> Vec<Result<T>> {
    mesh::run(mesh::mesh(n, 1), |lanes| f(&mut lanes[0]))
}

/// Runs `f` for two parties, of which party 0 cheats by `adversary`.
fn against<T: Send>(
    adversary: FnAdversary,
    f: impl Fn(&mut [Channel]) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let mut parties = mesh::mesh(2, 1);
    mesh::cheat(&mut parties[0], 1, adversary);
    mesh::run(parties, |lanes| f(&mut lanes[0]))
}

fn exchange_values(channels: &mut [Channel], index: u64, value: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut prg = prg(u128::from(channels[0].me()));
    commit_and_open(channels, &LABELS, &SESSION, index, value, &mut prg)
}

#[test]
fn each_gets_the_others_values() {
    for parties in [2, 3, 5] {
        for n in [0, 1, 100] {
            let value = |party: u16| vec![party as u8 + 1; n];
            let got = all(parties, |channels| {
                exchange_values(channels, 0, &value(channels[0].me().number()))
            });
            for (me, got) in (0..).zip(got) {
                let peers = (0..parties).filter(|&peer| peer != me);
                assert_eq!(got.unwrap(), peers.map(value).collect::<Vec<_>>());
            }
        }
    }
}

/// Cheat: 2 | commit and open | another value or nonce than committed | the step's commitment |
/// always
#[test]
fn another_value_or_nonce_than_committed_is_refused() {
    for place in [0, 31, 32, 35] {
        let adversary = message("o", move |open| open[place] ^= 1);
        let ended = against(adversary, |channels| exchange_values(channels, 0, b"same"));
        assert_caught(&ended, &[0], LABELS.check);
    }
    let adversary = message("c", |commitment| commitment[9] ^= 1);
    let ended = against(adversary, |channels| exchange_values(channels, 0, b"same"));
    assert_caught(&ended, &[0], LABELS.check);
}

/// The same value at another index has another commitment: an old one cannot be used again.
/// Cheat: 2 | commit and open | a commitment and opening of another index | the step's commitment |
/// always
#[test]
fn a_commitment_and_opening_of_another_index_are_refused() {
    let mut old = Vec::new();
    let adversary = FnAdversary::new().on_outgoing(move |_, index, payload| {
        if index == 0 {
            old.push(payload.clone());
        } else {
            payload.clone_from(&old.remove(0));
        }
        Action::Send
    });
    let twice = |channels: &mut [Channel]| {
        exchange_values(channels, 0, b"same").map(drop)?;
        exchange_values(channels, 1, b"same")
    };
    assert_caught(&against(adversary, twice), &[0], LABELS.check);
}

/// A commitment that names another maker is refused even if it is opened honestly: nobody can pass
/// on another party's commitment.
/// Cheat: 2 | commit and open | a commitment that names another maker | the step's commitment |
/// always
#[test]
fn a_commitment_of_another_maker_is_refused() {
    for cheater in [0u16, 1] {
        for maker in [0, 1, 2] {
            let (domain, session) = (LABELS.commit.name(), SESSION.as_bytes());
            let context = CommitContext { domain, session, party: maker, index: 0 };
            let (commitment, opening) = commit::commit(&context, b"same", &mut prg(77));
            let adversary = FnAdversary::new().on_outgoing(move |kind, _, payload| {
                match kind {
                    "c" => payload.copy_from_slice(&commitment.0),
                    _ => payload[..32].copy_from_slice(&opening.nonce),
                }
                Action::Send
            });
            let mut parties = mesh::mesh(2, 1);
            mesh::cheat(&mut parties[usize::from(cheater)], 1 - cheater, adversary);
            let ended = mesh::run(parties, |lanes| exchange_values(&mut lanes[0], 0, b"same"));
            if maker == cheater {
                assert!(ended.iter().all(Result::is_ok), "the cheat itself works");
            } else {
                assert_caught(&ended, &[cheater], LABELS.check);
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
            let ended =
                against(message(kind, change), |channels| exchange_values(channels, 0, b"value"));
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

/// The coin is the sum of all seeds, so one uniform seed makes it uniform, whatever the others are.
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

/// All parties but one always toss the same and still cannot fix the coin: the last party's seed is
/// in it.
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

/// The cheater sends one peer another commitment than the others. The echo of the digest always
/// catches it before anything is opened.
/// Cheat: 3, 5; one | commit and open | another commitment to one party | `broadcast echo` | always
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
                let ended = mesh::run(parties, |lanes| exchange_values(&mut lanes[0], 0, b"same"));
                assert_caught(&ended, &[cheater], BROADCAST_CHECK);
            }
        }
    }
}

/// Returns a spy that panics if the honest party sends such a message.
fn nothing_of(kind: &'static str) -> FnAdversary {
    FnAdversary::new().on_outgoing(move |k, _, _| {
        assert_ne!(k, kind, "opened after a failed check");
        Action::Send
    })
}

/// The cheater opens to one peer a value that it did not commit to.
/// Cheat: 3, 5; one | commit and open | another opening to one party | the step's commitment |
/// always
#[test]
fn another_opening_towards_one_peer() {
    for n in [3, 5] {
        for (cheater, victim) in [(0, n - 1), (n - 1, 0), (1, 2)] {
            let mut parties = mesh::mesh(n, 1);
            mesh::cheat(&mut parties[usize::from(cheater)], victim, message("o", |o| o[33] ^= 1));
            let ended = mesh::run(parties, |lanes| exchange_values(&mut lanes[0], 0, b"same"));
            // The opening is the last message: the other parties have all they need, and the same
            // values.
            assert_caught_by_one_of(&ended, &[victim], cheater, LABELS.check);
        }
    }
}

/// Logs that differ in anything have different digests.
#[test]
fn broadcast_logs_bind_sender_order_and_content() {
    let log = |notes: &[(u16, &[u8])]| {
        let mut log = BroadcastLog::new(3);
        notes.iter().for_each(|(sender, data)| log.note((*sender).into(), data));
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
    // The order of arrival between senders does not matter.
    assert_eq!(log(&[(0, b"a"), (1, b"b")]), log(&[(1, b"b"), (0, b"a")]));
}

/// With two parties there is nothing to compare, and nothing is sent. With more, one differing
/// digest is enough, and nobody can tell whose fault it is.
#[test]
fn broadcasts_are_confirmed_by_all() {
    for n in [2, 3, 5] {
        for odd in 0..n {
            let ended = all(n, |channels| {
                let digest = [u8::from(channels[0].me() == odd); 32];
                confirm_broadcasts(channels, &digest)
            });
            // A party reads all echoes before it ends, so nobody loses a connection.
            let expected = match n {
                2 => Ok(()),
                _ => Err(Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK)),
            };
            assert_eq!(ended, vec![expected; usize::from(n)], "party {odd} of {n}");
        }
        let same = all(n, |channels| confirm_broadcasts(channels, &[9; 32]));
        assert!(same.iter().all(Result::is_ok));
    }
}

/// Values are opened and a coin is tossed in the same messages: all have the same coin, and it
/// depends on every party's seed.
#[test]
fn values_and_a_coin_share_their_messages() {
    for parties in [2, 3, 5] {
        let toss = |other: bool| {
            all(parties, |channels| {
                let me = channels[0].me().number();
                let mut prg = prg(100 * u128::from(other && me == 1) + u128::from(me));
                let (values, coin) =
                    open_with_coin(channels, &LABELS, &SESSION, 0, &[me as u8; 5], &mut prg)?;
                Ok((values, coin.into_block()))
            })
        };
        let made: Vec<_> = toss(false).into_iter().map(Result::unwrap).collect();
        for (me, (values, coin)) in (0..).zip(&made) {
            let peers = (0..parties).filter(|&peer| peer != me);
            assert_eq!(*values, peers.map(|peer| vec![peer as u8; 5]).collect::<Vec<_>>());
            assert_eq!(*coin, made[0].1);
        }
        assert_ne!(toss(true)[0].as_ref().unwrap().1, made[0].1, "another seed of one party");
    }
}

/// Cheat: 2 | commit and open, with a coin | another value, or another seed, than committed | the
/// step's commitment | always
#[test]
fn another_value_or_seed_beside_a_coin_is_refused() {
    for place in [32, 35, 36, 67] {
        let adversary = message("o", move |open| open[place] ^= 1);
        let ended = against(adversary, |channels| {
            let mut prg = prg(u128::from(channels[0].me()));
            open_with_coin(channels, &LABELS, &SESSION, 0, b"same", &mut prg).map(drop)
        });
        assert_caught(&ended, &[0], LABELS.check);
    }
}

/// A coin alone: the commitment keeps a party from choosing its seed when it knows the other's.
/// Cheat: 2 | coin toss | another seed, or nonce, than committed | `coin toss commitment` | always
#[test]
fn another_seed_than_committed_is_refused() {
    for place in [0, 31, 32, 63] {
        let adversary = message("coin toss: seed", move |open| open[place] ^= 1);
        let ended = against(adversary, |channels| {
            let mut prg = prg(u128::from(channels[0].me()));
            toss_coin(channels, &SESSION, 0, &mut prg).map(drop)
        });
        assert_caught(&ended, &[0], "coin toss commitment");
    }
}

/// What is sent between a commitment and its opening arrives between them.
#[test]
fn messages_ride_between_a_commitment_and_its_opening() {
    for parties in [2, 3] {
        let ended = all(parties, |channels| {
            let mut prg = prg(u128::from(channels[0].me()));
            let value = [channels[0].me().number() as u8];
            for channel in channels.iter_mut() {
                channel.send(Message::of_test("between"), &value)?;
            }
            let committed = Committed::send(channels, &LABELS, &SESSION, 0, &value, &mut prg)?;
            let between: Vec<Vec<u8>> = channels
                .iter_mut()
                .map(|channel| channel.recv(Message::of_test("between"), 1))
                .collect::<Result<_>>()?;
            Ok((between, committed.open(channels)?))
        });
        for ended in ended {
            let (between, opened) = ended.unwrap();
            assert_eq!(between, opened);
        }
    }
}
