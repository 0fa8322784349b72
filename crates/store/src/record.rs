//! The content of the index: records of items, used names, and revoked groups.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::frame::Geometry;
use crate::meta::{FRAMES, MAX_SECTIONS};
use crate::{GroupId, ItemId, ItemKind, ItemMeta, Section};

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

/// One change of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Adds an item, or updates its record.
    Put(ItemId, Box<Record>),
    /// Drops the record of an item; its name stays used.
    Forget(ItemId),
    /// Revokes a group.
    Revoke(GroupId, String),
}

/// The whole content of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// The number of the last transaction.
    pub generation: u64,
    pub items: BTreeMap<ItemId, Record>,
    /// Names of items whose records were dropped.
    pub spent: BTreeSet<ItemId>,
    pub revoked: BTreeMap<GroupId, String>,
    /// For each group and kind, the first sequence number that is still unused, and so are all
    /// later ones.
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
