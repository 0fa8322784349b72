//! Source files, places in them, and where modules come from.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A run of bytes in one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Index of the file in [`Sources`].
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of this one to the end of `other`, both in one file.
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.end), ..self }
    }
}

/// One source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name that messages show.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Where its lines begin, once that is asked for.
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// Creates a file of at most 2^32 bytes.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Source {
        Source { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(breaks.map(|(place, _)| place as u32 + 1)).collect()
        })
    }

    /// Returns the 0-based line of a byte, and where it begins.
    pub fn line_at(&self, byte: u32) -> (usize, usize) {
        let line = self.lines().partition_point(|&start| start <= byte).saturating_sub(1);
        (line, self.lines()[line] as usize)
    }

    /// Returns a line without its end, or `None` after the last.
    pub fn line(&self, line: usize) -> Option<&str> {
        let start = *self.lines().get(line)? as usize;
        let end = self.lines().get(line + 1).map_or(self.text.len(), |&next| next as usize - 1);
        self.text.get(start..end)
    }
}

/// All files of one compilation; the first one is the main file.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files; [`Span::file`] is an index into this list.
    pub files: Vec<Source>,
}

impl Sources {
    /// Returns the 1-based line on which a span begins.
    pub fn line(&self, span: Span) -> u32 {
        let Some(source) = self.files.get(span.file as usize) else { return 0 };
        source.line_at(span.start).0 as u32 + 1
    }

    /// Returns the line and the column of a byte, both from 1; columns count characters.
    pub fn position(&self, file: u32, byte: u32) -> (u32, u32) {
        let Some(source) = self.files.get(file as usize) else { return (0, 0) };
        let text = source.text.as_bytes();
        let before = &text[..(byte as usize).min(text.len())];
        let (line, start) = source.line_at(byte);
        // Bytes that continue a character are of the form 10xxxxxx.
        let column = before[start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32;
        (line as u32 + 1, column + 1)
    }

    /// Returns the name of the file that a span is in.
    pub fn name(&self, span: Span) -> &str {
        self.files.get(span.file as usize).map_or("", |source| &source.name)
    }
}

/// Finds the text of modules that `use` names.
pub trait Loader {
    /// Returns the shown name and the text of the module `path`, such as `["a", "b"]` for
    /// `a/b.sym`, or `None` when there is no such module.
    ///
    /// # Errors
    /// A sentence, when the module exists but cannot be read.
    fn load(&self, path: &[Arc<str>]) -> Result<Option<(String, String)>, String>;
}

/// A loader without modules.
pub struct NoModules;

impl Loader for NoModules {
    fn load(&self, _: &[Arc<str>]) -> Result<Option<(String, String)>, String> {
        Ok(None)
    }
}

/// Loads modules from the folder of the main file.
pub struct Folder(pub PathBuf);

impl Loader for Folder {
    fn load(&self, path: &[Arc<str>]) -> Result<Option<(String, String)>, String> {
        let mut file = self.0.clone();
        path.iter().for_each(|part| file.push(&**part));
        file.set_extension("sym");
        if !file.is_file() {
            return Ok(None);
        }
        let name = file.display().to_string();
        Ok(Some((name, read_source(&file)?)))
    }
}

/// Reads a source file of at most [`MAX_SOURCE`](crate::MAX_SOURCE) bytes.
///
/// # Errors
/// A sentence that names the file.
pub fn read_source(path: &std::path::Path) -> Result<String, String> {
    use std::io::Read;
    let shown = path.display();
    let file =
        std::fs::File::open(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let mut bytes = Vec::new();
    file.take(crate::MAX_SOURCE as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    if bytes.len() > crate::MAX_SOURCE {
        return Err(format!("{shown} is longer than {} bytes", crate::MAX_SOURCE));
    }
    String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8 text"))
}
