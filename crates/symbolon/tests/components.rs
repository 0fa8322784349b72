//! Pools of components: filled in one session, they serve circuits in others, once; connections
//! that die, damaged stores, and peers that cheat.

use std::path::Path;
use std::thread;
use std::time::Duration;

use symbolon::circuit::builder::{Builder, ComponentBuilder, Subcircuit};
use symbolon::circuit::{Circuit, Receivers, Type, builtin, reference};
use symbolon::duplo::DuploOptions;
use symbolon::store::{Filter, ItemKind, ItemState, Protection, Store};
use symbolon::stored;
use symbolon::{Compiled, Config, Error, Inputs, Meter, Protocol, Result, Rho, Transport};
use symbolon_transport::adversary::{self, Action, FnAdversary};
use symbolon_transport::memory_lanes;

fn component(name: &str) -> Subcircuit {
    let mut c = ComponentBuilder::new(name);
    let (x, y) = (c.input(8), c.input(8));
    let (sum, product) = (c.add(&x, &y), c.mul(&x, &y));
    let both = c.and(&sum, &product);
    match name {
        "sum" => c.output(&sum),
        "product" => c.output(&product),
        _ => c.output(&both),
    }
    c.finish().unwrap()
}

/// Returns a circuit that calls these components, each on the output of the one before.
fn chain(names: &[&str]) -> Circuit {
    let mut b = Builder::new("chain");
    let x = b.input("x", Type::Uint(8), 0);
    let y = b.input("y", Type::Uint(8), 1);
    let mut last = x.clone();
    for name in names {
        let next = b.call_one(&component(name), &[&last, &y]);
        last = b.xor(&next, &x);
    }
    b.output("z", &last, Type::Uint(8), Receivers::All);
    b.finish().unwrap()
}

const KINDS: [&str; 3] = ["sum", "product", "both"];

/// Returns the circuit that pools are filled for.
fn filled_for() -> Circuit {
    chain(&["product", "sum", "both", "product"])
}

struct Town {
    folder: tempfile::TempDir,
}

impl Town {
    fn new() -> Town {
        let folder = tempfile::tempdir().unwrap();
        for party in 0..2 {
            Store::create(store_of(folder.path(), party), &Protection::None).unwrap();
        }
        Town { folder }
    }

    fn store(&self, party: u16) -> Store {
        Store::open(store_of(self.folder.path(), party), &Protection::None).unwrap()
    }

    /// Runs `part` for both parties, whose stores are open only during this.
    fn meet<T: Send>(
        &self,
        bent: Option<Bent>,
        part: impl Fn(u16, Config, &Store) -> Result<T> + Sync,
    ) -> [Result<T>; 2] {
        let meters = [Meter::new(), Meter::new()];
        let ends = memory_lanes((0, meters[0].clone()), (1, meters[1].clone()), 1, None);
        let (mut near, far) = ends.unwrap();
        if let Some(Bent(kind, index, action)) = bent {
            near[0].set_adversary(Box::new(FnAdversary::new().on_message(
                kind,
                index,
                move |message| action(message),
            )));
        }
        let part = &part;
        thread::scope(|scope| {
            let ends = (0u16..).zip([near, far].into_iter().zip(meters));
            let parties: Vec<_> = ends
                .map(|(party, (channels, meter))| {
                    let transport = Transport::channels(channels, meter);
                    let config = Config::new(party, transport).protocol(Protocol::Duplo);
                    let config = config.options(DuploOptions::components(KINDS));
                    let config = config.timeout(Duration::from_secs(20));
                    scope.spawn(move || part(party, config, &self.store(party)))
                })
                .collect();
            let mut ended = parties.into_iter().map(|party| party.join().unwrap());
            [ended.next().unwrap(), ended.next().unwrap()]
        })
    }

    fn fill(&self, runs: u64) -> [stored::FilledComponents; 2] {
        let filled = self.meet(None, |_, config, store| {
            stored::fill_components(config, store, &filled_for(), runs, |_| ())
        });
        filled.map(Result::unwrap)
    }

    fn prepare(&self, circuit: &Circuit, count: u32) -> [Result<stored::PreparedItems>; 2] {
        self.meet(None, |_, config, store| {
            stored::prepare_from_pools(of_kinds(config, circuit), store, circuit, count)
        })
    }

    /// Prepares circuits and expects success.
    fn prepared(&self, circuit: &Circuit, count: u32) -> [stored::PreparedItems; 2] {
        self.prepare(circuit, count).map(Result::unwrap)
    }

    /// Runs a prepared circuit, and compares the output.
    fn assert_runs(&self, circuit: &Circuit, x: u8, y: u8) {
        let ran = self.meet(None, |party, config, store| {
            let inputs = Inputs::builder(circuit, party);
            let inputs = inputs.uint(usize::from(party), [x, y][usize::from(party)].into())?;
            let config = of_kinds(config, circuit);
            let ran = stored::run(config, store, circuit, &inputs.finish()?)?;
            Ok(ran.outputs.get(0).and_then(|z| z.uint()))
        });
        let bits = |value: u8| (0..8).map(move |bit| value >> bit & 1 == 1);
        let z = reference::eval(circuit, &bits(x).chain(bits(y)).collect::<Vec<_>>());
        let z = z.iter().rev().fold(0, |z, &bit| z << 1 | u128::from(bit));
        for ran in ran {
            assert_eq!(ran.unwrap(), Some(z));
        }
    }

    /// Returns what is left of each kind in a party's pools.
    fn left(&self, party: u16) -> Vec<(String, u64)> {
        let pools = Filter { kind: Some(ItemKind::Pool), ..Filter::default() };
        let pools = self.store(party).available_items(&pools).unwrap();
        let of = |pool: symbolon::store::AvailableItem| {
            let counts = pool.meta.counts.iter().zip(&pool.next).map(|(all, next)| all - next);
            let counts: Vec<u64> = counts.collect();
            let first = counts.len() - pool.meta.components.len();
            let names = pool.meta.components.iter().map(|kind| kind.name.clone().unwrap());
            names.zip(counts[first..].to_vec()).collect::<Vec<_>>()
        };
        let mut left: Vec<(String, u64)> = pools.into_iter().flat_map(of).collect();
        left.sort();
        left
    }
}

/// A change of the garbler's message number `index` of some kind.
struct Bent(&'static str, usize, fn(&mut [u8]) -> Action);

fn store_of(folder: &Path, party: u16) -> std::path::PathBuf {
    folder.join(party.to_string())
}

/// Configures the names of components, of which only those of the circuit may be given.
fn of_kinds(config: Config, circuit: &Circuit) -> Config {
    let calls = |name: &&str| circuit.components().iter().any(|of| of.name == **name);
    config.options(DuploOptions::components(KINDS.into_iter().filter(calls)))
}

fn names(kinds: [(&str, u64); 3]) -> Vec<(String, u64)> {
    kinds.map(|(name, left)| (name.to_string(), left)).to_vec()
}

#[test]
fn a_pool_serves_other_circuits_of_the_same_components_on_later_days() {
    let town = Town::new();
    let filled = town.fill(4);
    assert_eq!(filled[0].items, filled[1].items);
    assert_eq!((filled[0].items.len(), filled[0].made, filled[0].had), (1, 4, 0));
    for party in 0..2 {
        assert_eq!(town.left(party), names([("both", 4), ("product", 8), ("sum", 4)]));
    }
    let first = chain(&["sum", "product", "product", "product"]);
    let others = [first, chain(&["product", "both", "product"]), filled_for()];
    for (day, circuit) in (1..).zip(&others) {
        let made = town.prepared(circuit, 1);
        assert_eq!((made[0].from_pools, made[1].from_pools), (1, 1));
        town.assert_runs(circuit, 77 * day, 31 + day);
    }
    assert_eq!(town.left(0), names([("both", 2), ("product", 1), ("sum", 2)]));
    // The rest does not suffice, and nothing of it is used.
    for ended in town.prepare(&filled_for(), 1) {
        let Err(Error::Store(why)) = ended else { panic!("{ended:?}") };
        assert!(why.to_string().contains("0 of 1"), "{why}");
    }
    assert_eq!(town.left(1), names([("both", 2), ("product", 1), ("sum", 2)]));
    town.prepared(&chain(&["both", "sum"]), 1);
    town.assert_runs(&chain(&["both", "sum"]), 3, 250);
    // Filling adds only what is missing.
    let filled = town.fill(2);
    assert_eq!((filled[0].had, filled[0].made), (0, 2));
    let filled = town.fill(2);
    assert_eq!((filled[0].had, filled[0].made, filled[0].items.len()), (2, 0, 0));
    // Without a demand for pools, what they do not serve is made on the spot.
    let other = builtin::by_name("add:9").unwrap();
    let made = town.meet(None, |_, config, store| {
        stored::prepare(config.options(DuploOptions::default()), store, &other, 1)
    });
    assert!(made.into_iter().all(|made| made.unwrap().from_pools == 0));
}

/// Each pool has its own set-up and cut-and-choose, and one preparation uses several.
#[test]
fn pools_are_closed_after_so_many_gates() {
    let town = Town::new();
    let gates = Compiled::new(&filled_for()).plan().and_count();
    let filled = town.meet(None, |_, config, store| {
        let mut told = Vec::new();
        let config = config.pool_gates(2 * gates);
        let filled = stored::fill_components(config, store, &filled_for(), 3, |pool| {
            told.push((pool.item, pool.runs, pool.number, pool.of));
        })?;
        let [first, second] = filled.items[..] else { panic!("two pools") };
        assert_eq!(told, [(first, 2, 1, 2), (second, 1, 2, 2)]);
        Ok(())
    });
    filled.into_iter().for_each(Result::unwrap);
    let made = town.prepared(&filled_for(), 3);
    assert_eq!((made[0].from_pools, &made[0].items), (3, &made[1].items));
    (0..3).for_each(|run| town.assert_runs(&filled_for(), 90 + run, 7));
    assert!(town.left(0).is_empty() && town.left(1).is_empty());
}

#[test]
fn components_that_are_in_no_pool_are_named_and_nothing_is_used() {
    let town = Town::new();
    town.fill(1);
    let other = builtin::by_name("cbcmac:2").unwrap();
    let ended = town.meet(None, |_, config, store| {
        let config = config.options(DuploOptions::default());
        stored::prepare_from_pools(config, store, &other, 1).map(drop)
    });
    for ended in ended {
        let Err(Error::InvalidInput(why)) = ended else { panic!("{ended:?}") };
        assert!(why.contains("the pool has no components") && why.contains("aes"), "{why}");
    }
    // A pool belongs to its ρ.
    let ended = town.meet(None, |_, config, store| {
        stored::prepare_from_pools(config.rho(Rho::Bits64), store, &filled_for(), 1).map(drop)
    });
    assert!(ended.iter().all(|ended| matches!(ended, Err(Error::Store(_)))), "{ended:?}");
    assert_eq!(town.left(0), names([("both", 1), ("product", 2), ("sum", 1)]));
}

fn close(_: &mut [u8]) -> Action {
    Action::Close
}

fn flip(message: &mut [u8]) -> Action {
    message[5] ^= 4;
    Action::Send
}

/// A pool that is not complete at both parties is not used.
#[test]
fn a_pool_whose_making_was_interrupted_is_not_used() {
    for kind in ["duplo: circuit digests", "duplo: table", "duplo: component solderings"] {
        let town = Town::new();
        let ended = town.meet(Some(Bent(kind, 1, close)), |_, config, store| {
            stored::fill_components(config, store, &filled_for(), 1, |_| ()).map(drop)
        });
        assert!(ended.iter().all(Result::is_err), "{kind}: {ended:?}");
        assert!(town.left(1).is_empty(), "{kind}");
        assert!(town.prepare(&filled_for(), 1).iter().all(Result::is_err), "{kind}");
        // Repeating the call continues the work.
        town.fill(1);
        town.prepared(&filled_for(), 1);
        town.assert_runs(&filled_for(), 1, 2);
    }
}

/// What was taken from a pool is used, even if the connection died before the circuit was stored:
/// the next preparation takes the next part.
#[test]
fn a_part_of_a_pool_is_taken_once() {
    let town = Town::new();
    town.fill(2);
    let ended = town.meet(Some(Bent("duplo: solderings", 0, close)), |_, config, store| {
        stored::prepare_from_pools(config, store, &filled_for(), 1).map(drop)
    });
    assert!(ended.iter().all(|ended| matches!(ended, Err(Error::Transport { .. }))), "{ended:?}");
    for party in 0..2 {
        assert_eq!(town.left(party), names([("both", 1), ("product", 2), ("sum", 1)]));
    }
    town.prepared(&filled_for(), 1);
    town.assert_runs(&filled_for(), 200, 100);
    assert!(town.prepare(&filled_for(), 1).iter().all(Result::is_err));
}

/// A garbler cheats when a circuit is prepared: the pool and everything made from it become void.
/// Cheat: G | AssembleSubs, from a stored pool | a wrong soldering | `commitment opening`; the pool
/// and what was prepared from it are void | always
#[test]
fn a_failed_check_makes_the_pool_void() {
    let town = Town::new();
    town.fill(3);
    town.prepared(&filled_for(), 1);
    let ended = town.meet(Some(Bent("duplo: solderings", 0, flip)), |_, config, store| {
        stored::prepare_from_pools(config, store, &filled_for(), 1).map(drop)
    });
    adversary::assert_noticed(&ended[1], 0, symbolon_cutchoose::checks::OPENING);
    for entry in town.store(1).list().unwrap() {
        assert!(matches!(entry.state, ItemState::Void(_)), "{entry:?}");
    }
}

/// Damage of any section is found before anything read from it is used.
#[test]
fn a_damaged_pool_is_not_used() {
    for party in 0..2u16 {
        for section in 0..7 {
            let town = Town::new();
            let [filled, _] = town.fill(1);
            let items = store_of(town.folder.path(), party).join("items");
            let file = items.join(filled.items[0].to_string()).join(format!("{section}.bin"));
            let mut bytes = std::fs::read(&file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(&file, bytes).unwrap();
            let ended = town.prepare(&filled_for(), 1);
            let own = &ended[usize::from(party)];
            assert!(matches!(own, Err(Error::Store(_))), "party {party}, {section}: {own:?}");
            let left = town.left(party);
            assert!(left.is_empty(), "what was read is used: {left:?}");
        }
    }
}
