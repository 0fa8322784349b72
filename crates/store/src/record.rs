//! The content of the index: records of items, used names, and revoked groups.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use symbolon_common::PartyId;

use crate::frame::Geometry;
use crate::keys::{RootKey, random};
use crate::meta::{FRAMES, MAX_SECTIONS};
use crate::{GroupId, ItemId, ItemKind, ItemMeta, Result as StoreResult, Section};

/// The maximum length of a stored reason, in characters.
const MAX_REASON: usize = 200;

/// Returns a reason in a form that can be stored and printed.
pub(crate) fn shorten(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect()
}

/// Whether an item can still be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ItemState {
    /// Something is left to take.
    Available,
    /// All of it was handed out.
    Used,
    /// It must not be used, for this reason.
    Void(String),
}

/// The index record of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its metadata.
    #[serde(rename = "stamp")]
    pub meta: ItemMeta,
    /// Whether it can still be used.
    pub state: ItemState,
    /// The first record of each count that was never handed out.
    pub next: Vec<u64>,
    /// When it was finished, in seconds since 1970.
    pub created: u64,
    /// Its files.
    pub files: Vec<SectionFile>,
}

/// The index record of a section's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionFile {
    /// What it holds.
    pub holds: Section,
    /// The size of its frames, in bytes.
    pub frame: u32,
    /// The bytes of the section.
    pub bytes: u64,
}

impl Record {
    /// Decodes the index record of the item `id`.
    ///
    /// # Errors
    /// The bytes are not a record of this item, or are inconsistent.
    pub fn decode(id: ItemId, bytes: &[u8]) -> Result<Self, String> {
        let record: Record =
            serde_json::from_slice(bytes).map_err(|_| "is not a valid item record".to_string())?;
        record.check(id)?;
        Ok(record)
    }

    pub(crate) fn check(&self, id: ItemId) -> Result<(), String> {
        self.meta.check(true)?;
        let (counts, next) = (&self.meta.counts, &self.next);
        if self.meta.id() != id {
            return Err("is the record of another item".to_string());
        }
        if next.len() != counts.len() || next.iter().zip(counts).any(|(next, count)| next > count) {
            return Err("says that more was used than there is".to_string());
        }
        if (self.state == ItemState::Available) == (next == counts)
            && !matches!(self.state, ItemState::Void(_))
        {
            return Err("is not sure whether anything is left".to_string());
        }
        if matches!(&self.state, ItemState::Void(reason) if *reason != shorten(reason)) {
            return Err("is void for a reason that cannot be printed".to_string());
        }
        if self.files.is_empty() || self.files.len() > MAX_SECTIONS {
            return Err("has no or too many sections".to_string());
        }
        for file in &self.files {
            if !FRAMES.contains(&file.frame) {
                return Err("has frames of an impossible size".to_string());
            }
            if file.holds.length(counts)?.is_some_and(|length| length != file.bytes) {
                return Err("has a section that does not fit its counts".to_string());
            }
            let overhead = 32;
            let geometry = Geometry { bytes: file.bytes, frame: file.frame, overhead };
            if geometry.file().is_none() {
                return Err("has an impossibly long section".to_string());
            }
        }
        Ok(())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers, texts and lists can be written as JSON")
    }

    /// Returns the total size of all sections, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes))
    }
}

/// A party and one of its peers.
pub type Pair = (PartyId, PartyId);

/// The secret of a relation as the index has it, which anybody may read: a nonce, and the secret
/// masked under the root key.
pub(crate) type SealedRelation = [u8; 48];

/// Masks the secret of a relation.
///
/// # Errors
/// The system has no randomness.
pub(crate) fn seal_relation(root: &RootKey, secret: &[u8; 32]) -> StoreResult<SealedRelation> {
    let nonce = random::<16>()?;
    let mut sealed = [0; 48];
    sealed[..16].copy_from_slice(&nonce);
    sealed[16..].copy_from_slice(secret);
    mask_relation(root, &mut sealed);
    Ok(sealed)
}

/// Returns the secret of a relation.
pub(crate) fn open_relation(root: &RootKey, sealed: &SealedRelation) -> [u8; 32] {
    let mut opened = *sealed;
    mask_relation(root, &mut opened);
    let mut secret = [0; 32];
    secret.copy_from_slice(&opened[16..]);
    secret
}

fn mask_relation(root: &RootKey, sealed: &mut SealedRelation) {
    let (nonce, secret) = sealed.split_at_mut(16);
    let mask = root.tag("relation", nonce);
    secret.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
}

/// One change of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Adds an item, or updates its record.
    Put(ItemId, Box<Record>),
    /// Drops the record of an item; its name stays used.
    Forget(ItemId),
    /// Revokes a group.
    Revoke(GroupId, String),
    /// Replaces the relations of a party with a peer, the latest first.
    Relate(Pair, Vec<SealedRelation>),
}

/// A row of a table that an edit writes or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Item(ItemId, Box<Record>),
    NoItem(ItemId),
    Spent(ItemId),
    NotSpent(ItemId),
    Number((GroupId, ItemKind), u64),
    Dense((GroupId, ItemKind), u64),
    Dead(GroupId, String),
    Relations(Pair, Vec<SealedRelation>),
}

/// The whole content of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// The number of the last transaction.
    pub generation: u64,
    pub items: BTreeMap<ItemId, Record>,
    /// Names of items whose records were dropped, but for those that `dense` says.
    pub spent: BTreeSet<ItemId>,
    pub revoked: BTreeMap<GroupId, String>,
    /// For each group and kind, the first sequence number that is still unused, and so are all
    /// later ones.
    pub numbers: BTreeMap<(GroupId, ItemKind), u64>,
    /// For each group and kind, up to which sequence number all names are in use or were used, so
    /// that a long run of used names takes one row.
    pub dense: BTreeMap<(GroupId, ItemKind), u64>,
    /// Relations, the latest first.
    pub relations: BTreeMap<Pair, Vec<SealedRelation>>,
}

impl Content {
    /// Applies an edit; returns the rows that it changes.
    pub fn apply(&mut self, edit: &Edit) -> Vec<Row> {
        match edit {
            Edit::Put(id, record) => {
                let series = record.meta.series();
                let number = self.numbers.entry(series).or_default();
                *number = record.meta.following().max(*number);
                let rows = vec![Row::Item(*id, record.clone()), Row::Number(series, *number)];
                self.items.insert(*id, (**record).clone());
                self.condense(series, rows)
            }
            Edit::Forget(id) => {
                let mut rows = vec![Row::NoItem(*id)];
                let Some(record) = self.items.remove(id) else { return rows };
                let (series, number) = (record.meta.series(), record.meta.sequence);
                if self.dense.get(&series).is_none_or(|dense| number >= *dense) {
                    self.spent.insert(*id);
                    rows.push(Row::Spent(*id));
                }
                self.condense(series, rows)
            }
            Edit::Revoke(group, reason) => {
                self.revoked.insert(*group, reason.clone());
                vec![Row::Dead(*group, reason.clone())]
            }
            Edit::Relate(pair, all) => {
                self.relations.insert(*pair, all.clone());
                vec![Row::Relations(*pair, all.clone())]
            }
        }
    }

    /// Extends a series' dense run, whose spent names need no rows of their own any more.
    fn condense(&mut self, series: (GroupId, ItemKind), mut rows: Vec<Row>) -> Vec<Row> {
        let mut dense = self.dense.get(&series).copied().unwrap_or(0);
        loop {
            let id = ItemMeta::name_of(series, dense);
            if self.spent.remove(&id) {
                rows.push(Row::NotSpent(id));
            } else if !self.items.contains_key(&id) {
                break;
            }
            dense += 1;
        }
        self.dense.insert(series, dense);
        rows.push(Row::Dense(series, dense));
        rows
    }

    /// Returns whether the name of an item with these metadata is in use or was used.
    pub fn is_taken(&self, meta: &ItemMeta) -> bool {
        let id = meta.id();
        self.dense.get(&meta.series()).is_some_and(|dense| meta.sequence < *dense)
            || self.spent.contains(&id)
            || self.items.contains_key(&id)
    }

    /// Returns which of these names were used. This takes time for all names that ever were.
    pub fn used_before(&self, ids: &BTreeSet<ItemId>) -> BTreeSet<ItemId> {
        let mut used: BTreeSet<ItemId> = ids.intersection(&self.spent).copied().collect();
        if ids.is_empty() {
            return used;
        }
        for (series, dense) in &self.dense {
            let names = (0..*dense).map(|number| ItemMeta::name_of(*series, number));
            used.extend(names.filter(|id| ids.contains(id) && !self.items.contains_key(id)));
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(sequence: u64) -> Record {
        let meta = ItemMeta {
            kind: ItemKind::Prepared,
            protocol: "wrk".to_string(),
            group: [1; 32],
            party: 0.into(),
            peers: Vec::new(),
            dealer: None,
            rho: 40,
            circuit: None,
            name: None,
            sequence,
            counts: vec![1],
            components: Vec::new(),
        };
        let files = vec![SectionFile { holds: Section::Whole, frame: 16, bytes: 5 }];
        Record { meta, state: ItemState::Available, next: vec![0], created: 0, files }
    }

    fn put(content: &mut Content, sequence: u64) -> Vec<Row> {
        let record = item(sequence);
        content.apply(&Edit::Put(record.meta.id(), Box::new(record)))
    }

    /// A commit writes the whole index, so it must not grow with all that ever was used.
    #[test]
    fn a_run_of_used_names_takes_one_row() {
        let mut content = Content::default();
        for sequence in 0..2000 {
            put(&mut content, sequence);
            let rows = content.apply(&Edit::Forget(item(sequence).meta.id()));
            assert!(rows.len() <= 3, "{rows:?}");
        }
        assert!(content.items.is_empty() && content.spent.is_empty());
        assert_eq!((content.dense.len(), content.numbers.len()), (1, 1));
        assert!(content.is_taken(&item(1999).meta) && !content.is_taken(&item(2000).meta));
        // What was used before there were runs joins one.
        content = Content { spent: (0..50).map(|n| item(n).meta.id()).collect(), ..content };
        content.dense.clear();
        put(&mut content, 50);
        assert!(content.spent.is_empty() && content.is_taken(&item(49).meta));
    }

    /// Whatever the order, the names that are taken are those that were put.
    #[test]
    fn every_name_stays_taken() {
        let order = [3, 0, 7, 1, 2, 4, 9, 8];
        let mut content = Content::default();
        let mut known = BTreeSet::new();
        for (step, sequence) in order.into_iter().enumerate() {
            put(&mut content, sequence);
            known.insert(sequence);
            if step % 3 != 1 {
                content.apply(&Edit::Forget(item(order[step / 2]).meta.id()));
            }
            for sequence in 0..12 {
                let meta = item(sequence).meta;
                assert_eq!(content.is_taken(&meta), known.contains(&sequence), "{sequence}");
                let used = known.contains(&sequence) && !content.items.contains_key(&meta.id());
                let found = content.used_before(&BTreeSet::from([meta.id()]));
                assert_eq!(!found.is_empty(), used, "{sequence}");
            }
        }
        assert!(content.spent.len() < 3, "{:?}", content.spent);
    }

    /// Reasons are printed, so a forged one must neither control a terminal nor fill it.
    #[test]
    fn a_reason_that_cannot_be_printed_is_refused() {
        let record =
            |reason: &str| Record { state: ItemState::Void(reason.to_string()), ..item(0) };
        let read = |reason: &str| {
            let record = record(reason);
            Record::decode(record.meta.id(), &record.encode())
        };
        let longest = "é".repeat(MAX_REASON);
        for reason in ["", "a check failed", &longest] {
            assert_eq!(read(reason), Ok(record(reason)));
        }
        for reason in ["\u{1b}[2J", "two\nlines", "\u{9b}", &(longest + "x")] {
            assert!(read(reason).is_err(), "{reason:?}");
            assert!(read(&shorten(reason)).is_ok());
        }
    }
}
