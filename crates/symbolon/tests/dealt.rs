//! Parties whose material comes from a dealer: right outputs, and dealers that are absent, die or
//! lie.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::dealer::{Client, DealerServer, Event, ServerLimits};
use symbolon::store::{Filter, ItemKind, ItemState, Protection, Store};
use symbolon::stored::{self, Amount};
use symbolon::tinytable::{Commitment, TinyTableOptions};
use symbolon::{
    Config, DEPENDENT, Dealer, Endpoint, Error, Fingerprint, GateForm, INDEPENDENT, Inputs,
    Options, OtExtension, Outputs, Protocol, Result, Session, Transport, TransportReason,
};
use symbolon_primitives::{Block, Prg, derive_block};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::{DEALER, Meter, PartyId, memory_lanes};

const KEY: u128 = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c;
const MESSAGE: u128 = 0x3243_f6a8_885a_308d_3131_98a2_e037_0734;
const CIPHERTEXT: u128 = 0x3925_841d_02dc_09fb_dc11_8597_196a_0b32;

/// Only bounds the duration of a test that hangs, except for tests that wait for it.
const WAIT: Duration = Duration::from_secs(20);

/// The dealer's adversary on its channel to a party.
type Bent = fn(party: u16) -> FnAdversary;
type BentBy = Arc<dyn Fn(u16) -> FnAdversary + Send + Sync>;

/// A dealer in this process, and its reports.
#[derive(Clone)]
struct House {
    server: Arc<DealerServer>,
    events: Arc<Mutex<Vec<Event>>>,
    bent: Option<BentBy>,
}

impl House {
    fn open(join_timeout: Duration, bent: Option<Bent>) -> House {
        House::open_with(join_timeout, bent.map(|bent| -> BentBy { Arc::new(bent) }))
    }

    fn open_with(join_timeout: Duration, bent: Option<BentBy>) -> House {
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = events.clone();
        let report = move |event| heard.lock().unwrap().push(event);
        let server =
            DealerServer::new(ServerLimits { join_timeout, ..ServerLimits::default() }, report)
                .unwrap();
        House { server: Arc::new(server), events, bent }
    }

    fn dealer(&self, name: &str) -> Dealer {
        let House { server, bent, .. } = self.clone();
        Dealer::channels(name, move |party, meter| {
            let ends = ((party, meter.clone()), (DEALER, Meter::new()));
            let (mut near, mut far) = memory_lanes(ends.0, ends.1, 1, None)?;
            let (near, mut far) = (near.remove(0), far.remove(0));
            far.set_timeout(WAIT);
            if let Some(bent) = &bent {
                far.set_adversary(Box::new(bent(party.number())));
            }
            server.admit(Client::from(far));
            Ok(near)
        })
    }

    /// Returns the sessions that were dealt to, once all have ended.
    fn served(self) -> Vec<[u8; 32]> {
        let House { server, events, .. } = self;
        Arc::into_inner(server).expect("all parties have gone").finish();
        let events = events.lock().unwrap();
        let served = events.iter().filter_map(|event| match event {
            Event::Served(summary) => Some(summary.session),
            _ => None,
        });
        served.collect()
    }
}

/// Runs `part` for every party, connected in memory.
fn together<T: Send>(
    parties: u16,
    part: impl Fn(u16, Config) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let mesh = Transport::memory_mesh(parties, 1, None).unwrap();
    let part = &part;
    thread::scope(|scope| {
        let start = |(party, transport)| {
            let config = Config::new(party, transport).timeout(WAIT);
            scope.spawn(move || part(party, config))
        };
        let threads: Vec<_> = (0u16..).zip(mesh).map(start).collect();
        threads.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

fn aes() -> Circuit {
    builtin::by_name("aes128").unwrap()
}

fn inputs(circuit: &Circuit, party: u16) -> Inputs {
    let builder = Inputs::builder(circuit, party);
    let builder = match party {
        0 => builder.uint(0, KEY).unwrap(),
        1 => builder.uint(1, MESSAGE).unwrap(),
        _ => builder,
    };
    builder.finish().unwrap()
}

fn ciphertext(outputs: &Outputs) -> Option<u128> {
    outputs.get(0).and_then(|output| output.uint())
}

#[test]
fn what_is_dealt_gives_the_right_answer() {
    let circuit = &aes();
    let code = TinyTableOptions { commitment: Commitment::Code, ..TinyTableOptions::default() };
    let usual = Options::default;
    let cases = [
        (Protocol::Wrk, Some(GateForm::FourRow), 2, usual()),
        (Protocol::Wrk, Some(GateForm::HalfGates), 2, usual()),
        (Protocol::Ywz, None, 2, usual()),
        (Protocol::Ywz, None, 3, usual()),
        (Protocol::TinyTable, None, 2, usual()),
        (Protocol::TinyTable, None, 2, code.into()),
    ];
    for (protocol, form, parties, options) in cases {
        let house = House::open(WAIT, None);
        let ended = together(parties, |party, config| {
            let config = config.protocol(protocol).form(form).options(options.clone());
            let config = config.dealer(house.dealer("a friend"));
            let mut session = Session::connect(config, circuit)?;
            assert_eq!(session.dealer(), Some("a friend"));
            let mut learnt = Vec::new();
            for _ in 0..2 {
                learnt.push(ciphertext(&session.evaluate(&inputs(circuit, party))?));
            }
            Ok((learnt, session.report()))
        });
        for ended in ended {
            let (learnt, report) = ended.unwrap_or_else(|error| panic!("{protocol:?}: {error}"));
            assert_eq!(learnt, [Some(CIPHERTEXT); 2], "{protocol:?} among {parties}");
            // Everything dealt is received in its own phase, and nothing else was made.
            let dealt = report.phase(INDEPENDENT).unwrap();
            let gates = if protocol == Protocol::TinyTable { 0 } else { 2 * 6400 };
            assert!(dealt.bytes_received > 64 * gates * u64::from(parties - 1), "{dealt:?}");
            assert!(dealt.bytes_sent < 1000, "{dealt:?}");
            assert!(report.phase(DEPENDENT).unwrap().bytes_received > 0);
        }
        // Two evaluations are two dealings, which cannot be confused.
        let served = house.served();
        assert!(served.len() == 2 && served[0] != served[1]);
    }
}

/// Creates a store for each party.
fn stores(folder: &Path, parties: u16) -> Vec<Store> {
    let make = |party| Store::create(folder.join(format!("{party}")), &Protection::None).unwrap();
    (0..parties).map(make).collect()
}

fn available_items(store: &Store, kind: ItemKind) -> Vec<Option<String>> {
    let filter = Filter { kind: Some(kind), ..Filter::default() };
    store.available_items(&filter).unwrap().into_iter().map(|item| item.meta.dealer).collect()
}

const POOL: Amount = Amount { and_gates: 20_000, input_bits: 700 };

#[test]
fn a_pool_is_dealt_once_and_lasts() {
    let circuit = &aes();
    for (protocol, pools, parties) in [
        (Protocol::Wrk, Protocol::Wrk, 2),
        (Protocol::Ywz, Protocol::Ywz, 3),
        (Protocol::TinyTable, Protocol::Ywz, 2),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), parties);
        let store = |party: u16| &stores[usize::from(party)];
        let house = House::open(WAIT, None);
        let amount = match protocol {
            Protocol::TinyTable => Amount { and_gates: 60_000, input_bits: 300 },
            _ => POOL,
        };
        let fill = |party, config: Config| {
            let config = config.protocol(pools).dealer(house.dealer("a friend"));
            stored::fill(config, store(party), amount)
        };
        for filled in together(parties, fill) {
            assert!(filled.unwrap().items.len() == 1);
        }
        for filled in together(parties, fill) {
            assert!(filled.unwrap().items.is_empty(), "there is enough");
        }
        // From now on the dealer is not contacted any more.
        assert_eq!(house.served().len(), 1);
        let absent = || Dealer::channels("a friend", |_, _| Err(Error::internal("it was asked")));
        let prepare = |party, config: Config| {
            let config = config.protocol(protocol).dealer(absent());
            stored::prepare(config, store(party), circuit, 1)
        };
        for prepared in together(parties, prepare) {
            let prepared = prepared.unwrap();
            assert_eq!((prepared.from_pools, prepared.dealt), (1, 1), "{protocol:?}");
        }
        for store in &stores {
            for kind in [ItemKind::Pool, ItemKind::Prepared] {
                assert_eq!(available_items(store, kind), [Some("a friend".to_string())]);
            }
        }
        // A party that does not name the dealer does not use what it dealt.
        let run = |party, config: Config| {
            let config = config.protocol(protocol);
            stored::run(config, store(party), circuit, &inputs(circuit, party))
        };
        for ran in together(parties, run) {
            let error = ran.unwrap_err();
            assert!(matches!(error, Error::Store(_)), "{error}");
            assert!(error.to_string().contains("material of the dealer a friend"), "{error}");
        }
        for ran in together(parties, |party, config| run(party, config.dealer(absent()))) {
            let ran = ran.unwrap();
            assert_eq!(ciphertext(&ran.outputs), Some(CIPHERTEXT), "{protocol:?}");
            assert_eq!(ran.dealer.as_deref(), Some("a friend"));
        }
    }
}

#[test]
fn what_parties_make_and_what_is_dealt_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let circuit = &builtin::by_name("add:8").unwrap();
    // Enough for twelve.
    let amount = Amount { and_gates: 12 * 128, input_bits: 100 };
    let house = House::open(WAIT, None);
    let fill = |trusting: bool| {
        let filled = together(2, |party, config| {
            let config = config.dealer(trusting.then(|| house.dealer("a friend")));
            stored::fill(config, &stores[usize::from(party)], amount)
        });
        assert!(filled.into_iter().all(|filled| filled.unwrap().items.len() == 1));
    };
    fill(true);
    // Dealt material does not keep the parties from making their own.
    fill(false);
    let prepare = |dealer: Option<&str>, count| {
        let prepared = together(2, |party, config| {
            let config = config.dealer(dealer.map(|name| house.dealer(name)));
            stored::prepare(config, &stores[usize::from(party)], circuit, count)
        });
        prepared
            .into_iter()
            .map(Result::unwrap)
            .map(|p| (p.from_pools, p.dealt))
            .collect::<Vec<_>>()
    };
    // Both pools together suffice for some more; without the dealer only one of them serves.
    assert_eq!(prepare(None, 20), [(12, 0); 2]);
    // Another dealer's material does not count.
    assert_eq!(prepare(Some("a stranger"), 2), [(0, 2); 2]);
    assert_eq!(prepare(Some("a friend"), 13), [(12, 13); 2]);
    for store in &stores {
        let dealers = available_items(store, ItemKind::Prepared);
        let count = |name: Option<&str>| dealers.iter().filter(|d| d.as_deref() == name).count();
        assert_eq!([count(None), count(Some("a stranger")), count(Some("a friend"))], [20, 2, 13]);
    }
}

#[test]
fn parties_name_the_same_dealer() {
    let circuit = &aes();
    let house = House::open(WAIT, None);
    let cases: [([Option<&str>; 3], [&str; 2]); 3] = [
        ([Some("x"), Some("y"), Some("x")], ["x", "y (party 1)"]),
        ([Some("x"), None, Some("x")], ["x", "none (party 1)"]),
        ([None, Some("y"), None], ["none", "y (party 1)"]),
    ];
    for (names, [ours, theirs]) in cases {
        let ended = together(3, |party, config| {
            let name = names[usize::from(party)];
            let config = config.dealer(name.map(|name| house.dealer(name)));
            Session::connect(config, circuit).map(drop)
        });
        assert_eq!(ended[0], Err(Error::incompatible("dealer", ours, theirs)));
        assert!(matches!(ended[1], Err(Error::PeerIncompatible { .. })), "{:?}", ended[1]);
    }
    // Filling a store fails in the same way, before anything is taken from the store.
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let ended = together(2, |party, config| {
        let config = config.dealer((party == 0).then(|| house.dealer("x")));
        stored::fill(config, &stores[usize::from(party)], POOL)
    });
    assert_eq!(ended[0], Err(Error::incompatible("dealer", "x", "none")));
    assert_eq!(ended[1], Err(Error::incompatible("dealer", "none", "x")));
    assert!(house.served().is_empty());
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_is_sent() {
    let circuit = &aes();
    let refused = |config: Config| match config.check(circuit) {
        Err(Error::InvalidInput(text)) => text,
        other => panic!("{other:?}"),
    };
    let memory = || Transport::memory(1, None).unwrap().0;
    let print: Fingerprint = "ab".repeat(32).parse().unwrap();
    let peer: Fingerprint = "cd".repeat(32).parse().unwrap();
    let tls = || {
        let identity = symbolon::Identity::generate().unwrap();
        Transport::tls(Endpoint::dial("localhost:1"), identity, peer)
    };
    let none = |_: PartyId, _: &Arc<Meter>| Err(Error::internal("not asked"));
    let told = refused(Config::new(0, memory()).dealer(Dealer::tls("h:1", print)));
    assert!(told.contains("connected by TLS themselves"), "{told}");
    for dealer in [Dealer::insecure_plain_tcp("h:1"), Dealer::channels("x", none)] {
        let told = refused(Config::new(0, tls()).dealer(dealer));
        assert!(told.contains("a dealer with a key"), "{told}");
    }
    assert_eq!(Config::new(0, tls()).dealer(Dealer::tls("h:1", print)).check(circuit), Ok(()));
    let own = symbolon::Identity::generate().unwrap();
    let key = own.fingerprint();
    let mine = Transport::tls(Endpoint::dial("localhost:1"), own, peer);
    let told = refused(Config::new(0, mine).dealer(Dealer::tls("h:1", key)));
    assert!(told.contains("has the key of party 0"), "{told}");
    let told = refused(Config::new(0, tls()).dealer(Dealer::tls("h:1", peer)));
    assert!(told.contains("has the key of party 1"), "{told}");
    for name in ["", "two\nlines", &"x".repeat(101)] {
        let told = refused(Config::new(0, memory()).dealer(Dealer::channels(name, none)));
        assert!(told.contains("name"), "{told}");
    }
    let with_ot =
        Config::new(0, memory()).dealer(Dealer::channels("x", none)).ot(OtExtension::Iknp);
    assert!(refused(with_ot).contains("no OT"));
    let alone = Config::new(0, memory()).dealer(Dealer::channels("x", none));
    assert!(matches!(symbolon::make_triples(alone, 9), Err(Error::InvalidInput(_))));
}

fn lost(error: &Error) -> bool {
    matches!(error, Error::Transport { party: Some(DEALER), .. })
}

#[test]
fn a_party_that_finds_no_dealer_says_so_and_the_others_hear_of_it() {
    let circuit = &aes();
    let house = House::open(Duration::from_millis(300), None);
    let nobody =
        || Dealer::channels("x", |_, _| Err(Error::transport(DEALER, TransportReason::Closed)));
    let ended = together(2, |party, config| {
        let dealer = if party == 0 { nobody() } else { house.dealer("x") };
        let mut session = Session::connect(config.dealer(dealer), circuit)?;
        let first = session.evaluate(&inputs(circuit, party)).unwrap_err();
        // The session is over, and is not tried again.
        assert_eq!(session.evaluate(&inputs(circuit, party)).unwrap_err(), first);
        Err::<(), Error>(first)
    });
    assert_eq!(ended[0], Err(Error::transport(DEALER, TransportReason::Closed)));
    let waited = ended[1].clone().unwrap_err();
    let told = waited.to_string();
    assert!(lost(&waited) && told.contains("missing: 0"), "{told}");
    assert!(house.served().is_empty());
}

/// Makes the dealer disconnect at some message to party 0.
fn goes(party: u16, kind: &'static str, index: usize) -> FnAdversary {
    match party {
        0 => FnAdversary::new().on_message(kind, index, |_| Action::Close),
        _ => FnAdversary::new(),
    }
}

/// Cheat: dealer | any | death | nothing is kept | always
#[test]
fn a_dealer_that_dies_ends_it_and_nothing_is_kept() {
    let circuit = &aes();
    // At some message of the first or a later chunk of a pool, and of the only chunk of a circuit.
    let deaths: [[Bent; 2]; 4] = [
        [|party| goes(party, "dealer: seed", 0); 2],
        [|party| goes(party, "dealer: input MACs", 0); 2],
        [|party| goes(party, "dealer: c bits", 1), |party| goes(party, "dealer: c bits", 0)],
        [|party| goes(party, "dealer: gate MACs", 9), |party| goes(party, "dealer: gate MACs", 3)],
    ];
    for [in_pool, in_circuit] in deaths {
        let folder = tempfile::tempdir().unwrap();
        let stores = stores(folder.path(), 2);
        let house = House::open(WAIT, Some(in_pool));
        let filled = together(2, |party, config| {
            let config = config.dealer(house.dealer("x"));
            stored::fill(config, &stores[usize::from(party)], POOL)
        });
        let house = House::open(WAIT, Some(in_circuit));
        let direct = together(2, |party, config| {
            let mut session = Session::connect(config.dealer(house.dealer("x")), circuit)?;
            session.evaluate(&inputs(circuit, party))
        });
        assert!(lost(filled[0].as_ref().unwrap_err()), "{filled:?}");
        assert!(lost(direct[0].as_ref().unwrap_err()), "{direct:?}");
        assert!(direct[1].is_err());
        assert!(available_items(&stores[0], ItemKind::Pool).is_empty());
        // The other party may have received all of its own before; without the first one nobody
        // uses it.
        let prepared = together(2, |party, config| {
            let none = Dealer::channels("x", |_, _| {
                Err(Error::transport(DEALER, TransportReason::Closed))
            });
            stored::prepare(config.dealer(none), &stores[usize::from(party)], circuit, 1)
        });
        assert!(prepared.iter().all(Result::is_err));
        assert!(available_items(&stores[0], ItemKind::Prepared).is_empty());
    }
}

/// Makes the dealer flip a bit in a message to party 0.
fn lies(party: u16, kind: &'static str, index: usize) -> FnAdversary {
    match party {
        0 => FnAdversary::new().on_message(kind, index, |bytes| {
            bytes[0] ^= 1;
            Action::Send
        }),
        _ => FnAdversary::new(),
    }
}

/// Asserts that one party's check fails, the others are told, and nobody learns anything.
fn assert_caught<T>(ended: &[Result<T>], what: &str) {
    let errors: Vec<&Error> =
        ended.iter().map(|end| end.as_ref().err().unwrap_or_else(|| panic!("{what}"))).collect();
    let caught = errors.iter().any(|error| matches!(error, Error::PeerMisbehaved { .. }));
    assert!(caught, "{what}: {errors:?}");
}

/// Cheat: dealer | all it deals | wrong material in a whole run, every protocol | the protocol's
/// own check | always
#[test]
fn a_dealer_that_deals_wrong_breaks_a_check_and_no_output_is_released() {
    let circuit = &aes();
    let wrong: [Bent; 5] = [
        // The masks of inputs and gates, both factors, and the products.
        |party| lies(party, "dealer: input MACs", 0),
        |party| lies(party, "dealer: gate MACs", 0),
        |party| lies(party, "dealer: gate MACs", 1),
        |party| lies(party, "dealer: gate MACs", 2),
        |party| lies(party, "dealer: c bits", 0),
    ];
    for (which, bent) in wrong.into_iter().enumerate() {
        for (protocol, parties) in [(Protocol::Wrk, 2), (Protocol::Ywz, 3)] {
            let what = format!("lie {which}, {protocol:?}");
            let house = House::open(WAIT, Some(bent));
            let ended = together(parties, |party, config| {
                let config = config.protocol(protocol).dealer(house.dealer("x"));
                Session::connect(config, circuit)?.evaluate(&inputs(circuit, party))
            });
            assert_caught(&ended, &what);
        }
    }
}

/// This is why a dealer must be trusted to deal honestly, too: it has all keys, and deals a triple
/// whose product is wrong and whose MAC is right. Nothing fails, and the output is wrong.
#[test]
fn a_wrong_product_with_its_right_mac_goes_unnoticed() {
    let circuit = &aes();
    for (protocol, evaluator) in [(Protocol::Wrk, 1), (Protocol::Ywz, 0)] {
        let delta = Arc::new(Mutex::new(Block::ZERO));
        let bent: BentBy = Arc::new(move |party| wrong_product(party, evaluator, delta.clone()));
        let house = House::open_with(WAIT, Some(bent));
        let ended = together(2, |party, config| {
            let config = config.protocol(protocol).form(Some(protocol.forms()[0]));
            let mut session = Session::connect(config.dealer(house.dealer("x")), circuit)?;
            Ok(ciphertext(&session.evaluate(&inputs(circuit, party))?))
        });
        let [zero, one] =
            [0, 1].map(|party| ended[party].as_ref().unwrap_or_else(|e| panic!("{e}")));
        assert!(zero.is_some() && zero == one && *zero != Some(CIPHERTEXT), "{protocol:?}");
    }
}

/// Gives party 0 the inverted bit of the first product, and a MAC on it under party 1's Δ.
fn wrong_product(party: u16, evaluator: u16, delta: Arc<Mutex<Block>>) -> FnAdversary {
    if party == 1 {
        let session = Arc::new(Mutex::new([0; 32]));
        let asked = session.clone();
        let hear = move |kind, _, message: &[u8]| {
            if kind == "dealer request" {
                asked.lock().unwrap().copy_from_slice(&message[8..40]);
            }
        };
        return FnAdversary::new().on_incoming(hear).on_message("dealer: seed", 0, move |seed| {
            let seed = Block::from_bytes(seed[..].try_into().unwrap());
            let start = derive_block("symbolon dealer streams 1", &session.lock().unwrap(), 1);
            let first = Prg::starting_at(seed, start).block();
            *delta.lock().unwrap() = first.with_lsb(evaluator != 1);
            Action::Send
        });
    }
    FnAdversary::new().on_outgoing(move |kind, index, message| {
        match (kind, index) {
            ("dealer: c bits", 0) => message[0] ^= 1,
            // Those of a mask, of a, and of b come first.
            ("dealer: gate MACs", 3) => {
                let delta = delta.lock().unwrap().to_bytes();
                message.iter_mut().zip(delta).for_each(|(mac, delta)| *mac ^= delta);
            }
            _ => {}
        }
        Action::Send
    })
}

/// Cheat: dealer | a pool | wrong material in a pool | the pool becomes void | always
#[test]
fn a_pool_that_was_dealt_wrong_becomes_void() {
    let circuit = &aes();
    let house = House::open(WAIT, Some(|party| lies(party, "dealer: gate MACs", 1)));
    let folder = tempfile::tempdir().unwrap();
    let stores = stores(folder.path(), 2);
    let filled = together(2, |party, config| {
        stored::fill(config.dealer(house.dealer("x")), &stores[usize::from(party)], POOL)
    });
    assert!(filled.iter().all(Result::is_ok));
    let prepared = together(2, |party, config| {
        stored::prepare(config.dealer(house.dealer("x")), &stores[usize::from(party)], circuit, 1)
    });
    let caught = |result: &Result<_>| matches!(result, Err(Error::PeerMisbehaved { .. }));
    let noticed = prepared.iter().position(caught).expect("it went unnoticed");
    // The party that noticed discards all of it, and the other one can do nothing with its part.
    let entries = stores[noticed].list().unwrap();
    assert!(entries.iter().all(|entry| matches!(entry.state, ItemState::Void(_))), "{entries:?}");
    let ran = together(2, |party, config| {
        let config = config.dealer(house.dealer("x"));
        stored::run(config, &stores[usize::from(party)], circuit, &inputs(circuit, party))
    });
    assert!(ran.iter().all(Result::is_err));
}
