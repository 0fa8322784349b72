use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::{
    AcceptedKey, AdmissionPolicy, Client, DEALER, Error, Fingerprint, Identity, Incoming, Listener,
    Meter, Options, PartyId, Peer, TransportReason, connect_lanes,
};

/// Only bounds the duration of a test that hangs.
const WAIT: Duration = Duration::from_secs(20);

fn options(me: impl Into<PartyId>, identity: Option<&Identity>) -> Options {
    let mut options = match identity {
        Some(identity) => Options::tls(me, identity, Meter::new()).unwrap(),
        None => Options::insecure_plain_tcp(me, Meter::new()),
    };
    options.connect_timeout = WAIT;
    options
}

fn host(pin: Option<Fingerprint>) -> Peer {
    pin.map_or(Peer::unauthenticated(DEALER), |pin| Peer::pinned(DEALER, pin))
}

/// Accepts `wanted` clients while `visit` runs with the address.
fn receive<T: Send>(
    (options, admit): (&Options, &AdmissionPolicy),
    wanted: usize,
    visit: impl FnOnce(&str) -> T + Send,
) -> (Vec<Client>, T) {
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    let mut clients = listener.incoming(options, admit).unwrap();
    thread::scope(|scope| {
        let visit = scope.spawn(move || visit(&address));
        let mut came = Vec::new();
        while came.len() < wanted {
            came.push(clients.next(WAIT).unwrap().expect("a client"));
        }
        while !visit.is_finished() {
            let more = clients.next(Duration::from_millis(5)).unwrap();
            assert!(more.is_none(), "one client too many");
        }
        (came, visit.join().unwrap())
    })
}

#[test]
fn clients_are_known_by_the_keys_they_prove() {
    let [dealer, a, b] = [(); 3].map(|()| Identity::generate().unwrap());
    let keys = AdmissionPolicy::Keys(vec![a.fingerprint(), b.fingerprint()]);
    for admit in [keys, AdmissionPolicy::Anybody] {
        let pin = host(Some(dealer.fingerprint()));
        let call = |address: &str, me, identity| {
            let mut lanes = connect_lanes(&options(me, Some(identity)), address, &pin, 1)?;
            lanes[0].send("greeting", &[me as u8])?;
            lanes.remove(0).close()
        };
        let (mut came, ended) = receive((&options(DEALER, Some(&dealer)), &admit), 2, |address| {
            [call(address, 7, &b), call(address, 3, &a)]
        });
        assert_eq!(ended, [Ok(()), Ok(())]);
        for (client, (me, key)) in came.iter_mut().zip([(7, &b), (3, &a)]) {
            assert_eq!((client.channel.me(), client.channel.peer()), (DEALER, me.into()));
            assert_eq!(client.key, Some(key.fingerprint()));
            assert_eq!(client.channel.recv("greeting", 1).unwrap(), [me as u8]);
        }
    }
}

/// Cheat: dealer | connecting | other keys and hosts | the pinned key | always
#[test]
fn other_keys_and_other_hosts_are_refused() {
    let [dealer, known, stranger] = [(); 3].map(|()| Identity::generate().unwrap());
    let admit = AdmissionPolicy::Keys(vec![known.fingerprint()]);
    let (came, ()) = receive((&options(DEALER, Some(&dealer)), &admit), 1, |address| {
        let pin = host(Some(dealer.fingerprint()));
        let refused = connect_lanes(&options(0, Some(&stranger)), address, &pin, 1).unwrap_err();
        assert_eq!(refused, Error::transport(DEALER, TransportReason::OwnKeyRefused));
        let wrong = host(Some(stranger.fingerprint()));
        let refused = connect_lanes(&options(0, Some(&known)), address, &wrong, 1).unwrap_err();
        assert!(refused.to_string().contains("the dealer's key has fingerprint"), "{refused}");
        // The right key, but two lanes instead of the service's one.
        let refused = connect_lanes(&options(0, Some(&known)), address, &pin, 2).unwrap_err();
        assert!(refused.to_string().contains("number of lanes"), "{refused}");
        let other = Peer::pinned(5, dealer.fingerprint());
        let refused = connect_lanes(&options(0, Some(&known)), address, &other, 1).unwrap_err();
        assert!(refused.to_string().contains("who talks to whom"), "{refused}");
        connect_lanes(&options(0, Some(&known)), address, &pin, 1).unwrap();
    });
    assert_eq!(came[0].key, Some(known.fingerprint()));
}

/// Waits until a connection has failed because one side did not accept the other's key. The side
/// that refuses writes down why only after the other side has heard of it.
fn recorded_refusal(clients: &mut Incoming<'_>) -> TransportReason {
    let deadline = Instant::now() + WAIT;
    while Instant::now() < deadline {
        assert!(clients.next(Duration::from_millis(5)).unwrap().is_none());
        if let Some(reason) = clients.refused_key() {
            return reason;
        }
    }
    panic!("no connection failed because of a key");
}

/// Cheat: dealer | connecting | a key whose time is over | the pinned key | always
#[test]
fn a_key_is_accepted_until_its_time() {
    let [host_key, own] = [(); 2].map(|()| Identity::generate().unwrap());
    let ended = SystemTime::now() - Duration::from_secs(1);
    let until = |key: &Identity, until| AcceptedKey { fingerprint: key.fingerprint(), until };
    let seconds = ended.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    // The host accepts the client's key no longer.
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    let own_options = options(0, Some(&own));
    let admit = AdmissionPolicy::Accepted(vec![until(&own, Some(ended))]);
    let host_options = options(DEALER, Some(&host_key));
    let mut clients = listener.incoming(&host_options, &admit).unwrap();
    let pin = host(Some(host_key.fingerprint()));
    let (refused, recorded) = thread::scope(|scope| {
        let dialled = scope.spawn(|| connect_lanes(&own_options, &address, &pin, 1).unwrap_err());
        let recorded = recorded_refusal(&mut clients);
        (dialled.join().unwrap(), recorded)
    });
    let reason = TransportReason::KeyExpired { until: seconds };
    assert_eq!(recorded, reason);
    assert_eq!(refused, Error::transport(DEALER, TransportReason::OwnKeyExpired));
    drop(clients);
    // The client accepts the host's key no longer; it tells so.
    let mut clients = listener.incoming(&host_options, &AdmissionPolicy::Anybody).unwrap();
    let keys = vec![until(&host_key, Some(ended))];
    let expired = Peer { keys, ..pin.clone() };
    let (refused, recorded) = thread::scope(|scope| {
        let dialled =
            scope.spawn(|| connect_lanes(&own_options, &address, &expired, 1).unwrap_err());
        let recorded = recorded_refusal(&mut clients);
        (dialled.join().unwrap(), recorded)
    });
    assert_eq!(refused, Error::transport(DEALER, reason));
    assert_eq!(recorded, TransportReason::OwnKeyExpired);
    assert!(refused.to_string().starts_with("the key of the dealer was accepted until 20"));
}

/// Each side proves the first of its keys that the other accepts, and never one whose time is over.
#[test]
fn of_several_keys_the_peer_is_proven_one_that_it_accepts() {
    let [new, old, first, second] = [(); 4].map(|()| Identity::generate().unwrap());
    let own = |me: u16, keys: &[&Identity]| {
        let mut options = Options::tls_of_several(me, keys.iter().copied(), Meter::new()).unwrap();
        options.connect_timeout = WAIT;
        options
    };
    let accepted = |key: &Identity| AcceptedKey::from(key.fingerprint());
    let ended = |key: &Identity| AcceptedKey {
        until: Some(SystemTime::now() - Duration::from_secs(1)),
        ..accepted(key)
    };
    let cases = [
        (vec![accepted(&old)], vec![accepted(&first)], &old, &first),
        (vec![accepted(&old), accepted(&new)], vec![accepted(&second)], &new, &second),
        (vec![accepted(&old), ended(&new)], vec![ended(&first), accepted(&second)], &old, &second),
    ];
    for (of_host, of_client, by_host, by_client) in cases {
        let admit = AdmissionPolicy::Accepted(of_client);
        let (came, key) = receive((&own(0, &[&new, &old]), &admit), 1, |address| {
            let peer = Peer { party: 0.into(), keys: of_host };
            let lanes = connect_lanes(&own(1, &[&first, &second]), address, &peer, 1).unwrap();
            lanes[0].peer_key()
        });
        assert_eq!(key, Some(by_host.fingerprint()));
        assert_eq!(came[0].key, Some(by_client.fingerprint()));
        assert_eq!(came[0].channel.peer_key(), came[0].key);
    }
}

#[test]
fn times_are_those_of_rfc_3339() {
    let time = AcceptedKey::read_until("2026-12-31T01:00:00+01:00").unwrap();
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(crate::text::utc(seconds), "2026-12-31T00:00:00Z");
    for text in ["", "2026-12-31", "2026-12-31T00:00:00", "tomorrow"] {
        assert!(AcceptedKey::read_until(text).is_err(), "{text}");
    }
}

#[test]
fn plain_tcp_admits_anybody_and_proves_nothing() {
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let keys = AdmissionPolicy::Keys(Vec::new());
    let refused = listener.incoming(&options(DEALER, None), &keys).unwrap_err();
    assert!(matches!(refused, Error::InvalidInput(_)));
    let (came, ()) = receive((&options(DEALER, None), &AdmissionPolicy::Anybody), 1, |address| {
        connect_lanes(&options(4, None), address, &host(None), 1).unwrap();
    });
    assert_eq!((came[0].channel.peer(), came[0].key), (4.into(), None));
}

/// Cheat: dealer | connecting | silent strangers | the time-out | always
#[test]
fn silent_strangers_keep_nobody_out() {
    let [dealer, a] = [(); 2].map(|()| Identity::generate().unwrap());
    let (came, _) =
        receive((&options(DEALER, Some(&dealer)), &AdmissionPolicy::Anybody), 1, |address| {
            let silent: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
            let pin = host(Some(dealer.fingerprint()));
            connect_lanes(&options(0, Some(&a)), address, &pin, 1).unwrap();
            silent
        });
    assert_eq!(came[0].key, Some(a.fingerprint()));
}

#[test]
fn a_channel_is_ended_from_another_thread() {
    let [dealer, a] = [(); 2].map(|()| Identity::generate().unwrap());
    for tls in [true, false] {
        let (dealer, a) = (tls.then_some(&dealer), tls.then_some(&a));
        let (mut came, mut lanes) =
            receive((&options(DEALER, dealer), &AdmissionPolicy::Anybody), 1, |address| {
                let pin = host(dealer.map(Identity::fingerprint));
                connect_lanes(&options(0, a), address, &pin, 1).unwrap()
            });
        let mut client = came.remove(0);
        let hangup = client.channel.hangup();
        let reader = thread::spawn(move || client.channel.recv("never", 1).unwrap_err());
        thread::sleep(Duration::from_millis(20));
        hangup.hang_up();
        assert_eq!(reader.join().unwrap(), Error::transport(0, TransportReason::Closed));
        lanes[0].recv("never", 1).unwrap_err();
    }
}

#[test]
fn a_client_that_speaks_or_goes_is_noticed_without_waiting() {
    let [dealer, a] = [(); 2].map(|()| Identity::generate().unwrap());
    for tls in [true, false] {
        let (dealer, a) = (tls.then_some(&dealer), tls.then_some(&a));
        let (mut came, mut lanes) =
            receive((&options(DEALER, dealer), &AdmissionPolicy::Anybody), 1, |address| {
                let pin = host(dealer.map(Identity::fingerprint));
                connect_lanes(&options(0, a), address, &pin, 1).unwrap()
            });
        let (mut client, mut lane) = (came.remove(0), lanes.remove(0));
        assert!(client.address.is_some_and(|address| address.is_loopback()));
        assert!(!client.channel.has_input());
        lane.send("word", &[1]).unwrap();
        lane.flush().unwrap();
        client.channel.recv("word", 1).unwrap();
        assert!(!client.channel.has_input());
        drop(lane);
        while !client.channel.has_input() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
