//! The thread of a session: opens it, prepares executions, runs calls, one after another.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use symbolon::{CancelHandle, Config, NoThread, Result, Transport};
use symbolon_transport::Meter;

use super::Shared;
use super::executions::Executions;
use super::state::Command;
use crate::clients::Digest;
use crate::config::Function;
use crate::name::Name;
use crate::wire::Tag;

/// By how much the priority of a thread that prepares executions ahead of calls is lower.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;

const DOMAIN: &str = "symbolon 2026 service call v1";

pub(super) struct Worker {
    pub shared: Arc<Shared>,
    pub spec: Arc<Function>,
    pub function: usize,
    pub tag: Tag,
    /// The names of the relations with the parties, by number, for the store.
    pub relations: Vec<Option<String>>,
    pub cancel: CancelHandle,
    /// The number of calls so far.
    pub runs: u64,
}

/// A call that ran.
pub(super) struct Ran<'a> {
    pub function: usize,
    pub call: &'a Name,
    /// Whether its session has to load an execution before it can run another one.
    pub loads: bool,
}

impl Worker {
    pub fn start(mut self, commands: Receiver<Command>) -> Result<()> {
        let name = "symbolon-session".to_string();
        let work = move || {
            let done = self.work(&commands);
            if let Err(error) = done {
                self.shared.failed(self.tag, &error);
                // Nothing is added any more.
                for command in commands.try_iter() {
                    if let Command::Run { call, .. } = command {
                        let call = Ran { function: self.function, call: &call, loads: false };
                        self.shared.ran(self.tag, call, Err(error.clone()));
                    }
                }
            }
        };
        let started = std::thread::Builder::new().name(name).spawn(work);
        started.map_err(NoThread)?;
        Ok(())
    }

    /// Works until the session fails, or nobody has its queue any more.
    fn work(&mut self, commands: &Receiver<Command>) -> Result<()> {
        let mut executions = self.connect()?;
        self.shared.opened(self.tag);
        while let Ok(command) = commands.recv() {
            match command {
                Command::Fill(count) => {
                    let filled = match self.shared.is_urgent(self.function) {
                        true => executions.fill(count),
                        false => in_background(|| executions.fill(count)),
                    };
                    self.shared.filled(self.tag, filled?);
                }
                Command::Run { call, inputs, clients } => {
                    let about = self.about(&executions, &call, clients);
                    let done = executions.run(&inputs, &about);
                    drop(inputs);
                    let failed = done.as_ref().err().cloned();
                    let loading = match failed {
                        None => executions.load_ahead(),
                        Some(_) => Ok(true),
                    };
                    // A session that has nothing in memory is not given a call that another one
                    // can run.
                    let loads = matches!(loading, Ok(false));
                    let call = Ran { function: self.function, call: &call, loads };
                    self.shared.ran(self.tag, call, done);
                    failed.map_or(Ok(()), Err)?;
                    if !loading? {
                        executions.wait_for_one()?;
                        self.shared.loaded(self.tag);
                    }
                }
            }
        }
        Ok(())
    }

    fn connect(&self) -> Result<Executions> {
        let shared = &self.shared;
        let channels = shared.channels(self.tag, &self.spec, &self.cancel)?;
        let transport = Transport::mesh_channels(channels, Meter::new());
        let transport = transport.known_as(self.relations.clone());
        let config = Config::new(shared.me, transport);
        let config = config.params(self.spec.config.params.clone()).timeout(shared.group().timeout);
        let config = config.cancelled_by(&self.cancel);
        Executions::connect(config, shared.store.as_ref(), &self.spec.config)
    }

    /// Returns what every two parties compare before an execution runs.
    fn about(&mut self, executions: &Executions, call: &Name, clients: Option<Digest>) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&executions.session().0).update(&self.runs.to_le_bytes());
        for name in [self.spec.config.name.as_str(), call.as_str()] {
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        }
        if let Some(clients) = clients {
            hasher.update(&clients.0);
        }
        self.runs += 1;
        *hasher.finalize().as_bytes()
    }
}

/// Does work in a thread of low priority, and waits for it. It is another thread because one that
/// has lowered its priority may not raise it again. Threads that the work starts inherit it.
fn in_background<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("symbolon-refill".to_string());
        let nice_work = || {
            lower_priority();
            work()
        };
        let thread = thread.spawn_scoped(scope, nice_work).map_err(NoThread)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lowers this thread's priority. Only Linux has priorities of threads under this call; a failure
/// does no harm.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Ok(now) = rustix::process::getpriority_process(None) {
        let _ = rustix::process::setpriority_process(None, now + NICER);
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_in_the_background_has_a_low_priority() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let before = priority();
        let inside = in_background(|| {
            let other = std::thread::spawn(priority);
            Ok([priority(), other.join().unwrap()])
        });
        // 19 is the lowest there is.
        assert_eq!(inside.unwrap(), [(before + NICER).min(19); 2]);
        assert_eq!(priority(), before);
    }
}
