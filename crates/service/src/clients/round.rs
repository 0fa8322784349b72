//! The submissions for one call, and the parties' lists of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use symbolon::BitVec;
use symbolon::circuit::PartyId;
use symbolon_clients::{Layout, Share};

use super::digest::Digest;
use super::set::{List, Set};
use super::submission::{Submission, SubmitError};
use crate::name::Name;

/// The maximum number of clients in one control message.
pub(crate) const MAX_LIST: usize = 400;

/// A part of a party's list.
pub(crate) struct Part {
    /// How many clients earlier parts had.
    pub before: usize,
    pub clients: Vec<(Name, Digest)>,
    /// Whether this is the last part.
    pub last: bool,
}

/// Whether submissions are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// This party's application has not opened the call.
    No,
    /// Until this time.
    Open { until: Instant },
    /// No more. They are kept for the call until this time.
    Closed { until: Instant },
    /// The call has run.
    Over,
}

/// The submissions for one call.
pub(crate) struct Round {
    pub taking: Taking,
    /// When the node makes the call by itself, or tries again; none if the application does.
    pub attempt: Option<Instant>,
    taken: BTreeMap<Name, Submission>,
    /// By party: what it has; this party's own place is unused.
    lists: Vec<Option<List>>,
    /// By party: the parts of its list that came so far.
    coming: Vec<List>,
    /// By party: the set that it has computed.
    agreed: Vec<Option<Digest>>,
    pub set: Option<Arc<Set>>,
}

impl Round {
    pub fn new(parties: usize) -> Round {
        Round {
            taking: Taking::No,
            attempt: None,
            taken: BTreeMap::new(),
            lists: vec![None; parties],
            coming: vec![List::new(); parties],
            agreed: vec![None; parties],
            set: None,
        }
    }

    /// Returns the number of clients who have given values.
    pub fn count(&self) -> usize {
        self.taken.len()
    }

    /// Takes a submission. The first one of a client counts; the same one may come again at any
    /// time.
    pub fn submit(
        &mut self,
        client: &Name,
        submission: Submission,
        most: u32,
    ) -> Result<(), SubmitError> {
        match (self.taken.get(client), self.taking) {
            (Some(known), _) if known.digest == submission.digest => Ok(()),
            (Some(_), _) => Err(SubmitError::Other),
            (None, Taking::No) => Err(SubmitError::NoCall),
            (None, Taking::Closed { .. } | Taking::Over) => Err(SubmitError::Closed),
            (None, Taking::Open { .. }) if self.taken.len() >= most as usize => {
                Err(SubmitError::Full)
            }
            (None, Taking::Open { .. }) => {
                self.taken.insert(client.clone(), submission);
                Ok(())
            }
        }
    }

    /// Returns what this party has.
    pub fn list(&self) -> List {
        self.taken.iter().map(|(client, one)| (client.clone(), one.digest)).collect()
    }

    /// Returns whether anything of a peer's list is here.
    pub fn has_list(&self, party: PartyId) -> bool {
        let party = usize::from(party);
        self.lists[party].is_some() || !self.coming[party].is_empty()
    }

    /// Returns whether a peer's list is here, so that the peer makes the call.
    pub fn is_listed(&self, party: PartyId) -> bool {
        self.lists[usize::from(party)].is_some()
    }

    /// Takes a part of a peer's list; returns whether it is one.
    pub fn hear(&mut self, from: PartyId, part: Part, most: u32) -> bool {
        if self.taking == Taking::Over {
            return true;
        }
        let Part { before, clients, last } = part;
        let from = usize::from(from);
        let coming = &mut self.coming[from];
        if before == 0 {
            coming.clear();
        }
        let in_order = clients.is_sorted_by(|one, next| one.0 < next.0);
        let after = match (coming.last_key_value(), clients.first()) {
            (Some((before, _)), Some((first, _))) => before < first,
            _ => true,
        };
        let fits = coming.len() + clients.len() <= most as usize && clients.len() <= MAX_LIST;
        if !(fits && after && in_order) || (clients.is_empty() && !last) {
            return false;
        }
        // Earlier parts were not taken, as there were too many lists.
        if coming.len() != before {
            coming.clear();
            return true;
        }
        coming.extend(clients);
        if last {
            self.lists[from] = Some(std::mem::take(&mut self.coming[from]));
            (self.set, self.agreed[from]) = (None, None);
        }
        true
    }

    /// Forgets what a party said.
    pub fn forget(&mut self, party: PartyId) {
        let party = usize::from(party);
        if self.taking != Taking::Over {
            (self.lists[party], self.agreed[party]) = (None, None);
            self.coming[party].clear();
            self.set = None;
        }
    }

    /// Returns whether nobody has anything for the call.
    pub fn is_empty(&self) -> bool {
        let quiet = |party: u16| !self.has_list(PartyId::new(party));
        self.taking == Taking::No && (0..self.lists.len() as u16).all(quiet)
    }

    /// Computes the call's clients, once this party takes no more submissions and has all lists;
    /// returns their digest.
    pub fn settle(&mut self, me: PartyId) -> Option<Digest> {
        if !matches!(self.taking, Taking::Closed { .. }) {
            return None;
        }
        if let Some(set) = &self.set {
            return Some(set.digest());
        }
        let own = self.list();
        let list = |(party, list)| match party == usize::from(me) {
            true => Some(&own),
            false => Option::as_ref(list),
        };
        let lists: Vec<&List> = self.lists.iter().enumerate().map(list).collect::<Option<_>>()?;
        let set = Set::new(&lists);
        let digest = set.digest();
        self.set = Some(Arc::new(set));
        self.agreed[usize::from(me)] = Some(digest);
        Some(digest)
    }

    /// Notes which clients a party has computed.
    pub fn agree(&mut self, party: PartyId, set: Digest) {
        self.agreed[usize::from(party)] = Some(set);
    }

    /// Returns whether all parties have computed the same clients.
    pub fn is_agreed(&self) -> bool {
        let first = self.agreed.first().copied().flatten();
        first.is_some() && self.agreed.iter().all(|digest| *digest == first)
    }

    /// Returns the parties that have computed other clients than this one.
    pub fn others(&self, me: PartyId) -> Vec<PartyId> {
        let Some(own) = &self.agreed[usize::from(me)] else { return Vec::new() };
        let all = PartyId::all(self.agreed.len());
        let differs = |set: &Digest| set != own;
        all.filter(|party| self.agreed[usize::from(*party)].as_ref().is_some_and(differs)).collect()
    }

    /// Returns the bits of this party's input with the shares of all clients, for the run: nothing
    /// of them stays here.
    pub fn take(&mut self, layout: &Layout) -> Option<(BitVec, Digest)> {
        let set = self.set.clone()?;
        let share = |(client, _): &(Name, Digest)| self.taken.get(client)?.share.as_ref();
        let shares: Vec<Option<&Share>> = set.places.iter().map(share).collect();
        let bits = layout.input(&shares).ok()?;
        self.taken.values_mut().for_each(|one| one.share = None);
        self.taking = Taking::Over;
        Some((bits, set.digest()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(before: usize, names: &[&str], last: bool) -> Part {
        let clients = names.iter().map(|name| (name.parse().unwrap(), Digest([1; 32]))).collect();
        Part { before, clients, last }
    }

    #[test]
    fn a_list_is_whole_or_none() {
        let one = PartyId::new(1);
        let mut round = Round::new(2);
        assert!(round.hear(one, part(0, &["a", "b"], false), 4) && !round.is_listed(one));
        assert!(round.hear(one, part(2, &["c"], true), 4) && round.is_listed(one));
        // The first part was not taken.
        let mut round = Round::new(2);
        assert!(round.hear(one, part(2, &["c"], true), 4) && !round.is_listed(one));
        // What is announced again begins anew.
        assert!(round.hear(one, part(0, &["a"], false), 4));
        assert!(round.hear(one, part(0, &["a", "b"], true), 4) && round.is_listed(one));
        assert!(!round.hear(one, part(0, &["a", "b", "c", "d", "e"], true), 4));
        assert!(!round.hear(one, part(0, &["b", "a"], true), 4));
    }
}
