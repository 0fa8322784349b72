//! `--live`: a page that shows what a command does while it works.
//!
//! The page is made of [`Event`]s and of what phases cost, which are public. It takes no input.

mod server;
mod view;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use symbolon::circuit::PartyId;

use super::board::Board;
use super::event::Event;
use crate::error::{CliError, CliResult};
use crate::interrupt;
use crate::output::tell;
use server::Access;

/// The most lines of the log and phases of a party that are kept.
const LINES: usize = 200;
const PHASES: usize = 12;

/// A page that was asked for this lately is being looked at.
const LOOKED_AT: Duration = Duration::from_secs(3);

/// How long a command waits for a page that is being looked at to fetch its end.
const LAST_LOOK: Duration = Duration::from_millis(1500);

/// The options about the page.
#[derive(Args, Debug, Default, Clone)]
pub struct LiveArgs {
    /// Show what happens on a page for browsers at http://127.0.0.1:PORT, as it happens; port 0
    /// picks a free one. ADDR:PORT, with an IP address, serves other machines, too, which need the
    /// token that is printed
    #[arg(long, value_name = "[ADDR:]PORT", help_heading = "Progress and log")]
    pub live: Option<LiveAddress>,
    /// Keep the page for this many seconds after the end, or until Ctrl-C [default: 0]
    #[arg(long, value_name = "SECONDS", help_heading = "Progress and log")]
    pub live_linger: Option<f64>,
}

impl LiveArgs {
    /// These options, and what they leave open as `other` has it.
    pub fn or(&self, other: LiveArgs) -> LiveArgs {
        LiveArgs {
            live: self.live.clone().or(other.live),
            live_linger: self.live_linger.or(other.live_linger),
        }
    }

    fn linger(&self) -> CliResult<Duration> {
        let seconds = self.live_linger.unwrap_or(0.0);
        if !(0.0..=604_800.0).contains(&seconds) {
            return Err(CliError::usage("--live-linger takes seconds, up to a week's"));
        }
        if self.live.is_none() && self.live_linger.is_some() {
            return Err(CliError::usage("--live-linger is for --live"));
        }
        Ok(Duration::from_secs_f64(seconds))
    }
}

/// Where the page is served.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "PortOrText")]
pub struct LiveAddress(SocketAddr);

#[derive(Deserialize)]
#[serde(untagged)]
enum PortOrText {
    Port(u16),
    Text(String),
}

impl TryFrom<PortOrText> for LiveAddress {
    type Error = String;

    fn try_from(given: PortOrText) -> Result<Self, String> {
        match given {
            PortOrText::Port(port) => Ok(LiveAddress((Ipv4Addr::LOCALHOST, port).into())),
            PortOrText::Text(text) => text.parse(),
        }
    }
}

impl std::str::FromStr for LiveAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.strip_prefix("localhost:").unwrap_or(text).parse::<u16>();
        let address = port.map(|port| (Ipv4Addr::LOCALHOST, port).into());
        let address = address.or_else(|_| text.parse()).map(LiveAddress);
        address.map_err(|_| "a port, or an IP address and a port".to_string())
    }
}

/// What the page shows.
struct Live {
    command: String,
    begin: Instant,
    title: Option<String>,
    board: Board,
    parties: Vec<(PartyId, Party)>,
    /// Seconds since the beginning, and what happened.
    log: VecDeque<(f64, String)>,
    /// How the command ended, in words, and after how many seconds.
    end: Option<(f64, Option<String>)>,
    /// What is shown after the end.
    report: Option<String>,
    linger: Duration,
    looked: Option<Instant>,
    /// Whether somebody has seen the end.
    seen: bool,
}

/// What a party has done so far.
#[derive(Default)]
struct Party {
    phases: VecDeque<Phase>,
}

/// A phase of a party, by seconds since the beginning.
struct Phase {
    name: String,
    begin: f64,
    end: Option<f64>,
    sent: u64,
    received: u64,
}

static LIVE: OnceLock<Mutex<Live>> = OnceLock::new();

/// The state of the page, if there is one.
fn live() -> Option<MutexGuard<'static, Live>> {
    LIVE.get().map(|live| live.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether there is a page.
pub fn is_on() -> bool {
    LIVE.get().is_some()
}

/// Serves the page, if that was asked for, and tells where it is.
///
/// # Errors
/// A usage failure when the address is taken or not of this machine.
pub fn set_up(args: &LiveArgs, command: &str) -> CliResult<()> {
    let linger = args.linger()?;
    let Some(LiveAddress(address)) = args.live else { return Ok(()) };
    let failed = |error| CliError::io(format!("--live: cannot listen on {address}"), &error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let access = Access::new(is_loopback(address.ip()))?;
    let url = access.url(address);
    let state = Live {
        command: command.to_string(),
        begin: Instant::now(),
        title: None,
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

/// Takes an event of a party into account.
pub fn hear(party: PartyId, event: &Event) {
    if let Some(mut live) = live() {
        live.hear(party, event);
    }
}

/// Names the measurement under way.
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

/// Has the page show costs after the end.
pub fn report(parties: &[crate::results::PartyJson], choice: &str) {
    if is_on() {
        set_report(view::costs(parties, choice).into_string());
    }
}

/// Has the page show this HTML after the end.
pub fn set_report(html: String) {
    if let Some(mut live) = live() {
        live.report = Some(html);
    }
}

/// Shows the end. Waits as long as was asked for, and a moment for a page that is being looked at.
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
        !interrupt::came() && (end.elapsed() < linger || last_look)
    };
    while waits(live().is_some_and(|live| live.seen)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    if live().is_some_and(|live| live.seen) {
        // The answer is on its way.
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Live {
    fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    fn note(&mut self, line: String) {
        if self.log.len() == LINES {
            self.log.pop_front();
        }
        let now = self.seconds();
        self.log.push_back((now, line));
    }

    fn hear(&mut self, party: PartyId, event: &Event) {
        self.board.note(party, event);
        if let Some(line) = view::line(event) {
            self.note(format!("party {party}: {line}"));
        }
        let now = self.seconds();
        let at = match self.parties.binary_search_by_key(&party, |(party, _)| *party) {
            Ok(at) => at,
            Err(at) => {
                self.parties.insert(at, (party, Party::default()));
                at
            }
        };
        let phases = &mut self.parties[at].1.phases;
        match event {
            Event::PhaseBegan { phase } => {
                if phases.len() == PHASES {
                    phases.pop_front();
                }
                let name = phase.clone();
                phases.push_back(Phase { name, begin: now, end: None, sent: 0, received: 0 });
            }
            Event::Work { phase, bytes_sent, bytes_received, .. } => {
                if let Some(known) = phases.iter_mut().rev().find(|known| known.name == *phase) {
                    (known.sent, known.received) = (*bytes_sent, *bytes_received);
                }
            }
            Event::PhaseEnded { phase } => {
                if let Some(known) = phases.iter_mut().rev().find(|known| known.name == *phase) {
                    known.end = Some(now);
                }
            }
            _ => {}
        }
    }
}

/// What an HTTP request is answered with: the status alone. Nothing is served.
pub fn check_request(bytes: &[u8]) -> u16 {
    let access = Access { token: Some("0123".to_string()) };
    server::status(&access, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_of_loopback_or_an_ip_address_with_a_port() {
        let parsed = |text: &str| text.parse::<LiveAddress>().map(|LiveAddress(at)| at.to_string());
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            ("localhost:1", "127.0.0.1:1"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:9", "[::1]:9"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(address));
        }
        for wrong in ["", "65536", "example.org:80", "::1", "127.0.0.1", "-1"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
