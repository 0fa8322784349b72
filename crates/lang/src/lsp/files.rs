//! Files and their URIs; modules are taken from open documents first, then from the disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::source::{Folder, Loader};

/// The scheme of the library's modules, which are in no file: `symbolon-std:/std/sort.sym`.
pub const LIBRARY: &str = "symbolon-std:/";

const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

/// Returns the path that a `file:` URI names.
pub fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // `/C:/folder` on Windows.
    let path = if cfg!(windows) { path.trim_start_matches('/') } else { &path };
    Some(PathBuf::from(path))
}

/// Returns the URI of a path.
pub fn uri_of(path: &Path) -> Option<Uri> {
    let shown = path.to_str()?.replace('\\', "/");
    let slash = if shown.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", utf8_percent_encode(&shown, ESCAPED)).parse().ok()
}

/// Returns the URI of a module of the library, from the name that messages show: `std/sort.sym`.
pub fn library_uri(name: &str) -> Option<Uri> {
    format!("{LIBRARY}{name}").parse().ok()
}

/// Returns the text of a module of the library.
pub fn library_text(uri: &Uri) -> Option<&'static str> {
    let name = uri.as_str().strip_prefix(LIBRARY)?.strip_prefix("std/")?.strip_suffix(".sym")?;
    crate::library::source(name)
}

/// Texts of open documents by path.
pub type Open = HashMap<PathBuf, Arc<str>>;

/// Loads modules from the main file's folder.
pub struct Modules {
    /// The folder of the main file.
    pub folder: PathBuf,
    /// What is open in the editor.
    pub open: Open,
}

impl Loader for Modules {
    fn load(&self, path: &[Arc<str>]) -> Result<Option<(String, String)>, String> {
        let mut file = self.folder.clone();
        path.iter().for_each(|part| file.push(&**part));
        file.set_extension("sym");
        match self.open.get(&file) {
            Some(text) => Ok(Some((file.display().to_string(), text.to_string()))),
            None => Folder(self.folder.clone()).load(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_uris_go_both_ways() {
        let path = Path::new("/a b/ü%.sym");
        assert_eq!(path_of(&uri_of(path).unwrap()).as_deref(), Some(path));
        assert!(path_of(&"untitled:one".parse().unwrap()).is_none());
    }

    #[test]
    fn the_library_has_uris() {
        let uri = library_uri("std/sort.sym").unwrap();
        assert!(library_text(&uri).unwrap().contains("fn sort"));
        assert!(library_text(&library_uri("std/none.sym").unwrap()).is_none());
    }
}
