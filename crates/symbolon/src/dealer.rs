//! The dealer, from both sides: whom a party takes its material from, and how a process deals.

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

/// A dealer: a process that deals what the parties would otherwise make among themselves with
/// oblivious transfer. That saves them nearly all of the computing and most of the bytes, and costs
/// trust.
///
/// **The dealer knows all that it deals**: every key, mask and triple. Together with any one party,
/// or by reading what the parties send each other, it learns all inputs and can change any output.
/// It must deal honestly, too: a wrong product with its right MAC spoils the output, and nobody
/// notices; what else it deals wrong is noticed by a failed check, if at all, which then accuses a
/// peer. So it runs on a machine that no party controls, run by somebody who works together with
/// none of them. Without its help, the parties are as safe from each other as without it.
///
/// All parties must name the same one: the handshake compares [`Dealer::name`].
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
    /// The dealer at `HOST:PORT` that proves the key with this fingerprint, over TLS. Each party
    /// proves to it the key that it proves to the others, so the parties must be connected by TLS,
    /// too.
    pub fn tls(address: impl Into<String>, fingerprint: Fingerprint) -> Dealer {
        Dealer(Reach::Tls { address: address.into(), fingerprint })
    }

    /// The dealer at `HOST:PORT`, whichever process answers, without encryption: anyone on the way
    /// reads what is dealt, and anybody may take any party's slot. Only for parties that are
    /// connected without protection themselves.
    pub fn insecure_plain_tcp(address: impl Into<String>) -> Dealer {
        Dealer(Reach::Plain { address: address.into() })
    }

    /// A dealer that `dial` opens channels to, from the party with this number, one for each
    /// dealing; they count on this meter. Its name is what parties compare: printable ASCII, at
    /// most 100 characters. For dealers within a process, and for parties whose [`Transport`]
    /// proves no keys.
    pub fn channels(
        name: impl Into<String>,
        dial: impl FnMut(PartyId, &Arc<Meter>) -> Result<Channel> + Send + 'static,
    ) -> Dealer {
        Dealer(Reach::Channels { name: name.into(), dial: Box::new(dial) })
    }

    /// A dealer within this process: the parties' transport is in memory, too. For tests and
    /// measurements.
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

    /// What the parties compare, and what is stamped on all that was made with what it dealt: the
    /// fingerprint of its key, in hexadecimal; `unauthenticated` for one that proves none.
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

    /// Refuses what does not go together with the parties' own connections.
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

    /// How `terms.party` reaches it.
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

/// All parties' keys, by party number.
///
/// Check: dealer | the dealer's key differs from the parties' | a party that deals | –
fn keys(transport: &Transport, party: PartyId, own: Fingerprint) -> Result<Vec<Fingerprint>> {
    let pins = (0..).zip(transport.pins(party));
    let key = |(number, pin)| if number == party { Some(own) } else { pin };
    let keys: Option<Vec<_>> = pins.map(key).collect();
    keys.ok_or_else(|| Error::invalid_input("the dealer needs the fingerprints of all parties"))
}

/// How a process deals.
#[derive(Debug)]
pub struct Dealing {
    /// Its key; without one it deals over plain TCP, to anybody, for anybody on the way to read.
    pub identity: Option<Identity>,
    /// Whom it deals to.
    pub admit: AdmissionPolicy,
    /// How much it deals, and for how many at a time.
    pub limits: ServerLimits,
}

/// File descriptors that are left to everything but clients: standard streams, files, what
/// libraries open.
const OTHER_DESCRIPTORS: usize = 32;

/// The fewest slots that a dealer starts with.
const FEWEST_SLOTS: usize = 16;

/// The slots that the system has file descriptors for, with those in reserve that it takes to hear
/// newcomers, and to send clients away.
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

/// Deals to all admitted clients on this port, until `stop` is set; then waits for the
/// sessions that run. `report` is told of every session that was dealt to, or was not, and why.
///
/// Its operator is trusted by all the parties that take its material: see [`Dealer`].
///
/// # Errors
/// `InvalidInput` when keys are admitted and there is no identity; `Store` when the identity cannot
/// be used; `System` when the system gives no threads or allows too few file descriptors.
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
