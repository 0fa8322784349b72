//! The files that `--report` and `--csv` name. An old file is replaced as a whole, once everything
//! is measured: a measurement that fails or is interrupted leaves it as it was.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use super::args::BenchArgs;
use crate::common::error::{CliError, CliResult};
use crate::source::values::can_be_written;

/// Checks before the work, not after it, that the files can be written.
///
/// # Errors
/// A failure when one cannot be.
pub fn announce(args: &BenchArgs) -> CliResult<()> {
    check("--csv", args.csv.as_deref())?;
    check("--report", args.report.as_deref())
}

/// Writes the page, if it was requested.
///
/// # Errors
/// Those of `page`; a failure when it cannot be written.
pub fn report(args: &BenchArgs, page: impl FnOnce() -> CliResult<String>) -> CliResult<()> {
    let Some(path) = &args.report else { return Ok(()) };
    write("--report", path, &page()?)
}

/// Checks that the file that an option names can be written, and leaves it as it is.
///
/// # Errors
/// A failure when it cannot be.
pub fn check(option: &str, path: Option<&Path>) -> CliResult<()> {
    let Some(path) = path else { return Ok(()) };
    can_be_written(path).map_err(|error| unwritable(option, path, &error))
}

/// Writes the file that an option names, in the place of an old one.
///
/// # Errors
/// A failure when it cannot be written.
pub fn write(option: &str, path: &Path, text: &str) -> CliResult<()> {
    replace(path, text).map_err(|error| unwritable(option, path, &error))
}

fn unwritable(option: &str, path: &Path, error: &io::Error) -> CliError {
    CliError::io(format!("{option}: cannot write {}", path.display()), error)
}

/// Writes a file beside this one, and gives it this one's name.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays; the file behind it is replaced.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::symlink_metadata(&real).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        // A pipe or a device, which must not be replaced by a file.
        return fs::write(path, text);
    }
    let mut new = match beside(&real) {
        Ok(new) => new,
        // A folder that takes no new files may still have one that can be written.
        Err(error) if error.kind() != ErrorKind::StorageFull => return fs::write(path, text),
        Err(error) => return Err(error),
    };
    new.write_all(text.as_bytes())?;
    if let Some(old) = old {
        fs::set_permissions(new.path(), old.permissions())?;
    }
    match new.persist(&real) {
        Ok(_) => Ok(()),
        // Such as a file that is mounted by itself.
        Err(_) => fs::write(path, text),
    }
}

/// Creates a temporary file in the same folder, with the permissions of any new file.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_as_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, usual] = ["a.html", "link", "usual"].map(|name| folder.path().join(name));
        fs::write(&usual, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        replace(&file, "new").unwrap();
        assert_eq!(mode(&file), mode(&usual), "as any new file");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        symlink("a.html", &link).unwrap();
        replace(&link, "newer").unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("newer", 0o640));
        assert!(link.is_symlink());
        replace(Path::new("/dev/null"), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no other file is left");
    }

    #[test]
    fn whether_a_file_can_be_written_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new, link] = ["old", "new", "link"].map(|name| folder.path().join(name));
        fs::write(&old, "old").unwrap();
        symlink("nothing", &link).unwrap();
        for path in [&old, &new, &link] {
            check("--csv", Some(path)).unwrap();
        }
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        assert!(!new.exists() && link.is_symlink() && !link.exists());
        let inside = folder.path().join("no/file");
        assert!(check("--csv", Some(&inside)).unwrap_err().message.contains("--csv"));
    }
}
