//! Clients who are no party: their shares are put together and checked, and what they learn is
//! masked and gets a tag.
//!
//! Both are repeats, a round for each client. See `docs/proofs/clients.md`.

use symbolon_circuit::builder::{Argument, Bit, ComponentBuilder, Subcircuit, Tags, Word};
use symbolon_circuit::{ClientPorts, Type};

use super::entry::{Entry, EntryInput, InputKind, OutputKind, port_type};
use super::{Done, Failed, Lower, MAX_WIRES, Machine};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::ty::{Shape, TyId};

/// The bits of a block.
const BLOCK: usize = 64;

/// The clients of an entry.
pub(super) struct Clients {
    /// Their ports.
    pub ports: ClientPorts,
    /// The element of each input `from clients`, an `Option`.
    inputs: Vec<TyId>,
    span: Span,
}

/// What the shares of all clients give.
pub(super) struct Given {
    /// Each input `from clients`.
    pub values: Vec<Word>,
    /// Whether each client was counted.
    pub counted: Word,
    /// For each client whether it was counted, its pad and its keys.
    keys: Word,
    tags: Tags,
}

impl Clients {
    /// Returns the clients of an entry, if it has any. `failure` is how many bits report a failed
    /// assert, 0 if none can fail.
    pub fn of(lower: &mut Lower<'_>, entry: &Entry, failure: usize) -> Done<Option<Clients>> {
        let of_clients = entry.inputs.iter().filter(|input| input.kind == InputKind::Clients);
        let mut found: Option<(u64, Span)> = None;
        let (mut inputs, mut values) = (Vec::new(), Vec::new());
        for input in of_clients {
            let (element, len, payload) = optional(lower, input)?;
            if found.is_some_and(|(known, _)| known != len) {
                let message = "all inputs `from clients` have one element for each client, so \
                               they are equally long";
                return lower.error(Code::Port, input.span, message);
            }
            found.get_or_insert((len, input.span));
            inputs.push(element);
            values.push((input.name.clone(), payload));
        }
        let mut answers = Vec::new();
        for output in entry.outputs.iter().filter(|output| output.kind == OutputKind::Clients) {
            let Some((len, _)) = found else {
                let message = "there are no clients: no input is `from clients`";
                return lower.error(Code::Port, output.span, message);
            };
            let shapes = &lower.tir.shapes;
            match shapes.shape(output.ty) {
                Shape::Array(element, own) if *own == len && shapes.width(*element) > 0 => {
                    answers.push((output.name.clone(), port_type(shapes, *element)));
                }
                _ => {
                    let message = format!(
                        "`{}` is `to clients`, so it is an array with one element for each of the \
                         {len} clients",
                        output.name
                    );
                    return lower.error(Code::Port, output.span, message);
                }
            }
        }
        let Some((len, span)) = found else { return Ok(None) };
        if !answers.is_empty() && failure > 0 {
            answers.push((ClientPorts::FAILURE.to_string(), Type::Uint(failure as u32)));
        }
        if !entry.parties_known {
            let message = "clients share their values among the parties, and nothing says how \
                           many there are";
            let error = Diagnostic::new(Code::Port, span, message);
            lower.errors.push(error.help("say `--parties N`, or name them: `parties a, b, c;`"));
            return Err(Failed);
        }
        let clients = u32::try_from(len).unwrap_or(u32::MAX);
        let ports = ClientPorts { clients, parties: entry.parties, values, answers };
        let all = ports.share_type().width().saturating_mul(len);
        if !ports.is_small() || all.saturating_mul(entry.parties.into()) > u64::from(MAX_WIRES) / 2
        {
            let message = "a client gives at most 2^20 bits and learns at most as many, and all \
                           shares together have at most 2^26 bits";
            return lower.error(Code::Limit, span, message);
        }
        Ok(Some(Clients { ports, inputs, span }))
    }

    /// Puts the shares of all clients together, one word for each party; an element is `None`
    /// unless all parties have a share and the tag is right.
    pub fn read(&self, machine: &mut Machine<'_, '_, '_>, shares: &[Word]) -> Done<Given> {
        let tags = Tags::new(self.multiplier(machine)?);
        let component = self.reader(machine, &tags)?;
        let args: Vec<Argument<'_>> = shares.iter().map(Argument::Strided).collect();
        let count = self.ports.clients as usize;
        let given = machine.repeat_component(&component, count, &args, self.span);
        let each = given.width() / count.max(1);
        let part = |start: usize, width: usize| -> Word {
            let of_one = |client: usize| {
                let start = client * each + start;
                given[start..start + width].iter().copied()
            };
            (0..count).flat_map(of_one).collect()
        };
        let (mut start, mut values) = (0, Vec::new());
        for &ty in &self.inputs {
            let width = machine.width(ty);
            values.push(part(start, width));
            start += width;
        }
        Ok(Given { values, counted: part(start, 1), keys: part(start, each - start), tags })
    }

    /// Returns the component that multiplies in GF(2^64).
    fn multiplier(&self, machine: &mut Machine<'_, '_, '_>) -> Done<Subcircuit> {
        let mut builder = ComponentBuilder::new("product in GF(2^64)");
        let (x, y) = (builder.input(BLOCK), builder.input(BLOCK));
        let product = builder.field_mul(&x, &y);
        machine.own_component(builder, &product, self.span)
    }

    /// Returns the component that reads the shares of one client.
    ///
    /// Check: clients | `client tag`, in the circuit, and the AND of all parties' presence bits | a
    /// party that changes or withholds its share of a client, or invents one: the client counts as
    /// absent, as all parties see | q / 2^64, q the power of two above the blocks of its values
    /// (`docs/proofs/clients.md`)
    fn reader(&self, machine: &mut Machine<'_, '_, '_>, tags: &Tags) -> Done<Subcircuit> {
        let ports = &self.ports;
        let width = ports.share_type().width() as usize;
        let (values, answers) = (ports.value_bits() as usize, ports.answer_bits() as usize);
        let mut builder = ComponentBuilder::new("client");
        let shares: Vec<Word> = (0..ports.parties).map(|_| builder.input(width)).collect();
        let presence: Vec<Bit> = shares.iter().map(|share| share[0]).collect();
        let present = builder.all(&presence);
        let sum = shares.iter().fold(Word::zero(width), |sum, share| builder.xor(&sum, share));
        let mut start = 1;
        let mut next = |width: usize| {
            start += width;
            sum.slice(start - width..start)
        };
        let keys = if answers > 0 { BLOCK } else { 0 };
        let (value, s, t) = (next(values), next(BLOCK), next(BLOCK));
        let (pad, a, b) = (next(answers), next(keys), next(keys));
        let tag = tags.amd(&mut builder, &tags.blocks(&value), &s);
        let is_right = builder.eq(&tag, &t);
        let counted = builder.and_bit(present, is_right);
        let mut outputs = Vec::new();
        let mut start = 0;
        let mut inner = Machine::new(machine.lower, &mut builder, true);
        for &ty in &self.inputs {
            let width = inner.width(ty) - 1;
            // `None` is 0 and `Some` is 1.
            let mut word = vec![counted];
            word.extend_from_slice(&value[start..start + width]);
            start += width;
            outputs.extend_from_slice(&inner.sanitise(ty, &word));
        }
        outputs.push(counted);
        [&pad, &a, &b].into_iter().for_each(|word| outputs.extend_from_slice(word));
        machine.own_component(builder, &outputs, self.span)
    }

    /// Returns the protected answers: these outputs, each with one element for each client, and the
    /// number of the failed assert.
    pub fn answer(
        &self,
        machine: &mut Machine<'_, '_, '_>,
        given: &Given,
        outputs: &[Word],
    ) -> Done<Word> {
        let count = self.ports.clients as usize;
        let fails = self.ports.answers.len() > outputs.len();
        let failure = if fails { machine.failure.code.clone() } else { Word::zero(0) };
        let component = self.answerer(machine, &given.tags, failure.width())?;
        let of_one = |client: usize| {
            outputs.iter().flat_map(move |output| {
                let width = output.width() / count.max(1);
                output[client * width..(client + 1) * width].iter().copied()
            })
        };
        let answers: Word = (0..count).flat_map(of_one).collect();
        let args = [
            Argument::Strided(&answers),
            Argument::Fixed(&failure),
            Argument::Strided(&given.keys),
        ];
        Ok(machine.repeat_component(&component, count, &args, self.span))
    }

    /// Returns the component that masks the answers to one client, and gives them a tag. For a
    /// client that was not counted, both are zero.
    fn answerer(
        &self,
        machine: &mut Machine<'_, '_, '_>,
        tags: &Tags,
        failure: usize,
    ) -> Done<Subcircuit> {
        let width = self.ports.answer_bits() as usize;
        let mut builder = ComponentBuilder::new("answer to a client");
        let answer = builder.input(width - failure);
        let failure = builder.input(failure);
        let counted = builder.input(1)[0];
        let (pad, a, b) = (builder.input(width), builder.input(BLOCK), builder.input(BLOCK));
        let answer = Word::join([&answer, &failure]);
        let masked = builder.xor(&answer, &pad);
        let tag = tags.amd(&mut builder, &tags.blocks(&answer), &a);
        let tag = builder.xor(&tag, &b);
        let protected = builder.and_each(counted, &Word::join([&masked, &tag]));
        machine.own_component(builder, &protected, self.span)
    }
}

/// Returns the `Option` of an input `from clients`, how many there are, and what it holds.
fn optional(lower: &mut Lower<'_>, input: &EntryInput) -> Done<(TyId, u64, Type)> {
    let shapes = &lower.tir.shapes;
    let message = match shapes.shape(input.ty) {
        Shape::Array(element, len) if *len > 0 => match port_type(shapes, *element).optional() {
            Some(ty) if ty.width() > 0 => return Ok((*element, *len, ty.clone())),
            Some(_) => "what clients give has at least one bit".to_string(),
            None => format!("a client of `{}` may be absent: write `Option<…>`", input.name),
        },
        _ => format!(
            "`{}` is `from clients`, so it is an array of `Option<…>`, with one element for each \
             client",
            input.name
        ),
    };
    lower.error(Code::Port, input.span, message)
}
