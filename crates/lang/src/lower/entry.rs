//! Functions whose parameters are inputs, and the types of ports.

use symbolon_circuit::{PartyId, Receivers, Type};

use crate::ids::InstanceId;
use crate::source::Span;
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
    /// Element i is client i's, who is no party, or `None`.
    Clients,
}

/// Who learns an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// These parties.
    To(Receivers),
    /// Party i learns element i.
    Each,
    /// Client i learns element i.
    Clients,
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
    /// Who learns it.
    pub kind: OutputKind,
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
    /// The instance, by its place among those of the program.
    pub instance: InstanceId,
    /// Its inputs.
    pub inputs: Vec<EntryInput>,
    /// Its outputs.
    pub outputs: Vec<EntryOutput>,
    /// How many parties there are.
    pub parties: u16,
    /// Whether the program or its user said so.
    pub parties_known: bool,
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
        let kind = OutputKind::To(Receivers::All);
        let output = EntryOutput { name: "result".into(), kind, ty: result, span };
        let outputs = if shapes.width(result) > 0 { vec![output] } else { Vec::new() };
        let name = "test".into();
        Entry { name, instance, inputs, outputs, parties: 2, parties_known: true }
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
