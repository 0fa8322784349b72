//! What an editor shows about a program: definitions, types, signatures.

use std::collections::HashMap;

use crate::ast::Variant;
use crate::check::Cx;
use crate::def::Def;
use crate::program::{AdtDecl, Alias, Program};
use crate::references::Target;
use crate::source::{Sources, Span};

/// What is known about the names and the expressions of a main file.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// For each name, the place of its definition.
    pub definitions: HashMap<Span, Span>,
    /// For each expression and variable, its types as a user writes them: several in generic
    /// functions.
    pub types: HashMap<Span, Vec<String>>,
    /// The names of variables by the place where each is bound.
    pub variables: HashMap<Span, String>,
    /// The items of all files by the place of their names.
    pub items: HashMap<Span, ItemFact>,
}

/// An item, as an editor shows it.
#[derive(Clone, Debug)]
pub struct ItemFact {
    /// What it is.
    pub kind: ItemKind,
    /// Its name.
    pub name: String,
    /// Its declaration without a function's body.
    pub signature: String,
    /// The documentation before it.
    pub docs: String,
}

/// The kinds of items that an editor distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A function.
    Function,
    /// A structure.
    Struct,
    /// An enumeration.
    Enum,
    /// A variant of one.
    Variant,
    /// A constant.
    Constant,
    /// Another name of a type.
    Alias,
}

impl Facts {
    /// Puts together what a check has noted.
    pub(crate) fn of(cx: &mut Cx<'_>) -> Facts {
        let mut facts = Facts::default();
        let Some(noted) = cx.program.references.take() else { return facts };
        for (span, target) in noted.names {
            let place = match target {
                Target::Item(def) => cx.program.defined_at(def),
                Target::Place(place) => Some(place),
            };
            if let Some(place) = place {
                facts.definitions.insert(span, place);
            }
        }
        for (span, types) in noted.types {
            let shown = types.iter().filter_map(|&ty| {
                let ty = cx.tir.shapes.written(ty)?;
                Some(cx.show(ty, &|_| "_"))
            });
            facts.types.insert(span, shown.collect());
        }
        facts.variables =
            noted.variables.into_iter().map(|(span, name)| (span, name.to_string())).collect();
        facts.add_items(&cx.program);
        facts
    }

    fn add_items(&mut self, program: &Program<'_>) {
        let sources = &program.sources;
        for def in program.fns.rows() {
            let name = &def.decl.name;
            let end = Span { start: def.decl.body.span.start, ..name.span };
            let header = text(sources, Span { end: end.start, ..name.span });
            self.add(sources, ItemKind::Function, name.span, format!("fn {}", header.trim_end()));
        }
        for (place, adt) in program.adts.iter() {
            let name = adt.name();
            let (kind, shown) = match &adt.decl {
                AdtDecl::Struct(decl) => {
                    let fields = decl.fields.iter().map(|(field, ty)| {
                        format!("    {}: {},\n", field.name, text(sources, ty.span))
                    });
                    let fields: String = fields.collect();
                    (ItemKind::Struct, format!("struct {} {{\n{fields}}}", name.name))
                }
                AdtDecl::Enum(decl) => {
                    let mut shown = String::new();
                    for (variant, written) in decl.variants.iter().enumerate() {
                        let types: Vec<&str> =
                            written.payload.iter().map(|ty| text(sources, ty.span)).collect();
                        let one = variant_text(written, &types);
                        shown.push_str(&format!("    {one},\n"));
                        if let Some(span) = program.defined_at(Def::Variant(place, variant)) {
                            let signature = format!("{}::{one}", name.name);
                            self.add(sources, ItemKind::Variant, span, signature);
                        }
                    }
                    (ItemKind::Enum, format!("enum {} {{\n{shown}}}", name.name))
                }
            };
            self.add(sources, kind, name.span, shown);
        }
        for def in program.consts.rows() {
            let decl = &def.decl;
            let mut shown = format!("const {}", decl.name.name);
            if let Some(ty) = &decl.ty {
                shown.push_str(&format!(": {}", text(sources, ty.span)));
            }
            if let Some(value) = &decl.value {
                shown.push_str(&format!(" = {}", text(sources, value.span)));
            }
            self.add(sources, ItemKind::Constant, decl.name.span, shown);
        }
        for Alias { name, ty, .. } in program.aliases.rows() {
            let shown = format!("type {} = {}", name.name, text(sources, ty.span));
            self.add(sources, ItemKind::Alias, name.span, shown);
        }
    }

    fn add(&mut self, sources: &Sources, kind: ItemKind, span: Span, signature: String) {
        let name = text(sources, span).to_string();
        let docs = docs(sources, span);
        self.items.insert(span, ItemFact { kind, name, signature, docs });
    }
}

/// Returns a variant as it is declared.
fn variant_text(variant: &Variant, types: &[&str]) -> String {
    let name = &variant.name.name;
    if types.is_empty() {
        return name.to_string();
    }
    if variant.fields.is_empty() {
        return format!("{name}({})", types.join(", "));
    }
    let fields = variant.fields.iter().zip(types);
    let fields: Vec<String> = fields.map(|(field, ty)| format!("{}: {ty}", field.name)).collect();
    format!("{name} {{ {} }}", fields.join(", "))
}

/// Returns the text of a place.
fn text(sources: &Sources, span: Span) -> &str {
    let source = sources.files.get(span.file as usize);
    source.and_then(|s| s.text.get(span.start as usize..span.end as usize)).unwrap_or("")
}

/// Returns the lines of `///` before the line of a place; attributes may be in between.
fn docs(sources: &Sources, span: Span) -> String {
    let Some(source) = sources.files.get(span.file as usize) else { return String::new() };
    let mut lines: Vec<&str> = Vec::new();
    let before = (0..source.line_at(span.start).0).rev();
    for line in before.map_while(|line| source.line(line)) {
        match line.trim() {
            line if line.starts_with("#[") => {}
            line => match line.strip_prefix("///") {
                Some(text) => lines.push(text.trim()),
                None => break,
            },
        }
    }
    lines.reverse();
    lines.join("\n")
}
