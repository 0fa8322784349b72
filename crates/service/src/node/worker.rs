//! The thread of a session: opens it, prepares executions, runs calls, one after another.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use symbolon::{
    CancelHandle, Config, Error, Inputs, NoThread, Outputs, PreparedCircuit, Result, Session,
    Transport,
};
use symbolon_transport::Meter;

use super::Shared;
use super::state::Command;
use crate::config::Function;
use crate::name::Name;
use crate::wire::Tag;

const DOMAIN: &str = "symbolon 2026 service call v1";

pub(super) struct Worker {
    pub shared: Arc<Shared>,
    pub spec: Arc<Function>,
    pub function: usize,
    pub tag: Tag,
    pub cancel: CancelHandle,
    /// The number of calls so far.
    pub runs: u64,
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
                        self.shared.ran(self.tag, self.function, &call, Err(error.clone()));
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
        let mut session = self.connect()?;
        self.shared.opened(self.tag);
        let mut prepared: VecDeque<PreparedCircuit> = VecDeque::new();
        while let Ok(command) = commands.recv() {
            match command {
                Command::Fill(count) => {
                    prepared.extend(session.prepare_more(count)?);
                    self.shared.filled(self.tag, count);
                }
                Command::Run { call, inputs } => {
                    let ready = prepared.pop_front();
                    let done = self.run(&mut session, ready, &call, &inputs);
                    drop(inputs);
                    let failed = done.as_ref().err().cloned();
                    self.shared.ran(self.tag, self.function, &call, done);
                    failed.map_or(Ok(()), Err)?;
                }
            }
        }
        Ok(())
    }

    fn connect(&self) -> Result<Session> {
        let shared = &self.shared;
        let channels = shared.channels(self.tag, &self.spec, &self.cancel)?;
        let config = Config::new(shared.me, Transport::mesh_channels(channels, Meter::new()));
        let config = config.params(self.spec.config.params.clone()).timeout(shared.group.timeout);
        Session::connect(config.cancelled_by(&self.cancel), &self.spec.config.circuit)
    }

    fn run(
        &mut self,
        session: &mut Session,
        ready: Option<PreparedCircuit>,
        call: &Name,
        inputs: &Inputs,
    ) -> Result<Outputs> {
        let ready = ready.ok_or_else(|| Error::Internal("no prepared execution".to_string()))?;
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&session.id().0).update(&self.runs.to_le_bytes());
        for name in [self.spec.config.name.as_str(), call.as_str()] {
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        }
        self.runs += 1;
        session.run_named(ready, inputs, hasher.finalize().as_bytes())
    }
}
