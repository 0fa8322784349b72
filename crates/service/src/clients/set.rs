//! The clients of a call: those of whom all parties have the same submission.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use symbolon::circuit::PartyId;
use utoipa::ToSchema;

use super::digest::Digest;
use crate::name::Name;

const DOMAIN: &[u8] = b"symbolon clients of a call v1";

/// What a party has: of each client, the digest of its submission.
pub(crate) type List = BTreeMap<Name, Digest>;

/// A client who is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeftOut {
    /// Its name.
    #[schema(value_type = String)]
    pub client: Name,
    /// Why.
    #[serde(flatten)]
    pub why: Why,
}

/// Why a client is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Why {
    /// The parties hold different submissions of it.
    Differs,
    /// These parties hold none.
    Missing {
        /// Their numbers.
        #[schema(value_type = Vec<u16>)]
        parties: Vec<PartyId>,
    },
}

/// The clients of a call. Each party computes it from the same lists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// The clients who take part, by their places.
    pub places: Vec<(Name, Digest)>,
    /// All others, by name.
    pub left_out: Vec<LeftOut>,
}

impl Set {
    /// Compares the lists of all parties, by number.
    ///
    /// Check: service | each client's submission is the same at all parties | a client that sends
    /// different ones, a party that has another or none | –
    pub fn new(lists: &[&List]) -> Set {
        let names: BTreeSet<&Name> = lists.iter().flat_map(|list| list.keys()).collect();
        let mut set = Set { places: Vec::new(), left_out: Vec::new() };
        for client in names {
            let all: Vec<Option<&Digest>> = lists.iter().map(|list| list.get(client)).collect();
            let missing =
                PartyId::all(all.len()).filter(|party| all[usize::from(*party)].is_none());
            let missing: Vec<PartyId> = missing.collect();
            let mut known = all.iter().flatten();
            let first = known.next().copied().copied();
            let same = known.all(|digest| Some(**digest) == first);
            match (first, same, missing.is_empty()) {
                (Some(digest), true, true) => set.places.push((client.clone(), digest)),
                (_, true, _) => {
                    let why = Why::Missing { parties: missing };
                    set.left_out.push(LeftOut { client: client.clone(), why });
                }
                (_, false, _) => {
                    set.left_out.push(LeftOut { client: client.clone(), why: Why::Differs });
                }
            }
        }
        set
    }

    /// Returns the place of a client.
    pub fn place(&self, client: &Name) -> Option<usize> {
        self.places.binary_search_by(|(other, _)| other.cmp(client)).ok()
    }

    /// Returns why a client is left out.
    pub fn why(&self, client: &Name) -> Option<&Why> {
        let place = self.left_out.binary_search_by(|other| other.client.cmp(client)).ok()?;
        Some(&self.left_out[place].why)
    }

    /// Returns a digest of who takes part, and of their submissions.
    pub fn digest(&self) -> Digest {
        let mut hasher = Sha256::new().chain_update(DOMAIN);
        for (client, digest) in &self.places {
            hasher.update([client.as_str().len() as u8]);
            hasher.update(client.as_str());
            hasher.update(digest.0);
        }
        Digest(hasher.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(&str, u8)]) -> List {
        entries.iter().map(|(name, byte)| (name.parse().unwrap(), Digest([*byte; 32]))).collect()
    }

    #[test]
    fn a_client_takes_part_if_all_have_the_same_submission() {
        let zero = list(&[("ann", 1), ("bob", 2), ("carl", 3), ("eve", 5)]);
        let one = list(&[("ann", 1), ("bob", 9), ("dora", 4), ("eve", 5)]);
        let two = list(&[("ann", 1), ("carl", 3), ("eve", 5)]);
        let set = Set::new(&[&zero, &one, &two]);
        let names: Vec<&str> = set.places.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ann", "eve"]);
        assert_eq!(set.place(&"eve".parse().unwrap()), Some(1));
        let missing = |all: &[u16]| {
            let parties = all.iter().copied().map(PartyId::new).collect();
            Why::Missing { parties }
        };
        let why: Vec<_> = set.left_out.iter().map(|one| (one.client.as_str(), &one.why)).collect();
        assert_eq!(
            why,
            [("bob", &Why::Differs), ("carl", &missing(&[1])), ("dora", &missing(&[0, 2]))]
        );
        assert_eq!(set.why(&"dora".parse().unwrap()), Some(&missing(&[0, 2])));
        // The order of the parties does not matter; a submission does.
        assert_eq!(set.digest(), Set::new(&[&two, &one, &zero]).digest());
        let other = list(&[("ann", 2), ("eve", 5)]);
        assert_ne!(set.digest(), Set::new(&[&other, &other, &other]).digest());
    }
}
