//! The options of `duplo`.

use symbolon_engine::Rho;
use symbolon_engine::options::{OptionSpec, Options, ProtocolOption, Value, Values};
use symbolon_transport::Result;

use super::program::check_components;

/// The components of a circuit that are garbled.
pub static COMPONENTS: ProtocolOption = ProtocolOption {
    check_circuit: Some(|value, circuit| match value {
        Value::Names(names) => check_components(circuit, names),
        _ => Ok(()),
    }),
    ..ProtocolOption::new(
        OptionSpec {
            name: "components",
            value_name: "NAME",
            help: "With duplo: garble the components of this name, and no others but leftover \
                   gates; once for each name",
            default: Some("those with which a run costs least"),
            values: Values::Names { flag: "component", none: "by cost" },
            place: 130,
        },
        "The names of the components to garble; absent where the cheapest are.",
        |_| Value::Names(Vec::new()),
    )
};

/// All options.
pub(crate) static ALL: &[ProtocolOption] = &[COMPONENTS];

/// The options of `duplo` as a program gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DuploOptions {
    /// The names of the components of the circuit that are garbled, in any order. If there are
    /// none, the cost decides.
    pub components: Vec<String>,
}

impl DuploOptions {
    /// Returns the options with which these components are garbled.
    pub fn components(names: impl IntoIterator<Item = impl Into<String>>) -> DuploOptions {
        DuploOptions { components: names.into_iter().map(Into::into).collect() }
    }
}

impl From<DuploOptions> for Options {
    fn from(options: DuploOptions) -> Options {
        Options::default().with(&COMPONENTS, Value::names(options.components))
    }
}

/// Returns the names of the components that are garbled; none if the cost decides.
pub fn components(options: &Options) -> &[String] {
    options.names(&COMPONENTS)
}

/// Returns what tells prepared circuits from others.
pub(super) fn label(options: &Options, _: Rho) -> Result<String> {
    Ok(match COMPONENTS.chosen(options) {
        Some(names) => format!("components {}", COMPONENTS.spec.text(names)),
        None => String::new(),
    })
}
