//! `include/symbolon.h` is what the sources say, and its codes are the documented ones.
//!
//! `SYMBOLON_WRITE=1 cargo test -p symbolon-capi --test header` writes it anew.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for module in [
        "abi", "version", "failure", "circuit", "config", "inputs", "outputs", "session", "store",
        "node",
    ] {
        builder = builder.with_src(folder.join(format!("src/{module}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    assert!(made.contains("// [parameters]\n"));
    let made = made.replace("// [parameters]\n", &parameters());
    let path = folder.join("include/symbolon.h");
    if std::env::var_os("SYMBOLON_WRITE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap();
    let differs = made.lines().zip(there.lines()).find(|(made, there)| made != there);
    assert!(made == there, "{differs:?}: SYMBOLON_WRITE=1 writes include/symbolon.h anew");
}

/// Returns the keys of parameters, as lines of a comment.
fn parameters() -> String {
    let mut lines = vec![String::new()];
    for key in symbolon_c::parameter_keys() {
        let word = format!(" `{key}`,");
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 95 => *line += &word,
            _ => lines.push(word),
        }
    }
    lines.iter().map(|line| format!("//{line}\n")).collect()
}

/// The table of exit codes in docs/cli.md.
#[test]
fn codes_are_those_of_the_command() {
    use symbolon::ErrorClass::*;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = std::fs::read_to_string(page).unwrap();
    let documented = |class: &str| {
        let class = format!("`{class}`");
        let rows = page.lines().filter(|line| line.starts_with("| "));
        let mut cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
        let row = cells.find(|row| row.get(2) == Some(&class.as_str()));
        row.unwrap_or_else(|| panic!("no {class}"))[1].parse::<i32>().unwrap()
    };
    let named =
        [Usage, Peer, Incompatible, Misbehaved, Assert, Internal, System, Unwritten, Interrupted];
    for class in named {
        assert_eq!(i32::from(class.exit_code()), documented(class.name()), "{class:?}");
    }
    for class in [&named[..], &[Store]].concat() {
        let status = symbolon_c::Status::of(class) as i32;
        assert_eq!(status, i32::from(class.exit_code()), "{class:?}");
    }
}

#[test]
fn versions_are_those_of_the_package() {
    // SAFETY: it ends with a zero byte.
    let version = unsafe { std::ffi::CStr::from_ptr(symbolon_c::symbolon_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    assert_eq!(symbolon_c::symbolon_abi_version(), symbolon_c::SYMBOLON_ABI_VERSION);
    assert_eq!(symbolon_c::symbolon_wire_version(), symbolon::PROTOCOL_VERSION);
}
