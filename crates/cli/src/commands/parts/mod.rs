//! `symbolon parts`: a computation in parts. Outputs of one part are inputs of later ones without
//! being opened, and which parts are run may depend on outputs that were opened.

pub mod args;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use symbolon::circuit::{Circuit, Input, Output, PartyId, parse_value};
use symbolon::{
    BitVec, Config, Inputs, Link, OutputValue, Outputs, Port, Report, Session, Transport,
};

use crate::args::RunArgs;
use crate::args::labels::Labels;
use crate::args::owners::{Audience, Owner};
use crate::args::program::ProgramArgs;
use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, want_json};
use crate::common::packed::Packed;
use crate::common::reading::{CIRCUIT, read_text};
use crate::parties::connect;
use crate::parties::local_runner::{party_end, party_thread};
use crate::parties::remote::{party_costs, tell_costs, who};
use crate::progress::{self, Progress, Sink};
use crate::results::failed_asserts::check_failure;
use crate::results::party::learnt as learnt_bits;
use crate::results::{ChoiceJson, OutputJson, PartJson, PartsJson};
use crate::settings::Settings;
use crate::source::values::{InputSources, Reading, Resolved, one_from_standard_input, resolve};
use crate::source::{CircuitSpec, from_folder, place};

use args::PartsArgs;

/// How many parties there are.
const PARTIES: u16 = 2;

/// The file that lists the parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartsFile {
    part: Vec<PartEntry>,
}

/// A part as it is in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartEntry {
    name: String,
    circuit: String,
    #[serde(default)]
    owners: BTreeMap<String, PartyId>,
    #[serde(default)]
    outputs: BTreeMap<String, String>,
    /// Inputs, and the outputs of earlier parts that they are, `PART.OUTPUT`.
    #[serde(default)]
    links: BTreeMap<String, String>,
    /// `PART.OUTPUT = VALUE`: the value that must have been opened for this part to run.
    when: Option<String>,
}

/// An output of an earlier part.
#[derive(Clone, Copy, Debug)]
struct Source {
    part: usize,
    output: usize,
}

/// A part.
struct Part {
    name: String,
    /// The circuit as it is named in the file.
    given: String,
    circuit: Circuit,
    /// Inputs by their place, and what they are.
    links: Vec<(usize, Source)>,
    /// The value that must have been opened, as bits.
    when: Option<(Source, BitVec)>,
}

/// All parts, in order.
struct Plan(Vec<Part>);

/// What was learnt from each part, in order; `None` for parts that were left out.
type Learnt = Vec<Option<Vec<OutputJson>>>;

/// The final result of a party.
struct Played {
    learnt: Learnt,
    /// The failed assert that ended the run, if there was one.
    failure: CliResult<()>,
    choice: ChoiceJson,
    report: Report,
}

/// Runs the parts of a file, all here or as one party.
///
/// # Errors
/// A usage failure before anything is started; otherwise those of the library.
pub fn command(args: &PartsArgs) -> CliResult<()> {
    let run = RunArgs {
        meet: args.meet.clone(),
        inputs: args.inputs.clone(),
        json: args.json,
        ..RunArgs::default()
    };
    let mut settings = Settings::of(&run)?;
    if !settings.tuning.given.has("protocol") {
        settings.tuning.given.set("protocol", vec![args::DEFAULT.into()]);
    }
    if settings.json {
        want_json();
    }
    progress::set_up(&settings.show, &settings.tuning, "parts", &settings.spec.circuit)?;
    let (tuning, party) = if args.local {
        (Tuning::new(&settings.tuning, PARTIES)?, None)
    } else {
        let (tuning, party) = who(&settings)?;
        (tuning, Some(party))
    };
    check_options(&settings, &tuning)?;
    let plan = Plan::read(&args.plan)?;
    for part in &plan.0 {
        let known = tuning.check_circuit(&part.circuit);
        known.map_err(|failure| failure.under(&format!("part `{}`", part.name)))?;
    }
    let values = plan.values(&settings.inputs, party)?;
    let parties = party.map_or(vec![0.into(), 1.into()], |party| vec![party]);
    for &party in &parties {
        plan.inputs(party, &values)?;
    }
    let (played, transport) = match party {
        None => (run_here(&tuning, &plan, &values)?, "memory"),
        Some(party) => {
            let transport = connect::transport(&settings, party)?;
            let config = tuning.apply_with_link(Config::new(party, transport))?;
            let progress = Progress::begin()?;
            // Each part's outputs are shown as soon as they are known, unless the result is a
            // document.
            let mut show = |part: &Part, outputs: &[OutputJson]| match settings.json {
                true => Ok(()),
                false => print(&lines(part, outputs)),
            };
            let played = play(config, &plan, &values, &progress.sink(party), &mut show)?;
            (vec![(party, played)], settings.transport.name())
        }
    };
    let learnt = agreed(&played)?;
    let failures = played.iter().map(|(_, played)| played.failure.clone());
    let failure = failures.fold(Ok(()), CliResult::and);
    let costs: Vec<(PartyId, &Report)> =
        played.iter().map(|(party, played)| (*party, &played.report)).collect();
    if !settings.json {
        if party.is_none() {
            let parts = plan.0.iter().zip(&learnt);
            let text = parts.filter_map(|(part, outputs)| Some(lines(part, outputs.as_ref()?)));
            print(&text.collect::<String>())?;
        }
        tell_costs(&tuning, &costs);
        return failure;
    }
    let parties = party_costs(&tuning, &costs);
    progress::live::report(&parties, "");
    let choice = played.first().map(|(_, played)| played.choice.clone()).unwrap_or_default();
    print_json(&PartsJson {
        format: "symbolon-parts-1",
        protocol: tuning.params.protocol.name().to_string(),
        rho: tuning.params.rho.bits(),
        choice,
        threads: tuning.params.threads,
        transport,
        link: tuning.link.as_ref().map(|(text, _)| text.clone()),
        parts: plan.0.iter().zip(learnt).map(|(part, outputs)| part.json(outputs)).collect(),
        parties,
    })?;
    failure
}

/// Refuses options and settings that `parts` does not use.
fn check_options(settings: &Settings, tuning: &Tuning) -> CliResult<()> {
    let protocol = tuning.params.protocol;
    if !protocol.continues() {
        let text = format!("{} keeps no outputs for a later part", protocol.name());
        return Err(CliError::usage(text).with_hint("--protocol duplo does"));
    }
    let spec = &settings.spec;
    let given = [
        (!spec.circuit.is_empty(), "a circuit"),
        (settings.dealer.is_some() || settings.dealer_fingerprint.is_some(), "a dealer"),
        (!spec.owners.is_empty(), "owners"),
        (!spec.outputs.is_empty(), "receivers"),
        (spec.labels != Labels::default(), "types and names of ports"),
        (spec.program != ProgramArgs::default(), "an entry and constants"),
        (!settings.saves.is_empty(), "files for outputs"),
        (settings.pad, "padding"),
        (settings.prepared, "prepared circuits"),
    ];
    if let Some((_, what)) = given.iter().find(|(given, _)| *given) {
        return Err(CliError::usage(format!("`parts` takes no settings for {what}"))
            .with_hint("the file of parts says what each part takes"));
    }
    tuning.one_at_a_time("parts")?;
    tuning.runs_nothing("parts")
}

/// Runs both parties as threads of this process.
fn run_here(
    tuning: &Tuning,
    plan: &Plan,
    values: &[Resolved],
) -> CliResult<Vec<(PartyId, Played)>> {
    let link = tuning.link.as_ref().map(|(_, link)| *link);
    let (zero, one) = Transport::memory(tuning.params.threads, link)?;
    let progress = Progress::begin()?;
    let perform = |party: PartyId, transport: Transport| {
        let config = tuning.apply(Config::new(party, transport))?;
        play(config, plan, values, &progress.sink(party), &mut |_, _| Ok(()))
    };
    let perform = &perform;
    let (zero, one) = std::thread::scope(|scope| {
        let zero = party_thread(scope, move || perform(0.into(), zero));
        let one = party_thread(scope, move || perform(1.into(), one));
        (party_end(zero), party_end(one))
    });
    let parties = [(PartyId::new(0), zero), (PartyId::new(1), one)];
    let failed = |(_, end): &(PartyId, CliResult<Played>)| {
        end.as_ref().is_ok_and(|played| played.failure.is_err())
    };
    // A party that does not learn of the failed assert only sees that the other one has ended.
    let one_failed = parties.iter().any(failed);
    let ends = parties.into_iter().filter(|(_, end)| !one_failed || end.is_ok());
    ends.map(|(party, end)| Ok((party, end?))).collect()
}

/// Combines what the parties learnt.
fn agreed(played: &[(PartyId, Played)]) -> CliResult<Learnt> {
    let [(_, first), others @ ..] = played else {
        return Err(CliError::internal("there are no parties"));
    };
    let mut learnt = first.learnt.clone();
    for (_, other) in others {
        for (known, new) in learnt.iter_mut().flatten().zip(other.learnt.iter().flatten()) {
            for (known, new) in known.iter_mut().zip(new) {
                match (&known.bits, &new.bits) {
                    (Some(a), Some(b)) if a != b => {
                        let text = "the parties learnt different values of one output";
                        return Err(CliError::internal(text));
                    }
                    (None, _) => known.clone_from(new),
                    _ => {}
                }
            }
        }
    }
    Ok(learnt)
}

/// Returns `PART.OUTPUT = VALUE` for everything that was learnt.
fn lines(part: &Part, outputs: &[OutputJson]) -> String {
    let line = |output: &OutputJson| {
        let Output { ty, .. } = part.circuit.outputs().iter().find(|o| o.name == output.name)?;
        let bits: Vec<bool> = output.bits.as_ref()?.bytes().map(|bit| bit == b'1').collect();
        let value = OutputValue::text_of(ty, &bits.into());
        Some(format!("{}.{} = {value}\n", part.name, output.name))
    };
    outputs.iter().filter_map(line).collect()
}

/// Evaluates one part after the other as one party, and reports what it learns from each; ends
/// after a part in which an assert failed.
fn play(
    config: Config,
    plan: &Plan,
    values: &[Resolved],
    sink: &Sink,
    each: &mut dyn FnMut(&Part, &[OutputJson]) -> CliResult<()>,
) -> CliResult<Played> {
    let inputs = plan.inputs(config.party(), values)?;
    let [first, ..] = &plan.0[..] else { return Err(CliError::internal("a plan without parts")) };
    let mut session =
        Session::connect_in_parts(sink.attach(config), &first.circuit, &plan.terms())?;
    let choice = ChoiceJson::of_session(&session);
    let mut learnt = Learnt::new();
    // What was learnt from each part, and its number among those that were run.
    let mut ran: Vec<Option<(Outputs, usize)>> = Vec::new();
    let (mut number, mut failure) = (0, Ok(()));
    for (part, inputs) in plan.0.iter().zip(&inputs) {
        if !part.is_wanted(&ran) {
            ran.push(None);
            learnt.push(None);
            continue;
        }
        let outputs = if number == 0 {
            session.evaluate_part(inputs)?
        } else {
            session.continue_with(&part.circuit, &part.links_to(plan, &ran)?, inputs)?
        };
        let shown = OutputJson::all(&outputs, PARTIES);
        each(part, &shown)?;
        failure = check_failure(&part.circuit, &learnt_bits(&outputs))
            .map_err(|failure| failure.under(&format!("part `{}`", part.name)));
        learnt.push(Some(shown));
        if failure.is_err() {
            break;
        }
        ran.push(Some((outputs, number)));
        number += 1;
    }
    learnt.resize(plan.0.len(), None);
    Ok(Played { learnt, failure, choice, report: session.report() })
}

impl Part {
    /// Returns the part with its outputs, or without them if it was not run.
    fn json(&self, outputs: Option<Vec<OutputJson>>) -> PartJson {
        PartJson {
            name: self.name.clone(),
            circuit: self.given.clone(),
            digest: hex::encode(self.circuit.digest()),
            ran: outputs.is_some(),
            outputs: outputs.unwrap_or_default(),
        }
    }

    fn is_wanted(&self, ran: &[Option<(Outputs, usize)>]) -> bool {
        let Some((Source { part, output }, bits)) = &self.when else { return true };
        let Some((outputs, _)) = &ran[*part] else { return false };
        outputs.get(*output).is_some_and(|learnt| learnt.bits.as_ref() == Some(bits))
    }

    /// Returns the links, in terms of the parts that were run.
    fn links_to(&self, plan: &Plan, ran: &[Option<(Outputs, usize)>]) -> CliResult<Vec<Link>> {
        let one = |&(input, Source { part, output }): &(usize, Source)| match &ran[part] {
            Some((_, part)) => Ok(Link { input, part: *part, output }),
            None => Err(CliError::usage(format!(
                "part `{}` uses part `{}`, which was not run",
                self.name, plan.0[part].name
            ))),
        };
        self.links.iter().map(one).collect()
    }
}

impl Plan {
    fn read(path: &Path) -> CliResult<Plan> {
        let text = read_text(path, CIRCUIT)?;
        let wrong = |why: String| CliError::usage(format!("{}: {why}", path.display()));
        let file: PartsFile = toml::from_str(text.as_str()).map_err(|error| {
            let before = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text.as_bytes()[..before].iter().filter(|&&b| b == b'\n').count();
            wrong(format!("line {line}: {}", error.message()))
        })?;
        let mut plan = Plan(Vec::new());
        for entry in file.part {
            let name = entry.name.clone();
            let part = plan.part(entry, path.parent());
            plan.0.push(part.map_err(|failure| failure.under(&format!("part `{name}`")))?);
        }
        if plan.0.is_empty() {
            return Err(wrong("there is no [[part]]".to_string()));
        }
        Ok(plan)
    }

    /// Returns what must be the same for both parties. It is compared before the first part is run,
    /// since differences that depend on an opened output would show only later.
    fn terms(&self) -> Vec<(String, String)> {
        let mut terms = vec![("parts".to_string(), self.0.len().to_string())];
        for (number, part) in (1..).zip(&self.0) {
            let mut links = part.links.clone();
            links.sort_unstable_by_key(|&(input, _)| input);
            let link = |&(input, source): &(usize, Source)| {
                format!("{} = {}", part.circuit.inputs()[input].name, self.name_of(source))
            };
            let links = links.iter().map(link).collect::<Vec<_>>().join(", ");
            let when = part.when.as_ref().map_or("always".to_string(), |(source, bits)| {
                let output = &self.0[source.part].circuit.outputs()[source.output];
                let value = OutputValue::text_of(&output.ty, bits);
                format!("{} = {value}", self.name_of(*source))
            });
            let of_part = [
                ("name", part.name.clone()),
                ("circuit", hex::encode(part.circuit.digest())),
                ("links", if links.is_empty() { "none".to_string() } else { links }),
                ("when", when),
            ];
            terms.extend(of_part.map(|(what, value)| (format!("part {number}: {what}"), value)));
        }
        terms
    }

    /// Returns `PART.OUTPUT`.
    fn name_of(&self, Source { part, output }: Source) -> String {
        let part = &self.0[part];
        format!("{}.{}", part.name, part.circuit.outputs()[output].name)
    }

    fn part(&self, entry: PartEntry, folder: Option<&Path>) -> CliResult<Part> {
        let PartEntry { name, circuit, owners, outputs, links, when } = entry;
        if name.is_empty() || name.contains('.') || self.0.iter().any(|part| part.name == name) {
            return Err(CliError::usage("a part has a name of its own, without a dot"));
        }
        let beside = from_folder(folder, &circuit);
        let circuit = match beside.exists() {
            true => beside.to_string_lossy().into_owned(),
            false => circuit,
        };
        let outputs = outputs.into_iter().map(|(output, parties)| {
            let audience: Audience = parties.parse().map_err(CliError::usage)?;
            Ok((output, audience))
        });
        let given = circuit.clone();
        let spec = CircuitSpec {
            circuit,
            owners: owners.into_iter().map(|(input, party)| (input, Owner::Party(party))).collect(),
            outputs: outputs.collect::<CliResult<_>>()?,
            ..CircuitSpec::default()
        };
        let circuit = spec.load(PARTIES)?.circuit;
        let inputs: Vec<&str> = circuit.inputs().iter().map(|input| &*input.name).collect();
        let link = |(input, source): (String, String)| {
            let input = place("input", &input, &inputs)?;
            let source = self.source(&source)?;
            let output = &self.0[source.part].circuit.outputs()[source.output];
            let (from, to) = (output.ty.width(), circuit.inputs()[input].ty.width());
            if from != to {
                let why = format!("input `{}` has {to} bits, and its source {from}", inputs[input]);
                return Err(CliError::usage(why));
            }
            Ok((input, source))
        };
        let links = links.into_iter().map(link).collect::<CliResult<_>>()?;
        let links: Vec<(usize, Source)> = links;
        let when = when.map(|when| self.condition(&when)).transpose()?;
        let perhaps = links.iter().map(|(_, source)| &self.0[source.part]);
        let mut perhaps = perhaps.filter(|part| part.when.is_some());
        if let (None, Some(part)) = (&when, perhaps.next()) {
            let text = format!("it uses part `{}`, which may be left out", part.name);
            return Err(CliError::usage(text).with_hint("give it a `when`, too"));
        }
        Ok(Part { name, given, circuit, links, when })
    }

    /// Parses `PART.OUTPUT` of an earlier part.
    fn source(&self, text: &str) -> CliResult<Source> {
        let wrong =
            || CliError::usage(format!("`{text}` is not the PART.OUTPUT of an earlier part"));
        let (part, output) = text.split_once('.').ok_or_else(wrong)?;
        let part = self.0.iter().position(|known| known.name == part.trim()).ok_or_else(wrong)?;
        let names: Vec<&str> =
            self.0[part].circuit.outputs().iter().map(|output| &*output.name).collect();
        Ok(Source { part, output: place("output", output.trim(), &names)? })
    }

    /// Parses `PART.OUTPUT = VALUE`, for an output that both parties learn.
    fn condition(&self, text: &str) -> CliResult<(Source, BitVec)> {
        let (source, value) = text
            .split_once('=')
            .ok_or_else(|| CliError::usage("`when` takes PART.OUTPUT = VALUE"))?;
        let source = self.source(source.trim())?;
        let output = &self.0[source.part].circuit.outputs()[source.output];
        if !(0..PARTIES).all(|party| output.to.contains(party)) {
            let why =
                format!("`when` takes an output that all learn, which `{}` is not", output.name);
            return Err(CliError::usage(why));
        }
        let (name, ty) = (output.name.clone(), output.ty.clone());
        let bits = parse_value(&Input { name, ty, owner: 0.into() }, value.trim())?;
        Ok((source, bits.into()))
    }

    /// Returns the values of each part's inputs, given as `PART.INPUT`.
    fn values(
        &self,
        given: &[(InputSources, Option<std::path::PathBuf>)],
        party: Option<PartyId>,
    ) -> CliResult<Vec<Resolved>> {
        one_from_standard_input(given.iter().map(|(value, _)| value))?;
        let mut of: Vec<Resolved> = self.0.iter().map(|_| Resolved::new()).collect();
        for (value, folder) in given {
            let names = || CliError::usage("--input takes PART.INPUT=VALUE");
            let (name, input) = value.input.expose().split_once('.').ok_or_else(names)?;
            let number = self.0.iter().position(|part| part.name == name).ok_or_else(|| {
                let known: Vec<String> =
                    self.0.iter().map(|part| format!("`{}`", part.name)).collect();
                CliError::usage("--input names a part that there is not")
                    .with_hint(format!("the parts are {}", known.join(", ")))
            })?;
            let circuit = &self.0[number].circuit;
            let one = InputSources { input: input.into(), value: value.value.clone() };
            let read = resolve(circuit, &[one], folder.as_deref(), Reading::default())?;
            for (place, value) in read {
                let input = &circuit.inputs()[place];
                if party.is_some_and(|party| party != input.owner) {
                    let text = format!("input `{}` belongs to party {}", input.name, input.owner);
                    return Err(CliError::usage(text));
                }
                if of[number].iter().any(|(known, _)| *known == place) {
                    return Err(CliError::usage(format!("input `{}` is given twice", input.name)));
                }
                of[number].push((place, value));
            }
        }
        Ok(of)
    }

    /// Returns a party's inputs for each part.
    fn inputs(&self, party: PartyId, values: &[Resolved]) -> CliResult<Vec<Inputs>> {
        let one = |(part, values): (&Part, &Resolved)| {
            let mut builder = Inputs::builder(&part.circuit, party);
            for (place, values) in values {
                if part.circuit.inputs()[*place].owner == party {
                    for Packed(bits) in values {
                        builder = builder.bits(Port::Index(*place), bits.clone())?;
                    }
                }
            }
            let linked = part.links.iter().map(|&(input, Source { part, output })| Link {
                input,
                part,
                output,
            });
            let linked: Vec<Link> = linked.collect();
            builder.finish_linked(&linked).map_err(|error| {
                let hint = "give it with --input PART.INPUT=VALUE";
                CliError::from(error).with_hint(format!("part `{}`: {hint}", part.name))
            })
        };
        self.0.iter().zip(values).map(one).collect()
    }
}
