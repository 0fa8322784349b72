//! The dealer, from both sides: where a party gets its material, and how a process deals.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use symbolon_circuit::PartyId;
pub use symbolon_preprocessing::dealer::{DealerServer, Event, Limits, ServerLimits, Summary};
use symbolon_protocols as protocols;
pub use symbolon_transport::{AdmissionPolicy, Client, TurnedAway};
use symbolon_transport::{
    Channel, DEALER, Error, Fingerprint, Identity, Listener, Meter, OPENING_DESCRIPTORS, Options,
    Peer, Result, check_address, connect_lanes, descriptor_limit, memory_lanes,
};

use crate::connect::Transport;
use crate::terms::Terms;

/// A dealer: a process that deals what the parties would otherwise make themselves with oblivious
/// transfer. That saves them nearly all of the computing and most of the bytes, but it requires
/// trust.
///
/// **The dealer knows everything that it deals**: every key, mask and triple. Together with any one
/// party, or by reading the messages between the parties, it learns all inputs and can change any
/// output. It must also deal honestly: a wrong product with a valid MAC corrupts the output, and
/// nobody notices. A failed check may reveal other wrong values, but then it accuses a peer. So the
/// dealer must run on a machine that no party controls, and its operator must not collude with any
/// party. If the dealer does not collude, the parties are as safe from each other as without a
/// dealer.
///
/// All parties must name the same dealer: the handshake compares [`Dealer::name`].
pub struct Dealer(Reach);

type Dial = Box<dyn FnMut(PartyId, &Arc<Meter>) -> Result<Channel> + Send>;

enum Reach {
    Tls { address: String, fingerprint: Fingerprint },
    Plain { address: String },
    Channels { name: String, dial: Dial },
}

impl std::fmt::Debug for Dealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Dealer").field(&self.name()).finish()
    }
}

impl Dealer {
    /// Uses the dealer at `HOST:PORT` that proves the key with this fingerprint, over TLS. Each
    /// party proves to it the same key as to the other parties, so the parties must be connected by
    /// TLS, too.
    pub fn tls(address: impl Into<String>, fingerprint: Fingerprint) -> Dealer {
        Dealer(Reach::Tls { address: address.into(), fingerprint })
    }

    /// Uses any process that answers at `HOST:PORT`, without encryption: anyone on the network path
    /// can read what is dealt, and anybody can take any party's slot. Only for parties whose own
    /// connections are unprotected.
    pub fn insecure_plain_tcp(address: impl Into<String>) -> Dealer {
        Dealer(Reach::Plain { address: address.into() })
    }

    /// Uses a dealer to which `dial` opens channels, one for each dealing, for the party with the
    /// given number; they count on the given meter. The parties compare its name: 1 to 100
    /// characters of printable ASCII. For dealers within a process, and for parties whose
    /// [`Transport`] proves no keys.
    pub fn channels(
        name: impl Into<String>,
        dial: impl FnMut(PartyId, &Arc<Meter>) -> Result<Channel> + Send + 'static,
    ) -> Dealer {
        Dealer(Reach::Channels { name: name.into(), dial: Box::new(dial) })
    }

    /// Uses a dealer within this process, for parties whose transport is in memory, too. For tests
    /// and measurements.
    pub fn in_process(server: Arc<DealerServer>) -> Dealer {
        Dealer::channels("in this process", move |party, meter| {
            let (near, far) = ((party, meter.clone()), (DEALER, Meter::new()));
            let (mut near, mut far) = memory_lanes(near, far, 1, None)?;
            match (near.pop(), far.pop()) {
                (Some(near), Some(far)) => {
                    server.admit(Client::from(far));
                    Ok(near)
                }
                _ => Err(Error::internal("a connection without a lane")),
            }
        })
    }

    /// Returns the name that the parties compare and that the metadata of its material contains:
    /// the fingerprint of its key in hexadecimal, `unauthenticated` for a dealer that proves no
    /// key, or the name that [`Dealer::channels`] was given.
    ///
    /// Check: dealer | the handshake compares the dealer's name, which enters the session id |
    /// parties that trust different dealers, or none | –
    pub fn name(&self) -> String {
        match &self.0 {
            Reach::Tls { fingerprint, .. } => fingerprint.to_string(),
            Reach::Plain { .. } => "unauthenticated".to_string(),
            Reach::Channels { name, .. } => name.clone(),
        }
    }

    /// Rejects a dealer that does not fit the parties' own connections.
    pub(crate) fn check(&self, transport: &Transport, party: PartyId) -> Result<()> {
        if let (Reach::Tls { fingerprint, .. }, Some(own)) = (&self.0, transport.identity()) {
            let key = |(number, pin)| if number == party { Some(own.fingerprint()) } else { pin };
            let mut keys = (0..).zip(transport.pins(party)).map(key);
            if let Some(dealing) = keys.position(|key| key == Some(*fingerprint)) {
                return Err(Error::invalid_input(format!(
                    "the dealer has the key of party {dealing}: a party that deals learns all inputs, so the dealer \
                     must be none of the parties"
                )));
            }
        }
        if let Reach::Tls { address, .. } | Reach::Plain { address } = &self.0
            && let Err(Error::InvalidInput(why)) = check_address(address)
        {
            return Err(Error::invalid_input(format!("the dealer: {why}")));
        }
        match (&self.0, transport.identity()) {
            (Reach::Tls { .. }, None) => Err(Error::invalid_input(
                "a dealer is reached over TLS only by parties that are connected by TLS themselves: \
                 it knows them by the keys that they prove to each other",
            )),
            (Reach::Plain { .. } | Reach::Channels { .. }, Some(_)) => Err(Error::invalid_input(
                "parties that are connected by TLS need a dealer with a key: what it deals must be as \
                 private as what they send each other",
            )),
            (Reach::Channels { name, .. }, None) if !is_name(name) => {
                Err(Error::invalid_input("a dealer's name is 1 to 100 printable ASCII characters"))
            }
            _ => Ok(()),
        }
    }

    /// Returns how `terms.party` reaches the dealer.
    pub(crate) fn reach(self, transport: &Transport, terms: &Terms) -> Result<protocols::Dealer> {
        let (party, timeout, link) = (terms.party, terms.timeout, terms.link);
        let cancel = terms.cancel.clone();
        let (address, identity, peer) = match self.0 {
            Reach::Channels { mut dial, .. } => {
                let dial = move |net: &protocols::Network| {
                    let mut channel = dial(party, &net.meter)?;
                    channel.set_timeout(timeout);
                    cancel.watch(&channel);
                    Ok(channel)
                };
                return Ok(protocols::Dealer { keys: Vec::new(), dial: Box::new(dial) });
            }
            Reach::Tls { address, fingerprint } => {
                let peer = Peer::pinned(DEALER, fingerprint);
                (address, transport.identity().cloned(), peer)
            }
            Reach::Plain { address } => (address, None, Peer::unauthenticated(DEALER)),
        };
        let keys = match &identity {
            Some(identity) => keys(transport, party, identity.fingerprint())?,
            None => Vec::new(),
        };
        let dial = move |net: &protocols::Network| {
            let mut options = match &identity {
                Some(identity) => Options::tls(party, identity, net.meter.clone())?,
                None => Options::insecure_plain_tcp(party, net.meter.clone()),
            };
            options.connect_timeout = timeout;
            options.timeout = timeout;
            options.link = link;
            options.cancel = cancel.clone();
            let lane = connect_lanes(&options, &address, &peer, 1)?.pop();
            let lane = lane.ok_or_else(|| Error::internal("a connection without a lane"))?;
            cancel.watch(&lane);
            Ok(lane)
        };
        Ok(protocols::Dealer { keys, dial: Box::new(dial) })
    }
}

fn is_name(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    plain && (1..=100).contains(&name.len())
}

/// Returns all parties' keys, by party number.
///
/// Check: dealer | the dealer's key differs from the parties' | a party that deals | –
fn keys(transport: &Transport, party: PartyId, own: Fingerprint) -> Result<Vec<Fingerprint>> {
    let pins = (0..).zip(transport.pins(party));
    let key = |(number, pin)| if number == party { Some(own) } else { pin };
    let keys: Option<Vec<_>> = pins.map(key).collect();
    keys.ok_or_else(|| Error::invalid_input("the dealer needs the fingerprints of all parties"))
}

/// The configuration of a process that deals.
#[derive(Debug)]
pub struct Dealing {
    /// The dealer's key. Without one it deals over plain TCP to anybody, and anyone on the network
    /// path can read everything.
    pub identity: Option<Identity>,
    /// The clients it deals to.
    pub admit: AdmissionPolicy,
    /// How much it deals, and to how many clients at a time.
    pub limits: ServerLimits,
}

impl Dealing {
    /// Checks whether the system has file descriptors for this. [`serve`] does so as well; who
    /// opens a port for it asks first, so that no party comes to a dealer that cannot deal.
    ///
    /// # Errors
    /// `System` if it has too few.
    pub fn check(&self) -> Result<()> {
        slots(self.limits.slots).map(drop)
    }
}

/// File descriptors reserved for everything but clients: standard streams, files, and what
/// libraries open.
const OTHER_DESCRIPTORS: usize = 32;

/// The minimum number of slots with which a dealer starts.
const FEWEST_SLOTS: usize = 16;

/// Returns the number of slots for which the system has file descriptors. A reserve remains for
/// hearing newcomers and for turning clients away.
fn slots(wanted: usize) -> Result<usize> {
    let reserve = OPENING_DESCRIPTORS + DealerServer::DESCRIPTORS + OTHER_DESCRIPTORS;
    let Some(limit) = descriptor_limit((reserve + wanted) as u64) else { return Ok(wanted) };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match limit.saturating_sub(reserve).min(wanted) {
        slots if slots >= FEWEST_SLOTS.min(wanted) => Ok(slots),
        _ => Err(Error::system(format!(
            "the system lets this process open {limit} files and connections, and a dealer needs at least {}: raise \
             the limit with `ulimit -n`",
            reserve + FEWEST_SLOTS
        ))),
    }
}

/// Deals to all admitted clients on this port until `stop` is set, then waits for the running
/// sessions. Calls `report` for every session, with the reason if it was not dealt to.
///
/// All parties that use its material trust its operator: see [`Dealer`].
///
/// # Errors
/// `InvalidInput` if keys are admitted and there is no identity; `Store` if the identity cannot be
/// used; `System` if the system gives no threads or allows too few file descriptors.
pub fn serve(
    mut door: Listener,
    dealing: &Dealing,
    stop: &AtomicBool,
    report: impl FnMut(Event) + Send + 'static,
) -> Result<()> {
    let meter = Meter::new();
    let options = match &dealing.identity {
        Some(identity) => Options::tls(DEALER, identity, meter)?,
        None => Options::insecure_plain_tcp(DEALER, meter),
    };
    let mut clients = door.incoming(&options, &dealing.admit)?;
    let slots = slots(dealing.limits.slots)?;
    let server = DealerServer::new(ServerLimits { slots, ..dealing.limits }, report)?;
    let received = server.receive(&mut clients, stop);
    server.finish();
    received
}
