//! Who gets a slot at the dealer, and who cannot keep others from one.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use symbolon_preprocessing::dealer::{DealerClient, DealerServer, Event, Request, ServerLimits};
use symbolon_transport::{Channel, Client, DEALER, Error, Fingerprint, Result, TransportReason};

use crate::dealing::{DEADLINE, Dealt, LIMITS, check, finish, request, slot};

/// A short wait, for sessions in which a party may not arrive.
const SOON: Duration = Duration::from_millis(300);

/// A server, and its events.
struct TestServer {
    server: DealerServer,
    events: Arc<Mutex<Vec<Event>>>,
}

type Joined = JoinHandle<Result<Dealt>>;

fn key(number: u8) -> Fingerprint {
    Fingerprint([number; 32])
}

/// Returns a request for a session with this name among the holders of these keys.
fn session(name: u8, keys: &[u8], and_gates: u64) -> Request {
    let keys: Vec<Fingerprint> = keys.iter().map(|number| key(*number)).collect();
    let inputs: Vec<u64> = (0..keys.len() as u64).map(|party| 10 + party).collect();
    Request { session: [name; 32], keys, ..request(&inputs, and_gates) }
}

impl TestServer {
    fn open(rules: ServerLimits) -> TestServer {
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = events.clone();
        let server =
            DealerServer::new(rules, move |event| heard.lock().unwrap().push(event)).unwrap();
        TestServer { server, events }
    }

    /// Admits a client that proved this key; the caller handles its channel.
    fn enter(&self, party: u16, key: Fingerprint) -> Channel {
        self.enter_from(None, party, key)
    }

    /// Admits such a client from an address.
    fn enter_from(&self, address: Option<IpAddr>, party: u16, key: Fingerprint) -> Channel {
        let (near, far) = slot(party);
        self.server.admit(Client { channel: far, key: Some(key), address });
        near
    }

    /// Admits the holder of a slot's key, from an address; the client is waiting when this returns.
    fn admitted_from(&self, address: &str, asked: &Request, party: u16) -> Joined {
        let key = asked.keys[usize::from(party)];
        let come = || {
            let channel = self.enter_from(Some(address.parse().unwrap()), party, key);
            let asked = Request { party: party.into(), ..asked.clone() };
            thread::spawn(move || finish(DealerClient::new(channel, asked)?))
        };
        settle(vec![come(), come()])
    }

    /// Starts a client with this key that requests the slot and takes everything it is dealt.
    fn come(&self, asked: &Request, party: u16, key: Fingerprint) -> Joined {
        let (channel, asked) =
            (self.enter(party, key), Request { party: party.into(), ..asked.clone() });
        thread::spawn(move || finish(DealerClient::new(channel, asked)?))
    }

    /// Starts a client with the slot's own key.
    fn join(&self, asked: &Request, party: u16) -> Joined {
        self.come(asked, party, asked.keys[usize::from(party)])
    }

    /// Runs all parties of a session until they are dealt to.
    fn serve(&self, asked: &Request) {
        let parties: Vec<_> =
            (0..asked.parties() as u16).map(|party| self.join(asked, party)).collect();
        deserve(parties, asked);
    }

    /// Starts a client with the slot's own key, which is waiting when this returns.
    fn admitted(&self, asked: &Request, party: u16) -> Joined {
        settle(vec![self.join(asked, party), self.join(asked, party)])
    }

    /// Waits until this many clients or sessions were rejected.
    fn heard(&self, failures: usize) {
        let failed = || {
            let events = self.events.lock().unwrap();
            events.iter().filter(|event| matches!(event, Event::Failed { .. })).count()
        };
        while failed() < failures {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// As [`serve`](TestServer::serve), once there is room again: a session's place becomes free
    /// shortly after its parties have received everything.
    fn serve_soon(&self, asked: &Request) {
        for attempt in 0..200 {
            let mut asked = asked.clone();
            asked.session[1] = attempt;
            let parties: Vec<_> = (0..2).map(|party| self.join(&asked, party)).collect();
            let ended: Vec<_> = parties.into_iter().map(|party| party.join().unwrap()).collect();
            if let Ok(dealt) = ended.into_iter().collect::<Result<Vec<Dealt>>>() {
                return check(&dealt, &asked);
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("no place is free again");
    }

    /// Closes the server, and returns how many sessions were served.
    fn served(self) -> usize {
        let TestServer { server, events } = self;
        server.finish();
        let events = events.lock().unwrap();
        events.iter().filter(|event| matches!(event, Event::Served(_))).count()
    }
}

/// Returns which of two clients for one slot got it.
fn settle(mut two: Vec<Joined>) -> Joined {
    loop {
        if let Some(refused) = two.iter().position(|client| client.is_finished()) {
            assert_eq!(told(two.remove(refused)), "this party is here already");
            return two.remove(0);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn deserve(parties: Vec<Joined>, asked: &Request) {
    let dealt: Vec<Dealt> =
        parties.into_iter().map(|party| party.join().unwrap().unwrap()).collect();
    check(&dealt, asked);
}

/// Returns what a client that was not dealt to was told.
#[track_caller]
fn told(party: Joined) -> String {
    match party.join().unwrap().err().expect("it was dealt to") {
        Error::Transport { party: Some(DEALER), reason: TransportReason::Aborted(words) } => words,
        other => panic!("{other}"),
    }
}

#[test]
fn parties_of_many_sessions_find_each_other() {
    let house = TestServer::open(LIMITS);
    let sessions: Vec<Request> = (0..8)
        .map(|name| session(name, if name % 2 == 0 { &[1, 2] } else { &[3, 1, 4] }, 100))
        .collect();
    let mut parties: Vec<Vec<Joined>> = sessions.iter().map(|_| Vec::new()).collect();
    for party in 0..3 {
        for (asked, parties) in sessions.iter().zip(&mut parties) {
            if usize::from(party) < asked.parties() {
                parties.push(house.join(asked, party));
            }
        }
    }
    for (parties, asked) in parties.into_iter().zip(&sessions) {
        deserve(parties, asked);
    }
    assert_eq!(house.served(), 8);
}

/// Somebody who knows everything about a session but has none of its keys gets no slot, ends
/// nothing, and is told apart from the parties.
#[test]
fn another_key_gets_no_slot_and_ends_no_session() {
    let house = TestServer::open(LIMITS);
    let asked = session(1, &[1, 2], 100);
    let zero = house.admitted(&asked, 0);
    // This party's slot claimed with another key, and a session of the same name that names this
    // party's key instead.
    let words = told(house.come(&asked, 1, key(9)));
    assert!(words.contains("the slot of another key than its own"), "{words}");
    let words = told(house.join(&session(1, &[1, 9], 100), 1));
    assert_eq!(words, "the session names another key for this party");
    // A client without a key gets no slot that belongs to a key.
    let (near, far) = slot(1);
    house.server.admit(Client::from(far));
    let bare = Request { party: 1.into(), ..asked.clone() };
    let words = told(thread::spawn(move || finish(DealerClient::new(near, bare)?)));
    assert!(words.contains("another key"), "{words}");
    deserve(vec![zero, house.join(&asked, 1)], &asked);
    assert_eq!(house.served(), 1);
}

#[test]
fn a_slot_is_given_once_and_a_session_dealt_once() {
    let house = TestServer::open(LIMITS);
    let asked = session(1, &[1, 2], 100);
    let stays = house.admitted(&asked, 0);
    deserve(vec![stays, house.join(&asked, 1)], &asked);
    assert_eq!(told(house.join(&asked, 0)), "the dealer had this session before");
    assert_eq!(house.served(), 1);
}

/// Strangers who send nothing, an incomplete request, or nonsense, as many as are allowed at a time
/// and more.
#[test]
fn silent_and_rude_clients_keep_nobody_out() {
    let house = TestServer::open(LIMITS);
    let mut strangers: Vec<Channel> = (0..200).map(|_| house.enter(0, key(7))).collect();
    for stranger in &mut strangers[100..150] {
        // Rejected clients notice here.
        let _ = stranger.send("dealer request", &[1; 64]).and_then(|()| stranger.flush());
    }
    for stranger in &mut strangers[150..] {
        let mut half = [0; 64];
        half[..8].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        let _ = stranger.send("dealer request", &half).and_then(|()| stranger.flush());
    }
    let asked = session(1, &[1, 2], 100);
    house.serve(&asked);
    drop(strangers);
    assert_eq!(house.served(), 1);
}

/// One key that requests session after session alone gets its share and no more, and displaces
/// nobody.
#[test]
fn one_key_does_not_fill_the_room() {
    let house = TestServer::open(ServerLimits { per_key: 3, waiting: 4, ..LIMITS });
    let honest = session(200, &[1, 2], 100);
    let zero = house.admitted(&honest, 0);
    let lonely: Vec<Joined> =
        (0..5).map(|name| house.join(&session(name, &[8, 9], 1), 0)).collect();
    // The other client for party 0's slot, and two of these.
    house.heard(3);
    while lonely.iter().filter(|client| client.is_finished()).count() < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    let (refused, waiting): (Vec<_>, Vec<_>) =
        lonely.into_iter().partition(|client| client.is_finished());
    assert_eq!((refused.len(), waiting.len()), (2, 3));
    for refused in refused {
        let words = told(refused);
        assert_eq!(words, "this key has as many sessions at the dealer as it may have");
    }
    deserve(vec![zero, house.join(&honest, 1)], &honest);
    assert_eq!(house.served(), 1);
    for waiting in waiting {
        assert_eq!(told(waiting), "the dealer is closing");
    }
}

#[test]
fn places_are_free_again_after_a_session() {
    let house =
        TestServer::open(ServerLimits { per_key: 1, running: 1, join_timeout: SOON, ..LIMITS });
    for name in 0..5 {
        let asked = session(name, &[1, 2], 100);
        // The place of the previous session becomes free shortly after its parties have received
        // everything.
        house.serve_soon(&asked);
    }
    assert_eq!(house.served(), 5);
}

/// Strangers with a fresh key for each connection displace their own sessions, and nobody from
/// another address, whichever limit is reached.
/// Cheat: strangers | a dealer's slots | all slots from one address | the address with most waiting
/// slots gives way | always
#[test]
fn when_there_is_no_room_a_session_of_the_address_with_the_most_gives_way() {
    // With all slots taken, the second party of the honest session displaces one more.
    for (rules, displaced, words) in [
        (ServerLimits { waiting: 4, ..LIMITS }, 17, "the dealer has too many sessions waiting"),
        (ServerLimits { slots: 5, ..LIMITS }, 16, "too many parties wait at the dealer"),
        (
            ServerLimits { per_address: 3, ..LIMITS },
            17,
            "too many parties from this session's address wait at the dealer",
        ),
    ] {
        let house = TestServer::open(rules);
        let honest = session(200, &[1, 2], 100);
        let zero = house.admitted_from("198.51.100.1", &honest, 0);
        let stranger = |name: u8| {
            let asked = session(name, &[10 + 2 * name, 11 + 2 * name], 1);
            house.admitted_from("203.0.113.9", &asked, 0)
        };
        let lonely: Vec<Joined> = (0..20).map(stranger).collect();
        // The rejected ones, and as many that came for a slot that is taken.
        house.heard(displaced + 21);
        deserve(vec![zero, house.join(&honest, 1)], &honest);
        assert_eq!(house.served(), 1);
        let all: Vec<String> = lonely.into_iter().map(told).collect();
        assert_eq!(all.iter().filter(|told| *told == words).count(), 17, "{all:?}");
        assert_eq!(all.iter().filter(|told| *told == "the dealer is closing").count(), 3);
    }
}

#[test]
fn when_the_slots_of_running_sessions_leave_none_newcomers_are_told() {
    let house = TestServer::open(ServerLimits { slots: 3, ..LIMITS });
    let words = told(house.join(&session(1, &[1, 2, 3, 4], 1), 0));
    assert_eq!(words, "the session has more parties than the dealer has slots");
    let endless = session(2, &[1, 2], 1 << 30);
    let lazy: Vec<DealerClient> = thread::scope(|scope| {
        let begin = |party: u16| {
            let channel = house.enter(party, endless.keys[usize::from(party)]);
            let asked = Request { party: party.into(), ..endless.clone() };
            scope.spawn(move || DealerClient::new(channel, asked).unwrap())
        };
        [begin(0), begin(1)].into_iter().map(|client| client.join().unwrap()).collect()
    });
    // The third slot; the session's own party must not displace it.
    let asked = session(3, &[3, 4], 100);
    let zero = house.admitted(&asked, 0);
    assert_eq!(told(house.join(&asked, 1)), "all slots at the dealer are taken");
    drop(lazy);
    assert_eq!(house.served(), 0);
    assert_eq!(told(zero), "the dealer is closing");
}

/// The others are told at once, and the slots become free again.
#[test]
fn a_client_that_hangs_up_while_it_waits_is_noticed() {
    let house = TestServer::open(ServerLimits { slots: 3, ..LIMITS });
    for name in 0..5 {
        let asked = session(name, &[1, 2, 3], 100);
        let stays = house.admitted(&asked, 0);
        let mut gone = house.enter(1, key(2));
        let (head, table) = Request { party: 1.into(), ..asked.clone() }.encode();
        gone.send("dealer request", &head).unwrap();
        gone.send("dealer request: parties", &table).unwrap();
        gone.flush().unwrap();
        drop(gone);
        assert_eq!(told(stays), "party 1 left the dealer before all others had come");
    }
    house.serve(&session(9, &[4, 5, 6], 100));
    let events = house.events.lock().unwrap().clone();
    let left = Error::transport(1, TransportReason::Closed);
    let noticed = events.iter().filter(|event| match event {
        Event::Failed { error, .. } => *error == left,
        _ => false,
    });
    assert_eq!(noticed.count(), 5, "{events:?}");
    assert_eq!(house.served(), 1);
}

#[test]
fn a_session_waits_so_long_for_its_last_party() {
    let house = TestServer::open(ServerLimits { join_timeout: Duration::from_secs(1), ..LIMITS });
    let asked = session(1, &[1, 2, 3], 100);
    let early = [house.join(&asked, 0), house.join(&asked, 2)];
    for party in early {
        let words = told(party);
        assert!(words.contains("within 1 s; missing: 1"), "{words}");
    }
    // A later client is not kept waiting.
    assert_eq!(told(house.join(&asked, 1)), "the dealer had this session before");
    assert_eq!(house.served(), 0);
}

/// A session that takes nothing of what it is dealt keeps its own place, but no other.
#[test]
fn a_busy_dealer_says_so() {
    let house = TestServer::open(ServerLimits { running: 1, join_timeout: SOON, ..LIMITS });
    let endless = session(1, &[1, 2], 1 << 30);
    let lazy: Vec<DealerClient> = thread::scope(|scope| {
        let begin = |party: u16| {
            let channel = house.enter(party, endless.keys[usize::from(party)]);
            let asked = Request { party: party.into(), ..endless.clone() };
            scope.spawn(move || DealerClient::new(channel, asked).unwrap())
        };
        let begun = [begin(0), begin(1)];
        begun.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let asked = session(2, &[3, 4], 100);
    for party in [house.join(&asked, 0), house.join(&asked, 1)] {
        assert_eq!(told(party), "the dealer is busy");
    }
    drop(lazy);
    house.serve_soon(&session(3, &[3, 4], 100));
    assert_eq!(house.served(), 1);
}

/// Sessions that take a little of a large request now and then, without ever causing a time-out,
/// are ended when they are too late, and their places become free.
///
/// Cheat: pairs of strangers | taking what is dealt | far too slowly | the dealer's rate | always
#[test]
fn slow_readers_hold_no_place_for_long() {
    let (timeout, pause) = (Duration::from_secs(1), Duration::from_millis(100));
    let house = TestServer::open(ServerLimits { running: 2, rate: 1 << 30, ..LIMITS });
    let slow = |asked: &Request, party: u16| {
        let (near, mut far) = slot(party);
        far.set_timeout(timeout);
        let key = Some(asked.keys[usize::from(party)]);
        house.server.admit(Client { channel: far, key, address: None });
        let asked = Request { party: party.into(), ..asked.clone() };
        thread::spawn(move || {
            let begun = Instant::now();
            let (_, _, mut source) = DealerClient::new(near, asked)?.inputs()?;
            while source.next_batch()?.is_some() {
                thread::sleep(pause);
                assert!(begun.elapsed() < DEADLINE, "a slow reader is dealt to for ever");
            }
            Ok(())
        })
    };
    let endless = [1, 2].map(|name| session(name, &[1, 2], 1 << 30));
    let pairs: Vec<JoinHandle<Result<()>>> =
        endless.iter().flat_map(|asked| [slow(asked, 0), slow(asked, 1)]).collect();
    house.heard(2);
    for party in pairs {
        assert!(party.join().unwrap().is_err());
    }
    for event in house.events.lock().unwrap().iter() {
        let Event::Failed { error, .. } = event else { panic!("{event:?}") };
        let Error::Transport { reason: TransportReason::TimedOut(_), .. } = error else {
            panic!("{error}")
        };
    }
    house.serve_soon(&session(3, &[3, 4], 100));
    assert_eq!(house.served(), 1);
}

/// Cheat: party | request | different requests | both are told the difference | always
#[test]
fn parties_who_ask_for_different_things_are_told_what_differs() {
    let house = TestServer::open(LIMITS);
    let asked = |name| session(name, &[1, 2], 100);
    let others = [
        (
            Request { and_gates: 101, ..asked(1) },
            ["the number of AND gates: ", "100 (party 0)", "101 (party 1)"],
        ),
        (
            Request { evaluator: 0.into(), ..asked(3) },
            ["the evaluator: ", "party 1 (party 0)", "party 0 (party 1)"],
        ),
        (
            Request { input_bits: vec![10, 12], ..asked(4) },
            ["the input bits of party 1: ", "11 (party 0)", "12 (party 1)"],
        ),
    ];
    for (other, difference) in others {
        let asked = asked(other.session[0]);
        for party in [house.join(&asked, 0), house.join(&other, 1)] {
            let words = told(party);
            assert!(words.contains("the parties disagree on"), "{words}");
            // The party that the server heard first comes first.
            assert!(difference.iter().all(|part| words.contains(part)), "{words}, {difference:?}");
        }
    }
    let much = session(2, &[1, 2], LIMITS.per_session.and_gates + 1);
    let words = told(house.join(&much, 0));
    assert!(
        words.contains("the number of AND gates: the dealer's is at most 4294967296"),
        "{words}"
    );
    assert_eq!(house.served(), 0);
}
