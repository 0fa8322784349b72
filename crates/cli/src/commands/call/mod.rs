//! `symbolon call`: gives inputs for a call to this party's node.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use symbolon::ErrorClass;
use symbolon::circuit::{Circuit, ClientPorts, PartyId};
use symbolon::zeroize::Zeroizing;
use symbolon_service::{CallReply, Client, ErrorReply, Name, NoReply, Reply, State};

use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, want_json};
use crate::common::packed::Packed;
use crate::common::secret::InputText;
use crate::results::print_outputs;
use crate::settings::node::NodeSettings;
use crate::source::values::{Reading, Resolved, given, inputs_of, only_own, resolve};

/// The longest time that one request waits, in seconds.
const ONE_WAIT: f64 = 60.0;

/// Arguments of `call`.
#[derive(Args, Debug)]
pub struct CallArgs {
    /// The settings of this party's node
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The function
    #[arg(value_name = "FUNCTION")]
    function: String,
    /// The name of the call, the same for all parties
    #[arg(long, value_name = "NAME")]
    id: String,
    /// Give an own input a value, as `run` takes it
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<InputText>,
    /// Fill lists that are shorter than their input with zero bits: `null`, 0, false
    #[arg(long)]
    pad: bool,
    /// Seconds to wait for the answer [default: 60]
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, hide_default_value = true)]
    wait: f64,
    /// Open the call for submissions of clients instead, at this party's node
    #[arg(long, conflicts_with_all = ["inputs", "pad", "wait"])]
    open: bool,
    /// Print what the node replies, as JSON
    #[arg(long)]
    json: bool,
}

/// Makes a call, and prints what this party learns.
///
/// # Errors
/// A usage failure before the node is asked; otherwise why there is no answer.
pub fn command(args: &CallArgs) -> CliResult<()> {
    if args.json {
        want_json();
    }
    if !(0.0..=86_400.0).contains(&args.wait) {
        return Err(CliError::usage("--wait takes seconds, from 0 to a day's"));
    }
    let id: Name = args.id.parse().map_err(|error| CliError::usage(format!("--id: {error}")))?;
    let settings = NodeSettings::read(&args.file)?;
    let client = Client::new(settings.door()?);
    let path = format!("/v1/functions/{}/calls/{id}", args.function);
    if args.open {
        return open(&client, &format!("{path}/clients"), args.json);
    }
    let (spec, loaded) = settings.load(&args.function)?;
    let how = Reading { pad: args.pad, by_line: false, spec: Some(&spec) };
    let resolved = resolve(&loaded.plain, &given(&args.inputs)?, None, how)?;
    let resolved = only_own(&loaded, settings.me(), resolved)?;
    let circuit = loaded.circuit;
    // The node adds what clients give.
    if ClientPorts::of(&circuit).is_none() {
        drop(inputs_of(&circuit, settings.me(), &resolved)?);
    }
    let reply = ask(&client, &path, body(&circuit, &resolved), args.wait)?;
    show(&circuit, settings.me(), &reply, args.json)
}

/// Opens a call for submissions of clients.
fn open(client: &Client, path: &str, json: bool) -> CliResult<()> {
    let body = Zeroizing::new(b"{}".to_vec());
    let reply = client.ask(path, Some(body), Duration::ZERO).map_err(away)?;
    if reply.status != 200 {
        return Err(refused(&reply));
    }
    match json {
        true => print(&format!("{}\n", String::from_utf8_lossy(&reply.body))),
        false => print("the call takes submissions\n"),
    }
}

fn away(error: NoReply) -> CliError {
    CliError::new(ErrorClass::Peer, error.to_string())
        .with_hint("is `symbolon serve` running with these settings?")
}

/// Returns what the node refuses.
fn refused(reply: &Reply) -> CliError {
    match serde_json::from_slice::<ErrorReply>(&reply.body) {
        Ok(error) => failure(&error),
        Err(_) => {
            let status = reply.status;
            CliError::new(ErrorClass::Peer, format!("the door replies with status {status}"))
        }
    }
}

/// Returns the body of a request: the wires of all values.
fn body(circuit: &Circuit, values: &Resolved) -> Zeroizing<Vec<u8>> {
    let length: usize = values.iter().flat_map(|(_, all)| all).map(|one| one.0.len() + 2048).sum();
    // It never grows, which would leave copies.
    let mut text = Zeroizing::new(String::with_capacity(length + 64));
    text.push_str("{\"bits\":{");
    for (number, (place, all)) in values.iter().enumerate() {
        let name = serde_json::Value::from(circuit.inputs()[*place].name.as_str());
        let _ = write!(text, "{}{name}:\"", if number == 0 { "" } else { "," });
        let bits = all.iter().flat_map(|Packed(bits)| bits.iter());
        bits.for_each(|bit| text.push(char::from(b'0' + u8::from(bit))));
        text.push('"');
    }
    text.push_str("}}");
    Zeroizing::new(std::mem::take(&mut *text).into_bytes())
}

/// Asks until there is an answer, for at most `wait` seconds.
fn ask(client: &Client, path: &str, body: Zeroizing<Vec<u8>>, wait: f64) -> CliResult<CallReply> {
    let until = Instant::now() + Duration::from_secs_f64(wait);
    let mut body = Some(body);
    loop {
        let left = until.saturating_duration_since(Instant::now()).as_secs_f64().min(ONE_WAIT);
        let path = format!("{path}?wait={left}");
        let reply = client.ask(&path, body.take(), Duration::from_secs_f64(left));
        let reply = reply.map_err(away)?;
        if let Ok(call) = serde_json::from_slice::<CallReply>(&reply.body) {
            if call.state != State::Waiting {
                return Ok(call);
            }
            if Instant::now() >= until {
                return Err(CliError::new(ErrorClass::Peer, "no answer yet: the call goes on")
                    .with_hint("the same command again waits for its answer"));
            }
        } else {
            return Err(refused(&reply));
        }
    }
}

/// Converts the node's error.
fn failure(error: &ErrorReply) -> CliError {
    let class = serde_json::from_value::<ErrorClass>(error.class.as_str().into());
    let class = match class.unwrap_or(ErrorClass::Peer) {
        ErrorClass::Store => ErrorClass::Usage,
        class => class,
    };
    CliError { code: error.code.clone(), ..CliError::new(class, error.message.clone()) }
}

/// Prints what was learnt.
fn show(circuit: &Circuit, me: PartyId, reply: &CallReply, json: bool) -> CliResult<()> {
    if let Some(error) = &reply.error {
        return Err(failure(error));
    }
    if json {
        print_json(reply)?;
    }
    if let Some(failed) = &reply.failure {
        let (text, file, line) = (&failed.text, &failed.file, failed.line);
        return Err(CliError::assert(format!("{text} ({file}, line {line})")));
    }
    if json {
        return Ok(());
    }
    let outputs = reply.outputs.as_deref().unwrap_or_default();
    if outputs.len() != circuit.outputs().len() {
        return Err(CliError::internal("the node has another circuit than its settings"));
    }
    let bits = outputs.iter().map(|output| {
        let digits = output.bits.as_deref()?;
        Some(Packed(digits.bytes().map(|digit| digit == b'1').collect()))
    });
    let bits: Vec<Option<Packed>> = bits.collect();
    if bits.iter().all(Option::is_none) {
        return print(&format!("party {me} learns nothing\n"));
    }
    print_outputs(circuit, &bits)
}
