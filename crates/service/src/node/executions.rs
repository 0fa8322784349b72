//! The executions of a session: in memory alone, or in the node's store too.

use std::collections::VecDeque;

use symbolon::store::Store;
use symbolon::stored::{FilledStock, StockedSession};
use symbolon::{Config, Error, Inputs, Outputs, PreparedCircuit, Result, Session, SessionId};

use crate::config::FunctionConfig;

pub(super) enum Executions {
    InMemory { session: Box<Session>, prepared: VecDeque<PreparedCircuit> },
    Stored { session: Box<StockedSession>, ahead: usize },
}

impl Executions {
    pub fn connect(
        config: Config,
        store: Option<&Store>,
        function: &FunctionConfig,
    ) -> Result<Executions> {
        let Some(store) = store else {
            let session = Box::new(Session::connect_ahead(config, &function.circuit)?);
            return Ok(Executions::InMemory { session, prepared: VecDeque::new() });
        };
        let session = Box::new(StockedSession::connect(config, store, &function.circuit)?);
        Ok(Executions::Stored { session, ahead: function.loaded_each() })
    }

    pub fn session(&self) -> SessionId {
        match self {
            Executions::InMemory { session, .. } => session.id(),
            Executions::Stored { session, .. } => session.id(),
        }
    }

    /// Adds executions, and loads some ahead.
    pub fn fill(&mut self, count: usize) -> Result<FilledStock> {
        match self {
            Executions::InMemory { session, prepared } => {
                prepared.extend(session.prepare_more(count)?);
                Ok(FilledStock { made: count, ..FilledStock::default() })
            }
            Executions::Stored { session, ahead } => {
                let filled = session.fill(count)?;
                session.load(*ahead)?;
                session.wait_for_one()?;
                Ok(filled)
            }
        }
    }

    /// Runs the next execution.
    pub fn run(&mut self, inputs: &Inputs, about: &[u8; 32]) -> Result<Outputs> {
        match self {
            Executions::InMemory { session, prepared } => {
                let next = prepared.pop_front();
                let next =
                    next.ok_or_else(|| Error::Internal("no prepared execution".to_string()))?;
                session.run_named(next, inputs, about)
            }
            Executions::Stored { session, .. } => session.run_named(inputs, about),
        }
    }

    /// Begins to load more when half of what was loaded ahead is used. Returns whether the next
    /// execution is in memory.
    pub fn load_ahead(&mut self) -> Result<bool> {
        match self {
            Executions::Stored { session, ahead } => {
                if session.loaded() <= *ahead / 2 {
                    session.load(*ahead)?;
                }
                Ok(session.left() == 0 || session.has_loaded()?)
            }
            Executions::InMemory { .. } => Ok(true),
        }
    }

    /// Waits until the next execution is in memory.
    pub fn wait_for_one(&mut self) -> Result<()> {
        match self {
            Executions::Stored { session, .. } => session.wait_for_one(),
            Executions::InMemory { .. } => Ok(()),
        }
    }
}
