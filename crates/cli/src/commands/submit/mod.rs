//! `symbolon submit`: gives a client's values for a call to the nodes of all parties.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use symbolon::circuit::{Input, PartyId, Type};
use symbolon::{BitVec, OutputValue};
use symbolon_clients::{Layout, Opened};
use symbolon_service::{ClientFailure, ClientNodes, Name, read_token};

use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, want_json};
use crate::common::packed::Packed;
use crate::common::secret::InputText;
use crate::source::values::{InputSources, Reading, given};

const HELP: &str = "\
The values are split into shares, one for each party; a party learns nothing from its share. The
client needs to stay only for an answer: with `--wait`.

EXAMPLE
  symbolon submit auction --call monday --client ann --input bids=250 --wait 3600 \\
      --node https://a.example:8443 --node https://b.example:8443 --node https://c.example:8443";

/// Arguments of `submit`.
#[derive(Args, Debug)]
#[command(after_long_help = HELP)]
pub struct SubmitArgs {
    /// The function
    #[arg(value_name = "FUNCTION")]
    function: String,
    /// The name of the call
    #[arg(long, value_name = "NAME")]
    call: String,
    /// This client's name, which all parties see
    #[arg(long, value_name = "NAME")]
    client: String,
    /// The door for clients of each party's node, party 0's first
    #[arg(long = "node", value_name = "URL", required = true)]
    nodes: Vec<String>,
    /// Give a value, as `run` takes it
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<InputText>,
    /// Read the token that belongs to the client's name, if the nodes want one
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
    /// Trust the certificates in this file, as PEM, instead of those that the system trusts
    #[arg(long, value_name = "FILE")]
    authorities: Option<PathBuf>,
    /// Wait up to SECONDS for the call to run, and print the answer
    #[arg(long, value_name = "SECONDS")]
    wait: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is printed with `--json`.
#[derive(Serialize)]
struct Submitted {
    call: String,
    client: String,
    /// Null without `--wait`.
    answers: Option<Vec<AnswerJson>>,
}

#[derive(Serialize)]
struct AnswerJson {
    name: String,
    value: String,
}

/// Gives values, and prints the answer if that is wanted.
///
/// # Errors
/// A usage failure before a node gets anything; otherwise why the client is left out.
pub fn command(args: &SubmitArgs) -> CliResult<()> {
    if args.json {
        want_json();
    }
    if args.wait.is_some_and(|wait| !(0.0..=604_800.0).contains(&wait)) {
        return Err(CliError::usage("--wait takes seconds, from 0 to a week's"));
    }
    let named = |option: &str, text: &str| -> CliResult<Name> {
        text.parse().map_err(|error| CliError::usage(format!("{option}: {error}")))
    };
    let function = named("FUNCTION", &args.function)?;
    let (call, client) = (named("--call", &args.call)?, named("--client", &args.client)?);
    let token = args.token.as_deref().map(read_token).transpose()?;
    let token = token.as_ref().map(|token| token.expose());
    let inputs = given(&args.inputs)?;
    let nodes = ClientNodes::new(&args.nodes, args.authorities.as_deref()).map_err(failure)?;
    let layout = nodes.layout(&function).map_err(failure)?;
    let made = layout.encode(&values(&layout, &inputs)?);
    let made = made.map_err(|error| failure(error.into()))?;
    let about = (&function, &call);
    nodes.submit(about, &client, token, &made).map_err(failure)?;
    let mut submitted =
        Submitted { call: args.call.clone(), client: args.client.clone(), answers: None };
    let Some(wait) = args.wait else {
        return match args.json {
            true => print_json(&submitted),
            false => print("all parties have their shares\n"),
        };
    };
    let wait = Duration::from_secs_f64(wait);
    let opened = nodes.answer(about, &client, (&layout, &made.receipt), wait).map_err(failure)?;
    let answers = answers(opened.as_ref())?;
    if args.json {
        submitted.answers = Some(answers);
        return print_json(&submitted);
    }
    match &answers[..] {
        [] => print("the values counted\n"),
        all => all
            .iter()
            .try_for_each(|AnswerJson { name, value }| print(&format!("{name} = {value}\n"))),
    }
}

fn failure(error: ClientFailure) -> CliError {
    CliError { code: error.code.clone(), ..CliError::new(error.class, error.to_string()) }
}

/// Reads the client's values, in the order of the layout.
fn values(layout: &Layout, given: &[InputSources]) -> CliResult<BitVec> {
    let all = &layout.ports().values;
    let known = || {
        let names = all.iter().map(|(name, ty)| format!("`{name}` ({ty})"));
        names.collect::<Vec<_>>().join(", ")
    };
    for (place, one) in given.iter().enumerate() {
        if !all.iter().any(|(name, _)| name == one.input.expose()) {
            return Err(CliError::usage("--input: clients give no value of that name")
                .with_hint(format!("they give {}", known())));
        }
        if given[..place].iter().any(|other| other.input == one.input) {
            return Err(CliError::usage("--input: a value is given twice"));
        }
    }
    let mut bits = BitVec::with_capacity(layout.ports().value_bits() as usize);
    for (name, ty) in all {
        let Some(one) = given.iter().find(|one| one.input.expose() == name) else {
            return Err(CliError::usage(format!("no value for `{name}` ({ty})"))
                .with_hint(format!("--input {name}=… gives it")));
        };
        let input = Input { name: name.clone(), ty: ty.clone(), owner: PartyId::new(0) };
        for Packed(value) in one.read(&input, None, Reading::default())? {
            bits.extend_from(&value);
        }
    }
    Ok(bits)
}

/// Returns the answers as texts.
fn answers(opened: Option<&Opened>) -> CliResult<Vec<AnswerJson>> {
    let Some(opened) = opened else { return Ok(Vec::new()) };
    if let Some(number) = opened.failure {
        return Err(CliError::assert(format!("assert {number} of the program failed")));
    }
    let text = |(name, ty, bits): &(String, Type, BitVec)| AnswerJson {
        name: name.clone(),
        value: OutputValue::text_of(ty, bits),
    };
    Ok(opened.answers.iter().map(text).collect())
}
