//! Keeps a calibration in the user's cache folder: a TOML file that is for one machine and one
//! version of the model.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use symbolon_transport::escape::one_line;
use symbolon_transport::files;

use super::rates::{Rates, units};

/// The version of the file. Another meaning of a unit raises it; units that come or go need not.
const VERSION: u32 = 1;

/// The file has at most this many bytes.
const LONGEST: u64 = 64 << 10;

/// A unit takes at most this many seconds.
const SLOWEST: f64 = 10.0;

const COMMENT: &str = "# Seconds that this machine takes for each kind of work. \
`symbolon calibrate` writes this file, `symbolon plan` reads it.\n";

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RatesFile {
    version: u32,
    machine: String,
    seconds: BTreeMap<String, f64>,
}

/// What the user's cache folder has.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// No calibration.
    Nothing,
    /// A calibration of this machine.
    Rates(Rates),
    /// A calibration that is of no use, and why.
    Unusable(String),
}

impl Kept {
    /// Returns the rates to use, those of a typical machine where there are no others; and why a
    /// calibration is of no use.
    pub fn or_built_in(self) -> (Rates, Option<String>) {
        match self {
            Kept::Nothing => (Rates::built_in(), None),
            Kept::Rates(rates) => (rates, None),
            Kept::Unusable(why) => (Rates::built_in(), Some(why)),
        }
    }
}

/// Returns the folder in which programs of this user keep what can be made again; `None` if the
/// system names none.
pub fn cache_folder() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = folder("XDG_CACHE_HOME").or_else(|| match () {
        () if cfg!(windows) => folder("LOCALAPPDATA"),
        () if cfg!(target_os = "macos") => Some(folder("HOME")?.join("Library/Caches")),
        () => Some(folder("HOME")?.join(".cache")),
    });
    Some(home?.join("symbolon"))
}

/// Returns the place of the calibration; `None` as for [`cache_folder`].
pub fn rates_file() -> Option<PathBuf> {
    Some(cache_folder()?.join("rates.toml"))
}

/// Reads the calibration in the user's cache folder.
pub fn kept_rates() -> Kept {
    rates_file().map_or(Kept::Nothing, |path| kept_in(&path))
}

fn kept_in(path: &Path) -> Kept {
    let bytes = match files::read(path, LONGEST) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Kept::Nothing,
        Err(error) => return Kept::Unusable(format!("{}: {error}", path.display())),
        Ok(bytes) => bytes,
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not text".to_string());
    match text.and_then(Rates::from_toml) {
        Ok(rates) => Kept::Rates(rates),
        Err(why) => Kept::Unusable(format!("{}: {why}", path.display())),
    }
}

/// Returns the processor, if the system tells, and how many threads it runs at a time, and the SIMD
/// kernels.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = crate::processor().unwrap_or_else(|| std::env::consts::ARCH.to_string());
    format!("{processor}, {cores} cores, {}", crate::backend())
}

impl Rates {
    /// Writes the rates as a file for this machine.
    pub fn to_toml(&self) -> String {
        let seconds = units().into_iter().map(|unit| (unit.name().into(), self.seconds(unit)));
        let file = RatesFile { version: VERSION, machine: machine(), seconds: seconds.collect() };
        // A table of names and numbers can always be written.
        toml::to_string(&file).map_or_else(|_| String::new(), |text| format!("{COMMENT}{text}"))
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// Why it is of no use here: damaged, of another version, or of another machine.
    pub fn from_toml(text: &str) -> Result<Rates, String> {
        let table: toml::Table = text.parse().map_err(|_| "it is damaged: not TOML".to_string())?;
        let version = table.get("version").and_then(toml::Value::as_integer);
        if version != Some(VERSION.into()) {
            return Err("it is of another version of Symbolon".to_string());
        }
        if !text.ends_with('\n') {
            return Err("it is damaged: cut off".to_string());
        }
        let file: RatesFile =
            table.try_into().map_err(|_| "it is damaged: not what was written".to_string())?;
        if file.machine != machine() {
            return Err(format!("it is of another machine ({})", one_line(&file.machine)));
        }
        let all = units();
        if file.seconds.len() != all.len()
            || !all.iter().all(|unit| file.seconds.contains_key(unit.name()))
        {
            return Err("it is of another version of Symbolon".to_string());
        }
        if !file.seconds.values().all(|seconds| (0.0..=SLOWEST).contains(seconds)) {
            return Err("it is damaged: impossible times".to_string());
        }
        Ok(Rates::of(|unit| file.seconds.get(unit.name()).copied().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice() -> Rates {
        Rates::of(|unit| 2e-9 * unit.nanos())
    }

    #[test]
    fn what_was_written_is_read() {
        let text = twice().to_toml();
        assert!(text.contains("version = 1\n") && text.contains("\"leaky AND\" = "), "{text}");
        let read = Rates::from_toml(&text).unwrap();
        for unit in units() {
            assert_eq!(read.seconds(unit), twice().seconds(unit), "{}", unit.name());
        }
    }

    #[test]
    fn what_is_of_no_use_is_refused() {
        let text = twice().to_toml();
        let refused = |text: &str, why: &str| {
            let error = Rates::from_toml(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        refused(&text[..text.len() - 3], "damaged");
        refused("", "another version");
        refused(&text.replace("version = 1", "version = 2"), "another version");
        refused(&text.replace("version = 1", "version = 1\nmore = 2"), "damaged");
        refused(&text.replace("\"leaky AND\"", "\"lucky AND\""), "another version");
        refused(&text.replace("cores", "hearts"), "another machine");
        let place = text.find("\"leaky AND\" = ").unwrap() + "\"leaky AND\" = ".len();
        for impossible in ["-1.0", "nan", "inf", "1e9"] {
            let end = place + text[place..].find('\n').unwrap();
            refused(&format!("{}{impossible}{}", &text[..place], &text[end..]), "impossible");
        }
    }

    #[test]
    fn a_file_that_is_missing_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.toml");
        assert_eq!(kept_in(&path), Kept::Nothing);
        std::fs::write(&path, twice().to_toml()).unwrap();
        assert!(matches!(kept_in(&path), Kept::Rates(_)));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(kept_in(&path), Kept::Unusable(why) if why.contains("not text")));
        assert!(matches!(kept_in(folder.path()), Kept::Unusable(why) if why.contains("directory")));
    }
}
