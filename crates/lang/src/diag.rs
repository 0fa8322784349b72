//! Errors and lints: codes, places, and how they are shown.

use std::borrow::Cow;
use std::collections::HashSet;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::{Sources, Span};
use symbolon_common::invisible::{is_invisible, visible};

/// What kind of fault a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// E01: the text does not follow the grammar.
    Text,
    /// E02: a name is unknown, ambiguous or defined twice.
    Name,
    /// E03: a type is not the expected one, or cannot be inferred.
    Type,
    /// E04: a constant is needed, or has an impossible value.
    Constant,
    /// E05: a pattern does not fit, or cases are missing.
    Pattern,
    /// E06: control flow where it is not allowed.
    Control,
    /// E07: a limit is exceeded.
    Limit,
    /// E08: an entry's parameters or results cannot be inputs or outputs.
    Port,
    /// W09: a case that nothing reaches.
    Unreachable,
    /// W10: a conversion to fewer bits that an output depends on.
    Narrowing,
}

impl Code {
    /// Returns the code as shown, such as `E03`.
    pub fn text(self) -> &'static str {
        match self {
            Code::Text => "E01",
            Code::Name => "E02",
            Code::Type => "E03",
            Code::Constant => "E04",
            Code::Pattern => "E05",
            Code::Control => "E06",
            Code::Limit => "E07",
            Code::Port => "E08",
            Code::Unreachable => "W09",
            Code::Narrowing => "W10",
        }
    }

    /// Returns the name of a lint, which is correct but probably not meant; `None` for an error.
    pub fn lint(self) -> Option<&'static str> {
        match self {
            Code::Unreachable => Some("unreachable"),
            Code::Narrowing => Some("narrowing"),
            _ => None,
        }
    }
}

/// All lints.
pub const LINTS: [Code; 2] = [Code::Unreachable, Code::Narrowing];

/// One error or lint.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The kind.
    pub code: Code,
    /// The place it is about.
    pub span: Span,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates a message about a place. Characters of the source that cannot be seen become
    /// escapes.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let message = match visible(&message) {
            Cow::Owned(shown) => shown,
            Cow::Borrowed(_) => message,
        };
        Diagnostic { code, span, message, help: None }
    }

    /// Adds a suggestion.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// At most this many messages are kept: more would help nobody, and take memory.
const MOST: usize = 100;

/// Messages in the order they were found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    /// The names in what the parser has skipped after errors.
    lost: HashSet<String>,
    /// How many errors follow from these.
    follow: usize,
}

impl Diagnostics {
    /// Notes a name that the parser has skipped after an error: it may be unknown for that reason.
    pub fn lose(&mut self, name: String) {
        self.lost.insert(name);
    }

    /// Returns whether a message is about a name that the parser has skipped.
    fn is_lost(&self, diagnostic: &Diagnostic) -> bool {
        let mut quoted = diagnostic.message.split('`').skip(1).step_by(2);
        let is_lost = |path: &str| path.split("::").any(|name| self.lost.contains(name));
        diagnostic.code == Code::Name && !self.lost.is_empty() && quoted.any(is_lost)
    }

    /// Adds a message, unless an equal one is there, or it follows from an earlier one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.code.lint().is_none() {
            self.errors += 1;
        }
        if self.is_lost(&diagnostic) {
            self.follow += 1;
            return;
        }
        let known = |d: &Diagnostic| d.span == diagnostic.span && d.code == diagnostic.code;
        if self.list.len() < MOST && !self.list.iter().any(known) {
            self.list.push(diagnostic);
        }
    }

    /// Returns how many errors there were, without lints.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Returns how many of the errors do not follow from others.
    pub fn own_errors(&self) -> usize {
        self.errors - self.follow
    }

    /// Returns the messages.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Returns the messages with the source lines that they are about, sorted by place.
    pub fn render(&self, sources: &Sources, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut list: Vec<&Diagnostic> = self.list.iter().collect();
        list.sort_by_key(|d| (d.span.file, d.span.start, d.code));
        let mut out = String::new();
        for diagnostic in list {
            out.push_str(&render_one(diagnostic, sources, &renderer));
            out.push_str("\n\n");
        }
        out
    }
}

fn render_one(diagnostic: &Diagnostic, sources: &Sources, renderer: &Renderer) -> String {
    let lint = diagnostic.code.lint();
    let level = if lint.is_some() { Level::WARNING } else { Level::ERROR };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.text());
    let mut group = Group::with_title(title);
    if let Some(source) = sources.files.get(diagnostic.span.file as usize) {
        // Only the lines around the place are shown: a long line or file is not copied whole.
        let (start, text) = excerpt(&source.text, diagnostic.span);
        let from = (diagnostic.span.start as usize).saturating_sub(start);
        let from = floor_boundary(text, from);
        let to = (diagnostic.span.end as usize).saturating_sub(start).max(from);
        let to = ceil_boundary(text, to);
        let line = source.text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1;
        let (text, from, to) = seen(text, from, to);
        let snippet = Snippet::source(text)
            .line_start(line)
            .path(source.name.as_str())
            .annotation(AnnotationKind::Primary.span(from..to));
        group = group.element(snippet);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// Returns a part of a source with escapes for what cannot be seen, and where the places `from` and
/// `to` are in it.
fn seen(text: &str, from: usize, to: usize) -> (String, usize, usize) {
    let (mut shown, mut start, mut end) = (String::with_capacity(text.len()), None, None);
    for (place, c) in text.char_indices() {
        if place >= from {
            start.get_or_insert(shown.len());
        }
        if place >= to {
            end.get_or_insert(shown.len());
        }
        let ends_line = c == '\r' && matches!(text.as_bytes().get(place + 1), None | Some(b'\n'));
        if is_invisible(c) || (c == '\r' && !ends_line) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    let len = shown.len();
    (shown, start.unwrap_or(len), end.unwrap_or(len))
}

/// Returns the start and the text of the line on which a span begins, and of the next few if it
/// spans them.
fn excerpt(text: &str, span: Span) -> (usize, &str) {
    let start = floor_boundary(text, span.start as usize);
    let line_start = text[..start].rfind('\n').map_or(0, |place| place + 1);
    let far = floor_boundary(text, (span.end as usize).min(start + 400));
    let line_end = text[far..].find('\n').map_or(text.len(), |place| far + place);
    let line_start = ceil_boundary(text, line_start.max(start.saturating_sub(400)));
    let line_end = floor_boundary(text, line_end.min(far + 400));
    (line_start, &text[line_start..line_end])
}

fn floor_boundary(text: &str, place: usize) -> usize {
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn ceil_boundary(text: &str, place: usize) -> usize {
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place += 1;
    }
    place
}
