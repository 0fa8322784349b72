//! Answers about one document.

use std::collections::{BTreeSet, HashMap};

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeLens, Command, CompletionItem,
    CompletionItemKind, DocumentSymbol, Hover, HoverContents, MarkupContent, MarkupKind, Position,
    Range, SymbolKind, TextEdit, Uri, WorkspaceEdit,
};

use super::document::Document;
use super::fixes;
use super::text::Encoding;
use super::worker::Count;
use crate::ast::{FnDecl, Ident, Item, ItemKind as Written, TypeKind};
use crate::builtin;
use crate::cost::Totals;
use crate::diag::{Diagnostics, LINTS};
use crate::facts::ItemKind;
use crate::parse::KEYWORDS;
use crate::source::Span;

impl Document {
    /// Returns what is at a position: declaration, type, documentation, gates.
    pub fn hover(&self, position: Position, encoding: Encoding) -> Option<Hover> {
        let offset = self.text.offset(position, encoding);
        let facts = &self.analysis.facts;
        let name = self.smallest(&facts.definitions, offset);
        let own = self.smallest(&facts.items, offset).map(|(span, _)| (span, span));
        let bound = self.smallest(&facts.variables, offset).map(|(span, _)| (span, span));
        let named = name.map(|(span, target)| (span, *target)).or(own).or(bound);
        let typed = self.smallest(&facts.types, offset);
        let (span, shown) = match named {
            Some((span, target)) => (span, self.describe(span, target)?),
            None => {
                let (span, types) = typed?;
                (span, code(&types.join("\n")))
            }
        };
        let contents =
            HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: shown });
        Some(Hover { contents, range: Some(self.text.range(span, encoding)) })
    }

    /// Describes what a name means: an item, or a variable or field with its type.
    fn describe(&self, span: Span, target: Span) -> Option<String> {
        let facts = &self.analysis.facts;
        if let Some(item) = facts.items.get(&target) {
            let mut shown = code(&item.signature);
            for count in self.counts_now().get(&target).into_iter().flatten().take(8) {
                let name = if count.name == item.name { "" } else { &count.name };
                let colon = if name.is_empty() { "" } else { ": " };
                shown.push_str(&format!("\n\n{name}{colon}{}", gates(&count.gates)));
            }
            if !item.docs.is_empty() {
                shown.push_str(&format!("\n\n{}", item.docs));
            }
            return Some(shown);
        }
        let name = self.text.text.get(span.start as usize..span.end as usize)?;
        let types = facts.types.get(&span).or_else(|| facts.types.get(&target));
        Some(match types {
            Some(types) => {
                let lines: Vec<String> = types.iter().map(|ty| format!("{name}: {ty}")).collect();
                code(&lines.join("\n"))
            }
            None => code(name),
        })
    }

    /// Returns the counts of each function, by where its name is now: counts are of the last state
    /// without errors.
    fn counts_now(&self) -> HashMap<Span, Vec<&Count>> {
        let items = &self.analysis.facts.items;
        let functions =
            items.iter().filter(|(span, item)| span.file == 0 && item.kind == ItemKind::Function);
        // Methods of several types can share a name: then nothing is shown for a moment.
        let mut named: HashMap<&str, Option<Span>> = HashMap::new();
        for (span, item) in functions {
            named.entry(&item.name).and_modify(|only| *only = None).or_insert(Some(*span));
        }
        let mut counts: HashMap<Span, Vec<&Count>> = HashMap::new();
        for count in &self.counts {
            let name = count.name.split('<').next().unwrap_or_default();
            let stays = items
                .get(&count.span)
                .is_some_and(|item| item.kind == ItemKind::Function && item.name == name);
            let now = if stays { Some(count.span) } else { named.get(name).copied().flatten() };
            if let Some(now) = now {
                counts.entry(now).or_default().push(count);
            }
        }
        counts
    }

    /// Returns where the name at a position is defined; the file is one of the sources'.
    pub fn definition(&self, position: Position, encoding: Encoding) -> Option<Span> {
        let offset = self.text.offset(position, encoding);
        self.smallest(&self.analysis.facts.definitions, offset).map(|(_, target)| *target)
    }

    /// Returns the items of the document.
    pub fn symbols(&self, encoding: Encoding) -> Vec<DocumentSymbol> {
        let items = crate::parse::parse(0, &self.text.text, &mut Diagnostics::default()).items;
        let counts = self.counts_now();
        items.iter().filter_map(|item| self.symbol(item, &counts, encoding)).collect()
    }

    fn symbol(
        &self,
        item: &Item,
        counts: &HashMap<Span, Vec<&Count>>,
        encoding: Encoding,
    ) -> Option<DocumentSymbol> {
        let whole = item.span;
        let make = |kind, name: &Ident, children| {
            Some(self.one_symbol((kind, name), whole, children, counts, encoding))
        };
        let field = |kind| {
            move |name: &Ident| {
                self.one_symbol((kind, name), name.span, Vec::new(), counts, encoding)
            }
        };
        match &item.kind {
            Written::Const(decl) => make(SymbolKind::CONSTANT, &decl.name, Vec::new()),
            Written::Alias(name, _) => make(SymbolKind::INTERFACE, name, Vec::new()),
            Written::Struct(decl) => {
                let fields = decl.fields.iter().map(|(name, _)| name).map(field(SymbolKind::FIELD));
                make(SymbolKind::STRUCT, &decl.name, fields.collect())
            }
            Written::Enum(decl) => {
                let variants = decl.variants.iter().map(|variant| &variant.name);
                let variants = variants.map(field(SymbolKind::ENUM_MEMBER)).collect();
                make(SymbolKind::ENUM, &decl.name, variants)
            }
            Written::Fn(decl) => make(SymbolKind::FUNCTION, &decl.name, Vec::new()),
            Written::Impl(_, ty, functions) => {
                let TypeKind::Path(path, _) = &ty.kind else { return None };
                let method = |decl: &std::sync::Arc<FnDecl>| {
                    let whole = decl.name.span.to(decl.body.span);
                    let named = (SymbolKind::METHOD, &decl.name);
                    self.one_symbol(named, whole, Vec::new(), counts, encoding)
                };
                let methods = functions.iter().map(method).collect();
                make(SymbolKind::CLASS, path.parts.last()?, methods)
            }
            Written::Use(..) | Written::Parties(_) => None,
        }
    }

    fn one_symbol(
        &self,
        (kind, name): (SymbolKind, &Ident),
        whole: Span,
        children: Vec<DocumentSymbol>,
        counts: &HashMap<Span, Vec<&Count>>,
        encoding: Encoding,
    ) -> DocumentSymbol {
        let selection_range = self.text.range(name.span, encoding);
        let mut range = self.text.range(whole, encoding);
        // Editors refuse a name outside of its item.
        range.start = range.start.min(selection_range.start);
        range.end = range.end.max(selection_range.end);
        let count = counts.get(&name.span).and_then(|counts| counts.first());
        #[allow(deprecated)] // The field has no default.
        DocumentSymbol {
            name: name.name.to_string(),
            detail: count.map(|count| gates(&count.gates)),
            kind,
            tags: None,
            deprecated: None,
            range,
            selection_range,
            children: (!children.is_empty()).then_some(children),
        }
    }

    /// Returns the gates of one call above each function.
    pub fn lenses(&self, encoding: Encoding) -> Vec<CodeLens> {
        let counts = self.counts_now();
        let lens = |span: Span, count: &Count| {
            let range = self.text.range(span, encoding);
            let generic = count.name.contains('<');
            let prefix = if generic { format!("{}: ", count.name) } else { String::new() };
            let title = format!("{prefix}{}", gates(&count.gates));
            let command = Command { title, command: String::new(), arguments: None };
            CodeLens { range, command: Some(command), data: None }
        };
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(span, _)| *span);
        let mut lenses = Vec::new();
        for (span, counts) in counts {
            lenses.extend(counts.into_iter().map(|count| lens(span, count)));
        }
        lenses
    }

    /// Returns the formatted text as one change, or `None` if it is not made of tokens.
    pub fn format(&self, encoding: Encoding) -> Option<Vec<TextEdit>> {
        let formatted = crate::fmt::format(&self.text.text).ok()?;
        if formatted == self.text.text {
            return Some(Vec::new());
        }
        Some(vec![TextEdit::new(self.text.whole(encoding), formatted)])
    }

    /// Returns names that can be used at a position.
    pub fn completions(&self, position: Position, encoding: Encoding) -> Vec<CompletionItem> {
        let offset = self.text.offset(position, encoding);
        if let Some(items) = words_at(&self.text.text, offset) {
            return items;
        }
        let counts = self.counts_now();
        let mut items = if self.is_after_dot(offset) { methods().collect() } else { Vec::new() };
        let offset = offset as u32;
        let facts = &self.analysis.facts;
        let prelude = |span: &Span| {
            let source = self.analysis.sources.files.get(span.file as usize);
            source.is_some_and(|source| source.name == "std/prelude.sym")
        };
        let known = facts.items.iter().filter(|(span, item)| {
            (span.file == 0 || prelude(span)) && !item.name.starts_with("__")
        });
        items.extend(known.map(|(span, item)| {
            let kind = match item.kind {
                ItemKind::Function => CompletionItemKind::FUNCTION,
                ItemKind::Struct => CompletionItemKind::STRUCT,
                ItemKind::Enum => CompletionItemKind::ENUM,
                ItemKind::Variant => CompletionItemKind::ENUM_MEMBER,
                ItemKind::Constant => CompletionItemKind::CONSTANT,
                ItemKind::Alias => CompletionItemKind::INTERFACE,
            };
            let mut detail = item.signature.clone();
            for count in counts.get(span).into_iter().flatten().take(1) {
                detail.push_str(&format!(": {}", gates(&count.gates)));
            }
            completion(&item.name, kind, Some(detail))
        }));
        let around = self.function_around(offset);
        let bound: BTreeSet<(&String, Option<&String>)> = facts
            .variables
            .iter()
            .filter(|(span, _)| around.is_some_and(|(from, to)| (from..to).contains(&span.start)))
            .map(|(span, name)| (name, facts.types.get(span).and_then(|types| types.first())))
            .collect();
        let variable = |(name, ty): (&String, Option<&String>)| {
            completion(name, CompletionItemKind::VARIABLE, ty.cloned())
        };
        items.extend(bound.into_iter().map(variable));
        let keyword = |word: &&str| completion(word, CompletionItemKind::KEYWORD, None);
        items.extend(KEYWORDS.iter().map(keyword));
        items.sort_by(|a, b| a.label.cmp(&b.label));
        items.dedup_by(|a, b| a.label == b.label && a.kind == b.kind);
        items
    }

    /// Returns whether a `.` is before the name at a byte.
    fn is_after_dot(&self, offset: usize) -> bool {
        let before = self.text.text.get(..offset).unwrap_or_default();
        let before = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        before.ends_with('.') && !before.ends_with("..")
    }

    /// Returns the range from the name of the function before a byte to the name of the next one.
    fn function_around(&self, offset: u32) -> Option<(u32, u32)> {
        let items = &self.analysis.facts.items;
        let functions =
            items.iter().filter(|(span, item)| span.file == 0 && item.kind == ItemKind::Function);
        let mut starts: Vec<u32> = functions.map(|(span, _)| span.start).collect();
        starts.sort_unstable();
        let next = starts.partition_point(|&start| start <= offset);
        let from = *starts.get(next.checked_sub(1)?)?;
        Some((from, starts.get(next).copied().unwrap_or(u32::MAX)))
    }

    /// Returns the fixes of the errors in a range that have one.
    pub fn fixes(&self, uri: &Uri, range: Range, encoding: Encoding) -> Vec<CodeActionOrCommand> {
        let mut fixes = Vec::new();
        for d in &self.analysis.diagnostics {
            let at = self.text.range(d.span, encoding);
            if d.span.file != 0 || at.end < range.start || range.end < at.start {
                continue;
            }
            let found = match d.code.lint() {
                Some(lint) => fixes::of_lint(&self.text.text, d, lint),
                None => fixes::of_error(&self.text.text, d).into_iter().collect(),
            };
            for (place, fixes::Fix { title, span, new }) in found.into_iter().enumerate() {
                let edit = TextEdit::new(self.text.range(span, encoding), new);
                #[allow(clippy::mutable_key_type)] // The protocol's type; its text never changes.
                let changes = [(uri.clone(), vec![edit])].into();
                fixes.push(CodeActionOrCommand::CodeAction(CodeAction {
                    title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    edit: Some(WorkspaceEdit {
                        changes: Some(changes),
                        ..WorkspaceEdit::default()
                    }),
                    is_preferred: Some(place == 0),
                    ..CodeAction::default()
                }));
            }
        }
        fixes
    }
}

/// Returns what can be written after `#[`, `#![`, `allow(` and a module of the library; `None`
/// elsewhere.
fn words_at(text: &str, offset: usize) -> Option<Vec<CompletionItem>> {
    let before = text.get(..offset)?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = before.trim_end_matches(is_word);
    let keyword = |word: &str| completion(word, CompletionItemKind::KEYWORD, None);
    if before.ends_with("#[") {
        return Some(builtin::FUNCTION_ATTRIBUTES.iter().map(|word| keyword(word)).collect());
    }
    if before.ends_with("#![") {
        return Some(builtin::FILE_ATTRIBUTES.iter().map(|word| keyword(word)).collect());
    }
    let listed = before.trim_end_matches(|c: char| is_word(c) || matches!(c, ',' | ' '));
    if listed.ends_with("[allow(") {
        return Some(LINTS.iter().filter_map(|lint| lint.lint()).map(keyword).collect());
    }
    let path = before.strip_suffix("::")?;
    let start = path.trim_end_matches(|c: char| is_word(c) || c == ':').len();
    let path = path[start..].strip_prefix("std")?;
    if !path.is_empty() && !path.starts_with("::") {
        return None;
    }
    let path = path.trim_start_matches("::").replace("::", "/");
    let inside = |name: &'static str| {
        let rest = name.strip_prefix(&*path)?;
        let rest = if path.is_empty() { rest } else { rest.strip_prefix('/')? };
        rest.split('/').next()
    };
    let modules = crate::library::modules().filter_map(inside);
    let module = |name: &str| completion(name, CompletionItemKind::MODULE, None);
    let mut items: Vec<CompletionItem> = modules.map(module).collect();
    let text = crate::library::source(&path).unwrap_or_default();
    let written = crate::parse::parse(0, text, &mut Diagnostics::default()).items;
    items.extend(written.iter().filter(|item| item.public).filter_map(|item| match &item.kind {
        Written::Fn(decl) => Some(library_function(text, decl, CompletionItemKind::FUNCTION)),
        _ => None,
    }));
    items.sort_by(|a, b| a.label.cmp(&b.label));
    items.dedup_by(|a, b| a.label == b.label);
    Some(items)
}

/// Returns a function of the library with its signature.
fn library_function(text: &str, decl: &FnDecl, kind: CompletionItemKind) -> CompletionItem {
    let from = decl.name.span.start as usize;
    let signature = text.get(from..decl.body.span.start as usize).unwrap_or_default();
    completion(&decl.name.name, kind, Some(format!("fn {}", signature.trim_end())))
}

/// Returns the methods of the built-in types.
fn methods() -> impl Iterator<Item = CompletionItem> {
    let text = crate::library::source("methods").unwrap_or_default();
    let items = crate::parse::parse(0, text, &mut Diagnostics::default()).items;
    let decls = items.into_iter().flat_map(|item| match item.kind {
        Written::Impl(_, _, functions) => functions,
        _ => Vec::new(),
    });
    let method =
        |decl: std::sync::Arc<FnDecl>| library_function(text, &decl, CompletionItemKind::METHOD);
    let len = completion("len", CompletionItemKind::METHOD, Some("fn len(self) -> usize".into()));
    decls.map(method).chain([len])
}

fn completion(label: &str, kind: CompletionItemKind, detail: Option<String>) -> CompletionItem {
    CompletionItem { label: label.into(), kind: Some(kind), detail, ..CompletionItem::default() }
}

fn code(text: &str) -> String {
    format!("```sym\n{text}\n```")
}

/// Formats `1 234 AND gates, 16 look-ups`.
fn gates(gates: &Totals) -> String {
    let count =
        |n: u64, what: &str| format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" });
    let mut shown = count(gates.ands, "AND gate");
    if gates.lookups > 0 {
        shown.push_str(&format!(", {}", count(gates.lookups, "look-up")));
    }
    shown
}

/// Returns a number with a space between groups of three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}
