//! Party numbers, and indices among a party's peers.

use symbolon_transport::PartyId;

/// The index of a peer among a party's peers, which are always in ascending order of their party
/// numbers. This is not the peer's [`PartyId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerIndex(usize);

impl PeerIndex {
    /// Returns the index of party `peer` among the peers of party `me`.
    pub fn of(peer: impl Into<PartyId>, me: impl Into<PartyId>) -> PeerIndex {
        let (peer, me) = (peer.into(), me.into());
        PeerIndex(usize::from(peer) - usize::from(peer > me))
    }

    /// Returns the indices of `peers` peers.
    pub fn all(peers: usize) -> impl Iterator<Item = PeerIndex> {
        (0..peers).map(PeerIndex)
    }

    /// Returns the index in arrays with one entry per peer.
    pub fn get(self) -> usize {
        self.0
    }
}

/// Returns the parties other than `me`, in order.
pub fn peers_of(me: impl Into<PartyId>, parties: usize) -> impl Iterator<Item = PartyId> {
    let me = me.into();
    PartyId::all(parties).filter(move |&party| party != me)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_the_position_among_the_peers_in_order() {
        for parties in 2..6 {
            for me in 0..parties {
                let indices: Vec<_> =
                    peers_of(me, parties.into()).map(|peer| PeerIndex::of(peer, me)).collect();
                assert_eq!(indices, PeerIndex::all(indices.len()).collect::<Vec<_>>());
            }
        }
    }
}
