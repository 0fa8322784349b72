//! A node's items that can no longer be used: no peer knows what they are bound to, or the node has
//! no function for them.

use std::collections::BTreeMap;

use symbolon_circuit::Circuit;
use symbolon_store::{Filter, GroupId, ItemId, ItemKind, ItemState, Store, StoreError};
use symbolon_transport::{PartyId, Result};

use super::failed;
use super::maker::label;
use super::relation::{PREFIX, known};
use crate::params::SessionParams;

/// Why a node cannot use an item of its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// A peer did not know any more what it is bound to, when it was last there. It could be of use
    /// again if the peer came back with what it had earlier.
    EndedRelation,
    /// The store itself does not know any more what it is bound to: it is of no use ever again.
    ForgottenRelation,
    /// The node has no function whose executions it is one of.
    NoFunction,
}

impl Unusable {
    /// Returns the reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Unusable::EndedRelation => "a peer did not know it any more when it was last there",
            Unusable::ForgottenRelation => "what it is bound to is known no more",
            Unusable::NoFunction => "the node has no function for it",
        }
    }
}

/// Which items are executions of a function of a node.
#[derive(Clone, Debug)]
pub struct StoredFunction(Filter);

impl StoredFunction {
    /// Returns what a party's stored executions of a circuit have in common.
    ///
    /// # Errors
    /// As [`Session::connect`](crate::Session::connect) for options that do not fit the protocol.
    pub fn new(party: PartyId, circuit: &Circuit, params: &SessionParams) -> Result<Self> {
        Ok(StoredFunction(Filter {
            kind: Some(ItemKind::Prepared),
            protocol: Some(label(params)?),
            party: Some(party),
            rho: Some(params.rho.bits()),
            circuit: Some(Some(circuit.digest())),
            ..Filter::default()
        }))
    }
}

/// What [`discard_unusable`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiscardedItems {
    /// Items that are void now.
    pub voided: usize,
    /// Items that stay, because somebody uses their group.
    pub busy: usize,
}

/// Returns the items of nodes that cannot be used, with the reason. Without `functions` it is not
/// asked whether there is a function for an item. Items that no node has made are never among them.
///
/// # Errors
/// `Store`.
pub fn unusable(
    store: &Store,
    functions: Option<&[StoredFunction]>,
) -> Result<BTreeMap<ItemId, Unusable>> {
    Ok(found(store, functions)?.into_iter().map(|(id, (_, why))| (id, why)).collect())
}

fn found(
    store: &Store,
    functions: Option<&[StoredFunction]>,
) -> Result<BTreeMap<ItemId, (GroupId, Unusable)>> {
    let known = known(store)?;
    let mut found = BTreeMap::new();
    for item in store.list().map_err(failed)? {
        let names = item.meta.peers.iter().filter_map(|peer| peer.fingerprint.as_deref());
        let names: Vec<&str> = names.filter(|name| name.starts_with(PREFIX)).collect();
        if names.is_empty() || item.state != ItemState::Available {
            continue;
        }
        let has = |StoredFunction(filter): &StoredFunction| filter.fits(&item.meta);
        let why = match () {
            () if !names.iter().all(|name| known.contains_key(*name)) => {
                Unusable::ForgottenRelation
            }
            () if !names.iter().all(|name| known[*name]) => Unusable::EndedRelation,
            () if functions.is_some_and(|all| !all.iter().any(has)) => Unusable::NoFunction,
            () => continue,
        };
        found.insert(item.id, (item.meta.group, why));
    }
    Ok(found)
}

/// Makes the items void that a node cannot use, for the reasons that `which` chooses; the peers
/// make theirs void when they compare stores. An item whose group somebody uses stays.
///
/// # Errors
/// `Store`.
pub fn discard_unusable(
    store: &Store,
    functions: Option<&[StoredFunction]>,
    which: impl Fn(Unusable) -> bool,
) -> Result<DiscardedItems> {
    let mut groups: BTreeMap<(GroupId, &str), Vec<ItemId>> = BTreeMap::new();
    for (id, (group, why)) in found(store, functions)? {
        if which(why) {
            groups.entry((group, why.text())).or_default().push(id);
        }
    }
    let mut done = DiscardedItems::default();
    for ((group, why), ids) in groups {
        // What a session uses or makes it has locked.
        let lock = match store.lock_group(&group) {
            Ok(Some(lock)) => lock,
            Ok(None) => {
                done.busy += ids.len();
                continue;
            }
            // All of it is void already.
            Err(StoreError::RevokedGroup { .. }) => continue,
            Err(error) => return Err(failed(error)),
        };
        match store.void(&ids, why) {
            Ok(()) => done.voided += ids.len(),
            // Somebody has used it and removed its record meanwhile.
            Err(StoreError::Unknown { .. }) => done.busy += ids.len(),
            Err(error) => return Err(failed(error)),
        }
        drop(lock);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builtin;
    use symbolon_protocols::Protocol;
    use symbolon_store::{DEFAULT_FRAME, ItemMeta, ItemPeer, Protection, Section};

    use super::super::relation::{MAX_RELATIONS, Relation};
    use super::*;

    fn relation(drawn: u8) -> Relation {
        Relation::from_drawn([0.into(), 1.into()], [&[drawn; 16], &[2; 16]])
    }

    /// Puts an execution of a circuit into a store, bound to what `peer` names.
    fn put(store: &Store, circuit: &str, group: u8, peer: &str, sequence: u64) -> ItemId {
        let circuit = builtin::by_name(circuit).unwrap();
        let params = SessionParams::new(Protocol::Wrk);
        let meta = ItemMeta {
            kind: ItemKind::Prepared,
            protocol: label(&params).unwrap(),
            group: [group; 32],
            party: 0.into(),
            peers: vec![ItemPeer { party: 1.into(), fingerprint: Some(peer.to_string()) }],
            dealer: None,
            rho: params.rho.bits(),
            circuit: Some(circuit.digest()),
            name: None,
            sequence,
            counts: Vec::new(),
            components: Vec::new(),
        };
        let mut writer = store.begin(meta, &[Section::Whole], DEFAULT_FRAME).unwrap();
        writer.section(0).put(&[7; 100]).unwrap();
        let closed = writer.close(vec![1]).unwrap();
        let id = closed.id();
        symbolon_store::ClosedItem::publish_all(vec![closed]).unwrap();
        id
    }

    struct World {
        _folder: tempfile::TempDir,
        store: Store,
        functions: [StoredFunction; 1],
    }

    /// A store that knows two relations, of which the peer knew the second when it was last there.
    fn world() -> World {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Protection::None).unwrap();
        for drawn in [1, 2] {
            relation(drawn).keep(&store, 0.into(), 1.into()).unwrap();
        }
        let circuit = builtin::by_name("add:8").unwrap();
        let params = SessionParams::new(Protocol::Wrk);
        let functions = [StoredFunction::new(0.into(), &circuit, &params).unwrap()];
        World { _folder: folder, store, functions }
    }

    #[test]
    fn each_item_has_its_reason_and_those_that_no_node_made_have_none() {
        let World { _folder, store, functions } = world();
        let (old, new) = (relation(1), relation(2));
        put(&store, "add:8", 1, new.name(), 0);
        put(&store, "add:9", 2, &"ab".repeat(32), 0);
        let ended = put(&store, "add:8", 3, old.name(), 0);
        let gone = put(&store, "add:8", 4, relation(3).name(), 0);
        let other = put(&store, "add:9", 5, new.name(), 0);
        let mut expected =
            BTreeMap::from([(ended, Unusable::EndedRelation), (gone, Unusable::ForgottenRelation)]);
        assert_eq!(unusable(&store, None).unwrap(), expected);
        expected.insert(other, Unusable::NoFunction);
        assert_eq!(unusable(&store, Some(&functions)).unwrap(), expected);
        // Another party, protocol or ρ is another function.
        let circuit = builtin::by_name("add:8").unwrap();
        let wrk = SessionParams::new(Protocol::Wrk);
        for (party, params) in [
            (1, wrk.clone()),
            (0, SessionParams::new(Protocol::Ywz)),
            (0, SessionParams { rho: crate::Rho::Bits80, ..wrk }),
        ] {
            let other = [StoredFunction::new(party.into(), &circuit, &params).unwrap()];
            assert_eq!(unusable(&store, Some(&other)).unwrap().len(), 4);
        }
        // A peer that comes back with what it knew earlier makes its items usable again.
        old.keep(&store, 0.into(), 1.into()).unwrap();
        let found = unusable(&store, None).unwrap();
        assert!(!found.contains_key(&ended) && found[&gone] == Unusable::ForgottenRelation);
    }

    #[test]
    fn what_is_discarded_is_void_and_everything_else_stays() {
        let World { _folder, store, functions } = world();
        let (old, new) = (relation(1), relation(2));
        let kept = put(&store, "add:8", 1, new.name(), 0);
        let foreign = put(&store, "add:9", 2, &"ab".repeat(32), 0);
        let ended = put(&store, "add:8", 3, old.name(), 0);
        let busy = [0, 1].map(|sequence| put(&store, "add:9", 4, new.name(), sequence));
        let only = |wanted: Unusable| move |why: Unusable| why == wanted;
        let all = Some(&functions[..]);
        let discard = |which| discard_unusable(&store, all, only(which)).unwrap();
        assert_eq!(discard(Unusable::ForgottenRelation), DiscardedItems::default());
        let lock = store.lock_group(&[4; 32]).unwrap().unwrap();
        let found = discard(Unusable::NoFunction);
        assert_eq!(found, DiscardedItems { voided: 0, busy: 2 });
        drop(lock);
        assert_eq!(discard(Unusable::NoFunction), DiscardedItems { voided: 2, busy: 0 });
        assert_eq!(discard(Unusable::EndedRelation), DiscardedItems { voided: 1, busy: 0 });
        let items = store.available_items(&Filter::default()).unwrap();
        let mut left: Vec<ItemId> = items.iter().map(|item| item.id).collect();
        left.sort();
        let mut expected = vec![kept, foreign];
        expected.sort();
        assert_eq!(left, expected);
        let collected = store.gc().unwrap();
        assert_eq!(collected.items.len(), 3);
        assert!(busy.iter().chain([&ended]).all(|id| collected.items.contains(id)));
    }

    /// A store keeps the last relations only: what is bound to earlier ones is lost.
    #[test]
    fn relations_that_are_pushed_out_are_forgotten() {
        let World { _folder, store, .. } = world();
        let item = put(&store, "add:8", 1, relation(1).name(), 0);
        for drawn in 3..3 + MAX_RELATIONS as u8 {
            relation(drawn).keep(&store, 0.into(), 1.into()).unwrap();
        }
        assert_eq!(unusable(&store, None).unwrap()[&item], Unusable::ForgottenRelation);
    }
}
