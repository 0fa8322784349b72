//! Results as JSON and as text. The field names are stable; docs/reference/json.md is generated
//! from their comments.

pub mod failed_asserts;
pub mod party;

use serde::{Deserialize, Serialize};
pub use symbolon::OutputJson;
use symbolon::circuit::{Circuit, Output, PartyId};
use symbolon::{Choice, OutputValue, PhaseReport, Session};

use crate::args::given::OptionsJson;
use crate::args::tuning::Tuning;
use crate::common::cost_table::{align, bytes, rate, time};
use crate::common::error::CliResult;
use crate::common::output::print;
use crate::common::packed::Packed;

/// What the phases cost one party, all runs together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartyJson {
    /// The party's number.
    pub party: PartyId,
    /// What it does in the protocol.
    pub role: String,
    /// Its phases, in order.
    pub phases: Vec<PhaseReport>,
}

/// Returns a table of bytes, messages, rounds and time, with a row for every party and phase.
pub fn costs(parties: &[PartyJson]) -> String {
    let mut rows = vec![
        ["party", "phase", "sent", "received", "messages", "rounds", "time"].map(String::from),
    ];
    for party in parties {
        for phase in &party.phases {
            rows.push([
                format!("{} ({})", party.party, party.role),
                phase.phase.clone(),
                bytes(phase.bytes_sent),
                bytes(phase.bytes_received),
                phase.messages_sent.to_string(),
                phase.rounds.to_string(),
                time(phase.seconds),
            ]);
        }
    }
    align(&rows, 2)
}

/// One of several runs over one session, all on the same inputs. If two runs, or two receivers of
/// one output, differ, the exit code is 70.
#[derive(Clone, Debug, Serialize)]
pub struct RunJson {
    /// Counted from 0.
    pub run: usize,
    /// What this run's phases cost each party; without the set-up, which comes once.
    pub parties: Vec<PartyJson>,
}

/// How it was garbled and what made the correlated OTs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChoiceJson {
    /// The form of garbling; absent when nothing was garbled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// What made correlated OTs; `none` with a dealer.
    pub ot: String,
    /// The dealer of the material: its fingerprint, `unauthenticated` or `in this process`.
    #[serde(default)]
    pub dealer: Option<String>,
    /// The slowest link between two parties and what was chosen from it.
    pub measured: Option<MeasuredJson>,
}

/// The slowest link between any two parties, and what was chosen from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredJson {
    /// Seconds there and back.
    pub round_trip: f64,
    /// Bits per second, about; at most 10¹⁰.
    pub bits_per_second: f64,
    /// Whether it may be more: the fastest links are not told apart.
    #[serde(default)]
    pub or_more: bool,
    /// `form`, `ot`, or both.
    pub chose: Vec<String>,
}

impl ChoiceJson {
    /// Converts the library's choice.
    pub fn of(choice: Choice) -> ChoiceJson {
        let Choice { form, ot, form_by_link, ot_by_link, link } = choice;
        let chose = [("form", form_by_link), ("ot", ot_by_link)];
        let chose = chose.iter().filter(|(_, by_link)| *by_link);
        let chose = chose.map(|(what, _)| what.to_string()).collect();
        let measured = link.map(|link| MeasuredJson {
            round_trip: link.round_trip.as_secs_f64(),
            bits_per_second: link.bytes_per_second as f64 * 8.0,
            or_more: link.is_fastest(),
            chose,
        });
        ChoiceJson { form: Some(form.to_string()), ot: ot.to_string(), dealer: None, measured }
    }

    /// Returns what a session chose.
    pub fn of_session(session: &Session) -> ChoiceJson {
        let choice = ChoiceJson::of(session.choice());
        match session.dealer() {
            // Then no OT was made.
            Some(dealer) => ChoiceJson {
                form: choice.form,
                measured: choice.measured,
                ..Self::none(Some(dealer))
            },
            None => choice,
        }
    }

    /// Returns the choice where no OT was made, but material may have been dealt.
    pub fn none(dealer: Option<&str>) -> ChoiceJson {
        let dealer = dealer.map(str::to_string);
        ChoiceJson { ot: "none".to_string(), dealer, ..ChoiceJson::default() }
    }

    /// Returns whether the form or the OT, as `what` says, was left to the link.
    fn by_link(&self, what: &str) -> bool {
        self.measured.as_ref().is_some_and(|measured| measured.chose.iter().any(|one| one == what))
    }

    /// Returns the form, if there is one, and the OT, as they were requested: two runs that left
    /// one to the link requested the same, even if the link's speed differed and they chose
    /// differently.
    pub fn asked(&self) -> Vec<String> {
        let named = [("form", self.form.as_ref()), ("ot", Some(&self.ot))];
        let named = named.into_iter().filter_map(|(what, name)| Some((what, name?)));
        let asked = named.map(|(what, name)| match self.by_link(what) {
            true => format!("{what} by the link"),
            false => name.clone(),
        });
        asked.collect()
    }

    /// Returns one line for people.
    pub fn line(&self) -> String {
        let by_link = |what: &str| if self.by_link(what) { " (by the link)" } else { "" };
        let form = self.form.as_ref().map(|form| format!("{form}{}, ", by_link("form")));
        let mut line = format!("{}OT {}{}", form.unwrap_or_default(), self.ot, by_link("ot"));
        if let Some(measured) = &self.measured {
            let (round_trip, rate) = (time(measured.round_trip), rate(measured.bits_per_second));
            let rate =
                if measured.or_more { format!("{rate} or more") } else { format!("about {rate}") };
            line.push_str(&format!("; link: round trip {round_trip}, {rate}"));
        }
        if let Some(dealer) = &self.dealer {
            line.push_str(&format!("; dealt by {dealer}"));
        }
        line.push('\n');
        line
    }
}

/// What one party learns in each evaluation, by output, in the form shown to people.
pub type BatchOutputs = Vec<Vec<Option<String>>>;

/// What was asked for, as `local` and `run` repeat it.
#[derive(Clone, Debug, Serialize)]
pub struct AskedJson {
    /// The circuit as it was named.
    pub circuit: String,
    /// BLAKE3 of the circuit with its owners and receivers, in hexadecimal.
    pub digest: String,
    /// The protocol.
    pub protocol: String,
    /// Statistical security in bits.
    pub rho: u32,
    /// How gates were garbled and what made correlated OTs, asked for or chosen from the link.
    #[serde(flatten)]
    pub choice: ChoiceJson,
    /// How many evaluations there were.
    pub batch: u64,
    /// The options of the protocol.
    #[serde(flatten)]
    pub options: OptionsJson,
    /// Threads, as `--threads` gave them.
    pub threads: usize,
    /// `tls`, `tcp` or `memory`.
    pub transport: &'static str,
    /// The simulated link as it was given.
    pub link: Option<String>,
}

impl AskedJson {
    /// Returns what was asked for when `circuit` was named `name` and ran as `tuning` says.
    pub fn new(
        name: &str,
        circuit: &Circuit,
        tuning: &Tuning,
        choice: ChoiceJson,
        transport: &'static str,
    ) -> AskedJson {
        AskedJson {
            circuit: name.to_string(),
            digest: hex::encode(circuit.digest()),
            protocol: tuning.params.protocol.name().to_string(),
            rho: tuning.params.rho.bits(),
            choice,
            batch: tuning.params.executions,
            options: OptionsJson::of(&tuning.params),
            threads: tuning.params.threads,
            transport,
            link: tuning.link.as_ref().map(|(text, _)| text.clone()),
        }
    }
}

/// What `local --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct LocalJson {
    /// `symbolon-local-1`.
    pub format: &'static str,
    /// What was asked for.
    #[serde(flatten)]
    pub asked: AskedJson,
    /// How often the phases ran.
    pub repeat: u32,
    /// Every output, in the circuit's order; empty with more than one evaluation.
    pub outputs: Vec<OutputJson>,
    /// With more than one evaluation, for each of them every output as printed, null if not learnt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batch_outputs: BatchOutputs,
    /// By party: sums over all runs, with the set-up, which begins when the connections are open.
    pub parties: Vec<PartyJson>,
    /// Each run by itself.
    pub runs: Vec<RunJson>,
}

/// What `run --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct RemoteJson {
    /// `symbolon-run-1`.
    pub format: &'static str,
    /// What was asked for.
    #[serde(flatten)]
    pub asked: AskedJson,
    /// Every output, in the circuit's order; empty with more than one evaluation.
    pub outputs: Vec<OutputJson>,
    /// With more than one evaluation, for each of them every output as printed, null if not learnt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batch_outputs: BatchOutputs,
    /// This party's costs.
    #[serde(flatten)]
    pub party: PartyJson,
}

/// The result of `parts --json`.
#[derive(Clone, Debug, Serialize)]
pub struct PartsJson {
    /// `symbolon-parts-1`.
    pub format: &'static str,
    /// The protocol.
    pub protocol: String,
    /// Statistical security in bits.
    pub rho: u32,
    /// How gates were garbled and what made correlated OTs.
    #[serde(flatten)]
    pub choice: ChoiceJson,
    /// Threads, as `--threads` gave them.
    pub threads: usize,
    /// `tls`, `tcp` or `memory`.
    pub transport: &'static str,
    /// The simulated link as it was given, or null.
    pub link: Option<String>,
    /// The parts, in order.
    pub parts: Vec<PartJson>,
    /// What it cost this party; with `--local`, both.
    pub parties: Vec<PartyJson>,
}

/// The result of `prepare --json`.
#[derive(Clone, Debug, Serialize)]
pub struct PreparedJson {
    /// `symbolon-prepare-1`.
    pub format: &'static str,
    /// The circuit as it was named.
    pub circuit: String,
    /// BLAKE3 of the circuit with its owners and receivers, in hexadecimal.
    pub digest: String,
    /// The protocol.
    pub protocol: String,
    /// Statistical security in bits.
    pub rho: u32,
    /// How many evaluations each prepared circuit is for.
    pub batch: u64,
    /// The prepared circuits, by their names in every party's store.
    pub items: Vec<String>,
    /// How many of them were made from pools.
    pub from_pools: usize,
    /// How many of them depend on a dealer's material.
    pub dealt: usize,
    /// How far the stores agreed on their pools.
    pub stores: StoresJson,
    /// What it cost this party.
    pub parties: Vec<PartyJson>,
}

/// How far the parties' stores agree on pools that could be used.
#[derive(Clone, Debug, Serialize)]
pub struct StoresJson {
    /// Pools that every party holds.
    pub common: usize,
    /// Pools that only this party holds.
    pub only_here: usize,
    /// Pools that this party does not hold.
    pub only_elsewhere: usize,
    /// Pools of which some parties have used more than others.
    pub uneven: usize,
}

/// A part of a computation.
#[derive(Clone, Debug, Serialize)]
pub struct PartJson {
    /// Its name.
    pub name: String,
    /// Its circuit as it was named.
    pub circuit: String,
    /// The circuit's digest, in hexadecimal.
    pub digest: String,
    /// Whether it was run, or left out because of its `when`.
    pub ran: bool,
    /// Its outputs, as for `run`; none if it was left out.
    pub outputs: Vec<OutputJson>,
}

/// Prints every learnt output as `name = value`, one per line.
///
/// # Errors
/// Those of [`print()`].
pub fn print_outputs(circuit: &Circuit, learnt: &[Option<Packed>]) -> CliResult<()> {
    let mut text = String::new();
    for (Output { name, ty, .. }, bits) in circuit.outputs().iter().zip(learnt) {
        if let Some(Packed(bits)) = bits {
            text.push_str(&format!("{name} = {}\n", OutputValue::text_of(ty, bits)));
        }
    }
    print(&text)
}

/// Returns every output as JSON.
pub fn outputs_json(circuit: &Circuit, learnt: &[Option<Packed>], parties: u16) -> Vec<OutputJson> {
    let outputs = circuit.outputs().iter().zip(learnt);
    let json = outputs.map(|(output, bits)| {
        OutputJson::new(output, bits.as_ref().map(|Packed(bits)| bits), parties)
    });
    json.collect()
}

#[cfg(test)]
mod tests {
    use symbolon::circuit::Type;

    use super::*;

    /// Returns the line for a link that is measured at this speed.
    fn line(bits_per_second: f64, or_more: bool) -> String {
        let measured =
            MeasuredJson { bits_per_second, or_more, round_trip: 1e-3, ..MeasuredJson::default() };
        ChoiceJson { measured: Some(measured), ..ChoiceJson::none(None) }.line()
    }

    #[test]
    fn values_are_printed_as_the_library_does() {
        let wide = Type::Enum {
            name: "C".into(),
            variants: vec![("Red".into(), vec![]), ("W".into(), vec![Type::Uint(128)])],
        };
        let pair = Type::Array { len: 2, elem: Box::new(wide.clone()) };
        let named = Type::Struct {
            name: "S".into(),
            fields: vec![("a".into(), Type::Uint(100)), ("b".into(), wide.clone())],
        };
        let types = [
            (Type::Uint(64), "0"),
            (Type::Uint(128), "hex:00000000000000000000000000000000"),
            (Type::Int(72), "hex:000000000000000000"),
            (Type::Fixed { int: 40, frac: 80 }, "0.0"),
            (wide, "Red"),
            (pair, "[Red, Red]"),
            (named, "{\"a\": 0, \"b\": Red}"),
            (Type::Bool, "false"),
            (Type::Text(4), "\"\""),
        ];
        let option = |some| Type::Enum {
            name: "Option".into(),
            variants: vec![("None".into(), vec![]), ("Some".into(), vec![some])],
        };
        let of_ones = [
            (option(Type::Uint(64)), "18446744073709551615"),
            (option(Type::Int(65)), "-1"),
            (option(Type::Uint(66)), "73786976294838206463"),
            (Type::Uint(64), "18446744073709551615"),
            (Type::Uint(72), "hex:ffffffffffffffffff"),
            (Type::Text(2), "\"hex:ffff\""),
            (Type::Int(65), "hex:1ffffffffffffffff"),
        ];
        let types = types.map(|(ty, expected)| (ty, false, expected));
        let of_ones = of_ones.map(|(ty, expected)| (ty, true, expected));
        for (ty, bit, expected) in types.into_iter().chain(of_ones) {
            let bits = vec![bit; ty.width() as usize];
            assert_eq!(OutputValue::text_of(&ty, &bits.into()), expected, "{ty}");
        }
    }

    #[test]
    fn the_fastest_links_are_not_told_apart() {
        assert!(
            line(1e10, true).ends_with("1.0 ms, 10.0 Gbit/s or more\n"),
            "{}",
            line(1e10, true)
        );
        assert!(line(1e9, false).ends_with("about 1.0 Gbit/s\n"), "{}", line(1e9, false));
    }

    #[test]
    fn what_was_left_to_the_link_is_asked_for_alike_whatever_came_of_it() {
        let choice = |form: Option<&str>, ot: &str, chose: &[&str]| ChoiceJson {
            form: form.map(str::to_string),
            ot: ot.to_string(),
            dealer: None,
            measured: Some(MeasuredJson {
                chose: chose.iter().map(|one| one.to_string()).collect(),
                ..MeasuredJson::default()
            }),
        };
        let left = choice(Some("four-row"), "iknp", &["form", "ot"]).asked();
        assert_eq!(left, choice(Some("half-gates"), "softspoken4", &["form", "ot"]).asked());
        assert_eq!(left, ["form by the link", "ot by the link"]);
        let half = |ot| choice(Some("half-gates"), ot, &["form"]).asked();
        assert_eq!(half("iknp"), ["form by the link", "iknp"]);
        assert_ne!(half("iknp"), half("softspoken4"));
        assert_eq!(choice(None, "iknp", &["ot"]).asked(), ["ot by the link"]);
        assert_eq!(ChoiceJson::none(None).asked(), ["none"]);
    }
}
