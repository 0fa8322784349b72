//! Compiled programs, kept in the user's cache folder.
//!
//! An entry is named by a digest of what the compiler was given (`Key`). It is a digest of the rest
//! of the entry, a line of JSON (`Head`) and an `.sbc` file. It is used only if it is whole, if it
//! says the same key, if the modules that the compiler asked for are what they were, and if the
//! circuit has the digest that it says, so an entry that is damaged, renamed or outdated is made
//! anew. The folder and its entries are private: what another user owns or may write to is never
//! read.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use symbolon::circuit::{Circuit, native};
use symbolon::plan::cache_folder;
use symbolon_lang::Options;
use symbolon_lang::source::{Folder, Loader};

/// All entries together have at most this many bytes; those that were not used for longest go.
const MAX_BYTES: u64 = 512 << 20;

/// An entry has at most this many bytes.
const MAX_ENTRY: u64 = 256 << 20;

/// The line of JSON has at most this many bytes.
const MAX_HEAD: usize = 1 << 20;

/// Files that are being written begin with this.
pub const UNFINISHED: &str = "new-";

/// A file that is being written is a leftover after this time.
const LEFTOVER: Duration = Duration::from_secs(3600);

/// The user's cache folder.
pub struct Cache {
    folder: PathBuf,
    /// The most bytes of all entries together.
    limit: u64,
}

/// A digest of everything that determines a circuit, except for the modules of the program.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// The first line of an entry.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    key: String,
    /// The program's path, for people.
    program: String,
    /// What the compiler asked the program's folder for.
    modules: Vec<Module>,
    /// The circuit's digest.
    circuit: String,
}

/// A module that the compiler asked for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Module {
    path: Vec<String>,
    /// A digest of its name and text; none if there was no such module.
    found: Option<String>,
}

/// An entry, for people.
pub struct Listed {
    /// The program's path; none if the entry is damaged.
    pub program: Option<String>,
    /// The circuit's digest, in hexadecimal.
    pub circuit: String,
    /// The size of the file.
    pub bytes: u64,
    /// When it was made or last used.
    pub used: SystemTime,
}

impl Key {
    /// Returns the key of a program; none if this process cannot tell which build it is.
    pub fn of(path: &str, text: &str, options: &Options) -> Option<Key> {
        let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
        let changed = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let mut hasher = blake3::Hasher::new_derive_key("Symbolon compiled program, version 1");
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        // Builds of the same commit differ in this.
        let build = format!("{} {}", program.len(), changed.as_nanos());
        [env!("CARGO_PKG_VERSION"), env!("SYMBOLON_COMMIT"), &build, path, text]
            .iter()
            .for_each(|part| add(part.as_bytes()));
        add(options.entry.as_deref().unwrap_or_default().as_bytes());
        // Clients are named in the main file, and few programs have any.
        let clear_clients = options.clear_clients && text.contains("clients");
        add(&[u8::from(options.entry.is_some()), u8::from(clear_clients)]);
        add(&options.parties.map_or([0; 3], |n| {
            let [low, high] = n.to_le_bytes();
            [1, low, high]
        }));
        for part in options.constants.iter().flat_map(|(name, value)| [name, value]) {
            add(part.as_bytes());
        }
        Some(Key(hasher.finalize().to_hex().to_string()))
    }
}

/// Loads modules, and notes which.
pub struct Recorder<'f> {
    folder: &'f Folder,
    modules: Mutex<Vec<Module>>,
}

impl<'f> Recorder<'f> {
    /// Begins with no modules.
    pub fn new(folder: &'f Folder) -> Recorder<'f> {
        Recorder { folder, modules: Mutex::default() }
    }
}

impl Loader for Recorder<'_> {
    fn load(&self, path: &[Arc<str>]) -> Result<Option<(String, String)>, String> {
        let found = self.folder.load(path)?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let path = path.iter().map(ToString::to_string).collect();
        modules.push(Module { path, found: found.as_ref().map(digest_of_module) });
        Ok(found)
    }
}

fn digest_of_module((name, text): &(String, String)) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes()).update(text.as_bytes());
    hasher.finalize().to_hex().to_string()
}

impl Module {
    /// Returns whether the folder has the same as before.
    fn is_current(&self, folder: &Folder) -> bool {
        let path: Vec<Arc<str>> = self.path.iter().map(|part| part.as_str().into()).collect();
        let found = folder.load(&path);
        found.is_ok_and(|found| found.as_ref().map(digest_of_module) == self.found)
    }
}

impl Cache {
    /// Returns the user's folder; none if the system names none.
    pub fn of_user() -> Option<Cache> {
        Some(Cache { folder: cache_folder()?, limit: MAX_BYTES })
    }

    /// Returns where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the circuit of a program whose modules are in `folder`, if it is kept and whole.
    pub fn find(&self, key: &Key, folder: &Folder) -> Option<Circuit> {
        self.check().ok()?;
        let file = open(&self.folder.join(&key.0)).ok()?;
        let mut bytes = Vec::new();
        (&file).take(MAX_ENTRY + 1).read_to_end(&mut bytes).ok()?;
        let (digest, all) = bytes.split_first_chunk()?;
        let (head, rest) = parts(all).filter(|_| *digest == *blake3::hash(all).as_bytes())?;
        if head.key != key.0 || !head.modules.iter().all(|module| module.is_current(folder)) {
            return None;
        }
        let circuit = native::read(rest).ok()?;
        if hex::encode(circuit.digest()) != head.circuit {
            return None;
        }
        // Only the order in which entries go depends on it.
        let _ = file.set_modified(SystemTime::now());
        Some(circuit)
    }

    /// Keeps a circuit that was compiled from what `recorder` loaded.
    ///
    /// # Errors
    /// The circuit is not kept.
    pub fn keep(
        &self,
        key: &Key,
        program: &str,
        recorder: Recorder<'_>,
        circuit: &Circuit,
    ) -> io::Result<()> {
        let modules = recorder.modules.into_inner().unwrap_or_else(PoisonError::into_inner);
        let head = Head {
            key: key.0.clone(),
            program: program.to_string(),
            modules,
            circuit: hex::encode(circuit.digest()),
        };
        let mut bytes = serde_json::to_vec(&head)?;
        bytes.push(b'\n');
        if bytes.len() > MAX_HEAD {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        native::write(circuit, &mut bytes)?;
        if (bytes.len() + blake3::OUT_LEN) as u64 > MAX_ENTRY {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let folder = self.made()?;
        // Only this user may read or write it.
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        file.write_all(blake3::hash(&bytes).as_bytes())?;
        file.write_all(&bytes)?;
        file.persist(self.folder.join(&key.0))?;
        self.shrink()
    }

    /// Removes leftovers, and the entries that were not used for longest until the others fit.
    fn shrink(&self) -> io::Result<()> {
        let mut files = self.files()?;
        files.sort_by_key(|(_, about)| std::cmp::Reverse(about.modified().ok()));
        let mut total = 0;
        for (path, about) in files {
            let is_leftover =
                is_unfinished(&path) && about.modified()?.elapsed().is_ok_and(|age| age > LEFTOVER);
            total += about.len();
            if is_leftover || total > self.limit {
                // Another process may have removed it.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// Returns all entries, those used last first; none if there is no folder.
    ///
    /// # Errors
    /// When the folder cannot be read, or is not this user's alone.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let entry = |(path, about): (PathBuf, fs::Metadata)| {
            let mut bytes = Vec::new();
            let most = (blake3::OUT_LEN + MAX_HEAD) as u64;
            let read = open(&path).and_then(|file| file.take(most).read_to_end(&mut bytes));
            let head = read.ok().and_then(|_| parts(bytes.get(blake3::OUT_LEN..)?));
            let (program, circuit) = head.map(|(head, _)| (head.program, head.circuit)).unzip();
            let used = about.modified().unwrap_or(UNIX_EPOCH);
            Listed { program, circuit: circuit.unwrap_or_default(), bytes: about.len(), used }
        };
        let files = self.checked_files()?;
        let entries = files.into_iter().filter(|(path, _)| !is_unfinished(path));
        let mut entries: Vec<Listed> = entries.map(entry).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.used));
        Ok(entries)
    }

    /// Removes all entries; returns how many files were removed, and their bytes.
    ///
    /// # Errors
    /// When an entry cannot be removed, or the folder is not this user's alone.
    pub fn clear(&self) -> io::Result<(u64, u64)> {
        let (mut files, mut bytes) = (0, 0);
        for (path, about) in self.checked_files()? {
            match fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => {
                    removed?;
                    (files, bytes) = (files + 1, bytes + about.len());
                }
            }
        }
        Ok((files, bytes))
    }

    fn checked_files(&self) -> io::Result<Vec<(PathBuf, fs::Metadata)>> {
        match self.check() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            checked => checked.and_then(|()| self.files()),
        }
    }

    /// Returns the files in the folder that are named as the cache names its own.
    fn files(&self) -> io::Result<Vec<(PathBuf, fs::Metadata)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_key = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            // Without following links; a file that has just gone is not there.
            if let (true, Ok(about)) = (is_key || name.starts_with(UNFINISHED), entry.metadata())
                && !about.is_dir()
            {
                files.push((entry.path(), about));
            }
        }
        Ok(files)
    }

    /// Makes the folder if there is none.
    ///
    /// # Errors
    /// When it cannot be made, or is not this user's alone.
    pub fn made(&self) -> io::Result<&Path> {
        create(&self.folder)?;
        self.check()?;
        Ok(&self.folder)
    }

    /// Refuses a folder that is a link or that others can write to.
    fn check(&self) -> io::Result<()> {
        let about = fs::symlink_metadata(&self.folder)?;
        if !about.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        is_private(&about)
    }
}

/// Splits an entry without its digest.
fn parts(bytes: &[u8]) -> Option<(Head, &[u8])> {
    let head = bytes.iter().take(MAX_HEAD).position(|byte| *byte == b'\n')?;
    let (head, rest) = bytes.split_at(head);
    Some((serde_json::from_slice(head).ok()?, &rest[1..]))
}

fn is_unfinished(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED))
}

/// Makes a folder for this user alone.
fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Opens a file that this user alone can write, and no link.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    is_private(&about)?;
    Ok(file)
}

/// Refuses what another user owns or can write to.
#[cfg(unix)]
fn is_private(about: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let is_own = about.uid() == rustix::process::geteuid().as_raw();
    if is_own && about.mode() & 0o022 == 0 {
        return Ok(());
    }
    let text = "another user owns it or can write to it";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

/// Elsewhere the folder is in the user's profile, which is private.
#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
