//! How many calls this party takes part in: what outputs reveal adds up.
//!
//! The number of calls in all is kept in a file. It is written ahead, in steps: a crash wastes at
//! most one step, and never forgets a call.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use symbolon::{Error, Result, files};

use crate::error::CallError;
use crate::name::Name;

const HOUR: Duration = Duration::from_secs(3600);

/// The length limit of the file.
const MAX_FILE: u64 = 1 << 20;

/// The file with the number of calls of each function.
pub(crate) struct Ledger {
    path: PathBuf,
    written: Written,
    /// Locked as long as this node has the folder: two nodes would not see each other's calls.
    _lock: File,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    calls: BTreeMap<Name, u64>,
}

impl Ledger {
    /// Opens the file in `folder`, which is made if it does not exist.
    pub(crate) fn open(folder: &Path) -> Result<Ledger> {
        let path = folder.join("calls.json");
        let failed = |what: &dyn std::fmt::Display| {
            Error::store(format!("cannot use {}: {what}", path.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let lock = File::create(folder.join("lock")).map_err(|error| failed(&error))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => failed(&"another node uses its folder"),
            TryLockError::Error(error) => failed(&error),
        })?;
        let written = match files::open(&path) {
            Ok(mut file) => {
                let text = files::read_all(&mut file, MAX_FILE).map_err(|error| failed(&error))?;
                serde_json::from_slice(&text).map_err(|error| failed(&error))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Written::default(),
            Err(error) => return Err(failed(&error)),
        };
        let ledger = Ledger { path, written, _lock: lock };
        // A folder that cannot be written is found now, and not by the first call.
        ledger.write().map_err(|error| Error::store(format!("cannot write {error}")))?;
        Ok(ledger)
    }

    fn calls(&self, function: &Name) -> u64 {
        self.written.calls.get(function).copied().unwrap_or(0)
    }

    fn set(&mut self, function: &Name, calls: u64) -> std::result::Result<(), String> {
        self.written.calls.insert(function.clone(), calls);
        self.write()
    }

    /// Replaces the file; the old one is there until the new one is on disk.
    fn write(&self) -> std::result::Result<(), String> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let replace = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&serde_json::to_vec_pretty(&self.written)?)?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|error| error.error)?;
            File::open(folder)?.sync_all()
        };
        replace().map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

/// The calls of one function.
pub(crate) struct Budget {
    function: Name,
    calls: Option<u64>,
    per_hour: Option<u64>,
    /// Calls that run or ran.
    used: u64,
    /// Calls that wait.
    reserved: u64,
    /// What the file says: never less than `used` and `reserved` together.
    written: u64,
    recent: VecDeque<Instant>,
}

impl Budget {
    pub(crate) fn new(
        function: &Name,
        (calls, per_hour): (Option<u64>, Option<u64>),
        ledger: Option<&Ledger>,
    ) -> Budget {
        let used = ledger.filter(|_| calls.is_some()).map_or(0, |ledger| ledger.calls(function));
        Budget {
            function: function.clone(),
            calls,
            per_hour,
            used,
            reserved: 0,
            written: used,
            recent: VecDeque::new(),
        }
    }

    /// Changes the limits. Calls that run or wait stay counted.
    pub(crate) fn set_limits(
        &mut self,
        (calls, per_hour): (Option<u64>, Option<u64>),
        ledger: Option<&Ledger>,
    ) {
        if self.calls.is_none() && calls.is_some() {
            let before = ledger.map_or(0, |ledger| ledger.calls(&self.function));
            (self.used, self.written) = (self.used + before, before);
        }
        (self.calls, self.per_hour) = (calls, per_hour);
    }

    /// Returns how many calls are left in all.
    pub(crate) fn left(&self) -> Option<u64> {
        self.calls.map(|calls| calls.saturating_sub(self.used + self.reserved))
    }

    /// Reserves a call.
    pub(crate) fn reserve(
        &mut self,
        ledger: Option<&mut Ledger>,
        now: Instant,
    ) -> std::result::Result<(), CallError> {
        while self.recent.front().is_some_and(|at| now.duration_since(*at) >= HOUR) {
            self.recent.pop_front();
        }
        let in_hour = self.recent.len() as u64 + self.reserved;
        if self.left() == Some(0) || self.per_hour.is_some_and(|most| in_hour >= most) {
            return Err(CallError::Budget);
        }
        let needed = self.used + self.reserved + 1;
        if let (Some(calls), Some(ledger)) = (self.calls, ledger)
            && needed > self.written
        {
            let ahead = (needed + (calls / 64).clamp(1, 64) - 1).min(calls);
            ledger.set(&self.function, ahead).map_err(CallError::State)?;
            self.written = ahead;
        }
        self.reserved += 1;
        Ok(())
    }

    /// Gives a reserved call back.
    pub(crate) fn release(&mut self) {
        self.reserved = self.reserved.saturating_sub(1);
    }

    /// Turns a reserved call into one that runs.
    pub(crate) fn take(&mut self, now: Instant) {
        self.release();
        self.used += 1;
        if self.per_hour.is_some() {
            self.recent.push_back(now);
        }
    }

    /// Writes the exact number at a clean end.
    pub(crate) fn settle(&mut self, ledger: &mut Ledger) -> std::result::Result<(), String> {
        let exact = self.used + self.reserved;
        if self.calls.is_none() || self.written == exact {
            return Ok(());
        }
        ledger.set(&self.function, exact)?;
        self.written = exact;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(calls: Option<u64>, per_hour: Option<u64>, ledger: Option<&Ledger>) -> Budget {
        Budget::new(&"f".parse().unwrap(), (calls, per_hour), ledger)
    }

    #[test]
    fn calls_add_up_across_restarts_and_crashes() {
        let folder = tempfile::tempdir().unwrap();
        let now = Instant::now();
        let mut ledger = Ledger::open(folder.path()).unwrap();
        let mut one = budget(Some(200), None, Some(&ledger));
        for _ in 0..4 {
            one.reserve(Some(&mut ledger), now).unwrap();
        }
        (0..3).for_each(|_| one.take(now));
        one.release();
        assert_eq!(one.left(), Some(197));
        let second = Ledger::open(folder.path()).err().unwrap();
        assert!(second.to_string().contains("another node uses its folder"), "{second}");
        // A crash wastes what was written ahead, 200 / 64 calls at a time.
        drop(ledger);
        let mut ledger = Ledger::open(folder.path()).unwrap();
        assert_eq!(budget(Some(200), None, Some(&ledger)).left(), Some(194));
        one.settle(&mut ledger).unwrap();
        drop(ledger);
        let stopped = Ledger::open(folder.path()).unwrap();
        assert_eq!(budget(Some(200), None, Some(&stopped)).left(), Some(197));
        assert_eq!(budget(Some(3), None, Some(&stopped)).left(), Some(0));
    }

    #[test]
    fn an_hour_has_so_many_calls() {
        let now = Instant::now();
        let mut one = budget(None, Some(2), None);
        for _ in 0..2 {
            one.reserve(None, now).unwrap();
            one.take(now);
        }
        assert_eq!(one.reserve(None, now + HOUR / 2), Err(CallError::Budget));
        assert_eq!(one.reserve(None, now + HOUR), Ok(()));
    }

    #[test]
    fn damaged_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("calls.json"), "{\"calls\":{\"f\":-1}}").unwrap();
        assert!(Ledger::open(folder.path()).is_err());
    }
}
