//! Metadata of an item: its description, its name, and the layout of its files.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use symbolon_common::PartyId;

use crate::{ItemId, Result, StoreError, serde_hex};

/// Identifies the session under whose global keys material was made.
///
/// A failed check on any material of a group revokes the whole group.
pub type GroupId = [u8; 32];

/// The maximum number of sections of an item: enough for a pool with one section for each peer and
/// a few more, with as many peers as metadata can name.
pub const MAX_SECTIONS: usize = MAX_PEERS + 8;
/// The maximum number of counters of an item.
pub const MAX_COUNTERS: usize = 4096;
/// The maximum number of peers of an item.
pub const MAX_PEERS: usize = 1024;
/// The default frame size, in bytes.
pub const DEFAULT_FRAME: u32 = 1 << 20;
/// The allowed frame sizes, in bytes.
pub const FRAMES: std::ops::RangeInclusive<u32> = 16..=16 << 20;
/// The maximum length of a text in the metadata, in bytes.
pub(crate) const MAX_TEXT: usize = 128;

/// How an item is consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// Function-independent material, taken from the front in ranges of records.
    Pool,
    /// A prepared circuit, taken as a whole.
    Prepared,
}

/// A peer in the metadata of an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemPeer {
    /// The peer's number.
    pub party: PartyId,
    /// The fingerprint of the key that the peer proved to hold; `None` over an unprotected
    /// connection.
    pub fingerprint: Option<String>,
}

/// The public metadata of an item. Two items fit together only if they agree in all of it except
/// the name of the circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemMeta {
    /// How it is consumed.
    pub kind: ItemKind,
    /// The protocol that it was made for.
    pub protocol: String,
    /// The session under whose global keys it was made.
    #[serde(with = "serde_hex")]
    pub group: GroupId,
    /// The party whose share of the material this is.
    pub party: PartyId,
    /// All other parties, ascending by number.
    pub peers: Vec<ItemPeer>,
    /// The name of the trusted dealer that dealt it; `None` for material that the parties made
    /// themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealer: Option<String>,
    /// The statistical security parameter it was checked with, in bits.
    pub rho: u32,
    /// The digest of its circuit, if it depends on one.
    #[serde(with = "serde_hex::option")]
    pub circuit: Option<[u8; 32]>,
    /// The local name of that circuit, for people. It does not distinguish items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sequence number within this group and kind, the same at all parties.
    pub sequence: u64,
    /// The number of records of each sort; `[1]` for a prepared item. Empty until the item is
    /// finished.
    pub counts: Vec<u64>,
    /// The kinds of components in a pool. The last counts are theirs, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ItemComponent>,
}

/// A kind of component in a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemComponent {
    /// Identifies the kind.
    #[serde(with = "serde_hex")]
    pub digest: [u8; 32],
    /// The local name of the kind, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ItemMeta {
    /// Returns the item's name.
    pub fn id(&self) -> ItemId {
        ItemMeta::name_of(self.series(), self.sequence)
    }

    /// Returns the name of the item with this number of a series.
    pub(crate) fn name_of((group, kind): (GroupId, ItemKind), sequence: u64) -> ItemId {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon store item id v1");
        hasher.update(&group);
        hasher.update(&[match kind {
            ItemKind::Pool => 0,
            ItemKind::Prepared => 1,
        }]);
        hasher.update(&sequence.to_le_bytes());
        let mut id = [0; 16];
        hasher.finalize_xof().fill(&mut id);
        ItemId(id)
    }

    /// Returns a circuit's name in the form that is stored: characters other than printable ASCII
    /// become question marks, and long names are truncated. Returns `None` for an empty name.
    pub fn printable_name(name: &str) -> Option<String> {
        let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
        let name: String = name.chars().take(MAX_TEXT).map(plain).collect();
        Some(name).filter(|name| !name.is_empty())
    }

    /// Returns the series that the sequence number belongs to.
    pub(crate) fn series(&self) -> (GroupId, ItemKind) {
        (self.group, self.kind)
    }

    /// Returns the next sequence number.
    pub(crate) fn following(&self) -> u64 {
        self.sequence.saturating_add(1)
    }

    /// Checks that texts and lists are valid; `finished` metadata must have counts.
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

/// What a section of an item holds, which determines the bytes of each range of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Section {
    /// Bytes of any length. A caller that takes any part of the item may read all of them. So a
    /// pool keeps single-use material here only if the reader keeps ranges apart.
    Whole,
    /// Densely packed records of one fixed size. A caller that takes a range of records may read
    /// exactly those.
    Records {
        /// The index of their number in [`ItemMeta::counts`].
        counter: usize,
        /// The size of a record in bits. If it is not a multiple of 8, ranges must start and end at
        /// whole bytes.
        bits: u64,
    },
}

impl Section {
    /// Returns the length of a finished section in bytes; `None` if it does not follow from the
    /// counts.
    ///
    /// # Errors
    /// There is no such counter, or the section would be too long.
    pub(crate) fn length(&self, counts: &[u64]) -> std::result::Result<Option<u64>, String> {
        let Section::Records { counter, bits } = *self else { return Ok(None) };
        let count = counts.get(counter).ok_or_else(|| format!("there is no counter {counter}"))?;
        let bits = count.checked_mul(bits).ok_or("a section is impossibly long")?;
        Ok(Some(bits.div_ceil(8)))
    }

    /// Returns which bytes of a section of `length` bytes hold records `from..upto` of `count`.
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
            // No overflow: `record` is at most `count`, and `length` already covers the bits of
            // `count` records.
            match record.checked_mul(bits) {
                _ if record == count => Ok(length),
                Some(bit) if bit % 8 == 0 => Ok(bit / 8),
                _ => Err(format!(
                    "records of {bits} bits are taken in ranges that start and end at whole bytes, not \
                     at {record}"
                )),
            }
        };
        // An exhausted counter leaves nothing to read, wherever its last byte ends.
        if from[counter] == upto[counter] {
            return Ok(0..0);
        }
        Ok(edge(from)?..edge(upto)?)
    }
}

/// Selects items; a field that is `None` matches anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// How the item is consumed.
    pub kind: Option<ItemKind>,
    /// The protocol.
    pub protocol: Option<String>,
    /// The session in which it was made.
    pub group: Option<GroupId>,
    /// The party whose share it is.
    pub party: Option<PartyId>,
    /// All peers, with exactly these keys.
    pub peers: Option<Vec<ItemPeer>>,
    /// The accepted dealers. `None` among them accepts material that the parties made themselves.
    pub dealers: Option<Vec<Option<String>>>,
    /// The exact statistical security parameter.
    pub rho: Option<u32>,
    /// The circuit's digest; `Some(None)` for material that depends on none.
    pub circuit: Option<Option<[u8; 32]>>,
}

impl Filter {
    /// Returns whether an item with these metadata matches.
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

    /// More than 512 MiB in one record, which is beyond 2^32 bits.
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

    /// Each field alone must match an equal value and reject a different one.
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
