//! What an item is: its meta, its name, how its files are laid out.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use symbolon_errors::PartyId;

use crate::{Result, StoreError, serde_hex};

/// The session under whose global keys material was made.
///
/// If a check fails in anything of a group, the whole group is revoked.
pub type GroupId = [u8; 32];

/// No item has more sections: enough for a pool with one of each party and some more, among as many
/// parties as metadata can name.
pub const MAX_SECTIONS: usize = MAX_PEERS + 8;
/// No item counts more kinds of records.
pub const MAX_COUNTERS: usize = 4096;
/// No item has more peers.
pub const MAX_PEERS: usize = 1024;
/// The frame size to use without a reason for another, in bytes.
pub const DEFAULT_FRAME: u32 = 1 << 20;
/// The smallest and the largest frame, in bytes.
pub const FRAMES: std::ops::RangeInclusive<u32> = 16..=16 << 20;
/// No text in the metadata is longer, in bytes.
pub(crate) const MAX_TEXT: usize = 128;

/// How an item is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// Function-independent material, taken from the front in ranges of records.
    Pool,
    /// A prepared circuit, taken as a whole.
    Prepared,
}

/// A peer as an item's metadata name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemPeer {
    /// The peer's number.
    pub party: PartyId,
    /// The fingerprint of the key it proved to have; none over an unprotected connection.
    pub fingerprint: Option<String>,
}

/// Everything public about an item. Two items that differ in any of it, but for a circuit's name,
/// do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemMeta {
    /// How it is used up.
    pub kind: ItemKind,
    /// The protocol it was made for.
    pub protocol: String,
    /// The session under whose global keys it was made.
    #[serde(with = "serde_hex")]
    pub group: GroupId,
    /// The party whose share of the material this is.
    pub party: PartyId,
    /// All other parties, ascending by number.
    pub peers: Vec<ItemPeer>,
    /// The dealer whom the parties trusted to deal it, as they named it; none for what they made
    /// among themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealer: Option<String>,
    /// The statistical parameter it was checked with, in bits.
    pub rho: u32,
    /// The digest of the circuit it is for, where it depends on one.
    #[serde(with = "serde_hex::option")]
    pub circuit: Option<[u8; 32]>,
    /// What that circuit is called here, for people: no two items differ by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Which item of this kind in its group, counted by all parties alike.
    pub sequence: u64,
    /// How many records of each sort it holds; `[1]` for a prepared one. Empty until it is
    /// finished.
    pub counts: Vec<u64>,
    /// The kinds of components that a pool has; the last counts are theirs, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ItemComponent>,
}

/// A kind of component in a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemComponent {
    /// What tells it from other kinds.
    #[serde(with = "serde_hex")]
    pub digest: [u8; 32],
    /// What it is called here, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ItemMeta {
    /// The item's name.
    pub fn id(&self) -> ItemId {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon store item id v1");
        hasher.update(&self.group);
        hasher.update(&[match self.kind {
            ItemKind::Pool => 0,
            ItemKind::Prepared => 1,
        }]);
        hasher.update(&self.sequence.to_le_bytes());
        let mut id = [0; 16];
        hasher.finalize_xof().fill(&mut id);
        ItemId(id)
    }

    /// A circuit's name in a form that is kept: other characters than printable ASCII are question
    /// marks, what is too long is cut off, and nothing is no name.
    pub fn printable_name(name: &str) -> Option<String> {
        let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
        let name: String = name.chars().take(MAX_TEXT).map(plain).collect();
        Some(name).filter(|name| !name.is_empty())
    }

    /// The series that the sequence number counts in.
    pub(crate) fn series(&self) -> (GroupId, ItemKind) {
        (self.group, self.kind)
    }

    /// The sequence number after this one.
    pub(crate) fn following(&self) -> u64 {
        self.sequence.saturating_add(1)
    }

    /// Whether the texts and lists are of a sort that is kept; `finished` ones have their counts.
    pub(crate) fn check(&self, finished: bool) -> std::result::Result<(), String> {
        check_text("protocol", &self.protocol)?;
        if self.peers.len() > MAX_PEERS {
            return Err(format!("more than {MAX_PEERS} peers"));
        }
        if let Some(dealer) = &self.dealer {
            check_text("dealer", dealer)?;
        }
        if let Some(name) = &self.name {
            check_text("name", name)?;
        }
        if self.components.len() > MAX_COUNTERS {
            return Err(format!("more than {MAX_COUNTERS} kinds of components"));
        }
        for name in self.components.iter().filter_map(|component| component.name.as_ref()) {
            check_text("component's name", name)?;
        }
        for peer in &self.peers {
            if let Some(print) = &peer.fingerprint {
                check_text("fingerprint", print)?;
            }
        }
        if !self.peers.windows(2).all(|pair| pair[0].party < pair[1].party) {
            return Err("the peers are not in ascending order".to_string());
        }
        if self.peers.iter().any(|peer| peer.party == self.party) {
            return Err("a party is its own peer".to_string());
        }
        if !finished {
            return match self.counts.is_empty() {
                true => Ok(()),
                false => Err("counts are given when the item is finished, not before".to_string()),
            };
        }
        match self.kind {
            ItemKind::Prepared if self.counts != [1] => {
                Err("a prepared item counts [1]".to_string())
            }
            ItemKind::Pool if self.counts.is_empty() || self.counts.len() > MAX_COUNTERS => {
                Err(format!("a pool has between one and {MAX_COUNTERS} counts"))
            }
            ItemKind::Pool if self.components.len() > self.counts.len() => {
                Err("a pool has a count for each kind of component".to_string())
            }
            ItemKind::Prepared if !self.components.is_empty() => {
                Err("a prepared item lists no components".to_string())
            }
            ItemKind::Pool if self.counts.iter().all(|&count| count == 0) => {
                Err("the pool is empty".to_string())
            }
            _ => Ok(()),
        }
    }
}

fn check_text(what: &str, text: &str) -> std::result::Result<(), String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    match !text.is_empty() && text.len() <= MAX_TEXT && plain {
        true => Ok(()),
        false => {
            Err(format!("the {what} is not between 1 and {MAX_TEXT} printable ASCII characters"))
        }
    }
}

/// The name of an item: the same on all parties, since it is made of group, kind and sequence
/// number.
///
/// Written as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(#[serde(with = "serde_hex")] pub [u8; 16]);

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemId({self})")
    }
}

impl FromStr for ItemId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        let mut bytes = [0; 16];
        hex::decode_to_slice(text.trim(), &mut bytes).map_err(|_| {
            StoreError::Invalid("no name of an item: 32 hexadecimal digits are needed".to_string())
        })?;
        Ok(ItemId(bytes))
    }
}

/// What a section of an item holds, and so which bytes of it go with which records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Section {
    /// Bytes of any length. A caller that takes any part of the item may read all of them, so what
    /// is used only once is not kept here in a pool, unless the reader sees to it that ranges stay
    /// apart.
    Whole,
    /// Records of one fixed size, densely packed. A caller that takes a range of records may read
    /// exactly these.
    Records {
        /// The index in [`ItemMeta::counts`] of how many there are.
        counter: usize,
        /// The size of a record in bits. If it is no multiple of 8, ranges start and end at whole
        /// bytes.
        bits: u64,
    },
}

impl Section {
    /// How many bytes a finished section has, where that follows from the counts.
    ///
    /// # Errors
    /// There is no such counter, or the section would be impossibly long.
    pub(crate) fn length(&self, counts: &[u64]) -> std::result::Result<Option<u64>, String> {
        let Section::Records { counter, bits } = *self else { return Ok(None) };
        let count = counts.get(counter).ok_or_else(|| format!("there is no counter {counter}"))?;
        let bits = count.checked_mul(bits).ok_or("a section is impossibly long")?;
        Ok(Some(bits.div_ceil(8)))
    }

    /// Which bytes of a section of `length` bytes hold records `from..upto` of `count`.
    ///
    /// # Errors
    /// The range does not start and end at whole bytes.
    pub(crate) fn bytes(
        &self,
        length: u64,
        from: &[u64],
        upto: &[u64],
        counts: &[u64],
    ) -> std::result::Result<std::ops::Range<u64>, String> {
        let Section::Records { counter, bits } = *self else { return Ok(0..length) };
        let edge = |at: &[u64]| {
            let (record, count) = (at[counter], counts[counter]);
            // No overflow: records are at most as many as `count`, whose bits were counted in
            // `length`.
            match record.checked_mul(bits) {
                _ if record == count => Ok(length),
                Some(bit) if bit % 8 == 0 => Ok(bit / 8),
                _ => Err(format!(
                    "records of {bits} bits are taken in ranges that start and end at whole bytes, not \
                     at {record}"
                )),
            }
        };
        // What was exhausted before leaves nothing to read, wherever its last byte ends.
        if from[counter] == upto[counter] {
            return Ok(0..0);
        }
        Ok(edge(from)?..edge(upto)?)
    }
}

/// Which items one is looking for; what is `None` may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// How it is used up.
    pub kind: Option<ItemKind>,
    /// The protocol.
    pub protocol: Option<String>,
    /// The session it was made in.
    pub group: Option<GroupId>,
    /// The party whose share it is.
    pub party: Option<PartyId>,
    /// All peers, with exactly these keys.
    pub peers: Option<Vec<ItemPeer>>,
    /// Who may have dealt it, any of these; `None` among them stands for what the parties made
    /// among themselves.
    pub dealers: Option<Vec<Option<String>>>,
    /// The statistical parameter, exactly.
    pub rho: Option<u32>,
    /// The circuit's digest; `Some(None)` for material that depends on none.
    pub circuit: Option<Option<[u8; 32]>>,
}

impl Filter {
    /// Whether an item with these metadata is one of those looked for.
    pub fn fits(&self, meta: &ItemMeta) -> bool {
        fn fits<T: PartialEq>(wanted: &Option<T>, found: &T) -> bool {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        }
        fits(&self.kind, &meta.kind)
            && fits(&self.protocol, &meta.protocol)
            && fits(&self.group, &meta.group)
            && fits(&self.party, &meta.party)
            && fits(&self.peers, &meta.peers)
            && self.dealers.as_ref().is_none_or(|dealers| dealers.contains(&meta.dealer))
            && fits(&self.rho, &meta.rho)
            && fits(&self.circuit, &meta.circuit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta() -> ItemMeta {
        let peer = |party: u16, print: Option<&str>| ItemPeer {
            party: party.into(),
            fingerprint: print.map(Into::into),
        };
        ItemMeta {
            kind: ItemKind::Pool,
            protocol: "ywz".to_string(),
            group: [1; 32],
            party: 1.into(),
            peers: vec![peer(0, Some("ab")), peer(2, None)],
            dealer: Some("here".to_string()),
            rho: 40,
            circuit: None,
            name: None,
            sequence: 0,
            counts: vec![5, 0],
            components: Vec::new(),
        }
    }

    fn is_kept(finished: bool, change: impl Fn(&mut ItemMeta)) -> bool {
        let mut changed = meta();
        change(&mut changed);
        changed.check(finished).is_ok()
    }

    #[test]
    fn texts_are_short_and_plain() {
        let texts = [
            ("a", true),
            ("two words", true),
            ("", false),
            ("a\n", false),
            ("\u{e9}", false),
            ("\u{7f}", false),
        ];
        let longest = "x".repeat(MAX_TEXT);
        let too_long = "x".repeat(MAX_TEXT + 1);
        for (text, kept) in texts.into_iter().chain([(&*longest, true), (&*too_long, false)]) {
            assert_eq!(is_kept(true, |meta| meta.protocol = text.into()), kept, "{text:?}");
            assert_eq!(is_kept(true, |meta| meta.dealer = Some(text.into())), kept, "{text:?}");
            assert_eq!(is_kept(true, |meta| meta.name = Some(text.into())), kept, "{text:?}");
            let name = ItemMeta::printable_name(text);
            assert_eq!(name.is_none(), text.is_empty());
            assert!(is_kept(true, |meta| meta.name = name.clone()), "{text:?}");
            let print = |meta: &mut ItemMeta| meta.peers[0].fingerprint = Some(text.into());
            assert_eq!(is_kept(true, print), kept, "{text:?}");
        }
        assert!(is_kept(true, |meta| meta.dealer = None));
    }

    #[test]
    fn peers_ascend_and_are_others() {
        assert!(is_kept(true, |_| ()));
        assert!(!is_kept(true, |meta| meta.peers.swap(0, 1)));
        assert!(!is_kept(true, |meta| meta.peers[1] = meta.peers[0].clone()));
        assert!(!is_kept(true, |meta| meta.party = 2.into()));
        let peers = |n: usize| {
            let peer = |party: u16| ItemPeer { party: party.into(), fingerprint: None };
            move |meta: &mut ItemMeta| meta.peers = (2..).take(n).map(peer).collect()
        };
        assert!(is_kept(true, peers(MAX_PEERS - 1)));
        assert!(is_kept(true, peers(MAX_PEERS)));
        assert!(!is_kept(true, peers(MAX_PEERS + 1)));
        assert!(!is_kept(true, peers(MAX_PEERS + 2)));
    }

    /// More than 512 MiB in one record, which 32 bits cannot count.
    #[test]
    fn records_may_be_of_any_size_that_a_file_can_have() {
        let section = Section::Records { counter: 0, bits: (1 << 33) + 8 };
        let each = (1 << 30) + 1;
        assert_eq!(section.length(&[3]), Ok(Some(3 * each)));
        assert_eq!(section.bytes(3 * each, &[1], &[2], &[3]), Ok(each..2 * each));
        assert_eq!(section.bytes(3 * each, &[2], &[3], &[3]), Ok(2 * each..3 * each));
        assert!(section.length(&[1 << 32]).is_err(), "no file is that long");
        let whole = Section::Records { counter: 0, bits: u64::MAX };
        assert_eq!(whole.length(&[1]), Ok(Some(1 << 61)));
        assert!(whole.length(&[2]).is_err());
    }

    #[test]
    fn counts_are_given_when_an_item_is_finished() {
        assert!(!is_kept(false, |_| ()));
        assert!(is_kept(false, |meta| meta.counts.clear()));
        let component = |name: &str| ItemComponent { digest: [2; 32], name: Some(name.into()) };
        for (components, kept) in [
            (vec![component("a"), component("b")], true),
            (vec![component("a"); 3], false),
            (vec![component("")], false),
        ] {
            assert_eq!(is_kept(true, |meta| meta.components = components.clone()), kept);
        }
        let counts = |kind: ItemKind, counts: &[u64]| {
            is_kept(true, |meta| (meta.kind, meta.counts) = (kind, counts.to_vec()))
        };
        assert!(counts(ItemKind::Prepared, &[1]));
        for wrong in [&[][..], &[0], &[2], &[1, 1]] {
            assert!(!counts(ItemKind::Prepared, wrong), "{wrong:?}");
        }
        let most = vec![1; MAX_COUNTERS];
        for right in [&[1][..], &[0, 7], &most[1..], &most] {
            assert!(counts(ItemKind::Pool, right), "{}", right.len());
        }
        let (more, many) = (vec![1; MAX_COUNTERS + 1], vec![1; MAX_COUNTERS + 2]);
        for wrong in [&[][..], &[0], &[0, 0], &more, &many] {
            assert!(!counts(ItemKind::Pool, wrong), "{}", wrong.len());
        }
    }

    /// Each thing that is looked for, alone: found if it is the same, not if it is another one.
    #[test]
    fn filters_look_at_everything() {
        let found = |filter: Filter| filter.fits(&meta());
        let any = Filter::default;
        assert!(found(any()));
        let pairs = [
            (
                Filter { kind: Some(ItemKind::Pool), ..any() },
                Filter { kind: Some(ItemKind::Prepared), ..any() },
            ),
            (
                Filter { protocol: Some("ywz".into()), ..any() },
                Filter { protocol: Some("wrk".into()), ..any() },
            ),
            (Filter { group: Some([1; 32]), ..any() }, Filter { group: Some([2; 32]), ..any() }),
            (Filter { party: Some(1.into()), ..any() }, Filter { party: Some(0.into()), ..any() }),
            (
                Filter { peers: Some(meta().peers), ..any() },
                Filter { peers: Some(vec![]), ..any() },
            ),
            (
                Filter { dealers: Some(vec![None, Some("here".into())]), ..any() },
                Filter { dealers: Some(vec![None]), ..any() },
            ),
            (Filter { rho: Some(40), ..any() }, Filter { rho: Some(64), ..any() }),
            (
                Filter { circuit: Some(None), ..any() },
                Filter { circuit: Some(Some([3; 32])), ..any() },
            ),
        ];
        for (same, other) in pairs {
            assert!(found(same.clone()), "{same:?}");
            assert!(!found(other.clone()), "{other:?}");
        }
    }
}
