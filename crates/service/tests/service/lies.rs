//! A peer that lies: it speaks the messages, but says what is not so.

use std::time::{Duration, Instant};

use symbolon::circuit::{PartyId, builtin};
use symbolon::stored::StockedSession;
use symbolon::{Channel, Config, Listener, Protocol, Session, SessionParams, Transport};
use symbolon_service::fuzzing::{Message, Opening, Purpose, Tag};
use symbolon_service::{CallError, Digest, FunctionConfig, Node};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::{AdmissionPolicy, Client, Meter, Options, Peer, connect_lanes};

use crate::clients::{auction, bid, close, give, open_all};
use crate::common::*;

type Lie = Box<dyn Fn(&mut Liar)>;

/// A peer that says what the test wants.
pub struct Liar {
    pub out: Channel,
    from: Channel,
}

impl Liar {
    fn options(world: &World, me: u16) -> Options {
        Options::tls(me, &world.identities[usize::from(me)], Meter::new()).unwrap()
    }

    fn dial(world: &World, options: &Options, purpose: Purpose, tag: Tag) -> Channel {
        Liar::dial_to(world, options, 0, (purpose, tag))
    }

    fn dial_to(
        world: &World,
        options: &Options,
        to: u16,
        (purpose, tag): (Purpose, Tag),
    ) -> Channel {
        let party = &world.parties[usize::from(to)];
        let peer = Peer { party: to.into(), keys: party.keys.clone() };
        let address = party.address.as_deref().unwrap();
        let mut channel = connect_lanes(options, address, &peer, 1).unwrap().remove(0);
        channel.send("service: opening", &Opening { purpose, tag }.encode()).unwrap();
        channel.flush().unwrap();
        channel
    }

    /// Connects as party 1 to the node of party 0.
    fn as_one(world: &World) -> Liar {
        Liar::between(world, 1, 0)
    }

    /// Connects as a party to the node of another.
    pub fn between(world: &World, me: u16, to: u16) -> Liar {
        let options = Liar::options(world, me);
        let tag = Tag::draw().unwrap();
        let out = Liar::dial_to(world, &options, to, (Purpose::FromDialler, tag));
        let from = Liar::dial_to(world, &options, to, (Purpose::ToDialler, tag));
        Liar { out, from }
    }

    pub fn say(&mut self, message: &Message) {
        self.raw(&message.encode());
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.out.send("service: control", bytes).unwrap();
        self.out.flush().unwrap();
    }

    pub fn hear(&mut self) -> symbolon::Result<Message> {
        let bytes = self.from.recv_bounded("service: control", 64 << 10)?;
        Ok(Message::decode(&bytes).unwrap())
    }

    /// Hears messages until one is wanted.
    fn hear_until(&mut self, wanted: impl Fn(&Message) -> bool) -> Message {
        loop {
            let message = self.hear().expect("the message comes");
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Says that it has the functions that the node says it has.
    fn introduce(&mut self) {
        let Message::Hello { functions, version, .. } = self.hear().unwrap() else {
            panic!("a hello")
        };
        self.say(&Message::Hello { version, functions, relation: None });
        for _ in 0..functions {
            let function = self.hear().unwrap();
            self.say(&function);
        }
    }
}

fn function() -> FunctionConfig {
    let mut function = adder(Protocol::Wrk);
    (function.ready, function.low, function.side_by_side) = (2, 1, 1);
    function.wait = Duration::from_secs(2);
    function
}

/// Starts party 1's node, and takes the place of party 0.
fn against_one(then: impl FnOnce(Node, Liar, &mut dyn FnMut() -> (Opening, Channel))) {
    against_one_of(&mut World::new(2), function(), |_, node, liar, next| then(node, liar, next));
}

/// As [`against_one`], in this world, with this function.
fn against_one_of<T>(
    world: &mut World,
    function: FunctionConfig,
    then: impl FnOnce(&World, Node, Liar, &mut dyn FnMut() -> (Opening, Channel)) -> T,
) -> T {
    // The listener of party 0 is the liar's.
    let zero = world.config(0, Vec::new()).listener.unwrap();
    let node = world.start(1, vec![function]);
    let options = Liar::options(world, 0);
    let mut listener: Listener = zero;
    let admitted = AdmissionPolicy::Accepted(world.parties[1].keys.clone());
    let mut incoming = listener.incoming(&options, &admitted).unwrap();
    let mut next = || {
        let Client { mut channel, .. } = incoming.next(LONG).unwrap().expect("a connection");
        let bytes = channel.recv_array::<{ Opening::BYTES }>("service: opening").unwrap();
        (Opening::decode(&bytes).unwrap(), channel)
    };
    let ((first, from), (second, out)) = (next(), next());
    assert_eq!((first.purpose, second.purpose), (Purpose::FromDialler, Purpose::ToDialler));
    let mut liar = Liar { out, from };
    liar.introduce();
    then(world, node, liar, &mut next)
}

/// Cheat: 2; 1 | service | garbage, and messages that only party 0 sends | `service: control`, and
/// the connection ends | always
#[test]
fn what_a_peer_may_not_say_ends_the_connection_alone() {
    let mut world = World::new(2);
    let zero = world.start(0, vec![function()]);
    let call = || (name("add"), name("c"));
    let session = Tag([7; 16]);
    let lies: Vec<Lie> = vec![
        Box::new(|liar| liar.raw(b"{\"is\":\"nothing\"}")),
        Box::new(|liar| liar.raw(&[0xff; 100])),
        Box::new(|liar| liar.say(&Message::Hello { version: 1, functions: 0, relation: None })),
        Box::new(move |liar| {
            let (function, call) = call();
            liar.say(&Message::Assign { function, call, session });
        }),
        Box::new(move |liar| liar.say(&Message::Fill { session, count: 1 })),
        Box::new(move |liar| liar.say(&Message::Open { function: name("add"), session })),
        Box::new(move |liar| {
            let (function, call) = call();
            liar.say(&Message::Withdrawn { function, call });
        }),
    ];
    for lie in &lies {
        let mut liar = Liar::as_one(&world);
        liar.introduce();
        until("it is connected", || zero.stock().peers[0].connected);
        lie(&mut liar);
        until("it is cut off", || !zero.stock().peers[0].connected);
        let why = zero.stock().peers[0].why.clone().unwrap();
        assert!(why.contains("service: control"), "{why}");
    }
    // An honest peer is served afterwards.
    let nodes = [zero, world.start(1, vec![function()])];
    assert_eq!(sum(&nodes, "honest", [1, 2]), 3);
}

/// Cheat: 2; 1 | service | no introduction, or one with too many functions | the connection ends |
/// always
#[test]
fn a_peer_that_does_not_introduce_itself_is_cut_off() {
    let mut world = World::new(2);
    let zero = world.start(0, vec![function()]);
    for functions in [None, Some(1 << 20)] {
        let mut liar = Liar::as_one(&world);
        if let Some(functions) = functions {
            liar.say(&Message::Hello { version: 1, functions, relation: None });
        }
        while liar.hear().is_ok() {}
        assert!(!zero.stock().peers[0].connected);
    }
}

/// Cheat: 2; 1 | service | an opening that is none, or none at all | the connection ends | always
#[test]
fn connections_that_belong_to_nothing_end() {
    let mut world = World::new(2);
    let zero = world.start(0, vec![function()]);
    let options = Liar::options(&world, 1);
    let peer = Peer { party: 0.into(), keys: world.parties[0].keys.clone() };
    let address = world.parties[0].address.clone().unwrap();
    for opening in [Some([9; Opening::BYTES]), None] {
        let mut channel = connect_lanes(&options, &address, &peer, 1).unwrap().remove(0);
        if let Some(bytes) = opening {
            channel.send("service: opening", &bytes).unwrap();
            channel.flush().unwrap();
        }
        assert!(channel.recv_array::<1>("service: control").is_err());
    }
    // Lanes of a session that is not open harm nobody.
    let tag = Tag([5; 16]);
    let _lanes: Vec<Channel> =
        (0..3).map(|_| Liar::dial(&world, &options, Purpose::Lane(0), tag)).collect();
    let nodes = [zero, world.start(1, vec![function()])];
    assert_eq!(sum(&nodes, "honest", [1, 2]), 3);
}

/// Cheat: 2; 1 | service | has inputs for more calls than may wait | they are refused | always
#[test]
fn a_flood_of_calls_is_bounded() {
    let mut world = World::new(2);
    let mut function = function();
    function.waiting = 5;
    let zero = world.start(0, vec![function]);
    let mut liar = Liar::as_one(&world);
    liar.introduce();
    for i in 0..50 {
        liar.say(&Message::Have { function: name("add"), call: name(&format!("c{i}")) });
        liar.say(&Message::Have { function: name("none"), call: name("c") });
    }
    liar.hear_until(
        |message| matches!(message, Message::Refused { call, .. } if *call == name("c49")),
    );
    assert_eq!(zero.announced("add").unwrap().len(), 5);
}

/// Cheat: 2; 0 | service | assigns an unknown session, fills more than was agreed, opens too many |
/// the session is closed, and calls wait on | always
#[test]
fn assignments_of_what_is_not_there_use_nothing() {
    against_one(|node, mut liar, _| {
        let waits = post(&node, "a", 1).unwrap();
        let closed = |liar: &mut Liar, session: Tag| {
            liar.hear_until(|message| *message == Message::Closed { session });
        };
        let unknown = Tag([1; 16]);
        let (function, call) = (name("add"), name("a"));
        liar.say(&Message::Assign { function: function.clone(), call, session: unknown });
        closed(&mut liar, unknown);
        liar.say(&Message::Fill { session: unknown, count: 1 });
        closed(&mut liar, unknown);
        let (first, second) = (Tag([2; 16]), Tag([3; 16]));
        liar.say(&Message::Open { function: function.clone(), session: first });
        // One is what was agreed.
        liar.say(&Message::Open { function, session: second });
        closed(&mut liar, second);
        liar.say(&Message::Fill { session: first, count: 1 << 40 });
        closed(&mut liar, first);
        // The call waited for party 0, which was told that it does no longer.
        liar.hear_until(|message| matches!(message, Message::Withdraw { .. }));
        liar.say(&Message::Withdrawn { function: name("add"), call: name("a") });
        assert_eq!(refused(&waits), CallError::NoInputFromPeer(vec![0.into()]));
    });
}

/// Cheat: 2; 0 | service | assigns one call twice, or one without inputs here | the session is
/// closed, one execution runs at most | always
#[test]
fn a_call_is_assigned_once() {
    for twice in [false, true] {
        against_one(|node, mut liar, next| {
            let session = Tag([4; 16]);
            liar.say(&Message::Open { function: name("add"), session });
            let (opening, lane) = next();
            assert_eq!(opening, Opening { purpose: Purpose::Lane(0), tag: session });
            let circuit = builtin::by_name("add:16").unwrap();
            let transport = Transport::mesh_channels(vec![vec![lane]], Meter::new());
            let config = Config::new(0, transport).params(SessionParams::new(Protocol::Wrk));
            let mut own = Session::connect(config, &circuit).unwrap();
            liar.say(&Message::Fill { session, count: 2 });
            let prepared = own.prepare_more(2).unwrap();
            let (waits, other) = (post(&node, "a", 1).unwrap(), post(&node, "b", 2).unwrap());
            let assign =
                |call: &str| Message::Assign { function: name("add"), call: name(call), session };
            if twice {
                liar.say(&assign("a"));
                liar.say(&assign("a"));
            } else {
                liar.say(&assign("c"));
            }
            liar.hear_until(|message| *message == Message::Closed { session });
            drop((prepared, own));
            if twice {
                // It runs, and fails with the session.
                assert!(matches!(refused(&waits), CallError::Run(_)));
            }
            // Others are not harmed.
            assert!(other.answer().is_none());
        });
    }
}

/// Changes a message.
type Change = fn(&mut Vec<u8>);

/// Opens a session of party 0 with its own store; it may change its first list.
fn stocked(
    world: &World,
    (liar, next): (&mut Liar, &mut dyn FnMut() -> (Opening, Channel)),
    session: Tag,
    change: Option<Change>,
) -> StockedSession {
    liar.say(&Message::Open { function: name("add"), session });
    let (_, mut lane) = next();
    if let Some(change) = change {
        let lie = FnAdversary::new().on_message("stored items", 0, move |told| {
            change(told);
            Action::Send
        });
        lane.set_adversary(Box::new(lie));
    }
    let circuit = builtin::by_name("add:16").unwrap();
    let transport = Transport::mesh_channels(vec![vec![lane]], Meter::new());
    let config = Config::new(0, transport).params(SessionParams::new(Protocol::Wrk));
    StockedSession::connect(config, &world.store(0).unwrap(), &circuit).unwrap()
}

/// Cheat: 2; 0 | service | changes the list of what its store has, or lists what it does not run |
/// the session ends; at most what was loaded is lost | always
#[test]
fn a_peer_that_lies_about_its_stock_harms_only_its_calls() {
    let function = || FunctionConfig { ready: 8, low: 1, side_by_side: 1, ..adder(Protocol::Wrk) };
    let mut world = World::with_stores(2);
    let node = against_one_of(&mut world, function(), |world, node, mut liar, next| {
        let held = || available(&world.store(1).unwrap()).len();
        let gone = || until("it is closed", || node.stock().functions[0].sessions == 0);
        let first = Tag([1; 16]);
        let mut own = stocked(world, (&mut liar, next), first, None);
        liar.say(&Message::Fill { session: first, count: 8 });
        assert_eq!(own.fill(8).unwrap().made, 8);
        own.load(2).unwrap();
        until("they are there", || counter(&node, "made") == 8);
        drop(own);
        liar.say(&Message::Closed { session: first });
        gone();
        // What was loaded is used up.
        assert_eq!(held(), 6);
        let half: Change = |told| told.truncate(15);
        let invents: Change = |told| told.extend([0xff; 16]);
        let hides: Change = |told| drop(told.drain(..told.len() - 16));
        for (number, lie, left) in
            [(2, Some(half), 6), (3, Some(invents), 5), (4, None, 4), (5, Some(hides), 4)]
        {
            let session = Tag([number; 16]);
            let before = counter(&node, "kept");
            let mut own = stocked(world, (&mut liar, next), session, lie);
            liar.say(&Message::Fill { session, count: 1 });
            let _ = own.fill(1);
            if [2, 5].contains(&number) {
                liar.hear_until(|message| *message == Message::Closed { session });
            } else {
                until("it is filled", || counter(&node, "kept") == before + 1);
            }
            if lie.is_none() {
                // It has what it lists, but does not run it.
                let waits = post(&node, "a", 1).unwrap();
                let (function, call) = (name("add"), name("a"));
                liar.say(&Message::Assign { function, call, session });
                drop(own);
                assert!(matches!(refused(&waits), CallError::Run(_)));
            } else {
                drop(own);
                liar.say(&Message::Closed { session });
            }
            gone();
            assert_eq!((held(), counter(&node, "voided")), (left, 0), "{number}");
        }
        node
    });
    // An honest node is served.
    let nodes = [world.start(0, vec![function()]), node];
    assert_eq!(sum(&nodes, "honest", [1, 2]), 3);
}

/// Starts party 0's node with clients, and a call for which it has a client's values.
fn called_for_clients(world: &mut World) -> (Node, Liar, symbolon_service::Call) {
    let mut function = auction(2);
    function.wait = Duration::from_secs(2);
    let zero = world.start(0, vec![function]);
    let mut liar = Liar::as_one(world);
    liar.introduce();
    zero.open("auction", &name("c"), None).unwrap();
    let circuit = zero.circuit("auction").unwrap();
    let inputs = symbolon_service::complete(&circuit, 0, symbolon::Inputs::builder(&circuit, 0));
    let call = zero.call("auction", &name("c"), inputs.unwrap()).unwrap();
    (zero, liar, call)
}

fn list(before: usize, names: &[&str], last: bool) -> Message {
    let clients = names.iter().map(|text| (name(text), Digest([7; 32]))).collect();
    Message::Clients { function: name("auction"), call: name("c"), before, clients, last }
}

/// Cheat: 1 | service | a list of clients without order, with more than there can be, with parts of
/// nothing | `service: control`, and the connection ends | always
#[test]
fn lists_of_clients_that_are_none_end_the_connection() {
    let wrong: [&[Message]; 5] = [
        &[list(0, &["bob", "ann"], true)],
        &[list(0, &["ann", "ann"], true)],
        &[list(0, &["bob"], false), list(1, &["ann"], true)],
        &[list(0, &["a", "b", "c", "d", "e"], true)],
        &[list(0, &[], false)],
    ];
    for messages in wrong {
        let mut world = World::new(2);
        let (_zero, mut liar, _call) = called_for_clients(&mut world);
        messages.iter().for_each(|message| liar.say(message));
        while liar.hear().is_ok() {}
    }
}

/// Cheat: 1 | service | another set of clients than its list gives | the call is refused, and
/// nothing is used up | always
#[test]
fn a_peer_that_sees_other_clients_is_named() {
    let mut world = World::new(2);
    let (zero, mut liar, call) = called_for_clients(&mut world);
    liar.say(&list(0, &["ann"], true));
    let (function, name) = (name("auction"), name("c"));
    liar.say(&Message::Have { function: function.clone(), call: name.clone() });
    let agreed = |message: &Message| matches!(message, Message::Agreed { .. });
    liar.hear_until(agreed);
    liar.say(&Message::Agreed { function, call: name, set: Digest([1; 32]) });
    assert_eq!(refused(&call), CallError::OtherClients(vec![1.into()]));
    assert_eq!(zero.stock().functions[0].waiting, 0);
}

/// Cheat: 3; 2 | service | tells two parties different lists of clients | the call is refused, and
/// nothing is used up | always
#[test]
fn two_lists_of_clients_are_noticed() {
    let mut world = World::new(3);
    let mut function = auction(3);
    function.wait = Duration::from_secs(10);
    let nodes = [0, 1].map(|party| world.start(party, vec![function.clone()]));
    let mut liars = [0, 1].map(|to| Liar::between(&world, 2, to));
    liars.iter_mut().for_each(Liar::introduce);
    until("all are connected", || {
        nodes.iter().all(|node| node.stock().peers.iter().all(|peer| peer.connected))
    });
    open_all(&nodes);
    for client in ["ann", "bob"] {
        let made = bid(&nodes[0].layout("auction").unwrap(), 5);
        give(&nodes, &[0, 1], client, &made);
    }
    let calls = nodes.each_ref().map(|node| close(node).unwrap());
    // The liar has what the node has, but for the last client of one list.
    for (liar, taken) in liars.iter_mut().zip([2, 1]) {
        let heard = liar.hear_until(|message| matches!(message, Message::Clients { .. }));
        let Message::Clients { function, call, before, mut clients, last } = heard else { return };
        assert_eq!((before, clients.len(), last), (0, 2, true));
        clients.truncate(taken);
        let (of, called) = (function.clone(), call.clone());
        liar.say(&Message::Clients { function, call, before, clients, last });
        liar.say(&Message::Have { function: of, call: called });
        let agreed = liar.hear_until(|message| matches!(message, Message::Agreed { .. }));
        // Each hears that the liar sees what it sees.
        liar.say(&agreed);
    }
    // The one that notices first is gone for the other, which may not hear why.
    let ends: Vec<_> = calls.iter().map(refused).zip([1, 0]).collect();
    let notices = |(end, other): &(CallError, u16)| {
        *end == CallError::OtherClients(vec![PartyId::new(*other)])
    };
    let waits = |(end, other): &(CallError, u16)| {
        *end == CallError::NoInputFromPeer(vec![PartyId::new(*other)])
    };
    assert!(ends.iter().any(notices), "{ends:?}");
    assert!(ends.iter().all(|end| notices(end) || waits(end)), "{ends:?}");
    assert!(nodes.iter().all(|node| node.stock().functions[0].waiting == 0));
}

/// Cheat: 2; 1 | service | says nothing for longer than 20 seconds, then makes a call | the
/// connection has ended, and the call is not heard | always
#[test]
fn a_peer_that_was_silent_for_too_long_is_not_heard() {
    let mut world = World::new(2);
    let zero = world.start(0, vec![function()]);
    let mut liar = Liar::as_one(&world);
    liar.introduce();
    until("it is connected", || zero.stock().peers[0].connected);
    let begun = Instant::now();
    // A peer that says that it is alive stays.
    std::thread::sleep(Duration::from_secs(4));
    liar.say(&Message::Ping {});
    until("it is cut off", || !zero.stock().peers[0].connected);
    assert!(begun.elapsed() >= Duration::from_secs(23), "{:?}", begun.elapsed());
    let late = Message::Have { function: name("add"), call: name("late") };
    let _ = liar.out.send("service: control", &late.encode());
    let _ = liar.out.flush();
    let nodes = [zero, world.start(1, vec![function()])];
    assert_eq!(sum(&nodes, "honest", [1, 2]), 3);
    assert!(nodes[0].announced("add").unwrap().is_empty());
}
