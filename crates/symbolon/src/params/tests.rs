//! Every parameter and every kind of session: if two parties differ in it, both sides name it.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use symbolon_circuit::builder::{Builder, ComponentBuilder};
use symbolon_circuit::{Circuit, Receivers, Type, builtin};
use symbolon_protocols::options::Value;
use symbolon_store::{Protection, Store};
use symbolon_transport::{Meter, PartyId};

use super::*;
use crate::connect::TransportKind;
use crate::dualex::{DualExOptions, KappaBPer, PsiForm};
use crate::duplo::DuploOptions;
use crate::tinytable::{Commitment, MAC_BITS, MacChoice, MacLength, TinyTableOptions};
use crate::{Config, Dealer, Exchange, Inputs, Session, Transport, stored, triples};

/// Returns the options of `tinytable`.
fn macs(mac: MacChoice) -> Options {
    TinyTableOptions { mac, ..Default::default() }.into()
}

fn by_code() -> Options {
    TinyTableOptions { commitment: Commitment::Code, ..Default::default() }.into()
}

/// Returns the length of MACs.
fn bits(params: &SessionParams) -> u64 {
    MAC_BITS.number(&params.options, params.rho).unwrap()
}

fn dualex(options: DualExOptions) -> SessionParams {
    SessionParams { options: options.into(), ..SessionParams::new(Protocol::DualEx) }
}

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
        "stock" => |config, me, folder| {
            let session = stored::StockedSession::connect(config, &store(folder, me), &circuit());
            session.map(drop)
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
        Job::RunPrepared(_) => Some(Job::Stock(&circuit)),
        Job::Stock(_) => Some(Job::Triples(1)),
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
        "components" => other.options = DuploOptions::components(["sum"]).into(),
        "protocol" | "form" | "ot" | "in-flight" | "mac-bits" | "mac" | "psi" | "kappa-b"
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
            let usual = SessionParams { options: macs(MacLength::Bits128.into()), ..usual };
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
        "mac-bits" => other.options = macs(MacLength::Bits128.into()),
        "mac" => other.options = by_code(),
        "psi" if kind == "preprocess" => return None,
        "psi" => {
            let with = |psi| dualex(DualExOptions { psi, ..DualExOptions::default() });
            return Some(PsiForm::ALL.map(with));
        }
        "kappa-b-per" if kind == "preprocess" => return None,
        "kappa-b-per" => {
            let with =
                |kappa_b_per| dualex(DualExOptions { kappa_b_per, ..DualExOptions::default() });
            return Some(KappaBPer::ALL.map(with));
        }
        "kappa-b" if kind == "preprocess" => return None,
        "kappa-b" => {
            let with = |kappa_b| dualex(DualExOptions { kappa_b, ..DualExOptions::default() });
            return Some([with(None), with(Some(Rho::Bits64))]);
        }
        "segment_gates" => other.segment_gates = 1000,
        "pool_gates" => other.pool_gates = 2000,
        "components" if kind == "preprocess" => return None,
        "components" => {
            let with = |names: &[&str]| SessionParams {
                options: DuploOptions::components(names.iter().copied()).into(),
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
        let TransportKind::Channels { mut lanes, meter, .. } = transport.0 else {
            panic!("memory is channels")
        };
        lanes.truncate(params.lanes());
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
        Job::Stock(&circuit),
        Job::Stock(&other),
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
            in_flight: Some(4),
            ..dualex(DualExOptions {
                psi: PsiForm::Asynchronous,
                kappa_b: Some(Rho::Bits64),
                kappa_b_per: KappaBPer::Execution,
            })
        },
        SessionParams { rho: Rho::Bits80, ..SessionParams::new(Protocol::DualEx) },
        SessionParams {
            executions: 9,
            options: macs(MacChoice::ComparisonOnly(MacLength::Bits32)),
            ..SessionParams::new(Protocol::TinyTable)
        },
    ];
    for params in params {
        let mut copy = SessionParams::new(Protocol::Wrk);
        for (key, value) in params.values() {
            copy.set(key, &value).unwrap();
            let is_name = ["components", "dealer"].contains(&key);
            assert!(copy.clone().set(key, "nonsense").is_err() || is_name, "{key}");
        }
        copy.set("dealer", params.dealer.as_deref().unwrap_or(NONE)).unwrap();
        assert_eq!(copy.values(), params.values());
        assert_eq!(copy.warnings(), params.warnings());
    }
    assert!(SessionParams::new(Protocol::Wrk).set("colour", "red").is_err());
}

/// The error for a wrong value lists values, and each of them is one.
#[test]
fn an_error_says_which_values_a_parameter_has() {
    let mut params = SessionParams::new(Protocol::DualEx);
    for key in ["protocol", "rho", "form", "ot", "mac-bits", "mac", "psi", "kappa-b", "kappa-b-per"]
    {
        let text = params.set(key, "nonsense").unwrap_err().to_string();
        let (_, values) = text.split_once(" takes ").expect("a list");
        for value in values.replace(" or ", ", ").split(", ") {
            assert!(params.clone().set(key, value).is_ok(), "{text}");
        }
    }
}

#[test]
fn macs_follow_rho_unless_they_are_asked_for_as_a_comparison() {
    use MacLength::{Bits32, Bits64, Bits128};
    for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
        let with = |mac| SessionParams {
            rho,
            options: macs(mac),
            ..SessionParams::new(Protocol::TinyTable)
        };
        let usual = with(MacChoice::ByRho);
        let expected = if rho == Rho::Bits40 { Bits64 } else { Bits128 };
        assert_eq!((bits(&usual), usual.check()), (expected.bits().into(), Ok(())));
        for length in [Bits32, Bits64, Bits128] {
            let (strict, weak) = (length.into(), MacChoice::ComparisonOnly(length));
            let checked = with(strict).check();
            assert_eq!(checked.is_ok(), length >= expected, "{rho:?}, {length} bits");
            let (transport, _) = Transport::memory(1, None).unwrap();
            let config = Config::new(0, transport).params(with(strict));
            let met = config.check(&circuit());
            assert_eq!(met, checked.map_err(Error::from), "before anybody is met");
            assert!(matches!(met, Ok(()) | Err(Error::InvalidInput(_))));
            assert!(with(weak).check().is_ok());
            assert_eq!(with(weak).warnings().len(), usize::from(length < expected));
        }
    }
    let options = macs(Bits128.into());
    let garbled = SessionParams { options, ..SessionParams::new(Protocol::Wrk) };
    assert!(garbled.check().is_err(), "there is nothing to choose");
}

/// κ_b defaults to ρ, so naming ρ makes no difference.
#[test]
fn kappa_b_is_rho_unless_another_one_is_chosen() {
    for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
        let with = |kappa_b| SessionParams {
            rho,
            ..dualex(DualExOptions { kappa_b, ..DualExOptions::default() })
        };
        let bound = |params: &SessionParams| {
            DualExOptions::of(&params.options, params.rho).unwrap().kappa_b
        };
        let usual = with(None);
        assert_eq!((bound(&usual), usual.values()), (Some(rho), with(Some(rho)).values()));
        for kappa_b in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
            let chosen = with(Some(kappa_b));
            assert_eq!((chosen.check(), bound(&chosen)), (Ok(()), Some(kappa_b)));
            assert_eq!(chosen.values() == usual.values(), kappa_b == rho);
        }
    }
    let mut params = SessionParams::new(Protocol::DualEx);
    for bits in ["20", "39", "41", "128", "-40", ""] {
        assert!(params.set("kappa-b", bits).is_err(), "{bits}");
    }
}

/// An option that the protocol does not have is refused, even with the value that is the default of
/// the protocol that has it: nothing is ignored.
#[test]
fn options_of_other_protocols_are_refused() {
    for of in Protocol::ALL {
        for option in of.options() {
            let name = option.spec.name;
            for protocol in Protocol::ALL {
                let mut params = SessionParams::new(*protocol);
                let value = match option.value(&params.options, params.rho) {
                    Value::Names(_) => Value::names(["a".to_string()]),
                    usual => usual,
                };
                params.options.set(option, Some(value));
                let expected = match protocol == of {
                    true => Ok(()),
                    false => Err(ParamError::NotTaken(*protocol, &option.spec)),
                };
                assert_eq!(params.check(), expected, "{name}, {}", protocol.name());
            }
        }
    }
}

/// The handshake compares parameters in this order, which is part of the wire version.
#[test]
fn the_order_of_the_handshake_is_fixed() {
    let values = SessionParams::new(Protocol::DualEx).values();
    let expected = [
        ("protocol", "dualex"),
        ("rho", "40"),
        ("form", "half-gates"),
        ("ot", "auto"),
        ("threads", "1"),
        ("batch", "1"),
        ("in-flight", "none"),
        ("mac-bits", "none"),
        ("psi", "sync"),
        ("kappa-b", "40"),
        ("kappa-b-per", "preparation"),
        ("segment_gates", "1048576"),
        ("pool_gates", "16777216"),
        ("components", "none"),
        ("dealer", "none"),
        ("mac", "none"),
    ];
    assert_eq!(values, expected.map(|(name, value)| (name, value.to_string())));
    let places: Vec<u16> = parameters().iter().map(|one| one.spec().place).collect();
    assert!(places.windows(2).all(|two| two[0] < two[1]), "{places:?}");
}

/// What was stored before is found by these labels.
#[test]
fn labels_of_stored_material_are_fixed() {
    let label =
        |params: &SessionParams| params.protocol.stored_label(&params.options, params.rho).unwrap();
    let of = |protocol, options: Options| SessionParams { options, ..SessionParams::new(protocol) };
    let all = |kappa_b, kappa_b_per| {
        dualex(DualExOptions { psi: PsiForm::Asynchronous, kappa_b, kappa_b_per })
    };
    let (bound, each) = (Some(Rho::Bits64), KappaBPer::Execution);
    for (params, expected) in [
        (of(Protocol::Wrk, Options::default()), ""),
        (of(Protocol::TinyTable, Options::default()), "64-bit MACs"),
        (of(Protocol::TinyTable, macs(MacLength::Bits128.into())), "128-bit MACs"),
        (of(Protocol::TinyTable, by_code()), "a code, 64-bit MACs"),
        (of(Protocol::Duplo, Options::default()), ""),
        (of(Protocol::Duplo, DuploOptions::components(["b", "a"]).into()), "components a; b"),
        (of(Protocol::DualEx, Options::default()), "sync intersection, kappa_b 40 per preparation"),
        (all(bound, KappaBPer::Preparation), "async intersection, kappa_b 64 per preparation"),
        (all(bound, each), "async intersection, kappa_b 64"),
        (all(Some(Rho::Bits40), each), "async intersection"),
    ] {
        assert_eq!(label(&params), expected);
    }
    let mut params = SessionParams::new(Protocol::Duplo);
    params.set("components", "by cost").unwrap();
    assert_eq!(label(&params), "");
}

/// The order and repetition of component names make no difference.
#[test]
fn components_are_compared_as_a_set() {
    let with = |names: &[&str]| SessionParams {
        options: DuploOptions::components(names.iter().copied()).into(),
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
        assert_eq!((copy.values(), &copy.options), (params.values(), &params.options));
    }
    assert!(with(&["a; b"]).check().is_err() && with(&["by cost"]).check().is_err());
    let other = SessionParams { protocol: Protocol::DualEx, ..with(&["a"]) };
    assert!(other.check().is_err());
}

#[test]
fn duplo_takes_no_dealer_and_no_length_of_macs() {
    let duplo = || SessionParams::new(Protocol::Duplo);
    duplo().check().unwrap();
    let refused = [
        SessionParams { dealer: Some("somebody".into()), ..duplo() },
        SessionParams { options: macs(MacLength::Bits64.into()), ..duplo() },
        SessionParams { form: Some(GateForm::FourRow), ..duplo() },
    ];
    for params in refused {
        assert!(params.check().is_err(), "{params:?}");
    }
}
