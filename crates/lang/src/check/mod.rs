//! Finds all types and makes the instances of functions that a program calls.
//!
//! A generic function is checked once for each of its instances, with all lengths known. A loop
//! whose variable is in a type, a length or the bounds of a slice is checked round by round.

mod call;
mod checked;
mod consts;
mod cover;
mod expr;
mod generics;
mod infer;
mod instances;
mod leave;
mod methods;
mod pattern;
mod scope;
mod show;
mod stmt;
mod structure;
mod suggest;
mod text;
mod types;
mod uncalled;
mod unknown;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{self, Name};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ids::{AdtId, AliasId, ConstId, FnId, Id, InstanceId, ModuleId};
use crate::program::{AdtDecl, Program};
use crate::references::Target;
use crate::source::Span;
use crate::tir::{Expr, Instance, Local, Tir, TyRef};
use crate::ty::{Arg, Len, Shape, Ty, TyId};
use crate::value::Value;

use instances::Instances;
use scope::Scope;
use unknown::{Check, Env, Param, Pending, VarKind};

/// Loops that are checked round by round have at most this many rounds in one program.
const MAX_ROUNDS: u64 = 1 << 20;

#[derive(Clone)]
enum ConstState {
    Working,
    Known(Option<(Ty, Rc<Value>)>),
}

enum AliasState {
    Working,
    Known(Ty),
    /// An error has been reported.
    Wrong,
}

/// What a name in a function means.
#[derive(Clone)]
enum Binding {
    Local(Local),
    Const(Ty, Rc<Value>),
}

/// The whole check.
pub struct Cx<'a> {
    /// What is checked.
    pub program: Program<'a>,
    /// What was wrong.
    pub errors: Diagnostics,
    /// The result.
    pub tir: Tir,
    /// How many parties there are.
    pub parties: u64,
    /// Constants that are set from outside.
    pub settings: HashMap<String, String>,
    instances: Instances,
    items: Items,
    /// How many expressions there are.
    exprs: usize,
    /// The places in `tir.asserts` of the asserts at places of the text.
    assert_places: HashMap<Span, u32>,
    spent: Spent,
}

/// What is known of constants and aliases.
#[derive(Default)]
struct Items {
    consts: HashMap<ConstId, ConstState>,
    aliases: HashMap<AliasId, AliasState>,
    /// The aliases for which an error has been reported.
    wrong_aliases: Vec<AliasId>,
    /// Const parameters whose types are being found.
    open_params: Vec<Span>,
}

/// What the check has taken of that for which there is a limit.
#[derive(Default)]
struct Spent {
    /// How many expressions are being checked, one within the other, in all functions.
    deep: u32,
    rounds: u64,
    steps: u64,
    /// Steps taken to compare patterns.
    compared: u64,
    /// Steps taken with types.
    work: Cell<u64>,
    /// Steps taken to find known names that are like unknown ones.
    suggested: Cell<u64>,
    /// How much the samples of functions that nothing calls have taken.
    sampled: u64,
}

impl<'a> Cx<'a> {
    /// Creates the check of a program for this number of parties.
    pub fn new(
        program: Program<'a>,
        errors: Diagnostics,
        parties: u64,
        settings: HashMap<String, String>,
    ) -> Self {
        let mut tir = Tir::default();
        tir.shapes.text = program.text();
        Cx {
            program,
            errors,
            tir,
            parties,
            settings,
            instances: Instances::default(),
            items: Items::default(),
            exprs: 0,
            assert_places: HashMap::new(),
            spent: Spent::default(),
        }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::new(code, span, message));
    }

    /// Returns the shape of a type without unknown parts, or `None` after reporting an error.
    pub fn shape(&mut self, ty: &Ty, span: Span) -> Option<TyId> {
        if types::has_var(ty) {
            return None;
        }
        self.shape_at(ty, span, 0)
    }

    fn shape_at(&mut self, ty: &Ty, span: Span, depth: u32) -> Option<TyId> {
        if types::too_large(ty) {
            self.error(Code::Limit, span, "this type is too large");
            return None;
        }
        if let Some(known) = self.tir.shapes.find(ty) {
            return Some(known);
        }
        if depth > 256 {
            self.error(Code::Type, span, "this type contains itself, or nests more than 256 deep");
            return None;
        }
        let shape = match ty {
            Ty::Bool => Shape::Bool,
            Ty::Int(signed, Len::Known(width)) => Shape::Int(*signed, *width as u32),
            Ty::Fixed(Len::Known(int), Len::Known(frac)) => Shape::Fixed(*int as u32, *frac as u32),
            Ty::Float(precision) => Shape::Float(*precision),
            Ty::Tuple(parts) => Shape::Tuple(self.shapes_of(parts, span, depth)?),
            Ty::Array(element, Len::Known(len)) => {
                Shape::Array(self.shape_at(element, span, depth + 1)?, *len)
            }
            Ty::Adt(adt, args) => {
                let name = self.program.adts[*adt].name().name.clone();
                let variants = self.variants(*adt, args, span);
                let is_struct = matches!(self.program.adts[*adt].decl, AdtDecl::Struct(_));
                let mut shapes = Vec::new();
                for (name, payload) in variants {
                    shapes.push((name, self.shapes_of(&payload, span, depth)?));
                }
                if is_struct {
                    let fields = self.field_names(*adt);
                    let parts = shapes.pop().map(|(_, parts)| parts).unwrap_or_default();
                    Shape::Struct(name, fields.into_iter().zip(parts).collect())
                } else {
                    Shape::Enum(name, shapes)
                }
            }
            _ => return None,
        };
        let id = self.tir.shapes.add(ty.clone(), shape);
        if id.is_none() {
            let message = "this type has more than 2^30 bits or parts, or more than 2^25 where an \
                           array counts as one element";
            self.error(Code::Limit, span, message);
        }
        id
    }

    fn shapes_of(&mut self, parts: &[Ty], span: Span, depth: u32) -> Option<Vec<TyId>> {
        parts.iter().map(|part| self.shape_at(part, span, depth + 1)).collect()
    }

    /// Returns the names of a structure's fields.
    fn field_names(&self, adt: AdtId) -> Vec<Name> {
        match &self.program.adts[adt].decl {
            AdtDecl::Struct(decl) => decl.fields.iter().map(|(n, _)| n.name.clone()).collect(),
            AdtDecl::Enum(_) => Vec::new(),
        }
    }

    /// Returns the variants of an enumeration with their payloads; for a structure, one variant
    /// with its fields. Unknown parts of the arguments are not allowed.
    fn variants(&mut self, adt: AdtId, args: &[Arg], span: Span) -> Vec<(Name, Vec<Ty>)> {
        let mut fn_cx = FnCx::new(self, ModuleId::MAIN);
        let generics = fn_cx.cx.program.adts[adt].generics().to_vec();
        let module = fn_cx.cx.program.adts[adt].module;
        let params = fn_cx.params(module, &generics, args);
        fn_cx.check_const_params(&generics, &params, Some(span));
        let variants = fn_cx.variants_of(adt, args);
        fn_cx.settle();
        let resolve = |ty: &Ty| fn_cx.resolve(ty);
        variants
            .into_iter()
            .map(|(name, payload)| (name, payload.iter().map(resolve).collect()))
            .collect()
    }
}

/// The check of one function.
struct FnCx<'c, 'a> {
    cx: &'c mut Cx<'a>,
    module: ModuleId,
    names: Names,
    infer: Inference,
    later: Later,
    result: Ty,
    place: Span,
    /// Whether cases that nothing reaches are fine.
    allows_unreachable: bool,
    /// Whether what does not fit fails.
    checked: bool,
    /// Places whose types an editor may ask for.
    seen: Vec<(Span, TyRef)>,
}

/// What names and labels mean at a place of a function.
#[derive(Default)]
struct Names {
    generics: Rc<Vec<Param>>,
    scope: Scope,
    /// How many of the first names in scope are const parameters.
    param_bindings: usize,
    locals: Vec<LocalInfo>,
    /// The loops around, the innermost last.
    loops: Vec<Loop>,
    alias_depth: u32,
}

/// The types of a function's expressions, as far as they are known.
#[derive(Default)]
struct Inference {
    types: Vec<Ty>,
    type_spans: Vec<Span>,
    vars: Vec<(Option<Ty>, VarKind)>,
    lens: Vec<Option<Len>>,
    pending: Vec<Pending>,
    /// Types of `return` and the like, which default to the unit.
    diverging: Vec<Ty>,
}

/// What waits until all types of a function are known.
#[derive(Default)]
struct Later {
    calls: Vec<(FnId, Vec<Arg>, Span)>,
    checks: Vec<(Check, Ty, Span)>,
    matches: Vec<Coverage>,
}

/// Patterns that must cover all values of a type.
struct Coverage {
    /// The patterns, each with whether it has a condition.
    patterns: Vec<(crate::tir::Pattern, bool)>,
    ty: TyRef,
    span: Span,
    /// Whether this is the single pattern of a binding.
    is_binding: bool,
}

struct LocalInfo {
    name: Name,
    span: Span,
    ty: TyRef,
    mutable: bool,
    constant: bool,
    /// The number that a `let` binds it to, if it is one that a length can be.
    number: Option<u64>,
}

/// A loop that is being checked.
#[derive(Default)]
struct Loop {
    label: Option<Name>,
    /// Variables that hold once an inner loop has left this loop, or its round.
    broken: Option<Local>,
    continued: Option<Local>,
    /// Those that the inner loop just checked can set, with how it leaves this loop then.
    left: Vec<(Local, bool)>,
}

impl<'c, 'a> FnCx<'c, 'a> {
    fn new(cx: &'c mut Cx<'a>, module: ModuleId) -> Self {
        let checked = cx.program.is_checked(module);
        FnCx {
            cx,
            module,
            names: Names::default(),
            infer: Inference::default(),
            later: Later::default(),
            result: Ty::unit(),
            place: Span::default(),
            allows_unreachable: false,
            checked,
            seen: Vec::new(),
        }
    }

    fn diagnostic(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, span, message)
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.cx.error(code, span, message);
    }

    fn type_ref(&mut self, ty: &Ty) -> TyRef {
        let large = types::too_large(ty);
        // What is copied and kept.
        self.count(1 + ty.parts());
        let refused = large || !self.may_work();
        if refused {
            let place = self.place;
            self.error(Code::Limit, place, "the types here are too large, or there are too many");
        }
        self.infer.types.push(if refused { Ty::Error } else { ty.clone() });
        self.infer.type_spans.push(self.place);
        self.infer.types.len() as u32 - 1
    }

    fn local(&mut self, ident: &ast::Ident, ty: &Ty, mutable: bool, constant: bool) -> Local {
        let ty = self.type_ref(ty);
        let (name, span) = (ident.name.clone(), ident.span);
        self.see(span, ty);
        if let Some(references) = &mut self.cx.program.references
            && span.file == 0
        {
            references.variables.insert(span, name.clone());
        }
        self.names.locals.push(LocalInfo {
            name: name.clone(),
            span,
            ty,
            mutable,
            constant,
            number: None,
        });
        let local = self.names.locals.len() as u32 - 1;
        self.names.scope.push(name, Binding::Local(local));
        local
    }

    /// Keeps a place and its type for an editor.
    fn see(&mut self, span: Span, ty: TyRef) {
        if span.file == 0 && self.cx.program.references.is_some() {
            self.seen.push((span, ty));
        }
    }

    /// Notes what a name means, for an editor.
    fn note(&mut self, span: Span, target: Target) {
        if let Some(references) = &mut self.cx.program.references {
            references.name(span, target);
        }
    }

    /// Returns where the types in a definition are looked up for these arguments.
    fn inside(&mut self, adt: AdtId, args: &[Arg]) -> Env {
        let generics = self.cx.program.adts[adt].generics().to_vec();
        let module = self.cx.program.adts[adt].module;
        let args = Rc::new(self.params(module, &generics, args));
        Env { module, args, own: false }
    }

    /// Returns the payload of one variant.
    fn payload_of(&mut self, adt: AdtId, variant: usize, args: &[Arg]) -> Vec<Ty> {
        let env = self.inside(adt, args);
        let AdtDecl::Enum(decl) = &self.cx.program.adts[adt].decl else { return Vec::new() };
        let decl = decl.clone();
        decl.variants[variant].payload.iter().map(|ty| self.convert(ty, &env)).collect()
    }

    fn variants_of(&mut self, adt: AdtId, args: &[Arg]) -> Vec<(Name, Vec<Ty>)> {
        let env = self.inside(adt, args);
        match &self.cx.program.adts[adt].decl {
            AdtDecl::Struct(decl) => {
                let decl = decl.clone();
                let fields = decl.fields.iter().map(|(_, ty)| self.convert(ty, &env)).collect();
                vec![(decl.name.name.clone(), fields)]
            }
            AdtDecl::Enum(decl) => {
                let decl = decl.clone();
                let payload = |variant: &ast::Variant| {
                    let types = variant.payload.iter().map(|ty| self.convert(ty, &env)).collect();
                    (variant.name.name.clone(), types)
                };
                decl.variants.iter().map(payload).collect()
            }
        }
    }

    fn check_function(cx: &'c mut Cx<'a>, function: FnId, args: &[Arg]) -> Instance {
        let def = cx.program.fns[function].clone();
        let mut this = FnCx::new(cx, def.module);
        this.names.generics = Rc::new(this.params(def.module, &def.generics, args));
        this.place = def.decl.name.span;
        this.allows_unreachable = this.allows(&def.decl, Code::Unreachable);
        this.checked |= def.decl.attribute("checked").is_some();
        let may_narrow = this.checked
            || this.cx.program.is_std(def.module)
            || this.allows(&def.decl, Code::Narrowing);
        this.check_bounds(&def.generics.clone(), args, def.decl.name.span);
        this.check_const_params(&def.generics, &this.names.generics.clone(), None);
        this.bind_const_params();
        let mut params = Vec::new();
        for param in &def.decl.params {
            let ty = match (&param.ty, &def.owner) {
                (Some(ty), _) => this.own_type(ty),
                (None, Some(owner)) => this.own_type(&owner.1),
                (None, None) => {
                    this.error(Code::Name, param.name.span, "`self` is only for an `impl`");
                    Ty::Error
                }
            };
            params.push(this.local(&param.name, &ty, param.mutable, false));
        }
        let env = this.own_env();
        this.result = this.result_type(&def.decl.result, &env);
        let result = this.result.clone();
        let body = this.block(&def.decl.body, Some(&result));
        let body_ty = this.infer.types[body.ty as usize].clone();
        let span = def.decl.body.tail.as_ref().map_or(def.decl.name.span, |tail| tail.span);
        this.demand(&result, &body_ty, span);
        this.finish();
        let result = this.type_ref(&result);
        let mut name = def.decl.name.name.to_string();
        if !args.is_empty() {
            let shown: Vec<String> = args
                .iter()
                .map(|arg| match arg {
                    Arg::Ty(ty) => this.show(ty),
                    Arg::Const(Len::Known(n)) => n.to_string(),
                    Arg::Const(Len::Var(_)) => "_".into(),
                })
                .collect();
            name = format!("{name}<{}>", shown.join(", "));
        }
        let mut instance = this.into_instance(name, params, result, body, def.decl.name.span);
        instance.component = def.decl.attribute("component").is_some();
        instance.inline = def.decl.attribute("inline").is_some();
        instance.may_narrow = may_narrow;
        instance
    }

    fn allows(&self, decl: &ast::FnDecl, lint: Code) -> bool {
        lint.lint()
            .is_some_and(|lint| decl.allows(lint) || self.cx.program.allows(self.module, lint))
    }

    fn result_type(&mut self, result: &ast::ResultDecl, env: &Env) -> Ty {
        match result {
            ast::ResultDecl::Unit => Ty::unit(),
            ast::ResultDecl::Type(ty) => self.convert(ty, env),
            ast::ResultDecl::Ports(ports) => match &ports[..] {
                [(_, ty, _)] => self.convert(ty, env),
                ports => Ty::Tuple(ports.iter().map(|(_, ty, _)| self.convert(ty, env)).collect()),
            },
        }
    }

    /// Fixes all types and calls, and reports whatever has no type by now.
    fn into_instance(
        mut self,
        name: String,
        params: Vec<Local>,
        result: TyRef,
        body: Expr,
        span: Span,
    ) -> Instance {
        self.run_checks();
        let mut types = Vec::with_capacity(self.infer.types.len());
        let mut complained = false;
        for place in 0..self.infer.types.len() {
            let ty = self.resolve(&self.infer.types[place].clone());
            let at = self.infer.type_spans[place];
            if types::has_var(&ty) && !complained {
                complained = true;
                let shown = self.show(&ty);
                let message = format!("the type of this is not known: `{shown}`");
                let error = self.diagnostic(Code::Type, at, message);
                self.cx.errors.push(error.help("say it: `let x: TYPE = …`"));
            }
            let shape = self.cx.shape(&ty, at);
            if shape.is_none() && self.cx.errors.errors() == 0 {
                self.cx.error(Code::Limit, at, "the types here are too large");
            }
            types.push(shape.unwrap_or(TyId(0)));
        }
        if let Some(references) = &mut self.cx.program.references {
            for (span, ty) in std::mem::take(&mut self.seen) {
                references.ty(span, types[ty as usize]);
            }
        }
        let mut calls = Vec::new();
        for (function, args, at) in std::mem::take(&mut self.later.calls) {
            let args: Vec<Arg> = args.iter().map(|arg| self.resolve_arg(arg)).collect();
            let unknown = args.iter().any(|arg| match arg {
                Arg::Ty(ty) => types::has_var(ty),
                Arg::Const(len) => matches!(len, Len::Var(_)),
            });
            if unknown {
                if !complained {
                    complained = true;
                    let message = "the arguments in `<…>` of this function are not known";
                    let error = self.diagnostic(Code::Type, at, message);
                    self.cx.errors.push(error.help("say them: `name::<…>(…)`"));
                }
                calls.push(InstanceId::of(0));
                continue;
            }
            calls.push(self.cx.instance(function, args, at).unwrap_or(InstanceId::of(0)));
        }
        if self.cx.errors.errors() == 0 {
            self.check_cover(&types);
        }
        let locals = self.names.locals.iter().map(|local| (local.name.clone(), local.ty)).collect();
        Instance {
            name,
            params,
            locals,
            result,
            body,
            types,
            calls,
            component: false,
            inline: false,
            may_narrow: false,
            span,
        }
    }
}
