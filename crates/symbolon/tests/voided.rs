//! A check that fails online voids what was prepared under the same global keys. A lost connection
//! voids nothing.

use std::path::Path;
use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::store::{Filter, ItemState, Protection, Store};
use symbolon::{Config, Error, Inputs, Meter, Outputs, Protocol, Result, Transport, stored};
use symbolon_transport::adversary::{self, Action, FnAdversary};
use symbolon_transport::memory_lanes;

/// Only bounds the duration of a test that hangs.
const WAIT: Duration = Duration::from_secs(20);

/// A protocol, a message of its online phase, a byte of it, and the check that notices if party 0
/// changes that byte.
const CASES: [(Protocol, &str, usize, &str); 3] = [
    // The label of the first input bit comes after the masked inputs.
    (Protocol::Wrk, "masked inputs, labels, output masks", 1, "garbled table MAC"),
    (Protocol::TinyTable, "tinytable: MAC", 0, "table MAC"),
    (Protocol::DualEx, "dualex: input labels", 0, "input label"),
];

fn circuit() -> Circuit {
    builtin::by_name("add:8").unwrap()
}

/// Runs `part` for both parties; `adversary` is party 0's.
fn together<T: Send>(
    protocol: Protocol,
    stores: &[Store],
    adversary: Option<FnAdversary>,
    part: impl Fn(u16, Config, &Store) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let meters = [Meter::new(), Meter::new()];
    let ends = memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), 1, None);
    let (mut near, far) = ends.unwrap();
    if let Some(adversary) = adversary {
        near[0].set_adversary(Box::new(adversary));
    }
    let ends = [near, far].into_iter().zip(meters);
    let transports = ends.map(|(channels, meter)| Transport::channels(channels, meter));
    let part = &part;
    thread::scope(|scope| {
        let start = |((party, transport), store)| {
            let config = Config::new(party, transport).protocol(protocol).timeout(WAIT);
            scope.spawn(move || part(party, config, store))
        };
        let parties: Vec<_> = (0u16..).zip(transports).zip(stores).map(start).collect();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

/// Returns both parties' stores with two circuits that were prepared together.
fn prepared(protocol: Protocol, folder: &Path) -> Vec<Store> {
    let make = |party| Store::create(folder.join(format!("{party}")), &Protection::None).unwrap();
    let stores: Vec<Store> = (0..2).map(make).collect();
    let made = together(protocol, &stores, None, |_, config, store| {
        stored::prepare(config, store, &circuit(), 2).map(drop)
    });
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    for store in &stores {
        let items = store.available_items(&Filter::default()).unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!(items[0].group, items[1].group);
    }
    stores
}

/// Runs `count` of the circuits, of `dualex`.
fn run_some(stores: &[Store], adversary: Option<FnAdversary>, count: u64) -> Vec<Result<()>> {
    let circuit = circuit();
    together(Protocol::DualEx, stores, adversary, |party, config, store| {
        let inputs = || Inputs::builder(&circuit, party).uint(usize::from(party), 20)?.finish();
        let inputs = (0..count).map(|_| inputs());
        let config = config.executions(count).in_flight(1);
        stored::run_in_flight(config, store, &circuit, inputs, |_| Ok(())).map(drop)
    })
}

/// Runs one of the circuits.
fn run(protocol: Protocol, stores: &[Store], adversary: Option<FnAdversary>) -> Vec<Result<()>> {
    let circuit = circuit();
    together(protocol, stores, adversary, |party, config, store| {
        let inputs = Inputs::builder(&circuit, party).uint(usize::from(party), 20)?.finish()?;
        let compare = |outputs: Outputs| -> Result<()> {
            assert_eq!(outputs.get(0).and_then(|sum| sum.uint()), Some(40));
            Ok(())
        };
        if protocol == Protocol::DualEx {
            let config = config.in_flight(1);
            return stored::run_in_flight(config, store, &circuit, [Ok(inputs)], compare).map(drop);
        }
        compare(stored::run(config, store, &circuit, &inputs)?.outputs)
    })
}

/// The first circuit is used up, and the second one, which has the same global keys, is void.
/// Cheat: `wrk`, `tinytable`, `dualex`; one | online, from a store | a label, or the MAC of table
/// bits | `garbled table MAC`, `table MAC`, `input label`; what else was prepared with it is void |
/// always
#[test]
fn a_check_that_fails_online_voids_what_was_prepared_with_it() {
    for (protocol, kind, byte, check) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let stores = prepared(protocol, folder.path());
        let lie = FnAdversary::new().on_message(kind, 0, move |payload| {
            payload[byte] ^= 1;
            Action::Send
        });
        let ended = run(protocol, &stores, Some(lie));
        adversary::assert_noticed(&ended[1], 0, check);
        let entries = stores[1].list().unwrap();
        let void = entries.iter().filter(|entry| matches!(entry.state, ItemState::Void(_)));
        assert_eq!(void.count(), 1, "{entries:?}");
        assert!(stores[1].available_items(&Filter::default()).unwrap().is_empty());
        assert!(run(protocol, &stores, None).iter().all(Result::is_err));
    }
}

/// A run takes circuits of two preparations, with their own global keys, and its first evaluation
/// fails a check. This party holds another circuit of each. Their files cannot be removed, so the
/// store reports an error about one group after the other, and both are void nevertheless.
/// Cheat: `dualex`; one | online, from a store, circuits of two preparations | a label | `input
/// label`; what else was prepared with any of them is void, although the store reports errors |
/// always
#[test]
fn a_store_error_does_not_keep_the_other_groups_from_being_voided() {
    let folder = tempfile::tempdir().unwrap();
    let stores = prepared(Protocol::DualEx, folder.path());
    let again = together(Protocol::DualEx, &stores, None, |_, config, store| {
        stored::prepare(config, store, &circuit(), 2).map(drop)
    });
    assert!(again.iter().all(Result::is_ok), "{again:?}");
    // The peer has lost one of each preparation, which is not run then.
    let mut lost = stores[0].available_items(&Filter::default()).unwrap();
    lost.sort_by_key(|item| (item.group, item.meta.sequence));
    let lost: Vec<_> = lost.iter().map(|item| item.id).skip(1).step_by(2).collect();
    stores[0].void(&lost, "lost").unwrap();
    for item in std::fs::read_dir(folder.path().join("1/items")).unwrap() {
        std::fs::create_dir(item.unwrap().path().join("in the way")).unwrap();
    }
    let lie = FnAdversary::new().on_message("dualex: input labels", 0, |payload| {
        payload[0] ^= 1;
        Action::Send
    });
    let ended = run_some(&stores, Some(lie), 2);
    let Err(Error::Store(why)) = &ended[1] else { panic!("{ended:?}") };
    assert!(why.text().contains("input label"), "{why:?}");
    assert!(why.text().contains("could not be made void"), "{why:?}");
    // The peer learns that this side gave up, and not only that the connection ended.
    assert!(ended[0].as_ref().unwrap_err().to_string().contains("aborted"), "{ended:?}");
    let entries = stores[1].list().unwrap();
    let void = entries.iter().filter(|entry| matches!(entry.state, ItemState::Void(_)));
    assert_eq!(void.count(), 2, "{entries:?}");
    assert!(stores[1].available_items(&Filter::default()).unwrap().is_empty());
    adversary::note_caught();
}

/// The second circuit can be run.
#[test]
fn a_connection_that_is_lost_online_voids_nothing() {
    for (protocol, kind, ..) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let stores = prepared(protocol, folder.path());
        let die = FnAdversary::new().on_message(kind, 0, |_| Action::Close);
        let ended = run(protocol, &stores, Some(die));
        let lost = |ended: &Result<()>| matches!(ended, Err(Error::Transport { .. }));
        assert!(ended.iter().all(lost), "{ended:?}");
        for store in &stores {
            assert_eq!(store.available_items(&Filter::default()).unwrap().len(), 1);
        }
        let again = run(protocol, &stores, None);
        assert!(again.iter().all(Result::is_ok), "{again:?}");
    }
}
