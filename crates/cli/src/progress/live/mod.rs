//! `--live`: a page that shows what a command does while it works.
//!
//! The page is made of [`Event`]s and of what phases cost, which are public. It takes no input.

pub mod args;
mod server;
mod state;
mod view;

use std::collections::VecDeque;
use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use symbolon::circuit::PartyId;

use super::board::Board;
use super::event::Event;
use crate::common::error::{CliError, CliResult};
use crate::common::output::tell;
use crate::common::signal;
use args::{LiveAddress, LiveArgs};
use server::Access;
use state::{LIVE, Live, live};

/// A page that was requested within this time is being watched.
const LOOKED_AT: Duration = Duration::from_secs(3);

/// How long a command waits for a page that is being watched to fetch its end.
const LAST_LOOK: Duration = Duration::from_millis(1500);

/// Returns whether there is a page.
pub fn is_on() -> bool {
    LIVE.get().is_some()
}

/// Serves the page, if requested, and prints its address.
///
/// # Errors
/// A usage failure when the address is taken or does not belong to this machine.
pub fn set_up(args: &LiveArgs, title: &str) -> CliResult<()> {
    let linger = args.linger()?;
    let Some(LiveAddress(address)) = args.live else { return Ok(()) };
    let failed = |error| CliError::io(format!("--live: cannot listen on {address}"), &error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let access = Access::new(is_loopback(address.ip()))?;
    let url = access.url(address);
    let state = Live {
        name: title.to_string(),
        begin: Instant::now(),
        title: None,
        doing: "Getting ready".to_string(),
        board: Board::default(),
        parties: Vec::new(),
        log: VecDeque::new(),
        end: None,
        report: None,
        linger,
        looked: None,
        seen: false,
    };
    if LIVE.set(Mutex::new(state)).is_err() {
        return Err(CliError::internal("there are two live pages"));
    }
    server::start(listener, Arc::new(access))?;
    tell(&format!("live page: {url}\n"));
    if !is_loopback(address.ip()) {
        tell(
            "warning: the live page is plain HTTP: who reads the network reads it and its token\n",
        );
    }
    Ok(())
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Forgets the parties of an earlier measurement.
pub fn begin() {
    if let Some(mut live) = live() {
        live.board = Board::default();
        live.parties.clear();
    }
}

/// Says what the command does from now on, until a party begins.
pub fn doing(what: &str) {
    if let Some(mut live) = live() {
        live.doing = what.to_string();
        live.note(what.to_string());
    }
}

/// Takes an event of a party into account.
pub fn hear(party: PartyId, event: &Event) {
    if let Some(mut live) = live() {
        live.hear(party, event);
    }
}

/// Names the current measurement.
pub fn set_title(title: &str) {
    if let Some(mut live) = live() {
        live.title = Some(title.to_string());
        live.note(title.to_string());
    }
}

/// Adds a line to the log.
pub fn note(line: &str) {
    if let Some(mut live) = live() {
        live.note(line.trim_end().to_string());
    }
}

/// Makes the page show costs after the end.
pub fn report(parties: &[crate::results::PartyJson], choice: &str) {
    if is_on() {
        set_report(view::costs(parties, choice).into_string());
    }
}

/// Makes the page show this HTML after the end.
pub fn set_report(html: String) {
    if let Some(mut live) = live() {
        live.report = Some(html);
    }
}

/// Shows the end. Waits as long as requested, and a moment for a page that is being watched.
pub fn finish(failure: Option<&CliError>) {
    let Some(mut state) = live() else { return };
    let text = failure.map(|failure| failure.message.clone());
    state.note(text.clone().unwrap_or_else(|| "finished".to_string()));
    state.end = Some((state.seconds(), text));
    let looked_at = state.looked.is_some_and(|at| at.elapsed() < LOOKED_AT);
    let linger = state.linger;
    drop(state);
    let end = Instant::now();
    let waits = |seen: bool| {
        let last_look = looked_at && !seen && end.elapsed() < LAST_LOOK;
        !signal::came() && (end.elapsed() < linger || last_look)
    };
    while waits(live().is_some_and(|live| live.seen)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    if live().is_some_and(|live| live.seen) {
        // The answer is on its way.
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns only the status with which an HTTP request would be answered. Nothing is served.
///
/// # Errors
/// A failure of the system.
pub fn check_request(bytes: &[u8]) -> std::io::Result<u16> {
    server::status(Access { token: Some("0123".to_string()) }, bytes)
}
