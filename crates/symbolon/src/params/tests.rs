//! Every parameter and every kind of session: if two parties differ in it, both sides name it.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use symbolon_circuit::builder::{Builder, ComponentBuilder};
use symbolon_circuit::{Circuit, Receivers, Type, builtin};
use symbolon_store::{Protection, Store};
use symbolon_transport::{Meter, PartyId};

use super::*;
use crate::connect::TransportKind;
use crate::{Config, Dealer, Exchange, Inputs, Session, Transport, stored, triples};

/// What a party does in a session of one kind, with the directory of its store.
type Part = fn(Config, u16, &Path) -> Result<()>;

/// Returns a circuit with the components that the tests choose.
fn circuit() -> Circuit {
    let mut b = Builder::new("components");
    let (x, y) = (b.input("x", Type::Uint(8), 0), b.input("y", Type::Uint(8), 1));
    for name in ["sum", "product"] {
        let mut c = ComponentBuilder::new(name);
        let (x0, y0) = (c.input(8), c.input(8));
        let z = if name == "sum" { c.add(&x0, &y0) } else { c.mul(&x0, &y0) };
        c.output(&z);
        let z = b.call_one(&c.finish().unwrap(), &[&x, &y]);
        b.output(name, &z, Type::Uint(8), Receivers::All);
    }
    b.finish().unwrap()
}

fn store(folder: &Path, party: u16) -> Store {
    Store::open_or_create(folder.join(party.to_string()), &Protection::None).unwrap()
}

fn inputs(circuit: &Circuit, party: u16) -> Result<Inputs> {
    Inputs::builder(circuit, party).uint(usize::from(party), 1)?.finish()
}

/// Returns the code for a kind of session, by its name in the handshake.
fn part(kind: &str) -> Part {
    match kind {
        "run" => |config, _, _| Session::connect(config, &circuit()).map(drop),
        "parts" => |config, _, _| Session::connect_in_parts(config, &circuit(), &[]).map(drop),
        "preprocess" => |config, me, folder| {
            let amount = Amount { and_gates: 128, input_bits: 8 };
            stored::fill(config, &store(folder, me), amount).map(drop)
        },
        "prepare" => |config, me, folder| {
            stored::prepare(config, &store(folder, me), &circuit(), 1).map(drop)
        },
        "preprocess for" => |config, me, folder| {
            stored::fill_components(config, &store(folder, me), &circuit(), 1, |_| ()).map(drop)
        },
        "run prepared" => |config, me, folder| {
            let circuit = circuit();
            let executions = config.terms().params.executions;
            let all = (0..executions).map(|_| inputs(&circuit, me));
            stored::run_batch(config, &store(folder, me), &circuit, all).map(drop)
        },
        "triples" => |config, _, _| triples::make_triples(config, 1).map(drop),
        "exchange" => |config, _, _| Exchange::begin(config, &[]).map(drop),
        other => panic!("no test runs the kind of session `{other}`"),
    }
}

/// Lists all kinds of sessions.
fn kinds() -> Vec<&'static str> {
    let circuit = Compiled::new(&circuit());
    // The match has no wildcard, so a new kind does not compile until it is added.
    let next = |job: &Job<'_>| match job {
        Job::Run(_) => Some(Job::Parts(&circuit, &[])),
        Job::Parts(..) => Some(Job::Preprocess(Amount { and_gates: 1, input_bits: 1 })),
        Job::Preprocess(_) => Some(Job::PreprocessFor(&circuit, 1)),
        Job::PreprocessFor(..) => Some(Job::Prepare(&circuit, 1, Material::Any)),
        Job::Prepare(..) => Some(Job::RunPrepared(&circuit)),
        Job::RunPrepared(_) => Some(Job::Triples(1)),
        Job::Triples(_) => Some(Job::Exchange(&[])),
        Job::Exchange(_) => None,
    };
    std::iter::successors(Some(Job::Run(&circuit)), next).map(|job| job.values().0).collect()
}

/// The kind of session that fills pools of components. Only one protocol has components, and it
/// takes no dealer.
const OF_COMPONENTS: &str = "preprocess for";

/// Returns the same as [`unlike`] for that kind; `None` if it has no choice.
fn unlike_of_components(key: &str) -> Option<[SessionParams; 2]> {
    let usual = SessionParams::new(Protocol::Duplo);
    let mut other = usual.clone();
    match key {
        "rho" => other.rho = Rho::Bits64,
        "threads" => other.threads = 2,
        "batch" => other.executions = 3,
        "segment_gates" => other.segment_gates = 1000,
        "pool_gates" => other.pool_gates = 2000,
        "components" => other.components = vec!["sum".to_string()],
        "protocol" | "form" | "ot" | "in-flight" | "mac-bits" | "psi" | "kappa-b"
        | "kappa-b-per" | "dealer" => return None,
        new => panic!("no test changes the parameter `{new}` of components"),
    }
    Some([usual, other])
}

/// Returns two sets of parameters that differ only in `key`, for sessions of this kind; `None` if
/// the kind fixes it.
fn unlike(key: &str, kind: &str) -> Option<[SessionParams; 2]> {
    if kind == OF_COMPONENTS {
        return unlike_of_components(key);
    }
    // Only this protocol has every parameter except a choice of forms.
    let usual = SessionParams::new(Protocol::TinyTable);
    let mut other = usual.clone();
    match key {
        "protocol" => other.protocol = Protocol::Ywz,
        "rho" => {
            let mac = MacChoice::Length(MacLength::Bits128);
            let usual = SessionParams { mac, ..usual };
            return Some([SessionParams { rho: Rho::Bits64, ..usual.clone() }, usual]);
        }
        "form" => {
            let with = |form| SessionParams { form, ..SessionParams::new(Protocol::Wrk) };
            return Some([with(Some(GateForm::HalfGates)), with(Some(GateForm::FourRow))]);
        }
        "ot" => {
            let with = |ot| SessionParams { ot, ..usual.clone() };
            let [first, .., last] = OtExtension::ALL;
            return Some([with(Some(first)), with(Some(last))]);
        }
        "threads" => other.threads = 2,
        "batch" => other.executions = 3,
        "in-flight" if kind == "preprocess" => return None,
        "in-flight" => {
            let with =
                |in_flight| SessionParams { in_flight, ..SessionParams::new(Protocol::DualEx) };
            return Some([None, Some(3)].map(with));
        }
        "mac-bits" => other.mac = MacChoice::Length(MacLength::Bits128),
        "psi" if kind == "preprocess" => return None,
        "psi" => {
            let with = |psi| SessionParams { psi, ..SessionParams::new(Protocol::DualEx) };
            return Some(PsiForm::ALL.map(with));
        }
        "kappa-b-per" if kind == "preprocess" => return None,
        "kappa-b-per" => {
            let with =
                |kappa_b_per| SessionParams { kappa_b_per, ..SessionParams::new(Protocol::DualEx) };
            return Some(KappaBPer::ALL.map(with));
        }
        "kappa-b" if kind == "preprocess" => return None,
        "kappa-b" => {
            let with = |kappa_b| SessionParams { kappa_b, ..SessionParams::new(Protocol::DualEx) };
            return Some([with(None), with(Some(Rho::Bits64))]);
        }
        "segment_gates" => other.segment_gates = 1000,
        "pool_gates" => other.pool_gates = 2000,
        "components" if kind == "preprocess" => return None,
        "components" => {
            let with = |names: &[&str]| SessionParams {
                components: names.iter().map(|name| name.to_string()).collect(),
                ..SessionParams::new(Protocol::Duplo)
            };
            return Some([with(&[]), with(&["sum", "product"])]);
        }
        "dealer" => other.dealer = Some("a friend".to_string()),
        new => panic!("no test changes the parameter `{new}`"),
    }
    // `ywz` has no choice of MACs, so this differs in two parameters, and the protocol comes first.
    Some([usual, other])
}

/// Runs both parties, each with its own parameters.
fn both(params: &[SessionParams; 2], part: Part, folder: &Path) -> Vec<Result<()>> {
    let threads = params.iter().map(|params| params.threads).max().unwrap();
    let (zero, one) = Transport::memory(threads, None).unwrap();
    let transports = [zero, one].into_iter().zip(params).map(|(transport, params)| {
        // Over sockets the connections do not match; in memory one party has fewer lanes.
        let TransportKind::Channels { mut lanes, meter } = transport.0 else {
            panic!("memory is channels")
        };
        lanes.truncate(crate::terms::connections(params.threads));
        Transport::mesh_channels(lanes, meter)
    });
    thread::scope(|scope| {
        let start = |((me, transport), params): ((u16, _), &SessionParams)| {
            let config = Config::new(me, transport).params(params.clone());
            // Nobody gets as far as asking the dealer for anything.
            let nobody = |_: PartyId, _: &Arc<Meter>| Err(Error::internal("it was asked to deal"));
            let dealer = params.dealer.clone().map(|name| Dealer::channels(name, nobody));
            let config = config.dealer(dealer).timeout(Duration::from_secs(20));
            scope.spawn(move || part(config, me, folder))
        };
        let parties = (0u16..).zip(transports).zip(params).map(start).collect::<Vec<_>>();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

/// Runs a session of this kind with parameters that differ only in `key`, from either side.
fn assert_named(key: &str, kind: &str, params: [SessionParams; 2], folder: &Path) {
    let [one, other] = params.clone();
    for params in [params, [other, one]] {
        for (me, ended) in (0usize..).zip(both(&params, part(kind), folder)) {
            let Err(Error::PeerIncompatible { what, ours, theirs }) = ended else {
                panic!("{kind}, {key}: party {me} ended in {ended:?}");
            };
            let value = |params: &SessionParams| {
                let values = params.values();
                values.into_iter().find(|(name, _)| *name == key).unwrap().1
            };
            let expected = (key, value(&params[me]), value(&params[1 - me]));
            assert_eq!((what.code(), ours, theirs), expected, "{kind}");
        }
    }
}

/// Cheat: 2 | handshake, every kind of session | nobody cheats: each parameter in turn differs |
/// named by both | always
#[test]
fn every_parameter_that_differs_is_named_on_both_sides_in_every_kind_of_session() {
    let folder = tempfile::tempdir().unwrap();
    let keys = SessionParams::new(Protocol::Wrk).values().into_iter().map(|(key, _)| key);
    for key in keys.collect::<Vec<_>>() {
        for kind in kinds() {
            let Some(params) = unlike(key, kind) else { continue };
            // A dealer neither deals triples alone nor makes OTs: this is rejected before anybody
            // connects.
            let dealt = params.clone().map(|params| {
                let dealer = Some("a friend".to_string());
                SessionParams { dealer: params.dealer.or(dealer), ..params }
            });
            if !["ot", "psi", "kappa-b", "kappa-b-per", "in-flight", "components"].contains(&key)
                && !["triples", OF_COMPONENTS].contains(&kind)
                && dealt[0] != dealt[1]
            {
                assert_named(key, kind, dealt, folder.path());
            }
            if (key, kind) != ("dealer", "triples") {
                assert_named(key, kind, params, folder.path());
            }
        }
    }
}

/// Cheat: 2 | handshake | nobody cheats: the kinds of session differ | named by both | always
#[test]
fn another_kind_of_session_is_named_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let params = |kind: &str| match kind {
        OF_COMPONENTS => SessionParams::new(Protocol::Duplo),
        _ => SessionParams::new(Protocol::TinyTable),
    };
    let kinds = kinds();
    for two in kinds.windows(2) {
        let parts = [part(two[0]), part(two[1])];
        let (zero, one) = Transport::memory(1, None).unwrap();
        let ended: Vec<Result<()>> = thread::scope(|scope| {
            let start = |(me, transport): (u16, _)| {
                let config = Config::new(me, transport).params(params(two[usize::from(me)]));
                let (part, folder) = (parts[usize::from(me)], folder.path());
                scope.spawn(move || part(config, me, folder))
            };
            let parties = (0u16..).zip([zero, one]).map(start).collect::<Vec<_>>();
            parties.into_iter().map(|party| party.join().unwrap()).collect()
        });
        for (me, ended) in (0usize..).zip(ended) {
            let expected = Error::incompatible("phase", two[me], two[1 - me]);
            assert_eq!(ended, Err(expected));
        }
    }
}

/// A plan with few parts is compared term by term, a long one by its digest.
/// Cheat: 2 | handshake | nobody cheats: plans of later parts differ | named by both | always
#[test]
fn a_plan_that_differs_is_named_on_both_sides() {
    let plan = |parts: usize, value: &str| -> Vec<(String, String)> {
        let mut plan: Vec<_> =
            (2..2 + parts).map(|n| (format!("part {n}: when"), "always".to_string())).collect();
        plan.push(("last".to_string(), value.to_string()));
        plan
    };
    for parts in [1, 1000] {
        let plans = [plan(parts, "a.sum = 3"), plan(parts, "a.sum = 4")];
        let (zero, one) = Transport::memory(1, None).unwrap();
        let ended: Vec<Result<()>> =
            thread::scope(|scope| {
                let mut parties = Vec::new();
                for ((me, transport), plan) in (0u16..).zip([zero, one]).zip(&plans) {
                    let config = Config::new(me, transport).protocol(Protocol::Duplo);
                    parties.push(scope.spawn(move || {
                        Session::connect_in_parts(config, &circuit(), plan).map(drop)
                    }));
                }
                parties.into_iter().map(|party| party.join().unwrap()).collect()
            });
        for (me, ended) in ended.into_iter().enumerate() {
            let Err(Error::PeerIncompatible { what, ours, theirs }) = ended else {
                panic!("party {me} ended in {ended:?}");
            };
            if parts == 1 {
                let values = [me, 1 - me].map(|party| plans[party][parts].1.clone());
                assert_eq!((what.code(), [ours, theirs]), ("plan, last", values));
            } else {
                assert_eq!((what.code(), ours != theirs), ("plan", true));
            }
        }
    }
}

#[test]
fn what_a_session_is_about_is_in_its_hello() {
    let params = SessionParams::new(Protocol::Wrk);
    let other = Compiled::new(&builtin::by_name("add:9").unwrap());
    let circuit = Compiled::new(&circuit());
    let amount = |and_gates, input_bits| Job::Preprocess(Amount { and_gates, input_bits });
    let jobs = [
        Job::Run(&circuit),
        Job::Run(&other),
        amount(1, 2),
        amount(1, 3),
        amount(2, 2),
        Job::PreprocessFor(&circuit, 1),
        Job::PreprocessFor(&circuit, 2),
        Job::PreprocessFor(&other, 1),
        Job::Prepare(&circuit, 1, Material::Any),
        Job::Prepare(&circuit, 1, Material::Pools),
        Job::Prepare(&circuit, 2, Material::Any),
        Job::Prepare(&other, 1, Material::Any),
        Job::RunPrepared(&circuit),
        Job::RunPrepared(&other),
        Job::Triples(1),
        Job::Triples(2),
    ];
    let hellos: Vec<Hello> = jobs.into_iter().map(|job| hello(&params, 2, job)).collect();
    for (place, hello) in hellos.iter().enumerate() {
        assert!(!hellos[..place].contains(hello), "{hello:?}");
        let open: Vec<&str> = hello.open.iter().map(|(name, _)| &**name).collect();
        assert_eq!(open, OPEN);
    }
}

#[test]
fn what_values_say_can_be_set() {
    let params = [
        SessionParams::new(Protocol::Wrk),
        SessionParams::new(Protocol::TinyTable),
        SessionParams {
            rho: Rho::Bits80,
            form: Some(GateForm::HalfGates),
            ot: Some(OtExtension::Iknp),
            threads: 7,
            segment_gates: 12,
            pool_gates: 34,
            dealer: Some("a friend".to_string()),
            ..SessionParams::new(Protocol::Ywz)
        },
        SessionParams {
            psi: PsiForm::Asynchronous,
            kappa_b: Some(Rho::Bits64),
            kappa_b_per: KappaBPer::Execution,
            in_flight: Some(4),
            ..SessionParams::new(Protocol::DualEx)
        },
        SessionParams { rho: Rho::Bits80, ..SessionParams::new(Protocol::DualEx) },
        SessionParams {
            executions: 9,
            mac: MacChoice::ComparisonOnly(MacLength::Bits32),
            ..SessionParams::new(Protocol::TinyTable)
        },
    ];
    for params in params {
        let mut copy = SessionParams::new(Protocol::Wrk);
        for (key, value) in params.values() {
            copy.set(key, &value).unwrap();
            assert!(copy.set(key, "nonsense").is_err() || key == "dealer", "{key}");
        }
        copy.set("dealer", params.dealer.as_deref().unwrap_or(NONE)).unwrap();
        assert_eq!(copy.values(), params.values());
        assert_eq!(copy.has_weak_macs(), params.has_weak_macs());
    }
    assert!(SessionParams::new(Protocol::Wrk).set("colour", "red").is_err());
}

/// The error for a wrong value lists values, and each of them is one.
#[test]
fn an_error_says_which_values_a_parameter_has() {
    let mut params = SessionParams::new(Protocol::DualEx);
    for key in ["protocol", "rho", "form", "ot", "mac-bits", "psi", "kappa-b", "kappa-b-per"] {
        let text = params.set(key, "nonsense").unwrap_err().to_string();
        let (_, values) = text.split_once("; it takes ").expect("a list");
        for value in values.replace(" or ", ", ").split(", ") {
            assert!(params.clone().set(key, value).is_ok(), "{text}");
        }
    }
}

#[test]
fn macs_follow_rho_unless_they_are_asked_for_as_a_comparison() {
    use MacLength::{Bits32, Bits64, Bits128};
    for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
        let with = |mac| SessionParams { rho, mac, ..SessionParams::new(Protocol::TinyTable) };
        let usual = with(MacChoice::ByRho);
        let expected = if rho == Rho::Bits40 { Bits64 } else { Bits128 };
        assert_eq!((usual.mac_length(), usual.check()), (Some(expected), Ok(())));
        for length in [Bits32, Bits64, Bits128] {
            let (strict, weak) = (length.into(), MacChoice::ComparisonOnly(length));
            let checked = with(strict).check();
            assert_eq!(checked.is_ok(), length >= expected, "{rho:?}, {length} bits");
            let (transport, _) = Transport::memory(1, None).unwrap();
            let config = Config::new(0, transport).params(with(strict));
            assert_eq!(config.check(&circuit()), checked, "before anybody is met");
            assert!(matches!(checked, Ok(()) | Err(Error::InvalidInput(_))));
            assert!(with(weak).check().is_ok());
            assert_eq!(with(weak).has_weak_macs(), length < expected);
        }
    }
    let garbled = SessionParams { mac: Bits128.into(), ..SessionParams::new(Protocol::Wrk) };
    assert!(garbled.check().is_err(), "there is nothing to choose");
}

/// κ_b defaults to ρ, so naming ρ makes no difference. Only `dualex` has it.
#[test]
fn kappa_b_is_rho_unless_another_one_is_chosen() {
    for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
        let with = |kappa_b| SessionParams { rho, kappa_b, ..SessionParams::new(Protocol::DualEx) };
        let usual = with(None);
        assert_eq!((usual.leak_bound(), usual.values()), (Some(rho), with(Some(rho)).values()));
        for kappa_b in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
            let chosen = with(Some(kappa_b));
            assert_eq!((chosen.check(), chosen.leak_bound()), (Ok(()), Some(kappa_b)));
            assert_eq!(chosen.values() == usual.values(), kappa_b == rho);
        }
    }
    for protocol in Protocol::ALL.iter().filter(|protocol| !protocol.has_kappa_b()) {
        let usual = SessionParams::new(*protocol);
        assert_eq!((usual.check(), usual.leak_bound()), (Ok(()), None));
        let other = SessionParams { kappa_b: Some(Rho::Bits40), ..usual.clone() };
        assert!(matches!(other.check(), Err(Error::InvalidInput(_))), "{}", protocol.name());
        let other = SessionParams { kappa_b_per: KappaBPer::Execution, ..usual };
        assert!(matches!(other.check(), Err(Error::InvalidInput(_))), "{}", protocol.name());
    }
    let mut params = SessionParams::new(Protocol::DualEx);
    for bits in ["20", "39", "41", "128", "-40", ""] {
        assert!(params.set("kappa-b", bits).is_err(), "{bits}");
    }
}

/// The order and repetition of component names make no difference.
#[test]
fn components_are_compared_as_a_set() {
    let with = |names: &[&str]| SessionParams {
        components: names.iter().map(|name| name.to_string()).collect(),
        ..SessionParams::new(Protocol::Duplo)
    };
    let both = with(&["a", "b c"]);
    assert_eq!(both.values(), with(&["b c", "a", "a"]).values());
    assert_ne!(both.values(), with(&["a"]).values());
    for params in [both, with(&[])] {
        params.check().unwrap();
        let mut copy = SessionParams::new(Protocol::Duplo);
        for (key, value) in params.values() {
            copy.set(key, &value).unwrap();
        }
        assert_eq!((copy.values(), &copy.components), (params.values(), &params.components));
    }
    assert!(with(&["a; b"]).check().is_err() && with(&["by cost"]).check().is_err());
    let other = SessionParams { protocol: Protocol::DualEx, ..with(&["a"]) };
    assert!(
        other.check().is_err() && SessionParams::new(Protocol::Wrk).set("components", "a").is_err()
    );
}

#[test]
fn duplo_takes_no_dealer_and_no_length_of_macs() {
    let duplo = || SessionParams::new(Protocol::Duplo);
    duplo().check().unwrap();
    let refused = [
        SessionParams { dealer: Some("somebody".into()), ..duplo() },
        SessionParams { mac: MacLength::Bits64.into(), ..duplo() },
        SessionParams { form: Some(GateForm::FourRow), ..duplo() },
    ];
    for params in refused {
        assert!(matches!(params.check(), Err(Error::InvalidInput(_))), "{params:?}");
    }
}
