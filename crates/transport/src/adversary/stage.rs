//! Keeps cheaters connected until an honest party has ended.

use std::sync::{Condvar, Mutex, PoisonError};

/// Keeps the cheaters of a run and their connections until an honest party has ended.
///
/// A cheater whose own check fails would otherwise hang up, as honest code does, and honest parties
/// would lose their connection before they have noticed anything. A real cheater does not behave
/// like that.
pub struct Stage {
    /// Whether no honest party has ended yet.
    waiting: Mutex<bool>,
    ended: Condvar,
}

impl Stage {
    /// Creates the stage of a run with this many honest parties.
    pub fn new(honest: usize) -> Stage {
        Stage { waiting: Mutex::new(honest > 0), ended: Condvar::new() }
    }

    /// Runs one party's part, then closes its connections; those of a cheater only after an honest
    /// party has ended. A party that panics waits for nobody.
    pub fn play<C, T>(&self, cheats: bool, connections: C, part: impl FnOnce(&mut C) -> T) -> T {
        let mut exit = Exit { stage: self, cheats, connections: Some(connections) };
        part(exit.connections.as_mut().expect("it was just put there"))
    }
}

/// Closes a party's connections when it leaves.
struct Exit<'a, C> {
    stage: &'a Stage,
    cheats: bool,
    connections: Option<C>,
}

impl<C> Drop for Exit<'_, C> {
    fn drop(&mut self) {
        let Stage { waiting, ended } = self.stage;
        let lock = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.cheats && !std::thread::panicking() {
            drop(ended.wait_while(lock(), |waiting| *waiting));
        }
        self.connections.take();
        if !self.cheats {
            *lock() = false;
            ended.notify_all();
        }
    }
}
