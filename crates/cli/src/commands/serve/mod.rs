//! `symbolon serve`: a node of a service.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use symbolon::Error;
use symbolon_service::{Door, DoorConfig, Node, openapi};

use crate::common::error::{CliError, CliResult};
use crate::common::interrupt;
use crate::common::output::{print, tell};
use crate::parties::connect::tell_address;
use crate::progress::args::ShowArgs;
use crate::progress::set_up_log;
use crate::settings::node::NodeSettings;

const HELP: &str = "\
All parties run a node with the same functions. For a call, each gives its inputs to its own node,
under a name that the applications choose; when all inputs are there, the call is run.

EXAMPLE
  Party 0's node.toml; that of party 1 differs in `me`, `key` and [door]:
    me = 0
    key = \"alice.key\"               # from `symbolon keygen`; while it changes, `old_keys = [\"old.key\"]` are
                                    # proven to parties that do not accept the new one yet
    timeout = 60                    # seconds for which a peer may be silent during a run
    state = \"state\"                 # a folder: how many calls were made
    store = \"store\"                 # a folder: executions outlast a restart; all parties have one or none.
    store_key = \"store.secret\"      # or `store_passphrase`: files, as for --store-key; without, it is readable
    [door]                          # for the applications of this machine
    socket = \"door/socket\"          # in a folder with mode 700; or `address` (of loopback) and `token` (a file)
    [[party]]
    id = 0
    address = \"alice.example:7000\"  # `listen = \"0.0.0.0:7000\"` above says where, if not there
    fingerprint = \"90ac…\"
    [[party]]
    id = 1                          # without an address it dials the others
    fingerprint = \"5d1f…\"
    # or, while it changes its key: keys = [{ fingerprint = \"77be…\" },
    #     { fingerprint = \"5d1f…\", until = \"2026-12-31T00:00:00Z\" }]
    [functions.encrypt]
    circuit = \"aes128\"              # or a file; `entry`, `const`, `owners`, `outputs`, `types`, `names` and the
    protocol = \"wrk\"                # parameters of the protocol are as in the settings of `run`
    side_by_side = 4                # sessions, each of which runs one call at a time
    ready = 16                      # executions to have prepared, over all sessions
    low = 8                         # refills begin below this
    callers = [0]                   # who may start a call; without it, everybody
    calls = 1000                    # how many calls this party takes part in, in all
    calls_per_hour = 100            # and in an hour
    wait = 10                       # seconds for which a call waits for inputs
    keep = 600                      # seconds for which an answer is kept
    waiting = 1000                  # how many calls may wait

  Functions with inputs `from clients` take submissions for calls that the application has opened:
    [clients]                       # the door for clients
    address = \"0.0.0.0:8443\"
    certificate = \"web.pem\"         # that browsers accept, and its `key`; without them on loopback alone, as
    key = \"web.key\"                 # behind a proxy
    origins = [\"https://auction.example\"] # whose pages may use it; \"*\": all
    nodes = [\"https://a.example:8443\", \"https://b.example:8443\"] # for clients: all parties' doors
    [functions.auction.clients]
    tokens = \"tokens\"               # a file with a client's name and its token a line; without it, anybody
    seconds = 86400                 # for which a call takes submissions, unless it is made earlier
    open = 16                       # how many calls take or hold submissions
    per_minute = 600                # requests of one network address; 0: any number
  A node keeps submissions in memory alone.

  Then, on each machine:
    symbolon serve node.toml
    symbolon call node.toml encrypt --id order-17 --input key=@key.txt
  or with any HTTP client:
    curl --unix-socket door/socket 'http://door/v1/functions/encrypt/calls/order-17?wait=10' \\
        --json '{\"inputs\": {\"key\": \"hex:2b7e151628aed2a6abf7158809cf4f3c\"}}'
  To open a call for clients, list them, and make the call:
    curl --unix-socket door/socket 'http://door/v1/functions/auction/calls/monday/clients' --json '{}'
    curl --unix-socket door/socket 'http://door/v1/functions/auction/calls/monday/clients'
    symbolon call node.toml auction --id monday

SIGHUP has the settings read again: keys, addresses, functions and `timeout` change without losing a
call, all else with a restart. If the new settings cannot be used, the old ones stay; the log says why.
A node keeps its prepared executions when keys change: each peer proves the lasting relation to which
they are bound. SIGTERM and SIGINT let running calls end and refuse all others; a second signal ends it
at once.";

/// Arguments of `serve`.
#[derive(Args, Debug)]
#[command(after_long_help = HELP)]
pub struct ServeArgs {
    /// The settings of the node
    #[arg(value_name = "FILE", required_unless_present = "openapi")]
    file: Option<PathBuf>,
    /// Print the OpenAPI document of the door instead
    #[arg(long, conflicts_with_all = ["file", "verbose", "log"])]
    openapi: bool,
    /// Log every connection and phase; -vv logs work, too
    #[arg(short, long, action = clap::ArgAction::Count, conflicts_with = "log")]
    verbose: u8,
    /// Log by level and target [default: symbolon::service=info]
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
}

/// Serves until it is interrupted.
///
/// # Errors
/// A usage failure before anything is open; otherwise those of the library.
pub fn command(args: &ServeArgs) -> CliResult<()> {
    let Some(file) = &args.file else { return print(&format!("{}\n", openapi())) };
    let usual = (args.verbose == 0).then(|| "symbolon::service=info".to_string());
    let log = args.log.clone().or(usual);
    set_up_log(&ShowArgs { verbose: args.verbose, log, ..ShowArgs::default() })?;
    let settings = NodeSettings::read(file)?;
    let door = settings.door()?;
    let clients = settings.clients_door()?;
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::set_on_signal(&stop)?;
    let again = Arc::new(AtomicBool::new(false));
    interrupt::set_on_hangup(&again)?;
    let config = settings.config()?;
    if let Some(listener) = &config.listener {
        tell_address(listener.local_addr())?;
    }
    let node = Arc::new(Node::start(config)?);
    let opened = Door::open(node.clone(), &door)?;
    match (&door, opened.address()) {
        (DoorConfig::Socket(path), _) => tell(&format!("the door is {}\n", path.display())),
        (_, Some(address)) => tell(&format!("the door is http://{address}\n")),
        _ => return Err(CliError::internal("a door without an address")),
    }
    let public =
        clients.map(|config| Door::open_public(node.clone(), &config).map(|door| (config, door)));
    let public = public.transpose()?;
    if let Some((config, door)) = &public
        && let Some(address) = door.address()
    {
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        tell(&format!("the door for clients is {scheme}://{address}\n"));
    }
    while !stop.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(50));
        if again.swap(false, Ordering::SeqCst) {
            let update = NodeSettings::read(file).and_then(|new| new.update_of(&settings));
            // The node logs what is wrong.
            let _ = node.update(update.map_err(|error| Error::InvalidInput(error.to_string())));
        }
    }
    tell("running calls end, all others are refused\n");
    node.drain();
    drop((opened, public));
    node.stop();
    Ok(())
}
