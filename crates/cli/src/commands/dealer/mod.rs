//! `symbolon dealer`: deals to parties that trust it.

pub mod args;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use args::DealerArgs;
use symbolon::dealer::{
    AdmissionPolicy, Dealing, Event, Limits, ServerLimits, Summary, TurnedAway, serve,
};
use symbolon::{Fingerprint, Identity, Listener};

use crate::args::options::RemoteTransport;
use crate::common::cost_table::bytes;
use crate::common::error::{CliError, CliResult};
use crate::common::interrupt;
use crate::common::output::{print, tell};
use crate::parties::connect::tell_address;
use crate::progress::live;

/// Deals until it is interrupted or has served the requested number of sessions; prints a line for
/// each.
///
/// # Errors
/// A usage failure, or one of the class `System`, before the port is open; otherwise those of the
/// library.
pub fn command(args: &DealerArgs) -> CliResult<()> {
    symbolon::check_listening(&args.listen)?;
    live::set_up(&args.live, "dealer")?;
    let dealing = dealing(args)?;
    dealing.check()?;
    let door = Listener::bind(&args.listen)?;
    tell(
        "warning: this process will know all that it deals: together with any one party, or by reading what the \
         parties send each other, it learns all inputs and can change any output; alone it can spoil outputs\n",
    );
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::set_on_signal(&stop)?;
    tell_address(door.local_addr())?;
    let mut left = args.sessions;
    let stopping = stop.clone();
    let report = move |event: Event| {
        let served = matches!(event, Event::Served(_));
        let line = line(&event);
        live::note(&line);
        // Nobody needs to be listening.
        let _ = print(&line);
        left = left.map(|left| left.saturating_sub(u64::from(served)));
        if left == Some(0) {
            stopping.store(true, Ordering::SeqCst);
        }
    };
    serve(door, &dealing, &stop, report)?;
    CliError::if_interrupted()
}

fn dealing(args: &DealerArgs) -> CliResult<Dealing> {
    let join_timeout = Duration::try_from_secs_f64(args.join_timeout).ok().filter(|p| !p.is_zero());
    let join_timeout =
        join_timeout.ok_or_else(|| CliError::usage("--join-timeout takes seconds above 0"))?;
    if args.at_once == 0 {
        return Err(CliError::usage("--at-once takes at least 1"));
    }
    let per_session = Limits { and_gates: args.max_gates, input_bits: args.max_input_bits };
    let limits = ServerLimits {
        per_session,
        join_timeout,
        running: args.at_once,
        ..ServerLimits::default()
    };
    if args.transport == Some(RemoteTransport::Tcp) {
        if args.key.is_some() || !args.allowed.is_empty() {
            return Err(CliError::usage("plain TCP uses no key and no fingerprint")
                .with_hint("leave --transport out to use TLS"));
        }
        tell(
            "warning: plain TCP is neither private nor authenticated: anybody on the way can read all that is \
             dealt, and anybody may take any party's slot\n",
        );
        return Ok(Dealing { identity: None, admit: AdmissionPolicy::Anybody, limits });
    }
    let key = args.key.as_ref().ok_or_else(|| {
        CliError::usage("TLS needs the dealer's identity: --key FILE")
            .with_hint("`symbolon keygen --out FILE` makes one; the parties pin its fingerprint")
    })?;
    let identity = Identity::load(key)?;
    let admit = match (args.allow_any, &args.allowed[..]) {
        (true, _) => AdmissionPolicy::Anybody,
        (false, []) => {
            return Err(CliError::usage(
                "no party is admitted: give --allow FINGERPRINT for every party",
            )
            .with_hint("or --allow-any: a key gets no slot but its own in both cases"));
        }
        (false, prints) => {
            let keys = prints.iter().map(|text| Ok(text.parse::<Fingerprint>()?));
            AdmissionPolicy::Keys(keys.collect::<CliResult<_>>()?)
        }
    };
    tell(&format!("the parties need this fingerprint: {}\n", identity.fingerprint()));
    Ok(Dealing { identity: Some(identity), admit, limits })
}

/// Returns one line for people.
fn line(event: &Event) -> String {
    let short = |session: &[u8; 32]| hex::encode(&session[..8]);
    match event {
        Event::Served(Summary { session, and_gates, input_bits, bytes: sent }) => format!(
            "served {}: {} parties, {and_gates} AND gates, {} input bits, {} sent\n",
            short(session),
            input_bits.len(),
            input_bits.iter().sum::<u64>(),
            bytes(sent.iter().sum())
        ),
        Event::Failed { session, error } => {
            let session = session.as_ref().map_or(String::new(), |id| format!(" {}", short(id)));
            format!("failed{session}: {error}\n")
        }
        Event::TurnedAway(TurnedAway { displaced, overflowed, refused }) => {
            let system = refused.as_ref().map_or(String::new(), |why| {
                format!("; the system accepted none for a while: {why}")
            });
            format!(
                "turned away: {} connections that had not said who they are, to make room for others{system}\n",
                displaced + overflowed
            )
        }
    }
}
