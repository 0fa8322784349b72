//! Modules and what they define. A module is read when it is first named.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ast::*;
use crate::builtin;
use crate::def::Def;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ids::{AdtId, AliasId, ConstId, FnId, ModuleId, Table};
use crate::references::{References, Target};
use crate::source::{Loader, Source, Sources, Span};

/// A file.
pub struct Module {
    /// Its path; empty for the main file.
    pub path: Vec<Name>,
    /// Its file in [`Sources`].
    pub file: u32,
    /// `#![name]` at its top.
    pub attributes: Vec<Attribute>,
    scope: HashMap<Name, (Def, bool)>,
    uses: HashMap<Name, (Vec<Ident>, bool)>,
}

/// A structure or an enumeration.
pub enum AdtDecl {
    /// A structure.
    Struct(Arc<StructDecl>),
    /// An enumeration.
    Enum(Arc<EnumDecl>),
}

/// A structure or an enumeration, with its module.
pub struct Adt {
    /// The module.
    pub module: ModuleId,
    /// The declaration.
    pub decl: AdtDecl,
}

impl Adt {
    /// Its name.
    pub fn name(&self) -> &Ident {
        match &self.decl {
            AdtDecl::Struct(decl) => &decl.name,
            AdtDecl::Enum(decl) => &decl.name,
        }
    }

    /// Its parameters.
    pub fn generics(&self) -> &[Generic] {
        match &self.decl {
            AdtDecl::Struct(decl) => &decl.generics,
            AdtDecl::Enum(decl) => &decl.generics,
        }
    }
}

/// A function, with its module.
#[derive(Clone)]
pub struct FnDef {
    /// The module.
    pub module: ModuleId,
    /// The declaration.
    pub decl: Arc<FnDecl>,
    /// The parameters and the type of the `impl` around it.
    pub owner: Option<Arc<(Vec<Generic>, Type)>>,
    /// Its parameters, those of the `impl` first.
    pub generics: Arc<Vec<Generic>>,
}

/// A constant, with its module.
#[derive(Clone)]
pub struct ConstDef {
    /// The module.
    pub module: ModuleId,
    /// The declaration.
    pub decl: Arc<ConstDecl>,
    /// Whether it can be set from outside.
    pub public: bool,
}

/// Another name of a type, with its module.
#[derive(Clone)]
pub struct Alias {
    /// The module.
    pub module: ModuleId,
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: Arc<Type>,
}

/// What methods belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// A structure or an enumeration: its place in the program.
    Adt(AdtId),
    /// `bool`.
    Bool,
    /// `u<W>`.
    Unsigned,
    /// `i<W>`.
    Signed,
    /// `fixed<I, F>`.
    Fixed,
    /// `f32` and `f64`.
    Float,
    /// All arrays.
    Array,
    /// All integers.
    Int,
    /// All numbers.
    Num,
    /// All types.
    Any,
}

/// Methods that wait for their type to be found.
struct Impl {
    module: ModuleId,
    generics: Vec<Generic>,
    ty: Type,
    functions: Vec<Arc<FnDecl>>,
}

/// All modules and definitions.
pub struct Program<'a> {
    /// The texts.
    pub sources: Sources,
    /// The modules; the first one is the main file's.
    pub modules: Table<ModuleId, Module>,
    /// The types.
    pub adts: Table<AdtId, Adt>,
    /// The functions.
    pub fns: Table<FnId, FnDef>,
    /// The constants.
    pub consts: Table<ConstId, ConstDef>,
    /// Other names of types.
    pub aliases: Table<AliasId, Alias>,
    /// The places of a structure's fields and an enumeration's variants, by their names.
    parts: HashMap<(AdtId, Name), usize>,
    /// Methods by type and name.
    pub methods: HashMap<(Head, Name), FnId>,
    /// The parties' names.
    pub parties: Vec<Ident>,
    /// What names of the main file mean, if this is noted.
    pub references: Option<References>,
    loader: &'a dyn Loader,
    known: HashMap<Vec<Name>, Option<ModuleId>>,
    impls: Vec<Impl>,
}

/// The type of texts, which the prelude defines.
pub const TEXT: &str = "text";

/// A program reads at most this many modules.
const MAX_MODULES: usize = 1024;

impl<'a> Program<'a> {
    /// Reads the main file.
    pub fn new(name: &str, text: &str, loader: &'a dyn Loader, errors: &mut Diagnostics) -> Self {
        let mut program = Program {
            sources: Sources::default(),
            modules: Table::default(),
            adts: Table::default(),
            fns: Table::default(),
            consts: Table::default(),
            aliases: Table::default(),
            references: None,
            parts: HashMap::new(),
            methods: HashMap::new(),
            parties: Vec::new(),
            loader,
            known: HashMap::new(),
            impls: Vec::new(),
        };
        program.add(Vec::new(), name, text, errors);
        let prelude: Vec<Name> = vec!["std".into(), "prelude".into()];
        program.module(&prelude, Span::default(), errors);
        program
    }

    fn add(
        &mut self,
        path: Vec<Name>,
        name: &str,
        text: &str,
        errors: &mut Diagnostics,
    ) -> ModuleId {
        let file = self.sources.files.len() as u32;
        self.sources.files.push(Source::new(name, text));
        self.known.insert(path.clone(), Some(self.modules.next()));
        let File { attributes, items } = crate::parse::parse(file, text, errors);
        let (scope, uses) = (HashMap::new(), HashMap::new());
        let module = self.modules.push(Module { path, file, attributes, scope, uses });
        for item in items {
            self.item(module, item, errors);
        }
        self.bind_impls(errors);
        module
    }

    fn define(
        &mut self,
        module: ModuleId,
        name: &Ident,
        def: Def,
        public: bool,
        errors: &mut Diagnostics,
    ) {
        if builtin::takes(&name.name, def) {
            let message = format!("`{}` is a name of the language itself", name.name);
            errors.push(Diagnostic::new(Code::Name, name.span, message));
        }
        let m = &mut self.modules[module];
        let taken = m.uses.contains_key(&name.name)
            || m.scope.insert(name.name.clone(), (def, public)).is_some();
        if taken {
            errors.push(twice(name));
        }
    }

    fn item(&mut self, module: ModuleId, item: Item, errors: &mut Diagnostics) {
        let public = item.public;
        match item.kind {
            ItemKind::Use(path, names) => self.use_item(module, path, names, public, errors),
            ItemKind::Const(decl) => {
                let place = self.consts.push(ConstDef { module, decl: decl.clone(), public });
                let def = Def::Const(place);
                self.define(module, &decl.name, def, public, errors);
            }
            ItemKind::Alias(name, ty) => {
                let alias = self.aliases.push(Alias { module, name: name.clone(), ty });
                self.define(module, &name, Def::Alias(alias), public, errors);
            }
            ItemKind::Struct(decl) => {
                let name = decl.name.clone();
                check_generics(&decl.generics, errors);
                check_distinct(decl.fields.iter().map(|(name, _)| name), errors);
                self.add_parts(self.adts.next(), decl.fields.iter().map(|(name, _)| name));
                let adt = self.adts.push(Adt { module, decl: AdtDecl::Struct(decl) });
                self.define(module, &name, Def::Adt(adt), public, errors);
            }
            ItemKind::Enum(decl) => {
                let name = decl.name.clone();
                if decl.variants.is_empty() {
                    let message = format!("`{}` needs at least one variant", name.name);
                    errors.push(Diagnostic::new(Code::Type, name.span, message));
                    return;
                }
                check_generics(&decl.generics, errors);
                check_distinct(decl.variants.iter().map(|variant| &variant.name), errors);
                for variant in &decl.variants {
                    check_distinct(variant.fields.iter(), errors);
                }
                self.add_parts(self.adts.next(), decl.variants.iter().map(|variant| &variant.name));
                let adt = self.adts.push(Adt { module, decl: AdtDecl::Enum(decl) });
                self.define(module, &name, Def::Adt(adt), public, errors);
            }
            ItemKind::Impl(generics, ty, functions) => {
                self.impls.push(Impl { module, generics, ty, functions });
            }
            ItemKind::Fn(decl) => {
                let name = decl.name.clone();
                let generics = Arc::new(decl.generics.clone());
                check_signature(&decl, &generics, errors);
                let function = self.fns.push(FnDef { module, decl, owner: None, generics });
                self.define(module, &name, Def::Fn(function), public, errors);
            }
            ItemKind::Parties(names) => {
                if module != ModuleId::MAIN || !self.parties.is_empty() {
                    let message = "`parties` may occur only once, in the main file";
                    errors.push(Diagnostic::new(Code::Name, item.span, message));
                }
                check_distinct(names.iter(), errors);
                if module == ModuleId::MAIN {
                    self.parties = names;
                }
            }
        }
    }

    fn use_item(
        &mut self,
        module: ModuleId,
        path: Path,
        names: Option<Vec<Ident>>,
        public: bool,
        errors: &mut Diagnostics,
    ) {
        let mut bind = |name: &Ident, path: Vec<Ident>| {
            let m = &mut self.modules[module];
            let taken = m.scope.contains_key(&name.name)
                || m.uses.insert(name.name.clone(), (path, public)).is_some();
            if taken {
                errors.push(twice(name));
            }
        };
        match names {
            None => {
                if let Some(last) = path.parts.last().cloned() {
                    bind(&last, path.parts);
                }
            }
            Some(names) => {
                for name in names {
                    let mut parts = path.parts.clone();
                    parts.push(name.clone());
                    bind(&name, parts);
                }
            }
        }
    }

    fn bind_impls(&mut self, errors: &mut Diagnostics) {
        for found in std::mem::take(&mut self.impls) {
            let Impl { module, generics, ty, functions } = found;
            let built_in = if self.is_std(module) { built_in(&ty, &generics) } else { None };
            let head = built_in.or_else(|| match &ty.kind {
                TypeKind::Path(path, _) => match self.resolve(module, &path.parts, errors)? {
                    Def::Adt(adt) => Some(Head::Adt(adt)),
                    _ => None,
                },
                _ => None,
            });
            let Some(head) = head else {
                let message = "methods belong to a structure or an enumeration";
                errors.push(Diagnostic::new(Code::Type, ty.span, message));
                continue;
            };
            let owner = Arc::new((generics.clone(), ty.clone()));
            for decl in functions {
                let mut all = generics.clone();
                all.extend(decl.generics.iter().cloned());
                let name = decl.name.clone();
                check_signature(&decl, &all, errors);
                let owner = Some(owner.clone());
                let generics = Arc::new(all);
                let place = self.fns.push(FnDef { module, decl, owner, generics });
                if self.methods.insert((head, name.name.clone()), place).is_some() {
                    errors.push(twice(&name));
                }
            }
        }
    }

    /// Returns the module of this path, read if need be.
    fn module(&mut self, path: &[Name], span: Span, errors: &mut Diagnostics) -> Option<ModuleId> {
        if let Some(&known) = self.known.get(path) {
            return known;
        }
        self.known.insert(path.to_vec(), None);
        if self.modules.len() >= MAX_MODULES {
            errors.push(Diagnostic::new(Code::Limit, span, "more than 1024 modules are used"));
            return None;
        }
        let std = path.first().is_some_and(|first| &**first == "std");
        let found = if std {
            let name = path[1..].join("/");
            Ok(crate::library::source(&name).map(|text| (format!("std/{name}.sym"), text.into())))
        } else {
            self.loader.load(path)
        };
        match found {
            Ok(Some((name, text))) => Some(self.add(path.to_vec(), &name, &text, errors)),
            Ok(None) => None,
            Err(reason) => {
                errors.push(Diagnostic::new(Code::Name, span, reason));
                None
            }
        }
    }

    /// Reads the methods of built-in types, once.
    pub fn load_methods(&mut self, errors: &mut Diagnostics) {
        let path: Vec<Name> = vec!["std".into(), "methods".into()];
        self.module(&path, Span::default(), errors);
    }

    /// Returns what a path means in a module, if anything.
    pub fn resolve(
        &mut self,
        module: ModuleId,
        parts: &[Ident],
        errors: &mut Diagnostics,
    ) -> Option<Def> {
        let found = self.resolve_at(module, parts, 0, errors);
        if let Some(def) = found {
            self.note(module, parts, def, errors);
        }
        found
    }

    /// Notes what a path of the main file means, and what the part before its last one does.
    fn note(&mut self, module: ModuleId, parts: &[Ident], def: Def, errors: &mut Diagnostics) {
        if module != ModuleId::MAIN || self.references.is_none() {
            return;
        }
        let Some((last, before)) = parts.split_last() else { return };
        let owner = self.resolve_at(module, before, 0, errors).zip(before.last());
        let Some(references) = &mut self.references else { return };
        references.name(last.span, Target::Item(def));
        if let Some((owner, name)) = owner {
            references.name(name.span, Target::Item(owner));
        }
    }

    fn resolve_at(
        &mut self,
        module: ModuleId,
        parts: &[Ident],
        depth: u32,
        errors: &mut Diagnostics,
    ) -> Option<Def> {
        // Cyclic imports of names end here.
        if depth > 32 {
            return None;
        }
        let (first, rest) = parts.split_first()?;
        let mut found = self.member(module, &first.name, module, depth, errors);
        // A module `text` is seen beside the type.
        if found.is_none() && (rest.is_empty() || &*first.name != TEXT) {
            found = self.member(ModuleId::PRELUDE, &first.name, module, depth, errors);
        }
        if let Some(found) = found {
            return self.descend(found, rest, module, depth, errors);
        }
        // The longest prefix that is a module.
        for length in (1..=parts.len()).rev() {
            let path: Vec<Name> = parts[..length].iter().map(|part| part.name.clone()).collect();
            if let Some(found) = self.module(&path, first.span, errors) {
                return self.descend(Def::Module(found), &parts[length..], module, depth, errors);
            }
        }
        None
    }

    /// Returns what `name` means in `module`, seen from the module `from`.
    fn member(
        &mut self,
        module: ModuleId,
        name: &Name,
        from: ModuleId,
        depth: u32,
        errors: &mut Diagnostics,
    ) -> Option<Def> {
        let m = self.modules.get(module)?;
        if let Some(&(def, public)) = m.scope.get(name) {
            return (public || module == from).then_some(def);
        }
        let (path, public) = m.uses.get(name)?.clone();
        if !public && module != from {
            return None;
        }
        // `use a::b;` does not look for `b` through itself.
        let only_itself = path.len() == 1;
        if only_itself {
            let path: Vec<Name> = path.iter().map(|part| part.name.clone()).collect();
            return self.module(&path, Span::default(), errors).map(Def::Module);
        }
        self.resolve_at(module, &path, depth + 1, errors)
    }

    fn descend(
        &mut self,
        def: Def,
        rest: &[Ident],
        from: ModuleId,
        depth: u32,
        errors: &mut Diagnostics,
    ) -> Option<Def> {
        let Some((next, rest)) = rest.split_first() else { return Some(def) };
        let found = match def {
            Def::Module(module) => {
                let found = self.member(module, &next.name, from, depth, errors);
                match found {
                    Some(found) => found,
                    None => {
                        let mut path = self.modules[module].path.clone();
                        path.push(next.name.clone());
                        Def::Module(self.module(&path, next.span, errors)?)
                    }
                }
            }
            Def::Adt(adt) => match self.variant(adt, &next.name) {
                Some(variant) => Def::Variant(adt, variant),
                None => Def::Fn(*self.methods.get(&(Head::Adt(adt), next.name.clone()))?),
            },
            _ => return None,
        };
        self.descend(found, rest, from, depth, errors)
    }

    /// Returns the number of an enumeration's variant.
    pub fn variant(&self, adt: AdtId, name: &Name) -> Option<usize> {
        match &self.adts[adt].decl {
            AdtDecl::Enum(_) => self.part(adt, name),
            AdtDecl::Struct(_) => None,
        }
    }

    /// Returns the number of a structure's field or an enumeration's variant.
    pub fn part(&self, adt: AdtId, name: &Name) -> Option<usize> {
        self.parts.get(&(adt, name.clone())).copied()
    }

    fn add_parts<'n>(&mut self, adt: AdtId, names: impl Iterator<Item = &'n Ident>) {
        for (place, name) in names.enumerate() {
            // Of two with the same name, which are reported, the first counts.
            self.parts.entry((adt, name.name.clone())).or_insert(place);
        }
    }

    /// Returns `Some` or `None` of `Option`, which need no `Option::` before them.
    pub fn bare_variant(&self, name: &str) -> Option<Def> {
        let option: Name = "Option".into();
        let Some(&(Def::Adt(adt), _)) = self.modules.get(ModuleId::PRELUDE)?.scope.get(&option)
        else {
            return None;
        };
        let variant = match name {
            "None" => 0,
            "Some" => 1,
            _ => return None,
        };
        Some(Def::Variant(adt, variant))
    }

    /// Returns the type `text`.
    pub fn text(&self) -> Option<AdtId> {
        match self.modules.get(ModuleId::PRELUDE)?.scope.get(TEXT)? {
            (Def::Adt(adt), _) => Some(*adt),
            _ => None,
        }
    }

    /// Returns the names in a module, for suggestions.
    pub fn names(&self, module: ModuleId) -> impl Iterator<Item = &Name> {
        let prelude = self.modules.get(ModuleId::PRELUDE).into_iter().flat_map(|m| m.scope.keys());
        self.modules[module].scope.keys().chain(self.modules[module].uses.keys()).chain(prelude)
    }

    /// Returns the public names of a module and what it uses, for suggestions.
    pub fn public_names(&self, module: ModuleId) -> impl Iterator<Item = &Name> {
        let scope = &self.modules[module].scope;
        scope.iter().filter(|(_, (_, public))| *public).map(|(name, _)| name)
    }

    /// Returns the fields or variants of a type and its methods, for suggestions.
    pub fn members(&self, adt: AdtId) -> impl Iterator<Item = &Name> {
        let (fields, variants) = match &self.adts[adt].decl {
            AdtDecl::Struct(decl) => (&decl.fields[..], &[][..]),
            AdtDecl::Enum(decl) => (&[][..], &decl.variants[..]),
        };
        let own = Head::Adt(adt);
        let methods = self.methods.keys().filter(move |(of, _)| *of == own);
        let parts = fields.iter().map(|(name, _)| &name.name);
        let parts = parts.chain(variants.iter().map(|variant| &variant.name.name));
        parts.chain(methods.map(|(_, name)| name))
    }

    /// Returns the functions that a module defines.
    pub fn functions(&self, module: ModuleId) -> Vec<FnId> {
        self.fns
            .iter()
            .filter(|(_, def)| def.module == module)
            .map(|(function, _)| function)
            .collect()
    }

    /// Returns whether a module is part of the library.
    pub fn is_std(&self, module: ModuleId) -> bool {
        self.modules[module].path.first().is_some_and(|first| &**first == "std")
    }

    /// Returns whether what does not fit fails in a module: `#![checked]` at the top of the main
    /// file is for the whole program, at the top of another for that one.
    pub fn is_checked(&self, module: ModuleId) -> bool {
        self.is_marked(module, |attribute| &*attribute.name.name == "checked")
    }

    /// Returns whether a lint is allowed in a module, likewise.
    pub fn allows(&self, module: ModuleId, lint: &str) -> bool {
        self.is_marked(module, |attribute| attribute.allows(lint))
    }

    fn is_marked(&self, module: ModuleId, is_it: impl Fn(&Attribute) -> bool) -> bool {
        let marked = |module: ModuleId| self.modules[module].attributes.iter().any(&is_it);
        !self.is_std(module) && (marked(module) || marked(ModuleId::MAIN))
    }

    /// Returns where the name of an item is defined; a module begins at its file's first byte.
    pub fn defined_at(&self, def: Def) -> Option<Span> {
        match def {
            Def::Module(module) => {
                let file = self.modules.get(module)?.file;
                Some(Span { file, start: 0, end: 0 })
            }
            Def::Adt(adt) => Some(self.adts.get(adt)?.name().span),
            Def::Variant(adt, variant) => match &self.adts.get(adt)?.decl {
                AdtDecl::Enum(decl) => Some(decl.variants.get(variant)?.name.span),
                AdtDecl::Struct(_) => None,
            },
            Def::Fn(function) => Some(self.fns.get(function)?.decl.name.span),
            Def::Const(place) => Some(self.consts.get(place)?.decl.name.span),
            Def::Alias(alias) => Some(self.aliases.get(alias)?.name.span),
        }
    }
}

/// Returns the built-in type of an `impl` of the library.
fn built_in(ty: &Type, generics: &[Generic]) -> Option<Head> {
    let path = match &ty.kind {
        TypeKind::Array(..) => return Some(Head::Array),
        TypeKind::Path(path, _) => path,
        TypeKind::Tuple(_) => return None,
    };
    let [only] = &path.parts[..] else { return None };
    if let Some(generic) = generics.iter().find(|generic| generic.name.name == only.name) {
        let GenericKind::Type(bound) = &generic.kind else { return None };
        return Some(match bound.as_ref().map(|bound| &*bound.name) {
            Some("Int") => Head::Int,
            Some("Float") => Head::Float,
            Some(_) => Head::Num,
            None => Head::Any,
        });
    }
    Some(match builtin::ty(&only.name)? {
        builtin::Type::Bool => Head::Bool,
        builtin::Type::Int(signed) | builtin::Type::Exact(signed, _) => {
            if signed {
                Head::Signed
            } else {
                Head::Unsigned
            }
        }
        builtin::Type::Size => Head::Unsigned,
        builtin::Type::Float(_) => Head::Float,
        builtin::Type::Fixed => Head::Fixed,
    })
}

fn twice(name: &Ident) -> Diagnostic {
    let message = format!("`{}` is defined twice", name.name);
    Diagnostic::new(Code::Name, name.span, message).help("give one of them another name")
}

/// Reports every name that occurs a second time.
fn check_distinct<'n>(names: impl Iterator<Item = &'n Ident>, errors: &mut Diagnostics) {
    let mut known = HashSet::new();
    for name in names {
        if !known.insert(&name.name) && &*name.name != "_" {
            errors.push(twice(name));
        }
    }
}

/// Checks parameters in `<…>`: their names differ, and no type has the name of a built-in one.
fn check_generics(generics: &[Generic], errors: &mut Diagnostics) {
    check_distinct(generics.iter().map(|generic| &generic.name), errors);
    for Generic { name, kind } in generics {
        if matches!(kind, GenericKind::Type(_)) && builtin::ty(&name.name).is_some() {
            let message = format!("`{}` is a name of the language itself", name.name);
            errors.push(Diagnostic::new(Code::Name, name.span, message));
        }
    }
}

/// Checks a function's parameters, also those in `<…>`, and its outputs.
fn check_signature(decl: &FnDecl, generics: &[Generic], errors: &mut Diagnostics) {
    check_generics(generics, errors);
    check_distinct(decl.params.iter().map(|param| &param.name), errors);
    if let ResultDecl::Ports(ports) = &decl.result {
        check_distinct(ports.iter().map(|(name, ..)| name), errors);
    }
}
