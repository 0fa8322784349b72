//! An open document and what was found in it.

use std::collections::HashMap;
use std::path::PathBuf;

use lsp_types::{Diagnostic as Shown, DiagnosticSeverity, NumberOrString, Position, Range};

use super::files::Modules;
use super::text::{Encoding, Text};
use super::worker::{Count, Counted};
use crate::diag::Diagnostic;
use crate::facts::Facts;
use crate::source::{Sources, Span};
use crate::{Options, analyse};

/// A document that the editor has open.
pub struct Document {
    /// Its path, or a made-up one when it is in no file.
    pub path: PathBuf,
    /// The editor's version number.
    pub version: i32,
    /// Its text.
    pub text: Text,
    /// The number of the last change of any document that concerned it.
    pub change: u64,
    /// Whether it has changed since the last check.
    pub is_stale: bool,
    /// What the last check found.
    pub analysis: Analysis,
    /// The gates of its functions, as of the last state without errors.
    pub counts: Vec<Count>,
    /// Errors that only show when gates are written.
    pub late_errors: (Vec<Diagnostic>, Sources),
}

/// What a check found.
#[derive(Default)]
pub struct Analysis {
    /// Definitions and types.
    pub facts: Facts,
    /// Errors and lints.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that they are about.
    pub sources: Sources,
}

impl Document {
    /// Checks the document's present state. Call it on a large stack.
    pub fn check(&mut self, modules: &Modules, options: &Options) {
        let name = self.path.display().to_string();
        let (checked, facts) = analyse(&name, &self.text.text, modules, options);
        let diagnostics = checked.errors.list().to_vec();
        self.analysis = Analysis { facts, diagnostics, sources: checked.sources };
        self.is_stale = false;
        self.late_errors = Default::default();
    }

    /// Returns whether a file is one of its modules.
    pub fn uses(&self, path: &std::path::Path) -> bool {
        let name = path.display().to_string();
        self.analysis.sources.files.iter().skip(1).any(|source| source.name == name)
    }

    /// Takes over what the worker found.
    pub fn counted(&mut self, counted: Counted) {
        self.counts = counted.counts;
        self.late_errors = (counted.errors, counted.sources);
    }

    /// Returns all messages in the form that editors take.
    pub fn diagnostics(&self, encoding: Encoding) -> Vec<Shown> {
        let early = self.analysis.diagnostics.iter().map(|d| (d, &self.analysis.sources));
        let late = self.late_errors.0.iter().map(|d| (d, &self.late_errors.1));
        early.chain(late).map(|(d, sources)| self.shown(d, sources, encoding)).collect()
    }

    fn shown(&self, d: &Diagnostic, sources: &Sources, encoding: Encoding) -> Shown {
        let severity = match d.code.lint() {
            Some(_) => DiagnosticSeverity::WARNING,
            None => DiagnosticSeverity::ERROR,
        };
        let mut message = d.message.clone();
        if let Some(help) = &d.help {
            message.push_str("\nhelp: ");
            message.push_str(help);
        }
        let mut range = self.text.range(d.span, encoding);
        // An error in a module is shown on the first line of the file that uses it.
        if d.span.file != 0 {
            let line = sources.line(d.span);
            message = format!("{}, line {line}: {message}", sources.name(d.span));
            range = Range::new(Position::new(0, 0), Position::new(0, 0));
        }
        Shown {
            range,
            severity: Some(severity),
            code: Some(NumberOrString::String(d.code.text().into())),
            source: Some("symbolon".into()),
            message,
            ..Shown::default()
        }
    }

    /// Returns the smallest of these places that contains a byte of the document.
    pub fn smallest<'m, V>(
        &self,
        places: &'m HashMap<Span, V>,
        offset: usize,
    ) -> Option<(Span, &'m V)> {
        let offset = offset as u32;
        let holds = |span: &Span| span.file == 0 && span.start <= offset && offset <= span.end;
        let found = places.iter().filter(|(span, _)| holds(span));
        found.min_by_key(|(span, _)| (span.end - span.start, span.start)).map(|(s, v)| (*s, v))
    }
}
