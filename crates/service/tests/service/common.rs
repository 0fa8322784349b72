//! Nodes for tests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use symbolon::circuit::builtin;
use symbolon::store::{Filter, ItemId, Protection, Store};
use symbolon::{Identity, Inputs, Listener, Protocol, SessionParams};
use symbolon_service::{Answer, Call, CallError, FunctionConfig, Name, Node, NodeConfig, Party};

pub const LONG: Duration = Duration::from_secs(60);

/// The parties of a test: their keys and addresses stay when a node is started again.
pub struct World {
    pub identities: Vec<Arc<Identity>>,
    pub parties: Vec<Party>,
    listeners: Vec<Option<Listener>>,
    /// Where the parties' stores are, if they have some.
    pub stores: Option<tempfile::TempDir>,
}

impl World {
    pub fn new(parties: usize) -> World {
        let listeners: Vec<_> =
            (0..parties).map(|_| Listener::bind("127.0.0.1:0").unwrap()).collect();
        let identities: Vec<_> =
            (0..parties).map(|_| Arc::new(Identity::generate().unwrap())).collect();
        let party = |(listener, identity): (&Listener, &Arc<Identity>)| {
            Party::new(Some(listener.local_addr().to_string()), identity.fingerprint())
        };
        let parties = listeners.iter().zip(&identities).map(party).collect();
        let listeners = listeners.into_iter().map(Some).collect();
        World { identities, parties, listeners, stores: None }
    }

    /// As [`World::new`], with stores.
    pub fn with_stores(parties: usize) -> World {
        World { stores: Some(tempfile::tempdir().unwrap()), ..World::new(parties) }
    }

    /// Opens a party's store.
    pub fn store(&self, party: usize) -> Option<Store> {
        let path = self.stores.as_ref()?.path().join(format!("store-{party}"));
        Some(Store::open_or_create(path, &Protection::None).unwrap())
    }

    pub fn config(&mut self, party: usize, functions: Vec<FunctionConfig>) -> NodeConfig {
        let address = self.parties[party].address.clone();
        let listener = match self.listeners[party].take() {
            Some(listener) => Some(listener),
            None => address.map(|address| Listener::bind(&address).unwrap()),
        };
        NodeConfig {
            party: (party as u16).into(),
            identities: vec![self.identities[party].clone()],
            parties: self.parties.clone(),
            listener,
            functions,
            timeout: Duration::from_secs(20),
            state: None,
            store: self.store(party),
        }
    }

    pub fn start(&mut self, party: usize, functions: Vec<FunctionConfig>) -> Node {
        Node::start(self.config(party, functions)).unwrap()
    }

    /// Starts all nodes with the same functions.
    pub fn start_all(&mut self, functions: &[FunctionConfig]) -> Vec<Node> {
        (0..self.parties.len()).map(|party| self.start(party, functions.to_vec())).collect()
    }
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// A small function: the sum of two numbers of 16 bits.
pub fn adder(protocol: Protocol) -> FunctionConfig {
    let circuit = builtin::by_name("add:16").unwrap();
    let params = SessionParams::new(protocol);
    FunctionConfig {
        ready: 4,
        low: 2,
        side_by_side: 2,
        ..FunctionConfig::new(name("add"), circuit, params)
    }
}

/// Returns the inputs of a node for a function of two numbers; other parties have none.
pub fn number(node: &Node, function: &str, value: u128) -> Inputs {
    let circuit = node.circuit(function).unwrap();
    let inputs = Inputs::builder(&circuit, node.party());
    match usize::from(node.party()) {
        place @ (0 | 1) => inputs.uint(place, value).unwrap().finish().unwrap(),
        _ => inputs.finish().unwrap(),
    }
}

pub fn post(node: &Node, call: &str, value: u128) -> Result<Call, CallError> {
    node.call("add", &name(call), number(node, "add", value))
}

/// Waits for an answer.
pub fn answer(call: &Call) -> Answer {
    call.wait(LONG).expect("an answer in time")
}

/// Waits for an error.
pub fn refused(call: &Call) -> CallError {
    match &*answer(call) {
        Err(error) => error.clone(),
        Ok(_) => panic!("there is an answer"),
    }
}

/// Makes a call at all nodes, and returns the sum that all learn.
pub fn sum(nodes: &[Node], call: &str, values: [u128; 2]) -> u128 {
    let value = |node: &Node| values.get(usize::from(node.party())).copied().unwrap_or(0);
    let calls: Vec<_> = nodes.iter().map(|node| post(node, call, value(node)).unwrap()).collect();
    let of = |call: &Call| match &*answer(call) {
        Ok(outputs) => outputs.uint("sum").unwrap(),
        Err(error) => panic!("{error}"),
    };
    let sums: Vec<u128> = calls.iter().map(of).collect();
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    sums[0]
}

/// Waits until something is so.
pub fn until(what: &str, so: impl Fn() -> bool) {
    let end = Instant::now() + LONG;
    while !so() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until all executions are prepared.
pub fn stocked(nodes: &[Node]) {
    until("executions are prepared", || {
        nodes.iter().all(|node| {
            let stock = node.stock();
            stock.is_healthy() && stock.functions.iter().all(|one| one.ready >= one.wanted)
        })
    });
}

/// Returns the items of a store that can be used.
pub fn available(store: &Store) -> Vec<ItemId> {
    let mut items = store.available_items(&Filter::default()).unwrap();
    items.sort_by_key(|item| item.id);
    items.iter().map(|item| item.id).collect()
}

/// Returns a counter of the function of these tests.
pub fn counter(node: &Node, what: &str) -> u64 {
    let text = node.metrics();
    let start = format!("symbolon_{what}_total{{function=\"add\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&start));
    line.map_or(0, |number| number.parse().unwrap())
}
