//! Progress: bars on a terminal, a line from time to time elsewhere, events for programs.

pub mod args;
mod board;
mod event;
mod event_file;
pub mod live;
mod log;

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use event::{Event, Sink};
use event_file::{EventFile, unwritable};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
pub use log::{log_as_party, set_up as set_up_log};

use symbolon::NoThread;
use symbolon::circuit::PartyId;

use crate::args::options::TuningArgs;
use crate::args::tuning;
use crate::common::cost_table::clock;
use crate::common::error::{CliError, CliResult};
use crate::common::output::tell;
use crate::common::screen;
use args::ShowArgs;
use board::Board;
use symbolon::escape::one_line;

/// The time between two looks at bars that do not move.
const TICK: Duration = Duration::from_millis(200);

/// The most parties that have a bar each; more share a line.
const MOST_BARS: usize = 8;

/// The progress of every party of this process, and where it is shown.
pub struct Progress(Arc<Shared>);

struct Shared {
    display: Display,
    board: Mutex<Board>,
    events: Option<Arc<EventFile>>,
    begin: Instant,
    /// Ends the thread that shows progress from time to time, when dropped.
    _shows: Option<mpsc::Sender<()>>,
}

enum Display {
    /// Nothing.
    None,
    /// Bars, by party; `None` after the end, when a late event must draw nothing. A thread shows
    /// that time passes.
    Bars(MultiProgress, Mutex<Option<Vec<(PartyId, ProgressBar)>>>),
    /// A line from time to time, by a thread.
    Lines,
}

/// The file of events.
static EVENTS: Mutex<Option<Arc<EventFile>>> = Mutex::new(None);

/// The command's options.
static SHOW: OnceLock<ShowArgs> = OnceLock::new();

/// The current one of several measurements, in words.
static TITLE: Mutex<Option<String>> = Mutex::new(None);

/// Returns whether costs are shown: on a terminal, or if requested.
pub fn shows_costs() -> bool {
    let show = SHOW.get().cloned().unwrap_or_default();
    !show.quiet && (show.costs || std::io::stderr().is_terminal())
}

/// Returns what is logged, as a filter of `tracing`.
pub fn log_filter() -> Option<String> {
    SHOW.get().and_then(ShowArgs::log_filter)
}

/// Sets up what `show` requests, for a command of this name: the log, the file of events, costs,
/// the live page. The page's title has the circuit, if it is not empty. The reader of events may
/// take as long as a peer.
///
/// # Errors
/// A usage failure when the log's filter or the interval is invalid, or the file cannot be written;
/// those of [`EventFile::open`].
pub fn set_up(show: &ShowArgs, tuning: &TuningArgs, command: &str, circuit: &str) -> CliResult<()> {
    log::set_up(show)?;
    show.interval()?;
    live::set_up(&show.live, one_line(&format!("{command} {circuit}")).trim_end())?;
    let _ = SHOW.set(show.clone());
    let Some(path) = &show.events else { return Ok(()) };
    let file = EventFile::open(path, tuning::timeout(tuning)?)?;
    let started = Event::Started {
        format: event::FORMAT.to_string(),
        command: command.to_string(),
        version: env!("CARGO_PKG_VERSION").to_string(),
    };
    file.write(None, &started).map_err(|error| unwritable(path, &error))?;
    *EVENTS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(file));
    Ok(())
}

fn events() -> Option<Arc<EventFile>> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Reports the next of several measurements.
pub fn measure(number: usize, of: usize, name: &str) {
    let title = format!("{number} of {of}: {}", one_line(name));
    let title_shown = title.clone();
    *TITLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(title);
    live::set_title(&title_shown);
    let event = Event::Measurement { number, of, name: name.to_string() };
    if let Some(file) = events() {
        // A full disk does not end a measurement.
        let _ = file.write(None, &event);
    }
}

/// Writes the last event, if there is a file of events.
pub fn finish(exit_code: u8, failure: Option<&CliError>) {
    if let Some(file) = events() {
        // The exit code matters more than the file.
        let _ = file.write(None, &Event::finished(exit_code, failure));
    }
    live::finish(failure);
}

impl Progress {
    /// Begins to show progress as requested from [`set_up`], until the result is dropped.
    ///
    /// # Errors
    /// A failure of the class `System` when there is no thread that shows it.
    pub fn begin() -> CliResult<Progress> {
        let begin = Instant::now();
        live::begin();
        let show = SHOW.get().cloned().unwrap_or_default();
        let (display, interval) = match () {
            () if show.quiet => (Display::None, None),
            () if std::io::stderr().is_terminal() => {
                let bars = MultiProgress::new();
                screen::set_bars(Some(bars.clone()));
                (Display::Bars(bars, Mutex::new(Some(Vec::new()))), Some(TICK))
            }
            () => (Display::Lines, show.interval().ok()),
        };
        let events = events();
        let (stop, stopped) = mpsc::channel();
        let shared = Arc::new(Shared {
            display,
            board: Mutex::default(),
            events,
            begin,
            _shows: interval.map(|_| stop),
        });
        if let Some(interval) = interval {
            let weak = Arc::downgrade(&shared);
            let show = move || {
                while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                    let Some(shared) = weak.upgrade() else { return };
                    shared.show();
                }
            };
            let thread = std::thread::Builder::new().name("symbolon-progress".to_string());
            thread.spawn(show).map_err(NoThread)?;
        }
        Ok(Progress(shared))
    }

    /// Returns whether anybody receives events.
    pub fn is_watched(&self) -> bool {
        self.0.events.is_some() || live::is_on() || !matches!(self.0.display, Display::None)
    }

    /// Returns where a party of this process reports its events.
    pub fn sink(&self, party: PartyId) -> Sink {
        let shared = self.0.clone();
        Sink::new(move |event| shared.hear(party, &event))
    }

    /// Takes an event that a party reported.
    pub fn hear(&self, party: PartyId, event: &Event) {
        self.0.hear(party, event);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bars(multi, bars) = &self.0.display {
            let bars = bars.lock().unwrap_or_else(PoisonError::into_inner).take();
            // A bar that is only cleared is drawn again by its next tick.
            bars.iter().flatten().for_each(|(_, bar)| bar.finish_and_clear());
            screen::set_bars(None);
            let _ = multi.clear();
        }
    }
}

impl Shared {
    fn hear(&self, party: PartyId, event: &Event) {
        if let Some(file) = &self.events {
            // A full disk does not end a run that needs no disk.
            let _ = file.write(Some(party), event);
        }
        live::hear(party, event);
        if let Event::Rejected { from, reason, .. } = event {
            let reason = one_line(reason);
            tell(&format!(
                "warning: party {party} rejected a connection from {from}: {reason}; it keeps waiting\n"
            ));
        }
        let mut board = self.board();
        board.note(party, event);
        if let Display::Bars(multi, bars) = &self.display {
            let mut bars = bars.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(bars) = &mut *bars {
                show_bars(&board, multi, bars);
            }
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows what there is to show from time to time.
    fn show(&self) {
        match &self.display {
            Display::None => {}
            Display::Bars(_, bars) => {
                let bars = bars.lock().unwrap_or_else(PoisonError::into_inner);
                bars.iter().flatten().for_each(|(_, bar)| bar.tick());
            }
            Display::Lines => self.write_lines(),
        }
    }

    /// Writes a line for each of a few parties, or one for all.
    fn write_lines(&self) {
        let board = self.board();
        let title = TITLE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let title = title.map_or(String::new(), |title| format!(" ({title})"));
        let elapsed = clock(self.begin.elapsed()) + &title;
        let mut text = String::new();
        if board.parties().len() <= MOST_BARS {
            for (party, place) in board.parties() {
                text.push_str(&format!("{elapsed} party {party}: {}\n", one_line(&place.text())));
            }
        } else if let Some((party, place)) = board.slowest() {
            let (summary, place) = (board.summary(), place.text());
            text = format!("{elapsed} {summary}; party {party}: {}\n", one_line(&place));
        }
        drop(board);
        tell(&text);
    }
}

/// Brings the bars up to date.
fn show_bars(board: &Board, multi: &MultiProgress, bars: &mut Vec<(PartyId, ProgressBar)>) {
    if board.parties().len() > MOST_BARS {
        bars.truncate(1);
        let Some((_, bar)) = bars.first() else { return };
        if let Some((party, place)) = board.slowest() {
            let (summary, place) = (board.summary(), place.text());
            bar.set_prefix("all parties");
            bar.set_message(one_line(&format!("{summary}; party {party}: {place}")).into_owned());
        }
        return;
    }
    for (party, place) in board.parties() {
        let at = match bars.iter().position(|(known, _)| known == party) {
            Some(at) => at,
            None => {
                bars.push((*party, multi.add(new_bar(*party))));
                bars.len() - 1
            }
        };
        let (done, total) = place.fraction().unwrap_or((0, 1));
        let bar = &bars[at].1;
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(one_line(&place.text()).into_owned());
    }
}

fn new_bar(party: PartyId) -> ProgressBar {
    let bar = ProgressBar::new(1).with_prefix(format!("party {party}"));
    let template = "{spinner} {elapsed} {prefix} [{bar:20}] {wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressDrawTarget;

    use super::*;

    #[test]
    fn an_event_after_the_end_draws_no_bar() {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let shared = Arc::new(Shared {
            display: Display::Bars(multi, Mutex::new(Some(Vec::new()))),
            board: Mutex::default(),
            events: None,
            begin: Instant::now(),
            _shows: None,
        });
        let bars = || match &shared.display {
            Display::Bars(_, bars) => bars.lock().unwrap().as_ref().map(Vec::len),
            _ => None,
        };
        let progress = Progress(shared.clone());
        let sink = progress.sink(PartyId::new(1));
        let event = || Event::PhaseBegan { phase: "online".to_string() };
        sink.tell(event());
        assert_eq!(bars(), Some(1));
        drop(progress);
        sink.tell(event());
        assert_eq!(bars(), None);
    }
}
