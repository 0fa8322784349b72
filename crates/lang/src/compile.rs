//! From a source text to a circuit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use symbolon_circuit::{Circuit, Failure, PartyId, Receivers};
use symbolon_common::NoThread;

use crate::ast::{self, Attribute, Ident, Owner, Party, ResultDecl, Who};
use crate::builtin;
use crate::check::Cx;
use crate::cost::Costs;
use crate::diag::{Code, Diagnostic, Diagnostics, LINTS};
use crate::facts::Facts;
use crate::ids::{InstanceId, ModuleId};
use crate::lower::{
    Entry, EntryInput, EntryOutput, InputKind, OutputKind, assert_number, cycle, lower_entry,
};
use crate::narrowing;
use crate::program::Program;
use crate::references::References;
use crate::source::{Folder, Loader, NoModules, Sources, Span, read_source};
use crate::tir::Tir;
use crate::ty::{Shape, TyId};

/// The most parties that a program may have.
const MAX_PARTIES: u64 = 256;

/// The options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The function to compile; `main` if none.
    pub entry: Option<String>,
    /// `pub const`s of the main file and their values, as text.
    pub constants: Vec<(String, String)>,
    /// How many parties there are; by default as many as `parties` names, else 2.
    pub parties: Option<u16>,
    /// Whether inputs `from clients` are given as they are, by party 0, and all parties learn what
    /// is `to clients`: to compute in the clear.
    pub clear_clients: bool,
}

/// A checked program.
pub struct Checked {
    /// The functions.
    pub tir: Tir,
    /// The texts.
    pub sources: Sources,
    /// Errors and lints.
    pub errors: Diagnostics,
    /// The requested entry, if there is one.
    pub entry: Option<Entry>,
    /// The tests of the main file.
    pub tests: Vec<Test>,
}

/// A function marked `#[test]`.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its instance.
    pub instance: InstanceId,
    /// The text with which it must fail.
    pub fails: Option<String>,
}

/// What went wrong, and the texts it is about.
#[derive(Clone, Debug)]
pub struct Errors {
    /// Errors and lints.
    pub list: Diagnostics,
    /// The texts.
    pub sources: Sources,
}

impl Errors {
    /// Returns the errors, without lints, in one line.
    pub fn in_a_line(&self) -> String {
        let errors = self.list.list().iter().filter(|error| error.code.lint().is_none());
        let one = |error: &Diagnostic| {
            let (line, column) = self.sources.position(error.span.file, error.span.start);
            let help = error.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
            let (file, code) = (self.sources.name(error.span), error.code.text());
            let what = &error.message;
            format!("{file}, line {line}, column {column}: {code}: {what}{help}")
        };
        errors.map(one).collect::<Vec<_>>().join("; ")
    }
}

impl std::fmt::Display for Errors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.list.render(&self.sources, false).trim_end())
    }
}

/// Why there is no circuit.
#[derive(Debug)]
pub enum CompileError {
    /// The file cannot be read.
    Unread(String),
    /// The program has errors.
    Program(Errors),
    /// The system gave no stack to compile on.
    NoThread(NoThread),
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::Unread(text) => f.write_str(text),
            CompileError::Program(errors) => errors.fmt(f),
            CompileError::NoThread(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<Errors> for CompileError {
    fn from(errors: Errors) -> Self {
        CompileError::Program(errors)
    }
}

impl From<NoThread> for CompileError {
    fn from(error: NoThread) -> Self {
        CompileError::NoThread(error)
    }
}

/// Trees nest, and so do calls: they are walked on a stack of this many bytes, of which little is
/// ever touched.
pub(crate) const STACK: usize = 1 << 30;

/// Runs `work` on a stack for deep recursion: a thread of its own, for which this process needs a
/// gigabyte of addresses, though hardly any memory.
///
/// # Errors
/// When the system does not give them.
pub fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, NoThread> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map_err(NoThread)?.join() {
            Ok(done) => Ok(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Checks a program: all functions of the main file, and what they call.
///
/// Call it, and everything that takes its result, inside [`with_stack`].
pub fn check(name: &str, text: &str, loader: &dyn Loader, options: &Options) -> Checked {
    check_program(name, text, loader, options, false).0
}

/// Checks a program like [`check`], and also returns what an editor asks about it.
pub fn analyse(name: &str, text: &str, loader: &dyn Loader, options: &Options) -> (Checked, Facts) {
    check_program(name, text, loader, options, true)
}

fn check_program(
    name: &str,
    text: &str,
    loader: &dyn Loader,
    options: &Options,
    facts: bool,
) -> (Checked, Facts) {
    let mut errors = Diagnostics::default();
    let mut program = Program::new(name, text, loader, &mut errors);
    program.references = facts.then(References::default);
    let named = program.parties.len();
    let parties = match options.parties {
        Some(parties) => u64::from(parties),
        None if named > 0 => named as u64,
        None => constant_parties(options).unwrap_or(2),
    };
    let settings: HashMap<String, String> = options.constants.iter().cloned().collect();
    let mut cx = Cx::new(program, errors, parties, settings);
    check_settings(&mut cx, options);
    let functions = cx.program.functions(ModuleId::MAIN);
    let mut tests = Vec::new();
    for &function in &functions {
        let def = cx.program.fns[function].clone();
        for attribute in &def.decl.attributes {
            check_attribute(&mut cx.errors, attribute, &builtin::FUNCTION_ATTRIBUTES);
        }
        if !def.generics.is_empty() {
            continue;
        }
        let span = def.decl.name.span;
        let Some(instance) = cx.instance(function, Vec::new(), span) else { continue };
        if let Some(test) = def.decl.attribute("test") {
            let name = def.decl.name.name.to_string();
            tests.push(Test { name, instance, fails: test.text.clone() });
        }
    }
    for place in cx.program.consts.ids() {
        let def = cx.program.consts[place].clone();
        // A constant without a value is set from outside, and asked for only when it is needed.
        if def.module == ModuleId::MAIN && def.decl.value.is_some() {
            cx.constant(place, def.decl.name.span);
        }
    }
    cx.work();
    if cx.errors.errors() == 0 {
        cx.check_uncalled(&functions);
    }
    if let Some(place) = cycle(&cx.tir)
        && let Some(Some(instance)) = cx.tir.instances.get(place).cloned()
    {
        let message = format!("`{}` calls itself with the same arguments in `<…>`", instance.name);
        let error = Diagnostic::new(Code::Control, instance.span, message);
        cx.errors.push(error.help("recursion must change a const parameter"));
    }
    for module in cx.program.modules.ids().filter(|&module| !cx.program.is_std(module)) {
        for attribute in &cx.program.modules[module].attributes {
            check_attribute(&mut cx.errors, attribute, &builtin::FILE_ATTRIBUTES);
        }
    }
    let entry = find_entry(&mut cx, options);
    if let Some(entry) = &entry
        && cx.errors.errors() == 0
    {
        narrowing::lint(&cx.tir, &cx.program.sources, entry.instance, &mut cx.errors);
    }
    let facts = if facts { Facts::of(&mut cx) } else { Facts::default() };
    let Cx { tir, program, errors, .. } = cx;
    (Checked { tir, sources: program.sources, errors, entry, tests }, facts)
}

fn constant_parties(options: &Options) -> Option<u64> {
    // As of any constant that is set twice, the last value counts.
    let set = options.constants.iter().rfind(|(name, _)| name == builtin::PARTIES)?;
    read_parties(&set.1)
}

fn read_parties(text: &str) -> Option<u64> {
    text.parse().ok().filter(|parties| (2..=MAX_PARTIES).contains(parties))
}

fn check_settings(cx: &mut Cx<'_>, options: &Options) {
    for (name, value) in &options.constants {
        if name == builtin::PARTIES {
            if read_parties(value).is_none() {
                let message = "`PARTIES` must be a number from 2 to 256";
                cx.errors.push(Diagnostic::new(Code::Constant, Span::default(), message));
            }
            continue;
        }
        let known =
            cx.program.consts.rows().any(|def| {
                def.module == ModuleId::MAIN && def.public && *def.decl.name.name == **name
            });
        if !known {
            let message = format!("the program has no `pub const {name}`");
            cx.errors.push(Diagnostic::new(Code::Name, Span::default(), message));
        }
    }
}

fn check_attribute(errors: &mut Diagnostics, attribute: &Attribute, known: &[&str]) {
    let (name, span) = (&*attribute.name.name, attribute.name.span);
    let quoted = |names: &mut dyn Iterator<Item = &str>| {
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    if !known.contains(&name) {
        let error = Diagnostic::new(Code::Name, span, format!("there is no attribute `{name}`"));
        errors.push(error.help(format!("there are {}", quoted(&mut known.iter().copied()))));
        return;
    }
    let lints = || LINTS.iter().filter_map(|lint| lint.lint());
    let is_lint = |key: &Ident| lints().any(|lint| lint == &*key.name);
    let lacks = attribute.keys.is_empty() || attribute.text.is_some();
    if name == "allow" && (lacks || !attribute.keys.iter().all(is_lint)) {
        let error = Diagnostic::new(Code::Name, span, "there is no such lint");
        errors.push(error.help(format!("`allow` takes {}", quoted(&mut lints()))));
    }
    let fails = attribute.keys.iter().all(|key| &*key.name == "fails");
    if name == "test" && !(fails && attribute.keys.is_empty() == attribute.text.is_none()) {
        let message = "a test is `#[test]` or `#[test(fails = \"text\")]`";
        errors.push(Diagnostic::new(Code::Text, span, message));
    }
    if !matches!(name, "allow" | "test") && !attribute.keys.is_empty() {
        let message = format!("`{name}` takes nothing in parentheses");
        errors.push(Diagnostic::new(Code::Text, span, message));
    }
}

fn find_entry(cx: &mut Cx<'_>, options: &Options) -> Option<Entry> {
    let wanted = options.entry.as_deref().unwrap_or("main");
    let function = cx.program.functions(ModuleId::MAIN).into_iter().find(|&f| {
        *cx.program.fns[f].decl.name.name == *wanted && cx.program.fns[f].owner.is_none()
    });
    let Some(function) = function else {
        if options.entry.is_some() {
            let message = format!("the program has no function `{wanted}`");
            cx.errors.push(Diagnostic::new(Code::Name, Span::default(), message));
        }
        return None;
    };
    let decl = cx.program.fns[function].decl.clone();
    if !decl.is_entry() && options.entry.is_none() {
        return None;
    }
    if !decl.generics.is_empty() {
        let message = "an entry has no parameters in `<…>`";
        cx.errors.push(Diagnostic::new(Code::Port, decl.name.span, message));
        return None;
    }
    let place = cx.instance(function, Vec::new(), decl.name.span)?;
    let instance = cx.tir.instances.get(place).cloned().flatten()?;
    let mut inputs = Vec::new();
    for (param, &local) in decl.params.iter().zip(&instance.params) {
        let ty = instance.types[instance.locals[local as usize].1 as usize];
        let kind = match input_kind(cx, param)? {
            InputKind::Clients if options.clear_clients => InputKind::Party(PartyId::new(0)),
            kind => kind,
        };
        let name = param.name.name.to_string();
        inputs.push(EntryInput { name, kind, ty, span: param.name.span });
    }
    let result = instance.types[instance.result as usize];
    let mut outputs = entry_outputs(cx, &decl, result)?;
    if options.clear_clients {
        let to_clients = outputs.iter_mut().filter(|output| output.kind == OutputKind::Clients);
        to_clients.for_each(|output| output.kind = OutputKind::To(Receivers::All));
    }
    let parties_known = options.parties.is_some()
        || !cx.program.parties.is_empty()
        || constant_parties(options).is_some();
    let (name, parties) = (wanted.to_string(), cx.parties as u16);
    Some(Entry { name, instance: place, inputs, outputs, parties, parties_known })
}

fn input_kind(cx: &mut Cx<'_>, param: &ast::Param) -> Option<InputKind> {
    match &param.owner {
        Some(Owner::Party(party)) => Some(InputKind::Party(party_number(cx, party)?)),
        Some(Owner::Each(_)) => Some(InputKind::Each),
        Some(Owner::Share(_)) => Some(InputKind::Share),
        Some(Owner::Clients(name)) => match is_party(cx, name) {
            true => Some(InputKind::Party(party_number(cx, &Party::Name(name.clone()))?)),
            false => Some(InputKind::Clients),
        },
        None => {
            let message = format!("nothing says whose `{}` is", param.name.name);
            let error = Diagnostic::new(Code::Port, param.name.span, message);
            cx.errors.push(error.help(
                "write `from 0`, `from each`, `from share` or `from clients` after its type",
            ));
            None
        }
    }
}

/// Returns whether the program itself has a party of this name.
fn is_party(cx: &Cx<'_>, name: &Ident) -> bool {
    cx.program.parties.iter().any(|known| known.name == name.name)
}

fn party_number(cx: &mut Cx<'_>, party: &Party) -> Option<PartyId> {
    let (number, span) = match party {
        Party::Number(number, span) => (*number, *span),
        Party::Name(name) => {
            let found = cx.program.parties.iter().position(|known| known.name == name.name);
            match found {
                Some(number) => (number as u64, name.span),
                None => {
                    let message = format!("there is no party `{}`", name.name);
                    let error = Diagnostic::new(Code::Port, name.span, message);
                    cx.errors.push(error.help("name all parties: `parties a, b;`"));
                    return None;
                }
            }
        }
    };
    if number >= cx.parties {
        let message = format!("there is no party {number}: there are {} from 0", cx.parties);
        let error = Diagnostic::new(Code::Port, span, message);
        let help = match number {
            // The parties that the program names are as many as there are.
            _ if !cx.program.parties.is_empty() => "name all parties: `parties a, b;`".into(),
            ..MAX_PARTIES => format!(
                "for {parties} parties say `--parties {parties}`, or list them all for `run`",
                parties = number + 1
            ),
            _ => format!("there are at most {MAX_PARTIES} parties"),
        };
        cx.errors.push(error.help(help));
        return None;
    }
    Some(PartyId::new(number as u16))
}

fn entry_outputs(cx: &mut Cx<'_>, decl: &ast::FnDecl, result: TyId) -> Option<Vec<EntryOutput>> {
    let ResultDecl::Ports(ports) = &decl.result else {
        let message = "nothing says who learns the result";
        let error = Diagnostic::new(Code::Port, decl.name.span, message);
        cx.errors.push(error.help("write `-> (name: type to all)`"));
        return None;
    };
    let types = match (&ports[..], cx.tir.shapes.shape(result)) {
        ([_], _) => vec![result],
        (_, Shape::Tuple(parts)) => parts.clone(),
        _ => return None,
    };
    let mut outputs = Vec::new();
    for ((name, _, who), ty) in ports.iter().zip(types) {
        let kind = match who {
            Who::All => OutputKind::To(Receivers::All),
            Who::Each(_) => OutputKind::Each,
            Who::Clients(name) if is_party(cx, name) => {
                let party = party_number(cx, &Party::Name(name.clone()))?;
                OutputKind::To(Receivers::Only(vec![party]))
            }
            Who::Clients(_) => OutputKind::Clients,
            Who::Parties(parties) => {
                let mut all = Vec::new();
                for party in parties {
                    all.push(party_number(cx, party)?);
                }
                OutputKind::To(Receivers::Only(all))
            }
        };
        if &*name.name == Circuit::FAILURE {
            let message = "`assert` is the name of the output that reports failures";
            cx.errors.push(Diagnostic::new(Code::Port, name.span, message));
        }
        outputs.push(EntryOutput { name: name.name.to_string(), kind, ty, span: name.span });
    }
    Some(outputs)
}

/// Compiles a program.
///
/// # Errors
/// All errors found, or the lack of a thread.
pub fn compile(
    name: &str,
    text: &str,
    loader: &(dyn Loader + Sync),
    options: &Options,
) -> Result<Circuit, CompileError> {
    Ok(with_stack(|| compile_here(name, text, loader, options, false))?.map(|done| done.0)?)
}

/// Compiles a program without modules of its own.
///
/// # Errors
/// Those of [`compile`].
pub fn compile_text(text: &str, options: &Options) -> Result<Circuit, CompileError> {
    compile("main.sym", text, &NoModules, options)
}

/// Compiles the program in a file, with the modules in its folder.
///
/// # Errors
/// Those of [`compile`], or a sentence when the file cannot be read.
pub fn compile_file(path: &Path, options: &Options) -> Result<Circuit, CompileError> {
    let text = read_source(path).map_err(CompileError::Unread)?;
    let folder = Folder(path.parent().map_or_else(PathBuf::new, Path::to_path_buf));
    compile(&path.display().to_string(), &text, &folder, options)
}

/// Compiles like [`compile`] on a stack that is already large; also returns the AND gates by place.
///
/// # Errors
/// All errors found.
pub fn compile_here(
    name: &str,
    text: &str,
    loader: &dyn Loader,
    options: &Options,
    costs: bool,
) -> Result<(Circuit, Option<Costs>, Sources), Errors> {
    let mut checked = check(name, text, loader, options);
    if checked.errors.errors() == 0 && checked.entry.is_none() {
        let message = "the program has no function `main` with `from` and `to`";
        checked.errors.push(Diagnostic::new(Code::Port, Span::default(), message));
    }
    let Checked { tir, sources, mut errors, entry, .. } = checked;
    let Some(entry) = entry.filter(|_| errors.errors() == 0) else {
        return Err(Errors { list: errors, sources });
    };
    let Ok((circuit, costs)) = lower_entry(&tir, &entry, &mut errors, costs) else {
        if errors.errors() == 0 {
            let message = "this cannot be compiled, and nothing says why: a defect of the compiler";
            let span = tir.instances[entry.instance].as_ref().map_or(Span::default(), |i| i.span);
            errors.push(Diagnostic::new(Code::Limit, span, message));
        }
        return Err(Errors { list: errors, sources });
    };
    let failures = failures(&tir, &sources);
    Ok((circuit.with_failures(failures), costs, sources))
}

/// Returns what the numbers of failures mean, from 1 on; those of no assert mean nothing.
fn failures(tir: &Tir, sources: &Sources) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (place, (text, span)) in (0..).zip(&tir.asserts) {
        let before = assert_number(place) as usize - 1;
        let nothing = Failure { text: String::new(), file: String::new(), line: 0 };
        failures.resize(before, nothing);
        failures.push(Failure {
            text: text.clone(),
            file: sources.name(*span).to_string(),
            line: sources.line(*span),
        });
    }
    failures
}
