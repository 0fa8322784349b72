//! The settings of a node, for `serve` and `call`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use symbolon::circuit::PartyId;
use symbolon::store::Store;
use symbolon::stored::StoredFunction;
use symbolon::{AcceptedKey, Fingerprint, Identity, Listener};
use symbolon_service::{
    Certificate, ClientsConfig, DoorConfig, FunctionConfig, NodeConfig, NodeUpdate, Party,
    PublicDoorConfig, read_client_tokens, read_token,
};
use toml::de::{DeTable, DeValue};

use super::{Number, misplaced, owners, program, receivers, without_values};
use crate::args::given::{ByRun, Given};
use crate::args::labels::Labels;
use crate::args::options::TuningArgs;
use crate::args::program::ProgramArgs;
use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::common::reading::{SETTINGS, read_text};
use crate::parties::connect::listed;
use crate::parties::store::protection;
use crate::source::{CircuitSpec, Loaded, from_folder, looks_like_file};

/// The settings file of a node. Unknown keys are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeFile {
    me: PartyId,
    key: String,
    #[serde(default)]
    old_keys: Vec<String>,
    listen: Option<String>,
    timeout: Option<Number>,
    state: Option<String>,
    store: Option<String>,
    store_key: Option<String>,
    store_passphrase: Option<String>,
    door: DoorFile,
    clients: Option<ClientsDoorFile>,
    party: Vec<NodeParty>,
    functions: BTreeMap<String, FunctionFile>,
}

/// A party: with `fingerprint` or, while it changes its key, several `keys`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeParty {
    id: PartyId,
    address: Option<String>,
    fingerprint: Option<String>,
    #[serde(default)]
    keys: Vec<KeyFile>,
}

/// A key that a party may prove, until a time if there is one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    fingerprint: String,
    until: Option<Until>,
}

/// A time, as a text or as TOML writes it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Until {
    Text(String),
    Time(toml::value::Datetime),
}

impl KeyFile {
    fn key(&self) -> CliResult<AcceptedKey> {
        let until = match &self.until {
            Some(Until::Text(text)) => Some(AcceptedKey::read_until(text)?),
            Some(Until::Time(time)) => Some(AcceptedKey::read_until(&time.to_string())?),
            None => None,
        };
        Ok(AcceptedKey { until, ..self.fingerprint.parse::<Fingerprint>()?.into() })
    }
}

impl NodeParty {
    fn party(&self) -> CliResult<Party> {
        let given = match (&self.fingerprint, &self.keys[..]) {
            (Some(one), []) => vec![one.parse::<Fingerprint>()?.into()],
            (None, [_, ..]) => self.keys.iter().map(KeyFile::key).collect::<CliResult<_>>()?,
            (None, []) => return Err(CliError::usage("the fingerprint of its key is needed")),
            (Some(_), [_, ..]) => {
                return Err(CliError::usage("give `fingerprint`, or several `keys`"));
            }
        };
        Ok(Party { address: self.address.clone(), keys: given })
    }
}

/// Where applications come in: `socket`, or `address` and `token`.
#[derive(Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct DoorFile {
    socket: Option<String>,
    address: Option<SocketAddr>,
    token: Option<String>,
}

/// Where clients come in.
#[derive(Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct ClientsDoorFile {
    address: SocketAddr,
    certificate: Option<String>,
    key: Option<String>,
    #[serde(default)]
    origins: Vec<String>,
    #[serde(default)]
    nodes: Vec<String>,
}

/// What the clients of a function may do.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientsFile {
    tokens: Option<String>,
    seconds: Option<Number>,
    open: Option<usize>,
    per_minute: Option<u32>,
}

/// A function of a node. The parameters of the protocol were taken out before.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionFile {
    circuit: String,
    entry: Option<String>,
    no_cache: Option<bool>,
    #[serde(default)]
    r#const: BTreeMap<String, toml::Value>,
    #[serde(default)]
    owners: BTreeMap<String, toml::Value>,
    #[serde(default)]
    outputs: BTreeMap<String, String>,
    #[serde(default)]
    types: BTreeMap<String, String>,
    #[serde(default)]
    names: BTreeMap<String, String>,
    ready: Option<usize>,
    low: Option<usize>,
    side_by_side: Option<usize>,
    callers: Option<Vec<PartyId>>,
    calls: Option<u64>,
    calls_per_hour: Option<u64>,
    wait: Option<Number>,
    keep: Option<Number>,
    waiting: Option<usize>,
    clients: Option<ClientsFile>,
}

/// The settings of a node.
pub struct NodeSettings {
    file: NodeFile,
    given: BTreeMap<String, Given<ByRun>>,
    folder: Option<PathBuf>,
    parties: u16,
}

impl NodeSettings {
    /// Reads the settings file of a node.
    ///
    /// # Errors
    /// A usage failure that names the file and the line.
    pub fn read(path: &Path) -> CliResult<NodeSettings> {
        let text = read_text(path, SETTINGS)?;
        NodeSettings::parse(&path.display().to_string(), &text, path.parent())
    }

    fn parse(name: &str, text: &str, folder: Option<&Path>) -> CliResult<NodeSettings> {
        let wrong = |span: Option<std::ops::Range<usize>>, what: &str| {
            misplaced(name, text, span, what).with_hint("`symbolon serve --help` shows every key")
        };
        let mut table =
            DeTable::parse(text).map_err(|error| wrong(error.span(), error.message()))?;
        let mut given = BTreeMap::new();
        if let Some(functions) = table.get_mut().get_mut("functions")
            && let DeValue::Table(functions) = functions.get_mut()
        {
            for (function, settings) in functions.iter_mut() {
                let DeValue::Table(settings) = settings.get_mut() else { continue };
                let taken = Given::taken_from(settings);
                let taken = taken.map_err(|(span, what)| wrong(Some(span), what))?;
                given.insert(function.get_ref().to_string(), taken);
            }
        }
        let file = NodeFile::deserialize(toml::Deserializer::from(table));
        let file = file.map_err(|error| wrong(error.span(), &without_values(error.message())))?;
        let parties = listed(file.party.iter().map(|party| party.id))?;
        if file.me.number() >= parties {
            return Err(CliError::usage(format!(
                "{name}: `me` is {}, which is no [[party]]",
                file.me
            )));
        }
        Ok(NodeSettings { file, given, folder: folder.map(Path::to_path_buf), parties })
    }

    fn path(&self, text: &str) -> PathBuf {
        from_folder(self.folder.as_deref(), text)
    }

    /// Returns which party this is.
    pub fn me(&self) -> PartyId {
        self.file.me
    }

    /// Returns where applications come in; reads the token.
    ///
    /// # Errors
    /// A usage failure if it is not one place, or the token cannot be used.
    pub fn door(&self) -> CliResult<DoorConfig> {
        match &self.file.door {
            DoorFile { socket: Some(socket), address: None, token: None } => {
                Ok(DoorConfig::Socket(self.path(socket)))
            }
            DoorFile { socket: None, address: Some(address), token: Some(token) } => {
                Ok(DoorConfig::Loopback(*address, read_token(&self.path(token))?))
            }
            _ => Err(CliError::usage("[door]: give `socket`, or `address` and `token`")),
        }
    }

    /// Returns where clients come in, if they do.
    ///
    /// # Errors
    /// A usage failure for a certificate without its key, or a key without its certificate.
    pub fn clients_door(&self) -> CliResult<Option<PublicDoorConfig>> {
        let Some(of) = &self.file.clients else { return Ok(None) };
        let tls = match (&of.certificate, &of.key) {
            (Some(chain), Some(key)) => {
                Some(Certificate { chain: self.path(chain), key: self.path(key) })
            }
            (None, None) => None,
            _ => return Err(CliError::usage("[clients]: `certificate` and `key` go together")),
        };
        let (origins, nodes) = (of.origins.clone(), of.nodes.clone());
        Ok(Some(PublicDoorConfig { address: of.address, tls, origins, nodes }))
    }

    fn clients(&self, of: &ClientsFile) -> CliResult<ClientsConfig> {
        let mut clients = ClientsConfig::default();
        if let Some(tokens) = &of.tokens {
            clients.admission = read_client_tokens(&self.path(tokens))?;
        }
        if let Some(time) = of.seconds {
            clients.time = seconds("seconds", time)?;
        }
        clients.open = of.open.unwrap_or(clients.open);
        if let Some(per_minute) = of.per_minute {
            clients.per_minute = (per_minute > 0).then_some(per_minute);
        }
        Ok(clients)
    }

    /// Returns the circuit of a function, as a command line would name it.
    ///
    /// # Errors
    /// A usage failure if there is no such function, or its owners or outputs are wrong.
    pub fn spec(&self, function: &str) -> CliResult<CircuitSpec> {
        let Some(of) = self.file.functions.get(function) else {
            let all = self.file.functions.keys().map(|name| format!("`{name}`"));
            let all = all.collect::<Vec<_>>().join(", ");
            let refused = CliError::usage("the settings have no function of this name");
            return Err(refused.with_hint(format!("they have {all}")));
        };
        let path = self.path(&of.circuit);
        let circuit = match looks_like_file(&of.circuit) || path.exists() {
            true => path.to_string_lossy().into_owned(),
            false => of.circuit.clone(),
        };
        let labels = Labels { types: Vec::new(), names: Vec::new() };
        let none = ProgramArgs::default();
        Ok(CircuitSpec {
            circuit,
            owners: owners(of.owners.clone(), &[])?,
            outputs: receivers(of.outputs.clone(), &[])?,
            labels: Labels::join(of.types.clone(), of.names.clone(), labels)?,
            program: program(of.entry.clone(), of.r#const.clone(), &none)?,
            no_cache: of.no_cache.unwrap_or(false),
        })
    }

    /// Builds or reads the circuit of a function.
    ///
    /// # Errors
    /// Those of [`NodeSettings::spec`] and [`CircuitSpec::load`].
    pub fn load(&self, function: &str) -> CliResult<(CircuitSpec, Loaded)> {
        let spec = self.spec(function)?;
        let loaded = spec.load(self.parties)?;
        Ok((spec, loaded))
    }

    fn function(&self, name: &str, of: &FunctionFile) -> CliResult<FunctionConfig> {
        let (_, loaded) = self.load(name)?;
        let given = self.given.get(name).cloned().unwrap_or_default();
        let tuning = TuningArgs { given, ..TuningArgs::default() };
        let tuning = Tuning::new(&tuning, self.parties)?;
        tuning.warn();
        tuning.check_circuit(&loaded.circuit)?;
        let named = name.parse().map_err(|error| CliError::usage(format!("{error}")))?;
        let usual = FunctionConfig::new(named, loaded.circuit, tuning.params);
        let side_by_side =
            of.side_by_side.unwrap_or(usual.side_by_side.min(of.ready.unwrap_or(usize::MAX)));
        let ready = of.ready.unwrap_or(usual.ready.max(side_by_side));
        Ok(FunctionConfig {
            side_by_side,
            ready,
            low: of.low.unwrap_or((ready / 2).max(1)),
            callers: of.callers.clone().unwrap_or_default(),
            calls: of.calls,
            calls_per_hour: of.calls_per_hour,
            wait: of.wait.map_or(Ok(usual.wait), |wait| seconds("wait", wait))?,
            keep: of.keep.map_or(Ok(usual.keep), |keep| seconds("keep", keep))?,
            waiting: of.waiting.unwrap_or(usual.waiting),
            clients: match &of.clients {
                Some(clients) => Some(self.clients(clients)?),
                None => usual.clients,
            },
            ..usual
        })
    }

    /// Returns which items of a store are executions of the functions.
    ///
    /// # Errors
    /// A usage failure that names the function.
    pub fn stored_functions(&self) -> CliResult<Vec<StoredFunction>> {
        let one = |FunctionConfig { circuit, params, .. }| {
            Ok(StoredFunction::new(self.file.me, &circuit, &params)?)
        };
        self.functions()?.into_iter().map(one).collect()
    }

    fn functions(&self) -> CliResult<Vec<FunctionConfig>> {
        let functions = self.file.functions.iter().map(|(name, of)| {
            self.function(name, of).map_err(|error| error.under(&format!("[functions.{name}]")))
        });
        functions.collect()
    }

    /// Opens the store for prepared executions, or makes it, if there is to be one.
    fn store(&self) -> CliResult<Option<Store>> {
        let path = |text: &Option<String>| text.as_deref().map(|text| self.path(text));
        let (key, passphrase) = (path(&self.file.store_key), path(&self.file.store_passphrase));
        let Some(directory) = path(&self.file.store) else {
            return match key.or(passphrase) {
                Some(_) => {
                    Err(CliError::usage("`store_key` and `store_passphrase` go with `store`"))
                }
                None => Ok(None),
            };
        };
        let protection = protection(key.as_deref(), passphrase.as_deref())?;
        Ok(Some(Store::open_or_create(directory, &protection)?))
    }

    /// Returns what the settings say anew, if nothing else differs from those with which the node
    /// was started.
    ///
    /// # Errors
    /// A usage failure that names what changes only with a restart, the function or the party.
    pub fn update_of(&self, started: &NodeSettings) -> CliResult<NodeUpdate> {
        let (file, before) = (&self.file, &started.file);
        let same = [
            ("me", file.me == before.me),
            ("listen", self.listens() == started.listens()),
            ("state", file.state == before.state),
            ("store", file.store == before.store),
            ("store_key", file.store_key == before.store_key),
            ("store_passphrase", file.store_passphrase == before.store_passphrase),
            ("[door]", file.door == before.door),
            ("[clients]", file.clients == before.clients),
        ];
        match same.iter().find(|(_, same)| !same) {
            Some((key, _)) => Err(CliError::usage(format!("{key} changes only with a restart"))),
            None => self.update(),
        }
    }

    /// Returns where this party's port is.
    fn listens(&self) -> Option<&String> {
        let own = self.file.party.iter().find(|party| party.id == self.file.me);
        self.file.listen.as_ref().or(own.and_then(|own| own.address.as_ref()))
    }

    /// Returns what may change while the node runs.
    fn update(&self) -> CliResult<NodeUpdate> {
        let functions = self.functions()?;
        let mut entries: Vec<&NodeParty> = self.file.party.iter().collect();
        entries.sort_by_key(|entry| entry.id);
        let party = |entry: &NodeParty| {
            entry.party().map_err(|error| error.under(&format!("[[party]] {}", entry.id)))
        };
        let parties = entries.iter().copied().map(party).collect::<CliResult<Vec<_>>>()?;
        let keys = std::iter::once(&self.file.key).chain(&self.file.old_keys);
        let identity = |key: &String| Ok(Arc::new(Identity::load(self.path(key))?));
        let identities = keys.map(identity).collect::<CliResult<Vec<_>>>()?;
        let timeout = match self.file.timeout {
            Some(timeout) => seconds("timeout", timeout)?,
            None => symbolon::DEFAULT_TIMEOUT,
        };
        Ok(NodeUpdate { identities, parties, functions, timeout })
    }

    /// Returns the configuration of the node; opens its port and its store.
    ///
    /// # Errors
    /// A usage failure that names the function or the party.
    pub fn config(&self) -> CliResult<NodeConfig> {
        let NodeUpdate { identities, parties, functions, timeout } = self.update()?;
        let own = &parties[self.file.me.index()].address;
        let listener = match (self.listens(), own) {
            (Some(address), Some(_)) => Some(Listener::bind(address)?),
            (Some(_), None) => {
                return Err(CliError::usage("`listen` is for a party that others can dial")
                    .with_hint("its [[party]] has the `address`"));
            }
            (None, _) => None,
        };
        let state = self.file.state.as_deref().map(|state| self.path(state));
        Ok(NodeConfig {
            store: self.store()?,
            party: self.file.me,
            identities,
            parties,
            listener,
            functions,
            timeout,
            state,
        })
    }
}

fn seconds(key: &str, number: Number) -> CliResult<Duration> {
    let week = 604_800.0;
    match number.as_f64() {
        seconds if (0.001..=week).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(CliError::usage(format!("`{key}` takes seconds, from 0.001 to a week's"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
me = 1
key = "b.key"
timeout = 5
store_key = "store.key"
[door]
socket = "door/socket"
[[party]]
id = 0
address = "a.example:7000"
fingerprint = "00"
[[party]]
id = 1
[functions.sum]
circuit = "add:8"
protocol = "wrk"
rho = 64
side_by_side = 2
ready = 9
callers = [1]
calls = 10
wait = 0.5
[functions.sum.clients]
seconds = 7
open = 3
per_minute = 0
[clients]
address = "[::1]:8443"
certificate = "chain.pem"
key = "web.pem"
origins = ["https://a.example"]
nodes = ["https://a.example", "https://b.example"]
"#;

    fn error(from: &str, to: &str) -> String {
        let text = FILE.replace(from, to);
        assert_ne!(text, FILE);
        let read = NodeSettings::parse("node.toml", &text, None);
        let made = read.and_then(|settings| {
            settings.door()?;
            settings.clients_door()?;
            settings.function("sum", &settings.file.functions["sum"]).map(drop)
        });
        made.unwrap_err().to_string()
    }

    #[test]
    fn every_key_of_a_function_counts() {
        let settings = NodeSettings::parse("node.toml", FILE, Some(Path::new("/n"))).unwrap();
        let sum = settings.function("sum", &settings.file.functions["sum"]).unwrap();
        assert_eq!((sum.ready, sum.low, sum.side_by_side), (9, 4, 2));
        assert_eq!((sum.callers, sum.calls), (vec![1.into()], Some(10)));
        assert_eq!(sum.wait, Duration::from_millis(500));
        assert_eq!(sum.params.rho, symbolon::Rho::Bits64);
        let DoorConfig::Socket(socket) = settings.door().unwrap() else { panic!("a socket") };
        assert_eq!(socket, Path::new("/n/door/socket"));
        let clients = sum.clients.unwrap();
        assert_eq!((clients.time, clients.open), (Duration::from_secs(7), 3));
        assert_eq!(clients.per_minute, None);
        let public = settings.clients_door().unwrap().unwrap();
        assert_eq!(public.tls.unwrap().chain, Path::new("/n/chain.pem"));
        assert_eq!((public.origins.len(), public.nodes.len()), (1, 2));
        assert!(public.address.ip().is_loopback());
    }

    #[test]
    fn a_node_has_a_store_if_the_settings_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let store = |from: &str, to: &str| {
            let text = FILE.replace(from, to);
            NodeSettings::parse("node.toml", &text, Some(folder.path())).unwrap().store()
        };
        let error = store("", "").unwrap_err().to_string();
        assert!(error.contains("`store_key` and `store_passphrase` go with `store`"), "{error}");
        assert!(store("store_key = \"store.key\"", "").unwrap().is_none());
        let made = store("store_key = \"store.key\"", "store = \"made\"").unwrap().unwrap();
        assert!(made.directory().ends_with("made"));
        drop(made);
        // The key file is read, and this store has none.
        assert!(store("store_key", "store = \"made\"\nstore_key").is_err());
    }

    #[test]
    fn a_party_may_have_several_keys() {
        let print = "ab".repeat(32);
        let of_zero = |keys: &str| {
            let text = FILE.replace("fingerprint = \"00\"", keys);
            let settings = NodeSettings::parse("node.toml", &text, None)?;
            settings.file.party[0].party()
        };
        let one = of_zero(&format!("fingerprint = \"{print}\"")).unwrap();
        assert_eq!(one.keys, [print.parse::<Fingerprint>().unwrap().into()]);
        for until in ["\"2026-12-31T00:00:00Z\"", "2026-12-31T00:00:00Z"] {
            let keys = format!(
                "keys = [{{ fingerprint = \"{print}\", until = {until} }}, {{ fingerprint = \"{}\" }}]",
                "cd".repeat(32)
            );
            let party = of_zero(&keys).unwrap();
            let until = AcceptedKey::read_until("2026-12-31T00:00:00Z").unwrap();
            assert_eq!(
                party.keys.iter().map(|key| key.until).collect::<Vec<_>>(),
                [Some(until), None]
            );
        }
        for (keys, said) in [
            (String::new(), "the fingerprint of its key is needed"),
            (
                format!("keys = [{{ fingerprint = \"{print}\", until = \"soon\" }}]"),
                "is no time such as",
            ),
            (
                format!("keys = [{{ fingerprint = \"{print}\", until = 2026-12-31 }}]"),
                "is no time such as",
            ),
            (
                format!("fingerprint = \"{print}\"\nkeys = [{{ fingerprint = \"{print}\" }}]"),
                "or several `keys`",
            ),
        ] {
            let error = of_zero(&keys).unwrap_err().to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
    }

    #[test]
    fn what_takes_a_restart_is_named() {
        let started = NodeSettings::parse("node.toml", FILE, None).unwrap();
        for (from, to, said) in [
            ("me = 1", "me = 0", "me changes only"),
            ("timeout = 5", "timeout = 5\nlisten = \"0.0.0.0:7\"", "listen changes only"),
            ("socket = \"door/socket\"", "socket = \"other\"", "[door] changes only"),
            ("origins = [\"https://a.example\"]", "", "[clients] changes only"),
            ("store_key = \"store.key\"", "", "store_key changes only"),
            ("timeout = 5", "timeout = 6", "[[party]] 0"),
        ] {
            let text = FILE.replacen(from, to, 1);
            let settings = NodeSettings::parse("node.toml", &text, None).unwrap();
            let error = settings.update_of(&started).unwrap_err().to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (from, to, said) in [
            ("me = 1", "me = 2", "`me` is 2"),
            ("timeout = 5", "timeouts = 5", "line 4, column 1: there is no key `timeouts`"),
            ("rho = 64", "rho = 41", "--rho"),
            ("rho = 64", "rho = \"64\"", "line 17, column 7: expected a number"),
            ("ready = 9", "readi = 9", "did you mean `ready`?"),
            ("wait = 0.5", "wait = 0", "`wait` takes seconds"),
            ("socket = \"door/socket\"", "address = \"127.0.0.1:80\"", "[door]: give `socket`"),
            ("certificate = \"chain.pem\"", "", "`certificate` and `key` go together"),
            ("seconds = 7", "seconds = 0", "`seconds` takes seconds"),
            ("open = 3", "opens = 3", "there is no key `opens`"),
            ("id = 0", "id = 1", "none has id = 0"),
            ("\"add:8\"", "\"add:8\"\nowners = { x = 5 }", "no party 5"),
        ] {
            let error = error(from, to);
            assert!(error.contains(said), "{said}: {error}");
        }
    }
}
