//! Searches another process's memory for secrets.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use symbolon_primitives::watch::{Filter, MASK, OPENED, RECORD};

/// The size of a pattern in bytes.
const PATTERN: usize = 16;

/// Patterns to search for, by their bytes.
#[derive(Default)]
pub struct Secrets {
    names: HashMap<u128, String>,
    filter: Filter,
}

impl Secrets {
    /// Collects what a child reported, without what it has opened.
    pub fn told(records: &[u8]) -> Secrets {
        let mut secrets = Secrets::default();
        let mut opened = Vec::new();
        for record in records.chunks_exact(RECORD) {
            let (name, masked) = record.split_at(RECORD - PATTERN);
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_string();
            let bytes: Vec<u8> = masked.iter().map(|byte| byte ^ MASK).collect();
            match name == OPENED {
                true => opened.extend(bytes),
                false => secrets.add(&name, &bytes),
            }
        }
        for pattern in opened.as_chunks::<PATTERN>().0 {
            secrets.names.remove(&u128::from_le_bytes(*pattern));
        }
        secrets
    }

    /// Adds every 16 bytes of a secret.
    pub fn add(&mut self, name: &str, secret: &[u8]) {
        for bytes in secret.as_chunks::<PATTERN>().0 {
            let pattern = u128::from_le_bytes(*bytes);
            self.filter.add(pattern);
            self.names.insert(pattern, name.to_string());
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }
}

/// A secret that was found.
#[derive(Debug)]
pub struct Found {
    pub name: String,
    address: u64,
    /// The line of `/proc/PID/maps`.
    mapping: String,
    /// The bytes around it: the secret, and at most 32 bytes on each side.
    around: Vec<u8>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { name, address, mapping, around } = self;
        write!(f, "{name} at {address:x}, in {mapping}, in the middle of ")?;
        around.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Searches all memory that a process can write to for secrets.
pub fn search(process: u32, secrets: &Secrets) -> io::Result<Vec<Found>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    let mut found = Vec::new();
    let mut searched = 0;
    for mapping in maps.lines() {
        let mut words = mapping.split_whitespace();
        let (Some(range), Some(modes)) = (words.next(), words.next()) else { continue };
        let Some((start, end)) = range.split_once('-') else { continue };
        let address = |text| u64::from_str_radix(text, 16).expect("an address");
        let (start, end) = (address(start), address(end));
        if !modes.starts_with("rw") {
            continue;
        }
        let mut bytes = vec![0; usize::try_from(end - start).expect("a length")];
        memory.read_exact_at(&mut bytes, start)?;
        searched += bytes.len();
        for (place, pattern) in secrets.filter.passed(&bytes) {
            if let Some(name) = secrets.names.get(&pattern) {
                found.push(Found {
                    name: name.clone(),
                    address: start + place as u64,
                    mapping: mapping.to_string(),
                    around: bytes[place.saturating_sub(32)..(place + 48).min(bytes.len())].to_vec(),
                });
            }
        }
    }
    assert!(searched > 1 << 16, "a process without memory");
    Ok(found)
}
