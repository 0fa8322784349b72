//! What the index knows: records of items, names that were used up, revoked groups.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::frame::Geometry;
use crate::meta::{FRAMES, MAX_SECTIONS};
use crate::{GroupId, ItemId, ItemKind, ItemMeta, Section};

/// No reason is kept longer, in characters.
const MAX_REASON: usize = 200;

/// A reason in a form that can be kept and printed.
pub(crate) fn shorten(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect()
}

/// What may be done with an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ItemState {
    /// There is something left to take.
    Available,
    /// All of it was handed out.
    Used,
    /// It must not be used, for this reason.
    Void(String),
}

/// What the index keeps of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What it is.
    #[serde(rename = "stamp")]
    pub meta: ItemMeta,
    /// What is left of it.
    pub state: ItemState,
    /// The first record of each count that was never handed out.
    pub next: Vec<u64>,
    /// When it was finished, in seconds since 1970.
    pub created: u64,
    /// Its files.
    pub files: Vec<SectionFile>,
}

/// What the index keeps of a section's file.
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
    /// Reads what the index keeps of the item `id`.
    ///
    /// # Errors
    /// The bytes are not what is kept of it, or do not fit together.
    pub fn decode(id: ItemId, bytes: &[u8]) -> Result<Self, String> {
        let record: Record =
            serde_json::from_slice(bytes).map_err(|_| "is not a record of an item".to_string())?;
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

    /// The bytes of all sections together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes))
    }
}

/// One change of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// A new item, or what is left of one.
    Put(ItemId, Box<Record>),
    /// An item's record is not needed any more; its name stays used.
    Forget(ItemId),
    /// A group is revoked.
    Revoke(GroupId, String),
}

/// All that the index knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Counts the transactions.
    pub generation: u64,
    pub items: BTreeMap<ItemId, Record>,
    /// Names of items whose records are gone.
    pub spent: BTreeSet<ItemId>,
    pub revoked: BTreeMap<GroupId, String>,
    /// For each group, the first sequence number that no item of a kind has had, nor a later one.
    pub numbers: BTreeMap<(GroupId, ItemKind), u64>,
}

impl Content {
    pub fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Put(id, record) => {
                let number = self.numbers.entry(record.meta.series()).or_default();
                *number = record.meta.following().max(*number);
                self.items.insert(*id, (**record).clone());
            }
            Edit::Forget(id) => {
                self.items.remove(id);
                self.spent.insert(*id);
            }
            Edit::Revoke(group, reason) => {
                self.revoked.insert(*group, reason.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reasons are printed, so a forged one must neither control a terminal nor fill it.
    #[test]
    fn a_reason_that_cannot_be_printed_is_refused() {
        let record = |reason: &str| {
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
                sequence: 0,
                counts: vec![1],
                components: Vec::new(),
            };
            let files = vec![SectionFile { holds: Section::Whole, frame: 16, bytes: 5 }];
            let state = ItemState::Void(reason.to_string());
            Record { meta, state, next: vec![0], created: 0, files }
        };
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
