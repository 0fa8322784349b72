//! The metadata of new items, and the filters that find them.

use symbolon_protocols::{Compiled, Protocol};
use symbolon_store::{Filter, GroupId, ItemKind, ItemMeta, ItemPeer};
use symbolon_transport::{PartyId, Result};

use crate::config::Config;
use crate::params::SessionParams;
use crate::terms::Terms;

/// The common properties of all items of a session, for making and finding them.
pub(super) struct Maker {
    pub protocol: Protocol,
    /// The protocol label in the metadata of prepared circuits: it tells them from others of the
    /// protocol.
    label: String,
    party: PartyId,
    peers: Vec<ItemPeer>,
    rho: u32,
    /// The dealer of fresh material; `None` if the parties make it.
    pub dealer: Option<String>,
}

/// The common properties of items made from the same material.
#[derive(Clone)]
pub(super) struct Origin {
    pub group: GroupId,
    /// The dealer of the material; `None` if the parties made it.
    pub dealer: Option<String>,
}

impl Origin {
    pub(super) fn of(meta: &ItemMeta) -> Origin {
        Origin { group: meta.group, dealer: meta.dealer.clone() }
    }
}

/// Returns the label of circuits that are prepared with these parameters.
pub(super) fn label(params: &SessionParams) -> Result<String> {
    let SessionParams { protocol, rho, executions, in_flight, .. } = *params;
    // Evaluations that are online separately are prepared separately.
    let executions = if in_flight.is_some() { 1 } else { executions };
    let mut label = protocol.name().to_string();
    if protocol.runs_batches() {
        label = format!("{label}, {executions} at a time");
    }
    let of_options = protocol.stored_label(&params.options, rho)?;
    if !of_options.is_empty() {
        label = format!("{label}, {of_options}");
    }
    Ok(label)
}

impl Maker {
    pub(super) fn of(config: &Config) -> Result<Maker> {
        let Terms { party, params, .. } = config.terms();
        let SessionParams { protocol, rho, .. } = *params;
        let (party, dealer) = (*party, params.dealer.clone());
        let label = label(params)?;
        let names = config.peer_names();
        let peers = PartyId::all(config.parties()).zip(names).filter(|(peer, _)| *peer != party);
        let peers = peers.map(|(party, fingerprint)| ItemPeer { party, fingerprint });
        Ok(Maker { protocol, label, party, peers: peers.collect(), rho: rho.bits(), dealer })
    }

    fn label(&self, kind: ItemKind) -> String {
        match kind {
            ItemKind::Pool => self.protocol.pools().name().to_string(),
            ItemKind::Prepared => self.label.clone(),
        }
    }

    pub(super) fn meta(
        &self,
        kind: ItemKind,
        origin: &Origin,
        circuit: Option<&Compiled>,
        sequence: u64,
    ) -> ItemMeta {
        ItemMeta {
            kind,
            protocol: self.label(kind),
            group: origin.group,
            party: self.party,
            peers: self.peers.clone(),
            dealer: origin.dealer.clone(),
            rho: self.rho,
            circuit: circuit.map(Compiled::digest),
            name: circuit.and_then(|circuit| ItemMeta::printable_name(circuit.circuit().name())),
            sequence,
            counts: Vec::new(),
            components: Vec::new(),
        }
    }

    /// Returns a filter for what the parties made themselves and, if they trust a dealer, for what
    /// it dealt.
    pub(super) fn filter(&self, kind: ItemKind, circuit: Option<&Compiled>) -> Filter {
        let mut dealers = vec![None];
        dealers.extend(self.dealer.clone().map(Some));
        Filter {
            kind: Some(kind),
            protocol: Some(self.label(kind)),
            group: None,
            party: Some(self.party),
            peers: Some(self.peers.clone()),
            dealers: Some(dealers),
            rho: Some(self.rho),
            circuit: Some(circuit.map(Compiled::digest)),
        }
    }
}
