//! All parties of a run on this machine: child processes over loopback, or threads over memory.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use symbolon::circuit::{Circuit, PartyId, native};
use symbolon::zeroize::Zeroizing;
use symbolon::{Config, NoThread, Transport};

use crate::args::options::LocalTransport;
use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult, ErrorClass, weight};
use crate::common::interrupt;
use crate::common::peer::Peer;
use crate::parties::child::{PartyJob, Task};
use crate::parties::child_message::ChildMessage;
use crate::parties::dealer::LocalDealer;
use crate::parties::execute::{PartyRun, RunOptions, run_triples};
use crate::progress::{self, Progress};
use crate::results::party::PartyResult;
use crate::source::values::Resolved;

/// How long a party may take to end after another one has failed, beyond its time-out.
const GRACE: Duration = Duration::from_secs(5);

/// The interval of checks for stopped processes of parties.
const LOOK: Duration = Duration::from_millis(200);

/// A run with all its parties.
pub struct LocalRun<'r> {
    /// What they compute.
    pub work: Work<'r>,
    /// How many there are.
    pub parties: u16,
    /// Parameters.
    pub tuning: &'r Tuning,
    /// The parties' transport.
    pub transport: LocalTransport,
    /// Whether a dealer deals to them.
    pub dealer: bool,
}

/// What the parties compute.
#[derive(Clone, Copy)]
pub enum Work<'r> {
    /// A circuit.
    Circuit {
        /// The circuit.
        circuit: &'r Circuit,
        /// Every input's value.
        inputs: &'r Resolved,
        /// How the phases run.
        options: RunOptions,
    },
    /// This number of AND triples.
    Triples(u64),
}

impl LocalRun<'_> {
    /// Runs all parties to their end; returns each one's result, by party number.
    ///
    /// # Errors
    /// The worst of the parties' failures, with the party named.
    pub fn run(&self) -> CliResult<Vec<PartyResult>> {
        if let Work::Circuit { circuit, inputs, .. } = self.work {
            for party in PartyId::all(self.parties) {
                // A user's mistakes are reported before anything is started.
                PartyRun::new(circuit, party, inputs, self.tuning.params.executions)?;
            }
        }
        let house = if self.dealer { Some(LocalDealer::open(self.transport)?) } else { None };
        let played = match self.transport {
            LocalTransport::Memory => self.threads(house.as_ref()),
            LocalTransport::Tls | LocalTransport::Tcp => self.processes(house.as_ref()),
        };
        // The parties only see that the dealer has gone.
        played.map_err(|failure| match house.as_ref().and_then(LocalDealer::lack) {
            Some(lack) if failure.class == ErrorClass::Peer => lack,
            _ => failure,
        })
    }

    fn threads(&self, house: Option<&LocalDealer>) -> CliResult<Vec<PartyResult>> {
        let link = self.tuning.link.as_ref().map(|(_, link)| *link);
        let mesh = Transport::memory_mesh(self.parties, self.tuning.params.threads, link)?;
        let progress = Progress::begin()?;
        let perform = |party: PartyId, transport: Transport| {
            let config = self.tuning.apply(Config::new(party, transport))?;
            let config = config.dealer(house.and_then(LocalDealer::within));
            let sink = progress.sink(party);
            match self.work {
                Work::Circuit { circuit, inputs, options } => {
                    let part =
                        PartyRun::new(circuit, party, inputs, self.tuning.params.executions)?;
                    part.play(config, options, &sink)
                }
                Work::Triples(count) => run_triples(config, count, &sink),
            }
        };
        let perform = &perform;
        let ends = std::thread::scope(|scope| {
            let start = |(party, transport)| party_thread(scope, move || perform(party, transport));
            let parties: Vec<_> = PartyId::all(mesh.len()).zip(mesh).map(start).collect();
            parties.into_iter().map(party_end).collect::<Vec<_>>()
        });
        let mut played = all_or_worst(ends.into_iter().map(Some).collect())?;
        played.iter_mut().for_each(PartyResult::forget_cpu);
        Ok(played)
    }

    fn processes(&self, house: Option<&LocalDealer>) -> CliResult<Vec<PartyResult>> {
        interrupt::handle()?;
        let progress = Progress::begin()?;
        let (words, heard) = mpsc::channel();
        let mut children = Vec::new();
        let circuit = self.circuit()?;
        for party in PartyId::all(self.parties) {
            let (events, circuit_bytes) = (progress.is_watched(), circuit.len() as u64);
            let job = PartyJob { events, circuit_bytes, ..self.job(party, house) };
            let mut child = PartyProcess::start(party, words.clone())?;
            child.order(party, &job)?;
            child.send(party, &circuit)?;
            children.push(child);
        }
        drop((words, circuit));
        let ends = (0..self.parties).map(|_| None).collect();
        let mut stage = Stage { children, ends, progress };
        stage.introduce(&heard, self.tuning.timeout)?;
        stage.wait(&heard, self.tuning.timeout)
    }

    fn job(&self, party: PartyId, house: Option<&LocalDealer>) -> PartyJob {
        let params = self.tuning.params.values().into_iter();
        PartyJob {
            task: self.task(party),
            circuit_bytes: 0,
            party,
            parties: self.parties,
            transport: self.transport,
            dealer: house.and_then(LocalDealer::peer),
            params: params.map(|(key, value)| (key.to_string(), value)).collect(),
            timeout: self.tuning.timeout.as_secs_f64(),
            link: self.tuning.link.as_ref().map(|(text, _)| text.clone()),
            events: true,
            log: progress::log_filter(),
        }
    }

    /// Returns the circuit as the children read it; nothing if there is none.
    fn circuit(&self) -> CliResult<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Work::Circuit { circuit, .. } = self.work {
            native::write(circuit, &mut bytes).map_err(|error| {
                CliError::usage(format!("the parties' processes cannot read the circuit: {error}"))
                    .with_hint("give --transport memory")
            })?;
        }
        Ok(bytes)
    }

    fn task(&self, party: PartyId) -> Task {
        match self.work {
            Work::Circuit { circuit, inputs, options } => {
                let own =
                    inputs.iter().filter(|(place, _)| circuit.inputs()[*place].owner == party);
                let inputs = own.cloned().collect();
                Task::Circuit { options, inputs }
            }
            Work::Triples(count) => Task::Triples(count),
        }
    }
}

/// A party of this process, if there is a thread for it.
type PartyThread<'scope, T> = Result<ScopedJoinHandle<'scope, CliResult<T>>, NoThread>;

/// Starts a party of this process. If there is no thread for it, its transport is dropped, and the
/// others see that it has gone.
pub fn party_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    perform: impl FnOnce() -> CliResult<T> + Send + 'scope,
) -> PartyThread<'scope, T> {
    let thread = std::thread::Builder::new().name("symbolon-party".to_string());
    thread.spawn_scoped(scope, perform).map_err(NoThread)
}

/// Waits for the end of a party of this process.
///
/// # Errors
/// The party's failure, or the lack of a thread for it.
pub fn party_end<T>(thread: PartyThread<'_, T>) -> CliResult<T> {
    let panicked = |_| Err(CliError::internal("a party's thread panicked"));
    thread?.join().unwrap_or_else(panicked)
}

/// What comes from a child: a message, or the end of its output.
type Heard = (PartyId, Option<ChildMessage>);

/// A child process that is one party; killed when dropped.
struct PartyProcess {
    child: Child,
    /// Kept open: the child ends when it closes.
    orders: ChildStdin,
    /// When it was first seen to be stopped.
    stopped: Option<Instant>,
}

impl PartyProcess {
    fn start(party: PartyId, words: mpsc::Sender<Heard>) -> CliResult<PartyProcess> {
        let failed = |error: std::io::Error| {
            CliError::system(format!("cannot start a process for party {party}: {error}"))
        };
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .arg("party")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(orders), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(CliError::internal("a child process has no pipes"));
        };
        let performer = PartyProcess { child, orders, stopped: None };
        let listen = move || {
            for line in BufReader::new(out).lines() {
                let word = line.ok().and_then(|line| serde_json::from_str(&line).ok());
                let last = word.is_none();
                if words.send((party, word)).is_err() || last {
                    return;
                }
            }
            let _ = words.send((party, None));
        };
        let thread = std::thread::Builder::new().name("symbolon-child".to_string());
        thread.spawn(listen).map_err(failed)?;
        Ok(performer)
    }

    fn order(&mut self, party: PartyId, order: &impl serde::Serialize) -> CliResult<()> {
        let mut line = Zeroizing::new(
            serde_json::to_vec(order)
                .map_err(|error| CliError::internal(format!("cannot write JSON: {error}")))?,
        );
        line.push(b'\n');
        self.send(party, &line)
    }

    fn send(&mut self, party: PartyId, bytes: &[u8]) -> CliResult<()> {
        self.orders
            .write_all(bytes)
            .and_then(|()| self.orders.flush())
            .map_err(|_| self.ending(party))
    }

    /// Returns how a child ended that sent nothing more.
    fn ending(&mut self, party: PartyId) -> CliError {
        let deadline = Instant::now() + GRACE;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK / 10),
                status => break status.ok().flatten(),
            }
        };
        match status {
            Some(status) => ended(party, status),
            None => CliError::internal(format!("party {party}'s process does not answer")),
        }
    }

    /// Returns how long the child has been seen stopped, or `None` if it runs.
    fn stopped_for(&mut self) -> Option<Duration> {
        if !is_stopped(self.child.id()) {
            self.stopped = None;
            return None;
        }
        Some(self.stopped.get_or_insert_with(Instant::now).elapsed())
    }
}

/// Returns what the exit status of a process that reported nothing means.
fn ended(party: PartyId, status: std::process::ExitStatus) -> CliError {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let message = format!("party {party}'s process was killed by signal {signal}");
        let hint = "someone killed it, or the system did because memory ran out";
        return CliError::new(ErrorClass::Killed, message).with_hint(hint);
    }
    if status.code() == Some(ErrorClass::System.exit_code().into()) {
        let text = format!("party {party} failed: its process ran out of memory or threads");
        return CliError::system(text);
    }
    let code = status.code().map_or(String::new(), |code| format!(", with exit code {code}"));
    CliError::internal(format!("party {party}'s process ended without a message{code}"))
}

/// Returns whether a process is stopped, as by SIGSTOP; only known on Linux.
fn is_stopped(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything.
    let state = status.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

impl Drop for PartyProcess {
    fn drop(&mut self) {
        // Both fail only when the child has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The running children, and how each ended.
struct Stage {
    children: Vec<PartyProcess>,
    ends: Vec<Option<CliResult<PartyResult>>>,
    progress: Progress,
}

impl Stage {
    /// Waits until every child is ready and tells each where all are.
    fn introduce(&mut self, heard: &mpsc::Receiver<Heard>, timeout: Duration) -> CliResult<()> {
        let mut peers: Vec<Option<Peer>> = self.children.iter().map(|_| None).collect();
        while peers.iter().any(Option::is_none) {
            match heard.recv_timeout(LOOK) {
                Ok((party, Some(ChildMessage::Ready(peer)))) => {
                    peers[usize::from(party)] = Some(peer)
                }
                Ok((party, Some(ChildMessage::Failed(failure)))) => {
                    return Err(named(party, failure));
                }
                Ok((party, _)) => return Err(self.vanished(party)),
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(self.vanished(PartyId::new(0)));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => self.look(timeout)?,
            }
            if let Some(Err(failure)) = self.ends.iter().flatten().next() {
                return Err(failure.clone());
            }
        }
        for (party, child) in PartyId::all(self.children.len()).zip(&mut self.children) {
            child.order(party, &peers)?;
        }
        Ok(())
    }

    fn vanished(&mut self, party: PartyId) -> CliError {
        self.children[usize::from(party)].ending(party)
    }

    /// Fails after a signal. Gives up on stopped children after another has failed, since its error
    /// follows from the stop or says more, or when nothing happens for longer than any party waits.
    fn look(&mut self, timeout: Duration) -> CliResult<()> {
        CliError::if_interrupted()?;
        let failed = self.ends.iter().any(|end| matches!(end, Some(Err(_))));
        let grace = if failed { Duration::ZERO } else { timeout + GRACE };
        for (party, (child, end)) in self.children.iter_mut().zip(&mut self.ends).enumerate() {
            if end.is_none() && child.stopped_for().is_some_and(|stopped| stopped >= grace) {
                let message = format!("party {party}'s process is stopped");
                let hint = "something stopped it, as SIGSTOP and a debugger do";
                let failure = CliError::usage(message).with_hint(hint);
                *end = Some(Err(failure.in_class(ErrorClass::Stopped)));
            }
        }
        Ok(())
    }

    /// Waits until every child has ended; after one has failed, the others get no longer than their
    /// time-out.
    fn wait(
        mut self,
        heard: &mpsc::Receiver<Heard>,
        timeout: Duration,
    ) -> CliResult<Vec<PartyResult>> {
        let mut deadline: Option<Instant> = None;
        while self.ends.iter().any(Option::is_none) {
            // Parties that report progress without a pause leave no idle moment for this check.
            CliError::if_interrupted()?;
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let (party, word) = match heard.recv_timeout(left.map_or(LOOK, |left| left.min(LOOK))) {
                Ok(heard) => heard,
                Err(mpsc::RecvTimeoutError::Timeout) if left != Some(Duration::ZERO) => {
                    self.look(timeout)?;
                    continue;
                }
                Err(_) => break,
            };
            let end = &mut self.ends[usize::from(party)];
            match word {
                Some(ChildMessage::Event(event)) => self.progress.hear(party, &event),
                Some(ChildMessage::Done(played)) => *end = Some(Ok(*played)),
                Some(ChildMessage::Failed(failure)) => *end = Some(Err(named(party, failure))),
                Some(ChildMessage::Ready(_)) | None if end.is_none() => {
                    let failure = self.vanished(party);
                    self.ends[usize::from(party)] = Some(Err(failure));
                }
                Some(ChildMessage::Ready(_)) | None => {}
            }
            if matches!(self.ends[usize::from(party)], Some(Err(_))) {
                deadline.get_or_insert(Instant::now() + timeout + GRACE);
            }
        }
        all_or_worst(std::mem::take(&mut self.ends))
    }
}

fn named(party: PartyId, failure: CliError) -> CliError {
    CliError { message: format!("party {party} failed: {}", failure.message), ..failure }
}

/// Returns the results of all parties, or the worst of their failures, from which the others
/// follow.
fn all_or_worst(ends: Vec<Option<CliResult<PartyResult>>>) -> CliResult<Vec<PartyResult>> {
    let mut played = Vec::new();
    let mut failures: Vec<CliError> = Vec::new();
    let mut silent = false;
    for end in ends {
        match end {
            Some(Ok(party)) => played.push(party),
            Some(Err(failure)) => failures.push(failure),
            None => silent = true,
        }
    }
    // Among equals, the first.
    let worst = (0..failures.len()).rev().max_by_key(|&index| weight(failures[index].class));
    let Some(worst) = worst.map(|index| failures.remove(index)) else {
        let message = "a party's process did not end";
        return if silent { Err(CliError::internal(message)) } else { Ok(played) };
    };
    // The fate of a process may say less than the failures of the others.
    let outside = matches!(worst.class, ErrorClass::Stopped | ErrorClass::Killed);
    match failures.into_iter().max_by_key(|failure| weight(failure.class)) {
        Some(other) if outside => {
            Err(CliError { message: format!("{}; {}", worst.message, other.message), ..worst })
        }
        _ => Err(worst),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_failure_is_told() {
        let peer = || CliError::new(ErrorClass::Peer, "gone");
        let cheat = || CliError::new(ErrorClass::Misbehaved, "cheat");
        let stopped = || CliError::new(ErrorClass::Stopped, "stopped");
        for ends in [
            vec![Some(Err(peer())), Some(Err(cheat()))],
            vec![Some(Err(cheat())), None],
            vec![Some(Err(stopped())), Some(Err(cheat()))],
        ] {
            assert_eq!(all_or_worst(ends).unwrap_err().message, "cheat");
        }
        // Neither a process that does not end nor a stopped one hides what the peer said.
        assert_eq!(all_or_worst(vec![None, Some(Err(peer()))]).unwrap_err().message, "gone");
        let both = all_or_worst(vec![Some(Err(stopped())), Some(Err(peer()))]).unwrap_err();
        assert_eq!((both.class, both.message.as_str()), (ErrorClass::Stopped, "stopped; gone"));
        assert_eq!(all_or_worst(vec![None, None]).unwrap_err().class, ErrorClass::Internal);
    }
}
