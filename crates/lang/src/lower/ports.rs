//! The entry of a program: parties' inputs and outputs.

use symbolon_circuit::builder::{Bit, Builder, Word};
use symbolon_circuit::{Circuit, ClientPorts, PartyId, Receivers, Type};

use super::clients::Clients;
use super::entry::{Entry, EntryInput, EntryOutput, InputKind, OutputKind, port_type};
use super::{Done, Failed, Lower, Machine, calls};
use crate::cost::Costs;
use crate::diag::{Code, Diagnostics};
use crate::tir::Tir;
use crate::ty::Shape;

/// All outputs together have at most this many bits: a circuit lists the wire of each.
const MOST_OUTPUTS: usize = 1 << 27;

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
    lower.repeats.all = true;
    write_entry(&mut lower, entry).map(|(circuit, _)| circuit)
}

/// Writes an entry as a circuit; also returns the gates by place, if these are requested.
pub(super) fn write_entry(lower: &mut Lower<'_>, entry: &Entry) -> Done<(Circuit, Option<Costs>)> {
    let tir = lower.tir;
    let instance = lower.instance(entry.instance)?;
    let mut builder = Builder::new(entry.name.clone());
    let mut raw = Vec::new();
    for input in &entry.inputs {
        raw.push(input_words(lower, &mut builder, input, entry.parties)?);
    }
    let fails = calls::fails(lower, entry.instance);
    let failure = if fails { lower.code_bits } else { 0 };
    let clients = Clients::of(lower, entry, failure)?;
    let shares = clients.as_ref().map_or_else(Vec::new, |all| share_words(&mut builder, all));
    let span = instance.span;
    let mut machine = Machine::new(lower, &mut builder, false);
    machine.account(span);
    let given = clients.as_ref().map(|all| all.read(&mut machine, &shares)).transpose()?;
    let mut of_clients = given.iter().flat_map(|given| given.values.iter().cloned());
    let mut args = Vec::new();
    for (input, words) in entry.inputs.iter().zip(raw) {
        if input.kind == InputKind::Clients {
            args.extend(of_clients.next());
            continue;
        }
        args.push(input_value(&mut machine, input, words)?);
    }
    let result = machine.function(instance, args)?;
    if result.width() > MOST_OUTPUTS {
        let message = "the outputs have more than 2^27 bits";
        return machine.lower.error(Code::Limit, span, message);
    }
    let result = machine.unless_failed(result, span)?;
    let (words, to_clients) = output_words(tir, entry, &result);
    let answers = match clients.as_ref().zip(given.as_ref()) {
        Some((all, given)) if !to_clients.is_empty() => {
            Some(all.answer(&mut machine, given, &to_clients)?)
        }
        _ => None,
    };
    let (failed, code, booked) = machine.into_parts();
    let before = builder.own_and_count();
    for (output, word) in words {
        put_output(lower, &mut builder, output, &word, entry.parties)?;
    }
    if let (Some(all), Some(given)) = (&clients, &given) {
        put_for_clients(&mut builder, &all.ports, &given.counted, answers.as_ref());
    }
    let after = builder.own_and_count() - before;
    // An assert that can never fail needs no output.
    let can_fail = fails && failed != Bit::ZERO && code.width() > 0;
    if can_fail {
        let ty = Type::Uint(code.width() as u32);
        builder.output(Circuit::FAILURE, &code, ty, everybody(&entry.outputs));
    }
    let mut outputs = if lower.costs.is_some() { result.to_vec() } else { Vec::new() };
    drop((result, given, answers));
    lower.drop_components();
    let Some(mut all) = lower.costs.take() else {
        let circuit = builder.finish_within(&mut lower.spent.effort);
        return match circuit {
            Ok(circuit) => Ok((circuit, None)),
            Err(error) => lower.error(Code::Limit, span, error.to_string()),
        };
    };
    outputs.extend(code.iter().filter(|_| can_fail));
    let profile = builder.profile(&outputs);
    let (circuit, trace) = match builder.finish_traced(&mut lower.spent.effort) {
        Ok(done) => done,
        Err(error) => return lower.error(Code::Limit, span, error.to_string()),
    };
    let mut costs = booked.finished(profile, &trace, span);
    costs.entry(span).or_default().asked += after;
    all.components.push((entry.name.clone(), costs));
    Ok((circuit, Some(all)))
}

/// Returns the value of an input, given its words: those of each party for a shared one.
fn input_value(
    machine: &mut Machine<'_, '_, '_>,
    input: &EntryInput,
    words: Vec<Word>,
) -> Done<Word> {
    let shapes = &machine.lower.tir.shapes;
    let (width, has_enum) = (shapes.width(input.ty) as usize, shapes.has_enum(input.ty));
    if input.kind == InputKind::Share || has_enum {
        machine.listable(width, input.span)?;
    }
    let mut words = words.into_iter();
    let first = words.next().unwrap_or_default();
    let word = words.fold(first, |sum, word| match input.kind {
        InputKind::Share => machine.gates.xor(&sum, &word),
        _ => Word::join([&sum, &word]),
    });
    Ok(if has_enum { machine.sanitise(input.ty, &word) } else { word })
}

fn everybody(outputs: &[EntryOutput]) -> Receivers {
    let mut all = Vec::new();
    for output in outputs {
        match &output.kind {
            OutputKind::To(Receivers::Only(parties)) => all.extend_from_slice(parties),
            _ => return Receivers::All,
        }
    }
    Receivers::Only(all)
}

/// Returns the outputs that parties learn, and the words of those that clients do.
fn output_words<'e>(
    tir: &Tir,
    entry: &'e Entry,
    result: &Word,
) -> (Vec<(&'e EntryOutput, Word)>, Vec<Word>) {
    let (mut words, mut to_clients, mut start) = (Vec::new(), Vec::new(), 0);
    for output in &entry.outputs {
        let width = tir.shapes.width(output.ty) as usize;
        let word = result.slice(start..start + width);
        start += width;
        match output.kind {
            OutputKind::Clients => to_clients.push(word),
            _ => words.push((output, word)),
        }
    }
    (words, to_clients)
}

/// Declares the inputs with the shares of clients, one for each party.
fn share_words(builder: &mut Builder, clients: &Clients) -> Vec<Word> {
    let ports = &clients.ports;
    let ty = ports.each(ports.share_type());
    let input = |owner| builder.input(ClientPorts::shares(owner), ty.clone(), owner);
    PartyId::all(ports.parties).map(input).collect()
}

/// Puts out which clients were counted, and what only they can read.
fn put_for_clients(
    builder: &mut Builder,
    ports: &ClientPorts,
    counted: &Word,
    answers: Option<&Word>,
) {
    let ty = ports.each(Type::Bool);
    builder.output(ClientPorts::COUNTED, counted, ty, Receivers::All);
    if let (Some(answers), Some(ty)) = (answers, ports.answer_type()) {
        builder.output(ClientPorts::ANSWERS, answers, ports.each(ty), Receivers::All);
    }
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
        // Clients of all inputs have their ports together.
        InputKind::Clients => return Ok(Vec::new()),
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
    if let OutputKind::To(to) = &output.kind {
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
