//! Two parties with stores.

use std::path::Path;
use std::process::Child;

use super::{Ended, Keys, command, end, free_address, keys, symbolon};

/// Two parties that share a folder, each with a settings file and a store of its own.
pub struct Pair {
    pub keys: Keys,
    /// Whether party 0's store has a passphrase.
    locked: bool,
}

impl Pair {
    pub fn new() -> Pair {
        let keys = keys();
        let pair = Pair { keys, locked: true };
        std::fs::write(pair.path("words"), "correct horse\nnot this\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(pair.path("words"), private).unwrap();
        }
        pair
    }

    /// Creates a pair without a passphrase, which takes time.
    pub fn unlocked() -> Pair {
        Pair { locked: false, ..Pair::new() }
    }

    pub fn folder(&self) -> &Path {
        self.keys.folder.path()
    }

    pub fn path(&self, name: &str) -> String {
        self.folder().join(name).to_string_lossy().into_owned()
    }

    /// Writes both settings files for a port that was free a moment ago. Party 0's store may have a
    /// passphrase.
    pub fn meet(&self) {
        let address = free_address();
        let common = |party: u8, key: &str, print: &str| {
            format!(
                "party = {party}\nkey = \"{key}.key\"\npeer_fingerprint = \"{print}\"\ntimeout = 20\n\
                 store = \"{key}.store\"\n"
            )
        };
        let zero = common(0, "a", &self.keys.print_b);
        let lock = if self.locked { "store_passphrase = \"words\"\n" } else { "" };
        let zero = format!("{zero}listen = \"{address}\"\n{lock}");
        let one = common(1, "b", &self.keys.print_a);
        let one = format!("{one}connect = \"{address}\"\n");
        std::fs::write(self.path("0.toml"), zero).unwrap();
        std::fs::write(self.path("1.toml"), one).unwrap();
    }

    /// Runs both sides with the same words, and each with its own.
    pub fn both(&self, words: &[&str], own: [&[&str]; 2]) -> [Ended; 2] {
        self.start(words, own).map(end)
    }

    /// Does the same, without waiting for their end.
    pub fn start(&self, words: &[&str], own: [&[&str]; 2]) -> [Child; 2] {
        self.meet();
        [0, 1].map(|party| {
            let config = self.path(&format!("{party}.toml"));
            let words = [words, &["--config", &config], own[party]].concat();
            command(&words).spawn().unwrap()
        })
    }

    /// Adds two numbers with a prepared circuit.
    pub fn add(&self, x: &str, y: &str) -> [Ended; 2] {
        let (x, y) = (format!("x={x}"), format!("y={y}"));
        self.both(&["run", "add:8", "--prepared"], [&["--input", &x], &["--input", &y]])
    }

    pub fn store(&self, party: usize) -> Vec<String> {
        let store = self.path(["a.store", "b.store"][party]);
        let words = self.path("words");
        let mut all = vec![store];
        if party == 0 && self.locked {
            all.extend(["--store-passphrase".to_string(), words]);
        }
        all
    }

    /// Runs `symbolon store WHAT` on the store of a party.
    pub fn look(&self, party: usize, what: &str) -> Ended {
        self.look_with(party, what, &[])
    }

    /// Does the same with more words.
    pub fn look_with(&self, party: usize, what: &str, more: &[&str]) -> Ended {
        let store = self.store(party);
        let store: Vec<&str> = store.iter().map(String::as_str).collect();
        symbolon(&[&["store", what], &store[..], more].concat())
    }
}
