//! The phases in separate sessions, over stores on disk.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use symbolon::circuit::builder::{Builder, Word};
use symbolon::circuit::{Circuit, Receivers, Type, builtin};
use symbolon::duplo::{Forecast, Plans};
use symbolon::store::{
    AvailableItem, Filter, ItemId, ItemKind, ItemMeta, ItemState, Protection, Section, Store,
};
use symbolon::stored::{self, Agreement, Amount};
use symbolon::{CancelHandle, Config, Error, Inputs, Meter, Protocol, Result, Transport};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::memory_lanes;

fn circuit(name: &str) -> Circuit {
    builtin::by_name(name).unwrap()
}

/// Creates a store for each party.
fn stores(folder: &Path, parties: u16) -> Vec<Store> {
    let make = |party| Store::create(folder.join(format!("{party}")), &Protection::None).unwrap();
    (0..parties).map(make).collect()
}

/// Runs `part` for every party over memory.
fn together<T: Send>(
    protocol: Protocol,
    stores: &[Store],
    part: impl Fn(Config, &Store) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let mesh = Transport::memory_mesh(stores.len() as u16, 1, None).unwrap();
    together_over(mesh, protocol, stores, part)
}

/// Runs `part` for every party over these transports.
fn together_over<T: Send>(
    mesh: Vec<Transport>,
    protocol: Protocol,
    stores: &[Store],
    part: impl Fn(Config, &Store) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let part = &part;
    thread::scope(|scope| {
        let start = |((party, transport), store)| {
            let config = Config::new(party, transport).protocol(protocol);
            let config = config.timeout(Duration::from_secs(20));
            scope.spawn(move || part(config, store))
        };
        let parties: Vec<_> = (0u16..).zip(mesh).zip(stores).map(start).collect();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

fn all<T>(results: Vec<Result<T>>) -> Vec<T> {
    results.into_iter().map(Result::unwrap).collect()
}

fn sums(protocol: Protocol, stores: &[Store], values: [u128; 2]) -> Vec<Result<Option<u128>>> {
    let circuit = circuit("add:16");
    let circuit = &circuit;
    together(protocol, stores, move |config, store| {
        let me = config_party(store);
        let mut inputs = Inputs::builder(circuit, me);
        if let Some(value) = values.get(usize::from(me)) {
            inputs = inputs.uint(usize::from(me), *value)?;
        }
        let ran = stored::run(config, store, circuit, &inputs.finish()?)?;
        Ok(ran.outputs.get(0).and_then(|sum| sum.uint()))
    })
}

/// Stores are in directories named after their party.
fn config_party(store: &Store) -> u16 {
    let name = store.directory().file_name().unwrap().to_str().unwrap();
    name.parse().unwrap()
}

fn available(store: &Store, kind: ItemKind) -> usize {
    store.available_items(&Filter { kind: Some(kind), ..Filter::default() }).unwrap().len()
}

/// One preparation of several executions, each of which is a separate item.
#[test]
fn executions_prepared_together_are_run_one_by_one() {
    for protocol in [Protocol::DualEx, Protocol::Duplo] {
        run_one_by_one(protocol);
    }
}

fn run_one_by_one(protocol: Protocol) {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let prepared = all(together(protocol, &stores, |config, store| {
        stored::prepare(config, store, &circuit("add:16"), 3)
    }));
    assert_eq!(prepared[0].items.len(), 3);
    assert_eq!(prepared[0].items, prepared[1].items);
    for left in (0..3).rev() {
        let got = all(sums(protocol, &stores, [1000 + left, 24]));
        assert_eq!(got, [Some(1024 + left), Some(1024 + left)]);
        assert_eq!(available(&stores[0], ItemKind::Prepared) as u128, left);
    }
    assert!(sums(protocol, &stores, [1, 2]).iter().all(Result::is_err));
    // There is no pool to fill.
    let amount = Amount { and_gates: 300, input_bits: 70 };
    for ended in
        together(protocol, &stores, |config, store| stored::fill(config, store, amount).map(drop))
    {
        assert!(matches!(ended, Err(Error::InvalidInput(_))), "{ended:?}");
    }
}

/// Returns two transports that end at the garbler's message number `index` of this kind.
fn dying(kind: &'static str, index: usize) -> Vec<Transport> {
    let meters = [Meter::new(), Meter::new()];
    let ends = memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), 1, None);
    let (mut near, far) = ends.unwrap();
    let die = FnAdversary::new().on_message(kind, index, |_| Action::Close);
    near[0].set_adversary(Box::new(die));
    let ends = [near, far].into_iter().zip(meters);
    ends.map(|(channels, meter)| Transport::channels(channels, meter)).collect()
}

/// Parts are entered into the stores once both parties have them on disk, up to 16 at a time. If
/// the connection ends later, those can be used, and there are no others.
#[test]
fn parts_that_were_stored_before_the_connection_died_can_be_used() {
    let add = circuit("add:16");
    let forecast = Forecast::new(&add, Plans { count: 36, ..Plans::default() }).unwrap();
    let tables = forecast.components[0].sizes.bucket as usize;
    for (finished, stored) in [(0, 0), (3, 0), (16, 16), (35, 32)] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), 2);
        let mesh = dying("duplo: table", finished * tables);
        let ended = together_over(mesh, Protocol::Duplo, &stores, |config, store| {
            stored::prepare(config, store, &add, 36).map(drop)
        });
        assert!(
            ended.iter().all(|ended| matches!(ended, Err(Error::Transport { .. }))),
            "{ended:?}"
        );
        for store in &stores {
            assert_eq!(available(store, ItemKind::Prepared), stored);
            assert!(store.drafts().unwrap().is_empty(), "what was not entered is gone");
        }
        let expected = [3, 4];
        match stored {
            0 => assert!(sums(Protocol::Duplo, &stores, expected).iter().all(Result::is_err)),
            _ => assert_eq!(all(sums(Protocol::Duplo, &stores, expected)), [Some(7), Some(7)]),
        }
        all(together(Protocol::Duplo, &stores, |config, store| {
            stored::prepare(config, store, &add, 1)
        }));
        assert_eq!(all(sums(Protocol::Duplo, &stores, [5, 6])), [Some(11), Some(11)]);
    }
}

/// Circuits prepared without a pool share a Δ: those that are in the stores already wait until the
/// others have passed their checks.
#[test]
fn what_is_prepared_is_not_run_before_the_preparation_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let (count, at_a_time) = (20, 16);
    let group = |store: &Store| {
        let items = store.available_items(&Filter::default()).unwrap();
        items.iter().for_each(|item| assert_eq!(item.group, items[0].group));
        (items.len(), items[0].group)
    };
    let path = folder.path().to_path_buf();
    let (seen, has_seen) = std::sync::mpsc::channel();
    // The first 16 are in the stores when party 0 says that it has the others, too.
    let look = FnAdversary::new().on_message("stored items: yes or no", 1, move |_| {
        let open = |party| Store::open(path.join(format!("{party}")), &Protection::None).unwrap();
        let stores: Vec<Store> = (0..2).map(open).collect();
        for store in &stores {
            let (items, group) = group(store);
            assert_eq!(items, at_a_time);
            assert!(store.lock_group(&group).unwrap().is_none());
        }
        let circuit = circuit("add:16");
        let runs = together(Protocol::Wrk, &stores, |config, store| {
            let config = config.timeout(Duration::from_secs(1));
            let me = config_party(store);
            let inputs = Inputs::builder(&circuit, me).uint(usize::from(me), 1)?.finish()?;
            stored::run(config, store, &circuit, &inputs).map(drop)
        });
        let _ = seen.send(runs);
        Action::Send
    });
    let meters = [Meter::new(), Meter::new()];
    let ends = memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), 1, None);
    let (mut near, far) = ends.unwrap();
    near[0].set_adversary(Box::new(look));
    let ends = [near, far].into_iter().zip(meters);
    let mesh = ends.map(|(channels, meter)| Transport::channels(channels, meter)).collect();
    let made = all(together_over(mesh, Protocol::Wrk, &stores, |config, store| {
        stored::prepare(config, store, &circuit("add:16"), count)
    }));
    assert_eq!(made[0].items, made[1].items);
    for run in has_seen.recv().unwrap() {
        let Err(Error::Store(why)) = &run else { panic!("{run:?}") };
        assert!(why.text().contains("still being prepared"), "{run:?}");
    }
    for store in &stores {
        let (items, group) = group(store);
        assert_eq!(items, count as usize);
        assert!(store.lock_group(&group).unwrap().is_some());
    }
    assert_eq!(all(sums(Protocol::Wrk, &stores, [3, 4])), [Some(7), Some(7)]);
}

/// A run has its outputs even if the files of the item that it used cannot be removed: they are
/// collected later.
#[test]
fn files_that_cannot_be_removed_cost_nobody_the_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let made = all(together(Protocol::Wrk, &stores, |config, store| {
        stored::prepare(config, store, &circuit("add:16"), 1)
    }));
    let files = |store: &Store| store.directory().join("items").join(made[0].items[0].to_string());
    let in_the_way = |store: &Store| files(store).join("in the way");
    stores.iter().for_each(|store| std::fs::create_dir(in_the_way(store)).unwrap());
    assert_eq!(all(sums(Protocol::Wrk, &stores, [3, 4])), [Some(7), Some(7)]);
    assert!(sums(Protocol::Wrk, &stores, [3, 4]).iter().all(Result::is_err), "it is used up");
    for store in &stores {
        std::fs::remove_dir(in_the_way(store)).unwrap();
        store.gc().unwrap();
        assert!(!files(store).exists());
    }
}

/// Changes a byte of each of an item's files.
fn spoil(store: &Store, item: ItemId) {
    let folder = store.directory().join("items").join(item.to_string());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let place = bytes.len() * 3 / 4;
        bytes[place] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
}

/// A garbler that only sends does not notice its peer's damaged pool: it waits until the peer has
/// its part, too. The damaged pool becomes void, so the next preparation takes other material.
#[test]
fn a_damaged_pool_leaves_nothing_that_some_parties_have_and_is_not_tried_again() {
    let add = circuit("add:16");
    for (protocol, damaged) in [(Protocol::Duplo, 0), (Protocol::Duplo, 1), (Protocol::Wrk, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), 2);
        all(together(protocol, &stores, |config, store| match protocol {
            Protocol::Duplo => stored::fill_components(config, store, &add, 3, |_| ()).map(drop),
            _ => {
                let amount = Amount { and_gates: 300, input_bits: 70 };
                stored::fill(config, store, amount).map(drop)
            }
        }));
        spoil(&stores[damaged], store_pool(&stores[damaged]).id);
        let ended = together(protocol, &stores, |config, store| {
            stored::prepare_from_pools(config, store, &add, 1).map(drop)
        });
        let [own, other] = [damaged, 1 - damaged].map(|party| ended[party].as_ref().unwrap_err());
        assert!(own.to_string().contains("make new material"), "{own}");
        assert!(matches!(other, Error::Transport { .. }), "{other}");
        assert!(stores.iter().all(|store| available(store, ItemKind::Prepared) == 0));
        assert_eq!(available(&stores[damaged], ItemKind::Pool), 0);
        let made = all(together(protocol, &stores, |config, store| {
            stored::prepare(config, store, &add, 1)
        }));
        assert!(made.iter().all(|made| made.from_pools == 0));
        assert_eq!(all(sums(protocol, &stores, [5, 6])), [Some(11), Some(11)]);
    }
}

/// Also if the damage is detected before anything is marked as used.
#[test]
fn a_damaged_prepared_circuit_is_void_when_it_is_found() {
    let add = circuit("add:16");
    for cut in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), 2);
        let made = all(together(Protocol::Wrk, &stores, |config, store| {
            stored::prepare(config, store, &add, 2)
        }));
        // The item that is taken first.
        let item = *made[0].items.iter().min().unwrap();
        match cut {
            true => {
                let folder = stores[0].directory().join("items").join(item.to_string());
                std::fs::write(folder.join("0.bin"), b"short").unwrap();
            }
            false => spoil(&stores[0], item),
        }
        assert!(sums(Protocol::Wrk, &stores, [1, 2]).iter().all(Result::is_err));
        assert_eq!(available(&stores[0], ItemKind::Prepared), 1);
        assert_eq!(all(sums(Protocol::Wrk, &stores, [5, 6])), [Some(11), Some(11)]);
    }
}

#[test]
fn a_pool_on_monday_a_circuit_on_tuesday_an_answer_on_wednesday() {
    for (protocol, parties) in [(Protocol::Wrk, 2), (Protocol::Ywz, 2), (Protocol::Ywz, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), parties);
        let amount = Amount { and_gates: 300, input_bits: 70 };
        let filled =
            all(together(protocol, &stores, |config, store| stored::fill(config, store, amount)));
        assert!(
            filled.iter().all(|f| f.items == filled[0].items
                && f.items.len() == 1
                && f.made.and_gates == 384)
        );
        let again =
            all(together(protocol, &stores, |config, store| stored::fill(config, store, amount)));
        assert!(again.iter().all(|f| f.items.is_empty() && f.had.and_gates == 384));
        // Two from the pool, which has input bits for four and gates for three; and then one more
        // than that.
        let circuit = circuit("add:16");
        for (count, from_pools) in [(2, 2), (2, 1)] {
            let made = all(together(protocol, &stores, |config, store| {
                stored::prepare(config, store, &circuit, count)
            }));
            assert!(made.iter().all(|m| m.items == made[0].items && m.from_pools == from_pools));
            assert!(made.iter().all(|m| m.agreement.is_complete()));
        }
        for store in &stores {
            assert_eq!(available(store, ItemKind::Prepared), 4);
        }
        for run in 0..4 {
            let sums = all(sums(protocol, &stores, [run, 40_000]));
            assert!(sums.iter().all(|sum| *sum == Some(40_000 + run)), "{sums:?}");
        }
        for end in sums(protocol, &stores, [1, 2]) {
            assert!(
                matches!(&end, Err(Error::Store(why)) if why.code() == stored::OUT_OF_MATERIAL && why.text().contains("prepare")),
                "{end:?}"
            );
        }
    }
}

/// Returns x ⊕ y, and a circuit without inputs: no AND gate shows how far a pool was used.
fn without_gates() -> [Circuit; 2] {
    let ty = Type::Uint(16);
    let mut xor = Builder::new("xor");
    let [x, y] = [0, 1].map(|party| xor.input(format!("x{party}"), ty.clone(), party));
    let sum = xor.xor(&x, &y);
    xor.output("sum", &sum, ty.clone(), Receivers::All);
    let mut constant = Builder::new("constant");
    constant.output("constant", &Word::constant(16, 12345), ty, Receivers::All);
    [xor, constant].map(|builder| builder.finish().unwrap())
}

#[test]
fn circuits_without_gates_are_prepared_from_a_pool_as_often_as_others() {
    for (protocol, parties) in [(Protocol::Wrk, 2), (Protocol::Ywz, 3), (Protocol::TinyTable, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), parties);
        let amount = Amount { and_gates: 128, input_bits: 100 };
        all(together(protocol, &stores, |config, store| stored::fill(config, store, amount)));
        let [xor, constant] = without_gates();
        let mut items = Vec::new();
        // What one command prepares, and the next one after it, has different names.
        for (circuit, from_pools) in [(&xor, 2), (&constant, 0), (&xor, 2)] {
            let made = all(together(protocol, &stores, |config, store| {
                stored::prepare(config, store, circuit, 2)
            }));
            assert!(made.iter().all(|m| m.items == made[0].items && m.from_pools == from_pools));
            items.extend(made[0].items.clone());
        }
        items.sort();
        items.dedup();
        assert_eq!(items.len(), 6, "{protocol:?}");
        for (circuit, runs, expected) in [(&xor, 4, 0x0ff0), (&constant, 2, 12345)] {
            for _ in 0..runs {
                let ran = all(together(protocol, &stores, |config, store| {
                    let me = config_party(store);
                    let mut inputs = Inputs::builder(circuit, me);
                    if let (true, Some(value)) =
                        (circuit == &xor, [0x0f00, 0x00f0].get(usize::from(me)))
                    {
                        inputs = inputs.uint(usize::from(me), *value)?;
                    }
                    stored::run(config, store, circuit, &inputs.finish()?)
                }));
                for ran in ran {
                    assert_eq!(ran.outputs.get(0).and_then(|out| out.uint()), Some(expected));
                }
            }
        }
    }
}

/// If one party finished a circuit that another did not, the next one gets a number that is new to
/// both.
#[test]
fn a_circuit_that_one_party_finished_alone_does_not_stop_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let (protocol, [xor, _]) = (Protocol::Wrk, without_gates());
    let amount = Amount { and_gates: 128, input_bits: 100 };
    all(together(protocol, &stores, |config, store| stored::fill(config, store, amount)));
    let pool = store_pool(&stores[1]);
    let meta = ItemMeta {
        kind: ItemKind::Prepared,
        circuit: Some(xor.digest()),
        sequence: 6,
        counts: Vec::new(),
        ..pool.meta
    };
    let mut item_writer = stores[1].begin(meta, &[Section::Whole], 1000).unwrap();
    item_writer.section(0).put(b"made alone").unwrap();
    let alone = item_writer.finish(vec![1]).unwrap();
    let made =
        all(together(protocol, &stores, |config, store| stored::prepare(config, store, &xor, 1)));
    assert_eq!(made[0].items, made[1].items);
    assert_ne!(made[0].items[0], alone);
    assert_eq!(made[0].from_pools, 1);
    assert!(stores.iter().all(|store| store_pool(store).next_prepared == 8));
}

fn store_pool(store: &Store) -> AvailableItem {
    store
        .available_items(&Filter { kind: Some(ItemKind::Pool), ..Filter::default() })
        .unwrap()
        .remove(0)
}

#[test]
fn stores_that_disagree_use_what_both_still_hold() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let circuit = circuit("add:16");
    let protocol = Protocol::Wrk;
    let made = all(together(protocol, &stores, |config, store| {
        stored::prepare(config, store, &circuit, 3)
    }));
    // Party 0 used an item that party 1 believes to be available; party 1 lost another.
    let items = &made[0].items;
    drop(stores[0].take_prepared(items[0]).unwrap());
    stores[1].void(&[items[2]], "lost").unwrap();
    let ran = all(together(protocol, &stores, |config, store| {
        let me = config_party(store);
        let inputs = Inputs::builder(&circuit, me).uint(usize::from(me), 5)?.finish()?;
        stored::run(config, store, &circuit, &inputs)
    }));
    let expected = Agreement { common: 1, only_here: 1, only_elsewhere: 1, uneven: 0 };
    for ran in &ran {
        assert_eq!((ran.item, ran.agreement), (items[1], expected));
        assert_eq!(ran.outputs.get(0).and_then(|sum| sum.uint()), Some(10));
    }
    for end in sums(protocol, &stores, [1, 2]) {
        assert!(
            matches!(&end, Err(Error::Store(why)) if why.text().contains("peers' stores")),
            "{end:?}"
        );
    }
}

#[test]
fn of_an_unevenly_used_pool_nobody_gets_what_somebody_has_used() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let circuit = circuit("add:16");
    let protocol = Protocol::Wrk;
    let amount = Amount { and_gates: 1_000, input_bits: 1_000 };
    let filled =
        all(together(protocol, &stores, |config, store| stored::fill(config, store, amount)));
    // Party 0's run died after it had taken its part.
    drop(stores[0].take_range(filled[0].items[0], &[0, 0, 0], &[3, 16, 16]).unwrap());
    let made = all(together(protocol, &stores, |config, store| {
        stored::prepare(config, store, &circuit, 1)
    }));
    for (made, store) in made.iter().zip(&stores) {
        assert_eq!((made.from_pools, made.agreement.uneven), (1, 1));
        let pools = store
            .available_items(&Filter { kind: Some(ItemKind::Pool), ..Filter::default() })
            .unwrap();
        assert_eq!(pools[0].next, [4, 32, 32]);
    }
    let sums = all(sums(protocol, &stores, [3, 4]));
    assert_eq!(sums, [Some(7), Some(7)]);
}

#[test]
fn runs_side_by_side_use_different_circuits() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let circuit = circuit("add:16");
    all(together(Protocol::Wrk, &stores, |config, store| {
        stored::prepare(config, store, &circuit, 6)
    }));
    thread::scope(|scope| {
        for run in 0..6u128 {
            let stores = &stores;
            scope.spawn(move || {
                let sums = all(sums(Protocol::Wrk, stores, [run, run]));
                assert_eq!(sums, [Some(2 * run); 2]);
            });
        }
    });
    for store in &stores {
        assert_eq!(available(store, ItemKind::Prepared), 0);
        assert!(store.list().unwrap().iter().all(|entry| entry.state == ItemState::Used));
    }
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let circuit = circuit("add:16");
    all(together(Protocol::Wrk, &stores, |config, store| {
        stored::prepare(config, store, &circuit, 1)
    }));
    let ended = together(Protocol::Wrk, &stores, |config, store| {
        stored::fill(config, store, Amount { and_gates: 0, input_bits: 1 })
    });
    assert!(ended.iter().all(|end| matches!(end, Err(Error::InvalidInput(_)))));
    // One side asked for another phase.
    let ended = together(Protocol::Wrk, &stores, |config, store| match config_party(store) {
        0 => stored::prepare(config, store, &circuit, 1).map(drop),
        me => {
            let inputs = Inputs::builder(&circuit, me).uint(1, 5)?.finish()?;
            stored::run(config, store, &circuit, &inputs).map(drop)
        }
    });
    for end in ended {
        assert!(
            matches!(&end, Err(Error::PeerIncompatible { what, .. }) if what.code() == "phase"),
            "{end:?}"
        );
    }
    // For another circuit or protocol there is nothing, and nothing is lost.
    let ended = together(Protocol::Ywz, &stores, |config, store| {
        let me = config_party(store);
        let inputs = Inputs::builder(&circuit, me).uint(usize::from(me), 5)?.finish()?;
        stored::run(config, store, &circuit, &inputs).map(drop)
    });
    assert!(ended.iter().all(|end| matches!(end, Err(Error::Store(_)))));
    assert_eq!(all(sums(Protocol::Wrk, &stores, [1, 2])), [Some(3); 2]);
}

#[test]
fn a_damaged_item_is_not_used() {
    for protocol in [Protocol::Wrk, Protocol::Duplo] {
        damage(protocol);
    }
}

fn damage(protocol: Protocol) {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let circuit = circuit("add:16");
    let made = all(together(protocol, &stores, |config, store| {
        stored::prepare(config, store, &circuit, 1)
    }));
    let file = stores[1].directory().join("items").join(made[0].items[0].to_string()).join("0.bin");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let ended = sums(protocol, &stores, [1, 2]);
    assert!(matches!(ended[0], Err(Error::Transport { .. })), "{:?}", ended[0]);
    assert!(matches!(&ended[1], Err(Error::Store(_))), "{:?}", ended[1]);
}

/// The request exceeds one pool: each pool is its own group, and circuits are prepared from all of
/// them.
#[test]
fn pools_are_closed_one_after_the_other() {
    for (protocol, parties) in [(Protocol::Wrk, 2), (Protocol::Ywz, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), parties);
        let amount = Amount { and_gates: 300, input_bits: 90 };
        let filled = all(together(protocol, &stores, |config, store| {
            let mut told = Vec::new();
            let filled = stored::fill_each(config.pool_gates(128), store, amount, |pool| {
                assert_eq!(available(store, ItemKind::Pool) as u64, pool.number, "it is there");
                told.push((pool.item, pool.number, pool.of));
            })?;
            let expected: Vec<_> =
                (1..).zip(&filled.items).map(|(n, item)| (*item, n, 3)).collect();
            assert_eq!(told, expected);
            Ok(filled)
        }));
        assert!(filled.iter().all(|f| f.items == filled[0].items && f.made.and_gates == 384));
        let pools = stores[0].available_items(&Filter::default()).unwrap();
        let groups: BTreeSet<_> = pools.iter().map(|pool| pool.group).collect();
        assert_eq!(groups.len(), 3, "a set-up each");
        let add = circuit("add:16");
        let made = all(together(protocol, &stores, |config, store| {
            stored::prepare(config, store, &add, 3)
        }));
        assert!(made.iter().all(|made| made.from_pools == 3));
        for run in 0..3 {
            let sums = all(sums(protocol, &stores, [run, 500]));
            assert!(sums.iter().all(|sum| *sum == Some(500 + run)));
        }
    }
}

/// One party is interrupted after some pools: they stay on both sides, and repeating the call
/// continues the work.
#[test]
fn what_was_closed_before_an_interruption_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let amount = Amount { and_gates: 1024, input_bits: 256 };
    let fill = |config: Config, store: &Store, after: u64| {
        let handle = CancelHandle::new();
        let config = config.pool_gates(128).cancelled_by(&handle);
        let stops = config_party(store) == 1;
        stored::fill_each(config, store, amount, |pool| {
            if stops && pool.number == after {
                handle.cancel();
            }
        })
    };
    let ended = together(Protocol::Wrk, &stores, |config, store| fill(config, store, 3));
    assert_eq!(ended[1].as_ref().unwrap_err(), &Error::Cancelled);
    let told = ended[0].as_ref().unwrap_err().to_string();
    assert!(told.contains("it was interrupted"), "{told}");
    assert!(stores.iter().all(|store| store.drafts().unwrap().is_empty()));
    assert_eq!(available(&stores[1], ItemKind::Pool), 3);
    let again = all(together(Protocol::Wrk, &stores, |config, store| fill(config, store, 0)));
    assert!(again.iter().all(|filled| filled.had.and_gates == 384));
    assert!(again.iter().all(|filled| filled.made == Amount { and_gates: 640, input_bits: 160 }));
    let more = all(together(Protocol::Wrk, &stores, |config, store| fill(config, store, 0)));
    assert!(more.iter().all(|filled| filled.items.is_empty()));
}

#[test]
fn too_many_pools_are_refused_before_anybody_is_troubled() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let amount = Amount { and_gates: 513 * 128, input_bits: 1 };
    let ended = together(Protocol::Wrk, &stores, |config, store| {
        stored::fill(config.pool_gates(128), store, amount)
    });
    for ended in ended {
        assert!(matches!(&ended, Err(Error::InvalidInput(why)) if why.contains("larger")));
    }
}

/// The peer is not there: the inputs are refused before a message is sent or an item is chosen.
#[test]
fn inputs_that_fail_an_assert_by_themselves_use_nothing_up() {
    let program = "fn main(a: u8 from 0, b: u8 from 1) -> (c: u8 to all) {\n\
        assert(a != b, \"the same\");\n    assert(a < 9, \"too large\");\n    a ^ b\n}\n";
    let circuit = symbolon_lang::compile_text(program, &Default::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 1);
    let run = |a: u128| {
        let (zero, one) = Transport::memory(1, None).unwrap();
        drop(one);
        let inputs = Inputs::builder(&circuit, 0).uint("a", a).unwrap().finish().unwrap();
        stored::run(Config::new(0, zero), &stores[0], &circuit, &inputs).unwrap_err()
    };
    let Error::InvalidInput(text) = run(9) else { panic!("something was sent") };
    assert!(text.contains("an assert fails") && text.contains("too large"), "{text}");
    assert!(matches!(run(8), Error::Transport { .. }));
}
