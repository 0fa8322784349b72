//! What a node is told: who it is, its peers, its functions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use symbolon::circuit::{Circuit, ClientPorts, PartyId, Receivers};
use symbolon::store::Store;
use symbolon::{
    AcceptedKey, Compiled, Error, Fingerprint, Identity, Listener, Result, SessionParams,
    TransportReason, check_address,
};

use symbolon_clients::Layout;

use crate::clients::ClientsConfig;
use crate::name::Name;
use crate::wire::MAX_FUNCTIONS;

/// The maximum number of sessions of one function.
pub const MAX_SIDE_BY_SIDE: usize = 256;

/// The maximum number of prepared executions of one function.
pub const MAX_READY: usize = 1 << 20;

/// One of the parties, as every party lists them.
#[derive(Clone, Debug)]
pub struct Party {
    /// Where the others dial it, HOST:PORT; `None` if nobody can, as behind NAT.
    pub address: Option<String>,
    /// The keys of which it proves one, at least one. Several, each perhaps for a time, while it
    /// changes its key.
    pub keys: Vec<AcceptedKey>,
}

impl Party {
    /// Returns a party with one key.
    pub fn new(address: Option<String>, fingerprint: Fingerprint) -> Party {
        Party { address, keys: vec![fingerprint.into()] }
    }

    /// Returns the key with this fingerprint, if the party may prove it.
    pub(crate) fn key(&self, fingerprint: Fingerprint) -> Option<AcceptedKey> {
        self.keys.iter().copied().find(|key| key.fingerprint == fingerprint)
    }
}

/// What a node is told.
#[derive(Debug)]
pub struct NodeConfig {
    /// Which party this is.
    pub party: PartyId,
    /// Its keys. Each peer is proven the first that it accepts: a new key comes before the old one,
    /// which stays for those who have not learnt the new one.
    pub identities: Vec<Arc<Identity>>,
    /// All parties, this one too, by number.
    pub parties: Vec<Party>,
    /// Where the others' connections come in; `None` if this party has no address.
    pub listener: Option<Listener>,
    /// Its functions.
    pub functions: Vec<FunctionConfig>,
    /// How long a peer may be silent during a run.
    pub timeout: Duration,
    /// The folder that keeps how many calls were made, for functions with
    /// [`calls`](FunctionConfig::calls).
    pub state: Option<PathBuf>,
    /// Where prepared executions wait, so that they are there after a restart. All parties have a
    /// store, or none has; without one, executions are in memory alone.
    pub store: Option<Store>,
}

/// What a node may be told anew while it runs ([`Node::update`](crate::Node::update)).
#[derive(Debug)]
pub struct NodeUpdate {
    /// As in [`NodeConfig`].
    pub identities: Vec<Arc<Identity>>,
    /// As in [`NodeConfig`]. Who has an address stays.
    pub parties: Vec<Party>,
    /// As in [`NodeConfig`].
    pub functions: Vec<FunctionConfig>,
    /// As in [`NodeConfig`].
    pub timeout: Duration,
}

/// A function of a node.
#[derive(Clone, Debug)]
pub struct FunctionConfig {
    /// Its name, the same for all parties.
    pub name: Name,
    /// What it computes.
    pub circuit: Arc<Circuit>,
    /// The protocol and its parameters.
    pub params: SessionParams,
    /// The number of executions to have prepared, over all sessions. They are in memory; if the
    /// node has a store, a quarter of them, and the others in the store.
    pub ready: usize,
    /// Refills begin when fewer than this many are prepared.
    pub low: usize,
    /// The number of sessions. Each runs one call at a time.
    pub side_by_side: usize,
    /// Who may start a call. The others give their inputs once one of these has given its own.
    pub callers: Vec<PartyId>,
    /// How many calls this party takes part in, in all.
    pub calls: Option<u64>,
    /// How many calls this party takes part in within an hour. A restart begins anew.
    pub calls_per_hour: Option<u64>,
    /// How long a call waits for the inputs of the others.
    pub wait: Duration,
    /// How long an answer is kept.
    pub keep: Duration,
    /// How many calls may wait at a time, and how many of each peer's.
    pub waiting: usize,
    /// What its clients may do, exactly if the circuit has inputs of clients.
    pub clients: Option<ClientsConfig>,
}

impl FunctionConfig {
    /// Returns a function with defaults: 16 executions are prepared for 4 sessions, refills begin
    /// below 8, everybody may start any number of calls, a call waits for 10 seconds, an answer is
    /// kept for 10 minutes, and 1000 calls may wait. If the circuit has clients, they have the
    /// defaults of [`ClientsConfig`].
    pub fn new(
        name: Name,
        circuit: impl Into<Arc<Circuit>>,
        params: SessionParams,
    ) -> FunctionConfig {
        let circuit = circuit.into();
        FunctionConfig {
            name,
            clients: ClientPorts::of(&circuit).map(|_| ClientsConfig::default()),
            circuit,
            params,
            ready: 16,
            low: 8,
            side_by_side: 4,
            callers: Vec::new(),
            calls: None,
            calls_per_hour: None,
            wait: Duration::from_secs(10),
            keep: Duration::from_secs(600),
            waiting: 1000,
        }
    }

    /// Returns whether this party may start a call.
    pub(crate) fn may_start(&self, party: PartyId) -> bool {
        self.callers.is_empty() || self.callers.contains(&party)
    }

    /// Returns the most executions that one session has prepared.
    pub(crate) fn ready_each(&self) -> usize {
        self.ready.div_ceil(self.side_by_side)
    }

    /// Returns how many of these are loaded if they wait in a store. The others outlast a crash.
    pub(crate) fn loaded_each(&self) -> usize {
        self.ready_each().div_ceil(4)
    }

    /// Returns everything on which the parties must agree.
    pub(crate) fn terms(&self, is_stored: bool) -> Vec<(String, String)> {
        let callers = match self.callers.is_empty() {
            true => "all".to_string(),
            false => {
                let mut callers = self.callers.clone();
                callers.sort_unstable();
                callers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
            }
        };
        let own = [
            ("circuit", hex::encode(self.circuit.digest())),
            ("ready", self.ready.to_string()),
            ("side_by_side", self.side_by_side.to_string()),
            ("callers", callers),
            ("store", if is_stored { "yes" } else { "no" }.to_string()),
        ];
        let all = self.params.values().into_iter().chain(own);
        all.map(|(name, value)| (name.to_string(), value)).collect()
    }

    fn check(&self, parties: usize) -> Result<()> {
        let FunctionConfig { name, circuit, params, .. } = self;
        let refuse = |why: String| Err(Error::InvalidInput(format!("function {name:?}: {why}")));
        if let Err(error) = params.check() {
            return refuse(Error::from(error).to_string());
        }
        if !params.protocol.has_pools() {
            let protocol = params.protocol.name();
            return refuse(format!("a node does not prepare executions of {protocol}"));
        }
        if params.executions != 1 || params.in_flight.is_some() {
            return refuse("a call is one execution: leave out `batch` and `in_flight`".into());
        }
        if params.dealer.is_some() {
            return refuse("a node uses no dealer".into());
        }
        let owners = circuit.inputs().iter().map(|input| input.owner);
        let receivers = circuit.outputs().iter().flat_map(|output| match &output.to {
            Receivers::All => Vec::new(),
            Receivers::Only(parties) => parties.clone(),
        });
        let mut named = owners.chain(receivers).chain(self.callers.iter().copied());
        if let Some(party) = named.find(|party| usize::from(*party) >= parties) {
            return refuse(format!("it names party {party}, and there are {parties} parties"));
        }
        params.protocol.check_options(circuit, &params.options)?;
        if !(1..=MAX_SIDE_BY_SIDE).contains(&self.side_by_side) {
            return refuse(format!("`side_by_side` takes 1 to {MAX_SIDE_BY_SIDE}"));
        }
        if !(self.side_by_side..=MAX_READY).contains(&self.ready) {
            return refuse(format!("`ready` takes `side_by_side` to {MAX_READY}"));
        }
        if !(1..=self.ready).contains(&self.low) {
            return refuse("`low` takes 1 to `ready`".into());
        }
        if self.waiting == 0 {
            return refuse("`waiting` must be at least 1".into());
        }
        match (ClientPorts::of(circuit), &self.clients) {
            (None, None) => {}
            (None, Some(_)) => return refuse("it has no clients".into()),
            (Some(_), None) => return refuse("its clients need settings".into()),
            (Some(ports), Some(_)) if usize::from(ports.parties) != parties => {
                let of = ports.parties;
                return refuse(format!("its clients have shares for {of} of {parties} parties"));
            }
            (Some(_), Some(clients)) if clients.open == 0 => {
                return refuse("its clients need an open call: `open` is at least 1".into());
            }
            (Some(_), Some(_)) => {}
        }
        if self.wait.is_zero() {
            return refuse("`wait` must be longer than nothing".into());
        }
        Ok(())
    }
}

impl NodeConfig {
    /// Rejects what cannot work.
    pub(crate) fn check(&self) -> Result<()> {
        check_parties(self.party, &self.identities, &self.parties)?;
        if self.listener.is_some() != self.parties[usize::from(self.party)].address.is_some() {
            let why = "a party listens exactly if it has an address";
            return Err(Error::InvalidInput(why.to_string()));
        }
        check_functions(&self.functions, self.parties.len(), self.state.is_some())
    }
}

/// Rejects keys and parties that cannot work.
fn check_parties(me: PartyId, identities: &[Arc<Identity>], all: &[Party]) -> Result<()> {
    let refuse = |why: String| Err(Error::InvalidInput(why));
    let (me, parties) = (usize::from(me), all.len());
    if parties < 2 || me >= parties {
        return refuse(format!("party {me} of {parties} parties: there must be at least two"));
    }
    if identities.is_empty() {
        return refuse("a node needs a key".into());
    }
    for identity in identities {
        if all[me].key(identity.fingerprint()).is_none() {
            return refuse(format!("the fingerprint listed for party {me} is not that of the key"));
        }
    }
    for (number, party) in all.iter().enumerate() {
        let earlier = &all[..number];
        if party.keys.is_empty() {
            return refuse(format!("the fingerprint of party {number}'s key is needed"));
        }
        for (place, key) in party.keys.iter().enumerate() {
            let print = key.fingerprint;
            if party.keys[..place].iter().any(|other| other.fingerprint == print) {
                return refuse(format!("party {number} has a key twice"));
            }
            if earlier.iter().any(|other| other.key(print).is_some()) {
                return refuse(format!("party {number} has the key of another party"));
            }
        }
        if let Some(address) = &party.address {
            check_address(address)?;
        } else if earlier.iter().any(|other| other.address.is_none()) {
            return refuse("two parties without an address cannot reach each other".into());
        }
    }
    Ok(())
}

/// Rejects functions that cannot work; `has_state` says whether numbers of calls are kept.
fn check_functions(all: &[FunctionConfig], parties: usize, has_state: bool) -> Result<()> {
    let refuse = |why: String| Err(Error::InvalidInput(why));
    if all.is_empty() || all.len() > MAX_FUNCTIONS {
        return refuse(format!("a node has 1 to {MAX_FUNCTIONS} functions"));
    }
    for (place, function) in all.iter().enumerate() {
        if all[..place].iter().any(|other| other.name == function.name) {
            return refuse(format!("two functions are called {:?}", function.name));
        }
        function.check(parties)?;
        if function.calls.is_some() && !has_state {
            let name = &function.name;
            return refuse(format!("function {name:?}: `calls` needs a folder for the state"));
        }
    }
    Ok(())
}

impl NodeUpdate {
    /// Rejects what cannot work, or not without a restart.
    pub(crate) fn check(&self, before: &Parties, has_state: bool) -> Result<()> {
        check_parties(before.me, &self.identities, &self.parties)?;
        check_functions(&self.functions, self.parties.len(), has_state)?;
        let listed = |all: &[Party]| -> Vec<bool> {
            all.iter().map(|party| party.address.is_some()).collect()
        };
        if listed(&self.parties) != listed(&before.all) {
            let why = "which parties there are, and which of them have an address, changes only \
                       with a restart";
            return Err(Error::InvalidInput(why.to_string()));
        }
        Ok(())
    }
}

/// Who the parties are, and how they reach each other.
pub(crate) struct Parties {
    pub(crate) me: PartyId,
    pub(crate) identities: Vec<Arc<Identity>>,
    pub(crate) all: Vec<Party>,
    pub(crate) timeout: Duration,
}

impl Parties {
    /// Returns the party with this key.
    pub(crate) fn of_key(&self, fingerprint: Fingerprint) -> Option<PartyId> {
        let known = |party: &PartyId| self.all[usize::from(*party)].key(fingerprint).is_some();
        PartyId::all(self.all.len()).find(known)
    }

    /// Returns the keys of all peers.
    pub(crate) fn peer_keys(&self) -> Vec<AcceptedKey> {
        let peers = PartyId::all(self.all.len()).filter(|party| *party != self.me);
        peers.flat_map(|party| self.all[usize::from(party)].keys.iter().copied()).collect()
    }

    /// Returns why a peer's key is not accepted any more, if so.
    pub(crate) fn refuses(&self, peer: PartyId, key: Fingerprint) -> Option<TransportReason> {
        let listed = &self.all[usize::from(peer)];
        let now = SystemTime::now();
        match listed.key(key) {
            None => {
                let expected: Vec<_> =
                    listed.keys.iter().map(|key| key.fingerprint.to_string()).collect();
                let (found, expected) = (key.to_string(), expected.join(" or "));
                Some(TransportReason::WrongKey { found, expected })
            }
            Some(key) => key.until.filter(|_| !key.is_accepted_at(now)).map(|until| {
                let since = until.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                TransportReason::KeyExpired { until: since.as_secs() }
            }),
        }
    }

    /// Returns whether this party dials that one: the one with the higher number dials, unless only
    /// the other has an address.
    pub(crate) fn dials(&self, peer: PartyId) -> bool {
        let (me, peer) = (usize::from(self.me), usize::from(peer));
        let lower = me.min(peer);
        let dialler = match self.all[lower].address {
            Some(_) => me.max(peer),
            None => lower,
        };
        dialler == me
    }
}

/// A function that a node serves.
pub(crate) struct Function {
    pub(crate) config: FunctionConfig,
    pub(crate) terms: Vec<(String, String)>,
    /// The number of AND gates of one execution.
    pub(crate) and_gates: u64,
    /// What its clients give and learn, if it has clients.
    pub(crate) clients: Option<Layout>,
}

impl Function {
    pub(crate) fn new(config: FunctionConfig, is_stored: bool) -> Function {
        let and_gates = Compiled::new(&config.circuit).plan().and_count();
        let clients = Layout::of(&config.circuit);
        Function { terms: config.terms(is_stored), config, and_gates, clients }
    }
}
