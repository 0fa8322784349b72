//! Runs the package's tests in Python with the extension as this workspace builds it. Tests of the
//! wheel, in a fresh environment, are `.ci/python`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().unwrap();
    let name =
        format!("{}symbolon_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(name)
}

/// The Python that `SYMBOLON_PYTHON` names, or the machine's.
fn python() -> Command {
    Command::new(std::env::var_os("SYMBOLON_PYTHON").unwrap_or_else(|| "python3".into()))
}

/// Whether this Python can run the tests; says what it lacks.
fn has_what_it_takes() -> bool {
    let probe = "import sys, numpy, pytest; assert sys.version_info >= (3, 10)";
    let found = python().args(["-c", probe]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("NOT CHECKED: Python 3.10 with numpy and pytest is not installed");
    }
    found
}

#[test]
fn the_package_s_tests_pass() {
    if !has_what_it_takes() {
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("symbolon");
    std::fs::create_dir(&package).unwrap();
    for file in std::fs::read_dir(here.join("python/symbolon")).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            std::fs::copy(file.path(), package.join(file.file_name())).unwrap();
        }
    }
    std::fs::copy(library(), package.join("_symbolon.abi3.so")).unwrap();
    let mut tests = python();
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]);
    tests.current_dir(here).env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    let ended = tests.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}\n{}", String::from_utf8_lossy(&ended.stderr));
}
