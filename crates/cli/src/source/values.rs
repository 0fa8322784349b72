//! Input values as users give them: on the command line, in a file, on standard input.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use symbolon::circuit::{
    Circuit, CircuitError, ClientPorts, FileForm, Input, Output, PartyId, Type, Value,
    format_value, parse_file_to, parse_value, write_file,
};
use symbolon::zeroize::Zeroizing;
use symbolon::{BitVec, Inputs, Port};
use symbolon_clients::Layout;

use crate::common::error::{CliError, CliResult};
use crate::common::packed::Packed;
use crate::common::reading::{VALUE, VALUE_BYTES, read, read_standard_input, read_text};
use crate::common::secret::InputText;
use crate::source::{CircuitSpec, Loaded, clients, from_folder, place};

/// A value for an input as written: the input's name or index, and `hex:…`, `bits:…`, integers,
/// `@file`, `@-` or `-`. Neither can be printed: the two may have changed places.
#[derive(Clone, Debug)]
pub struct InputSources {
    /// Name or index of the input.
    pub input: InputText,
    /// The text after the `=`.
    pub value: InputText,
}

/// Reads `INPUT=VALUE` without ever repeating it in an error.
pub fn given(texts: &[InputText]) -> CliResult<Vec<InputSources>> {
    let parse = |text: &InputText| match text.expose().split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok(InputSources { input: name.trim().into(), value: value.into() })
        }
        _ => Err(CliError::usage(
            "--input: expected NAME=VALUE, where NAME is a name or a place counted from 0",
        )),
    };
    texts.iter().map(parse).collect()
}

/// How values are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'s> {
    /// Whether lists that are shorter than their input are filled up with zero bits.
    pub pad: bool,
    /// Whether a file has one value per line, each for one evaluation.
    pub by_line: bool,
    /// Where the circuit comes from, for advice.
    pub spec: Option<&'s CircuitSpec>,
}

impl Reading<'_> {
    /// Returns how a list of another length than its input can be taken.
    fn other_length(self, error: &CircuitError, pad: bool) -> Option<String> {
        let CircuitError::Length { input, given, .. } = error else { return None };
        let constant = self.spec.and_then(|spec| spec.length_constant(input));
        let constant = constant.filter(|_| *given > 0).map(|constant| {
            format!("`--const {constant}={given}`, the same for all parties, makes it fit")
        });
        let pad = pad.then(|| "`--pad` fills up a list that is too short".to_string());
        let all: Vec<String> = [pad, constant].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

impl InputSources {
    /// Returns whether the value is read from standard input. A file that is called `-` is `@./-`.
    fn is_standard_input(&self) -> bool {
        matches!(self.value.expose().trim(), "-" | "@-")
    }

    /// Reads the value, wherever it is: one, or with a batch one for each evaluation.
    ///
    /// `base` is the folder from which a relative `@file` is looked up.
    ///
    /// # Errors
    /// A usage failure that names the file, the line and the element, and never the contents.
    pub fn read(
        &self,
        input: &Input,
        base: Option<&Path>,
        how: Reading<'_>,
    ) -> CliResult<Vec<Packed>> {
        if how.pad && how.by_line {
            return Err(CliError::usage(
                "--pad is not for --batch: give every line its whole value",
            ));
        }
        let value = self.value.expose().trim();
        let mut form = FileForm { pad: how.pad, ..FileForm::default() };
        let (name, text) = match value.strip_prefix('@') {
            _ if self.is_standard_input() => {
                ("standard input".to_string(), read_standard_input(VALUE)?)
            }
            Some(path) => {
                if is_kind(Path::new(path), "bin") {
                    return of_bytes(input, &from_folder(base, path), how);
                }
                let path = chosen_columns(base, path, &mut form);
                form.csv = !how.by_line && is_kind(&path, "csv");
                form.json = !how.by_line && is_kind(&path, "json");
                (path.display().to_string(), read_text(&path, VALUE)?)
            }
            None if how.pad => ("--input".to_string(), value.to_string().into()),
            None if how.by_line => return lines(input, value, "--input"),
            None => {
                let bits = parse_value(input, value).map_err(|error| {
                    let hint = how.other_length(&error, false);
                    let error = CliError::from(error);
                    hint.into_iter().fold(error, |error, hint| error.with_hint(hint))
                })?;
                return Ok(vec![bits.into()]);
            }
        };
        if how.by_line {
            let text = text.trim_start_matches('\u{feff}');
            if !form.columns.is_empty() {
                return Err(CliError::usage(format!(
                    "{name}: with --batch a file has a value a line, and no columns or keys"
                )));
            }
            return lines(input, text, &name);
        }
        let mut bits = Packed(BitVec::with_capacity(input.ty.width() as usize));
        let read = parse_file_to(input, &text, &form, |part| bits.append(part));
        read.map_err(|wrong| {
            let error = CliError::usage(format!("{name}: {wrong}"));
            let padded = FileForm { pad: true, ..form.clone() };
            let fits = !how.pad && parse_file_to(input, &text, &padded, |_| {}).is_ok();
            let is_plain = form.columns.is_empty() && !form.csv && value.starts_with('@');
            let has_keys = is_plain && !self.is_standard_input() && is_object(&text);
            match how.other_length(&wrong, fits) {
                Some(hint) => error.with_hint(hint),
                None if has_keys && !has_names(&input.ty) => {
                    error.with_hint(format!("@{name}#KEY takes the value of one key"))
                }
                None => error,
            }
        })?;
        Ok(vec![bits])
    }
}

/// Reads the bytes of a value, or with a batch of one value after another: eight wires a byte, the
/// first wire the lowest bit of the first byte.
fn of_bytes(input: &Input, path: &Path, how: Reading<'_>) -> CliResult<Vec<Packed>> {
    let mut bytes = read(path, VALUE_BYTES)?;
    let Input { name, ty, .. } = input;
    let wrong = |what| CliError::usage(format!("{}: input `{name}` ({ty}) {what}", path.display()));
    let width = ty.width() as usize;
    let takes = BitVec::byte_len(width);
    let given = bytes.len();
    let ends_with_an_element = match ty {
        Type::Array { elem, .. } => (8 * given as u64).is_multiple_of(elem.width().max(1)),
        _ => false,
    };
    if how.pad && given < takes && ends_with_an_element {
        // It does not grow in place, which could leave a copy behind.
        let mut padded = Zeroizing::new(vec![0; takes]);
        padded[..given].copy_from_slice(&bytes);
        bytes = padded;
    }
    let (count, each) = match how.by_line {
        true => (given.checked_div(takes).unwrap_or(0), " for each evaluation"),
        false => (1, ""),
    };
    if bytes.len() != count * takes {
        return Err(wrong(format!("takes {takes} bytes{each}, the file has {given}")));
    }
    let one = |place| BitVec::from_bytes(width, &bytes[place * takes..][..takes]).map(Packed);
    let values: Option<Vec<Packed>> = (0..count).map(one).collect();
    values.ok_or_else(|| wrong("has no wire for a bit that is set in its last byte".to_string()))
}

/// Reads a value a line.
fn lines(input: &Input, text: &str, name: &str) -> CliResult<Vec<Packed>> {
    let lines = (1..).zip(text.lines()).filter(|(_, value)| !value.trim().is_empty());
    let read = |(line, value): (usize, &str)| {
        let bits = parse_value(input, value.trim());
        let bits =
            bits.map_err(|error| CliError::usage(format!("{name}, line {line}: {error}")))?;
        Ok(bits.into())
    };
    lines.map(read).collect()
}

/// Returns whether a text looks like a JSON object, or a list of them.
fn is_object(text: &str) -> bool {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '[' || c == '\u{feff}')
        .starts_with('{')
}

/// Returns whether values of a type are written as objects.
fn has_names(ty: &Type) -> bool {
    match ty {
        Type::Struct { .. } | Type::Enum { .. } => true,
        Type::Array { elem, .. } => has_names(elem),
        _ => false,
    }
}

/// Returns the path in `FILE`, `FILE#COLUMN,…` or `FILE#KEY`, and puts the selection into the form.
fn chosen_columns(base: Option<&Path>, text: &str, form: &mut FileForm) -> PathBuf {
    let whole = from_folder(base, text);
    match text.rsplit_once('#') {
        Some((path, columns)) if !whole.exists() => {
            form.columns = columns.split(',').map(|name| name.trim().to_string()).collect();
            from_folder(base, path)
        }
        _ => whole,
    }
}

/// Returns outputs and files from the command line.
pub fn paths(saves: &[(String, String)]) -> impl Iterator<Item = (String, PathBuf)> {
    saves.iter().map(|(output, file)| (output.clone(), PathBuf::from(file)))
}

/// Outputs that are written to files: the place of each, and the file.
pub struct Saves(Vec<(usize, PathBuf)>);

impl Saves {
    /// Finds the outputs, and tries the files, before anything is computed.
    ///
    /// # Errors
    /// A usage failure for an unknown output, for one that is not `learnt`, and for a file that is
    /// named twice; a failure when a file cannot be written.
    pub fn new(
        circuit: &Circuit,
        learnt: impl Fn(&Output) -> bool,
        saves: impl IntoIterator<Item = (String, PathBuf)>,
    ) -> CliResult<Saves> {
        let names: Vec<&str> = circuit.outputs().iter().map(|o| o.name.as_str()).collect();
        let mut found: Vec<(usize, PathBuf)> = Vec::new();
        for (name, path) in saves {
            let place = place("output", &name, &names)?;
            if !learnt(&circuit.outputs()[place]) {
                let what = format!("output `{name}` is not learnt here, so it cannot be saved");
                return Err(CliError::usage(what));
            }
            if found.iter().any(|(_, known)| *known == path) {
                let what = format!("two outputs cannot be saved to {}", path.display());
                return Err(CliError::usage(what));
            }
            can_be_written(&path).map_err(|error| {
                CliError::io(format!("cannot write {}", path.display()), &error)
            })?;
            found.push((place, path));
        }
        Ok(Saves(found))
    }

    /// Writes what was learnt.
    ///
    /// # Errors
    /// A failure when an output was not learnt, or cannot be written.
    pub fn write(&self, circuit: &Circuit, learnt: &[Option<Packed>]) -> CliResult<()> {
        for (place, path) in &self.0 {
            let output = &circuit.outputs()[*place];
            let Some(Some(bits)) = learnt.get(*place) else {
                let what =
                    format!("output `{}` is not learnt here, so it is not saved", output.name);
                return Err(CliError::usage(what));
            };
            write_value(path, &output.ty, bits).map_err(|error| {
                CliError::io(format!("cannot write {}", path.display()), &error)
            })?;
        }
        Ok(())
    }
}

/// Writes a value to a file, element by element.
fn write_value(path: &Path, ty: &Type, bits: &Packed) -> io::Result<()> {
    if is_kind(path, "bin") {
        return std::fs::write(path, &*Zeroizing::new(bits.0.to_bytes()));
    }
    let mut out = Text { out: BufWriter::new(File::create(path)?), failed: None };
    let written = match is_kind(path, "json") {
        true => write_json(ty, bits, &mut out),
        false => write_file(ty, |wires| bits.part(wires), is_kind(path, "csv"), &mut out),
    };
    match (written, out.failed) {
        (Err(_), Some(error)) => Err(error),
        _ => out.out.flush(),
    }
}

/// A file that text is written to, and why that failed.
struct Text {
    out: BufWriter<File>,
    failed: Option<io::Error>,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

fn write_json(ty: &Type, bits: &Packed, out: &mut Text) -> fmt::Result {
    let one = |ty: &Type, wires| json_text(&format_value(ty, &Zeroizing::new(bits.part(wires))));
    let (len, elem, width) = match ty {
        Type::Array { len, elem } if elem.width() > 0 => (len, elem, elem.width() as usize),
        _ => return writeln!(out, "{}", one(ty, 0..ty.width() as usize)),
    };
    out.write_str("[")?;
    for place in 0..*len as usize {
        let comma = if place > 0 { ", " } else { "" };
        write!(out, "{comma}{}", one(elem, place * width..(place + 1) * width))?;
    }
    out.write_str("]\n")
}

/// Returns a value as JSON, which has quotes where it has no number: around hexadecimal digits and
/// `NaN`.
fn json_text(value: &Value) -> String {
    match value {
        Value::Integer(digits) | Value::Fraction(digits)
            if digits.contains(|c: char| c.is_ascii_alphabetic() && c != 'e') =>
        {
            format!("\"{digits}\"")
        }
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(json_text).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field =
                |(name, value): &(String, Value)| format!("\"{name}\": {}", json_text(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns whether a file's name ends with this extension, in small letters or capitals.
fn is_kind(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(kind))
}

/// Opens a file for writing, and leaves it as it is. A pipe is not opened: that would wait for its
/// reader.
///
/// # Errors
/// Why it cannot be written.
pub fn can_be_written(path: &Path) -> io::Result<()> {
    let about = std::fs::metadata(path);
    if about.as_ref().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Ok(());
    }
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    match (opened, about) {
        // It was a link to no file if it is still there.
        (Ok(_), Err(_)) => std::fs::canonicalize(path).and_then(std::fs::remove_file),
        (opened, _) => opened.map(drop),
    }
}

/// Values whose input has been found: its place, and a value, or with a batch one for each
/// evaluation or one for all.
pub type Resolved = Vec<(usize, Vec<Packed>)>;

/// Finds the input of every value and reads the values given as files.
///
/// # Errors
/// A usage failure for an unknown input, a value given twice, standard input used twice, or an
/// unreadable file.
pub fn resolve(
    circuit: &Circuit,
    given: &[InputSources],
    base: Option<&Path>,
    how: Reading<'_>,
) -> CliResult<Resolved> {
    let names: Vec<&str> = circuit.inputs().iter().map(|input| input.name.as_str()).collect();
    one_from_standard_input(given)?;
    let mut resolved: Resolved = Vec::with_capacity(given.len());
    for value in given {
        let index = place("input", value.input.expose(), &names)?;
        let read = value.read(&circuit.inputs()[index], base, how)?;
        add(&mut resolved, &names, [(index, read)])?;
    }
    Ok(resolved)
}

/// Resolves like [`resolve`], where all parties' inputs are given together: a name in `wholes`
/// stands for the shares that all parties give, which are made at random here.
///
/// # Errors
/// Those of [`resolve`]; a system failure when the operating system gives no randomness.
pub fn resolve_wholes(
    circuit: &Circuit,
    wholes: &[String],
    given: &[InputSources],
    how: Reading<'_>,
) -> CliResult<Resolved> {
    let names: Vec<&str> = circuit.inputs().iter().map(|input| input.name.as_str()).collect();
    one_from_standard_input(given)?;
    let clients = Layout::of(circuit);
    let of_clients = |value: &InputSources| {
        let layout = clients.as_ref().filter(|_| !names.contains(&value.input.expose()));
        let mut fields = layout.iter().flat_map(|layout| &layout.ports().values);
        fields.any(|(name, _)| *name == *value.input.expose())
    };
    let (of_clients, given): (Vec<_>, Vec<_>) = given.iter().cloned().partition(of_clients);
    let share = |name: &str, party: usize| {
        let share = format!("{name}.{party}");
        names.iter().position(|known| *known == share)
    };
    let is_whole = |value: &InputSources| {
        let name = value.input.expose();
        let is_split = !names.contains(&name) && share(name, 0).is_some();
        is_split && wholes.iter().any(|whole| whole == name)
    };
    let (whole, plain): (Vec<_>, Vec<_>) = given.into_iter().partition(is_whole);
    let mut resolved = resolve(circuit, &plain, None, how)?;
    if let Some(layout) = clients.filter(|_| !of_clients.is_empty()) {
        let lists = client_lists(&layout, &of_clients, how)?;
        for (party, shares) in
            PartyId::all(layout.ports().parties).zip(clients::shares(&layout, &lists)?)
        {
            let name = ClientPorts::shares(party);
            let place = names.iter().position(|known| *known == name);
            add(&mut resolved, &names, place.map(|place| (place, shares)))?;
        }
    }
    for value in whole {
        let name = value.input.expose();
        let places: Vec<usize> = (0..).map_while(|party| share(name, party)).collect();
        let input = Input { name: name.to_string(), ..circuit.inputs()[places[0]].clone() };
        let shares = shares(value.read(&input, None, how)?, places.len())?;
        add(&mut resolved, &names, places.into_iter().zip(shares))?;
    }
    Ok(resolved)
}

/// Reads the values of all clients: a list of optional ones for each that a client gives.
fn client_lists(
    layout: &Layout,
    given: &[InputSources],
    how: Reading<'_>,
) -> CliResult<Vec<Vec<Packed>>> {
    let read = |input: Input| {
        let mut named = given.iter().filter(|value| value.input.expose() == input.name);
        match (named.next(), named.next()) {
            (Some(value), None) => value.read(&input, None, how),
            (None, _) => Err(CliError::usage(format!(
                "no value for input `{}` ({}) of the clients",
                input.name, input.ty
            ))),
            _ => Err(CliError::usage(format!("input `{}` is given twice", input.name))),
        }
    };
    clients::lists(layout).into_iter().map(read).collect()
}

/// Adds values to those that are known.
fn add(
    resolved: &mut Resolved,
    names: &[&str],
    values: impl IntoIterator<Item = (usize, Vec<Packed>)>,
) -> CliResult<()> {
    for (index, value) in values {
        if resolved.iter().any(|(known, _)| *known == index) {
            return Err(CliError::usage(format!("input `{}` is given twice", names[index])));
        }
        resolved.push((index, value));
    }
    Ok(())
}

/// Splits values at random into a list for each of `parties`: their XOR is the value.
fn shares(values: Vec<Packed>, parties: usize) -> CliResult<Vec<Vec<Packed>>> {
    let mut shares = vec![Vec::new(); parties];
    for Packed(mut left) in values {
        for shares in &mut shares[1..] {
            let share = random_bits(left.len())?;
            left.xor_assign(&share);
            shares.push(Packed(share));
        }
        shares[0].push(Packed(left));
    }
    Ok(shares)
}

/// Refuses to read standard input more than once.
///
/// # Errors
/// A usage failure when two inputs are to be read from there.
pub fn one_from_standard_input<'g>(
    given: impl IntoIterator<Item = &'g InputSources>,
) -> CliResult<()> {
    if given.into_iter().filter(|given| given.is_standard_input()).count() > 1 {
        return Err(CliError::usage("only one input can be read from standard input"));
    }
    Ok(())
}

/// Returns the inputs of `party`, from those values that belong to it.
///
/// # Errors
/// A usage failure when a value does not fit or one is missing.
pub fn inputs_of(circuit: &Circuit, party: PartyId, resolved: &Resolved) -> CliResult<Inputs> {
    let mut builder = Inputs::builder(circuit, party);
    for (index, values) in resolved {
        if circuit.inputs()[*index].owner == party {
            for Packed(bits) in values {
                builder = builder.bits(Port::Index(*index), bits.clone())?;
            }
        }
    }
    builder.finish().map_err(|error| {
        CliError::from(error).with_hint("give it with --input NAME=VALUE; see --help for the forms")
    })
}

/// Turns the values that `party` gave for inputs, or for shares of them, into values of its inputs.
///
/// # Errors
/// A usage failure that says whose input it is when it is not `party`'s.
pub fn only_own(loaded: &Loaded, party: PartyId, resolved: Resolved) -> CliResult<Resolved> {
    let mut own = Resolved::new();
    for (index, value) in resolved {
        let input = &loaded.plain.inputs()[index];
        if input.owner != party && !loaded.shared[index] {
            return Err(CliError::usage(format!(
                "input `{}` belongs to party {}; this is party {party}",
                input.name, input.owner
            ))
            .with_hint(
                "give only your own inputs; --owner INPUT=PARTY, the same for all parties, says \
                 whose an input is",
            ));
        }
        own.push((loaded.place(index, party), value));
    }
    Ok(own)
}

/// Gives every party a random share of the inputs that are shared.
///
/// # Errors
/// A usage failure when a shared input has no value, or one that does not fit.
pub fn split(loaded: &Loaded, resolved: Resolved) -> CliResult<Resolved> {
    for (index, input) in loaded.plain.inputs().iter().enumerate() {
        if loaded.shared[index] && !resolved.iter().any(|(known, _)| *known == index) {
            return Err(CliError::usage(format!(
                "no value for the shared input `{}` ({})",
                input.name, input.ty
            ))
            .with_hint("give it with --input NAME=VALUE: `local` splits it among the parties"));
        }
    }
    let mut all = Resolved::new();
    for (index, values) in resolved {
        if !loaded.shared[index] {
            all.push((loaded.place(index, 0), values));
            continue;
        }
        let shares = shares(values, usize::from(loaded.parties()))?;
        let parties = PartyId::all(loaded.parties());
        all.extend(parties.map(|party| loaded.place(index, party)).zip(shares));
    }
    Ok(all)
}

/// Returns random bits from the operating system.
fn random_bits(n: usize) -> CliResult<BitVec> {
    let mut bits = BitVec::zeros(n);
    for word in bits.words_mut() {
        *word = getrandom::u64().map_err(|error| {
            CliError::system(format!("the system gives no randomness: {error}"))
        })?;
    }
    bits.mask_tail();
    Ok(bits)
}

/// Returns random values for all inputs of a circuit.
///
/// # Errors
/// An internal failure when the operating system gives no randomness.
pub fn random_values(circuit: &Circuit) -> CliResult<Resolved> {
    let value = |(index, input): (usize, &symbolon::circuit::Input)| {
        Ok((index, vec![Packed(random_bits(input.ty.width() as usize)?)]))
    };
    circuit.inputs().iter().enumerate().map(value).collect()
}
