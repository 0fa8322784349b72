//! The machine of a measurement.

use std::fs::read_to_string;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The machine, this program, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// This program's version.
    pub version: String,
    /// Whether it was built without optimisation for its users: then no figure counts.
    pub debug: bool,
    /// The SIMD kernels in use.
    pub backend: String,
    /// The processor, where the system tells.
    pub processor: Option<String>,
    /// How many threads it runs at a time.
    pub cores: usize,
    /// Bytes of memory, where the system tells.
    pub memory: Option<u64>,
    /// Bytes that are free in the folder of temporary files, where the system tells.
    pub disk: Option<u64>,
    /// The operating system, its kernel where it tells, and the architecture.
    pub system: String,
    /// When the measurements began, in UTC.
    pub began: String,
    /// How many threads wanted to run in the minute before; where the system tells.
    pub load: Option<f64>,
}

impl Machine {
    /// Describes this machine, now.
    pub fn here() -> Machine {
        let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let system = [std::env::consts::OS, kernel.trim(), std::env::consts::ARCH];
        let now = OffsetDateTime::now_utc();
        let now = now.replace_nanosecond(0).unwrap_or(now);
        Machine {
            version: env!("CARGO_PKG_VERSION").to_string(),
            debug: cfg!(debug_assertions),
            backend: symbolon::backend(),
            processor: symbolon::processor(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: field("/proc/meminfo", "MemTotal").and_then(|text| kib(&text)),
            disk: free_for_temporary_files(),
            system: system
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
            began: now.format(&Rfc3339).unwrap_or_default(),
            load: load(),
        }
    }

    /// Shortens and cleans the texts in which another machine describes itself, so that they cannot
    /// be mistaken for anything else.
    pub fn sanitised(self) -> Machine {
        let sanitise = |text: String| -> String {
            let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
            text.chars().take(100).map(plain).collect()
        };
        Machine {
            version: sanitise(self.version),
            backend: sanitise(self.backend),
            processor: self.processor.map(sanitise),
            system: sanitise(self.system),
            began: sanitise(self.began),
            load: self.load.filter(|load| (0.0..1e6).contains(load)),
            ..self
        }
    }

    /// Returns one line for people.
    pub fn line(&self) -> String {
        let debug = if self.debug { ", built for debugging" } else { "" };
        let load = self.load.map_or(String::new(), |load| format!(", load {load:.1} before"));
        let processor = self.processor.as_deref().unwrap_or("unknown processor");
        format!(
            "symbolon {}{debug}; {processor}, {} cores, {} kernels, {}{load}; {}",
            self.version, self.cores, self.backend, self.system, self.began
        )
    }
}

/// Returns a line for each party's machine, or one if all share a machine.
pub fn lines(machine: &Machine, other: Option<&Machine>) -> String {
    match other {
        None => machine.line(),
        Some(other) => format!("party 0: {}\nparty 1: {}", machine.line(), other.line()),
    }
}

/// Returns what follows the first `name` and a colon in a system file.
fn field(file: &str, name: &str) -> Option<String> {
    let text = read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_string())
    })
}

fn kib(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(unix)]
fn free_for_temporary_files() -> Option<u64> {
    let folder = rustix::fs::statvfs(std::env::temp_dir()).ok()?;
    folder.f_bavail.checked_mul(folder.f_frsize)
}

#[cfg(not(unix))]
fn free_for_temporary_files() -> Option<u64> {
    None
}

fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
