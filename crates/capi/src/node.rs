//! A node of a service: functions that are called by name, with executions prepared ahead.

use std::ffi::c_char;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use symbolon::circuit::PartyId;
use symbolon::store::Store;
use symbolon::{Error, Identity, Listener, Result};
use symbolon_service::{Call, FunctionConfig, MAX_NAME, Name, Node, NodeConfig, Party};

use crate::border::{call, compute, free_beside};
use crate::circuit::CircuitHandle;
use crate::config::ConfigHandle;
use crate::failure::{Failure, Status};
use crate::inputs::InputsHandle;
use crate::outputs::OutputsHandle;
use crate::pointers::{free, give, handle, handle_mut, place, put, text};
use crate::store::StoreHandle;

/// Nothing waits for longer: a thousand years.
const LONGEST: f64 = 3.2e10;

/// What a node is told before it starts.
pub struct NodeConfigHandle {
    party: PartyId,
    key: PathBuf,
    parties: Vec<Party>,
    listen: Option<String>,
    timeout: Duration,
    functions: Vec<FunctionConfig>,
    state: Option<PathBuf>,
    store: Option<Store>,
}

/// A node: it keeps sessions with its peers open, and executions of its functions prepared.
pub struct NodeHandle(Node);

/// A call of a function of a node.
pub struct CallHandle {
    call: Call,
    parties: u16,
}

fn name(text: &str) -> Result<Name> {
    text.parse().map_err(|error: symbolon_service::NoName| Error::invalid_input(error.to_string()))
}

/// Returns a time in seconds, which may be none.
fn seconds(value: f64) -> Result<Duration> {
    match value {
        value if (0.0..=LONGEST).contains(&value) => Ok(Duration::from_secs_f64(value)),
        _ => Err(Error::invalid_input("a time is a number of seconds, 0 or more")),
    }
}

impl NodeConfigHandle {
    fn set(&mut self, function: &str, key: &str, value: &str) -> Result<()> {
        let known = self.functions.iter_mut().find(|one| one.name.as_str() == function);
        let one = known.ok_or_else(|| Error::invalid_input("there is no function of this name"))?;
        let wrong = |what: &str| Error::invalid_input(format!("`{key}` takes {what}"));
        let count = || value.parse::<usize>().map_err(|_| wrong("a number"));
        let limit = || value.parse::<u64>().map_err(|_| wrong("a number"));
        let time = || {
            let parsed = value.parse().map_err(|_| wrong("a number of seconds"));
            parsed.and_then(seconds)
        };
        match key {
            "ready" => one.ready = count()?,
            "low" => one.low = count()?,
            "side_by_side" => one.side_by_side = count()?,
            "waiting" => one.waiting = count()?,
            "calls" => one.calls = Some(limit()?),
            "calls_per_hour" => one.calls_per_hour = Some(limit()?),
            "wait" => one.wait = time()?,
            "keep" => one.keep = time()?,
            "callers" => {
                let party = |number: &str| number.trim().parse::<u16>().map(PartyId::new);
                let all = value.split(',').map(party).collect::<std::result::Result<_, _>>();
                one.callers = all.map_err(|_| wrong("parties' numbers, with commas between"))?;
            }
            _ => return Err(Error::invalid_input("a function has no setting of this name")),
        }
        Ok(())
    }

    /// As the library takes it; opens the port.
    fn build(&self) -> Result<NodeConfig> {
        let address = &self.parties[usize::from(self.party)].address;
        let listener = match (address, &self.listen) {
            (Some(address), listen) => Some(Listener::bind(listen.as_ref().unwrap_or(address))?),
            (None, None) => None,
            (None, Some(_)) => {
                let text = "a party that listens needs an address, where others dial it";
                return Err(Error::invalid_input(text));
            }
        };
        Ok(NodeConfig {
            party: self.party,
            identities: vec![Arc::new(Identity::load(&self.key)?)],
            parties: self.parties.clone(),
            listener,
            functions: self.functions.clone(),
            timeout: self.timeout,
            state: self.state.clone(),
            store: self.store.clone(),
        })
    }
}

/// Describes a node of the party that `config` describes, and of the same peers. Every party that
/// others dial has an address, the last one, too, if it is dialled. The node does not report
/// progress, and is not cancelled by a symbolon_cancel: freeing it ends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_config_new(
    config: *const ConfigHandle,
    node_config: *mut *mut NodeConfigHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let config = unsafe { handle(config, "config") }?;
        let own = Identity::load(&config.key)?.fingerprint();
        let party = |(number, peer): (usize, &symbolon::PeerInfo)| {
            let own = (number == usize::from(config.party)).then_some(own);
            let print = peer.fingerprint.or(own);
            let missing = || Error::invalid_input(format!("party {number} needs a fingerprint"));
            Ok(Party::new(peer.address.clone(), print.ok_or_else(missing)?))
        };
        let parties = config.peers.iter().enumerate().map(party).collect::<Result<_>>()?;
        let made = NodeConfigHandle {
            party: config.party.into(),
            key: config.key.clone(),
            parties,
            listen: config.listen.clone(),
            timeout: config.timeout,
            functions: Vec::new(),
            state: None,
            store: None,
        };
        // SAFETY: the same.
        Ok(unsafe { give(node_config, made) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Adds a function, with the parameters that `config` has now. Its name, and those of calls, have 1
/// to 64 letters, digits, `.`, `_` and `-` of ASCII. All parties add the same functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_config_add(
    node_config: *mut NodeConfigHandle,
    function: *const c_char,
    circuit: *const CircuitHandle,
    config: *const ConfigHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (node, function, circuit, config) = unsafe {
            let node = handle_mut(node_config, "node_config")?;
            let function = text(function, "the name of the function")?;
            (node, function, handle(circuit, "circuit")?, handle(config, "config")?)
        };
        if config.dealer.is_some() {
            return Err(Error::invalid_input("a node uses no dealer").into());
        }
        let name = name(function)?;
        if node.functions.iter().any(|one| one.name == name) {
            return Err(Error::invalid_input("there is a function of this name").into());
        }
        let function = FunctionConfig::new(name, circuit.0.clone(), config.params.clone());
        node.functions.push(function);
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Sets something of a function, by its name in the settings of `symbolon serve`: `ready`, `low`,
/// `side_by_side`, `callers` (numbers, with commas between), `calls`, `calls_per_hour`, `wait` and
/// `keep` (seconds), `waiting`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_config_set(
    node_config: *mut NodeConfigHandle,
    function: *const c_char,
    key: *const c_char,
    value: *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (node, function, key, value) = unsafe {
            let node = handle_mut(node_config, "node_config")?;
            let function = text(function, "the name of the function")?;
            (node, function, text(key, "the name of the setting")?, text(value, "the value")?)
        };
        Ok(node.set(function, key, value)?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Keeps prepared executions in a store, so that they outlast a restart. All parties do so, or
/// none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_config_store(
    node_config: *mut NodeConfigHandle,
    store: *const StoreHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (node, store) =
            unsafe { (handle_mut(node_config, "node_config")?, handle(store, "store")?) };
        node.store = Some(store.0.clone());
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Keeps in a folder how many calls were made, for functions with `calls`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_config_state(
    node_config: *mut NodeConfigHandle,
    folder: *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (node, folder) = unsafe {
            (handle_mut(node_config, "node_config")?, text(folder, "the folder of the state")?)
        };
        node.state = Some(folder.into());
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Frees what a node was told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_config_free(node_config: *mut NodeConfigHandle) {
    // SAFETY: the rules for callers.
    unsafe { free(node_config) }
}

/// Starts a node. It connects to its peers as soon as they are there, and prepares executions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_start(
    node_config: *const NodeConfigHandle,
    node: *mut *mut NodeHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let config = unsafe { handle(node_config, "node_config") }?;
        place(node)?;
        let started = Node::start(config.build()?)?;
        // SAFETY: the same.
        Ok(unsafe { give(node, NodeHandle(started)) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Writes how many executions of a function are prepared or being prepared; 0 while a peer is away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_ready(
    node: *const NodeHandle,
    function: *const c_char,
    count: *mut usize,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (node, function) =
            unsafe { (handle(node, "node")?, text(function, "the name of the function")?) };
        let stock = node.0.stock();
        let of = stock.functions.iter().find(|one| one.name.as_str() == function);
        let of = of.ok_or(symbolon_service::CallError::NoFunction)?;
        // SAFETY: the same.
        Ok(unsafe { put(count, of.ready) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Waits for a call of a function for which other parties have inputs and this one has given none,
/// for at most `seconds`, and writes its name: empty if there is none in time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_announced(
    node: *const NodeHandle,
    function: *const c_char,
    seconds: f64,
    name: *mut [c_char; 65],
    error: *mut *mut Failure,
) -> Status {
    const { assert!(MAX_NAME == 64) };
    let work = || {
        // SAFETY: the rules for callers.
        let (node, function) =
            unsafe { (handle(node, "node")?, text(function, "the name of the function")?) };
        place(name)?;
        let until = Instant::now() + self::seconds(seconds)?;
        let mut changes = node.0.changes();
        let found = loop {
            if let Some(call) = node.0.announced(function)?.into_iter().next() {
                break Some(call);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !changes.wait(left) {
                break None;
            }
        };
        let mut out = [0; 65];
        let found = found.as_ref().map_or("", Name::as_str);
        for (out, byte) in out.iter_mut().zip(found.bytes()) {
            *out = byte as c_char;
        }
        // SAFETY: the same.
        Ok(unsafe { put(name, out) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Gives this party's inputs for the call `name`, the same at all parties, and does not wait. The
/// same inputs may be given again, for the same answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_call(
    node: *const NodeHandle,
    function: *const c_char,
    name: *const c_char,
    inputs: *const InputsHandle,
    call: *mut *mut CallHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (node, function, name, inputs) = unsafe {
            let node = handle(node, "node")?;
            let function = text(function, "the name of the function")?;
            (node, function, text(name, "the name of the call")?, handle(inputs, "inputs")?)
        };
        place(call)?;
        let posted = node.0.call(function, &self::name(name)?, inputs.finish()?)?;
        let made = CallHandle { call: posted, parties: node.0.parties() as u16 };
        // SAFETY: the same.
        Ok(unsafe { give(call, made) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Waits for the answer of a call for at most `seconds`. `outputs` is null if there is none in
/// time: the call goes on, and may be waited for again. Each time it gives outputs of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_call_wait(
    call: *const CallHandle,
    seconds: f64,
    outputs: *mut *mut OutputsHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let owner = unsafe { handle(call, "call") }?;
        place(outputs)?;
        let Some(answer) = owner.call.wait(self::seconds(seconds)?) else {
            // SAFETY: the same.
            return Ok(unsafe { put(outputs, std::ptr::null_mut()) }?);
        };
        let learnt = answer.as_ref().as_ref().map_err(Clone::clone)?.clone();
        let learnt = OutputsHandle::checked(learnt, owner.parties)?;
        // SAFETY: the same.
        Ok(unsafe { give(outputs, learnt) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Frees a call. It goes on: symbolon_node_call with the same inputs finds it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_call_free(call: *mut CallHandle) {
    // SAFETY: the rules for callers.
    unsafe { free_beside(call) }
}

/// Refuses new calls and those that wait, which all parties see, and waits until running ones have
/// ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_drain(
    node: *const NodeHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        unsafe { handle(node, "node") }?.0.drain();
        Ok(())
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Ends a node at once: calls that run have no answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_node_free(node: *mut NodeHandle) {
    // SAFETY: the rules for callers.
    unsafe { free_beside(node) }
}
