//! Who the parties are, how they are reached, and what a session is asked to do.

use std::ffi::{c_char, c_void};
use std::path::PathBuf;
use std::time::Duration;

use symbolon::{
    CancelHandle, Config, DEFAULT_TIMEOUT, Dealer, Error, Fingerprint, Identity, Listener,
    PeerInfo, Progress, Protocol, Result, SessionParams, Transport, Work, parameters,
};

use crate::border::{call, compute};
use crate::failure::{Failure, Status};
use crate::pointers::{Data, array, c_string, free, give, handle, handle_mut, optional_text, text};

/// Returns the keys that [`symbolon_config_set`] takes, besides `timeout`: a dealer is given by its
/// address and key.
pub fn parameter_keys() -> Vec<String> {
    parameters().iter().map(|one| one.spec().key()).filter(|key| key != "dealer").collect()
}

/// A session has at most this many parties.
const MAX_PARTIES: usize = 256;

/// A party, as the others know it.
#[repr(C)]
pub struct Peer {
    /// `HOST:PORT`, where parties with higher numbers dial it. The last party needs none: null.
    pub address: *const c_char,
    /// The fingerprint of its key, 64 hexadecimal digits. Of this party itself it may be null.
    pub fingerprint: *const c_char,
}

/// Something that happened. Nothing in it is secret. What it points to lives until the call ends.
#[repr(C)]
pub struct Event {
    /// Its name, as in the command's events: `listening`, `connecting`, `connected`, `retrying`,
    /// `rejected`, `phase-began`, `phase-ended`, `work`.
    pub event: *const c_char,
    /// The phase, or null.
    pub phase: *const c_char,
    /// What is counted, `triples`, `gates` or `evaluations`, or null.
    pub step: *const c_char,
    /// An address or a reason, or null.
    pub text: *const c_char,
    /// The other party, or -1.
    pub party: i32,
    /// How many are done.
    pub done: u64,
    /// How many there are to do.
    pub total: u64,
    /// Bytes sent so far in all phases of this name.
    pub bytes_sent: u64,
    /// Bytes received so far in all phases of this name.
    pub bytes_received: u64,
}

/// Is called with each event, and with the pointer that was given with it. Threads of the library
/// call it, a few times a second, also while the program's own thread is inside a call. While it
/// runs, it may call only `symbolon_cancel_now`. It must return: neither `longjmp` nor an exception
/// of C++ may leave it.
pub type Hear = Option<unsafe extern "C" fn(event: *const Event, data: *mut c_void)>;

/// Cancels sessions, from any thread.
pub struct Cancel(CancelHandle);

/// How a session is reached and what it is asked to do. It may serve several sessions.
pub struct ConfigHandle {
    pub(crate) party: u16,
    pub(crate) key: PathBuf,
    pub(crate) listen: Option<String>,
    pub(crate) peers: Vec<PeerInfo>,
    pub(crate) params: SessionParams,
    /// The address and the key of the dealer, if there is one.
    pub(crate) dealer: Option<(String, Fingerprint)>,
    pub(crate) timeout: Duration,
    cancel: CancelHandle,
    hear: Hear,
    data: Data,
}

impl ConfigHandle {
    /// As the library takes it; opens the port.
    pub(crate) fn build(&self) -> Result<Config> {
        let identity = Identity::load(&self.key)?;
        let last = usize::from(self.party) + 1 == self.peers.len();
        let own = self.peers.get(usize::from(self.party)).and_then(|own| own.address.clone());
        if last && self.listen.is_some() {
            return Err(Error::invalid_input(
                "the last party dials all others: it opens no port to listen on",
            ));
        }
        let door = match self.listen.clone().or(own) {
            Some(address) if !last => Some(Listener::bind(&address)?),
            _ => None,
        };
        let transport = Transport::tls_mesh(door, identity, self.peers.clone());
        let dealer = self.dealer.clone().map(|(address, key)| Dealer::tls(address, key));
        let mut config = Config::new(self.party, transport)
            .params(self.params.clone())
            .dealer(dealer)
            .timeout(self.timeout)
            .cancelled_by(&self.cancel);
        let (hear, data) = (self.hear, self.data);
        if hear.is_some() {
            config = config.on_progress(move |progress| tell(progress, hear, data));
        }
        Ok(config)
    }

    /// How many evaluations a batch has.
    pub(crate) fn executions(&self) -> u64 {
        self.params.executions
    }

    /// Whether each evaluation of a batch has a prepared circuit and messages of its own.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.params.in_flight.is_some()
    }

    /// How many parties there are.
    pub(crate) fn parties(&self) -> u16 {
        self.peers.len() as u16
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        if key == "timeout" {
            let seconds = value.parse().ok().map(Duration::try_from_secs_f64);
            self.timeout = match seconds {
                Some(Ok(timeout)) if !timeout.is_zero() => timeout,
                _ => return Err(Error::invalid_input("timeout is a number of seconds above 0")),
            };
            return Ok(());
        }
        let keys = parameter_keys();
        if !keys.iter().any(|known| known == key) {
            return Err(Error::invalid_input(format!(
                "there is no parameter of this name; there are timeout, {}",
                keys.join(", ")
            )));
        }
        self.params.set(key, value)
    }
}

/// Makes a key pair in a new file that only this user may read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_key_create(
    path: *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let path = unsafe { text(path, "the path of the key") }?;
        Ok(Identity::generate()?.save(path, false)?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Writes the fingerprint of a key to `fingerprint`: 64 hexadecimal digits and a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_key_fingerprint(
    path: *const c_char,
    fingerprint: *mut [c_char; 65],
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let identity = Identity::load(unsafe { text(path, "the path of the key") }?)?;
        let digits = identity.fingerprint().to_string();
        let mut out = [0; 65];
        for (out, digit) in out.iter_mut().zip(digits.bytes()) {
            *out = digit as c_char;
        }
        // SAFETY: the same.
        Ok(unsafe { crate::pointers::put(fingerprint, out) }?)
    };
    // SAFETY: the same.
    unsafe { compute(error, work) }
}

/// Describes a session over TLS among `count` parties, 2 to 256, of which this one has the number
/// `party`, from 0, and the key in the file `key`.
///
/// Of each two parties, the one with the lower number listens at its address and the other dials.
/// If `listen` is not null, this party opens its port there instead, as with `0.0.0.0:7000`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_config_new(
    party: u16,
    key: *const c_char,
    listen: *const c_char,
    peers: *const Peer,
    count: usize,
    config: *mut *mut ConfigHandle,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        if !(2..=MAX_PARTIES).contains(&count) || usize::from(party) >= count {
            let text = format!("party {party} is none of {count} parties, of 2 to {MAX_PARTIES}");
            return Err(Error::invalid_input(text).into());
        }
        // SAFETY: the rules for callers.
        let (key, listen, peers) = unsafe {
            let key = text(key, "the path of the key")?;
            (key, optional_text(listen, "the address to listen at")?, array(peers, count, "peers")?)
        };
        let peers = peers.iter().map(|peer| {
            // SAFETY: the same.
            let (address, fingerprint) = unsafe {
                let address = optional_text(peer.address, "the address of a party")?;
                (address, optional_text(peer.fingerprint, "the fingerprint of a party")?)
            };
            let fingerprint = fingerprint.map(str::parse).transpose()?;
            Ok(PeerInfo { address: address.map(str::to_string), fingerprint })
        });
        let peers = peers.collect::<Result<Vec<_>>>()?;
        let made = ConfigHandle {
            party,
            key: key.into(),
            listen: listen.map(str::to_string),
            params: SessionParams::new(Protocol::for_parties(peers.len())),
            peers,
            dealer: None,
            timeout: DEFAULT_TIMEOUT,
            cancel: CancelHandle::new(),
            hear: None,
            data: Data(std::ptr::null_mut()),
        };
        // SAFETY: the same.
        Ok(unsafe { give(config, made) }?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Sets a parameter by its name in settings files:
///
/// [parameters]
///
/// or `timeout` (seconds). All parties must set the same, but for `timeout`, and for `form` and
/// `ot`, which the others may leave out if one party sets them.
///
/// Values are those of the command's options. Names, as those of components, are in one text with
/// `; ` between them. `none` undoes an option of a protocol, and `by cost` the names of components.
/// An option that the protocol does not have is an error when a session begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_config_set(
    config: *mut ConfigHandle,
    key: *const c_char,
    value: *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, key, value) = unsafe {
            let config = handle_mut(config, "config")?;
            (config, text(key, "the name of a parameter")?, text(value, "the value")?)
        };
        Ok(config.set(key, value)?)
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Has the dealer at `address`, `HOST:PORT`, deal what the parties would otherwise make among
/// themselves; `fingerprint` is that of its key. All parties must name the same dealer. It learns
/// all inputs if it works together with any party.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_config_dealer(
    config: *mut ConfigHandle,
    address: *const c_char,
    fingerprint: *const c_char,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, address, fingerprint) = unsafe {
            let config = handle_mut(config, "config")?;
            let address = text(address, "the address of the dealer")?;
            (config, address, text(fingerprint, "the fingerprint of the dealer")?)
        };
        config.dealer = Some((address.to_string(), fingerprint.parse()?));
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Sets a callback for the progress of sessions of this configuration. It is called with each event
/// and with `data`, which must be usable from any thread until the sessions end. A null `hear` sets
/// none for sessions to come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_config_on_progress(
    config: *mut ConfigHandle,
    hear: Hear,
    data: *mut c_void,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let config = unsafe { handle_mut(config, "config") }?;
        (config.hear, config.data) = (hear, Data(data));
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Has `cancel` cancel the sessions of this configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_config_cancelled_by(
    config: *mut ConfigHandle,
    cancel: *const Cancel,
    error: *mut *mut Failure,
) -> Status {
    let work = || {
        // SAFETY: the rules for callers.
        let (config, cancel) =
            unsafe { (handle_mut(config, "config")?, handle(cancel, "cancel")?) };
        config.cancel = cancel.0.clone();
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Frees a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_config_free(config: *mut ConfigHandle) {
    // SAFETY: the rules for callers.
    unsafe { free(config) }
}

/// Makes a handle that cancels sessions.
#[unsafe(no_mangle)]
pub extern "C" fn symbolon_cancel_new() -> *mut Cancel {
    Box::into_raw(Box::new(Cancel(CancelHandle::new())))
}

/// Cancels: calls that wait or compute end within a fraction of a second with the status
/// `INTERRUPTED`, and so does every later one. Any thread may call it at any time, but no signal
/// handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_cancel_now(cancel: *const Cancel) {
    let work = || {
        // SAFETY: the rules for callers.
        unsafe { handle(cancel, "cancel") }?.0.cancel();
        Ok(())
    };
    // SAFETY: nothing is written.
    let _ = unsafe { call(std::ptr::null_mut(), work) };
}

/// Frees a handle that cancels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_cancel_free(cancel: *mut Cancel) {
    // SAFETY: the rules for callers.
    unsafe { free(cancel) }
}

/// Tells C of something that happened.
fn tell(progress: &Progress, hear: Hear, data: Data) {
    let (mut phase, mut step, mut text, mut other) = (None, None, None, -1);
    let mut counts = [0; 4];
    let event = match progress {
        Progress::Listening { address, .. } => {
            text = Some(address.as_str());
            "listening"
        }
        Progress::Connecting { party, address } => {
            (other, text) = (i32::from(party.number()), Some(address.as_str()));
            "connecting"
        }
        Progress::Retrying { party, reason } => {
            (other, text) = (i32::from(party.number()), Some(reason.as_str()));
            "retrying"
        }
        Progress::Rejected { reason, .. } => {
            text = Some(reason.as_str());
            "rejected"
        }
        Progress::Connected { party } => {
            other = i32::from(party.number());
            "connected"
        }
        Progress::Phase { phase: name } => {
            phase = Some(*name);
            "phase-began"
        }
        Progress::PhaseEnded { phase: name, bytes_sent, bytes_received } => {
            phase = Some(*name);
            counts = [0, 0, *bytes_sent, *bytes_received];
            "phase-ended"
        }
        Progress::Work(work) => {
            let Work { done, total, bytes_sent, bytes_received, .. } = *work;
            counts = [done, total, bytes_sent, bytes_received];
            (phase, step) = (Some(work.phase), Some(work.step.name()));
            "work"
        }
        // What a later version tells besides.
        _ => return,
    };
    let [phase, step, text] = [phase, step, text].map(|text| text.map(c_string));
    let pointer = |text: &Option<std::ffi::CString>| {
        text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())
    };
    let event = c_string(event);
    let [done, total, bytes_sent, bytes_received] = counts;
    let (phase, step, text) = (pointer(&phase), pointer(&step), pointer(&text));
    let event = event.as_ptr();
    let party = other;
    let told = Event { event, phase, step, text, party, done, total, bytes_sent, bytes_received };
    if let Some(hear) = hear {
        // SAFETY: `symbolon_config_on_progress` demands a function that may be called so.
        unsafe { hear(&told, data.0) };
    }
}
