//! Parameters and options of protocols, as they are given: the arguments of commands, the keys of
//! settings files and the fields of results follow from the library's table.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::{Serialize, Serializer, ser::SerializeMap};
use symbolon::options::{Comparison, Value, Values};
use symbolon::{OptionSpec, ParamError, Parameter, SessionParams, parameters};
use toml::de::{DeTable, DeValue};

use crate::common::error::{CliError, CliResult};

/// Which parameters a command takes, and how.
pub trait Taken: Clone + Debug + Default + Send + Sync + 'static {
    /// Whether it takes several values of each, as lists, and those for comparisons.
    const LISTS: bool = false;

    /// Returns whether it takes this one.
    fn takes(parameter: &Parameter) -> bool;

    /// Changes an argument.
    fn adapted(arg: Arg) -> Arg {
        arg
    }
}

/// The commands that run a protocol.
#[derive(Clone, Debug, Default)]
pub struct ByRun;

impl Taken for ByRun {
    /// `preprocess` takes the others, and a dealer is given by its address.
    fn takes(parameter: &Parameter) -> bool {
        !["pool-gates", "dealer"].contains(&parameter.spec().name)
    }
}

/// `preprocess`, beside what every run takes.
#[derive(Clone, Debug, Default)]
pub struct ByPreprocess;

impl Taken for ByPreprocess {
    fn takes(parameter: &Parameter) -> bool {
        parameter.spec().name == "pool-gates"
    }
}

/// `bench`.
#[derive(Clone, Debug, Default)]
pub struct ByBench;

impl Taken for ByBench {
    const LISTS: bool = true;

    fn takes(parameter: &Parameter) -> bool {
        ByRun::takes(parameter) && parameter.spec().name != "in-flight"
    }
}

/// A value that was given: the name of the option, and its text.
pub type Choice = (&'static str, String);

/// What was given of the parameters that a command takes, as texts by name.
#[derive(Clone)]
pub struct Given<T>(BTreeMap<&'static str, Vec<String>>, PhantomData<T>);

impl<T> Default for Given<T> {
    fn default() -> Self {
        Given(BTreeMap::new(), PhantomData)
    }
}

impl<T> Debug for Given<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Taken> Given<T> {
    /// Returns the texts that were given for a parameter.
    pub fn texts(&self, spec: &OptionSpec) -> &[String] {
        self.0.get(spec.name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the parameter of this name was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Sets a parameter to these texts, if there are any.
    pub fn set(&mut self, name: &'static str, texts: Vec<String>) {
        if !texts.is_empty() {
            self.0.insert(name, texts);
        }
    }

    /// Returns the same, and what `others` have for parameters that are missing here.
    pub fn or(&self, others: Given<T>) -> Given<T> {
        let mut all = others.0;
        all.extend(self.0.clone());
        Given(all, PhantomData)
    }

    /// Returns by parameter what was given of those that are lists, each with the option that gave
    /// it.
    pub fn lists(&self) -> impl Iterator<Item = (&'static str, Vec<Choice>)> {
        let listed = parameters().iter().filter(|one| T::takes(one) && is_listed(one.spec()));
        listed.map(|parameter| {
            let specs = [Some(parameter.spec()), comparison(parameter).map(|one| &one.spec)];
            let choices = specs
                .into_iter()
                .flatten()
                .flat_map(|spec| self.texts(spec).iter().map(|text| (spec.name, text.clone())));
            (parameter.spec().name, choices.collect())
        })
    }

    /// Returns the parameters of which there are no lists.
    pub fn unlisted<U>(&self) -> Given<U> {
        let is_unlisted = |name: &str| {
            parameters().iter().any(|one| one.spec().name == name && !is_listed(one.spec()))
        };
        let all = self.0.iter().filter(|(name, _)| is_unlisted(name));
        Given(all.map(|(name, texts)| (*name, texts.clone())).collect(), PhantomData)
    }

    /// Sets what was given, and checks all parameters.
    ///
    /// # Errors
    /// A usage failure that names the option and what it takes.
    pub fn apply(&self, params: &mut SessionParams) -> CliResult<()> {
        for parameter in parameters() {
            parameter.give(params, self.texts(parameter.spec())).map_err(refused)?;
            let comparison = comparison(parameter).and_then(|one| self.texts(&one.spec).last());
            if let Some(number) = comparison {
                parameter.set(params, &Comparison::text(number)).map_err(refused)?;
            }
        }
        params.check().map_err(refused)
    }

    /// Takes the parameters out of a settings file.
    ///
    /// # Errors
    /// Where a value has another type than the key takes, and what it takes.
    pub fn taken_from(
        table: &mut DeTable<'_>,
    ) -> Result<Given<T>, (std::ops::Range<usize>, &'static str)> {
        let mut given = Given::default();
        for parameter in parameters().iter().filter(|parameter| T::takes(parameter)) {
            let spec = parameter.spec();
            if let Some(value) = table.remove(&*spec.key()) {
                let texts = setting(spec, value.get_ref()).map_err(|what| (value.span(), what))?;
                given.set(spec.name, texts);
            }
        }
        Ok(given)
    }
}

/// Returns whether `bench` measures with several values of a parameter, one after the other.
fn is_listed(spec: &OptionSpec) -> bool {
    let single = ["batch", "segment-gates"].contains(&spec.name);
    !single && !matches!(spec.values, Values::Names { .. })
}

/// Returns the keys of settings files that come from the table.
pub fn setting_keys() -> impl Iterator<Item = String> {
    let in_files = |one: &&Parameter| ByRun::takes(one) || ByPreprocess::takes(one);
    parameters().iter().filter(in_files).map(|one| one.spec().key())
}

/// Returns the options of all protocols.
pub fn protocol_options() -> impl Iterator<Item = &'static OptionSpec> {
    let options = parameters().iter().filter(|one| matches!(one, Parameter::Option(..)));
    options.map(Parameter::spec)
}

/// Returns the texts of a value in a settings file.
fn setting(spec: &OptionSpec, value: &DeValue<'_>) -> Result<Vec<String>, &'static str> {
    match (spec.values, value) {
        (Values::Numbers(_) | Values::Range(..), DeValue::Integer(number)) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            Ok(vec![number.map_err(|_| "expected a smaller number")?.to_string()])
        }
        (Values::Numbers(_) | Values::Range(..), _) => Err("expected a number"),
        (Values::Names { .. }, DeValue::Array(names)) => {
            let name =
                |name: &toml::Spanned<DeValue<'_>>| name.get_ref().as_str().map(String::from);
            names.iter().map(name).collect::<Option<_>>().ok_or("expected a list of strings")
        }
        (Values::Names { .. }, _) => Err("expected a list of strings"),
        (_, DeValue::String(text)) => Ok(vec![text.to_string()]),
        _ => Err("expected a string"),
    }
}

/// Converts a refusal, with hints.
fn refused(refusal: ParamError) -> CliError {
    let failure = CliError::usage(refusal.text(|spec| format!("--{}", spec.flag())));
    let option = match &refusal {
        ParamError::NotTaken(_, spec) | ParamError::Value(spec, _) => Some(*spec),
        ParamError::Contradiction(_) => None,
    };
    let found = parameters().iter().find(|one| Some(one.spec()) == option);
    match (&refusal, found, found.and_then(comparison)) {
        (ParamError::NotTaken(..), Some(Parameter::Option(protocol, _)), _) => {
            failure.with_hint(format!("--protocol {} does", protocol.name()))
        }
        (ParamError::Value(..), _, Some(comparison)) => {
            let flag = comparison.spec.flag();
            failure.with_hint(format!("`bench --{flag}` takes others, for comparisons"))
        }
        _ => failure,
    }
}

/// Returns the argument for a parameter.
fn arg(spec: &'static OptionSpec, lists: bool) -> Arg {
    let names = matches!(spec.values, Values::Names { .. });
    let list = lists && is_listed(spec);
    let more = if list { "; a list" } else { "" };
    let default = spec.default.map_or(String::new(), |default| format!(" [default: {default}]"));
    let arg = Arg::new(spec.name).long(spec.flag()).help(format!("{}{more}{default}", spec.help));
    match (list, names) {
        (true, _) => arg
            .value_name(format!("{},…", spec.value_name))
            .value_delimiter(',')
            .action(ArgAction::Append),
        (false, true) => arg.value_name(spec.value_name).action(ArgAction::Append),
        (false, false) => arg.value_name(spec.value_name).action(ArgAction::Set),
    }
}

/// Returns how an option takes values for comparisons, if it does.
fn comparison(parameter: &'static Parameter) -> Option<&'static Comparison> {
    match parameter {
        Parameter::Option(_, option) => option.comparison.as_ref(),
        Parameter::General(_) => None,
    }
}

impl<T: Taken> clap::Args for Given<T> {
    fn augment_args(mut command: Command) -> Command {
        for parameter in parameters().iter().filter(|parameter| T::takes(parameter)) {
            command = command.arg(T::adapted(arg(parameter.spec(), T::LISTS)));
            if let Some(comparison) = comparison(parameter).filter(|_| T::LISTS) {
                command = command.arg(T::adapted(arg(&comparison.spec, true)));
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Taken> clap::FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Given::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let texts = |name: &str| -> Vec<String> {
            matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
        };
        for parameter in parameters().iter().filter(|parameter| T::takes(parameter)) {
            self.set(parameter.spec().name, texts(parameter.spec().name));
            if let Some(comparison) = comparison(parameter).filter(|_| T::LISTS) {
                self.set(comparison.spec.name, texts(comparison.spec.name));
            }
        }
        Ok(())
    }
}

/// The options of the protocol in a result, by key; names where there are some.
#[derive(Clone, Debug, Default)]
pub struct OptionsJson(Vec<ShownOption>);

/// An option in a result.
#[derive(Clone, Debug)]
pub struct ShownOption {
    /// Which.
    pub spec: &'static OptionSpec,
    /// Its value.
    pub value: Value,
    /// Whether this is the value where none is given.
    pub is_usual: bool,
}

impl OptionsJson {
    /// Returns the options of a session with these parameters.
    pub fn of(params: &SessionParams) -> OptionsJson {
        let options = params.protocol.options().iter().map(|option| {
            let value = option.value(&params.options, params.rho);
            let is_usual = value == (option.usual)(params.rho);
            ShownOption { spec: &option.spec, value, is_usual }
        });
        OptionsJson(options.collect())
    }

    /// Returns the option of this name, if the protocol has it.
    pub fn get(&self, spec: &OptionSpec) -> Option<&ShownOption> {
        self.0.iter().find(|option| option.spec == spec)
    }

    /// Returns those with other values than the usual ones but `left_out`, each as its key and
    /// value.
    pub fn unusual(&self, left_out: Option<&OptionSpec>) -> Vec<String> {
        let shown = self.0.iter().filter(|one| !one.is_usual && Some(one.spec) != left_out);
        shown.map(|one| format!("{} {}", one.spec.key(), one.value.text(" and "))).collect()
    }
}

impl Serialize for OptionsJson {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for ShownOption { spec, value, .. } in &self.0 {
            match value {
                Value::Number(number) | Value::ComparisonOnly(number) => {
                    map.serialize_entry(&spec.key(), number)?;
                }
                Value::Word(word) => map.serialize_entry(&spec.key(), word)?,
                Value::Text(text) => map.serialize_entry(&spec.key(), text)?,
                Value::Names(names) if names.is_empty() => {}
                Value::Names(names) => map.serialize_entry(&spec.key(), names)?,
            }
        }
        map.end()
    }
}
