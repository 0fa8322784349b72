//! All parties of a run on this machine: child processes over loopback, or threads over memory.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use symbolon::circuit::{Circuit, PartyId};
use symbolon::zeroize::Zeroizing;
use symbolon::{Config, Transport};

use crate::args::LocalTransport;
use crate::failure::{Class, Failure, Outcome};
use crate::party::{Job, Peer, Word};
use crate::play::{Played, play};
use crate::progress::Progress;
use crate::source::CircuitSpec;
use crate::tuning::Tuning;
use crate::values::{Resolved, inputs_of};

/// How long a party may take to end once another one has failed, over its time-out.
const GRACE: Duration = Duration::from_secs(5);

/// A run with all its parties.
pub struct Troupe<'r> {
    /// The circuit as the user named it.
    pub spec: &'r CircuitSpec,
    /// The same, loaded.
    pub circuit: &'r Circuit,
    /// Every input's value.
    pub inputs: &'r Resolved,
    /// Parameters.
    pub tuning: &'r Tuning,
    /// How the parties talk.
    pub transport: LocalTransport,
    /// How often the phases run.
    pub repeat: u32,
}

/// How many parties there are: every protocol there is has two.
pub const PARTIES: u16 = 2;

impl Troupe<'_> {
    /// Runs all parties to their end; returns what each has, by party number.
    ///
    /// # Errors
    /// The worst of the parties' failures, with the party named.
    pub fn run(&self) -> Outcome<Vec<Played>> {
        for party in 0..PARTIES {
            // What a user got wrong is told before anything is started.
            inputs_of(self.circuit, party, self.inputs)?;
        }
        match self.transport {
            LocalTransport::Memory => self.threads(),
            LocalTransport::Tls | LocalTransport::Tcp => self.processes(),
        }
    }

    fn threads(&self) -> Outcome<Vec<Played>> {
        let link = self.tuning.link.as_ref().map(|(_, link)| *link);
        let (zero, one) = Transport::memory(self.tuning.threads, link)?;
        let perform = |party: PartyId, transport: Transport, words: mpsc::Sender<(u16, String)>| {
            let inputs = inputs_of(self.circuit, party, self.inputs)?;
            let config = self.tuning.apply(Config::new(party, transport));
            let mut stage = |stage: &str| drop(words.send((party, stage.to_string())));
            play(config, self.circuit, &inputs, self.repeat, &mut stage)
        };
        let (words, heard) = mpsc::channel();
        let ends = std::thread::scope(|scope| {
            let parties = [(0, zero), (1, one)].map(|(party, transport)| {
                let words = words.clone();
                scope.spawn(move || perform(party, transport, words))
            });
            drop(words);
            let mut progress = Progress::begin();
            for (party, stage) in heard {
                progress.party(party, &stage);
            }
            parties.map(|party| {
                party.join().unwrap_or_else(|_| Err(Failure::internal("a party's thread panicked")))
            })
        });
        all_or_worst(ends.into_iter().map(Some).collect())
    }

    fn processes(&self) -> Outcome<Vec<Played>> {
        let (words, heard) = mpsc::channel();
        let mut children = Vec::new();
        for party in 0..PARTIES {
            children.push(Performer::start(self.job(party), party, words.clone())?);
        }
        drop(words);
        let mut stage = Stage { children, ends: (0..PARTIES).map(|_| None).collect() };
        stage.introduce(&heard)?;
        stage.wait(&heard, self.tuning.timeout)
    }

    fn job(&self, party: PartyId) -> Job {
        let own = |place: &usize| self.circuit.inputs()[*place].owner == party;
        Job {
            spec: self.spec.clone(),
            party,
            parties: PARTIES,
            transport: self.transport,
            protocol: self.tuning.protocol.name().to_string(),
            rho: self.tuning.rho.bits(),
            threads: self.tuning.threads,
            timeout: self.tuning.timeout.as_secs_f64(),
            link: self.tuning.link.as_ref().map(|(text, _)| text.clone()),
            repeat: self.repeat,
            stages: std::io::stderr().is_terminal(),
            inputs: self
                .inputs
                .iter()
                .filter(|(place, _)| own(place))
                .map(|(place, value)| (*place, value.to_string()))
                .collect(),
        }
    }
}

/// What comes from a child: a word, or nothing more.
type Heard = (PartyId, Option<Word>);

/// A child process that is one party; killed when dropped.
struct Performer {
    child: Child,
    /// Kept open: the child ends when it closes.
    orders: ChildStdin,
}

impl Performer {
    fn start(job: Job, party: PartyId, words: mpsc::Sender<Heard>) -> Outcome<Performer> {
        let failed = |error: std::io::Error| {
            Failure::internal(format!("cannot start a process for party {party}: {error}"))
        };
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .arg("party")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(orders), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::internal("a child process has no pipes"));
        };
        let mut performer = Performer { child, orders };
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                let word = line.ok().and_then(|line| serde_json::from_str(&line).ok());
                let last = word.is_none();
                if words.send((party, word)).is_err() || last {
                    return;
                }
            }
            let _ = words.send((party, None));
        });
        performer.order(&job)?;
        Ok(performer)
    }

    fn order(&mut self, order: &impl serde::Serialize) -> Outcome<()> {
        let mut line = Zeroizing::new(
            serde_json::to_vec(order)
                .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?,
        );
        line.push(b'\n');
        self.orders
            .write_all(&line)
            .and_then(|()| self.orders.flush())
            .map_err(|error| Failure::internal(format!("cannot order a child process: {error}")))
    }
}

impl Drop for Performer {
    fn drop(&mut self) {
        // Both fail only when the child has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The children at work, and how each ended.
struct Stage {
    children: Vec<Performer>,
    ends: Vec<Option<Outcome<Played>>>,
}

impl Stage {
    /// Waits until every child is ready and tells each where the other is.
    fn introduce(&mut self, heard: &mpsc::Receiver<Heard>) -> Outcome<()> {
        let mut peers: Vec<Option<Peer>> = self.children.iter().map(|_| None).collect();
        while peers.iter().any(Option::is_none) {
            match heard.recv() {
                Ok((party, Some(Word::Ready(peer)))) => peers[usize::from(party)] = Some(peer),
                Ok((party, Some(Word::Failed(failure)))) => return Err(named(party, failure)),
                Ok((party, _)) => return Err(vanished(party)),
                Err(_) => return Err(vanished(0)),
            }
        }
        for (child, peer) in self.children.iter_mut().zip(peers.iter().rev()) {
            child.order(peer)?;
        }
        Ok(())
    }

    /// Waits until every child has ended; once one has failed, the others get no longer than their
    /// time-out.
    fn wait(mut self, heard: &mpsc::Receiver<Heard>, timeout: Duration) -> Outcome<Vec<Played>> {
        let mut progress = Progress::begin();
        let mut deadline: Option<Instant> = None;
        while self.ends.iter().any(Option::is_none) {
            let word = match deadline {
                None => heard.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
                Some(at) => heard.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            let Ok((party, word)) = word else { break };
            let end = &mut self.ends[usize::from(party)];
            match word {
                Some(Word::Stage(stage)) => progress.party(party, &stage),
                Some(Word::Done(played)) => *end = Some(Ok(played)),
                Some(Word::Failed(failure)) => *end = Some(Err(named(party, failure))),
                Some(Word::Ready(_)) | None => {
                    end.get_or_insert(Err(vanished(party)));
                }
            }
            if matches!(end, Some(Err(_))) {
                deadline.get_or_insert(Instant::now() + timeout + GRACE);
            }
        }
        all_or_worst(std::mem::take(&mut self.ends))
    }
}

fn named(party: PartyId, failure: Failure) -> Failure {
    Failure { message: format!("party {party} failed: {}", failure.message), ..failure }
}

fn vanished(party: PartyId) -> Failure {
    Failure::internal(format!("party {party}'s process ended without a word"))
}

/// What all parties have, or the worst of their failures: the other parties' failures follow from it.
fn all_or_worst(ends: Vec<Option<Outcome<Played>>>) -> Outcome<Vec<Played>> {
    let mut played = Vec::new();
    let mut worst: Option<Failure> = None;
    for end in ends {
        match end {
            Some(Ok(party)) => played.push(party),
            Some(Err(failure)) if worst.as_ref().is_none_or(|w| w.class < failure.class) => {
                worst = Some(failure);
            }
            Some(Err(_)) => {}
            None => {
                worst.get_or_insert(Failure {
                    class: Class::Internal,
                    message: "a party's process did not end".to_string(),
                    hint: None,
                });
            }
        }
    }
    match worst {
        None => Ok(played),
        Some(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_failure_is_told() {
        let peer = || Failure { class: Class::Peer, message: "gone".into(), hint: None };
        let cheat = || Failure { class: Class::Misbehaved, message: "cheat".into(), hint: None };
        for ends in [vec![Some(Err(peer())), Some(Err(cheat()))], vec![Some(Err(cheat())), None]] {
            assert_eq!(all_or_worst(ends).unwrap_err().message, "cheat");
        }
        assert_eq!(all_or_worst(vec![None, None]).unwrap_err().class, Class::Internal);
    }
}
