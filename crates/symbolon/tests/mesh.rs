//! Sessions among three or more parties: every transport, every order of starting, and errors.

use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, Receivers, Type, builder::Builder};
use symbolon::{
    Config, Culprit, Endpoint, Error, Fingerprint, Identity, Inputs, Listener, Outputs, PeerInfo,
    Protocol, Result, Rho, Session, Transport, TransportReason,
};

/// Takes every party's number; all learn the sum, and the last one whether all are equal.
fn circuit(parties: u16, width: u32) -> Circuit {
    let mut b = Builder::new("several");
    let inputs: Vec<_> =
        (0..parties).map(|party| b.input(format!("x{party}"), Type::Uint(width), party)).collect();
    let mut sum = inputs[0].clone();
    let mut same = Vec::new();
    for input in &inputs[1..] {
        sum = b.add(&sum, input);
        same.push(b.eq(&inputs[0], input));
    }
    let same = b.all(&same);
    b.output("sum", &sum, Type::Uint(width), Receivers::All);
    b.output("same", &same.into(), Type::Uint(1), Receivers::only([parties - 1]));
    b.finish().expect("a valid circuit")
}

fn inputs(circuit: &Circuit, party: u16, value: u128) -> Inputs {
    Inputs::builder(circuit, party)
        .uint(usize::from(party), value)
        .and_then(|builder| builder.finish())
        .expect("a value that fits")
}

fn run(config: Config, circuit: &Circuit, party: u16) -> Result<Outputs> {
    Session::connect(config, circuit)?.evaluate(&inputs(circuit, party, 10 + u128::from(party)))
}

/// Runs all parties at once, each in a thread.
fn all<T: Send>(transports: Vec<Transport>, party: impl Fn(u16, Transport) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let party = &party;
        let threads: Vec<_> = (0u16..)
            .zip(transports)
            .map(|(me, transport)| scope.spawn(move || party(me, transport)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn assert_outputs(ends: Vec<Result<Outputs>>) {
    let parties = ends.len();
    let sum: u128 = (0..parties as u128).map(|party| 10 + party).sum();
    for (party, end) in ends.into_iter().enumerate() {
        let outputs = end.unwrap_or_else(|error| panic!("party {party}: {error}"));
        assert_eq!(outputs.get("sum").and_then(|sum| sum.uint()), Some(sum));
        let same = outputs.get("same").and_then(|same| same.uint());
        assert_eq!(same, (party + 1 == parties).then_some(0));
    }
}

/// Ports and keys of all parties.
struct Town {
    doors: Vec<Option<Listener>>,
    keys: Vec<Identity>,
    contacts: Vec<PeerInfo>,
}

fn town(parties: u16) -> Town {
    let last = parties - 1;
    let doors: Vec<_> =
        (0..parties).map(|p| (p < last).then(|| Listener::bind("127.0.0.1:0").unwrap())).collect();
    let keys: Vec<_> = (0..parties).map(|_| Identity::generate().unwrap()).collect();
    let contact = |(door, key): (&Option<Listener>, &Identity)| PeerInfo {
        address: door.as_ref().map(|door| door.local_addr().to_string()),
        fingerprint: Some(key.fingerprint()),
    };
    let contacts = doors.iter().zip(&keys).map(contact).collect();
    Town { doors, keys, contacts }
}

impl Town {
    fn tls(self) -> Vec<Transport> {
        let contacts = self.contacts;
        let parties = self.doors.into_iter().zip(self.keys);
        parties.map(|(door, key)| Transport::tls_mesh(door, key, contacts.clone())).collect()
    }

    fn tcp(self) -> Vec<Transport> {
        let contacts = self.contacts;
        let mesh = |door| Transport::insecure_plain_tcp_mesh(door, contacts.clone());
        self.doors.into_iter().map(mesh).collect()
    }
}

#[test]
fn three_and_five_over_memory() {
    for (parties, threads) in [(3, 2), (5, 1)] {
        let circuit = circuit(parties, 16);
        let mesh = Transport::memory_mesh(parties, threads, None).unwrap();
        assert_outputs(all(mesh, |me, transport| {
            let config = Config::new(me, transport);
            assert_eq!(config.parties(), usize::from(parties));
            run(config.timeout(Duration::from_secs(60)), &circuit, me)
        }));
    }
}

#[test]
fn two_parties_run_ywz_too() {
    let circuit = circuit(2, 8);
    let mesh = Transport::memory_mesh(2, 1, None).unwrap();
    let ends = all(mesh, |me, transport| {
        run(Config::new(me, transport).protocol(Protocol::Ywz), &circuit, me)
    });
    assert_outputs(ends);
}

#[test]
fn three_over_tls_and_tcp_in_any_order_of_starting() {
    let circuit = circuit(3, 8);
    for (delays, threads) in [([0, 60, 120], 2), ([120, 60, 0], 1), ([60, 0, 120], 1)] {
        for mesh in [town(3).tls(), town(3).tcp()] {
            assert_outputs(all(mesh, |me, transport| {
                thread::sleep(Duration::from_millis(delays[usize::from(me)]));
                run(Config::new(me, transport).threads(threads), &circuit, me)
            }));
        }
    }
}

#[test]
fn five_over_tls_and_tcp() {
    let circuit = circuit(5, 8);
    for mesh in [town(5).tls(), town(5).tcp()] {
        assert_outputs(all(mesh, |me, transport| run(Config::new(me, transport), &circuit, me)));
    }
}

#[test]
fn phases_repeat_over_one_session_of_three() {
    let circuit = circuit(3, 8);
    let mesh = Transport::memory_mesh(3, 1, None).unwrap();
    let ends = all(mesh, |me, transport| {
        let mut session = Session::connect(Config::new(me, transport), &circuit)?;
        assert_eq!((session.parties(), session.protocol()), (3, Protocol::Ywz));
        let (first, second) = (session.preprocess()?, session.preprocess()?);
        for (material, value) in [(second, 5), (first, 80)] {
            let ready = session.prepare(material)?;
            let outputs = session.run(ready, &inputs(&circuit, me, value))?;
            assert_eq!(outputs.get(0).unwrap().uint(), Some(3 * value % 256));
            let same = outputs.get("same").unwrap().uint();
            assert_eq!(same, (me == 2).then_some(1));
        }
        Ok::<_, Error>(session.id())
    });
    let ids: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
}

#[test]
fn a_wrong_fingerprint_for_one_of_three_ends_all_three() {
    let circuit = circuit(3, 8);
    let stranger: Fingerprint = Identity::generate().unwrap().fingerprint();
    // Party 0, which listens, expects another key of party 2, which dials; and vice versa.
    for (deceived, about) in [(0u16, 2usize), (2, 0)] {
        let town = town(3);
        let mut wrong = town.contacts.clone();
        wrong[about].fingerprint = Some(stranger);
        let contacts = town.contacts;
        let mesh = (0u16..)
            .zip(town.doors.into_iter().zip(town.keys))
            .map(|(me, (door, key))| {
                let contacts = if me == deceived { wrong.clone() } else { contacts.clone() };
                Transport::tls_mesh(door, key, contacts)
            })
            .collect();
        let errors = all(mesh, |me, transport| {
            let config = Config::new(me, transport).timeout(Duration::from_millis(1500));
            run(config, &circuit, me).unwrap_err()
        });
        let told: Vec<String> = errors.iter().map(Error::to_string).collect();
        assert!(errors.iter().all(|error| matches!(error, Error::Transport { .. })), "{told:?}");
        // The party that dials knows at once; the one that listens continues to wait for the right
        // one.
        match deceived {
            0 => assert!(matches!(
                &errors[2],
                Error::Transport { party: Some(party), reason: TransportReason::OwnKeyRefused } if *party == 0
            )),
            _ => assert!(matches!(
                &errors[2],
                Error::Transport { party: Some(party), reason: TransportReason::WrongKey { .. } } if *party == 0
            )),
        }
        assert!(told[0].contains("party 2"), "{told:?}");
    }
}

#[test]
fn one_of_three_absent_is_named_by_both_others() {
    let circuit = circuit(3, 8);
    for absent in [0u16, 1, 2] {
        let mut town = town(3);
        // The port of the absent party is closed, too.
        town.doors[usize::from(absent)].take();
        let mesh: Vec<_> = (0u16..).zip(town.tls()).filter(|(me, _)| *me != absent).collect();
        let (numbers, mesh): (Vec<u16>, Vec<_>) = mesh.into_iter().unzip();
        let errors = all(mesh, |place, transport| {
            let me = numbers[usize::from(place)];
            let config = Config::new(me, transport).timeout(Duration::from_millis(1500));
            run(config, &circuit, me).unwrap_err()
        });
        let named = |error: &Error| error.culprit() == Some(Culprit::Party(absent.into()));
        assert!(errors.iter().any(named), "{absent}: {errors:?}");
        for error in &errors {
            let told = error.to_string();
            assert!(named(error) || told.contains("connect to every party"), "{told}");
        }
    }
}

#[test]
fn another_circuit_at_one_of_three_is_told_to_all() {
    let (usual, other) = (circuit(3, 8), circuit(3, 9));
    let mesh = Transport::memory_mesh(3, 1, None).unwrap();
    let errors = all(mesh, |me, transport| {
        let circuit = if me == 1 { &other } else { &usual };
        run(Config::new(me, transport), circuit, me).unwrap_err()
    });
    for (me, error) in errors.iter().enumerate() {
        let odd = if me == 1 { "(party 0)" } else { "(party 1)" };
        assert!(
            matches!(error, Error::PeerIncompatible { what, theirs, .. }
                if what.code() == "circuit" && theirs.ends_with(odd)),
            "{error}"
        );
    }
}

#[test]
fn a_party_that_gives_up_ends_the_others() {
    let circuit = circuit(3, 8);
    let mesh = Transport::memory_mesh(3, 1, None).unwrap();
    let errors = all(mesh, |me, transport| {
        let mut session = Session::connect(Config::new(me, transport), &circuit).unwrap();
        let material = session.preprocess().unwrap();
        let ready = session.prepare(material).unwrap();
        // Party 1 brings the inputs of another circuit.
        let width = if me == 1 { 9 } else { 8 };
        let odd = self::circuit(3, width);
        session.run(ready, &inputs(&odd, me, 1)).unwrap_err()
    });
    assert!(matches!(errors[1], Error::InvalidInput(_)));
    for (me, other) in [(0, 2), (2, 0)] {
        let told = errors[me].to_string();
        let first_hand = told.contains("party 1 aborted: its caller gave it unusable input");
        let second_hand = told.contains(&format!("party {other} aborted: party 1 gave up"));
        assert!(first_hand || second_hand, "{told}");
    }
}

#[test]
fn impossible_meshes_are_refused() {
    let refused = |config: Config, circuit: &Circuit, text: &str| {
        let error = Session::connect(config, circuit).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains(text)), "{error}");
    };
    let three = circuit(3, 8);
    let memory = |me| Config::new(me, Transport::memory_mesh(3, 1, None).unwrap().remove(0));
    refused(memory(0).protocol(Protocol::Wrk), &three, "wrk runs among 2 parties, not 3");
    refused(memory(1), &three, "not party 1's");
    refused(memory(3), &three, "no party 3");
    refused(memory(0).rho(Rho::Bits80), &circuit(4, 8), "party 3, but there are 3");
    let contacts = town(3).contacts;
    let key = || Identity::generate().unwrap();
    let tls = |me, contacts: &[PeerInfo]| {
        Config::new(me, Transport::tls_mesh(None, key(), contacts.to_vec()))
    };
    refused(tls(0, &contacts), &three, "needs a port");
    let mut lacking = contacts.clone();
    lacking[1].address = None;
    refused(tls(2, &lacking), &three, "address of party 1");
    lacking[1] = PeerInfo { fingerprint: None, ..contacts[1].clone() };
    refused(tls(2, &lacking), &three, "fingerprint of party 1");
    refused(tls(0, &contacts[..1]), &three, "not 1");
    let door = Some(Listener::bind("127.0.0.1:0").unwrap());
    let last = Transport::tls_mesh(door, key(), contacts.clone());
    refused(Config::new(2, last), &three, "nobody dials party 2");
    assert!(Transport::memory_mesh(1, 1, None).is_err());
}

/// A party with a key that two parties prove could act as both, and so as all but one of the
/// parties: rejected before anything is sent, whether the key belongs to two others or to this
/// party.
/// Cheat: 3, network | connecting | one key for two parties, another party's or one's own | keys of
/// all parties are compared | always
#[test]
fn two_parties_with_one_key_are_refused() {
    let refused = |party, transport, text: &str| {
        let parties = Transport::parties(&transport) as u16;
        let config = Config::new(party, transport).timeout(Duration::from_secs(600));
        let error = Session::connect(config, &circuit(parties, 8)).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains(text)), "{error}");
    };
    let mut of_three = town(3);
    of_three.contacts[1].fingerprint = of_three.contacts[2].fingerprint;
    let (key, door) = (of_three.keys.remove(0), of_three.doors[0].take());
    let others = Transport::tls_mesh(door, key, of_three.contacts);
    refused(0, others, "parties 1 and 2 have one key");

    let mut of_three = town(3);
    of_three.contacts[0].fingerprint = of_three.contacts[2].fingerprint;
    let ours = Transport::tls_mesh(None, of_three.keys.remove(2), of_three.contacts);
    refused(2, ours, "given for party 0 is our own");

    let key = Identity::generate().unwrap();
    let own = key.fingerprint();
    let pair = Transport::tls(Endpoint::Dial("127.0.0.1:9".into()), key, own);
    refused(0, pair, "given for party 1 is our own");
}
