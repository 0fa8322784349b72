//! Sessions between two threads: phases, misuse, differences, and what the peer learns about an
//! error.

use std::thread;
use std::time::Duration;

use symbolon::circuit::builder::{Builder, ComponentBuilder};
use symbolon::circuit::{Circuit, Receivers, Type, builtin};
use symbolon::duplo::DuploOptions;
use symbolon::{
    Config, Endpoint, Error, Identity, Inputs, Outputs, Protocol, Result, Rho, Session, Transport,
    TransportReason,
};

fn circuit(name: &str) -> Circuit {
    builtin::by_name(name).expect("a built-in circuit")
}

fn inputs(circuit: &Circuit, party: u16, value: u128) -> Inputs {
    Inputs::builder(circuit, party)
        .uint(usize::from(party), value)
        .and_then(|builder| builder.finish())
        .expect("a value that fits")
}

/// Runs both parties at once, over memory.
fn both<T: Send>(
    zero: impl FnOnce(Transport) -> T + Send,
    one: impl FnOnce(Transport) -> T + Send,
) -> (T, T) {
    let (for_zero, for_one) = Transport::memory(1, None).expect("one lane");
    thread::scope(|scope| {
        let zero = scope.spawn(|| zero(for_zero));
        let one = one(for_one);
        (zero.join().expect("no panic"), one)
    })
}

fn sum(outputs: &Outputs) -> Option<u128> {
    outputs.get("sum").and_then(|sum| sum.uint())
}

#[test]
fn phases_run_apart_and_more_than_once() {
    let circuit = circuit("add:16");
    let party = |me: u16, transport: Transport| -> Result<()> {
        let config = Config::new(me, transport).rho(Rho::Bits64).timeout(Duration::from_secs(20));
        let mut session = Session::connect(config, &circuit)?;
        let setup = session.report();
        assert_eq!(setup.phases.len(), 1);
        assert!(setup.phases[0].phase == "setup" && setup.phases[0].bytes_sent > 0);
        // Material may be made ahead, and used in any order that both sides share.
        let first = session.preprocess()?;
        let second = session.preprocess()?;
        let ready = session.prepare(second)?;
        assert_eq!(sum(&session.run(ready, &inputs(&circuit, me, 3))?), Some(6));
        let before = session.report();
        let ready = session.prepare(first)?;
        assert_eq!(sum(&session.run(ready, &inputs(&circuit, me, 40_000))?), Some(80_000 % 65_536));
        let added = session.report().since(&before);
        let names: Vec<_> = added.phases.iter().map(|phase| phase.phase.as_str()).collect();
        assert_eq!(names, ["dependent", "online"]);
        // With a known circuit there is no function-independent phase.
        let before = session.report();
        assert_eq!(sum(&session.evaluate(&inputs(&circuit, me, 1))?), Some(2));
        let added = session.report().since(&before);
        let names: Vec<_> = added.phases.iter().map(|phase| phase.phase.as_str()).collect();
        assert_eq!(names, ["dependent", "online"]);
        let material = session.preprocess_circuit()?;
        let ready = session.prepare(material)?;
        assert_eq!(sum(&session.run(ready, &inputs(&circuit, me, 7))?), Some(14));
        Ok(())
    };
    let (zero, one) = both(|transport| party(0, transport), |transport| party(1, transport));
    zero.unwrap();
    one.unwrap();
}

#[test]
fn outputs_go_to_their_receivers_only() {
    let circuit = circuit("compare:8")
        .with_receivers(vec![Receivers::only([1]), Receivers::only([0])])
        .unwrap();
    let party = |me: u16, transport: Transport| {
        let mut session = Session::connect(Config::new(me, transport), &circuit)?;
        session.evaluate(&inputs(&circuit, me, u128::from(me)))
    };
    let (zero, one) = both(|transport| party(0, transport), |transport| party(1, transport));
    let (zero, one) = (zero.unwrap(), one.unwrap());
    let seen = |outputs: &Outputs| -> Vec<Option<u128>> {
        outputs.iter().map(|output| output.uint()).collect()
    };
    assert_eq!(seen(&zero), [None, Some(0)]);
    assert_eq!(seen(&one), [Some(1), None]);
    assert!(zero.get(0).unwrap().value().is_none());
}

/// A circuit with more gates than a segment is streamed, if all parties ask for it.
#[test]
fn large_circuits_are_streamed() {
    let circuit = circuit("mul:32");
    let party = |me: u16, transport: Transport, segment_gates: u64| -> Result<()> {
        let config = Config::new(me, transport)
            .segment_gates(segment_gates)
            .timeout(Duration::from_secs(20));
        let mut session = Session::connect(config, &circuit)?;
        assert!(session.streams());
        // Twice: the material is fresh, and the gates have other numbers.
        for factor in [3u128, 70_000] {
            let before = session.report();
            let outputs = session.evaluate(&inputs(&circuit, me, factor))?;
            let square = outputs.get(0).and_then(|product| product.uint());
            assert_eq!(square, Some(factor * factor % (1 << 32)));
            let added = session.report().since(&before);
            let names: Vec<_> = added.phases.iter().map(|phase| phase.phase.as_str()).collect();
            assert_eq!(names, ["streamed"]);
        }
        // Material made ahead is kept.
        let material = session.preprocess()?;
        let ready = session.prepare(material)?;
        session.run(ready, &inputs(&circuit, me, 7))?;
        Ok(())
    };
    let (zero, one) = both(|t| party(0, t, 300), |t| party(1, t, 300));
    zero.unwrap();
    one.unwrap();
    let (zero, one) = both(|t| party(0, t, 300), |t| party(1, t, 301));
    for error in [zero.unwrap_err(), one.unwrap_err()] {
        let named = matches!(&error, Error::PeerIncompatible { what, .. } if what.code() == "segment_gates");
        assert!(named, "{error:?}");
    }
}

#[test]
fn tls_between_two_identities() {
    let circuit = circuit("add:8");
    let keys = [Identity::generate().unwrap(), Identity::generate().unwrap()];
    let prints = [keys[0].fingerprint(), keys[1].fingerprint()];
    let meeting = Endpoint::listen("127.0.0.1:0").unwrap();
    let address = meeting.local_address().unwrap().to_string();
    let meetings = [meeting, Endpoint::dial(address)];
    let circuit = &circuit;
    let outputs = thread::scope(|scope| {
        let parties: Vec<_> = (0u16..)
            .zip(keys.into_iter().zip(meetings))
            .map(|(me, (key, meeting))| {
                let transport = Transport::tls(meeting, key, prints[1 - usize::from(me)]);
                scope.spawn(move || {
                    let config = Config::new(me, transport).threads(2);
                    Session::connect(config, circuit)?.evaluate(&inputs(circuit, me, 21))
                })
            })
            .collect();
        parties.into_iter().map(|party| party.join().unwrap().unwrap()).collect::<Vec<_>>()
    });
    assert!(outputs.iter().all(|outputs| sum(outputs) == Some(42)));
}

#[test]
fn differences_are_named_on_both_sides() {
    let (here, there) = (circuit("add:8"), circuit("add:9"));
    let connect = |me: u16, transport: Transport, rho: Rho, circuit: &Circuit| {
        Session::connect(Config::new(me, transport).rho(rho), circuit).map(drop)
    };
    let (zero, one) = both(
        |transport| connect(0, transport, Rho::Bits40, &here),
        |transport| connect(1, transport, Rho::Bits80, &here),
    );
    assert_eq!(zero.unwrap_err(), Error::incompatible("rho", "40", "80"));
    assert_eq!(one.unwrap_err(), Error::incompatible("rho", "80", "40"));
    let (zero, one) = both(
        |transport| connect(0, transport, Rho::Bits40, &here),
        |transport| connect(1, transport, Rho::Bits40, &there),
    );
    for (error, names) in [
        (zero.unwrap_err(), ["u8, owned by party 0 (add:8)", "u9, owned by party 0 (add:9)"]),
        (one.unwrap_err(), ["u9, owned by party 0 (add:9)", "u8, owned by party 0 (add:8)"]),
    ] {
        assert!(matches!(&error, Error::PeerIncompatible { what, .. } if what.code() == "circuit"));
        let [ours, theirs] = names.map(|text| format!("`x`: {text}"));
        let expected =
            format!("the parties disagree on circuit input 0: ours {ours}, theirs {theirs}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn misuse_is_refused() {
    let circuit = circuit("add:8");
    let config = |me| Config::new(me, Transport::memory(2, None).unwrap().0);
    let refused = |config: Config, circuit: &Circuit, text: &str| {
        let error = Session::connect(config, circuit).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains(text)), "{error}");
    };
    refused(config(2), &circuit, "no party 2");
    refused(config(1), &circuit, "party 1's");
    let named = config(0).protocol(Protocol::Duplo).options(DuploOptions::components(["nothing"]));
    refused(named, &circuit, "no component `nothing`");
    refused(config(0).threads(3), &circuit, "3 threads");
    refused(config(0).timeout(Duration::ZERO), &circuit, "time-out");
    refused(config(0).link("lan".parse().unwrap()), &circuit, "link");
    let strange = circuit.clone().with_owners(&[0, 2]).unwrap();
    refused(config(0), &strange, "belongs to party 2");
    let strange = circuit.clone().with_receivers(vec![Receivers::only([0, 5])]).unwrap();
    refused(config(0), &strange, "party 5");
    assert!(Transport::memory(0, None).is_err());
    assert!(Transport::memory(65, None).is_err());
}

#[test]
fn a_failed_session_is_dead_and_its_peer_is_told() {
    let circuit = circuit("add:8");
    let zero = |transport| {
        let mut session = Session::connect(Config::new(0, transport), &circuit).unwrap();
        let material = session.preprocess().unwrap();
        let ready = session.prepare(material).unwrap();
        // Another circuit's inputs have the wrong width.
        let wide = builtin::by_name("add:9").unwrap();
        let error = session.run(ready, &inputs(&wide, 0, 1)).unwrap_err();
        assert!(matches!(error, Error::InvalidInput(_)));
        let again = session.preprocess().map(drop).unwrap_err();
        assert_eq!(again, error);
        // Also a call that would be refused.
        assert_eq!(session.evaluate(&inputs(&wide, 0, 1)).unwrap_err(), error);
        assert_eq!(session.next_circuit(&wide).unwrap_err(), error);
    };
    let one = |transport| {
        let mut session = Session::connect(Config::new(1, transport), &circuit).unwrap();
        let material = session.preprocess().unwrap();
        let ready = session.prepare(material).unwrap();
        let error = session.run(ready, &inputs(&circuit, 1, 1)).unwrap_err();
        let told = |text: &str| text.contains("unusable input");
        assert!(
            matches!(
                &error,
                Error::Transport { reason: TransportReason::Aborted(text), .. } if told(text)
            ),
            "{error}"
        );
    };
    both(zero, one);
}

#[test]
fn a_session_of_several_evaluations_also_runs_one() {
    let circuit = circuit("add:8");
    for protocol in [Protocol::Wrk, Protocol::TinyTable, Protocol::DualEx] {
        let party = |me: u16, transport: Transport| {
            let config = Config::new(me, transport).protocol(protocol).executions(3);
            let mut session = Session::connect(config, &circuit).unwrap();
            assert_eq!(sum(&session.evaluate(&inputs(&circuit, me, 7)).unwrap()), Some(14));
            let all = (1..4).map(|value| Ok(inputs(&circuit, me, value)));
            let mut sums = Vec::new();
            let each = |outputs: Outputs| {
                sums.extend(sum(&outputs));
                Ok(())
            };
            session.evaluate_batch(all, each).unwrap();
            assert_eq!(sums, [2, 4, 6]);
        };
        both(|transport| party(0, transport), |transport| party(1, transport));
    }
}

#[test]
fn a_circuit_without_the_chosen_components_is_refused_without_harm() {
    let with = |name: &str| {
        let mut product = ComponentBuilder::new(name);
        let (x, y) = (product.input(8), product.input(8));
        let xy = product.mul(&x, &y);
        product.output(&xy);
        let mut b = Builder::new("product");
        let (x, y) = (b.input("x", Type::Uint(8), 0), b.input("y", Type::Uint(8), 1));
        let xy = b.call_one(&product.finish().unwrap(), &[&x, &y]);
        b.output("sum", &xy, Type::Uint(8), Receivers::All);
        b.finish().unwrap()
    };
    let (circuit, other) = (with("part"), with("another"));
    let party = |me: u16, transport: Transport| {
        let config = Config::new(me, transport)
            .protocol(Protocol::Duplo)
            .options(DuploOptions::components(["part"]));
        let mut session = Session::connect(config, &circuit).unwrap();
        let error = session.next_circuit(&other).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains("`part`")), "{error}");
        assert_eq!(sum(&session.evaluate(&inputs(&circuit, me, 3)).unwrap()), Some(9));
    };
    both(|transport| party(0, transport), |transport| party(1, transport));
}

#[test]
fn material_and_inputs_of_others_are_refused_and_do_no_harm() {
    let circuit = circuit("add:8");
    let party = |me: u16, first: Transport, second: Transport| {
        let mut session = Session::connect(Config::new(me, first), &circuit).unwrap();
        let mut other = Session::connect(Config::new(me, second), &circuit).unwrap();
        assert_ne!(session.id(), other.id());
        let stray = other.preprocess().unwrap();
        let error = session.prepare(stray).map(drop).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains("another session")));
        let error = session.evaluate(&inputs(&circuit, 1 - me, 1)).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains("'s inputs")));
        let wide = builtin::by_name("add:9").unwrap();
        let error = session.evaluate(&inputs(&wide, me, 1)).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains("another circuit")));
        // Of the same widths, but the names mean something else.
        let names = vec!["y".to_string(), "x".to_string()];
        let swapped = circuit.clone().with_names(names, vec!["sum".to_string()]).unwrap();
        let error = session.evaluate(&inputs(&swapped, me, 1)).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(why) if why.contains("another circuit")));
        assert_eq!(sum(&session.evaluate(&inputs(&circuit, me, 2)).unwrap()), Some(4));
    };
    let (a, b) = (Transport::memory(1, None).unwrap(), Transport::memory(1, None).unwrap());
    thread::scope(|scope| {
        scope.spawn(|| party(0, a.0, b.0));
        scope.spawn(|| party(1, a.1, b.1));
    });
}
