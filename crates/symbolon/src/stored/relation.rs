//! Lasting identities of relations between two parties, to which stored executions are bound.
//!
//! A service's parties change their TLS keys, and what they have prepared together outlasts that.
//! So a node's items do not name keys. When two nodes first meet, they draw a *relation*: a common
//! secret, which each keeps in its store. Whenever they meet again, under any accepted key, each
//! proves that it knows the secret; items name its digest. Who learns the secret still needs an
//! accepted key.
//!
//! A store keeps the last [`MAX_RELATIONS`] relations with each peer: somebody else who holds an
//! accepted key and does not know the secret gets a relation of its own, beside the one that is
//! there. Only by as many new relations could it push that one out, and void what was prepared.

use std::collections::BTreeMap;

use symbolon_store::Store;
use symbolon_transport::{PartyId, Result};
use zeroize::Zeroizing;

use super::failed;

/// The maximum number of relations that are kept with each peer.
pub const MAX_RELATIONS: usize = 8;

const SECRET_DOMAIN: &str = "symbolon 2026 relation secret v1";
const NAME_DOMAIN: &str = "symbolon 2026 relation name v1";
const PROOF_DOMAIN: &str = "symbolon 2026 relation proof v1";

/// How the names of relations begin.
pub(super) const PREFIX: &str = "relation ";

/// A relation with a peer.
#[derive(Clone)]
pub struct Relation {
    secret: Zeroizing<[u8; 32]>,
    name: String,
}

/// What a proof is for: it fits only this sender, receiver, connection and time.
#[derive(Clone, Copy, Debug)]
pub struct ProofContext<'a> {
    /// Who proves.
    pub from: PartyId,
    /// To whom.
    pub to: PartyId,
    /// What is bound to the connection ([`Channel::binding`](crate::Channel::binding)).
    pub binding: &'a [u8; 32],
    /// What the two parties have drawn for this proof, the sender's first.
    pub drawn: [&'a [u8; 16]; 2],
}

impl Relation {
    /// Returns the relation that follows from what two parties drew, by party number.
    pub fn from_drawn(parties: [PartyId; 2], drawn: [&[u8; 16]; 2]) -> Relation {
        let mut hasher = blake3::Hasher::new_derive_key(SECRET_DOMAIN);
        for party in parties {
            hasher.update(&party.to_le_bytes());
        }
        for drawn in drawn {
            hasher.update(drawn);
        }
        Relation::new(*hasher.finalize().as_bytes())
    }

    fn new(secret: [u8; 32]) -> Relation {
        let secret = Zeroizing::new(secret);
        let name = PREFIX.to_string() + &hex::encode(blake3::derive_key(NAME_DOMAIN, &secret[..]));
        Relation { secret, name }
    }

    /// Returns the name, by which items name the peer.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the proof that a party knows the relation.
    pub fn proof(&self, context: ProofContext<'_>) -> [u8; 32] {
        let ProofContext { from, to, binding, drawn } = context;
        let key = Zeroizing::new(blake3::derive_key(PROOF_DOMAIN, &self.secret[..]));
        let mut hasher = blake3::Hasher::new_keyed(&key);
        hasher.update(&from.to_le_bytes()).update(&to.to_le_bytes());
        hasher.update(binding).update(drawn[0]).update(drawn[1]);
        *hasher.finalize().as_bytes()
    }

    /// Returns the relations of party `me` with `peer` that a store keeps, the latest first.
    ///
    /// # Errors
    /// `Store`.
    pub fn all(store: &Store, me: PartyId, peer: PartyId) -> Result<Vec<Relation>> {
        let kept = store.relations().map_err(failed)?;
        let theirs = kept.into_iter().find(|(parties, _)| *parties == (me, peer));
        Ok(theirs.map_or_else(Vec::new, |(_, all)| all.into_iter().map(Relation::new).collect()))
    }

    /// Keeps the relation of party `me` with `peer` as the latest one.
    ///
    /// # Errors
    /// `Store`.
    pub fn keep(&self, store: &Store, me: PartyId, peer: PartyId) -> Result<()> {
        let earlier = Relation::all(store, me, peer)?;
        let earlier = earlier.iter().filter(|other| other.name != self.name);
        let all: Vec<[u8; 32]> = std::iter::once(self)
            .chain(earlier)
            .map(|one| *one.secret)
            .take(MAX_RELATIONS)
            .collect();
        store.set_relations((me, peer), &all).map_err(failed)
    }
}

impl std::fmt::Debug for Relation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relation").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns the names of all relations that a store keeps, and of each whether the peer knew it when
/// it was last there.
pub(super) fn known(store: &Store) -> Result<BTreeMap<String, bool>> {
    let kept = store.relations().map_err(failed)?;
    let of_peer = kept.into_iter().flat_map(|(_, all)| {
        let named = all.into_iter().map(|secret| Relation::new(secret).name);
        named.enumerate().map(|(place, name)| (name, place == 0))
    });
    Ok(of_peer.collect())
}

#[cfg(test)]
mod tests {
    use symbolon_store::Protection;

    use super::*;

    fn relation(drawn: u8) -> Relation {
        Relation::from_drawn([0.into(), 1.into()], [&[drawn; 16], &[2; 16]])
    }

    #[test]
    fn a_proof_fits_one_relation_one_direction_and_one_connection() {
        let drawn = [&[3; 16], &[4; 16]];
        let good = ProofContext { from: 0.into(), to: 1.into(), binding: &[5; 32], drawn };
        let proof = relation(1).proof(good);
        assert_eq!(proof, relation(1).proof(good));
        assert_ne!(proof, relation(2).proof(good));
        let (from, to) = (good.to, good.from);
        for other in [
            ProofContext { from, to, ..good },
            ProofContext { binding: &[6; 32], ..good },
            ProofContext { drawn: [drawn[1], drawn[0]], ..good },
        ] {
            assert_ne!(proof, relation(1).proof(other));
        }
    }

    #[test]
    fn a_store_keeps_the_last_relations() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Protection::None).unwrap();
        let names = |me: u16, peer: u16| -> Vec<String> {
            let all = Relation::all(&store, me.into(), peer.into()).unwrap();
            all.into_iter().map(|relation| relation.name).collect()
        };
        for drawn in 0..=MAX_RELATIONS as u8 {
            relation(drawn).keep(&store, 0.into(), 1.into()).unwrap();
        }
        relation(3).keep(&store, 0.into(), 1.into()).unwrap();
        let kept = names(0, 1);
        assert_eq!(kept.len(), MAX_RELATIONS);
        assert_eq!(kept[0], relation(3).name);
        assert!(kept.contains(&relation(1).name) && !kept.contains(&relation(0).name));
        assert!(names(1, 0).is_empty() && names(0, 2).is_empty());
    }
}
