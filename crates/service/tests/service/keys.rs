//! Nodes that change keys, and settings, while they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use symbolon::stored::{ProofContext, Relation, unusable};
use symbolon::{AcceptedKey, Identity, Protocol};
use symbolon_service::fuzzing::{Claim, Message, Tag};
use symbolon_service::{CallError, Digest, FunctionConfig, Node, NodeUpdate};

use crate::common::*;
use crate::lies::Liar;

fn function() -> FunctionConfig {
    FunctionConfig { ready: 8, low: 8, ..adder(Protocol::Wrk) }
}

/// Returns new settings: the world's parties, and this party's keys.
fn update(world: &World, keys: &[&Arc<Identity>], functions: &[FunctionConfig]) -> NodeUpdate {
    NodeUpdate {
        identities: keys.iter().map(|key| (*key).clone()).collect(),
        parties: world.parties.clone(),
        functions: functions.to_vec(),
        timeout: Duration::from_secs(20),
    }
}

fn new_key() -> Arc<Identity> {
    Arc::new(Identity::generate().unwrap())
}

fn key(identity: &Identity) -> AcceptedKey {
    identity.fingerprint().into()
}

fn updates(node: &Node, result: &str) -> bool {
    node.metrics().contains(&format!("symbolon_updates_total{{result=\"{result}\"}} 1\n"))
}

/// Waits until both are connected, under whatever keys.
fn connected(nodes: &[Node]) {
    until("they are connected", || {
        nodes.iter().all(|node| node.stock().peers.iter().all(|peer| peer.connected))
    });
}

#[test]
fn a_key_changes_and_what_is_prepared_stays() {
    for changes in [0, 1] {
        let other = 1 - changes;
        let mut world = World::with_stores(2);
        let functions = [function()];
        let nodes = world.start_all(&functions);
        stocked(&nodes);
        let (old, new) = (world.identities[changes].clone(), new_key());
        let waits = post(&nodes[other], "waits", 4).unwrap();
        // The others learn the new key first; this party proves both meanwhile.
        world.parties[changes].keys = vec![key(&new), key(&old)];
        let own = world.identities[other].clone();
        nodes[other].update(Ok(update(&world, &[&own], &functions))).unwrap();
        nodes[changes].update(Ok(update(&world, &[&new, &old], &functions))).unwrap();
        assert!(updates(&nodes[0], "done") && updates(&nodes[1], "done"));
        assert_eq!(sum(&nodes, "waits", [4, 4]), 8);
        assert!(answer(&waits).is_ok());
        assert!(nodes[other].stock().peers[0].connected);
        // Now the old one is taken back: the connection that it proved ends, and comes back.
        world.parties[changes].keys = vec![key(&new)];
        nodes[other].update(Ok(update(&world, &[&own], &functions))).unwrap();
        assert!(!nodes[other].stock().peers[0].connected);
        nodes[changes].update(Ok(update(&world, &[&new], &functions))).unwrap();
        connected(&nodes);
        assert_eq!(sum(&nodes, "new", [1, 2]), 3);
        stocked(&nodes);
        assert!(nodes.iter().all(|node| counter(node, "voided") == 0));
        drop(nodes);
        // A restart under the new key.
        world.identities[changes] = new;
        let nodes = world.start_all(&functions);
        stocked(&nodes);
        for node in &nodes {
            until("it is there", || counter(node, "kept") >= 3);
            assert_eq!(counter(node, "voided"), 0);
        }
        assert_eq!(sum(&nodes, "again", [1, 2]), 3);
        drop(nodes);
        let held = [0, 1].map(|party| available(&world.store(party).unwrap()));
        assert_eq!(held[0], held[1]);
        assert!(unusable(&world.store(0).unwrap(), None).unwrap().is_empty());
    }
}

/// Two parties of three change at the same time, and one peer learns both late.
#[test]
fn who_has_not_learnt_the_new_key_is_proven_the_old_one() {
    let mut world = World::new(3);
    let mut before = world.parties.clone();
    let new = [new_key(), new_key()];
    let functions = [adder(Protocol::Ywz)];
    let mut nodes: Vec<Node> = Vec::new();
    for (party, new) in new.iter().enumerate() {
        let old = world.identities[party].clone();
        world.parties[party].keys = vec![key(&old), key(new)];
    }
    for (party, new) in new.iter().enumerate() {
        let mut config = world.config(party, functions.to_vec());
        config.identities.insert(0, new.clone());
        nodes.push(Node::start(config).unwrap());
    }
    std::mem::swap(&mut world.parties, &mut before);
    nodes.push(world.start(2, functions.to_vec()));
    assert_eq!(sum(&nodes, "old", [1, 2]), 3);
    std::mem::swap(&mut world.parties, &mut before);
    let own = world.identities[2].clone();
    (0..2).for_each(|party| world.parties[party].keys = vec![key(&new[party])]);
    nodes[2].update(Ok(update(&world, &[&own], &functions))).unwrap();
    connected(&nodes);
    assert_eq!(sum(&nodes, "new", [1, 2]), 3);
}

/// Cheat: 2; 1 | service | goes on with a key whose time is over | the connection ends, and no
/// other is accepted; both sides say why | always
#[test]
fn a_key_whose_time_is_over_is_refused() {
    for lapses in [0, 1] {
        let other = 1 - lapses;
        let mut world = World::new(2);
        let own = world.identities[lapses].fingerprint();
        let until_then = SystemTime::now() + Duration::from_secs(4);
        let honest = world.parties.clone();
        let lapses_nodes = |world: &mut World| world.start(lapses, vec![adder(Protocol::Wrk)]);
        let ends = lapses_nodes(&mut world);
        world.parties[lapses].keys =
            vec![AcceptedKey { fingerprint: own, until: Some(until_then) }];
        let refuses = world.start(other, vec![adder(Protocol::Wrk)]);
        let mut nodes = vec![ends, refuses];
        nodes.sort_by_key(Node::party);
        assert_eq!(sum(&nodes, "in-time", [1, 2]), 3);
        let why = |node: usize| nodes[node].stock().peers[0].why.clone().unwrap_or_default();
        let says = format!("the key of party {lapses} was accepted until 20");
        until("its time is over", || why(other).starts_with(&says));
        assert!(SystemTime::now() >= until_then);
        if lapses == 1 {
            // The one that dials hears it.
            until("it hears", || why(1).contains("party 0 accepts our key no longer"));
        }
        std::thread::sleep(Duration::from_millis(300));
        assert!(nodes.iter().all(|node| !node.stock().peers[0].connected));
        assert!(why(other).starts_with(&says), "{}", why(other));
        // Settings with another time let it in.
        world.parties = honest;
        let key = world.identities[other].clone();
        nodes[other].update(Ok(update(&world, &[&key], &[adder(Protocol::Wrk)]))).unwrap();
        connected(&nodes);
        assert_eq!(sum(&nodes, "again", [1, 2]), 3);
    }
}

/// Introduces a liar with a claim; returns the node's, and what the liar drew.
fn claim(liar: &mut Liar, names: Vec<String>) -> (Claim, Tag) {
    let Message::Hello { functions, version, relation } = liar.hear().unwrap() else {
        panic!("a hello")
    };
    let drawn = Tag([9; 16]);
    let claim = Claim { drawn, names };
    liar.say(&Message::Hello { version, functions, relation: Some(claim) });
    for _ in 0..functions {
        let function = liar.hear().unwrap();
        liar.say(&function);
    }
    (relation.expect("a claim"), drawn)
}

/// Cheat: 3; 2 | service | claims the relation of another party, or its own without knowing it |
/// `service: relation` | always
#[test]
fn a_relation_is_claimed_by_who_has_it() {
    let mut world = World::with_stores(3);
    let zero = world.start(0, vec![adder(Protocol::Ywz)]);
    let store = world.store(0).unwrap();
    let known = |peer: u16| -> Vec<String> {
        let all = Relation::all(&store, 0.into(), peer.into()).unwrap();
        all.iter().map(|relation| relation.name().to_string()).collect()
    };
    // The relation with party 1 is real.
    let one = world.start(1, vec![adder(Protocol::Ywz)]);
    until("it is known", || !known(1).is_empty());
    let own = Relation::from_drawn([0.into(), 2.into()], [&[1; 16], &[2; 16]]);
    own.keep(&store, 0.into(), 2.into()).unwrap();
    let own_name = own.name().to_string();
    let refused = || {
        let why = || zero.stock().peers[1].why.clone().unwrap_or_default();
        until("it is refused", || why().contains("service: relation"));
        assert!(!zero.stock().peers[1].connected);
    };
    let many = (0..9).map(|n| format!("relation {n}")).collect();
    for (names, proves) in [
        (known(1), false),
        (vec![own_name.clone(), known(1)[0].clone()], false),
        (many, false),
        (vec![own_name.clone()], true),
        (Vec::new(), true),
    ] {
        let mut liar = Liar::between(&world, 2, 0);
        claim(&mut liar, names);
        if proves {
            liar.say(&Message::Proof { proof: Digest([7; 32]) });
        }
        while liar.hear().is_ok() {}
        refused();
    }
    assert_eq!(known(2), std::slice::from_ref(&own_name));
    // Nor is the proof of another time taken.
    let mut liar = Liar::between(&world, 2, 0);
    let (theirs, drawn) = claim(&mut liar, vec![own_name.clone()]);
    let binding = *liar.out.binding().unwrap();
    let other = [&[0; 16], &theirs.drawn.0];
    let proof =
        |drawn| own.proof(ProofContext { from: 2.into(), to: 0.into(), binding: &binding, drawn });
    liar.say(&Message::Proof { proof: Digest(proof(other)) });
    while liar.hear().is_ok() {}
    refused();
    // Who knows it is let in; who does not gets another one, which ends nothing.
    let mut honest = Liar::between(&world, 2, 0);
    let (theirs, _) = claim(&mut honest, vec![own_name.clone()]);
    let binding = *honest.out.binding().unwrap();
    let context = ProofContext {
        from: 2.into(),
        to: 0.into(),
        binding: &binding,
        drawn: [&drawn.0, &theirs.drawn.0],
    };
    honest.say(&Message::Proof { proof: Digest(own.proof(context)) });
    until("it is let in", || zero.stock().peers[1].connected);
    drop(honest);
    let two = world.start(2, vec![adder(Protocol::Ywz)]);
    until("there is another", || known(2).len() == 2);
    assert!(known(2).contains(&own_name));
    let nodes = [zero, one, two];
    assert_eq!(sum(&nodes, "honest", [1, 2]), 3);
}

#[test]
fn a_peer_that_lost_its_store_is_noticed() {
    let mut world = World::with_stores(2);
    let nodes = world.start_all(&[function()]);
    stocked(&nodes);
    drop(nodes);
    let held = available(&world.store(0).unwrap());
    assert!(!held.is_empty());
    let folder = world.stores.as_ref().unwrap().path();
    std::fs::remove_dir_all(folder.join("store-1")).unwrap();
    let nodes = world.start_all(&[function()]);
    stocked(&nodes);
    assert_eq!(sum(&nodes, "c", [1, 2]), 3);
    assert_eq!(counter(&nodes[0], "kept"), 0);
    drop(nodes);
    let ended = unusable(&world.store(0).unwrap(), None).unwrap();
    assert_eq!(ended.into_keys().collect::<Vec<_>>(), held);
    assert!(unusable(&world.store(1).unwrap(), None).unwrap().is_empty());
}

#[test]
fn settings_change_and_no_call_is_lost() {
    let mut world = World::new(2);
    let nodes = world.start_all(&[adder(Protocol::Wrk)]);
    let own = world.identities.clone();
    let renew = |party: usize, functions: &[FunctionConfig]| {
        nodes[party].update(Ok(update(&world, &[&own[party]], functions)))
    };
    let stop = AtomicBool::new(false);
    let second = || FunctionConfig { name: name("second"), ..adder(Protocol::TinyTable) };
    std::thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let mut made = 0;
            while !stop.load(Ordering::SeqCst) || made < 10 {
                assert_eq!(sum(&nodes, &format!("c{made}"), [made, 7]), made + 7);
                made += 1;
            }
            made
        });
        for i in 0..6 {
            let mut functions = vec![adder(Protocol::Wrk)];
            functions[0].keep = Duration::from_secs(100 + i);
            functions.extend((i % 2 == 0).then(second));
            (0..2).for_each(|party| renew(party, &functions).unwrap());
            std::thread::sleep(Duration::from_millis(100));
        }
        stop.store(true, Ordering::SeqCst);
        assert!(calls.join().unwrap() >= 10);
    });
    // Settings that cannot work change nothing.
    let error = renew(0, &[]).unwrap_err().to_string();
    assert!(error.contains("a node has 1 to"), "{error}");
    let hidden = NodeUpdate {
        parties: world
            .parties
            .iter()
            .cloned()
            .map(|party| symbolon_service::Party { address: None, ..party })
            .collect(),
        ..update(&world, &[&own[0]], &[adder(Protocol::Wrk)])
    };
    assert!(nodes[0].update(Ok(hidden)).is_err());
    let unread = symbolon::Error::InvalidInput("no TOML".to_string());
    assert!(nodes[0].update(Err(unread)).is_err());
    assert!(nodes[0].metrics().contains("symbolon_updates_total{result=\"refused\"} 3\n"));
    assert_eq!(sum(&nodes, "goes-on", [1, 2]), 3);
    // Other parameters: the function waits until both have them.
    let wider = FunctionConfig { side_by_side: 3, ..adder(Protocol::Wrk) };
    renew(0, std::slice::from_ref(&wider)).unwrap();
    until("it is disabled", || {
        nodes.iter().all(|node| node.stock().functions[0].disabled.is_some())
    });
    renew(1, &[wider]).unwrap();
    stocked(&nodes);
    assert_eq!(nodes[1].stock().functions[0].sessions, 3);
    assert_eq!(sum(&nodes, "wider", [1, 2]), 3);
    // A function that is gone.
    let waits = post(&nodes[0], "late", 1).unwrap();
    renew(0, &[second()]).unwrap();
    assert!(matches!(refused(&waits), CallError::Disabled(_)));
    assert_eq!(nodes[0].circuit("add").unwrap_err(), CallError::NoFunction);
    until("the other sees it", || {
        let stock = nodes[1].stock();
        stock.functions[0].disabled.as_deref() == Some("party 0 does not have it")
    });
    renew(0, &[second(), adder(Protocol::Wrk)]).unwrap();
    renew(1, &[adder(Protocol::Wrk), second()]).unwrap();
    let agreed = |node: &Node| node.stock().functions.iter().all(|one| one.disabled.is_none());
    until("they agree", || nodes.iter().all(agreed));
    assert_eq!(sum(&nodes, "late", [1, 2]), 3);
}
