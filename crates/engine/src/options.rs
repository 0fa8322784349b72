//! Options of protocols: an option is declared once, in the protocol's own module, and everything
//! that takes, compares or shows options reads that declaration.
//!
//! A session carries what was chosen as one value, [`Options`], by name; the protocol converts it
//! to a type of its own when it sets up. So nothing outside of a protocol names its options.
//! The command line, settings files, the handshake, C, JSON and CSV follow from an [`OptionSpec`]:
//! its [flag](OptionSpec::flag), its [key](OptionSpec::key) and the [values](Values) that it takes.

use std::collections::BTreeMap;

use symbolon_circuit::Circuit;
use symbolon_transport::{Error, Result};

use crate::Rho;

/// How a person gives an option, and what the option takes.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name, with `-` between words, from which the [flag](OptionSpec::flag) and the
    /// [key](OptionSpec::key) follow.
    pub name: &'static str,
    /// Stands for the value in help, as in `--rho BITS`.
    pub value_name: &'static str,
    /// What it chooses, for help: without a full stop, and without the default.
    pub help: &'static str,
    /// The default, for help; `None` if help does not name one.
    pub default: Option<&'static str>,
    /// The possible values.
    pub values: Values,
    /// Its place in the handshake, among the options of all protocols and the parameters of every
    /// session. A new option takes the next free number.
    pub place: u16,
}

impl PartialEq for OptionSpec {
    /// No two options have the same name.
    fn eq(&self, other: &OptionSpec) -> bool {
        self.name == other.name
    }
}

impl Eq for OptionSpec {}

/// The values that an option takes.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// One of these words.
    Words(fn() -> Vec<&'static str>),
    /// One of these numbers.
    Numbers(&'static [u64]),
    /// A number from the first to the second.
    Range(u64, u64),
    /// Any number of names, in any order.
    Names {
        /// The flag that takes one of them, without dashes.
        flag: &'static str,
        /// The text where there are none.
        none: &'static str,
    },
    /// Any text.
    Text,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A number that may be too low to be secure, for [comparisons](Comparison).
    ComparisonOnly(u64),
    /// A word.
    Word(&'static str),
    /// Names in ascending order, each once.
    Names(Vec<String>),
    /// A text.
    Text(String),
}

/// Separates names.
const SEPARATOR: &str = "; ";

/// The maximum total length of the names in a value, in bytes.
const MAX_NAMES: usize = 1024;

/// Follows a number that is too low to be secure, so that nobody uses it by mistake.
const COMPARISON_ONLY: &str = " for comparisons only";

impl OptionSpec {
    /// Returns the option of the command, without dashes.
    pub fn flag(&self) -> &'static str {
        match self.values {
            Values::Names { flag, .. } => flag,
            _ => self.name,
        }
    }

    /// Returns the key in settings, JSON, CSV and C.
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Returns which values it takes, as in "sync or async".
    pub fn takes(&self) -> String {
        let either = |words: Vec<String>| match &words[..] {
            [] => "no value".to_string(),
            [one] => one.clone(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
        };
        match self.values {
            Values::Words(words) => either(words().into_iter().map(str::to_string).collect()),
            Values::Numbers(numbers) => either(numbers.iter().map(u64::to_string).collect()),
            Values::Range(least, u64::MAX) => format!("a number, at least {least}"),
            Values::Range(least, most) => format!("{least} to {most}"),
            Values::Names { .. } => {
                format!("names without `;`, of {MAX_NAMES} bytes together at most")
            }
            Values::Text => "a text".to_string(),
        }
    }

    /// Returns the value with this text, if the option takes it.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let number = || text.parse::<u64>().ok();
        match self.values {
            Values::Words(words) => words().into_iter().find(|word| *word == text).map(Value::Word),
            Values::Numbers(numbers) => {
                number().filter(|number| numbers.contains(number)).map(Value::Number)
            }
            Values::Range(least, most) => {
                number().filter(|number| (least..=most).contains(number)).map(Value::Number)
            }
            Values::Names { none, .. } if text == none => Some(Value::Names(Vec::new())),
            Values::Names { .. } => self.names(text.split(SEPARATOR).map(str::to_string)),
            Values::Text => Some(Value::Text(text.to_string())),
        }
    }

    /// Returns the value with these names, if the option takes them.
    pub fn names(&self, names: impl IntoIterator<Item = String>) -> Option<Value> {
        let value = Value::names(names);
        self.takes_value(&value).then_some(value)
    }

    /// Returns whether the option takes this value.
    fn takes_value(&self, value: &Value) -> bool {
        match (self.values, value) {
            (Values::Words(words), Value::Word(word)) => words().contains(word),
            (Values::Numbers(numbers), Value::Number(number)) => numbers.contains(number),
            (Values::Range(least, most), Value::Number(number)) => (least..=most).contains(number),
            (Values::Names { none, .. }, Value::Names(names)) => {
                let usable =
                    |name: &String| !name.is_empty() && *name != *none && !name.contains(';');
                names.iter().all(usable)
                    && names.iter().map(String::len).sum::<usize>() <= MAX_NAMES
            }
            (Values::Text, Value::Text(_)) => true,
            _ => false,
        }
    }

    /// Returns the text of a value, which [`parse`](OptionSpec::parse) reads.
    pub fn text(&self, value: &Value) -> String {
        match (value, self.values) {
            (Value::Names(names), Values::Names { none, .. }) if names.is_empty() => none.into(),
            _ => value.text(SEPARATOR),
        }
    }
}

impl Value {
    /// Returns the value with these names.
    pub fn names(names: impl IntoIterator<Item = String>) -> Value {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        Value::Names(names)
    }

    /// Returns the number, if it is one.
    pub fn number(&self) -> Option<u64> {
        match self {
            Value::Number(number) | Value::ComparisonOnly(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns its text, with this between two names.
    pub fn text(&self, separator: &str) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::ComparisonOnly(number) => Comparison::text(&number.to_string()),
            Value::Word(word) => word.to_string(),
            Value::Names(names) => names.join(separator),
            Value::Text(text) => text.clone(),
        }
    }
}

/// An option of a protocol, on which all parties must agree.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolOption {
    /// How it is given.
    pub spec: OptionSpec,
    /// What a result says with it, for the page of JSON.
    pub result: &'static str,
    /// Returns the value where none is given.
    pub usual: fn(Rho) -> Value,
    /// Returns why a value that the option takes cannot be used at this ρ, as in "64 is too short".
    pub check: fn(&Value, Rho) -> std::result::Result<(), String>,
    /// Rejects a value that does not fit a circuit.
    pub check_circuit: Option<fn(&Value, &Circuit) -> Result<()>>,
    /// How to give a number that [`check`](ProtocolOption::check) rejects.
    pub comparison: Option<Comparison>,
    /// The words that a plan proposes beside the usual value.
    pub proposed: &'static [&'static str],
}

/// Numbers that are too low to be secure, for comparisons with published figures, on inputs that
/// are not secret.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// How it is given; only `bench` takes it.
    pub spec: OptionSpec,
    /// Returns a warning about such a number.
    pub warning: fn(u64) -> String,
}

impl ProtocolOption {
    /// Returns an option whose values can all be used, at every ρ and for every circuit.
    pub const fn new(
        spec: OptionSpec,
        result: &'static str,
        usual: fn(Rho) -> Value,
    ) -> ProtocolOption {
        let check = |_: &Value, _: Rho| Ok(());
        ProtocolOption {
            spec,
            result,
            usual,
            check,
            check_circuit: None,
            comparison: None,
            proposed: &[],
        }
    }

    /// Returns the value that was chosen, if it was.
    pub fn chosen<'o>(&self, options: &'o Options) -> Option<&'o Value> {
        options.0.get(self.spec.name)
    }

    /// Returns the value in a session with these options.
    pub fn value(&self, options: &Options, rho: Rho) -> Value {
        match self.chosen(options) {
            None => (self.usual)(rho),
            Some(Value::ComparisonOnly(number))
                if (self.check)(&Value::Number(*number), rho).is_ok() =>
            {
                Value::Number(*number)
            }
            Some(value) => value.clone(),
        }
    }

    /// Returns the number in a session with these options.
    ///
    /// # Errors
    /// `Internal` if the option takes no numbers.
    pub fn number(&self, options: &Options, rho: Rho) -> Result<u64> {
        let number = self.value(options, rho).number();
        number.ok_or_else(|| Error::internal("an option without a number"))
    }

    /// Returns the value with this text, as a person gives it. It may be one that
    /// [`check_in`](ProtocolOption::check_in) rejects.
    pub fn given(&self, text: &str) -> Option<Value> {
        let insecure = || self.comparison?.spec.parse(text);
        self.spec.parse(text).or_else(insecure)
    }

    /// Returns the value with this text, which may be that of a value for comparisons.
    ///
    /// # Errors
    /// Returns the description of the values among which there is none with this text: that of the
    /// option, or that of its [`comparison`](ProtocolOption::comparison).
    pub fn parse(&'static self, text: &str) -> std::result::Result<Value, &'static OptionSpec> {
        match (&self.comparison, text.strip_suffix(COMPARISON_ONLY)) {
            (Some(Comparison { spec, .. }), Some(number)) => {
                let number = spec.parse(number).and_then(|value| value.number());
                number.map(Value::ComparisonOnly).ok_or(spec)
            }
            _ => self.given(text).ok_or(&self.spec),
        }
    }

    /// Returns why the value in a session with these options cannot be used.
    ///
    /// # Errors
    /// The text goes after the option's name.
    pub fn check_in(&self, options: &Options, rho: Rho) -> std::result::Result<(), String> {
        let insecure =
            |value: &Value| self.comparison.is_some_and(|one| one.spec.takes_value(value));
        match self.chosen(options) {
            None => Ok(()),
            Some(Value::ComparisonOnly(number)) if insecure(&Value::Number(*number)) => Ok(()),
            Some(value) if self.spec.takes_value(value) || insecure(value) => {
                (self.check)(value, rho)
            }
            Some(_) => Err(format!("takes {}", self.spec.takes())),
        }
    }

    /// Returns a warning if the value in a session with these options is not secure.
    pub fn warning(&self, options: &Options, rho: Rho) -> Option<String> {
        match (self.comparison, self.value(options, rho)) {
            (Some(comparison), Value::ComparisonOnly(number)) => Some((comparison.warning)(number)),
            _ => None,
        }
    }
}

impl Comparison {
    /// Returns the text with which an option takes the number with this text.
    pub fn text(number: &str) -> String {
        format!("{number}{COMPARISON_ONLY}")
    }
}

/// The options of protocols that were chosen, by name; the others have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options(BTreeMap<&'static str, Value>);

/// All defaults.
pub(crate) static DEFAULTS: Options = Options(BTreeMap::new());

impl Options {
    /// Sets an option. `None`, and a value without names, return it to its default.
    pub fn set(&mut self, option: &ProtocolOption, value: Option<Value>) {
        match value {
            Some(Value::Names(names)) if names.is_empty() => self.0.remove(option.spec.name),
            Some(value) => self.0.insert(option.spec.name, value),
            None => self.0.remove(option.spec.name),
        };
    }

    /// Returns the same with an option set.
    #[must_use]
    pub fn with(mut self, option: &ProtocolOption, value: impl Into<Option<Value>>) -> Options {
        self.set(option, value.into());
        self
    }

    /// Returns the names that an option has; none if it has its default.
    pub fn names(&self, option: &ProtocolOption) -> &[String] {
        match option.chosen(self) {
            Some(Value::Names(names)) => names,
            _ => &[],
        }
    }
}
