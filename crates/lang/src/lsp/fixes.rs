//! Fixes of errors and lints.

use crate::ast::{FnDecl, ItemKind};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::source::Span;

/// What a fix is called, and what it writes where.
pub(super) struct Fix {
    pub(super) title: String,
    pub(super) span: Span,
    pub(super) new: String,
}

/// Returns the fix of an error: a similar word, a conversion, or nothing in place of what is left
/// out.
pub(super) fn of_error(text: &str, error: &Diagnostic) -> Option<Fix> {
    let help = error.help.as_deref()?;
    let span = error.span;
    let word = |before: &str, after: &str| {
        help.strip_prefix(before)?.strip_suffix(after).map(str::to_string)
    };
    if let Some(word) = word("did you mean `", "`?") {
        return Some(Fix { title: format!("Replace with `{word}`"), span, new: word });
    }
    let written = text.get(span.start as usize..span.end as usize)?;
    if let Some(cast) = word("convert it: `", "`") {
        let new = format!("{} {cast}", operand(written));
        return Some(Fix { title: format!("Convert with `{cast}`"), span, new });
    }
    if !help.starts_with("leave it out") && !help.starts_with("leave out the") {
        return None;
    }
    // A method is left out with its `.` and its `()`.
    let rest = &text[span.end as usize..];
    let span = match text[..span.start as usize].ends_with('.') && rest.starts_with("()") {
        true => Span { start: span.start - 1, end: span.end + 2, ..span },
        false if matches!(written, "&" | "&&" | "*" | "unsafe") => span,
        false => return None,
    };
    let written = text.get(span.start as usize..span.end as usize)?;
    Some(Fix { title: format!("Leave out `{written}`"), span, new: String::new() })
}

/// Returns the fixes of a lint: a conversion that fails for what does not fit, and the attribute
/// that permits the lint in the function around.
pub(super) fn of_lint(text: &str, lint: &Diagnostic, name: &str) -> Vec<Fix> {
    let span = whole(text, lint.span);
    let mut fixes = Vec::new();
    let written = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    if lint.code == Code::Narrowing
        && let Some((value, ty)) = written.rsplit_once(" as ")
    {
        let (value, ty) = (value.trim_end(), ty.trim());
        let message = format!("{value} fits in {ty}").replace(['\\', '"'], "'");
        let value = operand(value);
        let new = format!("{value}.checked_cast::<{ty}>().expect(\"{message}\")");
        fixes.push(Fix { title: "Fail if it does not fit".into(), span, new });
    }
    if let Some(at) = around(text, span.start) {
        // The attribute gets a line of its own, indented as the function.
        let line = text[..at as usize].rfind('\n').map_or(0, |end| end + 1);
        let indent = &text[line..at as usize];
        let indent = if indent.trim().is_empty() { indent } else { "" };
        let span = Span { start: at, end: at, ..span };
        let new = format!("#[allow({name})]\n{indent}");
        fixes.push(Fix { title: format!("Allow `{name}` in this function"), span, new });
    }
    fixes
}

/// Returns the span of an expression with the brackets that its first operand begins with.
fn whole(text: &str, span: Span) -> Span {
    let mut start = span.start as usize;
    loop {
        let written = text.get(start..span.end as usize).unwrap_or_default();
        let before = text.get(..start).unwrap_or_default().trim_end();
        if written.matches(')').count() <= written.matches('(').count() || !before.ends_with('(') {
            return Span { start: start as u32, ..span };
        }
        start = before.len() - 1;
    }
}

/// Returns where the function around a byte begins: its `pub`, or its `fn`.
fn around(text: &str, at: u32) -> Option<u32> {
    let items = crate::parse::parse(0, text, &mut Diagnostics::default()).items;
    let mut functions: Vec<&FnDecl> = Vec::new();
    for item in &items {
        match &item.kind {
            ItemKind::Fn(decl) => functions.push(decl),
            ItemKind::Impl(_, _, own) => functions.extend(own.iter().map(|decl| &**decl)),
            _ => {}
        }
    }
    let holds = |decl: &&FnDecl| decl.name.span.start <= at && at < decl.body.span.end;
    let name = functions.into_iter().find(holds)?.name.span.start;
    let before = text.get(..name as usize)?.trim_end().strip_suffix("fn")?;
    Some(match before.trim_end().strip_suffix("pub") {
        Some(before) => before.len() as u32,
        None => before.len() as u32,
    })
}

/// Returns an expression as the operand of a method or of `as`.
fn operand(written: &str) -> String {
    let is_short =
        written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte));
    let mut depth = 0;
    let is_bracketed = written.starts_with('(')
        && written.bytes().enumerate().all(|(place, byte)| {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            depth > 0 || place + 1 == written.len()
        });
    if is_short || is_bracketed { written.to_string() } else { format!("({written})") }
}
