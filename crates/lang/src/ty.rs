//! Types during checking, and their final shapes.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ids::AdtId;

/// A type, possibly with parts that are not known yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `bool`.
    Bool,
    /// `uN`, `iN`: whether it is signed, and its width.
    Int(bool, Len),
    /// `fixed<I, F>`.
    Fixed(Len, Len),
    /// `f32`, `f64`.
    Float(Precision),
    /// A tuple; the unit when empty.
    Tuple(Vec<Ty>),
    /// An array.
    Array(Box<Ty>, Len),
    /// A structure or an enumeration, and its arguments.
    Adt(AdtId, Vec<Arg>),
    /// Not known yet.
    Var(u32),
    /// Stands for an error that has already been reported; fits everything.
    Error,
}

/// The two formats of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

impl Precision {
    /// Returns how many bits a number has.
    pub fn bits(self) -> u32 {
        match self {
            Precision::Single => 32,
            Precision::Double => 64,
        }
    }

    /// Returns the type's name.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Single => "f32",
            Precision::Double => "f64",
        }
    }
}

/// A constant in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Len {
    /// Known.
    Known(u64),
    /// Not known yet.
    Var(u32),
}

/// An argument of a generic type or function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// For a type parameter.
    Ty(Ty),
    /// For a const parameter.
    Const(Len),
}

impl Ty {
    /// Returns how many parts the type has, at all depths; what a copy of it takes.
    pub fn parts(&self) -> u64 {
        let whole = |part: &Ty| 1 + part.parts();
        match self {
            Ty::Tuple(parts) => parts.iter().map(whole).sum(),
            Ty::Array(element, _) => whole(element),
            Ty::Adt(_, args) => args
                .iter()
                .map(|arg| match arg {
                    Arg::Ty(ty) => whole(ty),
                    Arg::Const(_) => 1,
                })
                .sum(),
            _ => 0,
        }
    }

    /// Returns the unit.
    pub fn unit() -> Ty {
        Ty::Tuple(Vec::new())
    }

    /// `usize`.
    pub fn size() -> Ty {
        Ty::Int(false, Len::Known(32))
    }
}

/// A type in [`Shapes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TyId(pub u32);

/// What a finished type is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One bit.
    Bool,
    /// Signed or not, and the width.
    Int(bool, u32),
    /// Integer and fraction bits.
    Fixed(u32, u32),
    /// A floating-point number.
    Float(Precision),
    /// Parts side by side, the first on the lowest wires.
    Tuple(Vec<TyId>),
    /// Elements side by side.
    Array(TyId, u64),
    /// As a tuple; the names are of the structure and its fields.
    Struct(Name, Vec<(Name, TyId)>),
    /// The variant's number on the lowest wires, then room for the widest payload.
    Enum(Name, Vec<(Name, Vec<TyId>)>),
}

/// Types have at most this many bits. A part without bits counts as one bit, because all parts are
/// walked over.
pub const MAX_BITS: u64 = 1 << 30;

/// Types have at most this many bits where an array counts as one of its elements, and a part
/// without bits as one: a type itself is a tree of its parts.
const MAX_PARTS: u64 = 1 << 25;

/// Integers have at most this many bits.
pub const MAX_WIDTH: u64 = 65_536;

/// How large a type is.
#[derive(Clone, Copy, Debug)]
struct Size {
    bits: u64,
    /// How many bits it counts as: see [`MAX_BITS`].
    counts: u64,
    /// See [`MAX_PARTS`].
    parts: u64,
}

/// All finished types of a program, each once.
#[derive(Debug, Default)]
pub struct Shapes {
    /// The place of the type `text` in the program.
    pub text: Option<AdtId>,
    shapes: Vec<(Shape, Size)>,
    /// Where the parts of each tuple and structure begin.
    starts: Vec<Vec<u32>>,
    written: Vec<Ty>,
    known: HashMap<Ty, TyId>,
}

/// Returns `⌈log₂ n⌉`, which is 0 for 0 and 1.
pub fn clog2(n: u64) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}

impl Shapes {
    /// Returns the shape that was found for a type before.
    pub fn find(&self, ty: &Ty) -> Option<TyId> {
        self.known.get(ty).copied()
    }

    /// Adds a shape; returns `None` if it would have more than [`MAX_BITS`] bits or too many parts.
    pub fn add(&mut self, ty: Ty, shape: Shape) -> Option<TyId> {
        let size = |part: TyId| self.shapes[part.0 as usize].1;
        let bits = Self::bits(&shape, |part| size(part).bits)?;
        let counts = Self::bits(&shape, |part| size(part).counts)?.max(1);
        let parts = match &shape {
            Shape::Array(element, _) => size(*element).parts,
            _ => Self::bits(&shape, |part| size(part).parts)?.max(1),
        };
        if parts > MAX_PARTS {
            return None;
        }
        let id = TyId(self.shapes.len() as u32);
        let starts = |parts: &mut dyn Iterator<Item = TyId>| {
            let mut end = 0u64;
            let start = |part| {
                // All of them are below `MAX_BITS`.
                let start = end as u32;
                end += self.width(part);
                start
            };
            parts.map(start).collect()
        };
        self.starts.push(match &shape {
            Shape::Tuple(parts) => starts(&mut parts.iter().copied()),
            Shape::Struct(_, fields) => starts(&mut fields.iter().map(|field| field.1)),
            _ => Vec::new(),
        });
        self.shapes.push((shape, Size { bits, counts, parts }));
        self.written.push(ty.clone());
        self.known.insert(ty, id);
        Some(id)
    }

    fn bits(shape: &Shape, of: impl Fn(TyId) -> u64) -> Option<u64> {
        let sum =
            |parts: &[TyId]| parts.iter().try_fold(0u64, |sum, part| sum.checked_add(of(*part)));
        let bits = match shape {
            Shape::Bool => Some(1),
            Shape::Int(_, width) => Some(u64::from(*width)),
            Shape::Fixed(int, frac) => Some(u64::from(*int) + u64::from(*frac)),
            Shape::Float(precision) => Some(u64::from(precision.bits())),
            Shape::Tuple(parts) => sum(parts),
            Shape::Array(element, len) => of(*element).checked_mul(*len),
            Shape::Struct(_, fields) => {
                sum(&fields.iter().map(|field| field.1).collect::<Vec<_>>())
            }
            Shape::Enum(_, variants) => {
                let mut widest = 0u64;
                for (_, payload) in variants {
                    widest = widest.max(sum(payload)?);
                }
                widest.checked_add(u64::from(clog2(variants.len() as u64)))
            }
        };
        bits.filter(|&bits| bits <= MAX_BITS)
    }

    /// Returns the shape of a type.
    pub fn shape(&self, id: TyId) -> &Shape {
        &self.shapes[id.0 as usize].0
    }

    /// Returns the type that a shape was made of.
    pub fn written(&self, id: TyId) -> Option<&Ty> {
        self.written.get(id.0 as usize)
    }

    /// Returns how many bytes a text has room for, if the type is `text<N>`.
    pub fn text_len(&self, id: TyId) -> Option<u64> {
        match self.written(id)? {
            Ty::Adt(adt, args) if Some(*adt) == self.text => match args[..] {
                [Arg::Const(Len::Known(len))] => Some(len),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns how many bits a type has.
    pub fn width(&self, id: TyId) -> u64 {
        self.shapes[id.0 as usize].1.bits
    }

    /// Returns whether a floating-point number is part of a type.
    pub fn has_float(&self, id: TyId) -> bool {
        let any = |parts: &[TyId]| parts.iter().any(|&part| self.has_float(part));
        match self.shape(id) {
            Shape::Float(_) => true,
            Shape::Bool | Shape::Int(..) | Shape::Fixed(..) => false,
            Shape::Tuple(parts) => any(parts),
            Shape::Array(element, _) => self.has_float(*element),
            Shape::Struct(_, fields) => fields.iter().any(|field| self.has_float(field.1)),
            Shape::Enum(_, variants) => variants.iter().any(|variant| any(&variant.1)),
        }
    }

    /// Returns whether an enumeration is part of a type.
    pub fn has_enum(&self, id: TyId) -> bool {
        match self.shape(id) {
            Shape::Enum(..) => true,
            Shape::Bool | Shape::Int(..) | Shape::Fixed(..) | Shape::Float(_) => false,
            Shape::Tuple(parts) => parts.iter().any(|&part| self.has_enum(part)),
            Shape::Array(element, _) => self.has_enum(*element),
            Shape::Struct(_, fields) => fields.iter().any(|field| self.has_enum(field.1)),
        }
    }

    /// Returns the parts of a tuple or a structure, or none.
    pub fn parts(&self, id: TyId) -> Vec<TyId> {
        match self.shape(id) {
            Shape::Tuple(parts) => parts.clone(),
            Shape::Struct(_, fields) => fields.iter().map(|field| field.1).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns where part `index` of a tuple, a structure or an array begins, and its type.
    pub fn part(&self, id: TyId, index: usize) -> (usize, TyId) {
        let part = match self.shape(id) {
            Shape::Array(element, _) => return (index * self.width(*element) as usize, *element),
            Shape::Tuple(parts) => parts.get(index).copied(),
            Shape::Struct(_, fields) => fields.get(index).map(|field| field.1),
            _ => None,
        };
        let start = self.starts[id.0 as usize].get(index).copied().unwrap_or(0);
        (start as usize, part.unwrap_or(id))
    }

    /// Returns how many bits name an enumeration's variant.
    pub fn tag_bits(&self, id: TyId) -> usize {
        match self.shape(id) {
            Shape::Enum(_, variants) => clog2(variants.len() as u64) as usize,
            _ => 0,
        }
    }

    /// Returns the types of a variant's payload.
    pub fn payload(&self, id: TyId, variant: usize) -> Vec<TyId> {
        match self.shape(id) {
            Shape::Enum(_, variants) => variants[variant].1.clone(),
            _ => Vec::new(),
        }
    }
}
