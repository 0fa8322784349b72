//! The entry of a program: parties' inputs and outputs.

use std::collections::HashMap;

use symbolon_circuit::builder::{Bit, Builder, Word};
use symbolon_circuit::{Circuit, PartyId, Receivers, Type};

use super::{Done, Failed, Lower, Machine, calls};
use crate::cost::{Costs, Totals};
use crate::diag::{Code, Diagnostics};
use crate::ids::InstanceId;
use crate::source::Span;
use crate::tir::Tir;
use crate::ty::{Precision, Shape, Shapes, TyId};

/// The owner of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// This party.
    Party(PartyId),
    /// Element i is party i's.
    Each,
    /// The XOR of all parties' shares.
    Share,
}

/// An input of an entry.
#[derive(Clone, Debug)]
pub struct EntryInput {
    /// Its name.
    pub name: String,
    /// Its owner.
    pub kind: InputKind,
    /// Its type.
    pub ty: TyId,
    /// Its place.
    pub span: Span,
}

/// An output of an entry.
#[derive(Clone, Debug)]
pub struct EntryOutput {
    /// Its name.
    pub name: String,
    /// Who learns it; if `None`, party i learns element i.
    pub to: Option<Receivers>,
    /// Its type.
    pub ty: TyId,
    /// Its place.
    pub span: Span,
}

/// A function whose parameters are inputs.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The circuit's name.
    pub name: String,
    /// The instance in [`Tir::instances`].
    pub instance: InstanceId,
    /// Its inputs.
    pub inputs: Vec<EntryInput>,
    /// Its outputs.
    pub outputs: Vec<EntryOutput>,
    /// How many parties there are.
    pub parties: u16,
}

impl Entry {
    /// Returns a test as an entry: party 0 owns its parameters, and all learn its result, if any.
    pub fn test(
        instance: InstanceId,
        inputs: Vec<EntryInput>,
        result: TyId,
        shapes: &Shapes,
    ) -> Entry {
        let span = Span::default();
        let output =
            EntryOutput { name: "result".into(), to: Some(Receivers::All), ty: result, span };
        let outputs = if shapes.width(result) > 0 { vec![output] } else { Vec::new() };
        Entry { name: "test".into(), instance, inputs, outputs, parties: 2 }
    }
}

/// Returns the type of a port.
pub fn port_type(shapes: &Shapes, ty: TyId) -> Type {
    if let Some(len) = shapes.text_len(ty) {
        return Type::Text(len as u32);
    }
    let all = |parts: &[TyId]| parts.iter().map(|part| port_type(shapes, *part)).collect();
    match shapes.shape(ty) {
        Shape::Bool => Type::Bool,
        Shape::Int(false, width) => Type::Uint(*width),
        Shape::Int(true, width) => Type::Int(*width),
        Shape::Fixed(int, frac) => Type::Fixed { int: *int, frac: *frac },
        Shape::Float(Precision::Single) => Type::F32,
        Shape::Float(Precision::Double) => Type::F64,
        Shape::Tuple(parts) => Type::Tuple(all(parts)),
        Shape::Array(element, len) => {
            Type::Array { len: *len as u32, elem: Box::new(port_type(shapes, *element)) }
        }
        Shape::Struct(name, fields) => Type::Struct {
            name: name.to_string(),
            fields: fields.iter().map(|(n, ty)| (n.to_string(), port_type(shapes, *ty))).collect(),
        },
        Shape::Enum(name, variants) => Type::Enum {
            name: name.to_string(),
            variants: variants.iter().map(|(n, parts)| (n.to_string(), all(parts))).collect(),
        },
    }
}

/// Writes an entry as a circuit; also returns the AND gates by place, if `costs`.
///
/// # Errors
/// The errors are in `errors`.
pub fn lower_entry(
    tir: &Tir,
    entry: &Entry,
    errors: &mut Diagnostics,
    costs: bool,
) -> Result<(Circuit, Option<Costs>), Failed> {
    let mut lower = Lower::new(tir, errors, entry.instance);
    lower.costs = costs.then(Costs::default);
    write_entry(lower, entry)
}

/// Writes an entry as a circuit in which every loop that can be a repeat is one, whatever it costs:
/// for tests that compare both.
///
/// # Errors
/// The errors are in `errors`.
pub fn lower_entry_as_repeats(
    tir: &Tir,
    entry: &Entry,
    errors: &mut Diagnostics,
) -> Result<Circuit, Failed> {
    let mut lower = Lower::new(tir, errors, entry.instance);
    lower.repeat_all = true;
    write_entry(lower, entry).map(|(circuit, _)| circuit)
}

fn write_entry(mut lower: Lower<'_>, entry: &Entry) -> Result<(Circuit, Option<Costs>), Failed> {
    let tir = lower.tir;
    let instance = lower.instance(entry.instance)?;
    let mut builder = Builder::new(entry.name.clone());
    let mut raw = Vec::new();
    for input in &entry.inputs {
        raw.push(input_words(&mut lower, &mut builder, input, entry.parties)?);
    }
    let fails = calls::fails(&mut lower, entry.instance);
    let span = instance.span;
    let mut machine = Machine::new(&mut lower, &mut builder, false);
    machine.account(span);
    let mut args = Vec::new();
    for (input, words) in entry.inputs.iter().zip(raw) {
        let mut words = words.into_iter();
        let first = words.next().unwrap_or_default();
        let word = words.fold(first, |sum, word| match input.kind {
            InputKind::Share => machine.gates.xor(&sum, &word),
            _ => Word::join([&sum, &word]),
        });
        args.push(match tir.shapes.has_enum(input.ty) {
            true => machine.sanitise(input.ty, &word),
            false => word,
        });
    }
    let result = machine.function(instance, args)?;
    let result = machine.unless_failed(result, span)?;
    let (failed, code, booked) = machine.into_parts();
    let before = Totals::so_far(&builder);
    let mut start = 0;
    for output in &entry.outputs {
        let width = tir.shapes.width(output.ty) as usize;
        let word = result.slice(start..start + width);
        start += width;
        put_output(&mut lower, &mut builder, output, &word, entry.parties)?;
    }
    let after = Totals::so_far(&builder) - before;
    // An assert that can never fail needs no output.
    let can_fail = fails && failed != Bit::ZERO && code.width() > 0;
    if can_fail {
        let ty = Type::Uint(code.width() as u32);
        builder.output(Circuit::FAILURE, &code, ty, everybody(&entry.outputs));
    }
    let mut costs = HashMap::new();
    if lower.costs.is_some() {
        let mut outputs = result.to_vec();
        outputs.extend(code.iter().filter(|_| can_fail));
        costs = booked.with_profile(&mut builder, &outputs, span);
        *costs.entry(span).or_default() += after;
    }
    let circuit = match builder.finish_within(&mut lower.effort) {
        Ok(circuit) => circuit,
        Err(error) => {
            let span =
                tir.instances[entry.instance].as_ref().map_or_else(Span::default, |i| i.span);
            return lower.error(Code::Limit, span, error.to_string());
        }
    };
    let mut all = lower.costs.take();
    if let Some(all) = &mut all {
        all.components.push((entry.name.clone(), costs));
    }
    Ok((circuit, all))
}

fn everybody(outputs: &[EntryOutput]) -> Receivers {
    let mut all = Vec::new();
    for output in outputs {
        match &output.to {
            Some(Receivers::Only(parties)) => all.extend_from_slice(parties),
            _ => return Receivers::All,
        }
    }
    Receivers::Only(all)
}

fn input_words(
    lower: &mut Lower<'_>,
    builder: &mut Builder,
    input: &EntryInput,
    parties: u16,
) -> Done<Vec<Word>> {
    let shapes = &lower.tir.shapes;
    let (ty, owners) = match input.kind {
        InputKind::Party(owner) => (input.ty, vec![owner]),
        InputKind::Share => (input.ty, PartyId::all(parties).collect()),
        InputKind::Each => match shapes.shape(input.ty) {
            Shape::Array(element, len) if *len == u64::from(parties) => {
                (*element, PartyId::all(parties).collect())
            }
            _ => {
                let message = format!(
                    "`{}` is `from each`, so it is an array with one element for each of the \
                     {parties} parties",
                    input.name
                );
                return lower.error(Code::Port, input.span, message);
            }
        },
    };
    let width = shapes.width(ty);
    if width == 0 {
        let message = format!("the input `{}` has no bits", input.name);
        return lower.error(Code::Port, input.span, message);
    }
    let port = port_type(shapes, ty);
    let one = matches!(input.kind, InputKind::Party(_));
    let words = owners.into_iter().map(|owner| {
        let name = if one { input.name.clone() } else { format!("{}.{owner}", input.name) };
        builder.input(name, port.clone(), owner)
    });
    Ok(words.collect())
}

fn put_output(
    lower: &mut Lower<'_>,
    builder: &mut Builder,
    output: &EntryOutput,
    word: &Word,
    parties: u16,
) -> Done<()> {
    let shapes = &lower.tir.shapes;
    if word.width() == 0 {
        let message = format!("the output `{}` has no bits", output.name);
        return lower.error(Code::Port, output.span, message);
    }
    if let Some(to) = &output.to {
        let port = port_type(shapes, output.ty);
        builder.output(output.name.clone(), word, port, to.clone());
        return Ok(());
    }
    match shapes.shape(output.ty) {
        Shape::Array(element, len) if *len == u64::from(parties) => {
            let port = port_type(shapes, *element);
            let width = shapes.width(*element) as usize;
            for party in 0..parties {
                let start = usize::from(party) * width;
                let word = word.slice(start..start + width);
                let name = format!("{}.{party}", output.name);
                builder.output(name, &word, port.clone(), Receivers::only([party]));
            }
            Ok(())
        }
        _ => {
            let message = format!(
                "`{}` is `to each`, so it is an array with one element for each of the {parties} \
                 parties",
                output.name
            );
            lower.error(Code::Port, output.span, message)
        }
    }
}
