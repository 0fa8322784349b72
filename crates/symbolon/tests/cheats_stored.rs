//! Parties that tell two others different things about the content of the stores.
//!
//! These messages decide which item is used. A party that told one other "yes" and another "no"
//! would send them to different items, and the two honest parties would accuse each other.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::duplo::{Forecast, Plans};
use symbolon::store::{Filter, ItemKind, Protection, Store};
use symbolon::stored::{self, Amount};
use symbolon::{Channel, Config, Error, Inputs, Meter, Protocol, Result, Transport, checks};
use symbolon_interaction::BROADCAST_CHECK;
use symbolon_transport::adversary::{self, Action, FnAdversary, note_caught};
use symbolon_transport::{Culprit, memory_lanes};

const HOLDINGS: &str = "stored items";
const ANSWER: &str = "stored items: yes or no";

/// Only bounds the duration of a test that hangs.
const WAIT: Duration = Duration::from_secs(20);

/// A lie: which message of a kind, how it is changed, and for whom.
#[derive(Clone, Copy)]
struct Lie {
    kind: &'static str,
    index: usize,
    change: fn(&mut Vec<u8>),
    /// What becomes of the changed message.
    action: Action,
    victims: fn(peer: u16) -> bool,
}

/// A session of all parties, over their stores.
type Together = fn(&[Store], Option<(u16, Lie)>) -> Vec<Result<()>>;

fn circuit() -> Circuit {
    builtin::by_name("add:8").unwrap()
}

/// Creates a store for each party.
fn stores(folder: &Path, parties: u16) -> Vec<Store> {
    let make = |party| Store::create(folder.join(format!("{party}")), &Protection::None).unwrap();
    (0..parties).map(make).collect()
}

/// Returns every party's channels to the others; the cheater's are changed.
fn mesh(parties: u16, cheat: Option<(u16, Lie)>) -> Vec<Transport> {
    let meters: Vec<Arc<Meter>> = (0..parties).map(|_| Meter::new()).collect();
    let meter = |party: u16| (party, meters[usize::from(party)].clone());
    let mut peers: Vec<Vec<Channel>> = (0..parties).map(|_| Vec::new()).collect();
    for a in 0..parties {
        for b in a + 1..parties {
            let (low, high) = memory_lanes(meter(a), meter(b), 1, None).unwrap();
            peers[usize::from(a)].extend(low);
            peers[usize::from(b)].extend(high);
        }
    }
    if let Some((cheater, lie)) = cheat {
        for channel in &mut peers[usize::from(cheater)] {
            if (lie.victims)(channel.peer().number()) {
                channel.set_adversary(Box::new(FnAdversary::new().on_message(
                    lie.kind,
                    lie.index,
                    move |told| {
                        (lie.change)(told);
                        lie.action
                    },
                )));
            }
        }
    }
    let transport = |(peers, meter)| Transport::mesh_channels(vec![peers], meter);
    peers.into_iter().zip(meters).map(transport).collect()
}

/// Runs `part` for every party.
fn together<T: Send>(
    stores: &[Store],
    cheat: Option<(u16, Lie)>,
    part: impl Fn(u16, Config, &Store) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let part = &part;
    thread::scope(|scope| {
        let start = |((party, transport), store)| {
            let config = Config::new(party, transport).timeout(WAIT);
            scope.spawn(move || part(party, config, store))
        };
        let parties: Vec<_> =
            (0u16..).zip(mesh(stores.len() as u16, cheat)).zip(stores).map(start).collect();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

fn prepare(stores: &[Store], cheat: Option<(u16, Lie)>) -> Vec<Result<()>> {
    prepare_some(stores, cheat, 1)
}

fn prepare_some(stores: &[Store], cheat: Option<(u16, Lie)>, count: u32) -> Vec<Result<()>> {
    together(stores, cheat, |_, config, store| {
        stored::prepare(config, store, &circuit(), count).map(drop)
    })
}

fn run(stores: &[Store], cheat: Option<(u16, Lie)>) -> Vec<Result<()>> {
    let circuit = circuit();
    together(stores, cheat, |party, config, store| {
        let mut inputs = Inputs::builder(&circuit, party);
        if party < 2 {
            inputs = inputs.uint(usize::from(party), 20)?;
        }
        let ran = stored::run(config, store, &circuit, &inputs.finish()?)?;
        assert_eq!(ran.outputs.get(0).and_then(|sum| sum.uint()), Some(40));
        Ok(())
    })
}

fn available(store: &Store, kind: ItemKind) -> usize {
    store.available_items(&Filter { kind: Some(kind), ..Filter::default() }).unwrap().len()
}

/// Asserts that all honest parties notice `lie`, name only a permitted culprit, and still hold this
/// many items of this kind.
#[track_caller]
fn assert_noticed(
    (stores, kind, left): (&[Store], ItemKind, usize),
    (cheater, lie): (u16, Lie),
    expected: &Error,
    session: Together,
) {
    let ended = session(stores, Some((cheater, lie)));
    let honest = (0u16..).zip(ended).zip(stores).filter(|((party, _), _)| *party != cheater);
    for ((party, ended), store) in honest {
        assert_eq!(ended.as_ref(), Err(expected), "party {party}, against {cheater}");
        assert_eq!(available(store, kind), left, "party {party}, against {cheater}");
    }
    note_caught();
}

/// Returns a lie that inverts the answer towards the peers that `victims` selects.
fn opposite(index: usize, victims: fn(u16) -> bool) -> Lie {
    let change: fn(&mut Vec<u8>) = |told| *told.last_mut().unwrap() ^= 1;
    Lie { kind: ANSWER, index, change, action: Action::Send, victims }
}

/// Cheat: 3; one | stored runs, yes or no | "yes" to one party and "no" to another, before and
/// after the item is taken | `broadcast echo`, at both | always
#[test]
fn two_answers_about_one_prepared_circuit() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 3);
    // In different sessions: a party that receives "no" tries the next item.
    for _ in 0..2 {
        assert!(prepare(&stores, None).iter().all(Result::is_ok));
    }
    let nobody = Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK);
    for (cheater, victims) in
        [(2, (|peer| peer == 1) as fn(u16) -> bool), (2, |peer| peer == 0), (0, |peer| peer == 2)]
    {
        let lie = opposite(0, victims);
        assert_noticed((&stores, ItemKind::Prepared, 2), (cheater, lie), &nobody, run);
    }
    // The item is taken already, so it is used up.
    let lie = opposite(1, |peer| peer == 0);
    assert_noticed((&stores, ItemKind::Prepared, 1), (2, lie), &nobody, run);
    assert!(run(&stores, None).iter().all(Result::is_ok), "the other one is whole");
}

/// Cheat: 3; one | preparing from a pool, yes or no | "yes" to one party and "no" to another |
/// `broadcast echo`, at both | always
#[test]
fn two_answers_about_one_pool() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 3);
    let amount = Amount { and_gates: 128, input_bits: 16 };
    let filled =
        together(&stores, None, |_, config, store| stored::fill(config, store, amount).map(drop));
    assert!(filled.iter().all(Result::is_ok));
    let nobody = Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK);
    for cheater in [0, 1] {
        let lie = opposite(0, |peer| peer == 2);
        assert_noticed((&stores, ItemKind::Pool, 1), (cheater, lie), &nobody, prepare);
    }
    assert!(stores.iter().all(|store| available(store, ItemKind::Prepared) == 0));
}

/// Cheat: 3; one | preparing, what is written | "yes" to one party, and "no" or another item to
/// another | `broadcast echo`, at both, before either enters the item | always
#[test]
fn two_answers_about_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 3);
    let nobody = Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK);
    let another = |victims| Lie { change: |told| told[3] ^= 1, ..opposite(0, victims) };
    for (cheater, lie) in [
        (2, opposite(0, |peer| peer == 1)),
        (0, opposite(0, |peer| peer == 2)),
        (1, another(|peer| peer == 0)),
    ] {
        assert_noticed((&stores, ItemKind::Prepared, 0), (cheater, lie), &nobody, prepare);
    }
    assert!(prepare(&stores, None).iter().all(Result::is_ok));
}

/// A party says to one other that it has written the item, and breaks off towards another, which
/// keeps none. The first one must not keep one, either: it would be useless.
/// Cheat: 3; one | preparing, what is written | "yes" to one party, and nothing to another | none:
/// no honest party enters the item | always
#[test]
fn an_item_that_is_written_for_one_party_alone() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 3);
    for (cheater, victims) in [(2, (|peer| peer == 1) as fn(u16) -> bool), (0, |peer| peer == 2)] {
        let lie = Lie { action: Action::Close, ..opposite(0, victims) };
        let ended = prepare(&stores, Some((cheater, lie)));
        assert!(ended.iter().all(Result::is_err), "{ended:?}");
        for store in &stores {
            assert_eq!(available(store, ItemKind::Prepared), 0);
        }
        note_caught();
    }
    assert!(prepare(&stores, None).iter().all(Result::is_ok));
}

/// Cheat: 3; one | stored runs, what is held | two lists: empty, with another item, malformed |
/// `broadcast echo`, at both | always
#[test]
fn two_lists_of_what_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 3);
    assert!(prepare(&stores, None).iter().all(Result::is_ok));
    let nobody = Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK);
    let changes: [fn(&mut Vec<u8>); 3] = [
        |told| told.clear(),
        |told| told[3] ^= 1,
        |told| {
            told.pop();
        },
    ];
    for change in changes {
        let lie = Lie { kind: HOLDINGS, change, ..opposite(0, |peer| peer == 1) };
        assert_noticed((&stores, ItemKind::Prepared, 1), (0, lie), &nobody, run);
    }
}

/// Answers name the item and the round: one about another question does not count as yes.
/// Cheat: 2, 3; one | stored runs, yes or no | an answer about another question, item or round, or
/// none | `stored items: yes or no`; with 3 `broadcast echo`, at both | always
#[test]
fn an_answer_to_another_question() {
    // The kind of question, the item, the round, and neither yes nor no.
    let changes: [fn(&mut Vec<u8>); 4] =
        [|told| told[0] ^= 1, |told| told[9] ^= 4, |told| told[17] ^= 1, |told| told[25] ^= 2];
    for parties in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), parties);
        // With two parties, the cheater receives nothing wrong, and uses one up each time.
        let items = changes.len() as u32 + 1;
        assert!(prepare_some(&stores, None, items).iter().all(Result::is_ok));
        for change in changes {
            let lie = Lie { change, ..opposite(0, |peer| peer == 0) };
            // With two parties there is nobody else whom it could have told something different.
            let expected = match parties {
                2 => Error::misbehaved(1, checks::STORED_ANSWER),
                _ => Error::misbehaved(Culprit::Unknown, BROADCAST_CHECK),
            };
            let left = (&stores[..], ItemKind::Prepared, items as usize);
            assert_noticed(left, (1, lie), &expected, run);
        }
        assert!(run(&stores, None).iter().all(Result::is_ok));
    }
}

/// With two parties, an invalid list of items is the peer's fault.
/// Cheat: 2 | stored runs, what is held | a list that is none | `stored items` | always
#[test]
fn no_list_of_what_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    assert!(prepare(&stores, None).iter().all(Result::is_ok));
    let change: fn(&mut Vec<u8>) = |told| told.truncate(15);
    let lie = Lie { kind: HOLDINGS, change, ..opposite(0, |_| true) };
    let expected = Error::misbehaved(1, checks::STORED_ITEMS);
    assert_noticed((&stores, ItemKind::Prepared, 1), (1, lie), &expected, run);
}

/// A garbler cheats in the second of three preparations that share a cut-and-choose. The first one,
/// which the evaluator has written by then, is not entered into its store, because the garbler
/// learnt something from how the check ended.
/// Cheat: G | PreProcessSub | another table in the second of several parts, after the first is
/// written | `component table`; no part is entered | always
#[test]
fn after_a_failed_check_no_part_is_entered() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let circuit = circuit();
    let plans = Plans { count: 3, ..Plans::default() };
    let first_part = Forecast::new(&circuit, plans).unwrap().components[0].sizes.bucket;
    let lie = Lie {
        kind: "duplo: table",
        index: first_part as usize,
        change: |table| table[5] ^= 1,
        action: Action::Send,
        victims: |_| true,
    };
    let ended = together(&stores, Some((0, lie)), |_, config, store| {
        let config = config.protocol(Protocol::Duplo);
        stored::prepare(config, store, &circuit, 3).map(drop)
    });
    adversary::assert_noticed(&ended[1], 0, symbolon_protocols::duplo::checks::TABLE_DIGEST);
    let all = Filter { kind: Some(ItemKind::Prepared), ..Filter::default() };
    assert_eq!(stores[1].available_items(&all).unwrap().len(), 0);
    // The first part was written, and waited for the others.
    assert_eq!(stores[1].list().unwrap().len(), 0);
}

/// Every pool has its own set-up. A party that cheats while the second pool is made loses that one.
/// The first one was closed, has other global keys, and works.
/// Cheat: 0 | filling pools, the second of two | wrong U in each message of all pools | that pool's
/// check; pools that were closed stay | 1 - 2^-128 at least
#[test]
fn a_cheat_in_a_later_pool_leaves_those_that_were_closed() {
    let mut kept = BTreeSet::new();
    for index in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), 2);
        let lie = Lie {
            kind: "leaky AND: U",
            index,
            // Each of many triples is noticed with probability 1/2.
            change: |told| told.iter_mut().for_each(|byte| *byte ^= 1),
            action: Action::Send,
            victims: |_| true,
        };
        let amount = Amount { and_gates: 256, input_bits: 64 };
        let ended = together(&stores, Some((0, lie)), |_, config, store| {
            stored::fill(config.pool_gates(128), store, amount).map(drop)
        });
        if ended.iter().all(Result::is_ok) {
            assert_eq!(available(&stores[1], ItemKind::Pool), 2, "there is no such message");
            break;
        }
        let Err(Error::PeerMisbehaved { .. }) = ended[1] else { panic!("{ended:?}") };
        note_caught();
        let pools = available(&stores[1], ItemKind::Pool);
        assert!(stores[1].drafts().unwrap().is_empty(), "what was not closed is gone");
        if pools > 0 {
            let made = together(&stores, None, |_, config, store| {
                stored::prepare(config, store, &circuit(), 1)
            });
            assert!(made.into_iter().all(|made| made.unwrap().from_pools == 1));
            assert!(run(&stores, None).iter().all(Result::is_ok));
        }
        kept.insert(pools);
    }
    assert_eq!(kept, BTreeSet::from([0, 1]), "both pools were cheated in");
}

/// Between two pools all parties say which one they closed.
/// Cheat: 1 | filling pools, what was closed | a yes about another pool than the one that was
/// closed | `stored items: yes or no` | always
#[test]
fn a_party_that_says_it_closed_another_pool() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let lie = Lie { change: |told| told[3] ^= 1, ..opposite(0, |_| true) };
    let expected = Error::misbehaved(1, checks::STORED_ANSWER);
    assert_noticed((&stores, ItemKind::Pool, 1), (1, lie), &expected, |stores, cheat| {
        let amount = Amount { and_gates: 256, input_bits: 64 };
        together(stores, cheat, |_, config, store| {
            stored::fill(config.pool_gates(128), store, amount).map(drop)
        })
    });
}
