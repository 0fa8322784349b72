//! `symbolon store`.

pub mod args;

use symbolon::circuit::PartyId;
use symbolon::store::{
    Draft, ItemKind, ItemMeta, ItemState, Protection, Store, StoreError, create_key_file,
};
use symbolon::stored::{DAMAGED, DiscardedItems, StoredFunction, discard_unusable, unusable};

use crate::common::cost_table::{align, bytes};
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell};
use crate::common::words::counted;
use crate::parties::store::protection;
use args::{OpenArgs, StoreCommand};

/// Runs `symbolon store`.
///
/// # Errors
/// A usage failure when the store cannot be opened or is damaged.
pub fn command(command: &StoreCommand) -> CliResult<()> {
    match command {
        #[cfg(feature = "service")]
        StoreCommand::Ls { store, node, json } => {
            let functions = functions(node.as_deref())?;
            list(&open(store)?, functions.as_deref(), *json)
        }
        #[cfg(not(feature = "service"))]
        StoreCommand::Ls { store, json } => list(&open(store)?, None, *json),
        StoreCommand::Verify(store) => verify(&open(store)?),
        #[cfg(feature = "service")]
        StoreCommand::Gc { store, node } => {
            let functions = functions(node.as_deref())?;
            collect(&open(store)?, functions.as_deref())
        }
        #[cfg(not(feature = "service"))]
        StoreCommand::Gc { store } => collect(&open(store)?, None),
        StoreCommand::Export { store, item } => {
            print(&format!("{}\n", open(store)?.describe(item.parse()?)?))
        }
        StoreCommand::Encrypt { store, new_store_key, new_store_passphrase } => {
            encrypt(store, protection(new_store_key.as_deref(), new_store_passphrase.as_deref())?)
        }
        StoreCommand::ResetOwnership(args) => {
            Store::reset_ownership(&args.directory, &protection_of(args)?)?;
            tell("the store belongs here now; everything that was in it is void\n");
            Ok(())
        }
        StoreCommand::Keygen { out } => {
            create_key_file(out)?;
            tell(&format!(
                "wrote {}: anyone who has it can read the stores it opens; without it they are lost\n",
                out.display()
            ));
            Ok(())
        }
    }
}

fn open(args: &OpenArgs) -> CliResult<Store> {
    Ok(Store::open(&args.directory, &protection_of(args)?)?)
}

/// Returns the functions of a node, if there are settings.
#[cfg(feature = "service")]
fn functions(settings: Option<&std::path::Path>) -> CliResult<Option<Vec<StoredFunction>>> {
    let settings = settings.map(crate::settings::node::NodeSettings::read).transpose()?;
    settings.map(|settings| settings.stored_functions()).transpose()
}

fn encrypt(args: &OpenArgs, new: Protection) -> CliResult<()> {
    if matches!(new, Protection::None) {
        return Err(CliError::usage(
            "encrypt with what? Say --new-store-key FILE or --new-store-passphrase FILE",
        )
        .with_hint("`symbolon store keygen --out FILE` makes a key file"));
    }
    Store::encrypt(&args.directory, &protection_of(args)?, &new)?;
    tell("the store is encrypted; what was in it is there, and opens with the new key only\n");
    Ok(())
}

fn protection_of(args: &OpenArgs) -> CliResult<Protection> {
    protection(args.store_key.as_deref(), args.store_passphrase.as_deref())
}

/// What `store ls --json` prints.
#[derive(serde::Serialize)]
struct ListJson {
    /// `symbolon-store-1`.
    format: &'static str,
    /// Pools and prepared circuits.
    items: Vec<ItemJson>,
    /// What is not closed yet.
    writing: Vec<DraftJson>,
}

/// What is being written. What its process died before it said is null.
#[derive(serde::Serialize)]
struct DraftJson {
    /// `pool` or `prepared`.
    kind: Option<ItemKind>,
    /// The protocol.
    protocol: Option<String>,
    /// The circuit's digest.
    circuit: Option<String>,
    /// What the circuit was called.
    name: Option<String>,
    /// Whether its process still works on it; `gc` removes what is not.
    alive: bool,
    /// Its size so far.
    bytes: u64,
    /// When it was begun, in seconds since 1970.
    begun: u64,
}

/// A pool or a prepared circuit.
#[derive(serde::Serialize)]
struct ItemJson {
    /// Its name.
    item: String,
    /// `pool` or `prepared`.
    kind: ItemKind,
    /// The protocol.
    protocol: String,
    /// This party.
    party: PartyId,
    /// How many parties made it.
    parties: usize,
    /// The dealer that dealt it, or dealt the material it was made from; null for what the parties
    /// made.
    dealer: Option<String>,
    /// Statistical security in bits.
    rho: u32,
    /// The circuit's digest.
    circuit: Option<String>,
    /// What the circuit was called where it was prepared.
    name: Option<String>,
    /// `available`, `used` or `void`.
    state: &'static str,
    /// Why it can no longer be used: why it is void, what is all gone from a pool, or that a peer
    /// does not know it any more.
    reason: Option<String>,
    /// Runs; of a pool chunks of 128 gates, then input bits of each party.
    left: Vec<u64>,
    /// What is left of each kind of component, in a pool of components.
    components: Vec<StoredComponentJson>,
    /// Its size; 0 once all of it is used, when its files are removed.
    bytes: u64,
    /// When it was made, in seconds since 1970.
    created: u64,
}

/// A kind of component in a pool.
#[derive(serde::Serialize)]
struct StoredComponentJson {
    /// Its digest.
    digest: String,
    /// Its name where it was made.
    name: Option<String>,
    /// How many are left.
    left: u64,
}

/// Returns what is left of each kind of component, from the last of the counts.
fn components(meta: &ItemMeta, left: &[u64]) -> Vec<StoredComponentJson> {
    let first = left.len().saturating_sub(meta.components.len());
    let kinds = meta.components.iter().zip(&left[first..]);
    let kinds = kinds.map(|(kind, left)| StoredComponentJson {
        digest: hex::encode(kind.digest),
        name: kind.name.clone(),
        left: *left,
    });
    kinds.collect()
}

/// Returns what is all gone from a pool of gates of which something is left: circuits take gates
/// and input bits.
fn all_gone(meta: &ItemMeta, left: &[u64]) -> Option<String> {
    let is_of_gates = meta.kind == ItemKind::Pool && meta.components.is_empty();
    let (gates, inputs) = left.split_first().filter(|_| is_of_gates)?;
    match (*gates, inputs.iter().all(|bits| *bits == 0)) {
        (0, _) => Some("no gates are left".to_string()),
        (_, true) => Some("no input bits are left".to_string()),
        _ => None,
    }
}

/// Formats `20 × aes128, 1 × leftover gates`.
fn component_words(components: &[StoredComponentJson]) -> String {
    let one = |kind: &StoredComponentJson| {
        format!("{} × {}", kind.left, kind.name.as_deref().unwrap_or(&kind.digest[..8]))
    };
    components.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn list(store: &Store, functions: Option<&[StoredFunction]>, json: bool) -> CliResult<()> {
    let entries = store.list()?;
    let drafts = store.drafts()?;
    let unusable = unusable(store, functions)?;
    let item = |entry: &symbolon::store::Entry| {
        let meta = &entry.meta;
        let left = match entry.state {
            ItemState::Available => {
                meta.counts.iter().zip(&entry.next).map(|(all, next)| all - next).collect()
            }
            _ => vec![0; meta.counts.len()],
        };
        let (state, reason) = match &entry.state {
            ItemState::Available => {
                let why = unusable.get(&entry.id).map(|why| why.text().to_string());
                ("available", why.or_else(|| all_gone(meta, &left)))
            }
            ItemState::Used => ("used", None),
            ItemState::Void(reason) => ("void", Some(reason.clone())),
        };
        let components = components(meta, &left);
        ItemJson {
            item: entry.id.to_string(),
            kind: meta.kind,
            protocol: meta.protocol.clone(),
            party: meta.party,
            parties: meta.peers.len() + 1,
            dealer: meta.dealer.clone(),
            rho: meta.rho,
            circuit: meta.circuit.map(hex::encode),
            name: meta.name.clone(),
            state,
            reason,
            left,
            components,
            bytes: if entry.state == ItemState::Used { 0 } else { entry.bytes },
            created: entry.created,
        }
    };
    let items: Vec<ItemJson> = entries.iter().map(item).collect();
    if json {
        let writing = drafts.iter().map(draft_json).collect();
        return print_json(&ListJson { format: "symbolon-store-1", items, writing });
    }
    let mut rows = vec![
        ["item", "what", "protocol", "party", "made by", "state", "left", "size"].map(String::from),
    ];
    for item in &items {
        let chunk = symbolon::stored::GATES_PER_CHUNK as u64;
        let (what, left) = match item.kind {
            ItemKind::Pool if !item.components.is_empty() => {
                ("pool".to_string(), component_words(&item.components))
            }
            ItemKind::Pool => {
                let gates = item.left.first().copied().unwrap_or(0) * chunk;
                let inputs = item.left.iter().skip(1).min().copied().unwrap_or(0);
                ("pool".to_string(), format!("{gates} gates, {inputs} input bits"))
            }
            ItemKind::Prepared => {
                let left = if item.left == [1] { "1 run" } else { "nothing" };
                (circuit_name(item.circuit.as_deref(), item.name.as_deref()), left.to_string())
            }
        };
        let state = match (&item.reason, item.state) {
            (Some(reason), "available") => match item.kind {
                ItemKind::Prepared => format!("unusable: {reason}"),
                ItemKind::Pool => format!("spent: {reason}"),
            },
            (Some(reason), state) => format!("{state}: {reason}"),
            (None, state) => state.to_string(),
        };
        let party = format!("{} of {}", item.party, item.parties);
        rows.push([
            item.item.clone(),
            what,
            item.protocol.clone(),
            party,
            made_by(item.dealer.as_deref()),
            state,
            left,
            if item.state == "used" { "-".to_string() } else { bytes(item.bytes) },
        ]);
    }
    rows.extend(drafts.iter().map(draft_row));
    print(&align(&rows, 7))
}

/// Formats `aes128 (3f2a81c0…)`, since circuits of the same name can differ.
fn circuit_name(digest: Option<&str>, name: Option<&str>) -> String {
    let digest = digest.unwrap_or_default();
    let digest = digest.get(..8).unwrap_or(digest);
    match name {
        Some(name) => format!("{name} ({digest}…)"),
        None => format!("circuit {digest}…"),
    }
}

fn draft_json(draft: &Draft) -> DraftJson {
    let meta = draft.meta.as_ref();
    DraftJson {
        kind: meta.map(|meta| meta.kind),
        protocol: meta.map(|meta| meta.protocol.clone()),
        circuit: meta.and_then(|meta| meta.circuit).map(hex::encode),
        name: meta.and_then(|meta| meta.name.clone()),
        alive: draft.alive,
        bytes: draft.bytes,
        begun: draft.begun,
    }
}

fn draft_row(draft: &Draft) -> [String; 8] {
    let state = if draft.alive { "being written" } else { "half-written: gc removes it" };
    let (state, bytes) = (state.to_string(), bytes(draft.bytes));
    let nothing = || "-".to_string();
    let Some(meta) = &draft.meta else {
        let [item, what, protocol, party, maker, left] = [(); 6].map(|()| nothing());
        return [item, what, protocol, party, maker, state, left, bytes];
    };
    let what = match meta.kind {
        ItemKind::Pool => "pool".to_string(),
        ItemKind::Prepared => {
            circuit_name(meta.circuit.map(hex::encode).as_deref(), meta.name.as_deref())
        }
    };
    let party = format!("{} of {}", meta.party, meta.peers.len() + 1);
    let maker = made_by(meta.dealer.as_deref());
    [meta.id().to_string(), what, meta.protocol.clone(), party, maker, state, nothing(), bytes]
}

/// Returns who has to be trusted for it.
fn made_by(dealer: Option<&str>) -> String {
    match dealer {
        Some(dealer) if dealer.len() == 64 => format!("dealer {}…", &dealer[..8]),
        Some(dealer) => format!("dealer {dealer}"),
        None => "the parties".to_string(),
    }
}

/// Reads all that is left, and voids what is damaged, so that nobody tries to use it.
fn verify(store: &Store) -> CliResult<()> {
    let report = store.verify(|_| ())?;
    let (mut damaged, mut unread) = (Vec::new(), 0u64);
    for (id, result) in &report {
        let Err(error) = result else {
            print(&format!("{id}  whole\n"))?;
            continue;
        };
        match StoreError::damaged_item(error) {
            Some(_) => damaged.push(*id),
            None => unread += 1,
        }
        print(&format!("{id}  {error}\n"))?;
    }
    if !damaged.is_empty() {
        store.void(&damaged, DAMAGED)?;
    }
    match (damaged.len(), unread) {
        (0, 0) => Ok(()),
        (0, n) => Err(CliError::usage(format!("{} could not be read", counted(n, "item")))),
        (1, _) => Err(CliError::usage("1 item is damaged; it is void now and will not be used")),
        (n, _) => {
            let text = format!("{n} items are damaged; they are void now and will not be used");
            Err(CliError::usage(text))
        }
    }
}

/// Removes what is not needed; with the functions of a node also what that cannot use.
fn collect(store: &Store, functions: Option<&[StoredFunction]>) -> CliResult<()> {
    let discarded = match functions {
        Some(_) => discard_unusable(store, functions, |_| true)?,
        None => DiscardedItems::default(),
    };
    let collected = store.gc()?;
    print(&format!(
        "no longer listed: {}; removed: {}, {}; freed: {}\n",
        counted(collected.items.len() as u64, "used or void item"),
        counted(collected.drafts as u64, "half-written item"),
        counted(collected.orphans as u64, "stray folder"),
        bytes(collected.bytes)
    ))?;
    if collected.busy + discarded.busy > 0 {
        tell(&format!("{} are in use and stay\n", collected.busy + discarded.busy));
    }
    Ok(())
}
