//! The settings of `run`: a TOML file, and flags that override it.

#[cfg(feature = "service")]
pub mod node;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use symbolon::circuit::PartyId;
use symbolon::zeroize::Zeroizing;
use symbolon::{Protocol, SessionParams};
use toml::de::{DeInteger, DeTable, DeValue};

use crate::args::given::{ByPreprocess, ByRun, Given, setting_keys};
use crate::args::labels::Labels;
use crate::args::options::{RemoteTransport, TuningArgs};
use crate::args::owners::{Audience, Owner};
use crate::args::program::ProgramArgs;
use crate::args::tuning::Tuning;
use crate::args::{RunArgs, StoreArgs};
use crate::common::error::{CliError, CliResult};
use crate::common::reading::{SETTINGS, read_text};
use crate::common::refusal::renamed;
use crate::common::secret::InputText;
use crate::progress::args::ShowArgs;
use crate::progress::live::args::{LiveAddress, LiveArgs};
use crate::source::values::{InputSources, given, paths};
use crate::source::{CircuitSpec, from_folder, looks_like_file};

/// A settings file. Every key is optional, unknown ones are refused.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SettingsFile {
    circuit: Option<String>,
    party: Option<PartyKey>,
    listen: Option<String>,
    connect: Option<String>,
    key: Option<String>,
    peer_fingerprint: Option<String>,
    dealer: Option<String>,
    dealer_fingerprint: Option<String>,
    transport: Option<RemoteTransport>,
    timeout: Option<Number>,
    link: Option<String>,
    json: Option<bool>,
    pad: Option<bool>,
    prepared: Option<bool>,
    gates: Option<u64>,
    input_bits: Option<u64>,
    count: Option<u32>,
    side_by_side: Option<u32>,
    from_pools: Option<bool>,
    quiet: Option<bool>,
    verbose: Option<u8>,
    log: Option<String>,
    events: Option<String>,
    costs: Option<bool>,
    progress_interval: Option<Number>,
    live: Option<LiveAddress>,
    live_linger: Option<Number>,
    entry: Option<String>,
    no_cache: Option<bool>,
    r#const: BTreeMap<String, toml::Value>,
    store: Option<String>,
    store_key: Option<String>,
    store_passphrase: Option<String>,
    // Taken out first, since the parser of the rest may quote what it cannot use.
    #[serde(skip)]
    inputs: Vec<InputSources>,
    // They come from the library's table.
    #[serde(skip)]
    given: Given<ByRun>,
    #[serde(skip)]
    pools: Given<ByPreprocess>,
    owners: BTreeMap<String, toml::Value>,
    outputs: BTreeMap<String, String>,
    types: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
    save: BTreeMap<String, String>,
}

/// One of several parties, as listed in the file that all share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyEntry {
    /// Its number.
    pub id: PartyId,
    /// Where later parties dial it, HOST:PORT.
    pub address: Option<String>,
    /// The fingerprint of its key.
    pub fingerprint: Option<String>,
}

/// `party = 0`, which party this is, or `[[party]]`, a list of all.
enum PartyKey {
    This(PartyId),
    All(Vec<PartyEntry>),
}

impl<'de> Deserialize<'de> for PartyKey {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = PartyKey;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("this party's number, or a [[party]] for each of all parties")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<PartyKey, E> {
                let number = u16::try_from(number);
                number.map(|number| PartyKey::This(number.into())).map_err(|_| E::custom(NO_PARTY))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                list: A,
            ) -> Result<PartyKey, A::Error> {
                let list = serde::de::value::SeqAccessDeserializer::new(list);
                Vec::deserialize(list).map(PartyKey::All)
            }
        }
        // Not an untagged enum: its errors would not say which key of an entry is wrong.
        from.deserialize_any(Visitor)
    }
}

/// A TOML integer or float.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Float(number) => number,
        }
    }
}

/// The settings of `run`, as far as they were given.
#[derive(Debug)]
pub struct Settings {
    /// The circuit, its owners and receivers; the name is empty when none was given.
    pub spec: CircuitSpec,
    /// Which party this is.
    pub party: Option<PartyId>,
    /// All parties, when they are listed.
    pub parties: Option<Vec<PartyEntry>>,
    /// Where to wait.
    pub listen: Option<String>,
    /// Whom to dial.
    pub connect: Option<String>,
    /// The identity file.
    pub key: Option<PathBuf>,
    /// The peer's fingerprint.
    pub peer_fingerprint: Option<String>,
    /// Where the dealer is, if one is trusted.
    pub dealer: Option<String>,
    /// The fingerprint of its key.
    pub dealer_fingerprint: Option<String>,
    /// The transport.
    pub transport: RemoteTransport,
    /// Parameters.
    pub tuning: TuningArgs,
    /// Own inputs, each with the folder from which a relative `@file` is taken.
    pub inputs: Vec<(InputSources, Option<PathBuf>)>,
    /// The store, if one was named.
    pub store: StoreArgs,
    /// Whether the result is printed as JSON.
    pub json: bool,
    /// Whether lists that are shorter than their input are filled up.
    pub pad: bool,
    /// Outputs and the files that they are written to.
    pub saves: Vec<(String, PathBuf)>,
    /// What is shown during the run.
    pub show: ShowArgs,
    /// Whether `run` uses a prepared circuit.
    pub prepared: bool,
    /// What `preprocess` and `prepare` make.
    pub ahead: Ahead,
}

/// What the settings file says about work ahead of time.
#[derive(Debug, Default)]
pub struct Ahead {
    /// AND gates for `preprocess`.
    pub gates: Option<u64>,
    /// Input bits of each party for `preprocess`.
    pub input_bits: Option<u64>,
    /// How `preprocess` cuts pools.
    pub pools: Given<ByPreprocess>,
    /// How many circuits `prepare` prepares, or `preprocess` makes components for.
    pub count: Option<u32>,
    /// Over how many groups `prepare` spreads them.
    pub side_by_side: Option<u32>,
    /// Whether `prepare` takes all material from pools.
    pub from_pools: bool,
}

impl Ahead {
    /// Refuses the values that the options refuse.
    fn check(&self) -> CliResult<()> {
        let refuse = |text: &str| Err(CliError::usage(text));
        match self {
            Ahead { gates: Some(gates), .. } if !(1..=1 << 40).contains(gates) => {
                refuse("`gates` takes 1 to 2^40")
            }
            Ahead { input_bits: Some(bits), .. } if *bits > 1 << 40 => {
                refuse("`input_bits` takes at most 2^40")
            }
            Ahead { count: Some(count), .. } if !(1..=1_000_000).contains(count) => {
                refuse("`count` takes 1 to 1000000")
            }
            Ahead { side_by_side: Some(groups), .. } if !(1..=256).contains(groups) => {
                refuse("`side_by_side` takes 1 to 256")
            }
            _ => self.pools.apply(&mut SessionParams::new(Protocol::Wrk)),
        }
    }
}

impl Settings {
    /// Joins the flags with the file that they name, if they name one.
    ///
    /// # Errors
    /// A usage failure that names the file and the line.
    pub fn of(args: &RunArgs) -> CliResult<Settings> {
        match &args.meet.config {
            Some(path) => Settings::join(args, read(path)?, path.parent()),
            None => Settings::join(args, SettingsFile::default(), None),
        }
    }

    /// Joins the flags with the file, which counts where they are not set and whose paths begin in
    /// `folder`.
    fn join(args: &RunArgs, mut file: SettingsFile, folder: Option<&Path>) -> CliResult<Settings> {
        let tuning = file.tuning(&args.meet.tuning);
        let show = file.show(folder);
        let in_folder = |path: String| from_folder(folder, &path);
        let circuit = args.circuit.clone().or(file.circuit.map(|name| {
            let path = in_folder(name.clone());
            let file = looks_like_file(&name) || path.exists();
            if file { path.to_string_lossy().into_owned() } else { name }
        }));
        // A flag for either end of the meeting replaces whatever the file says about it.
        let meeting_given = args.meet.listen.is_some() || args.meet.connect.is_some();
        let (file_listen, file_connect) =
            if meeting_given { (None, None) } else { (file.listen, file.connect) };
        let saved = file.save.into_iter();
        let saved =
            saved.filter(|(name, _)| !args.values.saves.iter().any(|(flag, _)| flag == name));
        let saves = saved.map(|(name, path)| (name, in_folder(path)));
        let store_passphrase = args.store.store_passphrase.clone();
        let (this, parties) = match file.party {
            Some(PartyKey::This(party)) => (Some(party), None),
            Some(PartyKey::All(list)) => (None, Some(list)),
            None => (None, None),
        };
        let settings = Settings {
            spec: CircuitSpec {
                circuit: circuit.unwrap_or_default(),
                owners: owners(file.owners, &args.ports.owners)?,
                outputs: receivers(file.outputs, &args.ports.outputs)?,
                labels: Labels::join(file.types, file.names, args.ports.labels())?,
                program: program(file.entry, file.r#const, &args.ports.program)?,
                no_cache: args.ports.no_cache || file.no_cache.unwrap_or(false),
            },
            party: args.meet.party.map(PartyId::new).or(this),
            parties,
            listen: args.meet.listen.clone().or(file_listen),
            connect: args.meet.connect.clone().or(file_connect),
            key: args.meet.key.clone().or(file.key.map(in_folder)),
            peer_fingerprint: args.meet.peer_fingerprint.clone().or(file.peer_fingerprint),
            dealer: args.meet.dealer.clone().or(file.dealer),
            dealer_fingerprint: args.meet.dealer_fingerprint.clone().or(file.dealer_fingerprint),
            transport: args.meet.transport.or(file.transport).unwrap_or(RemoteTransport::Tls),
            tuning,
            inputs: inputs(file.inputs, &args.inputs, folder)?,
            store: StoreArgs {
                store: args.store.store.clone().or(file.store.map(in_folder)),
                store_key: args.store.store_key.clone().or(file.store_key.map(in_folder)),
                store_passphrase: store_passphrase.or(file.store_passphrase.map(in_folder)),
            },
            json: args.json || file.json.unwrap_or(false),
            pad: args.values.pad || file.pad.unwrap_or(false),
            prepared: args.prepared || file.prepared.unwrap_or(false),
            ahead: Ahead {
                gates: file.gates,
                input_bits: file.input_bits,
                pools: file.pools,
                from_pools: file.from_pools.unwrap_or(false),
                count: file.count,
                side_by_side: file.side_by_side,
            },
            show: args.meet.show.or(show),
            saves: saves.chain(paths(&args.values.saves)).collect(),
        };
        settings.check_addresses()?;
        settings.ahead.check()?;
        Ok(settings)
    }

    /// Checks that every given address is valid, so that nothing waits for one that can never be
    /// reached.
    fn check_addresses(&self) -> CliResult<()> {
        let dialled = |text: &String| symbolon::check_address(text);
        let check = |place: &str, checked: Option<symbolon::Result<()>>| match checked {
            Some(Err(error)) => {
                let failure = CliError::from(error);
                Err(CliError { message: format!("{place}: {}", failure.message), ..failure })
            }
            _ => Ok(()),
        };
        let listened = self.listen.as_ref().map(|text| symbolon::check_listening(text));
        check("--listen", listened)?;
        check("--connect", self.connect.as_ref().map(dialled))?;
        check("--dealer", self.dealer.as_ref().map(dialled))?;
        for PartyEntry { id, address, .. } in self.parties.iter().flatten() {
            check(&format!("[[party]] {id}"), address.as_ref().map(dialled))?;
        }
        Ok(())
    }
}

impl SettingsFile {
    /// Takes out the parameters; those of the command line win.
    fn tuning(&mut self, flags: &TuningArgs) -> TuningArgs {
        TuningArgs {
            given: flags.given.or(std::mem::take(&mut self.given)),
            timeout: flags.timeout.or(self.timeout.take().map(Number::as_f64)),
            link: flags.link.clone().or(self.link.take()),
        }
    }

    /// Takes out what is shown during the run. A relative path is taken from `folder`.
    fn show(&mut self, folder: Option<&Path>) -> ShowArgs {
        ShowArgs {
            quiet: self.quiet.unwrap_or(false),
            verbose: self.verbose.unwrap_or(0),
            log: self.log.take(),
            events: self.events.take().map(|path| from_folder(folder, &path)),
            costs: self.costs.unwrap_or(false),
            progress_interval: self.progress_interval.take().map(Number::as_f64),
            live: LiveArgs {
                live: self.live.take(),
                live_linger: self.live_linger.take().map(Number::as_f64),
            },
        }
    }
}

/// Returns the receivers of outputs, by output; the later entry of two for one output wins.
fn receivers(
    file: BTreeMap<String, String>,
    flags: &[(String, Audience)],
) -> CliResult<Vec<(String, Audience)>> {
    let parsed = file.into_iter().map(|(name, parties)| {
        let audience = parties.parse();
        let audience =
            audience.map_err(|why| CliError::usage(format!("[outputs] {name}: {why}")))?;
        Ok((name, audience))
    });
    parsed.chain(flags.iter().cloned().map(Ok)).collect()
}

/// Returns the owners of inputs, by input; the later entry of two for one input wins.
fn owners(
    file: BTreeMap<String, toml::Value>,
    flags: &[(String, Owner)],
) -> CliResult<Vec<(String, Owner)>> {
    let parsed = file.into_iter().map(|(name, value)| {
        let owner = match &value {
            toml::Value::String(text) => text.parse::<Owner>().ok(),
            toml::Value::Integer(number) => {
                u16::try_from(*number).ok().map(|party| Owner::Party(party.into()))
            }
            _ => None,
        };
        let refused =
            || CliError::usage(format!("[owners] {name}: a party's number, or \"share\""));
        let owner = owner.ok_or_else(refused)?;
        Ok((name, owner))
    });
    parsed.chain(flags.iter().cloned().map(Ok)).collect()
}

fn read(path: &Path) -> CliResult<SettingsFile> {
    let text = read_text(path, SETTINGS)?;
    parse(&path.display().to_string(), &text)
}

/// Returns the failure about a place in a settings file.
fn misplaced(name: &str, text: &str, span: Option<std::ops::Range<usize>>, what: &str) -> CliError {
    let before = span.map(|span| text.get(..span.start).unwrap_or(text));
    let place = before.map_or(String::new(), |before| {
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!(", line {line}, column {column}")
    });
    CliError::usage(format!("{name}{place}: {what}"))
}

/// Reads the text of a settings file.
///
/// Errors name the place, and quote no value: anything in the file may be a misplaced input.
fn parse(name: &str, text: &str) -> CliResult<SettingsFile> {
    let wrong = |span: Option<std::ops::Range<usize>>, what: &str| {
        misplaced(name, text, span, what).with_hint("`symbolon run --help` shows every key")
    };
    // The parser's messages about text that is not TOML are fixed sentences.
    let mut table = DeTable::parse(text).map_err(|error| wrong(error.span(), error.message()))?;
    let mut inputs = Vec::new();
    if let Some(section) = table.get_mut().remove("inputs") {
        let span = section.span();
        let DeValue::Table(section) = section.into_inner() else {
            let what = "inputs are a table: a line [inputs], and below it NAME = VALUE";
            return Err(wrong(Some(span), what));
        };
        for (input, value) in section {
            let told =
                |what| wrong(Some(value.span()), &format!("[inputs] {}: {what}", input.get_ref()));
            let value = value_text(value.get_ref()).map_err(told)?;
            inputs.push(InputSources { input: input.get_ref().as_ref().into(), value });
        }
    }
    let told = |(span, what)| wrong(Some(span), what);
    let given = Given::taken_from(table.get_mut()).map_err(told)?;
    let pools = Given::taken_from(table.get_mut()).map_err(told)?;
    let file = SettingsFile::deserialize(toml::Deserializer::from(table));
    let file = file.map_err(|error| wrong(error.span(), &without_values(error.message())))?;
    Ok(SettingsFile { inputs, given, pools, ..file })
}

/// Returns what serde's message says about a settings file without its values: names of keys, and
/// what is expected, but not what was found.
fn without_values(message: &str) -> String {
    let of_keys = ["unknown field `", "missing field `", "duplicate field `"];
    if of_keys.iter().any(|start| message.starts_with(start)) || message == NO_PARTY {
        let unknown = message.strip_prefix(of_keys[0]).and_then(|rest| rest.split('`').next());
        let Some(key) = unknown else { return message.trim().to_string() };
        if let Some(new) = renamed(key) {
            return format!("the key `{key}` is now called `{new}`");
        }
        let known = message.split('`').skip(3).step_by(2).map(str::to_string);
        return match nearest(key, known.chain(setting_keys())) {
            Some(near) => format!("there is no key `{key}`; did you mean `{near}`?"),
            None => format!("there is no key `{key}`"),
        };
    }
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {}", expected.trim()),
        None => "this is not what the key takes".to_string(),
    }
}

/// Returns the known key that is most similar to `key`, if one is similar.
fn nearest(key: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let likeness = |known: &str| strsim::jaro(&key.replace('-', "_"), known);
    let all = known
        .map(|known| (likeness(&known), known))
        .map(|(likeness, known)| (known, likeness))
        .filter(|(_, likeness)| *likeness > 0.75);
    all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(known, _)| known)
}

/// The message for a number that no party can have.
const NO_PARTY: &str = "there is no such party";

/// Reads the text of a file as [`Settings::of`] does, and checks its parameters.
///
/// # Errors
/// Those of [`Settings::of`].
pub fn check(text: &str) -> CliResult<()> {
    let settings = Settings::join(&RunArgs::default(), parse("settings", text)?, None)?;
    let parties = settings.parties.as_ref().map_or(2, Vec::len);
    let parties = u16::try_from(parties).map_err(|_| CliError::usage("too many parties"))?;
    Tuning::new(&settings.tuning, parties).map(drop)
}

/// Returns own inputs from the file, then from flags; a flag replaces the file's value for the same
/// name.
fn inputs(
    file: Vec<InputSources>,
    flags: &[InputText],
    folder: Option<&Path>,
) -> CliResult<Vec<(InputSources, Option<PathBuf>)>> {
    let flags = given(flags)?;
    let mut all = Vec::new();
    for given in file {
        if !flags.iter().any(|flag| flag.input == given.input) {
            all.push((given, folder.map(Path::to_path_buf)));
        }
    }
    all.extend(flags.into_iter().map(|flag| (flag, None)));
    Ok(all)
}

/// Returns the options that a program is compiled with, from the file, then from flags.
fn program(
    entry: Option<String>,
    constants: BTreeMap<String, toml::Value>,
    flags: &ProgramArgs,
) -> CliResult<ProgramArgs> {
    let mut all = Vec::new();
    for (name, value) in constants {
        if flags.constants.iter().any(|(flag, _)| *flag == name) {
            continue;
        }
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(value) => value.to_string(),
            _ => {
                let what = format!("[const] {name}: an integer, true, false, or a string");
                return Err(CliError::usage(what));
            }
        };
        all.push((name, text));
    }
    all.extend(flags.constants.iter().cloned());
    let (entry, clear_clients) = (flags.entry.clone().or(entry), flags.clear_clients);
    Ok(ProgramArgs { entry, constants: all, clear_clients })
}

/// Returns a value in the form that `--input` takes.
fn value_text(value: &DeValue<'_>) -> Result<InputText, &'static str> {
    const FORMS: &str = "a value is a string, an integer, or an array of integers";
    match value {
        DeValue::String(text) => Ok(text.as_ref().into()),
        DeValue::Integer(number) => integer_text(number).map(InputText::from),
        DeValue::Array(elements) => {
            let mut list = Zeroizing::new(String::new());
            for (place, element) in elements.iter().enumerate() {
                let number = element.get_ref().as_integer().ok_or(FORMS)?;
                list.push_str(if place == 0 { "" } else { "," });
                list.push_str(&integer_text(number)?);
            }
            Ok(list.into())
        }
        _ => Err(FORMS),
    }
}

/// Returns an integer of any length, as it is written or in decimal.
fn integer_text(number: &DeInteger<'_>) -> Result<Zeroizing<String>, &'static str> {
    let (digits, radix) = (number.as_str(), number.radix());
    let text = match (i64::from_str_radix(digits, radix), radix) {
        (Ok(number), _) => number.to_string(),
        (Err(_), 10) => digits.trim_start_matches('+').to_string(),
        (Err(_), 16) => format!("0x{digits}"),
        _ => {
            return Err(
                "a number as long as this is written in quotes, as \"hex:…\" or \"bits:…\"",
            );
        }
    };
    Ok(Zeroizing::new(text))
}

#[cfg(test)]
mod option_tests;
#[cfg(test)]
mod tests;
