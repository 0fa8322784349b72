//! The table of what all parties must share: the parameters of every session, and the options of
//! all protocols, in the order in which the handshake compares them.

use std::sync::LazyLock;

use symbolon_protocols::{
    GateForm, OptionSpec, OtExtension, Protocol, ProtocolOption, Rho, options::Values,
};
use symbolon_transport::AUTO;

use super::{NONE, ParamError, SessionParams};
use crate::terms::MAX_THREADS;

/// The number of evaluations online at a time.
pub(super) static IN_FLIGHT: OptionSpec = OptionSpec {
    name: "in-flight",
    value_name: "K",
    help: "With --batch and dualex: prepare each evaluation by itself, and have K of them online at \
           a time; `run --prepared` takes each from what `prepare --count` made",
    default: None,
    values: Values::Range(1, 1 << 16),
    place: 60,
};

/// A parameter of every session, or an option of a protocol.
#[derive(Clone, Copy, Debug)]
pub enum Parameter {
    /// A parameter of every session.
    General(&'static General),
    /// An option of a protocol.
    Option(Protocol, &'static ProtocolOption),
}

/// A parameter of every session: a field of [`SessionParams`].
#[derive(Debug)]
pub struct General {
    /// How it is given.
    spec: OptionSpec,
    /// The text of `None`.
    none: &'static str,
    /// Returns the text of its value.
    get: fn(&SessionParams) -> Option<String>,
    /// Sets it to the value with a text that it takes, if there is one.
    set: fn(&mut SessionParams, Option<&str>) -> Option<()>,
}

/// Returns all, in the order of the handshake.
pub fn parameters() -> &'static [Parameter] {
    static ALL: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
        let mut all: Vec<Parameter> = GENERAL.iter().map(Parameter::General).collect();
        for protocol in Protocol::ALL {
            let options = protocol.options().iter();
            all.extend(options.map(|option| Parameter::Option(*protocol, option)));
        }
        all.sort_by_key(|parameter| parameter.spec().place);
        all
    });
    &ALL
}

impl Parameter {
    /// Returns how it is given.
    pub fn spec(&self) -> &'static OptionSpec {
        match self {
            Parameter::General(general) => &general.spec,
            Parameter::Option(_, option) => &option.spec,
        }
    }

    /// Returns the name in the handshake.
    pub fn handshake(&self) -> &'static str {
        match self.spec().name {
            // The handshake calls these by their keys.
            "segment-gates" => "segment_gates",
            "pool-gates" => "pool_gates",
            name => name,
        }
    }

    /// Returns the text of its value: what the handshake compares, and [`set`](Parameter::set)
    /// takes.
    pub fn text(&self, params: &SessionParams) -> String {
        match self {
            Parameter::General(general) => {
                (general.get)(params).unwrap_or_else(|| general.none.to_string())
            }
            Parameter::Option(protocol, option) if *protocol == params.protocol => {
                option.spec.text(&option.value(&params.options, params.rho))
            }
            Parameter::Option(..) => NONE.to_string(),
        }
    }

    /// Sets it as a person gives it: to all of these names if it takes names, otherwise to the
    /// value with the last text.
    ///
    /// # Errors
    /// Says which values it takes. Unlike [`set`](Parameter::set) it takes no values for
    /// comparisons only.
    pub fn give(&self, params: &mut SessionParams, texts: &[String]) -> Result<(), ParamError> {
        let (spec, Some(last)) = (self.spec(), texts.last()) else { return Ok(()) };
        let value = match (self, spec.values) {
            (_, Values::Names { .. }) => spec.names(texts.iter().cloned()),
            (Parameter::Option(_, option), _) => option.given(last),
            (Parameter::General(_), _) => spec.parse(last),
        };
        let value = value.ok_or_else(|| refused(spec))?;
        match self {
            Parameter::General(_) => self.set(params, last),
            Parameter::Option(_, option) => {
                params.options.set(option, Some(value));
                Ok(())
            }
        }
    }

    /// Sets it to the value with this text.
    ///
    /// # Errors
    /// Says which values it takes.
    pub fn set(&self, params: &mut SessionParams, text: &str) -> Result<(), ParamError> {
        let spec = self.spec();
        match self {
            Parameter::General(general) => {
                let value = Some(text).filter(|text| *text != general.none);
                let taken = value.is_none_or(|text| spec.parse(text).is_some());
                (general.set)(params, value).filter(|()| taken).ok_or_else(|| refused(spec))
            }
            Parameter::Option(protocol, option) => {
                // Of a protocol with components, one may be called so.
                let is_name =
                    *protocol == params.protocol && matches!(spec.values, Values::Names { .. });
                let value = match text {
                    NONE if !is_name => None,
                    _ => Some(option.parse(text).map_err(refused)?),
                };
                params.options.set(option, value);
                Ok(())
            }
        }
    }
}

fn refused(spec: &'static OptionSpec) -> ParamError {
    ParamError::Value(spec, format!("takes {}", spec.takes()))
}

fn auto_or(names: &[&'static str]) -> Vec<&'static str> {
    [&[AUTO], names].concat()
}

/// Sets a field to a value, if there is one.
fn put<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

/// The parameters of every session.
static GENERAL: [General; 10] = [
    General {
        spec: OptionSpec {
            name: "protocol",
            value_name: "NAME",
            help: "The protocol",
            default: Some("wrk between two parties, ywz among more"),
            values: Values::Words(|| Protocol::ALL.iter().map(|one| one.name()).collect()),
            place: 0,
        },
        none: "",
        get: |params| Some(params.protocol.name().to_string()),
        set: |params, text| put(&mut params.protocol, Protocol::by_name(text?)),
    },
    General {
        spec: OptionSpec {
            name: "rho",
            value_name: "BITS",
            help: "Statistical security in bits, 40, 64 or 80: a cheat goes unnoticed with \
                   probability at most 2^-RHO",
            default: Some("40"),
            values: Values::Numbers(&[40, 64, 80]),
            place: 10,
        },
        none: "",
        get: |params| Some(params.rho.bits().to_string()),
        set: |params, text| put(&mut params.rho, Rho::from_bits(text?.parse().ok()?)),
    },
    General {
        spec: OptionSpec {
            name: "form",
            value_name: "FORM",
            help: "How wrk garbles: four-row, with the fewest rounds; half-gates, with fewer bytes \
                   and a round trip more; or auto, what suits the link and the circuit",
            default: Some(AUTO),
            values: Values::Words(|| auto_or(&GateForm::ALL.map(GateForm::name))),
            place: 20,
        },
        none: AUTO,
        get: |params| {
            let only = match params.protocol.forms() {
                [only] => Some(*only),
                _ => None,
            };
            params.form.or(only).map(|form| form.name().to_string())
        },
        set: |params, text| put(&mut params.form, text.map(str::parse).transpose().ok()),
    },
    General {
        spec: OptionSpec {
            name: "ot",
            value_name: "NAME",
            help: "How correlated OTs are made: iknp; softspoken2, softspoken4, softspoken8, with a \
                   half, a quarter, an eighth of its bytes; ferret, with a hundredth for large \
                   circuits, not in duplo and dualex; or auto, what suits the link",
            default: Some(AUTO),
            values: Values::Words(|| auto_or(&OtExtension::ALL.map(OtExtension::name))),
            place: 30,
        },
        none: AUTO,
        get: |params| params.ot.map(|ot| ot.name().to_string()),
        set: |params, text| put(&mut params.ot, text.map(str::parse).transpose().ok()),
    },
    General {
        spec: OptionSpec {
            name: "threads",
            value_name: "N",
            help: "Threads that make triples, 1 to 64, each with a connection of its own; from 2 on \
                   one more for the rest. With duplo and dualex, threads that garble; two where \
                   there are cores, even if this is 1",
            default: Some("1"),
            values: Values::Range(1, MAX_THREADS as u64),
            place: 40,
        },
        none: "",
        get: |params| Some(params.threads.to_string()),
        set: |params, text| put(&mut params.threads, text?.parse().ok()),
    },
    General {
        spec: OptionSpec {
            name: "batch",
            value_name: "N",
            help: "Evaluate the circuit N times: on values by the line, given as --input \
                   NAME=@FILE, or the same one for all; tinytable, duplo and dualex run them \
                   together",
            default: Some("1"),
            values: Values::Range(1, 1 << 40),
            place: 50,
        },
        none: "",
        get: |params| Some(params.executions.to_string()),
        set: |params, text| put(&mut params.executions, text?.parse().ok()),
    },
    General {
        spec: IN_FLIGHT,
        none: NONE,
        get: |params| params.in_flight.map(|limit| limit.to_string()),
        set: |params, text| put(&mut params.in_flight, text.map(str::parse).transpose().ok()),
    },
    General {
        spec: OptionSpec {
            name: "segment-gates",
            value_name: "GATES",
            help: "Stream circuits with more AND gates than this in segments of about this size; \
                   memory then does not grow with the circuit",
            default: Some("1048576"),
            values: Values::Range(1, u64::MAX),
            place: 110,
        },
        none: "",
        get: |params| Some(params.segment_gates.to_string()),
        set: |params, text| put(&mut params.segment_gates, text?.parse().ok()),
    },
    General {
        spec: OptionSpec {
            name: "pool-gates",
            value_name: "N",
            help: "Close a pool after this many AND gates, and begin another one; a circuit is \
                   prepared from one pool, which must be large enough for it",
            default: Some("16777216"),
            values: Values::Range(1, u64::MAX),
            place: 120,
        },
        none: "",
        get: |params| Some(params.pool_gates.to_string()),
        set: |params, text| put(&mut params.pool_gates, text?.parse().ok()),
    },
    General {
        spec: OptionSpec {
            name: "dealer",
            value_name: "NAME",
            help: "The dealer that all parties trust",
            default: None,
            values: Values::Text,
            place: 140,
        },
        none: NONE,
        get: |params| params.dealer.clone(),
        set: |params, text| put(&mut params.dealer, Some(text.map(str::to_string))),
    },
];
