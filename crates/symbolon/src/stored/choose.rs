//! Chooses a prepared circuit that all parties hold, and takes it.

use std::rc::Rc;
use std::time::{Duration, Instant};

use symbolon_protocols::{Compiled, Network, Prepared, Protocol};
use symbolon_store::{AvailableItem, ConsumedItem, Filter, GroupId, GroupLock, ItemId, Store};
use symbolon_transport::{Error, PartyId, Result};

use super::holdings::{Holdings, Page, Pages, Question, Rounds, all_say, available_items, lock};
use super::maker::Origin;
use super::{Agreement, failed, out_of_material};

/// A prepared circuit that all parties hold and have locked.
pub(super) struct Chosen {
    pub id: ItemId,
    pub origin: Origin,
    _lock: GroupLock,
}

/// Chooses a prepared circuit. Waits at most `timeout` for groups that others use.
pub(super) fn choose_prepared(
    network: &mut Network,
    rounds: &mut Rounds,
    (store, filter): (&Store, &Filter),
    timeout: Duration,
) -> Result<(Chosen, Agreement)> {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let (mut pages, mut agreement) = (Pages::new(), Agreement::default());
        let (mut first_page, mut any_common): (Option<Page>, bool) = (None, false);
        let mut busy: Vec<GroupId> = Vec::new();
        while let Some(page) = pages.next(network, rounds, store, filter)? {
            agreement += page.agreement;
            any_common |= !page.both.is_empty();
            for &place in &page.both {
                let item = &page.items[place];
                if busy.contains(&item.group) {
                    continue;
                }
                if let Some(lock) = lock(network, rounds, store, filter, item)? {
                    let origin = Origin::of(&item.meta);
                    return Ok((Chosen { id: item.id, origin, _lock: lock }, agreement));
                }
                busy.push(item.group);
            }
            first_page.get_or_insert(page);
        }
        if let (Some(Page { items, all, .. }), false) = (&first_page, any_common) {
            let (mut dealers, mut others) = (Vec::new(), None);
            if items.is_empty() {
                dealers = other_dealers(store, filter)?;
                others = prepared_otherwise(store, filter)?;
            }
            if let Some(others) = others.filter(|_| dealers.is_empty()) {
                return Err(out_of_material(others));
            }
            return Err(out_of_material(nothing(items, &dealers, all, network.me)));
        }
        // If any party's time is up, all parties learn it here and end.
        if !all_say(network, rounds, Question::GoOn, begun.elapsed() < timeout)? {
            return Err(out_of_material(
                "all that is prepared is in use by other runs, or still being prepared: try again \
                 when that has ended",
            ));
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(100));
    }
}

/// A prepared circuit that all parties hold, in a group that they have locked.
pub(super) struct ChosenOfMany {
    pub id: ItemId,
    pub origin: Origin,
    _lock: Rc<GroupLock>,
}

/// Chooses `count` prepared circuits, going through the groups one by one. Skips groups that others
/// use instead of waiting for them.
pub(super) fn choose_many(
    network: &mut Network,
    rounds: &mut Rounds,
    (store, filter): (&Store, &Filter),
    count: usize,
) -> Result<(Vec<ChosenOfMany>, Agreement)> {
    let (mut pages, mut agreement) = (Pages::new(), Agreement::default());
    let (mut chosen, mut tried): (Vec<ChosenOfMany>, Vec<GroupId>) = Default::default();
    let mut nothing_here = true;
    while chosen.len() < count
        && let Some(page) = pages.next(network, rounds, store, filter)?
    {
        agreement += page.agreement;
        nothing_here &= page.items.is_empty();
        for &place in &page.both {
            let item = &page.items[place];
            if chosen.len() == count || tried.contains(&item.group) {
                continue;
            }
            tried.push(item.group);
            let Some(lock) = lock(network, rounds, store, filter, item)? else { continue };
            let lock = Rc::new(lock);
            // The lock keeps the rest of the group as it is now.
            let of_group = Filter { group: Some(item.group), ..filter.clone() };
            let mut pages = Pages::new();
            while chosen.len() < count
                && let Some(page) = pages.next(network, rounds, store, &of_group)?
            {
                for &place in page.both.iter().take(count - chosen.len()) {
                    let AvailableItem { id, meta, .. } = &page.items[place];
                    let (id, origin) = (*id, Origin::of(meta));
                    chosen.push(ChosenOfMany { id, origin, _lock: Rc::clone(&lock) });
                }
            }
        }
    }
    if chosen.len() < count {
        if nothing_here && let Some(others) = prepared_otherwise(store, filter)? {
            return Err(out_of_material(others));
        }
        return Err(out_of_material(format!(
            "{count} evaluations need as many prepared circuits, and all parties hold {} that are free: prepare more \
             together",
            chosen.len()
        )));
    }
    Ok((chosen, agreement))
}

/// Returns the dealers of items that would be usable if this session named them.
fn other_dealers(store: &Store, filter: &Filter) -> Result<Vec<String>> {
    let anyones = Filter { dealers: None, ..filter.clone() };
    let mut dealers: Vec<String> =
        available_items(store, &anyones)?.into_iter().filter_map(|item| item.meta.dealer).collect();
    dealers.sort();
    dealers.dedup();
    Ok(dealers)
}

/// The maximum number of ways that a message lists.
const MOST_WAYS: usize = 4;

/// Returns a sentence about the items in the store for this circuit that were prepared in other
/// ways or with other parties; `None` if there are none.
fn prepared_otherwise(store: &Store, filter: &Filter) -> Result<Option<String>> {
    let way = |protocol: &str, rho| format!("{protocol}, ρ = {rho}");
    let ways = |filter: &Filter| {
        let items = available_items(store, filter)?;
        let mut ways: Vec<String> =
            items.iter().map(|item| way(&item.meta.protocol, item.meta.rho)).collect();
        ways.sort();
        ways.dedup();
        let more = if ways.len() > MOST_WAYS { "; …" } else { "" };
        ways.truncate(MOST_WAYS);
        Ok::<_, Error>((!ways.is_empty()).then(|| ways.join("; ") + more))
    };
    let any_way = Filter { protocol: None, rho: None, ..filter.clone() };
    let wanted = match (&filter.protocol, filter.rho) {
        (Some(protocol), Some(rho)) => way(protocol, rho),
        _ => return Ok(None),
    };
    if let Some(ways) = ways(&any_way)? {
        return Ok(Some(format!(
            "this store holds nothing that was prepared for this circuit with these peers as it is to be run \
             ({wanted}), but it was prepared in another way ({ways}): run it with the same protocol, batch, \
             ρ and options of the protocol as it was prepared with, or prepare it together again"
        )));
    }
    let anyone = Filter { party: None, peers: None, ..any_way };
    Ok(ways(&anyone)?.map(|ways| {
        format!(
            "all that this store holds for this circuit ({ways}) was prepared as another party, or with peers of \
             other keys: run it as it was prepared, or prepare it together first"
        )
    }))
}

fn nothing(
    available_items: &[AvailableItem],
    dealers: &[String],
    all: &[Holdings],
    me: PartyId,
) -> String {
    let elsewhere = (0u16..).zip(all).filter(|(party, _)| *party != me);
    let without: Vec<String> = elsewhere
        .filter(|(_, holdings)| holdings.is_empty())
        .map(|(party, _)| format!("party {party}"))
        .collect();
    if let [dealer, ..] = dealers {
        return format!(
            "all that this store holds for this circuit with these peers was made with material of the dealer \
             {dealer}, which is not trusted here: name that dealer to use it, or prepare the circuit together without"
        );
    }
    match (available_items.is_empty(), without.is_empty()) {
        (true, _) => {
            "this store holds nothing that was prepared for this circuit with these peers; \
                      prepare it together first"
                .to_string()
        }
        (false, false) => format!(
            "{} holds nothing that was prepared for this circuit with these peers; prepare it together \
             first",
            without.join(" and ")
        ),
        (false, true) => {
            "no circuit prepared here is in the peers' stores, too: prepare it together again"
                .to_string()
        }
    }
}

/// A prepared circuit that is used up now, and loaded.
pub(super) struct Opened {
    pub prepared: Box<dyn Prepared>,
    /// Its files, which are removed at the end because that takes longer than the run.
    pub taken: ConsumedItem,
    pub chosen: Chosen,
}

impl Chosen {
    /// Marks the item as used on disk, and loads it.
    pub(super) fn take(
        self,
        store: &Store,
        network: &Network,
        circuit: &Compiled,
        protocol: Protocol,
    ) -> Result<Opened> {
        let taken = store.take_prepared(self.id).map_err(failed)?;
        // The section reader holds one frame at a time and wipes it; another buffer would keep the
        // content.
        let mut section = taken.read(0, taken.bytes(0)).map_err(failed)?;
        let prepared = protocol.load_prepared(network, circuit, &mut section)?;
        Ok(Opened { prepared, taken, chosen: self })
    }
}
