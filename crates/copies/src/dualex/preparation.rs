//! What the steps of the offline phase share.

use symbolon_cutchoose::draw::{Buckets, CheckSet};
use symbolon_engine::Network;
use symbolon_primitives::Prg;
use symbolon_transport::{Channel, PartyId};

use super::{
    function::Function,
    garble::Garbler,
    ot::{ReceivedOts, SentOts},
    params::Params,
    probe_matrix::ProbeMatrix,
    tables::Tables,
};

/// An offline phase in progress.
pub(super) struct Preparation<'a> {
    pub net: &'a mut Network,
    pub function: &'a Function,
    pub params: Params,
    /// The number of the first circuit and of the first bucket, within the session.
    pub first: u64,
    /// The encodings of the inputs of party 0 and of party 1.
    pub matrices: [ProbeMatrix; 2],
    pub prg: &'a mut Prg,
    /// Where the tables of the peer's circuits go.
    pub tables: Tables,
}

/// The OTs of an offline phase: for each circuit those of the receiver's encoding, then those of
/// the intersections.
pub(super) struct Ots {
    pub received: ReceivedOts,
    pub sent: SentOts,
}

/// Which circuits of a party are opened, and which bucket each other circuit joins.
pub(super) struct Draw {
    pub opened: CheckSet,
    pub buckets: Buckets,
}

impl Preparation<'_> {
    /// This party's number.
    pub fn me(&self) -> usize {
        usize::from(self.net.me)
    }

    /// The channel to the peer.
    pub fn channel(&mut self) -> &mut Channel {
        &mut self.net.peers()[0]
    }

    /// How many circuits are garbled at a time.
    pub fn threads(&self) -> usize {
        self.net.garbling_threads()
    }

    /// The garbler of party `party`'s circuits.
    pub fn garbler(&self, party: usize) -> Garbler<'_> {
        Garbler {
            session: &self.net.session,
            party: PartyId::new(party as u16),
            function: self.function,
            matrix: &self.matrices[1 - party],
        }
    }
}
