//! Several circuits in one session, and sessions that another thread cancels.

use std::thread;
use std::time::Duration;

use symbolon::circuit::{Circuit, builtin};
use symbolon::{
    CancelHandle, Config, Endpoint, Error, ErrorClass, GateForm, Identity, Inputs, Protocol,
    Result, Session, Transport, TransportReason,
};

fn circuit(name: &str) -> Circuit {
    builtin::by_name(name).expect("a built-in circuit")
}

fn evaluate(session: &mut Session, value: u128) -> Result<Option<u128>> {
    let (me, circuit) = (session.party(), session.circuit().clone());
    let inputs = Inputs::builder(&circuit, me).uint(usize::from(me), value)?.finish()?;
    Ok(session.evaluate(&inputs)?.get(0).and_then(|output| output.uint()))
}

/// Runs all parties at once over memory, each in a thread.
fn all<T: Send>(parties: u16, party: impl Fn(u16, Transport) -> T + Sync) -> Vec<T> {
    let ends = Transport::memory_mesh(parties, 1, None).expect("one lane");
    thread::scope(|scope| {
        let party = &party;
        let start = |(me, transport)| scope.spawn(move || party(me, transport));
        let threads: Vec<_> = (0u16..).zip(ends).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn bytes_of_setup(session: &Session) -> u64 {
    session.report().phases.iter().find(|phase| phase.phase == "setup").unwrap().bytes_sent
}

/// Returns every protocol in each of its forms.
fn kinds() -> impl Iterator<Item = (Protocol, GateForm)> {
    let forms = |&protocol: &Protocol| protocol.forms().iter().map(move |&form| (protocol, form));
    Protocol::ALL.iter().flat_map(forms)
}

#[test]
fn prepared_evaluations_are_run_one_by_one() {
    let circuit = circuit("add:16");
    for (protocol, form) in kinds() {
        all(2, |me, transport| {
            let config = Config::new(me, transport).protocol(protocol).form(form).executions(2);
            let mut session = Session::connect(config, &circuit).unwrap();
            let ready = session.prepare_each().unwrap();
            assert_eq!(ready.len(), 2);
            for (ready, value) in ready.into_iter().zip([7, 500]) {
                let inputs = Inputs::builder(&circuit, me).uint(usize::from(me), value).unwrap();
                let outputs = session.run(ready, &inputs.finish().unwrap()).unwrap();
                let sum = outputs.get(0).and_then(|output| output.uint());
                assert_eq!(sum, Some(2 * value), "{} {form}", protocol.name());
            }
        });
    }
}

#[test]
fn several_circuits_follow_one_set_up() {
    let (add, mul, wide) = (circuit("add:16"), circuit("mul:8"), circuit("add:40"));
    for (protocol, form) in kinds() {
        all(2, |me, transport| {
            let config = Config::new(me, transport).protocol(protocol).form(form);
            let mut session = Session::connect(config, &add).unwrap();
            let before = bytes_of_setup(&session);
            assert_eq!(evaluate(&mut session, 300 + u128::from(me)).unwrap(), Some(601));
            let stale = session.preprocess_circuit().unwrap();
            let id = session.id();
            for (next, value, result) in [(&mul, 12, 144), (&wide, 1 << 38, 1 << 39)] {
                session.next_circuit(next).unwrap();
                assert_eq!(session.circuit().name(), next.name());
                assert_eq!(evaluate(&mut session, value).unwrap(), Some(result));
            }
            // The same circuit again is a different job.
            session.next_circuit(&add).unwrap();
            let error = session.prepare(stale).map(drop).unwrap_err();
            assert!(matches!(&error, Error::InvalidInput(_)), "{error}");
            assert_eq!(evaluate(&mut session, 2).unwrap(), Some(4));
            assert_eq!(session.id(), id);
            // No base OT and no global key, only three announcements.
            assert_eq!(bytes_of_setup(&session), before + 3 * 48);
        });
    }
}

#[test]
fn several_circuits_follow_one_set_up_among_three() {
    let (two, three) = (circuit("auction:3x8"), circuit("auction:3x16"));
    all(3, |me, transport| {
        let mut session = Session::connect(Config::new(me, transport), &two).unwrap();
        assert_eq!(evaluate(&mut session, [9, 200, 17][usize::from(me)]).unwrap(), Some(1));
        session.next_circuit(&three).unwrap();
        assert_eq!(evaluate(&mut session, [900, 200, 17][usize::from(me)]).unwrap(), Some(0));
    });
}

#[test]
fn another_next_circuit_is_named_by_every_honest_party() {
    let (add, mul, other) = (circuit("add:8"), circuit("mul:8"), circuit("mul:9"));
    for parties in [2, 3] {
        let ends = all(parties, |me, transport| {
            let config = Config::new(me, transport).protocol(Protocol::Ywz);
            let mut session = Session::connect(config, &add).unwrap();
            let next = if me == 1 { &other } else { &mul };
            let error = session.next_circuit(next).unwrap_err();
            assert_eq!(session.preprocess().map(drop), Err(error.clone()), "the session is dead");
            error
        });
        let differs = |error: &Error| matches!(error, Error::PeerIncompatible { what, .. } if what.code() == "circuit");
        assert!(differs(&ends[0]) && differs(&ends[1]), "{ends:?}");
    }
}

#[test]
fn a_next_circuit_that_cannot_be_run_does_no_harm() {
    let (add, auction) = (circuit("add:8"), circuit("auction:3x8"));
    all(2, |me, transport| {
        let mut session = Session::connect(Config::new(me, transport), &add).unwrap();
        let error = session.next_circuit(&auction).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput(_)), "{error}");
        assert_eq!(evaluate(&mut session, 7).unwrap(), Some(14));
    });
}

/// Returns transports of two parties: in memory, with a simulated link, over TCP, over TLS.
fn transports() -> Vec<(Transport, Transport)> {
    let link = "lan1".parse().expect("a link");
    let meet = || {
        let listening = Endpoint::listen("127.0.0.1:0").expect("a port");
        let address = listening.local_address().expect("an address").to_string();
        (listening, Endpoint::dial(address))
    };
    let (a, b) = meet();
    let tcp = (Transport::insecure_plain_tcp(a), Transport::insecure_plain_tcp(b));
    let keys = [Identity::generate().unwrap(), Identity::generate().unwrap()];
    let prints = [keys[0].fingerprint(), keys[1].fingerprint()];
    let [first, second] = keys;
    let (a, b) = meet();
    let tls = (Transport::tls(a, first, prints[1]), Transport::tls(b, second, prints[0]));
    vec![
        Transport::memory(1, None).expect("one lane"),
        Transport::memory(1, Some(link)).expect("one lane"),
        tcp,
        tls,
    ]
}

/// Party 0 waits for party 1, which does not continue; a third thread cancels party 0.
#[test]
fn a_cancelled_session_ends_at_once_and_its_peer_is_told() {
    let circuit = &circuit("add:8");
    for (zero, one) in transports() {
        let cancel = CancelHandle::new();
        thread::scope(|scope| {
            let config = Config::new(0, zero).cancelled_by(&cancel);
            let waiting = scope.spawn(move || {
                let mut session = Session::connect(config, circuit)?;
                let done = evaluate(&mut session, 1);
                assert_eq!(evaluate(&mut session, 1), done, "the session is dead");
                done
            });
            let mut session = Session::connect(Config::new(1, one), circuit).unwrap();
            thread::sleep(Duration::from_millis(50));
            cancel.cancel();
            assert_eq!(waiting.join().expect("no panic"), Err(Error::Cancelled));
            let told = evaluate(&mut session, 1).unwrap_err();
            let interrupted = match &told {
                Error::Transport { reason: TransportReason::Aborted(text), .. } => {
                    text.contains("interrupted")
                }
                _ => false,
            };
            assert!(interrupted, "{told}");
        });
    }
}

/// Party 0 is interrupted at any moment, while both compute, send and receive. Party 1 learns each
/// time that it was interrupted, and never only that the connection ended.
#[test]
fn an_interrupt_at_any_moment_is_told() {
    let circuit = &circuit("mul:32");
    for time in 0..12 {
        for (transport, (zero, one)) in transports().into_iter().enumerate() {
            let cancel = CancelHandle::new();
            let until_it_ends = |config: Config| -> Result<()> {
                let mut session = Session::connect(config, circuit)?;
                loop {
                    evaluate(&mut session, 1)?;
                }
            };
            let connected = std::sync::Barrier::new(2);
            let told = thread::scope(|scope| {
                let config = Config::new(0, zero).cancelled_by(&cancel);
                let interrupted = scope.spawn(move || until_it_ends(config));
                scope.spawn(|| {
                    connected.wait();
                    thread::sleep(Duration::from_millis(11 * time));
                    cancel.cancel();
                });
                let mut session = Session::connect(Config::new(1, one), circuit).unwrap();
                connected.wait();
                let told = loop {
                    if let Err(error) = evaluate(&mut session, 1) {
                        break error;
                    }
                };
                assert_eq!(interrupted.join().expect("no panic"), Err(Error::Cancelled));
                told
            });
            let Error::Transport { reason: TransportReason::Aborted(text), .. } = &told else {
                panic!("transport {transport}, time {time}: {told}");
            };
            assert!(text.contains("interrupted"), "{told}");
        }
    }
}

#[test]
fn waiting_for_a_peer_can_be_cancelled() {
    let circuit = &circuit("add:8");
    let listening = Endpoint::listen("127.0.0.1:0").unwrap();
    let unused = Endpoint::listen("127.0.0.1:0").unwrap().local_address().unwrap().to_string();
    for meeting in [listening, Endpoint::dial(unused)] {
        let cancel = CancelHandle::new();
        let transport = Transport::insecure_plain_tcp(meeting);
        let config = Config::new(0, transport).cancelled_by(&cancel);
        let waiting = thread::scope(|scope| {
            let waiting = scope.spawn(|| Session::connect(config, circuit).map(drop));
            thread::sleep(Duration::from_millis(50));
            cancel.cancel();
            waiting.join().expect("no panic")
        });
        assert_eq!(waiting, Err(Error::Cancelled));
    }
}

#[test]
fn a_handle_that_was_cancelled_cancels_what_comes_later() {
    let circuit = circuit("add:8");
    let cancel = CancelHandle::new();
    cancel.cancel();
    assert!(cancel.is_cancelled());
    let (zero, _one) = Transport::memory(1, None).unwrap();
    let connected = Session::connect(Config::new(0, zero).cancelled_by(&cancel), &circuit);
    assert_eq!(connected.map(drop), Err(Error::Cancelled));
}

/// Connects a session of this kind: one that runs the circuit whole, or one in parts.
fn connect(kind: &str, config: Config, circuit: &Circuit) -> Result<Session> {
    match kind {
        "run" => Session::connect(config, circuit),
        _ => Session::connect_in_parts(config, circuit, &[]),
    }
}

#[test]
fn another_kind_of_session_is_named_on_both_sides() {
    let circuit = circuit("add:8");
    let ends = all(2, |me, transport| {
        let config = Config::new(me, transport).protocol(Protocol::Duplo);
        let kind = ["run", "parts"][usize::from(me)];
        connect(kind, config, &circuit).map(drop).unwrap_err()
    });
    for (error, [own, other]) in ends.iter().zip([["run", "parts"], ["parts", "run"]]) {
        let expected = format!("the kind of session: ours {own}, theirs {other}");
        assert_eq!(error.class(), ErrorClass::Incompatible);
        assert_eq!(error.to_string(), format!("the parties disagree on {expected}"));
    }
}

#[test]
fn calls_of_the_other_kind_of_session_are_refused_without_harm() {
    let circuit = circuit("add:8");
    for kind in ["run", "parts"] {
        all(2, |me, transport| {
            let config = Config::new(me, transport).protocol(Protocol::Duplo).executions(2);
            let mut session = connect(kind, config, &circuit).unwrap();
            let inputs = || Inputs::builder(&circuit, me).uint(usize::from(me), 20)?.finish();
            let batch = [inputs(), inputs()];
            let inputs = inputs().unwrap();
            let refused = match kind {
                "run" => vec![
                    session.evaluate_part(&inputs).map(drop),
                    session.continue_with(&circuit, &[], &inputs).map(drop),
                ],
                _ => vec![
                    session.evaluate(&inputs).map(drop),
                    session.preprocess().map(drop),
                    session.preprocess_circuit().map(drop),
                    session.prepare_each().map(drop),
                    session.next_circuit(&circuit),
                    session.evaluate_batch(batch, |_| Ok(())),
                ],
            };
            for refused in refused {
                let Err(Error::InvalidInput(text)) = refused else { panic!("{refused:?}") };
                assert!(text.contains("in parts"), "{text}");
            }
            let learnt = match kind {
                "run" => session.evaluate(&inputs),
                _ => session.evaluate_part(&inputs),
            };
            assert_eq!(learnt.unwrap().get(0).and_then(|sum| sum.uint()), Some(40));
        });
    }
}

/// What one of the parties does before it leaves.
type Refused = fn(&mut Session, &Inputs) -> Result<()>;

/// Only party 1 makes a call that is rejected, and leaves.
#[test]
fn a_party_that_leaves_after_a_refused_call_says_why() {
    let add = &circuit("add:8");
    let cases: [(&str, Refused, &str); 3] = [
        ("run", |session, inputs| session.evaluate_part(inputs).map(drop), "computation in parts"),
        ("parts", |session, inputs| session.evaluate(inputs).map(drop), "session of whole"),
        ("run", |session, _| session.next_circuit(&circuit("auction:3x8")), "unusable input"),
    ];
    for (kind, refused, says) in cases {
        for (zero, one) in transports() {
            let begin = |me: u16, transport| {
                let config = Config::new(me, transport).protocol(Protocol::Duplo);
                let inputs = Inputs::builder(add, me).uint(usize::from(me), 20).unwrap();
                (connect(kind, config, add).unwrap(), inputs.finish().unwrap())
            };
            let waited = thread::scope(|scope| {
                scope.spawn(|| {
                    let (mut session, inputs) = begin(1, one);
                    let refused = refused(&mut session, &inputs).unwrap_err();
                    assert!(matches!(&refused, Error::InvalidInput(_)), "{refused}");
                });
                let (mut session, inputs) = begin(0, zero);
                match kind {
                    "run" => session.evaluate(&inputs).unwrap_err(),
                    _ => session.evaluate_part(&inputs).unwrap_err(),
                }
            });
            let told = match &waited {
                Error::Transport { reason: TransportReason::Aborted(text), .. } => text,
                other => panic!("{kind}: {other}"),
            };
            assert!(told.contains(says), "{told}");
        }
    }
}
