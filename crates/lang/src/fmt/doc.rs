//! Text with places where it may go to the next line, laid out in lines of at most
//! [`WIDTH`] characters (Wadler, A prettier printer, 2003).

/// Lines are this long at most, unless a word or a text is longer.
pub(super) const WIDTH: usize = 100;

/// What an indentation adds.
const STEP: usize = 4;

/// Text that may be laid out in several ways.
#[derive(Clone, Debug)]
pub(super) enum Doc<'t> {
    /// As it is; it may have lines of its own.
    Text(&'t str),
    /// A space, or a new line if the group around it is broken.
    Line,
    /// Nothing, or a new line if the group around it is broken.
    Soft,
    /// A new line; before it an empty one, if this says so.
    Hard(bool),
    /// Only where the group around it is broken.
    Broken(&'t str),
    /// One after the other.
    All(Vec<Doc<'t>>),
    /// Indented.
    Nest(Box<Doc<'t>>),
    /// A chain of calls of which only the last needs several lines: the others are on this line if
    /// they fit, otherwise each is on its own.
    Calls(Vec<Doc<'t>>, Box<Doc<'t>>),
    /// After `=`: on this line if it fits, otherwise on the next one if it fits there, otherwise
    /// from here on, broken.
    Value(Box<Doc<'t>>),
    /// On one line if it fits, otherwise broken.
    Group(Group<'t>),
    /// Items with what separates them: each [`Doc::Line`] is broken only if the next item does not
    /// fit.
    Fill(Vec<Doc<'t>>),
}

/// What is on one line or on several.
#[derive(Clone, Debug)]
pub(super) struct Group<'t> {
    doc: Box<Doc<'t>>,
    /// Whether something in it needs several lines.
    forced: bool,
    /// Whether groups after it are broken before it is.
    last: bool,
    /// Whether it has blocks, and is broken before groups that precede it on the line.
    first: bool,
}

impl<'t> Doc<'t> {
    pub(super) fn nest(self) -> Doc<'t> {
        Doc::Nest(Box::new(self))
    }

    pub(super) fn value(self) -> Doc<'t> {
        Doc::Value(Box::new(self))
    }

    pub(super) fn group(self) -> Doc<'t> {
        let (forced, first) = (self.forced(), self.first());
        Doc::Group(Group { doc: Box::new(self), forced, last: false, first })
    }

    /// Makes a group of blocks, which is broken before what precedes it, as are blocks that are
    /// written on several lines.
    pub(super) fn group_first(self) -> Doc<'t> {
        let forced = self.forced();
        Doc::Group(Group { doc: Box::new(self), forced, last: false, first: true })
    }

    /// Makes a group that is broken only if breaking what follows does not help.
    pub(super) fn group_last(self) -> Doc<'t> {
        let (forced, first) = (self.forced(), self.first());
        Doc::Group(Group { doc: Box::new(self), forced, last: true, first })
    }

    /// Returns whether a group of blocks is in it.
    fn first(&self) -> bool {
        match self {
            Doc::All(parts) | Doc::Fill(parts) => parts.iter().any(Doc::first),
            Doc::Nest(part) | Doc::Value(part) => part.first(),
            Doc::Calls(before, last) => before.iter().any(Doc::first) || last.first(),
            Doc::Group(group) => group.first,
            _ => false,
        }
    }

    /// Returns whether it needs several lines.
    pub(super) fn forced(&self) -> bool {
        match self {
            Doc::Hard(_) => true,
            Doc::Text(text) => text.starts_with("//"),
            Doc::Line | Doc::Soft | Doc::Broken(_) => false,
            Doc::All(parts) | Doc::Fill(parts) => parts.iter().any(Doc::forced),
            Doc::Nest(part) | Doc::Value(part) => part.forced(),
            Doc::Calls(before, last) => before.iter().any(Doc::forced) || last.forced(),
            Doc::Group(group) => group.forced,
        }
    }
}

/// A part to lay out: how far it is indented, and whether the group around it is broken.
type Part<'d, 't> = (usize, bool, &'d Doc<'t>);

/// Lays a text out.
pub(super) fn lay_out(doc: &Doc<'_>) -> String {
    let mut out = Out { text: String::new(), column: 0 };
    let mut left: Vec<Part<'_, '_>> = vec![(0, true, doc)];
    while let Some((indent, broken, doc)) = left.pop() {
        match doc {
            Doc::Text(text) => out.put(text),
            Doc::Broken(text) if broken => out.put(text),
            Doc::Broken(_) => {}
            Doc::Line if broken => out.line(indent, false),
            Doc::Line => out.put(" "),
            Doc::Soft if broken => out.line(indent, false),
            Doc::Soft => {}
            Doc::Hard(blank) => out.line(indent, *blank),
            Doc::All(parts) => {
                left.extend(parts.iter().rev().map(|part| (indent, broken, part)));
            }
            Doc::Nest(part) => left.push((indent + STEP, broken, part)),
            Doc::Calls(before, last) => {
                let flat = !broken || calls_fit(out.column, indent, before, last);
                let (first, calls) = before.split_at(before.len().min(1));
                for call in calls.iter().chain([&**last]).rev() {
                    if flat {
                        left.push((indent, broken, call));
                    } else {
                        let indent = indent + STEP;
                        left.extend([(indent, true, call), (indent, true, &Doc::Soft)]);
                    }
                }
                left.extend(first.iter().map(|first| (indent, broken, first)));
            }
            Doc::Value(value) => {
                let inner = indent + STEP;
                let fits = |column: usize, indent: usize| {
                    !value.forced() && fits(column, (indent, false, value), (&left, false))
                };
                if !broken || fits(out.column + 1, indent) {
                    out.put(" ");
                    left.push((indent, false, value));
                } else if fits(inner, inner) {
                    out.line(inner, false);
                    left.push((inner, false, value));
                } else {
                    out.put(" ");
                    left.push((indent, true, value));
                }
            }
            Doc::Group(group) => {
                let part = (indent, false, &*group.doc);
                let fits = || !broken || fits(out.column, part, (&left, group.last));
                let flat = !group.forced && fits();
                left.push((indent, !flat, &group.doc));
            }
            Doc::Fill(parts) => fill(&mut out, indent, parts, &left),
        }
    }
    out.text
}

/// Lays items out, as many on each line as fit.
fn fill(out: &mut Out, indent: usize, parts: &[Doc<'_>], left: &[Part<'_, '_>]) {
    for (place, part) in parts.iter().enumerate() {
        match part {
            Doc::Line => {
                // What follows up to the next place to break.
                let next = parts[place + 1..].iter().take_while(|part| !matches!(part, Doc::Line));
                let next: Vec<Doc<'_>> = next.cloned().collect();
                let rest = if place + 1 + next.len() == parts.len() { left } else { &[] };
                if fits(out.column + 1, (indent, false, &Doc::All(next)), (rest, false)) {
                    out.put(" ");
                } else {
                    out.line(indent, false);
                }
            }
            Doc::Text(text) | Doc::Broken(text) => out.put(text),
            part => out.put(&lay_out(part)),
        }
    }
}

/// Returns whether all calls of a chain but the last fit on the line, and the last up to where it
/// breaks.
fn calls_fit(column: usize, indent: usize, before: &[Doc<'_>], last: &Doc<'_>) -> bool {
    let mut column = column;
    for call in before {
        match flat_width(call) {
            Some(width) => column += width,
            None => return false,
        }
    }
    fits(column, (indent, true, last), (&[], true))
}

/// Returns how wide something is on one line; `None` if it has lines.
fn flat_width(doc: &Doc<'_>) -> Option<usize> {
    match doc {
        Doc::Text(text) if text.contains('\n') => None,
        Doc::Text(text) => Some(text.chars().count()),
        Doc::Line => Some(1),
        Doc::Soft | Doc::Broken(_) => Some(0),
        Doc::Hard(_) => None,
        Doc::All(parts) | Doc::Fill(parts) => parts.iter().map(flat_width).sum(),
        Doc::Nest(part) => flat_width(part),
        Doc::Value(part) => Some(1 + flat_width(part)?),
        Doc::Calls(before, last) => {
            Some(before.iter().map(flat_width).sum::<Option<usize>>()? + flat_width(last)?)
        }
        Doc::Group(group) => flat_width(&group.doc),
    }
}

/// Returns whether a part fits on the line from this column on, with what follows it up to the next
/// new line; whether groups in that may be broken is also given.
fn fits(column: usize, part: Part<'_, '_>, (after, breaks): (&[Part<'_, '_>], bool)) -> bool {
    let mut room = WIDTH.saturating_sub(column);
    if column > WIDTH {
        return false;
    }
    let mut own = vec![part];
    let mut rest = after.iter().rev();
    let mut within = true;
    loop {
        within &= !own.is_empty();
        let Some((indent, broken, doc)) = own.pop().or_else(|| rest.next().copied()) else {
            return true;
        };
        let text = match doc {
            Doc::Text(text) => *text,
            Doc::Broken(text) if broken => *text,
            Doc::Line if !broken => " ",
            Doc::Line | Doc::Soft | Doc::Hard(_) if broken => return true,
            Doc::Hard(_) => return !within,
            Doc::All(parts) | Doc::Fill(parts) => {
                own.extend(parts.iter().rev().map(|part| (indent, broken, part)));
                continue;
            }
            Doc::Nest(part) => {
                own.push((indent, broken, part));
                continue;
            }
            Doc::Calls(before, last) => {
                own.push((indent, broken, last));
                own.extend(before.iter().rev().map(|part| (indent, broken, part)));
                continue;
            }
            Doc::Value(_) if broken && breaks && !within => return true,
            Doc::Value(value) => {
                own.push((indent, broken, value));
                " "
            }
            Doc::Group(group) => {
                let breaks = group.forced || (!within && (breaks || group.first));
                own.push((indent, broken && breaks, &group.doc));
                continue;
            }
            _ => "",
        };
        let (line, ends) = match text.split_once('\n') {
            Some((line, _)) => (line, true),
            None => (text, false),
        };
        match room.checked_sub(line.chars().count()) {
            Some(left) => room = left,
            None => return false,
        }
        if ends {
            return true;
        }
    }
}

struct Out {
    text: String,
    column: usize,
}

impl Out {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = last.chars().count(),
            None => self.column += text.chars().count(),
        }
    }

    fn line(&mut self, indent: usize, blank: bool) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.text.push_str(if blank { "\n\n" } else { "\n" });
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }
}
